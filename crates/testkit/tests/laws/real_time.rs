//! SCHED_FIFO and SCHED_RR: order, turns, places and limits, worked out on paper.

use sim_core::ids::TaskId;
use sim_core::latency::Latencies;
use sim_core::observe::Observation;
use sim_core::program::{AppSpec, Op, Scheduling, Spread};
use sim_core::time::{Span, Time};
use sim_core::wait::WaitMode;

use crate::support::{Log, MS, Setting, Trial, app, compute, hogs, on_cpu, seconds};

/// Nothing limits the class.
const UNLIMITED: &[Setting] = &[("rt_runtime", 0), ("fair_server", 0)];

/// A hog of the class that arrives at this millisecond.
fn spinner(scheduling: Scheduling, ms: u64, start: u64) -> AppSpec {
    let mut hog = hogs(1, ms);
    (hog.scheduling, hog.start) = (scheduling, Time::from_ns(start * MS));
    hog
}

/// A task of the class that computes for 1 ms after each sleep of 4 ms.
fn sleeper(priority: u8) -> AppSpec {
    let nap = Op::Sleep { span: Span::from_ms(4), spread: Spread::NONE };
    let mut app = app(1, vec![Op::Repeat(50), nap, compute(Span::from_ms(1)), Op::End], WaitMode::Spin);
    app.scheduling = Scheduling::Fifo(priority);
    app
}

fn trial(cores: &str, kernel: &str, settings: &[Setting]) -> Trial {
    Trial::on(cores).booted(kernel, settings).free()
}

/// On which cpus a task began to run from a millisecond on, each once.
fn places(log: &Log, task: u32, from: u64) -> Vec<u32> {
    let mut places = Vec::new();
    for (at, what) in &log.0 {
        if let Observation::Running { task: TaskId(id), cpu } = *what
            && id == task
            && at.ns() >= from * MS
            && !places.contains(&cpu.0)
        {
            places.push(cpu.0);
        }
    }
    places
}

/// The share of a hog beside a spinning task of the class on its cpu, over 20 s.
fn share_beside_spinner(kernel: &str, settings: &[Setting]) -> f64 {
    let mut hog = on_cpu(0, hogs(1, 100_000));
    hog.background = false;
    let fifo = on_cpu(0, spinner(Scheduling::Fifo(50), 100_000, 0));
    let report = trial("package:1 core:2", kernel, settings).app(hog).app(fifo).until(20_000).run();
    report.apps[0].task_cpu[0].ns() as f64 / 20e9
}

#[test]
fn a_hog_beside_a_spinning_fifo_task_gets_five_per_cent() {
    // Throttling leaves 50 ms of each second: overruns of up to a tick are made up for.
    for kernel in ["linux-2.6.28", "linux-5.15", "linux-6.8"] {
        let share = share_beside_spinner(kernel, &[]);
        assert!((share - 0.05).abs() < 0.003, "{kernel}: {share}");
    }
    // The server waits for 950 ms, then serves 50 ms of each second: a turn ends at a tick, and the next one
    // is as much shorter.
    for kernel in ["linux-6.12.0", "linux-6.18", "linux-6.19"] {
        let share = share_beside_spinner(kernel, &[]);
        assert!((share - 0.05).abs() < 0.0003, "{kernel}: {share}");
    }
    for kernel in ["linux-2.6.28", "linux-6.8", "linux-6.18"] {
        let share = share_beside_spinner(kernel, UNLIMITED);
        assert!(share < 0.001, "{kernel}: {share}");
    }
}

/// The share of two ordinary tasks that sleep for 50 us after each 20 us, beside a spinning one of the class.
fn share_of_sleepers(kernel: &str, settings: &[Setting]) -> f64 {
    let nap = Op::Sleep { span: Span::from_us(50), spread: Spread::NONE };
    let ops = vec![Op::Repeat(10_000_000), nap, compute(Span::from_us(20)), Op::End];
    let naps = on_cpu(0, app(2, ops, WaitMode::Spin));
    let fifo = on_cpu(0, spinner(Scheduling::Fifo(50), 100_000, 0));
    let report = trial("package:1 core:2", kernel, settings).app(naps).app(fifo).until(20_000).run();
    report.apps[0].task_cpu.iter().map(|cpu| cpu.ns() as f64).sum::<f64>() / 20e9
}

