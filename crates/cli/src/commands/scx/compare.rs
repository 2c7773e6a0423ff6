//! `oversim scx compare`: the same scenarios under two schedulers, and where the difference lies.

use std::num::NonZeroUsize;
use std::process::ExitCode;

use decide::side_by_side::{self, Worst};
use decide::suite;
use decide::suite::bench::read_files;
use decide::trial::Subject;
use experiment::PolicyRegistry;
use experiment::export::View;
use scenario::Overrides;

use crate::args::ScxCompare;
use crate::commands::figure::PictureFile;
use crate::commands::matrix::{failure, measured};
use crate::commands::pair;
use crate::failure::Failure;
use crate::output::to_stdout;
use crate::say;

/// Runs both and prints.
pub(crate) fn compare(args: &ScxCompare, policies: &PolicyRegistry) -> Result<ExitCode, Failure> {
    let picture = args.timeline.as_deref().map(|path| PictureFile::check(path, args.force)).transpose()?;
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
    let jobs = args.jobs.map_or(0, NonZeroUsize::get);
    let both = given.each_ref().map(String::as_str);
    let answer = measured(jobs, |means| side_by_side::compare(&subjects, both, args.repeat, means))?;
    if let Some(picture) = picture {
        match answer.worst.as_ref().and_then(|worst| Some((worst, &subjects.get(worst.subject)?.1))) {
            Some((worst, subject)) => draw(worst, subject, &given, &picture)?,
            None => say::warning("no picture is written: no task waits longer under one policy"),
        }
    }
    to_stdout(|out| args.format.write(&answer, out, &View::FILE))?;
    Ok(ExitCode::SUCCESS)
}

/// Draws both runs around the worst moment of the task that lost most.
fn draw(
    worst: &Worst,
    subject: &Subject<'_>,
    policies: &[String; 2],
    picture: &PictureFile,
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
