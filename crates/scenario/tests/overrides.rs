//! What the command line changes in a scenario: `--set` on a swept path, `--sweep`, and warnings of what has
//! no effect.

use scenario::plan::Experiment;
use scenario::{Overrides, load};

const SCENARIO: &str = "\
name: small
machine: \"core:4\"
apps:
  a: { workload: { spmd: { work: 20ms, intervals: 2 } }, runtime: upc }
  hog: { workload: hog, tasks: 1 }
policies: [LOAD, PIN]
sweep: { threads_per_core: [1, 2], apps.a.runtime: [spin, block] }
";

fn strings(all: &[&str]) -> Vec<String> {
    all.iter().map(|s| (*s).to_owned()).collect()
}

fn changed(set: &[&str], sweep: &[&str]) -> Result<Experiment, String> {
    load(
        "small.yaml",
        SCENARIO,
        &Overrides { set: strings(set), sweep: strings(sweep), warn: true, ..Overrides::default() },
    )
}

/// The scenario with another sweep, and one policy.
fn with_sweep(sweep: &str, set: &[&str]) -> Result<Experiment, String> {
    let swept = "sweep: { threads_per_core: [1, 2], apps.a.runtime: [spin, block] }";
    let text = SCENARIO.replace(swept, &format!("sweep: {sweep}"));
    let set = strings(set);
    load("small.yaml", &text, &Overrides { set, policies: strings(&["LOAD"]), ..Overrides::default() })
}

fn labels(experiment: &Experiment) -> Vec<&str> {
    experiment.configurations.iter().map(|c| c.label.as_str()).collect()
}

#[test]
fn a_set_path_is_swept_no_more() {
    let one = changed(&["threads_per_core=2"], &[]).unwrap();
    assert_eq!(
        labels(&one),
        ["threads_per_core=2, apps.a.runtime=spin", "threads_per_core=2, apps.a.runtime=block"]
    );
    assert!(one.runs.iter().filter(|run| run.alone.is_none()).all(|run| run.apps[0].tasks == 8));
    assert_eq!(one.overrides, ["threads_per_core=2"]);
    assert!(one.warnings.is_empty(), "{:?}", one.warnings);
    // A value that the sweep does not have.
    let other = changed(&["threads_per_core=3", "apps.a.runtime=yield"], &[]).unwrap();
    assert_eq!(labels(&other), ["threads_per_core=3, apps.a.runtime=yield"]);
}

#[test]
fn an_axis_is_replaced_in_its_place_or_added_behind_the_others() {
    let replaced = changed(&[], &["threads_per_core=1,4"]).unwrap();
    assert_eq!(replaced.axes[0].numbers, Some(vec![1.0, 4.0]));
    assert_eq!(replaced.configurations.len(), 4);
    let added = changed(&["apps.a.runtime=spin"], &["machine.switch_thread=1us,20us"]).unwrap();
    assert_eq!(labels(&added)[1], "threads_per_core=1, apps.a.runtime=spin, machine.switch_thread=20us");
    assert_eq!(added.axes[2].unit, "s");
    assert_eq!(added.overrides, ["apps.a.runtime=spin", "sweep.machine.switch_thread=1us,20us"]);
    let structured = changed(&[], &["apps.a.runtime={openmp: {block_time: 0s}},spin"]).unwrap();
    assert_eq!(structured.axes[1].values, ["{openmp: {block_time: 0s}}", "spin"]);
    let bracketed = changed(&[], &["threads_per_core=[1, 4]"]).unwrap();
    assert_eq!(bracketed.axes[0].values, ["1", "4"]);
}

#[test]
fn a_setting_inside_what_is_swept_is_one_of_each_of_its_values() {
    let ticks = |experiment: &Experiment| -> Vec<u64> {
        let mut runs: Vec<_> = experiment.runs.iter().filter(|run| run.policy == 0).collect();
        runs.sort_by_key(|run| run.configuration);
        runs.iter().map(|run| run.kernel.tick.ns()).collect()
    };
    let one = with_sweep("{ kernel: [linux-6.5, linux-6.18] }", &["kernel.tick=3ms"]).unwrap();
    assert_eq!(ticks(&one), [3_000_000; 2]);
    // Also of an axis of the command line, and of several settings the last one counts.
    let set = ["apps.a.runtime=spin", "threads_per_core=1", "kernel.tick=3ms"];
    assert_eq!(ticks(&changed(&set, &["kernel=linux-6.5,linux-6.18"]).unwrap()), [3_000_000; 2]);
    let twice = with_sweep("{ kernel: [linux-6.5, linux-6.18] }", &["kernel.tick=1ms", "kernel.tick=2ms"]);
    assert_eq!(ticks(&twice.unwrap()), [2_000_000; 2]);
    // In a `zip`, too.
    let zip = "{ zip: { kernel: [linux-6.5, linux-6.18], threads_per_core: [1, 2] } }";
    assert_eq!(ticks(&with_sweep(zip, &["kernel.tick=3ms"]).unwrap()), [3_000_000; 2]);
    // A kernel without the rule is named.
    let sweep = "{ kernel: [linux-6.18, linux-2.6.28] }";
    let unknown = with_sweep(sweep, &["kernel.latency=6ms"]).map(|_| ()).unwrap_err();
    assert!(unknown.contains("unknown parameter of kernel `linux-6.18`: `latency`"), "{unknown}");
    assert!(!unknown.contains("of kernel `linux-2.6.28`"), "{unknown}");
}

