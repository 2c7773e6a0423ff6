//! How the applications of a result are set up, and where policies left cpus unused: what the doubts about an
//! answer need besides its numbers.

use std::collections::{BTreeMap, BTreeSet};

use scenario::plan::{Experiment, RunPlan};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use sim_core::account::Category;
use sim_core::ids::{AppId, Id};
use sim_core::machine::{CpuSet, Level, Machine};
use sim_core::outcome::{Outcome, RunReport};
use sim_core::program::{AppSpec, MemoryProfile};

/// An application as it runs at some configurations, copies alike.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Setup {
    /// Positions of the configurations.
    pub configurations: Vec<usize>,
    /// The application.
    pub app: String,
    /// The machine.
    pub machine: String,
    /// Its tasks.
    pub tasks: u32,
    /// Cpus that it may use.
    pub cpus: u32,
    /// Cores that these belong to.
    pub cores: u32,
    /// Speed left to a hardware thread beside one that computes, in thousandths; absent on machines without
    /// hardware threads.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub smt_compute: Option<u32>,
    /// Least and largest part of the time of its operations in which it waits for memory, in thousandths, on
    /// machines with hardware threads: the rest shares a core by `smt_compute`, this by `smt_memory`. Absent
    /// in older results.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bound: Option<[u32; 2]>,
    /// Its tasks wait for each other and poll before they sleep, if they ever do.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub polls_first: bool,
    /// Its tasks wait for each other and poll without giving up the cpu.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub polls: bool,
    /// It is a kind of a program, which states its own tasks: no key of the application does.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub states_tasks: bool,
    /// Of a program that polls: other applications that may run on its cpus, background ones included.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub beside: Vec<String>,
    /// Tasks of these; 0 in older results.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub beside_tasks: u32,
    /// It is in a control group whose weight counts beside another group, and is bound to no cpus.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub weighted: bool,
    /// Tasks of its dedicated run; absent without one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dedicated: Option<u32>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
const fn is_zero(number: &u32) -> bool {
    *number == 0
}

/// A policy that left cpus without work while tasks shared others.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Unused {
    /// Position of the configuration.
    pub configuration: usize,
    /// Label of the policy.
    pub policy: String,
    /// Cpus on which no program computed.
    pub cpus: u32,
    /// Cpus on which some did.
    pub used: u32,
    /// Tasks of foreground programs that were there at the same time and may use any of them.
    pub tasks: u32,
}

/// A wait of at least this long without sleeping counts as polling: many times a wake-up, and about the slice
/// of Linux (libgomp polls 6 ms, libomp 200 ms).
const LONG_POLL_NS: u64 = 1_000_000;
/// A cpu that is busy for this part of the run is contended.
const BUSY: f64 = 0.9;

/// The applications of all configurations; those that are alike once.
pub(crate) fn of(experiment: &Experiment) -> Vec<Setup> {
    let mut setups = Setups::default();
    let mut seen = BTreeSet::new();
    let alone = alone(&experiment.runs);
    for plan in experiment.runs.iter().filter(|plan| plan.alone.is_none()) {
        if seen.insert(plan.configuration) {
            setups.add(&experiment.apps, plan.configuration, plan, &alone);
        }
    }
    setups.all
}

/// Tasks of dedicated runs, by configuration and application.
type Alone = BTreeMap<(usize, usize), u32>;

fn alone(runs: &[RunPlan]) -> Alone {
    let dedicated = runs.iter().filter_map(|run| Some((run, run.alone?, run.apps.first()?.tasks)));
    let each = dedicated.flat_map(|(run, app, tasks)| run.serves.iter().map(move |at| ((*at, app), tasks)));
    each.collect()
}

/// The applications of configurations that are resolved one after the other.
#[derive(Default)]
pub struct Setups {
    /// Those that are alike once.
    pub all: Vec<Setup>,
    places: BTreeMap<String, usize>,
}

impl Setups {
    /// Adds a configuration, which has these runs of one replicate. `apps`: the names of the applications.
    pub fn add_runs(&mut self, apps: &[String], configuration: usize, runs: &[RunPlan]) {
        if let Some(plan) = runs.iter().find(|plan| plan.alone.is_none()) {
            self.add(apps, configuration, plan, &alone(runs));
        }
    }

    /// Adds the applications of a run, with the dedicated runs that serve its configuration.
    fn add(&mut self, apps: &[String], configuration: usize, plan: &RunPlan, alone: &Alone) {
        let mut last = None;
        for (spec, entry) in plan.apps.iter().zip(&plan.entries) {
            // Copies of an application follow each other.
            if last.replace(*entry) == Some(*entry) {
                continue;
            }
            let setup =
                Setup::of(apps, plan, (spec, *entry), alone.get(&(plan.configuration, *entry)).copied());
            let key = format!("{} {setup:?}", apps[*entry]);
            match self.places.get(&key) {
                Some(at) => self.all[*at].configurations.push(configuration),
                None => {
                    self.places.insert(key, self.all.len());
                    self.all.push(Setup { configurations: vec![configuration], ..setup });
                }
            }
        }
    }
}

