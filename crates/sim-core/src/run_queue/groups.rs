//! Task groups (`CONFIG_FAIR_GROUP_SCHED`, kernel/sched/fair.c): tasks of a group compete with each other,
//! and the group competes as one entity with the tasks and groups beside it.
//!
//! On each cpu a group has an entity: a record behind those of the tasks, with the virtual times, the lag and
//! the weight of a task. Its weight is the group's weight times the part of the group's queued load that is
//! on this cpu (`calc_group_shares`). Deviation: Linux takes averages of about 32 ms for the load of other
//! cpus; here it is what is queued now.

use crate::engine::state::{Boxed, Cpu, Task};
use crate::ids::{IdVec, TaskId};

use crate::engine::state::ProcessId;
use crate::ids::AppId;
use crate::machine::PerCpu;
use crate::os::TaskGroup;
use crate::policy::TaskState;
use crate::run_queue::{Tasks, delayed_in};
use crate::time::Span;

/// Least weight of a group on a cpu (`MIN_SHARES`).
const MIN_SHARES: u64 = 2;

/// The record of the `number`-th group on a cpu.
pub(crate) fn on(cpu: &Cpu, number: u16) -> TaskId {
    TaskId(cpu.rare.first_group.0 + u32::from(number))
}

/// Appends the records of groups: one for each group as a whole, then one for each group of each cpu.
pub(crate) fn add(tasks: &mut IdVec<TaskId, Task>, cpus: &mut PerCpu<Cpu>, groups: &[TaskGroup]) {
    let mut push = |group: &TaskGroup, runtime: Span| {
        let mut record = Task::new(AppId(0), group.weight, ProcessId::NONE, 0);
        // No event and no policy reaches it.
        record.state = TaskState::Exited;
        record.history = Boxed::ready();
        record.history.group = group.parent.map_or(0, |parent| parent + 1);
        record.history.limited = group.limit.is_some();
        record.history.runtime = runtime.ns() as i64;
        tasks.push(record);
    };
    groups.iter().for_each(|group| push(group, group.limit.map_or(Span::ZERO, |limit| limit.quota)));
    for _ in 0..cpus.len() {
        groups.iter().for_each(|group| push(group, Span::ZERO));
    }
    let count = groups.len() as u32;
    let first = tasks.len() as u32 - cpus.len() as u32 * count;
    for (number, cpu) in cpus.iter_mut().enumerate().filter(|_| count > 0) {
        cpu.rare.first_group = TaskId(first + number as u32 * count);
        cpu.rare.group_count = groups.len() as u16;
    }
}

/// How many records [`add`] has appended to the tasks.
pub(crate) fn records(cpus: &PerCpu<Cpu>, groups: &[TaskGroup]) -> usize {
    (cpus.len() + 1) * groups.len()
}

/// The groups of a cpu.
pub(crate) fn all(cpu: &Cpu) -> impl Iterator<Item = TaskId> + use<> {
    let first = cpu.rare.first_group.0;
    (0..u32::from(cpu.rare.group_count)).map(move |number| TaskId(first + number))
}

/// The number of a group of a cpu, from 1; 0 for a task.
pub(crate) fn number(cpu: &Cpu, id: TaskId) -> u16 {
    if cpu.rare.group_count > 0 && id >= cpu.rare.first_group {
        (id.0 - cpu.rare.first_group.0 + 1) as u16
    } else {
        0
    }
}

/// The group in which a task or group of a cpu is.
#[inline]
pub(crate) fn of(tasks: &Tasks, cpu: &Cpu, id: TaskId) -> u16 {
    if cpu.rare.group_count == 0 { 0 } else { tasks[id].history.group }
}

/// The entity of the group in which a task or group is.
pub(crate) fn parent(tasks: &Tasks, cpu: &Cpu, id: TaskId) -> Option<TaskId> {
    let group = of(tasks, cpu, id);
    (group > 0).then(|| TaskId(cpu.rare.first_group.0 + u32::from(group) - 1))
}

/// A task or group and the groups around it, from the inside out.
pub(crate) fn chain<'a>(
    tasks: &'a Tasks,
    cpu: &'a Cpu,
    id: TaskId,
) -> impl Iterator<Item = TaskId> + use<'a> {
    std::iter::successors(Some(id), move |id| parent(tasks, cpu, *id))
}

