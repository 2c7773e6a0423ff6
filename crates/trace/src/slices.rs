//! Slices: from the facts of a run to who had each cpu from when to when, and what the time went into, as a
//! stream.
//!
//! The slices of a cpu come in order, without gaps or overlaps, from the start of the run to its end; those
//! of different cpus come as they end. Nothing is kept but what is open, so runs of any length take the same
//! memory.

use sim_core::account::{Account, Category};
use sim_core::ids::{AppId, CpuId, Id, TaskId};
use sim_core::observe::{LeaveReason, Observation, Observer};
use sim_core::policy::{Action, Decision, THROTTLED};
use sim_core::program::{AppSpec, Objects};
use sim_core::time::{Span, Time};
use sim_core::wait::Scope;

use crate::ways::Ways;

/// Which application a task belongs to: tasks are numbered application by application.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Owners {
    /// First task of each application, and behind the last one the number of all tasks.
    first: Vec<u32>,
    /// For each application of the run its position among all of them; empty when the two are the same.
    places: Vec<u32>,
}

impl Owners {
    /// Applications with these numbers of tasks (those of a run's plan, in order).
    #[must_use]
    pub fn new(tasks: impl IntoIterator<Item = u32>) -> Self {
        let mut first = vec![0];
        let mut next = 0u32;
        for count in tasks {
            next = next.saturating_add(count);
            first.push(next);
        }
        Self { first, places: Vec::new() }
    }

    /// Applications of a run, a name and a number of tasks each, among `all`, of which other runs may have
    /// more: the position in
    /// `all` is the number of an application then. None when they are not in the order of `all`.
    #[must_use]
    pub fn among<'n>(all: &[String], run: impl IntoIterator<Item = (&'n str, u32)>) -> Option<Self> {
        let mut counts = vec![0u32; all.len()];
        let (mut places, mut next) = (Vec::new(), 0);
        for (name, tasks) in run {
            let place = next + all.get(next..)?.iter().position(|other| other == name)?;
            counts[place] = tasks;
            places.push(place as u32);
            next = place + 1;
        }
        Some(Self { places, ..Self::new(counts) })
    }

    /// The number of an application of the run among all applications.
    fn place(&self, app: AppId) -> AppId {
        self.places.get(app.index()).map_or(app, |place| AppId(*place))
    }

    /// The application of a task; that of the last one for a task that does not exist.
    #[must_use]
    pub fn app(&self, task: TaskId) -> AppId {
        let apps = self.first.len() - 1;
        let above = self.first.partition_point(|first| *first <= task.0);
        AppId(above.clamp(1, apps.max(1)) as u32 - 1)
    }

    /// Behind the last task of an application; no number is beyond it for the last one.
    fn end(&self, app: AppId) -> u32 {
        let last = app.index() + 1 >= self.apps();
        self.first.get(app.index() + 1).copied().filter(|_| !last).unwrap_or(u32::MAX)
    }

    /// The rank of a task in its application.
    #[must_use]
    pub fn rank(&self, task: TaskId) -> u32 {
        task.0.saturating_sub(self.first[self.app(task).index()])
    }

    /// Number of tasks of all applications.
    #[must_use]
    pub fn tasks(&self) -> u32 {
        self.first.last().copied().unwrap_or(0)
    }

    /// Number of applications.
    #[must_use]
    pub const fn apps(&self) -> usize {
        self.first.len() - 1
    }
}

/// Who had a cpu.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Occupant {
    /// Nobody.
    Idle,
    /// The kernel or a scheduling daemon, on a cpu without a task that could run.
    System,
    /// A task that had work to do, from the moment it got the cpu until it left it or began to wait.
    Works(TaskId),
    /// A task that waited by polling, the only one on this cpu.
    Waits(TaskId),
    /// Several tasks of an application that waited, in turns.
    WaitInTurns(AppId),
    /// Tasks of several applications that waited, in turns.
    WaitMixed,
}

impl Occupant {
    /// The application, if it is one.
    #[must_use]
    pub fn app(self, owners: &Owners) -> Option<AppId> {
        match self {
            Self::Works(task) | Self::Waits(task) => Some(owners.app(task)),
            Self::WaitInTurns(app) => Some(app),
            Self::Idle | Self::System | Self::WaitMixed => None,
        }
    }

    /// The task, if it is one.
    #[must_use]
    pub const fn task(self) -> Option<TaskId> {
        match self {
            Self::Works(task) | Self::Waits(task) => Some(task),
            Self::Idle | Self::System | Self::WaitInTurns(_) | Self::WaitMixed => None,
        }
    }
}

