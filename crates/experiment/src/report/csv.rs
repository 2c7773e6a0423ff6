//! CSV: one cell per row, tidy, without comment lines; an unknown interval is an empty field.

use std::io::{self, Write};

use crate::result::Results;

/// The columns, in order.
const COLUMNS: [&str; 13] = [
    "scenario", "point", "policy", "app", "metric", "unit", "mean", "median", "ci95_lo", "ci95_hi", "min",
    "max", "n",
];

/// Writes a header row and the cells.
pub(super) fn write(results: &Results, out: &mut dyn Write, _width: usize) -> io::Result<()> {
    let mut csv = csv::Writer::from_writer(out);
    csv.write_record(COLUMNS)?;
    for cell in &results.cells {
        let s = &cell.summary;
        let bound = |at: usize| s.ci95.map_or_else(String::new, |ci| ci[at].to_string());
        csv.write_record([
            &cell.scenario,
            &cell.point,
            &cell.policy,
            &cell.app,
            &cell.metric,
            &cell.unit,
            &s.mean.to_string(),
            &s.median.to_string(),
            &bound(0),
            &bound(1),
            &s.min.to_string(),
            &s.max.to_string(),
            &s.n.to_string(),
        ])?;
    }
    csv.flush()
}
