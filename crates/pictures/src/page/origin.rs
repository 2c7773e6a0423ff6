//! Where the page comes from, and how to make it again.

use experiment::number;
use experiment::result::Results;
use maud::{Markup, html};

use super::{Grid, strings};

/// A tab of a scenario's text, as errors about it show one.
const TAB: &str = "    ";

/// Most runs that did not complete on a page.
const MOST_NOTES: usize = 400;
/// Most counters of policies on a page.
const MOST_COUNTERS: usize = 400;

/// Who made it.
pub(super) fn line(results: &Results) -> String {
    let p = &results.provenance;
    format!(
        "{} {} ({}), {} runs, digest {}",
        p.tool,
        p.version,
        p.model,
        p.runs,
        p.digest.get(..16).unwrap_or(&p.digest)
    )
}

/// Provenance, the command, and the scenario with its name.
pub(super) fn origin(results: &Results, command: &str, (file, scenario): (&str, &str)) -> Markup {
    let p = &results.provenance;
    let overrides = if p.overrides.is_empty() { "none".to_owned() } else { p.overrides.join(" ") };
    let rows = [
        ("Program", format!("{} {}", p.tool, p.version)),
        ("Model", p.model.clone()),
        ("Random numbers", p.generator.clone()),
        ("Scenario, SHA-256", p.scenario_sha256.clone()),
        ("Changes by the command line", overrides),
        ("Result, SHA-256 of all runs", p.digest.clone()),
        ("Form of results", results.schema.clone()),
    ];
    html! {
        p { "The same scenario, changes and version give the same bytes on every machine. This command \
            makes the page again:" }
        pre { code { (command) } }
        dl class="facts" { @for (name, value) in &rows { dt { (name) } dd { (value) } } }
        details {
            summary { "The scenario: " (file) }
            pre { code { (scenario.replace('\t', TAB)) } }
        }
    }
}

/// What the policies have counted themselves.
pub(super) fn counters(results: &Results) -> Markup {
    let all = results.counter_means();
    let rows = all.iter().flat_map(|one| {
        let configuration = if one.configuration.is_empty() { "-" } else { &one.configuration };
        one.means.iter().map(move |(name, mean)| {
            vec![one.policy.clone(), configuration.to_owned(), name.clone(), number::count(*mean)]
        })
    });
    let rows: Vec<Vec<String>> = rows.take(MOST_COUNTERS).collect();
    let head = strings(&["Policy", "Configuration", "Counter", "Mean"]);
    let many = all.iter().map(|one| one.means.len()).sum::<usize>();
    html! {
        p { "Counters that the policies keep themselves: the mean over the runs of each." }
        @if many > MOST_COUNTERS { p { "The first " (MOST_COUNTERS) " of " (many) ":" } }
        (Grid::new("Counters of policies", head, rows).markup())
    }
}

/// Runs that did not complete.
pub(super) fn notes(results: &Results) -> Markup {
    let row = |note: &experiment::result::Note| {
        let configuration =
            if note.configuration.is_empty() { "-".to_owned() } else { note.configuration.clone() };
        vec![
            note.policy.clone(),
            configuration,
            note.seed.to_string(),
            note.outcome.clone(),
            note.text.clone(),
        ]
    };
    let rows: Vec<Vec<String>> = results.notes.iter().take(MOST_NOTES).map(row).collect();
    let head = strings(&["Policy", "Configuration", "Seed", "Outcome", "What happened"]);
    html! {
        p { strong {
            (results.notes.len()) " of " (results.provenance.runs) " runs did not complete and count in no \
                number."
        } }
        @if results.notes.len() > MOST_NOTES { p { "The first " (MOST_NOTES) " of them:" } }
        (Grid::new("Runs that did not complete", head, rows).markup())
    }
}
