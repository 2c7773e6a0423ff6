//! Two small results: pairing by seed, thresholds, directions, refusals, advice, sentences.

use super::*;
use crate::compare::report::{FORMS, sentence};
use crate::export::{View, find};
use crate::result::{Cell, fixture};
use crate::statistics::summarise;

/// One application under the policies, with these run times.
fn result(policies: &[(&str, &[f64])], metric: &str, unit: &str, seed: u64) -> Results {
    let mut results = fixture::two_apps();
    let repeat = policies[0].1.len();
    let p = &mut results.provenance;
    (p.seed, p.repeat) = (seed, repeat as u32);
    p.policies = policies.iter().map(|(label, _)| (*label).to_owned()).collect();
    let cell = |(label, values): &(&str, &[f64])| Cell {
        scenario: "share".into(),
        configuration: "threads_per_core=1".into(),
        settings: std::sync::Arc::default(),
        policy: (*label).into(),
        app: "cg".into(),
        metric: metric.into(),
        unit: unit.into(),
        summary: summarise(values).unwrap(),
        values: values.iter().copied().map(Some).collect(),
        input_error: None,
    };
    results.cells = policies.iter().map(cell).collect();
    results
}

fn named<'a>(file: &'a str, results: &'a Results) -> Named<'a> {
    Named { file, results }
}

fn wanted(policies: &[&str], metrics: &[&str], threshold: f64) -> Wanted {
    let strings = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
    Wanted { policies: strings(policies), metrics: strings(metrics), threshold }
}

#[test]
fn policies_of_one_result_are_compared_with_the_first_one() {
    let times = result(&[("LOAD", &[4.0, 8.0, 6.0]), ("PIN", &[2.0, 4.1, 3.0])], "run_time", "s", 1);
    let all = policies(named("r.json", &times), &Wanted::default()).unwrap();
    let [one] = all.contrasts.as_slice() else { panic!("{all:?}") };
    assert_eq!((one.verdict, one.too_slow, one.pairs), (Verdict::Faster, false, 3));
    let said = sentence(&all, one);
    assert!(
        said.starts_with("PIN is 1.98 (1.91 to 2.06) times as fast as LOAD: 6.000 s -> 3.033 s (p "),
        "{said}"
    );
    // The other way round it is the slower one.
    let all = policies(named("r.json", &times), &wanted(&["pin", "LOAD"], &[], 0.0)).unwrap();
    assert_eq!((all.contrasts[0].verdict, all.too_slow), (Verdict::Slower, 1));
    let said = sentence(&all, &all.contrasts[0]);
    assert!(said.starts_with("LOAD takes 1.98 (1.91 to 2.06) times as long as PIN"), "{said}");
}

#[test]
fn single_comparisons_are_those_of_the_whole_table() {
    let times = result(&[("LOAD", &[4.0, 8.0, 6.0]), ("PIN", &[2.0, 4.1, 3.0])], "run_time", "s", 1);
    let all = policies(named("r.json", &times), &Wanted::default()).unwrap();
    let cells = Cells::of(&times);
    let place = ("threads_per_core=1", "cg");
    // A single one is not corrected for the number of others.
    let single = cells.contrast(place, "run_time", ["LOAD", "PIN"]);
    assert_eq!(single, all.contrasts.first().map(|one| Contrast { p_holm: None, ..one.clone() }));
    assert_eq!(all.contrasts[0].p_holm, all.contrasts[0].p);
    assert_eq!(cells.contrast(place, "makespan", ["LOAD", "PIN"]), None);
    assert_eq!(cells.contrast(place, "run_time", ["LOAD", "ULE"]), None);
}

#[test]
fn one_policy_alone_is_refused_with_the_name_of_the_file() {
    let times = result(&[("LOAD", &[4.0, 8.0, 6.0])], "run_time", "s", 1);
    let said = policies(named("r.json", &times), &Wanted::default()).unwrap_err();
    assert!(said.starts_with("r.json: LOAD is the only policy"), "{said}");
}

