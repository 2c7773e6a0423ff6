//! EEVDF where tasks poll and yield. On the copy of a queue (`engine/polling`), where nothing is delayed: a
//! yield and the pick after it as one, many yields at once, and for how long picks recur. On a copy and on
//! the queue itself: virtual times that yields move on without bound.

use crate::engine::state::{Cpu, Task};
use crate::ids::TaskId;
use crate::run_queue::cfs::weighted;
use crate::run_queue::eevdf::{EevdfParams, pick_within};
use crate::run_queue::eligibility::{Average, Contender};
use crate::run_queue::level::{Level, current, each_waiting};
use crate::run_queue::{FAR_KEY, Keys, Tasks, groups, insert_by, list, remove};
use crate::time::{Span, Time};

/// The current task yields and the best one is picked, as one operation: the average of each level changes
/// only by what was picked last in it, so that one sum over each level is enough. The same as
/// [`Rules::yield_key`] and [`Rules::choose`] of EEVDF, with fewer instructions. None, with nothing changed,
/// when a task of a better priority waits.
#[inline]
pub(crate) fn yield_and_pick(slice: Span, tasks: &mut Tasks, cpu: &mut Cpu, now: Time) -> Option<TaskId> {
    debug_assert!(cpu.rare.delayed.is_none(), "{} has delayed tasks", cpu.id);
    let priority = tasks[cpu.current].priority;
    if cpu.head.some().is_some_and(|head| tasks[head].priority < priority) {
        return None;
    }
    // Compiled once without task groups and once with them.
    if cpu.rare.group_count == 0 {
        yield_in_levels(slice, tasks, cpu, now, false)
    } else {
        debug_assert!(priority == 0, "{} has priority {priority} beside task groups", cpu.current);
        yield_in_levels(slice, tasks, cpu, now, true)
    }
}

/// The current task and the groups around it are charged, then the pick goes from the level beside all groups
/// inwards.
#[inline(always)]
fn yield_in_levels(
    slice: Span,
    tasks: &mut Tasks,
    cpu: &mut Cpu,
    now: Time,
    grouped: bool,
) -> Option<TaskId> {
    let current = cpu.current;
    if now > cpu.charged {
        let span = now - cpu.charged;
        cpu.charged = now;
        let mut next = Some(current);
        while let Some(id) = next {
            let mut one = Contender::of(&tasks[id]);
            one.age(weighted(span, one.weight), slice);
            (tasks[id].vruntime, tasks[id].history.vdeadline) = (one.vruntime, one.vdeadline);
            next = if grouped { groups::parent(tasks, cpu, id) } else { None };
        }
    }
    let (mut level, mut alone) = (Level { priority: tasks[current].priority, group: 0 }, true);
    loop {
        let others = waiting(tasks, cpu, level, grouped);
        alone &= others.load == 0;
        let last = if grouped { picked_last(tasks, cpu, level.group) } else { current };
        if last == current && !alone {
            forfeit(slice, &mut tasks[current], &others);
        }
        let best = best(tasks, cpu, (level, &others), last, grouped);
        if best == current || !grouped {
            return Some(best);
        }
        let group = groups::number(cpu, best);
        if best == last {
            level.group = group;
            continue;
        }
        if last != current {
            let own = waiting(tasks, cpu, Level::of(tasks, cpu, current), grouped);
            forfeit(slice, &mut tasks[current], &own);
        }
        let within = if group > 0 { pick_within(tasks, cpu, Level { group, ..level }) } else { Some(best) };
        debug_assert!(within.is_some(), "nothing is queued in {best} on {}", cpu.id);
        return within;
    }
}

/// What was picked last in a group, or beside all groups: the current task, or a group around it.
#[inline]
fn picked_last(tasks: &Tasks, cpu: &Cpu, group: u16) -> TaskId {
    let mut id = cpu.current;
    while groups::of(tasks, cpu, id) != group
        && let Some(around) = groups::parent(tasks, cpu, id)
    {
        id = around;
    }
    debug_assert!(id == cpu.current || tasks[id].history.chosen, "{id} was not picked on {}", cpu.id);
    id
}

