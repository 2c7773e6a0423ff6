//! Tasks that come into and leave the queues of the reference engine.

use sim_core::ids::{CpuId, NodeId, TaskId};
use sim_core::machine::Distance;
use sim_core::observe::{LeaveReason, Observation};
use sim_core::os::Discipline;
use sim_core::policy::{Enqueue, Placement, Policy, QueueEntry, THROTTLED, TaskChange, TaskState, View};
use sim_core::time::Span;

use super::queue::Entry;
use super::state::{KERNEL, Later, MIGRATION};
use super::{Change, Reference, Timer};

impl Reference<'_> {
    /// A sleeping task becomes runnable.
    pub(super) fn wake(&mut self, t: usize, by: usize, policy: &mut dyn Policy) {
        if self.tasks[t].state != TaskState::Sleeping {
            return;
        }
        if self.cpus[by].later.is_some() {
            self.return_to_user(by);
            self.mark(by);
        }
        let from = self.tasks[t].cpu;
        if self.cpus[from].delayed.contains(&t) {
            // It has never left its queue; no cpu is chosen.
            if self.tasks[t].affinity.allows(CpuId(from as u32)) {
                return self.enqueue(t, from, Entry::Wake, Some(by));
            }
            self.leave_delayed(t);
        }
        let why = Placement::Wake { waker: CpuId(by as u32), previous: CpuId(from as u32) };
        let to = self.placed(t, why, policy);
        if to != from {
            self.shift(t, from, to);
            self.count_move(t, from, to);
        }
        self.ask(t, to, Enqueue::Woken, policy);
        self.enqueue(t, to, Entry::Wake, Some(by));
    }

    /// The cpu for a task: the class knows that of its own, the policy all others.
    pub(super) fn placed(&mut self, t: usize, why: Placement, policy: &mut dyn Policy) -> usize {
        if self.in_class(t) {
            return self.class_cpu(t, why);
        }
        if self.by_policy() {
            self.tell(policy);
        }
        self.refresh_priorities();
        let choice = policy.select_cpu(self, TaskId(t as u32), why);
        let to = self.corrected(t, choice.cpu);
        if matches!(why, Placement::Fork { .. }) {
            self.allot(t, choice.memory_node);
        }
        to
    }

    /// The policy's choice if it is legal, otherwise the first cpu that is.
    pub(super) fn corrected(&mut self, t: usize, choice: CpuId) -> usize {
        if choice.0 < self.machine.cpus() && self.tasks[t].affinity.allows(choice) {
            return choice.0 as usize;
        }
        self.corrections += 1;
        let first = self.machine.cpu_ids().find(|cpu| self.tasks[t].affinity.allows(*cpu));
        first.map_or(0, |cpu| cpu.0 as usize)
    }

    /// Where a created task's pages are to go.
    pub(super) fn allot(&mut self, t: usize, node: Option<NodeId>) {
        let node = node.map(|node| node.0);
        self.tasks[t].allotted = node.filter(|node| *node < self.machine.nodes());
    }

    /// Virtual runtime moves with the difference of the two queues' minima.
    fn shift(&mut self, t: usize, from: usize, to: usize) {
        if self.has_ticks() {
            return;
        }
        self.charge(from);
        self.charge(to);
        if !self.is_apart(t) {
            self.tasks[t].vruntime += self.cpus[to].minimum - self.cpus[from].minimum;
        }
    }

    /// The policy will hear that a task has another weight or mask.
    pub(super) fn note_altered(&mut self, t: usize, what: TaskChange) {
        if self.by_policy() {
            self.notices.push((t, self.tasks[t].cpu, Change::Altered(what)));
        }
    }

    /// The policy orders the queues.
    pub(super) fn by_policy(&self) -> bool {
        matches!(self.model.discipline, Discipline::ByPolicy(_))
    }

    /// The policy says where a task goes.
    pub(super) fn ask(&mut self, t: usize, c: usize, why: Enqueue, policy: &mut dyn Policy) {
        if self.by_policy() {
            self.tell(policy);
            let entry = policy.enqueue(self, TaskId(t as u32), CpuId(c as u32), why);
            self.take_entry(t, entry);
        }
    }

    /// The same for the task that has the cpu and stops.
    pub(super) fn ask_again(&mut self, t: usize, c: usize, why: Enqueue, policy: &mut dyn Policy) {
        if self.by_policy() {
            self.tell(policy);
            policy.stopping(self, TaskId(t as u32), CpuId(c as u32));
            self.ask(t, c, why, policy);
        }
    }

    /// The best task, or the one that the policy then dispatches.
    pub(super) fn pick_or_ask(&mut self, c: usize, policy: &mut dyn Policy) -> Option<usize> {
        let next = self.choose(c);
        if next.is_none() && self.by_policy() {
            policy.dispatch(self, CpuId(c as u32));
            return self.choose(c);
        }
        next
    }

    /// The policy learns that the current task runs.
    pub(super) fn tell_running(&mut self, c: usize, policy: &mut dyn Policy) {
        if let Some(t) = self.cpus[c].current.filter(|_| self.by_policy()) {
            policy.running(self, TaskId(t as u32), CpuId(c as u32));
        }
    }

    /// Somebody enters a queue and preempts: a task that was to run next there, and does not run yet, goes
    /// where the policy says.
    pub(super) fn note_overtaken(&mut self, t: usize, c: usize) {
        if !self.by_policy() || !self.tasks[t].preempts || self.tasks[t].priority == THROTTLED {
            return;
        }
        let Some(next) = self.next_task(CpuId(c as u32)).map(|next| next.0 as usize) else { return };
        if Some(next) != self.cpus[c].current && self.key(t) < self.key(next) {
            self.notices.push((next, c, Change::Overtaken));
        }
    }

    /// The policy says again where somebody goes who was to run next.
    pub(super) fn ask_overtaken(&mut self, t: usize, c: usize, policy: &mut dyn Policy) {
        let waits = |all: &Self| all.cpus[c].queue.contains(&t) && all.tasks[t].held.is_none();
        if !waits(self) {
            return;
        }
        let entry = policy.enqueue(self, TaskId(t as u32), CpuId(c as u32), Enqueue::Preempted);
        if waits(self) {
            self.remove(c, t);
            self.take_entry(t, entry);
            self.insert(c, t);
        }
    }

    /// A held task stands in the queue like a throttled one.
    pub(super) fn take_entry(&mut self, t: usize, entry: Option<QueueEntry>) {
        let task = &mut self.tasks[t];
        let level = task.held.take().unwrap_or(task.priority);
        match entry {
            Some(entry) => {
                (task.priority, task.vruntime) = (level, entry.key);
                (task.slice, task.preempts) = (entry.slice.ns(), entry.preempts);
            }
            None => (task.priority, task.vruntime, task.held) = (THROTTLED, 0, Some(level)),
        }
    }

    /// A task enters a queue and competes with the current one.
    pub(super) fn enqueue(&mut self, t: usize, c: usize, entry: Entry, by: Option<usize>) {
        // A delayed task is placed by virtual times as old as the last tick, entry or exit.
        let delayed = self.ends_a_delay(c, t);
        if !delayed {
            self.charge(c);
        }
        let waits = by.is_some_and(|by| {
            let (by, there) = (CpuId(by as u32), CpuId(c as u32));
            let caches = self.machine.topology.last_caches(self.machine.memory.shared_cache > 0);
            let near = caches.part(by) == caches.part(there);
            by != there && self.nobody_interrupts(c, near || delayed || entry == Entry::Fork)
        });
        self.server_sees(c, t);
        self.use_comes(t, c);
        self.place(c, t, entry);
        self.entries += 1;
        self.tasks[t].state = TaskState::Queued;
        self.tasks[t].runnable_since.get_or_insert(self.now);
        self.tasks[t].cpu = c;
        self.tasks[t].entered = self.entries;
        self.note_overtaken(t, c);
        self.insert(c, t);
        self.advance_minimum(c);
        if delayed {
            self.charge(c);
        }
        let preempts = self.preempts(c, t) || self.overtakes(c, t, entry);
        let level = |t: usize| self.tasks[t].priority;
        let equals = self.fair_current(c).is_some_and(|current| level(current) == level(t));
        if waits && equals && !self.in_class(t) {
            if preempts {
                self.cpus[c].later.get_or_insert(Later::Rival);
            }
        } else {
            self.return_to_user(c);
            self.asked(c, preempts, by);
        }
        self.notices.push((t, c, Change::Entered));
        self.start_period(t);
        self.notice_entry(t, c);
        self.tell_polling(c);
        self.observe(Observation::Runnable { task: TaskId(t as u32), cpu: CpuId(c as u32) });
        self.mark(c);
    }

    /// A cpu is to pick again, for somebody whom a cpu has put into its queue.
    fn asked(&mut self, c: usize, preempts: bool, by: Option<usize>) {
        if preempts {
            self.cpus[c].resched = true;
            if by.is_some_and(|by| by != c) {
                self.cpus[c].deferred.0[KERNEL] += self.machine.costs.ipi.ns();
            }
            if self.cpus[c].current.is_none() {
                self.cpus[c].deferred.0[KERNEL] += self.idle_exit(c);
            }
        }
    }

    /// What it costs a cpu without a current task to leave the idle state.
    pub(super) fn idle_exit(&self, c: usize) -> u64 {
        let costs = &self.machine.costs;
        self.by_idle_time(c, &costs.idle_exits, costs.idle_exit)
    }

    /// What it costs to wake a task of a cpu without a current task from another cpu.
    pub(super) fn wake_remote(&self, c: usize) -> u64 {
        let costs = &self.machine.costs;
        self.by_idle_time(c, &costs.wake_remotes, costs.wake_remote)
    }

    fn by_idle_time(&self, c: usize, rows: &[(Span, Span)], otherwise: Span) -> u64 {
        let idle = self.now - self.cpus[c].idle_from;
        let mut before: Option<(u64, u64)> = None;
        for (from, cost) in rows.iter().map(|(from, cost)| (from.ns(), cost.ns())) {
            if idle < from {
                let Some((start, first)) = before else { return cost };
                let part = |change: u64| {
                    (u128::from(change) * u128::from(idle - start) / u128::from(from - start)) as u64
                };
                return if cost >= first { first + part(cost - first) } else { first - part(first - cost) };
            }
            before = Some((from, cost));
        }
        before.map_or(otherwise.ns(), |(_, cost)| cost)
    }

    /// A sleeping task that still competes on its cpu stops competing.
    pub(super) fn leave_delayed(&mut self, t: usize) {
        let Some(params) = self.eevdf() else { return };
        let c = self.tasks[t].cpu;
        if self.cpus[c].delayed.contains(&t) {
            self.charge(c);
            self.end_delay(params, c, t);
        }
    }

    /// A task no longer belongs to a cpu.
    fn depart(&mut self, t: usize, c: usize) {
        self.use_goes(t, c);
        self.remove(c, t);
        self.no_buddy(c, t);
        let cpu = &mut self.cpus[c];
        cpu.skipped = cpu.skipped.filter(|skipped| *skipped != t);
        cpu.yield_target = cpu.yield_target.filter(|yield_target| *yield_target != t);
        self.notices.push((t, c, Change::Left));
        self.mark(c);
    }

    /// The current task leaves its cpu for good.
    pub(super) fn leave(&mut self, c: usize, reason: LeaveReason) {
        let Some(t) = self.cpus[c].current else { return };
        self.close(c);
        self.charge(c);
        self.count_switch(t, reason);
        self.renounce(c, reason);
        if self.take_leave(c, t, reason) {
            self.cpus[c].delayed.push(t);
        }
        self.server_loses(c, t);
        if self.in_class(t) {
            self.reserve_is_over(c, t);
            self.stops_class(c);
        }
        self.cpus[c].previous = Some(self.tasks[t].process);
        self.cpus[c].current = None;
        self.cpus[c].idle_from = self.now;
        self.cpus[c].newidle = true;
        if self.by_policy() && self.tasks[t].held.is_none() {
            self.notices.push((t, c, Change::Stopped));
        }
        self.depart(t, c);
        if self.real_time && self.in_class(t) {
            let priority = self.class_priority(t).unwrap_or(1);
            self.notices.push((t, c, Change::Lowered(priority)));
        }
        self.advance_minimum(c);
    }

    /// The current task is not runnable from now on.
    pub(super) fn not_runnable(&mut self, t: usize, state: TaskState) {
        self.tasks[t].state = state;
        let since = self.tasks[t].runnable_since.take().unwrap_or(self.now);
        self.apps[self.tasks[t].app].runnable += self.now - since;
    }

    /// The current task goes to sleep; for a nap a timer wakes it.
    pub(super) fn sleep(&mut self, c: usize, t: usize, nap: Option<u64>) {
        self.not_runnable(t, TaskState::Sleeping);
        self.tasks[t].pauses = false;
        self.leave(c, LeaveReason::Slept);
        if let Some(granularity) = self.cfs().map(|params| params.wakeup_granularity.ns())
            && self.tasks[t].issued.take().is_none()
        {
            self.tasks[t].count_wakeup(granularity);
        }
        if let Some(span) = nap {
            self.arm(self.now.saturating_add(span), Timer::Wake { task: t, by: c });
        }
    }

    /// The current task's process ends; a new one takes its rank.
    pub(super) fn respawn(&mut self, c: usize, t: usize, policy: &mut dyn Policy) {
        self.not_runnable(t, TaskState::New);
        self.leave(c, LeaveReason::Exited);
        let task = &mut self.tasks[t];
        task.process = (task.app, task.rank, task.process.2 + 1);
        task.home = None;
        task.mixed = None;
        task.scan = super::scan::RefScan::begins(self.model.numa_balancing.as_ref(), task.cpu_time);
        task.cache.refill = 0;
        task.cache.warm = None;
        // `sched_fork` of kernels that keep lag: a new task has none.
        task.vlag = 0;
        task.parent = None;
        self.renew(t);
        self.tell(policy);
        let why = Placement::Fork { parent: CpuId(c as u32) };
        let target = self.placed(t, why, policy);
        self.ask(t, target, Enqueue::Created, policy);
        self.enqueue(t, target, Entry::Fork, Some(c));
    }

    /// Moves a runnable task to another cpu's queue.
    pub(super) fn relocate(&mut self, t: usize, to: usize) {
        let from = self.tasks[t].cpu;
        self.charge(from);
        if self.cpus[from].current == Some(t) {
            // The migration thread takes the cpu first.
            self.leave(from, LeaveReason::Moved);
            self.cpus[from].deferred.0[KERNEL] += self.machine.costs.ipi.ns();
        } else {
            self.take_leave(from, t, LeaveReason::Moved);
            self.server_loses(from, t);
            self.depart(t, from);
        }
        self.shift(t, from, to);
        self.count_move(t, from, to);
        self.cpus[to].deferred.0[MIGRATION] += self.machine.costs.migration.ns();
        self.enqueue(t, to, Entry::Move, None);
    }

    fn count_move(&mut self, t: usize, from: usize, to: usize) {
        self.note_move(t, from, to);
        let (from, to) = (CpuId(from as u32), CpuId(to as u32));
        let far = self.machine.topology.distance(from, to) == Distance::Far;
        let counters = &mut self.apps[self.tasks[t].app].counters;
        counters.migrations += 1;
        counters.far_migrations += u64::from(far);
        self.observe(Observation::Migrated { task: TaskId(t as u32), from, to });
    }
}
