//! A scheduler that decides at random, within the rules, over random programs: all work gets done, nothing is
//! corrected, and the calls of its operations are those that the kernel promises.

use std::collections::BTreeMap;
use std::sync::Arc;

use scx::ext::abi::{
    DSQ_GLOBAL, DSQ_LOCAL, DSQ_LOCAL_ON, ENQ_HEAD, ENQ_PREEMPT, KICK_IDLE, KICK_PREEMPT, OPS_ENQ_LAST,
    OPS_KEEP_BUILTIN_IDLE,
};
use scx::ext::{Ext, Given, Kernel, Scheduler};
use sim_core::command::{Act, Command};
use sim_core::engine::Simulation;
use sim_core::ids::{CpuId, ProfileId, TaskId};
use sim_core::machine::{Clocks, Costs, CpuSet, Level, Machine, Memory, Smt, Topology};
use sim_core::os::{Balancer, CfsParams, Discipline, OsModel};
use sim_core::outcome::{Options, Outcome};
use sim_core::program::{AppSpec, MemoryProfile, Op, Program, Runtime, Spread, StartUp};
use sim_core::time::{Span, Speed, Time, Work};
use sim_core::wait::{BarrierKind, Polling, WaitMode};

/// The state of a task as its scheduler knows it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Known {
    Enabled,
    Runnable,
    Mine,
    Running,
}

/// A scheduler that decides at random.
struct Random {
    flags: u64,
    ticks: bool,
    tasks: BTreeMap<TaskId, Known>,
    mine: Vec<TaskId>,
}

impl Random {
    fn expect(&mut self, task: TaskId, from: &[Known], to: Known, what: &str) {
        let before = self.tasks.insert(task, to).unwrap();
        assert!(from.contains(&before), "{what} of {task}, which is {before:?}");
    }

    fn some_dsq(kernel: &mut Kernel<'_>, task: TaskId) -> u64 {
        match kernel.prandom_u32() % 6 {
            0 => DSQ_GLOBAL,
            1 | 2 if kernel.cpus_allowed(task).contains(kernel.this_cpu()) => DSQ_LOCAL,
            1..=3 => {
                let allowed = kernel.cpus_allowed(task);
                let number = kernel.prandom_u32() % allowed.count();
                DSQ_LOCAL_ON | u64::from(allowed.iter().nth(number as usize).unwrap().0)
            }
            _ => u64::from(kernel.prandom_u32() % 3),
        }
    }

    fn insert(kernel: &mut Kernel<'_>, task: TaskId) {
        let dsq = Self::some_dsq(kernel, task);
        let slice = [0, 1_000_000, 5_000_000, u64::MAX][(kernel.prandom_u32() % 4) as usize];
        let flags = [0, 0, ENQ_HEAD, ENQ_PREEMPT][(kernel.prandom_u32() % 4) as usize];
        if dsq == 2 {
            let vtime = u64::from(kernel.prandom_u32()).wrapping_sub(1 << 31);
            kernel.dsq_insert_vtime(task, dsq, slice, vtime, flags);
        } else {
            kernel.dsq_insert(task, dsq, slice, flags);
        }
    }

    fn kicks(kernel: &mut Kernel<'_>) {
        let flags = [0, KICK_IDLE, KICK_PREEMPT][(kernel.prandom_u32() % 3) as usize];
        let cpu = kernel.prandom_u32() % kernel.nr_cpu_ids();
        kernel.kick_cpu(cpu as i32, flags);
    }
}

