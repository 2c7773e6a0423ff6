//! What the recorded host charges for wake-ups, as far as the recording shows it.

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use crate::course::{Course, Courses, Step};
use crate::threads::Id;

/// Fewest cases for an estimate.
const FEWEST: usize = 30;
/// Cpu time for each wake-up below which wake-ups are what a program does, in ns.
const DENSE: u64 = 100_000;
/// The quantile that stands for the shortest path: a few outliers are below it.
const SHORTEST: f64 = 0.05;

/// Costs of a wake-up of a thread whose cpu is idle, in ns.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Estimated {
    /// From the wake-up until the thread has the cpu: the mean of the middle half, and of how many cases.
    pub idle_exit: Option<(u64, usize)>,
    /// What such a wake-up costs in cpu time, and of how many cases: how much longer the shortest run behind
    /// one is than the shortest run behind a wait. Where a program does little but wake and wait, all that
    /// its runs take beyond the shortest ones. The simulator charges it to the waker as a whole, and the
    /// sleeper waits as much longer.
    pub wake_remote: Option<(u64, usize)>,
    /// The program does little but wake and wait: what each of its threads computes between these, at least.
    pub dense: Option<BTreeMap<Id, Shortest>>,
}

/// The shortest runs of a thread, in ns.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Shortest {
    /// Behind a wake-up of a thread whose cpu is idle, without the cost of that.
    pub behind_wake: u64,
    /// Behind a wait.
    pub behind_wait: u64,
}

impl Estimated {
    /// What a recording shows.
    #[must_use]
    pub fn of(courses: &Courses) -> Self {
        let mut exits = courses.exits.clone();
        exits.sort_unstable();
        let middle = exits.get(exits.len() / 4..(3 * exits.len()).div_ceil(4)).unwrap_or_default();
        let all: Vec<(Id, Runs)> = courses.list.iter().map(|(id, course)| (*id, Runs::of(course))).collect();
        let mut sum = Runs::default();
        for (_, runs) in &all {
            sum.behind_wake.extend(&runs.behind_wake);
            sum.behind_wait.extend(&runs.behind_wait);
        }
        let cpu: u64 = courses.list.values().map(|course| course.cpu).sum();
        let exit = Some((mean(middle), exits.len())).filter(|_| exits.len() >= FEWEST);
        let Some((wake, wait)) = sum.shortest() else { return Self { idle_exit: exit, ..Self::default() } };
        let (extra, cases) = (wake.saturating_sub(wait), sum.behind_wake.len());
        if (cases as u64).saturating_mul(DENSE) < cpu {
            return Self { idle_exit: exit, wake_remote: Some((extra, cases)), dense: None };
        }
        // What runs take beyond the shortest ones, on both sides, is what the wake-ups cost, and no work.
        let [waker, sleeper] =
            [mean(&sum.behind_wake).saturating_sub(wake), mean(&sum.behind_wait).saturating_sub(wait)];
        let each = all.into_iter().filter_map(|(id, mut runs)| {
            let (wake, wait) = runs.shortest()?;
            Some((id, Shortest { behind_wake: wake.saturating_sub(extra), behind_wait: wait }))
        });
        Self {
            idle_exit: exit.map(|(exit, cases)| (exit + sleeper, cases)),
            wake_remote: Some((extra + waker + sleeper, cases)),
            dense: Some(each.collect()),
        }
    }
}

/// Runs behind wake-ups of threads on idle cpus, and behind waits, in ns.
#[derive(Default)]
struct Runs {
    behind_wake: Vec<u64>,
    behind_wait: Vec<u64>,
}

impl Runs {
    fn of(course: &Course) -> Self {
        let mut runs = Self::default();
        for pair in course.steps.windows(2) {
            match [pair[0].step, pair[1].step] {
                [Step::Wake { idle: true, .. }, Step::Run(ran)] => runs.behind_wake.push(ran),
                [Step::Wait { slept: Some(_), .. }, Step::Run(ran)] => runs.behind_wait.push(ran),
                _ => {}
            }
        }
        runs
    }

    fn shortest(&mut self) -> Option<(u64, u64)> {
        quantile(&mut self.behind_wake, SHORTEST).zip(quantile(&mut self.behind_wait, SHORTEST))
    }
}

fn mean(lengths: &[u64]) -> u64 {
    let sum: u128 = lengths.iter().map(|length| u128::from(*length)).sum();
    (sum / (lengths.len() as u128).max(1)) as u64
}

fn quantile(lengths: &mut [u64], share: f64) -> Option<u64> {
    lengths.sort_unstable();
    let place = (share * lengths.len().saturating_sub(1) as f64) as usize;
    lengths.get(place).copied().filter(|_| lengths.len() >= FEWEST)
}
