//! Jobs that arrive, queue and start, and tasks that come up: who creates whom and when, who touches what
//! where.

use std::collections::BTreeSet;
use std::sync::Arc;

use sim_core::admission::{Admission, StartOrder};
use sim_core::engine::Simulation;
use sim_core::ids::{AppId, CpuId, ProfileId, TaskId};
use sim_core::machine::CpuSet;
use sim_core::observe::{LeaveReason, Observation};
use sim_core::outcome::{Options, Outcome, RunReport};
use sim_core::policy::{CpuChoice, Placement, Policy, System, Timer, View, Why};
use sim_core::program::{AppSpec, Forks, MemoryProfile, Op, Pages, Program, Spread, StartUp, Touch};
use sim_core::time::{Span, Time, Work};
use sim_core::wait::WaitMode;

use crate::support::{Log, MS, SIXTEEN, Trial, hogs, on_cpu, seconds, waits};

const FORK: u64 = 50_000;

fn at(ms: u64) -> Time {
    Time::from_ns(ms * MS)
}

/// Twelve jobs of 1 to 16 tasks and 3 to 14 ms of work each that arrive within 11 ms.
fn stream() -> Trial {
    let mut trial = Trial::on(SIXTEEN).free().policy("PIN", &[]);
    for (i, tasks) in (0u64..).zip([8, 16, 1, 4, 4, 12, 2, 16, 3, 8, 8, 1]) {
        let mut job = hogs(tasks, 3 + i);
        job.start = at(i);
        trial = trial.app(job);
    }
    trial
}

fn checked(report: &RunReport, trial: &Trial) {
    let limit = trial.options.admission;
    // They come in order, so nobody overtakes means: they start in order.
    assert!(report.apps.is_sorted_by_key(|app| app.start));
    for app in &report.apps {
        let running: Vec<usize> = (0..report.apps.len())
            .filter(|i| report.apps[*i].start <= app.start && report.apps[*i].end.unwrap() > app.start)
            .collect();
        let tasks: u64 = running.iter().map(|i| u64::from(trial.apps[*i].tasks)).sum();
        assert!(running.len() as u32 <= limit.jobs && tasks <= limit.tasks, "{running:?}: {tasks} tasks");
        // It starts on arrival, or when somebody leaves.
        let left = report.apps.iter().any(|other| other.end == Some(app.start));
        assert!(app.start == app.arrived || left, "{} starts for no reason", app.name);
    }
}

#[test]
fn admission_is_first_come_first_served_and_never_exceeds_its_limits() {
    for (jobs, tasks) in [(1, u64::MAX), (3, u64::MAX), (u32::MAX, 16), (u32::MAX, 20), (2, 17)] {
        let mut trial = stream();
        trial.options.admission = Admission { jobs, tasks, order: StartOrder::Fcfs };
        let report = trial.run();
        checked(&report, &trial);
        let queued: u64 = report.apps.iter().map(|app| app.queue_time().unwrap().ns()).sum();
        assert!(queued > 20 * MS, "{jobs} jobs, {tasks} tasks: {queued} ns in the queue");
        for (i, app) in (0u64..).zip(&report.apps) {
            assert_eq!(app.arrived, at(i));
            assert_eq!(app.turnaround(), app.run_time().map(|time| time + app.queue_time().unwrap()));
        }
    }
}

#[test]
fn one_job_at_a_time_takes_the_sum_of_the_times_alone() {
    let mut trial = stream();
    trial.options.admission.jobs = 1;
    let together = trial.run().makespan.ns();
    let alone = (0..trial.apps.len()).map(|i| {
        let mut one = trial.clone();
        one.apps = vec![trial.apps[i].clone()];
        one.apps[0].start = Time::ZERO;
        one.run().makespan.ns()
    });
    // 3 + 4 + ... + 14 ms: on 16 free cpus a job takes the work of one task, ticks aside.
    let alone: u64 = alone.sum();
    assert!(together.abs_diff(alone) < 1_000 && alone.abs_diff(102 * MS) < MS, "{together} ns, {alone} ns");
}

#[test]
fn background_applications_neither_wait_nor_count() {
    let mut trial = stream();
    trial.options.admission.jobs = 1;
    let mut hog = hogs(4, 1);
    hog.background = true;
    let report = trial.app(hog).run();
    assert_eq!(report.apps[12].queue_time(), Some(Span::ZERO));
    assert_eq!(report.apps[12].start, Time::ZERO);
}

