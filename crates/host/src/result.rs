//! The result of a measurement: predicted beside measured, as JSON.

use std::collections::BTreeMap;
use std::fmt;

use notation::neutral;
use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::facts::Host;
use crate::memory::Bandwidth;
use crate::statistics::Sample;

/// Name and version of the form of results.
pub const SCHEMA: &str = "oversim.measurement/1";
/// Stands for the machine in archived scenarios.
pub const MACHINE: &str = "MACHINE";
/// A prediction whose error is at most this is near.
pub const NEAR: f64 = 0.10;

/// A measurement.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Measurement {
    /// Name and version of this form.
    pub schema: String,
    /// Version of oversim and of its model.
    pub version: String,
    /// SHA-256 of the predictions that were made before the first run ([`crate::predictions`]); none in files
    /// of earlier versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub predictions: Option<String>,
    /// When it began, UTC, as in RFC 3339.
    pub date: String,
    /// The host that executed it.
    pub host: Host,
    /// Name of the machine that was simulated.
    pub machine: String,
    /// How it was executed, in sentences.
    pub protocol: Vec<String>,
    /// Runs wanted for each cell.
    pub repeat: u32,
    /// Iterations of the counted loop per nanosecond: the median over all runs.
    pub rate: f64,
    /// Runs that were executed, the disturbed ones included.
    pub runs: usize,
    /// Runs that others, steal or a change of speed disturbed.
    pub disturbed: usize,
    /// Who used the host meanwhile, if anyone did (`--force`): a sentence without full stop.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub disturbed_by: Option<String>,
    /// The scenarios of the suite by kind and name, with [`MACHINE`] in place of the machine: they can be
    /// predicted again. Empty for other scenarios.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub scenarios: BTreeMap<String, String>,
    /// One entry for each application in the foreground of each configuration and policy.
    pub cells: Vec<Cell>,
}

/// An application of a run under a policy.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Place {
    /// Kind of cell in the suite; the name of the scenario otherwise.
    pub kind: String,
    /// Name of the scenario.
    pub scenario: String,
    /// Configuration of the sweep; empty without one.
    pub configuration: String,
    /// Label of the policy.
    pub policy: String,
    /// Name of the application.
    pub app: String,
}

impl fmt::Display for Place {
    /// Scenario, configuration, policy and application, in words.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let parts = [&self.scenario, &self.configuration, &self.policy, &self.app];
        let parts: Vec<&str> =
            parts.into_iter().map(String::as_str).filter(|part| !part.is_empty()).collect();
        f.write_str(&parts.join(" "))
    }
}

/// Predicted and measured run times of one application.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Cell {
    /// Where it belongs.
    #[serde(flatten)]
    pub place: Place,
    /// Simulated run times, over seeds.
    pub predicted: Sample,
    /// Measured run times, over undisturbed runs.
    pub measured: Sample,
    /// Run time in nanoseconds if all runnable threads got their fair share of the cpus at no cost.
    pub fair_share: f64,
    /// Predicted median over measured median, minus 1.
    pub error: f64,
    /// How near the prediction is.
    pub verdict: Verdict,
    /// Runs that were disturbed and repeated.
    pub disturbed: u32,
    /// Fewer undisturbed runs than wanted, or a wide spread: disturbed runs are among the values.
    pub uncertain: bool,
    /// What cores read alone and together beside these runs, the medians; none if no program reads memory.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memory: Option<Bandwidth>,
}

/// How near a prediction is.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Verdict {
    /// The measured median lies between the smallest and the largest predicted value.
    Inside,
    /// The error is at most 10 %.
    Near,
    /// Neither.
    Off,
}

impl Verdict {
    /// The verdict on a prediction.
    #[must_use]
    pub fn of(predicted: &Sample, measured: &Sample) -> Self {
        if predicted.holds(measured.median) {
            Self::Inside
        } else if error(predicted, measured).abs() <= NEAR {
            Self::Near
        } else {
            Self::Off
        }
    }

    /// Its words in reports.
    #[must_use]
    pub const fn words(self) -> &'static str {
        match self {
            Self::Inside => "inside",
            Self::Near => "within 10 %",
            Self::Off => "off",
        }
    }
}

/// Predicted median over measured median, minus 1.
#[must_use]
pub fn error(predicted: &Sample, measured: &Sample) -> f64 {
    if measured.median > 0.0 { predicted.median / measured.median - 1.0 } else { 0.0 }
}

