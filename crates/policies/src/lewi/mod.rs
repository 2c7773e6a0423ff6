//! `LEWI`: cpus whose owners all wait are lent to tasks that stand in a queue elsewhere, until an owner goes
//! on.
//!
//! Idea: a process that waits in a message call does not need its cores, its neighbours do. Source: "Lend
//! When Idle" of the Dynamic Load Balancing library: Garcia, Corbalan, Labarta, "LeWI: A Runtime Balancing
//! Algorithm for Nested Parallelism" (ICPP 2009). The real one changes the number of OpenMP threads; here the
//! threads exist and are bound elsewhere.

mod overloaded;

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use notation::declare::Duration;
use notation::parameter::Values;
use notation::{choices, parameters};
use sim_core::ids::{AppId, CpuId, Id, IdVec, TaskId};
use sim_core::machine::CpuSet;
use sim_core::policy::{
    Affinity, Awaited, CpuChoice, Placement, Policy, System, TaskState, Timer, View, Watches, Why,
};
use sim_core::time::{Span, Time};

use crate::entry::{Entry, Level, Setting, Showcase, TaskGroups};
use crate::spread::{allowed_cpus, shares};
use overloaded::{Overloaded, rings};

#[cfg(test)]
mod tests;

/// Its entry in the registry.
pub(crate) const ENTRY: Entry = Entry {
    name: "LEWI",
    summary: "Lend When Idle: cpus whose tasks wait are lent to queued tasks of other cpus, and reclaimed",
    source: "Garcia, Corbalan, Labarta: LeWI: A Runtime Balancing Algorithm for Nested Parallelism, ICPP \
        2009",
    level: Level::UserLevel,
    task_groups: TaskGroups::Kept,
    parameters: Parameters::TABLE,
    text: include_str!("lewi.md"),
    wins: Showcase { scenario: "lewi", label: "LEWI", against: "PIN", app: "code", point: "" },
    loses: Showcase { scenario: "lewi_fine_grain", label: "LEWI", against: "PIN", app: "code", point: "" },
    build: &build,
};

choices! {
    /// The words of `owners`.
    enum Owners { Boxed = "apart", Together = "together" }
}

parameters! {
    /// Parameters of `LEWI`.
    struct Parameters {
        /// LEWI lends a cpu when its owners have all waited for this long. The library lends at once.
        grain: Duration = 0, in 0..=s(10);
        /// Maximum number of guests (tasks of other cpus) on one cpu.
        guests: usize = 1, in 1..=64;
        /// Each process keeps one of its cpus (LEND_MODE=1CPU) instead of lending all (BLOCK).
        keep: bool = false;
        /// Whether applications own disjoint cpus (`apart`), or each owns all cpus that it may use
        /// (`together`).
        owners: Owners = Owners::Boxed;
        /// Cpu time of one lending or return (two system calls and some cache lines, about 1 us; no published
        /// value).
        cost: Duration = us(1), in 0..=s(1);
    }
}

fn build(values: &Values, _: &Setting<'_>) -> Box<dyn Policy> {
    let values = Parameters::from(values);
    Box::new(Lewi::new(
        (Span::from_ns(values.grain.ns()), Span::from_ns(values.cost.ns())),
        values.guests,
        values.keep,
        values.owners == Owners::Boxed,
    ))
}

/// A process: its application, and its number there.
type Process = (AppId, u32);

struct Lewi {
    grain: Span,
    cost: Span,
    guests: usize,
    keep: bool,
    apart: bool,
    tasks: IdVec<TaskId, Member>,
    cpus: IdVec<CpuId, Place>,
    /// Of each application that takes part: its cpus when cpus are owned apart.
    lots: Vec<Option<CpuSet>>,
    /// Cpus none of whose own tasks works there and that have one elsewhere, to be called home.
    to_call: BTreeSet<CpuId>,
    /// Cpus none of whose own tasks has worked there for a grain and that have room for a guest.
    to_let: BTreeSet<CpuId>,
    /// Cpus that have been so for less than a grain, and when the grain is over.
    resting: BTreeSet<(Time, CpuId)>,
    overloaded: Overloaded,
    /// Cpus of each process that have no guests.
    unlent: BTreeMap<Process, u32>,
    /// Tasks of each application.
    apps: Vec<Range<u32>>,
    /// Guests anywhere.
    lent: usize,
    queue: Vec<TaskId>,
}

