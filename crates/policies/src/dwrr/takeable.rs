//! How many threads could be taken from each cpu, at most, kept up to date so that the one with the most is
//! found without a look at every queue.

use std::ops::Range;

use sim_core::ids::{CpuId, TaskId};
use sim_core::machine::PerCpu;
use sim_core::policy::{System, View};

use crate::queues::Lengths;

/// Threads are counted of rounds up to the last one, up to the highest one, and of all.
const LIMITS: usize = 3;

/// Counts of one cpu.
#[derive(Clone, Copy, Debug, Default)]
struct Here {
    /// Its round.
    round: u64,
    counts: [u32; LIMITS],
    /// Something has changed, so that the thread that runs there may be none of those that are counted.
    touched: bool,
}

/// Upper bounds on the threads that wait on each cpu and may run in a round.
#[derive(Clone, Debug)]
pub(super) struct Takeable {
    highest: u64,
    cpus: PerCpu<Here>,
    bounds: [Lengths; LIMITS],
    /// Priority levels are those that have been requested, so that a thread that waits for the next round
    /// does not run while others may.
    trusts: bool,
    /// Cpus that are touched.
    touched: Vec<CpuId>,
    /// A hook has reported a change since the last refresh.
    changed: bool,
    /// What has not been changed, but was seen by the last refresh.
    seen: usize,
}

impl Takeable {
    pub(super) fn new(cpus: u32) -> Self {
        let bounds = Lengths::new(cpus);
        Self {
            highest: 1,
            cpus: PerCpu::filled(cpus as usize, Here { round: 1, ..Here::default() }),
            bounds: [bounds.clone(), bounds.clone(), bounds],
            trusts: true,
            touched: Vec::new(),
            changed: false,
            seen: 0,
        }
    }

    /// The rounds up to which threads are counted.
    const fn limits(&self) -> [u64; LIMITS] {
        [self.highest.saturating_sub(1), self.highest, u64::MAX]
    }

    /// One thread runs on a cpu and cannot be taken. A cpu that has threads that may run in its round runs
    /// one of them once it has been seen to do so, unless priorities cannot be trusted.
    fn settle(&mut self, cpu: CpuId) {
        let here = self.cpus[cpu];
        let limits = self.limits();
        for ((bounds, count), limit) in self.bounds.iter_mut().zip(here.counts).zip(limits) {
            let all = count == here.counts[LIMITS - 1];
            let sure = !here.touched && (all || (self.trusts && here.round <= limit));
            bounds.set(cpu.0, count.saturating_sub(u32::from(sure)));
        }
    }

    /// A task may run that has another priority than its round asks for: actions no longer take effect at
    /// once.
    pub(super) fn distrust(&mut self) {
        if std::mem::replace(&mut self.trusts, false) {
            (0..self.cpus.len() as u32).for_each(|cpu| self.settle(CpuId(cpu)));
        }
    }

    fn touch(&mut self, cpu: CpuId) {
        if !std::mem::replace(&mut self.cpus[cpu].touched, true) {
            self.touched.push(cpu);
        }
        self.settle(cpu);
    }

    /// A thread of this round has come to a cpu, or gone from it.
    pub(super) fn count(&mut self, cpu: CpuId, round: u64, comes: bool) {
        let limits = self.limits();
        for (count, limit) in self.cpus[cpu].counts.iter_mut().zip(limits) {
            if round <= limit {
                *count = if comes { *count + 1 } else { count.saturating_sub(1) };
            }
        }
        self.changed = true;
        self.touch(cpu);
    }

    /// A cpu is in this round now.
    pub(super) fn enter(&mut self, cpu: CpuId, round: u64) {
        self.cpus[cpu].round = round;
        self.touch(cpu);
    }

    /// A round begins that is higher than all before; `threads` are all cpus' threads with their rounds.
    pub(super) fn rise(&mut self, highest: u64, threads: impl Iterator<Item = (CpuId, u64)>) {
        self.highest = highest;
        let limits = self.limits();
        for here in self.cpus.iter_mut() {
            here.counts = [0; LIMITS];
        }
        for (cpu, round) in threads {
            for (count, limit) in self.cpus[cpu].counts.iter_mut().zip(limits) {
                *count += u32::from(round <= limit);
            }
        }
        (0..self.cpus.len() as u32).for_each(|cpu| self.settle(CpuId(cpu)));
    }

    /// Before searches. Where something has changed it is seen who runs: a thread that is counted, or one
    /// whose round is over and that keeps the cpu until a call into the kernel ends. Cpus whose queues have
    /// changed without a report of a hook may have anything.
    pub(super) fn refresh(&mut self, system: &mut dyn System, round_of: impl Fn(TaskId) -> u64) {
        let mut touched = std::mem::take(&mut self.touched);
        touched.retain(|cpu| {
            let here = &mut self.cpus[*cpu];
            // A cpu that has not picked yet runs none of its threads.
            here.touched = match system.current(*cpu) {
                Some(task) => round_of(task) > here.round,
                None => here.counts[LIMITS - 1] > 0,
            };
            let stays = here.touched;
            self.settle(*cpu);
            stays
        });
        self.touched = touched;
        if std::mem::take(&mut self.changed) {
            self.seen = 0;
        }
        let view: &dyn View = system;
        view.unreported(self.seen, &mut |cpu| {
            self.seen += 1;
            if !std::mem::replace(&mut self.cpus[cpu].touched, true) {
                self.touched.push(cpu);
            }
            for bounds in &mut self.bounds {
                bounds.set(cpu.0, view.nr_running(cpu));
            }
        });
    }

    /// The bounds for threads of rounds up to this one.
    pub(super) fn up_to(&self, latest: u64) -> &Lengths {
        let at = self.limits().iter().position(|limit| latest <= *limit);
        &self.bounds[at.unwrap_or(LIMITS - 1)]
    }
}

/// The next cpu, once round from the one behind `from`, with at least so many; `done` are behind us.
pub(super) fn next_round(lengths: &Lengths, from: CpuId, cpus: u32, done: u32, least: u32) -> Option<CpuId> {
    let after = from.0 + 1 + done;
    let first: Range<u32> = after.min(cpus)..cpus;
    let found = if first.is_empty() { None } else { lengths.first_at_least(&first, least) };
    found.or_else(|| lengths.first_at_least(&(after.saturating_sub(cpus)..from.0), least)).map(CpuId)
}
