//! Sets an answer beside a claim: reproduced or not, and how far off.

use notation::declare::Choice;

use crate::answer::{Answer, Point, Trouble};
use crate::claims::{Claim, Form, Metric, Tolerance, ToleranceKind, Value};

/// Whether a claim is reproduced.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Verdict {
    /// Within the tolerance.
    Pass,
    /// Not.
    Fail,
    /// Not resolved.
    Uncovered,
}

impl Verdict {
    /// Its name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Pass => "pass",
            Self::Fail => "fail",
            Self::Uncovered => "uncovered",
        }
    }
}

/// A claim beside what the simulator says.
#[derive(Clone, PartialEq, Debug)]
pub struct Finding {
    /// Reproduced or not.
    pub verdict: Verdict,
    /// The simulated quantities, those that decided first; empty for statements.
    pub points: Vec<Point>,
    /// Published and simulated number of each part, for comparisons over a table.
    pub pairs: Vec<(f64, f64)>,
    /// Simulated minus published number (the worst of several), in the unit of the claim; beyond a bound or
    /// the wrong way round as a positive number, 0 where a bound or an order holds. `None` for statements.
    pub error: Option<f64>,
    /// What decided, in a few words; for `uncovered` and runs that did not complete the reason.
    pub reason: String,
}

impl Finding {
    fn of(verdict: bool, points: Vec<Point>, error: f64, reason: String) -> Self {
        let verdict = if verdict { Verdict::Pass } else { Verdict::Fail };
        Self { verdict, points, pairs: Vec::new(), error: Some(error), reason }
    }

    fn without_points(verdict: Verdict, reason: impl Into<String>) -> Self {
        Self { verdict, points: Vec::new(), pairs: Vec::new(), error: None, reason: reason.into() }
    }
}

/// Decides. `lost` stands for a published value that is lost: the published mean of its table.
#[must_use]
pub fn judge(claim: &Claim, answer: &Result<Answer, Trouble>, lost: Option<f64>) -> Finding {
    match answer {
        Err(Trouble::Uncovered(reason)) => Finding::without_points(Verdict::Uncovered, reason),
        Err(Trouble::Failed(reason)) => Finding::without_points(Verdict::Fail, reason),
        Ok(Answer::Holds(true, evidence)) => Finding::without_points(Verdict::Pass, evidence),
        Ok(Answer::Holds(false, evidence)) => Finding::without_points(Verdict::Fail, evidence),
        Ok(Answer::Points(points)) if points.is_empty() => {
            Finding::without_points(Verdict::Uncovered, "oversim has no cell with these fields")
        }
        Ok(Answer::Points(points)) if points.iter().any(|p| !p.value.is_finite()) => {
            Finding::without_points(Verdict::Fail, "a simulated quantity is not a number")
        }
        Ok(Answer::Points(points)) => compare(claim, points, lost),
    }
}

fn compare(claim: &Claim, points: &[Point], lost: Option<f64>) -> Finding {
    let tolerance = claim.tolerance;
    match (claim.form, &claim.value) {
        (Form::Missing, _) => match lost {
            Some(mean) => number(mean, points, tolerance),
            None => Finding::without_points(
                Verdict::Uncovered,
                "the published value and the mean of its table are lost",
            ),
        },
        (Form::UpTo, Value::Number(published)) => {
            // A spread of "up to 10 %" is a promise that it is no larger; a gain of "up to 10 %" was seen.
            let promise =
                tolerance.kind == ToleranceKind::Bound && claim.at.metric == Some(Metric::Variation);
            up_to(*published, points, tolerance, promise)
        }
        (Form::LowerBound, Value::Number(bound)) => bounded(Some(*bound), None, points, tolerance),
        (Form::UpperBound, Value::Number(bound)) => bounded(None, Some(*bound), points, tolerance),
        (Form::Range, Value::Range(low, high)) => bounded(Some(*low), Some(*high), points, tolerance),
        (Form::Ordering | Form::Qualitative, _) => bounded(Some(0.0), None, points, tolerance),
        (Form::Correlation, _) => {
            let least = Tolerance { kind: ToleranceKind::Bound, amount: 0.0 };
            bounded(Some(tolerance.amount), None, points, least)
        }
        (_, Value::Number(published)) => number(*published, points, tolerance),
        (_, Value::Parts(parts)) => named(parts, points, tolerance),
        (form, _) => {
            let reason = format!("a claim of the form {} has no such value", form.word());
            Finding::without_points(Verdict::Uncovered, reason)
        }
    }
}