/// A task.
#[derive(Clone, Default)]
struct Member {
    /// Its own cpu; none while it takes no part.
    home: Option<CpuId>,
    process: Option<Process>,
    /// Cpus it may use at all.
    allowed: std::sync::Arc<CpuSet>,
    /// Where it is a guest.
    host: Option<CpuId>,
    /// Runnable work: alive, and not waiting for anything outstanding.
    works: bool,
}

/// A cpu.
#[derive(Clone, Default)]
struct Place {
    /// Own tasks that work, here or as guests elsewhere; those elsewhere.
    own: u32,
    away: Vec<TaskId>,
    guests: Vec<TaskId>,
    /// The process that owned it first.
    process: Option<Process>,
    /// Since when none of its own tasks works there.
    dry_since: Option<Time>,
}

impl Lewi {
    fn new((grain, cost): (Span, Span), guests: usize, keep: bool, apart: bool) -> Self {
        Self {
            grain,
            cost,
            guests,
            keep,
            apart,
            tasks: IdVec::default(),
            cpus: IdVec::default(),
            lots: Vec::new(),
            to_call: BTreeSet::new(),
            to_let: BTreeSet::new(),
            resting: BTreeSet::new(),
            overloaded: Overloaded::default(),
            unlent: BTreeMap::new(),
            apps: Vec::new(),
            lent: 0,
            queue: Vec::new(),
        }
    }

    /// A task begins or ceases to work.
    fn set_works(&mut self, now: Time, task: TaskId, works: bool) {
        let Some(home) = self.tasks[task].home.filter(|_| self.tasks[task].works != works) else { return };
        self.tasks[task].works = works;
        let place = &mut self.cpus[home];
        place.own = if works { place.own + 1 } else { place.own.saturating_sub(1) };
        self.note(now, home);
    }

    /// Own tasks at work on a cpu.
    fn at_home(&self, cpu: CpuId) -> u32 {
        let place = &self.cpus[cpu];
        place.own.saturating_sub(place.away.len() as u32)
    }

    /// Keeps the sets of dry and overloaded cpus.
    fn note(&mut self, now: Time, cpu: CpuId) {
        let own = self.at_home(cpu);
        if own > 0 {
            self.unlist(cpu);
            self.cpus[cpu].dry_since = None;
        } else {
            self.cpus[cpu].dry_since.get_or_insert(now);
            self.list(now, cpu);
        }
        self.overloaded.set(cpu, own);
    }

    /// Takes a cpu off the lists of dry ones.
    fn unlist(&mut self, cpu: CpuId) {
        self.to_call.remove(&cpu);
        self.to_let.remove(&cpu);
        if let Some(since) = self.cpus[cpu].dry_since {
            self.resting.remove(&(since.saturating_add(self.grain), cpu));
        }
    }

    /// Puts a cpu on the lists on which it belongs.
    fn list(&mut self, now: Time, cpu: CpuId) {
        self.unlist(cpu);
        let place = &self.cpus[cpu];
        let Some(since) = place.dry_since else { return };
        if !place.away.is_empty() {
            self.to_call.insert(cpu);
        }
        let from = since.saturating_add(self.grain);
        if place.guests.len() >= self.guests {
        } else if now >= from {
            self.to_let.insert(cpu);
        } else {
            self.resting.insert((from, cpu));
        }
    }

    /// A guest comes to a cpu from its own one.
    fn add_guest(&mut self, now: Time, task: TaskId, (host, home): (CpuId, CpuId)) {
        self.count_unlent(host, false);
        self.tasks[task].host = Some(host);
        self.cpus[host].guests.push(task);
        self.cpus[home].away.push(task);
        self.lent += 1;
        self.count_unlent(host, true);
        self.list(now, host);
        self.note(now, home);
    }

