//! The engine: the only code that changes simulated state. A run is a value, free of globals, sendable.
//!
//! [`Simulation::run`] jumps from one armed instant to the next until all foreground applications have ended.
//! The engine owns tasks, queues and clocks. A policy places and moves tasks; the discipline of the run
//! queues decides who runs next on each cpu, or the policy does if it orders them (`ordering`).
//!
//! # Tasks
//!
//! [`TaskState`] is what the scheduler knows. The functions in brackets change it.
//!
//! ```text
//! New --[fork]--> Queued <--[run_next, put_back]--> Running --[exit]--> Exited
//!                   ^                                | |
//!                   '--[wake]-- Sleeping <--[sleep]--' '--[respawn]--> New, then Queued
//! ```
//!
//! The fast-forward of `polling` also changes tasks between Queued and Running. `relocate` queues a task on
//! another cpu. `Activity` is what the current task of a cpu does: compute, poll (and yield), spin, or be
//! in a system call. `Waiting` is what a task waits for: the release of a barrier, a partner, a lock. It is
//! independent of the state: a waiting task polls while it runs, is queued after a yield, or sleeps once its
//! spin limit (`deadline`) has passed. What few tasks and cpus have lies apart from their records
//! (`state::apart`).
//!
//! # An instant
//!
//! 1. Timers fire, by class (see `event.rs`), then in the order of arming: arrivals, wake-ups, ticks,
//!    policy timers.
//! 2. Due sources mark cpus: each cpu has one armed event, each contention class a clock for the next
//!    completion.
//! 3. Marked cpus decide in id order (`Engine::step`): the cpu does all that is due, then arms its next
//!    event.
//!    Within a decision the policy is asked for work for an idle cpu, for a cpu, and for the order of queues.
//! 4. The policy is notified: entries and exits of queues, then waits, then preemptions. If this marks cpus,
//!    3 follows again.
//! 5. Core speeds and contention clocks follow what has changed; the `invariants` are checked.
//!
//! # Ties
//!
//! Timers precede cpus, and cpus decide by id. A decision can mark other cpus: a higher one decides in the
//! same round, a lower one or the same one in the next. A poll cycle that ends at this instant belongs to its
//! cpu's decision. `Shared::passed` is the cpu that decides; cycles that end now are over on lower cpus,
//! still open on this and higher ones. After a round they are over everywhere. The result therefore does not
//! depend on when a cpu is brought up to date (`settle`).
//!
//! # Three examples
//!
//! *Wake-up.* `Engine::signal` arms a timer for a sleeping task; the signaller pays for the call. When the
//! timer fires, `wake` asks the policy for a cpu ([`Policy::select_cpu`]) and `enqueue` inserts the task and
//! marks the cpu. If the discipline lets it preempt, the cpu also has `resched` set and pays for the
//! interrupt. It decides in phase 3.
//!
//! *Barrier release.* At a central barrier the last rank to arrive signals all others; at a tree barrier the
//! root does, once its children have signalled it. At a dissemination barrier each rank signals one partner
//! per round. A signal has a visibility time (`ready`): now, plus the signaller's pending overhead, plus the
//! latency between the two cpus. A task that polls observes it at the end of its first poll at or after that
//! time; the last rank to arrive does so, too. A queued task must run first, and a sleeping one must wake
//! first. A task that is falling asleep needs no timer: its system call returns at once.
//!
//! *Polling.* Tasks that poll and yield on one cpu repeat a cycle of poll, yield and switch. Nothing else
//! happens there before a task observes the end of its wait (or of its spin limit), or one that does not poll
//! is picked. No event is therefore simulated per poll: `predict` computes that instant and arms it, `settle`
//! computes the state at any time before. Both run the discipline on a copy of the queue and skip what recurs
//! (module `polling`). A task that spins without yielding needs none of this: `spin_ends` divides. New
//! signals and queue entries mark the cpu, and it predicts anew. The end of a slice does not interrupt a task
//! that polls and yields. [`Options::stepwise`] simulates each poll, with the same result.
//!
//! # Files in reading order
//!
//! `state` (records), `mod` (the loop), `dispatch` (one cpu decides), `wakeup` (into and out of queues),
//! `ordering` (queues that the policy orders), `execute` (programs), `barrier` (signals), `locks`, `yields`,
//! `shared`, `segments` (how long what a cpu does takes, and what its time is charged to), `memory` and
//! `cores` (speeds), `pages`, `polling`, `system` (the policy's side), `startup` and `arrivals`, `update`,
//! `bandwidth`, `setup` and `finish`, `sampling`, `invariants`.

