//! The answer: whether sharing pays, what to use, what to avoid, and what the sweep changes, each statement
//! computed from the cells.

use std::collections::BTreeMap;

use super::inputs::inputs;
use super::ranking::{self, Goal, Standing, not_worse, rivals};
use super::statement::{Best, ByValue, End, Group, Partition, Range, Ranked, Said, Statement};
use super::table::{self, Relation, Table};
use super::waits;
use crate::metrics::ALL_APPS;
use crate::references::{BEST_PARTITION, BestPartition};
use crate::result::{Cell, Results};

/// Slowdowns beside a value.
const NAMED: usize = 6;
/// Throughput that sharing must gain or lose to count: smaller differences are not predicted.
const MARGIN: f64 = 0.01;
/// Configurations of a sweep over different work that get a statement each.
const EACH: usize = 3;

/// The best and the worst policy and where, and all standings they come from.
pub struct Extremes<'a> {
    /// What is ranked.
    pub goal: Goal,
    /// The standings at each configuration, the best first.
    pub rankings: Vec<Vec<Standing<'a>>>,
    /// Whether configurations can be compared with each other.
    pub comparable: bool,
    /// The best standing: of all configurations if they can be compared, else where policies differ most.
    pub best: Standing<'a>,
    /// The worst one, of the same configurations; none when it cannot be distinguished from the best.
    pub worst: Option<Standing<'a>>,
}

impl<'a> Extremes<'a> {
    /// The extremes of a result; `None` when nothing was measured.
    #[must_use]
    pub fn of(table: &Table<'a>) -> Option<Self> {
        let goal = Goal::of(table)?;
        let rankings: Vec<Vec<Standing<'a>>> =
            table.configurations().map(|c| ranking::at(table, &goal, c)).collect();
        let comparable = ranking::comparable(table, &goal);
        let best_of = |all: &Vec<Standing<'a>>| all.first().copied();
        let pool: Vec<Standing<'a>> = if comparable {
            rankings.iter().flatten().copied().collect()
        } else if goal.higher() || table.policies().len() == 1 {
            // Where sharing pays most, or the only policy is best.
            let best = rankings.iter().filter_map(best_of).min_by(|a, b| goal.order(a.value, b.value))?;
            rankings.get(best.configuration)?.clone()
        } else {
            // Where the policies differ most.
            let factor = |all: &Vec<Standing<'a>>| match (all.first(), all.last()) {
                (Some(best), Some(worst)) if goal.signed() => worst.value.mean - best.value.mean,
                (Some(best), Some(worst)) => libm::fabs(libm::log(worst.value.mean / best.value.mean)),
                _ => -1.0,
            };
            rankings.iter().rev().max_by(|a, b| factor(a).total_cmp(&factor(b)))?.clone()
        };
        let best = *pool.iter().min_by(|a, b| goal.order(a.value, b.value))?;
        let worst = *pool.iter().max_by(|a, b| goal.order(a.value, b.value))?;
        let worst = Some(worst).filter(|worst| !table::level(worst.cell, best.cell));
        Some(Self { goal, rankings, comparable, best, worst })
    }
}

/// The statements of the answer; none when nothing was measured.
#[must_use]
pub fn statements<'a>(table: &Table<'a>, extremes: &Extremes<'a>) -> Vec<Statement<'a>> {
    let mut all: Vec<Statement<'a>> = Vec::new();
    all.extend(sharing(extremes));
    if extremes.comparable || table.sweep.configurations.len() < 2 {
        all.push(best(table, extremes));
        all.extend(avoid(table, extremes));
        all.extend(by_value(table, extremes));
    } else {
        all.extend(best_of_each(table, extremes));
    }
    all.extend(of_inputs(table, extremes));
    all.extend(worst_hit(table, extremes).map(Statement::Fairness));
    all.extend(response(table, extremes));
    let best = extremes.best.configuration;
    all.extend(waits::locks(table, best));
    // Where deadlines are what is judged, the statements above are about them.
    let deadlines = waits::deadlines(table, best).filter(|_| !extremes.goal.signed());
    all.extend(deadlines);
    all.extend(partitions(table).map(Statement::Partition).take(EACH));
    all.extend(identical(table));
    all
}

