//! What policies are ranked by, and their order at each configuration with everything that cannot be
//! distinguished.

use std::borrow::Cow;

pub use super::table::Goal;
use super::table::{self, Relation, Table};
use crate::metrics::{ALL_APPS, Metric};
use crate::number;
use crate::result::{Cell, DEDICATED};
use crate::statistics::Summary;
use scenario::objective::Objective;
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::Serialize;

/// Work at two configurations counts as that of the same programs within this part of it: with more threads,
/// programs communicate and start a little more.
const SAME_WORK: f64 = 0.1;
/// Dedicated run times count as equal within this part of them.
const SAME_TIME: f64 = 0.01;

/// A policy at a configuration.
#[derive(Clone, Copy, PartialEq, Debug, Serialize)]
#[serde(into = "Case<'a>")]
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

/// A case and its value, as JSON has them; the cell with these names has more.
#[derive(Serialize, JsonSchema)]
struct Case<'a> {
    /// Label of the configuration.
    configuration: &'a str,
    /// Label of the policy.
    policy: &'a str,
    /// Name of the application, or `all`.
    app: &'a str,
    /// Name of the metric.
    metric: &'a str,
    /// Its unit.
    unit: &'a str,
    /// The mean over the replicates.
    mean: f64,
    /// Its 95 % interval; none with one replicate.
    ci95: Option<[f64; 2]>,
}

impl<'a> Standing<'a> {
    /// What a policy at a configuration reached by a metric of an application, if that was measured.
    #[must_use]
    pub fn of(
        table: &Table<'a>,
        (configuration, policy): (usize, &'a str),
        app: &str,
        metric: &str,
    ) -> Option<Self> {
        let cell = table.cell(configuration, policy, app, metric)?;
        Some(Self { configuration, policy, value: &cell.summary, cell })
    }

    /// Another quantity of the same policy at the same configuration.
    #[must_use]
    pub fn other(&self, table: &Table<'a>, app: &str, metric: &str) -> Option<Self> {
        Self::of(table, (self.configuration, self.policy), app, metric)
    }
}

impl<'a> From<Standing<'a>> for Case<'a> {
    fn from(Standing { cell, .. }: Standing<'a>) -> Self {
        let Cell { configuration, policy, app, metric, unit, summary, .. } = cell;
        Self { configuration, policy, app, metric, unit, mean: summary.mean, ci95: summary.ci95 }
    }
}

impl JsonSchema for Standing<'_> {
    fn schema_name() -> Cow<'static, str> {
        Case::schema_name()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        Case::json_schema(generator)
    }
}

/// Objectives that are judged by the applications that answer requests.
const OF_REQUESTS: [&str; 2] = ["response_time", "response_time_p99"];

/// The metric of the objective `lateness`: the largest one, as in scheduling theory (Jackson 1955). Values
/// are negative when deadlines are met early, so only their differences count.
const LATENESS: &str = "lateness_max";

impl Goal {
    /// What the objective of the result measures. Results of older versions have none: the work per second
    /// where several programs share the machine and also ran alone; else the run time of the only program, or
    /// the makespan of all; in a window the time for each second of work. `None` when no run completed.
    #[must_use]
    pub fn of(table: &Table<'_>) -> Option<Self> {
        table.goal.get_or_init(|| Self::stated(table).or_else(|| Self::by_programs(table))).clone()
    }

    /// By the objective, where a run measured it.
    fn stated(table: &Table<'_>) -> Option<Self> {
        let objective = table.results.provenance.objective?;
        let metric = Self::metric_of(objective);
        let requests = table.results.provenance.requests.as_deref().unwrap_or_default();
        let foreground: Vec<&str> = table.results.foreground().collect();
        let answering: Vec<&str> =
            foreground.iter().copied().filter(|app| requests.iter().any(|name| name == app)).collect();
        let dated: Vec<&str> = if metric == LATENESS {
            let apps = table.results.provenance.apps.iter().map(String::as_str);
            apps.filter(|app| table.measures(app, metric)).collect()
        } else {
            Vec::new()
        };
        let only = match (OF_REQUESTS.contains(&metric), &answering[..], &foreground[..], requests) {
            _ if metric == LATENESS => {
                if let [one] = dated[..] {
                    Some(one)
                } else {
                    None
                }
            }
            (true, [one], ..) => Some(*one),
            (true, [], _, [one]) => Some(one.as_str()),
            (false, _, [one], _) => Some(*one),
            _ => None,
        };
        let whole = if objective == Objective::RunTime { "makespan" } else { metric };
        let all = [(ALL_APPS, whole)];
        let own = only.map(|app| (app, if metric == "worst_slowdown" { "slowdown" } else { metric }));
        // Copies of the only application are several programs.
        let single = table.results.provenance.programs.is_none_or(|programs| programs < 2);
        let own_first = OF_REQUESTS.contains(&metric)
            || metric == LATENESS
            || single && objective == Objective::Rate
            || !table.measures(ALL_APPS, metric);
        let found = if own_first { [own.as_slice(), &all].concat() } else { [&all, own.as_slice()].concat() };
        let (app, metric) = found.into_iter().find(|(app, metric)| table.measures(app, metric))?;
        Some(Self { app: app.to_owned(), metric, objective: Some(objective) })
    }

