//! Replaying: the recorded calls of a policy once more, each when the same hook is called for the same thing
//! as often as then.
//!
//! On the same scenario and seed that is the same run. On another one (other costs, other speeds) the
//! decisions are applied as long as they are legal, and those that are not are counted. When the recorded run
//! is over, no task stays behind another one, throttled or held.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use sim_core::ids::{CpuId, TaskId};
use sim_core::policy::{CpuChoice, Enqueue, Order, Placement, QueueEntry, System, Timer, View, Watches, Why};
use sim_core::time::{Span, Time};
use sim_core::wrap::{Notice, Request, Wrapper};

use super::record::{Call, Counts, Hook, Schedule};
use super::request::{is_legal, tasks};

/// What became of the decisions (placements, moves, masks, priorities) of a replayed schedule.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Tally {
    /// Happened as recorded.
    pub applied: u64,
    /// Would not have been legal, and did not happen.
    pub illegal: u64,
    /// The call they belong to never came.
    pub unreached: u64,
    /// Placements that the schedule says nothing about: the task stayed on its cpu or its creator's.
    pub unforeseen: u64,
}

impl Tally {
    /// Decisions that did not happen as recorded, and placements without a record.
    #[must_use]
    pub const fn missed(&self) -> u64 {
        self.illegal + self.unreached + self.unforeseen
    }
}

/// The reason of a decision that happens as recorded.
const REPLAYED: Why = Why::rule("replayed");

/// The place of a task that the schedule says nothing about.
const FIRST_COME: QueueEntry = QueueEntry::new(0, Span::from_ms(20));

/// Token of the timer at the end of the schedule; no policy's tokens come near it.
const OVER: u64 = u64::MAX;

/// Whether a task has to wait for others after this request: it is throttled, or of a lower priority.
const fn lowers(request: &Request) -> bool {
    matches!(request, Request::SetPriority(_, 1..))
}

/// A policy that does what a schedule says.
pub struct Replayer {
    /// One instant after the end of a recorded run in which tasks had a lower priority, were throttled or
    /// held: a run that takes longer must not wait for ever for a slot that never begins.
    end: Option<Time>,
    over: bool,
    order: Order,
    held: BTreeSet<TaskId>,
    watches: Watches,
    lowered: BTreeSet<TaskId>,
    calls: BTreeMap<Hook, VecDeque<Call>>,
    counts: Counts,
    tasks: u32,
    tally: Tally,
}

impl Replayer {
    /// Replays `schedule`.
    #[must_use]
    pub fn new(schedule: &Schedule) -> Self {
        let mut calls: BTreeMap<Hook, VecDeque<Call>> = BTreeMap::new();
        for call in &schedule.calls {
            calls.entry(call.hook).or_default().push_back(call.clone());
        }
        let lowers = |call: &Call| call.asked.iter().any(lowers);
        let holds = |call: &Call| call.entry == Some(None);
        let waits = schedule.calls.iter().any(|call| lowers(call) || holds(call));
        Self {
            end: waits.then(|| schedule.end + Span::from_ns(1)),
            over: false,
            order: schedule.order,
            held: BTreeSet::new(),
            watches: Watches {
                waits: calls.keys().any(|hook| matches!(hook, Hook::Waits(_) | Hook::Proceeds(_))),
                preemptions: calls.keys().any(|hook| matches!(hook, Hook::Preempted(_))),
                releases: schedule.releases,
            },
            lowered: BTreeSet::new(),
            calls,
            counts: Counts::default(),
            tasks: 0,
            tally: Tally::default(),
        }
    }

    /// What became of the schedule, at the end of the run.
    #[must_use]
    pub fn tally(&self) -> Tally {
        let decisions = |call: &Call| {
            let asked = call.asked.iter().filter(|request| request.task().is_some()).count();
            asked as u64 + u64::from(call.cpu.is_some()) + u64::from(call.entry.is_some())
        };
        let unreached = self.calls.values().flatten().map(decisions).sum();
        Tally { unreached, ..self.tally }
    }

