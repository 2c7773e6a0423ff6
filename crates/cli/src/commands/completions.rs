//! `oversim completions`: what a shell needs to complete commands, flags and values.

use std::process::ExitCode;

use clap::CommandFactory;

use crate::args::{Arguments, Completions};
use crate::failure::Failure;
use crate::output::to_stdout;

/// Prints the completion script of a shell.
pub(crate) fn completions(args: &Completions) -> Result<ExitCode, Failure> {
    // Into memory first: the generator does not know how to fail.
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Arguments::command(), "oversim", &mut script);
    to_stdout(|out| out.write_all(&script))?;
    Ok(ExitCode::SUCCESS)
}
