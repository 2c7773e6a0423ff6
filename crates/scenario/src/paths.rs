//! Dotted paths into a scenario, as `sweep:` and `--set` use them.
//!
//! `threads_per_core`, `horizon`, `machine`, `kernel` and other plain keys; `machine.<parameter>`,
//! `kernel.<parameter>`, `admission.<limit>`, `apps.<app>.<key>`, `apps.<app>.workload.<parameter>`, `apps.<app>.runtime.<parameter>` and
//! `policies.<label>.<parameter>`, `policies.<label>.over`, `policies.<label>.over.<parameter>`, `policies.<label>.perturb.<parameter>`.

use notation::diagnostics::{Diagnostic, Place};
use notation::suggest::nearest;
use notation::yaml::{Content, Entry, Node};

use crate::apps::APP_KEYS;
use crate::arrivals::ADMISSION_KEYS;
use crate::policies::BESIDE;
use crate::reader::advice;
use crate::{DEFAULT_RUNTIME, MACHINE_KERNEL};

/// Plain keys that `--set` may set.
pub(crate) const SETTABLE: [&str; 12] = [
    "name",
    "about",
    "machine",
    "kernel",
    "threads_per_core",
    "horizon",
    "admission",
    "start_jitter",
    "baseline",
    "best_partition",
    "repeat",
    "seed",
];
/// Plain keys that a sweep may vary (`baseline` and the like belong to the experiment, not to a configuration).
pub(crate) const SWEEPABLE: [&str; 6] =
    ["threads_per_core", "machine", "kernel", "horizon", "admission", "start_jitter"];

/// Sets the node at a path; `plain` are the plain keys allowed.
pub(crate) fn set(
    root: &mut Node,
    path: &str,
    at: Place,
    value: Node,
    plain: &[&str],
) -> Result<(), Diagnostic> {
    // The error names all known paths, so it is made only where it is needed.
    match set_known(root, path, at, value, plain) {
        Ok(()) => Ok(()),
        Err(Some(problem)) => Err(problem),
        Err(None) => Err(unknown_path(root, path, at, plain)),
    }
}

/// As [`set`]; an error without a diagnostic is a path that does not exist.
fn set_known(
    root: &mut Node,
    path: &str,
    at: Place,
    value: Node,
    plain: &[&str],
) -> Result<(), Option<Diagnostic>> {
    let parts: Vec<&str> = path.split('.').collect();
    match parts.as_slice() {
        [key] if plain.contains(key) => root.set(key, at, value),
        ["machine", parameter] => {
            parameter_of(root, "machine", "", at).ok_or(None)?.set(parameter, at, value);
        }
        ["kernel", parameter] => {
            parameter_of(root, "kernel", MACHINE_KERNEL, at).ok_or(None)?.set(parameter, at, value);
        }
        ["admission", key] if ADMISSION_KEYS.contains(key) => {
            root.child("admission", at).ok_or(None)?.set(key, at, value);
        }
        ["apps", app, rest @ ..] => {
            let app = existing(root, "apps").and_then(|apps| existing(apps, app));
            set_app(app.ok_or(None)?, rest, at, value)?;
        }
        ["policies", label, rest @ ..] => {
            let item = policy(root, label, at).ok_or(None)?;
            set_policy(item, rest, at, value)?;
        }
        _ => return Err(None),
    }
    Ok(())
}

fn set_app(app: &mut Node, rest: &[&str], at: Place, value: Node) -> Result<(), Option<Diagnostic>> {
    match rest {
        [key] if APP_KEYS.contains(key) => {
            // One says how many tasks there are: the newer word counts.
            let other = match *key {
                "tasks" => "threads_per_core",
                "threads_per_core" => "tasks",
                _ => "",
            };
            if let Content::Map(entries) = &mut app.content {
                entries.retain(|entry| entry.key != other);
            }
            app.set(key, at, value);
        }
        ["workload", parameter] => {
            parameter_of(app, "workload", "", at).ok_or(None)?.set(parameter, at, value);
        }
        ["runtime", parameter] => {
            parameter_of(app, "runtime", DEFAULT_RUNTIME, at).ok_or(None)?.set(parameter, at, value);
        }
        _ => return Err(None),
    }
    Ok(())
}

fn set_policy(item: &mut Node, rest: &[&str], at: Place, value: Node) -> Result<(), Option<Diagnostic>> {
    let own = parameters(item).ok_or(None)?;
    match rest {
        ["over"] => item.set("over", at, value),
        ["over", parameter] => {
            let missing = Diagnostic::new(at, "the policy has no `over`, so there is no policy under it");
            let missing =
                missing.hint("write `over: NAME` next to the policy, or set the path that ends in `.over`");
            parameter_of(item, "over", "", at).ok_or(Some(missing))?.set(parameter, at, value);
        }
        ["perturb", parameter] => {
            item.child("perturb", at).ok_or(None)?.set(parameter, at, value);
        }
        [parameter] => own.set(parameter, at, value),
        _ => return Err(None),
    }
    Ok(())
}

