//! The answer: whether sharing pays, what to use, what to avoid, and what the sweep changes, each sentence
//! computed from the cells.

use std::collections::BTreeMap;

use super::inputs;
use super::ranking::{self, Goal, Rivals, Standing, not_worse, rivals};
use super::table::{self, Relation, Table};
use super::waits;
use crate::metrics::ALL_APPS;
use crate::number::{self, listed, plural};
use crate::references::BEST_PARTITION;
use crate::result::Cell;

/// The label of the line about the program that is slowed most.
pub const FAIRNESS: &str = "Fairness";
/// Names in a list before the rest becomes a number.
const NAMED: usize = 6;
/// Throughput that sharing must gain or lose to count: smaller differences are not predicted.
const MARGIN: f64 = 0.01;
/// Behind the smallest time of a sweep over different work.
const OTHER_WORK: &str = " It is the smallest of the sweep, whose configurations do different work.";
/// Configurations of a sweep over different work that get a sentence each.
const EACH: usize = 3;

/// The label of the line about locks.
const LOCKS: &str = "Locks";
/// Lines that are left out first where there is no room: tables show the same, or more.
pub const MINOR: [&str; 2] = [FAIRNESS, LOCKS];
/// The label of the line about each axis of a sweep: the marks in the table show the same.
pub const SWEEP: &str = "Sweep";

/// A statement with the word that it answers.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Line {
    /// What it is about: `Best`, `Avoid`, ...
    pub label: &'static str,
    /// One or a few sentences.
    pub text: String,
}

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

/// The lines of the answer; none when nothing was measured.
#[must_use]
pub fn lines(table: &Table<'_>, extremes: &Extremes<'_>) -> Vec<Line> {
    let mut lines: Vec<Line> = Vec::new();
    lines.extend(sharing(table, extremes));
    if extremes.comparable || table.sweep.configurations.len() < 2 {
        lines.push(best(table, extremes));
        lines.extend(avoid(table, extremes));
        lines.extend(by_value(table, extremes));
    } else {
        lines.extend(best_of_each(table, extremes));
    }
    lines.extend(of_inputs(table, extremes));
    lines.extend(worst_hit(table, extremes));
    lines.extend(response(table, extremes));
    let best = extremes.best.configuration;
    lines.extend(waits::locks(table, best).map(|text| Line { label: LOCKS, text }));
    // Where deadlines are what is judged, the lines above are about them.
    let deadlines = waits::deadlines(table, best).filter(|_| !extremes.goal.signed());
    lines.extend(deadlines.map(|text| Line { label: "Deadlines", text }));
    lines.extend(partition(table));
    lines.extend(identical(table));
    lines
}

/// Whether sharing finishes earlier than one program after the other.
fn sharing(table: &Table<'_>, extremes: &Extremes<'_>) -> Option<Line> {
    if !extremes.goal.higher() {
        return None;
    }
    let all: Vec<&Standing<'_>> = extremes.rankings.iter().flatten().collect();
    let (gains, losses) = (
        all.iter().filter(|s| s.cell.interval()[0] > 1.0 + MARGIN).count(),
        all.iter().filter(|s| s.cell.interval()[1] < 1.0 - MARGIN).count(),
    );
    let interval = |s: &Standing<'_>| {
        let [lo, hi] = s.cell.interval();
        let of = match (&s.cell.input_error, s.value.ci95) {
            (None, None) => return String::new(),
            (None, Some(_)) => "",
            (Some(_), None) => " of uncertain inputs",
            (Some(_), Some(_)) => " of seeds and uncertain inputs",
        };
        format!(", 95 % interval{of} {} to {} %", number::percent(lo), number::percent(hi))
    };
    let top = all.iter().min_by(|a, b| extremes.goal.order(a.value, b.value))?;
    let reached = format!(
        "{}{} reaches {:.1} % of sequential throughput{}",
        top.policy,
        table.with(top.configuration),
        top.value.mean * 100.0,
        interval(top)
    );
    let text = if losses == all.len() {
        let scope = if table.policies().len() == 1 { "" } else { " under every policy" };
        let less = match table.results.provenance.window {
            false => "the programs finish later than one after the other",
            true => "the programs do less work than one after the other",
        };
        format!("Does not pay: {less}{scope}.")
    } else if gains == 0 {
        format!("Does not clearly pay: {reached}.")
    } else {
        format!("Pays by more than 1 % in {gains} of {}: {reached}.", plural(all.len(), "case", "cases"))
    };
    Some(Line { label: "Sharing", text })
}

