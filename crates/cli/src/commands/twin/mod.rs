//! `oversim twin`: recordings of real runs.

mod import;
#[cfg(target_os = "linux")]
pub(crate) mod record;
mod recorded;
mod reports;

use std::process::ExitCode;

use experiment::PolicyRegistry;

use crate::args::Twin;
use crate::failure::Failure;

/// Executes one of the commands.
pub(crate) fn twin(command: &Twin, policies: &PolicyRegistry) -> Result<ExitCode, Failure> {
    match command {
        Twin::Record(args) => crate::on_this_host::record(args),
        Twin::Import(args) => import::import(args, policies),
        Twin::Check(args) => import::check(args, policies),
        Twin::Latency(args) => reports::latency(args, policies),
        Twin::Timehist(args) => reports::timehist(args, policies),
        Twin::Split(args) => reports::split(args, policies),
        Twin::Idle(args) => reports::idle(args, policies),
    }
}
