//! `oversim sweep export`: the values of all runs as one table.

use std::process::ExitCode;

use ::sweep::export::{Exported, Form, export as write};
use ::sweep::store::Store;
use experiment::neutral;
use experiment::number::plural;

use crate::args::{SweepExport, TableForm};
use crate::failure::Failure;
use crate::output::{self, Target};

/// Writes the table.
pub(super) fn export(args: &SweepExport) -> Result<ExitCode, Failure> {
    let form = form(args.format)?;
    Target::check(&args.output, args.force)?;
    let (store, plan) = Store::open(&args.directory).map_err(Failure::sweep)?;
    match write(&store, &plan, form, &args.output).map_err(Failure::sweep)? {
        Exported::Whole(rows) => {
            let rows = plural(usize::try_from(rows).unwrap_or(usize::MAX), "row", "rows");
            let line = format!("{}: {rows}", args.output.display());
            output::to_stdout(|out| writeln!(out, "{}", neutral::line(&line)))?;
            Ok(ExitCode::SUCCESS)
        }
        Exported::Missing(status) => Err(Failure::Output(format!(
            "{} of the sweep in {} are missing, and nothing was written: the numbers {}",
            plural(usize::try_from(status.missing).unwrap_or(usize::MAX), "run", "runs"),
            args.directory.display(),
            status.missing_runs()
        ))),
    }
}

#[cfg(feature = "parquet")]
fn form(form: TableForm) -> Result<Form, Failure> {
    Ok(match form {
        TableForm::Csv => Form::Csv,
        TableForm::Parquet => Form::Parquet,
    })
}

#[cfg(not(feature = "parquet"))]
fn form(form: TableForm) -> Result<Form, Failure> {
    match form {
        TableForm::Csv => Ok(Form::Csv),
        TableForm::Parquet => Err(Failure::Input(
            "--format parquet: this program was built without it; build it with `--features parquet`, or \
             write csv"
                .into(),
        )),
    }
}
