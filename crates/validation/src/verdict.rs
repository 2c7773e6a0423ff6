//! Sets an answer beside a claim: reproduced or not, and how far off.

use notation::declare::Choice;

use crate::answer::{Answer, Point, Trouble};
use crate::claims::{Allowed, Claim, Form, ToleranceKind, Value};

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
    /// The simulated quantities, those that decided first.
    pub points: Vec<Point>,
    /// Published and simulated number of each part, for comparisons over a table.
    pub pairs: Vec<(f64, f64)>,
    /// Simulated minus published number (the worst of several), in the unit of the claim; beyond a bound or
    /// the wrong way round as a positive number, 0 where a bound or an order holds. `None` without a number.
    pub error: Option<f64>,
    /// How far the value that decides may move before the verdict is `fail`; of a failing one, as a negative
    /// number, how far it has to move to pass. In the unit of the claim; `None` without a value.
    pub margin: Option<f64>,
    /// What decided, in a few words; for `uncovered` and runs that did not complete the reason.
    pub reason: String,
}

impl Finding {
    /// The verdict follows from the margin.
    fn of(margin: f64, points: Vec<Point>, error: f64, reason: String) -> Self {
        let verdict = if margin >= 0.0 { Verdict::Pass } else { Verdict::Fail };
        Self { verdict, points, pairs: Vec::new(), error: Some(error), margin: Some(margin), reason }
    }

    fn without_points(verdict: Verdict, reason: impl Into<String>) -> Self {
        let (points, pairs) = (Vec::new(), Vec::new());
        Self { verdict, points, pairs, error: None, margin: None, reason: reason.into() }
    }
}

/// Decides. `lost` stands for a published value that is lost: the published mean of its table.
#[must_use]
pub fn judge(claim: &Claim, answer: &Result<Answer, Trouble>, lost: Option<f64>) -> Finding {
    match answer {
        Err(Trouble::Uncovered(reason)) => Finding::without_points(Verdict::Uncovered, reason),
        Err(Trouble::Failed(reason)) => Finding::without_points(Verdict::Fail, reason),
        Ok(Answer(points)) if points.is_empty() => {
            Finding::without_points(Verdict::Uncovered, "oversim has no cell with these fields")
        }
        Ok(Answer(points)) if points.iter().any(|p| !p.value.is_finite()) => {
            Finding::without_points(Verdict::Fail, "a simulated quantity is not a number")
        }
        Ok(Answer(points)) => compare(claim, points, lost),
    }
}

fn compare(claim: &Claim, points: &[Point], lost: Option<f64>) -> Finding {
    let tolerance = claim.tolerance;
    let neutral = claim.neutral();
    let bound = |bound: f64, sign: f64| bound + sign * tolerance.beyond(bound);
    match (claim.form, &claim.value) {
        (Form::Missing, _) => match lost {
            Some(mean) => number(mean, points, claim.around(mean)),
            None => Finding::without_points(
                Verdict::Uncovered,
                "the published value and the mean of its table are lost",
            ),
        },
        (Form::UpTo, Value::Number(published)) => {
            // A spread of "up to 10 %" is a promise that it is no larger; a gain of "up to 10 %" was seen.
            let promise = tolerance.kind == ToleranceKind::Bound && claim.is_of_spread();
            let allowed = claim.around(*published);
            let allowed = if promise { Allowed::up_to(allowed.high) } else { allowed };
            extreme(*published, neutral, points, allowed)
        }
        (Form::LowerBound, Value::Number(least)) => {
            bounded(points, Allowed::from(bound(*least, -1.0)), Allowed::from(*least))
        }
        (Form::UpperBound, Value::Number(most)) => {
            bounded(points, Allowed::up_to(bound(*most, 1.0)), Allowed::up_to(*most))
        }
        (Form::Range, Value::Range(low, high)) => {
            let allowed = Allowed { low: bound(*low, -1.0), high: bound(*high, 1.0) };
            bounded(points, allowed, Allowed { low: *low, high: *high })
        }
        (Form::Ordering | Form::Qualitative, _) => bounded(points, tolerance.order(), Allowed::from(0.0)),
        (Form::Correlation, _) => {
            let least =
                Allowed::from(if tolerance.kind == ToleranceKind::Corr { tolerance.amount } else { 0.0 });
            bounded(points, least, least)
        }
        (_, Value::Number(published)) => number(*published, points, claim.around(*published)),
        (_, Value::Parts(parts)) => named(parts, points, |x| claim.around(x)),
        (form, _) => {
            let reason = format!("a claim of the form {} has no such value", form.word());
            Finding::without_points(Verdict::Uncovered, reason)
        }
    }
}

