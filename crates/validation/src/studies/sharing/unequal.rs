//! Two programs with unequal numbers of tasks per core, against one task per core each.

use notation::declare::Choice;

use super::measure::{Place, faster, shared, time};
use super::pairs::{self, Pair};
use crate::answer::{Answer, Point, Series, Trouble};
use crate::claims::{Claim, Feature, Form, Policy};
use crate::lab::Lab;

/// Tasks per core of the measured program and of the other one.
type Ratio = (u32, u32);

/// The ratios of a claim, turned where the measured program has the fewer tasks.
fn ratios(claim: &Claim) -> Vec<Ratio> {
    let fewer = claim.at.workload.has(Feature::Fewer);
    let turned = |&(one, other): &Ratio| if fewer { (one.min(other), one.max(other)) } else { (one, other) };
    claim.at.threads.ratios.iter().map(turned).collect()
}

/// Change of the measured program's performance against one task per core each, in per cent, mean over its
/// neighbours.
fn change(lab: &mut Lab, pairs: &[Pair], place: Place<'_>, (mine, theirs): Ratio) -> Result<Series, Trouble> {
    let app = if mine < theirs { "b" } else { "a" };
    let mut all = Vec::new();
    for pair in pairs {
        let [before, _] = shared(lab, pair, place, Policy::Pin)?;
        let times = time(lab, &pair.unequal(place.machine, (mine, theirs)), app)?;
        all.push(faster(&before, &times));
    }
    Ok(Series::mean_of(&all))
}

/// What the simulator says about a claim on unequal numbers of tasks.
pub(super) fn answer(claim: &Claim, lab: &mut Lab) -> Result<Answer, Trouble> {
    let ratios = ratios(claim);
    if ratios.is_empty() {
        return Err(Trouble::uncovered(format!("no ratio of tasks in `{}`", claim.texts.threads)));
    }
    let mut points = Vec::new();
    for machine in &claim.at.machines.list {
        for model in &claim.at.models.list {
            let place = Place { machine, models: (*model, *model), k: 1 };
            for ratio in &ratios {
                let label = format!("{machine} {} {}:{}", model.word(), ratio.0, ratio.1);
                let pairs = pairs::measured_beside(claim, *model, lab.is_quick());
                match claim.form {
                    Form::Ordering => points.extend(ordered(claim, lab, &pairs, place, *ratio, &label)?),
                    Form::Qualitative => {
                        points.push(proportional(lab, &pairs, place, *ratio, &label)?);
                    }
                    _ => points.push(Point::new(label, &change(lab, &pairs, place, *ratio)?)),
                }
            }
        }
    }
    Ok(Answer(points))
}

/// Each program gains more than the next one in the order of the statement, the last one more than nothing.
fn ordered(
    claim: &Claim,
    lab: &mut Lab,
    pairs: &[Pair],
    place: Place<'_>,
    ratio: Ratio,
    label: &str,
) -> Result<Vec<Point>, Trouble> {
    let mut gains: Vec<(&str, f64)> = Vec::new();
    for same in pairs.chunk_by(|a, b| a.0 == b.0) {
        gains.push((same[0].0.code.word(), change(lab, same, place, ratio)?.mean()));
    }
    let said = claim.value.shown().to_lowercase();
    gains.sort_by_key(|(code, _)| said.find(code).unwrap_or(usize::MAX));
    if said.contains('<') {
        gains.reverse();
    }
    gains.push(("nothing", 0.0));
    let step = |two: &[(&str, f64)]| {
        Point::single(format!("{label}, {} over {}", two[0].0, two[1].0), two[0].1 - two[1].1)
    };
    Ok(gains.windows(2).map(step).collect())
}

/// The measured program's performance follows its share of the tasks, a half before: how far off it is, as a
/// share of the expected ratio, with negative sign.
fn proportional(
    lab: &mut Lab,
    pairs: &[Pair],
    place: Place<'_>,
    ratio: Ratio,
    label: &str,
) -> Result<Point, Trouble> {
    let gain = 1.0 + change(lab, pairs, place, ratio)?.mean() / 100.0;
    let (mine, theirs) = (f64::from(ratio.0), f64::from(ratio.1));
    let expected = 2.0 * mine / (mine + theirs);
    let off = (gain / expected - 1.0).abs();
    let label = format!("{label}: {gain:.2} times the performance, {expected:.2} times the share");
    Ok(Point::single(label, 0.0 - off))
}
