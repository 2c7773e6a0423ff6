//! What the programs of a run share besides locks: their state.

use crate::counted::{Event, Servers};
use crate::event::{Timer, Timers};
use crate::ids::{DeviceId, EventId, IdVec, PoolId, TaskId};
use crate::jobs::Pool;
use crate::outcome::SourceReport;
use crate::program::{Objects, Source, Stream};

/// What the programs of a run share besides locks.
pub(crate) struct RunObjects {
    pub(crate) events: IdVec<EventId, Event>,
    pub(crate) devices: IdVec<DeviceId, Servers>,
    pub(crate) sources: Vec<Flow>,
    pub(crate) pools: IdVec<PoolId, Pool>,
    /// The names of the locks that applications share.
    pub(crate) lock_names: Vec<String>,
}

/// A source of requests, and how far it is.
pub(crate) struct Flow {
    pub(crate) source: Source,
    stream: Stream,
    pub(crate) came: u64,
    pub(crate) lost: u64,
}

impl Flow {
    /// Arms the next request, if one comes; `number`: that of the source.
    pub(crate) fn arm(&mut self, number: u32, timers: &mut Timers) {
        if let Some(at) = self.source.next(&mut self.stream) {
            timers.arm(at, Timer::Source(number));
        }
    }

    /// What it has done.
    pub(crate) fn report(&self) -> SourceReport {
        SourceReport { name: self.source.name.clone(), came: self.came, lost: self.lost }
    }
}

impl RunObjects {
    /// The state at the beginning, for so many tasks; `workers`: those of each pool. The first request of
    /// each source is armed.
    pub(crate) fn new(
        objects: Objects,
        seed: u64,
        (tasks, workers): (usize, &[Vec<TaskId>]),
        timers: &mut Timers,
    ) -> Self {
        let pool =
            |((number, pool), workers): ((u32, _), &Vec<TaskId>)| Pool::new(pool, number, seed, workers);
        let flow = |(number, source): (u32, Source)| {
            let stream = source.stream(seed, number);
            let mut flow = Flow { source, stream, came: 0, lost: 0 };
            flow.arm(number, timers);
            flow
        };
        Self {
            events: objects.events.into_iter().map(Event::new).collect(),
            devices: objects.devices.into_iter().map(|device| Servers::new(device, tasks)).collect(),
            sources: (0..).zip(objects.sources).map(flow).collect(),
            pools: (0..).zip(objects.pools).zip(workers).map(pool).collect(),
            lock_names: objects.locks.into_iter().map(|lock| lock.name).collect(),
        }
    }
}
