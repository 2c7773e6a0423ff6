//! How tasks wait, and the algorithms of the barriers they wait at.

use crate::time::Span;

/// What a task does while what it waits for has not happened.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum WaitMode {
    /// Polls, never yields.
    Spin,
    /// Polls ([`PollsPerYield`] times), calls `sched_yield`, forever.
    Yield,
    /// Polls once, then sleeps until woken.
    Block,
    /// Polls for `limit`, then sleeps until woken. 0 and [`Span::MAX`] (never sleeps) are legal.
    SpinThenBlock {
        /// How long it polls before it sleeps.
        limit: Span,
        /// Whether it yields after each poll while it polls.
        yielding: bool,
    },
    /// As `Yield`, but yields to a task of the same application on the same cpu whose wait, if any, is over.
    YieldTo,
}

impl WaitMode {
    /// True when a poll is followed by a yield.
    #[must_use]
    #[inline]
    pub const fn yields(self) -> bool {
        matches!(self, Self::Yield | Self::YieldTo | Self::SpinThenBlock { yielding: true, .. })
    }

    /// How long the task polls before it sleeps; `None` = it never sleeps.
    #[must_use]
    #[inline]
    pub const fn sleeps_after(self) -> Option<Span> {
        match self {
            Self::Spin | Self::Yield | Self::YieldTo => None,
            Self::Block => Some(Span::ZERO),
            Self::SpinThenBlock { limit, .. } => {
                if limit.ns() == u64::MAX {
                    None
                } else {
                    Some(limit)
                }
            }
        }
    }
}

/// How often a waiter that yields polls before each yield.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PollsPerYield {
    /// Polls before a yield, 1 or more. A waiter that observes what it waits for at the end of one does not
    /// yield.
    pub count: u32,
    /// How long one takes; zero: a poll of the machine.
    pub each: Span,
}

impl PollsPerYield {
    /// One poll of the machine.
    pub const ONE: Self = Self { count: 1, each: Span::ZERO };
}

/// A clock of a runtime that switches the yields of all its waiters on and off. While they are off, a waiter
/// polls on where it would yield.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct YieldCycle {
    /// How long yields are on, at least 1 us.
    pub on: Span,
    /// How long they are off, at least 1 us. The clock starts with the application, and begins with this
    /// part.
    pub off: Span,
    /// The application starts at a random instant of the cycle instead, drawn from the seed.
    pub random: bool,
}

/// How waiters poll.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Polling {
    /// Polls before a yield at barriers.
    pub looks: PollsPerYield,
    /// Polls before a yield while a task waits for a message ([`crate::program::Op::Exchange`]).
    pub message_looks: PollsPerYield,
    /// When yields are on; always without it.
    pub cycle: Option<YieldCycle>,
}

impl Polling {
    /// A yield after each poll.
    pub const PLAIN: Self =
        Self { looks: PollsPerYield::ONE, message_looks: PollsPerYield::ONE, cycle: None };
}

/// The tasks that meet at a barrier.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
#[repr(u8)]
pub enum Scope {
    /// All tasks of the application.
    All,
    /// The tasks of one team.
    Team,
    /// The first task of each team.
    Leaders,
    /// The tasks of one team at the end of a parallel region. At a tree barrier a task has signalled its
    /// parent and goes on to where the next region begins; the first one waits for all.
    Join,
}

impl Scope {
    /// Number of kinds.
    pub const COUNT: usize = 4;

    /// Whether all who meet are of one team.
    #[must_use]
    pub const fn is_of_team(self) -> bool {
        matches!(self, Self::Team | Self::Join)
    }
}

/// Algorithm of a barrier: which rank signals which, in which order.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum BarrierKind {
    /// One shared counter; one arrival after the other pays for the contended line, the last one sets a flag
    /// all poll.
    Central,
    /// Ranks gather in a tree of this arity (at least 2); the root sets one flag that all poll.
    Tree {
        /// Children per inner rank.
        arity: u32,
    },
    /// ceil(log2 n) rounds; in round r a rank signals rank + 2^r and waits for rank - 2^r (Hensgen, Finkel,
    /// Manber 1988).
    Dissemination,
}
