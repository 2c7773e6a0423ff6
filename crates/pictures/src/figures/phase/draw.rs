//! The drawing of a phase diagram: panels of cells, lines where the best policy changes, letters or names.

use std::collections::{BTreeMap, BTreeSet};

use experiment::number;
use experiment::response::Response;
use experiment::response::map::{Map, MapCell, Side};
use experiment::response::winners::Winner;

use super::legend::{self, Legend};
use super::look::{self, Looks};
use crate::canvas::font;
use crate::canvas::palette::{Colour, Fill, INK, MUTED, PAPER};
use crate::canvas::{Anchor, Area, Canvas, Letters, Picture};
use crate::figures::axis_names;
use crate::figures::frame::{self, Frame, LABEL};
use crate::figures::page::Page;

/// The most panels side by side, and the space between them.
const MOST_ACROSS: usize = 4;
const GUTTER: f64 = 20.0;
/// Space between panels one below the other.
const BETWEEN: f64 = 14.0;
/// The widest and the highest cell in pixels; panels stand side by side while cells have a good width.
const WIDEST: f64 = 92.0;
const HIGHEST: f64 = 34.0;
const GOOD: f64 = 20.0;
/// Height of a map of few rows, and the most of one of them.
const FEW: f64 = 150.0;
const TALLEST: f64 = 56.0;
/// The widest label of a row, and the longest upright one of a column.
const MOST_LEFT: f64 = 120.0;
const MOST_FOOT: f64 = 120.0;
/// Width of the name of the rows, height of the name of the columns.
const NAME: f64 = 20.0;
/// Letters in cells, in large regions, and at ticks.
const CELL: f64 = 10.0;
const LARGE: f64 = 16.0;
const TICK: f64 = 10.5;
/// Height of a line of a panel's title.
const TITLE: f64 = 15.0;
/// Edges of cells are drawn if they are this wide.
const EDGED: f64 = 7.0;
/// Up to this number of cells in a panel, each has a letter.
const LETTERED: usize = 200;

/// What is written into cells.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Inside {
    /// The name of the policy and the margin.
    Name,
    /// Its letter and the margin.
    LetterAndMargin,
    /// Its letter.
    Letter,
    /// A letter for each region that has room for it.
    Region,
}

/// Sizes in pixels.
struct Sizes {
    across: usize,
    left: f64,
    /// The widest label of a row.
    most: f64,
    /// Width of a panel with its space, and width and height of a cell.
    panel: f64,
    wide: f64,
    high: f64,
    head: f64,
    titles: Vec<Vec<String>>,
    columns: Vec<String>,
    rows: Vec<String>,
    upwards: bool,
    foot: f64,
    inside: Inside,
}

impl Sizes {
    fn of(response: &Response, map: &Map, looks: &Looks, page: Page) -> Self {
        let columns = labels(response, &map.x);
        let rows = map.y.as_ref().map_or_else(Vec::new, |side| labels(response, side));
        let widest = |all: &[String]| all.iter().map(|text| font::width(text, TICK)).fold(0.0, f64::max);
        let most = page.left(MOST_LEFT);
        let left = if map.y.is_some() { widest(&rows).min(most) + NAME + 8.0 } else { 2.0 };
        let (nx, ny) = (map.x.classes.len() as f64, map.rows() as f64);
        let space = |across: usize| (page.body() - left - GUTTER * (across - 1) as f64) / across as f64;
        // A map of few cells fills half of the page.
        let widest_cell = WIDEST.max(page.body() * 0.5 / nx);
        let cell = |across: usize| (space(across) / nx).min(widest_cell);
        let panels = map.panels.len();
        let fitting: Vec<usize> = (1..=panels.min(MOST_ACROSS)).rev().filter(|a| cell(*a) >= GOOD).collect();
        let even = fitting.iter().copied().find(|across| panels.is_multiple_of(*across));
        let across = even.or_else(|| fitting.first().copied()).unwrap_or(1);
        let wide = cell(across);
        let least = match map.rows() {
            0..=12 => 16.0,
            13..=40 => 11.0,
            _ => 6.0,
        };
        let highest = HIGHEST.max(FEW / ny).min(TALLEST);
        let high = if ny < 2.0 { HIGHEST } else { (wide * 0.62).clamp(least, highest) };
        let upwards = widest(&columns) + 6.0 > wide;
        let foot = if upwards { widest(&columns).min(MOST_FOOT) + 12.0 } else { 20.0 };
        let title = |setting: &Vec<String>| font::wrapped(&setting.join(", "), LABEL, space(across) / 1.13);
        let titles: Vec<Vec<String>> = map.panels.iter().map(title).collect();
        let lines = titles.iter().map(Vec::len).max().unwrap_or(0);
        let head = lines as f64 * TITLE + if lines > 0 { 5.0 } else { 2.0 };
        let inside = inside(response, map, looks, wide, high);
        Self {
            across,
            left,
            most,
            panel: space(across),
            wide,
            high,
            head,
            titles,
            columns,
            rows,
            upwards,
            foot,
            inside,
        }
    }

