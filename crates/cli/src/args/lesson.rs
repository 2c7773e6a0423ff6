//! The arguments of `oversim lesson`.

use std::path::PathBuf;

use clap::Args;

use super::Picture;

#[derive(Args, Debug)]
pub(crate) struct Lesson {
    /// Number of the lesson.
    #[arg(value_name = "N", value_parser = number, allow_negative_numbers = true)]
    pub(crate) number: Option<usize>,
    /// Show everything at once, without waiting for a prediction. Without a terminal this is always so.
    #[arg(long, requires = "number")]
    pub(crate) all: bool,
    /// Write the question, the picture, the answer and the exercises as pictures of 1920 x 1080 pixels to
    /// this directory instead.
    #[arg(long, value_name = "DIR", requires = "number", conflicts_with = "all")]
    pub(crate) slides: Option<PathBuf>,
    /// Form of the slides.
    #[arg(long, value_enum, default_value_t = Picture::Svg, requires = "slides")]
    pub(crate) format: Picture,
    /// Replace slides that exist.
    #[arg(long, requires = "slides")]
    pub(crate) force: bool,
}

/// The number of a lesson; whether there is one of this number is known where the lessons are.
fn number(text: &str) -> Result<usize, String> {
    text.parse().map_err(|_| {
        "a lesson has a number, as in `oversim lesson 2`; `oversim lesson` lists them".to_owned()
    })
}
