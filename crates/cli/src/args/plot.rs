//! Flags of `oversim plot`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use clap_complete::engine::ArgValueCompleter as Completer;
use pictures::figures::Page;

use super::Changes;
use crate::complete;

#[derive(Args, Debug)]
pub(crate) struct Plot {
    /// A result (the JSON of `oversim run`), a scenario (a file or a built-in name), which is run first, or
    /// the directory of a sweep; `-` reads standard input.
    #[arg(value_name = "SUBJECT", add = Completer::new(complete::scenario_or_result))]
    pub(crate) file: PathBuf,
    /// Write the figures to this directory.
    #[arg(short, long, value_name = "DIR", default_value = "figures")]
    pub(crate) output: PathBuf,
    /// What the figures are drawn for.
    #[arg(long = "for", value_name = "PLACE", value_enum, default_value_t = Place::Web)]
    pub(crate) place: Place,
    /// Width in a paper, with --for paper: 75mm to 300mm. 85mm is one column of two, 180mm is both. Default:
    /// 85mm.
    #[arg(long, value_name = "MILLIMETRES", value_parser = millimetres)]
    pub(crate) width: Option<f64>,
    /// Form of the pictures. Default: svg; pdf with --for paper, png with --for slide.
    #[arg(long, value_enum)]
    pub(crate) format: Option<Picture>,
    /// Draw only these figures: A,B or repeated. Default: all for which the result has data.
    #[arg(long = "figure", value_name = "NAME", value_delimiter = ',')]
    #[arg(add = Completer::new(complete::figures))]
    pub(crate) figures: Vec<String>,
    /// Draw these metrics by policy (`oversim list metrics`): A,B or repeated. Default: that of the
    /// objective, where no other figure shows it.
    #[arg(long = "metric", value_name = "NAME", value_delimiter = ',')]
    #[arg(add = Completer::new(complete::metrics))]
    pub(crate) metrics: Vec<String>,
    /// Replace files that exist.
    #[arg(long)]
    pub(crate) force: bool,
    /// Also search the best static partition of the cores among the programs.
    #[arg(long)]
    pub(crate) best_partition: bool,
    #[command(flatten)]
    pub(crate) changes: Changes,
}

/// Forms of a picture.
#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Picture {
    /// Vectors: sharp at any size, small files.
    Svg,
    /// Pixels, with a built-in font: two for each unit of the SVG's size, 600 to the inch of a paper, 3840
    /// across a slide.
    Png,
    /// Vectors on a page of the picture's size. Text stays text, its font is part of the file.
    Pdf,
}

/// What figures are drawn for.
#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Place {
    /// A page for the browser, with a title and a line that says what is shown.
    Web,
    /// A column of a paper: letters of 8 points, no title; NAME.tex has the caption.
    Paper,
    /// A slide of 16:9 with large letters and a title.
    Slide,
}

/// A width in millimetres.
fn millimetres(text: &str) -> Result<f64, String> {
    let (least, most) = (Page::WIDTHS.start(), Page::WIDTHS.end());
    let number = text.trim().strip_suffix("mm").unwrap_or(text).trim().parse::<f64>();
    let width = number.map_err(|_| "write millimetres, as `85mm`".to_owned())?;
    if !Page::WIDTHS.contains(&width) {
        return Err(format!("a figure is {least} to {most} mm wide"));
    }
    Ok(width)
}
