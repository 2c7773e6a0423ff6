//! `oversim sweep phase-diagram`: which policy is best where, as picture, numbers and sentences.

use std::process::ExitCode;

use experiment::response::{self, Response, map::Map, regions};
use experiment::statements::doubts;
use experiment::{PolicyRegistry, neutral};
use pictures::figures::{Figure, Origin, phase};

use crate::args::PhaseDiagram;
use crate::commands::figure::Files;
use crate::commands::source;
use crate::failure::{BAD_END, Failure};
use crate::output;
use crate::say;

/// Draws the diagram and prints the sentences.
pub(crate) fn diagram(args: &PhaseDiagram, policies: &PolicyRegistry) -> Result<ExitCode, Failure> {
    let files = Files::check(&args.output, args.force, &[args.file.as_path()])?;
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
    files.write(&figure)?;
    output::to_stdout(|out| {
        for sentence in &sentences {
            writeln!(out, "{}", output::folded(&neutral::line(sentence), output::width()))?;
        }
        Ok(())
    })?;
    for name in files.names() {
        say::remark(format_args!("{name} written"));
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
