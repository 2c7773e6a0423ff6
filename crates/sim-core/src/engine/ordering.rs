//! Run queues that the policy orders: when it is asked, and the tasks that it holds.
//!
//! This is [`crate::policy::Order::Policy`]. A held task is throttled in the queue of the cpu where it last
//! was, so that it counts there and is not picked.

use crate::engine::state::Part;
use crate::engine::{Change, Engine};
use crate::ids::{CpuId, TaskId};
use crate::observe::Verdict;
use crate::policy::{Action, Enqueue, Kick, Policy, QueueEntry, TaskChange, TaskState, Why};
use crate::run_queue;
use crate::time::Span;

impl Engine<'_> {
    /// A task is about to enter the queue of a cpu: the policy is asked where it goes.
    pub(crate) fn policy_enqueue(&mut self, id: TaskId, cpu: CpuId, why: Enqueue, policy: &mut dyn Policy) {
        if self.shared.policy_orders {
            self.notify(policy);
            let entry = policy.enqueue(self, id, cpu, why);
            self.shared.tasks[id].set_entry(entry);
        }
    }

    /// The current task of a cpu yields, has used its slice or is preempted: the policy is asked where it
    /// goes. The task still has the cpu.
    pub(crate) fn policy_requeue(&mut self, cpu: CpuId, why: Enqueue, policy: &mut dyn Policy) {
        if self.shared.policy_orders {
            let id = self.cpus[cpu].current;
            self.notify(policy);
            policy.stopping(self, id, cpu);
            self.policy_enqueue(id, cpu, why, policy);
        }
    }

    /// A task is about to enter the queue of a cpu, or to become runnable there: if it preempts one that was
    /// to run next and does not run yet, the policy will be asked again where that one goes.
    pub(crate) fn note_overtaken(&mut self, id: TaskId, cpu: CpuId) {
        let tasks = &self.shared.tasks;
        if !self.shared.policy_orders || !tasks[id].may_preempt() {
            return;
        }
        let key = |id: TaskId| (tasks[id].priority, tasks[id].vruntime);
        let waits = |next: &TaskId| tasks[*next].state == TaskState::Queued && key(id) < key(*next);
        if let Some(next) = self.shared.next_on(&self.cpus[cpu]).filter(waits) {
            self.notices.push((next, cpu, Change::Overtaken));
        }
    }

    /// Asks the policy again where a task goes that was to run next on a cpu and was overtaken.
    pub(crate) fn requeue_overtaken(&mut self, id: TaskId, cpu: CpuId, policy: &mut dyn Policy) {
        let waits = |engine: &Self| {
            let task = &engine.shared.tasks[id];
            task.state == TaskState::Queued && task.cpu == cpu && !task.is_held()
        };
        if !waits(self) {
            return;
        }
        let entry = policy.enqueue(self, id, cpu, Enqueue::Preempted);
        if waits(self) {
            let (tasks, record) = (&mut self.shared.tasks, &mut self.cpus[cpu]);
            run_queue::remove(tasks, record, id);
            tasks[id].set_entry(entry);
            self.shared.model.discipline.insert(tasks, record, id);
            self.shared.watch.note(cpu);
        }
    }

    /// Who runs next on a cpu after its current task has gone to the queue. A policy that orders the queues
    /// may dispatch a task if none waits; it may also have moved the current one.
    pub(crate) fn pick(&mut self, cpu: CpuId, policy: &mut dyn Policy) -> Option<TaskId> {
        let target = self.cpus[cpu].rare.yield_target;
        let mut next = self.choose(cpu);
        if next.is_none() && self.shared.policy_orders {
            policy.dispatch(self, cpu);
            next = self.choose(cpu);
        }
        if self.shared.reports.wants_queues()
            && let Some(next) = next
        {
            self.shared.report_queue(&self.cpus[cpu], next, Verdict::Picked, next == target);
        }
        next
    }

    /// The current task runs: the policy is notified.
    #[inline]
    pub(crate) fn notify_running(&mut self, cpu: CpuId, policy: &mut dyn Policy) {
        if self.shared.policy_orders {
            let id = self.cpus[cpu].current;
            policy.running(self, id, cpu);
        }
    }

    /// The current task leaves its cpu for good: the policy will be notified, unless it has been.
    #[inline]
    pub(crate) fn note_stopping(&mut self, id: TaskId, cpu: CpuId) {
        if self.shared.policy_orders && !self.shared.tasks[id].is_held() {
            self.notices.push((id, cpu, Change::Stopped));
        }
    }

    /// A cpu looks for a task, if it is as the policy wants it; a current task is interrupted. An idle cpu
    /// that finds a task pays for being woken when that is dispatched to it.
    pub(crate) fn kicked(&mut self, cpu: CpuId, how: Kick) -> bool {
        self.settle(cpu);
        let idle = self.cpus[cpu].current.is_none();
        if !idle && how == Kick::Idle {
            return false;
        }
        if !idle {
            let record = &mut self.cpus[cpu];
            record.resched = true;
            record.defer(Part::Kernel, self.shared.machine.costs.ipi);
        }
        self.shared.watch.note(cpu);
        self.shared.rounds.mark(cpu);
        true
    }

    /// From now on a running or queued task may run for so long.
    pub(crate) fn change_slice(&mut self, id: TaskId, slice: Span, why: Why) -> bool {
        let cpu = self.shared.tasks[id].cpu;
        self.settle(cpu);
        let (task, record) = (&mut self.shared.tasks[id], &self.cpus[cpu]);
        let used = match task.state {
            TaskState::Running => self.shared.now.since(record.picked),
            TaskState::Queued if !task.is_held() => Span::ZERO,
            _ => return false,
        };
        task.set_entry_slice(used.saturating_add(slice));
        self.shared.decided(Some(id), Action::SliceSet(slice), why);
        self.shared.rounds.mark(cpu);
        true
    }

    /// The weight of a task or the cpus that it may use have changed: the policy will be notified.
    pub(crate) fn note_changed(&mut self, id: TaskId, what: TaskChange) {
        if self.shared.policy_orders {
            self.notices.push((id, self.shared.tasks[id].cpu, Change::Task(what)));
        }
    }

    /// A task that the policy holds goes into the queue of a cpu, where it may run.
    pub(crate) fn dispatch_held(&mut self, id: TaskId, to: CpuId, entry: QueueEntry) {
        if self.shared.tasks[id].cpu != to {
            self.relocate(id, to);
        }
        let (tasks, record) = (&mut self.shared.tasks, &mut self.cpus[to]);
        if record.current == id {
            tasks[id].set_entry(Some(entry));
            return;
        }
        let idle = record.current.is_none() && !run_queue::anyone_waits(tasks, record);
        run_queue::remove(tasks, record, id);
        tasks[id].set_entry(Some(entry));
        self.note_overtaken(id, to);
        let (tasks, record) = (&mut self.shared.tasks, &mut self.cpus[to]);
        let discipline = &self.shared.model.discipline;
        discipline.insert(tasks, record, id);
        let picks = record.current.some().is_some_and(|current| tasks[current].is_held());
        if !picks && discipline.takes_cpu(tasks, record, id, self.shared.now) {
            let ipi = self.shared.machine.costs.ipi;
            let price = match idle {
                // It picks its next task at this instant and has not been idle.
                true if record.since == self.shared.now => Span::ZERO,
                true => ipi + self.shared.idle_exit(record),
                false => ipi,
            };
            record.resched |= !idle;
            record.defer(Part::Kernel, price);
        }
        self.shared.watch.note(to);
        self.shared.rounds.mark(to);
    }
}
