//! What the reference engine knows of the scan of a task's pages.

use std::sync::Arc;

use sim_core::os::NumaBalancing;

/// A sixteenth of a task's pages.
#[derive(Clone)]
pub(super) struct Part {
    pub(super) node: usize,
    /// The rank that last had a fault there, and where it ran.
    pub(super) toucher: Option<(u32, usize)>,
}

/// What is known of the pages of a task.
#[derive(Clone, Default)]
pub(super) struct RefScan {
    /// Cpu time of the task when its next pass is due, and between two passes.
    pub(super) next: u64,
    pub(super) period: Option<u64>,
    pub(super) parts: Vec<Part>,
    /// Where the pages were when the parts were last right.
    pub(super) known: Option<(u32, Option<Arc<[u64]>>)>,
    pub(super) offset: u64,
    pub(super) finished: u64,
    /// Faults since the last scan was finished: (private, local, number).
    pub(super) faults: Vec<(bool, bool, u64)>,
    /// By node: faults since then, and what is remembered of those before.
    pub(super) fresh: Vec<u64>,
    pub(super) remembered: Vec<u64>,
    pub(super) preferred: Option<usize>,
    /// Faults on data that all nodes have: since then, and what is remembered.
    pub(super) everywhere: (u64, u64),
    /// (shared, all) faults of the last scan.
    pub(super) mixture: (u64, u64),
    /// Cpu time of the task at the end of the last pass.
    pub(super) last: u64,
    /// Others use its pages, too.
    pub(super) shares: bool,
    /// It is away from its preferred node: false, the policy does not know yet; true, it has had its say.
    pub(super) away: Option<bool>,
}

impl RefScan {
    pub(super) fn begins(rules: Option<&NumaBalancing>, used: u64) -> Self {
        let next = used.saturating_add(rules.map_or(0, |rules| rules.delay.ns()));
        Self { next, last: used, ..Self::default() }
    }
}
