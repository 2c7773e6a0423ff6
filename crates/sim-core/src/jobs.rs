//! Pools of jobs: which jobs are ready, who has one, and who waits for one.
//!
//! Pure bookkeeping: this module knows the names of tasks, not tasks, cpus or time.

use std::collections::VecDeque;
use std::sync::Arc;

use crate::ids::{ProfileId, TaskId};
use crate::outcome::PoolReport;
use crate::program::{self, Job, JobEnd, JobQueues, PoolRules, Roots, Spread, Victims};
use crate::rng::{self, Purpose};
use crate::sync::Line;
use crate::time::Work;

/// A pool, and how far its present pass is.
pub(crate) struct Pool {
    pub(crate) name: String,
    jobs: Arc<[Job]>,
    rules: PoolRules,
    /// How many jobs each one comes after.
    before: Vec<u32>,
    /// How many of them are still to be done in this pass.
    missing: Vec<u32>,
    /// Jobs that are not done; 0: no pass is under way.
    left: usize,
    /// Passes that are over.
    passes: u64,
    /// In the order of their ids.
    workers: Vec<Worker>,
    /// Jobs that are ready: one queue, or that of each worker.
    queues: Vec<VecDeque<u32>>,
    /// How many they are.
    ready: usize,
    /// Workers that wait, first come first.
    waiting: VecDeque<u32>,
    /// The line of the lock of the one queue.
    pub(crate) line: Line,
    /// Key of the lengths of jobs.
    lengths: u64,
    steals: u64,
    waits: u64,
}

/// A task that works in a pool.
struct Worker {
    task: TaskId,
    /// Passes that are behind it.
    passes: u64,
    /// The job that it computes.
    job: Option<u32>,
    /// Position in its stream of victims.
    victims: u64,
    /// Jobs that it has done.
    done: u64,
}

/// A job that a worker has taken.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Taken {
    pub(crate) work: Work,
    pub(crate) spread: Spread,
    pub(crate) profile: ProfileId,
    /// The draw of its length.
    pub(crate) draw: u32,
    /// From whose queue, if it is another one's.
    pub(crate) from: Option<TaskId>,
}

/// What follows from the end of a job.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Ended {
    /// So many jobs have become ready.
    Ready(usize),
    /// It was the last one of the pass.
    Pass,
}

impl Pool {
    /// A pool at the start; `number`: that of the pool. `workers`: in the order of their ids.
    pub(crate) fn new(of: program::Pool, number: u32, seed: u64, workers: &[TaskId]) -> Self {
        let worker = |(worker, task): (u64, &TaskId)| {
            let victims = rng::key(seed, Purpose::Steal, u64::from(number) << 32 | worker);
            Worker { task: *task, passes: 0, job: None, victims, done: 0 }
        };
        let queues = if of.rules.queues == JobQueues::One { 1 } else { workers.len() };
        let before = of.predecessors();
        Self {
            missing: before.clone(),
            before,
            left: 0,
            passes: 0,
            workers: (0..).zip(workers).map(worker).collect(),
            queues: vec![VecDeque::new(); queues],
            ready: 0,
            waiting: VecDeque::new(),
            line: Line::default(),
            lengths: rng::key(seed, Purpose::Job, number.into()),
            steals: 0,
            waits: 0,
            name: of.name,
            jobs: of.jobs,
            rules: of.rules,
        }
    }

    /// The number of a worker.
    pub(crate) fn worker(&self, task: TaskId) -> Option<usize> {
        self.workers.binary_search_by_key(&task, |worker| worker.task).ok()
    }

    /// All jobs that are ready are in one queue.
    pub(crate) fn has_one_queue(&self) -> bool {
        self.rules.queues == JobQueues::One
    }

    /// A worker that is at the pool goes on: a pass is over that is not behind it yet.
    pub(crate) fn passes(&mut self, worker: usize) -> bool {
        let own = &mut self.workers[worker].passes;
        let over = *own < self.passes;
        *own += u64::from(over);
        over
    }

    fn queue(&mut self, worker: usize) -> &mut VecDeque<u32> {
        let own = if self.rules.queues == JobQueues::One { 0 } else { worker };
        &mut self.queues[own]
    }

    /// A worker begins the next pass.
    fn begin(&mut self, first: usize) {
        self.missing.copy_from_slice(&self.before);
        self.left = self.jobs.len();
        let roots = (0..self.jobs.len() as u32).filter(|job| self.before[*job as usize] == 0);
        let roots: Vec<u32> = roots.collect();
        self.ready = roots.len();
        for (at, job) in roots.into_iter().enumerate() {
            let worker = match self.rules.roots {
                Roots::First => first,
                Roots::InTurns => at % self.workers.len(),
            };
            self.queue(worker).push_back(job);
        }
    }

