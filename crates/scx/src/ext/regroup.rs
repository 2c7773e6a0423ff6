//! A task moves to another cgroup, or the weight of its cgroup changes.

use sim_core::ids::TaskId;

use crate::ext::groups::{all, of};
use crate::ext::scheduler::Scheduler;
use crate::ext::side::Side;
use crate::ext::state::{Context, Direct};

impl<S: Scheduler> Side<'_, S> {
    /// The cgroup of a task or the weight of that is another one.
    pub(crate) fn regroup(&mut self, task: TaskId) {
        let view = self.kernel.view();
        let to = of(view, view.task(task).app);
        let weight = all(view).into_iter().find(|cgroup| cgroup.id == to).map(|cgroup| cgroup.weight);
        let (given, from) = (self.kernel.state.given, self.kernel.state.task(task).cgroup);
        if from != to {
            self.kernel.state.task_mut(task).cgroup = to;
            if given.cgroup_prep_move && self.is_active() {
                let place = ("ops.cgroup_prep_move()", Context::UNLOCKED);
                let result =
                    self.call(place, Direct::No, |ops, kernel| ops.cgroup_prep_move(kernel, task, from, to));
                if result != 0 {
                    self.kernel.refuse(&format!("ops.cgroup_prep_move() failed ({result})"));
                }
            }
            let name = "ops.cgroup_move()";
            self.tell(name, given.cgroup_move, |ops, kernel| ops.cgroup_move(kernel, task, from, to));
        }
        let known = self.kernel.state.cgroups.iter_mut().find(|cgroup| cgroup.id == to);
        if let (Some(cgroup), Some(weight)) = (known, weight)
            && cgroup.weight != weight
        {
            cgroup.weight = weight;
            let name = "ops.cgroup_set_weight()";
            let given = given.cgroup_set_weight;
            self.tell(name, given, |ops, kernel| ops.cgroup_set_weight(kernel, to, weight));
        }
    }
}
