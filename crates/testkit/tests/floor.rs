//! The floors that performance is compared with do the whole job, with known ends, and repeat exactly.

use sim_core::program::Spread;
use sim_core::time::Span;
use testkit::floor::{Prices, Probe, Sum, Traffic};
use testkit::job::Job;
use testkit::policies::Fixed;
use testkit::textbook::{plain, run};

fn prices() -> Prices {
    let costs = machines::resolve("barcelona").expect("a machine of the registry").machine().costs;
    Prices { poll: costs.poll, yield_call: costs.yield_call, switch: costs.switch_thread }
}

fn probe(job: &Job) -> Sum {
    Probe::new(job, 1, prices()).run()
}

#[test]
fn the_traffic_without_gaps_ends_like_the_textbook_without_polls() {
    let base = plain(&machines::resolve("barcelona").unwrap().machine());
    for (cpus, tasks_per_cpu, intervals) in [(4, 1, 3), (16, 4, 20), (64, 3, 5), (20, 8, 10)] {
        let job = Job { tasks_per_cpu, contention: false, ..Job::central(cpus, intervals) };
        let sum = Traffic::new(&job, 1, 0).run();
        assert_eq!((sum.steps, sum.events), (job.steps(), 2 * job.steps()));
        assert_eq!(sum.end, run(&job, &base, 1, false).0);
        let spaced = Traffic::new(&job, 1, 1_000);
        assert_eq!(spaced.clone().run(), spaced.clone().run());
        assert!(spaced.run().end > sum.end);
    }
}

#[test]
fn the_probe_ends_like_the_kernel_where_only_scheduling_costs() {
    let base = plain(&machines::resolve("barcelona").unwrap().machine());
    for (cpus, tasks_per_cpu, intervals) in [(4, 1, 3), (4, 2, 20), (16, 4, 20), (64, 3, 5), (20, 8, 10)] {
        let job = Job { tasks_per_cpu, contention: false, ..Job::central(cpus, intervals) };
        let sum = probe(&job);
        let expected = job.simulation(&base).unwrap().run(&mut Fixed, &mut ()).makespan.ns();
        assert_eq!(sum.end, expected, "{cpus} x {tasks_per_cpu}, {intervals} intervals");
        assert_eq!((sum.steps, sum.events), (job.steps(), 2 * job.steps()));
        assert_eq!(sum, probe(&job));
    }
}

#[test]
fn slices_of_the_probe_expire_and_lose_no_work() {
    let job = Job { grain: Span::from_ms(200), spread: Spread(0), ..Job::central(4, 3) };
    let sum = probe(&job);
    assert_eq!(sum.steps, job.steps());
    assert!(sum.events > 4 * job.steps(), "{sum:?}");
    let busy = 4 * 3 * job.grain.ns();
    assert!((busy..busy + busy / 100).contains(&sum.end), "{sum:?}");
}
