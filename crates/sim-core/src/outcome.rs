//! How a run ended and what it measured.

use crate::account::Account;
use crate::admission::Admission;
use crate::histogram::Histogram;
use crate::latency::AppLatencies;
use crate::time::{Span, Time};

/// How a run ended: an ending, not an error.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Outcome {
    /// Every foreground application has ended.
    Completed,
    /// The horizon was reached first.
    Horizon,
    /// Nothing will ever happen again, though tasks are left; the text names those that wait.
    Deadlock(String),
    /// A policy kept an instant from ending; the text names the instant.
    Livelock(String),
    /// The policy has ended the run with this reason ([`crate::policy::System::fail`]).
    Failed(String),
}

/// Options of a run that are neither machine, operating system nor workload.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Options {
    /// Seed of every stream.
    pub seed: u64,
    /// The run ends here at the latest.
    pub horizon: Time,
    /// Simulate every single poll as an event (slow; same bytes).
    pub stepwise: bool,
    /// How many applications may run at the same time.
    pub admission: Admission,
    /// Simulate the passes of the programs' loops until their mean length is known to 1 %, and extrapolate
    /// most of the others. A run whose facts are observed ([`crate::observe::Observer::wants_facts`]) is
    /// simulated as a whole.
    pub sampled: bool,
    /// Applications arrive up to this much later than stated, uniformly and drawn from the seed: no task
    /// starts programs in step with the timer tick.
    pub start_jitter: Span,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            seed: 1,
            horizon: Time::from_ns(3_600_000_000_000),
            stepwise: false,
            sampled: false,
            admission: Admission::UNLIMITED,
            start_jitter: Span::ZERO,
        }
    }
}

/// Counters of an application, a sum over its tasks.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Counters {
    /// Switches because the task slept, ended or yielded.
    pub voluntary_switches: u64,
    /// Switches because it was pre-empted or moved.
    pub involuntary_switches: u64,
    /// `sched_yield` calls.
    pub yields: u64,
    /// Polls of a flag.
    pub polls: u64,
    /// Moves to another cpu.
    pub migrations: u64,
    /// Moves to another NUMA node or package.
    pub far_migrations: u64,
    /// Cpu time in nanoseconds, polling included.
    pub cpu_ns: u64,
    /// Nanoseconds for which tasks were in run queues or on cpus, summed over the tasks: what they were
    /// neither asleep nor on a cpu (`cpu_ns`), they waited for a cpu.
    pub runnable_ns: u64,
    /// Barrier episodes completed by a task.
    pub barriers: u64,
    /// Nanoseconds spent at barriers, from arrival to release.
    pub barrier_wait_ns: u64,
    /// Locks taken.
    pub locks: u64,
    /// Those for which the task had to wait.
    pub lock_waits: u64,
    /// Nanoseconds spent waiting for locks, polling or asleep.
    pub lock_wait_ns: u64,
    /// Times a task that waited for a lock fell asleep.
    pub lock_sleeps: u64,
    /// Wake-ups of tasks that slept for a time and then worked until they slept again or ended.
    pub responses: u64,
    /// Nanoseconds from those wake-ups to the end of the work.
    pub response_ns: u64,
    /// Requests that took longer than the deadline of the application.
    pub late_responses: u64,
    /// Instants of clocks that had passed and were left out ([`crate::program::Op::Until`]).
    pub skipped: u64,
    /// Work asked for, in nanoseconds at nominal speed (rounded down per task).
    pub work_asked_ns: u64,
    /// Work done.
    pub work_done_ns: u64,
    /// Length of the timed sleeps that it began, in nanoseconds, as its program asks for them.
    pub sleep_asked_ns: u64,
    /// Bytes fetched from memory: work done x demand x its growth in shared caches, refills and page copies
    /// included.
    pub bytes_fetched: u64,
    /// Times the pages of a task followed it to another node (next touch).
    pub page_copies: u64,
}

impl Counters {
    /// What was counted since an earlier state of the same counters.
    #[must_use]
    pub fn since(&self, earlier: &Self) -> Self {
        self.with(earlier, |now, before| now - before)
    }

    /// The sums of two.
    #[must_use]
    pub(crate) fn plus(&self, other: &Self) -> Self {
        self.with(other, |mine, theirs| mine + theirs)
    }

    /// Each of them changed.
    pub(crate) fn each(&self, change: impl Fn(u64) -> u64) -> Self {
        self.with(self, |value, _| change(value))
    }

