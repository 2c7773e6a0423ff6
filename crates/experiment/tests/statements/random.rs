//! Random results: policies, programs, sweeps, seeds, ties, gaps and missing runs, as no scenario would make
//! them all.

use std::sync::Arc;

use experiment::compare::{Comparison, Ratio};
use experiment::provenance::{MachineOrigin, Outcomes, Provenance, Sampled, Shortened};
use experiment::result::{
    Cell, DrawnInput, InputError, Note, OtherCase, OtherSeed, Results, SCHEMA, Uncertainty,
};
use experiment::setups::{Setup, Unused};
use experiment::statements::{Extremes, Table, doubts};
use experiment::statistics::{single, summarise, variation_percent};
use scenario::configuration::{Axis, Configuration, Setting, Settings};
use scenario::objective::Objective;
use scenario::plan::Input;

use crate::splitmix::Random;

const POLICIES: [&str; 7] = ["LOAD", "PIN", "gang", "SPEED", "PIN-2", "a", "LOAD_x"];
const APPS: [&str; 4] = ["cg", "ft", "x1", "x"];
const AXES: [(&str, &[&str]); 4] = [
    ("threads_per_core", &["1", "2", "4", "8"]),
    ("apps.cg.runtime", &["spin", "yield", "{openmp: {block_time: 0s}}"]),
    ("machine.switch_thread", &["500us", "2ms", "8ms"]),
    ("policies.PIN.layout", &["even", "scatter"]),
];
const INPUTS: [&str; 9] = [
    "switch_thread",
    "node_bandwidth",
    "line_far",
    "idle_exit",
    "remote_factor",
    "smt_compute",
    "tick",
    "smt_memory",
    "smt_poll",
];
const STATED: [&str; 6] = [
    "apps.cg.workload.demand",
    "machine.switch_process",
    "apps.cg.workload.intervals",
    "machine.line_far",
    "policies.PIN.offset",
    "kernel.tick",
];
const PARTS: [&str; 14] = [
    "compute",
    "memory_stall",
    "remote",
    "smt",
    "refill",
    "spin",
    "yield",
    "lock_wait",
    "switch",
    "migration",
    "page_init",
    "kernel",
    "daemon",
    "idle",
];

/// How a result differs from others.
struct Shape {
    repeat: u32,
    /// How far policies and configurations are apart, and seeds.
    contrast: f64,
    noise: f64,
    /// How often a run did not complete.
    missing: f64,
    baseline: bool,
    /// Different work at different configurations.
    uneven: bool,
    scale: f64,
}

/// A random result.
pub(crate) fn result(random: &mut Random) -> Results {
    let shape = Shape {
        repeat: random.pick(&[1, 2, 3, 5]),
        contrast: random.pick(&[0.0, 0.001, 0.02, 0.5, 3.0, 40.0]),
        noise: random.pick(&[0.0, 0.0005, 0.02, 0.4]),
        missing: random.pick(&[0.0, 0.0, 0.05, 0.5]),
        baseline: random.chance(0.7),
        uneven: random.chance(0.3),
        scale: random.pick(&[1e-7, 1e-3, 1.0, 100.0]),
    };
    let mut results = empty(random, &shape);
    let configurations = results.provenance.configurations.clone();
    for configuration in &configurations {
        fill(random, &shape, &mut results, configuration);
    }
    compare(&mut results);
    if random.chance(0.2) {
        count_in_window(&mut results);
    }
    results.notes = notes(random, &results);
    set_up(random, &mut results);
    if random.chance(0.3) {
        draw_inputs(random, &mut results);
    }
    if random.chance(0.5) {
        try_seed_2(random, &mut results);
    }
    if random.chance(0.3) {
        state_inputs(random, &mut results);
    }
    results
}

