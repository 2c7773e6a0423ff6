//! Kinds of locks: what a lock costs when its holder, or the next in line, has no cpu.

use sim_core::account::Category;
use sim_core::ids::LockId;
use sim_core::lock::{LockRules, LockWait};
use sim_core::observe::Observation;
use sim_core::outcome::RunReport;
use sim_core::program::{AppSpec, Op};
use sim_core::time::Span;
use sim_core::wait::WaitMode;

use crate::support::{Trial, app, compute, hogs, on_cpu, seconds};

const FAIR: LockRules = LockRules::queued(LockWait::Sleep { spins: 0, again: false });
const ADAPTIVE: LockRules = LockRules::barging(LockWait::Sleep { spins: 100, again: false });
const GOMP: LockRules = LockRules::barging(LockWait::Sleep { spins: 100, again: true });
const YIELDING: LockRules = LockRules::barging(LockWait::Yield);
const BARGING: [LockRules; 5] = [LockRules::MUTEX, ADAPTIVE, GOMP, LockRules::TEST_AND_SET, YIELDING];
const ALL: [LockRules; 8] = [
    LockRules::MUTEX,
    ADAPTIVE,
    GOMP,
    LockRules::TEST_AND_SET,
    YIELDING,
    LockRules::TICKET,
    LockRules::QUEUED,
    FAIR,
];

/// Threads that take a lock this often, in microseconds outside and inside.
fn sections(threads: u32, count: u32, (outside, inside): (u64, u64), lock: LockRules) -> AppSpec {
    let ops = vec![
        Op::Repeat(count),
        compute(Span::from_us(outside)),
        Op::Lock(LockId(0)),
        compute(Span::from_us(inside)),
        Op::Unlock(LockId(0)),
        Op::End,
    ];
    // How the runtime waits does not matter for locks.
    AppSpec { lock, ..app(threads, ops, WaitMode::Spin) }
}

fn trial(cpus: &'static str, app: AppSpec) -> Trial {
    Trial::on(cpus).under("linux-6.18", &[]).app(app)
}

fn waits(report: &RunReport) -> f64 {
    let counters = report.apps[0].counters;
    counters.lock_wait_ns as f64 / 1e9
}

#[test]
fn a_lock_that_nobody_else_wants_costs_nothing() {
    for lock in ALL {
        let report = trial("core:2", sections(1, 500, (100, 2), lock)).run();
        let time = seconds(&report, 0);
        assert!((0.051..0.0515).contains(&time), "{lock:?}: {time}");
        let counters = report.apps[0].counters;
        assert_eq!((counters.locks, counters.lock_waits, counters.lock_sleeps), (500, 0, 0));
        assert_eq!(report.account().get(Category::LockWait), Span::ZERO);
    }
}

#[test]
fn a_saturated_lock_passes_one_section_after_the_other() {
    // Sixteen threads with a cpu each and 20 us inside after 40 us outside: the lock is the bottleneck.
    for lock in ALL {
        let report = trial("core:16", sections(16, 200, (40, 20), lock)).run();
        let time = seconds(&report, 0);
        let least = 16.0 * 200.0 * 20e-6;
        assert!(time >= least, "{lock:?}: {time} s for {least} s inside the lock");
        // What a hand-over takes: the move of a line and a poll, or a wake-up and an exit from idle.
        let each = (time - least) / 3_200.0;
        let most = if lock.sleeps_after().is_none() { 1e-6 } else { 20e-6 };
        assert!(each < most, "{lock:?}: {each} s between two sections");
        assert_eq!(report.apps[0].counters.locks, 3_200);
    }
}

#[test]
fn a_barging_lock_passes_what_the_running_threads_ask_for() {
    // 102 us of work for each section on two cpus. At most every fiftieth section is cut by the end of a
    // slice of 2.8 ms or more, and costs those that poll a slice of the others.
    for lock in BARGING {
        for threads in [4, 8, 16] {
            let report = trial("core:2", sections(threads, 300, (100, 2), lock)).run();
            let work = f64::from(threads) * 300.0 * 102e-6 / 2.0;
            let time = seconds(&report, 0);
            assert!((work..3.0 * work).contains(&time), "{lock:?}, {threads}: {time} s for {work} s");
        }
    }
}

