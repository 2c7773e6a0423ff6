//! Tidy CSV: one measured value per row, with replicate and seed; what was not measured has no row.

use std::io::{self, Write};

use crate::result::Results;

/// The columns, in order.
pub(super) const COLUMNS: [&str; 9] =
    ["scenario", "point", "policy", "app", "metric", "unit", "replicate", "seed", "value"];

/// Writes a header row and the values.
pub(super) fn write(results: &Results, out: &mut dyn Write, _width: usize) -> io::Result<()> {
    let mut csv = csv::Writer::from_writer(out);
    csv.write_record(COLUMNS)?;
    for (cell, replicate, seed, value) in results.samples() {
        csv.write_record([
            &cell.scenario,
            &cell.point,
            &cell.policy,
            &cell.app,
            &cell.metric,
            &cell.unit,
            &replicate.to_string(),
            &seed.to_string(),
            &value.to_string(),
        ])?;
    }
    csv.flush()
}
