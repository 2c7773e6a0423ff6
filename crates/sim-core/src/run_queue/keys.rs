//! What recurs while tasks poll: the keys that order a queue, and how they grow.

use crate::engine::state::Task;

/// Keys below this can grow as far again.
pub(crate) const FAR_KEY: i64 = 1 << 61;

/// What the order of a task among others depends on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Keys {
    pub(crate) vruntime: i64,
    pub(crate) vdeadline: i64,
    pub(crate) protection: i64,
}

impl Keys {
    #[inline]
    pub(crate) fn of(task: &Task) -> Self {
        Self {
            vruntime: task.vruntime,
            vdeadline: task.history.vdeadline,
            protection: task.history.protection,
        }
    }
}

/// By how much the keys of a queue and its minimum have grown.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Growth {
    pub(crate) key: i64,
    pub(crate) minimum: i64,
}