    /// A worker takes a job that is ready, of a new pass if none is under way. None: it is to wait.
    pub(crate) fn take(&mut self, worker: usize) -> Option<Taken> {
        if self.left == 0 {
            self.begin(worker);
        }
        if self.ready == 0 {
            return None;
        }
        let own = self.rules.own;
        let mut from = None;
        let job = pop(self.queue(worker), own).or_else(|| {
            let victim = self.victim(worker)?;
            self.steals += 1;
            from = Some(self.workers[victim].task);
            pop(&mut self.queues[victim], self.rules.steal)
        })?;
        self.ready -= 1;
        self.workers[worker].job = Some(job);
        let Job { work, spread, profile, .. } = self.jobs[job as usize];
        let number = self.passes.wrapping_mul(self.jobs.len() as u64).wrapping_add(job.into());
        Some(Taken { work, spread, profile, draw: rng::draw(self.lengths, number), from })
    }

    /// The worker that another one steals from.
    fn victim(&mut self, thief: usize) -> Option<usize> {
        let others = self.workers.len() - 1;
        let first = match self.rules.victims {
            Victims::Next => 0,
            Victims::Random => {
                rng::below(others as u64, rng::next(&mut self.workers[thief].victims)) as usize
            }
        };
        let mut victims = (0..others).map(|at| (thief + 1 + (first + at) % others) % self.workers.len());
        victims.find(|victim| !self.queues[*victim].is_empty())
    }

    /// A worker has done its job, if it had one: what follows.
    pub(crate) fn end(&mut self, worker: usize) -> Option<Ended> {
        let job = self.workers[worker].job.take()?;
        self.workers[worker].done += 1;
        self.left -= 1;
        if self.left == 0 {
            self.passes += 1;
            return Some(Ended::Pass);
        }
        let (jobs, before) = (Arc::clone(&self.jobs), self.ready);
        for next in &jobs[job as usize].next {
            let missing = &mut self.missing[*next as usize];
            *missing -= 1;
            if *missing == 0 {
                self.queue(worker).push_back(*next);
                self.ready += 1;
            }
        }
        Some(Ended::Ready(self.ready - before))
    }

    /// A worker waits, behind all others.
    pub(crate) fn wait(&mut self, worker: usize) {
        self.waits += 1;
        self.waiting.push_back(worker as u32);
    }

    /// Who is told of a job: the first one who has not gone to sleep, or else the first one.
    pub(crate) fn next_told(&mut self, sleeps: impl Fn(TaskId) -> bool) -> Option<TaskId> {
        let awake = |worker: &u32| !sleeps(self.workers[*worker as usize].task);
        let at = self.waiting.iter().position(awake).unwrap_or(0);
        self.waiting.remove(at).map(|worker| self.workers[worker as usize].task)
    }

    /// The next of those who wait at the end of a pass.
    pub(crate) fn next_released(&mut self) -> Option<TaskId> {
        self.waiting.pop_front().map(|worker| self.workers[worker as usize].task)
    }

    /// What it has done.
    pub(crate) fn report(&self) -> PoolReport {
        PoolReport {
            name: self.name.clone(),
            passes: self.passes,
            jobs: self.workers.iter().map(|worker| worker.done).collect(),
            steals: self.steals,
            waits: self.waits,
        }
    }

    /// Each job that is not done is in a queue, has a worker, or waits for others, and so many are left.
    pub(crate) fn check(&self) {
        let name = &self.name;
        let queued: usize = self.queues.iter().map(VecDeque::len).sum();
        assert!(queued == self.ready, "the pool `{name}` has {queued} ready jobs and counts {}", self.ready);
        let taken = self.workers.iter().filter(|worker| worker.job.is_some()).count();
        let held = self.missing.iter().filter(|missing| **missing > 0).count();
        let found = if self.left == 0 { 0 } else { queued + taken + held };
        assert!(found == self.left, "the pool `{name}` has {found} jobs to do and counts {}", self.left);
        let idle = self.left > 0 || self.waiting.is_empty();
        assert!(idle, "{} workers of the pool `{name}` wait for a pass that is over", self.waiting.len());
    }
}

