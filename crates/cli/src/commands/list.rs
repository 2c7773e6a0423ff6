//! `oversim list`: the entries of a registry.

use std::process::ExitCode;

use experiment::PolicyRegistry;
use explain::catalogue::{self, Registry, Row};

use crate::advice;
use crate::args::{List, ListFormat};
use crate::failure::Failure;
use crate::output::{to_stdout, width};

/// Prints a registry, or one entry of it in detail.
pub(crate) fn list(args: &List, policies: &PolicyRegistry) -> Result<ExitCode, Failure> {
    let registry = args.what.registry();
    let mut rows = catalogue::rows_with(policies, registry);
    if let Some(name) = &args.name {
        rows = vec![find(registry, rows, name)?];
    }
    to_stdout(|out| match args.format {
        ListFormat::Json => catalogue::write_json(&rows, out),
        ListFormat::Text if args.name.is_some() => catalogue::write_detail(&rows, out, width()),
        ListFormat::Text => catalogue::write_list(registry, &rows, out, width()),
    })?;
    Ok(ExitCode::SUCCESS)
}

/// The entry of this name, upper or lower case.
fn find(registry: Registry, mut rows: Vec<Row>, name: &str) -> Result<Row, Failure> {
    let wanted = match registry {
        Registry::Scenarios => scenario::built_in::find(name).map_or(name, |found| found.name),
        _ => name,
    };
    if let Some(at) = rows.iter().position(|row| row.name.eq_ignore_ascii_case(wanted)) {
        return Ok(rows.swap_remove(at));
    }
    Err(Failure::Input(match registry {
        Registry::Scenarios => advice::no_scenario(name),
        _ => advice::unknown(
            registry.noun(),
            name,
            &rows.iter().map(|row| row.name.as_str()).collect::<Vec<_>>(),
        ),
    }))
}
