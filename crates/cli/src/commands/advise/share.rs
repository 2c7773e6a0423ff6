//! `oversim advise share`.

use std::path::PathBuf;
use std::process::ExitCode;

use decide::matrix::Changes;
use decide::shapes::share::{self, Log, Mix};
use experiment::PolicyRegistry;
use experiment::export::View;

use crate::args::AdviseShare;
use crate::commands::matrix;
use crate::failure::Failure;
use crate::input;
use crate::output::to_stdout;

/// Longest log that is read, in bytes: a million jobs with a few fields.
const MOST_LOG: u64 = 256 << 20;

pub(crate) fn share(args: &AdviseShare, policies: &PolicyRegistry) -> Result<ExitCode, Failure> {
    let (scenarios, logs) = sorted(&args.files)?;
    if scenarios.is_empty() {
        return Err(Failure::Input(
            "a log names jobs, and a scenario must describe them: `oversim profile` writes one".to_owned(),
        ));
    }
    let changes = args.together.changes();
    let mix = match (&args.mix, &logs[..]) {
        (Some(_), [_, ..]) => {
            return Err(Failure::Input("--mix and a log both say how often programs run".to_owned()));
        }
        (Some(text), []) => Mix::parse(text).map_err(Failure::Input)?,
        (None, []) => Mix::even(),
        (None, logs) => {
            let all = matrix::programs(&scenarios, &changes, policies)?;
            let names: Vec<String> = all.programs.into_iter().map(|program| program.name).collect();
            Log::mix(logs, &names).map_err(Failure::Input)?
        }
    };
    let named = mix.names();
    let only = if named.is_empty() { changes.only.clone() } else { named };
    let programs = matrix::programs(&scenarios, &Changes { only, ..changes }, policies)?;
    let (most, effort) = (usize::from(args.most_jobs), args.together.effort());
    let advice = matrix::measured(args.together.threads(), |means| {
        share::advise((&programs, policies), &mix, most, effort, means)
    })?;
    to_stdout(|out| args.format.write(&advice, out, &View::FILE))?;
    Ok(ExitCode::SUCCESS)
}

/// The scenarios and the logs among files.
fn sorted(files: &[PathBuf]) -> Result<(Vec<PathBuf>, Vec<Log>), Failure> {
    let (mut scenarios, mut logs) = (Vec::new(), Vec::new());
    for path in files {
        // Names of built-in scenarios, and standard input, are no files.
        let text = if path.is_file() { Some(input::file(path, MOST_LOG, "a log")?) } else { None };
        match text {
            Some((name, text)) if share::is_log(&text) => {
                logs.push(Log::read(&name, &text).map_err(Failure::Input)?);
            }
            _ => scenarios.push(path.clone()),
        }
    }
    Ok((scenarios, logs))
}
