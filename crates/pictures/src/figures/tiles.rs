//! The drawing of a heat map: coloured tiles with their values, columns named by one line for each swept
//! parameter, and a scale.

use crate::canvas::axis::{Axis, Kind, extremes};
use crate::canvas::font;
use crate::canvas::palette::{INK, MUTED, PAPER, sequential};
use crate::canvas::{Anchor, Area, Canvas, Letters, Picture};
use experiment::statements::title::Place;

use crate::figures::frame::{self, Frame, LABEL};
use crate::figures::page::Page;
use crate::figures::words::number;

const ROW: f64 = 24.0;
/// Space between maps side by side.
const GUTTER: f64 = 22.0;
/// Maps of at most so many columns stand side by side.
const NARROW: usize = 6;
/// The least width of a tile of maps side by side.
const TILE: f64 = 28.0;
/// Most pixels of a label at the left, and of one that reads upwards.
pub(crate) const MOST_LEFT: f64 = 190.0;
const MOST_LABEL: f64 = 110.0;
/// Height of the line of a parameter below the map.
const LEVEL: f64 = 20.0;
/// Height of the scale with its space.
const SCALE: f64 = 44.0;

/// A coloured cell.
pub(crate) struct Tile {
    pub(crate) panel: usize,
    pub(crate) row: usize,
    pub(crate) column: usize,
    pub(crate) value: f64,
    /// What it is about, for the title.
    pub(crate) place: Place,
}

/// A parameter and its value in each column.
pub(crate) struct Level {
    pub(crate) name: String,
    pub(crate) values: Vec<String>,
}

/// A map.
pub(crate) struct Map {
    pub(crate) panels: Vec<String>,
    pub(crate) rows: Vec<String>,
    /// What rows are, where that does not speak for itself.
    pub(crate) side: String,
    /// What columns are: the parameter that changes from column to column first.
    pub(crate) levels: Vec<Level>,
    pub(crate) tiles: Vec<Tile>,
    /// What the scale measures, and the length of its unit.
    pub(crate) scale: String,
    pub(crate) length: f64,
    /// Whether colours follow ratios.
    pub(crate) log: bool,
}

impl Map {
    /// The number of columns.
    pub(crate) fn columns(&self) -> usize {
        self.levels.first().map_or(0, |level| level.values.len())
    }

    /// The name of a column.
    pub(crate) fn column(&self, at: usize) -> String {
        let values: Vec<&str> = self.levels.iter().rev().map(|level| level.values[at].as_str()).collect();
        values.join(", ")
    }
}

/// Sizes of a map.
struct Sizes {
    /// Width of the labels at the left, and the most that one may have.
    left: f64,
    most: f64,
    /// Maps side by side.
    across: usize,
    /// Width and height of the tiles of a map.
    width: f64,
    height: f64,
    /// Space above and below a map.
    head: f64,
    foot: f64,
    /// Height of the innermost parameter's labels, and whether they read upwards.
    first: f64,
    upwards: bool,
    /// The names of maps in lines.
    names: Vec<Vec<String>>,
}

impl Sizes {
    fn of(map: &Map, page: Page) -> Self {
        let texts = map.rows.iter().chain(map.levels.iter().map(|level| &level.name)).chain([&map.side]);
        let widest = texts.map(|text| font::width(text, LABEL)).fold(0.0, f64::max);
        let most = page.left(MOST_LEFT);
        let left = widest.min(most) + 12.0;
        let wide = |across: usize| (page.body() - left - GUTTER * (across - 1) as f64) / across as f64;
        let two = map.columns() <= NARROW && wide(2) >= TILE * map.columns() as f64;
        let across = if two { map.panels.len().clamp(1, 2) } else { 1 };
        let width = wide(across);
        let inner = map.levels.first().map_or(&[][..], |level| &level.values);
        let longest = inner.iter().map(|text| font::width(text, LABEL)).fold(0.0, f64::max);
        let upwards = longest + 6.0 > width / map.columns() as f64;
        let first = if upwards { longest.min(MOST_LABEL) + 10.0 } else { LEVEL };
        let foot = first + LEVEL * map.levels.len().saturating_sub(1) as f64 + 8.0;
        let names: Vec<Vec<String>> =
            map.panels.iter().map(|name| font::wrapped(name, LABEL, width / 1.13)).collect();
        let lines = names.iter().map(Vec::len).max().unwrap_or(1);
        let head = lines as f64 * 15.0 + 8.0;
        Self {
            left,
            most,
            across,
            width,
            height: ROW * map.rows.len() as f64,
            head,
            foot,
            first,
            upwards,
            names,
        }
    }

