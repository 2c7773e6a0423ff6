//! The fair share: every runnable task gets its part of the machine at every instant, and sharing has no
//! cost.
//!
//! Generalised processor sharing (Kleinrock, 1967; Parekh and Gallager, 1993) with a ceiling per task: of N
//! tasks that all want a cpu, each runs at M / N. It is what proportional-share schedulers aim at.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

use sim_core::admission::{Admission, Runs, StartOrder, Waits};
use sim_core::os::TaskGroup;
use sim_core::time::Time;

use super::NS_PER_S;
use super::grouped::{self, Capacity};
use super::job::{Alike, Arrival, Job};
use super::limits::Limits;

/// Start and end of a job, seconds.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct Stay {
    pub(crate) start: f64,
    pub(crate) end: f64,
}

/// Jobs that want and use the same: while they run, they get the same at every instant.
struct Kind {
    /// The first of them.
    job: usize,
    /// The work that one of them does per second.
    rate: f64,
    /// The work done by a job that has run since the kind last began to run, seconds.
    served: f64,
    /// When the first one ends at this rate.
    end: f64,
    /// The running jobs, by the value of `served` at which each ends. Bits of positive numbers sort as the
    /// numbers do.
    running: BinaryHeap<Reverse<(u64, usize)>>,
}

/// The jobs by what they do.
struct States<'a> {
    jobs: &'a [Job],
    groups: &'a [TaskGroup],
    /// In the order in which jobs are satisfied.
    kinds: Vec<Kind>,
    /// Of each job: its kind.
    kind_of: Vec<usize>,
    /// Of each job: those that arrive after its end.
    followers: Vec<Vec<usize>>,
    /// Jobs that have not arrived and whose time is known, the next one last.
    due: Vec<(f64, usize)>,
    /// Jobs that have arrived and are not admitted, first come first.
    queue: VecDeque<usize>,
    /// Of each job: when it started.
    started: Vec<f64>,
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
        let ends = states.kinds.iter().map(|kind| kind.end);
        let next = ends.chain(states.due.last().map(|(at, _)| *at)).fold(f64::INFINITY, f64::min);
        if !next.is_finite() {
            break;
        }
        states.advance(now, next);
        now = next;
    }
    states.ended
}

/// The jobs by kinds, those that are satisfied first in front: what they leave is shared by the others.
fn kinds(jobs: &[Job]) -> (Vec<Kind>, Vec<usize>) {
    let wish = |job: &Job| job.want / job.weight;
    let before = |a: &Job, b: &Job| {
        let numbers = wish(a).total_cmp(&wish(b)).then(a.weight.total_cmp(&b.weight));
        numbers.then(a.bytes.total_cmp(&b.bytes)).then((a.tasks, a.group).cmp(&(b.tasks, b.group)))
    };
    let mut order: Vec<usize> = (0..jobs.len()).collect();
    order.sort_by(|a, b| before(&jobs[*a], &jobs[*b]));
    let mut kinds: Vec<Kind> = Vec::new();
    let mut kind_of = vec![0; jobs.len()];
    for job in order {
        let alike = kinds.iter().enumerate().rev();
        let mut alike = alike.take_while(|(_, kind)| before(&jobs[kind.job], &jobs[job]).is_eq());
        let known = alike.find(|(_, kind)| jobs[kind.job].allowed == jobs[job].allowed);
        kind_of[job] = known.map_or(kinds.len(), |(at, _)| at);
        if kind_of[job] == kinds.len() {
            kinds.push(Kind { job, rate: 0.0, served: 0.0, end: f64::INFINITY, running: BinaryHeap::new() });
        }
    }
    (kinds, kind_of)
}