/// `; slowdown cg 1.68, ft 2.04` of a standing, where programs also ran alone.
fn slowdowns(table: &Table<'_>, standing: &Standing<'_>) -> String {
    let each: Vec<String> = table
        .results
        .foreground()
        .filter_map(|app| {
            let slowdown = table.get(standing.configuration, standing.policy, app, "slowdown")?;
            Some(format!("{app} {}", number::ratio(slowdown.mean)))
        })
        .take(NAMED)
        .collect();
    if each.is_empty() { String::new() } else { format!("; slowdown {}", each.join(", ")) }
}

/// ` PIN and SWOMPS are level with it. SPEED is undecided.`; empty when all others are clearly apart.
pub(super) fn rivals_sentence(rivals: &Rivals<'_>) -> String {
    let about = |all: &[Standing<'_>], what: &str| {
        let names: Vec<&str> = all.iter().map(|s| s.policy).collect();
        match names.as_slice() {
            [] => String::new(),
            [one] => format!(" {one} is {what}."),
            all => format!(" {} are {what}.", listed(all)),
        }
    };
    let mut text = about(&rivals.equal, "equal to it") + &about(&rivals.level, "level with it");
    for (other, tail) in &rivals.tails {
        let [own, theirs] = tail.values.map(|value| number::short_seconds(value.mean));
        let name = tail_name(tail.metric);
        text.push_str(&format!(
            " {} is level with it in the mean; {name} {theirs} against {own}.",
            other.policy
        ));
    }
    text + &about(&rivals.undecided, "undecided")
}

/// `wake-up p99` of `wakeup_latency_p99`.
fn tail_name(metric: &str) -> String {
    let (of, part) = metric.rsplit_once('_').unwrap_or((metric, ""));
    let of = match of {
        "response_time" => "response",
        "wakeup_latency" => "wake-up",
        "queue_time" => "queue time",
        other => other,
    };
    format!("{of} {part}")
}

/// ` with quota=800ms or 1600ms (equal)`: the configuration of the best, and those where its policy has the
/// same values.
fn with_equals(table: &Table<'_>, extremes: &Extremes<'_>) -> String {
    let best = &extremes.best;
    let all = extremes.rankings.iter().flatten();
    let equal = all.filter(|s| {
        s.policy == best.policy
            && s.configuration != best.configuration
            && table::relation(s.cell, best.cell) == Relation::Equal
    });
    let mut same: Vec<usize> = equal.map(|s| s.configuration).collect();
    if same.is_empty() {
        return table.with(best.configuration);
    }
    same.push(best.configuration);
    same.sort_unstable();
    if let [axis] = table.sweep.varied.as_slice() {
        let value = |c: &usize| table.sweep.value(*c, 0).unwrap_or_default();
        let values: Vec<String> = same.iter().map(value).collect();
        return format!(" with {}={} (equal)", axis.short, values.join(" or "));
    }
    let others: Vec<String> =
        same.iter().filter(|c| **c != best.configuration).take(EACH).map(|c| table.sweep.short(*c)).collect();
    format!("{} (equal: {})", table.with(best.configuration), others.join("; "))
}

/// `; mean 10.7 ms, max 61 ms` beside a percentile, and what else belongs to the value of an objective.
fn beside(table: &Table<'_>, goal: &Goal, standing: &Standing<'_>) -> String {
    let metrics: &[(&str, &str)] = match goal.metric {
        "response_time_p99" => &[("mean", "response_time"), ("max", "response_time_max")],
        "response_time" => &[("p99", "response_time_p99"), ("max", "response_time_max")],
        "turnaround" => &[("max", "turnaround_max"), ("mean queue time", "queue_time")],
        "queue_time" => &[("max", "queue_time_max"), ("mean turnaround", "turnaround")],
        "lateness_max" => &[("mean", "lateness"), ("p99", "lateness_p99")],
        _ => return slowdowns(table, standing),
    };
    let missed = table.get(standing.configuration, standing.policy, &goal.app, "missed_deadlines");
    let missed = missed.filter(|_| goal.signed());
    let value = |(name, metric): &(&str, &str)| {
        let found = table.get(standing.configuration, standing.policy, &goal.app, metric)?;
        (found.mean > 0.0 || goal.signed()).then(|| format!("{name} {}", number::short_seconds(found.mean)))
    };
    let mut each: Vec<String> = metrics.iter().filter_map(value).collect();
    each.extend(missed.map(|share| format!("{} % of the deadlines missed", number::percent(share.mean))));
    if each.is_empty() { String::new() } else { format!("; {}", each.join(", ")) }
}

