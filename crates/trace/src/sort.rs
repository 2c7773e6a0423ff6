//! The facts of a run, as records that are sorted by time when it is over.

use sim_core::wait::Scope;

/// The kind of fact of a record.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Kind {
    /// Task `a` is runnable on `cpu`.
    Runnable,
    /// Task `a` went to sleep.
    Slept,
    /// Task `a` ended.
    Exited,
    /// Task `a` moved from `cpu` to cpu `b`.
    Migrated,
    /// Task `a` arrived at barrier `b` of scope `cpu`, or waits for lock `b` where `cpu` is [`LOCK`], or
    /// sleeps for what [`SLEEP`] and the numbers behind it say.
    Arrived,
    /// Task `a` went on from there.
    Released,
    /// Barrier `b` of scope `cpu` of application `a` is complete.
    Barrier,
    /// Application `a` started.
    Started,
    /// Application `a` ended.
    Ended,
    /// The policy decided about task `a` (`u32::MAX`: none) by rule `b`; `cpu` is what it did.
    Decided,
    /// A slice on `cpu` ended: occupant `a` of sort `b`.
    End,
    /// A slice on `cpu` began.
    Begin,
}

/// In place of the scope of a barrier: a lock.
pub(crate) const LOCK: u32 = Scope::COUNT as u32;
/// In place of the scope of a barrier: what a task sleeps for, in the order of [`SLEEPS`].
pub(crate) const SLEEP: u32 = LOCK + 1;
/// What tasks sleep for besides barriers and locks.
pub(crate) const SLEEPS: [&str; 6] =
    ["a timer", "a message", "a job", "a command from outside", "device", "event"];
/// Of these a timer,
pub(crate) const TIMER: u32 = SLEEP;
/// a message,
pub(crate) const MESSAGE: u32 = SLEEP + 1;
/// a job of a pool,
pub(crate) const JOB: u32 = SLEEP + 2;
/// a command from outside;
pub(crate) const COMMAND: u32 = SLEEP + 3;
/// and those with a number or a name of their own: a device,
pub(crate) const DEVICE: u32 = SLEEP + 4;
/// an event.
pub(crate) const EVENT: u32 = SLEEP + 5;

impl Kind {
    /// Within an instant facts come first, in their order, then ends, then begins.
    const fn class(self) -> u8 {
        match self {
            Self::End => 1,
            Self::Begin => 2,
            _ => 0,
        }
    }
}

/// Something that happened at an instant.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Record {
    /// When, in nanoseconds.
    pub(crate) at: u64,
    pub(crate) kind: Kind,
    pub(crate) cpu: u32,
    pub(crate) a: u32,
    pub(crate) b: u32,
}

impl Record {
    /// What comes first is smaller.
    #[inline]
    pub(crate) const fn key(&self) -> (u64, u8) {
        (self.at, self.kind.class())
    }
}
