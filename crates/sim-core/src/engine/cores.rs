//! How fast cpus are: core speeds, package clocks that rise while cores idle, hardware threads that share a
//! core.
//!
//! Speeds are updated at the end of an instant, for the cores where something has happened: activities that
//! begin and end within one instant have no effect. On a machine of one thread per core without turbo nothing
//! happens here.

use crate::contention::ONE;
use crate::ids::CpuId;
use crate::machine::{Division, Governor, Level, Machine};
use crate::time::{Span, Speed};

/// What a hardware thread does, as far as it slows its siblings.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Thread {
    Idle,
    /// It polls and does not yield: a loop with `pause`.
    Spins,
    /// It polls and yields, cycle after cycle.
    Yields,
    /// It works in the kernel: code without `pause`.
    Kernel,
    /// It computes: what it draws on its core alone, bytes per second, and its memory-bound share, 1/65,536.
    Computes(u64, u64),
}

/// Speeds of cpus and the state of cores and packages they follow from.
pub(crate) struct Cores {
    /// The cpus of each core.
    cores: Division,
    /// Cores of a package.
    in_package: u32,
    /// Left to a thread by a busy sibling, 1/65,536: both compute, both wait for memory, the sibling polls.
    compute: i64,
    memory: i64,
    poll: u64,
    /// Share of a cycle of one poll and one yield that is spent in the kernel, 1/65,536.
    yields: u64,
    /// Bytes per second that a core draws at most, at least 1.
    bandwidth: u64,
    /// Factors on the speed by busy cores of the package, 1/65,536: a row for all cores, or one for each
    /// kind.
    turbo: Vec<Vec<u64>>,
    /// By core: its row of these.
    rows: Vec<u32>,
    /// By core: its clock over its highest one, 1/65,536; empty where that never differs.
    clocks: Vec<u64>,
    /// By cpu; one for all where none ever differs.
    speeds: Vec<CpuSpeed>,
    /// All bits set where the speeds of cpus differ, else none.
    index_mask: u32,
    /// By core: whether one of its cpus was busy at the end of the last instant.
    busy: Vec<bool>,
    /// By package and row: such cores.
    busy_cores: Vec<u32>,
    /// Cores whose speeds are to be updated.
    dirty: Vec<u32>,
    is_dirty: Vec<bool>,
}

impl Cores {
    /// `usable`: the share that timer ticks leave.
    pub(crate) fn new(machine: &Machine, usable: Speed) -> Self {
        let topology = &machine.topology;
        let fixed = |thousandths: u32| (u64::from(thousandths) << 16) / 1_000;
        let (smt, cpus) = (&machine.smt, machine.cpus() as usize);
        let factors = |row: &Vec<u32>| row.iter().map(|t| fixed(*t).max(1)).collect::<Vec<u64>>();
        let turbo: Vec<Vec<u64>> = machine.turbo.iter().map(factors).collect();
        let rows =
            if turbo.len() > 1 { machine.kinds() } else { vec![0; topology.count(Level::Core) as usize] };
        let governed = machine.clocks.governor != Governor::Performance;
        let lowest = if governed { fixed(machine.clocks.lowest) } else { ONE };
        let speed_of = |cpu: CpuId| {
            let base = machine.speed_of(cpu) * usable;
            let row = turbo.get(rows[topology.group(Level::Core, cpu) as usize] as usize);
            let own = scaled(scaled(base, row.map_or(ONE, |row| boost(row, 0))), lowest);
            CpuSpeed { base, own, factor: ONE, speed: own }
        };
        let alike = topology.span(Level::Core) == 1 && machine.core_speed.is_empty();
        let varies = !alike || !turbo.is_empty() || governed;
        let speeds = machine.cpu_ids().take(if varies { cpus } else { 1 }).map(speed_of).collect();
        let [cores, packages] = [Level::Core, Level::Package].map(|level| topology.count(level) as usize);
        Self {
            cores: topology.division(Level::Core),
            in_package: (cores / packages.max(1)) as u32,
            compute: fixed(smt.compute) as i64,
            memory: fixed(smt.memory) as i64,
            poll: fixed(smt.poll),
            yields: kernel_share(machine.costs.poll, machine.costs.yield_call),
            bandwidth: machine.memory.core_bandwidth.max(1),
            speeds,
            index_mask: if varies { u32::MAX } else { 0 },
            busy: vec![false; cores],
            busy_cores: vec![0; packages * turbo.len().max(1)],
            turbo,
            clocks: if governed { vec![lowest; cores] } else { Vec::new() },
            rows,
            dirty: Vec::with_capacity(cores),
            is_dirty: vec![false; cores],
        }
    }

