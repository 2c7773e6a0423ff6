//! Two programs at once: against partitions, against one after the other, with unequal numbers of tasks, in
//! gangs.

mod measure;
mod pairs;
mod spread;
mod unequal;

use notation::declare::Choice;

use super::general::{self, Run};
use super::programs::contexts;
use super::{contrast, legal};
use crate::answer::{Answer, Point, Series, Trouble};
use crate::claims::{Claim, Family, Feature, Form, Metric, Order, Policy, Sharing, Together};
use crate::lab::{AppSample, Cell, Lab};
use measure::{
    DEGREES, Place, alone, degrees, gains, machines, many, mean_gain, mean_throughput, over_sequence,
    partitioned, places, shared,
};
use pairs::{Pair, asked};

/// What the simulator says about a claim of these groups.
pub(super) fn answer(claim: &Claim, lab: &mut Lab) -> Result<Answer, Trouble> {
    match statement(claim, lab) {
        Some(answer) => answer,
        None if contrast::is_comparison(claim) => contrast::answer(claim, lab, &numbers, &runs),
        None => numbers(claim, lab),
    }
}

/// What the simulator says about a statement with a rule of its own; `None` about others.
fn statement(claim: &Claim, lab: &mut Lab) -> Option<Result<Answer, Trouble>> {
    let (at, sides) = (&claim.at, contrast::has_sides(claim));
    if !matches!(claim.form, Form::Ordering | Form::Qualitative) {
        let robust = at.family == Some(Family::Predictor) && claim.form == Form::LowerBound;
        return (robust && at.metric == Some(Metric::Throughput)).then(|| robust_partner(claim, lab));
    }
    Some(match (at.metric?, at.order) {
        (Metric::Throughput, _) if claim.form == Form::Qualitative && at.statement.speaks_of(&MANY) => {
            best_with_many(claim, lab)
        }
        (Metric::Throughput, _)
            if claim.form == Form::Ordering
                && (!sides || is_of_models(claim))
                && pairs::models(claim).len() > 1 =>
        {
            between_models(claim, lab)
        }
        (Metric::Variation, _)
            if !sides && at.baseline.policies.list.is_empty() && !many(claim).is_empty() =>
        {
            spread::isolation(claim, lab)
        }
        (Metric::ImbalanceChange, _) if !sides => unequal::answer(claim, lab),
        (Metric::Order, _) if at.policy.has(Policy::Gang) => gangs(claim, lab),
        (Metric::Order, Some(Order::Different)) => differing(claim, lab),
        (Metric::Order, _) if at.family == Some(Family::Partitions) && is_of_degrees(claim) => {
            more_tasks(claim, lab)
        }
        (Metric::Order, Some(Order::Load)) if !sides && at.baseline.policies.has(Policy::Load) => {
            load(claim, lab)
        }
        (Metric::Order, Some(Order::Throughput)) if !sides => best_with_many(claim, lab),
        _ => return None,
    })
}

/// Beginnings of words about several tasks per core, or about what is alike everywhere.
const MANY: [&str; 4] = ["best", "multiple", "several", "trend"];

/// Whether it is programming models that are compared.
fn is_of_models(claim: &Claim) -> bool {
    claim.at.models.together == Together::Versus && !claim.at.machines.versus
}

/// Whether several numbers of tasks are compared.
fn is_of_degrees(claim: &Claim) -> bool {
    degrees(claim).len() > 1 && !claim.at.machines.versus && claim.at.models.together != Together::Versus
}

/// What the simulator says about a claim of numbers.
fn numbers(claim: &Claim, lab: &mut Lab) -> Result<Answer, Trouble> {
    match claim.at.metric {
        Some(Metric::PartitionGain | Metric::MeanPartitionGain) => against_partitions(claim, lab),
        Some(Metric::OfDedicated) => of_dedicated(claim, lab),
        Some(Metric::Throughput) => throughput(claim, lab),
        Some(Metric::Variation) => spread::variation(claim, lab),
        Some(Metric::ImbalanceChange) => unequal::answer(claim, lab),
        Some(Metric::Balance | Metric::CacheMisses | Metric::Correlation) => Err(legal::no_rule(claim)),
        _ => general::answer(claim, lab, &runs),
    }
}

