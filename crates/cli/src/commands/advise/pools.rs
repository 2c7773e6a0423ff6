//! `oversim advise pools`.

use std::num::NonZeroUsize;
use std::process::ExitCode;

use decide::shapes::pools::{self, Question};
use experiment::PolicyRegistry;

use super::wait::machine;
use crate::args::AdvisePools;
use crate::commands::matrix::measured;
use crate::failure::Failure;
use crate::output::to_stdout;

/// How many workers with how many threads each.
pub(crate) fn pools(args: &AdvisePools, policies: &PolicyRegistry) -> Result<ExitCode, Failure> {
    let question = Question {
        machine: machine(args.node.machine.as_deref(), &args.node.kernel)?,
        kernel: args.node.kernel.clone(),
        runtime: args.runtime.clone(),
        outer: args.outer.clone(),
        inner: args.inner.clone(),
        work: args.work,
        region: args.region,
        meetings: args.meetings,
        serial: args.serial,
        spread: args.spread,
        quota: args.cpus,
        seeds: args.answer.repeat,
        seed: args.answer.seed,
    };
    let jobs = args.answer.jobs.map_or(0, NonZeroUsize::get);
    let answer = measured(jobs, |means| pools::ask(&question, policies, means))?;
    to_stdout(|out| out.write_all(answer.written(args.answer.form()).as_bytes()))?;
    Ok(ExitCode::SUCCESS)
}
