//! Where tasks of the real-time class go (kernel/sched/rt.c): placement, push and pull, and the period of
//! throttling.
//!
//! The policy does not see these tasks in queues and moves none of them. Deviations: a cpu pulls at once,
//! where Linux asks the others by interrupts to push (`RT_PUSH_IPI`); of several cpus as near the first one
//! is taken, where Linux takes them in turn (`cpumask_any_and_distribute`).

use crate::engine::state::Part;
use crate::engine::{Change, Engine};
use crate::event::Timer;
use crate::ids::{CpuId, TaskId};
use crate::machine::Level;
use crate::policy::{Action, Placement, Why};
use crate::run_queue::real_time::{Phase, best_rank, is_at_rest, is_of_class, rank};
use crate::run_queue::{self, Entry, list};
use crate::time::Span;

const PLACED: Why = Why::rule("real-time: the cpu where it was, or one of the lowest priority");
const PUSHED: Why = Why::rule("real-time: pushed to a cpu of lower priority");
const PULLED: Why = Why::rule("real-time: pulled as the priority of the cpu falls");

impl Engine<'_> {
    /// A task of the class that waits where one of at least its priority runs goes to a cpu of the lowest
    /// priority; otherwise it stays where it was (`select_task_rq_rt`).
    pub(crate) fn place_real_time(&mut self, id: TaskId, placement: Placement) -> CpuId {
        let (from, near) = match placement {
            Placement::Fork { parent } => (parent, parent),
            Placement::Wake { waker, previous } => (previous, waker),
        };
        let tasks = &self.shared.tasks;
        let current = self.cpus[from].current.some().filter(|current| is_of_class(&tasks[*current]));
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
        let of = |cpu: CpuId| best_rank(tasks, &self.cpus[cpu]);
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
        let both = is_of_class(&tasks[id]) && is_of_class(&tasks[current]);
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
        if let Some(class) = starts.filter(|_| is_of_class(&self.shared.tasks[id])) {
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
        while self.cpus[cpu].rare.class.phase() == Phase::First {
            let (tasks, record) = (&self.shared.tasks, &self.cpus[cpu]);
            let Some(current) = record.current.some().filter(|id| is_of_class(&tasks[*id])) else { return };
            let movable = |id: &TaskId| is_of_class(&tasks[*id]) && self.may_move(*id);
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
        let here = |engine: &Self| best_rank(&engine.shared.tasks, &engine.cpus[cpu]);
        if here(self) <= left {
            return;
        }
        for from in self.cpus.ids() {
            let (tasks, record) = (&self.shared.tasks, &self.cpus[from]);
            if from == cpu || record.rare.class.phase() != Phase::First {
                continue;
            }
            let allowed = |id: &TaskId| is_of_class(&tasks[*id]) && self.shared.affinity(*id).allows(cpu);
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

    /// A policy must not move a task of the class, nor set priority levels beside it.
    pub(crate) fn is_real_time(&self, id: TaskId) -> bool {
        self.real_time && is_of_class(&self.shared.tasks[id])
    }
}
