//! Pools of jobs of the reference engine: every job has a state, and queues are looked at one by one.

use sim_core::ids::{Id as _, PoolId};
use sim_core::outcome::PoolReport;
use sim_core::policy::TaskState;
use sim_core::program::{AppSpec, JobEnd, JobQueues, Objects, Op, Pool, Roots, Victims};
use sim_core::rng::{self, Purpose};
use sim_core::time::Work;

use super::Reference;
use super::state::{LOCK, NEVER, Overhead, SPIN, Waiting};

/// What a job does in the present pass.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Stage {
    /// It is not ready.
    Held,
    /// In the queue of a worker, since this many jobs were queued.
    Queued(usize, u64),
    /// A worker has it.
    Taken(usize),
    Done,
}

/// A pool.
pub(super) struct RefPool {
    spec: Pool,
    seed: u64,
    number: u64,
    /// Its tasks.
    workers: Vec<usize>,
    stages: Vec<Stage>,
    /// Jobs that were ever queued.
    queued: u64,
    /// A pass is under way; passes that are over, and how many are behind each worker.
    open: bool,
    over: u64,
    behind: Vec<u64>,
    /// How often each worker has looked for somebody to steal from.
    looks: Vec<u64>,
    /// Tasks that wait for a job, first come first.
    line: Vec<usize>,
    /// The one queue: who has its cache line; since when and until when that is under way without a pause.
    owner: Option<usize>,
    moves: (u64, u64),
    report: PoolReport,
}

impl RefPool {
    /// All pools of a run.
    pub(super) fn all(objects: &Objects, specs: &[AppSpec], seed: u64) -> Vec<Self> {
        let pool = |(number, spec): (usize, &Pool)| {
            let works = |app: &AppSpec| app.program.ops().contains(&Op::Work(PoolId::new(number)));
            let of_app = specs.iter().flat_map(|app| vec![works(app); app.tasks as usize]);
            let workers: Vec<usize> =
                of_app.enumerate().filter_map(|(task, works)| works.then_some(task)).collect();
            let count = workers.len();
            let (name, jobs) = (spec.name.clone(), vec![0; count]);
            Self {
                stages: vec![Stage::Held; spec.jobs.len()],
                spec: spec.clone(),
                seed,
                number: number as u64,
                workers,
                queued: 0,
                open: false,
                over: 0,
                behind: vec![0; count],
                looks: vec![0; count],
                line: Vec::new(),
                owner: None,
                moves: (0, 0),
                report: PoolReport { name, passes: 0, jobs, steals: 0, waits: 0 },
            }
        };
        objects.pools.iter().enumerate().map(pool).collect()
    }

    fn queue(&mut self, job: usize, worker: usize) {
        self.queued += 1;
        let queue = if self.spec.rules.queues == JobQueues::One { 0 } else { worker };
        self.stages[job] = Stage::Queued(queue, self.queued);
    }

    /// A job is ready when all that name it are done.
    fn is_ready(&self, job: usize) -> bool {
        let names = |other: &usize| self.spec.jobs[*other].next.contains(&(job as u32));
        (0..self.stages.len()).filter(names).all(|other| self.stages[other] == Stage::Done)
    }

    /// The job that somebody takes from this end of a queue.
    fn first(&self, queue: usize, end: JobEnd) -> Option<usize> {
        let here = self.stages.iter().enumerate().filter_map(|(job, stage)| match stage {
            Stage::Queued(in_queue, since) if *in_queue == queue => Some((*since, job)),
            _ => None,
        });
        let job = if end == JobEnd::Newest { here.max() } else { here.min() };
        job.map(|(_, job)| job)
    }

    /// Whose queues a worker looks at, in order.
    fn victims(&mut self, worker: usize) -> Vec<usize> {
        let count = self.workers.len();
        let mut others: Vec<usize> = (worker + 1..count).chain(0..worker).collect();
        if self.spec.rules.victims == Victims::Random {
            let key = rng::key(self.seed, Purpose::Steal, (self.number << 32) + worker as u64);
            self.looks[worker] += 1;
            let first = rng::below(others.len() as u64, rng::draw(key, self.looks[worker]));
            others.rotate_left(first as usize);
        }
        others
    }

    /// The first worker to come begins a pass.
    fn begins(&mut self, worker: usize) {
        self.open = true;
        self.stages.fill(Stage::Held);
        let roots: Vec<usize> = (0..self.stages.len()).filter(|job| self.is_ready(*job)).collect();
        for (turn, job) in roots.into_iter().enumerate() {
            let whose = match self.spec.rules.roots {
                Roots::First => worker,
                Roots::InTurns => turn % self.workers.len(),
            };
            self.queue(job, whose);
        }
    }

    /// A worker finds a job, and in whose queue if it steals it.
    fn finds(&mut self, worker: usize) -> Option<(usize, Option<usize>)> {
        let rules = self.spec.rules;
        let own = if rules.queues == JobQueues::One { 0 } else { worker };
        if let Some(job) = self.first(own, rules.own) {
            return Some((job, None));
        }
        if !self.stages.iter().any(|stage| matches!(stage, Stage::Queued(..))) {
            return None;
        }
        let victims = self.victims(worker);
        victims.into_iter().find_map(|other| Some((self.first(other, rules.steal)?, Some(other))))
    }
}

