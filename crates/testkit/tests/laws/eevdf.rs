//! The kernel of today (Linux 6.18): what spinning, blocking and yielding cost beside others, and who waits
//! for the tick. The expected numbers were measured on a virtual machine of two cpus at 250 Hz, or follow
//! from its tick and slice.

use sim_core::account::Category;
use sim_core::observe::Observation;
use sim_core::program::{AppSpec, Op, Spread};
use sim_core::time::{Span, Time};
use sim_core::wait::WaitMode;

use crate::support::{MS, Setting, Trial, app, compute, hogs, on_cpu, seconds};

/// Two cpus: a slice of 1.4 ms, a tick of 4 ms.
const TWO: &str = "package:1 core:2";
const SLICE_MS: f64 = 1.4;
const EXACT_TICKS: Setting = ("tick_jitter", 0);

fn modern(settings: &[Setting]) -> Trial {
    Trial::on(TWO).booted("linux-6.18", settings)
}

/// Started on the grid of the ticks itself, two tasks that alternate would be within 10 us of each other
/// after every turn, and one of them now and then behind although it has just run.
const OFF_GRID: Time = Time::from_ns(1_300_000);

/// Tasks of equal work that meet at a barrier this many times, on cpu 0.
fn team(tasks: u32, work: Span, barriers: u32, wait: WaitMode) -> AppSpec {
    let ops = vec![Op::Repeat(barriers), compute(work), Op::Barrier, Op::End];
    let mut team = on_cpu(0, app(tasks, ops, wait));
    team.start = OFF_GRID;
    team
}

fn background(mut app: AppSpec) -> AppSpec {
    app.background = true;
    app
}

#[test]
fn two_hogs_alternate_at_every_tick() {
    let (_, log) = modern(&[EXACT_TICKS]).free().app(on_cpu(0, hogs(2, 2_000))).until(2_000).log();
    let turns = log.turns(0);
    let late: Vec<u64> = turns.iter().skip(4).map(|turn| turn.length.ns()).collect();
    assert!(late.len() > 480, "{} turns", late.len());
    assert!(late.iter().all(|ns| *ns == 4 * MS), "{late:?}");
    assert!(turns.windows(2).all(|pair| pair[0].task != pair[1].task));
    // A tick late by up to 10 us moves the ends of turns, not their number.
    let mut team = on_cpu(0, hogs(2, 2_000));
    team.start = OFF_GRID;
    let (_, log) = modern(&[]).free().app(team).until(2_000).log();
    let lengths: Vec<u64> = log.turns(0).iter().skip(4).map(|turn| turn.length.ns()).collect();
    assert!(lengths.iter().all(|ns| ns.abs_diff(4 * MS) <= 10_000), "{lengths:?}");
    assert!(lengths.iter().any(|ns| *ns != 4 * MS), "{lengths:?}");
}

#[test]
fn hogs_share_by_weight() {
    let mut nice = on_cpu(0, hogs(1, 60_000));
    nice.weight = 335;
    let report = modern(&[]).app(on_cpu(0, hogs(1, 60_000))).app(nice).until(20_000).run();
    let used = [0, 1].map(|app| report.apps[app].task_cpu[0].ns() as f64);
    let share = used[0] / (used[0] + used[1]);
    // nice 0 against nice 5: 1024 : 335.
    assert!((share - 1_024.0 / 1_359.0).abs() < 0.005, "{share}");
}

#[test]
fn an_iteration_of_spinning_tasks_takes_a_tick_for_each_other() {
    for n in [2, 3, 4] {
        let team = team(n, Span::from_us(20), 200, WaitMode::Spin);
        let ms = modern(&[]).app(team).seconds() * 1e3 / 200.0;
        let expected = 4.0 * f64::from(n - 1);
        assert!((ms / expected - 1.0).abs() < 0.05, "{n} tasks: {ms} ms, not {expected}");
    }
}

#[test]
fn spinning_before_blocking_costs_the_spin_for_each_other() {
    // n tasks of 100 us each: their work, and one spin of 0.5 ms for each but the last.
    for n in [2, 3, 4] {
        let wait = WaitMode::SpinThenBlock { limit: Span::from_us(500), yielding: false };
        let us = modern(&[]).app(team(n, Span::from_us(100), 200, wait)).seconds() * 1e6 / 200.0;
        let expected = f64::from(n) * 100.0 + f64::from(n - 1) * 500.0;
        assert!((us / expected - 1.0).abs() < 0.1, "{n} tasks: {us} us, not {expected}");
    }
}

