//! Scenario files: from YAML text and overrides to a plan of all runs without errors.

mod apps;
mod arrivals;
pub mod built_in;
mod cgroups;
pub mod configuration;
mod defaults;
mod foreign;
mod forms;
mod graph_keys;
mod graphs;
mod grid;
mod groups;
pub mod inputs;
mod json;
mod judged;
mod key;
pub mod keys;
mod kinds;
pub mod labels;
mod limits;
pub mod machine_files;
pub mod memory;
mod named_files;
mod nested;
pub mod objective;
mod overrides;
mod paths;
pub mod plan;
mod policies;
mod policy_files;
mod program_files;
mod program_keys;
mod programs;
mod range;
mod ranks;
mod registries;
mod reserved;
mod resolve;
mod resolved;
pub mod schema;
mod settable;
pub mod subject;
mod sweep;
mod together;
mod traps;
mod uncertain;
mod uncertain_paths;
mod units;
pub mod written;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use notation::diagnostics::{Diagnostic, Place, Problems, Sources};
use notation::former_keys::rename_keys;
use notation::renamed::{RENAMED, What};
use notation::yaml::{self, Node};

use ::policies::PolicyRegistry;
pub use defaults::{DEFAULT_KERNEL, default_kernel};
pub use grid::{Configured, Grid};
pub use key::{Edit, Inside, Key};
pub use machines::Draw;
pub use named_files::Included;
use named_files::NamedFiles;
pub use overrides::{Overrides, alike};
use plan::Experiment;
pub use settable::{SettablePath, settable};
pub use uncertain::UncertainValue;
use uncertain_paths::Found;

/// What a scenario is read with.
pub(crate) type Reader = notation::reader::Reader<Known>;

/// What the names of a scenario can refer to besides the registries.
#[derive(Clone)]
pub(crate) struct Known {
    /// The machines of files, by the path as written; `None` for a file in which something is wrong.
    pub(crate) machines: Arc<BTreeMap<String, Option<machines::Entry>>>,
    /// The policies.
    pub(crate) policies: PolicyRegistry,
    /// The draw that replaces the uncertain values of machines.
    pub(crate) draw: Option<Draw>,
    /// Values of the machine that the scenario itself states as uncertain.
    pub(crate) stated: Arc<BTreeSet<String>>,
    /// The texts that places refer to.
    pub(crate) sources: Arc<Sources>,
}

/// Reads and resolves a scenario; `name` is its name in messages, and machine files and policy files are
/// relative to it.
///
/// # Errors
/// All that is wrong with it, rendered with file, line, column and source lines.
pub fn load(name: &str, text: &str, overrides: &Overrides) -> Result<Experiment, String> {
    load_with(&PolicyRegistry::default(), name, text, overrides)
}

/// As [`load`], with these policies.
///
/// # Errors
/// As [`load`].
pub fn load_with(
    policies: &PolicyRegistry,
    name: &str,
    text: &str,
    overrides: &Overrides,
) -> Result<Experiment, String> {
    examine(policies, name, text, overrides).map_err(|problems| problems.to_string())
}

/// As [`load_with`], for editors: what is wrong as a list with lines and columns.
///
/// # Errors
/// All that is wrong.
pub fn examine(
    policies: &PolicyRegistry,
    name: &str,
    text: &str,
    overrides: &Overrides,
) -> Result<Experiment, Problems> {
    let mut opened = Opened::read(policies, name, text, overrides)?;
    let resolved = resolve::experiment(&opened.root, &mut opened.reader, overrides);
    opened.try_ends();
    match resolved {
        Some(experiment) if opened.reader.is_clean() => {
            let best_partition = experiment.best_partition || overrides.best_partition;
            let uncertain = opened.uncertain.iter().map(|found| found.value.clone()).collect();
            let (scenario_text, overrides_applied) = (opened.text, opened.applied);
            let mut done = Experiment {
                scenario_text,
                files: opened.files,
                overrides: overrides_applied,
                uncertain,
                best_partition,
                ..experiment
            };
            if overrides.warn {
                let remarks = opened.reader.remarks().to_vec();
                let load = |other: &Overrides| load_with(policies, name, text, other).ok();
                done.warnings = remarks.into_iter().chain(overrides.without_effect(&done, load)).collect();
            }
            Ok(done)
        }
        _ => Err(Problems::new(opened.sources, opened.reader.problems())),
    }
}

/// A scenario with its overrides and machine files, before anything in it is resolved.
pub(crate) struct Opened {
    sources: Sources,
    root: Node,
    reader: Reader,
    /// The overrides as `path=value`.
    applied: Vec<String>,
    /// What the scenario states as uncertain; the tree has the values of the draw, if there is one.
    uncertain: Vec<Found>,
    /// The file, and behind it the machine files and the checksums of policy files.
    text: String,
    /// The files that it names.
    files: Vec<Included>,
}

impl Opened {
    fn read(
        policies: &PolicyRegistry,
        name: &str,
        text: &str,
        overrides: &Overrides,
    ) -> Result<Self, Problems> {
        let mut sources = Sources::new(name, text);
        let mut root = match document(text) {
            Ok(root) => root,
            Err(problem) => return Err(Problems::new(sources, vec![problem])),
        };
        let known = Known {
            machines: Arc::default(),
            policies: policies.clone(),
            draw: overrides.draw,
            stated: Arc::default(),
            sources: Arc::new(Sources::new(name, "")),
        };
        let mut reader = Reader::new(known);
        let mut text = text.to_owned();
        let mut files = NamedFiles::new(name, overrides.files.as_ref());
        rename_keys(RENAMED, What::Key, &mut root, &["sweep", "uncertain"], &mut reader);
        let overrides = &overrides.with_present_names(&mut reader);
        // Overrides name policies by their labels.
        policy_files::unfold(&mut root);
        // Overrides name parts of programs, and files of others.
        text.push_str(&program_files::read_all(&mut root, &mut files, &mut sources, &mut reader));
        let applied = overrides.apply(&mut root, &mut sources, &mut reader);
        text.push_str(&program_files::read_all(&mut root, &mut files, &mut sources, &mut reader));
        text.push_str(&machine_files::read_all(&root, &mut files, &mut sources, &mut reader));
        policy_files::unfold(&mut root);
        text.push_str(&policy_files::read_all(&root, &mut files, &mut reader));
        reader.context.sources = Arc::new(sources.clone());
        let uncertain = uncertain_paths::read(&root, &mut reader);
        if let Some(draw) = overrides.draw {
            uncertain_paths::set_drawn(&mut root, &uncertain, draw);
        }
        let files = files.read;
        Ok(Self { sources, root, reader, applied, uncertain, text, files })
    }

    /// Tries the ends of uncertain values in a scenario that is right so far. A draw has values of its own.
    fn try_ends(&mut self) {
        if self.reader.is_clean() && self.reader.context.draw.is_none() {
            uncertain_paths::try_ends(&self.root, &self.uncertain, &mut self.reader);
        }
    }
}

/// The tree of a scenario file.
fn document(text: &str) -> Result<Node, Diagnostic> {
    if yaml::is_blank(text) {
        let hint = "a scenario has at least the keys `name`, `machine`, `apps` and `policies`; `oversim \
            init` writes one to start from";
        return Err(Diagnostic::new(Place::NONE, "the scenario is empty").hint(hint));
    }
    yaml::tree(0, text)
}
