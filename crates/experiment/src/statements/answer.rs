//! The answer: whether sharing pays, what to use, what to avoid, and what the sweep changes, each sentence computed from the cells.

use super::ranking::{self, Goal, Standing, level_with};
use super::table::{self, Table};
use crate::metrics::ALL_APPS;
use crate::number::{self, listed, plural};
use crate::references::BEST_PARTITION;
use crate::statistics::Summary;

/// Names in a list before the rest becomes a number.
const NAMED: usize = 6;
/// Configurations of a sweep over different work that get a sentence each.
const EACH: usize = 3;

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
        let pool: Vec<Standing<'a>> = if comparable {
            rankings.iter().flatten().copied().collect()
        } else {
            // Where the policies differ most.
            let factor = |all: &Vec<Standing<'a>>| match (all.first(), all.last()) {
                (Some(best), Some(worst)) => libm::fabs(libm::log(worst.value.mean / best.value.mean)),
                _ => -1.0,
            };
            rankings.iter().rev().max_by(|a, b| factor(a).total_cmp(&factor(b)))?.clone()
        };
        let best = *pool.iter().min_by(|a, b| goal.order(a.value, b.value))?;
        let worst = *pool.iter().max_by(|a, b| goal.order(a.value, b.value))?;
        let worst = Some(worst).filter(|worst| !table::level(worst.value, best.value));
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
    lines.extend(worst_hit(table, extremes));
    lines.extend(response(table, extremes));
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
        all.iter().filter(|s| interval(s.value)[0] > 1.0).count(),
        all.iter().filter(|s| interval(s.value)[1] < 1.0).count(),
    );
    let top = all.iter().rev().max_by(|a, b| a.value.mean.total_cmp(&b.value.mean))?;
    let reached = format!("{}{}, {} %", top.policy, table.with(top.configuration), table::mean(top.value, 0.01));
    let scope = if table.policies().len() == 1 { "" } else { " under every policy" };
    let text = if losses == all.len() {
        format!("Sharing does not pay: the programs finish later than one after the other{scope}. Closest: {reached} of the work per second.")
    } else if gains == 0 {
        format!("Sharing does not clearly pay. Closest: {reached} of the work per second of sequential runs.")
    } else {
        let cases = plural(all.len(), "case", "cases");
        format!("Sharing pays in {gains} of {cases}. Most: {reached} of the work per second of sequential runs.")
    };
    Some(Line { label: "Sharing", text })
}

