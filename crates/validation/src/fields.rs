//! The machines of a claim, by which claims may be chosen.

use crate::claims::Claim;

/// The machines named; the three of the oversubscription papers when none is.
#[must_use]
pub fn machines(claim: &Claim) -> Vec<String> {
    claim.at.machines.list.clone()
}