    fn down(&self) -> usize {
        self.titles.len().div_ceil(self.across)
    }

    /// Height of a row of panels with the space below; labels are below the last row only.
    fn tall(&self, map: &Map) -> f64 {
        self.head + self.high * map.rows() as f64 + BETWEEN
    }

    /// Height of all panels with the labels below.
    fn height(&self, map: &Map) -> f64 {
        self.down() as f64 * self.tall(map) - BETWEEN + self.foot
    }

    /// Where the cells of a panel are.
    fn place(&self, body: Area, map: &Map, panel: usize) -> Area {
        let (row, column) = (panel / self.across, panel % self.across);
        Area {
            x: body.x + self.left + column as f64 * (self.panel + GUTTER),
            y: body.y + row as f64 * self.tall(map) + self.head,
            width: self.wide * map.x.classes.len() as f64,
            height: self.high * map.rows() as f64,
        }
    }

    /// Where a cell is: numbers rise upwards, names read downwards.
    fn cell(&self, panel: Area, map: &Map, column: usize, row: usize) -> Area {
        let rising = map.y.as_ref().is_some_and(|side| side.ordered);
        let line = if rising { map.rows() - 1 - row } else { row };
        Area {
            x: panel.x + column as f64 * self.wide,
            y: panel.y + line as f64 * self.high,
            width: self.wide,
            height: self.high,
        }
    }
}

/// The most that fits into every cell.
fn inside(response: &Response, map: &Map, looks: &Looks, wide: f64, high: f64) -> Inside {
    let winners = map.winners();
    let fits = |text: &str, space: f64| font::width(text, Letters::new(CELL).bold()) + space <= wide;
    let names = looks.order.iter().all(|(policy, _)| fits(&response.policies[*policy], 8.0));
    let numbers = winners.iter().all(|(_, winner)| fits(&look::number(winner), 22.0));
    if names && numbers && high >= 27.0 {
        return Inside::Name;
    }
    if numbers && high >= 14.0 {
        return Inside::LetterAndMargin;
    }
    let few = map.x.classes.len() * map.rows() <= LETTERED;
    if few && high >= 11.0 && looks.order.iter().all(|(policy, _)| fits(&looks.letter(*policy), 3.0)) {
        return Inside::Letter;
    }
    Inside::Region
}

/// The label of each class of a side.
fn labels(response: &Response, side: &Side) -> Vec<String> {
    let axis = &response.axes[side.axis];
    let short = |value: f64| match axis.unit.as_str() {
        "s" => number::short_seconds(value),
        "share" => format!("{} %", number::short(value * 100.0)),
        "B" => number::bytes(value as u64),
        unit => format!("{} {unit}", number::short(value)).trim_end().to_owned(),
    };
    let label = |class: &experiment::response::map::Class| {
        let numbers = axis.numbers.as_ref().filter(|_| side.classed);
        let ends = [class.places.first(), class.places.last()];
        match (numbers, ends) {
            (Some(numbers), [Some(low), Some(high)]) if low != high => {
                format!("{} \u{2013} {}", short(numbers[*low]), short(numbers[*high]))
            }
            _ => class.ends[0].clone(),
        }
    };
    side.classes.iter().map(label).collect()
}

