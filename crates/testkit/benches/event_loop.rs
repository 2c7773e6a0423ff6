//! The event loop: task-steps per second. One step: a task computes 1 ms +- 10 %, arrives at a global barrier, waits by
//! yielding, is released, resumes. CFS with switch costs, memory contention, tasks pinned. First four tasks per cpu, POSIX yield
//! and a central barrier on more and more cpus; then 16 cpus with other barriers, yields and degrees.
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

/// One size of the job.
#[derive(Clone, Copy)]
struct Job {
    cpus: u32,
    tasks_per_cpu: u32,
    intervals: u32,
    barrier: BarrierKind,
    yields: YieldMode,
}

impl Job {
    const fn central(cpus: u32, intervals: u32) -> Self {
        Self { cpus, tasks_per_cpu: 4, intervals, barrier: BarrierKind::Central, yields: YieldMode::Posix }
    }

    const fn dissemination(tasks_per_cpu: u32, yields: YieldMode) -> Self {
        let intervals = 4_000 / tasks_per_cpu;
        Self { cpus: 16, tasks_per_cpu, intervals, barrier: BarrierKind::Dissemination, yields }
    }

    fn steps(self) -> u64 {
        u64::from(self.cpus * self.tasks_per_cpu * self.intervals)
    }
}

fn simulation(job: Job) -> Simulation {
    let cpus = job.cpus;
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
    params.yield_mode = job.yields;
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
    let ops = vec![Op::Repeat(job.intervals), compute, Op::Barrier, Op::End];
    let program = Arc::new(Program::new(ops, vec![profile]).expect("a legal program"));
    let runtime = Runtime {
        name: "yield".into(),
        barrier: job.barrier,
        wait: WaitMode::Yield,
        processes: false,
        startup: StartUp::PLAIN,
    };
    let app = AppSpec::new("spmd", cpus * job.tasks_per_cpu, program, runtime);
    Simulation::new(Arc::new(machine), Arc::new(kernel), vec![app], Options::default()).expect("a legal run")
}

fn steps(criterion: &mut Criterion) {
    let jobs = [
        ("16", Job::central(16, 4_000)),
        ("256", Job::central(256, 250)),
        ("4096", Job::central(4_096, 20)),
        ("tree", Job { barrier: BarrierKind::Tree { arity: 4 }, ..Job::central(16, 1_000) }),
        ("dissemination-1", Job::dissemination(1, YieldMode::Posix)),
        ("dissemination-4", Job::dissemination(4, YieldMode::Posix)),
        ("dissemination-4-fair", Job::dissemination(4, YieldMode::Default)),
        ("dissemination-8", Job::dissemination(8, YieldMode::Posix)),
    ];
    let mut group = criterion.benchmark_group("task_steps");
    group.sample_size(10).sampling_mode(SamplingMode::Flat);
    for (name, job) in jobs {
        group.throughput(Throughput::Elements(job.steps()));
        group.bench_with_input(BenchmarkId::from_parameter(name), &job, |bencher, job| {
            bencher.iter_batched(
                || simulation(*job),
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
