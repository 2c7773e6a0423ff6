//! References beside sleepers, hardware threads and bound tasks, and what answers say about their own limits.
//!
//! `OVERSIM_SWARM=10000` compares the fair share with the policies of as many random scenarios,
//! `OVERSIM_SEED=7` begins there.

use experiment::references::{FAIR_SHARE, FAIR_SHARE_TOLERANCE, LOWER_BOUND};
use experiment::report::{self, View};
use experiment::result::{DEDICATED, Results};
use experiment::run::run;
use experiment::statements::{Extremes, Table, doubts};
use scenario::objective::Objective;
use scenario::{Overrides, load};
use testkit::swarm;

use crate::support::{mean, results};

fn made(text: &str) -> Results {
    let experiment = load("case.yaml", text, &Overrides::default()).unwrap_or_else(|said| panic!("{said}"));
    run(&experiment, 1, &|_, _| {}).unwrap()
}

/// The doubts of a result in one text.
fn doubted(results: &Results) -> String {
    let table = Table::of(results);
    doubts::doubts(&table, Extremes::of(&table).as_ref()).join(" ")
}

/// The fair share of the makespan over the best one that a policy reached; none where it is left out.
fn over_best(results: &Results) -> Option<f64> {
    let fair = results.get("", FAIR_SHARE.label, "all", "makespan")?.mean;
    let of = |policy: &String| Some(results.get("", policy, "all", "makespan")?.mean);
    Some(fair / results.provenance.policies.iter().filter_map(of).reduce(f64::min)?)
}

#[test]
fn a_user_who_thinks_has_a_fair_share_that_thinks() {
    let found = results("g07-fair-share-ignores-sleep.yaml", &[]);
    let ratio = over_best(&found).unwrap();
    assert!((0.98..=1.001).contains(&ratio), "{ratio}");
}

#[test]
fn users_alone_are_compared_with_as_many_users() {
    let found = made(
        "
name: spare
machine: core:8
kernel: linux-6.18
apps:
  users: { workload: { interactive: { think: 300ms, requests: 20 } }, tasks: 64 }
policies: [LOAD, PIN]
",
    );
    let slowdown = mean(&found, "", "LOAD", "users", "slowdown");
    assert!((0.97..1.01).contains(&slowdown), "{slowdown}");
    let ratio = over_best(&found).unwrap();
    assert!((0.9..=1.02).contains(&ratio), "{ratio} {slowdown}");
    let users = found.provenance.setups.iter().find(|setup| setup.app == "users").unwrap();
    assert_eq!((users.tasks, users.dedicated), (64, Some(64)));
}

#[test]
fn one_user_by_default() {
    let found = made(
        "
name: one
machine: core:8
apps: { user: { workload: { interactive: { think: 5ms, requests: 3 } } } }
policies: [LOAD]
baseline: none
",
    );
    assert_eq!(found.provenance.setups[0].tasks, 1);
}

#[test]
fn programs_that_divide_their_work_are_alone_with_one_thread_per_core() {
    let found = made(
        "
name: split
machine: core:4
apps: { code: { workload: { spmd: { work: 40ms, intervals: 4 } }, tasks: 9 } }
policies: [LOAD]
",
    );
    assert_eq!(found.provenance.setups[0].dedicated, Some(4));
}

#[test]
fn the_fair_share_knows_hardware_threads_masks_and_bandwidth() {
    let text = |machine: &str, apps: &str| {
        format!("name: x\nmachine: {machine}\nkernel: linux-6.18\napps:\n{apps}\npolicies: [LOAD, PIN]\n")
    };
    // Sixteen threads on eight cores with two hardware threads each gain, and the fair share with them.
    let code = "  code: { workload: { spmd: { work: 800ms, intervals: 10 } }, tasks: 16 }";
    let smt = made(&text("\"core:8 pu:2\"", code));
    let found = over_best(&smt).unwrap();
    assert!((0.9..=1.01).contains(&found), "{found}");
    // Two programs on the same two of eight cpus have one each.
    let bound = "  a: { workload: { hog: { work: 100ms } }, tasks: 2, cpus: \"0-1\" }\n  \
                   b: { workload: { hog: { work: 100ms } }, tasks: 2, cpus: \"0-1\" }";
    let bound = made(&text("core:8", bound));
    let (fair, dedicated) = (over_best(&bound).unwrap(), mean(&bound, "", DEDICATED, "a", "run_time"));
    assert!((0.95..=1.01).contains(&fair) && (0.099..0.11).contains(&dedicated), "{fair} {dedicated}");
    // Four tasks that wait for memory all the time, on a controller that serves two of them.
    let memory = "  a: { workload: { hog: { work: 100ms, demand: 2GB/s } }, tasks: 4 }";
    let machine = "{ \"core:4\": { node_bandwidth: 4GB/s, bound_demand: 0.1 } }";
    let found = over_best(&made(&text(machine, memory))).unwrap();
    assert!((0.8..=1.01).contains(&found), "{found}");
}

