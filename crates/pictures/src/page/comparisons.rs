//! Which policy is faster, by how much, and how sure that is.

use std::collections::BTreeMap;

use experiment::compare::Ratio;
use experiment::compare::contrast::Cells;
use experiment::metrics::ALL_APPS;
use maud::{Markup, html};

use super::Grid;
use super::view::View;
use crate::figures::words::{self, number};

/// The policy with the shortest mean of each application at each configuration, and every policy against the
/// first one.
pub(super) fn comparisons(view: &View<'_>) -> Markup {
    let fastest = fastest(view);
    let first = view.results.comparisons.first().map(|comparison| comparison.baseline.as_str());
    html! {
        @if fastest.is_empty() {
            p { "There is nothing to compare: it takes two policies with completed runs." }
        } @else {
            p {
                "With each seed all policies run the same random work, so they are compared pair by pair. "
                "p is the probability of a difference at least this large if there were none (paired \
                    t-test). "
                "Below 0.05 a difference counts as real. The largest differences come first."
            }
            (fastest.markup())
        }
        @if let Some(first) = first { (against(view, first).markup()) }
    }
}

/// The policy with the shortest mean run time and the next one.
fn fastest(view: &View<'_>) -> Grid {
    let apps: Vec<&str> = view.results.foreground().collect();
    let whole = if apps.len() > 1 { Some((ALL_APPS, "makespan")) } else { None };
    let what: Vec<(&str, &str)> = apps.into_iter().map(|app| (app, "run_time")).chain(whole).collect();
    let mut rows: Vec<(f64, Vec<String>)> = Vec::new();
    let cells = Cells::of(view.results);
    for configuration in &view.configurations {
        for (app, metric) in &what {
            rows.extend(ahead(view, &cells, *configuration, (app, metric)));
        }
    }
    let rest = ["Shortest mean", "Run time", "Next policy", "Times as fast (95 % interval)", "p", "Result"];
    Grid::new(
        "The policy with the shortest mean and the next one",
        view.head("Application", &rest),
        sorted(rows),
    )
}

/// The rows with the largest effect first; of equals in the order given.
fn sorted(mut rows: Vec<(f64, Vec<String>)>) -> Vec<Vec<String>> {
    rows.sort_by(|a, b| b.0.total_cmp(&a.0));
    rows.into_iter().map(|(_, row)| row).collect()
}

/// The size of a ratio, whichever way round it is.
fn effect(ratio: f64) -> f64 {
    if ratio > 0.0 { libm::fabs(libm::log(ratio)) } else { 0.0 }
}

/// First and second of an application at a configuration, with the size of the difference.
fn ahead(
    view: &View<'_>,
    cells: &Cells<'_>,
    configuration: usize,
    (app, metric): (&str, &str),
) -> Option<(f64, Vec<String>)> {
    let mut order: Vec<(&str, f64)> = view
        .plane
        .policies
        .iter()
        .filter_map(|p| Some((*p, view.index().get(configuration, p, app, metric)?.mean)))
        .collect();
    order.sort_by(|a, b| a.1.total_cmp(&b.1));
    let [(first, time), (next, later), ..] = order[..] else { return None };
    let found = cells.contrast((view.label(configuration), app), metric, [next, first]);
    let ratio = found.as_ref().and_then(|found| found.speedup);
    let written = ratio.map_or_else(|| "-".into(), Ratio::written);
    let p = probability(found.as_ref().and_then(|found| found.p));
    let verdict = plain(found.as_ref().map_or("undecided", |found| found.verdict.word()));
    let rest = [first.to_owned(), words::seconds(time), next.to_owned(), written, p, verdict];
    let effect = effect(ratio.map_or(later / time, |ratio| ratio.mean));
    Some((effect, view.row(named(app), configuration, rest)))
}

/// Every policy against the first one.
fn against(view: &View<'_>, first: &str) -> Grid {
    let places: BTreeMap<&str, usize> =
        view.plane.sweep().labels().enumerate().map(|(at, label)| (label, at)).collect();
    let of_policy = |c: &experiment::compare::Comparison| {
        let configuration = *places.get(c.configuration.as_str())?;
        let interval =
            c.ci95.map_or_else(|| "-".into(), |[lo, hi]| format!("{} to {}", number(lo), number(hi)));
        let rest =
            [named(&c.app).to_owned(), number(c.ratio), interval, probability(c.p), plain(c.verdict.word())];
        Some((effect(c.ratio), view.row(&c.policy, configuration, rest)))
    };
    let rows = sorted(view.results.comparisons.iter().filter_map(of_policy).collect());
    let rest = ["Application", "Times as fast", "95 % interval", "p", "Result"];
    Grid::new(&format!("Every policy against {first}"), view.head("Policy", &rest), rows)
}

/// The name of an application, or of all together.
fn named(app: &str) -> &str {
    if app == ALL_APPS { "all (makespan)" } else { app }
}

/// A verdict in plain words.
fn plain(verdict: &str) -> String {
    match verdict {
        "no difference" => "no clear difference".into(),
        "undecided" => "undecided".into(),
        other => other.into(),
    }
}

fn probability(p: Option<f64>) -> String {
    p.map_or_else(|| "-".into(), experiment::number::probability)
}
