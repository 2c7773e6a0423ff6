//! The shelf of parallel runtimes: how the tasks of an application wait and which barrier they use.

use notation::parameter::{Kind, Parameter, Values};
use sim_core::program::Runtime;
use sim_core::time::Span;
use sim_core::wait::{BarrierKind, WaitMode};

use notation::suggest::unknown;

/// A runtime of the shelf.
#[derive(Clone, Copy, Debug)]
pub struct Entry {
    /// Its name in scenarios.
    pub name: &'static str,
    /// One line.
    pub summary: &'static str,
    /// Where its behaviour comes from.
    pub source: &'static str,
    /// Its parameters.
    pub parameters: &'static [Parameter],
}

const WAITS: &[&str] = &["spin", "yield", "block", "spin-then-block", "yield-to"];
const BARRIERS: &[&str] = &["central", "tree", "dissemination"];

const SPIN: u64 = 0;
const YIELD: u64 = 1;
const BLOCK: u64 = 2;
const SPIN_THEN_BLOCK: u64 = 3;
const YIELD_TO: u64 = 4;

const CENTRAL: u64 = 0;
const TREE: u64 = 1;
const DISSEMINATION: u64 = 2;

/// Default block time of the Intel OpenMP runtime (`KMP_BLOCKTIME`), 200 ms.
const BLOCK_TIME: u64 = 200_000_000;

const fn table(wait: u64, barrier: u64, processes: u64) -> [Parameter; 6] {
    [
        choice(
            "wait",
            WAITS,
            wait,
            "What a waiting task does: polls; polls and yields; sleeps at once; polls for the block time, then sleeps; yields to a task of its own application",
        ),
        Parameter {
            name: "block_time",
            kind: Kind::Duration,
            default: BLOCK_TIME,
            min: 0,
            max: u64::MAX,
            about: "How long spin-then-block polls before it sleeps; `0s` and `infinite` are legal (200ms is the default of KMP_BLOCKTIME)",
        },
        flag(
            "yielding",
            1,
            "Whether spin-then-block yields after each poll, as the Intel OpenMP runtime does with more threads than cpus",
        ),
        choice("barrier", BARRIERS, barrier, "Barrier algorithm"),
        Parameter {
            name: "arity",
            kind: Kind::Count,
            default: 4,
            min: 2,
            max: 1 << 16,
            about: "Children per inner rank of a tree barrier (4 in the Intel OpenMP runtime)",
        },
        flag(
            "processes",
            processes,
            "Tasks are processes (dearer switches) instead of threads of one process",
        ),
    ]
}

const fn choice(
    name: &'static str,
    words: &'static [&'static str],
    default: u64,
    about: &'static str,
) -> Parameter {
    Parameter { name, kind: Kind::Choice(words), default, min: 0, max: words.len() as u64 - 1, about }
}

const fn flag(name: &'static str, default: u64, about: &'static str) -> Parameter {
    Parameter { name, kind: Kind::Flag, default, min: 0, max: 1, about }
}

const UPC: &[Parameter] = &table(YIELD, DISSEMINATION, 0);
const MPI: &[Parameter] = &table(YIELD, DISSEMINATION, 1);
const OPENMP: &[Parameter] = &table(SPIN_THEN_BLOCK, TREE, 0);
const SPINNING: &[Parameter] = &table(SPIN, CENTRAL, 0);
const YIELDING: &[Parameter] = &table(YIELD, CENTRAL, 0);
const BLOCKING: &[Parameter] = &table(BLOCK, CENTRAL, 0);
const DIRECTED: &[Parameter] = &table(YIELD_TO, CENTRAL, 0);

