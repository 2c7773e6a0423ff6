//! Task groups of the run as cgroups.

use sim_core::ids::{AppId, TaskId};
use sim_core::policy::View;

use crate::ext::abi::{CGROUP_ROOT, WEIGHT_DFL};
use crate::ext::entity::cgroup_weight;
use crate::ext::given::Cgroup;
use crate::ext::scheduler::Scheduler;
use crate::ext::side::Side;
use crate::ext::state::{Context, Direct};

/// The id of a task group as a cgroup: they are numbered behind the root.
fn id(group: u16) -> u64 {
    CGROUP_ROOT + 1 + u64::from(group)
}

/// The cgroup of an application's tasks.
pub(crate) fn of(view: &dyn View, app: AppId) -> u64 {
    view.group_of(app).map_or(CGROUP_ROOT, id)
}

/// The root and all task groups; each one behind the one that it is in.
pub(crate) fn all(view: &dyn View) -> Vec<Cgroup> {
    let mut found = vec![Cgroup { id: CGROUP_ROOT, parent: None, level: 0, weight: WEIGHT_DFL }];
    for (number, group) in (0..).zip(view.groups()) {
        let parent = group.parent.map_or(CGROUP_ROOT, id);
        let around = found.iter().find(|around| around.id == parent);
        let level = around.map_or(1, |around| around.level + 1);
        let weight = cgroup_weight(group.weight);
        found.push(Cgroup { id: id(number), parent: Some(parent), level, weight });
    }
    found
}

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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn task_groups_are_numbered_behind_the_root() {
        assert_eq!([id(0), id(7)], [CGROUP_ROOT + 1, CGROUP_ROOT + 8]);
    }
}
