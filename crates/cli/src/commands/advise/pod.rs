//! `oversim advise pod`.

use std::num::NonZeroUsize;
use std::process::ExitCode;

use decide::shapes::pod::{self, Procs, Question, Read};
use experiment::PolicyRegistry;

use super::wait::machine;
use crate::args::AdvisePod;
use crate::commands::matrix::measured;
use crate::failure::{BAD_END, Failure};
use crate::output::to_stdout;
use crate::{input, say};

/// Most bytes of a file.
const MAX_BYTES: u64 = 4 << 20;

/// Response times of a pod by its limit, or a check of its own limit.
pub(crate) fn pod(args: &AdvisePod, policies: &PolicyRegistry) -> Result<ExitCode, Failure> {
    let read = read(args)?;
    let limit = args.limit.or(read.limit);
    let request = args.request.or(read.request);
    if let (Some(limit), Some(request)) = (limit, request)
        && request > limit
    {
        let text =
            format!("a request of {request}m is above the limit of {limit}m: Kubernetes refuses such a pod");
        return Err(Failure::Input(text));
    }
    if args.check && limit.is_none() {
        let text = "--check judges the limit of the pod, and there is none: write --limit 2";
        return Err(Failure::Input(text.to_owned()));
    }
    let mut limits: Vec<u64> = args.limits.iter().copied().chain(limit).collect();
    limits.sort_unstable();
    limits.dedup();
    let question = Question {
        name: read.name,
        machine: machine(args.node.machine.as_deref(), &args.node.kernel)?,
        kernel: args.node.kernel.clone(),
        rate: args.arrivals,
        service: args.service,
        parallel: args.parallel,
        request,
        limit,
        period: args.period,
        bursts: args.burst.clone(),
        procs: args.gomaxprocs.or(read.procs).unwrap_or(Procs::Limit),
        beside: args.beside.unwrap_or(0),
        limits,
        target: args.target,
        seeds: args.answer.repeat,
        seed: args.answer.seed,
    };
    let (jobs, form) = (args.answer.jobs.map_or(0, NonZeroUsize::get), args.answer.form());
    if args.check {
        let checked = measured(jobs, |means| pod::check(&question, policies, means))?;
        to_stdout(|out| out.write_all(checked.written(form).as_bytes()))?;
        return Ok(if checked.passes() { ExitCode::SUCCESS } else { ExitCode::from(BAD_END) });
    }
    let answer = measured(jobs, |means| pod::ask(&question, policies, means))?;
    to_stdout(|out| out.write_all(answer.written(form).as_bytes()))?;
    Ok(ExitCode::SUCCESS)
}

/// What the file says; nothing without one.
fn read(args: &AdvisePod) -> Result<Read, Failure> {
    let Some(path) = &args.file else {
        let name = "pod".to_owned();
        return Ok(Read { name, limit: None, request: None, procs: None, remarks: Vec::new() });
    };
    let (name, text) = input::file(path, MAX_BYTES, "pod")?;
    let read = pod::read(&name, &text, args.container.as_deref())?;
    read.remarks.iter().for_each(say::note);
    Ok(read)
}