    /// A guest is no longer one.
    fn remove_guest(&mut self, now: Time, guest: TaskId, (host, home): (CpuId, CpuId)) {
        self.count_unlent(host, false);
        self.cpus[host].guests.retain(|other| *other != guest);
        self.cpus[home].away.retain(|other| *other != guest);
        self.lent -= 1;
        self.count_unlent(host, true);
        self.list(now, host);
        self.note(now, home);
    }

    /// Counts a cpu among those of its process that have no guests, or no longer; before and after a change.
    fn count_unlent(&mut self, cpu: CpuId, counts: bool) {
        let place = &self.cpus[cpu];
        if let Some(process) = place.process.filter(|_| place.guests.is_empty()) {
            let count = self.unlent.entry(process).or_default();
            *count = if counts { *count + 1 } else { count.saturating_sub(1) };
        }
    }

    /// Binds a task, at the expense of a cpu.
    fn bind(&self, system: &mut dyn System, task: TaskId, cpu: CpuId, payer: CpuId, why: Why) {
        system.set_affinity(task, Affinity::One(cpu), why);
        if self.cost > Span::ZERO {
            system.charge(payer, self.cost, true);
        }
    }

    /// A guest goes home.
    fn send_home(&mut self, system: &mut dyn System, guest: TaskId, payer: CpuId, why: Why) {
        let (Some(home), Some(host)) = (self.tasks[guest].home, self.tasks[guest].host.take()) else {
            return;
        };
        self.remove_guest(system.now(), guest, (host, home));
        self.bind(system, guest, home, payer, why);
    }

    /// Cpus that are idle take what is theirs, then what stands in queues elsewhere.
    fn lend(&mut self, system: &mut dyn System) {
        let now = system.now();
        while let Some((from, cpu)) = self.resting.first().copied().filter(|(from, _)| *from <= now) {
            self.resting.remove(&(from, cpu));
            self.to_let.insert(cpu);
        }
        system.dirty(&mut |cpu| self.overloaded.dirty(cpu));
        let mut next = 0;
        while let Some(cpu) = self.next_dry(next) {
            next = cpu.0 + 1;
            if let Some(own) = self.cpus[cpu].away.first().copied() {
                self.send_home(system, own, cpu, Why::rule("reclaimed: its own cpu is idle"));
            }
            while self.is_to_let(now, cpu) {
                let found = self.candidate(system, cpu);
                debug_assert_eq!(
                    found,
                    self.plain_candidate(system, cpu),
                    "the order of overloaded cpus is wrong"
                );
                let Some((task, from)) = found else { break };
                let why = Why::rule("lent: all tasks of this cpu wait")
                    .with("working tasks there", u64::from(self.at_home(from)))
                    .with("guests here", self.cpus[cpu].guests.len() as u64);
                self.add_guest(now, task, (cpu, from));
                self.bind(system, task, cpu, cpu, why);
            }
        }
    }

    /// The next dry cpu that has a task elsewhere, or room for a guest when there may be one.
    fn next_dry(&self, from: u32) -> Option<CpuId> {
        let call = self.to_call.range(CpuId(from)..).next();
        let room = if self.overloaded.is_empty() { None } else { self.to_let.range(CpuId(from)..).next() };
        call.into_iter().chain(room).min().copied()
    }

    /// True when a guest may come to a cpu.
    fn is_to_let(&self, now: Time, cpu: CpuId) -> bool {
        let place = &self.cpus[cpu];
        let rested = place.dry_since.is_some_and(|since| now >= since.saturating_add(self.grain));
        rested && place.guests.len() < self.guests && !self.is_kept(cpu)
    }

    /// True when it is the last cpu that its process has not lent, and processes keep one.
    fn is_kept(&self, cpu: CpuId) -> bool {
        let place = &self.cpus[cpu];
        let Some(process) = place.process.filter(|_| self.keep && place.guests.is_empty()) else {
            return false;
        };
        self.unlent.get(&process).is_none_or(|unlent| *unlent < 2)
    }

