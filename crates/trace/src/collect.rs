//! Collects what a trace is made of while a run goes on: slices, facts and decisions as records of 24
//! bytes.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::rc::Rc;

use sim_core::account::Account;
use sim_core::ids::{CpuId, Id, TaskId};
use sim_core::machine::Machine;
use sim_core::observe::{LeaveReason, Observation, Observer, Sleep};
use sim_core::policy::{Action, Decision};
use sim_core::program::{AppSpec, Objects};
use sim_core::time::{Span, Time};

use crate::slices::{Mark, Occupant, Owners, Sink, Slice, Slices};
use crate::sort::{COMMAND, DEVICE, EVENT, JOB, Kind, LOCK, MESSAGE, Record, SLEEP, TIMER};
use crate::tracks::{StandIn, Tracks};

/// What a slice is of, as reported in [`Record::b`].
pub(crate) const WORKS: u32 = 0;
/// A task that waits.
pub(crate) const WAITS: u32 = 1;
/// Tasks of an application that wait in turns.
pub(crate) const TURNS: u32 = 2;
/// Tasks of several applications that wait in turns.
pub(crate) const MIXED: u32 = 3;
/// The kernel.
pub(crate) const SYSTEM: u32 = 4;

/// What the collectors share.
struct Pool {
    records: Vec<Record>,
    /// Who ran on which cpu besides tasks.
    stand_ins: BTreeSet<(StandIn, u32)>,
    /// The rules of decisions in order of appearance.
    rules: Vec<&'static str>,
}

impl Pool {
    fn push(&mut self, at: Time, kind: Kind, cpu: u32, a: u32, b: u32) {
        self.records.push(Record { at: at.ns(), kind, cpu, a, b });
    }

    /// The number of a rule; there are some dozens.
    fn rule(&mut self, rule: &'static str) -> u32 {
        let known = self.rules.iter().position(|other| *other == rule);
        let at = known.unwrap_or_else(|| {
            self.rules.push(rule);
            self.rules.len() - 1
        });
        at as u32
    }
}

/// Takes in slices and marks.
struct Collector {
    pool: Rc<RefCell<Pool>>,
}

impl Sink for Collector {
    fn slice(&mut self, slice: &Slice) {
        let (sort, who, stand_in) = match slice.who {
            Occupant::Idle => return,
            Occupant::Works(task) => (WORKS, task.0, None),
            Occupant::Waits(task) => (WAITS, task.0, None),
            Occupant::WaitInTurns(app) => (TURNS, app.0, Some(StandIn::Turns(app.0))),
            Occupant::WaitMixed => (MIXED, 0, Some(StandIn::Mixed)),
            Occupant::System => (SYSTEM, 0, Some(StandIn::System)),
        };
        let mut pool = self.pool.borrow_mut();
        if let Some(stand_in) = stand_in {
            pool.stand_ins.insert((stand_in, slice.cpu.0));
        }
        pool.push(slice.from, Kind::Begin, slice.cpu.0, who, sort);
        pool.push(slice.to, Kind::End, slice.cpu.0, who, sort);
    }

    fn mark(&mut self, at: Time, mark: &Mark) {
        let mut pool = self.pool.borrow_mut();
        match mark {
            Mark::AppStarted(app) => pool.push(at, Kind::Started, 0, app.0, 0),
            Mark::AppExited(app) => pool.push(at, Kind::Ended, 0, app.0, 0),
            Mark::Migrated { task, from, to } => pool.push(at, Kind::Migrated, from.0, task.0, to.0),
            Mark::BarrierCompleted { app, scope, episode } => {
                pool.push(at, Kind::Barrier, *scope as u32, app.0, *episode);
            }
            Mark::Decided(decision) => {
                let rule = pool.rule(decision.why.rule);
                let task = decision.task.map_or(u32::MAX, |task| task.0);
                pool.push(at, Kind::Decided, did(&decision.action), task, rule);
            }
            // Waits for locks are collected with their locks.
            Mark::Created { .. }
            | Mark::Woken { .. }
            | Mark::Exited { .. }
            | Mark::LockAwaited { .. }
            | Mark::LockObtained { .. } => {}
        }
    }
}

/// Words for what decisions do, by number.
pub(crate) const DID: [&str; 8] =
    ["place", "migrate", "bind", "priority_level", "yield", "remark", "dispatch", "slice"];

const fn did(action: &Action) -> u32 {
    match action {
        Action::Placed { .. } => 0,
        Action::Migrated { .. } => 1,
        Action::Bound(_) => 2,
        Action::PrioritySet(_) => 3,
        Action::Yielded { .. } => 4,
        Action::Remarked => 5,
        Action::Dispatched(_) => 6,
        Action::SliceSet(_) => 7,
    }
}

/// Observes one run for a trace.
pub struct Tracer {
    slices: Slices<Collector>,
    pool: Rc<RefCell<Pool>>,
    tracks: Tracks,
    /// Tasks that have ended, so that who comes under their number is a new one.
    ended: Vec<bool>,
    /// Tasks that sleep for something else than a barrier or a lock.
    sleeps: Vec<bool>,
}

