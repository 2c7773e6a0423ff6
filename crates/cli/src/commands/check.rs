//! `oversim check`: whether scenarios are valid, and how many runs each has.

use std::process::ExitCode;

use experiment::{PolicyRegistry, neutral};

use super::source;
use crate::args::Check;
use crate::failure::{BAD_INPUT, Failure};
use crate::input;
use crate::output::{to_stdout, write_folded};

/// Checks every scenario; errors go to standard error, a line per valid scenario to standard output.
pub(crate) fn check(args: &Check, policies: &PolicyRegistry) -> Result<ExitCode, Failure> {
    let overrides = source::edited(&args.edits);
    let mut all_good = true;
    for path in &args.files {
        let loaded = input::scenario(path).and_then(|(name, text)| {
            let loaded = source::load(policies, &name, &text, &overrides)?;
            Ok((name, loaded))
        });
        match loaded {
            Ok((name, experiment)) => {
                let line = format!("{}: ok, {}", neutral::line(&name), experiment.size());
                to_stdout(|out| write_folded(&line, out))?;
                for line in experiment.units() {
                    to_stdout(|out| write_folded(&format!("  {line}"), out))?;
                }
            }
            Err(failure) => {
                // The exit code follows when all scenarios have been checked.
                let _ = failure.report();
                all_good = false;
            }
        }
    }
    Ok(if all_good { ExitCode::SUCCESS } else { ExitCode::from(BAD_INPUT) })
}
