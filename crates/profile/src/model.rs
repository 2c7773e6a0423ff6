//! From what is known of a job to the numbers of an application.

use crate::asked::{Asked, DEMAND, INTERVAL, SPREAD, SPREAD_MIDDLE, Topic};
use crate::job::{Job, Mpi, Regions, Word};
use crate::shape::Shape;
use crate::source::{Num, short};
use crate::values::{Number, Unit, middle};
use crate::waiting;

/// Work of a task where neither its time nor its cpu time is known, in s: long beside start-up and time
/// slices, so that ratios of times do not depend on it.
const SECONDS: f64 = 10.0;
/// Tasks that were busy for a smaller share of the time waited: for each other, for a device, for a cpu.
const BUSY: f64 = 0.95;
/// Involuntary switches in a second of cpu time from which on other programs had its cpus. At 10 times a
/// slice of 3 ms (`base_slice_ns` of Linux from 8 cpus on) they had 3 % at least; the
/// kernel's own work on an idle host stays below.
const PREEMPTED: f64 = 10.0;
/// The parallel part of the work on which barriers are counted, at least: below it barriers hardly matter.
const PARALLEL: f64 = 0.1;
/// A job of one task that sleeps at least so often, and is busy for less than `BUSY_ALONE`, answers requests.
const SLEEPS: f64 = 20.0;
/// See `SLEEPS`.
const BUSY_ALONE: f64 = 0.8;
/// How the origin of work ends that is cpu time.
const CPU_TIME: &str = " (cpu time)";
/// Loops of a hybrid program from one exchange to the next where nothing states it: the default of `hybrid`.
const EXCHANGE: f64 = 10.0;
/// The longest work of a task between two barriers that is written, in s: half of what a scenario takes
/// (36 minutes), because of what varies.
const PIECE: f64 = 1_080.0;
/// Most work of a task in a trial, in s, and the simulated steps of all tasks that it may take.
const TRIAL: f64 = 1.0;
/// See `TRIAL`.
const TRIAL_STEPS: f64 = 2e6;

/// The workload of an application.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Workload {
    Spmd,
    Hybrid,
    Interactive,
}

impl Workload {
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Spmd => "spmd",
            Self::Hybrid => "hybrid",
            Self::Interactive => "interactive",
        }
    }
}

/// An application of the scenario.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct App {
    pub(crate) name: String,
    pub(crate) workload: Workload,
    /// The numbers of the workload, and of the application.
    pub(crate) numbers: Vec<Number>,
    pub(crate) runtime: Word,
    pub(crate) remarks: Vec<String>,
    pub(crate) quota: Option<(u64, u64, String)>,
    pub(crate) asked: Vec<Asked>,
    /// Cpus that it had, or as many as it has tasks.
    pub(crate) cpus: f64,
    /// Tasks, and the work of each in s.
    pub(crate) tasks: f64,
    pub(crate) each: f64,
    /// Work between two barriers of a task, in s.
    pub(crate) interval: f64,
}

impl App {
    /// The work in s of each task in a trial, which is long enough for the longest interval and has not too
    /// many steps with the shortest.
    pub(crate) fn trial(&self) -> f64 {
        trial(self.each, self.tasks)
    }

    /// Makes the application of a whole job, or of a stretch in which each task has so many seconds of work.
    pub(crate) fn of_stretch(job: &Job, name: &str, stretch: Option<f64>) -> Self {
        let whole = Self::of(job, name);
        let Some(seconds) = stretch.filter(|seconds| *seconds < whole.each) else { return whole };
        let part = seconds / whole.each;
        let mut app = if whole.workload == Workload::Interactive {
            // A few requests are no sign that it answers requests, so the whole job decides.
            let mut app = whole;
            for number in app.numbers.iter_mut().filter(|number| number.path == "workload.requests") {
                let requests = job.sleeps.as_ref().map_or(1.0, |sleeps| sleeps.value * part);
                number.value = Unit::Count.show(requests);
            }
            app
        } else {
            let mut short = job.part(part);
            if known_work(&short, &Shape::of(&short)).is_none() {
                short.work = Some(Num::new(seconds * whole.tasks, "--stretch x tasks"));
            }
            Self::of(&short, name)
        };
        app.remarks.push(format!(
            "a stretch of it (--stretch): work and counts are {} % of those of the job",
            notation::number::short(100.0 * part)
        ));
        app
    }

