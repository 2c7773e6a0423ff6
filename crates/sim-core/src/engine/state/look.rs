//! How a waiting task polls before it yields.

use crate::account::Category;
use crate::machine::Costs;
use crate::time::{Span, Time};
use crate::wait::PollsPerYield;

/// How a waiter polls before a yield: a poll of the engine consists of a number of polls of the runtime.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Look {
    /// One poll of the runtime, at least 1 ns.
    pub(crate) each: Span,
    /// All up to the yield.
    pub(crate) poll: Span,
    /// What it is accounted as. Waiters for locks never poll as those at a barrier do, even if it takes as
    /// long.
    pub(crate) category: Category,
}

impl Look {
    /// A poll of the machine.
    pub(crate) const fn plain(costs: &Costs) -> Self {
        Self { each: costs.poll, poll: costs.poll, category: Category::Spin }
    }

    pub(crate) fn of(costs: &Costs, looks: PollsPerYield) -> Self {
        let each = if looks.each == Span::ZERO { costs.poll } else { looks.each };
        Self { each, poll: each * u64::from(looks.count), category: Category::Spin }
    }

    /// When a poll that begins at `start` observes what is visible from `visible` on: at the end of one of
    /// the runtime's. The poll is one that observes it.
    #[inline]
    pub(crate) fn sees(&self, start: Time, visible: Time) -> Time {
        if self.each == self.poll {
            return start + self.poll;
        }
        start + self.each * visible.since(start).ns().div_ceil(self.each.ns()).max(1)
    }
}
