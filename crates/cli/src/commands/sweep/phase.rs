//! `oversim sweep phase-diagram`: which policy is best where, as picture, numbers and sentences.

use std::path::Path;
use std::process::ExitCode;

use experiment::response::{self, Response, map::Map, regions};
use experiment::statements::doubts;
use experiment::{PolicyRegistry, neutral};
use pictures::figures::{Figure, Origin, phase};

use crate::args::PhaseDiagram;
use crate::commands::source;
use crate::failure::{BAD_END, Failure};
use crate::output::{self, Target};
use crate::say;

/// Pixels of a PNG for each pixel of the SVG.
const SCALE: f32 = 2.0;

/// Draws the diagram and prints the sentences.
pub(crate) fn diagram(args: &PhaseDiagram, policies: &PolicyRegistry) -> Result<ExitCode, Failure> {
    let targets = targets(args)?;
    let at = pairs(&args.at)?;
    // Before anything is simulated.
    args.metric.as_deref().map_or(Ok(()), response::ranks).map_err(Failure::Input)?;
    let metric = (args.app.as_deref(), args.metric.as_deref());
    let opened = source::open_metric(&args.file, &args.changes, policies, metric)?;
    let flags = source::given(&args.changes, false);
    if !opened.simulated && !flags.is_empty() {
        return Err(source::refused(&flags, &opened.name));
    }
    let results = opened.results;
    let response = Response::chosen(&results, args.app.as_deref(), args.metric.as_deref());
    let drawn = response.and_then(|response| drawn(response, args, &at, &Origin::of(&results)));
    let (figure, mut sentences) = drawn.map_err(|why| Failure::Input(format!("{}: {why}", opened.name)))?;
    sentences.extend(doubts::of_result(&results));
    write(&targets, &figure)?;
    output::to_stdout(|out| {
        for sentence in &sentences {
            writeln!(out, "{}", output::folded(&neutral::line(sentence), output::width()))?;
        }
        Ok(())
    })?;
    for target in &targets {
        say::remark(format_args!("{} written", target.named().display()));
    }
    if results.all_completed() {
        return Ok(ExitCode::SUCCESS);
    }
    let count = results.notes.len();
    say::line(format_args!("warning: {count} of {} runs did not complete", results.provenance.runs));
    Ok(ExitCode::from(BAD_END))
}

/// The figure and the sentences of a response.
fn drawn(
    response: Response,
    args: &PhaseDiagram,
    at: &[(&str, &str)],
    origin: &Origin,
) -> Result<(Figure, Vec<String>), String> {
    let mut response = response;
    for (path, value) in at {
        response = response.at(path, value).map_err(|why| format!("--at {path}={value}: {why}"))?;
    }
    let side = |flag: &str, path: &Option<String>| {
        let found = path.as_deref().map(|path| response.axis(path)).transpose();
        found.map_err(|why| format!("{flag}: {why}"))
    };
    let map: Map = response.map(side("--x", &args.x)?, side("--y", &args.y)?)?;
    let figure = phase::figure(&response, &map, origin)?;
    let mut sentences = regions::sentences(&response, &map);
    match response.effects() {
        Ok(effects) => sentences.extend(effects.sentences(&response)),
        Err(why) => sentences.push(format!("There are no shares of the variance: {why}.")),
    }
    Ok((figure, sentences))
}

/// The picture and the numbers beside it, checked before anything is simulated.
fn targets(args: &PhaseDiagram) -> Result<[Target; 2], Failure> {
    let numbers = args.output.with_extension("csv");
    if !is_png(&args.output) && ending(&args.output).as_deref() != Some("svg") {
        let name = args.output.display();
        return Err(Failure::Input(format!(
            "`{name}` must end in .svg or .png: the ending selects the form of the picture"
        )));
    }
    let targets = [Target::check(&args.output, args.force)?, Target::check(&numbers, args.force)?];
    output::distinct(&targets.each_ref(), &[args.file.as_path()])?;
    Ok(targets)
}

fn ending(path: &Path) -> Option<String> {
    path.extension().and_then(|extension| extension.to_str()).map(str::to_ascii_lowercase)
}

fn is_png(path: &Path) -> bool {
    ending(path).as_deref() == Some("png")
}

/// Paths and values of `--at`.
fn pairs<'a>(at: &'a [String]) -> Result<Vec<(&'a str, &'a str)>, Failure> {
    let pair = |text: &'a String| {
        let (path, value) = text.split_once('=').ok_or_else(|| {
            Failure::Input(format!("--at {text}: write PATH=VALUE, as `threads_per_core=2`"))
        })?;
        Ok((path.trim(), value.trim()))
    };
    at.iter().map(pair).collect()
}

fn write(targets: &[Target; 2], figure: &Figure) -> Result<(), Failure> {
    let [picture, numbers] = targets;
    let bytes = match is_png(picture.named()) {
        true => figure.picture.png(SCALE).map_err(Failure::Output)?,
        false => figure.picture.svg().into_bytes(),
    };
    let table = figure.data.csv().map_err(Failure::Output)?;
    output::write_together(&[(picture, &output::bytes(&bytes)), (numbers, &output::bytes(table.as_bytes()))])
}
