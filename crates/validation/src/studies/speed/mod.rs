//! Fewer cores than threads, and competitors: SPEED against LOAD and others.

mod beside;
mod places;
mod statements;

use notation::declare::Choice;

use crate::answer::{Answer, Point, Series, Trouble};
use crate::claims::{Claim, Form, Metric, Model};
use crate::lab::Lab;
use places::{Grid, Place, mean_excess, openmp, policy, times};

/// What the simulator says about a claim of these groups.
pub(super) fn answer(claim: &Claim, lab: &mut Lab) -> Result<Answer, Trouble> {
    if let Some(beside) = claim.at.environment.beside {
        return beside::answer(claim, lab, beside);
    }
    match claim.at.metric {
        Some(Metric::SpeedGain) => gain(claim, lab),
        Some(Metric::Variation) => variation(claim, lab),
        Some(Metric::BlockTimeGain) => polling(claim, lab),
        Some(Metric::Order) => statements::answer(claim, lab),
        _ => Err(Trouble::no_rule(&claim.texts.metric)),
    }
}

/// T(baseline) / T(policy) - 1 in per cent, on the mean over programs, machines and core counts; by
/// programming model where a range is stated.
fn gain(claim: &Claim, lab: &mut Lab) -> Result<Answer, Trouble> {
    let (this, other) = (policy(&claim.at.policy.one)?, policy(&claim.at.baseline.policies.one)?);
    let grid = Grid::of(claim, lab);
    let label = |what: &str| format!("{what}: {other} over {this}, mean over programs, machines and cores");
    if claim.form != Form::Range {
        let mean = mean_excess(lab, &grid.places(), other, this)?;
        return Ok(Answer::one(label(&claim.texts.model), &mean));
    }
    let mut points = Vec::new();
    for model in [Model::Upc, Model::Mpi, Model::OpenMp] {
        let places: Vec<Place> =
            grid.places().into_iter().filter(|place| place.runtime.model == model).collect();
        if !places.is_empty() {
            points.push(Point::new(label(model.word()), &mean_excess(lab, &places, other, this)?));
        }
    }
    Ok(Answer(points))
}

/// How far apart the replicates of a place lie, in per cent, under a policy.
fn spread(lab: &mut Lab, place: &Place, policy: &str) -> Result<f64, Trouble> {
    Ok(times(lab, place, policy)?.variation())
}

/// The largest spread of all places, or their mean; the mean under the first policy minus that under the
/// second where two are named.
fn variation(claim: &Claim, lab: &mut Lab) -> Result<Answer, Trouble> {
    let places = Grid::of(claim, lab).places();
    let mut means = Vec::new();
    let mut largest: Option<Point> = None;
    for name in &claim.at.policy.each {
        let policy = policy(name)?;
        let mut sum = 0.0;
        for place in &places {
            let spread = spread(lab, place, policy)?;
            sum += spread;
            if largest.as_ref().is_none_or(|most| spread > most.value) {
                let Place { machine, runtime, program, cores, .. } = place;
                let runtime = runtime.setting();
                let label = format!("{policy} {machine} {} {runtime} on {cores}", program.name);
                largest = Some(Point::single(label, spread));
            }
        }
        means.push((policy, sum / places.len().max(1) as f64));
    }
    let points = match (claim.form, &means[..]) {
        (Form::UpTo | Form::UpperBound, _) => largest.into_iter().collect(),
        (_, [(more, a), (less, b), ..]) => {
            vec![Point::single(format!("mean variation of {more} ({a:.1} %) minus {less} ({b:.1} %)"), a - b)]
        }
        (_, means) => {
            let label = |policy: &str| format!("{policy}: mean variation over programs, machines and cores");
            means.iter().map(|(policy, mean)| Point::single(label(policy), *mean)).collect()
        }
    };
    Ok(Answer(points))
}

/// T(sleeping) / T(polling) - 1 of OpenMP programs under a policy, in per cent, on the mean.
fn polling(claim: &Claim, lab: &mut Lab) -> Result<Answer, Trouble> {
    let this = policy(&claim.at.policy.one)?;
    let mut all = Vec::new();
    for place in Grid::polling(claim, lab).places() {
        let polling = times(lab, &place, this)?;
        for time in &claim.at.baseline.asleep {
            let asleep = Place { runtime: openmp(*time), ..place.clone() };
            all.push(times(lab, &asleep, this)?.gain_over(&polling));
        }
    }
    Ok(Answer::one(format!("{this}: sleeping over polling barriers, mean"), &Series::mean_of(&all)))
}
