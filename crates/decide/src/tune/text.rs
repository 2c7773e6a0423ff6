//! A search for people.

use std::io::{self, Write};

use experiment::number::{plural, short_seconds};
use notation::neutral;
use notation::text::hanging;

use super::{Place, Tried, Tuned};
use crate::suite::ratio::{Ratio, shown};

/// Columns of the text.
const WIDTH: usize = 100;
/// Columns of the titles.
const TITLE: usize = 10;
/// Scenarios of a list.
const LISTED: usize = 5;

/// Writes what to type, how sure that is, and what was searched.
///
/// # Errors
/// Of the writer.
pub(super) fn write_text(tuned: &Tuned, out: &mut dyn Write) -> io::Result<()> {
    for (title, text) in sentences(tuned) {
        let first = format!("{title:<TITLE$}");
        let indent = " ".repeat(TITLE);
        for line in hanging(&neutral::line(&text), [&first, &indent], WIDTH) {
            writeln!(out, "{}", line.trim_end())?;
        }
    }
    Ok(())
}

/// Titles and sentences.
pub(super) fn sentences(tuned: &Tuned) -> Vec<(&'static str, String)> {
    let mut all = vec![("Type", typed(tuned)), ("Answer", format!("{}.", capital(&tuned.why)))];
    if let (Some(order), true) = (&tuned.order, tuned.train.is_some()) {
        all.push(("Order", formulas(order)));
    }
    if let Some(holdout) = &tuned.holdout {
        all.push(("Hold-out", sure(tuned, holdout)));
    }
    if let Some(train) = &tuned.train {
        let ratio = train.ratio.map_or_else(|| "unknown".to_owned(), Ratio::written);
        all.push((
            "Search",
            format!(
                "time {ratio} of the default's on the {} on which it was chosen (over {}): the best of many \
                 looks better than it is.",
                plural(train.scenarios.len(), "scenario", "scenarios"),
                plural(train.seeds, "seed", "seeds")
            ),
        ));
    }
    for (title, which) in [("Gains", Ratio::is_less as fn(Ratio) -> bool), ("Loses", Ratio::is_more)] {
        if tuned.holdout.is_some() {
            all.push((title, places(tuned, which)));
        }
    }
    all.push(("Values", values(tuned)));
    all.push(("Effort", effort(tuned)));
    if !tuned.lost.is_empty() {
        let names: Vec<String> = tuned.lost.iter().map(|(cell, why)| format!("{cell} ({why})")).collect();
        all.push(("Without", format!("the default does not complete {}.", names.join(", "))));
    }
    all
}

fn capital(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map_or_else(String::new, |first| first.to_uppercase().chain(chars).collect())
}

fn typed(tuned: &Tuned) -> String {
    if tuned.gains {
        format!("policies: [{}]", tuned.candidate)
    } else if tuned.train.is_some() {
        format!("policies: [{}], the default. The candidate was {}.", tuned.policy, tuned.candidate)
    } else {
        format!("policies: [{}], the default.", tuned.policy)
    }
}

/// What an order does, without its parameters.
fn formulas(order: &str) -> String {
    let keys = ["queue: ", "key: ", "slice: ", "preempts: "];
    let lines = order.lines().filter(|line| keys.iter().any(|key| line.starts_with(key)));
    format!("the candidate has {}.", lines.collect::<Vec<_>>().join("; "))
}

fn sure(tuned: &Tuned, holdout: &Tried) -> String {
    let ratio = holdout.ratio.map_or_else(|| "unknown".to_owned(), Ratio::written);
    let scenarios = plural(holdout.scenarios.len(), "scenario", "scenarios");
    let seeds = plural(holdout.seeds, "seed", "seeds");
    if tuned.other_scenarios {
        let over = if holdout.scenarios.len() == 1 { "its seeds" } else { "them" };
        format!(
            "time {ratio} of the default's: geometric mean over {scenarios} that the search did not see, \
             with the 95 % interval over {over}; {seeds} each."
        )
    } else {
        format!(
            "time {ratio} of the default's: geometric mean over the {scenarios} of the search, with the 95 % \
             interval over {seeds} that it did not see. This says nothing about other scenarios."
        )
    }
}

/// The scenarios of the hold-out in which the candidate gains or loses, the largest difference first.
fn places(tuned: &Tuned, which: fn(Ratio) -> bool) -> String {
    let all = tuned.holdout.iter().flat_map(|tried| &tried.scenarios);
    let mut found: Vec<(&Place, Ratio)> =
        all.filter_map(|place| Some((place, place.ratio?))).filter(|(_, ratio)| which(*ratio)).collect();
    let size = |ratio: Ratio| libm::log(ratio.mean).abs();
    found.sort_by(|a, b| size(b.1).total_cmp(&size(a.1)));
    if found.is_empty() {
        return "certainly, by 1 % or more, in none of the hold-out.".to_owned();
    }
    let named: Vec<String> = found
        .iter()
        .take(LISTED)
        .map(|(place, ratio)| format!("{} {}", place.scenario, shown(ratio.mean)))
        .collect();
    let more = match found.len().saturating_sub(LISTED) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    format!("certainly, by 1 % or more, in {} of the hold-out: {}{more}.", found.len(), named.join(", "))
}

