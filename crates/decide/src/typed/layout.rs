//! The cpus that a place stands for: what the policy `PIN` gives each task, in Linux's numbers.

use std::collections::BTreeSet;

use policies::{PinOrder, PinTasks, pin_places};
use sim_core::ids::CpuId;
use sim_core::machine::{Level, Topology};

use super::advice::{Layer, Layout, Node, Place, Program, Unit};

/// The cpus of each task, in the order of processes and of the threads in each.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Placing {
    /// Linux numbers in rising order, for each task.
    pub(super) tasks: Vec<Vec<u32>>,
    /// Threads of each process.
    pub(super) team: usize,
}

impl Placing {
    /// The cpus of each process: all of those of its threads.
    pub(super) fn processes(&self) -> Vec<Vec<u32>> {
        self.tasks.chunks(self.team).map(union).collect()
    }

    /// The cpus of all tasks.
    pub(super) fn all(&self) -> Vec<u32> {
        union(&self.tasks)
    }
}

/// All cpus of some masks, rising.
pub(super) fn union(masks: &[Vec<u32>]) -> Vec<u32> {
    let all: BTreeSet<u32> = masks.iter().flatten().copied().collect();
    all.into_iter().collect()
}

/// The level of the machine's tree that is a place.
const fn level(unit: Unit) -> Level {
    match unit {
        Unit::Cpu => Level::Thread,
        Unit::Core => Level::Core,
        Unit::Cache => Level::Cache,
        Unit::Node => Level::Node,
        Unit::Package => Level::Package,
    }
}

/// The cpus that the program may use, if that is part of the advice, in the simulator's numbers. Cpus that
/// the machine does not have are left out; none that remain are no advice.
fn chosen(program: &Program, topology: &Topology) -> Option<Vec<CpuId>> {
    if program.cpus.is_none() && !program.one_thread_per_core {
        return None;
    }
    let all: BTreeSet<u32> =
        program.cpus.as_ref().map_or_else(|| (0..topology.cpus()).collect(), |c| c.iter().copied().collect());
    let there = all.into_iter().filter(|cpu| *cpu < topology.cpus()).map(CpuId);
    let kept = there.filter(|cpu| !program.one_thread_per_core || topology.thread(*cpu) == 0);
    Some(kept.collect()).filter(|cpus: &Vec<CpuId>| !cpus.is_empty())
}

/// The cpus that the program may use, if that is part of the advice: Linux numbers, rising.
pub(super) fn mask(program: &Program, node: &Node<'_>) -> Option<Vec<u32>> {
    let cpus = chosen(program, node.topology())?;
    let mut cpus: Vec<u32> = cpus.into_iter().map(|cpu| node.linux(cpu)).collect();
    cpus.sort_unstable();
    Some(cpus)
}

/// What tasks are bound to, if they are.
pub(super) fn placing(program: &Program, node: &Node<'_>) -> Option<Placing> {
    let Some(Place::Bound { layout, unit, offset }) = &program.place else { return None };
    let topology = node.topology();
    let allowed: BTreeSet<CpuId> =
        chosen(program, topology).map_or_else(|| node.machine.cpu_ids().collect(), BTreeSet::from_iter);
    let layer = |layer: &Option<Layer>| layer.as_ref().map_or(1, |layer| layer.number.max(1));
    let (processes, team) = (layer(&program.processes) as usize, layer(&program.threads) as usize);
    let tasks = PinTasks { number: processes * team, process: team };
    let (order, cpus) = order(layout, &allowed);
    let places = pin_places(topology, &cpus, order, level(*unit), tasks);
    if places.is_empty() {
        return None;
    }
    let turns = places.iter().cycle().skip(*offset as usize % places.len()).take(tasks.number);
    let bound = |cpu: &CpuId| {
        let level = level(*unit);
        let domain = topology.members(level, topology.group(level, *cpu)).map(CpuId);
        let mut cpus: Vec<u32> =
            domain.filter(|cpu| allowed.contains(cpu)).map(|cpu| node.linux(cpu)).collect();
        cpus.sort_unstable();
        cpus
    };
    Some(Placing { tasks: turns.map(bound).collect(), team })
}

/// The word of `PIN` for a layout, and the cpus that it has: those of a list that may be used, else all that
/// may be.
fn order(layout: &Layout, allowed: &BTreeSet<CpuId>) -> (PinOrder, Vec<CpuId>) {
    let all = || allowed.iter().copied().collect();
    let order = match layout {
        Layout::Even => PinOrder::Even,
        Layout::Close => PinOrder::Gather,
        Layout::Spread => PinOrder::Scatter,
        Layout::Blocks => PinOrder::Blocks,
        Layout::List(list) => {
            let listed: Vec<CpuId> =
                list.iter().copied().map(CpuId).filter(|c| allowed.contains(c)).collect();
            return (PinOrder::List, if listed.is_empty() { all() } else { listed });
        }
    };
    (order, all())
}

/// Objects of the machine in the order of the simulator, each with those of its cpus that are allowed, in
/// Linux's numbers.
pub(super) fn objects(node: &Node<'_>, unit: Unit, allowed: &[u32]) -> Vec<Vec<u32>> {
    let (topology, level) = (node.topology(), level(unit));
    let allowed: BTreeSet<u32> = allowed.iter().copied().collect();
    let cpus = |group: u32| -> Vec<u32> {
        let mut cpus: Vec<u32> = topology.members(level, group).map(|cpu| node.linux(CpuId(cpu))).collect();
        cpus.retain(|cpu| allowed.contains(cpu));
        cpus.sort_unstable();
        cpus
    };
    (0..topology.count(level)).map(cpus).filter(|cpus| !cpus.is_empty()).collect()
}

/// All cpus of the machine in Linux's numbers, rising.
pub(super) fn whole(node: &Node<'_>) -> Vec<u32> {
    let mut all: Vec<u32> = node.machine.cpu_ids().map(|cpu| node.linux(cpu)).collect();
    all.sort_unstable();
    all
}
