//! Duels of policies: what is found holds on fresh seeds, and every pair of policies has an answer.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use std::sync::atomic::AtomicBool;

use decide::duel::{Found, Request, json, markdown, search, text};
use decide::trial::Means;
use policies::PolicyRegistry;
use scenario::Overrides;

fn request(policies: [&str; 2], runs: usize) -> Request {
    Request {
        policies: policies.map(str::to_owned),
        kernel: "linux-2.6.28".into(),
        objective: "makespan".into(),
        runs,
        seed: 1,
    }
}

fn found(request: &Request, jobs: usize) -> Found {
    let stop = AtomicBool::new(false);
    let registry = PolicyRegistry::default();
    search(request, &registry, Means { jobs, progress: &|| {}, stop: &stop }).unwrap()
}

#[test]
fn what_pinning_loses_is_found_and_holds_on_fresh_seeds() {
    let request = request(["PIN", "LOAD"], 120);
    let Found::Lost(duel) = found(&request, 1) else { panic!("pinning loses where tasks are uneven") };
    assert!(duel.ratio > 1.2 && duel.ci95[0] > 1.0, "{duel:#?}");
    assert!(duel.runs <= 130, "{duel:#?}");
    // The scenario is one that the program reads, with both policies.
    let read = scenario::load("lost.yaml", &duel.scenario, &Overrides::default()).unwrap();
    assert_eq!(read.policies, ["PIN", "LOAD"]);
    assert_eq!(read.seed, duel.seed);
    let shown = text(&duel, None, None, 100);
    assert!(
        shown.contains("oversim timeline lost.yaml --policy PIN,LOAD") && shown.contains("# lost.yaml"),
        "{shown}"
    );
    assert!(!markdown(&duel, None, Some("x.yaml")).contains("```yaml"));
    // The same for any number of threads.
    assert_eq!(Found::Lost(duel), found(&request, 2));
}

#[test]
fn policies_with_parameters_have_labels_in_the_scenario() {
    let request = request(["{ SPEED: { interval: 500ms } }", "SPEED"], 80);
    if let Found::Lost(duel) = found(&request, 2) {
        let read = scenario::load("lost.yaml", &duel.scenario, &Overrides::default()).unwrap();
        assert_eq!(read.policies, ["first", "second"]);
        assert!(json(&duel, None, None).contains("--policy first,second"));
    }
}

#[test]
fn a_policy_that_does_not_exist_is_refused_with_its_place() {
    let request = request(["LAOD", "PIN"], 20);
    let stop = AtomicBool::new(false);
    let refused =
        search(&request, &PolicyRegistry::default(), Means { jobs: 1, progress: &|| {}, stop: &stop });
    let text = format!("{:?}", refused.unwrap_err());
    assert!(text.contains("LAOD") && text.contains("--policy"), "{text}");
}

#[test]
fn every_pair_of_neighbours_in_the_list_of_policies_has_an_answer() {
    let all: Vec<&str> = PolicyRegistry::default().entries().map(|entry| entry.name).collect();
    for (at, policy) in all.iter().enumerate() {
        let other = all[(at + 1) % all.len()];
        let request = request([policy, other], 10);
        match found(&request, 2) {
            Found::Lost(duel) => assert!(duel.ratio > 1.0 && duel.ratio.is_finite(), "{duel:#?}"),
            Found::Nothing(why) => assert!(!why.is_empty()),
        }
    }
}
