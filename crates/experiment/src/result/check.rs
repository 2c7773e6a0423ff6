//! A result from a file: names as scenarios allow them, no invisible characters, and configurations that lie
//! on the axes of its sweep.

use notation::neutral::{first_invisible, is_invisible};
use scenario::configuration::{Setting, Settings};
use scenario::plan::Input;

use super::Results;
use crate::provenance::Provenance;

/// Longest name, in bytes: labels and names of copies are made of names of scenarios.
const MOST: usize = 256;

/// What a text may hold.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Form {
    /// Letters, digits, `_` and `-`.
    Name,
    /// Anything that can be seen, on one line.
    Line,
    /// The same on several lines.
    Text,
}

/// Checks the texts of a result that was put together from files, as those of a result file are.
///
/// # Errors
/// A half-sentence with the field of the first text that is wrong.
pub fn texts(results: &Results) -> Result<(), String> {
    provenance(results)?;
    for (at, cell) in results.cells.iter().enumerate() {
        let place = |field: &str| format!("cells[{at}].{field}");
        let names = [
            ("scenario", &cell.scenario),
            ("policy", &cell.policy),
            ("app", &cell.app),
            ("metric", &cell.metric),
        ];
        names.into_iter().try_for_each(|(field, text)| check(Form::Name, text, || place(field)))?;
        check(Form::Line, &cell.configuration, || place("configuration"))?;
        check(Form::Line, &cell.unit, || place("unit"))?;
        settings(&cell.settings, || place("settings"))?;
    }
    for (at, one) in results.comparisons.iter().enumerate() {
        let place = |field: &str| format!("comparisons[{at}].{field}");
        let names = [
            ("app", &one.app),
            ("metric", &one.metric),
            ("baseline", &one.baseline),
            ("policy", &one.policy),
        ];
        names.into_iter().try_for_each(|(field, text)| check(Form::Name, text, || place(field)))?;
        check(Form::Line, &one.configuration, || place("configuration"))?;
    }
    for (at, best) in results.best_partitions.iter().enumerate() {
        let place = |field: &str| format!("best_partitions[{at}].{field}");
        check(Form::Line, &best.configuration, || place("configuration"))?;
        best.cores.iter().try_for_each(|(app, _)| check(Form::Name, app, || place("cores")))?;
    }
    for (at, note) in results.notes.iter().enumerate() {
        let place = |field: &str| format!("notes[{at}].{field}");
        check(Form::Line, &note.configuration, || place("configuration"))?;
        check(Form::Name, &note.policy, || place("policy"))?;
        check(Form::Name, &note.outcome, || place("outcome"))?;
        check(Form::Text, &note.text, || place("text"))?;
    }
    for (at, replay) in results.replays.iter().enumerate() {
        let place = |field: &str| format!("replays[{at}].{field}");
        check(Form::Line, &replay.id.configuration, || place("configuration"))?;
        check(Form::Name, &replay.id.policy, || place("policy"))?;
        replay.id.app.iter().try_for_each(|app| check(Form::Name, app, || place("app")))?;
    }
    for (at, one) in results.counters.iter().enumerate() {
        let place = |field: &str| format!("counters[{at}].{field}");
        check(Form::Line, &one.configuration, || place("configuration"))?;
        check(Form::Name, &one.policy, || place("policy"))?;
        one.counters.keys().try_for_each(|name| check(Form::Name, name, || place("counters")))?;
    }
    let drawn = results.uncertainty.iter().flat_map(|uncertainty| &uncertainty.inputs);
    for (at, input) in drawn.enumerate() {
        let [low, high] = &input.range;
        let texts = [&input.machine, &input.name, low, high];
        let place = || format!("uncertainty.inputs[{at}]");
        texts.into_iter().try_for_each(|text| check(Form::Line, text, place))?;
    }
    Ok(())
}

/// Uncertain values of the header.
fn inputs(inputs: &[Input], field: &str) -> Result<(), String> {
    let texts = inputs.iter().flat_map(|input| [&input.name, &input.value, &input.low, &input.high]);
    texts.into_iter().try_for_each(|text| check(Form::Line, text, || format!("provenance.{field}")))
}

