//! The O(1) scheduler of Linux 2.6.18 (kernel/sched.c): an active and an expired array, each in order of
//! priority.
//!
//! A key is the number of the array, counted from the start, times 256, plus the priority (100 best, 139
//! worst). The queue's `min_vruntime` is the active array's number times 256; it moves on when a task of the
//! next array is picked.
//!
//! Deviations: the sleep average drains all the time instead of at each `schedule()`; interactive tasks do
//! not take turns within a slice (`TIMESLICE_GRANULARITY`); time spent waiting in the queue after a sleep
//! earns nothing; a child does not return what it leaves of its slice; `best_expired_prio` is not kept.

use crate::engine::state::{Cpu, Task};
use crate::run_queue::multilevel::{Levels, Parent, Setting, Share, nice};
use crate::run_queue::{Entry, at_least_1us};
use crate::time::{Span, Time};

/// Parameters of the O(1) scheduler (Linux 2.6.18, kernel/sched.c).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct O1Params {
    /// Time slice at nice 0 (`DEF_TIMESLICE`); at least 1 us. Other nice values get a twentieth to eight
    /// times of it.
    pub timeslice: Span,
    /// Sleep average that earns the full bonus (`MAX_SLEEP_AVG`); at least 10 ns.
    pub sleep_average: Span,
    /// Priority bonus for sleepers, up to 5 levels up or down; without it priorities are static.
    pub bonus: bool,
}

/// Distance of the keys of two arrays.
pub(crate) const ARRAY: i64 = 256;
/// Levels of the sleep average (`MAX_BONUS`).
const MAX_BONUS: u64 = 10;
/// A child starts with this much of its parent's bonus, in per cent (`CHILD_PENALTY`).
const CHILD_PENALTY: u64 = 95;
/// A task counts as interactive when its bonus is this much above the middle, at nice 0
/// (`INTERACTIVE_DELTA`).
const INTERACTIVE_DELTA: i64 = 2;

const fn priority_of(key: i64) -> i64 {
    key.rem_euclid(ARRAY)
}

/// The key of the array a key lies in.
pub(crate) const fn array_of(key: i64) -> i64 {
    key - priority_of(key)
}

/// Into the array after the active one, and on by one with each further yield.
const fn next_array(base: i64, key: i64, yields: i64) -> i64 {
    array_of(base) + ARRAY * yields + priority_of(key)
}

/// `static_prio_timeslice`: in proportion to the distance from the worst priority, four times that for
/// negative nice values, at least a twentieth of the default.
fn slice(params: &O1Params, weight: u32) -> Span {
    let nice = nice(weight);
    let base = params.timeslice.ns() * if nice < 0 { 4 } else { 1 };
    let share = (u128::from(base) * (20 - nice) as u128 / 20) as u64;
    Span::from_ns(share.max(params.timeslice.ns() / 20))
}

/// Width of a level of the sleep average.
fn level(params: &O1Params) -> u64 {
    (params.sleep_average.ns() / MAX_BONUS).max(1)
}

/// Running time that drains the sleep average from the bottom of level `bonus`: at level k it drains k times
/// as slowly as time passes, at level 0 as fast.
const fn drain(level: u64, bonus: u64) -> u64 {
    if bonus == 0 { 0 } else { level * (1 + bonus * (bonus - 1) / 2) }
}

/// The bonus, 0 to 10, with so much running time left until the sleep average is used up.
fn bonus(params: &O1Params, rest: u64) -> u64 {
    (1..=MAX_BONUS).rev().find(|k| rest >= drain(level(params), *k)).unwrap_or(0)
}

/// `effective_prio`.
fn priority(params: &O1Params, weight: u32, rest: u64) -> i64 {
    let bonus = if params.bonus { bonus(params, rest) as i64 - MAX_BONUS as i64 / 2 } else { 0 };
    (120 + nice(weight) - bonus).clamp(100, 139)
}

/// `DELTA`: how far a task's priority must be below its static one to count as interactive.
fn delta(weight: u32) -> i64 {
    (nice(weight) + 20) * MAX_BONUS as i64 / 40 - 5 + INTERACTIVE_DELTA
}

/// The time slice is used up: into the expired array, or back into the active one when it is interactive and
/// the expired tasks do not starve.
fn expire(params: &O1Params, setting: &Setting, weight: u32, share: &Share, at: Time) -> i64 {
    let priority = priority(params, weight, share.rest);
    let interactive = params.bonus && priority <= 120 + nice(weight) - delta(weight) && at < setting.starving;
    let array = if interactive || !setting.contested { 0 } else { ARRAY };
    array_of(setting.base) + array + priority
}

/// `recalc_task_prio`: a sleep adds its length to the average; a long one only up to just below where the
/// task would be interactive, so that one sleep alone does not earn the best priority.
fn slept(params: &O1Params, weight: u32, rest: u64, sleep: u64) -> u64 {
    let level = level(params);
    let now = bonus(params, rest);
    let average = now * level + (rest - drain(level, now)) / now.max(1);
    let levels = (MAX_BONUS as i64 / 2 + delta(weight) + 1).max(0) as u64;
    let ceiling = (level * levels).saturating_sub(1);
    let average = if sleep > ceiling && average < ceiling { ceiling } else { average.saturating_add(sleep) };
    let average = average.min(level * MAX_BONUS);
    let bonus = average / level;
    drain(level, bonus) + (average - bonus * level) * bonus.max(1)
}

