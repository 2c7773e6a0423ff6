//! Task groups (`CONFIG_FAIR_GROUP_SCHED`, kernel/sched/fair.c): tasks of a group compete with each other,
//! and the group competes as one entity with the tasks and groups beside it.
//!
//! On each cpu a group has an entity: a record behind those of the tasks, with the virtual times, the lag and
//! the weight of a task. Its weight is the group's weight times the part of the group's load that is on this
//! cpu (`calc_group_shares`); [`GroupShares`] says what load.

use crate::engine::state::{Boxed, Cpu, Task};
use crate::ids::{IdVec, TaskId};

use crate::engine::state::ProcessId;
use crate::ids::AppId;
use crate::machine::PerCpu;
use crate::os::TaskGroup;
use crate::policy::TaskState;
use crate::run_queue::level::Level;
use crate::run_queue::{Tasks, delayed_in, group_loads};
use crate::time::{Span, Time};

/// By what load of its queues the weight of a task group is divided among the cpus.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum GroupShares {
    /// The average with a half-life of 32 ms, with what sleeps, or on the cpu itself what is queued, if that
    /// is more (`calc_group_shares` of kernel/sched/fair.c, since 4.15).
    Averaged,
    /// What is queued at the instant.
    Queued,
}

/// Least weight of a group on a cpu (`MIN_SHARES`).
const MIN_SHARES: u64 = 2;

/// The record of the `number`-th group on a cpu.
pub(crate) fn on(cpu: &Cpu, number: u16) -> TaskId {
    TaskId(cpu.rare.first_group.0 + u32::from(number))
}

/// Appends the records of groups: one for each group as a whole, then for each cpu one for each group and one
/// for the queue of the cpu itself, which keeps its load only.
pub(crate) fn add(tasks: &mut IdVec<TaskId, Task>, cpus: &mut PerCpu<Cpu>, groups: &[TaskGroup]) {
    if groups.is_empty() {
        return;
    }
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
        push(&TaskGroup { name: String::new(), parent: None, weight: 0, limit: None }, Span::ZERO);
    }
    let count = groups.len() as u32;
    let first = tasks.len() as u32 - cpus.len() as u32 * (count + 1);
    for (number, cpu) in cpus.iter_mut().enumerate() {
        cpu.rare.first_group = TaskId(first + number as u32 * (count + 1));
        cpu.rare.group_count = groups.len() as u16;
    }
}

