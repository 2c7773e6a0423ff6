//! `oversim run --requests` as a user sees it: the lines are the requests that the metrics measure.

use std::fs;

use serde_json::Value;

use crate::support::oversim;

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
    text.lines().map(|line| serde_json::from_str(line).expect("a line of JSON")).collect()
}

/// The value of a metric of an application.
fn metric(result: &Value, app: &str, name: &str) -> Option<f64> {
    let cells = result["cells"].as_array().expect("cells");
    let cell = cells.iter().find(|cell| cell["app"] == app && cell["metric"] == name)?;
    cell["mean"].as_f64()
}

/// Writes the requests of a scenario: the file, and the result as JSON.
fn written(scenario: &str, more: &[&str]) -> (String, Value) {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("r.ndjson");
    let args = ["run", "-", "--format", "json", "--requests", path.to_str().expect("a path in UTF-8")];
    let (code, out, err) = oversim(&[&args[..], more].concat(), scenario);
    assert_eq!(code, 0, "{err}");
    (fs::read_to_string(path).expect("requests"), serde_json::from_str(&out).expect("results"))
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
    let mut all: Vec<f64> = lines.iter().map(|line| line[field].as_f64().expect("a number")).collect();
    all.sort_by(f64::total_cmp);
    all
}

fn check(text: &str, result: &Value, seconds: f64) {
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
        let last = *tardiness.last().expect("somebody is late");
        assert!(near(get("tardiness_max"), last), "{app}: {}, {last}", get("tardiness_max"));
        assert!((get("lateness_max").max(0.0) - get("tardiness_max")).abs() < 1e-9, "{app}");
        for line in own {
            let at = |field: &str| line[field].as_f64().expect("a number");
            assert!(at("arrival_s") <= at("begin_s") && at("begin_s") <= at("end_s"), "{line}");
            assert!((at("end_s") - at("arrival_s") - at("response_s")).abs() < 1e-9, "{line}");
            assert!((at("begin_s") - at("arrival_s") - at("wait_s")).abs() < 1e-9, "{line}");
            assert_eq!(line["late"] == true, at("tardiness_s") > 0.0, "{line}");
        }
    }
    let waits = times(&of(&all, "shop-desk"), "wait_s");
    let last = metric(result, "shop-desk", "request_wait_p99").expect("a wait");
    // Waits are measured as requests are taken, lines are written as they are answered: a few differ.
    let own = quantile(&waits, 990);
    assert!((last - own).abs() < last / 8.0, "{last}, {own}");
    assert!(of(&all, "hog").is_empty());
    let ends: Vec<f64> = all.iter().map(|line| line["end_s"].as_f64().expect("an end")).collect();
    assert!(ends.is_sorted(), "in the order of the answers");
}

#[test]
fn the_lines_are_the_requests_that_the_metrics_measure() {
    let (text, result) = written(SERVER, &[]);
    check(&text, &result, 0.4);
    // The same run, however it is simulated and by how many threads: the same bytes.
    for more in [&["--jobs", "1"][..], &["--stepwise"], &["--trace-run", "0"]] {
        assert_eq!(written(SERVER, more).0, text, "{more:?}");
    }
    // Without a window all of them.
    let whole = SERVER.replace("window: 400ms\nwarm_up: 50ms\n", "");
    let whole = whole.replace("forever { until 7ms; run 2ms }", "repeat 60 { until 7ms; run 2ms }");
    let (text, result) = written(&whole, &[]);
    check(&text, &result, metric(&result, "all", "makespan").unwrap());
}

#[test]
fn of_several_runs_one_is_chosen() {
    let several = SERVER.replace("repeat: 1", "repeat: 2");
    let (second, _) = written(&several, &["--trace-run", "1"]);
    let (first, _) = written(&several, &["--trace-run", "0"]);
    assert_eq!(first, written(SERVER, &[]).0);
    assert_ne!(first, second);
}

#[test]
fn lines_are_as_their_schema_says() {
    let (code, schema, err) = oversim(&["schema", "request"], "");
    assert_eq!(code, 0, "{err}");
    let schema: Value = serde_json::from_str(&schema).unwrap();
    let validator = jsonschema::draft7::new(&schema).unwrap();
    for scenario in [SERVER.to_owned(), SERVER.replace("deadline: 4ms", "start: 0s")] {
        let all = lines(&written(&scenario, &[]).0);
        for line in &all {
            assert!(validator.is_valid(line), "{line}");
            let fields = line.as_object().unwrap().keys();
            assert!(fields.into_iter().all(|field| schema["properties"][field].is_object()), "{line}");
        }
        let desk = of(&all, "shop-desk");
        assert_eq!(desk[0].get("deadline_s").is_some(), scenario == SERVER);
    }
}

#[test]
fn what_cannot_be_written_is_refused_before_anything_runs() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    fs::write(path("there"), "mine").unwrap();
    let hog = "name: hog\nmachine: core:1\npolicies: [LOAD]\n\
        apps: { hog: { workload: { hog: { work: 1ms } }, background: false } }\n";
    let two = SERVER.replace("policies: [LOAD]", "policies: [LOAD, PIN]");
    for (scenario, args, says) in [
        (SERVER, vec![path("there")], "--force"),
        (SERVER, vec!["-".into()], "is not the name of a file"),
        (SERVER, vec![path("x"), "--trace-run".into(), "9".into()], "numbered from 0 to 0"),
        (SERVER, vec![path("x.txt"), "--trace".into(), path("x.txt")], "x.txt"),
        (SERVER, vec![path("x"), "--replay-schedule".into(), "s".into()], "cannot be used with"),
        (&two, vec![path("x")], "--requests writes one run and the scenario has 2"),
        (hog, vec![path("x"), "--trace-run".into(), "1".into()], "no application of run 1 answers requests"),
    ] {
        let args: Vec<&str> =
            ["run", "-", "--requests"].into_iter().chain(args.iter().map(String::as_str)).collect();
        let (code, out, err) = oversim(&args, scenario);
        assert!(code == 2 && out.is_empty() && err.contains(says), "{args:?}: {code} {err}");
    }
    assert_eq!(fs::read_to_string(path("there")).unwrap(), "mine");
    let (code, _, err) = oversim(&["run", "-", "--requests", &path("there"), "--force"], SERVER);
    assert_eq!(code, 0, "{err}");
    assert_eq!(fs::read_to_string(path("there")).unwrap(), written(SERVER, &[]).0);
}
