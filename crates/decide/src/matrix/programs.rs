//! The programs of some scenario files, and the settings that run some of them together.

use std::collections::BTreeMap;

use experiment::PolicyRegistry;
use notation::diagnostics::{Place, Sources};
use notation::yaml::{self, Node};
use scenario::memory::Limit;
use scenario::plan::{Experiment, Shortened, UncertainValue};
use scenario::{Overrides, load_with};

use crate::flow;
use crate::trial::{Setting, Subject};

/// A scenario file.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct File {
    /// Its name in messages; machine files are relative to it.
    pub name: String,
    /// Its text.
    pub text: String,
}

/// What the command line changes.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Changes {
    /// The machine, as `--set machine=` takes it; none: that of the first file.
    pub machine: Option<String>,
    /// The policy; none: the first one of the first file.
    pub policy: Option<String>,
    /// `path=value` pairs as `--set` takes them.
    pub set: Vec<String>,
    /// Only these programs; empty: all.
    pub only: Vec<String>,
    /// Seed of the first replicate; none: that of the first file.
    pub seed: Option<u64>,
    /// The memory that there is.
    pub limit: Option<Limit>,
}

/// An application of a file.
#[derive(Clone, Debug)]
struct App {
    name: String,
    node: Node,
    /// Which program it is; none: it runs beside everybody.
    program: Option<usize>,
}

/// A program of the matrix.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Program {
    /// Its name.
    pub name: String,
    /// Its tasks.
    pub tasks: u32,
}

/// The programs of some files, and what surrounds them.
#[derive(Clone, Debug)]
pub struct Programs {
    /// The programs in the order of the files.
    pub programs: Vec<Program>,
    /// Applications that run beside everybody.
    pub beside: Vec<String>,
    /// The files.
    pub files: Vec<String>,
    /// Label of the policy.
    pub policy: String,
    /// Name of the machine.
    pub machine: String,
    /// Its cpus.
    pub cpus: u32,
    /// How many of the stated values of the machine are estimates.
    pub uncertain: usize,
    /// Values of the files that are known only within a range.
    pub ranges: Vec<UncertainValue>,
    /// Bandwidth of the memory of a NUMA node, bytes/s; 0: without limit.
    pub node_bandwidth: u64,
    /// Programs of which only a part is simulated.
    pub shortened: Vec<Shortened>,
    /// Seed of the first replicate.
    pub seed: u64,
    /// What the user should know: sentences.
    pub warnings: Vec<String>,
    /// The scenario without its applications.
    text: String,
    apps: Vec<App>,
    /// What stands between the name of a program and the number of a copy; in no name.
    mark: String,
    set: Vec<String>,
    limit: Option<Limit>,
}

/// Keys of an application that say when and how often it runs: here each program begins at once and runs
/// again while the others go on.
const WHEN: [&str; 4] = ["start", "after", "copies", "arrival"];

/// Keys that the first file decides, whatever the others say: they state what is run, not the programs.
const OF_THE_FIRST: [&str; 15] = [
    "name",
    "about",
    "machine",
    "kernel",
    "apps",
    "policies",
    "sweep",
    "baseline",
    "repeat",
    "seed",
    "horizon",
    "objective",
    "best_partition",
    "latencies",
    "uncertain",
];

