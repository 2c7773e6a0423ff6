//! The answer, what limits it, all cases from the best to the worst, and what the numbers of each
//! configuration show.

use experiment::number::ratio;
use experiment::statements::ranking::Standing;
use experiment::statements::table::{error, mean};
use experiment::statements::{self, Extremes};
use maud::{Markup, html};

use super::Grid;
use super::view::View;

/// More cases than this are folded.
const OPEN: usize = 24;

/// The section.
pub(super) fn answer(view: &View<'_>) -> Markup {
    let Some(extremes) = &view.extremes else {
        return html! { p { (statements::answer::nothing(view.results)) } };
    };
    let answer = statements::answer::said(view.index(), extremes);
    let doubts = statements::doubts::doubts(view.index(), Some(extremes));
    let cases = cases(view, extremes);
    html! {
        dl class="facts" {
            @for said in &answer { dt { (said.label) } dd { (said.text) } }
            @for doubt in &doubts { dt { "Doubt" } dd { (doubt) } }
        }
        @if cases.rows.len() > OPEN {
            details { summary { "All " (cases.rows.len()) " cases, the best first" } (cases.markup()) }
        } @else if cases.rows.len() > 1 { (cases.markup()) }
        (sentences(view))
    }
}

/// Every policy at every configuration. The best comes first, or the best of each configuration where these
/// cannot be compared.
fn cases(view: &View<'_>, extremes: &Extremes<'_>) -> Grid {
    let goal = &extremes.goal;
    let mut all: Vec<&Standing<'_>> =
        view.configurations.iter().flat_map(|at| &extremes.rankings[*at]).collect();
    if extremes.comparable {
        all.sort_by(|a, b| goal.order(a.value, b.value));
    }
    let longest = all.iter().map(|standing| standing.value.mean).fold(0.0, f64::max);
    let (unit, length) = goal.unit(longest);
    let measure = match goal.metric {
        "throughput" => "Throughput, % of sequential runs".to_owned(),
        _ if unit.is_empty() => goal.title(),
        _ => format!("{}, {unit}", goal.title()),
    };
    let apps: Vec<&str> = view.results.foreground().collect();
    let apps: Vec<&str> = if view.plane.measures("slowdown") { apps } else { Vec::new() };
    let slowdowns: Vec<String> = apps.iter().map(|app| format!("Slowdown of {app}")).collect();
    let rest: Vec<&str> =
        std::iter::once(measure.as_str()).chain(slowdowns.iter().map(String::as_str)).collect();
    let rows = all.iter().map(|standing| {
        let value = format!("{} {}", mean(standing.value, length), error(standing.value, length));
        let slowdown = |app: &&str| {
            let found = view.index().get(standing.configuration, standing.policy, app, "slowdown");
            found.map_or_else(|| "-".to_owned(), |summary| ratio(summary.mean))
        };
        let rest = std::iter::once(value.trim_end().to_owned()).chain(apps.iter().map(slowdown));
        view.row(standing.policy, standing.configuration, rest)
    });
    let caption = if extremes.comparable { "All cases, the best first" } else { "All cases" };
    Grid::new(caption, view.head("Policy", &rest), rows.collect())
}

/// What the numbers of each configuration show.
fn sentences(view: &View<'_>) -> Markup {
    let each = view.configurations.iter().map(|at| (*at, statements::each::at(view.index(), *at)));
    let shown: Vec<(usize, Vec<String>)> = each.filter(|(_, sentences)| !sentences.is_empty()).collect();
    html! {
        @if !shown.is_empty() {
            details {
                summary { "Each program in sentences" }
                @for (at, sentences) in &shown {
                    @if shown.len() > 1 { p { strong { (view.plane.sweep().short(*at)) } } }
                    ul class="answers" { @for sentence in sentences { li { (sentence) } } }
                }
            }
        }
    }
}
