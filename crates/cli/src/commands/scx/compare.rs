//! `oversim scx compare`: the same scenarios under two schedulers, and where the difference lies.

use std::num::NonZeroUsize;
use std::process::ExitCode;
use std::sync::atomic::AtomicBool;

use decide::side_by_side::{self, Worst};
use decide::suite;
use decide::suite::bench::read_files;
use decide::trial::{Means, Subject};
use experiment::PolicyRegistry;
use scenario::Overrides;

use crate::args::{CompareFormat, ScxCompare};
use crate::bar::Bar;
use crate::commands::matrix::failure;
use crate::commands::pair;
use crate::commands::why::failed;
use crate::failure::Failure;
use crate::{output, say};

/// Most columns of the text.
const MOST_COLUMNS: usize = 100;

/// Runs both and prints.
pub(crate) fn compare(args: &ScxCompare, policies: &PolicyRegistry) -> Result<ExitCode, Failure> {
    let picture = args.timeline.as_deref().map(|path| pair::target(path, args.force)).transpose()?;
    let given = [&args.first, &args.second].map(String::clone);
    let (policies, _) = read_files(policies, &given).map_err(Failure::Input)?;
    let cells = suite::load(&args.on.join(",")).map_err(failure)?;
    let mut subjects = Vec::new();
    for cell in &cells {
        let mut subject = cell.subject(&policies, args.seed, None);
        subject.base.set.extend_from_slice(&args.set);
        subject.base.warn = false;
        subjects.push((cell.name.clone(), subject));
    }
    let bar = Bar::new(0, "runs");
    let stop = AtomicBool::new(false);
    let progress = || bar.inc();
    let means = Means { jobs: args.jobs.map_or(0, NonZeroUsize::get), progress: &progress, stop: &stop };
    let answer = side_by_side::compare(&subjects, given.each_ref().map(String::as_str), args.repeat, means);
    say::clear_bar();
    let answer = answer.map_err(failed)?;
    if let Some(picture) = picture {
        match answer.worst.as_ref().and_then(|worst| Some((worst, &subjects.get(worst.subject)?.1))) {
            Some((worst, subject)) => draw(worst, subject, &given, &picture)?,
            None => say::warning("no picture is written: no task waits longer under one policy"),
        }
    }
    let text = match args.format {
        CompareFormat::Text => side_by_side::text(&answer, output::width().clamp(60, MOST_COLUMNS)),
        CompareFormat::Json => side_by_side::json(&answer),
        CompareFormat::Markdown => side_by_side::markdown(&answer),
        CompareFormat::Csv => side_by_side::csv(&answer),
    };
    output::to_stdout(|out| out.write_all(text.as_bytes()))?;
    Ok(ExitCode::SUCCESS)
}

/// Draws both runs around the worst moment of the task that lost most.
fn draw(
    worst: &Worst,
    subject: &Subject<'_>,
    policies: &[String; 2],
    picture: &pair::Picture,
) -> Result<(), Failure> {
    let overrides = Overrides {
        repeat: Some(1),
        policies: policies.to_vec(),
        without_sweep: true,
        ..subject.base.clone()
    };
    let experiment = scenario::load_with(subject.policies, subject.name, subject.text, &overrides)
        .map_err(Failure::Rendered)?;
    pair::draw(&experiment, Some(worst.window_ns), picture)
}