impl Tracer {
    /// For a run of these applications on this machine.
    #[must_use]
    pub fn new(machine: &Machine, apps: &[AppSpec]) -> Self {
        let owners = Owners::new(apps.iter().map(|app| app.tasks));
        let pool = Pool { records: Vec::new(), stand_ins: BTreeSet::new(), rules: Vec::new() };
        let pool = Rc::new(RefCell::new(pool));
        let collector = Collector { pool: Rc::clone(&pool) };
        Self {
            ended: vec![false; owners.tasks() as usize],
            sleeps: vec![false; owners.tasks() as usize],
            slices: Slices::new(machine.cpus(), owners.clone(), collector),
            tracks: Tracks::new(machine, apps, owners),
            pool,
        }
    }

    /// With the names of what the programs of the run share.
    #[must_use]
    pub fn with(mut self, apps: &[AppSpec], objects: &Objects) -> Self {
        self.tracks.share(apps, objects);
        self.slices = self.slices.of(apps, objects);
        self
    }

    /// The run is over: everything in order, and who took part.
    pub(crate) fn finish(self) -> (Vec<Record>, Tracks) {
        let Self { slices, pool, mut tracks, .. } = self;
        // The last slices come now.
        drop(slices.finish());
        let mut pool = pool.borrow_mut();
        tracks.stand_ins = std::mem::take(&mut pool.stand_ins);
        tracks.rules = std::mem::take(&mut pool.rules);
        let mut records = std::mem::take(&mut pool.records);
        // Stable: those of one instant and class stay in the order in which they came.
        records.sort_by_key(Record::key);
        (records, tracks)
    }

    fn push(&self, at: Time, kind: Kind, cpu: u32, a: u32, b: u32) {
        self.pool.borrow_mut().push(at, kind, cpu, a, b);
    }
}

impl Observer for Tracer {
    fn observe(&mut self, at: Time, what: &Observation) {
        self.slices.observe(at, what);
        match *what {
            Observation::Runnable { task, cpu } => {
                if let Some(ended) = self.ended.get_mut(task.index())
                    && std::mem::replace(ended, false)
                {
                    self.tracks.another(task.0);
                }
                if let Some(sleeps) = self.sleeps.get_mut(task.index())
                    && std::mem::replace(sleeps, false)
                {
                    self.push(at, Kind::Released, SLEEP, task.0, 0);
                }
                self.push(at, Kind::Runnable, cpu.0, task.0, 0);
            }
            Observation::Stopping { task, cpu, reason: LeaveReason::Slept } => {
                self.push(at, Kind::Slept, cpu.0, task.0, 0);
            }
            Observation::Stopping { task, cpu, reason: LeaveReason::Exited } => {
                if let Some(ended) = self.ended.get_mut(task.index()) {
                    *ended = true;
                }
                self.push(at, Kind::Exited, cpu.0, task.0, 0);
            }
            Observation::Arrived { task, scope, episode } => {
                self.tracks.meets(task.0);
                self.push(at, Kind::Arrived, scope as u32, task.0, episode);
            }
            Observation::Released { task, scope, episode } => {
                self.push(at, Kind::Released, scope as u32, task.0, episode);
            }
            Observation::LockAwaited { task, lock } => {
                self.tracks.meets(task.0);
                self.push(at, Kind::Arrived, LOCK, task.0, lock.0);
            }
            Observation::LockObtained { task, lock } => {
                self.push(at, Kind::Released, LOCK, task.0, lock.0);
            }
            _ => {}
        }
    }

    fn decided(&mut self, at: Time, decision: &Decision) {
        self.slices.decided(at, decision);
    }

    fn wants_sleeps(&self) -> bool {
        true
    }

    fn slept(&mut self, at: Time, task: TaskId, what: Sleep) {
        let (scope, number) = match what {
            // Told by the arrival and by the wait for the lock.
            Sleep::Barrier | Sleep::Lock(_) => return,
            Sleep::Timer => (TIMER, 0),
            Sleep::Message => (MESSAGE, 0),
            Sleep::Job => (JOB, 0),
            Sleep::Command => (COMMAND, 0),
            Sleep::Device(device) => (DEVICE, device.index() as u32),
            Sleep::Event(event) => (EVENT, event.index() as u32),
        };
        if let Some(sleeps) = self.sleeps.get_mut(task.index()) {
            *sleeps = true;
        }
        self.tracks.meets(task.0);
        self.push(at, Kind::Arrived, scope, task.0, number);
    }

    fn wants_dispatches(&self) -> bool {
        true
    }

    fn dispatched(&mut self, at: Time, task: TaskId, cpu: CpuId, overhead: Span) {
        self.slices.dispatched(at, task, cpu, overhead);
    }

    fn wants_cpu_time(&self) -> bool {
        true
    }

    fn accounted(&mut self, cpu: CpuId, account: &Account) {
        self.slices.accounted(cpu, account);
    }
}
