//! Where the time of the cpus went.

use sim_core::account::{Account, Category};

use super::{Sample, app, ratio, seconds};

/// Bytes of a cache line, and instructions of the nominal core per nanosecond: 2.0 GHz at one per cycle, a
/// convention.
const LINE: f64 = 64.0;
const INSTRUCTIONS_PER_NS: f64 = 2.0;

pub(super) fn misses(s: &Sample<'_>) -> Option<f64> {
    let counters = &app(s)?.counters;
    let thousands = counters.work_done_ns as f64 * INSTRUCTIONS_PER_NS / 1e3;
    ratio(counters.bytes_fetched as f64 / LINE, thousands)
}

/// What a kernel charges as user time: computing with everything that slows it down, refills, polling; not
/// calls, switches or ticks.
const USER: [Category; 7] = [
    Category::Compute,
    Category::MemoryStall,
    Category::Remote,
    Category::Smt,
    Category::Refill,
    Category::Spin,
    Category::LockWait,
];

pub(super) fn user_time_balance(s: &Sample<'_>) -> Option<f64> {
    let user = |cpu: &Account| USER.iter().map(|part| seconds(cpu.get(*part))).sum::<f64>();
    let times = || s.run.cpus.iter().map(user);
    ratio(times().fold(f64::INFINITY, f64::min), times().fold(0.0, f64::max))
}

/// The share of category `C` in cpus x makespan.
pub(super) fn breakdown<const C: usize>(s: &Sample<'_>) -> Option<f64> {
    let account = s.run.account();
    ratio(seconds(account.get(Category::ALL[C])), seconds(account.total()))
}
