//! `linux-2.6.27`, `linux-2.6.28`, `linux-2.6.30`: the Completely Fair Scheduler of 2008 and 2009.

use notation::parameter::{Kind, Parameter, Values};
use sim_core::os::{CfsParams, CfsRelease, Discipline, YieldMode};
use sim_core::time::Span;

use super::{Entry, MS, SHORTEST, TICK_SKEW, flag, linux, time};

const PARAMETERS: &[Parameter] = &[
    Parameter {
        name: "yield",
        kind: Kind::Choice(&["default", "posix"]),
        default: 0,
        min: 0,
        max: 1,
        about: "Effect of sched_yield. `default` updates the caller's virtual runtime and picks the next task again \
            (sched_compat_yield = 0). `posix` puts the caller behind all other tasks of its queue (sched_compat_yield = \
            1).",
    },
    time("tick", MS, SHORTEST, "Period of the timer tick. 1ms corresponds to HZ = 1000."),
    TICK_SKEW,
    time(
        "latency",
        0,
        0,
        "Period in which each task runs once, as long as only a few tasks are runnable. 0s uses the kernel's own \
            scaling: 20ms x (1 + log2 cpus), at most 200ms.",
    ),
    time(
        "min_granularity",
        0,
        0,
        "Shortest time slice. 0s uses the kernel's own scaling: 4ms x (1 + log2 cpus), at most 200ms.",
    ),
    time(
        "wakeup_granularity",
        0,
        0,
        "A woken task pre-empts the current one if its virtual runtime is smaller by more than this value. 0s uses the \
            kernel's own scaling: 5ms x (1 + log2 cpus).",
    ),
    flag(
        "sleeper_credit",
        "A woken task is placed up to one latency before the queue's minimum virtual runtime (FAIR_SLEEPERS).",
    ),
    flag(
        "start_debit",
        "A new task starts one time slice (in 2.6.27 one period) behind the queue's minimum virtual runtime \
            (START_DEBIT).",
    ),
    flag(
        "buddies",
        "The scheduler prefers the last woken task, then the task that it pre-empted (NEXT_BUDDY, LAST_BUDDY). 2.6.27 \
            prefers the woken task only.",
    ),
];

/// The entry of the shelf.
pub(super) const LINUX_2_6_28: Entry = Entry {
    name: "linux-2.6.28",
    summary: "Completely Fair Scheduler (CFS) of 2008, with both behaviours of sched_yield",
    source: "Linux 2.6.28, kernel/sched.c and kernel/sched_fair.c",
    about: "CFS gives every task a virtual runtime: its cpu time divided by its weight. The task with the smallest \
virtual runtime runs next. Its time slice is latency x weight / load, where load is the sum of all weights. With more \
than five tasks the slice is the minimum granularity instead. A task that has used up its slice is pre-empted at the \
next timer tick. A woken task is placed up to one latency early. It pre-empts the current task if its virtual runtime is \
smaller by more than the wake-up granularity. A new task starts one slice late. On 16 cpus the latency is 20 ms x (1 + \
log2 16) = 100 ms, so two computing tasks alternate in slices of 50 ms, and eight tasks in slices of 20 ms.\n\nThe \
behaviour of `sched_yield` decides how well waiting programs perform. With `default` the caller keeps its place in the \
order of virtual runtimes. It has polled no longer than the other tasks have computed, so the scheduler often picks it \
again. A waiter next to a computing task therefore spends its whole fair share on polling. With `posix` the caller goes \
behind all other tasks and polls once per time slice of the others. Use this OS model for results of 2008 to 2010 and to \
compare the two behaviours.",
    example: "{ linux-2.6.28: { yield: posix } }",
    parameters: PARAMETERS,
    balancer: linux("linux-2.6.28"),
    make: |values, cpus| cfs(values, cpus, CfsRelease::V28),
};

/// The entry of the release before.
pub(super) const LINUX_2_6_27: Entry = Entry {
    name: "linux-2.6.27",
    summary: "like linux-2.6.28, but a new task starts a whole period late and only the woken task is preferred",
    source: "Linux 2.6.27, kernel/sched.c and kernel/sched_fair.c",
    about: "This is the release before 2.6.28. A new task starts a whole period late instead of one slice. The queue's \
minimum virtual runtime follows the waiting tasks only, not the running one. A woken task is preferred for one slice, \
whatever its lag. The balancer (LOAD) of this release pulls a task inside a socket as soon as a cpu goes idle. It also \
moves a task from a socket with 6 tasks to one with 4, which 2.6.28 does not. The published experiments on the Barcelona \
machine ran under this kernel.",
    example: "{ linux-2.6.27: { yield: posix } }",
    parameters: PARAMETERS,
    balancer: linux("linux-2.6.27"),
    make: |values, cpus| cfs(values, cpus, CfsRelease::V27),
};

/// The entry of the release after the next.
pub(super) const LINUX_2_6_30: Entry = Entry {
    name: "linux-2.6.30",
    summary: "like linux-2.6.28, but a task that often wakes others pre-empts sooner (ADAPTIVE_GRAN)",
    source: "Linux 2.6.30, kernel/sched.c and kernel/sched_fair.c",
    about: "This release came two releases after 2.6.28. A woken task that often wakes others needs a smaller advantage \
in virtual runtime to pre-empt, down to none at all (ADAPTIVE_GRAN). This helps programs that block at barriers. A task \
that has used up its slice is no longer preferred as a buddy. The balancer (LOAD) of this release checks all levels when \
a cpu goes idle. The published experiments on the Nehalem machine ran under this kernel.",
    example: "{ linux-2.6.30: { yield: default } }",
    parameters: PARAMETERS,
    balancer: linux("linux-2.6.30"),
    make: |values, cpus| cfs(values, cpus, CfsRelease::V30),
};

fn cfs(values: &Values, cpus: u32, release: CfsRelease) -> Discipline {
    let boot = CfsParams::scaled(cpus);
    let set = |name: &str, scaled: Span| match values.get(name) {
        0 => scaled,
        ns => Span::from_ns(ns),
    };
    let (latency, least) = (set("latency", boot.latency), set("min_granularity", boot.min_granularity));
    // As sched_nr_latency_handler: recomputed only when one of the two is written.
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
    use crate::os::{build, resolve};

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
            assert_eq!(cfs_with(&[], cpus), CfsParams::scaled(cpus));
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
