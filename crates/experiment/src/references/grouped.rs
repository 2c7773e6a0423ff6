//! The fair share under task groups: jobs and groups share what the group around them gets, by weight.

use sim_core::os::TaskGroup;

use super::job::{Alike, Job};

/// What shares with others: a job, or a group that has some.
#[derive(Clone, Copy)]
enum Sharer {
    Job(usize),
    Group(u16),
}

/// What a machine does per second: seconds of cpu time, or of nominal work.
#[derive(Clone, Copy)]
pub(super) struct Capacity {
    /// All cpus together.
    pub(super) all: f64,
    /// One cpu, the fastest.
    pub(super) cpu: f64,
}

/// Jobs, and those of them that run.
type Running<'a> = (&'a [Job], &'a [Alike]);

/// What the running jobs that are alike get of a capacity, in their order.
pub(super) fn rates(jobs: Running<'_>, groups: &[TaskGroup], capacity: Capacity) -> Vec<f64> {
    let mut rates = vec![0.0; jobs.1.len()];
    divide(jobs, (groups, capacity.cpu), None, capacity.all, &mut rates);
    rates
}

/// Task groups, and what a cpu does.
type Groups<'a> = (&'a [TaskGroup], f64);

/// Divides `left` cpus among what is directly in a group: each gets its part by weight, up to what it can
/// use. Tasks that want least for their weight come first, and what they leave is shared by the others.
fn divide(jobs: Running<'_>, all: Groups<'_>, inside: Option<u16>, mut left: f64, rates: &mut [f64]) {
    let (groups, _) = all;
    let job = |at: usize| &jobs.0[jobs.1[at].0];
    let own = (0..jobs.1.len()).filter(|at| job(*at).group == inside).map(Sharer::Job);
    let nested = (0..groups.len() as u16).filter(|group| groups[usize::from(*group)].parent == inside);
    let mut sharers: Vec<(Sharer, f64, f64)> = own
        .chain(nested.map(Sharer::Group))
        .map(|sharer| match sharer {
            Sharer::Job(at) => {
                let tasks = f64::from(job(at).tasks) * jobs.1[at].1;
                (sharer, tasks * job(at).weight, tasks * job(at).want)
            }
            Sharer::Group(group) => {
                (sharer, f64::from(groups[usize::from(group)].weight), wanted(jobs, all, group))
            }
        })
        .filter(|(.., want)| *want > 0.0)
        .collect();
    sharers.sort_by(|a, b| (a.2 / a.1).total_cmp(&(b.2 / b.1)));
    let mut weight: f64 = sharers.iter().map(|(_, weight, _)| weight).sum();
    for (sharer, own, want) in sharers {
        let share = (left * own / weight).min(want);
        weight -= own;
        left = (left - share).max(0.0);
        match sharer {
            Sharer::Job(at) => rates[at] = share,
            Sharer::Group(group) => divide(jobs, all, Some(group), share, rates),
        }
    }
}

/// The cpus that all jobs of a group can use within its limit.
fn wanted(jobs: Running<'_>, (groups, cpu): Groups<'_>, group: u16) -> f64 {
    let all = jobs.1.iter().map(|(job, number)| (&jobs.0[*job], number));
    let own = all.filter(|(job, _)| job.group == Some(group));
    let nested = (0..groups.len() as u16).filter(|other| groups[usize::from(*other)].parent == Some(group));
    let all = own.map(|(job, number)| number * f64::from(job.tasks) * job.want).sum::<f64>()
        + nested.map(|other| wanted(jobs, (groups, cpu), other)).sum::<f64>();
    let limit = groups[usize::from(group)].limit;
    limit.map_or(all, |limit| all.min(cpu * limit.quota.ns() as f64 / limit.period.ns() as f64))
}

#[cfg(test)]
mod tests {
    use sim_core::os::Limit;
    use sim_core::time::Span;

    use super::*;

    fn job(tasks: u32, group: Option<u16>) -> Job {
        Job { weight: 1024.0, group, ..Job::plain(tasks, 1.0) }
    }

    fn group(parent: Option<u16>, weight: u32) -> TaskGroup {
        TaskGroup { name: "g".into(), parent, weight, limit: None }
    }

    const fn of(all: f64, cpu: f64) -> Capacity {
        Capacity { all, cpu }
    }

    fn each(jobs: &[Job], groups: &[TaskGroup], capacity: Capacity) -> Vec<f64> {
        let running: Vec<Alike> = (0..jobs.len()).map(|job| (job, 1.0)).collect();
        rates((jobs, &running), groups, capacity)
    }

    #[test]
    fn groups_share_first_and_their_jobs_then() {
        let groups = [group(None, 1024), group(None, 1024), group(Some(1), 512), group(Some(1), 512)];
        // Two sessions on 3 cpus, of 2 tasks and of 6: 1.5 cpus each.
        assert_eq!(each(&[job(2, Some(0)), job(6, Some(1))], &groups, of(3.0, 1.0)), [1.5, 1.5]);
        // The first can use only one: the second has the rest.
        assert_eq!(each(&[job(1, Some(0)), job(6, Some(1))], &groups, of(3.0, 1.0)), [1.0, 2.0]);
        // Beside two tasks outside of all groups, a group has a third; half of that in each group within.
        let jobs = [job(2, None), job(4, Some(2)), job(9, Some(3))];
        assert_eq!(each(&jobs, &groups, of(1.5, 1.0)), [1.0, 0.25, 0.25]);
        // A limited group leaves the rest to the others.
        let limit = Limit { quota: Span::from_ms(50), period: Span::from_ms(100), burst: Span::ZERO };
        let groups = [TaskGroup { limit: Some(limit), ..group(None, 1024) }, group(None, 1024)];
        let jobs = [job(2, Some(0)), job(6, Some(1))];
        assert_eq!(each(&jobs, &groups, of(3.0, 1.0)), [0.5, 2.5]);
        // On cpus of twice the speed, a limit of cpu time is worth twice the work.
        assert_eq!(each(&jobs, &groups, of(6.0, 2.0)), [1.0, 5.0]);
    }
}
