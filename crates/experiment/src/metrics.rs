//! The metrics of a run, one line each: name, unit, meaning and the function that measures it.
//! `metrics.md` has formulas and examples.

use notation::prose::section;
use sim_core::account::{Account, Category};
use sim_core::latency::AppLatencies;
use sim_core::outcome::{AppReport, RunReport};
use sim_core::time::Span;

/// What a metric describes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Scope {
    /// One application.
    App,
    /// The whole machine; its cells name the application [`ALL_APPS`].
    All,
}

/// How the replicates of a metric become one cell.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Reduction {
    /// Mean, median, interval and extremes of the values.
    Statistics,
    /// max / min - 1 of the values, in per cent.
    Variation,
}

/// The name in place of an application's in cells of scope [`Scope::All`].
pub const ALL_APPS: &str = "all";

/// What a metric is measured from.
#[derive(Clone, Copy)]
pub struct Sample<'a> {
    /// The run.
    pub run: &'a RunReport,
    /// Position in `run.apps`; meaningless for [`Scope::All`].
    pub app: usize,
    /// Mean run time of the application's dedicated runs, seconds.
    pub alone_mean: Option<f64>,
    /// Run time of its dedicated run with the same seed, seconds.
    pub alone_paired: Option<f64>,
    /// Sum of the dedicated run times of all foreground applications with the same seed, seconds.
    pub sequence: Option<f64>,
    /// Only a window of the run counts, and its length is the makespan. Then the times of dedicated runs are
    /// times for each second of work.
    pub window: bool,
}

/// A metric.
#[derive(Clone, Copy)]
pub struct Metric {
    /// Its name in results.
    pub name: &'static str,
    /// Its unit: `s`, `ratio`, `count`, `share` (0 to 1) or `%`.
    pub unit: &'static str,
    /// What it describes.
    pub scope: Scope,
    /// How replicates are reduced.
    pub reduction: Reduction,
    /// What it means.
    pub about: &'static str,
    /// Measures it; `None` when it cannot be measured in this run.
    pub measure: fn(&Sample<'_>) -> Option<f64>,
}

/// Which values of a metric are the better ones.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Better {
    /// The smaller ones, as of times.
    Lower,
    /// The larger ones, as of throughputs.
    Higher,
}

/// Metrics of which more is better.
const MORE: [&str; 5] = ["throughput", "work_rate", "barrier_rate", "user_time_balance", "breakdown_compute"];

/// The work of a run is given, and long or short time slices are good for different programs.
const NEITHER: [&str; 5] =
    ["work", "run_length_median", "run_length_p90", "run_length_p99", "run_length_max"];

impl Metric {
    /// Which of its values are better; `None` where that is not defined.
    #[must_use]
    pub fn better(&self) -> Option<Better> {
        match self.name {
            name if NEITHER.contains(&name) => None,
            name if MORE.contains(&name) => Some(Better::Higher),
            _ => Some(Better::Lower),
        }
    }

    /// Whether it has a value for each replicate; the others are one value over all replicates.
    #[must_use]
    pub fn has_replicates(&self) -> bool {
        self.reduction == Reduction::Statistics && self.name != "recovered"
    }

    /// Whether it needs the key `latencies`.
    #[must_use]
    pub fn needs_latencies(&self) -> bool {
        self.name.starts_with("wakeup_latency_") || self.name.starts_with("run_length_")
    }

    /// Its formula or rule and an example, a paragraph each; of a category of the breakdown one paragraph, on
    /// what it means in practice.
    #[must_use]
    pub fn text(&self) -> String {
        let of = if self.scope == App { "application" } else { "run" };
        section(include_str!("metrics.md"), &format!("{} ({of})", self.name))
    }
}

const fn metric(
    scope: Scope,
    name: &'static str,
    unit: &'static str,
    about: &'static str,
    measure: fn(&Sample<'_>) -> Option<f64>,
) -> Metric {
    Metric { name, unit, scope, reduction: Reduction::Statistics, about, measure }
}

const fn variation(scope: Scope, about: &'static str, measure: fn(&Sample<'_>) -> Option<f64>) -> Metric {
    Metric { name: "variation", unit: "%", scope, reduction: Reduction::Variation, about, measure }
}

use Scope::{All, App};

