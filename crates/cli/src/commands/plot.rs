//! `oversim plot`: figures of a result, each with its numbers in a CSV file.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use experiment::number::plural;
use experiment::{PolicyShelf, neutral};
use figures::{Drawn, Figure};

use super::source;
use crate::args::{Picture, Plot};
use crate::failure::{BAD_END, Failure};
use crate::{advice, output, say};

/// Pixels of a PNG for one of the SVG: sharp on slides and dense screens.
const PNG_SCALE: f32 = 2.0;

/// Draws the figures and lists the written and the omitted ones.
pub(crate) fn plot(args: &Plot, policies: &PolicyShelf) -> Result<ExitCode, Failure> {
    check(args)?;
    let opened = source::open(&args.file, &args.changes, args.best_partition, policies)?;
    let flags = source::given(&args.changes, args.best_partition);
    if !opened.simulated && !flags.is_empty() {
        return Err(source::refused(&flags, &opened.name));
    }
    let results = opened.results;
    let drawn = figures::draw(&results, &args.figures).map_err(Failure::Output)?;
    let files = files(args, &drawn)?;
    write(args, &files)?;
    output::to_stdout(|out| {
        for (figure, (path, _)) in drawn.figures.iter().zip(files.iter().step_by(2)) {
            writeln!(out, "{}", neutral::line(&format!("{}: {}", path.display(), figure.title)))?;
        }
        for omitted in &drawn.omitted {
            writeln!(out, "{}", neutral::line(&format!("{} skipped: {}", omitted.name, omitted.why)))?;
        }
        writeln!(out, "{}", neutral::line(&summary(args, drawn.figures.len())))
    })?;
    if results.all_completed() {
        return Ok(ExitCode::SUCCESS);
    }
    let count = results.notes.len();
    say::line(format_args!("warning: {count} of {} runs did not complete", results.provenance.runs));
    Ok(ExitCode::from(BAD_END))
}

/// How many files there are, and where.
fn summary(args: &Plot, figures: usize) -> String {
    match figures {
        0 => "No figure was drawn.".to_owned(),
        _ => format!(
            "{} in {}: each as {}, its numbers as CSV.",
            plural(figures, "figure", "figures"),
            args.output.display(),
            ending(args.format).to_uppercase()
        ),
    }
}

/// Checks names and files before anything is simulated.
fn check(args: &Plot) -> Result<(), Failure> {
    for wanted in &args.figures {
        if !figures::names().any(|name| name == wanted) {
            let all: Vec<&str> = figures::names().collect();
            return Err(Failure::Input(advice::unknown("figure", wanted, &all)));
        }
    }
    let there = args.output.ancestors().find(|path| path.exists());
    if let Some(file) = there.filter(|path| !path.is_dir()) {
        return Err(Failure::Input(format!("{} is not a directory", file.display())));
    }
    let wanted = |name: &&str| args.figures.is_empty() || args.figures.iter().any(|f| f == name);
    let taken = figures::names().filter(wanted).flat_map(|name| both(args, name)).find(|path| path.exists());
    match taken {
        Some(path) if !args.force => {
            Err(Failure::Input(format!("{} exists; --force replaces it", path.display())))
        }
        _ => Ok(()),
    }
}

/// How names of pictures end.
const fn ending(format: Picture) -> &'static str {
    match format {
        Picture::Svg => "svg",
        Picture::Png => "png",
    }
}

/// The files of a figure: its picture and its numbers.
fn both(args: &Plot, name: &str) -> [PathBuf; 2] {
    [ending(args.format), "csv"].map(|ending| args.output.join(format!("{name}.{ending}")))
}

/// A file and what it holds.
type File = (PathBuf, Vec<u8>);

/// All files: of each figure the picture, then the numbers.
fn files(args: &Plot, drawn: &Drawn) -> Result<Vec<File>, Failure> {
    let mut files = Vec::new();
    for figure in &drawn.figures {
        let [picture, numbers] = both(args, figure.name);
        files.push((picture, bytes(figure, args.format).map_err(Failure::Output)?));
        files.push((numbers, figure.data.csv().map_err(Failure::Output)?.into_bytes()));
    }
    Ok(files)
}

fn bytes(figure: &Figure, format: Picture) -> Result<Vec<u8>, String> {
    match format {
        Picture::Svg => Ok(figure.svg.clone().into_bytes()),
        Picture::Png => drawing::png::from_svg(&figure.svg, PNG_SCALE),
    }
}

fn write(args: &Plot, files: &[File]) -> Result<(), Failure> {
    if files.is_empty() {
        return Ok(());
    }
    let failed = |directory: &Path, e: &std::io::Error| {
        Failure::Output(format!("cannot make the directory {}: {e}", directory.display()))
    };
    fs::create_dir_all(&args.output).map_err(|e| failed(&args.output, &e))?;
    for (path, bytes) in files {
        output::to_file(path, args.force, &|out: &mut dyn Write| out.write_all(bytes))?;
    }
    Ok(())
}
