//! The tables of the text report, the account in full, and the references.

use experiment::metrics::{ALL_APPS, METRICS, Scope};
use experiment::references::{FAIR_SHARE, LOWER_BOUND, REFERENCES};
use experiment::report;
use experiment::result::Results;
use maud::{Markup, html};

use super::verdicts::caption;
use super::{head, row, table};
use crate::words::{cell, number, seconds};

/// The comparison at each configuration, and the account.
pub(super) fn tables(results: &Results) -> Markup {
    html! {
        @for configuration in &results.provenance.configurations {
            @let grid = report::comparison(results, &configuration.label);
            (table(&caption("Policies", &configuration.label), &grid.head, &grid.rows))
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
                @for metric in METRICS.iter().filter(|m| m.scope == Scope::All && m.name.starts_with("breakdown_")) {
                    dt { (part(metric.name)) } dd { (metric.about) }
                }
            }
        }
    }
}

/// `breakdown_memory_stall` as `memory stall`.
fn part(metric: &str) -> String {
    metric.trim_start_matches("breakdown_").replace('_', " ")
}

fn account(results: &Results) -> (Vec<String>, Vec<Vec<String>>) {
    let configurations = &results.provenance.configurations;
    let metrics: Vec<&str> = METRICS
        .iter()
        .filter(|m| m.scope == Scope::All && m.name.starts_with("breakdown_"))
        .map(|m| m.name)
        .collect();
    let share = |configuration: &str, policy: &str, metric: &str| {
        let found = cell(results, configuration, policy, ALL_APPS, metric);
        found.map_or_else(|| "-".into(), |c| format!("{:.1}", c.summary.mean * 100.0))
    };
    let mut rows = Vec::new();
    for configuration in configurations.iter().map(|c| c.label.as_str()) {
        for policy in &results.provenance.policies {
            let shares = metrics.iter().map(|metric| share(configuration, policy, metric));
            rows.push(row(policy, configuration, shares, configurations.len()));
        }
    }
    let names = head(&["Policy", "Configuration"], configurations.len()).into_iter();
    (names.chain(metrics.iter().map(|metric| part(metric))).collect(), rows)
}

/// What the references are, and how far from them the policies stay.
pub(super) fn references(results: &Results) -> Markup {
    let measured = |label: &str| results.cells.iter().any(|c| c.policy == label);
    html! {
        dl class="facts" {
            @for reference in REFERENCES.iter().filter(|y| measured(y.label)) {
                dt { (reference.label) } dd { (reference.about) }
            }
        }
        @for best in &results.best_partitions {
            @let cores: Vec<String> = best.cores.iter().map(|(app, cores)| format!("{app}: cores {cores}")).collect();
            p { (caption("Best static partition", &best.configuration)) ": " (cores.join("; ")) " (of " (best.tried) " tried)." }
        }
        @let rows = distances(results);
        @if !rows.is_empty() {
            (table(
                "Makespan against the references",
                &head(&["Policy", "Configuration", "Makespan", "Times the ideal share", "Times the bound", "Gap closed, %"], results.provenance.configurations.len()),
                &rows
            ))
        }
    }
}

fn distances(results: &Results) -> Vec<Vec<String>> {
    let over = |time: f64, reference: Option<f64>| reference.map_or_else(|| "-".into(), |y| number(time / y));
    let configurations = &results.provenance.configurations;
    let mut rows = Vec::new();
    for configuration in configurations.iter().map(|c| c.label.as_str()) {
        let makespan =
            |label: &str| cell(results, configuration, label, ALL_APPS, "makespan").map(|c| c.summary.mean);
        for policy in &results.provenance.policies {
            let Some(time) = makespan(policy) else { continue };
            let gap = cell(results, configuration, policy, ALL_APPS, "recovered");
            let gap = gap.map_or_else(|| "-".into(), |c| format!("{:.0}", c.summary.mean));
            let rest = [
                seconds(time),
                over(time, makespan(FAIR_SHARE.label)),
                over(time, makespan(LOWER_BOUND.label)),
                gap,
            ];
            rows.push(row(policy, configuration, rest, configurations.len()));
        }
    }
    rows
}