impl Programs {
    /// Reads the programs of files: the foreground applications of all of them.
    ///
    /// # Errors
    /// What is wrong, for the user: with a file, with a change, or with files that do not fit together.
    pub fn read(policies: &PolicyRegistry, files: &[File], changes: &Changes) -> Result<Self, String> {
        let Some(first) = files.first() else { return Err("there is no scenario".to_owned()) };
        let mut all = Self {
            programs: Vec::new(),
            beside: Vec::new(),
            files: files.iter().map(|file| file.name.clone()).collect(),
            policy: String::new(),
            machine: String::new(),
            cpus: 0,
            uncertain: 0,
            ranges: Vec::new(),
            node_bandwidth: 0,
            shortened: Vec::new(),
            seed: 0,
            warnings: Vec::new(),
            text: String::new(),
            apps: Vec::new(),
            mark: String::new(),
            set: changes.machine.iter().map(|name| format!("machine={name}")).collect(),
            limit: changes.limit.clone(),
        };
        all.set.extend(changes.set.iter().cloned());
        let roots: Vec<Node> = files.iter().map(tree).collect::<Result<_, _>>()?;
        all.check_changes(&roots)?;
        let mut origin: BTreeMap<String, usize> = BTreeMap::new();
        for (at, (file, root)) in files.iter().zip(&roots).enumerate() {
            let experiment = all.load(policies, file, root, changes)?;
            if at == 0 {
                all.surroundings(&experiment);
            } else {
                fits(file, root, first, &roots[0])?;
            }
            all.add(file, root, &experiment, changes, (&mut origin, at))?;
        }
        let is_program = |name: &&String| all.programs.iter().any(|program| program.name == **name);
        if let Some(wanted) = changes.only.iter().find(|name| !is_program(name)) {
            let known: Vec<&str> = origin.keys().map(String::as_str).collect();
            return Err(format!(
                "`{wanted}` is no foreground application; the applications are {}",
                known.join(", ")
            ));
        }
        if all.programs.is_empty() {
            return Err(format!("`{}` has no foreground application: there is no program", first.name));
        }
        all.mark = "_".to_owned();
        while all.apps.iter().any(|app| app.name.contains(&all.mark)) {
            all.mark.push('_');
        }
        let mut root = roots.into_iter().next().unwrap_or(Node::empty_map(Place::NONE));
        root.remove("sweep");
        root.remove("apps");
        // Ranges may be of applications that are not in a group.
        root.remove("uncertain");
        root.set("apps", Place::NONE, Node::empty_map(Place::NONE));
        all.text = flow::written(&root);
        Ok(all)
    }

    /// Reads one file with the changes that are about it.
    fn load(
        &self,
        policies: &PolicyRegistry,
        file: &File,
        root: &Node,
        changes: &Changes,
    ) -> Result<Experiment, String> {
        let has = |name: &str| root.get("apps").is_some_and(|apps| apps.value.get(name).is_some());
        let mine = self.set.iter().filter(|pair| app_of(pair).is_none_or(|(name, _)| has(name)));
        let overrides = Overrides {
            set: mine.cloned().chain(["baseline=none".to_owned()]).collect(),
            policies: changes.policy.iter().cloned().collect(),
            objective: Some("makespan".to_owned()),
            seed: changes.seed,
            repeat: Some(1),
            without_sweep: true,
            limit: changes.limit.clone(),
            ..Overrides::default()
        };
        let set = self.set.iter().any(|pair| pair.trim_start().starts_with("window="));
        if let Some(line) = root.get("window").map(|entry| line(&file.text, entry.place)).or(set.then_some(1))
        {
            let place = if set { "--set window".to_owned() } else { format!("{}:{line}", file.name) };
            return Err(format!(
                "{place}: `window` cuts runs off, and a matrix compares how long programs run: leave it out"
            ));
        }
        load_with(policies, &file.name, &file.text, &overrides)
    }

    /// Takes over what the first file says of machine and policy.
    fn surroundings(&mut self, experiment: &Experiment) {
        self.policy = experiment.policies.first().cloned().unwrap_or_default();
        self.cpus = experiment.cpus();
        self.seed = experiment.seed;
        self.node_bandwidth = experiment.runs.first().map_or(0, |run| run.machine.memory.node_bandwidth);
        if let Some(machine) = experiment.machines.first() {
            self.machine.clone_from(&machine.name);
            self.uncertain = machine.inputs.len();
        }
    }