/// The closest cases of one seed under another one, which moves them much, a little, or not at all.
fn try_seed_2(random: &mut Random, results: &mut Results) {
    let table = Table::of(results);
    let Some(extremes) = Extremes::of(&table) else { return };
    let Some(closest) = doubts::chance(&table, &extremes) else { return };
    let scale = random.pick(&[0.0, 1e-5, 1e-3, 0.05]);
    let cases = closest.map(|case| OtherCase {
        configuration: case.cell.configuration.clone(),
        policy: case.policy.to_owned(),
        value: Some(case.value.mean * (1.0 + random.pick(&[-1.0, 0.0, 1.0]) * scale)),
    });
    let (app, metric) = (extremes.goal.app.clone(), extremes.goal.metric.to_owned());
    results.other_seed = Some(OtherSeed { seed: 2, app, metric, cases });
}

/// Values that the scenario itself states as uncertain; they are drawn where others are.
fn state_inputs(random: &mut Random, results: &mut Results) {
    for name in STATED.iter().take(1 + random.below(STATED.len())) {
        results.provenance.uncertain.push(Input {
            name: (*name).into(),
            value: "2".into(),
            low: "1".into(),
            high: "3".into(),
            numbers: [2_000, 1_000, 3_000],
        });
        if let Some(uncertainty) = &mut results.uncertainty {
            let places = (0..uncertainty.draws).map(|_| random.unit()).collect();
            let range = ["1".into(), "3".into()];
            uncertainty.inputs.push(DrawnInput {
                machine: String::new(),
                name: (*name).into(),
                range,
                places,
            });
        }
    }
}

/// Draws of uncertain inputs: some move all values alike, others each by itself; a draw may lack a run.
fn draw_inputs(random: &mut Random, results: &mut Results) {
    let draws = random.pick(&[2, 10, 20, 40]);
    let (alike, own) = (random.pick(&[0.0, 0.01, 0.3]), random.pick(&[0.0, 0.001, 0.1]));
    let missing = random.pick(&[0.0, 0.1]);
    let input = |random: &mut Random, name: &str| DrawnInput {
        machine: "box".into(),
        name: name.into(),
        range: ["1us".into(), "2us".into()],
        places: (0..draws).map(|_| random.unit()).collect(),
    };
    let inputs: Vec<DrawnInput> = ["poll", "tick", "wake"].iter().map(|name| input(random, name)).collect();
    for cell in results.cells.iter_mut().filter(|cell| !cell.values.is_empty()) {
        let mean = cell.summary.mean;
        let value = |place: &f64| {
            let moved = 1.0 + (place - 0.5) * alike + (random.unit() - 0.5) * own;
            (!random.chance(missing)).then_some(mean * moved)
        };
        let draws: Vec<Option<f64>> = inputs[0].places.iter().map(value).collect();
        cell.input_error = Some(InputError { half_width: mean.abs() * (alike + own) / 2.0, draws });
    }
    results.uncertainty = Some(Uncertainty { draws: draws as u32, runs: 40 * draws, inputs });
}

/// How programs are set up: alike at all configurations, or else at each.
fn set_up(random: &mut Random, results: &mut Results) {
    let p = &mut results.provenance;
    let each = random.chance(0.5);
    let all: Vec<usize> = (0..p.configurations.len()).collect();
    let groups: Vec<Vec<usize>> = if each { all.iter().map(|c| vec![*c]).collect() } else { vec![all] };
    for (configurations, app) in groups.iter().flat_map(|group| p.apps.iter().map(move |app| (group, app))) {
        let cpus = random.pick(&[1, 4, 16]);
        let beside: Vec<String> = p.apps.iter().filter(|other| *other != app).cloned().collect();
        p.setups.push(Setup {
            configurations: configurations.clone(),
            app: app.clone(),
            machine: "box".into(),
            tasks: random.pick(&[1, 4, 16, 17]),
            cpus,
            cores: cpus.div_ceil(2),
            smt_compute: random.chance(0.5).then_some(620),
            bound: random.chance(0.8).then(|| random.pick(&[[0, 0], [0, 600], [1_000, 1_000]])),
            polls_first: random.chance(0.5),
            states_tasks: random.chance(0.2),
            polls: random.chance(0.5),
            beside_tasks: beside.len() as u32 * random.pick(&[1, 3, 12]),
            beside,
            weighted: random.chance(0.2),
            dedicated: None,
        });
    }
    for configuration in groups.concat() {
        for policy in &p.policies {
            let [cpus, used, tasks] = random.pick(&[[3, 1, 2], [1, 1, 3]]);
            if random.chance(0.1) {
                p.unused.push(Unused { configuration, policy: policy.clone(), cpus, used, tasks });
            }
        }
    }
}

