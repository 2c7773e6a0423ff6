//! Profiles of SPEC OMP 2001: work, memory demand and serial part from runs with 12 threads scattered and
//! gathered, and 24.

use sim_core::time::Span;
use workloads::{Profile, spec_omp};

use crate::calibration::bench::{Bench, first, spread};
use crate::calibration::law;
use crate::calibration::measurements::{Measurements, Quantity, find};
use crate::calibration::residuals::Row;

/// Regions of a run that are simulated.
const REGIONS: u32 = 300;
const ROUNDS: u32 = 6;
/// Load of three threads on a socket below which the measurements cannot tell it from nothing.
pub const FLOOR: f64 = 0.3;
/// Ratio of times with 24 and 12 threads above which more threads make a program slower: a cost per thread,
/// not a share.
const SLOWER: f64 = 1.0;

/// The three layouts of the measurements: name in the data file, cpus.
fn layouts() -> [(&'static str, Vec<u32>); 3] {
    [("scatter", spread(4, 6, 3)), ("gather", first(12)), ("all", first(24))]
}

/// A derived profile.
#[derive(Clone, PartialEq, Debug)]
pub struct Derived {
    /// Program.
    pub program: &'static str,
    /// The profile.
    pub profile: Profile,
    /// Times scattered, gathered, with 24 threads, seconds.
    pub times: [f64; 3],
}

impl Derived {
    /// Load of three threads in units of a socket's bandwidth, and whether it is the floor or the cap.
    #[must_use]
    pub fn limit(&self) -> &'static str {
        let ratio = self.times[1] / self.times[0];
        if ratio < 1.1 {
            ", which cannot be distinguished from no demand: at or near the lower limit"
        } else if ratio > 1.95 {
            ", at the upper limit: the bandwidth of one core"
        } else {
            ""
        }
    }
}

fn measured(data: &Measurements, program: &str) -> Result<[f64; 3], String> {
    let time = |layout| find(&data.spec_omp, program, "x4440", Quantity::RunTime, layout);
    Ok([time("scatter")?, time("gather")?, time("all")?])
}

/// Simulated times in the three layouts.
fn simulated(bench: &Bench, program: &str, profile: &Profile) -> Result<[f64; 3], String> {
    let mut times = [0.0; 3];
    for (time, (_, cpus)) in times.iter_mut().zip(layouts()) {
        let trial = spec_omp::trial(program, cpus.len() as u32, profile, REGIONS)?;
        let cut = f64::from(trial.of) / f64::from(trial.intervals);
        *time = bench.seconds(trial.program, "openmp", &cpus)? * cut;
    }
    Ok(times)
}

/// Serial share that makes 24 threads take q times as long as 12 under the same load: s + (1 - s) / n for
/// each.
fn amdahl(q: f64) -> f64 {
    ((q / 12.0 - 1.0 / 24.0) / (23.0 / 24.0 - 11.0 * q / 12.0)).clamp(0.0, 1.0)
}

/// Profiles of all programs.
///
/// # Errors
/// A sentence: an input is missing or a run failed.
pub fn derive(data: &Measurements) -> Result<Vec<Derived>, String> {
    let bench = Bench::new("x4440")?;
    let one = |program: &&'static str| {
        let times = measured(data, program)?;
        Ok(Derived { program, profile: fit(&bench, program, times)?, times })
    };
    spec_omp::PROGRAMS.iter().map(one).collect()
}

fn fit(bench: &Bench, program: &str, times: [f64; 3]) -> Result<Profile, String> {
    let memory = &bench.machine().memory;
    let node = memory.node_bandwidth as f64;
    let speed = bench.machine().speed_of(sim_core::ids::CpuId(0)).raw() as f64 / f64::from(1 << 20);
    // Three threads, each at most at a core's bandwidth.
    let cap = 3.0 * memory.core_bandwidth as f64 / node;
    let (ratio, growth) = (times[1] / times[0], times[2] / times[1]);
    let per_thread = growth > SLOWER;
    let mut load_ratio = ratio;
    let mut q = growth;
    let mut profile = Profile::default();
    let mut work = times[0] * 12.0 * speed;
    let mut overhead = if per_thread { (2.0 * times[2] - times[1]) / 36.0 * speed } else { 0.0 };
    for _ in 0..ROUNDS {
        let load = law::doubled(load_ratio, FLOOR, cap);
        profile.demand = (load * node / 3.0 / speed) as u64;
        profile.serial = span(work);
        profile.serial_share = if per_thread { 0 } else { (amdahl(q) * 10_000.0 + 0.5) as u32 };
        profile.per_task = span(overhead);
        let now = simulated(bench, program, &profile)?;
        // Where the three cannot all be met, the largest and the smallest error become equal.
        let errors = [times[0] / now[0], times[1] / now[1], times[2] / now[2]];
        let (low, high) = errors.iter().fold((f64::MAX, 0.0f64), |(l, h), e| (l.min(*e), h.max(*e)));
        let scale = libm::sqrt(low * high);
        if per_thread {
            // Two unknowns from two sums: T = W / n + o (n - 1), gathered and with 24 threads.
            let (gathered, all) = (times[1] - now[1], times[2] - now[2]);
            let cost = (2.0 * all - gathered) / (2.0 * 23.0 - 11.0) * speed;
            overhead = (overhead + cost).max(0.0);
            work = (work + 12.0 * (gathered * speed - 11.0 * cost)).max(1.0);
        } else {
            work *= scale;
            q *= growth / (now[2] / now[1]);
        }
        load_ratio = (load_ratio * ratio / (now[1] / now[0])).clamp(0.5, 2.5);
    }
    Ok(rounded(profile))
}

fn span(seconds: f64) -> Span {
    Span::from_ns((seconds * 1e9) as u64)
}

/// To whole seconds of work, ten thousand kB/s and tenths of a second: what the data files hold.
fn rounded(profile: Profile) -> Profile {
    let to = |n: u64, step: u64| (n + step / 2) / step * step;
    Profile {
        serial: Span::from_ns(to(profile.serial.ns(), 1_000_000_000)),
        demand: to(profile.demand, 10_000_000),
        per_task: Span::from_ns(to(profile.per_task.ns(), 10_000_000)),
        ..profile
    }
}

/// Every measurement against the simulated run.
///
/// # Errors
/// A sentence: a run failed.
pub fn residuals(derived: &[Derived]) -> Result<Vec<Row>, String> {
    let bench = Bench::new("x4440")?;
    let names =
        ["run time, 12 threads scattered, s", "run time, 12 threads gathered, s", "run time, 24 threads, s"];
    let mut rows = Vec::new();
    for d in derived {
        let now = simulated(&bench, d.program, &d.profile)?;
        for i in 0..3 {
            rows.push(Row::new(d.program, "x4440", names[i], d.times[i], now[i], true));
        }
    }
    Ok(rows)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn serial_shares_follow_from_24_over_12_threads() {
        // q of Tables 1 and 2 of the paper and the share it means.
        for (q, share) in [(0.577, 0.015), (0.681, 0.045), (0.628, 0.028), (0.617, 0.025), (0.561, 0.011)] {
            assert!((amdahl(q) - share).abs() < 0.0016, "{q}: {}", amdahl(q));
        }
        assert!(amdahl(0.484) <= 0.0);
        // Back again.
        let time = |s: f64, n: f64| s + (1.0 - s) / n;
        assert!((amdahl(time(0.03, 24.0) / time(0.03, 12.0)) - 0.03).abs() < 1e-9);
    }
}
