//! Tidy CSV: one measured value per row, with replicate and seed; what was not measured has no row.

use scenario::configuration::columns;
use std::io::{self, Write};

use super::csv::{head, settings, text};
use crate::export::{Exporter, Form, View};
use crate::result::Results;

/// The columns behind those of swept parameters, in order.
pub(super) const COLUMNS: [&str; 7] = ["policy", "app", "metric", "unit", "replicate", "seed", "value"];

/// Writes a header row and the values: `scenario`, a column for each swept parameter, then [`COLUMNS`].
#[derive(Debug)]
pub(super) struct Tidy;

impl Exporter<Results> for Tidy {
    fn form(&self) -> Form {
        Form { name: "tidy", file: Some("samples.csv"), about: "One measured value per row, as CSV" }
    }

    fn write(&self, results: &Results, out: &mut dyn Write, _: &View<'_>) -> io::Result<()> {
        let swept = columns(&results.provenance.configurations);
        let mut csv = csv::Writer::from_writer(out);
        csv.write_record(head(&swept, &COLUMNS))?;
        for (cell, replicate, seed, value) in results.samples() {
            let words = [&cell.policy, &cell.app, &cell.metric, &cell.unit].map(|word| text(word));
            let numbers = [replicate.to_string(), seed.to_string(), value.to_string()];
            let row = [text(&cell.scenario)].into_iter().chain(settings(&cell.settings, &swept));
            csv.write_record(row.chain(words).chain(numbers))?;
        }
        csv.flush()
    }
}