    /// The recorded call that this one is, if anything happened there.
    fn take(&mut self, hook: Hook) -> Option<Call> {
        let nth = self.counts.next(hook);
        let left = self.calls.get_mut(&hook)?;
        if left.front().is_some_and(|call| call.nth == nth) { left.pop_front() } else { None }
    }

    fn call(&mut self, system: &mut dyn System, hook: Hook) {
        let Some(call) = self.take(hook) else {
            return;
        };
        for request in &call.asked {
            self.act(system, request);
        }
    }

    fn act(&mut self, system: &mut dyn System, request: &Request) {
        let lowers = lowers(request);
        let mut legal = is_legal(request, system, self.tasks) && !(lowers && self.over);
        if let (Request::SetPriority(task, _), true) = (request, legal) {
            let _ = if lowers { self.lowered.insert(*task) } else { self.lowered.remove(task) };
        }
        if legal {
            legal = request.ask(system, REPLAYED);
        }
        if let (Request::Dispatch(task, ..), true) = (request, legal) {
            self.held.remove(task);
        }
        if request.task().is_some() {
            let count = if legal { &mut self.tally.applied } else { &mut self.tally.illegal };
            *count += 1;
        }
    }
}

impl Replayer {
    /// The schedule is over: every task may run.
    fn release(&mut self, system: &mut dyn System) {
        self.over = true;
        for task in std::mem::take(&mut self.lowered) {
            system.set_priority(task, 0, Why::rule("replayed: the schedule is over, priorities are equal"));
        }
        for task in std::mem::take(&mut self.held) {
            let why = Why::rule("replayed: the schedule is over, no task stays held");
            let cpu = system.task(task).cpu;
            system.dispatch(task, cpu, FIRST_COME, why);
        }
    }
}

impl Wrapper for Replayer {
    fn wants(&self) -> Watches {
        self.watches
    }

    fn place(&mut self, view: &dyn View, task: TaskId, placement: Placement) -> CpuChoice {
        let call = self.take(Hook::Place(task));
        let memory_node = call.as_ref().and_then(|call| call.node);
        let recorded = call.and_then(|call| call.cpu);
        match recorded {
            Some(cpu) if cpu.0 < view.machine().cpus() && view.allowed(task, cpu) => {
                self.tally.applied += 1;
                return CpuChoice { cpu, why: REPLAYED, memory_node };
            }
            Some(_) => self.tally.illegal += 1,
            None => self.tally.unforeseen += 1,
        }
        let why = Why::rule("replayed: no legal decision recorded, stays");
        let (Placement::Fork { parent: near } | Placement::Wake { previous: near, .. }) = placement;
        let first = || view.machine().cpu_ids().find(|cpu| view.allowed(task, *cpu));
        let cpu = if view.allowed(task, near) { near } else { first().unwrap_or(near) };
        CpuChoice { cpu, why, memory_node }
    }

    fn ordering(&self) -> Order {
        self.order
    }

    fn counted(&self) -> Vec<(String, u64)> {
        Vec::new()
    }

    fn insert(&mut self, system: &mut dyn System, task: TaskId, _: CpuId, _: Enqueue) -> Option<QueueEntry> {
        let recorded = self.take(Hook::Insert(task));
        if let Some(call) = &recorded {
            for request in &call.asked {
                self.act(system, request);
            }
        }
        let entry = recorded.and_then(|call| call.entry);
        let count = if entry.is_some() { &mut self.tally.applied } else { &mut self.tally.unforeseen };
        *count += 1;
        let entry = entry.filter(|entry| entry.is_some() || !self.over).unwrap_or(Some(FIRST_COME));
        if entry.is_none() {
            self.held.insert(task);
        }
        entry
    }

    fn notify(&mut self, system: &mut dyn System, notice: Notice) {
        match notice {
            Notice::Timer(Timer::Token(OVER)) => return self.release(system),
            Notice::Init => self.tasks = tasks(system),
            _ => {}
        }
        self.call(system, Hook::of(notice));
        if let (Notice::Init, Some(end)) = (notice, self.end) {
            system.at(end, Timer::Token(OVER));
        }
    }
}
