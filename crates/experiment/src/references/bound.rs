//! The lower bound: no schedule on this machine ends sooner.
//!
//! The two classical bounds of scheduling theory (Graham, 1966): all work over all speed, and the longest
//! chain of work at the speed of the fastest cpu. Memory, barriers, switches and start-up are left out, so
//! that it holds for every policy.

use super::fluid::Stay;
use super::job::{Arrival, Job};

/// Earliest start and end of each foreground job, whose tasks do `want` seconds of work per second at most,
/// and the earliest end of all, on a machine that does `capacity` of it.
pub(crate) fn stays(jobs: &[Job], capacity: f64) -> (Vec<Option<Stay>>, f64) {
    let mut stays: Vec<Option<Stay>> = Vec::new();
    for job in jobs {
        let start = match job.arrival {
            Arrival::At(at) => Some(at),
            // A job follows an earlier one.
            Arrival::After(before, delay) => {
                stays.get(before).copied().flatten().map(|stay| stay.end + delay)
            }
        };
        let most = (f64::from(job.tasks) * job.want).min(capacity);
        let stay = |start| Stay { start, end: start + job.demand / most };
        stays.push(start.filter(|_| job.demand.is_finite()).map(stay));
    }
    let firsts = jobs.iter().filter(|job| job.demand.is_finite());
    let first =
        firsts.clone().filter_map(|job| if let Arrival::At(at) = job.arrival { Some(at) } else { None });
    let all = first.fold(f64::INFINITY, f64::min) + firsts.map(|job| job.demand).sum::<f64>() / capacity;
    let last = stays.iter().flatten().map(|stay| stay.end).fold(0.0, f64::max);
    (stays, if all.is_finite() { last.max(all) } else { last })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn job(arrival: Arrival, tasks: u32, demand: f64) -> Job {
        Job { arrival, ..Job::plain(tasks, demand) }
    }

    #[test]
    fn work_over_speed_and_the_longest_chain() {
        let at = |t| Arrival::At(t);
        // Two jobs of 4 cpu-seconds on 2 cpus: neither ends before 2 s, both not before 4 s.
        let (each, all) = stays(&[job(at(0.0), 2, 4.0), job(at(0.0), 4, 4.0)], 2.0);
        assert_eq!(each.iter().map(|s| s.map(|s| s.end)).collect::<Vec<_>>(), [Some(2.0); 2]);
        assert!((all - 4.0).abs() < 1e-12);
        // One task at a time, one after the other, on a machine with room: 3 + 1 + 2 s.
        let chain = [job(at(0.0), 1, 3.0), job(Arrival::After(0, 1.0), 1, 2.0)];
        assert!((stays(&chain, 8.0).1 - 6.0).abs() < 1e-12);
        // A faster core helps the chain.
        let faster = chain.map(|job| Job { want: 2.0, ..job });
        assert!((stays(&faster, 8.0).1 - 3.5).abs() < 1e-12);
    }

    #[test]
    fn background_work_bounds_nothing() {
        let hog = job(Arrival::At(0.0), 1, f64::INFINITY);
        let (each, all) = stays(&[hog, job(Arrival::At(1.0), 1, 1.0)], 1.0);
        assert_eq!(each[0], None);
        assert!((all - 2.0).abs() < 1e-12);
    }
}
