//! Small workloads that isolate one mechanism: `barriers`, `critical-section` and `daemon`.

use notation::declare::amount::s;
use notation::declare::{Duration, Percent};
use notation::parameter::Values;
use notation::parameters;
use sim_core::ids::{LockId, ProfileId};
use sim_core::program::{MemoryProfile, Op, Program};
use sim_core::time::{Span, Work};

use crate::entry::{Built, Context, Entry};
use crate::locks::{Kind, Polls, rules};
use crate::profile::half_width;

/// Longest time of a parameter, half an hour: one compute operation.
const LONGEST: u64 = s(1_800);

parameters! {
    /// Parameters of `barriers`.
    struct Barriers {
        /// Number of barriers.
        count: u32 = 10_000, in 1..=u32::MAX as u64;
    }
}

/// Barriers back to back.
pub(crate) const BARRIERS: Entry = Entry {
    name: "barriers",
    summary: "barriers back to back, to measure the cost of one",
    source: "the barrier microbenchmark of Iancu et al., IPDPS 2010, figure 1",
    example: "latency: { workload: { barriers: { count: 200 } }, runtime: upc, threads_per_core: 2 }",
    parameters: Barriers::TABLE,
    own: |values, _| {
        let ops = vec![Op::Repeat(Barriers::from(values).count), Op::Barrier, Op::End];
        Ok(Built::even(Program::new(ops, Vec::new())?))
    },
};

parameters! {
    /// Parameters of `critical-section`.
    struct Critical {
        /// Number of times that each task enters the critical section.
        count: u32 = 1_000, in 1..=u32::MAX as u64;
        /// Work of a task between two critical sections.
        outside: Duration = ms(1), in 0..=LONGEST;
        /// Work inside the critical section.
        inside: Duration = us(100), in 1..=LONGEST;
        /// Half-width of the uniform variation of the times.
        spread: Percent = 0, in 0..=percent(100);
        /// The kind of lock: who gets it when it is given back, and how the others wait. `mutex` is
        /// pthread_mutex_lock. It does not depend on the runtime, whose wait mode concerns barriers and
        /// messages.
        lock: Kind = Kind::Mutex;
        /// Polls before a waiter of an `adaptive` lock sleeps (glibc.pthread.mutex_spin_count), each `poll`
        /// of the machine.
        mutex_spin_count: u64 = 100, in 0..=32_767;
        /// Polls before a waiter of a `libgomp` lock sleeps (GOMP_SPINCOUNT: 300000 by default, 30000000000
        /// with OMP_WAIT_POLICY=active, 0 with passive).
        spin_count: u64 = 300_000, in 0..=1_000_000_000_000;
        /// Largest number of polls of a `libgomp` lock when there are more threads than cpus (100 by default,
        /// 1000 with OMP_WAIT_POLICY=active).
        throttled_spin_count: u64 = 100, in 0..=1_000_000_000_000;
    }
}

/// A lock that all tasks take, one at a time.
pub(crate) const CRITICAL: Entry = Entry {
    name: "critical-section",
    summary: "tasks that compute and then take the same lock, one at a time",
    source: "the lock-holder pre-emption problem (Ousterhout 1982; Zahorjan, Lazowska, Eager 1991)",
    example: "locked: { workload: { critical-section: { count: 50, inside: 20us, lock: ticket } }, tasks: 8 \
        }",
    parameters: Critical::TABLE,
    own: critical,
};

fn critical(values: &Values, _context: &Context<'_>) -> Result<Built, String> {
    let Critical { count, outside, inside, spread, lock, .. } = values.into();
    let compute = |time: Duration| Op::Compute {
        work: Work::from_span(Span::from_ns(time.ns())),
        spread: half_width(spread.hundredths()),
        profile: ProfileId(0),
    };
    let ops = vec![
        Op::Repeat(count),
        compute(outside),
        Op::Lock(LockId(0)),
        compute(inside),
        Op::Unlock(LockId(0)),
        Op::End,
    ];
    let program = Program::new(ops, vec![MemoryProfile::NONE])?;
    let given = Critical::from(values);
    let libgomp = (given.spin_count, given.throttled_spin_count);
    let polls = Polls { adaptive: given.mutex_spin_count, libgomp };
    Ok(Built { own_work: true, lock: rules(lock, polls), ..Built::even(program) })
}

parameters! {
    /// Parameters of `daemon`.
    struct Daemon {
        /// Work of one burst.
        burst: Duration = ms(5), in 1..=LONGEST;
        /// Sleep between two bursts.
        pause: Duration = ms(95), in 1..=LONGEST;
        /// Half-width of the uniform variation of the times.
        spread: Percent = 0, in 0..=percent(100);
    }
}

/// A background task that wakes up now and then.
pub(crate) const DAEMON: Entry = Entry {
    name: "daemon",
    summary: "sleeps and computes alternately, without end, in the background",
    source: "operating-system noise (Petrini, Kerbyson, Pakin, SC 2003)",
    example: "code: { workload: { spmd: { work: 1s, intervals: 20 } } }\nnoise: { workload: { daemon: { \
        burst: 2ms, pause: 18ms } }, cpus: [3] }",
    parameters: Daemon::TABLE,
    own: daemon,
};

fn daemon(values: &Values, _context: &Context<'_>) -> Result<Built, String> {
    let Daemon { burst, pause, spread } = values.into();
    let spread = half_width(spread.hundredths());
    let ops = vec![
        Op::Repeat(0),
        Op::Sleep { span: Span::from_ns(pause.ns()), spread },
        Op::Compute { work: Work::from_span(Span::from_ns(burst.ns())), spread, profile: ProfileId(0) },
        Op::End,
    ];
    let program = Program::new(ops, vec![MemoryProfile::NONE])?;
    Ok(Built { background: true, requests: true, own_work: true, ..Built::even(program) })
}

#[cfg(test)]
mod tests {
    use super::*;

    const CONTEXT: Context<'static> = Context { tasks: 4, runtime: "block", machine: "" };

    #[test]
    fn a_critical_section_is_entered_and_left() {
        let built = (CRITICAL.own)(&Values::defaults(Critical::TABLE), &CONTEXT).unwrap();
        let place = |op| built.program.ops().iter().position(|o| *o == op).unwrap();
        assert!(place(Op::Lock(LockId(0))) < place(Op::Unlock(LockId(0))));
        assert_eq!((built.program.locks(), built.background), (1, false));
    }

    #[test]
    fn daemons_never_end_and_never_hold_up_a_run() {
        let built = (DAEMON.own)(&Values::defaults(Daemon::TABLE), &CONTEXT).unwrap();
        assert_eq!(built.program.ops()[0], Op::Repeat(0));
        assert!(built.background);
    }
}