/// Least and largest memory-bound part of the operations of a program, in thousandths.
fn bound(spec: &AppSpec, machine: &Machine) -> [u32; 2] {
    let memory = &machine.memory;
    let full = u128::from(memory.node_bandwidth) * u128::from(memory.bound_demand) / 1_000;
    let of = |profile: &MemoryProfile| match profile.bound {
        Some(share) => (u64::from(share) * 1_000 / 65_536) as u32,
        None if memory.node_bandwidth == 0 => 0,
        None => (u128::from(profile.demand) * 1_000 / full.max(1)).min(1_000) as u32,
    };
    let all = spec.program.profiles().iter().map(of);
    [all.clone().min().unwrap_or(0), all.max().unwrap_or(0)]
}

impl Setup {
    /// Whether it is about this configuration.
    #[must_use]
    pub fn is_at(&self, configuration: usize) -> bool {
        self.configurations.contains(&configuration)
    }

    /// Whether several tasks that could have a cpu each do not, because of other applications.
    #[must_use]
    pub const fn is_crowded(&self) -> bool {
        self.tasks > 1 && self.tasks <= self.cpus && self.tasks + self.beside_tasks > self.cpus
    }

    /// Whether several tasks fill all cpus, alone or with other applications.
    #[must_use]
    pub const fn is_full(&self) -> bool {
        self.tasks > 1 && self.tasks + self.beside_tasks == self.cpus
    }

    fn of(apps: &[String], plan: &RunPlan, (spec, entry): (&AppSpec, usize), dedicated: Option<u32>) -> Self {
        let topology = &plan.machine.topology;
        let (cpus, cores) = match &spec.allowed {
            None => (topology.cpus(), topology.count(Level::Core)),
            Some(set) => {
                let mut cores: Vec<u32> = set.iter().map(|cpu| topology.group(Level::Core, cpu)).collect();
                cores.dedup();
                (set.len(), cores.len() as u32)
            }
        };
        let wait = &spec.runtime.wait;
        let smt = topology.span(Level::Core) > 1;
        let polls_first = spec.program.synchronises()
            && wait.sleeps_after().is_none_or(|limit| limit.ns() > 0)
            || spec.program.locks() > 0 && spec.lock.sleeps_after() != Some(0);
        let stays = wait.sleeps_after().is_none_or(|limit| limit.ns() >= LONG_POLL_NS);
        let polls = stays && !wait.yields() && spec.program.synchronises();
        let others = || plan.apps.iter().any(|other| other.group.is_some() && other.group != spec.group);
        let (beside, beside_tasks) = if polls { beside(apps, plan, (spec, entry)) } else { (Vec::new(), 0) };
        Self {
            configurations: Vec::new(),
            app: apps[entry].clone(),
            machine: plan.machine.name.clone(),
            tasks: spec.tasks,
            cpus,
            cores,
            smt_compute: smt.then_some(plan.machine.smt.compute),
            bound: smt.then(|| bound(spec, &plan.machine)),
            polls_first,
            polls,
            states_tasks: spec.named_locks,
            beside,
            beside_tasks,
            weighted: spec.group.is_some() && spec.allowed.is_none() && topology.cpus() > 1 && others(),
            dedicated,
        }
    }
}

/// The other applications that may run on some cpu that this one may use, and their tasks.
fn beside(apps: &[String], plan: &RunPlan, (spec, entry): (&AppSpec, usize)) -> (Vec<String>, u32) {
    let meets = |other: &AppSpec| match (&spec.allowed, &other.allowed) {
        (None, _) | (_, None) => true,
        (Some(own), Some(its)) => own.iter().any(|cpu| its.contains(cpu)),
    };
    // One that starts when the other has ended, or is admitted alone, is never beside it.
    let alone = plan.options.admission.jobs < 2 && !spec.background;
    let place = |at: Option<AppId>| at.and_then(|app| plan.entries.get(app.index()).copied());
    let others = plan.apps.iter().zip(&plan.entries).filter(|(other, at)| {
        let follows = place(other.after) == Some(entry) || place(spec.after) == Some(**at);
        **at != entry && meets(other) && !follows && (!alone || other.background)
    });
    let tasks = others.clone().map(|(other, _)| other.tasks).fold(0, u32::saturating_add);
    let mut entries: Vec<usize> = others.map(|(_, at)| *at).collect();
    entries.dedup();
    (entries.into_iter().map(|at| apps[at].clone()).collect(), tasks)
}

fn allows(spec: &AppSpec, cpu: sim_core::ids::CpuId) -> bool {
    spec.allowed.as_ref().is_none_or(|set| set.contains(cpu))
}

