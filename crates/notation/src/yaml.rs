//! The one place that reads YAML: one document, no duplicate keys, strict booleans, bounded size; as a value
//! of a type or as a tree whose every node knows its place.

use std::collections::{BTreeMap, BTreeSet};

use granit_parser::{Event, Marker, Parser, ScalarStyle, ScanError, Span, StrInput};

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
    legible(source, text, limits)?;
    let read = Reader::new(source, text, limits).document();
    // Keys and tags may have escapes.
    let root = read.map_err(|problem| Diagnostic {
        message: neutral::lines(&problem.message).into_owned(),
        ..problem
    })?;
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

/// Refuses what is no text, or too much of it.
fn legible(source: u32, text: &str, limits: Limits) -> Result<(), Diagnostic> {
    if text.len() > limits.bytes {
        let message = format!("the text has {} bytes; at most {} are read", text.len(), limits.bytes);
        return Err(Diagnostic::new(Place::NONE, message));
    }
    if let Some(at) = text.find('\0') {
        return Err(Diagnostic::new(
            Place::range(source, at..at + 1),
            "a zero byte: this is not a text file",
        ));
    }
    let raw = |c: char| c.is_control() && !matches!(c, '\t' | '\n' | '\r');
    if let Some((at, c)) = text.char_indices().find(|(_, c)| raw(*c)) {
        let message = format!("the control character U+{:04X}: YAML does not allow it", u32::from(c));
        return Err(Diagnostic::new(Place::range(source, at..at + c.len_utf8()), message));
    }
    Ok(())
}

/// Reads the events of a document into nodes.
struct Reader<'t> {
    source: u32,
    text: &'t str,
    limits: Limits,
    events: Parser<'t, StrInput<'t>>,
    /// The nodes with an anchor that are complete, by the number of the anchor.
    anchors: BTreeMap<usize, Node>,
    /// Nodes read so far, aliases included.
    nodes: usize,
}

/// A list or mapping that has begun.
struct Open {
    place: Place,
    anchor: usize,
    content: Content,
    /// The key whose value comes next, in a mapping.
    key: Option<Key>,
    /// The mapping or the list of mappings to merge (`<<`), with the place of this key.
    merged: Option<(Place, Node)>,
}

/// A key that waits for its value.
struct Key {
    key: String,
    place: Place,
    /// True for the merge key `<<`.
    merge: bool,
}

impl<'t> Reader<'t> {
    fn new(source: u32, text: &'t str, limits: Limits) -> Self {
        let mut options = granit_parser::Options::default();
        options.set_emit_comments(false);
        let events = Parser::new_from_str_with_options(text, options);
        Self { source, text, limits, events, anchors: BTreeMap::new(), nodes: 0 }
    }

    /// The one document of the text.
    fn document(mut self) -> Result<Node, Diagnostic> {
        let mut open: Vec<Open> = Vec::new();
        let mut root = None;
        while let Some(event) = self.events.next() {
            let (event, span) = event.map_err(|error| self.syntax(&error))?;
            let place = self.place_of(span);
            let (node, anchor, plain) = match event {
                Event::DocumentStart(..) if root.is_some() => {
                    return Err(Diagnostic::new(
                        place,
                        "only one document is read, and here a second begins",
                    ));
                }
                Event::Scalar(_, _, _, Some(tag))
                | Event::SequenceStart(_, _, Some(tag))
                | Event::MappingStart(_, _, Some(tag)) => {
                    let place = span.tag_span().map_or(place, |span| self.place_of(span));
                    let tag = format!("{}{}", tag.original_handle(), tag.suffix());
                    return Err(Diagnostic::new(place, format!("the tag `{tag}`: tags are not read")));
                }
                Event::SequenceStart(_, anchor, None) => {
                    open.push(Open::new(place, anchor, Content::List(Vec::new())));
                    continue;
                }
                Event::MappingStart(_, anchor, None) => {
                    open.push(Open::new(place, anchor, Content::Map(Vec::new())));
                    continue;
                }
                Event::SequenceEnd | Event::MappingEnd => {
                    let closed = open.pop().unwrap_or_else(|| unreachable!("an end without its start"));
                    let anchor = closed.anchor;
                    (closed.node()?, anchor, false)
                }
                Event::Scalar(words, style, anchor, None) => {
                    let plain = style == ScalarStyle::Plain;
                    let content = match &*words {
                        "" | "~" | "null" | "Null" | "NULL" if plain => Content::Null,
                        _ => Content::Scalar(words.into_owned()),
                    };
                    (Node { place, used: None, content }, anchor, plain)
                }
                Event::Alias(anchor) => (self.alias(anchor, place)?, 0, false),
                _ => continue,
            };
            // Every node counts, and again in each anchor around it, which keeps a copy.
            self.count(if anchor == 0 { 1 } else { 1 + node.size() }, place)?;
            if anchor != 0 {
                self.anchors.insert(anchor, node.clone());
            }
            match open.last_mut() {
                Some(outer) => outer.take(node, plain)?,
                None => root = Some(node),
            }
        }
        Ok(root.unwrap_or(Node {
            place: Place::range(self.source, 0..0),
            used: None,
            content: Content::Null,
        }))
    }

