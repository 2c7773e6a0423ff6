//! Metrics that are defined by run times alone: they hold wherever a program runs.

use super::baselines::{Side, baselines};
use super::legal;
use crate::answer::{Answer, Point, Series, Trouble};
use crate::claims::{Claim, Metric, Texts, ToleranceKind};
use crate::lab::Lab;

/// A program, or one of several at once, somewhere.
pub(super) struct Run {
    /// Machine, model and program: what is compared with itself at other conditions.
    pub(super) key: String,
    /// The program alone: what is compared on other machines and in other models.
    pub(super) program: String,
    /// How often it is there: tasks per core, cores, in words.
    pub(super) at: String,
    /// Run times in seconds of the whole run.
    pub(super) times: Series,
}

impl Run {
    fn label(&self) -> String {
        if self.at.is_empty() { self.key.clone() } else { format!("{} {}", self.key, self.at) }
    }
}

/// The runs of a claim's conditions, always in the same order.
pub(super) type Runs<'a> = &'a dyn Fn(&Claim, &mut Lab) -> Result<Vec<Run>, Trouble>;

/// What the simulator says about a claim, by the run times of its conditions and of others.
pub(super) fn answer(claim: &Claim, lab: &mut Lab, runs: Runs<'_>) -> Result<Answer, Trouble> {
    let before = |change: &dyn Fn(&mut Texts)| claim.with(|texts| change(texts));
    match claim.at.metric {
        Some(Metric::RunTime | Metric::JobRunTime) => {
            let points = runs(claim, lab)?.into_iter().map(|run| Point::new(run.label(), &run.times));
            Ok(Answer(points.collect()))
        }
        Some(Metric::Variation) => {
            let spread = |run: Run| Point::single(run.label(), run.times.variation());
            Ok(Answer(runs(claim, lab)?.into_iter().map(spread).collect()))
        }
        Some(Metric::RelPerf) => {
            let one = before(&|texts| texts.threads = "1 per core each".into());
            let gains = gains(lab, runs, &one, claim)?;
            Ok(points(gains, |gain| 1.0 + gain / 100.0))
        }
        Some(Metric::WorkloadChange) => {
            let one = before(&|texts| texts.threads = "1 per core each".into());
            Ok(points(gains(lab, runs, &one, claim)?, |gain| gain).averaged())
        }
        Some(Metric::YieldGain) => {
            let default = before(&|texts| texts.yields = "cfs".into());
            let posix = before(&|texts| texts.yields = "posix".into());
            Ok(points(gains(lab, runs, &default, &posix)?, |gain| gain))
        }
        Some(Metric::PinGain | Metric::BindGain) => {
            let load = before(&|texts| texts.policy = "LOAD".into());
            let pin = before(&|texts| texts.policy = "PIN".into());
            Ok(points(gains(lab, runs, &load, &pin)?, |gain| gain))
        }
        Some(Metric::BlockTimeGain) => {
            let other = before(&|texts| texts.wait.clone_from(&texts.baseline));
            Ok(points(gains(lab, runs, &other, claim)?, |gain| gain))
        }
        Some(Metric::SpeedGain | Metric::RelTime | Metric::Order) => {
            let mut all = Vec::new();
            for Side { other, name } in baselines(claim) {
                let found = gains(lab, runs, &other, claim)?;
                all.extend(found.into_iter().map(|(label, gain)| (format!("{label} against {name}"), gain)));
            }
            if all.is_empty() {
                return Err(Trouble::uncovered(format!(
                    "`{}` names nothing to compare run times with",
                    claim.texts.baseline
                )));
            }
            Ok(points(all, |gain| gain * scale(claim)))
        }
        _ => Err(legal::no_rule(claim)),
    }
}

/// How much longer each run takes at other conditions, in per cent.
pub(super) fn gains(
    lab: &mut Lab,
    runs: Runs<'_>,
    before: &Claim,
    after: &Claim,
) -> Result<Vec<(String, Series)>, Trouble> {
    let (before, after) = (runs(before, lab)?, runs(after, lab)?);
    let alike = before.len() == after.len();
    let mut all = Vec::new();
    for (at, run) in after.iter().enumerate() {
        // Other conditions may have fewer runs, such as one task per core for all degrees, or more, such as
        // two models: then the mean of those of the same program counts.
        let of = |same: &dyn Fn(&&Run) -> bool| -> Vec<Series> {
            before.iter().filter(same).map(|other| other.times.clone()).collect()
        };
        let mut others =
            if alike { vec![before[at].times.clone()] } else { of(&|other| other.key == run.key) };
        if others.is_empty() {
            others = of(&|other| other.program == run.program && other.at == run.at);
        }
        if others.is_empty() {
            others = of(&|other| other.program == run.program);
        }
        if others.is_empty() {
            return Err(Trouble::uncovered(format!("`{}` has no run to compare with", run.label())));
        }
        all.push((run.label(), Series::mean_of(&others).gain_over(&run.times)));
    }
    Ok(all)
}

fn points(gains: Vec<(String, Series)>, value: impl Fn(f64) -> f64) -> Answer {
    Answer(gains.into_iter().map(|(label, gain)| Point::new(label, &gain.map(&value))).collect())
}

/// What makes a difference in per cent one in the unit of an order: a share where the claim is in shares, or
/// has an order or sign with a tolerance below one.
pub(super) fn scale(claim: &Claim) -> f64 {
    let tolerance = claim.tolerance;
    let shares = match claim.texts.unit.as_str() {
        "%" => false,
        "fraction" | "ratio" => true,
        _ => match tolerance.kind {
            ToleranceKind::Order | ToleranceKind::Sign => tolerance.amount < 1.0,
            ToleranceKind::Rel | ToleranceKind::Factor => true,
            _ => false,
        },
    };
    if shares { 0.01 } else { 1.0 }
}
