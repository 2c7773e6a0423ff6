//! Whether a run fits a machine, and what it says of it: by its threads, its domains and the size of its
//! data.

use std::collections::BTreeSet;

use notation::number;
use sim_core::machine::Level;

use super::lines::Found;
use super::measured::Run;
use crate::entry::Entry;

/// What a run measured.
#[derive(Clone, PartialEq, Debug)]
pub(super) enum Fit {
    /// One core alone.
    One,
    /// All cores of so many NUMA nodes.
    Whole {
        /// How many.
        nodes: u32,
    },
    /// Some cores of so many NUMA nodes.
    Part {
        /// How many.
        nodes: u32,
        /// Threads, at most one for each core.
        threads: u32,
    },
    /// Nothing that a machine file has a value for: the reason.
    Not(String),
}

/// Cores of a NUMA node.
pub(super) fn cores_of_node(entry: &Entry) -> u32 {
    entry.topology.count(Level::Core) / entry.topology.count(Level::Node).max(1)
}

/// What a run says of a machine.
///
/// # Errors
/// It had more threads, sockets or NUMA nodes than the machine has.
pub(super) fn fit(entry: &Entry, run: &Run) -> Found<Fit> {
    let tree = &entry.topology;
    let (cpus, nodes) = (tree.cpus(), tree.count(Level::Node));
    let own = cores_of_node(entry);
    let within = nodes_of(entry, run)?;
    let Some(threads) = run.threads else {
        return Ok(Fit::Whole { nodes: within.unwrap_or(nodes) });
    };
    if threads > cpus {
        let message = format!(
            "the run had {}; machine `{}` has {}",
            number::plural(threads as usize, "thread", "threads"),
            entry.name,
            number::plural(cpus as usize, "cpu", "cpus")
        );
        let hint = "choose the machine that was measured: `oversim machine import` describes it";
        return Err(run.threads_at.wrong(message, hint));
    }
    let caches = caches(entry, threads);
    if run.data > 0.0 && run.data <= caches {
        return Ok(Fit::Not(format!(
            "its data, {}, fit into the caches of these cpus, {}",
            number::bytes(run.data as u64),
            number::bytes(caches as u64)
        )));
    }
    Ok(match within {
        _ if threads == 1 => Fit::One,
        _ if threads >= tree.count(Level::Core) => Fit::Whole { nodes },
        Some(within) if threads >= within * own => Fit::Whole { nodes: within },
        Some(nodes) => Fit::Part { nodes, threads },
        None => Fit::Not(format!(
            "{threads} threads are fewer than the {} cores, and the output does not say which NUMA \
                nodes they \
                used",
            tree.count(Level::Core)
        )),
    })
}

/// The NUMA nodes that a run was bound to; none if that is not known.
fn nodes_of(entry: &Entry, run: &Run) -> Found<Option<u32>> {
    let tree = &entry.topology;
    let (nodes, packages) = (tree.count(Level::Node), tree.count(Level::Package));
    // `M0` and `M00` are one.
    let numbers = |letter: char| -> Option<BTreeSet<u32>> {
        run.domains.iter().map(|domain| domain.strip_prefix(letter)?.parse().ok()).collect()
    };
    let refused = |what: &str, number: u32, count: u32, things: &str| {
        let name = &entry.name;
        run.at.wrong(
            format!("the run used {what} {number} (from 0); machine `{name}` has {count} {things}"),
            "choose the machine that was measured: `oversim machine import` describes it",
        )
    };
    if run.domains.is_empty() {
        return Ok((nodes == 1).then_some(1));
    }
    if let Some(memories) = numbers('M') {
        return match memories.iter().find(|number| **number >= nodes) {
            Some(number) => Err(refused("NUMA node", *number, nodes, "NUMA nodes")),
            None => Ok(Some(memories.len() as u32)),
        };
    }
    if let Some(sockets) = numbers('S') {
        return match sockets.iter().find(|number| **number >= packages) {
            Some(number) => Err(refused("socket", *number, packages, "packages")),
            None if nodes.is_multiple_of(packages) => Ok(Some(sockets.len() as u32 * (nodes / packages))),
            None => Ok((nodes == 1).then_some(1)),
        };
    }
    Ok((nodes == 1).then_some(1))
}

/// Bytes of all caches that so many threads use.
pub(super) fn caches(entry: &Entry, threads: u32) -> f64 {
    let tree = &entry.topology;
    let has_groups = tree.levels().iter().any(|(level, _)| *level == Level::Cache);
    let groups = tree.count(if has_groups { Level::Cache } else { Level::Package });
    let bytes = |name, count: u32| entry.values.number(name).unwrap_or(0) as f64 * f64::from(count);
    bytes("private_cache", threads.min(tree.count(Level::Core))) + bytes("shared_cache", threads.min(groups))
}
