//! What an operating-system kernel's scheduler does on one cpu, as parameters: tick and run-queue discipline.

use crate::policy::Order;
pub use crate::run_queue::Discipline;
pub use crate::run_queue::bandwidth::Bandwidth;
pub use crate::run_queue::by_policy::ByPolicy;
pub use crate::run_queue::cfs::{BuddyLimit, CfsBase, CfsParams, CpuScaling, StartDebit, YieldMode};
pub use crate::run_queue::eevdf_params::{EevdfParams, EevdfYield, Protection};
pub use crate::run_queue::groups::GroupShares;
pub use crate::run_queue::o1::O1Params;
pub use crate::run_queue::round_robin::RoundRobinParams;
pub use crate::run_queue::ts::TsParams;
pub use crate::run_queue::ule::UleParams;
pub use crate::run_queue::virtual_time::VirtualTimeParams;
use crate::time::Span;

/// A kernel's per-cpu scheduling.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct OsModel {
    /// Its name in reports.
    pub name: String,
    /// Period of the timer tick; at least 1 us.
    pub tick: Span,
    /// Ticks of the cpus are spread over half a period (as Linux did until 2.6.38) instead of all on one
    /// grid.
    pub tick_skew: bool,
    /// Who runs next on a cpu.
    pub discipline: Discipline,
    /// Its own placement and balancing between the cpus.
    pub balancer: Balancer,
    /// Task groups (control groups, sessions); a group comes after the one around it. Only EEVDF has groups,
    /// and only without priority levels.
    pub groups: Vec<TaskGroup>,
}

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

impl OsModel {
    /// The operating system with the order that a policy brings.
    #[must_use]
    pub fn ordered(&self, order: Order) -> Self {
        let discipline = match order {
            Order::System => self.discipline.clone(),
            Order::Fifo { slice } => Discipline::RoundRobin(RoundRobinParams { quantum: slice }),
            Order::VirtualTime { slice } => Discipline::VirtualTime(VirtualTimeParams { slice }),
            Order::Policy => Discipline::ByPolicy(ByPolicy),
        };
        // Task groups are rules of the system's own queues.
        let groups = if matches!(order, Order::System) { self.groups.clone() } else { Vec::new() };
        Self { discipline, groups, ..self.clone() }
    }
}

/// The placement and balancing that an operating system comes with: user-level policies are stacked on it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Balancer {
    /// The name of the policy.
    pub policy: &'static str,
    /// The rules of this kernel that the policy follows, as names and values; none if it has but one form.
    pub rules: Vec<(&'static str, u64)>,
}

/// Load weights of nice -20 to 19 (Linux 2.6.27, kernel/sched.c, `prio_to_weight`): the scenario gives
/// weights, the other kernels know the nice value.
pub const NICE_WEIGHTS: [u32; 40] = [
    88761, 71755, 56483, 46273, 36291, 29154, 23254, 18705, 14949, 11916, 9548, 7620, 6100, 4904, 3906, 3121,
    2501, 1991, 1586, 1277, 1024, 820, 655, 526, 423, 335, 272, 215, 172, 137, 110, 87, 70, 56, 45, 36, 29,
    23, 18, 15,
];
