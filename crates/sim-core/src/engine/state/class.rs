//! What a task is by itself, where tasks change their scheduling class.

use crate::ids::{IdVec, TaskId};
use crate::program::{AppSpec, Scheduling, WEIGHT_IDLE, WEIGHT_REAL_TIME};

/// What a task is by itself: a lock that it has may raise it above that.
#[derive(Clone, Debug)]
pub(crate) struct Own {
    /// Its class and priority.
    pub(crate) scheduling: Scheduling,
    /// The load weight of its nice value.
    pub(crate) nice: u32,
    /// The same of a new process in its place.
    pub(crate) first: (Scheduling, u32),
    /// Of a real-time task: its load weight when it left the discipline, of which its lag is.
    pub(crate) weight_left: u32,
    /// Of a real-time task: it left the discipline in the middle of a request, and goes on with that.
    pub(crate) request_left: bool,
}

impl Own {
    /// What the tasks of these applications are at the start; nothing if none of them changes its class.
    /// `raised`: locks may change it.
    pub(crate) fn all(specs: &[AppSpec], raised: bool) -> IdVec<TaskId, Self> {
        if !raised && specs.iter().all(|spec| spec.classes().next().is_none()) {
            return IdVec::default();
        }
        let of = |spec: &AppSpec, rank: u32| {
            let (scheduling, nice) = (spec.scheduling_of(rank), spec.nice_weight_of(rank));
            let first = (scheduling, nice);
            Self { scheduling, nice, first, weight_left: nice, request_left: false }
        };
        specs.iter().flat_map(|spec| (0..spec.tasks).map(move |rank| of(spec, rank))).collect()
    }

    /// Its load weight as a task of a class (`set_load_weight`).
    pub(crate) const fn weight_as(&self, scheduling: Scheduling) -> u32 {
        match scheduling {
            Scheduling::Fifo(_) | Scheduling::RoundRobin(_) | Scheduling::Deadline(_) => WEIGHT_REAL_TIME,
            Scheduling::Idle => WEIGHT_IDLE,
            Scheduling::Other | Scheduling::Batch => self.nice,
        }
    }
}
