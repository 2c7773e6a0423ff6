//! `oversim conformance`: a kernel of the simulator against a stepped real one, tick by tick.

use std::io::Write;
use std::path::Path;
use std::process::ExitCode;

use experiment::conformance::{self, Case, Comparison, Difference, Share, Trouble};
use experiment::number::plural;
use explain::kernel_view;

use crate::args::Conformance as Args;
use crate::failure::{BAD_END, Failure};
use crate::output::{Target, to_stdout};
use crate::{input, say};

/// Largest file, in bytes.
const MOST_BYTES: u64 = 64 << 20;

/// Compares a file with the simulator.
pub(crate) fn conformance(args: &Args) -> Result<ExitCode, Failure> {
    let (name, mut case) = read(args)?;
    settle(args, &mut case)?;
    if args.prefix {
        if let Some((tick, trouble)) = &case.refused {
            say::warning(format!("compared up to tick {tick}: {}", trouble.text));
        }
        case.cut();
    }
    if let Some((_, trouble)) = &case.refused {
        return Err(wrong(&name, trouble));
    }
    let found = conformance::compare(&case).map_err(|why| Failure::Input(format!("{name}: {why}")))?;
    if let Some(path) = &args.write {
        write(path, &case, &found)?;
    }
    to_stdout(|out| report(&case, &found, out))?;
    let equal = found.first.is_none();
    Ok(if equal { ExitCode::SUCCESS } else { ExitCode::from(BAD_END) })
}

/// The file, and its trace.
fn read(args: &Args) -> Result<(String, Case), Failure> {
    let (name, text) = input::file(&args.file, MOST_BYTES, "a table or operations")?;
    let mut case = conformance::read(&text).map_err(|trouble| wrong(&name, &trouble))?;
    if let Some(trace) = &args.trace {
        let (name, text) = input::file(trace, MOST_BYTES, "a trace")?;
        conformance::add_trace(&mut case, &text).map_err(|trouble| wrong(&name, &trouble))?;
    }
    Ok((name, case))
}

/// What the command line says goes before what the file says.
fn settle(args: &Args, case: &mut Case) -> Result<(), Failure> {
    if let Some(kernel) = args.kernel.as_ref().or(Some(&case.kernel)).filter(|name| !name.is_empty()) {
        let (entry, remark) = kernel_view::find(kernel).map_err(Failure::Input)?;
        remark.iter().for_each(say::warning);
        case.kernel = entry.name.to_owned();
    }
    if let Some(machine) = &args.machine {
        case.machine.clone_from(machine);
    }
    case.booted = args.booted.or(case.booted);
    for rule in &args.rules {
        let Some((rule, value)) = rule.split_once('=') else {
            return Err(Failure::Input(format!("`--rule {rule}` is not of the form `slice=3ms`")));
        };
        case.rules.retain(|(other, _)| other != rule);
        case.rules.push((rule.to_owned(), value.to_owned()));
    }
    Ok(())
}

fn wrong(name: &str, trouble: &Trouble) -> Failure {
    let place = if trouble.line == 0 { String::new() } else { format!(":{}", trouble.line) };
    Failure::Input(format!("{name}{place}: {}", trouble.text))
}

fn write(path: &Path, case: &Case, found: &Comparison) -> Result<(), Failure> {
    let lines = path.extension().is_some_and(|extension| extension == "jsonl");
    let text = match lines {
        true => conformance::write_trace(case, &found.rows),
        false => conformance::write(case, &found.rows),
    };
    Target::check(path, true)?.write(&|out| out.write_all(text.as_bytes()))
}

fn share(share: Share) -> String {
    let percent = if share.all == 0 { 100.0 } else { share.equal as f64 * 100.0 / share.all as f64 };
    format!("{} of {} ({percent:.1} %)", share.equal, share.all)
}

fn report(case: &Case, found: &Comparison, out: &mut dyn Write) -> std::io::Result<()> {
    let cpus = plural(found.cpus.len(), "cpu", "cpus");
    writeln!(out, "{} on {} ({cpus}), ticks of 1 ms, no costs", case.kernel, case.machine)?;
    if found.ticks.all == 0 {
        return writeln!(out, "Nothing to compare: the file has no rows");
    }
    writeln!(out, "Equal ticks  {}", share(found.ticks))?;
    for (cpu, of_cpu) in (case.first_cpu..).zip(&found.cpus) {
        writeln!(out, "  cpu{cpu:<7} {}", share(*of_cpu))?;
    }
    let Some(Difference { tick, cpu, expected, got, decided }) = &found.first else { return Ok(()) };
    let [expected, got] = [*expected, *got].map(|cell| conformance::show(case, cell));
    writeln!(out, "First difference at tick {tick} on cpu{cpu}: expected {expected}, got {got}")?;
    decided.iter().try_for_each(|text| writeln!(out, "  {text}"))
}
