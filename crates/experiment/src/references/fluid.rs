//! The fair share: every runnable task gets its part of the machine at every instant, and sharing has no
//! cost.
//!
//! Generalised processor sharing (Kleinrock, 1967; Parekh and Gallager, 1993) with a ceiling per task: of N
//! tasks that all want a cpu, each runs at M / N. It is what proportional-share schedulers aim at.

use std::collections::VecDeque;

use sim_core::os::TaskGroup;
use sim_core::outcome::Admission;

use super::grouped::{self, Capacity};
use super::job::{Arrival, Job};
use super::limits::Limits;

/// Start and end of a job, seconds.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct Stay {
    pub(crate) start: f64,
    pub(crate) end: f64,
}

/// A job that runs.
#[derive(Clone, Copy, PartialEq, Debug)]
struct Running {
    job: usize,
    start: f64,
    /// Work that it still has to do, seconds.
    left: f64,
    /// The work per second that it does.
    rate: f64,
    /// When it ends at this rate.
    end: f64,
}

/// The jobs by what they do.
struct States<'a> {
    jobs: &'a [Job],
    groups: &'a [TaskGroup],
    /// Place of each job in the order in which jobs are satisfied.
    rank: Vec<usize>,
    /// Of each job: those that arrive after its end.
    followers: Vec<Vec<usize>>,
    /// Jobs that have not arrived and whose time is known, the next one last.
    due: Vec<(f64, usize)>,
    /// Jobs that have arrived and are not admitted, first come first.
    queue: VecDeque<usize>,
    /// Jobs that run, by rank once they are ordered.
    running: Vec<Running>,
    ordered: bool,
    /// Foreground jobs that run, and their tasks.
    inside: (u64, u64),
    ended: Vec<Option<Stay>>,
}

/// The stay of each job under these limits; `None` for background jobs and those that never end.
pub(crate) fn stays(
    jobs: &[Job],
    groups: &[TaskGroup],
    limits: &Limits,
    admission: Admission,
) -> Vec<Option<Stay>> {
    let mut states = States::new(jobs, groups);
    let mut now = 0.0;
    // Each step ends a job, starts one or lets one arrive.
    for _ in 0..=3 * jobs.len() {
        states.arrive(now);
        states.admit(now, admission);
        states.share(limits, now);
        let ends = states.running.iter().map(|running| running.end);
        let next = ends.chain(states.due.last().map(|(at, _)| *at)).fold(f64::INFINITY, f64::min);
        if !next.is_finite() {
            break;
        }
        states.advance(now, next);
        now = next;
    }
    states.ended
}

impl<'a> States<'a> {
    fn new(jobs: &'a [Job], groups: &'a [TaskGroup]) -> Self {
        // Who is satisfied first gets what it wants; what it leaves is shared by the others.
        let mut order: Vec<usize> = (0..jobs.len()).collect();
        let wish = |at: usize| jobs[at].want / jobs[at].weight;
        order.sort_by(|a, b| wish(*a).total_cmp(&wish(*b)));
        let mut states = Self {
            jobs,
            groups,
            rank: vec![0; jobs.len()],
            followers: vec![Vec::new(); jobs.len()],
            due: Vec::new(),
            queue: VecDeque::new(),
            running: Vec::new(),
            ordered: true,
            inside: (0, 0),
            ended: vec![None; jobs.len()],
        };
        for (rank, job) in order.into_iter().enumerate() {
            states.rank[job] = rank;
        }
        for (at, job) in jobs.iter().enumerate() {
            match job.arrival {
                Arrival::At(time) => states.due.push((time, at)),
                Arrival::After(before, _) => states.followers[before].push(at),
            }
        }
        states.due.sort_by(|a, b| b.0.total_cmp(&a.0));
        states
    }

    fn arrive(&mut self, now: f64) {
        let later = self.due.partition_point(|(at, _)| *at > now);
        let mut arrived: Vec<usize> = self.due.drain(later..).map(|(_, job)| job).collect();
        arrived.sort_unstable();
        for job in arrived {
            if self.jobs[job].foreground() {
                self.queue.push_back(job);
            } else {
                self.start(job, now);
            }
        }
    }

    /// First come, first served, without overtaking.
    fn admit(&mut self, now: f64, admission: Admission) {
        while let Some(head) = self.queue.front().copied() {
            let (inside, tasks) = self.inside;
            let tasks = tasks + u64::from(self.jobs[head].tasks);
            if inside >= u64::from(admission.jobs) || tasks > admission.tasks {
                return;
            }
            self.queue.pop_front();
            self.inside = (inside + 1, tasks);
            self.start(head, now);
        }
    }

    fn start(&mut self, job: usize, now: f64) {
        let running = Running { job, start: now, left: self.jobs[job].demand, rate: 0.0, end: f64::INFINITY };
        self.ordered &= self.running.last().is_none_or(|last| self.rank[last.job] < self.rank[job]);
        self.running.push(running);
    }

