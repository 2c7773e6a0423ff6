//! The machines by name, read from the embedded data files, and the resolution of names and synthetic
//! descriptions.

use std::sync::{LazyLock, OnceLock};

use notation::diagnostics::Sources;
use notation::suggest::hint;

use crate::entry::{Entry, Note};
use crate::file;
use crate::parameters::{GENERIC_NOTES, Lists, generic_range, generic_values};
use crate::topology::parse_topology;

/// The data files.
const FILES: &[(&str, &str)] = &[
    ("barcelona.yaml", include_str!("../data/barcelona.yaml")),
    ("tigerton.yaml", include_str!("../data/tigerton.yaml")),
    ("nehalem.yaml", include_str!("../data/nehalem.yaml")),
    ("x4440.yaml", include_str!("../data/x4440.yaml")),
    ("e25k.yaml", include_str!("../data/e25k.yaml")),
    ("xeon-2vcpu.yaml", include_str!("../data/xeon-2vcpu.yaml")),
    ("xeon-2s-snc.yaml", include_str!("../data/xeon-2s-snc.yaml")),
    ("epyc.yaml", include_str!("../data/epyc.yaml")),
    ("synthetic-1024.yaml", include_str!("../data/synthetic-1024.yaml")),
];

/// Each machine, read when first asked for: a run needs one of them.
static ENTRIES: [OnceLock<Result<Entry, String>>; FILES.len()] = [const { OnceLock::new() }; FILES.len()];

static REGISTRY: LazyLock<Result<Vec<Entry>, String>> =
    LazyLock::new(|| (0..FILES.len()).map(|at| entry(at).clone()).collect());

fn entry(at: usize) -> &'static Result<Entry, String> {
    let (file, text) = FILES[at];
    ENTRIES[at].get_or_init(|| read(file, text))
}

/// The built-in machines.
#[must_use]
pub fn entries() -> &'static [Entry] {
    REGISTRY.as_deref().unwrap_or_default()
}

/// Their names.
pub fn names() -> impl Iterator<Item = &'static str> {
    entries().iter().map(|entry| entry.name.as_str())
}

/// The machine of this name, or the synthetic machine of this description (anything with a colon).
///
/// # Errors
/// A sentence: an unknown name, with the nearest valid one, or what is wrong with the description.
pub fn resolve(text: &str) -> Result<Entry, String> {
    let text = text.trim();
    // Files are called as their machines are.
    if let Some(at) = FILES.iter().position(|(file, _)| file.strip_suffix(".yaml") == Some(text)) {
        return entry(at).clone();
    }
    if text.contains(':') {
        return synthetic(text);
    }
    if let Err(broken) = REGISTRY.as_ref() {
        return Err(broken.clone());
    }
    Err(format!(
        "unknown machine `{text}`; the known machines are {}, or write a description such as `package:2 \
            numa:1 core:8`{}",
        names().collect::<Vec<_>>().join(", "),
        hint(text, names())
    ))
}

fn synthetic(text: &str) -> Result<Entry, String> {
    let topology = parse_topology(text)?;
    let notes = GENERIC_NOTES.iter().map(|(parameter, source, uncertain)| Note {
        parameter: (*parameter).to_owned(),
        source: (*source).to_owned(),
        uncertain: *uncertain,
        range: generic_range(parameter),
    });
    Ok(Entry {
        name: text.split_whitespace().collect::<Vec<_>>().join(" "),
        summary: format!(
            "synthetic machine with {} cpus and the costs of a present-day server",
            topology.cpus()
        ),
        about: String::new(),
        topology_text: text.to_owned(),
        values: generic_values(&topology),
        topology,
        kernel: None,
        lists: Lists::default(),
        notes: notes.collect(),
        remarks: Vec::new(),
    })
}

