//! The registry of parallel runtimes: how the tasks of an application come up, how they wait and which
//! barrier they use.

mod messages;
mod presets;
mod table;

use notation::declare::Duration;
use notation::parameter::Values;
use notation::registry::{self, Registry};
use sim_core::program::{Forks, Runtime, StartUp, Touch};
use sim_core::time::Span;
use sim_core::wait::{BarrierKind, Polling, PollsPerYield, WaitMode, YieldCycle};

pub use messages::{Algorithms, MessageRules};
use presets::ENTRIES;
use table::{Barrier, Creator, Library, Parameters, Phase, Slots, Touching, Wait, Yielding};

/// A runtime; its own is the programming model whose codes it runs: `upc`, `mpi` or `openmp`.
pub type Entry = registry::Entry<&'static str>;

/// The runtimes.
pub const RUNTIMES: Registry<&str> =
    Registry { noun: "runtime", entries: ENTRIES, text: include_str!("runtimes.md") };

/// The two runtimes of a program of processes with threads: the library of the processes, and the runtime of
/// the threads of each.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Role {
    /// Messages and barriers among processes.
    Mpi,
    /// Barriers and locks of the threads of a process.
    OpenMp,
}

impl Role {
    /// Both.
    pub const ALL: [Self; 2] = [Self::Mpi, Self::OpenMp];

    /// Its name in scenarios, which is that of the programming model.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Mpi => "mpi",
            Self::OpenMp => "openmp",
        }
    }

    /// The runtimes that can have it: those of the model, and plain ones, which are of no model: nothing in
    /// them brings tasks together before the program.
    pub fn entries(self) -> impl Iterator<Item = &'static Entry> {
        let plain = |entry: &Entry| {
            entry.parameters.iter().any(|p| p.name == Parameters::start_barrier.name && p.default == 0)
        };
        RUNTIMES.entries.iter().filter(move |entry| entry.own == self.name() || plain(entry))
    }
}

/// Whether threads of a process can wait under this runtime alone: under any but the libraries of MPI, which
/// have no barriers of threads. `mpi` is no library but what is common to them.
#[must_use]
pub fn serves_threads(entry: &Entry) -> bool {
    entry.own != Role::Mpi.name() || entry.name == entry.own
}

/// Least number of processes that meet at a linear barrier (coll_tuned_decision_fixed.c,
/// `ompi_coll_tuned_barrier_intra_dec_fixed`, since 4.1).
const LINEAR_FROM: u32 = 4;

/// What a runtime can count when it starts. A copy of an application is an application of its own: a library
/// knows neither other processes nor other jobs of the machine.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Counts {
    /// Threads of one process.
    pub threads: u32,
    /// Processes of the application (ranks of an MPI job), all on this node.
    pub processes: u32,
    /// Cpus that the application may use: the affinity mask of each of its processes as they start.
    pub cpus: u32,
    /// Cores with such a cpu.
    pub cores: u32,
}

impl Counts {
    /// A cpu and a core for each task.
    pub const ONE: Self = Self { threads: 1, processes: 1, cpus: 1, cores: 1 };

    /// A process has more threads than cpus that it may use.
    #[must_use]
    pub const fn threads_oversubscribed(&self) -> bool {
        self.threads > self.cpus
    }
}

/// The runtime with these values of its parameters, for an application that has a core for each of its tasks.
#[must_use]
pub fn build(entry: &Entry, values: &Values) -> Runtime {
    build_for(entry, values, Counts::ONE)
}