    /// Sets what each job gets: equal parts by weight, up to what its tasks can use.
    fn share(&mut self, limits: &Limits, now: f64) {
        if !self.groups.is_empty() {
            let jobs: Vec<&Job> = self.running.iter().map(|running| &self.jobs[running.job]).collect();
            let capacity = Capacity { all: limits.all, cpu: limits.cpu };
            return self.set(&grouped::rates(&jobs, self.groups, capacity), now);
        }
        if !limits.is_plain(self.running.len()) {
            let running: Vec<usize> = self.running.iter().map(|running| running.job).collect();
            return self.set(&limits.rates(self.jobs, &running), now);
        }
        if !std::mem::replace(&mut self.ordered, true) {
            self.running.sort_unstable_by_key(|running| self.rank[running.job]);
        }
        // Tasks and weights are whole numbers: their sum is exact, in whichever order it is made.
        let weight_of = |job: &Job| f64::from(job.tasks) * job.weight;
        let mut weight: f64 = self.running.iter().map(|running| weight_of(&self.jobs[running.job])).sum();
        let mut left = limits.all;
        for running in &mut self.running {
            let job = &self.jobs[running.job];
            let share = (left * job.weight / weight).min(job.want);
            weight -= weight_of(job);
            running.rate = share * f64::from(job.tasks);
            left = (left - running.rate).max(0.0);
            running.end = if running.rate > 0.0 { now + running.left / running.rate } else { f64::INFINITY };
        }
    }

    /// Sets the rates of the running jobs in order.
    fn set(&mut self, rates: &[f64], now: f64) {
        for (running, rate) in self.running.iter_mut().zip(rates) {
            running.rate = *rate;
            running.end = if *rate > 0.0 { now + running.left / rate } else { f64::INFINITY };
        }
    }

    /// Work is done from one instant to the next; the jobs that end then release those that follow them.
    fn advance(&mut self, now: f64, next: f64) {
        let mut released = Vec::new();
        let Self { jobs, followers, running, inside, ended, .. } = self;
        running.retain_mut(|running| {
            running.left -= running.rate * (next - now);
            // The job that sets the pace ends exactly, whatever rounding leaves.
            let ends = running.rate > 0.0 && running.end <= next;
            if ends {
                ended[running.job] = Some(Stay { start: running.start, end: next });
                inside.0 -= 1;
                inside.1 -= u64::from(jobs[running.job].tasks);
                released.append(&mut followers[running.job]);
            }
            !ends
        });
        for follower in released {
            if let Arrival::After(_, delay) = self.jobs[follower].arrival {
                let at = next + delay;
                let place = self.due.partition_point(|(other, _)| *other > at);
                self.due.insert(place, (at, follower));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn job(tasks: u32, demand: f64) -> Job {
        Job {
            arrival: Arrival::At(0.0),
            tasks,
            weight: 1.0,
            want: 1.0,
            demand,
            bytes: 0.0,
            allowed: None,
            group: None,
        }
    }

    fn ends(jobs: &[Job], capacity: f64) -> Vec<Option<f64>> {
        stays(jobs, &[], &Limits::plain(capacity), Admission::UNLIMITED)
            .into_iter()
            .map(|stay| Some(stay?.end))
            .collect()
    }

    #[test]
    fn three_tasks_on_two_cpus_run_at_two_thirds() {
        assert_eq!(ends(&[job(3, 3.0)], 2.0), [Some(1.5)]);
        assert_eq!(ends(&[job(2, 3.0)], 4.0), [Some(1.5)]);
    }

    #[test]
    fn the_survivor_gets_the_machine() {
        // Two cpus, two jobs of two tasks: half speed each until the first has done its 2 cpu-seconds at t =
        // 2.
        assert_eq!(ends(&[job(2, 2.0), job(2, 6.0)], 2.0), [Some(2.0), Some(4.0)]);
    }

    #[test]
    fn what_one_cannot_use_is_shared_by_the_others() {
        let sleeper = Job { want: 0.25, demand: f64::INFINITY, ..job(1, 0.0) };
        assert_eq!(ends(&[sleeper, job(3, 7.0)], 2.0), [None, Some(4.0)]);
        let heavy = Job { weight: 3.0, ..job(1, 3.0) };
        assert_eq!(ends(&[heavy, job(1, 1.0)], 1.0), [Some(4.0), Some(4.0)]);
    }

    #[test]
    fn arrivals_chains_and_admission() {
        let late = Job { arrival: Arrival::At(1.0), ..job(1, 1.0) };
        assert_eq!(ends(&[job(1, 2.0), late], 1.0), [Some(3.0), Some(3.0)]);
        let next = Job { arrival: Arrival::After(0, 0.5), ..job(1, 1.0) };
        assert_eq!(ends(&[job(1, 2.0), next], 1.0), [Some(2.0), Some(3.5)]);
        let one = Admission { jobs: 1, ..Admission::UNLIMITED };
        let both = stays(&[job(1, 2.0), job(1, 1.0)], &[], &Limits::plain(4.0), one);
        assert_eq!(both[1], Some(Stay { start: 2.0, end: 3.0 }));
    }

    #[test]
    fn a_job_behind_one_that_never_ends_never_starts() {
        let never = Job { want: 1.0, ..job(1, 1.0) };
        let follower = Job { arrival: Arrival::After(1, 0.0), ..job(1, 1.0) };
        let endless = Job { arrival: Arrival::After(2, 0.0), ..job(1, 1.0) };
        assert_eq!(ends(&[never, endless, follower], 1.0), [Some(1.0), None, None]);
    }
}