impl<'a> States<'a> {
    fn new(jobs: &'a [Job], groups: &'a [TaskGroup]) -> Self {
        let (kinds, kind_of) = kinds(jobs);
        let mut states = Self {
            jobs,
            groups,
            kinds,
            kind_of,
            followers: vec![Vec::new(); jobs.len()],
            due: Vec::new(),
            queue: VecDeque::new(),
            started: vec![0.0; jobs.len()],
            inside: (0, 0),
            ended: vec![None; jobs.len()],
        };
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

    fn admit(&mut self, now: f64, admission: Admission) {
        match admission.order {
            StartOrder::Fcfs => self.admit_first(now, admission),
            StartOrder::Easy => self.backfill(now, admission),
        }
    }

    /// Later jobs start that do not delay the first one by the estimates.
    fn backfill(&mut self, now: f64, admission: Admission) {
        if self.queue.is_empty() {
            return;
        }
        let at = |seconds: f64| Time::from_ns((seconds * NS_PER_S).round() as u64);
        let tasks = |job: usize| u64::from(self.jobs[job].tasks);
        let running = self.kinds.iter().flat_map(|kind| kind.running.iter().map(|Reverse((_, job))| *job));
        let inside = running.filter(|job| self.jobs[*job].foreground());
        let ends = |job: usize| at(self.started[job]).saturating_add(self.jobs[job].estimate);
        let runs = inside.map(|job| Runs { tasks: tasks(job), ends: ends(job) }).collect();
        let wait = |job: &usize| Waits { tasks: tasks(*job), estimate: self.jobs[*job].estimate };
        let waits: Vec<Waits> = self.queue.iter().map(wait).collect();
        for (before, place) in admission.easy(at(now), runs, &waits).into_iter().enumerate() {
            if let Some(job) = self.queue.remove(place - before) {
                self.inside = (self.inside.0 + 1, self.inside.1 + u64::from(self.jobs[job].tasks));
                self.start(job, now);
            }
        }
    }

    /// First come, first served, without overtaking.
    fn admit_first(&mut self, now: f64, admission: Admission) {
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
        self.started[job] = now;
        let kind = &mut self.kinds[self.kind_of[job]];
        kind.running.push(Reverse(((kind.served + self.jobs[job].demand).to_bits(), job)));
    }

    /// Sets what each job gets: equal parts by weight, up to what its tasks can use.
    fn share(&mut self, limits: &Limits, now: f64) {
        let Self { jobs, groups, kinds, .. } = self;
        let number = kinds.iter().map(|kind| kind.running.len()).sum();
        let mut running: Vec<&mut Kind> = kinds.iter_mut().filter(|kind| !kind.running.is_empty()).collect();
        let some: Vec<Alike> = running.iter().map(|kind| (kind.job, kind.running.len() as f64)).collect();
        let rates = if !groups.is_empty() {
            grouped::rates((jobs, &some), groups, Capacity { all: limits.all, cpu: limits.cpu })
        } else if limits.is_plain(number) {
            equal_parts((jobs, &some), limits.all)
        } else {
            limits.rates(jobs, &some)
        };
        for ((kind, rate), (_, number)) in running.iter_mut().zip(rates).zip(some) {
            kind.rate = rate / number;
            kind.end = match kind.running.peek() {
                Some(Reverse((end, _))) if rate > 0.0 => {
                    now + (f64::from_bits(*end) - kind.served).max(0.0) / kind.rate
                }
                _ => f64::INFINITY,
            };
        }
    }

    /// Work is done from one instant to the next; the jobs that end then release those that follow them.
    fn advance(&mut self, now: f64, next: f64) {
        let mut released = Vec::new();
        let Self { jobs, kinds, followers, started, inside, ended, .. } = self;
        for kind in kinds.iter_mut().filter(|kind| !kind.running.is_empty()) {
            kind.served += kind.rate * (next - now);
            // The job that sets the pace ends exactly, whatever rounding leaves.
            let first = kind.running.peek().filter(|_| kind.end <= next).map(|Reverse((end, _))| *end);
            kind.served = kind.served.max(first.map_or(0.0, f64::from_bits));
            while let Some(Reverse((end, job))) = kind.running.peek().copied()
                && f64::from_bits(end) <= kind.served
            {
                kind.running.pop();
                ended[job] = Some(Stay { start: started[job], end: next });
                inside.0 -= 1;
                inside.1 -= u64::from(jobs[job].tasks);
                released.append(&mut followers[job]);
            }
            if kind.running.is_empty() {
                (kind.served, kind.end) = (0.0, f64::INFINITY);
            }
        }
        for follower in released {
            if let Arrival::After(_, delay) = self.jobs[follower].arrival {
                let at = next + delay;
                let place = self.due.partition_point(|(other, _)| *other > at);
                self.due.insert(place, (at, follower));
            }
        }
    }
}

/// The work per second of jobs of some kinds, those that are satisfied first in front, by weight.
fn equal_parts((jobs, some): (&[Job], &[Alike]), mut left: f64) -> Vec<f64> {
    // Tasks and weights are whole numbers: their sum is exact, in whichever order it is made.
    let weight_of = |(job, number): &Alike| number * f64::from(jobs[*job].tasks) * jobs[*job].weight;
    let mut weight: f64 = some.iter().map(weight_of).sum();
    let part = |some: &Alike| {
        let job = &jobs[some.0];
        let share = (left * job.weight / weight).min(job.want);
        weight -= weight_of(some);
        let rate = share * f64::from(job.tasks) * some.1;
        left = (left - rate).max(0.0);
        rate
    };
    some.iter().map(part).collect()
}

#[cfg(test)]
mod tests {
    use sim_core::time::Span;

