//! Distances and bandwidths of NUMA nodes from tables of all pairs of them.

use crate::contention;
use std::collections::BTreeSet;

use sim_core::ids::CpuId;
use sim_core::machine::Level;

use super::Log;
use super::fit::cores_of_node;
use super::lines::{At, Found};
use super::measured::{Matrix, Run};
use super::taken::{Distances, Taken, Value, megabytes, place};
use crate::entry::Entry;
use crate::file::DISTANCES;

/// Most NUMA nodes whose distances are written: the reader of machine files accepts no longer lists.
const MAX_NODES: usize = 200;
/// A remote access that takes this share of a local one, or more, is no nearer: measurements vary.
const NEAR: f64 = 0.9;
/// Rates of nodes that differ by more than this share differ for a reason.
const ALIKE: f64 = 0.05;

/// Checks that a table has a row and a column for each NUMA node of a machine.
fn check(entry: &Entry, table: &Matrix) -> Found<usize> {
    let nodes = entry.topology.count(Level::Node) as usize;
    if table.columns == nodes && table.rows.len() == nodes {
        return Ok(nodes);
    }
    let message = format!(
        "the table has {} rows and {} columns of NUMA nodes; machine `{}` has {nodes} NUMA nodes",
        table.rows.len(),
        table.columns,
        entry.name
    );
    let hint = "choose the machine that was measured; a NUMA node without cpus (CXL, HBM) is none of a \
        machine, and \
        an output that is cut off lacks rows";
    Err(table.at.wrong(message, hint))
}

