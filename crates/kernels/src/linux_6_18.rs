//! `linux-6.18`: the kernel of today, earliest eligible virtual deadline first.

use notation::declare::Duration;
use notation::parameter::{Values, joined};
use notation::{choices, parameters};
use sim_core::os::{Discipline, EevdfParams, GroupShares};
use sim_core::time::Span;

use super::balance::Form;
use super::types::{TYPES, TYPES_6_18};
use super::{Entry, Kernel, LONGEST, OsBuilt, SHORTEST};

choices! {
    /// The words of `group_shares`.
    enum Shares { Averaged = "averaged", Queued = "queued" }
}

parameters! {
    /// Parameters of `linux-6.18`.
    struct Parameters {
        /// Length of a task's request for cpu time (base_slice_ns, 32 bits of ns), at least 1us. 0s uses the
        /// kernel's own scaling: 0.7ms x (1 + log2 of up to 8 cpus).
        slice: Duration = 0, in 0..=s(4);
        /// Period of the timer tick. 4ms corresponds to HZ = 250, as measured on a virtual machine with two
        /// cpus.
        tick: Duration = ms(4), in SHORTEST..=LONGEST;
        /// If true, the ticks of the cpus are spread over half a period, as Linux did until 2.6.38. If false,
        /// all cpus tick at the same time.
        tick_skew: bool = false;
        /// Each tick of each cpu is late by a random time up to this value, but by less than one tick. 0s
        /// puts all ticks exactly on the grid.
        tick_jitter: Duration = us(10), in 0..=LONGEST;
        /// A task that goes to sleep after it has received more than its share keeps competing until the
        /// scheduler would pick it (DELAY_DEQUEUE).
        delayed_dequeue: bool = true;
        /// A task that returns to a queue is placed as far behind or ahead of the others as it was when it
        /// left (PLACE_LAG).
        place_lag: bool = true;
        /// A picked task is protected from pre-emption for its whole slice instead of only 0.7ms
        /// (RUN_TO_PARITY).
        run_to_parity: bool = true;
        /// By what load the weight of a task group is divided among the cpus (calc_group_shares): averaged,
        /// with a half-life of 32 ms and with what sleeps (since 4.15), or queued, by what is queued at the
        /// instant.
        group_shares: Shares = Shares::Averaged;
    }
}

/// Its entry in the registry.
pub(super) const LINUX_6_18: Entry = Entry {
    name: "linux-6.18",
    summary: "Earliest eligible virtual deadline first (EEVDF, 2025): lag, delayed dequeue, a yield that \
        gives up the \
slice",
    source: "Linux 6.18, kernel/sched/fair.c; yield of commit 79104becf42b; the tick period and the \
        lateness of ticks \
are measured",
    example: "{ linux-6.18: { slice: 3ms, run_to_parity: false } }",
    parameters: &joined::<{ Parameters::TABLE.len() + TYPES }>(Parameters::TABLE, &TYPES_6_18),
    own: Kernel::linux(eevdf, Form::Types),
};

fn eevdf(values: &Values, cpus: u32) -> OsBuilt {
    let values = Parameters::from(values);
    let boot = EevdfParams::scaled(cpus);
    let slice = match values.slice.ns() {
        0 => boot.slice,
        ns => Span::from_ns(ns.max(SHORTEST)),
    };
    let tick = values.tick.ns();
    let discipline = Discipline::Eevdf(EevdfParams {
        slice,
        tick_jitter: Span::from_ns(values.tick_jitter.ns().min(tick - 1)),
        delayed_dequeue: values.delayed_dequeue,
        place_lag: values.place_lag,
        protected: if values.run_to_parity { slice } else { EevdfParams::SHORT_SLICE },
        lag_bound: (slice * 2).max(Span::from_ns(tick)),
        group_shares: match values.group_shares {
            Shares::Averaged => GroupShares::Averaged,
            Shares::Queued => GroupShares::Queued,
        },
    });
    OsBuilt { tick: values.tick, tick_skew: values.tick_skew, discipline }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{KERNELS, build};

    fn eevdf_with(settings: &[(&str, u64)], cpus: u32) -> EevdfParams {
        let entry = KERNELS.resolve("linux-6.18").unwrap();
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
        let params = eevdf_with(&[("slice", 3_000_000), ("run_to_parity", 0), ("tick_jitter", 9_000_000)], 2);
        assert_eq!((params.slice, params.lag_bound), (Span::from_ms(3), Span::from_ms(6)));
        assert_eq!(params.protected, Span::from_us(700));
        assert_eq!(params.tick_jitter, Span::from_ns(4_000_000 - 1));
    }
}
