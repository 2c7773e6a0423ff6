//! `PARTITION`: every application gets cores of its own, whole packages where there are enough.
//!
//! Idea: space sharing. Source: the "partitioned by sockets" runs that Iancu, Hofmeyr, Blagojevic, Zheng, "Oversubscription on
//! Multicore Processors" (IPDPS 2010), compare sharing with.

use std::sync::Arc;

use notation::parameter::{Kind, Parameter, Values};
use sim_core::ids::{AppId, CpuId, TaskId};
use sim_core::machine::{CpuSet, Level as Tree, Topology};
use sim_core::policy::{Affinity, Placement, Policy, System, View};

use crate::registry::{Entry, Level, Setting, Showcase};
use crate::spread::shares;

/// Its place on the shelf.
pub(crate) const ENTRY: Entry = Entry {
    name: "PARTITION",
    summary: "disjoint sets of packages, one per application, fixed for the run",
    source: "Iancu, Hofmeyr, Blagojevic, Zheng: Oversubscription on Multicore Processors, IPDPS 2010",
    level: Level::User,
    parameters: PARAMETERS,
    about: "Divides the packages evenly among the foreground applications in their order, the first ones getting one more \
when it does not come out even. With fewer packages than applications it divides cores; with fewer cores than \
applications they share cores in turn. Within its set each application's tasks are bound round-robin (`pin: true`), or \
left to the kernel with the set as their mask.\n\n\
Nobody disturbs anybody's cpus or memory controllers, but cores that an application leaves idle, or that are left when it \
ends, help nobody: the division is static. Background applications keep the masks they came with.",
    sees: "The list of applications and the machine; nothing of what happens later.",
    costs: "One `sched_setaffinity` per task at its start, not charged.",
    wins: Showcase { scenario: "", label: "PARTITION", against: "", app: "all", point: "", about: "" },
    loses: Showcase { scenario: "", label: "PARTITION", against: "", app: "all", point: "", about: "" },
    build,
    example: "Four packages of four cores, three programs of 16 threads. 4 / 3 = 1 and 1 is left over: the first program gets \
packages 0 and 1, two threads per core; the second package 2 and the third package 3, four threads per core. \
When the first program ends its eight cores stay idle to the end of the run. Two programs get two packages each, \
and neither the other's threads nor its memory traffic reach them.",
};

const PARAMETERS: &[Parameter] = &[Parameter {
    name: "pin",
    kind: Kind::Flag,
    default: 1,
    min: 0,
    max: 1,
    about: "Bind each task to one cpu of its application's set instead of to the set.",
}];

fn build(values: &Values, _: &Setting<'_>) -> Box<dyn Policy> {
    Box::new(Partition { pin: values.flag("pin"), sets: Vec::new() })
}

struct Partition {
    pin: bool,
    /// The cpus of each application; empty for background ones.
    sets: Vec<Vec<CpuId>>,
}

/// Divides the cpus of a machine among `apps` applications.
fn divide(topology: &Topology, apps: u32) -> Vec<Vec<CpuId>> {
    let unit = if topology.count(Tree::Package) >= apps { Tree::Package } else { Tree::Core };
    let units = topology.count(unit);
    let cpus_of = |first: u32, count: u32| -> Vec<CpuId> {
        (first..first + count).flat_map(|group| topology.members(unit, group)).map(CpuId).collect()
    };
    if units < apps {
        return (0..apps).map(|app| cpus_of(app % units, 1)).collect();
    }
    let mut first = 0;
    let deal = |count| {
        first += count;
        cpus_of(first - count, count)
    };
    shares(units, apps).map(deal).collect()
}

impl Policy for Partition {
    fn init(&mut self, system: &mut dyn System) {
        let apps: Vec<bool> = (0..system.apps()).map(|app| system.app(AppId(app)).background).collect();
        let foreground = apps.iter().filter(|background| !**background).count() as u32;
        let mut sets = divide(&system.machine().topology, foreground).into_iter();
        let share =
            |background: &bool| if *background { Vec::new() } else { sets.next().unwrap_or_default() };
        self.sets = apps.iter().map(share).collect();
    }

    fn app_started(&mut self, system: &mut dyn System, app: AppId) {
        let view = system.app(app);
        let first = TaskId(view.tasks.start);
        let Some(set) = self.sets.get(app.0 as usize) else {
            return;
        };
        let cpus: Vec<CpuId> = set.iter().copied().filter(|cpu| system.allowed(first, *cpu)).collect();
        if cpus.is_empty() {
            return;
        }
        let mask = Arc::new(CpuSet::of(cpus.iter().copied()));
        for (task, cpu) in view.task_ids().zip(cpus.iter().cycle()) {
            let affinity = if self.pin { Affinity::One(*cpu) } else { Affinity::Set(mask.clone()) };
            system.set_affinity(task, affinity);
        }
    }

    fn select_cpu(&mut self, view: &dyn View, task: TaskId, _: Placement) -> CpuId {
        view.task(task).cpu
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fake::FakeSystem;

    fn sizes(levels: &[(Tree, u32)], apps: u32) -> Vec<(u32, usize)> {
        let sets = divide(&Topology::new(levels).unwrap(), apps);
        sets.iter().map(|set| (set[0].0, set.len())).collect()
    }

    #[test]
    fn packages_then_cores_then_turns() {
        let four_by_four = [(Tree::Package, 4), (Tree::Core, 4)];
        assert_eq!(sizes(&four_by_four, 2), [(0, 8), (8, 8)]);
        assert_eq!(sizes(&four_by_four, 3), [(0, 8), (8, 4), (12, 4)]);
        assert_eq!(sizes(&[(Tree::Package, 1), (Tree::Core, 4)], 3), [(0, 2), (2, 1), (3, 1)]);
        assert_eq!(sizes(&[(Tree::Core, 2), (Tree::Thread, 2)], 3), [(0, 2), (2, 2), (0, 2)]);
        assert!(divide(&Topology::new(&four_by_four).unwrap(), 0).is_empty());
    }

    #[test]
    fn tasks_are_dealt_within_their_set_and_hogs_left_alone() {
        let mut system = FakeSystem::new(&[(Tree::Package, 2), (Tree::Core, 2)]);
        let (a, hog, b) = (system.add_app(3, false), system.add_app(1, true), system.add_app(2, false));
        let mut partition = Partition { pin: true, sets: Vec::new() };
        partition.init(&mut system);
        for app in [a, hog, b] {
            partition.app_started(&mut system, app);
        }
        assert_eq!(system.homes(a), [0, 1, 0].map(Some));
        assert_eq!(system.homes(b), [2, 3].map(Some));
        assert_eq!(system.homes(hog), [None]);
    }

    #[test]
    fn unpinned_tasks_get_the_set_as_mask() {
        let mut system = FakeSystem::new(&[(Tree::Package, 2), (Tree::Core, 2)]);
        let apps = [system.add_app(1, false), system.add_app(1, false)];
        let mut partition = Partition { pin: false, sets: Vec::new() };
        partition.init(&mut system);
        partition.app_started(&mut system, apps[1]);
        let allowed: Vec<bool> = (0..4).map(|cpu| system.allowed(TaskId(1), CpuId(cpu))).collect();
        assert_eq!(allowed, [false, false, true, true]);
    }
}
