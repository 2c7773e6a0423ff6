//! Policy files that a scenario names: `policies: [LOAD, ./scx_simple.wasm]`, relative to the scenario's own
//! file; and the form of a policy in which its parameters stand beside its name.

use std::fmt::Write;
use std::mem;

use notation::diagnostics::{Diagnostic, Place};
use notation::yaml::{Content, Entry, Node};
use policies::is_file;

use crate::Reader;
use crate::named_files::NamedFiles;
use crate::policies::BESIDE;

/// The key of a policy's name where its parameters stand beside it.
pub(crate) const POLICY: &str = "policy";
/// The key of its label in that form.
pub(crate) const LABEL: &str = "label";

/// Turns each policy `{ policy: NAME, label: LABEL, PARAMETER: VALUE }` into `{ NAME: { PARAMETER: VALUE },
/// as: LABEL }`, the form that all readers know.
pub(crate) fn unfold(root: &mut Node) {
    let Content::Map(entries) = &mut root.content else { return };
    let Some(policies) = entries.iter_mut().find(|entry| entry.key == "policies") else { return };
    let Content::List(items) = &mut policies.value.content else { return };
    for item in items {
        let Content::Map(entries) = &mut item.content else { continue };
        let Some(at) = entries.iter().position(|entry| entry.key == POLICY) else { continue };
        let Content::Scalar(name) = &entries[at].value.content else { continue };
        let (name, place) = (name.clone(), entries[at].value.place);
        let mut parameters = Node::empty_map(item.place);
        let mut beside = Vec::new();
        for mut entry in mem::take(entries) {
            match entry.key.as_str() {
                POLICY => {}
                LABEL => {
                    "as".clone_into(&mut entry.key);
                    beside.push(entry);
                }
                key if BESIDE.contains(&key) => beside.push(entry),
                _ => {
                    if let Content::Map(all) = &mut parameters.content {
                        all.push(entry);
                    }
                }
            }
        }
        entries.push(Entry { key: name, place, value: parameters });
        entries.append(&mut beside);
    }
}

/// Reads all policy files that a scenario and its sweep name into the registry of the reader. Returns what
/// belongs to the text of the scenario: a comment with the name and the checksum of each.
pub(crate) fn read_all(root: &Node, files: &mut NamedFiles<'_>, reader: &mut Reader) -> String {
    let mut text = String::new();
    for (name, place) in named(root) {
        if !is_file(name) || reader.context.policies.has_file(name) {
            continue;
        }
        let path = match files.path(name) {
            Ok(path) => path,
            Err(why) => {
                reader.wrong(place, format!("cannot use the policy file {name}: {why}"));
                continue;
            }
        };
        match reader.context.policies.read_file(name, &path) {
            Ok(sha256) => {
                files.keep_file(name, &path);
                let _ = write!(text, "\n# policy file {name}, SHA-256 {sha256}\n");
            }
            Err((problem, hint)) => {
                let message = format!("cannot use the policy file {}: {problem}", path.display());
                let problem = Diagnostic::new(place, message);
                reader.add(if hint.is_empty() { problem } else { problem.hint(hint) });
            }
        }
    }
    text
}

/// The policies that a scenario names: in its list, under those of its list, and in its sweep.
fn named(root: &Node) -> Vec<(&str, Place)> {
    let mut found = Vec::new();
    if let Some(Content::List(items)) = root.get("policies").map(|entry| &entry.value.content) {
        for item in items {
            found.extend(name_of(item));
            found.extend(item.get("over").and_then(|over| name_of(&over.value)));
        }
    }
    if let Some(sweep) = root.get("sweep") {
        swept(&sweep.value, &mut found);
    }
    found
}

/// The name of a policy, and where it is written.
fn name_of(item: &Node) -> Option<(&str, Place)> {
    match &item.content {
        Content::Scalar(name) => Some((name, item.place)),
        _ => {
            let mut entries = item.entries().iter();
            let named = entries.find(|entry| !BESIDE.contains(&entry.key.as_str()))?;
            Some((&named.key, named.place))
        }
    }
}

/// Adds the values of each path `policies.LABEL.over`, also of those in a `zip` or a `sample`.
fn swept<'a>(node: &'a Node, found: &mut Vec<(&'a str, Place)>) {
    match &node.content {
        Content::List(items) => items.iter().for_each(|item| swept(item, found)),
        Content::Map(entries) => {
            for entry in entries {
                let parts: Vec<&str> = entry.key.split('.').collect();
                match (&entry.value.content, parts.as_slice()) {
                    (_, ["zip" | "sample" | "over"]) => swept(&entry.value, found),
                    (Content::List(values), ["policies", _, "over"]) => {
                        found.extend(values.iter().filter_map(name_of));
                    }
                    _ => {}
                }
            }
        }
        Content::Null | Content::Scalar(_) => {}
    }
}