/// A stretch of time of a cpu with one occupant.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Slice {
    /// Where.
    pub cpu: CpuId,
    /// From this instant.
    pub from: Time,
    /// To this one; later than `from`.
    pub to: Time,
    /// Who.
    pub who: Occupant,
    /// What the time went into; its total is `to - from`. Switches, migrations and kernel work come before
    /// the rest where a task gets the cpu; the order of the other parts is not reported. Computing contains
    /// the timer ticks, which the report of a run counts as kernel work.
    pub parts: Account,
}

/// Something that happened at an instant.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Mark {
    /// The first task of an application was created.
    AppStarted(AppId),
    /// The last task of an application ended.
    AppExited(AppId),
    /// A task was created, or its process was replaced, and waits for this cpu.
    Created {
        /// Task.
        task: TaskId,
        /// Cpu.
        cpu: CpuId,
    },
    /// A sleeping task was woken and waits for this cpu.
    Woken {
        /// Task.
        task: TaskId,
        /// Cpu.
        cpu: CpuId,
    },
    /// A task ended.
    Exited {
        /// Task.
        task: TaskId,
        /// Cpu.
        cpu: CpuId,
    },
    /// A task found a lock taken, and waits for it, polling or asleep.
    LockAwaited {
        /// Task.
        task: TaskId,
    },
    /// A task has got the lock for which it waited.
    LockObtained {
        /// Task.
        task: TaskId,
    },
    /// A task moved between cpus.
    Migrated {
        /// Task.
        task: TaskId,
        /// From.
        from: CpuId,
        /// To.
        to: CpuId,
    },
    /// The first task of an application went on from a barrier: all had arrived. Of the barriers of teams
    /// with one number, the first to complete.
    BarrierCompleted {
        /// Application.
        app: AppId,
        /// Who met there.
        scope: Scope,
        /// Number of the barrier episode of this scope.
        episode: u32,
    },
    /// A decision of the policy with its reason.
    Decided(Decision),
}

/// Takes in slices and marks.
pub trait Sink {
    /// A slice that has ended.
    fn slice(&mut self, slice: &Slice) {
        let _ = slice;
    }
    /// A mark; instants never decrease. Slices that began before it may come after it.
    fn mark(&mut self, at: Time, mark: &Mark) {
        let _ = (at, mark);
    }
}

impl<S: Sink + ?Sized> Sink for &mut S {
    fn slice(&mut self, slice: &Slice) {
        (**self).slice(slice);
    }
    fn mark(&mut self, at: Time, mark: &Mark) {
        (**self).mark(at, mark);
    }
}

/// What is known of a task.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Stage {
    /// Not created, or ended.
    Absent,
    Present,
    Asleep,
}

#[derive(Clone, Copy, Debug)]
struct Task {
    stage: Stage,
    /// It began to wait and has not gone on; or it is new.
    waits: bool,
    /// The cpu on which it counts as a waiter.
    on: Option<CpuId>,
    /// Its priority level: a task of a worse level than others of its cpu does not run.
    band: u8,
    /// It polls without yielding: it keeps its cpu until its slice is over.
    spins: bool,
}

/// What is open on a cpu.
#[derive(Clone, Debug)]
struct Cpu {
    /// Its cpu-time breakdown as last seen.
    breakdown: Account,
    /// Who has work there.
    works: Option<TaskId>,
    /// Who waits there by polling, in order of their ids.
    waiters: Vec<TaskId>,
    /// Who was the last to get the cpu or to begin to wait there.
    last: Option<TaskId>,
    open: Option<Slice>,
}

/// Turns the observations of a run into slices and marks for a sink.
#[derive(Debug)]
pub struct Slices<S> {
    owners: Owners,
    cpus: Vec<Cpu>,
    tasks: Vec<Task>,
    /// The next barrier episode of each application and scope that has not been reported.
    episodes: Vec<[u32; Scope::COUNT]>,
    sink: S,
}

impl<S: Sink> Slices<S> {
    /// For a run on so many cpus.
    #[must_use]
    pub fn new(cpus: u32, owners: Owners, sink: S) -> Self {
        let cpu =
            Cpu { breakdown: Account::default(), works: None, waiters: Vec::new(), last: None, open: None };
        let task = Task { stage: Stage::Absent, waits: false, on: None, band: 0, spins: false };
        Self {
            cpus: vec![cpu; cpus as usize],
            tasks: vec![task; owners.tasks() as usize],
            episodes: vec![[0; Scope::COUNT]; owners.apps()],
            owners,
            sink,
        }
    }