#[test]
fn the_fair_share_of_streams_has_the_controllers_of_their_pages() {
    // Four streams of 3 GB/s on one node of four: its controller serves them, not those of all nodes.
    let found = made(
        "
name: streams
machine: { barcelona: { node_bandwidth: 6GB/s } }
apps: { streams: { workload: { spmd: { grain: 50ms, intervals: 4, demand: 3GB/s, bound: 100% } }, cpus: 0-3 } }
policies: [PIN]
sweep: { apps.streams.tasks: [1, 4] }
baseline: none
",
    );
    let fair = |tasks: u32| {
        mean(&found, &format!("apps.streams.tasks={tasks}"), "fair-share", "streams", "run_time")
    };
    let simulated = mean(&found, "apps.streams.tasks=4", "PIN", "streams", "run_time");
    assert!((0.19..0.21).contains(&fair(1)), "{}", fair(1));
    assert!((0.39..=simulated * 1.02).contains(&fair(4)), "{} {simulated}", fair(4));
}

#[test]
fn a_policy_that_favours_a_program_leaves_no_fair_share() {
    // First in, first out with the long one first ends before equal shares do.
    let found = made(
        "
name: long_first
machine: core:2
apps:
  long: { workload: { hog: { work: 300ms } }, tasks: 1 }
  short: { workload: { hog: { work: 30ms } }, tasks: 10, start: 1ms }
policies: [{ FIFO: { slice: 10s } }]
",
    );
    assert!(over_best(&found).is_none() && found.get("", LOWER_BOUND.label, "all", "makespan").is_some());
}

/// What a lock or a serial part admits at most, by hand: one task at a time below the lock, and Amdahl's law.
/// The fair share must be neither below that nor far above it.
#[test]
fn the_fair_share_serves_one_task_at_a_time_below_a_lock_and_in_serial_parts() {
    let fair = |cores: u32, tasks: u32, workload: &str, runtime: &str| {
        let text = format!(
            "name: x\nmachine: core:{cores}\nkernel: linux-6.18\npolicies: [LOAD]\nbaseline: none\napps: {{ a: \
             {{ workload: {{ {workload} }}, runtime: {runtime}, tasks: {tasks} }} }}\n"
        );
        let found = made(&text);
        let simulated = mean(&found, "", "LOAD", "a", "run_time");
        (found.get("", FAIR_SHARE.label, "a", "run_time").map(|fair| fair.mean), simulated)
    };
    let least = |cores: u32, tasks: u32, each: f64, one: f64| {
        let (width, tasks) = (f64::from(cores.min(tasks)), f64::from(tasks));
        (each * tasks / width).max(one)
    };
    let mut compared = 0;
    for (cores, tasks) in [(16, 1), (16, 8), (16, 12), (16, 16), (4, 12), (2, 3)] {
        for (count, outside, inside) in [(50, 900, 100), (20, 100, 300), (40, 500, 0)] {
            let workload = format!(
                "critical-section: {{ count: {count}, outside: {outside}us, inside: {}us }}",
                inside.max(1)
            );
            let (fair, simulated) = fair(cores, tasks, &workload, "block");
            let (count, inside) = (f64::from(count), f64::from(inside.max(1)) / 1e6);
            let each = count * (f64::from(outside) / 1e6 + inside);
            let bound = least(cores, tasks, each, count * f64::from(tasks) * inside);
            let Some(fair) = fair else { continue };
            compared += 1;
            assert!(
                fair >= bound * 0.98 && fair <= bound * 1.02,
                "{cores} {tasks} {workload}: {fair} {bound}"
            );
            assert!(fair <= simulated * 1.02, "{cores} {tasks} {workload}: {fair} {simulated}");
        }
        for serial in [10_u32, 20, 60] {
            let workload = format!("spmd: {{ work: 100ms, intervals: 10, serial: {serial}% }}");
            let (fair, simulated) = fair(cores, tasks, &workload, "block");
            let part = f64::from(serial) / 100.0;
            let bound = 0.1 * (part + (1.0 - part) / f64::from(cores.min(tasks)));
            let Some(fair) = fair else { continue };
            compared += 1;
            assert!(fair >= bound * 0.98 && fair <= bound * 1.02, "{cores} {tasks} {serial}: {fair} {bound}");
            assert!(fair <= simulated * 1.02, "{cores} {tasks} {serial}: {fair} {simulated}");
        }
    }
    assert!(compared >= 30, "{compared}");
}