fn best(table: &Table<'_>, extremes: &Extremes<'_>) -> Line {
    let Extremes { goal, best, rankings, .. } = extremes;
    let here = &rankings[best.configuration];
    let label = if table.policies().len() == 1 && rankings.len() == 1 { "Result" } else { "Best" };
    let text = format!(
        "{}{}{}: {}{}.{}",
        goal.by(),
        best.policy,
        with_equals(table, extremes),
        goal.words(best.value),
        beside(table, goal, best),
        rivals_sentence(&rivals(table, goal, best, here))
    );
    Line { label, text }
}

/// The worst standing.
fn avoid(table: &Table<'_>, extremes: &Extremes<'_>) -> Option<Line> {
    let Extremes { goal, worst, rankings, .. } = extremes;
    let standings = rankings.iter().flatten().count();
    if standings < 2 {
        return None;
    }
    let Some(worst) = worst else {
        let intervals = rankings.iter().flatten().any(|s| s.value.ci95.is_some());
        let why = if intervals {
            "no paired difference is significant"
        } else {
            "they differ by less than the digits shown"
        };
        return Some(Line {
            label: "Avoid",
            text: format!("No case is clearly worse than the best: {why}."),
        });
    };
    let text = format!(
        "{}{}: {}{}.{}",
        worst.policy,
        table.with(worst.configuration),
        goal.quantity(worst.value),
        beside(table, goal, worst),
        rivals_sentence(&rivals(table, goal, worst, &rankings[worst.configuration]))
    );
    Some(Line { label: "Avoid", text })
}

/// Of the only axis: which policies are best at each value, and which value is best under each policy.
fn by_value(table: &Table<'_>, extremes: &Extremes<'_>) -> Vec<Line> {
    let [axis] = table.sweep.varied.as_slice() else { return Vec::new() };
    if table.policies().len() < 2 {
        return Vec::new();
    }
    let value = |place: usize| scenario::configuration::plain(&axis.axis.values[place]);
    let mut best = Groups::default();
    for all in extremes.rankings.iter().filter(|all| !all.is_empty()) {
        let Some(place) = table.sweep.place(all[0].configuration, 0) else { continue };
        best.add(winners(all).join(", "), value(place));
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
        values.add(level.join(" or "), policy.clone());
    }
    let (best, mut values) = (best.all, values.all);
    let short = &axis.short;
    let each: Vec<String> = if let [(policies, _)] = best.as_slice() {
        vec![format!("{policies} at every {short}")]
    } else {
        best.iter().map(|(policies, at)| format!("{policies} with {short}={}", at.join(", "))).collect()
    };
    let policy = Line { label: "Policy", text: format!("Best or not distinguishable: {}.", each.join("; ")) };
    values.sort_by_key(|(_, policies)| std::cmp::Reverse(policies.len()));
    let text = match values.as_slice() {
        [(value, _)] => format!("{value} under every policy"),
        [(value, most), others @ ..] if most.len() > 2 => {
            let others = others
                .iter()
                .flat_map(|(value, policies)| policies.iter().map(move |p| format!("{p} ({value})")));
            format!("{value} under every policy except {}", listed(&others.collect::<Vec<_>>()))
        }
        all => all
            .iter()
            .map(|(v, policies)| format!("{v} under {}", listed(policies)))
            .collect::<Vec<_>>()
            .join("; "),
    };
    let sweep = Line { label: SWEEP, text: format!("Best or not distinguishable {short}: {text}.") };
    vec![policy, sweep]
}

/// Names with members, in the order of their first members.
#[derive(Default)]
struct Groups {
    all: Vec<(String, Vec<String>)>,
    places: BTreeMap<String, usize>,
}

impl Groups {
    /// Adds a member to the group of this name.
    fn add(&mut self, name: String, member: String) {
        let place = *self.places.entry(name.clone()).or_insert(self.all.len());
        match self.all.get_mut(place) {
            Some((_, members)) => members.push(member),
            None => self.all.push((name, vec![member])),
        }
    }
}