/// Yields a second of this many tasks that only yield beside this many hogs, and the share of the core the
/// hogs lose.
fn beside_hogs(yielders: u32, hogs_beside: u32) -> (f64, f64) {
    let yielding = on_cpu(0, app(yielders, vec![Op::Repeat(0), Op::Yield, Op::End], WaitMode::Spin));
    let trial =
        modern(&[]).app(background(yielding)).app(on_cpu(0, hogs(hogs_beside, 100_000))).until(10_000);
    let report = trial.run();
    let hogs: u64 = report.apps[1].task_cpu.iter().map(|span| span.ns()).sum();
    (report.apps[0].counters.yields as f64 / 10.0, 1.0 - hogs as f64 / 1e10)
}

#[test]
fn a_yield_beside_computing_tasks_costs_a_slice() {
    let one = 1_000.0 / SLICE_MS;
    for (yielders, hogs, expected) in [(1, 1, one), (1, 3, one / 3.0), (2, 1, 2.0 * one)] {
        let (yields, lost) = beside_hogs(yielders, hogs);
        assert!((yields / expected - 1.0).abs() < 0.05, "{yielders} + {hogs}: {yields} a second");
        assert!(lost < 0.0035, "{yielders} + {hogs}: the hogs lose {lost}");
    }
}

#[test]
fn yielders_among_themselves_take_turns_at_every_yield() {
    for n in [2, 3, 5] {
        let mut team = team(n + 1, Span::from_ms(500), 1, WaitMode::Yield);
        // The last rank computes on the other cpu, the others wait for it.
        team.allowed = None;
        team.rank_scale = (0..=n).map(|rank| if rank == n { 1_000 } else { 1 }).collect();
        let placed = (0..=n).map(|rank| u32::from(rank == n));
        let trial = modern(&[]).policy("LOAD", &[("periodic", 0), ("newidle", 2), ("active", 0)]);
        let trial = trial.placed(placed).app(team);
        let costs = trial.machine.costs.clone();
        let (report, log) = trial.log();
        let mut sum = (0, 0);
        for (_, what) in &log.0 {
            if let Observation::Polled { cpu, polls, switches } = what
                && cpu.0 == 0
            {
                sum = (sum.0 + polls, sum.1 + switches);
            }
        }
        let (polls, switches) = sum;
        let cycle = (costs.poll + costs.yield_call + costs.switch_thread).ns();
        assert!(polls.abs_diff(500 * MS / cycle) <= polls / 50, "{n}: {polls} polls");
        assert!(polls - switches <= polls / 50, "{n}: {switches} switches of {polls} polls");
        assert!(report.events < 2_000, "{n}: {} events", report.events);
        assert!(report.cpus[0].get(Category::Switch) >= costs.switch_thread * switches);
    }
}

/// A delayed task that wakes keeps its place beside the virtual time that its waker had when it was picked.
/// The waker, brought up to date only then, is ahead of the mean and loses the cpu, unless the sleeper had
/// used more time up to its sleep than its waker up to the wake-up. Each barrier takes a wake-up and a sleep.
#[test]
fn a_woken_thread_often_preempts_its_waker_at_barriers_of_two() {
    let trial = modern(&[]);
    let costs = trial.machine.costs.clone();
    let ops = vec![Op::Repeat(10_000), compute(Span::from_ns(1)), Op::Exchange { shift: 1 }, Op::End];
    let report = trial.app(on_cpu(0, app(2, ops, WaitMode::Block))).run();
    let us = seconds(&report, 0) * 1e6 / 10_000.0;
    let preempted = report.apps[0].counters.involuntary_switches as f64 / 10_000.0;
    // Counted with Linux 6.18.44 on an EPYC, whose costs differ: 0.73 involuntary switches for each barrier.
    assert!((0.45..0.85).contains(&preempted), "{preempted}");
    let switches = costs.switch_thread.ns() as f64 * (1.0 + preempted);
    let parts = (costs.wake + costs.sleep + costs.poll * 3).ns() as f64 + switches;
    assert!((us * 1e3 - parts).abs() < 200.0, "{us} us, not {parts} ns");
}