    /// Makes the application; `name` is legal and no other one has it.
    pub(crate) fn of(job: &Job, name: &str) -> Self {
        let shape = Shape::of(job);
        let (runtime, known) = waiting::of(job, &shape);
        let work = work(job, &shape);
        let cpus = job.allocated.as_ref().map_or(shape.tasks(), |num| num.value.max(1.0));
        let mut app = Self {
            name: name.to_owned(),
            workload: Workload::Spmd,
            numbers: Vec::new(),
            runtime,
            remarks: job.remarks.clone(),
            quota: job.quota.clone(),
            asked: Vec::new(),
            cpus,
            tasks: shape.tasks(),
            each: work.value / shape.tasks(),
            interval: work.value / shape.tasks(),
        };
        if app.requests(job, &shape) {
            return app;
        }
        if shape.ranks > 1.0 && shape.threads > 1.0 {
            app.hybrid(job, &shape, &work);
        } else {
            app.spmd(job, &shape, &work);
        }
        if !known {
            app.asked.push(Asked::new(Topic::Wait, name, "runtime", ("spin", "block")));
        }
        app
    }

    fn number(&mut self, path: &'static str, unit: Unit, num: &Num) {
        self.numbers.push(Number::exact(path, unit, num.value, num.origin.clone()));
    }

    /// A job of one task that sleeps between pieces of work, if it is one.
    fn requests(&mut self, job: &Job, shape: &Shape) -> bool {
        let (Some(cpu), Some(elapsed), Some(sleeps)) = (&job.cpu, &job.elapsed, &job.sleeps) else {
            return false;
        };
        let (busy, count) = (cpu.value / elapsed.value.max(1e-9), sleeps.value);
        if shape.tasks() > 1.0 || shape.range.is_some_and(|(_, most)| most > 2.0) || count < SLEEPS {
            return false;
        }
        if busy >= BUSY_ALONE || job.work.is_some() || job.interval.is_some() {
            return false;
        }
        self.workload = Workload::Interactive;
        self.tasks = 1.0;
        let burst = Num::new(cpu.value / count, format!("{} / {}", cpu.origin, sleeps.origin));
        let slept = (elapsed.value - cpu.value).max(0.0) / count;
        let why = format!("({} - {}) / {}", elapsed.origin, cpu.origin, sleeps.origin);
        self.number("workload.think", Unit::Time, &Num::new(slept, why));
        self.number("workload.burst", Unit::Time, &burst);
        self.number("workload.requests", Unit::Count, sleeps);
        self.number("tasks", Unit::Count, &Num::new(1.0, shape.origin.clone()));
        self.remarks.push("one task that sleeps between pieces of work: each sleep ends a request".into());
        true
    }

    /// Equal tasks with barriers, or one task.
    fn spmd(&mut self, job: &Job, shape: &Shape, work: &Num) {
        self.number("workload.work", Unit::Time, work);
        self.polling(work);
        let several = shape.tasks() > 1.0;
        if several {
            let serial = self.serial(job, shape, work);
            self.intervals(job, shape, work.value * (1.0 - serial).max(PARALLEL) / shape.tasks());
        } else {
            let pieces = (work.value / PIECE).ceil().max(1.0);
            let why = "one task has no barriers; pieces of at most 18 minutes";
            self.numbers.push(Number::exact("workload.intervals", Unit::Count, pieces, why));
        }
        self.memory(job);
        if several {
            self.variation(job, shape);
        }
        self.tasks(shape);
    }

    /// Ranks with threads.
    fn hybrid(&mut self, job: &Job, shape: &Shape, work: &Num) {
        self.workload = Workload::Hybrid;
        self.number("workload.processes", Unit::Count, &Num::new(shape.ranks, shape.origin.clone()));
        let threads = Num::new(shape.threads, shape.origin.clone());
        self.number("workload.threads_per_process", Unit::Count, &threads);
        self.number("workload.work", Unit::Time, work);
        self.polling(work);
        self.intervals(job, shape, work.value / shape.tasks());
        let loops = self.each / self.interval;
        match job.mpi.as_ref().and_then(|mpi| mpi.collectives.as_ref()) {
            Some(calls) if calls.value >= 1.0 => {
                let every = Num::new((loops / calls.value).max(1.0), format!("loops / {}", calls.origin));
                self.number("workload.exchange_every", Unit::Count, &every);
            }
            _ => {
                let every = Num::new(EXCHANGE, "assumed, as `hybrid` has it: mpiP counts exchanges");
                self.number("workload.exchange_every", Unit::Count, &every);
            }
        }
        self.memory(job);
        self.spread(job, shape);
    }