#[test]
fn a_chain_goes_link_by_link() {
    let mut trial = Trial::on(SIXTEEN).free();
    for i in 0..5u32 {
        let mut job = hogs(2, 5);
        job.after = i.checked_sub(1).map(AppId);
        job.start = at(2);
        trial = trial.app(job);
    }
    let report = trial.run();
    for pair in report.apps.windows(2) {
        assert_eq!(pair[1].start - pair[0].end.unwrap(), Span::from_ms(2));
        assert_eq!(pair[1].queue_time(), Some(Span::ZERO));
    }
    assert!(report.makespan.ns().abs_diff(35 * MS) < MS, "5 x (2 + 5) ms, not {:?}", report.makespan);
}

/// Hogs that come up in this way.
fn coming_up(tasks: u32, startup: StartUp) -> AppSpec {
    let mut app = hogs(tasks, 20);
    app.runtime.startup = startup;
    app
}

/// When the tasks of the only application were created, by rank, in ns.
fn births(log: &Log) -> Vec<u64> {
    let mut births = Vec::new();
    for (at, what) in &log.0 {
        if let Observation::Runnable { task, .. } = what
            && task.0 as usize == births.len()
        {
            births.push(at.ns());
        }
    }
    births
}

fn barcelona(forks: Forks, barrier: bool, spread: u32) -> Trial {
    let mut trial = Trial::on("barcelona").free().policy("PIN", &[]);
    trial.machine.costs.fork = Span::from_ns(FORK);
    trial.machine.costs.fork_spread = Spread(spread);
    trial.app(coming_up(16, StartUp { forks, barrier, sleeps: false, touch: Touch::Work }))
}

#[test]
fn rank_0_creates_the_others_or_a_launcher_creates_all() {
    let (_, log) = barcelona(Forks::Master, false, 0).log();
    assert_eq!(births(&log), (0..16).map(|rank| rank * FORK).collect::<Vec<_>>());
    let (report, log) = barcelona(Forks::Launcher, false, 0).log();
    assert_eq!(births(&log), (1..=16).map(|rank| rank * FORK).collect::<Vec<_>>());
    // The launcher's work is kernel work of cpu 0, where it interrupts rank 0.
    let kernel = |cpu: usize| report.cpus[cpu].get(sim_core::account::Category::Kernel).ns();
    assert_eq!((kernel(0), kernel(1)), (16 * FORK, 0));
}

#[test]
fn tasks_that_exist_before_the_start_are_woken_at_one_instant() {
    let (report, log) = barcelona(Forks::Together, false, 0).log();
    let runnable = |seen: &(Time, Observation)| match seen {
        (at, Observation::Runnable { task, .. }) => Some((at.ns(), task.0)),
        _ => None,
    };
    let mut woken: Vec<_> = log.0.iter().filter_map(runnable).collect();
    assert_ne!(woken[0..16].to_vec(), (0..16).map(|rank| (0, rank)).collect::<Vec<_>>());
    woken.sort_unstable();
    assert_eq!(woken[0..16].to_vec(), (0..16).map(|rank| (0, rank)).collect::<Vec<_>>());
    // No rank spends time on the creation of another one.
    assert_eq!(report.apps[0].run_time(), Some(Span::from_ms(20)));
}

#[test]
fn the_order_on_a_cpu_is_drawn_from_the_seed() {
    // Two tasks of 4 ms on one cpu under each operating system: over 40 seeds each is first in about half of
    // the runs.
    for os in ["linux-2.6.28", "linux-2.6.18", "linux-6.18", "freebsd-7", "solaris-9", "round-robin"] {
        let first = |seed| {
            let mut pair = on_cpu(0, hogs(2, 4));
            pair.runtime.startup.forks = Forks::Together;
            let trial = Trial::on("core:1").booted(os, &[]).policy("PIN", &[]).app(pair).seed(seed);
            let (_, log) = trial.log();
            log.0.iter().find_map(|(_, what)| match what {
                Observation::Running { task, .. } => Some(task.0),
                _ => None,
            })
        };
        let count = (0..40).filter(|seed| first(*seed) == Some(0)).count();
        assert!((10..=30).contains(&count), "{os}: rank 0 is first in {count} of 40 runs");
    }
}

#[test]
fn creation_varies_with_the_seed_alike_under_every_policy() {
    // +-20 %.
    let trial = barcelona(Forks::Launcher, false, 13_107);
    let gaps = |trial: &Trial| -> Vec<u64> {
        births(&trial.log().1).windows(2).map(|pair| pair[1] - pair[0]).collect()
    };
    let seven = gaps(&trial);
    assert!(seven.iter().all(|gap| (40_000..=60_000).contains(gap)), "{seven:?}");
    assert!(seven.iter().any(|gap| *gap < 48_000) && seven.iter().any(|gap| *gap > 52_000), "{seven:?}");
    for policy in ["LOAD", "SPEED", "gang"] {
        assert_eq!(gaps(&trial.clone().policy(policy, &[])), seven, "{policy}");
    }
    assert_ne!(gaps(&trial.seed(8)), seven);
}