/// The first table; the others are not taken.
pub(super) fn first<'a>(tables: &'a [Matrix], logs: &[Log<'_>], taken: &mut Taken) -> Option<&'a Matrix> {
    for other in tables.iter().skip(1) {
        let (at, first) = (place(other.at, logs), place(tables[0].at, logs));
        taken.remark(format!("not taken: {}, {at}: the table {first} counts", other.what));
    }
    tables.first()
}

/// Takes the distances, and their mean as the factor of remote accesses.
pub(super) fn latencies(entry: &Entry, table: &Matrix, logs: &[Log<'_>], taken: &mut Taken) -> Found<()> {
    let nodes = check(entry, table)?;
    let source = format!("{}, {}", table.what, place(table.at, logs));
    if nodes < 2 {
        taken.remark(format!("not taken: {source}: one NUMA node has no distance to another one"));
        return Ok(());
    }
    let mut factors = Vec::new();
    let mut near = false;
    for (row, (at, values)) in table.rows.iter().enumerate() {
        for (column, value) in values.iter().enumerate() {
            let ratio = value / values[row];
            let thousandths = (ratio * 1_000.0).round() as u64;
            if ratio < NEAR || thousandths > DISTANCES.1 {
                let message = format!(
                    "node {row} has a latency of {value} ns to node {column}, and of {} ns to itself",
                    values[row]
                );
                let hint = "a machine has distances from 1 to 100 times the local latency";
                return Err(at.wrong(message, hint));
            }
            near |= row != column && thousandths < DISTANCES.0;
            factors.push(thousandths.max(DISTANCES.0) as u32);
        }
    }
    if near {
        taken.remark(format!("{source}: a remote latency below the local one counts as equal"));
    }
    let remote =
        || factors.iter().enumerate().filter(|(at, _)| at / nodes != at % nodes).map(|(_, f)| u64::from(*f));
    let count = (nodes * (nodes - 1)) as u64;
    let (low, high) = (remote().min().unwrap_or(DISTANCES.0), remote().max().unwrap_or(DISTANCES.0));
    taken.values.push(Value {
        name: "remote_factor",
        value: (remote().sum::<u64>() + count / 2) / count,
        source: format!("{source}: the mean of all pairs of nodes over the local latency"),
        uncertain: nodes > 2 && low < high || near,
        range: (nodes > 2 && low < high).then_some((low, high)),
    });
    if nodes > MAX_NODES {
        taken.remark(format!(
            "not taken: {source}: a machine file has distances of at most {MAX_NODES} NUMA nodes"
        ));
        return Ok(());
    }
    let source = format!("{source}: each divided by the latency of the node to its own memory");
    taken.distances = Some(Distances { factors, source, uncertain: near });
    Ok(())
}

/// The rate of a node from its own memory, as a run.
pub(super) fn own_rate(
    entry: &Entry,
    table: &Matrix,
    logs: &[Log<'_>],
    taken: &mut Taken,
) -> Found<Option<Run>> {
    check(entry, table)?;
    let diagonal =
        table.rows.iter().enumerate().filter_map(|(node, (at, row))| Some((node, *at, *row.get(node)?)));
    let diagonal: Vec<(usize, At, f64)> = diagonal.collect();
    let Some((node, at, rate)) =
        diagonal.iter().copied().reduce(|best, next| if next.2 > best.2 { next } else { best })
    else {
        return Ok(None);
    };
    let least = diagonal.iter().map(|(.., rate)| *rate).fold(f64::INFINITY, f64::min);
    if least < rate * (1.0 - ALIKE) {
        taken.remark(format!(
            "nodes differ in the rate from their own memory, {} to {}, {}: all get the highest one",
            megabytes(least),
            megabytes(rate),
            place(table.at, logs)
        ));
    }
    Ok(Some(Run {
        what: format!("Memory Latency Checker, node {node} from its own memory"),
        threads: None,
        threads_at: at,
        rate,
        most: rate,
        reads: table.reads,
        data: 0.0,
        domains: BTreeSet::from([format!("M{node}")]),
        at,
    }))
}

/// A rate from one node to another.
#[derive(Clone, Copy)]
struct Pair {
    from: usize,
    to: usize,
    rate: f64,
    at: At,
}

/// Takes the bandwidth of a node's port: the highest rate between nodes of different packages, or of
/// different nodes if a package has all. `asked` is what a core asks for.
pub(super) fn link(
    entry: &Entry,
    table: &Matrix,
    asked: Option<f64>,
    logs: &[Log<'_>],
    taken: &mut Taken,
) -> Found<()> {
    let nodes = check(entry, table)?;
    let tree = &entry.topology;
    let package =
        |node: usize| tree.group(Level::Package, CpuId(tree.members(Level::Node, node as u32).start));
    let mut pairs = Vec::new();
    for (from, (at, row)) in table.rows.iter().enumerate() {
        let remote = row.iter().enumerate().filter(|(to, _)| *to != from);
        pairs.extend(remote.map(|(to, rate)| Pair { from, to, rate: *rate, at: *at }));
    }
    let far: Vec<Pair> =
        pairs.iter().copied().filter(|pair| package(pair.from) != package(pair.to)).collect();
    let counting = if far.is_empty() { &pairs } else { &far };
    let Some(best) =
        counting.iter().copied().reduce(|best, next| if next.rate > best.rate { next } else { best })
    else {
        return Ok(());
    };
    let rates = || counting.iter().map(|pair| pair.rate);
    let (least, most) = (rates().fold(f64::INFINITY, f64::min), rates().fold(0.0, f64::max));
    let mut source = format!(
        "Memory Latency Checker: cores of node {} from memory of node {} at {}, {}",
        best.from,
        best.to,
        megabytes(best.rate),
        place(best.at, logs)
    );
    let (mut rate, mut low) = (best.rate, best.rate);
    let distance = taken.distances.as_ref().and_then(|all| all.factors.get(best.from * nodes + best.to));
    if let (Some(asked), Some(distance)) = (asked, distance) {
        let exponent = entry.values.number("stretch_exponent").unwrap_or(4) as f64;
        let cores = f64::from(cores_of_node(entry));
        let limit = contention::limit(asked * cores * 1_000.0 / f64::from(*distance), best.rate, exponent);
        rate = limit.unwrap_or(contention::OPEN * best.rate);
        source += if limit.is_some() {
            "; the law of contention gives this rate back"
        } else {
            "; distance alone explains it, so 2.5 times that is assumed"
        };
        low = if limit.is_some() { rate } else { best.rate };
    }
    let spread = nodes > 2 || least < most * (1.0 - ALIKE);
    if spread {
        low = low.min(least * rate / best.rate);
        source += "; pairs differ, or a port serves several nodes at once, which was not measured";
    }
    taken.rate("link_bandwidth", rate, (low, rate), spread || !table.reads, source, best.at)
}