/// The same numbers as those of windows: times for each second of work, and no references.
fn count_in_window(results: &mut Results) {
    results.provenance.window = true;
    results.cells.retain(|cell| cell.policy != "fair-share" && cell.metric != "recovered");
    let name = |name: &mut String| {
        if ["run_time", "makespan"].contains(&name.as_str()) {
            *name = "time_per_work".into();
        }
    };
    results.cells.iter_mut().for_each(|cell| name(&mut cell.metric));
    results.comparisons.iter_mut().for_each(|comparison| name(&mut comparison.metric));
}

fn strings(all: &[&str]) -> Vec<String> {
    all.iter().map(|s| (*s).to_owned()).collect()
}

fn machine(random: &mut Random) -> MachineOrigin {
    MachineOrigin {
        name: "box".into(),
        uncertain: Some(random.below(30)),
        cpus: Some(1 + random.below(64) as u32),
        topology: None,
        values: Some(30),
        inputs: (0..random.below(10))
            .map(|at| Input {
                name: INPUTS[at].into(),
                value: "2".into(),
                low: "1".into(),
                high: "3".into(),
                numbers: [2_000, 1_000, 3_000],
            })
            .collect(),
        cpu_numbers: Vec::new(),
    }
}

fn sampled(random: &mut Random) -> Sampled {
    Sampled {
        runs: random.below(3) * 20,
        extrapolated: random.below(1_000) as f64 / 1_000.0,
        error: random.below(1_000) as f64 / 1e5,
    }
}

/// All combinations of the values of a sweep.
fn configurations(sweep: &[Axis]) -> Vec<Configuration> {
    let mut configurations =
        vec![Configuration { label: String::new(), settings: Settings::default(), places: Vec::new() }];
    for axis in sweep {
        let next = |earlier: &Configuration| -> Vec<Configuration> {
            let each = axis.values.iter().enumerate().map(|(at, value)| {
                let mut next = earlier.clone();
                let comma = if next.label.is_empty() { "" } else { ", " };
                next.label.push_str(&format!("{comma}{}={value}", axis.path));
                next.settings.0.push((axis.path.clone(), Setting::Text(value.clone())));
                next.places.push(at);
                next
            });
            each.collect()
        };
        configurations = configurations.iter().flat_map(next).collect();
    }
    configurations
}

