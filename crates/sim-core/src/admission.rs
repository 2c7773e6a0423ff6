//! How many applications run at the same time, and which of those that wait starts next.
//!
//! The order `easy` is that of EASY backfilling: D. A. Lifka, "The ANL/IBM SP scheduling system", 1995; A. W.
//! Mu'alem and D. G. Feitelson, "Utilization, predictability, workloads, and user runtime estimates in
//! scheduling the IBM SP2 with backfilling", 2001. Both stop a job at its estimate. Here it runs on, and from
//! then on it is expected to end at once.

use crate::time::{Span, Time};

/// In which order applications of the queue start.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum StartOrder {
    /// First come, first served: none overtakes.
    #[default]
    Fcfs,
    /// As `Fcfs`, but while the first one waits, later ones start that do not delay it by the estimates of
    /// all ([`AppSpec::estimate`](crate::program::AppSpec::estimate)).
    Easy,
}

impl StartOrder {
    /// All, the default first.
    pub const ALL: [Self; 2] = [Self::Fcfs, Self::Easy];

    /// Its name in files.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Fcfs => "fcfs",
            Self::Easy => "easy",
        }
    }
}

/// How many foreground applications may run at the same time. One that has arrived while there is no room
/// waits in a queue. Background applications neither wait nor count.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Admission {
    /// At most this many applications; at least 1.
    pub jobs: u32,
    /// At most this many tasks of them (the slots of a batch system); no application may have more.
    pub tasks: u64,
    /// Which of those that wait starts next.
    pub order: StartOrder,
}

/// An application that runs, as the order `easy` sees it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Runs {
    /// Its tasks.
    pub tasks: u64,
    /// When it ends by its estimate; the past for one that has outlived it.
    pub ends: Time,
}

/// An application that waits, as the order `easy` sees it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Waits {
    /// Its tasks.
    pub tasks: u64,
    /// From its start to its end by its estimate.
    pub estimate: Span,
}

/// What is free: applications, and tasks.
type Room = (u64, u64);

impl Admission {
    /// Every application starts on arrival.
    pub const UNLIMITED: Self = Self { jobs: u32::MAX, tasks: u64::MAX, order: StartOrder::Fcfs };

    /// Whether an application of so many tasks fits beside so many applications and tasks.
    #[must_use]
    pub const fn fits(self, (jobs, tasks): (u64, u64), more: u64) -> bool {
        jobs < self.jobs as u64 && tasks.saturating_add(more) <= self.tasks
    }

    /// The places in the queue of the applications that start now by EASY backfilling, in the order in which
    /// they start. `runs`: those that run; `waits`: those of the queue, the first one in front.
    #[must_use]
    pub fn easy(self, now: Time, mut runs: Vec<Runs>, waits: &[Waits]) -> Vec<usize> {
        let used: u64 = runs.iter().map(|job| job.tasks).sum();
        let mut free: Room =
            (u64::from(self.jobs).saturating_sub(runs.len() as u64), self.tasks.saturating_sub(used));
        let mut chosen = Vec::new();
        let mut queue = waits.iter().enumerate();
        for (at, job) in queue.by_ref() {
            if fits(free, job.tasks) {
                free = without(free, job.tasks);
                runs.push(Runs { tasks: job.tasks, ends: now.saturating_add(job.estimate) });
                chosen.push(at);
                continue;
            }
            let Some((reserved, mut spare)) = reservation(now, &mut runs, free, job.tasks) else {
                return chosen;
            };
            for (at, job) in queue {
                let in_time = now.saturating_add(job.estimate) <= reserved;
                if fits(free, job.tasks) && (in_time || fits(spare, job.tasks)) {
                    free = without(free, job.tasks);
                    spare = if in_time { spare } else { without(spare, job.tasks) };
                    chosen.push(at);
                }
            }
            return chosen;
        }
        chosen
    }
}

const fn fits((jobs, tasks): Room, more: u64) -> bool {
    jobs > 0 && tasks >= more
}

const fn without((jobs, tasks): Room, more: u64) -> Room {
    (jobs - 1, tasks - more)
}

