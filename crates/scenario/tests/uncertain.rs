//! `uncertain`: values that a scenario knows only within a range, their draws, and what the command line
//! says about them.

use std::path::PathBuf;

use policies::PolicyRegistry;
use scenario::plan::Experiment;
use scenario::{Draw, Grid, Overrides, alike, load};

const SCENARIO: &str = "\
name: job
machine: { barcelona: { poll: 200ns } }
kernel: linux-2.6.28
apps:
  job: { workload: { spmd: { work: 1s, intervals: 500, demand: 2GB/s } }, tasks: 16 }
policies: [LOAD, { SPEED: { interval: 50ms } }]
baseline: none
start_jitter: 0s
";

const UNCERTAIN: &str = "\
uncertain:
  apps.job.workload.demand: 1GB/s..5GB/s
  apps.job.workload.intervals: 100..10000
  machine.switch_thread: 300ns..2us
  machine.poll: 100ns..300ns
  policies.SPEED.interval: 20ms..200ms
  apps.job.start: 0s..1ms
";

fn with(overrides: &Overrides) -> Experiment {
    load("job.yaml", &format!("{SCENARIO}{UNCERTAIN}"), overrides).unwrap_or_else(|said| panic!("{said}"))
}

fn set(pairs: &[&str]) -> Overrides {
    Overrides { set: pairs.iter().map(|pair| (*pair).to_owned()).collect(), ..Overrides::default() }
}

fn paths(experiment: &Experiment) -> Vec<&str> {
    experiment.uncertain.iter().map(|value| value.path.as_str()).collect()
}

/// Whether two experiments have the same runs.
fn same(a: &Experiment, b: &Experiment) -> bool {
    a.runs.len() == b.runs.len() && a.runs.iter().zip(&b.runs).all(|(a, b)| alike(a, b))
}

#[test]
fn ordinary_runs_are_those_of_the_single_values() {
    let plain = load("job.yaml", SCENARIO, &Overrides::default()).unwrap_or_else(|said| panic!("{said}"));
    let experiment = with(&Overrides::default());
    assert!(same(&plain, &experiment) && plain.uncertain.is_empty());
    let [demand, intervals, switch, poll, interval, start] = &experiment.uncertain[..] else {
        panic!("{:?}", paths(&experiment))
    };
    assert_eq!((demand.value.as_str(), demand.numbers), ("2GB/s", [2, 1, 5].map(|n| n * 1_000_000_000)));
    assert_eq!((intervals.value.as_str(), intervals.numbers), ("500", [500, 100, 10_000]));
    // As in the file of the machine, in the scenario, and by default.
    assert_eq!((switch.value.as_str(), switch.numbers), ("800ns", [800, 300, 2_000]));
    assert_eq!((poll.value.as_str(), poll.numbers), ("200ns", [200, 100, 300]));
    assert_eq!((interval.value.as_str(), start.value.as_str()), ("50ms", "0s"));
    assert_eq!([0.0, 0.5, 1.0].map(|place| intervals.at(place)), ["100", "1000", "10000"]);
}

#[test]
fn what_the_scenario_states_is_no_estimate_of_the_machine_any_more() {
    let of = |text: &str| {
        let experiment =
            load("job.yaml", text, &Overrides::default()).unwrap_or_else(|said| panic!("{said}"));
        experiment.machines[0].inputs.iter().map(|input| input.name.clone()).collect::<Vec<_>>()
    };
    let (without, with) = (of(SCENARIO), of(&format!("{SCENARIO}{UNCERTAIN}")));
    assert!(without.iter().any(|name| name == "switch_thread"));
    let others: Vec<String> = without.into_iter().filter(|name| name != "switch_thread").collect();
    assert_eq!(with, others);
}

