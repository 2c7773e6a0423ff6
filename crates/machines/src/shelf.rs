//! The machines by name, read from the embedded data files, and the resolution of names and synthetic descriptions.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use notation::parameter::{Kind, Values};
use serde::Deserialize;
use sim_core::machine::{Machine, Topology};

use crate::parameters::{GENERIC_NOTES, PARAMETERS, build, generic_values};
use crate::topology::parse_topology;
use notation::suggest::hint;

/// The data files.
const FILES: &[(&str, &str)] = &[
    ("barcelona.yaml", include_str!("../data/barcelona.yaml")),
    ("tigerton.yaml", include_str!("../data/tigerton.yaml")),
];

/// Where a value of a machine comes from.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Note {
    /// The parameter, or `topology`.
    pub parameter: String,
    /// Paper, data sheet or measurement.
    pub source: String,
    /// No measurement of this very machine: a sensitivity run should vary it.
    pub uncertain: bool,
}

/// A machine of the shelf or a synthetic one.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Entry {
    /// Its name: as in the data file, or the synthetic description itself.
    pub name: String,
    /// One line.
    pub summary: String,
    /// Its shape, as a synthetic description.
    pub topology_text: String,
    /// Its shape.
    pub topology: Topology,
    /// Its values of [`PARAMETERS`]; they are the table's defaults too, so [`Values::changed`] lists overrides only.
    pub values: Values,
    /// Sources of the values.
    pub notes: Vec<Note>,
}

impl Entry {
    /// The machine with its own values.
    #[must_use]
    pub fn machine(&self) -> Machine {
        build(&self.name, &self.topology, &self.values)
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    name: String,
    summary: String,
    topology: Datum,
    values: BTreeMap<String, Datum>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Datum {
    value: String,
    source: String,
    #[serde(default)]
    uncertain: bool,
}

static SHELF: LazyLock<Result<Vec<Entry>, String>> =
    LazyLock::new(|| FILES.iter().map(|(name, text)| read(name, text)).collect());

/// The machines of the shelf.
#[must_use]
pub fn entries() -> &'static [Entry] {
    SHELF.as_deref().unwrap_or_default()
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
    if let Err(broken) = SHELF.as_ref() {
        return Err(broken.clone());
    }
    let text = text.trim();
    if let Some(entry) = entries().iter().find(|entry| entry.name == text) {
        return Ok(entry.clone());
    }
    if text.contains(':') {
        return synthetic(text);
    }
    Err(format!(
        "unknown machine `{text}`; machines are {} or a description like `package:2 numa:1 core:8`{}",
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
    });
    Ok(Entry {
        name: text.split_whitespace().collect::<Vec<_>>().join(" "),
        summary: format!("synthetic machine of {} cpus with the costs of a server of today", topology.cpus()),
        topology_text: text.to_owned(),
        values: generic_values(&topology),
        topology,
        notes: notes.collect(),
    })
}

fn read(file: &str, text: &str) -> Result<Entry, String> {
    let data: File = notation::yaml::parse(file, text)?;
    let topology = parse_topology(&data.topology.value).map_err(|e| format!("{file}: {e}"))?;
    let mut notes = vec![note("topology", &data.topology)];
    let mut table = PARAMETERS.to_vec();
    for parameter in &mut table {
        let Some(datum) = data.values.get(parameter.name) else {
            return Err(format!("{file}: no value for `{}`", parameter.name));
        };
        parameter.default = value(parameter.kind, datum)
            .and_then(|value| Values::defaults(&[*parameter]).set(parameter.name, value).map(|()| value))
            .map_err(|e| format!("{file}: {}: {e}", parameter.name))?;
        notes.push(note(parameter.name, datum));
    }
    if let Some(stray) = data.values.keys().find(|name| table.iter().all(|p| p.name != name.as_str())) {
        return Err(format!("{file}: unknown parameter `{stray}`"));
    }
    Ok(Entry {
        name: data.name,
        summary: data.summary,
        topology_text: data.topology.value,
        topology,
        values: Values::defaults(&table),
        notes,
    })
}

fn value(kind: Kind, datum: &Datum) -> Result<u64, String> {
    notation::units::parse(kind, &datum.value)
}

fn note(parameter: &str, datum: &Datum) -> Note {
    Note { parameter: parameter.to_owned(), source: datum.source.clone(), uncertain: datum.uncertain }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sim_core::ids::{CpuId, NodeId};
    use sim_core::machine::{Distance, Level};
    use sim_core::time::{Span, Speed};

    #[test]
    fn all_data_files_read() {
        assert_eq!(SHELF.as_ref().map(Vec::len), Ok(FILES.len()));
        for entry in entries() {
            assert_eq!(entry.notes.len(), PARAMETERS.len() + 1);
            assert!(entry.notes.iter().all(|note| !note.source.is_empty()));
            assert!(entry.values.changed().is_empty());
            let machine = entry.machine();
            assert_eq!(machine.core_speed.len() as u32, machine.topology.count(Level::Core));
        }
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

    #[test]
    fn bad_data_is_refused() {
        let (file, good) = FILES[0];
        let refuse = |text: &str| read(file, text).unwrap_err();
        assert!(refuse(&good.replace("  poll:", "  pol:")).contains("`poll`"));
        assert!(refuse(&good.replace("value: \"1.3\"", "value: \"0.3\"")).contains("remote_factor"));
        assert!(refuse(&good.replace("summary:", "sumary:")).contains("barcelona.yaml"));
        assert!(refuse(&format!("{good}\n  wings: {{ value: \"2\", source: none }}\n")).contains("wings"));
    }
}
