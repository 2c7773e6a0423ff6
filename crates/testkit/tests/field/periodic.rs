//! `oversim deadlines`: theory beside the simulation, where theory is silent, and a worst case that repeats.

use experiment::deadlines::{Analysis, Order, analyse, text, worst};
use experiment::run::simulate_one;
use scenario::plan::Experiment;
use scenario::{Overrides, load};

/// Applications with these programs on one cpu, under these policies.
fn loaded(apps: &str, policies: &str, set: &[String]) -> Experiment {
    let head = "name: x\nmachine: core:1\nkernel: linux-6.18\nstart_jitter: 0s\nwindow: 2s\n";
    let text = format!("{head}policies: {policies}\napps:\n{apps}");
    let overrides = Overrides { set: set.to_vec(), ..Overrides::default() };
    load("x", &text, &overrides).unwrap_or_else(|said| panic!("{said}"))
}

fn analysed(apps: &str, policies: &str) -> Vec<Analysis> {
    analyse(&loaded(apps, policies, &[])).unwrap()
}

fn periodic(name: &str, period: &str, work: &str) -> String {
    format!("  {name}: {{ program: {{ code: \"forever {{ until {period}; run {work} }}\" }} }}\n")
}

fn two() -> String {
    periodic("a", "5ms", "2ms") + &periodic("b", "7ms", "3800us")
}

#[test]
fn theory_and_simulation_differ_by_switches_and_ticks_only() {
    let all = analysed(&two(), "[EDF, FP, LOAD]");
    let bounds = |at: usize| all[at].groups[0].rows.iter().map(|row| row.bound_ns).collect::<Vec<_>>();
    assert_eq!(bounds(0), [Some(3_800_000), Some(5_800_000)]);
    assert_eq!(bounds(1), [Some(2_000_000), Some(7_800_000)]);
    assert_eq!((bounds(2), all[2].order), (vec![None, None], Order::Unknown));
    assert_eq!([0, 1, 2].map(|at| all[at].groups[0].meets_all), [Some(true), Some(false), None]);
    for row in all[..2].iter().flat_map(|analysis| &analysis.groups[0].rows) {
        let (bound, seen) = (row.bound_ns.unwrap() as f64, row.seen_ns.unwrap() as f64);
        assert!((1.0..1.01).contains(&(seen / bound)), "{row:?}");
    }
    let late = |at: usize| all[at].groups[0].rows.iter().map(|row| row.late).sum::<u64>();
    assert!(late(0) == 0 && late(1) > 0 && late(2) > 0);
    let mut out = Vec::new();
    text::write(&all, &mut out).unwrap();
    let said = String::from_utf8(out).unwrap();
    assert!(said.contains("82.8 % for rate-monotonic priorities") && said.contains("here 2.160"), "{said}");
    assert!(said.lines().all(|line| line.len() <= 80), "{said}");
}

#[test]
fn a_set_that_needs_all_of_the_cpu_is_late_for_what_theory_leaves_out() {
    // The lowest of these three has a response time of 80 ms by theory.
    let full = periodic("a", "80ms", "40ms") + &periodic("b", "40ms", "10ms") + &periodic("c", "20ms", "5ms");
    let all = analysed(&full, "[FP]");
    let group = &all[0].groups[0];
    assert_eq!((group.rows[0].bound_ns, group.meets_all), (Some(80_000_000), Some(true)));
    assert!(group.rows[0].late > 0);
    let said = |all: &[Analysis]| {
        let mut out = Vec::new();
        text::write(all, &mut out).unwrap();
        String::from_utf8(out).unwrap()
    };
    assert!(said(&all).contains("the kernel's limits: jobs are late."), "{}", said(&all));
    assert!(!said(&analysed(&two(), "[EDF]")).contains("jobs are late"));
}

#[test]
fn theory_is_silent_where_it_does_not_hold() {
    let silent = |apps: &str, policy: &str| analysed(apps, &format!("[{policy}]"))[0].silent.join("; ");
    let hog = two() + "  hog: { workload: hog }\n";
    assert_eq!(silent(&two(), "EDF"), "");
    assert!(silent(&hog, "EDF").contains("`hog` is no set of periodic tasks"));
    let long = periodic("a", "100ms", "30ms");
    assert!(silent(&long, "EDF").contains("uses the whole `budget`"));
    assert_eq!(silent(&long, "{ EDF: { budget: 40ms } }"), "");
    // Ordinary tasks never delay those of a real-time class.
    let real = two().replace("program:", "scheduling: { fifo: 50 }, program:") + "  hog: { workload: hog }\n";
    assert!(!silent(&real, "LOAD").contains("hog"));
    let over = two() + "  c: { program: { code: \"run 50ms; forever { until 9ms; run 10us }\" } }\n";
    let left = &analysed(&over, "[EDF]")[0].left_out;
    assert_eq!((left[0].app.as_str(), left[0].why), ("c", "it does more than its periodic jobs"));
}

#[test]
fn the_settings_of_a_worst_case_repeat_it() {
    let experiment = loaded(&two(), "[LOAD]", &[]);
    let found = worst(&experiment, &experiment.runs[0], 12, 1).unwrap();
    assert_eq!(worst(&experiment, &experiment.runs[0], 12, 2).unwrap(), found);
    let first = worst(&experiment, &experiment.runs[0], 1, 1).unwrap();
    for (app, witness) in found.iter().enumerate() {
        assert!(witness.response_ns >= first[app].response_ns);
        let again = loaded(&two(), "[LOAD]", &witness.settings());
        let report = simulate_one(&again.runs[0], &mut ()).unwrap();
        let longest = report.apps[app].responses.as_ref().unwrap().quantiles().unwrap().max;
        assert_eq!(longest.ns(), witness.response_ns, "{}", witness.app);
    }
}
