//! `oversim plot`: figures of a result, each with its numbers in a CSV file.

use std::process::ExitCode;

use experiment::metrics::METRICS;
use experiment::number::plural;
use experiment::result::Results;
use experiment::{PolicyRegistry, neutral};
use pictures::figures::caption::{Included, latex};
use pictures::figures::{self, Asked, Drawn, Figure, Page, Target, file};

use super::figure::Form;
use super::report::{NO_RUN_TIMES, line, options, typed};
use super::source;
use crate::args::{Place, Plot};
use crate::failure::{BAD_END, Failure};
use crate::output::Folder;
use crate::{advice, output, say};

/// Draws the figures and lists the written and the omitted ones.
pub(crate) fn plot(args: &Plot, policies: &PolicyRegistry) -> Result<ExitCode, Failure> {
    let folder = check(args)?;
    let opened = source::open(&args.file, &args.changes, args.best_partition, policies)?;
    let flags = source::given(&args.changes, args.best_partition);
    if !opened.simulated && !flags.is_empty() {
        return Err(source::refused(&flags, &opened.name));
    }
    let results = opened.results;
    if results.provenance.window {
        return Err(Failure::Input(NO_RUN_TIMES.into()));
    }
    let (figures, metrics) = (&args.figures, &args.metrics);
    let drawn = figures::drawn(&results, &Asked { figures, metrics, target: target(args) });
    let files = files(args, &results, &drawn)?;
    write(&folder, files.iter().flatten())?;
    output::to_stdout(|out| {
        for (figure, files) in drawn.figures.iter().zip(&files) {
            let path = args.output.join(&files[0].0);
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

/// What the figures are drawn for.
fn target(args: &Plot) -> Target {
    match args.place {
        Place::Web => Target::Screen,
        Place::Paper => Target::Paper(width(args)),
        Place::Slide => Target::Slide,
    }
}

/// How many files there are, and where.
fn summary(args: &Plot, figures: usize) -> String {
    let form = form(args).ending().to_uppercase();
    let caption = if args.place == Place::Paper { ", its caption for LaTeX" } else { "" };
    match figures {
        0 => "No figure was drawn.".to_owned(),
        _ => format!(
            "{} in {}: each as {form}, its numbers as CSV{caption}.",
            plural(figures, "figure", "figures"),
            args.output.display()
        ),
    }
}

/// Checks names and files before anything is simulated.
fn check(args: &Plot) -> Result<Folder, Failure> {
    if args.width.is_some() && args.place != Place::Paper {
        return Err(Failure::Input("--width is that of a figure in a paper: add --for paper".into()));
    }
    for wanted in &args.figures {
        if !figures::names().any(|name| name == wanted) {
            let all: Vec<&str> = figures::names().collect();
            return Err(Failure::Input(advice::unknown("figure", wanted, &all)));
        }
    }
    let known: Vec<&str> = METRICS.iter().map(|metric| metric.name).collect();
    if let Some(wanted) = args.metrics.iter().find(|wanted| !known.contains(&wanted.as_str())) {
        return Err(Failure::Input(advice::unknown("metric", wanted, &known)));
    }
    form(args).check()?;
    let wanted = |name: &&str| args.figures.is_empty() || args.figures.iter().any(|f| f == name);
    let mut all: Vec<String> = figures::names().filter(wanted).map(str::to_owned).collect();
    all.extend(args.metrics.iter().cloned());
    if args.figures.is_empty() && args.metrics.is_empty() {
        all.extend(figures::objectives().map(str::to_owned));
    }
    let names: Vec<String> = all.iter().flat_map(|name| names(args, name)).collect();
    let (folder, _) = Folder::check(&args.output, args.force, names.iter().map(String::as_str))?;
    Ok(folder)
}

/// The form of the pictures.
fn form(args: &Plot) -> Form {
    args.format.unwrap_or(match args.place {
        Place::Web => Form::Svg,
        Place::Paper => Form::Pdf,
        Place::Slide => Form::Png,
    })
}

/// The width in a paper.
fn width(args: &Plot) -> f64 {
    args.width.unwrap_or(Page::COLUMN)
}

/// The files of a figure: its picture, its numbers, and in a paper its caption.
fn names(args: &Plot, name: &str) -> Vec<String> {
    let mut endings = vec![form(args).ending(), "csv"];
    if args.place == Place::Paper {
        endings.push("tex");
    }
    endings.iter().map(|ending| format!("{name}.{ending}")).collect()
}

/// The name of a file and what it holds.
type File = (String, Vec<u8>);

/// The files of each figure: the picture, the numbers, and in a paper the caption.
fn files(args: &Plot, results: &Results, drawn: &Drawn) -> Result<Vec<Vec<File>>, Failure> {
    let all = |figure: &Figure| {
        let picture = file::bytes(&figure.picture, form(args).ending(), target(args))?;
        let mut contents = vec![picture, figure.data.csv()?.into_bytes()];
        let names = names(args, figure.name);
        if args.place == Place::Paper {
            let path = args.output.join(&names[0]);
            let (file, command) = (path.to_string_lossy(), command(args));
            let included = Included { figure, file: &file, width: width(args), command: &command };
            contents.push(latex(&included, results).into_bytes());
        }
        Ok(names.into_iter().zip(contents).collect())
    };
    drawn.figures.iter().map(all).collect::<Result<_, String>>().map_err(Failure::Output)
}

/// The command that draws the figures of a paper again.
fn command(args: &Plot) -> String {
    let words = ["oversim", "plot", &typed(&args.file), "--for", "paper"].map(str::to_owned);
    let mut words = words.to_vec();
    let mut option = |name: &str, value: String| words.extend([name.to_owned(), value]);
    option("--width", format!("{}mm", width(args)));
    if let Some(form) = args.format {
        option("--format", form.ending().to_owned());
    }
    for (name, values) in [("--figure", &args.figures), ("--metric", &args.metrics)] {
        if !values.is_empty() {
            option(name, values.join(","));
        }
    }
    option("-o", args.output.to_string_lossy().into_owned());
    words.extend(options(&args.changes, args.best_partition));
    line(&words)
}

fn write<'a>(folder: &Folder, files: impl Iterator<Item = &'a File>) -> Result<(), Failure> {
    let files: Vec<_> = files.map(|(name, all)| (name, output::bytes(all))).collect();
    if files.is_empty() { Ok(()) } else { folder.write(&files) }
}
