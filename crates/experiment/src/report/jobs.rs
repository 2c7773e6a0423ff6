//! NDJSON of programs: one object for each program of each run, as [`Job`] has it.

use std::io::{self, Write};

use crate::export::{Exporter, Form, View};
use crate::result::Results;

/// Writes a line for each program of each run; none of a result that was read from a file.
///
/// [`Job`]: crate::result::Job
#[derive(Debug)]
pub(super) struct Jobs;

impl Exporter<Results> for Jobs {
    fn form(&self) -> Form {
        Form {
            name: "jobs",
            file: Some("jobs.ndjson"),
            about: "One program of a run per line, as JSON: arrival, start, end, waiting, responses",
        }
    }

    fn write(&self, results: &Results, out: &mut dyn Write, _: &View<'_>) -> io::Result<()> {
        for job in &results.jobs {
            serde_json::to_writer(&mut *out, job)?;
            out.write_all(b"\n")?;
        }
        Ok(())
    }
}
