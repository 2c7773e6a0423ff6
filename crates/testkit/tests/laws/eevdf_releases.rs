//! EEVDF of Linux 6.6 to 7.1: what differs between releases, each worked out on paper and gone where its rule
//! is switched.

use sim_core::observe::Observation;
use sim_core::program::{Op, Spread};
use sim_core::time::Span;
use sim_core::wait::WaitMode;

use crate::support::{Log, MS, Setting, Trial, app, compute, hogs, on_cpu};

/// Eight cpus: the kernel multiplies its slice by four.
const EIGHT: &str = "package:1 core:8";
const EXACT_TICKS: Setting = ("tick_jitter", 0);
const HZ_1000: Setting = ("tick", MS);
const DEADLINE: u64 = 1;

/// The lengths of the turns of two hogs, in ns, when those of the start are over.
fn turns(kernel: &str, settings: &[Setting]) -> Vec<u64> {
    let trial = Trial::on(EIGHT).booted(kernel, settings).free().app(on_cpu(0, hogs(2, 2_000)));
    let (_, log) = trial.until(1_000).log();
    let turns = log.turns(0);
    assert!(turns.windows(2).all(|pair| pair[0].task != pair[1].task));
    turns.iter().skip(4).map(|turn| turn.length.ns()).collect()
}

/// A slice of 3 ms is not yet used up at a third tick that comes a moment early, so a turn has four; one of
/// 2.8 ms is. At 250 Hz both end at the first tick.
#[test]
fn slices_of_3_ms_take_four_ticks_of_1000_hz_and_slices_of_2_8_ms_three() {
    // A tick later than the one before makes its turn longer, the next one shorter: by the median.
    let median = |kernel: &str, settings: &[Setting]| {
        let mut turns = turns(kernel, settings);
        turns.sort_unstable();
        turns[turns.len() / 2].div_ceil(MS / 2) / 2
    };
    for (kernel, settings, ticks) in [
        ("linux-6.6", [HZ_1000, ("slice", 0)], 4),
        ("linux-6.6", [HZ_1000, ("base_slice", 700_000)], 3),
        ("linux-6.12.65", [HZ_1000, ("slice", 0)], 3),
        ("linux-6.12.65", [HZ_1000, ("base_slice", 750_000)], 4),
        ("linux-6.6", [("slice", 0), ("base_slice", 750_000)], 4),
        ("linux-6.18", [("slice", 0), ("base_slice", 700_000)], 4),
    ] {
        assert_eq!(median(kernel, &settings), ticks, "{kernel} {settings:?}");
    }
}

/// What of cpu 0 a hog gets beside a task that polls and yields, of which rank 1 computes on cpu 1.
fn hog_beside_yielder(kernel: &str, settings: &[Setting]) -> (f64, Log) {
    let mut team = app(2, vec![compute(Span::from_ms(100)), Op::Barrier], WaitMode::Yield);
    team.rank_scale = vec![1, 100_000];
    team.background = true;
    let trial = Trial::on(EIGHT).booted(kernel, settings).placed([0, 1]);
    let trial = trial.policy("LOAD", &[("periodic", 0), ("newidle", 2), ("active", 0)]);
    let (report, log) = trial.app(team).app(on_cpu(0, hogs(1, 100_000))).until(4_000).log();
    assert!(report.events < 60_000, "{} events", report.events);
    (report.apps[1].task_cpu[0].ns() as f64 / 4e9, log)
}