mod arrivals;
mod bandwidth;
mod barrier;
mod cores;
mod dirty;
mod dispatch;
mod execute;
mod finish;
mod invariants;
mod locks;
pub(crate) mod memory;
mod ordering;
mod pages;
pub(crate) mod polling;
pub(crate) mod rounds;
mod sampling;
pub(crate) mod segments;
mod setup;
pub(crate) mod shared;
mod startup;
pub(crate) mod state;
mod system;
#[cfg(test)]
mod tests;
mod update;
mod wakeup;
mod yields;

use std::collections::VecDeque;
use std::sync::Arc;

use crate::engine::dirty::Dirty;
use crate::engine::invariants::Checks;
use crate::event::{Timer, Timers, Tournament};
use crate::ids::{AppId, CpuId, IdVec, TaskId};
use crate::limits::{MAX_ROUNDS_PER_INSTANT, max_timers_per_instant};
use crate::machine::{Machine, PerCpu};
use crate::observe::{Observation, Observer};
use crate::os::OsModel;
use crate::outcome::{Options, Outcome, RunReport};
use crate::policy::{self, Order, Policy, Preemption, TaskState};
use crate::program::AppSpec;
use crate::rng::draw;
use crate::run_queue::Rules;
use crate::time::{Span, Time};
use polling::prediction::Predictions;
use sampling::Sampling;
use shared::Shared;
use state::{Cpu, Prices, ProcessId};

#[cfg(test)]
pub(crate) use setup::test_machine;

/// A run that has been checked and may be started.
///
/// # Examples
/// Three tasks compute for 3 ms each on two cpus and meet at a barrier, where a waiting task polls and
/// yields:
/// ```
/// use std::sync::Arc;
///
/// use sim_core::engine::Simulation;
/// use sim_core::ids::{CpuId, ProfileId, TaskId};
/// use sim_core::machine::{Costs, Level, Machine, Memory, Smt, Topology};
/// use sim_core::os::{Balancer, Discipline, OsModel, RoundRobinParams};
/// use sim_core::outcome::{Options, Outcome};
/// use sim_core::policy::{CpuChoice, Placement, Policy, View};
/// use sim_core::program::{AppSpec, MemoryProfile, Op, Program, Runtime, Spread, StartUp};
/// use sim_core::time::{Span, Work};
/// use sim_core::wait::{BarrierKind, Polling, WaitMode};
///
/// /// Places rank r on cpu r modulo the number of cpus.
/// struct Fixed;
///
/// impl Policy for Fixed {
///     fn select_cpu(&mut self, view: &dyn View, task: TaskId, _why: Placement) -> CpuChoice {
///         CpuId(view.task(task).rank % view.machine().cpus()).into()
///     }
/// }
///
/// let machine = Machine {
///     name: "two cores".into(),
///     topology: Topology::new(&[(Level::Core, 2)])?,
///     costs: Costs::free(),
///     memory: Memory::unlimited(),
///     core_speed: Vec::new(),
///     smt: Smt::NONE,
///     turbo: Vec::new(),
/// };
/// let os = OsModel {
///     name: "round robin".into(),
///     tick: Span::from_ms(1),
///     tick_skew: false,
///     discipline: Discipline::RoundRobin(RoundRobinParams { quantum: Span::from_ms(10) }),
///     balancer: Balancer { policy: "LOAD", release: "" },
///     groups: Vec::new(),
/// };
/// let compute = Op::Compute {
///     work: Work::from_span(Span::from_ms(3)),
///     spread: Spread::NONE,
///     profile: ProfileId(0),
/// };
/// let program = Program::new(vec![compute, Op::Barrier], vec![MemoryProfile::NONE])?;
/// let runtime = Runtime {
///     name: "example".into(),
///     barrier: BarrierKind::Central,
///     wait: WaitMode::Yield,
///     polling: Polling::PLAIN,
///     processes: false,
///     startup: StartUp::PLAIN,
/// };
/// let app = AppSpec::new("three", 3, Arc::new(program), runtime);
///
/// let simulation = Simulation::new(Arc::new(machine), Arc::new(os), vec![app], Options::default())?;
/// let report = simulation.run(&mut Fixed, &mut ());
///
/// assert_eq!(report.outcome, Outcome::Completed);
/// assert_eq!(report.apps[0].counters.barriers, 3);
/// // Two of the tasks shared cpu 0, so the barrier was complete after 6 ms and a few polls.
/// assert_eq!(report.makespan.ns() / 1_000, 6_000);
/// # Ok::<(), String>(())
/// ```
pub struct Simulation {
    machine: Arc<Machine>,
    model: Arc<OsModel>,
    apps: Vec<AppSpec>,
    options: Options,
}

