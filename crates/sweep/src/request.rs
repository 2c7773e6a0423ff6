//! What a worker is asked to do.

use std::sync::atomic::AtomicBool;

use scenario::memory::Limit;

use crate::plan::Shard;

/// What a worker is asked to do.
#[derive(Clone, Copy)]
pub struct Request<'a> {
    /// The runs to execute.
    pub shard: Shard,
    /// Threads, at least 1. The results do not depend on it.
    pub jobs: usize,
    /// Set from outside: runs in progress end, and no other one begins.
    pub stop: &'a AtomicBool,
    /// The memory that there is.
    pub limit: Option<&'a Limit>,
    /// Called once, with the runs of the shard that are there, and all of them (at most).
    pub begin: &'a (dyn Fn(u64, u64) + Sync),
    /// Called after each run.
    pub progress: &'a (dyn Fn() + Sync),
    /// Called once if another process works on the shard: this one waits until that one ends.
    pub waits: &'a (dyn Fn() + Sync),
    /// Called once if the file system has no locks: workers of one shard may do the same runs.
    pub unlocked: &'a (dyn Fn() + Sync),
}
