//! How tasks wait, and the algorithms of the barriers they wait at.

use crate::time::Span;

/// What a task does while what it waits for has not happened.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum WaitMode {
    /// Polls, never yields.
    Spin,
    /// Polls once, calls `sched_yield`, forever.
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
}

impl Scope {
    /// Number of kinds.
    pub const COUNT: usize = 3;
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
