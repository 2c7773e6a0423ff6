//! Scenario files: from YAML text and overrides to an [`Experiment`] in which nothing can be wrong any more.

mod apps;
mod arrivals;
pub(crate) mod machine_files;
mod paths;
mod policies;
mod reader;
mod resolve;
pub(crate) mod shelves;
mod sweep;
mod together;

use notation::diagnostics::{Diagnostic, Place, Sources};
use notation::yaml::{self, Content, Node};

use crate::plan::Experiment;
use ::policies::PolicyShelf;
use reader::Reader;

/// The kernel of scenarios that name none, on machines that name none either.
pub(crate) const DEFAULT_KERNEL: &str = "linux-2.6.28";
/// What stands in the place of a kernel's name until the machine is known.
pub(crate) const MACHINE_KERNEL: &str = "default";
/// The runtime of applications that name none.
pub(crate) const DEFAULT_RUNTIME: &str = "upc";

/// The kernel of a scenario that names none, on a machine whose own kernel is `own`: that one if the shelf has it.
pub(crate) fn default_kernel(own: Option<&str>) -> &'static str {
    machines::kernels::names().find(|name| Some(*name) == own).unwrap_or(DEFAULT_KERNEL)
}

/// What the command line changes in a scenario.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Overrides {
    /// `path=value` pairs, applied in order; paths as in `sweep:` and also `name`, `about`, `baseline`, `seed`, `repeat`.
    pub set: Vec<String>,
    /// Only these policies, by label in the scenario or by name in the registry; empty = as in the scenario. `SPEED/DWRR`
    /// is the first over the second and gets the label `SPEED-over-DWRR`.
    pub policies: Vec<String>,
    /// Seed of the first replicate.
    pub seed: Option<u64>,
    /// Number of replicates.
    pub repeat: Option<u32>,
    /// Simulate every poll as an event.
    pub stepwise: bool,
    /// Search the best static partition, whatever the scenario says.
    pub best_partition: bool,
    /// Leave the sweep out: one point, that of the file and of `set`.
    pub one_point: bool,
}

/// Reads and resolves a scenario; `name` is the file's name in messages, and machine files are looked for beside it.
///
/// # Errors
/// All that is wrong with it, rendered with file, line, column and source lines.
pub fn load(name: &str, text: &str, overrides: &Overrides) -> Result<Experiment, String> {
    load_with(&PolicyShelf::default(), name, text, overrides)
}

/// As [`load`], with the policies of a shelf of one's own.
///
/// # Errors
/// As [`load`].
pub fn load_with(
    policies: &PolicyShelf,
    name: &str,
    text: &str,
    overrides: &Overrides,
) -> Result<Experiment, String> {
    let mut sources = Sources::new(name, text);
    let mut root = match document(text) {
        Ok(root) => root,
        Err(problem) => return Err(sources.render(&[problem])),
    };
    let mut reader = Reader::new(policies);
    let applied = apply(&mut root, overrides, &mut sources, &mut reader);
    let mut scenario_text = text.to_owned();
    scenario_text.push_str(&machine_files::read_all(&root, name, &mut sources, &mut reader));
    let resolved = resolve::experiment(&root, &mut reader, overrides.stepwise);
    match resolved {
        Some(experiment) if reader.is_clean() => {
            let best_partition = experiment.best_partition || overrides.best_partition;
            Ok(Experiment { scenario_text, overrides: applied, best_partition, ..experiment })
        }
        _ => Err(sources.render(&reader.problems())),
    }
}

/// The tree of a scenario file.
fn document(text: &str) -> Result<Node, Diagnostic> {
    let bare = |line: &str| line.trim().is_empty() || line.trim_start().starts_with('#');
    if text.lines().all(bare) {
        let hint = "a scenario names at least `name`, `machine`, `apps` and `policies`";
        return Err(Diagnostic::new(Place::NONE, "the scenario is empty").hint(hint));
    }
    yaml::tree(0, text)
}

/// Applies the overrides and returns them as `path=value`.
fn apply(root: &mut Node, overrides: &Overrides, sources: &mut Sources, reader: &mut Reader) -> Vec<String> {
    let mut applied = Vec::new();
    for pair in &overrides.set {
        if let Err(problem) = set_pair(root, "--set", pair, sources) {
            reader.add(problem);
        }
        applied.push(pair.clone());
    }
    let numbers =
        [("--seed", "seed", overrides.seed), ("--repeat", "repeat", overrides.repeat.map(u64::from))];
    for (option, key, number) in numbers {
        if let Some(number) = number {
            let pair = format!("{key}={number}");
            if let Err(problem) = set_pair(root, option, &pair, sources) {
                reader.add(problem);
            }
            applied.push(pair);
        }
    }
    if overrides.one_point {
        root.remove("sweep");
    }
    if !overrides.policies.is_empty() {
        choose_policies(root, &overrides.policies, sources);
        applied.push(format!("policies={}", overrides.policies.join(",")));
    }
    applied
}

/// Sets one `path=value`; the value is YAML.
fn set_pair(root: &mut Node, option: &str, pair: &str, sources: &mut Sources) -> Result<(), Diagnostic> {
    let source = sources.add(option, pair);
    let Some((path, value)) = pair.split_once('=') else {
        let whole = Place::range(source, 0..pair.len());
        return Err(Diagnostic::new(whole, "an override needs a value").hint("write `path=value`"));
    };
    let at = Place::range(source, 0..path.len());
    if value.trim().is_empty() {
        return Err(Diagnostic::new(at, format!("`{path}` is given no value")).hint("write `path=value`"));
    }
    // Blanks in place of the path keep the byte positions of the value.
    let padded = format!("{}{value}", " ".repeat(path.len() + 1));
    let value = yaml::tree(source, &padded)?;
    paths::set(root, path, at, value, &paths::SETTABLE)
}

/// Replaces the list of policies by the named ones; those of the scenario keep their parameters.
fn choose_policies(root: &mut Node, names: &[String], sources: &mut Sources) {
    let given: Vec<Node> = match root.get("policies").map(|entry| &entry.value.content) {
        Some(Content::List(items)) => items.clone(),
        _ => Vec::new(),
    };
    let mut chosen = Vec::new();
    for name in names {
        let source = sources.add("--policy", name);
        let place = Place::range(source, 0..name.len());
        let known = |name: &str| {
            given
                .iter()
                .find(|item| paths::label_of(item).is_some_and(|l| l.eq_ignore_ascii_case(name)))
                .cloned()
        };
        let item = |name: &str| known(name).unwrap_or_else(|| Node::scalar(place, name));
        chosen.push(match name.split_once('/') {
            Some((upper, beneath)) => paths::stacked(item(upper), item(beneath), place, upper, beneath),
            None => item(name),
        });
    }
    let list = Node { place: Place::NONE, used: None, content: Content::List(chosen) };
    root.set("policies", Place::NONE, list);
}
