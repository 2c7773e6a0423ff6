//! Kinds of statements, their values and tolerances.

use notation::choices;
use serde_json::{Value as Json, json};

choices! {
    /// What kind of statement a claim is.
    pub enum Form {
        /// A number.
        Exact = "exact",
        /// A number, roughly.
        Approx = "approx",
        /// A number that is a mean over a workload.
        Average = "average",
        /// Everything lies between two numbers.
        Range = "range",
        /// The largest value is this.
        UpTo = "up-to",
        /// Nothing is below.
        LowerBound = "lower-bound",
        /// Nothing is above.
        UpperBound = "upper-bound",
        /// One thing is more than another.
        Ordering = "ordering",
        /// Two things go together.
        Correlation = "correlation",
        /// A statement in words.
        Qualitative = "qualitative",
        /// A number that was printed and is lost.
        Missing = "missing",
    }
}

impl Form {
    /// True when a published number stands beside a simulated one.
    #[must_use]
    pub const fn is_number(self) -> bool {
        matches!(self, Self::Exact | Self::Approx | Self::Average | Self::UpTo)
    }

    /// True when all quantities of a claim make one number.
    #[must_use]
    pub const fn is_mean(self) -> bool {
        matches!(self, Self::Exact | Self::Approx | Self::Average | Self::Missing)
    }
}

choices! {
    /// How the tolerance is meant.
    pub enum ToleranceKind {
        /// So much beyond the bound.
        Bound = "bound",
        /// Absolute, in the unit of the value.
        Abs = "abs",
        /// Percentage points.
        Pp = "pp",
        /// A share of the published value.
        Rel = "rel",
        /// A factor, up or down.
        Factor = "factor",
        /// The sign must be right; so much on the wrong side is noise.
        Sign = "sign",
        /// The order must be right; so much the wrong way round is noise.
        Order = "order",
        /// True or false.
        Bool = "bool",
        /// A rank correlation of at least this.
        Corr = "corr",
    }
}

/// How far off still counts as reproduced.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Tolerance {
    /// How it is meant.
    pub kind: ToleranceKind,
    /// How much; 0 where none is stated.
    pub amount: f64,
}

impl Tolerance {
    /// True when `simulated` is near enough to the number `published`.
    #[must_use]
    pub fn admits(&self, published: f64, simulated: f64) -> bool {
        let off = (simulated - published).abs();
        // A published 0.1 + 0.2 must not miss by the last bit.
        let slack = 1e-9 * published.abs().max(1.0);
        match self.kind {
            ToleranceKind::Rel => off <= self.amount * published.abs() + slack,
            ToleranceKind::Factor => {
                let (low, high) = (published / self.amount, published * self.amount);
                (low - slack..=high + slack).contains(&simulated)
            }
            _ => off <= self.amount + slack,
        }
    }

    /// How far it is beyond a bound, in the unit of the value; a share of it for `rel`, a factor's part for
    /// `factor`.
    #[must_use]
    pub fn beyond(&self, bound: f64) -> f64 {
        match self.kind {
            ToleranceKind::Rel => self.amount * bound.abs(),
            ToleranceKind::Factor => (self.amount - 1.0) * bound.abs(),
            _ => self.amount,
        }
    }
}

/// A published value.
#[derive(Clone, PartialEq, Debug)]
pub enum Value {
    /// None: lost.
    None,
    /// A number.
    Number(f64),
    /// A lower and an upper end.
    Range(f64, f64),
    /// One number for each named part.
    Parts(Vec<(String, f64)>),
    /// Words.
    Text(String),
}

impl Value {
    /// On one line.
    #[must_use]
    pub fn shown(&self) -> String {
        match self {
            Self::None => "lost".to_owned(),
            Self::Number(x) => format!("{x}"),
            Self::Range(lo, hi) => format!("{lo} to {hi}"),
            Self::Parts(parts) => {
                parts.iter().map(|(name, x)| format!("{name} {x}")).collect::<Vec<_>>().join(", ")
            }
            Self::Text(text) => text.clone(),
        }
    }

    /// As JSON.
    #[must_use]
    pub fn json(&self) -> Json {
        match self {
            Self::None => Json::Null,
            Self::Number(x) => json!(x),
            Self::Range(lo, hi) => json!([lo, hi]),
            Self::Parts(parts) => parts.iter().map(|(name, x)| (name.clone(), json!(x))).collect(),
            Self::Text(text) => json!(text),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tolerances_mean_what_they_say() {
        let tolerance = |kind, amount| Tolerance { kind, amount };
        assert!(tolerance(ToleranceKind::Rel, 0.1).admits(200.0, 219.9));
        assert!(!tolerance(ToleranceKind::Rel, 0.1).admits(200.0, 221.0));
        assert!(tolerance(ToleranceKind::Factor, 1.6).admits(120.0, 75.0));
        assert!(!tolerance(ToleranceKind::Factor, 1.6).admits(120.0, 193.0));
        assert!(tolerance(ToleranceKind::Pp, 3.0).admits(-2.0, -5.0));
        assert!(tolerance(ToleranceKind::Abs, 0.1).admits(1.2, 1.3));
    }
}