/// Draws it.
pub(super) fn draw(words: &Frame, response: &Response, map: &Map) -> Picture {
    let looks = Looks::of(map);
    let legend = Legend::of(response, map, &looks, words.page);
    let sizes = Sizes::of(response, map, &looks, words.page);
    let height = legend.height() + sizes.height(map) + NAME;
    frame::compose(words, height, |canvas, body| {
        legend.draw(canvas, body, &looks);
        let body = Area { y: body.y + legend.height(), height: body.height - legend.height(), ..body };
        for panel in 0..map.panels.len() {
            let area = sizes.place(body, map, panel);
            titles(canvas, area, &sizes.titles[panel]);
            let cells: Vec<&MapCell> = map.cells.iter().filter(|cell| cell.panel == panel).collect();
            fills(canvas, area, map, &sizes, &cells, &looks);
            borders(canvas, area, map, &sizes, &cells);
            match sizes.inside {
                Inside::Region => regions(canvas, area, map, &sizes, &cells, &looks),
                _ => texts(canvas, area, response, map, &sizes, &cells, &looks),
            }
            canvas.frame(area, INK, 1.0);
            // Below the last panel of each column, and beside the first panel of each row.
            columns(canvas, area, &sizes, panel + sizes.across >= map.panels.len());
            if panel % sizes.across == 0 {
                rows(canvas, area, map, &sizes);
            }
        }
        names(canvas, body, (response, map), &sizes);
    })
}

fn titles(canvas: &mut Canvas, panel: Area, lines: &[String]) {
    for (line, text) in lines.iter().rev().enumerate() {
        let at = (panel.x, panel.y - 10.0 - line as f64 * TITLE);
        canvas.text(at, text, Letters::new(LABEL).bold());
    }
}

/// The cells, those of one look together.
fn fills(canvas: &mut Canvas, panel: Area, map: &Map, sizes: &Sizes, cells: &[&MapCell], looks: &Looks) {
    let mut alike: BTreeMap<Fill, Vec<Area>> = BTreeMap::new();
    for cell in cells {
        let area = sizes.cell(panel, map, cell.column, cell.row);
        match &cell.winner {
            Some(winner) => alike.entry(looks.fill(winner).1).or_default().push(area),
            None => legend::crossed(canvas, area),
        }
    }
    canvas.crisp(|canvas| {
        for (fill, areas) in alike {
            canvas.fill_all(areas, fill);
        }
    });
    if sizes.wide < EDGED || sizes.high < EDGED {
        return;
    }
    for column in 1..map.x.classes.len() {
        let x = panel.x + column as f64 * sizes.wide;
        canvas.line(&[(x, panel.y), (x, panel.bottom())], PAPER, 0.75);
    }
    for row in 1..map.rows() {
        let y = panel.y + row as f64 * sizes.high;
        canvas.line(&[(panel.x, y), (panel.right(), y)], PAPER, 0.75);
    }
}

/// The best policy by column and row.
fn best(cells: &[&MapCell]) -> BTreeMap<(usize, usize), usize> {
    cells.iter().filter_map(|cell| Some(((cell.column, cell.row), cell.winner.as_ref()?.best))).collect()
}

/// Lines between neighbours with different policies; lines that continue each other are one.
fn borders(canvas: &mut Canvas, panel: Area, map: &Map, sizes: &Sizes, cells: &[&MapCell]) {
    let best = best(cells);
    let differ = |a: (usize, usize), b: (usize, usize)| {
        best.get(&a).zip(best.get(&b)).is_some_and(|(one, other)| one != other)
    };
    let mut draw = |from: Area, to: Area, upright: bool| {
        let (low, high) = (from.y.min(to.y), from.bottom().max(to.bottom()));
        let line = match upright {
            true => [(from.right(), low), (from.right(), high)],
            // Above the row in whatever direction rows run.
            false => [(from.x, from.y), (to.right(), from.y)],
        };
        canvas.line(&line, INK, 1.75);
    };
    let (nx, ny) = (map.x.classes.len(), map.rows());
    for column in 0..nx.saturating_sub(1) {
        for (from, to) in runs(ny, |row| differ((column, row), (column + 1, row))) {
            let cell = |row| sizes.cell(panel, map, column, row);
            draw(cell(from), cell(to), true);
        }
    }
    for row in 0..ny.saturating_sub(1) {
        for (from, to) in runs(nx, |column| differ((column, row), (column, row + 1))) {
            let lower = if sizes.cell(panel, map, 0, row).y > sizes.cell(panel, map, 0, row + 1).y {
                row
            } else {
                row + 1
            };
            let cell = |column| sizes.cell(panel, map, column, lower);
            draw(cell(from), cell(to), false);
        }
    }
}