impl Simulation {
    /// A run of these applications on a machine under an operating system.
    ///
    /// # Errors
    /// A sentence: no foreground application, an application without tasks, more tasks or applications than
    /// [`crate::limits`] allow, parameters out of range, an empty affinity.
    pub fn new(
        machine: Arc<Machine>,
        model: Arc<OsModel>,
        apps: Vec<AppSpec>,
        options: Options,
    ) -> Result<Self, String> {
        setup::check(&machine, &model, &apps, options.admission)?;
        Ok(Self { machine, model, apps, options })
    }

    /// Runs to the end: all foreground applications ended, or the horizon, or nothing left that can happen.
    ///
    /// # Panics
    /// The policy orders the run queues ([`Policy::order`]) with a slice below 1 us.
    pub fn run<O: Observer>(self, policy: &mut dyn Policy, observer: &mut O) -> RunReport {
        let mut simulation = self;
        let order = policy.order();
        if order != Order::System {
            simulation.model = Arc::new(simulation.model.ordered(order));
            let checked = simulation.model.discipline.check(simulation.model.tick);
            assert!(checked.is_ok(), "the order of the policy is out of range: {checked:?}");
        }
        Engine::new(simulation, observer).run(policy)
    }
}

/// What has happened to a task on a cpu.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Change {
    /// It is in the queue.
    Entered,
    /// It has left the queue and the cpu.
    Left,
    /// It had the cpu and has left it for good.
    Stopped,
    /// It was the next task of the cpu, and one that preempts has gone before it.
    Overtaken,
}

/// The state of a run.
pub(crate) struct Engine<'o> {
    cpus: PerCpu<Cpu>,
    shared: Shared<'o>,
    timers: Timers,
    /// Changes of which the policy is still to be notified.
    notices: Vec<(TaskId, CpuId, Change)>,
    /// The policy is notified of preemptions: it asks for it, and the discipline changes priorities with
    /// time.
    watches_preemptions: bool,
    /// Tasks that have lost the cpu in whose queue they wait, or were boosted there: the policy is still to
    /// be notified.
    preempted: Vec<(TaskId, CpuId, Preemption)>,
    predictions: Predictions,
    corrections: u64,
    /// Timers that the policy has armed at this instant for this instant.
    armed_now: u64,
    events: u64,
    entries: u64,
    /// How far the ticks of a cpu are behind those of the cpu before it, ns.
    tick_step: u64,
    /// The next tick of each cpu, where there are task groups.
    ticks: Tournament,
    /// How many entries into queues there had been when each task last entered one.
    entered: IdVec<TaskId, u64>,
    /// Applications all of whose tasks exist, of which the policy is still to be notified.
    complete_apps: Vec<AppId>,
    /// Foreground applications that have not ended.
    left: u32,
    /// Armed starts and wake-ups: while there are any, the run is not deadlocked.
    pending: u32,
    /// Applications that have arrived and are not admitted yet, first come first.
    queue: VecDeque<AppId>,
    /// Foreground applications that run, and their tasks.
    admitted: (u32, u64),
    /// Processes that took the place of others, for their numbers.
    respawned: u32,
    checks: Checks,
    sampling: Sampling,
}