/// The whole runs of the programs at once, in partitions, or each alone where the claim says so; of the one
/// pair that a claim is about those of the first program.
fn runs(claim: &Claim, lab: &mut Lab) -> Result<Vec<Run>, Trouble> {
    let sharing = claim.at.environment.sharing;
    let mut all = Vec::new();
    for place in places(claim) {
        let cores = contexts(place.machine);
        for pair in asked(claim, lab, place.models) {
            let tasks = if sharing == Some(Sharing::Partitions) {
                claim.at.baseline.cores()
            } else {
                place.k * cores
            };
            let cell = match sharing {
                Some(Sharing::Partitions) => pair.partitioned(place.machine, tasks),
                _ => pair.shared(place.machine, place.k, claim.at.policy.placer().word()),
            };
            for (job, app) in [pair.0, pair.1].into_iter().zip(pair.apps()) {
                let whole = |sample: &AppSample| job.whole(sample, tasks);
                let times = match sharing {
                    Some(Sharing::Alone) => lab.of_app(&job.alone(place.machine, place.k), "a", whole)?,
                    _ => lab.of_app(&cell, app, whole)?,
                };
                let model = place.models.0.word();
                let key = format!("{} {model} {}, {}", place.machine, pair.label(), job.code.word());
                let program = format!("{}, {}", pair.label(), job.code.word());
                all.push(Run { key, program, at: format!("{}/core", place.k), times });
                if pairs::is_single(claim) {
                    break;
                }
            }
        }
    }
    Ok(all)
}

/// `share-vs-part`: of the first program of the pair; `share-vs-part-avg`: mean over single programs.
fn against_partitions(claim: &Claim, lab: &mut Lab) -> Result<Answer, Trouble> {
    let first = claim.at.metric == Some(Metric::PartitionGain) && pairs::is_single(claim);
    let mut found = Vec::new();
    for place in places(claim) {
        let series = match &asked(claim, lab, place.models)[..] {
            [pair] if first => {
                let [gain, _] = gains(claim, lab, pair, place)?;
                gain
            }
            all => mean_gain(claim, lab, all, place)?,
        };
        found.push((place.label(), series));
    }
    Ok(summed_up(claim, &found))
}

/// One point of the mean of all, or one of each.
fn summed_up(claim: &Claim, found: &[(String, Series)]) -> Answer {
    if claim.form.is_mean() && found.len() > 1 {
        let labels: Vec<&str> = found.iter().map(|(label, _)| label.as_str()).collect();
        let label = format!("mean of {}", labels.join(", "));
        let all: Vec<Series> = found.iter().map(|(_, series)| series.clone()).collect();
        return Answer::one(label, &Series::mean_of(&all));
    }
    Answer(found.iter().map(|(label, series)| Point::new(label.clone(), series)).collect())
}

/// Run time alone over run time shared of the first program, in per cent; of a set of pairs the mean over all
/// programs.
fn of_dedicated(claim: &Claim, lab: &mut Lab) -> Result<Answer, Trouble> {
    let mut found = Vec::new();
    for place in places(claim) {
        let mut shares = Vec::new();
        for pair in asked(claim, lab, place.models) {
            let times = shared(lab, &pair, place, claim.at.policy.placer())?;
            for (job, time) in [&pair.0, &pair.1].into_iter().zip(times) {
                let alone = alone(lab, job, place.machine, 1)?.mean();
                shares.push(time.map(|t| 100.0 * alone / t));
            }
        }
        if pairs::is_single(claim) {
            shares.truncate(1);
        }
        found.push((place.label(), Series::mean_of(&shares)));
    }
    Ok(summed_up(claim, &found))
}

fn throughput(claim: &Claim, lab: &mut Lab) -> Result<Answer, Trouble> {
    let mut found = Vec::new();
    for place in places(claim) {
        found.push((place.label(), mean_throughput(claim, lab, place)?));
    }
    Ok(summed_up(claim, &found))
}

/// The first model named gains more than the others, at each degree, or less where the claim says so.
fn between_models(claim: &Claim, lab: &mut Lab) -> Result<Answer, Trouble> {
    let models = pairs::models(claim);
    let Some((first, others)) = models.split_first() else {
        return Err(Trouble::uncovered("no programming model is named"));
    };
    let mut points = Vec::new();
    for machine in &claim.at.machines.list {
        for k in degrees(claim) {
            let place = Place { machine, models: *first, k };
            let most = mean_throughput(claim, lab, place)?.mean();
            for other in others {
                let gain = mean_throughput(claim, lab, Place { models: *other, ..place })?.mean();
                let label = format!("{} over {}", place.label(), other.0.word());
                let names = (first.0.word(), other.0.word());
                let more = claim.at.statement.first_has_more(names.0, names.1, false);
                points.push(Point::single(label, if more { most - gain } else { gain - most }));
            }
        }
    }
    Ok(Answer(points))
}

/// The best throughput is that of sharing with several tasks per core: by how much it beats one task per core
/// and, where the claim speaks of them, partitions and the sequence.
fn best_with_many(claim: &Claim, lab: &mut Lab) -> Result<Answer, Trouble> {
    let mut points = Vec::new();
    for place in machines(claim) {
        let mut most = f64::NEG_INFINITY;
        let mut rest = mean_throughput(claim, lab, place)?.mean();
        for k in many(claim) {
            most = most.max(mean_throughput(claim, lab, place.with(k))?.mean());
        }
        if claim.at.baseline.sequence {
            rest = rest.max(0.0);
        }
        if claim.at.baseline.partition.is_some() {
            let mut all = Vec::new();
            for pair in asked(claim, lab, place.models) {
                let times = partitioned(claim, lab, &pair, place.machine)?;
                all.push(over_sequence(lab, &pair, place.machine, times)?);
            }
            rest = rest.max(Series::mean_of(&all).mean());
        }
        points.push(Point::single(place.with(2).label(), most - rest));
    }
    Ok(Answer(points))
}

