//! What a timeline shows, in words computed from it: the parts of the cpu time of a run, and the sentence
//! that compares runs.

use crate::timeline::states::{Mix, Owner, State};

/// Differences in the states of all cpus smaller than so many per cent of the time are not worth a sentence
/// while single applications differ more.
const SMALL: f64 = 5.0;

/// A part of the cpu time as people name it.
#[derive(Debug)]
pub struct Part {
    /// In a list: `waiting 26 %`.
    pub noun: &'static str,
    /// In a sentence, before a share and behind it: `Waiting threads use` .. `of the cpu time`.
    pub clause: (&'static str, &'static str),
    /// The states.
    pub states: &'static [State],
}

const CPU_TIME: &str = "of the cpu time";

/// All parts: every state is in exactly one of them.
pub const PARTS: [Part; 9] = [
    Part { noun: "computing", clause: ("Cpus compute", "of the time"), states: &[State::Compute] },
    Part { noun: "memory stall", clause: ("Memory stalls take", CPU_TIME), states: &[State::Memory] },
    Part {
        noun: "shared core",
        clause: ("Sharing cores with other threads costs", CPU_TIME),
        states: &[State::SharedCore],
    },
    Part {
        noun: "page initialisation",
        clause: ("Page initialisation takes", CPU_TIME),
        states: &[State::PageInit],
    },
    Part {
        noun: "waiting",
        clause: ("Waiting threads use", CPU_TIME),
        states: &[State::Spin, State::LockWait, State::Yield],
    },
    Part { noun: "switching", clause: ("Context switches take", CPU_TIME), states: &[State::Switch] },
    Part { noun: "migrating", clause: ("Migrations take", CPU_TIME), states: &[State::Migrate] },
    Part { noun: "kernel", clause: ("The kernel takes", CPU_TIME), states: &[State::Kernel] },
    Part { noun: "idle", clause: ("Cpus are idle", "of the time"), states: &[State::Idle] },
];

/// Positions in [`PARTS`], a cause before what it causes: of equal differences the first is named.
const BY_CAUSE: [usize; 9] = [4, 8, 5, 6, 1, 2, 3, 7, 0];
/// Of single applications these are compared: computing and memory stalls.
const OF_APPS: [usize; 2] = [0, 1];
const COMPUTING: usize = 0;

/// A run in a sentence.
#[derive(Clone, Copy, Debug)]
pub struct Run<'a> {
    /// Where something is so: `under LOAD`, `with runtime=spin`.
    pub place: &'a str,
    /// What its cpus did.
    pub total: &'a Mix,
    /// When it was done, in nanoseconds; none if it was not, or that is unknown.
    pub done: Option<u64>,
}

/// Per cent of the time of a mix, not rounded.
fn percent(mix: &Mix, what: impl Fn(&(Owner, State, u64)) -> bool) -> f64 {
    let part: u64 = mix.parts().filter(what).map(|part| part.2).sum();
    part as f64 * 100.0 / mix.total().max(1) as f64
}

/// The share of a part, per cent.
#[must_use]
pub fn share(mix: &Mix, part: &Part) -> f64 {
    percent(mix, |(_, state, _)| part.states.contains(state))
}

/// A share in words: whole per cent; what would be rounded to nothing or to all is named as less or more.
#[must_use]
pub fn written(percent: f64) -> String {
    match percent {
        p if p > 0.0 && p < 0.5 => "less than 1 %".into(),
        p if (99.5..100.0).contains(&p) => "more than 99 %".into(),
        p => format!("{:.0} %", p.round()),
    }
}

/// The parts of the time of a run: `computing 74 %, waiting 26 %`. Every part of half a per cent or more is
/// named, the others together if they make up so much.
#[must_use]
pub fn parts(total: &Mix) -> String {
    let shares: Vec<f64> = PARTS.iter().map(|part| share(total, part)).collect();
    let named = PARTS.iter().zip(&shares).filter(|(_, share)| **share >= 0.5);
    let mut words: Vec<String> =
        named.map(|(part, share)| format!("{} {:.0} %", part.noun, share.round())).collect();
    let rest: f64 = shares.iter().filter(|share| **share < 0.5).sum();
    if rest >= 0.5 {
        words.push(format!("other {:.0} %", rest.round()));
    }
    words.join(", ")
}

