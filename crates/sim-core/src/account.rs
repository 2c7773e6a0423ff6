//! The cpu-time breakdown: every nanosecond of every cpu is in exactly one category.

use crate::time::Span;

/// Where a cpu's time goes.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
#[repr(u8)]
pub enum Category {
    /// Work of the programs, as long as it takes without contention or remote access.
    Compute,
    /// What contention for memory adds to that: bandwidth, and cache capacity shared with others.
    MemoryStall,
    /// What access to the memory of other nodes adds.
    Remote,
    /// What busy hardware threads of the same core take.
    Smt,
    /// Refilling caches that others have used meanwhile, or after a migration.
    Refill,
    /// Polling a flag at a barrier, or for a message.
    Spin,
    /// Polling for a lock.
    LockWait,
    /// `sched_yield` calls.
    Yield,
    /// Context switches.
    Switch,
    /// Moving tasks between cpus.
    Migration,
    /// First writes to fresh pages when a program starts (page faults and clearing).
    PageInit,
    /// Kernel work: ticks, wake-ups, sleeps, forks, interrupts.
    Kernel,
    /// User-level scheduling daemons.
    Daemon,
    /// Nothing to run.
    Idle,
}

impl Category {
    /// Number of categories.
    pub const COUNT: usize = 14;
    /// All categories in order.
    pub const ALL: [Self; Self::COUNT] = [
        Self::Compute,
        Self::MemoryStall,
        Self::Remote,
        Self::Smt,
        Self::Refill,
        Self::Spin,
        Self::LockWait,
        Self::Yield,
        Self::Switch,
        Self::Migration,
        Self::PageInit,
        Self::Kernel,
        Self::Daemon,
        Self::Idle,
    ];

    /// The name used in results.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Compute => "compute",
            Self::MemoryStall => "memory_stall",
            Self::Remote => "remote",
            Self::Smt => "smt",
            Self::Refill => "refill",
            Self::Spin => "spin",
            Self::LockWait => "lock_wait",
            Self::Yield => "yield",
            Self::Switch => "switch",
            Self::Migration => "migration",
            Self::PageInit => "page_init",
            Self::Kernel => "kernel",
            Self::Daemon => "daemon",
            Self::Idle => "idle",
        }
    }
}

/// Time per category.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Account {
    spans: [u64; Category::COUNT],
}

impl Account {
    /// A breakdown with time of one category only.
    #[inline]
    #[must_use]
    pub const fn of(category: Category, span: Span) -> Self {
        let mut spans = [0; Category::COUNT];
        spans[category as usize] = span.ns();
        Self { spans }
    }

    /// Adds time to a category.
    #[inline]
    pub const fn add(&mut self, category: Category, span: Span) {
        self.spans[category as usize] += span.ns();
    }

    /// Moves up to `span` from one category to another.
    #[inline]
    pub(crate) fn reassign(&mut self, from: Category, to: Category, span: Span) {
        let moved = span.ns().min(self.spans[from as usize]);
        self.spans[from as usize] -= moved;
        self.spans[to as usize] += moved;
    }

    /// The time of one category.
    #[inline]
    #[must_use]
    pub const fn get(&self, category: Category) -> Span {
        Span::from_ns(self.spans[category as usize])
    }

    /// The time of all categories.
    #[inline]
    #[must_use]
    pub fn total(&self) -> Span {
        Span::from_ns(self.spans.iter().sum())
    }

    /// What was added since an earlier state of the same breakdown.
    #[inline]
    #[must_use]
    pub fn since(&self, earlier: &Self) -> Self {
        let mut spans = self.spans;
        for (mine, before) in spans.iter_mut().zip(earlier.spans) {
            *mine = mine.saturating_sub(before);
        }
        Self { spans }
    }

    /// Adds another breakdown.
    #[inline]
    pub fn merge(&mut self, other: &Self) {
        for (mine, theirs) in self.spans.iter_mut().zip(other.spans) {
            *mine += theirs;
        }
    }
}