/// A task that yields gives up the rest of its request unless it is ahead of the average of its level.
#[inline(always)]
fn forfeit(slice: Span, task: &mut Task, others: &Average) {
    let mut one = Contender::of(task);
    if others.with(one).allows(one.vruntime) {
        one.forfeit(slice);
        (task.vruntime, task.history.vdeadline) = (one.vruntime, one.vdeadline);
    }
}

/// The average of those of a level that wait.
#[inline(always)]
fn waiting(tasks: &Tasks, cpu: &Cpu, level: Level, grouped: bool) -> Average {
    let mut average = Average::default();
    each_queued(tasks, cpu, level, grouped, |_, task| {
        average.add(task);
        true
    });
    if grouped {
        each_group(tasks, cpu, level, |_, task| average.add(task));
    }
    average
}

/// The pick in a level. The waiting tasks are in the order of their deadlines, so that the first eligible one
/// is the best of them.
#[inline(always)]
fn best(tasks: &Tasks, cpu: &Cpu, (level, others): (Level, &Average), last: TaskId, grouped: bool) -> TaskId {
    if others.load == 0 {
        return last;
    }
    let one = Contender::of(&tasks[last]);
    let average = others.with(one);
    let eligible = average.allows(one.vruntime);
    if eligible && one.vruntime < tasks[last].history.protection {
        return last;
    }
    let (mut best, mut deadline) = (TaskId::NONE, i64::MAX);
    each_queued(tasks, cpu, level, grouped, |id, task| {
        let fits = average.allows(task.vruntime);
        if fits {
            (best, deadline) = (id, task.history.vdeadline);
        }
        !fits
    });
    if grouped {
        each_group(tasks, cpu, level, |id, task| {
            if task.history.vdeadline < deadline && average.allows(task.vruntime) {
                (best, deadline) = (id, task.history.vdeadline);
            }
        });
    }
    if best.is_none() || (eligible && one.vdeadline < deadline) { last } else { best }
}

/// Calls `found` for the tasks of a level that wait, in the order of their deadlines, as long as it returns
/// true.
#[inline(always)]
fn each_queued(
    tasks: &Tasks,
    cpu: &Cpu,
    level: Level,
    grouped: bool,
    mut found: impl FnMut(TaskId, &Task) -> bool,
) {
    let (mut next, mut deadline) = (cpu.head, i64::MIN);
    while let Some(id) = next.some() {
        let task = &tasks[id];
        if cfg!(debug_assertions) && task.priority == level.priority {
            assert!(deadline <= task.history.vdeadline, "{id} is behind one of a later deadline");
            deadline = task.history.vdeadline;
        }
        let here = !grouped || task.history.group == level.group;
        if task.priority > level.priority || (here && !found(id, task)) {
            break;
        }
        next = task.next;
    }
}

/// Calls `found` for the task groups of a level that wait.
#[inline(always)]
fn each_group(tasks: &Tasks, cpu: &Cpu, level: Level, mut found: impl FnMut(TaskId, &Task)) {
    for id in groups::all(cpu) {
        let (task, history) = (&tasks[id], &*tasks[id].history);
        if history.group == level.group && history.queued && !history.chosen {
            found(id, task);
        }
    }
}

/// Each yield may move the virtual runtime of its caller on by a request. Before the numbers exceed 64 bits,
/// the same one is subtracted from all virtual times of the caller's level: true when it was. Linux lets them
/// wrap around.
#[inline]
pub(crate) fn move_origin(params: &EevdfParams, tasks: &mut Tasks, cpu: &mut Cpu, id: TaskId) -> bool {
    let far = tasks[id].vruntime >= FAR_KEY;
    if far {
        subtract_origin(params, tasks, cpu, id);
    }
    far
}

