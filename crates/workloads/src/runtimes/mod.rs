//! The shelf of parallel runtimes: how the tasks of an application come up, how they wait and which barrier
//! they use.

mod presets;
mod table;

use notation::declare::Duration;
use notation::parameter::{Parameter, Values};
use notation::prose::section;
use notation::suggest::unknown;
use sim_core::program::{Forks, Runtime, StartUp, Touch};
use sim_core::time::Span;
use sim_core::wait::{BarrierKind, WaitMode};

use presets::ENTRIES;
use table::{Barrier, Creator, Library, Parameters, Touching, Wait, Yielding};

/// A runtime of the shelf.
#[derive(Clone, Copy, Debug)]
pub struct Entry {
    /// Its name in scenarios.
    pub name: &'static str,
    /// One line.
    pub summary: &'static str,
    /// Where its behaviour comes from.
    pub source: &'static str,
    /// What a scenario's `runtime:` may say of it.
    pub example: &'static str,
    /// The programming model whose codes it runs: `upc`, `mpi` or `openmp`.
    pub model: &'static str,
    /// Its parameters.
    pub parameters: &'static [Parameter],
}

impl Entry {
    /// How it waits, what that means and when to use it, a few sentences.
    #[must_use]
    pub fn about(&self) -> String {
        section(include_str!("runtimes.md"), self.name)
    }
}

/// The runtimes of the shelf.
#[must_use]
pub const fn entries() -> &'static [Entry] {
    ENTRIES
}

/// Their names.
pub fn names() -> impl Iterator<Item = &'static str> {
    ENTRIES.iter().map(|entry| entry.name)
}

/// The runtime of this name.
///
/// # Errors
/// A sentence with the valid names and the nearest one.
pub fn resolve(name: &str) -> Result<&'static Entry, String> {
    let found = ENTRIES.iter().find(|entry| entry.name == name);
    found.ok_or_else(|| unknown("runtime", name, &names().collect::<Vec<_>>()))
}

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
