//! SPEC OMP programs bound, in pairs and in queues: SWOMPS against none and against one after the other (Yan
//! et al., IWOMP 2010).

mod programs;
mod queues;

use crate::answer::{Answer, Point, Series, Trouble};
use crate::claims::{Claim, Form};
use crate::fields::numbers;
use crate::lab::{Cell, Lab};
use programs::{PROGRAMS, Program, full, named};

/// What the simulator says about a claim of these groups.
pub(super) fn answer(claim: &Claim, lab: &mut Lab) -> Result<Answer, Trouble> {
    match claim.metric.as_str() {
        "run-time" => run_time(claim, lab),
        "bind-gain" => bind_gain(claim, lab),
        "pair-reduction" if claim.environment.contains("queue") => queues::reduction(claim, lab),
        "pair-sum-ratio" | "pair-throughput" | "pair-reduction" => pairs(claim, lab),
        "pair-count" => count(claim, lab),
        "queue-throughput" => queues::throughput(claim, lab),
        "queue-time-reduction" => queues::time_reduction(claim, lab),
        "rel-order" => queues::more_than_pairs(lab),
        metric => Err(Trouble::uncovered(format!("no rule for the metric `{metric}`"))),
    }
}

/// Full run times of a program alone with this many threads, `PIN` or `LOAD`.
fn alone(lab: &mut Lab, program: Program, threads: u32, policy: &str) -> Result<Series, Trouble> {
    let cell = Cell::new("swomps_binding", policy)
        .set("apps.a.workload.program", program.name)
        .set("apps.a.tasks", threads);
    lab.of_app(&cell, "a", |app| full(program, app))
}

/// Full run times of a program alone as the paper compares with: unbound, with the number of threads that
/// does it most good. Those with 12 threads are published, the others are simulated.
fn exclusive(lab: &mut Lab, program: Program) -> Result<Series, Trouble> {
    let simulated = alone(lab, program, program.exclusive_threads(), "LOAD")?;
    Ok(program.published_alone().map_or(simulated, Series::from))
}

/// Run times alone, by policy and number of threads.
fn run_time(claim: &Claim, lab: &mut Lab) -> Result<Answer, Trouble> {
    let policy = if claim.policy.contains("LOAD") { "LOAD" } else { "PIN" };
    points(claim, |program| Ok(vec![(program.label(), alone(lab, program, threads(claim), policy)?)]))
}

/// How much longer a program takes unbound than bound, per cent.
fn bind_gain(claim: &Claim, lab: &mut Lab) -> Result<Answer, Trouble> {
    let mut gains = Vec::new();
    for program in of_claim(claim)? {
        let unbound = alone(lab, program, threads(claim), "LOAD")?;
        gains.push((program.label(), unbound.gain_over(&alone(lab, program, threads(claim), "PIN")?)));
    }
    Ok(summed_up(claim, gains))
}

fn threads(claim: &Claim) -> u32 {
    numbers(&claim.threads).first().copied().unwrap_or(24)
}

/// The programs a claim names, all eleven when it names none.
fn of_claim(claim: &Claim) -> Result<Vec<Program>, Trouble> {
    let programs = named(&claim.workload);
    if programs.is_empty() && !claim.workload.contains("11") {
        return Err(Trouble::uncovered(format!("`{}` names no program of SPEC OMP", claim.workload)));
    }
    Ok(if programs.is_empty() { PROGRAMS.to_vec() } else { programs })
}

/// A point for each series that each program of a claim has.
fn points(
    claim: &Claim,
    mut of: impl FnMut(Program) -> Result<Vec<(String, Series)>, Trouble>,
) -> Result<Answer, Trouble> {
    let mut all = Vec::new();
    for program in of_claim(claim)? {
        all.extend(of(program)?);
    }
    Ok(summed_up(claim, all))
}

/// The mean of all for an average, else each.
fn summed_up(claim: &Claim, all: Vec<(String, Series)>) -> Answer {
    if claim.form == Form::Average {
        let series: Vec<Series> = all.into_iter().map(|(_, series)| series).collect();
        return Answer::one(format!("mean of {}", series.len()), &Series::mean_of(&series));
    }
    Answer::Points(all.into_iter().map(|(label, series)| Point::new(label, &series)).collect())
}

