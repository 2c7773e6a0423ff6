//! Dotted paths into a scenario, as `sweep:` and `--set` use them.
//!
//! `threads_per_core`, `horizon`, `machine`, `kernel` and other plain keys; `machine.<parameter>`,
//! `kernel.<parameter>`, `admission.<limit>`, `apps.<app>` (`--set` alone), `apps.<app>.<key>`,
//! `apps.<app>.arrival.<interval>`,
//! `apps.<app>.workload.<parameter>`, `apps.<app>.runtime.<parameter>`, `apps.<app>.runtime.<role>`,
//! `apps.<app>.runtime.<role>.<parameter>` and `policies.<label>.<parameter>`, `policies.<label>.over`,
//! `policies.<label>.over.<parameter>`, `policies.<label>.perturb.<parameter>`.

use ::policies::{PolicyRegistry, is_file};
use notation::diagnostics::{Diagnostic, Place};
use notation::number::listed;
use notation::suggest::{advice, nearest};
use notation::yaml::{Content, Entry, Node};

use crate::forms::names_roles;
use crate::key::{Edit, Inside, Key, names};
use crate::keys::{APPLICATION, SCENARIO};
use crate::policies::{BESIDE, label_of, name_of as policy_name};
use crate::settable;

/// Most paths that an error names.
const MOST_NAMED: usize = 4;

/// Sets the node at a path; `edit` says on whose behalf.
pub(crate) fn set(root: &mut Node, path: &str, at: Place, value: Node, edit: Edit) -> Result<(), Diagnostic> {
    // The error names all known paths, so it is made only where it is needed.
    match set_known(root, path, at, value, edit) {
        Ok(()) => Ok(()),
        Err(Some(problem)) => Err(problem),
        Err(None) => Err(unknown_path(root, path, at, edit)),
    }
}

/// As [`set`]; an error without a diagnostic is a path that does not exist.
fn set_known(
    root: &mut Node,
    path: &str,
    at: Place,
    value: Node,
    edit: Edit,
) -> Result<(), Option<Diagnostic>> {
    let parts: Vec<&str> = path.split('.').collect();
    match parts.as_slice() {
        // A whole application: another one, or one in place of another.
        ["apps", app] if edit == Edit::Set && matches!(value.content, Content::Map(_)) => {
            existing(root, "apps").ok_or(None)?.set(app, at, value);
            Ok(())
        }
        ["apps", app, rest @ ..] => {
            let app = existing(root, "apps").and_then(|apps| existing(apps, app));
            let app = app.ok_or(None)?;
            // One says how many tasks there are: the newer word counts.
            match rest {
                ["tasks"] => app.remove("threads_per_core"),
                ["threads_per_core"] => app.remove("tasks"),
                _ => {}
            }
            set_key(app, APPLICATION, rest, (at, value), edit)
        }
        ["policies", label, rest @ ..] => {
            let item = policy(root, label, at).ok_or(None)?;
            set_policy(item, rest, at, value)
        }
        rest => set_key(root, SCENARIO, rest, (at, value), edit),
    }
}

/// Sets a key of a mapping, or what a path names within its value.
fn set_key(
    mapping: &mut Node,
    keys: &[Key],
    path: &[&str],
    (at, value): (Place, Node),
    edit: Edit,
) -> Result<(), Option<Diagnostic>> {
    let (name, rest) = path.split_first().ok_or(None)?;
    let key = keys.iter().find(|key| key.name == *name && key.allows(edit)).ok_or(None)?;
    match (rest, key.inside) {
        ([], _) => mapping.set(name, at, value),
        ([role, rest @ ..], Inside::Parameters) if rest.len() < 2 && has_roles(mapping, name) => {
            let roles = mapping.child(name, at).ok_or(None)?;
            match rest {
                [parameter] => parameter_of(roles, role, "", at).ok_or(None)?.set(parameter, at, value),
                _ => roles.set(role, at, value),
            }
        }
        ([parameter], Inside::Parameters) => {
            parameter_of(mapping, name, key.default, at).ok_or(None)?.set(parameter, at, value);
        }
        ([inner], Inside::Keys(keys)) if names(keys).contains(inner) => {
            mapping.child(name, at).ok_or(None)?.set(inner, at, value);
        }
        ([named, inner], Inside::Named(keys)) if names(keys).contains(inner) => {
            let inside = mapping.child(name, at).ok_or(None)?;
            inside.child(named, at).ok_or(None)?.set(inner, at, value);
        }
        ([inner, deeper @ ..], Inside::Tree(keys)) if names(keys).contains(inner) => {
            let tree = existing(mapping, name).ok_or(None)?;
            set_deep(tree, rest, at, value, deeper.len() <= MOST_DEEP).ok_or(None)?;
        }
        ([inner], Inside::Either(keys)) if names(keys).contains(inner) => {
            let mut only = Node::empty_map(at);
            only.set(inner, at, value);
            mapping.set(name, at, only);
        }
        _ => return Err(None),
    }
    Ok(())
}

/// The value at a path as written; none where the scenario leaves it to its default.
pub(crate) fn get<'a>(root: &'a Node, path: &str) -> Option<&'a Node> {
    let parts: Vec<&str> = path.split('.').collect();
    match parts.as_slice() {
        ["policies", label, rest @ ..] => {
            let Content::List(items) = &root.get("policies")?.value.content else { return None };
            let of_label = |item: &&Node| label_of(item).is_some_and(|l| l.eq_ignore_ascii_case(label));
            within(items.iter().find(of_label)?, rest)
        }
        rest => within(root, rest),
    }
}

