//! The paths that `--set` and `--sweep` accept in a given scenario, with their meaning: for completion in a
//! shell.

use ::policies::{Perturbation, PolicyRegistry};

use notation::parameter::{Kind, Parameter};
use notation::yaml::{Content, Node, tree};
use workloads::runtimes::{self, Role};

use crate::defaults::{DEFAULT_RUNTIME, default_kernel};
use crate::forms::names_roles;
use crate::key::{Edit, Inside, Key};
use crate::keys::{APPLICATION, SCENARIO};
use crate::policies::{BESIDE, label_of};
use crate::program_keys::PROGRAM;

/// A path that can be set.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SettablePath {
    /// As `--set` wants it: `apps.cg.tasks`.
    pub path: String,
    /// What it means; may be empty.
    pub about: String,
    /// The values, if only some words are valid.
    pub words: Vec<String>,
    /// The parameter that it names, with its default, if it names one.
    pub(crate) parameter: Option<Parameter>,
}

/// The paths that `--set` accepts, or `--sweep` if `swept`. Without the text of a scenario, or with an
/// invalid one: those that every scenario has.
#[must_use]
pub fn settable(policies: &PolicyRegistry, text: Option<&str>, swept: bool) -> Vec<SettablePath> {
    let root = text.and_then(|text| tree(0, text).ok());
    paths(policies, root.as_ref(), if swept { Edit::Sweep } else { Edit::Set })
}

/// The same for a scenario that has been read.
pub(crate) fn paths(policies: &PolicyRegistry, root: Option<&Node>, edit: Edit) -> Vec<SettablePath> {
    let machine = root.and_then(machine_name).and_then(|name| machines::resolve(name).ok());
    paths_on(policies, root, edit, machine.as_ref())
}

/// The name of the machine of a scenario.
pub(crate) fn machine_name(root: &Node) -> Option<&str> {
    name_of(&root.get("machine")?.value)
}

/// The same with its machine, which a file may describe.
pub(crate) fn paths_on(
    policies: &PolicyRegistry,
    root: Option<&Node>,
    edit: Edit,
    machine: Option<&machines::Entry>,
) -> Vec<SettablePath> {
    let mut paths = Paths::default();
    let allowed = || SCENARIO.iter().filter(|key| key.allows(edit));
    for key in allowed() {
        paths.add(key.name.to_owned(), &key.about(), &[]);
    }
    let node = |key: &str| Some(&root?.get(key)?.value);
    for key in allowed() {
        let mut within = |keys: &[Key], name: &str| {
            keys.iter().for_each(|inner| paths.add(format!("{name}.{}", inner.name), &inner.about(), &[]));
        };
        match key.inside {
            Inside::Keys(keys) => within(keys, key.name),
            Inside::Named(keys) => node(key.name)
                .map_or(&[][..], Node::entries)
                .iter()
                .for_each(|entry| within(keys, &format!("{}.{}", key.name, entry.key))),
            Inside::Nothing | Inside::Parameters | Inside::Either(_) | Inside::Tree(_) => {}
        }
    }
    paths.table("machine", machine.map_or(machines::Parameters::TABLE, |entry| entry.values.table()));
    let own = machine.and_then(|entry| entry.kernel.as_deref());
    let kernel = node("kernel").and_then(name_of).unwrap_or_else(|| default_kernel(own));
    paths.table("kernel", kernels::KERNELS.resolve(kernel).map_or(&[], |entry| entry.parameters));
    for app in node("apps").map_or(&[][..], Node::entries) {
        paths.app(&app.key, &app.value);
    }
    if let Some(Content::List(items)) = node("policies").map(|node| &node.content) {
        for item in items {
            paths.policy(policies, item);
        }
    }
    paths.0
}

/// The name of a choice, which may have parameters.
fn name_of(node: &Node) -> Option<&str> {
    match &node.content {
        Content::Scalar(name) => Some(name),
        Content::Map(entries) => {
            let mut names = entries.iter().map(|entry| entry.key.as_str());
            names.find(|name| !BESIDE.contains(name))
        }
        _ => None,
    }
}

#[derive(Default)]
struct Paths(Vec<SettablePath>);

impl Paths {
    fn add(&mut self, path: String, about: &str, words: &[&str]) {
        let words = words.iter().map(|word| (*word).to_owned()).collect();
        self.0.push(SettablePath { path, about: about.to_owned(), words, parameter: None });
    }

    fn table(&mut self, prefix: &str, table: &[Parameter]) {
        for parameter in table {
            let words: &[&str] = match parameter.kind.of_one() {
                Kind::Choice(words) => words,
                Kind::Flag => &["true", "false"],
                _ => &[],
            };
            self.add(format!("{prefix}.{}", parameter.name), parameter.about, words);
            if let Some(added) = self.0.last_mut() {
                added.parameter = Some(*parameter);
            }
        }
    }

