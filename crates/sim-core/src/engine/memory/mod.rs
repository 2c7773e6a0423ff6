//! The memory system of a run: how long what tasks compute takes beside others, what they find again in
//! caches, and where pages are.
//!
//! It reads and writes what the records of a cpu and of a task keep for it: the contention class, what has
//! been brought into caches and what is left of a refill.

mod caches;

use std::sync::Arc;

use crate::contention::{ClassId, Contention, ONE, Origin};
use crate::engine::state::{Cpu, NOWHERE, Part, Task};
use crate::ids::{CpuId, NodeId, TaskId};
use crate::machine::Machine;
use crate::outcome::Counters;
use crate::program::{AppSpec, MemoryProfile, Op, Pages, Program};
use crate::time::{Span, Speed, Time, Work};
use caches::{Caches, fetch_time};

/// The memory system of a run.
pub(crate) struct MemorySystem {
    machine: Arc<Machine>,
    contention: Contention,
    caches: Caches,
    /// By profile.
    pages: Vec<Pages>,
    /// By profile: automatic NUMA balancing finds its pages in use.
    scanned: Vec<bool>,
}

/// What a task has done as it stops computing.
pub(crate) struct Stopped {
    /// The work left, scaled to the cpu.
    pub(crate) left: Work,
    /// Mean growth of its demand, 1/65,536.
    pub(crate) growth: u64,
    /// Factor of distance over all its accesses, 1/65,536.
    pub(crate) distance: u64,
    /// Memory-bound share of its time, 1/65,536.
    pub(crate) bound: u64,
}

/// The profile of bulk transfers: memory-bound at the rate of one core. None is needed, and no room for its
/// contention classes, where a program has no transfers.
fn transfer_profile(machine: &Machine, program: &Program) -> MemoryProfile {
    if !program.ops().iter().any(|op| matches!(op, Op::Transfer { .. })) {
        return MemoryProfile::NONE;
    }
    MemoryProfile {
        demand: machine.memory.core_bandwidth,
        bound: Some(1 << 16),
        working_set: 0,
        pages: Pages::FirstTouch,
        shared: 0,
    }
}

impl MemorySystem {
    /// That of a machine and these applications. Each has the profile of its transfers, then those of its
    /// program.
    pub(crate) fn new(machine: &Arc<Machine>, specs: &[AppSpec]) -> Self {
        let (mut caches, mut profiles) = (Caches::new(machine), Vec::new());
        for spec in specs {
            let first = profiles.len();
            profiles.push(transfer_profile(machine, &spec.program));
            profiles.extend_from_slice(spec.program.profiles());
            caches.add_app(machine, spec, &profiles[first..]);
        }
        Self {
            machine: Arc::clone(machine),
            contention: Contention::new(machine, &profiles),
            caches,
            pages: profiles.iter().map(|profile| profile.pages).collect(),
            scanned: profiles.iter().map(MemoryProfile::is_scanned).collect(),
        }
    }

    /// Number of clocks there is room for; more ask for memory.
    pub(crate) const fn room(&self) -> usize {
        self.contention.room()
    }

    /// Where the pages of a profile are put.
    #[inline]
    pub(crate) fn pages(&self, profile: u16) -> Pages {
        self.pages[usize::from(profile)]
    }

    /// Automatic NUMA balancing finds the pages of a profile in use.
    #[inline]
    pub(crate) fn is_scanned(&self, profile: u16) -> bool {
        self.scanned[usize::from(profile)]
    }

    /// Share of a profile's accesses that are spread over all nodes, 1/65,536.
    pub(crate) fn spread(&self, profile: u16) -> u64 {
        self.contention.spread(profile.into())
    }

    /// How much of these homes is on each node, 65,536 parts of each.
    pub(crate) fn counts(&self, homes: impl Iterator<Item = NodeId>) -> Vec<u64> {
        let mut counts = vec![0; self.machine.nodes() as usize];
        homes.for_each(|home| self.contention.add_pages(home, 1, &mut counts));
        counts
    }

    /// The home node of what is first touched on a cpu.
    #[inline]
    pub(crate) const fn node(&self, cpu: CpuId) -> NodeId {
        self.contention.node(cpu)
    }

    /// The home of pages that lie on these nodes, or have these homes, in proportion to the counts.
    pub(crate) fn home(&mut self, parts: impl Iterator<Item = (NodeId, u64)>) -> NodeId {
        let mut counts = vec![0; self.machine.nodes() as usize];
        parts.for_each(|(home, count)| self.contention.add_pages(home, count, &mut counts));
        self.contention.team(&counts)
    }

    /// The pages of a task are copied to the node of a cpu: how many bytes that are, and how long it takes.
    pub(crate) fn copy(&self, task: &Task, home: NodeId, cpu: CpuId) -> (u64, Span) {
        let bytes = self.caches.working_set(task.profile);
        (bytes, self.copy_part(task.profile, (home, bytes), cpu))
    }

    /// How long it takes to copy bytes of a profile's pages with this home to the node of a cpu.
    pub(crate) fn copy_part(&self, profile: u16, (home, bytes): (NodeId, u64), cpu: CpuId) -> Span {
        let factor = self.contention.distance(profile.into(), home, cpu);
        fetch_time(&self.machine, bytes, factor)
    }

