//! Where the cpu time went: a stacked bar per policy.

use drawing::axis::Axis;
use drawing::canvas::{Anchor, Area, Canvas, Letters};
use drawing::font;
use drawing::palette::{BLUE, Colour, GREEN, Hatch, INK, ORANGE, PURPLE, SKY, VERMILLION, YELLOW};
use experiment::metrics::ALL_APPS;
use experiment::result::{Cell, Results};
use experiment::statements::{Table, titles};

use crate::figure::{self, Figure};
use crate::frame::{self, Frame, Key, LABEL, Layout, Sheet};
use crate::plane::Plane;
use crate::words::{self, cell};
use crate::{Attempt, Refusal};

/// A part of the account: its words, the metrics in it, and its look.
pub(crate) struct Part {
    pub(crate) words: &'static str,
    pub(crate) metrics: &'static [&'static str],
    pub(crate) colour: Colour,
    pub(crate) hatch: Hatch,
}

const fn part(words: &'static str, metrics: &'static [&'static str], colour: Colour, hatch: Hatch) -> Part {
    Part { words, metrics, colour, hatch }
}

/// The parts in the order of the bars; what is alike in colour differs in hatching.
pub(crate) const PARTS: [Part; 8] = [
    part("useful work", &["breakdown_compute"], BLUE, Hatch::None),
    part("memory stalls", &["breakdown_memory_stall"], ORANGE, Hatch::Rising),
    part("remote memory", &["breakdown_remote"], VERMILLION, Hatch::Falling),
    part("shared cores (SMT)", &["breakdown_smt"], PURPLE, Hatch::Level),
    part("waiting (polling, yielding)", &["breakdown_spin", "breakdown_yield"], SKY, Hatch::Crossed),
    part("context switches", &["breakdown_switch"], GREEN, Hatch::Upright),
    part(
        "other overhead",
        &[
            "breakdown_refill",
            "breakdown_migration",
            "breakdown_page_init",
            "breakdown_kernel",
            "breakdown_daemon",
        ],
        YELLOW,
        Hatch::None,
    ),
    part("idle", &["breakdown_idle"], Colour(240, 240, 240), Hatch::None),
];

/// Lines of a hatching.
const LINES: Colour = Colour(40, 40, 40);
const BAR: f64 = 16.0;
const ROW: f64 = 24.0;

/// A bar: the share of each part.
struct Bar {
    configuration: usize,
    policy: usize,
    shares: Vec<f64>,
}

/// The account.
pub(crate) fn breakdown(results: &Results, plane: &Plane) -> Attempt {
    let rows = words::rows(results, "breakdown_compute");
    let (mut bars, mut cells) = (Vec::new(), Vec::new());
    for (at, configuration) in plane.configurations.iter().enumerate() {
        for (row, (policy, _)) in rows.iter().enumerate() {
            let parts = PARTS.iter().map(|part| share(results, configuration, policy, part));
            let Some(parts) = parts.collect::<Option<Vec<_>>>() else { continue };
            bars.push(Bar {
                configuration: at,
                policy: row,
                shares: parts.iter().map(|(share, _)| *share).collect(),
            });
            cells.extend(parts.into_iter().flat_map(|(_, cells)| cells));
        }
    }
    let Some(title) = titles::breakdown(&Table::of(results)) else {
        return Err(Refusal::Pointless("no run completed".into()));
    };
    // Parts that are nowhere to be seen have no entry.
    let seen = |at: &usize| bars.iter().any(|bar| bar.shares[*at] >= 0.0005);
    let parts: Vec<usize> = (0..PARTS.len()).filter(seen).collect();
    let key =
        |at: &usize| (Key::Area(PARTS[*at].colour, PARTS[*at].hatch, LINES), PARTS[*at].words.to_owned());
    let layout = Layout::of(plane, &rows)?;
    let words = Frame {
        title: title.clone(),
        about: format!(
            "Where the time of all cpus went: mean share of cpus x makespan; {}{}",
            words::setting(results),
            plane.remark() + &layout.remark(plane)
        ),
        legend: parts.iter().map(key).collect(),
        source: words::source(results),
    };
    let about = words.about.clone();
    let svg = draw(&words, &layout, &bars).map_err(Refusal::Fault)?;
    Ok(Figure { name: "breakdown", title, about, svg, data: figure::Table::of_cells(cells) })
}

/// The mean share of a part with its cells.
fn share<'a>(
    results: &'a Results,
    configuration: &str,
    policy: &str,
    part: &Part,
) -> Option<(f64, Vec<&'a Cell>)> {
    let cells = part.metrics.iter().map(|metric| cell(results, configuration, policy, ALL_APPS, metric));
    let cells = cells.collect::<Option<Vec<_>>>()?;
    Some((cells.iter().map(|c| c.summary.mean).sum(), cells))
}

fn draw(words: &Frame, layout: &Layout, bars: &[Bar]) -> Result<String, String> {
    let Sheet { left, labels, names, grid } = layout.sheet(&layout.panels, 3, ROW);
    frame::compose(words, grid.height, |canvas, body| {
        for (at, panel) in grid.within(body).into_iter().enumerate() {
            if let Some(lines) = names.get(at) {
                frame::write_name(canvas, panel, lines);
            }
            let axis = Axis::exact(0.0, 100.0, panel.x, panel.right());
            frame::lower_axis(canvas, panel, &axis);
            if grid.first(at) {
                for (number, label) in labels.iter().enumerate() {
                    canvas.text((body.x, panel.y + (number as f64 + 0.5) * ROW), label, Letters::new(LABEL));
                }
            }
            for bar in bars {
                let (own, row) = layout.place(bar.configuration, bar.policy);
                if own == at {
                    draw_bar(canvas, Area { y: panel.y + row as f64 * ROW, ..panel }, bar);
                }
            }
        }
        frame::axis_title(canvas, body, left, "share of all cpu time, %");
    })
}

/// A bar in the row that begins where `panel` does.
fn draw_bar(canvas: &mut Canvas<'_>, panel: Area, bar: &Bar) {
    let y = panel.y + (ROW - BAR) / 2.0;
    let mut x = panel.x;
    for (part, share) in PARTS.iter().zip(&bar.shares) {
        let area = Area { x, y, width: share * panel.width, height: BAR };
        x += area.width;
        if area.width < 0.25 {
            continue;
        }
        canvas.hatched(area, part.colour, part.hatch, LINES);
        canvas.frame(area, INK, 0.5);
        let text = format!("{:.0}", share * 100.0);
        let wide = font::width(&text, 10.0);
        if wide + 8.0 < area.width {
            let middle = (area.x + area.width / 2.0, y + BAR / 2.0);
            if part.hatch != Hatch::None {
                // A clean patch behind the digits.
                let patch =
                    Area { x: middle.0 - wide / 2.0 - 2.0, y: y + 2.0, width: wide + 4.0, height: BAR - 4.0 };
                canvas.fill(patch, part.colour);
            }
            let letters = Letters::new(10.0).at(Anchor::Middle).in_colour(part.colour.letters());
            canvas.text(middle, &text, letters);
        }
    }
}
