//! `oversim selftest`: whether this build computes the results that were recorded for all builds.

use std::env::consts::{ARCH, OS};
use std::num::NonZeroUsize;
use std::process::ExitCode;

use experiment::provenance::MODEL;
use experiment::selftest::{Checked, check, scenarios};

use crate::args::Selftest;
use crate::failure::Failure;
use crate::identity;
use crate::output::to_stdout;

/// Simulates the scenarios and prints how many results are as recorded, and which are not.
pub(crate) fn selftest(args: &Selftest) -> Result<ExitCode, Failure> {
    let jobs = args.jobs.map_or(0, NonZeroUsize::get);
    let checked: Vec<Checked> = scenarios().map(|scenario| check(scenario, jobs)).collect();
    let wrong: Vec<&Checked> = checked.iter().filter(|one| !one.passed()).collect();
    to_stdout(|out| {
        for Checked { scenario, recorded, found } in &wrong {
            match found {
                Ok(found) => writeln!(out, "{scenario}: recorded {recorded}, computed {found}")?,
                Err(reason) => writeln!(out, "{scenario}: no result: {reason}")?,
            }
        }
        let (right, all) = (checked.len() - wrong.len(), checked.len());
        let version = identity::VERSION;
        writeln!(
            out,
            "{right} of {all} results are as recorded ({MODEL}, oversim {version}, {OS} on {ARCH})."
        )
    })?;
    Ok(if wrong.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