/// What is said in place of an answer.
#[must_use]
pub fn nothing(results: &Results) -> &'static str {
    match results.all_completed() {
        true => "Nothing was measured: no run has a value of what policies are judged by.",
        false => "Nothing was measured: no run completed.",
    }
}

/// The statements with their labels and texts; none when nothing was measured.
#[must_use]
pub fn said<'a>(table: &Table<'a>, extremes: &Extremes<'a>) -> Vec<Said<'a>> {
    statements(table, extremes).into_iter().map(|statement| Said::new(table, statement)).collect()
}

/// Whether sharing finishes earlier than one program after the other.
fn sharing<'a>(extremes: &Extremes<'a>) -> Option<Statement<'a>> {
    if !extremes.goal.higher() {
        return None;
    }
    let all: Vec<&Standing<'a>> = extremes.rankings.iter().flatten().collect();
    let gains = all.iter().filter(|s| s.cell.interval()[0] > 1.0 + MARGIN).count();
    let losses = all.iter().filter(|s| s.cell.interval()[1] < 1.0 - MARGIN).count();
    let best = **all.iter().min_by(|a, b| extremes.goal.order(a.value, b.value))?;
    Some(Statement::Sharing { cases: all.len(), gains, losses, best })
}

/// The configurations at which the policy of a case has the same values.
fn equal<'a>(extremes: &Extremes<'a>, case: &Standing<'a>) -> Vec<Standing<'a>> {
    let others = extremes.rankings.iter().flatten();
    let others = others.filter(|s| s.policy == case.policy && s.configuration != case.configuration);
    others.filter(|s| table::relation(s.cell, case.cell) == Relation::Equal).copied().collect()
}

/// What belongs to the value of an objective: other percentiles, missed deadlines, slowdowns.
fn beside<'a>(table: &Table<'a>, goal: &Goal, case: &Standing<'a>) -> Vec<Standing<'a>> {
    let metrics: &[&str] = match goal.metric {
        "response_time_p99" => &["response_time", "response_time_max"],
        "response_time" => &["response_time_p99", "response_time_max"],
        "turnaround" => &["turnaround_max", "queue_time"],
        "queue_time" => &["queue_time_max", "turnaround"],
        "lateness_max" => &["lateness", "lateness_p99"],
        _ => {
            let slowdown = |app| case.other(table, app, "slowdown");
            return table.results.foreground().filter_map(slowdown).take(NAMED).collect();
        }
    };
    let found = metrics.iter().filter_map(|metric| case.other(table, &goal.app, metric));
    let missed = case.other(table, &goal.app, "missed_deadlines").filter(|_| goal.signed());
    found.filter(|found| found.value.mean > 0.0 || goal.signed()).chain(missed).collect()
}

/// A case of a ranking with its rivals alone.
fn ranked<'a>(table: &Table<'a>, goal: &Goal, case: Standing<'a>, all: &[Standing<'a>]) -> Ranked<'a> {
    Ranked { case, equal: Vec::new(), beside: Vec::new(), rivals: rivals(table, goal, &case, all) }
}

fn best<'a>(table: &Table<'a>, extremes: &Extremes<'a>) -> Statement<'a> {
    let Extremes { goal, best, rankings, .. } = extremes;
    let ranked = Ranked {
        equal: equal(extremes, best),
        beside: beside(table, goal, best),
        ..ranked(table, goal, *best, &rankings[best.configuration])
    };
    let best = Best { ranked, worst: None, of_other_work: false };
    let only = table.policies().len() == 1 && rankings.len() == 1;
    if only { Statement::Result(best) } else { Statement::Best(best) }
}

