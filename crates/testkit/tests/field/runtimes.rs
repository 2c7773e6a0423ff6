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

/// A row of host-teams.csv.
struct Row {
    runtime: String,
    policy: String,
    programs: u32,
    threads: u32,
    hogs: u32,
    barriers: u32,
    work: f64,
    median: f64,
}

fn host_rows() -> Vec<Row> {
    let lines = include_str!("cases/host-teams.csv").lines().filter(|line| !line.starts_with('#')).skip(1);
    let rows = lines.map(|line| {
        let at: Vec<&str> = line.split(',').collect();
        let number = |i: usize| at[i].parse::<f64>().unwrap();
        let count = |i: usize| number(i) as u32;
        let [runtime, policy] = [at[0].to_owned(), at[1].to_owned()];
        let [programs, threads, hogs, barriers] = [2, 3, 4, 5].map(count);
        Row { runtime, policy, programs, threads, hogs, barriers, work: number(6), median: number(7) }
    });
    rows.collect()
}

/// Milliseconds of the team of a row, the median of three seeds. The work is in units of a core of speed 1.
fn simulated(row: &Row) -> f64 {
    let options = match (row.runtime.as_str(), row.policy.as_str()) {
        ("libgomp", "active") => "spin_step: 23ns, spin_count: 30000000000, throttled_spin_count: 1000",
        ("libgomp", "passive") => "spin_count: 0",
        ("libgomp", _) => "spin_step: 23ns",
        (_, "active") => "block_time: infinite",
        (_, "passive") => "block_time: 0s",
        _ => "block_time: 200ms",
    };
    let machine = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/validation-host/epyc-2vcpu.yaml");
    let hogs = if row.hogs == 0 {
        String::new()
    } else {
        format!("  h: {{ workload: {{ hog: {{ work: 100s }} }}, tasks: {}, background: true }}\n", row.hogs)
    };
    let text = format!(
        "name: t\nmachine: {machine}\nkernel: linux-6.18\nbaseline: none\nrepeat: 3\npolicies: [LOAD]\napps:\n  p: \
         {{ workload: {{ spmd: {{ work: {:.3}ms, intervals: {} }} }}, runtime: {{ {}: {{ {options} }} }}, \
         tasks: {}, copies: {} }}\n{hogs}",
        row.work * 2.703,
        row.barriers,
        row.runtime,
        row.threads,
        row.programs
    );
    let experiment = load("text", &text, &Overrides::default()).unwrap_or_else(|said| panic!("{said}"));
    let found = run(&experiment, 2, &|_, _| {}).unwrap();
    mean(&found, "", "LOAD", "p", "timed_run_time") * 1e3
}

/// docs/how-to/teams.c on a host (docs/model/measured.md, "Teams on a host").
#[test]
fn a_team_alone_takes_as_long_as_on_a_host() {
    let rows = host_rows();
    let alone = rows.iter().filter(|row| row.programs == 1 && row.hogs == 0);
    let errors: Vec<f64> = alone.map(|row| (simulated(row) / row.median - 1.0).abs()).collect();
    let within = |limit: f64| errors.iter().filter(|error| **error < limit).count();
    assert_eq!(errors.len(), 90);
    assert!(within(0.1) >= 68 && within(0.25) >= 89, "{} and {} of 90", within(0.1), within(0.25));
}

#[test]
fn teams_beside_others_take_as_long_as_on_a_host_where_nobody_polls_for_long() {
    let (mut sleep, mut poll) = (Vec::new(), Vec::new());
    for row in host_rows().iter().filter(|row| row.programs > 1 || row.hogs > 0) {
        let ratio = simulated(row) / row.median;
        let polls = row.policy != "passive" && row.threads <= 2;
        if polls { poll.push(ratio) } else { sleep.push(ratio) }
    }
    let within =
        |ratios: &[f64], limit: f64| ratios.iter().filter(|ratio| (*ratio - 1.0).abs() < limit).count();
    let (asleep, polling) = (within(&sleep, 0.25), within(&poll, 0.25));
    eprintln!("{asleep} of {}, {polling} of {}", sleep.len(), poll.len());
    assert!(asleep * 10 >= sleep.len() * 8, "{asleep} of {}: {sleep:.2?}", sleep.len());
    // Whether a pair of polling threads shares a cpu or not is decided at the start: runs of the host differ by
    // up to twenty times, too.
    assert!(polling * 10 >= poll.len() * 4, "{polling} of {}: {poll:.2?}", poll.len());
}