#[test]
fn tasks_that_sleep_often_beside_a_spinning_fifo_task_get_five_per_cent() {
    // A server that has served goes on at once as they wake, until its 50 ms are used up.
    for kernel in ["linux-6.12.0", "linux-6.18", "linux-6.19"] {
        let share = share_of_sleepers(kernel, &[]);
        // Of 20 s, the first of which begins with a wait.
        assert!((share - 0.05).abs() < 0.0015, "{kernel}: {share}");
    }
    // One that gives up the rest of its period serves until both sleep: 40 us of each second.
    let share = share_of_sleepers("linux-6.18", &[("fair_server_stop", 1)]);
    assert!(share < 0.0005, "{share}");
}

/// When the second burst of an ordinary task is over, ms after its begin: it sleeps for 3 s beside a spinning
/// task of the class after it was served.
fn served_after_a_long_sleep(kernel: &str) -> u64 {
    let nap = Op::Sleep { span: Span::from_ms(3_000), spread: Spread::NONE };
    let ops = vec![compute(Span::from_ms(10)), nap, compute(Span::from_ms(10))];
    let sleeps = on_cpu(0, app(1, ops, WaitMode::Spin));
    let mut fifo = on_cpu(0, spinner(Scheduling::Fifo(50), 100_000, 0));
    fifo.background = true;
    let report = trial("package:1 core:2", kernel, &[]).app(fifo).app(sleeps).run();
    report.apps[1].end.unwrap().ns() / MS - 960 - 3_000
}

#[test]
fn a_server_that_starts_after_its_period_goes_first_or_waits_again() {
    for (kernel, latest) in [("linux-6.12.0", 10), ("linux-6.18", 10), ("linux-6.19", 960)] {
        let late = served_after_a_long_sleep(kernel);
        assert!(late.abs_diff(latest) <= 1, "{kernel}: {late}");
    }
}

#[test]
fn an_equal_of_fifo_waits_and_one_of_round_robin_has_turns() {
    // Two tasks of 300 ms, the second one 1 ms later.
    let ends = |kernel: &str, kind: fn(u8) -> Scheduling| {
        let one = |start| on_cpu(0, spinner(kind(10), 300, start));
        let report = trial("package:1 core:2", kernel, UNLIMITED).app(one(0)).app(one(1)).run();
        [0, 1].map(|app| report.apps[app].end.unwrap().ns() / MS)
    };
    for kernel in ["linux-2.6.28", "linux-6.18"] {
        assert_eq!(ends(kernel, Scheduling::Fifo), [300, 600], "{kernel}");
        // 100 ms each in turn: the first ends after its third turn.
        let [first, second] = ends(kernel, Scheduling::RoundRobin);
        assert!((495..=505).contains(&first) && second == 600, "{kernel}: {first} {second}");
    }
}

#[test]
fn a_better_priority_takes_the_cpu_at_once_and_the_other_one_goes_on_before_its_equals() {
    let one = |priority, ms, start| on_cpu(0, spinner(Scheduling::Fifo(priority), ms, start));
    let trial = trial("package:1 core:2", "linux-6.18", UNLIMITED);
    let report = trial.app(one(10, 100, 0)).app(one(10, 50, 5)).app(one(20, 30, 10)).run();
    let ends = [0, 1, 2].map(|app| report.apps[app].end.unwrap().ns() / MS);
    assert_eq!(ends, [130, 180, 40]);
}

#[test]
fn a_yield_puts_a_fifo_task_behind_its_equals() {
    let ops = vec![compute(Span::from_ms(10)), Op::Yield, compute(Span::from_ms(10))];
    let mut yields = on_cpu(0, app(1, ops, WaitMode::Spin));
    yields.scheduling = Scheduling::Fifo(10);
    let other = on_cpu(0, spinner(Scheduling::Fifo(10), 50, 1));
    let report = trial("package:1 core:2", "linux-6.18", UNLIMITED).app(yields).app(other).run();
    assert_eq!([0, 1].map(|app| report.apps[app].end.unwrap().ns() / MS), [70, 60]);
}

