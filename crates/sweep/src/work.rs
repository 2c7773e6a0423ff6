//! A worker: simulates the runs of a shard that are missing, on several threads, and appends what each
//! measured as soon as it ends.

use std::collections::{BTreeMap, VecDeque};
use std::sync::atomic::Ordering;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use experiment::run::STACK;
use experiment::size;
use notation::number::bytes;
use scenario::configuration::Configuration;
use scenario::plan::RunPlan;
use scenario::{Configured, Grid};

use crate::plan::{Place, Plan, Shard};
use crate::request::Request;
use crate::row::{COMPLETED, Row};
use crate::simulated::{Kept, Simulated};
use crate::store::{self, Journal, Store, StoreError};
use crate::until::{self, Known, Need};

/// What a worker did.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Worked {
    /// Runs that it simulated.
    pub runs: u64,
    /// Runs that did not complete.
    pub not_completed: u64,
    /// It was stopped before all runs of the shard were there.
    pub stopped: bool,
}

/// A configuration of which runs are executed.
struct Current {
    /// Its position among the configurations of the plan.
    position: u64,
    configuration: Configuration,
    configured: Result<Configured, String>,
}

/// A run to be simulated.
struct Job {
    current: Arc<Current>,
    place: Place,
    /// None if the configuration is not valid.
    plan: Option<RunPlan>,
}

/// Replicates of a configuration that have not become jobs yet.
struct Batch {
    current: Arc<Current>,
    next: u32,
    end: u32,
}

/// What the threads share.
struct State {
    /// The next combination of the grid, and the position of its configuration.
    next: (u64, u64),
    batches: VecDeque<Batch>,
    jobs: VecDeque<Job>,
    /// Threads that may still add jobs.
    busy: usize,
    done: Done,
    known: Known,
    /// Unfinished runs of configurations whose need of replicates is not known.
    pending: BTreeMap<u64, u64>,
    worked: Worked,
    failed: Option<StoreError>,
}

/// The runs that are there, one bit each.
struct Done(Vec<u64>);

impl Done {
    fn has(&self, run: u64) -> bool {
        self.0.get((run / 64) as usize).is_some_and(|word| word >> (run % 64) & 1 == 1)
    }

    fn add(&mut self, run: u64) {
        let word = (run / 64) as usize;
        if word >= self.0.len() {
            self.0.resize(word + 1, 0);
        }
        self.0[word] |= 1 << (run % 64);
    }
}

struct Worker<'a> {
    grid: &'a Grid,
    plan: &'a Plan,
    request: Request<'a>,
    state: Mutex<State>,
    more: Condvar,
    journal: Mutex<Journal<'a>>,
    kept: Mutex<Kept>,
}

/// Simulates the runs of a shard that the directory lacks.
///
/// # Errors
/// The directory cannot be read or written, or a run does not fit into memory.
pub fn work(grid: &Grid, plan: &Plan, store: &Store, request: Request<'_>) -> Result<Worked, StoreError> {
    let Some(journal) = store.journal(&request)? else {
        return Ok(Worked { stopped: true, ..Worked::default() });
    };
    let (mut done, mut known) = (Done(Vec::new()), Known::new());
    let mut wrong = None;
    store.index(&mut |run, line| {
        done.add(run);
        if plan.until.is_some() {
            match Row::read(line) {
                Ok(row) => until::add(plan, &mut known, &row),
                Err(why) => wrong = Some(why),
            }
        }
    })?;
    if let Some(why) = wrong {
        return Err(StoreError::Failed(format!(
            "a line of {} cannot be read: {why}",
            store.directory().display()
        )));
    }
    let (there, all) = extent(plan, request.shard, &done);
    (request.begin)(there, all);
    let state = State {
        next: (0, 0),
        batches: VecDeque::new(),
        jobs: VecDeque::new(),
        busy: 0,
        done,
        known,
        pending: BTreeMap::new(),
        worked: Worked::default(),
        failed: None,
    };
    let worker = Worker {
        grid,
        plan,
        request,
        state: Mutex::new(state),
        more: Condvar::new(),
        journal: Mutex::new(journal),
        kept: Mutex::default(),
    };
    std::thread::scope(|scope| {
        let start = |_: &usize| {
            std::thread::Builder::new().stack_size(STACK).spawn_scoped(scope, || worker.thread()).is_ok()
        };
        // A limit of threads or of memory may leave fewer of them, or only this one.
        if (0..request.jobs.max(1)).take_while(start).count() == 0 {
            worker.thread();
        }
    });
    let state = worker.state.into_inner().unwrap_or_else(PoisonError::into_inner);
    if let Some(error) = state.failed {
        return Err(error);
    }
    worker.journal.into_inner().unwrap_or_else(PoisonError::into_inner).finish()?;
    Ok(state.worked)
}

