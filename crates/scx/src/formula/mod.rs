//! Orders by formula: schedulers of `sched_ext` that are a key, a slice and, if it is wanted, a rule of
//! preemption, each a formula of integers over what is known of a task and its queue.
//!
//! [`Formula`] is an order: its text is read by [`Formula::parse`] and written by its `Display`, its parts
//! are trees ([`Expression`]) that a search can change. [`Formula::entry`] and [`Ordered`] run it,
//! [`Formula::c`] writes it as a scheduler in BPF C. `docs/how-to/orders.md` is about the text.

mod edit;
mod entry;
mod export;
mod expression;
mod file;
mod function;
mod order;
mod parse;
mod program;
mod scheduler;
pub mod table;
mod variable;

pub use edit::changed;
pub use entry::read;
pub use expression::{Expression, MOST_NODES, MOST_WAITING};
pub use file::MOST_BYTES;
pub use function::Function;
pub use order::{Formula, LEAST_SLICE, MOST_KEY, MOST_PARAMETERS, MOST_SLICE, Parameter, Queue};
pub use scheduler::Ordered;
pub use variable::Variable;
