//! Computing, and the cpu-time accounting of a segment that ends.

use crate::account::{Account, Category};
use crate::contention::{ClassId, Contention, ONE, Origin};
use crate::engine::Engine;
use crate::engine::shared::Shared;
use crate::engine::state::{Activity, Cpu, Part};
use crate::ids::{CpuId, TaskId};
use crate::program::Pages;
use crate::time::{Span, Speed, Time, WORK_FRACTION_BITS, Work};

/// The most work on a cpu between two events, in raw units: 73 minutes. Clocks hold twice as much.
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
fn charge_compute(
    memory: &Contention,
    account: &mut Account,
    (class, profile, factor): (ClassId, u32, u64),
    (ideal, rest): (Span, Span),
) {
    let part = |whole: u64, share: u64| ((u128::from(whole) * u128::from(share)) >> 16) as u64;
    let alone = if factor == ONE { ideal.ns() } else { part(ideal.ns(), factor) };
    let excess = rest.ns() - ideal.ns();
    let distance = memory.remote(class).max(ONE);
    let remote = if distance == ONE {
        0
    } else {
        let at_memory = rest.ns() - part(ideal.ns(), ONE - memory.bound(profile));
        let remote = u128::from(at_memory) * u128::from(distance - ONE) / u128::from(distance);
        excess.min(remote as u64)
    };
    account.add(Category::Compute, Span::from_ns(alone));
    account.add(Category::Smt, Span::from_ns(ideal.ns() - alone));
    account.add(Category::Remote, Span::from_ns(remote));
    account.add(Category::MemoryStall, Span::from_ns(excess - remote));
}

impl Shared<'_> {
    /// The current task continues with its compute operation after the pending overhead if its pages are
    /// private and stay where they are; else false.
    #[inline]
    pub(crate) fn begin_at_home(&mut self, record: &mut Cpu) -> bool {
        let task = &self.tasks[record.current];
        let pages = self.profiles[usize::from(task.profile)].pages;
        let own = !matches!(pages, Pages::Master | Pages::Team | Pages::NextTouch);
        if !own || u32::from(task.profile) + 1 == self.apps[task.app()].profiles {
            return false;
        }
        self.emit_running(record);
        let home = self.own_node(record.id, record.current);
        self.begin_compute(record, Origin::at(home), Span::ZERO);
        true
    }

    /// The current task continues with its compute operation after the pending overhead, a copy of its pages
    /// and a refill of its caches.
    #[inline]
    pub(crate) fn begin_compute(&mut self, record: &mut Cpu, from: Origin, copy: Span) {
        let begun = record.pending(Part::Refill);
        let refill = self.refill(record, from.node, begun + copy);
        record.pend(Part::Refill, refill - begun);
        let profile = self.tasks[record.current].profile.into();
        let class = self.memory.class(profile, from, record.id, record.class);
        if class != record.class {
            record.class = class;
            if class != ClassId::FREE {
                self.sources.grow(class.0 as usize + 1);
            }
        }
        self.start_compute(record, class);
    }

    /// The current task computes from now on, after the pending overhead, at the cpu's present speed.
    #[inline]
    fn start_compute(&mut self, record: &mut Cpu, class: ClassId) {
        record.since = self.now;
        record.activity = Activity::Compute;
        let task = &self.tasks[record.current];
        debug_assert!(task.remaining() > Work::ZERO, "{} computes nothing on {}", record.current, record.id);
        self.memory.occupy(task.profile.into(), record.id, true);
        if class != ClassId::FREE {
            let speeds = self.cores.speeds(record.id);
            let work = to_cpu(portion(task.remaining(), speeds.speed), speeds.speed);
            let bytes = self.memory.offer(task.profile.into(), speeds.own, speeds.factor);
            self.memory.start(class, record.id, self.now, record.overhead.total(), work, bytes);
        }
    }

    /// Stops the current task's computing and charges the time behind the overhead (`rest`; the whole segment
    /// took `elapsed`).
    #[inline]
    pub(crate) fn stop_compute(&mut self, record: &mut Cpu, class: ClassId, rest: Span, elapsed: Span) {
        let Self { tasks, apps, memory, cores, caches, machine, now, .. } = self;
        let id = record.current;
        let task = &mut tasks[id];
        let speeds = cores.speeds(record.id);
        let (remaining, profile) = (task.remaining(), u32::from(task.profile));
        let before = portion(remaining, speeds.speed);
        let work = to_cpu(before, speeds.speed);
        let (left, growth) = if class == ClassId::FREE {
            (work.saturating_sub(Speed::NOMINAL.work_in(rest)), ONE)
        } else {
            memory.stop(class, record.id, *now, work)
        };
        memory.occupy(profile, record.id, false);
        let after = from_cpu(left, speeds.speed).min(before);
        task.set_remaining(remaining - (before - after));
        let counters = &mut apps[task.app()].counters;
        caches.fetch((id, task.profile), counters, before - after, growth);
        caches.fill(&machine.memory, record, (id, &mut *task), elapsed);
        debug_assert!(left <= work, "{id} has {left:?} left of {work:?} on {}", record.id);
        let ideal = (work - left).duration_at(Speed::NOMINAL).min(rest);
        charge_compute(memory, &mut record.account, (class, profile, speeds.factor), (ideal, rest));
    }

    /// The current task has done a portion of its compute operation: true, and it continues with the next
    /// one.
    #[inline]
    pub(crate) fn continue_compute(&mut self, record: &mut Cpu) -> bool {
        let (remaining, speed) = (self.tasks[record.current].remaining(), self.cores.speed(record.id));
        if portion(remaining, speed) == remaining {
            return false;
        }
        self.restart_compute(record, |_| ());
        true
    }

    /// Time so far is charged, the rest of the overhead stays pending, and the current task computes on after
    /// a change.
    fn restart_compute(&mut self, record: &mut Cpu, change: impl FnOnce(&mut Self)) {
        let class = record.class;
        let elapsed = self.now.since(record.since);
        let rest = record.pay(elapsed);
        let task = &mut self.tasks[record.current];
        task.cpu_time += elapsed;
        task.last_ran = self.now;
        self.stop_compute(record, class, rest, elapsed);
        change(self);
        self.start_compute(record, class);
    }

    /// The compute operation of the current task is complete: its segment is closed, and what rounding left
    /// of the work is done.
    #[inline]
    pub(crate) fn end_compute(&mut self, record: &mut Cpu) {
        self.close(record);
        self.tasks[record.current].set_remaining(Work::ZERO);
        record.take_deferred();
    }
}

