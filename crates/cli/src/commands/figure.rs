//! A figure in a file, with its numbers beside it.

use std::path::Path;

use clap::ValueEnum;
use pictures::canvas::Picture;
use pictures::figures::Figure;

use crate::failure::Failure;
use crate::output::{self, Target};
use crate::parts::FORMATS;

/// Pixels of a PNG for each pixel of the SVG.
const SCALE: f32 = 2.0;

/// The file of a picture, whose ending selects its form.
pub(super) struct PictureFile {
    pub(super) target: Target,
    form: Form,
}

impl PictureFile {
    /// Checks it before anything is simulated.
    pub(super) fn check(path: &Path, force: bool) -> Result<Self, Failure> {
        let form = Form::of(path)?;
        Ok(Self { target: Target::check(path, force)?, form })
    }

    /// What it holds.
    pub(super) fn bytes(&self, picture: &Picture) -> Result<Vec<u8>, Failure> {
        self.form.bytes(picture, SCALE).map_err(Failure::Output)
    }

    /// Writes it.
    pub(super) fn write(&self, picture: &Picture) -> Result<(), Failure> {
        let bytes = self.bytes(picture)?;
        self.target.write(&|out| out.write_all(&bytes))
    }
}

/// The file of a picture, and the one of its numbers, which ends in .csv.
pub(super) struct Files {
    picture: PictureFile,
    numbers: Target,
}

impl Files {
    /// Checks both before anything is simulated; `read` are files that must stay.
    pub(super) fn check(path: &Path, force: bool, read: &[&Path]) -> Result<Self, Failure> {
        let picture = PictureFile::check(path, force)?;
        let files = Self { picture, numbers: Target::check(&path.with_extension("csv"), force)? };
        output::distinct(&[&files.picture.target, &files.numbers], read)?;
        Ok(files)
    }

    /// Writes both or none.
    pub(super) fn write(&self, figure: &Figure) -> Result<(), Failure> {
        let bytes = self.picture.bytes(&figure.picture)?;
        let table = figure.data.csv().map_err(Failure::Output)?;
        let (picture, numbers) = (output::bytes(&bytes), output::bytes(table.as_bytes()));
        output::write_together(&[(&self.picture.target, &picture), (&self.numbers, &numbers)])
    }

    /// Both names.
    pub(super) fn names(&self) -> [std::path::Display<'_>; 2] {
        [&self.picture.target, &self.numbers].map(|target| target.named().display())
    }
}

/// A form of pictures, which the ending of a file selects.
pub(crate) use crate::args::Picture as Form;

impl Form {
    /// The form of a file.
    pub(crate) fn of(path: &Path) -> Result<Self, Failure> {
        let ending = path.extension().and_then(|extension| extension.to_str()).map(str::to_ascii_lowercase);
        let found = Self::value_variants().iter().find(|form| ending.as_deref() == Some(form.ending()));
        let form = found.copied().ok_or_else(|| {
            Failure::Input(format!(
                "`{}` must end in .svg, .png or .pdf: the ending selects the form of the picture",
                path.display()
            ))
        })?;
        form.check()?;
        Ok(form)
    }

    /// Refuses a form that this program does not write.
    pub(crate) fn check(self) -> Result<(), Failure> {
        match self {
            Self::Svg => Ok(()),
            Self::Png => FORMATS.need("a picture as PNG"),
            Self::Pdf => FORMATS.need("a picture as PDF"),
        }
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
            #[cfg(feature = "formats")]
            Self::Png => picture.png(scale),
            #[cfg(feature = "formats")]
            Self::Pdf => picture.pdf(),
            #[cfg(not(feature = "formats"))]
            Self::Png | Self::Pdf => Err(format!("not written here, at scale {scale}")),
        }
    }
}
