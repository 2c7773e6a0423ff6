//! `oversim machine show`: a built-in machine, one of a file or one of a description.

use std::process::ExitCode;

use explain::machine_view::{self, Refusal};

use crate::args::{ListFormat, MachineShow};
use crate::failure::Failure;
use crate::output::to_stdout;

/// Prints the machine.
pub(crate) fn show(args: &MachineShow) -> Result<ExitCode, Failure> {
    let view =
        machine_view::show(&args.machine, args.kernel.as_deref()).map_err(|refusal| match refusal {
            Refusal::Sentence(text) => Failure::Input(text),
            Refusal::Rendered(text) => Failure::Rendered(text),
        })?;
    to_stdout(|out| match args.format {
        ListFormat::Json => machine_view::write_json(&view, out),
        ListFormat::Text => machine_view::write_text(&view, out),
    })?;
    Ok(ExitCode::SUCCESS)
}
