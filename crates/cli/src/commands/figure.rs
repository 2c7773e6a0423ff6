//! A figure in a file, with its numbers beside it.

use std::path::Path;

use pictures::figures::Figure;

use crate::failure::Failure;
use crate::output::{self, Target};

/// Pixels of a PNG for each pixel of the SVG.
const SCALE: f32 = 2.0;

/// The file of a picture, and the one of its numbers, which ends in .csv.
pub(super) struct Files {
    picture: Target,
    numbers: Target,
}

impl Files {
    /// Checks both before anything is simulated; `read` are files that must stay.
    pub(super) fn check(path: &Path, force: bool, read: &[&Path]) -> Result<Self, Failure> {
        if !is_png(path) && ending(path).as_deref() != Some("svg") {
            let name = path.display();
            return Err(Failure::Input(format!(
                "`{name}` must end in .svg or .png: the ending selects the form of the picture"
            )));
        }
        let numbers = path.with_extension("csv");
        let files = Self { picture: Target::check(path, force)?, numbers: Target::check(&numbers, force)? };
        output::distinct(&[&files.picture, &files.numbers], read)?;
        Ok(files)
    }

    /// Writes both or none.
    pub(super) fn write(&self, figure: &Figure) -> Result<(), Failure> {
        let bytes = match is_png(self.picture.named()) {
            true => figure.picture.png(SCALE).map_err(Failure::Output)?,
            false => figure.picture.svg().into_bytes(),
        };
        let table = figure.data.csv().map_err(Failure::Output)?;
        let (picture, numbers) = (output::bytes(&bytes), output::bytes(table.as_bytes()));
        output::write_together(&[(&self.picture, &picture), (&self.numbers, &numbers)])
    }

    /// Both names.
    pub(super) fn names(&self) -> [std::path::Display<'_>; 2] {
        [&self.picture, &self.numbers].map(|target| target.named().display())
    }
}

fn ending(path: &Path) -> Option<String> {
    path.extension().and_then(|extension| extension.to_str()).map(str::to_ascii_lowercase)
}

fn is_png(path: &Path) -> bool {
    ending(path).as_deref() == Some("png")
}
