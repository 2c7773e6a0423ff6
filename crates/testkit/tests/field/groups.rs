//! Control groups that are not pinned, beside what Linux 6.18 gives them (cases/vm-groups.csv).

use experiment::run::run;
use scenario::{Overrides, load};

use crate::support::mean;

/// A row of vm-groups.csv.
#[derive(Debug)]
struct Row {
    machine: String,
    tasks: [u32; 2],
    weights: [u32; 2],
    /// The group whose tasks sleep half of the time, if one does.
    sleeps: Option<usize>,
    /// Part of the cpu time of both that the first group had, in the mean of the runs.
    first: f64,
    /// How near the model has to be.
    within: f64,
}

fn rows() -> Vec<Row> {
    let lines = include_str!("cases/vm-groups.csv").lines().filter(|line| !line.starts_with('#')).skip(1);
    let rows = lines.map(|line| {
        let at: Vec<&str> = line.split(',').collect();
        let count = |i: usize| at[i].parse::<u32>().unwrap();
        let sleeps = ["a", "b"].iter().position(|group| *group == at[5]);
        Row {
            machine: at[0].to_owned(),
            tasks: [count(1), count(2)],
            weights: [count(3), count(4)],
            sleeps,
            first: at[6].parse().unwrap(),
            within: f64::from(count(10)) / 100.0,
        }
    });
    rows.collect()
}

/// The same part in the mean of three seeds of 10 seconds.
fn simulated(row: &Row) -> f64 {
    let program = |group: usize| {
        let daemon = "{ daemon: { burst: 5ms, pause: 5ms } }";
        if row.sleeps == Some(group) { daemon } else { "{ hog: { work: 1000s } }" }
    };
    let text = format!(
        "name: t\nmachine: \"{}\"\nkernel: linux-6.18\nbaseline: none\nrepeat: 3\nwindow: 10s\nwarm_up: 2s\npolicies: \
         [LOAD]\napps:\n  a: {{ workload: {}, tasks: {}, cgroup: a }}\n  b: {{ workload: {}, tasks: {}, \
         cgroup: b }}\ncgroups: {{ a: {{ weight: {} }}, b: {{ weight: {} }} }}\n",
        row.machine,
        program(0),
        row.tasks[0],
        program(1),
        row.tasks[1],
        row.weights[0],
        row.weights[1],
    );
    let experiment = load("text", &text, &Overrides::default()).unwrap_or_else(|said| panic!("{said}"));
    let found = run(&experiment, 1, &|_, _| {}).unwrap();
    let [a, b] = ["a", "b"].map(|app| mean(&found, "", "LOAD", app, "cpu_share"));
    a / (a + b)
}

#[test]
fn groups_that_are_not_pinned_get_what_linux_gives_them() {
    let mut far = Vec::new();
    for row in rows() {
        let found = simulated(&row);
        let off = found / row.first - 1.0;
        println!("{row:?}: {found:.4}, {:+.1} %", 100.0 * off);
        if off.abs() > row.within {
            far.push(format!("{row:?}: {found:.4}"));
        }
    }
    assert!(far.is_empty(), "{far:#?}");
}
