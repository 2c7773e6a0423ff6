//! Automatic NUMA balancing: how soon pages follow a task, and what the hinting faults cost.

use sim_core::account::Category;
use sim_core::os::NumaBalancing;
use sim_core::outcome::RunReport;
use sim_core::program::{AppSpec, MemoryProfile, Pages};
use sim_core::time::Span;

use crate::memory::second;
use crate::support::{Trial, seconds};

const WINDOW: u64 = 256 << 20;
/// Hinting faults of a window of pages of 4 KiB, 1 us each.
const FAULTS: f64 = 0.065_536;
/// What distance alone makes of a second of misses.
const FAR: f64 = 1.3;
/// Bytes that a core copies in a second.
const CORE: u64 = 45_000_000_000;

/// Barcelona without other costs, whose kernel balances or not.
fn barcelona(rules: Option<NumaBalancing>) -> Trial {
    let mut trial = Trial::on("barcelona").free();
    trial.machine.memory.core_bandwidth = CORE;
    trial.machine.memory.link_bandwidth = 0;
    trial.machine.memory.remote_factor = 1_300;
    trial.machine.memory.distances = Vec::new();
    trial.model.numa_balancing = rules;
    trial
}

/// A task of so much work, all of it misses that crowd nothing, on its own pages.
fn misses(work: f64, bytes: u64, pages: Pages) -> AppSpec {
    let profile =
        MemoryProfile { demand: 4_500_000, bound: Some(1 << 16), working_set: bytes, pages, shared: 0 };
    let mut app = second(0, profile);
    app.allowed = None;
    app.rank_scale = vec![(work * 1_000.0) as u32];
    app
}

fn part(report: &RunReport, category: Category) -> f64 {
    report.account().get(category).ns() as f64 / 1e9
}

fn close(found: f64, wanted: f64, what: &str) {
    assert!((found / wanted - 1.0).abs() < 0.002, "{what}: {found}, not {wanted}");
}

#[test]
fn pages_of_a_large_process_follow_a_moved_thread_in_ten_passes() {
    let linux = NumaBalancing::linux(false);
    let run = |rules| barcelona(rules).placed([0]).app(misses(1.8, 10 * WINDOW, Pages::FirstTouch));
    let moved = |rules| run(rules).moved(&[(500, 0, 8)]).run();
    let (on, off) = (moved(Some(linux)), moved(None));
    assert_eq!(off.apps[0].counters.page_copies, 0);
    close(part(&off, Category::Remote), 1.3 * 0.3, "all is remote after half a second");
    // The first pass comes after 1 s of cpu time, the next ones 100 ms of work apart. A window is 1.6 of the
    // 16 pieces in which pages move.
    let remote = |time: f64, share: f64| time * (FAR - 1.0) * share / (1.0 + (FAR - 1.0) * share);
    let left = (1..10).map(|pass| 1.0 - f64::floor(1.6 * f64::from(pass)) / 16.0);
    let wanted = remote(0.5, 1.0) + left.map(|share| remote(0.1, share)).sum::<f64>();
    close(part(&on, Category::Remote), wanted, "ten passes");
    // No fault was local: the next pass comes 200 ms after the tenth, after the end of the task.
    let copies = FAR * (10 * WINDOW) as f64 / CORE as f64;
    close(part(&on, Category::Refill), 10.0 * FAULTS + copies, "faults and copies");
    let counters = &on.apps[0].counters;
    assert_eq!(counters.page_copies, 10);
    assert!(counters.bytes_fetched > 10 * WINDOW, "{} bytes", counters.bytes_fetched);
}

#[test]
fn a_thread_with_its_pages_at_home_is_scanned_ever_more_rarely() {
    let work = 900.0;
    let run = |rules| barcelona(rules).placed([0]).app(misses(work, WINDOW, Pages::FirstTouch)).run();
    let report = run(Some(NumaBalancing::linux(false)));
    // All faults are private: each period is three tenths longer than the last one, at most 60 s.
    let (mut passes, mut at, mut period) = (0.0, 1.0, 1.3);
    while at < work {
        passes += 1.0;
        at += period;
        period = f64::min(1.3 * period, 60.0);
    }
    close(part(&report, Category::Refill), passes * FAULTS, "faults");
    close(seconds(&report, 0), work + passes * FAULTS, "time");
    assert!((25.0..32.0).contains(&passes), "{passes} passes");
    // With huge pages there are 128 faults in a pass instead of 65,536.
    let huge = run(Some(NumaBalancing::linux(true)));
    close(part(&huge, Category::Refill), passes * FAULTS / 512.0, "faults on huge pages");
}

#[test]
fn the_threads_of_a_process_share_its_windows() {
    // Four threads with a window of pages each: W = 4, a period of 250 ms, and a quarter of a window a pass.
    let mut app = misses(1.9, WINDOW, Pages::FirstTouch);
    app.tasks = 4;
    app.rank_scale = vec![1_900; 4];
    let report = barcelona(Some(NumaBalancing::linux(false))).placed([0, 4, 8, 12]).app(app).run();
    // Passes at 1.0, 1.25, 1.5 and 1.75 s; the next one is 325 ms later.
    close(part(&report, Category::Refill), 4.0 * FAULTS, "four passes of four threads");
    assert_eq!(report.apps[0].counters.page_copies, 0);
}

#[test]
fn pages_with_a_place_of_their_own_are_out_of_reach() {
    let linux = Some(NumaBalancing::linux(false));
    let node = Pages::Node(sim_core::ids::NodeId(2));
    for pages in [node, Pages::Interleaved, Pages::NextTouch] {
        let run = |rules| barcelona(rules).placed([0]).app(misses(3.0, WINDOW, pages)).run();
        assert_eq!(run(linux), run(None), "{pages:?}");
    }
    // Nor is a program scanned that asks for no memory, or a machine of one node.
    let idle = |rules| barcelona(rules).app(crate::support::hogs(1, 3_000)).run();
    assert_eq!(idle(linux), idle(None));
}

#[test]
fn what_rank_0_touched_leaves_its_node() {
    let mut app = misses(3.0, WINDOW, Pages::Master);
    app.tasks = 2;
    app.rank_scale = vec![3_000; 2];
    let run = |rules| barcelona(rules).placed([0, 8]).app(app.clone()).run();
    let (off, on) = (run(None), run(Some(NumaBalancing::linux(true))));
    close(part(&off, Category::Remote), 3.0 * 0.3, "rank 1 is remote for all of its work");
    // W = 2: half of a window of each thread at 1 s, and the other one 500 ms later.
    let remote = (FAR - 1.0) / FAR + 0.5 * 0.15 / 1.15;
    close(part(&on, Category::Remote), remote, "rank 1 is remote up to its second pass");
    assert_eq!(on.apps[0].counters.page_copies, 2);
    assert!(on.makespan + Span::from_ms(400) < off.makespan, "{:?}", on.makespan);
}
