//! `linux-2.6.27`, `linux-2.6.28`, `linux-2.6.30`: the Completely Fair Scheduler of 2008 and 2009.

use notation::declare::Duration;
use notation::parameter::{Parameter, Values, changed, joined};
use notation::{choices, parameters};
use sim_core::os::{BuddyLimit, CfsParams, Discipline, StartDebit, YieldMode};
use sim_core::time::Span;

use super::balance::{Form, LOADS, LOADS_2_6_27, LOADS_2_6_28, LOADS_2_6_30};
use super::{Entry, Kernel, LONGEST, OsBuilt, SHORTEST};

choices! {
    /// The words of `yield`.
    enum Yields { Default = "default", Posix = "posix" }
}

choices! {
    /// The words of `debit`.
    enum Debit { Slice = "slice", Period = "period" }
}

choices! {
    /// The words of `buddy_limit`.
    enum Limit { Granularity = "granularity", Slice = "slice" }
}

parameters! {
    /// Parameters of the releases with CFS; the defaults are those of 2.6.28.
    struct Parameters {
        /// Effect of sched_yield. `default` updates the caller's virtual runtime and picks the next task
        /// again (sched_compat_yield = 0). `posix` puts the caller behind all other tasks of its queue
        /// (sched_compat_yield = 1).
        r#yield: Yields = Yields::Default;
        /// Period of the timer tick. 1ms corresponds to HZ = 1000.
        tick: Duration = ms(1), in SHORTEST..=LONGEST;
        /// If true, the ticks of the cpus are spread over half a period, as Linux did until 2.6.38. If false,
        /// all cpus tick at the same time.
        tick_skew: bool = true;
        /// Period in which each task runs once, as long as only a few tasks are runnable. 0s uses the
        /// kernel's own scaling: 20ms x (1 + log2 cpus), at most 200ms.
        latency: Duration = 0, in 0..=LONGEST;
        /// Shortest time slice. 0s uses the kernel's own scaling: 4ms x (1 + log2 cpus), at most 200ms.
        min_granularity: Duration = 0, in 0..=LONGEST;
        /// A woken task pre-empts the current one if its virtual runtime is smaller by more than this value.
        /// 0s uses the kernel's own scaling: 5ms x (1 + log2 cpus).
        wakeup_granularity: Duration = 0, in 0..=LONGEST;
        /// A woken task is placed up to one latency before the queue's minimum virtual runtime
        /// (FAIR_SLEEPERS).
        sleeper_credit: bool = true;
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
    }
}

/// Number of parameters.
const COUNT: usize = Parameters::TABLE.len();

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
const ROW_30: [Parameter; COUNT] = changed(
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
    parameters: &joined::<{ COUNT + LOADS }>(Parameters::TABLE, &LOADS_2_6_28),
    own: Kernel::linux(cfs, Form::Loads),
};

/// The entry of the release before.
pub(super) const LINUX_2_6_27: Entry = Entry {
    name: "linux-2.6.27",
    summary: "like linux-2.6.28, but a new task starts a whole period late and only the woken task is \
        preferred",
    source: "Linux 2.6.27, kernel/sched.c and kernel/sched_fair.c",
    example: "{ linux-2.6.27: { yield: posix } }",
    parameters: &joined::<{ COUNT + LOADS }>(&ROW_27, &LOADS_2_6_27),
    own: Kernel::linux(cfs, Form::Loads),
};

/// The entry of the release after the next.
pub(super) const LINUX_2_6_30: Entry = Entry {
    name: "linux-2.6.30",
    summary: "like linux-2.6.28, but a task that often wakes others pre-empts sooner (ADAPTIVE_GRAN)",
    source: "Linux 2.6.30, kernel/sched.c and kernel/sched_fair.c",
    example: "{ linux-2.6.30: { adaptive_gran: false } }",
    parameters: &joined::<{ COUNT + LOADS }>(&ROW_30, &LOADS_2_6_30),
    own: Kernel::linux(cfs, Form::Loads),
};

fn cfs(values: &Values, cpus: u32) -> OsBuilt {
    let values = Parameters::from(values);
    let boot = CfsParams::scaled(cpus);
    let set = |given: Duration, scaled: Span| match given.ns() {
        0 => scaled,
        ns => Span::from_ns(ns),
    };
    let (latency, least) =
        (set(values.latency, boot.latency), set(values.min_granularity, boot.min_granularity));
    // As sched_nr_latency_handler: recomputed only when one of the two is written.
    let written = values.latency.ns() != 0 || values.min_granularity.ns() != 0;
    let shared = latency.ns().div_ceil(least.ns().max(1)).clamp(1, u64::from(u32::MAX)) as u32;
    let discipline = Discipline::Cfs(CfsParams {
        latency,
        min_granularity: least,
        wakeup_granularity: set(values.wakeup_granularity, boot.wakeup_granularity),
        nr_latency: if written { shared } else { boot.nr_latency },
        sleeper_credit: values.sleeper_credit,
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
        yield_mode: if values.r#yield == Yields::Posix { YieldMode::Posix } else { YieldMode::Default },
    });
    OsBuilt { tick: values.tick, tick_skew: values.tick_skew, discipline }
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