#[cold]
#[inline(never)]
fn subtract_origin(params: &EevdfParams, tasks: &mut Tasks, cpu: &mut Cpu, id: TaskId) {
    let (level, origin) = (Level::of(tasks, cpu, id), tasks[id].vruntime);
    let queued: Vec<TaskId> =
        list(tasks, cpu.head).filter(|id| Level::of(tasks, cpu, *id) == level).collect();
    let mut all = Vec::new();
    each_waiting(tasks, cpu, level, |id, _| all.push(id));
    all.extend(current(tasks, cpu, level));
    // The list has one order for all levels.
    queued.iter().for_each(|id| remove(tasks, cpu, *id));
    for id in all {
        let task = &mut tasks[id];
        // How long ago its protection ended does not matter.
        task.history.protection = task.history.protection.max(task.vruntime) - origin;
        task.history.vdeadline -= origin;
        task.vruntime -= origin;
    }
    queued.iter().for_each(|id| insert_by(params, tasks, cpu, *id));
}

/// The current task has yielded and does so `more` times, every `cycle`. No task waits, so no request is
/// forfeited.
pub(crate) fn yield_again(slice: Span, tasks: &mut Tasks, cpu: &Cpu, cycle: Span, more: u64) {
    let mut next = cpu.current.some();
    while let Some(id) = next {
        let task = &mut tasks[id];
        let mut one = Contender::of(task);
        one.age_often(weighted(cycle, task.weight), more as i64, slice);
        (task.vruntime, task.history.vdeadline) = (one.vruntime, one.vdeadline);
        next = groups::parent(tasks, cpu, id);
    }
}

/// For how many periods, in each of which its virtual runtime grows by `growth`, the group that was picked
/// last in its level stays the pick: as long as its request is not used up, it is eligible, and it is
/// protected or has the earliest deadline.
pub(crate) fn periods_kept(tasks: &Tasks, cpu: &Cpu, id: TaskId, growth: i64) -> u64 {
    let (mut others, mut earliest) = (Average::default(), i64::MAX);
    each_waiting(tasks, cpu, Level::of(tasks, cpu, id), |_, task| {
        others.add(task);
        earliest = earliest.min(task.history.vdeadline);
    });
    let (one, protection) = (Contender::of(&tasks[id]), tasks[id].history.protection);
    let mut last = one.vdeadline - 1;
    if others.load > 0 {
        // It is not ahead of the mean of all as long as it is not ahead of that of the others.
        last = last.min(others.value());
    }
    if earliest <= one.vdeadline {
        last = last.min(protection - 1);
    }
    (last - one.vruntime).max(0) as u64 / growth.max(1) as u64
}

