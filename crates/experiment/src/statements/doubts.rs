//! What limits the trust in a result: seeds, runs that did not complete, values that are known only within
//! ranges, the estimated input that moves it most, shortened programs, and what the model is known to be weak
//! in.

use std::collections::BTreeSet;

use scenario::plan::Input;

use super::answer::Extremes;
use super::ranking::Standing;
use super::table::{self, Relation, Table};
use super::{cautions, effects};
use crate::number::{self, listed, plural};
use crate::result::Results;
use crate::statistics::half_widths;

/// An interval wider than this part of its mean is a doubt.
const WIDE: f64 = 0.1;
/// Seeds that are recommended after a single one.
const USUAL: usize = 5;
/// Numbers of seeds that are recommended.
const ROUND: [usize; 8] = [3, 5, 10, 15, 20, 30, 50, 100];
/// Metrics that are times of whole programs.
const TIMES: [&str; 3] = ["run_time", "makespan", "time_per_work"];
/// A part of a value that nobody asks for: smaller effects of estimated inputs are not mentioned.
const LITTLE: f64 = 0.01;
/// Names in a list before the rest becomes a number.
const NAMED: usize = 4;

/// Whether the interval of a value is wider than a tenth of it.
#[must_use]
pub fn is_wide(standing: &Standing<'_>) -> bool {
    relative(standing).is_some_and(|width| width > WIDE)
}

/// Half the width of the interval over the mean.
fn relative(standing: &Standing<'_>) -> Option<f64> {
    let half = standing.value.half_width()?;
    (standing.value.mean > 0.0).then(|| half / standing.value.mean)
}

/// The doubts, each a few sentences; the most serious first.
#[must_use]
pub fn doubts(table: &Table<'_>, extremes: Option<&Extremes<'_>>) -> Vec<String> {
    let mut doubts: Vec<String> = Vec::new();
    doubts.extend(incomplete(table));
    doubts.extend(extremes.and_then(|extremes| seeds(table, extremes)));
    doubts.extend(shortened(table));
    doubts.extend(sampled(table));
    doubts.extend(extremes.map(|extremes| of_best(table, extremes)).unwrap_or_default());
    doubts
}

/// The doubts that belong to whatever is said of a result, by its best standing: what its kind of answer must
/// not be read without, and the estimate that moves it.
fn of_best(table: &Table<'_>, extremes: &Extremes<'_>) -> Vec<String> {
    let mut doubts = cautions::all(table, &extremes.best, extremes.worst.as_ref());
    doubts.extend(stated(table));
    doubts.extend(inputs(table, extremes));
    doubts
}

/// The same for comparisons and maps of a result.
#[must_use]
pub fn of_result(results: &Results) -> Vec<String> {
    let table = Table::of(results);
    Extremes::of(&table).map(|extremes| of_best(&table, &extremes)).unwrap_or_default()
}

/// Runs that did not complete.
fn incomplete(table: &Table<'_>) -> Option<String> {
    let notes = &table.results.notes;
    let first = notes.first()?;
    let mut seen: BTreeSet<&str> = BTreeSet::new();
    let policies: Vec<&str> =
        notes.iter().map(|note| note.policy.as_str()).filter(|policy| seen.insert(policy)).collect();
    Some(format!(
        "{} of {} did not complete ({}) and count in no number. Seed {}: {}.",
        notes.len(),
        plural(table.results.provenance.runs, "run", "runs"),
        listed(&policies),
        first.seed,
        first.text
    ))
}

/// How many seeds there are, which differences may be chance, and which intervals are wide.
fn seeds(table: &Table<'_>, extremes: &Extremes<'_>) -> Option<String> {
    let repeat = table.results.provenance.repeat;
    if repeat < 2 {
        return one_seed(table, extremes);
    }
    let wide = widest(extremes)?;
    let mut seen: BTreeSet<&str> = BTreeSet::new();
    let all = extremes.rankings.iter().flatten().filter(|s| is_wide(s)).map(|s| s.policy);
    let mut policies: Vec<&str> = all.filter(|policy| seen.insert(policy)).collect();
    let advice = match enough(repeat, relative(wide)?) {
        Some(count) => format!("--repeat {count} gives about ±10 %"),
        None => "±10 % needs more than 100 seeds".to_owned(),
    };
    policies.retain(|policy| *policy != wide.policy);
    let also =
        if policies.is_empty() { String::new() } else { format!(" Also wide: {}.", listed(&policies)) };
    Some(format!(
        "{repeat} seeds: ±{} % for {}{}; {advice}.{also}",
        number::variation(relative(wide)? * 100.0),
        wide.policy,
        table.with(wide.configuration)
    ))
}

