//! What a task of the reference engine has to do with events, clocks and requests.

use std::collections::BTreeMap;

use sim_core::policy::Affinity;

/// What a task has to do with events, clocks and requests.
#[derive(Clone, Default)]
pub(super) struct EventWait {
    /// It stands in the line of this event, and has not come to its `Take`.
    pub(super) armed: Option<usize>,
    /// It has got what it began to wait for.
    pub(super) granted: bool,
    /// When the unit was posted that it has got.
    pub(super) instant: Option<u64>,
    /// When its present request came: it woke from a nap, or an instant or a unit came.
    pub(super) woken: Option<u64>,
    /// Since when its clocks count, if not since the start of its application.
    pub(super) begun: Option<u64>,
    /// Its weight and its cpus before it changed them.
    pub(super) weight_before: Option<u32>,
    pub(super) cpus_before: Option<Affinity>,
    /// The last instant of each of its clocks.
    pub(super) clocks: BTreeMap<u8, u64>,
}
