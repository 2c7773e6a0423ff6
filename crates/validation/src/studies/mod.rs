//! How the claims of each group are read off the cells of the published experiments.

mod alone;
mod baselines;
mod cells;
mod contrast;
mod dedicated;
mod general;
mod legal;
mod parbench;
mod programs;
mod sharing;
mod speed;
mod swomps;
mod waiting;

use crate::answer::{Answer, Trouble};
use crate::claims::{Claim, Family, Form};
use crate::lab::Lab;

/// What the simulator says about a claim, by its conditions.
///
/// # Errors
/// It cannot be resolved, or a run did not complete.
pub fn answer(claim: &Claim, lab: &mut Lab) -> Result<Answer, Trouble> {
    if let Some(asked) = &claim.asked {
        return cells::answer(asked, lab);
    }
    let family = legal::family(claim)?;
    // A quick look takes the middle one of the classes that all codes are run in.
    let middle = (lab.is_quick() && claim.at.classes.are_many()).then(|| claim.at.classes.middle());
    let claim = &match middle {
        Some(class) => claim.with(|texts| texts.class = class.written.iter().collect()),
        None => claim.clone(),
    };
    let answer = match family {
        Family::Dedicated | Family::Predictor | Family::Waiting => dedicated::answer(claim, lab),
        Family::Partitions | Family::Sharing | Family::Gangs => sharing::answer(claim, lab),
        Family::Speed => speed::answer(claim, lab),
        Family::Swomps => swomps::answer(claim, lab),
        Family::Parbench => parbench::answer(claim, lab),
    }?;
    Ok(if claim.form == Form::Average { answer.averaged() } else { answer })
}
