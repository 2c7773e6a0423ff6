//! The periodic update of all priorities that some disciplines make.

use crate::engine::Engine;
use crate::event::Timer;
use crate::ids::{CpuId, TaskId};
use crate::os::OsModel;
use crate::policy::{Preemption, TaskState};
use crate::run_queue::{self, Rules};
use crate::time::Span;

/// The period at which all priorities are updated, if they are.
pub(crate) fn update_period(model: &OsModel) -> Option<Span> {
    model.discipline.levels()?.update_period()
}

impl Engine<'_> {
    /// Boosts each task that has gone too long without a whole quantum, and arms the next update.
    pub(crate) fn update_priorities(&mut self) {
        let Some(period) = update_period(&self.shared.model) else {
            unreachable!("{} arms an update of all priorities", self.shared.model.name);
        };
        for cpu in 0..self.cpus.len() {
            self.catch_up(CpuId(cpu as u32));
        }
        for task in 0..self.shared.tasks.len() {
            self.update_priority(TaskId(task as u32));
        }
        for cpu in (0..self.cpus.len()).map(|cpu| CpuId(cpu as u32)) {
            let record = &mut self.cpus[cpu];
            let (Some(head), Some(current)) = (record.head.some(), record.current.some()) else { continue };
            let key = |id: TaskId| (self.shared.tasks[id].priority, self.shared.tasks[id].vruntime);
            record.resched |= key(head) < key(current);
            self.shared.rounds.mark(cpu);
        }
        self.timers.arm(self.shared.now + period, Timer::Update);
    }

    fn update_priority(&mut self, id: TaskId) {
        let task = &mut self.shared.tasks[id];
        let Some(levels) = self.shared.model.discipline.levels() else { return };
        let Some(key) = levels.updated(task) else { return };
        if task.state == TaskState::Running {
            task.vruntime = key;
        } else if task.vruntime != key {
            let record = &mut self.cpus[task.cpu];
            run_queue::remove(&mut self.shared.tasks, record, id);
            self.shared.tasks[id].vruntime = key;
            self.shared.model.discipline.insert(&mut self.shared.tasks, record, id);
            if self.watches_preemptions {
                self.preempted.push((id, self.shared.tasks[id].cpu, Preemption::Boosted));
            }
        }
    }
}
