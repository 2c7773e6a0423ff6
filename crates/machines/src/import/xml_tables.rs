//! The tables of hwloc's XML: distances and bandwidths of NUMA nodes, kinds of cores. What other tables state
//! is named as left out.

use std::collections::BTreeMap;

use roxmltree::Node;

use super::elements::{Problem, info, number, set, wrong};
use super::found::{Distances, Found, words};

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
        let name = words(table.attribute("name").unwrap_or("without name"));
        let of = words(table.attribute("type").unwrap_or("objects"));
        if of != "NUMANode" || found.distances.is_some() {
            found.unused.insert(format!("the distances {name} between objects of type {of}"));
            continue;
        }
        if number(&table, "kind")?.is_none_or(|kind| kind & LATENCY == 0) {
            found.remark(format_args!("the distances {name} are not latencies and are left out"));
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
    }
    Ok(())
}

/// Reads the latencies between NUMA nodes in the form of hwloc 1: in the order of the nodes, over a base.
pub(super) fn old_distances(found: &mut Found, root: &Node<'_, '_>) -> Result<(), Problem> {
    for table in root.descendants().filter(|node| node.has_tag_name("distances")) {
        let values: Vec<Node<'_, '_>> =
            table.children().filter(|child| child.has_tag_name("latency")).take(MAX_VALUES).collect();
        let count = number(&table, "nbobjs")?.unwrap_or(0);
        let of_nodes = table.parent().is_some_and(|parent| parent.attribute("type") == Some("Machine"))
            && count == found.nodes.len() as u64
            && values.len() as u64 == count.saturating_mul(count);
        if !of_nodes || found.distances.is_some() {
            found.unused.insert(format!("the distances between {count} objects"));
            continue;
        }
        let value = |latency: &Node<'_, '_>| {
            let text = latency.attribute("value").unwrap_or_default();
            let factor = text.parse::<f64>().ok().filter(|factor| (0.0..=1e6).contains(factor));
            // In thousandths, so that the factors stay exact.
            factor
                .map(|factor| (factor * 1e3).round() as u64)
                .ok_or_else(|| wrong(latency, format!("the latency `{text}` is not a number up to 1000000")))
        };
        let values = values.iter().map(value).collect::<Result<Vec<u64>, Problem>>()?;
        let nodes = found.nodes.iter().map(|node| node.number).collect();
        let source = format!("{}, distances", found.origin);
        found.distances = Some(Distances { nodes, values, source });
    }
    Ok(())
}

/// Names of hwloc for the bandwidth of a node, the one of all accesses first.
const BANDWIDTHS: [&str; 2] = ["Bandwidth", "ReadBandwidth"];
/// Bytes per second of a unit of them: firmware states MB/s (HMAT; sysfs
/// `access*/initiators/read_bandwidth`).
const MEGABYTE: u64 = 1_000_000;

/// Reads the bandwidths of NUMA nodes: the largest one that is stated for some of the cpus local to them.
pub(super) fn memory(
    found: &mut Found,
    root: &Node<'_, '_>,
    by_gp: &BTreeMap<u64, u32>,
) -> Result<(), Problem> {
    let tables: Vec<Node<'_, '_>> = root.children().filter(|child| child.has_tag_name("memattr")).collect();
    let named = |name: &str| tables.iter().find(|table| table.attribute("name") == Some(name));
    let used = BANDWIDTHS.iter().find_map(|name| Some((*name, named(name)?)));
    for table in &tables {
        let name = words(table.attribute("name").unwrap_or("without name"));
        if used.is_none_or(|(used, _)| used != name) {
            found.unused.insert(format!("the memory attribute {name}"));
        }
    }
    let Some((name, table)) = used else { return Ok(()) };
    let mut bandwidth: BTreeMap<u32, u64> = BTreeMap::new();
    for value in table.children().filter(|child| child.has_tag_name("memattr_value")) {
        let gp = number(&value, "target_obj_gp_index")?;
        let Some(node) = gp.and_then(|gp| by_gp.get(&gp)) else { continue };
        let local = found.nodes.iter().find(|other| other.number == *node).map(|node| &node.local);
        let from = set(&value, "initiator_cpuset")?;
        let near = local
            .zip(from)
            .is_none_or(|(local, from)| local.is_empty() || local.iter().any(|cpu| from.contains(*cpu)));
        if near && let Some(megabytes) = number(&value, "value")? {
            let known = bandwidth.entry(*node).or_default();
            *known = (*known).max(megabytes.saturating_mul(MEGABYTE));
        }
    }
    for node in &mut found.nodes {
        node.bandwidth = bandwidth.get(&node.number).copied().unwrap_or(0);
    }
    found.places.bandwidth = format!("{}, memattr {name}", found.origin);
    Ok(())
}

/// Names the kinds of facts that nothing here uses.
pub(super) fn rest(found: &mut Found, root: &Node<'_, '_>) {
    for table in root.children().filter(|child| child.has_tag_name("distances2hetero")) {
        let name = words(table.attribute("name").unwrap_or("without name"));
        found.unused.insert(format!("the distances {name} between objects of several types"));
    }
    if root.descendants().any(|node| node.has_tag_name("page_type")) {
        found.unused.insert("sizes of pages".into());
    }
    let other =
        |node: &Node<'_, '_>| ["cache_linesize", "cache_associativity"].map(|name| node.has_attribute(name));
    if root.descendants().any(|node| other(&node).contains(&true)) {
        found.unused.insert("line size and associativity of caches".into());
    }
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
    let known = SPEEDS.iter().find(|(name, _)| kinds.iter().all(|kind| info(kind, name).is_some()));
    for kind in &kinds {
        for attribute in ["efficiency", "forced_efficiency"].iter().filter(|name| kind.has_attribute(**name))
        {
            found.unused.insert(format!("{attribute} of the kinds of cores"));
        }
        let infos = kind.children().filter(|child| child.has_tag_name("info"));
        for name in infos.filter_map(|info| info.attribute("name")) {
            if kinds.len() < 2 || known.is_none_or(|(used, _)| *used != name) {
                found.unused.insert(format!("{} of the kinds of cores", words(name)));
            }
        }
    }
    if kinds.len() < 2 {
        return Ok(());
    }
    let Some((name, is_clock)) = known else {
        found.remark(format_args!(
            "there are {} kinds of cores without clocks or capacities (other facts are left out): all cores \
             get the same speed until `core_speeds` states their work per second",
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
    found.clocks = *is_clock;
    found.places.speeds = format!("{}, cpukind {name}", found.origin);
    Ok(())
}