/// For how many periods, in each of which all of its level grow older by `growth` and nothing else changes, a
/// task or group keeps its request, and its protection holds or is past as it was. 0 if more has changed
/// since it had these keys.
pub(crate) fn periods_aged(task: &Task, then: &Keys, growth: i64) -> u64 {
    let (now, protection) = (task.vruntime, task.history.protection);
    let mut last = task.history.vdeadline - 1;
    if now < protection {
        last = last.min(protection - 1);
    } else if then.vruntime < protection {
        return 0;
    }
    if then.only_aged(task) { (last - now).max(0) as u64 / growth.max(1) as u64 } else { 0 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::state::ProcessId;
    use crate::ids::{AppId, CpuId};
    use crate::machine::PerCpu;
    use crate::os::TaskGroup;
    use crate::rng;
    use crate::run_queue::Rules;

    /// A cpu whose current task, the first one, was picked last; virtual runtimes and deadlines.
    fn level(of: &[(i64, i64)]) -> (Tasks, Cpu) {
        let (mut tasks, mut cpu) = (Tasks::default(), Cpu::new(CpuId(0)));
        for (vruntime, vdeadline) in of {
            let mut task = Task::new(AppId(0), 1024, ProcessId::NONE, 0);
            (task.vruntime, task.history.vdeadline) = (*vruntime, *vdeadline);
            let id = tasks.push(task);
            if id == TaskId(0) {
                cpu.current = id;
            } else {
                insert_by(&EevdfParams::scaled(1), &mut tasks, &mut cpu, id);
            }
        }
        (tasks, cpu)
    }

    #[test]
    fn the_pick_stays_while_it_is_eligible_in_its_request_and_protected_or_first() {
        let kept = |of: &[(i64, i64)], protection| {
            let (mut tasks, cpu) = level(of);
            tasks[cpu.current].history.protection = protection;
            periods_kept(&tasks, &cpu, cpu.current, 10)
        };
        assert_eq!(kept(&[(0, 100)], 31), 9, "alone, the end of its request counts");
        assert_eq!(kept(&[(0, 100), (50, 90)], 31), 3, "the protection ends first");
        assert_eq!(kept(&[(0, 100), (50, 100)], 31), 3, "the waiting one first among equals");
        assert_eq!(kept(&[(0, 100), (50, 101)], 31), 5, "the mean of the others comes first");
        assert_eq!(kept(&[(0, 100), (50, 90)], 100), 5, "and under protection");
        assert_eq!(kept(&[(0, 40), (50, 200)], 0), 3, "a new request may go behind others");
    }

    #[test]
    fn those_that_only_grow_older_recur_within_request_and_protection() {
        let aged = |now: i64, protection: i64, then: i64| {
            let (mut tasks, _) = level(&[(now, 100)]);
            let task = &mut tasks[TaskId(0)];
            task.history.protection = protection;
            let keys = Keys { vruntime: then, ..Keys::of(task) };
            (periods_aged(task, &keys, 10), periods_aged(task, &Keys { vdeadline: 99, ..keys }, 10))
        };
        assert_eq!(aged(20, 100, 10), (7, 0), "another request is another state");
        assert_eq!(aged(20, 51, 10), (3, 0));
        assert_eq!(aged(20, 20, 10), (0, 0), "its protection has ended since");
        assert_eq!(aged(20, 10, 10), (7, 0), "it had ended before");
    }

    #[test]
    fn a_yield_and_pick_in_one_are_what_the_rules_do_one_after_the_other() {
        let params = EevdfParams::scaled(1);
        let mut state = 1;
        for case in 0..2_000 {
            let mut draw = |bound: u64| (u64::from(rng::next(&mut state)) * bound) >> 32;
            let one = |draw: &mut dyn FnMut(u64) -> u64| {
                let vruntime = draw(8) as i64 * 250_000;
                (vruntime, vruntime + (1 + draw(5) as i64) * 250_000)
            };
            let of: Vec<_> = (0..=draw(4)).map(|_| one(&mut draw)).collect();
            let (mut tasks, mut cpu) = level(&of);
            for id in tasks.ids() {
                tasks[id].weight = [3, 512, 1024][draw(3) as usize];
                tasks[id].history.protection = tasks[id].vruntime + draw(4) as i64 * 250_000;
                tasks[id].history.group = draw(3) as u16;
            }
            // The second group is in the first one or beside it.
            let group = TaskGroup { name: String::new(), parent: None, weight: 1024, limit: None };
            let inner = TaskGroup { parent: Some(0).filter(|_| draw(2) == 0), ..group.clone() };
            let mut cpus = PerCpu::filled(1, cpu);
            groups::add(&mut tasks, &mut cpus, &[group, inner]);
            cpu = cpus[CpuId(0)].clone();
            for id in groups::all(&cpu).collect::<Vec<_>>() {
                (tasks[id].vruntime, tasks[id].history.vdeadline) = one(&mut draw);
                tasks[id].history.protection = tasks[id].vruntime + draw(4) as i64 * 250_000;
                let holds = |task: TaskId| groups::chain(&tasks, &cpu, task).any(|around| around == id);
                let (queued, chosen) = ((0..of.len() as u32).map(TaskId).any(holds), holds(cpu.current));
                (tasks[id].history.queued, tasks[id].history.chosen) = (queued, chosen);
            }
            cpu.charged = Time::from_ns(1_000);
            let now = cpu.charged + Span::from_us(draw(3) * 250);
            let (mut others, mut other) = (tasks.clone(), cpu.clone());
            let picked = yield_and_pick(params.slice, &mut tasks, &mut cpu, now);
            params.yield_key(&mut others, &mut other, cpu.current, now);
            let current = Some(cpu.current);
            assert_eq!(picked, params.choose(&mut others, &mut other, current, now), "case {case}");
            assert!(tasks.iter().map(Keys::of).eq(others.iter().map(Keys::of)), "case {case}");
            assert_eq!(cpu.charged, other.charged);
        }
    }
}