/// Everything but the numbers.
fn empty(random: &mut Random, shape: &Shape) -> Results {
    let policies = 1 + random.below(POLICIES.len());
    let apps = 1 + random.below(APPS.len());
    let mut sweep: Vec<Axis> = Vec::new();
    for (path, values) in AXES.iter().take(random.below(3)) {
        sweep.push(Axis::new(path, strings(&values[..1 + random.below(values.len())])));
    }
    let configurations = configurations(&sweep);
    let background = if apps > 2 && random.chance(0.3) { strings(&APPS[apps - 1..apps]) } else { Vec::new() };
    let machine = machine(random);
    let shortened =
        if random.chance(0.2) { vec![Shortened { app: "cg".into(), share: 0.05 }] } else { Vec::new() };
    let sampled = random.chance(0.3).then(|| sampled(random));
    Results {
        schema: SCHEMA.into(),
        provenance: Provenance {
            tool: "oversim".into(),
            version: "0.1.0".into(),
            model: "oversim-model/0".into(),
            generator: "none".into(),
            scenario: "random".into(),
            about: "Which policy is best?".into(),
            scenario_sha256: "00".into(),
            overrides: Vec::new(),
            machines: vec![machine],
            uncertain: Vec::new(),
            kernels: strings(&["linux-2.6.28"]),
            sweep,
            configurations,
            policies: strings(&POLICIES[..policies]),
            stacks: strings(&POLICIES[..policies]),
            apps: strings(&APPS[..apps]),
            background,
            programs: random.chance(0.9).then_some(apps),
            requests: random.chance(0.7).then(|| strings(&APPS[..random.below(3).min(apps)])),
            objective: random.chance(0.7).then(|| random.pick(&Objective::ALL)),
            setups: Vec::new(),
            unused: Vec::new(),
            shortened,
            sampled,
            window: false,
            seed: 1,
            repeat: shape.repeat,
            runs: 40,
            outcomes: Outcomes::default(),
            digest: "0123456789abcdef0123".into(),
            replayed: None,
        },
        cells: Vec::new(),
        comparisons: Vec::new(),
        best_partitions: Vec::new(),
        notes: Vec::new(),
        replays: Vec::new(),
        counters: Vec::new(),
        uncertainty: None,
        other_seed: None,
        jobs: Vec::new(),
    }
}

/// The dedicated runs of a configuration, if there are any; the time of all programs one after the other, s.
fn fill_alone(shape: &Shape, results: &mut Results, configuration: &Configuration, work: f64) -> f64 {
    let apps: Vec<String> = results.foreground().map(str::to_owned).collect();
    let mut alone = 0.0;
    for (at, app) in apps.iter().enumerate().filter(|_| shape.baseline) {
        let time = shape.scale * work * (1.0 + at as f64);
        alone += time;
        let times = vec![Some(time); shape.repeat as usize];
        add(results, configuration, "dedicated", app, "run_time", "s", &times);
    }
    alone
}

/// The cells of a configuration.
fn fill(random: &mut Random, shape: &Shape, results: &mut Results, configuration: &Configuration) {
    let policies = results.provenance.policies.clone();
    let apps: Vec<String> = results.foreground().map(str::to_owned).collect();
    let work = if shape.uneven { 1.0 + random.unit() * 3.0 } else { 1.0 };
    let alone = fill_alone(shape, results, configuration, work);
    for policy in &policies {
        let factor = 1.0 + random.unit() * shape.contrast;
        // Some policies repeat the one before them.
        let factor = if random.chance(0.1) { 1.0 } else { factor };
        let there: Vec<bool> = (0..shape.repeat).map(|_| !random.chance(shape.missing)).collect();
        let sample = |random: &mut Random, mean: f64| -> Vec<Option<f64>> {
            let noise = |random: &mut Random| mean * (1.0 + (random.unit() - 0.5) * shape.noise);
            there.iter().map(|there| there.then(|| noise(random))).collect()
        };
        let mut longest = 0.0_f64;
        for (at, app) in apps.iter().enumerate() {
            let own = 1.0 + random.unit() * shape.contrast;
            let time = shape.scale * work * (1.0 + at as f64) * factor * own;
            longest = longest.max(time);
            let times = sample(random, time);
            add(results, configuration, policy, app, "run_time", "s", &times);
            let works = vec![Some(shape.scale * work * (1.0 + at as f64)); shape.repeat as usize];
            add(results, configuration, policy, app, "work", "s", &works);
            if shape.baseline {
                let base = shape.scale * work * (1.0 + at as f64);
                let ratios: Vec<Option<f64>> = times.iter().map(|t| t.map(|t| t / base)).collect();
                add(results, configuration, policy, app, "slowdown", "ratio", &ratios);
            }
            let known: Vec<f64> = times.iter().copied().flatten().collect();
            if let Some(value) = variation_percent(&known).and_then(|v| single(v, known.len())) {
                push(results, configuration, policy, app, "variation", "%", value, Vec::new());
            }
            let interval = sample(random, time / 100.0);
            add(results, configuration, policy, app, "barrier_interval", "s", &interval);
            if random.chance(0.5) {
                let share = random.pick(&[0.0, 0.004, 0.3, 0.31]);
                let shares = sample(random, share);
                add(results, configuration, policy, app, "lock_wait_share", "share", &shares);
            }
        }
        fill_requests(random, shape, results, (configuration, policy), &sample);
        if apps.len() > 1 && random.chance(0.8) {
            for metric in ["turnaround", "queue_time"] {
                let mean = shape.scale * work * factor * (1.0 + random.unit());
                spread(random, results, (configuration, policy, "all"), metric, mean, &sample);
            }
            let ratio = 1.0 + random.unit() * shape.contrast;
            let ratios = sample(random, ratio);
            add(results, configuration, policy, "all", "worst_slowdown", "ratio", &ratios);
        }
        let spans = sample(random, longest * 1.1);
        add(results, configuration, policy, "all", "makespan", "s", &spans);
        if shape.baseline {
            let ratios: Vec<Option<f64>> = spans.iter().map(|t| t.map(|t| alone / t)).collect();
            add(results, configuration, policy, "all", "throughput", "ratio", &ratios);
        }
        if let Some(value) = single((random.unit() - 0.3) * 150.0, 3).filter(|_| *policy != policies[0]) {
            push(results, configuration, policy, "all", "recovered", "%", value, Vec::new());
        }
        break_down(random, results, (configuration, policy), &there);
    }
    let fair = vec![Some(shape.scale * work * 0.9); shape.repeat as usize];
    add(results, configuration, "fair-share", "all", "makespan", "s", &fair);
}

