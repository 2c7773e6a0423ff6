//! `oversim schema`: the JSON Schemas of scenarios, machine files and results.

use std::process::ExitCode;

use experiment::PolicyRegistry;
use experiment::schema as output;
use scenario::schema::{machine, schema_with};

use crate::args::{Schema, SchemaOf};
use crate::failure::Failure;
use crate::output::to_stdout;
#[cfg(not(all(feature = "measured", target_os = "linux")))]
use crate::parts::MEASURED;

/// Prints a schema.
pub(crate) fn schema(args: &Schema, policies: &PolicyRegistry) -> Result<ExitCode, Failure> {
    let schema = match args.of {
        SchemaOf::Scenario => schema_with(policies),
        SchemaOf::Machine => machine(),
        SchemaOf::Result => output::result(),
        SchemaOf::ResultLine => output::result_line(),
        SchemaOf::Job => output::job(),
        SchemaOf::Request => output::request(),
        SchemaOf::Compare => output::compare(),
        #[cfg(all(feature = "measured", target_os = "linux"))]
        SchemaOf::Measurement => host::result::schema(),
        #[cfg(not(all(feature = "measured", target_os = "linux")))]
        SchemaOf::Measurement => {
            MEASURED.need("the schema of measurements")?;
            return Err(Failure::Input("measurements need Linux; docs/schemas has their schema".into()));
        }
    };
    to_stdout(|out| writeln!(out, "{schema:#}"))?;
    Ok(ExitCode::SUCCESS)
}
