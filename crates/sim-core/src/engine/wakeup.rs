//! Tasks enter and leave queues: wake-ups, moves, sleeps.

use crate::engine::invariants::violated;
use crate::engine::numa::Scan;
use crate::engine::state::{Activity, Cpu, Lazily, MaybeNode, NOWHERE, Part, ProcessId};
use crate::engine::{Change, Engine};
use crate::event::Timer;
use crate::ids::{CpuId, DeviceId, TaskId};
use crate::observe::{LeaveReason, Observation, Verdict};
use crate::policy::{Action, Enqueue, Placement, Policy, TaskState};
use crate::run_queue::{self, Entry, Rules, Tasks, groups};
use crate::time::{Span, Time};

/// Whether the tasks of a cpu belong to several processes, after one has come or gone.
fn several_processes(tasks: &Tasks, record: &Cpu, comes: Option<TaskId>) -> bool {
    let of = |id: TaskId| tasks[id].process;
    match comes {
        // The present tasks are of several processes, or all of one process.
        Some(_) if record.several => true,
        Some(id) => {
            let other = [record.current, record.head, record.tail].into_iter().filter_map(TaskId::some);
            other.into_iter().find(|other| *other != id).is_some_and(|other| of(other) != of(id))
        }
        None if record.several => {
            let anyone = if record.current.is_none() { record.head } else { record.current };
            let mut at = record.head;
            while at.some().is_some_and(|id| of(id) == of(anyone)) {
                at = tasks[at].next;
            }
            !at.is_none()
        }
        None => false,
    }
}

