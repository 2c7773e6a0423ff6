//! Programs beside competitors (a hog on core 0, `make -j 16`, another program), and programs that steal
//! work.

use notation::declare::Choice;

use super::super::contrast;
use super::super::general::{self, Run};
use super::super::programs::{at_any_phase, run_by};
use super::places::{Program, mask, policy, programs, runtimes, tasks};
use crate::answer::{Answer, Point, Series, Trouble};
use crate::claims::{Beside, Claim, Form, Metric, Model};
use crate::lab::{Cell, Lab, RunSample};

/// What the simulator says about a claim about a competitor, or about work stealing.
pub(super) fn answer(claim: &Claim, lab: &mut Lab, beside: Beside) -> Result<Answer, Trouble> {
    let study = match beside {
        Beside::Hog => "speed_hog",
        Beside::Make => "speed_make",
        Beside::Program => "speed_beside",
        Beside::Pool => POOL,
    };
    let words = matches!(claim.form, Form::Ordering | Form::Qualitative);
    let numbers = |claim: &Claim, lab: &mut Lab| match claim.at.metric {
        Some(Metric::CpuShare) => share(claim, lab),
        Some(Metric::SpeedGain | Metric::RelTime) => gains(claim, lab, study),
        Some(Metric::Variation) => variation(claim, lab, study),
        _ => general::answer(claim, lab, &|claim, lab| runs(claim, lab, study)),
    };
    match claim.at.metric {
        Some(Metric::Order) if words && !contrast::has_sides(claim) && !claim.at.baseline.none => {
            gains(claim, lab, study)
        }
        _ if contrast::is_comparison(claim) => {
            contrast::answer(claim, lab, &numbers, &|claim, lab| runs(claim, lab, study))
        }
        _ => numbers(claim, lab),
    }
}

/// The runs of all cells, made whole.
fn runs(claim: &Claim, lab: &mut Lab, study: &'static str) -> Result<Vec<Run>, Trouble> {
    let policy = policy(&claim.at.policy.one)?;
    let mut all = Vec::new();
    for Place { cell, key, at, program } in cells(claim, study, policy) {
        let times = match &program {
            Some((program, model)) => {
                lab.of_app(&cell, "a", |app| program.whole(app, *model, tasks(claim)))?
            }
            None => lab.times(&cell, "a")?,
        };
        let program = program.map_or_else(|| key.clone(), |(program, _)| program.name);
        all.push(Run { key, program, at, times });
    }
    Ok(all)
}

/// The study of work stealing.
const POOL: &str = "speed_pool";

/// The kernel's yield where the claim names one.
fn yields(claim: &Claim, cell: Cell) -> Cell {
    match claim.at.yields.first() {
        Some(yields) => cell.set("kernel.yield", yields.word()),
        None => cell,
    }
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

/// A cell: machine and program, cores, and what makes its runs whole.
struct Place {
    cell: Cell,
    key: String,
    at: String,
    program: Option<(Program, Model)>,
}

/// The cells of a claim under a policy: machines by programs.
fn cells(claim: &Claim, study: &'static str, policy: &str) -> Vec<Place> {
    let mut cells = Vec::new();
    for machine in &claim.at.machines.list {
        let cell = Cell::new(study, policy).set("machine", machine);
        if study == POOL {
            cells.extend(claim.at.threads.cores.iter().map(|cores| Place {
                cell: cell.clone().set("apps.a.cpus", mask(*cores)),
                key: format!("{machine} work stealing"),
                at: format!("on {cores}"),
                program: None,
            }));
            continue;
        }
        let cell = yields(claim, cell).set("apps.a.tasks", tasks(claim));
        for program in programs(claim) {
            let cell = cell.clone().set("apps.a.workload", program.workload.clone());
            for runtime in runtimes(claim) {
                if !program.runs(runtime.model, tasks(claim)) && claim.at.workload.codes.len() != 1 {
                    continue;
                }
                let cell = run_by(cell.clone(), 'a', runtime.model, runtime.setting());
                cells.push(Place {
                    cell: at_any_phase(cell, 'a', runtime.model),
                    key: format!("{machine} {} {}", runtime.setting(), program.name),
                    at: String::new(),
                    program: Some((program.clone(), runtime.model)),
                });
            }
        }
    }
    cells
}

/// How much longer each baseline takes than the policy, on the mean, or how much less where the claim says
/// so.
fn gains(claim: &Claim, lab: &mut Lab, study: &'static str) -> Result<Answer, Trouble> {
    let this = policy(&claim.at.policy.one)?;
    let mut points = Vec::new();
    for name in &claim.at.baseline.policies.each {
        let other = policy(name)?;
        let mut all = Vec::new();
        for Place { cell, .. } in cells(claim, study, this) {
            let base = lab.times(&cell.clone().under(other), "a")?;
            all.push(base.gain_over(&lab.times(&cell, "a")?));
        }
        let words = matches!(claim.form, Form::Ordering | Form::Qualitative);
        let less = words && !claim.at.statement.first_has_more(this, other, false);
        let unit = general::scale(claim) * if less { -1.0 } else { 1.0 };
        let mean = Series::mean_of(&all).map(|x| x * unit);
        points.push(Point::new(format!("{other} over {this} in {study}, mean"), &mean));
    }
    Ok(Answer(points))
}

/// How far apart replicates lie: the largest of all cells, or their mean.
fn variation(claim: &Claim, lab: &mut Lab, study: &'static str) -> Result<Answer, Trouble> {
    let policy = policy(&claim.at.policy.one)?;
    let mut spreads = Vec::new();
    for Place { cell, .. } in cells(claim, study, policy) {
        spreads.push(lab.times(&cell, "a")?.variation());
    }
    let most = spreads.iter().copied().fold(0.0, f64::max);
    let mean = spreads.iter().sum::<f64>() / spreads.len().max(1) as f64;
    let value = if matches!(claim.form, Form::UpTo | Form::UpperBound) { most } else { mean };
    Ok(Answer(vec![Point::single(format!("{policy} in {study}"), value)]))
}
