//! Reads results from their JSON form, and reports what is wrong with other files.

use notation::neutral;
use serde::Deserialize;

use super::{Results, SCHEMA, check};

/// What names of schemas of results begin with.
const FAMILY: &str = "oversim.result/";

/// What every result begins with.
#[derive(Deserialize)]
struct Head {
    schema: Option<String>,
}

/// Whether a text is a result rather than a scenario: one JSON object that names its schema. It may still be
/// of another version.
#[must_use]
pub fn is_result(text: &str) -> bool {
    text.trim_start().starts_with('{')
        && serde_json::from_str::<Head>(text).is_ok_and(|head| head.schema.is_some())
}

/// Reads a result in the JSON form of this version.
///
/// # Errors
/// A sentence that names the file, where it is wrong, and what would be right.
pub fn read(name: &str, text: &str) -> Result<Results, String> {
    understood(name, text).map_err(|wrong| neutral::lines(&wrong).into_owned())
}

fn understood(name: &str, text: &str) -> Result<Results, String> {
    let wanted = "`oversim run SCENARIO --format json` prints a result";
    let head: Head = serde_json::from_str(text)
        .map_err(|e| format!("{} is not a JSON object: {e}; {wanted}", at(name, &e)))?;
    let results: Results = match head.schema.as_deref() {
        Some(SCHEMA) => {
            serde_json::from_str(text).map_err(|e| format!("{} is not an `{SCHEMA}`: {e}", at(name, &e)))?
        }
        Some(other) if other.starts_with(FAMILY) => {
            return Err(format!(
                "{name} is an `{other}` of another version of oversim. This one reads `{SCHEMA}`: run its \
                    scenario again"
            ));
        }
        Some(other) => return Err(format!("{name} is an `{other}` and not a result: {wanted}")),
        None => return Err(format!("{name} is not a result, because it has no `schema`: {wanted}")),
    };
    check::texts(&results).map_err(|wrong| format!("{name}: {wrong}"))?;
    counts(&results).map_err(|wrong| format!("{name}: {wrong}"))?;
    check::places(&results.provenance).map_err(|wrong| format!("{name}: {wrong}"))?;
    Ok(results)
}

/// What has to be there as often as something else.
fn counts(results: &Results) -> Result<(), String> {
    let repeat = results.provenance.repeat as usize;
    let broken = results.cells.iter().find(|cell| !cell.values.is_empty() && cell.values.len() != repeat);
    if let Some(cell) = broken {
        return Err(format!(
            "the cell of {} of {} under {} has {} values for {repeat} replicates",
            cell.metric,
            cell.app,
            cell.policy,
            cell.values.len()
        ));
    }
    for axis in &results.provenance.sweep {
        let (values, numbers) = (axis.values.len(), axis.numbers.as_ref().map(Vec::len));
        if let Some(numbers) = numbers.filter(|numbers| *numbers != values) {
            return Err(format!(
                "`numbers` of the swept {} has length {numbers}, `values` has length {values}",
                axis.path
            ));
        }
    }
    Ok(())
}

/// File, line and column.
fn at(name: &str, error: &serde_json::Error) -> String {
    format!("{name}:{}:{}", error.line().max(1), error.column().max(1))
}

#[cfg(test)]
mod tests {
    use super::*;
    use scenario::configuration::Axis;

    use crate::result::fixture;

    #[test]
    fn what_was_written_is_read_and_everything_else_is_refused() {
        let results = fixture::two_apps();
        let text = serde_json::to_string_pretty(&results).unwrap();
        assert!(is_result(&text));
        assert_eq!(read("r.json", &text).unwrap(), results);
        let refused = |text: &str| read("r.json", text).unwrap_err();
        assert!(refused("name: x\n").starts_with("r.json:1:"));
        assert!(refused("{}").contains("has no `schema`"));
        assert!(refused("{\"schema\": \"x/1\"}").contains("`x/1` and not a result"));
        for version in ["oversim.result/1", "oversim.result/2"] {
            let older = text.replace(SCHEMA, version);
            assert!(is_result(&older));
            assert!(refused(&older).contains("run its scenario again"));
        }
        let broken = text.replacen("\"repeat\": 3", "\"repeat\": \"x\"", 1);
        assert!(refused(&broken).contains("invalid type: string"), "{}", refused(&broken));
        let short = text.replacen("\"repeat\": 3", "\"repeat\": 4", 1);
        assert!(refused(&short).contains("3 values for 4 replicates"));
        let mut uneven = results;
        let values = vec!["1".to_owned(), "2".to_owned()];
        let axis =
            Axis { path: "threads_per_core".into(), unit: String::new(), values, numbers: Some(vec![1.0]) };
        uneven.provenance.sweep.push(axis);
        let uneven = serde_json::to_string(&uneven).unwrap();
        assert!(
            refused(&uneven)
                .contains("`numbers` of the swept threads_per_core has length 1, `values` has length 2")
        );
    }

    #[test]
    fn places_that_are_not_on_the_axes_are_refused() {
        let axis = |path: &str| Axis {
            path: path.into(),
            unit: String::new(),
            values: vec!["1".to_owned(), "2".to_owned()],
            numbers: Some(vec![1.0, 2.0]),
        };
        let mut results = fixture::two_apps();
        results.provenance.sweep = vec![axis("threads_per_core"), axis("repeat")];
        for configuration in &mut results.provenance.configurations {
            configuration.places = vec![1, 0];
        }
        let said = |results: &Results| read("r.json", &serde_json::to_string(results).unwrap());
        assert!(said(&results).is_ok(), "{:?}", said(&results));
        for (places, wrong) in [
            (vec![1, 2], "`provenance.configurations[0].places` has 2 for repeat, which has 2 values"),
            (
                vec![1],
                "`provenance.configurations[0].places` has length 1, and `provenance.sweep` has 2 axes",
            ),
            (vec![0, 0, 0], "has length 3, and `provenance.sweep` has 2 axes"),
        ] {
            results.provenance.configurations[0].places = places;
            assert!(said(&results).unwrap_err().contains(wrong), "{:?}", said(&results));
        }
    }

    #[test]
    fn scenarios_are_no_results() {
        assert!(!is_result("name: x\nmachine: barcelona\n"));
        assert!(!is_result("{name: x, machine: barcelona}"));
    }
}
