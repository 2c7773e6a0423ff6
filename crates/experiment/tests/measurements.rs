//! What a scenario asks to be measured: from its text to the cells of the result.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use experiment::result::Results;
use scenario::{Overrides, load};

fn results(text: &str, set: &[&str]) -> Results {
    let set = set.iter().map(|pair| (*pair).to_owned()).collect();
    let overrides = Overrides { set, warn: true, ..Overrides::default() };
    let experiment = load("test.yaml", text, &overrides).unwrap_or_else(|errors| panic!("{errors}"));
    assert_eq!(experiment.warnings, Vec::<String>::new());
    experiment::run::run(&experiment, 1, &|_, _| ()).unwrap()
}

const DAEMON: &str = "\
name: daemon
machine: 'core:1'
kernel: linux-6.18
apps:
  code: { workload: { hog: { work: 500ms } }, background: false }
  daemon: { workload: { daemon: { burst: 1ms, pause: 9ms } }, tasks: 1 }
policies: [LOAD]
";

#[test]
fn latencies_are_measured_when_they_are_asked_for() {
    let (without, with) = (results(DAEMON, &[]), results(DAEMON, &["latencies=true"]));
    let only = |results: &Results| -> Vec<String> {
        let cells = results.cells.iter().filter(|cell| cell.policy == "LOAD" && cell.app == "daemon");
        cells.map(|cell| cell.metric.clone()).collect()
    };
    let (before, after) = (only(&without), only(&with));
    let added: Vec<&str> = after.iter().filter(|name| !before.contains(name)).map(String::as_str).collect();
    assert_eq!(
        added,
        [
            "wakeup_latency_median",
            "wakeup_latency_p90",
            "wakeup_latency_p99",
            "wakeup_latency_max",
            "run_length_median",
            "run_length_p90",
            "run_length_p99",
            "run_length_max"
        ]
    );
    assert_eq!(with.provenance.digest, without.provenance.digest, "the runs are the same");
    let mean = |metric| with.get("", "LOAD", "daemon", metric).unwrap().mean;
    assert!(mean("wakeup_latency_median") <= mean("wakeup_latency_p99"));
    assert!(mean("wakeup_latency_p99") <= mean("wakeup_latency_max"));
    assert!(mean("run_length_median") > 0.5e-3, "{}", mean("run_length_median"));
    // A task that never sleeps is never woken.
    assert!(with.get("", "LOAD", "code", "wakeup_latency_max").is_none());
    assert!(with.get("", "LOAD", "code", "run_length_max").is_some());
}
