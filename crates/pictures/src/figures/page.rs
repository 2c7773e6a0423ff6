//! What a figure is drawn for: how wide it is, how large its letters become, and which words stand around it.

/// Points to the inch, and millimetres to the inch.
const POINTS: f64 = 72.0;
const INCH: f64 = 25.4;
/// Font size of labels in pixels: all sizes of figures are relative to it.
pub(crate) const LABEL: f64 = 11.5;
/// Letters of labels in a paper in points; the smallest ones, in cells, become 6.6 points. The conference
/// template of IEEE asks for labels of 8 points, Elsevier for 7 and at least 6 points ("Artwork sizing").
const PAPER_LETTERS: f64 = 8.0;
/// Letters of labels on a slide in points, of a slide of 13.33 inches: the least that the last row reads.
const SLIDE_LETTERS: f64 = 18.0;
/// A slide in points: 16:9, as presentation programs make them.
const SLIDE: (f64, f64) = (960.0, 540.0);
/// Widths of a figure on a slide in pixels, those with the largest letters first: a figure that is too high
/// for one is drawn on the next one.
const SLIDE_WIDTHS: [f64; 4] = [SLIDE.0 / (SLIDE_LETTERS / LABEL), 700.0, 800.0, 960.0];

/// Which words stand around the panels.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Words {
    /// The message, what is shown, and the source.
    All,
    /// The message.
    Message,
    /// None: a caption says it.
    None,
}

/// What a figure is drawn for.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Page {
    /// Its width in pixels, and the space at both sides.
    pub(crate) width: f64,
    pub(crate) edge: f64,
    /// Points of paper for a pixel; none on a screen.
    points: Option<f64>,
    words: Words,
}

impl Default for Page {
    fn default() -> Self {
        Self::SCREEN
    }
}

impl Page {
    /// A page for the browser.
    pub const SCREEN: Self = Self { width: 780.0, edge: 14.0, points: None, words: Words::All };
    /// Widths in millimetres that a figure in a paper can have.
    pub const WIDTHS: std::ops::RangeInclusive<f64> = 75.0..=300.0;
    /// The width of a column of a paper with two in millimetres: 85 to 90 in those of IEEE, ACM and Elsevier.
    pub const COLUMN: f64 = 85.0;

    /// A figure of this width in a paper, without words around it.
    #[must_use]
    pub fn paper(millimetres: f64) -> Self {
        let points = PAPER_LETTERS / LABEL;
        let width = millimetres / INCH * POINTS / points;
        Self { width, edge: 3.0, points: Some(points), words: Words::None }
    }

    /// The widths of a figure on a slide, with its message: the first is the best if the figure fits.
    pub(crate) fn slides() -> impl Iterator<Item = Self> {
        SLIDE_WIDTHS.into_iter().map(|width| Self {
            width,
            edge: 14.0,
            points: Some(SLIDE.0 / width),
            words: Words::Message,
        })
    }

    /// The paper of a slide of this width in pixels.
    pub(crate) fn slide(&self) -> (f64, f64) {
        (self.width, self.width * SLIDE.1 / SLIDE.0)
    }

    /// The width between the edges.
    pub(crate) const fn body(&self) -> f64 {
        self.width - 2.0 * self.edge
    }

    /// Points of paper for a pixel.
    pub(crate) const fn points(&self) -> Option<f64> {
        self.points
    }

    /// Whether the message stands above.
    pub(crate) fn has_message(&self) -> bool {
        self.words != Words::None
    }

    /// Whether what is shown and the source are part of the picture.
    pub(crate) fn has_remarks(&self) -> bool {
        self.words == Words::All
    }

    /// The most that labels at the left may take: as much as on a screen, or a part of a narrow page.
    pub(crate) fn left(&self, most: f64) -> f64 {
        most.min(self.body() * 0.42)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn letters_in_a_paper_are_8_points_and_widths_are_as_asked() {
        for width in [85.0, 180.0] {
            let page = Page::paper(width);
            let points = page.points().unwrap();
            assert!((points * LABEL - PAPER_LETTERS).abs() < 1e-9);
            assert!((page.width * points / POINTS * INCH - width).abs() < 1e-9);
        }
    }

    #[test]
    fn the_first_slide_has_the_largest_letters() {
        let letters: Vec<f64> = Page::slides().map(|page| page.points().unwrap() * LABEL).collect();
        assert!((letters[0] - SLIDE_LETTERS).abs() < 1e-9);
        assert!(letters.windows(2).all(|pair| pair[0] > pair[1]), "{letters:?}");
    }
}
