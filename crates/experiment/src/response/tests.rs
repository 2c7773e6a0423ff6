//! Responses of known functions: winners, maps and shares computed on paper.

use super::effects::{Estimator, Kind};
use super::*;

fn axis(path: &str, values: &[&str]) -> Axis {
    Axis::new(path, values.iter().map(|value| (*value).to_owned()).collect())
}

/// A complete grid of axes and policies with `replicates`; `value` gets the places, the policy and the
/// replicate.
fn grid(
    axes: Vec<Axis>,
    policies: &[&str],
    replicates: usize,
    value: impl Fn(&[usize], usize, usize) -> f64,
) -> Response {
    let mut places: Vec<Vec<usize>> = vec![Vec::new()];
    for axis in &axes {
        let next = |earlier: &Vec<usize>| {
            let earlier = earlier.clone();
            (0..axis.values.len()).map(move |at| [earlier.clone(), vec![at]].concat())
        };
        places = places.iter().flat_map(next).collect();
    }
    let point = |places: Vec<usize>| {
        let of = |policy| (0..replicates).map(|replicate| Some(value(&places, policy, replicate))).collect();
        Point { values: (0..policies.len()).map(of).collect(), places }
    };
    Response {
        scenario: "known".into(),
        policies: policies.iter().map(|policy| (*policy).to_owned()).collect(),
        app: ALL_APPS.into(),
        metric: "makespan".into(),
        unit: "s".into(),
        points: places.into_iter().map(point).collect(),
        axes,
        ..Response::default()
    }
}

fn share(response: &Response, name: &str) -> f64 {
    let effects = response.effects().unwrap();
    effects
        .shares
        .iter()
        .find(|share| share.name == name)
        .unwrap_or_else(|| panic!("{name}: {effects:?}"))
        .share
}

fn near(found: f64, wanted: f64, within: f64) {
    assert!((found - wanted).abs() <= within, "{found} in place of {wanted}");
}

/// Noise from -1 to 1 by the splitmix64 generator.
fn noise(number: u64) -> f64 {
    let mut z = number.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    (z ^ (z >> 31)) as f64 / u64::MAX as f64 * 2.0 - 1.0
}

#[test]
fn an_additive_function_has_the_variances_of_its_terms() {
    // y = 10 + a + 2 b with a in {0, 1} and b in {0, 1, 2}: Var(a) = 1/4, Var(2 b) = 4 * 2/3 = 8/3, and
    // shares 3/35 and 32/35. Policies and pairs have none.
    let axes = || vec![axis("a", &["0", "1"]), axis("b", &["0", "1", "2"])];
    for replicates in [1, 3] {
        let response =
            grid(axes(), &["P", "Q"], replicates, |at, _, _| 10.0 + at[0] as f64 + 2.0 * at[1] as f64);
        assert_eq!(response.effects().unwrap().estimator, Estimator::Grid);
        near(share(&response, "a"), 3.0 / 35.0, 1e-9);
        near(share(&response, "b"), 32.0 / 35.0, 1e-9);
        for none in ["policy", "a × b", "a × policy", "b × policy", "three factors or more"] {
            near(share(&response, none), 0.0, 1e-9);
        }
    }
}

#[test]
fn a_product_of_signs_is_nothing_but_interaction() {
    // y = 10 + s t with s, t in {-1, 1}: every mean over one of them is 10, so all variance is the pair's.
    let sign = |place: usize| if place == 0 { -1.0 } else { 1.0 };
    let axes = vec![axis("a", &["0", "1"]), axis("b", &["0", "1"])];
    let response = grid(axes, &["P", "Q"], 2, |at, _, _| 10.0 + sign(at[0]) * sign(at[1]));
    near(share(&response, "a × b"), 1.0, 1e-9);
    near(share(&response, "a") + share(&response, "b") + share(&response, "policy"), 0.0, 1e-9);
    // With the policy as the third sign, no pair explains anything.
    let axes = vec![axis("a", &["0", "1"]), axis("b", &["0", "1"])];
    let response = grid(axes, &["P", "Q"], 1, |at, p, _| 10.0 + sign(at[0]) * sign(at[1]) * sign(p));
    near(share(&response, "three factors or more"), 1.0, 1e-9);
    near(share(&response, "a × b") + share(&response, "a × policy"), 0.0, 1e-9);
}

#[test]
fn noise_belongs_to_the_seeds() {
    // No factor has an effect, so its expected share is 0. The standard deviation of an epsilon squared
    // is about sqrt(2 df) / N: at most sqrt(2 * 9) / 480 = 0.009 for the pairs.
    let axes = vec![axis("a", &["0", "1", "2", "3"]), axis("b", &["0", "1", "2", "3"])];
    let value =
        |at: &[usize], p: usize, r: usize| 10.0 + noise((((at[0] * 4 + at[1]) * 3 + p) * 10 + r) as u64);
    let response = grid(axes, &["P", "Q", "R"], 10, value);
    let effects = response.effects().unwrap();
    for share in effects.shares.iter().filter(|share| share.kind != Kind::Seeds) {
        assert!(share.share < 0.03, "{share:?}");
    }
    near(share(&response, "seeds"), 1.0, 0.05);
}

