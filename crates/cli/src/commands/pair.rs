//! A picture of the runs of two policies, one above the other.

use pictures::timeline::choice::{self, Asked};
use pictures::timeline::{self, Medium, draw as drawing};
use scenario::plan::Experiment;

use super::figure::PictureFile;
use crate::failure::Failure;
use crate::say;

/// Draws the first replicate under all policies of an experiment; of a window in nanoseconds, or of the part
/// that shows most.
pub(super) fn draw(
    experiment: &Experiment,
    window: Option<[u64; 2]>,
    picture: &PictureFile,
) -> Result<(), Failure> {
    let chosen = choice::choose(experiment, Asked { named: true, vary: None }).map_err(Failure::Input)?;
    let [from, to] = window.map_or([None; 2], |window| window.map(Some));
    let request = timeline::Request { from, to, cpus: None, aim: chosen.aim };
    let timeline = timeline::record(&chosen.subjects(), &request, Medium::Picture).map_err(Failure::Input)?;
    let drawn = drawing::picture(&timeline, &chosen.title);
    picture.write(&drawn)?;
    say::written(picture.target.named().display(), timeline.headline());
    Ok(())
}
