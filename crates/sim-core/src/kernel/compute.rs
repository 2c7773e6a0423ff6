//! Computing, and closing the books of whatever a cpu was doing.

use crate::account::Category;
use crate::contention::ClassId;
use crate::ids::{CpuId, TaskId};
use crate::kernel::Kernel;
use crate::kernel::state::{Activity, After, Lead};
use crate::observe::Observer;
use crate::time::{Span, Speed, Time, WORK_FRACTION_BITS, Work};

/// Work at nominal speed as work on a cpu of this speed, rounded up.
fn to_cpu(work: Work, speed: Speed) -> Work {
    if speed == Speed::NOMINAL {
        return work;
    }
    let scaled = (u128::from(work.raw()) << WORK_FRACTION_BITS).div_ceil(u128::from(speed.raw()));
    Work::from_raw(scaled as u64)
}

/// The reverse of [`to_cpu`], rounded up.
fn from_cpu(work: Work, speed: Speed) -> Work {
    if speed == Speed::NOMINAL {
        return work;
    }
    let scaled = (u128::from(work.raw()) * u128::from(speed.raw())).div_ceil(1 << WORK_FRACTION_BITS);
    Work::from_raw(scaled as u64)
}

impl<O: Observer> Kernel<'_, O> {
    /// The current task of `cpu` goes on with its compute operation after `lead`.
    pub(crate) fn begin_compute(&mut self, cpu: CpuId, mut lead: Lead) {
        self.announce(cpu);
        let id = self.cpus[cpu].current;
        let node = self.memory.node(cpu);
        let task = &mut self.tasks[id];
        let home = *task.home.get_or_insert(node);
        lead.migration += std::mem::take(&mut task.refill);
        let (profile, remaining) = (task.profile, task.remaining);
        let home = self.source_node(id).unwrap_or(home);
        let class = self.memory.class(profile, home, cpu);
        let record = &mut self.cpus[cpu];
        record.since = self.now;
        record.lead = lead;
        record.activity = Activity::Compute(class);
        if class != ClassId::FREE {
            let speed = self.speeds[cpu];
            let work = to_cpu(remaining, speed);
            self.memory.start(class, cpu, self.now, lead.total(), work, speed);
            self.rearm_class(class);
        }
    }

    fn rearm_class(&mut self, class: ClassId) {
        let source = self.cpus.len() + class.0 as usize;
        self.sources.set(source, self.memory.next(class.0));
    }

    /// When the current task completes its compute operation; `NEVER` when its class's clock tells.
    pub(crate) fn compute_end(&self, cpu: CpuId, class: ClassId) -> Time {
        if class != ClassId::FREE {
            return Time::NEVER;
        }
        let record = &self.cpus[cpu];
        let work = to_cpu(self.tasks[record.current].remaining, self.speeds[cpu]);
        record.since + record.lead.total() + work.duration_at(Speed::NOMINAL)
    }

    /// True when the current task has completed its compute operation.
    pub(crate) fn compute_complete(&self, cpu: CpuId, class: ClassId) -> bool {
        if class == ClassId::FREE {
            return self.compute_end(cpu, class) <= self.now;
        }
        self.memory.left(class, cpu, self.now, Work::MAX) == Work::ZERO
    }

    /// Stops the current task's computing and returns the time it would have taken without contention.
    fn stop_compute(&mut self, cpu: CpuId, class: ClassId, rest: Span) -> Span {
        let id = self.cpus[cpu].current;
        let (speed, before) = (self.speeds[cpu], self.tasks[id].remaining);
        let work = to_cpu(before, speed);
        let left = if class == ClassId::FREE {
            work.saturating_sub(Speed::NOMINAL.work_in(rest))
        } else {
            let left = self.memory.stop(class, cpu, self.now, work, speed);
            self.rearm_class(class);
            left
        };
        let after = from_cpu(left, speed).min(before);
        let task = &mut self.tasks[id];
        task.remaining = after;
        task.done += u128::from((before - after).raw());
        (work - left).duration_at(Speed::NOMINAL)
    }

    /// Books the time since the segment began and stops its activity. What is left of the lead's kernel and
    /// daemon work and of a migration stays a debt of the cpu.
    pub(crate) fn close_segment(&mut self, cpu: CpuId) {
        let now = self.now;
        let record = &mut self.cpus[cpu];
        let elapsed = now.since(record.since);
        let rest = record.lead.pay(elapsed, &mut record.account);
        record.since = now;
        // What is left of a switch that is cut short is not charged to what follows.
        record.charged = record.charged.min(now);
        let lead = std::mem::replace(&mut record.lead, Lead::NONE);
        record.debt.migration += lead.migration;
        record.debt.kernel += lead.kernel;
        record.debt.daemon += lead.daemon;
        // Between two activities there is none; nothing is booked for no time.
        let activity = std::mem::replace(&mut record.activity, Activity::Idle);
        let current = record.current;
        let costs = &self.machine.costs;
        match activity {
            Activity::Idle => record.account.add(Category::Idle, rest),
            Activity::Compute(class) => {
                let ideal = self.stop_compute(cpu, class, rest).min(rest);
                let account = &mut self.cpus[cpu].account;
                account.add(Category::Compute, ideal);
                account.add(Category::MemoryStall, rest - ideal);
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
                let app = self.tasks[current].app;
                self.apps[app].counters.polls += polls;
            }
            Activity::Syscall(_, after) => {
                let category = if after == After::Yield { Category::Yield } else { Category::Kernel };
                record.account.add(category, rest);
            }
        }
        if !current.is_none() {
            let task = &mut self.tasks[current];
            task.cpu_time += elapsed;
            task.last_ran = now;
        }
    }

    /// The node a running bulk transfer reads from.
    fn source_node(&self, id: TaskId) -> Option<crate::ids::NodeId> {
        let task = &self.tasks[id];
        let source = self.transfer_source(task)?;
        let app = &self.apps[task.app];
        let source = &self.tasks[app.task(source)];
        Some(source.home.unwrap_or_else(|| self.memory.node(source.cpu)))
    }
}
