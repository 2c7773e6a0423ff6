//! SPEC OMP programs bound, in pairs and in queues: SWOMPS against none and against one after the other (Yan
//! et al., IWOMP 2010).

mod programs;
mod queues;

use notation::declare::Choice;

use super::contrast;
use super::general::{self, Run};
use crate::answer::{Answer, Point, Series, Trouble};
use crate::claims::{Claim, Feature, Form, Metric, Model, PROGRAMS, Program, Sharing};
use crate::lab::Lab;
use programs::{alone, exclusive, together};

/// What the simulator says about a claim of these groups.
pub(super) fn answer(claim: &Claim, lab: &mut Lab) -> Result<Answer, Trouble> {
    let at = &claim.at;
    if !at.models.list.contains(&Model::OpenMp) {
        return Err(Trouble::uncovered(format!(
            "SPEC OMP has no programs in the model `{}`",
            claim.texts.model
        )));
    }
    match at.metric {
        Some(Metric::Order) if at.workload.has(Feature::Versus) => queues::more_than_pairs(claim, lab),
        Some(Metric::QueueTimeReduction) => queues::time_reduction(claim, lab),
        _ if contrast::is_comparison(claim) => contrast::answer(claim, lab, &numbers, &runs),
        _ => numbers(claim, lab),
    }
}

fn in_queue(claim: &Claim) -> bool {
    claim.at.environment.sharing == Some(Sharing::Queue)
}

/// What the simulator says about a claim of numbers.
fn numbers(claim: &Claim, lab: &mut Lab) -> Result<Answer, Trouble> {
    match claim.at.metric {
        Some(Metric::PairReduction) if in_queue(claim) => queues::reduction(claim, lab),
        Some(Metric::PairSumRatio | Metric::PairThroughput | Metric::PairReduction) => pairs(claim, lab),
        Some(Metric::PairCount) => count(claim, lab),
        Some(Metric::QueueThroughput) => queues::throughput(claim, lab),
        Some(Metric::QueueTimeReduction) => queues::time_reduction(claim, lab),
        Some(Metric::RunTime | Metric::BindGain | Metric::PinGain) => {
            let Answer(points) = general::answer(claim, lab, &runs)?;
            Ok(Answer(
                points.into_iter().map(|point| Point { label: named(&point.label), ..point }).collect(),
            ))
        }
        _ => general::answer(claim, lab, &runs),
    }
}

/// The name of a program without the words behind it: what claims with several values call it.
fn named(label: &str) -> String {
    label.split(' ').next().unwrap_or_default().to_owned()
}

/// The whole runs of programs: in queues, in pairs, or alone.
fn runs(claim: &Claim, lab: &mut Lab) -> Result<Vec<Run>, Trouble> {
    let policy = claim.at.policy.of_programs();
    if in_queue(claim) {
        return queues::runs(claim, lab);
    }
    let mut all = Vec::new();
    let pairwise = claim.texts.environment.contains("shared") || claim.texts.environment.contains("pair");
    if pairwise && claim.at.workload.programs.len() != 1 {
        for pair in pairs_of(claim)? {
            let (a, b) = together(lab, pair, of_pair_threads(claim), policy)?;
            for (program, beside, times) in [(pair.0, pair.1, a), (pair.1, pair.0, b)] {
                let (key, at) = (program.label(), format!("beside {}", beside.label()));
                all.push(Run { program: key.clone(), key, at, times });
            }
        }
        return Ok(all);
    }
    // Alone a program is bound or left to Linux.
    let bound = claim.at.policy.list.is_empty();
    for program in of_claim(claim)? {
        let times = alone(lab, program, threads(claim), if bound { "PIN" } else { policy })?;
        all.push(Run { key: program.label(), program: program.label(), at: String::new(), times });
    }
    Ok(all)
}

/// Threads of each of two programs: `12 + 12`, `12 each`; 12 where nothing is said.
fn of_pair_threads(claim: &Claim) -> (u32, u32) {
    match claim.at.threads.counts[..] {
        [a, b, ..] if claim.texts.threads.contains('+') => (a, b),
        [a, ..] => (a, a),
        [] => (12, 12),
    }
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
    let threads = of_pair_threads(claim);
    let (a, b) = together(lab, pair, threads, claim.at.policy.of_programs())?;
    let label = format!("{} + {}", pair.0.label(), pair.1.label());
    let metric = claim.at.metric;
    if metric == Some(Metric::PairSumRatio)
        || (metric == Some(Metric::PairCount) && claim.at.baseline.is_without_swomps())
    {
        let measured = claim.at.policy.of_programs();
        let mut others = claim.at.baseline.policies.list.iter().map(|policy| policy.word());
        let without = others.find(|policy| *policy != measured && *policy != "SWOMPS").unwrap_or("LOAD");
        let (without_a, without_b) = together(lab, pair, threads, without)?;
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
