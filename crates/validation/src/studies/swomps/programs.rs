//! Runs of SPEC OMP programs alone and in pairs, made full: the studies simulate a share of each run.

use crate::answer::{Series, Trouble};
use crate::claims::{PROGRAMS, Program};
use crate::lab::{AppSample, Cell, Lab};

impl Program {
    /// Threads of its run alone in section 5 of the paper: 12 for those that 24 do no good, else 24.
    const fn exclusive_threads(self) -> u32 {
        if self.published_alone().is_some() { 12 } else { 24 }
    }

    /// Seconds of the unbound run with 12 threads that pairs are compared with in the paper, which follow
    /// from its Tables 5(a) and 5(b) together. An input, not simulated: how those threads lay is not stated,
    /// and galgel and equake are faster in it than in any layout of the paper's own Table 2 (616.5 and 129.5
    /// s scattered).
    const fn published_alone(self) -> Option<f64> {
        match self.number {
            312 => Some(397.0),
            314 => Some(513.0),
            318 => Some(478.0),
            320 => Some(113.0),
            _ => None,
        }
    }
}

/// Seconds that the arrays are filled before the measured regions: 100 ms of the nominal core on one 1.2
/// times as fast.
const INIT: f64 = 0.1 / 1.2;
/// Barriers of that.
const INIT_BARRIERS: f64 = 5.0;
/// Seconds of work of one of twelve threads in a region.
const REGION: f64 = 0.02;

/// The run time of the whole program from that of its first regions.
pub(super) fn full(program: Program, app: &AppSample) -> f64 {
    let Ok(profile) = workloads::spec_omp::profile(program.name) else {
        return f64::NAN;
    };
    let serial = profile.serial_share > 0 || profile.per_task.ns() > 0;
    let regions = (profile.serial.ns() as f64 / 1e9 / 12.0 / REGION).floor();
    let barriers = regions * if serial { 2.0 } else { 1.0 };
    // The start-up barrier is not counted.
    let simulated = app.barriers - INIT_BARRIERS;
    INIT + (app.timed - INIT) * barriers / simulated
}

/// Replicates of unbound runs alone: four scatter by a tenth, because the balancer decides where the threads
/// end up.
const UNBOUND: u32 = 12;

/// Full run times of a program alone with this many threads, `PIN` or `LOAD`.
pub(super) fn alone(lab: &mut Lab, program: Program, threads: u32, policy: &str) -> Result<Series, Trouble> {
    let cell = Cell::new("swomps_binding", policy)
        .set("apps.a.workload.program", program.name)
        .set("apps.a.tasks", threads);
    let cell = if policy == "LOAD" { cell.set("repeat", UNBOUND) } else { cell };
    lab.of_app(&cell, "a", |app| full(program, app))
}

/// Full run times of a program alone as the paper compares with: unbound, with the number of threads that
/// does it most good. Those with 12 threads are published, the others are simulated.
pub(super) fn exclusive(lab: &mut Lab, program: Program) -> Result<Series, Trouble> {
    match program.published_alone() {
        Some(time) => Ok(Series::from(time)),
        None => alone(lab, program, program.exclusive_threads(), "LOAD"),
    }
}

/// Two programs at once with these numbers of threads: full run times of both.
pub(super) fn together(
    lab: &mut Lab,
    (a, b): (Program, Program),
    threads: (u32, u32),
    policy: &str,
) -> Result<(Series, Series), Trouble> {
    let cell = Cell::new("swomps_pairs", policy)
        .set("apps.a.workload.program", a.name)
        .set("apps.b.workload.program", b.name);
    // Twelve, the number of the paper, stands in the file.
    let cell = match threads {
        (12, 12) => cell,
        (a, b) => cell.set("apps.a.tasks", a).set("apps.b.tasks", b),
    };
    Ok((lab.of_app(&cell, "a", |app| full(a, app))?, lab.of_app(&cell, "b", |app| full(b, app))?))
}

/// The mean throughput of all pairs under a policy.
pub(super) fn mean_of_pairs(lab: &mut Lab, policy: &str) -> Result<Series, Trouble> {
    let mut all = Vec::new();
    for (i, one) in PROGRAMS.iter().enumerate() {
        for other in &PROGRAMS[..i] {
            let pair = (*one, *other);
            let sum = exclusive(lab, pair.0)?.mean() + exclusive(lab, pair.1)?.mean();
            let (a, b) = together(lab, pair, (12, 12), policy)?;
            all.push(a.with(&b, |a, b| sum / a.max(b)));
        }
    }
    Ok(Series::mean_of(&all))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shortened_runs_are_extrapolated_by_their_regions() {
        let swim = PROGRAMS[1];
        let profile = workloads::spec_omp::profile("swim").unwrap();
        let regions = (profile.serial.ns() / 12 / 20_000_000) as f64;
        // A tenth of the run, two barriers a region.
        let app =
            AppSample { barriers: 2.0 * regions / 10.0 + 5.0, timed: 40.0 + INIT, ..AppSample::default() };
        assert!((full(swim, &app) - 400.0 - INIT).abs() < 1e-6);
    }
}
