//! Bandwidths of a core and of a NUMA node from the rates of runs.
//!
//! A run that only reads counts before one that writes, then the faster one counts: others on the computer
//! only lower a rate.

use super::Log;
use super::fit::{Fit, caches, cores_of_node, fit};
use super::lines::Found;
use super::measured::{Measured, Run};
use super::taken::{Taken, source_of};
use crate::contention::{self, Solved};
use crate::entry::Entry;

/// Fewer threads than cores saturate a NUMA node if they read less than this share of what they read alone:
/// the load is then 1.2 at least.
const SATURATED: f64 = 0.75;
/// Data of less than so many times the caches are in part read from these.
const ENOUGH: f64 = 4.0;

/// A run, and what of it belongs to one NUMA node.
#[derive(Clone, Copy)]
struct Candidate<'a> {
    run: &'a Run,
    /// Bytes per second.
    rate: f64,
    /// Cores that read.
    cores: f64,
}

/// What was chosen: what one core asks for, in bytes per second, if that was measured.
pub(super) fn values(
    entry: &Entry,
    measured: &Measured,
    logs: &[Log<'_>],
    taken: &mut Taken,
) -> Found<Option<f64>> {
    let own = f64::from(cores_of_node(entry));
    let (mut ones, mut wholes, mut parts) = (Vec::new(), Vec::new(), Vec::new());
    for run in &measured.runs {
        match fit(entry, run)? {
            Fit::One => ones.push(Candidate { run, rate: run.rate, cores: 1.0 }),
            Fit::Whole { nodes } => {
                wholes.push(Candidate { run, rate: run.rate / f64::from(nodes), cores: own });
            }
            Fit::Part { nodes, threads } => {
                let (nodes, threads) = (f64::from(nodes), f64::from(threads));
                parts.push(Candidate { run, rate: run.rate / nodes, cores: (threads / nodes).min(own) });
            }
            Fit::Not(why) => taken.remark(format!("not taken: {}: {why}", source_of(run, logs))),
        }
    }
    let one = best(&ones);
    let saturates =
        |part: &Candidate<'_>| one.is_some_and(|one| part.rate < SATURATED * part.cores * one.rate);
    let saturating: Vec<Candidate<'_>> = parts.iter().copied().filter(saturates).collect();
    let many = best(&wholes).or_else(|| best(&saturating));
    for (candidates, chosen) in [(&ones, one), (&wholes, many)] {
        others(candidates, chosen, logs, taken);
    }
    for part in &parts {
        if many.is_none_or(|many| !std::ptr::eq(many.run, part.run)) {
            taken.remark(format!(
                "not taken: {}: neither one thread nor enough to saturate the memory of a NUMA node",
                source_of(part.run, logs)
            ));
        }
    }
    for chosen in [one, many].into_iter().flatten() {
        small(entry, chosen.run, logs, taken);
    }
    take(entry, one, many, logs, taken)
}

/// The one that counts; the first of equal ones.
fn best<'a>(candidates: &[Candidate<'a>]) -> Option<Candidate<'a>> {
    let better = |one: &Candidate<'_>, other: &Candidate<'_>| {
        (one.run.reads, one.rate) > (other.run.reads, other.rate)
    };
    candidates.iter().copied().reduce(|best, next| if better(&next, &best) { next } else { best })
}

/// Remarks on those that do not count.
fn others(candidates: &[Candidate<'_>], chosen: Option<Candidate<'_>>, logs: &[Log<'_>], taken: &mut Taken) {
    let Some(chosen) = chosen else { return };
    for other in candidates.iter().filter(|other| !std::ptr::eq(other.run, chosen.run)) {
        let reads = chosen.run.reads && !other.run.reads;
        let why = if reads { "which only reads" } else { "which is no slower" };
        taken.remark(format!(
            "not taken: {}, because {} counts, {why}",
            source_of(other.run, logs),
            chosen.run.what
        ));
    }
}

/// Remarks on a run whose data are in part in caches.
fn small(entry: &Entry, run: &Run, logs: &[Log<'_>], taken: &mut Taken) {
    let caches = caches(entry, run.threads.unwrap_or(1));
    if run.data > 0.0 && run.data < ENOUGH * caches {
        taken.remark(format!(
            "{}: its data are less than four times the caches of these cpus, so the rate is in part that of \
                caches",
            source_of(run, logs)
        ));
    }
}

/// Takes the bandwidth of a core and that of a node.
fn take(
    entry: &Entry,
    one: Option<Candidate<'_>>,
    many: Option<Candidate<'_>>,
    logs: &[Log<'_>],
    taken: &mut Taken,
) -> Found<Option<f64>> {
    let exponent = entry.values.number("stretch_exponent").unwrap_or(4) as f64;
    let solved = match (one, many) {
        (Some(one), Some(many)) if many.cores >= 2.0 => {
            Some(contention::both(one.rate, many.rate, many.cores, exponent))
        }
        _ => None,
    };
    if solved == Some(Solved::None) {
        taken.remark(
            "one thread reads nearly as much as all of a NUMA node, so no values of the law of \
                contention give \
                both rates back: both are taken as they are"
                .into(),
        );
    }
    let back = "the law of contention gives this rate back";
    let asked = match (one, solved) {
        (Some(_), Some(Solved::Both(asked, _))) => Some(asked),
        (one, _) => one.map(|one| one.rate),
    };
    if let (Some(one), Some(asked)) = (one, asked) {
        let both = matches!(solved, Some(Solved::Both(..)));
        let source = source_of(one.run, logs) + &if both { format!("; {back}") } else { String::new() };
        let most = asked * one.run.most / one.run.rate;
        taken.rate("core_bandwidth", asked, (asked, most), !one.run.reads, source, one.run.at)?;
    }
    let Some(many) = many else { return Ok(asked) };
    let mut source = source_of(many.run, logs);
    let nodes = (many.run.rate / many.rate).round();
    if nodes >= 2.0 {
        source += &format!(", of {nodes} NUMA nodes");
    }
    let (rate, low) = match solved {
        Some(Solved::Both(_, limit)) => {
            source += &format!("; {back}");
            (limit, limit)
        }
        Some(Solved::Open(limit)) => {
            source += &format!(
                "; cores read together what they read alone, so {} times that is assumed",
                contention::OPEN
            );
            (limit, many.rate)
        }
        _ => (many.rate, many.rate),
    };
    let bus = entry.values.number("bus_bandwidth").is_some_and(|bus| bus > 0);
    if bus {
        taken.remark(
            "the machine has front-side buses, which may have limited the rate of a NUMA node".into(),
        );
    }
    let most = rate * many.run.most / many.run.rate;
    taken.rate("node_bandwidth", rate, (low, most), bus || !many.run.reads, source, many.run.at)?;
    Ok(asked)
}
