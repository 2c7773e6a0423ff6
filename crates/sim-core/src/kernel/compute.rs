//! Computing, and closing the books of whatever a cpu was doing.

use crate::account::{Account, Category};
use crate::contention::{ClassId, Contention, ONE};
use crate::ids::{CpuId, NodeId, TaskId};
use crate::kernel::Kernel;
use crate::kernel::on_cpu::OnCpu;
use crate::kernel::state::{Activity, Lead, Part};
use crate::observe::Observer;
use crate::program::Pages;
use crate::time::{Span, Speed, Time, WORK_FRACTION_BITS, Work};

/// Work at nominal speed as work on a cpu of this speed, rounded up.
#[inline]
fn to_cpu(work: Work, speed: Speed) -> Work {
    if speed == Speed::NOMINAL {
        return work;
    }
    let scaled = (u128::from(work.raw()) << WORK_FRACTION_BITS).div_ceil(u128::from(speed.raw()));
    Work::from_raw(scaled as u64)
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

/// Divides computing time: what it would have taken on the core alone, what busy siblings added (`factor` is what they leave),
/// then of what memory added the share of distance, (T - W (1 - b)) (R - 1) / R, and the rest. `ideal` is W, the time at
/// the cpu's speed without contention or distance, `rest` the time T it took.
fn book_compute(
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

impl<O: Observer> OnCpu<'_, O> {
    /// The task goes on with its compute operation after `lead`, when its pages are its own and stay where they are; else false.
    #[inline]
    pub(crate) fn begin_at_home(&mut self, lead: Lead) -> bool {
        let own =
            !matches!(self.profiles[self.task.profile as usize].pages, Pages::Master | Pages::NextTouch);
        if !own || self.task.profile + 1 == self.app.profiles {
            return false;
        }
        self.announce();
        let here = self.task.allotted.unwrap_or_else(|| self.memory.node(self.cpu));
        let home = *self.task.home.get_or_insert(here);
        self.begin_compute(home, Span::ZERO, lead);
        true
    }

    /// The task goes on with its compute operation after `lead` and a refill of its caches, and a copy of its pages.
    #[inline]
    pub(crate) fn begin_compute(&mut self, home: NodeId, copy: Span, mut lead: Lead) {
        let begun = lead.part(Part::Refill);
        let refill = self.refill(home, begun + copy);
        lead.grow(Part::Refill, refill - begun);
        let task = &mut *self.task;
        let class = self.memory.class(task.profile, home, self.cpu, task.class);
        if class != task.class {
            task.class = class;
            if class != ClassId::FREE {
                self.sources.grow(self.memory.cpus() + class.0 as usize + 1);
            }
        }
        self.start_compute(class, lead);
    }

    /// The task computes from now on, after `lead`, at the cpu's present speed.
    #[inline]
    fn start_compute(&mut self, class: ClassId, lead: Lead) {
        let record = &mut *self.record;
        record.since = self.now;
        let after = lead.total();
        record.lead = lead;
        record.activity = Activity::Compute(class);
        let (profile, remaining) = (self.task.profile, self.task.remaining);
        self.memory.occupy(profile, self.cpu, true);
        if class != ClassId::FREE {
            let pace = self.cores.pace(self.cpu);
            let work = to_cpu(remaining, pace.speed);
            let bytes = self.memory.offer(profile, pace.own, pace.factor);
            self.memory.start(class, self.cpu, self.now, after, work, bytes);
        }
    }

    /// Stops the task's computing and books what lies behind the lead (`rest`; the whole segment took `elapsed`).
    #[inline]
    pub(crate) fn stop_compute(&mut self, class: ClassId, rest: Span, elapsed: Span) {
        let (record, task) = (&mut *self.record, &mut *self.task);
        let pace = self.cores.pace(self.cpu);
        let (before, profile) = (task.remaining, task.profile);
        let work = to_cpu(before, pace.speed);
        let (left, growth) = if class == ClassId::FREE {
            (work.saturating_sub(Speed::NOMINAL.work_in(rest)), ONE)
        } else {
            self.memory.stop(class, self.cpu, self.now, work)
        };
        self.memory.occupy(profile, self.cpu, false);
        let after = from_cpu(left, pace.speed).min(before);
        task.remaining = after;
        task.done += u128::from((before - after).raw());
        self.caches.fetch(task, before - after, growth);
        self.caches.fill(&self.machine.memory, (self.cpu, &mut *record), (self.id, &mut *task), elapsed);
        let ideal = (work - left).duration_at(Speed::NOMINAL).min(rest);
        book_compute(self.memory, &mut record.account, (class, profile, pace.factor), (ideal, rest));
    }

    /// The compute operation of the task is complete: whatever rounding left is done.
    #[inline]
    pub(crate) fn complete(&mut self) {
        let task = &mut *self.task;
        task.done += u128::from(task.remaining.raw());
        task.remaining = Work::ZERO;
    }
}

impl<O: Observer> Kernel<'_, O> {
    /// The current task of `cpu` goes on with its compute operation after `lead`.
    pub(crate) fn begin_compute(&mut self, cpu: CpuId, lead: Lead) {
        let mut on = self.on(cpu);
        if on.begin_at_home(lead) {
            return;
        }
        on.announce();
        let id = on.id;
        let copy = self.follow_pages(cpu, id);
        let home = self.page_node(cpu, id);
        self.on(cpu).begin_compute(home, copy, lead);
    }

    /// The speed of a cpu changes: what was computed so far is booked at the old one, the rest of the lead stays.
    pub(crate) fn respeed(&mut self, cpu: CpuId, own: Speed, factor: u64) {
        let Activity::Compute(class) = self.cpus[cpu].activity else {
            self.cores.set(cpu, own, factor);
            return;
        };
        let mut on = self.on(cpu);
        let elapsed = on.now.since(on.record.since);
        let rest = on.record.lead.pay(elapsed, &mut on.record.account);
        let lead = on.record.lead;
        on.task.cpu_time += elapsed;
        on.task.last_ran = on.now;
        on.stop_compute(class, rest, elapsed);
        self.cores.set(cpu, own, factor);
        self.on(cpu).start_compute(class, lead);
        if class == ClassId::FREE {
            let due = self.compute_end(cpu, class);
            self.sources.set(cpu.0 as usize, due.min(self.cpus[cpu].slice_end));
        }
    }

    /// When the current task completes its compute operation; `NEVER` when its class's clock tells.
    pub(crate) fn compute_end(&self, cpu: CpuId, class: ClassId) -> Time {
        if class != ClassId::FREE {
            return Time::NEVER;
        }
        let record = &self.cpus[cpu];
        let work = to_cpu(self.tasks[record.current].remaining, self.cores.speed(cpu));
        record.since + record.lead.total() + work.duration_at(Speed::NOMINAL)
    }

    /// True when the current task has completed its compute operation.
    pub(crate) fn compute_complete(&self, cpu: CpuId, class: ClassId) -> bool {
        if class == ClassId::FREE {
            return self.compute_end(cpu, class) <= self.now;
        }
        self.memory.left(class, cpu, self.now, Work::MAX) == Work::ZERO
    }

    /// Nominal work that a task has done in the present segment of a cpu, none when it does not compute there now.
    pub(crate) fn computed(&self, cpu: CpuId, task: TaskId) -> Work {
        let record = &self.cpus[cpu];
        let Activity::Compute(class) = record.activity else { return Work::ZERO };
        if record.current != task {
            return Work::ZERO;
        }
        let (speed, before) = (self.cores.speed(cpu), self.tasks[task].remaining);
        let rest = self.now.since(record.since).saturating_sub(record.lead.total());
        before - from_cpu(self.left(cpu, class, to_cpu(before, speed), rest), speed).min(before)
    }

    /// What is left of `work` at the cpu's speed after `rest` behind the lead.
    fn left(&self, cpu: CpuId, class: ClassId, work: Work, rest: Span) -> Work {
        if class == ClassId::FREE {
            work.saturating_sub(Speed::NOMINAL.work_in(rest))
        } else {
            self.memory.left(class, cpu, self.now, work)
        }
    }

    /// Books the time since the segment began and stops its activity, if there is a current task; else idle time.
    pub(crate) fn close_segment(&mut self, cpu: CpuId) {
        if !self.cpus[cpu].current.is_none() {
            self.on(cpu).close();
            return;
        }
        self.tell_account(cpu);
        let (record, now) = (&mut self.cpus[cpu], self.now);
        let rest = record.lead.pay(now.since(record.since), &mut record.account);
        record.since = now;
        record.charged = record.charged.min(now);
        if !record.lead.is_none() {
            record.keep_lead();
        }
        record.account.add(Category::Idle, rest);
        self.tell_account(cpu);
    }
}