    /// How fast a cpu is: the factors of its speed.
    #[inline]
    pub(crate) fn speeds(&self, cpu: CpuId) -> CpuSpeed {
        self.speeds[(cpu.0 & self.index_mask) as usize]
    }

    pub(crate) fn set(&mut self, cpu: CpuId, own: Speed, factor: u64) {
        let speeds = &mut self.speeds[(cpu.0 & self.index_mask) as usize];
        *speeds = CpuSpeed { own, factor, speed: scaled(own, factor), ..*speeds };
    }

    /// Something has happened on a cpu.
    #[inline]
    pub(crate) fn touch(&mut self, cpu: CpuId) {
        if self.cores.largest() > 1 || !self.turbo.is_empty() || !self.clocks.is_empty() {
            self.mark_core(self.cores.part(cpu));
        }
    }

    fn mark_core(&mut self, core: u32) {
        if !std::mem::replace(&mut self.is_dirty[core as usize], true) {
            self.dirty.push(core);
        }
    }

    /// Where the busy cores of a core's package and row are counted.
    fn counted(&self, core: u32) -> usize {
        let row = self.rows[core as usize] as usize;
        (core / self.in_package) as usize * self.turbo.len().max(1) + row
    }

    /// What is left beside a sibling that runs code without `pause`, 1/65,536, by the sum of both
    /// memory-bound shares. Kernel code counts as bound by nothing.
    fn beside(&self, bounds: u64) -> u64 {
        let gain = (self.memory - self.compute) * bounds as i64;
        // Both shares full, 2 x 65,536, make the whole difference.
        (self.compute + (gain >> 17)).max(1) as u64
    }

    /// The same beside a sibling that polls and yields: the mean over its cycle.
    fn beside_yielding(&self, bound: u64) -> u64 {
        (self.poll * (ONE - self.yields) + self.beside(bound) * self.yields) >> 16
    }

    /// A core has become busy or idle. When that changes the clock of its package, all cores of the package
    /// that follow it are updated.
    fn set_busy(&mut self, core: u32, busy: bool) {
        if std::mem::replace(&mut self.busy[core as usize], busy) == busy || self.turbo.is_empty() {
            return;
        }
        let (package, at, row) = (core / self.in_package, self.counted(core), self.rows[core as usize]);
        let before = self.busy_cores[at];
        debug_assert!(
            busy || before > 0,
            "core {core} becomes idle in package {package}, where none is busy"
        );
        let after = if busy { before + 1 } else { before - 1 };
        self.busy_cores[at] = after;
        let steps = &self.turbo[row as usize];
        if boost(steps, before) != boost(steps, after) {
            for core in package * self.in_package..(package + 1) * self.in_package {
                if self.rows[core as usize] == row {
                    self.mark_core(core);
                }
            }
        }
    }

    /// Speeds are to be brought up to date.
    #[inline]
    pub(crate) const fn is_touched(&self) -> bool {
        !self.dirty.is_empty()
    }

    /// Notes which cores are busy, which may add cores whose speeds change.
    pub(crate) fn count_busy(&mut self, is_busy: impl Fn(CpuId) -> bool) {
        let mut at = 0;
        while at < self.dirty.len() {
            let core = self.dirty[at];
            let busy = self.threads(core).any(&is_busy);
            self.set_busy(core, busy);
            at += 1;
        }
    }

    /// The cores where something has happened at this instant.
    pub(crate) fn touched(&self) -> &[u32] {
        &self.dirty
    }

