//! The list of policies: each with its label, its parameters, the policy under it and its disturbances.

use std::collections::BTreeSet;

use notation::parameter::Values;
use notation::reader::Chosen;
use notation::yaml::{Content, Node};
use policies::{Choice, Level, Perturbation, file_label, is_file};

use crate::Reader;
use crate::labels::{RESERVED, is_word};
use crate::registries;

/// Keys that are allowed next to the name of a policy.
pub(crate) const BESIDE: [&str; 3] = ["as", "over", "perturb"];
/// Keys that are allowed next to the name of a policy under another one.
const BESIDE_LOWER: [&str; 1] = ["perturb"];

/// The label of an entry of `policies`: its `as`, or its name, of a file without folder and ending.
pub(crate) fn label_of(item: &Node) -> Option<&str> {
    match item.get("as").map(|entry| &entry.value.content) {
        Some(Content::Scalar(label)) => Some(label),
        _ => name_of(item).map(|name| if is_file(name) { file_label(name) } else { name }),
    }
}

/// The name of a policy's entry: the key that is none of those beside it.
pub(crate) fn name_of(item: &Node) -> Option<&str> {
    match &item.content {
        Content::Scalar(name) => Some(name),
        Content::Map(entries) => {
            let name = entries.iter().find(|entry| !BESIDE.contains(&entry.key.as_str()));
            name.map(|entry| entry.key.as_str())
        }
        _ => None,
    }
}

/// The policies with their labels.
pub(crate) fn all(reader: &mut Reader, node: &Node) -> Option<Vec<(String, Choice)>> {
    let Content::List(items) = &node.content else {
        reader.wrong_node(
            node,
            format!("`policies` must be a list, not {}", node.what()),
            "write `[LOAD, PIN]`",
        );
        return None;
    };
    if items.is_empty() {
        reader.wrong_node(node, "the list of policies is empty", "write `[LOAD, PIN]`");
        return None;
    }
    let mut labelled: Vec<(String, Choice)> = Vec::new();
    // Upper and lower case do not distinguish labels.
    let mut taken: BTreeSet<String> = BTreeSet::new();
    let mut good = true;
    for item in items {
        let Some(choice) = stack(reader, item) else {
            good = false;
            continue;
        };
        let label = label(reader, item, choice.entry.name, &mut taken);
        labelled.push((label, choice));
    }
    good.then_some(labelled)
}

/// A policy with the policy under it.
fn stack(reader: &mut Reader, item: &Node) -> Option<Choice> {
    let chosen = reader.chosen(item, "a policy", &BESIDE)?;
    let choice = one(reader, item, &chosen);
    let Some(over) = item.get("over") else {
        return choice;
    };
    let beneath = reader.chosen(&over.value, "`over`", &BESIDE_LOWER);
    let beneath = beneath.and_then(|chosen| {
        let choice = one(reader, &over.value, &chosen)?;
        Some((chosen.place, choice))
    });
    let (choice, (place, beneath)) = (choice?, beneath?);
    if choice.entry.level == Level::InKernel {
        let message = format!("{} is a kernel-level policy, so no policy can be under it", choice.entry.name);
        reader.wrong_with_hint(over.place, message, "use `over` with a user-level policy such as SPEED");
        return None;
    }
    if beneath.entry.level == Level::UserLevel {
        let message =
            format!("{} is a user-level policy and cannot be under another policy", beneath.entry.name);
        reader.wrong_with_hint(place, message, "use a kernel-level policy, such as LOAD or ULE");
        return None;
    }
    Some(Choice { over: Some(Box::new(beneath)), ..choice })
}

/// A policy with its parameters and disturbances.
fn one(reader: &mut Reader, item: &Node, chosen: &Chosen<'_>) -> Option<Choice> {
    let choice = registries::policy(reader, chosen);
    let Some(perturb) = item.get("perturb") else {
        return choice;
    };
    let Content::Map(entries) = &perturb.value.content else {
        let message = format!("`perturb` must be a mapping, not {}", perturb.value.what());
        reader.wrong_node(&perturb.value, message, "write `perturb: { delay: 1ms, veto: 10% }`");
        return None;
    };
    let mut values = Values::defaults(Perturbation::TABLE);
    reader.parameters("`perturb`", &mut values, entries);
    Some(Choice { perturb: Some(values), ..choice? })
}

/// The label of a policy: its `as`, or its name.
fn label(reader: &mut Reader, item: &Node, name: &str, taken: &mut BTreeSet<String>) -> String {
    let label = match item.get("as") {
        Some(entry) => reader.text(&entry.value, "`as`").unwrap_or_default().to_owned(),
        None => name.to_owned(),
    };
    if !is_word(&label) {
        let hint = match item.get("as") {
            None => "give it one with `as`, of letters, digits, `_` and `-`",
            Some(_) => "use letters, digits, `_` and `-`",
        };
        reader.wrong_node(item, format!("`{label}` is not a valid label for a policy"), hint);
    }
    if RESERVED.iter().any(|taken| taken.eq_ignore_ascii_case(&label)) {
        let hint = "choose another label";
        reader.wrong_node(item, format!("`{label}` is the name of a reference in reports"), hint);
    }
    if !taken.insert(label.to_ascii_lowercase()) {
        let hint = format!("give one of them a label: `{{ {name}: {{ ... }}, as: label }}`");
        reader.wrong_node(item, format!("two policies are called `{label}`"), hint);
    }
    label
}