    /// The node that an alias at `place` stands for.
    fn alias(&mut self, anchor: usize, place: Place) -> Result<Node, Diagnostic> {
        let Some(node) = self.anchors.get(&anchor) else {
            return Err(Diagnostic::new(place, "this alias is inside the value that it refers to"));
        };
        let mut node = node.clone();
        node.used = Some(place);
        self.count(node.size(), place)?;
        Ok(node)
    }

    /// Counts nodes; the texts of bombs are short, and their aliases many.
    fn count(&mut self, nodes: usize, place: Place) -> Result<(), Diagnostic> {
        self.nodes += nodes;
        if self.nodes > self.limits.nodes {
            let most = self.limits.nodes;
            return Err(Diagnostic::new(place, format!("more than {most} values, aliases counted in full")));
        }
        Ok(())
    }

    /// The bytes of an event; a node of several lines is shown by its first.
    fn place_of(&self, span: Span) -> Place {
        let start = self.byte_of(span.start);
        let end = self.byte_of(span.end).max(start);
        let end = self.text.get(start..end).and_then(|text| text.find('\n')).map_or(end, |at| start + at);
        Place::range(self.source, start..end)
    }

    fn byte_of(&self, marker: Marker) -> usize {
        let counted = || self.text.char_indices().nth(marker.index()).map_or(self.text.len(), |(at, _)| at);
        marker.byte_offset().unwrap_or_else(counted).min(self.text.len())
    }

    fn syntax(&self, error: &ScanError) -> Diagnostic {
        let start = self.byte_of(*error.marker());
        let problem = Diagnostic::new(Place::range(self.source, start..start), error.info());
        match ADVICE.iter().find(|(part, _)| error.info().contains(part)) {
            Some((_, hint)) => problem.hint(*hint),
            None => problem,
        }
    }
}

/// What would be right, by a part of the parser's message about syntax.
const ADVICE: [(&str, &str); 8] = [
    (
        "mapping values are not allowed",
        "put a text that contains `: ` in quotes; the keys of a mapping start in the same column",
    ),
    ("unexpected character", "put a text that begins with this character in quotes"),
    ("unknown anchor", "put a text that begins with `*` in quotes"),
    ("tabs disallowed", "indent with spaces"),
    ("block sequence entries", "begin a list on the next line, or write it as `[a, b]`"),
    (
        "did not find expected key",
        "the lines of a mapping start in the same column, and `key:` begins each entry",
    ),
    ("multiline quoted scalar", "close the quotes at the end of the text"),
    ("unclosed quote", "close the quotes at the end of the text"),
];

impl Open {
    const fn new(place: Place, anchor: usize, content: Content) -> Self {
        Self { place, anchor, content, key: None, merged: None }
    }

    /// Takes the next item, key or value; `plain` tells a scalar without quotes.
    fn take(&mut self, node: Node, plain: bool) -> Result<(), Diagnostic> {
        let entries = match &mut self.content {
            Content::List(items) => {
                items.push(node);
                return Ok(());
            }
            Content::Map(entries) => entries,
            Content::Null | Content::Scalar(_) => unreachable!("only lists and mappings are open"),
        };
        match self.key.take() {
            None => {
                let key = match node.content {
                    Content::Scalar(key) => key,
                    Content::Null => String::new(),
                    _ => return Err(Diagnostic::new(node.place, "a key must be a single word")),
                };
                // Quotes make an ordinary key of the merge key.
                let merge = plain && key == "<<";
                if merge && self.merged.is_some() {
                    return Err(twice(&key, node.place));
                }
                self.key = Some(Key { key, place: node.place, merge });
            }
            Some(Key { place, merge: true, .. }) => self.merged = Some((place, node)),
            Some(Key { key, place, .. }) => entries.push(Entry { key, place, value: node }),
        }
        Ok(())
    }

