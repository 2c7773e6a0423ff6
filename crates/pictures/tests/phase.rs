//! Phase diagrams and effects of small and large sweeps: nothing overlaps or is cut, and the numbers are
//! those of the cells.
//!
//! `OVERSIM_PICTURES=DIR` also writes each as PNG and SVG to this directory.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod support;

use experiment::response::{Point, Response};
use pictures::figures::{Figure, Origin, effects, phase};
use scenario::configuration::Axis;
use support::{check, written};

/// Noise from -1 to 1 by the splitmix64 generator.
fn noise(number: u64) -> f64 {
    let mut z = number.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    (z ^ (z >> 31)) as f64 / u64::MAX as f64 * 2.0 - 1.0
}

fn axis(path: &str, values: impl IntoIterator<Item = impl Into<String>>) -> Axis {
    Axis::new(path, values.into_iter().map(Into::into).collect())
}

/// A response over a grid in which each policy has a best place on the plane of the first two axes.
fn response(axes: Vec<Axis>, policies: usize, replicates: usize, name: impl Fn(usize) -> String) -> Response {
    let mut places: Vec<Vec<usize>> = vec![Vec::new()];
    for axis in &axes {
        let all =
            (0..axis.values.len()).flat_map(|at| places.iter().map(move |of| [&of[..], &[at]].concat()));
        places = all.collect();
    }
    let part = |place: usize, axis: usize| place as f64 / (axes[axis].values.len() - 1) as f64;
    let value = |at: &[usize], policy: usize, replicate: usize, number: usize| {
        let spot = [noise(policy as u64 * 2 + 5), noise(policy as u64 * 2 + 77)].map(|x| x / 2.0 + 0.5);
        let shift = at.iter().skip(2).sum::<usize>() as f64 * 0.15;
        let x = part(at[0], 0) - spot[0] + shift;
        let y = at.get(1).map_or(0.0, |place| part(*place, 1) - spot[1]);
        let wobble = noise((number * 100 + policy) as u64 * 1_000 + replicate as u64);
        1.0 + x * x + y * y + 0.03 * wobble + 0.1 * noise(replicate as u64)
    };
    let point = |(number, places): (usize, Vec<usize>)| {
        let of = |policy| (0..replicates).map(|r| Some(value(&places, policy, r, number))).collect();
        Point { values: (0..policies).map(of).collect(), places }
    };
    Response {
        scenario: "study".into(),
        policies: (0..policies).map(name).collect(),
        app: "code".into(),
        metric: "run_time".into(),
        unit: "s".into(),
        points: places.into_iter().enumerate().map(point).collect(),
        axes,
        ..Response::default()
    }
}

fn origin(seeds: &str) -> Origin {
    Origin {
        setting: format!("barcelona, linux-2.6.28; {seeds}"),
        source: "study · oversim 0.1.0 (model 1) · digest 0123456789abcdef".into(),
        ..Origin::default()
    }
}

/// Draws both figures, checks them and writes them where that is wanted.
fn drawn(of: &str, response: &Response, x: Option<usize>, y: Option<usize>) -> Figure {
    let origin = origin(if response.replicates() > 1 { "5 seeds" } else { "one seed: no intervals" });
    let map = response.map(x, y).unwrap();
    let phase = phase::figure(response, &map, &origin).unwrap();
    let effects = effects::figure(response, &response.effects().unwrap(), &origin).unwrap();
    for figure in [&phase, &effects] {
        check(figure, of);
        if let Ok(folder) = std::env::var("OVERSIM_PICTURES") {
            let path = std::path::Path::new(&folder).join(format!("{of}-{}", figure.name));
            std::fs::write(path.with_extension("png"), figure.picture.png(1.5).unwrap()).unwrap();
            std::fs::write(path.with_extension("svg"), figure.picture.svg()).unwrap();
        }
    }
    assert_eq!(phase, phase::figure(response, &map, &origin).unwrap());
    // With classes, the interval of a cell is over its configurations, also with one seed.
    assert_eq!(phase.about.contains("no intervals"), map.is_exact() && response.replicates() == 1);
    assert_eq!(phase.data.rows.len(), map.cells.len());
    phase
}

fn plain(policy: usize) -> String {
    ["LOAD", "SPEED", "PIN", "DWRR", "ULE", "gang", "EEVDF", "SWOMPS", "CFS", "PSET", "BFS", "EQUI"][policy]
        .into()
}

fn numbers(count: usize) -> Vec<String> {
    (1..=count).map(|n| n.to_string()).collect()
}