    fn down(&self, map: &Map) -> usize {
        map.panels.len().div_ceil(self.across)
    }

    /// Where a map lies in a body.
    fn panel(&self, at: usize, body: Area) -> Area {
        let (row, column) = (at / self.across, at % self.across);
        let tall = self.head + self.height + self.foot;
        Area {
            x: body.x + self.left + column as f64 * (self.width + GUTTER),
            y: body.y + row as f64 * tall + self.head,
            width: self.width,
            height: self.height,
        }
    }
}

/// The least and the largest value, and whether colours follow ratios.
#[derive(Clone, Copy)]
struct Shades {
    low: f64,
    high: f64,
    log: bool,
}

impl Shades {
    /// How dark a value is, from 0 to 1.
    fn part(&self, value: f64) -> f64 {
        if self.log {
            libm::log(value / self.low) / libm::log(self.high / self.low)
        } else {
            (value - self.low) / (self.high - self.low)
        }
    }
}

/// A map with its colour scale.
pub(crate) fn draw(words: &Frame, map: &Map) -> Result<Picture, String> {
    let (low, high) = extremes(map.tiles.iter().map(|t| t.value / map.length)).ok_or("no value is finite")?;
    let (low, high) = if high > low { (low, high) } else { (low - 0.5, low + 0.5) };
    let shades = Shades { low, high, log: map.log };
    let sizes = Sizes::of(map, words.page);
    let height = sizes.down(map) as f64 * (sizes.head + sizes.height + sizes.foot);
    let picture = frame::compose(words, height + SCALE, |canvas, body| {
        for (at, name) in sizes.names.iter().enumerate() {
            let panel = sizes.panel(at, body);
            for (line, text) in name.iter().rev().enumerate() {
                let at = (panel.x, panel.y - 10.0 - line as f64 * 15.0);
                canvas.text(at, text, Letters::new(LABEL).bold());
            }
            if at.is_multiple_of(sizes.across) {
                left_labels(canvas, body, panel, map, &sizes);
            }
            for tile in map.tiles.iter().filter(|tile| tile.panel == at) {
                draw_tile(canvas, panel, tile, map, shades);
            }
            columns(canvas, panel, map, &sizes);
        }
        scale(canvas, body, map, shades);
    });
    Ok(picture)
}

/// Names of the rows, and of the parameters below the map.
fn left_labels(canvas: &mut Canvas, body: Area, panel: Area, map: &Map, sizes: &Sizes) {
    let fit = |text: &str| font::squeezed(text, LABEL, sizes.most);
    let muted = Letters::new(LABEL).in_colour(MUTED);
    canvas.text((body.x, panel.y - 10.0), &fit(&map.side), muted);
    for (number, label) in map.rows.iter().enumerate() {
        let middle = panel.y + (number as f64 + 0.5) * ROW;
        canvas.text((body.x, middle), &fit(label), Letters::new(LABEL));
    }
    for (level, of) in map.levels.iter().enumerate() {
        canvas.text((body.x, level_middle(panel, level, sizes)), &fit(&of.name), muted);
    }
}

/// The middle of the line of a parameter.
fn level_middle(panel: Area, level: usize, sizes: &Sizes) -> f64 {
    match level {
        0 => panel.bottom() + 11.0,
        _ => panel.bottom() + sizes.first + LEVEL * (level as f64 - 0.5) + 2.0,
    }
}

fn draw_tile(canvas: &mut Canvas, panel: Area, tile: &Tile, map: &Map, shades: Shades) {
    let wide = panel.width / map.columns() as f64;
    let area = Area {
        x: panel.x + tile.column as f64 * wide,
        y: panel.y + tile.row as f64 * ROW,
        width: wide,
        height: ROW,
    };
    let value = tile.value / map.length;
    let colour = sequential(shades.part(value));
    canvas.fill(area, colour);
    canvas.frame(area, PAPER, 1.0);
    let text = number(value);
    if font::width(&text, 10.0) + 4.0 < wide {
        let middle = (area.x + wide / 2.0, area.y + ROW / 2.0);
        canvas.text(middle, &text, Letters::new(10.0).at(Anchor::Middle).in_colour(colour.letters()));
    }
}

