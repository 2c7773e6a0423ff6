//! A slow, obvious kernel to compare the engine with: every poll cycle and every timer tick is a step of its
//! own, the next instant is found by scanning everything, and what every running task has left is counted
//! down at every instant.
//!
//! It shares the types, the random streams and the policies with the engine, but none of its machinery: no
//! forecasts, no tournament tree, no heaps, no virtual clocks, no linked lists.

mod bandwidth;
mod barrier;
mod caches;
mod classes;
mod commands;
mod compute;
mod cores;
mod cpu;
mod eevdf;
mod event_wait;
mod events;
mod fair;
mod finish;
mod governor;
mod groups;
mod loads;
mod locks;
mod memory;
mod messages;
mod numa;
mod objects;
mod pools;
mod priorities;
mod program;
mod queue;
mod real_time;
mod records;
mod request_timer;
mod reserved;
mod scan;
mod server;
mod startup;
mod state;
mod tracks;
mod usage;
mod view;
mod wakeup;
mod yields;

use std::collections::BTreeSet;
use std::sync::Arc;

use sim_core::command::Act;
use sim_core::ids::{AppId, CpuId, TaskId};
use sim_core::limits::{MAX_ROUNDS_PER_INSTANT, max_timers_per_instant};
use sim_core::lock::Protocol;
use sim_core::machine::Machine;
use sim_core::observe::{Digest, LeaveReason, Observation, Observer};
use sim_core::os::{Discipline, OsModel, TaskGroup};
use sim_core::outcome::{Options, Outcome, RunReport};
use sim_core::policy::{Awaited, Order, Policy, Preemption, TaskChange, Watches};
use sim_core::program::{AppSpec, Objects, Op};
use sim_core::time::Time;

use cores::core_speed;
use memory::{Job, RefMemory};
use objects::RefObjects;
use state::{Activity, NEVER, RefApp, RefCpu, RefLock, RefTask};

/// What a timer does; in the order in which the timers of one instant go off.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Timer {
    Start(usize),
    Create(usize),
    Admit,
    Wake { task: usize, by: usize },
    Request(usize),
    Bind(usize, usize),
    Yields(usize, usize),
    Update,
    Period(usize),
    Refill,
    Replenish(usize),
    Clocks,
    Tick(u32),
    Policy(u64),
    Slot,
}

impl Timer {
    fn class(self) -> u8 {
        match self {
            Self::Start(_) | Self::Create(_) | Self::Admit => 0,
            Self::Wake { .. } | Self::Request(_) | Self::Bind(..) | Self::Yields(..) => 1,
            Self::Update | Self::Period(_) | Self::Refill | Self::Replenish(_) | Self::Clocks => 2,
            Self::Tick(_) => 3,
            Self::Policy(_) => 4,
            Self::Slot => 5,
        }
    }
}