/// The worst standing.
fn avoid<'a>(table: &Table<'a>, extremes: &Extremes<'a>) -> Option<Statement<'a>> {
    let Extremes { goal, worst, rankings, .. } = extremes;
    let all = || rankings.iter().flatten();
    let last = all().max_by(|a, b| goal.order(a.value, b.value)).filter(|_| worst.is_none());
    let apart = last.filter(|last| table::reads_alike(last.cell, extremes.best.cell)).map(|last| {
        let (one, other) = (last.value.mean, extremes.best.value.mean);
        (one - other).abs() / one.abs().max(other.abs()).max(f64::MIN_POSITIVE)
    });
    let worst = worst.map(|worst| Ranked {
        beside: beside(table, goal, &worst),
        ..ranked(table, goal, worst, &rankings[worst.configuration])
    });
    let intervals = all().any(|s| s.value.ci95.is_some());
    (all().count() > 1).then_some(Statement::Avoid { worst, intervals, apart })
}

/// Of the only axis: which policies are best at each value, and which value is best under each policy.
fn by_value<'a>(table: &Table<'a>, extremes: &Extremes<'a>) -> Vec<Statement<'a>> {
    let [axis] = table.sweep.varied.as_slice() else { return Vec::new() };
    if table.policies().len() < 2 {
        return Vec::new();
    }
    let value = |place: usize| scenario::configuration::plain(&axis.axis.values[place]);
    let mut best = Groups::default();
    for all in extremes.rankings.iter().filter(|all| !all.is_empty()) {
        let Some(place) = table.sweep.place(all[0].configuration, 0) else { continue };
        best.add(winners(all), value(place));
    }
    let mut values = Groups::default();
    let mut by_policy: BTreeMap<&str, Vec<&Standing<'_>>> = BTreeMap::new();
    for standing in extremes.rankings.iter().flatten() {
        by_policy.entry(standing.policy).or_default().push(standing);
    }
    for policy in table.policies() {
        let own = by_policy.remove(policy.as_str()).unwrap_or_default();
        let Some(top) = own.iter().min_by(|a, b| extremes.goal.order(a.value, b.value)) else { continue };
        // The best value and all that cannot be distinguished from it.
        let level = own.iter().filter(|s| table::level(s.cell, top.cell));
        let level: Vec<String> =
            level.filter_map(|s| table.sweep.place(s.configuration, 0)).map(value).collect();
        values.add(level, policy.as_str());
    }
    let best = best.all.into_iter().map(|(policies, values)| Group { policies, values });
    let values = values.all.into_iter().map(|(values, policies)| Group { policies, values });
    let mut of_policies: Vec<Group<'a>> = values.collect();
    of_policies.sort_by_key(|group| std::cmp::Reverse(group.policies.len()));
    let of = |groups| ByValue { parameter: axis.short.clone(), groups };
    vec![Statement::Policy(of(best.collect())), Statement::Sweep(of(of_policies))]
}

/// Keys with members, in the order of their first members.
struct Groups<K, M> {
    all: Vec<(K, Vec<M>)>,
    places: BTreeMap<K, usize>,
}

impl<K, M> Default for Groups<K, M> {
    fn default() -> Self {
        Self { all: Vec::new(), places: BTreeMap::new() }
    }
}

impl<K: Ord + Clone, M> Groups<K, M> {
    /// Adds a member to the group of this key.
    fn add(&mut self, key: K, member: M) {
        let place = *self.places.entry(key.clone()).or_insert(self.all.len());
        match self.all.get_mut(place) {
            Some((_, members)) => members.push(member),
            None => self.all.push((key, vec![member])),
        }
    }
}

/// The best policy of a ranking and those that cannot be distinguished from it.
fn winners<'a>(all: &[Standing<'a>]) -> Vec<&'a str> {
    not_worse(all).iter().map(|s| s.policy).collect()
}