/// Two programs at once: full run times of both.
fn together(lab: &mut Lab, (a, b): (Program, Program), policy: &str) -> Result<(Series, Series), Trouble> {
    let cell = Cell::new("swomps_pairs", policy)
        .set("apps.a.workload.program", a.name)
        .set("apps.b.workload.program", b.name);
    Ok((lab.of_app(&cell, "a", |app| full(a, app))?, lab.of_app(&cell, "b", |app| full(b, app))?))
}

/// The pairs a claim is about: the two programs it names, or all of the eleven.
fn pairs_of(claim: &Claim) -> Result<Vec<(Program, Program)>, Trouble> {
    match named(&claim.workload)[..] {
        [a, b] => Ok(vec![(a, b)]),
        [] if claim.workload.contains("all") => {
            Ok((1..PROGRAMS.len()).flat_map(|i| (0..i).map(move |j| (PROGRAMS[i], PROGRAMS[j]))).collect())
        }
        _ => Err(Trouble::uncovered(format!("`{}` is no pair of SPEC OMP programs", claim.workload))),
    }
}

/// Under which policy a claim's pairs run.
fn policy(claim: &Claim) -> &'static str {
    if claim.policy.starts_with("SWOMPS") { "SWOMPS" } else { "LOAD" }
}

/// The quantities of one pair in the unit of the claim.
fn of_pair(lab: &mut Lab, claim: &Claim, pair: (Program, Program)) -> Result<Vec<(String, Series)>, Trouble> {
    let (a, b) = together(lab, pair, policy(claim))?;
    let label = format!("{} + {}", pair.0.label(), pair.1.label());
    if claim.metric == "pair-sum-ratio"
        || (claim.metric == "pair-count" && claim.baseline.contains("no SWOMPS"))
    {
        let (without_a, without_b) = together(lab, pair, "LOAD")?;
        let sum = |x: &Series, y: &Series| x.with(y, |x, y| x + y);
        return Ok(vec![(label, sum(&without_a, &without_b).over(&sum(&a, &b)))]);
    }
    let (alone_a, alone_b) = (exclusive(lab, pair.0)?.mean(), exclusive(lab, pair.1)?.mean());
    if claim.metric == "pair-reduction" {
        let reduction = |time: &Series, alone: f64| time.map(|t| (1.0 - alone / t) * 100.0);
        return Ok(vec![(pair.0.label(), reduction(&a, alone_a)), (pair.1.label(), reduction(&b, alone_b))]);
    }
    Ok(vec![(label, a.with(&b, |a, b| (alone_a + alone_b) / a.max(b)))])
}

fn pairs(claim: &Claim, lab: &mut Lab) -> Result<Answer, Trouble> {
    let mut all = Vec::new();
    for pair in pairs_of(claim)? {
        all.extend(of_pair(lab, claim, pair)?);
    }
    Ok(summed_up(claim, all))
}

/// How many pairs are better off.
fn count(claim: &Claim, lab: &mut Lab) -> Result<Answer, Trouble> {
    let mut better = 0;
    for pair in pairs_of(claim)? {
        better += of_pair(lab, claim, pair)?.iter().filter(|(_, ratio)| ratio.mean() > 1.0).count();
    }
    Ok(Answer::Points(vec![Point::single("pairs better off", better as f64)]))
}

/// The mean throughput of all pairs under SWOMPS.
fn mean_of_pairs(lab: &mut Lab) -> Result<Series, Trouble> {
    let mut all = Vec::new();
    for (i, one) in PROGRAMS.iter().enumerate() {
        for other in &PROGRAMS[..i] {
            let pair = (*one, *other);
            let sum = exclusive(lab, pair.0)?.mean() + exclusive(lab, pair.1)?.mean();
            let (a, b) = together(lab, pair, "SWOMPS")?;
            all.push(a.with(&b, |a, b| sum / a.max(b)));
        }
    }
    Ok(Series::mean_of(&all))
}
