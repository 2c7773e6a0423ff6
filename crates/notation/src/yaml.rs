//! The one place that reads YAML: one document, no duplicate keys, strict booleans, bounded size; as a value
//! of a type or as a tree whose every node knows its place.

use std::fmt;

use serde::Deserialize;
use serde::de::{Deserializer, MapAccess, SeqAccess, Visitor};
use serde_saphyr::{MessageFormatter, Spanned};

use crate::diagnostics::{Diagnostic, Place};
use crate::neutral;

/// Longest text accepted, in bytes: scenarios are written by hand.
pub const MAX_BYTES: usize = 1 << 20;

/// Longest table of data accepted, in bytes: some thousands of entries.
pub const MAX_DATA_BYTES: usize = 16 << 20;

/// Parses one YAML document into a tree of nodes with places; `source` is the number that the places carry.
/// Its keys and values hold no invisible characters but line feeds.
///
/// # Errors
/// A diagnostic, to be rendered with the sources.
pub fn tree(source: u32, text: &str) -> Result<Node, Diagnostic> {
    tree_within(source, text, HAND_WRITTEN)
}

/// As [`tree`], for tables of data: up to [`MAX_DATA_BYTES`].
///
/// # Errors
/// As [`tree`].
pub fn data_tree(source: u32, text: &str) -> Result<Node, Diagnostic> {
    tree_within(source, text, DATA)
}

/// True for a text of comments and empty lines only.
#[must_use]
pub fn is_blank(text: &str) -> bool {
    text.lines().all(|line| line.trim().is_empty() || line.trim_start().starts_with('#'))
}

/// How much is read.
#[derive(Clone, Copy)]
struct Limits {
    bytes: usize,
    nodes: usize,
}

const HAND_WRITTEN: Limits = Limits { bytes: MAX_BYTES, nodes: 50_000 };
const DATA: Limits = Limits { bytes: MAX_DATA_BYTES, nodes: 1_000_000 };

fn tree_within(source: u32, text: &str, limits: Limits) -> Result<Node, Diagnostic> {
    let spanned = read_within(text, limits).map_err(|mut diagnostic| {
        diagnostic.place.source = source;
        diagnostic
    })?;
    let root = node(spanned, source, text);
    match invisible(&root, text) {
        Some(problem) => Err(problem),
        None => Ok(root),
    }
}

/// The first key or value with an invisible character.
fn invisible(node: &Node, text: &str) -> Option<Diagnostic> {
    match &node.content {
        Content::Null => None,
        Content::Scalar(words) => invisible_in(words, node.place, text),
        Content::List(items) => items.iter().find_map(|item| invisible(item, text)),
        Content::Map(entries) => entries.iter().find_map(|entry| {
            invisible_in(&entry.key, entry.place, text).or_else(|| invisible(&entry.value, text))
        }),
    }
}

/// The error about an invisible character: at this character where the text has it as it is, else at the
/// node.
fn invisible_in(words: &str, place: Place, text: &str) -> Option<Diagnostic> {
    let (_, c) = neutral::first_invisible(words)?;
    let place = match text.get(place.start..place.end).and_then(|written| written.find(c)) {
        Some(at) => Place { start: place.start + at, end: place.start + at + c.len_utf8(), ..place },
        None => place,
    };
    let message = format!("the invisible character U+{:04X} in a name or value", u32::from(c));
    Some(Diagnostic::new(place, message).hint("use only characters that can be seen"))
}