/// At how many configurations each policy is best; none with one policy or one configuration.
fn counts<'a>(table: &Table<'a>, measured: &[&Vec<Standing<'a>>]) -> Option<Statement<'a>> {
    if table.policies().len() < 2 || measured.len() < 2 {
        return None;
    }
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for policy in measured.iter().flat_map(|all| winners(all)) {
        *counts.entry(policy).or_default() += 1;
    }
    let names = table.policies().iter().map(String::as_str);
    let mut policies: Vec<(&str, usize)> =
        names.filter_map(|policy| Some((policy, *counts.get(policy)?))).collect();
    policies.sort_by_key(|(_, times)| std::cmp::Reverse(*times));
    Some(Statement::Counts { configurations: measured.len(), policies })
}

/// The best policies of configurations that do different work.
fn best_of_each<'a>(table: &Table<'a>, extremes: &Extremes<'a>) -> Vec<Statement<'a>> {
    let Extremes { goal, rankings, .. } = extremes;
    let (several, many) = (table.policies().len() > 1, rankings.len() > EACH);
    let measured: Vec<&Vec<Standing<'a>>> = rankings.iter().filter(|all| !all.is_empty()).collect();
    let mut statements: Vec<Statement<'a>> = counts(table, &measured).into_iter().collect();
    for all in measured {
        let (best, last) = (all[0], all[all.len() - 1]);
        let whole = best.configuration == extremes.best.configuration;
        if many && !whole {
            continue;
        }
        let mut ranked = ranked(table, goal, best, all);
        if many {
            ranked.equal = equal(extremes, &extremes.best);
            ranked.beside = beside(table, goal, &best);
        }
        let apart = all.len() > 1 && !table::level(best.cell, last.cell);
        let worst = apart.then(|| self::ranked(table, goal, last, all));
        // Less work takes less time, which is no advice.
        let advice = several || many && goal.higher();
        let best = Best { ranked, worst, of_other_work: many && !advice };
        statements.push(if advice { Statement::Best(best) } else { Statement::Result(best) });
    }
    statements
}

/// What uncertain inputs do to the best, among all that it can be compared with.
fn of_inputs<'a>(table: &Table<'a>, extremes: &Extremes<'a>) -> Option<Statement<'a>> {
    let here = std::slice::from_ref(extremes.rankings.get(extremes.best.configuration)?);
    let rivals = if extremes.comparable { &extremes.rankings } else { here };
    let rivals: Vec<&Standing<'_>> = rivals.iter().flatten().collect();
    inputs(table, &extremes.goal, extremes.best, &rivals).map(Statement::Inputs)
}

/// The smallest and the largest of some values; the largest only where it can be told from the smallest.
/// `others`: what may be level with a value.
fn range<'a>(
    least: Standing<'a>,
    most: Standing<'a>,
    others: impl Fn(&Standing<'a>) -> Vec<(&'a str, &'a Cell)>,
) -> Range<'a> {
    let apart = !table::level(least.cell, most.cell);
    let end = |case: Standing<'a>, opposite: &Cell| {
        let level = table::even(case.cell, apart.then_some(opposite), others(&case).into_iter());
        End { case, level }
    };
    Range { least: end(least, most.cell), most: apart.then(|| end(most, least.cell)) }
}

/// The application with the largest slowdown under each policy at the configuration of the best: smallest and
/// largest.
fn worst_hit<'a>(table: &Table<'a>, extremes: &Extremes<'a>) -> Option<Range<'a>> {
    let configuration = extremes.best.configuration;
    if table.results.foreground().count() < 2 || table.policies().len() < 2 {
        return None;
    }
    let by_mean = |a: &Standing<'_>, b: &Standing<'_>| a.value.mean.total_cmp(&b.value.mean);
    let hit = |policy: &'a String| -> Option<Standing<'a>> {
        let slowdown = |app| Standing::of(table, (configuration, policy), app, "slowdown");
        let all: Vec<Standing<'a>> = table.results.foreground().map(slowdown).collect::<Option<_>>()?;
        all.into_iter().rev().max_by(by_mean)
    };
    let hits: Vec<Standing<'a>> = table.policies().iter().filter_map(hit).collect();
    let ends = (hits.iter().copied().min_by(by_mean)?, hits.iter().copied().max_by(by_mean)?);
    let others = |own: &Standing<'a>| {
        let others = hits.iter().filter(|other| other.policy != own.policy);
        others.map(|other| (other.policy, other.cell)).collect()
    };
    Some(range(ends.0, ends.1, others))
}

