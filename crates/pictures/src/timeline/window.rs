//! Which part of runs to show when none is asked for: the whole, or a part behind the start.

use crate::timeline::overview::Overview;

/// A run with at most so many slices per cpu is shown whole: some pixels for each.
const WHOLE: u64 = 300;
/// Otherwise the window is as long as it takes for about so many slices per cpu.
const SLICES: u64 = 150;
/// Or for so many migrations or decisions of the policy that has fewest of them, but some.
const EVENTS: u64 = 4;
/// But not for more slices per cpu than this: hardly anything can be told apart then.
const MOST_SLICES: u64 = 600;
/// Start-up is special: windows lie behind this part of the run, one divided by this.
const START: u64 = 20;
/// A window that is to show who waits for whom is so many barrier intervals long.
const BARRIERS: u64 = 7;
/// The last of the first barriers lies in it, behind this part of it, one divided by this.
const BEFORE: u64 = 10;
/// A run with more barriers than this is not shown whole then.
const FEW: u64 = 16;

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
    /// How several runs differ.
    #[default]
    Difference,
    /// A few barriers, so that one can see who waits for whom; the difference where there are none. Always of
    /// a single run.
    Barriers,
}

/// Chooses the window of runs with these labels.
///
/// A few barriers, if that is the aim or there is one run, and it has more than 16: seven mean intervals
/// between barriers of the run in which these are shortest (of its applications the one in which they are
/// longest), but at most 600 slices per cpu. Otherwise the whole run if few slices make it up. Otherwise as
/// long as it takes for 150 slices on a cpu, or for four migrations or decisions, but at most 600 slices.
/// Lengths are rounded down to two digits. Windows begin behind the first twentieth of the shortest run, or
/// of the time until its first application ends, those of a few barriers not before every run has had one.
/// They begin earlier where they would be longer than what is left.
#[must_use]
pub(super) fn choose(views: &[Overview], runs: &[&str], aim: Aim) -> Window {
    let end = views.iter().map(Overview::end).max().unwrap_or(0).max(1);
    let common = views.iter().map(Overview::end).min().unwrap_or(0).max(1);
    let few = if aim == Aim::Barriers || views.len() == 1 { few(views) } else { None };
    let length = two_digits(few.map_or_else(|| length(views), |(length, _)| length));
    if length >= common {
        return Window { from: 0, to: end, why: "the whole run".into(), close: false };
    }
    let exit = views.iter().map(Overview::first_exit).min().unwrap_or(common);
    let common = if exit > length { exit.min(common) } else { common };
    let first = views.iter().filter_map(Overview::first_barriers).max().filter(|_| few.is_some());
    let first = first.map_or(0, |first| first.saturating_sub(length / BEFORE));
    let from = first.max(common / START).min(common - length);
    let from = from - from % second_digit(length);
    let what = match (few, runs) {
        (Some((_, shortest)), [_, _, ..]) => format!("a few barriers of {}", runs[shortest]),
        (Some(_), _) => "a few barriers".to_owned(),
        (None, _) => "a part of the run".to_owned(),
    };
    Window { from, to: from + length, why: format!("{what} behind the start"), close: few.is_some() }
}

/// How long a window of a few barriers is, and the run with the shortest intervals; none if no run has enough
/// of them, or too many slices between them.
fn few(views: &[Overview]) -> Option<(u64, usize)> {
    let known = views.iter().enumerate().filter_map(|(at, view)| Some((at, view.interval(FEW + 1)?)));
    let (shortest, interval) = known.min_by_key(|(_, interval)| *interval)?;
    let most = views.iter().map(|view| spans(view, MOST_SLICES)).min()?;
    let length = interval.saturating_mul(BARRIERS).min(most);
    (length / 2 > interval).then_some((length, shortest))
}

/// How long it takes for so many slices on each cpu.
fn spans(view: &Overview, wanted: u64) -> u64 {
    let long = u128::from(view.end()) * u128::from(wanted) / u128::from(view.slices().max(1));
    u64::try_from(long).unwrap_or(u64::MAX)
}

/// How long the window is to be, in nanoseconds: longer than all runs if these are shown whole.
fn length(views: &[Overview]) -> u64 {
    let (mut least, mut most, mut eventful) = (u64::MAX, u64::MAX, 0);
    for view in views {
        if view.slices() > WHOLE {
            least = least.min(spans(view, SLICES));
            most = most.min(spans(view, MOST_SLICES));
        }
        let events = view.end().saturating_mul(EVENTS).checked_div(view.events());
        eventful = eventful.max(events.unwrap_or(0));
    }
    least.max(eventful.min(most))
}

