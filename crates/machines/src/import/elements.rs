//! Attributes of XML elements, and what is said when one is wrong.

use notation::diagnostics::{Diagnostic, Place};
use roxmltree::Node;

use super::bitmap::Bitmap;

/// What is wrong, with its place.
pub(super) type Problem = Box<Diagnostic>;

/// A diagnostic about an element.
pub(super) fn wrong(node: &Node<'_, '_>, message: impl Into<String>) -> Problem {
    let range = node.range();
    let start = range.start;
    // The opening tag: what an element contains is longer than a screen.
    let end = node.document().input_text().get(range).and_then(|all| all.find('>'));
    Box::new(Diagnostic::new(Place::range(0, start..end.map_or(start, |end| start + end + 1)), message))
}

/// A diagnostic about an attribute of an element.
pub(super) fn at_attribute(node: &Node<'_, '_>, attribute: &str, message: String) -> Problem {
    match node.attribute_node(attribute) {
        Some(attribute) => Diagnostic::new(Place::range(0, attribute.range()), message).into(),
        None => wrong(node, message),
    }
}

/// A whole number of an attribute.
pub(super) fn number(node: &Node<'_, '_>, attribute: &str) -> Result<Option<u64>, Problem> {
    let Some(text) = node.attribute(attribute) else { return Ok(None) };
    match text.parse::<u64>() {
        Ok(value) => Ok(Some(value)),
        Err(_) => {
            let message = format!("`{attribute}` is `{text}`; it must be a whole number");
            Err(at_attribute(node, attribute, message))
        }
    }
}

/// A set of an attribute.
pub(super) fn set(node: &Node<'_, '_>, attribute: &str) -> Result<Option<Bitmap>, Problem> {
    let Some(text) = node.attribute(attribute) else { return Ok(None) };
    Bitmap::hwloc(text)
        .map(Some)
        .map_err(|why| at_attribute(node, attribute, format!("`{attribute}`: {why}")))
}

/// The value of an `info` of an element.
pub(super) fn info<'a>(node: &Node<'a, '_>, name: &str) -> Option<&'a str> {
    let infos = node.children().filter(|child| child.has_tag_name("info"));
    infos.filter(|info| info.attribute("name") == Some(name)).find_map(|info| info.attribute("value"))
}