/// The runtime with these values of its parameters, for an application of this size.
#[must_use]
pub fn build_for(entry: &Entry, values: &Values, counts: Counts) -> Runtime {
    let values = Parameters::from(values);
    let oversubscribed = oversubscribed(&values, counts);
    let startup = StartUp {
        forks: match values.startup {
            Creator::Launcher => Forks::Launcher,
            Creator::Master => Forks::Master,
            Creator::Together => Forks::Together,
        },
        barrier: values.start_barrier,
        sleeps: values.start_sleep,
        touch: match values.touch {
            Touching::Each => Touch::Each,
            Touching::Master => Touch::Master,
            Touching::Work => Touch::Work,
        },
    };
    Runtime {
        name: entry.name.to_owned(),
        barrier: match values.barrier {
            Barrier::Central => BarrierKind::Central,
            Barrier::Tree => BarrierKind::Tree { arity: values.arity },
            // A flat tree.
            Barrier::Dissemination if is_linear(&values, counts.processes) => {
                BarrierKind::Tree { arity: counts.processes }
            }
            Barrier::Dissemination => BarrierKind::Dissemination,
        },
        wait: wait(&values, oversubscribed),
        polling: polling(&values, oversubscribed),
        processes: values.processes,
        startup,
    }
}

/// Whether so many processes meet at a linear barrier.
fn is_linear(values: &Parameters, processes: u32) -> bool {
    values.linear_barrier.is_some_and(|below| (LINEAR_FROM..below).contains(&processes))
}

/// Whether the runtime finds that there are too many of what it counts. A library of processes compares the
/// processes of its job with the slots of the node, one of threads those of its process with the cpus of
/// that process.
fn oversubscribed(values: &Parameters, counts: Counts) -> bool {
    let room = if values.slots == Some(Slots::Cores) { counts.cores } else { counts.cpus };
    room < if values.processes { counts.processes } else { counts.threads }
}

fn wait(values: &Parameters, oversubscribed: bool) -> WaitMode {
    match values.wait {
        Wait::Spin => WaitMode::Spin,
        Wait::Block => WaitMode::Block,
        Wait::YieldTo => WaitMode::YieldTo,
        Wait::Yield => WaitMode::Yield,
        Wait::SpinThenBlock if values.library == Some(Library::Turnaround) => {
            WaitMode::SpinThenBlock { limit: Span::MAX, yielding: oversubscribed }
        }
        Wait::SpinThenBlock => WaitMode::SpinThenBlock {
            limit: Span::from_ns(block_time(values, oversubscribed)),
            yielding: match values.yielding {
                Yielding::Never => false,
                Yielding::Oversubscribed => oversubscribed,
                Yielding::Always => true,
            },
        },
    }
}

/// How often a waiting task polls before a yield, and when the runtime lets it yield.
fn polling(values: &Parameters, oversubscribed: bool) -> Polling {
    let looks =
        |count: u64, each: Duration| PollsPerYield { count: count as u32, each: Span::from_ns(each.ns()) };
    let counts = values.library.is_none() || !oversubscribed;
    let often = if counts { looks(values.polls, values.poll) } else { PollsPerYield::ONE };
    let messages = values.message_polls.zip(values.message_poll);
    Polling {
        looks: often,
        message_looks: messages.map_or(often, |(count, each)| looks(count, each)),
        cycle: cycle(values, oversubscribed),
    }
}

/// When the monitor thread of Intel's runtime lets waiters yield. Waiters that sleep at once need no clock.
fn cycle(values: &Parameters, oversubscribed: bool) -> Option<YieldCycle> {
    let (on, off) = values.yield_on.zip(values.yield_off).filter(|(_, off)| *off > 0)?;
    let infinite = values.library == Some(Library::Turnaround);
    let time = if infinite { u64::MAX } else { block_time(values, oversubscribed) };
    // Wake-ups a second, from the block time in whole milliseconds.
    let wakeups = match time {
        0 => return None,
        u64::MAX => 1,
        time => (1_000 / (time / 1_000_000).max(1)).max(1),
    };
    let period = Span::from_ns(1_000_000_000 / wakeups);
    let random = values.yield_phase == Some(Phase::Random);
    Some(YieldCycle { on: period * on, off: period * off, random })
}

/// How long a task polls before it sleeps, in nanoseconds.
fn block_time(values: &Parameters, oversubscribed: bool) -> u64 {
    let polls =
        if oversubscribed { values.spin_count.min(values.throttled_spin_count) } else { values.spin_count };
    match (polls, values.spin_step, values.block_time) {
        (Some(polls), Some(step), _) => polls.saturating_mul(step.ns()),
        (.., time) => time.map_or(0, Duration::ns),
    }
}

#[cfg(test)]
mod tests;
