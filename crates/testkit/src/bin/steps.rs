//! One run of a benchmark's job and nothing else, to count instructions or to profile: `steps JOB POLICY
//! INTERVALS`.
//!
//! Jobs: `16`, `256`, ... (cpus, central barrier), `dissemination`, `fair`, `block`, `alone` (one task per
//! cpu), `compute` (no contention). `domain64`: 64 cpus on one memory controller, `domain64-off`: the same
//! without contention. `eevdf`: `dissemination` on Linux 6.18; `groups` and `group-polls`: `block` and
//! `dissemination` there, all tasks in one task group; `limited-groups`: that one with three quarters of the
//! cpus; `rival-groups`: two teams of half the size instead, each in a group of its own. `+` behind the name
//! of a policy: its tasks begin evenly spread.

#![expect(clippy::print_stdout, reason = "a tool for the terminal")]

use std::sync::Arc;

use policies::Choice;
use sim_core::engine::Simulation;
use sim_core::os::{Discipline, EevdfParams, Limit, OsModel, TaskGroup, YieldMode};
use sim_core::outcome::Options;
use sim_core::program::AppSpec;
use sim_core::time::Span;
use sim_core::wait::WaitMode;
use testkit::job::Job;
use testkit::seated::Seated;

fn job(name: &str, intervals: u32) -> Result<Job, String> {
    let small = Job::central(16, intervals);
    Ok(match name {
        "dissemination" | "eevdf" | "group-polls" | "limited-groups" => {
            Job { intervals, ..Job::dissemination(4, YieldMode::Posix) }
        }
        "rival-groups" => Job { intervals, ..Job::dissemination(2, YieldMode::Posix) },
        "fair" => Job { intervals, ..Job::dissemination(4, YieldMode::Default) },
        "block" | "groups" => Job { wait: WaitMode::Block, ..small },
        "alone" => Job { tasks_per_cpu: 1, ..small },
        "compute" => Job { contention: false, ..small },
        _ => {
            let (cpus, contention) = name.strip_suffix("-off").map_or((name, true), |cpus| (cpus, false));
            let (number, shared) = cpus.strip_prefix("domain").map_or((cpus, false), |cpus| (cpus, true));
            let cpus = number.parse().map_err(|_| format!("no job `{name}`"))?;
            let main = Job::central(cpus, intervals);
            Job { contention, domain: if shared { cpus } else { main.domain }, ..main }
        }
    })
}

/// The kernel of a job, and the task group of each of its teams.
fn kernel(name: &str, job: &Job) -> (OsModel, Vec<Option<u16>>) {
    let eevdf = Discipline::Eevdf(EevdfParams::scaled(job.cpus));
    let modern = OsModel { tick: Span::from_ms(4), tick_skew: false, discipline: eevdf, ..job.kernel() };
    let teams = match name {
        "groups" | "group-polls" | "limited-groups" => vec![Some(0)],
        "rival-groups" => vec![Some(0), Some(1)],
        _ => vec![None],
    };
    let period = Span::from_ms(10);
    let limit = Limit { quota: Span::from_us(7_500) * u64::from(job.cpus), period, burst: Span::ZERO };
    let limit = (name == "limited-groups").then_some(limit);
    let group = |number: &u16| TaskGroup { name: format!("{number}"), parent: None, weight: 1_024, limit };
    let groups: Vec<TaskGroup> = teams.iter().flatten().map(group).collect();
    let kernel =
        if name == "eevdf" || !groups.is_empty() { OsModel { groups, ..modern } } else { job.kernel() };
    (kernel, teams)
}

fn main() -> Result<(), String> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let [name, policy, intervals] = &words[..] else { return Err("steps JOB POLICY INTERVALS".into()) };
    let job = job(name, intervals.parse().map_err(|_| format!("`{intervals}` is no number"))?)?;
    let (bare, spread) = policy.strip_suffix('+').map_or((policy.as_str(), false), |bare| (bare, true));
    let entry = policies::find(bare).ok_or_else(|| format!("no policy {policy}"))?;
    let base = machines::resolve("barcelona")?.machine();
    let (machine, (kernel, teams)) = (job.machine(&base)?, kernel(name, &job));
    let team = |group: &Option<u16>| Ok(AppSpec { group: *group, ..job.app()? });
    let apps = teams.iter().map(team).collect::<Result<Vec<_>, String>>()?;
    let mut policy = Choice::new(entry).build(&machine, &kernel, &apps);
    if spread {
        policy = Box::new(Seated::evenly(policy));
    }
    let simulation = Simulation::new(Arc::new(machine), Arc::new(kernel), apps, Options::default())?;
    let report = simulation.run(policy.as_mut(), &mut ());
    println!("{} steps, digest {:016x}", job.steps() * teams.len() as u64, report.digest);
    Ok(())
}
