//! How cells look: a colour for each policy, darker for a larger margin, hatched where it is not significant.

use experiment::response::map::{Map, order};
use experiment::response::winners::{Margin, Winner};

use crate::canvas::palette::{
    BLUE, Colour, Fill, GREEN, Hatch, INK, ORANGE, PAPER, PURPLE, SKY, VERMILLION, YELLOW,
};

/// Colours in the order in which policies get them, the one that is best in most cells first. After those of
/// Okabe and Ito follow four of the scheme `muted` of Paul Tol ("Colour Schemes", SRON/EPS/TN/09-002, 2021).
const COLOURS: [Colour; 12] = [
    BLUE,
    ORANGE,
    GREEN,
    PURPLE,
    VERMILLION,
    INK,
    YELLOW,
    SKY,
    Colour(136, 34, 85),
    Colour(153, 153, 51),
    Colour(51, 34, 136),
    Colour(68, 170, 153),
];

/// By how much the second policy is worse where the next darker shade begins: a convention, the same in every
/// picture.
pub(super) const EDGES: [f64; 4] = [0.01, 0.05, 0.2, 1.0];
/// How much colour each shade has.
const SHADES: [f64; EDGES.len() + 1] = [0.28, 0.46, 0.64, 0.82, 1.0];
/// How much of the ink the lines of a hatching have.
const LINES: f64 = 0.62;

/// The policies that are best anywhere, with their looks.
pub(super) struct Looks {
    /// Policy and number of cells, the most first.
    pub(super) order: Vec<(usize, usize)>,
}

impl Looks {
    pub(super) fn of(map: &Map) -> Self {
        Self { order: order(&map.winners()) }
    }

    /// The position of a policy in the legend.
    pub(super) fn rank(&self, policy: usize) -> usize {
        self.order.iter().position(|(known, _)| *known == policy).unwrap_or(0)
    }

    /// The letter of a policy: A, B, ..., Z, AA, ...
    pub(super) fn letter(&self, policy: usize) -> String {
        letter(self.rank(policy))
    }

    /// The colour of a policy at a shade.
    pub(super) fn colour(&self, policy: usize, shade: usize) -> Colour {
        COLOURS[self.rank(policy) % COLOURS.len()].mixed(SHADES[shade.min(EDGES.len())], PAPER)
    }

    /// Ground and fill of a cell.
    pub(super) fn fill(&self, winner: &Winner) -> (Colour, Fill) {
        let ground = self.colour(winner.best, winner.margin.map_or(EDGES.len() / 2, shade));
        let unsure = winner.margin.is_some_and(|margin| margin.significant == Some(false));
        (ground, if unsure { hatched(ground) } else { ground.into() })
    }
}

/// The letter at a rank.
pub(super) fn letter(rank: usize) -> String {
    let last = char::from(b'A' + u8::try_from(rank % 26).unwrap_or(0));
    if rank < 26 { last.to_string() } else { format!("{}{last}", letter(rank / 26 - 1)) }
}

/// The hatching of what is not significant.
pub(super) fn hatched(ground: Colour) -> Fill {
    Fill::hatched(Hatch::Rising, INK.mixed(LINES, ground), ground)
}

/// The shade of a margin.
pub(super) fn shade(margin: Margin) -> usize {
    EDGES.iter().filter(|edge| margin.factor - 1.0 >= **edge).count()
}

/// A margin in a cell: `12 %`, `x 11` from ten times on.
pub(super) fn number(winner: &Winner) -> String {
    match winner.margin {
        None => String::new(),
        // Lateness has no ratios.
        Some(margin) if margin.ratio.is_none() && margin.factor <= 1.0 => String::new(),
        Some(margin) if margin.factor.is_infinite() => "x inf".into(),
        Some(margin) if margin.factor >= 10.0 => format!("x {:.0}", margin.factor),
        Some(margin) => format!("{} %", experiment::number::variation((margin.factor - 1.0) * 100.0)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn letters_go_on_after_z() {
        assert_eq!([0, 25, 26, 51, 52].map(letter), ["A", "Z", "AA", "AZ", "BA"]);
    }

    #[test]
    fn a_larger_margin_is_darker_for_every_policy() {
        for colour in COLOURS {
            let lights: Vec<f64> = SHADES.map(|part| colour.mixed(part, PAPER).luminance()).to_vec();
            assert!(lights.windows(2).all(|pair| pair[0] > pair[1]), "{colour:?}: {lights:?}");
        }
    }
}
