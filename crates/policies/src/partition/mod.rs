//! `PARTITION`: every application gets cores of its own, whole packages where there are enough; once, or anew
//! at every change.
//!
//! Idea: space sharing. Source: the "partitioned by sockets" runs that Iancu, Hofmeyr, Blagojevic, Zheng,
//! "Oversubscription on Multicore Processors" (IPDPS 2010), compare sharing with; the cut that follows
//! arrivals and exits is the dynamic space sharing of Tucker and Gupta, "Process control and scheduling
//! issues for multiprogrammed shared-memory multiprocessors" (SOSP 1989), without their control of the number
//! of threads.

mod cut;

use std::sync::Arc;

use notation::parameter::Values;
use notation::{choices, parameters};
use sim_core::ids::{AppId, CpuId, TaskId};
use sim_core::machine::{CpuSet, Level as Tree, Topology};
use sim_core::policy::{Affinity, CpuChoice, Placement, Policy, System, TaskState, View, Why};
use sim_core::program::AppSpec;

use crate::entry::{Entry, Level, Setting, Showcase, TaskGroups};
use crate::spread::allowed_cpus;

/// Its entry in the registry.
pub(crate) const ENTRY: Entry = Entry {
    name: "PARTITION",
    summary: "disjoint sets of packages or cores, one per application, divided once or again at every \
        arrival and exit",
    source: "Iancu, Hofmeyr, Blagojevic, Zheng: Oversubscription on Multicore Processors, IPDPS 2010 \
        (static, by socket); \
Tucker, Gupta: Process control and scheduling issues, SOSP 1989 (dynamic)",
    level: Level::UserLevel,
    task_groups: TaskGroups::Kept,
    parameters: Parameters::TABLE,
    text: include_str!("partition.md"),
    wins: Showcase { scenario: "space_or_time", label: "PARTITION", against: "LOAD", app: "fine", point: "" },
    loses: Showcase { scenario: "space_or_time", label: "PARTITION", against: "PIN", app: "all", point: "" },
    build: &build,
};

choices! {
    /// The words of `cut`.
    pub enum Cut { Static = "static", Dynamic = "dynamic" }
}

choices! {
    /// The words of `unit`.
    pub enum Unit { Socket = "socket", Core = "core" }
}

choices! {
    /// The words of `share`.
    pub enum Share { Equal = "equal", Threads = "threads" }
}

parameters! {
    /// Parameters of `PARTITION`.
    pub struct Parameters {
        /// Bind each task to one cpu of its application's set instead of to the set.
        pin: bool = true;
        /// Divide once, or again at every start and exit of an application.
        cut: Cut = Cut::Static;
        /// What is divided: packages while there are enough of them, or cores.
        unit: Unit = Unit::Socket;
        /// Whether every application gets the same share, or a share in proportion to its number of threads.
        share: Share = Share::Equal;
        /// Static: the number of equal parts. 0 means one part for each application that does not wait for
        /// the end of another one.
        parts: usize = 0, in 0..=4_096;
        /// Static: the number of cores of each part, for example `[12, 4]`, from core 0 on. Cores beyond
        /// their sum stay unused.
        cores: Vec<u32> = 0, in 1..=1 << 22;
    }
}

fn build(values: &Values, setting: &Setting<'_>) -> Box<dyn Policy> {
    let values = Parameters::from(values);
    Box::new(Partition::new(&values, setting.apps, &setting.machine.topology))
}

/// What is known of an application.
#[derive(Clone, Debug)]
struct Job {
    threads: u64,
    background: bool,
    /// The cpus of its inherited mask; known once it starts.
    inherited: CpuSet,
    /// Its number among those that do not wait for another one's end, or that of the one it waits for.
    home: usize,
    /// The cpus it has now.
    set: Vec<CpuId>,
    /// The cpu of each task with `pin`; empty before it starts.
    seats: Vec<Option<CpuId>>,
    live: bool,
    /// The static part it is in.
    part: Option<usize>,
}

