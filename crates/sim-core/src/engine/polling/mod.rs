//! Cpus on which tasks poll: loading the polling cycle, bringing a cpu up to date, and predicting when
//! polling ends there.

pub(crate) mod eevdf;
pub(crate) mod fair;
pub(crate) mod general;
pub(crate) mod rotation;

use crate::account::Category;
use crate::engine::Engine;
use crate::engine::polling::general::{Member, Prices, YieldRule};
use crate::engine::state::{Activity, Overhead, Waiting};
use crate::ids::{CpuId, TaskId};
use crate::observe::Observer;
use crate::os::{CfsRelease, Discipline, YieldMode};
use crate::policy::{THROTTLED, TaskState};
use crate::run_queue;
use crate::run_queue::multilevel::Multilevel;
use crate::time::{Span, Time};

impl<O: Observer> Engine<'_, O> {
    /// Brings a cpu whose current task polls up to date: every cycle that ended before now has happened, and
    /// one that ends now if the cpu has already decided at this instant.
    #[inline]
    pub(crate) fn settle(&mut self, cpu: CpuId) {
        let (shared, record) = (&mut self.shared, &mut self.cpus[cpu]);
        if record.activity != Activity::Poll || shared.stepwise {
            return;
        }
        let first_end = record.since + record.overhead.total() + shared.cycle();
        let limit = if cpu.0 < shared.passed { shared.now + Span::from_ns(1) } else { shared.now };
        if first_end >= limit {
            return;
        }
        if shared.in_rotation(record) {
            shared.rotate(record, limit);
        } else if self.yields_fairly(cpu) {
            self.settle_fair(cpu, limit);
        } else {
            self.load(cpu);
            self.polling.run(limit);
            self.store(cpu);
        }
    }

    /// When polling on a cpu next causes something: a task observes the end of its wait, or one that does not
    /// poll is picked.
    #[inline]
    pub(crate) fn predict(&mut self, cpu: CpuId) -> Time {
        let (shared, record) = (&self.shared, &self.cpus[cpu]);
        let check = record.since + record.overhead.total() + shared.machine.costs.poll;
        if rotation::visible_at(&shared.tasks[record.current]) <= check {
            check
        } else if shared.stepwise {
            check + shared.machine.costs.yield_call
        } else if shared.in_rotation(record) {
            shared.predict_rotation(record)
        } else if self.yields_fairly(cpu) {
            self.predict_fair(cpu)
        } else {
            self.predict_general(cpu)
        }
    }

    fn predict_general(&mut self, cpu: CpuId) -> Time {
        let (shared, record) = (&self.shared, &self.cpus[cpu]);
        if run_queue::eevdf::delayed_in(&shared.tasks, record, shared.tasks[record.current].priority) {
            return record.since + record.overhead.total() + shared.cycle();
        }
        if self.all_wait_unsuccessfully(cpu) {
            return Time::NEVER;
        }
        self.load(cpu);
        self.polling.run(Time::NEVER)
    }

    /// Every task on the cpu that may run polls, and no visibility time is known: only an event on another
    /// cpu changes that.
    fn all_wait_unsuccessfully(&self, cpu: CpuId) -> bool {
        let record = &self.cpus[cpu];
        let mut at = record.current;
        let mut following = record.head;
        while let Some(id) = at.some() {
            let task = &self.shared.tasks[id];
            if task.priority == THROTTLED {
                break;
            }
            let unaware = task.ready.is_never() && task.deadline.is_never() && task.waiting != Waiting::No;
            if !unaware || !self.shared.apps[task.app].runtime.wait.yields() {
                return false;
            }
            at = following;
            following = at.some().map_or(TaskId::NONE, |id| self.shared.tasks[id].next);
        }
        true
    }

    fn load(&mut self, cpu: CpuId) {
        let record = &self.cpus[cpu];
        let costs = &self.shared.machine.costs;
        let polling = &mut self.polling;
        polling.prices = Prices {
            poll: costs.poll,
            call: costs.yield_call,
            thread: costs.switch_thread,
            process: costs.switch_process,
            charged: record.switch_charge,
        };
        let discipline = &self.shared.model.discipline;
        polling.rule = match discipline {
            Discipline::RoundRobin(_) => YieldRule::RoundRobin,
            Discipline::Cfs(params) if params.yield_mode == YieldMode::Posix => YieldRule::Posix,
            Discipline::Cfs(_) | Discipline::VirtualTime(_) => YieldRule::Fair,
            Discipline::Eevdf(params) => {
                polling.eevdf = Some(*params);
                YieldRule::Eevdf
            }
            Discipline::O1(params) => YieldRule::Multilevel(Multilevel::O1(*params)),
            Discipline::Ule(params) => YieldRule::Multilevel(Multilevel::Ule(*params)),
            Discipline::Ts(params) => YieldRule::Multilevel(Multilevel::Ts(*params)),
            Discipline::ByPolicy(_) => unreachable!("under the order of a policy each poll is simulated"),
        };
        polling.leftmost = matches!(discipline, Discipline::Cfs(params) if params.release == CfsRelease::V27);
        polling.since = record.since;
        polling.overhead = record.overhead;
        polling.charged = record.charged;
        polling.minimum = record.min_vruntime;
        polling.paid = Overhead::NONE;
        polling.cycles = 0;
        polling.switches = 0;
        polling.members.clear();
        polling.order.clear();
        let (mut at, mut following) = (record.current, record.head);
        while let Some(id) = at.some() {
            let task = &self.shared.tasks[id];
            let runtime = &self.shared.apps[task.app].runtime;
            polling.order.push(polling.members.len() as u32);
            polling.members.push(Member {
                task: id,
                app: task.app,
                priority: task.priority,
                weight: task.weight,
                vruntime: task.vruntime,
                vdeadline: task.vdeadline,
                protection: task.history.protection,
                share: task.history.share,
                ready: task.ready.min(task.deadline),
                polls: task.waiting != Waiting::No && runtime.wait.yields(),
                directed: runtime.wait == crate::wait::WaitMode::YieldTo,
                process: task.process,
                cycles: 0,
                switches: 0,
                used: Span::ZERO,
                last_ran: None,
            });
            at = following;
            following = at.some().map_or(TaskId::NONE, |id| self.shared.tasks[id].next);
        }
    }

    /// Writes a polling cycle that was run back to the cpu.
    fn store(&mut self, cpu: CpuId) {
        let polling = &self.polling;
        if polling.cycles == 0 {
            return;
        }
        let record = &mut self.cpus[cpu];
        let poll = self.shared.machine.costs.poll;
        let call = self.shared.machine.costs.yield_call;
        record.account.add(Category::Spin, poll * polling.cycles);
        record.account.add(Category::Yield, call * polling.cycles);
        let mut paid = polling.paid;
        let total = paid.total();
        paid.pay(total, &mut record.account);
        record.poll_on(polling.since, polling.charged, polling.overhead, (polling.cycles, polling.switches));
        if matches!(self.shared.model.discipline, Discipline::O1(_)) && polling.minimum > record.min_vruntime
        {
            record.expired_since = Time::NEVER;
        }
        record.min_vruntime = polling.minimum;
        let switched = polling.switches > 0;
        for member in &polling.members {
            let task = &mut self.shared.tasks[member.task];
            task.vruntime = member.vruntime;
            task.vdeadline = member.vdeadline;
            if let Some(history) = task.history.written() {
                history.protection = member.protection;
                history.share = member.share;
            }
            task.cpu_time += member.used;
            if let Some(at) = member.last_ran {
                task.last_ran = at;
            }
            let counters = &mut self.shared.apps[member.app].counters;
            counters.polls += member.cycles;
            counters.yields += member.cycles;
            counters.voluntary_switches += member.switches;
        }
        if switched {
            self.relink(cpu);
        }
    }

    /// Rebuilds the queue in the order of the polling cycle.
    fn relink(&mut self, cpu: CpuId) {
        let polling = &self.polling;
        let record = &mut self.cpus[cpu];
        let tasks = &mut self.shared.tasks;
        // The task that ran last is the one that was switched out last.
        let members = (1..polling.order.len()).map(|at| polling.at(at));
        if let Some(latest) = members.filter(|m| m.last_ran.is_some()).max_by_key(|m| m.last_ran) {
            record.last_process = latest.process;
        }
        record.current = polling.at(0).task;
        tasks[record.current].state = TaskState::Running;
        tasks[record.current].previous = TaskId::NONE;
        tasks[record.current].next = TaskId::NONE;
        record.head = polling.at(1).task;
        let last = polling.order.len() - 1;
        record.tail = polling.at(last).task;
        for at in 1..=last {
            let task = &mut tasks[polling.at(at).task];
            task.state = TaskState::Queued;
            task.previous = if at == 1 { TaskId::NONE } else { polling.at(at - 1).task };
            task.next = if at == last { TaskId::NONE } else { polling.at(at + 1).task };
        }
    }
}
