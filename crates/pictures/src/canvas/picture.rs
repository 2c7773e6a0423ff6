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

impl Item {
    /// Enlarged by a factor, and moved.
    fn moved(self, factor: f64, (x, y): Point) -> Self {
        let at = |point: Point| (point.0 * factor + x, point.1 * factor + y);
        let area = |area: Area| {
            let (x, y) = at((area.x, area.y));
            Area { x, y, width: area.width * factor, height: area.height * factor }
        };
        let all = |points: Vec<Point>| points.into_iter().map(at).collect();
        match self {
            Self::Areas { areas, fill } => Self::Areas { areas: areas.into_iter().map(area).collect(), fill },
            Self::Line { points, colour, opacity, width, dash } => {
                Self::Line { points: all(points), colour, opacity, width: width * factor, dash }
            }
            Self::Polygon { points, colour, opacity } => {
                Self::Polygon { points: all(points), colour, opacity }
            }
            Self::Disc { centre, radius, colour } => {
                Self::Disc { centre: at(centre), radius: radius * factor, colour }
            }
            Self::Text { at: point, text, letters } => Self::Text {
                at: at(point),
                text,
                letters: Letters { size: letters.size * factor, ..letters },
            },
            Self::Begin(_) | Self::End => self,
        }
    }
}

impl Picture {
    /// The same to be printed with so many points for a pixel, 72 points to the inch.
    #[must_use]
    pub fn printed(self, points: f64) -> Self {
        Self { points: Some(points), ..self }
    }

    /// How many times as large a PNG must be to have so many dots to the inch; none for a picture on a
    /// screen.
    #[must_use]
    pub fn resolution(&self, dots: f64) -> Option<f32> {
        Some((dots / 72.0 * self.points?) as f32)
    }

    /// Width and height in pixels.
    #[must_use]
    pub const fn size(&self) -> Point {
        self.size
    }

    /// The same on paper of another size: as large as fits into an area of this corner and size, in its
    /// middle.
    #[must_use]
    pub fn fitted(&self, paper: Point, corner: Point, area: Point) -> Self {
        let factor = (area.0 / self.size.0).min(area.1 / self.size.1);
        let beside = |whole: f64, part: f64| (whole - part * factor) / 2.0;
        let to = (corner.0 + beside(area.0, self.size.0), corner.1 + beside(area.1, self.size.1));
        let items = self.items.iter().map(|item| item.clone().moved(factor, to)).collect();
        Self { size: paper, points: self.points, title: self.title.clone(), items }
    }

    /// Draws another picture over this one.
    pub fn add(&mut self, other: Self) {
        self.items.extend(other.items);
    }
}

/// A picture. The same drawing gives the same bytes on every machine.
#[derive(Clone, PartialEq, Debug)]
pub struct Picture {
    /// Width and height in pixels.
    pub(super) size: Point,
    /// Points of paper for a pixel; none for a picture on a screen.
    pub(super) points: Option<f64>,
    /// What it shows, for readers who do not see it.
    pub(super) title: String,
    pub(super) items: Vec<Item>,
}