impl Scheduler for Random {
    fn name(&self) -> &str {
        "random"
    }
    fn given(&self) -> Given {
        Given {
            select_cpu: true,
            enqueue: true,
            dequeue: true,
            dispatch: true,
            tick: self.ticks,
            runnable: true,
            running: true,
            stopping: true,
            quiescent: true,
            set_weight: true,
            set_cpumask: true,
            update_idle: true,
            init_task: true,
            exit_task: true,
            enable: true,
            disable: true,
            ..Given::default()
        }
    }
    fn flags(&self) -> u64 {
        self.flags
    }
    fn init(&mut self, kernel: &mut Kernel<'_>) -> i32 {
        kernel.timer_start(0, 1_300_000);
        (0..3).map(|id| kernel.create_dsq(id, -1)).min().unwrap()
    }
    fn init_task(&mut self, _: &mut Kernel<'_>, task: TaskId, _: bool, _: u64) -> i32 {
        assert_eq!(self.tasks.insert(task, Known::Enabled), None);
        0
    }
    fn exit_task(&mut self, _: &mut Kernel<'_>, task: TaskId, _: bool) {
        assert!(self.tasks.remove(&task).is_some());
    }
    fn select_cpu(&mut self, kernel: &mut Kernel<'_>, task: TaskId, prev: i32, wake_flags: u64) -> i32 {
        if kernel.prandom_u32().is_multiple_of(3) {
            Self::insert(kernel, task);
        }
        if kernel.prandom_u32().is_multiple_of(4) {
            Self::kicks(kernel);
        }
        match kernel.prandom_u32() % 3 {
            0 => (kernel.prandom_u32() % kernel.nr_cpu_ids()) as i32,
            1 => kernel.select_cpu_dfl(task, prev, wake_flags).0,
            _ => prev,
        }
    }
    fn runnable(&mut self, _: &mut Kernel<'_>, task: TaskId, _: u64) {
        self.expect(task, &[Known::Enabled], Known::Runnable, "runnable()");
    }
    fn enqueue(&mut self, kernel: &mut Kernel<'_>, task: TaskId, _: u64) {
        self.expect(task, &[Known::Runnable], Known::Runnable, "enqueue()");
        if kernel.prandom_u32().is_multiple_of(4) {
            self.expect(task, &[Known::Runnable], Known::Mine, "enqueue()");
            self.mine.push(task);
            // A cpu may be idle.
            Self::kicks(kernel);
        } else {
            Self::insert(kernel, task);
        }
    }
    fn dequeue(&mut self, _: &mut Kernel<'_>, task: TaskId, _: u64) {
        self.expect(task, &[Known::Mine], Known::Runnable, "dequeue()");
        self.mine.retain(|mine| *mine != task);
    }
    fn dispatch(&mut self, kernel: &mut Kernel<'_>, _: CpuId, prev: Option<TaskId>) {
        if kernel.prandom_u32().is_multiple_of(3) && !self.mine.is_empty() {
            let task = self.mine.remove((kernel.prandom_u32() as usize) % self.mine.len());
            self.expect(task, &[Known::Mine], Known::Runnable, "dispatch()");
            Self::insert(kernel, task);
        }
        if let Some(prev) = prev
            && kernel.task_flags(prev) & 1 == 1
            && kernel.prandom_u32().is_multiple_of(5)
        {
            kernel.set_slice(prev, 3_000_000);
        }
        for id in 0..3 {
            if kernel.prandom_u32().is_multiple_of(2) && kernel.dsq_move_to_local(id) {
                return;
            }
        }
        let id = u64::from(kernel.prandom_u32() % 3);
        let mut iter = kernel.dsq_iter_new(id, 0).unwrap();
        while let Some(task) = kernel.dsq_iter_next(&mut iter) {
            let allowed = kernel.cpus_allowed(task).contains(kernel.this_cpu());
            if kernel.prandom_u32().is_multiple_of(2) && allowed {
                assert!(kernel.dsq_move(&mut iter, task, DSQ_LOCAL, 0));
            }
        }
    }
    fn running(&mut self, kernel: &mut Kernel<'_>, task: TaskId) {
        self.expect(task, &[Known::Runnable], Known::Running, "running()");
        assert!(kernel.task_running(task) && kernel.cpu_curr(kernel.this_cpu().0 as i32) == Some(task));
    }
    fn tick(&mut self, kernel: &mut Kernel<'_>, task: TaskId) {
        self.expect(task, &[Known::Running], Known::Running, "tick()");
        if kernel.prandom_u32().is_multiple_of(8) {
            kernel.set_slice(task, 0);
        }
    }
    fn stopping(&mut self, _: &mut Kernel<'_>, task: TaskId, _: bool) {
        self.expect(task, &[Known::Running], Known::Runnable, "stopping()");
    }
    fn quiescent(&mut self, _: &mut Kernel<'_>, task: TaskId, _: u64) {
        self.expect(task, &[Known::Runnable], Known::Enabled, "quiescent()");
    }
    fn timer(&mut self, kernel: &mut Kernel<'_>, _: u64) {
        // No cpu stays idle for ever while tasks wait.
        (0..kernel.nr_cpu_ids()).for_each(|cpu| kernel.kick_cpu(cpu as i32, KICK_IDLE));
        Self::kicks(kernel);
        kernel.timer_start(0, 1_300_000);
    }
}

/// Numbers of a test: splitmix64.
struct Draws(u64);

impl Draws {
    fn below(&mut self, most: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        (z ^ (z >> 31)) % most
    }
}