/// Random scenarios of this test in a usual run.
const USUAL: u64 = 150;

fn setting(name: &str, usual: u64) -> u64 {
    std::env::var(name).ok().and_then(|value| value.parse().ok()).unwrap_or(usual)
}

/// A random scenario: in turn with each objective that fits, with deadlines, and with lists of cpus in the
/// numbers of Linux.
fn drawn(seed: u64) -> Option<scenario::plan::Experiment> {
    let written = swarm::write(&swarm::scenario(seed));
    let read = |text: &str, set: &[String]| {
        load("random.yaml", text, &Overrides { set: set.to_vec(), ..Overrides::default() }).ok()
    };
    let numbered = Some(in_linux_numbers(&written)).filter(|_| seed.is_multiple_of(3));
    let text = numbered.filter(|text| read(text, &[]).is_some()).unwrap_or(written);
    let plain = read(&text, &[])?;
    let deadline = |app: &String| format!("apps.{app}.deadline={}us", 50 + seed % 5_000);
    let deadlines: Vec<String> =
        if seed.is_multiple_of(2) { plain.apps.iter().map(deadline).collect() } else { Vec::new() };
    let objective = Objective::NAMES[seed as usize % Objective::NAMES.len()];
    let judged = [&deadlines[..], &[format!("objective={objective}")]].concat();
    read(&text, &judged).or_else(|| read(&text, &deadlines)).or(Some(plain))
}

/// Lists of cpus in the numbers of Linux: `cpus: 'linux:0,2'` for `cpus: [0, 2]`.
fn in_linux_numbers(text: &str) -> String {
    let mut parts = text.split("cpus: [");
    let mut whole = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let (list, rest) = part.split_once(']').unwrap_or((part, ""));
        whole.push_str(&format!("cpus: 'linux:{}'{rest}", list.replace(' ', "")));
    }
    whole
}

/// The answer can be written, and has no number that is none.
fn answers(found: &Results, seed: u64) {
    let view = View { width: 100, colour: false, full: seed.is_multiple_of(2), subject: Some("x.yaml") };
    let mut out = Vec::new();
    report::format("text").unwrap().write(found, &mut out, &view).unwrap();
    let text = String::from_utf8(out).unwrap();
    assert!(!text.contains("NaN") && !text.contains("inf "), "seed {seed}\n{text}");
}

#[test]
fn no_policy_beats_the_fair_share_of_random_scenarios() {
    let (first, count) = (setting("OVERSIM_SEED", 1), setting("OVERSIM_SWARM", USUAL));
    // Configurations with a fair share, those without one, and those of a single program that lack one.
    let (mut with, mut without, mut lonely) = (0_u64, 0_u64, Vec::new());
    for seed in first..first + count {
        let Some(experiment) = drawn(seed) else { continue };
        let Ok(found) = run(&experiment, 1, &|_, _| {}) else { continue };
        answers(&found, seed);
        if found.provenance.window || !found.all_completed() {
            continue;
        }
        for configuration in &found.provenance.configurations {
            let label = configuration.label.as_str();
            let of = |policy: &str| Some(found.get(label, policy, "all", "makespan")?.mean);
            let least = found.provenance.policies.iter().filter_map(|policy| of(policy)).reduce(f64::min);
            let Some(least) = least else { continue };
            match of(FAIR_SHARE.label) {
                Some(fair) => {
                    with += 1;
                    assert!(
                        least >= fair * (1.0 - FAIR_SHARE_TOLERANCE) - 1e-9,
                        "seed {seed}: {least} {fair}"
                    );
                }
                None => {
                    without += 1;
                    if found.provenance.programs == Some(1) && found.provenance.background.is_empty() {
                        lonely.push(seed);
                    }
                }
            }
        }
    }
    println!("{with} with a fair share, {without} without, alone: {lonely:?}");
    assert!(with > without, "{with} with a fair share, {without} without");
    // Of a program alone nobody takes a share: only another place in the machine than that of its dedicated
    // run makes it faster.
    assert!((lonely.len() as u64) * 20 <= with + without, "{lonely:?}");
}

