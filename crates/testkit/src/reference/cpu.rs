//! One cpu: it ends the present segment, finds what is due and decides which task runs next.

use sim_core::account::Category;
use sim_core::ids::{CpuId, TaskId};
use sim_core::observe::LeaveReason;
use sim_core::policy::{Enqueue, Policy, Preemption, THROTTLED, TaskState};
use sim_core::time::{Span, Time};
use sim_core::wait::WaitMode;

use super::Reference;
use super::state::{
    Activity, DAEMON, KERNEL, MIGRATION, NEVER, OnReturn, Overhead, Process, REFILL, SWITCH, Waiting,
};

impl Reference<'_> {
    /// Charges the time since the activity began and ends it. Unpaid kernel and daemon work and what is left
    /// of a migration stay deferred work of the cpu; the rest of a cut switch is forgotten.
    pub(super) fn close(&mut self, c: usize) {
        let now = self.now;
        let elapsed = now - self.cpus[c].since;
        let rest = self.pay_overhead(c, elapsed);
        let cpu = &mut self.cpus[c];
        let unpaid = std::mem::take(&mut cpu.overhead);
        for part in [MIGRATION, KERNEL, DAEMON] {
            cpu.deferred.0[part] += unpaid.0[part];
        }
        cpu.since = now;
        // What of a switch was to go uncharged does not make what follows cheaper when it is cut short.
        cpu.charged = cpu.charged.min(now);
        let activity = std::mem::replace(&mut cpu.activity, Activity::Idle);
        let Some(t) = cpu.current else {
            cpu.add(Category::Idle, rest);
            return;
        };
        self.tasks[t].cpu_time += elapsed;
        self.tasks[t].last_ran = now;
        if activity == Activity::Compute {
            self.tasks[t].cache.refill = unpaid.0[REFILL];
            self.stop_computing(c, t, rest, elapsed);
        } else {
            self.charge_activity(c, t, activity, rest);
        }
    }

    /// Charges what an activity proper has taken.
    fn charge_activity(&mut self, c: usize, t: usize, activity: Activity, rest: u64) {
        let poll = self.machine.costs.poll.ns();
        let (looks, each) = self.looks(t);
        let locks = self.tasks[t].waiting == Waiting::Lock;
        let polling = if locks { Category::LockWait } else { Category::Spin };
        match activity {
            Activity::Idle | Activity::Compute => self.cpus[c].add(Category::Idle, rest),
            Activity::Poll => {
                self.cpus[c].add(polling, rest.min(looks * each));
                self.cpus[c].add(Category::Yield, rest.saturating_sub(looks * each));
            }
            Activity::Spin => {
                self.cpus[c].add(polling, rest);
                self.count_polls(c, t, rest / poll.max(1));
            }
            Activity::Syscall(_, OnReturn::Yield | OnReturn::YieldTo(_)) => {
                self.cpus[c].add(Category::Yield, rest);
            }
            Activity::Syscall(_, OnReturn::Touch) => self.cpus[c].add(Category::PageInit, rest),
            Activity::Syscall(..) => self.cpus[c].add(Category::Kernel, rest),
        }
    }

    /// How often a waiting task looks before it yields, and how long one look takes.
    fn looks(&self, t: usize) -> (u64, u64) {
        let waiting = self.tasks[t].waiting;
        if waiting == Waiting::Lock {
            return (1, self.machine.costs.poll.ns());
        }
        let polling = self.runtime(self.tasks[t].app, self.handler(t, waiting)).polling;
        let message = matches!(waiting, Waiting::Exchange | Waiting::Event | Waiting::Job);
        let looks = if message { polling.message_looks } else { polling.looks };
        let each = if looks.each == Span::ZERO { self.machine.costs.poll } else { looks.each };
        (u64::from(looks.count), each.ns())
    }

    fn count_polls(&mut self, c: usize, t: usize, polls: u64) {
        self.cpus[c].polls += polls;
        self.apps[self.tasks[t].app].counters.polls += polls;
    }

    /// The next instant, after now, at which the activity of a cpu comes to a point.
    pub(super) fn next_due(&self, c: usize) -> u64 {
        let cpu = &self.cpus[c];
        let Some(t) = cpu.current else { return NEVER };
        let (poll, call) = (self.machine.costs.poll.ns(), self.machine.costs.yield_call.ns());
        match cpu.activity {
            Activity::Idle => NEVER,
            Activity::Compute => {
                self.now + (cpu.work_left.max(0) as u128).div_ceil(u128::from(cpu.rate)) as u64
            }
            Activity::Syscall(ns, _) => cpu.begun() + ns,
            Activity::Poll => {
                let (looks, each) = self.looks(t);
                let mut seen = (1..=looks).map(|look| cpu.begun() + look * each);
                let seen = seen.find(|look| self.visible_at(t) <= *look);
                seen.unwrap_or(cpu.begun() + looks * each + call)
            }
            Activity::Spin => {
                // PollsPerYield that find nothing change nothing.
                let visible_at = self.visible_at(t);
                let first = cpu.begun() + poll;
                if visible_at == NEVER {
                    NEVER
                } else {
                    first + visible_at.saturating_sub(first).div_ceil(poll) * poll
                }
            }
        }
    }

    /// True when the activity of a cpu comes to a point now.
    pub(super) fn is_due(&self, c: usize) -> bool {
        self.next_due(c) == self.now
    }

    /// A cpu decides until nothing is left to decide.
    pub(super) fn step(&mut self, c: usize, policy: &mut dyn Policy) {
        self.steps += 1;
        while self.decide(c, policy) {}
        self.set_timers(c);
        self.cpus[c].slice_over = false;
    }

    /// Does one thing that is due; false when nothing is.
    fn decide(&mut self, c: usize, policy: &mut dyn Policy) -> bool {
        let Some(t) = self.cpus[c].current else { return self.leave_idle(c, policy) };
        let due = self.is_due(c);
        let scanned = self.next_scan(c) <= self.now;
        let calls = matches!(self.cpus[c].activity, Activity::Syscall(..));
        if !due && !calls && (scanned || self.cpus[c].deferred != Overhead::default()) {
            self.return_to_user(c);
        }
        let resched = self.cpus[c].resched;
        let sliced = resched || self.cpus[c].slice_over;
        match self.cpus[c].activity {
            Activity::Idle => false,
            Activity::Syscall(_, then) => {
                if due {
                    self.close(c);
                    self.after_call(c, t, then, policy);
                }
                due
            }
            Activity::Compute if due => {
                self.close(c);
                let rounding = std::mem::take(&mut self.tasks[t].remaining);
                self.tasks[t].done += u128::from(rounding);
                let overhead = self.take_deferred(c);
                self.proceed(c, overhead, policy);
                true
            }
            Activity::Poll if due => {
                self.end_of_poll(c, t, policy);
                true
            }
            Activity::Spin if due => {
                self.close(c);
                self.noticed(c, t, policy);
                true
            }
            Activity::Compute | Activity::Spin => {
                (sliced && self.reschedule(c, t, policy)) || self.pay_deferred(c, scanned, policy)
            }
            Activity::Poll => {
                (resched && self.reschedule(c, t, policy)) || self.pay_deferred(c, false, policy)
            }
        }
    }

    /// A poll that finds something, or the end of a cycle of poll and yield.
    fn end_of_poll(&mut self, c: usize, t: usize, policy: &mut dyn Policy) {
        let (looks, each) = self.looks(t);
        let look = self.cpus[c].begun() + looks * each;
        self.close(c);
        self.count_polls(c, t, 1);
        if self.visible_at(t) <= look {
            self.noticed(c, t, policy);
        } else {
            self.apps[self.tasks[t].app].counters.yields += 1;
            self.sched_yield(c, t, policy);
        }
    }

    /// The current task has looked: its wait or its patience is over.
    fn noticed(&mut self, c: usize, t: usize, policy: &mut dyn Policy) {
        let mut overhead = self.take_deferred(c);
        if self.ready_at(t) <= self.now {
            self.got_lock(c, t, &mut overhead);
            self.wait_over(c, t, overhead, policy);
        } else {
            self.mark_lock(c, t, &overhead);
            self.call(c, self.machine.costs.sleep.ns(), OnReturn::WaitAsleep, overhead);
        }
    }

    fn after_call(&mut self, c: usize, t: usize, then: OnReturn, policy: &mut dyn Policy) {
        self.return_to_user(c);
        match then {
            OnReturn::WaitAsleep if self.may_sleep(t) => self.sleep(c, t, None),
            OnReturn::WaitAsleep => {
                // The flag was set meanwhile: it looks again.
                self.renounce(c, LeaveReason::Waits);
                if !self.has_ticks() {
                    self.charge(c);
                }
                let overhead = self.take_deferred(c);
                self.poll(c, overhead);
            }
            OnReturn::Respawn => {
                self.tasks[t].pc += 1;
                self.respawn(c, t, policy);
            }
            OnReturn::Nap(span) => {
                self.tasks[t].pc += 1;
                let asked = &mut self.apps[self.tasks[t].app].counters.sleep_asked_ns;
                *asked = asked.saturating_add(span);
                if self.naps_answer(t) {
                    self.tasks[t].event.woken = Some(self.now.saturating_add(span));
                }
                self.sleep(c, t, Some(span));
            }
            OnReturn::Until(at) => self.instant_comes(c, t, at, policy),
            OnReturn::Io(device, length) => self.served(c, t, device, length),
            OnReturn::Yield => {
                self.tasks[t].pc += 1;
                self.apps[self.tasks[t].app].counters.yields += 1;
                self.sched_yield(c, t, policy);
            }
            OnReturn::YieldTo(to) => {
                self.apps[self.tasks[t].app].counters.yields += 1;
                if self.may_inherit(to) {
                    let there = self.tasks[to].cpu;
                    self.cpus[there].yield_target = Some(to);
                    if there != c {
                        self.cpus[there].resched = true;
                        self.cpus[there].deferred.0[KERNEL] += self.machine.costs.ipi.ns();
                        self.mark(there);
                    }
                }
                self.sched_yield(c, t, policy);
            }
            OnReturn::Touch => {
                self.touch_part(c, t);
                let sliced = self.cpus[c].resched || self.cpus[c].slice_over;
                if sliced && self.reschedule(c, t, policy) {
                    return;
                }
                let overhead = self.take_deferred(c);
                self.proceed(c, overhead, policy);
            }
            OnReturn::Fork(rank) => {
                let overhead = self.take_deferred(c);
                self.call(c, 0, then, overhead);
                self.fork(c, self.tasks[t].app, rank, policy);
                self.close(c);
                let overhead = self.take_deferred(c);
                self.proceed(c, overhead, policy);
            }
        }
    }

    /// Kernel and daemon work interrupts the current task, or a pass over its pages; an interrupted poll
    /// starts over.
    fn pay_deferred(&mut self, c: usize, scanned: bool, policy: &mut dyn Policy) -> bool {
        if self.cpus[c].deferred == Overhead::default() && !scanned {
            return false;
        }
        self.close(c);
        let overhead = self.take_deferred(c);
        self.resume(c, overhead, policy);
        true
    }

    pub(super) fn take_deferred(&mut self, c: usize) -> Overhead {
        std::mem::take(&mut self.cpus[c].deferred)
    }

    fn sched_yield(&mut self, c: usize, t: usize, policy: &mut dyn Policy) {
        self.cpus[c].next_buddy = None;
        self.cpus[c].last_buddy = None;
        self.yield_key(c, t);
        (self.cpus[c].resched, self.cpus[c].later) = (false, None);
        self.pull_for_throttled(c);
        self.ask_again(t, c, Enqueue::Yielded, policy);
        let directed = if self.cpus[c].yield_target.is_none() { self.directed(c, t) } else { None };
        let next = directed.or_else(|| self.pick_or_ask(c, policy));
        if self.cpus[c].current != Some(t) {
            return;
        }
        if next == Some(t) {
            self.picked(c, true);
            let overhead = self.take_deferred(c);
            self.tell_running(c, policy);
            self.resume(c, overhead, policy);
            return;
        }
        self.cpus[c].switches += u64::from(self.tasks[t].waiting != Waiting::No);
        match next {
            Some(next) => self.switch(c, t, next, LeaveReason::Waits, policy),
            None => self.vacate(c, t, LeaveReason::Waits),
        }
    }

    /// Whom a directed yield goes to: the first waiting task of the application that has something better to
    /// do.
    fn directed(&self, c: usize, t: usize) -> Option<usize> {
        if self.in_class(t) {
            return None;
        }
        let me = &self.tasks[t];
        let runtime = self.runtime(me.app, self.handler(t, me.waiting));
        if runtime.wait != WaitMode::YieldTo || matches!(me.waiting, Waiting::No | Waiting::Lock) {
            return None;
        }
        self.cpus[c].queue.iter().copied().find(|other| {
            let without_success =
                self.tasks[*other].waiting != Waiting::No && self.visible_at(*other) > self.now;
            let other = &self.tasks[*other];
            other.app == me.app
                && other.priority == me.priority
                && other.priority != THROTTLED
                && !without_success
        })
    }

    /// The kernel picks again; true when somebody else runs now.
    pub(super) fn reschedule(&mut self, c: usize, t: usize, policy: &mut dyn Policy) -> bool {
        self.charge(c);
        let over = std::mem::take(&mut self.cpus[c].slice_over);
        let parked = self.tasks[t].priority == THROTTLED || self.is_spent(t);
        let in_kernel = self.apps[self.tasks[t].app].spec.kernel_mode && !parked;
        if in_kernel && self.cpus[c].activity == Activity::Compute {
            return false;
        }
        (self.cpus[c].resched, self.cpus[c].later) = (false, None);
        self.interrupted(c, t, over);
        self.pull_for_throttled(c);
        let first = self.tasks[t].front;
        let why = if over { Enqueue::Expired } else { Enqueue::Preempted };
        self.ask_again(t, c, why, policy);
        let next = self.pick_or_ask(c, policy);
        if self.cpus[c].current != Some(t) {
            return true;
        }
        if next == Some(t) {
            self.picked(c, true);
            self.tell_running(c, policy);
            return false;
        }
        self.close(c);
        self.put_back(c, t);
        if self.turns {
            let why = if first { Preemption::Preempted } else { Preemption::Expired };
            self.preempted.push((t, c, why));
        }
        match next {
            Some(next) => self.switch(c, t, next, LeaveReason::Preempted, policy),
            None => self.vacate(c, t, LeaveReason::Preempted),
        }
        true
    }

    /// The current task goes back into the queue and nobody takes the cpu, because all are parked.
    fn vacate(&mut self, c: usize, t: usize, reason: LeaveReason) {
        self.count_switch(t, reason);
        self.renounce(c, reason);
        self.tasks[t].state = TaskState::Queued;
        self.cpus[c].previous = Some(self.tasks[t].process);
        self.cpus[c].current = None;
        self.cpus[c].idle_from = self.now;
        self.cpus[c].newidle = true;
        self.insert(c, t);
        self.end_delays(c);
    }

    /// The current task goes back into the queue and `next` takes the cpu.
    fn switch(&mut self, c: usize, t: usize, next: usize, reason: LeaveReason, policy: &mut dyn Policy) {
        self.count_switch(t, reason);
        self.renounce(c, reason);
        self.tasks[t].state = TaskState::Queued;
        self.cpus[c].previous = Some(self.tasks[t].process);
        self.cpus[c].current = None;
        self.cpus[c].idle_from = self.now;
        self.insert(c, t);
        self.run_next(c, next, policy);
    }

    pub(super) fn count_switch(&mut self, t: usize, reason: LeaveReason) {
        let counters = &mut self.apps[self.tasks[t].app].counters;
        if matches!(reason, LeaveReason::Preempted | LeaveReason::Moved) {
            counters.involuntary_switches += 1;
        } else {
            counters.voluntary_switches += 1;
        }
    }

    /// What it costs to switch to a task: less between threads of one process, and at first.
    fn switch_cost(&self, previous: Option<Process>, next: usize) -> u64 {
        let near = previous.is_none_or(|previous| previous == self.tasks[next].process);
        let costs = &self.machine.costs;
        if near { costs.switch_thread.ns() } else { costs.switch_process.ns() }
    }

    fn same_process(&self, one: usize, other: usize) -> bool {
        self.tasks[one].process == self.tasks[other].process
    }

    /// What virtual runtime is charged for a switch: the price between processes when any two runnable tasks
    /// of the cpu belong to different ones, whoever they are, else the price between threads.
    fn switch_charge(&self, c: usize) -> u64 {
        let mixed = self.everyone(c).any(|one| self.everyone(c).any(|other| !self.same_process(one, other)));
        let costs = &self.machine.costs;
        if mixed { costs.switch_process.ns() } else { costs.switch_thread.ns() }
    }

    /// A waiting task takes the free cpu.
    fn run_next(&mut self, c: usize, next: usize, policy: &mut dyn Policy) {
        let cost = self.switch_cost(self.cpus[c].previous, next);
        let charge = self.switch_charge(c);
        let mut overhead = self.take_deferred(c);
        overhead.0[SWITCH] += cost;
        self.remove(c, next);
        self.tasks[next].state = TaskState::Running;
        let cpu = &mut self.cpus[c];
        cpu.current = Some(next);
        (cpu.resched, cpu.later) = (false, None);
        cpu.slice_over = false;
        cpu.charged = (self.now + cost).saturating_sub(charge);
        self.picked(c, false);
        if let Some(params) = self.eevdf().filter(|_| !self.in_class(next)) {
            self.protect(params, c, next);
            self.cpus[c].timed = params.hrtick && self.rivals_around(c, next);
        }
        let (at, total) = (Time::from_ns(self.now), Span::from_ns(overhead.total()));
        self.observer.dispatched(at, TaskId(next as u32), CpuId(c as u32), total);
        self.notice_crowd(next, c);
        self.tell_running(c, policy);
        self.resume(c, overhead, policy);
    }

    /// The current task resumes what it was doing.
    fn resume(&mut self, c: usize, overhead: Overhead, policy: &mut dyn Policy) {
        let Some(t) = self.cpus[c].current else { return };
        if self.tasks[t].waiting != Waiting::No {
            self.poll(c, overhead);
        } else if self.tasks[t].remaining > 0 {
            self.compute(c, overhead);
        } else {
            self.proceed(c, overhead, policy);
        }
        if let Some(t) = self.cpus[c].current.filter(|t| self.tasks[*t].pauses)
            && self.cpus[c].activity == Activity::Compute
        {
            self.sleep(c, t, None);
        }
    }

    /// An idle cpu takes a task; when its last one has just left it asks the policy first.
    fn leave_idle(&mut self, c: usize, policy: &mut dyn Policy) -> bool {
        if self.by_policy() || self.real_time {
            self.tell(policy);
        }
        if self.in_order(c).is_empty() {
            self.end_delays(c);
        }
        if self.in_order(c).is_empty() && std::mem::take(&mut self.cpus[c].newidle) {
            self.tell(policy);
            policy.idle(self, CpuId(c as u32));
        }
        let able = self.in_order(c);
        let several = (!able.is_empty() && !self.real_time) || self.by_policy();
        if several && able.iter().all(|t| self.tasks[*t].priority > 0) {
            self.tell(policy);
            policy.dispatch(self, CpuId(c as u32));
        }
        let Some(next) = self.choose(c) else { return false };
        self.cpus[c].newidle = false;
        self.close(c);
        self.run_next(c, next, policy);
        true
    }
}
