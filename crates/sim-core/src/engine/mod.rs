//! The engine: the only code that changes simulated state. A run is a value, free of globals, sendable.
//!
//! [`Simulation::run`] jumps from one armed instant to the next until all foreground applications have ended.
//! The engine owns tasks, queues and clocks. A policy places and moves tasks; the discipline of the run
//! queues decides who runs next on each cpu, or the policy does if it orders them (`ordering`).
//!
//! # Tasks
//!
//! [`crate::policy::TaskState`] is what the scheduler knows. The functions in brackets change it.
//!
//! ```text
//! New --[fork]--> Queued <--[run_next, put_back]--> Running --[exit]--> Exited
//!                   ^                                | |
//!                   '--[wake]-- Sleeping <--[sleep]--' '--[respawn]--> New, then Queued
//! ```
//!
//! The fast-forward of `polling` also changes tasks between Queued and Running. `relocate` queues a task on
//! another cpu. `Activity` is what the current task of a cpu does: compute, poll (and yield), spin, or be
//! in a system call. `Waiting` is what a task waits for: the release of a barrier, a partner, a lock, an
//! event. It is independent of the state: a waiting task polls while it runs, is queued after a yield, or
//! sleeps once its spin limit (`deadline`) has passed. What few tasks and cpus have lies apart from their
//! records (`state::apart`).
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
//! 5. The governor, if there is one, sets clocks; core speeds and contention clocks follow what has changed;
//!    the `invariants` are checked.
//!
//! # Ties
//!
//! Timers precede cpus, and cpus decide by id. A decision can mark other cpus: a higher one decides in the
//! same round, a lower one or the same one in the next. A poll cycle that ends at this instant belongs to its
//! cpu's decision. `Rounds` knows which cpu decides; cycles that end now are over on lower cpus, still open
//! on this and higher ones. After a round they are over everywhere. The result therefore does not
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
//! # Owners
//!
//! A part of the state that only its owner touches: `rounds` (which cpus decide, in what order), `segments`
//! (how long what a cpu does takes, and what its time is charged to) with `memory` and `cores` below it,
//! `polling::prediction` (how long polling goes on), `watch` and `reports` (notices for policies and
//! observers), `ticks`, `sampling`, `invariants::Checks`, and the timers and sources of `event`.
//! `Shared` has the tasks and applications and what current tasks do between two decisions of their cpu.
//!
//! # Files in reading order
//!
//! `state` (records), `mod` (the loop), `dispatch` (one cpu decides), `wakeup` (into and out of queues),
//! `bandwidth` (who is picked), `ordering` (queues that the policy orders), `notices`, `execute` and `flow`
//! (programs), `events` (what programs share), `barrier` (signals), `locks` and `lock_waits`, `yields`,
//! `shared`, `segments`, `memory`, `cores`, `pages`, `clocks`, `numa`, `ticks`, `catch_up`, `polling`,
//! `system` (the policy's side), `startup` and `arrivals`, `update`, `check`, `setup` and `finish`,
//! `deadlock`, `sampling`, `invariants`, `real_time`.

mod arrivals;
mod bandwidth;
mod barrier;
mod catch_up;
mod check;
mod classes;
mod clocks;
mod commands;
mod cores;
mod deadlock;
mod dispatch;
mod events;
mod execute;
mod finish;
mod flow;
mod invariants;
mod lock_waits;
mod locks;
pub(crate) mod memory;
mod notices;
mod numa;
mod ordering;
mod own_class;
mod pages;
pub(crate) mod polling;
mod pools;
mod raise;
mod real_time;
mod reports;
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
mod ticks;
mod update;
mod wakeup;
mod watch;
mod yields;

use std::collections::VecDeque;
use std::sync::Arc;

