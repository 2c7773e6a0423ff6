//! A tests-only system with queues that a test sets: no time, no costs, no execution.

use std::cell::Cell;
use std::ops::Range;
use std::sync::Arc;

use notation::parameter::Values;
use sim_core::ids::{AppId, CpuId, Id, NodeId, TaskId};
use sim_core::machine::{Clocks, Costs, Machine, Memory, Smt, Topology};
use sim_core::os::{Balancer, CfsParams, Discipline, OsModel};
use sim_core::policy::{
    Affinity, AppView, Kick, Locality, Policy, QueueEntry, System, TaskState, TaskView, Timer, View, Why,
};
use sim_core::program::{AppSpec, Op, Program, Runtime, StartUp};
use sim_core::time::{Span, Time};

use crate::entry::{Entry, Setting};
use sim_core::wait::{BarrierKind, Polling, WaitMode};

/// The balancer of a kernel.
pub(crate) fn balancer(kernel: &str) -> Balancer {
    let entry = kernels::KERNELS.resolve(kernel).unwrap();
    kernels::build(entry, &Values::defaults(entry.parameters), 1).balancer
}

pub(crate) struct FakeTask {
    pub(crate) view: TaskView,
    pub(crate) affinity: Affinity,
    pub(crate) priority: u8,
    pub(crate) cpu_time: Span,
    pub(crate) progress: Span,
}

pub(crate) struct FakeSystem {
    pub(crate) machine: Machine,
    pub(crate) kernel: OsModel,
    pub(crate) now: Time,
    pub(crate) tasks: Vec<FakeTask>,
    pub(crate) apps: Vec<AppView>,
    pub(crate) moves: Vec<(TaskId, CpuId)>,
    pub(crate) yields: Vec<(TaskId, TaskId)>,
    /// Tasks that wait for what has not happened.
    pub(crate) in_vain: Vec<TaskId>,
    pub(crate) charges: Vec<(CpuId, Span, bool)>,
    pub(crate) timers: Vec<(Time, u64)>,
    pub(crate) ticks: Vec<(CpuId, Time)>,
    pub(crate) slots: Vec<Time>,
    pub(crate) dispatched: Vec<(TaskId, CpuId, QueueEntry)>,
    pub(crate) buddy: Option<TaskId>,
    /// Tasks that sleep and still compete on their cpu.
    pub(crate) delayed: Vec<TaskId>,
    /// Tasks ahead of the mean of their queue.
    pub(crate) ahead: Vec<TaskId>,
    /// What each task has used of its quantum, and what is left.
    pub(crate) quantum: Option<(Span, Span)>,
    /// Reasons and remarks in the order given.
    pub(crate) reasons: Vec<Why>,
    /// Nothing has happened on any cpu ([`System::dirty`]).
    pub(crate) quiet: bool,
    /// How often the load of a cpu was read.
    pub(crate) reads: Cell<u64>,
    entered: u64,
    /// What the hinting faults of tasks say, with their shares by node.
    pub(crate) localities: Vec<(TaskId, Locality, Vec<u64>)>,
}

pub(crate) fn machine(levels: &[(sim_core::machine::Level, u32)]) -> Machine {
    Machine {
        name: "fake".into(),
        topology: Topology::new(levels).unwrap(),
        costs: Costs::free(),
        memory: Memory {
            node_bandwidth: 4_000_000_000,
            core_bandwidth: 4_000_000_000,
            remote_factor: 1_000,
            private_cache: 1 << 19,
            shared_cache: 0,
            stretch_exponent: 4,
            bound_demand: 250,
            blocking_loads: false,
            ..Memory::unlimited()
        },
        core_speed: Vec::new(),
        work_unit: sim_core::time::Speed::NOMINAL,
        smt: Smt::NONE,
        turbo: Vec::new(),
        clocks: Clocks::HIGHEST,
    }
}

pub(crate) fn kernel(cpus: u32) -> OsModel {
    OsModel {
        name: "linux-2.6.28".into(),
        tick: Span::from_ms(1),
        tick_skew: false,
        discipline: Discipline::Cfs(CfsParams::scaled(cpus)),
        balancer: balancer("linux-2.6.28"),
        groups: Vec::new(),
        autogroup: false,
        numa_balancing: None,
        real_time: None,
    }
}

