//! The points of a sweep: every combination of the values of its paths.

use notation::yaml::{Content, Entry, Node};

use super::paths::{self, SWEEPABLE};
use super::reader::Reader;
use crate::plan::Point;

/// Most points of a sweep: beyond this a typing mistake is likelier than patience.
const MAX_POINTS: usize = 10_000;

/// A point and what it sets.
pub(crate) struct Combination<'a> {
    pub(crate) point: Point,
    settings: Vec<(&'a Entry, &'a Node)>,
}

impl Combination<'_> {
    /// The scenario at this point.
    pub(crate) fn tree(&self, root: &Node) -> Node {
        let mut tree = root.clone();
        for (axis, value) in &self.settings {
            // Each path has been tried before: it cannot fail.
            let set = paths::set(&mut tree, &axis.key, axis.place, (*value).clone(), &SWEEPABLE);
            debug_assert!(set.is_ok(), "{} was set before", axis.key);
        }
        tree
    }
}

/// The points; without a sweep a single one. A wrong path is left out, so that the other errors are found as well.
pub(crate) fn points<'a>(root: &'a Node, reader: &mut Reader) -> Vec<Combination<'a>> {
    let point = Point { label: String::new(), settings: Vec::new() };
    let mut points = vec![Combination { point, settings: Vec::new() }];
    let Some(sweep) = root.get("sweep") else {
        return points;
    };
    let Content::Map(axes) = &sweep.value.content else {
        let hint = "write `sweep: { threads_per_core: [1, 2, 4] }`";
        reader.wrong_node(&sweep.value, "`sweep` must be a mapping of paths to lists of values", hint);
        return points;
    };
    let mut trial = root.clone();
    for axis in axes {
        let Some(values @ [first, ..]) = values(axis, reader) else {
            continue;
        };
        if let Err(problem) = paths::set(&mut trial, &axis.key, axis.place, first.clone(), &SWEEPABLE) {
            reader.add(problem);
            continue;
        }
        if points.len().saturating_mul(values.len()) > MAX_POINTS {
            reader.wrong(axis.place, format!("the sweep has more than {MAX_POINTS} points"));
            return points;
        }
        let extend = |earlier: &Combination<'a>, value: &'a Node| Combination {
            point: extended(&earlier.point, &axis.key, &shown(value)),
            settings: earlier.settings.iter().copied().chain([(axis, value)]).collect(),
        };
        points = points
            .iter()
            .flat_map(|earlier| values.iter().map(move |value| (earlier, value)))
            .map(|(earlier, value)| extend(earlier, value))
            .collect();
    }
    points
}

/// The values of one path.
fn values<'a>(axis: &'a Entry, reader: &mut Reader) -> Option<&'a [Node]> {
    let Content::List(values) = &axis.value.content else {
        let message = format!("the values of `{}` must be a list, not {}", axis.key, axis.value.what());
        reader.wrong_node(&axis.value, message, "write `[first, second]`");
        return None;
    };
    if values.is_empty() {
        reader.wrong_node(&axis.value, format!("`{}` is given no values", axis.key), "");
        return None;
    }
    for (i, value) in values.iter().enumerate() {
        if values[..i].iter().any(|earlier| earlier.content == value.content) {
            reader.wrong_node(value, format!("`{}` is given the same value twice", axis.key), "");
        }
    }
    Some(values)
}

/// A value on one line, as YAML: labels tell points apart, so all of it counts.
fn shown(value: &Node) -> String {
    let joined = |parts: Vec<String>| parts.join(", ");
    match &value.content {
        Content::Scalar(text) => text.clone(),
        Content::Null => "null".to_owned(),
        Content::List(items) => format!("[{}]", joined(items.iter().map(shown).collect())),
        Content::Map(entries) => {
            let each = |entry: &Entry| match &entry.value.content {
                Content::Null => entry.key.clone(),
                _ => format!("{}: {}", entry.key, shown(&entry.value)),
            };
            format!("{{{}}}", joined(entries.iter().map(each).collect()))
        }
    }
}

fn extended(point: &Point, path: &str, value: &str) -> Point {
    let mut point = point.clone();
    if !point.label.is_empty() {
        point.label.push_str(", ");
    }
    point.label.push_str(&format!("{path}={value}"));
    point.settings.push((path.to_owned(), value.to_owned()));
    point
}
