//! Segments: what a cpu does between two changes, how long it takes, and what its time is charged to.
//!
//! A segment begins with the pending overhead (`state::overhead`). It ends when what the current task does is
//! over, or something interrupts it. Then its time is charged, each nanosecond to one category, and what is
//! left of kernel work, daemon work and a migration is deferred to the next segment of the cpu. A change of
//! speed charges the time so far and goes on.

use std::sync::Arc;

use crate::account::{Account, Category};
use crate::contention::{ClassId, ONE, Origin};
use crate::engine::cores::{Cores, Thread};
use crate::engine::memory::{MemorySystem, Stopped};
use crate::engine::state::{Activity, App, Cpu, Look, OnReturn, Task, Waiting};
use crate::event::Sources;
use crate::ids::{AppId, CpuId, IdVec, TaskId};
use crate::machine::{Machine, PerCpu};
use crate::outcome::Counters;
use crate::time::{Span, Speed, Time, WORK_FRACTION_BITS, Work};

/// The most work on a cpu between two events, in raw units: 73 minutes. Clocks overflow at twice this.
const MOST: u64 = 1 << 62;

/// How much of the work at nominal speed a cpu of this speed does up to the next event: all, unless it takes
/// longer than clocks hold.
#[inline]
fn portion(work: Work, speed: Speed) -> Work {
    // The least speed is one raw unit.
    if work.raw() <= MOST >> WORK_FRACTION_BITS { work } else { long_portion(work, speed) }
}

fn long_portion(work: Work, speed: Speed) -> Work {
    let most = (u128::from(MOST) * u128::from(speed.raw())) >> WORK_FRACTION_BITS;
    u64::try_from(most).map_or(work, |most| work.min(Work::from_raw(most)))
}

/// Work at nominal speed as work on a cpu of this speed, rounded up.
#[inline]
fn to_cpu(work: Work, speed: Speed) -> Work {
    if speed == Speed::NOMINAL {
        return work;
    }
    // In 64 bits where they suffice: below 2^44, 16 ms of work.
    let scaled = if work.raw() >> (64 - WORK_FRACTION_BITS) == 0 {
        (work.raw() << WORK_FRACTION_BITS).div_ceil(speed.raw())
    } else {
        (u128::from(work.raw()) << WORK_FRACTION_BITS).div_ceil(u128::from(speed.raw())) as u64
    };
    Work::from_raw(scaled)
}

/// The reverse of [`to_cpu`], rounded up.
#[inline]
fn from_cpu(work: Work, speed: Speed) -> Work {
    if speed == Speed::NOMINAL {
        return work;
    }
    let scaled = (u128::from(work.raw()) * u128::from(speed.raw())).div_ceil(1 << WORK_FRACTION_BITS);
    Work::from_raw(scaled as u64)
}

/// Divides computing time: what it would have taken on the core alone, what busy siblings added (`factor` is
/// what they leave), then of what memory added the share of distance, (T - W (1 - b)) (R - 1) / R, and the
/// rest. `ideal` is W, the time at the cpu's speed without contention or distance, `rest` the time T it took.
fn charge_compute(account: &mut Account, stopped: &Stopped, factor: u64, (ideal, rest): (Span, Span)) {
    let part = |whole: u64, share: u64| ((u128::from(whole) * u128::from(share)) >> 16) as u64;
    let alone = if factor == ONE { ideal.ns() } else { part(ideal.ns(), factor) };
    let excess = rest.ns() - ideal.ns();
    let distance = stopped.distance.max(ONE);
    let remote = if distance == ONE {
        0
    } else {
        let at_memory = rest.ns() - part(ideal.ns(), ONE - stopped.bound);
        let remote = u128::from(at_memory) * u128::from(distance - ONE) / u128::from(distance);
        excess.min(remote as u64)
    };
    account.add(Category::Compute, Span::from_ns(alone));
    account.add(Category::Smt, Span::from_ns(ideal.ns() - alone));
    account.add(Category::Remote, Span::from_ns(remote));
    account.add(Category::MemoryStall, Span::from_ns(excess - remote));
}

/// The category of the polls of a waiting task.
#[inline]
pub(crate) const fn polls_as(task: &Task) -> Category {
    if matches!(task.waiting, Waiting::Lock) { Category::LockWait } else { Category::Spin }
}

