//! `oversim scx`: schedulers of sched_ext.

mod build;

pub(crate) use build::build;
