//! Caches: sets that share one raise each other's demand, co-runners and moves cost refills, pages follow
//! their task.

use sim_core::account::Category;
use sim_core::ids::TaskId;
use sim_core::outcome::RunReport;
use sim_core::program::{AppSpec, MemoryProfile, Pages};

use crate::memory::{second, stretch};
use crate::support::{Trial, seconds};

/// Barcelona's shared cache, bytes, and what a core may fill: its own 512 KiB and a quarter of that.
const SHARED: u64 = 2 << 20;
const CACHE: u64 = (512 << 10) + SHARED / 4;
/// What one of its cores draws, bytes per second.
const CORE: u64 = 4_000_000_000;

/// A machine with these caches, where overhead costs nothing and remote memory is 1.3 as far.
fn barcelona() -> Trial {
    let mut trial = Trial::on("barcelona").free();
    let memory = &mut trial.machine.memory;
    memory.private_cache = 512 << 10;
    memory.shared_cache = SHARED;
    memory.core_bandwidth = CORE;
    memory.remote_factor = 1_300;
    memory.distances = Vec::new();
    trial
}

/// A second of work on a set, without traffic of its own.
fn set(cpu: u32, working_set: u64) -> AppSpec {
    second(cpu, MemoryProfile { working_set, ..MemoryProfile::NONE })
}

/// A second of nothing but misses: a tenth of a controller each, on a set.
fn misses(cpu: u32, working_set: u64) -> AppSpec {
    second(
        cpu,
        MemoryProfile { demand: 450_000_000, bound: Some(1 << 16), working_set, ..MemoryProfile::NONE },
    )
}

fn refill_ns(report: &RunReport) -> u64 {
    report.account().get(Category::Refill).ns()
}

fn fetch_ns(bytes: u64) -> u64 {
    (u128::from(bytes) * 1_000_000_000 / u128::from(CORE)) as u64
}

#[test]
fn sets_that_share_a_cache_raise_each_others_demand() {
    let run = |exponent: u32, cpus: [u32; 2], set: u64| {
        let mut trial = barcelona();
        trial.machine.memory.cache_exponent = exponent;
        trial.app(misses(cpus[0], set)).app(misses(cpus[1], set)).run()
    };
    let near = |report: &RunReport, law: f64| {
        let time = seconds(report, 0);
        assert!((time / law - 1.0).abs() < 0.001, "{time}, not {law}");
    };
    // Two sets that fill the cache: demand x sqrt(2) by the square-root rule.
    let growth = 2f64.sqrt();
    let both = run(500, [0, 1], SHARED);
    near(&both, growth * stretch(0.2 * growth));
    let fetched = both.apps[0].counters.bytes_fetched as f64;
    assert!((fetched / (450e6 * growth) - 1.0).abs() < 0.001, "{fetched} bytes");
    near(&run(1_000, [0, 1], SHARED), 2.0 * stretch(0.4));
    // Switched off; in two caches; sets that fit beside each other.
    near(&run(0, [0, 1], SHARED), stretch(0.2));
    near(&run(500, [0, 4], SHARED), stretch(0.1));
    near(&run(500, [0, 1], SHARED / 2), stretch(0.2));
}

/// Refill and the number of times a task came back after the other one, of two that take turns on a core.
fn turns(working_set: u64) -> (u64, u64) {
    let trial = barcelona().app(set(0, working_set)).app(set(0, working_set));
    let (report, log) = trial.log();
    let order: Vec<TaskId> = log.turns(0).iter().map(|turn| turn.task).collect();
    let switches = order.windows(2).filter(|pair| pair[0] != pair[1]).count() as u64;
    // The first turn of the second task finds nothing to lose.
    (refill_ns(&report), switches - 1)
}

#[test]
fn co_runners_cost_each_other_what_does_not_fit() {
    // Two sets that both fit cost nothing, two that just do not cost what is pushed out, far larger ones
    // nothing extra (shape as measured by Li, Ding, Shen, ExpCS 2007).
    let (fits, back) = turns(CACHE / 2);
    assert!(fits == 0 && back > 5, "{fits} ns in {back} turns");
    let (full, back) = turns(CACHE);
    assert_eq!(full, back * fetch_ns(CACHE), "{back} turns");
    let (most, back) = turns(CACHE * 3 / 4);
    assert_eq!(most, back * fetch_ns(CACHE / 2), "{back} turns");
    assert_eq!(turns(2 * CACHE).0, 0);
}

