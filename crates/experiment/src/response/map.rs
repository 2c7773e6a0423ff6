//! The plane of two swept parameters with the best policy of each cell; the other parameters make panels.

use std::collections::{BTreeMap, BTreeSet};

use super::Response;
use super::winners::Winner;

/// The most panels of a map.
pub const MOST_PANELS: usize = 12;
/// The most columns and rows that a panel can have.
pub const MOST_SIDE: usize = 100;
/// Two parameters are crossed if at least this part of the pairs of their values occurs; less is left of
/// parameters that are sampled or varied together.
const CROSSED: f64 = 0.5;
/// Sampled values are put into at most so many classes, and so many configurations share a cell on average.
const MOST_CLASSES: usize = 12;
const PER_CELL: usize = 4;

/// The values of an axis that make a column or a row.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Class {
    /// Their positions on the axis, the smallest number first.
    pub places: Vec<usize>,
    /// The first and the last of them, as the scenario writes them.
    pub ends: [String; 2],
}

/// One side of a map.
#[derive(Clone, PartialEq, Debug)]
pub struct Side {
    /// The axis.
    pub axis: usize,
    /// Its short name.
    pub name: String,
    /// Columns or rows: the smallest number first, names in the order of the scenario.
    pub classes: Vec<Class>,
    /// Whether the values are numbers.
    pub ordered: bool,
    /// Whether a class can have several values.
    pub classed: bool,
}

/// A column and a row of a panel, with the configurations in it.
#[derive(Clone, PartialEq, Debug)]
pub struct MapCell {
    /// Position of the panel.
    pub panel: usize,
    /// Position among the columns.
    pub column: usize,
    /// Position among the rows; 0 without a second side.
    pub row: usize,
    /// Its configurations.
    pub points: Vec<usize>,
    /// The best policy; `None` if no run completed.
    pub winner: Option<Winner>,
}

/// A map.
#[derive(Clone, PartialEq, Debug)]
pub struct Map {
    /// The columns.
    pub x: Side,
    /// The rows; `None` if only one parameter is swept.
    pub y: Option<Side>,
    /// What distinguishes the panels: a setting of each parameter (`name=value`); one empty list without
    /// other parameters.
    pub panels: Vec<Vec<String>>,
    /// Short names of the parameters that vary within a cell or together with a side.
    pub together: Vec<String>,
    /// The cells with at least one configuration, by panel, row and column.
    pub cells: Vec<MapCell>,
}

impl Map {
    /// Whether each cell is a single configuration.
    #[must_use]
    pub fn is_exact(&self) -> bool {
        self.cells.iter().all(|cell| cell.points.len() == 1)
    }

    /// The cells in which any run completed, with their winners.
    #[must_use]
    pub fn winners(&self) -> Vec<(&MapCell, &Winner)> {
        self.cells.iter().filter_map(|cell| Some((cell, cell.winner.as_ref()?))).collect()
    }

    /// How many rows a panel has.
    #[must_use]
    pub fn rows(&self) -> usize {
        self.y.as_ref().map_or(1, |side| side.classes.len())
    }
}

/// Policies with the number of cells in which each is best, the most first; of equals the one that the
/// scenario names first.
#[must_use]
pub fn order(cells: &[(&MapCell, &Winner)]) -> Vec<(usize, usize)> {
    let mut counts: BTreeMap<usize, usize> = BTreeMap::new();
    for (_, winner) in cells {
        *counts.entry(winner.best).or_default() += 1;
    }
    let mut order: Vec<(usize, usize)> = counts.into_iter().collect();
    order.sort_by_key(|(policy, count)| (std::cmp::Reverse(*count), *policy));
    order
}

