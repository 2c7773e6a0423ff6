//! SCHED_DEADLINE: runtimes, deadlines and places, worked out on paper.

use sim_core::ids::TaskId;
use sim_core::observe::{LeaveReason, Observation};
use sim_core::outcome::RunReport;
use sim_core::program::{AppSpec, Op, Reservation, Scheduling, Spread};
use sim_core::time::{Span, Time};
use sim_core::wait::WaitMode;

use crate::support::{Log, MS, Setting, Trial, app, compute, hogs, on_cpu};

/// Each kernel with the class, up to 6.11 with CFS or EEVDF and throttling, then with a fair server.
const KERNELS: [&str; 5] = ["linux-4.18", "linux-5.15", "linux-6.8", "linux-6.18", "linux-7.1"];

/// Any cpus, any sum.
const FREE: &[Setting] = &[("deadline_limit", 0)];

/// So many ms in each period, by a deadline.
fn reserve(runtime: u64, deadline: u64, period: u64) -> Scheduling {
    let [runtime, deadline, period] = [runtime, deadline, period].map(Span::from_ms);
    Scheduling::Deadline(Reservation { runtime, deadline, period })
}

/// A task that computes for so long, from a millisecond on.
fn spinner(scheduling: Scheduling, ms: u64, start: u64) -> AppSpec {
    let mut app = hogs(1, ms);
    (app.scheduling, app.start, app.background) = (scheduling, Time::from_ns(start * MS), false);
    app
}

/// Jobs of so many ms, one in each period.
fn periodic(scheduling: Scheduling, work: u64, period: u64, jobs: u32) -> AppSpec {
    let span = Span::from_ms(period);
    let until = Op::Until { clock: 0, first: span, period: span, skips: false };
    let ops = vec![Op::StartClock, Op::Repeat(jobs), compute(Span::from_ms(work)), until, Op::End];
    AppSpec { scheduling, ..app(1, ops, WaitMode::Spin) }
}

fn trial(cores: &str, kernel: &str, settings: &[Setting]) -> Trial {
    Trial::on(cores).booted(kernel, settings).free()
}

/// The share of a cpu that the first task of an application had over so many ms.
fn share(report: &RunReport, app: usize, ms: u64) -> f64 {
    report.apps[app].task_cpu[0].ns() as f64 / (ms * MS) as f64
}

/// When a task began to run and when it stopped, in ms.
fn runs(log: &Log, task: u32) -> Vec<(f64, f64, LeaveReason)> {
    let mut runs = Vec::new();
    let mut began = None;
    for (at, what) in &log.0 {
        let ms = at.ns() as f64 / 1e6;
        match *what {
            Observation::Running { task: TaskId(id), .. } if id == task => began = began.or(Some(ms)),
            Observation::Stopping { task: TaskId(id), reason, .. } if id == task => {
                runs.extend(began.take().map(|began| (began, ms, reason)));
            }
            _ => {}
        }
    }
    runs
}

#[test]
fn three_of_ten_ms_are_thirty_per_cent_beside_hogs_of_any_class() {
    for kernel in KERNELS {
        for beside in [Scheduling::Other, Scheduling::Fifo(99)] {
            let report = trial("package:1 core:1", kernel, FREE)
                .app(spinner(reserve(3, 10, 10), 100_000, 0))
                .app(spinner(beside, 100_000, 0))
                .until(8_000)
                .run();
            let found = share(&report, 0, 8_000);
            assert!((found - 0.3).abs() < 0.002, "{kernel} {beside:?}: {found}");
            let rest = share(&report, 1, 8_000);
            assert!((0.6..0.701).contains(&rest), "{kernel} {beside:?}: {rest}");
        }
    }
}

#[test]
fn an_overrun_ends_at_the_tick_or_at_its_timer_and_is_paid_back() {
    // Ticks of 4 ms: from 0 to 4 ms and 1 ms too long, from 10 to 12 ms, from 20 to 24 ms...
    for (timer, ends) in [(0, [4.0, 12.0, 24.0]), (1, [3.0, 13.0, 23.0])] {
        let (_, log) = trial("package:1 core:1", "linux-6.18", &[("deadline_timer", timer), FREE[0]])
            .app(spinner(reserve(3, 10, 10), 100_000, 0))
            .app(spinner(Scheduling::Other, 100_000, 0))
            .until(40)
            .log();
        let found = runs(&log, 0);
        for (number, end) in ends.into_iter().enumerate() {
            let (began, ended, why) = found[number];
            let tolerance = if timer == 1 { 0.01 } else { 0.3 };
            assert!((began - 10.0 * number as f64).abs() < 0.05, "timer {timer}: {found:?}");
            assert!((ended - end).abs() < tolerance && why == LeaveReason::Preempted, "{timer}: {found:?}");
        }
    }
}

#[test]
fn the_earlier_deadline_runs_first() {
    // The second one comes later with a deadline of 31 ms, which is before that of 50 ms.
    let (_, log) = trial("package:1 core:1", "linux-6.18", FREE)
        .app(spinner(reserve(20, 50, 50), 10, 0))
        .app(spinner(reserve(10, 30, 30), 5, 1))
        .app(spinner(reserve(10, 90, 90), 5, 1))
        .log();
    let ends: Vec<f64> = (0..3).map(|task| runs(&log, task).last().unwrap().1).collect();
    for (end, expected) in ends.iter().zip([15.0, 6.0, 20.0]) {
        assert!((end - expected).abs() < 0.1, "{ends:?}");
    }
}

