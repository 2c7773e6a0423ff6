//! What the command line changes in a scenario: single values, axes of the sweep, policies, seeds.

use std::collections::BTreeMap;
use std::path::PathBuf;

use machines::Draw;
use notation::diagnostics::{Diagnostic, Place, Sources};
use notation::former_keys::rename_path;
use notation::neutral::first_invisible;
use notation::renamed::{RENAMED, What};
use notation::suggest::nearest;
use notation::yaml::{self, Content, Entry, Node};
use policies::is_file;

use crate::Reader;
use crate::key::Edit;
use crate::memory::Limit;
use crate::paths;
use crate::plan::{Experiment, RunPlan};
use crate::policies::label_of;

/// Keys that `--set` may set without a change of the runs: names, and what is done besides them.
const NOT_IN_RUNS: [&str; 5] = ["name", "about", "best_partition", "latencies", "objective"];

/// What the command line changes in a scenario.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Overrides {
    /// `path=value` pairs, applied in order; paths as in `sweep:` and also `name`, `about`, `baseline`,
    /// `seed`, `repeat`. A swept path keeps this value only.
    pub set: Vec<String>,
    /// `path=a,b,c`: an axis of the sweep with these values, in place of the one of that path or behind the
    /// others.
    pub sweep: Vec<String>,
    /// One more axis, as in `sweep`; or the path of an axis of the scenario, `path`, whose values stay.
    pub vary: Option<String>,
    /// Only these policies, by label in the scenario or by name in the registry; empty = as in the scenario.
    /// `SPEED/DWRR` is the first over the second and gets the label `SPEED-over-DWRR`; `{ SPEED: { interval:
    /// 50ms } }` is one as a scenario writes it, and `./mine.wasm` a policy file.
    pub policies: Vec<String>,
    /// Seed of the first replicate.
    pub seed: Option<u64>,
    /// Number of replicates.
    pub repeat: Option<u32>,
    /// Simulate every poll as an event.
    pub stepwise: bool,
    /// What policies are judged by, whatever the scenario says.
    pub objective: Option<String>,
    /// Search the best static partition, whatever the scenario says.
    pub best_partition: bool,
    /// Leave the sweep of the file out: one configuration, that of the file and of `set`.
    pub without_sweep: bool,
    /// Warn of settings and axes without effect ([`Experiment::warnings`]); each setting takes another
    /// reading of the scenario.
    pub warn: bool,
    /// Uncertain values of machines are those of this draw, except those that the scenario sets.
    pub draw: Option<Draw>,
    /// The memory that there is: a scenario whose plan does not fit is refused before it is made. None: no
    /// limit.
    pub limit: Option<Limit>,
    /// Where the files are that the scenario and the changes name, by name; others do not exist. None:
    /// relative to the scenario.
    pub files: Option<BTreeMap<String, PathBuf>>,
}

impl Overrides {
    /// The same with the present names of keys.
    pub(super) fn with_present_names(&self, reader: &mut Reader) -> Self {
        let mut present = self.clone();
        for path in present.set.iter_mut().chain(&mut present.sweep).chain(&mut present.vary) {
            rename_path(RENAMED, What::Key, path, reader);
        }
        present
    }

    /// Applies the overrides and returns them as `path=value`, axes as `sweep.path=values`.
    pub(super) fn apply(&self, root: &mut Node, sources: &mut Sources, reader: &mut Reader) -> Vec<String> {
        let mut applied = Vec::new();
        if self.without_sweep {
            root.remove("sweep");
        }
        let numbers = [("--seed", "seed", self.seed), ("--repeat", "repeat", self.repeat.map(u64::from))];
        let numbers = numbers
            .into_iter()
            .filter_map(|(option, key, number)| Some((option, format!("{key}={}", number?))));
        let set = self.set.iter().map(|pair| ("--set", pair.clone()));
        let objective = self.objective.iter().map(|name| ("--objective", format!("objective={name}")));
        // What is set inside of an axis of the command line comes behind it.
        let axes: Vec<&str> = self.sweep.iter().chain(&self.vary).map(|axis| path_of(axis)).collect();
        let (inside, plain): (Vec<_>, Vec<_>) = set
            .chain(objective)
            .chain(numbers)
            .partition(|(_, pair)| axes.iter().any(|axis| is_inside(path_of(pair), axis)));
        plain.into_iter().for_each(|pair| applied.push(set_settled(root, pair, sources, reader)));
        for (at, pair) in self.sweep.iter().enumerate() {
            let path = pair.split('=').next().unwrap_or_default().trim();
            let twice = self.sweep[..at].iter().chain(&self.set).any(|other| path_of(other) == path);
            if let Err(problem) = sweep_pair(root, "--sweep", pair, twice, sources) {
                reader.add(problem);
            }
            settle(root, path);
            applied.push(format!("sweep.{pair}"));
        }
        if let Some(axis) = &self.vary {
            if let Err(problem) = self.varied(root, axis, sources) {
                reader.add(problem);
            }
            settle(root, path_of(axis));
            applied.push(format!("sweep.{axis}"));
        }
        inside.into_iter().for_each(|pair| applied.push(set_settled(root, pair, sources, reader)));
        if !self.policies.is_empty() {
            let before: Vec<String> = paths::policy_labels(root).into_iter().map(str::to_owned).collect();
            if let Err(problem) = choose_policies(root, &self.policies, sources) {
                reader.add(problem);
            }
            let left: Vec<String> = paths::policy_labels(root).into_iter().map(str::to_owned).collect();
            for label in before.iter().filter(|label| !left.contains(label)) {
                settle(root, &format!("policies.{label}"));
            }
            applied.push(format!("policies={}", self.policies.join(",")));
        }
        applied
    }

