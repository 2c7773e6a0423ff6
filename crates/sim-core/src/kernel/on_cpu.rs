//! The current task on its cpu: all that its frequent transitions touch, looked up once for several of them.

use crate::account::Category;
use crate::contention::Contention;
use crate::event::Tournament;
use crate::ids::{CpuId, TaskId};
use crate::kernel::Kernel;
use crate::kernel::advance::awaited;
use crate::kernel::caches::Caches;
use crate::kernel::cores::Cores;
use crate::kernel::state::{Activity, After, App, Cpu, Lead, Part, Seat, Stage, Task, Waiting};
use crate::machine::Machine;
use crate::observe::{Digest, LeaveReason, Observation, Observer};
use crate::policy::Awaited;
use crate::program::MemoryProfile;
use crate::sync::Turn;
use crate::time::{Span, Time};

/// A cpu with its current task and that task's application.
pub(crate) struct OnCpu<'k, O> {
    pub(crate) now: Time,
    pub(crate) cpu: CpuId,
    pub(crate) id: TaskId,
    pub(crate) record: &'k mut Cpu,
    pub(crate) task: &'k mut Task,
    pub(crate) app: &'k mut App,
    pub(crate) memory: &'k mut Contention,
    pub(crate) sources: &'k mut Tournament,
    pub(crate) caches: &'k Caches,
    pub(crate) cores: &'k Cores,
    pub(crate) machine: &'k Machine,
    pub(crate) profiles: &'k [MemoryProfile],
    /// Where the policy is told who waits, if it wants to know.
    pub(crate) waits: Option<&'k mut Vec<(TaskId, Option<Awaited>)>>,
    pub(crate) digest: &'k mut Digest,
    pub(crate) observer: &'k mut O,
}

impl<O: Observer> Kernel<'_, O> {
    /// The current task of a cpu that has one.
    #[inline(always)]
    pub(crate) fn on(&mut self, cpu: CpuId) -> OnCpu<'_, O> {
        let Self { now, cpus, tasks, apps, memory, sources, caches, cores, machine, profiles, .. } = self;
        let record = &mut cpus[cpu];
        let id = record.current;
        let task = &mut tasks[id];
        let app = &mut apps[task.app];
        let waits = self.watched.then_some(&mut self.waits);
        let (digest, observer) = (&mut self.digest, &mut *self.observer);
        OnCpu {
            now: *now,
            cpu,
            id,
            record,
            task,
            app,
            memory,
            sources,
            caches,
            cores,
            machine,
            profiles,
            waits,
            digest,
            observer,
        }
    }
}

/// Shows the books of a cpu to the observer, the begun poll or spin of its current task included.
#[inline]
pub(crate) fn tell_account<O: Observer>(
    observer: &mut O,
    machine: &Machine,
    now: Time,
    cpu: CpuId,
    record: &Cpu,
) {
    if observer.keeps_books() {
        tell_books(observer, machine, now, cpu, record);
    }
}

fn tell_books<O: Observer>(observer: &mut O, machine: &Machine, now: Time, cpu: CpuId, record: &Cpu) {
    let mut account = record.account;
    if let Activity::Poll | Activity::Spin = record.activity {
        let (elapsed, costs) = (now.since(record.since), &machine.costs);
        let mut lead = record.lead;
        let rest = lead.pay(elapsed, &mut account);
        if record.activity == Activity::Spin {
            account.add(Category::Spin, rest);
        } else if rest <= costs.poll + costs.yield_call {
            let poll = rest.min(costs.poll);
            account.add(Category::Spin, poll);
            account.add(Category::Yield, rest - poll);
        } else {
            // Several cycles that are not worked out yet: told when they are.
            return;
        }
    }
    observer.accounted(cpu, &account);
}

