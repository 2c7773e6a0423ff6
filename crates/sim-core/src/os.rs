//! What an operating-system kernel's scheduler does on one cpu, as parameters: tick and run-queue discipline.

use crate::policy::Order;
pub use crate::run_queue::Discipline;
pub use crate::run_queue::bandwidth::Bandwidth;
pub use crate::run_queue::by_policy::ByPolicy;
pub use crate::run_queue::cbs::DeadlineRules;
pub use crate::run_queue::cfs::{BuddyLimit, CfsBase, CfsParams, CpuScaling, StartDebit, YieldMode};
pub use crate::run_queue::cfs_groups::CfsGroups;
pub use crate::run_queue::eevdf_params::{EevdfParams, EevdfYield, Preemption, Protection};
pub use crate::run_queue::fair_server::{ServerRules, ServerStop};
pub use crate::run_queue::groups::GroupShares;
pub use crate::run_queue::o1::O1Params;
pub use crate::run_queue::real_time::{RealTime, RealTimeRules};
pub use crate::run_queue::round_robin::RoundRobinParams;
pub use crate::run_queue::ts::TsParams;
pub use crate::run_queue::ule::UleParams;
pub use crate::run_queue::virtual_time::VirtualTimeParams;
pub use crate::task_group::{Limit, TaskGroup};
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
    /// Task groups (control groups, sessions); a group comes after the one around it. Only CFS and EEVDF have
    /// groups, and only without priority levels.
    pub groups: Vec<TaskGroup>,
    /// Each program that names no group is started in a session of its own, which is a task group
    /// (`CONFIG_SCHED_AUTOGROUP`): whoever describes a run forms these groups.
    pub autogroup: bool,
    /// It moves pages and tasks towards each other, where a machine has several nodes.
    pub numa_balancing: Option<NumaBalancing>,
    /// Its real-time class (`SCHED_FIFO`, `SCHED_RR`); none: it has no such class here.
    pub real_time: Option<RealTimeRules>,
}

/// Automatic NUMA balancing of Linux (kernel/sched/fair.c, `task_numa_work` to `task_numa_placement`): a scan
/// marks the pages of a process part by part, and the next use of a marked page is a hinting fault, which
/// counts for the node of the page and may move it to the node of the task.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct NumaBalancing {
    /// Cpu time of a task before the first pass over its pages (`scan_delay_ms`).
    pub delay: Span,
    /// Bytes of a process that one pass marks (`scan_size_mb`); at least a page.
    pub window: u64,
    /// Least cpu time between two passes over a process that one pass marks wholly, divided by the passes
    /// that it takes (`scan_period_min_ms`).
    pub fastest: Span,
    /// The same of the most (`scan_period_max_ms`).
    pub slowest: Span,
    /// Less is never between two passes (`MAX_SCAN_WINDOW`: at most 2,560 MB are marked in a second); at
    /// least 1 us.
    pub floor: Span,
    /// Bytes of a page, at least 16: 4 KiB, or 2 MiB where programs have huge pages.
    pub page: u64,
    /// Time of one hinting fault, without the copy of a page that moves.
    pub fault: Span,
    /// In the first scans a page of the task's own moves at its first fault, later at the second in turn on
    /// the same node; if false, always at the second (`should_numa_migrate_memory` before 4.20).
    pub early: bool,
    /// Private faults make scans rarer, wherever the pages are; if false, only local ones do
    /// (`update_task_scan_period` before 4.14).
    pub private_slows: bool,
    /// A task that is not on the node with most of its faults asks the policy for a place there
    /// (`numa_migrate_preferred`).
    pub moves_tasks: bool,
}

impl NumaBalancing {
    /// As Linux boots, with the pages of programs in huge pages or not. The constants are those of
    /// kernel/sched/fair.c (4.20 to 7.1) but for the time of a fault: about a microsecond, measured nowhere
    /// that is public with its machine.
    #[must_use]
    pub const fn linux(huge_pages: bool) -> Self {
        Self {
            delay: Span::from_ms(1_000),
            window: 256 << 20,
            fastest: Span::from_ms(1_000),
            slowest: Span::from_ms(60_000),
            floor: Span::from_ms(100),
            page: if huge_pages { 2 << 20 } else { 4 << 10 },
            fault: Span::from_us(1),
            early: true,
            private_slows: true,
            moves_tasks: true,
        }
    }

    /// Refuses what cannot be simulated.
    ///
    /// # Errors
    /// A sentence.
    pub(crate) fn check(&self) -> Result<(), String> {
        if self.page < 16 || self.window < self.page {
            return Err("a pass of NUMA balancing marks at least a page, of at least 16 bytes".into());
        }
        if self.floor < Span::from_us(1) || self.slowest < self.fastest {
            return Err(
                "passes of NUMA balancing are at least 1us apart, and at most as long as `slowest`".into()
            );
        }
        Ok(())
    }
}

impl OsModel {
    /// The operating system with its real-time class above its discipline; unchanged if it has none.
    #[must_use]
    pub(crate) fn with_real_time(&self) -> Self {
        let Some(rules) = self.real_time else { return self.clone() };
        let below = Box::new(self.discipline.clone());
        let discipline = Discipline::RealTime(RealTime { below, rules, tick: self.tick });
        Self { discipline, ..self.clone() }
    }

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
