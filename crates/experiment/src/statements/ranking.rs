//! What policies are ranked by, and their order at each configuration with everything that cannot be
//! distinguished.

pub use super::table::Goal;
use super::table::{self, Table};
use crate::metrics::ALL_APPS;
use crate::number;
use crate::result::{Cell, DEDICATED};
use crate::statistics::Summary;

/// Work at two configurations counts as that of the same programs within this part of it: with more threads,
/// programs communicate and start a little more.
const SAME_WORK: f64 = 0.1;
/// Dedicated run times count as equal within this part of them.
const SAME_TIME: f64 = 0.01;

/// A policy at a configuration.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Standing<'a> {
    /// The configuration, by its number.
    pub configuration: usize,
    /// Label of the policy.
    pub policy: &'a str,
    /// What it reached.
    pub value: &'a Summary,
    /// The cell of that value.
    pub cell: &'a Cell,
}

impl Goal {
    /// The work per second where several programs share the machine and also ran alone; else the run time of
    /// the only program, or the makespan of all; in a window the time for each second of work. `None` when no
    /// run completed.
    #[must_use]
    pub fn of(table: &Table<'_>) -> Option<Self> {
        table.goal.get_or_init(|| Self::found(table)).clone()
    }

    fn found(table: &Table<'_>) -> Option<Self> {
        let apps: Vec<&str> = table.results.foreground().collect();
        let shared = apps.len() > 1 || table.results.provenance.programs.is_some_and(|programs| programs > 1);
        let all = |metric| Self { app: ALL_APPS.to_owned(), metric };
        if shared && table.measures(ALL_APPS, "throughput") {
            return Some(all("throughput"));
        }
        if let [only] = apps[..]
            && !shared
            && table.measures(only, table.time())
        {
            return Some(Self { app: only.to_owned(), metric: table.time() });
        }
        let whole = if table.results.provenance.window { "time_per_work" } else { "makespan" };
        table.measures(ALL_APPS, whole).then(|| all(whole))
    }

    /// Whether larger values are better.
    #[must_use]
    pub fn higher(&self) -> bool {
        self.metric == "throughput"
    }

    /// A value in words: `93 % of sequential throughput`, `6.67 s`.
    #[must_use]
    pub fn words(&self, value: &Summary) -> String {
        if self.higher() {
            return format!("{} % of sequential throughput", table::mean(value, 0.01));
        }
        self.quantity(value)
    }

    /// A value with its unit: `93 %`, `6.67 s`.
    #[must_use]
    pub fn quantity(&self, value: &Summary) -> String {
        if self.higher() {
            return format!("{} %", table::mean(value, 0.01));
        }
        let (unit, length) = number::time_unit(value.mean);
        let per = if self.metric == "time_per_work" { " for each second of work" } else { "" };
        format!("{} {unit}{per}", table::mean(value, length))
    }

    /// Compares two means: less is the better one.
    #[must_use]
    pub fn order(&self, a: &Summary, b: &Summary) -> std::cmp::Ordering {
        if self.higher() { b.mean.total_cmp(&a.mean) } else { a.mean.total_cmp(&b.mean) }
    }
}

/// The policies at a configuration, the best first; of equals the one that the scenario names first.
#[must_use]
pub fn at<'a>(table: &Table<'a>, goal: &Goal, configuration: usize) -> Vec<Standing<'a>> {
    let standing = |policy: &'a String| {
        let cell = table.cell(configuration, policy, &goal.app, goal.metric)?;
        Some(Standing { configuration, policy, value: &cell.summary, cell })
    };
    let mut all: Vec<Standing<'a>> = table.policies().iter().filter_map(standing).collect();
    all.sort_by(|a, b| goal.order(a.value, b.value));
    all
}