impl Engine<'_> {
    /// The current task of `cpu` continues with its compute operation after the pending overhead.
    pub(crate) fn begin_compute(&mut self, cpu: CpuId) {
        let record = &mut self.cpus[cpu];
        if self.shared.begin_at_home(record) {
            return;
        }
        self.shared.emit_running(record);
        let id = record.current;
        let copy = self.follow_pages(cpu, id);
        let from = self.origin(cpu, id);
        self.shared.begin_compute(&mut self.cpus[cpu], from, copy);
    }

    /// The speed of a cpu changes: time so far is charged at the old speed, the rest of the overhead stays
    /// pending.
    pub(crate) fn respeed(&mut self, cpu: CpuId, own: Speed, factor: u64) {
        if self.cpus[cpu].activity != Activity::Compute {
            self.shared.cores.set(cpu, own, factor);
            return;
        }
        let class = self.cpus[cpu].class;
        let (shared, record) = (&mut self.shared, &mut self.cpus[cpu]);
        shared.restart_compute(record, |shared| shared.cores.set(cpu, own, factor));
        if class == ClassId::FREE {
            let due = self.compute_end(cpu, class);
            self.shared.sources.set(cpu.0 as usize, due.min(self.cpus[cpu].slice_end));
        }
    }

    /// When the current task completes its compute operation; `NEVER` when the clock of its class determines
    /// it.
    #[inline]
    pub(crate) fn compute_end(&self, cpu: CpuId, class: ClassId) -> Time {
        if class == ClassId::FREE { self.free_end(cpu) } else { Time::NEVER }
    }

    /// The same for an operation that no other task slows down.
    fn free_end(&self, cpu: CpuId) -> Time {
        let record = &self.cpus[cpu];
        let speed = self.shared.cores.speed(cpu);
        let work = to_cpu(portion(self.shared.tasks[record.current].remaining(), speed), speed);
        record.since + record.overhead.total() + work.duration_at(Speed::NOMINAL)
    }

    /// True when the current task has completed its compute operation.
    pub(crate) fn compute_complete(&self, cpu: CpuId, class: ClassId) -> bool {
        if class == ClassId::FREE {
            return self.compute_end(cpu, class) <= self.shared.now;
        }
        self.shared.memory.left(class, cpu, self.shared.now, Work::MAX) == Work::ZERO
    }

    /// Nominal work that a task has done in the present segment of a cpu, none when it does not compute there
    /// now.
    pub(crate) fn computed(&self, cpu: CpuId, task: TaskId) -> Work {
        let record = &self.cpus[cpu];
        if record.activity != Activity::Compute || record.current != task {
            return Work::ZERO;
        }
        let class = record.class;
        let speed = self.shared.cores.speed(cpu);
        let before = portion(self.shared.tasks[task].remaining(), speed);
        let rest = self.shared.now.since(record.since).saturating_sub(record.overhead.total());
        before - from_cpu(self.left(cpu, class, to_cpu(before, speed), rest), speed).min(before)
    }

    /// What is left of `work` at the cpu's speed, `rest` after the end of the overhead.
    fn left(&self, cpu: CpuId, class: ClassId, work: Work, rest: Span) -> Work {
        if class == ClassId::FREE {
            work.saturating_sub(Speed::NOMINAL.work_in(rest))
        } else {
            self.shared.memory.left(class, cpu, self.shared.now, work)
        }
    }

    /// Charges the time since the segment began and ends its activity; without a current task it is idle
    /// time.
    pub(crate) fn close_segment(&mut self, cpu: CpuId) {
        let (shared, record) = (&mut self.shared, &mut self.cpus[cpu]);
        if !record.current.is_none() {
            return shared.close(record);
        }
        shared.report_account(record);
        let rest = record.pay(shared.now.since(record.since));
        record.since = shared.now;
        record.charged = record.charged.min(shared.now);
        if !record.overhead.is_none() {
            record.keep_overhead();
        }
        record.account.add(Category::Idle, rest);
        shared.report_account(record);
    }
}
