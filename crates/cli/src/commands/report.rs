//! `oversim report`: a scenario as one page for the browser.

use std::process::ExitCode;

use experiment::PolicyShelf;

use crate::args::Report;
use crate::failure::Failure;

/// Runs the scenario and writes the page.
pub(crate) fn report(args: &Report, _policies: &PolicyShelf) -> Result<ExitCode, Failure> {
    Err(Failure::Input(format!("{}: not yet", args.file.display())))
}
