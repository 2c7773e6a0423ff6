//! The periodic update of all priorities that some disciplines make.

use crate::engine::Engine;
use crate::event::Timer;
use crate::ids::{CpuId, TaskId};
use crate::observe::Observer;
use crate::os::{Discipline, TsParams};
use crate::policy::{Preemption, TaskState};
use crate::run_queue::{self, ts};

impl<O: Observer> Engine<'_, O> {
    /// Boosts each task that has gone too long without a whole quantum, and arms the next update.
    pub(crate) fn update_priorities(&mut self) {
        let model = self.shared.model.clone();
        let Discipline::Ts(params) = &model.discipline else {
            unreachable!("only the time-sharing class arms an update of all priorities");
        };
        for cpu in 0..self.cpus.len() {
            self.catch_up(CpuId(cpu as u32));
        }
        for task in 0..self.shared.tasks.len() {
            self.update_priority(params, TaskId(task as u32));
        }
        for cpu in (0..self.cpus.len()).map(|cpu| CpuId(cpu as u32)) {
            let record = &mut self.cpus[cpu];
            let (Some(head), Some(current)) = (record.head.some(), record.current.some()) else { continue };
            let key = |id: TaskId| (self.shared.tasks[id].priority, self.shared.tasks[id].vruntime);
            record.resched |= key(head) < key(current);
            self.mark(cpu);
        }
        self.timers.arm(self.shared.now + params.update, Timer::Update);
    }

    fn update_priority(&mut self, params: &TsParams, id: TaskId) {
        let task = &mut self.shared.tasks[id];
        let (running, asleep) = match task.state {
            TaskState::Running => (true, false),
            TaskState::Queued => (false, false),
            TaskState::Sleeping => (false, true),
            TaskState::New | TaskState::Exited => return,
        };
        let Some(key) = ts::update(params, task, running, asleep) else { return };
        if running {
            task.vruntime = key;
            task.history.share.expired = false;
        } else if task.vruntime != key {
            let record = &mut self.cpus[task.cpu];
            run_queue::remove(&mut self.shared.tasks, record, id);
            self.shared.tasks[id].vruntime = key;
            run_queue::insert(&self.shared.model.discipline, &mut self.shared.tasks, record, id);
            if self.watches_preemptions {
                self.preempted.push((id, self.shared.tasks[id].cpu, Preemption::Boosted));
            }
        }
    }
}