#[test]
fn nobody_begins_before_all_have_met() {
    let exits = |barrier: bool| -> (u64, RunReport) {
        let (report, log) = barcelona(Forks::Master, barrier, 0).log();
        let exited =
            |what: &Observation| matches!(what, Observation::Stopping { reason: LeaveReason::Exited, .. });
        let first = log.0.iter().find(|(_, what)| exited(what)).map(|(at, _)| at.ns());
        (first.unwrap(), report)
    };
    // 15 creations, then 20 ms of work; without the barrier rank 1 is through 20 ms after its own.
    let (with, report) = exits(true);
    assert!((20 * MS + 15 * FORK..20 * MS + 16 * FORK).contains(&with), "{with} ns");
    assert_eq!(report.apps[0].counters.barriers, 0, "the barrier is none of the program's");
    let (without, _) = exits(false);
    assert!((20 * MS + FORK..20 * MS + 2 * FORK).contains(&without), "{without} ns");
}

#[test]
fn the_timed_section_begins_when_all_have_met() {
    let timed = |forks, barrier| {
        let report = barcelona(forks, barrier, 0).run();
        let app = &report.apps[0];
        assert_eq!(app.program_start - app.start, app.run_time().unwrap() - app.timed_run_time().unwrap());
        (app.program_start.ns() - app.start.ns(), app.timed_run_time().unwrap().ns())
    };
    // Fifteen creations by rank 0, sixteen by a launcher; then 20 ms of work, and some microseconds to be
    // released.
    for (forks, creations) in [(Forks::Master, 15), (Forks::Launcher, 16)] {
        let (up, time) = timed(forks, true);
        assert!((creations * FORK..(creations + 1) * FORK).contains(&up), "{up} ns");
        assert!((20 * MS..20 * MS + FORK).contains(&time), "{time} ns");
    }
    let (up, time) = timed(Forks::Master, false);
    assert_eq!(up, 0, "without that barrier the program begins with its first task");
    assert!((20 * MS + 15 * FORK..20 * MS + 16 * FORK).contains(&time), "{time} ns");
}

/// Rank 1 is created on cpu 0 of node 0 and moved to cpu 12 of node 3 at 7.5 ms; the others stay where they
/// are created.
struct Mover;

impl Policy for Mover {
    fn init(&mut self, system: &mut dyn System) {
        system.at(Time::from_ns(15 * MS / 2), Timer::Token(0));
    }
    fn select_cpu(&mut self, view: &dyn View, task: TaskId, _: Placement) -> CpuChoice {
        CpuId([1, 0, 2][view.task(task).rank as usize]).into()
    }
    fn timer(&mut self, system: &mut dyn System, _: Timer) {
        assert!(system.migrate(TaskId(1), CpuId(12), Why::NONE));
    }
}

/// Run time in seconds of three tasks under [`Mover`]; rank 1 has a second of work, all of it waiting for
/// memory.
fn moved(touch: Touch, working_set: u64) -> f64 {
    let mut machine = Trial::on("barcelona").free().machine;
    machine.costs.fork = Span::from_ms(4);
    let profile = MemoryProfile {
        demand: 1_000_000,
        bound: Some(1 << 16),
        working_set,
        pages: Pages::FirstTouch,
        shared: 0,
    };
    let work = Work::from_span(Span::from_ms(1_000));
    let ops = vec![Op::Compute { work, spread: Spread::NONE, profile: ProfileId(0) }];
    let program = Arc::new(Program::new(ops, vec![profile]).unwrap());
    let mut app = AppSpec::new("app", 3, program, waits(WaitMode::Yield));
    app.rank_scale = vec![1, 1_000, 1];
    app.runtime.startup = StartUp { forks: Forks::Master, barrier: true, sleeps: false, touch };
    let model = Trial::on("barcelona").model;
    let run = Simulation::new(Arc::new(machine), Arc::new(model), vec![app], Options::default()).unwrap();
    let report = run.run(&mut Mover, &mut ());
    assert_eq!((&report.outcome, report.apps[0].counters.migrations), (&Outcome::Completed, 1));
    seconds(&report, 0)
}

