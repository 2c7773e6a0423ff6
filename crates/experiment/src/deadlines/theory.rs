//! What theory says of periodic tasks on one cpu: use, bounds, response times, whether all deadlines are met.
//!
//! All times are whole nanoseconds, and all answers are exact but for the bounds, which are irrational. The
//! tests release the tasks together and at random offsets on a cpu of their own and compare.

use std::collections::BTreeSet;

/// Steps after which an analysis gives up: tasks that use all of a cpu can have busy periods of any length.
const MOST: usize = 1 << 20;

/// A periodic task, times in ns.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Periodic {
    /// Cpu time of a job at most; above 0.
    pub work: u64,
    /// From one release to the next at least; above 0.
    pub period: u64,
    /// From the release to the deadline; above 0.
    pub deadline: u64,
    /// The least is the best. Equal ones are counted as if each came before the other.
    pub priority: i64,
}

/// The share of a cpu that tasks use, 0 and more.
#[must_use]
pub fn utilisation(tasks: &[Periodic]) -> f64 {
    tasks.iter().map(|task| task.work as f64 / task.period as f64).sum()
}

/// Up to this use rate-monotonic priorities meet all deadlines of `tasks` tasks, if these are the periods:
/// n (2^(1/n) - 1) (Liu and Layland, JACM 20(1), 1973).
#[must_use]
pub fn rate_bound(tasks: usize) -> f64 {
    let n = tasks.max(1) as f64;
    n * (2_f64.powf(1.0 / n) - 1.0)
}

/// The jobs of a task that are released in an interval of this length, the most.
fn released(task: &Periodic, length: u64) -> u64 {
    length.div_ceil(task.period)
}

/// The least length that these tasks, released together and then as often as they may be, keep the cpu busy,
/// from `begin` on, where each demands the work that `demand` states for a length; none when it is not found.
fn fixed_point(begin: u64, demand: impl Fn(u64) -> Option<u64>) -> Option<u64> {
    let mut length = begin;
    for _ in 0..MOST {
        let next = demand(length)?;
        if next == length {
            return Some(length);
        }
        length = next;
    }
    None
}

/// The most cpu time that tasks can ask for in a length.
fn demand<'a>(tasks: impl Iterator<Item = &'a Periodic>, length: u64) -> Option<u64> {
    let mut sum = 0_u64;
    for task in tasks {
        sum = sum.checked_add(released(task, length).checked_mul(task.work)?)?;
    }
    Some(sum)
}

/// The longest response of each task under preemptive fixed priorities on one cpu; none for one that has no
/// bound, or none that is found (Lehoczky, RTSS 1990: all jobs of the busy period of its priority count, so
/// that deadlines may be beyond periods). Of equal priorities each counts as if the other came before it.
#[must_use]
pub fn fixed_responses(tasks: &[Periodic]) -> Vec<Option<u64>> {
    (0..tasks.len()).map(|task| fixed_response(tasks, task, true)).collect()
}

/// Whether fixed priorities meet all deadlines of these tasks on one cpu, whenever they are released; none
/// when that depends on the order of equal ones, or is not found.
#[must_use]
pub fn fixed_meets_all(tasks: &[Periodic]) -> Option<bool> {
    let late = |equals: bool| {
        let mut found = Some(false);
        for (number, task) in tasks.iter().enumerate() {
            match fixed_response(tasks, number, equals) {
                Some(most) if most <= task.deadline => {}
                Some(_) => return Some(true),
                None => found = None,
            }
        }
        found
    };
    match (late(true), late(false)) {
        (Some(false), _) => Some(true),
        (_, Some(true)) => Some(false),
        _ if utilisation(tasks) > 1.0 + 1e-12 => Some(false),
        _ => None,
    }
}

fn fixed_response(tasks: &[Periodic], number: usize, equals: bool) -> Option<u64> {
    let own = &tasks[number];
    let others = || {
        let before = |(at, other): &(usize, &Periodic)| {
            *at != number && (other.priority < own.priority || equals && other.priority == own.priority)
        };
        tasks.iter().enumerate().filter(before).map(|(_, other)| other)
    };
    let mut worst = 0;
    let mut ends = 0;
    for job in 0..MOST as u64 {
        let works = (job + 1).checked_mul(own.work)?;
        ends = fixed_point(works.max(ends), |length| demand(others(), length)?.checked_add(works))?;
        worst = worst.max(ends - job * own.period);
        if ends <= (job + 1) * own.period {
            return Some(worst);
        }
        if utilisation(&others().chain([own]).copied().collect::<Vec<_>>()) > 1.0 + 1e-12 {
            return None;
        }
    }
    None
}

/// How long tasks that are released together keep the cpu busy at first; none when it is not found.
fn busy_period(tasks: &[Periodic]) -> Option<u64> {
    let begin = tasks.iter().try_fold(0_u64, |sum, task| sum.checked_add(task.work))?;
    fixed_point(begin, |length| demand(tasks.iter(), length))
}

