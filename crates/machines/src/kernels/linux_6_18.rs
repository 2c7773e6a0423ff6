//! `linux-6.18`: the kernel of today, earliest eligible virtual deadline first.

use notation::parameter::{Kind, Parameter, Values};
use sim_core::kernel_model::{Discipline, EevdfParams};
use sim_core::time::Span;

use super::{Entry, LONGEST, MS, SHORTEST, TICK_SKEW, flag, time};

const PARAMETERS: &[Parameter] = &[
    time(
        "slice",
        0,
        0,
        "What a task asks for at a time (base_slice_ns), at least 1us; 0s = as the kernel scales it, 0.7ms x (1 + log2 of up to 8 cpus)",
    ),
    time("tick", 4 * MS, SHORTEST, "Timer tick; 4ms is HZ = 250, measured on a virtual machine of two cpus"),
    Parameter { default: 0, ..TICK_SKEW },
    Parameter {
        name: "tick_jitter",
        kind: Kind::Duration,
        default: MS / 100,
        min: 0,
        max: LONGEST,
        about: "Each tick of each cpu is late by a random time up to this, less than the tick; 0s = exactly on the grid",
    },
    flag(
        "delayed_dequeue",
        "A task that sleeps ahead of its share competes on until it would be picked (DELAY_DEQUEUE)",
    ),
    flag("place_lag", "A task comes back as far behind or ahead of the others as it left (PLACE_LAG)"),
    flag("run_to_parity", "A picked task is protected for its slice, not for 0.7ms only (RUN_TO_PARITY)"),
];

/// The entry of the shelf.
pub(super) const LINUX_6_18: Entry = Entry {
    name: "linux-6.18",
    summary: "Earliest eligible virtual deadline first (2025): lag, delayed dequeue, a yield that forfeits the slice",
    source: "Linux 6.18, kernel/sched/fair.c; yield of commit 79104becf42b; tick and its lateness measured",
    about: "EEVDF. A task may run while it has had no more than its share (virtual runtime v at most the queue's weighted mean V); \
among those the one with the earliest virtual deadline, one slice after its request began, is picked. The slice \
is 0.7 ms x (1 + log2 of up to 8 cpus), 2.8 ms from 8 cpus on; the tick of 4 ms is longer, so the tick is the \
quantum of computing tasks. Who sleeps ahead of its share stays in the queue for a while; who comes back stands \
as far from V as it left.\n\nA yield gives up the rest of the slice (v = deadline), so a waiter that yields \
beside a computing task polls about once per slice and costs it 0.1 %; a waiter that spins without yielding \
holds its core to the next tick. Use it for today's machines; the rules can be switched off one by one.",
    example: "{ linux-6.18: { slice: 3ms, run_to_parity: false } }",
    parameters: PARAMETERS,
    make: eevdf,
};

fn eevdf(values: &Values, cpus: u32) -> Discipline {
    let boot = EevdfParams::linux_6_18(cpus);
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
    use crate::kernels::{build, resolve};

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
            assert_eq!(eevdf_with(&[], cpus), EevdfParams::linux_6_18(cpus));
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