impl FakeSystem {
    pub(crate) fn new(levels: &[(sim_core::machine::Level, u32)]) -> Self {
        let machine = machine(levels);
        let kernel = kernel(machine.cpus());
        Self {
            machine,
            kernel,
            now: Time::ZERO,
            tasks: Vec::new(),
            apps: Vec::new(),
            moves: Vec::new(),
            yields: Vec::new(),
            in_vain: Vec::new(),
            charges: Vec::new(),
            timers: Vec::new(),
            ticks: Vec::new(),
            slots: Vec::new(),
            dispatched: Vec::new(),
            buddy: None,
            delayed: Vec::new(),
            ahead: Vec::new(),
            quantum: None,
            reasons: Vec::new(),
            quiet: false,
            reads: Cell::new(0),
            entered: 0,
            localities: Vec::new(),
        }
    }

    /// Adds an application of `n` tasks that do not exist yet.
    pub(crate) fn add_app(&mut self, n: u32, background: bool) -> AppId {
        let app = AppId::new(self.apps.len());
        let first = self.tasks.len() as u32;
        for rank in 0..n {
            self.tasks.push(FakeTask {
                view: TaskView {
                    app,
                    rank,
                    state: TaskState::New,
                    cpu: CpuId(0),
                    weight: 1024,
                    last_ran: Time::ZERO,
                    entered: 0,
                    buddy: false,
                    priority: 0,
                    held: false,
                    dispatch_priority: 0,
                    wait_ends: None,
                    released: None,
                },
                affinity: Affinity::All,
                priority: 0,
                cpu_time: Span::ZERO,
                progress: Span::ZERO,
            });
        }
        let tasks: Range<u32> = first..first + n;
        self.apps.push(AppView { name: app.to_string(), tasks, alive: true, background, process: n.max(1) });
        app
    }

    /// The applications as submitted, with an empty program; their names are those of the views.
    pub(crate) fn specs(&self) -> Vec<AppSpec> {
        let program = Arc::new(Program::new(vec![Op::Barrier], Vec::new()).unwrap());
        let runtime = Runtime {
            name: "test".into(),
            barrier: BarrierKind::Central,
            wait: WaitMode::Block,
            polling: Polling::PLAIN,
            processes: false,
            startup: StartUp::PLAIN,
        };
        let spec = |app: &AppView| {
            let mut spec =
                AppSpec::new(&*app.name, app.tasks.len() as u32, Arc::clone(&program), runtime.clone());
            spec.background = app.background;
            spec
        };
        self.apps.iter().map(spec).collect()
    }

    /// Makes a task runnable on a cpu (running when it is the first there) and tells the policy.
    pub(crate) fn enter(&mut self, policy: &mut dyn Policy, task: TaskId, cpu: CpuId) {
        self.entered += 1;
        let idle = self.nr_running(cpu) == 0;
        let view = &mut self.tasks[task.index()].view;
        view.state = if idle { TaskState::Running } else { TaskState::Queued };
        view.cpu = cpu;
        view.entered = self.entered;
        policy.runnable(self, task, cpu);
    }

    /// One application whose tasks are runnable, `counts[cpu]` on each cpu; returns its tasks' ids in that
    /// order.
    pub(crate) fn fill(&mut self, policy: &mut dyn Policy, counts: &[u32]) -> Vec<TaskId> {
        let app = self.add_app(counts.iter().sum(), false);
        let tasks: Vec<TaskId> = self.apps[app.index()].task_ids().collect();
        let mut next = tasks.iter();
        for (cpu, count) in counts.iter().enumerate() {
            for task in next.by_ref().take(*count as usize) {
                self.enter(policy, *task, CpuId::new(cpu));
            }
        }
        tasks
    }

    /// A task's end or sleep.
    pub(crate) fn leave(&mut self, policy: &mut dyn Policy, task: TaskId, state: TaskState) {
        let cpu = self.tasks[task.index()].view.cpu;
        self.tasks[task.index()].view.state = state;
        policy.quiescent(self, task, cpu);
    }

    pub(crate) fn counts(&self) -> Vec<u32> {
        self.machine.cpu_ids().map(|cpu| self.nr_running(cpu)).collect()
    }