/// The longest response of each task under preemptive EDF on one cpu; none for one that has no bound, or none
/// that is found (Spuri, INRIA report 2772, 1996: the worst case is in a busy period of the others, released
/// together, in which the task comes so that its deadline is that of another job).
#[must_use]
pub fn edf_responses(tasks: &[Periodic]) -> Vec<Option<u64>> {
    let busy = if utilisation(tasks) > 1.0 + 1e-12 { None } else { busy_period(tasks) };
    (0..tasks.len()).map(|task| edf_response(tasks, task, busy?)).collect()
}

fn edf_response(tasks: &[Periodic], number: usize, busy: u64) -> Option<u64> {
    let own = &tasks[number];
    // When a job of the task can come, so that its deadline is that of a job of a task released at 0.
    let mut comes = BTreeSet::new();
    for task in tasks {
        let mut deadline = task.deadline;
        while deadline < busy.saturating_add(own.deadline) {
            if let Some(at) = deadline.checked_sub(own.deadline).filter(|at| *at < busy) {
                comes.insert(at);
            }
            if comes.len() > MOST {
                return None;
            }
            deadline = deadline.checked_add(task.period)?;
        }
    }
    let mut worst = own.work;
    for at in comes {
        // Its first job is released when the period allows it, the first ones of the others at 0.
        let (first, jobs) = (at % own.period, at / own.period + 1);
        let until = at + own.deadline;
        let asked = |length: u64| {
            let mut sum = released(own, length.saturating_sub(first)).min(jobs).checked_mul(own.work)?;
            for (other, task) in tasks.iter().enumerate() {
                if other != number && task.deadline <= until {
                    let due = (until - task.deadline) / task.period + 1;
                    sum = sum.checked_add(released(task, length).min(due).checked_mul(task.work)?)?;
                }
            }
            Some(sum)
        };
        let ends = fixed_point(asked(1)?, asked)?;
        worst = worst.max(ends.saturating_sub(at));
    }
    Some(worst)
}

/// True when EDF, and with it any order at all, meets all deadlines of these tasks on one cpu, whenever they
/// are released; none when it is not found (the processor demand criterion of Baruah, Rosier and Howell,
/// 1990, checked backwards as by Zhang and Burns, IEEE Transactions on Computers 58(9), 2009).
#[must_use]
pub fn edf_meets_all(tasks: &[Periodic]) -> Option<bool> {
    if utilisation(tasks) > 1.0 + 1e-12 {
        return Some(false);
    }
    if tasks.iter().all(|task| task.deadline >= task.period) {
        return Some(true);
    }
    let busy = busy_period(tasks)?;
    // The work of all jobs whose release and deadline are within the first `length`.
    let due = |length: u64| {
        tasks.iter().try_fold(0_u64, |sum, task| {
            let jobs = length.checked_sub(task.deadline).map_or(0, |rest| rest / task.period + 1);
            sum.checked_add(jobs.checked_mul(task.work)?)
        })
    };
    // The last deadline before an instant.
    let before = |length: u64| {
        let last = |task: &Periodic| {
            let rest = length.checked_sub(1)?.checked_sub(task.deadline)?;
            Some(rest / task.period * task.period + task.deadline)
        };
        tasks.iter().filter_map(last).max()
    };
    let Some(first) = tasks.iter().map(|task| task.deadline).min() else { return Some(true) };
    let Some(mut at) = before(busy.saturating_add(1)) else { return Some(true) };
    for _ in 0..MOST {
        let work = due(at)?;
        if work > at {
            return Some(false);
        }
        if work <= first {
            return Some(true);
        }
        at = if work < at { work } else { before(at)? };
    }
    None
}

#[cfg(test)]
mod tests {
    use sim_core::rng::{Purpose, below, draw, key};

    use super::*;

    fn task(work: u64, period: u64, deadline: u64, priority: i64) -> Periodic {
        Periodic { work, period, deadline, priority }
    }

    /// Rate-monotonic tasks with deadlines at the end of periods.
    fn rate(times: &[(u64, u64)]) -> Vec<Periodic> {
        times.iter().map(|(work, period)| task(*work, *period, *period, *period as i64)).collect()
    }

    #[test]
    fn examples_of_the_literature() {
        // Burns and Wellings, Real-Time Systems and Programming Languages: task set C.
        assert_eq!(fixed_responses(&rate(&[(40, 80), (10, 40), (5, 20)])), [Some(80), Some(15), Some(5)]);
        // Lehoczky 1990: the fifth job of the second task has the longest response.
        let lehoczky = [task(26, 70, 70, 1), task(62, 100, 120, 2)];
        assert_eq!(fixed_responses(&lehoczky), [Some(26), Some(118)]);
        // Liu and Layland 1973: 2 (sqrt 2 - 1), and ln 2 in the limit.
        assert!(
            (rate_bound(2) - 0.828_427).abs() < 1e-6
                && (rate_bound(100_000) - std::f64::consts::LN_2).abs() < 1e-5
        );
        // More than there is: no bound for the worst priority; EDF meets nothing for sure.
        let over = rate(&[(3, 5), (5, 10)]);
        assert_eq!(fixed_responses(&over), [Some(3), None]);
        assert_eq!((edf_meets_all(&over), edf_responses(&over)), (Some(false), vec![None, None]));
        assert_eq!((fixed_meets_all(&over), fixed_meets_all(&lehoczky)), (Some(false), Some(true)));
        // Of equal priorities the one that came first goes on: whether B can delay A beyond 5 is open.
        let equals = [task(3, 10, 5, 1), task(1, 2, 2, 1)];
        assert_eq!((fixed_responses(&equals)[0], fixed_meets_all(&equals)), (Some(6), None));
        // 2/5 + 4/7: EDF meets what fixed priorities miss.
        let close = rate(&[(2, 5), (4, 7)]);
        assert_eq!(fixed_responses(&close), [Some(2), Some(8)]);
        assert_eq!(edf_meets_all(&close), Some(true));
    }

