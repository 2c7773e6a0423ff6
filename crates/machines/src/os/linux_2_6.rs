//! `linux-2.6.27`, `linux-2.6.28`, `linux-2.6.30`: the Completely Fair Scheduler of 2008 and 2009.

use notation::declare::Duration;
use notation::parameter::Values;
use notation::{choices, parameters};
use sim_core::os::{CfsParams, CfsRelease, Discipline, YieldMode};
use sim_core::time::Span;

use super::{Booted, Entry, Kernel, LONGEST, SHORTEST, linux};

choices! {
    /// The words of `yield`.
    enum Yields { Default = "default", Posix = "posix" }
}

parameters! {
    /// Parameters of `linux-2.6.28`.
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
        /// A new task starts one time slice (in 2.6.27 one period) behind the queue's minimum virtual runtime
        /// (START_DEBIT).
        start_debit: bool = true;
        /// The scheduler prefers the last woken task, then the task that it pre-empted (NEXT_BUDDY,
        /// LAST_BUDDY). 2.6.27 prefers the woken task only.
        buddies: bool = true;
    }
}

/// The entry of the shelf.
pub(super) const LINUX_2_6_28: Entry = Entry {
    name: "linux-2.6.28",
    summary: "Completely Fair Scheduler (CFS) of 2008, with both behaviours of sched_yield",
    source: "Linux 2.6.28, kernel/sched.c and kernel/sched_fair.c",
    example: "{ linux-2.6.28: { yield: posix } }",
    parameters: Parameters::TABLE,
    own: Kernel { balancer: linux("linux-2.6.28"), make: |values, cpus| cfs(values, cpus, CfsRelease::V28) },
};

/// The entry of the release before.
pub(super) const LINUX_2_6_27: Entry = Entry {
    name: "linux-2.6.27",
    summary: "like linux-2.6.28, but a new task starts a whole period late and only the woken task is \
        preferred",
    source: "Linux 2.6.27, kernel/sched.c and kernel/sched_fair.c",
    example: "{ linux-2.6.27: { yield: posix } }",
    parameters: Parameters::TABLE,
    own: Kernel { balancer: linux("linux-2.6.27"), make: |values, cpus| cfs(values, cpus, CfsRelease::V27) },
};

/// The entry of the release after the next.
pub(super) const LINUX_2_6_30: Entry = Entry {
    name: "linux-2.6.30",
    summary: "like linux-2.6.28, but a task that often wakes others pre-empts sooner (ADAPTIVE_GRAN)",
    source: "Linux 2.6.30, kernel/sched.c and kernel/sched_fair.c",
    example: "{ linux-2.6.30: { yield: default } }",
    parameters: Parameters::TABLE,
    own: Kernel { balancer: linux("linux-2.6.30"), make: |values, cpus| cfs(values, cpus, CfsRelease::V30) },
};

fn cfs(values: &Values, cpus: u32, release: CfsRelease) -> Booted {
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
        release,
        latency,
        min_granularity: least,
        wakeup_granularity: set(values.wakeup_granularity, boot.wakeup_granularity),
        nr_latency: if written { shared } else { boot.nr_latency },
        sleeper_credit: values.sleeper_credit,
        start_debit: values.start_debit,
        buddies: values.buddies,
        yield_mode: if values.r#yield == Yields::Posix { YieldMode::Posix } else { YieldMode::Default },
    });
    Booted { tick: values.tick, tick_skew: values.tick_skew, discipline }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::os::{KERNELS, build};

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
