//! Programs that scenarios write themselves: the language, its parser, and its compiler to operations.
//!
//! A program has kinds of tasks. What they share (locks, conditions, semaphores, queues, barriers, devices)
//! needs no declaration; a declaration gives it a kind, units or bounds. [`parse()`] reads statements from a
//! text or from a list of a YAML or JSON tree, [`link`] checks all programs of a run together and compiles
//! them, and [`Linked::place`] and [`Kind::program`] make what a run is built from.

mod calls;
mod collectives;
mod compile;
mod draft;
mod graphs;
mod lengths;
mod link;
mod loops;
mod objects;
mod parse;
mod regions;
mod sends;
mod statements;
mod team;
#[cfg(test)]
mod tests;
mod tree;
mod uses;
mod words;

pub use calls::{Call, CallOf};
pub use collectives::{COLLECTIVES, Collective};
pub use draft::{Draft, Feed, KindDraft, LockForm, MOST_KINDS, MOST_NAMES, QueueForm, RuntimeForm};
pub use graphs::{GraphDraft, JobDraft, Shape};
pub use link::{Bases, Kind, Linked, Placed, link};
pub use parse::{is_name, parse, run};
pub use statements::{BY, STATEMENTS, StatementForm, VARIATIONS};
pub use tree::{Action, Block, Data, Length, Name, Run, Statement, Vary};

use notation::parameter::{Parameter, Values};
use sim_core::program::MemoryProfile;

/// The parameters of memory profiles: those of `spmd`.
pub const PROFILE: &[Parameter] = crate::spmd::inline::MEMORY;

/// The memory profile of values of [`PROFILE`].
#[must_use]
pub fn profile(values: &Values) -> MemoryProfile {
    crate::spmd::inline::memory(values)
}
