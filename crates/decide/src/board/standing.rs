//! Scores, ranks and pairs of policies over the scenarios of a board.

use serde::Serialize;

use super::{Entry, Row, State};
use crate::suite::ratio::{Ratio, WORTH, probability};

/// With a smaller corrected p-value a difference counts as shown.
pub(crate) const SHOWN: f64 = 0.05;

/// A policy over all scenarios.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Standing {
    /// The policy.
    pub policy: String,
    /// Its rank on these scenarios, from one more than the number of policies that are shown to be faster, by
    /// a hundredth or more, to the last one that is not shown to be slower; none for a policy without a
    /// result in one of the scenarios.
    pub rank: Option<[usize; 2]>,
    /// Its time over that of the reference: geometric mean over the scenarios that it completed, with the
    /// interval over them (with one scenario: over the seeds).
    pub score: Option<Ratio>,
    /// Scenarios that count and that it completed.
    pub scenarios: usize,
    /// Scenarios in which it is certainly faster than the reference, by a hundredth or more.
    pub better: usize,
    /// Scenarios in which neither is shown.
    pub level: usize,
    /// Scenarios in which it is certainly slower, by a hundredth or more.
    pub worse: usize,
    /// Scenarios in which it is the best policy, or the seeds do not tell it from the best one.
    pub first: usize,
    /// The scenario in which it is fastest in relation to the reference.
    pub best: Option<(String, f64)>,
    /// The scenario in which it is slowest.
    pub worst: Option<(String, f64)>,
    /// Scenarios that refuse it, each with the reason.
    pub refused: Vec<(String, String)>,
    /// Scenarios in which a run did not complete, each with the reason.
    pub not_completed: Vec<(String, String)>,
}

/// Two policies over the scenarios.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Pair {
    /// The faster one.
    pub policy: String,
    /// The other one.
    pub other: String,
    /// The time of the other one over that of the faster one, with the interval over the scenarios (with one
    /// scenario: over the seeds).
    pub ratio: Ratio,
    /// Paired t-test over the seeds, of the mean over these scenarios.
    pub p: f64,
    /// The same, corrected for the number of pairs (Holm).
    pub corrected: f64,
}

/// What each policy reached over the scenarios, in order of rank and score, and all pairs of those that have
/// a rank.
pub(super) fn standings(names: &[String], rows: &[Row]) -> (Vec<Standing>, Vec<Pair>) {
    let rows: Vec<&Row> = rows.iter().filter(|row| row.counts).collect();
    let of = |policy: usize| rows.iter().filter_map(move |row| Some((*row, row.entries.get(policy)?)));
    let mut standings: Vec<Standing> =
        names.iter().enumerate().map(|(at, name)| standing(name, &of(at).collect::<Vec<_>>())).collect();
    let whole: Vec<usize> =
        (0..names.len()).filter(|at| !rows.is_empty() && standings[*at].scenarios == rows.len()).collect();
    let pairs = pairs(&whole, &rows, names);
    for at in &whole {
        let shown = |pair: &&Pair| pair.corrected < SHOWN && pair.ratio.mean >= 1.0 + WORTH;
        let above = pairs.iter().filter(shown).filter(|pair| pair.other == names[*at]).count();
        let below = pairs.iter().filter(shown).filter(|pair| pair.policy == names[*at]).count();
        standings[*at].rank = Some([1 + above, whole.len() - below]);
    }
    let score = |standing: &Standing| standing.score.map_or(f64::INFINITY, |score| score.mean);
    standings.sort_by(|a, b| {
        let ranked = |standing: &Standing| standing.rank.is_none();
        ranked(a).cmp(&ranked(b)).then(score(a).total_cmp(&score(b)))
    });
    (standings, pairs)
}

fn standing(name: &str, all: &[(&Row, &Entry)]) -> Standing {
    let with = |state: State| {
        let those = all.iter().filter(move |(_, entry)| entry.state == state);
        those.map(|(row, entry)| (row.cell.clone(), entry.why.clone())).collect::<Vec<_>>()
    };
    let done: Vec<(&Row, &Entry, Ratio)> =
        all.iter().filter_map(|(row, entry)| Some((*row, *entry, entry.ratio?))).collect();
    let by = |a: &&(&Row, &Entry, Ratio), b: &&(&Row, &Entry, Ratio)| a.2.mean.total_cmp(&b.2.mean);
    let place = |found: &(&Row, &Entry, Ratio)| (found.0.cell.clone(), found.2.mean);
    let count = |which: fn(Ratio) -> bool| done.iter().filter(|found| which(found.2)).count();
    let (better, worse) = (count(Ratio::is_less), count(Ratio::is_more));
    let is_first =
        |row: &Row| row.best.as_deref() == Some(name) || row.level.iter().any(|other| other == name);
    let logs: Vec<&[f64]> = done.iter().map(|(_, entry, _)| &entry.logs[..]).collect();
    Standing {
        policy: name.to_owned(),
        rank: None,
        score: Ratio::of(&observations(&logs)),
        scenarios: done.len(),
        better,
        level: done.len() - better - worse,
        worse,
        first: done.iter().filter(|(row, ..)| is_first(row)).count(),
        best: done.iter().min_by(by).map(place),
        worst: done.iter().max_by(by).map(place),
        refused: with(State::Refused),
        not_completed: with(State::NotCompleted),
    }
}

