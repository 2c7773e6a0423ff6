//! The scheduling chapters of Operating Systems: Three Easy Pieces (Arpaci-Dusseau): its numbers.

use std::fs;

use experiment::result::Results;
use experiment::run::{run, simulate};
use scenario::plan::Experiment;
use scenario::{Overrides, load};
use sim_core::outcome::RunReport;

use crate::support::mean;

fn results(name: &str, settings: &[&str]) -> Results {
    run(&experiment(name, settings), 1, &|_, _| {}).unwrap()
}

fn experiment(name: &str, settings: &[&str]) -> Experiment {
    let path = format!("{}/../../scenarios/ostep/{name}.yaml", env!("CARGO_MANIFEST_DIR"));
    let text = fs::read_to_string(&path).unwrap();
    let set = settings.iter().map(|setting| (*setting).to_owned()).collect();
    let overrides = Overrides { set, ..Overrides::default() };
    load(&path, &text, &overrides).unwrap_or_else(|said| panic!("{said}"))
}

/// A number of the text, in seconds, which switches and forks change by less than a thousandth.
#[track_caller]
fn is(results: &Results, (configuration, policy, app, metric): (&str, &str, &str, &str), text: f64) {
    let found = mean(results, configuration, policy, app, metric);
    assert!((found - text).abs() <= 0.002 * text + 0.003, "{policy} {app} {metric}: {found}, there {text}");
}

#[test]
fn first_in_first_out_and_the_convoy() {
    let fifo = results("fifo", &[]);
    is(&fifo, ("", "FIFO", "all", "turnaround"), 20.0);
    is(&fifo, ("", "FIFO", "all", "first_response"), 10.0);
    let convoy = results("convoy", &[]);
    is(&convoy, ("=0s", "FIFO", "all", "turnaround"), 110.0);
    is(&convoy, ("=1ms", "SJF", "all", "turnaround"), 50.0);
}

#[test]
fn shortest_job_and_shortest_time_to_completion() {
    let late = results("late_arrivals", &[]);
    is(&late, ("", "SJF", "all", "turnaround"), 310.0 / 3.0);
    is(&late, ("", "SRTF", "all", "turnaround"), 50.0);
}

#[test]
fn turns_answer_soon_and_end_late() {
    let turns = results("round_robin", &[]);
    is(&turns, ("", "SJF", "all", "first_response"), 5.0);
    is(&turns, ("", "FIFO", "all", "first_response"), 1.0);
    is(&turns, ("", "SJF", "all", "turnaround"), 10.0);
    is(&turns, ("", "FIFO", "all", "turnaround"), 14.0);
    let homework = results("homework_7", &[]);
    for policy in ["FIFO", "SJF"] {
        is(&homework, ("", policy, "all", "turnaround"), 1000.0 / 3.0);
        is(&homework, ("", policy, "all", "first_response"), 400.0 / 3.0);
    }
    is(&homework, ("", "RR", "all", "turnaround"), (298.0 + 499.0 + 600.0) / 3.0);
    is(&homework, ("", "RR", "all", "first_response"), 1.0);
}

#[test]
fn a_short_job_passes_the_levels_of_mlfq() {
    let mlfq = results("mlfq", &[]);
    is(&mlfq, ("", "MLFQ", "b", "turnaround"), 0.020);
    is(&mlfq, ("", "MLFQ", "a", "turnaround"), 0.200);
}

#[test]
fn tickets_are_shares_and_lotteries_get_fair_with_time() {
    let tickets = results("tickets", &[]);
    let [a, b] = ["a", "b"].map(|app| mean(&tickets, "", "LOTTERY", app, "cpu_time"));
    let share = a / b;
    assert!((2.7..3.3).contains(&share), "{share}");
    let lottery = experiment("lottery", &[]);
    let reports = simulate(&lottery, 1, &|_, _| {}).unwrap();
    // The first end over the last one, by seeds.
    let fairness = |configuration: usize| {
        let runs = lottery.runs.iter().zip(&reports).filter(|(plan, _)| plan.configuration == configuration);
        let ratio = |report: &RunReport| {
            let [a, b] = [0, 1].map(|app| report.apps[app].turnaround().unwrap().ns() as f64);
            a.min(b) / a.max(b)
        };
        let ratios: Vec<f64> = runs.map(|(_, report)| ratio(report)).collect();
        ratios.iter().sum::<f64>() / ratios.len() as f64
    };
    let by_length = [0, 1, 2, 3].map(fairness);
    // 1 - C(2n, n) / 4^n of the figure 9.2; three standard errors of 30 seeds.
    let theory = [(0.5, 0.01), (0.824, 0.08), (0.944, 0.03), (0.982, 0.01)];
    let near = |(found, (mean, error)): (&f64, (f64, f64))| (found - mean).abs() < error;
    assert!(by_length.iter().zip(theory).all(near), "{by_length:?}");
}

#[test]
fn queues_of_their_own_leave_an_imbalance_and_one_queue_does_not() {
    let cpus = results("multi_cpu", &[]);
    is(&cpus, ("", "FIFO", "a", "turnaround"), 20.0);
    is(&cpus, ("", "FIFO", "b", "turnaround"), 25.0);
    let ends = ["a", "b", "d"].map(|app| mean(&cpus, "", "VTIME", app, "turnaround"));
    assert!(ends.iter().all(|end| (24.0..25.3).contains(end)), "{ends:?}");
}

/// The last end, in seconds, of each configuration of a scenario with one policy.
fn makespans(name: &str) -> Vec<f64> {
    let plan = experiment(name, &[]);
    let reports = simulate(&plan, 1, &|_, _| {}).unwrap();
    reports.iter().map(|report| report.makespan.ns() as f64 / 1e9).collect()
}

/// What multi.py computes, in units of 0.1 s; ticks and switches change it by less than this part.
#[track_caller]
fn are(found: &[f64], units: &[f64]) {
    let near = |(found, units): (&f64, &f64)| (found * 10.0 - units).abs() <= 0.005 * units;
    assert!(found.len() == units.len() && found.iter().zip(units).all(near), "{found:?}, there {units:?}");
}

#[test]
fn caches_that_hold_a_job_make_three_cpus_more_than_three_times_as_fast() {
    // -L a:100:100,b:100:100,c:100:100 with -n 1, 2 and 3; -M 50, then -M 100.
    are(&makespans("multi_cache"), &[300.0, 150.0, 100.0, 300.0, 150.0, 55.0]);
}

#[test]
fn affinity_keeps_caches_warm() {
    // -n 2 -L a:100:100,b:100:50,c:100:50: 150; then with -A a:0,b:1,c:1. Here the last turns of two jobs are
    // on cpus that still hold their data: one fetch of 5 units less than in the text.
    are(&makespans("multi_affinity"), &[150.0 - 5.0, 110.0]);
}

#[test]
fn an_idle_cpu_that_steals_gives_both_jobs_a_cache() {
    // The same with -p -P 0; then with -P 55.
    are(&makespans("multi_steal"), &[200.0, 95.0]);
}