use crate::engine::clocks::Schedutil;
use crate::engine::commands::Commands;
use crate::engine::invariants::Checks;
use crate::event::{Timer, Timers};
use crate::ids::{AppId, CpuId, IdVec, TaskId};
use crate::limits::{MAX_ROUNDS_PER_INSTANT, max_timers_per_instant};
use crate::machine::{Machine, PerCpu};
use crate::observe::Observer;
use crate::os::{OsModel, TaskGroup};
use crate::outcome::{Options, Outcome, RunReport};
use crate::policy::{self, Order, Policy, Preemption};
use crate::program::{AppSpec, Objects};
use crate::run_queue::Rules;
use polling::prediction::Predictions;
use sampling::Sampling;
use shared::Shared;
use state::Cpu;
use ticks::Ticks;
use watch::Watch;

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
/// use sim_core::machine::{Clocks, Costs, Level, Machine, Memory, Smt, Topology};
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
///     work_unit: sim_core::time::Speed::NOMINAL,
///     smt: Smt::NONE,
///     turbo: Vec::new(),
///     clocks: Clocks::HIGHEST,
/// };
/// let os = OsModel {
///     name: "round robin".into(),
///     tick: Span::from_ms(1),
///     tick_skew: false,
///     discipline: Discipline::RoundRobin(RoundRobinParams { quantum: Span::from_ms(10) }),
///     balancer: Balancer { policy: "LOAD", rules: Vec::new() },
///     groups: Vec::new(),
///     autogroup: false,
///     numa_balancing: None,
///     real_time: None,
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
    objects: Objects,
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
        Self::with_objects(machine, model, apps, Objects::default(), options)
    }

    /// The same, of applications that use these objects.
    ///
    /// # Errors
    /// As [`Simulation::new`]; objects out of range, or operations on others.
    pub fn with_objects(
        machine: Arc<Machine>,
        model: Arc<OsModel>,
        apps: Vec<AppSpec>,
        objects: Objects,
        options: Options,
    ) -> Result<Self, String> {
        check::check(&machine, &model, &apps, options.admission)?;
        objects.check(&apps)?;
        raise::check(&model, &apps, &objects)?;
        let grouped = model.discipline.grouped().filter(|_| !model.groups.is_empty());
        let model = match grouped {
            Some(discipline) => Arc::new(OsModel { discipline, ..(*model).clone() }),
            None => model,
        };
        Ok(Self { machine, model, apps, objects, options })
    }

    /// Runs to the end: all foreground applications ended, or the horizon, or nothing left that can happen.
    ///
    /// # Panics
    /// The policy orders the run queues ([`Policy::order`]) with a slice below 1 us, or although there are
    /// real-time tasks.
    pub fn run<O: Observer>(self, policy: &mut dyn Policy, observer: &mut O) -> RunReport {
        let mut simulation = self;
        let order = policy.order();
        let groups = simulation.model.groups.iter().filter(|_| order == Order::Policy);
        let told = groups.cloned().collect();
        if order != Order::System {
            simulation.model = Arc::new(simulation.model.ordered(order));
            let checked = simulation.model.discipline.check(simulation.model.tick);
            assert!(checked.is_ok(), "the order of the policy is out of range: {checked:?}");
        }
        let Self { model, apps, objects, .. } = &simulation;
        let ceilings = order == Order::System && raise::needs_class(model, apps, objects);
        if apps.iter().any(AppSpec::is_real_time) || ceilings {
            assert!(order == Order::System, "a policy orders the queues of real-time tasks");
            simulation.model = Arc::new(simulation.model.with_real_time());
        }
        let mut engine = Engine::new(simulation, observer);
        engine.orders.groups = told;
        engine.run(policy)
    }
}

/// What has happened to a task on a cpu.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Change {
    /// It is in the queue.
    Entered,
    /// It has left the queue and the cpu.
    Left,
    /// It sleeps, and no longer competes on the cpu for what it had received ahead of its share.
    Dequeued,
    /// It had the cpu and has left it for good.
    Stopped,
    /// It was the next task of the cpu, and one that preempts has gone before it.
    Overtaken,
    /// Its weight or its mask is another one.
    Task(policy::TaskChange),
    /// Real-time tasks wait on the cpu, where one of them runs.
    Crowded,
    /// Real-time tasks of this rank, which is the best of the cpu no more, have left it.
    Lowered(i64),
}

/// The foreground applications that run.
#[derive(Default)]
pub(crate) struct Admitted {
    jobs: u32,
    tasks: u64,
    /// Which they are; none where the order of the queue does not depend on it.
    apps: Vec<AppId>,
}

/// What a policy that orders the queues is told and says.
#[derive(Default)]
pub(crate) struct Orders {
    /// The task groups: no queue has them.
    groups: Vec<TaskGroup>,
    /// Why the policy ends the run.
    failed: Option<String>,
    /// It is asked where a task goes that begins a job without a sleep.
    releases: bool,
}

/// The state of a run.
pub(crate) struct Engine<'o> {
    cpus: PerCpu<Cpu>,
    shared: Shared<'o>,
    timers: Timers,
    /// Changes of which the policy is still to be notified.
    notices: Vec<(TaskId, CpuId, Change)>,
    /// Scratch: tasks whose dequeue is delayed on a cpu that chooses.
    delayed: Vec<TaskId>,
    /// The policy is notified of preemptions: it asks for it, and the discipline changes priorities with
    /// time.
    watches_preemptions: bool,
    /// Some task of the run is a real-time task.
    real_time: bool,
    /// There are tasks of `SCHED_DEADLINE`.
    deadlines: bool,
    /// The timer of the period of throttling is armed.
    refills: bool,
    /// Tasks that have lost the cpu in whose queue they wait, or were boosted there: the policy is still to
    /// be notified.
    preempted: Vec<(TaskId, CpuId, Preemption)>,
    predictions: Predictions,
    corrections: u64,
    /// Timers that the policy has armed at this instant for this instant.
    armed_now: u64,
    events: u64,
    entries: u64,
    ticks: Ticks,
    /// How many entries into queues there had been when each task last entered one.
    entered: IdVec<TaskId, u64>,
    /// Applications all of whose tasks exist, of which the policy is still to be notified.
    complete_apps: Vec<AppId>,
    /// Foreground applications that have not ended.
    left: u32,
    commands: Commands,
    /// Tasks that are to go to sleep as soon as they have a cpu.
    pausing: u32,
    /// What sets the clocks of cores, if something does.
    governor: Option<Box<Schedutil>>,
    /// Applications that have arrived and are not admitted yet, first come first.
    queue: VecDeque<AppId>,
    admitted: Admitted,
    /// Processes that took the place of others, for their numbers.
    respawned: u32,
    checks: Checks,
    sampling: Sampling,
    orders: Orders,
}