    pub(crate) fn homes(&self, app: AppId) -> Vec<Option<u32>> {
        let tasks = self.apps[app.index()].task_ids();
        tasks
            .map(|task| match self.tasks[task.index()].affinity {
                Affinity::One(cpu) => Some(cpu.0),
                _ => None,
            })
            .collect()
    }

    fn on(&self, cpu: CpuId) -> impl Iterator<Item = &FakeTask> {
        let runnable = |t: &&FakeTask| matches!(t.view.state, TaskState::Queued | TaskState::Running);
        self.tasks.iter().filter(move |t| t.view.cpu == cpu).filter(runnable)
    }
}

impl View for FakeSystem {
    fn now(&self) -> Time {
        self.now
    }
    fn machine(&self) -> &Machine {
        &self.machine
    }
    fn seed(&self) -> u64 {
        1
    }
    fn apps(&self) -> u32 {
        self.apps.len() as u32
    }
    fn app(&self, app: AppId) -> AppView {
        self.apps[app.index()].clone()
    }
    fn nr_running(&self, cpu: CpuId) -> u32 {
        self.on(cpu).count() as u32
    }
    fn next_task(&self, cpu: CpuId) -> Option<TaskId> {
        let runs = |t: &FakeTask| t.view.cpu == cpu && t.view.state == TaskState::Running;
        self.tasks.iter().position(runs).map(TaskId::new)
    }
    fn load(&self, cpu: CpuId) -> u64 {
        self.reads.set(self.reads.get() + 1);
        self.on(cpu).map(|t| u64::from(t.view.weight)).sum()
    }
    fn is_delayed(&self, task: TaskId) -> bool {
        self.delayed.contains(&task)
    }
    fn locality(&self, task: TaskId) -> Option<Locality> {
        self.localities.iter().find(|(id, ..)| *id == task).map(|(_, seen, _)| *seen)
    }
    fn fault_share(&self, task: TaskId, node: NodeId, _: bool) -> u64 {
        let found = self.localities.iter().find(|(id, ..)| *id == task);
        found.map_or(0, |(.., shares)| shares[node.0 as usize])
    }
    fn task(&self, task: TaskId) -> TaskView {
        let seen = &self.tasks[task.index()];
        TaskView {
            buddy: self.buddy == Some(task),
            priority: seen.priority,
            wait_ends: self.in_vain.contains(&task).then_some(Time::NEVER).or(seen.view.wait_ends),
            ..seen.view
        }
    }
    fn allowed(&self, task: TaskId, cpu: CpuId) -> bool {
        self.tasks[task.index()].affinity.allows(cpu)
    }
}