    fn with(&self, other: &Self, join: impl Fn(u64, u64) -> u64) -> Self {
        Self {
            voluntary_switches: join(self.voluntary_switches, other.voluntary_switches),
            involuntary_switches: join(self.involuntary_switches, other.involuntary_switches),
            yields: join(self.yields, other.yields),
            polls: join(self.polls, other.polls),
            migrations: join(self.migrations, other.migrations),
            far_migrations: join(self.far_migrations, other.far_migrations),
            cpu_ns: join(self.cpu_ns, other.cpu_ns),
            runnable_ns: join(self.runnable_ns, other.runnable_ns),
            barriers: join(self.barriers, other.barriers),
            barrier_wait_ns: join(self.barrier_wait_ns, other.barrier_wait_ns),
            locks: join(self.locks, other.locks),
            lock_waits: join(self.lock_waits, other.lock_waits),
            lock_wait_ns: join(self.lock_wait_ns, other.lock_wait_ns),
            lock_sleeps: join(self.lock_sleeps, other.lock_sleeps),
            responses: join(self.responses, other.responses),
            response_ns: join(self.response_ns, other.response_ns),
            late_responses: join(self.late_responses, other.late_responses),
            skipped: join(self.skipped, other.skipped),
            work_asked_ns: join(self.work_asked_ns, other.work_asked_ns),
            work_done_ns: join(self.work_done_ns, other.work_done_ns),
            sleep_asked_ns: join(self.sleep_asked_ns, other.sleep_asked_ns),
            bytes_fetched: join(self.bytes_fetched, other.bytes_fetched),
            page_copies: join(self.page_copies, other.page_copies),
        }
    }
}

/// What a run measured of an application.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct AppReport {
    /// Its name.
    pub name: String,
    /// A background application.
    pub background: bool,
    /// When it arrived; zero when it never did.
    pub arrived: Time,
    /// When it was admitted and its first task was created (or its launcher began); zero when it never was.
    pub start: Time,
    /// When one of its tasks first had a cpu; `None` when none ever did.
    pub first_run: Option<Time>,
    /// When its program proper began: when it started its own clock ([`crate::program::Op::StartClock`]),
    /// else when the first task was past the start-up barrier. Equal to `start` without either, or when no
    /// task ever got there.
    pub program_start: Time,
    /// When its last task ended; `None` when it was cut off.
    pub end: Option<Time>,
    /// Its counters.
    pub counters: Counters,
    /// Cpu time of each task.
    pub task_cpu: Vec<Span>,
    /// Its tasks answer requests ([`crate::program::AppSpec::requests`]).
    pub requests: bool,
    /// Its deadline, from the release of its work ([`crate::program::AppSpec::deadline`]).
    pub deadline: Option<Span>,
    /// Times from those wake-ups that are requests to the end of the work; `None` without one.
    pub responses: Option<Box<Histogram>>,
    /// Times from the instant of each request that it took from an event to when a task went on with it;
    /// `None` without one.
    pub waits: Option<Box<Histogram>>,
    /// When the first response beyond the deadline ended, from the start of the run; `None` if none did, and
    /// after [`RunReport::subtract`] if none did since. What is left out then counts otherwise: it may have
    /// ended before.
    pub first_late: Option<Time>,
    /// Its program leaves out instants of clocks that have passed ([`crate::program::Program::skips`]), and
    /// [`Counters::skipped`] is their number.
    pub skips: bool,
    /// Its wake-up latencies and run lengths, if [`crate::latency::Latencies`] has observed the run.
    pub latencies: Option<Box<AppLatencies>>,
}

impl AppReport {
    /// From start to end.
    #[must_use]
    pub fn run_time(&self) -> Option<Span> {
        self.end.map(|end| end - self.start)
    }

    /// From the begin of the program proper to the end: what benchmarks that time themselves report (NPB
    /// starts its clock behind a barrier).
    #[must_use]
    pub fn timed_run_time(&self) -> Option<Span> {
        self.end.map(|end| end - self.program_start)
    }

    /// From arrival to end.
    #[must_use]
    pub fn turnaround(&self) -> Option<Span> {
        self.end.map(|end| end - self.arrived)
    }

    /// From arrival to the instant at which one of its tasks first has a cpu: the response time of textbooks
    /// on operating systems.
    #[must_use]
    pub fn first_response(&self) -> Option<Span> {
        self.first_run.map(|first| first - self.arrived)
    }

    /// Time from arrival to start and, mean over its tasks, in run queues, of an application that ended.
    #[must_use]
    pub fn waiting_time(&self) -> Option<Span> {
        let ready = self.counters.runnable_ns.saturating_sub(self.counters.cpu_ns);
        Some(self.queue_time()? + Span::from_ns(ready / self.task_cpu.len().max(1) as u64))
    }

    /// From arrival to start, of an application that ended.
    #[must_use]
    pub fn queue_time(&self) -> Option<Span> {
        self.end.map(|_| self.start - self.arrived)
    }
}