    /// The longest response of each task in a schedule of `length` from these releases on, unit by unit; by
    /// priority, or by deadline, where this task comes last among equals.
    fn simulated(tasks: &[Periodic], offsets: &[u64], length: u64, edf: Option<usize>) -> Vec<u64> {
        // (key, task, release, left)
        let mut jobs: Vec<(u64, usize, u64, u64)> = Vec::new();
        let mut worst = vec![0; tasks.len()];
        for now in 0..length {
            for (number, task) in tasks.iter().enumerate() {
                if now >= offsets[number] && (now - offsets[number]).is_multiple_of(task.period) {
                    let key = if edf.is_some() { now + task.deadline } else { task.priority as u64 };
                    jobs.push((key, number, now, task.work));
                }
            }
            // Of one task the oldest job first.
            if let Some(at) = (0..jobs.len())
                .min_by_key(|at| (jobs[*at].0, Some(jobs[*at].1) == edf, jobs[*at].2, jobs[*at].1))
            {
                jobs[at].3 -= 1;
                if jobs[at].3 == 0 {
                    let (_, number, release, _) = jobs.swap_remove(at);
                    worst[number] = worst[number].max(now + 1 - release);
                }
            }
        }
        worst
    }

    /// 200 sets of two to five tasks with different priorities.
    fn drawn() -> impl Iterator<Item = (u64, Vec<Periodic>)> {
        (0..200).map(|set| {
            let (key, mut n) = (key(set, Purpose::Test, 45), 0);
            let mut one = |most: u64| {
                n += 1;
                below(most, draw(key, n)) + 1
            };
            let count = one(4) + 1;
            let periods = [4, 5, 6, 8, 10, 12, 15, 20];
            let tasks = (0..count).map(|number| {
                let period = periods[one(8) as usize - 1];
                let work = one((period / 2).max(1)).min(period);
                let deadline = (work + one(period + 3) - 1).max(1);
                task(work, period, deadline, number as i64)
            });
            (key, tasks.collect())
        })
    }

    #[test]
    #[cfg_attr(miri, ignore = "schedules of 200 sets of tasks")]
    fn fixed_priorities_agree_with_the_schedule_from_the_critical_instant() {
        let mut compared = 0;
        for (_, tasks) in drawn().filter(|(_, tasks)| utilisation(tasks) <= 1.0) {
            let worst = simulated(&tasks, &vec![0; tasks.len()], 720, None);
            let bounds = fixed_responses(&tasks);
            assert_eq!(bounds, worst.into_iter().map(Some).collect::<Vec<_>>(), "{tasks:?}");
            compared += 1;
        }
        assert!(compared > 60, "{compared} sets");
    }

    #[test]
    #[cfg_attr(miri, ignore = "schedules of 200 sets of tasks")]
    fn edf_is_never_slower_than_its_bound_and_reaches_it_somewhere() {
        let (mut reached, mut tried) = (0, 0);
        for (key, tasks) in drawn().filter(|(_, tasks)| utilisation(tasks) <= 1.0) {
            let bounds = edf_responses(&tasks);
            let mut worst = vec![0; tasks.len()];
            for round in 0..60 {
                let offset = |(at, task): (usize, &Periodic)| {
                    if round == 0 { 0 } else { below(task.period, draw(key, 1_000 + round * 8 + at as u64)) }
                };
                let offsets: Vec<u64> = tasks.iter().enumerate().map(offset).collect();
                for (victim, worst) in worst.iter_mut().enumerate() {
                    *worst = simulated(&tasks, &offsets, 360, Some(victim))[victim].max(*worst);
                }
            }
            for (bound, worst) in bounds.iter().zip(&worst) {
                let bound = bound.unwrap();
                assert!(*worst <= bound, "{worst} is more than {bound}: {tasks:?}");
                tried += 1;
                reached += u32::from(*worst == bound);
            }
            let late = tasks.iter().zip(&worst).any(|(task, worst)| *worst > task.deadline);
            let meets = tasks.iter().zip(&bounds).all(|(task, bound)| bound.unwrap() <= task.deadline);
            assert_eq!(edf_meets_all(&tasks), Some(meets), "{tasks:?}");
            assert!(!(late && meets));
        }
        assert!(reached * 10 > tried * 9, "{reached} of {tried}");
    }
}
