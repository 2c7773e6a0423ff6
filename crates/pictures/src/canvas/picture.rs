//! A picture as a list of what is drawn, in order, in pixels.

use super::palette::{Colour, Dash, Fill};
use super::{Area, Letters, Point};

/// The middle height of a text lies above its baseline by this part of the font size: half the height of an
/// x.
pub(super) const MIDDLE: f64 = 0.26;

/// What is drawn.
#[derive(Clone, PartialEq, Debug)]
pub(super) enum Item {
    /// Areas filled alike.
    Areas { areas: Vec<Area>, fill: Fill },
    /// A line through points.
    Line { points: Vec<Point>, colour: Colour, opacity: f64, width: f64, dash: Dash },
    /// What points enclose.
    Polygon { points: Vec<Point>, colour: Colour, opacity: f64 },
    /// A filled circle.
    Disc { centre: Point, radius: f64, colour: Colour },
    /// A text whose middle height is at the point.
    Text { at: Point, text: String, letters: Letters },
    /// A group of the items up to its end.
    Begin(Group),
    /// The end of the last group that has begun.
    End,
}

/// What the items of a group have in common.
#[derive(Clone, PartialEq, Debug)]
pub(super) enum Group {
    /// A text that shows where a pointer rests on them.
    Titled(String),
    /// Edges at whole pixels of the screen.
    Crisp,
}

/// A picture. The same drawing gives the same bytes on every machine.
#[derive(Clone, PartialEq, Debug)]
pub struct Picture {
    /// Width and height in pixels.
    pub(super) size: Point,
    /// What it shows, for readers who do not see it.
    pub(super) title: String,
    pub(super) items: Vec<Item>,
}
