//! The arguments of `oversim lesson`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

#[derive(Args, Debug)]
pub(crate) struct Lesson {
    /// Number of the lesson.
    #[arg(value_name = "N", value_parser = number, allow_negative_numbers = true)]
    pub(crate) number: Option<usize>,
    /// Show everything at once, without waiting for a prediction. Without a terminal this is always so.
    #[arg(long, requires = "number")]
    pub(crate) all: bool,
    /// Write slides with notes to this file instead, which ends in .html: a page that loads nothing else,
    /// for any browser; printed, it is a handout.
    #[arg(long, value_name = "FILE", requires = "number", conflicts_with = "all")]
    pub(crate) slides: Option<PathBuf>,
    /// Replace a file that exists.
    #[arg(long, requires = "slides")]
    pub(crate) force: bool,
    /// Mark predictions instead: a file for each student, with lines `LESSON: PREDICTION`, for example
    /// `2: 3`.
    #[arg(long, value_name = "FILE", num_args = 1.., conflicts_with_all = ["number", "all", "slides"])]
    pub(crate) grade: Vec<PathBuf>,
    /// Form of the marks.
    #[arg(long, value_enum, default_value_t = Marks::Text, requires = "grade")]
    pub(crate) format: Marks,
}

/// The form of marks.
#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Marks {
    /// A line for each prediction, and how the class predicted.
    Text,
    /// A line for each prediction: student, lesson, prediction, right.
    Csv,
}

/// The number of a lesson; whether there is one of this number is known where the lessons are.
fn number(text: &str) -> Result<usize, String> {
    text.parse().map_err(|_| {
        "a lesson has a number, as in `oversim lesson 2`; `oversim lesson` lists them".to_owned()
    })
}