/// A built-in machine file; errors are rendered.
fn read(file: &str, text: &str) -> Result<Entry, String> {
    file::read(0, text).map_err(|problems| Sources::new(file, text).render(&problems))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_called_as_their_machines() {
        let files: Vec<_> = FILES.iter().map(|(file, _)| file.trim_end_matches(".yaml")).collect();
        assert_eq!(files, names().collect::<Vec<_>>());
    }
    use crate::parameters::Parameters;
    use sim_core::ids::{CpuId, NodeId};
    use sim_core::machine::{Distance, Level};
    use sim_core::time::{Span, Speed};

    #[test]
    fn all_data_files_read() {
        assert_eq!(REGISTRY.as_ref().map(Vec::len), Ok(FILES.len()));
        for entry in entries() {
            let noted = |name: &str| entry.notes.iter().filter(|note| note.parameter == name).count();
            assert!(
                Parameters::TABLE.iter().all(|p| noted(p.name) == 1),
                "{}: a source for every number",
                entry.name
            );
            assert!(entry.about.len() > 100, "{}: what to use it for", entry.name);
            assert!(noted("topology") == 1 && noted("kernel") == 1, "{}", entry.name);
            assert!(entry.notes.iter().all(|note| !note.source.is_empty()));
            assert_eq!(entry.check(), Ok(()));
            assert!(entry.values.changed().is_empty());
            let machine = entry.machine();
            assert_eq!(machine.core_speed.len() as u32, machine.topology.count(Level::Core));
        }
    }

    #[test]
    fn machines_of_the_literature_give_every_number_themselves() {
        const SWITCHES: [&str; 10] = [
            "work_unit",
            "distances",
            "turbo",
            "governor",
            "lowest_clock",
            "clock_domain",
            "clock_rate_limit",
            "slow_cores",
            "slow_speed",
            "deep_idle",
        ];
        for name in ["tigerton", "barcelona", "nehalem", "x4440", "e25k"] {
            let entry = resolve(name).unwrap();
            let generic =
                entry.notes.iter().filter(|note| note.source.starts_with("default for a present-day server"));
            let generic: Vec<&str> = generic.map(|note| note.parameter.as_str()).collect();
            assert_eq!(generic, SWITCHES, "{name}");
        }
    }

    #[test]
    fn shapes_are_those_published() {
        // Cpus, cores, NUMA nodes, packages, cores that share a cache below the package.
        for (name, cpus, cores, nodes, packages, sharing) in [
            ("tigerton", 16, 16, 1, 4, 2),
            ("barcelona", 16, 16, 4, 4, 1),
            ("nehalem", 16, 8, 2, 2, 4),
            ("x4440", 24, 24, 4, 4, 1),
            ("e25k", 144, 144, 18, 72, 1),
            ("xeon-2vcpu", 2, 2, 1, 1, 1),
            ("xeon-2s-snc", 160, 80, 4, 2, 20),
            ("epyc", 256, 128, 2, 2, 8),
            ("synthetic-1024", 1024, 1024, 32, 8, 8),
        ] {
            let tree = resolve(name).unwrap().topology;
            let counts =
                (tree.cpus(), tree.count(Level::Core), tree.count(Level::Node), tree.count(Level::Package));
            assert_eq!(counts, (cpus, cores, nodes, packages), "{name}");
            assert_eq!(tree.span(Level::Cache) / tree.span(Level::Core), sharing, "{name}");
        }
    }

    #[test]
    fn kernels_are_those_of_the_papers() {
        for (name, kernel) in [
            ("tigerton", "linux-2.6.28"),
            ("barcelona", "linux-2.6.27"),
            ("nehalem", "linux-2.6.30"),
            ("x4440", "linux-2.6.18"),
            ("e25k", "solaris-9"),
            ("epyc", "linux-6.18"),
        ] {
            assert_eq!(resolve(name).unwrap().kernel.as_deref(), Some(kernel));
        }
    }

    #[test]
    fn two_sockets_of_barcelona_are_two_hops_apart() {
        let mut entry = resolve("barcelona").unwrap();
        let distances = entry.machine().memory.distances;
        assert_eq!(distances.len(), 16);
        let at = |from: usize, to: usize| distances[from * 4 + to];
        assert_eq!((at(2, 2), at(0, 1), at(0, 3), at(3, 0), at(1, 2)), (1_000, 1_200, 1_500, 1_500, 1_200));
        entry.values.set("distances", 0).unwrap();
        assert!(entry.machine().memory.distances.is_empty(), "the factor of remote access counts again");
    }

    #[test]
    fn e25k_has_its_limits_on_chip_board_and_crossbar() {
        let memory = resolve("e25k").unwrap().machine().memory;
        assert_eq!((memory.bus_bandwidth, memory.node_bandwidth), (2_400_000_000, 9_600_000_000));
        assert_eq!(memory.crossbar_bandwidth, 43_200_000_000);
        // 480 ns over 280 ns.
        assert_eq!(memory.remote_factor, 1_714);
    }

    #[test]
    fn nehalem_clocks_two_steps_up_for_two_cores() {
        let mut entry = resolve("nehalem").unwrap();
        // 2,666 and 2,533 over 2,400 MHz.
        assert_eq!(entry.machine().turbo, [[1_111, 1_111, 1_056, 1_056]]);
        entry.values.set("turbo", 0).unwrap();
        assert!(entry.machine().turbo.is_empty());
    }

    #[test]
    fn barcelona_is_numa() {
        let machine = resolve("barcelona").unwrap().machine();
        assert_eq!((machine.cpus(), machine.nodes()), (16, 4));
        assert_eq!(machine.node_of(CpuId(5)), NodeId(1));
        assert_eq!(machine.memory.node_bandwidth, 4_500_000_000);
        assert_eq!(machine.memory.remote_factor, 1_300);
        assert_eq!(machine.speed_of(CpuId(15)), Speed::NOMINAL);
        // A yield with a switch takes 1.2 us, within the 0.8-1.5 us of machines of 2008.
        assert_eq!(machine.costs.yield_call + machine.costs.switch_thread, Span::from_ns(1_200));
        assert_eq!(machine.signal_latency(CpuId(0), CpuId(4)), Span::from_ns(200));
    }

    #[test]
    fn tigerton_is_uniform_with_cache_pairs() {
        let machine = resolve("tigerton").unwrap().machine();
        assert_eq!((machine.cpus(), machine.nodes()), (16, 1));
        assert_eq!(machine.topology.distance(CpuId(0), CpuId(1)), Distance::Cache);
        assert_eq!(machine.memory.bus_bandwidth, 5_000_000_000);
        assert_eq!(machine.speed_of(CpuId(0)), Speed::ratio(8, 10));
    }

    #[test]
    fn names_and_descriptions_resolve() {
        let big = resolve("package:8  numa:1 core:64 pu:2").unwrap();
        assert_eq!((big.machine().cpus(), big.name.as_str()), (1024, "package:8 numa:1 core:64 pu:2"));
        let error = resolve("barcelna").unwrap_err();
        assert!(error.contains("did you mean `barcelona`?"), "{error}");
        assert!(resolve("core:0").is_err() && resolve("").is_err());
    }
}
