//! The race between the best settings of a search: which of them need more seeds, and which one is advised.
//! Run times of synchronised teams can have a rare collapse: one run of some hundred takes twenty times as
//! long. So intervals alone do not end a race: the best setting also has as many seeds as exclude a collapse
//! of the size that any setting has shown, as far as it would matter.

use experiment::statistics::summarise;

use super::levers::{Choice, Sizes};
use crate::goal::Goal;
use crate::trial::Setting;

/// Settings that differ by less than this are not worth a change: half a per cent.
pub const WORTH: f64 = 0.005;
/// What is excluded with 95 % where none of `n` runs had it: more than 3 in `n` (the rule of three: 0.95 =
/// 1 - (1 - 3/n)^n; Hanley and Lippman-Hand, JAMA 249, 1983).
pub const THREE: f64 = 3.0;
/// A run of so many times the median is no scatter about it: it is named to the user.
pub const COLLAPSE: f64 = 2.0;

/// A setting that was tried.
#[derive(Clone, PartialEq, Debug)]
pub struct Tried {
    /// A value of each lever.
    pub choice: Choice,
    /// Its settings.
    pub setting: Setting,
    /// What each seed reached; none where the run did not complete or was cut off.
    pub values: Vec<Option<f64>>,
}

impl Tried {
    /// What all seeds reached; none where one is missing, or without seeds.
    #[must_use]
    pub fn complete(&self) -> Option<Vec<f64>> {
        let all: Option<Vec<f64>> = self.values.iter().copied().collect();
        all.filter(|all| !all.is_empty())
    }

    /// The mean of all seeds; none where one is missing.
    #[must_use]
    pub fn mean(&self) -> Option<f64> {
        self.complete().map(|all| all.iter().sum::<f64>() / all.len() as f64)
    }

    /// How many values differ from leaving everything as it is.
    #[must_use]
    pub fn changes(&self) -> usize {
        self.choice.iter().filter(|at| **at > 0).count()
    }

    /// How many times its median its worst run took; none where one is missing. At least 1.
    #[must_use]
    pub fn tail(&self, goal: &Goal) -> Option<f64> {
        let all = self.complete()?;
        let median = summarise(&all)?.median;
        Some(all.iter().map(|value| goal.ratio(*value, median)).filter(|r| r.is_finite()).fold(1.0, f64::max))
    }

    /// Runs that took more than twice the median.
    #[must_use]
    pub fn collapses(&self, goal: &Goal) -> usize {
        let all = self.complete().unwrap_or_default();
        let median = summarise(&all).map_or(0.0, |summary| summary.median);
        all.iter().filter(|value| goal.ratio(**value, median) > COLLAPSE).count()
    }
}

/// How many times its median a run of one of some settings took at most.
pub(super) fn worst(goal: &Goal, all: &[Tried]) -> f64 {
    if goal.has_no_ratio() {
        return 1.0;
    }
    all.iter().filter_map(|tried| tried.tail(goal)).fold(1.0, f64::max)
}

/// Which of some settings to advise, ordered by their means: of those that are no worse than the best one by
/// more than half a per cent, or whose difference the seeds do not show, the one with the fewest tasks, and
/// of these the one with the fewest changes. Under a quota a run may end before its last period is used up,
/// so that settings whose times differ by less than a period are level, too, up to one per cent.
#[must_use]
pub fn advised((goal, sizes): (&Goal, &Sizes), last: &[Tried]) -> usize {
    let Some(best) = last.first() else { return 0 };
    let best_mean = best.mean().unwrap_or(f64::INFINITY);
    let level = last.iter().enumerate().filter(|(_, other)| {
        let Some((mean, half)) = paired(goal, other, best) else { return false };
        let in_period =
            sizes.period.is_some_and(|period| goal.is_end() && (mean - 1.0) * best_mean <= period);
        mean - 1.0 <= WORTH || (mean - half <= 1.0 || in_period) && mean - 1.0 <= 2.0 * WORTH
    });
    let order = |at: usize, tried: &Tried| (sizes.tasks(&tried.choice), tried.changes(), at);
    level.min_by_key(|(at, other)| order(*at, other)).map_or(0, |(at, _)| at)
}

