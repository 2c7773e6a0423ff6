//! What the groups have in common: one timed run of a job under a policy, and criterion set up for runs that
//! take long.

use std::time::Duration;

use criterion::measurement::WallTime;
use criterion::{BenchmarkGroup, BenchmarkId, Criterion, SamplingMode, Throughput};
use policies::Choice;
use sim_core::machine::Machine;
use sim_core::outcome::Outcome;
use sim_core::policy::Policy;
use testkit::job::Job;
use testkit::policies::Fixed;
use testkit::seated::Seated;
use testkit::stopwatch::Stopwatch;

/// The machine whose costs and memory all jobs have.
pub(crate) fn base() -> Machine {
    machines::resolve("barcelona").expect("a machine of the registry").machine()
}

/// A built-in policy for a job; `+` behind its name: tasks begin evenly spread; `-same-cpu`: its scope is
/// one cpu. `fixed`: tasks stay where they begin, and no kernel looks after them.
pub(crate) fn policy(name: &str, job: &Job) -> Box<dyn Policy> {
    if name == "fixed" {
        return Box::new(Fixed);
    }
    if let Some(bare) = name.strip_suffix('+') {
        return Box::new(Seated::evenly(policy(bare, job)));
    }
    let (bare, near) = name.strip_suffix("-same-cpu").map_or((name, false), |bare| (bare, true));
    let entry = policies::find(bare).expect("a policy of the registry");
    let machine = job.machine(&base()).expect("a legal machine");
    let mut choice = Choice::new(entry);
    if near {
        choice.values.set("scope", 1).expect("a value of the parameter");
    }
    choice.build(&machine, &job.kernel(), &[job.app().expect("a legal program")])
}

/// The time of the steady part of one run: all steps but each task's first.
pub(crate) fn steady(job: &Job, name: &str) -> Duration {
    let mut policy = policy(name, job);
    let simulation = job.simulation(&base()).expect("a legal run");
    let mut watch = Stopwatch::default();
    let report = simulation.run(policy.as_mut(), &mut watch);
    assert_eq!(report.outcome, Outcome::Completed);
    watch.elapsed()
}

/// Steps in [`steady`].
pub(crate) const fn steady_steps(job: &Job) -> u64 {
    job.steps() - job.cpus as u64 * job.tasks_per_cpu as u64
}

/// A group of runs that take milliseconds to seconds each.
pub(crate) fn group<'a>(criterion: &'a mut Criterion, name: &str) -> BenchmarkGroup<'a, WallTime> {
    let mut group = criterion.benchmark_group(name);
    group.sample_size(10).sampling_mode(SamplingMode::Flat);
    group.warm_up_time(Duration::from_millis(200)).measurement_time(Duration::from_secs(2));
    group
}

/// Adds the steady part of a job under a policy; the throughput is task-steps per second.
pub(crate) fn add(group: &mut BenchmarkGroup<'_, WallTime>, name: &str, parameter: &str, job: Job) {
    group.throughput(Throughput::Elements(steady_steps(&job)));
    group.bench_function(BenchmarkId::new(name, parameter), |bencher| {
        bencher.iter_custom(|times| (0..times).map(|_| steady(&job, name)).sum());
    });
}