#[test]
fn a_lock_that_is_handed_over_to_a_thread_without_a_cpu_waits_for_a_slice() {
    // Once two threads have queued for the lock on one cpu, the next one in line is mostly without a cpu, and
    // then both cpus poll to the end of a slice: about one slice of 2.8 ms for two sections.
    let time = |lock| seconds(&trial("core:2", sections(8, 800, (100, 2), lock)).run(), 0);
    let (ticket, barging) = (time(LockRules::TICKET), time(LockRules::TEST_AND_SET));
    assert!(ticket > 3_200.0 * 0.000_7, "{ticket}");
    assert!(ticket > 10.0 * barging, "{ticket} s against {barging} s");
    // Handed over to a sleeper it costs a wake-up, not a slice.
    let fair = time(FAIR);
    assert!(fair < 3.0 * barging, "{fair}");
}

#[test]
fn a_preempted_holder_stops_those_that_poll_and_costs_sleepers_no_cpu_time() {
    // The holder shares its cpu with a hog for 40 ms of work inside the lock: twice as long. The other
    // thread waits on a cpu of its own.
    let run = |lock: LockRules| {
        let mut pair = sections(2, 1, (1, 40_000), lock);
        pair.rank_scale = vec![1_000, 2_000];
        let hog = AppSpec { background: true, ..on_cpu(0, hogs(1, 10_000)) };
        let trial = Trial::on("core:2").under("linux-6.18", &[]).policy("PIN", &[]);
        trial.app(pair).app(hog).run()
    };
    for lock in ALL {
        let report = run(lock);
        let polled = report.account().get(Category::LockWait).ns() as f64 / 1e9;
        let counters = report.apps[0].counters;
        assert_eq!((counters.locks, counters.lock_waits), (2, 1));
        assert!((0.070..0.090).contains(&waits(&report)), "{lock:?}: {} s", waits(&report));
        match lock.wait {
            LockWait::Spin => assert!((polled - waits(&report)).abs() < 1e-5, "{lock:?}: {polled}"),
            LockWait::Yield => assert!(polled > 0.0 && counters.yields > 0, "{lock:?}: {polled}"),
            LockWait::Sleep { .. } => {
                assert!(polled < 1e-3, "{lock:?}: {polled}");
                assert_eq!(counters.lock_sleeps, 1, "{lock:?}");
            }
        }
    }
}

#[test]
fn a_lock_in_order_is_passed_on_in_turn() {
    // Three threads with a cpu each that always want the lock: between two turns of one, each other has one.
    for lock in [LockRules::TICKET, FAIR] {
        let (_, log) = trial("core:4", sections(3, 100, (1, 20), lock)).log();
        let got = |what: &Observation| match what {
            Observation::LockObtained { task, .. } => Some(task.0),
            _ => None,
        };
        let turns: Vec<u32> = log.0.iter().filter_map(|(_, what)| got(what)).collect();
        assert!(turns.len() > 290, "{lock:?}: {}", turns.len());
        let fair = turns[5..turns.len() - 5]
            .windows(3)
            .all(|three| three[0] != three[1] && three[1] != three[2] && three[0] != three[2]);
        assert!(fair, "{lock:?}: {turns:?}");
    }
}

#[test]
fn a_mutex_is_not_handed_over() {
    // Two threads with a cpu each that always want the lock: the releasing thread has it again before the
    // woken one runs, which sleeps again.
    let report = trial("core:2", sections(2, 1_000, (1, 10), LockRules::MUTEX)).run();
    let counters = report.apps[0].counters;
    assert!(counters.lock_sleeps > counters.lock_waits, "{counters:?}");
    assert!(counters.lock_waits < counters.locks / 2, "{counters:?}");
    // Nobody is woken while none sleeps: each sleep was ended by a release.
    assert!(counters.lock_sleeps <= counters.locks, "{counters:?}");
    // Handed over, each section is waited for, and most of them by a sleeper.
    let handed = trial("core:2", sections(2, 1_000, (1, 10), FAIR)).run();
    let counters = handed.apps[0].counters;
    assert!(counters.lock_waits > counters.locks * 9 / 10, "{counters:?}");
    assert!(seconds(&handed, 0) > seconds(&report, 0));
}

#[test]
fn no_wake_up_is_lost() {
    // Every thread ends, whoever sleeps when: with sleeps as long as sections, and sections as short as
    // polls.
    for (outside, inside) in [(0, 1), (1, 1), (2, 3), (5, 1), (1, 7)] {
        for lock in [LockRules::MUTEX, ADAPTIVE, GOMP] {
            for threads in [2, 3, 7] {
                let mut app = sections(threads, 400, (outside, inside), lock);
                app.rank_scale = (0..threads).map(|rank| 1_000 + 37 * rank).collect();
                let report = trial("core:2", app).run();
                assert_eq!(report.apps[0].counters.locks, u64::from(threads) * 400, "{lock:?}");
            }
        }
    }
}