/// The state of a run.
struct Reference<'o> {
    machine: Arc<Machine>,
    model: Arc<OsModel>,
    options: Options,
    observer: &'o mut dyn Observer,
    digest: Digest,
    now: u64,
    cpus: Vec<RefCpu>,
    /// Cpu time that limited task groups have left in their periods.
    pools: Vec<i64>,
    /// Of each task group: its load on all cpus.
    totals: Vec<tracks::Total>,
    /// And its weight.
    shares: Vec<u32>,
    tasks: Vec<RefTask>,
    /// What each task uses, where a governor asks.
    uses: Vec<usage::RefShare>,
    /// Some task is a real-time task.
    real_time: bool,
    /// Tasks change their classes.
    classes_change: bool,
    apps: Vec<RefApp>,
    /// What the programs share.
    objects: RefObjects,
    /// The locks of the run and, behind them, those of each application.
    locks: Vec<RefLock>,
    memory: RefMemory,
    /// Armed timers in the order of arming.
    timers: Vec<(u64, Timer)>,
    /// What is still to come from outside, in order.
    commands: Vec<(u64, usize, Act)>,
    /// Cpus whose turn is still to come in this round, and in the next one.
    round: BTreeSet<usize>,
    next_round: BTreeSet<usize>,
    /// The cpu that decides now.
    deciding: Option<usize>,
    /// Changes of which the policy is still to be notified.
    notices: Vec<(usize, usize, Change)>,
    /// Tasks that have begun to wait (for what) or gone on, of which the policy is still to be notified.
    waits: Vec<(usize, Option<Awaited>)>,
    /// What the policy wants to know.
    watches: Watches,
    /// The policy wants to know who is displaced, under the time-sharing class.
    turns: bool,
    preempted: Vec<(usize, usize, Preemption)>,
    /// Tasks away from their preferred nodes, of which the policy is still to be told.
    astray: Vec<usize>,
    complete_apps: Vec<usize>,
    /// Applications that have arrived and not started, in order.
    queue: Vec<usize>,
    corrections: u64,
    /// Timers that the policy has armed at this instant for this instant.
    armed_now: u64,
    entries: u64,
    steps: u64,
    /// The groups that a policy is told of, which no queue has; in which applications are; why it ends the
    /// run.
    told: (Vec<TaskGroup>, Vec<Option<u16>>, Option<String>),
}

/// What has happened to a task on a cpu.
#[derive(Clone, Copy)]
enum Change {
    Entered,
    Left,
    /// It had the cpu and has left it for good.
    Stopped,
    /// It was to run next, and somebody who preempts has come before it.
    Overtaken,
    /// Its weight or its mask is another one.
    Altered(TaskChange),
    /// Others of the real-time class wait where it runs.
    Crowded,
    /// Somebody of the real-time class, of this priority, has left or has become worse.
    Lowered(i64),
}

/// Whether there are real-time tasks, and whether tasks change their classes.
fn classes_of(model: &OsModel, specs: &[AppSpec], objects: &Objects) -> (bool, bool) {
    let class = |change: &sim_core::program::Change| matches!(change, sim_core::program::Change::Class(_));
    let changes = specs.iter().any(|spec| spec.program.changes().iter().any(class));
    let takes = |which: fn(Protocol) -> bool| specs.iter().any(|spec| takes(spec, objects, which));
    let ceilings = can_raise(model) && takes(|protocol| matches!(protocol, Protocol::Ceiling(_)));
    let real_time = specs.iter().any(AppSpec::is_real_time) || ceilings;
    (real_time, changes || (real_time && takes(|protocol| protocol != Protocol::Plain)))
}

/// A fair task can become a real-time task under this kernel.
fn can_raise(model: &OsModel) -> bool {
    let eevdf = matches!(model.discipline, Discipline::Eevdf(_));
    let cfs = matches!(model.discipline, Discipline::Cfs(_)) && model.groups.is_empty();
    model.real_time.is_some() && (eevdf || cfs)
}

/// A program takes a lock of such a protocol.
fn takes(spec: &AppSpec, objects: &Objects, which: fn(Protocol) -> bool) -> bool {
    spec.program.ops().iter().any(|op| {
        let Op::Lock(lock) = op else { return false };
        let rules = if spec.named_locks { objects.locks[lock.0 as usize].rules } else { spec.lock };
        which(rules.protocol)
    })
}

/// Runs a scenario on the reference engine. The report equals the engine's except for `events`.
///
/// The scenario must be one that [`sim_core::engine::Simulation::new`] accepts.
pub fn run(
    machine: Arc<Machine>,
    model: Arc<OsModel>,
    apps: Vec<AppSpec>,
    options: Options,
    policy: &mut dyn Policy,
) -> RunReport {
    run_observed(machine, model, apps, &Objects::default(), options, policy, &mut ())
}

