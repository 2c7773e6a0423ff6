//! Reports on a recording as text and as JSON: who waited for a cpu and how long, each stint, what a thread
//! waited behind, and cpus that idle meanwhile.
//!
//! Each report takes the [`Stint`](crate::follow::Stint)s of a [`Follower`](crate::follow::Follower), so that
//! a recording of a kernel and the trace of a simulation give the same columns.

mod delays;
pub mod head;
pub mod idle;
pub mod latency;
pub mod split;
mod text;
pub mod timehist;

#[cfg(test)]
mod tests;