/// Response times of applications that answer requests: the shortest and the longest, over all
/// configurations if these can be compared. That of the goal has its statements.
fn response<'a>(table: &Table<'a>, extremes: &Extremes<'a>) -> Option<Statement<'a>> {
    let shown = |c: &usize| extremes.comparable || *c == extremes.best.configuration;
    let answers = |app: &&String| {
        let requests = table.results.provenance.requests.as_ref();
        let judged = extremes.goal.metric.starts_with("response_time");
        !judged && requests.is_none_or(|requests| requests.contains(app))
    };
    let apps = || table.results.provenance.apps.iter().filter(answers);
    let tails = apps().any(|app| table.measures(app, "response_time_p99"));
    let metric = if tails { "response_time_p99" } else { "response_time" };
    let of_app = |app: &String| {
        let goal = Goal { app: app.clone(), metric, objective: None };
        let all: Vec<Standing<'a>> =
            table.configurations().filter(shown).flat_map(|c| ranking::at(table, &goal, c)).collect();
        let least = *all.iter().min_by(|a, b| goal.order(a.value, b.value))?;
        let most = *all.iter().max_by(|a, b| goal.order(a.value, b.value))?;
        let others = |own: &Standing<'a>| {
            let here = all.iter().filter(|s| s.configuration == own.configuration && s.policy != own.policy);
            here.map(|other| (other.policy, other.cell)).collect()
        };
        Some(range(least, most, others))
    };
    let programs: Vec<Range<'a>> = apps().filter_map(of_app).take(EACH).collect();
    (!programs.is_empty()).then_some(Statement::Response { programs })
}

/// The best static partition of each configuration where one was searched.
fn partitions<'a>(table: &Table<'a>) -> impl Iterator<Item = Partition<'a>> {
    let found = |best: &'a BestPartition| {
        let at = table.sweep.labels().position(|label| label == best.configuration)?;
        let makespan = Standing::of(table, (at, BEST_PARTITION.label), ALL_APPS, "makespan")?;
        Some(Partition { best, makespan })
    };
    table.results.best_partitions.iter().filter_map(found)
}

/// Policies that gave the same numbers in every run.
fn identical<'a>(table: &Table<'a>) -> Option<Statement<'a>> {
    let policies = table.policies();
    let places: BTreeMap<&str, usize> =
        policies.iter().zip(0..).map(|(policy, at)| (policy.as_str(), at)).collect();
    /// Configuration, application, metric and values of a cell.
    type Values<'a> = (&'a str, &'a str, &'a str, &'a [Option<f64>]);
    let mut all: Vec<Vec<Values<'_>>> = vec![Vec::new(); policies.len()];
    for c in table.results.cells.iter().filter(|c| c.metric != "recovered") {
        if let Some(at) = places.get(c.policy.as_str()) {
            all[*at].push((&c.configuration, &c.app, &c.metric, &c.values));
        }
    }
    let mut groups: Vec<Vec<usize>> = Vec::new();
    for at in (0..policies.len()).filter(|at| !all[*at].is_empty()) {
        match groups.iter_mut().find(|group| all[group[0]] == all[at]) {
            Some(group) => group.push(at),
            None => groups.push(vec![at]),
        }
    }
    let several = groups.iter().filter(|group| group.len() > 1);
    let sets: Vec<Vec<&str>> =
        several.map(|group| group.iter().map(|at| policies[*at].as_str()).collect()).collect();
    (!sets.is_empty()).then_some(Statement::Identical { sets })
}
