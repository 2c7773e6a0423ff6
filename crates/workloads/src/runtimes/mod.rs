//! The shelf of parallel runtimes: how the tasks of an application come up, how they wait and which barrier they use.

mod presets;
mod table;

use notation::parameter::{Parameter, Values};
use notation::suggest::unknown;
use sim_core::program::{Forks, Runtime, StartUp, Touch};
use sim_core::time::Span;
use sim_core::wait::{BarrierKind, WaitMode};

use presets::ENTRIES;

/// A runtime of the shelf.
#[derive(Clone, Copy, Debug)]
pub struct Entry {
    /// Its name in scenarios.
    pub name: &'static str,
    /// One line.
    pub summary: &'static str,
    /// Where its behaviour comes from.
    pub source: &'static str,
    /// How it waits, what that means and when to use it, a few sentences.
    pub about: &'static str,
    /// What a scenario's `runtime:` may say of it.
    pub example: &'static str,
    /// The programming model whose codes it runs: `upc`, `mpi` or `openmp`.
    pub model: &'static str,
    /// Its parameters.
    pub parameters: &'static [Parameter],
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

/// The runtime with these values of its parameters. `oversubscribed`: the application has more tasks than cpus it may use,
/// which some runtimes look at when they start.
#[must_use]
pub fn build_for(entry: &Entry, values: &Values, oversubscribed: bool) -> Runtime {
    let barrier = match values.get("barrier") {
        table::CENTRAL => BarrierKind::Central,
        table::TREE => BarrierKind::Tree { arity: values.get("arity") as u32 },
        _ => BarrierKind::Dissemination,
    };
    let startup = StartUp {
        forks: if values.get("startup") == table::LAUNCHER { Forks::Launcher } else { Forks::Master },
        barrier: values.flag("start_barrier"),
        sleeps: values.flag("start_sleep"),
        touch: match values.get("touch") {
            table::EACH => Touch::Each,
            table::BY_MASTER => Touch::Master,
            _ => Touch::Work,
        },
    };
    Runtime {
        name: entry.name.to_owned(),
        barrier,
        wait: wait(values, oversubscribed),
        processes: values.flag("processes"),
        startup,
    }
}

fn wait(values: &Values, oversubscribed: bool) -> WaitMode {
    match values.get("wait") {
        table::SPIN => WaitMode::Spin,
        table::BLOCK => WaitMode::Block,
        table::YIELD_TO => WaitMode::YieldTo,
        table::YIELD => WaitMode::Yield,
        _ if values.find("library").is_some() && values.choice("library") == "turnaround" => {
            WaitMode::SpinThenBlock { limit: Span::MAX, yielding: oversubscribed }
        }
        _ => WaitMode::SpinThenBlock {
            limit: Span::from_ns(patience(values, oversubscribed)),
            yielding: match values.get("yielding") {
                table::NEVER => false,
                table::OVERSUBSCRIBED => oversubscribed,
                _ => true,
            },
        },
    }
}

/// How long a task polls before it sleeps, in nanoseconds.
fn patience(values: &Values, oversubscribed: bool) -> u64 {
    if values.find("spin_count").is_none() {
        return values.get("block_time");
    }
    let count = values.get("spin_count");
    let count = if oversubscribed { count.min(values.get("throttled_spin_count")) } else { count };
    count.saturating_mul(values.get("spin_step"))
}

#[cfg(test)]
mod tests;
