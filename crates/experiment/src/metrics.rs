//! The metrics of a run, one line each: name, unit, meaning and the function that measures it.
//! `metrics.md` has formulas and examples.

mod all;
mod cpus;
mod lateness;
mod requests;
mod times;
mod together;

use notation::prose::section;
use sim_core::latency::AppLatencies;
use sim_core::outcome::{AppReport, RunReport};
use sim_core::time::Span;

pub use all::METRICS;
pub use together::{Program, Together};

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

/// How the copies of an application become one value of a run.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Over {
    /// The mean of the values of each.
    Each,
    /// One value of all together, as a percentile has it.
    Together,
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
    /// Positions of all copies of the application; for [`Scope::All`] those of all applications.
    pub copies: &'a [usize],
    /// Progress of all programs together against their dedicated runs; none for [`Scope::App`].
    pub together: Option<Together>,
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

impl<'a> Sample<'a> {
    /// Of a run that is compared with no dedicated run, without a window.
    #[must_use]
    pub const fn of(run: &'a RunReport, app: usize, copies: &'a [usize]) -> Self {
        let (alone_mean, alone_paired, sequence) = (None, None, None);
        Self { run, app, copies, together: None, alone_mean, alone_paired, sequence, window: false }
    }
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
    /// How copies become one value.
    pub over: Over,
    /// How replicates are reduced.
    pub reduction: Reduction,
    /// Which of its values are better; `None` where that is not defined: the work of a run is given, and long
    /// or short time slices are good for different programs.
    pub better: Option<Better>,
    /// Its values may be negative, so that their ratios mean nothing: lateness.
    pub signed: bool,
    /// It needs the key `latencies`.
    pub needs_latencies: bool,
    /// It depends on the dedicated runs, too.
    pub needs_dedicated: bool,
    /// It has a value for each replicate; the others are one value over all replicates.
    pub has_replicates: bool,
    /// The metric with the largest values of what this one is a mean of: two means may be level where these
    /// differ a thousandfold.
    pub tail: Option<&'static str>,
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

impl Metric {
    const fn higher(self) -> Self {
        Self { better: Some(Better::Higher), ..self }
    }

    const fn neither(self) -> Self {
        Self { better: None, ..self }
    }

    const fn signed(self) -> Self {
        Self { signed: true, ..self }
    }

    const fn latencies(self) -> Self {
        Self { needs_latencies: true, ..self }
    }

    const fn dedicated(self) -> Self {
        Self { needs_dedicated: true, ..self }
    }

    const fn compared(self) -> Self {
        Self { has_replicates: false, ..self }
    }

    const fn tail(self, name: &'static str) -> Self {
        Self { tail: Some(name), ..self }
    }

    /// The metrics of a name: of an application, of the whole machine, or both.
    pub fn named(name: &str) -> impl Iterator<Item = &'static Self> {
        METRICS.iter().filter(move |metric| metric.name == name)
    }

    /// Whether the values of the metric of this name may be negative.
    #[must_use]
    pub fn is_signed(name: &str) -> bool {
        Self::named(name).any(|metric| metric.signed)
    }

    /// Whether it is a time, or a ratio of times: a smaller value means that something took less time.
    #[must_use]
    pub fn is_time(&self) -> bool {
        let ratio = self.needs_dedicated && self.better == Some(Better::Lower);
        self.unit == "s" && !self.signed || ratio
    }

    /// Its value in a run; `None` when it cannot be measured there. `samples`: one for each copy.
    #[must_use]
    #[inline]
    pub fn of(&self, samples: &[Sample<'_>]) -> Option<f64> {
        let first = samples.first()?;
        if self.over == Over::Together {
            return (self.measure)(first);
        }
        let sum: Option<f64> = samples.iter().map(|sample| (self.measure)(sample)).sum();
        Some(sum? / samples.len() as f64)
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
    Metric {
        name,
        unit,
        scope,
        over: Over::Each,
        reduction: Reduction::Statistics,
        better: Some(Better::Lower),
        signed: false,
        needs_latencies: false,
        needs_dedicated: false,
        has_replicates: true,
        tail: None,
        about,
        measure,
    }
}

/// A metric of all copies together.
const fn spread(
    scope: Scope,
    name: &'static str,
    about: &'static str,
    measure: fn(&Sample<'_>) -> Option<f64>,
) -> Metric {
    Metric { over: Over::Together, ..metric(scope, name, "s", about, measure) }
}

const fn variation(scope: Scope, about: &'static str, measure: fn(&Sample<'_>) -> Option<f64>) -> Metric {
    Metric {
        reduction: Reduction::Variation,
        has_replicates: false,
        ..metric(scope, "variation", "%", about, measure)
    }
}

use Scope::App;

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

fn throughput(s: &Sample<'_>) -> Option<f64> {
    ratio(s.sequence?, s.run.makespan.ns() as f64 / NS_PER_S)
}

fn ratio(over: f64, under: f64) -> Option<f64> {
    (under > 0.0).then(|| over / under)
}

#[cfg(test)]
pub(crate) mod tests;
