//! What comparisons are made of, on made-up run times: the sign follows the statement, the unit the claim.

#![expect(clippy::unwrap_used, reason = "a test that cannot read what is shipped has failed")]

use std::sync::Arc;

use validation::claims::{self, Claim, Form, Texts, Tolerance, ToleranceKind, Value};
use validation::lab::{AppSample, Cell, Lab, RunSample};
use validation::studies;

/// A claim of a group at these conditions.
fn claim(group: &str, (form, value): (Form, Value), tolerance: (ToleranceKind, f64), texts: Texts) -> Claim {
    let any = claims::read(claims::SHIPPED_NAME, claims::SHIPPED).unwrap().swap_remove(0);
    let (kind, amount) = tolerance;
    let tolerance = Tolerance { kind, amount };
    Claim { group: group.into(), form, value, tolerance, texts, ..any }.with(|_| ())
}

fn texts(change: impl FnOnce(&mut Texts)) -> Texts {
    let mut texts = Texts {
        machine: "tigerton".into(),
        workload: "CG".into(),
        class: "B".into(),
        model: "upc".into(),
        threads: "2 per core".into(),
        policy: "PIN".into(),
        baseline: "none".into(),
        yields: "posix".into(),
        wait: "poll+yield".into(),
        environment: "dedicated".into(),
        metric: "rel-order".into(),
        unit: "none".into(),
    };
    change(&mut texts);
    texts
}

/// The values of an answer where a cell takes so long, each of two replicates a tenth apart under LOAD.
fn values(claim: &Claim, seconds: impl Fn(&Cell) -> f64) -> Vec<f64> {
    let mut lab = Lab::planning();
    studies::answer(claim, &mut lab).unwrap();
    let run = |cell: &Cell, factor: f64| RunSample {
        makespan: 1.0,
        user: vec![1.0],
        apps: vec![AppSample {
            name: "a".into(),
            timed: seconds(cell) * factor,
            barriers: 1e9,
            ..AppSample::default()
        }],
        ..RunSample::default()
    };
    let more = |cell: &Cell| if cell.policy() == "LOAD" { 1.1 } else { 1.0 };
    let cells = lab.into_wanted().into_iter();
    let measured = cells.map(|cell| (cell.key(), Arc::new(vec![run(&cell, 1.0), run(&cell, more(&cell))])));
    let mut lab = Lab::measured(measured.collect());
    studies::answer(claim, &mut lab).unwrap().0.iter().map(|point| point.value).collect()
}

fn near(found: &[f64], expected: f64) {
    assert!(found.len() == 1 && (found[0] - expected).abs() < 1e-9, "{found:?}, not {expected}");
}

fn said(text: &str) -> (Form, Value) {
    (Form::Ordering, Value::Text(text.into()))
}

#[test]
fn two_machines() {
    // Two tasks per core take 0.8 of the time of one on tigerton and the same time on barcelona: 1.25 against 1.
    let of = |statement: &str| {
        let texts = texts(|t| {
            t.machine = "tigerton vs barcelona".into();
            t.baseline = "same benchmark, 1 task per core".into();
        });
        claim("counters", said(statement), (ToleranceKind::Order, 0.01), texts)
    };
    let seconds = |cell: &Cell| {
        let is = |path: &str, word: &str| cell.settings().get(path).is_some_and(|s| s.to_string() == word);
        if is("machine", "tigerton") && is("apps.a.tasks", "32") { 0.8 } else { 1.0 }
    };
    near(&values(&of("gain on Tigerton > gain on Barcelona"), seconds), 0.25);
    near(&values(&of("gain on Tigerton < gain on Barcelona"), seconds), -0.25);
    near(&values(&of("Barcelona gains more than Tigerton"), seconds), -0.25);
}

#[test]
fn a_policy_and_its_baseline() {
    // Pinned 1 s; left to the balancer 1.2 and 1.32 s, 26 % more on the mean and 10 % apart.
    let seconds = |cell: &Cell| if cell.policy() == "LOAD" { 1.2 } else { 1.0 };
    let of = |metric: &str, statement: &str, tolerance| {
        let texts = texts(|t| (t.metric, t.baseline) = (metric.into(), "LOAD".into()));
        claim("affinity", said(statement), (ToleranceKind::Order, tolerance), texts)
    };
    near(&values(&of("rel-order", "pinning outperforms LOAD", 1.0), seconds), 26.0);
    near(&values(&of("rel-order", "pinning outperforms LOAD", 0.02), seconds), 0.26);
    near(&values(&of("rel-order", "PIN is slower than LOAD", 0.02), seconds), -0.26);
    near(&values(&of("rel-order", "run time under PIN < run time under LOAD", 0.02), seconds), 0.26);
    // Variation: less is said and less is found.
    near(&values(&of("variation", "run times vary less under PIN", 1.0), seconds), 10.0);
    near(&values(&of("variation", "variation PIN > variation LOAD", 1.0), seconds), -10.0);
}

#[test]
fn an_average_is_one_number() {
    let seconds = |cell: &Cell| {
        let tasks = cell.settings().get("apps.a.tasks").map_or(String::new(), ToString::to_string);
        if tasks == "16" { 1.0 } else { 0.8 }
    };
    let texts = texts(|t| {
        (t.metric, t.unit, t.workload) = ("rel-perf-1pc".into(), "ratio".into(), "CG, EP".into());
    });
    let average = (Form::Average, Value::Number(1.2));
    near(&values(&claim("dedicated-upc", average, (ToleranceKind::Abs, 0.1), texts), seconds), 1.25);
}
