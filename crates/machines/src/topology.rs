//! Synthetic machine descriptions in the manner of hwloc: `package:8 numa:1 core:64 pu:2`.

use sim_core::machine::{Arity, Level, Topology};

use notation::suggest::hint;

/// Names of the levels, as hwloc's synthetic descriptions spell them, and the level each stands for; the
/// first name of a level is the usual one. `machine` (always 1) may open a description.
pub const LEVEL_NAMES: &[(&str, Option<Level>)] = &[
    ("machine", None),
    ("package", Some(Level::Package)),
    ("socket", Some(Level::Package)),
    ("pack", Some(Level::Package)),
    ("numa", Some(Level::Node)),
    ("numanode", Some(Level::Node)),
    ("node", Some(Level::Node)),
    ("cache", Some(Level::Cache)),
    ("l2", Some(Level::Cache)),
    ("l2cache", Some(Level::Cache)),
    ("l3", Some(Level::Cache)),
    ("l3cache", Some(Level::Cache)),
    ("cluster", Some(Level::Cluster)),
    ("core", Some(Level::Core)),
    ("pu", Some(Level::Thread)),
    ("thread", Some(Level::Thread)),
];

/// Longest description accepted, in bytes: six levels of at most 20 characters, with room for spaces.
const MAX_TEXT: usize = 256;

/// Reads a synthetic description: `level:count` words, outermost first, counts per instance of the level
/// above. Names are case-insensitive. A level left out has one instance per instance of the level above.
///
/// Behind each `+` stands a further kind of cores or caches that lies in the same package: `core:2 pu:2 +
/// core:4` has two cores with two hardware threads and four with one. Cores join the cache group before the
/// `+`, unless a `cache` opens another one. A `cluster` is a part of a cache group whose cores share an inner
/// cache: `cache:1 core:8 pu:2 + cluster:2 core:4`.
///
/// # Errors
/// A sentence: an unknown level (with the nearest name), a missing or bad count, or a tree the machine model
/// refuses.
pub fn parse_topology(text: &str) -> Result<Topology, String> {
    if text.len() > MAX_TEXT {
        return Err(format!("a machine description has at most {MAX_TEXT} characters"));
    }
    let mut kinds = text.split('+').map(levels);
    let first = kinds.next().unwrap_or_else(|| Ok(Vec::new()))?;
    let more = kinds.collect::<Result<Vec<_>, String>>()?;
    if first.is_empty() {
        return Err(
            "the machine description is empty; write for example `package:2 numa:1 core:8 pu:2`".into()
        );
    }
    if more.iter().any(Vec::is_empty) {
        return Err("a `+` is followed by a further kind of cores, as `core:2 pu:2 + core:4`".into());
    }
    Topology::of_kinds(&first, &more)
}

/// The levels of one kind.
fn levels(text: &str) -> Result<Vec<Arity>, String> {
    let mut levels: Vec<Arity> = Vec::new();
    for (at, word) in text.split_whitespace().enumerate() {
        let (name, count) = split(word)?;
        match level_of(name)? {
            Some(level) => levels.push((level, count)),
            None if at == 0 && count == 1 => {}
            None => return Err("`machine` can only be the first level, as `machine:1`".into()),
        }
    }
    Ok(levels)
}

fn split(word: &str) -> Result<(&str, u32), String> {
    let Some((name, count)) = word.split_once(':') else {
        return Err(format!("`{word}` is not of the form `level:count`; write for example `core:8`"));
    };
    match count.parse::<u32>() {
        Ok(0) => Err(format!("`{word}`: the count of a level must be at least 1")),
        Ok(count) => Ok((name, count)),
        Err(_) => Err(format!(
            "`{word}`: the count must be a whole number from 1 to {}",
            sim_core::limits::MAX_CPUS
        )),
    }
}

fn level_of(name: &str) -> Result<Option<Level>, String> {
    let lower = name.to_lowercase();
    match LEVEL_NAMES.iter().find(|(known, _)| *known == lower) {
        Some((_, level)) => Ok(*level),
        None => Err(format!(
            "unknown level `{name}`; levels are package, numa, cache, cluster, core and pu{}",
            hint(&lower, LEVEL_NAMES.iter().map(|(known, _)| *known))
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sim_core::ids::CpuId;
    use sim_core::machine::Distance;

    #[test]
    fn descriptions_become_trees() {
        let tree = parse_topology("Machine:1 Package:8 NUMANode:1 Core:64 PU:2").unwrap();
        assert_eq!((tree.cpus(), tree.count(Level::Node), tree.count(Level::Core)), (1024, 8, 512));
        let tree = parse_topology("socket:4 l2:2 core:2").unwrap();
        assert_eq!((tree.cpus(), tree.count(Level::Cache), tree.count(Level::Node)), (16, 8, 1));
    }

    #[test]
    fn kinds_of_cores_lie_side_by_side() {
        let tree = parse_topology("package:1 cache:1 core:2 pu:2 + core:4").unwrap();
        assert_eq!((tree.cpus(), tree.count(Level::Core), tree.count(Level::Cache)), (8, 6, 1));
        let cores: Vec<_> = (0..6).map(|core| tree.members(Level::Core, core)).collect();
        assert_eq!(cores, [0..2, 2..4, 4..5, 5..6, 6..7, 7..8]);
        assert!(tree.division(Level::Cache).is_equal() && !tree.division(Level::Core).is_equal());
        assert_eq!([0, 1, 4, 5].map(|cpu| tree.thread(CpuId(cpu))), [0, 1, 0, 0]);
        assert_eq!(tree.distance(CpuId(0), CpuId(1)), Distance::Core);
        assert_eq!(tree.distance(CpuId(4), CpuId(5)), Distance::Cache);
        // Clusters of two large and four small cores, in two packages.
        let arm = parse_topology("package:2 l2:1 core:2+l2:1 core:4").unwrap();
        assert_eq!((arm.cpus(), arm.span(Level::Package), arm.count(Level::Cache)), (12, 6, 4));
        assert_eq!(arm.distance(CpuId(1), CpuId(2)), Distance::Near);
        assert_eq!((arm.group(Level::Cache, CpuId(8)), arm.members(Level::Cache, 3)), (3, 8..12));
        // What turns out to be equal is an ordinary tree.
        assert_eq!(
            parse_topology("package:1 core:2 pu:2 + core:1 pu:2"),
            parse_topology("package:1 core:3 pu:2")
        );
        assert_eq!(parse_topology("cache:1 core:4 + cache:2 core:4"), parse_topology("cache:3 core:4"));
    }

    #[test]
    fn mistakes_are_named() {
        let error = |text| parse_topology(text).unwrap_err();
        assert!(error("sokcet:4 core:2").contains("did you mean `socket`?"), "{}", error("sokcet:4 core:2"));
        assert!(error("core").contains("level:count"));
        assert!(error("core:0").contains("at least 1"));
        assert!(error("core:x").contains("whole number"));
        assert!(error("core:99999999999").contains("whole number"));
        assert!(error("package:2000 core:4000").contains("cpus"));
        assert!(error("core:2 package:2").contains("inside"));
        assert!(error("core:2 machine:1").contains("first"));
        assert!(error("core:2 +").contains("further kind"));
        assert!(error("core:2 + numa:2 core:4").contains("Node cannot stand in a further kind"));
        assert!(error("core:2 + cache:2 core:4").contains("no cache level"));
        assert!(error("core:2000000 + core:4000000").contains("more than"));
        assert!(error(" ").contains("empty"));
        assert!(error(&"core:1 ".repeat(100)).contains("characters"));
    }
}