/// The header of the result.
fn provenance(results: &Results) -> Result<(), String> {
    let p = &results.provenance;
    let one = |form: Form, field: &str, text: &str| check(form, text, || format!("provenance.{field}"));
    let all = |form: Form, field: &str, texts: &[String]| {
        let each = texts.iter().enumerate();
        each.into_iter().try_for_each(|(at, text)| check(form, text, || format!("provenance.{field}[{at}]")))
    };
    one(Form::Name, "scenario", &p.scenario)?;
    one(Form::Text, "about", &p.about)?;
    let lines = [
        ("tool", &p.tool),
        ("version", &p.version),
        ("model", &p.model),
        ("generator", &p.generator),
        ("scenario_sha256", &p.scenario_sha256),
        ("digest", &p.digest),
    ];
    lines.into_iter().try_for_each(|(field, text)| one(Form::Line, field, text))?;
    p.replayed.iter().try_for_each(|text| one(Form::Line, "replayed", text))?;
    all(Form::Name, "policies", &p.policies)?;
    all(Form::Name, "apps", &p.apps)?;
    all(Form::Name, "background", &p.background)?;
    all(Form::Line, "stacks", &p.stacks)?;
    all(Form::Line, "kernels", &p.kernels)?;
    all(Form::Text, "overrides", &p.overrides)?;
    for (at, machine) in p.machines.iter().enumerate() {
        one(Form::Line, &format!("machines[{at}].name"), &machine.name)?;
        machine
            .topology
            .iter()
            .try_for_each(|text| one(Form::Line, &format!("machines[{at}].topology"), text))?;
        inputs(&machine.inputs, &format!("machines[{at}].inputs"))?;
    }
    inputs(&p.uncertain, "uncertain")?;
    for (at, setup) in p.setups.iter().enumerate() {
        one(Form::Name, &format!("setups[{at}].app"), &setup.app)?;
        one(Form::Line, &format!("setups[{at}].machine"), &setup.machine)?;
        all(Form::Name, &format!("setups[{at}].beside"), &setup.beside)?;
    }
    p.unused.iter().try_for_each(|unused| one(Form::Name, "unused", &unused.policy))?;
    p.shortened.iter().try_for_each(|one_of| one(Form::Name, "shortened", &one_of.app))?;
    for (at, axis) in p.sweep.iter().enumerate() {
        one(Form::Line, &format!("sweep[{at}].path"), &axis.path)?;
        one(Form::Line, &format!("sweep[{at}].unit"), &axis.unit)?;
        all(Form::Line, &format!("sweep[{at}].values"), &axis.values)?;
    }
    for (at, configuration) in p.configurations.iter().enumerate() {
        one(Form::Line, &format!("configurations[{at}].label"), &configuration.label)?;
        settings(&configuration.settings, || format!("provenance.configurations[{at}].settings"))?;
    }
    Ok(())
}

/// Each configuration has a place on each swept axis, and each place is one of the values of the axis. What
/// draws and sums up results relies on it.
///
/// # Errors
/// A half-sentence with the field that is wrong.
pub fn places(provenance: &Provenance) -> Result<(), String> {
    let axes = &provenance.sweep;
    for (at, configuration) in provenance.configurations.iter().enumerate() {
        let places = &configuration.places;
        if places.len() != axes.len() {
            return Err(format!(
                "`provenance.configurations[{at}].places` has length {}, and `provenance.sweep` has {} axes",
                places.len(),
                axes.len()
            ));
        }
        if let Some((place, axis)) =
            places.iter().zip(axes).find(|(place, axis)| **place >= axis.values.len())
        {
            return Err(format!(
                "`provenance.configurations[{at}].places` has {place} for {}, which has {} values",
                axis.path,
                axis.values.len()
            ));
        }
    }
    Ok(())
}

/// The paths and texts of settings.
fn settings(settings: &Settings, place: impl Fn() -> String) -> Result<(), String> {
    settings.0.iter().try_for_each(|(path, value)| {
        check(Form::Line, path, &place)?;
        match value {
            Setting::Text(text) => check(Form::Line, text, &place),
            Setting::Flag(_) | Setting::Number(_) => Ok(()),
        }
    })
}

/// One text; `place` makes the name of its field.
fn check(form: Form, text: &str, place: impl Fn() -> String) -> Result<(), String> {
    let hidden = match form {
        Form::Text => first_invisible(text).map(|(_, c)| c),
        Form::Name | Form::Line => text.chars().find(|c| is_invisible(*c)),
    };
    if let Some(c) = hidden {
        return Err(format!("`{}` contains the invisible character U+{:04X}", place(), u32::from(c)));
    }
    let fits = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    if form != Form::Name || (!text.is_empty() && text.len() <= MOST && text.chars().all(fits)) {
        return Ok(());
    }
    Err(format!("`{}` is `{text}`: a name has letters, digits, `_` and `-` only", place()))
}

#[cfg(test)]
mod tests {
    use crate::result::{fixture, read};

    #[test]
    fn the_field_of_a_bad_text_is_named() {
        let good = serde_json::to_string(&fixture::two_apps()).unwrap();
        for (from, to, field) in [
            (
                "\"policy\":\"PIN\",\"app\":\"cg\"",
                "\"policy\":\"PIN\",\"app\":\"=A1\"",
                "`=A1`: a name has letters",
            ),
            (
                "\"apps\":[\"cg\"",
                "\"apps\":[\"\\u001b[31mX\"",
                "`provenance.apps[0]` contains the invisible character U+001B",
            ),
            ("\"scenario\":\"share\"", "\"scenario\":\"<b>\"", "`provenance.scenario` is `<b>`"),
            (
                "\"label\":\"threads",
                "\"label\":\"\\u202ethreads",
                "`provenance.configurations[0].label` contains",
            ),
        ] {
            assert!(good.contains(from), "{good}");
            let said = read("r.json", &good.replacen(from, to, 1)).unwrap_err();
            assert!(said.starts_with("r.json: ") && said.contains(field), "{said}");
        }
    }
}
