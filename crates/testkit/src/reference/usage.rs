//! What cpus and tasks use, where a governor asks.

/// What a cpu uses, and what it asks for.
#[derive(Clone, Debug, Default)]
pub(super) struct RefUsage {
    pub(super) used: u64,
    pub(super) expected: u64,
    pub(super) was_busy: bool,
    /// It has been idle since it asked last.
    pub(super) rested: bool,
    /// Nanoseconds up to which all of this is counted.
    pub(super) until: u64,
    /// In 65,536ths of a nanosecond: the clock of the averages, how far it stays behind for good, work done.
    pub(super) pelt: u128,
    pub(super) behind: u128,
    pub(super) work: u128,
    /// Of `work`, what the averages have seen, and nanoseconds of it.
    pub(super) seen: u128,
    pub(super) busy_ns: u64,
    /// The clock that it (or the first cpu of its package) asks for, and since when.
    pub(super) asked: u64,
    pub(super) since: Option<u64>,
    /// It asks at the end of this instant.
    pub(super) asks: bool,
}

/// What a task uses.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct RefShare {
    pub(super) used: u64,
    pub(super) expected: u64,
    pub(super) counted_in: u64,
    /// Work not seen yet, and cpu time, busy time, work and clock when it was last brought up to date.
    pub(super) unseen: u128,
    pub(super) cpu_time: u64,
    pub(super) busy_ns: u64,
    pub(super) work: u128,
    pub(super) pelt: u128,
}
