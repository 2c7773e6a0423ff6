//! `linux-2.6.27`, `linux-2.6.28`, `linux-2.6.30`: the Completely Fair Scheduler of 2008 and 2009, and the
//! rules of all releases of it.

use notation::declare::Duration;
use notation::parameter::{Parameter, Values, changed, joined};
use notation::{choices, parameters};
use sim_core::os::{
    Bandwidth, BuddyLimit, CfsBase, CfsParams, CpuScaling, Discipline, GroupShares, StartDebit, YieldMode,
};
use sim_core::time::Span;

use super::balance::{Form, LOADS, LOADS_2_6_27, LOADS_2_6_28, LOADS_2_6_30};
use super::linux_6_18::Shares;
use super::real_time::{CLASS, CLASS_2_6_27};
use super::{Entry, Kernel, LONGEST, OsBuilt, SHORTEST};

choices! {
    /// The words of `yield`.
    pub(super) enum Yields { Default = "default", Posix = "posix", Skip = "skip" }
}

choices! {
    /// The words of `debit`.
    pub(super) enum Debit { Slice = "slice", Period = "period" }
}

choices! {
    /// The words of `buddy_limit`.
    pub(super) enum Limit { Granularity = "granularity", Slice = "slice" }
}

choices! {
    /// The words of `scaling`.
    pub(super) enum Scaling { AllCpus = "all-cpus", EightCpus = "eight-cpus" }
}

