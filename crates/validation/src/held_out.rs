//! Which claims work on the model does not use one by one: a third of them, by their ids.

use notation::hash;

use crate::claims::Claim;

/// One claim of so many is held out.
const ONE_OF: u64 = 3;

/// Whether a claim of this id is held out: FNV-1a of the id is a multiple of three. That is the same on every
/// host and in every version, and a new claim changes nothing for the others.
#[must_use]
pub fn is_held_out(id: &str) -> bool {
    hash::text(id).is_multiple_of(ONE_OF)
}

/// Which claims a report shows. The score is that of all of them.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Shown {
    /// Those that are not held out.
    Visible,
    /// Those that are.
    HeldOut,
    /// All.
    #[default]
    All,
}

impl Shown {
    /// Whether it shows a claim.
    #[must_use]
    pub fn has(self, claim: &Claim) -> bool {
        match self {
            Self::Visible => !is_held_out(&claim.id),
            Self::HeldOut => is_held_out(&claim.id),
            Self::All => true,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::claims;

    #[test]
    fn about_a_third_of_the_shipped_claims_is_held_out() {
        let all = claims::read("", claims::SHIPPED).unwrap();
        let of = |shown: Shown| all.iter().filter(|claim| shown.has(claim)).count();
        assert_eq!(of(Shown::HeldOut) + of(Shown::Visible), of(Shown::All));
        let share = of(Shown::HeldOut) as f64 / all.len() as f64;
        assert!((0.28..0.38).contains(&share), "{share}");
    }
}
