//! Locks with more threads than cpus.

use experiment::run::run;
use scenario::{Overrides, load};

use crate::support::{mean, swept};

const CASE: &str = "g02-spinlock-more-threads-than-cpus.yaml";

/// Run times of the case for these numbers of threads under one runtime, with these settings.
fn times(runtime: &str, tasks: &[u32], settings: &[&str]) -> Vec<f64> {
    let numbers: Vec<String> = tasks.iter().map(ToString::to_string).collect();
    let tasks = format!("apps.clients.tasks={}", numbers.join(","));
    let all = swept(CASE, settings, &[&tasks, &format!("apps.clients.runtime={runtime}")]);
    let times = all.cells.iter().filter(|cell| (&*cell.app, &*cell.metric) == ("clients", "run_time"));
    let times: Vec<f64> = times.filter(|cell| cell.policy == "LOAD").map(|cell| cell.summary.mean).collect();
    assert_eq!(times.len(), numbers.len());
    times
}

#[test]
fn sixteen_threads_on_two_cpus_take_the_time_of_the_host() {
    // 2 to 16 threads of 1,000 sections of 102 us on two cpus are 0.1 to 0.82 s of work. A host with a
    // test-and-set lock, loaded, took 0.13, 0.34, 0.64 and 2.2 s; with handed-over locks it was 121 s here.
    for runtime in ["spin", "yield", "block"] {
        let times = times(runtime, &[2, 4, 8, 16], &[]);
        for (time, least) in times.iter().zip([0.102, 0.204, 0.408, 0.816]) {
            assert!((least..1.5 * least).contains(time), "{runtime}: {times:?}");
        }
    }
    let times = times("spin", &[2, 4, 8, 16], &["apps.clients.workload.lock=test-and-set"]);
    for (time, most) in times.iter().zip([0.13, 0.34, 1.2, 2.4]) {
        assert!(*time < most, "test-and-set: {times:?}");
    }
}

#[test]
fn a_ticket_lock_collapses_as_soon_as_there_are_more_threads_than_cpus() {
    let times = times("spin", &[2, 8], &["apps.clients.workload.lock=ticket"]);
    assert!(times[0] < 0.13 && times[1] > 4.0, "{times:?}");
}

/// Run time under LOAD of threads that take one lock; outside and inside in nanoseconds.
fn contended(machine: &str, threads: u32, lock: &str, (outside, inside): (u64, u64)) -> f64 {
    let text = format!(
        "name: t\nmachine: \"{machine}\"\nkernel: linux-6.18\nbaseline: none\npolicies: \
         [LOAD]\nrepeat: 3\napps:\n  \
         p: {{ workload: {{ critical-section: {{ count: 2000, outside: {outside}ns, \
         inside: {inside}ns, lock: {lock} }} \
         }}, tasks: {threads} }}\n"
    );
    let experiment = load("text", &text, &Overrides::default()).unwrap_or_else(|said| panic!("{said}"));
    mean(&run(&experiment, 1, &|_, _| {}).unwrap(), "", "LOAD", "p", "run_time")
}

#[test]
fn a_short_contended_section_costs_more_than_it_works() {
    // A host with two cpus, 100 ns outside and 50 inside: 0.076 s for 2 x 100,000 sections with a mutex,
    // 0.105 with test-and-set, 0.12 with MCS; alone 0.015 s of work a thread.
    for lock in ["test-and-set", "queued", "mutex"] {
        let (one, two) = (contended("core:2", 1, lock, (100, 50)), contended("core:2", 2, lock, (100, 50)));
        assert!(two > 1.25 * one, "{lock}: {one} s alone, {two} s for two");
    }
}

#[test]
fn pollers_of_one_word_are_overtaken_by_queues_where_sections_are_short() {
    // David, Guerraoui, Trigonakis, SOSP 2013: on one contended lock MCS and CLH keep their rate, while locks
    // that all poll lose it with each thread.
    let rate = |threads: u32, lock: &str| f64::from(threads) / contended("core:16", threads, lock, (100, 50));
    let kept = |lock: &str| rate(16, lock) / rate(4, lock);
    let (polled, ticket, queued) = (kept("test-and-set"), kept("ticket"), kept("queued"));
    assert!(polled < 0.6 && ticket < 0.7 && queued > 0.75, "{polled}, {ticket}, {queued}");
    // With 20 us inside there is no difference.
    let long = |lock: &str| contended("core:16", 16, lock, (100, 20_000));
    assert!((long("test-and-set") / long("queued") - 1.0).abs() < 0.1);
}