/// What distinguishes the runs, in one sentence, or what a single run spends its time on; empty without any
/// time. `apps` are the names of the applications.
#[must_use]
pub fn message(runs: &[Run<'_>], apps: &[String]) -> String {
    match runs {
        [] => String::new(),
        [one] => single(one.total),
        runs => compared(runs, apps),
    }
}

/// What a run spends its time on: computing, and the largest other part.
fn single(total: &Mix) -> String {
    if total.total() == 0 {
        return String::new();
    }
    let computing = &PARTS[COMPUTING];
    let mut sentence =
        format!("{} {} {}", computing.clause.0, written(share(total, computing)), computing.clause.1);
    let others = BY_CAUSE.into_iter().filter(|part| *part != COMPUTING);
    let other = others.rev().max_by(|a, b| share(total, &PARTS[*a]).total_cmp(&share(total, &PARTS[*b])));
    if let Some(part) = other.map(|part| &PARTS[part]).filter(|part| share(total, part) >= 0.5) {
        let (before, _) = part.clause;
        sentence.push_str(&format!("; {} {}", lower(before), written(share(total, part))));
    }
    sentence + "."
}

/// A clause in the middle of a sentence.
fn lower(clause: &str) -> String {
    let mut chars = clause.chars();
    chars.next().map_or_else(String::new, |first| first.to_ascii_lowercase().to_string() + chars.as_str())
}

/// The share of something in each run.
struct Candidate {
    before: String,
    behind: &'static str,
    shares: Vec<f64>,
}

impl Candidate {
    fn new(
        runs: &[Run<'_>],
        clause: (String, &'static str),
        what: impl Fn(&(Owner, State, u64)) -> bool,
    ) -> Self {
        let shares = runs.iter().map(|run| percent(run.total, &what)).collect();
        Self { before: clause.0, behind: clause.1, shares }
    }

    /// The difference of the largest and the smallest share, as they are written.
    fn apart(&self) -> f64 {
        let rounded = || self.shares.iter().map(|share| share.round());
        rounded().fold(0.0, f64::max) - rounded().fold(100.0, f64::min)
    }
}

/// The largest difference between runs, with the share of each.
fn compared(runs: &[Run<'_>], apps: &[String]) -> String {
    let overall = BY_CAUSE.into_iter().map(|part| {
        let Part { clause: (before, behind), states, .. } = &PARTS[part];
        Candidate::new(runs, ((*before).to_owned(), behind), |part| states.contains(&part.1))
    });
    let each = apps.iter().enumerate().filter(|_| apps.len() > 1).flat_map(|(app, name)| {
        let owner = Owner::App(app as u32);
        OF_APPS.into_iter().map(move |part| {
            let verb = if part == COMPUTING { "computes" } else { "stalls on memory" };
            let states = PARTS[part].states;
            Candidate::new(runs, (format!("{name} {verb}"), CPU_TIME), |part| {
                part.0 == owner && states.contains(&part.1)
            })
        })
    });
    let widest = |all: Vec<Candidate>| all.into_iter().rev().max_by(|a, b| a.apart().total_cmp(&b.apart()));
    let (overall, each) = (widest(overall.collect()), widest(each.collect()));
    let (Some(overall), each) = (overall, each) else { return String::new() };
    let chosen = match each {
        Some(each) if overall.apart() < SMALL && each.apart() > overall.apart() => each,
        _ => overall,
    };
    if chosen.apart() < 1.0 {
        return even(runs);
    }
    sentence(&chosen.before, chosen.behind, &chosen.shares, runs)
}

/// No share differs: when the runs are done, or what they have in common.
fn even(runs: &[Run<'_>]) -> String {
    let done: Option<Vec<String>> = runs.iter().map(|run| run.done.map(instant)).collect();
    if let Some(done) = done.filter(|done| done.windows(2).any(|pair| pair[0] != pair[1])) {
        let each = done.iter().zip(runs).map(|(at, run)| format!("{at} {}", run.place));
        return format!("Done at {}.", each.collect::<Vec<_>>().join(", "));
    }
    let computing = &PARTS[COMPUTING];
    let shares: Vec<f64> = runs.iter().map(|run| share(run.total, computing)).collect();
    sentence(computing.clause.0, computing.clause.1, &shares, runs)
}

/// An instant, as headings have it.
#[must_use]
pub fn instant(ns: u64) -> String {
    format!("{:.3} s", ns as f64 / 1e9)
}

/// `Waiting threads use 26 % of the cpu time under LOAD, 3 % under SPEED.`
fn sentence(before: &str, behind: &str, shares: &[f64], runs: &[Run<'_>]) -> String {
    let mut text = before.to_owned();
    for (at, (share, run)) in shares.iter().zip(runs).enumerate() {
        let share = written(*share);
        text.push_str(&match at {
            0 => format!(" {share} {behind} {}", run.place),
            _ => format!(", {share} {}", run.place),
        });
    }
    text + "."
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mix(parts: &[(Owner, State, u64)]) -> Mix {
        let mut mix = Mix::default();
        for (owner, state, ns) in parts {
            mix.add(*owner, *state, *ns);
        }
        mix
    }

    const CG: Owner = Owner::App(0);
    const FT: Owner = Owner::App(1);

    fn of_two(one: &Mix, two: &Mix) -> String {
        let apps = ["cg".to_owned(), "ft".to_owned()];
        let run = |place, total, done| Run { place, total, done: Some(done) };
        message(&[run("under LOAD", one, 7), run("under PIN", two, 7)], &apps)
    }

    #[test]
    fn every_state_is_in_one_part() {
        for state in State::ALL.into_iter().filter(|state| state.on_cpu()) {
            assert_eq!(PARTS.iter().filter(|part| part.states.contains(&state)).count(), 1, "{state:?}");
        }
        let mut order = BY_CAUSE;
        order.sort_unstable();
        assert_eq!(order, [0, 1, 2, 3, 4, 5, 6, 7, 8]);
    }

    #[test]
    fn states_come_first_and_applications_where_these_agree() {
        let idle = (Owner::Nobody, State::Idle, 30);
        let one = mix(&[(CG, State::Compute, 30), (FT, State::Yield, 40), idle]);
        let two = mix(&[(CG, State::Compute, 50), (FT, State::Yield, 10), (Owner::Nobody, State::Idle, 40)]);
        let swapped = mix(&[(FT, State::Compute, 30), (FT, State::Spin, 40), idle]);
        assert_eq!(
            of_two(&one, &two),
            "Waiting threads use 40 % of the cpu time under LOAD, 10 % under PIN."
        );
        assert_eq!(of_two(&one, &swapped), "cg computes 30 % of the cpu time under LOAD, 0 % under PIN.");
        let (half, most) = (
            mix(&[(CG, State::Compute, 50), (Owner::Nobody, State::Idle, 50)]),
            mix(&[(CG, State::Compute, 10), (FT, State::Compute, 70), (Owner::Nobody, State::Idle, 20)]),
        );
        assert_eq!(of_two(&half, &most), "Cpus are idle 50 % of the time under LOAD, 20 % under PIN.");
        assert_eq!(of_two(&one, &one), "Cpus compute 30 % of the time under LOAD, 30 % under PIN.");
    }

    #[test]
    fn of_equal_differences_the_cause_is_named_and_all_runs_are() {
        let run = |waits: u64| mix(&[(CG, State::Compute, 1000 - waits), (CG, State::Spin, waits)]);
        let (spin, yields, block) = (run(961), run(3), run(0));
        let runs = [("with runtime=spin", &spin), ("with yield", &yields), ("with block", &block)];
        let runs = runs.map(|(place, total)| Run { place, total, done: None });
        assert_eq!(
            message(&runs, &["cg".to_owned()]),
            "Waiting threads use 96 % of the cpu time with runtime=spin, less than 1 % with yield, 0 % with \
                block."
        );
    }

    #[test]
    fn a_single_run_is_described_by_its_two_largest_parts() {
        let stall = mix(&[(CG, State::Compute, 62), (CG, State::SharedCore, 36), (CG, State::Memory, 2)]);
        let said = |mix: &Mix| message(&[Run { place: "", total: mix, done: None }], &[]);
        assert_eq!(
            said(&stall),
            "Cpus compute 62 % of the time; sharing cores with other threads costs 36 %."
        );
        assert_eq!(said(&mix(&[(CG, State::Compute, 5)])), "Cpus compute 100 % of the time.");
        assert_eq!(said(&Mix::default()), "");
    }

    #[test]
    fn runs_that_do_the_same_differ_in_when_they_are_done() {
        let total = &mix(&[(CG, State::Compute, 5)]);
        let runs = [("with tasks=1", 2_004_600_000), ("with 2", 4_008_000_000)];
        let runs = runs.map(|(place, done)| Run { place, total, done: Some(done) });
        assert_eq!(message(&runs, &[]), "Done at 2.005 s with tasks=1, 4.008 s with 2.");
    }

    #[test]
    fn headings_name_every_part_of_a_per_cent() {
        let all = mix(&[
            (CG, State::Compute, 700),
            (CG, State::SharedCore, 150),
            (CG, State::PageInit, 50),
            (CG, State::Yield, 90),
            (Owner::Nobody, State::Switch, 3),
            (Owner::Nobody, State::Kernel, 3),
            (Owner::Nobody, State::Idle, 4),
        ]);
        assert_eq!(
            parts(&all),
            "computing 70 %, shared core 15 %, page initialisation 5 %, waiting 9 %, other 1 %"
        );
    }
}
