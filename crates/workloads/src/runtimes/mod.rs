//! The shelf of parallel runtimes: how the tasks of an application come up, how they wait and which barrier
//! they use.

mod presets;
mod table;

use notation::declare::Duration;
use notation::parameter::Values;
use notation::registry::{self, Registry};
use sim_core::program::{Forks, Runtime, StartUp, Touch};
use sim_core::time::Span;
use sim_core::wait::{BarrierKind, Looks, Polling, WaitMode, YieldCycle};

use presets::ENTRIES;
use table::{Barrier, Creator, Library, Parameters, Phase, Touching, Wait, Yielding};

/// A runtime; its own is the programming model whose codes it runs: `upc`, `mpi` or `openmp`.
pub type Entry = registry::Entry<&'static str>;

/// The runtimes.
pub const RUNTIMES: Registry<&str> =
    Registry { noun: "runtime", entries: ENTRIES, text: include_str!("runtimes.md") };

/// The runtime with these values of its parameters, for an application that has a cpu for each of its tasks.
#[must_use]
pub fn build(entry: &Entry, values: &Values) -> Runtime {
    build_for(entry, values, false)
}

/// The runtime with these values of its parameters. `oversubscribed`: the application has more tasks than
/// cpus it may use, which some runtimes look at when they start.
#[must_use]
pub fn build_for(entry: &Entry, values: &Values, oversubscribed: bool) -> Runtime {
    let values = Parameters::from(values);
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
            Barrier::Dissemination => BarrierKind::Dissemination,
        },
        wait: wait(&values, oversubscribed),
        polling: polling(&values, oversubscribed),
        processes: values.processes,
        startup,
    }
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
    let looks = |count: u64, each: Duration| Looks { count: count as u32, each: Span::from_ns(each.ns()) };
    let counts = values.library.is_none() || !oversubscribed;
    let often = if counts { looks(values.polls, values.poll) } else { Looks::ONE };
    let messages = values.message_polls.zip(values.message_poll);
    Polling {
        looks: often,
        message_looks: messages.map_or(often, |(count, each)| looks(count, each)),
        cycle: cycle(values, oversubscribed),
    }
}

/// When the monitor thread of Intel's runtime lets waiters yield. Those that sleep at once need no clock.
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