/// Requests of some applications and of all, with percentiles that may be far from the mean. Lateness around
/// zero, or all early, or all late, of one application, of some, or of all together.
fn fill_requests(
    random: &mut Random,
    shape: &Shape,
    results: &mut Results,
    (configuration, policy): (&Configuration, &str),
    sample: &Draws<'_>,
) {
    let applications = results.provenance.apps.clone();
    let all = "all".to_owned();
    for app in [&applications[0], &all] {
        if random.chance(0.4) {
            let mean = shape.scale * (0.1 + random.unit() * shape.contrast);
            spread(random, results, (configuration, policy, app), "response_time", mean, sample);
            let part = random.pick(&[0.001, 0.5]);
            let wakeups = sample(random, mean * part);
            add(results, configuration, policy, app, "wakeup_latency_p99", "s", &wakeups);
        }
    }
    for app in applications.iter().take(2).chain([&all]) {
        if random.chance(0.5) {
            let shift = random.pick(&[-2.0, -0.5, 0.0, 1.0]);
            let mean = shape.scale * (random.unit() - 0.5 + shift);
            late(random, results, (configuration, policy, app), mean, sample);
        }
    }
}

/// Random shares of the parts of cpu time, the same in each replicate that is there.
fn break_down(
    random: &mut Random,
    results: &mut Results,
    (configuration, policy): (&Configuration, &str),
    there: &[bool],
) {
    let mut shares: Vec<f64> = PARTS.iter().map(|_| random.unit() * random.unit() * random.unit()).collect();
    // Most programs have no locks that are polled for.
    shares[PARTS.iter().position(|part| *part == "lock_wait").expect("a part")] *=
        random.pick(&[0.0, 0.0, 1.0]);
    let sum: f64 = shares.iter().sum();
    for (part, share) in PARTS.iter().zip(shares) {
        let values: Vec<Option<f64>> = there.iter().map(|there| there.then_some(share / sum)).collect();
        add(results, configuration, policy, "all", &format!("breakdown_{part}"), "share", &values);
    }
}

/// Values of a run for each replicate, with this mean.
type Draws<'a> = dyn Fn(&mut Random, f64) -> Vec<Option<f64>> + 'a;

