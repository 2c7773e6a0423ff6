//! The tables of the text report, the account in full, and the yardsticks.

use experiment::metrics::{ALL_APPS, METRICS, Scope};
use experiment::report;
use experiment::result::Results;
use experiment::yardsticks::{FLUID, YARDSTICKS};
use maud::{Markup, html};

use super::verdicts::caption;
use super::{strings, table};
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
        @for point in &results.provenance.points {
            @let (head, rows) = account(results, point);
            (table(&caption("Account", point), &head, &rows))
        }
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

fn account(results: &Results, point: &str) -> (Vec<String>, Vec<Vec<String>>) {
    let parts = || METRICS.iter().filter(|m| m.scope == Scope::All && m.name.starts_with("account_"));
    let head = ["Policy".to_owned()].into_iter().chain(parts().map(|m| part(m.name))).collect();
    let row = |policy: &String| {
        let share = |metric: &str| cell(results, point, policy, ALL_APPS, metric).map(|c| c.summary.mean);
        let shares =
            parts().map(|m| share(m.name).map_or_else(|| "-".into(), |s| format!("{:.1}", s * 100.0)));
        [policy.clone()].into_iter().chain(shares).collect()
    };
    (head, results.provenance.policies.iter().map(row).collect())
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
        @for point in &results.provenance.points {
            @let rows = distances(results, point);
            @if !rows.is_empty() {
                (table(&caption("Makespan against the yardsticks", point), &strings(&["Policy", "Makespan", "Times the ideal share", "Times the bound", "Gap closed, %"]), &rows))
            }
        }
    }
}

fn distances(results: &Results, point: &str) -> Vec<Vec<String>> {
    let makespan = |label: &str| cell(results, point, label, ALL_APPS, "makespan").map(|c| c.summary.mean);
    let bound = YARDSTICKS.iter().find(|y| y.label == "bound").and_then(|y| makespan(y.label));
    let ideal = makespan(FLUID.label);
    let over = |time: f64, yardstick: Option<f64>| yardstick.map_or_else(|| "-".into(), |y| number(time / y));
    let row = |policy: &String| {
        let time = makespan(policy)?;
        let gap = cell(results, point, policy, ALL_APPS, "gap_closed");
        let gap = gap.map_or_else(|| "-".into(), |c| format!("{:.0}", c.summary.mean));
        Some(vec![policy.clone(), seconds(time), over(time, ideal), over(time, bound), gap])
    };
    results.provenance.policies.iter().filter_map(row).collect()
}
