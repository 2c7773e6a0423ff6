//! A figure in a file, with its numbers beside it.

use std::path::Path;

use clap::ValueEnum;
use pictures::canvas::Picture;
use pictures::figures::Figure;

use crate::failure::Failure;
use crate::output::{self, Target};

/// Pixels of a PNG for each pixel of the SVG.
const SCALE: f32 = 2.0;

/// The file of a picture, and the one of its numbers, which ends in .csv.
pub(super) struct Files {
    form: Form,
    picture: Target,
    numbers: Target,
}

impl Files {
    /// Checks both before anything is simulated; `read` are files that must stay.
    pub(super) fn check(path: &Path, force: bool, read: &[&Path]) -> Result<Self, Failure> {
        let form = Form::of(path)?;
        let numbers = path.with_extension("csv");
        let files =
            Self { form, picture: Target::check(path, force)?, numbers: Target::check(&numbers, force)? };
        output::distinct(&[&files.picture, &files.numbers], read)?;
        Ok(files)
    }

    /// Writes both or none.
    pub(super) fn write(&self, figure: &Figure) -> Result<(), Failure> {
        let bytes = self.form.bytes(&figure.picture, SCALE).map_err(Failure::Output)?;
        let table = figure.data.csv().map_err(Failure::Output)?;
        let (picture, numbers) = (output::bytes(&bytes), output::bytes(table.as_bytes()));
        output::write_together(&[(&self.picture, &picture), (&self.numbers, &numbers)])
    }

    /// Both names.
    pub(super) fn names(&self) -> [std::path::Display<'_>; 2] {
        [&self.picture, &self.numbers].map(|target| target.named().display())
    }
}

/// A form of pictures, which the ending of a file selects.
pub(crate) use crate::args::Picture as Form;

impl Form {
    /// The form of a file.
    pub(crate) fn of(path: &Path) -> Result<Self, Failure> {
        let ending = path.extension().and_then(|extension| extension.to_str()).map(str::to_ascii_lowercase);
        let found = Self::value_variants().iter().find(|form| ending.as_deref() == Some(form.ending()));
        found.copied().ok_or_else(|| {
            Failure::Input(format!(
                "`{}` must end in .svg, .png or .pdf: the ending selects the form of the picture",
                path.display()
            ))
        })
    }

    /// How the names of its files end.
    pub(crate) const fn ending(self) -> &'static str {
        match self {
            Self::Svg => "svg",
            Self::Png => "png",
            Self::Pdf => "pdf",
        }
    }

    /// The bytes of a picture; `scale` is that of its pixels.
    pub(crate) fn bytes(self, picture: &Picture, scale: f32) -> Result<Vec<u8>, String> {
        match self {
            Self::Svg => Ok(picture.svg().into_bytes()),
            Self::Png => picture.png(scale),
            Self::Pdf => picture.pdf(),
        }
    }
}
