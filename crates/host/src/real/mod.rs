//! Applications executed by the real runtime that their scenario names, in place of threads of our own.
//!
//! A program in C ([`build`]) does the steps of an application ([`steps`]) under the settings of its runtime
//! ([`settings`]).

pub mod build;
pub mod kinds;
pub mod order;
pub mod settings;
pub mod steps;

use scenario::plan::RunPlan;
use scenario::written::Written;
use sim_core::program::AppSpec;

use crate::job::{Job, Library};
use crate::plan::Program;

/// Why something is not executed, and what would be right instead.
pub type Refused = (String, String);

/// How an application was written.
fn written(plan: &RunPlan, at: usize) -> Option<&Written> {
    plan.written.get(*plan.entries.get(at)?)
}

/// The library that executes an application of a run; none for those that are threads of our own.
#[must_use]
pub fn library(plan: &RunPlan, at: usize) -> Option<Library> {
    Library::of(written(plan, at)?.runtime.name)
}

/// Why an application cannot be executed by its library.
///
/// # Errors
/// The first reason.
pub fn check(plan: &RunPlan, at: usize, library: Library) -> Result<(), Refused> {
    let (Some(app), Some(written)) = (plan.apps.get(at), written(plan, at)) else { return Ok(()) };
    let refused = |what: &str, right: &str| Err((what.to_owned(), right.to_owned()));
    if app.background {
        return refused(
            "a background application is not executed by a real runtime",
            "write `runtime: spin`",
        );
    }
    if written.of_threads.is_some() {
        return refused("processes with threads are not executed", "name one runtime");
    }
    if app.team > 1 && app.team != app.tasks {
        return refused("nested teams are not executed", "write `count: 1`");
    }
    if !app.own_runtimes.is_empty() {
        return refused("`by` is not executed: a process has one runtime", "leave it out");
    }
    settings::of(library, app, written).and_then(|_| steps::of(library, app, written)).map(|_| ())
}

/// Gives the programs of a run their jobs: those whose runtime is a real one.
///
/// # Errors
/// A sentence, as of [`check`].
pub fn attach(plan: &RunPlan, programs: &mut [Program]) -> Result<(), String> {
    for (at, (program, app)) in programs.iter_mut().zip(&plan.apps).enumerate() {
        let Some((library, written)) = library(plan, at).zip(written(plan, at)) else { continue };
        let job = job(program, app, library, written);
        let (job, work) =
            job.map_err(|(what, right)| format!("application `{}`: {what}: {right}", app.name))?;
        program.steps = work;
        program.real = Some(Box::new(job));
    }
    Ok(())
}

/// The job of an application, and its work for the naive prediction.
fn job(
    program: &Program,
    app: &AppSpec,
    library: Library,
    written: &Written,
) -> Result<(Job, Vec<crate::plan::Step>), Refused> {
    let settings = settings::of(library, app, written)?;
    let steps = steps::of(library, app, written)?;
    let mask = app.allowed.as_ref().map(|set| set.iter().map(|cpu| cpu.0).collect());
    let mut job = Job {
        library,
        mask: mask.unwrap_or_else(crate::facts::cpus),
        variables: settings.variables,
        launcher: settings.launcher,
        steps: steps.steps,
        regions: app.team > 1,
        bytes: steps.bytes,
        path: String::new(),
    };
    order::bind(&mut job, &program.threads);
    Ok((job, steps.work))
}
