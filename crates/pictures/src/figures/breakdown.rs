//! Where the cpu time went: a stacked bar per policy.

use crate::canvas::axis::{Axis, Kind};
use crate::canvas::font;
use crate::canvas::palette::{
    BLUE, Colour, Fill, GREEN, Hatch, INK, ORANGE, PURPLE, SKY, VERMILLION, YELLOW,
};
use crate::canvas::{Anchor, Area, Canvas, Letters, Picture};
use experiment::metrics::ALL_APPS;
use experiment::number::listed;
use experiment::statements::causes::{self, PARTS};
use experiment::statements::titles;

use super::Attempt;
use crate::figures::figure::{Figure, Table};
use crate::figures::frame::{self, Frame, Key};
use crate::figures::grid::Layout;
use crate::figures::plane::{Plane, Row};
use crate::figures::words;

/// Colour and hatching of a part.
type Look = (Colour, Hatch);

const GREY: Colour = Colour(240, 240, 240);
const DARK: Colour = Colour(130, 130, 130);

/// How each of [`PARTS`] looks: what is alike in colour differs in hatching.
const LOOKS: [Look; PARTS.len()] = [
    (BLUE, Hatch::None),
    (ORANGE, Hatch::Rising),
    (VERMILLION, Hatch::Falling),
    (PURPLE, Hatch::Level),
    (ORANGE, Hatch::Upright),
    (SKY, Hatch::Crossed),
    (SKY, Hatch::Level),
    (GREEN, Hatch::Upright),
    (VERMILLION, Hatch::Dots),
    (PURPLE, Hatch::None),
    (GREEN, Hatch::Crossed),
    (DARK, Hatch::Rising),
    (GREY, Hatch::None),
];

/// Small parts together.
const OTHER: &str = "other overhead";
const OTHER_LOOK: Look = (YELLOW, Hatch::None);
/// A part that is nowhere larger than this is small.
const SMALL: f64 = 0.02;
/// From this share of useful work on the message would be 100 %.
const WHOLE: f64 = 0.995;
/// Parts below this are nowhere to be seen.
const UNSEEN: f64 = 0.000_5;

/// Lines of a hatching.
const LINES: Colour = Colour(40, 40, 40);
const BAR: f64 = 16.0;
const ROW: f64 = 24.0;

/// A bar: the share of each of [`PARTS`].
struct Bar {
    configuration: usize,
    policy: usize,
    shares: Vec<f64>,
}

/// A piece of every bar: its name, its look, and the parts in it.
struct Piece {
    name: &'static str,
    look: Look,
    parts: Vec<usize>,
}

impl Piece {
    fn share(&self, bar: &Bar) -> f64 {
        self.parts.iter().map(|at| bar.shares[*at]).sum()
    }
}

/// The breakdown.
pub(crate) fn breakdown(plane: &Plane<'_>) -> Attempt {
    let rows = plane.rows("breakdown_compute");
    let bars = bars(plane, &rows);
    let Some(title) = titles::breakdown(&plane.index).filter(|_| !bars.is_empty()) else {
        return Err("no run completed".into());
    };
    let layout = Layout::of_policies(plane, &rows, &[])?;
    let pieces = pieces(&bars);
    let other = pieces.iter().find(|piece| piece.parts.len() > 1);
    let other = other.map_or_else(String::new, |piece| {
        let names: Vec<&str> = piece.parts.iter().map(|at| PARTS[*at].name).collect();
        format!("; {OTHER}: {}", listed(&names))
    });
    let key = |piece: &Piece| (Key::Area(piece.look.0, piece.look.1, LINES), piece.name.to_owned());
    let words = Frame {
        page: plane.page,
        title: title.clone(),
        about: format!(
            "Mean share of the time of all cpus until all programs end{other}; {}{}{}",
            words::setting(plane.results),
            plane.remark(),
            layout.remark()
        ),
        legend: pieces.iter().map(key).collect(),
        source: words::source(plane.results),
    };
    let picture = draw(&words, &layout, &pieces, &bars);
    Ok(Figure {
        name: "breakdown",
        title: title.to_string(),
        about: words.about,
        picture,
        data: data(plane, &rows),
    })
}

/// Whether any time was lost.
///
/// # Errors
/// That it was not.
pub(crate) fn news(plane: &Plane<'_>) -> Result<(), String> {
    let all = bars(plane, &plane.rows("breakdown_compute"));
    if all.is_empty() || all.iter().any(|bar| bar.shares[0] < WHOLE) {
        return Ok(());
    }
    Err("useful work takes 99.5 % or more of the time of all cpus everywhere".into())
}

/// The bars of all configurations and rows that were measured.
fn bars(plane: &Plane<'_>, rows: &[Row<'_>]) -> Vec<Bar> {
    let mut bars = Vec::new();
    for configuration in plane.configurations() {
        for (policy, (label, _)) in rows.iter().enumerate() {
            // Results of older versions lack some parts.
            let share = |part| causes::share(&plane.index, configuration, label, part);
            if share(&PARTS[0]).is_some() {
                let shares = PARTS.iter().map(|part| share(part).unwrap_or(0.0)).collect();
                bars.push(Bar { configuration, policy, shares });
            }
        }
    }
    bars
}

