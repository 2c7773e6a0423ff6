//! `oversim plot`: figures of a result, each with its numbers in a CSV file.

use std::process::ExitCode;

use experiment::metrics::METRICS;
use experiment::number::plural;
use experiment::result::Results;
use experiment::{PolicyRegistry, neutral};
use pictures::figures::{self, Drawn, Figure};

use super::source;
use crate::args::{Picture, Plot};
use crate::failure::{BAD_END, Failure};
use crate::output::Folder;
use crate::{advice, output, say};

/// Pixels of a PNG for one of the SVG: sharp on slides and dense screens.
const PNG_SCALE: f32 = 2.0;

/// Why there are no pictures of a window.
pub(crate) const NO_RUN_TIMES: &str = "figures and pages show run times, and with a `window` there are none: \
    use `oversim run` with `--format csv`";

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
    let drawn = draw(args, &results);
    let files = files(args, &drawn)?;
    write(&folder, &files)?;
    output::to_stdout(|out| {
        for (figure, (name, _)) in drawn.figures.iter().zip(files.iter().step_by(2)) {
            let path = args.output.join(name);
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

/// The figures that are asked for: all kinds and the metric of the objective if none are named.
fn draw(args: &Plot, results: &Results) -> Drawn {
    let nothing = Drawn { figures: Vec::new(), omitted: Vec::new() };
    let mut drawn = match (args.figures.is_empty(), args.metrics.is_empty()) {
        (true, false) => nothing,
        _ => figures::draw(results, &args.figures),
    };
    let asked = METRICS.iter().filter(|metric| args.metrics.iter().any(|name| name == metric.name));
    let judged =
        figures::of_objective(results).filter(|_| args.figures.is_empty() && args.metrics.is_empty());
    let mut seen: Vec<&str> = Vec::new();
    for metric in asked.chain(judged) {
        // Some names belong to an application and to the whole run.
        if seen.contains(&metric.name) {
            continue;
        }
        seen.push(metric.name);
        match figures::metric(results, metric) {
            Ok(figure) => drawn.figures.push(figure),
            Err(omitted) => drawn.omitted.push(omitted),
        }
    }
    drawn
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
fn check(args: &Plot) -> Result<Folder, Failure> {
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
    let wanted = |name: &&str| args.figures.is_empty() || args.figures.iter().any(|f| f == name);
    let mut all: Vec<String> = figures::names().filter(wanted).map(str::to_owned).collect();
    all.extend(args.metrics.iter().cloned());
    if args.figures.is_empty() && args.metrics.is_empty() {
        all.extend(figures::objectives().map(str::to_owned));
    }
    let names: Vec<String> = all.iter().flat_map(|name| both(args, name)).collect();
    let (folder, _) = Folder::check(&args.output, args.force, names.iter().map(String::as_str))?;
    Ok(folder)
}

/// How names of pictures end.
const fn ending(format: Picture) -> &'static str {
    match format {
        Picture::Svg => "svg",
        Picture::Png => "png",
    }
}

/// The files of a figure: its picture and its numbers.
fn both(args: &Plot, name: &str) -> [String; 2] {
    [ending(args.format), "csv"].map(|ending| format!("{name}.{ending}"))
}

/// The name of a file and what it holds.
type File = (String, Vec<u8>);

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
        Picture::Svg => Ok(figure.picture.svg().into_bytes()),
        Picture::Png => figure.picture.png(PNG_SCALE),
    }
}

fn write(folder: &Folder, files: &[File]) -> Result<(), Failure> {
    if files.is_empty() {
        return Ok(());
    }
    let files: Vec<_> = files.iter().map(|(name, all)| (name, output::bytes(all))).collect();
    folder.write(&files)
}
