//! Once every task has begun, a run asks for no more memory: a test binary of its own, with a counting
//! allocator.

use std::alloc::System;

use sim_core::observe::{Observation, Observer};
use sim_core::os::YieldMode;
use sim_core::outcome::Outcome;
use sim_core::time::Time;
use sim_core::wait::{BarrierKind, WaitMode};
use stats_alloc::{INSTRUMENTED_SYSTEM, StatsAlloc};
use testkit::job::Job;
use testkit::policies::Fixed;

#[global_allocator]
static ALLOCATOR: &StatsAlloc<System> = &INSTRUMENTED_SYSTEM;

/// Requests for memory so far, growing of what there is included.
fn requests() -> usize {
    let stats = ALLOCATOR.stats();
    stats.allocations + stats.reallocations
}

/// Requests at the first event, after the first barrier, and at the last event.
#[derive(Default)]
struct Counter {
    first: Option<usize>,
    warm: Option<usize>,
    last: usize,
}

impl Observer for Counter {
    fn observe(&mut self, _at: Time, what: &Observation) {
        match what {
            Observation::AppStarted(_) => self.first = Some(requests()),
            Observation::Released { .. } if self.warm.is_none() => self.warm = Some(requests()),
            Observation::AppExited(_) => self.last = requests(),
            _ => {}
        }
    }
}

// Without the test harness: its own thread would ask for memory at the same time.
fn main() {
    let base = machines::resolve("barcelona").expect("a machine of the registry").machine();
    let main = Job::central(16, 50);
    let jobs = [
        ("central", main),
        ("no contention", Job { contention: false, ..main }),
        ("tree", Job { barrier: BarrierKind::Tree { arity: 4 }, ..main }),
        ("dissemination", Job { barrier: BarrierKind::Dissemination, ..main }),
        ("fair", Job { yields: YieldMode::Default, ..main }),
        ("fair dissemination", Job { intervals: 20, ..Job::dissemination(4, YieldMode::Default) }),
        ("block", Job { wait: WaitMode::Block, ..main }),
        ("spin", Job { wait: WaitMode::Spin, intervals: 5, ..main }),
        ("many", Job::central(1_024, 5)),
        ("hogs", Job::hogs(16, 4, 5)),
    ];
    let mut told = Vec::new();
    for (name, job) in jobs {
        let mut counter = Counter::default();
        let simulation = job.simulation(&base).expect("a legal run");
        let report = simulation.run(&mut Fixed, &mut counter);
        assert_eq!(report.outcome, Outcome::Completed);
        let first = counter.first.unwrap_or_default();
        let warm = counter.warm.unwrap_or(counter.last);
        // What is used for the first time may ask once: a class of memory demand, a list.
        if warm - first > 64 + job.cpus as usize || counter.last > warm {
            let (before, after) = (warm - first, counter.last - warm);
            told.push(format!("{name}: {before} before the first release, {after} after it"));
        }
    }
    assert!(
        told.is_empty(),
        "requests for memory between the first and the last event:\n{}",
        told.join("\n")
    );
}
