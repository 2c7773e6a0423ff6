//! `oversim calibrate host`: the costs of this host as a machine file.

use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;

use host::calibrate::file::Comparison;
use host::calibrate::{Costs, file, measure};
use host::facts::cpus;
use host::load::Watch;
use host::parent::Starter;

use crate::args::{CalibrateHost, ListFormat};
use crate::bar::Bar;
use crate::failure::{BAD_END, Failure};
use crate::output::{self, Target};
use crate::{input, say};

/// Most bytes of a machine file, as its reader has it.
const MAX_BYTES: u64 = 1 << 20;

/// Measures, prints, writes and compares.
pub(crate) fn calibrate(args: &CalibrateHost) -> Result<ExitCode, Failure> {
    let good = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.');
    if args.name.is_empty() || args.name.len() > 64 || !args.name.chars().all(good) {
        let hint = "use at most 64 letters, digits, `_`, `-` and `.`";
        return Err(Failure::Input(format!("`{}` is not a valid machine name: {hint}", args.name)));
    }
    let target = args.output.as_ref().map(|path| Target::check(path, args.force)).transpose()?;
    let inputs: Vec<&Path> = args.check.iter().map(AsRef::as_ref).collect();
    output::distinct(&target.iter().collect::<Vec<_>>(), &inputs)?;
    // A wrong file is refused before anything is measured.
    let known = match &args.check {
        None => None,
        Some(path) => {
            let (name, text) = input::file(path, MAX_BYTES, "machine file")?;
            Some(file::read(&name, &text).map_err(Failure::Rendered)?)
        }
    };
    let starter = Starter::of_this_program().map_err(Failure::Output)?;
    let bar = Bar::new(0, "measurements");
    let mut watch =
        Watch::new(cpus(), Duration::from_nanos(args.wait), args.force, |text| say::warning(text));
    let costs = measure(&starter, args.quick, &mut watch, &|done, all| bar.set(done, all));
    drop(bar);
    let costs = costs.map_err(Failure::Output)?;
    if let Some(who) = &costs.disturbed_by {
        let (some, all) = (costs.disturbed(), costs.readings.len());
        say::warning(format_args!("{some} of {all} measurements were disturbed: {who}"));
    }
    if let Some(target) = &target {
        let text = file::text(&costs, &args.name);
        target.write(&|out| out.write_all(text.as_bytes()))?;
    }
    print(args, &costs)?;
    let Some(entry) = known else { return Ok(ExitCode::SUCCESS) };
    let Comparison { compared, changed } = file::changed(&costs, &entry);
    if args.format == ListFormat::Text {
        output::to_stdout(|out| {
            changed.iter().try_for_each(|line| writeln!(out, "changed  {line}"))?;
            match (compared, changed.as_slice()) {
                (0, _) => writeln!(out, "\nnothing compared: other programs disturbed every measurement"),
                (_, []) => writeln!(out, "\n{compared} values compared, none differs from the file"),
                (_, changed) => writeln!(out, "\n{compared} values compared; differences: {}", changed.len()),
            }
        })?;
    }
    Ok(if changed.is_empty() && compared > 0 { ExitCode::SUCCESS } else { ExitCode::from(BAD_END) })
}

fn print(args: &CalibrateHost, costs: &Costs) -> Result<(), Failure> {
    let text = match args.format {
        ListFormat::Text => file::report(costs),
        ListFormat::Json => costs.json().map_err(Failure::Output)?,
    };
    output::to_stdout(|out| out.write_all(text.as_bytes()))
}
