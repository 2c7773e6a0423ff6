//! SCHED_DEADLINE beside what Linux 6.18.44 did on a host with two cpus (docs/model/measured.md).

use experiment::result::Results;
use experiment::run::run;
use scenario::{Overrides, load};

use crate::support::mean;

/// One hog on the second cpu, or two on any.
const ONE: (u32, &str) = (1, "1");
const TWO: (u32, &str) = (2, "0-1");

/// Applications on two cpus for 4 s beside a hog for each of the cpus that they use, so that all cpu time of
/// these is somebody's.
fn results(apps: &str, (count, cpus): (u32, &str)) -> Results {
    let text = format!(
        "name: t\nmachine: core:2\nkernel: {{ linux-6.18: {{ deadline_limit: 0s }} }}\nbaseline: none\n\
         window: 4s\nwarm_up: 1s\npolicies: [LOAD]\napps:\n{apps}  hog: {{ program: {{ kinds: {{ h: {{ count: \
         {count}, code: 'forever {{ run 1s }}' }} }} }}, cpus: {cpus} }}\n"
    );
    let experiment = load("text", &text, &Overrides::default()).unwrap_or_else(|said| panic!("{said}"));
    run(&experiment, 1, &|_, _| {}).unwrap()
}

/// An application with this code and these times in ms.
fn app(name: &str, code: &str, [runtime, deadline, period]: [u64; 3], cpus: &str) -> String {
    format!(
        "  {name}: {{ program: {{ code: 'forever {{ {code} }}' }}, cpus: {cpus}, scheduling: {{ deadline: {{ \
         runtime: {runtime}ms, deadline: {deadline}ms, period: {period}ms }} }} }}\n"
    )
}

/// The share of a cpu of an application.
fn share(results: &Results, app: &str, cpus: f64) -> f64 {
    cpus * mean(results, "", "LOAD", app, "cpu_share")
}

fn near(found: f64, measured: f64, within: f64, what: &str) {
    assert!((found / measured - 1.0).abs() < within, "{what}: {found}, measured {measured}");
}

#[test]
fn spinning_tasks_have_the_shares_of_a_host() {
    for (times, measured) in
        [([3, 10, 10], 0.3012), ([12, 40, 40], 0.3005), ([20, 100, 100], 0.2006), ([8, 16, 40], 0.2008)]
    {
        let results = results(&app("a", "run 1s", times, "1"), ONE);
        near(share(&results, "a", 1.0), measured, 0.02, &format!("{times:?}"));
    }
    let two = results(&(app("a", "run 1s", [8, 20, 20], "1") + &app("b", "run 1s", [20, 50, 50], "1")), ONE);
    for name in ["a", "b"] {
        near(share(&two, name, 1.0), 0.4007, 0.02, name);
    }
    let three = ["a", "b", "c"].map(|name| app(name, "run 1s", [12, 20, 20], "0-1"));
    let three = results(&three.concat(), TWO);
    for name in ["a", "b", "c"] {
        near(share(&three, name, 2.0), 0.6, 0.02, name);
    }
}

#[test]
fn jobs_take_as_long_as_on_a_host() {
    let response = |results: &Results, app: &str| 1e3 * mean(results, "", "LOAD", app, "response_time");
    let one = results(&app("a", "until 10ms; run 2ms", [3, 10, 10], "1"), ONE);
    near(response(&one, "a"), 2.042, 0.05, "2 ms every 10 ms");
    let short = app("a", "until 20ms; run 5ms", [6, 20, 20], "1");
    let two = results(&(short + &app("b", "until 50ms; run 14ms", [15, 50, 50], "1")), ONE);
    near(response(&two, "a"), 5.043, 0.05, "5 ms every 20 ms");
    near(response(&two, "b"), 19.051, 0.05, "14 ms every 50 ms");
    // Jobs of 8 ms with 3 of 20 ms fall ever more behind, and have what is reserved.
    let late = results(&app("a", "until 20ms; run 8ms", [3, 20, 20], "1"), ONE);
    near(share(&late, "a", 1.0), 0.1507, 0.05, "8 ms every 20 ms");
    // A yield waits for the next period.
    let yields = results(&app("a", "run 3ms; yield", [8, 20, 20], "1"), ONE);
    near(share(&yields, "a", 1.0), 0.1505, 0.05, "3 ms and a yield");
}
