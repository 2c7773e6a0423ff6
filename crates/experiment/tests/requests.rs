//! The requests of a run as lines: they are those that the metrics measure.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use experiment::requests;
use experiment::result::Results;
use experiment::run::run;
use scenario::{Overrides, load};
use serde_json::Value;

/// Requests from outside with a deadline, tasks with a clock, users that think, and a program that answers
/// nothing.
const SERVER: &str = "\
name: server
machine: core:2
window: 400ms
warm_up: 50ms
start_jitter: 0s
apps:
  shop:
    deadline: 4ms
    program:
      kinds:
        desk: { count: 2, code: 'forever { receive jobs; run 1500us exponential; done; run 100us }' }
        clock: { code: 'forever { until 7ms; run 2ms }' }
      arrivals: { jobs: { mean: 1ms } }
  users: { workload: { interactive: { think: 3ms, burst: 500us } }, tasks: 2, deadline: 800us }
  hog: { workload: { hog: {} }, tasks: 1 }
policies: [LOAD]
baseline: none
repeat: 1
";

fn lines(text: &str) -> Vec<Value> {
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// The value of a metric of an application.
fn metric(result: &Results, app: &str, name: &str) -> Option<f64> {
    let cell = result.cells.iter().find(|cell| cell.app == app && cell.metric == name)?;
    Some(cell.summary.mean)
}

/// The lines of the only run of a scenario, and its result.
fn written(scenario: &str, stepwise: bool) -> (String, Results) {
    let overrides = Overrides { stepwise, ..Overrides::default() };
    let experiment = load("x.yaml", scenario, &overrides).unwrap_or_else(|said| panic!("{said}"));
    let mut out = Vec::new();
    assert!(requests::has(&experiment.runs[0]));
    requests::write(&experiment.runs[0], &mut out).unwrap();
    (String::from_utf8(out).unwrap(), run(&experiment, 1, &|_, _| ()).unwrap())
}

/// The nearest rank of sorted times.
fn quantile(sorted: &[f64], thousandths: usize) -> f64 {
    sorted[(sorted.len() * thousandths).div_ceil(1_000).max(1) - 1]
}

/// Two times agree as far as a histogram tells them apart.
fn near(one: f64, other: f64) -> bool {
    (one - other).abs() <= one.abs().max(other.abs()) / 64.0 + 1e-9
}

fn of<'a>(lines: &'a [Value], app: &str) -> Vec<&'a Value> {
    lines.iter().filter(|line| line["app"] == app).collect()
}

fn times(lines: &[&Value], field: &str) -> Vec<f64> {
    let mut all: Vec<f64> = lines.iter().map(|line| line[field].as_f64().unwrap()).collect();
    all.sort_by(f64::total_cmp);
    all
}

fn check(text: &str, result: &Results, seconds: f64) {
    let all = lines(text);
    for app in ["shop-desk", "shop-clock", "users"] {
        let own = of(&all, app);
        assert!(own.len() > 20, "{app}: {} requests", own.len());
        let get = |name: &str| metric(result, app, name).unwrap_or_else(|| panic!("{app} has no {name}"));
        let took = times(&own, "response_s");
        for (name, q) in [("median", 500), ("p90", 900), ("p99", 990), ("max", 1_000)] {
            let measured = get(&format!("response_time_{name}"));
            assert!(near(measured, quantile(&took, q)), "{app} {name}: {measured}, {}", quantile(&took, q));
        }
        let mean = took.iter().sum::<f64>() / took.len() as f64;
        assert!((get("response_time") - mean).abs() < 2e-9 + mean * 1e-9, "{app}: {mean}");
        assert!((get("request_rate") * seconds - own.len() as f64).abs() < 1e-3, "{app}");
        let late = own.iter().filter(|line| line["late"] == true).count() as f64;
        assert!(
            (late > 0.0 || app != "shop-desk") && (get("deadline_misses") - late).abs() < 1e-9,
            "{app}: {late}"
        );
        assert!((get("missed_deadlines") - late / own.len() as f64).abs() < 1e-9, "{app}");
        let tardiness = times(&own, "tardiness_s");
        let mean = tardiness.iter().sum::<f64>() / own.len() as f64;
        let measured = get("tardiness");
        assert!((measured - mean).abs() <= mean / 4.0, "{app}: {measured}, {mean}");
        assert!((get("tardiness_max") - tardiness.last().unwrap()).abs() < 1e-9, "{app}");
        assert!((get("lateness_max").max(0.0) - get("tardiness_max")).abs() < 1e-9, "{app}");
        for line in own {
            let at = |field: &str| line[field].as_f64().unwrap();
            assert!(at("arrival_s") <= at("begin_s") && at("begin_s") <= at("end_s"), "{line}");
            assert!((at("end_s") - at("arrival_s") - at("response_s")).abs() < 1e-9, "{line}");
            assert!((at("begin_s") - at("arrival_s") - at("wait_s")).abs() < 1e-9, "{line}");
            assert_eq!(line["late"] == true, at("tardiness_s") > 0.0, "{line}");
        }
    }
    let waits = times(&of(&all, "shop-desk"), "wait_s");
    let last = metric(result, "shop-desk", "request_wait_p99").unwrap();
    // Waits are measured as requests are taken, lines are written as they are answered: a few differ.
    let own = quantile(&waits, 990);
    assert!((last - own).abs() < last / 8.0, "{last}, {own}");
    assert!(of(&all, "hog").is_empty());
    let ends: Vec<f64> = all.iter().map(|line| line["end_s"].as_f64().unwrap()).collect();
    assert!(ends.is_sorted(), "in the order of the answers");
}

#[test]
fn the_lines_are_the_requests_that_the_metrics_measure() {
    let (text, result) = written(SERVER, false);
    check(&text, &result, 0.4);
    // The same run, once more and poll by poll: the same bytes.
    assert_eq!(written(SERVER, false).0, text);
    assert_eq!(written(SERVER, true).0, text);
    // Without a window all of them.
    let whole = SERVER.replace("window: 400ms\nwarm_up: 50ms\n", "");
    let whole = whole.replace("forever { until 7ms; run 2ms }", "repeat 60 { until 7ms; run 2ms }");
    let (text, result) = written(&whole, false);
    check(&text, &result, metric(&result, "all", "makespan").unwrap());
}