    /// The metric of an objective.
    #[must_use]
    pub const fn metric_of(objective: Objective) -> &'static str {
        match objective {
            Objective::RunTime => "run_time",
            Objective::Makespan => "makespan",
            Objective::Throughput => "throughput",
            Objective::WorstSlowdown => "worst_slowdown",
            Objective::Turnaround => "turnaround",
            Objective::QueueTime => "queue_time",
            Objective::Response => "response_time",
            Objective::ResponseP99 => "response_time_p99",
            Objective::Lateness => LATENESS,
            Objective::Rate => "time_per_work",
        }
    }

    fn by_programs(table: &Table<'_>) -> Option<Self> {
        let apps: Vec<&str> = table.results.foreground().collect();
        let shared = apps.len() > 1 || table.results.provenance.programs.is_some_and(|programs| programs > 1);
        let of = |app: &str, metric| Self { app: app.to_owned(), metric, objective: None };
        if shared && table.measures(ALL_APPS, "throughput") {
            return Some(of(ALL_APPS, "throughput"));
        }
        if let [only] = apps[..]
            && !shared
            && table.measures(only, table.time())
        {
            return Some(of(only, table.time()));
        }
        let whole = if table.results.provenance.window { "time_per_work" } else { "makespan" };
        table.measures(ALL_APPS, whole).then(|| of(ALL_APPS, whole))
    }

    /// Whether larger values are better.
    #[must_use]
    pub fn higher(&self) -> bool {
        self.metric == "throughput"
    }

    /// `by response p99: ` before the answer; empty where the value says what it is.
    #[must_use]
    pub fn by(&self) -> String {
        match self.objective {
            None | Some(Objective::Throughput) => String::new(),
            Some(objective) => format!("by {}: ", objective.words()),
        }
    }

    /// What its table shows, without the unit: `Response time of users, 99th percentile`.
    #[must_use]
    pub fn title(&self) -> String {
        let all = self.app == ALL_APPS;
        let of = if all { " of all programs".to_owned() } else { format!(" of {}", self.app) };
        match self.metric {
            "throughput" => "Throughput".to_owned(),
            "run_time" => format!("Run time{of}"),
            "time_per_work" => format!("Time for each second of work{of}"),
            "makespan" => "Time until all programs end".to_owned(),
            "turnaround" => format!("Mean turnaround{of}"),
            "queue_time" => format!("Mean queue time{of}"),
            "response_time" => format!("Mean response time{of}"),
            "response_time_p99" => format!("Response time{of}, 99th percentile"),
            "worst_slowdown" => "Largest slowdown of a program".to_owned(),
            LATENESS => format!("Largest lateness{of}"),
            other => format!("{other}{of}"),
        }
    }

    /// Unit and scale of a table whose largest mean is this.
    #[must_use]
    pub fn unit(&self, longest: f64) -> (&'static str, f64) {
        unit(self.metric, longest)
    }

    /// Whether values may be negative, so that they have no ratios.
    #[must_use]
    pub fn signed(&self) -> bool {
        Metric::is_signed(self.metric)
    }

    /// Compares two means: less is the better one.
    #[must_use]
    pub fn order(&self, a: &Summary, b: &Summary) -> std::cmp::Ordering {
        if self.higher() { b.mean.total_cmp(&a.mean) } else { a.mean.total_cmp(&b.mean) }
    }
}

/// Unit and scale of values of a metric whose largest mean is this.
#[must_use]
pub fn unit(metric: &str, longest: f64) -> (&'static str, f64) {
    match metric {
        "throughput" => ("%", 0.01),
        "worst_slowdown" | "slowdown" => ("", 1.0),
        _ => number::time_unit(longest),
    }
}

/// The policies at a configuration, the best first; of equals the one that the scenario names first.
#[must_use]
pub fn at<'a>(table: &Table<'a>, goal: &Goal, configuration: usize) -> Vec<Standing<'a>> {
    let standing = |policy: &'a String| Standing::of(table, (configuration, policy), &goal.app, goal.metric);
    let mut all: Vec<Standing<'a>> = table.policies().iter().filter_map(standing).collect();
    all.sort_by(|a, b| goal.order(a.value, b.value));
    all
}

/// How the others compare with one of a ranking.
#[derive(Clone, Default, Debug, Serialize, JsonSchema)]
pub struct Rivals<'a> {
    /// All their values are the same.
    pub equal: Vec<Standing<'a>>,
    /// They are level with it.
    pub level: Vec<Standing<'a>>,
    /// They are level with it by the mean, and their largest values differ.
    pub tails: Vec<Tail<'a>>,
    /// The seeds do not decide, or they are level with both ends of the ranking.
    pub undecided: Vec<Standing<'a>>,
}

