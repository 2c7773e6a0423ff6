//! What a claim compares with.

use notation::choices;

use super::machines::Model;
use super::policy::{Policies, Policy};
use super::text::{chosen, first, numbers};
use super::waiting::{BlockTime, asleep, block_time};

choices! {
    /// How the passes of an OpenMP loop are divided.
    pub enum Schedule {
        Static = "static",
        Dynamic = "dynamic",
        Guided = "guided",
    }
}

/// Cores of each partition where a claim does not say.
const PARTITION: u32 = 8;

/// A baseline.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Baseline {
    /// There is none.
    pub none: bool,
    /// Other policies.
    pub policies: Policies,
    /// Other programming models.
    pub models: Vec<Model>,
    /// Other schedules of loops.
    pub schedules: Vec<Schedule>,
    /// The block time of the OpenMP runtime.
    pub block_time: BlockTime,
    /// Block times of barriers that sleep.
    pub asleep: Vec<BlockTime>,
    /// Cores of each of two partitions.
    pub partition: Option<u32>,
    /// One program after the other.
    pub sequence: bool,
    /// The same with free switches and warm caches.
    pub free_switches: bool,
}

impl Baseline {
    pub(super) fn read(text: &str) -> Self {
        let lower = text.to_lowercase();
        let cores = |at: usize| numbers(&lower[at..]).first().copied().filter(|n| (1..=64).contains(n));
        Self {
            none: lower == "none",
            policies: Policies::read(text),
            models: chosen(text),
            schedules: chosen(text),
            block_time: block_time(text),
            asleep: asleep(text),
            partition: lower.find("partition").map(|at| cores(at).unwrap_or(PARTITION)),
            sequence: lower.contains("sequence"),
            free_switches: lower.contains("zero"),
        }
    }

    /// Cores of each partition.
    #[must_use]
    pub fn cores(&self) -> u32 {
        self.partition.unwrap_or(PARTITION)
    }

    /// Whether it is the same without SWOMPS.
    #[must_use]
    pub fn is_without_swomps(&self) -> bool {
        self.policies.has(Policy::Swomps)
    }
}

/// What an order is about, by the words of its statement.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Order {
    /// Pairs of different programs against pairs of equal ones.
    Different,
    /// The balancer against binding.
    Load,
    /// Throughput of several degrees, partitions and sequences.
    Throughput,
}

impl Order {
    /// The subject of a statement and its baseline.
    pub(super) fn read(statement: &str, baseline: &str) -> Option<Self> {
        let words = [("differ", Self::Different), ("load", Self::Load), ("throughput", Self::Throughput)];
        first(&format!("{statement} {baseline}"), &words)
    }
}
