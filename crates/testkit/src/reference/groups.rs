//! Task groups of the reference engine: what competes on a cpu is a task or a group.

use sim_core::os::GroupShares;

use super::Reference;
use super::records::{Ent, Keys};

impl Reference<'_> {
    /// The group of a task or group, from 1; 0 outside of all. The queues have no groups under an order
    /// that a policy brings.
    pub(super) fn group_of(&self, e: Ent) -> usize {
        if self.model.groups.is_empty() {
            return 0;
        }
        let group = match e {
            Ent::Task(t) if self.in_class(t) => None,
            Ent::Task(t) => self.tasks[t].group,
            Ent::Group(g) => self.model.groups[g].parent,
        };
        group.map_or(0, |group| usize::from(group) + 1)
    }

    /// Priority level and group.
    pub(super) fn place_of(&self, _: usize, e: Ent) -> (u8, usize) {
        let priority = match e {
            Ent::Task(t) => self.tasks[t].priority,
            Ent::Group(_) => 0,
        };
        (priority, self.group_of(e))
    }

    /// One and the groups around it, from the inside out.
    pub(super) fn around(&self, _: usize, e: Ent) -> Vec<Ent> {
        let mut all = vec![e];
        let mut group = self.group_of(e);
        while group > 0 {
            all.push(Ent::Group(group - 1));
            group = self.group_of(Ent::Group(group - 1));
        }
        all
    }

    pub(super) fn keys(&self, c: usize, e: Ent) -> Keys {
        match e {
            Ent::Task(t) => {
                let task = &self.tasks[t];
                Keys {
                    weight: task.weight,
                    v: task.vruntime,
                    deadline: task.vdeadline,
                    protection: task.protection,
                    vlag: task.vlag,
                    slice: task
                        .own_slice
                        .unwrap_or_else(|| self.eevdf().map_or(0, |params| params.slice.ns())),
                }
            }
            Ent::Group(g) => self.cpus[c].groups[g].keys,
        }
    }

    pub(super) fn set_keys(&mut self, c: usize, e: Ent, keys: Keys) {
        match e {
            Ent::Task(t) => {
                let task = &mut self.tasks[t];
                (task.vruntime, task.vdeadline) = (keys.v, keys.deadline);
                (task.protection, task.vlag) = (keys.protection, keys.vlag);
            }
            Ent::Group(g) => self.cpus[c].groups[g].keys = keys,
        }
    }

    /// The part of its weight that a group has on a cpu; none if nothing is queued in it there.
    pub(super) fn part_of_weight(&self, shares: GroupShares, c: usize, g: usize) -> Option<u32> {
        if self.load_of(c, g) == 0 {
            return None;
        }
        let (here, all) = match shares {
            GroupShares::Averaged => self.loads_for_share(c, g),
            GroupShares::Queued => {
                (self.load_of(c, g), (0..self.cpus.len()).map(|other| self.load_of(other, g)).sum())
            }
        };
        let whole = u64::from(self.shares[g]);
        Some((whole * here / all).clamp(2, whole.max(2)) as u32)
    }

    /// Sum of the weights that are queued in a group on a cpu.
    pub(super) fn load_of(&self, c: usize, g: usize) -> u64 {
        let cpu = &self.cpus[c];
        let tasks = cpu.counted.iter().map(|t| Ent::Task(*t));
        let groups = (0..cpu.groups.len()).filter(|g| cpu.groups[*g].queued).map(Ent::Group);
        let inside = tasks.chain(groups).filter(|e| self.group_of(*e) == g + 1);
        inside.map(|e| u64::from(self.keys(c, e).weight)).sum()
    }
}