/// All metrics, in the order of the cells.
pub const METRICS: &[Metric] = &[
    metric(
        App,
        "run_time",
        "s",
        "time from the start of its first task to the end of its last task",
        run_time,
    ),
    metric(
        App,
        "timed_run_time",
        "s",
        "time from the instant at which its first task leaves the start-up barrier to the end of its last \
            task, as a benchmark reports it",
        timed_run_time,
    ),
    metric(App, "queue_time", "s", "time from arrival to start: waiting for admission", queue_time),
    metric(App, "turnaround", "s", "time from arrival to the end of its last task", turnaround),
    metric(
        App,
        "work_rate",
        "ratio",
        "work done for each second of the window, in seconds of a nominal core",
        work_rate,
    ),
    metric(
        App,
        "barrier_rate",
        "1/s",
        "barriers that each of its tasks passes for each second of the window",
        barrier_rate,
    ),
    metric(App, "time_per_work", "s", "time of the window for each second of work done", time_per_work),
    metric(App, "slowdown", "ratio", "run_time divided by the mean run_time of the dedicated runs", slowdown),
    metric(
        App,
        "slowdown_paired",
        "ratio",
        "run_time divided by the run_time of the dedicated run with the same seed",
        slowdown_paired,
    ),
    variation(App, "largest / smallest run_time - 1 over the replicates", run_time),
    metric(
        App,
        "recovered",
        "%",
        "mean run_time on a scale from the first policy (0) to the fair share (100)",
        compared,
    ),
    metric(App, "migrations", "count", "moves of its tasks to another cpu", |s| count(s, |c| c.migrations)),
    metric(App, "far_migrations", "count", "moves of its tasks to another package or NUMA node", |s| {
        count(s, |c| c.far_migrations)
    }),
    metric(App, "context_switches", "count", "switches from one of its tasks to another task", |s| {
        count(s, |c| c.voluntary_switches + c.involuntary_switches)
    }),
    metric(App, "voluntary_switches", "count", "switches because a task slept, ended or yielded", |s| {
        count(s, |c| c.voluntary_switches)
    }),
    metric(App, "involuntary_switches", "count", "switches because a task was pre-empted or moved", |s| {
        count(s, |c| c.involuntary_switches)
    }),
    metric(App, "yields", "count", "sched_yield calls of its tasks", |s| count(s, |c| c.yields)),
    metric(App, "barrier_interval", "s", "mean time from one barrier to the next", barrier_interval),
    metric(
        App,
        "barrier_wait",
        "share",
        "share of the run_time of its tasks that they spend at barriers",
        barrier_wait,
    ),
    metric(
        App,
        "response_time",
        "s",
        "mean time from a wake-up after a timed sleep to the next sleep or the end of the task",
        |s| {
            let counters = &app(s)?.counters;
            ratio(counters.response_ns as f64 / NS_PER_S, counters.responses as f64)
        },
    ),
    metric(App, "cpu_time", "s", "cpu time of its tasks, polling included", |s| {
        Some(app(s)?.counters.cpu_ns as f64 / NS_PER_S)
    }),
    metric(App, "work", "s", "work done, in seconds of a nominal core", |s| {
        Some(app(s)?.counters.work_done_ns as f64 / NS_PER_S)
    }),
    metric(
        App,
        "misses_per_1000_instructions",
        "count",
        "lines of 64 bytes fetched from memory per 1000 instructions of a nominal core (2 GHz, one \
            instruction per cycle)",
        misses,
    ),
    metric(
        App,
        "page_copies",
        "count",
        "times that the pages of a task were copied to the node to which it had moved (next touch)",
        |s| count(s, |c| c.page_copies),
    ),
    metric(
        App,
        "wakeup_latency_median",
        "s",
        "median of the times from a wake-up of one of its tasks until that task continues",
        |s| latency(s, |l| Some(l.wakeups?.median)),
    ),
    metric(
        App,
        "wakeup_latency_p90",
        "s",
        "90th percentile of the times from a wake-up of one of its tasks until that task continues",
        |s| latency(s, |l| Some(l.wakeups?.p90)),
    ),
    metric(
        App,
        "wakeup_latency_p99",
        "s",
        "99th percentile of the times from a wake-up of one of its tasks until that task continues",
        |s| latency(s, |l| Some(l.wakeups?.p99)),
    ),
    metric(
        App,
        "wakeup_latency_max",
        "s",
        "longest of the times from a wake-up of one of its tasks until that task continues",
        |s| latency(s, |l| Some(l.wakeups?.max)),
    ),
    metric(
        App,
        "run_length_median",
        "s",
        "median of the times for which one of its tasks keeps a cpu",
        |s| latency(s, |l| Some(l.runs?.median)),
    ),
    metric(
        App,
        "run_length_p90",
        "s",
        "90th percentile of the times for which one of its tasks keeps a cpu",
        |s| latency(s, |l| Some(l.runs?.p90)),
    ),
    metric(
        App,
        "run_length_p99",
        "s",
        "99th percentile of the times for which one of its tasks keeps a cpu",
        |s| latency(s, |l| Some(l.runs?.p99)),
    ),
    metric(App, "run_length_max", "s", "longest of the times for which one of its tasks keeps a cpu", |s| {
        latency(s, |l| Some(l.runs?.max))
    }),
    metric(
        All,
        "makespan",
        "s",
        "time from the start of the run to the end of the last foreground task",
        makespan,
    ),
    metric(
        All,
        "time_per_work",
        "s",
        "time of the window for each second of work done by all foreground applications",
        |s| {
            let foreground = s.run.apps.iter().filter(|app| !app.background);
            let work = foreground.map(|app| app.counters.work_done_ns).sum::<u64>() as f64;
            if s.window { ratio(s.run.makespan.ns() as f64, work) } else { None }
        },
    ),
    metric(
        All,
        "throughput",
        "ratio",
        "sum of the dedicated run times with the same seed divided by the makespan; above 1, sharing is \
            faster than one program after the other",
        throughput,
    ),
    variation(All, "largest / smallest makespan - 1 over the replicates", makespan),
    metric(
        All,
        "recovered",
        "%",
        "mean makespan on a scale from the first policy (0) to the fair share (100)",
        compared,
    ),
    metric(All, "migrations", "count", "moves of any task to another cpu", |s| {
        Some(s.run.apps.iter().map(|a| a.counters.migrations).sum::<u64>() as f64)
    }),
    metric(All, "context_switches", "count", "switches from any task to another task", |s| {
        let each = s.run.apps.iter().map(|a| a.counters.voluntary_switches + a.counters.involuntary_switches);
        Some(each.sum::<u64>() as f64)
    }),
    metric(
        All,
        "breakdown_compute",
        "share",
        "useful work, as the time that it takes on an undisturbed core with local memory",
        breakdown::<0>,
    ),
    metric(
        All,
        "breakdown_memory_stall",
        "share",
        "additional time because of contention for memory bandwidth and shared caches",
        breakdown::<1>,
    ),
    metric(
        All,
        "breakdown_remote",
        "share",
        "additional time because of access to the memory of other nodes",
        breakdown::<2>,
    ),
    metric(
        All,
        "breakdown_smt",
        "share",
        "additional time because other hardware threads of the core are busy",
        breakdown::<3>,
    ),
    metric(
        All,
        "breakdown_refill",
        "share",
        "refilling caches after switches and migrations",
        breakdown::<4>,
    ),
    metric(All, "breakdown_spin", "share", "polling while waiting", breakdown::<5>),
    metric(All, "breakdown_yield", "share", "sched_yield calls", breakdown::<6>),
    metric(All, "breakdown_switch", "share", "context switches", breakdown::<7>),
    metric(All, "breakdown_migration", "share", "moving tasks between cpus", breakdown::<8>),
    metric(
        All,
        "breakdown_page_init",
        "share",
        "first writes to fresh pages at program start",
        breakdown::<9>,
    ),
    metric(
        All,
        "breakdown_kernel",
        "share",
        "other kernel work: ticks, wake-ups, sleeps, creation of tasks, interrupts",
        breakdown::<10>,
    ),
    metric(All, "breakdown_daemon", "share", "user-level scheduling daemons", breakdown::<11>),
    metric(All, "breakdown_idle", "share", "no task to run", breakdown::<12>),
    metric(
        All,
        "user_time_balance",
        "ratio",
        "smallest user time of a cpu divided by the largest one; 1 = even",
        user_time_balance,
    ),
    metric(
        All,
        "corrections",
        "count",
        "decisions of the policy that the engine refused or corrected",
        |s| Some(s.run.corrections as f64),
    ),
];