fn read_within(text: &str, limits: Limits) -> Result<Spanned<Raw>, Diagnostic> {
    if text.len() > limits.bytes {
        let message = format!("the text has {} bytes; at most {} are read", text.len(), limits.bytes);
        return Err(Diagnostic::new(Place::NONE, message));
    }
    if let Some(at) = text.find('\0') {
        return Err(Diagnostic::new(Place::range(0, at..at + 1), "a zero byte: this is not a text file"));
    }
    let raw = |c: char| c.is_control() && !matches!(c, '\t' | '\n' | '\r');
    if let Some((at, c)) = text.char_indices().find(|(_, c)| raw(*c)) {
        let message = format!("the control character U+{:04X}: YAML does not allow it", u32::from(c));
        return Err(Diagnostic::new(Place::range(0, at..at + c.len_utf8()), message));
    }
    let options = serde_saphyr::options! {
        budget: serde_saphyr::budget! {
            max_documents: 1,
            max_nodes: limits.nodes,
            max_events: 4 * limits.nodes,
            max_aliases: 1_000,
        },
        alias_limits: serde_saphyr::alias_limits! { max_total_replayed_events: 100_000 },
        strict_booleans: true,
        reject_unsupported_tags: true,
    };
    serde_saphyr::from_str_with_options(text, options).map_err(|error| {
        let error = error.without_snippet();
        let message = match error {
            serde_saphyr::Error::DuplicateMappingKey { key: Some(key), .. } => {
                format!("`{key}` is given twice")
            }
            other => serde_saphyr::UserMessageFormatter.format_message(other).into_owned(),
        };
        let place = error.location().map_or(Place::NONE, |location| place_of(location, 0, text));
        Diagnostic::new(place, message)
    })
}

/// The bytes a location covers.
fn place_of(location: serde_saphyr::Location, source: u32, text: &str) -> Place {
    let Some(start) = location.span().byte_offset().or_else(|| byte_of(location, text)) else {
        return Place::NONE;
    };
    let start = (start as usize).min(text.len());
    let end = (start + location.span().byte_len().unwrap_or(0) as usize).min(text.len());
    // A node of several lines is shown by its first.
    let end = text.get(start..end).and_then(|s| s.find('\n')).map_or(end, |at| start + at);
    Place::range(source, start..end)
}

/// The byte at a line and column (in characters, both from 1), for locations that come without.
fn byte_of(location: serde_saphyr::Location, text: &str) -> Option<u64> {
    let line = usize::try_from(location.line()).ok()?.checked_sub(1)?;
    let column = usize::try_from(location.column()).ok()?.saturating_sub(1);
    let before: usize = text.split_inclusive('\n').take(line).map(str::len).sum();
    let within: usize = text.get(before..)?.chars().take(column).map(char::len_utf8).sum();
    Some((before + within) as u64)
}

/// A node of a YAML document.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Node {
    /// Where it is written.
    pub place: Place,
    /// Where an alias or merge refers to it, when that is elsewhere.
    pub used: Option<Place>,
    /// What it holds.
    pub content: Content,
}

/// What a node holds.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Content {
    /// Nothing: an empty value or `null`.
    Null,
    /// A scalar, as written but without quotes.
    Scalar(String),
    /// A list.
    List(Vec<Node>),
    /// A mapping in the order written; keys are unique.
    Map(Vec<Entry>),
}

/// An entry of a mapping.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Entry {
    /// The key.
    pub key: String,
    /// Where the key is written.
    pub place: Place,
    /// The value.
    pub value: Node,
}

impl Node {
    /// A scalar.
    #[must_use]
    pub fn scalar(place: Place, text: &str) -> Self {
        Self { place, used: None, content: Content::Scalar(text.to_owned()) }
    }

    /// An empty mapping.
    #[must_use]
    pub const fn empty_map(place: Place) -> Self {
        Self { place, used: None, content: Content::Map(Vec::new()) }
    }

