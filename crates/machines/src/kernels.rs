//! The shelf of kernels: what a scenario's `kernel:` may name, with the parameters that may be overridden.

use notation::parameter::{Kind, Parameter, Values};
use sim_core::kernel_model::{CfsParams, Discipline, KernelModel, YieldMode};
use sim_core::time::Span;

use notation::suggest::unknown;

/// A kernel of the shelf.
#[derive(Clone, Copy, Debug)]
pub struct Entry {
    /// Its name in scenarios.
    pub name: &'static str,
    /// One line.
    pub summary: &'static str,
    /// Where its rules come from.
    pub source: &'static str,
    /// Its parameters.
    pub parameters: &'static [Parameter],
    make: fn(&Values, u32) -> Discipline,
}

const MS: u64 = 1_000_000;
/// Shortest tick and quantum the simulator accepts, 1 us.
const SHORTEST: u64 = 1_000;
/// Longest of the times below, one hour.
const LONGEST: u64 = 3_600_000 * MS;

const fn time(name: &'static str, default: u64, min: u64, about: &'static str) -> Parameter {
    Parameter { name, kind: Kind::Duration, default, min, max: LONGEST, about }
}

const fn flag(name: &'static str, about: &'static str) -> Parameter {
    Parameter { name, kind: Kind::Flag, default: 1, min: 0, max: 1, about }
}

const TICK_SKEW: Parameter = flag(
    "tick_skew",
    "Ticks of the cpus are spread over half a period, as Linux did until 2.6.38, instead of all on one grid",
);

const LINUX_2_6_28: &[Parameter] = &[
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

const ROUND_ROBIN: &[Parameter] = &[
    time("quantum", 100 * MS, SHORTEST, "Time each task runs in turn; 100ms is Linux's SCHED_RR"),
    time("tick", MS, SHORTEST, "Timer tick"),
    TICK_SKEW,
];

const ENTRIES: &[Entry] = &[
    Entry {
        name: "linux-2.6.28",
        summary: "Completely Fair Scheduler of 2008, with both behaviours of sched_yield",
        source: "Linux 2.6.28, kernel/sched.c and kernel/sched_fair.c",
        parameters: LINUX_2_6_28,
        make: cfs,
    },
    Entry {
        name: "round-robin",
        summary: "each task runs for one quantum in turn; a yield goes to the end of the queue",
        source: "POSIX.1 SCHED_RR; quantum of Linux 2.6.28, kernel/sched_rt.c",
        parameters: ROUND_ROBIN,
        make: round_robin,
    },
];

/// The kernels of the shelf.
#[must_use]
pub const fn entries() -> &'static [Entry] {
    ENTRIES
}

/// Their names.
pub fn names() -> impl Iterator<Item = &'static str> {
    ENTRIES.iter().map(|entry| entry.name)
}

/// The kernel of this name.
///
/// # Errors
/// A sentence with the valid names and the nearest one.
pub fn resolve(name: &str) -> Result<&'static Entry, String> {
    let found = ENTRIES.iter().find(|entry| entry.name == name);
    found.ok_or_else(|| unknown("kernel", name, &names().collect::<Vec<_>>()))
}

/// The kernel with these values of its parameters, booted on `cpus` cpus.
#[must_use]
pub fn build(entry: &Entry, values: &Values, cpus: u32) -> KernelModel {
    KernelModel {
        name: entry.name.to_owned(),
        tick: Span::from_ns(values.get("tick")),
        tick_skew: values.flag("tick_skew"),
        discipline: (entry.make)(values, cpus),
    }
}

fn cfs(values: &Values, cpus: u32) -> Discipline {
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

fn round_robin(values: &Values, _cpus: u32) -> Discipline {
    Discipline::RoundRobin { quantum: Span::from_ns(values.get("quantum")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cfs_with(settings: &[(&str, u64)], cpus: u32) -> CfsParams {
        let entry = resolve("linux-2.6.28").unwrap();
        let mut values = Values::defaults(entry.parameters);
        for (name, value) in settings {
            values.set(name, *value).unwrap();
        }
        match build(entry, &values, cpus).discipline {
            Discipline::Cfs(params) => params,
            Discipline::RoundRobin { .. } => panic!("not CFS"),
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

    #[test]
    fn every_kernel_conforms_and_every_parameter_counts() {
        for entry in entries() {
            let plain = Values::defaults(entry.parameters);
            let model = build(entry, &plain, 16);
            assert_eq!(model.name, entry.name);
            assert!(model.tick >= Span::from_us(1));
            for p in entry.parameters {
                assert!(p.min <= p.default && p.default <= p.max && !p.about.is_empty(), "{}", p.name);
                let mut values = plain.clone();
                let other = if p.default < p.max { p.default + 1 } else { p.default - 1 };
                values.set(p.name, other).unwrap();
                assert_ne!(build(entry, &values, 16), model, "{}.{} has no effect", entry.name, p.name);
            }
        }
    }

    #[test]
    fn unknown_kernels_get_a_hint() {
        assert!(resolve("linux-2.6.82").unwrap_err().contains("did you mean `linux-2.6.28`?"));
        assert!(resolve("round-robin").is_ok());
    }
}