#[test]
fn a_slowdown_counts_when_all_of_its_interval_is_beyond_the_threshold() {
    let old = result(&[("LOAD", &[1.0, 2.0, 3.0])], "run_time", "s", 1);
    let new = result(&[("LOAD", &[1.05, 2.10, 3.16])], "run_time", "s", 1);
    let judge =
        |threshold| results(named("old", &old), named("new", &new), &wanted(&[], &[], threshold)).unwrap();
    assert_eq!(
        (judge(0.0).too_slow, judge(4.0).too_slow, judge(5.1).too_slow, judge(10.0).too_slow),
        (1, 1, 0, 0)
    );
    // The verdict does not depend on the threshold.
    assert_eq!(judge(10.0).contrasts[0].verdict, Verdict::Slower);
    let back = results(named("new", &new), named("old", &old), &Wanted::default()).unwrap();
    assert_eq!((back.too_slow, back.contrasts[0].verdict), (0, Verdict::Faster));
}

#[test]
fn an_undecided_difference_comes_with_the_number_of_pairs_that_would_decide() {
    // Logarithms of the ratios: mean 0.094, standard deviation 0.102 over four pairs, so d = 0.91.
    let unsure =
        result(&[("LOAD", &[1.0, 1.0, 1.0, 1.0]), ("PIN", &[1.2, 1.0, 1.2, 1.01])], "run_time", "s", 1);
    let all = policies(named("r", &unsure), &wanted(&[], &[], 1.0)).unwrap();
    let one = &all.contrasts[0];
    assert_eq!((one.verdict, one.pairs_needed), (Verdict::Undecided, Some(12)));
    let text = sentence(&all, one);
    assert!(
        text.starts_with("undecided, PIN / LOAD is 1.10 (") && text.ends_with("4 pairs, about 12 needed)"),
        "{text}"
    );
    // A difference below the threshold does not matter.
    let all = policies(named("r", &unsure), &wanted(&[], &[], 20.0)).unwrap();
    assert_eq!(all.contrasts[0].pairs_needed, None);
    let sure = result(&[("LOAD", &[1.0, 1.0, 1.0]), ("PIN", &[2.0, 2.1, 2.0])], "run_time", "s", 1);
    assert_eq!(policies(named("r", &sure), &wanted(&[], &[], 1.0)).unwrap().contrasts[0].pairs_needed, None);
}

#[test]
fn mistyped_names_come_with_the_nearest() {
    let times = result(&[("LOAD", &[4.0, 8.0]), ("PIN", &[2.0, 4.0])], "run_time", "s", 1);
    let refused = |wanted: Wanted| policies(named("r.json", &times), &wanted).unwrap_err();
    assert!(refused(wanted(&["LAOD"], &[], 0.0)).contains("did you mean `LOAD`? Valid: LOAD, PIN"));
    let said = refused(wanted(&[], &["run_tme"], 0.0));
    assert!(
        said.contains("did you mean `run_time`? Valid: run_time, ") && !said.contains("variation"),
        "{said}"
    );
}

#[test]
fn pairs_have_equal_seeds() {
    // Seeds 1 to 3 and 3 to 5: only seed 3 is in both.
    let a = result(&[("LOAD", &[1.0, 2.0, 3.0])], "run_time", "s", 1);
    let b = result(&[("PIN", &[6.0, 1.0, 1.0])], "run_time", "s", 3);
    let all = results(named("a", &a), named("b", &b), &Wanted::default()).unwrap();
    let one = &all.contrasts[0];
    assert_eq!((one.pairs, one.verdict, one.mean_a.to_bits()), (1, Verdict::Undecided, 3f64.to_bits()));
    let far = result(&[("PIN", &[1.0, 1.0, 1.0])], "run_time", "s", 9);
    let said = results(named("a", &a), named("b", &far), &Wanted::default()).unwrap_err();
    assert!(said.contains("a has seeds 1 to 3, b has 9 to 11"), "{said}");
}

