//! The registry of workloads: what a scenario's `workload:` may name, with its parameters.

use notation::parameter::Values;
use notation::registry::{self, Registry};
use sim_core::program::Program;

use crate::{hog, hybrid, make, npb, parbench, pool, sleepers, small, spec_omp, spmd};

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
    /// Work of each rank in thousandths of the program's; empty = 1,000 for all.
    pub rank_scale: Vec<u32>,
    /// Threads per process of a hybrid program; 0 = what the runtime says.
    pub team: u32,
    /// Its tasks are unrelated processes, whatever the runtime says.
    pub processes: bool,
    /// Number of tasks when the scenario says nothing; 0 = as many as there are cores, one if in the
    /// background.
    pub tasks: u32,
}

impl Built {
    /// A foreground program that is the same for all ranks.
    #[must_use]
    pub const fn even(program: Program) -> Self {
        Self { program, background: false, rank_scale: Vec::new(), team: 0, processes: false, tasks: 0 }
    }
}

/// A workload; its example stands below a scenario's `apps:`, one application per line.
pub type Entry = registry::Entry<Build>;

/// Builds a workload from values of its parameters. An error is a sentence: a combination that cannot be.
pub type Build = fn(&Values, &Context<'_>) -> Result<Built, String>;

/// The workloads, in the order of lists.
pub const WORKLOADS: Registry<Build> = Registry {
    noun: "workload",
    entries: &[
        npb::ENTRY,
        spec_omp::ENTRY,
        parbench::ENTRY,
        spmd::inline::ENTRY,
        hog::ENTRY,
        small::BARRIERS,
        small::CRITICAL,
        small::DAEMON,
        make::ENTRY,
        sleepers::INTERACTIVE,
        sleepers::SERVICES,
        pool::ENTRY,
        hybrid::ENTRY,
    ],
    text: include_str!("workloads.md"),
};

#[cfg(test)]
mod tests {
    use super::*;
    use notation::parameter::Kind;

    const CONTEXT: Context<'static> = Context { tasks: 5, runtime: "upc", machine: "" };

    #[test]
    fn tables_are_sound() {
        for (i, entry) in WORKLOADS.entries.iter().enumerate() {
            assert!(WORKLOADS.entries[..i].iter().all(|other| other.name != entry.name));
            assert!(
                !entry.summary.is_empty() && !WORKLOADS.about(entry).is_empty() && !entry.source.is_empty()
            );
            assert!(entry.example.contains(entry.name), "{}", entry.name);
            for p in entry.parameters {
                let at = format!("{}.{}", entry.name, p.name);
                assert!(p.min <= p.default && p.default <= p.max && !p.about.is_empty(), "{at}");
                if let Kind::Choice(words) = p.kind {
                    assert_eq!((p.min, p.max), (0, words.len() as u64 - 1), "{at}");
                }
            }
        }
    }

    #[test]
    fn defaults_build_for_any_number_of_tasks() {
        for entry in WORKLOADS.entries {
            for tasks in [1, 2, 3, 16, 1_000, 1 << 24] {
                let context = Context { tasks, runtime: "openmp", machine: "" };
                let built = (entry.own)(&Values::defaults(entry.parameters), &context);
                let built = built.unwrap_or_else(|e| panic!("{} with {tasks} tasks: {e}", entry.name));
                assert!(built.rank_scale.is_empty() || built.rank_scale.len() as u32 == tasks);
            }
        }
    }

    #[test]
    fn extreme_values_build_or_say_why_not() {
        for entry in WORKLOADS.entries {
            for p in entry.parameters {
                for value in [p.min, p.max] {
                    for tasks in [1, 7, 1 << 24] {
                        let mut values = Values::defaults(entry.parameters);
                        values.set(p.name, value).unwrap();
                        match (entry.own)(&values, &Context { tasks, ..CONTEXT }) {
                            Ok(built) => assert!(!built.program.ops().is_empty()),
                            Err(e) => assert!(e.len() > 10, "{}.{} = {value}: {e}", entry.name, p.name),
                        }
                    }
                }
            }
        }
    }

    #[test]
    fn unknown_workloads_get_a_hint() {
        assert!(WORKLOADS.resolve("npd").unwrap_err().contains("did you mean `npb`?"));
        assert_eq!(WORKLOADS.resolve("spmd").unwrap().name, "spmd");
    }
}
