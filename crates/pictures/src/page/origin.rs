//! Where the page comes from, and how to make it again.

use experiment::result::Results;
use maud::{Markup, html};

use super::{Grid, Story, strings};

/// A tab of a scenario's text, as errors about it show one.
const TAB: &str = "    ";

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

/// Provenance, the command and the scenario.
pub(super) fn origin(story: &Story<'_>) -> Markup {
    let p = &story.results.provenance;
    let overrides = if p.overrides.is_empty() { "none".to_owned() } else { p.overrides.join(" ") };
    let rows = [
        ("Program", format!("{} {}", p.tool, p.version)),
        ("Model", p.model.clone()),
        ("Random numbers", p.generator.clone()),
        ("Scenario, SHA-256", p.scenario_sha256.clone()),
        ("Changes by the command line", overrides),
        ("Result, SHA-256 of all runs", p.digest.clone()),
        ("Form of results", story.results.schema.clone()),
    ];
    html! {
        p { "The same scenario, changes and version give the same bytes on every machine. This command \
            makes the page again:" }
        pre { code { (story.command) } }
        dl class="facts" { @for (name, value) in &rows { dt { (name) } dd { (value) } } }
        details {
            summary { "The scenario: " (story.file) }
            pre { code { (story.experiment.scenario_text.replace('\t', TAB)) } }
        }
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
    let rows: Vec<Vec<String>> = results.notes.iter().map(row).collect();
    let head = strings(&["Policy", "Configuration", "Seed", "Outcome", "What happened"]);
    html! {
        p { strong { (rows.len()) " of " (results.provenance.runs) " runs did not complete and count in no \
            number." } }
        (Grid::new("Runs that did not complete", head, rows).markup())
    }
}
