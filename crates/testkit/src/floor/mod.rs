//! The floor under the event loop: the benchmark's job with only the traffic that no engine can avoid, and a
//! probe that also has a scheduler's queues. What is above them is the price of the model.

mod probe;
mod traffic;

use sim_core::program::Spread;
use sim_core::rng::{Purpose, draw, key};
use sim_core::time::{Span, Speed, Work};

use crate::job::Job;

pub use probe::Probe;
pub use traffic::Traffic;

/// What a floor has done.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Sum {
    /// Computations that have ended.
    pub steps: u64,
    /// Instants at which something happened on a cpu.
    pub events: u64,
    /// When the last task ended, nanoseconds.
    pub end: u64,
    /// Over instants and cpus of all ends of computations.
    pub digest: u64,
}

impl Sum {
    const NONE: Self = Self { steps: 0, events: 0, end: 0, digest: 0 };

    /// A computation has ended. FNV-1a over words.
    #[inline]
    fn step(&mut self, now: u64, cpu: u32) {
        self.steps += 1;
        self.digest = (self.digest ^ now ^ u64::from(cpu) << 48).wrapping_mul(0x0100_0000_01b3);
    }
}

/// What all tasks compute.
#[derive(Clone, Copy)]
struct Grain {
    work: Work,
    spread: Spread,
}

impl Grain {
    const fn of(job: &Job) -> Self {
        Self { work: Work::from_span(job.grain), spread: job.spread }
    }

    /// Nanoseconds of a task's n-th computation.
    #[inline]
    fn length(self, noise: u64, n: u32) -> u64 {
        let raw = self.spread.apply(self.work.raw(), draw(noise, u64::from(n)));
        Work::from_raw(raw).duration_at(Speed::NOMINAL).ns()
    }
}

/// The key of a task's variation, as the kernel draws it.
fn noise(seed: u64, task: u32) -> u64 {
    key(seed, Purpose::WorkNoise, u64::from(task))
}

/// Nanoseconds that a poll, a yield and a switch to another thread take.
#[derive(Clone, Copy)]
pub struct Prices {
    /// A look at the flag.
    pub poll: Span,
    /// The call that yields.
    pub yield_call: Span,
    /// A switch between threads.
    pub switch: Span,
}

/// Bits of a cpu's number in a key of the tree; 44 bits of nanoseconds are 4.9 hours.
const CPU_BITS: u32 = 20;

/// Four keys side by side.
#[derive(Clone, Copy)]
#[repr(align(32))]
struct Group([u64; 4]);

/// A 4-ary tournament tree over one key per cpu: the instant, below it the cpu. The children of group g are
/// 4g + 1 to 4g + 4.
struct Tree {
    groups: Vec<Group>,
    leaves: usize,
}

impl Tree {
    fn new(cpus: u32) -> Self {
        assert!(cpus <= 1 << CPU_BITS, "a key has {CPU_BITS} bits for the cpu");
        let (mut leaves, mut width) = (0, 1);
        while width * 4 < cpus as usize {
            leaves += width;
            width *= 4;
        }
        Self { groups: vec![Group([u64::MAX; 4]); leaves + width], leaves }
    }

    #[inline]
    fn arm(&mut self, cpu: u32, at: u64) {
        self.set(cpu, at << CPU_BITS | u64::from(cpu));
    }

    #[inline]
    fn disarm(&mut self, cpu: u32) {
        self.set(cpu, u64::MAX);
    }

    #[inline]
    fn set(&mut self, cpu: u32, mut key: u64) {
        let (mut group, mut slot) = (self.leaves + cpu as usize / 4, cpu as usize % 4);
        loop {
            let Group(keys) = &mut self.groups[group];
            if keys[slot] == key {
                return;
            }
            keys[slot] = key;
            key = keys[0].min(keys[1]).min(keys[2].min(keys[3]));
            if group == 0 {
                return;
            }
            (group, slot) = ((group - 1) / 4, (group - 1) % 4);
        }
    }

    /// The earliest instant and its cpu.
    #[inline]
    fn first(&self) -> Option<(u64, u32)> {
        let Group(keys) = &self.groups[0];
        let key = keys[0].min(keys[1]).min(keys[2].min(keys[3]));
        (key != u64::MAX).then_some((key >> CPU_BITS, key as u32 & ((1 << CPU_BITS) - 1)))
    }
}