#[test]
fn a_full_team_that_polls_is_doubted_and_one_less_is_not() {
    let small = ["apps.team.workload.work=640ms", "apps.team.workload.intervals=640"];
    let found = results("g05-full-team-and-one-more.yaml", &small);
    let best = mean(&found, "team.tasks=7", "LOAD", "team", "run_time");
    let full = mean(&found, "team.tasks=8", "LOAD", "team", "run_time");
    assert!(full > 2.0 * best, "{full} {best}");
    // Seven and the other one fill the machine, and nothing is crowded; eight and the other one do not fit.
    let crowded = "team polls with 8 tasks on 8 cpus beside other with team.tasks=8: while these run, every";
    assert!(doubted(&found).contains(crowded), "{}", doubted(&found));
    let seven = [&small[..], &["apps.team.tasks=7"]].concat();
    let said = doubted(&results("g05-full-team-and-one-more.yaml", &seven));
    let fills = "team polls with 7 tasks on 8 cpus, which it fills together with other: another busy task";
    assert!(said.contains(fills), "{said}");
    let four = [&small[..], &["apps.team.tasks=4"]].concat();
    assert!(!doubted(&results("g05-full-team-and-one-more.yaml", &four)).contains("polls with"));
    let eight = [&small[..], &["apps.team.tasks=8"]].concat();
    let said = doubted(&results("g05-full-team-and-one-more.yaml", &eight));
    assert!(
        said.contains("team polls with 8 tasks on 8 cpus beside other: while these run, every barrier"),
        "{said}"
    );
    assert!(said.contains("--set apps.team.tasks=7 and --set apps.team.runtime=block"), "{said}");
    // What it advises avoids it.
    let slept =
        results("g05-full-team-and-one-more.yaml", &[&eight[..], &["apps.team.runtime=block"]].concat());
    assert!(!doubted(&slept).contains("polls with"));
    let slept = mean(&slept, "", "LOAD", "team", "run_time");
    assert!(slept < full, "{slept} {full}");
}

#[test]
fn a_second_hardware_thread_is_doubted_where_it_is_best_by_an_estimate() {
    let short = ["apps.pool.workload.work=180ms"];
    let found = results("g10-smt-thread-sweep.yaml", &short);
    let said = doubted(&found);
    assert!(
        said.contains("do 1.24 times the work of one by the estimate machine.smt_compute=0.62"),
        "{said}"
    );
    assert!(said.contains("from a loss to +60 %"), "{said}");
    let set = results("g10-smt-thread-sweep.yaml", &[&short[..], &["machine.smt_compute=0.45"]].concat());
    assert!(!doubted(&set).contains("smt_compute"), "the scenario states it: {}", doubted(&set));
}

#[test]
fn programs_on_one_cpu_beside_empty_ones_are_doubted() {
    let text = |cpus: [&str; 3]| {
        let app = |(name, cpus): (&str, &str)| {
            format!("  {name}: {{ workload: {{ hog: {{ work: 30ms }} }}, tasks: 1{cpus} }}\n")
        };
        let apps: String = ["a", "b", "c"].into_iter().zip(cpus).map(app).collect();
        format!("name: x\nmachine: core:4\napps:\n{apps}policies: [LOAD, PIN]\nbaseline: none\n")
    };
    let said = doubted(&made(&text(["", "", ""])));
    assert!(said.contains("Under PIN, 3 cpus had no work while 3 tasks shared 1 cpu"), "{said}");
    let said = doubted(&made(&text([", cpus: [0]", ", cpus: [1]", ", cpus: [2]"])));
    assert!(!said.contains("had no work"), "{said}");
}