impl Engine<'_> {
    fn run(mut self, policy: &mut dyn Policy) -> RunReport {
        self.shared.watched = policy.watches().waits;
        if self.shared.watched {
            self.shared.notified = IdVec::filled(self.shared.tasks.len(), false);
            self.shared.dirty = Dirty::watching(self.cpus.len());
        }
        self.watches_preemptions =
            policy.watches().preemptions && update::update_period(&self.shared.model).is_some();
        policy.init(&mut self);
        let mut rounds = 0u32;
        let outcome = loop {
            if self.left == 0 {
                break Outcome::Completed;
            }
            let next = self.shared.sources.earliest();
            // A policy can move tasks, but it can wake none: with every cpu idle nothing will happen. Where
            // tasks still poll, they poll until the horizon; throttled ones may be allowed to continue until
            // then.
            let none = |cpu: &Cpu| cpu.running == 0 && cpu.head.is_none();
            if next.is_never() && self.pending == 0 && self.cpus.iter().all(none) {
                break Outcome::Deadlock(self.deadlock_message());
            }
            let at = next.min(self.timers.earliest());
            if at > self.shared.options.horizon {
                self.shared.now = self.shared.options.horizon;
                break Outcome::Horizon;
            }
            rounds = if at == self.shared.now { rounds + 1 } else { 0 };
            if rounds > MAX_ROUNDS_PER_INSTANT {
                break Outcome::Livelock(format!("{rounds} rounds at {at:?} did not end the instant"));
            }
            if at > self.shared.now {
                self.shared.rounds.advance();
            }
            debug_assert!(
                at >= self.shared.now,
                "the next event is at {at:?}, and it is {:?}",
                self.shared.now
            );
            self.shared.now = at;
            if let Err(endless) = self.instant(policy) {
                break Outcome::Livelock(format!("{endless} at {at:?} did not end the instant"));
            }
        };
        self.finish(outcome)
    }

    /// One instant, in the phases that the overview of this module lists. The error names what does not end.
    fn instant(&mut self, policy: &mut dyn Policy) -> Result<(), String> {
        self.pass_all_ticks();
        self.armed_now = 0;
        let most = max_timers_per_instant(self.shared.machine.cpus());
        while let Some(timer) = self.timers.take(self.shared.now) {
            if self.armed_now > most {
                return Err(format!("{} timers that the policy armed", self.armed_now));
            }
            self.events += 1;
            self.fire(timer, policy);
            self.notify(policy);
        }
        if self.shared.sources.earliest() == self.shared.now {
            let only = self.shared.sources.only_first();
            if let Some(source) = only
                && source < self.cpus.len()
                && self.is_quiet()
            {
                // The most frequent case: one cpu has something to decide, and nothing else happens.
                self.events += 1;
                let cpu = CpuId(source as u32);
                self.cpus[cpu].fired = true;
                self.decide_first(cpu, policy);
                self.end_round(policy);
            } else {
                self.mark_due(only);
            }
        }
        let mut rounds = 0;
        loop {
            if rounds == MAX_ROUNDS_PER_INSTANT {
                return Err(format!("{MAX_ROUNDS_PER_INSTANT} rounds"));
            }
            rounds += 1;
            while let Some(app) = self.complete_apps.pop() {
                self.notify(policy);
                policy.app_ready(self, app);
            }
            if let Some(cpu) = self.shared.rounds.begin_single() {
                self.decide_first(cpu, policy);
            } else if !self.shared.rounds.is_empty() {
                self.shared.rounds.begin();
                self.decide_others(policy);
            } else if self.preempted.is_empty() {
                // The policy is notified of a boosted task even when no cpu decides, as when the task is
                // throttled.
                break;
            }
            self.end_round(policy);
        }
        if self.shared.options.sampled {
            self.sample();
        }
        let Shared { segments, tasks, apps, sources, now, .. } = &mut self.shared;
        segments.refresh(&mut self.cpus, (tasks, apps), sources, *now);
        self.check_instant();
        Ok(())
    }

    /// Nothing but the armed events is to be done at this instant.
    #[inline]
    fn is_quiet(&self) -> bool {
        self.shared.rounds.is_empty() && self.complete_apps.is_empty()
    }

    /// One cpu decides, then those of higher numbers that it has marked.
    #[inline]
    fn decide_first(&mut self, cpu: CpuId, policy: &mut dyn Policy) {
        self.decide(cpu, policy);
        self.decide_others(policy);
    }

    /// Each cpu that is still to decide in this round does.
    #[inline]
    fn decide_others(&mut self, policy: &mut dyn Policy) {
        while let Some(cpu) = self.shared.rounds.next() {
            self.decide(cpu, policy);
        }
    }

    /// All marked cpus have decided: the policy is notified of what has happened.
    #[inline]
    fn end_round(&mut self, policy: &mut dyn Policy) {
        self.shared.rounds.end();
        self.notify(policy);
        if !self.shared.waits.is_empty() {
            self.notify_waits(policy);
        }
        if !self.preempted.is_empty() {
            self.notify_preemptions(policy);
        }
    }

    fn decide(&mut self, cpu: CpuId, policy: &mut dyn Policy) {
        self.shared.rounds.decides(cpu);
        self.checks.note(cpu);
        self.step(cpu, policy);
    }

    /// Marks the cpus whose armed instant has come, and those on which a task completes its work by the clock
    /// of its class. Each of these sources is armed anew before the instant is over.
    fn mark_due(&mut self, only: Option<usize>) {
        let Self { shared, cpus, events, .. } = self;
        let Shared { sources, segments, now, rounds, .. } = shared;
        let mut mark = |cpu: CpuId| rounds.mark(cpu);
        let mut due = |source: usize| {
            *events += 1;
            if let Some(class) = source.checked_sub(cpus.len()) {
                segments.memory.each_due(class as u32, *now, &mut mark);
            } else {
                let cpu = CpuId(source as u32);
                cpus[cpu].fired = true;
                mark(cpu);
            }
        };
        match only {
            Some(source) => due(source),
            None => sources.each_first(due),
        }
    }

    fn fire(&mut self, timer: Timer, policy: &mut dyn Policy) {
        match timer {
            Timer::Start(app) => {
                self.pending -= 1;
                self.arrives(app, policy);
            }
            Timer::Create(app) => {
                self.pending -= 1;
                self.create(app, policy);
            }
            Timer::Admit => {
                self.pending -= 1;
                self.admit(policy);
            }
            Timer::Wake(task, waker) => {
                self.pending -= 1;
                self.wake(task, waker, policy);
            }
            Timer::Bind(app, change) => self.rebind(app, change, policy),
            Timer::Yields(app, of_team) => self.switch_yields(app, of_team),
            Timer::Update => self.update_priorities(),
            Timer::Period(group) => self.begin_period(group),
            Timer::Tick(cpu) => policy.timer(self, policy::Timer::Tick(cpu)),
            Timer::Policy(token) => {
                self.refresh_priorities();
                policy.timer(self, policy::Timer::Token(token));
            }
            Timer::Slot => policy.timer(self, policy::Timer::Slot),
        }
    }

    /// Notifies the policy of entries and exits since the last time.
    #[inline]
    fn notify(&mut self, policy: &mut dyn Policy) {
        if !self.notices.is_empty() {
            self.notify_runnable(policy);
        }
    }

    fn notify_runnable(&mut self, policy: &mut dyn Policy) {
        let mut notified = 0;
        while let Some((task, cpu, change)) = self.notices.get(notified).copied() {
            notified += 1;
            match change {
                Change::Entered => policy.runnable(self, task, cpu),
                Change::Left => policy.quiescent(self, task, cpu),
                Change::Stopped => policy.stopping(self, task, cpu),
                Change::Overtaken => self.requeue_overtaken(task, cpu, policy),
            }
        }
        self.notices.clear();
        // When an application begins, there may be as many as it has tasks; later, most rounds have few.
        self.notices.shrink_to(NOTICES);
    }

    /// Notifies the policy of each wait that has begun or ended, and of what its reaction causes before the
    /// next one.
    fn notify_waits(&mut self, policy: &mut dyn Policy) {
        for i in 0..self.shared.waits.len() {
            match self.shared.waits[i] {
                (task, Some(what)) => policy.waits(self, task, what),
                (task, None) => policy.proceeds(self, task),
            }
            self.notify(policy);
        }
        self.shared.waits.clear();
    }

    /// Notifies the policy of each task that still waits where it lost its cpu.
    fn notify_preemptions(&mut self, policy: &mut dyn Policy) {
        for (task, cpu, why) in std::mem::take(&mut self.preempted) {
            // A yield that ends at this instant may have given it the cpu.
            self.settle(cpu);
            let record = &self.shared.tasks[task];
            if record.state == TaskState::Queued && record.cpu == cpu {
                self.refresh_priorities();
                policy.preempted(self, task, cpu, why);
                self.notify(policy);
            }
        }
    }

    /// Charges all cpus up to now, so that the policy observes current priorities.
    pub(crate) fn refresh_priorities(&mut self) {
        if self.watches_preemptions {
            for cpu in 0..self.cpus.len() {
                self.catch_up(CpuId(cpu as u32));
            }
        }
    }

    fn mark(&mut self, cpu: CpuId) {
        self.shared.rounds.mark(cpu);
    }

    fn observe(&mut self, what: Observation) {
        self.shared.observe(what);
    }

    /// Reports the cpu-time breakdown of a cpu to the observer.
    #[inline]
    fn report_account(&mut self, cpu: CpuId) {
        self.shared.report_account(&self.cpus[cpu]);
    }

    /// Reports the polling on a cpu since the last observation of it.
    fn report_polling(&mut self, cpu: CpuId) {
        self.shared.report_polling(&mut self.cpus[cpu]);
    }

    /// The first timer tick of a cpu at or after an instant.
    fn tick_at(&self, cpu: CpuId, at: Time) -> Time {
        let (period, phase) = (self.shared.model.tick.ns(), self.tick_step * u64::from(cpu.0));
        let Some(ticks) = self.shared.model.discipline.ticks() else {
            let periods = at.ns().saturating_sub(phase).div_ceil(period);
            return Time::from_ns(phase.saturating_add(periods.saturating_mul(period)));
        };
        // Each is late by less than a period: the last one that is due by now, or the one after it.
        let due = at.ns().saturating_sub(phase) / period;
        let (key, choices) = (self.cpus[cpu].rare.tick_key, u128::from(ticks.late.ns()) + 1);
        let late = |n: u64| ((u128::from(draw(key, n)) * choices) >> 32) as u64;
        let tick =
            |n: u64| Time::from_ns(phase.saturating_add(n.saturating_mul(period)).saturating_add(late(n)));
        if tick(due) >= at { tick(due) } else { tick(due + 1) }
    }

    fn arm_pending(&mut self, at: Time, timer: Timer) {
        debug_assert!(
            at >= self.shared.now,
            "{timer:?} is armed for {at:?}, and it is {:?}",
            self.shared.now
        );
        self.pending += 1;
        self.timers.arm(at, timer);
    }

    /// Context-switch cost to a task from the process that ran last on a cpu.
    fn switch_cost(&self, last: ProcessId, next: TaskId) -> Span {
        Prices::of(&self.shared.machine.costs).switch(last, self.shared.tasks[next].process)
    }
}

/// Notices for which room is kept.
const NOTICES: usize = 4_096;

/// The most names in a message.
pub(crate) const FEW: usize = 5;

impl Engine<'_> {
    /// The deadlock message: how many tasks wait, and the first few of them.
    fn deadlock_message(&self) -> String {
        let waits = |id: &TaskId| {
            let task = &self.shared.tasks[*id];
            task.state != TaskState::Exited && !self.shared.apps[task.app()].background
        };
        let all = self.shared.tasks.ids().filter(waits).count();
        let name = |id: TaskId| {
            let task = &self.shared.tasks[id];
            let app = &self.shared.apps[task.app()];
            format!("{} rank {} ({:?})", app.name, app.rank(id), task.waiting)
        };
        let names: Vec<String> = self.shared.tasks.ids().filter(waits).take(FEW).map(name).collect();
        format!("{all} tasks wait for what will never happen: {}", names.join(", "))
    }
}
