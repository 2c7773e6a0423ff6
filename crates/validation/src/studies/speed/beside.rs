//! Programs beside competitors (a hog on core 0, `make -j 16`, another program), and programs that steal
//! work.

use super::places::{mask, policy, programs, runtimes};
use crate::answer::{Answer, Point, Series, Trouble};
use crate::claims::{Beside, Claim, Form, Metric, Yield};
use crate::lab::{Cell, Lab, RunSample};

/// What the simulator says about a claim about a competitor, or about work stealing.
pub(super) fn answer(claim: &Claim, lab: &mut Lab, beside: Beside) -> Result<Answer, Trouble> {
    let study = match beside {
        Beside::Hog => "speed_hog",
        Beside::Make => "speed_make",
        Beside::Program => "speed_beside",
        Beside::Pool => POOL,
    };
    match claim.at.metric {
        Some(Metric::CpuShare) => share(claim, lab),
        Some(Metric::SpeedGain | Metric::Order | Metric::RelTime) => gains(claim, lab, study),
        Some(Metric::Variation) => variation(claim, lab, study),
        _ => {
            let metric = &claim.texts.metric;
            Err(Trouble::uncovered(format!("no rule for the metric `{metric}` beside a competitor")))
        }
    }
}

/// The study of work stealing.
const POOL: &str = "speed_pool";

/// Tasks on a machine of 16 cores: `2 per core`, `16 threads`; 16 where nothing is said.
fn tasks(claim: &Claim) -> u32 {
    let threads = &claim.at.threads;
    if threads.per_core { threads.tasks * 16 } else { threads.tasks }
}

/// The kernel's yield where the claim names one.
fn yields(claim: &Claim, cell: Cell) -> Cell {
    let posix = claim.at.yields.contains(&Yield::Posix);
    if posix { cell.set("kernel.yield", "posix") } else { cell }
}

/// What the hog gets of core 0: as much as each task there, since nobody else is on it. LOAD keeps moving
/// tasks away from the crowded core and back, so the share while so many tasks are there is looked at on core
/// 0 alone.
fn share(claim: &Claim, lab: &mut Lab) -> Result<Answer, Trouble> {
    let policy = policy(&claim.at.policy.one)?;
    let per_core = (tasks(claim) / 16).max(1);
    let mut points = Vec::new();
    for machine in &claim.at.machines.list {
        for program in programs(claim) {
            let cell = Cell::new("speed_hog", policy)
                .set("machine", machine)
                .set("apps.a.workload", program.workload.clone())
                .set("apps.a.tasks", per_core)
                .set("apps.a.cpus", "0");
            let runs = lab.runs(&yields(claim, cell))?;
            let of = |name: &str| {
                let cpu = |run: &RunSample| {
                    let app = run.apps.iter().find(|app| app.name == name);
                    app.map_or(f64::NAN, |app| app.task_cpu.iter().sum::<f64>()) / run.makespan
                };
                Series(runs.iter().map(cpu).collect())
            };
            let label = format!("{machine} {}: share of the hog beside {per_core} on core 0", program.name);
            points.push(Point::new(label, &of("hog")));
        }
    }
    Ok(Answer(points))
}

/// The cells of a claim under a policy: machines by programs.
fn cells(claim: &Claim, study: &'static str, policy: &str) -> Vec<Cell> {
    let mut cells = Vec::new();
    for machine in &claim.at.machines.list {
        let cell = Cell::new(study, policy).set("machine", machine);
        if study == POOL {
            let cores = claim.at.threads.cores.iter();
            cells.extend(cores.map(|cores| cell.clone().set("apps.a.cpus", mask(*cores))));
            continue;
        }
        let cell = yields(claim, cell).set("apps.a.tasks", tasks(claim));
        for program in programs(claim) {
            let cell = cell.clone().set("apps.a.workload", program.workload);
            for runtime in runtimes(claim) {
                cells.push(cell.clone().set("apps.a.runtime", runtime.setting()));
            }
        }
    }
    cells
}

/// How much longer each baseline takes than the policy, on the mean: in per cent, or as a share for an order.
fn gains(claim: &Claim, lab: &mut Lab, study: &'static str) -> Result<Answer, Trouble> {
    let this = policy(&claim.at.policy.one)?;
    let mut points = Vec::new();
    for name in &claim.at.baseline.policies.each {
        let other = policy(name)?;
        let mut all = Vec::new();
        for cell in cells(claim, study, this) {
            let base = lab.times(&cell.clone().under(other), "a")?;
            all.push(base.gain_over(&lab.times(&cell, "a")?));
        }
        let mean = Series::mean_of(&all);
        let (unit, mean) =
            if claim.form == Form::Ordering { ("share", mean.map(|x| x / 100.0)) } else { ("%", mean) };
        points.push(Point::new(format!("{other} over {this} in {study}, mean, {unit}"), &mean));
    }
    Ok(Answer(points))
}

/// How far apart replicates lie: the largest of all cells, or their mean.
fn variation(claim: &Claim, lab: &mut Lab, study: &'static str) -> Result<Answer, Trouble> {
    let policy = policy(&claim.at.policy.one)?;
    let mut spreads = Vec::new();
    for cell in cells(claim, study, policy) {
        spreads.push(lab.times(&cell, "a")?.variation());
    }
    let most = spreads.iter().copied().fold(0.0, f64::max);
    let mean = spreads.iter().sum::<f64>() / spreads.len().max(1) as f64;
    let value = if matches!(claim.form, Form::UpTo | Form::UpperBound) { most } else { mean };
    Ok(Answer(vec![Point::single(format!("{policy} in {study}"), value)]))
}
