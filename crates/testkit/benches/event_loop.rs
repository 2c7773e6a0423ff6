//! The event loop: task-steps per second. One step: a task computes 1 ms +- 10 %, arrives at a global barrier, waits by
//! yielding, is released, resumes. Four tasks per cpu, CFS with switch costs, POSIX yield, memory contention, tasks pinned.
//!
//! `cargo bench -p testkit --bench event_loop`

use std::hint::black_box;
use std::sync::Arc;

use criterion::{BenchmarkId, Criterion, SamplingMode, Throughput, criterion_group, criterion_main};
use sim_core::kernel::Simulation;
use sim_core::kernel_model::{CfsParams, Discipline, KernelModel, YieldMode};
use sim_core::machine::{Costs, Level, Machine, Topology};
use sim_core::outcome::{Options, Outcome};
use sim_core::program::{AppSpec, MemoryProfile, Op, Pages, Program, Runtime, Spread, StartUp};
use sim_core::time::{Span, Work};
use sim_core::wait::{BarrierKind, WaitMode};
use testkit::policies::Fixed;

const TASKS_PER_CPU: u32 = 4;

fn simulation(cpus: u32, intervals: u32) -> Simulation {
    let barcelona = machines::resolve("barcelona").expect("a machine of the shelf").machine();
    let topology = Topology::new(&[(Level::Package, cpus / 4), (Level::Node, 1), (Level::Core, 4)])
        .expect("a legal tree");
    let machine = Machine {
        topology,
        // Creating the tasks is not what is measured.
        costs: Costs { fork: Span::ZERO, ..barcelona.costs },
        core_speed: Vec::new(),
        ..barcelona
    };
    let mut params = CfsParams::linux_2_6_28(cpus);
    params.yield_mode = YieldMode::Posix;
    let kernel = KernelModel {
        name: "linux-2.6.28".into(),
        tick: Span::from_ms(1),
        tick_skew: true,
        discipline: Discipline::Cfs(params),
    };
    let profile = MemoryProfile {
        demand: 1_000_000_000,
        bound: None,
        working_set: 1 << 20,
        pages: Pages::FirstTouch,
        shared: 0,
    };
    let compute = Op::Compute {
        work: Work::from_span(Span::from_ms(1)),
        spread: Spread(6_554),
        profile: sim_core::ids::ProfileId(0),
    };
    let ops = vec![Op::Repeat(intervals), compute, Op::Barrier, Op::End];
    let program = Arc::new(Program::new(ops, vec![profile]).expect("a legal program"));
    let runtime = Runtime {
        name: "yield".into(),
        barrier: BarrierKind::Central,
        wait: WaitMode::Yield,
        processes: false,
        startup: StartUp::PLAIN,
    };
    let app = AppSpec::new("spmd", cpus * TASKS_PER_CPU, program, runtime);
    Simulation::new(Arc::new(machine), Arc::new(kernel), vec![app], Options::default()).expect("a legal run")
}

fn steps(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("task_steps");
    group.sample_size(10).sampling_mode(SamplingMode::Flat);
    for (cpus, intervals) in [(16, 4_000), (256, 250), (4_096, 20)] {
        group.throughput(Throughput::Elements(u64::from(cpus * TASKS_PER_CPU * intervals)));
        group.bench_with_input(BenchmarkId::from_parameter(cpus), &cpus, |bencher, _| {
            bencher.iter_batched(
                || simulation(cpus, intervals),
                |simulation| {
                    let report = simulation.run(&mut Fixed, &mut ());
                    assert_eq!(report.outcome, Outcome::Completed);
                    black_box(report.digest)
                },
                criterion::BatchSize::PerIteration,
            );
        });
    }
    group.finish();
}

criterion_group!(benches, steps);
criterion_main!(benches);