#[test]
fn what_is_given_twice_or_does_not_exist_is_refused() {
    let error = |set: &[&str], sweep: &[&str]| changed(set, sweep).map(|_| ()).unwrap_err();
    let twice = error(&["threads_per_core=1"], &["threads_per_core=1,2"]);
    assert!(twice.contains("`threads_per_core` is given twice"), "{twice}");
    assert!(error(&[], &["threads_per_core=1,1"]).contains("the same value twice"));
    assert!(error(&[], &["threads_per_cor=1,2"]).contains("did you mean `threads_per_core`?"));
    assert!(error(&[], &["threads_per_core"]).contains("write `path=value`"));
    assert!(
        error(&["sweep={threads_per_core: [1]}"], &[]).contains("`--sweep PATH=a,b,c` changes the sweep")
    );
    assert!(error(&["policies=[PIN]"], &[]).contains("`--policy A,B` chooses policies"));
}

#[test]
fn settings_and_axes_without_effect_are_named() {
    let same = changed(&["threads_per_core=1", "machine.migration=2us"], &[]).unwrap();
    // The first changes the sweep, the second costs of migrations.
    assert!(same.warnings.is_empty(), "{:?}", same.warnings);
    let text = SCENARIO.replace("sweep:", "# sweep:").replace("runtime: upc", "runtime: upc, tasks: 4");
    let of = |set: &[&str], sweep: &[&str]| {
        let overrides =
            Overrides { set: strings(set), sweep: strings(sweep), warn: true, ..Overrides::default() };
        load("small.yaml", &text, &overrides).unwrap().warnings
    };
    assert_eq!(
        of(&["threads_per_core=2"], &[]),
        ["--set threads_per_core=2 has no effect: all runs are the same without it"]
    );
    assert_eq!(
        of(&[], &["threads_per_core=1,2"]),
        ["the sweep of `threads_per_core` has no effect: its values give the same runs"]
    );
    assert!(of(&["name=other", "apps.a.tasks=3"], &[]).is_empty());
}

#[test]
fn the_limit_of_a_control_group_is_set_and_swept() {
    let text = SCENARIO.replace("runtime: upc }", "runtime: upc, cgroup: box }");
    let text = format!("{text}kernel: linux-6.18\ncgroups: {{ box: {{ quota: 50ms }} }}\n");
    let change = |set: &[&str], sweep: &[&str]| {
        let overrides = Overrides { set: strings(set), sweep: strings(sweep), ..Overrides::default() };
        load("small.yaml", &text, &overrides)
    };
    let limits = |experiment: &Experiment| -> Vec<(u64, u64)> {
        let runs = experiment.runs.iter().filter(|run| run.policy == 0 && run.alone.is_none());
        let limits = runs.map(|run| run.kernel.groups[0].limit.unwrap());
        limits.map(|limit| (limit.quota.ns() / 1_000_000, limit.period.ns() / 1_000_000)).collect()
    };
    let one = ["threads_per_core=1", "apps.a.runtime=spin"];
    assert_eq!(limits(&change(&one, &[]).unwrap()), [(50, 100)]);
    let set = [&one[..], &["cgroups.box.period=20ms"]].concat();
    assert_eq!(limits(&change(&set, &["cgroups.box.quota=10ms,20ms"]).unwrap()), [(10, 20), (20, 20)]);
    for (set, said) in [
        ("cgroups.box.quotas=1ms", "did you mean `cgroups.box.quota`?"),
        ("cgroups.crate.quota=1ms", "no application is in the control group `crate`"),
        ("cgroups.box.quota=max", "--set:1:19"),
    ] {
        let message = change(&[set], &[]).err().unwrap();
        assert!(message.contains(said), "{message}");
    }
}

#[test]
fn a_policy_may_be_chosen_as_a_scenario_writes_it() {
    let chosen = |policies: &[&str]| {
        let overrides = Overrides { policies: strings(policies), ..Overrides::default() };
        load("small.yaml", SCENARIO, &overrides)
    };
    let experiment = chosen(&["LOAD", "{SPEED: {interval: 50ms}, as: fast}"]).unwrap();
    assert_eq!(experiment.policies, ["LOAD", "fast"]);
    let fast = experiment.runs.iter().find(|run| run.policy == 1).unwrap();
    assert_eq!(fast.policy_choice.values.shown("interval"), Some("50ms".to_owned()));
    let json = chosen(&[r#"{"SPEED": {"interval": "50ms"}, "as": "fast"}"#]).unwrap();
    assert_eq!(json.policies, ["fast"]);
    let unknown = chosen(&["{SPEED: {interval: 50}}"]).err().unwrap();
    assert!(unknown.contains("--policy:1:20") && unknown.contains("needs a unit"), "{unknown}");
    let broken = chosen(&["{SPEED: ["]).err().unwrap();
    assert!(broken.contains("--policy:1:"), "{broken}");
}
