//! `oversim scx`: schedulers of sched_ext.

mod build;
mod compare;
mod export;

pub(crate) use build::build;
pub(crate) use compare::compare;
pub(crate) use export::export;
