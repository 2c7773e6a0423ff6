//! Who yields while it polls.

use sim_core::ids::{Id, LockId};
use sim_core::lock::LockWait;
use sim_core::program::{AppSpec, Objects};

/// How the threads of an application wait.
#[derive(Clone, Debug)]
pub(crate) struct Ways {
    /// At barriers and for messages they yield.
    yields: bool,
    /// For each of its locks.
    locks: Vec<bool>,
}

impl Ways {
    pub(crate) fn new(app: &AppSpec, objects: &Objects) -> Self {
        let yields = |wait: LockWait| matches!(wait, LockWait::Yield);
        let locks = if app.named_locks {
            objects.locks.iter().map(|lock| yields(lock.rules.wait)).collect()
        } else {
            vec![yields(app.lock.wait)]
        };
        Self { yields: app.runtimes().any(|runtime| runtime.wait.yields()), locks }
    }

    /// No thread of the application ever yields.
    pub(crate) fn spin_only(&self) -> bool {
        !self.yields && !self.locks.contains(&true)
    }

    /// Whether a thread that polls for this lock, or for something else, yields.
    pub(crate) fn yields(&self, lock: Option<LockId>) -> bool {
        match lock {
            // The locks of an application are of one kind.
            Some(lock) => self.locks.get(lock.index()).or(self.locks.first()).is_some_and(|yields| *yields),
            None => self.yields,
        }
    }
}
