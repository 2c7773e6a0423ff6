//! Tasks enter and leave queues: wake-ups, moves, sleeps.

use crate::engine::invariants::violated;
use crate::engine::state::{Activity, MaybeNode, NOWHERE, Part, ProcessId};
use crate::engine::{Change, Engine};
use crate::event::Timer;
use crate::ids::{CpuId, TaskId};
use crate::machine::Distance;
use crate::observe::{LeaveReason, Observation, Verdict};
use crate::policy::{Action, Enqueue, Placement, Policy, TaskState};
use crate::run_queue::{self, Entry, Rules, groups};
use crate::time::Span;

impl Engine<'_> {
    /// A sleeping task becomes runnable.
    pub(crate) fn wake(&mut self, id: TaskId, waker: CpuId, policy: &mut dyn Policy) {
        let state = self.shared.tasks[id].state;
        if state != TaskState::Sleeping {
            violated(id, waker, "is woken and does not sleep");
        }
        let previous = self.shared.tasks[id].cpu;
        if self.shared.tasks[id].history.delayed {
            // It has never left its queue; no cpu is chosen.
            if self.shared.affinity(id).allows(previous) {
                self.enqueue(id, previous, Entry::Wake, Some(waker));
                return;
            }
            self.end_delay(id);
        }
        let cpu = self.placed(id, Placement::Wake { waker, previous }, policy);
        self.renormalise(id, previous, cpu);
        if cpu != previous {
            self.count_move(id, previous, cpu);
        }
        self.policy_enqueue(id, cpu, Enqueue::Woken, policy);
        self.enqueue(id, cpu, Entry::Wake, Some(waker));
    }

    /// The cpu that the policy chooses for a task.
    pub(crate) fn placed(&mut self, id: TaskId, placement: Placement, policy: &mut dyn Policy) -> CpuId {
        self.refresh_priorities();
        let choice = policy.select_cpu(self, id, placement);
        let cpu = self.corrected(id, choice.cpu);
        if matches!(placement, Placement::Fork { .. }) {
            let nodes = self.shared.machine.nodes();
            let node = choice.memory_node.filter(|node| node.0 < nodes);
            let node = node.map_or(MaybeNode::NONE, MaybeNode::at);
            let history = &mut self.shared.tasks[id].history;
            if history.assigned_node != node {
                history.assigned_node = node;
            }
        }
        self.decided(Some(id), Action::Placed { placement, cpu }, choice.why);
        cpu
    }

    /// The policy's choice if it is legal, otherwise the first cpu that is; corrections are counted.
    fn corrected(&mut self, id: TaskId, choice: CpuId) -> CpuId {
        let exists = choice.0 < self.shared.machine.cpus();
        if exists && self.shared.affinity(id).allows(choice) {
            return choice;
        }
        self.corrections += 1;
        let Some(first) = self.shared.affinity(id).first(self.shared.machine.cpus()) else {
            violated(id, choice, "is allowed on no cpu of the machine");
        };
        first
    }

    /// Virtual runtime is relative to its queue: it moves with the difference of the minima.
    fn renormalise(&mut self, id: TaskId, from: CpuId, to: CpuId) {
        if from != to && self.shared.model.discipline.has_relative_keys() {
            self.catch_up(from);
            self.catch_up(to);
            let shift = self.cpus[to].min_vruntime - self.cpus[from].min_vruntime;
            self.shared.tasks[id].vruntime += shift;
        }
    }

    /// Settles and charges a cpu from outside; where tasks poll, the end of their polling is predicted anew.
    /// The cpu picks again at once where the current task has used up its request (`resched_curr`).
    pub(crate) fn catch_up(&mut self, cpu: CpuId) {
        self.settle(cpu);
        let asked = self.cpus[cpu].resched;
        self.charge(cpu);
        let record = &self.cpus[cpu];
        if record.activity == Activity::Poll || (record.resched && !asked) {
            self.mark(cpu);
        }
    }

    /// A sleeping task that still competes on its cpu leaves it.
    pub(crate) fn end_delay(&mut self, id: TaskId) {
        let cpu = self.shared.tasks[id].cpu;
        self.catch_up(cpu);
        let Some(groups) = self.shared.model.discipline.groups() else { return };
        groups.end_delay(&mut self.shared.tasks, &mut self.cpus[cpu], id);
    }

    /// Processes the timer ticks of a cpu since the last time. One within a poll-and-yield cycle has no
    /// effect that the yield does not have.
    #[inline(always)]
    pub(crate) fn pass_ticks(&mut self, cpu: CpuId) {
        // It is never where ticks are computed only when they matter.
        if self.cpus[cpu].rare.next_tick <= self.shared.now {
            self.pass_due_ticks(cpu);
        }
    }

    /// Processes the ticks up to this instant on all cpus before anything else happens: with task groups they
    /// read what is queued on other cpus, and take cpu time out of pools, first come first served.
    #[inline]
    pub(crate) fn pass_all_ticks(&mut self) {
        while self.ticks.earliest() <= self.shared.now {
            self.pass_tick(CpuId(self.ticks.first() as u32));
        }
    }

    #[cold]
    fn pass_due_ticks(&mut self, cpu: CpuId) {
        while self.cpus[cpu].rare.next_tick <= self.shared.now {
            self.pass_tick(cpu);
        }
    }

    /// Processes the next tick of a cpu; all that are due while it does not compute.
    fn pass_tick(&mut self, cpu: CpuId) {
        let record = &self.cpus[cpu];
        let busy = !record.current.is_none() && record.activity != Activity::Poll;
        let from = if busy { record.rare.next_tick } else { self.shared.now };
        let next = self.tick_at(cpu, from + Span::from_ns(1));
        if busy {
            self.shared.model.discipline.tick(&mut self.shared.tasks, &mut self.cpus[cpu], from);
        }
        self.cpus[cpu].rare.next_tick = next;
        if !self.shared.model.groups.is_empty() {
            self.ticks.set(cpu.0 as usize, next);
        }
    }

    /// Charges the current task of a cpu for the time until now.
    #[inline]
    pub(crate) fn charge(&mut self, cpu: CpuId) {
        self.pass_ticks(cpu);
        self.shared.charge(&mut self.cpus[cpu]);
    }

    /// The current task begins to wait and is charged up to here. Where tasks are charged at ticks, not just
    /// because it changes from computing to polling.
    #[inline]
    pub(crate) fn charge_waiter(&mut self, cpu: CpuId) {
        if self.shared.model.discipline.ticks().is_none() {
            self.charge(cpu);
        }
    }

    /// Puts a task into a queue and lets it compete with the current one. `by`: the cpu that causes it.
    pub(crate) fn enqueue(&mut self, id: TaskId, cpu: CpuId, entry: Entry, by: Option<CpuId>) {
        let delayed = groups::wakes_delayed(&self.shared.tasks, &self.cpus[cpu], id);
        if delayed {
            // `requeue_delayed_entity` places it by virtual times as old as the last tick or entry.
            self.settle(cpu);
            self.pass_ticks(cpu);
        } else {
            self.catch_up(cpu);
        }
        self.entries += 1;
        let discipline = &self.shared.model.discipline;
        let record = &mut self.cpus[cpu];
        discipline.place(&mut self.shared.tasks, record, id, entry, self.shared.now);
        let task = &mut self.shared.tasks[id];
        let enters = matches!(task.state, TaskState::New | TaskState::Sleeping)
            || entry == Entry::Move && task.state != TaskState::Exited;
        debug_assert!(enters, "{id} enters the queue of {cpu} ({entry:?}) and is {:?}", task.state);
        let (app, before) = (task.app(), std::mem::replace(&mut task.state, TaskState::Queued));
        task.cpu = cpu;
        if matches!(before, TaskState::New | TaskState::Sleeping) {
            self.shared.apps[app].task_enters(self.shared.now);
        }
        let task = &self.shared.tasks[id];
        self.entered[id] = self.entries;
        record.running += 1;
        record.load += u64::from(task.weight);
        self.note_overtaken(id, cpu);
        let (discipline, record) = (&self.shared.model.discipline, &mut self.cpus[cpu]);
        discipline.insert(&mut self.shared.tasks, record, id);
        discipline.advance_minimum(&self.shared.tasks, record);
        if delayed {
            // `wakeup_preempt` brings the current task up to date.
            self.catch_up(cpu);
        }
        let discipline = &self.shared.model.discipline;
        let record = &mut self.cpus[cpu];
        let idle = record.current.is_none();
        let preempts = discipline.takes_cpu(&mut self.shared.tasks, record, id, self.shared.now);
        let remote = by.is_some_and(|by| by != cpu);
        if preempts {
            record.resched = true;
            let mut price = Span::ZERO;
            if remote {
                price += self.shared.machine.costs.ipi;
            }
            if idle {
                price += self.shared.idle_exit(record);
            }
            record.defer(Part::Kernel, price);
        }
        if self.shared.wants_queues && !idle {
            let verdict = if preempts { Verdict::Preempts } else { Verdict::Waits };
            self.shared.report_queue(&self.cpus[cpu], id, verdict, false);
        }
        self.price_switches(cpu, Some(id));
        self.notices.push((id, cpu, Change::Entered));
        self.shared.dirty.note(cpu);
        self.report_polling(cpu);
        self.observe(Observation::Runnable { task: id, cpu });
        self.mark(cpu);
    }

    /// Takes a waiting task out of its queue.
    fn dequeue(&mut self, id: TaskId) {
        let (cpu, state) = (self.shared.tasks[id].cpu, self.shared.tasks[id].state);
        debug_assert!(state == TaskState::Queued, "{id} is taken out of the queue of {cpu} and is {state:?}");
        let record = &mut self.cpus[cpu];
        self.shared.model.discipline.leave(&mut self.shared.tasks, record, id, LeaveReason::Moved);
        run_queue::remove(&mut self.shared.tasks, record, id);
        self.depart(id, cpu);
    }

    /// A task no longer counts in a queue.
    fn depart(&mut self, id: TaskId, cpu: CpuId) {
        let weight = u64::from(self.shared.tasks[id].weight);
        let record = &mut self.cpus[cpu];
        debug_assert!(record.running > 0, "{id} leaves {cpu}, which has no runnable task");
        debug_assert!(record.load >= weight, "{id} of {weight} leaves {cpu} of load {}", record.load);
        record.running -= 1;
        record.load -= weight;
        run_queue::cfs::forget(record, id);
        if let Some(rare) = record.rare.written().filter(|rare| rare.yield_target == id) {
            rare.yield_target = TaskId::NONE;
        }
        self.price_switches(cpu, None);
        self.notices.push((id, cpu, Change::Left));
        self.shared.dirty.note(cpu);
        self.mark(cpu);
    }

    /// Notes whether the tasks of a cpu belong to several processes, after one has come or gone.
    fn price_switches(&mut self, cpu: CpuId, comes: Option<TaskId>) {
        let record = &self.cpus[cpu];
        let of = |id: TaskId| self.shared.tasks[id].process;
        let anyone = if record.current.is_none() { record.head } else { record.current };
        let several = match comes {
            // Those that were there are of several processes, or all of that of any one of them.
            Some(_) if record.several => true,
            Some(id) => {
                let other = [record.current, record.head, record.tail].into_iter().filter_map(TaskId::some);
                other.into_iter().find(|other| *other != id).is_some_and(|other| of(other) != of(id))
            }
            None if record.several => {
                let mut at = record.head;
                while at.some().is_some_and(|id| of(id) == of(anyone)) {
                    at = self.shared.tasks[at].next;
                }
                !at.is_none()
            }
            None => false,
        };
        self.cpus[cpu].several = several;
    }

    /// The current task leaves its cpu for good: it sleeps, has ended, or is moved.
    pub(crate) fn leave(&mut self, cpu: CpuId, reason: LeaveReason) {
        let id = self.cpus[cpu].current;
        debug_assert!(!id.is_none(), "the current task of {cpu} leaves it, and there is none");
        self.shared.close_segment(&mut self.cpus[cpu]);
        self.report_account(cpu);
        self.charge(cpu);
        self.count_switch(id, reason);
        self.shared.emit_stopping(&mut self.cpus[cpu], reason);
        let record = &mut self.cpus[cpu];
        self.shared.model.discipline.leave(&mut self.shared.tasks, record, id, reason);
        record.last_process = self.shared.tasks[id].process;
        record.current = TaskId::NONE;
        record.picked = self.shared.now;
        record.activity = Activity::Idle;
        record.newidle = true;
        self.note_stopping(id, cpu);
        self.depart(id, cpu);
        self.shared.model.discipline.advance_minimum(&self.shared.tasks, &mut self.cpus[cpu]);
    }

    pub(crate) fn count_switch(&mut self, id: TaskId, reason: LeaveReason) {
        let counters = &mut self.shared.apps[self.shared.tasks[id].app()].counters;
        match reason {
            LeaveReason::Preempted | LeaveReason::Moved => counters.involuntary_switches += 1,
            LeaveReason::Slept | LeaveReason::Exited | LeaveReason::Waits => counters.voluntary_switches += 1,
        }
    }

    /// The current task is not runnable from now on.
    pub(crate) fn not_runnable(&mut self, id: TaskId, state: TaskState) {
        let app = self.shared.tasks[id].app();
        self.shared.tasks[id].state = state;
        self.shared.apps[app].task_leaves(self.shared.now);
    }

    /// The current task goes to sleep; for a nap a timer wakes it.
    pub(crate) fn sleep(&mut self, cpu: CpuId, nap: Option<Span>) {
        let id = self.cpus[cpu].current;
        self.not_runnable(id, TaskState::Sleeping);
        self.leave(cpu, LeaveReason::Slept);
        if let Some(span) = nap {
            self.arm_pending(self.shared.now.saturating_add(span), Timer::Wake(id, cpu));
        }
    }

    /// The process of the current task ends; a new one takes its rank and is placed as a fork from the same
    /// cpu, with nothing in caches and no home.
    pub(crate) fn respawn(&mut self, cpu: CpuId, policy: &mut dyn Policy) {
        let id = self.cpus[cpu].current;
        self.not_runnable(id, TaskState::New);
        self.leave(cpu, LeaveReason::Exited);
        self.respawned = self.respawned.saturating_add(1);
        self.shared.set_home(id, MaybeNode::NONE);
        let task = &mut self.shared.tasks[id];
        task.process = ProcessId::respawned(self.respawned);
        task.set_refill(Span::ZERO);
        task.warm = NOWHERE;
        // `sched_fork` of kernels that keep lag: a new task has none.
        if let Some(history) = task.history.written() {
            history.vlag = 0;
            history.parent = TaskId::NONE;
        }
        self.notify(policy);
        let target = self.placed(id, Placement::Fork { parent: cpu }, policy);
        self.policy_enqueue(id, target, Enqueue::Created, policy);
        self.enqueue(id, target, Entry::Fork, Some(cpu));
    }

    /// Moves a runnable task to another cpu's queue.
    pub(crate) fn relocate(&mut self, id: TaskId, to: CpuId) {
        let from = self.shared.tasks[id].cpu;
        debug_assert!(from != to, "{id} is moved from {from} to the same cpu");
        self.catch_up(from);
        self.report_account(from);
        if self.shared.tasks[id].state == TaskState::Running {
            // The migration thread takes the cpu first.
            self.leave(from, LeaveReason::Moved);
            self.cpus[from].defer(Part::Kernel, self.shared.machine.costs.ipi);
        } else {
            self.dequeue(id);
        }
        self.renormalise(id, from, to);
        self.count_move(id, from, to);
        self.cpus[to].defer(Part::Migration, self.shared.machine.costs.migration);
        self.enqueue(id, to, Entry::Move, None);
    }

    /// Counts a move.
    fn count_move(&mut self, id: TaskId, from: CpuId, to: CpuId) {
        let distance = self.shared.machine.topology.distance(from, to);
        let counters = &mut self.shared.apps[self.shared.tasks[id].app()].counters;
        counters.migrations += 1;
        counters.far_migrations += u64::from(distance == Distance::Far);
        self.observe(Observation::Migrated { task: id, from, to });
    }
}
