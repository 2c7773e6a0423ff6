//! What is measured of pairs of programs, and where.

use notation::declare::Choice;

use super::pairs::{self, Job, Models, Pair, asked};
use crate::answer::{Series, Trouble};
use crate::claims::{Claim, Policy};
use crate::lab::{Cell, Lab};

/// Degrees of the paper's sharing runs.
pub(super) const DEGREES: [u32; 3] = [1, 2, 4];

/// A machine, the models of two programs, and the tasks per core of each.
#[derive(Clone, Copy, Debug)]
pub(super) struct Place<'a> {
    pub(super) machine: &'a str,
    pub(super) models: Models,
    pub(super) k: u32,
}

impl Place<'_> {
    pub(super) fn label(self) -> String {
        let (first, second) = (self.models.0.word(), self.models.1.word());
        let second = if first == second { String::new() } else { format!("+{second}") };
        format!("{} {first}{second} {}/core", self.machine, self.k)
    }

    /// The same with another number of tasks per core.
    pub(super) fn with(self, k: u32) -> Self {
        Self { k, ..self }
    }
}

/// Every machine and combination of models that a claim speaks of, with one task per core.
pub(super) fn machines(claim: &Claim) -> Vec<Place<'_>> {
    let mut all = Vec::new();
    for machine in &claim.at.machines.list {
        all.extend(pairs::models(claim).into_iter().map(|models| Place { machine, models, k: 1 }));
    }
    all
}

/// Those with every degree of the claim.
pub(super) fn places(claim: &Claim) -> Vec<Place<'_>> {
    let degrees = degrees(claim);
    machines(claim).into_iter().flat_map(|place| degrees.iter().map(move |k| place.with(*k))).collect()
}

pub(super) fn degrees(claim: &Claim) -> Vec<u32> {
    claim.at.threads.degrees(&DEGREES)
}

/// Those of them with several tasks per core.
pub(super) fn many(claim: &Claim) -> Vec<u32> {
    degrees(claim).into_iter().filter(|k| *k > 1).collect()
}

/// Run times of a program from its start. Not those of the sections that the programs time themselves: what
/// one does before it starts its clock is done while the other's runs, and in shortened programs it is no
/// small part.
pub(super) fn time(lab: &mut Lab, cell: &Cell, app: &str) -> Result<Series, Trouble> {
    lab.of_app(cell, app, |sample| sample.run_time)
}

/// Run times of both programs of a pair.
fn times(lab: &mut Lab, pair: &Pair, cell: &Cell) -> Result<[Series; 2], Trouble> {
    let [one, other] = pair.apps();
    Ok([time(lab, cell, one)?, time(lab, cell, other)?])
}

/// Run times of both programs of a pair on all cores.
pub(super) fn shared(
    lab: &mut Lab,
    pair: &Pair,
    place: Place<'_>,
    policy: Policy,
) -> Result<[Series; 2], Trouble> {
    times(lab, pair, &pair.shared(place.machine, place.k, policy.word()))
}

/// Replicates of runs whose variation is measured.
const REPLICATES: u32 = 3;

/// The same, or with `parts` on half of the sockets each, with replicates whose spread can be measured.
pub(super) fn repeated(
    claim: &Claim,
    lab: &mut Lab,
    pair: &Pair,
    place: Place<'_>,
    parts: bool,
) -> Result<[Series; 2], Trouble> {
    let cell = if parts {
        pair.partitioned(place.machine, claim.at.baseline.cores())
    } else {
        pair.shared(place.machine, place.k, claim.at.policy.placer().word())
    };
    times(lab, pair, &cell.set("repeat", REPLICATES))
}

/// Run times of both programs of a pair on half of the sockets each.
pub(super) fn partitioned(
    claim: &Claim,
    lab: &mut Lab,
    pair: &Pair,
    machine: &str,
) -> Result<[Series; 2], Trouble> {
    times(lab, pair, &pair.partitioned(machine, claim.at.baseline.cores()))
}

pub(super) fn alone(lab: &mut Lab, job: &Job, machine: &str, k: u32) -> Result<Series, Trouble> {
    time(lab, &job.alone(machine, k), "a")
}

/// How much faster than `before`, in per cent, by replicate of the measured runs.
pub(super) fn faster(before: &Series, measured: &Series) -> Series {
    let before = before.mean();
    measured.map(|time| (before / time - 1.0) * 100.0)
}

/// Of each program of a pair what sharing wins against a partition, in per cent.
pub(super) fn gains(
    claim: &Claim,
    lab: &mut Lab,
    pair: &Pair,
    place: Place<'_>,
) -> Result<[Series; 2], Trouble> {
    let [a, b] = shared(lab, pair, place, claim.at.policy.placer())?;
    let [before_a, before_b] = partitioned(claim, lab, pair, place.machine)?;
    Ok([faster(&before_a, &a), faster(&before_b, &b)])
}

/// The mean over all programs of these pairs of what sharing wins against partitions.
pub(super) fn mean_gain(
    claim: &Claim,
    lab: &mut Lab,
    pairs: &[Pair],
    place: Place<'_>,
) -> Result<Series, Trouble> {
    let mut all = Vec::new();
    for pair in pairs {
        all.extend(gains(claim, lab, pair, place)?);
    }
    Ok(Series::mean_of(&all))
}

/// Time of the two programs one after the other over the time until both have ended, minus one, in per cent.
pub(super) fn over_sequence(
    lab: &mut Lab,
    pair: &Pair,
    machine: &str,
    [a, b]: [Series; 2],
) -> Result<Series, Trouble> {
    let sequence = alone(lab, &pair.0, machine, 1)?.mean() + alone(lab, &pair.1, machine, 1)?.mean();
    Ok(a.with(&b, |a, b| (sequence / a.max(b) - 1.0) * 100.0))
}

/// Mean throughput over sequence of all pairs of a claim.
pub(super) fn mean_throughput(claim: &Claim, lab: &mut Lab, place: Place<'_>) -> Result<Series, Trouble> {
    let mut all = Vec::new();
    for pair in asked(claim, lab, place.models) {
        let times = shared(lab, &pair, place, claim.at.policy.placer())?;
        all.push(over_sequence(lab, &pair, place.machine, times)?);
    }
    Ok(Series::mean_of(&all))
}