    /// A remark about cpu time that may be polling.
    fn polling(&mut self, work: &Num) {
        if self.tasks > 1.0 && work.origin.ends_with(CPU_TIME) && !waiting::sleeps(&self.runtime.text) {
            // mpiP does not see the barriers of threads.
            let or = if self.workload == Workload::Hybrid { "" } else { " or mpiP" };
            self.remarks.push(format!(
                "cpu time counts as work; where its tasks poll at barriers, some of it is waiting, which \
                 `barrier_s` of regions{or} tells apart"
            ));
        }
    }

    /// The serial share, where something shows one. It is returned.
    fn serial(&mut self, job: &Job, shape: &Shape, work: &Num) -> f64 {
        if job.mpi.is_some() || job.work.is_some() {
            return 0.0;
        }
        let Some(elapsed) = &job.elapsed else { return 0.0 };
        let tasks = shape.tasks();
        if let Some(Regions { all, origin }) = &job.regions {
            let within: f64 = all.iter().map(|region| region.time).sum();
            let share = ((elapsed.value - within).max(0.0) / work.value.max(1e-9)).min(1.0);
            let why = format!("({} - all time_s of {origin}) / work", elapsed.origin);
            self.numbers.push(Number::exact("workload.serial", Unit::Share, share, why));
            return share;
        }
        let Some(cpu) = &job.cpu else { return 0.0 };
        let queued = job.queued.as_ref().map_or(0.0, |queued| queued.value);
        // While one task is in a queue, the others may wait for it or not.
        let (least, most) = (elapsed.value - queued, elapsed.value - queued / tasks);
        if cpu.value >= BUSY * tasks * most || most <= 0.0 {
            return 0.0;
        }
        if job.queued.is_none() && self.preempted(job, cpu.value) {
            return 0.0;
        }
        // One task takes s x work alone and its part of the rest: s + (1 - s) / n = lasted / work.
        let share = |lasted: f64| ((lasted * tasks / cpu.value - 1.0) / (tasks - 1.0)).clamp(0.0, 1.0);
        let known = job.queued.as_ref().map_or_else(String::new, |queued| format!(" less {}", queued.origin));
        let why = format!(
            "tasks were busy for {:.0} % of {}{known}: as one serial part; less if other programs had its \
             cpus",
            100.0 * cpu.value / (tasks * most),
            elapsed.origin
        );
        let (value, low) = if queued > 0.0 { (share(least), share(least)) } else { (share(most), 0.0) };
        self.numbers.push(Number::between("workload.serial", Unit::Share, (value, low, share(most)), why));
        value
    }

    /// Whether other programs had its cpus, by the switches that were counted.
    fn preempted(&mut self, job: &Job, cpu: f64) -> bool {
        let Some(switches) = &job.switches else { return false };
        let sleeps = job.sleeps.as_ref().map_or(0.0, |sleeps| sleeps.value);
        let count = switches.value - sleeps;
        if count < PREEMPTED * cpu {
            return false;
        }
        let what = if job.sleeps.is_some() { "involuntary switches" } else { "switches" };
        let often = count / cpu.max(1e-9);
        self.remarks.push(format!(
            "{often:.0} {what} in a second of cpu time ({}): other programs may have had its cpus, so no \
             serial part is derived",
            switches.origin
        ));
        true
    }

