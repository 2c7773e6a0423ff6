//! Fewer cores than threads, and competitors: SPEED against LOAD and others.

mod beside;
mod places;
mod statements;

use notation::declare::Choice;

use super::contrast;
use super::general::{self, Run};
use crate::answer::{Answer, Point, Series, Trouble};
use crate::claims::{Claim, Form, Metric};
use crate::lab::Lab;
use places::{Grid, Place, mean_excess, openmp, policy, times};

/// What the simulator says about a claim of these groups.
pub(super) fn answer(claim: &Claim, lab: &mut Lab) -> Result<Answer, Trouble> {
    if let Some(beside) = claim.at.environment.beside {
        return beside::answer(claim, lab, beside);
    }
    let words = matches!(claim.form, Form::Ordering | Form::Qualitative);
    match claim.at.metric {
        Some(
            Metric::RelPerf
            | Metric::WorkloadChange
            | Metric::Correlation
            | Metric::Balance
            | Metric::CacheMisses,
        ) => super::dedicated::answer(claim, lab),
        Some(Metric::Order) if words && statements::knows(claim) => statements::answer(claim, lab),
        Some(Metric::Variation) if claim.form == Form::Ordering && claim.at.policy.each.len() > 1 => {
            variation(claim, lab)
        }
        _ if contrast::is_comparison(claim) => contrast::answer(claim, lab, &numbers, &runs),
        _ => numbers(claim, lab),
    }
}

/// What the simulator says about a claim of numbers.
fn numbers(claim: &Claim, lab: &mut Lab) -> Result<Answer, Trouble> {
    match claim.at.metric {
        Some(Metric::SpeedGain) => gain(claim, lab),
        Some(Metric::Variation) => variation(claim, lab),
        Some(Metric::BlockTimeGain) => polling(claim, lab),
        _ => general::answer(claim, lab, &runs),
    }
}

/// The whole runs of all places.
fn runs(claim: &Claim, lab: &mut Lab) -> Result<Vec<Run>, Trouble> {
    let policy = policy(&claim.at.policy.one)?;
    Grid::of(claim, lab).places().iter().map(|place| place.run(lab, policy)).collect()
}

/// T(baseline) / T(policy) - 1 in per cent, on the mean over programs, machines and core counts; by
/// programming model where a range is stated, by program for other bounds, each place by itself for the
/// largest.
fn gain(claim: &Claim, lab: &mut Lab) -> Result<Answer, Trouble> {
    let this = policy(&claim.at.policy.one)?;
    let mut points = Vec::new();
    for name in &claim.at.baseline.policies.each {
        let other = policy(name)?;
        let places = Grid::of(claim, lab).places();
        let part = |place: &Place| match claim.form {
            Form::Range => place.runtime.model.word().to_owned(),
            Form::LowerBound | Form::UpperBound => place.program_key(),
            Form::UpTo => place.label(),
            _ => claim.texts.model.clone(),
        };
        let mut parts: Vec<(String, Vec<Place>)> = Vec::new();
        for place in places {
            let name = part(&place);
            match parts.iter_mut().find(|(known, _)| *known == name) {
                Some((_, all)) => all.push(place),
                None => parts.push((name, vec![place])),
            }
        }
        for (name, places) in parts {
            let mean = mean_excess(lab, &places, other, this)?;
            let label = format!("{name}: {other} over {this}, mean over programs, machines and cores");
            points.push(Point::new(label, &mean));
        }
    }
    Ok(Answer(points))
}

/// How far apart the replicates of a place lie, in per cent, under a policy.
fn spread(lab: &mut Lab, place: &Place, policy: &str) -> Result<f64, Trouble> {
    Ok(times(lab, place, policy)?.variation())
}

/// The largest spread of all places, or their mean; the mean under the first policy minus that under the
/// second where two are put in order.
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
        (Form::Ordering | Form::Qualitative, [(more, a), (less, b), ..]) => {
            let sign = if claim.at.statement.first_has_more(more, less, true) { 1.0 } else { -1.0 };
            let label = format!("mean variation of {more} ({a:.1} %) and {less} ({b:.1} %)");
            vec![Point::single(label, sign * (a - b))]
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
