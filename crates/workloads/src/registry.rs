//! The registry of workloads: what a scenario's `workload:` may name, with its parameters.

use notation::registry::Registry;

use crate::entry::Build;
use crate::{hog, hybrid, make, npb, parbench, pool, sleepers, small, spec_omp, spmd};

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
    use crate::entry::Context;
    use notation::parameter::Kind;
    use notation::parameter::Values;

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
