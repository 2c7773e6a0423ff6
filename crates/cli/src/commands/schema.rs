//! `oversim schema`: the JSON Schema of scenario files.

use std::process::ExitCode;

use crate::failure::Failure;
use crate::output::to_stdout;

/// Prints the schema.
pub(crate) fn schema() -> Result<ExitCode, Failure> {
    let schema = experiment::schema::schema();
    to_stdout(|out| writeln!(out, "{schema:#}"))?;
    Ok(ExitCode::SUCCESS)
}
