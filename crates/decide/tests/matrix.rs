//! Slowdowns of programs together against what theory says of them.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use std::sync::atomic::AtomicBool;

use decide::matrix::{Changes, Effort, File, Matrix, Programs, matrix};
use decide::trial::Means;
use experiment::PolicyRegistry;
use experiment::export::View;

fn file(text: &str) -> File {
    File { name: "s.yaml".to_owned(), text: text.to_owned() }
}

fn measured(text: &str, at_a_time: usize, jobs: usize) -> Matrix {
    let policies = PolicyRegistry::default();
    let programs = Programs::read(&policies, &[file(text)], &Changes::default()).unwrap();
    let stop = AtomicBool::new(false);
    let means = Means { jobs, progress: &|| (), stop: &stop };
    matrix((&programs, &policies), at_a_time, Effort::default(), means).unwrap()
}

/// The slowdown of a program beside another one.
fn slowdown(matrix: &Matrix, program: &str, beside: &str) -> f64 {
    let row = matrix.rows().into_iter().find(|row| row[0] == program && row[1] == beside).unwrap();
    row[2].parse().unwrap()
}

const HOGS: &str = "name: hogs\nmachine: MACHINE\nkernel: linux-6.18\npolicies: [LOAD]\napps:\n  \
    a: { workload: { hog: { work: 1s } }, tasks: 1, background: false }\n  \
    b: { workload: { hog: { work: 1s } }, tasks: 1, background: false }\n";

#[test]
fn two_programs_that_compute_do_not_meet_on_two_cores() {
    let found = measured(&HOGS.replace("MACHINE", "core:2"), 2, 1);
    for (program, beside) in [("a", "b"), ("b", "a"), ("a", "a"), ("b", "b")] {
        assert!((slowdown(&found, program, beside) - 1.0).abs() < 1e-3, "{program} {beside}");
    }
    assert_eq!(found.division.parts, [[0, 1]]);
    assert!((found.division.seconds - found.division.taking_turns / 2.0).abs() < 1e-2);
}

#[test]
fn two_programs_that_compute_take_twice_as_long_on_one_core_because_they_queue() {
    let found = measured(&HOGS.replace("MACHINE", "core:1"), 2, 1);
    let pair = found.groups.iter().find(|group| group.members == [0, 1]).unwrap();
    // Switches add to it; the last turn of a program may end with the other one in its slice.
    assert!((1.99..2.02).contains(&slowdown(&found, "a", "b")), "{:?}", pair.slowdowns);
    assert_eq!(pair.causes[0].part, "queueing for a cpu");
    assert!(pair.causes[0].share > 0.95);
    assert!((pair.throughput.mean - 1.0).abs() < 0.02);
}

/// A short program runs again until the long one has ended, so the long one is never alone.
#[test]
fn lengths_do_not_matter_to_slowdowns() {
    let text = HOGS
        .replace("MACHINE", "core:1")
        .replace("b: { workload: { hog: { work: 1s", "b: { workload: { hog: { work: 130ms");
    let found = measured(&text, 2, 1);
    assert!((1.95..2.05).contains(&slowdown(&found, "a", "b")), "{}", slowdown(&found, "a", "b"));
    assert!((1.8..2.2).contains(&slowdown(&found, "b", "a")), "{}", slowdown(&found, "b", "a"));
    let pair = found.groups.iter().find(|group| group.members == [0, 1]).unwrap();
    assert!(pair.covered > 0.98, "{}", pair.covered);
    // Once each: 130 ms of both at half speed, then the rest of the long one.
    let once = pair.seconds.unwrap();
    assert!((once - 1.13).abs() < 0.03, "{once}");
}

