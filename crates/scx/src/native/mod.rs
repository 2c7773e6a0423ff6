//! Schedulers of `sched_ext` written in Rust on [`crate::ext::Scheduler`]: how each of the textbook ones is
//! built, and what those that are compiled from BPF C are held against.

mod central;
mod clock;
mod llc;
mod simple;

pub use central::Central;
pub use llc::Llc;
pub use simple::Simple;
