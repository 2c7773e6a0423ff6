//! Processes of several threads: who creates whom, and the two runtimes under which they wait.

use sim_core::ids::TaskId;
use sim_core::observe::Observation;
use sim_core::program::{AppSpec, Forks, Op, Runtime, StartUp};
use sim_core::time::{Span, Time};
use sim_core::wait::{BarrierKind, WaitMode};

use crate::support::{SIXTEEN, Trial, WAITER, app, compute, waits};

/// Two processes of so many threads. The first threads of a process compute, 10 and 20 ms, and meet.
fn two_processes(threads: u32, processes: WaitMode, of_threads: WaitMode) -> AppSpec {
    let ops = vec![compute(Span::from_ms(10)), Op::TeamBarrier, Op::LeadersBarrier, Op::TeamBarrier];
    let mut app = app(2 * threads, ops, processes);
    app.team = threads;
    let scale = |rank| [1_000 + rank / threads * 1_000, WAITER][usize::from(rank % threads > 0)];
    app.rank_scale = (0..app.tasks).map(scale).collect();
    app.team_runtime = Some(waits(of_threads));
    app
}

#[test]
fn processes_and_their_threads_wait_in_two_ways() {
    let cpu_times = |processes, of_threads| {
        let trial = Trial::on(SIXTEEN).free().placed([0, 1, 2, 3]);
        let report = trial.app(two_processes(2, processes, of_threads)).run();
        report.apps[0].task_cpu.iter().map(|time| (time.ns() + 500_000) / 1_000_000).collect::<Vec<_>>()
    };
    // The first process is done 10 ms before the second one, whose work ends after 20.
    assert_eq!(cpu_times(WaitMode::Spin, WaitMode::Block), [20, 0, 20, 0]);
    assert_eq!(cpu_times(WaitMode::Block, WaitMode::Spin), [10, 20, 20, 20]);
    assert_eq!(cpu_times(WaitMode::Block, WaitMode::Block), [10, 0, 20, 0]);
}

/// When each task became runnable for the first time, in ms.
fn created(app: AppSpec) -> Vec<u64> {
    let tasks = app.tasks;
    let mut trial = Trial::on(SIXTEEN).free().placed([1, 2, 3, 4, 5, 6]).app(app);
    trial.machine.costs.fork = Span::from_ms(1);
    let log = trial.log().1;
    let first = |task| {
        let mut all = log.0.iter().filter_map(|(at, what)| match what {
            Observation::Runnable { task: other, .. } if *other == task => Some(*at),
            _ => None,
        });
        all.next().unwrap_or(Time::NEVER).ns() / 1_000_000
    };
    (0..tasks).map(|rank| first(TaskId(rank))).collect()
}

#[test]
fn a_launcher_creates_processes_and_these_their_threads() {
    let of = |processes: bool, barrier: bool| {
        let mut app = two_processes(3, WaitMode::Block, WaitMode::Block);
        let startup = StartUp { forks: Forks::Launcher, barrier, ..StartUp::PLAIN };
        app.runtime = Runtime { processes, startup, ..app.runtime };
        created(app)
    };
    // The launcher is busy for a millisecond with each process, and so is each process with each thread.
    assert_eq!(of(false, false), [1, 2, 3, 2, 3, 4]);
    assert_eq!(of(true, false), [1, 2, 3, 2, 3, 4]);
    // In MPI_Init the first process waits for the second one.
    assert_eq!(of(true, true), [1, 3, 4, 2, 3, 4]);
}

#[test]
fn a_parallel_region_takes_two_wake_ups_in_a_row_whatever_the_barrier() {
    for kind in [BarrierKind::Central, BarrierKind::Tree { arity: 4 }] {
        let Op::Compute { work, spread, profile } = compute(Span::from_us(50)) else { return };
        let first = Op::Serial { work, spread, profile };
        let region = [Op::TeamBarrier, compute(Span::from_us(10)), Op::Join];
        let ops = [Op::Repeat(100), first].into_iter().chain(region).chain([Op::End]);
        let mut team = app(2, ops.collect(), WaitMode::Block);
        team.team = 2;
        team.runtime.barrier = kind;
        let mut trial = Trial::on(SIXTEEN).free().placed([0, 1]).app(team);
        trial.machine.costs.idle_exit = Span::from_us(100);
        // The first thread works for 50 us, wakes the other one, and that wakes it in turn at the end.
        let each = trial.seconds() * 1e6 / 100.0;
        assert!((each / 260.0 - 1.0).abs() < 0.03, "{kind:?}: {each} us");
    }
}

#[test]
fn only_an_idle_cpu_that_nothing_wakes_yet_is_interrupted() {
    // The first task computes for 1 ms and then wakes those that sleep at the barrier.
    let wakes = |cpus: &[u32]| {
        let Op::Compute { work, spread, profile } = compute(Span::from_ms(1)) else { return 0 };
        let ops = vec![Op::Serial { work, spread, profile }, Op::Barrier];
        let team = app(cpus.len() as u32 + 1, ops, WaitMode::Block);
        let mut trial =
            Trial::on(SIXTEEN).free().placed([0].into_iter().chain(cpus.iter().copied())).app(team);
        trial.machine.costs.wake = Span::from_us(1);
        trial.machine.costs.wake_remote = Span::from_us(20);
        (trial.run().apps[0].task_cpu[0].ns() + 500) / 1_000 - 1_000
    };
    assert_eq!(wakes(&[1, 2, 3]), 60, "three idle cpus");
    assert_eq!(wakes(&[1, 1, 1]), 22, "one idle cpu");
}
