//! What several workloads share: the longest time of a parameter, and how lengths vary.

use notation::choices;
use notation::declare::{Percent, amount::s};
use sim_core::program::Spread;

use crate::profile::half_width;

/// Longest time of a parameter, two minutes in nanoseconds: sixteen means of it are one compute operation.
pub(crate) const LONGEST: u64 = s(120);

choices! {
    /// How lengths vary: uniformly, by a half-width, or exponentially.
    pub(crate) enum Varies { Uniform = "uniform", Exponential = "exponential" }
}

impl Varies {
    /// The variation with this half-width when it is uniform.
    pub(crate) const fn by(self, spread: Percent) -> Spread {
        match self {
            Self::Uniform => half_width(spread.hundredths()),
            Self::Exponential => Spread::EXPONENTIAL,
        }
    }
}
