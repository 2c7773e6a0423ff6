//! Memory and time of one large run: 1,048,576 cpus with four tasks each that meet after 10 ms of work, one
//! simulated second.
//!
//! `cargo run --release -p testkit --example memory [CPUS [MILLISECONDS]]`; the peak is that of resident
//! memory (`VmHWM` of Linux).

#![expect(clippy::print_stdout, reason = "a tool for the terminal")]

use std::time::Instant;

use sim_core::observe::{Observation, Observer};
use sim_core::time::{Span, Time};
use sim_core::wait::BarrierKind;
use testkit::job::Job;
use testkit::policies::Fixed;

/// Counts task-steps, and the first of them by the clock.
#[derive(Default)]
struct Steps {
    count: u64,
    begin: Option<Instant>,
}

impl Observer for Steps {
    fn observe(&mut self, _at: Time, what: &Observation) {
        if let Observation::Arrived { .. } = what {
            self.count += 1;
            self.begin.get_or_insert_with(Instant::now);
        }
    }
}

/// The peak of resident memory in KiB; none where there is no `/proc`.
fn peak() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?.split_whitespace().next()?.parse().ok()
}

fn main() -> Result<(), String> {
    let mut args =
        std::env::args().skip(1).map(|word| word.parse::<u32>().map_err(|e| format!("{word}: {e}")));
    let cpus = args.next().unwrap_or(Ok(1_048_576))?;
    let horizon = Time::ZERO + Span::from_ms(u64::from(args.next().unwrap_or(Ok(1_000))?));
    // A central barrier would hand the line of its counter from cpu to cpu four million times, in a second or
    // so.
    let barrier = BarrierKind::Tree { arity: 4 };
    let job = Job { grain: Span::from_ms(10), barrier, horizon, ..Job::central(cpus, 1_000_000) };
    let base = machines::resolve("barcelona")?.machine();
    let begin = Instant::now();
    let mut steps = Steps::default();
    let report = job.simulation(&base)?.run(&mut Fixed, &mut steps);
    let (whole, steady) = (begin.elapsed(), steps.begin.map_or(0.0, |begin| begin.elapsed().as_secs_f64()));
    println!("{cpus} cpus, {} tasks, digest {:016x}", cpus * job.tasks_per_cpu, report.digest);
    println!("simulated {:.3} s in {:.1} s", report.makespan.ns() as f64 * 1e-9, whole.as_secs_f64());
    println!("{} task-steps, {:.0} per second", steps.count, steps.count as f64 / steady);
    if let Some(peak) = peak() {
        let bytes = peak as f64 * 1024.0;
        println!("peak {:.0} MiB, {:.0} bytes per cpu", bytes / 1_048_576.0, bytes / f64::from(cpus));
    }
    Ok(())
}