/// The pieces of the bars: useful work, every part that is large somewhere, the small ones together, idle
/// time.
fn pieces(bars: &[Bar]) -> Vec<Piece> {
    let largest = |at: usize| bars.iter().map(|bar| bar.shares[at]).fold(0.0, f64::max);
    let (idle, inner) = (PARTS.len() - 1, 1..PARTS.len() - 1);
    let single = |at: usize| Piece { name: PARTS[at].name, look: LOOKS[at], parts: vec![at] };
    let small: Vec<usize> = inner.clone().filter(|at| (UNSEEN..SMALL).contains(&largest(*at))).collect();
    let mut pieces: Vec<Piece> =
        std::iter::once(0).chain(inner.filter(|at| largest(*at) >= SMALL)).map(single).collect();
    match small.as_slice() {
        [] => {}
        [one] => pieces.push(single(*one)),
        _ => pieces.push(Piece { name: OTHER, look: OTHER_LOOK, parts: small }),
    }
    if largest(idle) >= UNSEEN {
        pieces.push(single(idle));
    }
    pieces
}

/// The cells of all parts.
fn data(plane: &Plane<'_>, rows: &[Row<'_>]) -> Table {
    let metrics = || PARTS.iter().flat_map(|part| part.metrics);
    let of = |configuration: usize| {
        rows.iter().flat_map(move |(policy, _)| {
            metrics().filter_map(move |metric| plane.cell(configuration, policy, ALL_APPS, metric))
        })
    };
    Table::of_cells(plane.configurations().flat_map(of))
}

fn draw(words: &Frame, layout: &Layout, pieces: &[Piece], bars: &[Bar]) -> Picture {
    let sheet = layout.sheet(ROW);
    frame::compose(words, sheet.height, |canvas, body| {
        sheet.write_names(canvas, body);
        for (at, panel) in sheet.within(body).into_iter().enumerate() {
            let axis = Axis::exact(Kind::Linear, 0.0, 100.0, panel.x, panel.right());
            frame::lower_axis(canvas, panel, &axis, sheet.foot(at));
            if sheet.first(at) {
                sheet.write_labels(canvas, body, panel);
            }
            for bar in bars {
                let (own, row) = layout.place(bar.configuration, bar.policy, 0);
                if own == at {
                    draw_bar(canvas, Area { y: panel.y + row as f64 * ROW, ..panel }, pieces, bar);
                }
            }
        }
        frame::axis_title(canvas, body, sheet.left, "share of the cpu time (%)");
    })
}

/// A bar in the row that begins where `panel` does.
fn draw_bar(canvas: &mut Canvas, panel: Area, pieces: &[Piece], bar: &Bar) {
    let y = panel.y + (ROW - BAR) / 2.0;
    let mut x = panel.x;
    for piece in pieces {
        let ((colour, hatch), share) = (piece.look, piece.share(bar));
        let area = Area { x, y, width: share * panel.width, height: BAR };
        x += area.width;
        if area.width < 0.25 {
            continue;
        }
        canvas.fill(area, Fill::hatched(hatch, LINES, colour));
        canvas.frame(area, INK, 0.5);
        let text = format!("{:.0}", share * 100.0);
        let wide = font::width(&text, 10.0);
        if wide + 8.0 < area.width {
            let middle = (area.x + area.width / 2.0, y + BAR / 2.0);
            if hatch != Hatch::None {
                // A clean patch behind the digits.
                let patch =
                    Area { x: middle.0 - wide / 2.0 - 2.0, y: y + 2.0, width: wide + 4.0, height: BAR - 4.0 };
                canvas.fill(patch, colour);
            }
            canvas.text(middle, &text, Letters::new(10.0).at(Anchor::Middle).in_colour(colour.letters()));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bar(shares: &[(usize, f64)]) -> Bar {
        let mut all = vec![0.0; PARTS.len()];
        for (at, share) in shares {
            all[*at] = *share;
        }
        Bar { configuration: 0, policy: 0, shares: all }
    }

    fn names(bars: &[Bar]) -> Vec<&'static str> {
        pieces(bars).iter().map(|piece| piece.name).collect()
    }

    #[test]
    fn small_parts_are_one_piece_and_large_ones_keep_their_names() {
        let small = [(0, 0.9), (8, 0.01), (10, 0.01), (5, 0.08)];
        assert_eq!(names(&[bar(&small)]), ["useful work", "waiting", OTHER]);
        let large = bar(&[(0, 0.5), (9, 0.3), (3, 0.2)]);
        let all = [bar(&small), large];
        assert_eq!(
            names(&all),
            ["useful work", "shared cores (SMT)", "waiting", "page initialisation", OTHER]
        );
        for bar in &all {
            let sum: f64 = pieces(&all).iter().map(|piece| piece.share(bar)).sum();
            assert!((sum - 1.0).abs() < 1e-9, "{sum}");
        }
    }

    #[test]
    fn a_single_small_part_keeps_its_name() {
        assert_eq!(
            names(&[bar(&[(0, 0.98), (10, 0.01), (12, 0.01)])]),
            ["useful work", "kernel work", "idle time"]
        );
    }

    #[test]
    fn looks_differ_on_grey_paper_too() {
        for (at, look) in LOOKS.iter().enumerate() {
            let alike = |other: &&Look| other.1 == look.1;
            for other in LOOKS[..at].iter().chain([&OTHER_LOOK]).filter(alike) {
                let apart = (look.0.luminance() - other.0.luminance()).abs();
                assert!(apart > 0.08, "{look:?} and {other:?}: {apart}");
            }
            assert!(*look != OTHER_LOOK && LOOKS[..at].iter().all(|other| other != look), "{look:?}");
        }
    }
}
