//! Programs bound to a part of the machine.

use crate::support::{mean, results};

#[test]
fn bound_threads_of_a_team_have_a_cpu_each() {
    let found = results("g01-mask-part-of-a-package.yaml", &["repeat=2"]);
    for policy in ["PIN", "LOAD"] {
        let seconds = mean(&found, "", policy, "team", "run_time");
        assert!((9.9..10.2).contains(&seconds), "{policy}: {seconds} s");
    }
}

#[test]
fn bound_jobs_have_a_cpu_each() {
    let found = results("g01b-mask-independent-jobs.yaml", &[]);
    let seconds = mean(&found, "", "LOAD", "jobs", "run_time");
    assert!((9.9..10.2).contains(&seconds), "six on 0-5: {seconds} s");
    let five = ["apps.jobs.tasks=5", "apps.jobs.cpus=0-4"];
    let found = results("g01b-mask-independent-jobs.yaml", &five);
    let seconds = mean(&found, "", "LOAD", "jobs", "run_time");
    assert!((9.9..10.2).contains(&seconds), "five on 0-4: {seconds} s");
}

/// Seconds of a team of one thread per allowed cpu with 2 s of work each under LOAD of 6.18.
fn team(machine: &str, runtime: &str, cpus: &str, tasks: u32) -> f64 {
    let machine = format!("machine={machine}");
    let runtime = format!("apps.team.runtime={runtime}");
    let (cpus, tasks) = (format!("apps.team.cpus={cpus}"), format!("apps.team.tasks={tasks}"));
    let found = results(
        "g01-mask-part-of-a-package.yaml",
        &[&machine, &runtime, &cpus, &tasks, "apps.team.workload.intervals=4000", "repeat=2"],
    );
    mean(&found, "", "LOAD", "team", "run_time")
}

#[test]
fn masks_over_parts_of_packages_caches_and_nodes_cost_little() {
    for machine in ["package:2 core:4", "cache:2 core:4", "numa:2 core:4", "package:2 core:16", "core:8"] {
        for (cpus, tasks) in [("0-4", 5), ("0-5", 6), ("0-6", 7), ("1-6", 6), ("0-3,5,6", 6)] {
            let seconds = team(machine, "spin", cpus, tasks);
            assert!((1.9..2.2).contains(&seconds), "{machine}, {cpus}: {seconds} s");
        }
    }
}

#[test]
fn masks_cost_little_however_a_team_waits() {
    for runtime in ["spin", "yield", "block", "libgomp", "openmp"] {
        let seconds = team("package:2 core:4", runtime, "0-5", 6);
        assert!((1.9..2.2).contains(&seconds), "{runtime}: {seconds} s");
    }
}

#[test]
fn forks_count_idle_cpus_that_the_mask_forbids() {
    // Half of the forks go to the group of which the mask allows four of eight cpus: those cpus are crowded.
    let found = results("c43-forks-under-a-mask.yaml", &["repeat=1", "apps.jobs.workload.jobs=400"]);
    let seconds = |cpus| mean(&found, cpus, "LOAD", "jobs", "run_time");
    let (four, six) = (seconds("0-11"), seconds("8-13"));
    assert!(four > 1.15 * six, "{four} s with 8 and 4 of the groups, {six} s with 6 and 6");
}