/// As [`run`], with what the programs share (as [`sim_core::engine::Simulation::with_objects`]), telling
/// every fact to an observer.
pub fn run_observed(
    machine: Arc<Machine>,
    model: Arc<OsModel>,
    apps: Vec<AppSpec>,
    objects: &Objects,
    options: Options,
    policy: &mut dyn Policy,
    observer: &mut dyn Observer,
) -> RunReport {
    let told = if policy.order() == Order::Policy { model.groups.clone() } else { Vec::new() };
    let members = apps.iter().map(|app| app.group).collect();
    let model = match policy.order() {
        Order::System => model,
        order => Arc::new(model.ordered(order)),
    };
    let mut reference = Reference::new(machine, model, (apps, objects), options, observer);
    reference.told = (told, members, None);
    let outcome = reference.go(policy);
    policy.ended(&mut reference);
    RunReport { policy_counters: policy.counters(), ..reference.finish(outcome) }
}

/// The records of the task groups of a cpu.
fn groups_of(model: &OsModel) -> Vec<records::RefGroup> {
    let slice = if let Discipline::Eevdf(params) = &model.discipline { params.slice.ns() } else { 0 };
    model.groups.iter().map(|group| records::RefGroup::new(group.weight, slice)).collect()
}

impl<'o> Reference<'o> {
    fn new(
        machine: Arc<Machine>,
        model: Arc<OsModel>,
        (specs, objects): (Vec<AppSpec>, &Objects),
        options: Options,
        observer: &'o mut dyn Observer,
    ) -> Self {
        let (mut tasks, mut timers, commands) = (Vec::new(), Vec::new(), commands::in_order(&specs));
        let mut shared = RefObjects::new(objects, &specs, options.seed);
        for (number, spec) in specs.iter().enumerate() {
            tasks.extend((0..spec.tasks).map(|rank| RefTask {
                scan: scan::RefScan::begins(model.numa_balancing.as_ref(), 0),
                ..RefTask::new(number, rank, spec, options.seed)
            }));
            if spec.after.is_none() && !spec.is_commanded() {
                timers.push((startup::delay(spec, number, &options), Timer::Start(number)));
            }
        }
        let (specs_real_time, classes_change) = classes_of(&model, &specs, objects);
        let (apps, locks) = RefApp::all(specs, &objects.locks);
        timers.extend(shared.first_requests().into_iter().map(|(at, source)| (at, Timer::Request(source))));
        if let Discipline::Ts(params) = &model.discipline {
            timers.push((params.update.ns(), Timer::Update));
        }
        let (groups, shares) = (groups_of(&model), model.groups.iter().map(|group| group.weight).collect());
        Self {
            cpus: machine
                .cpu_ids()
                .map(|cpu| {
                    let own = core_speed(&machine, model.tick.ns(), cpu.0 as usize, 0);
                    RefCpu { groups: groups.clone(), ..RefCpu::new(own) }
                })
                .collect(),
            memory: RefMemory::new(&machine),
            machine,
            model,
            options,
            observer,
            digest: Digest::default(),
            now: 0,
            uses: vec![usage::RefShare::default(); tasks.len()],
            real_time: specs_real_time,
            classes_change,
            tasks,
            apps,
            objects: shared,
            locks,
            timers,
            commands,
            pools: Vec::new(),
            totals: vec![tracks::Total::default(); groups.len()],
            shares,
            round: BTreeSet::new(),
            next_round: BTreeSet::new(),
            deciding: None,
            notices: Vec::new(),
            waits: Vec::new(),
            watches: Watches::default(),
            turns: false,
            preempted: Vec::new(),
            astray: Vec::new(),
            complete_apps: Vec::new(),
            queue: Vec::new(),
            corrections: 0,
            armed_now: 0,
            entries: 0,
            steps: 0,
            told: <_>::default(),
        }
    }

