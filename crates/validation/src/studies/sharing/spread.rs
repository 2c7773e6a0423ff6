//! How much run times vary: over replicates, and over the programs beside.

use super::pairs::{self, Job, Models};
use super::{asked, cores, degrees, label, partitioned, policy, settings, shared};
use crate::answer::{Answer, Point, Series, Trouble};
use crate::claims::Claim;
use crate::fields;
use crate::lab::Lab;

/// Spread of each program's run times over the replicates.
pub(super) fn variation(claim: &Claim, lab: &mut Lab) -> Result<Answer, Trouble> {
    let mut points = Vec::new();
    let in_parts = claim.environment.contains("partition");
    for (machine, models, k) in settings(claim) {
        for pair in asked(claim, lab, &models) {
            let times = if in_parts {
                partitioned(lab, &pair, &machine, cores(claim))?
            } else {
                shared(lab, &pair, &machine, k, policy(claim))?
            };
            for (job, times) in [&pair.0, &pair.1].into_iter().zip(times) {
                let label = format!("{} {}, {}", label(&machine, &models, k), pair.label(), job.code);
                points.push(Point::single(label, times.variation()));
            }
        }
    }
    Ok(Answer::Points(points))
}

/// With several tasks per core, run times vary less, over replicates and over neighbours, than with one.
pub(super) fn isolation(claim: &Claim, lab: &mut Lab) -> Result<Answer, Trouble> {
    let mut points = Vec::new();
    for machine in fields::machines(claim) {
        for models in pairs::models(claim) {
            let (noise, impact) = disturbance(claim, lab, &machine, &models, 1)?;
            for k in degrees(claim).into_iter().filter(|k| *k > 1) {
                let (less_noise, less_impact) = disturbance(claim, lab, &machine, &models, k)?;
                let label = label(&machine, &models, k);
                points.push(Point::single(format!("{label}, repetitions"), noise - less_noise));
                points.push(Point::single(format!("{label}, neighbours"), impact - less_impact));
            }
        }
    }
    Ok(Answer::Points(points))
}

/// Means over the programs of the variation over replicates, and of that over neighbours, in per cent.
fn disturbance(
    claim: &Claim,
    lab: &mut Lab,
    machine: &str,
    models: &Models,
    k: u32,
) -> Result<(f64, f64), Trouble> {
    let mut noise = Vec::new();
    let mut beside: Vec<(Job, Vec<f64>)> = Vec::new();
    for pair in asked(claim, lab, models) {
        let times = shared(lab, &pair, machine, k, policy(claim))?;
        let equal = pair.0 == pair.1;
        for (job, times) in [&pair.0, &pair.1].into_iter().zip(times).take(if equal { 1 } else { 2 }) {
            noise.push(times.variation());
            match beside.iter_mut().find(|(known, _)| known == job) {
                Some((_, list)) => list.push(times.mean()),
                None => beside.push((job.clone(), vec![times.mean()])),
            }
        }
    }
    let impact = beside.iter().map(|(_, list)| Series(list.clone()).variation()).collect();
    Ok((Series(noise).mean(), Series(impact).mean()))
}
