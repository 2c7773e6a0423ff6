//! References of small runs whose values are known analytically.

use scenario::{Overrides, load};

use crate::result::Results;
use crate::run;

fn results(text: &str) -> Results {
    let experiment = load("test.yaml", text, &Overrides::default()).unwrap();
    run::run(&experiment, 1, &|_, _| ()).unwrap()
}

fn value(results: &Results, policy: &str, app: &str, metric: &str) -> f64 {
    let cell = results.get("", policy, app, metric);
    cell.unwrap_or_else(|| panic!("no {metric} of {app} under {policy}")).mean
}

const THREE_ON_TWO: &str = "
name: three_on_two
machine: { \"core:2\": {} }
apps:
  a: { tasks: 3, workload: { spmd: { intervals: 1, work: 6s } } }
policies: [PIN, SPEED]
";

#[test]
fn three_tasks_on_two_cores_have_their_ceiling_at_two_thirds() {
    let results = results(THREE_ON_TWO);
    // Work of 3 x 2 s on two cores: 3 s at best, 4 s when two of them stay on one core.
    let near = |policy, app, metric, want: f64| {
        let got = value(&results, policy, app, metric);
        assert!((got / want - 1.0).abs() < 0.02, "{policy} {app} {metric}: {got} instead of {want}");
    };
    near("lower-bound", "all", "makespan", 3.0);
    near("PIN", "all", "makespan", 4.0);
    let (pin, speed) =
        (value(&results, "PIN", "all", "makespan"), value(&results, "SPEED", "all", "makespan"));
    let fluid = value(&results, "fair-share", "all", "makespan");
    near("SPEED", "all", "recovered", (pin - speed) / (pin - fluid) * 100.0);
    assert!(
        results.get("", "PIN", "all", "recovered").is_none(),
        "the gap is measured from the first policy"
    );
}

#[test]
fn the_bound_is_below_everything_and_fluid_gives_equals_equal_times() {
    let results = results(
        "
name: pair
machine: { \"core:2\": {} }
apps:
  a: { tasks: 2, workload: { spmd: { intervals: 100, work: 400ms } } }
  b: { tasks: 2, workload: { spmd: { intervals: 100, work: 400ms } } }
  hog: { workload: { hog: {} } }
policies: [LOAD, PIN]
repeat: 2
",
    );
    for policy in ["LOAD", "PIN", "fair-share"] {
        for app in ["a", "b"] {
            let (time, bound) =
                (value(&results, policy, app, "run_time"), value(&results, "lower-bound", app, "run_time"));
            assert!(time >= bound, "{policy} {app}: {time} < {bound}");
        }
        assert!(
            value(&results, policy, "all", "makespan") >= value(&results, "lower-bound", "all", "makespan")
        );
    }
    let (a, b) =
        (value(&results, "fair-share", "a", "slowdown"), value(&results, "fair-share", "b", "slowdown"));
    // Five tasks on two cpus: each gets two fifths.
    assert!((a / 2.5 - 1.0).abs() < 0.05 && (b / 2.5 - 1.0).abs() < 0.05, "{a} {b}");
}

#[test]
fn more_tasks_with_work_of_their_own_take_longer_even_in_the_fair_share() {
    // Each task has 2 s of work, and the dedicated run has one task per core.
    let results = results(
        "
name: hogs
machine: { \"core:2\": {} }
apps:
  hogs: { tasks: 6, workload: { hog: { work: 2s } } }
policies: [LOAD]
",
    );
    let time = |policy| value(&results, policy, "hogs", "run_time");
    assert!((time("fair-share") / 6.0 - 1.0).abs() < 0.01, "{}", time("fair-share"));
    assert!(time("fair-share") >= time("lower-bound") && time("LOAD") >= time("fair-share"));
}

#[test]
fn the_bound_knows_masks_and_hardware_threads() {
    // 6 s of work on two of four cores; then on one core, whose two threads do 1.3 times what one does.
    let masked = |machine: &str, cpus: &str| {
        let text = format!(
            "
name: masked
machine: {machine}
baseline: none
apps:
  a: {{ tasks: 4, cpus: {cpus}, workload: {{ spmd: {{ intervals: 1, work: 6s }} }} }}
policies: [PIN]
"
        );
        let results = results(&text);
        (value(&results, "lower-bound", "a", "run_time"), value(&results, "fair-share", "a", "run_time"))
    };
    assert_eq!(masked("'core:4'", "0-1"), (3.0, 3.0));
    let (bound, fluid) = masked("{ 'core:2 pu:2': { smt_compute: 0.65, smt_memory: 0.65 } }", "0-1");
    assert!((bound - 6.0 / 1.3).abs() < 1e-6 && (fluid - bound).abs() < 1e-9, "{bound} {fluid}");
}

#[test]
fn a_policy_cannot_have_the_name_of_a_reference() {
    let text = THREE_ON_TWO.replace("[PIN, SPEED]", "[{ PIN: {}, as: Fair-Share }]");
    let error = load("test.yaml", &text, &Overrides::default()).map(|_| ()).unwrap_err();
    assert!(error.contains("`Fair-Share` is the name of a reference in reports"), "{error}");
}

#[test]
fn the_best_static_partition_of_unequal_programs_is_found() {
    // 8 cores; nine tenths of the work is a's: 14 tasks of b on one core end before 14 of a on seven do.
    let text = "
name: cut
machine: { \"core:8\": {} }
best_partition: true
apps:
  a: { tasks: 14, workload: { spmd: { intervals: 1, work: 12s } } }
  b: { tasks: 14, workload: { spmd: { intervals: 1, work: 1.5s } } }
policies: [LOAD]
";
    let found = results(text);
    let best = &found.best_partitions[0];
    assert_eq!(best.cores, [("a".to_owned(), 7), ("b".to_owned(), 1)]);
    assert!(best.tried > 2, "{}", best.tried);
    let (cut, bound) =
        (value(&found, "best-partition", "all", "makespan"), value(&found, "lower-bound", "all", "makespan"));
    assert!(cut > bound && cut < 1.2 * bound, "{cut} {bound}");
    assert!(
        found.get("", "best-partition", "all", "breakdown_idle").is_some(),
        "it is measured as any policy"
    );
}

#[test]
fn a_mask_that_widens_counts_in_the_bound_with_all_of_its_cpus() {
    let results = results(
        "
name: wider
machine: core:2
apps:
  a: { tasks: 2, workload: { spmd: { intervals: 10, work: 400ms } }, cpus: [0],
       affinity: [{ at: 1us, cpus: [0, 1] }] }
policies: [LOAD]
",
    );
    let of = |policy| value(&results, policy, "all", "makespan");
    assert!(of("LOAD") < 0.25 && of("lower-bound") <= of("LOAD"), "{} {}", of("LOAD"), of("lower-bound"));
}