    fn go(&mut self, policy: &mut dyn Policy) -> Outcome {
        self.watches = policy.watches();
        self.turns = policy.watches().preemptions && matches!(self.model.discipline, Discipline::Ts(_));
        self.arm_class();
        self.open_pools();
        self.begin_clocks();
        policy.init(self);
        let mut repeats = 0;
        loop {
            if let Some(reason) = self.told.2.take() {
                return Outcome::Failed(reason);
            }
            if self.apps.iter().all(|app| app.spec.background || app.end.is_some()) {
                return Outcome::Completed;
            }
            let command = self.commands.first().map_or(NEVER, |(at, ..)| *at);
            let asleep = self
                .cpus
                .iter()
                .all(|cpu| cpu.current.is_none() && cpu.queue.is_empty() && cpu.class.is_empty());
            // What may wake somebody up.
            let coming = |timer: &Timer| {
                matches!(
                    timer,
                    Timer::Start(_)
                        | Timer::Create(_)
                        | Timer::Admit
                        | Timer::Wake { .. }
                        | Timer::Request(_)
                )
            };
            if asleep && command == NEVER && !self.timers.iter().any(|(_, timer)| coming(timer)) {
                return Outcome::Deadlock(self.who_waits());
            }
            let (event, obeys) = (self.next_instant(), command < self.next_instant());
            let at = if obeys { command } else { event };
            if at > self.options.horizon.ns() {
                self.advance(self.options.horizon.ns());
                return Outcome::Horizon;
            }
            repeats = if at == self.now && !obeys { repeats + 1 } else { 0 };
            if repeats > MAX_ROUNDS_PER_INSTANT {
                let at = Time::from_ns(at);
                return Outcome::Livelock(format!("{repeats} rounds at {at:?} did not end the instant"));
            }
            self.advance(at);
            if obeys {
                self.obey(policy);
            } else if !self.instant(policy) {
                let at = Time::from_ns(at);
                let timers = self.armed_now;
                return Outcome::Livelock(format!(
                    "{timers} timers that the policy armed at {at:?} did not end the instant"
                ));
            }
        }
    }

    /// The earliest of all timers, of what every cpu does, and of the ticks on cpus where somebody waits.
    fn next_instant(&self) -> u64 {
        let mut next = self.timers.iter().map(|(at, _)| *at).min().unwrap_or(NEVER);
        for c in 0..self.cpus.len() {
            next = next.min(self.next_due(c)).min(self.next_scan(c));
            if self.feels_ticks(c) {
                next = next.min(self.tick_from(c, self.now + 1));
                next = next.min(self.request_end(c).max(self.now + 1));
                next = next.min(self.server_interrupts(c).max(self.now + 1));
            } else if self.contested(c) {
                let check = match &self.model.discipline {
                    Discipline::RoundRobin(params) if self.class_current(c).is_none() => {
                        (self.cpus[c].picked + params.quantum.ns()).max(self.now + 1)
                    }
                    Discipline::Eevdf(_) => NEVER,
                    _ => self.tick_from(c, self.now + 1),
                };
                next = next.min(check);
            }
        }
        next
    }

    /// Lets time pass: computing tasks get on with their work, and ticks find slices used up.
    fn advance(&mut self, to: u64) {
        let span = i128::from(to - self.now);
        for c in 0..self.cpus.len() {
            if self.cpus[c].activity == Activity::Compute {
                let cpu = &mut self.cpus[c];
                cpu.work_left -= i128::from(cpu.rate) * span;
                cpu.allowed_work += cpu.rate * (to - self.now);
                cpu.traffic += ((cpu.rate * cpu.growth) >> 16) * (to - self.now);
            }
            self.cpus[c].slice_over = span > 0 && self.slice_used_up(c, to);
        }
        self.now = to;
        for c in 0..self.cpus.len() {
            if span > 0 && self.feels_ticks(c) && self.tick_from(c, to) == to {
                self.tick(c);
            }
            if span > 0 && self.request_end(c) <= to {
                self.end_request(c);
            }
            if span > 0 && self.server_interrupts(c) <= to && !self.is_due(c) {
                self.charge(c);
                self.cpus[c].slice_over |= self.cpus[c].resched;
            }
        }
    }

