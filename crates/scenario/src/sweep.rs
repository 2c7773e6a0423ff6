//! The configurations of a sweep: every combination of the values of its paths.

use std::collections::BTreeMap;

use notation::yaml::{Content, Entry, Node};

use crate::Reader;
use crate::configuration::{Axis, Configuration, Settings, written};
use crate::key::Edit;
use crate::limits::MAX_CONFIGURATIONS;
use crate::paths;

/// A configuration and what it sets.
pub(crate) struct Combination<'a> {
    pub(crate) configuration: Configuration,
    settings: Vec<(&'a Entry, &'a Node)>,
}

impl<'a> Combination<'a> {
    /// What the file sets without its sweep.
    fn first() -> Self {
        let configuration =
            Configuration { label: String::new(), settings: Settings::default(), places: Vec::new() };
        Self { configuration, settings: Vec::new() }
    }

    /// This and one more setting: value number `at` of an axis.
    fn with(&self, axis: &'a Entry, at: usize, value: &'a Node) -> Self {
        let mut next = self.configuration.clone();
        let comma = if next.label.is_empty() { "" } else { ", " };
        next.label.push_str(&format!("{comma}{}={}", axis.key, written(value)));
        next.settings.add(&axis.key, value);
        next.places.push(at);
        let settings = self.settings.iter().copied().chain([(axis, value)]).collect();
        Self { configuration: next, settings }
    }

    /// What this configuration changes in a scenario: the keys that its paths reach into, with their new
    /// values.
    pub(crate) fn edits(&self, root: &Node) -> Node {
        let mut edits = Node::empty_map(root.place);
        for (axis, value) in &self.settings {
            let key = axis.key.split('.').next().unwrap_or_default();
            if let (None, Some(entry)) = (edits.get(key), root.get(key)) {
                edits.set(key, entry.place, entry.value.clone());
            }
            // Each path has been tried before: it cannot fail.
            let set = paths::set(&mut edits, &axis.key, axis.place, (*value).clone(), Edit::Sweep);
            debug_assert!(set.is_ok(), "{} was set before", axis.key);
        }
        edits
    }
}

/// The axes and their configurations; without a sweep a single configuration. A wrong path is left out, so
/// that the other errors are found as well.
pub(crate) fn configurations<'a>(root: &'a Node, reader: &mut Reader) -> (Vec<Axis>, Vec<Combination<'a>>) {
    let (mut axes, mut combinations) = (Vec::new(), vec![Combination::first()]);
    let Some(sweep) = root.get("sweep") else {
        return (axes, combinations);
    };
    let Content::Map(paths) = &sweep.value.content else {
        let hint = "write `sweep: { threads_per_core: [1, 2, 4] }`";
        reader.wrong_node(&sweep.value, "`sweep` must be a mapping of paths to lists of values", hint);
        return (axes, combinations);
    };
    let mut trial = root.clone();
    for path in paths {
        let Some(values @ [first, ..]) = values(path, reader) else {
            continue;
        };
        if let Err(problem) = paths::set(&mut trial, &path.key, path.place, first.clone(), Edit::Sweep) {
            reader.add(problem);
            continue;
        }
        if combinations.len().saturating_mul(values.len()) > MAX_CONFIGURATIONS {
            reader.wrong(path.place, format!("the sweep has more than {MAX_CONFIGURATIONS} configurations"));
            return (axes, combinations);
        }
        axes.push(Axis::new(&path.key, values.iter().map(written).collect()));
        let extended = |earlier: &Combination<'a>| -> Vec<Combination<'a>> {
            values.iter().enumerate().map(|(at, value)| earlier.with(path, at, value)).collect()
        };
        combinations = combinations.iter().flat_map(extended).collect();
    }
    (axes, combinations)
}

/// The values of one path.
fn values<'a>(axis: &'a Entry, reader: &mut Reader) -> Option<&'a [Node]> {
    let Content::List(values) = &axis.value.content else {
        let message = format!("the values of `{}` must be a list, not {}", axis.key, axis.value.what());
        reader.wrong_node(&axis.value, message, "write `[first, second]`");
        return None;
    };
    if values.is_empty() {
        reader.wrong_node(&axis.value, format!("`{}` has no values", axis.key), "");
        return None;
    }
    // Values that are written differently are different.
    let mut earlier: BTreeMap<String, Vec<&Node>> = BTreeMap::new();
    for value in values {
        let text = written(value);
        if text.contains('\n') {
            reader.wrong_node(value, format!("a value of `{}` must be on one line", axis.key), "");
        }
        let alike = earlier.entry(text).or_default();
        let twice = alike.iter().any(|earlier| earlier.content == value.content);
        alike.push(value);
        if twice {
            reader.wrong_node(value, format!("`{}` has the same value twice", axis.key), "");
        }
    }
    Some(values)
}