/// True when a task that enters ends the delay of itself or of a group around it.
pub(crate) fn wakes_delayed(tasks: &Tasks, cpu: &Cpu, id: TaskId) -> bool {
    let present = |id: &TaskId| tasks[*id].history.delayed || tasks[*id].history.queued;
    tasks[id].history.delayed
        || cpu.rare.group_count > 0
            && chain(tasks, cpu, id).find(present).is_some_and(|id| tasks[id].history.delayed)
}

/// True when a task that sleeps competes with those of a priority level of a cpu, or a group in which nothing
/// is queued does.
pub(crate) fn delays(tasks: &Tasks, cpu: &Cpu, priority: u8) -> bool {
    !cpu.rare.delayed.is_none() && delayed_in(tasks, cpu, priority)
        || all(cpu).any(|id| tasks[id].history.delayed)
}

/// The group as a whole.
pub(crate) fn whole(cpu: &Cpu, entity: TaskId) -> TaskId {
    // The records of the cpus before this one lie between.
    TaskId(entity.0 - (cpu.id.0 + 1) * u32::from(cpu.rare.group_count))
}

/// A task or group enters (or leaves) the queue of the group around it with this weight.
pub(crate) fn count(tasks: &mut Tasks, cpu: &Cpu, id: TaskId, weight: u32, enters: bool) {
    let Some(entity) = parent(tasks, cpu, id) else { return };
    for record in [entity, whole(cpu, entity)] {
        let load = &mut tasks[record].history.load;
        *load = if enters { *load + u64::from(weight) } else { *load - u64::from(weight) };
    }
}

/// The weight of a group on a cpu, from what is queued in it; none while nothing is.
pub(crate) fn share(tasks: &Tasks, cpu: &Cpu, entity: TaskId) -> Option<u32> {
    let whole = whole(cpu, entity);
    let (here, all) = (tasks[entity].history.load, tasks[whole].history.load);
    let weight = u64::from(tasks[whole].weight);
    (here > 0).then(|| (weight * here / all).clamp(MIN_SHARES, weight.max(MIN_SHARES)) as u32)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ids::CpuId;
    use crate::run_queue::eevdf::EevdfParams;
    use crate::run_queue::{Entry, Picked, Rules};
    use crate::time::Time;

    #[test]
    fn a_group_of_another_weight_keeps_its_share_of_request_and_protection() {
        let params = EevdfParams::scaled(1);
        let (mut tasks, mut cpus) = (Tasks::default(), PerCpu::default());
        let (here, there) = (CpuId(0), CpuId(1));
        for cpu in [here, there] {
            let mut task = Task::new(AppId(0), 1024, ProcessId::NONE, 0);
            task.history = Boxed::ready();
            task.history.group = 1;
            tasks.push(task);
            cpus.push(Cpu::new(cpu));
        }
        let group = TaskGroup { name: "group".into(), parent: None, weight: 1024, limit: None };
        add(&mut tasks, &mut cpus, &[group]);
        params.place(&mut tasks, &mut cpus[here], TaskId(0), Entry::Wake, Time::ZERO);
        cpus[here].current = TaskId(0);
        params.picked(&mut tasks, &mut cpus[here], Picked::Anew(Time::ZERO));
        let entity = on(&cpus[here], 0);
        let left = |tasks: &Tasks| {
            let (vruntime, history) = (tasks[entity].vruntime, &tasks[entity].history);
            (history.vdeadline - vruntime, history.protection - vruntime)
        };
        let (request, protection) = left(&tasks);
        assert!(request > 0 && protection > 0, "{request} {protection}");
        // Half of the group's load comes to the other cpu: the same service takes twice the virtual time.
        params.place(&mut tasks, &mut cpus[there], TaskId(1), Entry::Wake, Time::ZERO);
        params.tick(&mut tasks, &mut cpus[here], Time::ZERO);
        assert_eq!(tasks[entity].weight, 512);
        assert_eq!(left(&tasks), (2 * request, 2 * protection));
    }
}
