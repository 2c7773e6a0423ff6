//! A resolved scenario: every single run with its machine, kernel, applications and policy.

use std::sync::Arc;

use notation::cpus::Numbering;
use notation::number::plural;
use policies::Choice;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use sim_core::machine::Machine;
use sim_core::os::OsModel;
use sim_core::outcome::Options;
use sim_core::program::{AppSpec, Objects};
use sim_core::time::Time;

use crate::configuration::{Axis, Configuration};
use crate::named_files::Included;
use crate::objective::Objective;
pub use crate::uncertain::UncertainValue;
use crate::written::Written;

/// The policy index of a dedicated baseline run ([`RunPlan::alone`]), which belongs to no policy of the
/// scenario.
pub const NO_POLICY: usize = usize::MAX;

/// A resolved scenario: nothing in it can be wrong any more.
#[derive(Clone)]
pub struct Experiment {
    /// Its name, from the file.
    pub name: String,
    /// What it is about, one or a few sentences; may be empty.
    pub about: String,
    /// The file as read, byte for byte, and after it the machine files it names (provenance).
    pub scenario_text: String,
    /// The files that it names, each once, in the order read.
    pub files: Vec<Included>,
    /// The swept paths with their values; empty without a sweep.
    pub axes: Vec<Axis>,
    /// The combinations of their values in the order written, the first path slowest; exactly one without a
    /// sweep.
    pub configurations: Vec<Configuration>,
    /// Labels of the policies in the order written, all different.
    pub policies: Vec<String>,
    /// The machines of all configurations, each once.
    pub machines: Vec<MachineOrigin>,
    /// Values that the author of the scenario knows only within a range, in the order written; those that
    /// the command line sets are not among them. Under [`crate::Overrides::draw`] the runs have the values
    /// of the draw.
    pub uncertain: Vec<UncertainValue>,
    /// Applications of which only a part is simulated.
    pub shortened: Vec<Shortened>,
    /// Names of the applications in the order written, background ones included.
    pub apps: Vec<String>,
    /// For each application, whether it is a background one (hog, daemon): it has no run time and no
    /// baseline.
    pub background: Vec<bool>,
    /// What policies are judged by.
    pub objective: Objective,
    /// Seed of the first replicate.
    pub seed: u64,
    /// Replicates of each configuration and policy, at least 1.
    pub repeat: u32,
    /// True when each foreground application also runs alone.
    pub baseline: bool,
    /// True when the best static partition is to be searched at each configuration.
    pub best_partition: bool,
    /// All runs: baseline runs first, then by configuration, policy, replicate.
    pub runs: Vec<RunPlan>,
    /// Overrides from the command line as `path=value`, in the order applied.
    pub overrides: Vec<String>,
    /// What the user should know before the runs: lists in other numbers than those of Linux, settings
    /// without effect.
    pub warnings: Vec<String>,
}

impl Experiment {
    /// Cpus of the largest machine.
    #[must_use]
    pub fn cpus(&self) -> u32 {
        self.runs.iter().map(|run| run.machine.cpus()).max().unwrap_or(0)
    }

    /// The cpus of one of its machines as lists name them.
    #[must_use]
    pub fn numbering(&self, machine: &Machine) -> Numbering {
        let origin = self.machines.iter().find(|origin| origin.name == machine.name);
        let linux = origin.map_or_else(Vec::new, |origin| origin.cpu_numbers.clone());
        Numbering { machine: machine.name.clone(), cpus: machine.cpus(), linux }
    }

    /// How many runs it has: `60 runs (6 policies x 3 configurations x 3 replicates, 6 dedicated)`.
    #[must_use]
    pub fn size(&self) -> String {
        let dedicated = self.runs.iter().filter(|run| run.alone.is_some()).count();
        let alone = if dedicated == 0 { String::new() } else { format!(", {dedicated} dedicated") };
        format!(
            "{} ({} x {} x {}{alone})",
            plural(self.runs.len(), "run", "runs"),
            plural(self.policies.len(), "policy", "policies"),
            plural(self.configurations.len(), "configuration", "configurations"),
            plural(self.repeat as usize, "replicate", "replicates"),
        )
    }
}

