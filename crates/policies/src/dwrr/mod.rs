//! `DWRR`: distributed weighted round robin: every thread runs one slice per round, and no cpu begins a round
//! while work of the last one waits elsewhere.
//!
//! Source: Li, Baumberger, Hahn, "Efficient and scalable multiprocessor fair scheduling using distributed
//! weighted round-robin" (PPoPP 2009). Constants, and what is marked below as a reading of the paper, are
//! uncertain.

mod placement;
mod takeable;

use notation::declare::Duration;
use notation::{choices, parameters};
use sim_core::ids::{CpuId, TaskId};
use sim_core::machine::{Level as Tree, PerCpu};
use sim_core::policy::{CpuChoice, Placement, Policy, System, TaskState, TaskView, Timer, View, Why};
use sim_core::time::Time;

use crate::entry::{Entry, Level, Setting, Showcase, TaskGroups};
use crate::queues::Queues;
use takeable::{Takeable, next_round};

/// Its entry in the registry.
pub(crate) const ENTRY: Entry = Entry {
    name: "DWRR",
    summary: "distributed weighted round robin: one slice per thread and round; cpus that finish a round \
        take threads from \
others",
    source: "Li, Baumberger, Hahn: Distributed Weighted Round-Robin, PPoPP 2009 (constants uncertain)",
    level: Level::InKernel,
    task_groups: TaskGroups::Refused,
    parameters: Parameters::TABLE,
    text: include_str!("dwrr.md"),
    wins: Showcase {
        scenario: "odd_thread",
        label: "DWRR",
        against: "LOAD",
        app: "ep",
        point: "kernel=linux-2.6.28",
    },
    loses: Showcase {
        scenario: "moved_memory",
        label: "DWRR",
        against: "LGROUP",
        app: "stream",
        point: "kernel=solaris-9",
    },
    build: &|values, setting| Box::new(Dwrr::new(&values.into(), setting)),
};

choices! {
    /// The words of `source`.
    enum Source { Busiest = "busiest", Nearest = "nearest" }
}

parameters! {
    /// Parameters of `DWRR`.
    struct Parameters {
        /// Cpu time per round of a thread of nice 0 (the round slice unit), checked at timer ticks. The value
        /// of 100 ms is uncertain.
        base: Duration = ms(100), in us(100)..=s(100);
        /// Maximum number of threads taken at one end of a round. DWRR stops before the other queue becomes
        /// the shorter one (the paper's number is uncertain).
        take: u64 = 1, in 1..=1_000;
        /// The cpu to take from (uncertain). `busiest`: the cpu from which most threads can be taken.
        /// `nearest`: the next cpu by number that has any.
        source: Source = Source::Busiest;
    }
}

/// Slices are given for this weight, that of nice 0.
const NICE_0: u64 = 1_024;
/// Priority level of threads that may run in the round of their cpu, and of those that wait for the next one.
const ACTIVE: u8 = 0;
const EXPIRED: u8 = 1;

/// What a cpu knows.
#[derive(Clone, Copy, Debug)]
struct Turn {
    round: u64,
    /// It has no thread, and stands in no round.
    idle: bool,
    /// Not before this instant a tick looks at the slices.
    look: Time,
}

/// What is known of a thread.
#[derive(Clone, Copy, Debug, Default)]
struct Member {
    /// The round it runs in, or that it waits for; 0 before its first one.
    round: u64,
    /// The cpu time, in ns, at which its slice is used up.
    due: u64,
    expired: bool,
    /// It stands in the priority of those that wait.
    back: bool,
    /// Where it is runnable, as far as hooks have shown.
    on: Option<CpuId>,
}

/// Reasons of moves.
const TAKEN: &str = "taken: it may still run in the round that has ended on this cpu";
const TAKEN_EARLY: &str = "taken: no other thread is left, the round that it waits for begins on this cpu";

struct Dwrr {
    base: u64,
    take: u64,
    nearest: bool,
    highest: u64,
    cpus: PerCpu<Turn>,
    threads: Vec<Member>,
    queues: Queues,
    takeable: Takeable,
    waiting: Vec<TaskId>,
}

impl Dwrr {
    fn new(values: &Parameters, setting: &Setting<'_>) -> Self {
        let machine = setting.machine;
        Self {
            base: values.base.ns(),
            take: values.take,
            nearest: values.source == Source::Nearest,
            highest: 1,
            cpus: PerCpu::filled(machine.cpus() as usize, Turn { round: 1, idle: true, look: Time::NEVER }),
            threads: Vec::new(),
            queues: Queues::new(machine.cpus(), machine.topology.span(Tree::Node)),
            takeable: Takeable::new(machine.cpus()),
            waiting: Vec::new(),
        }
    }

