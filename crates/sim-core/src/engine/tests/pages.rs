//! Where the pages of threads lie that share the memory of their process.

use super::*;
use crate::program::{Forks, Pages, Touch};

/// Two processes of four threads (or `edit`) on four nodes with two cpus each, rank r on cpu r. A thread
/// computes for a second and does nothing but miss; far accesses take 1.3 times as long.
fn report(pages: Pages, touch: Touch, edit: fn(&mut AppSpec)) -> RunReport {
    let profile =
        MemoryProfile { demand: 1_000, bound: Some(1 << 16), working_set: 40_960, pages, shared: 0 };
    // All have touched their pages before the barrier.
    let program = Program::new(vec![compute(1), Op::Barrier, compute(1_000 * MS)], vec![profile]).unwrap();
    let mut app = app(8, WaitMode::Spin, Vec::new());
    (app.program, app.team, app.runtime.startup.touch) = (Arc::new(program), 4, touch);
    edit(&mut app);
    let mut rig = Rig::of(8).app(app);
    rig.machine.topology = Topology::new(&[(Level::Node, 4), (Level::Core, 2)]).unwrap();
    rig.machine.memory.remote_factor = 1_300;
    rig.machine.costs.page_fault = Span::from_us(1);
    rig.run().0
}

/// Milliseconds that each cpu waits for far memory.
fn far(pages: Pages, edit: fn(&mut AppSpec)) -> Vec<u64> {
    far_of(&report(pages, Touch::Work, edit))
}

fn far_of(report: &RunReport) -> Vec<u64> {
    (0..8).map(|cpu| (spent(report, cpu, Category::Remote) + MS / 2) / MS).collect()
}

#[test]
fn the_first_thread_of_each_process_touches_its_pages() {
    assert_eq!(far(Pages::Master, |_| {}), [0, 0, 300, 300, 0, 0, 300, 300]);
    // One process: rank 0 touches all.
    let one = far(Pages::Master, |app| app.team = 1);
    assert_eq!(one, [0, 0, 300, 300, 300, 300, 300, 300]);
    assert_eq!(far(Pages::Master, |app| app.teams_share = true), one);
    // Processes of one thread have their own pages, and so has a last process of fewer threads.
    assert_eq!(far(Pages::Master, |app| (app.team, app.runtime.processes) = (1, true)), [0; 8]);
    assert_eq!(far(Pages::Master, |app| app.team = 6), [0, 0, 300, 300, 300, 300, 0, 0]);
}

#[test]
fn a_team_uses_the_pages_of_its_process() {
    // Half of the pages of a process are on each of its two nodes.
    assert_eq!(far(Pages::Team, |_| {}), [150; 8]);
    assert_eq!(far(Pages::Team, |app| app.team = 1), [225; 8]);
    assert_eq!(far(Pages::Team, |app| (app.team, app.runtime.processes) = (1, true)), [0; 8]);
    let uneven = far(Pages::Team, |app| app.team = 6);
    assert_eq!(uneven, [200, 200, 200, 200, 200, 200, 0, 0]);
}

#[test]
fn the_first_thread_of_each_process_writes_the_data_of_all_its_threads() {
    // Ten pages of a thread, each 1 us for the fault and 4,096 bytes at 5 GB/s to clear it.
    let page = 1_000.0 + 4_096.0 / 5.0;
    let of = |edit| {
        let report = report(Pages::FirstTouch, Touch::Master, edit);
        let spent = |cpu| spent(&report, cpu, Category::PageInit) as f64 / page;
        ((0..8).map(|cpu| spent(cpu).round() as u64).collect::<Vec<_>>(), far_of(&report))
    };
    // The launcher creates the first thread of each process, which creates the others.
    let two = of(|app| app.runtime.startup.forks = Forks::Launcher);
    assert_eq!(two, (vec![40, 0, 0, 0, 40, 0, 0, 0], vec![0, 0, 300, 300, 0, 0, 300, 300]));
    let one = of(|app| app.team = 1);
    assert_eq!(one, (vec![80, 0, 0, 0, 0, 0, 0, 0], vec![0, 0, 300, 300, 300, 300, 300, 300]));
}
