//! Where a task may run: the mask that `sched_setaffinity` sets.

use std::sync::Arc;

use crate::ids::CpuId;
use crate::machine::CpuSet;

/// Where a task may run.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Affinity {
    /// Anywhere.
    All,
    /// On one cpu only.
    One(CpuId),
    /// On these cpus (at least one of which must exist).
    Set(Arc<CpuSet>),
}

impl Affinity {
    /// The allowed cpus of a machine of `cpus` cpus in turn: the first one is number 0, and after the last
    /// one the first one comes again. It must allow at least one of them.
    pub(crate) fn nth(&self, number: u64, cpus: u32) -> CpuId {
        match self {
            Self::All => CpuId((number % u64::from(cpus)) as u32),
            Self::One(cpu) => *cpu,
            Self::Set(set) => {
                let here = || set.iter().filter(|cpu| cpu.0 < cpus);
                let count = here().count() as u64;
                assert!(count > 0, "a task may run on none of {cpus} cpus");
                here().nth((number % count) as usize).expect("the set has as many cpus")
            }
        }
    }

    /// True when `cpu` is allowed.
    #[must_use]
    pub fn allows(&self, cpu: CpuId) -> bool {
        match self {
            Self::All => true,
            Self::One(only) => *only == cpu,
            Self::Set(set) => set.contains(cpu),
        }
    }

    /// The first allowed cpu of a machine of `cpus` cpus; none when it allows none of them.
    #[must_use]
    pub fn first(&self, cpus: u32) -> Option<CpuId> {
        let first = match self {
            Self::All => Some(CpuId(0)),
            Self::One(only) => Some(*only),
            Self::Set(set) => set.iter().next(),
        };
        first.filter(|cpu| cpu.0 < cpus)
    }
}
