//! Draws of uncertain inputs: they act as the machine says, are the same for every policy, and need no other
//! seed.

use experiment::result::Results;
use experiment::statements::{Extremes, Table, answer, doubts};
use experiment::uncertainty;
use scenario::plan::Experiment;
use scenario::{Draw, Overrides, load};

const HOG: &str = "name: hog
machine: core:1
kernel: linux-2.6.28
apps:
  hog: { workload: { hog: { work: 1s } }, runtime: spin, tasks: 1 }
policies: [LOAD, PIN]
baseline: none
repeat: 2
";

fn read(text: &str, draw: Option<Draw>) -> Experiment {
    load("hog.yaml", text, &Overrides { draw, ..Overrides::default() })
        .unwrap_or_else(|said| panic!("{said}"))
}

fn run(text: &str, of: u32, jobs: usize) -> Results {
    let draws: Vec<Experiment> = (0..of).map(|number| read(text, Some(Draw { number, of }))).collect();
    uncertainty::run(&read(text, None), &draws, jobs, &|_, _| {}).unwrap_or_else(|said| panic!("{said}"))
}

#[test]
fn a_hog_takes_its_work_over_the_drawn_speed_of_the_core() {
    let results = run(HOG, 5, 1);
    let cell = results.cells.iter().find(|c| c.policy == "LOAD" && c.metric == "run_time").unwrap();
    let draws = &cell.input_error.as_ref().unwrap().draws;
    // The core runs at 0.8 to 1.2 times the nominal speed. Ticks take 1 to 3 us of each 1 ms or more: at most
    // 0.3 %.
    for (number, time) in draws.iter().enumerate() {
        let speed = Draw { number: number as u32, of: 5 }.value("core_speed", 800, 1_200) as f64 / 1_000.0;
        let ratio = time.unwrap() * speed;
        assert!((1.0..1.004).contains(&ratio), "draw {number}: {time:?} at speed {speed}");
    }
    // Student's t of 5 draws is 2.776; the deviation of an even spread over 1/1.2 to 1/0.8 is about 0.12.
    let half = cell.input_error.as_ref().unwrap().half_width;
    assert!((0.25..0.45).contains(&half), "{half}");
    // Both policies place the only task alike, in each draw.
    let pinned = results.cells.iter().find(|c| c.policy == "PIN" && c.metric == "run_time").unwrap();
    assert_eq!(pinned.input_error, cell.input_error);
    assert_eq!(results.uncertainty.as_ref().map(|u| (u.draws, u.runs)), Some((5, 20)));
}

#[test]
fn the_number_of_threads_changes_nothing() {
    assert_eq!(run(HOG, 3, 1), run(HOG, 3, 4));
}

#[test]
fn what_the_scenario_sets_is_not_drawn() {
    let set = HOG.replace("core:1", "{ core:1: { core_speed: 1, tick: 2us } }");
    let results = run(&set, 3, 1);
    let names: Vec<&str> =
        results.uncertainty.iter().flat_map(|u| &u.inputs).map(|input| input.name.as_str()).collect();
    assert!(!names.contains(&"core_speed") && names.contains(&"fork"), "{names:?}");
    let cell = results.cells.iter().find(|c| c.metric == "run_time").unwrap();
    let part = cell.input_error.as_ref().unwrap().half_width / cell.summary.mean;
    assert!(part < 1e-3, "{part}");
}

#[test]
fn what_the_scenario_states_as_uncertain_is_drawn_with_the_estimates() {
    let text =
        format!("{HOG}uncertain: {{ apps.hog.workload.work: 500ms..20s, machine.core_speed: 0.95..1.05 }}\n");
    let results = run(&text, 8, 2);
    let drawn = &results.uncertainty.as_ref().unwrap().inputs;
    let named: Vec<(&str, &str)> =
        drawn.iter().map(|input| (input.machine.as_str(), input.name.as_str())).take(3).collect();
    assert_eq!(named[..2], [("", "apps.hog.workload.work"), ("", "machine.core_speed")]);
    assert!(!named[2].0.is_empty() && drawn.iter().all(|input| input.name != "core_speed"), "{named:?}");
    assert_eq!(drawn[1].range, ["0.95", "1.05"]);
    let stated: Vec<&str> = results.provenance.uncertain.iter().map(|input| input.value.as_str()).collect();
    assert_eq!(stated, ["1s", "1"]);
    assert_eq!(results.provenance.uncertain[1].numbers, [1_000, 950, 1_050]);
    // Work over speed: 500 ms to 20 s by ratios, since the ends differ by a factor of 40.
    let cell = results.cells.iter().find(|c| c.policy == "PIN" && c.metric == "run_time").unwrap();
    for (number, time) in cell.input_error.as_ref().unwrap().draws.iter().enumerate() {
        let work = 0.5 * 40f64.powf(drawn[0].places[number]);
        let speed = 0.95 + 0.1 * drawn[1].places[number];
        let ratio = time.unwrap() * speed / work;
        assert!((0.999..1.006).contains(&ratio), "draw {number}: {time:?} for {work} s at speed {speed}");
    }
    // An ordinary run is that of the single values, whatever the ranges.
    let plain = experiment::run::run(&read(HOG, None), 1, &|_, _| {}).unwrap();
    assert_eq!(plain.provenance.digest, results.provenance.digest);
}

#[test]
fn the_answer_names_what_the_scenario_states_as_uncertain() {
    let stated = "uncertain: { apps.hog.workload.work: 500ms..20s, machine.fork: 1us..1ms }\n";
    let text = format!("{HOG}{stated}");
    let said = |results: &Results| {
        let table = Table::of(results);
        doubts::doubts(&table, Extremes::of(&table).as_ref()).join("\n")
    };
    let plain = experiment::run::run(&read(&text, None), 1, &|_, _| {}).unwrap();
    let names = "2 values are known only within ranges (apps.hog.workload.work and machine.fork)";
    assert!(said(&plain).contains(names), "{}", said(&plain));
    let one = HOG.to_owned() + "uncertain: { apps.hog.workload.work: 500ms..20s }\n";
    let plain = experiment::run::run(&read(&one, None), 1, &|_, _| {}).unwrap();
    let name = "apps.hog.workload.work is known only within 500ms to 20s, and this is the answer for 1s";
    assert!(said(&plain).contains(name), "{}", said(&plain));
    let drawn = run(&text, 10, 2);
    assert!(!said(&drawn).contains("known only within"), "{}", said(&drawn));
    let table = Table::of(&drawn);
    let extremes = Extremes::of(&table).unwrap();
    let answer = answer::said(&table, &extremes);
    let lines: Vec<&str> = answer.iter().map(|said| said.text.as_str()).collect();
    let inputs = lines.iter().find(|line| line.starts_with("10 draws of ")).unwrap();
    assert!(inputs.contains(" and 2 uncertain values of the scenario: "), "{inputs}");
    assert!(inputs.contains(" It follows apps.hog.workload.work (rank correlation "), "{inputs}");
}