/// A task enters the active array; a moved one keeps its array and priority.
fn place(params: &O1Params, task: &mut Task, parent: Option<&mut Parent>, base: i64, how: (Entry, Time)) {
    let (entry, now) = how;
    match entry {
        Entry::Move => return,
        Entry::Fork => {
            if let Some(parent) = parent {
                // `sched_fork`: the slice that is left is shared; `wake_up_new_task`: the child has less of a
                // bonus.
                let whole = slice(params, task.weight).ns();
                let left = whole.saturating_sub(parent.share.used);
                task.history.share.used = whole - left.div_ceil(2);
                parent.share.used = whole - left / 2;
                task.history.share.rest =
                    drain(level(params), bonus(params, parent.share.rest) * CHILD_PENALTY / 100);
            }
        }
        Entry::Wake => {
            task.history.share.rest =
                slept(params, task.weight, task.history.share.rest, now.since(task.last_ran).ns());
        }
    }
    task.vruntime = array_of(base) + priority(params, task.weight, task.history.share.rest);
}

impl Levels for O1Params {
    fn moves_at_yield(&self) -> bool {
        true
    }

    fn check_parameters(&self) -> Result<(), String> {
        at_least_1us("timeslice", self.timeslice.min(self.sleep_average))
    }

    fn quantum(&self, _: i64, weight: u32, _: u32) -> Span {
        slice(self, weight)
    }

    fn ran(&self, share: &mut Share, part: u64) {
        share.rest = share.rest.saturating_sub(part);
    }

    fn expire(&self, setting: &Setting, weight: u32, _: i64, share: &mut Share, at: Time) -> i64 {
        expire(self, setting, weight, share, at)
    }

    fn yielded(&self, base: i64, key: i64, yields: i64) -> i64 {
        next_array(base, key, yields)
    }

    fn steady(&self, key: i64, weight: u32, share: &Share) -> bool {
        share.rest == 0 && priority_of(key) == priority(self, weight, 0)
    }

    fn enter(&self, task: &mut Task, parent: Option<&mut Parent>, base: i64, how: (Entry, Time)) {
        place(self, task, parent, base, how);
    }

    /// From when on the expired tasks starve (`EXPIRED_STARVING`): one longest sleep average per runnable
    /// task.
    fn starving(&self, cpu: &Cpu) -> Time {
        cpu.rare.expired_since.saturating_add(self.sleep_average * u64::from(cpu.running))
    }

    /// When the task was in the expired array, the arrays change places.
    fn base(&self, key: i64) -> i64 {
        array_of(key)
    }

    fn note_expired(&self, cpu: &mut Cpu, key: i64, now: Time) {
        if key >= cpu.min_vruntime + ARRAY {
            cpu.rare.expired_since = cpu.rare.expired_since.min(now);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::state::ProcessId;
    use crate::ids::AppId;

    const PARAMS: O1Params =
        O1Params { timeslice: Span::from_ms(100), sleep_average: Span::from_ms(1_000), bonus: true };

    #[test]
    fn slices_are_those_of_the_kernels_comment() {
        // "*5, *100, *800 ms" for nice 19, 0 and -20.
        let ms = |weight| slice(&PARAMS, weight).ns() / 1_000_000;
        assert_eq!([ms(88761), ms(1024), ms(15)], [800, 100, 5]);
    }

    #[test]
    fn sleep_earns_and_running_spends_the_bonus() {
        let ms = |n: u64| n * 1_000_000;
        assert_eq!(priority(&PARAMS, 1024, 0), 125);
        // 500 ms of sleep are the middle; it takes 0.1 + (1 + 2 + 3 + 4) * 0.1 s of running to spend them.
        let rest = slept(&PARAMS, 1024, 0, ms(500));
        assert_eq!((priority(&PARAMS, 1024, rest), rest), (120, ms(1_100)));
        // One long sleep earns just less than an interactive task has, the next 10 ms of sleep make it one.
        let long = slept(&PARAMS, 1024, 0, ms(5_000));
        assert_eq!(priority(&PARAMS, 1024, long), 118);
        assert_eq!(priority(&PARAMS, 1024, slept(&PARAMS, 1024, long, ms(300))), 115);
    }

    #[test]
    fn a_child_starts_with_most_of_its_parents_bonus_and_half_of_its_slice() {
        let ms = |n: u64| n * 1_000_000;
        let full = drain(level(&PARAMS), MAX_BONUS);
        let mut parent = Parent { share: Share { used: ms(40), rest: full, ..Share::NONE }, key: 0 };
        let mut child = Task::new(AppId(0), 1024, ProcessId::NONE, 0);
        place(&PARAMS, &mut child, Some(&mut parent), 0, (Entry::Fork, Time::ZERO));
        // 95 % of a bonus of 10 levels are 9 whole ones: four above the middle.
        assert_eq!(child.history.share.rest, drain(level(&PARAMS), 9));
        assert_eq!(child.vruntime, 116);
        assert_eq!((child.history.share.used, parent.share.used), (ms(70), ms(70)));
    }
}