    fn app(&mut self, name: &str, app: &Node) {
        for key in APPLICATION {
            self.add(format!("apps.{name}.{}", key.name), &key.about(), &[]);
            if let Inside::Either(keys) = key.inside {
                for inner in keys {
                    self.add(format!("apps.{name}.{}.{}", key.name, inner.name), &inner.about(), &[]);
                }
            }
        }
        if let Some(program) = app.get("program") {
            self.tree(&format!("apps.{name}.program"), &program.value);
            return;
        }
        let chosen = |key: &str| app.get(key).and_then(|entry| name_of(&entry.value));
        let workload = chosen("workload").and_then(|name| workloads::WORKLOADS.resolve(name).ok());
        self.table(&format!("apps.{name}.workload"), workload.map_or(&[], |entry| entry.parameters));
        if let Some(entry) = app.get("runtime").filter(|entry| names_roles(&entry.value)) {
            for role in Role::ALL.map(Role::name) {
                let path = format!("apps.{name}.runtime.{role}");
                let chosen = entry.value.get(role).and_then(|entry| name_of(&entry.value));
                let runtime = chosen.and_then(|name| runtimes::RUNTIMES.resolve(name).ok());
                self.table(&path, runtime.map_or(&[], |entry| entry.parameters));
                self.add(path, "The runtime of processes, or of the threads of each.", &[]);
            }
            return;
        }
        let runtime = runtimes::RUNTIMES.resolve(chosen("runtime").unwrap_or(DEFAULT_RUNTIME)).ok();
        self.table(&format!("apps.{name}.runtime"), runtime.map_or(&[], |entry| entry.parameters));
    }

    /// The single values of a program that are written, but for those in lists.
    fn tree(&mut self, prefix: &str, program: &Node) {
        for (key, entry) in PROGRAM.iter().filter_map(|key| Some((key, program.get(key.name)?))) {
            let path = format!("{prefix}.{}", key.name);
            match &entry.value.content {
                Content::Map(named) => named.iter().for_each(|one| {
                    let path = format!("{path}.{}", one.key);
                    match &one.value.content {
                        Content::Map(inner) => inner
                            .iter()
                            .filter(|inner| !matches!(inner.value.content, Content::List(_)))
                            .for_each(|inner| self.add(format!("{path}.{}", inner.key), &key.about(), &[])),
                        Content::List(_) => {}
                        _ => self.add(path, &key.about(), &[]),
                    }
                }),
                Content::List(_) => {}
                _ => self.add(path, &key.about(), &[]),
            }
        }
    }

    fn policy(&mut self, policies: &PolicyRegistry, item: &Node) {
        let (Some(label), Some(entry)) = (label_of(item), name_of(item).and_then(|name| policies.find(name)))
        else {
            return;
        };
        let prefix = format!("policies.{label}");
        self.table(&prefix, entry.parameters);
        self.add(format!("{prefix}.over"), "The kernel-level policy under this one.", &[]);
        let over = item.get("over").and_then(|over| policies.find(name_of(&over.value)?));
        self.table(&format!("{prefix}.over"), over.map_or(&[], |entry| entry.parameters));
        self.table(&format!("{prefix}.perturb"), Perturbation::TABLE);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::built_in::find;
    use crate::{Overrides, load};

    fn names(text: Option<&str>, swept: bool) -> Vec<String> {
        settable(&PolicyRegistry::default(), text, swept).into_iter().map(|known| known.path).collect()
    }

    #[test]
    fn paths_follow_the_scenario() {
        let text = find("cg_ft_share").unwrap().text;
        let known = settable(&PolicyRegistry::default(), Some(text), false);
        let yields = known.iter().find(|known| known.path == "kernel.yield").unwrap();
        assert!(!yields.about.is_empty() && yields.words.contains(&"posix".to_owned()), "{yields:?}");
        let names: Vec<&str> = known.iter().map(|known| known.path.as_str()).collect();
        for path in [
            "seed",
            "apps.cg.tasks",
            "apps.cg.workload.class",
            "apps.ft.runtime.wait",
            "policies.SPEED.interval",
        ] {
            assert!(names.contains(&path), "{path}");
        }
        assert!(!names.contains(&"apps.cg.workload.intervals"), "a parameter of another workload");
    }

    #[test]
    fn without_a_scenario_the_common_paths_remain() {
        for text in [None, Some("a: [")] {
            let names = names(text, true);
            assert!(
                names.contains(&"threads_per_core".into()) && names.contains(&"machine.core_speed".into())
            );
            assert!(!names.contains(&"seed".into()) && names.iter().all(|name| !name.starts_with("apps.")));
        }
    }

    #[test]
    fn every_path_is_accepted() {
        let text = find("odd_thread").unwrap().text;
        for path in names(Some(text), false) {
            // The value may be wrong for the path; the path itself must be known.
            let overrides = Overrides { set: vec![format!("{path}=1")], ..Overrides::default() };
            let refused = load("odd_thread", text, &overrides).err().unwrap_or_default();
            // A kernel of the sweep may lack a rule that others have.
            let of_kernel = path.starts_with("kernel.");
            let parameter = refused.contains("unknown parameter") && !of_kernel;
            let unknown = refused.contains("unknown path") || parameter;
            assert!(!unknown, "{path}: {refused}");
        }
    }
}
