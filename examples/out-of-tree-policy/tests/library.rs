//! The policy through the experiment library.

use experiment::result::Results;
use experiment::run::run;
use experiment::scenario::{Overrides, load_with};
use policies::PolicyShelf;

const SCENARIO: &str = include_str!("../scenario.yaml");

fn results(set: &[&str]) -> Results {
    let shelf = PolicyShelf::with(&[&out_of_tree_policy::ENTRY]).expect("the name is free");
    let set = set.iter().map(|pair| (*pair).to_owned()).collect();
    let overrides = Overrides { set, ..Overrides::default() };
    let experiment =
        load_with(&shelf, "scenario.yaml", SCENARIO, &overrides).unwrap_or_else(|said| panic!("{said}"));
    run(&experiment, 1, &|_, _| ()).expect("it can be simulated")
}

fn seconds(results: &Results, policy: &str) -> f64 {
    results.get("", policy, "six", "run_time").expect("a cell").mean
}

/// 6 s of work in six tasks of 1 s: bound, two cpus have 2 s to do. Two cpus are free after 1 s, when half a second is left of
/// each of the four tasks that share, give or take a time slice; each takes one of them, and all end after 1.5 s: M/N.
#[test]
fn stealing_gets_six_tasks_on_four_cpus_done_in_one_and_a_half_times() {
    let results = results(&["policies.STEAL.tries=1000"]);
    assert!(results.all_completed());
    let (pin, steal) = (seconds(&results, "PIN"), seconds(&results, "STEAL"));
    assert!((pin - 2.0).abs() < 0.02, "{pin}");
    assert!((steal - 1.5).abs() < 0.02, "{steal}");
    let lazy = seconds(&results, "lazy");
    assert!(steal < lazy && lazy < pin, "one try finds a victim only at times: {lazy}");
    let corrections = results.get("", "STEAL", "all", "corrections").expect("a cell").mean;
    assert!(corrections.abs() < 1e-12, "every decision is legal");
}

#[test]
fn it_stands_beneath_user_level_policies_and_repeats() {
    let set = ["policies.PIN.over=STEAL", "policies.lazy.perturb.veto=50%", "repeat=2"];
    let once = results(&set);
    assert_eq!(once.provenance.stacks, ["PIN over STEAL", "STEAL", "STEAL (perturbed)"]);
    assert!(once == results(&set));
}