/// Where policies left cpus without work while tasks shared others, in any replicate.
pub(crate) fn unused(experiment: &Experiment, reports: &[RunReport]) -> Vec<Unused> {
    let mut found: BTreeMap<(usize, usize), Unused> = BTreeMap::new();
    for (plan, run) in experiment.runs.iter().zip(reports) {
        if plan.alone.is_some() || run.outcome != Outcome::Completed {
            continue;
        }
        let Some((cpus, used, tasks)) = unused_cpus(plan, run) else { continue };
        let Some(policy) = experiment.policies.get(plan.policy).cloned() else { continue };
        let place = (plan.configuration, plan.policy);
        found.entry(place).or_insert(Unused { configuration: plan.configuration, policy, cpus, used, tasks });
    }
    found.into_values().collect()
}

/// Cpus without work, cpus with work, and the tasks of foreground programs at the same time: where there are
/// fewer cpus with work than such tasks, and one of these cpus was busy nearly all the time.
fn unused_cpus(plan: &RunPlan, run: &RunReport) -> Option<(u32, u32, u32)> {
    let works = |cpu: &usize| run.cpus[*cpu].get(Category::Compute).ns() > 0;
    let (used, idle): (Vec<usize>, Vec<usize>) = (0..run.cpus.len()).partition(|cpu| works(cpu));
    let idle = CpuSet::of(idle.into_iter().map(|cpu| sim_core::ids::CpuId(cpu as u32)));
    if idle.is_empty() {
        return None;
    }
    let length = run.makespan.ns() as f64;
    let busy = |cpu: &usize| 1.0 - run.cpus[*cpu].get(Category::Idle).ns() as f64 / length;
    let contended = used.iter().filter(|cpu| busy(cpu) >= BUSY).count();
    // Programs that may use all of the idle cpus.
    let free = |spec: &AppSpec| !spec.background && idle.iter().all(|cpu| allows(spec, cpu));
    let mut changes: Vec<(u64, i64)> = Vec::new();
    for (spec, app) in plan.apps.iter().zip(&run.apps).filter(|(spec, _)| free(spec)) {
        let end = app.end.unwrap_or(run.makespan);
        changes.extend([(app.start.ns(), i64::from(spec.tasks)), (end.ns(), -i64::from(spec.tasks))]);
    }
    changes.sort_unstable();
    let (mut now, mut most) = (0, 0);
    for (_, change) in changes {
        now += change;
        most = most.max(now);
    }
    let (used, tasks) = (used.len() as u32, most as u32);
    (contended > 0 && tasks > used).then(|| (idle.len(), used, tasks))
}

#[cfg(test)]
mod tests {
    use scenario::{Overrides, load};

    use crate::run;

    fn results(text: &str) -> crate::result::Results {
        let experiment = load("test.yaml", text, &Overrides::default()).unwrap();
        run::run(&experiment, 1, &|_, _| ()).unwrap()
    }

    #[test]
    fn setups_say_who_polls_beside_whom() {
        let text = "
name: s
machine: { \"core:2\": {} }
apps:
  team: { tasks: 2, workload: { spmd: { intervals: 2, work: 2ms } }, runtime: spin }
  other: { tasks: 1, workload: { spmd: { intervals: 2, work: 2ms } }, runtime: block, cpus: [1] }
policies: [LOAD]
sweep: { apps.team.tasks: [1, 2], kernel.tick: [1ms, 2ms] }
";
        let setups = results(text).provenance.setups;
        let team: Vec<_> = setups.iter().filter(|setup| setup.app == "team").collect();
        assert_eq!(team.len(), 2, "those of other ticks are alike");
        assert_eq!((team[1].tasks, team[1].cpus, team[1].configurations.len()), (2, 2, 2));
        assert!(team[1].polls && team[1].beside == ["other"] && team[1].dedicated == Some(2));
        assert!(team[1].is_crowded() && team[1].beside_tasks == 1 && !team[0].is_crowded());
        let other = setups.iter().find(|setup| setup.app == "other").unwrap();
        assert!(!other.polls && other.cpus == 1);
    }

    #[test]
    fn cpus_that_a_policy_leaves_alone_are_counted() {
        let text = |policy: &str| {
            format!(
                "
name: s
machine: {{ \"core:4\": {{}} }}
apps:
  a: {{ tasks: 1, workload: {{ hog: {{ work: 20ms }} }} }}
  b: {{ tasks: 1, workload: {{ hog: {{ work: 20ms }} }} }}
policies: [{policy}]
"
            )
        };
        let unused = results(&text("PIN")).provenance.unused;
        assert_eq!((unused[0].cpus, unused[0].used, unused[0].tasks), (3, 1, 2));
        assert!(results(&text("LOAD")).provenance.unused.is_empty());
    }
}
