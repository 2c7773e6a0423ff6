//! The same job, with the same makespan to the nanosecond, on other engines: a plain textbook one
//! (`testkit::textbook`), the event core of the `desque` crate, and both relieved of all polls, ticks and
//! switches (which gives another, shorter makespan).

use criterion::{BenchmarkId, Criterion, Throughput};
use desque::serial::{Event, Simulation};
use desque::{SimState, SimTime};
use sim_core::machine::Machine;
use testkit::job::Job;
use testkit::policies::Fixed;
use testkit::textbook::{self, Happening, World, plain};

use crate::support::{base, group};

/// Simulated nanoseconds.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
struct Clock(u64);

impl SimTime for Clock {}

struct State {
    world: World,
    /// What follows from an event, until it is scheduled.
    follow: Vec<(u64, Happening)>,
}

impl SimState<Clock> for State {
    fn is_complete(&self, _now: &Clock) -> bool {
        self.world.is_over()
    }
}

#[derive(Debug)]
struct Next(Happening);

impl Event<State, Clock> for Next {
    fn execute(&mut self, simulation: &mut Simulation<State, Clock>) -> desque::Result {
        let Clock(now) = *simulation.current_time();
        let State { world, follow } = simulation.state_mut();
        let mut follow = std::mem::take(follow);
        world.fire(now, self.0, &mut |at, what| follow.push((at, what)));
        for (at, what) in follow.drain(..) {
            simulation.schedule(Self(what), Clock(at))?;
        }
        simulation.state_mut().follow = follow;
        Ok(())
    }
}

/// Runs the job on desque's event queue: the makespan.
fn desque(job: &Job, base: &Machine, polls: bool) -> u64 {
    let mut first = Vec::new();
    let world = World::new(job, base, 1, polls, &mut |at, what| first.push((at, what)));
    let mut simulation = Simulation::new(State { world, follow: Vec::new() }, Clock(0));
    for (at, what) in first {
        simulation.schedule(Next(what), Clock(at)).expect("not in the past");
    }
    simulation.run().expect("no event fails");
    simulation.current_time().0
}

pub(crate) fn bench(criterion: &mut Criterion) {
    let base = plain(&base());
    for (cpus, intervals, short) in [(16, 1_000, 10), (4_096, 5, 2)] {
        let mut group = group(criterion, "peers");
        let job = |intervals| Job { contention: false, ..Job::central(cpus, intervals) };
        let (long, short) = (job(intervals), job(short));
        let oversim =
            |job: &Job| job.simulation(&base).expect("a legal run").run(&mut Fixed, &mut ()).makespan.ns();
        let expected = oversim(&short);
        assert_eq!([textbook::run(&short, &base, 1, true).0, desque(&short, &base, true)], [expected; 2]);
        group.throughput(Throughput::Elements(long.steps()));
        group.bench_function(BenchmarkId::new("oversim", cpus), |bencher| bencher.iter(|| oversim(&long)));
        group.bench_function(BenchmarkId::new("textbook-without-polls", cpus), |bencher| {
            bencher.iter(|| textbook::run(&long, &base, 1, false));
        });
        group.bench_function(BenchmarkId::new("desque-without-polls", cpus), |bencher| {
            bencher.iter(|| desque(&long, &base, false));
        });
        group.throughput(Throughput::Elements(short.steps()));
        group.bench_function(BenchmarkId::new("textbook", cpus), |bencher| {
            bencher.iter(|| textbook::run(&short, &base, 1, true));
        });
        group.bench_function(BenchmarkId::new("desque", cpus), |bencher| {
            bencher.iter(|| desque(&short, &base, true));
        });
        group.finish();
    }
}
