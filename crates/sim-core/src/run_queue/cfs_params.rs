//! The rules of CFS as named values: tunables in force, and what differs between releases.

use crate::run_queue::bandwidth::Bandwidth;
use crate::run_queue::groups::GroupShares;
use crate::time::Span;

/// What `sched_yield` does under CFS.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum YieldMode {
    /// The caller's virtual runtime is brought up to date and the next task is picked (`sched_compat_yield` =
    /// 0).
    Default,
    /// The caller goes behind every other task of its queue (`sched_compat_yield` = 1).
    Posix,
    /// The caller is marked: the next picks take the second-best task instead of it, while that one is behind
    /// it by at most one wake-up granularity (`set_skip_buddy`, 2.6.39 to 6.5; commit ac53db596cc0). The mark
    /// ends when the task is picked or leaves the queue.
    Skip,
}

/// How far a forked task starts behind the minimum (`place_entity`, `START_DEBIT`).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum StartDebit {
    /// One slice of its own (`sched_vslice`, since 2.6.28).
    Slice,
    /// One whole period (`sched_vslice_add` of 2.6.27).
    Period,
}

/// Up to where the scheduler prefers a buddy to the task with the least virtual runtime (`pick_next`).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum BuddyLimit {
    /// While it is behind by at most one wake-up granularity (`wakeup_preempt_entity`, since 2.6.28).
    Granularity,
    /// For one slice after the last ordinary pick, whatever its lag (`pair_start` of 2.6.27).
    Slice,
}

/// Tunables and rules of CFS, as in force (after the kernel scaled them by the number of cpus); the rules
/// have the names of kernel/sched_features.h where they are there.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct CfsParams {
    /// Period in which each of up to `nr_latency` tasks runs once.
    pub latency: Span,
    /// Slice per task beyond `nr_latency` tasks.
    pub min_granularity: Span,
    /// A woken task pre-empts the current one if its virtual runtime is smaller by more than this.
    pub wakeup_granularity: Span,
    /// Number of tasks that share one latency period.
    pub nr_latency: u32,
    /// A woken task is placed up to one latency before the minimum (fair sleepers).
    pub sleeper_credit: bool,
    /// Up to half a latency only (`GENTLE_FAIR_SLEEPERS`, since 2.6.32; commit 51e0304ce6e5).
    pub gentle_sleepers: bool,
    /// A task that slept longer than this is placed there even if its own past is ahead of it
    /// (`entity_is_long_sleeper`, since 6.3); [`Span::MAX`]: none is.
    pub long_sleep: Span,
    /// The credit of a woken task is divided by its weight (`NORMALIZED_SLEEPER`, until 2.6.29).
    pub normalized_sleeper: bool,
    /// A forked task starts behind the minimum (`START_DEBIT`), by `debit`.
    pub start_debit: bool,
    /// How far behind.
    pub debit: StartDebit,
    /// The minimum follows the current task as well as the leftmost waiting one (`update_min_vruntime`, since
    /// 2.6.28); the leftmost one alone before.
    pub minimum_with_current: bool,
    /// Prefer the last woken task (`NEXT_BUDDY`).
    pub buddies: bool,
    /// After it, prefer the task it met on the cpu (`LAST_BUDDY`, since 2.6.28); only with `buddies`.
    pub last_buddy: bool,
    /// Up to where buddies are preferred.
    pub buddy_limit: BuddyLimit,
    /// A slice that is used up ends the current task's claim as a buddy (`clear_buddies` in
    /// `check_preempt_tick`, since 2.6.30).
    pub clear_buddies: bool,
    /// The lead that a woken task needs shrinks when it wakes others often (`ADAPTIVE_GRAN` of 2.6.30).
    pub adaptive_gran: bool,
    /// Only a task that pre-empts becomes the next buddy, and the one it pre-empts the last buddy; a cpu that
    /// is to pick again already is not asked twice (`check_preempt_wakeup` of 3.10 to 6.5).
    pub preempting_buddies: bool,
    /// There is a last buddy only where at least `nr_latency` tasks are runnable (`scale` in
    /// `check_preempt_wakeup` of 3.10 to 6.5).
    pub crowded_last_buddy: bool,
    /// A buddy that is picked has to earn the favour again (`clear_buddies` at each pick of 3.10 to 6.5).
    pub clear_picked: bool,
    /// The wake-up granularity is weighted by the task that would go first: the woken one, or the best one at
    /// a pick (`wakeup_gran` of 3.10 to 6.5).
    pub weigh_woken: bool,
    /// At a tick, a task that has run for the minimum granularity also ends its turn when it is behind the
    /// leftmost one by more than its slice (`check_preempt_tick` of 3.10 to 6.5).
    pub gap_test: bool,
    /// A slice is at least the minimum granularity, whatever the weight (`BASE_SLICE`, since 5.13; commit
    /// 0c2de3f054a5).
    pub base_slice: bool,
    /// A turn ends after one latency even where a slice is longer (`check_preempt_tick`, since 6.3).
    pub cap_slice: bool,
    /// A task that is picked again begins a new slice (until 3.14). Otherwise its time since it came to the
    /// cpu counts on, and each tick after its slice picks again (`pick_next_task_fair`; commit 678d5718d8d0).
    pub renew_slice: bool,
    /// With task groups the period is for all runnable tasks of the cpu, not only for what is queued beside a
    /// task (`ALT_PERIOD`, since 5.13; commit 0c2de3f054a5).
    pub alt_period: bool,
    /// A group of which a task goes to sleep is the next buddy of the queues around it
    /// (`set_next_buddy` in `dequeue_task_fair`, since 2.6.39; commit 2f36825b176f).
    pub sleep_buddy: bool,
    /// By what load the weight of a task group is divided among the cpus.
    pub group_shares: GroupShares,
    /// The cpu time of groups can be limited (`cpu.cfs_quota_us`, since 3.2; commit ab84d31e1550).
    pub quota: bool,
    /// How it is limited.
    pub bandwidth: Bandwidth,
    /// `sched_yield`.
    pub yield_mode: YieldMode,
}

