//! What comments of scenarios say of other kernels than the one that they name.

use crate::support;

/// Scenario, settings, policy, application, metric, the number of the comment.
type Stated<'a> = (&'a str, &'a [&'a str], &'a str, &'a str, &'a str, f64);

/// A mean at the first configuration of a built-in scenario with these settings.
fn mean(scenario: &str, set: &[&str], policy: &str, app: &str, metric: &str) -> f64 {
    let results = support::results(scenario, &[], set, None);
    support::mean(&results, &results.provenance.configurations[0].label, policy, app, metric)
}

#[test]
fn what_scenarios_say_of_other_kernels_is_so() {
    let two = "threads_per_core=2";
    let table: [Stated<'_>; 10] = [
        ("spin_yield_block", &["kernel=linux-2.6.27", two], "PIN", "code", "run_time", 26.0),
        (
            "spin_yield_block",
            &["kernel=linux-2.6.27", "threads_per_core=1", "apps.code.runtime=block"],
            "LOAD",
            "code",
            "run_time",
            2.1,
        ),
        ("batch_slots", &["kernel=linux-2.6.27", "admission.threads=32"], "LOAD", "wide", "slowdown", 12.0),
        ("batch_slots", &["kernel=linux-2.6.27", "admission.threads=32"], "LOAD", "narrow", "slowdown", 8.0),
        (
            "big_little",
            &["kernel=linux-2.6.28", "threads_per_core=3", "machine.slow_cores=2"],
            "LOAD",
            "code",
            "run_time",
            12.0,
        ),
        ("policies/space_or_time", &["kernel=linux-2.6.28"], "PIN", "all", "makespan", 0.57),
        ("policies/space_or_time", &["kernel=linux-2.6.28"], "recut", "all", "makespan", 0.64),
        ("policies/two_spinning_programs", &["kernel=linux-6.18"], "LOAD", "one", "slowdown", 8.0),
        ("seventeen_on_sixteen", &["kernel=linux-6.18", "apps.ep.tasks=17"], "LOAD", "ep", "run_time", 5.7),
        (
            "first_touch_startup",
            &["kernel=linux-6.18", "apps.stencil.runtime.touch=master"],
            "LOAD",
            "stencil",
            "run_time",
            7.1,
        ),
    ];
    for (scenario, set, policy, app, metric, stated) in table {
        let found = mean(scenario, set, policy, app, metric);
        assert!((found / stated - 1.0).abs() < 0.05, "{scenario}, {set:?}: {found}, not {stated}");
    }
}

#[test]
fn today_the_balancer_places_new_threads_as_well_as_a_binding() {
    let kernel = "kernel=linux-6.18";
    for (scenario, set, app) in [
        ("policies/one_thread_per_core", vec![kernel], "code"),
        ("first_touch_startup", vec![kernel, "apps.stencil.runtime.touch=each"], "stencil"),
        ("first_touch_startup", vec![kernel, "apps.stencil.runtime.touch=work"], "stencil"),
    ] {
        let [load, pin] = ["LOAD", "PIN"].map(|policy| mean(scenario, &set, policy, app, "run_time"));
        assert!((load / pin - 1.0).abs() < 0.01, "{scenario}, {set:?}: {load} and {pin}");
    }
}