/// A machine, and how certain its values are.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct MachineOrigin {
    /// Its name.
    pub name: String,
    /// Its hardware threads; absent in results of older versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cpus: Option<u32>,
    /// Its shape as a synthetic description.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub topology: Option<String>,
    /// How many of its values have a stated source.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub values: Option<usize>,
    /// How many of these are marked uncertain: estimates, or values of another machine.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub uncertain: Option<usize>,
    /// Those of the uncertain values that can act on this machine and that the scenario does not set.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub inputs: Vec<Input>,
    /// The Linux number of each cpu, where these differ from the simulator's; no part of results.
    #[serde(skip)]
    pub cpu_numbers: Vec<u32>,
}

/// An uncertain value of a machine or of a scenario, as a scenario would write it.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Input {
    /// The parameter of the machine; of a value of the scenario its path.
    pub name: String,
    /// Its value.
    pub value: String,
    /// The smallest value of its range: as the scenario or the machine's file states it, else a fifth below
    /// the value.
    pub low: String,
    /// The largest one: as stated, else a fifth above the value.
    pub high: String,
    /// Value, smallest and largest as numbers: nanoseconds, bytes (per second), thousandths or hundredths of
    /// a per cent; zeros in results of older versions.
    #[serde(default)]
    pub numbers: [u64; 3],
}

impl Input {
    /// A value that the scenario itself states as uncertain.
    #[must_use]
    pub fn stated(value: &UncertainValue) -> Self {
        let UncertainValue { path, value: held, low, high, .. } = value.clone();
        Self { name: path, value: held, low, high, numbers: value.in_results() }
    }

    pub(crate) fn of(input: &machines::Input) -> Self {
        let machines::Input { parameter, kind, value, low, high } = *input;
        Self {
            name: parameter.into(),
            value: kind.show(value),
            low: kind.show(low),
            high: kind.show(high),
            numbers: [value, low, high],
        }
    }
}

/// An application of which only a part is simulated.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Shortened {
    /// Its name.
    pub app: String,
    /// The smallest simulated part of its iterations over the configurations, 0 to 1.
    pub share: f64,
}

/// One run of the simulator.
#[derive(Clone)]
pub struct RunPlan {
    /// Index in [`Experiment::configurations`]. Of a baseline run: the first configuration it serves.
    pub configuration: usize,
    /// Index in [`Experiment::policies`]; [`NO_POLICY`] for a baseline run.
    pub policy: usize,
    /// Replicate, from 0; its seed is the experiment's plus this number, the same for all configurations and
    /// policies (common random numbers).
    pub replicate: u32,
    /// The configurations this run belongs to: its own, or for a baseline run all those that differ only in
    /// the number of threads.
    pub serves: Vec<usize>,
    /// `Some(app)`: that application alone, pinned: one thread per core, or all tasks where each has work of
    /// its own.
    pub alone: Option<usize>,
    /// The machine.
    pub machine: Arc<Machine>,
    /// The kernel.
    pub kernel: Arc<OsModel>,
    /// The applications, copies written out; one of them in a baseline run.
    pub apps: Vec<AppSpec>,
    /// For each of them its position in [`Experiment::apps`].
    pub entries: Vec<usize>,
    /// How the applications of the scenario were written, by their positions there; empty in a baseline run.
    pub written: Arc<[Written]>,
    /// What their programs share: events, devices, named locks, sources of requests.
    pub objects: Arc<Objects>,
    /// The policy with its parameters.
    pub policy_choice: Choice,
    /// Seed and horizon.
    pub options: Options,
    /// Wake-up latencies and run lengths are collected.
    pub latencies: bool,
    /// Where the window begins in which work is counted; the horizon is its end. None: the run goes on until
    /// all foreground applications have ended.
    pub window: Option<Time>,
}
