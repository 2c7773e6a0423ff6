//! Engines that start the shards of a sweep: how each numbers its tasks, and the script that it gets.
//!
//! A new engine is a row of [`ENGINES`] and a template. Sources: sbatch(1) of Slurm 22.05.8; qsub(1) and the
//! reference guide of OpenPBS; qsub(1) of Torque 6; `docs/jobs` of HyperQueue; parallel(1) of GNU parallel
//! 20221122; "Jobs" and "Pod failure policy" of the Kubernetes documentation.

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};

/// An engine.
#[derive(PartialEq, Eq, Debug)]
pub(crate) struct Engine {
    /// Its name on the command line.
    pub(crate) name: &'static str,
    /// What starts the shards.
    pub(crate) about: &'static str,
    /// The variable with the number of a task; none where the script counts the shards.
    pub(crate) index: Option<&'static str>,
    /// The variables of the whole array; none where the tasks are numbered from 0 and not counted.
    pub(crate) array: Option<Array>,
    /// Fewest tasks that an array can have.
    pub(crate) fewest: u32,
    /// A task sees nothing but its image and the directory above that of the sweep.
    pub(crate) volume: bool,
    /// The script, with names in double braces: those of `words` and of `commands::sweep::script`. A line
    /// with a name that has no value is left out.
    pub(crate) template: &'static str,
    /// Names of the template that this engine fills by itself.
    pub(crate) words: &'static [(&'static str, &'static str)],
}

/// The variables of an array of tasks.
#[derive(PartialEq, Eq, Debug)]
pub(crate) struct Array {
    /// The smallest number of a task.
    pub(crate) first: &'static str,
    /// The largest one.
    pub(crate) last: &'static str,
    /// From one to the next.
    pub(crate) step: &'static str,
    /// How many tasks there are.
    pub(crate) count: &'static str,
}

/// What most engines have.
const PLAIN: Engine = Engine {
    name: "",
    about: "",
    index: None,
    array: None,
    fewest: 1,
    volume: false,
    template: "",
    words: &[],
};

/// All engines.
pub(crate) static ENGINES: [Engine; 6] = [
    Engine {
        name: "slurm",
        about: "A job array of Slurm",
        index: Some("SLURM_ARRAY_TASK_ID"),
        array: Some(Array {
            first: "SLURM_ARRAY_TASK_MIN",
            last: "SLURM_ARRAY_TASK_MAX",
            step: "SLURM_ARRAY_TASK_STEP",
            count: "SLURM_ARRAY_TASK_COUNT",
        }),
        template: include_str!("engines/slurm.sh"),
        ..PLAIN
    },
    Engine {
        name: "pbs",
        about: "A job array of OpenPBS or PBS Professional",
        index: Some("PBS_ARRAY_INDEX"),
        // The end of a range is above its start.
        fewest: 2,
        template: include_str!("engines/pbs.sh"),
        words: &[
            ("array", "-J"),
            ("resources", "select=1:ncpus={{jobs}}:mem={{mebibytes}}mb"),
            ("dependency", "afterany"),
        ],
        ..PLAIN
    },
    Engine {
        name: "torque",
        about: "A job array of Torque",
        index: Some("PBS_ARRAYID"),
        template: include_str!("engines/pbs.sh"),
        words: &[
            ("array", "-t"),
            ("resources", "nodes=1:ppn={{jobs}},mem={{mebibytes}}mb"),
            ("dependency", "afteranyarray"),
        ],
        ..PLAIN
    },
    Engine {
        name: "hyperqueue",
        about: "A task array of HyperQueue",
        index: Some("HQ_TASK_ID"),
        template: include_str!("engines/hyperqueue.sh"),
        ..PLAIN
    },
    Engine {
        name: "kubernetes",
        about: "An indexed job of Kubernetes",
        index: Some("JOB_COMPLETION_INDEX"),
        volume: true,
        template: include_str!("engines/kubernetes.sh"),
        ..PLAIN
    },
    Engine {
        name: "parallel",
        about: "Processes on one machine, started by GNU parallel",
        template: include_str!("engines/parallel.sh"),
        ..PLAIN
    },
];

/// The engine of a name on the command line.
pub(crate) fn parser() -> impl TypedValueParser<Value = &'static Engine> {
    let names = ENGINES.iter().map(|engine| PossibleValue::new(engine.name).help(engine.about));
    PossibleValuesParser::new(names).try_map(|name| {
        ENGINES
            .iter()
            .find(|engine| engine.name == name)
            .ok_or_else(|| format!("there is no engine `{name}`"))
    })
}
