//! Locks, teams, ranks and quotas with more threads than cpus, beside a host with Linux 6.18
//! (cases/host-programs.csv).

use experiment::result::Results;
use experiment::run::run;
use scenario::{Overrides, load};

use crate::support::mean;

/// Work of one pass of a loop with a lock, in seconds.
const LAP: f64 = 123.6e-6;

/// What the host was asked for.
fn found(results: &Results, metric: &str) -> f64 {
    let of = |metric: &str| mean(results, "", "LOAD", "p", metric);
    if metric == "laps" { of("work") / of("cpu_time") / LAP } else { of(metric) }
}

#[test]
fn programs_with_more_threads_than_cpus_take_as_long_as_on_a_host() {
    let rows = include_str!("cases/host-programs.csv").lines().filter(|line| !line.starts_with('#')).skip(1);
    let mut far = Vec::new();
    for row in rows {
        let at: Vec<&str> = row.split('|').collect();
        let [name, apps, scenario, metric] = [at[0], at[1], at[2], at[3]];
        let [host, within] = [4, 7].map(|i: usize| at[i].parse::<f64>().unwrap());
        let scenario = scenario.replace("; ", "\n");
        let text = format!(
            "name: t\nmachine: core:2\nkernel: linux-6.18\nbaseline: none\nrepeat: 3\npolicies: [LOAD]\napps: {{ \
             {apps} }}\n{scenario}\n"
        );
        let experiment = load("text", &text, &Overrides::default()).unwrap_or_else(|said| panic!("{said}"));
        let found = found(&run(&experiment, 1, &|_, _| {}).unwrap(), metric);
        let off = 100.0 * (found / host - 1.0);
        println!("{name}: {found:.4} for {host}, {off:+.1} %");
        if off.abs() > within {
            far.push(format!("{name}: {found:.4} for {host}, {off:+.1} %"));
        }
    }
    assert!(far.is_empty(), "{far:#?}");
}
