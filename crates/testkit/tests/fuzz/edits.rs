//! Edits of the tree of a shipped file, as an input chooses them: YAML and JSON alike.

use std::sync::LazyLock;

use notation::yaml::{self, Content, Node};
use serde_json::{Map, Value};
use testkit::house::files;

use crate::tape::Tape;

/// Values at the ends of ranges, of other kinds, and with characters that no message may repeat.
const EXTREMES: &[&str] = &[
    "0",
    "1",
    "2",
    "-1",
    "65536",
    "4294967295",
    "4294967296",
    "18446744073709551615",
    "18446744073709551616",
    "1e308",
    "0.001",
    "0.0001",
    "100%",
    "0%",
    "101%",
    "0ns",
    "1ns",
    "1us",
    "10ms",
    "1s",
    "10d",
    "infinite",
    "584y",
    "1B",
    "1EiB",
    "16EiB",
    "1B/s",
    "1EB/s",
    "true",
    "no",
    "~",
    "",
    " ",
    "a",
    "all",
    "dedicated",
    "0-3",
    "0-4194303",
    "3-0",
    "0-15:4",
    "core:1",
    "core:4194304",
    "package:2 numa:2 core:2 pu:2",
    "1..4",
    "1..1000000",
    "1ms..1s:*2",
    "LOAD",
    "PIN",
    "a-2",
    "x\u{1b}[31m",
    "\u{202e}x",
    "\0",
    "a: b",
    "# c",
    "<b>",
    "{",
    "../x.yaml",
    "/dev/null/x.yaml",
    "\u{e4}\u{65e5}",
    "1_000",
    "0x10",
    "+1",
    "NaN",
    "run 1ms exponential; yield",
    "forever { receive q; run 10us lognormal 50% }",
    "repeat 3 { choose { 30% { lock l } 70% { unlock l } } }",
    "wait c with l; broadcast c",
    "until 1ms from 1us clock k skip",
    "acquire s 4294967295",
    "cpus 0-3; nice -20",
    "share 2 { barrier }",
    "$v",
];

/// Files whose trees are edited, and the keys and values of all of them.
pub(crate) struct Bases {
    trees: Vec<Value>,
    keys: Vec<String>,
    values: Vec<Value>,
}

impl Bases {
    /// The YAML files of these folders of the repository, and this text.
    pub(crate) fn of(folders: &[&str], text: &str) -> Self {
        let read = |folder: &&str| files(folder, &["yaml"]).unwrap();
        let texts: Vec<String> = folders.iter().flat_map(read).map(|(_, text)| text).collect();
        let all = [text].into_iter().chain(texts.iter().map(String::as_str));
        Self::from(all.filter_map(|text| Some(value(&yaml::tree(0, text).ok()?))).collect())
    }

    /// These trees.
    pub(crate) fn from(trees: Vec<Value>) -> Self {
        let (mut keys, mut values) = (Vec::new(), Vec::new());
        trees.iter().for_each(|tree| gather(tree, &mut keys, &mut values));
        keys.sort();
        keys.dedup();
        Self { trees, keys, values }
    }

    /// The tree that an input stands for: one of the files with up to eight edits.
    pub(crate) fn edited(&self, tape: &mut Tape<'_>) -> Value {
        let mut tree = self.trees[tape.below(self.trees.len())].clone();
        for _ in 0..8 {
            if tape.is_over() {
                break;
            }
            self.edit(&mut tree, tape);
        }
        tree
    }

    /// Some node of some file.
    fn other(&self, tape: &mut Tape<'_>) -> Value {
        let mut tree = self.trees[tape.below(self.trees.len())].clone();
        let mut at = tape.below(count(&tree));
        nth(&mut tree, &mut at).map(Value::take).unwrap_or_default()
    }

    fn edit(&self, tree: &mut Value, tape: &mut Tape<'_>) {
        let kind = tape.byte() % 10;
        let mut at = tape.below(count(tree));
        let mut whole = tree.clone();
        let Some(node) = nth(tree, &mut at) else { return };
        match kind {
            0 => delete(node, tape),
            1 => self.duplicate(node, tape),
            2 => {
                let mut other = tape.below(count(&whole));
                *node = nth(&mut whole, &mut other).map(Value::take).unwrap_or_default();
            }
            3 => *node = Value::from(EXTREMES[tape.below(EXTREMES.len())]),
            4 => *node = self.other(tape),
            5 => rename(node, tape, &self.keys),
            6 => {
                let inner = node.take();
                let key = self.keys[tape.below(self.keys.len())].clone();
                *node = match tape.byte() % 2 {
                    0 => Value::Array(vec![inner]),
                    _ => Value::Object(Map::from_iter([(key, inner)])),
                };
            }
            7 => renumber(node, tape),
            8 => *node = self.values[tape.below(self.values.len())].clone(),
            _ => {
                let key = self.keys[tape.below(self.keys.len())].clone();
                let value = self.other(tape);
                if let Value::Object(entries) = node {
                    entries.insert(key, value);
                }
            }
        }
    }

    fn duplicate(&self, node: &mut Value, tape: &mut Tape<'_>) {
        match node {
            Value::Array(items) if !items.is_empty() => {
                let item = items[tape.below(items.len())].clone();
                items.push(item);
            }
            Value::Object(entries) if !entries.is_empty() => {
                let value = entries.values().nth(tape.below(entries.len())).cloned().unwrap_or_default();
                entries.insert(self.keys[tape.below(self.keys.len())].clone(), value);
            }
            _ => {}
        }
    }
}

