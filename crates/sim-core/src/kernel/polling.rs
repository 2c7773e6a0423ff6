//! Cpus on which tasks poll: loading the ring, bringing a cpu up to date, and foretelling when polling ends there.

use crate::account::Category;
use crate::ids::{CpuId, TaskId};
use crate::kernel::ring::{Member, Prices, YieldRule};
use crate::kernel::state::{Activity, Lead, Waiting};
use crate::kernel::{Kernel, rotation};
use crate::kernel_model::{CfsRelease, Discipline, YieldMode};
use crate::observe::Observer;
use crate::policy::{PARKED, TaskState};
use crate::run_queue;
use crate::run_queue::ladder::Ladder;
use crate::time::{Span, Time};

impl<O: Observer> Kernel<'_, O> {
    /// Brings a cpu whose current task polls up to date: every cycle that ended before now has
    /// happened, and one that ends now if the cpu has had its turn at this instant.
    #[inline]
    pub(crate) fn settle(&mut self, cpu: CpuId) {
        let (world, record) = (&mut self.world, &mut self.cpus[cpu]);
        if record.activity != Activity::Poll || world.options.stepwise {
            return;
        }
        let first_end = record.since + record.lead.total() + world.cycle();
        let limit = if cpu.0 < world.passed { world.now + Span::from_ns(1) } else { world.now };
        if first_end >= limit {
            return;
        }
        if world.in_rotation(record) {
            world.rotate(record, limit);
        } else if self.yields_fairly(cpu) {
            self.settle_fair(cpu, limit);
        } else {
            self.load(cpu);
            self.ring.run(limit);
            self.store(cpu);
        }
    }

    /// When polling on a cpu next leads to something: a task sees, or one that does not poll is picked.
    #[inline]
    pub(crate) fn forecast(&mut self, cpu: CpuId) -> Time {
        let (world, record) = (&self.world, &self.cpus[cpu]);
        let check = record.since + record.lead.total() + world.machine.costs.poll;
        if rotation::sight(&world.tasks[record.current]) <= check {
            check
        } else if world.options.stepwise {
            check + world.machine.costs.yield_call
        } else if world.in_rotation(record) {
            world.forecast_rotation(record)
        } else if self.yields_fairly(cpu) {
            self.forecast_fair(cpu)
        } else {
            self.forecast_ring(cpu)
        }
    }

    fn forecast_ring(&mut self, cpu: CpuId) -> Time {
        let (world, record) = (&self.world, &self.cpus[cpu]);
        if run_queue::eevdf::delayed_in(&world.tasks, record, world.tasks[record.current].band) {
            return record.since + record.lead.total() + world.cycle();
        }
        if self.all_wait_in_vain(cpu) {
            return Time::NEVER;
        }
        self.load(cpu);
        self.ring.run(Time::NEVER)
    }

    /// Everybody on the cpu who may run polls and nothing is in sight: so it stays until something comes from outside.
    fn all_wait_in_vain(&self, cpu: CpuId) -> bool {
        let record = &self.cpus[cpu];
        let mut at = record.current;
        let mut following = record.head;
        while let Some(id) = at.some() {
            let task = &self.world.tasks[id];
            if task.band == PARKED {
                break;
            }
            let blind = task.ready.is_never() && task.deadline.is_never() && task.waiting != Waiting::No;
            if !blind || !self.world.apps[task.app].runtime.wait.yields() {
                return false;
            }
            at = following;
            following = at.some().map_or(TaskId::NONE, |id| self.world.tasks[id].next);
        }
        true
    }

    fn load(&mut self, cpu: CpuId) {
        let record = &self.cpus[cpu];
        let costs = &self.world.machine.costs;
        let ring = &mut self.ring;
        ring.prices = Prices {
            poll: costs.poll,
            call: costs.yield_call,
            thread: costs.switch_thread,
            process: costs.switch_process,
            charged: record.switch_charge,
        };
        let discipline = &self.world.model.discipline;
        ring.rule = match discipline {
            Discipline::RoundRobin { .. } => YieldRule::RoundRobin,
            Discipline::Cfs(params) if params.yield_mode == YieldMode::Posix => YieldRule::Posix,
            Discipline::Cfs(_) => YieldRule::Fair,
            Discipline::Eevdf(params) => {
                ring.eevdf = Some(*params);
                YieldRule::Eevdf
            }
            Discipline::O1(params) => YieldRule::Ladder(Ladder::O1(*params)),
            Discipline::Ule(params) => YieldRule::Ladder(Ladder::Ule(*params)),
            Discipline::Ts(params) => YieldRule::Ladder(Ladder::Ts(*params)),
        };
        ring.leftmost = matches!(discipline, Discipline::Cfs(params) if params.release == CfsRelease::V27);
        ring.since = record.since;
        ring.lead = record.lead;
        ring.charged = record.charged;
        ring.minimum = record.min_vruntime;
        ring.paid = Lead::NONE;
        ring.cycles = 0;
        ring.switches = 0;
        ring.members.clear();
        ring.order.clear();
        let (mut at, mut following) = (record.current, record.head);
        while let Some(id) = at.some() {
            let task = &self.world.tasks[id];
            let runtime = &self.world.apps[task.app].runtime;
            ring.order.push(ring.members.len() as u32);
            ring.members.push(Member {
                task: id,
                app: task.app,
                band: task.band,
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
            following = at.some().map_or(TaskId::NONE, |id| self.world.tasks[id].next);
        }
    }

    /// Writes a ring that was run back to the cpu.
    fn store(&mut self, cpu: CpuId) {
        let ring = &self.ring;
        if ring.cycles == 0 {
            return;
        }
        let record = &mut self.cpus[cpu];
        let poll = self.world.machine.costs.poll;
        let call = self.world.machine.costs.yield_call;
        record.account.add(Category::Spin, poll * ring.cycles);
        record.account.add(Category::Yield, call * ring.cycles);
        let mut paid = ring.paid;
        let total = paid.total();
        paid.pay(total, &mut record.account);
        record.since = ring.since;
        record.lead = ring.lead;
        record.charged = ring.charged;
        if matches!(self.world.model.discipline, Discipline::O1(_)) && ring.minimum > record.min_vruntime {
            record.expired_since = Time::NEVER;
        }
        record.min_vruntime = ring.minimum;
        record.picked = ring.since;
        record.pair_start = ring.since;
        record.next_buddy = TaskId::NONE;
        record.last_buddy = TaskId::NONE;
        record.polled.0 += ring.cycles;
        record.polled.1 += ring.switches;
        let switched = ring.switches > 0;
        for member in &ring.members {
            let task = &mut self.world.tasks[member.task];
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
            let counters = &mut self.world.apps[member.app].counters;
            counters.polls += member.cycles;
            counters.yields += member.cycles;
            counters.voluntary_switches += member.switches;
        }
        if switched {
            self.relink(cpu);
        }
    }

    /// Rebuilds the queue in the order of the ring.
    fn relink(&mut self, cpu: CpuId) {
        let ring = &self.ring;
        let record = &mut self.cpus[cpu];
        let tasks = &mut self.world.tasks;
        // The task that ran last is the one that was switched out last.
        let members = (1..ring.order.len()).map(|at| ring.at(at));
        if let Some(latest) = members.filter(|m| m.last_ran.is_some()).max_by_key(|m| m.last_ran) {
            record.last_process = latest.process;
        }
        record.current = ring.at(0).task;
        tasks[record.current].state = TaskState::Running;
        tasks[record.current].previous = TaskId::NONE;
        tasks[record.current].next = TaskId::NONE;
        record.head = ring.at(1).task;
        let last = ring.order.len() - 1;
        record.tail = ring.at(last).task;
        for at in 1..=last {
            let task = &mut tasks[ring.at(at).task];
            task.state = TaskState::Queued;
            task.previous = if at == 1 { TaskId::NONE } else { ring.at(at - 1).task };
            task.next = if at == last { TaskId::NONE } else { ring.at(at + 1).task };
        }
    }
}
