//! What else runs on this host: how often other tasks interrupt a thread that computes, for how long, and
//! what it loses to ticks. A run of the host meets them, so its prediction does.
//!
//! Two programs that spin stay in step on all cpus until one of these tasks makes one cpu decide alone
//! (Petrini, Kerbyson, Pakin, The case of the missing supercomputer performance, SC 2003, have the same
//! effect on barriers).

use std::sync::Arc;
use std::time::Duration;

use scenario::plan::RunPlan;
use sim_core::ids::{CpuId, ProfileId};
use sim_core::machine::CpuSet;
use sim_core::program::{AppSpec, Forks, MemoryProfile, Op, Program, Runtime, Spread, StartUp};
use sim_core::time::{Span, Speed, Work};

use crate::facts::{Others, switches};
use crate::work::{now, together};

/// Time between two readings of the clock, in nanoseconds, in which a thread cannot have computed: reading it
/// takes some tens, an interrupt one thousand and more.
const INTERRUPTED: u64 = 1_000;
/// Tasks that interrupt less often than once in so many nanoseconds change no run of a second.
const RARE: f64 = 2e9;

/// How long a look takes: tasks that come once in a second are seen some times.
pub const LOOK: Duration = Duration::from_secs(3);

/// Computes on each of these cpus for so long, all together, and looks what is lost.
///
/// # Errors
/// A sentence.
pub fn watch(cpus: &[u32], length: Duration) -> Result<Vec<Others>, String> {
    let length = u64::try_from(length.as_nanos()).unwrap_or(u64::MAX);
    let body = |_: usize| {
        let (begin, mut known) = (now(), switches().unwrap_or(0));
        let (mut last, mut times, mut lost, mut interrupts) = (begin, 0_u64, 0_u64, 0_u64);
        let mut looked = 0_u64;
        while last - begin < length {
            let at = now();
            let pause = at - last;
            last = at;
            if pause < INTERRUPTED {
                continue;
            }
            let count = switches().unwrap_or(known);
            // What the look itself takes, and what it meets, does not count.
            last = now();
            looked += last - at;
            match count.saturating_sub(known) {
                0 => interrupts += pause,
                more => {
                    times += more;
                    lost += pause;
                }
            }
            known = count;
        }
        let seconds = (last - begin).saturating_sub(looked).max(1) as f64 / 1e9;
        Others {
            per_second: times as f64 / seconds,
            length: lost as f64 / times.max(1) as f64,
            interrupts: interrupts as f64 / seconds,
        }
    };
    together(cpus, &body)
}

/// The run beside these tasks and with ticks that take what was seen, one application in the background for
/// each cpu that has any. They come last.
#[must_use]
pub fn beside(plan: &RunPlan, others: &[Others]) -> RunPlan {
    let mut plan = plan.clone();
    let Some((first, entry)) = plan.apps.first().zip(plan.entries.first().copied()) else { return plan };
    let runtime = Runtime {
        processes: true,
        startup: StartUp { forks: Forks::Together, ..StartUp::PLAIN },
        ..first.runtime.clone()
    };
    // A tick takes what all interrupts take from one tick to the next.
    let interrupts = others.iter().map(|one| one.interrupts).sum::<f64>() / others.len().max(1) as f64;
    if interrupts > 0.0 {
        let tick = interrupts / 1e9 * plan.kernel.tick.ns() as f64;
        Arc::make_mut(&mut plan.machine).costs.tick = Span::from_ns(tick.round() as u64);
    }
    let speed = plan.machine.core_speed.first().copied().unwrap_or(Speed::NOMINAL);
    for (cpu, one) in (0..plan.machine.cpus()).zip(others) {
        let Some(program) = program(one, speed) else { continue };
        let mut app = AppSpec::new(format!("others on cpu {cpu}"), 1, program, runtime.clone());
        app.background = true;
        app.allowed = Some(CpuSet::of([CpuId(cpu)]));
        plan.apps.push(app);
        plan.entries.push(entry);
    }
    plan
}

/// What the other tasks of a cpu do: sleep and compute, both exponentially. None if they are rare.
fn program(others: &Others, speed: Speed) -> Option<Arc<Program>> {
    let pause = 1e9 / others.per_second - others.length;
    if !(others.length >= 1.0 && pause > 0.0 && pause < RARE) {
        return None;
    }
    let nanoseconds = |value: f64| Span::from_ns(value.round() as u64);
    let work = Work::from_raw(speed.work_in(nanoseconds(others.length)).raw());
    let (spread, profile) = (Spread::EXPONENTIAL, ProfileId(0));
    let ops = vec![
        Op::Repeat(0),
        Op::Sleep { span: nanoseconds(pause), spread },
        Op::Compute { work, spread, profile },
        Op::End,
    ];
    Program::new(ops, vec![MemoryProfile::NONE]).ok().map(Arc::new)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan;
    use crate::testing::{experiment, runs};

    /// The run time in ms of two programs that spin on two cpus, beside such tasks; the median of nine seeds.
    fn spinning(others: &[Others]) -> f64 {
        let program = "{ workload: { spmd: { grain: 1ms, intervals: 100 } }, runtime: spin, tasks: 2 }";
        let text = format!(
            "{{ name: t, machine: {{ xeon-2vcpu: {{ work_unit: own }} }}, policies: [PIN], repeat: 9, \
             apps: {{ a: {program}, b: {program} }} }}"
        );
        let mut times = Vec::new();
        for run in runs(&experiment(&text)) {
            let run = plan::released(&run);
            let simulated = plan::simulate(&run, others).unwrap();
            assert_eq!((simulated.report.apps.len(), simulated.cpus.len()), (2, 4));
            times.push(simulated.report.apps[0].run_time().unwrap().ns() as f64 / 1e6);
        }
        crate::statistics::median(&mut times)
    }

    #[test]
    fn other_tasks_end_the_step_of_two_programs_that_spin() {
        let others = Others { per_second: 20.0, length: 50_000.0, interrupts: 0.0 };
        let (alone, beside) = (spinning(&[]), spinning(&[others; 2]));
        // They take a thousandth of the cpus, and more than a tenth of the time.
        assert!((195.0..215.0).contains(&alone) && beside > 1.1 * alone, "{alone} ms, {beside} ms");
        let ticks = Others { per_second: 0.0, length: 0.0, interrupts: 1e8 };
        let slower = spinning(&[ticks; 2]) / alone;
        assert!((1.09..1.13).contains(&slower), "a tenth of the time goes to ticks: {slower}");
        let rare = Others { per_second: 0.1, length: 50_000.0, interrupts: 0.0 };
        assert!((spinning(&[rare; 2]) - alone).abs() < 1e-9);
    }

    #[test]
    fn a_thread_that_computes_is_interrupted_for_less_than_all_its_time() {
        let cpus = crate::facts::cpus();
        let found = watch(&cpus[..1], Duration::from_millis(20)).unwrap();
        let one = found[0];
        assert!(found.len() == 1 && one.per_second >= 0.0 && one.interrupts < 1e9, "{one:?}");
    }
}
