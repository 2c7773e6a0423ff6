//! Requests: how long they wait until a task takes them, how many are answered or lost, and what devices and
//! pools of jobs do.

use sim_core::histogram::Histogram;
use sim_core::outcome::AppReport;

use super::{NS_PER_S, Sample, app, ratio, seconds};

/// The waits of requests that the copies of an application took from queues.
fn waits(s: &Sample<'_>) -> Option<Histogram> {
    let mut all = Histogram::default();
    let copies = s.copies.iter().filter_map(|copy| s.run.apps.get(*copy));
    copies.filter_map(|app| app.waits.as_ref()).for_each(|one| all.merge(one));
    all.quantiles().map(|_| all)
}

pub(super) fn wait<const Q: usize>(s: &Sample<'_>) -> Option<f64> {
    let all = waits(s)?;
    // The maximum is exact.
    if Q == 1_000 { Some(seconds(all.quantiles()?.max)) } else { all.quantile(Q as u64).map(seconds) }
}

pub(super) fn wait_mean(s: &Sample<'_>) -> Option<f64> {
    Some(seconds(waits(s)?.quantiles()?.mean))
}

/// Requests answered for each second of the run, or of the window.
pub(super) fn rate(s: &Sample<'_>) -> Option<f64> {
    let app = app(s).filter(|app| app.requests)?;
    ratio(app.counters.responses as f64, s.run.makespan.ns() as f64 / NS_PER_S)
}

/// From the start of the application to the end of the first response beyond the deadline of the run, if one
/// was late in the window.
pub(super) fn first_miss(s: &Sample<'_>) -> Option<f64> {
    let copies = s.copies.iter().filter_map(|copy| s.run.apps.get(*copy));
    let first = |app: &AppReport| app.first_late.map(|late| late - app.start);
    copies.filter_map(first).min().map(seconds)
}

/// Instants of clocks that were left out, of an application that leaves out some.
pub(super) fn skipped(s: &Sample<'_>) -> Option<f64> {
    app(s).filter(|app| app.skips).map(|app| app.counters.skipped as f64)
}

/// The share of the requests from outside that found no place in a queue.
pub(super) fn lost(s: &Sample<'_>) -> Option<f64> {
    let (mut came, mut lost) = (0, 0);
    for source in &s.run.sources {
        came += source.came;
        lost += source.lost;
    }
    ratio(lost as f64, came as f64)
}

/// Servers of devices that are at work, mean over the run.
pub(super) fn busy(s: &Sample<'_>) -> Option<f64> {
    if s.run.devices.is_empty() {
        return None;
    }
    let busy: u64 = s.run.devices.iter().map(|device| device.busy_ns).sum();
    ratio(busy as f64, s.run.makespan.ns() as f64)
}

/// How long pieces of work wait for a server of a device, mean over all of them.
pub(super) fn device_wait(s: &Sample<'_>) -> Option<f64> {
    let waited: u64 = s.run.devices.iter().map(|device| device.waited_ns).sum();
    let served: u64 = s.run.devices.iter().map(|device| device.served).sum();
    ratio(waited as f64 / NS_PER_S, served as f64)
}

/// Jobs of graphs that tasks have done.
pub(super) fn jobs(s: &Sample<'_>) -> Option<f64> {
    (!s.run.pools.is_empty()).then(|| done(s) as f64)
}

/// The share of the jobs that a task took from the queue of another one.
pub(super) fn stolen(s: &Sample<'_>) -> Option<f64> {
    let stolen: u64 = s.run.pools.iter().map(|pool| pool.steals).sum();
    ratio(stolen as f64, done(s) as f64)
}

/// How often tasks found no job that was ready, and waited.
pub(super) fn job_waits(s: &Sample<'_>) -> Option<f64> {
    let waits: u64 = s.run.pools.iter().map(|pool| pool.waits).sum();
    (!s.run.pools.is_empty()).then_some(waits as f64)
}

/// Jobs of all pools.
fn done(s: &Sample<'_>) -> u64 {
    s.run.pools.iter().flat_map(|pool| &pool.jobs).sum()
}
