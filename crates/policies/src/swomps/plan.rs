//! The two algorithms of `SWOMPS`: how many cores each program gets on each package, and which thread gets
//! which core.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use sim_core::ids::CpuId;
use sim_core::machine::{Level, Topology};

use crate::spread::threads_last;

/// What an application asks for.
#[derive(Clone, Debug)]
pub(super) struct Request {
    /// Below zero: scatter; above: gather; the size is the strength.
    pub(super) preference: i64,
    pub(super) threads: u32,
    pub(super) live: bool,
    pub(super) managed: bool,
}

/// The cpus to which somebody else than `who` is bound.
fn held_by_others<'a>(
    who: &[usize],
    bound: &'a [Vec<Option<CpuId>>],
) -> impl Iterator<Item = CpuId> + use<'a> {
    let mut others = vec![true; bound.len()];
    for app in who {
        others[*app] = false;
    }
    let of_others = bound.iter().zip(others).filter(|(_, other)| *other);
    of_others.flat_map(|(threads, _)| threads.iter().copied().flatten())
}

/// Cores of each package to which nobody but `who` is bound.
pub(super) fn free_cores(topology: &Topology, who: &[usize], bound: &[Vec<Option<CpuId>>]) -> Vec<u32> {
    let mut free = vec![topology.span(Level::Package); topology.count(Level::Package) as usize];
    for cpu in held_by_others(who, bound) {
        free[topology.group(Level::Package, cpu) as usize] -= 1;
    }
    free
}

/// First algorithm: how many of the free cores each of `who` gets on each package, given what it held before.
pub(super) fn allocate(
    requests: &[Request],
    who: &[usize],
    mut free: Vec<u32>,
    before: &[Vec<u32>],
) -> Vec<Vec<u32>> {
    let packages = free.len();
    let mut order: Vec<usize> = (0..who.len()).filter(|at| requests[who[*at]].live).collect();
    order.sort_by_key(|at| Reverse(requests[who[*at]].preference.unsigned_abs()));
    let mut left: u32 = free.iter().sum();
    let mut granted = vec![0; who.len()];
    for at in &order {
        granted[*at] = left.min(requests[who[*at]].threads);
        left -= granted[*at];
    }
    let mut quota = vec![vec![0; packages]; who.len()];
    for at in order {
        let app = who[at];
        let mut remaining = granted[at];
        let held = |s: usize| before.get(app).and_then(|q| q.get(s)).copied().unwrap_or(0);
        // The package with the most free cores, then with the most of its own before, the first of equals.
        let mut best: BinaryHeap<_> = (0..packages).map(|s| (free[s], held(s), Reverse(s))).collect();
        while remaining > 0 {
            let Some(mut top) = best.peek_mut().filter(|top| top.0 > 0) else {
                break;
            };
            let Reverse(s) = top.2;
            let take = if requests[app].preference > 0 { remaining.min(free[s]) } else { 1 };
            quota[at][s] += take;
            free[s] -= take;
            top.0 = free[s];
            remaining -= take;
        }
    }
    quota
}

/// Second algorithm: which thread of `who` gets which core. `bound` holds the old binding of all and receives
/// the new one.
pub(super) fn bind(topology: &Topology, who: &[usize], quota: &[Vec<u32>], bound: &mut [Vec<Option<CpuId>>]) {
    let mut left = quota.to_vec();
    let mut taken = vec![false; topology.cpus() as usize];
    for cpu in held_by_others(who, bound) {
        taken[cpu.0 as usize] = true;
    }
    let lacking: Vec<Vec<usize>> =
        who.iter().map(|app| keep(topology, &mut bound[*app], &mut left[*app], &mut taken)).collect();
    for (app, lacking) in who.iter().zip(lacking) {
        let mut unbound = lacking.into_iter();
        for (package, left) in left[*app].iter().enumerate().filter(|(_, left)| **left > 0) {
            let cores = topology.members(Level::Package, package as u32).map(CpuId);
            let mut free: Vec<CpuId> = cores.filter(|cpu| !taken[cpu.0 as usize]).collect();
            threads_last(topology, &mut free);
            for (cpu, rank) in free.into_iter().take(*left as usize).zip(unbound.by_ref()) {
                taken[cpu.0 as usize] = true;
                bound[*app][rank] = Some(cpu);
            }
        }
    }
}

/// First pass over one application: its threads keep their cores within what is left of its quota. Returns
/// those without one, threads that have just lost theirs first: they are rebound anyway.
fn keep(
    topology: &Topology,
    threads: &mut [Option<CpuId>],
    left: &mut [u32],
    taken: &mut [bool],
) -> Vec<usize> {
    let (mut lost, mut never) = (Vec::new(), Vec::new());
    for (rank, home) in threads.iter_mut().enumerate() {
        let Some(cpu) = *home else {
            never.push(rank);
            continue;
        };
        let left = left.get_mut(topology.group(Level::Package, cpu) as usize).filter(|left| **left > 0);
        match (left, &mut taken[cpu.0 as usize]) {
            (Some(left), taken @ false) => {
                *left -= 1;
                *taken = true;
            }
            _ => {
                lost.push(rank);
                *home = None;
            }
        }
    }
    lost.append(&mut never);
    lost
}