/// The segments of all cpus: what determines how long they take.
pub(crate) struct Segments {
    machine: Arc<Machine>,
    pub(crate) memory: MemorySystem,
    cores: Cores,
    /// Cpus whose end of computing was armed anew because their speed has changed.
    respeeded: Vec<CpuId>,
    /// How tasks poll before a yield; entry 0 is a placeholder.
    looks: Vec<Look>,
}

impl Segments {
    /// `usable`: the share of a cpu that timer ticks leave.
    pub(crate) fn new(machine: &Arc<Machine>, memory: MemorySystem, usable: Speed, looks: Vec<Look>) -> Self {
        let (cores, respeeded) = (Cores::new(machine, usable), Vec::new());
        Self { machine: Arc::clone(machine), memory, cores, respeeded, looks }
    }

    /// How a task polls before a yield.
    #[inline]
    pub(crate) fn look(&self, task: &Task) -> Look {
        self.looks[task.polls as usize]
    }

    /// The current task begins its compute operation on data from there, after the pending overhead, a copy
    /// of its pages and a refill of its caches. Returns the bytes that it refills.
    #[inline]
    pub(crate) fn begin_compute(
        &mut self,
        record: &mut Cpu,
        task: &mut Task,
        (from, copy): (Origin, Span),
        now: Time,
    ) -> u64 {
        let bytes = self.memory.prepare(record, task, from, copy);
        self.start(record, task, now);
        bytes
    }

    /// The current task computes from now on, after the pending overhead, at the cpu's present speed.
    #[inline]
    fn start(&mut self, record: &mut Cpu, task: &Task, now: Time) {
        record.since = now;
        record.activity = Activity::Compute;
        debug_assert!(task.remaining() > Work::ZERO, "{} computes nothing on {}", record.current, record.id);
        let speeds = self.cores.speeds(record.id);
        let work = to_cpu(portion(task.remaining(), speeds.speed), speeds.speed);
        self.memory.start(record, task.profile, (speeds.own, speeds.factor), work, now);
    }

    /// Charges the time behind the overhead (`rest`; the whole segment took `elapsed`) of a task that stops
    /// computing.
    #[inline]
    fn stop(
        &mut self,
        record: &mut Cpu,
        task: &mut Task,
        counters: &mut Counters,
        (rest, elapsed): (Span, Span),
        now: Time,
    ) {
        let speeds = self.cores.speeds(record.id);
        let remaining = task.remaining();
        let before = portion(remaining, speeds.speed);
        let work = to_cpu(before, speeds.speed);
        let stopped = self.memory.stop(record, task.profile, work, (now, rest));
        let after = from_cpu(stopped.left, speeds.speed).min(before);
        task.set_remaining(remaining - (before - after));
        self.memory.fetch(record, task, counters, (before - after, stopped.growth), elapsed);
        let ideal = (work - stopped.left).duration_at(Speed::NOMINAL).min(rest);
        charge_compute(&mut record.account, &stopped, speeds.factor, (ideal, rest));
    }

    /// The current task has done a portion of its compute operation: true, and it continues with the next
    /// one.
    #[inline]
    pub(crate) fn continue_compute(
        &mut self,
        record: &mut Cpu,
        task: &mut Task,
        counters: &mut Counters,
        now: Time,
    ) -> bool {
        if portion(task.remaining(), self.cores.speeds(record.id).speed) == task.remaining() {
            return false;
        }
        self.restart(record, task, counters, now, |_| ());
        true
    }

    /// Time so far is charged, the rest of the overhead stays pending, and the current task computes on after
    /// a change.
    fn restart(
        &mut self,
        record: &mut Cpu,
        task: &mut Task,
        counters: &mut Counters,
        now: Time,
        change: impl FnOnce(&mut Cores),
    ) {
        let elapsed = now.since(record.since);
        let rest = record.pay(elapsed);
        task.cpu_time += elapsed;
        task.last_ran = now;
        self.stop(record, task, counters, (rest, elapsed), now);
        change(&mut self.cores);
        self.start(record, task, now);
    }

