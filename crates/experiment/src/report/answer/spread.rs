//! Tables of the answer besides the ranking: how times are spread, and the cpu shares of programs.

use super::grid::{Entry, GAP, Grid, NAME};
use crate::number;
use crate::statements::table::{error, mean};
use crate::statements::{Extremes, Table};
use crate::statistics::Summary;
use notation::text::cut_apart;

/// Columns of a cell with its gap.
const CELL: usize = 10;
/// The same with an interval.
const WIDE_CELL: usize = 13;

/// Heads and metrics of a distribution; the first word of each metric is that of the goal.
const PARTS: [(&str, &str); 5] =
    [("mean", ""), ("p50", "_median"), ("p90", "_p90"), ("p99", "_p99"), ("max", "_max")];

/// What a textbook knows of jobs besides.
const OF_JOBS: [(&str, &str); 3] =
    [("queued", "queue_time"), ("waiting", "waiting_time"), ("first run", "first_response")];

/// The rows of a table: the policies at the configuration of the best, or the configurations of the only
/// policy. Each with its name, configuration and policy, and behind them the head of the names and the place.
fn rows<'a>(
    table: &Table<'a>,
    extremes: &Extremes<'a>,
    policies: &[&'a str],
) -> (Vec<(String, usize, &'a str)>, String, String) {
    if let [only] = policies
        && table.sweep.configurations.len() > 1
    {
        let each = table.configurations().map(|c| (table.sweep.values(c), c, *only));
        return (each.collect(), table.sweep.names(), String::new());
    }
    let here = extremes.best.configuration;
    let each = policies.iter().map(|policy| ((*policy).to_owned(), here, *policy));
    (each.collect(), String::new(), table.with(here))
}

/// How the times of the goal are spread over requests or programs; none for other goals.
pub(super) fn distribution<'a>(
    table: &Table<'a>,
    extremes: &Extremes<'a>,
    policies: &[&'a str],
) -> Option<Grid> {
    let goal = &extremes.goal;
    let family = ["response_time", "turnaround", "queue_time", "lateness"].into_iter();
    let family = family.into_iter().find(|family| goal.metric.starts_with(family))?;
    let parts = PARTS.iter().map(|(head, part)| (*head, format!("{family}{part}")));
    let jobs = OF_JOBS.iter().filter(|_| !["response_time", "lateness"].contains(&family));
    let jobs =
        jobs.filter(|(_, metric)| *metric != family).map(|(head, metric)| (*head, (*metric).to_owned()));
    let (rows, names, place) = rows(table, extremes, policies);
    let get = |(_, c, policy): &(String, usize, &str), metric: &str| {
        Some(table.get(*c, policy, &goal.app, metric)?.mean)
    };
    let measured = |metric: &str| rows.iter().any(|row| get(row, metric).is_some_and(|mean| mean != 0.0));
    let columns: Vec<(&str, String)> = parts.chain(jobs).filter(|(_, metric)| measured(metric)).collect();
    if columns.len() < 2 {
        return None;
    }
    let values = || rows.iter().flat_map(|row| columns.iter().filter_map(|(_, metric)| get(row, metric)));
    let (unit, scale) = number::time_unit(values().map(f64::abs).fold(0.0, f64::max));
    let what = match family {
        "response_time" => "Times in which requests are answered",
        "turnaround" => "Times from arrival to end",
        "lateness" => "Times from the deadlines to the end of the work",
        _ => "Times from arrival to start",
    };
    let of = if goal.app == crate::metrics::ALL_APPS { String::new() } else { format!(" by {}", goal.app) };
    let mut heads: Vec<String> = columns.iter().map(|(head, _)| (*head).to_owned()).collect();
    let missed = family == "lateness";
    heads.extend(missed.then(|| "missed %".to_owned()));
    let mut grid = Grid::new(format!("{what}{of} in {unit}{place}"), vec![(names, heads)]);
    for row in &rows {
        let entry = |(_, metric): &(&str, String)| {
            let missing = || Entry::missing(table, (row.1, row.2), (&goal.app, metric));
            get(row, metric).map_or_else(missing, |mean| Entry::plain(number::short(mean / scale)))
        };
        let share = missed.then(|| {
            get(row, "missed_deadlines").map_or_else(Entry::none, |s| Entry::plain(number::percent(s)))
        });
        grid.rows.push((row.0.clone(), columns.iter().map(entry).chain(share).collect()));
    }
    Some(grid)
}

/// A share in per cent, with its interval where there are several seeds.
fn with_error(share: &Summary) -> String {
    match share.ci95 {
        Some(_) => format!("{} {}", mean(share, 0.01), error(share, 0.01)),
        None => number::percent(share.mean),
    }
}

/// The share of the cpu time that each application has in a window; none without one.
pub(super) fn cpu_shares<'a>(
    table: &Table<'a>,
    extremes: &Extremes<'a>,
    policies: &[&'a str],
    width: usize,
) -> Option<Grid> {
    let apps = table.results.provenance.apps.iter();
    let apps: Vec<&String> = apps.filter(|app| table.measures(app, "cpu_share")).collect();
    if !table.results.provenance.window || apps.len() < 2 {
        return None;
    }
    let (rows, names, place) = rows(table, extremes, policies);
    let cell = if table.results.provenance.repeat > 1 { WIDE_CELL } else { CELL };
    let shown = ((width - NAME) / cell).max(1);
    let names_of: Vec<&str> = apps.iter().take(shown).map(|app| app.as_str()).collect();
    let heads = cut_apart(&names_of, cell - GAP);
    let mut grid = Grid::new(format!("Cpu share of each program in %{place}"), vec![(names, heads)]);
    for (name, c, policy) in &rows {
        let entry = |app: &&String| {
            let share = table.get(*c, policy, app, "cpu_share");
            let missing = || Entry::missing(table, (*c, policy), (app, "cpu_share"));
            share.map_or_else(missing, |share| Entry::plain(with_error(share)))
        };
        grid.rows.push((name.clone(), apps.iter().take(shown).map(entry).collect()));
    }
    let intervals = grid.rows.iter().flat_map(|(_, entries)| entries).any(|entry| entry.text.contains('±'));
    grid.title.push_str(if intervals { "; ±: 95 % interval" } else { "" });
    if apps.len() > shown {
        let more = number::plural(apps.len() - shown, "program", "programs");
        grid.remark = format!("{more} more: --table full");
    }
    Some(grid)
}
