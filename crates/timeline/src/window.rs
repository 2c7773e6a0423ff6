//! The most telling window: which part of runs to show when nobody says, and why.

use crate::overview::{Key, Overview};
use crate::states::{Owner, State};

/// A run with at most so many slices per cpu is shown whole: some pixels for each.
const WHOLE: u64 = 300;
/// Otherwise the window is as long as it takes for about so many slices per cpu.
const SLICES: u64 = 150;
/// Or for this many migrations, if there are any, up to [`MOST_SLICES`].
const MOVES: u64 = 8;
/// Start-up is special: windows lie behind this part of the run, one divided by this, if they are shorter than that.
const START: u64 = 20;
/// Windows lie before the end of the first application in any of the runs, unless that comes in the first part of the
/// run: one divided by this.
const EARLY: u64 = 5;
/// Beyond so many slices per cpu nothing can be told apart.
const MOST_SLICES: u64 = 6000;

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

/// Names that the sentence uses.
#[derive(Clone, Copy, Debug)]
pub struct Names<'a> {
    /// The labels of the runs.
    pub runs: &'a [String],
    /// The applications.
    pub apps: &'a [String],
}

/// Chooses the window.
///
/// The whole run if few slices make it up. Otherwise it is as long as it takes for some 150 slices on a cpu, or
/// for eight migrations, whichever is more, rounded down to 1, 2 or 5 times a power of ten. Among all windows of this
/// length that lie behind the first twentieth (if it is shorter than that) and before the end of the first application in any run (of the shorter run, if an application ends in the
/// first fifth of a run) it is, with several runs, the one in which the cpu time of the
/// second run differs most from that of the first (the sum over applications and states of the differences); with
/// one run the one with most migrations, and if there are none, with most time spent waiting. Of equals the earliest, and
/// of a row of equals the middle.
#[must_use]
pub fn choose(views: &mut [Overview], names: Names<'_>) -> Window {
    let width = views.iter().map(Overview::width).max().unwrap_or(1);
    for view in &mut *views {
        view.widen(width);
    }
    let end = views.iter().map(Overview::end).max().unwrap_or(0).max(1);
    let common = views.iter().map(Overview::end).min().unwrap_or(0).max(1);
    let length = length(views, end, common);
    if length >= common {
        return Window { from: 0, to: end, why: whole(views, names) };
    }
    let exit = views.iter().map(Overview::first_exit).min().unwrap_or(common);
    let common = if exit >= common / EARLY && exit > length { exit } else { common };
    let bins = (length / width).max(1) as usize;
    let last = (common / width) as usize;
    let first = if length < common / START { (common / START / width) as usize + 1 } else { 0 };
    let span = Places { first, count: last.saturating_sub(bins).saturating_sub(first) + 1, bins };
    let (place, why) = match views {
        [one, two, ..] => differing(one, two, span, names),
        [only] => busiest(only, span),
        [] => (0, String::new()),
    };
    let (from, to) = (place as u64 * width, (place + bins) as u64 * width);
    // Round instants read better.
    let round = (length / 20).max(1);
    Window { from: from - from % round, to: to.div_ceil(round).saturating_mul(round).min(end), why }
}

/// What to say of whole runs.
fn whole(views: &[Overview], names: Names<'_>) -> String {
    let why = "the whole run, short enough to be shown";
    let [first, second, ..] = views else { return why.into() };
    let keys: Vec<Key> = first.keys().collect();
    let sum = |view: &Overview| {
        let bins = (view.end() / view.width()) as usize + 1;
        slide(Places { first: 0, count: 1, bins }, keys.len(), |bin| view.bin(bin).to_vec())
            .pop()
            .unwrap_or_default()
    };
    match contrast(&sum(first), &sum(second), &keys, names) {
        Some(contrast) => format!("{why}; largest difference: {contrast}"),
        None => why.into(),
    }
}

/// How long the window is to be, in nanoseconds; `common` for the whole run.
fn length(views: &[Overview], end: u64, common: u64) -> u64 {
    let mut length = u64::MAX;
    for view in views {
        let (slices, cpus) = view.slices();
        let per_cpu = slices / cpus.max(1);
        if view.end() == 0 || per_cpu <= WHOLE {
            continue;
        }
        let spans = |wanted: u64| (u128::from(view.end()) * u128::from(wanted) / u128::from(per_cpu)) as u64;
        let moves: u64 = (0..=(view.end() / view.width()) as usize).map(|bin| view.moves(bin)).sum();
        let for_moves = view.end().saturating_mul(MOVES).checked_div(moves).unwrap_or(0);
        length = length.min(spans(SLICES).max(for_moves.min(spans(MOST_SLICES))));
    }
    if length >= end { common } else { round_down(length).max(views[0].width()).min(common) }
}

