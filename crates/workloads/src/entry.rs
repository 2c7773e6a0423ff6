//! What an entry of the registry is, and what it builds.

use notation::parameter::Values;
use sim_core::lock::LockRules;
use sim_core::program::Program;

/// What a workload is built for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Context<'a> {
    /// Number of tasks (ranks) of the application, at least 1.
    pub tasks: u32,
    /// Name of the runtime; catalogued codes have other synchronisation counts for each programming model.
    pub runtime: &'a str,
    /// Name of the machine. Catalogued codes draw from memory what was measured on it, where it was; its
    /// caches decide.
    pub machine: &'a str,
}

/// A workload, built.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Built {
    /// What each rank runs.
    pub program: Program,
    /// The run does not wait for its end (it may have none).
    pub background: bool,
    /// Each of its wake-ups after a timed sleep is a request, and somebody waits for its end.
    pub requests: bool,
    /// Its work was measured, and counts in seconds of the nominal core on every machine. Other work counts
    /// in the unit of the machine (`work_unit`).
    pub nominal: bool,
    /// Work of each rank in thousandths of the program's; empty = 1,000 for all.
    pub rank_scale: Vec<u32>,
    /// Threads per process of a hybrid program; 0 = what the runtime says.
    pub team: u32,
    /// Its tasks are unrelated processes, whatever the runtime says.
    pub processes: bool,
    /// Each task has separate work (a user, a service), so that more tasks have more work. Otherwise the
    /// tasks share one problem.
    pub own_work: bool,
    /// Number of tasks when the scenario says nothing; 0 = as many as there are cores, one if in the
    /// background.
    pub tasks: u32,
    /// The rules of its locks with a cpu for each thread, and with more threads than cpus.
    pub lock: (LockRules, LockRules),
}

impl Built {
    /// A foreground program that is the same for all ranks.
    #[must_use]
    pub const fn even(program: Program) -> Self {
        Self {
            program,
            background: false,
            requests: false,
            nominal: false,
            rank_scale: Vec::new(),
            team: 0,
            processes: false,
            own_work: false,
            tasks: 0,
            lock: (LockRules::MUTEX, LockRules::MUTEX),
        }
    }
}

/// A workload; its example stands below a scenario's `apps:`, one application per line.
pub type Entry = notation::registry::Entry<Build>;

/// Builds a workload from values of its parameters. An error is a sentence: a combination that cannot be.
pub type Build = fn(&Values, &Context<'_>) -> Result<Built, String>;
