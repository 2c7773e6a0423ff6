//! Automatic NUMA balancing: tasks that go to their pages, and when they do not.

use sim_core::account::Category;
use sim_core::ids::CpuId;
use sim_core::observe::Observation;
use sim_core::outcome::RunReport;
use sim_core::program::{AppSpec, MemoryProfile, Pages, Scheduling};
use sim_core::time::{Span, Time};

use crate::memory::second;
use crate::support::{Log, MS, Setting, Trial};

const WINDOW: u64 = 256 << 20;

/// Tasks of so many seconds, all of it misses in so many bytes each that crowd nothing.
fn sized(bytes: u64, tasks: u32, seconds: u32, pages: Pages) -> AppSpec {
    let profile =
        MemoryProfile { demand: 4_500_000, bound: Some(1 << 16), working_set: bytes, pages, shared: 0 };
    let mut app = second(0, profile);
    app.allowed = None;
    app.tasks = tasks;
    app.rank_scale = vec![1_000 * seconds; tasks as usize];
    app
}

/// The same with a window each.
fn misses(tasks: u32, seconds: u32, pages: Pages) -> AppSpec {
    sized(WINDOW, tasks, seconds, pages)
}

/// A machine without costs but for remote misses, under a kernel that balances memory.
fn trial(machine: &str, kernel: &str, rules: &[Setting]) -> Trial {
    let mut trial = Trial::on(machine).free().under(kernel, rules);
    trial.machine.memory.core_bandwidth = 45_000_000_000;
    trial.machine.memory.link_bandwidth = 0;
    trial.machine.memory.remote_factor = 1_300;
    trial.machine.memory.distances = Vec::new();
    trial
}

/// The moves from a time on, as (ms, from, to).
fn moves(log: &Log, from: u64) -> Vec<(u64, u32, u32)> {
    let moves = log.moves().filter(|(at, ..)| *at >= Time::from_ns(from * MS));
    moves.map(|(at, CpuId(from), CpuId(to))| (at.ns() / MS, from, to)).collect()
}

fn remote(report: &RunReport) -> Span {
    report.account().get(Category::Remote)
}

/// Kernels of each form of the search.
const KERNELS: [&str; 4] = ["rhel-7.9", "rhel-8.2", "rhel-9.0", "rhel-10.0"];

#[test]
fn pages_of_real_time_tasks_are_not_scanned() {
    // `task_tick_numa` is part of the tick of the fair class: faults cost an ordinary task time.
    let time = |scheduling, on| {
        let app = AppSpec { scheduling, ..misses(1, 8, Pages::FirstTouch) };
        trial("numa:2 core:8", "rhel-9.0", &[("numa_balancing", on)]).app(app).run().apps[0].run_time()
    };
    let fifo = Scheduling::Fifo(10);
    assert_eq!(time(fifo, 1), time(fifo, 0));
    assert!(time(Scheduling::Other, 1) > time(Scheduling::Other, 0));
}

#[test]
fn a_task_that_was_taken_away_from_its_pages_goes_back_and_they_stay() {
    // Passes at 1, 2.3 and 3.99 s of its time. A move off the preferred node makes the period 1 s again, so
    // the next pass is due at once; its first fault brings the task back.
    for kernel in KERNELS {
        let away = trial("numa:2 core:8", kernel, &[]).placed([0]).app(misses(1, 8, Pages::FirstTouch));
        let away = away.moved(&[(3_500, 0, 8)]);
        let (report, log) = away.log();
        let back = moves(&log, 3_500);
        assert!(matches!(back[..], [(3_500, 0, 8), (3_500, 8, 0..=7)]), "{kernel}: {back:?}");
        assert_eq!(report.apps[0].counters.page_copies, 0, "{kernel}");
        assert!(remote(&report) < Span::from_ms(10), "{kernel}: {:?}", remote(&report));
    }
}

#[test]
fn where_tasks_do_not_move_their_pages_do() {
    let rules = [("numa_moves_tasks", 0)];
    let away = trial("numa:2 core:2", "rhel-9.4", &rules).placed([0]).app(misses(1, 8, Pages::FirstTouch));
    let (report, log) = away.moved(&[(3_500, 0, 2)]).log();
    assert_eq!((moves(&log, 3_500), report.apps[0].counters.page_copies), (vec![(3_500, 0, 2)], 1));
    // Nor does a task move under a kernel that does not balance memory.
    let rules = [("numa_balancing", 0)];
    let away = trial("numa:2 core:2", "rhel-9.4", &rules).placed([0]).app(misses(1, 8, Pages::FirstTouch));
    let (report, log) = away.moved(&[(3_500, 0, 2)]).log();
    assert_eq!((moves(&log, 3_500), report.apps[0].counters.page_copies), (vec![(3_500, 0, 2)], 0));
}

#[test]
fn two_tasks_on_each_others_pages_change_places() {
    for kernel in KERNELS {
        let crossed = trial("numa:2 core:1", kernel, &[]).placed([0, 1]).app(misses(2, 8, Pages::FirstTouch));
        let (report, log) = crossed.moved(&[(3_500, 0, 1), (3_500, 1, 0)]).log();
        let crossed = [(3_500, 0, 1), (3_500, 1, 0)];
        let mut all = moves(&log, 3_500);
        all.sort_unstable();
        // There and back.
        assert_eq!(all, [crossed[0], crossed[0], crossed[1], crossed[1]], "{kernel}");
        assert_eq!(report.apps[0].counters.page_copies, 0, "{kernel}");
    }
}

/// Where the tasks of two teams start, one task of each away from the others.
const START: [u32; 8] = [0, 1, 2, 4, 3, 5, 6, 7];

#[test]
fn tasks_that_share_pages_gather_on_one_node() {
    // Three of four tasks of each program are on one node, with three quarters of its pages. The odd ones
    // change places, and the pages follow their program.
    let gather = |kernel, rules: &[Setting]| {
        let both = trial("numa:2 core:4", kernel, rules).placed(START);
        let team = || misses(4, 12, Pages::Team);
        both.app(team()).app(team()).until(11_000).log()
    };
    for kernel in KERNELS {
        let (report, log) = gather(kernel, &[]);
        // The nodes of the tasks of each program in the end.
        let mut cpus = START;
        for (_, what) in &log.0 {
            if let Observation::Migrated { task, to, .. } = what {
                cpus[task.0 as usize] = to.0;
            }
        }
        let nodes: Vec<Vec<u32>> =
            cpus.chunks(4).map(|team| team.iter().map(|cpu| cpu / 4).collect()).collect();
        assert_eq!(nodes, [[0; 4], [1; 4]], "{kernel}: {:?}", moves(&log, 0));
        let (apart, _) = gather(kernel, &[("numa_moves_tasks", 0)]);
        assert!(remote(&report) * 3 < remote(&apart), "{kernel}: {:?} {:?}", remote(&report), remote(&apart));
    }
}

#[test]
fn a_task_with_half_of_its_pages_on_each_node_stays() {
    // 8 windows, a pass each 125 ms from 1 s on. Four of them find the task on node 1, where half of the
    // pages follow it, and four on node 0.
    let between = trial("numa:2 core:8", "rhel-9.4", &[]).placed([0]);
    let between = between.app(sized(8 * WINDOW, 1, 4, Pages::FirstTouch));
    let (report, log) = between.moved(&[(500, 0, 8), (1_450, 0, 0)]).log();
    assert_eq!(moves(&log, 1_450), [(1_450, 8, 0)]);
    // In the next scan the other half comes back.
    assert_eq!(report.apps[0].counters.page_copies, 8);
}