#[test]
fn the_runtime_s_wait_mode_does_not_concern_locks() {
    let time = |wait| {
        let mut app = sections(8, 100, (100, 2), LockRules::MUTEX);
        app.runtime.wait = wait;
        trial("core:2", app).seconds()
    };
    assert_eq!(time(WaitMode::Spin).to_bits(), time(WaitMode::Block).to_bits());
    assert_eq!(time(WaitMode::Spin).to_bits(), time(WaitMode::Yield).to_bits());
}

#[test]
fn the_one_that_is_free_to_run_takes_a_lock_from_the_one_that_is_not() {
    // Three nice levels and a lock: the middle one, which never takes it, keeps the holder from its cpu.
    let nice = |lock: LockRules| {
        let mut pair = on_cpu(0, sections(2, 20, (50, 1_000), lock));
        pair.rank_weights = vec![88_761, 15];
        let middle = AppSpec { background: true, ..on_cpu(0, hogs(1, 100_000)) };
        let alone = trial("core:2", pair.clone()).seconds();
        let beside = trial("core:2", pair).app(middle).seconds();
        (alone, beside)
    };
    let (alone, beside) = nice(LockRules::MUTEX);
    // The low one needs its 20 ms of work at 15 of 1,039 shares while the high one waits for it or has ended.
    assert!(beside > 20.0 * alone, "{beside} s beside a program of the middle, {alone} s without it");
}

/// Time per section in nanoseconds of threads with a cpu each that always want the lock, with cache lines
/// that take this long from one core to another.
fn hand_over(threads: u32, (line, inside): (u64, u64), lock: LockRules) -> f64 {
    const SECTIONS: u32 = 2_000;
    let ops = vec![
        Op::Repeat(SECTIONS),
        compute(Span::from_ns(100)),
        Op::Lock(LockId(0)),
        compute(Span::from_ns(inside)),
        Op::Unlock(LockId(0)),
        Op::End,
    ];
    let app = AppSpec { lock, ..app(threads, ops, WaitMode::Spin) };
    let mut trial = trial("core:16", app).policy("PIN", &[]);
    trial.machine.costs.line = [1, line, line, line, line].map(Span::from_ns);
    trial.machine.costs.poll = Span::from_ns(5);
    let report = trial.run();
    assert_eq!(report.apps[0].counters.locks, u64::from(threads * SECTIONS));
    seconds(&report, 0) * 1e9 / f64::from(threads * SECTIONS)
}

#[test]
fn a_lock_that_all_poll_costs_a_move_of_its_line_for_each_poller() {
    // Anderson 1990, Boyd-Wickizer and others 2012: each release sends the line of a test-and-set lock
    // round all pollers. Of a ticket lock the next holder sees it after half of the round, but its own
    // release waits for the other half if the section is short.
    for line in [50, 100] {
        let cost = |threads, lock| hand_over(threads, (line, 50), lock) - 50.0;
        let slope = |lock| (cost(16, lock) - cost(8, lock)) / 8.0 / line as f64;
        let all = slope(LockRules::TEST_AND_SET);
        assert!((0.3..1.1).contains(&all), "test-and-set: {all} moves for each poller more");
        let ticket = slope(LockRules::TICKET);
        assert!((0.4..1.2).contains(&ticket), "ticket: {ticket} moves for each poller more");
        // Mellor-Crummey, Scott 1991: a constant number of remote references for each section.
        let own = slope(LockRules::QUEUED);
        assert!(own.abs() < 0.1, "queued: {own} moves for each poller more");
        assert!(cost(16, LockRules::QUEUED) < 3.0 * line as f64 + 20.0);
    }
}

#[test]
fn threads_that_sleep_leave_the_line_of_a_lock_alone() {
    // With more work inside than the line takes round all pollers, they do not delay the holder.
    for lock in [LockRules::TEST_AND_SET, LockRules::TICKET, LockRules::QUEUED] {
        let long = hand_over(16, (50, 20_000), lock);
        assert!((20_000.0..20_000.0 + 16.0 * 2.0 * 50.0).contains(&long), "{lock:?}: {long} ns");
    }
    // Short sections behind little work: the sleepers of a mutex do not count.
    let [few, many] = [4, 16].map(|threads| hand_over(threads, (100, 50), LockRules::MUTEX));
    let [few_poll, many_poll] = [4, 16].map(|threads| hand_over(threads, (100, 50), LockRules::TEST_AND_SET));
    assert!(
        many / few < many_poll / few_poll / 1.5,
        "mutex {few} to {many} ns, polled {few_poll} to {many_poll} ns"
    );
    assert!(many < many_poll, "mutex {many} ns, polled {many_poll} ns");
}