/// How many records [`add`] has appended to the tasks.
pub(crate) fn records(cpus: &PerCpu<Cpu>, groups: &[TaskGroup]) -> usize {
    if groups.is_empty() { 0 } else { (cpus.len() + 1) * groups.len() + cpus.len() }
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

/// Where a task or group that has entered meets the current task (`find_matching_se`): the two of their
/// chains that compete with each other.
pub(crate) fn meeting(tasks: &Tasks, cpu: &Cpu, id: TaskId, current: TaskId) -> Option<(TaskId, TaskId)> {
    let level = |id: TaskId| Level::of(tasks, cpu, id);
    let meets = |one: TaskId| {
        let here = level(one);
        Some((one, chain(tasks, cpu, current).find(|other| level(*other) == here)?))
    };
    chain(tasks, cpu, id).find_map(meets)
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
    let count = u32::from(cpu.rare.group_count);
    TaskId(entity.0 - cpu.id.0 * (count + 1) - count)
}

/// A task or group enters (or leaves) its queue with its weight.
pub(crate) fn count(tasks: &mut Tasks, cpu: &Cpu, id: TaskId, enters: bool, now: Time) {
    if cpu.rare.group_count == 0 {
        return;
    }
    let stops = !enters && chain(tasks, cpu, id).skip(1).any(|id| tasks[id].history.is_throttled());
    group_loads::count(tasks, cpu, id, (enters, stops), now);
    let weight = tasks[id].weight;
    count_in_all(tasks, cpu, id, weight, enters);
}

/// The same for the group around it as a whole.
fn count_in_all(tasks: &mut Tasks, cpu: &Cpu, id: TaskId, weight: u32, enters: bool) {
    if let Some(entity) = parent(tasks, cpu, id) {
        let load = &mut tasks[whole(cpu, entity)].history.load;
        *load = if enters { *load + u64::from(weight) } else { *load - u64::from(weight) };
    }
}

/// A group that is queued on a cpu gets another weight.
pub(crate) fn change_weight(tasks: &mut Tasks, cpu: &Cpu, entity: TaskId, weight: u32, now: Time) {
    let before = tasks[entity].weight;
    count_in_all(tasks, cpu, entity, before, false);
    group_loads::reweigh(tasks, cpu, entity, weight, now);
    count_in_all(tasks, cpu, entity, weight, true);
}

/// The weight of a group on a cpu; none while nothing is queued in it.
pub(crate) fn share(shares: GroupShares, tasks: &Tasks, cpu: &Cpu, entity: TaskId, now: Time) -> Option<u32> {
    let (whole, queued) = (whole(cpu, entity), tasks[entity].history.load);
    let (here, all) = match shares {
        _ if queued == 0 => return None,
        GroupShares::Averaged => group_loads::for_share(tasks, cpu, entity, now),
        GroupShares::Queued => (queued, tasks[whole].history.load),
    };
    let weight = u64::from(tasks[whole].weight);
    Some((weight * here / all).clamp(MIN_SHARES, weight.max(MIN_SHARES)) as u32)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::decay::PERIOD_NS;
    use crate::ids::CpuId;
    use crate::observe::LeaveReason;
    use crate::run_queue::eevdf_params::EevdfParams;
    use crate::run_queue::{Entry, Picked, Rules};

    /// A group of weight 1,024 with a task on each of two cpus.
    struct Two {
        params: EevdfParams,
        tasks: Tasks,
        cpus: PerCpu<Cpu>,
    }

    const HERE: CpuId = CpuId(0);
    const THERE: CpuId = CpuId(1);

    fn periods(number: u64) -> Time {
        Time::from_ns(number * PERIOD_NS)
    }

    impl Two {
        fn new(group_shares: GroupShares) -> Self {
            let params = EevdfParams { group_shares, ..EevdfParams::scaled(1) };
            let (mut tasks, mut cpus) = (Tasks::default(), PerCpu::default());
            for cpu in [HERE, THERE] {
                let mut task = Task::new(AppId(0), 1024, ProcessId::NONE, 0);
                task.history = Boxed::ready();
                task.history.group = 1;
                tasks.push(task);
                cpus.push(Cpu::new(cpu));
            }
            let group = TaskGroup { name: "group".into(), parent: None, weight: 1024, limit: None };
            add(&mut tasks, &mut cpus, &[group]);
            Self { params, tasks, cpus }
        }

        /// The task of a cpu enters and runs.
        fn enters(&mut self, cpu: CpuId, at: Time) {
            let id = TaskId(cpu.0);
            self.params.place(&mut self.tasks, &mut self.cpus[cpu], id, Entry::Wake, at);
            self.cpus[cpu].current = id;
            self.params.picked(&mut self.tasks, &mut self.cpus[cpu], Picked::Anew(at));
        }

        fn sleeps(&mut self, cpu: CpuId, at: Time) {
            let (params, id) = (self.params, TaskId(cpu.0));
            params.charge(&mut self.tasks, &mut self.cpus[cpu], at);
            params.leave(&mut self.tasks, &mut self.cpus[cpu], id, LeaveReason::Slept, at);
            self.cpus[cpu].current = TaskId::NONE;
        }

        /// The weight of the group on a cpu after a tick.
        fn weight(&mut self, cpu: CpuId, at: Time) -> u32 {
            self.params.tick(&mut self.tasks, &mut self.cpus[cpu], at);
            self.tasks[on(&self.cpus[cpu], 0)].weight
        }
    }

    #[test]
    fn a_group_of_another_weight_keeps_its_share_of_request_and_protection() {
        let mut two = Two::new(GroupShares::Queued);
        two.enters(HERE, Time::ZERO);
        let entity = on(&two.cpus[HERE], 0);
        let left = |tasks: &Tasks| {
            let (vruntime, history) = (tasks[entity].vruntime, &tasks[entity].history);
            (history.vdeadline - vruntime, history.protection - vruntime)
        };
        let (request, protection) = left(&two.tasks);
        assert!(request > 0 && protection > 0, "{request} {protection}");
        // Half of the group's load comes to the other cpu: the same service takes twice the virtual time.
        two.enters(THERE, Time::ZERO);
        assert_eq!(two.weight(HERE, Time::ZERO), 512);
        assert_eq!(left(&two.tasks), (2 * request, 2 * protection));
    }

    #[test]
    fn what_sleeps_counts_in_the_share_with_a_half_life_of_32_periods() {
        for (shares, expected) in [(GroupShares::Averaged, [512, 683, 819]), (GroupShares::Queued, [1024; 3])]
        {
            let mut two = Two::new(shares);
            two.enters(HERE, periods(0));
            two.enters(THERE, periods(0));
            assert_eq!(two.weight(HERE, periods(1)), 512, "{shares:?}");
            two.sleeps(THERE, periods(1_000));
            // 1024 / (1024 + 1024), / (1024 + 512), / (1024 + 256) of the weight; what fades is rounded down.
            let found = [1_000, 1_032, 1_064].map(|at| two.weight(HERE, periods(at)));
            assert_eq!(found, expected, "{shares:?}");
        }
    }

    #[test]
    fn turns_far_below_the_half_life_leave_two_thirds() {
        // The other task sleeps for a period of 1,024 us after each one that it runs.
        let mut two = Two::new(GroupShares::Averaged);
        two.enters(HERE, periods(0));
        for turn in 0..500 {
            two.enters(THERE, periods(2 * turn));
            two.sleeps(THERE, periods(2 * turn + 1));
            let weight = two.weight(HERE, periods(2 * turn + 1));
            assert!(turn < 200 || weight.abs_diff(1024 * 2 / 3) <= 10, "{weight}");
            // Where it runs, what is queued counts: 1024 / (1024 + 1024).
            assert!(turn < 200 || tasks_weight(&two).abs_diff(512) <= 8, "{}", tasks_weight(&two));
        }
    }

    /// The weight of the group on the other cpu when its task entered last.
    fn tasks_weight(two: &Two) -> u32 {
        two.tasks[on(&two.cpus[THERE], 0)].weight
    }

    #[test]
    fn a_task_counts_by_the_weight_of_its_group_and_brings_that_along() {
        let mut two = Two::new(GroupShares::Averaged);
        two.enters(HERE, periods(0));
        two.enters(THERE, periods(0));
        let now = periods(1_000);
        for cpu in [HERE, THERE] {
            assert_eq!(two.weight(cpu, now), 512);
        }
        // The group has 1,024 in all, half of it on each cpu, and its task there counts as much.
        for (cpu, task) in [(HERE, TaskId(0)), (THERE, TaskId(1))] {
            let (whole, one) = (
                group_loads::of_cpu(&two.tasks, &two.cpus[cpu], now),
                group_loads::of_task(&two.tasks, &two.cpus[cpu], task, now),
            );
            assert!(whole.abs_diff(512) <= 8 && one.abs_diff(512) <= 8, "{whole} {one}");
        }
        // Both tasks on one cpu: all of the group's load is there, half of it for each.
        let (params, id) = (two.params, TaskId(1));
        params.charge(&mut two.tasks, &mut two.cpus[THERE], now);
        params.leave(&mut two.tasks, &mut two.cpus[THERE], id, LeaveReason::Moved, now);
        two.cpus[THERE].current = TaskId::NONE;
        params.place(&mut two.tasks, &mut two.cpus[HERE], id, Entry::Move, now);
        assert_eq!(two.weight(HERE, now), 1024);
        assert_eq!(group_loads::of_cpu(&two.tasks, &two.cpus[THERE], now), 0);
        let whole = group_loads::of_cpu(&two.tasks, &two.cpus[HERE], now);
        let one = group_loads::of_task(&two.tasks, &two.cpus[HERE], id, now);
        assert!(whole.abs_diff(1024) <= 16 && one.abs_diff(512) <= 8, "{whole} {one}");
    }
}
