//! Parameters that several workloads share: times, counts, and how lengths vary.

use notation::parameter::{Kind, Parameter, Values};
use sim_core::program::Spread;

use crate::spmd::inline::spread;

/// A millisecond in nanoseconds.
pub(crate) const MS: u64 = 1_000_000;
/// Longest time of a parameter, two minutes: sixteen means of it are one compute operation.
pub(crate) const LONGEST: u64 = 120_000 * MS;

/// A time with a default and a smallest value, in nanoseconds, up to [`LONGEST`].
pub(crate) const fn time(name: &'static str, default: u64, min: u64, about: &'static str) -> Parameter {
    Parameter { name, kind: Kind::Duration, default, min, max: LONGEST, about }
}

/// A count.
pub(crate) const fn count(
    name: &'static str,
    default: u64,
    range: (u64, u64),
    about: &'static str,
) -> Parameter {
    Parameter { name, kind: Kind::Count, default, min: range.0, max: range.1, about }
}

const KINDS: &[&str] = &["uniform", "exponential"];

/// How lengths vary: uniformly, by `spread`, or exponentially.
pub(crate) const VARIATION: Parameter = Parameter {
    name: "variation",
    kind: Kind::Choice(KINDS),
    default: 0,
    min: 0,
    max: 1,
    about: "Variation of the pieces of work: uniform with the half-width `spread`, or exponential.",
};

/// The half-width of uniform variation.
pub(crate) const SPREAD: Parameter = Parameter {
    name: "spread",
    kind: Kind::Percent,
    default: 0,
    min: 0,
    max: 10_000,
    about: "Half-width of the uniform variation.",
};

/// The variation that [`VARIATION`] and a `spread` describe.
pub(crate) fn chosen(values: &Values) -> Spread {
    if values.get("variation") == 1 { Spread::EXPONENTIAL } else { spread(values.get("spread")) }
}