    /// Adds the applications of a file.
    fn add(
        &mut self,
        file: &File,
        root: &Node,
        experiment: &Experiment,
        changes: &Changes,
        (origin, at): (&mut BTreeMap<String, usize>, usize),
    ) -> Result<(), String> {
        let entries = root.get("apps").map_or(&[][..], |apps| apps.value.entries());
        for entry in entries {
            let line = line(&file.text, entry.place);
            let Some(which) = experiment.apps.iter().position(|app| *app == entry.key) else {
                return Err(format!(
                    "{}:{line}: `{}` is a program of several kinds, and a matrix needs one application for \
                     each program: list its kinds as applications",
                    file.name, entry.key
                ));
            };
            if let Some(other) = origin.insert(entry.key.clone(), at) {
                return Err(format!(
                    "{}:{line}: `{}` is also an application of {}: give one of them another name",
                    file.name, entry.key, self.files[other]
                ));
            }
            let background = experiment.background.get(which).copied().unwrap_or(false);
            let left_out = !changes.only.is_empty() && !changes.only.contains(&entry.key);
            if background {
                self.beside.push(entry.key.clone());
            } else if left_out {
                continue;
            }
            let mut node = entry.value.clone();
            if !background {
                self.begins_at_once(&entry.key, &mut node);
                let run = experiment.runs.first();
                let tasks = run.and_then(|run| {
                    let place = run.entries.iter().position(|entry| *entry == which)?;
                    Some(run.apps.get(place)?.tasks)
                });
                self.programs.push(Program { name: entry.key.clone(), tasks: tasks.unwrap_or(1) });
            }
            let program = (!background).then(|| self.programs.len() - 1);
            self.apps.push(App { name: entry.key.clone(), node, program });
        }
        self.shortened.extend(experiment.shortened.iter().cloned());
        let mine = |value: &&UncertainValue| match app_of(&value.path) {
            None => at == 0,
            Some((name, _)) => self.apps.iter().any(|app| app.name == name),
        };
        let ranges: Vec<UncertainValue> = experiment.uncertain.iter().filter(mine).cloned().collect();
        self.ranges.extend(ranges);
        Ok(())
    }

    /// Takes out when a program runs.
    fn begins_at_once(&mut self, name: &str, node: &mut Node) {
        let said: Vec<&str> = WHEN.into_iter().filter(|key| node.get(key).is_some()).collect();
        for key in &said {
            node.remove(key);
        }
        if !said.is_empty() {
            let keys = said.iter().map(|key| format!("`{key}`")).collect::<Vec<_>>().join(", ");
            self.warnings
                .push(format!("{keys} of `{name}` does not count here: one copy of it begins at once"));
        }
    }

    /// Refuses changes of applications that no file has.
    fn check_changes(&self, roots: &[Node]) -> Result<(), String> {
        let names: Vec<&str> = roots
            .iter()
            .filter_map(|root| root.get("apps"))
            .flat_map(|apps| apps.value.entries().iter().map(|entry| entry.key.as_str()))
            .collect();
        for pair in &self.set {
            let Some((name, rest)) = app_of(pair) else { continue };
            if !names.contains(&name) {
                let known = names.join(", ");
                return Err(format!("--set {pair}: no application is called `{name}`; there are {known}"));
            }
            let key = rest.split(['.', '=']).nth(1).unwrap_or_default();
            if rest.starts_with('=') || WHEN.contains(&key) {
                return Err(format!(
                    "--set {pair}: a matrix runs each program at once, and again when it has ended: set \
                     other keys of `{name}`, or change the file"
                ));
            }
        }
        Ok(())
    }

    /// What trials are run on.
    #[must_use]
    pub fn subject<'a>(&'a self, policies: &'a PolicyRegistry) -> Subject<'a> {
        Subject {
            policies,
            name: self.files.first().map_or("", String::as_str),
            text: &self.text,
            // Runs alone are trials of their own, and nothing is judged by an objective.
            base: Overrides {
                set: vec!["baseline=none".to_owned()],
                objective: Some("makespan".to_owned()),
                seed: Some(self.seed),
                limit: self.limit.clone(),
                ..Overrides::default()
            },
        }
    }