/// The tunables of CFS before they are scaled by the number of cpus (`sysctl_sched_latency` and the two after
/// it, kernel/sched/fair.c), and how far they are scaled.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct CfsBase {
    /// Period; its ratio to `min_granularity`, rounded up, is the number of tasks that share one.
    pub latency: Span,
    /// Least slice.
    pub min_granularity: Span,
    /// Lead of a woken task.
    pub wakeup_granularity: Span,
    /// How they grow with the number of cpus.
    pub scaling: CpuScaling,
}

/// By what the tunables grow with the number of online cpus.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum CpuScaling {
    /// 1 + floor(log2(cpus)); latency and minimum granularity are at most 200 ms (kernel/sched.c,
    /// `sched_init_granularity`, until 2.6.32).
    All,
    /// 1 + floor(log2(min(cpus, 8))) without a limit (kernel/sched/fair.c, `get_update_sysctl_factor`, 3.10
    /// to 6.5).
    UpToEight,
}

impl CfsBase {
    /// Linux 2.6.27 to 2.6.30 (kernel/sched_fair.c).
    pub const EARLY: Self = Self {
        latency: Span::from_ms(20),
        min_granularity: Span::from_ms(4),
        wakeup_granularity: Span::from_ms(5),
        scaling: CpuScaling::All,
    };

    /// Linux 3.10 to 6.5 (kernel/sched/fair.c).
    pub const LATE: Self = Self {
        latency: Span::from_ms(6),
        min_granularity: Span::from_us(750),
        wakeup_granularity: Span::from_ms(1),
        scaling: CpuScaling::UpToEight,
    };

