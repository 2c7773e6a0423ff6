//! What the disciplines with priorities have in common: a slice that is used up over several turns, after which the
//! task gets a new priority and goes behind its equals; a task that was pre-empted before that comes first among them.
//!
//! Slices are used up to the nanosecond and end at the next tick; the kernels charge whole ticks to whoever they hit.

use crate::engine::state::Cpu;
use crate::ids::TaskId;
use crate::os::{Discipline, NICE_WEIGHTS, O1Params, TsParams, UleParams};
use crate::run_queue::{Entry, Tasks, o1, ts, ule};
use crate::time::{Span, Time};

/// Slice and history of a task.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Share {
    /// Used of the present slice, ns.
    pub(crate) used: u64,
    /// O(1): ns of running until the sleep average is used up. ULE: ns of sleep in its history.
    pub(crate) rest: u64,
    /// ULE: ns of running in its history.
    pub(crate) ran: u64,
    /// TS: updates since its last quantum began.
    pub(crate) waited: u32,
    /// Its slice is used up: it goes behind its equals at the next tick.
    pub(crate) expired: bool,
    /// It goes before its equals when it is put back.
    pub(crate) front: bool,
}

/// A discipline with priorities.
impl Share {
    /// Nothing used, nothing remembered.
    pub(crate) const NONE: Self = Self { used: 0, rest: 0, ran: 0, waited: 0, expired: false, front: false };
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Multilevel {
    O1(O1Params),
    Ule(UleParams),
    Ts(TsParams),
}

/// Where a task runs: what its slice and its next priority depend on.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Setting {
    /// The queue's `min_vruntime`: under O(1) the key of the active array.
    pub(crate) base: i64,
    pub(crate) running: u32,
    /// Somebody else waits.
    pub(crate) contested: bool,
    /// Start of the stretch of running.
    pub(crate) from: Time,
    /// From when on the expired tasks starve (O(1)).
    pub(crate) starving: Time,
}

/// The task that forks another.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Parent {
    pub(crate) share: Share,
    pub(crate) key: i64,
}

/// Sets slice, history and key of a task that enters.
pub(crate) fn place(
    discipline: &Discipline,
    tasks: &mut Tasks,
    cpu: &Cpu,
    id: TaskId,
    (entry, now): (Entry, Time),
) {
    let parent = tasks[id].history.parent.some().filter(|_| entry == Entry::Fork);
    let mut by =
        parent.map(|parent| Parent { share: tasks[parent].history.share, key: tasks[parent].vruntime });
    let task = &mut tasks[id];
    if entry == Entry::Fork && by.is_none() {
        task.history.share = Share::default();
    }
    task.history.share.expired = false;
    task.history.share.front = false;
    match discipline {
        Discipline::O1(params) => o1::place(params, task, by.as_mut(), cpu.min_vruntime, (entry, now)),
        Discipline::Ule(params) => ule::place(params, task, by.as_ref(), entry, now),
        Discipline::Ts(params) => ts::place(params, task, by.as_ref(), entry),
        _ => {}
    }
    if let (Some(parent), Some(by)) = (parent, by) {
        tasks[parent].history.share = by.share;
    }
}

/// The nice value of a weight: the first that is not heavier.
pub(crate) fn nice(weight: u32) -> i64 {
    NICE_WEIGHTS.iter().position(|w| *w <= weight).unwrap_or(NICE_WEIGHTS.len() - 1) as i64 - 20
}

impl Multilevel {
    pub(crate) const fn of(discipline: &Discipline) -> Option<Self> {
        match discipline {
            Discipline::O1(params) => Some(Self::O1(*params)),
            Discipline::Ule(params) => Some(Self::Ule(*params)),
            Discipline::Ts(params) => Some(Self::Ts(*params)),
            _ => None,
        }
    }

    /// The slice of a task.
    pub(crate) fn slice(&self, key: i64, weight: u32, running: u32) -> Span {
        let slice = match self {
            Self::O1(params) => o1::slice(params, weight),
            Self::Ule(params) => ule::slice(params, running),
            Self::Ts(params) => ts::quantum(params, key),
        };
        slice.max(Span::from_ns(1))
    }

    /// What of its slice a task has left.
    pub(crate) fn room(&self, share: &Share, key: i64, weight: u32, running: u32) -> u64 {
        self.slice(key, weight, running).ns().saturating_sub(share.used)
    }

    /// A task runs for a span: its history grows, and whenever a slice is used up it gets a new key. The result does
    /// not depend on how a stretch is divided.
    pub(crate) fn run(&self, setting: &Setting, weight: u32, key: &mut i64, share: &mut Share, span: Span) {
        let (mut left, mut at) = (span.ns(), setting.from);
        loop {
            let room = self.room(share, *key, weight, setting.running);
            let part = left.min(room);
            match self {
                Self::O1(_) => share.rest = share.rest.saturating_sub(part),
                Self::Ule(_) => share.ran += part,
                Self::Ts(_) => {}
            }
            if left < room {
                share.used += left;
                return;
            }
            left -= room;
            at += Span::from_ns(room);
            share.used = 0;
            share.expired = setting.contested;
            *key = match self {
                Self::O1(params) => o1::expire(params, setting, weight, share, at),
                Self::Ule(params) => ule::expire(params, weight, share),
                Self::Ts(params) => ts::expire(params, *key, share),
            };
        }
    }

    /// The key of a task that yields, after `yields` in a row.
    pub(crate) const fn yielded(&self, base: i64, key: i64, yields: i64) -> i64 {
        match self {
            Self::O1(_) => o1::next_array(base, key, yields),
            Self::Ule(_) | Self::Ts(_) => key,
        }
    }

    /// True when the key of a task stays the same when its slice ends, now and for as long as it only runs.
    pub(crate) fn steady(&self, key: i64, weight: u32, share: &Share) -> bool {
        match self {
            Self::O1(params) => share.rest == 0 && o1::priority_of(key) == o1::priority(params, weight, 0),
            Self::Ule(params) => ule::is_batch(key) && params.interactive <= 50 && share.ran >= share.rest,
            Self::Ts(_) => key == 0,
        }
    }
}