    use super::*;

    fn job(tasks: u32, demand: f64) -> Job {
        Job::plain(tasks, demand)
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
    fn jobs_that_are_alike_end_by_what_is_left_to_them() {
        // The first one has done half of its work when two more come: each has a third of the cpu until it
        // ends, then a half.
        let late = Job { arrival: Arrival::At(1.0), ..job(1, 2.0) };
        assert_eq!(ends(&[job(1, 2.0), late.clone(), late], 1.0), [Some(4.0), Some(6.0), Some(6.0)]);
        // More and more of them: two thirds of what comes each second is done.
        let one = |at: u32| Job { arrival: Arrival::At(at.into()), ..job(1, 1.5) };
        let ends = ends(&(0..2_000).map(one).collect::<Vec<_>>(), 1.0);
        assert!(ends.is_sorted() && ends[1_999].is_some_and(|end| (end - 3_000.0).abs() < 1e-6), "{ends:?}");
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
    fn a_short_job_overtakes_by_its_estimate() {
        let of = |tasks, demand, seconds: u64| Job {
            estimate: Span::from_ms(1_000 * seconds),
            ..job(tasks, demand)
        };
        let ends = |order| {
            let admission = Admission { tasks: 4, order, ..Admission::UNLIMITED };
            let jobs = [of(2, 20.0, 10), of(4, 20.0, 5), of(2, 16.0, 8)];
            let stays = stays(&jobs, &[], &Limits::plain(4.0), admission);
            stays.into_iter().map(|stay| Some(stay?.end)).collect::<Vec<_>>()
        };
        assert_eq!(ends(StartOrder::Fcfs), [Some(10.0), Some(15.0), Some(23.0)]);
        assert_eq!(ends(StartOrder::Easy), [Some(10.0), Some(15.0), Some(8.0)]);
    }

    #[test]
    fn a_job_behind_one_that_never_ends_never_starts() {
        let never = Job { want: 1.0, ..job(1, 1.0) };
        let follower = Job { arrival: Arrival::After(1, 0.0), ..job(1, 1.0) };
        let endless = Job { arrival: Arrival::After(2, 0.0), ..job(1, 1.0) };
        assert_eq!(ends(&[never, endless, follower], 1.0), [Some(1.0), None, None]);
    }
}