    /// Makes an axis of `vary`, or finds it.
    fn varied(&self, root: &mut Node, axis: &str, sources: &mut Sources) -> Result<(), Diagnostic> {
        let path = path_of(axis);
        let twice = self.sweep.iter().chain(&self.set).any(|other| path_of(other) == path);
        if axis.contains('=') {
            return sweep_pair(root, "--vary", axis, twice, sources);
        }
        let at = Place::range(sources.add("--vary", axis), 0..axis.len());
        if path.is_empty() {
            return Err(Diagnostic::new(at, "`--vary` needs a path").hint("write `path=a,b`"));
        }
        if twice {
            return Err(given_twice(path, at));
        }
        let swept: Vec<&str> = swept(root).collect();
        if swept.contains(&path) {
            return Ok(());
        }
        let hint = match nearest(path, swept.iter().copied()) {
            Some(near) => format!("did you mean `{near}`?"),
            None if swept.is_empty() => format!("write `--vary {path}=a,b`"),
            None => format!("write `--vary {path}=a,b`; the scenario sweeps {}", swept.join(", ")),
        };
        let message = format!("`{path}` needs values: the scenario does not sweep it");
        Err(Diagnostic::new(at, message).hint(hint))
    }

    /// Sentences about what has no effect: settings that leave all runs as they are, axes whose values make
    /// no difference. `load` reads the scenario with other overrides.
    pub(super) fn without_effect(
        &self,
        experiment: &Experiment,
        load: impl Fn(&Self) -> Option<Experiment>,
    ) -> Vec<String> {
        let mut warnings = Vec::new();
        for (at, pair) in self.set.iter().enumerate() {
            if NOT_IN_RUNS.contains(&path_of(pair)) {
                continue;
            }
            let mut set = self.set.clone();
            set.remove(at);
            let other = load(&Self { set, warn: false, ..self.clone() });
            if other.is_some_and(|other| same_runs(&other, experiment)) {
                warnings.push(format!("--set {pair} has no effect: all runs are the same without it"));
            }
        }
        for (at, axis) in experiment.axes.iter().enumerate().filter(|(_, axis)| axis.values.len() > 1) {
            if !matters(experiment, at) {
                let path = &axis.path;
                let varied = self.vary.as_deref().is_some_and(|vary| path_of(vary) == path);
                let what = if varied { format!("--vary {path}") } else { format!("the sweep of `{path}`") };
                warnings.push(format!("{what} has no effect: its values give the same runs"));
            }
        }
        warnings
    }
}

fn path_of(pair: &str) -> &str {
    pair.split('=').next().unwrap_or_default().trim()
}

/// Whether a path names something within what is at the other one.
fn is_inside(path: &str, outer: &str) -> bool {
    path.strip_prefix(outer).is_some_and(|rest| rest.starts_with('.'))
}

/// Sets a pair, which is known from then on, and returns it.
fn set_settled(
    root: &mut Node,
    (option, pair): (&str, String),
    sources: &mut Sources,
    reader: &mut Reader,
) -> String {
    if let Err(problem) = set_pair(root, option, &pair, sources) {
        reader.add(problem);
    }
    settle(root, path_of(&pair));
    pair
}