/// A window of this length around the middle of another one, its begin and length rounded down to two digits
/// of the length.
#[must_use]
pub(super) fn inside(window: (u64, u64), length: u64) -> (u64, u64) {
    let length = two_digits(length).max(1);
    let from = window.0 + (window.1 - window.0 - length.min(window.1 - window.0)) / 2;
    let from = (from - from % second_digit(length)).max(window.0);
    (from, from + length)
}

/// A number rounded down to two digits.
fn two_digits(ns: u64) -> u64 {
    ns - ns % second_digit(ns)
}

/// What the second digit of a number counts.
fn second_digit(ns: u64) -> u64 {
    10u64.pow((ns / 10).max(1).ilog10())
}

#[cfg(test)]
mod tests {
    use super::*;
    use sim_core::account::{Account, Category};
    use sim_core::ids::{AppId, CpuId, TaskId};
    use sim_core::time::{Span, Time};
    use sim_core::wait::Scope;
    use trace::slices::{Mark, Occupant, Sink, Slice};

    /// One cpu, `count` slices of 100 us each, and a barrier after every `every` of them.
    fn run(count: u64, every: u64) -> Overview {
        let mut view = Overview::new(1, vec![true]);
        for n in 0..count {
            let (from, to) = (Time::from_ns(n * 100_000), Time::from_ns((n + 1) * 100_000));
            let parts = Account::of(Category::Compute, Span::from_ns(100_000));
            view.slice(&Slice { cpu: CpuId(0), from, to, who: Occupant::Works(TaskId(0)), parts });
            if (n + 1) % every == 0 {
                let mark = Mark::BarrierCompleted { app: AppId(0), scope: Scope::All, episode: n as u32 };
                view.mark(to, &mark);
            }
        }
        view
    }

    #[test]
    fn a_short_run_is_shown_whole() {
        let whole = Window { from: 0, to: 5_000_000, why: "the whole run".into(), close: false };
        assert_eq!(choose(&[run(50, 51)], &["LOAD"], Aim::Difference), whole);
        // A handful of barriers is not cut.
        assert_eq!(choose(&[run(50, 5)], &["LOAD"], Aim::Barriers), whole);
    }

    #[test]
    fn runs_are_shown_for_some_slices_behind_the_start() {
        let views = [run(10_000, 20_000), run(12_000, 20_000)];
        let window = choose(&views, &["LOAD", "PIN"], Aim::Difference);
        assert_eq!((window.from, window.to), (50_000_000, 65_000_000));
        assert_eq!(window.why, "a part of the run behind the start");
        // The first application of the second run ends early, and a policy decides four times in 400 ms.
        let [one, mut two] = views.clone();
        two.mark(Time::from_ns(200_000_000), &Mark::AppExited(AppId(0)));
        let window = choose(&[one.clone(), two.clone()], &["LOAD", "PIN"], Aim::Difference);
        assert_eq!((window.from, window.to), (10_000_000, 25_000_000));
        for n in 0..12 {
            let moved = Mark::Migrated { task: TaskId(0), from: CpuId(0), to: CpuId(0) };
            two.mark(Time::from_ns(n * 100_000_000), &moved);
        }
        let window = choose(&[one, two], &["LOAD", "PIN"], Aim::Difference);
        assert_eq!(window.to - window.from, 60_000_000, "at most 600 slices: {window:?}");
    }

    #[test]
    fn a_few_barriers_of_the_fastest_run_are_shown() {
        // A barrier every 2 ms; every 50 ms.
        let (fast, slow) = (run(5_000, 20), run(50_000, 500));
        let window = choose(&[slow, fast.clone()], &["spin", "yield"], Aim::Barriers);
        assert_eq!((window.from, window.to, window.close), (48_000_000, 62_000_000, true));
        assert_eq!(window.why, "a few barriers of yield behind the start");
        // One run alone is shown so as well, whatever the aim; several policies are not.
        let window = choose(std::slice::from_ref(&fast), &["PIN"], Aim::Difference);
        assert!(window.close && window.why == "a few barriers behind the start", "{window:?}");
        assert!(!choose(&[fast.clone(), fast], &["PIN", "LOAD"], Aim::Difference).close);
    }

    #[test]
    fn lengths_have_two_digits() {
        assert_eq!([0, 9, 99, 167, 1_670, 99_999].map(two_digits), [0, 9, 99, 160, 1_600, 99_000]);
    }
}