#[test]
fn who_needs_more_than_its_runtime_does_not_disturb_others() {
    // Jobs of 12 ms with 8 of 40 ms, beside jobs of 10 ms with 12 of 40 ms.
    let (report, log) = trial("package:1 core:1", "linux-6.18", FREE)
        .app(periodic(reserve(12, 40, 40), 10, 40, 50))
        .app(AppSpec { background: true, ..periodic(reserve(8, 40, 40), 12, 40, 1_000) })
        .log();
    let late = runs(&log, 0)
        .iter()
        .filter(|run| run.2 == LeaveReason::Slept)
        .map(|run| run.1 % 40.0)
        .fold(0.0, f64::max);
    assert!(late < 39.0, "a job ended {late} ms after its release");
    assert!((share(&report, 1, 2_000) - 0.2).abs() < 0.005, "{}", share(&report, 1, 2_000));
}

#[test]
fn a_yield_ends_the_period() {
    let ops = vec![Op::Repeat(20), compute(Span::from_ms(3)), Op::Yield, Op::End];
    let yields = AppSpec { scheduling: reserve(8, 20, 20), ..app(1, ops, WaitMode::Spin) };
    let (report, log) = trial("package:1 core:1", "linux-6.18", FREE).app(yields).log();
    assert!((report.makespan.ns() as f64 / 1e6 - 400.0).abs() < 1.0, "{:?}", report.makespan);
    for (number, (began, ended, _)) in runs(&log, 0).iter().take(20).enumerate() {
        assert!((began - 20.0 * number as f64).abs() < 0.1 && (ended - began - 3.0).abs() < 0.1);
    }
}

#[test]
fn a_constrained_deadline_keeps_its_period() {
    // 5 of 10 ms, every 40 ms: a spinning task has 5 ms in each 40.
    let report = trial("package:1 core:1", "linux-6.18", &[("deadline_timer", 1), FREE[0]])
        .app(spinner(reserve(5, 10, 40), 100_000, 0))
        .app(spinner(Scheduling::Other, 100_000, 0))
        .until(4_000)
        .run();
    assert!((share(&report, 0, 4_000) - 0.125).abs() < 0.002, "{}", share(&report, 0, 4_000));
}

#[test]
fn three_tasks_of_six_tenths_share_two_cpus() {
    for kernel in KERNELS {
        let mut trial = trial("package:1 core:2", kernel, &[]);
        for _ in 0..3 {
            trial = trial.app(spinner(reserve(12, 20, 20), 100_000, 0));
        }
        let report = trial.until(8_000).run();
        for app in 0..3 {
            assert!(
                (share(&report, app, 8_000) - 0.6).abs() < 0.006,
                "{kernel}: {}",
                share(&report, app, 8_000)
            );
        }
    }
}

#[test]
fn global_edf_is_late_where_a_task_of_its_own_cpu_is_not() {
    // Dhall and Liu: two light tasks with the earlier deadlines go first on both cpus, and the heavy one, of
    // 19 of 20 ms, ends at 21 ms. With a cpu of its own it is in time.
    let heavy = || spinner(reserve(19, 20, 20), 19, 0);
    let light = || spinner(reserve(2, 19, 19), 2, 0);
    for (apart, ends) in [(false, 21.0), (true, 19.0)] {
        let place = |cpu, app: AppSpec| if apart { on_cpu(cpu, app) } else { app };
        let (_, log) = trial("package:1 core:2", "linux-6.18", &[("deadline_timer", 1), FREE[0]])
            .app(place(0, light()))
            .app(place(0, light()))
            .app(place(1, heavy()))
            .log();
        let end = runs(&log, 2).last().unwrap().1;
        assert!((end - ends).abs() < 0.2, "apart: {apart}: {:?}", runs(&log, 2));
    }
}

#[test]
fn naps_keep_a_deadline_or_get_a_new_one() {
    // 2 ms of work and a nap of 1 ms: 8 of 10 ms are left over 17 ms of 20: kept. The runtime lasts for five
    // turns, of which the fifth ends at 14 ms; the next period begins at 20 ms.
    let turns = |nap: u64| {
        let nap = Op::Sleep { span: Span::from_ms(nap), spread: Spread::NONE };
        let ops = vec![Op::Repeat(6), compute(Span::from_ms(2)), nap, Op::End];
        let naps = AppSpec { scheduling: reserve(10, 20, 20), ..app(1, ops, WaitMode::Spin) };
        let (report, _) =
            trial("package:1 core:1", "linux-6.18", &[("deadline_timer", 1), FREE[0]]).app(naps).log();
        report.makespan.ns() as f64 / 1e6
    };
    assert!((turns(1) - 23.0).abs() < 0.5, "{}", turns(1));
    // After naps of 9 ms nothing is kept: 11 ms a turn, and never throttled.
    assert!((turns(9) - 66.0).abs() < 0.5, "{}", turns(9));
}