parameters! {
    /// Parameters of the releases with CFS; the defaults are those of 2.6.28.
    pub(super) struct Parameters {
        /// Effect of sched_yield. `default` updates the caller's virtual runtime and picks the next task
        /// again (sched_compat_yield = 0). `posix` puts the caller behind all other tasks of its queue
        /// (sched_compat_yield = 1). `skip` lets the second-best task run instead of the caller if it is
        /// behind by at most one wake-up granularity (set_skip_buddy, 2.6.39 to 6.5).
        r#yield: Yields = Yields::Default;
        /// Each application without a `session` or `cgroup` is started in a session of its own, and each
        /// session is a task group (sched_autogroup_enabled, 5091faa449ee, since 2.6.38; on in RHEL and
        /// Ubuntu, where each login and each batch job is one session). Off here, so that programs without
        /// groups share a cpu by their threads; groups make runs with polling slower to simulate.
        autogroup: bool = false;
        /// Period of the timer tick. 1ms corresponds to HZ = 1000.
        tick: Duration = ms(1), in SHORTEST..=LONGEST;
        /// If true, the ticks of the cpus are spread over half a period, as Linux did until 2.6.38. If false,
        /// all cpus tick at the same time.
        tick_skew: bool = true;
        /// Period in which each task runs once, as long as only a few tasks are runnable. 0s uses the
        /// kernel's own scaling of `base_latency`. Where this or `min_granularity` is set, the number of
        /// tasks that share a period is their ratio, rounded up.
        latency: Duration = 0, in 0..=LONGEST;
        /// Shortest time slice. 0s uses the kernel's own scaling of `base_min_granularity`.
        min_granularity: Duration = 0, in 0..=LONGEST;
        /// A woken task pre-empts the current one if its virtual runtime is smaller by more than this value.
        /// 0s uses the kernel's own scaling of `base_wakeup_granularity`.
        wakeup_granularity: Duration = 0, in 0..=LONGEST;
        /// The latency before it is scaled by the number of cpus (sysctl_sched_latency: 20ms, 6ms in 3.10 to
        /// 6.5).
        base_latency: Duration = ms(20), in SHORTEST..=s(60);
        /// The minimum granularity before it is scaled (sysctl_sched_min_granularity: 4ms, 0.75ms in 3.10 to
        /// 6.5).
        base_min_granularity: Duration = ms(4), in SHORTEST..=s(60);
        /// The wake-up granularity before it is scaled (sysctl_sched_wakeup_granularity: 5ms, 1ms in 3.10 to
        /// 6.5).
        base_wakeup_granularity: Duration = ms(5), in SHORTEST..=s(60);
        /// How the three grow. `all-cpus` multiplies them by 1 + log2 cpus, rounded down, and keeps latency
        /// and minimum granularity below 200ms (sched_init_granularity). `eight-cpus` counts eight cpus at
        /// most and has no other limit (get_update_sysctl_factor, 3.10 to 6.5).
        scaling: Scaling = Scaling::AllCpus;
        /// A woken task is placed up to one latency before the queue's minimum virtual runtime
        /// (FAIR_SLEEPERS).
        sleeper_credit: bool = true;
        /// It is placed up to half a latency before it only (GENTLE_FAIR_SLEEPERS, since 2.6.32).
        gentle_sleepers: bool = false;
        /// A task that has slept longer than this is placed there even if its own past is ahead
        /// (entity_is_long_sleeper). 0s: no task is. In 6.3 to 6.5 it is 2^63ns / 1024, about 104 days.
        long_sleep: Duration = 0, in 0..=LONG_SLEEP;
        /// The credit of a woken task is divided by its weight (NORMALIZED_SLEEPER, until 2.6.29).
        normalized_sleeper: bool = true;
        /// A new task starts behind the queue's minimum virtual runtime (START_DEBIT).
        start_debit: bool = true;
        /// How far behind: one time slice of its own (sched_vslice), or one whole period (sched_vslice_add,
        /// until 2.6.27).
        debit: Debit = Debit::Slice;
        /// The queue's minimum virtual runtime follows the running task as well as the waiting ones
        /// (update_min_vruntime). Until 2.6.27 it follows the waiting ones only.
        minimum_with_current: bool = true;
        /// The scheduler prefers the last woken task (NEXT_BUDDY).
        buddies: bool = true;
        /// After the last woken task the scheduler prefers the task that it met on the cpu (LAST_BUDDY, since
        /// 2.6.28). It acts only with `buddies`.
        last_buddy: bool = true;
        /// Up to where buddies are preferred: while they are behind by at most one wake-up granularity
        /// (wakeup_preempt_entity), or for one slice after the last ordinary pick (pair_start, until 2.6.27).
        buddy_limit: Limit = Limit::Granularity;
        /// A slice that is used up ends the claim of the running task as a buddy (clear_buddies, since
        /// 2.6.30).
        clear_buddies: bool = false;
        /// The lead that a woken task needs to pre-empt shrinks when it often wakes others (ADAPTIVE_GRAN,
        /// since 2.6.30).
        adaptive_gran: bool = false;
        /// Only a woken task that pre-empts becomes a buddy, and the task that it meets only then; a cpu that
        /// is about to pick again is not asked twice (check_preempt_wakeup of 3.10 to 6.5).
        preempting_buddies: bool = false;
        /// The task that a woken one meets becomes a buddy only where as many tasks are runnable as share a
        /// period (check_preempt_wakeup of 3.10 to 6.5).
        crowded_last_buddy: bool = false;
        /// A buddy that is picked is none any more (clear_buddies at each pick, 3.10 to 6.5).
        clear_picked: bool = false;
        /// The wake-up granularity is divided by the weight of the woken task, and at a pick by that of the
        /// best one (wakeup_gran of 3.10 to 6.5). Otherwise it is divided by the weight of the current task
        /// if that is heavier than nice 0.
        weigh_woken: bool = false;
        /// A task that has run for the minimum granularity is also pre-empted at a tick when its virtual
        /// runtime exceeds that of the first waiting task by more than its slice (check_preempt_tick of 3.10
        /// to 6.5).
        gap_test: bool = false;
        /// A slice is at least the minimum granularity, whatever the weight (BASE_SLICE, since 5.13).
        base_slice: bool = false;
        /// A task is pre-empted after one latency even where its slice is longer (check_preempt_tick, since
        /// 6.3).
        cap_slice: bool = false;
        /// A task that is picked again begins a new slice. Since 3.15 it does not, and is up for
        /// pre-emption at each tick once its slice is over (pick_next_task_fair).
        renew_slice: bool = true;
        /// With task groups the period is for all runnable tasks of the cpu, not only for what is queued
        /// beside a task (ALT_PERIOD, since 5.13, 0c2de3f054a5). The tasks of a group then have longer turns.
        alt_period: bool = false;
        /// A task group of which a task goes to sleep is preferred to the others, while it is behind by at
        /// most one wake-up granularity (set_next_buddy in dequeue_task_fair, since 2.6.39, 2f36825b176f).
        sleep_buddy: bool = false;
        /// By what load the weight of a task group is divided among the cpus (calc_group_shares): averaged,
        /// with a half-life of 32 ms and with what sleeps (since 4.15), or queued, by what is queued at the
        /// instant.
        group_shares: Shares = Shares::Queued;
        /// The cpu time of task groups can be limited (cpu.cfs_quota_us, later cpu.max; since 3.2,
        /// ab84d31e1550). All tasks of a group without cpu time stop together on each cpu.
        quota: bool = false;
        /// What a cpu keeps of the quota of a group is lost when the next period begins (512ac999d275, 4.18,
        /// to de53fd7aedb1, 5.4).
        quota_expires: bool = false;
        /// Groups may use what is left of the quotas of earlier periods (cpu.max.burst, f4183717b370, since
        /// 5.14).
        quota_burst: bool = false;
    }
}