    fn thread(&mut self, task: TaskId) -> &mut Member {
        let at = task.0 as usize;
        if at >= self.threads.len() {
            self.threads.resize(at + 1, Member::default());
        }
        &mut self.threads[at]
    }

    /// A thread runs in this round from now on, or waits for it.
    fn set_round(&mut self, task: TaskId, round: u64) {
        let thread = self.thread(task);
        let before = std::mem::replace(&mut thread.round, round);
        if let Some(cpu) = thread.on {
            self.takeable.count(cpu, before, false);
            self.takeable.count(cpu, round, true);
        }
    }

    /// A thread is runnable on this cpu, or nowhere.
    fn set_on(&mut self, task: TaskId, on: Option<CpuId>) {
        let thread = self.thread(task);
        let (before, round) = (std::mem::replace(&mut thread.on, on), thread.round);
        for (cpu, comes) in [(before, false), (on, true)] {
            if let Some(cpu) = cpu {
                self.takeable.count(cpu, round, comes);
            }
        }
    }

    fn set_turn(&mut self, cpu: CpuId, round: u64) {
        self.cpus[cpu].round = round;
        self.takeable.enter(cpu, round);
    }

    fn known(&self, task: TaskId) -> Member {
        self.threads.get(task.0 as usize).copied().unwrap_or_default()
    }

    /// Cpu time of a thread per round, in ns.
    fn slice(&self, view: &dyn View, task: TaskId) -> u64 {
        (self.base * u64::from(view.task(task).weight) / NICE_0).max(1)
    }

    /// The runnable threads of a cpu, the running one last.
    fn all(&mut self, system: &mut dyn System, cpu: CpuId) -> Vec<TaskId> {
        let mut waiting = std::mem::take(&mut self.waiting);
        let current = system.current(cpu);
        system.queued(cpu, usize::MAX, &mut waiting);
        waiting.extend(current);
        waiting
    }

    /// A runnable thread may run in this round.
    fn admit(&mut self, system: &mut dyn System, task: TaskId, round: u64, rule: &'static str) {
        let (slice, used) = (self.slice(system, task), system.cpu_time(task).ns());
        let thread = self.thread(task);
        if thread.expired || thread.round < round {
            // What was used too much is missing now; of what was not used, no more than a slice is kept.
            thread.due = (thread.due + slice).min(used + 2 * slice);
        }
        self.set_round(task, round);
        self.bring_forward(system, task, rule);
    }

    /// A thread is active in its round.
    fn bring_forward(&mut self, system: &mut dyn System, task: TaskId, rule: &'static str) {
        let thread = self.thread(task);
        thread.expired = false;
        if std::mem::take(&mut thread.back) {
            let round = thread.round;
            let why = Why::rule(rule).with("round", round);
            self.set_priority(system, task, ACTIVE, why);
        }
    }

    /// Makes the first tick after the earliest possible end of a slice look at this cpu.
    fn look_again(&mut self, system: &mut dyn System, cpu: CpuId) {
        let all = self.all(system, cpu);
        let active = all.iter().filter(|task| !self.known(**task).expired);
        let left = active.map(|task| self.known(*task).due.saturating_sub(system.cpu_time(*task).ns())).min();
        self.waiting = all;
        if let Some(left) = left {
            self.look(system, cpu, left);
        }
    }

    fn look(&mut self, system: &mut dyn System, cpu: CpuId, in_ns: u64) {
        let at = Time::from_ns(system.now().ns().saturating_add(in_ns));
        if at < self.cpus[cpu].look {
            self.cpus[cpu].look = at;
            system.at(at, Timer::Tick(cpu));
        }
    }

    /// The slice of the running thread is used up.
    fn expire(&mut self, system: &mut dyn System, cpu: CpuId, task: TaskId, used: u64) {
        let round = self.cpus[cpu].round;
        self.set_round(task, round + 1);
        let thread = self.thread(task);
        thread.expired = true;
        let beyond = used - thread.due;
        let all = self.all(system, cpu);
        let others = all.iter().filter(|task| !self.known(**task).expired).count();
        self.waiting = all;
        if others == 0 && self.balance(system, cpu, round) == 0 {
            self.begin(system, cpu);
            return;
        }
        self.thread(task).back = true;
        let why = Why::rule("expired: its slice of the round is used up").with("round", round);
        self.set_priority(system, task, EXPIRED, why.with("used beyond the slice, ns", beyond));
    }

    fn set_priority(&mut self, system: &mut dyn System, task: TaskId, priority: u8, why: Why) {
        system.set_priority(task, priority, why);
        if system.task(task).priority != priority {
            self.takeable.distrust();
        }
    }