/// The scenarios that the program ships, and a small one.
pub(crate) static SCENARIOS: LazyLock<Bases> = LazyLock::new(|| {
    Bases::of(
        &["scenarios", "crates/scenario/tests/wrong", "crates/validation/data/studies"],
        crate::scenarios::SMALL,
    )
});

/// The machines that the program ships, and a small one.
pub(crate) static MACHINES: LazyLock<Bases> =
    LazyLock::new(|| Bases::of(&["crates/machines/data"], crate::machine::SMALL));

/// The tree of a YAML document without places; every scalar is a text.
fn value(node: &Node) -> Value {
    match &node.content {
        Content::Null => Value::Null,
        Content::Scalar(text) => Value::from(text.as_str()),
        Content::List(items) => Value::Array(items.iter().map(value).collect()),
        Content::Map(entries) => {
            Value::Object(entries.iter().map(|entry| (entry.key.clone(), value(&entry.value))).collect())
        }
    }
}

fn gather(tree: &Value, keys: &mut Vec<String>, values: &mut Vec<Value>) {
    match tree {
        Value::Array(items) => items.iter().for_each(|item| gather(item, keys, values)),
        Value::Object(entries) => {
            for (key, value) in entries {
                keys.push(key.clone());
                gather(value, keys, values);
            }
        }
        scalar => values.push(scalar.clone()),
    }
}

/// The number of nodes.
fn count(tree: &Value) -> usize {
    1 + match tree {
        Value::Array(items) => items.iter().map(count).sum(),
        Value::Object(entries) => entries.values().map(count).sum(),
        _ => 0,
    }
}

/// The node of a number, the root first.
fn nth<'a>(tree: &'a mut Value, at: &mut usize) -> Option<&'a mut Value> {
    if *at == 0 {
        return Some(tree);
    }
    *at -= 1;
    match tree {
        Value::Array(items) => items.iter_mut().find_map(|item| nth(item, at)),
        Value::Object(entries) => entries.values_mut().find_map(|value| nth(value, at)),
        _ => None,
    }
}

fn delete(node: &mut Value, tape: &mut Tape<'_>) {
    match node {
        Value::Array(items) if !items.is_empty() => drop(items.remove(tape.below(items.len()))),
        Value::Object(entries) if !entries.is_empty() => {
            let key = entries.keys().nth(tape.below(entries.len())).cloned().unwrap_or_default();
            entries.shift_remove(&key);
        }
        _ => *node = Value::Null,
    }
}

fn rename(node: &mut Value, tape: &mut Tape<'_>, keys: &[String]) {
    let Value::Object(entries) = node else { return };
    let at = tape.below(entries.len());
    let new = &keys[tape.below(keys.len())];
    let renamed = std::mem::take(entries).into_iter().enumerate();
    *entries = renamed.map(|(i, (key, value))| (if i == at { new.clone() } else { key }, value)).collect();
}

/// Replaces the digits of a number, or the number.
fn renumber(node: &mut Value, tape: &mut Tape<'_>) {
    const NUMBERS: [&str; 12] = [
        "0",
        "1",
        "2",
        "3",
        "7",
        "64",
        "1000",
        "0.5",
        "4294967296",
        "9007199254740993",
        "18446744073709551615",
        "99999999999999999999",
    ];
    let number = NUMBERS[tape.below(NUMBERS.len())];
    match node {
        Value::String(text) => {
            let digit = |c: char| c.is_ascii_digit() || c == '.';
            let (start, end) = (text.find(digit), text.rfind(digit));
            if let (Some(start), Some(end)) = (start, end) {
                text.replace_range(start..=end, number);
            }
        }
        Value::Number(_) => *node = serde_json::from_str(number).unwrap_or_default(),
        _ => {}
    }
}

/// The tree as YAML in block style. What is read from it is the same tree, unless the reader refuses it.
pub(crate) fn written(tree: &Value) -> String {
    let mut text = String::new();
    write(tree, 0, &mut text);
    let text = text.trim_start().to_owned() + "\n";
    // A merge key is resolved by the reader.
    if let Ok(read) = yaml::tree(0, &text)
        && !text.contains("<<")
    {
        assert_eq!(value(&read), texts(tree), "written as {text}");
    }
    text
}

/// The tree with every number and flag as a text.
fn texts(tree: &Value) -> Value {
    match tree {
        Value::Array(items) => items.iter().map(texts).collect(),
        Value::Object(entries) => entries.iter().map(|(key, value)| (key.clone(), texts(value))).collect(),
        Value::Number(number) => Value::from(number.to_string()),
        Value::Bool(flag) => Value::from(flag.to_string()),
        other => other.clone(),
    }
}

fn write(tree: &Value, depth: usize, text: &mut String) {
    let indent = format!("\n{}", "  ".repeat(depth));
    match tree {
        Value::Object(entries) if !entries.is_empty() => {
            for (key, value) in entries {
                text.push_str(&format!("{indent}{}:", scalar(key)));
                write(value, depth + 1, text);
            }
        }
        Value::Array(items) if !items.is_empty() => {
            for item in items {
                text.push_str(&format!("{indent}-"));
                write(item, depth + 1, text);
            }
        }
        Value::Object(_) => text.push_str(" {}"),
        Value::Array(_) => text.push_str(" []"),
        Value::Null => text.push_str(" null"),
        Value::String(word) => text.push_str(&format!(" {}", scalar(word))),
        other => text.push_str(&format!(" {other}")),
    }
}

/// A scalar, quoted where a plain one would mean something else.
fn scalar(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "_-./%+".contains(c);
    let null = ["null", "Null", "NULL"].contains(&word);
    let begins = word.starts_with(|c: char| c.is_ascii_alphanumeric());
    if begins && word.chars().all(plain) && !null { word.to_owned() } else { Value::from(word).to_string() }
}