    /// A core has this clock from now on, over its highest one, 1/65,536.
    pub(crate) fn set_clock(&mut self, core: u32, clock: u64) {
        self.clocks[core as usize] = clock;
        self.mark_core(core);
    }

    /// The next core whose speeds are to be brought up to date.
    pub(crate) fn next_touched(&mut self) -> Option<u32> {
        let core = self.dirty.pop()?;
        self.is_dirty[core as usize] = false;
        Some(core)
    }

    /// The cpus of a core.
    pub(crate) fn threads(&self, core: u32) -> impl Iterator<Item = CpuId> + use<> {
        self.cores.members(core).map(CpuId)
    }

    /// The speed of a core for one thread alone.
    pub(crate) fn own(&self, core: u32) -> Speed {
        let base = self.threads(core).next().map_or(Speed::NOMINAL, |first| self.speeds(first).base);
        let steps = self.turbo.get(self.rows[core as usize] as usize);
        let boost = steps.map_or(ONE, |steps| boost(steps, self.busy_cores[self.counted(core)]));
        let highest = scaled(base, boost);
        self.clocks.get(core as usize).map_or(highest, |clock| scaled(highest, *clock))
    }

    /// What a cpu has of its core from now on, 1/65,536, if it or the speed of the core (`own`) has changed.
    pub(crate) fn changed(&self, cpu: CpuId, own: Speed, thread: impl Fn(CpuId) -> Thread) -> Option<u64> {
        let factor = self.share_of_core(cpu, thread);
        let before = self.speeds(cpu);
        ((own, factor) != (before.own, before.factor)).then_some(factor)
    }

    /// What is left to a computing thread by its siblings, 1/65,536: a factor for each busy one, and of the
    /// core's bandwidth no more than its part when the threads together ask for more.
    fn share_of_core(&self, cpu: CpuId, thread: impl Fn(CpuId) -> Thread) -> u64 {
        let Thread::Computes(mut drawn, bound) = thread(cpu) else { return ONE };
        let mut factor = ONE;
        for sibling in self.threads(self.cores.part(cpu)).filter(|other| *other != cpu) {
            let left = match thread(sibling) {
                Thread::Idle => continue,
                Thread::Spins => self.poll,
                Thread::Yields => self.beside_yielding(bound),
                Thread::Kernel => self.beside(bound),
                Thread::Computes(draws, other) => {
                    drawn += draws;
                    self.beside(bound + other)
                }
            };
            factor = (factor * left) >> 16;
        }
        if drawn > self.bandwidth {
            let ratio = ((u128::from(drawn) << 16) / u128::from(self.bandwidth)) as u64;
            let slow = (ONE - bound) + ((u128::from(bound) * u128::from(ratio)) >> 16) as u64;
            factor = (factor << 16) / slow;
        }
        factor.max(1)
    }
}

/// How fast a cpu is: the factors of its speed.
#[derive(Clone, Copy)]
pub(crate) struct CpuSpeed {
    /// Speed of the core without turbo, the share of timer ticks off.
    base: Speed,
    /// The same with turbo.
    pub(crate) own: Speed,
    /// What sharing the core leaves of it, 1/65,536.
    pub(crate) factor: u64,
    /// The product of both.
    pub(crate) speed: Speed,
}

/// The factor for so many busy cores, 1/65,536.
fn boost(steps: &[u64], busy_cores: u32) -> u64 {
    let entry = (busy_cores.max(1) as usize).min(steps.len());
    entry.checked_sub(1).map_or(ONE, |at| steps[at])
}

/// Share of a cycle of one poll and one call that is the call, 1/65,536.
fn kernel_share(poll: Span, call: Span) -> u64 {
    let cycle = u128::from(poll.ns()) + u128::from(call.ns());
    (u128::from(call.ns()) << 16).checked_div(cycle).map_or(0, |share| share as u64)
}

/// A speed times a factor in 1/65,536; at least the least speed.
fn scaled(speed: Speed, factor: u64) -> Speed {
    Speed::from_raw(((u128::from(speed.raw()) * u128::from(factor)) >> 16).max(1) as u64)
}