const NS_PER_S: f64 = 1e9;

fn seconds(span: Span) -> f64 {
    span.ns() as f64 / NS_PER_S
}

fn app<'a>(s: &Sample<'a>) -> Option<&'a AppReport> {
    s.run.apps.get(s.app)
}

fn count(s: &Sample<'_>, of: fn(&sim_core::outcome::Counters) -> u64) -> Option<f64> {
    Some(of(&app(s)?.counters) as f64)
}

/// A duration in seconds from the latencies of an application, if they were collected.
fn latency(s: &Sample<'_>, of: fn(&AppLatencies) -> Option<Span>) -> Option<f64> {
    of(app(s)?.latencies.as_ref()?).map(seconds)
}

/// Not measured from one run: policies are compared once all are measured.
const fn compared(_: &Sample<'_>) -> Option<f64> {
    None
}

/// Run time in seconds of a foreground application that ended.
fn run_time(s: &Sample<'_>) -> Option<f64> {
    let app = app(s)?;
    if app.background { None } else { app.run_time().map(seconds) }
}

/// The same without the start-up.
fn timed_run_time(s: &Sample<'_>) -> Option<f64> {
    let app = app(s)?;
    if app.background { None } else { app.timed_run_time().map(seconds) }
}

fn queue_time(s: &Sample<'_>) -> Option<f64> {
    let app = app(s)?;
    if app.background { None } else { app.queue_time().map(seconds) }
}

