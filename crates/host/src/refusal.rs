//! What cannot be made real is refused by name, before anything runs.

use scenario::plan::RunPlan;
use sim_core::admission::Admission;
use sim_core::os::Discipline;
use sim_core::program::{AppSpec, Op, Scheduling};
use sim_core::wait::BarrierKind;

use crate::facts::Host;
use crate::operations::unknown;
use crate::plan::{bound, speed, wait};
use crate::real;

/// Most threads of a run.
const MOST_THREADS: u32 = 1_024;
/// A task's demand for memory may differ by this share from what its memory-bound time reads on the machine.
const DEMAND: f64 = 0.15;

/// Why a run cannot be executed on this host: a sentence, with what would be right.
///
/// # Errors
/// The first reason.
pub fn check(plan: &RunPlan, host: &Host) -> Result<(), String> {
    check_by(plan, host, false)
}

/// The same; if `real`, applications whose runtime is a real one are executed by it.
///
/// # Errors
/// The first reason.
pub fn check_by(plan: &RunPlan, host: &Host, real: bool) -> Result<(), String> {
    machine(plan, host)?;
    kernel(plan, host)?;
    policy(plan)?;
    if plan.options.admission != Admission::UNLIMITED {
        return Err("`admission` has no counterpart on a real machine: leave it out".into());
    }
    if plan.window.is_some() {
        return Err("a `window` is not executed: give the programs work of about a second instead".into());
    }
    let threads: u32 = plan.apps.iter().map(|app| app.tasks).fold(0, u32::saturating_add);
    if threads > MOST_THREADS {
        return Err(format!("the run has {threads} tasks; at most {MOST_THREADS} are executed"));
    }
    groups(plan, host)?;
    plan.apps.iter().try_for_each(scheduling)?;
    let library = |at| if real { real::library(plan, at) } else { None };
    if real && (0..plan.apps.len()).all(|at| library(at).is_none()) {
        return Err("no application has a runtime that is executed: write `runtime: libgomp`, `libomp` or \
            `openmpi`"
            .into());
    }
    plan.apps.iter().enumerate().try_for_each(|(at, app)| match library(at) {
        Some(library) => starts(app)
            .and_then(|()| real::check(plan, at, library))
            .map_err(|(what, right)| format!("application `{}`: {what}: {right}", app.name)),
        None => application(app, plan),
    })
}

/// Sessions are executed if each application has its own: a process can begin a session, not join one.
fn groups(plan: &RunPlan, host: &Host) -> Result<(), String> {
    let groups = &plan.kernel.groups;
    if groups.is_empty() {
        return Ok(());
    }
    if groups.iter().any(|group| !group.name.starts_with("session ")) {
        return Err("control groups are not executed, because they need root: leave out `cgroup`".into());
    }
    let mut members: Vec<Option<u16>> = plan.apps.iter().map(|app| app.group).collect();
    members.sort_unstable();
    members.dedup();
    if members.len() != plan.apps.len() || members.contains(&None) {
        return Err("sessions are executed if each application has one of its own, or none has one".into());
    }
    if !host.autogroup {
        return Err("sessions form no groups on this host: sched_autogroup_enabled is not 1".into());
    }
    Ok(())
}

fn machine(plan: &RunPlan, host: &Host) -> Result<(), String> {
    let (name, cpus) = (&plan.machine.name, plan.machine.cpus());
    let here = host.cpus;
    if cpus != here {
        return Err(format!(
            "the machine `{name}` has {cpus} cpus, and this process may use {here}: `oversim calibrate host \
                -o mine.yaml` writes a file about this machine, and --machine mine.yaml uses it"
        ));
    }
    let first = plan.machine.core_speed.first();
    if plan.machine.core_speed.iter().any(|speed| Some(speed) != first) {
        return Err(format!(
            "the cores of the machine `{name}` differ in speed; only equal ones are executed"
        ));
    }
    Ok(())
}

fn kernel(plan: &RunPlan, host: &Host) -> Result<(), String> {
    let name = &plan.kernel.name;
    if !matches!(plan.kernel.discipline, Discipline::Eevdf(_)) {
        return Err(format!(
            "the kernel `{name}` is not the one of this host, Linux {}: write `kernel: linux-6.18`",
            host.release
        ));
    }
    if host.version().is_none_or(|version| version < (6, 6)) {
        return Err(format!(
            "this host runs Linux {}, whose scheduler is no model of oversim; Linux 6.6 or later is needed",
            host.release
        ));
    }
    Ok(())
}

fn policy(plan: &RunPlan) -> Result<(), String> {
    let choice = &plan.policy_choice;
    let name = choice.entry.name;
    if !matches!(name, "PIN" | "LOAD") {
        return Err(format!(
            "the policy `{name}` is not executed: PIN (bound threads) and LOAD (the balancer of this kernel) \
                are"
        ));
    }
    if choice.perturb.is_some() || choice.over.is_some() {
        return Err(format!("the policy `{name}` is perturbed or stacked, and that is not executed"));
    }
    if let Some((changed, _)) = choice.values.changed().first().filter(|_| name == "LOAD") {
        return Err(format!("`{changed}` of LOAD is not the balancer of this kernel: leave it out"));
    }
    Ok(())
}

/// Scheduling policies of a thread are set by a call that the library for system calls lacks.
fn scheduling(app: &AppSpec) -> Result<(), String> {
    if (0..app.tasks).all(|rank| app.scheduling_of(rank) == Scheduling::Other) {
        return Ok(());
    }
    Err(format!("`{}`: only SCHED_OTHER is executed: leave out `scheduling`", app.name))
}