impl Engine<'_> {
    /// A sleeping task becomes runnable.
    pub(crate) fn wake(&mut self, id: TaskId, waker: CpuId, policy: &mut dyn Policy) {
        let state = self.shared.tasks[id].state;
        if state != TaskState::Sleeping {
            violated(id, waker, "is woken and does not sleep");
        }
        if self.cpus[waker].rare.lazily != Lazily::No {
            // A timer has interrupted it, or its current task is in a system call.
            self.settle(waker);
            self.pass_ticks(waker);
            self.cpus[waker].returns(true);
            self.shared.rounds.mark(waker);
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
            self.shared.count_move(id, previous, cpu);
        }
        self.policy_enqueue(id, cpu, Enqueue::Woken, policy);
        self.enqueue(id, cpu, Entry::Wake, Some(waker));
    }

    /// The cpu that the policy chooses for a task.
    pub(crate) fn placed(&mut self, id: TaskId, placement: Placement, policy: &mut dyn Policy) -> CpuId {
        if self.is_real_time(id) {
            return self.place_real_time(id, placement);
        }
        if self.shared.policy_orders {
            // A task that wakes at the instant at which it fell asleep has left its queue.
            self.notify(policy);
        }
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
        self.shared.decided(Some(id), Action::Placed { placement, cpu }, choice.why);
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
            if self.keeps_distance(id) {
                return;
            }
            let shift = self.cpus[to].min_vruntime - self.cpus[from].min_vruntime;
            self.shared.tasks[id].vruntime += shift;
        }
    }

    /// Whether a task that another cpu, `by`, puts into a queue takes the cpu there only when that next
    /// returns to user mode. An interrupt comes where a woken task is handed over to a cpu of another cache
    /// (`ttwu_queue_wakelist`), unless it is still queued there.
    fn waits_for_return(&self, cpu: CpuId, by: Option<CpuId>, entry: Entry, delayed: bool) -> bool {
        let Some(by) = by.filter(|by| *by != cpu) else { return false };
        if !self.shared.model.discipline.is_lazy(&self.shared.tasks, &self.cpus[cpu]) {
            return false;
        }
        let machine = &self.shared.machine;
        let caches = machine.topology.last_caches(machine.memory.shared_cache > 0);
        caches.part(by) == caches.part(cpu) || delayed || entry == Entry::Fork
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
        self.uses(id, cpu);
        self.entries += 1;
        let lazy = self.waits_for_return(cpu, by, entry, delayed);
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
        self.compete(id, cpu, (entry, by), lazy);
        let record = &mut self.cpus[cpu];
        record.several = several_processes(&self.shared.tasks, record, Some(id));
        self.notices.push((id, cpu, Change::Entered));
        if self.real_time {
            self.begin_class_period(id);
            self.note_entered(id, cpu);
        }
        let record = &mut self.cpus[cpu];
        self.shared.watch.note(cpu);
        self.shared.report_polling(record);
        self.shared.observe(Observation::Runnable { task: id, cpu });
        self.shared.rounds.mark(cpu);
    }

    /// A task that has entered a queue takes the cpu from the current one, at once or when that next returns
    /// to user mode (`lazy`), or waits.
    fn compete(&mut self, id: TaskId, cpu: CpuId, (entry, by): (Entry, Option<CpuId>), lazy: bool) {
        let discipline = &self.shared.model.discipline;
        let record = &mut self.cpus[cpu];
        let idle = record.current.is_none();
        let takes = discipline.takes_cpu(&mut self.shared.tasks, record, id, self.shared.now);
        let preempts = takes || (self.real_time && self.goes_before_equal(id, cpu, entry));
        let record = &mut self.cpus[cpu];
        let remote = by.is_some_and(|by| by != cpu);
        let current = record.current.some().map(|current| &self.shared.tasks[current]);
        let lazy = lazy && current.is_some_and(|current| current.priority == self.shared.tasks[id].priority);
        let preempts = if lazy {
            if preempts && record.rare.lazily == Lazily::No {
                record.rare.lazily = Lazily::Entered;
            }
            false
        } else {
            record.returns(true);
            preempts
        };
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
        if self.shared.reports.wants_queues() && !idle {
            let verdict = if preempts { Verdict::Preempts } else { Verdict::Waits };
            self.shared.report_queue(record, id, verdict, false);
        }
    }

    /// A task no longer counts in a queue.
    fn depart(&mut self, id: TaskId, cpu: CpuId) {
        self.frees(id, cpu);
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
        record.several = several_processes(&self.shared.tasks, record, None);
        self.notices.push((id, cpu, Change::Left));
        self.shared.watch.note(cpu);
        self.shared.rounds.mark(cpu);
    }

    /// The current task leaves its cpu for good: it sleeps, has ended, or is moved.
    pub(crate) fn leave(&mut self, cpu: CpuId, reason: LeaveReason) {
        let id = self.cpus[cpu].current;
        debug_assert!(!id.is_none(), "the current task of {cpu} leaves it, and there is none");
        self.shared.close_segment(&mut self.cpus[cpu]);
        self.shared.report_account(&self.cpus[cpu]);
        self.charge(cpu);
        self.shared.apps[self.shared.tasks[id].app()].count_switch(reason);
        self.shared.emit_stopping(&mut self.cpus[cpu], reason);
        let record = &mut self.cpus[cpu];
        self.shared.model.discipline.leave(&mut self.shared.tasks, record, id, reason, self.shared.now);
        record.last_process = self.shared.tasks[id].process;
        record.current = TaskId::NONE;
        record.picked = self.shared.now;
        record.activity = Activity::Idle;
        record.newidle = true;
        self.note_stopping(id, cpu);
        self.depart(id, cpu);
        if self.is_real_time(id) {
            let rank = run_queue::real_time::rank(&self.shared.tasks[id]);
            self.notices.push((id, cpu, Change::Lowered(rank)));
        }
        self.shared.model.discipline.advance_minimum(&self.shared.tasks, &mut self.cpus[cpu]);
    }

    /// The current task goes to sleep; for a nap a timer wakes it.
    pub(crate) fn sleep(&mut self, cpu: CpuId, nap: Option<Span>) {
        self.sleep_beside(cpu, nap, None);
    }

    /// The same while a device works for it, if one does.
    pub(crate) fn sleep_beside(&mut self, cpu: CpuId, nap: Option<Span>, device: Option<DeviceId>) {
        let id = self.cpus[cpu].current;
        self.shared.not_runnable(id, TaskState::Sleeping);
        if self.pausing > 0 && self.shared.tasks[id].history.pauses {
            self.shared.tasks[id].history.pauses = false;
            self.pausing -= 1;
        }
        self.leave(cpu, LeaveReason::Slept);
        if self.shared.reports.wants_sleeps() {
            self.shared.report_sleep(id, nap.is_some(), device);
        }
        if let Some(span) = nap {
            self.timers.arm(self.shared.now.saturating_add(span), Timer::Wake(id, cpu));
        }
    }

    /// The process of the current task ends; a new one takes its rank and is placed as a fork from the same
    /// cpu, with nothing in caches and no home.
    pub(crate) fn respawn(&mut self, cpu: CpuId, policy: &mut dyn Policy) {
        let id = self.cpus[cpu].current;
        self.shared.not_runnable(id, TaskState::New);
        self.leave(cpu, LeaveReason::Exited);
        self.respawned = self.respawned.saturating_add(1);
        self.shared.set_home(id, MaybeNode::NONE);
        let task = &mut self.shared.tasks[id];
        task.process = ProcessId::respawned(self.respawned);
        task.set_refill(Span::ZERO);
        task.warm = NOWHERE;
        if let Some(rules) = self.shared.model.numa_balancing.filter(|_| !self.shared.scans.is_empty()) {
            self.shared.scans[id] = Scan::new(&rules, task.cpu_time);
        }
        // `sched_fork` of kernels that keep lag: a new task has none.
        if let Some(history) = task.history.written() {
            history.vlag = 0;
            history.parent = TaskId::NONE;
        }
        self.begins_anew(id);
        self.notify(policy);
        let target = self.placed(id, Placement::Fork { parent: cpu }, policy);
        self.policy_enqueue(id, target, Enqueue::Created, policy);
        self.enqueue(id, target, Entry::Fork, Some(cpu));
    }

    /// A new process has taken the place of a task, in no queue yet: its clocks begin, and it has changed
    /// nothing of itself.
    fn begins_anew(&mut self, id: TaskId) {
        let (now, number) = (self.shared.now, self.shared.tasks[id].app());
        let app = &mut self.shared.apps[number];
        let (rank, clocks) = (app.rank(id) as usize, app.program.clocks());
        if clocks > 0 {
            app.renewed[rank] = now;
            app.instants[rank * clocks..(rank + 1) * clocks].fill(Time::NEVER);
        }
        let before = app.changed.remove(&id).unwrap_or_default();
        if let Some(weight) = before.weight {
            self.shared.tasks[id].weight = weight;
        }
        if let Some(cpus) = before.cpus {
            self.shared.bind(id, cpus);
        }
        self.renew_class(id);
    }

    /// Moves a runnable task to another cpu's queue.
    pub(crate) fn relocate(&mut self, id: TaskId, to: CpuId) {
        let from = self.shared.tasks[id].cpu;
        debug_assert!(from != to, "{id} is moved from {from} to the same cpu");
        self.catch_up(from);
        self.shared.report_account(&self.cpus[from]);
        if self.shared.tasks[id].state == TaskState::Running {
            // The migration thread takes the cpu first.
            self.leave(from, LeaveReason::Moved);
            self.cpus[from].defer(Part::Kernel, self.shared.machine.costs.ipi);
        } else {
            let (state, record) = (self.shared.tasks[id].state, &mut self.cpus[from]);
            debug_assert!(state == TaskState::Queued, "{id} leaves the queue of {from} and is {state:?}");
            let now = self.shared.now;
            self.shared.model.discipline.leave(&mut self.shared.tasks, record, id, LeaveReason::Moved, now);
            run_queue::remove(&mut self.shared.tasks, record, id);
            self.depart(id, from);
        }
        self.renormalise(id, from, to);
        self.shared.count_move(id, from, to);
        self.cpus[to].defer(Part::Migration, self.shared.machine.costs.migration);
        self.enqueue(id, to, Entry::Move, None);
    }
}