/// The 95 % interval of a mean, or the mean itself.
fn interval(summary: &Summary) -> [f64; 2] {
    summary.ci95.unwrap_or([summary.mean; 2])
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

/// ` PIN and SWOMPS are level with it.`; empty when all others can be distinguished.
fn level_sentence(level: &[Standing<'_>], there: &str) -> String {
    let names: Vec<&str> = level.iter().map(|s| s.policy).collect();
    match names.as_slice() {
        [] => String::new(),
        [one] => format!(" {one} is level with it{there}."),
        all => format!(" {} are level with it{there}.", listed(all)),
    }
}

fn best(table: &Table<'_>, extremes: &Extremes<'_>) -> Line {
    let Extremes { goal, best, rankings, .. } = extremes;
    let here = &rankings[best.configuration];
    let label = if table.policies().len() == 1 && rankings.len() == 1 { "Result" } else { "Best" };
    let text = format!(
        "{}{}: {}{}.{}",
        best.policy,
        table.with(best.configuration),
        goal.words(best.value),
        slowdowns(table, best),
        level_sentence(&level_with(best, here), "")
    );
    Line { label, text }
}

/// The worst standing, and the worst policy at the configuration of the best one.
fn avoid(table: &Table<'_>, extremes: &Extremes<'_>) -> Option<Line> {
    let Extremes { goal, best, worst, rankings, .. } = extremes;
    let standings = rankings.iter().flatten().count();
    if standings < 2 {
        return None;
    }
    let Some(worst) = worst else {
        let text = "No case is clearly worse: its interval overlaps that of the best.".to_owned();
        return Some(Line { label: "Avoid", text });
    };
    let level = level_with(worst, &rankings[worst.configuration]);
    let mut text = format!(
        "{}{}: {}{}.{}",
        worst.policy,
        table.with(worst.configuration),
        goal.quantity(worst.value),
        slowdowns(table, worst),
        level_sentence(&level, "")
    );
    let here = &rankings[best.configuration];
    if worst.configuration != best.configuration
        && let Some(last) = here.last().filter(|last| !table::level(last.value, best.value))
    {
        let level = level_with(last, here);
        let also = format!(
            " Worst{}: {}, {}.{}",
            table.with(best.configuration),
            last.policy,
            goal.quantity(last.value),
            level_sentence(&level, "")
        );
        text.push_str(&also);
    }
    Some(Line { label: "Avoid", text })
}

/// Which value of the only axis is best under which policies.
fn by_value(table: &Table<'_>, extremes: &Extremes<'_>) -> Option<Line> {
    let [axis] = table.sweep.varied.as_slice() else { return None };
    let mut groups: Vec<(usize, Vec<&str>)> = Vec::new();
    for policy in table.policies() {
        let own: Vec<&Standing<'_>> =
            extremes.rankings.iter().flatten().filter(|s| s.policy == *policy).collect();
        let best = own.iter().min_by(|a, b| extremes.goal.order(a.value, b.value))?;
        // The first value that cannot be distinguished from the best one.
        let first = own.iter().find(|s| table::level(s.value, best.value))?;
        let place = table.sweep.place(first.configuration, 0)?;
        match groups.iter_mut().find(|(known, _)| *known == place) {
            Some((_, policies)) => policies.push(policy),
            None => groups.push((place, vec![policy])),
        }
    }
    groups.sort_by_key(|(_, policies)| std::cmp::Reverse(policies.len()));
    let every = groups.len() == 1 && table.policies().len() > 1;
    let each = groups.iter().map(|(place, policies)| {
        let value = crate::configuration::plain(&axis.axis.values[*place]);
        let who = if every { "every policy".to_owned() } else { listed(policies) };
        format!("{value} under {who}")
    });
    let text = format!("Best or level with the best: {}.", each.collect::<Vec<_>>().join("; "));
    Some(Line { label: "Sweep", text: format!("{}. {text}", axis.short) })
}

/// The best policies of configurations that do different work.
fn best_of_each(table: &Table<'_>, extremes: &Extremes<'_>) -> Vec<Line> {
    let Extremes { goal, rankings, .. } = extremes;
    let measured: Vec<&Vec<Standing<'_>>> = rankings.iter().filter(|all| !all.is_empty()).collect();
    let winners = |all: &Vec<Standing<'_>>| -> Vec<String> {
        let [best, ..] = all.as_slice() else { return Vec::new() };
        std::iter::once(best.policy.to_owned())
            .chain(level_with(best, all).iter().map(|s| s.policy.to_owned()))
            .collect()
    };
    let sets: Vec<Vec<String>> = measured.iter().map(|all| winners(all)).collect();
    let mut lines = Vec::new();
    if table.policies().len() > 1 && sets.len() > 1 {
        let times = |policy: &String| sets.iter().filter(|set| set.contains(policy)).count();
        let mut counted: Vec<(usize, &String)> =
            table.policies().iter().map(|policy| (times(policy), policy)).filter(|(n, _)| *n > 0).collect();
        counted.sort_by_key(|(n, _)| std::cmp::Reverse(*n));
        let each = counted.iter().take(NAMED).map(|(n, policy)| format!("{policy} in {n}"));
        let text = format!(
            "Best or level with the best, of {} configurations: {}.",
            sets.len(),
            each.collect::<Vec<_>>().join(", ")
        );
        lines.push(Line { label: "Best", text });
    }
    let single = |all: &&&Vec<Standing<'_>>| rankings.len() <= EACH || all[0].configuration == extremes.best.configuration;
    for all in measured.iter().filter(single) {
        let (best, last) = (&all[0], &all[all.len() - 1]);
        let mut text = format!(
            "{}{}: {}.{}",
            best.policy,
            table.with(best.configuration),
            goal.words(best.value),
            level_sentence(&level_with(best, all), "")
        );
        if all.len() > 1 && !table::level(best.value, last.value) {
            let level = level_sentence(&level_with(last, all), "");
            text.push_str(&format!(" Worst: {}, {}.{level}", last.policy, goal.quantity(last.value)));
        }
        lines.push(Line { label: if table.policies().len() > 1 { "Best" } else { "Result" }, text });
    }
    lines
}

/// The application with the largest slowdown under each policy at the configuration of the best: smallest and largest.
fn worst_hit(table: &Table<'_>, extremes: &Extremes<'_>) -> Option<Line> {
    let configuration = extremes.best.configuration;
    if table.results.foreground().count() < 2 || table.policies().len() < 2 {
        return None;
    }
    let hit = |policy: &String| -> Option<Hit> {
        let all = table.results.foreground().map(|app| {
            let slowdown = table.get(configuration, policy, app, "slowdown")?;
            Some(Hit { policy: policy.clone(), app: app.to_owned(), slowdown: *slowdown })
        });
        let all: Vec<Hit> = all.collect::<Option<_>>()?;
        all.into_iter().rev().max_by(|a, b| a.slowdown.mean.total_cmp(&b.slowdown.mean))
    };
    let hits: Vec<Hit> = table.policies().iter().filter_map(hit).collect();
    let by_mean = |a: &&Hit, b: &&Hit| a.slowdown.mean.total_cmp(&b.slowdown.mean);
    let (least, most) = (hits.iter().min_by(by_mean)?, hits.iter().max_by(by_mean)?);
    let words = |hit: &Hit| format!("{}, {} {}", hit.policy, hit.app, number::ratio(hit.slowdown.mean));
    let even = |one: &Hit| {
        let names: Vec<&str> = hits
            .iter()
            .filter(|other| other.policy != one.policy && table::level(&other.slowdown, &one.slowdown))
            .map(|other| other.policy.as_str())
            .collect();
        match names.as_slice() {
            [] => String::new(),
            names => format!(" (level: {})", listed(names)),
        }
    };
    let mut text = format!(
        "Largest slowdown of a program{}: least under {}{}",
        table.with(configuration),
        words(least),
        even(least)
    );
    if !table::level(&least.slowdown, &most.slowdown) {
        text.push_str(&format!("; most under {}{}", words(most), even(most)));
    }
    Some(Line { label: "Fairness", text: format!("{text}.") })
}

/// The application that a policy slows most.
struct Hit {
    policy: String,
    app: String,
    slowdown: Summary,
}

/// Response times of tasks that sleep and wake, at the configuration of the best.
fn response(table: &Table<'_>, extremes: &Extremes<'_>) -> Option<Line> {
    let configuration = extremes.best.configuration;
    let goal = |app: &String| Goal { app: app.clone(), metric: "response_time" };
    let goals = table.results.provenance.apps.iter().map(goal);
    let each: Vec<String> = goals
        .filter_map(|goal| {
            let all = ranking::at(table, &goal, configuration);
            let (best, last) = (all.first()?, all.last()?);
            let level = |one: &Standing<'_>| {
                let names: Vec<&str> = level_with(one, &all).iter().map(|s| s.policy).collect();
                if names.is_empty() { String::new() } else { format!(" (level: {})", listed(&names)) }
            };
            let shortest = format!("{} {} under {}{}", goal.app, goal.quantity(best.value), best.policy, level(best));
            if all.len() == 1 || table::level(best.value, last.value) {
                return Some(shortest);
            }
            Some(format!("{shortest}, {} under {}{}", goal.quantity(last.value), last.policy, level(last)))
        })
        .take(EACH)
        .collect();
    if each.is_empty() {
        return None;
    }
    let text = format!("Mean response time{}: {}.", table.with(configuration), each.join("; "));
    Some(Line { label: "Response", text })
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
    let numbers = |policy: &str| -> Vec<(&str, &str, &str, &[Option<f64>])> {
        let cells = table.results.cells.iter().filter(|c| c.policy == policy && c.metric != "recovered");
        cells
            .map(|c| (c.configuration.as_str(), c.app.as_str(), c.metric.as_str(), c.values.as_slice()))
            .collect()
    };
    let all: Vec<_> = policies.iter().map(|policy| numbers(policy)).collect();
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