const ENTRIES: &[Entry] = &[
    Entry {
        name: "upc",
        summary: "Berkeley UPC on threads: polls and yields, dissemination barrier",
        source: "Berkeley UPC runtime and GASNet: sched_yield after each failed poll",
        parameters: UPC,
    },
    Entry {
        name: "mpi",
        summary: "MPI on processes: polls and yields, dissemination barrier",
        source: "MPICH2 nemesis, Open MPI in its degraded mode: sched_yield when progress fails",
        parameters: MPI,
    },
    Entry {
        name: "openmp",
        summary: "Intel OpenMP on threads: polls with yields for 200 ms, then sleeps; tree gather, one release flag",
        source: "LLVM/Intel OpenMP runtime, kmp_wait_release.h and kmp_barrier.cpp; a release tree, the runtime's default, would make coarse programs lose when oversubscribed, which they did not",
        parameters: OPENMP,
    },
    Entry {
        name: "spin",
        summary: "threads that poll and never yield, central barrier",
        source: "the simplest waiting there is; sense-reversing counter barrier",
        parameters: SPINNING,
    },
    Entry {
        name: "yield",
        summary: "threads that poll and yield, central barrier",
        source: "as `spin`, with sched_yield after each poll",
        parameters: YIELDING,
    },
    Entry {
        name: "block",
        summary: "threads that sleep at once until woken, central barrier",
        source: "as pthread_barrier_wait on a futex",
        parameters: BLOCKING,
    },
    Entry {
        name: "yield-to",
        summary: "threads that hand the cpu to a task of their own application, central barrier",
        source: "directed yield, a hypothetical system call",
        parameters: DIRECTED,
    },
];

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

/// The runtime with these values of its parameters.
#[must_use]
pub fn build(entry: &Entry, values: &Values) -> Runtime {
    let wait = match values.get("wait") {
        SPIN => WaitMode::Spin,
        BLOCK => WaitMode::Block,
        SPIN_THEN_BLOCK => WaitMode::SpinThenBlock {
            limit: Span::from_ns(values.get("block_time")),
            yielding: values.flag("yielding"),
        },
        YIELD_TO => WaitMode::YieldTo,
        _ => WaitMode::Yield,
    };
    let barrier = match values.get("barrier") {
        CENTRAL => BarrierKind::Central,
        TREE => BarrierKind::Tree { arity: values.get("arity") as u32 },
        _ => BarrierKind::Dissemination,
    };
    Runtime { name: entry.name.to_owned(), barrier, wait, processes: values.flag("processes") }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn preset(name: &str) -> Runtime {
        let entry = resolve(name).unwrap();
        build(entry, &Values::defaults(entry.parameters))
    }

    #[test]
    fn presets_are_what_they_say() {
        assert_eq!(
            (preset("upc").wait, preset("upc").barrier),
            (WaitMode::Yield, BarrierKind::Dissemination)
        );
        assert!(preset("mpi").processes && !preset("upc").processes);
        let openmp = preset("openmp");
        assert_eq!(openmp.barrier, BarrierKind::Tree { arity: 4 });
        assert_eq!(openmp.wait.sleeps_after(), Some(Span::from_ms(200)));
        assert!(openmp.wait.yields());
        assert_eq!(preset("spin").wait, WaitMode::Spin);
        assert_eq!(preset("block").wait, WaitMode::Block);
        assert_eq!(preset("yield-to").wait, WaitMode::YieldTo);
    }

    #[test]
    fn every_wait_and_barrier_can_be_chosen() {
        let entry = resolve("openmp").unwrap();
        for (at, word) in WAITS.iter().enumerate() {
            let mut values = Values::defaults(entry.parameters);
            values.set("wait", at as u64).unwrap();
            let name = match build(entry, &values).wait {
                WaitMode::Spin => "spin",
                WaitMode::Yield => "yield",
                WaitMode::Block => "block",
                WaitMode::SpinThenBlock { .. } => "spin-then-block",
                WaitMode::YieldTo => "yield-to",
            };
            assert_eq!(name, *word);
        }
        for (at, word) in BARRIERS.iter().enumerate() {
            let mut values = Values::defaults(entry.parameters);
            values.set("barrier", at as u64).unwrap();
            let name = match build(entry, &values).barrier {
                BarrierKind::Central => "central",
                BarrierKind::Tree { .. } => "tree",
                BarrierKind::Dissemination => "dissemination",
            };
            assert_eq!(name, *word);
        }
    }

    #[test]
    fn infinite_block_time_never_sleeps() {
        let entry = resolve("openmp").unwrap();
        let mut values = Values::defaults(entry.parameters);
        values.set("block_time", u64::MAX).unwrap();
        assert_eq!(build(entry, &values).wait.sleeps_after(), None);
        values.set("block_time", 0).unwrap();
        assert_eq!(build(entry, &values).wait.sleeps_after(), Some(Span::ZERO));
    }

    #[test]
    fn tables_are_sound() {
        for entry in entries() {
            for p in entry.parameters {
                assert!(p.min <= p.default && p.default <= p.max && !p.about.is_empty());
            }
            assert_eq!(preset(entry.name).name, entry.name);
        }
        assert!(resolve("opnemp").unwrap_err().contains("did you mean `openmp`?"));
    }
}