    /// What is in force on `cpus` online cpus.
    #[must_use]
    pub fn scaled(&self, cpus: u32) -> Self {
        let (most, longest) = match self.scaling {
            CpuScaling::All => (u32::MAX, Span::from_ms(200)),
            CpuScaling::UpToEight => (8, Span::MAX),
        };
        let factor = u64::from(cpus.clamp(1, most).ilog2() + 1);
        Self {
            latency: (self.latency * factor).min(longest),
            min_granularity: (self.min_granularity * factor).min(longest),
            wakeup_granularity: self.wakeup_granularity * factor,
            ..*self
        }
    }

    /// How many tasks share one period: ceil(latency / minimum granularity).
    #[must_use]
    pub fn nr_latency(&self) -> u32 {
        let tasks = self.latency.ns().div_ceil(self.min_granularity.ns().max(1));
        tasks.clamp(1, u64::from(u32::MAX)) as u32
    }
}

impl CfsParams {
    /// Linux 2.6.28.2 on `cpus` online cpus.
    #[must_use]
    pub fn scaled(cpus: u32) -> Self {
        let base = CfsBase::EARLY;
        let CfsBase { latency, min_granularity, wakeup_granularity, .. } = base.scaled(cpus);
        Self {
            latency,
            min_granularity,
            wakeup_granularity,
            nr_latency: base.nr_latency(),
            sleeper_credit: true,
            gentle_sleepers: false,
            long_sleep: Span::MAX,
            normalized_sleeper: true,
            start_debit: true,
            debit: StartDebit::Slice,
            minimum_with_current: true,
            buddies: true,
            last_buddy: true,
            buddy_limit: BuddyLimit::Granularity,
            clear_buddies: false,
            adaptive_gran: false,
            preempting_buddies: false,
            crowded_last_buddy: false,
            clear_picked: false,
            weigh_woken: false,
            gap_test: false,
            base_slice: false,
            cap_slice: false,
            renew_slice: true,
            alt_period: false,
            sleep_buddy: false,
            group_shares: GroupShares::Queued,
            quota: false,
            bandwidth: Bandwidth::FIRST,
            yield_mode: YieldMode::Default,
        }
    }

    /// Linux 3.10 on `cpus` online cpus: 6 ms, 0.75 ms and 1 ms times 1 + floor(log2(min(cpus, 8))).
    #[must_use]
    pub fn late(cpus: u32) -> Self {
        let base = CfsBase::LATE;
        let CfsBase { latency, min_granularity, wakeup_granularity, .. } = base.scaled(cpus);
        Self {
            latency,
            min_granularity,
            wakeup_granularity,
            nr_latency: base.nr_latency(),
            gentle_sleepers: true,
            normalized_sleeper: false,
            clear_buddies: true,
            preempting_buddies: true,
            crowded_last_buddy: true,
            clear_picked: true,
            weigh_woken: true,
            gap_test: true,
            sleep_buddy: true,
            quota: true,
            yield_mode: YieldMode::Skip,
            ..Self::scaled(cpus)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn boot_scaling_matches_the_kernel() {
        let sixteen = CfsParams::scaled(16);
        assert_eq!(sixteen.latency, Span::from_ms(100));
        assert_eq!(sixteen.min_granularity, Span::from_ms(20));
        assert_eq!(sixteen.wakeup_granularity, Span::from_ms(25));
        assert_eq!(CfsParams::scaled(24).latency, Span::from_ms(100));
        assert_eq!(CfsParams::scaled(4096).latency, Span::from_ms(200));
        assert_eq!(
            (CfsParams::scaled(1).latency, CfsParams::scaled(4096).nr_latency),
            (Span::from_ms(20), 5)
        );
    }

    #[test]
    fn later_kernels_count_eight_cpus_at_most() {
        for (cpus, factor) in [(1, 1), (2, 2), (3, 2), (4, 3), (7, 3), (8, 4), (9, 4), (1_024, 4)] {
            let params = CfsParams::late(cpus);
            let expected = [6_000, 750, 1_000].map(|us| Span::from_us(us * factor));
            assert_eq!([params.latency, params.min_granularity, params.wakeup_granularity], expected);
            assert_eq!(params.nr_latency, 8);
        }
    }
}