#[test]
fn what_a_seed_adds_everywhere_is_no_doubt_about_effects() {
    // y = 10 + a + 3 r: the effect of a is exact for each seed. Var(a) = 1/4, Var(3 r) = 9/4 for r in
    // {0, 1}: shares 1/10 and 9/10.
    let response =
        grid(vec![axis("a", &["0", "1"])], &["P", "Q"], 2, |at, _, r| 10.0 + at[0] as f64 + 3.0 * r as f64);
    near(share(&response, "a"), 0.1, 1e-9);
    near(share(&response, "seeds"), 0.9, 1e-9);
}

/// A sample: 256 configurations, each with its own value of two parameters that are not related.
fn sample(value: impl Fn(f64, f64, usize) -> f64) -> Response {
    let numbers: Vec<String> = (0..256).map(|n| n.to_string()).collect();
    // Multiplication by an odd number permutes the residues modulo 256.
    let place = |at: usize| vec![at, at * 101 % 256];
    let point = |at: usize| {
        let [x, z] = [0, 1].map(|axis| place(at)[axis] as f64);
        Point { places: place(at), values: (0..2).map(|p| vec![Some(value(x, z, p))]).collect() }
    };
    Response {
        axes: vec![Axis::new("x", numbers.clone()), Axis::new("z", numbers)],
        policies: vec!["P".into(), "Q".into()],
        app: ALL_APPS.into(),
        metric: "makespan".into(),
        unit: "s".into(),
        points: (0..256).map(point).collect(),
        ..Response::default()
    }
}

#[test]
fn a_sampled_line_is_explained_but_for_the_width_of_a_class() {
    // y = 100 + x, 16 classes of 16 neighbouring x: within a class the variance is (16^2 - 1) / 12, in all
    // (256^2 - 1) / 12. The ratio is 1 - 255 / 65535 = 0.99611; the correction subtracts 15 / 240 of the
    // rest: 0.99587.
    let response = sample(|x, _, _| 100.0 + x);
    assert_eq!(response.effects().unwrap().estimator, Estimator::Classes);
    near(share(&response, "x"), 0.995_87, 1e-5);
    // z is not related to x: its expected share is 0.
    near(share(&response, "z"), 0.0, 0.03);
    near(share(&response, "policy"), 0.0, 1e-9);
}

#[test]
fn effects_of_the_policy_are_exact_in_a_sample() {
    // y = 500 + x + 100 p: Var(x) = 65535 / 12 = 5461.25 and Var(100 p) = 2500: shares 0.686 and 0.314.
    let response = sample(|x, _, p| 500.0 + x + 100.0 * p as f64);
    near(share(&response, "policy"), 2_500.0 / 7_961.25, 1e-9);
    near(share(&response, "x"), 0.995_87 * 5_461.25 / 7_961.25, 1e-5);
    near(share(&response, "x × policy"), 0.0, 1e-9);
    // y = 500 + x (2 p - 1): the lines of the two policies mirror each other. The mean over the policies is
    // 500 everywhere, that over x is 500 -+ 127.5: the policy has 127.5^2 = 16256.25, and the pair 5461.25.
    let response = sample(|x, _, p| 500.0 + x * (2.0 * p as f64 - 1.0));
    near(share(&response, "policy"), 16_256.25 / 21_717.5, 0.002);
    near(share(&response, "x × policy"), 0.995_87 * 5_461.25 / 21_717.5, 1e-4);
    near(share(&response, "x"), 0.0, 1e-9);
}

#[test]
fn logarithms_are_analysed_where_values_span_orders_of_magnitude() {
    // y = 10^a * 2^p: the logarithm is additive, Var(a ln 10) = 2/3 ln^2 10, Var(p ln 2) = 1/4 ln^2 2.
    let axes = || vec![axis("a", &["0", "1", "2"])];
    let response =
        grid(axes(), &["P", "Q"], 1, |at, p, _| [1.0, 10.0, 100.0][at[0]] * if p == 0 { 1.0 } else { 2.0 });
    assert!(response.effects().unwrap().logarithm);
    let (a, p) = (2.0 / 3.0 * 10_f64.ln().powi(2), 0.25 * 2_f64.ln().powi(2));
    near(share(&response, "a"), a / (a + p), 1e-9);
    near(share(&response, "a × policy"), 0.0, 1e-9);
}

