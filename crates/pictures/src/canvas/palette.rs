//! Colours, marks, dashes and hatchings that readers tell apart without colour vision and on grey paper.

/// A colour: red, green, blue.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Colour(pub u8, pub u8, pub u8);

/// Text and axes.
pub const INK: Colour = Colour(26, 26, 26);
/// Remarks and units.
pub const MUTED: Colour = Colour(89, 89, 89);
/// Lines of a grid.
pub const GRID: Colour = Colour(217, 217, 217);
/// What is drawn on.
pub const PAPER: Colour = Colour(255, 255, 255);
/// Letters on light and on dark areas; unlike [`INK`] and [`PAPER`] they stay in a dark theme.
pub const ON_LIGHT: Colour = Colour(0, 0, 0);
/// See [`ON_LIGHT`].
pub const ON_DARK: Colour = Colour(254, 254, 254);

/// The palette of Okabe and Ito, "Color Universal Design" (2008), in the order in which series get them; its
/// black is the ink, its yellow comes last because it is pale on white.
pub const BLUE: Colour = Colour(0, 114, 178);
/// See [`BLUE`].
pub const ORANGE: Colour = Colour(230, 159, 0);
/// See [`BLUE`].
pub const GREEN: Colour = Colour(0, 158, 115);
/// See [`BLUE`].
pub const VERMILLION: Colour = Colour(213, 94, 0);
/// See [`BLUE`].
pub const PURPLE: Colour = Colour(204, 121, 167);
/// See [`BLUE`].
pub const SKY: Colour = Colour(86, 180, 233);
/// See [`BLUE`].
pub const YELLOW: Colour = Colour(240, 228, 66);

const SERIES: [Colour; 8] = [BLUE, VERMILLION, GREEN, PURPLE, ORANGE, SKY, INK, YELLOW];
const MARKS: [Mark; 7] =
    [Mark::Circle, Mark::Square, Mark::Triangle, Mark::Diamond, Mark::Down, Mark::Cross, Mark::Plus];
const DASHES: [Dash; 4] = [Dash::Solid, Dash::Long, Dash::Short, Dash::Dots];

/// The shape of a point.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Mark {
    /// A disc.
    Circle,
    /// A square.
    Square,
    /// A triangle on its base.
    Triangle,
    /// A square on its corner.
    Diamond,
    /// A triangle on its tip.
    Down,
    /// Two crossing diagonals.
    Cross,
    /// Two crossing bars.
    Plus,
}

/// How a line is broken.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Dash {
    /// Not at all.
    Solid,
    /// Long dashes.
    Long,
    /// Short dashes.
    Short,
    /// Dots.
    Dots,
}

impl Dash {
    /// Lengths of dash and gap in pixels; none for a whole line.
    #[must_use]
    pub const fn lengths(self) -> Option<(f64, f64)> {
        match self {
            Self::Solid => None,
            Self::Long => Some((9.0, 4.0)),
            Self::Short => Some((4.0, 3.0)),
            Self::Dots => Some((1.5, 3.0)),
        }
    }
}

/// How an area is hatched.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Hatch {
    /// Not at all.
    None,
    /// Lines that rise to the right.
    Rising,
    /// Lines that fall to the right.
    Falling,
    /// Both.
    Crossed,
    /// Upright lines.
    Upright,
    /// Level lines.
    Level,
    /// Wide lines that rise to the right.
    WideRising,
    /// Wide upright lines.
    WideUpright,
    /// Dots.
    Dots,
}

impl Hatch {
    /// The tile that repeats: its turn in degrees, its side in pixels, and the marks in its upper left corner
    /// (width and height in pixels).
    #[must_use]
    pub const fn shape(self) -> (i32, f64, &'static [(f64, f64)]) {
        match self {
            Self::None => (0, 4.0, &[]),
            Self::Rising => (45, 4.0, &[(1.0, 4.0)]),
            Self::Falling => (-45, 4.0, &[(1.0, 4.0)]),
            Self::Crossed => (45, 4.0, &[(1.0, 4.0), (4.0, 1.0)]),
            Self::Upright => (0, 5.0, &[(1.0, 5.0)]),
            Self::Level => (0, 5.0, &[(5.0, 1.0)]),
            Self::WideRising => (45, 4.0, &[(2.0, 4.0)]),
            Self::WideUpright => (0, 4.0, &[(2.0, 4.0)]),
            Self::Dots => (0, 5.0, &[(3.0, 3.0)]),
        }
    }
}

