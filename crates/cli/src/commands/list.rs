//! `oversim list`: what a scenario can name, from the registries.

use std::process::ExitCode;

use experiment::PolicyShelf;
use experiment::catalogue::{self, Row};

use crate::args::{List, ListFormat, Shelf};
use crate::failure::Failure;
use crate::output::to_stdout;

/// Prints a shelf, or one entry of it in detail.
pub(crate) fn list(args: &List, policies: &PolicyShelf) -> Result<ExitCode, Failure> {
    let mut rows = catalogue::rows_with(policies, shelf(args.shelf));
    if let Some(name) = &args.name {
        rows = vec![find(rows, name)?];
    }
    to_stdout(|out| match args.format {
        ListFormat::Json => catalogue::write_json(&rows, out),
        ListFormat::Text => catalogue::write_text(&rows, args.name.is_some(), out),
    })?;
    Ok(ExitCode::SUCCESS)
}

/// The entry of this name, upper or lower case.
fn find(rows: Vec<Row>, name: &str) -> Result<Row, Failure> {
    let names: Vec<String> = rows.iter().map(|r| r.name.clone()).collect();
    let found = rows.into_iter().find(|r| r.name.eq_ignore_ascii_case(name));
    found.ok_or_else(|| Failure::Input(format!("no `{name}` there; the list holds {}", names.join(", "))))
}

const fn shelf(shelf: Shelf) -> catalogue::Shelf {
    match shelf {
        Shelf::Policies => catalogue::Shelf::Policies,
        Shelf::Workloads => catalogue::Shelf::Workloads,
        Shelf::Machines => catalogue::Shelf::Machines,
        Shelf::Kernels => catalogue::Shelf::Kernels,
        Shelf::Runtimes => catalogue::Shelf::Runtimes,
        Shelf::Metrics => catalogue::Shelf::Metrics,
    }
}
