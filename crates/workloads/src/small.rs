//! Small workloads that isolate one mechanism: `barriers`, `critical-section` and `daemon`.

use notation::parameter::{Kind, Parameter, Values};
use sim_core::ids::{LockId, ProfileId};
use sim_core::program::{MemoryProfile, Op, Program};
use sim_core::time::{Span, Work};

use crate::registry::{Built, Context, Entry};
use crate::spmd::inline::spread;

const MS: u64 = 1_000_000;
/// Longest time of a parameter, half an hour: one compute operation.
const LONGEST: u64 = 1_800_000 * MS;

const fn time(name: &'static str, default: u64, min: u64, about: &'static str) -> Parameter {
    Parameter { name, kind: Kind::Duration, default, min, max: LONGEST, about }
}

const fn count(default: u64, about: &'static str) -> Parameter {
    Parameter { name: "count", kind: Kind::Count, default, min: 1, max: u32::MAX as u64, about }
}

const SPREAD: Parameter = Parameter {
    name: "spread",
    kind: Kind::Percent,
    default: 0,
    min: 0,
    max: 10_000,
    about: "Half-width of the uniform variation of the times.",
};

const BARRIER_TABLE: &[Parameter] = &[count(10_000, "Number of barriers.")];

/// Barriers back to back.
pub(crate) const BARRIERS: Entry = Entry {
    name: "barriers",
    summary: "barriers back to back, to measure the cost of one",
    about: "The run time divided by `count` is the latency of the runtime's barrier with that many tasks per core.",
    source: "the barrier microbenchmark of Iancu et al., IPDPS 2010, figure 1",
    example: "latency: { workload: { barriers: { count: 200 } }, runtime: upc, threads_per_core: 2 }",
    parameters: BARRIER_TABLE,
    build: |values, _| {
        let ops = vec![Op::Repeat(values.get("count") as u32), Op::Barrier, Op::End];
        Ok(Built::even(Program::new(ops, Vec::new())?))
    },
};

const CRITICAL_TABLE: &[Parameter] = &[
    count(1_000, "Number of times that each task enters the critical section."),
    time("outside", MS, 0, "Work of a task between two critical sections."),
    time("inside", 100_000, 1, "Work inside the critical section."),
    SPREAD,
];

/// A lock that all tasks take in turn.
pub(crate) const CRITICAL: Entry = Entry {
    name: "critical-section",
    summary: "tasks that compute and then take the same lock, one after the other",
    about: "A task that loses its cpu while it holds the lock makes all others wait. The workload shows the cost of \
        pre-emption inside a critical section.",
    source: "the lock-holder pre-emption problem (Ousterhout 1982; Zahorjan, Lazowska, Eager 1991)",
    example: "locked: { workload: { critical-section: { count: 50, inside: 20us } }, runtime: block, tasks: 8 }",
    parameters: CRITICAL_TABLE,
    build: critical,
};

fn critical(values: &Values, _context: &Context<'_>) -> Result<Built, String> {
    let compute = |name| Op::Compute {
        work: Work::from_span(Span::from_ns(values.get(name))),
        spread: spread(values.get("spread")),
        profile: ProfileId(0),
    };
    let ops = vec![
        Op::Repeat(values.get("count") as u32),
        compute("outside"),
        Op::Lock(LockId(0)),
        compute("inside"),
        Op::Unlock(LockId(0)),
        Op::End,
    ];
    Ok(Built::even(Program::new(ops, vec![MemoryProfile::NONE])?))
}

const DAEMON_TABLE: &[Parameter] = &[
    time("burst", 5 * MS, 1, "Work of one burst."),
    time("pause", 95 * MS, 1, "Sleep between two bursts."),
    SPREAD,
];

/// A background task that wakes up now and then.
pub(crate) const DAEMON: Entry = Entry {
    name: "daemon",
    summary: "sleeps and computes alternately, without end, in the background",
    about: "A daemon disturbs the tasks on its cpu. It disturbs programs most whose tasks must all arrive at a barrier \
        before any of them continues.",
    source: "operating-system noise (Petrini, Kerbyson, Pakin, SC 2003)",
    example: "code: { workload: { spmd: { work: 1s, intervals: 20 } } }\nnoise: { workload: { daemon: { burst: 2ms, pause: 18ms } }, cpus: [3] }",
    parameters: DAEMON_TABLE,
    build: daemon,
};

fn daemon(values: &Values, _context: &Context<'_>) -> Result<Built, String> {
    let spread = spread(values.get("spread"));
    let ops = vec![
        Op::Repeat(0),
        Op::Sleep { span: Span::from_ns(values.get("pause")), spread },
        Op::Compute {
            work: Work::from_span(Span::from_ns(values.get("burst"))),
            spread,
            profile: ProfileId(0),
        },
        Op::End,
    ];
    let program = Program::new(ops, vec![MemoryProfile::NONE])?;
    Ok(Built { background: true, ..Built::even(program) })
}

#[cfg(test)]
mod tests {
    use super::*;

    const CONTEXT: Context<'static> = Context { tasks: 4, runtime: "block", machine: "" };

    #[test]
    fn a_critical_section_is_entered_and_left() {
        let built = (CRITICAL.build)(&Values::defaults(CRITICAL_TABLE), &CONTEXT).unwrap();
        let place = |op| built.program.ops().iter().position(|o| *o == op).unwrap();
        assert!(place(Op::Lock(LockId(0))) < place(Op::Unlock(LockId(0))));
        assert_eq!((built.program.locks(), built.background), (1, false));
    }

    #[test]
    fn daemons_never_end_and_never_hold_up_a_run() {
        let built = (DAEMON.build)(&Values::defaults(DAEMON_TABLE), &CONTEXT).unwrap();
        assert_eq!(built.program.ops()[0], Op::Repeat(0));
        assert!(built.background);
    }
}