fn pop(queue: &mut VecDeque<u32>, end: JobEnd) -> Option<u32> {
    match end {
        JobEnd::Newest => queue.pop_back(),
        JobEnd::Oldest => queue.pop_front(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::time::Span;

    const WORKERS: [TaskId; 3] = [TaskId(4), TaskId(5), TaskId(9)];

    /// Jobs with works of 1, 2, ... ns by their positions.
    fn pool(next: &[&[u32]], rules: PoolRules) -> Pool {
        let job = |(at, next): (u64, &&[u32])| Job {
            work: Work::from_span(Span::from_ns(at)),
            spread: Spread::NONE,
            profile: ProfileId(0),
            next: next.to_vec(),
        };
        let jobs: Vec<Job> = (1..).zip(next).map(job).collect();
        Pool::new(program::Pool { name: "p".into(), jobs: jobs.into(), rules }, 0, 1, &WORKERS)
    }

    /// The job that a worker takes when it has done the one before, and from whom.
    fn taken(pool: &mut Pool, worker: usize) -> Option<(u64, Option<u32>)> {
        pool.end(worker);
        let taken = pool.take(worker);
        pool.check();
        taken.map(|job| (job.work.floor_ns() - 1, job.from.map(|task| task.0)))
    }

    #[test]
    fn workers_take_the_newest_of_their_own_and_steal_the_oldest() {
        let rules = PoolRules { victims: Victims::Next, ..PoolRules::STEALING };
        let mut pool = pool(&[&[], &[], &[], &[]], rules);
        assert_eq!(pool.worker(TaskId(9)), Some(2));
        assert_eq!(taken(&mut pool, 1), Some((3, None)));
        assert_eq!(taken(&mut pool, 2), Some((0, Some(5))));
        assert_eq!(taken(&mut pool, 0), Some((1, Some(5))));
        assert_eq!(pool.end(1), Some(Ended::Ready(0)));
        assert_eq!(taken(&mut pool, 1), Some((2, None)));
        assert_eq!([2, 1, 0].map(|worker| pool.end(worker)).last(), Some(&Some(Ended::Pass)));
        assert_eq!((pool.report().steals, pool.report().jobs), (2, vec![1, 2, 1]));
        assert_eq!([0, 0, 1].map(|worker| pool.passes(worker)), [true, false, true]);
        // The third worker has not been there, and the next pass is under way.
        assert_eq!(taken(&mut pool, 1), Some((3, None)));
        assert_eq!([2, 2].map(|worker| pool.passes(worker)), [true, false]);
    }

    #[test]
    fn roots_go_to_all_in_turns() {
        let rules = PoolRules {
            roots: Roots::InTurns,
            own: JobEnd::Oldest,
            victims: Victims::Next,
            ..PoolRules::STEALING
        };
        let mut pool = pool(&[&[][..]; 5], rules);
        assert_eq!([1, 1].map(|worker| taken(&mut pool, worker)), [Some((1, None)), Some((4, None))]);
        // Whoever has none asks the next one first.
        assert_eq!(taken(&mut pool, 1), Some((2, Some(9))));
        assert_eq!(taken(&mut pool, 1), Some((0, Some(4))));
    }

    #[test]
    fn victims_are_drawn_among_all_others() {
        let mut found = [[0; 3]; 3];
        let rules = PoolRules { roots: Roots::InTurns, ..PoolRules::STEALING };
        let mut pool = pool(&[&[][..]; 3_000], rules);
        for (thief, victims) in found.iter_mut().enumerate() {
            for _ in 0..300 {
                pool.take(thief);
                victims[pool.victim(thief).unwrap()] += 1;
            }
        }
        for (thief, victims) in found.iter().enumerate() {
            assert_eq!(victims[thief], 0, "{found:?}");
            assert!(victims.iter().filter(|count| (110..190).contains(*count)).count() == 2, "{found:?}");
        }
    }

    #[test]
    fn successors_are_ready_when_all_before_them_are_done() {
        let mut pool = pool(&[&[2, 3], &[2], &[], &[]], PoolRules::SHARED);
        assert_eq!([0, 1].map(|worker| taken(&mut pool, worker)), [Some((0, None)), Some((1, None))]);
        assert_eq!(taken(&mut pool, 2), None);
        pool.wait(2);
        pool.check();
        assert_eq!(pool.end(0), Some(Ended::Ready(1)));
        assert_eq!(pool.end(0), None);
        assert_eq!(pool.next_told(|task| task == TaskId(9)), Some(TaskId(9)));
        assert_eq!(pool.end(1), Some(Ended::Ready(1)));
        assert_eq!([2, 0].map(|worker| taken(&mut pool, worker)), [Some((3, None)), Some((2, None))]);
        [0, 1].into_iter().for_each(|worker| pool.wait(worker));
        // Who is awake is told before who sleeps.
        assert_eq!(pool.next_told(|task| task == TaskId(4)), Some(TaskId(5)));
        assert_eq!((pool.next_released(), pool.next_released()), (Some(TaskId(4)), None));
    }

    #[test]
    fn lengths_depend_on_the_pass_and_the_job_alone() {
        let draws = |order: [usize; 2]| {
            let mut pool = pool(&[&[][..]; 2], PoolRules::SHARED);
            let mut pass = || {
                let drawn = order.map(|worker| pool.take(worker).map(|taken| taken.draw));
                order.into_iter().for_each(|worker| _ = pool.end(worker));
                drawn
            };
            [pass(), pass()]
        };
        assert_eq!(draws([0, 1]), draws([2, 0]));
        let [first, second] = draws([0, 1]);
        assert_ne!(first, second);
    }
}
