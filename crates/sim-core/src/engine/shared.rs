//! What the cpus of a run share, and the frequent transitions of a current task, which borrow it and one
//! cpu's record.

use std::sync::Arc;

use crate::engine::dirty::Dirty;
use crate::engine::execute::awaited;
use crate::engine::invariants::violated;
use crate::engine::polling::Look;
use crate::engine::rounds::Rounds;
use crate::engine::segments::Segments;
use crate::engine::state::{Activity, App, BarrierRank, Cpu, Part, Stage, Task, Waiting};
use crate::event::Sources;
use crate::ids::{AppId, Id, IdVec, TaskId};
use crate::machine::Machine;
use crate::observe::{Digest, LeaveReason, Observation, Observer, Verdict};
use crate::os::OsModel;
use crate::outcome::{Counters, Options};
use crate::policy::{Affinity, Awaited};
use crate::run_queue::Picks;
use crate::run_queue::explanation::explain;
use crate::sync::BarrierStep;
use crate::time::{Span, Time, WORK_FRACTION_BITS, Work};

/// A run without the records of its cpus.
pub(crate) struct Shared<'o> {
    pub(crate) machine: Arc<Machine>,
    pub(crate) model: Arc<OsModel>,
    pub(crate) options: Options,
    pub(crate) now: Time,
    /// Time that was not simulated; see `sampling`.
    pub(crate) extrapolated: Span,
    pub(crate) tasks: IdVec<TaskId, Task>,
    /// Where each task may run; empty when all may run anywhere.
    pub(crate) affinities: Vec<Affinity>,
    pub(crate) apps: IdVec<AppId, App>,
    pub(crate) segments: Segments,
    pub(crate) sources: Sources,
    /// Which cpus have something to decide at this instant, and which have decided.
    pub(crate) rounds: Rounds,
    /// The policy is notified of waits.
    pub(crate) watched: bool,
    /// Of each task: the policy is notified of its wait, or will be. Empty where it is notified of none.
    pub(crate) notified: IdVec<TaskId, bool>,
    /// Tasks that have begun to wait (for what) or continued (none), of which the policy is still to be
    /// notified.
    pub(crate) waits: Vec<(TaskId, Option<Awaited>)>,
    /// What a policy that watches waits asks for with [`crate::policy::System::dirty`].
    pub(crate) dirty: Dirty,
    /// How tasks that poll are picked.
    pub(crate) picks: Picks,
    /// Some tasks poll with directed yields.
    pub(crate) directed: bool,
    /// The policy orders the queues: it is asked for each task that enters or goes back.
    pub(crate) policy_orders: bool,
    /// Each poll is an event: on request, where the policy orders the queues, and where yields are directed
    /// while cpus share the limited cpu time of a task group.
    pub(crate) stepwise: bool,
    /// None for an observer that wants no facts.
    pub(crate) observer: Option<&'o mut dyn Observer>,
    /// The observer wants the cpu-time breakdowns.
    pub(crate) wants_cpu_time: bool,
    /// The observer wants the decisions of the run queues.
    pub(crate) wants_queues: bool,
    /// The observer wants the dispatches.
    pub(crate) wants_dispatches: bool,
    pub(crate) digest: Digest,
}

