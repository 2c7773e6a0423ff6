//! Policies over others and disturbed ones: what scenarios and the command line can say, and what becomes of
//! it.

use experiment::run::run;
use scenario::plan::Experiment;
use scenario::{Overrides, load};

const TEXT: &str = "\
name: stacks
machine: core:4
kernel: linux-2.6.28
apps: { a: { workload: { spmd: { work: 400ms, intervals: 4, spread: 10% } }, tasks: 6 } }
policies:
  - SPEED
  - { SPEED: { interval: 5ms }, over: { ULE: { steal: false }, perturb: { veto: 10% } }, as: fast }
  - { LOAD: {}, perturb: { delay: 1ms, jitter: 2ms, veto: 5% }, as: late }
baseline: none
repeat: 2
";

fn with(set: &[&str], policies: &[&str]) -> Result<Experiment, String> {
    let strings = |all: &[&str]| all.iter().map(|s| (*s).to_owned()).collect();
    load(
        "stacks.yaml",
        TEXT,
        &Overrides { set: strings(set), policies: strings(policies), ..Overrides::default() },
    )
}

fn stacks(experiment: &Experiment) -> Vec<String> {
    let of = |policy: usize| experiment.runs.iter().find(|run| run.policy == policy).expect("a run");
    (0..experiment.policies.len()).map(|policy| of(policy).policy_choice.stack(&of(policy).kernel)).collect()
}

#[test]
fn what_stands_beneath_is_read_with_its_parameters() {
    let experiment = with(&[], &[]).unwrap();
    let expected = ["SPEED over LOAD", "SPEED over ULE (perturbed)", "LOAD (perturbed)"];
    assert_eq!(stacks(&experiment), expected);
    let fast = &experiment.runs[2].policy_choice;
    let over = fast.over.as_ref().unwrap();
    assert_eq!(over.values.changed(), [("steal", "false".to_owned())]);
    assert_eq!(fast.values.changed(), [("interval", "5ms".to_owned())]);
    assert_eq!(over.perturb.as_ref().unwrap().changed(), [("veto", "10%".to_owned())]);
    let late = experiment.runs[4].policy_choice.perturb.as_ref().unwrap();
    assert_eq!(late.number("jitter"), Some(2_000_000));
}

#[test]
fn paths_reach_the_policy_below() {
    let set =
        ["policies.SPEED.over=LGROUP", "policies.fast.over.steal=true", "policies.late.perturb.veto=0%"];
    let experiment = with(&set, &[]).unwrap();
    assert_eq!(stacks(&experiment)[0], "SPEED over LGROUP");
    assert!(experiment.runs[2].policy_choice.over.as_ref().unwrap().values.changed().is_empty());
    assert_eq!(experiment.runs[4].policy_choice.perturb.as_ref().unwrap().number("veto"), Some(0));
    let new = with(&["policies.SPEED.perturb.delay=3ms"], &[]).unwrap();
    assert_eq!(new.runs[0].policy_choice.perturb.as_ref().unwrap().number("delay"), Some(3_000_000));
    let wrong = [
        ("policies.SPEED.over.steal=true", "the policy has no `over`"),
        ("policies.late.over=ULE", "LOAD is a kernel-level policy"),
        ("policies.SPEED.over.perturb.veto=1%", "unknown path"),
        ("policies.SPEED.perturb.vato=1%", "did you mean `veto`?"),
    ];
    for (pair, message) in wrong {
        let said = with(&[pair], &[]).err().unwrap_or_default();
        assert!(said.contains(message), "{pair}: {said}");
    }
}

#[test]
fn a_sweep_reaches_the_policy_below() {
    let text = format!(
        "{TEXT}sweep: {{ policies.fast.over: [LOAD, ULE], policies.late.perturb.delay: [0s, 5ms] }}\n"
    );
    let experiment = load("stacks.yaml", &text, &Overrides::default()).unwrap();
    assert_eq!(experiment.configurations.len(), 4);
    let results = run(&experiment, 1, &|_, _| ()).unwrap();
    assert_eq!(results.provenance.stacks[1], "SPEED over LOAD; SPEED over ULE");
    let time = |configuration: &str| results.get(configuration, "late", "a", "run_time").unwrap().mean;
    let configuration = |delay: &str| format!("policies.fast.over=LOAD, policies.late.perturb.delay={delay}");
    assert_ne!(
        time(&configuration("0s")).to_bits(),
        time(&configuration("5ms")).to_bits(),
        "the delay has no effect"
    );
}

#[test]
fn the_command_line_stacks_with_a_slash() {
    let experiment = with(&[], &["SPEED/ULE", "fast/late", "PIN"]).unwrap();
    assert_eq!(experiment.policies, ["SPEED-over-ULE", "fast-over-late", "PIN"]);
    let expected = ["SPEED over ULE", "SPEED over LOAD (perturbed)", "PIN over LOAD"];
    assert_eq!(stacks(&experiment), expected);
    for (name, message) in
        [("LOAD/ULE", "kernel-level"), ("SPEED/SPEED", "user-level"), ("SPEED/", "unknown policy")]
    {
        let said = with(&[], &[name]).err().unwrap_or_default();
        assert!(said.contains(message), "{name}: {said}");
    }
}

#[test]
fn reports_name_the_stack_where_the_label_does_not() {
    let results = run(&with(&[], &[]).unwrap(), 1, &|_, _| ()).unwrap();
    assert!(results.all_completed());
    let mut out = Vec::new();
    experiment::report::format("text")
        .unwrap()
        .write(&results, &mut out, &experiment::report::View::FILE)
        .unwrap();
    let text = String::from_utf8(out).unwrap().replace('\n', " ");
    assert!(text.contains("fast: SPEED over ULE (perturbed), late: LOAD (perturbed)."), "{text}");
    assert!(!text.contains("SPEED: SPEED over LOAD"), "{text}");
}
