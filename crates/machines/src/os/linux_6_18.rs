//! `linux-6.18`: the kernel of today, earliest eligible virtual deadline first.

use notation::parameter::{Kind, Parameter, Values};
use sim_core::os::{Discipline, EevdfParams};
use sim_core::time::Span;

use super::{Entry, LONGEST, MS, SHORTEST, TICK_SKEW, flag, linux, time};

const PARAMETERS: &[Parameter] = &[
    time(
        "slice",
        0,
        0,
        "Length of a task's request for cpu time (base_slice_ns), at least 1us. 0s uses the kernel's own scaling: 0.7ms \
            x (1 + log2 of up to 8 cpus).",
    ),
    time(
        "tick",
        4 * MS,
        SHORTEST,
        "Period of the timer tick. 4ms corresponds to HZ = 250, as measured on a virtual machine with two cpus.",
    ),
    Parameter { default: 0, ..TICK_SKEW },
    Parameter {
        name: "tick_jitter",
        kind: Kind::Duration,
        default: MS / 100,
        min: 0,
        max: LONGEST,
        about: "Each tick of each cpu is late by a random time up to this value, but by less than one tick. 0s puts all \
            ticks exactly on the grid.",
    },
    flag(
        "delayed_dequeue",
        "A task that goes to sleep after it has received more than its share keeps competing until the scheduler would \
            pick it (DELAY_DEQUEUE).",
    ),
    flag(
        "place_lag",
        "A task that returns to a queue is placed as far behind or ahead of the others as it was when it left \
            (PLACE_LAG).",
    ),
    flag(
        "run_to_parity",
        "A picked task is protected from pre-emption for its whole slice instead of only 0.7ms (RUN_TO_PARITY).",
    ),
];

/// The entry of the shelf.
pub(super) const LINUX_6_18: Entry = Entry {
    name: "linux-6.18",
    summary: "Earliest eligible virtual deadline first (EEVDF, 2025): lag, delayed dequeue, a yield that gives up the \
slice",
    source: "Linux 6.18, kernel/sched/fair.c; yield of commit 79104becf42b; the tick period and the lateness of ticks \
are measured",
    about: "EEVDF lets a task run while it is eligible, that is, while it has received no more than its share: its \
virtual runtime v is at most V, the weighted mean over the queue. The scheduler picks the eligible task with the \
earliest virtual deadline. The deadline is one slice after the start of the task's request. The slice is 0.7 ms x (1 + \
log2 of up to 8 cpus), which is 2.8 ms on 8 or more cpus. The tick of 4 ms is longer than the slice, so computing tasks \
run for one tick at a time. A task that goes to sleep ahead of its share stays in the queue for a while. A task that \
returns is placed as far from V as it was when it left.\n\nA yield gives up the rest of the slice (v = deadline). A \
waiter that yields next to a computing task therefore polls about once per slice and costs that task 0.1 %. A waiter \
that spins without yielding holds its core until the next tick. Use this OS model for present-day machines. Its \
parameters can switch off the rules separately.",
    example: "{ linux-6.18: { slice: 3ms, run_to_parity: false } }",
    parameters: PARAMETERS,
    balancer: linux("linux-6.18"),
    make: eevdf,
};

fn eevdf(values: &Values, cpus: u32) -> Discipline {
    let boot = EevdfParams::scaled(cpus);
    let slice = match values.get("slice") {
        0 => boot.slice,
        ns => Span::from_ns(ns.max(SHORTEST)),
    };
    let tick = values.get("tick");
    Discipline::Eevdf(EevdfParams {
        slice,
        tick_jitter: Span::from_ns(values.get("tick_jitter").min(tick - 1)),
        delayed_dequeue: values.flag("delayed_dequeue"),
        place_lag: values.flag("place_lag"),
        protected: if values.flag("run_to_parity") { slice } else { EevdfParams::SHORT_SLICE },
        lag_bound: (slice * 2).max(Span::from_ns(tick)),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::os::{build, resolve};

    fn eevdf_with(settings: &[(&str, u64)], cpus: u32) -> EevdfParams {
        let entry = resolve("linux-6.18").unwrap();
        let mut values = Values::defaults(entry.parameters);
        for (name, value) in settings {
            values.set(name, *value).unwrap();
        }
        match build(entry, &values, cpus).discipline {
            Discipline::Eevdf(params) => params,
            _ => panic!("not EEVDF"),
        }
    }

    #[test]
    fn defaults_are_the_kernels_own() {
        for cpus in [1, 2, 16, 144] {
            assert_eq!(eevdf_with(&[], cpus), EevdfParams::scaled(cpus));
        }
    }

    #[test]
    fn overrides_are_literal_and_ticks_stay_apart() {
        let params = eevdf_with(&[("slice", 3 * MS), ("run_to_parity", 0), ("tick_jitter", 9 * MS)], 2);
        assert_eq!((params.slice, params.lag_bound), (Span::from_ms(3), Span::from_ms(6)));
        assert_eq!(params.protected, Span::from_us(700));
        assert_eq!(params.tick_jitter, Span::from_ns(4 * MS - 1));
    }
}
