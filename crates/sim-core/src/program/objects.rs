//! What the programs of a run share: counted events, devices, named locks, and sources of requests.

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::ids::{EventId, Id as _, PoolId};
use crate::lock::LockRules;
use crate::program::{AppSpec, Op, Pool};
use crate::rng;
use crate::time::{Span, Time};

/// What the programs of a run share, each by its position here.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Objects {
    /// Counted events ([`crate::ids::EventId`]).
    pub events: Vec<Event>,
    /// Devices ([`crate::ids::DeviceId`]).
    pub devices: Vec<Device>,
    /// Locks ([`crate::ids::LockId`]) of applications with
    /// [`named_locks`](crate::program::AppSpec::named_locks).
    pub locks: Vec<NamedLock>,
    /// Sources of requests.
    pub sources: Vec<Source>,
    /// Pools of jobs ([`crate::ids::PoolId`]).
    pub pools: Vec<Pool>,
}

/// A counted event: a semaphore, the items or the free places of a queue, a condition, the end of a task.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Event {
    /// Its name in messages and reports.
    pub name: String,
    /// Units at the start.
    pub initial: u32,
    /// It keeps the instant at which each unit was posted, for the response times of those who take them.
    /// Then each operation on it concerns one unit, and units are kept.
    pub stamped: bool,
}

/// A device (a disk, a network card): servers with one queue, first come, first served.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Device {
    /// Its name in messages and reports.
    pub name: String,
    /// Pieces of work that it does at once, at least 1.
    pub servers: u32,
}

/// A lock that the applications of a run share.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct NamedLock {
    /// Its name in messages and reports.
    pub name: String,
    /// Its kind.
    pub rules: LockRules,
}

/// Requests from outside, which no scheduling delays: one unit of an event each.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Source {
    /// Its name in reports.
    pub name: String,
    /// The event that it posts.
    pub event: EventId,
    /// The free places of the queue, if it is bounded: a request takes one, and is lost when there is none.
    pub places: Option<EventId>,
    /// When the first one can come.
    pub start: Time,
    /// How many come at most.
    pub most: u64,
    /// When they come.
    pub arrivals: Arrivals,
}

/// When requests come.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Arrivals {
    /// At the start and then in these intervals.
    Every(Span),
    /// At random, with this mean interval (a Poisson process).
    Random(Span),
    /// At random with the first mean interval for an exponentially distributed time, then with the second one
    /// for another, and so on (a Markov-modulated Poisson process of two states).
    Bursts {
        /// Mean intervals of the two states.
        mean: [Span; 2],
        /// Mean lengths of the two states.
        lasts: [Span; 2],
    },
    /// So long after the start each, in ascending order.
    At(Arc<[Span]>),
}

/// Intervals of a state of bursts are below so many times its length in at least one of the two: otherwise a
/// request may come after any number of states without one.
const LONGEST_INTERVAL: u64 = 10_000;

impl Arrivals {
    /// Refuses times that cannot be: intervals and lengths of 0, bursts whose mean intervals are at least
    /// 10,000 times the mean length of their state in both, times that do not ascend.
    ///
    /// # Errors
    /// The end of a sentence that begins with the name of the source.
    pub fn check(&self) -> Result<(), String> {
        match self {
            Self::Every(span) | Self::Random(span) if *span == Span::ZERO => {
                Err("needs an interval above 0".into())
            }
            Self::Bursts { mean, lasts } => {
                if mean.iter().chain(lasts).any(|span| *span == Span::ZERO) {
                    return Err("needs intervals and lengths of states above 0".into());
                }
                let mut states = mean.iter().zip(lasts);
                if states.all(|(mean, last)| mean.ns() / LONGEST_INTERVAL >= last.ns()) {
                    return Err(format!(
                        "has states that end before a request comes: in one of the two at least, the mean \
                         interval is below {LONGEST_INTERVAL} times the mean length"
                    ));
                }
                Ok(())
            }
            Self::At(list) if !list.is_sorted() => Err("needs ascending times".into()),
            Self::Every(_) | Self::Random(_) | Self::At(_) => Ok(()),
        }
    }
}

/// Where a source stands.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Stream {
    key: u64,
    drawn: u64,
    at: Time,
    count: u64,
    /// The state of bursts, and when it ends.
    state: (usize, Time),
}

