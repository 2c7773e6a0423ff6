//! What tasks find again in caches, and what they refill.

use crate::contention::{ONE, cache_span};
use crate::engine::state::{Cpu, Task};
use crate::ids::{IdVec, TaskId};
use crate::machine::{Distance, Machine, Memory};
use crate::outcome::Counters;
use crate::program::{AppSpec, MemoryProfile};
use crate::time::{Span, WORK_FRACTION_BITS, Work};

/// Units of counts of fetched bytes: products of demand (bytes per second) and nanoseconds need no division.
const NS_PER_S: u128 = 1_000_000_000;

/// The caches of a run: what is the same for every cpu and for every execution of an operation.
pub(super) struct Caches {
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
    pub(super) fn new(machine: &Machine) -> Self {
        let memory = &machine.memory;
        let part = memory.shared_cache / u64::from(cache_span(machine));
        let private = memory.private_cache.min(1 << 50);
        Self { capacity: private + part.min(1 << 50), private, sets: Vec::new(), fetched: IdVec::default() }
    }

    /// Adds the profiles of an application, in the order of the run's table.
    pub(super) fn add_app(&mut self, machine: &Machine, app: &AppSpec, profiles: &[MemoryProfile]) {
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

    /// Bytes of the working set of a profile.
    pub(super) fn working_set(&self, profile: u16) -> u64 {
        self.sets[usize::from(profile)].working_set
    }

    /// The current task of a cpu has computed: it has brought its working set into the caches, as far as one
    /// core can in that time.
    pub(super) fn fill(&self, memory: &Memory, record: &mut Cpu, task: &mut Task, elapsed: Span) {
        let (id, set) = (record.current, self.sets[usize::from(task.profile)].working_set.min(1 << 50));
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
    pub(super) fn fetched(&self, id: TaskId) -> u64 {
        self.fetched.get(id).map_or(0, |fetched| fetched / NS_PER_S as u64)
    }

    /// Counts what a piece of work, at a mean growth of its demand (1/65,536), has fetched from memory.
    pub(super) fn fetch(
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

    /// Bytes of its useful set that a task about to compute on a cpu finds there no longer, and all that it
    /// can find again.
    ///
    /// On the same cpu they are what others have brought in beyond what does no harm: as much as fits beside
    /// the set, or as the other tasks of its application would bring if its data were evenly spread. One
    /// pass through the data of a core takes the same lines whether one task makes it or several share it.
    /// What does not fit then is part of the program's stated demand.
    pub(super) fn lost(&self, machine: &Machine, record: &Cpu, task: &Task) -> (u64, u64) {
        let set = &self.sets[usize::from(task.profile)];
        let lost = match machine.topology.distance(task.warm, record.id) {
            Distance::Same => {
                debug_assert!(record.filled >= task.filled, "the caches of {} have lost fills", record.id);
                let foreign = record.filled - task.filled;
                let passed = set.working_set.saturating_add(foreign);
                set.useful.min(passed.saturating_sub(set.natural))
            }
            Distance::Core => 0,
            Distance::Cache => set.useful.min(self.private),
            Distance::Near | Distance::Far => set.useful,
        };
        (lost, set.useful)
    }
}

/// The time one core needs to fetch bytes at a distance (1/65,536).
pub(super) fn fetch_time(machine: &Machine, bytes: u64, factor: u64) -> Span {
    let bandwidth = u128::from(machine.memory.core_bandwidth.max(1));
    let near = u128::from(bytes.min(1 << 50)) * NS_PER_S / bandwidth;
    let ns = (near * u128::from(factor)) >> 16;
    Span::from_ns(ns.min(1 << 50) as u64)
}
