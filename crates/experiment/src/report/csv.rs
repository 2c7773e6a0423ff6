//! CSV: one cell per row, a column for each swept parameter, without comment lines; an unknown interval is an
//! empty field.

use std::io::{self, Write};

use notation::neutral;
use scenario::configuration::{Setting, Settings, columns};

use crate::export::{Exporter, Form, View};
use crate::result::Results;

/// Writes a header row and the cells: `scenario`, a column for each swept parameter, then [`COLUMNS`], and
/// [`INPUT_COLUMN`] where uncertain inputs were drawn.
#[derive(Debug)]
pub(super) struct Csv;

impl Exporter<Results> for Csv {
    fn form(&self) -> Form {
        Form { name: "csv", file: Some("cells.csv"), about: "One cell per row, as CSV" }
    }

    fn write(&self, results: &Results, out: &mut dyn Write, _: &View<'_>) -> io::Result<()> {
        let swept = columns(&results.provenance.configurations);
        let mut csv = csv::Writer::from_writer(out);
        let drawn = results.uncertainty.is_some();
        csv.write_record(head(&swept, &COLUMNS).chain(drawn.then(|| INPUT_COLUMN.to_owned())))?;
        for cell in &results.cells {
            let s = &cell.summary;
            let bound = |at: usize| s.ci95.map_or_else(String::new, |ci| ci[at].to_string());
            let words = [&cell.policy, &cell.app, &cell.metric, &cell.unit].map(|word| text(word));
            let numbers = [
                s.mean.to_string(),
                s.median.to_string(),
                bound(0),
                bound(1),
                s.min.to_string(),
                s.max.to_string(),
                s.n.to_string(),
            ];
            let row = [text(&cell.scenario)].into_iter().chain(settings(&cell.settings, &swept));
            let input =
                cell.input_error.as_ref().map_or_else(String::new, |error| error.half_width.to_string());
            csv.write_record(row.chain(words).chain(numbers).chain(drawn.then_some(input)))?;
        }
        csv.flush()
    }
}

/// Half of the interval that uncertain inputs produce.
const INPUT_COLUMN: &str = "input_half_width";

/// The columns behind those of swept parameters, in order.
const COLUMNS: [&str; 11] =
    ["policy", "app", "metric", "unit", "mean", "median", "ci95_lo", "ci95_hi", "min", "max", "n"];

/// The names of all columns.
pub(super) fn head<'a>(swept: &'a [&str], columns: &'a [&str]) -> impl Iterator<Item = String> + 'a {
    ["scenario"].iter().chain(swept).chain(columns).map(|name| text(name))
}

/// A text, which no program for tables takes for a formula.
pub(super) fn text(text: &str) -> String {
    neutral::cell(text).into_owned()
}

/// The values of the swept parameters in the order of their columns; empty where a configuration has no such
/// parameter.
pub(super) fn settings<'a>(settings: &'a Settings, swept: &'a [&str]) -> impl Iterator<Item = String> + 'a {
    swept.iter().map(|path| match settings.get(path) {
        Some(value @ Setting::Text(_)) => text(&value.to_string()),
        Some(value) => value.to_string(),
        None => String::new(),
    })
}
