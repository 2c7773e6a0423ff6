//! Who gets how much of a cpu, beside what Linux 6.18 gave on a host (cases/host-shares.csv).

use experiment::result::Results;
use experiment::run::run;
use scenario::{Overrides, load};

use crate::support::{mean, results};

/// The part of the cpu time of all that programs of this name had; kinds of `s` are `s-KIND`.
fn part(results: &Results, app: &str) -> f64 {
    let shares = results.cells.iter().filter(|cell| cell.metric == "cpu_share" && cell.app != "all");
    let of = |name: &str| name == app || name.strip_prefix(app).is_some_and(|rest| rest.starts_with('-'));
    let (mut own, mut all) = (0.0, 0.0);
    for cell in shares {
        all += cell.summary.mean;
        own += if of(&cell.app) { cell.summary.mean } else { 0.0 };
    }
    own / all
}

#[test]
fn programs_share_cpus_as_on_a_host() {
    let rows = include_str!("cases/host-shares.csv").lines().filter(|line| !line.starts_with('#')).skip(1);
    let mut far = Vec::new();
    for row in rows {
        let at: Vec<&str> = row.split('|').collect();
        let [name, apps, groups] = [at[0], at[1], at[2]];
        let [share, within] = [3, 6].map(|i: usize| at[i].parse::<f64>().unwrap());
        let text = format!(
            "name: t\nmachine: core:2\nkernel: linux-6.18\nbaseline: none\nrepeat: 3\nwindow: 3s\nwarm_up: \
             1s\npolicies: [LOAD]\napps: {{ {apps} }}\n{groups}\n"
        );
        let experiment = load("text", &text, &Overrides::default()).unwrap_or_else(|said| panic!("{said}"));
        let found = part(&run(&experiment, 1, &|_, _| {}).unwrap(), "s");
        let off = 100.0 * (found / share - 1.0);
        println!("{name}: {found:.4} for {share}, {off:+.1} %");
        if off.abs() > within {
            far.push(format!("{name}: {found:.4} for {share}"));
        }
    }
    assert!(far.is_empty(), "{far:#?}");
}

/// Laps of 100 us outside and 20 us inside a lock for each second of cpu time, on one pinned cpu or two: medians of
/// five runs on the host. Lengths vary there; constant ones would keep step with the ticks and with each other.
#[test]
fn tasks_with_a_lock_get_as_far_as_on_a_host() {
    let rows = [
        ("test-and-set", 1, 4, 5_756.0),
        ("test-and-set", 2, 3, 7_059.0),
        ("test-and-set", 2, 4, 6_318.0),
        ("test-and-set", 2, 8, 4_328.0),
        ("mutex", 1, 4, 8_108.0),
        ("mutex", 2, 2, 7_963.0),
        ("mutex", 2, 4, 8_242.0),
        ("mutex", 2, 8, 8_066.0),
    ];
    for (lock, cpus, tasks, host) in rows {
        let text = format!(
            "name: t\nmachine: core:{cpus}\nkernel: {{ linux-6.18: {{ slice: 1400us }} }}\nbaseline: none\nrepeat: 3\n\
             window: 2s\npolicies: [LOAD]\napps: {{ p: {{ program: {{ locks: {{ l: {lock} }}, count: {tasks}, code: \
             'forever {{ run 100us uniform 10%; lock l; run 20us uniform 10%; unlock l }}' }} }} }}\n"
        );
        let experiment = load("text", &text, &Overrides::default()).unwrap_or_else(|said| panic!("{said}"));
        let results = run(&experiment, 1, &|_, _| {}).unwrap();
        let laps = mean(&results, "", "LOAD", "p", "work_rate") / 120e-6 / f64::from(cpus);
        let off = laps / host - 1.0;
        assert!(off.abs() < 0.1, "{lock}, {cpus} cpus, {tasks} tasks: {laps:.0} for {host}");
    }
}

/// The host stays for seconds with two hogs on one cpu and two tasks that wake each other on the other one: the
/// one of them that sleeps still counts as a whole in the load of its cpu, 2 x 1024 on either side. A group
/// around all programs changes nothing.
#[test]
fn a_pair_that_wakes_each_other_counts_as_two() {
    let group = ["cgroups={ g: { weight: 100 } }", "apps.h.cgroup=g", "apps.p.cgroup=g"];
    for settings in [&[][..], &group] {
        let found = part(&results("pair-beside-hogs.yaml", settings), "p");
        assert!((found - 0.5).abs() < 0.02, "{settings:?}: {found}");
    }
}