/// The first and the last position of each run of positions that are marked.
fn runs(count: usize, marked: impl Fn(usize) -> bool) -> Vec<(usize, usize)> {
    let mut runs: Vec<(usize, usize)> = Vec::new();
    for at in (0..count).filter(|at| marked(*at)) {
        match runs.last_mut() {
            Some((_, last)) if *last + 1 == at => *last = at,
            _ => runs.push((at, at)),
        }
    }
    runs
}

/// A text in the middle of an area, on a plate in the colour of the ground where that is hatched.
fn plate(canvas: &mut Canvas, (x, y): (f64, f64), text: &str, letters: Letters, cell: (&Winner, Colour)) {
    let (winner, ground) = cell;
    let letters = letters.at(Anchor::Middle).in_colour(ground.letters());
    if winner.margin.is_some_and(|margin| margin.significant == Some(false)) {
        let (wide, high) = (font::width(text, letters) + 4.0, letters.size + 2.0);
        canvas.fill(Area { x: x - wide / 2.0, y: y - high / 2.0, width: wide, height: high }, ground);
    }
    canvas.text((x, y), text, letters);
}

/// Names or letters with margins in every cell.
fn texts(
    canvas: &mut Canvas,
    panel: Area,
    response: &Response,
    map: &Map,
    sizes: &Sizes,
    cells: &[&MapCell],
    looks: &Looks,
) {
    for cell in cells {
        let Some(winner) = &cell.winner else { continue };
        let area = sizes.cell(panel, map, cell.column, cell.row);
        let (x, y) = (area.x + area.width / 2.0, area.y + area.height / 2.0);
        let (look, number) = ((winner, looks.fill(winner).0), look::number(winner));
        let (bold, plain) = (Letters::new(CELL).bold(), Letters::new(CELL));
        let letter = looks.letter(winner.best);
        match sizes.inside {
            Inside::Name => {
                plate(canvas, (x, y - 6.0), &response.policies[winner.best], bold, look);
                if !number.is_empty() {
                    plate(canvas, (x, y + 6.5), &number, plain, look);
                }
            }
            Inside::LetterAndMargin => {
                plate(canvas, (x, y), format!("{letter} {number}").trim_end(), bold, look);
            }
            Inside::Letter | Inside::Region => plate(canvas, (x, y), &letter, bold, look),
        }
    }
}

/// A letter in each region, at the place that is farthest from its edge, if there is room.
fn regions(canvas: &mut Canvas, panel: Area, map: &Map, sizes: &Sizes, cells: &[&MapCell], looks: &Looks) {
    let best = best(cells);
    let winners: BTreeMap<(usize, usize), &Winner> =
        cells.iter().filter_map(|cell| Some(((cell.column, cell.row), cell.winner.as_ref()?))).collect();
    let mut seen: BTreeSet<(usize, usize)> = BTreeSet::new();
    for (start, policy) in &best {
        if seen.contains(start) {
            continue;
        }
        let region = connected(*start, &best);
        seen.extend(&region);
        let (place, depth) = deepest(&region);
        let letter = looks.letter(*policy);
        let side = (2 * depth - 1) as f64;
        let room = |size: f64| {
            let wide = font::width(&letter, Letters::new(size).bold());
            side * sizes.high >= size && side * sizes.wide >= wide + 1.0
        };
        let size = if room(2.0 * LARGE) { LARGE } else { CELL };
        if let Some(winner) = winners.get(&place).filter(|_| room(size)) {
            let area = sizes.cell(panel, map, place.0, place.1);
            let middle = (area.x + area.width / 2.0, area.y + area.height / 2.0);
            plate(canvas, middle, &letter, Letters::new(size).bold(), (winner, looks.fill(winner).0));
        }
    }
}