struct Partition {
    pin: bool,
    dynamic: bool,
    by_core: bool,
    by_threads: bool,
    /// The parts of a static cut.
    parts: Vec<Vec<CpuId>>,
    jobs: Vec<Job>,
}

impl Partition {
    fn new(values: &Parameters, apps: &[AppSpec], topology: &Topology) -> Self {
        let explicit = &values.cores;
        let mut jobs: Vec<Job> = Vec::with_capacity(apps.len());
        let mut weights = Vec::new();
        for app in apps {
            let waits_for = app.after.and_then(|before| jobs.get(before.0 as usize)).map(|job| job.home);
            let home = waits_for.unwrap_or(weights.len());
            if waits_for.is_none() && !app.background {
                weights.push(u64::from(app.tasks));
            }
            jobs.push(Job {
                threads: u64::from(app.tasks),
                background: app.background,
                inherited: CpuSet::default(),
                home,
                set: Vec::new(),
                seats: Vec::new(),
                live: false,
                part: None,
            });
        }
        let mut partition = Self {
            pin: values.pin,
            dynamic: values.cut == Cut::Dynamic && explicit.is_empty(),
            by_core: values.unit == Unit::Core,
            by_threads: values.share == Share::Threads,
            parts: Vec::new(),
            jobs,
        };
        let asked = values.parts;
        if asked > 0 {
            weights = vec![1; asked];
        }
        partition.parts = match (partition.dynamic, explicit.is_empty()) {
            (true, _) => Vec::new(),
            (_, false) => in_a_row(topology, explicit),
            _ => partition.divide(topology, &weights, &vec![Vec::new(); weights.len()]),
        };
        partition
    }

    /// Divides the machine among parties of these weights that hold these cpus; in turn when there are too
    /// many.
    fn divide(&self, topology: &Topology, weights: &[u64], held: &[Vec<CpuId>]) -> Vec<Vec<CpuId>> {
        let parties = weights.len() as u32;
        let packages = !self.by_core && topology.count(Tree::Package) >= parties;
        let unit = if packages { Tree::Package } else { Tree::Core };
        let units = topology.count(unit);
        if units < parties {
            let cpus = |party: u32| topology.members(unit, party % units).map(CpuId).collect();
            return (0..parties).map(cpus).collect();
        }
        let mut owner = vec![None; topology.count(Tree::Core) as usize];
        let mut cores = vec![0; weights.len()];
        for (party, set) in held.iter().enumerate() {
            for cpu in set {
                let owner = &mut owner[topology.group(Tree::Core, *cpu) as usize];
                if *owner != Some(party) {
                    cores[party] += 1;
                }
                *owner = Some(party);
            }
        }
        let portions: Vec<u32> = if self.by_threads {
            cut::portions(units, weights, &cores)
        } else {
            cut::portions(units, &vec![1; weights.len()], &cores)
        };
        let width = topology.count(Tree::Core) / units;
        let mut sets = vec![Vec::new(); weights.len()];
        for (at, party) in cut::deal(&portions, width, &owner).into_iter().enumerate() {
            if let Some(party) = party {
                sets[party].extend(topology.members(unit, at as u32).map(CpuId));
            }
        }
        sets
    }

    /// Divides the machine among those that are there, and rebinds who is affected.
    fn recut(&mut self, system: &mut dyn System) {
        let live: Vec<usize> = (0..self.jobs.len()).filter(|i| self.jobs[*i].live).collect();
        if live.is_empty() {
            return;
        }
        let weights: Vec<u64> = live.iter().map(|i| self.jobs[*i].threads).collect();
        let held: Vec<Vec<CpuId>> = live.iter().map(|i| self.jobs[*i].set.clone()).collect();
        let sets = self.divide(&system.machine().topology, &weights, &held);
        let changed = sets.iter().zip(&held).filter(|(new, old)| new != old).count();
        let why =
            Why::rule("divided again among the running applications").with("applications", live.len() as u64);
        system.remark(why.with("sets that change", changed as u64));
        for (job, set) in live.into_iter().zip(sets) {
            self.give(system, job, set, "rebound: the machine is divided again, its cpu or share changes");
        }
    }