    /// The current task of a cpu is about to compute on data from there: what it has to refill is pending
    /// behind the `copy` of its pages, and the cpu has its class. Returns the bytes that it refills.
    #[inline]
    pub(crate) fn prepare(&mut self, record: &mut Cpu, task: &mut Task, from: Origin, copy: Span) -> u64 {
        let (refill, bytes) = self.refill(record, task, from.node);
        record.pend(Part::Refill, refill + copy);
        record.class = self.contention.class(task.profile.into(), from, record.id, record.class);
        bytes
    }

    /// What a task about to compute has to refill: what is left of the last refill, and what it lost since it
    /// last computed; together at most all it can find again. Also the bytes of what it lost.
    fn refill(&self, record: &Cpu, task: &mut Task, home: NodeId) -> (Span, u64) {
        let left = task.refill();
        task.set_refill(Span::ZERO);
        if task.warm == NOWHERE {
            return (left, 0);
        }
        let (lost, useful) = self.caches.lost(&self.machine, record, task);
        if lost == 0 {
            return (left, 0);
        }
        let factor = self.contention.distance(task.profile.into(), home, record.id);
        let price = fetch_time(&self.machine, lost, factor);
        let most = fetch_time(&self.machine, useful, factor);
        let total = left.max((left + price).min(most));
        let fetched = u128::from(lost) * u128::from((total - left).ns());
        // A refill below 1 ns is free.
        (total, fetched.checked_div(u128::from(price.ns())).unwrap_or(0) as u64)
    }

    /// The current task of a cpu computes from now on, after the pending overhead: so much work, scaled to
    /// the cpu, on a core of its own speed that is slowed by a factor (1/65,536).
    #[inline]
    pub(crate) fn start(
        &mut self,
        record: &Cpu,
        profile: u16,
        (own, factor): (Speed, u64),
        work: Work,
        now: Time,
    ) {
        self.contention.occupy(profile.into(), record.id, true);
        if record.class != ClassId::FREE {
            let bytes = self.contention.offer(profile.into(), own, factor);
            self.contention.start(record.class, record.id, now, record.overhead.total(), work, bytes);
        }
    }

    /// The current task of a cpu stops computing: of `work`, scaled to the cpu, what it has done is over, and
    /// it leaves its data in the caches. The segment took `elapsed`, `rest` of it without the overhead.
    #[inline]
    pub(crate) fn stop(
        &mut self,
        record: &Cpu,
        profile: u16,
        work: Work,
        (now, rest): (Time, Span),
    ) -> Stopped {
        let (left, growth) = if record.class == ClassId::FREE {
            (work.saturating_sub(Speed::NOMINAL.work_in(rest)), ONE)
        } else {
            self.contention.stop(record.class, record.id, now, work)
        };
        debug_assert!(left <= work, "{left:?} is left of {work:?} on {}", record.id);
        self.contention.occupy(profile.into(), record.id, false);
        let (distance, bound) = (self.contention.remote(record.class), self.contention.bound(profile.into()));
        Stopped { left, growth, distance, bound }
    }

    /// The current task of a cpu has computed for `elapsed`: so much work at nominal speed, at a mean growth
    /// of its demand (1/65,536). It has fetched bytes and leaves them in the caches.
    #[inline]
    pub(crate) fn fetch(
        &mut self,
        record: &mut Cpu,
        task: &mut Task,
        counters: &mut Counters,
        (work, growth): (Work, u64),
        elapsed: Span,
    ) {
        self.caches.fetch((record.current, task.profile), counters, work, growth);
        self.caches.fill(&self.machine.memory, record, task, elapsed);
    }

    /// What is left of `work`, scaled to the cpu, `rest` after the end of the overhead of the segment.
    #[inline]
    pub(crate) fn left(&self, record: &Cpu, work: Work, rest: Span, now: Time) -> Work {
        if record.class == ClassId::FREE {
            work.saturating_sub(Speed::NOMINAL.work_in(rest))
        } else {
            self.contention.left(record.class, record.id, now, work)
        }
    }

    /// Calls `found` for every cpu whose task has completed its work by the clock of a class.
    #[inline]
    pub(crate) fn each_due(&self, class: u32, now: Time, found: impl FnMut(CpuId)) {
        self.contention.each_due(class, now, found);
    }

    /// Brings all speeds up to date; tells `changed` the next completion of each class where it may have
    /// moved.
    #[inline]
    pub(crate) fn refresh(&mut self, now: Time, changed: impl FnMut(u32, Time)) {
        self.contention.refresh(now, changed);
    }

    /// What a task of a profile draws on a core of this speed, bytes per second, and its memory-bound share,
    /// 1/65,536.
    pub(crate) fn demand(&self, profile: u16, own: Speed) -> (u64, u64) {
        (self.contention.draw(profile.into(), own), self.contention.bound(profile.into()))
    }