/// A hatching in its colours.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Tile {
    /// The kind of lines.
    pub hatch: Hatch,
    /// The colour of the lines.
    pub lines: Colour,
    /// The colour between the lines.
    pub ground: Colour,
}

/// How an area is filled.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Fill {
    /// Evenly.
    Plain(Colour),
    /// With a hatching.
    Tiled(Tile),
}

impl Fill {
    /// A hatching, or an even fill in the colour of the ground without one.
    #[must_use]
    pub fn hatched(hatch: Hatch, lines: Colour, ground: Colour) -> Self {
        if hatch == Hatch::None { Self::Plain(ground) } else { Self::Tiled(Tile { hatch, lines, ground }) }
    }
}

impl From<Colour> for Fill {
    fn from(colour: Colour) -> Self {
        Self::Plain(colour)
    }
}

/// Look of the series of this number: colour, mark and dash differ, so that two of them tell it where one
/// cannot be seen.
#[must_use]
pub const fn series(number: usize) -> (Colour, Mark, Dash) {
    let colour = SERIES[number % SERIES.len()];
    (colour, MARKS[number % MARKS.len()], DASHES[number / 2 % DASHES.len()])
}

impl Colour {
    /// A mixture: `part` (0 to 1) of this colour, the rest of the other one.
    #[must_use]
    pub fn mixed(self, part: f64, other: Self) -> Self {
        let mix = |a: u8, b: u8| (f64::from(a) * part + f64::from(b) * (1.0 - part)).round() as u8;
        Self(mix(self.0, other.0), mix(self.1, other.1), mix(self.2, other.2))
    }

    /// Relative luminance by WCAG 2.2, from 0 (black) to 1 (white).
    #[must_use]
    pub fn luminance(self) -> f64 {
        let linear = |channel: u8| {
            let c = f64::from(channel) / 255.0;
            // sRGB transfer function; its power by exp and ln would round alike on no two platforms, a square
            // is near enough.
            if c <= 0.04 { c / 12.92 } else { c * c * (0.6 * c + 0.4) }
        };
        0.2126 * linear(self.0) + 0.7152 * linear(self.1) + 0.0722 * linear(self.2)
    }

    /// Letters that can be read on it.
    #[must_use]
    pub fn letters(self) -> Self {
        // Black and white contrast alike at a luminance of 0.179.
        if self.luminance() > 0.179 { ON_LIGHT } else { ON_DARK }
    }

    /// As SVG writes it.
    #[must_use]
    pub fn hex(self) -> String {
        format!("#{:02X}{:02X}{:02X}", self.0, self.1, self.2)
    }
}

/// Light to dark blue for 0 to 1: darker is more, also on grey paper.
#[must_use]
pub fn sequential(part: f64) -> Colour {
    let part = part.clamp(0.0, 1.0);
    let (light, middle, dark) = (Colour(239, 246, 252), Colour(86, 160, 211), Colour(4, 48, 92));
    if part < 0.5 { middle.mixed(part * 2.0, light) } else { dark.mixed(part * 2.0 - 1.0, middle) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn twelve_series_look_different() {
        let looks: Vec<_> = (0..28).map(series).collect();
        for (i, a) in looks.iter().enumerate() {
            for b in &looks[..i] {
                assert!(a.0 != b.0 || a.1 != b.1, "{a:?}");
            }
        }
    }

    #[test]
    fn more_is_darker_and_letters_can_be_read() {
        let lights: Vec<f64> =
            (0..=10).map(|tenth| sequential(f64::from(tenth) / 10.0).luminance()).collect();
        assert!(lights.windows(2).all(|pair| pair[0] > pair[1]), "{lights:?}");
        for tenth in 0..=100 {
            let area = sequential(f64::from(tenth) / 100.0);
            let (a, b) = (area.luminance() + 0.05, area.letters().luminance() + 0.05);
            assert!(a.max(b) / a.min(b) > 4.4, "{area:?}");
        }
    }
}
