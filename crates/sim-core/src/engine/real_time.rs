//! Where tasks of the real-time class go (kernel/sched/rt.c): placement, push and pull, and the period of
//! throttling.
//!
//! The policy does not see these tasks in queues and moves none of them. Deviations: a cpu pulls at once,
//! where Linux asks the others by interrupts to push (`RT_PUSH_IPI`); of several cpus as near the first one
//! is taken, where Linux takes them in turn (`cpumask_any_and_distribute`).

use crate::engine::state::{Part, Task};
use crate::engine::{Change, Engine};
use crate::event::Timer;
use crate::ids::{CpuId, TaskId};
use crate::machine::Level;
use crate::policy::{Action, Placement, TaskState, Why};
use crate::run_queue::real_time::{best_rank, goes_first, is_at_rest, is_of_class, rank, reservation};
use crate::run_queue::{self, Entry, list};
use crate::time::Span;

const PLACED: Why = Why::rule("real-time: the cpu where it was, or one of the lowest priority");
const PUSHED: Why = Why::rule("real-time: pushed to a cpu of lower priority");
const PULLED: Why = Why::rule("real-time: pulled as the priority of the cpu falls");

/// It is of `SCHED_DEADLINE`.
fn reserves(task: &Task) -> bool {
    reservation(task).is_some()
}