impl Reference<'_> {
    /// The current task works in a pool: true when it goes on with its program.
    pub(super) fn work_in(&mut self, c: usize, t: usize, of: PoolId, overhead: &mut Overhead) -> bool {
        let of = of.index();
        let place = self.objects.jobs[of].workers.iter().position(|worker| *worker == t);
        let Some(worker) = place else { unreachable!("a task that is no worker of its pool") };
        let computed = self.objects.jobs[of].stages.iter().position(|stage| *stage == Stage::Taken(worker));
        if let Some(job) = computed {
            self.job_is_done(c, of, (worker, job), overhead);
        }
        loop {
            let pool = &mut self.objects.jobs[of];
            if pool.behind[worker] < pool.over {
                pool.behind[worker] += 1;
                self.tasks[t].pc += 1;
                return true;
            }
            if !pool.open {
                pool.begins(worker);
            }
            let Some((job, victim)) = pool.finds(worker) else {
                pool.report.waits += 1;
                pool.line.push(t);
                self.wait(c, Waiting::Job, NEVER, *overhead);
                return false;
            };
            pool.stages[job] = Stage::Taken(worker);
            if let Some(victim) = victim {
                pool.report.steals += 1;
                let there = self.tasks[pool.workers[victim]].cpu;
                overhead.0[SPIN] += self.latency(there, c);
            }
            self.fetch_queue(c, of, overhead);
            if self.job_begins(c, t, of, job, *overhead) {
                return false;
            }
            self.job_is_done(c, of, (worker, job), overhead);
        }
    }

    /// The current task computes a job, if that has work.
    fn job_begins(&mut self, c: usize, t: usize, of: usize, number: usize, overhead: Overhead) -> bool {
        let pool = &self.objects.jobs[of];
        let job = pool.spec.jobs[number].clone();
        let nth = pool.over * pool.spec.jobs.len() as u64 + number as u64;
        let draw = rng::draw(rng::key(pool.seed, Purpose::Job, pool.number), nth);
        let spec = &self.apps[self.tasks[t].app].spec;
        let varied = u128::from(spec.program.vary(job.work.raw(), job.spread, draw));
        let scale = spec.rank_scale.get(self.tasks[t].rank as usize).copied().unwrap_or(1_000);
        let scaled = (varied * u128::from(scale) / 1_000).min(u128::from(Work::MAX.raw()));
        let raw = scaled.max(u128::from(job.work > Work::ZERO));
        let profile = spec.program.profiles()[job.profile.index()];
        let task = &mut self.tasks[t];
        task.remaining = raw as u64;
        task.asked += raw;
        if raw == 0 {
            return false;
        }
        task.profile = profile;
        task.source = None;
        self.compute(c, overhead);
        true
    }

    /// A job is over: others are ready, or the pass is over, and those who wait are told.
    fn job_is_done(&mut self, c: usize, of: usize, (worker, job): (usize, usize), overhead: &mut Overhead) {
        let pool = &mut self.objects.jobs[of];
        pool.stages[job] = Stage::Done;
        pool.report.jobs[worker] += 1;
        if pool.stages.iter().all(|stage| *stage == Stage::Done) {
            pool.open = false;
            pool.over += 1;
            pool.report.passes += 1;
            for other in std::mem::take(&mut pool.line) {
                let seen = self.seen_at(c, other, overhead);
                self.signal(c, other, seen, overhead);
            }
            return;
        }
        let next = pool.spec.jobs[job].next.clone();
        let next: Vec<usize> =
            next.iter().map(|job| *job as usize).filter(|job| pool.is_ready(*job)).collect();
        next.iter().for_each(|job| pool.queue(*job, worker));
        if !next.is_empty() {
            self.fetch_queue(c, of, overhead);
        }
        // One of them is for itself.
        for _ in next.iter().skip(1) {
            let line = &self.objects.jobs[of].line;
            let awake = line.iter().position(|t| self.tasks[*t].state != TaskState::Sleeping);
            if line.is_empty() {
                break;
            }
            let told = self.objects.jobs[of].line.remove(awake.unwrap_or(0));
            let seen = self.seen_at(c, told, overhead);
            self.signal(c, told, seen, overhead);
        }
    }

    /// A cpu takes the lock of the one queue after `overhead`, and waits for its line before it does.
    fn fetch_queue(&mut self, c: usize, of: usize, overhead: &mut Overhead) {
        if self.objects.jobs[of].spec.rules.queues != JobQueues::One {
            return;
        }
        let at = self.now + overhead.total();
        let owner = self.objects.jobs[of].owner.replace(c);
        let own = owner.filter(|owner| *owner != c).map_or(0, |owner| self.latency(owner, c));
        let pool = &mut self.objects.jobs[of];
        let (since, until) = pool.moves;
        let before = if at < since { 0 } else { until.saturating_sub(at) };
        if at > until {
            pool.moves = (at, at);
        }
        pool.moves.1 += own;
        overhead.0[LOCK] += before + own;
    }

    /// What the pools of the run have done.
    pub(super) fn pool_reports(&self) -> Vec<PoolReport> {
        self.objects.jobs.iter().map(|pool| pool.report.clone()).collect()
    }
}