impl Response {
    /// The map over two axes: the given ones, else the one with the most numbers and the next one that is
    /// crossed with it.
    ///
    /// # Errors
    /// A sentence: no sweep, or too many panels, columns or rows.
    pub fn map(&self, x: Option<usize>, y: Option<usize>) -> Result<Map, String> {
        if self.points.is_empty() {
            return Err("no configuration has these values".into());
        }
        let (x, y) = self.sides(x, y)?;
        let (panels, together) = self.panels(x, y);
        let names = self.names();
        let orders: Vec<Vec<usize>> = panels.iter().map(|axis| self.ordered(*axis)).collect();
        let rank = |(axis, order): (&usize, &Vec<usize>), at: usize| {
            order.iter().position(|place| *place == self.points[at].places[*axis]).unwrap_or(0)
        };
        let key = |at: usize| panels.iter().zip(&orders).map(|pair| rank(pair, at)).collect::<Vec<usize>>();
        let keys: BTreeSet<Vec<usize>> = (0..self.points.len()).map(key).collect();
        if keys.len() > MOST_PANELS {
            return Err(self.too_many_panels(&panels, keys.len()));
        }
        let classed = y.is_some_and(|y| !self.crossed(x, y));
        let (columns, rows) = (self.side(x, classed)?, y.map(|y| self.side(y, classed)).transpose()?);
        let place = |side: &Side, at: usize| {
            let place = self.points[at].places[side.axis];
            side.classes.iter().position(|class| class.places.contains(&place))
        };
        let mut cells: BTreeMap<(usize, usize, usize), Vec<usize>> = BTreeMap::new();
        for at in 0..self.points.len() {
            let panel = keys.iter().position(|known| *known == key(at));
            let row = rows.as_ref().map_or(Some(0), |side| place(side, at));
            let (Some(panel), Some(row), Some(column)) = (panel, row, place(&columns, at)) else { continue };
            cells.entry((panel, row, column)).or_default().push(at);
        }
        let cell = |((panel, row, column), points): ((usize, usize, usize), Vec<usize>)| {
            let winner = self.winner(&points);
            MapCell { panel, column, row, points, winner }
        };
        let setting = |key: &Vec<usize>| {
            let each = panels.iter().zip(&orders).zip(key);
            let each = each
                .map(|((axis, order), rank)| format!("{}={}", names[*axis], self.value(*axis, order[*rank])));
            each.collect::<Vec<String>>()
        };
        Ok(Map {
            panels: keys.iter().map(setting).collect(),
            together: together.iter().map(|axis| names[*axis].clone()).collect(),
            cells: cells.into_iter().map(cell).collect(),
            x: columns,
            y: rows,
        })
    }

    /// The axes of columns and rows.
    fn sides(&self, x: Option<usize>, y: Option<usize>) -> Result<(usize, Option<usize>), String> {
        let all = 0..self.axes.len();
        if x.is_some() && x == y {
            return Err(format!("{} cannot be both sides of a map", self.names()[x.unwrap_or(0)]));
        }
        // Numbers before names, many values before few; of equals the first one.
        let size = |axis: &usize| (self.axes[*axis].numbers.is_some(), self.axes[*axis].values.len());
        let most = |axes: Vec<usize>| axes.into_iter().rev().max_by_key(size);
        let x = x.or_else(|| most(all.clone().filter(|axis| Some(*axis) != y).collect()));
        let x = x.ok_or("needs a sweep")?;
        let others: Vec<usize> = all.filter(|axis| *axis != x).collect();
        let crossed: Vec<usize> = others.iter().copied().filter(|axis| self.crossed(x, *axis)).collect();
        let y = y.or_else(|| most(crossed)).or_else(|| most(others));
        Ok((x, y))
    }

    /// Whether most pairs of values of two axes occur.
    fn crossed(&self, a: usize, b: usize) -> bool {
        let pairs: BTreeSet<(usize, usize)> =
            self.points.iter().map(|point| (point.places[a], point.places[b])).collect();
        let side = |axis: usize| self.used(axis).len();
        pairs.len() as f64 >= CROSSED * (side(a) * side(b)) as f64
    }

    /// The places of an axis that occur.
    pub(super) fn used(&self, axis: usize) -> BTreeSet<usize> {
        self.points.iter().map(|point| point.places[axis]).collect()
    }