    /// Barriers; `seconds` is the work of a task between the first and the last of them.
    fn intervals(&mut self, job: &Job, shape: &Shape, seconds: f64) {
        let path = "workload.intervals";
        // A scenario takes no longer pieces of work, of one task or of the first one alone.
        let least = (self.each * shape.tasks() / PIECE).max(1.0);
        let put = |app: &mut Self, (value, low, high): (f64, f64, f64), origin: String| {
            let ends = (value.max(least), low.max(least), high.max(least));
            app.interval = seconds / ends.0;
            app.numbers.push(Number::between(path, Unit::Count, ends, origin));
        };
        if let Some(interval) = &job.interval {
            let count = (seconds / interval.value.max(1e-9)).max(1.0);
            return put(self, (count, count, count), format!("work of a task / {}", interval.origin));
        }
        if let Some(Regions { all, origin }) = &job.regions {
            let calls: f64 = all.iter().map(|region| region.calls).sum();
            return put(self, (calls, calls, calls), format!("{origin} all calls"));
        }
        if self.workload == Workload::Spmd
            && let Some((ends, why)) = job.mpi.as_ref().and_then(synchronising)
        {
            return put(self, ends, why);
        }
        if let Some(sleeps) = job.sleeps.as_ref().filter(|_| waiting::sleeps(&self.runtime.text)) {
            let count = sleeps.value / (shape.tasks() - 1.0).max(1.0);
            if count >= 1.0 {
                let why = format!(
                    "{} / {:.0}: all but the last one sleep at a barrier; a half to twice",
                    sleeps.origin,
                    shape.tasks() - 1.0
                );
                return put(self, (count, 0.5 * count, 2.0 * count), why);
            }
        }
        let count = |interval: f64| (seconds / interval).max(1.0);
        let ends = (count(INTERVAL.1), count(INTERVAL.0));
        let why = "assumed: 20 us to 100 ms of work between two barriers".to_owned();
        put(self, (count(middle(INTERVAL.0, INTERVAL.1)), ends.0, ends.1), why);
        let asked = Asked::intervals(&self.name, ends, trial(self.each, self.tasks));
        if asked.low != asked.high {
            self.asked.push(asked);
        }
    }

    /// Its memory traffic, and the share of its time that it waits for that.
    fn memory(&mut self, job: &Job) {
        self.demand(job);
        if let Some((low, high, origin)) = &job.bound {
            let ends = (middle(low.max(1e-4), high.max(1e-4)), *low, *high);
            self.numbers.push(Number::between("workload.bound", Unit::Share, ends, origin.clone()));
        }
    }

    /// Memory traffic.
    fn demand(&mut self, job: &Job) {
        let path = "workload.demand";
        if let Some((low, high, origin)) = &job.demand {
            let ends = (middle(*low, *high), *low, *high);
            self.numbers.push(Number::between(path, Unit::Rate, ends, origin.clone()));
            return;
        }
        let (low, high) = DEMAND;
        let why = "assumed: from a program in its caches to what one core can draw";
        self.numbers.push(Number::between(path, Unit::Rate, (middle(low, high), low, high), why));
        let ends = (Unit::Rate.show(low), Unit::Rate.show(high));
        self.asked.push(Asked::new(Topic::Demand, &self.name, path, (&ends.0, &ends.1)));
    }

    /// What differs between tasks: for ranks their times, else what barriers show.
    fn variation(&mut self, job: &Job, shape: &Shape) {
        let Some(Mpi { ranks, origin, .. }) = &job.mpi else { return self.spread(job, shape) };
        let work: Vec<f64> = ranks.iter().map(|(app, mpi)| app - mpi).collect();
        let mean = work.iter().sum::<f64>() / work.len().max(1) as f64;
        if mean > 0.0 {
            let most = work.iter().map(|work| (work / mean - 1.0).abs()).fold(0.0, f64::max);
            let why = format!("{origin} ff.: largest difference of AppTime - MPITime from its mean");
            self.numbers.push(Number::exact("workload.imbalance", Unit::Share, most, why));
            self.numbers.push(Number {
                path: "workload.shape",
                value: "random".into(),
                range: None,
                origin: "which rank has how much is not kept".into(),
            });
        }
    }

    /// Variation from barrier to barrier.
    fn spread(&mut self, job: &Job, shape: &Shape) {
        let path = "workload.spread";
        if let Some(Regions { all, origin }) = &job.regions
            && all.iter().any(|region| region.barrier.is_some())
        {
            let waited: f64 = all.iter().filter_map(|region| region.barrier).sum();
            let whole: f64 = all.iter().map(|region| region.time * region.threads).sum();
            let (share, n) = ((waited / whole.max(1e-9)).min(0.99), shape.threads.max(2.0));
            // The longest of n uniform pieces of work takes 1 + h (n - 1) / (n + 1) times their mean.
            let half = (share / (1.0 - share) * (n + 1.0) / (n - 1.0)).min(1.0);
            let why = format!(
                "{origin}: {:.1} % of the time of threads is at barriers, as that of {n:.0} uniform pieces; \
                 less where barriers themselves cost time",
                100.0 * share
            );
            self.numbers.push(Number::between(path, Unit::Share, (half, 0.0, half), why));
            return;
        }
        let (low, high) = SPREAD;
        let why = "assumed, as codes of NPB in the middle";
        self.numbers.push(Number::between(path, Unit::Share, (SPREAD_MIDDLE, low, high), why));
        let ends = (Unit::Share.show(low), Unit::Share.show(high));
        self.asked.push(Asked::new(Topic::Spread, &self.name, path, (&ends.0, &ends.1)));
    }

