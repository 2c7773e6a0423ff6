//! The naive prediction: every runnable thread gets its fair share of the cpus, and nothing costs anything.

use crate::plan::{Program, Step, weight};

/// A thread that is served: its program, the work left in nanoseconds, its weight and its cpus.
struct Served {
    program: usize,
    left: f64,
    weight: f64,
    cpus: Vec<u32>,
}

/// The run time of each program in nanoseconds under weighted processor sharing without barriers, switches
/// and ticks. Threads that may use one cpu share that cpu; all others share all cpus, at most one each.
/// Programs in the background and those that never end get 0.
#[must_use]
pub fn times(programs: &[Program], cpus: u32) -> Vec<f64> {
    let mut threads = Vec::new();
    for (at, program) in programs.iter().enumerate() {
        for (rank, thread) in program.threads.iter().enumerate() {
            let work = if program.background { f64::INFINITY } else { work(program, rank) };
            threads.push(Served {
                program: at,
                left: work / program.speed * f64::from(thread.scale) / 1_000.0,
                weight: f64::from(weight(thread.nice)),
                cpus: thread.cpus.clone(),
            });
        }
    }
    let mut times = vec![0.0_f64; programs.len()];
    let mut clock = 0.0;
    loop {
        weigh(&mut threads, programs);
        let rates = rates(&threads, cpus);
        let next =
            threads.iter().zip(&rates).map(|(thread, rate)| thread.left / rate).fold(f64::MAX, f64::min);
        if threads.iter().all(|thread| thread.left.is_infinite()) || !next.is_finite() {
            return times;
        }
        clock += next;
        for (thread, rate) in threads.iter_mut().zip(&rates) {
            thread.left -= next * rate;
            if thread.left <= 1e-6 * clock {
                thread.left = 0.0;
                times[thread.program] = clock;
            }
        }
        threads.retain(|thread| thread.left > 0.0);
    }
}

/// The threads of a session share the weight of one thread of nice 0.
fn weigh(threads: &mut [Served], programs: &[Program]) {
    for at in (0..programs.len()).filter(|at| programs[*at].session) {
        let count = threads.iter().filter(|thread| thread.program == at).count();
        let weight = 1_024.0 / count.max(1) as f64;
        threads.iter_mut().filter(|thread| thread.program == at).for_each(|thread| thread.weight = weight);
    }
}

/// The share of a cpu that each thread gets.
fn rates(threads: &[Served], cpus: u32) -> Vec<f64> {
    let on = |cpu: u32| threads.iter().filter(move |t| t.cpus == [cpu]).map(|t| t.weight).sum::<f64>();
    let bound = |thread: &Served| (thread.cpus.len() == 1).then(|| thread.cpus[0]);
    // Unbound threads share what is left: weighted, at most one cpu each.
    let unbound: Vec<f64> = threads.iter().filter(|t| bound(t).is_none()).map(|t| t.weight).collect();
    let taken: f64 = {
        let mut used: Vec<u32> = threads.iter().filter_map(bound).collect();
        used.sort_unstable();
        used.dedup();
        used.len() as f64
    };
    let level = level(&unbound, f64::from(cpus), taken);
    let one = |thread: &Served| match bound(thread) {
        Some(cpu) if unbound.is_empty() => thread.weight / on(cpu),
        Some(cpu) => (thread.weight / on(cpu)).min(level * thread.weight),
        None => (level * thread.weight).min(1.0),
    };
    threads.iter().map(one).collect()
}

/// The rate per weight at which unbound threads use so many cpus; those that are alone on a cpu leave the
/// rest to the others.
fn level(weights: &[f64], cpus: f64, bound: f64) -> f64 {
    let mut sorted = weights.to_vec();
    sorted.sort_by(|a, b| b.total_cmp(a));
    let mut left = cpus;
    let mut sum: f64 = sorted.iter().sum::<f64>() + bound * 1_024.0;
    for weight in &sorted {
        if weight * left / sum <= 1.0 || left <= 1.0 {
            break;
        }
        left -= 1.0;
        sum -= weight;
    }
    if sum > 0.0 { left / sum } else { f64::MAX }
}

/// Mean work of a rank in nanoseconds at nominal speed.
fn work(program: &Program, rank: usize) -> f64 {
    let mut factors = vec![1.0];
    let mut total = 0.0;
    for step in &program.steps {
        let times = factors.last().copied().unwrap_or(1.0);
        match step {
            Step::Compute(piece) => total += times * piece.work as f64,
            Step::Serial(piece) if rank == 0 => total += times * piece.work as f64,
            Step::Repeat(passes) => factors.push(times * f64::from(*passes)),
            Step::End => {
                factors.pop();
            }
            _ => {}
        }
    }
    total / (1_u64 << sim_core::time::WORK_FRACTION_BITS) as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::barrier::{Polls, Wait};
    use crate::plan::{Piece, Thread};

    fn program(ms: u64, cpus: &[&[u32]], background: bool) -> Program {
        let piece = Piece { work: (ms * 1_000_000) << 20, spread: 0, bound: 0.0 };
        let thread =
            |cpus: &&[u32]| Thread { cpus: cpus.to_vec(), slept: None, scale: 1_000, noise: 0, nice: 0 };
        Program {
            name: "p".into(),
            session: false,
            wait: Wait::Spin,
            polls: Polls::ONE,
            steps: vec![Step::Compute(piece)],
            threads: cpus.iter().map(thread).collect(),
            background,
            start: 0,
            speed: 1.0,
            rate: 1.0,
            array: 0,
            real: None,
        }
    }

    fn ms(times: &[f64]) -> Vec<f64> {
        times.iter().map(|time| (time / 1e4).round() / 100.0).collect()
    }

    #[test]
    fn threads_of_one_cpu_share_it_by_weight() {
        let (a, b) = (program(10, &[&[0]], false), program(20, &[&[0]], false));
        assert_eq!(ms(&times(&[a.clone(), b], 2)), [20.0, 30.0]);
        let mut hog = program(1, &[&[0]], true);
        hog.threads[0].nice = -5;
        // Weights of 1,024 and 3,121.
        assert_eq!(ms(&times(&[a, hog], 2)), [40.48, 0.0]);
    }

    #[test]
    fn unbound_threads_share_all_cpus() {
        let three = program(20, &[&[], &[], &[]], false);
        assert_eq!(ms(&times(&[three], 2)), [30.0]);
        let one = program(20, &[&[]], false);
        assert_eq!(ms(&times(&[one], 2)), [20.0]);
    }
}
