//! The most telling window: which part of runs to show when nobody says, and why.

use crate::overview::{Key, Overview};
use crate::states::State;

/// A run with at most so many slices per cpu is shown whole: some pixels for each.
const WHOLE: u64 = 300;
/// Otherwise the window is as long as it takes for about so many slices per cpu.
const SLICES: u64 = 150;
/// Or for so many migrations or decisions of the policy that has fewest of them, but some.
const EVENTS: u64 = 4;
/// But not for more slices per cpu than this: hardly anything can be told apart then.
const MOST_SLICES: u64 = 600;
/// Start-up is special: windows lie behind this part of the run, one divided by this, if they are shorter than that.
const START: u64 = 20;
/// Windows lie before the end of the first application in any of the runs, unless that comes in the first part of the
/// run: one divided by this.
const EARLY: u64 = 5;
/// How much more the states of cpus count than whose time it is: two runs of the same programs are soon out of step.
const STATES_COUNT: u64 = 3;
/// Lengths of windows: these times a power of ten.
const ROUND: [u64; 7] = [8, 6, 5, 4, 3, 2, 1];

/// A part of a run or of several runs on one axis, in nanoseconds.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Window {
    /// First instant.
    pub from: u64,
    /// Last instant; later than `from`.
    pub to: u64,
    /// Why this one, a clause that can follow its begin and end; empty when it was asked for.
    pub why: String,
}

/// Chooses the window of runs with these labels.
///
/// The whole run if few slices make it up. Otherwise it is as long as it takes for some 150 slices on a cpu, or for four
/// migrations or decisions, but at most 600 slices; rounded down. Among all windows of this length that lie behind the
/// first twentieth of the run (if they are shorter than that) and before the end of the first application in any run (of
/// the shorter run, if an application ends in its first fifth), it is, with several runs, the one in which the second run
/// differs most from the first: the sum over states of the differences in cpu time, three times, and the sum over
/// applications and states, once. With one run it is the one with most migrations, and if there are none, with most time
/// spent waiting. Of equals it is the earliest, of a row of equals the middle.
#[must_use]
pub fn choose(views: &mut [Overview], runs: &[String]) -> Window {
    let width = views.iter().map(Overview::width).max().unwrap_or(1);
    for view in &mut *views {
        view.widen(width);
    }
    let end = views.iter().map(Overview::end).max().unwrap_or(0).max(1);
    let common = views.iter().map(Overview::end).min().unwrap_or(0).max(1);
    let length = length(views, end, common);
    if length >= common {
        return Window { from: 0, to: end, why: "the whole run, short enough to be shown".into() };
    }
    let exit = views.iter().map(Overview::first_exit).min().unwrap_or(common);
    let common = if exit >= common / EARLY && exit > length { exit } else { common };
    let bins = (length / width).max(1) as usize;
    let last = (common / width) as usize;
    let first = if length < common / START { (common / START / width) as usize + 1 } else { 0 };
    let span = Places { first, count: last.saturating_sub(bins).saturating_sub(first) + 1, bins };
    let (place, why) = match (&*views, runs) {
        ([one, two, ..], [first, second, ..]) => {
            (differing(one, two, span), format!("where {first} and {second} differ most"))
        }
        ([only, ..], _) => busiest(only, span),
        ([], _) => (0, String::new()),
    };
    let (from, to) = (place as u64 * width, (place + bins) as u64 * width);
    // Round instants read better.
    let round = (length / 20).max(1);
    Window { from: from - from % round, to: to.div_ceil(round).saturating_mul(round).min(end), why }
}

/// How long the window is to be, in nanoseconds; `common` for the whole run.
fn length(views: &[Overview], end: u64, common: u64) -> u64 {
    let (mut least, mut most, mut eventful) = (u64::MAX, u64::MAX, 0);
    for view in views {
        let (slices, cpus) = view.slices();
        let per_cpu = slices / cpus.max(1);
        let spans = |wanted: u64| u128::from(view.end()) * u128::from(wanted) / u128::from(per_cpu.max(1));
        if per_cpu > WHOLE {
            least = least.min(spans(SLICES) as u64);
            most = most.min(spans(MOST_SLICES) as u64);
        }
        let moves: u64 = (0..=(view.end() / view.width()) as usize).map(|bin| view.moves(bin)).sum();
        let events = view.end().saturating_mul(EVENTS).checked_div(moves + view.decisions());
        eventful = eventful.max(events.unwrap_or(0));
    }
    let length = least.max(eventful.min(most));
    if length >= end { common } else { round_down(length).max(views[0].width()).min(common) }
}

/// The largest round number that is not larger.
fn round_down(ns: u64) -> u64 {
    let ten = 10u64.pow(ns.max(1).ilog10());
    ROUND.into_iter().map(|times| ten * times).find(|round| *round <= ns).unwrap_or(ten)
}

/// Where windows may begin, and how long they are, in bins.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Places {
    first: usize,
    count: usize,
    bins: usize,
}

/// The sums over each window, one after the other, of what a function tells of bins.
fn slide(span: Places, numbers: usize, bin: impl Fn(usize) -> Vec<u64>) -> Vec<Vec<u64>> {
    let mut sum = vec![0u64; numbers];
    let mut sums = Vec::with_capacity(span.count);
    let Places { first, count, bins } = span;
    for at in first..first + count + bins - 1 {
        for (sum, ns) in sum.iter_mut().zip(bin(at)) {
            *sum += ns;
        }
        if at >= first + bins {
            for (sum, ns) in sum.iter_mut().zip(bin(at - bins)) {
                *sum -= ns;
            }
        }
        if at + 1 >= first + bins {
            sums.push(sum.clone());
        }
    }
    sums
}