    /// Takes waiting threads of rounds up to `latest` to a cpu; how many.
    fn balance(&mut self, system: &mut dyn System, cpu: CpuId, latest: u64) -> u64 {
        let mut taken = 0;
        while taken < self.take {
            let Some((task, from, fit)) = self.source(system, cpu, latest) else { break };
            if taken > 0 && fit <= taken {
                break;
            }
            let (round, its) = (self.cpus[cpu].round, self.known(task).round);
            let rule = if its > round { TAKEN_EARLY } else { TAKEN };
            let why = Why::rule(rule).with("round of this cpu", round).with("round of the thread", its);
            let why = why.with("threads there that could be taken", fit).with("from cpu", from.0.into());
            if !system.migrate(task, cpu, why) {
                break;
            }
            self.cpus[cpu].idle = false;
            let round = round.max(its);
            self.enter(system, cpu, round);
            self.admit(system, task, round, "active again: taken into a round it had not run in");
            taken += 1;
        }
        if taken > 0 {
            self.look_again(system, cpu);
        }
        taken
    }

    /// A thread to take to `cpu`, where it waits, and how many could be taken there: the one of the oldest
    /// round, longest in the queue among equals.
    fn source(&mut self, system: &mut dyn System, cpu: CpuId, latest: u64) -> Option<(TaskId, CpuId, u64)> {
        if self.queues.overloaded() == 0 {
            return None;
        }
        let threads = &self.threads;
        self.takeable.refresh(system, |task| threads.get(task.0 as usize).map_or(0, |thread| thread.round));
        let found = self.search(system, cpu, latest);
        #[cfg(debug_assertions)]
        {
            let all = 0..system.machine().cpus();
            let round = all.clone().map(|i| CpuId((cpu.0 + 1 + i) % all.end)).filter(|other| *other != cpu);
            let mut best: Option<(TaskId, CpuId, u64)> = None;
            for other in round {
                if let Some((task, fit)) = self.fitting(system, other, cpu, latest)
                    && best.is_none_or(|(.., most)| fit > most && !self.nearest)
                {
                    best = Some((task, other, fit));
                }
            }
            assert_eq!(best, found, "the bounds on threads that can be taken are wrong");
        }
        found
    }

    /// The first cpu with the most threads to take, once round from the next one on. Bounds on their number
    /// tell where to look.
    fn search(&mut self, system: &mut dyn System, cpu: CpuId, latest: u64) -> Option<(TaskId, CpuId, u64)> {
        let cpus = system.machine().cpus();
        let mut best: Option<(u64, std::cmp::Reverse<u32>, TaskId, CpuId)> = None;
        let mut bound = if self.nearest { 1 } else { self.takeable.up_to(latest).longest() };
        while bound > 0 && best.is_none_or(|(most, ..)| most <= u64::from(bound)) {
            let mut done = 0;
            while let Some(other) = next_round(self.takeable.up_to(latest), cpu, cpus, done, bound) {
                let place = (other.0 + cpus - cpu.0 - 1) % cpus;
                done = place + 1;
                if !self.nearest && self.takeable.up_to(latest).get(other.0) > bound {
                    continue;
                }
                let Some((task, fit)) = self.fitting(system, other, cpu, latest) else { continue };
                let this = (fit, std::cmp::Reverse(place), task, other);
                if best.is_none_or(|best| (this.0, this.1) > (best.0, best.1)) {
                    best = Some(this);
                }
                // The others of this bound come later and have no more; those of a lower one may have as many
                // and come first.
                if self.nearest || fit >= u64::from(bound) {
                    break;
                }
            }
            bound -= 1;
        }
        best.map(|(fit, _, task, other)| (task, other, fit))
    }

    /// The thread that `cpu` would take from another one, and how many it could take there.
    fn fitting(
        &mut self,
        system: &mut dyn System,
        other: CpuId,
        cpu: CpuId,
        latest: u64,
    ) -> Option<(TaskId, u64)> {
        if system.nr_running(other) < 2 {
            return None;
        }
        let mut waiting = std::mem::take(&mut self.waiting);
        system.queued(other, usize::MAX, &mut waiting);
        waiting.retain(|task| self.known(*task).round <= latest && system.allowed(*task, cpu));
        let fit = waiting.len() as u64;
        let oldest = waiting.iter().rev().min_by_key(|task| self.known(**task).round).copied();
        self.waiting = waiting;
        oldest.map(|task| (task, fit))
    }