    /// Timers, then what is due on cpus, then the decisions of the cpus concerned in id order, then new
    /// speeds. False when the policy arms timers for this instant without end.
    fn instant(&mut self, policy: &mut dyn Policy) -> bool {
        self.armed_now = 0;
        while let Some(timer) = self.take_timer() {
            if self.armed_now > max_timers_per_instant(self.machine.cpus()) {
                return false;
            }
            self.steps += 1;
            self.fire(timer, policy);
            self.tell(policy);
        }
        for c in 0..self.cpus.len() {
            if self.cpus[c].slice_over || self.is_due(c) || self.next_scan(c) <= self.now {
                self.mark(c);
            }
        }
        self.settle_all(policy);
        true
    }

    /// All cpus that are marked decide, and what follows.
    fn settle_all(&mut self, policy: &mut dyn Policy) {
        for _ in 0..MAX_ROUNDS_PER_INSTANT {
            while let Some(app) = self.complete_apps.pop() {
                self.tell(policy);
                policy.app_ready(self, AppId(app as u32));
                if self.by_policy() {
                    self.tell(policy);
                }
            }
            std::mem::swap(&mut self.round, &mut self.next_round);
            // Who is lifted hears of it even when no cpu has anything to decide.
            if self.round.is_empty() && self.preempted.is_empty() {
                break;
            }
            while let Some(c) = self.round.pop_first() {
                self.deciding = Some(c);
                self.step(c, policy);
            }
            self.deciding = None;
            self.tell(policy);
            self.tell_waits(policy);
            self.tell_displaced(policy);
            self.tell_astray(policy);
        }
        self.new_clocks();
        self.new_speeds();
        self.new_rates();
    }

    /// The first timer of this instant by class and order of arming.
    fn take_timer(&mut self) -> Option<Timer> {
        let due = self.timers.iter().enumerate().filter(|(_, (at, _))| *at == self.now);
        let (first, _) = due.min_by_key(|(order, (_, timer))| (timer.class(), *order))?;
        Some(self.timers.remove(first).1)
    }

    fn fire(&mut self, timer: Timer, policy: &mut dyn Policy) {
        match timer {
            Timer::Start(app) => self.arrives(app, policy),
            Timer::Create(app) => self.create(app, policy),
            Timer::Admit => self.admit(policy),
            Timer::Wake { task, by } => self.wake(task, by, policy),
            Timer::Request(source) => self.request(source, policy),
            Timer::Bind(app, change) => self.rebind(app, change, policy),
            Timer::Yields(app, which) => self.flip_yields(app, which),
            Timer::Update => self.update_priorities(),
            Timer::Period(group) => self.begin_period(group),
            Timer::Refill => self.refill_class(),
            Timer::Replenish(task) => self.replenish(task),
            Timer::Clocks => self.tick_clocks(),
            Timer::Tick(cpu) => policy.timer(self, sim_core::policy::Timer::Tick(CpuId(cpu))),
            Timer::Policy(token) => {
                self.refresh_priorities();
                policy.timer(self, sim_core::policy::Timer::Token(token));
            }
            Timer::Slot => policy.timer(self, sim_core::policy::Timer::Slot),
        }
    }

    fn arm(&mut self, at: u64, timer: Timer) {
        self.timers.push((at, timer));
    }

    /// The stretches under the tasks that compute now, and with them everybody's rate.
    fn new_rates(&mut self) {
        let computing = |cpu: &&RefCpu| cpu.activity == Activity::Compute;
        let jobs: Vec<Job> = self.cpus.iter().filter(computing).map(|cpu| cpu.job.clone()).collect();
        self.memory.settle(&self.machine, &jobs);
        for cpu in &mut self.cpus {
            if cpu.activity == Activity::Compute {
                cpu.rate = self.memory.rate(&self.machine, &cpu.job);
                cpu.growth = self.memory.growth(&self.machine, &cpu.job);
            }
        }
    }

