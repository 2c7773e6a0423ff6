//! Lazy preemption: how long a woken task waits until it runs beside tasks that compute, worked out on paper.

use sim_core::observe::Observation;
use sim_core::program::{AppSpec, Op, Scheduling, Spread};
use sim_core::time::Span;
use sim_core::wait::WaitMode;

use crate::support::{MS, Setting, Trial, app, compute, on_cpu};

/// Eight cores that share a cache.
const SHARED: &str = "package:1 cache:1 core:8";
/// The same without a level that names the cache.
const UNNAMED: &str = "core:8";
/// Eight cores that share none.
const APART: &str = "package:1 cache:8 core:1";
const EXACT_TICKS: Setting = ("tick_jitter", 0);
const LAZY: Setting = ("preemption", 3);

/// A program that computes for ever on cpu 0, in requests of 50 ms: it is never in the way of a shorter one,
/// whatever its protection.
fn beside(tasks: u32, ops: Vec<Op>) -> AppSpec {
    let mut hogs = on_cpu(0, app(tasks, ops, WaitMode::Spin));
    (hogs.background, hogs.slice) = (true, Some(Span::from_ms(50)));
    hogs
}

fn spinning(tasks: u32) -> AppSpec {
    beside(tasks, vec![compute(Span::from_ms(100_000))])
}

/// How long rank 0 of a team waits on cpu 0 each time that rank 1 has woken it from cpu 1, in ns, and
/// where within a tick it begins to run.
fn woken_on(machine: &str, kernel: (&str, &[Setting]), others: AppSpec) -> Vec<(u64, u64)> {
    // No divisor of a tick, so that wake-ups come anywhere within one.
    let ops = vec![Op::Repeat(400), compute(Span::from_us(7_130)), Op::Barrier, Op::End];
    let mut team = app(2, ops, WaitMode::Block);
    (team.rank_scale, team.slice) = (vec![5, 1_000], Some(Span::from_us(500)));
    team.allowed = None;
    let settings: Vec<Setting> = kernel.1.iter().copied().chain([EXACT_TICKS]).collect();
    let trial = Trial::on(machine).booted(kernel.0, &settings).free().placed([0, 1]);
    let trial = trial.policy("PIN", &[]);
    let (_, log) = trial.app(team).app(others).log();
    waits(&log.0)
}

/// How long task 0 was runnable each time before it ran, and where within a tick of 4 ms it began to run.
fn waits(log: &[(sim_core::time::Time, Observation)]) -> Vec<(u64, u64)> {
    let (mut woken, mut waits) = (None, Vec::new());
    for (at, what) in log {
        match what {
            Observation::Runnable { task, .. } if task.0 == 0 => woken = Some(*at),
            Observation::Running { task, .. } if task.0 == 0 => {
                let wait = |woken| ((*at - woken).ns(), at.ns() % (4 * MS));
                waits.extend(woken.take().map(wait));
            }
            _ => {}
        }
    }
    waits.split_off(10)
}

/// The mean in us.
fn mean(waits: &[(u64, u64)]) -> u64 {
    waits.iter().map(|(wait, _)| wait).sum::<u64>() / waits.len() as u64 / 1_000
}

/// Nine of ten begin within 20 us.
fn at_once(waits: &[(u64, u64)]) -> bool {
    waits.iter().filter(|(wait, _)| *wait < 20_000).count() * 10 >= waits.len() * 9
}

/// All begin at a tick (an instruction takes 1 ns where overhead costs nothing), and wait for half of one on average.
fn at_ticks(waits: &[(u64, u64)]) -> bool {
    let exact = waits.iter().all(|(wait, phase)| *phase <= 10 && *wait <= 4 * MS);
    exact && (1_600..2_400).contains(&mean(waits))
}