fn turnaround(s: &Sample<'_>) -> Option<f64> {
    let app = app(s)?;
    if app.background { None } else { app.turnaround().map(seconds) }
}

/// The time until the last foreground application ended.
fn makespan(s: &Sample<'_>) -> Option<f64> {
    (!s.window).then_some(s.run.makespan.ns() as f64 / NS_PER_S)
}

/// The work of an application over the window.
fn work_rate(s: &Sample<'_>) -> Option<f64> {
    let work = app(s)?.counters.work_done_ns;
    if s.window { ratio(work as f64, s.run.makespan.ns() as f64) } else { None }
}

fn barrier_rate(s: &Sample<'_>) -> Option<f64> {
    let app = app(s)?;
    if !s.window || app.counters.barriers == 0 {
        return None;
    }
    ratio(app.counters.barriers as f64 / app.task_cpu.len() as f64, s.run.makespan.ns() as f64 / NS_PER_S)
}

/// The time that a second of its work takes: the inverse of the work rate.
fn time_per_work(s: &Sample<'_>) -> Option<f64> {
    ratio(1.0, work_rate(s)?)
}

/// What slowdowns compare: run times, or times for each second of work.
fn time(s: &Sample<'_>) -> Option<f64> {
    if !s.window {
        return run_time(s);
    }
    if app(s)?.background { None } else { time_per_work(s) }
}

fn slowdown(s: &Sample<'_>) -> Option<f64> {
    ratio(time(s)?, s.alone_mean?)
}

fn slowdown_paired(s: &Sample<'_>) -> Option<f64> {
    ratio(time(s)?, s.alone_paired?)
}

fn barrier_interval(s: &Sample<'_>) -> Option<f64> {
    let app = app(s)?;
    // Each task counts every episode it completes.
    ratio(run_time(s)? * app.task_cpu.len() as f64, app.counters.barriers as f64)
}

fn barrier_wait(s: &Sample<'_>) -> Option<f64> {
    let app = app(s)?;
    if app.counters.barriers == 0 {
        return None;
    }
    ratio(app.counters.barrier_wait_ns as f64 / NS_PER_S, run_time(s)? * app.task_cpu.len() as f64)
}

/// Bytes of a cache line, and instructions of the nominal core per nanosecond: 2.0 GHz at one per cycle, a
/// convention.
const LINE: f64 = 64.0;
const INSTRUCTIONS_PER_NS: f64 = 2.0;

fn misses(s: &Sample<'_>) -> Option<f64> {
    let counters = &app(s)?.counters;
    let thousands = counters.work_done_ns as f64 * INSTRUCTIONS_PER_NS / 1e3;
    ratio(counters.bytes_fetched as f64 / LINE, thousands)
}

fn throughput(s: &Sample<'_>) -> Option<f64> {
    ratio(s.sequence?, s.run.makespan.ns() as f64 / NS_PER_S)
}

/// What a kernel charges as user time: computing with everything that slows it down, refills, polling; not
/// calls, switches or ticks.
const USER: [Category; 6] = [
    Category::Compute,
    Category::MemoryStall,
    Category::Remote,
    Category::Smt,
    Category::Refill,
    Category::Spin,
];

fn user_time_balance(s: &Sample<'_>) -> Option<f64> {
    let user = |cpu: &Account| USER.iter().map(|part| seconds(cpu.get(*part))).sum::<f64>();
    let times = || s.run.cpus.iter().map(user);
    ratio(times().fold(f64::INFINITY, f64::min), times().fold(0.0, f64::max))
}

/// The share of category `C` in cpus x makespan.
fn breakdown<const C: usize>(s: &Sample<'_>) -> Option<f64> {
    let account = s.run.account();
    ratio(seconds(account.get(Category::ALL[C])), seconds(account.total()))
}

