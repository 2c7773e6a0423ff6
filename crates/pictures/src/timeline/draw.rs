//! The picture of a timeline: a panel per run on one time axis, a line per cpu, coloured by application or
//! thread, shaded by state.

use crate::canvas::axis::times;
use crate::canvas::{Anchor, Canvas, Letters, Picture, font};
use crate::timeline::frame::Frame;
use crate::timeline::legend::Legend;
use crate::timeline::palette::Palette;
use crate::timeline::panel::{self, LABEL, Panels};
use crate::timeline::runs::Timeline;
use crate::timeline::seen::Seen;

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
/// The strip below a row that shows the length of the queue.
const QUEUE: f64 = 9.0;
/// Between two nodes.
const NODE_GAP: f64 = 4.0;
/// Between two panels.
const PANEL_GAP: f64 = 18.0;

const TITLE: Letters = Letters::new(20.0).bold();
const WHY: Letters = Letters::new(15.0);
const HEADING: Letters = Letters::new(16.0).bold();
const AXIS: Letters = Letters::new(13.0).at(Anchor::Middle);

/// The picture of a timeline; `title` names the scenario and its configuration. The same timeline gives the
/// same bytes on every machine.
#[must_use]
pub fn picture(timeline: &Timeline, title: &str) -> Picture {
    let palette = Palette::new(timeline);
    let rows = (timeline.rows.len() * timeline.tracks.len()).max(1) as f64;
    let highest = if timeline.single_cpus() { HIGHEST_ROW } else { HIGHEST_SHARED_ROW };
    let frame = Frame {
        left: MARGIN + label_width(timeline, &palette) + 8.0,
        right: WIDTH - MARGIN - 8.0,
        row: (ROWS_HEIGHT / rows).clamp(LOWEST_ROW, highest).floor(),
        queue: if timeline.shows_queues() { QUEUE } else { 0.0 },
        node_gap: NODE_GAP,
        margin: MARGIN,
        window: (timeline.window.from, timeline.window.to),
        marked: timeline.inset.as_ref().map(|inset| (inset.window.from, inset.window.to)),
    };
    let panels = Panels { timeline, frame: &frame, palette: &palette };
    let all = |canvas: &mut Canvas, seen: &mut Seen, y: f64| {
        timeline.tracks.iter().fold(y, |y, track| panels.panel(canvas, seen, track, y + PANEL_GAP))
    };
    // What can be seen is known when all is drawn, and the legend comes first.
    let mut seen = Seen::default();
    all(&mut Canvas::default(), &mut seen, 0.0);
    let mut canvas = Canvas::default();
    let mut y = head(&mut canvas, timeline, title);
    let legend = Legend { timeline, palette: &palette, seen: &seen };
    y = legend.draw(&mut canvas, (MARGIN, WIDTH - MARGIN), y);
    y = all(&mut canvas, &mut Seen::default(), y);
    y = time_axis(&mut canvas, timeline, &frame, y);
    if let Some(inset) = &timeline.inset {
        y = magnified(&mut canvas, inset, &frame, &palette, y);
    }
    canvas.finish((WIDTH, (y + MARGIN).ceil()), &description(timeline, title))
}

/// The part that is magnified, below the whole; the y below it.
fn magnified(canvas: &mut Canvas, inset: &Timeline, frame: &Frame, palette: &Palette, y: f64) -> f64 {
    let frame = Frame {
        row: HIGHEST_ROW,
        queue: 0.0,
        window: (inset.window.from, inset.window.to),
        marked: None,
        ..*frame
    };
    let y = y + PANEL_GAP;
    let text = format!("The marked part, magnified: {}", inset.headline());
    canvas.text((MARGIN, y + 7.0), &text, HEADING);
    let panels = Panels { timeline: inset, frame: &frame, palette };
    let seen = &mut Seen::default();
    let tracks = inset.tracks.iter();
    let y = tracks.fold(y + 10.0, |y, track| panels.panel(canvas, seen, track, y + PANEL_GAP));
    time_axis(canvas, inset, &frame, y)
}

/// The message, what is shown, window and why; the y below them.
fn head(canvas: &mut Canvas, timeline: &Timeline, title: &str) -> f64 {
    let width = WIDTH - 2.0 * MARGIN;
    let mut y = 8.0;
    let message = timeline.message();
    for line in font::wrapped(&message, TITLE, width) {
        y += 26.0;
        canvas.text((MARGIN, y - 6.0), &line, TITLE);
    }
    let mut lines = font::wrapped(title, WHY, width);
    lines.extend(font::wrapped(&timeline.headline(), WHY, width));
    for line in lines {
        y += 20.0;
        canvas.text((MARGIN, y - 4.0), &font::shortened(&line, WHY, width), WHY);
    }
    y + 10.0
}

/// The width of the column at the left.
fn label_width(timeline: &Timeline, palette: &Palette) -> f64 {
    let names = timeline.rows.iter().map(|row| font::width(&row.name, LABEL));
    let cpu = names.fold(0.0, f64::max);
    let groups = timeline.rows.iter().map(|row| font::width(&timeline.group(row), LABEL));
    let group = groups.fold(font::width("node 00 cpu ", LABEL), f64::max).min(panel::LANE_NAME);
    let node = if timeline.single_cpus() { group + 10.0 } else { 0.0 };
    let lanes = panel::lanes(timeline, palette).into_iter().map(|lane| font::width(&lane, LABEL));
    lanes.fold(cpu + node, f64::max)
}

/// The labels of the time axis below the last panel; the y below them.
fn time_axis(canvas: &mut Canvas, timeline: &Timeline, frame: &Frame, y: f64) -> f64 {
    let axis = times(timeline.window.from, timeline.window.to, 10);
    let (mut first, mut last) = (f64::MAX, f64::MIN);
    for (at, label) in &axis.ticks {
        let x = frame.x(*at);
        let half = font::width(label, AXIS) / 2.0;
        // Neither beyond the edge of the picture nor into its neighbour.
        let x = x.min(WIDTH - MARGIN - half);
        if x - half < last + 8.0 {
            continue;
        }
        canvas.text((x, y + 14.0), label, AXIS);
        (first, last) = (first.min(x), x + half);
    }
    let unit = format!("simulated time, {}", axis.unit);
    canvas.text((f64::midpoint(frame.left, frame.right), y + 34.0), &unit, AXIS);
    y + 42.0
}

/// What the picture shows, in words.
fn description(timeline: &Timeline, title: &str) -> String {
    let mut words = format!("Timeline of {}: {} {}", title, timeline.message(), timeline.headline());
    for track in &timeline.tracks {
        words.push_str(&format!(". {}: {}", track.label, timeline.facts(track)));
    }
    words
}
