//! Predictions without measurements: what a run of the host will be compared with, and their hash, which
//! can be published before anything is measured.

use std::fmt::Write as _;

use experiment::provenance::sha256;
use notation::neutral;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::facts::Others;
use crate::result::Place;
use crate::statistics::Sample;
use crate::text;

/// Name and version of the form of predictions.
pub const SCHEMA: &str = "oversim.prediction/1";

/// All predictions of a measurement.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Predictions {
    /// Name and version of this form.
    pub schema: String,
    /// Version of oversim and of its model.
    pub version: String,
    /// Name of the machine that was simulated.
    pub machine: String,
    /// Runs of each cell that will be measured.
    pub repeat: u32,
    /// What other tasks do on each cpu of the host, as it was looked at.
    pub others: Vec<Others>,
    /// One entry for each application in the foreground of each configuration and policy.
    pub cells: Vec<Predicted>,
}

/// The predicted run times of one application.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Predicted {
    /// Where it belongs.
    #[serde(flatten)]
    pub place: Place,
    /// Simulated run times, over seeds.
    pub predicted: Sample,
    /// Run time in nanoseconds if all runnable threads got their fair share of the cpus at no cost.
    pub fair_share: f64,
    /// A program of the run reads memory: the measurement predicts it again with the bandwidth that it finds
    /// beside each run.
    pub reads_memory: bool,
}

impl Predictions {
    /// Reads predictions; `name` is the name of the file.
    ///
    /// # Errors
    /// A sentence.
    pub fn read(name: &str, text: &str) -> Result<Self, String> {
        let read: Self = serde_json::from_str(text)
            .map_err(|e| neutral::line(&format!("{name}: no predictions: {e}")).into_owned())?;
        if read.schema != SCHEMA {
            let schema = neutral::line(&read.schema);
            return Err(format!("{name}: `schema` is `{schema}`, and this version reads `{SCHEMA}`"));
        }
        let good = |value: f64| (0.0..1e9).contains(&value);
        if !read.others.iter().all(|one| good(one.per_second) && good(one.length) && good(one.interrupts)) {
            return Err(format!("{name}: a value of `others` is no number from 0 to 1e9"));
        }
        Ok(read)
    }

    /// As JSON text with a line break at its end.
    ///
    /// # Errors
    /// A sentence.
    pub fn json(&self) -> Result<String, String> {
        serde_json::to_string_pretty(self).map(|text| text + "\n").map_err(|e| e.to_string())
    }

    /// The SHA-256 of the JSON text, in hexadecimal: that of the file that `--output` writes.
    ///
    /// # Errors
    /// A sentence.
    pub fn hash(&self) -> Result<String, String> {
        Ok(sha256(self.json()?.as_bytes()))
    }

    /// Refuses other predictions than those with this hash.
    ///
    /// # Errors
    /// A sentence.
    pub fn expect(&self, hash: &str) -> Result<(), String> {
        let (found, hash) = (self.hash()?, neutral::line(hash.trim()));
        if found.eq_ignore_ascii_case(&hash) {
            return Ok(());
        }
        Err(format!(
            "the predictions have the SHA-256 {found}, not {hash}: the version of oversim ({}), the machine \
             file, the scenario or --repeat is another one; nothing was measured",
            self.version
        ))
    }

    /// A line for each cell, and the hash.
    ///
    /// # Errors
    /// A sentence.
    pub fn report(&self) -> Result<String, String> {
        let mut text = String::new();
        for cell in &self.cells {
            // Writing to a string does not fail.
            let _ = writeln!(
                text,
                "{}: {}, fair share {}",
                cell.place,
                text::predicted(&cell.predicted),
                text::time(cell.fair_share)
            );
        }
        let _ = writeln!(text, "\n{} cells, SHA-256 {}", self.cells.len(), self.hash()?);
        Ok(text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::facts::Host;
    use crate::measure::{predicted, prepare};
    use crate::testing::experiment;

    fn predictions(grain: &str) -> Predictions {
        let text = format!(
            "{{ name: t, machine: 'core:2', kernel: linux-6.18, policies: [PIN], repeat: 3, apps: {{ \
             a: {{ workload: {{ spmd: {{ grain: {grain}, intervals: 3 }} }}, runtime: block }}, \
             h: {{ workload: hog, cpus: [0] }} }} }}"
        );
        let host = Host { cpus: 2, release: "6.18.0".into(), ..Host::unknown() };
        let groups = prepare(&experiment(&text), "k", 1, &host).unwrap();
        predicted(&groups, "m", 1)
    }

    #[test]
    fn the_hash_is_that_of_the_file_and_changes_with_a_prediction() {
        let (one, same, other) = (predictions("1ms"), predictions("1ms"), predictions("2ms"));
        assert_eq!((one.cells.len(), one.cells[0].place.app.as_str()), (1, "a"));
        let hash = one.hash().unwrap();
        assert_eq!((hash.len(), &hash), (64, &same.hash().unwrap()));
        assert_eq!(one.expect(&hash.to_uppercase()), Ok(()));
        let refused = other.expect(&hash).unwrap_err();
        assert!(refused.contains(&hash) && refused.contains("nothing was measured"), "{refused}");
        let report = one.report().unwrap();
        assert!(report.contains(&hash) && report.starts_with("t PIN a: "), "{report}");
        assert_eq!(Predictions::read("p.json", &one.json().unwrap()), Ok(one.clone()));
        let other = one.json().unwrap().replace("prediction/1", "prediction/2");
        assert!(Predictions::read("p.json", &other).unwrap_err().contains("prediction/2"));
        assert!(Predictions::read("p.json", "{").unwrap_err().starts_with("p.json: no predictions"));
    }
}