/// The cells with the policy of this one that are connected with it by edges.
fn connected(start: (usize, usize), best: &BTreeMap<(usize, usize), usize>) -> BTreeSet<(usize, usize)> {
    let (mut region, mut next) = (BTreeSet::from([start]), vec![start]);
    while let Some((x, y)) = next.pop() {
        let beside = [(x + 1, y), (x.wrapping_sub(1), y), (x, y + 1), (x, y.wrapping_sub(1))];
        for place in beside {
            if best.get(&place).is_some_and(|policy| *policy == best[&start]) && region.insert(place) {
                next.push(place);
            }
        }
    }
    region
}

/// The cell in the middle of the largest square within a region, and half its side, rounded up.
fn deepest(region: &BTreeSet<(usize, usize)>) -> ((usize, usize), usize) {
    let mut left = region.clone();
    let mut depth = 1;
    loop {
        let inner = |(x, y): &(usize, usize)| {
            let around = |dx: usize, dy: usize| Some(((x + dx).checked_sub(1)?, (y + dy).checked_sub(1)?));
            (0..3).all(|dx| (0..3).all(|dy| around(dx, dy).is_some_and(|place| left.contains(&place))))
        };
        let rest: BTreeSet<(usize, usize)> = left.iter().copied().filter(|place| inner(place)).collect();
        if rest.is_empty() {
            break;
        }
        (left, depth) = (rest, depth + 1);
    }
    let count = left.len();
    let middle = left.into_iter().nth(count / 2);
    (middle.unwrap_or_default(), depth)
}

/// Ticks below a panel, with labels where it is the last one.
fn columns(canvas: &mut Canvas, panel: Area, sizes: &Sizes, labelled: bool) {
    let step = if sizes.upwards { (13.0 / sizes.wide).ceil().max(1.0) as usize } else { 1 };
    for (column, text) in sizes.columns.iter().enumerate().step_by(step) {
        let x = panel.x + (column as f64 + 0.5) * sizes.wide;
        canvas.line(&[(x, panel.bottom()), (x, panel.bottom() + 3.0)], MUTED, 1.0);
        if !labelled {
            continue;
        }
        if sizes.upwards {
            let text = font::squeezed(text, TICK, MOST_FOOT);
            let letters = Letters { upwards: true, ..Letters::new(TICK).at(Anchor::End) };
            canvas.text((x, panel.bottom() + 6.0), &text, letters);
        } else {
            canvas.text((x, panel.bottom() + 11.0), text, Letters::new(TICK).at(Anchor::Middle));
        }
    }
}

/// Labels of the rows at the left of a panel.
fn rows(canvas: &mut Canvas, panel: Area, map: &Map, sizes: &Sizes) {
    let step = (12.0 / sizes.high).ceil().max(1.0) as usize;
    for (row, text) in sizes.rows.iter().enumerate().step_by(step) {
        let area = sizes.cell(panel, map, 0, row);
        let y = area.y + area.height / 2.0;
        canvas.line(&[(panel.x - 3.0, y), (panel.x, y)], MUTED, 1.0);
        let text = font::squeezed(text, TICK, sizes.most);
        canvas.text((panel.x - 6.0, y), &text, Letters::new(TICK).at(Anchor::End));
    }
}

/// The names of the two parameters.
fn names(canvas: &mut Canvas, body: Area, (response, map): (&Response, &Map), sizes: &Sizes) {
    let named = axis_names::of_response(response);
    let across = sizes.across.min(map.panels.len());
    let last = sizes.place(body, map, across - 1);
    let middle = f64::midpoint(body.x + sizes.left, last.right());
    let letters = Letters::new(LABEL).at(Anchor::Middle);
    let half = (middle - body.x).min(body.right() - middle);
    let name = font::squeezed(&named[map.x.axis], LABEL, 2.0 * half);
    canvas.text((middle, body.bottom() - 8.0), &name, letters);
    let Some(side) = &map.y else { return };
    for row in 0..sizes.down() {
        let panel = sizes.place(body, map, row * sizes.across);
        let name = font::squeezed(&named[side.axis], LABEL, panel.height + sizes.head);
        let half = font::width(&name, LABEL) / 2.0;
        let y = (panel.y + panel.height / 2.0).max(panel.y - sizes.head + half);
        canvas.text((body.x + 7.0, y), &name, Letters { upwards: true, ..letters });
    }
}