/// The value of a key that is there.
fn existing<'a>(node: &'a mut Node, key: &str) -> Option<&'a mut Node> {
    match &mut node.content {
        Content::Map(entries) => {
            entries.iter_mut().find(|entry| entry.key == key).map(|entry| &mut entry.value)
        }
        _ => None,
    }
}

/// The mapping of parameters of the name chosen at `key`; an absent key chooses `default`.
fn parameter_of<'a>(node: &'a mut Node, key: &str, default: &str, at: Place) -> Option<&'a mut Node> {
    if node.get(key).is_none() {
        if default.is_empty() {
            return None;
        }
        node.set(key, at, Node::scalar(at, default));
    }
    parameters(existing(node, key)?)
}

/// The mapping of parameters of a choice, which a bare name gets.
fn parameters(choice: &mut Node) -> Option<&mut Node> {
    if let Content::Scalar(name) = &choice.content {
        let entry = Entry { key: name.clone(), place: choice.place, value: Node::empty_map(choice.place) };
        choice.content = Content::Map(vec![entry]);
    }
    let Content::Map(entries) = &mut choice.content else {
        return None;
    };
    let entry = entries.iter_mut().find(|entry| !BESIDE.contains(&entry.key.as_str()))?;
    if entry.value.content == Content::Null {
        entry.value.content = Content::Map(Vec::new());
    }
    matches!(entry.value.content, Content::Map(_)).then_some(&mut entry.value)
}

/// The entry of the policy with this label.
fn policy<'a>(root: &'a mut Node, label: &str, at: Place) -> Option<&'a mut Node> {
    let Content::List(items) = &mut root.child("policies", at)?.content else {
        return None;
    };
    items.iter_mut().find(|item| label_of(item).is_some_and(|l| l.eq_ignore_ascii_case(label)))
}

/// The label of an entry of `policies`: its `as`, or its name.
pub(crate) fn label_of(item: &Node) -> Option<&str> {
    match item.get("as").map(|entry| &entry.value.content) {
        Some(Content::Scalar(label)) => Some(label),
        _ => name_of(item),
    }
}

/// The entry `upper` with the policy of the entry `beneath` under it, labelled after the names given for both.
pub(crate) fn stacked(mut upper: Node, mut beneath: Node, place: Place, above: &str, below: &str) -> Node {
    if let Content::Map(entries) = &mut beneath.content {
        entries.retain(|entry| !["as", "over"].contains(&entry.key.as_str()));
    }
    // What is no mapping of a name gets no key; the reader says what is wrong with it.
    let _ = parameters(&mut upper);
    upper.set("over", place, beneath);
    upper.set("as", place, Node::scalar(place, &format!("{above}-over-{below}")));
    upper
}

/// The name of a policy's entry: the key that is none of those beside it.
fn name_of(item: &Node) -> Option<&str> {
    match &item.content {
        Content::Scalar(name) => Some(name),
        Content::Map(entries) => {
            let name = entries.iter().find(|entry| !BESIDE.contains(&entry.key.as_str()));
            name.map(|entry| entry.key.as_str())
        }
        _ => None,
    }
}

/// The nearest known path, or all of them when they are few. The parameter of the path may be right.
fn near(path: &str, known: &[String]) -> String {
    let parameter = path.rsplit('.').next().unwrap_or_default();
    let filled: Vec<String> = known.iter().map(|known| known.replace("<parameter>", parameter)).collect();
    match nearest(path, filled.iter().map(String::as_str)) {
        Some(near) => format!("did you mean `{near}`?"),
        None => advice(path, &known.iter().map(String::as_str).collect::<Vec<_>>()),
    }
}

/// An unknown path, with the nearest one that is known.
fn unknown_path(root: &Node, path: &str, at: Place, plain: &[&str]) -> Diagnostic {
    let mut known: Vec<String> = plain.iter().map(|key| (*key).to_owned()).collect();
    known.extend(ADMISSION_KEYS.map(|key| format!("admission.{key}")));
    known.extend(["machine.<parameter>".to_owned(), "kernel.<parameter>".to_owned()]);
    for app in root.get("apps").map_or(&[][..], |apps| apps.value.entries()) {
        known.extend(APP_KEYS.iter().map(|key| format!("apps.{}.{key}", app.key)));
    }
    if let Some(Content::List(items)) = root.get("policies").map(|policies| &policies.value.content) {
        for label in items.iter().filter_map(label_of) {
            let rest = ["<parameter>", "over", "over.<parameter>", "perturb.<parameter>"];
            known.extend(rest.map(|rest| format!("policies.{label}.{rest}")));
        }
    }
    let hint = match path.split('.').next() {
        Some("sweep") => "`--sweep PATH=a,b,c` changes the sweep".to_owned(),
        Some("policies" | "policy") if !path.contains('.') => "`--policy A,B` chooses policies".to_owned(),
        _ => near(path, &known),
    };
    Diagnostic::new(at, format!("unknown path `{path}`")).hint(hint)
}