const TIMES: [&str; 7] = ["100us", "200us", "500us", "1ms", "2ms", "5ms", "10ms"];

#[test]
fn two_by_two_cells_have_names_and_margins() {
    let axes = vec![axis("threads_per_core", ["1", "2"]), axis("kernel.yield", ["cfs", "posix"])];
    let figure = drawn("two", &response(axes, 2, 5, plain), None, None);
    let texts = written(&figure.picture.svg());
    assert!(texts.iter().filter(|one| one.text == "LOAD" || one.text == "SPEED").count() == 4);
}

#[test]
fn one_parameter_is_a_strip() {
    drawn("strip", &response(vec![axis("apps.code.interval", TIMES)], 3, 5, plain), None, None);
}

#[test]
fn a_plane_of_numbers_with_four_panels() {
    let axes = vec![
        axis("apps.code.workload.interval", TIMES),
        axis("threads_per_core", ["1", "2", "3", "4", "6", "8"]),
        axis("kernel.yield", ["cfs", "posix"]),
        axis("machine.noise", ["0%", "5%"]),
    ];
    let figure = drawn("panels", &response(axes, 4, 5, plain), None, None);
    let texts = written(&figure.picture.svg());
    assert!(texts.iter().any(|one| one.text.starts_with("yield=cfs, noise=0%")), "{}", figure.picture.svg());
}

#[test]
fn twelve_policies_with_long_names_and_twelve_panels() {
    let axes = vec![
        axis("apps.code.workload.interval", TIMES),
        axis("threads_per_core", ["1", "2", "3", "4", "6", "8"]),
        axis("kernel.yield", ["cfs", "posix", "ule"]),
        axis("apps.code.runtime", ["spin", "{openmp: {block_time: 200ms, wait: yield}}", "upc", "block"]),
    ];
    let long = |policy| format!("SPEED-over-DWRR-with-a-long-interval-and-a-label-{policy}");
    drawn("twelve", &response(axes, 12, 5, long), None, None);
}

#[test]
fn thirty_by_thirty_cells() {
    let axes = vec![axis("a.long.path.of_a_parameter", numbers(30)), axis("threads_per_core", numbers(30))];
    drawn("thirty", &response(axes.clone(), 8, 5, plain), None, None);
    drawn("thirty-one-seed", &response(axes, 8, 1, plain), None, None);
}

#[test]
fn ten_thousand_cells() {
    let axes = vec![axis("a", numbers(100)), axis("b", numbers(100))];
    let figure = drawn("hundred", &response(axes, 6, 2, plain), None, None);
    assert!(figure.picture.svg().len() < 600_000, "{} bytes", figure.picture.svg().len());
}

#[test]
fn holes_and_failed_runs_are_marked() {
    let axes = vec![axis("threads_per_core", numbers(8)), axis("apps.code.tasks", numbers(8))];
    let mut response = response(axes, 3, 3, plain);
    response.points.retain(|point| (point.places[0] + 1) * (point.places[1] + 1) <= 32);
    for policy in &mut response.points[9].values {
        policy.fill(None);
    }
    let figure = drawn("holes", &response, None, None);
    let texts = written(&figure.picture.svg());
    for wanted in ["crossed: no run completed", "blank: not in the sweep"] {
        assert!(texts.iter().any(|one| one.text == wanted), "{wanted}");
    }
    assert!(figure.data.rows[9][8].is_empty(), "{:?}", figure.data.rows[9]);
}

#[test]
fn sampled_parameters_have_classes() {
    let count = 1_000;
    let values =
        |times: usize| -> Vec<String> { (0..count).map(|n| format!("{}us", 100 + n * times)).collect() };
    let mut response = response(vec![axis("a", ["1"])], 1, 1, plain);
    response.axes = vec![
        axis("apps.code.interval", values(7)),
        axis("machine.switch_thread", values(1)),
        axis("machine.noise", (0..count).map(|n| format!("{}%", n as f64 / 100.0))),
    ];
    response.policies = (0..3).map(plain).collect();
    let point = |at: usize| {
        let places = vec![at, at * 389 % count, at * 617 % count];
        let [x, y, z] = [0, 1, 2].map(|axis| places[axis] as f64 / count as f64);
        let of = [1.0 + x, 1.3 + y, 1.6 + 0.4 * z];
        Point { values: of.iter().map(|value| vec![Some(*value)]).collect(), places }
    };
    response.points = (0..count).map(point).collect();
    let figure = drawn("sampled", &response, Some(0), Some(1));
    assert!(figure.about.contains("not shown: noise"), "{}", figure.about);
    assert!(figure.data.rows.len() <= 144);
}