    /// Charges the time since the segment of the current task began and ends its activity.
    #[inline]
    pub(crate) fn close(
        &mut self,
        record: &mut Cpu,
        task: &mut Task,
        apps: &mut IdVec<AppId, App>,
        now: Time,
    ) {
        debug_assert!(record.since <= now, "{} closes a segment of {:?} at {now:?}", record.id, record.since);
        debug_assert!(!record.current.is_none(), "{} closes the segment of no task", record.id);
        let elapsed = now.since(record.since);
        let rest = record.pay(elapsed);
        record.since = now;
        // What is left of a switch that is cut short is not charged to what follows.
        record.charged = record.charged.min(now);
        let refill = if record.overhead.is_none() { Span::ZERO } else { record.keep_overhead() };
        // Between two activities there is none, and no time passes.
        match std::mem::replace(&mut record.activity, Activity::Idle) {
            Activity::Idle => record.account.add(Category::Idle, rest),
            Activity::Compute => {
                if refill > Span::ZERO {
                    task.set_refill(refill);
                }
                self.stop(record, task, &mut apps[task.app()].counters, (rest, elapsed), now);
            }
            Activity::Poll => {
                let poll = rest.min(self.look(task).poll);
                record.account.add(polls_as(task), poll);
                record.account.add(Category::Yield, rest - poll);
            }
            Activity::Spin => {
                record.account.add(polls_as(task), rest);
                let polls = rest.ns() / self.machine.costs.poll.ns().max(1);
                record.polled.0 += polls;
                apps[task.app()].counters.polls += polls;
            }
            Activity::Syscall => {
                let category = match record.rare.call.1 {
                    OnReturn::Yield | OnReturn::YieldTo(_) => Category::Yield,
                    OnReturn::Touch => Category::PageInit,
                    _ => Category::Kernel,
                };
                record.account.add(category, rest);
            }
        }
        task.cpu_time += elapsed;
        task.last_ran = now;
    }

    /// The cpu-time breakdown with the open poll or spin of the current task included; none where it polls
    /// for several cycles that are not computed yet.
    pub(crate) fn account(&self, record: &Cpu, tasks: &IdVec<TaskId, Task>, now: Time) -> Option<Account> {
        let mut account = record.account;
        if let Activity::Poll | Activity::Spin = record.activity {
            let task = &tasks[record.current];
            let (whole, polling) = (self.look(task).poll, polls_as(task));
            let rest = record.parts().pay(now.since(record.since), &mut account);
            if record.activity == Activity::Spin {
                account.add(polling, rest);
            } else if rest <= whole + self.machine.costs.yield_call {
                let poll = rest.min(whole);
                account.add(polling, poll);
                account.add(Category::Yield, rest - poll);
            } else {
                return None;
            }
        }
        Some(account)
    }

    /// When the current task completes its compute operation; `NEVER` when the clock of its class determines
    /// it.
    #[inline]
    pub(crate) fn compute_end(&self, record: &Cpu, task: &Task) -> Time {
        if record.class == ClassId::FREE { self.free_end(record, task) } else { Time::NEVER }
    }

    /// The same for an operation that no other task slows down.
    fn free_end(&self, record: &Cpu, task: &Task) -> Time {
        let speed = self.cores.speeds(record.id).speed;
        let work = to_cpu(portion(task.remaining(), speed), speed);
        record.since + record.overhead.total() + work.duration_at(Speed::NOMINAL)
    }

    /// True when the current task has completed its compute operation.
    pub(crate) fn is_complete(&self, record: &Cpu, task: &Task, now: Time) -> bool {
        if record.class == ClassId::FREE {
            return self.compute_end(record, task) <= now;
        }
        self.memory.left(record, Work::MAX, Span::ZERO, now) == Work::ZERO
    }

    /// Nominal work that the current task, which computes, has done in the present segment.
    pub(crate) fn computed(&self, record: &Cpu, task: &Task, now: Time) -> Work {
        let speed = self.cores.speeds(record.id).speed;
        let before = portion(task.remaining(), speed);
        let rest = now.since(record.since).saturating_sub(record.overhead.total());
        let left = self.memory.left(record, to_cpu(before, speed), rest, now);
        before - from_cpu(left, speed).min(before)
    }