/// Every point is near enough to the number; the worst decides.
fn number(published: f64, points: &[Point], tolerance: Tolerance) -> Finding {
    let off = |point: &Point| (point.value - published).abs();
    let sorted = worst_first(points, |a, b| off(b).total_cmp(&off(a)));
    let worst = &sorted[0];
    let pass = tolerance.admits(published, worst.value);
    let reason =
        if points.len() > 1 { format!("the largest error: {}", worst.label) } else { worst.label.clone() };
    let error = worst.value - published;
    let pairs = vec![(published, worst.value)];
    Finding { pairs, ..Finding::of(pass, sorted, error, reason) }
}

/// One number for each name.
fn named(parts: &[(String, f64)], points: &[Point], tolerance: Tolerance) -> Finding {
    let mut pairs = Vec::new();
    let mut worst: Option<(f64, &str)> = None;
    let mut pass = true;
    for (name, published) in parts {
        let Some(point) = points.iter().find(|p| p.label == *name) else {
            let reason = format!("`{name}` is not one of {}", labels(points));
            return Finding::without_points(Verdict::Uncovered, reason);
        };
        pairs.push((*published, point.value));
        pass &= tolerance.admits(*published, point.value);
        let error = point.value - published;
        if worst.is_none_or(|(other, _)| error.abs() > f64::abs(other)) {
            worst = Some((error, name));
        }
    }
    let (error, name) = worst.unwrap_or((0.0, ""));
    let reason = format!("the largest error: {name}");
    Finding { pairs, ..Finding::of(pass, points.to_vec(), error, reason) }
}

fn labels(points: &[Point]) -> String {
    points.iter().map(|p| p.label.as_str()).collect::<Vec<_>>().join(", ")
}

/// The largest point is about the number, or, of a promise, not above it.
fn up_to(published: f64, points: &[Point], tolerance: Tolerance, promise: bool) -> Finding {
    let sorted = worst_first(points, |a, b| b.value.total_cmp(&a.value));
    let most = &sorted[0];
    let error = most.value - published;
    let pass = if promise { error <= tolerance.amount } else { tolerance.admits(published, most.value) };
    let reason = format!("the largest: {}", most.label);
    let pairs = vec![(published, most.value)];
    Finding { pairs, ..Finding::of(pass, sorted, error, reason) }
}

/// No point is below the one bound or above the other.
fn bounded(low: Option<f64>, high: Option<f64>, points: &[Point], tolerance: Tolerance) -> Finding {
    let outside = |point: &Point| {
        let below = low.map_or(f64::NEG_INFINITY, |low| low - point.value);
        let above = high.map_or(f64::NEG_INFINITY, |high| point.value - high);
        below.max(above)
    };
    let sorted = worst_first(points, |a, b| outside(b).total_cmp(&outside(a)));
    let worst = &sorted[0];
    let out = outside(worst);
    let bound = if low.is_some_and(|low| worst.value < low) { low } else { high.or(low) };
    let pass = out <= tolerance.beyond(bound.unwrap_or(0.0)) + 1e-9;
    let reason = if points.len() > 1 {
        format!("the nearest to the bound: {}", worst.label)
    } else {
        worst.label.clone()
    };
    Finding::of(pass, sorted, out.max(0.0), reason)
}