/// Which of some settings need more seeds, ordered by their means: those that may be better than the best one
/// by what matters, at most so many, and the best and the advised one as long as a rare collapse may change
/// the order. `worst`: how many times its median a run of any setting took; `least`: an advised setting has
/// so many seeds.
pub(crate) fn undecided(
    (goal, sizes): (&Goal, &Sizes),
    ranked: &[Tried],
    worst: f64,
    (least, most): (usize, usize),
) -> Vec<usize> {
    let Some((best, rest)) = ranked.split_first() else { return Vec::new() };
    let open = |other: &Tried| {
        paired(goal, other, best).is_some_and(|(mean, half)| mean - half <= 1.0 && half > WORTH)
    };
    let mut open: Vec<usize> =
        rest.iter().enumerate().filter(|(_, other)| open(other)).map(|(at, _)| at + 1).take(most).collect();
    let (whole, of_whole): (Vec<Tried>, Vec<usize>) = ranked
        .iter()
        .enumerate()
        .filter(|(_, tried)| tried.values.len() >= least)
        .map(|(at, tried)| (tried.clone(), at))
        .unzip();
    let advised = of_whole.get(advised((goal, sizes), &whole)).copied().unwrap_or(0);
    for at in [0, advised] {
        let one = ranked
            .get(at)
            .filter(|one| !open.contains(&at) && is_open_to_collapse(goal, one, ranked, worst, least));
        open.extend(one.map(|_| at));
    }
    open.sort_unstable();
    open
}

/// Whether a setting has too few seeds to say that another one is not better by what matters because of
/// collapses that no seed has shown yet.
fn is_open_to_collapse(goal: &Goal, one: &Tried, ranked: &[Tried], worst: f64, least: usize) -> bool {
    let n = one.values.len();
    if n < least {
        return true;
    }
    let loss = THREE / n as f64 * (worst - 1.0);
    let nearer = |other: &Tried| {
        other.choice != one.choice && paired(goal, other, one).is_some_and(|(mean, _)| mean < 1.0 + loss)
    };
    loss > 2.0 * WORTH && ranked.iter().any(nearer)
}

/// How many times as long one setting takes as another one: the ratio of the means, and half of its 95 %
/// interval, infinite with one seed. Over equal seeds by the residuals of each seed (the ratio estimator;
/// Cochran, Sampling Techniques, 1977, section 6.4); where one has more seeds than the other, by the scatter
/// of each of them. None where a run is missing. Of a goal without ratios: [`Goal::ratio`].
#[must_use]
pub fn paired(goal: &Goal, one: &Tried, other: &Tried) -> Option<(f64, f64)> {
    let (one, other) = (one.complete()?, other.complete()?);
    if one.len() != other.len() {
        return unpaired(goal, &one, &other);
    }
    // Numerator and denominator of the ratio of each seed.
    let parts: Vec<(f64, f64)> = one
        .into_iter()
        .zip(other)
        .map(|(one, other)| match () {
            () if goal.has_no_ratio() => (goal.ratio(one, other), 1.0),
            () if goal.higher() => (other, one),
            () => (one, other),
        })
        .collect();
    let n = parts.len() as f64;
    let (above, below) =
        (parts.iter().map(|p| p.0).sum::<f64>() / n, parts.iter().map(|p| p.1).sum::<f64>() / n);
    let ratio = above / below;
    if !ratio.is_finite() {
        return None;
    }
    let residuals: Vec<f64> = parts.iter().map(|(y, x)| (y - ratio * x) / below).collect();
    let half = summarise(&residuals).and_then(|summary| summary.half_width());
    Some((ratio, half.unwrap_or(f64::INFINITY)))
}

/// How many times as long as another setting one takes seed by seed: the geometric mean of the ratios of the
/// seeds that both have, and the ends of its 95 % interval. It is told from 1 also where runs of one setting
/// take many times as long as others, so that half of the interval of [`paired`] is larger than its ratio.
/// None with one seed and where there is no ratio.
#[must_use]
pub(super) fn by_seed(goal: &Goal, one: &Tried, other: &Tried) -> Option<[f64; 3]> {
    let (one, other) = (one.complete()?, other.complete()?);
    if goal.has_no_ratio() {
        return None;
    }
    let logs = one.into_iter().zip(other).map(|(one, other)| libm::log(goal.ratio(one, other)));
    let summary = summarise(&logs.collect::<Vec<f64>>())?;
    let half = summary.half_width()?;
    let found = [summary.mean, summary.mean - half, summary.mean + half].map(libm::exp);
    found.iter().all(|value| value.is_finite()).then_some(found)
}

/// As [`paired`], of independent samples: the relative variances of the two means add up.
fn unpaired(goal: &Goal, one: &[f64], other: &[f64]) -> Option<(f64, f64)> {
    let (one, other) = (summarise(one)?, summarise(other)?);
    let ratio = goal.ratio(one.mean, other.mean);
    let half = |summary: &experiment::statistics::Summary| {
        let scale = if goal.has_no_ratio() { 1.0 } else { summary.mean };
        summary.half_width().map_or(f64::INFINITY, |half| half / scale)
    };
    ratio.is_finite().then(|| (ratio, ratio * libm::hypot(half(&one), half(&other))))
}

