//! The cells of a result, found by what they are about, and their numbers as sentences and tables write them.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::OnceLock;

use crate::compare::{Verdict, compared};
use crate::number;
use crate::result::{Cell, Results};
use crate::statistics::Summary;
use crate::sweep::Sweep;
use scenario::objective::Objective;

/// Configuration, policy, application and metric of a cell.
type Key<'a> = (&'a str, &'a str, &'a str, &'a str);

/// What policies are ranked by.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Goal {
    /// The application, or [`ALL_APPS`](crate::metrics::ALL_APPS).
    pub app: String,
    /// The metric.
    pub metric: &'static str,
    /// The objective that it stands for; none in results of older versions.
    pub objective: Option<Objective>,
}

/// An index of a result.
pub struct Table<'a> {
    /// The result.
    pub results: &'a Results,
    /// Its sweep.
    pub sweep: Sweep,
    cells: BTreeMap<Key<'a>, &'a Cell>,
    /// Configurations and policies with any cell.
    measured: BTreeSet<(&'a str, &'a str)>,
    /// Runs that did not complete, by configuration and policy.
    failed: BTreeMap<(&'a str, &'a str), usize>,
    /// What policies are ranked by, once that is known.
    pub(super) goal: OnceLock<Option<Goal>>,
}

impl<'a> Table<'a> {
    /// The index of a result.
    #[must_use]
    pub fn of(results: &'a Results) -> Self {
        let key = |c: &'a Cell| {
            ((c.configuration.as_str(), c.policy.as_str(), c.app.as_str(), c.metric.as_str()), c)
        };
        let mut failed = BTreeMap::new();
        for note in &results.notes {
            *failed.entry((note.configuration.as_str(), note.policy.as_str())).or_insert(0) += 1;
        }
        let place = |c: &'a Cell| (c.configuration.as_str(), c.policy.as_str());
        Self {
            measured: results.cells.iter().map(place).collect(),
            failed,
            goal: OnceLock::new(),
            results,
            sweep: Sweep::of(&results.provenance),
            cells: results.cells.iter().rev().map(key).collect(),
        }
    }

    /// The cell of a configuration, by its number.
    #[must_use]
    pub fn cell(&self, configuration: usize, policy: &str, app: &str, metric: &str) -> Option<&'a Cell> {
        let label = &self.results.provenance.configurations.get(configuration)?.label;
        self.cells.get(&(label.as_str(), policy, app, metric)).copied()
    }

    fn label(&self, configuration: usize) -> &'a str {
        self.results.provenance.configurations.get(configuration).map_or("", |c| c.label.as_str())
    }

    /// Whether a policy has any cell at a configuration.
    #[must_use]
    pub fn is_measured(&self, configuration: usize, policy: &str) -> bool {
        self.measured.contains(&(self.label(configuration), policy))
    }

    /// How many runs of a policy at a configuration did not complete.
    #[must_use]
    pub fn failed(&self, configuration: usize, policy: &str) -> usize {
        self.failed.get(&(self.label(configuration), policy)).copied().unwrap_or(0)
    }

    /// The statistics of a cell.
    #[must_use]
    pub fn get(&self, configuration: usize, policy: &str, app: &str, metric: &str) -> Option<&'a Summary> {
        self.cell(configuration, policy, app, metric).map(|cell| &cell.summary)
    }

    /// Numbers of all configurations.
    #[must_use]
    pub fn configurations(&self) -> std::ops::Range<usize> {
        0..self.sweep.configurations.len()
    }

    /// Labels of the policies, in the order of the scenario.
    #[must_use]
    pub fn policies(&self) -> &'a [String] {
        &self.results.provenance.policies
    }

    /// ` with threads_per_core=1`; empty without a sweep.
    #[must_use]
    pub fn with(&self, configuration: usize) -> String {
        let short = self.sweep.short(configuration);
        if short.is_empty() { String::new() } else { format!(" with {short}") }
    }

    /// The metric that tells how long an application takes: its run time, or the time for each second of its
    /// work where only a window of each run counts.
    #[must_use]
    pub const fn time(&self) -> &'static str {
        if self.results.provenance.window { "time_per_work" } else { "run_time" }
    }

    /// Whether any policy has a cell of this metric for an application.
    #[must_use]
    pub fn measures(&self, app: &str, metric: &str) -> bool {
        self.configurations().any(|c| self.policies().iter().any(|p| self.get(c, p, app, metric).is_some()))
    }
}

/// Two values are level if at least one of this number of draws of uncertain inputs reverses their order.
const ONE_IN: usize = 20;

/// How two values compare.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Relation {
    /// All values of both are the same.
    Equal,
    /// They do not differ by more than a tenth, or are written alike.
    Level,
    /// The seeds do not show which one is larger.
    Undecided,
    /// One of them is larger.
    Apart,
}