/// 2^63 ns over the weight of nice 0 (`entity_is_long_sleeper` of 6.3 to 6.5).
pub(super) const LONG_SLEEP: u64 = (1 << 63) / 1_024;

/// Number of parameters.
pub(super) const COUNT: usize = Parameters::TABLE.len();

/// The rules of 2.6.27 (kernel/sched_fair.c of that release).
const ROW_27: [Parameter; COUNT] = changed(
    Parameters::TABLE,
    &[
        Parameters::debit.with(Debit::Period as u64),
        Parameters::minimum_with_current.with(false as u64),
        Parameters::last_buddy.with(false as u64),
        Parameters::buddy_limit.with(Limit::Slice as u64),
    ],
);

/// The rules of 2.6.30 (kernel/sched_fair.c and sched_features.h of that release).
pub(super) const ROW_30: [Parameter; COUNT] = changed(
    Parameters::TABLE,
    &[
        Parameters::normalized_sleeper.with(false as u64),
        Parameters::clear_buddies.with(true as u64),
        Parameters::adaptive_gran.with(true as u64),
    ],
);

/// Its entry in the registry.
pub(super) const LINUX_2_6_28: Entry = Entry {
    name: "linux-2.6.28",
    summary: "Completely Fair Scheduler (CFS) of 2008, with both behaviours of sched_yield",
    source: "Linux 2.6.28, kernel/sched.c and kernel/sched_fair.c",
    example: "{ linux-2.6.28: { yield: posix } }",
    parameters: &joined::<{ COUNT + LOADS + CLASS }>(
        &joined::<{ COUNT + LOADS }>(Parameters::TABLE, &LOADS_2_6_28),
        &CLASS_2_6_27,
    ),
    own: Kernel::linux(cfs, Form::Loads),
};

/// The entry of the release before.
pub(super) const LINUX_2_6_27: Entry = Entry {
    name: "linux-2.6.27",
    summary: "like linux-2.6.28, but a new task starts a whole period late and only the woken task is \
        preferred",
    source: "Linux 2.6.27, kernel/sched.c and kernel/sched_fair.c",
    example: "{ linux-2.6.27: { yield: posix } }",
    parameters: &joined::<{ COUNT + LOADS + CLASS }>(
        &joined::<{ COUNT + LOADS }>(&ROW_27, &LOADS_2_6_27),
        &CLASS_2_6_27,
    ),
    own: Kernel::linux(cfs, Form::Loads).like("linux-2.6.28"),
};

/// The entry of the release after the next.
pub(super) const LINUX_2_6_30: Entry = Entry {
    name: "linux-2.6.30",
    summary: "like linux-2.6.28, but a task that often wakes others pre-empts sooner (ADAPTIVE_GRAN)",
    source: "Linux 2.6.30, kernel/sched.c and kernel/sched_fair.c",
    example: "{ linux-2.6.30: { adaptive_gran: false } }",
    parameters: &joined::<{ COUNT + LOADS + CLASS }>(
        &joined::<{ COUNT + LOADS }>(&ROW_30, &LOADS_2_6_30),
        &CLASS_2_6_27,
    ),
    own: Kernel::linux(cfs, Form::Loads).like("linux-2.6.28"),
};

