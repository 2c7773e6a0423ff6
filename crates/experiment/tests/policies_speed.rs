//! SPEED and JUGGLE in scenarios: what their showcases promise, and what beside `make` throws SPEED off.

use experiment::result::Results;
use experiment::run::run;
use experiment::scenario::{Overrides, load};
use policies::{Entry, Showcase};

/// The results of a scenario of the repository with some settings changed; of these policies, unless of all.
fn results(name: &str, policies: &[&str], set: &[&str]) -> Results {
    let path = format!("{}/../../scenarios/{name}.yaml", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{path}: {e}"));
    let set = set.iter().map(|pair| (*pair).to_owned()).collect();
    let policies = policies.iter().map(|name| (*name).to_owned()).collect();
    let experiment = load(name, &text, &Overrides { set, policies, ..Overrides::default() });
    let experiment = experiment.unwrap_or_else(|said| panic!("{said}"));
    run(&experiment, 2, &|_, _| {}).unwrap_or_else(|said| panic!("{said}"))
}

/// A mean at the first point of the sweep.
fn mean(results: &Results, policy: &str, app: &str, metric: &str) -> f64 {
    let point = &results.provenance.points[0];
    let cell = results.get(point, policy, app, metric);
    cell.unwrap_or_else(|| panic!("no {metric} of {app} under {policy}")).mean
}

/// Makespan of the other policy over that of the shown one.
fn advantage(results: &Results, shown: &Showcase) -> f64 {
    mean(results, shown.against, "all", "makespan") / mean(results, shown.label, "all", "makespan")
}

#[test]
fn the_showcases_of_speed_and_juggle_show_what_they_say() {
    let (turns, asleep) = (
        results("policies/turns_on_uneven_cores", &[], &[]),
        results("policies/asleep_at_barriers", &[], &[]),
    );
    for name in ["SPEED", "JUGGLE"] {
        let entry: &Entry = policies::find(name).unwrap_or_else(|| panic!("{name}"));
        assert_eq!(
            (entry.wins.scenario, entry.loses.scenario),
            ("turns_on_uneven_cores", "asleep_at_barriers"),
            "{name}"
        );
        let (win, loss) = (advantage(&turns, &entry.wins), advantage(&asleep, &entry.loses));
        assert!(win > 1.05 && loss < 1.0 / 1.05, "{name}: {win:.3} times as fast, {loss:.3}");
    }
    // The time of a thread alone on a core, half of what it takes where two stay on one, times 16 / 13, and no less.
    let ceiling = mean(&turns, "PIN", "code", "run_time") / 2.0 * 16.0 / 13.0;
    let [speed, juggle] =
        ["SPEED", "JUGGLE"].map(|policy| mean(&turns, policy, "code", "run_time") / ceiling);
    assert!((1.0..1.1).contains(&juggle) && (1.0..1.3).contains(&speed), "{speed:.3}, {juggle:.3}");
    // Who leaves sleepers alone loses less.
    let [counted, skipped] = ["SPEED", "awake"].map(|policy| mean(&asleep, policy, "code", "run_time"));
    assert!(counted > 1.1 * skipped, "{counted:.2} s, {skipped:.2} s");
}

#[test]
fn beside_make_speed_follows_time_slices_and_not_the_coming_and_going_of_jobs() {
    let speed = |set: &[&str]| {
        let results = results("make_competitor", &["LOAD", "SPEED"], set);
        let loss = mean(&results, "SPEED", "code", "run_time") / mean(&results, "LOAD", "code", "run_time");
        (mean(&results, "SPEED", "code", "migrations"), loss)
    };
    let (pulls, loss) = speed(&[]);
    let (jobs, _) = speed(&["apps.make.workload.compute=20s"]);
    let (slices, calm) = speed(&["kernel.latency=5ms", "kernel.min_granularity=1ms"]);
    let label = format!("pulls {pulls}, long jobs {jobs}, short slices {slices}; loss {loss:.3}, {calm:.3}");
    assert!(jobs > 0.7 * pulls && slices < 0.4 * pulls && calm < loss, "{label}");
}