fn ratio(over: f64, under: f64) -> Option<f64> {
    (under > 0.0).then(|| over / under)
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use sim_core::outcome::{Counters, Outcome};
    use sim_core::time::Time;

    /// A run of two cpus and one application of two tasks that ends after `ns`.
    pub(crate) fn run_of(ns: u64) -> RunReport {
        let mut cpu = Account::default();
        cpu.add(Category::Compute, Span::from_ns(ns / 2));
        cpu.add(Category::Idle, Span::from_ns(ns - ns / 2));
        let counters = Counters {
            barriers: 20,
            barrier_wait_ns: ns / 2,
            migrations: 3,
            work_done_ns: ns,
            bytes_fetched: 64 * ns / 100,
            ..Counters::default()
        };
        let app = AppReport {
            name: "cg".into(),
            background: false,
            arrived: Time::ZERO,
            start: Time::ZERO,
            program_start: Time::from_ns(ns / 4),
            end: Some(Time::from_ns(ns)),
            counters,
            task_cpu: vec![Span::from_ns(ns / 2); 2],
            latencies: None,
        };
        RunReport {
            outcome: Outcome::Completed,
            makespan: Time::from_ns(ns),
            extrapolated: Span::ZERO,
            error: Span::ZERO,
            apps: vec![app],
            cpus: vec![cpu; 2],
            corrections: 0,
            events: 1,
            digest: ns,
        }
    }

    fn value(name: &str, scope: Scope, run: &RunReport) -> Option<f64> {
        let sample = Sample {
            run,
            app: 0,
            alone_mean: Some(0.5),
            alone_paired: Some(0.4),
            sequence: Some(0.8),
            window: false,
        };
        let metric = METRICS.iter().find(|m| m.name == name && m.scope == scope).unwrap();
        (metric.measure)(&sample)
    }

    #[test]
    fn metrics_of_a_known_run() {
        let run = run_of(1_000_000_000);
        let near = |name, scope, want: f64| {
            let got = value(name, scope, &run).unwrap();
            assert!((got - want).abs() < 1e-9, "{name}: {got} instead of {want}");
        };
        near("run_time", App, 1.0);
        near("timed_run_time", App, 0.75);
        near("slowdown", App, 2.0);
        near("slowdown_paired", App, 2.5);
        near("barrier_interval", App, 0.1);
        near("barrier_wait", App, 0.25);
        near("migrations", All, 3.0);
        // A line per 100 ns, that is per 200 instructions.
        near("misses_per_1000_instructions", App, 5.0);
        near("throughput", All, 0.8);
        near("breakdown_compute", All, 0.5);
        near("breakdown_idle", All, 0.5);
    }

    #[test]
    fn an_application_that_was_cut_off_has_no_run_time() {
        let mut run = run_of(1_000);
        run.apps[0].end = None;
        assert_eq!(value("run_time", App, &run), None);
        assert_eq!(value("slowdown", App, &run), None);
        assert_eq!(value("migrations", App, &run), Some(3.0));
        run.apps[0].counters.work_done_ns = 0;
        assert_eq!(value("misses_per_1000_instructions", App, &run), None);
    }

    #[test]
    fn user_time_is_computing_and_polling() {
        let mut run = run_of(1_000);
        run.cpus[1].add(Category::Spin, Span::from_ns(300));
        run.cpus[1].add(Category::Yield, Span::from_ns(10_000));
        let balance = value("user_time_balance", All, &run).unwrap();
        assert!((balance - 500.0 / 800.0).abs() < 1e-12, "{balance}");
    }

    #[test]
    fn breakdown_metrics_are_the_categories_in_order() {
        let names: Vec<_> = METRICS.iter().filter_map(|m| m.name.strip_prefix("breakdown_")).collect();
        let categories: Vec<_> = Category::ALL.iter().map(|c| c.name()).collect();
        assert_eq!(names, categories);
        let run = run_of(1_000_000);
        for (at, category) in Category::ALL.iter().enumerate() {
            let share = value(&format!("breakdown_{}", category.name()), All, &run).unwrap();
            let want = seconds(run.account().get(*category)) / seconds(run.account().total());
            assert!((share - want).abs() < 1e-12, "{at}");
        }
    }

    #[test]
    fn names_are_unique_within_their_scope() {
        for (i, a) in METRICS.iter().enumerate() {
            assert!(METRICS[..i].iter().all(|b| a.name != b.name || a.scope != b.scope), "{}", a.name);
        }
    }
}
