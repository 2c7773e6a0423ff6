//! The objects of programs with their numbers: those that programs share, and those of each.

use std::collections::BTreeMap;

use sim_core::ids::{DeviceId, EventId, LockId, PoolId};
use sim_core::machine::CpuSet;
use sim_core::program::{Device, Event, NamedLock, Objects, Pool, PoolRules, Source};
use sim_core::time::Time;

use super::draft::{Draft, Feed, LockForm, QueueForm, of};
use super::uses::{Key, Sort, Uses};

/// Marks the number of an object that programs share: the others follow behind these in a run.
pub(super) const SHARED: u32 = 1 << 31;

/// Units of an event to let go all who wait.
pub(super) const ALL: u32 = u32::MAX;

/// An object's number, or numbers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Number {
    Lock(LockId),
    /// A semaphore or a condition.
    Event(EventId),
    /// Items, free places if it is bounded, and the work of copying an item.
    Queue {
        items: EventId,
        places: Option<EventId>,
        form: QueueForm,
    },
    /// With how many meet.
    Barrier(EventId, u32),
    Device(DeviceId),
    /// Starts and ends of the tasks of a kind.
    Kind {
        start: EventId,
        end: EventId,
    },
    /// The pool of a graph.
    Graph(PoolId),
}

/// The objects of all programs.
#[derive(Clone, PartialEq, Debug, Default)]
pub(super) struct All {
    pub(super) numbers: BTreeMap<Key, Number>,
    /// Those that programs share.
    pub(super) shared: Objects,
    /// Those of each program.
    pub(super) own: Vec<Objects>,
    /// What feeds the queues of each program.
    pub(super) feeds: Vec<Vec<(Source, Feed)>>,
}

/// Numbers all objects in use.
pub(super) fn all(drafts: &[Draft], uses: &Uses) -> All {
    let mut all = All {
        own: vec![Objects::default(); drafts.len()],
        feeds: vec![Vec::new(); drafts.len()],
        ..All::default()
    };
    for (key, sides) in uses {
        let (owner, sort, name) = key;
        // Who declares it, the first one for shared names.
        let of_owner = |at: &usize| owner.map_or_else(|| drafts[*at].shares(name), |own| own == *at);
        let owners: Vec<&Draft> = (0..drafts.len()).filter(of_owner).map(|at| &drafts[at]).collect();
        let (objects, mark) = match owner {
            Some(app) => (&mut all.own[*app], 0),
            None => (&mut all.shared, SHARED),
        };
        let mut event = |name: String, initial, stamped| {
            objects.events.push(Event { name, initial, stamped });
            EventId((objects.events.len() - 1) as u32 | mark)
        };
        let number = match sort {
            Sort::Lock => {
                let form = owners.iter().find_map(|draft| of(&draft.locks, name)).copied();
                let copies = |draft: &Draft| if owner.is_none() { u64::from(draft.copies) } else { 1 };
                let tasks: u64 = owners.iter().map(|draft| draft.tasks() * copies(draft)).sum();
                let (enough, few) = form.unwrap_or(LockForm::Kind(0)).rules();
                let rules = if tasks > cpus(&owners) { few } else { enough };
                objects.locks.push(NamedLock { name: name.clone(), rules });
                Number::Lock(LockId((objects.locks.len() - 1) as u32 | mark))
            }
            Sort::Condition => Number::Event(event(name.clone(), 0, false)),
            Sort::Semaphore => {
                let units = owners.iter().find_map(|draft| of(&draft.semaphores, name)).copied();
                Number::Event(event(name.clone(), units.unwrap_or(0), false))
            }
            Sort::Queue => {
                let form =
                    owners.iter().find_map(|draft| of(&draft.queues, name)).copied().unwrap_or_default();
                let fed = owners.iter().any(|draft| of(&draft.arrivals, name).is_some());
                let items = event(name.clone(), 0, fed);
                let places = form.places.map(|places| event(format!("free places in {name}"), places, false));
                Number::Queue { items, places, form }
            }
            Sort::Barrier => {
                let declared = owners.iter().find_map(|draft| of(&draft.barriers, name)).copied();
                let users = sides.users.iter().map(|(app, kind)| {
                    let copies = if owner.is_none() { u64::from(drafts[*app].copies) } else { 1 };
                    u64::from(drafts[*app].kinds[*kind].count) * copies
                });
                let parties = declared.unwrap_or(users.sum::<u64>().min(u64::from(u32::MAX)) as u32);
                Number::Barrier(event(name.clone(), 0, false), parties)
            }
            Sort::Device => {
                let servers = owners.iter().find_map(|draft| of(&draft.devices, name)).copied().unwrap_or(1);
                objects.devices.push(Device { name: name.clone(), servers });
                Number::Device(DeviceId((objects.devices.len() - 1) as u32 | mark))
            }
            Sort::Graph => {
                objects.pools.push(pool(&owners, name));
                Number::Graph(PoolId((objects.pools.len() - 1) as u32))
            }
            Sort::Kind => {
                let start = event(format!("start of {name}"), 0, false);
                Number::Kind { start, end: event(format!("end of {name}"), 0, false) }
            }
        };
        all.numbers.insert(key.clone(), number);
    }
    feed(drafts, &mut all);
    all
}

/// The pool of a graph; its jobs are compiled later.
fn pool(owners: &[&Draft], name: &str) -> Pool {
    let graph = owners.iter().find_map(|draft| of(&draft.graphs, name));
    let rules = graph.map_or(PoolRules::STEALING, |graph| graph.rules);
    Pool { name: name.to_owned(), jobs: [].into(), rules }
}

/// The cpus that one of these programs or another may use.
fn cpus(owners: &[&Draft]) -> u64 {
    let sets: Option<Vec<&CpuSet>> = owners.iter().map(|draft| draft.allowed.as_ref()).collect();
    let all = owners.iter().map(|draft| draft.cpus).max().unwrap_or(1);
    u64::from(match sets {
        None => all,
        Some(sets) => CpuSet::of(sets.into_iter().flat_map(CpuSet::iter)).len().min(all),
    })
}

/// The sources of requests.
fn feed(drafts: &[Draft], all: &mut All) {
    for (app, draft) in drafts.iter().enumerate() {
        for (name, feed) in &draft.arrivals {
            let key = super::uses::key(drafts, app, Sort::Queue, &name.text);
            if let Some(Number::Queue { items, places, .. }) = all.numbers.get(&key) {
                let source = Source {
                    name: name.text.clone(),
                    event: *items,
                    places: *places,
                    start: Time::ZERO,
                    most: feed.most,
                    arrivals: feed.arrivals.clone(),
                };
                all.feeds[app].push((source, feed.clone()));
            }
        }
    }
}