    /// Something has happened on a cpu: speeds beside it may change at the end of the instant.
    #[inline]
    pub(crate) fn touch(&mut self, cpu: CpuId) {
        self.cores.touch(cpu);
    }

    /// A cpu whose end of computing was armed anew because its speed has changed; each once.
    #[inline]
    pub(crate) fn next_respeeded(&mut self) -> Option<CpuId> {
        self.respeeded.pop()
    }

    /// The cores.
    pub(crate) const fn cores(&self) -> &Cores {
        &self.cores
    }

    /// A core has another clock from now on.
    pub(crate) fn set_clock(&mut self, core: u32, clock: u64) {
        self.cores.set_clock(core, clock);
    }

    /// Brings the speeds of cpus and classes up to date, and arms what follows from them.
    #[inline]
    pub(crate) fn refresh(
        &mut self,
        cpus: &mut PerCpu<Cpu>,
        (tasks, apps): (&mut IdVec<TaskId, Task>, &mut IdVec<AppId, App>),
        sources: &mut Sources,
        now: Time,
    ) {
        if self.cores.is_touched() {
            self.refresh_cores(cpus, (tasks, apps), sources, now);
        }
        let first = cpus.len();
        self.memory.refresh(now, |class, next| sources.set(first + class as usize, next));
    }

    fn refresh_cores(
        &mut self,
        cpus: &mut PerCpu<Cpu>,
        (tasks, apps): (&mut IdVec<TaskId, Task>, &mut IdVec<AppId, App>),
        sources: &mut Sources,
        now: Time,
    ) {
        self.cores.count_busy(|cpu| cpus[cpu].activity != Activity::Idle);
        while let Some(core) = self.cores.next_touched() {
            let own = self.cores.own(core);
            for cpu in self.cores.threads(core) {
                let thread = |cpu| self.thread(&cpus[cpu], tasks, own);
                if let Some(factor) = self.cores.changed(cpu, own, thread) {
                    self.respeed(&mut cpus[cpu], (&mut *tasks, &mut *apps), (own, factor), sources, now);
                }
            }
        }
    }

    /// What a hardware thread does, as far as it slows its siblings, on a core of this speed.
    fn thread(&self, record: &Cpu, tasks: &IdVec<TaskId, Task>, own: Speed) -> Thread {
        match record.activity {
            Activity::Idle => Thread::Idle,
            Activity::Compute => {
                let (draws, bound) = self.memory.demand(tasks[record.current].profile, own);
                Thread::Computes(draws, bound)
            }
            Activity::Spin => Thread::Spins,
            Activity::Poll => Thread::Yields,
            Activity::Syscall => Thread::Kernel,
        }
    }

    /// The speed of a cpu changes: time so far is charged at the old speed, the rest of the overhead stays
    /// pending.
    fn respeed(
        &mut self,
        record: &mut Cpu,
        (tasks, apps): (&mut IdVec<TaskId, Task>, &mut IdVec<AppId, App>),
        (own, factor): (Speed, u64),
        sources: &mut Sources,
        now: Time,
    ) {
        let cpu = record.id;
        if record.activity != Activity::Compute {
            self.cores.set(cpu, own, factor);
            return;
        }
        let task = &mut tasks[record.current];
        let counters = &mut apps[task.app()].counters;
        self.restart(record, task, counters, now, |cores| cores.set(cpu, own, factor));
        if record.class == ClassId::FREE {
            sources.set(cpu.0 as usize, self.compute_end(record, task).min(record.slice_end));
            self.respeeded.push(cpu);
        }
    }