/// The largest number of the form 1, 2 or 5 times a power of ten that is not larger.
fn round_down(ns: u64) -> u64 {
    let ten = 10u64.pow(ns.max(1).ilog10());
    [5, 2].into_iter().map(|times| ten * times).find(|round| *round <= ns).unwrap_or(ten)
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
fn differing(first: &Overview, second: &Overview, span: Places, names: Names<'_>) -> (usize, String) {
    let keys: Vec<Key> = first.keys().collect();
    let sums = |view: &Overview| slide(span, keys.len(), |bin| view.bin(bin).to_vec());
    let (a, b) = (sums(first), sums(second));
    let difference = |at: usize| -> u64 { a[at].iter().zip(&b[at]).map(|(a, b)| a.abs_diff(*b)).sum() };
    let place = first_best((0..a.len().min(b.len())).map(|at| (difference(at), 0)));
    let (Some(one), Some(two), [first, second, ..]) = (a.get(place), b.get(place), names.runs) else {
        return (0, String::new());
    };
    let contrast = contrast(one, two, &keys, names).map_or(String::new(), |contrast| format!(": {contrast}"));
    (span.first + place, format!("where {first} and {second} differ most{contrast}"))
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

/// What differs most as a share of the cpu time, in words; none where nothing does by a per cent.
fn contrast(one: &[u64], two: &[u64], keys: &[Key], names: Names<'_>) -> Option<String> {
    // Spinning and yielding are both waiting.
    let class = |key: &Key| match key.state {
        State::Spin | State::Yield => (Owner::Nobody, State::Spin),
        state => (key.owner, state),
    };
    let mut classes: Vec<((Owner, State), u64, u64)> = Vec::new();
    for (key, (a, b)) in keys.iter().zip(one.iter().zip(two)) {
        let class = class(key);
        match classes.iter_mut().find(|known| known.0 == class) {
            Some(known) => (known.1, known.2) = (known.1 + a, known.2 + b),
            None => classes.push((class, *a, *b)),
        }
    }
    let percent =
        |part: u64, all: &[u64]| (part as f64 * 100.0 / all.iter().sum::<u64>().max(1) as f64).round();
    let shares = |class: &(_, u64, u64)| (percent(class.1, one), percent(class.2, two));
    let apart = |class: &(_, u64, u64)| (shares(class).0 - shares(class).1).abs();
    let widest = classes.iter().rev().max_by_key(|class| apart(class) as u64);
    let (Some(class), [first, second, ..]) = (widest, names.runs) else { return None };
    if apart(class) < 1.0 {
        return None;
    }
    let ((owner, state), (a, b)) = (class.0, shares(class));
    let app = match owner {
        Owner::App(app) => names.apps.get(app as usize).map_or("", String::as_str),
        _ => "",
    };
    let what = match state {
        State::Compute => format!("{app} computing"),
        State::Stall => format!("{app} stalled on memory"),
        State::Spin | State::Yield => "waiting".into(),
        State::Switch => "switching".into(),
        State::Migrate => "migrating".into(),
        State::Kernel => "in the kernel".into(),
        State::Idle => "idle".into(),
    };
    Some(format!("{what} {a} % of the cpu time under {first}, {b} % under {second}"))
}

/// Where most happens in one run.
fn busiest(view: &Overview, span: Places) -> (usize, String) {
    let keys: Vec<Key> = view.keys().collect();
    let waits = |bin: usize| -> u64 {
        let waiting = |key: &Key| matches!(key.state, State::Spin | State::Yield);
        keys.iter().zip(view.bin(bin)).filter(|(key, _)| waiting(key)).map(|(_, ns)| ns).sum()
    };
    let sums = slide(span, 2, |bin| vec![view.moves(bin), waits(bin)]);
    let place = first_best(sums.iter().map(|sum| (sum[0], sum[1])));
    let why = match sums.get(place).map(|sum| (sum[0], sum[1])) {
        Some((0, 0)) | None => "one part like the others: nobody waits, nobody migrates".to_owned(),
        Some((0, _)) => "where most time is spent waiting (nobody migrates)".to_owned(),
        Some((1, _)) => "with one of the few migrations".to_owned(),
        Some((moves, _)) => format!("where most tasks migrate: {moves} moves"),
    };
    (span.first + place, why)
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

    fn names() -> (Vec<String>, Vec<String>) {
        (vec!["LOAD".into(), "PIN".into()], vec!["cg".into()])
    }

    #[test]
    fn a_short_run_is_shown_whole() {
        let (runs, apps) = names();
        let window = choose(&mut [run(50, |_| false)], Names { runs: &runs, apps: &apps });
        assert_eq!((window.from, window.to), (0, 5_000_000));
        assert!(window.why.contains("whole"), "{}", window.why);
    }

    #[test]
    fn two_runs_are_shown_where_they_differ() {
        let (runs, apps) = names();
        // The second one waits from 0.6 s to 0.8 s, and goes on longer.
        let views = &mut [run(10_000, |_| false), run(12_000, |n| (6_000..8_000).contains(&n))];
        let window = choose(views, Names { runs: &runs, apps: &apps });
        assert!(window.from >= 595_000_000 && window.to <= 805_000_000, "{window:?}");
        assert!(window.why.contains("100 % of the cpu time under LOAD, 0 % under PIN"), "{}", window.why);
        assert!(window.why.contains("cg computing"), "{}", window.why);
    }

    #[test]
    fn one_run_is_shown_where_it_migrates_or_else_waits() {
        let (runs, apps) = names();
        let names = Names { runs: &runs[..1], apps: &apps };
        let mut view = run(10_000, |n| (3_000..3_200).contains(&n));
        let window = choose(&mut [view.clone()], names);
        assert!((295_000_000..=320_000_000).contains(&window.from), "{window:?}");
        let moved = Mark::Migrated { task: TaskId(0), from: CpuId(0), to: CpuId(0) };
        view.mark(Time::from_ns(700_000_000), &moved);
        view.mark(Time::from_ns(701_000_000), &moved);
        let window = choose(&mut [view], names);
        assert!(window.from <= 700_000_000 && window.to >= 701_000_000, "{window:?}");
        assert!(window.why.contains("2 moves"), "{}", window.why);
    }

    #[test]
    fn lengths_are_round_and_what_is_best_is_in_the_middle() {
        assert_eq!(first_best([(0, 0), (2, 1), (2, 1), (2, 1), (1, 9), (2, 1)].into_iter()), 2);
        assert_eq!([1, 9, 10, 49, 50, 199, 999].map(round_down), [1, 5, 10, 20, 50, 100, 500]);
    }
}
