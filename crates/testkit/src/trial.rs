//! One run of the real engine under the eyes of all checkers.

use sim_core::engine::Simulation;
use sim_core::outcome::RunReport;
use sim_core::policy::Policy;
use sim_core::time::Span;

use crate::invariants::{Invariants, violations};
use crate::reasons::Reasons;
use crate::scenarios::Small;
use crate::watchdog::Watchdog;

/// A run and what was found wrong with it.
pub struct Trial {
    /// Its report.
    pub report: RunReport,
    /// What is wrong, in words: broken invariants, corrected decisions, accounts that do not add up, tasks
    /// that wait too long.
    pub found: Vec<String>,
    /// The reasons of its decisions.
    pub reasons: Reasons,
}

/// Runs a scenario under a policy; `limit` is the watchdog's. A corrected decision is a fault.
///
/// # Errors
/// Why the simulator refuses the scenario.
pub fn watched(small: &Small, policy: &mut dyn Policy, limit: Span) -> Result<Trial, String> {
    let mut trial = observed(small, policy, limit)?;
    if trial.report.corrections > 0 {
        trial.found.push(format!("{} decisions were refused or corrected", trial.report.corrections));
    }
    Ok(trial)
}

/// As [`watched`], for a policy whose decisions may be corrected.
///
/// # Errors
/// As [`watched`].
pub fn observed(small: &Small, policy: &mut dyn Policy, limit: Span) -> Result<Trial, String> {
    let mut eyes = ((Invariants::new(&small.apps), Watchdog::new(&small.apps)), Reasons::default());
    let Small { machine, model, apps, objects, options } = small.clone();
    let simulation = Simulation::with_objects(machine, model, apps, objects, options)?;
    let report = simulation.run(policy, &mut eyes);
    let ((invariants, watchdog), reasons) = eyes;
    let mut found = invariants.violations;
    found.extend(violations(&report));
    found.extend(watchdog.over(limit, report.makespan));
    Ok(Trial { report, found, reasons })
}