/// Wake-ups of a task that computes for `work` and sleeps for `pause`, beside a hog: when it was woken, when
/// it ran.
fn wake_ups(work: Span, pause: Span, settings: &[Setting]) -> Vec<(u64, u64)> {
    let ops = vec![Op::Repeat(400), Op::Sleep { span: pause, spread: Spread::NONE }, compute(work), Op::End];
    let sleeper = on_cpu(0, app(1, ops, WaitMode::Block));
    let (_, log) = modern(settings).app(sleeper).app(background(on_cpu(0, hogs(1, 100_000)))).log();
    let (mut woken, mut found) = (None, Vec::new());
    for (at, what) in &log.0 {
        match what {
            Observation::Runnable { task, .. } if task.0 == 0 => woken = Some(at.ns()),
            Observation::Running { task, .. } if task.0 == 0 => {
                found.extend(woken.take().map(|woken| (woken, at.ns())));
            }
            _ => {}
        }
    }
    found.split_off(20)
}

const SOON: u64 = 20_000;

#[test]
fn who_sleeps_most_of_the_time_preempts_at_once() {
    let wakes = wake_ups(Span::from_us(50), Span::from_us(10_300), &[]);
    let soon = wakes.iter().filter(|(woken, ran)| ran - woken < SOON).count();
    assert!(soon * 100 > wakes.len() * 95, "{soon} of {}", wakes.len());
}

#[test]
fn who_has_used_its_share_waits_for_the_tick() {
    // It wants 95 % of a cpu of which it is entitled to half.
    let wakes = wake_ups(Span::from_us(1_900), Span::from_us(100), &[]);
    let late: Vec<_> = wakes.iter().filter(|(woken, ran)| ran - woken >= SOON).collect();
    assert!(late.len() * 2 > wakes.len(), "{} of {}", late.len(), wakes.len());
    // The tick, late by up to 10 us, and the switch.
    assert!(late.iter().all(|(_, ran)| ran % (4 * MS) < 12_000), "{late:?}");
    assert!(late.iter().all(|(woken, ran)| ran - woken < 4 * MS + 12_000), "{late:?}");
}

/// Seconds of four tasks on two cpus, with a barrier after each 0.3 ms, beside a hog on each cpu, for starts
/// at eight places between two ticks.
fn blocking_beside_hogs(wait: WaitMode, settings: &[Setting]) -> [f64; 8] {
    std::array::from_fn(|at| {
        let mut team = team(4, Span::from_us(300), 400, wait);
        team.allowed = None;
        team.start = Time::from_ns(at as u64 * MS / 2 + 130_000);
        modern(settings).policy("PIN", &[]).app(team).app(background(hogs(2, 1_000_000))).seconds()
    })
}

#[test]
fn each_rule_counts_for_programs_that_block_beside_others() {
    let spin = WaitMode::SpinThenBlock { limit: Span::from_us(200), yielding: false };
    let plain = blocking_beside_hogs(spin, &[]);
    // Either way, by the start: such programs fall into step with the ticks. Protection matters least, as a
    // tick is longer than either slice.
    for (rule, least) in [("delayed_dequeue", 0.05), ("run_to_parity", 0.002)] {
        let without = blocking_beside_hogs(spin, &[(rule, 0)]);
        let changed = plain.iter().zip(&without).map(|(with, without)| (without / with - 1.0).abs());
        let mean = changed.sum::<f64>() / 8.0;
        assert!(mean > least, "{rule}: {plain:?} s with, {without:?} s without");
    }
    // A task that sleeps keeps its lag; without that it would lose it at every wake-up.
    for wait in [spin, WaitMode::Block] {
        let sum = |settings: &[Setting]| blocking_beside_hogs(wait, settings).iter().sum::<f64>();
        let ratio = sum(&[("place_lag", 0)]) / sum(&[]);
        assert!(ratio > 1.1, "{wait:?}: {ratio}");
    }
}

#[test]
fn the_rules_do_not_matter_to_a_program_alone() {
    let time = |rule: &[Setting]| {
        let wait = WaitMode::SpinThenBlock { limit: Span::from_us(200), yielding: false };
        modern(rule).app(team(4, Span::from_us(100), 400, wait)).seconds()
    };
    let plain = time(&[]);
    for rule in ["delayed_dequeue", "place_lag", "run_to_parity"] {
        let without = time(&[(rule, 0)]);
        assert!((without / plain - 1.0).abs() < 0.05, "{rule}: {plain} s with, {without} s without");
    }
}

#[test]
fn bands_come_before_deadlines() {
    // Two gangs of two hogs on two cpus: turns of a slot of 100 ms, not of a tick.
    let (_, log) = modern(&[]).policy("gang", &[]).app(hogs(2, 900)).app(hogs(2, 900)).log();
    let lengths: Vec<u64> = log.turns(0).iter().map(|turn| turn.length.ns() / MS).collect();
    assert!(lengths.len() >= 18 && lengths[..18].iter().all(|ms| *ms == 100), "{lengths:?}");
}