    /// What it is, with an article.
    #[must_use]
    pub const fn what(&self) -> &'static str {
        match self.content {
            Content::Null => "nothing",
            Content::Scalar(_) => "a single value",
            Content::List(_) => "a list",
            Content::Map(_) => "a mapping",
        }
    }

    /// The value of a key.
    #[must_use]
    pub fn get(&self, key: &str) -> Option<&Entry> {
        match &self.content {
            Content::Map(entries) => entries.iter().find(|entry| entry.key == key),
            _ => None,
        }
    }

    /// Where its first key is written, or the node itself when it has none.
    #[must_use]
    pub fn start(&self) -> Place {
        self.entries().first().map_or(self.place, |entry| entry.place)
    }

    /// The entries of a mapping; none for anything else.
    #[must_use]
    pub fn entries(&self) -> &[Entry] {
        match &self.content {
            Content::Map(entries) => entries,
            _ => &[],
        }
    }

    /// Sets the value of a key of a mapping (at its end when the key is new); does nothing on other nodes.
    pub fn set(&mut self, key: &str, place: Place, value: Self) {
        if let Content::Map(entries) = &mut self.content {
            match entries.iter_mut().find(|entry| entry.key == key) {
                Some(entry) => entry.value = value,
                None => entries.push(Entry { key: key.to_owned(), place, value }),
            }
        }
    }

    /// Takes a key out of a mapping, if it is there.
    pub fn remove(&mut self, key: &str) {
        if let Content::Map(entries) = &mut self.content {
            entries.retain(|entry| entry.key != key);
        }
    }

    /// The value of a key of a mapping, an empty mapping when it is new; `None` on other nodes.
    pub fn child(&mut self, key: &str, place: Place) -> Option<&mut Self> {
        let Content::Map(entries) = &mut self.content else {
            return None;
        };
        let at = entries.iter().position(|entry| entry.key == key).unwrap_or_else(|| {
            entries.push(Entry { key: key.to_owned(), place, value: Self::empty_map(place) });
            entries.len() - 1
        });
        entries.get_mut(at).map(|entry| &mut entry.value)
    }
}

/// A node as the YAML library hands it over.
enum Raw {
    Null,
    Text(String),
    /// A number or truth value; its text is read from its place.
    Other(String),
    List(Vec<Spanned<Self>>),
    Map(Vec<(Spanned<String>, Spanned<Self>)>),
}

struct RawVisitor;

impl<'de> Visitor<'de> for RawVisitor {
    type Value = Raw;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a YAML node")
    }
    fn visit_bool<E>(self, value: bool) -> Result<Raw, E> {
        Ok(Raw::Other(value.to_string()))
    }
    fn visit_i64<E>(self, value: i64) -> Result<Raw, E> {
        Ok(Raw::Other(value.to_string()))
    }
    fn visit_i128<E>(self, value: i128) -> Result<Raw, E> {
        Ok(Raw::Other(value.to_string()))
    }
    fn visit_u64<E>(self, value: u64) -> Result<Raw, E> {
        Ok(Raw::Other(value.to_string()))
    }
    fn visit_u128<E>(self, value: u128) -> Result<Raw, E> {
        Ok(Raw::Other(value.to_string()))
    }
    fn visit_f64<E>(self, value: f64) -> Result<Raw, E> {
        Ok(Raw::Other(value.to_string()))
    }
    fn visit_str<E>(self, value: &str) -> Result<Raw, E> {
        Ok(Raw::Text(value.to_owned()))
    }
    fn visit_unit<E>(self) -> Result<Raw, E> {
        Ok(Raw::Null)
    }
    fn visit_none<E>(self) -> Result<Raw, E> {
        Ok(Raw::Null)
    }
    fn visit_some<D: Deserializer<'de>>(self, deserializer: D) -> Result<Raw, D::Error> {
        Raw::deserialize(deserializer)
    }
    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Raw, A::Error> {
        let mut items = Vec::new();
        while let Some(item) = seq.next_element()? {
            items.push(item);
        }
        Ok(Raw::List(items))
    }
    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Raw, A::Error> {
        let mut entries = Vec::new();
        while let Some(entry) = map.next_entry()? {
            entries.push(entry);
        }
        Ok(Raw::Map(entries))
    }
}

impl<'de> Deserialize<'de> for Raw {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(RawVisitor)
    }
}

