//! Fewer cores than threads, and competitors: SPEED against LOAD and others.

mod beside;
mod fields;
mod statements;

use crate::answer::{Answer, Point, Series, Trouble};
use crate::claims::{Claim, Form};
use crate::lab::Lab;
use fields::{Grid, POLLING, Place, policy};

/// What the simulator says about a claim of these groups.
pub(super) fn answer(claim: &Claim, lab: &mut Lab) -> Result<Answer, Trouble> {
    if let Some(answer) = beside::answer(claim, lab) {
        return answer;
    }
    match claim.metric.as_str() {
        "speed-gain" => gain(claim, lab),
        "variation" => variation(claim, lab),
        "kmp-gain" => polling(claim, lab),
        "rel-order" => statements::answer(claim, lab),
        other => Err(Trouble::uncovered(format!("no rule for the metric `{other}`"))),
    }
}

/// The run times at a place under a policy.
fn times(lab: &mut Lab, place: &Place, policy: &str) -> Result<Series, Trouble> {
    lab.times(&place.cell(policy), "a")
}

/// How much longer `other` takes than `this` at a place, in per cent.
fn excess(lab: &mut Lab, place: &Place, other: &str, this: &str) -> Result<Series, Trouble> {
    Ok(times(lab, place, other)?.gain_over(&times(lab, place, this)?))
}

/// The same on the mean over places.
fn mean_excess(lab: &mut Lab, places: &[Place], other: &str, this: &str) -> Result<Series, Trouble> {
    let all: Result<Vec<Series>, Trouble> =
        places.iter().map(|place| excess(lab, place, other, this)).collect();
    Ok(Series::mean_of(&all?))
}

/// T(baseline) / T(policy) - 1 in per cent, on the mean over programs, machines and core counts; by
/// programming model where a range is stated.
fn gain(claim: &Claim, lab: &mut Lab) -> Result<Answer, Trouble> {
    let (this, other) = (policy(&claim.policy)?, policy(&claim.baseline)?);
    let grid = Grid::of(claim, lab);
    let label = |what: &str| format!("{what}: {other} over {this}, mean over programs, machines and cores");
    if claim.form != Form::Range {
        let mean = mean_excess(lab, &grid.places(), other, this)?;
        return Ok(Answer::one(label(&claim.model), &mean));
    }
    let model =
        |place: &Place| ["upc", "mpi"].into_iter().find(|m| place.runtime.contains(m)).unwrap_or("openmp");
    let mut points = Vec::new();
    for name in ["upc", "mpi", "openmp"] {
        let places: Vec<Place> = grid.places().into_iter().filter(|place| model(place) == name).collect();
        if !places.is_empty() {
            points.push(Point::new(label(name), &mean_excess(lab, &places, other, this)?));
        }
    }
    Ok(Answer::Points(points))
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
    for name in claim.policy.split(',') {
        let policy = policy(name)?;
        let mut sum = 0.0;
        for place in &places {
            let spread = spread(lab, place, policy)?;
            sum += spread;
            if largest.as_ref().is_none_or(|most| spread > most.value) {
                let Place { machine, runtime, program, cores, .. } = place;
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
    Ok(Answer::Points(points))
}

/// T(sleeping) / T(polling) - 1 of OpenMP programs under a policy, in per cent, on the mean.
fn polling(claim: &Claim, lab: &mut Lab) -> Result<Answer, Trouble> {
    let this = policy(&claim.policy)?;
    let grid = Grid { runtimes: vec![POLLING], ..Grid::of(claim, lab) };
    let mut all = Vec::new();
    for place in grid.places() {
        let polling = times(lab, &place, this)?;
        for runtime in fields::sleeping(&claim.baseline) {
            let asleep = Place { runtime, ..place.clone() };
            all.push(times(lab, &asleep, this)?.gain_over(&polling));
        }
    }
    Ok(Answer::one(format!("{this}: sleeping over polling barriers, mean"), &Series::mean_of(&all)))
}
