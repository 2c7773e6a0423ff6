//! How the user of a runtime can make its threads or processes wait, and what that is in a scenario. What is
//! typed for it is in [`crate::typed`].

use crate::typed::{Waiting, simulated};

/// The libraries of OpenMP: short and long limits. A poll of libgomp takes about 20 ns, so that 3,000 polls
/// are as long as some wake-ups (60 us), and 30,000 less than the default of 300,000 (6 ms).
const GNU: &[Waiting] =
    &[Waiting::Sleep, Waiting::SpinCount(3_000), Waiting::SpinCount(30_000), Waiting::Spin];
/// `KMP_BLOCKTIME`, 200 ms by default: at once, 1 ms, 20 ms, infinite; and `KMP_LIBRARY=turnaround`.
const KMP: &[Waiting] = &[
    Waiting::Sleep,
    Waiting::SpinFor(1_000_000),
    Waiting::SpinFor(20_000_000),
    Waiting::Yield,
    Waiting::Spin,
];
/// `mpi_yield_when_idle`.
const OPENMPI: &[Waiting] = &[Waiting::Yield, Waiting::Spin];
/// The author of the program decides.
const OWN: &[Waiting] = &[Waiting::Sleep, Waiting::Yield, Waiting::Spin];

/// The ways of each runtime besides its default; a runtime that is not here offers none.
pub const WAYS: &[(&str, &[Waiting])] = &[
    ("libgomp", GNU),
    ("libomp", KMP),
    ("openmp", KMP),
    ("openmpi", OPENMPI),
    ("upc", OWN),
    ("spin", OWN),
    ("yield", OWN),
    ("block", OWN),
];

/// The ways of a runtime besides its default.
#[must_use]
pub fn ways(runtime: &str) -> &'static [Waiting] {
    WAYS.iter().find(|(name, _)| *name == runtime).map_or(&[], |(_, ways)| ways)
}

/// Whether a runtime has variables or options for its ways; otherwise its author decides.
#[must_use]
pub fn is_set_by_user(runtime: &str) -> bool {
    ways(runtime).iter().any(|way| simulated(runtime, *way).is_some())
}

/// The parameters of a runtime that a way sets, with their values; none for the default.
#[must_use]
pub fn parameters(runtime: &str, way: Waiting) -> Vec<(String, String)> {
    let Some(text) = simulated(runtime, way) else {
        let word = match way {
            Waiting::Sleep => "block",
            Waiting::Yield => "yield",
            Waiting::Spin => "spin",
            Waiting::Default | Waiting::SpinFor(_) | Waiting::SpinCount(_) => return Vec::new(),
        };
        return vec![("wait".to_owned(), word.to_owned())];
    };
    let inner = text.trim_start_matches(['{', ' ']).split_once('{').map_or("", |(_, inner)| inner);
    let pairs = inner.trim_end_matches(['}', ' ']).split(',').filter_map(|pair| pair.split_once(':'));
    pairs.map(|(name, value)| (name.trim().to_owned(), value.trim().to_owned())).collect()
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
        for (name, ways) in WAYS {
            let entry = workloads::runtimes::RUNTIMES.find(name).unwrap();
            for way in *ways {
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
        let active = active.map(|(name, value)| (name.to_owned(), value.to_owned()));
        assert_eq!(parameters("libgomp", Waiting::Spin), active);
    }
}
