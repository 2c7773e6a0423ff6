//! A picture of the runs of two policies, one above the other.

use std::path::Path;

use pictures::timeline::choice::{self, Asked};
use pictures::timeline::{self, Medium, draw as drawing};
use scenario::plan::Experiment;

use crate::failure::Failure;
use crate::output::Target;
use crate::say;

/// Pixels of a PNG for each pixel of the SVG.
const SCALE: f32 = 2.0;

/// Where a picture goes.
pub(super) struct Picture {
    pub(super) target: Target,
    png: bool,
}

/// The file of a picture; its ending says whether it is an SVG or a PNG.
pub(super) fn target(path: &Path, force: bool) -> Result<Picture, Failure> {
    let ending = path.extension().and_then(|ending| ending.to_str()).map(str::to_ascii_lowercase);
    let png = match ending.as_deref() {
        Some("svg") => false,
        Some("png") => true,
        _ => {
            return Err(Failure::Input(format!(
                "`{}` must end in .svg or .png: the ending selects the form of the picture",
                path.display()
            )));
        }
    };
    Ok(Picture { target: Target::check(path, force)?, png })
}

/// Draws the first replicate under all policies of an experiment; of a window in nanoseconds, or of the part
/// that shows most.
pub(super) fn draw(
    experiment: &Experiment,
    window: Option<[u64; 2]>,
    picture: &Picture,
) -> Result<(), Failure> {
    let chosen = choice::choose(experiment, Asked { named: true, vary: None }).map_err(Failure::Input)?;
    let [from, to] = window.map_or([None; 2], |window| window.map(Some));
    let request = timeline::Request { from, to, cpus: None, aim: chosen.aim };
    let timeline = timeline::record(&chosen.subjects(), &request, Medium::Picture).map_err(Failure::Input)?;
    let drawn = drawing::picture(&timeline, &chosen.title);
    let bytes = match picture.png {
        false => drawn.svg().into_bytes(),
        true => drawn.png(SCALE).map_err(Failure::Output)?,
    };
    picture.target.write(&|out| out.write_all(&bytes))?;
    say::written(picture.target.named().display(), timeline.headline());
    Ok(())
}