/// Those of the others that cannot be distinguished from one of them.
#[must_use]
pub fn level_with<'a>(one: &Standing<'a>, all: &[Standing<'a>]) -> Vec<Standing<'a>> {
    let other = |s: &&Standing<'a>| s.policy != one.policy || s.configuration != one.configuration;
    all.iter().filter(other).filter(|s| table::level(s.cell, one.cell)).copied().collect()
}

/// All policies, the best over all configurations first, by the geometric mean of what they reached; of
/// equals the one that the scenario names first. Policies that were not measured at every configuration come
/// after the others.
#[must_use]
pub fn overall<'a>(table: &Table<'a>) -> Vec<&'a str> {
    let mut all: Vec<&'a str> = table.policies().iter().map(String::as_str).collect();
    let Some(goal) = Goal::of(table) else { return all };
    let score = |policy: &str| {
        let values = table.configurations().map(|c| table.get(c, policy, &goal.app, goal.metric));
        let known: Vec<f64> = values.flatten().map(|s| libm::log(s.mean.max(f64::MIN_POSITIVE))).collect();
        let mean = known.iter().sum::<f64>() / known.len().max(1) as f64;
        (table.configurations().len() - known.len(), if goal.higher() { -mean } else { mean })
    };
    let mut scored: Vec<_> = all.drain(..).map(|policy| (score(policy), policy)).collect();
    scored.sort_by(|(a, _), (b, _)| a.0.cmp(&b.0).then(a.1.total_cmp(&b.1)));
    scored.into_iter().map(|(_, policy)| policy).collect()
}

/// Whether values of different configurations can be compared: throughputs are relative to the same dedicated
/// runs, times are of the same work.
#[must_use]
pub fn comparable(table: &Table<'_>, goal: &Goal) -> bool {
    if table.sweep.configurations.len() < 2 {
        return true;
    }
    table.results.foreground().all(|app| {
        // Times for each second of work can be compared whatever the work is.
        if goal.metric == "time_per_work" {
            return true;
        }
        let values = if goal.higher() { alone(table, app) } else { work(table, app) };
        let tolerance = if goal.higher() { SAME_TIME } else { SAME_WORK };
        values.iter().all(Option::is_some) && within(&values, tolerance)
    })
}

/// Whether a program is known to do different work at different configurations, so that its run times differ
/// for that reason, too.
#[must_use]
pub fn work_differs(table: &Table<'_>) -> bool {
    table.results.foreground().any(|app| !within(&work(table, app), SAME_WORK))
}

/// The run time of an application alone at each configuration.
fn alone(table: &Table<'_>, app: &str) -> Vec<Option<f64>> {
    table.configurations().map(|c| Some(table.get(c, DEDICATED, app, table.time())?.mean)).collect()
}

/// The work of an application at each configuration, under the first policy that it was measured under.
fn work(table: &Table<'_>, app: &str) -> Vec<Option<f64>> {
    let of = |c: usize| table.policies().iter().find_map(|p| Some(table.get(c, p, app, "work")?.mean));
    table.configurations().map(of).collect()
}

/// Whether the known values are equal within this part of them.
fn within(values: &[Option<f64>], tolerance: f64) -> bool {
    let known = || values.iter().flatten().copied();
    let (low, high) = (known().fold(f64::INFINITY, f64::min), known().fold(0.0, f64::max));
    high <= low * (1.0 + tolerance)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::result::fixture;

    #[test]
    fn the_best_policy_over_all_configurations_comes_first() {
        let mut results = fixture::two_apps();
        let goal = Goal::of(&Table::of(&results)).unwrap();
        let order = |results: &crate::result::Results| -> Vec<String> {
            overall(&Table::of(results)).into_iter().map(str::to_owned).collect()
        };
        let before = order(&results);
        assert_eq!(before.len(), results.provenance.policies.len());
        let worst = before.last().unwrap().clone();
        let (best, none) = (if goal.higher() { 1e6 } else { 1e-6 }, before[0].clone());
        for cell in results.cells.iter_mut().filter(|c| c.policy == worst && c.metric == goal.metric) {
            cell.summary.mean = best;
        }
        assert_eq!(order(&results)[0], worst);
        results.cells.retain(|c| c.policy != none || c.metric != goal.metric);
        assert_eq!(*order(&results).last().unwrap(), none, "what was not measured comes last");
    }
}