/// Turns library nodes into ours.
fn node(raw: Spanned<Raw>, source: u32, text: &str) -> Node {
    let place = place_of(raw.defined, source, text);
    let referenced = place_of(raw.referenced, source, text);
    let used = (referenced != place && referenced.is_known()).then_some(referenced);
    let content = match raw.value {
        Raw::Null => Content::Null,
        Raw::Text(words) => Content::Scalar(words),
        Raw::Other(shown) => {
            let written = text.get(place.start..place.end).filter(|written| !written.is_empty());
            Content::Scalar(written.map_or(shown, str::to_owned))
        }
        Raw::List(items) => Content::List(items.into_iter().map(|item| node(item, source, text)).collect()),
        Raw::Map(entries) => Content::Map(
            entries
                .into_iter()
                .map(|(key, value)| Entry {
                    place: place_of(key.defined, source, text),
                    key: key.value,
                    value: node(value, source, text),
                })
                .collect(),
        ),
    };
    Node { place, used, content }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn slice(text: &str, place: Place) -> &str {
        &text[place.start..place.end]
    }

    #[test]
    fn nodes_know_their_places_and_order() {
        let text = "µ: 1.30\nb: [x, 'y z']\na: {k: true, e: }\n";
        let root = tree(0, text).unwrap();
        let keys: Vec<&str> = root.entries().iter().map(|e| e.key.as_str()).collect();
        assert_eq!(keys, ["µ", "b", "a"]);
        let factor = &root.get("µ").unwrap().value;
        assert_eq!(factor.content, Content::Scalar("1.30".into()));
        assert_eq!(slice(text, factor.place), "1.30");
        let Content::List(items) = &root.get("b").unwrap().value.content else { panic!("a list") };
        assert_eq!(items[1].content, Content::Scalar("y z".into()));
        assert_eq!(slice(text, items[1].place), "'y z'");
        let inner = &root.get("a").unwrap().value;
        assert_eq!(slice(text, inner.get("k").unwrap().place), "k");
        assert_eq!(inner.get("k").unwrap().value.content, Content::Scalar("true".into()));
        assert_eq!(inner.get("e").unwrap().value.content, Content::Null);
    }

    #[test]
    fn aliases_point_at_use_and_definition() {
        let text = "t: &d {x: 1}\nu: *d\nv: {<<: *d, y: 2}\n";
        let root = tree(0, text).unwrap();
        let used = &root.get("u").unwrap().value;
        assert_eq!(slice(text, used.used.unwrap()), "*d");
        assert_eq!(root.get("v").unwrap().value.entries().len(), 2);
    }

    #[test]
    fn duplicate_keys_documents_tags_and_bombs_are_refused() {
        assert!(tree(0, "a: 1\na: 2\n").is_err());
        assert!(tree(0, "a: 1\n---\nb: 2\n").is_err());
        assert!(tree(0, &"a".repeat(MAX_BYTES + 1)).is_err());
        assert!(tree(0, &"[".repeat(10_000)).is_err());
        assert!(tree(0, "a: \0").is_err());
        assert!(tree(0, "a: !!python/object x").is_err());
        let bomb: String = (1..9).fold("a0: &a0 [x,x,x,x,x,x,x,x,x]\n".to_owned(), |text, i| {
            let inside = vec![format!("*a{}", i - 1); 9].join(",");
            format!("{text}a{i}: &a{i} [{inside}]\n")
        });
        assert!(tree(0, &bomb).is_err());
    }

    #[test]
    fn invisible_characters_are_refused_where_they_are() {
        for (text, at) in [
            ("a: 1\nb: x\u{1b}y\n", 9),
            ("a: 1\nb: \"x\\e\"\n", 8),
            ("a: 1\nb: [c, d\u{202e}]\n", 13),
            ("a: 1\nb: {\u{200b}c: d}\n", 9),
            ("a: \"x\\ty\"\n", 3),
            ("# \u{9b}\n", 2),
        ] {
            let problem = tree(3, text).unwrap_err();
            assert_eq!((problem.place.source, problem.place.start), (3, at), "{text:?}: {}", problem.message);
        }
        assert!(tree(0, "a: |\n  two\n  lines\nb: 'ü µ 日本'\t# \u{202e}\r\n").is_ok());
        assert!(tree(0, "\u{feff}a: 1\n").is_ok());
    }

    #[test]
    fn strict_booleans_leave_words_alone() {
        let root = tree(0, "a: no\nb: on\n").unwrap();
        assert_eq!(root.get("a").unwrap().value.content, Content::Scalar("no".into()));
    }
}
