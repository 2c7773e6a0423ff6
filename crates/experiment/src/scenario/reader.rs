//! Reads nodes as values and collects everything that is wrong on the way.

use std::collections::BTreeMap;

use machines::Entry as Machine;
use notation::diagnostics::{Diagnostic, Place};
use notation::parameter::{Kind, Parameter, Values};
use notation::suggest::nearest;
use notation::units;
use notation::yaml::{Content, Entry, Node};
use policies::PolicyShelf;

/// The errors found so far, the policies there are, and what was read from other files.
#[derive(Default)]
pub(crate) struct Reader {
    /// The machines of files, by the path as written; `None` for a file in which something is wrong.
    pub(crate) machines: BTreeMap<String, Option<Machine>>,
    /// The policies that can be named.
    pub(crate) policies: PolicyShelf,
    problems: Vec<Diagnostic>,
}

/// A name with parameters: `PIN` or `PIN: { layout: random }`.
pub(crate) struct Chosen<'a> {
    pub(crate) name: &'a str,
    pub(crate) place: Place,
    pub(crate) parameters: &'a [Entry],
}

impl Reader {
    /// Nothing read yet.
    pub(crate) fn new(policies: &PolicyShelf) -> Self {
        Self { policies: policies.clone(), ..Self::default() }
    }

    /// All errors.
    pub(crate) fn problems(self) -> Vec<Diagnostic> {
        self.problems
    }

    /// True when nothing was wrong so far.
    pub(crate) fn is_clean(&self) -> bool {
        self.problems.is_empty()
    }

    /// Notes an error at a place.
    pub(crate) fn wrong(&mut self, place: Place, message: impl Into<String>) {
        self.problems.push(Diagnostic::new(place, message));
    }

    /// Notes an error at a place with a hint.
    pub(crate) fn wrong_with_hint(
        &mut self,
        place: Place,
        message: impl Into<String>,
        hint: impl Into<String>,
    ) {
        self.problems.push(Diagnostic::new(place, message).hint(hint));
    }

    /// Notes a finished diagnostic.
    pub(crate) fn add(&mut self, diagnostic: Diagnostic) {
        self.problems.push(diagnostic);
    }

    /// Notes an error at a node; one that came through an alias is shown where it is used, too.
    pub(crate) fn wrong_node(&mut self, node: &Node, message: impl Into<String>, hint: impl Into<String>) {
        let diagnostic = Diagnostic::new(node.place, message).hint(hint);
        self.problems.push(match node.used {
            Some(used) => diagnostic.related(used, "used here"),
            None => diagnostic,
        });
    }

    /// Notes an unknown name, with the nearest known one or the list of all.
    pub(crate) fn unknown(&mut self, place: Place, what: &str, name: &str, known: &[&str]) {
        self.wrong_with_hint(place, format!("unknown {what} `{name}`"), advice(name, known));
    }

    /// Checks that a node is a mapping with no other than these keys.
    pub(crate) fn mapping<'a>(&mut self, node: &'a Node, what: &str, keys: &[&str]) -> Option<&'a [Entry]> {
        let Content::Map(entries) = &node.content else {
            self.wrong_node(node, format!("{what} must be a mapping, not {}", node.what()), keys_hint(keys));
            return None;
        };
        for entry in entries {
            if !keys.contains(&entry.key.as_str()) {
                self.unknown(entry.place, "key", &entry.key, keys);
            }
        }
        Some(entries)
    }

    /// The text of a scalar.
    pub(crate) fn text<'a>(&mut self, node: &'a Node, what: &str) -> Option<&'a str> {
        if let Content::Scalar(text) = &node.content {
            return Some(text);
        }
        self.wrong_node(node, format!("{what} must be a single value, not {}", node.what()), "");
        None
    }

    /// The value of a scalar of a kind, between two bounds.
    pub(crate) fn value(&mut self, node: &Node, what: &str, kind: Kind, min: u64, max: u64) -> Option<u64> {
        let text = match &node.content {
            Content::Scalar(text) => text,
            _ => {
                let message = format!("{what} must be a single value, not {}", node.what());
                self.wrong_node(node, message, units::expected(kind));
                return None;
            }
        };
        match units::parse(kind, text) {
            Err(message) => {
                self.wrong_node(node, format!("{what}: {message}"), "");
                None
            }
            Ok(value) if value < min || value > max => {
                let (min, max) = (kind.show(min), kind.show(max));
                self.wrong_node(node, format!("{what} must lie between {min} and {max}"), "");
                None
            }
            Ok(value) => Some(value),
        }
    }

    /// A name, or a mapping of one name to its parameters; keys in `beside` may stand next to the name.
    pub(crate) fn chosen<'a>(&mut self, node: &'a Node, what: &str, beside: &[&str]) -> Option<Chosen<'a>> {
        match &node.content {
            Content::Scalar(name) => Some(Chosen { name, place: node.place, parameters: &[] }),
            Content::Map(entries) => {
                let mut named = entries.iter().filter(|entry| !beside.contains(&entry.key.as_str()));
                let (Some(entry), None) = (named.next(), named.next()) else {
                    let message = format!("{what} must be one name, alone or with its parameters");
                    self.wrong_node(node, message, "write `name` or `name: { parameter: value }`");
                    return None;
                };
                let parameters = match &entry.value.content {
                    Content::Null => &[],
                    Content::Map(parameters) => parameters.as_slice(),
                    _ => {
                        let message = format!("the parameters of `{}` must be a mapping", entry.key);
                        self.wrong_node(&entry.value, message, "write `{ parameter: value }`");
                        return None;
                    }
                };
                Some(Chosen { name: &entry.key, place: entry.place, parameters })
            }
            _ => {
                self.wrong_node(node, format!("{what} must be a name, not {}", node.what()), "");
                None
            }
        }
    }

    /// Sets declared parameters from a mapping's entries.
    pub(crate) fn parameters(&mut self, of: &str, values: &mut Values, entries: &[Entry]) {
        for entry in entries {
            let Some(parameter) = values.find(&entry.key).copied() else {
                let known: Vec<&str> = values.table().iter().map(|p| p.name).collect();
                self.unknown(entry.place, &format!("parameter of {of}:"), &entry.key, &known);
                continue;
            };
            let Parameter { name, kind, min, max, .. } = parameter;
            if let Some(value) = self.value(&entry.value, &format!("`{name}`"), kind, min, max)
                && let Err(message) = values.set(name, value)
            {
                self.wrong_node(&entry.value, message, "");
            }
        }
    }
}

/// The nearest known name, or all of them when they are few.
pub(crate) fn advice(name: &str, known: &[&str]) -> String {
    match nearest(name, known.iter().copied()) {
        Some(near) => format!("did you mean `{near}`?"),
        None if known.is_empty() => "there is none".into(),
        None => keys_hint(known),
    }
}

fn keys_hint(known: &[&str]) -> String {
    if known.is_empty() || known.len() > 40 { String::new() } else { format!("known: {}", known.join(", ")) }
}