impl Source {
    /// Its stream in a run of this seed; `number`: its position in [`Objects::sources`].
    #[must_use]
    pub fn stream(&self, seed: u64, number: u32) -> Stream {
        let key = rng::key(seed, rng::Purpose::Source, u64::from(number));
        let mut stream = Stream { key, drawn: 0, at: self.start, count: 0, state: (0, self.start) };
        if let Arrivals::Bursts { lasts, .. } = &self.arrivals {
            stream.state.1 = self.start.saturating_add(stream.exponential(lasts[0]));
        }
        stream
    }

    /// When the next request comes; `None` when no more come.
    pub fn next(&self, stream: &mut Stream) -> Option<Time> {
        if stream.count >= self.most {
            return None;
        }
        let first = stream.count == 0;
        match &self.arrivals {
            Arrivals::Every(span) if !first => stream.at = stream.at.saturating_add(*span),
            Arrivals::Every(_) => {}
            Arrivals::Random(mean) => {
                let interval = stream.exponential(*mean);
                stream.at = stream.at.saturating_add(interval);
            }
            Arrivals::Bursts { mean, lasts } => loop {
                let (state, until) = stream.state;
                let at = stream.at.saturating_add(stream.exponential(mean[state]));
                if at <= until {
                    stream.at = at;
                    break;
                }
                // Without memory: the interval begins anew in the next state.
                stream.at = until;
                let other = 1 - state;
                stream.state = (other, until.saturating_add(stream.exponential(lasts[other])));
            },
            Arrivals::At(list) => {
                let after = list.get(usize::try_from(stream.count).unwrap_or(usize::MAX))?;
                stream.at = self.start.saturating_add(*after);
            }
        }
        stream.count += 1;
        Some(stream.at)
    }
}

impl Stream {
    fn exponential(&mut self, mean: Span) -> Span {
        self.drawn += 1;
        Span::from_ns(rng::exponential(mean.ns(), rng::draw(self.key, self.drawn)))
    }
}

impl Objects {
    /// Refuses objects that cannot be, and applications that use others.
    pub(crate) fn check(&self, apps: &[AppSpec]) -> Result<(), String> {
        self.pools.iter().try_for_each(Pool::check)?;
        for app in apps {
            for op in app.program.ops() {
                self.has(app, op)?;
            }
            for pool in pools_of(app) {
                let jobs = &self.pools[pool.index()];
                let name = &jobs.name;
                app.program
                    .can_work(jobs)
                    .map_err(|why| format!("application `{}` works in the pool `{name}`: {why}", app.name))?;
            }
        }
        for device in &self.devices {
            if device.servers == 0 {
                return Err(format!("the device `{}` has no servers", device.name));
            }
        }
        if let Some(event) = self.events.iter().find(|event| event.stamped && event.initial > 0) {
            return Err(format!("`{}` keeps instants and has units before the start", event.name));
        }
        for source in &self.sources {
            let of = |event: EventId| self.events.get(event.0 as usize);
            if of(source.event).is_none() || source.places.is_some_and(|event| of(event).is_none()) {
                return Err(format!("the source `{}` posts an event that is not declared", source.name));
            }
            source.arrivals.check().map_err(|why| format!("the source `{}` {why}", source.name))?;
        }
        Ok(())
    }
}

/// The pools that the tasks of an application work in.
pub(crate) fn pools_of(app: &AppSpec) -> BTreeSet<PoolId> {
    let pool = |op: &Op| if let Op::Work(pool) = op { Some(*pool) } else { None };
    app.program.ops().iter().filter_map(pool).collect()
}