/// Where a yield moves the deadline, the virtual runtime stays: the yielder is the only eligible task until
/// it has used its half. Where a yield forfeits a slice, it polls once a slice.
#[test]
fn a_yield_that_moves_the_deadline_burns_half_of_the_cpu_beside_a_hog() {
    for kernel in ["linux-6.6", "linux-6.12.0", "linux-6.18.0"] {
        let (share, log) = hog_beside_yielder(kernel, &[]);
        assert!((share - 0.5).abs() < 0.01, "{kernel}: {share}");
        // In turns of one or two ticks, not of a poll.
        let turns = log.turns(0).len();
        assert!((400..1_200).contains(&turns), "{kernel}: {turns}");
        let (share, _) = hog_beside_yielder(kernel, &[("yield", 0)]);
        assert!(share > 0.997, "{kernel}: {share}");
    }
    for kernel in ["linux-6.12.65", "linux-6.18", "linux-6.19"] {
        let (share, _) = hog_beside_yielder(kernel, &[]);
        assert!(share > 0.997, "{kernel}: {share}");
        let (share, _) = hog_beside_yielder(kernel, &[("yield", DEADLINE)]);
        assert!((share - 0.5).abs() < 0.01, "{kernel}: {share}");
    }
}

/// A timer ends each request of 2.8 ms; without it that is left to the tick of 4 ms.
#[test]
fn a_timer_of_its_own_ends_turns_when_the_slice_is_used_up() {
    let late = turns("linux-7.1", &[EXACT_TICKS]);
    assert!(late.len() > 340 && late.iter().all(|ns| *ns == 2_800_000), "{late:?}");
    assert!(turns("linux-7.1", &[EXACT_TICKS, ("hrtick", 0)]).iter().all(|ns| *ns == 4 * MS));
    // Tasks that spin at barriers get out of step by turns: an iteration takes one of the other task.
    let iteration = |settings: &[Setting]| {
        let ops = vec![Op::Repeat(200), compute(Span::from_us(20)), Op::Barrier, Op::End];
        let mut team = on_cpu(0, app(2, ops, WaitMode::Spin));
        team.start = sim_core::time::Time::from_ns(1_300_000);
        Trial::on(EIGHT).booted("linux-7.1", settings).app(team).seconds() * 1e3 / 200.0
    };
    let (timer, tick) = (iteration(&[EXACT_TICKS]), iteration(&[EXACT_TICKS, ("hrtick", 0)]));
    assert!((timer / 2.8 - 1.0).abs() < 0.05 && (tick / 4.0 - 1.0).abs() < 0.05, "{timer} ms, {tick} ms");
    // A timer that comes a little late lets the same task win again now and then, which then runs up to a tick.
    let late = iteration(&[]);
    assert!(timer < late && late < tick, "{timer} ms, {late} ms, {tick} ms");
}

/// How long a task of short slices waits after its timer until it runs beside two hogs of long ones, in ns.
/// It sleeps so long that it no longer competes as a delayed task when a hog is picked, which would shorten
/// the protection of that one.
fn delays(kernel: &str, settings: &[Setting]) -> Vec<u64> {
    let nap = Op::Sleep { span: Span::from_us(130_700), spread: Spread::NONE };
    let ops = vec![Op::Repeat(80), nap, compute(Span::from_us(50)), Op::End];
    let mut short = on_cpu(0, app(1, ops, WaitMode::Block));
    short.slice = Some(Span::from_us(500));
    let mut long = on_cpu(0, hogs(2, 100_000));
    (long.background, long.slice) = (true, Some(Span::from_ms(50)));
    let (_, log) = Trial::on(EIGHT).booted(kernel, settings).app(short).app(long).log();
    let (mut woken, mut delays) = (None, Vec::new());
    for (at, what) in &log.0 {
        match what {
            Observation::Runnable { task, .. } if task.0 == 0 => woken = Some(*at),
            Observation::Running { task, .. } if task.0 == 0 => {
                delays.extend(woken.take().map(|woken| (*at - woken).ns()));
            }
            _ => {}
        }
    }
    delays.split_off(10)
}

