//! The most informative window: which part of runs to show when none is asked for, and why.

use crate::timeline::overview::{Key, Overview};
use crate::timeline::states::State;

/// A run with at most so many slices per cpu is shown whole: some pixels for each.
const WHOLE: u64 = 300;
/// Otherwise the window is as long as it takes for about so many slices per cpu.
const SLICES: u64 = 150;
/// Or for so many migrations or decisions of the policy that has fewest of them, but some.
const EVENTS: u64 = 4;
/// But not for more slices per cpu than this: hardly anything can be told apart then.
const MOST_SLICES: u64 = 600;
/// Start-up is special: windows lie behind this part of the run, one divided by this, if they are shorter
/// than that.
const START: u64 = 20;
/// Windows lie before the end of the first application in any of the runs, unless that comes in the first
/// part of the run: one divided by this.
const EARLY: u64 = 5;
/// How much more the states of cpus count than whose time it is: two runs of the same programs are soon out
/// of step.
const STATES_COUNT: u64 = 3;
/// A window that is to show who waits for whom is at most so many barrier intervals long, and not much
/// shorter.
const BARRIERS: u64 = 7;
/// A run with more barriers than this is not shown whole then.
const FEW: u64 = 16;
/// Lengths of windows: these times a power of ten.
const ROUND: [u64; 7] = [8, 6, 5, 4, 3, 2, 1];
/// Lengths of windows of a few barriers: these times a power of ten, divided by ten.
const ROUND_FEW: [u64; 11] = [80, 70, 60, 50, 40, 30, 25, 20, 15, 12, 10];

/// A part of a run or of several runs on one axis, in nanoseconds.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Window {
    /// First instant.
    pub from: u64,
    /// Last instant; later than `from`.
    pub to: u64,
    /// Why this one, a clause that can follow its begin and end; empty when it was asked for.
    pub why: String,
    /// It was chosen to be a few barriers long.
    pub close: bool,
}

/// What a window is to show.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Aim {
    /// Where the second of several runs differs most from the first.
    #[default]
    Difference,
    /// A few barriers, so that one can see who waits for whom; the difference where there are none. Always of
    /// a single run.
    Barriers,
}

/// Chooses the window of runs with these labels.
///
/// A few barriers, if that is the aim or there is one run, and it has more than 16: as long as five to seven
/// mean intervals between barriers of the run in which these are shortest (of its applications the one in
/// which they are longest), but at most 600 slices per cpu. Otherwise the whole run if few slices make it up.
/// Otherwise as long as it takes for some 150 slices on a cpu, or for four migrations or decisions, but at
/// most 600 slices. Lengths are rounded down.
///
/// Among all windows of this length that lie behind the first twentieth of the run (if they are shorter than
/// that) and before the end of the first application in any run (of the shorter run, if an application ends
/// in its first fifth), it is the one in which, of a few barriers, the most runs have a barrier, then a run
/// migrates tasks, then most barriers are complete, then the run with the longest intervals has the most
/// slices. Otherwise, with several runs, the one in which the second run differs most from the first: the sum
/// over states of the differences in cpu time, three times, and the sum over applications and states, once.
/// With one run it is the one with most migrations, and if there are none, with most time spent waiting. Of
/// equals it is the earliest, of a row of equals the middle.
#[must_use]
pub(super) fn choose(views: &mut [Overview], runs: &[&str], aim: Aim) -> Window {
    let width = views.iter().map(Overview::width).max().unwrap_or(1);
    for view in &mut *views {
        view.widen(width);
    }
    let end = views.iter().map(Overview::end).max().unwrap_or(0).max(1);
    let common = views.iter().map(Overview::end).min().unwrap_or(0).max(1);
    let close = if aim == Aim::Barriers || views.len() == 1 { few(views) } else { None };
    let length = close.as_ref().map_or_else(|| length(views, end, common), |few| few.length.min(common));
    if length >= common {
        return Window { from: 0, to: end, why: "the whole run".into(), close: false };
    }
    let exit = views.iter().map(Overview::first_exit).min().unwrap_or(common);
    let common = if exit >= common / EARLY && exit > length { exit } else { common };
    let bins = (length / width).max(1) as usize;
    let last = (common / width) as usize;
    let first = if length < common / START { (common / START / width) as usize + 1 } else { 0 };
    let span = Places { first, count: last.saturating_sub(bins).saturating_sub(first) + 1, bins };
    let (place, why) = match (&*views, runs, &close) {
        (_, _, Some(few)) => (eventful(views, span, few.slowest), few.words(runs)),
        ([one, two, ..], [first, second, ..], None) => {
            (differing(one, two, span), format!("where {first} and {second} differ most"))
        }
        ([only, ..], _, None) => busiest(only, span),
        ([], _, None) => (0, String::new()),
    };
    let (from, to) = (place as u64 * width, (place + bins) as u64 * width);
    // Round instants read better.
    let round = (length / 20).max(1);
    Window {
        from: from - from % round,
        to: to.div_ceil(round).saturating_mul(round).min(end),
        why: format!("most informative window: {why}"),
        close: close.is_some(),
    }
}

