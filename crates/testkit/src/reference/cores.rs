//! Speeds of cpus in the reference engine, computed anew at the end of every instant: turbo, threads of one
//! core.

use sim_core::ids::CpuId;
use sim_core::machine::{Level, Machine};
use sim_core::time::Speed;

use super::Reference;
use super::memory::{ONE, RefMemory, bound, draw};
use super::state::Activity;

fn fixed(thousandths: u32) -> u64 {
    (u64::from(thousandths) << 16) / 1_000
}

/// The steps of turbo that a cpu's core follows: the only ones, or those of cores as fast as it.
fn steps(machine: &Machine, c: usize) -> Option<&Vec<u32>> {
    if machine.turbo.len() < 2 {
        return machine.turbo.first();
    }
    let speed = |cpu: u32| machine.speed_of(CpuId(cpu)).raw();
    let mut kinds: Vec<u64> = Vec::new();
    for cpu in 0..machine.cpus() {
        if !kinds.contains(&speed(cpu)) {
            kinds.push(speed(cpu));
        }
    }
    let kind = kinds.iter().position(|kind| *kind == speed(c as u32))?;
    machine.turbo.get(kind)
}

/// Raw speed of the core of a cpu with this many busy cores beside it (itself included) that turbo counts,
/// the share of timer ticks (at most nine tenths) off.
pub(super) fn core_speed(machine: &Machine, period: u64, c: usize, busy: usize) -> u64 {
    let tick = machine.costs.tick.ns();
    let usable = Speed::ratio(period.saturating_sub(tick).max(period / 10), period);
    let base = (machine.speed_of(CpuId(c as u32)) * usable).raw();
    let boost = match steps(machine, c) {
        None => ONE,
        Some(steps) => {
            let step = steps.get(busy.max(1) - 1).or(steps.last());
            step.map_or(ONE, |step| fixed(*step).max(1))
        }
    };
    times(base, boost)
}

/// A raw speed times a factor; at least 1.
pub(super) fn times(speed: u64, factor: u64) -> u64 {
    ((u128::from(speed) * u128::from(factor)) >> 16).max(1) as u64
}

impl Reference<'_> {
    pub(super) fn cpus_with(&self, level: Level, c: usize) -> std::ops::Range<usize> {
        let topology = &self.machine.topology;
        let members = topology.members(level, topology.group(level, CpuId(c as u32)));
        members.start as usize..members.end as usize
    }

    fn is_busy(&self, c: usize) -> bool {
        self.cpus[c].activity != Activity::Idle
    }

    fn busy_cores(&self, c: usize) -> usize {
        let first = |core: &usize| self.cpus_with(Level::Core, *core).start == *core;
        let speed = |cpu: usize| self.machine.speed_of(CpuId(cpu as u32));
        let by_kind = self.machine.turbo.len() > 1;
        let counts = |core: &usize| !by_kind || speed(*core) == speed(c);
        let cores = self.cpus_with(Level::Package, c).filter(first).filter(counts);
        cores.filter(|core| self.cpus_with(Level::Core, *core).any(|c| self.is_busy(c))).count()
    }

    /// What its siblings leave of the core to a computing thread.
    fn share_of_core(&self, c: usize, own: u64) -> u64 {
        let machine = &self.machine;
        let bound_of = |c: usize| match self.cpus[c].current {
            Some(t) if self.cpus[c].activity == Activity::Compute => {
                Some(bound(machine, &self.tasks[t].profile))
            }
            _ => None,
        };
        let Some(mine) = bound_of(c) else { return ONE };
        let (compute, memory) = (fixed(machine.smt.compute), fixed(machine.smt.memory));
        let mut share = ONE;
        for other in self.cpus_with(Level::Core, c) {
            if other == c || !self.is_busy(other) {
                continue;
            }
            // Code without `pause`, of this memory-bound share.
            let busy = |theirs: u64| {
                let gain = i128::from(memory) - i128::from(compute);
                let left = (gain * i128::from(mine + theirs)).div_euclid(2 * i128::from(ONE));
                (i128::from(compute) + left).max(1) as u64
            };
            let left = match self.cpus[other].activity {
                Activity::Spin => fixed(machine.smt.poll),
                Activity::Poll => {
                    let call = u128::from(machine.costs.yield_call.ns());
                    let cycle = u128::from(machine.costs.poll.ns()) + call;
                    let kernel = (call * u128::from(ONE) / cycle.max(1)) as u64;
                    (fixed(machine.smt.poll) * (ONE - kernel) + busy(0) * kernel) / ONE
                }
                Activity::Idle | Activity::Compute | Activity::Syscall(..) => {
                    busy(bound_of(other).unwrap_or(0))
                }
            };
            share = share * left / ONE;
        }
        let profiles = self.cpus_with(Level::Core, c).filter(|c| self.cpus[*c].activity == Activity::Compute);
        let profiles = profiles.filter_map(|c| self.cpus[c].current).map(|t| &self.tasks[t].profile);
        let drawn: u64 = profiles.map(|profile| draw(machine, profile, own)).sum();
        let bandwidth = machine.memory.core_bandwidth.max(1);
        if drawn > bandwidth {
            let ratio = (u128::from(drawn) << 16) / u128::from(bandwidth);
            let slow = u128::from(ONE - mine) + ((u128::from(mine) * ratio) >> 16);
            share = ((u128::from(share) << 16) / slow) as u64;
        }
        share.max(1)
    }

    /// New speeds for all; who computes at another one from now on has the time so far charged at the old
    /// one.
    pub(super) fn new_speeds(&mut self) {
        let new: Vec<(u64, u64)> = (0..self.cpus.len())
            .map(|c| {
                let highest = core_speed(&self.machine, self.model.tick.ns(), c, self.busy_cores(c));
                let own = self.clocked(c, highest);
                (own, self.share_of_core(c, own))
            })
            .collect();
        for (c, new) in new.into_iter().enumerate() {
            if new == (self.cpus[c].own, self.cpus[c].share) {
                continue;
            }
            if self.cpus[c].activity == Activity::Compute {
                let overhead = self.interrupt_compute(c);
                (self.cpus[c].own, self.cpus[c].share) = new;
                self.start_compute(c, overhead);
            } else {
                (self.cpus[c].own, self.cpus[c].share) = new;
            }
        }
    }

    /// The job of a computing task.
    pub(super) fn job(&self, c: usize, t: usize, home: u32) -> super::memory::Job {
        let (own, share) = (self.cpus[c].own, self.cpus[c].share);
        let pages = (home, self.cpus[c].page_shares.clone());
        RefMemory::job(&self.machine, &self.tasks[t].profile, pages, c as u32, (own, share))
    }

    /// The speed of a cpu; raw.
    pub(super) fn speed(&self, c: usize) -> u64 {
        times(self.cpus[c].own, self.cpus[c].share)
    }
}
