//! The first cases of the campaign over random scenario files, and that it finds and shrinks what is wrong.
//!
//! `cargo run --release -p testkit --bin swarm -- --hours 8` is the long campaign.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};

use notation::parameter::Parameter;
use policies::ALL;
use serde_json::Value;
use sim_core::engine::Simulation;
use testkit::swarm::{Campaign, Failure, Faulty, campaign, check_bytes, check_text, scenario, shrink, write};
use workloads::LOCK_KINDS;
use workloads::program::{STATEMENTS, VARIATIONS};

/// Cases of the gate.
const CASES: u64 = 600;

#[test]
fn the_first_cases_pass() {
    let jobs = std::thread::available_parallelism().map_or(1, usize::from);
    let plan = Campaign { first: 0, cases: Some(CASES), time: None, jobs, out: None };
    let failures = Arc::new(Mutex::new(Vec::new()));
    let kept = Arc::clone(&failures);
    let statistics = campaign(&plan, move |seed, failure, _| {
        let command = format!("cargo run --release -p testkit --bin swarm -- --seed {seed}");
        kept.lock().unwrap().push(format!("{}: {}\n  {command}", failure.kind, failure.detail));
    });
    let statistics = statistics.unwrap();
    let failures = failures.lock().unwrap();
    assert!(failures.is_empty(), "{}", failures.join("\n"));
    assert_eq!((statistics.cases, statistics.failed), (CASES, 0));
    assert!(statistics.refused() * 20 < CASES, "{} cases are refused", statistics.refused());
    assert_eq!(statistics.never_run(), [""; 0], "operations that no program has run");
    let (deadlocks, completed) = (statistics.ended("deadlock"), statistics.ended("completed"));
    assert!(deadlocks * 20 < completed, "{deadlocks} deadlocks beside {completed} runs that completed");
    let text = statistics.markdown((std::time::Duration::from_secs(1), CASES));
    for check in ["again", "stepwise", "reference", "replayed", "order", "results", "faulty: reference"] {
        assert!(text.contains(&format!("| {check} |")), "{check} was never done: {text}");
    }
}

