//! What jobs together can get: of all cpus, of the cpus that masks allow, of the memory.

use sim_core::machine::CpuSet;

use super::job::{Alike, Job};
use super::size::Size;

/// Masks that are combined with each other; of more, each counts by itself.
const COMBINED: usize = 4;
/// Running jobs to which masks and memory are applied. Of more, only all cpus count: the time grows with the
/// square of their number.
const MOST: usize = 64;

/// The limits of a machine for these jobs.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Limits {
    /// Seconds of nominal work per second: of all cpus together.
    pub(super) all: f64,
    /// The same of the fastest cpu.
    pub(super) cpu: f64,
    /// Limits that concern some jobs only.
    some: Vec<Limit>,
}

/// A resource of which some jobs use a part.
#[derive(Clone, PartialEq, Debug)]
struct Limit {
    /// Of each job: how much a second of its work uses.
    uses: Vec<f64>,
    /// How much there is per second.
    most: f64,
}

impl Limits {
    pub(super) fn of(jobs: &[Job], size: &Size) -> Self {
        let mut masks: Vec<&CpuSet> = Vec::new();
        for mask in jobs.iter().filter_map(|job| job.allowed.as_ref()) {
            if !masks.contains(&mask) {
                masks.push(mask);
            }
        }
        let mut some: Vec<Limit> =
            unions(&masks).iter().map(|union| Limit::of_mask(jobs, size, union)).collect();
        if size.bandwidth > 0.0 && jobs.iter().any(|job| job.bytes > 0.0) {
            let uses = jobs.iter().map(|job| job.bytes).collect();
            some.push(Limit { uses, most: size.bandwidth });
        }
        Self { all: size.capacity(None), cpu: size.fastest(None), some }
    }

    /// Cpus of speed 1 and nothing else.
    #[cfg(test)]
    pub(super) const fn plain(all: f64) -> Self {
        Self { all, cpu: 1.0, some: Vec::new() }
    }

    /// Whether only the number of cpus limits so many jobs.
    pub(super) fn is_plain(&self, running: usize) -> bool {
        self.some.is_empty() || running > MOST
    }

    /// The work per second of the running jobs that are alike: all tasks get equal parts by weight until they
    /// have what they can use, or something that they use is used up; what they leave is shared by the others
    /// (max-min fairness by progressive filling; Bertsekas and Gallager, Data Networks, section 6.5).
    pub(super) fn rates(&self, jobs: &[Job], running: &[Alike]) -> Vec<f64> {
        let weight = |(job, number): Alike| number * f64::from(jobs[job].tasks) * jobs[job].weight;
        let mut left: Vec<(f64, Option<&Limit>)> = vec![(self.all, None)];
        left.extend(self.some.iter().map(|limit| (limit.most, Some(limit))));
        let uses = |limit: Option<&Limit>, alike: Alike| limit.map_or(1.0, |limit| limit.uses[alike.0]);
        let mut rates = vec![0.0; running.len()];
        let mut open: Vec<usize> = (0..running.len()).collect();
        while !open.is_empty() {
            // How far the parts can grow until each limit is reached, and until each job has enough.
            let reach = |(most, limit): &(f64, Option<&Limit>)| {
                let rate: f64 = open.iter().map(|at| uses(*limit, running[*at]) * weight(running[*at])).sum();
                if rate > 0.0 { most / rate } else { f64::INFINITY }
            };
            let reaches: Vec<f64> = left.iter().map(reach).collect();
            let enough = |at: usize| jobs[running[at].0].want / jobs[running[at].0].weight;
            let limits = reaches.iter().copied();
            let level = limits.chain(open.iter().map(|at| enough(*at))).fold(f64::INFINITY, f64::min);
            let limited = |at: usize| {
                let used = |(reach, (_, limit)): (&f64, &(f64, Option<&Limit>))| {
                    *reach <= level && uses(*limit, running[at]) > 0.0
                };
                enough(at) <= level || reaches.iter().zip(&left).any(used)
            };
            let (done, rest): (Vec<usize>, Vec<usize>) = open.iter().partition(|at| limited(**at));
            for at in &done {
                rates[*at] = level * weight(running[*at]);
                for (most, limit) in &mut left {
                    *most = (*most - uses(*limit, running[*at]) * rates[*at]).max(0.0);
                }
            }
            open = if done.is_empty() { Vec::new() } else { rest };
        }
        rates
    }
}

impl Limit {
    /// The cpus of a mask, for the jobs that may run nowhere else.
    fn of_mask(jobs: &[Job], size: &Size, mask: &CpuSet) -> Self {
        let inside = |job: &Job| {
            let own = job.allowed.as_ref();
            if own.is_some_and(|own| own.iter().all(|cpu| mask.contains(cpu))) { 1.0 } else { 0.0 }
        };
        Self { uses: jobs.iter().map(inside).collect(), most: size.capacity(Some(mask)) }
    }
}

/// The unions of some masks: of all combinations of a few, else each mask.
fn unions(masks: &[&CpuSet]) -> Vec<CpuSet> {
    if masks.len() > COMBINED {
        return masks.iter().map(|mask| (*mask).clone()).collect();
    }
    let chosen = |number: usize| masks.iter().enumerate().filter(move |(at, _)| number >> at & 1 == 1);
    (1..1_usize << masks.len())
        .map(|number| CpuSet::of(chosen(number).flat_map(|(_, mask)| mask.iter())))
        .collect()
}

#[cfg(test)]
mod tests {
    use sim_core::ids::CpuId;

    use super::*;

    fn job(tasks: u32, cpus: Option<&[u32]>, bytes: f64) -> Job {
        let allowed = cpus.map(|cpus| CpuSet::of(cpus.iter().map(|cpu| CpuId(*cpu))));
        Job { allowed, bytes, ..Job::plain(tasks, 1.0) }
    }

    fn rates(jobs: &[Job], bandwidth: f64) -> Vec<f64> {
        let size = Size::even(4, bandwidth);
        let running: Vec<Alike> = (0..jobs.len()).map(|job| (job, 1.0)).collect();
        Limits::of(jobs, &size).rates(jobs, &running)
    }

    #[test]
    fn jobs_under_a_mask_share_its_cpus() {
        // Two jobs on cpus 0 and 1, one on all four: it has cpus 2 and 3.
        let jobs = [job(2, Some(&[0, 1]), 0.0), job(4, Some(&[0, 1]), 0.0), job(4, None, 0.0)];
        let found = rates(&jobs, 0.0);
        let near = |got: f64, want: f64| assert!((got - want).abs() < 1e-9, "{found:?}");
        near(found[0], 2.0 / 3.0);
        near(found[1], 4.0 / 3.0);
        near(found[2], 2.0);
        // Masks that overlap: three jobs on two cpus in all.
        let jobs = [job(1, Some(&[0]), 0.0), job(1, Some(&[1]), 0.0), job(1, Some(&[0, 1]), 0.0)];
        let sum: f64 = rates(&jobs, 0.0).iter().sum();
        assert!((sum - 2.0).abs() < 1e-9, "{sum}");
    }

    #[test]
    fn what_waits_for_memory_shares_the_bandwidth() {
        // Together they want 6 bytes per second of 4: each has two thirds; who needs no memory keeps its cpu.
        let found = rates(&[job(1, None, 3.0), job(1, None, 3.0), job(2, None, 0.0)], 4.0);
        assert!((found[0] - 2.0 / 3.0).abs() < 1e-9 && (found[2] - 2.0).abs() < 1e-9, "{found:?}");
    }
}