/// The best policy of a ranking and those that cannot be distinguished from it.
fn winners(all: &[Standing<'_>]) -> Vec<String> {
    not_worse(all).iter().map(|s| s.policy.to_owned()).collect()
}

/// The best policies of configurations that do different work.
fn best_of_each(table: &Table<'_>, extremes: &Extremes<'_>) -> Vec<Line> {
    let Extremes { goal, rankings, .. } = extremes;
    let measured: Vec<&Vec<Standing<'_>>> = rankings.iter().filter(|all| !all.is_empty()).collect();
    let sets: Vec<Vec<String>> = measured.iter().map(|all| winners(all)).collect();
    let mut lines = Vec::new();
    if table.policies().len() > 1 && sets.len() > 1 {
        let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
        for policy in sets.iter().flatten() {
            *counts.entry(policy).or_default() += 1;
        }
        let times = |policy: &String| counts.get(policy.as_str()).copied().unwrap_or(0);
        let mut counted: Vec<(usize, &String)> =
            table.policies().iter().map(|policy| (times(policy), policy)).filter(|(n, _)| *n > 0).collect();
        counted.sort_by_key(|(n, _)| std::cmp::Reverse(*n));
        let each = counted.iter().take(NAMED).map(|(n, policy)| format!("{policy} in {n}"));
        let text = format!(
            "Best or not distinguishable from the best, of {} configurations: {}.",
            sets.len(),
            each.collect::<Vec<_>>().join(", ")
        );
        lines.push(Line { label: "Best", text });
    }
    let single = |all: &&&Vec<Standing<'_>>| {
        rankings.len() <= EACH || all[0].configuration == extremes.best.configuration
    };
    for all in measured.iter().filter(single) {
        let (best, last) = (&all[0], &all[all.len() - 1]);
        let whole = best.configuration == extremes.best.configuration && rankings.len() > EACH;
        let mut text = format!(
            "{}{}{}: {}{}.{}",
            goal.by(),
            best.policy,
            if whole { with_equals(table, extremes) } else { table.with(best.configuration) },
            goal.words(best.value),
            if rankings.len() > EACH { beside(table, goal, best) } else { String::new() },
            rivals_sentence(&rivals(table, goal, best, all))
        );
        if all.len() > 1 && !table::level(best.cell, last.cell) {
            let others = rivals_sentence(&rivals(table, goal, last, all));
            text.push_str(&format!(" Worst: {}, {}.{others}", last.policy, goal.quantity(last.value)));
        }
        let several = table.policies().len() > 1;
        // Less work takes less time, which is no advice.
        if !several && rankings.len() > EACH && !goal.higher() {
            text.push_str(OTHER_WORK);
        }
        let best = several || rankings.len() > EACH && goal.higher();
        lines.push(Line { label: if best { "Best" } else { "Result" }, text });
    }
    lines
}

/// What uncertain inputs do to the best, among all that it can be compared with.
fn of_inputs(table: &Table<'_>, extremes: &Extremes<'_>) -> Option<Line> {
    let here = std::slice::from_ref(extremes.rankings.get(extremes.best.configuration)?);
    let rivals = if extremes.comparable { &extremes.rankings } else { here };
    let rivals: Vec<&Standing<'_>> = rivals.iter().flatten().collect();
    let text = inputs::sentences(table, &extremes.goal, &extremes.best, &rivals)?;
    Some(Line { label: "Inputs", text })
}

