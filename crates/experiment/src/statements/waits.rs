//! What tasks wait for besides the cpus, and whether deadlines hold: statements about scenarios with locks or
//! deadlines, whatever these are judged by.

use super::ranking::Standing;
use super::statement::{Missed, Statement};
use super::table::Table;
use crate::metrics::ALL_APPS;

/// Below this part of their time, tasks do not wait for locks.
const SMALL: f64 = 0.01;

/// The cases that are compared with each other: the policies at the configuration of the best, or the
/// configurations of the only policy.
fn cases<'a>(table: &Table<'a>, best: usize) -> Vec<(usize, &'a str)> {
    let policies = table.policies().iter().map(String::as_str);
    match table.policies() {
        [only] => table.configurations().map(|c| (c, only.as_str())).collect(),
        _ => policies.map(|policy| (best, policy)).collect(),
    }
}

/// How much of its time a task of the program waits for locks that waits most, and where; `None` where tasks
/// hardly do.
pub(super) fn locks<'a>(table: &Table<'a>, best: usize) -> Option<Statement<'a>> {
    let cases = cases(table, best);
    let of = |app: &str, metric: &str| -> Vec<Standing<'a>> {
        cases.iter().filter_map(|case| Standing::of(table, *case, app, metric)).collect()
    };
    let all: Vec<Standing<'a>> =
        table.results.foreground().flat_map(|app| of(app, "lock_wait_share")).collect();
    let by_mean = |a: &&Standing<'_>, b: &&Standing<'_>| a.value.mean.total_cmp(&b.value.mean);
    let most = *all.iter().rev().max_by(by_mean).filter(|most| most.value.mean >= SMALL)?;
    let least = *all.iter().filter(|own| own.cell.app == most.cell.app).min_by(by_mean)?;
    let polls = of(ALL_APPS, "breakdown_lock_wait").iter().any(|share| share.value.mean >= SMALL);
    Some(Statement::Locks { least, most, polls })
}

/// Which part of the deadlines is missed, and how late the latest work is; `None` without deadlines.
pub(super) fn deadlines<'a>(table: &Table<'a>, best: usize) -> Option<Statement<'a>> {
    let only = table.results.provenance.apps.iter().map(String::as_str);
    let app = [ALL_APPS].into_iter().chain(only).find(|app| table.measures(app, "missed_deadlines"))?;
    let of = |case: (usize, &'a str)| {
        let get = |metric: &str| Standing::of(table, case, app, metric);
        Some(Missed { missed: get("missed_deadlines")?, latest: get("lateness_max")? })
    };
    let cases: Vec<Missed<'a>> = cases(table, best).into_iter().filter_map(of).collect();
    (!cases.is_empty()).then_some(Statement::Deadlines { cases })
}
