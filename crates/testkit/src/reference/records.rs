//! What the reference engine knows of the groups, queues and classes of a cpu: records without rules.

use sim_core::program::{AppSpec, Scheduling, WEIGHT_IDLE, WEIGHT_REAL_TIME};

use super::server::{RefServer, Standing};
use super::tracks::Tracks;

/// A task, or a group on the cpu at hand.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Ent {
    Task(usize),
    Group(usize),
}

/// What the order of one among its peers depends on.
#[derive(Clone, Copy)]
pub(super) struct Keys {
    pub(super) weight: u32,
    pub(super) v: i64,
    pub(super) deadline: i64,
    pub(super) protection: i64,
    pub(super) vlag: i64,
    /// The slice, ns.
    pub(super) slice: u64,
}

/// A group on a cpu.
#[derive(Clone)]
pub(super) struct RefGroup {
    pub(super) keys: Keys,
    pub(super) queued: bool,
    pub(super) delayed: bool,
    /// It was picked last among its peers.
    pub(super) chosen: bool,
    /// Of a limited group: the cpu time it has left here, negative when overdrawn; since when it is
    /// throttled.
    pub(super) left: i64,
    pub(super) throttled: Option<u64>,
    /// Its load averages.
    pub(super) tracks: Tracks,
    /// Its queue under CFS; since when it has its turn in the one around it, and when it last had one.
    pub(super) fair: RefQueue,
    pub(super) picked: u64,
    pub(super) last_ran: u64,
}

impl RefGroup {
    pub(super) fn new(weight: u32, slice: u64) -> Self {
        let keys = Keys { weight, v: 0, deadline: 0, protection: 0, vlag: 0, slice };
        Self {
            keys,
            queued: false,
            delayed: false,
            chosen: false,
            left: 0,
            throttled: None,
            tracks: Tracks::default(),
            fair: RefQueue::default(),
            picked: 0,
            last_ran: 0,
        }
    }

    /// It is no longer queued.
    pub(super) const fn clear(&mut self) {
        (self.queued, self.delayed, self.chosen) = (false, false, false);
    }
}

/// What the queue of a group on a cpu, or of the cpu, remembers.
#[derive(Clone, Copy, Default)]
pub(super) struct RefQueue {
    pub(super) minimum: i64,
    /// Who was woken and preempted, whom it preempted, who has yielded.
    pub(super) next: Option<Ent>,
    pub(super) last: Option<Ent>,
    pub(super) skipped: Option<Ent>,
    /// When nobody was followed.
    pub(super) pair_start: u64,
}

/// The class on a cpu.
#[derive(Default)]
pub(super) struct RefClass {
    /// Who waits, best first.
    pub(super) line: Vec<usize>,
    /// Who has used up what it has reserved.
    pub(super) parked: Vec<usize>,
    pub(super) stopped: bool,
    /// Run in this period.
    pub(super) ran: u64,
    pub(super) server: RefServer,
    /// Who waits and goes before an equal that has the cpu.
    pub(super) ahead: Option<usize>,
}

impl RefClass {
    /// Nobody waits.
    pub(super) const fn is_empty(&self) -> bool {
        self.line.is_empty() && self.parked.is_empty()
    }

    pub(super) const fn standing(&self) -> Standing {
        if self.stopped {
            Standing::Stopped
        } else if self.server.goes_first() {
            Standing::Below
        } else {
            Standing::Above
        }
    }
}

/// The level of the tasks of the class, which no other task has.
pub(super) const APART: u8 = 200;

/// What a task is by itself.
#[derive(Clone, Copy)]
pub(super) struct RefOwn {
    pub(super) scheduling: Scheduling,
    /// The weight of its nice value.
    pub(super) nice: u32,
    /// What a new process in its place is.
    pub(super) first: (Scheduling, u32),
    /// Of the class: the weight that it had before, and whether it left its queue for the class.
    pub(super) left: (u32, bool),
}

impl RefOwn {
    pub(super) fn of(spec: &AppSpec, rank: u32) -> Self {
        let (scheduling, nice) = (spec.scheduling_of(rank), spec.nice_weight_of(rank));
        Self { scheduling, nice, first: (scheduling, nice), left: (nice, false) }
    }

    pub(super) const fn weighs(&self, scheduling: Scheduling) -> u32 {
        match scheduling {
            Scheduling::Idle => WEIGHT_IDLE,
            Scheduling::Other | Scheduling::Batch => self.nice,
            Scheduling::Fifo(_) | Scheduling::RoundRobin(_) | Scheduling::Deadline(_) => WEIGHT_REAL_TIME,
        }
    }
}

/// The server of a task.
#[derive(Clone, Copy, Default)]
pub(super) struct RefReserve {
    pub(super) runtime: i64,
    pub(super) deadline: u64,
    pub(super) throttled: bool,
    pub(super) yielded: bool,
    /// For which instant its timer is set.
    pub(super) timer: Option<u64>,
}
