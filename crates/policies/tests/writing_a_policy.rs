//! The policy of `docs/writing-a-policy.md`: it compiles, runs, and the page shows it word for word.

use std::sync::Arc;

use sim_core::engine::Simulation;
use sim_core::ids::{LockId, ProfileId};
use sim_core::machine::{Clocks, Costs, Level, Machine, Memory, Smt, Topology};
use sim_core::os::{Balancer, CfsParams, Discipline, OsModel};
use sim_core::outcome::{Options, Outcome, RunReport};
use sim_core::program::{AppSpec, MemoryProfile, Op, Program, Runtime, Spread, StartUp};
use sim_core::time::{Span, Work};
use sim_core::wait::{BarrierKind, Polling, WaitMode};

// policy: begin
use sim_core::ids::{CpuId, TaskId};
use sim_core::policy::{CpuChoice, Placement, Policy, System, View, Why};

/// Puts each task on the shortest queue, and lets an idle cpu steal from the longest one.
struct Stealing;

impl Policy for Stealing {
    fn select_cpu(&mut self, view: &dyn View, task: TaskId, _: Placement) -> CpuChoice {
        let allowed = view.machine().cpu_ids().filter(|cpu| view.allowed(task, *cpu));
        let shortest = allowed.min_by_key(|cpu| view.nr_running(*cpu)).unwrap_or(CpuId(0));
        CpuChoice::new(shortest, Why::rule("placed: shortest queue"))
    }

    fn idle(&mut self, system: &mut dyn System, cpu: CpuId) {
        let longest = system.machine().cpu_ids().max_by_key(|other| system.nr_running(*other));
        let mut waiting = Vec::new();
        system.queued(longest.unwrap_or(cpu), usize::MAX, &mut waiting);
        if let Some(task) = waiting.into_iter().find(|task| system.allowed(*task, cpu)) {
            system.migrate(task, cpu, Why::rule("stolen by an idle cpu"));
        }
    }
}
// policy: end

// order: begin
use std::collections::VecDeque;

use sim_core::policy::{Enqueue, Order, QueueEntry};

/// One queue for the whole machine, first come, first served.
#[derive(Default)]
struct SharedQueue {
    held: VecDeque<TaskId>,
}

impl Policy for SharedQueue {
    fn order(&self) -> Order {
        Order::Policy
    }

    fn select_cpu(&mut self, view: &dyn View, task: TaskId, _: Placement) -> CpuChoice {
        view.first_allowed(task).unwrap_or(CpuId(0)).into()
    }

    fn enqueue(&mut self, _: &mut dyn System, task: TaskId, _: CpuId, _: Enqueue) -> Option<QueueEntry> {
        self.held.push_back(task);
        None
    }

    fn runnable(&mut self, system: &mut dyn System, task: TaskId, _: CpuId) {
        let idle = |cpu: &CpuId| system.nr_running(*cpu) == 0 && system.allowed(task, *cpu);
        let found = system.machine().cpu_ids().find(idle);
        found.into_iter().for_each(|cpu| self.dispatch(system, cpu));
    }

    fn dispatch(&mut self, system: &mut dyn System, cpu: CpuId) {
        let Some(at) = self.held.iter().position(|task| system.allowed(*task, cpu)) else { return };
        let entry = QueueEntry::new(0, Span::from_ms(20));
        system.dispatch(self.held[at], cpu, entry, Why::rule("dispatched: first come"));
        self.held.remove(at);
    }
}
// order: end

fn two_cpus() -> Arc<Machine> {
    Arc::new(Machine {
        name: "two".into(),
        topology: Topology::new(&[(Level::Core, 2)]).expect("the scenario is legal"),
        costs: Costs::free(),
        memory: Memory {
            node_bandwidth: 0,
            core_bandwidth: 1_000_000_000,
            remote_factor: 1_000,
            private_cache: 0,
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
    })
}

fn run(policy: &mut dyn Policy) -> RunReport {
    let kernel = Arc::new(OsModel {
        name: "linux-2.6.28".into(),
        tick: Span::from_ms(4),
        tick_skew: false,
        discipline: Discipline::Cfs(CfsParams::scaled(2)),
        balancer: Balancer { policy: "LOAD", rules: Vec::new() },
        groups: Vec::new(),
        autogroup: false,
        numa_balancing: None,
        real_time: None,
    });
    let compute = |ms| Op::Compute {
        work: Work::from_span(Span::from_ms(ms)),
        spread: Spread::NONE,
        profile: ProfileId(0),
    };
    let mut ops = vec![compute(100), Op::Lock(LockId(0)), compute(1), Op::Unlock(LockId(0))];
    ops.push(Op::Barrier);
    let program = Arc::new(Program::new(ops, vec![MemoryProfile::NONE]).expect("the scenario is legal"));
    let runtime = Runtime {
        name: "blocking".into(),
        barrier: BarrierKind::Central,
        wait: WaitMode::Block,
        polling: Polling::PLAIN,
        processes: false,
        startup: StartUp::PLAIN,
    };
    let apps = vec![AppSpec::new("app", 4, program, runtime)];
    Simulation::new(two_cpus(), kernel, apps, Options::default())
        .expect("the scenario is legal")
        .run(policy, &mut ())
}

#[test]
fn the_policy_of_the_page_runs() {
    let report = run(&mut Stealing);
    assert_eq!(report.outcome, Outcome::Completed);
    assert_eq!(report.corrections, 0);
    // 4 x 101 ms on two cpus: 202 ms when both are always busy, and hardly more with stealing.
    let run_time = report.apps[0].run_time().unwrap();
    assert!(run_time >= Span::from_ms(202) && run_time < Span::from_ms(212), "{run_time:?}");
}

#[test]
fn the_order_of_the_page_runs() {
    let report = run(&mut SharedQueue::default());
    assert_eq!(report.outcome, Outcome::Completed);
    assert_eq!(report.corrections, 0);
    // Slices of 20 ms over one queue: both cpus are busy to the end.
    let run_time = report.apps[0].run_time().unwrap();
    assert!(run_time >= Span::from_ms(202) && run_time < Span::from_ms(212), "{run_time:?}");
}

#[test]
fn the_page_shows_the_policies_word_for_word() {
    let code = include_str!("writing_a_policy.rs");
    let page = include_str!("../../../docs/writing-a-policy.md");
    for name in ["policy", "order"] {
        let (begin, end) = (format!("// {name}: begin\n"), format!("// {name}: end"));
        let (start, end) = (code.find(&begin).unwrap() + begin.len(), code.find(&end).unwrap());
        assert!(page.contains(&code[start..end]), "docs/writing-a-policy.md differs from this file: {name}");
    }
}
