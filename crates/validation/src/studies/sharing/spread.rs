//! How much run times vary: over replicates, and over the programs beside.

use notation::declare::Choice;

use super::measure::{Place, machines, many, places, repeated};
use super::pairs::{Job, asked};
use crate::answer::{Answer, Point, Series, Trouble};
use crate::claims::{Claim, Sharing};
use crate::lab::Lab;

/// Spread of each program's run times over the replicates.
pub(super) fn variation(claim: &Claim, lab: &mut Lab) -> Result<Answer, Trouble> {
    let mut points = Vec::new();
    let in_parts = claim.at.environment.sharing == Some(Sharing::Partitions);
    for place in places(claim) {
        for pair in asked(claim, lab, place.models) {
            let times = repeated(claim, lab, &pair, place, in_parts)?;
            for (job, times) in [&pair.0, &pair.1].into_iter().zip(times) {
                let label = format!("{} {}, {}", place.label(), pair.label(), job.code.word());
                points.push(Point::single(label, times.variation()));
            }
        }
    }
    Ok(Answer(points))
}

/// With several tasks per core, run times vary less, over replicates and over neighbours, than with one.
pub(super) fn isolation(claim: &Claim, lab: &mut Lab) -> Result<Answer, Trouble> {
    let mut points = Vec::new();
    for place in machines(claim) {
        let (noise, impact) = disturbance(claim, lab, place)?;
        for k in many(claim) {
            let (less_noise, less_impact) = disturbance(claim, lab, place.with(k))?;
            let label = place.with(k).label();
            points.push(Point::single(format!("{label}, repetitions"), noise - less_noise));
            points.push(Point::single(format!("{label}, neighbours"), impact - less_impact));
        }
    }
    Ok(Answer(points))
}

/// Means over the programs of the variation over replicates, and of that over neighbours, in per cent.
fn disturbance(claim: &Claim, lab: &mut Lab, place: Place<'_>) -> Result<(f64, f64), Trouble> {
    let mut noise = Vec::new();
    let mut beside: Vec<(Job, Vec<f64>)> = Vec::new();
    for pair in asked(claim, lab, place.models) {
        let times = repeated(claim, lab, &pair, place, false)?;
        let equal = pair.0 == pair.1;
        for (job, times) in [pair.0, pair.1].into_iter().zip(times).take(if equal { 1 } else { 2 }) {
            noise.push(times.variation());
            match beside.iter_mut().find(|(known, _)| *known == job) {
                Some((_, list)) => list.push(times.mean()),
                None => beside.push((job, vec![times.mean()])),
            }
        }
    }
    let impact = beside.iter().map(|(_, list)| Series(list.clone()).variation()).collect();
    Ok((Series(noise).mean(), Series(impact).mean()))
}