/// The application with the largest slowdown under each policy at the configuration of the best: smallest and
/// largest.
fn worst_hit<'a>(table: &Table<'a>, extremes: &Extremes<'_>) -> Option<Line> {
    let configuration = extremes.best.configuration;
    if table.results.foreground().count() < 2 || table.policies().len() < 2 {
        return None;
    }
    let hit = |policy: &'a String| -> Option<Hit<'a>> {
        let all = table.results.foreground().map(|app| {
            let slowdown = table.cell(configuration, policy, app, "slowdown")?;
            Some(Hit { policy, app, slowdown })
        });
        let all: Vec<Hit<'_>> = all.collect::<Option<_>>()?;
        all.into_iter().rev().max_by(|a, b| a.mean().total_cmp(&b.mean()))
    };
    let hits: Vec<Hit<'_>> = table.policies().iter().filter_map(hit).collect();
    let by_mean = |a: &&Hit<'_>, b: &&Hit<'_>| a.mean().total_cmp(&b.mean());
    let (least, most) = (hits.iter().min_by(by_mean)?, hits.iter().max_by(by_mean)?);
    let apart = !table::level(least.slowdown, most.slowdown);
    let words = |hit: &Hit<'_>, opposite: &Hit<'_>| {
        let others = hits.iter().filter(|other| other.policy != hit.policy);
        let others = others.map(|other| (other.policy, other.slowdown));
        let names = table::even(hit.slowdown, apart.then_some(opposite.slowdown), others);
        let even = if names.is_empty() { String::new() } else { format!("; level: {}", listed(&names)) };
        format!("{} under {} ({}{even})", number::ratio(hit.mean()), hit.policy, hit.app)
    };
    let mut text = format!("Largest slowdown{}: {}", table.with(configuration), words(least, most));
    if apart {
        text.push_str(&format!(" to {}", words(most, least)));
    }
    Some(Line { label: FAIRNESS, text: format!("{text}.") })
}

/// The application that a policy slows most.
struct Hit<'a> {
    policy: &'a str,
    app: &'a str,
    slowdown: &'a Cell,
}

impl Hit<'_> {
    fn mean(&self) -> f64 {
        self.slowdown.summary.mean
    }
}

/// Response times of applications that answer requests: the shortest and the longest, over all
/// configurations if these can be compared. That of the goal has its lines.
fn response(table: &Table<'_>, extremes: &Extremes<'_>) -> Option<Line> {
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
        let all: Vec<Standing<'_>> =
            table.configurations().filter(shown).flat_map(|c| ranking::at(table, &goal, c)).collect();
        let best = all.iter().min_by(|a, b| goal.order(a.value, b.value))?;
        let last = all.iter().max_by(|a, b| goal.order(a.value, b.value))?;
        let apart = !table::level(best.cell, last.cell);
        let words = |one: &Standing<'_>, opposite: &Standing<'_>| {
            let here = all.iter().filter(|s| s.configuration == one.configuration && s.policy != one.policy);
            let names = table::even(
                one.cell,
                apart.then_some(opposite.cell),
                here.map(|other| (other.policy, other.cell)),
            );
            let level =
                if names.is_empty() { String::new() } else { format!(" (level: {})", listed(&names)) };
            format!(
                "{} under {}{}{level}",
                goal.quantity(one.value),
                one.policy,
                table.with(one.configuration)
            )
        };
        if !apart {
            return Some(format!("{app} {}", words(best, last)));
        }
        Some(format!("{app} {} to {}", words(best, last), words(last, best)))
    };
    let each: Vec<String> = apps().filter_map(of_app).take(EACH).collect();
    if each.is_empty() {
        return None;
    }
    let what = if tails { "Response time, 99th percentile" } else { "Mean response time" };
    Some(Line { label: "Response", text: format!("{what}: {}.", each.join("; ")) })
}

/// The best static partition of each configuration where one was searched.
fn partition(table: &Table<'_>) -> Vec<Line> {
    let found = |best: &crate::references::BestPartition| {
        let at = table.sweep.labels().position(|label| label == best.configuration)?;
        let cores: Vec<String> = best.cores.iter().map(|(app, cores)| format!("{app} {cores}")).collect();
        let time = table.get(at, BEST_PARTITION.label, ALL_APPS, "makespan")?;
        let text = format!(
            "Best static partition{}: cores {}; all programs end after {}. The search simulated {}.",
            table.with(at),
            cores.join(", "),
            number::short_seconds(time.mean),
            plural(best.tried, "partition", "partitions")
        );
        Some(Line { label: "Partition", text })
    };
    table.results.best_partitions.iter().filter_map(found).take(EACH).collect()
}

/// Policies that gave the same numbers in every run.
fn identical(table: &Table<'_>) -> Option<Line> {
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
    let same: Vec<String> = groups
        .iter()
        .filter(|group| group.len() > 1)
        .map(|group| listed(&group.iter().map(|at| policies[*at].as_str()).collect::<Vec<_>>()))
        .collect();
    if same.is_empty() {
        return None;
    }
    Some(Line { label: "Note", text: format!("{} give identical results in every run.", same.join("; ")) })
}