#[test]
fn two_programs_that_each_saturate_the_controller_take_twice_as_long() {
    let stream = "{ workload: { spmd: { work: 1s, intervals: 1, demand: 40GB/s, bound: 100% } }, tasks: 1 }";
    let text = format!(
        "name: streams\nmachine: {{ core:4: {{ node_bandwidth: 10GB/s, core_bandwidth: 40GB/s }} }}\n\
         policies: [PIN]\napps:\n  a: {stream}\n  b: {stream}\n"
    );
    let text =
        text.replacen("tasks: 1 }", "tasks: 1, cpus: 0 }", 1).replace("tasks: 1 }", "tasks: 1, cpus: 1 }");
    let found = measured(&text, 2, 1);
    let beside = slowdown(&found, "a", "b");
    assert!((beside - 2.0).abs() < 0.02, "{beside}");
    let pair = found.groups.iter().find(|group| group.members == [0, 1]).unwrap();
    assert_eq!(pair.causes[0].part, "memory");
    // No doubt hides that memory decides.
    assert!(found.doubts.iter().any(|doubt| doubt.contains("Memory is a fifth")), "{:?}", found.doubts);
}

#[test]
fn triples_are_run_beside_pairs_and_three_that_compute_share_one_core_by_thirds() {
    let found = measured(&HOGS.replace("MACHINE", "core:1"), 3, 1);
    assert_eq!(found.groups.len(), 3 + 4);
    assert!((2.95..3.1).contains(&slowdown(&found, "a", "a+b")), "{}", slowdown(&found, "a", "a+b"));
}

#[test]
fn the_number_of_threads_shows_nowhere() {
    let text = HOGS.replace("MACHINE", "core:2").replace("tasks: 1", "tasks: 3");
    let [one, two] = [1, 2].map(|jobs| {
        let found = measured(&text, 2, jobs);
        let mut out = Vec::new();
        for form in decide::matrix::FORMATS {
            form.write(&found, &mut out, &View::FILE).unwrap();
        }
        String::from_utf8(out).unwrap()
    });
    assert_eq!(one, two);
    assert!(one.contains("program,beside,slowdown,low,high,replicates\na,a,"));
}

fn refused(files: &[File], changes: &Changes) -> String {
    Programs::read(&PolicyRegistry::default(), files, changes).unwrap_err()
}

#[test]
fn files_are_joined_unless_they_clash() {
    let (one, other) = (HOGS.replace("MACHINE", "core:2"), HOGS.replace("MACHINE", "core:1"));
    let named = |name: &str, text: &str| File { name: name.to_owned(), text: text.to_owned() };
    let clash = refused(&[named("one", &one), named("other", &other)], &Changes::default());
    assert_eq!(clash, "other:6: `a` is also an application of one: give one of them another name");
    let renamed = other.replace("  a:", "  c:").replace("  b:", "  d:");
    let files = [named("one", &one), named("other", &renamed)];
    let joined = Programs::read(&PolicyRegistry::default(), &files, &Changes::default()).unwrap();
    let names: Vec<&str> = joined.programs.iter().map(|program| program.name.as_str()).collect();
    assert_eq!((names, joined.cpus), (vec!["a", "b", "c", "d"], 2));
    let more = renamed.replace("policies", "threads_per_core: 2\npolicies");
    let differs = refused(&[named("one", &one), named("other", &more)], &Changes::default());
    assert!(
        differs.starts_with("other:4: of several files the first one decides `threads_per_core`"),
        "{differs}"
    );
}

#[test]
fn changes_that_cannot_count_are_refused() {
    let files = [file(&HOGS.replace("MACHINE", "core:2"))];
    let with = |set: &str| Changes { set: vec![set.to_owned()], ..Changes::default() };
    assert!(refused(&files, &with("apps.z.tasks=2")).contains("no application is called `z`"));
    assert!(refused(&files, &with("apps.a.after=b")).contains("runs each program at once"));
    assert!(refused(&files, &with("window=1s")).contains("`window` cuts runs off"));
    let only = Changes { only: vec!["z".to_owned()], ..Changes::default() };
    assert!(refused(&files, &only).contains("`z` is no foreground application"));
    let unknown = Changes { machine: Some("no-such".to_owned()), ..Changes::default() };
    assert!(refused(&files, &unknown).contains("no-such"));
}