pub(super) fn cfs(values: &Values, cpus: u32) -> OsBuilt {
    let values = Parameters::from(values);
    let base = CfsBase {
        latency: Span::from_ns(values.base_latency.ns()),
        min_granularity: Span::from_ns(values.base_min_granularity.ns()),
        wakeup_granularity: Span::from_ns(values.base_wakeup_granularity.ns()),
        scaling: match values.scaling {
            Scaling::AllCpus => CpuScaling::All,
            Scaling::EightCpus => CpuScaling::UpToEight,
        },
    };
    let boot = base.scaled(cpus);
    let set = |given: Duration, scaled: Span| match given.ns() {
        0 => scaled,
        ns => Span::from_ns(ns),
    };
    let (latency, least) =
        (set(values.latency, boot.latency), set(values.min_granularity, boot.min_granularity));
    // As sched_nr_latency_handler: recomputed only when one of the two is written.
    let written = values.latency.ns() != 0 || values.min_granularity.ns() != 0;
    let set_by_hand = CfsBase { latency, min_granularity: least, ..base };
    let discipline = Discipline::Cfs(CfsParams {
        latency,
        min_granularity: least,
        wakeup_granularity: set(values.wakeup_granularity, boot.wakeup_granularity),
        nr_latency: if written { set_by_hand.nr_latency() } else { base.nr_latency() },
        sleeper_credit: values.sleeper_credit,
        gentle_sleepers: values.gentle_sleepers,
        long_sleep: set(values.long_sleep, Span::MAX),
        normalized_sleeper: values.normalized_sleeper,
        start_debit: values.start_debit,
        debit: if values.debit == Debit::Period { StartDebit::Period } else { StartDebit::Slice },
        minimum_with_current: values.minimum_with_current,
        buddies: values.buddies,
        last_buddy: values.last_buddy,
        buddy_limit: match values.buddy_limit {
            Limit::Granularity => BuddyLimit::Granularity,
            Limit::Slice => BuddyLimit::Slice,
        },
        clear_buddies: values.clear_buddies,
        adaptive_gran: values.adaptive_gran,
        preempting_buddies: values.preempting_buddies,
        crowded_last_buddy: values.crowded_last_buddy,
        clear_picked: values.clear_picked,
        weigh_woken: values.weigh_woken,
        gap_test: values.gap_test,
        base_slice: values.base_slice,
        cap_slice: values.cap_slice,
        renew_slice: values.renew_slice,
        alt_period: values.alt_period,
        sleep_buddy: values.sleep_buddy,
        group_shares: match values.group_shares {
            Shares::Averaged => GroupShares::Averaged,
            Shares::Queued => GroupShares::Queued,
        },
        quota: values.quota,
        bandwidth: Bandwidth { expires: values.quota_expires, burst: values.quota_burst, at_once: true },
        yield_mode: match values.r#yield {
            Yields::Default => YieldMode::Default,
            Yields::Posix => YieldMode::Posix,
            Yields::Skip => YieldMode::Skip,
        },
    });
    OsBuilt { tick: values.tick, tick_skew: values.tick_skew, autogroup: values.autogroup, discipline }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{KERNELS, build};

    fn cfs_with(settings: &[(&str, u64)], cpus: u32) -> CfsParams {
        let entry = KERNELS.resolve("linux-2.6.28").unwrap();
        let mut values = Values::defaults(entry.parameters);
        for (name, value) in settings {
            values.set(name, *value).unwrap();
        }
        match build(entry, &values, cpus).discipline {
            Discipline::Cfs(params) => params,
            _ => panic!("not CFS"),
        }
    }

    #[test]
    fn defaults_are_the_kernels_own() {
        for cpus in [1, 2, 16, 144, 4096] {
            assert_eq!(cfs_with(&[], cpus), CfsParams::scaled(cpus));
        }
    }

    #[test]
    fn overrides_are_literal() {
        let params = cfs_with(&[("latency", 60_000_000), ("yield", 1)], 16);
        assert_eq!(params.latency, Span::from_ms(60));
        assert_eq!(params.min_granularity, Span::from_ms(20));
        assert_eq!((params.nr_latency, params.yield_mode), (3, YieldMode::Posix));
    }
}
