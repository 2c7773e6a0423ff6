//! How the claims of each group are read off the cells of the published experiments.

mod cells;
mod dedicated;
mod parbench;
mod programs;
mod sharing;
mod speed;
mod swomps;
mod waiting;

use crate::answer::{Answer, Trouble};
use crate::claims::{Claim, Family};
use crate::lab::Lab;

/// What the simulator says about a claim, by its conditions.
///
/// # Errors
/// It cannot be resolved, or a run did not complete.
pub fn answer(claim: &Claim, lab: &mut Lab) -> Result<Answer, Trouble> {
    if let Some(asked) = &claim.asked {
        return cells::answer(asked, lab);
    }
    let Some(family) = claim.at.family else {
        return Err(Trouble::uncovered(format!("no study answers the group `{}`", claim.group)));
    };
    let mut claim = claim.clone();
    // A quick look takes the middle one of the classes that all codes are run in.
    if lab.is_quick() && claim.at.classes.are_many() {
        claim.at.classes = claim.at.classes.middle();
    }
    match family {
        Family::Dedicated | Family::Predictor => dedicated::answer(&claim, lab),
        Family::Waiting => waiting::answer(&claim, lab),
        Family::Partitions | Family::Sharing | Family::Gangs => sharing::answer(&claim, lab),
        Family::Speed => speed::answer(&claim, lab),
        Family::Swomps => swomps::answer(&claim, lab),
        Family::Parbench => parbench::answer(&claim, lab),
    }
}