/// Every point is near enough to the number; the worst decides.
fn number(published: f64, points: &[Point], allowed: Allowed) -> Finding {
    let sorted = worst_first(points, |point| allowed.margin(point.value));
    let worst = &sorted[0];
    let reason =
        if points.len() > 1 { format!("the largest error: {}", worst.label) } else { worst.label.clone() };
    let (margin, error) = (allowed.margin(worst.value), worst.value - published);
    let pairs = vec![(published, worst.value)];
    Finding { pairs, ..Finding::of(margin, sorted, error, reason) }
}

/// One number for each name.
fn named(parts: &[(String, f64)], points: &[Point], allowed: impl Fn(f64) -> Allowed) -> Finding {
    let mut pairs = Vec::new();
    let mut worst: Option<(f64, f64, &str)> = None;
    for (name, published) in parts {
        let Some(point) = points.iter().find(|p| p.label == *name) else {
            let reason = format!("`{name}` is not one of {}", labels(points));
            return Finding::without_points(Verdict::Uncovered, reason);
        };
        pairs.push((*published, point.value));
        let margin = allowed(*published).margin(point.value);
        if worst.is_none_or(|(other, ..)| margin < other) {
            worst = Some((margin, point.value - published, name));
        }
    }
    let (margin, error, name) = worst.unwrap_or((0.0, 0.0, ""));
    let reason = format!("the largest error: {name}");
    Finding { pairs, ..Finding::of(margin, points.to_vec(), error, reason) }
}

fn labels(points: &[Point]) -> String {
    points.iter().map(|p| p.label.as_str()).collect::<Vec<_>>().join(", ")
}

/// The point furthest on the side of the number is about the number: the largest, or of a loss the smallest.
fn extreme(published: f64, neutral: f64, points: &[Point], allowed: Allowed) -> Finding {
    let loss = published < neutral;
    let sorted = worst_first(points, |point| if loss { point.value } else { -point.value });
    let most = &sorted[0];
    let reason = format!("the {}: {}", if loss { "smallest" } else { "largest" }, most.label);
    let (margin, error) = (allowed.margin(most.value), most.value - published);
    let pairs = vec![(published, most.value)];
    Finding { pairs, ..Finding::of(margin, sorted, error, reason) }
}

/// No point is outside; the nearest to the bounds decides. The error is the distance from the published
/// bound.
fn bounded(points: &[Point], allowed: Allowed, published: Allowed) -> Finding {
    let sorted = worst_first(points, |point| allowed.margin(point.value));
    let worst = &sorted[0];
    let reason = if points.len() > 1 {
        format!("the nearest to the bound: {}", worst.label)
    } else {
        worst.label.clone()
    };
    let error = (0.0 - published.margin(worst.value)).max(0.0);
    Finding::of(allowed.margin(worst.value), sorted, error, reason)
}