#[test]
fn replicates_that_one_side_lacks_are_left_out() {
    let a = result(&[("LOAD", &[1.0, 2.0, 3.0])], "run_time", "s", 1);
    let mut b = result(&[("LOAD", &[1.0, 2.0, 3.0])], "run_time", "s", 1);
    b.cells[0].values[1] = None;
    let all = results(named("a", &a), named("b", &b), &Wanted::default()).unwrap();
    assert_eq!((all.contrasts[0].pairs, all.contrasts[0].verdict), (2, Verdict::NoDifference));
    assert!(sentence(&all, &all.contrasts[0]).starts_with("b and a have exactly the same values"), "{all:?}");
}

#[test]
fn other_metrics_than_times_are_higher_or_lower_and_never_too_slow() {
    let moves = result(&[("LOAD", &[0.0, 0.0, 1.0]), ("PIN", &[50.0, 51.0, 52.0])], "migrations", "count", 1);
    let all = policies(named("r", &moves), &wanted(&[], &["migrations"], 0.0)).unwrap();
    let one = &all.contrasts[0];
    assert_eq!((one.verdict, one.speedup, all.too_slow), (Verdict::Higher, None, 0));
    assert!(sentence(&all, one).contains("migrations is higher for PIN than for LOAD"));
    let slowdown = result(&[("LOAD", &[1.0, 1.1]), ("PIN", &[2.0, 2.2])], "slowdown", "ratio", 1);
    let all = policies(named("r", &slowdown), &wanted(&[], &["slowdown"], 0.0)).unwrap();
    assert_eq!(all.too_slow, 1, "a slowdown is like a time");
}

#[test]
fn nonsense_is_refused_with_what_there_is() {
    let times = result(&[("LOAD", &[4.0, 8.0]), ("PIN", &[2.0, 4.0])], "run_time", "s", 1);
    let refused = |wanted: Wanted| policies(named("r.json", &times), &wanted).unwrap_err();
    assert!(refused(wanted(&["NOPE"], &[], 0.0)).contains("r.json has no policy `NOPE`. Valid: LOAD, PIN"));
    assert!(refused(wanted(&["PIN"], &[], 0.0)).contains("a comparison needs two"));
    assert!(refused(wanted(&[], &["nope"], 0.0)).contains("no metric is called `nope`. Valid: run_time,"));
    assert!(refused(wanted(&[], &["variation"], 0.0)).contains("no pairs to compare"));
    assert!(refused(wanted(&[], &["queue_time"], 0.0)).contains("no measurement in common"));
    let other = result(&[("GANG", &[2.0, 4.0]), ("X", &[1.0, 1.0])], "run_time", "s", 1);
    let said = results(named("a", &times), named("b", &other), &Wanted::default()).unwrap_err();
    assert!(said.contains("no policy in common: a has LOAD, PIN, b has GANG, X"), "{said}");
}

#[test]
fn every_form_names_both_sides_and_the_numbers() {
    let times = result(&[("LOAD", &[4.0, 8.0, 6.0]), ("PIN", &[2.0, 4.1, 3.0])], "run_time", "s", 1);
    let all = policies(named("r.json", &times), &Wanted::default()).unwrap();
    for form in FORMS {
        let mut out = Vec::new();
        form.write(&all, &mut out, &View::FILE).unwrap();
        let text = String::from_utf8(out).unwrap();
        assert!(
            text.contains("LOAD") && text.contains("PIN") && text.contains("1.98"),
            "{}: {text}",
            form.form().name
        );
    }
    let mut out = Vec::new();
    find(FORMS, "json").unwrap().write(&all, &mut out, &View::FILE).unwrap();
    assert_eq!(serde_json::from_slice::<Contrasts>(&out).unwrap(), all);
}