/// What once failed, as it was shrunk.
const ONCE_FAILED: [(&str, &str); 16] = [
    (
        "the records of task groups were taken for tasks",
        "name: swarm\nmachine: \"core:2\"\nkernel: linux-6.18\npolicies: [LGROUP]\n\
         apps: { a2: { workload: { barriers: { count: 1 } }, cgroup: batch/low } }\n\
         seed: 372679\nhorizon: 46us\nstart_jitter: 0ns\n",
    ),
    (
        "the reference engine compared keys at both ends of their range by their difference",
        "name: swarm\nmachine: \"core:1 pu:2\"\nkernel: linux-2.6.28\npolicies: [RUSTY]\n\
         apps: { a0: { workload: pool, copies: 2 } }\nseed: 720924\nhorizon: 6ms\n",
    ),
    (
        "ticks at the end of time overflowed",
        "name: swarm\nmachine: \"core:1\"\nkernel: linux-2.6.28\n\
         policies: [{ perturb: { delay: 1ns }, gang: {} }]\n\
         apps: { a0: { workload: { hog: { work: 1ns } }, start: 1917us, copies: 3 } }\nseed: 34379\n\
         horizon: 10ms\n",
    ),
    (
        "the end of a spin limit of a year was predicted slice by slice, for hours",
        "name: swarm\nmachine: \"core:1\"\nkernel: solaris-9\npolicies: [SPEED]\n\
         apps:\n  a0: { workload: barriers, runtime: { openmpi: { block_time: 46116860184274us } }, tasks: 3 }\n\
         horizon: 10ms\n",
    ),
    (
        "a task whose dequeue was delayed took throttled ones out of their queue (EEVDF)",
        "name: swarm\n\
         machine: { \"package:2 core:2\": { bus_bandwidth: 6966.757kB/s, page_fault: 560ns, \
         line_core: 84ns } }\n\
         kernel: { linux-6.18: { tick: 970.154us, tick_skew: true, tick_jitter: 25ns } }\n\
         policies: [{ PIN: { start: even, background: true } }]\n\
         apps:\n\
         \x20\x20a0: { workload: { services: { burst: 1.851us } }, runtime: { block: { \
         block_time: 1ms, yielding: oversubscribed, polls: 16, barrier: central, arity: 8, \
         start_sleep: true } }, tasks: 3, background: false, nice: [-1, 0, -17] }\n\
         \x20\x20a1: { workload: { daemon: { burst: 1.569us, pause: 7.395us } }, runtime: \
         block, tasks: 9 }\n\
         \x20\x20a2: { workload: { hybrid: { intervals: 16, exchange_every: 2, variation: \
         exponential, spread: 100%, threads_per_process: 1, work: 26.407us } }, runtime: \
         upc-processes, tasks: 9, start: 104.598us }\n\
         seed: 670859\n\
         baseline: dedicated\n\
         horizon: 8332.5us\n\
         start_jitter: 338.289us\n\
         fidelity: sampled\n\
         admission: { jobs: 1 }\n",
    ),
    (
        "the reference engine let a task preempt beside one of a better priority level (EEVDF)",
        "name: swarm\nmachine: { xeon-2vcpu: { fork: 1ns } }\npolicies: [ULE]\n\
         apps:\n\
         \x20\x20a0: { workload: { make: { jobs: 2 } }, tasks: 2, cpus: [1] }\n\
         \x20\x20a1: { workload: services, tasks: 2, start: 917us, copies: 3 }\n\
         \x20\x20a2: { workload: barriers, tasks: 1 }\n\
         seed: 967653\nwindow: 2ms\nstart_jitter: 1ms\n",
    ),
    (
        "the reference engine let a poll continue after the task had used its request (EEVDF)",
        "name: swarm\nmachine: \"core:4\"\nkernel: { linux-6.18: { slice: 1us } }\npolicies: [LEWI]\n\
         apps:\n\
         \x20\x20a0: { workload: { spmd: { grain: 1ns, intervals: 12 } }, tasks: 7, cgroup: users }\n\
         \x20\x20a1: { workload: { make: { compute: 899.15us, io: 13.079us, parts: 1, jobs: 4 } }, copies: 3 }\n\
         horizon: 8ms\n",
    ),
    (
        "a request that a task had used up while another one left did not end (EEVDF)",
        "name: swarm\nmachine: \"core:4\"\nkernel: { linux-6.18: { slice: 1us } }\npolicies: [LEWI]\n\
         apps:\n\
         \x20\x20a0: { workload: { spmd: { work: 9us } }, cgroup: users }\n\
         \x20\x20a1: { workload: { make: { io: 13.079us, jobs: 4 } }, copies: 3 }\n\
         seed: 890401\nhorizon: 29ms\nstart_jitter: 2914.95us\n",
    ),
    (
        "DWRR took cpus that have not picked yet for cpus that run a thread",
        "name: swarm\nmachine: \"core:4\"\nkernel: linux-2.6.28\npolicies: [DWRR]\n\
         apps:\n  a0: { workload: { make: { jobs: 1 } }, runtime: { yield-to: { startup: together } } }\n\
         horizon: 1ms\n",
    ),
    (
        "virtual time ended after some seconds of polls of idle tasks",
        "name: idle\nmachine: core:2\nkernel: { linux-6.18: { slice: 4s } }\npolicies: [PIN]\nbaseline: none\n\
         apps:\n\
         \x20\x20a:\n\
         \x20\x20\x20\x20workload: { spmd: { grain: 90s, intervals: 2, spread: 90% } }\n\
         \x20\x20\x20\x20runtime: upc\n\x20\x20\x20\x20tasks: 6\n\x20\x20\x20\x20scheduling: idle\n",
    ),
    (
        "the reference engine kept a delayed group where all tasks were throttled (EEVDF)",
        "name: swarm\nmachine: \"package:2 core:3\"\nkernel: linux-6.18\n\
         policies: [{ SWOMPS: {}, over: ULE }]\napps:\n\
         \x20\x20a0:\n\
         \x20\x20\x20\x20workload: spec-omp\n\x20\x20\x20\x20tasks: 3\n\x20\x20\x20\x20copies: 2\n\
         \x20\x20\x20\x20arrival: { every: 130.908us }\n\x20\x20\x20\x20cgroup: batch/low/one\n\
         \x20\x20a1:\n\
         \x20\x20\x20\x20workload: barriers\n\
         \x20\x20\x20\x20runtime: { open64: { startup: together } }\n\
         \x20\x20\x20\x20tasks: 5\n\x20\x20\x20\x20start: 65us\n\x20\x20\x20\x20copies: 3\n\
         \x20\x20\x20\x20arrival: queue\n\x20\x20\x20\x20cgroup: users\n\
         \x20\x20a2: { workload: barriers }\n\
         \x20\x20a3: { workload: barriers, runtime: { sun-openmp: { startup: launcher } }, cgroup: users }\n\
         cgroups: { users: { quota: 1689.627us } }\n\
         seed: 476027\nbaseline: none\nhorizon: 500us\nstart_jitter: 172.5us\n",
    ),
    (
        "the reference engine did not say for what tasks wait in a deadlock",
        "name: swarm\nmachine: \"core:1\"\nkernel: linux-2.6.28\npolicies: [LGROUP]\n\
         apps: { a1: { program: { code: \"acquire s2; release s2\" } } }\nhorizon: 1ms\n",
    ),
    (
        "nor who has the locks of a circle",
        "name: swarm\nmachine: \"core:2\"\nkernel: linux-2.6.28\n\
         policies: [LOAD]\napps:\n  a0:\n    program:\n      kinds:\n\
         \x20       x: { code: \"lock l; sleep 1ms; lock m; run 1us; unlock m; unlock l\" }\n\
         \x20       y: { code: \"lock m; sleep 1ms; lock l; run 1us; unlock l; unlock m\" }\nhorizon: 20ms\n",
    ),
    (
        "a sleep whose call was cut short by a move was counted twice",
        "name: swarm\nmachine: \"cache:2 core:2\"\npolicies: [{ perturb: { delay: 1ns }, SWOMPS: {} }]\n\
         apps:\n  a0: { workload: { interactive: { think: 3617us, requests: 1 } }, copies: 3 }\n\
         seed: 741224\nhorizon: 35ms\n",
    ),
    (
        "the timer of a request did not come where the rivals had left (EEVDF)",
        "name: swarm\nmachine: { \"numa:2 package:2 core:2\": { poll: 8.199us } }\n\
         kernel: { linux-7.0: { hrtick: true } }\npolicies: [LOAD]\n\
         apps:\n\
         \x20\x20a0: { workload: parbench, runtime: { libgomp: { startup: launcher, start_sleep: true } }, \
         start: 5952.607us, cgroup: users }\n\
         \x20\x20a2: { workload: { spmd: { work: 140089.278us, intervals: 3 } }, cpus: [6, 2, 1, 3, 4, 5, 7] }\n\
         seed: 196370\nhorizon: 31ms\n",
    ),
    (
        "the timer of a request was stopped by a yield poll by poll only (EEVDF)",
        "name: swarm\nmachine: \"core:2\"\nkernel: { linux-7.0: { slice: 1ns, hrtick: true } }\n\
         policies: [LGROUP]\napps:\n  a0: { workload: hog }\n\
         \x20\x20a1: { workload: { spmd: { work: 464us } }, copies: 3 }\nhorizon: 7ms\n",
    ),
];