impl Engine<'_> {
    fn run(mut self, policy: &mut dyn Policy) -> RunReport {
        if policy.watches().waits {
            self.shared.watch = Watch::watching(self.cpus.len(), self.shared.tasks.len());
        }
        self.watches_preemptions =
            policy.watches().preemptions && update::update_period(&self.shared.model).is_some();
        self.orders.releases = policy.watches().releases && self.shared.policy_orders;
        policy.init(&mut self);
        let mut rounds = 0u32;
        let outcome = loop {
            if let Some(reason) = self.orders.failed.take() {
                break Outcome::Failed(reason);
            }
            if self.left == 0 {
                break Outcome::Completed;
            }
            let next = self.shared.sources.earliest();
            // A policy can move tasks, but it can wake none: with every cpu idle nothing will happen. Where
            // tasks still poll, they poll until the horizon; throttled ones may be allowed to continue until
            // then.
            let none = |cpu: &Cpu| cpu.running == 0 && cpu.head.is_none();
            let comes = self.timers.has_entries() || !self.commands.is_empty();
            if next.is_never() && !comes && self.cpus.iter().all(none) {
                break Outcome::Deadlock(deadlock::message(&self.shared));
            }
            let event = next.min(self.timers.earliest());
            // A command acts when all events of its instant are over.
            let command = self.commands.next_at().filter(|command| *command < event);
            let at = command.unwrap_or(event);
            if at > self.shared.options.horizon {
                self.shared.now = self.shared.options.horizon;
                break Outcome::Horizon;
            }
            rounds = if at == self.shared.now && command.is_none() { rounds + 1 } else { 0 };
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
            let ended = if command.is_some() { self.obey(policy) } else { self.instant(policy) };
            if let Err(endless) = ended {
                break Outcome::Livelock(format!("{endless} at {at:?} did not end the instant"));
            }
        };
        policy.ended(&mut self);
        let counters = policy.counters();
        RunReport { policy_counters: counters, ..self.finish(outcome) }
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
                && self.shared.rounds.is_empty()
                && self.complete_apps.is_empty()
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
        self.end_instant(policy)
    }

    /// The marked cpus decide, and what follows from that.
    fn end_instant(&mut self, policy: &mut dyn Policy) -> Result<(), String> {
        let mut rounds = 0;
        loop {
            if rounds == MAX_ROUNDS_PER_INSTANT {
                return Err(format!("{MAX_ROUNDS_PER_INSTANT} rounds"));
            }
            rounds += 1;
            while let Some(app) = self.complete_apps.pop() {
                self.notify(policy);
                policy.app_ready(self, app);
                if self.shared.policy_orders {
                    self.notify(policy);
                }
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
        self.govern();
        let Shared { segments, tasks, apps, sources, now, .. } = &mut self.shared;
        segments.refresh(&mut self.cpus, (tasks, apps), sources, *now);
        while let Some(cpu) = self.shared.segments.next_respeeded() {
            self.shared.arm_scan(&self.cpus[cpu]);
        }
        self.check_instant();
        Ok(())
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
        if self.shared.watch.has_waits() {
            self.notify_waits(policy);
        }
        if !self.preempted.is_empty() {
            self.notify_preemptions(policy);
        }
        if !self.shared.misplaced.is_empty() {
            self.notify_misplaced(policy);
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
            Timer::Start(app) => self.arrives(app, policy),
            Timer::Create(app) => self.create(app, policy),
            Timer::Admit => self.admit(policy),
            Timer::Wake(task, waker) => self.wake(task, waker, policy),
            Timer::Source(number) => self.request_comes(number, policy),
            Timer::Bind(app, change) => self.rebind(app, change, policy),
            Timer::Yields(app, handler) => self.switch_yields(app, handler),
            Timer::Update => self.update_priorities(),
            Timer::Period(group) => self.begin_period(group),
            Timer::Refill => self.refill_real_time(),
            Timer::Replenish(task) => self.replenish(task),
            Timer::Clocks => self.governor_ticks(),
            Timer::Tick(cpu) => policy.timer(self, policy::Timer::Tick(cpu)),
            Timer::Policy(token) => {
                self.refresh_priorities();
                policy.timer(self, policy::Timer::Token(token));
            }
            Timer::Slot => policy.timer(self, policy::Timer::Slot),
        }
    }
}
