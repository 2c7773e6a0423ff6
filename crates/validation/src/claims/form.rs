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
    /// What is near enough to the number `published`. Of a sign or an order the side of `neutral` counts (0
    /// of a difference, 1 of a ratio), of a correlation only that it is large enough.
    #[must_use]
    pub fn around(&self, published: f64, neutral: f64) -> Allowed {
        let off = self.beyond(published);
        match self.kind {
            ToleranceKind::Factor => {
                let (one, other) = (published / self.amount, published * self.amount);
                Allowed { low: one.min(other), high: one.max(other) }
            }
            ToleranceKind::Sign | ToleranceKind::Order | ToleranceKind::Bool if published > neutral => {
                Allowed::from(neutral - self.amount)
            }
            ToleranceKind::Sign | ToleranceKind::Order | ToleranceKind::Bool if published < neutral => {
                Allowed::up_to(neutral + self.amount)
            }
            ToleranceKind::Corr => Allowed::from(self.amount),
            _ => Allowed { low: published - off, high: published + off },
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

    /// What a difference may be that must not be negative: shares and factors are of the values compared.
    #[must_use]
    pub fn order(&self) -> Allowed {
        Allowed::from(match self.kind {
            ToleranceKind::Factor => 1.0 - self.amount,
            _ => 0.0 - self.amount,
        })
    }
}

/// The values that count as reproduced.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Allowed {
    /// The least.
    pub low: f64,
    /// The largest.
    pub high: f64,
}

impl Allowed {
    /// This and all above.
    #[must_use]
    pub const fn from(low: f64) -> Self {
        Self { low, high: f64::INFINITY }
    }

    /// This and all below.
    #[must_use]
    pub const fn up_to(high: f64) -> Self {
        Self { low: f64::NEG_INFINITY, high }
    }

    /// How far a value may move before it is outside; of one outside, as a negative number, how far it has to
    /// move. A published 0.1 + 0.2 does not miss by the last bit: what is that near is 0.
    #[must_use]
    pub fn margin(&self, value: f64) -> f64 {
        let margin = (value - self.low).min(self.high - value);
        let slack = 1e-9 * value.abs().max(1.0);
        if margin < 0.0 && margin >= -slack { 0.0 } else { margin }
    }

    /// Whether a value is inside.
    #[must_use]
    pub fn has(&self, value: f64) -> bool {
        self.margin(value) >= 0.0
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
        let has =
            |kind, amount, published, value| Tolerance { kind, amount }.around(published, 0.0).has(value);
        assert!(has(ToleranceKind::Rel, 0.1, 200.0, 219.9));
        assert!(!has(ToleranceKind::Rel, 0.1, 200.0, 221.0));
        assert!(has(ToleranceKind::Factor, 1.6, 120.0, 75.0));
        assert!(!has(ToleranceKind::Factor, 1.6, 120.0, 193.0));
        assert!(has(ToleranceKind::Factor, 1.5, -12.0, -9.0), "a factor of a negative number");
        assert!(has(ToleranceKind::Pp, 3.0, -2.0, -5.0));
        assert!(has(ToleranceKind::Abs, 0.1, 1.2, 1.3));
        // Of a sign only the side counts, and so much on the wrong one is noise.
        assert!(has(ToleranceKind::Sign, 1.0, 12.0, 90.0) && has(ToleranceKind::Sign, 1.0, 12.0, -0.9));
        assert!(!has(ToleranceKind::Sign, 1.0, 12.0, -1.1) && !has(ToleranceKind::Order, 1.0, -12.0, 1.1));
        assert!(Tolerance { kind: ToleranceKind::Sign, amount: 0.0 }.around(1.2, 1.0).has(1.01));
        assert!(has(ToleranceKind::Corr, 0.6, 0.9, 0.61));
    }
}
