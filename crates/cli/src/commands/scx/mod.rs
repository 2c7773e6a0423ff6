//! `oversim scx`: schedulers of sched_ext.

mod build;
mod compare;

pub(crate) use build::build;
pub(crate) use compare::compare;
