//! The settings in which two sides differ, down to single parameters and rules, each as one side and the
//! other would set it.

use notation::parameter::{Kind as Form, Parameter};
use notation::yaml::{Content, Node, tree};
use scenario::keys::{APPLICATION, SCENARIO};

use super::side::Pair;
use crate::flow;
use crate::trial::Setting;

/// Keys that change no run: names, what is measured besides, and what `--policy` and seeds decide.
const NOT_IN_RUNS: [&str; 11] = [
    "name",
    "about",
    "templates",
    "policies",
    "sweep",
    "repeat",
    "seed",
    "objective",
    "baseline",
    "latencies",
    "best_partition",
];

/// Keys next to the name of a choice.
const BESIDE: [&str; 3] = ["as", "over", "perturb"];

/// A setting in which the sides differ.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Difference {
    /// `kernel.start_debit: true -> false`.
    pub(super) name: String,
    /// What each side has, as a setting.
    pub(super) own: [Setting; 2],
}

/// What two sides differ in.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub(super) struct Differences {
    pub(super) all: Vec<Difference>,
    /// What cannot be set alone, each half a sentence.
    pub(super) not_moved: Vec<String>,
    /// Settings as the user writes them, before choices are taken apart.
    top: usize,
}

/// The parameters of an entry of a registry by its name, with their defaults as written.
type TableOf = fn(&str) -> Vec<(Parameter, String)>;

/// A node that may not be there.
type Found<'a> = Option<&'a Node>;

/// The settings in which the sides differ; none if they differ in a single one that has no parts, which is
/// all of the difference.
pub(super) fn differences(pair: &Pair<'_>) -> Differences {
    let mut found = Differences::default();
    let trees = pair.subjects.each_ref().map(|subject| tree(0, subject.text).ok());
    if let ([Some(first), Some(second)], true) = (&trees, pair.files) {
        scenarios(first, second, &pair.subjects[0].base.set, &mut found);
        found.policies(pair, [first, second]);
    } else {
        found.settings(pair);
    }
    if found.top == 1 {
        // What is the whole difference needs no row.
        let single = found.all.len() == 1;
        found.all.retain(|one| !single && !one.name.starts_with("whole "));
    }
    for one in &mut found.all {
        if let Some(rest) = one.name.strip_prefix("whole ") {
            one.name = rest.to_owned();
        }
    }
    found
}

/// All keys of two scenarios but for those of the command line, which both have.
fn scenarios(first: &Node, second: &Node, common: &[String], found: &mut Differences) {
    let hidden = |path: &str| {
        common.iter().any(|pair| {
            let set = pair.split('=').next().unwrap_or_default().trim();
            path == set || path.strip_prefix(set).is_some_and(|rest| rest.starts_with('.'))
        })
    };
    for key in SCENARIO.iter().filter(|key| !NOT_IN_RUNS.contains(&key.name) && key.name != "apps") {
        let [a, b] = [first, second].map(|root| root.get(key.name).map(|entry| &entry.value));
        if !hidden(key.name) {
            found.compare(key.name, [a, b], key.default);
        }
    }
    let apps = [first, second].map(|root| root.get("apps").map(|entry| &entry.value));
    let [Some(a), Some(b)] = apps else { return };
    for entry in a.entries() {
        let Some(other) = b.get(&entry.key) else {
            found.missing(&format!("the application `{}`", entry.key), 0);
            continue;
        };
        for key in APPLICATION {
            let [x, y] = [&entry.value, &other.value].map(|app| app.get(key.name).map(|entry| &entry.value));
            let path = format!("apps.{}.{}", entry.key, key.name);
            if !hidden(&path) {
                found.compare(&path, [x, y], key.default);
            }
        }
    }
    for entry in b.entries().iter().filter(|entry| a.get(&entry.key).is_none()) {
        found.missing(&format!("the application `{}`", entry.key), 1);
    }
}

impl Differences {
    /// Something that only one side has.
    fn missing(&mut self, what: &str, side: usize) {
        self.top += 1;
        self.not_moved.push(format!("{what}, which only the {} side has", ["first", "second"][side]));
    }

    fn push(&mut self, path: &str, values: [&str; 2], prefix: &str) {
        let short = |value: &str| notation::text::cut(value, 24);
        let name = format!("{prefix}{path}: {} -> {}", short(values[0]), short(values[1]));
        let own = values.map(|value| Setting { set: vec![format!("{path}={value}")], policy: None });
        self.all.push(Difference { name, own });
    }

    /// A key of two sides; `default`: the value of a side without it, if that is known.
    fn compare(&mut self, path: &str, nodes: [Found<'_>; 2], default: &str) {
        let text = |node: Found<'_>| match node {
            Some(node) => flow::written(node),
            None => default.to_owned(),
        };
        let values = nodes.map(text);
        if values[0] == values[1] {
            return;
        }
        if let Some(registry) = registry(path)
            && let Some(sides) = both(nodes, default)
        {
            self.top += 1;
            self.choice(path, &sides, registry);
            return;
        }
        match values.iter().position(String::is_empty) {
            Some(without) => self.missing(&format!("`{path}`"), 1 - without),
            None => {
                self.top += 1;
                self.push(path, [&values[0], &values[1]], "");
            }
        }
    }