/// What a path names within a node: a key of a mapping, or a parameter of the name that was chosen there.
fn within<'a>(node: &'a Node, path: &[&str]) -> Option<&'a Node> {
    let Some((first, rest)) = path.split_first() else { return Some(node) };
    if let Some(entry) = node.get(first) {
        return within(&entry.value, rest);
    }
    let chosen = node.entries().iter().find(|entry| !BESIDE.contains(&entry.key.as_str()))?;
    within(&chosen.value.get(first)?.value, rest)
}

/// Whether a value at the path `outer` replaces the one at `path`: it is the same path, or names what
/// contains it. Labels of policies are alike in upper and lower case, and the number of tasks of an
/// application has two paths.
pub(crate) fn replaces(outer: &str, path: &str) -> bool {
    let parts = |path: &str| -> Vec<String> {
        let parts = path.split('.').map(str::to_owned);
        let mut parts: Vec<String> = parts.collect();
        match parts.as_mut_slice() {
            [first, label, ..] if first == "policies" => label.make_ascii_lowercase(),
            [first, _, key] if first == "apps" && key == "threads_per_core" => "tasks".clone_into(key),
            _ => {}
        }
        parts
    };
    parts(path).starts_with(&parts(outer))
}

/// Deepest path within the names of a program: `kinds.worker.runtime.block.parameter`.
const MOST_DEEP: usize = 4;

/// Sets what a path names within mappings, which come to be where they are missing.
fn set_deep(tree: &mut Node, path: &[&str], at: Place, value: Node, legal: bool) -> Option<()> {
    let (last, way) = path.split_last().filter(|_| legal)?;
    let mut inside = tree;
    for name in way {
        inside = inside.child(name, at)?;
    }
    if !matches!(inside.content, Content::Map(_)) {
        return None;
    }
    inside.set(last, at, value);
    Some(())
}

fn set_policy(item: &mut Node, rest: &[&str], at: Place, value: Node) -> Result<(), Option<Diagnostic>> {
    let of_file = policy_name(item).is_some_and(is_file);
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
        // A member of a structure in a policy file.
        [_, ..] if of_file => own.set(&rest.join("."), at, value),
        _ => return Err(None),
    }
    Ok(())
}

/// Whether the value of a key names a runtime for processes and one for their threads.
fn has_roles(mapping: &Node, key: &str) -> bool {
    mapping.get(key).is_some_and(|entry| names_roles(&entry.value))
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

/// The entry `upper` with the policy of the entry `beneath` under it, labelled after the names given for
/// both.
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

/// The nearest known path, or all of them when they are few.
fn near(path: &str, known: &[String]) -> String {
    match nearest(path, known.iter().map(String::as_str)) {
        Some(near) => format!("did you mean `{near}`?"),
        None => advice(path, &known.iter().map(String::as_str).collect::<Vec<_>>()),
    }
}

/// The paths that end with the last part of this one and begin as it does, as far as that is known:
/// `apps.cg.tasks` for `tasks`, `apps.cg.workload.lock` for `apps.cg.lock`.
fn same_end(path: &str, known: &[String]) -> Option<String> {
    let (start, end) = path.rsplit_once('.').unwrap_or(("", path));
    let of = |known: &&String| {
        let (before, last) = known.rsplit_once('.').unwrap_or(("", known));
        last == end
            && before
                .strip_prefix(start)
                .is_some_and(|rest| rest.is_empty() || rest.starts_with('.') || start.is_empty())
    };
    let found: Vec<String> =
        known.iter().filter(of).take(MOST_NAMED).map(|path| format!("`{path}`")).collect();
    (!found.is_empty()).then(|| format!("did you mean {}?", found.join(" or ")))
}

/// An unknown path, with the nearest one that is known.
pub(crate) fn unknown_path(root: &Node, path: &str, at: Place, edit: Edit) -> Diagnostic {
    let known = settable::paths(&PolicyRegistry::default(), Some(root), edit);
    let known: Vec<String> = known.into_iter().map(|known| known.path).collect();
    let parts: Vec<&str> = path.split('.').collect();
    let hint = match parts.as_slice() {
        ["sweep", ..] => "`--sweep PATH=a,b,c` changes the sweep".to_owned(),
        ["seed" | "seeds" | "repeat" | "replicates"] if edit == Edit::Sweep => {
            "seeds are replicates: `--repeat 4` runs each configuration with 4 seeds, from `--seed` on"
                .to_owned()
        }
        ["policies" | "policy"] => "`--policy A,B` chooses policies".to_owned(),
        ["policies", label, rest @ ..]
            if policy_labels(root).iter().all(|l| !l.eq_ignore_ascii_case(label)) =>
        {
            let labels = policy_labels(root);
            match nearest(label, labels.iter().copied()) {
                Some(near) => format!("did you mean `{}`?", [&["policies", near], rest].concat().join(".")),
                None => format!("the policies of this scenario are {}", listed(&labels)),
            }
        }
        _ => same_end(path, &known).unwrap_or_else(|| near(path, &known)),
    };
    Diagnostic::new(at, format!("unknown path `{path}`")).hint(hint)
}

/// The labels of the policies of a scenario.
pub(crate) fn policy_labels(root: &Node) -> Vec<&str> {
    match root.get("policies").map(|policies| &policies.value.content) {
        Some(Content::List(items)) => items.iter().filter_map(label_of).collect(),
        _ => Vec::new(),
    }
}
