//! Measures run lengths, yields, switches and sleeps: what happens on one cpu.

use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering::SeqCst};
use std::time::Duration;

use rustix::process::setpriority_process;
use rustix::thread::{futex, sched_yield};
use sim_core::rng::{Purpose, draw, key};

use super::bench::Bench;
use crate::barrier::{Polls, Wait};
use crate::parent::run;
use crate::plan::{Program, Step, Thread};
use crate::statistics::median;
use crate::work::{now, together};

/// An interruption of this length is the run of another thread, no timer interrupt: 0.3 ms.
const INTERRUPTED: u64 = 300_000;
/// Length of a measurement of run lengths.
const WINDOW: u64 = 60_000_000;

/// Length of the runs of two threads that compute on one cpu, ns.
pub(super) fn run_length(bench: &Bench) -> Result<f64, String> {
    let cpu = bench.first();
    let gaps = |_: usize| {
        let mut gaps = Vec::new();
        let begin = now();
        let mut last = begin;
        while last < begin + WINDOW {
            let next = now();
            if next - last > INTERRUPTED {
                gaps.push((next - last) as f64);
            }
            last = next;
        }
        gaps
    };
    let mut all: Vec<f64> = together(&[cpu, cpu], &gaps)?.into_iter().flatten().collect();
    if all.is_empty() {
        return Err("two computing threads on one cpu did not interrupt each other".into());
    }
    Ok(median(&mut all))
}

/// Time between two yields of a thread beside a computing one: the length of a request (base slice), ns.
pub(super) fn slice(bench: &Bench) -> Result<f64, String> {
    let cpu = bench.first();
    let over = AtomicBool::new(false);
    let body = |rank: usize| {
        let begin = now();
        let mut yields = 0_u64;
        if rank == 0 {
            while now() < begin + 2 * WINDOW {
                sched_yield();
                yields += 1;
            }
            over.store(true, SeqCst);
        } else {
            while !over.load(SeqCst) {
                std::hint::spin_loop();
            }
        }
        (now() - begin) as f64 / yields.max(1) as f64
    };
    Ok(together(&[cpu, cpu], &body)?[0])
}

/// One `sched_yield` of a thread that is alone on its cpu, ns.
pub(super) fn yield_alone(bench: &Bench) -> Result<f64, String> {
    let body = |_: usize| {
        let begin = now();
        for _ in 0..20_000 {
            sched_yield();
        }
        (now() - begin) as f64 / 20_000.0
    };
    Ok(together(&[bench.first()], &body)?[0])
}

/// One `sched_yield` with a switch to another thread of the process, ns.
pub(super) fn yield_threads(bench: &Bench) -> Result<f64, String> {
    const YIELDS: u64 = 8_000;
    let cpu = bench.first();
    let body = |_: usize| {
        let begin = now();
        for _ in 0..YIELDS {
            sched_yield();
        }
        (begin, now())
    };
    let times = together(&[cpu, cpu], &body)?;
    // Both yield from the later begin to the earlier end.
    let begin = times.iter().map(|(begin, _)| *begin).min().unwrap_or(0);
    let end = times.iter().map(|(_, end)| *end).max().unwrap_or(0);
    Ok(end.saturating_sub(begin) as f64 / (2 * YIELDS) as f64)
}

/// One `sched_yield` with a switch to another process, ns.
pub(super) fn yield_processes(bench: &Bench) -> Result<f64, String> {
    const YIELDS: u32 = 8_000;
    let program = Program {
        name: "yields".into(),
        session: false,
        wait: Wait::Yield,
        polls: Polls::ONE,
        steps: vec![Step::Repeat(YIELDS), Step::Yield, Step::End],
        threads: vec![Thread { cpus: vec![bench.first()], slept: None, scale: 1_000, noise: 0, nice: 0 }],
        background: false,
        start: 0,
        speed: 1.0,
        rate: 1.0,
        array: 0,
        real: None,
    };
    let programs = [program.clone(), program];
    let done = run(bench.starter, &programs, 0, Duration::from_secs(20), bench.count(), &mut || Ok(0.0))?;
    bench.add_own(done.programs.iter().map(|program| program.cpu).sum());
    let begin = done.programs.iter().flat_map(|program| &program.started).copied().min().unwrap_or(0);
    let end = done.programs.iter().flat_map(|program| &program.ended).copied().max().unwrap_or(0);
    Ok(end.saturating_sub(begin) as f64 / f64::from(2 * YIELDS))
}

