//! What the simulator says about a claim: series of values by replicate, and the points made of them.

use experiment::statistics::{Summary, spearman, summarise};
use serde::Serialize;

pub use crate::lab::{Series, Trouble};

use crate::claims::Asked;
use crate::lab::{Function, Lab, Quantity};

/// A simulated quantity.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Point {
    /// What it is, such as `barcelona cg.B 2/core`. For a claim with several named values: the name.
    pub label: String,
    /// Mean over the replicates, in the unit of the claim.
    pub value: f64,
    /// 95 % confidence interval of the mean; none for a single replicate.
    pub ci95: Option<[f64; 2]>,
    /// Its values by replicate.
    #[serde(skip)]
    pub series: Series,
}

impl Point {
    /// The mean of a series.
    #[must_use]
    pub fn new(label: impl Into<String>, series: &Series) -> Self {
        let summary: Option<Summary> = summarise(&series.0);
        let value = summary.map_or(f64::NAN, |s| s.mean);
        Self { label: label.into(), value, ci95: summary.and_then(|s| s.ci95), series: series.clone() }
    }
}

/// What the simulator says: quantities in the unit of the claim. One for a number; all that a bound, a range
/// or a maximum speaks of; for an ordering and a statement in words the differences that must not be
/// negative.
#[derive(Clone, PartialEq, Debug)]
pub struct Answer(pub Vec<Point>);

/// What the simulator says about what a claim asks.
///
/// # Errors
/// A run did not complete, or has no such value.
pub fn answer(asked: &Asked, lab: &Lab, quick: bool) -> Result<Answer, Trouble> {
    let mut points = Vec::new();
    for (label, quantity) in asked.points(quick) {
        let series = series(&quantity, lab)?;
        // What does not fulfil a condition is no quantity.
        if !series.0.is_empty() {
            points.push(Point::new(label, &series));
        }
    }
    Ok(Answer(points))
}

/// A quantity by replicate; what is calculated over replicates has one value.
fn series(quantity: &Quantity, lab: &Lab) -> Result<Series, Trouble> {
    match quantity {
        Quantity::Number(x) => Ok(Series::from(*x)),
        Quantity::Measure(measure) => lab.series(measure),
        Quantity::Of { function, many, parts } => {
            let parts = parts.iter().map(|part| series(part, lab)).collect::<Result<Vec<_>, _>>()?;
            calculated(*function, *many, parts)
                .ok_or_else(|| Trouble::Failed(format!("a quantity without parts: {function:?}")))
        }
    }
}

/// A function of parts; `None` where it has too few.
fn calculated(function: Function, many: bool, parts: Vec<Series>) -> Option<Series> {
    let means = || parts.iter().map(Series::mean);
    let fold = |f: fn(f64, f64) -> f64| parts.iter().cloned().reduce(|a, b| a.with(&b, f));
    Some(match function {
        Function::Add => fold(|a, b| a + b)?,
        Function::Subtract => fold(|a, b| a - b)?,
        Function::Multiply => fold(|a, b| a * b)?,
        Function::Divide => fold(|a, b| a / b)?,
        Function::Max => fold(f64::max)?,
        Function::Sum => Series::from(means().fold(0.0, |sum, x| sum + x)),
        Function::Absolute => parts.first()?.map(f64::abs),
        Function::Mean if many => Series::mean_of(&parts),
        Function::Mean => Series::from(parts.first()?.mean()),
        Function::Variation if many => Series::from(Series(means().collect()).variation()),
        Function::Variation => Series::from(parts.first()?.variation()),
        Function::Least => parts.into_iter().min_by(|a, b| a.mean().total_cmp(&b.mean()))?,
        Function::Middle => {
            let mut sorted: Vec<f64> = means().collect();
            sorted.sort_by(f64::total_cmp);
            Series::from(sorted[sorted.len().checked_sub(1)? - sorted.len() / 2])
        }
        Function::CountAboveOne => Series::from(means().filter(|mean| *mean > 1.0).count() as f64),
        Function::Correlation => {
            let pairs: Vec<(f64, f64)> =
                parts.chunks_exact(2).map(|pair| (pair[0].mean(), pair[1].mean())).collect();
            // What does not vary goes together with nothing.
            Series::from(spearman(&pairs).unwrap_or(0.0))
        }
        Function::OnlyIf => {
            let [one, other] = &parts[..] else { return None };
            if one.mean() > 0.0 { other.clone() } else { Series::default() }
        }
        Function::UnlessZero => {
            let [one, other] = &parts[..] else { return None };
            if one.mean() > 0.0 { other.clone() } else { other.map(|_| 0.0) }
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(function: Function, many: bool, parts: &[&[f64]]) -> Vec<f64> {
        let parts = parts.iter().map(|values| Series(values.to_vec())).collect();
        calculated(function, many, parts).unwrap().0
    }

    #[test]
    fn what_is_calculated() {
        use Function::{
            Correlation, CountAboveOne, Divide, Least, Max, Mean, Middle, Sum, UnlessZero, Variation,
        };
        assert_eq!(of(Divide, false, &[&[2.0, 4.0], &[1.0, 3.0]]), [2.0, 4.0 / 3.0]);
        assert_eq!(of(Mean, false, &[&[2.0, 4.0]]), [3.0]);
        assert_eq!(of(Mean, true, &[&[2.0, 4.0], &[1.0, 3.0]]), [1.5, 3.5]);
        assert!((of(Variation, false, &[&[1.0, 3.0]])[0] - 200.0).abs() < 1e-9);
        assert!((of(Variation, true, &[&[1.0, 3.0], &[4.0]])[0] - 100.0).abs() < 1e-9);
        assert_eq!(of(Max, true, &[&[1.0, 5.0], &[3.0, 3.0]]), [3.0, 5.0]);
        assert_eq!(of(Least, true, &[&[1.0, 5.0], &[2.0, 2.0]]), [2.0, 2.0]);
        assert_eq!(of(Middle, true, &[&[9.0], &[1.0], &[4.0], &[2.0]]), [2.0]);
        assert_eq!(of(CountAboveOne, true, &[&[0.0, 4.0], &[1.0]]), [1.0]);
        assert_eq!(of(Sum, true, &[&[1.0, 3.0], &[4.0]]), [6.0]);
        assert_eq!(of(Correlation, true, &[&[1.0], &[5.0], &[2.0], &[6.0], &[3.0], &[9.0]]), [1.0]);
        assert_eq!(of(UnlessZero, false, &[&[0.0], &[7.0, 8.0]]), [0.0, 0.0]);
        assert_eq!(calculated(Middle, true, Vec::new()), None);
        assert_eq!(calculated(UnlessZero, false, vec![Series::from(1.0)]), None);
    }

    #[test]
    fn fewer_replicates_leave_those_of_the_others() {
        // One bound run beside three left to the balancer: no replicate is lost, and means stay means.
        let (bound, free): (&[f64], &[f64]) = (&[2.0], &[2.0, 4.0, 6.0]);
        assert_eq!(of(Function::Divide, false, &[free, bound]), [1.0, 2.0, 3.0]);
        assert_eq!(of(Function::Subtract, false, &[bound, free]), [0.0, -2.0, -4.0]);
        assert_eq!(of(Function::Mean, true, &[bound, free]), [2.0, 3.0, 4.0]);
        assert!(of(Function::Mean, true, &[bound, &[]]).is_empty());
    }
}