#[test]
fn what_once_failed_passes() {
    for (what, text) in ONCE_FAILED {
        let checked = check_text(text).unwrap_or_else(|failure| panic!("{what}: {failure:?}"));
        assert_eq!(checked.refused, None, "{what}");
    }
}

/// All names and values of a tree.
fn words(tree: &Value, found: &mut BTreeSet<String>) {
    match tree {
        Value::Object(map) => map.iter().for_each(|(key, value)| {
            found.insert(key.clone());
            words(value, found);
        }),
        Value::Array(list) => list.iter().for_each(|value| words(value, found)),
        Value::String(text) => {
            found.extend(text.split([' ', '\n', ';']).map(str::to_owned));
            found.insert(text.clone());
        }
        _ => {}
    }
}

#[test]
fn the_cases_meet_every_policy_kernel_workload_and_parameter() {
    let mut found = BTreeSet::new();
    (0..2_000).for_each(|seed| words(&scenario(seed), &mut found));
    let mut wanted: Vec<&str> = Vec::new();
    let mut table = |name: &'static str, parameters: &'static [Parameter]| {
        wanted.push(name);
        wanted.extend(parameters.iter().map(|parameter| parameter.name));
    };
    ALL.iter().for_each(|entry| table(entry.name, entry.parameters));
    kernels::KERNELS.entries.iter().for_each(|entry| table(entry.name, entry.parameters));
    workloads::WORKLOADS.entries.iter().for_each(|entry| table(entry.name, entry.parameters));
    workloads::runtimes::RUNTIMES.entries.iter().for_each(|entry| table(entry.name, entry.parameters));
    table("machine", machines::Parameters::TABLE);
    let keys = scenario::keys::SCENARIO.iter().chain(scenario::keys::APPLICATION);
    // What only people, answers and draws read, and another way to give the number of tasks.
    let left_out = ["about", "objective", "templates", "threads_per_core", "uncertain"];
    wanted.extend(keys.map(|key| key.name).filter(|name| !left_out.contains(name)));
    let missing: Vec<&&str> = wanted.iter().filter(|name| !found.contains(**name)).collect();
    assert!(missing.is_empty(), "never drawn: {missing:?}");
}