/// How two values compare: by the paired test of `oversim compare` over the seeds that both have; by their
/// intervals where there are no such pairs. Means that are written alike are level, and so are those whose
/// order uncertain inputs can reverse.
#[must_use]
pub fn relation(a: &Cell, b: &Cell) -> Relation {
    let (one, other) = (&a.summary, &b.summary);
    if !a.values.is_empty() && a.values == b.values {
        return Relation::Equal;
    }
    if reads_alike(a, b) || reversed(a, b) {
        return Relation::Level;
    }
    let pairs: Vec<(f64, f64)> =
        a.values.iter().zip(&b.values).filter_map(|(a, b)| Some(((*a)?, (*b)?))).collect();
    let errors = [one.sampling_error, other.sampling_error];
    let paired = if pairs.len() > 1 { compared(&a.metric, &pairs, errors) } else { None };
    match paired.map(|paired| paired.verdict()) {
        Some(Verdict::NoDifference) => Relation::Level,
        Some(Verdict::Undecided) => Relation::Undecided,
        Some(_) => Relation::Apart,
        None if one.overlaps(other) => Relation::Undecided,
        None => Relation::Apart,
    }
}

/// Whether two means are written alike.
#[must_use]
pub fn reads_alike(a: &Cell, b: &Cell) -> bool {
    number::short(a.summary.mean) == number::short(b.summary.mean)
}

/// Whether it cannot be said which of two values is larger.
#[must_use]
pub fn level(a: &Cell, b: &Cell) -> bool {
    relation(a, b) != Relation::Apart
}

/// The names of those that are level with a cell, and not as level with the cell at the other end: nothing is
/// level with the best and with the worst. `opposite`: none where both ends are level.
#[must_use]
pub fn even<'n>(
    own: &Cell,
    opposite: Option<&Cell>,
    others: impl Iterator<Item = (&'n str, &'n Cell)>,
) -> Vec<&'n str> {
    let close = |a: &Cell, b: &Cell| matches!(relation(a, b), Relation::Equal | Relation::Level);
    let between = |cell: &Cell| opposite.is_some_and(|opposite| close(cell, opposite));
    others.filter(|(_, cell)| close(cell, own) && !between(cell)).map(|(name, _)| name).collect()
}

/// Whether draws of the inputs reverse the order of two values, in at least one of 20 draws.
fn reversed(a: &Cell, b: &Cell) -> bool {
    let (Some(one), Some(other)) = (&a.input_error, &b.input_error) else { return false };
    let order = a.summary.mean.total_cmp(&b.summary.mean);
    let both = one.draws.iter().zip(&other.draws).filter_map(|(x, y)| Some((*x)?.total_cmp(&(*y)?)));
    let (mut all, mut against) = (0, 0);
    for drawn in both {
        all += 1;
        against += usize::from(drawn != order);
    }
    against > 0 && against * ONE_IN >= all
}

/// A mean over `scale` with as many decimals as its interval supports, `45` or `81.0`.
#[must_use]
pub fn mean(summary: &Summary, scale: f64) -> String {
    let value = summary.mean / scale;
    match error_decimals(summary, scale) {
        Some(decimals) => format!("{value:.decimals$}"),
        None => number::short(value),
    }
}

/// Half the width of the interval with one significant digit, `±15` or `±0.1`; empty without an interval.
#[must_use]
pub fn error(summary: &Summary, scale: f64) -> String {
    let Some(half) = summary.half_width() else { return String::new() };
    match error_decimals(summary, scale) {
        Some(decimals) => format!("±{:.decimals$}", half / scale),
        None => format!("±{}", number::short(half / scale)),
    }
}

/// Half the width of the interval that uncertain inputs produce, with the decimals of the mean beside it,
/// `±2.1`; empty where they were not drawn.
#[must_use]
pub fn input_error(cell: &Cell, scale: f64) -> String {
    let Some(error) = &cell.input_error else { return String::new() };
    let half = error.half_width / scale;
    let seeds = if cell.summary.ci95.is_some() { " " } else { "" };
    match error_decimals(&cell.summary, scale) {
        Some(decimals) => format!("{seeds}±{half:.decimals$}"),
        None => format!("{seeds}±{}", number::short(half)),
    }
}