    /// The part of a job that starts: its own, else the first free one, else the one with the fewest.
    fn part_of(&self, job: &Job) -> Option<usize> {
        let mut users = vec![0u32; self.parts.len()];
        for part in self.jobs.iter().filter(|job| job.live).filter_map(|job| job.part) {
            users[part] += 1;
        }
        let own = users.get(job.home).filter(|users| **users == 0).map(|_| job.home);
        own.or_else(|| (0..users.len()).min_by_key(|part| users[*part]))
    }

    /// Gives an application a set of cpus and binds the tasks for which that changes something.
    fn give(&mut self, system: &mut dyn System, job: usize, set: Vec<CpuId>, rule: &'static str) {
        let (pin, this) = (self.pin, &mut self.jobs[job]);
        let usable: Vec<CpuId> = set.iter().copied().filter(|cpu| this.inherited.contains(*cpu)).collect();
        let same = this.set == set && !this.seats.is_empty();
        this.set = set;
        let view = system.app(AppId(job as u32));
        if same || (usable.is_empty() && this.seats.is_empty()) {
            return;
        }
        // Outside its set a program keeps the mask that it came with.
        let outside = usable.is_empty();
        let usable = if outside { this.inherited.iter().collect() } else { usable };
        let mut old = std::mem::take(&mut this.seats);
        old.resize(view.tasks.len(), None);
        let seats = cut::seats(&system.machine().topology, &usable, &old);
        let mask = Arc::new(CpuSet::of(usable.iter().copied()));
        let why =
            Why::rule(rule).with("cpus of the set", usable.len() as u64).with("tasks", seats.len() as u64);
        for (at, task) in view.task_ids().enumerate() {
            let stays = pin && !outside && old[at] == Some(seats[at]);
            if !stays && system.task(task).state != TaskState::Exited {
                let one = pin && !outside;
                let affinity = if one { Affinity::One(seats[at]) } else { Affinity::Set(mask.clone()) };
                system.set_affinity(task, affinity, why);
            }
        }
        this.seats = seats.into_iter().map(|cpu| (!outside).then_some(cpu)).collect();
    }
}

/// Sets of so many cores each, from core 0 on; what the machine lacks is left out.
fn in_a_row(topology: &Topology, cores: &[u32]) -> Vec<Vec<CpuId>> {
    let mut next = 0u32;
    let mut take = |count: &u32| {
        let first = next;
        next = next.saturating_add(*count).min(topology.count(Tree::Core));
        (first..next).flat_map(|core| topology.members(Tree::Core, core)).map(CpuId).collect()
    };
    cores.iter().map(&mut take).collect()
}

impl Policy for Partition {
    fn app_started(&mut self, system: &mut dyn System, app: AppId) {
        let first = TaskId(system.app(app).tasks.start);
        let at = app.0 as usize;
        if self.jobs.get(at).is_none_or(|job| job.background) {
            return;
        }
        self.jobs[at].inherited = CpuSet::of(allowed_cpus(system, first));
        let part = if self.dynamic { None } else { self.part_of(&self.jobs[at]) };
        self.jobs[at].part = part;
        self.jobs[at].live = true;
        if self.dynamic {
            self.recut(system);
        } else if let Some(part) = part {
            let set = self.parts[part].clone();
            self.give(system, at, set, "bound within the part of its application");
        }
    }

    fn app_exited(&mut self, system: &mut dyn System, app: AppId) {
        let Some(job) = self.jobs.get_mut(app.0 as usize).filter(|job| job.live) else {
            return;
        };
        job.live = false;
        job.set.clear();
        if self.dynamic {
            self.recut(system);
        }
    }

    fn select_cpu(&mut self, view: &dyn View, task: TaskId, _: Placement) -> CpuChoice {
        CpuChoice::new(view.task(task).cpu, Why::rule("stays: on the cpu it is bound to"))
    }
}

#[cfg(test)]
mod tests;