impl<O: Observer> OnCpu<'_, O> {
    #[inline]
    pub(crate) fn observe(&mut self, what: Observation) {
        self.digest.observe(self.now, &what);
        self.observer.observe(self.now, &what);
    }

    /// Tells of the polling on the cpu since the last fact about it.
    #[inline]
    pub(crate) fn tell_polling(&mut self) {
        tell_account(self.observer, self.machine, self.now, self.cpu, self.record);
        let (polls, switches) = std::mem::take(&mut self.record.polled);
        if polls > 0 {
            self.observe(Observation::Polled { cpu: self.cpu, polls, switches });
        }
    }

    /// The task has work to do.
    #[inline]
    pub(crate) fn announce(&mut self) {
        if self.record.announced != self.id {
            self.tell_polling();
            self.record.announced = self.id;
            self.observe(Observation::Running { task: self.id, cpu: self.cpu });
        }
    }

    /// The announced task has no more work to do here.
    #[inline]
    pub(crate) fn renounce(&mut self, reason: LeaveReason) {
        let task = std::mem::replace(&mut self.record.announced, TaskId::NONE);
        if !task.is_none() {
            self.tell_polling();
            self.observe(Observation::Stopping { task, cpu: self.cpu, reason });
        }
    }

    /// Books the time since the segment began and stops its activity. What is left of the lead's kernel and
    /// daemon work and of a migration stays a debt of the cpu.
    #[inline]
    pub(crate) fn close(&mut self) {
        let (record, now) = (&mut *self.record, self.now);
        let elapsed = now.since(record.since);
        let rest = record.lead.pay(elapsed, &mut record.account);
        record.since = now;
        // What is left of a switch that is cut short is not charged to what follows.
        record.charged = record.charged.min(now);
        let refill = if record.lead.is_none() { Span::ZERO } else { record.keep_lead() };
        // Between two activities there is none; nothing is booked for no time.
        let activity = std::mem::replace(&mut record.activity, Activity::Idle);
        let costs = &self.machine.costs;
        match activity {
            Activity::Idle => record.account.add(Category::Idle, rest),
            Activity::Compute(class) => {
                self.task.refill = refill;
                self.stop_compute(class, rest, elapsed);
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
                self.app.counters.polls += polls;
            }
            Activity::Syscall(_, after) => {
                let yields = matches!(after, After::Yield | After::YieldTo(_));
                let category = if yields { Category::Yield } else { Category::Kernel };
                record.account.add(category, rest);
            }
        }
        self.task.cpu_time += elapsed;
        self.task.last_ran = now;
    }

    /// The task begins to wait; it is charged up to now.
    #[inline]
    pub(crate) fn begin_wait(&mut self, waiting: Waiting, ready: Time, lead: Lead) {
        self.renounce(LeaveReason::Waits);
        let (task, record) = (&mut *self.task, &mut *self.record);
        let runtime = &self.app.runtime;
        let meeting = runtime.startup.sleeps && task.stage == Stage::Meeting;
        let limit = if meeting { Some(Span::ZERO) } else { runtime.wait.sleeps_after() };
        task.waiting = waiting;
        task.ready = ready;
        if let Some(waits) = &mut self.waits
            && ready.is_never()
            && !task.told
        {
            task.told = true;
            waits.push((self.id, Some(awaited(waiting, task.circle))));
        }
        let from = self.now + lead.total();
        task.deadline = limit.map_or(Time::NEVER, |limit| from.saturating_add(limit));
        record.since = self.now;
        record.lead = lead;
        record.activity = if task.yields { Activity::Poll } else { Activity::Spin };
    }

    /// The task sees that what it waited for has happened. Returns what its barrier asks of it in the next round, if that is what
    /// it waits in.
    #[inline]
    pub(crate) fn end_wait(&mut self) -> Option<(Turn, Seat)> {
        self.task.ready = Time::NEVER;
        self.task.deadline = Time::NEVER;
        let seat = self.app.seat(self.task.circle, self.task.rank);
        match std::mem::replace(&mut self.task.waiting, Waiting::No) {
            Waiting::Release => self.barrier_done(),
            Waiting::Gather => {
                return Some((self.app.meetings[seat.meeting].gather_done(seat.number), seat));
            }
            Waiting::Round(round) => {
                let meeting = &mut self.app.meetings[seat.meeting];
                meeting.clear_flag(seat.number, round, self.task.episode());
                let turn = meeting.round(seat.number, round + 1);
                if turn != Turn::Done {
                    return Some((turn, seat));
                }
                self.barrier_done();
            }
            Waiting::Exchange => {
                self.app.exchanges.take(self.task.pc, self.task.rank);
                self.task.pc += 1;
            }
            Waiting::Lock => self.task.pc += 1,
            Waiting::No => {}
        }
        self.tell_proceeds();
        None
    }

    /// The task is past its barrier.
    #[inline]
    fn barrier_done(&mut self) {
        let task = &mut *self.task;
        let (circle, episode) = (task.circle, task.episode());
        task.episodes[circle as usize] = episode.wrapping_add(1);
        if task.stage == Stage::Program {
            task.pc += 1;
            let counters = &mut self.app.counters;
            counters.barriers += 1;
            counters.barrier_wait_ns += self.now.since(task.arrived).ns();
        } else {
            task.stage = Stage::Program;
            self.app.met.get_or_insert(self.now);
        }
        self.tell_polling();
        self.observe(Observation::Released { task: self.id, circle, episode });
    }

    /// The task, which waited, goes on: the policy is told if it was told of the wait.
    #[inline]
    fn tell_proceeds(&mut self) {
        if let Some(waits) = &mut self.waits
            && std::mem::replace(&mut self.task.told, false)
        {
            waits.push((self.id, None));
        }
    }

    /// The task has arrived at its barrier, in this seat; the counter's line, if there is one, was with `holder` before. Returns
    /// what the barrier asks of it.
    #[inline]
    pub(crate) fn arrive(&mut self, seat: Seat, holder: Option<CpuId>, lead: &mut Lead) -> Turn {
        self.announce();
        let task = &mut *self.task;
        task.arrived = self.now;
        let (circle, episode) = (task.circle, task.episode());
        let meeting = &mut self.app.meetings[seat.meeting];
        if let Some(holder) = holder {
            // The counter's cache line goes from arrival to arrival.
            let cursor = self.now + lead.total();
            let done = cursor.max(meeting.line_free) + self.machine.signal_latency(holder, self.cpu);
            meeting.line_free = done;
            meeting.line_holder = seat.number;
            lead.grow(Part::Spin, done - cursor);
        }
        let turn = meeting.arrive(seat.number);
        self.observe(Observation::Arrived { task: self.id, circle, episode });
        turn
    }
}