    /// Whether each value of one axis occurs with only one value of another.
    pub(super) fn determines(&self, one: usize, other: usize) -> bool {
        let pairs: BTreeSet<(usize, usize)> =
            self.points.iter().map(|point| (point.places[one], point.places[other])).collect();
        pairs.len() == self.used(one).len()
    }

    /// The other axes: those that make panels, and those that vary within cells or together with a side.
    fn panels(&self, x: usize, y: Option<usize>) -> (Vec<usize>, Vec<usize>) {
        let others = (0..self.axes.len()).filter(|axis| *axis != x && Some(*axis) != y);
        let others: Vec<usize> = others.filter(|axis| self.used(*axis).len() > 1).collect();
        let sides: Vec<usize> = [x].into_iter().chain(y).collect();
        let (mut panels, mut together): (Vec<usize>, Vec<usize>) = (Vec::new(), Vec::new());
        for axis in others {
            let known = sides.iter().chain(&panels).any(|other| self.determines(*other, axis));
            if known { together.push(axis) } else { panels.push(axis) }
        }
        // Sampled numbers would make a panel for almost each configuration.
        let count = |panels: &[usize]| {
            let keys =
                self.points.iter().map(|p| panels.iter().map(|axis| p.places[*axis]).collect::<Vec<_>>());
            keys.collect::<BTreeSet<_>>().len()
        };
        if count(&panels) > MOST_PANELS {
            let sampled = |axis: &usize| {
                self.axes[*axis].numbers.is_some()
                    && self.used(*axis).len() > MOST_PANELS
                    && sides.iter().any(|side| !self.crossed(*side, *axis))
            };
            together.extend(panels.iter().copied().filter(sampled));
            panels.retain(|axis| !sampled(axis));
        }
        (panels, together)
    }

    fn too_many_panels(&self, panels: &[usize], count: usize) -> String {
        let each = panels
            .iter()
            .map(|axis| format!("{} ({} values)", self.axes[*axis].path, self.used(*axis).len()));
        format!(
            "{count} panels do not fit one picture (at most {MOST_PANELS}); choose values of other \
                parameters with --at PATH=VALUE: {}",
            each.collect::<Vec<_>>().join(", ")
        )
    }

    /// The places of an axis in order: the smallest number first, names as the scenario has them.
    fn ordered(&self, axis: usize) -> Vec<usize> {
        let mut places: Vec<usize> = self.used(axis).into_iter().collect();
        if let Some(numbers) = &self.axes[axis].numbers {
            places.sort_by(|a, b| numbers[*a].total_cmp(&numbers[*b]));
        }
        places
    }

    /// A side, where `classed` or of too many numbers with classes of about equally many values.
    fn side(&self, axis: usize, classed: bool) -> Result<Side, String> {
        let places = self.ordered(axis);
        let ordered = self.axes[axis].numbers.is_some();
        let wanted = ((self.points.len() / PER_CELL) as f64).sqrt() as usize;
        let count = wanted.clamp(2, MOST_CLASSES);
        let classed = (classed || places.len() > MOST_SIDE) && ordered && places.len() > count;
        let count = if classed { count } else { places.len() };
        if count > MOST_SIDE {
            return Err(format!(
                "{} has {count} values, and a side of a map has at most {MOST_SIDE}: sweep fewer values, or \
                    choose another side",
                self.axes[axis].path
            ));
        }
        let bounds = (0..=count).map(|class| class * places.len() / count).collect::<Vec<_>>();
        let class = |ends: &[usize]| {
            let places = places[ends[0]..ends[1]].to_vec();
            let end = |place: Option<&usize>| place.map_or_else(String::new, |at| self.value(axis, *at));
            Class { ends: [end(places.first()), end(places.last())], places }
        };
        let name = self.names().swap_remove(axis);
        Ok(Side { axis, name, classes: bounds.windows(2).map(class).collect(), ordered, classed })
    }
}
