//! Numbers of threads that people chose for teams, pools and thread sweeps.

use std::collections::BTreeMap;

use experiment::run::run;
use scenario::{Overrides, load};

use crate::support::{mean, results, swept};

/// Run times under LOAD by the value of the axis, from results with one axis.
fn by_axis(file: &str, settings: &[&str], app: &str, metric: &str) -> BTreeMap<u32, f64> {
    let all = swept(file, settings, &[]);
    let cells =
        all.cells.iter().filter(|cell| cell.policy == "LOAD" && cell.app == app && cell.metric == metric);
    let number = |label: &str| label.rsplit('=').next().and_then(|end| end.trim().parse().ok()).unwrap_or(0);
    cells.map(|cell| (number(&cell.configuration), cell.summary.mean)).collect()
}

/// Seconds until all programs of a scenario text have ended under LOAD.
fn whole(text: &str) -> f64 {
    let experiment = load("text", text, &Overrides::default()).unwrap_or_else(|said| panic!("{said}"));
    mean(&run(&experiment, 1, &|_, _| {}).unwrap(), "", "LOAD", "all", "makespan")
}

#[test]
fn a_cap_on_the_threads_of_four_engines_saves_most_of_their_time() {
    // vllm #45124: 14 threads in a container of 14 cpus were eight times as slow as four.
    let short = ["apps.engine.workload.work=400ms", "apps.engine.workload.intervals=200"];
    let times = by_axis("c22-thread-cap.yaml", &short, "all", "makespan");
    let ratio = times[&14] / times[&4];
    assert!((6.0..14.0).contains(&ratio), "{ratio}: {times:?}");
}

#[test]
fn small_products_on_a_pool_that_sleeps_between_calls_are_slower_with_two_threads() {
    // OpenBLAS #71: two threads five times as slow as one for small matrices. Each call wakes the other
    // thread.
    let time = |tasks: u32, work: u32, runtime: &str| {
        whole(&format!(
            "name: c37\nmachine: core:2\nkernel: linux-6.18\nbaseline: none\npolicies: \
             [LOAD]\napps:\n  dgemm: {{ \
             workload: {{ spmd: {{ work: {work}ms, intervals: 4000 }} }}, \
             runtime: {runtime}, tasks: {tasks} }}\n"
        ))
    };
    // Calls of 2 us, and of 500 us.
    let small = time(2, 8, "block") / time(1, 8, "block");
    assert!((3.0..7.0).contains(&small), "{small}");
    let large = time(2, 2_000, "block") / time(1, 2_000, "block");
    assert!((0.5..0.6).contains(&large), "{large}");
    // A pool that keeps polling gains at once.
    assert!(time(2, 8, "openmp") < time(1, 8, "openmp"));
}

#[test]
fn workers_that_poll_between_regions_cost_cpu_time_and_little_else() {
    // OpenROAD #11346: 150 s and 1,174 s of cpu time; 147 s and 405 s where idle workers sleep. A tenth
    // of it.
    let of = |runtime: &str| {
        let set = ["apps.place.workload.work=40500ms", "apps.place.workload.intervals=8", runtime];
        let found = results("c40-idle-workers-poll.yaml", &set);
        ["run_time", "cpu_time"].map(|metric| mean(&found, "", "LOAD", "place", metric))
    };
    let usual = of("apps.place.runtime=openmp");
    let asleep = of("apps.place.runtime={openmp: {block_time: 0s}}");
    assert!((1.0..1.1).contains(&(usual[0] / asleep[0])), "{usual:?}, {asleep:?}");
    let spared = usual[1] - asleep[1];
    assert!((58.0..97.0).contains(&spared), "{spared} s of cpu time for 77 s");
}

#[test]
fn a_team_on_all_hybrid_cores_collapses_beside_a_busy_program() {
    // vocalinux #492: 0.17 s with 4 threads, 0.14 with 6, 2.13 with 8 of 8.
    let short = ["apps.decode.workload.work=1s", "apps.decode.workload.intervals=5000", "repeat=3"];
    let times = by_axis("c41-hybrid.yaml", &short, "decode", "run_time");
    assert!(times[&8] > 2.0 * times[&6] && times[&8] > 2.0 * times[&4], "{times:?}");
    assert!(times[&6] < 1.5 * times[&4], "{times:?}");
}

#[test]
fn a_full_team_beside_one_more_task_waits_for_its_slices() {
    // MinusPod #333: 64 s with one thread, 28 with 4, 120 with 8 of 8. A sixty-fourth of it.
    let short = ["apps.team.workload.work=1s", "apps.team.workload.intervals=1000"];
    let times = by_axis("g05-full-team-and-one-more.yaml", &short, "team", "run_time");
    assert!(times[&8] > 4.0 * times[&4] && times[&7] < times[&4], "{times:?}");
    let alone = [&short[..], &["apps.other.workload={daemon: {burst: 1us, pause: 1s}}"]].concat();
    let times = by_axis("g05-full-team-and-one-more.yaml", &alone, "team", "run_time");
    assert!(times[&8] < 1.1 * times[&4], "alone: {times:?}");
}

#[test]
fn a_thread_sweep_on_hardware_threads_turns_after_the_cores_where_they_gain_little() {
    // MultiPar #47, 6 cores: 384, 362, 370, 375, 389, 409 s with 5 to 10 threads: 13 % more than with 6.
    let times = |smt: &str| {
        let set = ["apps.pool.workload.work=9s", smt];
        by_axis("g10-smt-thread-sweep.yaml", &set, "pool", "run_time")
    };
    let usual = times("machine.smt_compute=0.62");
    assert!(usual[&12] < usual[&6], "{usual:?}");
    let loses = times("machine.smt_compute=0.45");
    assert!(loses[&6] < loses[&5], "{loses:?}");
    let ratio = loses[&10] / loses[&6];
    assert!((1.0..1.25).contains(&ratio), "{ratio}");
}

#[test]
fn slow_cores_hold_up_a_team_with_equal_parts() {
    // llama.cpp #5225: 160 ms with the slow cores, 140 without. Equal parts on cores of speed 1 and s take
    // max(1, 1 / s) of the time of a part: below 1/2 the slow half of the cores costs more than it gives.
    let time = |tasks: u32, slow: &str, cpus: &str| {
        whole(&format!(
            "name: c26\nmachine: {{ \"core:8\": {{ slow_cores: 4, slow_speed: {slow} }} \
             }}\nkernel: linux-6.18\n\
             baseline: none\npolicies: [LOAD]\napps:\n  decode: {{ workload: {{ spmd: {{ \
             work: 400ms, intervals: \
             200 }} }}, runtime: libgomp, tasks: {tasks}, cpus: \"{cpus}\" }}\n"
        ))
    };
    for (slow, expected) in [("0.4", 1.25), ("0.6", 0.833)] {
        let ratio = time(8, slow, "0-7") / time(4, slow, "0-3");
        assert!((ratio / expected - 1.0).abs() < 0.05, "{slow}: {ratio}");
    }
}