#[cfg(test)]
mod tests {
    use scenario::objective::Objective;

    use super::*;

    fn goal() -> Goal {
        Goal { objective: Objective::RunTime, app: "job".to_owned(), metric: "run_time" }
    }

    /// A setting with so many seeds near a time, alternating about it by 0.1 %.
    fn tried(place: usize, time: f64, seeds: usize) -> Tried {
        let value = |seed: usize| Some(time * if seed.is_multiple_of(2) { 0.999 } else { 1.001 });
        Tried { choice: vec![place], setting: Setting::default(), values: (0..seeds).map(value).collect() }
    }

    #[test]
    fn settings_that_the_seeds_tell_apart_need_no_more() {
        let ranked = [tried(1, 1.0, 40), tried(0, 1.1, 40)];
        assert_eq!(undecided((&goal(), &Sizes::default()), &ranked, 1.0, (40, 8)), Vec::<usize>::new());
    }

    #[test]
    fn a_collapse_of_any_setting_asks_for_more_seeds_of_the_best_one() {
        // 3 in 40 runs of 20 times the median would add 140 % to the mean, 3 in 2,000 less than 3 %.
        let other = tried(0, 1.1, 40);
        assert_eq!(
            undecided((&goal(), &Sizes::default()), &[tried(1, 1.0, 40), other.clone()], 20.0, (40, 8)),
            [0]
        );
        let many = [tried(1, 1.0, 2_000), other];
        assert_eq!(undecided((&goal(), &Sizes::default()), &many, 20.0, (40, 8)), Vec::<usize>::new());
        assert_eq!(
            undecided((&goal(), &Sizes::default()), &[tried(1, 1.0, 40)], 20.0, (40, 8)),
            Vec::<usize>::new()
        );
    }

    #[test]
    fn seeds_that_collapse_to_other_degrees_are_told_from_those_that_do_not() {
        let steady = tried(0, 1.0, 6);
        let mut odd = tried(1, 1.0, 6);
        odd.values = [5.0, 8.0, 12.0, 90.0, 7.0, 6.0].map(Some).to_vec();
        let (mean, half) = paired(&goal(), &odd, &steady).unwrap();
        assert!(half > mean - 1.0, "{mean} {half}");
        let [usual, low, high] = by_seed(&goal(), &odd, &steady).unwrap();
        assert!((10.0..13.0).contains(&usual) && low > 3.0 && high < 40.0, "{usual} {low} {high}");
        let [_, low, high] = by_seed(&goal(), &steady, &tried(1, 1.0, 6)).unwrap();
        assert!(low <= 1.0 && high >= 1.0, "{low} {high}");
        assert_eq!(by_seed(&goal(), &steady, &tried(1, 1.0, 1)), None);
    }

    #[test]
    fn a_setting_whose_few_seeds_had_a_collapse_stays_in_the_race() {
        let mut other = tried(0, 0.5, 5);
        *other.values.last_mut().unwrap() = Some(10.0);
        assert_eq!(undecided((&goal(), &Sizes::default()), &[tried(1, 1.0, 40), other], 1.0, (40, 8)), [1]);
    }

    #[test]
    fn the_collapse_of_one_setting_is_its_worst_run_over_its_median() {
        let mut one = tried(0, 1.0, 5);
        *one.values.last_mut().unwrap() = Some(20.0);
        assert!((worst(&goal(), &[tried(1, 1.0, 5), one.clone()]) - 20.0).abs() < 0.1);
        assert_eq!((one.collapses(&goal()), tried(1, 1.0, 5).collapses(&goal())), (1, 0));
    }

    #[test]
    fn means_of_different_numbers_of_seeds_are_compared_by_the_scatter_of_each() {
        let (ratio, half) = paired(&goal(), &tried(0, 1.1, 5), &tried(1, 1.0, 40)).unwrap();
        // Five values within 0.1 %: Student's factor 2.78 over the root of five.
        assert!((ratio - 1.1).abs() < 1e-3, "{ratio}");
        assert!((1e-3..2e-3).contains(&half), "{half}");
        let (_, half) = paired(&goal(), &tried(0, 1.1, 1), &tried(1, 1.0, 40)).unwrap();
        assert!(half.is_infinite(), "{half}");
    }
}
