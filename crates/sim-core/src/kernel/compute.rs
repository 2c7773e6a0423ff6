//! Computing, and closing the books of whatever a cpu was doing.

use crate::account::{Account, Category};
use crate::contention::{ClassId, Contention, ONE};
use crate::ids::{CpuId, TaskId};
use crate::kernel::Kernel;
use crate::kernel::state::{Activity, After, Lead, Part};
use crate::observe::Observer;
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

impl<O: Observer> Kernel<'_, O> {
    /// The current task of `cpu` goes on with its compute operation after `lead`.
    pub(crate) fn begin_compute(&mut self, cpu: CpuId, mut lead: Lead) {
        self.announce(cpu);
        let id = self.cpus[cpu].current;
        let copy = self.follow_pages(cpu, id);
        let home = self.page_node(cpu, id);
        let begun = lead.part(Part::Refill);
        let refill = self.refill(cpu, id, home, begun + copy);
        lead.grow(Part::Refill, refill - begun);
        let task = &mut self.tasks[id];
        let class = self.memory.class(task.profile, home, cpu, task.class);
        if class != task.class {
            task.class = class;
            if class != ClassId::FREE {
                self.sources.grow(self.cpus.len() + class.0 as usize + 1);
            }
        }
        self.start_compute(cpu, class, lead);
    }

    /// The current task computes from now on, after `lead`, at the cpu's present speed.
    fn start_compute(&mut self, cpu: CpuId, class: ClassId, lead: Lead) {
        let record = &mut self.cpus[cpu];
        record.since = self.now;
        let after = lead.total();
        record.lead = lead;
        record.activity = Activity::Compute(class);
        let task = &self.tasks[record.current];
        let (profile, remaining) = (task.profile, task.remaining);
        self.memory.occupy(profile, cpu, true);
        if class != ClassId::FREE {
            let work = to_cpu(remaining, self.cores.speed(cpu));
            let bytes = self.memory.offer(profile, self.cores.own(cpu), self.cores.factor(cpu));
            self.memory.start(class, cpu, self.now, after, work, bytes);
        }
    }

    /// The speed of a cpu changes: what was computed so far is booked at the old one, the rest of the lead stays.
    pub(crate) fn respeed(&mut self, cpu: CpuId, own: Speed, factor: u64) {
        let Activity::Compute(class) = self.cpus[cpu].activity else {
            self.cores.set(cpu, own, factor);
            return;
        };
        let record = &mut self.cpus[cpu];
        let elapsed = self.now.since(record.since);
        let rest = record.lead.pay(elapsed, &mut record.account);
        let lead = record.lead;
        let task = &mut self.tasks[record.current];
        task.cpu_time += elapsed;
        task.last_ran = self.now;
        self.stop_compute(cpu, class, rest, elapsed);
        self.cores.set(cpu, own, factor);
        self.start_compute(cpu, class, lead);
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

    /// Stops the current task's computing and books what lies behind the lead (`rest`; the whole segment took `elapsed`).
    fn stop_compute(&mut self, cpu: CpuId, class: ClassId, rest: Span, elapsed: Span) {
        let Self { cpus, tasks, memory, cores, caches, machine, now, .. } = self;
        let record = &mut cpus[cpu];
        let id = record.current;
        let task = &mut tasks[id];
        let (speed, before, profile) = (cores.speed(cpu), task.remaining, task.profile);
        let work = to_cpu(before, speed);
        let (left, growth) = if class == ClassId::FREE {
            (work.saturating_sub(Speed::NOMINAL.work_in(rest)), ONE)
        } else {
            memory.stop(class, cpu, *now, work)
        };
        memory.occupy(profile, cpu, false);
        let after = from_cpu(left, speed).min(before);
        task.remaining = after;
        task.done += u128::from((before - after).raw());
        caches.fetch(task, before - after, growth);
        caches.fill(&machine.memory, (cpu, &mut *record), (id, &mut *task), elapsed);
        let ideal = (work - left).duration_at(Speed::NOMINAL).min(rest);
        book_compute(memory, &mut record.account, (class, profile, cores.factor(cpu)), (ideal, rest));
    }

    /// Books the time since the segment began and stops its activity. What is left of the lead's kernel and
    /// daemon work and of a migration stays a debt of the cpu.
    pub(crate) fn close_segment(&mut self, cpu: CpuId) {
        let now = self.now;
        let idle = self.cpus[cpu].activity == Activity::Idle;
        if idle {
            self.tell_account(cpu);
        }
        let Self { cpus, tasks, apps, machine, .. } = self;
        let record = &mut cpus[cpu];
        let elapsed = now.since(record.since);
        let rest = record.lead.pay(elapsed, &mut record.account);
        record.since = now;
        // What is left of a switch that is cut short is not charged to what follows.
        record.charged = record.charged.min(now);
        let mut refill = Span::ZERO;
        if !record.lead.is_none() {
            let lead = std::mem::replace(&mut record.lead, Lead::NONE);
            for part in [Part::Migration, Part::Kernel, Part::Daemon] {
                record.debt.grow(part, lead.part(part));
            }
            refill = lead.part(Part::Refill);
        }
        // Between two activities there is none; nothing is booked for no time.
        let activity = std::mem::replace(&mut record.activity, Activity::Idle);
        let current = record.current;
        let costs = &machine.costs;
        match activity {
            Activity::Idle => record.account.add(Category::Idle, rest),
            Activity::Compute(class) => {
                tasks[current].refill = refill;
                self.stop_compute(cpu, class, rest, elapsed);
            }
            Activity::Poll => {
                let poll = rest.min(costs.poll);
                record.account.add(Category::Spin, poll);
                record.account.add(Category::Yield, rest - poll);
            }
            Activity::Spin => {
                record.account.add(Category::Spin, rest);
                let polls = rest.ns() / costs.poll.ns().max(1);
                record.polled.0 += polls;
                apps[tasks[current].app].counters.polls += polls;
            }
            Activity::Syscall(_, after) => {
                let yields = matches!(after, After::Yield | After::YieldTo(_));
                let category = if yields { Category::Yield } else { Category::Kernel };
                record.account.add(category, rest);
            }
        }
        if !current.is_none() {
            let task = &mut self.tasks[current];
            task.cpu_time += elapsed;
            task.last_ran = now;
        }
        if idle {
            self.tell_account(cpu);
        }
    }
}