    /// Whole bytes that a task has fetched and that are not counted for its application.
    pub(crate) fn fetched(&self, id: TaskId) -> u64 {
        self.caches.fetched(id)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::setup::{test_machine, test_simulation};
    use crate::engine::state::{Activity, ProcessId};
    use crate::ids::AppId;
    use crate::machine::{Level, Memory, Topology};

    /// Two nodes of two cores, with a private cache of 1 MB.
    fn machine() -> Arc<Machine> {
        let mut machine = test_machine(4);
        machine.topology = Topology::new(&[(Level::Node, 2), (Level::Core, 2)]).unwrap();
        machine.memory = Memory {
            private_cache: 1 << 20,
            remote_factor: 2_000,
            core_bandwidth: 1 << 30,
            ..machine.memory
        };
        Arc::new(machine)
    }

    /// The memory of an application of four tasks whose program has this profile, number 1.
    fn memory(machine: &Arc<Machine>, profile: MemoryProfile) -> MemorySystem {
        let mut spec = test_simulation(4, 4).apps.remove(0);
        let ops = spec.program.ops().to_vec();
        spec.program = Arc::new(Program::new(ops, vec![profile]).unwrap());
        MemorySystem::new(machine, &[spec])
    }

    fn task() -> Task {
        let mut task = Task::new(AppId(0), 1_024, ProcessId::NONE, 0);
        task.profile = 1;
        task
    }

    fn cpu(id: u32, current: u32) -> Cpu {
        let mut record = Cpu::new(CpuId(id));
        (record.current, record.activity) = (TaskId(current), Activity::Compute);
        record
    }

    #[test]
    fn tasks_on_one_controller_slow_each_other_down_and_end_by_its_clock() {
        let machine = machine();
        // Each asks for all of the controller.
        let profile = MemoryProfile { demand: 10_000_000_000, bound: Some(1 << 16), ..MemoryProfile::NONE };
        let mut memory = memory(&machine, profile);
        let work = Work::from_span(Span::from_us(1));
        let mut cpus = [cpu(0, 0), cpu(1, 1)];
        let mut next = Time::NEVER;
        for record in &mut cpus {
            memory.prepare(record, &mut task(), Origin::at(NodeId(0)), Span::ZERO);
            memory.start(record, 1, (Speed::NOMINAL, ONE), work, Time::ZERO);
        }
        memory.refresh(Time::ZERO, |_, at| next = at);
        assert!(next > Time::from_ns(1_000) && !next.is_never(), "{next:?}");
        assert!(memory.left(&cpus[0], work, Span::ZERO, Time::from_ns(1_000)) > Work::ZERO);
        let mut due = Vec::new();
        memory.each_due(0, next, |cpu| due.push(cpu.0));
        due.sort_unstable();
        assert_eq!(due, [0, 1]);
        let stopped = memory.stop(&cpus[0], 1, work, (next, next.since(Time::ZERO)));
        assert_eq!((stopped.left, stopped.growth, stopped.bound), (Work::ZERO, ONE, ONE));
    }

    #[test]
    fn a_task_refills_on_another_core_what_it_has_left_behind() {
        let machine = machine();
        let mut memory = memory(&machine, MemoryProfile { working_set: 1 << 19, ..MemoryProfile::NONE });
        let (mut task, mut counters, home) = (task(), Counters::default(), NodeId(0));
        let mut pending = |memory: &mut MemorySystem, record: &mut Cpu, task: &mut Task| {
            let bytes = memory.prepare(record, task, Origin::at(home), Span::ZERO);
            let refill = record.parts().get(Part::Refill);
            record.pay_all();
            memory.fetch(record, task, &mut counters, (Work::ZERO, ONE), Span::from_ms(1));
            (bytes, refill.ns())
        };
        let (mut here, mut there) = (cpu(0, 0), cpu(2, 0));
        // It computes for the first time, then on the same cpu, then on the other node: half a MB at half
        // the speed of a core, 1 GB/s.
        assert_eq!(pending(&mut memory, &mut here, &mut task), (0, 0));
        assert_eq!(pending(&mut memory, &mut here, &mut task), (0, 0));
        assert_eq!(pending(&mut memory, &mut there, &mut task), (1 << 19, 976_562));
        assert_eq!(memory.copy(&task, home, CpuId(1)), (1 << 19, Span::from_ns(488_281)));
    }

    #[test]
    fn pages_on_one_node_are_there_and_others_have_a_home_of_their_own() {
        let mut memory = memory(&machine(), MemoryProfile::NONE);
        let [one, other] = [0, 1].map(NodeId);
        assert_eq!(memory.home([(other, 3)].into_iter()), other);
        let mixed = memory.home([(one, 1), (other, 1)].into_iter());
        assert!(mixed != one && mixed != other);
        // Pages of tasks with that home, and as many as all of the machine's memory.
        assert_eq!(memory.home([(mixed, 2), (one, 1), (other, 1)].into_iter()), mixed);
        assert_eq!(memory.home([(one, u64::MAX / 3), (other, u64::MAX / 3)].into_iter()), mixed);
        assert_eq!([CpuId(1), CpuId(2)].map(|cpu| memory.node(cpu)), [one, other]);
    }
}
