//! Stints: what the followed events of a recording tell.

use crate::threads::Id;

/// One uninterrupted run of a thread on a cpu.
#[derive(Clone, Copy, Debug)]
pub struct Stint<'a> {
    /// Whose.
    pub thread: Id,
    /// Where.
    pub cpu: u32,
    /// From when, in ns.
    pub from: u64,
    /// To when, in ns.
    pub to: u64,
    /// How it began.
    pub start: Start,
    /// How it ended.
    pub end: End,
    /// The cpu was idle before.
    pub idle: bool,
    /// Its beginning was not recorded, and no cpu time says when it was.
    pub mended: bool,
    /// What it did meanwhile, in order.
    pub points: &'a [Point],
}

/// How a stint began.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Start {
    /// Nothing before it is known.
    First,
    /// It was forked.
    Forked {
        /// When it could run, in ns.
        at: u64,
    },
    /// It had been pre-empted, or had yielded.
    Resumed {
        /// When, in ns.
        since: u64,
    },
    /// It had waited.
    Woken {
        /// Since when it had waited, in ns.
        blocked: u64,
        /// When it could run again, in ns.
        at: u64,
        /// By what.
        by: Source,
    },
}

impl Start {
    /// When the thread could have run, in ns.
    #[must_use]
    pub const fn runnable(self) -> Option<u64> {
        match self {
            Self::First => None,
            Self::Forked { at } | Self::Woken { at, .. } => Some(at),
            Self::Resumed { since } => Some(since),
        }
    }
}

/// What ended a wait.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Source {
    /// Another thread, on this cpu.
    Thread(Id),
    /// A timer that the sleeper had started itself.
    Timer(Timer),
    /// An interrupt, or the idle thread: a device, or a message from elsewhere.
    Interrupt,
    /// The wake-up was not recorded.
    Unseen,
    /// A wake-up that came before the thread had given up its cpu: [`Did::Raced`] says whose.
    Raced,
}

/// What a sleeper asked its timer for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Timer {
    /// When it asked, in ns.
    pub asked: u64,
    /// For which instant, in ns.
    pub expires: u64,
    /// It asked for a length. Nothing where the file does not say it.
    pub relative: Option<bool>,
}

/// How a stint ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum End {
    /// It was pre-empted.
    Preempted,
    /// It called `sched_yield`.
    Yielded,
    /// It waits, in the state of this letter.
    Blocked(u8),
    /// It has ended.
    Exited,
    /// The recording ended.
    Cut,
}

/// Something that a thread did while it ran.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Point {
    /// When, in ns.
    pub at: u64,
    /// What.
    pub did: Did,
}

/// What a thread did.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Did {
    /// It woke a thread that waited, or was about to.
    Woke {
        /// Whom.
        whom: Id,
        /// That thread had waited; otherwise it was still on its way.
        waited: bool,
    },
    /// It was on its way to wait when a thread woke it.
    Raced(Id),
    /// It was on its way to wait when an interrupt woke it.
    RacedInterrupt,
    /// It forked a thread.
    Forked(Id),
    /// It executed another program.
    Executed,
    /// It entered (`false`) or left (`true`) a marked function.
    Marked(u32, bool),
}

/// What was mended and counted.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Counts {
    /// Events.
    pub events: u64,
    /// Switches that were recorded.
    pub switches: u64,
    /// Switches that were not.
    pub missing: u64,
    /// Wake-ups that were recorded.
    pub wakes: u64,
    /// Waits that ended without one.
    pub unseen: u64,
    /// Wake-ups that preceded the switch of the sleeper.
    pub early: u64,
    /// Events that the recorder lost.
    pub lost: u64,
    /// The file has `sched_waking`, otherwise `sched_wakeup` stands for it.
    pub waking: bool,
    /// The file has `sched_stat_runtime`.
    pub runtime: bool,
}
