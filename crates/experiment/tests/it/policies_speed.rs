//! SPEED and JUGGLE in scenarios: how near they come to equal shares, and what beside `make` throws SPEED
//! off.

use crate::support;

use experiment::result::Results;

use crate::support::results;

/// A mean at the first configuration of the sweep.
fn mean(results: &Results, policy: &str, app: &str, metric: &str) -> f64 {
    support::mean(results, &results.provenance.configurations[0].label, policy, app, metric)
}

#[test]
fn taking_turns_comes_near_to_equal_shares_and_sleepers_are_better_left_alone() {
    let (turns, asleep) = (
        results("policies/turns_on_uneven_cores", &[], &[], None),
        results("policies/asleep_at_barriers", &[], &[], None),
    );
    // The time of a thread alone on a core, half of what it takes where two stay on one, times 16 / 13, and
    // no less.
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
        let results = results("make_competitor", &["LOAD", "SPEED"], set, None);
        let loss = mean(&results, "SPEED", "code", "run_time") / mean(&results, "LOAD", "code", "run_time");
        (mean(&results, "SPEED", "code", "migrations"), loss)
    };
    let (pulls, loss) = speed(&[]);
    let (jobs, _) = speed(&["apps.make.workload.compute=20s"]);
    let (slices, calm) = speed(&["kernel.latency=5ms", "kernel.min_granularity=1ms"]);
    let label = format!("pulls {pulls}, long jobs {jobs}, short slices {slices}; loss {loss:.3}, {calm:.3}");
    assert!(jobs > 0.7 * pulls && slices < 0.4 * pulls && calm < loss, "{label}");
}
