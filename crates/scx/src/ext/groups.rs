//! Task groups of the run as cgroups.

use sim_core::ids::AppId;
use sim_core::policy::View;

use crate::ext::abi::{CGROUP_ROOT, WEIGHT_DFL};
use crate::ext::entity::cgroup_weight;
use crate::ext::given::Cgroup;

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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn task_groups_are_numbered_behind_the_root() {
        assert_eq!([id(0), id(7)], [CGROUP_ROOT + 1, CGROUP_ROOT + 8]);
    }
}
