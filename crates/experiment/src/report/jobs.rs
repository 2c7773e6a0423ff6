//! NDJSON of programs: one object for each program of each run, as [`Job`] has it.

use std::io::{self, Write};

use super::View;
use crate::result::Results;

/// Writes a line for each program of each run; none of a result that was read from a file.
///
/// [`Job`]: crate::result::Job
pub(super) fn write(results: &Results, out: &mut dyn Write, _view: &View<'_>) -> io::Result<()> {
    for job in &results.jobs {
        serde_json::to_writer(&mut *out, job)?;
        out.write_all(b"\n")?;
    }
    Ok(())
}
