//! What the reference engine knows of the objects that programs share: records without rules.

use sim_core::ids::EventId;
use sim_core::outcome::{DeviceReport, SourceReport};
use sim_core::program::{AppSpec, Objects, Source, Stream};

use super::pools::RefPool;

/// A counted event.
pub(super) struct RefEvent {
    pub(super) name: String,
    /// Units that nobody has taken, or tasks that have come to a meeting.
    pub(super) value: u32,
    /// When each unit was posted, the oldest first, if that is kept.
    pub(super) stamps: Option<Vec<u64>>,
    /// Who waits or has begun to, and for how many units: first come, first served.
    pub(super) line: Vec<(usize, u32)>,
}

/// A device: until when each server is busy.
pub(super) struct RefDevice {
    pub(super) servers: Vec<u64>,
    pub(super) report: DeviceReport,
}

/// A source of requests.
pub(super) struct RefSource {
    pub(super) spec: Source,
    pub(super) stream: Stream,
    pub(super) report: SourceReport,
}

/// Everything that the programs of a run share, but locks.
pub(super) struct RefObjects {
    pub(super) events: Vec<RefEvent>,
    pub(super) devices: Vec<RefDevice>,
    pub(super) sources: Vec<RefSource>,
    pub(super) jobs: Vec<RefPool>,
}

impl RefObjects {
    pub(super) fn new(objects: &Objects, specs: &[AppSpec], seed: u64) -> Self {
        let event = |event: &sim_core::program::Event| RefEvent {
            name: event.name.clone(),
            value: event.initial,
            stamps: event.stamped.then(Vec::new),
            line: Vec::new(),
        };
        let device = |device: &sim_core::program::Device| RefDevice {
            servers: vec![0; device.servers as usize],
            report: DeviceReport { name: device.name.clone(), served: 0, busy_ns: 0, waited_ns: 0 },
        };
        let source = |(number, source): (u32, &Source)| RefSource {
            spec: source.clone(),
            stream: source.stream(seed, number),
            report: SourceReport { name: source.name.clone(), came: 0, lost: 0 },
        };
        Self {
            events: objects.events.iter().map(event).collect(),
            devices: objects.devices.iter().map(device).collect(),
            sources: (0..).zip(&objects.sources).map(source).collect(),
            jobs: RefPool::all(objects, specs, seed),
        }
    }

    /// When each source begins, in order.
    pub(super) fn first_requests(&mut self) -> Vec<(u64, usize)> {
        let numbers = 0..self.sources.len();
        numbers.filter_map(|number| Some((self.next_request(number)?, number))).collect()
    }

    /// When the next request of a source comes.
    pub(super) fn next_request(&mut self, number: usize) -> Option<u64> {
        let source = &mut self.sources[number];
        source.spec.next(&mut source.stream).map(sim_core::time::Time::ns)
    }

    /// It keeps when each unit was posted.
    pub(super) fn is_stamped(&self, event: EventId) -> bool {
        self.events[event.0 as usize].stamps.is_some()
    }

    pub(super) fn source_reports(&self) -> Vec<SourceReport> {
        self.sources.iter().map(|source| source.report.clone()).collect()
    }

    pub(super) fn device_reports(&self, now: u64) -> Vec<DeviceReport> {
        let report = |device: &RefDevice| {
            let mut report = device.report.clone();
            for free in &device.servers {
                report.busy_ns -= free.saturating_sub(now);
            }
            report
        };
        self.devices.iter().map(report).collect()
    }
}
