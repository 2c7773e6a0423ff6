//! Task groups: what shares the cpu time that it gets.

use crate::time::Span;

/// A task group: its tasks and the groups inside it share what it gets, as a task group of Linux
/// (`CONFIG_FAIR_GROUP_SCHED`).
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TaskGroup {
    /// Its name in messages.
    pub name: String,
    /// The group around it: an earlier index. None: it competes with the tasks that are in no group.
    pub parent: Option<u16>,
    /// Its weight over all cpus, 2 to 262,144; a task of nice 0 has 1,024. Each cpu has the part that its
    /// queued tasks are of all queued tasks of the group.
    pub weight: u32,
    /// How much cpu time it may use, if there is a limit.
    pub limit: Option<Limit>,
}

/// The cpu time that a task group may use on all cpus together, as `cpu.max` of cgroup v2.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Limit {
    /// Cpu time in each period; at least 1 ms, at most 1,000 s.
    pub quota: Span,
    /// The period, 1 ms to 1 s.
    pub period: Span,
    /// What of the quotas of earlier periods may be used on top of that of the present one (`cpu.max.burst`);
    /// at most the quota.
    pub burst: Span,
}

impl Limit {
    /// The range of quotas: from `min_cfs_quota_period` (kernel/sched/core.c of Linux 6.18) to what limits
    /// nothing.
    pub const QUOTAS: std::ops::RangeInclusive<Span> = Span::from_ms(1)..=Span::from_ms(1_000_000);
    /// The range of periods (`min_cfs_quota_period`, `max_cfs_quota_period`).
    pub const PERIODS: std::ops::RangeInclusive<Span> = Span::from_ms(1)..=Span::from_ms(1_000);
}
