//! What is known of each thread and each cpu while a recording is followed.

use super::stint::{Point, Start, Timer};
use crate::threads::Id;

/// From the start of a timer until its sleeper gives up its cpu, and from its end until it wakes, at most, in
/// ns.
pub(super) const ARMED: u64 = 1_000_000;

/// What a thread does at present.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) enum Now {
    Unknown,
    Runs {
        cpu: u32,
    },
    Queued {
        start: Start,
    },
    Waits {
        since: u64,
    },
    /// Its cpu went to another thread unseen: it was pre-empted, or it waits.
    Gone {
        since: u64,
    },
}

#[derive(Debug)]
pub(super) struct Follow {
    pub(super) now: Now,
    /// Beginning of the stint.
    pub(super) from: u64,
    pub(super) start: Start,
    pub(super) mended: bool,
    pub(super) idle: bool,
    /// A `sched_stat_runtime` of this stint has come.
    pub(super) measured: bool,
    pub(super) points: Vec<Point>,
    pub(super) timer: Option<(u64, Timer)>,
    /// The last timer that expired for it, and when.
    pub(super) fired: Option<(u64, Timer)>,
    /// When it was woken before it gave up its cpu, in ns.
    pub(super) early: Option<u64>,
    /// When it last called `sched_yield`, in ns.
    pub(super) yielded: Option<u64>,
    /// `sched_process_exit` has come.
    pub(super) leaving: bool,
}

impl Follow {
    pub(super) const fn new() -> Self {
        Self {
            now: Now::Unknown,
            from: 0,
            start: Start::First,
            mended: false,
            idle: false,
            measured: false,
            points: Vec::new(),
            timer: None,
            fired: None,
            early: None,
            yielded: None,
            leaving: false,
        }
    }

    /// The timer that the thread had started before it waited and that expired in the meantime: one that is
    /// on the clock of the recording.
    pub(super) fn armed(&self, since: u64, now: u64) -> Option<Timer> {
        let (_, timer) = self.timer?;
        let asked = timer.asked <= since && since - timer.asked <= ARMED;
        Some(timer).filter(|timer| asked && (since..=now).contains(&timer.expires))
    }
}

#[derive(Clone, Copy, Default, Debug)]
pub(super) struct Cpu {
    /// Who runs: nobody known, the idle thread, or a thread.
    pub(super) runs: Option<Option<Id>>,
    /// The last event.
    pub(super) last: u64,
    /// The last switch.
    pub(super) switched: u64,
    /// The end of the last stint.
    pub(super) busy: u64,
    pub(super) seen: bool,
    pub(super) interrupts: u32,
    pub(super) softirq: Option<u32>,
    /// The last timer that expired.
    pub(super) expired: Option<u64>,
}