    /// Two choices of a registry: every parameter in which they differ, and if the names differ the whole.
    fn choice(&mut self, path: &str, sides: &[Chosen; 2], table: TableOf) {
        let [a, b] = sides;
        let tables = [table(&a.name), table(&b.name)];
        let value = |side: usize, parameter: &Parameter| -> Option<String> {
            let written = sides[side].values.iter().find(|(name, _)| name == parameter.name);
            let own = tables[side].iter().find(|(other, _)| other.name == parameter.name);
            // Rules of two schedulers may share a name: `yield` has other words under each.
            let (_, default) = own.filter(|(other, _)| other.kind == parameter.kind)?;
            Some(written.map_or_else(|| default.clone(), |(_, text)| text.clone()))
        };
        let before = self.all.len();
        for (parameter, _) in &tables[0] {
            let values = [value(0, parameter), value(1, parameter)];
            let [Some(x), Some(y)] = &values else { continue };
            if x != y && !x.is_empty() && !y.is_empty() {
                self.push(&format!("{path}.{}", parameter.name), [x, y], "");
            }
        }
        if a.name != b.name || self.all.len() == before {
            self.push(path, [&a.whole, &b.whole], "whole ");
        }
    }

    /// The first policies of two files.
    fn policies(&mut self, pair: &Pair<'_>, roots: [&Node; 2]) {
        if !pair.subjects[0].base.policies.is_empty() {
            return;
        }
        let first = |root: &Node| match &root.get("policies")?.value.content {
            Content::List(items) => items.first().map(|item| match &item.content {
                Content::Scalar(name) => name.clone(),
                _ => flow::written(item),
            }),
            _ => None,
        };
        let [Some(a), Some(b)] = roots.map(first) else { return };
        if a != b {
            self.top += 1;
            let own = [&a, &b].map(|policy| Setting { set: Vec::new(), policy: Some(policy.clone()) });
            let short = |text: &str| notation::text::cut(text, 24);
            self.all.push(Difference { name: format!("policy: {} -> {}", short(&a), short(&b)), own });
        }
    }

    /// What is set on each side of one scenario.
    fn settings(&mut self, pair: &Pair<'_>) {
        let [a, b] = &pair.settings;
        if a.policy != b.policy {
            self.top += 1;
        }
        for (first, second) in a.set.iter().zip(&b.set) {
            let (Some((path, x)), Some((_, y))) = (first.split_once('='), second.split_once('=')) else {
                continue;
            };
            let nodes = [tree(0, x).ok(), tree(0, y).ok()];
            let nodes = [nodes[0].as_ref(), nodes[1].as_ref()];
            self.compare(path, nodes, "");
        }
    }
}

/// A choice of a registry, as written.
struct Chosen {
    name: String,
    values: Vec<(String, String)>,
    whole: String,
}

fn both(nodes: [Found<'_>; 2], default: &str) -> Option<[Chosen; 2]> {
    let [a, b] = nodes.map(|node| chosen(node, default));
    Some([a?, b?])
}

/// The name and the parameters of a choice; none for what names several, as a runtime of roles.
fn chosen(node: Found<'_>, default: &str) -> Option<Chosen> {
    let Some(node) = node else {
        return (!default.is_empty()).then(|| Chosen {
            name: default.into(),
            values: Vec::new(),
            whole: default.into(),
        });
    };
    let whole = flow::written(node);
    match &node.content {
        Content::Scalar(name) => Some(Chosen { name: name.clone(), values: Vec::new(), whole }),
        Content::Map(entries) => {
            let mut named = entries.iter().filter(|entry| !BESIDE.contains(&entry.key.as_str()));
            let entry = named.next()?;
            let values = entry.value.entries().iter();
            let values = values.map(|inner| (inner.key.clone(), flow::written(&inner.value))).collect();
            let single = named.next().is_none() && entries.len() == 1;
            single.then(|| Chosen { name: entry.key.clone(), values, whole })
        }
        _ => None,
    }
}

/// The parameters of an entry of the registry that a path chooses from, with their defaults.
fn registry(path: &str) -> Option<TableOf> {
    match path {
        "kernel" => Some(|name| defaults(kernels::KERNELS.find(name).map_or(&[], |entry| entry.parameters))),
        "machine" => Some(|name| {
            machines::resolve(name).map_or_else(|_| Vec::new(), |entry| defaults(entry.values.table()))
        }),
        _ if path.ends_with(".workload") => {
            Some(|name| defaults(workloads::WORKLOADS.find(name).map_or(&[], |entry| entry.parameters)))
        }
        _ if path.ends_with(".runtime") => Some(|name| {
            defaults(workloads::runtimes::RUNTIMES.find(name).map_or(&[], |entry| entry.parameters))
        }),
        _ => None,
    }
}

/// Parameters with their defaults as written; nothing for lists, of which the default is empty.
fn defaults(table: &[Parameter]) -> Vec<(Parameter, String)> {
    let default = |p: &Parameter| match p.kind.of_one() {
        Form::Cpus | Form::Counts => String::new(),
        kind => kind.show(p.default),
    };
    table.iter().map(|p| (*p, default(p))).collect()
}