#[test]
fn a_fifo_task_that_wakes_beside_an_ordinary_one_runs_at_once_where_it_was() {
    for kernel in ["linux-2.6.28", "linux-6.18"] {
        // Cpu 1 is idle: that the cpu of the task has an ordinary one is no reason to leave it.
        let mut hog = on_cpu(0, hogs(1, 100_000));
        hog.background = true;
        let trial = trial("package:1 core:2", kernel, UNLIMITED).app(sleeper(50)).app(hog);
        let mut latencies = Latencies::new(2, [1, 1]);
        trial.observed(&mut latencies);
        let latest = latencies.finish()[0].wakeups.expect("it wakes").max;
        assert!(latest <= Span::from_us(10), "{kernel}: {latest:?}");
        assert_eq!(places(&trial.log().1, 0, 0), [0], "{kernel}");
    }
}

#[test]
fn a_fifo_task_whose_cpu_has_a_better_one_goes_where_the_priority_is_lowest() {
    // From 20 ms on cpu 1 has priority 60, cpu 0 has 10, cpu 2 an ordinary task.
    let mut woken = on_cpu(1, sleeper(50));
    let everywhere = [0, 1, 2].map(sim_core::ids::CpuId);
    woken.rebinds = vec![(Span::from_ms(10), sim_core::machine::CpuSet::of(everywhere))];
    let mut others = [
        on_cpu(1, spinner(Scheduling::Fifo(60), 100_000, 20)),
        on_cpu(0, spinner(Scheduling::Fifo(10), 100_000, 0)),
        on_cpu(2, hogs(1, 100_000)),
    ];
    others.iter_mut().for_each(|app| app.background = true);
    let trial = trial("package:1 core:3", "linux-6.18", UNLIMITED).app(woken);
    let log = others.into_iter().fold(trial, Trial::app).log().1;
    assert_eq!(places(&log, 0, 0)[0], 1);
    assert_eq!(places(&log, 0, 25), [2]);
}

#[test]
fn a_waiting_fifo_task_is_pulled_to_a_cpu_whose_priority_falls() {
    // Priority 20 waits behind 30 on cpu 0 and ahead of nobody else; cpu 1 has 40 for 100 ms.
    let first = on_cpu(1, spinner(Scheduling::Fifo(40), 100, 0));
    let second = on_cpu(0, spinner(Scheduling::Fifo(30), 400, 0));
    let waits = spinner(Scheduling::Fifo(20), 50, 1);
    let report = trial("package:1 core:2", "linux-6.18", UNLIMITED).app(first).app(second).app(waits).run();
    let end = (seconds(&report, 2) * 1e3).round();
    assert!((end - 149.0).abs() < 1.0, "{end}");
    assert_eq!(report.apps[2].counters.migrations, 1);
}

#[test]
fn a_fifo_task_without_another_cpu_goes_before_an_equal_that_has_one() {
    for (kernel, settings, ends) in [
        ("linux-6.18", UNLIMITED, [100, 15]),
        ("linux-2.6.28", UNLIMITED, [100, 15]),
        ("linux-6.18", &[("fair_server", 0), ("rt_pinned_first", 0)], [100, 110]),
    ] {
        // Cpu 1 has an ordinary task, so the first one goes there as the second one comes.
        let mut hog = on_cpu(1, hogs(1, 1_000));
        hog.background = true;
        let free = spinner(Scheduling::Fifo(10), 100, 0);
        let pinned = on_cpu(0, spinner(Scheduling::Fifo(10), 10, 5));
        let report = trial("package:1 core:2", kernel, settings).app(free).app(pinned).app(hog).run();
        assert_eq!([0, 1].map(|app| report.apps[app].end.unwrap().ns() / MS), ends, "{kernel}");
    }
}

#[test]
fn the_period_of_the_limit_begins_with_the_first_real_time_task() {
    // From 300 ms on; throttled at the first tick after 950 ms of running.
    let end = |settings: &[Setting]| {
        let mut fifo = on_cpu(0, spinner(Scheduling::Fifo(50), 100_000, 300));
        fifo.background = true;
        let mut hog = on_cpu(0, hogs(1, 10));
        hog.start = Time::from_ns(310 * MS);
        let report = trial("package:1 core:2", "linux-6.8", settings).app(hog).app(fifo).run();
        report.apps[0].end.unwrap().ns() / MS
    };
    assert!((1_260..=1_265).contains(&end(&[])), "{}", end(&[]));
    // With another phase it may run into a second period before that.
    assert!(!(1_260..=1_265).contains(&end(&[("rt_period_starts", 0)])));
}
