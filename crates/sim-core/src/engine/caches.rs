//! What tasks find again in caches, what they refill, and pages that follow tasks.

use crate::contention::{ONE, Origin, cache_span};
use crate::engine::Engine;
use crate::engine::shared::Shared;
use crate::engine::state::{Cpu, MaybeNode, NOWHERE, Task};
use crate::ids::{AppId, CpuId, IdVec, NodeId, TaskId};
use crate::machine::{Distance, Level, Machine, Memory};
use crate::outcome::Counters;
use crate::program::{AppSpec, MemoryProfile, Pages};
use crate::time::{Span, WORK_FRACTION_BITS, Work};

/// Units of counts of fetched bytes: products of demand (bytes per second) and nanoseconds need no division.
pub(crate) const NS_PER_S: u128 = 1_000_000_000;

/// The caches of a run: what is the same for every cpu and for every execution of an operation.
pub(crate) struct Caches {
    /// Bytes of the caches a cpu may fill: the private ones and its part of the shared one.
    capacity: u64,
    /// Bytes of the private ones.
    private: u64,
    sets: Vec<Set>,
    /// Bytes that each task has fetched from memory, times [`NS_PER_S`], but for whole bytes that were
    /// counted for its application.
    fetched: IdVec<TaskId, u64>,
}

/// What the tasks of a profile leave in caches.
#[derive(Clone, Copy)]
struct Set {
    /// Bytes per second, at most 2^44.
    demand: u64,
    /// Bytes.
    working_set: u64,
    /// Bytes that a task finds again when no task disturbs it.
    useful: u64,
    /// Bytes that pass through the caches between two uses of the same datum without harm: a full cache, or
    /// what the application's own tasks bring if they are more. On average that is its data per core. Tasks
    /// do not run in the same order each time, so the others may have run twice.
    natural: u64,
}

/// What a task finds again: its working set as long as the application's data per core (`sets`) fit into the
/// caches, falling to nothing when they are twice as large, for then it streams through them and finds
/// nothing again anyway.
///
/// The shape is that of measured costs of a switch (Li, Ding, Shen, Quantifying the cost of context switch,
/// ExpCS 2007): none for sets that fit together, most for sets about as large as the cache, little more for
/// far larger ones.
fn useful(working_set: u64, sets: u128, capacity: u64) -> u64 {
    let capacity = u128::from(capacity);
    let (full, none) = (capacity, 2 * capacity);
    let part = if sets <= full {
        u128::from(working_set)
    } else {
        // Without caches a task finds nothing again.
        (u128::from(working_set) * none.saturating_sub(sets)).checked_div(capacity).unwrap_or(0)
    };
    part.min(capacity) as u64
}

impl Caches {
    pub(crate) fn new(machine: &Machine) -> Self {
        let memory = &machine.memory;
        let part = memory.shared_cache / u64::from(cache_span(machine));
        let private = memory.private_cache.min(1 << 50);
        Self { capacity: private + part.min(1 << 50), private, sets: Vec::new(), fetched: IdVec::default() }
    }

    /// Adds the profiles of an application, in the order of the run's table.
    pub(crate) fn add_app(&mut self, machine: &Machine, app: &AppSpec, profiles: &[MemoryProfile]) {
        let cpus = app
            .allowed
            .as_ref()
            .map_or(machine.cpus(), |set| set.iter().filter(|cpu| cpu.0 < machine.cpus()).count() as u32);
        let cores = u128::from(app.tasks.min(cpus).max(1));
        self.fetched.extend(app.tasks as usize, 0);
        for profile in profiles {
            let sets = u128::from(profile.working_set) * u128::from(app.tasks) / cores;
            let twice = 2 * sets - u128::from(profile.working_set).min(sets);
            self.sets.push(Set {
                demand: profile.demand.min(1 << 44),
                working_set: profile.working_set,
                useful: useful(profile.working_set, sets, self.capacity),
                natural: u64::try_from(twice).unwrap_or(u64::MAX).max(self.capacity),
            });
        }
    }

    /// A task has computed: it has brought its working set into the cpu's caches, as far as one core can in
    /// that time.
    pub(crate) fn fill(
        &self,
        memory: &Memory,
        record: &mut Cpu,
        (id, task): (TaskId, &mut Task),
        elapsed: Span,
    ) {
        let set = self.sets[usize::from(task.profile)].working_set.min(1 << 50);
        if record.filler != id {
            record.filler = id;
            record.filler_part = 0;
        }
        let lacking = set.saturating_sub(record.filler_part);
        if lacking == 0 {
            task.keep(record);
            return;
        }
        // Division by a constant needs none in 64 bits, which mostly suffice.
        let possible = match elapsed.ns().checked_mul(memory.core_bandwidth) {
            Some(possible) => possible / (NS_PER_S as u64),
            None => {
                (u128::from(elapsed.ns()) * u128::from(memory.core_bandwidth) / NS_PER_S).min(1 << 50) as u64
            }
        };
        let part = lacking.min(possible);
        record.filler_part += part;
        record.filled = record.filled.saturating_add(part);
        task.keep(record);
    }

    /// Whole bytes that a task has fetched and that are not counted for its application.
    pub(crate) fn fetched(&self, id: TaskId) -> u64 {
        self.fetched.get(id).map_or(0, |fetched| fetched / NS_PER_S as u64)
    }

