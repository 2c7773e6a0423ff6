//! What tasks wait for besides the cpus, and whether deadlines hold: lines for scenarios with locks or
//! deadlines, whatever these are judged by.

use super::table::Table;
use crate::metrics::ALL_APPS;
use crate::number;

/// Below this part of their time, tasks do not wait for locks.
const SMALL: f64 = 0.01;
/// Cases with their deadlines, before the rest becomes a number.
const NAMED: usize = 3;

/// A policy at a configuration.
type Case<'a> = (usize, &'a str);

/// The cases that are compared with each other: the policies at the configuration of the best, or the
/// configurations of the only policy.
fn cases<'a>(table: &Table<'a>, best: usize) -> Vec<Case<'a>> {
    let policies = table.policies().iter().map(String::as_str);
    match table.policies() {
        [only] => table.configurations().map(|c| (c, only.as_str())).collect(),
        _ => policies.map(|policy| (best, policy)).collect(),
    }
}

/// `LOAD with x=1`.
fn name(table: &Table<'_>, (configuration, policy): Case<'_>) -> String {
    format!("{policy}{}", table.with(configuration))
}

/// How much of its time a task of the program waits for locks that waits most, and where; `None` where tasks
/// hardly do.
pub(super) fn locks(table: &Table<'_>, best: usize) -> Option<String> {
    let cases = cases(table, best);
    let mut all: Vec<(f64, &str, Case<'_>)> = Vec::new();
    for app in table.results.foreground() {
        let share = |(c, policy): &Case<'_>| Some(table.get(*c, policy, app, "lock_wait_share")?.mean);
        all.extend(cases.iter().filter_map(|case| Some((share(case)?, app, *case))));
    }
    let most = all.iter().rev().max_by(|a, b| a.0.total_cmp(&b.0)).filter(|most| most.0 >= SMALL)?;
    let own = all.iter().filter(|(_, app, _)| *app == most.1);
    let least = own.min_by(|a, b| a.0.total_cmp(&b.0))?;
    let [low, high] = [least, most].map(|(share, ..)| number::percent(*share));
    let app = most.1;
    let range = if low == high {
        format!("{high} %")
    } else {
        format!("between {low} % ({}) and {high} % ({})", name(table, least.2), name(table, most.2))
    };
    let polling = |(c, policy): &Case<'_>| table.get(*c, policy, ALL_APPS, "breakdown_lock_wait");
    let polls = cases.iter().filter_map(polling).any(|share| share.mean >= SMALL);
    let asleep = if polls { "" } else { " Meanwhile they sleep, and their cpus are idle or serve others." };
    Some(format!("Tasks of {app} wait for locks {range} of their time.{asleep}"))
}

/// Which part of the deadlines is missed, and how late the latest work is; `None` without deadlines.
pub(super) fn deadlines(table: &Table<'_>, best: usize) -> Option<String> {
    let only = table.results.provenance.apps.iter().map(String::as_str);
    let app = [ALL_APPS].into_iter().chain(only).find(|app| table.measures(app, "missed_deadlines"))?;
    let cases = cases(table, best);
    let together = cases.iter().all(|case| case.0 == best);
    let of = |case: &Case<'_>| {
        let get = |metric: &str| Some(table.get(case.0, case.1, app, metric)?.mean);
        let (missed, latest) = (get("missed_deadlines")?, get("lateness_max")?);
        let by = number::short_seconds(latest.abs());
        Some(format!(
            "{} {} % ({})",
            if together { case.1.to_owned() } else { name(table, *case) },
            number::percent(missed),
            if latest > 0.0 { format!("up to {by} late") } else { format!("at least {by} early") }
        ))
    };
    let all: Vec<String> = cases.iter().filter_map(of).collect();
    let more = all.len().saturating_sub(NAMED);
    let more = if more > 0 { format!("; {more} more: --table full") } else { String::new() };
    let shown = all.iter().take(NAMED).cloned().collect::<Vec<_>>().join("; ");
    let place = if together { table.with(best) } else { String::new() };
    (!all.is_empty()).then(|| format!("Missed{place}: {shown}{more}."))
}
