//! Reads nodes as values and collects everything that is wrong on the way.

use crate::cpus::{Numbering, linux};
use crate::diagnostics::{Diagnostic, Place};
use crate::lists::List;
use crate::parameter::{Kind, Parameter, Values, original};
use crate::suggest::{advice, few, nearest};
use crate::units;
use crate::yaml::{Content, Entry, Node};

/// The errors found so far, and what values can refer to.
#[derive(Clone, Debug, Default)]
pub struct Reader<C = ()> {
    /// What the parameters can refer to.
    pub scope: Scope,
    /// What else the functions that read a certain kind of file need.
    pub context: C,
    problems: Vec<Diagnostic>,
    remarks: Vec<String>,
}

/// What values can refer to: the cpus of the machine, and the applications by name.
#[derive(Clone, Debug, Default)]
pub struct Scope {
    /// The cpus of the machine; `None` when it is not known.
    pub machine: Option<Numbering>,
    /// The names of the applications.
    pub apps: Vec<String>,
}

/// A name with parameters: `PIN` or `PIN: { layout: random }`.
#[derive(Clone, Copy, Debug)]
pub struct Chosen<'a> {
    /// The name.
    pub name: &'a str,
    /// Where it is written.
    pub place: Place,
    /// The parameters as written.
    pub parameters: &'a [Entry],
}

impl<C> Reader<C> {
    /// Nothing read yet.
    pub fn new(context: C) -> Self {
        Self { scope: Scope::default(), context, problems: Vec::new(), remarks: Vec::new() }
    }

    /// Notes what the user should know although nothing is wrong: a sentence without full stop, once.
    pub fn remark(&mut self, sentence: impl Into<String>) {
        let sentence = sentence.into();
        if !self.remarks.contains(&sentence) {
            self.remarks.push(sentence);
        }
    }

    /// All remarks so far.
    #[must_use]
    pub fn remarks(&self) -> &[String] {
        &self.remarks
    }

    /// All errors.
    pub fn problems(self) -> Vec<Diagnostic> {
        self.problems
    }

    /// True when nothing was wrong so far.
    pub fn is_clean(&self) -> bool {
        self.problems.is_empty()
    }

    /// Notes an error at a place.
    pub fn wrong(&mut self, place: Place, message: impl Into<String>) {
        self.problems.push(Diagnostic::new(place, message));
    }

    /// Notes an error at a place with a hint.
    pub fn wrong_with_hint(&mut self, place: Place, message: impl Into<String>, hint: impl Into<String>) {
        self.problems.push(Diagnostic::new(place, message).hint(hint));
    }

    /// Notes a finished diagnostic.
    pub fn add(&mut self, diagnostic: Diagnostic) {
        self.problems.push(diagnostic);
    }

    /// Notes an error at a node; one that came through an alias is shown where it is used, too.
    pub fn wrong_node(&mut self, node: &Node, message: impl Into<String>, hint: impl Into<String>) {
        let diagnostic = Diagnostic::new(node.place, message).hint(hint);
        self.problems.push(match node.used {
            Some(used) => diagnostic.related(used, "used here"),
            None => diagnostic,
        });
    }

    /// Notes an unknown name, with the nearest known one or all of them.
    pub fn unknown(&mut self, place: Place, what: &str, name: &str, known: &[&str]) {
        self.wrong_with_hint(place, format!("unknown {what} `{name}`"), advice(name, known));
    }

    /// Notes an unknown name of a registry, with the nearest entry and all of them.
    pub fn unknown_entry(&mut self, place: Place, what: &str, name: &str, known: &[&str]) {
        let near = nearest(name, known.iter().copied());
        let near = near.map_or_else(String::new, |near| format!("did you mean `{near}`? "));
        let message = format!("unknown {what} `{name}`");
        self.wrong_with_hint(place, message, format!("{near}{}", few(known)));
    }

