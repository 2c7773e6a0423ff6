//! Jobs that fill a 144-core machine: cpu times, run times, homes.

use crate::answer::{Answer, Trouble};
use crate::claims::Claim;
use crate::lab::Lab;

/// What the simulator says about a claim of these groups.
pub(super) fn answer(claim: &Claim, _lab: &mut Lab) -> Result<Answer, Trouble> {
    Err(Trouble::uncovered(format!("no rule for the metric `{}`", claim.metric)))
}