    /// A cpu begins its next round, with all the threads that wait for it.
    fn begin(&mut self, system: &mut dyn System, cpu: CpuId) {
        let all = self.all(system, cpu);
        let earliest = all.iter().map(|task| self.known(*task).round).min();
        let threads = all.len() as u64;
        self.waiting = all;
        let round = earliest.unwrap_or(0).max(self.cpus[cpu].round + 1);
        self.enter(system, cpu, round);
        let why = Why::rule("round begins: no waiting thread could run in the last round of this cpu");
        system.remark(why.with("round", round).with("cpu", cpu.0.into()).with("threads", threads));
        self.renew(system, cpu);
    }

    /// All threads of a cpu that its round admits.
    fn renew(&mut self, system: &mut dyn System, cpu: CpuId) {
        let round = self.cpus[cpu].round;
        let all = self.all(system, cpu);
        for task in &all {
            if self.known(*task).round <= round {
                self.admit(system, *task, round, "active again: its round begins");
            }
        }
        self.waiting = all;
        self.look_again(system, cpu);
    }

    /// A cpu enters a round; each cpu that would now be two rounds behind is advanced with it.
    fn enter(&mut self, system: &mut dyn System, cpu: CpuId, round: u64) {
        self.set_turn(cpu, round);
        if round <= self.highest {
            return;
        }
        self.highest = round;
        let threads = self.threads.iter().filter_map(|thread| Some((thread.on?, thread.round)));
        self.takeable.rise(round, threads);
        for other in 0..system.machine().cpus() {
            let other = CpuId(other);
            let late = !self.cpus[other].idle && self.cpus[other].round + 1 < round;
            if late && system.nr_running(other) > 0 {
                let why = Why::rule("round begins: moved forward, another cpu is two rounds ahead");
                let why = why.with("round", round - 1).with("cpu", other.0.into());
                system.remark(why.with("threads", system.nr_running(other).into()));
                self.set_turn(other, round - 1);
                self.renew(system, other);
            }
        }
    }
}

impl Policy for Dwrr {
    fn select_cpu(&mut self, view: &dyn View, task: TaskId, placement: Placement) -> CpuChoice {
        self.queues.refresh(view);
        match placement {
            Placement::Fork { parent } => self.shortest(view, task, parent),
            Placement::Wake { previous, .. } => self.woken(view, task, previous),
        }
    }

    fn idle(&mut self, system: &mut dyn System, cpu: CpuId) {
        self.set_turn(cpu, self.highest);
        self.cpus[cpu].idle = true;
        if self.balance(system, cpu, self.highest) == 0 {
            self.balance(system, cpu, u64::MAX);
        }
    }

    fn dispatch(&mut self, system: &mut dyn System, cpu: CpuId) {
        let round = self.cpus[cpu].round;
        if self.balance(system, cpu, round) == 0 {
            self.begin(system, cpu);
        }
    }

    fn timer(&mut self, system: &mut dyn System, timer: Timer) {
        let Timer::Tick(cpu) = timer else { return };
        if system.now() < self.cpus[cpu].look {
            return;
        }
        self.cpus[cpu].look = Time::NEVER;
        let Some(current) = system.current(cpu) else { return };
        let used = system.cpu_time(current).ns();
        let thread = *self.thread(current);
        if !thread.expired && used >= thread.due {
            self.expire(system, cpu, current, used);
        }
        self.look_again(system, cpu);
    }

    fn runnable(&mut self, system: &mut dyn System, task: TaskId, cpu: CpuId) {
        self.queues.note(system, cpu);
        self.set_on(task, Some(cpu));
        let TaskView { state, cpu: place, .. } = system.task(task);
        if place != cpu || !matches!(state, TaskState::Queued | TaskState::Running) {
            return;
        }
        let turn = &mut self.cpus[cpu];
        if std::mem::take(&mut turn.idle) || turn.round + 1 < self.highest {
            self.set_turn(cpu, self.highest);
        }
        let round = self.cpus[cpu].round;
        let (slice, used) = (self.slice(system, task), system.cpu_time(task).ns());
        let thread = self.thread(task);
        if thread.round < round {
            // It has not run in this round: a full slice.
            thread.due = used + slice;
        } else if thread.round == round && thread.expired {
            thread.due += slice;
        }
        if thread.round <= round || !thread.expired {
            self.set_round(task, round);
            self.bring_forward(system, task, "active again: the cpu it enters is in its round");
        }
        let due = self.known(task).due;
        self.look(system, cpu, due.saturating_sub(used));
    }

    fn quiescent(&mut self, system: &mut dyn System, task: TaskId, cpu: CpuId) {
        self.queues.note(system, cpu);
        self.set_on(task, None);
    }
}

#[cfg(test)]
mod tests;