#[test]
fn configurations_with_missing_runs_are_left_out_and_make_a_hole() {
    let axes = vec![axis("a", &["0", "1", "2", "3"]), axis("b", &["0", "1", "2", "3"])];
    let mut response = grid(axes, &["P", "Q"], 3, |at, p, r| 10.0 + (at[0] + p + r) as f64);
    response.points[5].values[1][2] = None;
    let effects = response.effects().unwrap();
    assert_eq!((effects.left_out, effects.configurations, effects.estimator), (1, 15, Estimator::Classes));
    assert!(effects.sentences(&response).iter().any(|text| text.starts_with("1 configuration is left out")));
}

#[test]
fn equal_values_have_no_shares() {
    let response = grid(vec![axis("a", &["0", "1"])], &["P", "Q"], 3, |_, _, _| 0.1);
    assert_eq!(response.effects().unwrap_err(), "all values are equal");
}

#[test]
fn the_best_is_paired_with_the_second_one() {
    // Q needs 10 % less than P for each seed; R fails once and takes no part, although it is fast.
    let seeds = [1.0, 3.0, 2.0];
    let mut response =
        grid(vec![axis("a", &["0", "1"])], &["P", "Q", "R"], 3, |_, p, r| seeds[r] * [1.0, 0.9, 0.1][p]);
    response.points[0].values[2][1] = None;
    let winner = response.winner(&[0]).unwrap();
    let margin = winner.margin.unwrap();
    assert_eq!(
        (winner.best, winner.second.unwrap().0, margin.pairs, margin.significant),
        (1, 0, 3, Some(true))
    );
    near(margin.factor, 1.0 / 0.9, 1e-9);
    assert_eq!(response.winner(&[1]).unwrap().best, 2);
    // More is better of other metrics.
    response.metric = "throughput".into();
    assert_eq!(response.winner(&[0]).unwrap().best, 0);
    assert!(response.winner(&[0]).unwrap().margin.unwrap().significant.unwrap());
}

#[test]
fn one_seed_makes_no_statement_and_a_tie_is_not_significant() {
    let one = grid(vec![axis("a", &["0", "1"])], &["P", "Q"], 1, |_, p, _| 1.0 + p as f64);
    assert_eq!(one.winner(&[0]).unwrap().margin.unwrap().significant, None);
    let map = one.map(None, None).unwrap();
    let said = regions::sentences(&one, &map);
    assert!(said.contains(&"With one seed there is no statement on significance.".to_owned()), "{said:?}");
    let tie = grid(vec![axis("a", &["0", "1"])], &["P", "Q"], 3, |_, _, r| 1.0 + r as f64);
    let winner = tie.winner(&[0]).unwrap();
    assert_eq!((winner.best, winner.margin.unwrap().significant), (0, Some(false)));
    // Without positive values there is no ratio.
    let zero = grid(vec![axis("a", &["0", "1"])], &["P", "Q"], 3, |_, p, r| (p * (5 + r)) as f64);
    let margin = zero.winner(&[0]).unwrap().margin.unwrap();
    assert_eq!((margin.ratio, margin.significant), (None, Some(true)));
    assert!(margin.factor.is_infinite());
}

#[test]
fn regions_are_conditions_on_both_sides() {
    // SPEED wins for x <= 1ms with y = 2 or 4 where z = posix; LOAD wins everywhere else.
    let axes = vec![
        axis("kernel.yield", &["posix", "cfs"]),
        axis("apps.a.interval", &["500us", "1ms", "2ms", "4ms"]),
        axis("threads_per_core", &["1", "2", "4"]),
    ];
    let wins = |at: &[usize]| at[0] == 0 && at[1] <= 1 && at[2] >= 1;
    let response = grid(axes, &["LOAD", "SPEED"], 2, |at, p, r| {
        let fast = if wins(at) { 1 } else { 0 };
        (if p == fast { 1.0 } else { 1.5 }) + 0.001 * r as f64
    });
    let map = response.map(None, None).unwrap();
    assert_eq!(
        (map.x.name.as_str(), map.y.as_ref().unwrap().name.as_str()),
        ("a.interval", "threads_per_core")
    );
    let said = regions::sentences(&response, &map);
    assert_eq!(
        said[..4],
        [
            "By the mean makespan, LOAD is best in 20 of 24 configurations and SPEED in 4.",
            "In 0 of 24 configurations the best policy is not significantly ahead of the second one (paired \
                95 % intervals over seeds).",
            "With yield=posix: SPEED is best for a.interval <= 1ms with threads_per_core >= 2 (4 \
                configurations); LOAD is best elsewhere (8 configurations).",
            "With yield=cfs: LOAD is best everywhere (12 configurations).",
        ]
    );
    let part = response.at("yield", "posix").unwrap();
    assert_eq!(
        (part.axes.len(), part.points.len(), part.fixed.as_slice()),
        (2, 12, &["kernel.yield=posix".to_owned()][..])
    );
    assert!(response.at("apps.a.interval", "1000us").is_ok(), "the same number in another unit");
    assert!(response.at("interval", "1ms").unwrap_err().contains("Swept: kernel.yield"));
    assert!(response.at("threads_per_core", "3").unwrap_err().ends_with("Valid: 1, 2, 4"));
}

