//! `oversim completions`: the script that makes a shell ask this program for completions.

use std::process::ExitCode;

use clap_complete::env::Shells;

use crate::args::Completions;
use crate::complete;
use crate::failure::Failure;
use crate::output::to_stdout;

/// Prints the script of a shell.
pub(crate) fn completions(args: &Completions) -> Result<ExitCode, Failure> {
    let name = args.shell.to_string();
    let shells = Shells::builtins();
    let Some(shell) = shells.completer(&name) else {
        return Err(Failure::Input(format!("no completions for {name}")));
    };
    let failed = |e: std::io::Error| Failure::Output(format!("cannot make the script for {name}: {e}"));
    let script = complete::script(shell).map_err(failed)?;
    to_stdout(|out| out.write_all(&script))?;
    Ok(ExitCode::SUCCESS)
}
