//! `oversim scx`: schedulers of sched_ext.

mod build;
mod export;

pub(crate) use build::build;
pub(crate) use export::export;
