//! The tables of the text report, the cpu-time breakdown in full, and the references.

use experiment::metrics::{ALL_APPS, METRICS};
use experiment::number::percent;
use experiment::references::{FAIR_SHARE, LOWER_BOUND, REFERENCES};
use experiment::report;
use experiment::statements::causes::{PARTS, Part, share};
use maud::{Markup, html};

use super::Grid;
use super::subject::sentence;
use super::view::View;
use crate::figures::plane::is_reference;
use crate::figures::words::{number, seconds};

/// The comparison at each configuration, and the breakdown.
pub(super) fn tables(view: &View<'_>) -> Markup {
    html! {
        @if view.configurations.len() > 1 && view.extremes.as_ref().is_some_and(|e| e.comparable) {
            p { "The best configuration comes first, and in each table the best policy." }
        }
        @for configuration in &view.configurations { (policies(view, *configuration).markup()) }
        details {
            summary { "What the rows and columns mean" }
            p { (report::legend(view.results)) }
        }
        h3 { "Where the cpu time went" }
        p { "Mean share of the time of all cpus until all programs end, in per cent. Each row sums to 100, \
            apart from rounding." }
        (breakdown(view).markup())
        details {
            summary { "What the parts mean" }
            dl class="facts" { @for part in &PARTS { dt { (part.name) } dd { (sentence(&meaning(part))) } } }
        }
    }
}

/// The policies at a configuration, the best first, references last.
fn policies(view: &View<'_>, configuration: usize) -> Grid {
    let grid = report::comparison(view.index(), configuration);
    let order = view.policies(configuration);
    // A row is called like its policy, or with the number of completed runs in parentheses behind it.
    let is_of = |row: &[String], policy: &str| row[0] == policy || row[0].starts_with(&format!("{policy} ("));
    let place = |row: &Vec<String>| order.iter().position(|policy| is_of(row, policy));
    let (mut own, others): (Vec<_>, Vec<_>) = grid.rows.into_iter().partition(|row| place(row).is_some());
    own.sort_by_key(|row| place(row));
    Grid { last: others, ..Grid::new(&view.caption("Policies", configuration), grid.head, own) }
}

/// What a part of the breakdown is.
fn meaning(part: &Part) -> String {
    let about = |name: &&str| METRICS.iter().find(|metric| metric.name == *name).map(|metric| metric.about);
    part.metrics.iter().filter_map(about).collect::<Vec<_>>().join("; ")
}

/// Shares below this are not shown.
const UNSEEN: f64 = 0.000_5;

/// The cpu-time breakdown of every policy at every configuration, with the sum of each row.
fn breakdown(view: &View<'_>) -> Grid {
    let of =
        |configuration: usize, policy: &str, part: &Part| share(view.index(), configuration, policy, part);
    let mut all: Vec<(usize, &str, Vec<f64>)> = Vec::new();
    for configuration in &view.configurations {
        for policy in view.policies(*configuration) {
            if of(*configuration, policy, &PARTS[0]).is_some() {
                let shares = PARTS.iter().map(|part| of(*configuration, policy, part).unwrap_or(0.0));
                all.push((*configuration, policy, shares.collect()));
            }
        }
    }
    let shown: Vec<usize> =
        (0..PARTS.len()).filter(|at| all.iter().any(|(.., shares)| shares[*at] >= UNSEEN)).collect();
    let names: Vec<String> = shown.iter().map(|at| PARTS[*at].head.join(" ").trim_end().to_owned()).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).chain(["sum"]).collect();
    let rows = all.iter().map(|(configuration, policy, shares)| {
        let entries = shown.iter().map(|at| percent(shares[*at]));
        let sum = format!("{:.0}", shares.iter().sum::<f64>() * 100.0);
        view.row(policy, *configuration, entries.chain([sum]))
    });
    Grid::new("Cpu-time breakdown", view.head("Policy", &names), rows.collect())
}

/// What the references are, and how far from them the policies are.
pub(super) fn references(view: &View<'_>) -> Markup {
    let measured = |label: &str| view.results.cells.iter().any(|c| c.policy == label);
    let distances = distances(view);
    html! {
        dl class="facts" {
            @for reference in REFERENCES.iter().filter(|reference| measured(reference.label)) {
                dt { (reference.label) } dd { (sentence(reference.about)) }
            }
        }
        @for best in &view.results.best_partitions {
            @let cores: Vec<String> = best.cores.iter().map(|(app, cores)| format!("{app}: cores \
                {cores}")).collect();
            p {
                "Best static partition" @if !best.configuration.is_empty() { " with " (best.configuration) }
                ": " (cores.join("; ")) " (of " (best.tried) " tried)."
            }
        }
        @if !distances.is_empty() { (distances.markup()) }
    }
}

fn distances(view: &View<'_>) -> Grid {
    let over = |time: f64, reference: Option<f64>| reference.map_or_else(|| "-".into(), |y| number(time / y));
    let mut rows = Vec::new();
    for configuration in &view.configurations {
        let of = |policy: &str, metric: &str| {
            view.index().get(*configuration, policy, ALL_APPS, metric).map(|summary| summary.mean)
        };
        for policy in view.policies(*configuration).into_iter().filter(|policy| !is_reference(policy)) {
            let Some(time) = of(policy, "makespan") else { continue };
            let recovered = of(policy, "recovered").map_or_else(|| "-".into(), |part| format!("{part:.0}"));
            let rest = [
                seconds(time),
                over(time, of(FAIR_SHARE.label, "makespan")),
                over(time, of(LOWER_BOUND.label, "makespan")),
                recovered,
            ];
            rows.push(view.row(policy, *configuration, rest));
        }
    }
    let rest = ["Makespan", "Times the fair share", "Times the lower bound", "Recovered, %"];
    Grid::new("Makespan against the references", view.head("Policy", &rest), rows)
}
