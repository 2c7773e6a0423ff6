//! Simulates one run of a plan.

use scenario::plan::RunPlan;
use sim_core::engine::Simulation;
use sim_core::latency::Latencies;
use sim_core::observe::Observer;
use sim_core::outcome::RunReport;
use sim_core::policy::Policy;

/// One run from beginning to end.
///
/// # Errors
/// Why the simulator refuses it, a sentence.
pub fn simulate_one(plan: &RunPlan, observer: &mut impl Observer) -> Result<RunReport, String> {
    let mut policy = plan.policy_choice.build(&plan.machine, &plan.kernel, &plan.apps);
    simulate_under(plan, &mut *policy, observer)
}

/// One run under a policy that may be another one than its own.
pub(crate) fn simulate_under(
    plan: &RunPlan,
    policy: &mut dyn Policy,
    observer: &mut impl Observer,
) -> Result<RunReport, String> {
    let simulation =
        Simulation::new(plan.machine.clone(), plan.kernel.clone(), plan.apps.clone(), plan.options)?;
    if !plan.latencies {
        return Ok(simulation.run(policy, observer));
    }
    let mut both =
        (Latencies::new(plan.machine.cpus(), plan.apps.iter().map(|app| app.tasks)), &mut *observer);
    let mut report = simulation.run(policy, &mut both);
    report.add_latencies(both.0.finish());
    Ok(report)
}
