//! What is said in words about fewer cores than threads, as expressions over run times.

use super::super::contrast;
use super::places::{Grid, Place, excess, mean_excess, openmp, policy, times};
use crate::answer::{Answer, Point, Series, Trouble};
use crate::claims::{BlockTime, Claim, Named};
use crate::lab::Lab;

/// What is more than this many per cent slower is worse.
const CLEARLY: f64 = 10.0;
/// What is no more than this many per cent slower keeps up.
const KEEPS_UP: f64 = 2.0;
/// What takes no larger share longer is near the optimum, where a claim states no larger one.
const NEAR: f64 = 0.05;

/// Whether a statement has a rule of its own: not one that compares two sides by their run times.
pub(super) fn knows(claim: &Claim) -> bool {
    claim.at.wait.compared || !contrast::has_sides(claim)
}

/// What a claim says of an order, by the policies it names.
pub(super) fn answer(claim: &Claim, lab: &mut Lab) -> Result<Answer, Trouble> {
    let this = policy(&claim.at.policy.one)?;
    match (this, &claim.at.policy.versus) {
        _ if !claim.at.baseline.none => faster(claim, lab, this),
        (_, Some(two)) if claim.at.wait.compared => difference_of_kinds(claim, lab, two),
        _ if claim.at.wait.compared => kind_decides(claim, lab, this),
        ("LOAD", _) => start_stays(claim, lab),
        ("SPEED" | "JUGGLE" | "PIN", _) => near_optimum(claim, lab, this),
        _ => falls_behind(claim, lab, this),
    }
}

/// The policy is faster than each of its baselines, or slower where the claim says so, on the mean over the
/// places where threads cannot be spread evenly.
fn faster(claim: &Claim, lab: &mut Lab, this: &str) -> Result<Answer, Trouble> {
    let grid = Grid::of(claim, lab);
    let uneven: Vec<Place> = grid.places().into_iter().filter(|p| p.tasks % p.cores != 0).collect();
    let mut points = Vec::new();
    for name in &claim.at.baseline.policies.each {
        let other = policy(name)?;
        let sign = if claim.at.statement.first_has_more(this, other, false) { 1.0 } else { -1.0 };
        let gain = mean_excess(lab, &uneven, other, this)?.map(|gain| sign * gain);
        points.push(Point::new(format!("{other} over {this} on uneven numbers of cores, mean, in %"), &gain));
    }
    Ok(Answer(points))
}

/// LOAD takes clearly longer than threads that are spread evenly and never moved.
fn start_stays(claim: &Claim, lab: &mut Lab) -> Result<Answer, Trouble> {
    let worse = mean_excess(lab, &Grid::of(claim, lab).places(), "LOAD", "PIN")?.mean();
    let label = format!("LOAD takes {worse:.1} % longer than an even start that is never corrected");
    Ok(Answer(vec![Point::single(label, worse - CLEARLY)]))
}

/// How barriers wait makes a clear difference under a policy: programs that sleep are faster.
fn kind_decides(claim: &Claim, lab: &mut Lab, this: &str) -> Result<Answer, Trouble> {
    let mut all = Vec::new();
    for place in Grid::polling(claim, lab).places() {
        let polling = times(lab, &place, this)?;
        let asleep = Place { runtime: openmp(BlockTime::Zero), ..place };
        all.push(polling.gain_over(&times(lab, &asleep, this)?));
    }
    let slower = Series::mean_of(&all).mean();
    let label = format!("under {this} polling barriers take {slower:.1} % longer than sleeping ones");
    Ok(Answer(vec![Point::single(label, slower - CLEARLY)]))
}

/// The difference between polling and sleeping barriers, either way, under the second policy minus that under
/// the first, or the other way round where the claim says that it is larger under the first.
fn difference_of_kinds(claim: &Claim, lab: &mut Lab, two: &[Named; 2]) -> Result<Answer, Trouble> {
    let [smaller, larger] = [policy(&two[0])?, policy(&two[1])?];
    let mut difference = |this: &str| -> Result<f64, Trouble> {
        let mut all = Vec::new();
        for place in Grid::polling(claim, lab).places() {
            let polling = times(lab, &place, this)?;
            for time in [BlockTime::Usual, BlockTime::Zero] {
                let asleep = Place { runtime: openmp(time), ..place.clone() };
                all.push(times(lab, &asleep, this)?.gain_over(&polling).mean().abs());
            }
        }
        Ok(all.iter().sum::<f64>() / all.len().max(1) as f64)
    };
    let turned = claim.at.statement.first_has_more(smaller, larger, false);
    let (smaller, larger) = if turned { (larger, smaller) } else { (smaller, larger) };
    let (a, b) = (difference(smaller)?, difference(larger)?);
    let label = format!("difference under {larger} ({b:.1} %) minus that under {smaller} ({a:.1} %)");
    Ok(Answer(vec![Point::single(label, b - a)]))
}

/// The time on m cores against that on one core over m.
fn near_optimum(claim: &Claim, lab: &mut Lab, this: &str) -> Result<Answer, Trouble> {
    let (mut worst, mut sum, mut at) = (0.0, 0.0, String::new());
    let places = Grid::scalable(claim, lab).places();
    for place in &places {
        let one = times(lab, &Place { cores: 1, ..place.clone() }, this)?.mean();
        let ideal = one / f64::from(place.cores);
        let longer = times(lab, place, this)?.mean() / ideal - 1.0;
        sum += longer;
        if longer > worst {
            (worst, at) = (longer, format!("{} {} on {}", place.machine, place.program.name, place.cores));
        }
    }
    let mean = 100.0 * sum / places.len().max(1) as f64;
    let label = format!(
        "{this} takes {mean:.1} % longer than work / cores on average, at most {:.1} % ({at})",
        100.0 * worst
    );
    let beyond = (NEAR - claim.tolerance.amount).max(0.0);
    Ok(Answer(vec![Point::single(label, beyond - worst)]))
}

/// The policy falls behind SPEED as the number of cores grows: it does on the larger half of the core counts,
/// and more than on the smaller half.
fn falls_behind(claim: &Claim, lab: &mut Lab, this: &str) -> Result<Answer, Trouble> {
    let grid = Grid::scalable(claim, lab);
    let most = grid.cores.iter().copied().max().unwrap_or(16);
    let (mut few, mut many) = (Vec::new(), Vec::new());
    for place in grid.places() {
        let behind = excess(lab, &place, this, "SPEED")?;
        if 2 * place.cores > most { many.push(behind) } else { few.push(behind) }
    }
    let (few, many) = (Series::mean_of(&few).mean(), Series::mean_of(&many).mean());
    let label =
        format!("{this} takes {few:.1} % longer than SPEED on up to {} cores, {many:.1} % on more", most / 2);
    // Without fewer cores their mean is no number, and `max` takes the other one.
    Ok(Answer(vec![Point::single(label, many - KEEPS_UP.max(few))]))
}
