//! How the user of a runtime can make its threads or processes wait, and what that is in a scenario. What is
//! typed for it is in [`crate::typed`].

use crate::typed::{self, Pair, Waiting};

/// The ways to wait that a runtime has.
#[derive(Clone, Copy, Debug)]
pub struct Ways {
    /// Its name in the registry.
    pub runtime: &'static str,
    /// How it waits without any setting, in a few words; empty where its author decides.
    default: &'static str,
    /// All ways, from sleeping at once to polling without end.
    pub all: &'static [Waiting],
}

/// The libraries of OpenMP: short and long limits. A poll of libgomp takes about 20 ns, so that 3,000 polls
/// are as long as some wake-ups (60 us), and 30,000 less than the default of 300,000 (6 ms).
const GNU: &[Waiting] =
    &[Waiting::Sleep, Waiting::SpinCount(3_000), Waiting::SpinCount(30_000), Waiting::Default, Waiting::Spin];
/// `KMP_BLOCKTIME`, 200 ms by default: at once, 1 ms, 20 ms, infinite; and `KMP_LIBRARY=turnaround`.
const KMP: &[Waiting] = &[
    Waiting::Sleep,
    Waiting::SpinFor(1_000_000),
    Waiting::SpinFor(20_000_000),
    Waiting::Default,
    Waiting::Yield,
    Waiting::Spin,
];
/// `mpi_yield_when_idle`.
const OPENMPI: &[Waiting] = &[Waiting::Yield, Waiting::Default, Waiting::Spin];
/// The author of the program decides.
const OWN: &[Waiting] = &[Waiting::Sleep, Waiting::Yield, Waiting::Spin];

const fn row(runtime: &'static str, default: &'static str, all: &'static [Waiting]) -> Ways {
    Ways { runtime, default, all }
}

/// The ways of each runtime; one that is not here offers none.
///
/// Sources: the manual of libgomp (OMP_WAIT_POLICY, GOMP_SPINCOUNT); LLVM OpenMP, kmp_settings.cpp
/// (KMP_BLOCKTIME); Open MPI, ompi_mpi_params.c (mpi_yield_when_idle).
pub const WAYS: &[Ways] = &[
    row("libgomp", "poll for 6 ms (300,000 times)", GNU),
    row("libomp", "poll for 200 ms, with yields", KMP),
    row("openmp", "poll for 200 ms, mostly with yields", KMP),
    row("openmpi", "poll; yield with more processes than cores", OPENMPI),
    row("upc", "", OWN),
    row("spin", "", OWN),
    row("yield", "", OWN),
    row("block", "", OWN),
];

/// All ways of a runtime, from sleeping at once to polling without end, the default among them where it has
/// settings.
#[must_use]
pub fn all(runtime: &str) -> &'static [Waiting] {
    WAYS.iter().find(|ways| ways.runtime == runtime).map_or(&[], |ways| ways.all)
}

/// The ways of a runtime besides its default.
pub fn ways(runtime: &str) -> impl Iterator<Item = &'static Waiting> {
    all(runtime).iter().filter(|way| **way != Waiting::Default)
}

/// Whether a runtime has variables or options for its ways; otherwise its author decides.
#[must_use]
pub fn is_set_by_user(runtime: &str) -> bool {
    ways(runtime).any(|way| !typed::parameters(runtime, *way).is_empty())
}

/// The parameters of a runtime that a way sets, with their values; none for the default.
#[must_use]
pub fn parameters(runtime: &str, way: Waiting) -> Vec<Pair> {
    let set = typed::parameters(runtime, way);
    let word = match way {
        Waiting::Sleep => "block",
        Waiting::Yield => "yield",
        Waiting::Spin => "spin",
        Waiting::Default | Waiting::SpinFor(_) | Waiting::SpinCount(_) => return set,
    };
    if set.is_empty() { vec![("wait", word.to_owned())] } else { set }
}

/// What a way of a runtime is, in the few words of a table: `poll for 60us`. Numbers of polls are times
/// where the registry has the length of a poll, and the default is what it does.
#[must_use]
pub fn about(runtime: &str, way: Waiting) -> String {
    let time = |ns: u64| format!("poll for {}", notation::parameter::Kind::Duration.show(ns));
    match (way, typed::step(runtime)) {
        (Waiting::Default, _) => {
            let known = WAYS.iter().find(|ways| ways.runtime == runtime).map(|ways| ways.default);
            known.filter(|words| !words.is_empty()).unwrap_or("the default").to_owned()
        }
        (Waiting::Sleep, _) => "sleep at once".to_owned(),
        (Waiting::Yield, _) => "poll and yield".to_owned(),
        (Waiting::Spin, _) => "poll for ever".to_owned(),
        (Waiting::SpinFor(ns), _) => time(ns),
        (Waiting::SpinCount(count), Some(step)) if step > 0 => time(count.saturating_mul(step)),
        (Waiting::SpinCount(count), _) => format!("poll {} times", notation::number::count(count as f64)),
    }
}

/// What a way is, in the words of an answer: `sleeping at once`.
#[must_use]
pub fn words(way: Waiting) -> String {
    match way {
        Waiting::Default => "waiting as by default".to_owned(),
        Waiting::Sleep => "sleeping at once".to_owned(),
        Waiting::Yield => "polling and yielding".to_owned(),
        Waiting::Spin => "polling without end".to_owned(),
        Waiting::SpinFor(ns) => {
            format!("polling for {}, then sleeping", notation::parameter::Kind::Duration.show(ns))
        }
        Waiting::SpinCount(count) => {
            format!("polling {} times, then sleeping", notation::number::count(count as f64))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ways_set_parameters_that_exist() {
        for Ways { runtime: name, .. } in WAYS {
            let entry = workloads::runtimes::RUNTIMES.find(name).unwrap();
            for way in ways(name) {
                let set = parameters(name, *way);
                assert!(!set.is_empty(), "{name} {way:?}");
                for (parameter, _) in set {
                    assert!(
                        entry.parameters.iter().any(|known| known.name == parameter),
                        "{name} {parameter}"
                    );
                }
            }
        }
        let active = [("spin_count", "30000000000"), ("throttled_spin_count", "1000")];
        let active = active.map(|(name, value)| (name, value.to_owned()));
        assert_eq!(parameters("libgomp", Waiting::Spin), active);
    }

    #[test]
    fn a_runtime_has_no_way_twice_and_a_default_where_a_user_can_set_it() {
        for Ways { runtime, all, .. } in WAYS {
            let distinct: std::collections::BTreeSet<&Waiting> = all.iter().collect();
            assert_eq!(distinct.len(), all.len(), "{runtime}");
            assert_eq!(all.contains(&Waiting::Default), is_set_by_user(runtime), "{runtime}");
        }
        assert_eq!(about("libgomp", Waiting::SpinCount(3_000)), "poll for 60us");
        assert_eq!(about("libomp", Waiting::Default), "poll for 200 ms, with yields");
    }
}