impl System for FakeSystem {
    fn current(&mut self, cpu: CpuId) -> Option<TaskId> {
        let at = self.tasks.iter().position(|t| t.view.cpu == cpu && t.view.state == TaskState::Running);
        at.map(TaskId::new)
    }
    fn queued(&mut self, cpu: CpuId, most: usize, out: &mut Vec<TaskId>) {
        out.clear();
        let waiting = |t: &FakeTask| t.view.cpu == cpu && t.view.state == TaskState::Queued;
        out.extend((0..self.tasks.len()).filter(|i| waiting(&self.tasks[*i])).map(TaskId::new));
        out.sort_by_key(|t| std::cmp::Reverse(self.tasks[t.index()].view.entered));
        out.truncate(most);
    }
    fn dirty(&mut self, found: &mut dyn FnMut(CpuId)) {
        self.machine.cpu_ids().filter(|_| !self.quiet).for_each(found);
    }
    fn cpu_time(&mut self, task: TaskId) -> Span {
        self.tasks[task.index()].cpu_time
    }
    fn progress(&mut self, task: TaskId) -> Span {
        self.tasks[task.index()].progress
    }
    fn slice(&mut self, _: TaskId) -> Option<(Span, Span)> {
        self.quantum
    }
    fn is_eligible(&mut self, task: TaskId) -> bool {
        !self.ahead.contains(&task)
    }
    fn migrate(&mut self, task: TaskId, to: CpuId, why: Why) -> bool {
        self.reasons.push(why);
        self.moves.push((task, to));
        self.entered += 1;
        let idle = self.nr_running(to) == 0;
        let view = &mut self.tasks[task.index()].view;
        view.cpu = to;
        view.entered = self.entered;
        view.state = if idle { TaskState::Running } else { TaskState::Queued };
        true
    }
    fn set_affinity(&mut self, task: TaskId, affinity: Affinity, why: Why) -> bool {
        self.reasons.push(why);
        let view = &mut self.tasks[task.index()].view;
        if let Affinity::One(cpu) = affinity {
            view.cpu = cpu;
        }
        self.tasks[task.index()].affinity = affinity;
        true
    }
    fn kick(&mut self, _: CpuId, _: Kick) -> bool {
        false
    }
    fn set_slice(&mut self, _: TaskId, _: Span, _: Why) -> bool {
        false
    }
    fn fail(&mut self, _: String) {}
    fn set_priority(&mut self, task: TaskId, priority: u8, why: Why) -> bool {
        self.reasons.push(why);
        self.tasks[task.index()].priority = priority;
        true
    }
    fn dispatch(&mut self, task: TaskId, cpu: CpuId, entry: QueueEntry, why: Why) -> bool {
        self.reasons.push(why);
        self.dispatched.push((task, cpu, entry));
        true
    }
    fn yield_to(&mut self, from: TaskId, to: TaskId, why: Why) -> bool {
        self.reasons.push(why);
        self.yields.push((from, to));
        true
    }
    fn charge(&mut self, cpu: CpuId, span: Span, daemon: bool) {
        self.charges.push((cpu, span, daemon));
    }
    fn at(&mut self, at: Time, timer: Timer) {
        match timer {
            Timer::Token(token) => self.timers.push((at, token)),
            Timer::Tick(cpu) => self.ticks.push((cpu, at)),
            Timer::Slot => self.slots.push(at),
        }
    }
    fn remark(&mut self, why: Why) {
        self.reasons.push(why);
    }
}

/// Weight of a task that has the cpu and only polls: its work does not grow in [`pass`].
pub(crate) const POLLS: u32 = 1;

/// A policy with these parameters changed, built without programs.
pub(crate) fn built(entry: &'static Entry, changes: &[(&str, u64)]) -> Box<dyn Policy> {
    let mut values = Values::defaults(entry.parameters);
    for (name, value) in changes {
        values.set(name, *value).unwrap();
    }
    let system = FakeSystem::new(&[(sim_core::machine::Level::Core, 1)]);
    (entry.build)(&values, &Setting { entry, machine: &system.machine, kernel: &system.kernel, apps: &[] })
}

/// A system on which a program of so many threads has started under the policy; all of them run.
pub(crate) fn start(
    levels: &[(sim_core::machine::Level, u32)],
    threads: u32,
    policy: &mut dyn Policy,
) -> FakeSystem {
    let mut system = FakeSystem::new(levels);
    let app = system.add_app(threads, false);
    policy.init(&mut system);
    policy.app_started(&mut system, app);
    for task in &mut system.tasks {
        task.view.state = TaskState::Running;
    }
    policy.app_ready(&mut system, app);
    system
}

/// Lets `span` pass: the tasks that do not sleep get equal shares of their cpus.
pub(crate) fn pass(system: &mut FakeSystem, span: Span) {
    let runs = |t: &&FakeTask| !matches!(t.view.state, TaskState::Sleeping | TaskState::Exited);
    let on = |cpu| system.tasks.iter().filter(runs).filter(|t| t.view.cpu == cpu).count() as u64;
    let shares: Vec<u64> = system.machine.cpu_ids().map(on).collect();
    for task in system.tasks.iter_mut().filter(|t| runs(&&**t)) {
        let share = Span::from_ns(span.ns() / shares[task.view.cpu.index()]);
        task.cpu_time += share;
        if task.view.weight != POLLS {
            task.progress += share;
        }
    }
    system.now += span;
}

/// Runs timers in order until `end`.
pub(crate) fn run(system: &mut FakeSystem, policy: &mut dyn Policy, end: Time) {
    loop {
        let Some(i) = (0..system.timers.len()).min_by_key(|i| system.timers[*i]) else {
            return;
        };
        let (at, token) = system.timers[i];
        if at > end {
            return;
        }
        system.timers.swap_remove(i);
        let wait = at.since(system.now);
        pass(system, wait);
        policy.timer(system, Timer::Token(token));
    }
}
