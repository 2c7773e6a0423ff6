//! SPEC OMP programs bound, in pairs and in queues: SWOMPS against none and against one after the other (Yan
//! et al., IWOMP 2010).

mod programs;
mod queues;

use notation::declare::Choice;

use crate::answer::{Answer, Point, Series, Trouble};
use crate::claims::{Claim, Feature, Form, Metric, PROGRAMS, Program, Sharing};
use crate::lab::Lab;
use programs::{alone, exclusive, together};

/// What the simulator says about a claim of these groups.
pub(super) fn answer(claim: &Claim, lab: &mut Lab) -> Result<Answer, Trouble> {
    let queue = claim.at.environment.sharing == Some(Sharing::Queue);
    match claim.at.metric {
        Some(Metric::RunTime) => run_time(claim, lab),
        Some(Metric::BindGain) => bind_gain(claim, lab),
        Some(Metric::PairReduction) if queue => queues::reduction(claim, lab),
        Some(Metric::PairSumRatio | Metric::PairThroughput | Metric::PairReduction) => pairs(claim, lab),
        Some(Metric::PairCount) => count(claim, lab),
        Some(Metric::QueueThroughput) => queues::throughput(claim, lab),
        Some(Metric::QueueTimeReduction) => queues::time_reduction(claim, lab),
        Some(Metric::Order) => queues::more_than_pairs(lab),
        _ => Err(Trouble::no_rule(&claim.texts.metric)),
    }
}

/// Run times alone, by policy and number of threads.
fn run_time(claim: &Claim, lab: &mut Lab) -> Result<Answer, Trouble> {
    let policy = claim.at.policy.load_or_pin().word();
    let mut times = Vec::new();
    for program in of_claim(claim)? {
        times.push((program.label(), alone(lab, program, threads(claim), policy)?));
    }
    Ok(summed_up(claim, times))
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
    claim.at.threads.counts.first().copied().unwrap_or(24)
}

/// The programs a claim names, all eleven when it names none.
fn of_claim(claim: &Claim) -> Result<Vec<Program>, Trouble> {
    let programs = &claim.at.workload.programs;
    if programs.is_empty() && !claim.at.workload.has(Feature::Eleven) {
        let workload = &claim.texts.workload;
        return Err(Trouble::uncovered(format!("`{workload}` names no program of SPEC OMP")));
    }
    Ok(if programs.is_empty() { PROGRAMS.to_vec() } else { programs.clone() })
}

/// The mean of all for an average, else each.
fn summed_up(claim: &Claim, all: Vec<(String, Series)>) -> Answer {
    if claim.form == Form::Average {
        let series: Vec<Series> = all.into_iter().map(|(_, series)| series).collect();
        return Answer::one(format!("mean of {}", series.len()), &Series::mean_of(&series));
    }
    Answer(all.into_iter().map(|(label, series)| Point::new(label, &series)).collect())
}

/// The pairs a claim is about: the two programs it names, or all of the eleven.
fn pairs_of(claim: &Claim) -> Result<Vec<(Program, Program)>, Trouble> {
    match claim.at.workload.programs[..] {
        [a, b] => Ok(vec![(a, b)]),
        [] if claim.at.workload.has(Feature::All) => {
            Ok((1..PROGRAMS.len()).flat_map(|i| (0..i).map(move |j| (PROGRAMS[i], PROGRAMS[j]))).collect())
        }
        _ => Err(Trouble::uncovered(format!("`{}` is no pair of SPEC OMP programs", claim.texts.workload))),
    }
}

/// The quantities of one pair in the unit of the claim.
fn of_pair(lab: &mut Lab, claim: &Claim, pair: (Program, Program)) -> Result<Vec<(String, Series)>, Trouble> {
    let (a, b) = together(lab, pair, claim.at.policy.swomps_or_load())?;
    let label = format!("{} + {}", pair.0.label(), pair.1.label());
    let metric = claim.at.metric;
    if metric == Some(Metric::PairSumRatio)
        || (metric == Some(Metric::PairCount) && claim.at.baseline.is_without_swomps())
    {
        let (without_a, without_b) = together(lab, pair, "LOAD")?;
        let sum = |x: &Series, y: &Series| x.with(y, |x, y| x + y);
        return Ok(vec![(label, sum(&without_a, &without_b).over(&sum(&a, &b)))]);
    }
    let (alone_a, alone_b) = (exclusive(lab, pair.0)?.mean(), exclusive(lab, pair.1)?.mean());
    if metric == Some(Metric::PairReduction) {
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
    Ok(Answer(vec![Point::single("pairs better off", better as f64)]))
}