    /// Checks that a node is a mapping with no other than these keys.
    pub fn mapping<'a>(&mut self, node: &'a Node, what: &str, keys: &[&str]) -> Option<&'a [Entry]> {
        let Content::Map(entries) = &node.content else {
            self.wrong_node(node, format!("{what} must be a mapping, not {}", node.what()), few(keys));
            return None;
        };
        for entry in entries {
            if !keys.contains(&entry.key.as_str()) {
                self.unknown(entry.place, "key", &entry.key, keys);
            }
        }
        Some(entries)
    }

    /// The value of a key of a mapping, which must be there.
    pub fn required<'a>(&mut self, node: &'a Node, key: &str) -> Option<&'a Node> {
        let found = node.get(key).map(|entry| &entry.value);
        if found.is_none() {
            self.wrong(node.start(), format!("there is no `{key}`"));
        }
        found
    }

    /// The text of a scalar.
    pub fn text<'a>(&mut self, node: &'a Node, what: &str) -> Option<&'a str> {
        if let Content::Scalar(text) = &node.content {
            return Some(text);
        }
        self.wrong_node(node, format!("{what} must be a single value, not {}", node.what()), "");
        None
    }

    /// The value of a scalar of a kind, between two bounds.
    pub fn value(&mut self, node: &Node, what: &str, kind: Kind, min: u64, max: u64) -> Option<u64> {
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
    pub fn chosen<'a>(&mut self, node: &'a Node, what: &str, beside: &[&str]) -> Option<Chosen<'a>> {
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
    pub fn parameters(&mut self, of: &str, values: &mut Values, entries: &[Entry]) {
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
            // An order in which ranks get cpus: two of them may share one.
            kind @ (Kind::Cpus | Kind::Counts) => self.items(node, what, kind, (min, max), true),
            kind => self.value(node, what, kind, min, max).map(|value| vec![value]),
        }
    }

    /// A list of counts, or of cpus that are each named once: a YAML list, or a text like `0-3,8` or
    /// `linux:0-3`; cpus are those of the machine.
    pub fn list(&mut self, node: &Node, what: &str, kind: Kind, range: (u64, u64)) -> Option<Vec<u64>> {
        self.items(node, what, kind, range, false)
    }

    /// A list; with `ordered`, cpus have an order and may be named several times.
    fn items(
        &mut self,
        node: &Node,
        what: &str,
        kind: Kind,
        (min, max): (u64, u64),
        ordered: bool,
    ) -> Option<Vec<u64>> {
        let texts = self.parts(node, what, kind)?;
        let cpus = self.scope.machine.clone().filter(|_| kind == Kind::Cpus);
        let mut list = if ordered { List::repeating() } else { List::default() };
        for (part, text) in &texts {
            let plain = linux(text).filter(|_| kind == Kind::Cpus).unwrap_or(text);
            let added = match &cpus {
                Some(cpus) => cpus.add(&mut list, text),
                None => list.add(kind, plain, min, max),
            };
            if let Err(message) = added {
                // Only a cpu that does not exist is a matter of the machine.
                let missing = message.ends_with("does not exist");
                let hint = cpus.as_ref().filter(|_| missing).map_or_else(String::new, Numbering::hint);
                self.wrong_node(part, format!("{what}: {message}"), hint);
                return None;
            }
        }
        let items = list.items();
        let text: Vec<&str> = texts.into_iter().map(|(_, text)| text).collect();
        if let Some(remark) = cpus.and_then(|cpus| cpus.remark(&text.join(","), &items, ordered)) {
            self.remark(format!("{what}: {remark}"));
        }
        Some(items)
    }

    /// The texts of a list, with their places.
    fn parts<'a>(&mut self, node: &'a Node, what: &str, kind: Kind) -> Option<Vec<(&'a Node, &'a str)>> {
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
        let mut texts: Vec<(&Node, &str)> = Vec::with_capacity(parts.len());
        for part in parts {
            let text = self.text(part, &format!("each part of {what}"))?;
            let mixed = |(_, first): &(&Node, &str)| linux(first).is_some() != linux(text).is_some();
            if kind == Kind::Cpus && texts.first().is_some_and(mixed) {
                let message = format!("{what} mixes the numbers of Linux and those of oversim");
                self.wrong_node(part, message, "write `linux:` before each part, or before none");
                return None;
            }
            texts.push((part, text));
        }
        Some(texts)
    }
}
