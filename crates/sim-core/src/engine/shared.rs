//! What the cpus of a run share, and the frequent transitions of a current task, which borrow it and one
//! cpu's record.

use std::sync::Arc;

use crate::engine::invariants::violated;
use crate::engine::numa::Scan;
use crate::engine::reports::Reports;
use crate::engine::rounds::Rounds;
use crate::engine::segments::Segments;
use crate::engine::state::{
    Activity, App, BarrierRank, Cpu, Look, OnReturn, Own, Part, RunObjects, Stage, Task, Waiting,
};
use crate::engine::watch::Watch;
use crate::event::Sources;
use crate::ids::{AppId, CpuId, DeviceId, Id, IdVec, TaskId};
use crate::machine::{Distance, Machine};
use crate::observe::{LeaveReason, Observation, Sleep, Verdict};
use crate::os::OsModel;
use crate::outcome::{Counters, Options};
use crate::policy::{Action, Affinity, Decision, THROTTLED, TaskState, Why};
use crate::program::Op;
use crate::run_queue::Picks;
use crate::run_queue::explanation::explain;
use crate::run_queue::real_time::is_of_class;
use crate::sync::{BarrierStep, Locks};
use crate::time::{Span, Time, WORK_FRACTION_BITS, Work};

/// Everything a run has except the per-cpu records.
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
    pub(crate) locks: Locks,
    /// What programs share besides.
    pub(crate) objects: RunObjects,
    /// What tasks are by themselves, where they change their classes; otherwise empty.
    pub(crate) classes: IdVec<TaskId, Own>,
    pub(crate) segments: Segments,
    /// The scans of the tasks' pages; empty without automatic NUMA balancing.
    pub(crate) scans: IdVec<TaskId, Scan>,
    /// Tasks whose next pass waits until the policy knows that they are not on the node that they prefer.
    pub(crate) misplaced: Vec<TaskId>,
    pub(crate) sources: Sources,
    /// Which cpus have something to decide at this instant, and which have decided.
    pub(crate) rounds: Rounds,
    /// Notices for policies that watch waits.
    pub(crate) watch: Watch,
    /// How tasks that poll are picked.
    pub(crate) picks: Picks,
    /// A task that is picked again begins a new slice.
    pub(crate) renews_slice: bool,
    /// Some tasks poll with directed yields.
    pub(crate) directed: bool,
    /// The policy orders the queues: it is asked for each task that enters or goes back.
    pub(crate) policy_orders: bool,
    /// Each poll is an event: on request, where the policy orders the queues, and where yields are directed
    /// while cpus share the limited cpu time of a task group.
    pub(crate) stepwise: bool,
    pub(crate) reports: Reports<'o>,
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
        self.reports.observer().into_iter().for_each(|observer| observer.queued(self.now, &decision));
    }

    /// Reports that the current task of a cpu has been dispatched.
    #[cold]
    #[inline(never)]
    pub(crate) fn report_dispatch(&mut self, record: &Cpu) {
        if let Some(observer) = self.reports.observer() {
            observer.dispatched(self.now, record.current, record.id, record.overhead.total());
        }
    }

    /// Reports that a task has fallen asleep; `device`: the one that works for it.
    #[cold]
    #[inline(never)]
    pub(crate) fn report_sleep(&mut self, id: TaskId, nap: bool, device: Option<DeviceId>) {
        let task = &self.tasks[id];
        let app = &self.apps[task.app()];
        let what = match (task.waiting, device) {
            (_, Some(device)) => Sleep::Device(device),
            (Waiting::No, None) if nap => Sleep::Timer,
            (Waiting::No, None) => Sleep::Command,
            (Waiting::Exchange, None) => Sleep::Message,
            (Waiting::Lock, None) => Sleep::Lock(app.own_lock(app.lock_of(task))),
            (Waiting::Job, None) => Sleep::Job,
            (Waiting::Event, None) => match app.program.ops().get(usize::from(task.pc)) {
                Some(Op::Take { event, .. } | Op::Meet { event, .. }) => Sleep::Event(*event),
                _ => Sleep::Message,
            },
            (Waiting::Gather | Waiting::Release | Waiting::Round(_), None) => Sleep::Barrier,
        };
        let now = self.now;
        self.reports.observer().into_iter().for_each(|observer| observer.slept(now, id, what));
    }

    /// Reports that the current task of a cpu wakes another one.
    #[cold]
    #[inline(never)]
    pub(crate) fn report_waker(&mut self, waker: TaskId, task: TaskId) {
        let now = self.now;
        self.reports.observer().into_iter().for_each(|observer| observer.wakes(now, waker, task));
    }

    /// The time in which a cpu without a current task leaves the idle state.
    pub(crate) fn idle_exit(&self, record: &Cpu) -> Span {
        self.machine.costs.idle_exit_after(self.now.since(record.picked))
    }

    /// Reports the cpu-time breakdown of a cpu to the observer, if it wants that.
    #[inline]
    pub(crate) fn report_account(&mut self, record: &Cpu) {
        if self.reports.wants_accounts() {
            self.report_open_segment(record);
        }
    }

    #[cold]
    fn report_open_segment(&mut self, record: &Cpu) {
        // Several poll cycles that are not computed yet are reported once they are.
        let account = self.segments.account(record, &self.tasks, self.now);
        if let (Some(observer), Some(account)) = (self.reports.observer(), account) {
            observer.accounted(record.id, &account);
        }
    }

    /// Reports a fact.
    #[inline]
    pub(crate) fn observe(&mut self, what: Observation) {
        self.reports.fact(self.now, what);
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

    /// The task that runs on a cpu, or would next.
    pub(crate) fn next_on(&self, record: &Cpu) -> Option<TaskId> {
        let tasks = &self.tasks;
        let first = record.head.some().filter(|first| tasks[*first].priority < THROTTLED);
        let Some(current) = record.current.some() else { return first };
        if !self.policy_orders {
            return Some(current);
        }
        if tasks[current].is_held() {
            return first;
        }
        let key = |id: TaskId| (tasks[id].priority, tasks[id].vruntime);
        first.filter(|first| record.resched && key(*first) < key(current)).or(Some(current))
    }

    /// The visibility time, for a task, of a store that the current task of a cpu makes after its pending
    /// overhead.
    #[inline(always)]
    pub(crate) fn visible(&self, record: &Cpu, task: TaskId) -> Time {
        record.cursor(self.now) + self.machine.signal_latency(record.id, self.tasks[task].cpu)
    }

    /// The current task enters a system call.
    pub(crate) fn begin_syscall(&mut self, record: &mut Cpu, call: Span, after: OnReturn) {
        self.emit_running(record);
        debug_assert!(!record.current.is_none(), "no task on {} enters a system call ({after:?})", record.id);
        record.since = self.now;
        record.activity = Activity::Syscall;
        record.rare.call = (call, after);
    }

    /// The current task polls from now on, after the pending overhead.
    pub(crate) fn begin_polling(&mut self, record: &mut Cpu) {
        self.watch.note(record.id);
        record.since = self.now;
        let id = record.current;
        if self.tasks[id].waiting == Waiting::Lock {
            self.look_at_lock(record.id, id, record.cursor(self.now));
        }
        record.activity = if self.tasks[id].polls != 0 { Activity::Poll } else { Activity::Spin };
    }

    /// The current task is not runnable from now on.
    pub(crate) fn not_runnable(&mut self, id: TaskId, state: TaskState) {
        let task = &mut self.tasks[id];
        task.state = state;
        self.apps[task.app()].task_leaves(self.now);
    }

    /// A task has done the present request, if it has one.
    pub(crate) fn end_response(&mut self, id: TaskId) {
        let (now, elapsed) = (self.now, self.elapsed());
        let task = &mut self.tasks[id];
        if let Some(came) = self.apps[task.app()].end_response(task, now, elapsed) {
            self.reports.answered(now, id, came);
        }
    }

    /// A task has got units of an event, or has met the others there, and goes on.
    pub(crate) fn passes_event(&mut self, id: TaskId) {
        let task = &mut self.tasks[id];
        let app = &mut self.apps[task.app()];
        if let Some(waits) = &mut app.waits
            && let Some(Op::Take { event, .. }) = app.program.ops().get(usize::from(task.pc))
            && self.objects.events[*event].is_stamped()
        {
            waits.add(self.now.since(task.history.woken));
            self.reports.begins(id, self.now);
        }
        task.pc += 1;
    }

    /// Counts a move.
    pub(crate) fn count_move(&mut self, id: TaskId, from: CpuId, to: CpuId) {
        let distance = self.machine.topology.distance(from, to);
        let counters = &mut self.apps[self.tasks[id].app()].counters;
        counters.migrations += 1;
        counters.far_migrations += u64::from(distance == Distance::Far);
        self.note_move(id, from, to);
        self.observe(Observation::Migrated { task: id, from, to });
    }

    /// Reports a decision and its reason to the observer.
    pub(crate) fn decided(&mut self, task: Option<TaskId>, action: Action, why: Why) {
        if let Some(observer) = self.reports.observer() {
            observer.decided(self.now, &Decision { task, action, why });
        }
    }

    /// The task that a directed yield prefers: the first queued one of the same application whose wait, if
    /// any, is over.
    pub(crate) fn directed(&self, record: &Cpu) -> Option<TaskId> {
        let me = &self.tasks[record.current];
        let app = &self.apps[me.app()];
        if !app.yields_to(me) {
            return None;
        }
        // It would observe the end of its wait, or of its polling, if it got the cpu now.
        let has_something_to_do = |task: &Task| {
            let end = match task.waiting {
                Waiting::No => return true,
                Waiting::Lock => self.wait_ends(task).min(task.history.lock.deadline),
                _ => task.visible,
            };
            end <= self.now
        };
        let mut at = record.head;
        while let Some(id) = at.some() {
            let task = &self.tasks[id];
            let equal = task.priority == me.priority && !is_of_class(me);
            let ours = task.app() == me.app() && equal && me.priority < THROTTLED;
            if ours && has_something_to_do(task) {
                return Some(id);
            }
            at = task.next;
        }
        None
    }

    /// The task begins to wait; it is charged up to now.
    #[inline]
    pub(crate) fn begin_wait(&mut self, record: &mut Cpu, waiting: Waiting, ready: Time) {
        self.emit_stopping(record, LeaveReason::Waits);
        let task = &self.tasks[record.current];
        let (id, scope) = (task.app(), task.scope());
        let app = &self.apps[id];
        let handler = app.handler(task, waiting);
        let runtime = app.runtime_of(handler);
        let starts = matches!(task.stage, Stage::LeadersBarrier | Stage::StartBarrier);
        let barrier = runtime.startup.sleeps && starts;
        let lock = (waiting == Waiting::Lock).then(|| self.locks.rules(app.lock_of(task)));
        let limit = match lock {
            _ if barrier => Some(Span::ZERO),
            Some(rules) => rules.spin_limit(self.machine.costs.poll),
            None => runtime.wait.sleeps_after(),
        };
        self.watch.note(record.id);
        if ready.is_never() {
            self.watch.wait_begins(record.current, || waiting.awaited(scope));
        }
        let from = self.now + record.overhead.total();
        let deadline = self.deadline(from, limit);
        let task = &mut self.tasks[record.current];
        task.begin_wait(waiting, ready, deadline);
        record.since = self.now;
        task.polls = match lock {
            Some(rules) if rules.yields() => self.apps[id].looks[3],
            Some(_) => 0,
            None => self.apps[id].polls(waiting, handler),
        };
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
            Waiting::Event => self.passes_event(record.current),
            // It looks for a job where it is.
            Waiting::Job => {}
            Waiting::No => violated(record.current, record.id, "ends a wait and waits for nothing"),
        }
        self.watch.wait_ends(record.current);
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