    /// The name under which a program runs for the `turn`-th time, from 0, in a place of a group.
    #[must_use]
    pub fn instance(&self, members: &[usize], place: usize, turn: u32) -> String {
        let program = members[place];
        let name = &self.programs[program].name;
        let first = members.iter().position(|other| *other == program) == Some(place);
        if first && turn == 0 {
            return name.clone();
        }
        format!("{name}{0}{1}{0}{turn}", self.mark, place + 1)
    }

    /// The setting in which the programs of a group run together; each one runs again so many times, as soon
    /// as it has ended. Applications have the order of the files. `more`: further changes.
    #[must_use]
    pub fn setting(&self, members: &[usize], again: &[u32], more: &[String]) -> Setting {
        let (mut apps, mut later) = (Vec::new(), Vec::new());
        let mut names: BTreeMap<&str, Vec<String>> = BTreeMap::new();
        for app in &self.apps {
            let Some(program) = app.program else {
                apps.push(format!("apps.{}={}", app.name, flow::written(&app.node)));
                names.entry(&app.name).or_default().push(app.name.clone());
                continue;
            };
            for place in (0..members.len()).filter(|place| members[*place] == program) {
                let mut before: Option<String> = None;
                for turn in 0..=again.get(place).copied().unwrap_or(0) {
                    let name = self.instance(members, place, turn);
                    let mut node = app.node.clone();
                    if let Some(before) = &before {
                        node.set("after", Place::NONE, Node::scalar(Place::NONE, before));
                    }
                    let set = format!("apps.{name}={}", flow::written(&node));
                    let list = if turn == 0 { &mut apps } else { &mut later };
                    list.push(set);
                    names.entry(&app.name).or_default().push(name.clone());
                    before = Some(name);
                }
            }
        }
        let own = self.set.iter().chain(more).flat_map(|pair| match app_of(pair) {
            None => vec![pair.clone()],
            Some((name, rest)) => {
                let there = names.get(name).map_or(&[][..], Vec::as_slice);
                there.iter().map(|name| format!("apps.{name}{rest}")).collect()
            }
        });
        let set = apps.into_iter().chain(later).chain(own).collect();
        Setting { set, policy: Some(self.policy.clone()) }
    }
}

/// The application that a `path=value` pair changes, and what follows its name.
fn app_of(pair: &str) -> Option<(&str, &str)> {
    let rest = pair.trim_start().strip_prefix("apps.")?;
    let end = rest.find(['.', '=']).unwrap_or(rest.len());
    Some(rest.split_at(end))
}

/// The tree of a file.
fn tree(file: &File) -> Result<Node, String> {
    let sources = Sources::new(&file.name, &file.text);
    yaml::tree(0, &file.text).map_err(|problem| sources.render(&[problem]))
}

/// The line of a place, from 1.
fn line(text: &str, place: Place) -> usize {
    let before = text.get(..place.start).unwrap_or_default();
    1 + before.bytes().filter(|byte| *byte == b'\n').count()
}

/// Refuses a further file that says something about its applications which only the first file can say.
fn fits(file: &File, root: &Node, first: &File, other: &Node) -> Result<(), String> {
    for entry in root.entries().iter().filter(|entry| !OF_THE_FIRST.contains(&entry.key.as_str())) {
        if other
            .get(&entry.key)
            .is_none_or(|known| flow::written(&known.value) != flow::written(&entry.value))
        {
            return Err(format!(
                "{}:{}: of several files the first one decides `{}`, and {} has another value: make them \
                 alike",
                file.name,
                line(&file.text, entry.place),
                entry.key,
                first.name
            ));
        }
    }
    Ok(())
}
