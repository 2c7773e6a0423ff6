//! The picture of a timeline: a panel per run on one time axis, a line per cpu, coloured by application or thread, shaded by
//! state.

use crate::timeline::axis::axis;
use crate::timeline::legend::{self, Legend};
use crate::timeline::palette::Palette;
use crate::timeline::panel::{self, Canvas, Frame};
use crate::timeline::runs::Timeline;
use crate::timeline::seen::Seen;
use crate::timeline::svg::{Anchor, Font, Svg};

/// Width of the picture in pixels: that of a slide.
const WIDTH: f64 = 1280.0;
/// Space at the right and left edges.
const MARGIN: f64 = 16.0;
/// Height that all rows of the picture share, as far as they need not be higher or lower than the two limits.
const ROWS_HEIGHT: f64 = 560.0;
const HIGHEST_ROW: f64 = 28.0;
/// Rows of several cpus show shares: they may be higher.
const HIGHEST_SHARED_ROW: f64 = 44.0;
const LOWEST_ROW: f64 = 5.0;
/// Between two nodes.
const NODE_GAP: f64 = 4.0;
/// Between two panels.
const PANEL_GAP: f64 = 18.0;

const TITLE: Font = Font { size: 20.0, bold: true, pale: false };
const WHY: Font = Font { size: 15.0, bold: false, pale: false };
const AXIS: Font = Font { size: 13.0, bold: false, pale: false };
/// Text of the narrow column at the left.
pub(crate) const LABEL: Font = Font { size: 11.0, bold: false, pale: true };

/// What the picture is called.
#[derive(Clone, Copy, Debug)]
pub struct Caption<'a> {
    /// Above it: the scenario and its configuration.
    pub title: &'a str,
    /// Begin of the names that parts of the picture refer to each other by: two pictures on one page need two. Letters,
    /// digits and hyphens.
    pub prefix: &'a str,
}

/// The picture as SVG; the same timeline gives the same bytes on every machine.
#[must_use]
pub fn svg(timeline: &Timeline, caption: Caption<'_>) -> String {
    let palette = Palette::new(timeline);
    let rows = (timeline.rows.len() * timeline.tracks.len()).max(1) as f64;
    let highest = if timeline.single_cpus() { HIGHEST_ROW } else { HIGHEST_SHARED_ROW };
    let frame = Frame {
        left: MARGIN + label_width(timeline, &palette) + 8.0,
        right: WIDTH - MARGIN - 8.0,
        row: (ROWS_HEIGHT / rows).clamp(LOWEST_ROW, highest).floor(),
        node_gap: NODE_GAP,
        margin: MARGIN,
        window: (timeline.window.from, timeline.window.to),
    };
    let canvas = Canvas { timeline, frame: &frame, palette: &palette, prefix: caption.prefix };
    let panels = |svg: &mut Svg, seen: &mut Seen, y: f64| {
        timeline.tracks.iter().fold(y, |y, track| canvas.panel(svg, seen, track, y + PANEL_GAP))
    };
    // What can be seen is known when all is drawn, and the legend comes first.
    let mut seen = Seen::default();
    panels(&mut Svg::default(), &mut seen, 0.0);
    let mut svg = Svg::default();
    legend::patterns(&mut svg, &palette, &seen, caption.prefix);
    let mut y = head(&mut svg, timeline, caption);
    let legend = Legend { timeline, palette: &palette, prefix: caption.prefix, seen: &seen };
    y = legend.draw(&mut svg, (MARGIN, WIDTH - MARGIN), y);
    y = panels(&mut svg, &mut Seen::default(), y);
    y = time_axis(&mut svg, timeline, &frame, y);
    let words = description(timeline, caption);
    svg.finish(WIDTH, (y + MARGIN).ceil(), &words)
}

/// The message, what is shown, window and why; the y below them.
fn head(svg: &mut Svg, timeline: &Timeline, caption: Caption<'_>) -> f64 {
    let width = WIDTH - 2.0 * MARGIN;
    let mut y = 8.0;
    let message = timeline.message();
    for line in TITLE.wrap(&message, width) {
        y += 26.0;
        svg.text(MARGIN, y, TITLE, Anchor::Start, &line);
    }
    let mut lines = WHY.wrap(caption.title, width);
    lines.extend(WHY.wrap(&timeline.headline(), width));
    for line in lines {
        y += 20.0;
        svg.text(MARGIN, y, WHY, Anchor::Start, &WHY.fit(&line, width));
    }
    y + 10.0
}

/// The width of the column at the left.
fn label_width(timeline: &Timeline, palette: &Palette) -> f64 {
    let names = timeline.rows.iter().map(|row| LABEL.width(&row.name));
    let cpu = names.fold(0.0, f64::max);
    let node = if timeline.single_cpus() { LABEL.width("node 00 cpu ") + 10.0 } else { 0.0 };
    let lanes = panel::lanes(timeline, palette).into_iter().map(|lane| LABEL.width(&lane));
    lanes.fold(cpu + node, f64::max)
}

/// The labels of the time axis below the last panel; the y below them.
fn time_axis(svg: &mut Svg, timeline: &Timeline, frame: &Frame, y: f64) -> f64 {
    let axis = axis(timeline.window.from, timeline.window.to, 10);
    let (mut first, mut last) = (f64::MAX, f64::MIN);
    for (at, label) in &axis.ticks {
        let x = frame.x(*at);
        let half = AXIS.width(label) / 2.0;
        // Neither beyond the edge of the picture nor into its neighbour.
        let x = x.min(WIDTH - MARGIN - half);
        if x - half < last + 8.0 {
            continue;
        }
        svg.text(x, y + 18.0, AXIS, Anchor::Middle, label);
        (first, last) = (first.min(x), x + half);
    }
    let unit = format!("simulated time, {}", axis.unit);
    svg.text(f64::midpoint(frame.left, frame.right), y + 38.0, AXIS, Anchor::Middle, &unit);
    y + 42.0
}

/// What the picture shows, in words.
fn description(timeline: &Timeline, caption: Caption<'_>) -> String {
    let mut words = format!("Timeline of {}: {} {}", caption.title, timeline.message(), timeline.headline());
    for track in &timeline.tracks {
        words.push_str(&format!(". {}: {}", track.label, timeline.facts(track)));
    }
    words
}
