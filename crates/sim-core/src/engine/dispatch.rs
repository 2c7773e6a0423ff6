//! One cpu decides: what of its current activity is over, who runs next, when it decides again.

use crate::engine::Engine;
use crate::engine::polling::visible_at;
use crate::engine::state::{Activity, Cpu, Lazily, OnReturn, Part, Prices, Task, Waiting};
use crate::ids::{CpuId, TaskId};
use crate::observe::{LeaveReason, Verdict};
use crate::policy::{Enqueue, Policy, Preemption, THROTTLED, TaskState};
use crate::run_queue::{self, Interrupted, Picked, Rules};
use crate::time::{Span, Time};

/// When a spinning task observes the end of its wait or of its spin limit: at the end of the first poll after
/// it.
fn spin_ends(record: &Cpu, task: &Task, poll: Span) -> Time {
    let ready = task.visible;
    if ready.is_never() {
        return Time::NEVER;
    }
    debug_assert!(poll > Span::ZERO, "a poll takes no time");
    let first = record.since + record.overhead.total() + poll;
    first + poll * ready.since(first).ns().div_ceil(poll.ns())
}

impl Engine<'_> {
    /// One decision of a marked cpu: everything due now is done, then one event is armed.
    pub(crate) fn step(&mut self, cpu: CpuId, policy: &mut dyn Policy) {
        let record = &mut self.cpus[cpu];
        let fired = std::mem::replace(&mut record.fired, false);
        if record.activity == Activity::Poll && !fired && !record.resched && !record.has_deferred() {
            // Only the end of a wait has changed: the prediction follows, the state need not be brought up to
            // date.
            let due = self.predict(cpu);
            if due > self.shared.now {
                self.shared.sources.set(cpu.0 as usize, due);
                return;
            }
        }
        self.settle(cpu);
        while self.step_once(cpu, policy) {}
        if self.deadlines {
            self.arm_replenishments(cpu);
        }
        self.arm_next(cpu);
        self.shared.segments.touch(cpu);
    }

    /// Does one thing that is due; false when nothing is.
    #[inline]
    fn step_once(&mut self, cpu: CpuId, policy: &mut dyn Policy) -> bool {
        self.pass_ticks(cpu);
        let (shared, record) = (&mut self.shared, &mut self.cpus[cpu]);
        let now = shared.now;
        match record.activity {
            Activity::Compute => {
                if shared.segments.is_complete(record, &shared.tasks[record.current], now) {
                    if shared.continue_compute(record) {
                        return true;
                    }
                    shared.end_compute(record);
                    self.proceed(cpu, policy);
                    return true;
                }
            }
            Activity::Poll => {
                let task = &shared.tasks[record.current];
                let (start, look) = (record.since + record.overhead.total(), shared.look(task));
                let sees = visible_at(task) <= start + look.poll;
                if sees && now == look.sees(start, visible_at(task)) {
                    self.end_poll(cpu, policy);
                    return true;
                }
                if !sees && now == start + look.poll + shared.machine.costs.yield_call {
                    self.end_cycle(cpu, policy);
                    return true;
                }
            }
            Activity::Spin => {
                if now == spin_ends(record, &shared.tasks[record.current], shared.machine.costs.poll) {
                    self.end_poll(cpu, policy);
                    return true;
                }
            }
            Activity::Idle => return self.leave_idle(cpu, policy),
            Activity::Syscall => return self.end_syscall(cpu, policy),
        }
        if self.cpus[cpu].rare.lazily != Lazily::No && self.is_interrupted(cpu) {
            self.cpus[cpu].returns(true);
        }
        let record = &self.cpus[cpu];
        // The end of a slice does not interrupt a task that polls and yields.
        let over = now >= record.slice_end && record.activity != Activity::Poll;
        if (record.resched || over) && self.reschedule(cpu, policy) {
            return true;
        }
        let interrupted = self.is_interrupted(cpu);
        if interrupted {
            self.interrupt(cpu, policy);
        }
        interrupted
    }

    /// Kernel or daemon work has come up, or a pass over the pages of the current task.
    #[inline]
    fn is_interrupted(&self, cpu: CpuId) -> bool {
        let record = &self.cpus[cpu];
        let computes = record.activity == Activity::Compute;
        record.has_deferred() || computes && self.shared.scan_due(record) <= self.shared.now
    }

    /// The current task has polled without success and yielded.
    #[inline(never)]
    fn end_cycle(&mut self, cpu: CpuId, policy: &mut dyn Policy) {
        let (shared, record) = (&mut self.shared, &mut self.cpus[cpu]);
        shared.close(record);
        let app = shared.tasks[record.current].app();
        let counters = &mut shared.apps[app].counters;
        counters.polls += 1;
        counters.yields += 1;
        record.polled.0 += 1;
        self.do_yield(cpu, policy);
    }

    /// Ends a system call if it is time, else returns false: a task inside the kernel is preempted when the
    /// call ends.
    #[inline(never)]
    fn end_syscall(&mut self, cpu: CpuId, policy: &mut dyn Policy) -> bool {
        let record = &self.cpus[cpu];
        let (call, after) = record.rare.call;
        let ends = self.shared.now >= record.since + record.overhead.total() + call;
        if ends {
            self.shared.close_segment(&mut self.cpus[cpu]);
            self.cpus[cpu].returns(true);
            self.after_syscall(cpu, after, policy);
        }
        ends
    }

    /// Kernel and daemon work that has come up interrupts the current task; an interrupted poll starts over.
    #[inline(never)]
    fn interrupt(&mut self, cpu: CpuId, policy: &mut dyn Policy) {
        self.shared.close_segment(&mut self.cpus[cpu]);
        self.cpus[cpu].take_deferred();
        self.resume(cpu, policy);
    }

    /// The current task polls and observes the end of its wait or of its spin limit.
    fn end_poll(&mut self, cpu: CpuId, policy: &mut dyn Policy) {
        let (shared, record) = (&mut self.shared, &mut self.cpus[cpu]);
        let spinning = record.activity == Activity::Spin;
        shared.close(record);
        let task = &shared.tasks[record.current];
        debug_assert!(task.waiting != Waiting::No, "{} polls and waits for nothing", record.current);
        if !spinning {
            record.polled.0 += 1;
            shared.apps[task.app()].counters.polls += 1;
        }
        record.take_deferred();
        let locking = task.waiting == Waiting::Lock;
        if task.ready() > shared.now {
            let call = shared.machine.costs.sleep;
            if locking {
                self.shared.announce_sleep(&self.cpus[cpu]);
            }
            self.shared.begin_syscall(&mut self.cpus[cpu], call, OnReturn::WaitAsleep);
            return;
        }
        if locking {
            self.obtain(cpu);
        }
        if let Some((step, rank)) = self.shared.end_wait(&mut self.cpus[cpu]) {
            self.barrier_step(cpu, step, rank);
        } else {
            self.proceed(cpu, policy);
        }
    }

    fn after_syscall(&mut self, cpu: CpuId, after: OnReturn, policy: &mut dyn Policy) {
        let id = self.cpus[cpu].current;
        match after {
            OnReturn::WaitAsleep if self.shared.falls_asleep(id) => self.sleep(cpu, None),
            OnReturn::WaitAsleep => {
                // The flag was set while it went to sleep: the call returns at once, and it polls again.
                self.shared.emit_stopping(&mut self.cpus[cpu], LeaveReason::Waits);
                self.charge_waiter(cpu);
                self.cpus[cpu].take_deferred();
                self.shared.begin_polling(&mut self.cpus[cpu]);
            }
            OnReturn::Nap(span) => {
                self.shared.tasks[id].pc += 1;
                let app = &mut self.shared.apps[self.shared.tasks[id].app()];
                let asked = &mut app.counters.sleep_asked_ns;
                *asked = asked.saturating_add(span.ns());
                if app.sleeps_answer {
                    self.shared.tasks[id].history.woken = self.shared.now.saturating_add(span);
                    self.shared.reports.begins(id, Time::NEVER);
                }
                self.sleep(cpu, Some(span));
            }
            OnReturn::Until(instant) => {
                if !self.sleeps_until(cpu, instant) {
                    self.go_on(cpu, policy);
                }
            }
            OnReturn::Io(length) => self.give_device(cpu, length),
            OnReturn::Touch => {
                self.shared.touch_piece(cpu, id);
                self.go_on(cpu, policy);
            }
            OnReturn::Yield => {
                self.shared.tasks[id].pc += 1;
                self.shared.apps[self.shared.tasks[id].app()].counters.yields += 1;
                self.do_yield(cpu, policy);
            }
            OnReturn::YieldTo(to) => self.yield_in_favour(cpu, to, policy),
            OnReturn::Respawn => {
                self.shared.tasks[id].pc += 1;
                self.respawn(cpu, policy);
            }
            OnReturn::Fork(rank) => {
                let app = self.shared.tasks[id].app();
                // The task is between two operations while its children compete for the cpu.
                self.cpus[cpu].take_deferred();
                self.shared.begin_syscall(&mut self.cpus[cpu], Span::ZERO, OnReturn::Fork(rank));
                self.fork(cpu, app, rank, policy);
                self.shared.close_segment(&mut self.cpus[cpu]);
                self.cpus[cpu].take_deferred();
                self.proceed(cpu, policy);
            }
        }
    }

    /// The system call of the current task is over, and it goes on unless the cpu picks another one.
    fn go_on(&mut self, cpu: CpuId, policy: &mut dyn Policy) {
        let record = &self.cpus[cpu];
        let over = record.resched || self.shared.now >= record.slice_end;
        if over && self.reschedule(cpu, policy) {
            return;
        }
        self.cpus[cpu].take_deferred();
        self.proceed(cpu, policy);
    }

    /// The current task has called `sched_yield`: its key changes by the discipline's rule, then the best
    /// task runs.
    fn do_yield(&mut self, cpu: CpuId, policy: &mut dyn Policy) {
        let id = self.cpus[cpu].current;
        let record = &mut self.cpus[cpu];
        record.forget_buddies(self.shared.now);
        self.shared.model.discipline.yields(&mut self.shared.tasks, record, self.shared.now);
        record.returns(false);
        record.resched = false;
        if self.deadlines {
            self.pull_for_throttled(cpu);
        }
        self.policy_requeue(cpu, Enqueue::Yielded, policy);
        let directed = if self.cpus[cpu].rare.yield_target.is_none() {
            self.shared.directed(&self.cpus[cpu])
        } else {
            None
        };
        if let Some(target) = directed.filter(|_| self.shared.reports.wants_queues()) {
            self.shared.report_queue(&self.cpus[cpu], target, Verdict::Picked, true);
        }
        let next = directed.or_else(|| self.pick(cpu, policy));
        if self.cpus[cpu].current != id {
            // The policy has dispatched it to another cpu.
            return;
        }
        match next {
            Some(next) if next == id => self.stay(cpu, policy),
            _ => {
                let waits = self.shared.tasks[id].waiting != Waiting::No;
                self.cpus[cpu].polled.1 += u64::from(waits);
                self.switch(cpu, next, LeaveReason::Waits, policy);
            }
        }
    }

    /// The current task has called `yield_to`: the cpu of the target prefers it at its next pick, and the
    /// caller yields.
    fn yield_in_favour(&mut self, cpu: CpuId, to: TaskId, policy: &mut dyn Policy) {
        let id = self.cpus[cpu].current;
        self.shared.apps[self.shared.tasks[id].app()].counters.yields += 1;
        let there = self.shared.tasks[to].cpu;
        self.settle(there);
        if self.shared.tasks[to].may_inherit() {
            let record = &mut self.cpus[there];
            record.rare.yield_target = to;
            if there != cpu {
                record.resched = true;
                record.defer(Part::Kernel, self.shared.machine.costs.ipi);
                self.shared.rounds.mark(there);
            }
        }
        self.do_yield(cpu, policy);
    }

    /// The current task, between two activities, keeps the cpu.
    fn stay(&mut self, cpu: CpuId, policy: &mut dyn Policy) {
        let record = &mut self.cpus[cpu];
        if self.shared.renews_slice {
            record.picked = self.shared.now;
        }
        self.shared.model.discipline.picked(&mut self.shared.tasks, record, Picked::Again);
        self.cpus[cpu].take_deferred();
        self.notify_running(cpu, policy);
        self.resume(cpu, policy);
    }

    /// The slice of the current task is over, or a preemption is due (`resched`): the queue picks again,
    /// although the current task could continue. True when something changed.
    #[inline(never)]
    fn reschedule(&mut self, cpu: CpuId, policy: &mut dyn Policy) -> bool {
        self.charge(cpu);
        let (discipline, record, now) = (&self.shared.model.discipline, &mut self.cpus[cpu], self.shared.now);
        let over = now >= record.slice_end;
        record.slice_end = Time::NEVER;
        let task = &self.shared.tasks[record.current];
        let (in_kernel, throttled) = (self.shared.apps[task.app()].kernel_mode, task.priority == THROTTLED);
        if record.activity == Activity::Compute && in_kernel && !throttled {
            // What asks for it is heeded when the task leaves the cpu. A policy that stops tasks is heeded.
            return false;
        }
        if record.resched || record.rare.lazily == Lazily::Spent {
            record.returns(true);
        }
        let asked = std::mem::replace(&mut record.resched, false);
        if !asked && discipline.ticks().is_some() {
            // A tick has asked if there is a reason.
            return false;
        }
        let id = record.current;
        let why = if over { Interrupted::SliceOver } else { Interrupted::Asked };
        discipline.interrupted(&mut self.shared.tasks, record, now, why);
        if self.deadlines {
            self.pull_for_throttled(cpu);
        }
        let first = self.shared.tasks[id].history.share.front;
        let why = if over { Enqueue::Expired } else { Enqueue::Preempted };
        self.policy_requeue(cpu, why, policy);
        let next = self.pick(cpu, policy);
        if self.cpus[cpu].current != id {
            return true;
        }
        let (discipline, record) = (&self.shared.model.discipline, &mut self.cpus[cpu]);
        if next == Some(id) {
            // It wins again: nothing is switched.
            if self.shared.renews_slice {
                record.picked = now;
            }
            discipline.picked(&mut self.shared.tasks, record, Picked::Again);
            self.notify_running(cpu, policy);
            return false;
        }
        self.shared.close_segment(&mut self.cpus[cpu]);
        self.shared.model.discipline.put_back_key(&mut self.shared.tasks, &self.cpus[cpu], id);
        if self.watches_preemptions {
            let why = if first { Preemption::Preempted } else { Preemption::Expired };
            self.preempted.push((id, cpu, why));
        }
        self.switch(cpu, next, LeaveReason::Preempted, policy);
        true
    }

    /// The current task, its segment closed and its key set, goes back into the queue, and the next one takes
    /// the cpu; there is none where every task is throttled.
    fn switch(&mut self, cpu: CpuId, next: Option<TaskId>, reason: LeaveReason, policy: &mut dyn Policy) {
        let id = self.cpus[cpu].current;
        let state = self.shared.tasks[id].state;
        debug_assert!(state == TaskState::Running, "{id} is put back on {cpu} and is {state:?}");
        self.shared.apps[self.shared.tasks[id].app()].count_switch(reason);
        self.shared.emit_stopping(&mut self.cpus[cpu], reason);
        if self.shared.reports.wants_dispatches() {
            // An observer can tell whose time it was.
            self.shared.report_account(&self.cpus[cpu]);
        }
        self.shared.tasks[id].state = TaskState::Queued;
        let record = &mut self.cpus[cpu];
        record.last_process = self.shared.tasks[id].process;
        record.current = TaskId::NONE;
        record.picked = self.shared.now;
        self.shared.model.discipline.insert(&mut self.shared.tasks, record, id);
        self.shared.watch.note(cpu);
        match next {
            Some(next) => self.run_next(cpu, next, policy),
            None => self.cpus[cpu].newidle = true,
        }
    }

    /// A waiting task takes the free cpu.
    fn run_next(&mut self, cpu: CpuId, next: TaskId, policy: &mut dyn Policy) {
        let prices = Prices::of(&self.shared.machine.costs);
        let cost = prices.switch(self.cpus[cpu].last_process, self.shared.tasks[next].process);
        let task = &self.shared.tasks[next];
        debug_assert!(task.state == TaskState::Queued, "{next} gets {cpu} and is {:?}", task.state);
        debug_assert!(task.cpu == cpu, "{next} gets {cpu} and is queued on {}", task.cpu);
        debug_assert!(task.priority < THROTTLED, "{next} gets {cpu} and is throttled");
        let record = &mut self.cpus[cpu];
        debug_assert!(record.current.is_none(), "{next} gets {cpu}, which {} has", record.current);
        record.take_deferred();
        record.pend(Part::Switch, cost);
        run_queue::remove(&mut self.shared.tasks, record, next);
        record.current = next;
        record.returns(false);
        record.resched = false;
        record.slice_end = Time::NEVER;
        record.picked = self.shared.now;
        record.charged =
            (self.shared.now + cost).saturating_sub(record.switch_charge(&self.shared.machine.costs));
        let how = Picked::Anew(self.shared.now);
        self.shared.model.discipline.picked(&mut self.shared.tasks, record, how);
        self.shared.tasks[next].state = TaskState::Running;
        if self.shared.reports.wants_dispatches() {
            self.shared.report_dispatch(&self.cpus[cpu]);
        }
        self.shared.watch.note(cpu);
        if self.real_time {
            self.note_crowded(next, cpu);
        }
        self.notify_running(cpu, policy);
        self.resume(cpu, policy);
    }

    /// The current task takes up what it was doing.
    fn resume(&mut self, cpu: CpuId, policy: &mut dyn Policy) {
        let task = &self.shared.tasks[self.cpus[cpu].current];
        if task.waiting != Waiting::No {
            self.shared.begin_polling(&mut self.cpus[cpu]);
        } else if task.remaining() > crate::time::Work::ZERO {
            self.shared.begin_compute(&mut self.cpus[cpu]);
        } else {
            self.proceed(cpu, policy);
        }
        if self.pausing > 0 {
            self.pauses(cpu);
        }
    }

    /// An idle cpu takes a task from its queue. If its last task has just left and none waits, the policy may
    /// pull one (new-idle balancing).
    #[inline(never)]
    fn leave_idle(&mut self, cpu: CpuId, policy: &mut dyn Policy) -> bool {
        if self.shared.policy_orders || self.real_time {
            self.notify(policy);
        }
        if !run_queue::anyone_waits(&self.shared.tasks, &self.cpus[cpu]) {
            if let Some(groups) = self.shared.model.discipline.groups() {
                groups.emptied(&mut self.shared.tasks, &mut self.cpus[cpu], self.shared.now);
            }
            if std::mem::take(&mut self.cpus[cpu].newidle) {
                self.notify(policy);
                policy.idle(self, cpu);
            }
        }
        let best = self.cpus[cpu].head.some().map_or(THROTTLED, |head| self.shared.tasks[head].priority);
        let shared = (1..THROTTLED).contains(&best) && !self.real_time;
        if shared || (self.shared.policy_orders && best == THROTTLED) {
            self.notify(policy);
            policy.dispatch(self, cpu);
        }
        let record = &self.cpus[cpu];
        let others = record.running > 1 || !record.rare.delayed.is_none();
        let Some(next) = self.choose(cpu) else { return false };
        if others && self.shared.reports.wants_queues() {
            self.shared.report_queue(&self.cpus[cpu], next, Verdict::Picked, false);
        }
        self.cpus[cpu].newidle = false;
        self.shared.close_segment(&mut self.cpus[cpu]);
        self.run_next(cpu, next, policy);
        true
    }

    /// Arms the cpu's one event: when something on it will be due.
    #[inline]
    fn arm_next(&mut self, cpu: CpuId) {
        let (shared, record) = (&self.shared, &self.cpus[cpu]);
        let due = match record.activity {
            Activity::Idle => Time::NEVER,
            Activity::Compute => {
                let end = shared.segments.compute_end(record, &shared.tasks[record.current]);
                end.min(shared.scan_due(record))
            }
            Activity::Spin => spin_ends(record, &shared.tasks[record.current], shared.machine.costs.poll),
            Activity::Syscall => record.since + record.overhead.total() + record.rare.call.0,
            Activity::Poll => self.predict(cpu),
        };
        let (shared, record) = (&mut self.shared, &mut self.cpus[cpu]);
        // If nothing changes.
        record.slice_end = match record.activity {
            Activity::Compute | Activity::Spin => {
                let tick = |at| self.ticks.at_or_after(&shared.model, record, at);
                shared.model.discipline.end_of_slice(&shared.tasks, record, shared.now, tick)
            }
            Activity::Idle | Activity::Syscall | Activity::Poll => Time::NEVER,
        };
        let (now, slice_end) = (shared.now, record.slice_end);
        debug_assert!(slice_end > now, "the slice on {cpu} ends at {slice_end:?}, before it begins");
        debug_assert!(due > now, "{cpu} has decided and is due at {due:?}");
        shared.sources.set(cpu.0 as usize, due.min(slice_end));
    }
}