/// Where two runs differ most.
fn differing(first: &Overview, second: &Overview, span: Places) -> usize {
    let keys: Vec<Key> = first.keys().collect();
    let sums = |view: &Overview| slide(span, keys.len(), |bin| view.bin(bin).to_vec());
    let (a, b) = (sums(first), sums(second));
    let score = |(one, two): (&Vec<u64>, &Vec<u64>)| {
        let mut states = [(0u64, 0u64); State::ALL.len()];
        let mut owners = 0;
        for (key, (one, two)) in keys.iter().zip(one.iter().zip(two)) {
            let sum = &mut states[key.state as usize];
            (sum.0, sum.1) = (sum.0 + one, sum.1 + two);
            owners += one.abs_diff(*two);
        }
        let states: u64 = states.iter().map(|(one, two)| one.abs_diff(*two)).sum();
        (STATES_COUNT * states + owners, 0)
    };
    span.first + first_best(a.iter().zip(&b).map(score))
}

/// The earliest of the largest; of a row of equals the middle.
fn first_best(scores: impl Iterator<Item = (u64, u64)>) -> usize {
    let (mut first, mut last) = (0, 0);
    let mut best = None;
    for (at, score) in scores.enumerate() {
        if best.is_none_or(|highest| score > highest) {
            (first, last, best) = (at, at, Some(score));
        } else if Some(score) == best && last + 1 == at {
            last = at;
        }
    }
    usize::midpoint(first, last)
}

/// Where most happens in one run, and what that is.
fn busiest(view: &Overview, span: Places) -> (usize, String) {
    let keys: Vec<Key> = view.keys().collect();
    let waits = |bin: usize| -> u64 {
        let waiting = |key: &Key| matches!(key.state, State::Spin | State::Yield);
        keys.iter().zip(view.bin(bin)).filter(|(key, _)| waiting(key)).map(|(_, ns)| ns).sum()
    };
    let sums = slide(span, 2, |bin| vec![view.moves(bin), waits(bin)]);
    let place = first_best(sums.iter().map(|sum| (sum[0], sum[1])));
    let why = match sums.get(place).map(|sum| (sum[0], sum[1])) {
        Some((0, 0)) | None => "one part like the others: nobody waits, nobody migrates",
        Some((0, _)) => "where most time is spent waiting (nobody migrates)",
        Some((1, _)) => "with one of the few migrations",
        Some(_) => "where most tasks migrate",
    };
    (span.first + place, why.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::slices::{Mark, Occupant, Owners, Sink, Slice};
    use sim_core::account::{Account, Category};
    use sim_core::ids::{CpuId, TaskId};
    use sim_core::time::{Span, Time};

    /// One cpu, `count` slices of a microsecond each; those for which `other` holds spin.
    fn run(count: u64, other: impl Fn(u64) -> bool) -> Overview {
        let mut view = Overview::new(Owners::new([1]), vec![true]);
        for n in 0..count {
            let (from, to) = (Time::from_ns(n * 100_000), Time::from_ns((n + 1) * 100_000));
            let (who, category) = match other(n) {
                true => (Occupant::Waits(TaskId(0)), Category::Spin),
                false => (Occupant::Works(TaskId(0)), Category::Compute),
            };
            let parts = Account::of(category, Span::from_ns(100_000));
            view.slice(&Slice { cpu: CpuId(0), from, to, who, parts });
        }
        view
    }

    #[test]
    fn a_short_run_is_shown_whole() {
        let window = choose(&mut [run(50, |_| false)], &["LOAD".into()]);
        assert_eq!((window.from, window.to), (0, 5_000_000));
        assert!(window.why.contains("whole"), "{}", window.why);
    }

    #[test]
    fn two_runs_are_shown_where_they_differ() {
        // The second one waits from 0.6 s to 0.8 s, and goes on longer.
        let views = &mut [run(10_000, |_| false), run(12_000, |n| (6_000..8_000).contains(&n))];
        let window = choose(views, &["LOAD".into(), "PIN".into()]);
        assert!(window.from >= 595_000_000 && window.to <= 805_000_000, "{window:?}");
        assert_eq!(window.why, "where LOAD and PIN differ most");
    }

    #[test]
    fn one_run_is_shown_where_it_migrates_or_else_waits() {
        let runs = ["LOAD".into()];
        let mut view = run(10_000, |n| (3_000..3_200).contains(&n));
        let window = choose(&mut [view.clone()], &runs);
        assert!((295_000_000..=320_000_000).contains(&window.from), "{window:?}");
        let moved = Mark::Migrated { task: TaskId(0), from: CpuId(0), to: CpuId(0) };
        view.mark(Time::from_ns(700_000_000), &moved);
        view.mark(Time::from_ns(701_000_000), &moved);
        let window = choose(&mut [view], &runs);
        assert!(window.from <= 700_000_000 && window.to >= 701_000_000, "{window:?}");
        assert!(window.why.contains("most tasks migrate"), "{}", window.why);
    }

    #[test]
    fn lengths_are_round_and_what_is_best_is_in_the_middle() {
        assert_eq!(first_best([(0, 0), (2, 1), (2, 1), (2, 1), (1, 9), (2, 1)].into_iter()), 2);
        assert_eq!([1, 9, 10, 49, 50, 199, 999].map(round_down), [1, 8, 10, 40, 50, 100, 800]);
    }
}