fn worst_first(points: &[Point], order: impl Fn(&Point, &Point) -> std::cmp::Ordering) -> Vec<Point> {
    let mut sorted = points.to_vec();
    sorted.sort_by(order);
    sorted
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::answer::Series;
    use crate::claims::{SHIPPED, read};

    fn claim(form: Form, value: Value, kind: ToleranceKind, amount: f64) -> Claim {
        let any = read("", SHIPPED).unwrap().swap_remove(0);
        Claim { form, value, tolerance: Tolerance { kind, amount }, ..any }
    }

    fn points(values: &[f64]) -> Result<Answer, Trouble> {
        Ok(Answer::Points(values.iter().map(|x| Point::new(format!("p{x}"), &Series::from(*x))).collect()))
    }

    fn verdict(form: Form, value: Value, kind: ToleranceKind, amount: f64, values: &[f64]) -> (Verdict, f64) {
        let finding = judge(&claim(form, value, kind, amount), &points(values), None);
        (finding.verdict, finding.error.unwrap_or(f64::NAN))
    }

    #[test]
    fn every_form_passes_and_fails() {
        use Form::{Correlation, Exact, LowerBound, Ordering, Range, UpTo, UpperBound};
        use ToleranceKind::{Abs, Bound, Corr, Factor, Order, Sign};
        let n = Value::Number;
        assert_eq!(verdict(Exact, n(1.0), Abs, 0.03, &[1.02, 0.96]).0, Verdict::Fail);
        assert_eq!(verdict(Exact, n(1.0), Abs, 0.03, &[1.02, 0.98]).0, Verdict::Pass);
        assert_eq!(verdict(UpTo, n(1.46), Abs, 0.12, &[0.7, 1.40]).0, Verdict::Pass);
        assert_eq!(verdict(UpTo, n(1.46), Abs, 0.12, &[0.7, 1.2]).0, Verdict::Fail);
        assert_eq!(verdict(UpTo, n(10.0), Bound, 5.0, &[3.0]).0, Verdict::Fail);
        let spread = claim(UpTo, n(10.0), Bound, 5.0).with(|texts| texts.metric = "variation".into());
        assert_eq!(judge(&spread, &points(&[3.0]), None).verdict, Verdict::Pass);
        assert_eq!(judge(&spread, &points(&[16.0]), None).verdict, Verdict::Fail);
        assert_eq!(verdict(UpTo, n(120.0), Factor, 1.6, &[70.0]).0, Verdict::Fail);
        assert_eq!(verdict(LowerBound, n(0.0), Sign, 1.0, &[5.0, -0.9]).0, Verdict::Pass);
        assert_eq!(verdict(LowerBound, n(0.0), Sign, 1.0, &[5.0, -2.0]), (Verdict::Fail, 2.0));
        assert_eq!(verdict(UpperBound, n(1.0), Sign, 0.05, &[1.2]).0, Verdict::Fail);
        assert_eq!(verdict(Range, Value::Range(-2.0, 2.0), Bound, 3.0, &[4.9, -5.0]).0, Verdict::Pass);
        assert_eq!(verdict(Range, Value::Range(-2.0, 2.0), Bound, 3.0, &[5.1]).0, Verdict::Fail);
        let words = || Value::Text("a > b".into());
        assert_eq!(verdict(Ordering, words(), Order, 0.02, &[0.3, -0.01]).0, Verdict::Pass);
        assert_eq!(verdict(Ordering, words(), Order, 0.02, &[0.3, -0.1]).0, Verdict::Fail);
        assert_eq!(verdict(Correlation, words(), Corr, 0.6, &[0.59]).0, Verdict::Fail);
        assert_eq!(verdict(Correlation, words(), Corr, 0.6, &[0.61]).0, Verdict::Pass);
    }

    #[test]
    fn every_named_value_counts() {
        let parts = Value::Parts(vec![("a".into(), 10.0), ("b".into(), 50.0)]);
        let claim = claim(Form::Exact, parts, ToleranceKind::Pp, 8.0);
        let answer = |b: f64| {
            let point = |label: &str, x: f64| Point::new(label, &Series::from(x));
            Ok(Answer::Points(vec![point("b", b), point("a", 12.0)]))
        };
        assert_eq!(judge(&claim, &answer(45.0), None).verdict, Verdict::Pass);
        let miss = judge(&claim, &answer(30.0), None);
        assert_eq!((miss.verdict, miss.error), (Verdict::Fail, Some(-20.0)));
        assert_eq!(miss.pairs, [(10.0, 12.0), (50.0, 30.0)]);
        let other = judge(&claim, &points(&[1.0]), None);
        assert_eq!(other.verdict, Verdict::Uncovered);
    }

    #[test]
    fn a_lost_value_is_compared_with_the_mean_of_its_table() {
        let claim = claim(Form::Missing, Value::None, ToleranceKind::Abs, 0.15);
        assert_eq!(judge(&claim, &points(&[1.4]), Some(1.49)).verdict, Verdict::Pass);
        assert_eq!(judge(&claim, &points(&[1.4]), None).verdict, Verdict::Uncovered);
    }
}
