//! Two programs at once: against partitions, against one after the other, with unequal numbers of tasks, in
//! gangs.

mod measure;
mod pairs;
mod spread;
mod unequal;

use notation::declare::Choice;

use crate::answer::{Answer, Point, Series, Trouble};
use crate::claims::{Claim, Family, Feature, Form, Metric, Order, Policy};
use crate::lab::{Cell, Lab};
use measure::{
    DEGREES, Place, alone, degrees, gains, machines, many, mean_gain, mean_throughput, over_sequence,
    partitioned, places, shared,
};
use pairs::{Pair, asked};

/// What the simulator says about a claim of these groups.
pub(super) fn answer(claim: &Claim, lab: &mut Lab) -> Result<Answer, Trouble> {
    match (claim.at.metric, claim.at.family, claim.at.order) {
        (Some(Metric::PartitionGain | Metric::MeanPartitionGain), ..) => against_partitions(claim, lab),
        (Some(Metric::OfDedicated), ..) => of_dedicated(claim, lab),
        (Some(Metric::Throughput), Some(Family::Predictor), _) => robust_partner(claim, lab),
        (Some(Metric::Throughput), ..) => throughput(claim, lab),
        (Some(Metric::Variation), ..) if claim.form == Form::Ordering => spread::isolation(claim, lab),
        (Some(Metric::Variation), ..) => spread::variation(claim, lab),
        (Some(Metric::ImbalanceChange), ..) => unequal::answer(claim, lab),
        (Some(Metric::Order), Some(Family::Gangs), _) => gangs(claim, lab),
        (Some(Metric::Order), _, Some(Order::Different)) => differing(claim, lab),
        (Some(Metric::Order), Some(Family::Partitions), _) => more_tasks(claim, lab),
        (Some(Metric::Order), _, Some(Order::Load)) => load(claim, lab),
        (Some(Metric::Order), _, Some(Order::Throughput)) => best_with_many(claim, lab),
        _ => {
            let (metric, said) = (&claim.texts.metric, claim.value.shown());
            let words = format!("{said} {}", claim.texts.baseline).to_lowercase();
            Err(Trouble::uncovered(format!("no rule for the metric `{metric}` in words `{words}`")))
        }
    }
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
            let times = shared(lab, &pair, place, claim.at.policy.load_or_pin())?;
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
    match claim.form {
        Form::Qualitative => best_with_many(claim, lab),
        Form::Ordering => between_models(claim, lab),
        _ => {
            let mut found = Vec::new();
            for place in places(claim) {
                found.push((place.label(), mean_throughput(claim, lab, place)?));
            }
            Ok(summed_up(claim, &found))
        }
    }
}

/// The first model named gains more than the others, at each degree.
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
                points.push(Point::single(label, most - gain));
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

/// Sharing wins more for pairs of different programs than for pairs of equal ones.
fn differing(claim: &Claim, lab: &mut Lab) -> Result<Answer, Trouble> {
    let mut points = Vec::new();
    for place in places(claim) {
        let (equal, different): (Vec<Pair>, Vec<Pair>) =
            asked(claim, lab, place.models).into_iter().partition(|pair| pair.0.code == pair.1.code);
        let more = mean_gain(claim, lab, &different, place)?.mean();
        let less = mean_gain(claim, lab, &equal, place)?.mean();
        points.push(Point::single(place.label(), more - less));
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
        let most = if lab.is_quick() { 4 } else { usize::MAX };
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