/// What a mean over scenarios is made of: the mean of each, for the seeds of one are not independent of each
/// other as far as other scenarios are concerned; of a single scenario its seeds.
pub(crate) fn observations(logs: &[&[f64]]) -> Vec<f64> {
    match logs {
        [one] => one.to_vec(),
        several => several.iter().map(|logs| logs.iter().sum::<f64>() / logs.len().max(1) as f64).collect(),
    }
}

/// Sums of equal numbers in another order leave some dust of rounding behind: this is none.
const DUST: f64 = 1e-12;

/// For each seed the mean over the scenarios, as far as all have it.
fn by_seed(logs: &[&[f64]]) -> Vec<f64> {
    let seeds = logs.iter().map(|logs| logs.len()).min().unwrap_or(0);
    let mean = |seed: usize| logs.iter().map(|logs| logs[seed]).sum::<f64>() / logs.len() as f64;
    (0..seeds).map(mean).map(|mean| if mean.abs() < DUST { 0.0 } else { mean }).collect()
}

/// All pairs of some policies, with corrected p-values.
fn pairs(whole: &[usize], rows: &[&Row], names: &[String]) -> Vec<Pair> {
    let mut pairs = Vec::new();
    for (place, one) in whole.iter().enumerate() {
        for other in &whole[place + 1..] {
            let differences: Vec<Vec<f64>> = rows
                .iter()
                .map(|row| {
                    let both = row.entries[*other].logs.iter().zip(&row.entries[*one].logs);
                    both.map(|(other, one)| other - one).collect()
                })
                .collect();
            let logs: Vec<&[f64]> = differences.iter().map(Vec::as_slice).collect();
            let (seeds, logs) = (by_seed(&logs), observations(&logs));
            let faster = logs.iter().sum::<f64>() >= 0.0;
            let logs: Vec<f64> = if faster { logs } else { logs.into_iter().map(|log| -log).collect() };
            let (first, second) = if faster { (*one, *other) } else { (*other, *one) };
            let Some(ratio) = Ratio::of(&logs) else { continue };
            pairs.push(Pair {
                policy: names[first].clone(),
                other: names[second].clone(),
                ratio,
                p: probability(&seeds),
                corrected: 1.0,
            });
        }
    }
    let corrected = experiment::statistics::holm(&pairs.iter().map(|pair| pair.p).collect::<Vec<f64>>());
    for (pair, corrected) in pairs.iter_mut().zip(corrected) {
        pair.corrected = corrected;
    }
    pairs
}

#[cfg(test)]
mod tests {
    use super::super::tests::{row, rows};
    use super::*;

    #[test]
    fn policies_that_are_not_told_apart_share_ranks() {
        let names = ["LOAD", "A", "B"].map(str::to_owned);
        // A needs a tenth of the time of LOAD everywhere, B the same time with some scatter.
        let rows = rows(12, |cell, seed| {
            let scatter = if (cell + seed) % 2 == 0 { 0.02 } else { -0.02 };
            [Some(0.0), Some(-2.3 + scatter / 2.0), Some(scatter)]
        });
        let (standings, pairs) = standings(&names, &rows);
        let ranks: Vec<(&str, Option<[usize; 2]>)> =
            standings.iter().map(|standing| (standing.policy.as_str(), standing.rank)).collect();
        assert_eq!((ranks[0], ranks[1].1, ranks[2].1), (("A", Some([1, 1])), Some([2, 3]), Some([2, 3])));
        assert_eq!((standings[0].better, standings[0].worse, standings[0].first), (12, 0, 12));
        let best = standings[0].score.map(|score| (score.mean * 10.0 * 100.0).round());
        assert_eq!((best, pairs.len()), (Some(100.0), 3));
        assert!(pairs.iter().all(|pair| pair.corrected >= pair.p && pair.ratio.mean >= 1.0));
    }

    #[test]
    fn a_policy_without_a_result_everywhere_has_no_rank_and_stands_last() {
        let names = ["LOAD", "A"].map(str::to_owned);
        let all = rows(4, |cell, _| [Some(0.0), (cell > 0).then_some(-3.0)]);
        let (standings, pairs) = standings(&names, &all);
        assert_eq!((standings[1].policy.as_str(), standings[1].rank), ("A", None));
        assert_eq!((standings[1].scenarios, standings[1].refused.len(), pairs.len()), (3, 1, 0));
        assert_eq!(standings[0].rank, Some([1, 1]));
    }

    #[test]
    fn one_scenario_is_judged_by_its_seeds() {
        let names = ["LOAD", "A"].map(str::to_owned);
        let one = [row("x", &names, &[vec![Some(0.0), Some(-0.5)], vec![Some(0.0), Some(-0.51)]])];
        let (standings, pairs) = standings(&names, &one);
        assert!(standings[0].score.is_some_and(Ratio::is_less), "{standings:?}");
        assert!(pairs[0].corrected < SHOWN, "{pairs:?}");
    }
}