    /// Of a run of these applications: who polls without yielding is known by name then.
    #[must_use]
    pub fn of(mut self, apps: &[AppSpec], objects: &Objects) -> Self {
        let spins =
            |app: &AppSpec| std::iter::repeat_n(Ways::new(app, objects).spin_only(), app.tasks as usize);
        for (task, spins) in self.tasks.iter_mut().zip(apps.iter().flat_map(spins)) {
            task.spins = spins;
        }
        self
    }

    /// The run is over: the last slice of every cpu goes to the sink, which is given back.
    #[must_use]
    pub fn finish(mut self) -> S {
        for cpu in 0..self.cpus.len() {
            self.close(cpu);
        }
        self.sink
    }

    fn close(&mut self, cpu: usize) {
        if let Some(slice) = self.cpus.get_mut(cpu).and_then(|cpu| cpu.open.take()) {
            self.sink.slice(&slice);
        }
    }

    /// Who had a cpu in time that was not idle.
    fn occupant(&self, cpu: &Cpu, parts: &Account) -> Occupant {
        if let Some(task) = cpu.works {
            return Occupant::Works(task);
        }
        let system = [Category::Kernel, Category::Daemon, Category::Migration];
        if system.iter().map(|part| parts.get(*part).ns()).sum::<u64>() == parts.total().ns() {
            return Occupant::System;
        }
        // Whoever polls without yielding keeps the cpu, and who got it is known.
        let spins = |task: &TaskId| self.tasks.get(task.index()).is_some_and(|task| task.spins);
        if let Some(last) = cpu.last.filter(|last| spins(last) && cpu.waiters.binary_search(last).is_ok()) {
            return Occupant::Waits(last);
        }
        // The tasks that may run: of the best priority level, and not throttled.
        let band = |task: &TaskId| self.tasks.get(task.index()).map_or(THROTTLED, |record| record.band);
        let lowest = cpu.waiters.iter().map(band).min().filter(|lowest| *lowest != THROTTLED);
        let mut waiters = cpu.waiters.iter().copied().filter(|task| Some(band(task)) == lowest);
        let Some(first) = waiters.next() else { return Occupant::WaitMixed };
        let Some(second) = waiters.next() else { return Occupant::Waits(first) };
        let app = self.owners.app(first);
        // They are in order: whoever is of another application is behind the last of this one.
        let end = self.owners.end(app);
        if second.0 < end && waiters.all(|task| task.0 < end) {
            Occupant::WaitInTurns(app)
        } else {
            Occupant::WaitMixed
        }
    }

    /// The next piece of a cpu's time: more of its open slice, or the begin of another one.
    fn extend(&mut self, piece: &Slice) {
        let open = &mut self.cpus[piece.cpu.index()].open;
        if let Some(open) = open.as_mut().filter(|open| open.who == piece.who) {
            open.to = piece.to;
            open.parts.merge(&piece.parts);
        } else if let Some(ended) = open.replace(*piece) {
            self.sink.slice(&ended);
        }
    }

    /// The task waits on no cpu, or on this one from now on.
    fn waits_on(&mut self, task: TaskId, on: Option<CpuId>) {
        let Some(record) = self.tasks.get_mut(task.index()) else { return };
        if let Some(before) = std::mem::replace(&mut record.on, on)
            && let Some(cpu) = self.cpus.get_mut(before.index())
            && let Ok(place) = cpu.waiters.binary_search(&task)
        {
            cpu.waiters.remove(place);
        }
        if let Some(cpu) = on.and_then(|on| self.cpus.get_mut(on.index()))
            && let Err(place) = cpu.waiters.binary_search(&task)
        {
            cpu.waiters.insert(place, task);
        }
    }

    fn runnable(&mut self, at: Time, task: TaskId, cpu: CpuId) {
        let Some(record) = self.tasks.get_mut(task.index()) else { return };
        // A new task may have to wait for the others of its application before it has any work.
        record.waits |= record.stage == Stage::Absent;
        let waits = record.waits;
        match std::mem::replace(&mut record.stage, Stage::Present) {
            Stage::Absent => self.sink.mark(at, &Mark::Created { task, cpu }),
            Stage::Asleep => self.sink.mark(at, &Mark::Woken { task, cpu }),
            Stage::Present => {}
        }
        if waits {
            self.waits_on(task, Some(cpu));
        }
    }