/// One leg of a futex ping-pong between two cpus, which may be the same, ns.
pub(super) fn futex_leg(bench: &Bench, other: u32) -> Result<f64, String> {
    const LEGS: u32 = 4_000;
    let word = AtomicU32::new(0);
    let body = |rank: usize| {
        let begin = now();
        let parity = rank as u32;
        while word.load(SeqCst) < LEGS {
            let seen = word.load(SeqCst);
            if seen % 2 == parity {
                word.store(seen + 1, SeqCst);
                let _ = futex::wake(&word, futex::Flags::PRIVATE, 1);
            } else {
                let _ = futex::wait(&word, futex::Flags::PRIVATE, seen, None);
            }
        }
        let _ = futex::wake(&word, futex::Flags::PRIVATE, 1);
        now() - begin
    };
    Ok(together(&[bench.first(), other], &body)?[0] as f64 / f64::from(LEGS))
}

/// What is measured of a barrier.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Meeting {
    /// Time between two barriers, ns.
    Time,
    /// Context switches between two barriers.
    Switches,
}

/// A futex barrier of two threads on one cpu that do nothing else. The last one to arrive wakes the other,
/// so there is one wake-up and one sleep for each barrier; how often the woken thread pre-empts its waker
/// depends on the scheduler.
pub(super) fn barrier(bench: &Bench, what: Meeting) -> Result<f64, String> {
    const BARRIERS: u32 = 4_000;
    let (arrived, passed) = (AtomicU32::new(0), AtomicU32::new(0));
    let body = |_: usize| {
        let (switched, begin) = (crate::facts::switches(), now());
        for barrier in 0..BARRIERS {
            if arrived.fetch_add(1, SeqCst) == 1 {
                arrived.store(0, SeqCst);
                passed.store(barrier + 1, SeqCst);
                let _ = futex::wake(&passed, futex::Flags::PRIVATE, 1);
            } else {
                while passed.load(SeqCst) == barrier {
                    let _ = futex::wait(&passed, futex::Flags::PRIVATE, barrier, None);
                }
            }
        }
        let time = (now() - begin) as f64;
        let switches = crate::facts::switches().zip(switched).map(|(after, before)| (after - before) as f64);
        (time / f64::from(BARRIERS), switches.map(|switches| switches / f64::from(BARRIERS)))
    };
    let cpu = bench.first();
    let both = together(&[cpu, cpu], &body)?;
    match what {
        Meeting::Time => Ok(both[0].0),
        Meeting::Switches => {
            let counts: Option<Vec<f64>> = both.iter().map(|(_, switches)| *switches).collect();
            Ok(counts.ok_or("/proc/thread-self/status has no counts of context switches")?.iter().sum())
        }
    }
}

/// What is measured of a wake-up.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum WakeUp {
    /// The call of the waker.
    Call,
    /// From the call to the sleeper's next instruction.
    Latency,
}

/// Time for wake-ups and moves in a row, ns; those of the second half count. A program that waits at barriers
/// wakes threads all the time. On a virtual machine of 2 cpus the first hundred wake-ups took 23 us each, and
/// from some 50 ms on 38 us. A host adapts for how long it polls for a halted cpu
/// (Documentation/virt/kvm/halt-polling.rst).
const STEADY: u64 = 100_000_000;

/// The sleep before the next wake-up, ns. Others of 1 to 128 us come between those that are measured: where
/// all are of one length, a virtual machine gets used to it.
fn length(wake: u32, slept: u64) -> u64 {
    if wake.is_multiple_of(2) {
        return slept;
    }
    let draw = draw(key(3, Purpose::Test, slept), wake.into());
    let least = 1_000_u64 << (draw % 7);
    least + u64::from(draw >> 8) % least
}

/// How many wake-ups or moves of so many nanoseconds are done.
fn in_a_row(each: u64) -> u32 {
    u32::try_from(STEADY / each.max(1)).unwrap_or(u32::MAX).max(20)
}