/// When an application of so many tasks can start at the earliest by the estimates of those that run, and
/// what is free then beside it; none if it never fits.
fn reservation(now: Time, runs: &mut [Runs], free: Room, tasks: u64) -> Option<(Time, Room)> {
    for job in &mut *runs {
        job.ends = job.ends.max(now);
    }
    runs.sort_by_key(|job| job.ends);
    let (mut room, mut fits_at) = (free, None);
    for job in runs {
        // All that end at that instant leave their room.
        if fits_at.is_some_and(|at| at < job.ends) {
            break;
        }
        room = (room.0 + 1, room.1 + job.tasks);
        if fits(room, tasks) {
            fits_at = Some(job.ends);
        }
    }
    fits_at.map(|at| (at, without(room, tasks)))
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn at(seconds: u64) -> Time {
        Time::from_ns(seconds * 1_000_000_000)
    }

    /// Of a node of so many cpus: tasks and ends of those that run, tasks and estimates of those that wait;
    /// times in seconds.
    fn starts(cpus: u64, now: u64, runs: &[(u64, u64)], waits: &[(u64, u64)]) -> Vec<usize> {
        let admission = Admission { tasks: cpus, order: StartOrder::Easy, ..Admission::UNLIMITED };
        let runs = runs.iter().map(|(tasks, ends)| Runs { tasks: *tasks, ends: at(*ends) }).collect();
        let waits: Vec<Waits> = waits
            .iter()
            .map(|(tasks, seconds)| Waits { tasks: *tasks, estimate: Span::from_ms(seconds * 1_000) })
            .collect();
        admission.easy(at(now), runs, &waits)
    }

    #[test]
    fn what_fits_starts_in_the_order_of_arrival() {
        assert_eq!(starts(4, 0, &[], &[(2, 9), (1, 9), (1, 9)]), [0, 1, 2]);
        assert_eq!(starts(4, 0, &[], &[]), [0; 0]);
    }

    #[test]
    fn a_later_one_starts_if_it_ends_before_the_reservation_of_the_first_one() {
        // The first one needs all four at 10 s.
        assert_eq!(starts(4, 0, &[(2, 10)], &[(4, 5), (2, 10)]), [1]);
        assert_eq!(starts(4, 0, &[(2, 10)], &[(4, 5), (2, 11)]), [0; 0]);
        assert_eq!(starts(4, 0, &[(2, 10)], &[(4, 5), (3, 1)]), [0; 0]);
        assert_eq!(starts(4, 0, &[(2, 10)], &[(4, 5), (1, 10), (1, 11), (1, 3)]), [1, 3]);
    }

    #[test]
    fn a_later_one_may_have_for_long_what_the_reservation_leaves_over() {
        // At 10 s three are free, and the first one needs two of them: one is left over, once.
        assert_eq!(starts(4, 0, &[(2, 10), (1, 20)], &[(2, 5), (1, 99), (1, 99)]), [1]);
        // Both end at 10 s: with two more are left over than after the first of them.
        assert_eq!(starts(4, 0, &[(1, 10), (2, 10)], &[(2, 5), (1, 99)]), [1]);
        assert_eq!(starts(4, 0, &[(2, 10), (1, 10)], &[(2, 5), (1, 99)]), [1]);
    }

    #[test]
    fn one_that_has_outlived_its_estimate_is_expected_to_end_at_once() {
        // The reservation is now: nothing ends before it, and one cpu is left over.
        assert_eq!(starts(4, 50, &[(3, 10)], &[(3, 5), (1, 1), (1, 1)]), [1]);
        assert_eq!(starts(4, 50, &[(3, 10)], &[(4, 5), (1, 1)]), [0; 0]);
    }

    #[test]
    fn the_number_of_applications_is_room_as_well() {
        let two = Admission { jobs: 2, order: StartOrder::Easy, ..Admission::UNLIMITED };
        let wait = Waits { tasks: 1, estimate: Span::from_ms(1) };
        let runs = |number: usize| vec![Runs { tasks: 1, ends: at(1) }; number];
        assert_eq!(two.easy(at(0), runs(1), &[wait, wait]), [0]);
        assert_eq!(two.easy(at(0), runs(2), &[wait, wait]), [0; 0]);
    }
}