    /// Counts what a piece of work, at a mean growth of its demand (1/65,536), has fetched from memory.
    pub(crate) fn fetch(
        &mut self,
        (id, profile): (TaskId, u16),
        counters: &mut Counters,
        work: Work,
        growth: u64,
    ) {
        let demand = self.sets[usize::from(profile)].demand;
        if demand == 0 {
            return;
        }
        let product = (u128::from(work.raw()) * u128::from(demand)) >> WORK_FRACTION_BITS;
        let grown = if growth == ONE { product } else { (product * u128::from(growth.min(1 << 36))) >> 16 };
        let fetched = &mut self.fetched[id];
        let sum = u128::from(*fetched) + grown;
        *fetched = u64::try_from(sum).unwrap_or_else(|_| {
            counters.bytes_fetched += (sum / NS_PER_S) as u64;
            (sum % NS_PER_S) as u64
        });
    }
}

impl Engine<'_> {
    /// The node that holds the pages of the current task's operation (of its private ones), and of a transfer
    /// the package that serves it.
    pub(crate) fn origin(&mut self, cpu: CpuId, id: TaskId) -> Origin {
        let own = self.shared.own_node(cpu, id);
        let (app, profile) = (self.shared.tasks[id].app(), self.shared.tasks[id].profile);
        let pages = self.shared.profiles[usize::from(profile)].pages;
        let transfer = self.transfer_source(id);
        let from = match transfer {
            Some(rank) => rank,
            None if pages == Pages::Master => 0,
            None if pages == Pages::Team => return Origin::at(self.team_pages(app)),
            None => return Origin::at(own),
        };
        let source = &self.shared.tasks[self.shared.apps[app].task(from)];
        let machine = &self.shared.machine;
        let node = source.home.node().unwrap_or_else(|| self.shared.memory.node(source.cpu));
        // Blocks whose pages lie on several nodes are not limited.
        let limited = transfer.is_some() && machine.memory.transfer_bandwidth > 0 && node.0 < machine.nodes();
        Origin {
            node,
            server: if limited { 1 + machine.topology.group(Level::Package, source.cpu) } else { 0 },
        }
    }

    /// The code of pages on the home nodes of an application's tasks, in proportion to the tasks that have
    /// their home there.
    fn team_pages(&mut self, app: AppId) -> NodeId {
        let shared = &mut self.shared;
        if let Some(known) = shared.apps[app].team_pages.node() {
            return known;
        }
        let mut homes = vec![0; shared.machine.nodes() as usize];
        for rank in 0..shared.apps[app].tasks {
            if let Some(home) = shared.tasks[shared.apps[app].task(rank)].home.node() {
                shared.memory.add_pages(home, &mut homes);
            }
        }
        let pages = shared.memory.team(&homes);
        shared.apps[app].team_pages = MaybeNode::at(pages);
        pages
    }

    /// Pages under next touch follow a task that computes on another node: the time of the copy.
    pub(crate) fn follow_pages(&mut self, cpu: CpuId, id: TaskId) -> Span {
        let task = &self.shared.tasks[id];
        let profile = &self.shared.profiles[usize::from(task.profile)];
        if profile.pages != Pages::NextTouch {
            return Span::ZERO;
        }
        let here = self.shared.memory.node(cpu);
        let Some(home) = task.home.node().filter(|home| *home != here) else { return Span::ZERO };
        let factor = self.shared.memory.distance(task.profile.into(), home, cpu);
        let (app, bytes) = (task.app(), profile.working_set);
        self.shared.set_home(id, MaybeNode::at(here));
        let counters = &mut self.shared.apps[app].counters;
        counters.bytes_fetched += bytes;
        counters.page_copies += 1;
        fetch_time(&self.shared.machine, bytes, factor)
    }
}

/// The time one core needs to fetch bytes at a distance (1/65,536).
fn fetch_time(machine: &Machine, bytes: u64, factor: u64) -> Span {
    let bandwidth = u128::from(machine.memory.core_bandwidth.max(1));
    let near = u128::from(bytes.min(1 << 50)) * NS_PER_S / bandwidth;
    let ns = (near * u128::from(factor)) >> 16;
    Span::from_ns(ns.min(1 << 50) as u64)
}

impl Shared<'_> {
    /// What a task about to compute has to refill, `copy` of pages included: what is left of the last refill,
    /// and what it lost since it last computed; together at most all it can find again.
    pub(crate) fn refill(&mut self, record: &Cpu, home: NodeId, copy: Span) -> Span {
        let task = &mut self.tasks[record.current];
        let left = task.refill();
        task.set_refill(Span::ZERO);
        if task.warm == NOWHERE {
            return left + copy;
        }
        let set = &self.caches.sets[usize::from(task.profile)];
        // Bytes of its useful set that the caches no longer hold. On the same cpu they are what others have
        // brought in beyond what does no harm: as much as fits beside the set, or as the other tasks of its
        // application would bring if its data were evenly spread. One pass through the data of a core takes
        // the same lines whether one task makes it or several share it. What does not fit then is part of the
        // program's stated demand.
        let lost = match self.machine.topology.distance(task.warm, record.id) {
            Distance::Same => {
                debug_assert!(record.filled >= task.filled, "the caches of {} have lost fills", record.id);
                let foreign = record.filled - task.filled;
                let passed = set.working_set.saturating_add(foreign);
                set.useful.min(passed.saturating_sub(set.natural))
            }
            Distance::Core => 0,
            Distance::Cache => set.useful.min(self.caches.private),
            Distance::Near | Distance::Far => set.useful,
        };
        if lost == 0 {
            return left + copy;
        }
        let factor = self.memory.distance(task.profile.into(), home, record.id);
        let price = fetch_time(&self.machine, lost, factor);
        let most = fetch_time(&self.machine, set.useful, factor);
        let total = left.max((left + price).min(most));
        let fetched = u128::from(lost) * u128::from((total - left).ns());
        // A refill below 1 ns is free.
        let bytes = fetched.checked_div(u128::from(price.ns())).unwrap_or(0) as u64;
        self.apps[task.app()].counters.bytes_fetched += bytes;
        total + copy
    }
}