/// The points, those with the smallest number first; of equal ones the first stays first.
fn worst_first(points: &[Point], number: impl Fn(&Point) -> f64) -> Vec<Point> {
    let mut sorted = points.to_vec();
    sorted.sort_by(|a, b| number(a).total_cmp(&number(b)));
    sorted
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::OnceLock;

    use crate::answer::Series;
    use crate::claims::{SHIPPED, Tolerance, read};
    use notation::declare::Field;

    fn claim(form: Form, value: Value, kind: ToleranceKind, amount: f64) -> Claim {
        static ANY: OnceLock<Claim> = OnceLock::new();
        let any = ANY.get_or_init(|| read("", SHIPPED).unwrap().swap_remove(0)).clone();
        Claim { form, value, tolerance: Tolerance { kind, amount }, ..any }
    }

    fn points(values: &[f64]) -> Result<Answer, Trouble> {
        Ok(Answer(values.iter().map(|x| Point::new(format!("p{x}"), &Series::from(*x))).collect()))
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
        let mut spread = claim(UpTo, n(10.0), Bound, 5.0);
        spread.texts.metric = "variation".into();
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
            Ok(Answer(vec![point("b", b), point("a", 12.0)]))
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

    /// Every form with every tolerance, values on both sides: all are moved by the margin.
    #[test]
    fn a_margin_is_how_far_the_value_may_move() {
        let n = Value::Number;
        let forms = || {
            [
                (Form::Exact, n(12.0)),
                (Form::Approx, n(-12.0)),
                (Form::Average, n(0.5)),
                (Form::UpTo, n(30.0)),
                (Form::UpTo, n(-30.0)),
                (Form::LowerBound, n(3.0)),
                (Form::UpperBound, n(-3.0)),
                (Form::Range, Value::Range(-2.0, 9.0)),
                (Form::Ordering, Value::Text("a > b".into())),
                (Form::Qualitative, Value::Text("it helps".into())),
                (Form::Correlation, Value::Text("it goes together".into())),
                (Form::Missing, Value::None),
            ]
        };
        let any = claim(Form::Exact, Value::None, ToleranceKind::Abs, 0.0);
        let mut seen = [0, 0];
        for (at, word) in ToleranceKind::WORDS.iter().enumerate() {
            for (form, value) in forms() {
                for (amount, simulated) in [1.0, 1.3, 2.0].into_iter().flat_map(|a| SIMULATED.map(|x| (a, x)))
                {
                    let kind = ToleranceKind::from_numbers(&[at as u64]);
                    let tolerance = Tolerance { kind, amount };
                    let claim = Claim { form, value: value.clone(), tolerance, ..any.clone() };
                    let of = |x: f64| judge(&claim, &points(&[x]), Some(20.0));
                    let margin = of(simulated).margin.unwrap();
                    let pass = of(simulated).verdict == Verdict::Pass;
                    seen[usize::from(pass)] += 1;
                    assert_eq!(pass, margin >= 0.0, "{form:?} {word}");
                    // One of the two directions leads across, and nothing nearer does.
                    let both = |by: f64| {
                        [of(simulated - by), of(simulated + by)].map(|f| f.verdict == Verdict::Pass)
                    };
                    let near = margin.abs() - 1e-6;
                    let far = if pass { margin.abs() + 1e-6 } else { margin.abs() };
                    if margin.is_finite() && near > 0.0 {
                        assert_eq!(both(near), [pass; 2], "{form:?} {word} {simulated}: {margin}");
                        assert!(both(far).contains(&!pass), "{form:?} {word} {simulated}: {margin}");
                    }
                }
            }
        }
        assert!(seen.iter().all(|n| *n > 100), "{seen:?}");
    }

    const SIMULATED: [f64; 9] = [-60.0, -12.5, -3.5, -0.25, 0.5, 2.75, 11.5, 19.0, 75.0];

    #[test]
    fn a_loss_of_up_to_is_the_smallest() {
        assert_eq!(
            verdict(Form::UpTo, Value::Number(-24.0), ToleranceKind::Pp, 2.0, &[-23.0, 5.0]).0,
            Verdict::Pass
        );
        assert_eq!(
            verdict(Form::UpTo, Value::Number(-24.0), ToleranceKind::Pp, 2.0, &[-3.0, -20.0]).0,
            Verdict::Fail
        );
    }
}
