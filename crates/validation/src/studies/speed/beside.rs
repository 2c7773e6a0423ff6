//! Programs beside competitors (a hog on core 0, `make -j 16`, another program), and programs that steal
//! work.

use super::fields::{mask, policy, programs, runtimes, threads};
use crate::answer::{Answer, Point, Series, Trouble};
use crate::claims::{Claim, Form};
use crate::fields;
use crate::lab::{Cell, Lab};

/// The study of a claim about a competitor or about work stealing; none for other claims.
fn study(claim: &Claim) -> Option<&'static str> {
    let environment = format!("{} {}", claim.environment, claim.workload).to_lowercase();
    let words = [
        ("hog", "speed_hog"),
        ("make", "speed_make"),
        ("another", "speed_beside"),
        ("competi", "speed_beside"),
        ("steal", "speed_pool"),
        ("parsec", "speed_pool"),
    ];
    words.iter().find(|(word, _)| environment.contains(word)).map(|(_, study)| *study)
}

/// What the simulator says about such a claim; none if it is about no competitor.
pub(super) fn answer(claim: &Claim, lab: &mut Lab) -> Option<Result<Answer, Trouble>> {
    let study = study(claim)?;
    Some(match claim.metric.as_str() {
        "cpu-share" => share(claim, lab),
        "speed-gain" | "rel-order" | "rel-time" => gains(claim, lab, study),
        "variation" => variation(claim, lab, study),
        other => Err(Trouble::uncovered(format!("no rule for the metric `{other}` beside a competitor"))),
    })
}

/// Tasks on a machine of 16 cores: `2 per core`, `16 threads`; 16 where nothing is said.
fn tasks(claim: &Claim) -> u32 {
    let number = fields::numbers(&claim.threads).first().copied().unwrap_or(16).clamp(1, 1024);
    if claim.threads.contains("per core") { number * 16 } else { number }
}

/// The kernel's yield where the claim names one.
fn yields(claim: &Claim, cell: Cell) -> Cell {
    match claim.yields.to_lowercase() {
        text if text.contains("posix") => cell.set("kernel.yield", "posix"),
        _ => cell,
    }
}

/// What the hog gets of core 0: as much as each task there, since nobody else is on it. LOAD keeps moving
/// tasks away from the crowded core and back, so the share while so many tasks are there is looked at on core
/// 0 alone.
fn share(claim: &Claim, lab: &mut Lab) -> Result<Answer, Trouble> {
    let policy = policy(&claim.policy)?;
    let per_core = (tasks(claim) / 16).max(1);
    let mut points = Vec::new();
    for machine in fields::machines(claim) {
        for program in programs(claim) {
            let cell = Cell::new("speed_hog", policy)
                .set("machine", &machine)
                .set("apps.a.workload", &program.workload)
                .set("apps.a.tasks", per_core)
                .set("apps.a.cpus", "0");
            let runs = lab.runs(&yields(claim, cell))?;
            let of = |name: &str| {
                let cpu = |run: &crate::lab::RunSample| {
                    let app = run.apps.iter().find(|app| app.name == name);
                    app.map_or(f64::NAN, |app| app.task_cpu.iter().sum::<f64>()) / run.makespan
                };
                Series(runs.iter().map(cpu).collect())
            };
            let label = format!("{machine} {}: share of the hog beside {per_core} on core 0", program.name);
            points.push(Point::new(label, &of("hog")));
        }
    }
    Ok(Answer::Points(points))
}

/// The cells of a claim under a policy: machines by programs.
fn cells(claim: &Claim, study: &'static str, policy: &str) -> Vec<Cell> {
    let mut cells = Vec::new();
    for machine in fields::machines(claim) {
        let cell = Cell::new(study, policy).set("machine", &machine);
        if study == "speed_pool" {
            cells.extend(
                threads(claim).1.into_iter().map(|cores| cell.clone().set("apps.a.cpus", mask(cores))),
            );
            continue;
        }
        let cell = yields(claim, cell).set("apps.a.tasks", tasks(claim));
        for program in programs(claim) {
            for runtime in runtimes(claim) {
                cells.push(
                    cell.clone().set("apps.a.workload", &program.workload).set("apps.a.runtime", runtime),
                );
            }
        }
    }
    cells
}

/// How much longer each baseline takes than the policy, on the mean: in per cent, or as a share for an order.
fn gains(claim: &Claim, lab: &mut Lab, study: &'static str) -> Result<Answer, Trouble> {
    let this = policy(&claim.policy)?;
    let mut points = Vec::new();
    for name in claim.baseline.split(',') {
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
    Ok(Answer::Points(points))
}

/// How far apart replicates lie: the largest of all cells, or their mean.
fn variation(claim: &Claim, lab: &mut Lab, study: &'static str) -> Result<Answer, Trouble> {
    let policy = policy(&claim.policy)?;
    let mut spreads = Vec::new();
    for cell in cells(claim, study, policy) {
        spreads.push(lab.times(&cell, "a")?.variation());
    }
    let most = spreads.iter().copied().fold(0.0, f64::max);
    let mean = spreads.iter().sum::<f64>() / spreads.len().max(1) as f64;
    let value = if matches!(claim.form, Form::UpTo | Form::UpperBound) { most } else { mean };
    Ok(Answer::Points(vec![Point::single(format!("{policy} in {study}"), value)]))
}