#[test]
fn siblings_cost_each_other_nothing_beyond_their_programs_own_misses() {
    // Two tasks of one program with three quarters of a cache each: their turns pass through as many bytes as
    // one task with all the data would, and its stated demand counts what it misses then.
    let mut app = set(0, CACHE * 3 / 4);
    app.tasks = 2;
    let (report, log) = barcelona().app(app.clone()).log();
    assert!(log.turns(0).len() > 5, "they take turns");
    assert_eq!(refill_ns(&report), 0);
    // A stranger pushes out what its bytes exceed that by: after a full cache more a quarter of it, for the
    // sibling may have passed twice.
    let mut two = barcelona();
    two.machine.memory.core_bandwidth = CORE;
    let (report, log) = two.app(app).app(set(0, CACHE)).log();
    let turns: Vec<TaskId> = log.turns(0).iter().map(|turn| turn.task).collect();
    let back = turns.windows(2).filter(|pair| pair[0] == TaskId(2) && pair[1] != TaskId(2)).count() as u64;
    assert!(back > 3);
    let refill = refill_ns(&report);
    assert!(refill >= (back - 1) * fetch_ns(CACHE / 4), "{refill} ns in {back} turns after the stranger");
}

#[test]
fn a_move_costs_the_caches_left_behind() {
    let run = |to: u32, working_set: u64| {
        let mut app = set(0, working_set);
        app.allowed = None;
        barcelona().placed([0]).app(app).moved(&[(100, 0, to)]).run()
    };
    assert_eq!(refill_ns(&run(1, CACHE / 2)), fetch_ns(CACHE / 2));
    assert_eq!(refill_ns(&run(1, CACHE)), fetch_ns(CACHE));
    assert_eq!(refill_ns(&run(1, 2 * CACHE)), 0);
    // Another socket: its pages are 1.3 as far.
    let far = refill_ns(&run(4, CACHE));
    assert!(far.abs_diff(fetch_ns(CACHE) * 13 / 10) < 10, "{far}");
}

/// Time of a second of nothing but misses on 4 MiB (nothing to refill) that is moved to another node after a
/// tenth.
fn moved(pages: Pages) -> RunReport {
    let profile =
        MemoryProfile { demand: 4_500_000, bound: Some(1 << 16), working_set: 4 << 20, pages, shared: 0 };
    let mut app = second(0, profile);
    app.allowed = None;
    barcelona().placed([0]).app(app).moved(&[(100, 0, 8)]).run()
}

#[test]
fn pages_stay_or_follow() {
    let stay = moved(Pages::FirstTouch);
    assert!((seconds(&stay, 0) - (0.1 + 0.9 * 1.3)).abs() < 1e-4, "{}", seconds(&stay, 0));
    assert_eq!(stay.apps[0].counters.page_copies, 0);
    let follow = moved(Pages::NextTouch);
    // One copy at the rate of a core, over the distance of 1.3.
    let copy = fetch_ns(4 << 20) * 13 / 10;
    assert!(refill_ns(&follow).abs_diff(copy) < 20, "{} ns of copies", refill_ns(&follow));
    assert!((seconds(&follow, 0) - 1.0 - copy as f64 / 1e9).abs() < 1e-4, "{}", seconds(&follow, 0));
    assert_eq!(follow.apps[0].counters.page_copies, 1);
}

#[test]
fn what_the_master_touched_lies_with_it() {
    let profile = MemoryProfile {
        demand: 4_500_000,
        bound: Some(1 << 16),
        pages: Pages::Master,
        ..MemoryProfile::NONE
    };
    let mut app = second(0, profile);
    app.allowed = None;
    app.tasks = 2;
    let report = barcelona().placed([0, 8]).app(app).run();
    let remote = |cpu: usize| report.cpus[cpu].get(Category::Remote).ns();
    assert_eq!(remote(0), 0);
    assert!(remote(8).abs_diff(300_000_000) < 100_000, "{}", remote(8));
}