    /// The task to be lent a cpu, and its own cpu: from the most overloaded one that has it queued, the
    /// nearest first.
    fn candidate(&mut self, system: &mut dyn System, to: CpuId) -> Option<(TaskId, CpuId)> {
        let here = self.cpus[to].guests.len() as u32;
        let (rings, mut cursor) = (rings(&system.machine().topology, to), Overloaded::START);
        while let Some(from) = self.overloaded.next(&rings, here + 1, &mut cursor) {
            if from == to {
                continue;
            }
            system.queued(from, usize::MAX, &mut self.queue);
            let oldest = self.oldest(system, (from, to));
            if let Some(task) = oldest {
                return Some((task, from));
            }
            let own = |task: TaskId| {
                task.index() < self.tasks.len()
                    && self.tasks[task].works
                    && self.tasks[task].home == Some(from)
            };
            // One that polls may stand in the queue after its turn, of which nobody tells.
            let turns =
                system.current(from).is_some_and(|task| own(task) && system.task(task).wait_ends.is_some());
            if !turns && !self.queue.iter().any(|task| own(*task)) {
                self.overloaded.set_barren(from);
            }
        }
        None
    }

    /// The waiting task of `from`, among those in the room for a queue, that may go to `to` and has not run
    /// for longest.
    fn oldest(&self, system: &dyn System, (from, to): (CpuId, CpuId)) -> Option<TaskId> {
        let fits = |task: &TaskId| {
            let member = &self.tasks[*task];
            member.works && member.home == Some(from) && member.allowed.contains(to)
        };
        let queued = self.queue.iter().copied().filter(|task| task.index() < self.tasks.len());
        queued.filter(fits).min_by_key(|task| (system.task(*task).last_ran, *task))
    }

    /// What [`Lewi::candidate`] finds, by a look at all cpus.
    fn plain_candidate(&mut self, system: &mut dyn System, to: CpuId) -> Option<(TaskId, CpuId)> {
        let here = self.cpus[to].guests.len() as u32;
        let distance = |cpu| system.machine().topology.distance(to, cpu);
        let overloaded = |cpu: &CpuId| *cpu != to && self.at_home(*cpu) > here + 1;
        let mut order: Vec<CpuId> = system.machine().cpu_ids().filter(overloaded).collect();
        order.sort_by_key(|cpu| (std::cmp::Reverse(self.at_home(*cpu)), distance(*cpu), *cpu));
        order.into_iter().find_map(|from| {
            system.queued(from, usize::MAX, &mut self.queue);
            self.oldest(system, (from, to)).map(|task| (task, from))
        })
    }

    /// The cpus of an application that is about to start, from those it may use.
    fn owned(&self, app: AppId, allowed: &[CpuId]) -> Vec<CpuId> {
        let lot = self.lots.get(app.index()).and_then(Option::as_ref);
        let mine = allowed.iter().copied().filter(|cpu| lot.is_none_or(|lot| lot.contains(*cpu)));
        let mine: Vec<CpuId> = mine.collect();
        if mine.is_empty() { allowed.to_vec() } else { mine }
    }
}

impl Policy for Lewi {
    fn init(&mut self, system: &mut dyn System) {
        let cpus = system.machine().cpus();
        self.cpus = IdVec::filled(cpus as usize, Place::default());
        self.overloaded = Overloaded::new(cpus);
        system.machine().cpu_ids().for_each(|cpu| self.note(Time::ZERO, cpu));
        let background: Vec<bool> = (0..system.apps()).map(|app| system.app(AppId(app)).background).collect();
        let count = background.iter().filter(|background| !**background).count() as u32;
        let mut first = 0;
        let mut lots = shares(cpus, count).map(|share| {
            let lot = CpuSet::of((first..first + share).map(CpuId));
            first += share;
            lot
        });
        let apart = self.apart;
        let lot = |background: &bool| if *background || !apart { None } else { lots.next() };
        self.lots = background.iter().map(lot).collect();
    }