/// What a run measured of a source of requests.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SourceReport {
    /// Its name.
    pub name: String,
    /// Requests that came.
    pub came: u64,
    /// Those of them that found no free place in a bounded queue, and were lost.
    pub lost: u64,
}

/// What a run measured of a device.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct DeviceReport {
    /// Its name.
    pub name: String,
    /// Pieces of work that it was given.
    pub served: u64,
    /// How long its servers have worked, their sum, ns: work that is not done yet does not count.
    pub busy_ns: u64,
    /// How long that work waits for a server, ns. It is known, and counts, when the device is given the work,
    /// even if the run ends before.
    pub waited_ns: u64,
}

/// What a run measured of a pool of jobs.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PoolReport {
    /// Its name.
    pub name: String,
    /// Passes that are over: all jobs were done.
    pub passes: u64,
    /// Jobs that each of its workers has done.
    pub jobs: Vec<u64>,
    /// Jobs that a worker took from the queue of another one.
    pub steals: u64,
    /// How often a worker found no job that was ready, and waited.
    pub waits: u64,
}

/// What a run measured.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct RunReport {
    /// How it ended.
    pub outcome: Outcome,
    /// When it ended.
    pub makespan: Time,
    /// The part of it that was extrapolated ([`Options::sampled`]).
    pub extrapolated: Span,
    /// Half-width of the 95 % confidence interval of the extrapolated part.
    pub error: Span,
    /// The applications in order.
    pub apps: Vec<AppReport>,
    /// Where the time of each cpu went; each sums to the makespan.
    pub cpus: Vec<Account>,
    /// The sources of requests in order.
    pub sources: Vec<SourceReport>,
    /// The devices in order.
    pub devices: Vec<DeviceReport>,
    /// The pools of jobs in order.
    pub pools: Vec<PoolReport>,
    /// Decisions of the policy that the engine refused or corrected.
    pub corrections: u64,
    /// What the policy has counted ([`crate::policy::Policy::counters`]), over the whole run.
    pub policy_counters: Vec<(String, u64)>,
    /// Events the simulator took (differs between modes; not part of any result).
    pub events: u64,
    /// Digest of all observations.
    pub digest: u64,
}

impl RunReport {
    /// Adds what [`crate::latency::Latencies`] has collected, by application.
    pub fn add_latencies(&mut self, latencies: Vec<AppLatencies>) {
        for (app, latencies) in self.apps.iter_mut().zip(latencies) {
            app.latencies = Some(Box::new(latencies));
        }
    }

    /// Leaves what happened since an earlier state of the same run: counters, cpu times, breakdowns and the
    /// makespan. The first late response stays that of the whole run, if one was late since.
    pub fn subtract(&mut self, earlier: &Self) {
        self.makespan = Time::from_ns(self.makespan.ns() - earlier.makespan.ns());
        for (app, before) in self.apps.iter_mut().zip(&earlier.apps) {
            app.counters = app.counters.since(&before.counters);
            if app.counters.late_responses == 0 {
                app.first_late = None;
            }
            let histograms = [(&mut app.responses, &before.responses), (&mut app.waits, &before.waits)];
            for (own, before) in histograms {
                if let (Some(own), Some(before)) = (own, before) {
                    own.subtract(before);
                }
            }
            for (cpu, before) in app.task_cpu.iter_mut().zip(&before.task_cpu) {
                *cpu = cpu.saturating_sub(*before);
            }
        }
        for (cpu, before) in self.cpus.iter_mut().zip(&earlier.cpus) {
            *cpu = cpu.since(before);
        }
        for (own, before) in self.sources.iter_mut().zip(&earlier.sources) {
            own.came -= before.came;
            own.lost -= before.lost;
        }
        for (own, before) in self.devices.iter_mut().zip(&earlier.devices) {
            own.served -= before.served;
            own.busy_ns -= before.busy_ns;
            own.waited_ns -= before.waited_ns;
        }
        for (own, before) in self.pools.iter_mut().zip(&earlier.pools) {
            own.passes -= before.passes;
            own.steals -= before.steals;
            own.waits -= before.waits;
            own.jobs.iter_mut().zip(&before.jobs).for_each(|(own, before)| *own -= before);
        }
        self.corrections -= earlier.corrections;
    }

    /// [`Self::error`] relative to the makespan.
    #[must_use]
    pub fn relative_error(&self) -> f64 {
        self.error.ns() as f64 / (self.makespan.ns() as f64).max(1.0)
    }

    /// The cpu-time breakdown of the whole machine.
    #[must_use]
    pub fn account(&self) -> Account {
        let mut sum = Account::default();
        for cpu in &self.cpus {
            sum.merge(cpu);
        }
        sum
    }
}