#[test]
fn a_draw_has_the_values_at_its_places() {
    let experiment = with(&Overrides::default());
    let mut drawn = Vec::new();
    for number in 0..5 {
        let draw = Draw { number, of: 5 };
        let here = with(&Overrides { draw: Some(draw), ..Overrides::default() });
        let stated: Vec<String> = experiment
            .uncertain
            .iter()
            .map(|value| format!("{}={}", value.path, value.at(value.place(draw))))
            .collect();
        // The same values by `--set`, and the estimates of the machine by the draw.
        let mut as_set = set(&stated.iter().map(String::as_str).collect::<Vec<_>>());
        as_set.draw = Some(draw);
        let as_set = with(&as_set);
        assert!(same(&here, &as_set) && as_set.uncertain.is_empty());
        assert_eq!(here.uncertain, experiment.uncertain);
        drawn.push(here);
    }
    assert!(drawn.iter().all(|other| !same(other, &experiment)) && !same(&drawn[0], &drawn[1]));
}

#[test]
fn what_the_command_line_states_is_not_uncertain() {
    let all = ["demand", "intervals"].map(|name| format!("apps.job.workload.{name}"));
    let left = with(&set(&["apps.job.workload.demand=900MB/s"]));
    assert!(!paths(&left).contains(&all[0].as_str()) && paths(&left).contains(&all[1].as_str()));
    // What contains it, and an axis.
    let left = with(&set(&["apps.job.workload={ spmd: { work: 2s } }", "machine=epyc"]));
    assert_eq!(paths(&left), ["policies.SPEED.interval", "apps.job.start"]);
    let sweep = |pair: &str| vec![pair.to_owned()];
    let left = with(&Overrides { sweep: sweep("machine.poll=50ns,400ns"), ..Overrides::default() });
    assert!(!paths(&left).contains(&"machine.poll"));
    // A policy that is left out.
    let left = with(&Overrides { policies: vec!["LOAD".into()], ..Overrides::default() });
    assert!(!paths(&left).contains(&"policies.SPEED.interval") && paths(&left).len() == 5);
    let left = with(&Overrides { policies: vec!["speed".into()], ..Overrides::default() });
    assert_eq!(paths(&left).len(), 6);
}

#[test]
fn a_large_sweep_knows_them_too() {
    let text = format!("{SCENARIO}{UNCERTAIN}sweep: {{ apps.job.tasks: [8, 16] }}\n");
    let load = |text: &str| Grid::load(&PolicyRegistry::default(), "job.yaml", text, &Overrides::default());
    assert_eq!(load(&text).unwrap_or_else(|said| panic!("{said}")).trial.uncertain.len(), 6);
    let said = load(&text.replace("0s..1ms", "0s..1000h")).err().unwrap();
    assert!(said.contains("`apps.job.start` cannot be `1000h`"), "{said}");
}

#[test]
fn the_default_of_a_machine_file_counts() {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("uncertain");
    std::fs::create_dir_all(&folder).unwrap();
    let machine = "name: box\nsummary: A box.\ntopology: { value: \"core:4\", source: none }\n\
        values: { switch_thread: { value: 5us, source: none, uncertain: true } }\n";
    std::fs::write(folder.join("box.yaml"), machine).unwrap();
    let name = folder.join("job.yaml").display().to_string();
    let text = |range: &str| {
        let text = SCENARIO.replace("{ barcelona: { poll: 200ns } }", "box.yaml");
        format!("{text}uncertain: {{ machine.switch_thread: {range} }}\n")
    };
    let experiment =
        load(&name, &text("1us..9us"), &Overrides::default()).unwrap_or_else(|said| panic!("{said}"));
    assert_eq!(experiment.uncertain[0].value, "5us");
    let said = load(&name, &text("300ns..2us"), &Overrides::default()).err().unwrap();
    assert!(said.contains("`machine.switch_thread` is `5us` by default, outside its range"), "{said}");
}

#[test]
fn there_is_a_limit_on_their_number() {
    let names = || (0..201).map(|n| format!("a{n}"));
    let apps: String = names().map(|name| format!("  {name}: {{ workload: hog, tasks: 2 }}\n")).collect();
    let ranges: String = names().map(|name| format!("  apps.{name}.tasks: 1..3\n")).collect();
    let text = format!("{SCENARIO}uncertain:\n{ranges}").replace("policies:", &format!("{apps}policies:"));
    let said = |text: &str| load("job.yaml", text, &Overrides::default()).err().unwrap_or_default();
    assert!(said(&text).contains("at most 200 uncertain values"), "{}", said(&text));
    assert_eq!(said(&text.replace("  apps.a7.tasks: 1..3\n", "")), "");
}
