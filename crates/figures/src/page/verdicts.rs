//! Who wins, by how much, and how sure that is.

use experiment::compare::contrast::{self, Contrast, Named, Wanted};
use experiment::metrics::ALL_APPS;
use experiment::result::Results;
use experiment::statements::{self, Extremes};
use maud::{Markup, html};

use super::{at_configuration, head, row, strings, table};
use crate::words::{self, cell, number};

/// The answer, doubts, and what the numbers of each configuration show.
pub(super) fn answers(results: &Results) -> Markup {
    let index = statements::Table::of(results);
    let extremes = Extremes::of(&index);
    let lines = extremes.as_ref().map(|extremes| statements::answer::lines(&index, extremes));
    let doubts = statements::doubts::doubts(&index, extremes.as_ref());
    html! {
        @match &lines {
            None => p { "Nothing was measured: no run completed." },
            Some(lines) => dl class="facts" {
                @for line in lines { dt { (line.label) } dd { (line.text) } }
                @for doubt in &doubts { dt { "Doubt" } dd { (doubt) } }
            }
        }
        @for (at, configuration) in results.provenance.configurations.iter().enumerate() {
            @let sentences = statements::each::at(&index, at);
            @if !sentences.is_empty() {
                details {
                    summary { @if configuration.label.is_empty() { "In detail" } @else { (configuration.label) } }
                    ul class="answers" { @for sentence in &sentences { li { (sentence) } } }
                }
            }
        }
    }
}

/// The winner of each application at each configuration, and every policy against the first one.
pub(super) fn comparisons(results: &Results) -> Markup {
    let winners = winners(results);
    let configurations = results.provenance.configurations.len();
    html! {
        @if winners.is_empty() {
            p { "There is only one policy, or none completed: nothing to compare." }
        } @else {
            p {
                "The first in mean time, and how far ahead of the next one. Both ran the same random work with each seed, so they are compared pair by pair; "
                "p is the probability of a difference at least as large if there were none (paired t-test), and below 0.05 a difference counts as real."
            }
            @let names = ["Application", "Configuration", "First", "Time", "Next", "Times faster", "p", "Verdict"];
            (table("Who comes first", &head(&names, configurations), &winners))
        }
        @if let Some(first) = results.comparisons.first() {
            @let names = ["Policy", "Configuration", "Application", "Times faster", "95 % interval", "p", "Verdict"];
            (table(&format!("Every policy against {}", first.baseline), &head(&names, configurations), &against_first(results)))
        }
    }
}

fn winners(results: &Results) -> Vec<Vec<String>> {
    let apps: Vec<&str> = results.foreground().collect();
    let whole = if apps.len() > 1 { Some((ALL_APPS, "makespan")) } else { None };
    let what: Vec<(&str, &str)> = apps.into_iter().map(|app| (app, "run_time")).chain(whole).collect();
    let mut rows = Vec::new();
    for configuration in results.provenance.configurations.iter().map(|c| c.label.as_str()) {
        for (app, metric) in &what {
            rows.extend(winner(results, configuration, app, metric));
        }
    }
    rows
}

/// First and second of an application at a configuration.
fn winner(results: &Results, configuration: &str, app: &str, metric: &str) -> Option<Vec<String>> {
    let mut order: Vec<(&String, f64)> = results
        .provenance
        .policies
        .iter()
        .filter_map(|policy| Some((policy, cell(results, configuration, policy, app, metric)?.summary.mean)))
        .collect();
    order.sort_by(|a, b| a.1.total_cmp(&b.1));
    let [(first, time), (next, _), ..] = order[..] else { return None };
    let found = contrasted(results, configuration, app, metric, next, first);
    let (ratio, p, verdict) = match &found {
        Some(found) => (
            found.speedup.map_or_else(|| "-".into(), |ratio| factor(ratio.mean, ratio.half_width())),
            probability(found.p),
            verdict(found),
        ),
        None => ("-".into(), "-".into(), "undecided".into()),
    };
    let app = if app == ALL_APPS { "all (makespan)" } else { app };
    let rest = [first.clone(), words::seconds(time), next.clone(), ratio, p, verdict];
    Some(row(app, configuration, rest, results.provenance.configurations.len()))
}

/// The comparison of two policies, pair by pair.
fn contrasted(
    results: &Results,
    configuration: &str,
    app: &str,
    metric: &str,
    a: &str,
    b: &str,
) -> Option<Contrast> {
    let wanted = Wanted { policies: strings(&[a, b]), metrics: strings(&[metric]), threshold: 0.0 };
    let all = contrast::policies(Named { file: "result", results }, &wanted).ok()?;
    all.contrasts
        .into_iter()
        .find(|c| c.configuration == configuration && c.app == app && c.metric == metric && c.policy_b == b)
}

fn verdict(found: &Contrast) -> String {
    match found.verdict.word() {
        "faster" => "ahead".into(),
        "no difference" => "level".into(),
        other => other.into(),
    }
}

fn factor(mean: f64, half: Option<f64>) -> String {
    half.map_or_else(|| number(mean), |half| format!("{} \u{b1} {}", number(mean), number(half)))
}

fn probability(p: Option<f64>) -> String {
    match p {
        None => "-".into(),
        Some(p) if p < 0.001 => "< 0.001".into(),
        Some(p) => format!("{p:.3}"),
    }
}

fn against_first(results: &Results) -> Vec<Vec<String>> {
    let of_policy = |c: &experiment::compare::Comparison| {
        let interval =
            c.ci95.map_or_else(|| "-".into(), |[lo, hi]| format!("{} to {}", number(lo), number(hi)));
        let app = if c.app == ALL_APPS { "all (makespan)".to_owned() } else { c.app.clone() };
        let verdict = c.verdict.word().to_owned();
        let rest = [app, number(c.ratio), interval, probability(c.p), verdict];
        row(&c.policy, &c.configuration, rest, results.provenance.configurations.len())
    };
    results.comparisons.iter().map(of_policy).collect()
}

/// Used by the captions of tables.
pub(super) fn caption(what: &str, configuration: &str) -> String {
    format!("{what}{}", at_configuration(configuration))
}