/// The command line states what is at this path, or leaves it out: nothing in it is uncertain any more.
fn settle(root: &mut Node, path: &str) {
    let found = root.get("uncertain").map_or(&[][..], |uncertain| uncertain.value.entries());
    let settled = found.iter().filter(|entry| paths::replaces(path, &entry.key));
    let settled: Vec<String> = settled.map(|entry| entry.key.clone()).collect();
    if let Some(uncertain) = (!settled.is_empty()).then(|| root.child("uncertain", Place::NONE)).flatten() {
        settled.iter().for_each(|path| uncertain.remove(path));
    }
}

/// Whether two experiments have the same runs.
fn same_runs(a: &Experiment, b: &Experiment) -> bool {
    a.configurations.len() == b.configurations.len()
        && a.runs.len() == b.runs.len()
        && a.runs.iter().zip(&b.runs).all(|(a, b)| {
            (a.configuration, a.policy, a.replicate, a.alone)
                == (b.configuration, b.policy, b.replicate, b.alone)
                && alike(a, b)
        })
}

/// Whether the values of an axis make a difference in any run.
fn matters(experiment: &Experiment, axis: usize) -> bool {
    let others = |run: &RunPlan| -> Vec<usize> {
        let places = experiment.configurations.get(run.configuration).map_or(&[][..], |c| &c.places);
        places.iter().enumerate().map(|(at, place)| if at == axis { 0 } else { *place }).collect()
    };
    let shared: Vec<&RunPlan> = experiment.runs.iter().filter(|run| run.alone.is_none()).collect();
    let key = |run: &RunPlan| (others(run), run.policy, run.replicate);
    let firsts: BTreeMap<_, &RunPlan> = shared
        .iter()
        .filter(|run| experiment.configurations[run.configuration].places.get(axis) == Some(&0))
        .map(|run| (key(run), *run))
        .collect();
    shared.iter().any(|run| firsts.get(&key(run)).is_none_or(|first| !alike(first, run)))
}

/// Whether two runs simulate the same thing.
#[must_use]
pub fn alike(a: &RunPlan, b: &RunPlan) -> bool {
    a.options == b.options
        && a.entries == b.entries
        && a.machine == b.machine
        && a.kernel == b.kernel
        && a.apps == b.apps
        && a.objects == b.objects
        && a.policy_choice.same(&b.policy_choice)
}

/// Splits a pair into its path and its value, with their places.
fn split<'a>(
    option: &str,
    pair: &'a str,
    sources: &mut Sources,
) -> Result<(&'a str, &'a str, Place, u32), Diagnostic> {
    let source = sources.add(option, pair);
    visible(pair, source)?;
    let Some((path, value)) = pair.split_once('=') else {
        let whole = Place::range(source, 0..pair.len());
        return Err(Diagnostic::new(whole, "the value is missing").hint("write `path=value`"));
    };
    let at = Place::range(source, 0..path.len());
    if value.trim().is_empty() {
        return Err(
            Diagnostic::new(at, format!("the value of `{path}` is missing")).hint("write `path=value`")
        );
    }
    Ok((path, value, at, source))
}

/// Refuses a change with an invisible character anywhere, even in a comment: results repeat it.
fn visible(change: &str, source: u32) -> Result<(), Diagnostic> {
    let Some((at, c)) = first_invisible(change) else { return Ok(()) };
    let place = Place::range(source, at..at + c.len_utf8());
    Err(Diagnostic::new(place, format!("the invisible character U+{:04X}", u32::from(c))))
}

/// The paths that a scenario sweeps, those within `zip` and `sample` too.
fn swept(root: &Node) -> impl Iterator<Item = &str> {
    let axes = root.get("sweep").map_or(&[][..], |sweep| sweep.value.entries());
    axes.iter().flat_map(|axis| {
        let within: Vec<&Entry> = match (axis.key.as_str(), &axis.value.content) {
            ("zip", Content::List(all)) => all.iter().flat_map(Node::entries).collect(),
            ("zip", _) => axis.value.entries().iter().collect(),
            ("sample", _) => {
                axis.value.get("over").map_or(&[][..], |over| over.value.entries()).iter().collect()
            }
            _ => vec![axis],
        };
        within.into_iter().map(|entry| entry.key.as_str())
    })
}

