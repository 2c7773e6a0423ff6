//! Numbers of processes: switches between tasks of equal numbers are switches between threads.

use crate::ids::{AppId, TaskId};
use crate::limits::{MAX_APPS, MAX_TASKS};

/// The number of a process.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct ProcessId(u32);

/// Behind the numbers of applications and of tasks.
const RESPAWNED: u32 = MAX_APPS as u32 + MAX_TASKS as u32;

impl ProcessId {
    /// No process.
    pub(crate) const NONE: Self = Self(u32::MAX);

    /// The one of all tasks of an application.
    pub(crate) const fn of_app(app: AppId) -> Self {
        Self(app.0)
    }

    /// The one of a task, or of the team that it is the first rank of.
    pub(crate) const fn of_task(task: TaskId) -> Self {
        Self(MAX_APPS as u32 + task.0)
    }

    /// The `count`-th process that replaces another one. Four billion of them have distinct numbers.
    pub(crate) const fn respawned(count: u32) -> Self {
        Self(RESPAWNED.saturating_add(count))
    }
}
