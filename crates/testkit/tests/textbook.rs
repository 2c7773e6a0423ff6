//! The plain textbook simulator and the kernel agree to the nanosecond on the job that benchmarks compare
//! them on.

use sim_core::outcome::Outcome;
use testkit::job::Job;
use testkit::policies::Fixed;
use testkit::textbook::{plain, run};

#[test]
fn the_textbook_and_the_kernel_end_at_the_same_nanosecond() {
    let base = plain(&machines::resolve("barcelona").unwrap().machine());
    for (cpus, tasks_per_cpu, intervals) in [(4, 1, 3), (4, 2, 20), (16, 4, 20), (64, 3, 5), (20, 8, 10)] {
        let job = Job { tasks_per_cpu, contention: false, ..Job::central(cpus, intervals) };
        let report = job.simulation(&base).unwrap().run(&mut Fixed, &mut ());
        assert_eq!(report.outcome, Outcome::Completed);
        let (makespan, events) = run(&job, &base, 1, true);
        assert_eq!(makespan, report.makespan.ns(), "{cpus} x {tasks_per_cpu}, {intervals} intervals");
        assert!(events > 10 * job.steps(), "an event per poll: {events}");
    }
}
