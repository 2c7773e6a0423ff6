//! `linux-2.6.27`, `linux-2.6.28`, `linux-2.6.30`: the Completely Fair Scheduler of 2008 and 2009.

use notation::parameter::{Kind, Parameter, Values};
use sim_core::kernel_model::{CfsParams, CfsRelease, Discipline, YieldMode};
use sim_core::time::Span;

use super::{Entry, MS, SHORTEST, TICK_SKEW, flag, time};

const PARAMETERS: &[Parameter] = &[
    Parameter {
        name: "yield",
        kind: Kind::Choice(&["default", "posix"]),
        default: 0,
        min: 0,
        max: 1,
        about: "sched_yield: `default` updates the caller's virtual runtime and picks again (sched_compat_yield = 0); `posix` puts it behind all others (1)",
    },
    time("tick", MS, SHORTEST, "Timer tick; 1ms is HZ = 1000"),
    TICK_SKEW,
    time(
        "latency",
        0,
        0,
        "Period in which each of a few tasks runs once; 0s = as the kernel scales it, 20ms x (1 + log2 cpus), at most 200ms",
    ),
    time(
        "min_granularity",
        0,
        0,
        "Least slice; 0s = as the kernel scales it, 4ms x (1 + log2 cpus), at most 200ms",
    ),
    time(
        "wakeup_granularity",
        0,
        0,
        "Lead a woken task needs to pre-empt; 0s = as the kernel scales it, 5ms x (1 + log2 cpus)",
    ),
    flag("sleeper_credit", "A woken task is placed up to one latency early (FAIR_SLEEPERS)"),
    flag("start_debit", "A new task starts one slice late (START_DEBIT)"),
    flag("buddies", "Prefer the last woken task, then the one it pre-empted (NEXT_BUDDY, LAST_BUDDY)"),
];

/// The entry of the shelf.
pub(super) const LINUX_2_6_28: Entry = Entry {
    name: "linux-2.6.28",
    summary: "Completely Fair Scheduler of 2008, with both behaviours of sched_yield",
    source: "Linux 2.6.28, kernel/sched.c and kernel/sched_fair.c",
    about: "CFS. Every task carries a virtual runtime: its cpu time divided by its weight. The task with the smallest one runs, \
for a slice of latency x weight / load, beyond five tasks for the minimum granularity; who has used up its slice \
is pre-empted at the next timer tick. A woken task is placed up to one latency early and pre-empts if it leads \
by more than the wake-up granularity; a new one starts one slice late. On 16 cpus the latency is 20 ms x (1 + \
log2 16) = 100 ms: two computing tasks take turns of 50 ms, eight turns of 20 ms.\n\nWhat `sched_yield` does \
decides how waiting programs fare. With `default` the caller stays in its place, and as it has polled no longer \
than the others computed it is often picked again: a waiter beside a computing task burns its fair share. With \
`posix` it goes behind all others and looks once per slice of theirs. Use it for results of 2008 to 2010 and to \
compare both yields.",
    example: "{ linux-2.6.28: { yield: posix } }",
    parameters: PARAMETERS,
    make: |values, cpus| cfs(values, cpus, CfsRelease::V28),
};

/// The entry of the release before.
pub(super) const LINUX_2_6_27: Entry = Entry {
    name: "linux-2.6.27",
    summary: "as linux-2.6.28, but a new task starts a whole period late and only the woken task is preferred",
    source: "Linux 2.6.27, kernel/sched.c and kernel/sched_fair.c",
    about: "The release before: a new task starts a whole period late instead of one slice, the queue's minimum follows the \
waiting tasks only, and whoever was woken is preferred for one slice whatever its lag. Its balancer (LOAD) pulls \
inside a socket as soon as a cpu goes idle and moves 6 tasks against 4, which 2.6.28 leaves. The kernel of the \
Barcelona machine in the literature.",
    example: "{ linux-2.6.27: { yield: posix } }",
    parameters: PARAMETERS,
    make: |values, cpus| cfs(values, cpus, CfsRelease::V27),
};

/// The entry of the release after the next.
pub(super) const LINUX_2_6_30: Entry = Entry {
    name: "linux-2.6.30",
    summary: "as linux-2.6.28, but whoever wakes others often pre-empts sooner (ADAPTIVE_GRAN)",
    source: "Linux 2.6.30, kernel/sched.c and kernel/sched_fair.c",
    about: "Two releases on: the lead a woken task needs to pre-empt shrinks to nothing when it wakes others often \
(ADAPTIVE_GRAN), which helps programs that block at barriers; a slice that is used up ends a claim as buddy. Its \
balancer (LOAD) looks at all levels when a cpu goes idle. The kernel of the Nehalem machine in the literature.",
    example: "{ linux-2.6.30: { yield: default } }",
    parameters: PARAMETERS,
    make: |values, cpus| cfs(values, cpus, CfsRelease::V30),
};

fn cfs(values: &Values, cpus: u32, release: CfsRelease) -> Discipline {
    let boot = CfsParams::linux_2_6_28(cpus);
    let set = |name: &str, scaled: Span| match values.get(name) {
        0 => scaled,
        ns => Span::from_ns(ns),
    };
    let (latency, least) = (set("latency", boot.latency), set("min_granularity", boot.min_granularity));
    // As sched_nr_latency_handler: recomputed only when somebody writes one of the two.
    let written = values.get("latency") != 0 || values.get("min_granularity") != 0;
    let shared = latency.ns().div_ceil(least.ns().max(1)).clamp(1, u64::from(u32::MAX)) as u32;
    Discipline::Cfs(CfsParams {
        release,
        latency,
        min_granularity: least,
        wakeup_granularity: set("wakeup_granularity", boot.wakeup_granularity),
        nr_latency: if written { shared } else { boot.nr_latency },
        sleeper_credit: values.flag("sleeper_credit"),
        start_debit: values.flag("start_debit"),
        buddies: values.flag("buddies"),
        yield_mode: if values.choice("yield") == "posix" { YieldMode::Posix } else { YieldMode::Default },
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernels::{build, resolve};

    fn cfs_with(settings: &[(&str, u64)], cpus: u32) -> CfsParams {
        let entry = resolve("linux-2.6.28").unwrap();
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
            assert_eq!(cfs_with(&[], cpus), CfsParams::linux_2_6_28(cpus));
        }
    }

    #[test]
    fn overrides_are_literal() {
        let params = cfs_with(&[("latency", 60 * MS), ("yield", 1)], 16);
        assert_eq!(params.latency, Span::from_ms(60));
        assert_eq!(params.min_granularity, Span::from_ms(20));
        assert_eq!((params.nr_latency, params.yield_mode), (3, YieldMode::Posix));
    }
}
