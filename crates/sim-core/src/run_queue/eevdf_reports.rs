//! What EEVDF reports of a task: its request, and the rule that decided about it.

use crate::engine::state::Cpu;
use crate::ids::TaskId;
use crate::observe::{Request, Verdict};
use crate::run_queue::eevdf::pick;
use crate::run_queue::eevdf_params::{EevdfParams, Preemption};
use crate::run_queue::level::average_of;
use crate::run_queue::{Requested, Tasks};

impl Requested for EevdfParams {
    fn request(&self, tasks: &Tasks, cpu: &Cpu, id: TaskId) -> (Request, i64) {
        let task = &tasks[id];
        let average = average_of(tasks, cpu, id);
        let protected_until = (cpu.current == id).then_some(task.history.protection);
        let eligible = average.allows(task.vruntime);
        (Request { deadline: task.history.vdeadline, eligible, protected_until }, average.value())
    }

    fn rule(&self, tasks: &Tasks, cpu: &Cpu, id: TaskId, verdict: Verdict) -> &'static str {
        let eligible = |id: TaskId| average_of(tasks, cpu, id).allows(tasks[id].vruntime);
        let protected = cpu.current.some().is_some_and(|current| {
            eligible(current) && tasks[current].vruntime < tasks[current].history.protection
        });
        let lazily = || self.preemption == Preemption::Lazy && pick(tasks, cpu) == Some(id);
        match verdict {
            Verdict::Waits if lazily() => "it runs when the cpu next returns to user mode",
            Verdict::Waits if !eligible(id) => "it is not eligible: its virtual runtime is above the mean",
            Verdict::Waits if protected => "the current task is eligible and protected",
            Verdict::Waits => "another eligible task has an earlier deadline",
            _ if cpu.current == id && protected => "the current task is eligible and protected",
            _ if cpu.current == id && !eligible(id) => "no waiting task is eligible",
            _ => "earliest deadline among the eligible tasks",
        }
    }
}