impl Shared<'_> {
    /// Now, on the clock of the run: what was extrapolated included.
    pub(crate) fn elapsed(&self) -> Time {
        self.now + self.extrapolated
    }

    /// The counters of the applications, with those that each task keeps.
    pub(crate) fn counters(&self) -> Vec<Counters> {
        let up_to_now = |app: &App| {
            let runnable_ns = app.counters.runnable_ns + app.runnable_since(self.now);
            Counters { runnable_ns, ..app.counters }
        };
        let mut counters: Vec<Counters> = self.apps.iter().map(up_to_now).collect();
        for id in self.tasks.ids() {
            let task = &self.tasks[id];
            let counters = &mut counters[task.app().index()];
            counters.cpu_ns += task.cpu_time.ns();
            counters.bytes_fetched += self.segments.memory.fetched(id);
            counters.work_done_ns += (task.done() >> WORK_FRACTION_BITS) as u64;
            counters.work_asked_ns += (task.asked() >> WORK_FRACTION_BITS) as u64;
        }
        counters
    }

    /// Reports a decision of the run queue of a cpu; `directed`: another task yields to this one.
    #[cold]
    #[inline(never)]
    pub(crate) fn report_queue(&mut self, record: &Cpu, task: TaskId, verdict: Verdict, directed: bool) {
        let mut decision = explain(&self.model.discipline, &self.tasks, record, task, verdict);
        if directed {
            decision.rule = "it is the target of a directed yield";
        }
        if let Some(observer) = &mut self.observer {
            observer.queued(self.now, &decision);
        }
    }

    /// Reports that the current task of a cpu has been dispatched.
    #[cold]
    #[inline(never)]
    pub(crate) fn report_dispatch(&mut self, record: &Cpu) {
        if let Some(observer) = &mut self.observer {
            observer.dispatched(self.now, record.current, record.id, record.overhead.total());
        }
    }

    /// The time in which a cpu without a current task leaves the idle state.
    pub(crate) fn idle_exit(&self, record: &Cpu) -> Span {
        self.machine.costs.idle_exit_after(self.now.since(record.picked))
    }

    /// Reports the cpu-time breakdown of a cpu to the observer, if it wants that.
    #[inline]
    pub(crate) fn report_account(&mut self, record: &Cpu) {
        if self.wants_cpu_time {
            self.report_open_segment(record);
        }
    }

    #[cold]
    fn report_open_segment(&mut self, record: &Cpu) {
        // Several poll cycles that are not computed yet are reported once they are.
        let account = self.segments.account(record, &self.tasks, self.now);
        if let (Some(observer), Some(account)) = (&mut self.observer, account) {
            observer.accounted(record.id, &account);
        }
    }

    #[inline]
    pub(crate) fn observe(&mut self, what: Observation) {
        self.digest.observe(self.now, &what);
        if self.observer.is_some() {
            self.report(what);
        }
    }

    /// Out of line, so that a run without observer makes no record of the fact.
    #[cold]
    #[inline(never)]
    fn report(&mut self, what: Observation) {
        if let Some(observer) = &mut self.observer {
            observer.observe(self.now, &what);
        }
    }

    /// Reports the polling on the cpu since the last observation of it.
    #[inline]
    pub(crate) fn report_polling(&mut self, record: &mut Cpu) {
        self.report_account(record);
        let (polls, switches) = std::mem::take(&mut record.polled);
        if polls > 0 {
            self.observe(Observation::Polled { cpu: record.id, polls, switches });
        }
    }

    /// Emits `Running`: the current task has work to do.
    #[inline]
    pub(crate) fn emit_running(&mut self, record: &mut Cpu) {
        if !record.observed {
            self.report_polling(record);
            record.observed = true;
            self.observe(Observation::Running { task: record.current, cpu: record.id });
        }
    }

    /// Emits `Stopping`: the task observed as running has no more work to do here.
    #[inline]
    pub(crate) fn emit_stopping(&mut self, record: &mut Cpu, reason: LeaveReason) {
        if std::mem::replace(&mut record.observed, false) {
            self.report_polling(record);
            self.observe(Observation::Stopping { task: record.current, cpu: record.id, reason });
        }
    }

    /// Ends the segment of the current task of a cpu: its time is charged.
    #[inline]
    pub(crate) fn close(&mut self, record: &mut Cpu) {
        self.segments.close(record, &mut self.tasks[record.current], &mut self.apps, self.now);
    }

    /// The current task has done a portion of its compute operation: true, and it continues with the next
    /// one.
    #[inline]
    pub(crate) fn continue_compute(&mut self, record: &mut Cpu) -> bool {
        let task = &mut self.tasks[record.current];
        let counters = &mut self.apps[task.app()].counters;
        self.segments.continue_compute(record, task, counters, self.now)
    }

    /// The compute operation of the current task is complete: its segment is closed, and what rounding left
    /// of the work is done.
    #[inline]
    pub(crate) fn end_compute(&mut self, record: &mut Cpu) {
        self.close(record);
        self.tasks[record.current].set_remaining(Work::ZERO);
        record.take_deferred();
    }

    /// Ends the segment of a cpu; without a current task it is idle time.
    pub(crate) fn close_segment(&mut self, record: &mut Cpu) {
        if !record.current.is_none() {
            return self.close(record);
        }
        self.report_account(record);
        record.close_idle(self.now);
        self.report_account(record);
    }

    /// The task begins to wait; it is charged up to now.
    #[inline]
    pub(crate) fn begin_wait(&mut self, record: &mut Cpu, waiting: Waiting, ready: Time) {
        self.emit_stopping(record, LeaveReason::Waits);
        let task = &self.tasks[record.current];
        let (id, scope) = (task.app(), task.scope());
        let app = &self.apps[id];
        let of_team = app.team_runtime.is_some() && app.is_of_team(waiting, scope);
        let runtime = app.runtime_of(of_team);
        let starts = matches!(task.stage, Stage::LeadersBarrier | Stage::StartBarrier);
        let barrier = runtime.startup.sleeps && starts;
        let limit = if barrier {
            Some(Span::ZERO)
        } else if waiting == Waiting::Lock {
            self.lock_spin_limit(id)
        } else {
            runtime.wait.sleeps_after()
        };
        self.dirty.note(record.id);
        if self.watched && ready.is_never() && !std::mem::replace(&mut self.notified[record.current], true) {
            self.waits.push((record.current, Some(awaited(waiting, task.scope()))));
        }
        let from = self.now + record.overhead.total();
        let deadline = self.deadline(from, limit);
        let task = &mut self.tasks[record.current];
        task.begin_wait(waiting, ready, deadline);
        record.since = self.now;
        task.polls = self.apps[id].polls(waiting, of_team);
        record.activity = if task.polls != 0 { Activity::Poll } else { Activity::Spin };
        if waiting == Waiting::Lock {
            self.await_lock(record.current, deadline);
        }
    }

    /// The task observes that its wait is over. Returns the next step at its barrier, if the barrier has one.
    #[inline]
    pub(crate) fn end_wait(&mut self, record: &mut Cpu) -> Option<(BarrierStep, BarrierRank)> {
        let task = &mut self.tasks[record.current];
        let app = &mut self.apps[task.app()];
        let waiting = task.end_wait();
        task.polls = 0;
        let rank = app.barrier_rank(task.scope(), app.rank(record.current));
        match waiting {
            Waiting::Release => self.barrier_done(record),
            Waiting::Gather => return Some((app.barriers[rank.barrier].gather_done(rank.number), rank)),
            Waiting::Round(round) => {
                let (barrier, round) = (&mut app.barriers[rank.barrier], u32::from(round));
                barrier.clear_flag(rank.number, round, task.episode);
                let step = barrier.round(rank.number, round + 1);
                if step != BarrierStep::Done {
                    return Some((step, rank));
                }
                self.barrier_done(record);
            }
            Waiting::Exchange => {
                app.exchanges.take(task.pc.into(), app.rank(record.current));
                task.pc += 1;
            }
            Waiting::Lock => task.pc += 1,
            Waiting::No => violated(record.current, record.id, "ends a wait and waits for nothing"),
        }
        if self.watched && std::mem::replace(&mut self.notified[record.current], false) {
            self.waits.push((record.current, None));
        }
        None
    }

    /// The task is past its barrier.
    #[inline]
    fn barrier_done(&mut self, record: &mut Cpu) {
        let task = &mut self.tasks[record.current];
        let (scope, episode) = (task.scope(), task.episode);
        task.episode = episode.wrapping_add(1);
        let arrived = task.pass();
        let app = &mut self.apps[task.app()];
        match task.stage {
            Stage::Program => {
                task.pc += 1;
                app.counters.barriers += 1;
                app.counters.barrier_wait_ns += self.now.since(arrived).ns();
            }
            Stage::LeadersBarrier => task.stage = Stage::Leader,
            _ => {
                task.stage = Stage::Program;
                app.met.get_or_insert(self.now + self.extrapolated);
            }
        }
        self.report_polling(record);
        self.observe(Observation::Released { task: record.current, scope, episode });
    }

    /// The task arrives at its barrier with this rank. Returns its next step there.
    #[inline]
    pub(crate) fn arrive(&mut self, record: &mut Cpu, rank: BarrierRank) -> BarrierStep {
        self.emit_running(record);
        let task = &mut self.tasks[record.current];
        task.arrive(self.now);
        let (scope, episode) = (task.scope(), task.episode);
        let barrier = &mut self.apps[task.app()].barriers[rank.barrier];
        if barrier.is_central() {
            // The cache line of the counter moves from one arrival to the next.
            let holder = self.tasks[rank.task(barrier.line_holder)].cpu;
            let cursor = self.now + record.overhead.total();
            let done = cursor.max(barrier.line_free) + self.machine.signal_latency(holder, record.id);
            barrier.line_free = done;
            barrier.line_holder = rank.number;
            record.pend(Part::Spin, done - cursor);
        }
        let step = barrier.arrive(rank.number);
        self.observe(Observation::Arrived { task: record.current, scope, episode });
        step
    }

    /// Where a task may run.
    #[inline]
    pub(crate) fn affinity(&self, id: TaskId) -> &Affinity {
        if self.affinities.is_empty() { &Affinity::All } else { &self.affinities[id.index()] }
    }

    /// Sets where a task may run.
    pub(crate) fn bind(&mut self, id: TaskId, affinity: Affinity) {
        if self.affinities.is_empty() {
            self.affinities.resize(self.tasks.len(), Affinity::All);
        }
        self.affinities[id.index()] = affinity;
    }

    /// How a task polls before a yield.
    #[inline]
    pub(crate) fn look(&self, task: &Task) -> Look {
        self.segments.look(task)
    }

    /// How long one poll of a task and one yield take.
    #[inline]
    pub(crate) fn cycle(&self, task: &Task) -> Span {
        self.look(task).poll + self.machine.costs.yield_call
    }

    /// A task has polled and yielded without success: for how long in all and until when, in how many cycles
    /// and with how many switches.
    #[inline]
    pub(crate) fn has_polled(
        &mut self,
        id: TaskId,
        (used, last_ran): (Span, Time),
        (cycles, switches): (u64, u64),
    ) {
        let task = &mut self.tasks[id];
        task.cpu_time += used;
        task.last_ran = last_ran;
        let counters = &mut self.apps[task.app()].counters;
        counters.polls += cycles;
        counters.yields += cycles;
        counters.voluntary_switches += switches;
    }

    /// Charges the task for the time until now, ticks apart.
    #[inline]
    pub(crate) fn charge(&mut self, record: &mut Cpu) {
        self.model.discipline.charge_current(&mut self.tasks, record, self.now);
    }
}