/// Decimals up to the first significant digit of the interval, so that mean and error fit each other; none
/// where the interval has no width, and for numbers that are written as powers of ten.
fn error_decimals(summary: &Summary, scale: f64) -> Option<usize> {
    let half = summary.half_width().filter(|half| *half > 0.0)? / scale;
    let first = -libm::floor(libm::log10(half));
    // At least two significant digits of the mean, at most four.
    let size = libm::floor(libm::log10((summary.mean / scale).abs().max(1e-12)));
    let decimals = first.clamp(1.0 - size, 3.0 - size);
    (decimals < 7.0 && size < 6.0).then_some(decimals.max(0.0) as usize)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::result::{InputError, fixture};

    fn summary(mean: f64, half: f64) -> Summary {
        Summary {
            mean,
            median: mean,
            ci95: Some([mean - half, mean + half]),
            min: mean,
            max: mean,
            n: 3,
            sampling_error: 0.0,
        }
    }

    #[test]
    fn numbers_have_the_digits_that_their_interval_supports() {
        let shown = |value: f64, half: f64| {
            let s = summary(value, half);
            format!("{} {}", mean(&s, 1.0), error(&s, 1.0))
        };
        assert_eq!(shown(45.1, 14.6), "45 ±15");
        assert_eq!(shown(99.04, 0.8), "99.0 ±0.8");
        assert_eq!(shown(80.97, 0.13), "81.0 ±0.1");
        assert_eq!(shown(6.6671, 0.0123), "6.67 ±0.01");
        assert_eq!(shown(1234.0, 3.0), "1234 ±3");
        assert_eq!(shown(315.2, 22.2), "315 ±22");
        assert_eq!(shown(2.5, 0.0), "2.50 ±0.00");
        assert_eq!(mean(&Summary { ci95: None, ..summary(6.6671, 0.0) }, 1.0), "6.67");
    }

    #[test]
    fn pairs_decide_and_what_reads_alike_is_level() {
        let cell = |values: &[f64]| Cell {
            summary: crate::statistics::summarise(values).unwrap(),
            values: values.iter().copied().map(Some).collect(),
            ..fixture::two_apps().cells[0].clone()
        };
        let of = |a: &[f64], b: &[f64]| relation(&cell(a), &cell(b));
        // Seeds differ threefold, and the second one always takes a tenth longer.
        assert_eq!(of(&[1.0, 3.0, 2.0], &[1.11, 3.3, 2.21]), Relation::Apart);
        assert_eq!(of(&[1.0, 3.0, 2.0], &[1.01, 2.99, 2.04]), Relation::Level);
        assert_eq!(of(&[1.0, 3.0, 2.0], &[1.4, 2.0, 2.9]), Relation::Undecided);
        assert_eq!(of(&[1.0, 3.0], &[1.0, 3.0]), Relation::Equal);
        assert_eq!(of(&[1.0001], &[1.0002]), Relation::Level);
        assert_eq!(of(&[1.0], &[1.02]), Relation::Apart);
        let unpaired = |mean: f64, half: f64| Cell {
            summary: summary(mean, half),
            values: Vec::new(),
            ..fixture::two_apps().cells[0].clone()
        };
        assert_eq!(relation(&unpaired(1.0, 0.2), &unpaired(1.3, 0.2)), Relation::Undecided);
        assert_eq!(relation(&unpaired(1.0, 0.1), &unpaired(1.3, 0.1)), Relation::Apart);
    }

    #[test]
    fn nothing_is_level_with_both_ends() {
        let cell = |values: &[f64]| Cell {
            summary: crate::statistics::summarise(values).unwrap(),
            values: values.iter().copied().map(Some).collect(),
            ..fixture::two_apps().cells[0].clone()
        };
        // Each is 3 % from its neighbour, with noise, and the ends are 6 % apart.
        let (low, high) = (cell(&[1.0, 1.0, 1.0]), cell(&[1.06, 1.061, 1.059]));
        let middle = cell(&[1.01, 1.03, 1.05]);
        assert_eq!((relation(&low, &middle), relation(&middle, &high)), (Relation::Level, Relation::Level));
        let named = |own, opposite| even(own, opposite, [("x", &middle)].into_iter());
        assert!(named(&low, Some(&high)).is_empty() && named(&high, Some(&low)).is_empty());
        assert_eq!(named(&low, None), ["x"]);
    }

    #[test]
    fn an_order_that_one_draw_in_twenty_reverses_is_none() {
        let mut cells = fixture::two_apps().cells;
        let draws = |reversed: usize, of: usize, (low, high): (f64, f64)| {
            let one = |at: usize| Some(if at < reversed { high } else { low });
            Some(InputError { half_width: 1.0, draws: (0..of).map(one).collect() })
        };
        let mut check = |against: usize, of: usize| {
            cells[0].summary.mean = 1.0;
            cells[1].summary.mean = 2.0;
            cells[0].input_error = draws(against, of, (1.0, 3.0));
            cells[1].input_error = draws(0, of, (2.0, 2.0));
            reversed(&cells[0], &cells[1])
        };
        assert!(!check(0, 20) && check(1, 20) && !check(1, 21) && check(2, 40) && check(1, 5));
    }
}