impl Cell {
    /// Replaces the prediction.
    pub(crate) fn predict(&mut self, predicted: Sample, fair_share: f64) {
        self.error = error(&predicted, &self.measured);
        self.verdict = Verdict::of(&predicted, &self.measured);
        (self.predicted, self.fair_share) = (predicted, fair_share);
    }
}

impl Measurement {
    /// Whether every cell is within this tolerance (0.1 is 10 %) or inside the predicted spread.
    #[must_use]
    pub fn within(&self, tolerance: f64) -> bool {
        self.cells.iter().all(|cell| cell.verdict == Verdict::Inside || cell.error.abs() <= tolerance)
    }

    /// As JSON text with a line break at its end.
    ///
    /// # Errors
    /// A sentence.
    pub fn json(&self) -> Result<String, String> {
        serde_json::to_string_pretty(self).map(|text| text + "\n").map_err(|e| e.to_string())
    }

    /// Reads a measurement; `name` is the name of the file.
    ///
    /// # Errors
    /// A sentence with the line.
    pub fn read(name: &str, text: &str) -> Result<Self, String> {
        Self::understood(text).map_err(|why| neutral::line(&format!("{name}: {why}")).into_owned())
    }

    fn understood(text: &str) -> Result<Self, String> {
        let read: Self = serde_json::from_str(text).map_err(|e| e.to_string())?;
        if read.schema != SCHEMA {
            return Err(format!("`schema` is `{}`, and this version reads `{SCHEMA}`", read.schema));
        }
        let value: Value = serde_json::from_str(text).map_err(|e| e.to_string())?;
        match invisible(&value) {
            Some(c) => Err(format!("the invisible character U+{:04X} in a text", u32::from(c))),
            None => Ok(read),
        }
    }
}

/// The first invisible character in a key or text; reports repeat them.
fn invisible(value: &Value) -> Option<char> {
    let of = |text: &str| neutral::first_invisible(text).map(|(_, c)| c);
    match value {
        Value::String(text) => of(text),
        Value::Array(items) => items.iter().find_map(invisible),
        Value::Object(entries) => {
            entries.iter().find_map(|(key, value)| of(key).or_else(|| invisible(value)))
        }
        _ => None,
    }
}

/// The JSON Schema (draft-07) of a measurement.
#[must_use]
pub fn schema() -> Value {
    let mut schema = SchemaSettings::draft07().into_generator().into_root_schema_for::<Measurement>();
    schema.insert("title".into(), json!("oversim measurement"));
    let mut schema = schema.to_value();
    if let Some(name) = schema.pointer_mut("/properties/schema") {
        *name = json!({ "const": SCHEMA, "description": "Name and version of this form." });
    }
    schema
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample(values: &[f64]) -> Sample {
        Sample::of(values.to_vec()).unwrap()
    }

    #[test]
    fn verdicts() {
        let of = |predicted: &[f64], measured: f64| Verdict::of(&sample(predicted), &sample(&[measured]));
        assert_eq!(of(&[90.0, 150.0, 91.0], 120.0), Verdict::Inside);
        assert_eq!(of(&[100.0, 101.0], 109.0), Verdict::Near);
        assert_eq!(of(&[100.0, 101.0], 120.0), Verdict::Off);
    }

    #[test]
    fn a_measurement_of_another_version_is_refused() {
        let text = r#"{"schema":"oversim.measurement/9","version":"","date":"","host":{"cpus":1,"release":"",
            "processor":"","autogroup":false,"virtual_machine":false},"machine":"","protocol":[],"repeat":1,
            "rate":1.0,"runs":0,"disturbed":0,"cells":[]}"#;
        assert!(Measurement::read("m.json", text).unwrap_err().contains("oversim.measurement/1"));
        assert!(Measurement::read("m.json", "{").unwrap_err().contains("line 1"));
        assert!(!Measurement::read("m.json", "{\"\u{1b}[31m").unwrap_err().contains('\u{1b}'));
        let right = text.replace("/9", "/1");
        let coloured = right.replace("\"release\":\"\"", "\"release\":\"\\u001b[31m\"");
        assert!(Measurement::read("m.json", &coloured).unwrap_err().contains("U+001B"));
        assert!(Measurement::read("m.json", &right).unwrap().within(0.0));
    }
}
