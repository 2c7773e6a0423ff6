//! Scenarios: their text, edits of shipped ones, and changes from the command line.

use experiment::size::Size;
use notation::encoding::decode;
use policies::PolicyRegistry;
use scenario::memory::Limit;
use scenario::plan::Experiment;
use scenario::{Grid, Overrides, examine};
use sim_core::time::{Span, Time};

use crate::edits::{SCENARIOS, written};
use crate::tape::Tape;
use crate::{output, promise};

/// A scenario with two programs, two policies and a sweep, of which a run takes less than a millisecond.
pub(crate) const SMALL: &str = "name: small\nabout: two programs\nmachine: package:1 numa:2 core:2\n\
    kernel: linux-2.6.30\nrepeat: 2\nseed: 3\npolicies:\n  - LOAD\n  - PIN\n\
    apps:\n  a:\n    tasks: 4\n    workload: { spmd: { work: 400us, intervals: 3 } }\n    runtime: yield\n\
    \x20 hog:\n    tasks: 1\n    workload: { hog: {} }\nsweep:\n  kernel.tick: [1ms, 4ms]\n";

/// The name of the scenario in messages.
const NAME: &str = "fuzz.yaml";
/// Memory that a scenario may ask for, bytes.
const MEMORY: u64 = 512 << 20;
/// What is run: at most so many runs, cpus, bytes and operations, and so much simulated time of each run.
const MOST_RUNS: usize = 12;
const MOST_CPUS: u32 = 32;
const MOST_BYTES: u64 = 64 << 20;
const MOST_OPERATIONS: f64 = 20_000.0;
const LONGEST: Time = Time::from_ns(20_000_000);
/// Fewest nanoseconds of each cpu between two ticks.
const SHORTEST_TICK: Span = Span::from_ns(10_000);

/// The text of a scenario.
pub(crate) fn text(bytes: &[u8]) {
    match decode(bytes.to_vec()) {
        Ok(text) => check(NAME, &text, &Overrides::default()),
        Err(refused) => promise::placed_refusal(&refused.render(NAME), &[NAME]),
    }
}

/// The text of a program.
pub(crate) fn program(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let text = format!(
        "name: p\nmachine: core:2\nkernel: linux-6.18\nhorizon: 5ms\npolicies: [LOAD]\napps:\n  a:\n    \
         program:\n      locks: {{ l: ticket }}\n      semaphores: {{ s: 2 }}\n      \
         queues: {{ q: {{ places: 2 }} }}\n      devices: {{ d: 1 }}\n      values: {{ v: 20us }}\n      \
         kinds:\n        one: {{ count: 2, code: {} }}\n        two: {{ code: \"run 10us\" }}\n",
        serde_json::Value::from(text)
    );
    check(NAME, &text, &Overrides::default());
}

/// Edits of the tree of a shipped scenario.
pub(crate) fn tree(bytes: &[u8]) {
    let tree = SCENARIOS.edited(&mut Tape(bytes));
    check(NAME, &written(&tree), &Overrides::default());
}

/// Changes from the command line, one on each line: the first byte of a line tells its option.
pub(crate) fn overrides(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let mut overrides = Overrides { warn: true, ..Overrides::default() };
    for line in text.lines().take(8) {
        match line.split_at_checked(1) {
            Some(("s", set)) => overrides.set.push(set.to_owned()),
            Some(("w", axis)) => overrides.sweep.push(axis.to_owned()),
            Some(("v", axis)) => overrides.vary = Some(axis.to_owned()),
            Some(("p", policy)) => overrides.policies.push(policy.to_owned()),
            Some(("r", repeat)) => overrides.repeat = repeat.parse().ok(),
            Some(("e", seed)) => overrides.seed = seed.parse().ok(),
            Some(("1", _)) => overrides.without_sweep = true,
            _ => {}
        }
    }
    check(NAME, SMALL, &overrides);
}

/// Reads a scenario, checks what is promised of a refusal, and runs it if it is small.
pub(crate) fn check(name: &str, text: &str, overrides: &Overrides) {
    let limit = Limit { bytes: MEMORY, source: "the limit of the test".into(), addresses: false };
    let overrides = Overrides { limit: Some(limit), ..overrides.clone() };
    let policies = PolicyRegistry::default();
    let grid = Grid::examine(&policies, name, text, &overrides);
    let experiment = match examine(&policies, name, text, &overrides) {
        Ok(experiment) => experiment,
        Err(problems) => {
            let all = problems.located();
            assert!(!all.is_empty(), "a refusal without a reason");
            for one in &all {
                promise::refusal(&one.message);
                promise::visible(&one.hint);
                assert!(one.start.0 >= 1 && one.start.1 >= 1 && one.start <= one.end, "{one:?}");
            }
            let sources: Vec<&str> = all.iter().map(|one| one.source.as_str()).collect();
            promise::placed_refusal(&problems.to_string(), &sources);
            return;
        }
    };
    experiment.warnings.iter().for_each(|warning| promise::refusal(warning));
    promise::visible(&experiment.size());
    match grid {
        Err(problems) => panic!("a scenario that can be run cannot be swept: {problems}"),
        Ok(grid) => {
            let admitted = (0..grid.combinations()).filter(|number| grid.has(*number)).count();
            assert_eq!(admitted, experiment.configurations.len(), "configurations of the sweep");
        }
    }
    if let Some(experiment) = shortened(experiment) {
        match experiment::run::run(&experiment, 1, &|_, _| ()) {
            Ok(results) => output::results(&results),
            Err(error) => panic!("a scenario that was accepted cannot be run: {error}"),
        }
    }
}

/// The experiment with runs that end soon; none if it is too large for a case.
fn shortened(mut experiment: Experiment) -> Option<Experiment> {
    if experiment.runs.len() > MOST_RUNS || experiment.cpus() > MOST_CPUS || experiment.best_partition {
        return None;
    }
    let size = Size::of(&experiment);
    if size.bytes(1) > MOST_BYTES || size.operations > MOST_OPERATIONS {
        return None;
    }
    for run in &mut experiment.runs {
        let long = run.options.horizon > LONGEST;
        if (long && run.window.is_some()) || run.options.stepwise || run.kernel.tick < SHORTEST_TICK {
            return None;
        }
        if long {
            run.options.horizon = LONGEST;
        }
    }
    Some(experiment)
}