/// A wake-up of a thread on another cpu (or this one) that has slept for so many nanoseconds, ns.
pub(super) fn wake_up(bench: &Bench, other: u32, slept: u64, what: WakeUp) -> Result<f64, String> {
    // Half of the sleeps are others, and each wake-up takes some 30 us.
    let wakes = in_a_row(slept / 2 + 50_000);
    let (word, asleep, woken) = (AtomicU32::new(0), AtomicU32::new(0), AtomicU64::new(0));
    let same = other == bench.first();
    let sleeper = || {
        // A light thread does not pre-empt its waker inside the call.
        if same && what == WakeUp::Call {
            let _ = setpriority_process(None, 19);
        }
        for wake in 0..wakes {
            asleep.store(wake + 1, SeqCst);
            while word.load(SeqCst) == wake {
                let _ = futex::wait(&word, futex::Flags::PRIVATE, wake, None);
            }
            woken.store(now(), SeqCst);
        }
        Vec::new()
    };
    let waker = || {
        let mut values = Vec::new();
        for wake in 0..wakes {
            while asleep.load(SeqCst) <= wake {
                if same { sched_yield() } else { std::hint::spin_loop() }
            }
            // Its call takes about a microsecond; the length of the sleep counts from there.
            let until = now() + 2_000 + length(wake, slept);
            while now() < until {}
            woken.store(0, SeqCst);
            let begin = now();
            word.store(wake + 1, SeqCst);
            let _ = futex::wake(&word, futex::Flags::PRIVATE, 1);
            let end = now();
            while woken.load(SeqCst) == 0 {
                if same { sched_yield() } else { std::hint::spin_loop() }
            }
            let ran = woken.load(SeqCst);
            match what {
                _ if wake < wakes / 2 || !wake.is_multiple_of(2) => {}
                // On one cpu the sleeper may have run inside the call.
                WakeUp::Call if same && ran < end => {}
                WakeUp::Call => values.push((end - begin) as f64),
                WakeUp::Latency => values.push(ran.saturating_sub(begin) as f64),
            }
        }
        values
    };
    let body = |rank: usize| if rank == 0 { waker() } else { sleeper() };
    let mut values = together(&[bench.first(), other], &body)?.swap_remove(0);
    if values.is_empty() { Err("every call was pre-empted".into()) } else { Ok(typical(&mut values)) }
}

/// The mean of all but the longest tenth: a cpu that has only begun to halt is found asleep or not, so there
/// are two values, and a median would be one of them.
fn typical(values: &mut [f64]) -> f64 {
    values.sort_unstable_by(f64::total_cmp);
    let shorter = &values[..values.len() - values.len() / 10];
    shorter.iter().sum::<f64>() / shorter.len().max(1) as f64
}

/// Creating a thread, paid by the parent, ns.
pub(super) fn fork(bench: &Bench) -> Result<f64, String> {
    let body = |_: usize| {
        let mut values = Vec::new();
        for _ in 0..20 {
            let begin = now();
            let made = std::thread::Builder::new().spawn(|| ());
            values.push((now() - begin) as f64);
            if let Ok(thread) = made {
                // It does nothing that could fail.
                let _ = thread.join();
            }
        }
        median(&mut values)
    };
    Ok(together(&[bench.first()], &body)?[0])
}

/// From `sched_setaffinity` to the first instruction on another cpu that was idle, ns.
pub(super) fn migration(bench: &Bench, other: u32) -> Result<f64, String> {
    let here = bench.first();
    let body = |_: usize| {
        let mut values = Vec::new();
        // 20 us, and some 30 us for the move.
        let moves = in_a_row(50_000);
        for move_ in 0..moves {
            let to = if move_ % 2 == 0 { other } else { here };
            let settled = now() + 20_000;
            while now() < settled {}
            let begin = now();
            if crate::facts::bind(&[to]).is_ok() && move_ >= moves / 2 {
                values.push((now() - begin) as f64);
            }
        }
        median(&mut values)
    };
    Ok(together(&[here], &body)?[0])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wake_ups_count_by_their_mean_without_the_longest_tenth() {
        let mut values: Vec<f64> = (0..20).map(|at| if at < 9 { 1.0 } else { 13.0 }).collect();
        (values[18], values[19]) = (4_000.0, 5_000.0);
        assert!((typical(&mut values) - 7.0).abs() < 1e-9);
        assert!((typical(&mut [3.0]) - 3.0).abs() < 1e-9);
    }

    #[test]
    fn every_other_sleep_is_of_the_length_that_is_measured() {
        let lengths: Vec<u64> = (0..400).map(|wake| length(wake, 6_000)).collect();
        assert!(lengths.iter().step_by(2).all(|length| *length == 6_000));
        let others = || lengths.iter().skip(1).step_by(2).copied();
        assert!(others().all(|length| (1_000..128_000).contains(&length)));
        assert!(others().any(|length| length < 3_000) && others().any(|length| length > 60_000));
    }
}