impl Engine<'_> {
    /// A task of the class that waits where one of at least its priority runs goes to a cpu of the lowest
    /// priority; otherwise it stays where it was (`select_task_rq_rt`).
    pub(crate) fn place_real_time(&mut self, id: TaskId, placement: Placement) -> CpuId {
        self.see_deadlines();
        let (from, near) = match placement {
            Placement::Fork { parent } => (parent, parent),
            Placement::Wake { waker, previous } => (previous, waker),
        };
        let tasks = &self.shared.tasks;
        // A task of `SCHED_DEADLINE` gives way to others of that policy only (`select_task_rq_dl`).
        let above = |task: &Task| is_of_class(task) && (reserves(task) || !reserves(&tasks[id]));
        let current = self.cpus[from].current.some().filter(|current| above(&tasks[*current]));
        let full = current
            .is_some_and(|current| !self.may_move(current) || rank(&tasks[current]) <= rank(&tasks[id]));
        let lowest = if full { self.lowest_cpu(id, from, near) } else { None };
        let allowed = Some(from).filter(|from| self.shared.affinity(id).allows(*from));
        let first = || self.shared.affinity(id).first(self.shared.machine.cpus());
        let cpu = lowest.or(allowed).or_else(first).unwrap_or(from);
        self.shared.decided(Some(id), Action::Placed { placement, cpu }, PLACED);
        cpu
    }

    /// It may run on several cpus.
    fn may_move(&self, id: TaskId) -> bool {
        let affinity = self.shared.affinity(id);
        self.cpus.ids().filter(|cpu| affinity.allows(*cpu)).nth(1).is_some()
    }

    /// The cpu of the lowest priority, below that of a task: its own one, else the nearest to it
    /// (`find_lowest_rq`). Cpus without tasks of the class are equal, idle or not (`cpupri_find`).
    fn lowest_cpu(&self, id: TaskId, own: CpuId, near: CpuId) -> Option<CpuId> {
        if !self.may_move(id) {
            return None;
        }
        let (tasks, affinity) = (&self.shared.tasks, self.shared.affinity(id));
        let allowed = || self.cpus.ids().filter(|cpu| affinity.allows(*cpu));
        // Cpus without tasks of `SCHED_DEADLINE` are equal for those (`cpudl_find`).
        let most = if reserves(&tasks[id]) { 0 } else { 99 };
        let of = |cpu: CpuId| best_rank(tasks, &self.cpus[cpu]).min(most);
        let worst = allowed().map(of).max().filter(|worst| *worst > rank(&tasks[id]))?;
        let lowest: Vec<CpuId> = allowed().filter(|cpu| of(*cpu) == worst).collect();
        if lowest.contains(&own) {
            return Some(own);
        }
        let topology = &self.shared.machine.topology;
        let mut levels = [Level::Core, Level::Cache, Level::Node, Level::Package];
        levels.sort_by_key(|level| topology.members(*level, topology.group(*level, own)).len());
        for level in levels {
            let group = topology.group(level, own);
            let mut inside = lowest.iter().copied().filter(|cpu| topology.group(level, *cpu) == group);
            if lowest.contains(&near) && topology.group(level, near) == group {
                return Some(near);
            }
            if let Some(first) = inside.next() {
                return Some(first);
            }
        }
        Some(near).filter(|near| lowest.contains(near)).or(lowest.first().copied())
    }

    /// A task that enters and has no other cpu goes before one of its priority that has the cpu and may go to
    /// another one, which is then pushed (`check_preempt_equal_prio`).
    pub(crate) fn goes_before_equal(&mut self, id: TaskId, cpu: CpuId, entry: Entry) -> bool {
        let (tasks, record) = (&self.shared.tasks, &self.cpus[cpu]);
        let Some(class) = self.shared.model.discipline.real_time().filter(|class| class.rules.pinned_first)
        else {
            return false;
        };
        let Some(current) = record.current.some().filter(|_| entry != Entry::Move && !record.resched) else {
            return false;
        };
        let both = is_of_class(&tasks[id]) && is_of_class(&tasks[current]) && !reserves(&tasks[id]);
        let equal = both && rank(&tasks[id]) == rank(&tasks[current]);
        let elsewhere = |id| self.lowest_cpu(id, cpu, cpu).is_some();
        let first = equal && elsewhere(current) && !elsewhere(id);
        if first {
            class.put_first(&mut self.shared.tasks, &mut self.cpus[cpu], id);
        }
        first
    }

    /// The period of throttling begins with the first task of the class (`start_rt_bandwidth`).
    pub(crate) fn begin_class_period(&mut self, id: TaskId) {
        let class = self.shared.model.discipline.real_time().filter(|class| class.limits());
        let starts = class.filter(|class| class.rules.period_starts && !self.refills);
        let counts = |task: &Task| task.history.scheduling.priority().is_some();
        if let Some(class) = starts.filter(|_| counts(&self.shared.tasks[id])) {
            self.refills = true;
            self.timers.arm(self.shared.now + class.rules.period, Timer::Refill);
        }
    }

    /// A task of the class has entered the queue of a cpu, and others may have to leave it.
    pub(crate) fn note_entered(&mut self, id: TaskId, cpu: CpuId) {
        if self.real_time && is_of_class(&self.shared.tasks[id]) && !self.cpus[cpu].resched {
            self.notices.push((id, cpu, Change::Crowded));
        }
    }

    /// A task of the class has taken a cpu, on which others of it may wait.
    pub(crate) fn note_crowded(&mut self, id: TaskId, cpu: CpuId) {
        let tasks = &self.shared.tasks;
        let waits = self.cpus[cpu].head.some().is_some_and(|head| is_of_class(&tasks[head]));
        if waits && is_of_class(&tasks[id]) {
            self.notices.push((id, cpu, Change::Crowded));
        }
    }

    /// Tasks of the class that wait behind one of it go to cpus of lower priority (`push_rt_tasks`).
    pub(crate) fn push_real_time(&mut self, cpu: CpuId) {
        self.see_deadlines();
        loop {
            let (tasks, record) = (&self.shared.tasks, &self.cpus[cpu]);
            let Some(current) = record.current.some().filter(|id| goes_first(&tasks[*id])) else { return };
            let movable = |id: &TaskId| goes_first(&tasks[*id]) && self.may_move(*id);
            let Some(next) = list(tasks, record.head).find(movable) else { return };
            if rank(&tasks[next]) < rank(&tasks[current]) {
                return;
            }
            let Some(to) = self.lowest_cpu(next, cpu, cpu).filter(|to| *to != cpu) else { return };
            self.shared.decided(Some(next), Action::Migrated { from: cpu, to }, PUSHED);
            self.relocate(next, to);
        }
    }

    /// The priority of a cpu has fallen: tasks of the class that wait elsewhere and are better than what it
    /// has come to it (`pull_rt_task`). `left`: the
    /// rank that the cpu had.
    pub(crate) fn pull_real_time(&mut self, cpu: CpuId, left: i64) {
        self.see_deadlines();
        let here = |engine: &Self| best_rank(&engine.shared.tasks, &engine.cpus[cpu]);
        if here(self) <= left {
            return;
        }
        for from in self.cpus.ids() {
            let (tasks, record) = (&self.shared.tasks, &self.cpus[from]);
            if from == cpu {
                continue;
            }
            let allowed = |id: &TaskId| goes_first(&tasks[*id]) && self.shared.affinity(*id).allows(cpu);
            let Some(next) = list(tasks, record.head).find(allowed) else { continue };
            let current = record.current.some().filter(|id| is_of_class(&tasks[*id]));
            // It is about to get the cpu where it waits.
            let first = current.is_none_or(|current| rank(&tasks[next]) < rank(&tasks[current]));
            if first || rank(&tasks[next]) >= here(self) {
                continue;
            }
            self.shared.decided(Some(next), Action::Migrated { from, to: cpu }, PULLED);
            self.relocate(next, cpu);
        }
    }

    /// The period of throttling begins (`do_sched_rt_period_timer`).
    pub(crate) fn refill_real_time(&mut self) {
        let model = std::sync::Arc::clone(&self.shared.model);
        let Some(class) = model.discipline.real_time() else { return };
        for cpu in self.cpus.ids() {
            self.catch_up(cpu);
            let record = &mut self.cpus[cpu];
            let idle = record.current.is_none() && !run_queue::anyone_waits(&self.shared.tasks, record);
            if class.refill(&mut self.shared.tasks, record) {
                let exit = if idle { self.shared.idle_exit(record) } else { Span::ZERO };
                record.defer(Part::Kernel, exit);
                self.shared.watch.note(cpu);
                self.shared.rounds.mark(cpu);
            } else if record.current.some().is_some_and(|id| is_of_class(&self.shared.tasks[id])) {
                // Its runtime lasts longer now.
                self.shared.rounds.mark(cpu);
            }
        }
        let at_rest = |cpu| is_at_rest(&self.shared.tasks, &self.cpus[cpu]);
        self.refills = !class.rules.period_starts || !self.cpus.ids().all(at_rest);
        if self.refills {
            self.timers.arm(self.shared.now + class.rules.period, Timer::Refill);
        }
    }

    /// Ticks on other cpus, also in system calls, may have changed deadlines there.
    fn see_deadlines(&mut self) {
        if !self.deadlines {
            return;
        }
        for cpu in self.cpus.ids() {
            self.settle(cpu);
            self.pass_ticks(cpu);
        }
    }

    /// Sets the timers of tasks of `SCHED_DEADLINE` on a cpu that have been throttled (`start_dl_timer`).
    pub(crate) fn arm_replenishments(&mut self, cpu: CpuId) {
        let (tasks, record) = (&mut self.shared.tasks, &self.cpus[cpu]);
        let throttled = |id: &TaskId| tasks[*id].history.cbs.is_throttled();
        let all = record.current.some().into_iter().chain(list(tasks, record.head));
        for id in all.filter(throttled).collect::<Vec<_>>() {
            let Some(of) = reservation(&tasks[id]) else { continue };
            if let Some(at) = tasks[id].history.cbs.arm(&of) {
                self.timers.arm(at.max(self.shared.now), Timer::Replenish(id));
            }
        }
    }

    /// The next period of a task of `SCHED_DEADLINE` begins (`dl_task_timer`), unless it has slept since, and
    /// finds it itself when it wakes.
    pub(crate) fn replenish(&mut self, id: TaskId) {
        let (now, task) = (self.shared.now, &mut self.shared.tasks[id]);
        let runnable = matches!(task.state, TaskState::Queued | TaskState::Running);
        if !reservation(task).is_some_and(|of| runnable && task.history.cbs.fires(&of, now)) {
            return;
        }
        let cpu = task.cpu;
        self.catch_up(cpu);
        let model = std::sync::Arc::clone(&self.shared.model);
        let Some(class) = model.discipline.real_time() else { return };
        let record = &mut self.cpus[cpu];
        let idle = record.current.is_none() && !run_queue::anyone_waits(&self.shared.tasks, record);
        class.replenish(&mut self.shared.tasks, record, (id, now));
        if record.current != id && model.discipline.takes_cpu(&mut self.shared.tasks, record, id, now) {
            record.resched = true;
            if idle {
                let exit = self.shared.idle_exit(record);
                record.defer(Part::Kernel, exit);
            }
        }
        self.shared.watch.note(cpu);
        self.shared.rounds.mark(cpu);
        self.note_entered(id, cpu);
    }

    /// The current task of a cpu, of `SCHED_DEADLINE`, has just been throttled, and others may come
    /// (`balance_dl`).
    pub(crate) fn pull_for_throttled(&mut self, cpu: CpuId) {
        let tasks = &self.shared.tasks;
        let throttled = |id: &TaskId| reserves(&tasks[*id]) && tasks[*id].history.cbs.is_throttled();
        if let Some(id) = self.cpus[cpu].current.some().filter(throttled) {
            self.pull_real_time(cpu, rank(&tasks[id]));
        }
    }

    /// The mask of a task of `SCHED_DEADLINE` is its root domain (`dl_task_check_affinity`).
    pub(crate) fn keeps_cpus(&self, id: TaskId) -> bool {
        let rules = self.shared.model.real_time.and_then(|rules| rules.deadline);
        rules.is_some_and(|rules| rules.limit.is_some()) && reserves(&self.shared.tasks[id])
    }

    /// A policy must not move a task of the class, nor set priority levels beside it.
    pub(crate) fn is_real_time(&self, id: TaskId) -> bool {
        self.real_time && is_of_class(&self.shared.tasks[id])
    }
}