/// A wake-up from another cpu of the cache sends no interrupt: the woken task waits for the tick of the
/// computing one, for half of a tick on average. Under the other models it runs at once.
#[test]
fn a_task_woken_from_another_cpu_waits_for_the_tick() {
    for model in 0..3 {
        let waits = woken_on(SHARED, ("linux-6.18", &[("preemption", model)]), spinning(1));
        assert!(at_once(&waits), "model {model}: {waits:?}");
    }
    for kernel in ["linux-6.18", "linux-6.19"] {
        let waits = woken_on(SHARED, (kernel, &[LAZY]), spinning(1));
        assert!(at_ticks(&waits), "{kernel}: {waits:?}");
    }
}

/// A cpu of another cache hands the task over by an interrupt (`ttwu_queue_wakelist`), and the cpu acts on its
/// way back to user mode.
#[test]
fn a_task_woken_from_another_cache_runs_at_once() {
    let far = woken_on(APART, ("linux-6.18", &[LAZY]), spinning(1));
    assert!(at_once(&far), "{far:?}");
    for near in [SHARED, UNNAMED] {
        let waits = woken_on(near, ("linux-6.18", &[LAZY]), spinning(1));
        assert!(at_ticks(&waits), "{near}: {waits:?}");
    }
}

/// Under 7.1 the first rival of a computing task starts the timer that ends requests, by an interrupt. Where
/// two compute, that timer runs already.
#[test]
fn the_first_rival_interrupts_where_a_timer_ends_requests() {
    assert!(at_once(&woken_on(SHARED, ("linux-7.1", &[]), spinning(1))));
    assert!(at_ticks(&woken_on(SHARED, ("linux-7.1", &[("hrtick", 0)]), spinning(1))));
    // A request that ends meanwhile is soon enough, too.
    let two = woken_on(SHARED, ("linux-7.1", &[]), spinning(2));
    let ticks = two.iter().filter(|(_, phase)| *phase <= 10).count();
    assert!(ticks * 10 >= two.len() * 8 && two.iter().all(|(wait, _)| *wait <= 4 * MS), "{two:?}");
    let full = woken_on(SHARED, ("linux-7.1", &[("preemption", 2)]), spinning(2));
    assert!(at_once(&full), "{full:?}");
}

/// The current task makes a system call each 100 us, and gives up the cpu at its end.
#[test]
fn a_system_call_of_the_current_task_is_soon_enough() {
    let ops = vec![Op::Repeat(0), compute(Span::from_us(100)), Op::Yield, Op::End];
    let waits = woken_on(SHARED, ("linux-6.18", &[LAZY]), beside(1, ops));
    let most = waits.iter().map(|(wait, _)| *wait).max();
    assert!(most.is_some_and(|most| most <= 200_000) && !at_once(&waits), "{waits:?}");
}

/// The timer of a sleeping task interrupts the cpu on which it fell asleep: it runs there at once.
#[test]
fn a_timer_of_the_cpu_itself_is_an_interrupt() {
    let nap = Op::Sleep { span: Span::from_us(30_700), spread: Spread::NONE };
    let mut short =
        on_cpu(0, app(1, vec![Op::Repeat(80), nap, compute(Span::from_us(50)), Op::End], WaitMode::Block));
    short.slice = Some(Span::from_us(500));
    let trial = Trial::on(SHARED).booted("linux-6.18", &[LAZY]).free().app(short).app(spinning(1));
    let waits = waits(&trial.log().1.0);
    assert!(at_once(&waits), "{waits:?}");
}

/// Tasks of the real-time class, and tasks of a cpu that is idle, wait for nobody.
#[test]
fn real_time_tasks_and_idle_cpus_are_not_lazy() {
    let nobody = on_cpu(7, spinning(1));
    assert!(at_once(&woken_on(SHARED, ("linux-6.18", &[LAZY]), nobody)));
    let mut team =
        app(2, vec![Op::Repeat(100), compute(Span::from_us(7_130)), Op::Barrier, Op::End], WaitMode::Block);
    (team.rank_scale, team.scheduling) = (vec![5, 1_000], Scheduling::Fifo(10));
    let trial = Trial::on(SHARED).booted("linux-6.18", &[LAZY]).free().placed([0, 1]).policy("PIN", &[]);
    let waits = waits(&trial.app(team).app(spinning(1)).log().1.0);
    assert!(at_once(&waits), "{waits:?}");
}
