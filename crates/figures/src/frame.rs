//! The frame around every figure: its message, what it shows, the legend, the source; and panels in a grid.

use drawing::axis::Axis;
use drawing::canvas::{self, Anchor, Area, Canvas, Letters};
use drawing::font;
use drawing::palette::{Colour, Dash, GRID, Hatch, INK, MUTED, Mark};

use crate::Refusal;
use crate::plane::Plane;
use crate::words::{self, Row};

/// Width of every figure in pixels.
pub(crate) const WIDTH: f64 = 780.0;
/// Space to the edges.
const EDGE: f64 = 14.0;
/// Font sizes: message, what is shown, labels, source.
const TITLE: f64 = 16.0;
const ABOUT: f64 = 12.0;
pub(crate) const LABEL: f64 = 11.5;
const SOURCE: f64 = 9.5;
/// Space between panels.
const GUTTER: f64 = 18.0;

/// What a legend entry shows.
#[derive(Clone, Copy)]
pub(crate) enum Key {
    /// A mark.
    Mark(Mark, Colour),
    /// A line with a mark.
    Line(Colour, Mark, Dash),
    /// A hatched area.
    Area(Colour, Hatch, Colour),
}

/// The words around a figure.
pub(crate) struct Frame {
    pub(crate) title: String,
    pub(crate) about: String,
    pub(crate) legend: Vec<(Key, String)>,
    pub(crate) source: String,
}