    fn tasks(&mut self, shape: &Shape) {
        let tasks = shape.tasks();
        let Some((low, high)) = shape.range else {
            return self.number("tasks", Unit::Count, &Num::new(tasks, shape.origin.clone()));
        };
        self.numbers.push(Number::between("tasks", Unit::Count, (tasks, low, high), shape.origin.clone()));
        let ends = (Unit::Count.show(low), Unit::Count.show(high));
        if ends.0 != ends.1 {
            self.asked.push(Asked::new(Topic::Tasks, &self.name, "tasks", (&ends.0, &ends.1)));
        }
    }
}

/// The work in s of each of so many tasks in a trial.
fn trial(each: f64, tasks: f64) -> f64 {
    let most = TRIAL_STEPS * INTERVAL.0 / tasks.max(1.0);
    each.min(most.min(TRIAL)).max(1e-3)
}

/// How often all ranks wait for each other: at least at collective calls, at most at each receive as well.
fn synchronising(mpi: &Mpi) -> Option<((f64, f64, f64), String)> {
    let collectives = mpi.collectives.as_ref().filter(|calls| calls.value >= 1.0);
    let receives = mpi.receives.as_ref().filter(|calls| calls.value >= 1.0);
    match (collectives, receives) {
        (Some(all), None) => Some(((all.value, all.value, all.value), all.origin.clone())),
        (Some(all), Some(some)) => Some((
            (all.value, all.value, all.value + some.value),
            format!("{}: calls of all ranks; with the receives ({}) the upper end", all.origin, some.origin),
        )),
        (None, Some(some)) => Some((
            (middle(1.0, some.value), 1.0, some.value),
            format!("{}: each receive waits for one rank, not for all", some.origin),
        )),
        (None, None) => None,
    }
}

/// The work of all tasks, in s.
fn work(job: &Job, shape: &Shape) -> Num {
    let work = known_work(job, shape).filter(|work| work.value > 0.0);
    work.unwrap_or_else(|| Num::new(SECONDS * shape.tasks(), "assumed: 10 s for each task"))
}

fn known_work(job: &Job, shape: &Shape) -> Option<Num> {
    if let Some(work) = &job.work {
        return Some(work.clone());
    }
    if let Some(Regions { all, origin }) = &job.regions {
        let waited: f64 = all.iter().filter_map(|region| region.barrier).sum();
        let within: f64 = all.iter().map(|region| region.time * region.threads).sum();
        let time: f64 = all.iter().map(|region| region.time).sum();
        let alone = job.elapsed.as_ref().map_or(0.0, |elapsed| (elapsed.value - time).max(0.0));
        let mut why = format!("{origin} time_s x threads - barrier_s");
        if let Some(elapsed) = &job.elapsed {
            why += &format!(", and the rest of {}", elapsed.origin);
        }
        return Some(Num::new((within - waited).max(0.0) + alone, why));
    }
    if let Some(Mpi { ranks, origin, .. }) = &job.mpi {
        if shape.threads <= 1.0 {
            let work = ranks.iter().map(|(app, mpi)| app - mpi).sum();
            return Some(Num::new(work, format!("{origin} ff. AppTime - MPITime of all ranks")));
        }
        if job.cpu.is_none() {
            let work = ranks.iter().map(|(app, mpi)| (app - mpi) * shape.threads).sum();
            let why = format!("{origin} ff. (AppTime - MPITime) x threads, as if all of them computed");
            return Some(Num::new(work, why));
        }
    }
    if let Some(cpu) = &job.cpu {
        return Some(Num::new(cpu.value, format!("{}{CPU_TIME}", cpu.origin)));
    }
    let elapsed = job.elapsed.as_ref()?;
    let why = format!("{} x tasks: the cpu time is not known", short(&elapsed.origin));
    Some(Num::new(elapsed.value * shape.tasks(), why))
}
