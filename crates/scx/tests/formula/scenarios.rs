//! Orders as scenarios name them: labels, settings, what is wrong with them, and what they do to a run.

use std::fs;
use std::path::Path;

use scx::formula::Formula;
use sim_core::outcome::{Outcome, RunReport};

use crate::lab::{examples, runs, scenario};

const CASE: &str = "machine: package:1 core:2\napps: { a: { tasks: 6, runtime: block, \
                    workload: { spmd: { work: 40ms, grain: 4ms, spread: 40% } } } }";

fn folder(text: &str) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("mine.order"), text).unwrap();
    folder
}

fn run(folder: &Path, policies: &str) -> Result<Vec<RunReport>, String> {
    runs(folder, &scenario(policies, CASE))
}

#[test]
fn the_examples_are_in_their_own_form_and_do_all_work() {
    for name in ["short_slices", "short_bursts", "interactive"] {
        let path = examples().join(format!("{name}.order"));
        let text = fs::read_to_string(&path).unwrap();
        let formula = Formula::parse(name, &text).unwrap();
        assert_eq!(Formula::parse(name, &formula.to_string()).unwrap(), formula);
        let folder = folder(&text);
        let runs = run(folder.path(), "[LOAD, ./mine.order]").unwrap();
        assert!(runs.iter().all(|run| run.outcome == Outcome::Completed && run.corrections == 0), "{name}");
        assert_ne!(runs[0].digest, runs[1].digest);
    }
}

#[test]
fn settings_stand_beside_the_name_with_units_where_the_order_has_them() {
    let folder = folder("parameters:\n  part: { default: 20ms, range: 1ms..1s }\nslice: part\n");
    let digest = |policies: &str| run(folder.path(), policies).map(|runs| runs[0].digest);
    let long = digest("[mine.order]").unwrap();
    let short = digest("[{ policy: ./mine.order, label: short, part: 3ms }]").unwrap();
    assert_ne!(long, short);
    assert_eq!(digest("[{ ./mine.order: { part: 20ms } }]").unwrap(), long);
    let outside = digest("[{ policy: ./mine.order, part: 2s }]").unwrap_err();
    assert!(outside.contains("must lie between 1ms and 1s"), "{outside}");
    let bare = digest("[{ policy: ./mine.order, part: 3 }]").unwrap_err();
    assert!(bare.contains("a duration needs a unit"), "{bare}");
    let unknown = digest("[{ policy: ./mine.order, prt: 3ms }]").unwrap_err();
    assert!(unknown.contains("unknown parameter of policy") && unknown.contains("part"), "{unknown}");
}

#[test]
fn what_is_wrong_with_an_order_is_told_with_its_file_line_and_column() {
    let wrong = |text: &str| run(folder(text).path(), "[./mine.order]").unwrap_err();
    let message = wrong("slice: 1ms\nkey: vtime + wieght\n");
    assert!(message.contains("mine.order:2:14: unknown name `wieght`"), "{message}");
    assert!(message.contains("did you mean `weight`?"), "{message}");
    assert!(wrong("key: now + \nslice: nw\n").contains("mine.order:1:11:"));
    let many = wrong("key: x1\nslice: x2\npreempts: x3\n");
    assert!(many.contains("mine.order:1:6: unknown name `x1` (and 2 more)"), "{many}");
    let binary = tempfile::tempdir().unwrap();
    fs::write(binary.path().join("mine.order"), b"slice: \xff\n").unwrap();
    assert!(run(binary.path(), "[./mine.order]").unwrap_err().contains("byte 7 is not UTF-8"));
    fs::write(binary.path().join("mine.order"), vec![b'#'; 1 << 20]).unwrap();
    assert!(run(binary.path(), "[./mine.order]").unwrap_err().contains("an order has at most 65536"));
    fs::remove_file(binary.path().join("mine.order")).unwrap();
    assert!(run(binary.path(), "[./mine.order]").unwrap_err().contains("No such file"));
}

#[test]
fn the_same_order_is_the_same_entry_and_other_orders_are_others() {
    let text = "slice: 1ms\nkey: vtime\n";
    let formula = Formula::parse("x.order", text).unwrap();
    let entry = formula.entry().unwrap();
    assert!(std::ptr::eq(entry, Formula::parse("x.order", text).unwrap().entry().unwrap()));
    let other = Formula::parse("x.order", "slice: 2ms\nkey: vtime\n").unwrap();
    assert!(!std::ptr::eq(entry, other.entry().unwrap()));
    assert!(entry.about().contains("The task with the least key runs first: `vtime`."), "{}", entry.text);
}

#[test]
fn a_least_key_runs_first_and_slices_are_those_of_the_formula() {
    // On one cpu: the shares of tasks by virtual time are those of their weights.
    let case = "machine: package:1 core:1\nhorizon: 900ms\napps: { a: { tasks: 1, \
                workload: { spmd: { work: 9s } } }, b: { tasks: 1, nice: -5, \
                workload: { spmd: { work: 9s } } } }";
    let folder = folder("key: vtime\nslice: 5ms\n");
    fs::write(folder.path().join("fifo.order"), "slice: 5ms\n").unwrap();
    fs::write(folder.path().join("prio.order"), "key: 0 - weight\nslice: 5ms\n").unwrap();
    let runs = runs(folder.path(), &scenario("[mine.order, fifo.order, prio.order]", case)).unwrap();
    let shares = |run: &RunReport| {
        let of = |app: usize| run.apps[app].task_cpu[0].ns() / 1_000_000;
        (of(0), of(1))
    };
    // Weights of 100 and 305 in the scale of cgroups: 900 ms are about 222 and 678 ms. Of two tasks the last
    // one is put back after the next one is chosen, so that they take turns.
    let (fair, fifo, prio) = (shares(&runs[0]), shares(&runs[1]), shares(&runs[2]));
    eprintln!("{fair:?} {fifo:?} {prio:?}");
    assert!(fifo.0.abs_diff(fifo.1) <= 10, "{fifo:?}");
}
