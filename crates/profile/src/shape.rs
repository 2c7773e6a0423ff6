//! Ranks and threads of a job.

use crate::job::Job;
use crate::source::Num;

/// A thread more is counted for each whole cpu that was busy, beyond this part of one: the first thread and
/// the kernel's work for the program add little parts.
const PART: f64 = 0.05;
/// Where nothing states the threads: as many as busy cpus, to as many for each of them. Threads that are
/// busy for less than half of the time make the larger number.
const IDLE: f64 = 2.0;

/// Ranks and threads.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Shape {
    pub(crate) ranks: f64,
    /// Of each rank.
    pub(crate) threads: f64,
    pub(crate) origin: String,
    /// The numbers of tasks between which it lies, where no file and no flag states it.
    pub(crate) range: Option<(f64, f64)>,
}

impl Shape {
    pub(crate) fn of(job: &Job) -> Self {
        let whole = |num: &Num| num.value.round().max(1.0);
        let ranks = job.ranks.as_ref().map_or(1.0, whole);
        if let Some(threads) = &job.threads {
            let origin = match &job.ranks {
                Some(by) if ranks > 1.0 => format!("{}; {}", by.origin, threads.origin),
                _ => threads.origin.clone(),
            };
            return Self { ranks, threads: whole(threads), origin, range: None };
        }
        let busy = match (&job.cpu, &job.elapsed) {
            (Some(cpu), Some(elapsed)) if elapsed.value > 0.0 => {
                let origin = format!("{} / {}", cpu.origin, elapsed.origin);
                Some((cpu.value / elapsed.value, origin))
            }
            _ => None,
        };
        if let Some(by) = job.ranks.as_ref().filter(|_| ranks > 1.0) {
            return Self::of_ranks(job, by, ranks, busy);
        }
        Self::of_threads(job, ranks, busy)
    }

    /// Several ranks: threads where more cpus were busy than there are ranks.
    fn of_ranks(job: &Job, by: &Num, ranks: f64, busy: Option<(f64, String)>) -> Self {
        let each = |cpus: f64| (cpus / ranks - PART).ceil().max(1.0);
        let cpus = job.allocated.as_ref().map(|num| num.value);
        let Some((busy, why)) = busy else {
            return Self { ranks, threads: 1.0, origin: by.origin.clone(), range: None };
        };
        let threads = each(busy);
        if threads <= 1.0 {
            return Self { ranks, threads, origin: by.origin.clone(), range: None };
        }
        let threads = cpus.map_or(threads, |cpus| (cpus / ranks).floor().max(threads));
        let origin = format!("{}; {why}: {busy:.2} cpus were busy", by.origin);
        Self { ranks, threads, origin, range: None }
    }

    /// One process: as many threads as cpus that it had, if it kept them busy in part.
    fn of_threads(job: &Job, ranks: f64, busy: Option<(f64, String)>) -> Self {
        let given = job.allocated.as_ref().map(|num| (num.value.round().max(1.0), num.origin.clone()));
        let (least, why) = match busy {
            Some((busy, why)) => ((busy - PART).ceil().max(1.0), format!("{why}: {busy:.2} cpus were busy")),
            None => match given {
                Some((cpus, origin)) => {
                    return Self {
                        ranks,
                        threads: cpus,
                        origin,
                        range: Some((1.0, cpus)).filter(|_| cpus > 1.0),
                    };
                }
                None => (1.0, "assumed: one thread".into()),
            },
        };
        match given {
            Some((cpus, origin)) => {
                let threads = cpus.max(least);
                let range = (least < threads).then_some((least, threads));
                Self { ranks, threads, origin: format!("{origin}; {why}"), range }
            }
            None => Self { ranks, threads: least, origin: why, range: Some((least, IDLE * least)) },
        }
    }

    pub(crate) fn tasks(&self) -> f64 {
        self.ranks * self.threads
    }
}
