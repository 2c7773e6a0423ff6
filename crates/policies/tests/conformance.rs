//! What every built-in policy must keep to, on a small scenario: two uneven programs, a hog, a late
//! start.

use std::sync::Arc;

use notation::parameter::{Kind, Values};
use policies::{ALL, Choice, Perturbation};
use sim_core::engine::Simulation;
use sim_core::ids::{CpuId, ProfileId};
use sim_core::machine::{Clocks, Costs, CpuSet, Level, Machine, Memory, Smt, Topology};
use sim_core::os::{Balancer, CfsParams, Discipline, OsModel};
use sim_core::outcome::{Options, Outcome, RunReport};
use sim_core::policy::Order;
use sim_core::program::{AppSpec, MemoryProfile, Op, Program, Runtime, Spread, StartUp};
use sim_core::time::{Span, Time, Work};
use sim_core::wait::{BarrierKind, Polling, WaitMode};

const TWO_SOCKETS: &[(Level, u32)] = &[(Level::Package, 2), (Level::Node, 1), (Level::Core, 2)];

fn machine(levels: &[(Level, u32)]) -> Arc<Machine> {
    let costs = Costs {
        switch_thread: Span::from_us(1),
        switch_process: Span::from_us(2),
        poll: Span::from_ns(90),
        yield_call: Span::from_ns(400),
        wake: Span::from_us(2),
        wake_remote: Span::from_us(3),
        sleep: Span::from_us(1),
        ipi: Span::from_us(1),
        idle_exit: Span::from_us(1),
        idle_exits: vec![(Span::from_us(20), Span::from_us(1)), (Span::from_us(200), Span::from_us(9))],
        wake_remotes: vec![(Span::from_us(20), Span::from_us(2)), (Span::from_us(200), Span::from_us(4))],
        migration: Span::from_us(2),
        tick: Span::from_us(1),
        fork: Span::from_us(30),
        fork_spread: Spread::NONE,
        page_fault: Span::ZERO,
        fault_lock: Span::ZERO,
        line: [10, 20, 50, 100, 200].map(Span::from_ns),
    };
    Arc::new(Machine {
        name: "two sockets".into(),
        topology: Topology::new(levels).expect("the scenario is legal"),
        costs,
        memory: Memory {
            node_bandwidth: 4_000_000_000,
            core_bandwidth: 3_000_000_000,
            remote_factor: 1_300,
            private_cache: 1 << 19,
            shared_cache: 1 << 21,
            stretch_exponent: 4,
            bound_demand: 500,
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

fn app(name: &str, tasks: u32, steps: u32, work: Span, wait: WaitMode) -> AppSpec {
    let profile = MemoryProfile { demand: 1_000_000_000, working_set: 1 << 20, ..MemoryProfile::NONE };
    let compute = Op::Compute { work: Work::from_span(work), spread: Spread(6_554), profile: ProfileId(0) };
    let ops = vec![Op::Repeat(steps), compute, Op::Barrier, Op::End];
    let program = Arc::new(Program::new(ops, vec![profile]).expect("the scenario is legal"));
    let runtime = Runtime {
        name: "test".into(),
        barrier: BarrierKind::Dissemination,
        wait,
        polling: Polling::PLAIN,
        processes: false,
        startup: StartUp::PLAIN,
    };
    AppSpec::new(name, tasks, program, runtime)
}

/// A spinning, a yielding (or otherwise waiting) and a blocking program, uneven thread counts, a late start
/// and a pinned hog.
fn apps(wait: WaitMode) -> Vec<AppSpec> {
    let mut late = app("late", 3, 20, Span::from_ms(10), WaitMode::Block);
    late.start = Time::from_ns(50_000_000);
    let mut hog = app("hog", 1, 0, Span::from_ms(100), WaitMode::Spin);
    hog.background = true;
    hog.allowed = Some(CpuSet::of([CpuId(0)]));
    let fine = app("fine", 5, 100, Span::from_ms(2), wait);
    vec![fine, late, hog, app("spin", 4, 10, Span::from_ms(15), WaitMode::Spin)]
}

fn run(choice: &Choice, seed: u64) -> RunReport {
    run_on(TWO_SOCKETS, "linux-2.6.28", choice, WaitMode::Yield, seed)
}

/// A kernel of this name with CFS queues.
fn cfs_kernel(machine: &Machine, name: &str) -> Arc<OsModel> {
    Arc::new(OsModel {
        name: name.into(),
        tick: Span::from_ms(4),
        tick_skew: true,
        discipline: Discipline::Cfs(CfsParams::scaled(machine.cpus())),
        balancer: Balancer { policy: "LOAD", rules: Vec::new() },
        groups: Vec::new(),
        autogroup: false,
        numa_balancing: None,
        real_time: None,
    })
}

/// A run on a machine of this shape; the kernel has this name, which decides on placement and balancing, and
/// CFS queues.
fn run_on(levels: &[(Level, u32)], kernel: &str, choice: &Choice, wait: WaitMode, seed: u64) -> RunReport {
    let (machine, apps) = (machine(levels), apps(wait));
    let kernel = cfs_kernel(&machine, kernel);
    let mut policy = choice.build(&machine, &kernel, &apps);
    let options = Options { seed, ..Options::default() };
    Simulation::new(machine, kernel, apps, options).expect("the scenario is legal").run(&mut *policy, &mut ())
}

#[test]
fn every_policy_completes_accounts_for_all_time_and_repeats() {
    for entry in ALL {
        let choice = Choice::new(entry);
        let report = run(&choice, 1);
        assert_eq!(report.outcome, Outcome::Completed, "{}", entry.name);
        assert_eq!(report.corrections, 0, "{}", entry.name);
        for (cpu, account) in report.cpus.iter().enumerate() {
            assert_eq!(account.total(), report.makespan.since(Time::ZERO), "{} cpu{cpu}", entry.name);
        }
        for app in report.apps.iter().filter(|app| !app.background) {
            assert!(app.end.is_some(), "{} {}", entry.name, app.name);
            assert_eq!(app.counters.work_done_ns, app.counters.work_asked_ns, "{} {}", entry.name, app.name);
        }
        let again = run(&choice, 1);
        assert_eq!((again.digest, again.makespan), (report.digest, report.makespan), "{}", entry.name);
        assert_ne!(run(&choice, 2).digest, report.digest, "{}: the seed has no effect", entry.name);
    }
}

#[test]
fn gangs_complete_with_every_choice_of_their_parameters() {
    let entry = policies::find("gang").expect("on the registry");
    for number in 0..96u64 {
        let mut choice = Choice::new(entry);
        let names = ["packing", "unification", "migration", "pairing", "quantum_by"];
        let mut values: Vec<(&str, u64)> =
            (0..).map(|bit| number >> bit & 1).zip(names).map(|(v, n)| (n, v)).collect();
        values.extend([("alternates", number / 32), ("quantum", 7_000_000), ("pair_cycles", 2)]);
        for (name, value) in &values {
            choice.values.set(name, *value).expect("in range");
        }
        let report = run(&choice, 1);
        assert_eq!(report.outcome, Outcome::Completed, "{values:?}");
        assert_eq!(report.corrections, 0, "{values:?}");
        assert_eq!(run(&choice, 1).digest, report.digest, "{values:?}");
    }
}

#[test]
fn every_policy_runs_on_every_shape_under_the_balancing_of_every_kernel() {
    let shapes: [&[(Level, u32)]; 6] = [
        &[(Level::Core, 4)],
        &[(Level::Package, 4), (Level::Cache, 2), (Level::Core, 2)],
        &[(Level::Package, 2), (Level::Node, 1), (Level::Cache, 1), (Level::Core, 2), (Level::Thread, 2)],
        &[(Level::Node, 3), (Level::Package, 2), (Level::Core, 2)],
        &[(Level::Package, 2), (Level::Node, 2), (Level::Cache, 2), (Level::Core, 1), (Level::Thread, 2)],
        &[(Level::Node, 20), (Level::Core, 1)],
    ];
    let kernels = ["linux-2.6.18", "linux-2.6.27", "linux-2.6.30", "linux-6.18", "freebsd-7", "solaris-9"];
    for entry in ALL {
        for (shape, kernel) in shapes.iter().flat_map(|shape| kernels.map(|kernel| (shape, kernel))) {
            let report = run_on(shape, kernel, &Choice::new(entry), WaitMode::Yield, 5);
            assert_eq!(report.outcome, Outcome::Completed, "{} {kernel} {shape:?}", entry.name);
            assert_eq!(report.corrections, 0, "{} {kernel} {shape:?}", entry.name);
        }
    }
}

#[test]
fn every_choice_of_every_parameter_runs() {
    for entry in ALL {
        // The defaults of all parameters are one choice, which runs once.
        let (default, mut ran) = (Choice::new(entry).values, false);
        for parameter in entry.parameters {
            // The ends of small ranges are legal values that somebody will use; long ranges are sampled at
            // their least.
            let few = parameter.max <= 3 || matches!(parameter.kind.of_one(), Kind::Choice(_));
            let values = if few { (parameter.min..=parameter.max).collect() } else { vec![parameter.min] };
            for value in values {
                let mut choice = Choice::new(entry);
                choice.values.set(parameter.name, value).unwrap();
                if choice.values == default && std::mem::replace(&mut ran, true) {
                    continue;
                }
                let report = run(&choice, 3);
                assert_eq!(report.outcome, Outcome::Completed, "{}.{} = {value}", entry.name, parameter.name);
                assert_eq!(report.corrections, 0, "{}.{} = {value}", entry.name, parameter.name);
            }
        }
    }
}

#[test]
fn every_policy_completes_and_stays_legal_when_its_decisions_come_late_or_never() {
    for entry in ALL {
        let mut disturbed = 0;
        let alone = run(&Choice::new(entry), 1).digest;
        for (delay, veto) in [(0, 2_000), (3_000_000, 0), (3_000_000, 5_000), (200_000, 10_000)] {
            let mut perturb = Values::defaults(Perturbation::TABLE);
            perturb.set("delay", delay).unwrap();
            perturb.set("jitter", delay).unwrap();
            perturb.set("veto", veto).unwrap();
            let choice = Choice { perturb: Some(perturb), ..Choice::new(entry) };
            let label = format!("{} delay {delay} veto {veto}", entry.name);
            let report = run(&choice, 1);
            assert_eq!((report.outcome.clone(), report.corrections), (Outcome::Completed, 0), "{label}");
            let total =
                |app: &sim_core::outcome::AppReport| (app.counters.work_done_ns, app.counters.work_asked_ns);
            for app in report.apps.iter().filter(|app| !app.background) {
                assert_eq!(total(app).0, total(app).1, "{label} {}", app.name);
            }
            assert_eq!(run(&choice, 1).digest, report.digest, "{label}");
            disturbed += u32::from(alone != report.digest);
        }
        assert!(disturbed >= 3, "{}: {disturbed} of 4 disturbances had an effect", entry.name);
    }
}

#[test]
fn every_user_level_policy_stands_on_every_kernel_level_one() {
    let (kernels, user): (Vec<_>, Vec<_>) =
        ALL.iter().partition(|entry| entry.level == policies::Level::InKernel);
    for (entry, beneath) in user.iter().flat_map(|user| kernels.iter().map(move |kernel| (*user, *kernel))) {
        let choice = Choice { over: Some(Box::new(Choice::new(beneath))), ..Choice::new(entry) };
        // Polls are simulated one by one under policies that order the queues: there the program sleeps
        // instead.
        let (machine, apps) = (machine(TWO_SOCKETS), apps(WaitMode::Yield));
        let order = choice.build(&machine, &cfs_kernel(&machine, "linux-2.6.28"), &apps).order();
        let wait = if order == Order::Policy { WaitMode::Block } else { WaitMode::Yield };
        let report = run_on(TWO_SOCKETS, "linux-2.6.28", &choice, wait, 1);
        let label = format!("{} over {}", entry.name, beneath.name);
        assert_eq!((report.outcome, report.corrections), (Outcome::Completed, 0), "{label}");
    }
}

#[test]
fn pinned_tasks_never_migrate() {
    let pin = policies::find("pin").unwrap();
    let mut random = Choice::new(pin);
    random.values.set("layout", 1).unwrap();
    let migrations = |choice: &Choice| run(choice, 1).apps[0].counters.migrations;
    assert_eq!((migrations(&Choice::new(pin)), migrations(&random)), (0, 0));
}