    fn running(&mut self, task: TaskId, cpu: CpuId) {
        if let Some(record) = self.tasks.get_mut(task.index()) {
            record.waits = false;
        }
        self.waits_on(task, None);
        if let Some(record) = self.cpus.get_mut(cpu.index()) {
            (record.works, record.last) = (Some(task), Some(task));
        }
    }

    fn stopping(&mut self, at: Time, task: TaskId, cpu: CpuId, reason: LeaveReason) {
        self.close(cpu.index());
        if let Some(record) = self.cpus.get_mut(cpu.index()) {
            record.works = None;
            if reason == LeaveReason::Waits {
                record.last = Some(task);
            }
        }
        let Some(record) = self.tasks.get_mut(task.index()) else { return };
        match reason {
            LeaveReason::Waits => {
                record.waits = true;
                self.waits_on(task, Some(cpu));
            }
            LeaveReason::Slept => record.stage = Stage::Asleep,
            LeaveReason::Exited => {
                record.stage = Stage::Absent;
                self.sink.mark(at, &Mark::Exited { task, cpu });
            }
            LeaveReason::Preempted | LeaveReason::Moved => {}
        }
    }

    /// The first of a barrier to go on tells of it. At the end of a parallel region not all have to have
    /// arrived, so nothing is told of it.
    fn released(&mut self, at: Time, task: TaskId, scope: Scope, episode: u32) {
        if scope == Scope::Join {
            return;
        }
        let app = self.owners.app(task);
        let Some(next) = self.episodes.get_mut(app.index()).map(|next| &mut next[scope as usize]) else {
            return;
        };
        if episode >= *next {
            *next = episode.saturating_add(1);
            self.sink.mark(at, &Mark::BarrierCompleted { app, scope, episode });
        }
    }
}

impl<S: Sink> Observer for Slices<S> {
    fn observe(&mut self, at: Time, what: &Observation) {
        match *what {
            Observation::AppStarted(app) => self.sink.mark(at, &Mark::AppStarted(self.owners.place(app))),
            Observation::AppExited(app) => self.sink.mark(at, &Mark::AppExited(self.owners.place(app))),
            Observation::Runnable { task, cpu } => self.runnable(at, task, cpu),
            Observation::Running { task, cpu } => self.running(task, cpu),
            Observation::Stopping { task, cpu, reason } => self.stopping(at, task, cpu, reason),
            Observation::Migrated { task, from, to } => {
                // It counts where it goes from when it is runnable there.
                self.waits_on(task, None);
                self.sink.mark(at, &Mark::Migrated { task, from, to });
            }
            Observation::Released { task, scope, episode } => self.released(at, task, scope, episode),
            Observation::LockAwaited { task, .. } => self.sink.mark(at, &Mark::LockAwaited { task }),
            Observation::LockObtained { task, .. } => self.sink.mark(at, &Mark::LockObtained { task }),
            Observation::Polled { .. } | Observation::Arrived { .. } => {}
        }
    }

    fn decided(&mut self, at: Time, decision: &Decision) {
        if let (Action::PrioritySet(band), Some(task)) = (&decision.action, decision.task)
            && let Some(record) = self.tasks.get_mut(task.index())
        {
            record.band = *band;
        }
        self.sink.mark(at, &Mark::Decided(decision.clone()));
    }

    fn wants_dispatches(&self) -> bool {
        true
    }

    fn dispatched(&mut self, _: Time, task: TaskId, cpu: CpuId, _: Span) {
        if let Some(record) = self.cpus.get_mut(cpu.index()) {
            record.last = Some(task);
        }
    }

    fn wants_cpu_time(&self) -> bool {
        true
    }

    fn accounted(&mut self, cpu: CpuId, account: &Account) {
        let Some(record) = self.cpus.get_mut(cpu.index()) else { return };
        // The breakdown lacks a begun poll that was reported before: nothing new.
        if Category::ALL.iter().any(|part| account.get(*part) < record.breakdown.get(*part)) {
            return;
        }
        let before = std::mem::replace(&mut record.breakdown, *account);
        let parts = account.since(&before);
        let idle = Account::of(Category::Idle, parts.get(Category::Idle));
        let busy = parts.since(&idle);
        let (from, to) = (Time::ZERO + before.total(), Time::ZERO + account.total());
        let between = from + busy.total();
        // What a cpu without a task does for the kernel comes before the idle time behind it.
        if between > from {
            let who = self.occupant(&self.cpus[cpu.index()], &busy);
            self.extend(&Slice { cpu, from, to: between, who, parts: busy });
        }
        if to > between {
            self.extend(&Slice { cpu, from: between, to, who: Occupant::Idle, parts: idle });
        }
    }
}
