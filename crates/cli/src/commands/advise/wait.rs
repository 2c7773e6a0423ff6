//! `oversim advise wait`, and the machine that the answers about shapes assume.

use std::num::NonZeroUsize;
use std::process::ExitCode;

use decide::shapes::wait::{self, Question};
use experiment::PolicyRegistry;
use explain::machine_view::{self, Refusal};

use crate::args::AdviseWait;
use crate::commands::matrix::measured;
use crate::failure::Failure;
use crate::output::to_stdout;
use crate::say;

/// The machine where none is named.
const MACHINE: &str = "package:1 core:8";

/// How threads should wait.
pub(crate) fn wait(args: &AdviseWait, policies: &PolicyRegistry) -> Result<ExitCode, Failure> {
    let question = Question {
        machine: machine(args.node.machine.as_deref(), &args.node.kernel)?,
        kernel: args.node.kernel.clone(),
        runtime: args.runtime.clone(),
        regions: args.region.clone(),
        threads: args.threads.clone(),
        between: args.between,
        spread: args.spread,
        loads: args.load.clone(),
        seeds: args.answer.repeat,
        seed: args.answer.seed,
    };
    let jobs = args.answer.jobs.map_or(0, NonZeroUsize::get);
    let answer = measured(jobs, |means| wait::ask(&question, policies, means))?;
    to_stdout(|out| out.write_all(answer.written(args.answer.form()).as_bytes()))?;
    Ok(ExitCode::SUCCESS)
}

/// The machine that is named, or one of eight cores, which is said.
pub(super) fn machine(named: Option<&str>, kernel: &str) -> Result<String, Failure> {
    let machine = named.unwrap_or(MACHINE);
    machine_view::show(machine, Some(kernel)).map_err(|refusal| match refusal {
        Refusal::Sentence(text) => Failure::Input(text),
        Refusal::Rendered(text) => Failure::Rendered(text),
    })?;
    if named.is_none() {
        say::note(format_args!(
            "no --machine is given: \"{MACHINE}\" is assumed, with the costs of a present-day server; \
             `oversim machine import --host -o mine.yaml` describes this computer"
        ));
    }
    Ok(machine.to_owned())
}