/// The largest values of what two means are made of.
#[derive(Clone, Copy, Debug, Serialize, JsonSchema)]
pub struct Tail<'a> {
    /// Those of the end of the ranking.
    pub own: Standing<'a>,
    /// Those of the other one.
    pub other: Standing<'a>,
}

/// Tails within this factor are alike.
const ALIKE: f64 = 2.0;

/// The first tail in which two cases differ, although their means are level.
fn tail<'a>(table: &Table<'a>, goal: &Goal, one: &Standing<'a>, other: &Standing<'a>) -> Option<Tail<'a>> {
    let tail = |name: &str| Metric::named(name).find_map(|metric| metric.tail);
    let mut metric = tail(goal.metric);
    while let Some(name) = metric {
        let of = |s: &Standing<'a>| s.other(table, &goal.app, name);
        if let (Some(own), Some(other)) = (of(one), of(other)) {
            let (low, high) = (own.value.mean.min(other.value.mean), own.value.mean.max(other.value.mean));
            if high >= ALIKE * low && table::relation(own.cell, other.cell) == Relation::Apart {
                return Some(Tail { own, other });
            }
        }
        metric = tail(name);
    }
    None
}

/// How the others of a ranking compare with its best or worst.
#[must_use]
pub fn rivals<'a>(
    table: &Table<'a>,
    goal: &Goal,
    one: &Standing<'a>,
    ranking: &[Standing<'a>],
) -> Rivals<'a> {
    let mut rivals = Rivals::default();
    let ends = ranking.first().zip(ranking.last());
    let opposite = ends.map(|(first, last)| if is_same(one, first) { last } else { first });
    let opposite = opposite.filter(|other| table::relation(one.cell, other.cell) == Relation::Apart);
    let close = |a: &Cell, b: &Cell| matches!(table::relation(a, b), Relation::Equal | Relation::Level);
    for other in ranking.iter().filter(|other| !is_same(one, other)) {
        let between = opposite.is_some_and(|end| close(other.cell, end.cell));
        match table::relation(one.cell, other.cell) {
            Relation::Apart => {}
            Relation::Equal => rivals.equal.push(*other),
            Relation::Undecided => rivals.undecided.push(*other),
            Relation::Level if between => rivals.undecided.push(*other),
            Relation::Level => match tail(table, goal, one, other) {
                Some(tail) => rivals.tails.push(tail),
                None => rivals.level.push(*other),
            },
        }
    }
    rivals
}

/// What a table says of a case in a ranking.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Mark {
    /// The best, or level with it.
    Best,
    /// It cannot be told from the best, or is level with both ends.
    Undecided,
    /// The worst, or not to be told from it.
    Worst,
    /// Anything else.
    None,
}

/// The mark of a case among its rivals, which are in order.
#[must_use]
pub fn mark<'a>(table: &Table<'a>, goal: &Goal, own: &Standing<'a>, ranking: &[Standing<'a>]) -> Mark {
    let (Some(first), Some(last)) = (ranking.first(), ranking.last()) else { return Mark::None };
    if ranking.len() < 2 {
        return Mark::None;
    }
    let close = |a: &Cell, b: &Cell| matches!(table::relation(a, b), Relation::Equal | Relation::Level);
    let between = !table::level(first.cell, last.cell) && close(own.cell, last.cell);
    match table::relation(own.cell, first.cell) {
        Relation::Equal => Mark::Best,
        Relation::Level if is_same(own, first) => Mark::Best,
        Relation::Level if between => Mark::Undecided,
        Relation::Level if tail(table, goal, first, own).is_some() => Mark::None,
        Relation::Level => Mark::Best,
        Relation::Undecided => Mark::Undecided,
        Relation::Apart if table::level(own.cell, last.cell) => Mark::Worst,
        Relation::Apart => Mark::None,
    }
}

fn is_same(one: &Standing<'_>, other: &Standing<'_>) -> bool {
    (one.policy, one.configuration) == (other.policy, other.configuration)
}

/// The best of a ranking and all that cannot be told from it.
#[must_use]
pub fn not_worse<'a>(ranking: &[Standing<'a>]) -> Vec<Standing<'a>> {
    let Some(best) = ranking.first() else { return Vec::new() };
    ranking.iter().filter(|s| table::level(s.cell, best.cell)).copied().collect()
}

/// All policies, the best over all configurations first, by the geometric mean of what they reached (of
/// signed values the arithmetic one); of equals the one that the scenario names first. Policies that were not
/// measured at every configuration come after the others.
#[must_use]
pub fn overall<'a>(table: &Table<'a>) -> Vec<&'a str> {
    let mut all: Vec<&'a str> = table.policies().iter().map(String::as_str).collect();
    let Some(goal) = Goal::of(table) else { return all };
    let score = |policy: &str| {
        let values = table.configurations().map(|c| table.get(c, policy, &goal.app, goal.metric));
        let scale = |mean: f64| if goal.signed() { mean } else { libm::log(mean.max(f64::MIN_POSITIVE)) };
        let known: Vec<f64> = values.flatten().map(|s| scale(s.mean)).collect();
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