/// What keeps an application from starting at an instant on stated cpus.
fn starts(app: &AppSpec) -> Result<(), real::Refused> {
    if !app.rebinds.is_empty() {
        return Err(("`affinity` is not executed".into(), "write `cpus`".into()));
    }
    if app.after.is_some() {
        return Err(("`after` is not executed".into(), "write `start`".into()));
    }
    Ok(())
}

fn application(app: &AppSpec, plan: &RunPlan) -> Result<(), String> {
    let name = &app.name;
    let refused = |what: &str, right: &str| Err(format!("application `{name}`: {what}: {right}"));
    starts(app).or_else(|(what, right)| refused(&what, &right))?;
    let synchronises = app.program.ops().contains(&Op::Barrier);
    if app.team > 1 {
        return refused("hybrid programs are not executed", "write a workload without teams");
    }
    if app.runtime.processes && synchronises {
        let name = &app.runtime.name;
        return refused(
            &format!("the runtime `{name}` has a process for each task"),
            "write `runtime: spin`, `yield` or `block`, whose tasks are threads",
        );
    }
    if synchronises && app.runtime.barrier != BarrierKind::Central {
        return refused("only central barriers are executed", "write `barrier: central` in its runtime");
    }
    if wait(app.runtime.wait).is_none() {
        return refused("`yield-to` is no system call of Linux", "write `wait: yield`");
    }
    if synchronises && app.runtime.polling.cycle.is_some() {
        return refused(
            "yields that are off for a time are not executed",
            "write `yield_off: 0` in its runtime",
        );
    }
    if let Some(what) = app.program.ops().iter().find_map(unknown) {
        return refused(&format!("{what} are not executed"), "write `spmd` without them, `hog` or `daemon`");
    }
    app.program.profiles().iter().try_for_each(|profile| {
        let bound = bound(profile, plan);
        let reads = bound * plan.machine.memory.core_bandwidth as f64;
        let demand = profile.demand as f64 * speed(plan);
        if (demand - reads).abs() <= DEMAND * reads {
            return Ok(());
        }
        let gb = |rate: f64| rate / 1e9;
        refused(
            &format!(
                "it demands {:.2} GB/s, and its memory-bound share of {:.0} % reads {:.2} GB/s on one core",
                gb(demand),
                bound * 100.0,
                gb(reads)
            ),
            "write a `demand` and a `bound` that fit the `core_bandwidth` of the machine, or neither",
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{experiment, runs};

    fn refused(scenario: &str) -> String {
        let base = "name: t\nmachine: core:2\nkernel: linux-6.18\n";
        let host = Host { cpus: 2, release: "6.18.44".into(), ..Host::unknown() };
        check(&runs(&experiment(&format!("{base}{scenario}")))[0], &host).unwrap_err()
    }

    #[test]
    fn each_refusal_names_what_and_what_would_be_right() {
        let plain = "apps: { a: { workload: { spmd: { work: 1s } } } }\npolicies: ";
        assert!(refused(&format!("{plain}[SPEED]")).contains("`SPEED` is not executed"));
        assert!(refused(&format!("{plain}[{{ LOAD: {{ newidle: off }} }}]")).contains("newidle"));
        for (app, said) in [
            ("workload: { spmd: { work: 1s, exchanges: 1 } }, runtime: spin", "exchanges between neighbours"),
            ("workload: { spmd: { work: 1s, demand: 1GB/s } }, runtime: spin", "demands 1.00 GB/s"),
            ("workload: { critical-section: { count: 2 } }", "critical sections"),
            ("workload: { npb: { benchmark: cg, class: S } }, runtime: block", "it demands"),
            ("workload: { spmd: { work: 1s } }", "central"),
            ("workload: { spmd: { work: 1s } }, runtime: mpi", "a process for each task"),
            ("workload: { spmd: { work: 1s } }, runtime: { spin: { barrier: tree } }", "central"),
            ("workload: { spmd: { work: 1s } }, runtime: { yield: { wait: yield-to } }", "yield-to"),
            ("workload: { spmd: { work: 1s } }, runtime: { openmp: { barrier: central } }", "`yield_off: 0`"),
        ] {
            let text = refused(&format!("apps: {{ a: {{ {app} }} }}\npolicies: [PIN]"));
            assert!(text.contains(said), "{app}: {text}");
        }
    }

    #[test]
    fn hosts_of_another_size_or_kernel_are_refused() {
        let text = "{ name: t, machine: 'core:4', kernel: linux-2.6.28, policies: [PIN], apps: { a: { \
            workload: hog }, b: { workload: { spmd: { work: 1s } }, runtime: block } } }";
        let run = &runs(&experiment(text))[0];
        let host = |cpus, release: &str| Host { cpus, release: release.into(), ..Host::unknown() };
        assert!(check(run, &host(2, "6.18.1")).unwrap_err().contains("4 cpus, and this process may use 2"));
        assert!(check(run, &host(4, "6.18.1")).unwrap_err().contains("kernel: linux-6.18"));
        let text = text.replace("linux-2.6.28", "linux-6.18");
        let run = &runs(&experiment(&text))[0];
        assert!(check(run, &host(4, "5.15.0-1")).unwrap_err().contains("Linux 6.6 or later"));
        assert!(check(run, &host(4, "6.18.1")).is_ok());
    }
}