    /// Charges what the current task of a cpu has computed up to now; it computes on.
    pub(crate) fn charge_so_far(
        &mut self,
        record: &mut Cpu,
        tasks_and_apps: (&mut IdVec<TaskId, Task>, &mut IdVec<AppId, App>),
        sources: &mut Sources,
        now: Time,
    ) {
        let speeds = self.cores.speeds(record.id);
        self.respeed(record, tasks_and_apps, (speeds.own, speeds.factor), sources, now);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::Engine;
    use crate::engine::setup::test_simulation;
    use crate::engine::state::Part;
    use crate::ids::NodeId;

    const HERE: CpuId = CpuId(0);

    /// Calls `with` with the state of a run whose first task is current on a cpu and has 1 us to compute.
    fn computing(with: impl FnOnce(&mut Segments, &mut Cpu, &mut Task, &mut IdVec<AppId, App>)) {
        let mut observer = ();
        let mut engine = Engine::new(test_simulation(2, 2), &mut observer);
        let (shared, record) = (&mut engine.shared, &mut engine.cpus[HERE]);
        let task = &mut shared.tasks[TaskId(0)];
        record.current = TaskId(0);
        record.pend(Part::Switch, Span::from_ns(100));
        task.profile = 1;
        task.ask(Work::from_span(Span::from_us(1)));
        let from = (Origin::at(NodeId(0)), Span::ZERO);
        shared.segments.begin_compute(record, task, from, Time::ZERO);
        with(&mut shared.segments, record, task, &mut shared.apps);
    }

    #[test]
    fn a_computation_ends_behind_its_overhead_and_each_part_is_charged() {
        computing(|segments, record, task, apps| {
            let end = segments.compute_end(record, task);
            assert_eq!(end, Time::from_ns(1_100));
            assert!(!segments.is_complete(record, task, Time::from_ns(1_099)));
            assert!(segments.is_complete(record, task, end));
            segments.close(record, task, apps, end);
            assert_eq!((task.remaining(), task.cpu_time.ns()), (Work::ZERO, 1_100));
            let spans = [Category::Switch, Category::Compute].map(|part| record.account.get(part).ns());
            assert_eq!((spans, record.account.total().ns()), ([100, 1_000], 1_100));
            assert_eq!((record.since, record.activity), (end, Activity::Idle));
        });
    }

    #[test]
    fn an_interrupted_computation_keeps_its_work_and_the_kernels_overhead() {
        computing(|segments, record, task, apps| {
            let now = Time::from_ns(600);
            assert_eq!(segments.computed(record, task, now), Work::from_span(Span::from_ns(500)));
            segments.close(record, task, apps, now);
            assert_eq!(task.remaining(), Work::from_span(Span::from_ns(500)));
            // Cut short within its overhead: what the kernel has to do comes first in the next segment.
            record.pend(Part::Kernel, Span::from_ns(50));
            segments.begin_compute(record, task, (Origin::at(NodeId(0)), Span::ZERO), now);
            // The switch before it was charged beyond the end of the segment.
            record.charged = now + Span::from_ns(50);
            segments.close(record, task, apps, now + Span::from_ns(20));
            assert_eq!(record.charged.ns(), 620);
            assert_eq!(record.account.get(Category::Kernel).ns(), 20);
            record.take_deferred();
            assert_eq!(record.parts().get(Part::Kernel).ns(), 30);
            assert_eq!(task.remaining(), Work::from_span(Span::from_ns(500)));
        });
    }

    #[test]
    fn open_polls_are_charged_in_the_breakdown_that_is_reported() {
        computing(|segments, record, task, apps| {
            let end = segments.compute_end(record, task);
            segments.close(record, task, apps, end);
            task.set_remaining(Work::ZERO);
            task.begin_wait(Waiting::Lock, Time::NEVER, Time::NEVER);
            record.activity = Activity::Spin;
            record.pend(Part::Kernel, Span::from_ns(5));
            let tasks: IdVec<TaskId, Task> = std::iter::once(task.clone()).collect();
            let now = end + Span::from_ns(30);
            let account = segments.account(record, &tasks, now).expect("it spins");
            let spans = [Category::Kernel, Category::LockWait].map(|part| account.get(part).ns());
            assert_eq!((spans, record.account.get(Category::LockWait).ns()), ([5, 25], 0));
            segments.close(record, task, apps, now);
            assert_eq!(record.account, account);
        });
    }

    #[test]
    fn a_cpu_without_a_task_is_idle_behind_what_the_kernel_does() {
        let mut record = Cpu::new(HERE);
        record.pend(Part::Kernel, Span::from_ns(40));
        record.close_idle(Time::from_ns(100));
        let spans = [Category::Kernel, Category::Idle].map(|part| record.account.get(part).ns());
        assert_eq!((spans, record.since.ns()), ([40, 60], 100));
    }
}