impl Objects {
    /// Refuses an operation on an object that is not there or does not suit it.
    fn has(&self, app: &AppSpec, op: &Op) -> Result<(), String> {
        let unknown = |what: &str| Err(format!("application `{}` uses {what}", app.name));
        let event = |event: EventId| self.events.get(event.index());
        match *op {
            Op::Post { event: of, count, kept } => match event(of) {
                None => unknown("an event that is not declared"),
                Some(event) if event.stamped && (count != 1 || !kept) => {
                    unknown("an event that keeps instants other than by units that stay")
                }
                Some(_) => Ok(()),
            },
            Op::Take { event: of, count } => match event(of) {
                None => unknown("an event that is not declared"),
                Some(event) if event.stamped && count != 1 => {
                    unknown("an event that keeps instants other than by units")
                }
                Some(_) => Ok(()),
            },
            Op::Arm(of) | Op::Meet { event: of, .. } => match event(of) {
                None => unknown("an event that is not declared"),
                Some(event) if event.stamped => unknown("an event that keeps instants to meet or signal"),
                Some(_) => Ok(()),
            },
            Op::Io { device, .. } if device.index() >= self.devices.len() => {
                unknown("a device that is not declared")
            }
            Op::Lock(lock) | Op::Unlock(lock) if app.named_locks && lock.index() >= self.locks.len() => {
                unknown("a lock that is not declared")
            }
            Op::Work(pool) if pool.index() >= self.pools.len() => unknown("a pool that is not declared"),
            _ => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn source(arrivals: Arrivals) -> Source {
        let (name, event) = ("requests".to_owned(), EventId(0));
        Source { name, event, places: None, start: Time::from_ns(7), most: 50_000, arrivals }
    }

    fn times(arrivals: Arrivals) -> Vec<u64> {
        let source = source(arrivals);
        let mut stream = source.stream(3, 0);
        std::iter::from_fn(|| source.next(&mut stream)).map(Time::ns).collect()
    }

    #[test]
    fn requests_come_at_their_instants() {
        assert_eq!(times(Arrivals::Every(Span::from_ns(10)))[..3], [7, 17, 27]);
        let list = [0, 0, 5].map(Span::from_ns);
        assert_eq!(times(Arrivals::At(Arc::from(list))), [7, 7, 12]);
    }

    #[test]
    #[cfg_attr(miri, ignore = "the mean of 50,000 intervals")]
    fn random_requests_have_their_rates() {
        let last = |arrivals| *times(arrivals).last().unwrap() as f64 / 50_000.0;
        let (short, long) = (Span::from_us(1), Span::from_us(100));
        let steady = last(Arrivals::Random(long));
        assert!((steady / 100_000.0 - 1.0).abs() < 0.02, "{steady}");
        // Half of the time at each rate: the mean rate is that of both.
        let bursts = last(Arrivals::Bursts { mean: [long, short], lasts: [long; 2] });
        assert!((bursts / (2.0 / (1.0 / 100_000.0 + 1.0 / 1_000.0)) - 1.0).abs() < 0.06, "{bursts}");
    }

    #[test]
    fn one_state_of_bursts_is_long_enough_for_requests() {
        let bursts = |mean: [u64; 2], lasts: [u64; 2]| Arrivals::Bursts {
            mean: mean.map(Span::from_ns),
            lasts: lasts.map(Span::from_ns),
        };
        let long = 1_000_000_000_000_000;
        assert!(bursts([long, 49_999], [1, 5]).check().is_ok());
        assert!(bursts([49_999, long], [5, 1]).check().is_ok());
        assert!(bursts([long, 50_000], [1, 5]).check().is_err_and(|why| why.contains("10000 times")));
        assert!(bursts([1, 0], [1, 1]).check().is_err_and(|why| why.contains("above 0")));
        let objects = Objects {
            events: vec![Event { name: "e".into(), initial: 0, stamped: false }],
            sources: vec![source(bursts([long; 2], [1; 2]))],
            ..Objects::default()
        };
        assert!(objects.check(&[]).is_err_and(|why| why.starts_with("the source `requests` has states")));
        // The least that is let through has its requests.
        let slow = Source { most: 20, ..source(bursts([long, 49_999], [1, 5])) };
        let mut stream = slow.stream(3, 0);
        assert_eq!(std::iter::from_fn(|| slow.next(&mut stream)).count(), 20);
    }

    #[test]
    fn impossible_objects_are_refused() {
        let event = |stamped, initial| Event { name: "e".into(), initial, stamped };
        let with =
            |events, arrivals| Objects { events, sources: vec![source(arrivals)], ..Objects::default() };
        let every = |ns| Arrivals::Every(Span::from_ns(ns));
        assert!(with(vec![event(true, 0)], every(1)).check(&[]).is_ok());
        assert!(with(vec![], every(1)).check(&[]).is_err());
        assert!(with(vec![event(true, 1)], every(1)).check(&[]).is_err());
        assert!(with(vec![event(true, 0)], every(0)).check(&[]).is_err());
        let late = Arrivals::At([5, 4].map(Span::from_ns).into());
        assert_eq!(late.check(), Err("needs ascending times".into()));
        let device = Device { name: "disk".into(), servers: 0 };
        assert!(Objects { devices: vec![device], ..Objects::default() }.check(&[]).is_err());
    }
}