#[test]
fn the_cases_meet_every_statement_and_key_of_programs() {
    let mut found = BTreeSet::new();
    for seed in 0..1_000 {
        let tree = scenario(seed);
        let apps = tree["apps"].as_object().unwrap();
        apps.values().filter_map(|app| app.get("program")).for_each(|program| words(program, &mut found));
    }
    let keys = "kinds count code requests locks semaphores queues barriers devices tables arrivals values \
        profiles runtimes threads by sections shared nice cpus scheduling slice runtime deadline background places copy every \
        mean bursts at start means last fifo rr ceiling";
    let statements = STATEMENTS.iter().chain(VARIATIONS).map(|statement| statement.word);
    let locks = LOCK_KINDS.iter().map(|kind| kind.name);
    let words =
        "from clock skip with $v".split(' ').chain(keys.split_whitespace()).chain(statements).chain(locks);
    let missing: Vec<&str> = words.filter(|word| !found.contains(*word)).collect();
    assert!(missing.is_empty(), "never drawn: {missing:?}");
}

#[test]
fn bytes_of_a_fuzzer_are_cases() {
    assert_eq!(check_bytes(&[]).err(), None);
    let bytes: Vec<u8> = (0..400_u32).map(|number| (number * 97 % 251) as u8).collect();
    let checked = check_bytes(&bytes).unwrap();
    assert!(checked.refused.is_none() && !checked.checks.is_empty());
}

/// Shrinks the first case that a check finds wrong, to a text of at most so many lines.
fn shrinks(kind: &'static str, lines: usize, wrong: fn(&str) -> Option<String>) -> String {
    let mut check = |text: &str| wrong(text).map(|detail| Failure { kind, detail });
    let found = (0..200).find_map(|seed| Some((scenario(seed), check(&write(&scenario(seed)))?)));
    let (tree, failure) = found.unwrap();
    let (small, kept) = shrink(&tree, &failure, &mut check);
    let text = write(&small);
    assert!(text.lines().count() <= lines && text.len() < 300, "{text}");
    assert_eq!((kept.kind, wrong(&text)), (kind, Some(kept.detail)), "{text}");
    text
}

/// The last run of a scenario.
fn last(text: &str) -> Option<scenario::plan::RunPlan> {
    scenario::load("case.yaml", text, &scenario::Overrides::default()).ok()?.runs.pop()
}

#[test]
fn a_case_that_a_wrong_check_finds_is_shrunk_to_a_few_lines() {
    // The wrong claim: no task moves between nodes.
    let text = shrinks("far", 8, |text| {
        let report = experiment::run::simulate_one(&last(text)?, &mut ()).ok()?;
        let far: u64 = report.apps.iter().map(|app| app.counters.far_migrations).sum();
        (far > 0).then(|| format!("{far} moves"))
    });
    assert!(text.contains("numa") || text.contains("package") || text.contains("machine"), "{text}");
}

#[test]
fn a_case_in_which_a_faulty_policy_is_corrected_is_shrunk_to_a_few_lines() {
    let text = shrinks("corrected", 8, |text| {
        let plan = last(text)?;
        let policy = plan.policy_choice.build(&plan.machine, &plan.kernel, &plan.apps);
        let mut faulty = Faulty::new(policy, plan.options.seed);
        let simulation = Simulation::new(plan.machine, plan.kernel, plan.apps, plan.options).ok()?;
        let corrections = simulation.run(&mut faulty, &mut ()).corrections;
        (corrections > 0).then(|| "corrected".to_owned())
    });
    assert!(text.contains("policies: ["), "{text}");
}