/// Sets one `path=value`; the value is YAML. A swept path is swept no more.
fn set_pair(root: &mut Node, option: &str, pair: &str, sources: &mut Sources) -> Result<(), Diagnostic> {
    let (path, value, at, source) = split(option, pair, sources)?;
    // Blanks in place of the path keep the byte positions of the value.
    let padded = format!("{}{value}", " ".repeat(path.len() + 1));
    let value = yaml::tree(source, &padded)?;
    let was_joined = joined(root, path, at);
    // What the sweep replaces as a whole is set in each of its values: an axis of one value behind it.
    let is_swept = swept(root).any(|axis| axis == path || is_inside(path, axis));
    if was_joined || is_swept {
        let list = Node { place: value.place, used: None, content: Content::List(vec![value]) };
        if let Some(sweep) = root.child("sweep", at) {
            sweep.set(path, at, list);
        }
        return Ok(());
    }
    paths::set(root, path, at, value, Edit::Set)
}

/// A path with two values, or two lists of them.
fn given_twice(path: &str, at: Place) -> Diagnostic {
    Diagnostic::new(at, format!("`{path}` is given twice")).hint("sweep or set a path once")
}

/// Makes `path=a,b,c` an axis of the sweep.
fn sweep_pair(
    root: &mut Node,
    option: &str,
    pair: &str,
    twice: bool,
    sources: &mut Sources,
) -> Result<(), Diagnostic> {
    let (path, value, at, source) = split(option, pair, sources)?;
    if twice {
        return Err(given_twice(path, at));
    }
    let list = yaml::tree(source, &format!("{}[{value}]", " ".repeat(path.len())))?;
    // Brackets around all values do not matter.
    let list = match list.content {
        Content::List(mut items) if items.len() == 1 && matches!(items[0].content, Content::List(_)) => {
            items.remove(0)
        }
        _ => list,
    };
    joined(root, path, at);
    if let Some(axes) = root.child("sweep", at) {
        axes.set(path, at, list);
    }
    Ok(())
}

/// Takes a path out of the `zip` or `sample` in which it is swept, if there is one.
fn joined(root: &mut Node, path: &str, at: Place) -> bool {
    if root.get("sweep").is_none() {
        return false;
    }
    let Some(Content::Map(axes)) = root.child("sweep", at).map(|sweep| &mut sweep.content) else {
        return false;
    };
    let mut found = false;
    let mut take = |mapping: &mut Node| {
        found |= mapping.get(path).is_some();
        mapping.remove(path);
    };
    for axis in axes.iter_mut() {
        match axis.key.as_str() {
            "zip" => match &mut axis.value.content {
                Content::List(all) => all.iter_mut().for_each(&mut take),
                _ => take(&mut axis.value),
            },
            "sample" if axis.value.get("over").is_some() => {
                axis.value.child("over", at).into_iter().for_each(&mut take);
            }
            _ => {}
        }
    }
    if found {
        let empty = |node: &Node| node.entries().is_empty();
        axes.retain(|axis| match (axis.key.as_str(), &axis.value.content) {
            ("zip", Content::List(all)) => !all.iter().all(empty),
            ("zip", _) => !empty(&axis.value),
            ("sample", _) => axis.value.get("over").is_none_or(|over| !empty(&over.value)),
            _ => true,
        });
    }
    found
}

/// Whether a name of the command line is that of a policy file: a slash there puts policies on one another.
fn is_wasm(name: &str) -> bool {
    is_file(name.rsplit_once('/').map_or(name, |(_, end)| end))
}

/// Replaces the list of policies by the named ones; those of the scenario keep their parameters.
fn choose_policies(root: &mut Node, names: &[String], sources: &mut Sources) -> Result<(), Diagnostic> {
    let given: Vec<Node> = match root.get("policies").map(|entry| &entry.value.content) {
        Some(Content::List(items)) => items.clone(),
        _ => Vec::new(),
    };
    let mut chosen = Vec::new();
    for name in names {
        let source = sources.add("--policy", name);
        let place = Place::range(source, 0..name.len());
        if name.trim_start().starts_with('{') {
            chosen.push(yaml::tree(source, name)?);
            continue;
        }
        let known = |name: &str| {
            given.iter().find(|item| label_of(item).is_some_and(|l| l.eq_ignore_ascii_case(name))).cloned()
        };
        let item = |name: &str| known(name).unwrap_or_else(|| Node::scalar(place, name));
        chosen.push(match name.split_once('/') {
            _ if is_wasm(name) => item(name),
            Some((upper, beneath)) => paths::stacked(item(upper), item(beneath), place, upper, beneath),
            None => item(name),
        });
    }
    let list = Node { place: Place::NONE, used: None, content: Content::List(chosen) };
    root.set("policies", Place::NONE, list);
    Ok(())
}
