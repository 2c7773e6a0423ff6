//! Upper bounds of a simulation, with their reasons: absurd input is refused before memory is.

use crate::time::Span;

/// Cpus of a machine: two powers above the million-core experiments; ids stay 32 bits wide.
pub const MAX_CPUS: u64 = 1 << 22;
/// Tasks of a run: 4 per cpu on the largest machine; the highest ids are reserved.
pub const MAX_TASKS: u64 = 1 << 24;
/// Nesting of loops in a program: counters live in a fixed record of the task.
pub const MAX_LOOP_DEPTH: usize = 4;
/// Operations of a program.
pub const MAX_OPS: usize = 1 << 14;
/// Memory profiles of all applications of a run together, one more for each: a task has room for 16 bits.
pub const MAX_PROFILES: usize = 1 << 16;
/// Jobs of a pool.
pub const MAX_JOBS: usize = 1 << 20;
/// Orders between two jobs of a pool.
pub const MAX_JOB_EDGES: usize = 1 << 22;
/// Applications of a run.
pub const MAX_APPS: usize = 1 << 12;
/// Most task groups of a run: each cpu has a record of each.
pub const MAX_GROUPS: usize = 1_000;
/// Ways to poll of all applications of a run: a task has the number of one of them in a byte.
pub const MAX_LOOKS: usize = 254;

/// Most runtimes of single operations of an application.
pub const MAX_OWN_RUNTIMES: usize = 64;
/// The longest poll before a yield: the end of a time slice does not interrupt it.
pub const MAX_POLL: Span = Span::from_ms(10);
/// Decisions of one instant per cpu before the run ends as a livelock: far above what any policy needs.
pub const MAX_ROUNDS_PER_INSTANT: u32 = 10_000;

/// Timers that policies may arm for the present instant before the run ends as a livelock, on this many cpus.
/// Beyond the rounds of [`MAX_ROUNDS_PER_INSTANT`] a policy may wake each cpu a few times at one instant; one
/// that arms a timer each time one fires exceeds any number.
#[must_use]
pub const fn max_timers_per_instant(cpus: u32) -> u64 {
    MAX_ROUNDS_PER_INSTANT as u64 + 16 * cpus as u64
}
/// Most commands of a run ([`crate::program::AppSpec::commands`]).
pub const MAX_COMMANDS: usize = 1 << 20;
