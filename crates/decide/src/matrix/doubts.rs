//! What to know before a matrix is used.

use experiment::number::{plural, short as short_number};
use experiment::statements::cautions::MEMORY_BOUND_ERROR;

use super::text::groups_of;
use super::{Cause, Effort, MOST_AGAIN, Programs, Together};

/// From this part of the added time on, memory decides how much programs lose: as in the answer of
/// `oversim run`.
const MEMORY_DECIDES: f64 = 0.2;
/// The longest program was alone for more of its time than the runs aim at.
const COVERED: f64 = 0.98;

/// The doubts about slowdowns of groups: sentences.
pub(crate) fn of(groups: &[Together], programs: &Programs, effort: Effort) -> Vec<String> {
    let all = groups_of(groups);
    let memory = memory(groups).map(|bound| {
        format!(
            "Memory is a fifth of the added time or more in {bound} of {all}; on the worst measured host the \
             median error of memory-bound run times is {MEMORY_BOUND_ERROR} %."
        )
    });
    let sentences =
        [memory, intervals(groups, effort), short(groups), shortened(programs), estimates(programs)];
    sentences.into_iter().flatten().collect()
}

fn intervals(groups: &[Together], effort: Effort) -> Option<String> {
    if effort.most < 2 {
        return Some("One replicate gives no intervals: small differences may be chance.".to_owned());
    }
    let wide = |group: &&Together| {
        group.slowdowns.iter().any(|slowdown| match (slowdown.low, slowdown.high) {
            (Some(low), Some(high)) => high - low > 2.0 * effort.narrow * slowdown.mean,
            _ => false,
        })
    };
    let count = groups.iter().filter(wide).count();
    (count > 0).then(|| {
        format!(
            "In {count} of {} the interval of a slowdown is wider than ±{:.1} % after {}: try --most.",
            groups_of(groups),
            100.0 * effort.narrow,
            plural(effort.most as usize, "replicate", "replicates")
        )
    })
}

fn short(groups: &[Together]) -> Option<String> {
    let short = groups.iter().filter(|group| group.covered < COVERED).count();
    (short > 0).then(|| {
        format!(
            "In {short} of {} a program is so short that it runs again {MOST_AGAIN} times and then leaves \
             the longest one without it: slowdowns of the longest are too small there.",
            groups_of(groups)
        )
    })
}

fn shortened(programs: &Programs) -> Option<String> {
    let least = programs.shortened.iter().map(|part| part.share).reduce(f64::min)?;
    let names = match &programs.shortened[..] {
        [one] => one.app.clone(),
        several => plural(several.len(), "program", "programs"),
    };
    Some(format!(
        "Of {names} only a part is simulated ({} % of the iterations or more): start-up weighs more than in \
         whole programs.",
        short_number(100.0 * least)
    ))
}

/// In how many groups memory decides; none if in none.
fn memory(groups: &[Together]) -> Option<usize> {
    let decides = |cause: &Cause| cause.part == "memory" && cause.share >= MEMORY_DECIDES;
    let bound = groups.iter().filter(|group| group.causes.iter().any(decides)).count();
    (bound > 0).then_some(bound)
}

fn estimates(programs: &Programs) -> Option<String> {
    let count = programs.uncertain;
    (count > 0).then(|| {
        format!(
            "{} of {} {}: measure yours (`oversim calibrate host`).",
            plural(count, "value", "values"),
            programs.machine,
            if count == 1 { "is an estimate" } else { "are estimates" }
        )
    })
}