/// The doubt of a single seed: what another one does, or that this is not known.
fn one_seed(table: &Table<'_>, extremes: &Extremes<'_>) -> Option<String> {
    let pair = chance(table, extremes)?;
    let [one, other] = &pair;
    let drawn = table.results.uncertainty.is_some();
    let of = if drawn { " the intervals are those of the inputs alone, and" } else { "" };
    let name = |s: &Standing<'_>| format!("{}{}", s.policy, table.with(s.configuration));
    let percent = |part: f64| number::variation(part * 100.0);
    let there = match tried(table, extremes, &pair) {
        None => String::new(),
        Some((seed, None)) => format!(" (with seed {seed} one of them does not complete)"),
        Some((seed, Some(gap))) => {
            let way = if gap * gap_of(one, other) < 0.0 { ", reversed" } else { "" };
            format!(" (with seed {seed} it is {} %{way})", percent(gap.abs()))
        }
    };
    Some(format!(
        "With one seed{of} the {} % between {} and {} may be chance{there}: try --repeat {USUAL}.",
        percent(distance(one, other)),
        name(one),
        name(other)
    ))
}

/// The closest cases of a result with one seed, where another seed was not tried or changes what lies between
/// them by more than a tenth.
#[must_use]
pub fn chance<'a>(table: &Table<'a>, extremes: &Extremes<'a>) -> Option<[Standing<'a>; 2]> {
    if table.results.provenance.repeat > 1 {
        return None;
    }
    let pair = closest(table, extremes)?;
    let gap = gap_of(&pair[0], &pair[1]);
    match tried(table, extremes, &pair) {
        Some((_, Some(other))) if (other - gap).abs() <= WIDE * gap.abs() => None,
        _ => Some(pair),
    }
}

/// The other seed that was tried for these cases, and by which part they differ with it, with its sign; no
/// part where one of them did not complete. Both have the same random numbers, so what moves both alike is no
/// difference between them.
fn tried(table: &Table<'_>, extremes: &Extremes<'_>, pair: &[Standing<'_>; 2]) -> Option<(u64, Option<f64>)> {
    let other = table.results.other_seed.as_ref()?;
    let goal = &extremes.goal;
    let same = other.cases.iter().zip(pair).all(|(other, case)| {
        (other.configuration.as_str(), other.policy.as_str())
            == (case.cell.configuration.as_str(), case.policy)
    });
    if !same || (other.app.as_str(), other.metric.as_str()) != (goal.app.as_str(), goal.metric) {
        return None;
    }
    let [one, second] = &other.cases;
    Some((other.seed, one.value.zip(second.value).map(|(one, second)| gap(one, second))))
}

/// By which part of the larger one the second value is above the first.
fn gap(a: f64, b: f64) -> f64 {
    (b - a) / a.abs().max(b.abs()).max(f64::MIN_POSITIVE)
}

fn gap_of(one: &Standing<'_>, other: &Standing<'_>) -> f64 {
    gap(one.value.mean, other.value.mean)
}

/// The number of seeds that settles the doubt about seeds; `None` without that doubt, and where so little is
/// doubtful that nobody asks.
#[must_use]
pub fn seeds_needed(table: &Table<'_>, extremes: &Extremes<'_>) -> Option<usize> {
    let repeat = table.results.provenance.repeat;
    if repeat < 2 {
        let doubtful = chance(table, extremes).filter(|[a, b]| distance(a, b) >= LITTLE);
        return doubtful.map(|_| USUAL);
    }
    enough(repeat, relative(widest(extremes)?)?)
}

/// The standing with the widest interval, if that is a doubt.
fn widest<'a, 'b>(extremes: &'b Extremes<'a>) -> Option<&'b Standing<'a>> {
    let all = extremes.rankings.iter().flatten();
    let width = |s: &Standing<'_>| relative(s).unwrap_or(0.0);
    all.max_by(|a, b| width(a).total_cmp(&width(b))).filter(|s| is_wide(s))
}

/// The round number of seeds from which on an interval of this width is narrow: the width follows Student's t
/// for the number of seeds over its root, with the variation that was seen.
fn enough(repeat: u32, width: f64) -> Option<usize> {
    let width_of = |seeds: usize| width * half_widths(seeds) / half_widths(repeat as usize);
    ROUND.into_iter().find(|count| *count > repeat as usize && width_of(*count) <= WIDE)
}

/// The best and what comes next to it, where they are told apart by less than seeds usually differ by: among
/// all cases where these are compared with each other, else at each configuration.
fn closest<'a>(table: &Table<'a>, extremes: &Extremes<'a>) -> Option<[Standing<'a>; 2]> {
    let all: Vec<Standing<'a>> = extremes.rankings.iter().flatten().copied().collect();
    let near = |best: &Standing<'a>, others: &[Standing<'a>]| {
        let others = others.iter().filter(|other| table::relation(best.cell, other.cell) == Relation::Apart);
        let next = others.min_by(|a, b| distance(best, a).total_cmp(&distance(best, b)))?;
        (distance(best, next) <= WIDE).then_some([*best, *next])
    };
    if extremes.comparable && table.policies().len() == 1 {
        return near(&extremes.best, &all);
    }
    let here = extremes.rankings.iter().filter_map(|all| near(all.first()?, all));
    here.min_by(|a, b| distance(&a[0], &a[1]).total_cmp(&distance(&b[0], &b[1])))
}

