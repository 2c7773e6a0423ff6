//! Simulates one run of a plan.

use policies::TaskGroups;
use scenario::plan::RunPlan;
use sim_core::engine::Simulation;
use sim_core::latency::Latencies;
use sim_core::observe::Observer;
use sim_core::outcome::{AppReport, Options, Outcome, RunReport};
use sim_core::policy::{Order, Policy};
use sim_core::program::Objects;
use sim_core::time::Time;

/// One run from beginning to end.
///
/// # Errors
/// Why the simulator refuses it, a sentence.
pub fn simulate_one(plan: &RunPlan, observer: &mut impl Observer) -> Result<RunReport, String> {
    simulate_under(plan, &mut *own_policy(plan), || own_policy(plan), observer)
}

/// The policy of a run.
pub(crate) fn own_policy(plan: &RunPlan) -> Box<dyn Policy> {
    plan.policy_choice.build(&plan.machine, &plan.kernel, &plan.apps)
}

/// One run under a policy that may be another one than its own. `again`: makes the same policy once more, for
/// the time before a window.
pub(crate) fn simulate_under<'a>(
    plan: &RunPlan,
    policy: &mut dyn Policy,
    again: impl FnOnce() -> Box<dyn Policy + 'a>,
    observer: &mut impl Observer,
) -> Result<RunReport, String> {
    let end = plan.options.horizon;
    let report = simulate_until(plan, end, policy, observer)?;
    match plan.window {
        None => Ok(report),
        Some(Time::ZERO) => Ok(in_window(report, None)),
        Some(begin) => {
            let before = simulate_until(plan, begin, &mut *again(), &mut ())?;
            Ok(in_window(report, Some(&before)))
        }
    }
}

fn simulate_until(
    plan: &RunPlan,
    end: Time,
    policy: &mut dyn Policy,
    observer: &mut impl Observer,
) -> Result<RunReport, String> {
    let entry = plan.policy_choice.entry;
    let told = entry.task_groups == TaskGroups::Told;
    if !plan.kernel.groups.is_empty() && policy.order() != Order::System && !told {
        let name = entry.name;
        return Err(format!(
            "the policy {name} orders the run queues itself; task groups (`session`, `cgroup`) are rules of \
             the \
             kernel's queues. Its entry has to say `task_groups: TaskGroups::Refused`"
        ));
    }
    let options = Options { horizon: end, ..plan.options };
    let objects = Objects::clone(&plan.objects);
    let simulation = Simulation::with_objects(
        plan.machine.clone(),
        plan.kernel.clone(),
        plan.apps.clone(),
        objects,
        options,
    )?;
    if !plan.latencies {
        return Ok(simulation.run(policy, observer));
    }
    let latencies = Latencies::new(plan.machine.cpus(), plan.apps.iter().map(|app| app.tasks));
    let mut both = (latencies.from(plan.window.unwrap_or(Time::ZERO)), &mut *observer);
    let mut report = simulation.run(policy, &mut both);
    report.add_latencies(both.0.finish());
    Ok(report)
}

/// What a run measured from the end of another one on, which is the same run cut off earlier. It is complete
/// if every foreground application still runs.
fn in_window(report: RunReport, before: Option<&RunReport>) -> RunReport {
    let runs_on = |app: &AppReport| app.background || app.end.is_none();
    let mut report = report;
    match report.outcome {
        Outcome::Horizon if report.apps.iter().all(runs_on) => report.outcome = Outcome::Completed,
        Outcome::Completed => report.outcome = Outcome::Horizon,
        _ => {}
    }
    if let Some(before) = before {
        report.subtract(before);
    }
    report
}
