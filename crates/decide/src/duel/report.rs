//! What a duel found as text, Markdown and JSON.

use std::fmt::Write;

use experiment::number;

use super::answer::Duel;

/// The sentence of the answer.
fn answer(duel: &Duel) -> String {
    let [a, b] = &duel.policies;
    let [low, high] = duel.ci95;
    let what = match (duel.app.as_str(), duel.metric) {
        ("all", "makespan") => String::new(),
        ("all", metric) => format!(", by the {} of all programs", metric.replace('_', " ")),
        (app, metric) => format!(", by the {} of `{app}`", metric.replace('_', " ")),
    };
    let [x, y] = duel.values.map(|values| number::short_seconds(values.mean));
    format!(
        "{a} takes {:.2} times as long as {b} in this scenario{what}: {x} against {y}, on {} seeds that the \
         search did not see (95 % interval of the ratio {low:.2} to {high:.2}; in the worst seed of \
         the search {:.2}).",
        duel.ratio, duel.seeds, duel.searched
    )
}

/// How it was found.
fn effort(duel: &Duel) -> String {
    let mut text =
        format!("Search: {} runs of {}", duel.runs, number::plural(duel.tried, "scenario", "scenarios"));
    if duel.refused > 0 {
        let _ = write!(text, ", of which {} suit only one of the policies", duel.refused);
    }
    if duel.without_end > 0 {
        let _ = write!(
            text,
            "; in {} more {} did not end and {} did",
            duel.without_end, duel.policies[0], duel.policies[1]
        );
    }
    text.push('.');
    if !duel.reduced {
        text.push_str(
            " The runs ended before the reduction: with more of them (--runs) it may become smaller.",
        );
    }
    text
}

/// The policies as `--policy` names them in the scenario.
fn labels(duel: &Duel) -> String {
    let labels = super::case::policies([&duel.policies[0], &duel.policies[1]]).map(|item| {
        let label = item.split_once(" as: ").map(|(_, label)| label);
        let name = item.trim_start_matches(['{', ' ']);
        let word = |text: &str| -> String {
            text.chars().take_while(|c| c.is_ascii_alphanumeric() || *c == '_' || *c == '-').collect()
        };
        let stacked = item.split_once("over: ").map(|(_, under)| format!("-over-{}", word(under)));
        match label {
            Some(label) => word(label),
            None => word(name) + &stacked.unwrap_or_default(),
        }
    });
    labels.join(",")
}

/// The command that shows both runs.
fn command(duel: &Duel, file: &str) -> String {
    format!("oversim timeline {file} --policy {}", labels(duel))
}

/// Text of at most `width` columns. `reason`: what makes the difference. `file`: where the scenario is;
/// without it, the scenario follows.
#[must_use]
pub fn text(duel: &Duel, reason: Option<&str>, file: Option<&str>, width: usize) -> String {
    let mut out = String::new();
    let reason = reason.map(|reason| format!("What makes it: {reason}."));
    for part in [Some(answer(duel)), reason, Some(effort(duel))].into_iter().flatten() {
        for line in notation::text::wrapped(&part, width) {
            let _ = writeln!(out, "{line}");
        }
    }
    let _ = writeln!(out, "\nSee both: {}", command(duel, file.unwrap_or("lost.yaml")));
    if file.is_none() {
        let _ = writeln!(out, "\n# lost.yaml\n{}", duel.scenario.trim_end());
    }
    notation::neutral::lines(&out).into_owned()
}

/// Markdown.
#[must_use]
pub fn markdown(duel: &Duel, reason: Option<&str>, file: Option<&str>) -> String {
    let mut out = format!("{}\n", answer(duel));
    if let Some(reason) = reason {
        let _ = writeln!(out, "\nWhat makes it: {reason}.");
    }
    let _ = writeln!(
        out,
        "\n{}\n\n```console\n$ {}\n```",
        effort(duel),
        command(duel, file.unwrap_or("lost.yaml"))
    );
    if file.is_none() {
        let _ = writeln!(out, "\n```yaml\n{}\n```", duel.scenario.trim_end());
    }
    notation::neutral::lines(&out).into_owned()
}

/// JSON with everything.
#[must_use]
pub fn json(duel: &Duel, reason: Option<&str>, file: Option<&str>) -> String {
    #[derive(serde::Serialize)]
    struct Whole<'a> {
        #[serde(flatten)]
        duel: &'a Duel,
        reason: Option<&'a str>,
        timeline: String,
    }
    let whole = Whole { duel, reason, timeline: command(duel, file.unwrap_or("lost.yaml")) };
    // Numbers and strings only: this cannot fail.
    serde_json::to_string_pretty(&whole).map_or_else(|error| error.to_string(), |text| text + "\n")
}

/// JSON where no loss was found.
#[must_use]
pub fn json_nothing(why: &str) -> String {
    format!("{:#}\n", serde_json::json!({ "found": null, "why": why }))
}
