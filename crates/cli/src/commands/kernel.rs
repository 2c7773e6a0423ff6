//! `oversim kernel`: the kernels as rows of rules.

use std::io::Write;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use experiment::kernel_effects::{self, Subject, Variant, report};
use explain::kernel_view::{self, Difference, Entry, write_columns};
use pictures::figures::kernels;

use crate::args::{DiffFormat, KernelDiff, KernelList, KernelShow, ListFormat};
use crate::bar::Bar;
use crate::commands::figure::Files;
use crate::failure::Failure;
use crate::output::{to_stdout, write_folded};
use crate::{input, say};

/// The kernel of a name; a release of a running system is answered with the nearest one and a remark.
fn find(name: &str) -> Result<&'static Entry, Failure> {
    let (entry, remark) = kernel_view::find(name).map_err(Failure::Input)?;
    remark.iter().for_each(say::warning);
    Ok(entry)
}

/// Prints all kernels.
pub(crate) fn list(args: &KernelList) -> Result<ExitCode, Failure> {
    let kernels = kernel_view::list();
    to_stdout(|out| match args.format {
        ListFormat::Json => kernel_view::write_json(&kernels, out),
        ListFormat::Text => kernel_view::write_list(&kernels, out),
    })?;
    Ok(ExitCode::SUCCESS)
}

/// Prints a kernel with all of its rules.
pub(crate) fn show(args: &KernelShow) -> Result<ExitCode, Failure> {
    let kernel = kernel_view::show(find(&args.kernel)?);
    to_stdout(|out| match args.format {
        ListFormat::Json => kernel_view::write_json(&kernel, out),
        ListFormat::Text => {
            let mut text = Vec::new();
            kernel_view::write_kernel(&kernel, &mut text)?;
            write_folded(&String::from_utf8_lossy(&text), out)
        }
    })?;
    Ok(ExitCode::SUCCESS)
}

/// Prints the rules in which two kernels differ, and what they do.
pub(crate) fn diff(args: &KernelDiff) -> Result<ExitCode, Failure> {
    let (from, to) = (find(&args.from)?, find(&args.to)?);
    let differences = kernel_view::differences(from, to);
    if args.rules_only || differences.is_empty() {
        to_stdout(|out| rules(args.format, (from, to), &differences, out))?;
        return Ok(ExitCode::SUCCESS);
    }
    let read: Vec<&Path> = args.on.iter().map(PathBuf::as_path).collect();
    let files = args.output.as_deref().map(|path| Files::check(path, args.force, &read)).transpose()?;
    let subjects = subjects(&args.on)?;
    let variants = kernel_effects::variants(from, to);
    let bar = Bar::new(0, "runs");
    let jobs = args.jobs.map_or(0, NonZeroUsize::get);
    let progress = |done, all| bar.set(done, all);
    let rows = kernel_effects::measure(from, &variants, &subjects, jobs, &progress);
    say::clear_bar();
    let rows = rows.map_err(|trouble| match trouble {
        kernel_effects::Trouble::Scenario(rendered) => Failure::Rendered(rendered),
        other => Failure::Input(other.to_string()),
    })?;
    if let Some(files) = files {
        let figure = kernels::figure([from.name, to.name], &variants, &rows).map_err(Failure::Input)?;
        files.write(&figure)?;
        files.names().into_iter().for_each(|name| say::remark(format_args!("{name} written")));
    }
    to_stdout(|out| match args.format {
        DiffFormat::Csv => report::write_csv(&variants, &rows, out),
        DiffFormat::Text => {
            rules(args.format, (from, to), &differences, out)?;
            effects(from, &variants, &rows, out)
        }
    })?;
    Ok(ExitCode::SUCCESS)
}

/// What is run: the scenarios that are named, or the built-in programs.
fn subjects(on: &[PathBuf]) -> Result<Vec<Subject>, Failure> {
    if on.is_empty() {
        return Ok(kernel_effects::subjects());
    }
    let subject = |path: &PathBuf| {
        let (name, text) = input::scenario(path)?;
        Ok(Subject { program: name.clone(), machine: String::new(), name, text })
    };
    on.iter().map(subject).collect()
}

fn rules(
    format: DiffFormat,
    kernels: (&Entry, &Entry),
    differences: &[Difference],
    out: &mut dyn Write,
) -> std::io::Result<()> {
    match format {
        DiffFormat::Text => kernel_view::write_differences(kernels, differences, out),
        DiffFormat::Csv => {
            writeln!(out, "rule,{},{}", kernels.0.name, kernels.1.name)?;
            differences.iter().try_for_each(|difference| {
                let value = |value: &Option<String>| value.clone().unwrap_or_default();
                let (first, second) = (value(&difference.first), value(&difference.second));
                writeln!(out, "{},{first},{second}", difference.rule)
            })
        }
    }
}

fn effects(
    from: &Entry,
    variants: &[Variant],
    rows: &[kernel_effects::Row],
    out: &mut dyn Write,
) -> std::io::Result<()> {
    let compared = report::Compared::of(variants, rows);
    let what = if compared.over.is_empty() { "" } else { ": geometric mean (smallest to largest change)" };
    writeln!(out, "\nChange from {}{}{what}", from.name, compared.over)?;
    if !compared.left_out.is_empty() {
        writeln!(out, "{}", compared.left_out)?;
    }
    let head = ["program", "changed", "run time", "p99 of wake-ups", "migrations"].map(str::to_owned);
    write_columns(&head, &compared.lines(), out)
}