/// A window of a few barriers.
struct Few {
    /// In nanoseconds.
    length: u64,
    /// The run with the shortest intervals.
    shortest: usize,
    /// The run with the longest intervals, or without enough barriers.
    slowest: usize,
}

impl Few {
    fn words(&self, runs: &[&str]) -> String {
        match runs {
            [_, _, ..] => format!("a few barriers of {}", runs[self.shortest]),
            _ => "a few barriers".into(),
        }
    }
}

/// How long a window of a few barriers is; none if the runs do not have enough of them, or too many slices
/// between them.
fn few(views: &[Overview]) -> Option<Few> {
    let intervals: Vec<Option<u64>> = views.iter().map(|view| view.interval(FEW + 1)).collect();
    let known = || intervals.iter().enumerate().filter_map(|(at, interval)| Some((at, (*interval)?)));
    let (shortest, interval) = known().min_by_key(|(_, interval)| *interval)?;
    let slowest = (0..views.len()).rev().max_by_key(|at| intervals[*at].unwrap_or(u64::MAX))?;
    let most = views.iter().map(|view| spans(view, MOST_SLICES)).min()?;
    let most = interval.saturating_mul(BARRIERS).min(most);
    let length = (round_of(&ROUND_FEW, most.saturating_mul(10)) / 10).max(views[0].width());
    (length / 2 > interval).then_some(Few { length, shortest, slowest })
}

/// How long it takes for so many slices on each cpu.
fn spans(view: &Overview, wanted: u64) -> u64 {
    let (slices, cpus) = view.slices();
    let per_cpu = slices / cpus.max(1);
    let long = u128::from(view.end()) * u128::from(wanted) / u128::from(per_cpu.max(1));
    u64::try_from(long).unwrap_or(u64::MAX)
}

/// How long the window is to be, in nanoseconds; `common` for the whole run.
fn length(views: &[Overview], end: u64, common: u64) -> u64 {
    let (mut least, mut most, mut eventful) = (u64::MAX, u64::MAX, 0);
    for view in views {
        let (slices, cpus) = view.slices();
        if slices / cpus.max(1) > WHOLE {
            least = least.min(spans(view, SLICES));
            most = most.min(spans(view, MOST_SLICES));
        }
        let events = view.end().saturating_mul(EVENTS).checked_div(view.moves() + view.decisions());
        eventful = eventful.max(events.unwrap_or(0));
    }
    let length = least.max(eventful.min(most));
    if length >= end { common } else { round_down(length).max(views[0].width()).min(common) }
}

/// The largest round number that is not larger.
fn round_down(ns: u64) -> u64 {
    round_of(&ROUND, ns)
}

/// The largest of some numbers, falling, times a power of ten that is not larger.
fn round_of(numbers: &[u64], ns: u64) -> u64 {
    let size = numbers.last().map_or(1, |last| (*last).max(1));
    let ten = 10u64.pow((ns.max(size) / size).ilog10());
    numbers.iter().map(|times| ten.saturating_mul(*times)).find(|round| *round <= ns).unwrap_or(ten)
}

/// Where windows may begin, and how long they are, in bins.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Places {
    first: usize,
    count: usize,
    bins: usize,
}

/// The sums over each window, one after the other, of the numbers that a function gives for bins.
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

/// Where the most runs have a barrier, then the most migrate tasks, then most barriers are complete, then the
/// slowest run has the most slices.
fn eventful(views: &[Overview], span: Places, slowest: usize) -> usize {
    let sums = |view: &Overview| slide(span, 3, |bin| view.events(bin).to_vec());
    let all: Vec<Vec<Vec<u64>>> = views.iter().map(sums).collect();
    let score = |at: usize| {
        let with = |kind: usize| all.iter().filter(|run| run[at][kind] > 0).count();
        let barriers: u64 = all.iter().map(|run| run[at][1]).sum();
        (with(1), with(0), barriers, all[slowest][at][2])
    };
    span.first + first_best((0..span.count).map(score))
}

/// The earliest of the largest; of a row of equals the middle.
fn first_best<S: Ord>(scores: impl Iterator<Item = S>) -> usize {
    let (mut first, mut last) = (0, 0);
    let mut best = None;
    for (at, score) in scores.enumerate() {
        if best.as_ref().is_none_or(|highest| score > *highest) {
            (first, last, best) = (at, at, Some(score));
        } else if Some(&score) == best.as_ref() && last + 1 == at {
            last = at;
        }
    }
    usize::midpoint(first, last)
}