#[test]
fn who_touches_before_it_is_moved_leaves_its_pages_behind() {
    // Rank 1 exists from 4 ms on (7 ms where rank 0 touches first) and is moved at 7.5 ms; rank 2 exists from
    // 8 (11) ms on.
    let [work, each, master] = [Touch::Work, Touch::Each, Touch::Master].map(|touch| moved(touch, 4_000_000));
    // Touched after the move: all accesses are near, a second and 8 ms of creating tasks.
    assert!((work - 1.008).abs() < 0.005, "{work} s");
    // Touched where it was created, or by rank 0: on node 0, 1.3 times as far.
    assert!((each - 1.309).abs() < 0.004, "{each} s");
    assert!((master - 1.311).abs() < 0.004, "{master} s");
}

#[test]
fn pages_lie_where_their_task_was_while_it_touched_them() {
    // 28 MB are 6,836 pages of 1.024 us. From 4 ms to 7.5 ms rank 1 writes six pieces of 512 pages on node 0
    // and a part of the next one, which it begins again on node 3: 45 % of the pages are at 1.3 from there.
    // Rank 2, which exists from 8 ms on, is the last at the barrier: it writes until 15 ms.
    let near = 3_072.0 / 6_836.0;
    let law = 0.015 + 1.0 + 0.3 * near;
    let each = moved(Touch::Each, 28_000_000);
    assert!((each - law).abs() < 0.001, "{each} s, not {law}");
}

#[test]
fn touching_takes_the_time_of_writing_the_data_once() {
    // 4 MB a task at 4 GB/s; by rank 0 for all three of them.
    let bandwidth = Trial::on("barcelona").machine.memory.core_bandwidth;
    assert_eq!(bandwidth, 4_000_000_000);
    let extra = moved(Touch::Master, 4_000_000) - moved(Touch::Each, 4_000_000);
    // Rank 0 writes 12 MB before it creates anyone, or 4 MB after that.
    assert!((extra - 0.002).abs() < 0.0002, "{extra} s");
}

/// Milliseconds from the start until four tasks, each on its own cpu, have touched 4 MB each and met.
fn faulting(page_fault: u64, fault_lock: u64, processes: bool) -> f64 {
    let mut trial = Trial::on("barcelona").free().policy("PIN", &[]);
    trial.machine.costs.page_fault = Span::from_ns(page_fault);
    trial.machine.costs.fault_lock = Span::from_ns(fault_lock);
    let profile = MemoryProfile { working_set: 4_000_000, ..MemoryProfile::NONE };
    let work = Work::from_span(Span::from_ms(1));
    let ops = vec![Op::Compute { work, spread: Spread::NONE, profile: ProfileId(0) }];
    let program = Arc::new(Program::new(ops, vec![profile]).unwrap());
    let mut app = AppSpec::new("app", 4, program, waits(WaitMode::Spin));
    app.runtime.processes = processes;
    app.runtime.startup = StartUp { barrier: true, touch: Touch::Each, ..StartUp::PLAIN };
    trial.app(app).seconds() * 1e3 - 1.0
}

#[test]
fn first_touch_takes_a_fault_a_page_one_after_another_in_a_process() {
    // 977 pages, each cleared in 1.024 us at 4 GB/s.
    let near = |found: f64, law: f64| assert!((found - law).abs() < 0.01, "{found} ms, not {law}");
    near(faulting(0, 0, false), 0.977 * 1.024);
    near(faulting(1_000, 0, false), 0.977 * 2.024);
    // A lock held for 0.3 us a fault lets 4 x 0.977 x 0.3 = 1.17 ms of faults pass beside the work on them;
    // one of 1 us is what all four wait for: 4 x 0.977 ms.
    near(faulting(1_000, 300, false), 0.977 * 2.024);
    near(faulting(1_000, 1_000, false), 4.0 * 0.977);
    // Processes have address spaces of their own.
    near(faulting(1_000, 1_000, true), 0.977 * 2.024);
}

#[test]
fn a_change_of_affinity_moves_the_tasks_at_once() {
    // Both tasks compute on cpu 0 until 10 ms after their start, and on cpu 2 then.
    let mut pair = on_cpu(0, hogs(2, 20));
    pair.rebinds = vec![(Span::from_ms(10), CpuSet::of([CpuId(2)]))];
    let (report, log) = Trial::on(SIXTEEN).free().policy("PIN", &[]).app(pair).log();
    let late = |at: &Time| at.ns() >= 10 * MS;
    let cpus = |after: bool| -> BTreeSet<u32> {
        let running = log.0.iter().filter_map(|(at, what)| match what {
            Observation::Running { cpu, .. } if late(at) == after => Some(cpu.0),
            _ => None,
        });
        running.collect()
    };
    assert_eq!((cpus(false), cpus(true)), (BTreeSet::from([0]), BTreeSet::from([2])));
    assert_eq!(report.apps[0].run_time(), Some(Span::from_ms(40)));
}
