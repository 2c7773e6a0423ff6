//! The tables behind the objects of hwloc's XML: distances of NUMA nodes and kinds of cores. Other tables
//! (memory attributes, heterogeneous distances, support) are ignored.

use std::collections::BTreeMap;

use roxmltree::Node;

use super::elements::{Problem, info, number, set, wrong};
use super::found::{Distances, Found};

/// hwloc's mark of distances that are latencies (HWLOC_DISTANCES_KIND_MEANS_LATENCY).
const LATENCY: u64 = 4;
/// Most values of a table: those of a thousand nodes.
const MAX_VALUES: usize = 1 << 20;

/// What an `info` of a kind of cores states about its speed, the best one first: name and whether it is a
/// clock.
const SPEEDS: [(&str, bool); 3] =
    [("LinuxCapacity", false), ("FrequencyMaxMHz", true), ("FrequencyBaseMHz", true)];

/// Reads the first table of latencies between NUMA nodes.
pub(super) fn distances(
    found: &mut Found,
    root: &Node<'_, '_>,
    by_gp: &BTreeMap<u64, u32>,
) -> Result<(), Problem> {
    for table in root.children().filter(|child| child.has_tag_name("distances2")) {
        if table.attribute("type") != Some("NUMANode") {
            continue;
        }
        let name = table.attribute("name").unwrap_or("without name");
        if number(&table, "kind")?.is_none_or(|kind| kind & LATENCY == 0) {
            found.remark(format_args!("the distances {name} are not latencies and are ignored"));
            continue;
        }
        let indexes = values(&table, "indexes")?;
        let values = values(&table, "u64values")?;
        let count = indexes.len();
        if count == 0 || values.len() != count * count {
            let message = format!(
                "the distances of {count} NUMA nodes need {} values, and there are {}",
                count * count,
                values.len()
            );
            return Err(wrong(&table, message));
        }
        let by_number = table.attribute("indexing").is_none_or(|indexing| indexing == "os");
        let node = |index: &u64| {
            let known = if by_number { u32::try_from(*index).ok() } else { by_gp.get(index).copied() };
            known.ok_or_else(|| wrong(&table, format!("there is no NUMA node with the index {index}")))
        };
        let nodes = indexes.iter().map(node).collect::<Result<Vec<u32>, Problem>>()?;
        let source = format!("{}, distances2 {name}", found.origin);
        found.distances = Some(Distances { nodes, values, source });
        return Ok(());
    }
    Ok(())
}

/// The whole numbers in all children of this name.
fn values(table: &Node<'_, '_>, name: &str) -> Result<Vec<u64>, Problem> {
    let mut values = Vec::new();
    for child in table.children().filter(|child| child.has_tag_name(name)) {
        for word in child.text().unwrap_or_default().split_whitespace() {
            let value = word.parse().map_err(|_| wrong(&child, format!("`{word}` is no whole number")))?;
            values.push(value);
            if values.len() > MAX_VALUES {
                return Err(wrong(&child, format!("more than {MAX_VALUES} values")));
            }
        }
    }
    Ok(values)
}

/// Reads the speeds of the kinds of cores.
pub(super) fn kinds(found: &mut Found, root: &Node<'_, '_>) -> Result<(), Problem> {
    let kinds: Vec<Node<'_, '_>> = root.children().filter(|child| child.has_tag_name("cpukind")).collect();
    if kinds.len() < 2 {
        return Ok(());
    }
    let known = SPEEDS.iter().find(|(name, _)| kinds.iter().all(|kind| info(kind, name).is_some()));
    let Some((name, is_clock)) = known else {
        found.remark(format_args!(
            "there are {} kinds of cores, and their speeds are not stated: all cores get the same speed",
            kinds.len()
        ));
        return Ok(());
    };
    for kind in &kinds {
        let text = info(kind, name).unwrap_or_default();
        let speed = text.parse::<u64>().ok().filter(|speed| (1..1 << 32).contains(speed));
        let speed =
            speed.ok_or_else(|| wrong(kind, format!("`{name}` is `{text}`; it must be a whole number")))?;
        let cpus = set(kind, "cpuset")?.ok_or_else(|| wrong(kind, "a cpukind without `cpuset`"))?;
        for cpu in found.cpus.iter_mut().filter(|cpu| cpus.contains(cpu.number)) {
            cpu.speed = speed;
        }
    }
    if found.cpus.iter().any(|cpu| cpu.speed == 0) {
        found.remark("some cpus belong to no cpukind: all cores get the same speed");
        found.cpus.iter_mut().for_each(|cpu| cpu.speed = 0);
    }
    if *is_clock {
        found.merge_clocks();
    }
    found.places.speeds = format!("{}, cpukind {name}", found.origin);
    Ok(())
}