#[test]
fn memory_bound_answers_state_the_error_of_such_predictions() {
    let text = |demand: &str| {
        format!(
            "name: x\nmachine: {{ \"core:4\": {{ node_bandwidth: 4GB/s }} }}\napps:\n  \
             a: {{ workload: {{ hog: {{ work: 50ms, demand: {demand} }} }}, tasks: 4 }}\npolicies: [LOAD]\n"
        )
    };
    let said = doubted(&made(&text("3GB/s")));
    assert!(said.contains("predictions of memory-bound programs were off by 60 %"), "{said}");
    assert!(!doubted(&made(&text("1MB/s"))).contains("Memory"));
}

#[test]
fn the_error_of_memory_bound_programs_is_that_of_the_worst_measured_host() {
    let root = std::path::PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../..");
    let page = std::fs::read_to_string(root.join("docs/validation-host.md")).unwrap();
    let rows = page.lines().filter(|line| line.starts_with("| memory-bound |"));
    let median = |row: &str| {
        let field = row.split('|').nth(3).unwrap().trim();
        field.trim_end_matches(" %").parse::<f64>().unwrap().round() as u32
    };
    assert_eq!(rows.map(median).max(), Some(experiment::statements::cautions::MEMORY_BOUND_ERROR));
}

#[test]
fn unbound_groups_with_weights_are_doubted() {
    let text = |cpus: &str| {
        format!(
            "
name: x
machine: core:2
kernel: linux-6.18
cgroups: {{ heavy: {{ weight: 200 }}, light: {{}} }}
apps:
  a: {{ workload: {{ hog: {{ work: 20ms }} }}, tasks: 2, cgroup: heavy{cpus} }}
  b: {{ workload: {{ hog: {{ work: 20ms }} }}, tasks: 2, cgroup: light{cpus} }}
policies: [LOAD]
"
        )
    };
    assert!(doubted(&made(&text(""))).contains("Control groups without `cpus`"));
    assert!(!doubted(&made(&text(", cpus: [0]"))).contains("Control groups"));
}

#[test]
fn estimates_are_doubted_where_they_move_the_answer() {
    // Two hogs on one core: nothing that is estimated matters.
    let hogs = "
name: x
machine: core:1
kernel: linux-6.18
apps: { a: { workload: { hog: { work: 1s } }, tasks: 2 } }
policies: [LOAD]
";
    assert!(!doubted(&made(hogs)).contains("estimate"), "{}", doubted(&made(hogs)));
    // A switch after every 10 us of work.
    let switching = |set: &str| {
        made(&format!(
            "
name: x
machine: {{ barcelona: {{{set}}} }}
kernel: {{ round-robin: {{ quantum: 10us }} }}
apps: {{ a: {{ workload: {{ hog: {{ work: 10ms }} }}, tasks: 2, cpus: [0] }} }}
policies: [LOAD]
baseline: none
start_jitter: 0s
"
        ))
    };
    let usual = switching("");
    let said = doubted(&usual);
    assert!(said.contains("switch_thread") && said.contains("can move LOAD by up to about "), "{said}");
    // It is that much, or less, with the value at the ends of its range.
    let name = said.split(" (").next().unwrap().rsplit(' ').next().unwrap().to_owned();
    let stated: f64 =
        said.split("by up to about ").nth(1).unwrap().split(' ').next().unwrap().parse().unwrap();
    let inputs = &usual.provenance.machines[0].inputs;
    let input = inputs.iter().find(|input| input.name == name).unwrap();
    let time = |found: &Results| mean(found, "", "LOAD", "a", "run_time");
    let moved = [&input.low, &input.high].map(|end| {
        let other = time(&switching(&format!(" {name}: {end} ")));
        (other / time(&usual) - 1.0).abs() * 100.0
    });
    let most = moved[0].max(moved[1]);
    assert!(most <= 1.5 * stated + 1.0 && most >= stated / 4.0, "{name}: {moved:?}, stated {stated}");
}