fn values(tuned: &Tuned) -> String {
    let one = |found: &super::Found| {
        let super::Found { parameter, default, searched, value } = found;
        format!("{parameter} {value} (default {default}, searched {searched})")
    };
    let all: Vec<String> = tuned.parameters.iter().map(one).collect();
    let left_out = match &tuned.left_out[..] {
        [] => String::new(),
        names => format!(" Not searched: {}.", names.join(", ")),
    };
    let all = if all.is_empty() { "no parameters".to_owned() } else { all.join("; ") };
    format!("{all}.{left_out}")
}

fn effort(tuned: &Tuned) -> String {
    let refused: usize = tuned.refusals.values().sum();
    let reasons: Vec<String> =
        tuned.refusals.iter().map(|(refusal, number)| format!("{number} {}", refusal.words())).collect();
    let refused = match refused {
        0 => "None was refused.".to_owned(),
        _ => format!(
            "Refused: {} (a task with work may wait {} for a cpu, or as long as under the default).",
            reasons.join("; "),
            short_seconds(tuned.longest_wait)
        ),
    };
    format!(
        "{} settings besides the default in {} runs of {}; {} runs of the hold-out. {refused}",
        tuned.tried, tuned.runs, tuned.suite, tuned.holdout_runs
    )
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::super::Found;
    use super::*;

    fn tried(name: &str, logs: &[f64]) -> Tried {
        let ratio = Ratio::of(logs);
        Tried { seeds: 3, ratio, scenarios: vec![Place { scenario: name.to_owned(), ratio }] }
    }

    fn tuned(gains: bool) -> Tuned {
        let found = Found {
            parameter: "slice",
            default: "20ms".to_owned(),
            searched: "1ms to 2s".to_owned(),
            value: "3ms".to_owned(),
        };
        let log = if gains { -0.5 } else { 0.0 };
        Tuned {
            schema: "oversim.tune/1",
            policy: "VTIME".to_owned(),
            suite: "mine".to_owned(),
            objective: None,
            seed: 1,
            parameters: vec![found],
            left_out: vec!["list"],
            candidate: "{ VTIME: { slice: 3ms } }".to_owned(),
            order: None,
            gains,
            why: "the hold-out shows a gain".to_owned(),
            train: Some(tried("one", &[-0.5, -0.51, -0.49])),
            holdout: Some(tried("two", &[log, log + 0.01, log - 0.01])),
            other_scenarios: true,
            tried: 11,
            refusals: BTreeMap::from([(super::super::Refusal::Starved, 2)]),
            longest_wait: 1.0,
            lost: Vec::new(),
            runs: 1_234,
            holdout_runs: 20,
        }
    }

    fn text(tuned: &Tuned) -> String {
        let mut out = Vec::new();
        write_text(tuned, &mut out).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn the_answer_says_what_to_type_and_how_sure_it_is() {
        let page = text(&tuned(true));
        assert!(page.lines().all(|line| line.chars().count() <= WIDTH), "{page}");
        assert!(page.starts_with("Type      policies: [{ VTIME: { slice: 3ms } }]\n"), "{page}");
        let words = page.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(
            words.contains("two 0.61") && words.contains("1 scenario that the search did not see"),
            "{page}"
        );
        assert!(words.contains("interval over its seeds; 3 seeds each"), "{page}");
        assert!(
            words.contains("2 a task waited too long") && words.contains("11 settings besides"),
            "{page}"
        );
        let yaml = super::super::snippet(&tuned(true));
        assert!(yaml.ends_with("policies:\n  - VTIME\n  - { VTIME: { slice: 3ms }, as: tuned }\n"), "{yaml}");
    }

    #[test]
    fn an_order_is_shown_and_written_as_it_is_run() {
        let order = "parameters:\n  a: 1\nqueue: cpu\nkey: vtime\nslice: a\n".to_owned();
        let found = Tuned { order: Some(order.clone()), ..tuned(true) };
        assert!(text(&found).contains("Order     the candidate has queue: cpu; key: vtime; slice: a."));
        assert!(super::super::snippet(&found).ends_with(&format!("\n{order}")));
        let found = Tuned { order: Some(order), ..tuned(false) };
        assert!(super::super::snippet(&found).ends_with("policies:\n  - VTIME\n"));
    }

    #[test]
    fn without_a_gain_the_default_is_typed() {
        let page = text(&tuned(false));
        assert!(page.starts_with("Type      policies: [VTIME], the default."), "{page}");
        assert!(page.contains("Gains     certainly, by 1 % or more, in none of the hold-out."), "{page}");
        assert!(super::super::snippet(&tuned(false)).ends_with("policies:\n  - VTIME\n"));
    }
}