/// The runs of a shard that are there, and all of them.
fn extent(plan: &Plan, shard: Shard, done: &Done) -> (u64, u64) {
    let (mut there, mut all) = (0, 0);
    for configuration in 0..plan.configurations {
        for replicate in 0..plan.most_replicates() {
            if shard.has(plan, configuration, replicate) {
                let first = plan.number(Place { configuration, replicate, slot: 0 });
                let runs = first..first + plan.slots() as u64;
                all += plan.slots() as u64;
                there += runs.filter(|run| done.has(*run)).count() as u64;
            }
        }
    }
    (there, all)
}

impl Worker<'_> {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Executes jobs until none is left.
    fn thread(&self) {
        while let Some(job) = self.job() {
            let row = self.row(&job);
            let line = row.line();
            let entry = store::entry(&line);
            let append =
                self.journal.lock().unwrap_or_else(PoisonError::into_inner).append(row.run, line, &entry);
            let mut state = self.state();
            state.busy -= 1;
            match append {
                Ok(()) => self.finished(&mut state, &job, &row),
                Err(error) => state.failed = Some(error),
            }
            drop(state);
            self.more.notify_all();
            (self.request.progress)();
        }
        self.more.notify_all();
    }

    /// Notes a run that is there now. If it was the last of its configuration, more replicates may be needed.
    fn finished(&self, state: &mut State, job: &Job, row: &Row) {
        state.worked.runs += 1;
        state.worked.not_completed += u64::from(row.outcome != COMPLETED);
        let (Some(until), position) = (self.plan.until, job.current.position) else { return };
        until::add(self.plan, &mut state.known, row);
        let Some(pending) = state.pending.get_mut(&position) else { return };
        *pending -= 1;
        if *pending > 0 {
            return;
        }
        state.pending.remove(&position);
        match until::need(self.plan, until, position, &state.known) {
            Need::More(end) => self.begin(state, &job.current, end),
            Need::Enough(_) => {
                let first = self.plan.number(Place { configuration: position, replicate: 0, slot: 0 });
                let end = self.plan.number(Place { configuration: position + 1, replicate: 0, slot: 0 });
                let mut rest = state.known.split_off(&first);
                state.known.append(&mut rest.split_off(&end));
            }
        }
    }

    /// Puts the missing replicates of a configuration, up to an end, in the queue.
    fn begin(&self, state: &mut State, current: &Arc<Current>, end: u32) {
        if self.plan.until.is_some() {
            let missing =
                (0..end).map(|replicate| self.missing(state, current.position, replicate).len() as u64);
            let missing: u64 = missing.sum();
            state.pending.insert(current.position, missing);
        }
        state.batches.push_back(Batch { current: Arc::clone(current), next: 0, end });
    }

    /// The slots of a replicate that belong to the shard and are not there.
    fn missing(&self, state: &State, configuration: u64, replicate: u32) -> Vec<usize> {
        if !self.request.shard.has(self.plan, configuration, replicate) {
            return Vec::new();
        }
        let run = |slot| self.plan.number(Place { configuration, replicate, slot });
        (0..self.plan.slots()).filter(|slot| !state.done.has(run(*slot))).collect()
    }

    /// The next run; none when all are there or the work must stop. The thread counts as busy until it has
    /// noted the end of the run.
    fn job(&self) -> Option<Job> {
        let mut state = self.state();
        loop {
            if state.failed.is_some() {
                return None;
            }
            if self.request.stop.load(Ordering::Relaxed) {
                let left = !state.jobs.is_empty() || !state.batches.is_empty();
                state.worked.stopped |= left || state.busy > 0 || self.next(&mut state).is_some();
                return None;
            }
            if let Some(job) = state.jobs.pop_front() {
                state.busy += 1;
                return Some(job);
            }
            if let Some(batch) = state.batches.pop_front() {
                state = self.fill(state, batch);
                continue;
            }
            if let Some((number, position, end)) = self.next(&mut state) {
                state.busy += 1;
                drop(state);
                let current = self.grid.configuration(number).map(|configuration| {
                    Arc::new(Current { position, configuration, configured: self.grid.resolve(number) })
                });
                state = self.state();
                state.busy -= 1;
                if let Some(current) = current {
                    self.begin(&mut state, &current, end);
                }
                continue;
            }
            if state.busy == 0 {
                return None;
            }
            state = self.more.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Makes jobs of the next replicate of a batch.
    fn fill<'s>(&'s self, mut state: MutexGuard<'s, State>, mut batch: Batch) -> MutexGuard<'s, State> {
        let (replicate, current) = (batch.next, Arc::clone(&batch.current));
        let missing = self.missing(&state, current.position, replicate);
        batch.next += 1;
        if batch.next < batch.end {
            state.batches.push_front(batch);
        }
        if missing.is_empty() {
            return state;
        }
        state.busy += 1;
        drop(state);
        let mut plans: Vec<Option<RunPlan>> = match &current.configured {
            Ok(configured) => configured.runs(replicate).into_iter().map(Some).collect(),
            Err(_) => Vec::new(),
        };
        let too_large = plans.iter().flatten().find_map(|plan| self.too_large(plan));
        let mut state = self.state();
        state.busy -= 1;
        if let Some(why) = too_large {
            let label = &current.configuration.label;
            state.failed = Some(StoreError::Refused(format!("{why}, at {label}")));
            return state;
        }
        for slot in missing {
            let plan = plans.get_mut(slot).and_then(Option::take);
            let place = Place { configuration: current.position, replicate, slot };
            state.done.add(self.plan.number(place));
            state.jobs.push_back(Job { current: Arc::clone(&current), place, plan });
        }
        self.more.notify_all();
        state
    }

    /// Why a run does not fit into memory, if it does not.
    fn too_large(&self, plan: &RunPlan) -> Option<String> {
        let limit = self.request.limit?;
        let needed = size::of_run(plan).saturating_mul(self.request.jobs as u64);
        (needed > limit.bytes).then(|| {
            let (needed, jobs) = (bytes(needed), self.request.jobs);
            format!(
                "{jobs} runs at the same time need about {needed}, and {} is {}: use fewer `--jobs` or \
                    smaller runs",
                limit.source,
                bytes(limit.bytes)
            )
        })
    }

    /// The next configuration of the shard with missing runs: its combination, its position, and the end of
    /// its replicates so far.
    fn next(&self, state: &mut State) -> Option<(u64, u64, u32)> {
        while state.next.0 < self.grid.combinations() {
            let (number, position) = state.next;
            state.next.0 += 1;
            if !self.grid.has(number) {
                continue;
            }
            state.next.1 += 1;
            let end = match self.plan.until {
                None => self.plan.provenance.repeat,
                Some(until) => match until::need(self.plan, until, position, &state.known) {
                    Need::More(end) => end,
                    Need::Enough(_) => continue,
                },
            };
            if (0..end).any(|replicate| !self.missing(state, position, replicate).is_empty()) {
                return Some((number, position, end));
            }
        }
        None
    }

    /// Simulates a run.
    fn row(&self, job: &Job) -> Row {
        let (plan, place) = (self.plan, job.place);
        let simulated = match (&job.plan, &job.current.configured) {
            (Some(run), _) if place.slot < plan.dedicated.len() => self.dedicated(run),
            (Some(run), _) => Simulated::of(&plan.provenance.apps, run),
            (None, Err(why)) => Simulated::invalid(why),
            (None, Ok(_)) => Simulated::invalid("the configuration has fewer runs than the others"),
        };
        simulated.row(plan, &job.current.configuration, place)
    }

    /// A dedicated run: another configuration may have had the same one.
    fn dedicated(&self, run: &RunPlan) -> Simulated {
        let kept = || self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = kept().find(run) {
            return known;
        }
        let simulated = Simulated::of(&self.plan.provenance.apps, run);
        kept().add(run, &simulated);
        simulated
    }
}
