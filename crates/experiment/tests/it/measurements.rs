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
            "wakeup_latency_mean",
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

/// Two hogs that never end share a core, and a third one has its own.
const ENDLESS: &str = "\
name: endless
machine: 'core:2'
kernel: linux-6.18
apps:
  one: { workload: { hog: { work: 1000s } }, cpus: [0], tasks: 1, background: false }
  two: { workload: { hog: { work: 1000s } }, cpus: [0], tasks: 1 }
  alone: { workload: { hog: { work: 1000s } }, cpus: [1], tasks: 1 }
policies: [PIN]
window: 1200ms
";

#[test]
fn a_window_counts_rates_of_all_applications() {
    let counted = results(ENDLESS, &[]);
    assert!(counted.all_completed() && counted.provenance.window);
    let rate = |app| counted.get("", "PIN", app, "work_rate").unwrap().mean;
    // The core does 1 s of work each second, apart from switches and ticks.
    let whole = rate("alone");
    for app in ["one", "two"] {
        assert!((rate(app) / whole - 0.5).abs() < 0.005, "{app}: {} of {whole}", rate(app));
        let inverse = counted.get("", "PIN", app, "time_per_work").unwrap().mean;
        assert!((inverse * rate(app) - 1.0).abs() < 1e-6);
    }
    let slowdown = counted.get("", "PIN", "one", "slowdown").unwrap().mean;
    assert!((slowdown - 2.0).abs() < 0.02, "{slowdown}");
    for metric in ["run_time", "makespan"] {
        assert!(counted.cells.iter().all(|cell| cell.metric != metric), "{metric}");
    }
}

#[test]
fn a_window_and_its_warm_up_are_the_whole_run() {
    let work = |set: &[&str]| {
        let counted = results(ENDLESS, set);
        counted.get("", "PIN", "one", "work").unwrap().mean
    };
    let parts = [work(&["window=400ms"]), work(&["window=800ms", "warm_up=400ms"])];
    assert!((parts[0] + parts[1] - work(&[])).abs() < 1e-8, "{parts:?}");
}

#[test]
fn latencies_of_a_window_are_those_that_end_in_it() {
    let text = DAEMON.replace("500ms", "1000s") + "latencies: true\nwindow: 95ms\nwarm_up: 5ms\n";
    let counted = results(&text, &["start_jitter=0s"]);
    assert!(counted.get("", "LOAD", "daemon", "wakeup_latency_max").is_some());
    // The daemon wakes every 10 ms, first at 9 ms: never before 5 ms.
    let none = results(&text, &["start_jitter=0s", "window=2ms"]);
    assert!(none.get("", "LOAD", "daemon", "wakeup_latency_max").is_none());
}

#[test]
fn a_program_that_ends_before_the_window_is_no_measurement() {
    let ended = results(&ENDLESS.replacen("1000s", "100ms", 1), &[]);
    assert!(!ended.all_completed());
    let note = &ended.notes[0].text;
    assert!(note.contains("one ended before the window did"), "{note}");
    assert!(ended.get("", "PIN", "one", "work_rate").is_none());
}
