//! The rules of a lock: which task gets it after a release, and how the other tasks wait.
//!
//! The wait mode of a runtime ([`crate::wait::WaitMode`]) concerns barriers and messages; these rules concern
//! locks only.

use crate::time::Span;

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

/// Which word of memory waiting tasks poll. Whoever takes a lock or gives it back moves the cache line of its
/// word to its cpu; after a release the line goes to each cpu that polls it, one after the other.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum LockWord {
    /// The word of the lock (test-and-set, ticket, futex mutex).
    Shared,
    /// A word of each waiter, which only the task before it writes (MCS, CLH).
    Own,
}

/// What a lock does to the priorities of the tasks that have it or wait for it, in a run with the real-time
/// class. Without that class all locks are plain.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Protocol {
    /// Nothing.
    Plain,
    /// Priority inheritance (`PTHREAD_PRIO_INHERIT`, `FUTEX_LOCK_PI`; kernel/locking/rtmutex.c): tasks wait
    /// in the order of their priorities, those below the real-time class last and all alike, equals as they
    /// came. Who has the lock has at least the priority of each of them, also if it waits for another such
    /// lock itself.
    Inherits,
    /// Immediate priority ceiling (`PTHREAD_PRIO_PROTECT`): who has it or waits for it has at least this
    /// priority, 1 to 99. glibc raises the caller before it tries (`__pthread_tpp_change_priority`). No task
    /// that takes it has a higher priority by itself.
    Ceiling(u8),
}

/// The rules of a lock.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct LockRules {
    /// Which task gets it.
    pub order: LockOrder,
    /// How the other tasks wait.
    pub wait: LockWait,
    /// What they poll.
    pub word: LockWord,
    /// What it does to priorities. Only a lock that is handed over does something to them.
    pub protocol: Protocol,
}

impl LockRules {
    /// A futex mutex (glibc, `nptl/lowlevellock.c`): one compare-and-exchange, then sleep.
    pub const MUTEX: Self = Self::barging(LockWait::Sleep { spins: 0, again: false });
    /// A ticket lock: handed over in order, and all waiters poll one word.
    pub const TICKET: Self = Self {
        order: LockOrder::Arrival,
        wait: LockWait::Spin,
        word: LockWord::Shared,
        protocol: Protocol::Plain,
    };
    /// A mutex with priority inheritance: waiters sleep at once, and the kernel hands it over.
    pub const INHERIT: Self = Self::protecting(Protocol::Inherits);
    /// A queued spinlock (MCS): handed over in order, and each waiter polls a word of its own.
    pub const QUEUED: Self = Self::queued(LockWait::Spin);
    /// A test-and-set spinlock.
    pub const TEST_AND_SET: Self = Self::barging(LockWait::Spin);

    /// A lock of one word that the first task to find it free takes.
    #[must_use]
    pub const fn barging(wait: LockWait) -> Self {
        Self { order: LockOrder::Barging, wait, word: LockWord::Shared, protocol: Protocol::Plain }
    }

    /// A lock with a queue of waiters, each with a word of its own, that is handed over in order.
    #[must_use]
    pub const fn queued(wait: LockWait) -> Self {
        Self { order: LockOrder::Arrival, wait, word: LockWord::Own, protocol: Protocol::Plain }
    }

    /// A mutex with a protocol of priorities: waiters sleep at once, and it is handed over.
    #[must_use]
    pub const fn protecting(protocol: Protocol) -> Self {
        let wait = LockWait::Sleep { spins: 0, again: false };
        Self { order: LockOrder::Arrival, wait, word: LockWord::Shared, protocol }
    }

    /// True when it changes priorities.
    #[must_use]
    #[inline]
    pub const fn raises(&self) -> bool {
        !matches!(self.protocol, Protocol::Plain)
    }

    /// True when waiters poll the word of the lock, one poll right after the other. Waiters that yield
    /// between two polls, or sleep after one look, do not queue for its line.
    #[must_use]
    #[inline]
    pub const fn polls_its_word(&self) -> bool {
        matches!(self.word, LockWord::Shared)
            && !matches!(self.wait, LockWait::Yield | LockWait::Sleep { spins: 0, .. })
    }

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

    /// How long a waiter polls before it sleeps, where a poll takes so long; `None` = it never sleeps.
    pub(crate) fn spin_limit(&self, poll: Span) -> Option<Span> {
        Some(Span::from_ns(poll.ns().saturating_mul(self.sleeps_after()?)))
    }
}
