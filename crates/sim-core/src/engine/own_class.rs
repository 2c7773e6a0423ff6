//! The class and the nice value that a task has of its own, which count again when it is of another class.

use crate::engine::Engine;
use crate::ids::TaskId;
use crate::program::Scheduling;
use crate::run_queue::real_time::OTHERS;

impl Engine<'_> {
    /// A task gets another nice value; true when that changes its weight now. `kept`: also that of a new
    /// process in its place.
    pub(super) fn renice(&mut self, id: TaskId, weight: u32, kept: bool) -> bool {
        if self.shared.classes.is_empty() {
            return true;
        }
        let own = &mut self.shared.classes[id];
        own.nice = weight;
        if kept {
            own.first.1 = weight;
        }
        !self.keeps_weight(id)
    }

    /// A new process has taken the place of a task, in no queue yet: it has the class that the first one had.
    pub(super) fn renew_class(&mut self, id: TaskId) {
        if self.shared.classes.is_empty() {
            return;
        }
        let own = &mut self.shared.classes[id];
        (own.scheduling, own.nice) = own.first;
        (own.weight_left, own.request_left) = (own.nice, false);
        let to = own.scheduling.at_least(self.priority_by_locks(id));
        let (weight, task) = (self.shared.classes[id].weight_as(to), &mut self.shared.tasks[id]);
        (task.weight, task.history.scheduling) = (weight, to);
        if !to.is_real_time() {
            task.priority = if self.real_time { OTHERS } else { task.priority };
        } else {
            task.vruntime = 0;
        }
    }

    /// The virtual runtime of a real-time task is its distance from the minimum of a queue.
    pub(super) fn keeps_distance(&self, id: TaskId) -> bool {
        !self.shared.classes.is_empty() && self.is_real_time(id)
    }

    /// The least priority that a task has by its locks; 0: none.
    pub(super) fn priority_by_locks(&self, id: TaskId) -> u8 {
        let of = |id: TaskId| self.shared.tasks[id].history.scheduling.priority().unwrap_or(0);
        if self.real_time { self.shared.locks.priority_of(id, of) } else { 0 }
    }

    /// Nice values are nothing to a task: it is a real-time task, or one of `SCHED_IDLE` (`set_load_weight`).
    pub(super) fn keeps_weight(&self, id: TaskId) -> bool {
        let scheduling = self.shared.tasks[id].history.scheduling;
        scheduling == Scheduling::Idle || scheduling.is_real_time()
    }
}
