//! The rules of a lock: which task gets it after a release, and how the other tasks wait.
//!
//! The wait mode of a runtime ([`crate::wait::WaitMode`]) concerns barriers and messages; these rules concern
//! locks only.

/// Which task gets a lock after a release.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum LockOrder {
    /// The task that has waited longest, whether or not it has a cpu: the lock is handed over.
    Arrival,
    /// The first task that finds it free (barging): a running waiter at its next poll, or a task that has not
    /// waited at all. At one instant the lowest cpu is first.
    Barging,
}

/// How a task waits for a lock.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum LockWait {
    /// Polls, never yields.
    Spin,
    /// Polls and calls `sched_yield` after each poll.
    Yield,
    /// Polls, then sleeps in `futex_wait` until a release wakes it. A release wakes one sleeper, the one that
    /// has slept longest. Where the lock is not handed over and another task has it again by then, it sleeps
    /// again, behind the others.
    Sleep {
        /// Polls before it sleeps, each of [`crate::machine::Costs::poll`]; 0: it sleeps after one look.
        spins: u64,
        /// It polls as often again if another task has taken the lock before it runs.
        again: bool,
    },
}

/// The rules of a lock.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct LockRules {
    /// Which task gets it.
    pub order: LockOrder,
    /// How the other tasks wait.
    pub wait: LockWait,
}

impl LockRules {
    /// A futex mutex (glibc, `nptl/lowlevellock.c`): one compare-and-exchange, then sleep.
    pub const MUTEX: Self =
        Self { order: LockOrder::Barging, wait: LockWait::Sleep { spins: 0, again: false } };
    /// A spinlock that is handed over in order (ticket lock, MCS lock).
    pub const TICKET: Self = Self { order: LockOrder::Arrival, wait: LockWait::Spin };
    /// A test-and-set spinlock.
    pub const TEST_AND_SET: Self = Self { order: LockOrder::Barging, wait: LockWait::Spin };

    /// True when a free lock is anyone's.
    #[must_use]
    #[inline]
    pub const fn barges(&self) -> bool {
        matches!(self.order, LockOrder::Barging)
    }

    /// True when a poll is followed by a yield.
    #[must_use]
    #[inline]
    pub const fn yields(&self) -> bool {
        matches!(self.wait, LockWait::Yield)
    }

    /// Polls before a waiter sleeps; `None` = it never sleeps.
    #[must_use]
    #[inline]
    pub const fn sleeps_after(&self) -> Option<u64> {
        match self.wait {
            LockWait::Spin | LockWait::Yield => None,
            LockWait::Sleep { spins, .. } => Some(spins),
        }
    }
}