/// A task that has slept for long has its share, so it is eligible when it wakes, and its deadline is 0.5 ms
/// away. Only the protection of the current task holds it up: to the end of its request of 50 ms, or
/// of the shortest one since 6.17, and the tick.
#[test]
fn a_short_slice_preempts_a_long_one_at_once() {
    for kernel in ["linux-6.12.0", "linux-6.12.65", "linux-6.18", "linux-7.1"] {
        let with = delays(kernel, &[]);
        let soon = with.iter().filter(|ns| **ns < 20_000).count();
        assert!(soon * 10 >= with.len() * 9, "{kernel}: {with:?}");
        let without = delays(kernel, &[("preempt_short", 0)]);
        let soon = without.iter().filter(|ns| **ns < 20_000).count();
        assert!(soon * 10 <= without.len() * 6, "{kernel}: {without:?}");
        let mean = without.iter().sum::<u64>() / without.len() as u64;
        assert!(mean > MS, "{kernel}: {mean} ns");
    }
}

/// Five tasks of short slices that wake each 0.5 ms beside five that compute for 100 ms at a time: the mean
/// delay of the former in us, and the switches of the latter.
fn short_beside_long(settings: &[Setting]) -> (u64, u64) {
    let nap = |us: u64| Op::Sleep { span: Span::from_us(us), spread: Spread::NONE };
    let ops = vec![Op::Repeat(0), nap(500), compute(Span::from_us(40)), Op::End];
    let mut short = on_cpu(0, app(5, ops, WaitMode::Block));
    (short.slice, short.background) = (Some(Span::from_us(500)), true);
    let ops = vec![Op::Repeat(0), compute(Span::from_ms(100)), nap(10_000), Op::End];
    let mut long = on_cpu(0, app(5, ops, WaitMode::Block));
    long.background = true;
    let trial = Trial::on(EIGHT).booted("linux-6.12.0", settings).app(short).app(long);
    let (report, log) = trial.app(on_cpu(1, hogs(1, 100_000))).until(10_000).log();
    let (mut woken, mut sum, mut count) = ([None; 5], 0, 0);
    for (at, what) in &log.0 {
        match what {
            Observation::Runnable { task, .. } if task.0 < 5 => woken[task.0 as usize] = Some(*at),
            Observation::Running { task, .. } if task.0 < 5 => {
                if let Some(woken) = woken[task.0 as usize].take() {
                    (sum, count) = (sum + (*at - woken).ns(), count + 1);
                }
            }
            _ => {}
        }
    }
    (sum / count / 1_000, report.apps[1].counters.involuntary_switches)
}

/// The table of commit 85e511df3cec: the short ones wait less, and the long ones are switched more often.
#[test]
fn short_slices_beside_bursts_wait_less_and_cost_the_bursts_switches() {
    let (with, without) = (short_beside_long(&[]), short_beside_long(&[("preempt_short", 0)]));
    println!("{with:?} with, {without:?} without");
    assert!(with.0 * 100 < without.0 * 97, "{with:?} with, {without:?} without");
    assert!(with.1 > without.1, "{with:?} with, {without:?} without");
}

/// A thousand polls have moved the deadline a thousand slices of 2.8 ms away. A task is protected and asks
/// for no other pick up to its deadline, so that one that then computes for 2 s keeps the cpu, although
/// others wait and it is ahead of its share. Where a yield forfeits, it has its turns.
#[test]
fn who_has_yielded_often_keeps_the_cpu_up_to_a_far_deadline() {
    let longest = |kernel: &str, settings: &[Setting]| {
        let ops = vec![Op::Repeat(1_000), Op::Yield, Op::End, compute(Span::from_ms(2_000))];
        let trial = Trial::on(EIGHT).booted(kernel, settings);
        let trial = trial.app(on_cpu(0, app(1, ops, WaitMode::Spin))).app(on_cpu(0, hogs(1, 20_000)));
        let (_, log) = trial.until(6_000).log();
        log.turns(0).iter().filter(|turn| turn.task.0 == 0).map(|turn| turn.length.ns()).max().unwrap_or(0)
    };
    for kernel in ["linux-6.6", "linux-6.12.0", "linux-6.18.0"] {
        let (pushed, forfeited) = (longest(kernel, &[]), longest(kernel, &[("yield", 0)]));
        assert!(pushed > 1_900 * MS, "{kernel}: {pushed} ns");
        assert!(forfeited < 10 * MS, "{kernel}: {forfeited} ns");
    }
}