/// Where most happens in one run, and what that is.
fn busiest(view: &Overview, span: Places) -> (usize, String) {
    let keys: Vec<Key> = view.keys().collect();
    let waits = |bin: usize| -> u64 {
        keys.iter().zip(view.bin(bin)).filter(|(key, _)| key.state.waits()).map(|(_, ns)| ns).sum()
    };
    let sums = slide(span, 2, |bin| vec![view.events(bin)[0], waits(bin)]);
    let place = first_best(sums.iter().map(|sum| (sum[0], sum[1])));
    let why = match sums.get(place).map(|sum| (sum[0], sum[1])) {
        Some((0, 0)) | None => "an example, no task waits or migrates",
        Some((0, _)) => "most waiting, no migration",
        Some((1, _)) => "one of the few migrations",
        Some(_) => "most migrations",
    };
    (span.first + place, why.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use sim_core::account::{Account, Category};
    use sim_core::ids::{CpuId, TaskId};
    use sim_core::time::{Span, Time};
    use trace::slices::{Mark, Occupant, Owners, Sink, Slice};

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

    /// A barrier after every `every` slices.
    fn with_barriers(mut view: Overview, count: u64, every: u64) -> Overview {
        use sim_core::ids::AppId;
        use sim_core::wait::Scope;
        for n in (every..=count).step_by(every as usize) {
            let mark = Mark::BarrierCompleted { app: AppId(0), scope: Scope::All, episode: n as u32 };
            view.mark(Time::from_ns(n * 100_000), &mark);
        }
        view
    }

    #[test]
    fn a_short_run_is_shown_whole() {
        let window = choose(&mut [run(50, |_| false)], &["LOAD"], Aim::Difference);
        assert_eq!((window.from, window.to), (0, 5_000_000));
        assert_eq!((window.why.as_str(), window.close), ("the whole run", false));
    }

    #[test]
    fn two_runs_are_shown_where_they_differ() {
        // The second one waits from 0.6 s to 0.8 s, and takes longer.
        let views = &mut [run(10_000, |_| false), run(12_000, |n| (6_000..8_000).contains(&n))];
        let window = choose(views, &["LOAD", "PIN"], Aim::Difference);
        assert!(window.from >= 595_000_000 && window.to <= 805_000_000, "{window:?}");
        assert_eq!(window.why, "most informative window: where LOAD and PIN differ most");
        // Barriers do not change that, unless they are the aim.
        let views = views.clone().map(|view| with_barriers(view, 10_000, 20));
        assert_eq!(choose(&mut views.clone(), &["LOAD", "PIN"], Aim::Difference), window);
        assert!(choose(&mut views.clone(), &["LOAD", "PIN"], Aim::Barriers).close);
    }

    #[test]
    fn a_few_barriers_of_the_fastest_run_are_shown_where_each_run_has_one() {
        // A barrier every 2 ms; every 50 ms.
        let fast = with_barriers(run(5_000, |_| false), 5_000, 20);
        let slow = with_barriers(run(50_000, |n| n % 500 > 20), 50_000, 500);
        let window = choose(&mut [slow.clone(), fast.clone()], &["spin", "yield"], Aim::Barriers);
        let length = window.to - window.from;
        assert!((8_000_000..=18_000_000).contains(&length) && window.close, "{window:?}");
        let next = window.from.div_ceil(50_000_000) * 50_000_000;
        assert!(next <= window.to, "no barrier of the slow run: {window:?}");
        assert!(window.why.ends_with("a few barriers of yield"), "{}", window.why);
        // One run alone is shown so as well, whatever the aim.
        let window = choose(&mut [fast], &["PIN"], Aim::Difference);
        assert!(window.close && window.why.ends_with("a few barriers"), "{window:?}");
        // A run with a handful of barriers is not cut.
        let window = choose(&mut [with_barriers(run(100, |_| false), 100, 10)], &["PIN"], Aim::Barriers);
        assert!(!window.close && window.from == 0, "{window:?}");
    }

    #[test]
    fn one_run_without_barriers_is_shown_where_it_migrates_or_else_waits() {
        let runs = ["LOAD"];
        let mut view = run(10_000, |n| (3_000..3_200).contains(&n));
        let window = choose(&mut [view.clone()], &runs, Aim::Barriers);
        assert!((295_000_000..=320_000_000).contains(&window.from), "{window:?}");
        let moved = Mark::Migrated { task: TaskId(0), from: CpuId(0), to: CpuId(0) };
        view.mark(Time::from_ns(700_000_000), &moved);
        view.mark(Time::from_ns(701_000_000), &moved);
        let window = choose(&mut [view], &runs, Aim::Barriers);
        assert!(window.from <= 700_000_000 && window.to >= 701_000_000, "{window:?}");
        assert!(window.why.contains("most migrations"), "{}", window.why);
    }

    #[test]
    fn lengths_are_round_and_what_is_best_is_in_the_middle() {
        assert_eq!(first_best([(0, 0), (2, 1), (2, 1), (2, 1), (1, 9), (2, 1)].into_iter()), 2);
        assert_eq!([1, 9, 10, 49, 50, 199, 999].map(round_down), [1, 8, 10, 40, 50, 100, 800]);
        assert_eq!([10, 99, 167, 1_670].map(|ns| round_of(&ROUND_FEW, ns)), [10, 80, 150, 1_500]);
    }
}