/// By which part of the larger one two values differ.
fn distance(one: &Standing<'_>, other: &Standing<'_>) -> f64 {
    gap_of(one, other).abs()
}

/// Programs of which only a part is simulated.
fn shortened(table: &Table<'_>) -> Option<String> {
    let all = &table.results.provenance.shortened;
    let least = all.iter().map(|s| s.share).reduce(f64::min)?;
    let names: Vec<&str> = all.iter().map(|s| s.app.as_str()).collect();
    let (verb, names) = match names.as_slice() {
        names if names.len() > NAMED => ("simulate", plural(names.len(), "program", "programs")),
        [one] => ("simulates", (*one).to_owned()),
        names => ("simulate", listed(names)),
    };
    Some(format!("{names} {verb} {} % of the iterations; whole programs differ.", least * 100.0))
}

/// Runs of which a part is extrapolated.
fn sampled(table: &Table<'_>) -> Option<String> {
    let sampled = table.results.provenance.sampled?;
    if sampled.runs == 0 {
        return Some(
            "`fidelity: sampled` could extrapolate nothing: every run is simulated as a whole.".into(),
        );
    }
    Some(format!(
        "{} % of the time of all runs is extrapolated, in {} of {}, with an estimated error of at most {} % \
         of a run.",
        number::percent(sampled.extrapolated),
        sampled.runs,
        plural(table.results.provenance.runs, "run", "runs"),
        number::variation(sampled.error * 100.0)
    ))
}

/// What the scenario itself states as uncertain. Where the values were drawn, a line of the answer is about
/// them.
fn stated(table: &Table<'_>) -> Option<String> {
    let uncertain = &table.results.provenance.uncertain;
    if table.results.uncertainty.is_some() {
        return None;
    }
    match uncertain.as_slice() {
        [] => None,
        [Input { name, value, low, high, .. }] => Some(format!(
            "{name} is known only within {low} to {high}, and this is the answer for {value}: try \
             --uncertainty."
        )),
        all => {
            let names: Vec<&str> = all.iter().take(NAMED).map(|input| input.name.as_str()).collect();
            let (such, names) = match names.as_slice() {
                [some @ .., _] if all.len() > NAMED => ("such as ", listed(some)),
                names => ("", listed(names)),
            };
            Some(format!(
                "{} values are known only within ranges ({such}{names}), and this is the answer for one \
                 value of each: try --uncertainty.",
                all.len()
            ))
        }
    }
}

/// The estimated value of the machine that moves the best value most, where it can move it by more than the
/// seeds do. Where the values were drawn, a line of the answer is about them.
fn inputs(table: &Table<'_>, extremes: &Extremes<'_>) -> Option<String> {
    let best = &extremes.best;
    let effect = effects::largest(table, best).filter(|_| table.results.uncertainty.is_none())?;
    if effect.size < LITTLE.max(relative(best).unwrap_or(0.0)) {
        return None;
    }
    let Input { name, low, high, .. } = effect.input;
    let size = if effect.size > 1.0 {
        "more than 100 %".to_owned()
    } else {
        format!("up to about {} %", number::variation(effect.size * 100.0))
    };
    let through = match effect.part {
        Some((part, share)) => {
            format!(" ({part}: {} % of the busy cpu time)", number::variation(share * 100.0))
        }
        None => String::new(),
    };
    Some(format!(
        "{} {name} ({low} to {high}) can move {}{}{} by {size}{through}: try --uncertainty.",
        if effect.others { "Estimates such as" } else { "The estimate" },
        // The effect is one on times of whole programs, not on ratios or on times of requests.
        if TIMES.contains(&extremes.goal.metric) { "" } else { "the run times of " },
        best.policy,
        table.with(best.configuration)
    ))
}
