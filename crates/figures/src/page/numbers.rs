//! The tables of the text report, the account in full, and the yardsticks.

use experiment::metrics::{ALL_APPS, METRICS, Scope};
use experiment::report;
use experiment::result::Results;
use experiment::yardsticks::{BOUND, FLUID, YARDSTICKS};
use maud::{Markup, html};

use super::verdicts::caption;
use super::{head, row, table};
use crate::words::{cell, number, seconds};

/// The comparison at each point, and the account.
pub(super) fn tables(results: &Results) -> Markup {
    html! {
        @for point in &results.provenance.points {
            @let grid = report::comparison(results, point);
            (table(&caption("Policies", point), &grid.head, &grid.rows))
        }
        details {
            summary { "What the rows and columns mean" }
            p { (report::legend(results)) }
        }
        h3 { "Where the cpu time went" }
        p { "Mean share of cpus x makespan, in per cent; each row sums to 100." }
        @let (head, rows) = account(results);
        (table("Account", &head, &rows))
        details {
            summary { "What the parts of the account are" }
            dl class="facts" {
                @for metric in METRICS.iter().filter(|m| m.scope == Scope::All && m.name.starts_with("account_")) {
                    dt { (part(metric.name)) } dd { (metric.about) }
                }
            }
        }
    }
}

/// `account_memory_stall` as `memory stall`.
fn part(metric: &str) -> String {
    metric.trim_start_matches("account_").replace('_', " ")
}

fn account(results: &Results) -> (Vec<String>, Vec<Vec<String>>) {
    let points = &results.provenance.points;
    let metrics: Vec<&str> = METRICS
        .iter()
        .filter(|m| m.scope == Scope::All && m.name.starts_with("account_"))
        .map(|m| m.name)
        .collect();
    let share = |point: &str, policy: &str, metric: &str| {
        let found = cell(results, point, policy, ALL_APPS, metric);
        found.map_or_else(|| "-".into(), |c| format!("{:.1}", c.summary.mean * 100.0))
    };
    let mut rows = Vec::new();
    for point in points {
        for policy in &results.provenance.policies {
            let shares = metrics.iter().map(|metric| share(point, policy, metric));
            rows.push(row(policy, point, shares, points.len()));
        }
    }
    let names = head(&["Policy", "Point"], points.len()).into_iter();
    (names.chain(metrics.iter().map(|metric| part(metric))).collect(), rows)
}

/// What the yardsticks are, and how far from them the policies stay.
pub(super) fn yardsticks(results: &Results) -> Markup {
    let measured = |label: &str| results.cells.iter().any(|c| c.policy == label);
    html! {
        dl class="facts" {
            @for yardstick in YARDSTICKS.iter().filter(|y| measured(y.label)) {
                dt { (yardstick.label) } dd { (yardstick.about) }
            }
        }
        @for best in &results.best_partitions {
            @let cores: Vec<String> = best.cores.iter().map(|(app, cores)| format!("{app}: cores {cores}")).collect();
            p { (caption("Best static partition", &best.point)) ": " (cores.join("; ")) " (of " (best.tried) " tried)." }
        }
        @let rows = distances(results);
        @if !rows.is_empty() {
            (table(
                "Makespan against the yardsticks",
                &head(&["Policy", "Point", "Makespan", "Times the ideal share", "Times the bound", "Gap closed, %"], results.provenance.points.len()),
                &rows
            ))
        }
    }
}

fn distances(results: &Results) -> Vec<Vec<String>> {
    let over = |time: f64, yardstick: Option<f64>| yardstick.map_or_else(|| "-".into(), |y| number(time / y));
    let points = &results.provenance.points;
    let mut rows = Vec::new();
    for point in points {
        let makespan =
            |label: &str| cell(results, point, label, ALL_APPS, "makespan").map(|c| c.summary.mean);
        for policy in &results.provenance.policies {
            let Some(time) = makespan(policy) else { continue };
            let gap = cell(results, point, policy, ALL_APPS, "gap_closed");
            let gap = gap.map_or_else(|| "-".into(), |c| format!("{:.0}", c.summary.mean));
            let rest =
                [seconds(time), over(time, makespan(FLUID.label)), over(time, makespan(BOUND.label)), gap];
            rows.push(row(policy, point, rest, points.len()));
        }
    }
    rows
}
