//! `oversim schema`: the JSON Schema of scenario files.

use std::process::ExitCode;

use experiment::PolicyShelf;

use crate::failure::Failure;
use crate::output::to_stdout;

/// Prints the schema.
pub(crate) fn schema(policies: &PolicyShelf) -> Result<ExitCode, Failure> {
    let schema = experiment::schema::schema_with(policies);
    to_stdout(|out| writeln!(out, "{schema:#}"))?;
    Ok(ExitCode::SUCCESS)
}