    /// The complete node. A merged entry comes after the written ones, and only if its key is not there yet.
    fn node(self) -> Result<Node, Diagnostic> {
        let Content::Map(mut entries) = self.content else {
            return Ok(Node { place: self.place, used: None, content: self.content });
        };
        let mut keys = BTreeSet::new();
        if let Some(again) = entries.iter().find(|entry| !keys.insert(entry.key.clone())) {
            return Err(twice(&again.key, again.place));
        }
        let (place, merged) =
            self.merged.map_or((self.place, Vec::new()), |(place, node)| match node.content {
                Content::List(items) => (place, items),
                _ => (place, vec![node]),
            });
        for mapping in merged {
            let place = mapping.used.unwrap_or(place);
            let Content::Map(more) = mapping.content else {
                return Err(Diagnostic::new(place, "`<<` takes a mapping or a list of mappings"));
            };
            for mut entry in more.into_iter().filter(|entry| keys.insert(entry.key.clone())) {
                entry.value.used = Some(place);
                entries.push(entry);
            }
        }
        Ok(Node { place: self.place, used: None, content: Content::Map(entries) })
    }
}

fn twice(key: &str, place: Place) -> Diagnostic {
    Diagnostic::new(place, format!("`{key}` is given twice"))
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

    /// The number of nodes in it.
    fn size(&self) -> usize {
        1 + match &self.content {
            Content::Null | Content::Scalar(_) => 0,
            Content::List(items) => items.iter().map(Self::size).sum(),
            Content::Map(entries) => entries.iter().map(|entry| 1 + entry.value.size()).sum(),
        }
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
    fn errors_of_syntax_state_what_would_be_right() {
        for (text, hint) in [
            ("a: b: c", "in quotes"),
            ("a: 1\n b: 2", "the same column"),
            ("a: @x", "in quotes"),
            ("a: `x`", "in quotes"),
            ("a: *x", "in quotes"),
            ("a:\n\t- 1", "indent with spaces"),
            ("a: - b", "`[a, b]`"),
            ("a: x\n- y", "the same column"),
            ("a: \"x", "close the quotes"),
        ] {
            let problem = tree(0, text).unwrap_err();
            assert!(problem.hint.contains(hint), "{text:?}: {}: {}", problem.message, problem.hint);
        }
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
    fn merged_entries_follow_and_never_replace() {
        let root = tree(0, "a: &a {x: 1, y: 2}\nb: &b {y: 3, z: 4}\nc: {<<: [*b, *a], x: 0}\n").unwrap();
        let entries = root.get("c").unwrap().value.entries();
        let read: Vec<_> = entries.iter().map(|e| (e.key.as_str(), e.value.content.clone())).collect();
        let scalar = |words: &str| Content::Scalar(words.to_owned());
        assert_eq!(read, [("x", scalar("0")), ("y", scalar("3")), ("z", scalar("4"))]);
        let quoted = tree(0, "'<<': {x: 1}\n").unwrap();
        assert_eq!(quoted.entries()[0].key, "<<");
        for text in ["<<: 1\n", "<<: [1]\n", "<<: {}\n<<: {}\n"] {
            assert!(tree(0, text).is_err(), "{text}");
        }
    }

    #[test]
    fn an_alias_inside_its_own_value_is_refused() {
        let problem = tree(0, "a: &a [x, *a]\n").unwrap_err();
        assert!(problem.message.contains("inside the value"), "{}", problem.message);
        assert!(tree(0, "a: *b\n").is_err());
    }

    #[test]
    #[cfg_attr(miri, ignore = "a text of 1 MiB and 50,000 nodes")]
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
        // Each anchor keeps a copy of what is inside it.
        let nested: String = (0..200).map(|i| format!("&a{i} [")).collect();
        let nested = format!("{nested}{}{}", "x,".repeat(2_000), "]".repeat(200));
        assert!(tree(0, &nested).is_err());
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
        for text in ["!%1f a", "\"\\e\": 1\n\"\\e\": 2\n"] {
            let problem = tree(0, text).unwrap_err();
            assert!(!problem.message.contains(neutral::is_invisible), "{problem:?}");
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