/// The values of each parameter below their columns; equal neighbours share one.
fn columns(canvas: &mut Canvas, panel: Area, map: &Map, sizes: &Sizes) {
    let wide = panel.width / map.columns() as f64;
    for (number, level) in map.levels.iter().enumerate() {
        let y = level_middle(panel, number, sizes);
        for (from, to) in spans(&map.levels[number..]) {
            let (left, right) = (panel.x + from as f64 * wide, panel.x + to as f64 * wide);
            let (middle, text) = (f64::midpoint(left, right), &level.values[from]);
            if number == 0 && sizes.upwards {
                let text = font::shortened(text, LABEL, MOST_LABEL);
                let letters = Letters { upwards: true, ..Letters::new(LABEL).at(Anchor::End) };
                canvas.text((middle, panel.bottom() + 6.0), &text, letters);
                continue;
            }
            if number > 0 {
                canvas.line(&[(left + 2.0, y - 9.0), (right - 2.0, y - 9.0)], MUTED, 0.75);
            }
            let text = font::shortened(text, LABEL, right - left - 4.0);
            canvas.text((middle, y), &text, Letters::new(LABEL).at(Anchor::Middle));
        }
    }
}

/// Runs of neighbouring columns with the same value on the first of these levels and on all beyond it.
fn spans(levels: &[Level]) -> Vec<(usize, usize)> {
    let count = levels.first().map_or(0, |level| level.values.len());
    let mut spans: Vec<(usize, usize)> = Vec::new();
    for at in 0..count {
        match spans.last_mut() {
            Some((from, to)) if levels.iter().all(|l| l.values[*from] == l.values[at]) => *to = at + 1,
            _ => spans.push((at, at + 1)),
        }
    }
    spans
}

/// The colours with their values, below everything.
fn scale(canvas: &mut Canvas, body: Area, map: &Map, shades: Shades) {
    let strip =
        Area { x: body.x + 8.0, y: body.bottom() - 36.0, width: (body.width * 0.4).min(220.0), height: 12.0 };
    let steps = 44;
    for step in 0..steps {
        let part = f64::from(step) / f64::from(steps - 1);
        let x = strip.x + strip.width * f64::from(step) / f64::from(steps);
        canvas.fill(Area { x, width: strip.width / f64::from(steps) + 0.5, ..strip }, sequential(part));
    }
    canvas.frame(strip, MUTED, 0.75);
    let kind = if shades.log { Kind::Log } else { Kind::Linear };
    let axis = Axis::exact(kind, shades.low, shades.high, strip.x, strip.right());
    for (value, text) in axis.labels(5) {
        let x = axis.place(value);
        canvas.line(&[(x, strip.bottom()), (x, strip.bottom() + 4.0)], INK, 1.0);
        canvas.text((x, strip.bottom() + 12.0), &text, Letters::new(10.0).at(Anchor::Middle));
    }
    let what = format!("{}; darker is slower", frame::measured(&map.scale, &axis));
    let lines = font::wrapped(&what, LABEL, body.right() - strip.right() - 14.0);
    let top = strip.y + 6.0 - 7.0 * (lines.len() as f64 - 1.0);
    for (number, line) in lines.iter().enumerate() {
        let at = (strip.right() + 14.0, top + 14.0 * number as f64);
        canvas.text(at, line, Letters::new(LABEL));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn level(values: &[&str]) -> Level {
        Level { name: "x".into(), values: values.iter().map(|value| (*value).to_owned()).collect() }
    }

    #[test]
    fn equal_neighbours_share_a_label_unless_an_outer_parameter_differs() {
        let levels = [level(&["1", "1", "1", "1"]), level(&["a", "a", "b", "b"])];
        assert_eq!(spans(&levels), [(0, 2), (2, 4)]);
        assert_eq!(spans(&levels[1..]), [(0, 2), (2, 4)]);
        assert_eq!(spans(&[level(&["a", "b", "b"])]), [(0, 1), (1, 3)]);
    }

    #[test]
    fn shades_follow_ratios_or_differences() {
        let log = Shades { low: 1.0, high: 100.0, log: true };
        assert!((log.part(10.0) - 0.5).abs() < 1e-9);
        let linear = Shades { low: 1.0, high: 3.0, log: false };
        assert!((linear.part(2.0) - 0.5).abs() < 1e-9);
    }
}