/// A mean, a percentile and a maximum of times.
fn spread(
    random: &mut Random,
    results: &mut Results,
    (configuration, policy, app): (&Configuration, &str, &str),
    metric: &str,
    mean: f64,
    sample: &Draws<'_>,
) {
    let means = sample(random, mean);
    add(results, configuration, policy, app, metric, "s", &means);
    let times = random.pick(&[1.5, 1.5, 4.0, 1_000.0]);
    let far = sample(random, mean * times);
    add(results, configuration, policy, app, &format!("{metric}_p99"), "s", &far);
    let most = sample(random, mean * 2_000.0);
    add(results, configuration, policy, app, &format!("{metric}_max"), "s", &most);
}

/// Lateness with this mean, of either sign, and the share of missed deadlines.
fn late(
    random: &mut Random,
    results: &mut Results,
    (configuration, policy, app): (&Configuration, &str, &str),
    mean: f64,
    sample: &Draws<'_>,
) {
    for (part, more) in [("", 0.0), ("_p99", 0.5), ("_max", random.pick(&[0.6, 5.0]))] {
        let values = sample(random, mean + more * mean.abs());
        add(results, configuration, policy, app, &format!("lateness{part}"), "s", &values);
    }
    let share = random.pick(&[0.0, 0.03, 0.5]);
    let shares = sample(random, share);
    add(results, configuration, policy, app, "missed_deadlines", "share", &shares);
}

fn add(
    results: &mut Results,
    configuration: &Configuration,
    policy: &str,
    app: &str,
    metric: &str,
    unit: &str,
    values: &[Option<f64>],
) {
    let known: Vec<f64> = values.iter().copied().flatten().collect();
    if let Some(summary) = summarise(&known) {
        push(results, configuration, policy, app, metric, unit, summary, values.to_vec());
    }
}

#[expect(clippy::too_many_arguments, reason = "a cell has so many fields")]
fn push(
    results: &mut Results,
    configuration: &Configuration,
    policy: &str,
    app: &str,
    metric: &str,
    unit: &str,
    summary: experiment::statistics::Summary,
    values: Vec<Option<f64>>,
) {
    results.cells.push(Cell {
        scenario: "random".into(),
        configuration: configuration.label.clone(),
        settings: Arc::new(configuration.settings.clone()),
        policy: policy.into(),
        app: app.into(),
        metric: metric.into(),
        unit: unit.into(),
        summary,
        values,
        input_error: None,
    });
}

/// Every policy against the first one, by mean run times.
fn compare(results: &mut Results) {
    let policies = results.provenance.policies.clone();
    let mut comparisons = Vec::new();
    for configuration in &results.provenance.configurations {
        for app in results.foreground() {
            for policy in &policies[1..] {
                let mean =
                    |policy: &str| Some(results.get(&configuration.label, policy, app, "run_time")?.mean);
                let Some((base, own)) = mean(&policies[0]).zip(mean(policy)) else { continue };
                let ratio = Ratio { mean: base / own, ci95: Some([base / own * 0.9, base / own * 1.1]) };
                comparisons.push(Comparison {
                    configuration: configuration.label.clone(),
                    app: app.to_owned(),
                    metric: "run_time".into(),
                    baseline: policies[0].clone(),
                    policy: policy.clone(),
                    ratio: ratio.mean,
                    ci95: ratio.ci95,
                    p: Some(0.1),
                    pairs: 3,
                    verdict: ratio.verdict(),
                });
            }
        }
    }
    results.comparisons = comparisons;
}

fn notes(random: &mut Random, results: &Results) -> Vec<Note> {
    let count = if random.chance(0.2) { 1 + random.below(3) } else { 0 };
    let note = |at: usize| Note {
        configuration: results.provenance.configurations[0].label.clone(),
        policy: results.provenance.policies[at % results.provenance.policies.len()].clone(),
        replicate: 0,
        seed: 7 + at as u64,
        outcome: "horizon".into(),
        text: "cut off at the horizon of 1 s before cg ended".into(),
    };
    (0..count).map(note).collect()
}
