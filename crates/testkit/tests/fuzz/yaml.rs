//! The reader of YAML: every node lies inside the text.

use notation::diagnostics::{Place, Sources};
use notation::yaml::{self, Content, Node};

use crate::promise;

/// Any text.
pub(crate) fn text(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    match yaml::tree(0, text) {
        Ok(root) => inside(&root, text),
        Err(problem) => {
            promise::refusal(&problem.message);
            promise::placed_refusal(&Sources::new("f.yaml", text).render(&[problem]), &["f.yaml"]);
        }
    }
}

#[track_caller]
fn place(place: Place, text: &str) {
    let known = !place.is_known() || text.get(place.start..place.end).is_some();
    assert!(known, "{place:?} is no part of the text");
}

fn inside(node: &Node, text: &str) {
    place(node.place, text);
    match &node.content {
        Content::Null => {}
        Content::Scalar(words) => promise::visible(words),
        Content::List(items) => items.iter().for_each(|item| inside(item, text)),
        Content::Map(entries) => {
            for (at, entry) in entries.iter().enumerate() {
                place(entry.place, text);
                promise::visible(&entry.key);
                assert!(!entries[..at].iter().any(|other| other.key == entry.key), "{} twice", entry.key);
                inside(&entry.value, text);
            }
        }
    }
}