    /// The first timer tick of a cpu at or after an instant.
    fn tick_from(&self, c: usize, at: u64) -> u64 {
        let period = self.model.tick.ns();
        let skew = if self.model.tick_skew { period / 2 / self.cpus.len() as u64 } else { 0 };
        let phase = skew * c as u64;
        if self.eevdf().is_some() {
            let ticks = (at.saturating_sub(phase) / period)..;
            let due = |n: u64| phase.saturating_add(n.saturating_mul(period));
            let late = |n: u64| due(n).saturating_add(self.lateness(c, n));
            return ticks.map(late).find(|tick| *tick >= at).unwrap_or(NEVER);
        }
        if at <= phase {
            return phase;
        }
        phase.saturating_add((at - phase).div_ceil(period).saturating_mul(period))
    }

    /// A cpu has to decide: in this round if the cpu that decides now is a lower one, otherwise in the next
    /// one.
    fn mark(&mut self, c: usize) {
        if self.deciding.is_some_and(|deciding| c > deciding) {
            self.round.insert(c);
        } else {
            self.next_round.insert(c);
        }
    }

    /// Tells the policy of entries and exits since the last time.
    fn tell(&mut self, policy: &mut dyn Policy) {
        // What this causes is told before anything else happens.
        while !self.notices.is_empty() {
            let (t, c, news) = self.notices.remove(0);
            let (task, cpu) = (TaskId(t as u32), CpuId(c as u32));
            match news {
                Change::Entered => policy.runnable(self, task, cpu),
                Change::Left => policy.quiescent(self, task, cpu),
                Change::Stopped => policy.stopping(self, task, cpu),
                Change::Overtaken => self.ask_overtaken(t, c, policy),
                Change::Altered(what) => policy.changed(self, task, what),
                Change::Crowded => self.push_class(c),
                Change::Lowered(priority) => self.pull_class(c, priority),
            }
        }
    }

    /// Tells the policy of waits that began and ended in this round, each with what it does about it.
    fn tell_waits(&mut self, policy: &mut dyn Policy) {
        for (t, what) in std::mem::take(&mut self.waits) {
            match what {
                Some(what) => policy.waits(self, TaskId(t as u32), what),
                None => policy.proceeds(self, TaskId(t as u32)),
            }
            self.tell(policy);
        }
    }

    /// Tells the policy who still waits where it lost its cpu or was lifted.
    fn tell_displaced(&mut self, policy: &mut dyn Policy) {
        for (t, c, why) in std::mem::take(&mut self.preempted) {
            if self.cpus[c].queue.contains(&t) {
                self.refresh_priorities();
                policy.preempted(self, TaskId(t as u32), CpuId(c as u32), why);
                self.tell(policy);
            }
        }
    }

    /// Everybody is charged for what it has used until now.
    pub(super) fn refresh_priorities(&mut self) {
        if self.turns {
            (0..self.cpus.len()).for_each(|c| self.charge(c));
        }
    }

    fn observe(&mut self, what: Observation) {
        let at = Time::from_ns(self.now);
        self.digest.observe(at, &what);
        self.observer.observe(at, &what);
    }

    fn tell_polling(&mut self, c: usize) {
        let polls = std::mem::take(&mut self.cpus[c].polls);
        let switches = std::mem::take(&mut self.cpus[c].switches);
        if polls > 0 {
            self.observe(Observation::Polled { cpu: CpuId(c as u32), polls, switches });
        }
    }

    /// The current task of a cpu has work to do.
    fn announce(&mut self, c: usize) {
        let current = self.cpus[c].current;
        if let (Some(t), true) = (current, self.cpus[c].observed != current) {
            self.tell_polling(c);
            self.cpus[c].observed = current;
            self.observe(Observation::Running { task: TaskId(t as u32), cpu: CpuId(c as u32) });
        }
    }

    /// The task reported as running has no more work to do there.
    fn renounce(&mut self, c: usize, reason: LeaveReason) {
        if let Some(t) = self.cpus[c].observed.take() {
            self.tell_polling(c);
            self.observe(Observation::Stopping { task: TaskId(t as u32), cpu: CpuId(c as u32), reason });
        }
    }
}
