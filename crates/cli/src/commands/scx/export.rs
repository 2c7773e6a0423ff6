//! `oversim scx export`: from an order by formula to a scheduler in BPF C.

use std::process::ExitCode;

use scx::formula::{Formula, MOST_BYTES};

use crate::args::ScxExport;
use crate::failure::Failure;
use crate::input;
use crate::output::{self, Target};

/// Reads the order and writes its program.
pub(crate) fn export(args: &ScxExport) -> Result<ExitCode, Failure> {
    let target = args.output.as_ref().map(|path| Target::check(path, args.force)).transpose()?;
    let (name, text) = input::file(&args.order, MOST_BYTES as u64, "an order")?;
    let formula = Formula::parse(&name, &text);
    let mut formula = formula.map_err(|problems| Failure::Rendered(problems.to_string()))?;
    if let Some(name) = &args.name {
        formula.name.clone_from(name);
    } else if args.order.as_os_str() == "-" {
        "order".clone_into(&mut formula.name);
    }
    let program = formula.c().map_err(Failure::Input)?;
    match target {
        Some(target) => target.write(&output::bytes(program.as_bytes()))?,
        None => output::to_stdout(|out| out.write_all(program.as_bytes()))?,
    }
    Ok(ExitCode::SUCCESS)
}
