//! What an answer says about a case: it leads with the objective of the scenario.

use experiment::report::{View, format};
use experiment::result::Results;
use experiment::statements::{Extremes, Table, answer};

use crate::support::{mean, results};

/// The line of the answer with this label.
fn line(results: &Results, label: &str) -> String {
    let table = Table::of(results);
    let extremes = Extremes::of(&table).unwrap();
    let lines = answer::said(&table, &extremes);
    let found = lines.iter().find(|line| line.label == label);
    found.unwrap_or_else(|| panic!("no line {label}")).text.clone()
}

/// A form of the result.
fn written(results: &Results, form: &str) -> String {
    let mut out = Vec::new();
    let view = View { width: 100, colour: false, full: false, subject: None };
    format(form).unwrap().write(results, &mut out, &view).unwrap();
    String::from_utf8(out).unwrap()
}

#[test]
fn a_convoy_is_worst_first_come_first_served() {
    let results = results("a1-convoy.yaml", &[]);
    // By hand: 10, 11 and 12 s, or 12, 3 and 3 s in turns.
    let of = |policy| mean(&results, "", policy, "all", "turnaround");
    assert!((of("fifo") - 11.0).abs() < 0.05, "{}", of("fifo"));
    assert!((of("rr") - 6.0).abs() < 0.1, "{}", of("rr"));
    assert!(line(&results, "Avoid").starts_with("fifo: 11.0 s"), "{}", line(&results, "Avoid"));
    assert!(line(&results, "Best").starts_with("by mean turnaround: "), "{}", line(&results, "Best"));
    // Waiting and first response: 0, 10 and 11 s.
    let waits = |metric| mean(&results, "", "fifo", "all", metric);
    assert!((waits("waiting_time") - 7.0).abs() < 0.05 && (waits("first_response") - 7.0).abs() < 0.05);
    // The throughput decides if the user says so; the work is the same.
    let by_makespan = self::results("a1-convoy.yaml", &["objective=makespan"]);
    assert!(line(&by_makespan, "Best").starts_with("by makespan: "));
}

#[test]
fn a_stream_of_jobs_is_judged_by_turnaround_and_has_a_line_for_each() {
    let results = results("a2-mm1.yaml", &["repeat=2", "apps.job.copies=60"]);
    let result = line(&results, "Result");
    assert!(result.starts_with("by mean turnaround: LOAD: ") && result.contains("queue time"), "{result}");
    let times = ["mean", "median", "p90", "p99", "max"].map(|part| {
        let metric = if part == "mean" { "turnaround".to_owned() } else { format!("turnaround_{part}") };
        mean(&results, "", "LOAD", "job", &metric)
    });
    assert!(times[1] <= times[2] && times[2] <= times[3] && times[3] <= times[4], "{times:?}");
    let text = written(&results, "text");
    assert!(["p50", "p90", "p99", "max"].iter().all(|head| text.contains(head)), "{text}");
    // 60 copies in two runs, and two dedicated runs.
    let jobs = written(&results, "jobs");
    let jobs: Vec<serde_json::Value> = jobs.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(jobs.len(), 2 * 60 + 2);
    let shared: Vec<&serde_json::Value> = jobs.iter().filter(|job| job["policy"] == "LOAD").collect();
    let sum: f64 = shared.iter().map(|job| job["turnaround"].as_f64().unwrap()).sum();
    assert!((sum / shared.len() as f64 - times[0]).abs() < 1e-6);
    for job in shared {
        let time = |key: &str| job[key].as_f64().unwrap();
        assert!((time("end") - time("arrival") - time("turnaround")).abs() < 1e-6);
        // One task without sleep waits whenever it has no cpu.
        assert!((time("waiting") + time("cpu_time") - time("turnaround")).abs() < 1e-3, "{job}");
        assert!(time("arrival") <= time("start") && time("start") <= time("first_run"));
    }
}

#[test]
fn users_are_judged_by_response() {
    let results = results("a3-service.yaml", &[]);
    let best = line(&results, "Best");
    assert!(best.starts_with("by response p99: ") && best.contains("; mean "), "{best}");
    let p99 = |policy| mean(&results, "", policy, "users", "response_time_p99");
    assert!(p99("EDF") >= mean(&results, "", "EDF", "users", "response_time"));
    // By the mean, what differs in the percentiles is not level.
    let means = self::results("a3-service.yaml", &["objective=response"]);
    let best = line(&means, "Best");
    let wakeups = |policy| mean(&means, "", policy, "users", "wakeup_latency_p99");
    let (edf, mlfq) = (wakeups("EDF"), wakeups("MLFQ"));
    if edf.max(mlfq) > 10.0 * edf.min(mlfq) {
        assert!(
            !best.contains("EDF is level with it.") && !best.contains("MLFQ is level with it."),
            "{best}"
        );
    }
}

#[test]
fn the_share_of_the_cpu_is_in_the_answer() {
    let results = results("a4-nice.yaml", &[]);
    let share = |app| mean(&results, "", "LOAD", app, "cpu_share");
    assert!((share("normal") - 0.753).abs() < 0.02 && (share("nice") - 0.247).abs() < 0.02);
    let text = written(&results, "text");
    assert!(text.contains("Cpu share of each program in %"), "{text}");
}
