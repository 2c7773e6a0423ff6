//! A trial: one run of the real engine, described by a few words, with all invariants checked while it runs.

use std::sync::Arc;

use notation::parameter::{Parameter, Values};
use policies::Choice;
use sim_core::engine::Simulation;
use sim_core::ids::{CpuId, ProfileId, TaskId};
use sim_core::machine::{Costs, CpuSet, Machine};
use sim_core::observe::{LeaveReason, Observation, Observer};
use sim_core::os::{OsModel, TaskGroup};
use sim_core::outcome::{Options, Outcome, RunReport};
use sim_core::policy::{
    CpuChoice, Enqueue, Order, Placement, Policy, QueueEntry, System, Timer, View, Watches, Why,
};
use sim_core::program::{AppSpec, MemoryProfile, Objects, Op, Program, Runtime, Spread, StartUp};
use sim_core::time::{Span, Speed, Time, Work};
use sim_core::wait::{BarrierKind, Polling, WaitMode};
use sim_core::wrap::{Notice, Wrapper};
use testkit::invariants::{Invariants, violations};

/// A parameter and its value.
pub(crate) type Setting = (&'static str, u64);

pub(crate) const MS: u64 = 1_000_000;
/// Sixteen cores of one package: one scheduling domain, the periods of a 16-cpu kernel.
pub(crate) const SIXTEEN: &str = "package:1 core:16";

fn values(table: &[Parameter], settings: &[Setting]) -> Values {
    let mut values = Values::defaults(table);
    for (name, value) in settings {
        values.set(name, *value).unwrap();
    }
    values
}

/// The machine with one remote factor between all nodes, so that a law has one number.
fn one_distance(mut machine: Machine) -> Machine {
    machine.memory.distances.clear();
    machine
}

/// One run.
#[derive(Clone)]
pub(crate) struct Trial {
    pub(crate) machine: Machine,
    pub(crate) model: OsModel,
    pub(crate) apps: Vec<AppSpec>,
    objects: Objects,
    pub(crate) options: Options,
    policy: &'static str,
    settings: Vec<Setting>,
    placed: Vec<CpuId>,
    moves: Vec<Move>,
}

/// A task is moved to a cpu at this millisecond.
pub(crate) type Move = (u64, u32, u32);

impl Trial {
    /// Nothing yet, on a built-in machine under Linux 2.6.28 and `LOAD`.
    pub(crate) fn on(machine: &str) -> Self {
        Self {
            machine: one_distance(machines::resolve(machine).unwrap().machine()),
            model: kernel(machine, &[]),
            apps: Vec::new(),
            objects: Objects::default(),
            options: Options { seed: 7, ..Options::default() },
            policy: "LOAD",
            settings: Vec::new(),
            placed: Vec::new(),
            moves: Vec::new(),
        }
    }

    /// Cores from this one on run at half speed.
    pub(crate) fn slow_from(mut self, first: u32) -> Self {
        let speed = |core| if core < first { Speed::NOMINAL } else { Speed::ratio(1, 2) };
        let cores = self.machine.topology.count(sim_core::machine::Level::Core);
        self.machine.core_speed = (0..cores).map(speed).collect();
        self
    }

    /// Overhead costs nothing.
    pub(crate) fn free(mut self) -> Self {
        self.machine.costs = Costs::free();
        self
    }

    /// Overrides parameters of the kernel.
    pub(crate) fn kernel(self, settings: &[Setting]) -> Self {
        self.booted("linux-2.6.28", settings)
    }

    /// Another kernel, with these parameters.
    pub(crate) fn booted(mut self, name: &str, settings: &[Setting]) -> Self {
        let entry = kernels::KERNELS.resolve(name).unwrap();
        self.model = kernels::build(entry, &values(entry.parameters, settings), self.machine.cpus());
        self
    }

    /// Another kernel of the registry.
    pub(crate) fn under(mut self, name: &str, settings: &[Setting]) -> Self {
        let entry = kernels::KERNELS.resolve(name).unwrap();
        self.model = kernels::build(entry, &values(entry.parameters, settings), self.machine.cpus());
        self
    }

    pub(crate) fn policy(mut self, name: &'static str, settings: &[Setting]) -> Self {
        self.policy = name;
        self.settings = settings.to_vec();
        self
    }

    /// Task i is created on the i-th of these cpus, whatever the policy thinks; from there on it decides.
    pub(crate) fn placed(mut self, cpus: impl IntoIterator<Item = u32>) -> Self {
        self.placed = cpus.into_iter().map(CpuId).collect();
        self
    }

    /// Tasks are moved at these times, whatever the policy thinks.
    pub(crate) fn moved(mut self, moves: &[Move]) -> Self {
        self.moves = moves.to_vec();
        self
    }

    pub(crate) fn app(mut self, app: AppSpec) -> Self {
        self.apps.push(app);
        self
    }

    /// Programs share these objects.
    pub(crate) fn sharing(mut self, objects: Objects) -> Self {
        self.objects = objects;
        self
    }

    pub(crate) fn seed(mut self, seed: u64) -> Self {
        self.options.seed = seed;
        self
    }

    /// The run ends here.
    pub(crate) fn until(mut self, ms: u64) -> Self {
        self.options.horizon = Time::from_ns(ms * MS);
        self
    }

    pub(crate) fn run(&self) -> RunReport {
        self.observed(&mut ())
    }

    /// The run and everything observed.
    pub(crate) fn log(&self) -> (RunReport, Log) {
        let mut log = Log::default();
        let report = self.observed(&mut log);
        (report, log)
    }

    /// The run, told to an observer.
    pub(crate) fn observed(&self, observer: &mut impl Observer) -> RunReport {
        let (machine, model) = (Arc::new(self.machine.clone()), Arc::new(self.model.clone()));
        let entry = policies::find(self.policy).unwrap();
        let choice = Choice::with(entry, values(entry.parameters, &self.settings));
        let inner = choice.build(&machine, &model, &self.apps);
        let mut policy = Placed { inner, cpus: self.placed.clone(), moves: self.moves.clone() };
        let mut invariants = Invariants::new(&self.apps);
        let (apps, objects) = (self.apps.clone(), self.objects.clone());
        let simulation = Simulation::with_objects(machine, model, apps, objects, self.options).unwrap();
        let report = simulation.run(&mut policy, &mut (&mut invariants, observer));
        let mut found = invariants.violations;
        found.extend(violations(&report));
        assert!(found.is_empty(), "{found:#?}");
        let cut = self.options.horizon < Options::default().horizon;
        let wanted = if cut { Outcome::Horizon } else { Outcome::Completed };
        assert_eq!(report.outcome, wanted);
        report
    }

    /// Seconds from the start to the end of the first application.
    pub(crate) fn seconds(&self) -> f64 {
        seconds(&self.run(), 0)
    }
}

/// Run time of an application in seconds.
pub(crate) fn seconds(report: &RunReport, app: usize) -> f64 {
    report.apps[app].run_time().unwrap().ns() as f64 / 1e9
}

/// Linux 2.6.28 booted on a machine, with these parameters.
fn kernel(machine: &str, settings: &[Setting]) -> OsModel {
    let entry = kernels::KERNELS.resolve("linux-2.6.28").unwrap();
    let cpus = machines::resolve(machine).unwrap().machine().cpus();
    kernels::build(entry, &values(entry.parameters, settings), cpus)
}

/// A workload of the registry under a runtime of the registry.
pub(crate) fn registry(workload: &str, settings: &[Setting], runtime: &str, tasks: u32) -> AppSpec {
    let entry = workloads::WORKLOADS.resolve(workload).unwrap();
    let context = workloads::Context { tasks, runtime, machine: "" };
    let built = (entry.own)(&values(entry.parameters, settings), &context).unwrap();
    let entry = workloads::runtimes::RUNTIMES.resolve(runtime).unwrap();
    let runtime = workloads::runtimes::build(entry, &Values::defaults(entry.parameters));
    let mut app = AppSpec::new(workload, tasks, Arc::new(built.program), runtime);
    app.background = built.background;
    app.rank_scale = built.rank_scale;
    app.team = built.team;
    app.runtime.processes |= built.processes;
    app
}

/// How tasks wait, at a central barrier.
pub(crate) fn waits(wait: WaitMode) -> Runtime {
    Runtime {
        name: "test".into(),
        barrier: BarrierKind::Central,
        wait,
        polling: Polling::PLAIN,
        processes: false,
        startup: StartUp::PLAIN,
    }
}

/// Work of a rank that does little but wait, in thousandths: the least there is.
pub(crate) const WAITER: u32 = 1;

/// An operation without memory traffic.
pub(crate) fn compute(span: Span) -> Op {
    Op::Compute { work: Work::from_span(span), spread: Spread::NONE, profile: ProfileId(0) }
}

/// An application of these operations.
pub(crate) fn app(tasks: u32, ops: Vec<Op>, wait: WaitMode) -> AppSpec {
    let program = Program::new(ops, vec![MemoryProfile::NONE]).unwrap();
    AppSpec::new("app", tasks, Arc::new(program), waits(wait))
}

/// Tasks that compute for this long and end.
pub(crate) fn hogs(tasks: u32, ms: u64) -> AppSpec {
    app(tasks, vec![compute(Span::from_ms(ms))], WaitMode::Spin)
}

/// A task group without a limit, at the top or in another one.
pub(crate) fn group(parent: Option<u16>, weight: u32) -> TaskGroup {
    TaskGroup { name: "group".into(), parent, weight, limit: None }
}

/// The same program in a group of the model.
pub(crate) fn within(group: u16, mut app: AppSpec) -> AppSpec {
    app.group = Some(group);
    app
}

/// A task that sleeps and computes in turn, for so many us.
pub(crate) fn sleeper(sleeps: u64, computes: u64) -> AppSpec {
    let nap = Op::Sleep { span: Span::from_us(sleeps), spread: Spread::NONE };
    app(1, vec![Op::Repeat(100_000), nap, compute(Span::from_us(computes)), Op::End], WaitMode::Block)
}

/// The same restricted to one cpu.
pub(crate) fn on_cpu(cpu: u32, mut app: AppSpec) -> AppSpec {
    app.allowed = Some(CpuSet::of([CpuId(cpu)]));
    app
}

/// Everything observed, in order.
#[derive(Default)]
pub(crate) struct Log(pub(crate) Vec<(Time, Observation)>);

impl Observer for Log {
    fn observe(&mut self, at: Time, what: &Observation) {
        self.0.push((at, *what));
    }
}

/// A stretch of time a task held a cpu, and why it ended.
pub(crate) struct Turn {
    pub(crate) task: TaskId,
    pub(crate) start: Time,
    pub(crate) length: Span,
    pub(crate) reason: LeaveReason,
}

impl Log {
    /// The turns on a cpu that have ended, in order.
    pub(crate) fn turns(&self, on: u32) -> Vec<Turn> {
        let (mut start, mut turns) = (Time::ZERO, Vec::new());
        for (at, what) in &self.0 {
            match *what {
                Observation::Running { cpu, .. } if cpu.0 == on => start = *at,
                Observation::Stopping { cpu, task, reason } if cpu.0 == on => {
                    turns.push(Turn { task, start, length: *at - start, reason });
                }
                _ => {}
            }
        }
        turns
    }

    /// Moves: when, from, to.
    pub(crate) fn moves(&self) -> impl Iterator<Item = (Time, CpuId, CpuId)> {
        self.0.iter().filter_map(|(at, what)| match *what {
            Observation::Migrated { from, to, .. } => Some((*at, from, to)),
            _ => None,
        })
    }
}

/// A policy whose first placements, and moves at given times, are dictated.
struct Placed {
    inner: Box<dyn Policy>,
    cpus: Vec<CpuId>,
    moves: Vec<Move>,
}

/// Tokens from here on are those of dictated moves.
const MOVES: u64 = u64::MAX - 1_000;

impl Wrapper for Placed {
    fn wants(&self) -> Watches {
        self.inner.watches()
    }
    fn place(&mut self, view: &dyn View, task: TaskId, placement: Placement) -> CpuChoice {
        match (placement, self.cpus.get(task.0 as usize)) {
            (Placement::Fork { .. }, Some(cpu)) => (*cpu).into(),
            _ => self.inner.select_cpu(view, task, placement),
        }
    }
    fn ordering(&self) -> Order {
        self.inner.order()
    }
    fn counted(&self) -> Vec<(String, u64)> {
        self.inner.counters()
    }
    fn insert(
        &mut self,
        system: &mut dyn System,
        task: TaskId,
        cpu: CpuId,
        why: Enqueue,
    ) -> Option<QueueEntry> {
        self.inner.enqueue(system, task, cpu, why)
    }
    fn notify(&mut self, system: &mut dyn System, notice: Notice) {
        if let Notice::Timer(Timer::Token(token)) = notice
            && let Some(at) = token.checked_sub(MOVES)
        {
            let (_, task, cpu) = self.moves[at as usize];
            assert!(system.migrate(TaskId(task), CpuId(cpu), Why::NONE));
            return;
        }
        notice.deliver(&mut *self.inner, system);
        if notice == Notice::Init {
            for (token, (ms, ..)) in (MOVES..).zip(&self.moves) {
                system.at(Time::from_ns(ms * MS), Timer::Token(token));
            }
        }
    }
}