fn machine(draws: &mut Draws) -> Machine {
    let shapes: [&[(Level, u32)]; 4] = [
        &[(Level::Core, 1)],
        &[(Level::Core, 3)],
        &[(Level::Cache, 2), (Level::Core, 2), (Level::Thread, 2)],
        &[(Level::Package, 2), (Level::Node, 1), (Level::Cache, 2), (Level::Core, 2)],
    ];
    let mut costs = Costs::free();
    if draws.below(2) == 0 {
        costs.switch_thread = Span::from_ns(1_500);
        costs.switch_process = Span::from_ns(2_500);
        costs.poll = Span::from_ns(200);
        costs.yield_call = Span::from_ns(400);
        costs.ipi = Span::from_ns(1_200);
        costs.idle_exit = Span::from_ns(3_000);
        costs.wake = Span::from_ns(900);
        costs.sleep = Span::from_ns(800);
        costs.fork = Span::from_ns(20_000);
    } else {
        costs.poll = Span::from_ns(10_000);
        costs.yield_call = Span::from_ns(10_000);
    }
    Machine {
        name: "test".into(),
        topology: Topology::new(shapes[draws.below(4) as usize]).unwrap(),
        costs,
        memory: Memory::unlimited(),
        core_speed: Vec::new(),
        work_unit: Speed::NOMINAL,
        smt: Smt::NONE,
        turbo: Vec::new(),
        clocks: Clocks::HIGHEST,
    }
}

fn app(draws: &mut Draws, number: u64, cpus: u32) -> AppSpec {
    let mut ops = Vec::new();
    let barriers = draws.below(2) == 0;
    for _ in 0..1 + draws.below(6) {
        let work = Work::from_span(Span::from_us(100 + draws.below(9_000)));
        ops.push(Op::Compute { work, spread: Spread::NONE, profile: ProfileId(0) });
        match draws.below(4) {
            3 => ops.push(Op::Respawn),
            0 => ops.push(Op::Sleep { span: Span::from_us(50 + draws.below(3_000)), spread: Spread::NONE }),
            1 if barriers => ops.push(Op::Barrier),
            _ => ops.push(Op::Yield),
        }
    }
    let wait = match draws.below(3) {
        0 => WaitMode::Block,
        1 => WaitMode::Yield,
        _ => WaitMode::SpinThenBlock { limit: Span::from_us(300), yielding: draws.below(2) == 0 },
    };
    let runtime = Runtime {
        name: "none".into(),
        barrier: BarrierKind::Central,
        wait,
        polling: Polling::PLAIN,
        processes: draws.below(2) == 0,
        startup: StartUp::PLAIN,
    };
    let program = Arc::new(Program::new(ops, vec![MemoryProfile::NONE]).unwrap());
    let mut commands = Vec::new();
    for _ in 0..draws.below(3) {
        let cpus = CpuSet::of((0..cpus).filter(|_| draws.below(2) == 0).chain([0]).map(CpuId));
        let act = match draws.below(3) {
            0 => Act::Weight(512),
            1 => Act::Bind(cpus),
            _ => {
                commands.push(Command { at: Time::from_ns(40_000_000), order: 0, act: Act::Continue });
                Act::Stop
            }
        };
        commands.push(Command { at: Time::from_ns(1 + draws.below(30_000_000)), order: 0, act });
    }
    commands.sort_by_key(|command| command.at);
    AppSpec {
        start: Time::from_ns(draws.below(20_000_000)),
        commands,
        ..AppSpec::new(format!("app{number}"), 1 + draws.below(7) as u32, program, runtime)
    }
}

#[test]
fn a_random_scheduler_gets_all_work_done() {
    let linux = Arc::new(OsModel {
        name: "linux-6.12".into(),
        tick: Span::from_ms(1),
        tick_skew: false,
        discipline: Discipline::Cfs(CfsParams::scaled(2)),
        balancer: Balancer { policy: "LOAD", rules: Vec::new() },
        groups: Vec::new(),
        autogroup: false,
        numa_balancing: None,
        real_time: None,
    });
    let seeds = std::env::var("SEEDS").ok().and_then(|seeds| seeds.parse().ok()).unwrap_or(60);
    for seed in 0..seeds {
        let mut draws = Draws(seed);
        let machine = machine(&mut draws);
        let apps: Vec<AppSpec> =
            (0..1 + draws.below(4)).map(|number| app(&mut draws, number, machine.cpus())).collect();
        let flags = OPS_KEEP_BUILTIN_IDLE | if draws.below(3) == 0 { OPS_ENQ_LAST } else { 0 };
        let ticks = draws.below(2) == 0;
        let scheduler = Random { flags, ticks, tasks: BTreeMap::new(), mine: Vec::new() };
        let mut policy = Ext::new(scheduler, &machine).unwrap();
        let options = Options { horizon: Time::from_ns(20_000_000_000), seed, ..Options::default() };
        let simulation = Simulation::new(Arc::new(machine), Arc::clone(&linux), apps, options).unwrap();
        let report = simulation.run(&mut policy, &mut ());
        assert_eq!((report.outcome, report.corrections), (Outcome::Completed, 0), "seed {seed}");
    }
}