/// Draws a figure: `draw` gets the area below the legend, as wide as the figure and `height` pixels high.
pub(crate) fn compose(
    frame: &Frame,
    height: f64,
    draw: impl FnOnce(&mut Canvas<'_>, Area),
) -> Result<String, String> {
    let width = WIDTH - 2.0 * EDGE;
    // Bold letters are about an eighth wider.
    let title = font::wrapped(&frame.title, TITLE, width / 1.13);
    let about = font::wrapped(&frame.about, ABOUT, width);
    let legend = legend_lines(&frame.legend, width);
    let head = 12.0 + title.len() as f64 * 21.0 + about.len() as f64 * 16.0 + 6.0;
    let keys = legend.len() as f64 * 20.0 + if legend.is_empty() { 0.0 } else { 6.0 };
    let full = head + keys + height + 24.0;
    canvas::svg((WIDTH, full), &frame.title, |canvas| {
        let mut y = 12.0;
        for line in &title {
            canvas.text((EDGE, y + 10.0), line, Letters::new(TITLE).bold());
            y += 21.0;
        }
        for line in &about {
            canvas.text((EDGE, y + 8.0), line, Letters::new(ABOUT).in_colour(MUTED));
            y += 16.0;
        }
        for (row, entries) in legend.iter().enumerate() {
            for (x, entry) in entries {
                draw_key(canvas, EDGE + x, head + row as f64 * 20.0 + 9.0, &frame.legend[*entry]);
            }
        }
        draw(canvas, Area { x: EDGE, y: head + keys, width, height });
        let source = font::shortened(&frame.source, SOURCE, width);
        canvas.text(
            (WIDTH - EDGE, full - 11.0),
            &source,
            Letters::new(SOURCE).in_colour(MUTED).at(Anchor::End),
        );
    })
}

/// Width of a key without its text.
const KEY: f64 = 30.0;

/// The entries of each line of the legend with their places.
fn legend_lines(legend: &[(Key, String)], width: f64) -> Vec<Vec<(f64, usize)>> {
    let mut lines: Vec<Vec<(f64, usize)>> = Vec::new();
    let mut x = 0.0;
    for (at, (_, text)) in legend.iter().enumerate() {
        let wide = KEY + font::width(text, LABEL) + 18.0;
        if lines.is_empty() || x + wide - 18.0 > width {
            lines.push(Vec::new());
            x = 0.0;
        }
        if let Some(line) = lines.last_mut() {
            line.push((x, at));
        }
        x += wide;
    }
    lines
}

fn draw_key(canvas: &mut Canvas<'_>, x: f64, y: f64, (key, text): &(Key, String)) {
    match *key {
        Key::Mark(mark, colour) => canvas.mark((x + 14.0, y), mark, 9.0, colour),
        Key::Line(colour, mark, dash) => {
            canvas.dashed(&[(x, y), (x + 25.0, y)], colour, 2.0, dash);
            canvas.mark((x + 12.5, y), mark, 8.0, colour);
        }
        Key::Area(colour, hatch, lines) => {
            let area = Area { x, y: y - 6.0, width: 24.0, height: 12.0 };
            canvas.hatched(area, colour, hatch, lines);
            canvas.frame(area, INK, 0.5);
        }
    }
    canvas.text((x + KEY, y), text, Letters::new(LABEL));
}

/// Panels in a grid that share the labels at the left and the axis below.
pub(crate) struct Grid {
    /// The plotting area of each panel.
    pub(crate) panels: Vec<Area>,
    /// Panels side by side.
    pub(crate) columns: usize,
    /// Height of everything.
    pub(crate) height: f64,
    /// Width of the labels at the left.
    pub(crate) left: f64,
}

/// Sizes of a grid.
pub(crate) struct Sizes {
    /// Number of panels.
    pub(crate) panels: usize,
    /// At most so many side by side.
    pub(crate) most: usize,
    /// Height of the plotting area of a panel.
    pub(crate) height: f64,
    /// Space at the left of each row, or of each panel.
    pub(crate) left: f64,
    /// Whether each panel has labels of its own at its left.
    pub(crate) own: bool,
    /// Space above each panel for its name.
    pub(crate) head: f64,
    /// Space below each row for the axis.
    pub(crate) foot: f64,
}

impl Grid {
    pub(crate) fn of(sizes: &Sizes) -> Self {
        let columns = sizes.panels.min(sizes.most).max(1);
        let rows = sizes.panels.div_ceil(columns);
        let gutters = GUTTER * (columns - 1) as f64;
        let labels = if sizes.own { sizes.left * columns as f64 } else { sizes.left };
        let width = (WIDTH - 2.0 * EDGE - labels - gutters) / columns as f64;
        let tall = sizes.head + sizes.height + sizes.foot;
        let panel = |at: usize| {
            let (row, column) = ((at / columns) as f64, (at % columns) as f64);
            let own = if sizes.own { sizes.left } else { 0.0 };
            let first = if sizes.own { 0.0 } else { sizes.left };
            Area {
                x: first + column * (width + GUTTER + own) + own,
                y: row * tall + sizes.head,
                width,
                height: sizes.height,
            }
        };
        let panels = (0..sizes.panels).map(panel).collect();
        Self { panels, columns, height: rows as f64 * tall + 22.0, left: sizes.left }
    }

    /// The panels where the figure's body begins at `body`.
    pub(crate) fn within(&self, body: Area) -> Vec<Area> {
        self.panels.iter().map(|p| Area { x: p.x + body.x, y: p.y + body.y, ..*p }).collect()
    }

    /// Whether a panel is the first of its row.
    pub(crate) const fn first(&self, panel: usize) -> bool {
        panel.is_multiple_of(self.columns)
    }
}

/// What stands in rows and what in panels: policies in the panels of configurations, or configurations in the panel of the only policy.
pub(crate) struct Layout {
    /// Names of the panels; empty ones are not written.
    pub(crate) panels: Vec<String>,
    /// Names of the rows.
    pub(crate) rows: Vec<String>,
    turned: bool,
}

/// Panels that share the labels of their rows.
pub(crate) struct Sheet {
    /// Width of the labels.
    pub(crate) left: f64,
    pub(crate) labels: Vec<String>,
    /// The lines of each panel's name.
    pub(crate) names: Vec<Vec<String>>,
    pub(crate) grid: Grid,
}

impl Layout {
    /// The sheet of panels of these names, at most so many side by side, with one row of this height for each of the layout's rows.
    pub(crate) fn sheet(&self, panels: &[String], most: usize, row: f64) -> Sheet {
        let (left, labels) = row_labels(self.rows.iter().map(String::as_str));
        let height = row * labels.len() as f64;
        let sizes = |head| Sizes { panels: panels.len(), most, height, left, own: false, head, foot: 26.0 };
        let width = Grid::of(&sizes(0.0)).panels.first().map_or(100.0, |p| p.width);
        let (names, head) = names(panels, width);
        Sheet { left, labels, names, grid: Grid::of(&sizes(head)) }
    }

    /// `rows` are the policies with their words, references included.
    ///
    /// # Errors
    /// Why they do not fit one picture.
    pub(crate) fn of(plane: &Plane, rows: &[Row<'_>]) -> Result<Self, Refusal> {
        let policies: Vec<String> = rows.iter().map(|(_, words)| words.clone()).collect();
        let own = rows.iter().filter(|(label, _)| !words::is_reference(label)).count();
        let turned = own == 1 && plane.configurations.len() > 1;
        let words = |configuration| {
            if turned { plane.sweep.values(configuration) } else { plane.sweep.short(configuration) }
        };
        let configurations: Vec<String> = (0..plane.configurations.len()).map(words).collect();
        let (panels, rows) = if turned { (policies, configurations) } else { (configurations, policies) };
        if panels.len() > MOST_PANELS {
            return Err(too_many(panels.len(), "panels"));
        }
        if rows.len() > MOST_ROWS {
            return Err(too_many(rows.len(), "rows"));
        }
        Ok(Self { panels, rows, turned })
    }

    /// What the rows are where that does not speak for itself, as an addition to what is shown.
    pub(crate) fn remark(&self, plane: &Plane) -> String {
        if self.turned { format!("; rows: {}", plane.sweep.names()) } else { String::new() }
    }

    /// Panel and row of a configuration and a policy.
    pub(crate) const fn place(&self, configuration: usize, policy: usize) -> (usize, usize) {
        if self.turned { (policy, configuration) } else { (configuration, policy) }
    }
}

/// More panels than this do not fit one picture, nor do more rows.
pub(crate) const MOST_PANELS: usize = 12;
const MOST_ROWS: usize = 60;

/// The refusal of a picture of too many parts.
pub(crate) fn too_many(count: usize, what: &str) -> Refusal {
    let most = if what == "rows" { MOST_ROWS } else { MOST_PANELS };
    Refusal::Pointless(format!(
        "{count} {what} do not fit one picture (at most {most}): sweep over less, or choose policies"
    ))
}

/// Lines that the name of a panel takes at most.
const NAME_LINES: usize = 3;

/// The names of panels broken into lines for panels of this width, and the space they need above.
pub(crate) fn names(names: &[String], width: f64) -> (Vec<Vec<String>>, f64) {
    let lines = |name: &String| {
        let mut lines = font::wrapped(name, LABEL, width / 1.13);
        lines.truncate(NAME_LINES);
        lines.iter().map(|line| font::shortened(line, LABEL, width / 1.13)).collect::<Vec<_>>()
    };
    let all: Vec<Vec<String>> = names.iter().map(lines).collect();
    let most = all.iter().map(Vec::len).max().unwrap_or(0);
    (all, if most == 0 { 6.0 } else { most as f64 * 15.0 + 12.0 })
}

/// Writes the name of a panel above it.
pub(crate) fn write_name(canvas: &mut Canvas<'_>, panel: Area, lines: &[String]) {
    for (at, line) in lines.iter().rev().enumerate() {
        canvas.text((panel.x, panel.y - 10.0 - at as f64 * 15.0), line, Letters::new(LABEL).bold());
    }
}

/// A grid line and a number below the panel for each label of the axis.
pub(crate) fn lower_axis(canvas: &mut Canvas<'_>, panel: Area, axis: &Axis) {
    let mut free = f64::NEG_INFINITY;
    for (value, text) in axis.labels((panel.width / 38.0) as usize) {
        let x = axis.place(value);
        canvas.line(&[(x, panel.y), (x, panel.bottom())], GRID, 1.0);
        let half = font::width(&text, LABEL) / 2.0;
        // Labels at the ends stay beside their panel, or they run into those of the next one.
        let middle = x.clamp(panel.x + half - 5.0, panel.right() - half + 5.0);
        if middle - half > free {
            canvas.text((middle, panel.bottom() + 11.0), &text, Letters::new(LABEL).at(Anchor::Middle));
            free = middle + half + 4.0;
        }
    }
    canvas.line(&[(panel.x, panel.bottom()), (panel.right(), panel.bottom())], MUTED, 1.0);
}

/// A grid line and a number at the left of the panel for each label of the axis.
pub(crate) fn left_axis(canvas: &mut Canvas<'_>, panel: Area, axis: &Axis) {
    for (value, text) in axis.labels((panel.height / 28.0) as usize) {
        let y = axis.place(value);
        canvas.line(&[(panel.x, y), (panel.right(), y)], GRID, 1.0);
        canvas.text((panel.x - 6.0, y), &text, Letters::new(LABEL).at(Anchor::End));
    }
}

/// What the lower axis measures, below everything.
pub(crate) fn axis_title(canvas: &mut Canvas<'_>, body: Area, left: f64, text: &str) {
    let middle = body.x + left + (body.width - left) / 2.0;
    canvas.text((middle, body.bottom() - 10.0), text, Letters::new(ABOUT).at(Anchor::Middle));
}

/// Most pixels of a label at the left.
const MOST_LEFT: f64 = 190.0;

/// The width that row labels take, and the labels cut to it.
pub(crate) fn row_labels<'a>(names: impl Iterator<Item = &'a str>) -> (f64, Vec<String>) {
    let labels: Vec<String> = names.map(|name| font::squeezed(name, LABEL, MOST_LEFT)).collect();
    let width = labels.iter().map(|label| font::width(label, LABEL)).fold(0.0, f64::max);
    (width + 12.0, labels)
}