#[test]
fn sampled_parameters_are_put_into_classes() {
    let response = sample(|x, z, p| 500.0 + if p == 0 { x } else { z });
    let map = response.map(None, None).unwrap();
    let y = map.y.as_ref().unwrap();
    assert!(map.x.classed && y.classed && !map.is_exact());
    assert_eq!(map.cells.iter().map(|cell| cell.points.len()).sum::<usize>(), 256);
    // The policy of the smaller parameter wins, far from the diagonal for certain.
    for cell in &map.cells {
        let winner = cell.winner.as_ref().unwrap();
        if cell.column + 1 < cell.row {
            assert_eq!(winner.best, 0);
        } else if cell.row + 1 < cell.column {
            assert_eq!(winner.best, 1);
        }
    }
}

#[test]
fn too_many_panels_ask_for_a_choice() {
    let values = ["0", "1", "2", "3"];
    let axes = ["a", "b", "c", "d"].map(|path| axis(path, &values)).to_vec();
    let response = grid(axes, &["P", "Q"], 1, |at, p, _| 1.0 + (at[0] + p) as f64);
    let why = response.map(None, None).unwrap_err();
    assert!(
        why.starts_with("16 panels do not fit") && why.contains("--at PATH=VALUE: c (4 values), d"),
        "{why}"
    );
    assert_eq!(response.at("c", "1").unwrap().map(Some(1), Some(0)).unwrap().panels.len(), 4);
}

#[test]
fn ten_thousand_configurations_make_a_map() {
    let values: Vec<String> = (1..=100).map(|n| n.to_string()).collect();
    let values: Vec<&str> = values.iter().map(String::as_str).collect();
    let axes = vec![axis("a", &values), axis("b", &values)];
    let response = grid(axes, &["P", "Q"], 3, |at, p, r| {
        100.0 + (if p == 0 { at[0] } else { at[1] }) as f64 + 0.01 * r as f64
    });
    let map = response.map(None, None).unwrap();
    assert_eq!((map.cells.len(), map.is_exact(), map.panels.len()), (10_000, true, 1));
    assert_eq!(response.effects().unwrap().estimator, Estimator::Grid);
}

#[test]
fn parameters_that_change_together_have_one_share() {
    // b falls as a rises, as in a `zip`: y = a + 2 c with a in {0, 1, 2} and c in {0, 1}. Var(a) = 2/3,
    // Var(2 c) = 1: shares 2/5 and 3/5.
    let axes = vec![axis("a", &["0", "1", "2"]), axis("b", &["9", "5", "4"]), axis("c", &["0", "1"])];
    let mut response = grid(axes, &["P", "Q"], 2, |at, _, _| at[0] as f64 + 2.0 * at[2] as f64);
    response.points.retain(|point| point.places[0] == point.places[1]);
    let effects = response.effects().unwrap();
    assert_eq!(effects.estimator, Estimator::Grid);
    assert_eq!(effects.joined, [("b".to_owned(), "a".to_owned())]);
    near(share(&response, "a"), 0.4, 1e-9);
    near(share(&response, "c"), 0.6, 1e-9);
    assert!(effects.sentences(&response).iter().any(|text| text.starts_with("b changes together with a")));
    // A sample also has one value of each axis for each configuration, but in no common order.
    for (at, point) in response.points.iter_mut().enumerate() {
        point.places = vec![at % 3, [1, 2, 0][at % 3], at / 3];
    }
    assert_eq!(response.effects().unwrap().joined, []);
}

#[test]
fn a_side_of_too_many_numbers_has_classes_even_where_all_pairs_occur() {
    let values: Vec<String> = (0..150).map(|value| value.to_string()).collect();
    let values: Vec<&str> = values.iter().map(String::as_str).collect();
    let axes = vec![axis("a", &values), axis("b", &["1", "2"])];
    let response = grid(axes, &["P", "Q"], 1, |at, policy, _| 1.0 + at[0] as f64 + policy as f64);
    let map = response.map(None, None).unwrap();
    // The square root of 300 configurations at 4 in a cell is 8.7.
    assert!(map.x.classed && map.x.classes.len() == 8, "{:?}", map.x);
    assert_eq!(map.y.unwrap().classes.len(), 2);
    assert_eq!(map.cells.iter().map(|cell| cell.points.len()).sum::<usize>(), 300);
}