/// Every pair with a program that more tasks per core do not hurt (by more than 2 %) when alone.
fn robust_partner(claim: &Claim, lab: &mut Lab) -> Result<Answer, Trouble> {
    let mut points = Vec::new();
    for place in machines(claim) {
        for pair in asked(claim, lab, place.models) {
            let mut robust = false;
            for job in [&pair.0, &pair.1] {
                let one = alone(lab, job, place.machine, 1)?.mean();
                let mut hurt = false;
                for k in degrees(claim) {
                    hurt |= alone(lab, job, place.machine, k)?.mean() > 1.02 * one;
                }
                robust |= !hurt;
            }
            for k in degrees(claim) {
                let place = place.with(k);
                let times = shared(lab, &pair, place, Policy::Pin)?;
                let gain = over_sequence(lab, &pair, place.machine, times)?;
                if robust {
                    points.push(Point::new(format!("{} {}", place.label(), pair.label()), &gain));
                }
            }
        }
    }
    Ok(Answer(points))
}

/// Sharing wins more for pairs of different programs than for pairs of equal ones, or less where the claim
/// says so.
fn differing(claim: &Claim, lab: &mut Lab) -> Result<Answer, Trouble> {
    let mut points = Vec::new();
    for place in places(claim) {
        let (equal, different): (Vec<Pair>, Vec<Pair>) =
            asked(claim, lab, place.models).into_iter().partition(|pair| pair.0.code == pair.1.code);
        let more = mean_gain(claim, lab, &different, place)?.mean();
        let less = mean_gain(claim, lab, &equal, place)?.mean();
        let sign = if claim.at.statement.first_has_more("different", "equal", false) { 1.0 } else { -1.0 };
        points.push(Point::single(place.label(), sign * (more - less)));
    }
    Ok(Answer(points))
}

/// Sharing wins more with several tasks per core than with one.
fn more_tasks(claim: &Claim, lab: &mut Lab) -> Result<Answer, Trouble> {
    let mut points = Vec::new();
    for place in places(claim) {
        let all = asked(claim, lab, place.models);
        let one = mean_gain(claim, lab, &all, place.with(1))?.mean();
        if place.k > 1 {
            let many = mean_gain(claim, lab, &all, place)?.mean();
            points.push(Point::single(place.label(), many - one));
        }
    }
    Ok(Answer(points))
}

/// How much longer programs take under LOAD than pinned.
fn load(claim: &Claim, lab: &mut Lab) -> Result<Answer, Trouble> {
    let mut points = Vec::new();
    for place in places(claim) {
        let mut all = Vec::new();
        for pair in asked(claim, lab, place.models) {
            let pinned = shared(lab, &pair, place, Policy::Pin)?;
            let free = shared(lab, &pair, place, Policy::Load)?;
            all.extend(free.iter().zip(&pinned).map(|(free, pinned)| free.gain_over(pinned)));
        }
        points.push(Point::new(place.label(), &Series::mean_of(&all)));
    }
    Ok(Answer(points))
}

/// How much sooner everything is done when sharing than in gangs, in per cent: negative where gangs win.
fn gangs(claim: &Claim, lab: &mut Lab) -> Result<Answer, Trouble> {
    let mut points = Vec::new();
    for place in places(claim) {
        let Place { machine, models, k } = place;
        let mut all = Vec::new();
        // A quick look asks a few pairs only.
        let most = if lab.is_quick() { 2 } else { usize::MAX };
        for pair in asked(claim, lab, models).into_iter().take(most) {
            // Runs that no other claim needs: once is enough for a sign.
            let once = |cell: Cell| cell.set("repeat", 1);
            let pinned = pair.shared(machine, k, "PIN");
            let pinned = if DEGREES.contains(&k) { pinned } else { once(pinned) };
            let gangs = once(pair.shared(machine, k, "gang"));
            let gangs = lab.of_run(&gangs, |run| run.makespan)?;
            all.push(gangs.gain_over(&lab.of_run(&pinned, |run| run.makespan)?));
        }
        points.push(Point::new(format!("{}, two programs", place.label()), &Series::mean_of(&all)));
        if claim.at.workload.has(Feature::Three) {
            let quick = lab.is_quick();
            let mut ends =
                |policy| lab.of_run(&pairs::three(machine, models.0, k, (policy, quick)), |run| run.makespan);
            let (pinned, gangs) = (ends("PIN")?, ends("gang")?);
            points.push(Point::new(format!("{}, three programs", place.label()), &gangs.gain_over(&pinned)));
        }
    }
    Ok(Answer(points))
}
