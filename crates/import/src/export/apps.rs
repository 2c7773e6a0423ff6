//! The applications of a scenario as they are written.

use notation::diagnostics::Sources;
use notation::parameter::Kind;
use notation::units;
use notation::yaml::{self, Content, Entry, Node};

use crate::{Refused, Source};

/// A mapping and the names of its keys.
pub(super) fn entries(node: &Node) -> &[Entry] {
    match &node.content {
        Content::Map(entries) => entries,
        _ => &[],
    }
}

/// The tree of a scenario.
pub(super) fn tree(scenario: &Source<'_>) -> Result<Node, Refused> {
    yaml::tree(0, scenario.text)
        .map_err(|problem| Refused::Rendered(Sources::new(scenario.name, scenario.text).render(&[problem])))
}

/// The value of a key.
pub(super) fn value<'n>(node: &'n Node, key: &str) -> Option<&'n Node> {
    node.get(key).map(|entry| &entry.value)
}

/// A scalar.
pub(super) fn text(node: &Node) -> Option<&str> {
    if let Content::Scalar(text) = &node.content { Some(text) } else { None }
}

/// The text of a key.
pub(super) fn text_of<'n>(node: &'n Node, key: &str) -> Option<&'n str> {
    text(value(node, key)?)
}

/// A whole number of a key.
pub(super) fn whole(node: &Node, key: &str) -> Option<u64> {
    text_of(node, key)?.replace('_', "").parse().ok()
}

/// A duration of a key, in ns; none for `infinite`.
pub(super) fn span(node: &Node, key: &str) -> Option<u64> {
    duration(text_of(node, key)?)
}

/// A duration, in ns; none for `infinite`.
pub(super) fn duration(text: &str) -> Option<u64> {
    units::parse(Kind::Duration, text).ok().filter(|ns| *ns != u64::MAX)
}

/// The name of a workload, and its parameters.
pub(super) fn workload(app: &Node) -> Option<(&str, Option<&Node>)> {
    let node = value(app, "workload")?;
    match &node.content {
        Content::Scalar(name) => Some((name, None)),
        Content::Map(entries) => entries.first().map(|entry| (entry.key.as_str(), Some(&entry.value))),
        _ => None,
    }
}
