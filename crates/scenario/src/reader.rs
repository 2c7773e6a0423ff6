//! Reads nodes as values and collects everything that is wrong on the way.

use std::collections::BTreeMap;

use machines::Entry as Machine;
use notation::diagnostics::{Diagnostic, Place};
use notation::lists::List;
use notation::parameter::{Kind, Parameter, Values, original};
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
    /// What the parameters of policies can refer to.
    pub(crate) scope: Scope,
    problems: Vec<Diagnostic>,
}

/// What values can refer to: the cpus of the machine, and the applications by name.
#[derive(Default)]
pub(crate) struct Scope {
    /// Name and number of cpus of the machine; `None` when it is not known.
    pub(crate) machine: Option<(String, u32)>,
    /// The names of the applications.
    pub(crate) apps: Vec<String>,
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

    /// Notes an unknown name, with the nearest known one or all of them.
    pub(crate) fn unknown(&mut self, place: Place, what: &str, name: &str, known: &[&str]) {
        self.wrong_with_hint(place, format!("unknown {what} `{name}`"), advice(name, known));
    }

    /// Notes an unknown name of a registry, with the nearest entry and all of them.
    pub(crate) fn unknown_entry(&mut self, place: Place, what: &str, name: &str, known: &[&str]) {
        let near = nearest(name, known.iter().copied());
        let near = near.map_or_else(String::new, |near| format!("did you mean `{near}`? "));
        self.wrong_with_hint(
            place,
            format!("unknown {what} `{name}`"),
            format!("{near}{}", keys_hint(known)),
        );
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
                    let message = format!("{what} must be one name, with or without parameters");
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
            let what = format!("`{}`", parameter.name);
            match (parameter.kind, &entry.value.content) {
                (Kind::PerApp(_), Content::Map(apps)) => self.per_app(&what, values, parameter, apps),
                _ => {
                    if let Some(numbers) = self.numbers(&entry.value, &what, parameter)
                        && let Err(message) = values.set_list(parameter.name, numbers)
                    {
                        self.wrong_node(&entry.value, message, "");
                    }
                }
            }
        }
    }

    /// Sets a parameter that differs by application.
    fn per_app(&mut self, what: &str, values: &mut Values, parameter: Parameter, apps: &[Entry]) {
        for entry in apps {
            let known: Vec<String> = self.scope.apps.clone();
            let known: Vec<&str> = known.iter().map(String::as_str).collect();
            if !known.contains(&entry.key.as_str()) {
                self.unknown(entry.place, "application", &entry.key, &known);
                continue;
            }
            // A copy `cg-2` has the value of `cg`; an application of that name must not have it by accident.
            let alike = |other: &&&str| {
                original(other) == Some(&entry.key) && !apps.iter().any(|named| named.key == **other)
            };
            if let Some(other) = known.iter().find(alike) {
                let message =
                    format!("`{other}` has the name of a copy of `{}`: {what} must name both", entry.key);
                self.wrong_with_hint(entry.place, message, format!("add `{other}: VALUE`"));
            }
            let what = format!("{what} of `{}`", entry.key);
            if let Some(numbers) = self.numbers(&entry.value, &what, parameter)
                && let Err(message) = values.set_for(parameter.name, &entry.key, numbers)
            {
                self.wrong_node(&entry.value, message, "");
            }
        }
    }

    /// The list of a parameter, or its one number when it is none.
    fn numbers(&mut self, node: &Node, what: &str, parameter: Parameter) -> Option<Vec<u64>> {
        let Parameter { kind, min, max, .. } = parameter;
        match kind.of_one() {
            kind @ (Kind::Cpus | Kind::Counts) => self.list(node, what, kind, (min, max)),
            kind => self.value(node, what, kind, min, max).map(|value| vec![value]),
        }
    }

    /// A list of cpus or counts: a YAML list, or a text like `0-3,8`; cpus are those of the machine.
    pub(crate) fn list(
        &mut self,
        node: &Node,
        what: &str,
        kind: Kind,
        (min, max): (u64, u64),
    ) -> Option<Vec<u64>> {
        let parts = match &node.content {
            Content::Scalar(_) => std::slice::from_ref(node),
            Content::List(items) if !items.is_empty() => items.as_slice(),
            Content::List(_) | Content::Null => {
                self.wrong_node(node, format!("{what} is an empty list"), units::expected(kind));
                return None;
            }
            Content::Map(_) => {
                self.wrong_node(node, format!("{what} must be a list, not a mapping"), units::expected(kind));
                return None;
            }
        };
        let cpus = self.scope.machine.as_ref().filter(|_| kind == Kind::Cpus);
        let last = cpus.map_or(max, |(_, cpus)| max.min(u64::from(cpus.saturating_sub(1))));
        let hint =
            cpus.map_or_else(String::new, |(name, _)| format!("the cpus of {name} are numbered 0 to {last}"));
        let mut list = List::default();
        for part in parts {
            let text = self.text(part, &format!("each part of {what}"))?;
            if let Err(message) = list.add(kind, text, min, last) {
                // Only a cpu that does not exist is a matter of the machine.
                let hint = if message.ends_with("does not exist") { hint.as_str() } else { "" };
                self.wrong_node(part, format!("{what}: {message}"), hint);
                return None;
            }
        }
        Some(list.items())
    }
}

/// The nearest known name, or all of them when they are few.
pub(crate) fn advice(name: &str, known: &[&str]) -> String {
    match nearest(name, known.iter().copied()) {
        Some(near) => format!("did you mean `{near}`?"),
        None if known.is_empty() => "there are none".into(),
        None => keys_hint(known),
    }
}

fn keys_hint(known: &[&str]) -> String {
    if known.is_empty() || known.len() > 40 { String::new() } else { format!("known: {}", known.join(", ")) }
}