    fn app_started(&mut self, system: &mut dyn System, app: AppId) {
        let view = system.app(app);
        while self.tasks.len() < view.tasks.end as usize {
            self.tasks.push(Member::default());
        }
        self.apps.resize(self.apps.len().max(app.index() + 1), 0..0);
        self.apps[app.index()] = view.tasks.clone();
        if view.background {
            return;
        }
        let allowed = allowed_cpus(system, TaskId(view.tasks.start));
        let set = std::sync::Arc::new(CpuSet::of(allowed.iter().copied()));
        let cpus = self.owned(app, &allowed);
        let tasks = view.tasks.len();
        for (rank, task) in view.task_ids().enumerate() {
            let home = cpus[rank * cpus.len() / tasks];
            let process = (app, rank as u32 / view.process.max(1));
            let member = &mut self.tasks[task];
            (member.home, member.process, member.allowed) = (Some(home), Some(process), set.clone());
            self.count_unlent(home, false);
            self.cpus[home].process.get_or_insert(process);
            self.count_unlent(home, true);
            self.set_works(system.now(), task, true);
            for guest in self.cpus[home].guests.clone() {
                let why = Why::rule("returned: an owner of the cpu starts");
                self.send_home(system, guest, home, why);
            }
            let why = Why::rule("bound to its own cpu").with("rank", rank as u64);
            system.set_affinity(task, Affinity::One(home), why);
        }
    }

    fn app_ready(&mut self, system: &mut dyn System, _: AppId) {
        self.lend(system);
    }

    fn app_exited(&mut self, system: &mut dyn System, app: AppId) {
        for place in self.cpus.iter_mut() {
            place.process = place.process.filter(|process| process.0 != app);
        }
        self.unlent.retain(|process, _| process.0 != app);
        self.lend(system);
    }

    fn select_cpu(&mut self, view: &dyn View, task: TaskId, _: Placement) -> CpuChoice {
        view.task(task).cpu.into()
    }

    fn watches(&self) -> Watches {
        Watches { waits: true, ..Watches::default() }
    }

    fn waits(&mut self, system: &mut dyn System, task: TaskId, _: Awaited) {
        let Some(home) = self.tasks[task].home else { return };
        self.set_works(system.now(), task, false);
        if let Some(host) = self.tasks[task].host {
            self.send_home(system, task, host, Why::rule("returned: the guest begins to wait"));
        }
        if self.grain > Span::ZERO && self.at_home(home) == 0 {
            system.at(system.now().saturating_add(self.grain), Timer::Token(u64::from(home.0)));
        }
        self.lend(system);
    }

    fn proceeds(&mut self, system: &mut dyn System, task: TaskId) {
        if self.tasks[task].home.is_none() || self.tasks[task].works {
            return;
        }
        // With it others may have been released that have not been on a cpu since.
        let app = self.apps[system.task(task).app.index()].clone();
        for other in app.map(TaskId) {
            let Some(home) = self.tasks[other].home else { continue };
            if self.tasks[other].works || system.task(other).still_waits(system.now()) {
                continue;
            }
            self.set_works(system.now(), other, true);
            for guest in self.cpus[home].guests.clone() {
                self.send_home(system, guest, home, Why::rule("returned: an owner of the cpu continues"));
            }
        }
        self.lend(system);
    }

    fn timer(&mut self, system: &mut dyn System, _: Timer) {
        self.lend(system);
    }

    fn quiescent(&mut self, system: &mut dyn System, task: TaskId, _: CpuId) {
        if system.task(task).state != TaskState::Exited || task.index() >= self.tasks.len() {
            return;
        }
        self.set_works(system.now(), task, false);
        let (home, host) = (self.tasks[task].home.take(), self.tasks[task].host.take());
        if let (Some(home), Some(host)) = (home, host) {
            self.remove_guest(system.now(), task, (host, home));
        }
    }
}
