//! The best static partition of the cores among the applications, searched by simulation.
//!
//! Space sharing leaves cores idle when programs end at different times; how much depends on the cut. The
//! search moves cores from whoever ends early to whoever ends last, in steps that get smaller, until no step
//! helps.

use std::collections::BTreeMap;

use policies::Choice;
use rayon::prelude::*;
use scenario::plan::{Experiment, RunPlan};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use sim_core::ids::CpuId;
use sim_core::machine::{CpuSet, Level, Machine};
use sim_core::outcome::{Outcome, RunReport};

use crate::simulate::simulate_one;

/// Most cuts tried at a configuration.
const MOST_TRIED: usize = 48;

/// The best static partition of a configuration.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct BestPartition {
    /// Label of the configuration.
    pub configuration: String,
    /// Applications (each copy by its name) and their cores, in order.
    pub cores: Vec<(String, u32)>,
    /// Number of partitions that were simulated.
    pub tried: usize,
}

/// A partition found, with its runs.
pub(crate) struct Found {
    pub(crate) best: BestPartition,
    /// The runs of all replicates, each with its plan.
    pub(crate) runs: Vec<(RunPlan, RunReport)>,
}

/// Searches every configuration; none at configurations where the cores cannot be divided: fewer cores than
/// applications, one application alone, or applications that are tied to cpus by the scenario.
///
/// # Errors
/// The reason for which the simulator refuses a run.
pub(crate) fn search(experiment: &Experiment) -> Result<Vec<Found>, String> {
    let configurations: Vec<usize> = (0..experiment.configurations.len()).collect();
    let each = configurations
        .par_iter()
        .with_max_len(1)
        .map(|configuration| Search::at(experiment, *configuration).map(Search::run).transpose());
    let found: Result<Vec<Option<Found>>, String> = each.collect();
    Ok(found?.into_iter().flatten().collect())
}

struct Search<'a> {
    experiment: &'a Experiment,
    configuration: usize,
    plans: Vec<&'a RunPlan>,
    /// The foreground applications among those of the plans.
    apps: Vec<usize>,
    tried: BTreeMap<Vec<u32>, RunReport>,
}

impl<'a> Search<'a> {
    fn at(experiment: &'a Experiment, configuration: usize) -> Option<Self> {
        let here =
            |plan: &&RunPlan| plan.configuration == configuration && plan.alone.is_none() && plan.policy == 0;
        let plans: Vec<&RunPlan> = experiment.runs.iter().filter(here).collect();
        let first = plans.first()?;
        let apps: Vec<usize> = (0..first.apps.len()).filter(|at| !first.apps[*at].background).collect();
        let tied = apps.iter().any(|at| first.apps[*at].allowed.is_some());
        let divisible = apps.len() > 1 && apps.len() as u32 <= cores(&first.machine) && !tied;
        divisible.then_some(Self { experiment, configuration, plans, apps, tried: BTreeMap::new() })
    }

    fn run(mut self) -> Result<Found, String> {
        let (cores, parts) = (cores(&self.plans[0].machine), self.apps.len() as u32);
        let mut best: Vec<u32> = (0..parts).map(|i| cores / parts + u32::from(i < cores % parts)).collect();
        let mut step = (cores / 4).max(1);
        let mut time = self.time(&best)?;
        loop {
            match self.better(&best, step, time)? {
                Some((cut, shorter)) => (best, time) = (cut, shorter),
                None if step == 1 => break,
                None => step /= 2,
            }
        }
        let runs: Result<Vec<_>, String> = self.plans.iter().map(|plan| self.simulate(plan, &best)).collect();
        let name = |at: &usize| self.plans[0].apps[*at].name.clone();
        Ok(Found {
            best: BestPartition {
                configuration: self.experiment.configurations[self.configuration].label.clone(),
                cores: self.apps.iter().map(name).zip(best).collect(),
                tried: self.tried.len(),
            },
            runs: runs?,
        })
    }

    /// A shorter cut than `best`: `step` cores go to the application that ends last, from the others in the
    /// order of their ends.
    fn better(&mut self, best: &[u32], step: u32, time: u64) -> Result<Option<(Vec<u32>, u64)>, String> {
        let ends: Vec<u64> = {
            let report = &self.tried[best];
            self.apps
                .iter()
                .map(|at| report.apps[*at].end.map_or(u64::MAX, sim_core::time::Time::ns))
                .collect()
        };
        let mut order: Vec<usize> = (0..ends.len()).collect();
        order.sort_by_key(|i| ends[*i]);
        let Some(last) = order.pop() else { return Ok(None) };
        for donor in order {
            if best[donor] <= step || self.tried.len() >= MOST_TRIED {
                continue;
            }
            let mut cut = best.to_vec();
            cut[donor] -= step;
            cut[last] += step;
            let shorter = self.time(&cut)?;
            if shorter < time {
                return Ok(Some((cut, shorter)));
            }
        }
        Ok(None)
    }

    /// Makespan of the first replicate, nanoseconds; u64::MAX when it does not complete.
    fn time(&mut self, cut: &[u32]) -> Result<u64, String> {
        if !self.tried.contains_key(cut) {
            let (_, report) = self.simulate(self.plans[0], cut)?;
            self.tried.insert(cut.to_vec(), report);
        }
        let report = &self.tried[cut];
        Ok(if report.outcome == Outcome::Completed { report.makespan.ns() } else { u64::MAX })
    }

    /// A replicate with each application on its own cores, its tasks pinned evenly.
    fn simulate(&self, plan: &RunPlan, cut: &[u32]) -> Result<(RunPlan, RunReport), String> {
        let Some(pin) = policies::find("PIN") else { return Err("there is no policy PIN".into()) };
        let mut plan =
            RunPlan { policy_choice: Choice::new(pin), policy: super::BEST_PARTITION.policy, ..plan.clone() };
        let mut first = 0;
        for (at, cores) in self.apps.iter().zip(cut) {
            let cpus =
                (first..first + cores).flat_map(|core| plan.machine.topology.members(Level::Core, core));
            plan.apps[*at].allowed = Some(CpuSet::of(cpus.map(CpuId)));
            first += cores;
        }
        let report = simulate_one(&plan, &mut ())?;
        Ok((plan, report))
    }
}

fn cores(machine: &Machine) -> u32 {
    machine.topology.count(Level::Core)
}
