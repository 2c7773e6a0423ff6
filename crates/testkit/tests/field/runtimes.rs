//! Parallel runtimes: what they count, and how their teams start.

use experiment::run::run;
use scenario::{Overrides, load};

use crate::support::{mean, results};

/// The mean run time of an application without a sweep, in seconds.
fn run_time(file: &str, policy: &str, app: &str, settings: &[&str]) -> f64 {
    mean(&results(file, settings), "", policy, app, "run_time")
}

#[test]
fn processes_of_a_hybrid_program_wait_like_programs_of_their_own() {
    let hybrid = run_time("g03a-hybrid-libgomp.yaml", "LOAD", "p", &[]);
    let copies = run_time("g03b-hybrid-libgomp-as-copies.yaml", "LOAD", "p", &[]);
    // They poll alike; the balancer moves the tasks of the two at other instants.
    assert!((hybrid / copies - 1.0).abs() < 0.2, "{hybrid} s, and {copies} s as copies");
    // On a host passive waiting was 49 times as fast, one process of eight threads 80 times.
    let passive = ["apps.p.runtime={libgomp: {spin_count: 0}}"];
    let slept = run_time("g03a-hybrid-libgomp.yaml", "LOAD", "p", &passive);
    let one = ["apps.p.workload.threads_per_process=8"];
    let one = run_time("g03a-hybrid-libgomp.yaml", "LOAD", "p", &one);
    assert!(hybrid > 20.0 * slept && hybrid > 20.0 * one, "{hybrid} s, {slept} s, {one} s");
}

#[test]
fn the_threads_of_a_new_team_are_spread_over_both_packages() {
    let found = results("g04-start-on-two-packages.yaml", &["repeat=1"]);
    let [load, pin] = ["LOAD", "PIN"].map(|policy| mean(&found, "", policy, "team", "run_time"));
    assert!(load < 1.15 * pin, "LOAD {load} s, PIN {pin} s");
}

#[test]
fn llvms_threads_that_poll_are_faster_than_those_that_sleep() {
    for name in ["openmp", "libomp"] {
        let with = |block: &str| {
            let set = format!("apps.prime.runtime={{{name}: {{block_time: {block}}}}}");
            let found = results("c19-wait-policies.yaml", &[&set, "repeat=1"]);
            mean(&found, "", "LOAD", "prime", "run_time")
        };
        let (usual, active, passive) = (with("200ms"), with("infinite"), with("0s"));
        // The reporter: 504 ms, 388 ms; libgomp 372 ms while it polls, 496 ms when it sleeps.
        assert!(passive > 1.2 * active, "{name}: {passive} s asleep, {active} s polling");
        assert!(usual < 1.05 * passive && active <= 1.05 * usual, "{name}: {usual} s");
    }
}

#[test]
fn ranks_that_do_not_yield_hold_each_other_up() {
    let found = results("c17-ranks-without-yield.yaml", &["apps.tests.workload.grain=1ms", "repeat=1"]);
    let time = |yielding| mean(&found, yielding, "LOAD", "tests", "run_time");
    // The reporter: 17.8 times; the grain is not known.
    let ratio = time("never") / time("oversubscribed");
    assert!((3.0..60.0).contains(&ratio), "{ratio}");
}

/// Seconds until all programs of a scenario text have ended under LOAD, the mean of five runs.
fn whole(text: &str) -> f64 {
    let experiment = load("text", text, &Overrides::default()).unwrap_or_else(|said| panic!("{said}"));
    let found = run(&experiment, 1, &|_, _| {}).unwrap();
    mean(&found, "", "LOAD", "all", "makespan")
}

/// Without messages, the processes of a hybrid program are programs of their own, whatever their
/// runtime counts.
#[test]
fn a_hybrid_program_takes_as_long_as_its_processes_as_programs() {
    let runtimes = ["libgomp", "{ libgomp: { spin_count: 0 } }", "libomp", "block", "yield"];
    for (at, runtime) in runtimes.iter().enumerate() {
        for (processes, threads, cpus) in [(2, 2, 2), (3, 2, 4), (2, 4, 2), (4, 1, 3)] {
            let (work, intervals) = (40 * processes * threads, 40 + 10 * at);
            let text = |workload: &str| {
                format!(
                    "name: t\nmachine: core:{cpus}\nkernel: linux-6.18\nrepeat: 5\nbaseline: none\n\
                     policies: [LOAD]\napps:\n  p: {{ {workload}, runtime: {runtime} }}\n"
                )
            };
            let hybrid = whole(&text(&format!(
                "workload: {{ hybrid: {{ processes: {processes}, threads_per_process: {threads}, \
                 work: {work}ms, \
                 intervals: {intervals}, exchange_every: {} }} }}",
                intervals + 1
            )));
            let copies = whole(&text(&format!(
                "workload: {{ spmd: {{ work: {}ms, intervals: {intervals} }} }}, tasks: {threads}, \
                 copies: {processes}",
                work / processes
            )));
            let what =
                format!("{runtime}, {processes} x {threads} on {cpus}: {hybrid} s, {copies} s as copies");
            assert!((hybrid / copies - 1.0).abs() < 0.25, "{what}");
        }
    }
}

#[test]
fn processes_and_threads_can_have_a_runtime_each() {
    let time = |runtime: &str| {
        let set = format!("apps.p.runtime={runtime}");
        run_time("g03a-hybrid-libgomp.yaml", "LOAD", "p", &[&set])
    };
    // The processes meet once, so the runtime of the threads decides.
    let alone = time("libgomp");
    for mpi in ["openmpi", "mpi", "{ openmpi: { yielding: never } }"] {
        let both = time(&format!("{{ mpi: {mpi}, openmp: libgomp }}"));
        assert!((both / alone - 1.0).abs() < 0.15, "{mpi}: {both} s, {alone} s");
    }
    let asleep = time("{ mpi: openmpi, openmp: { libgomp: { spin_count: 0 } } }");
    assert!(asleep < alone / 20.0, "{asleep} s, {alone} s");
}
