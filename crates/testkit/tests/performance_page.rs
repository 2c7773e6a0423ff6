//! The tables of docs/performance.md are those of the archived measurements.

use std::fs;
use std::path::Path;

use testkit::cost::{exponents, paths, peers, rows, sizes};

fn read(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs").join(name);
    fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

#[test]
fn the_tables_of_costs_are_those_of_the_archive() {
    let (page, measured) = (read("performance.md"), rows(&read("performance/cost_per_step.csv")).unwrap());
    let others = peers(&read("performance/peers.csv")).unwrap();
    for table in [sizes(&measured), paths(&measured), others] {
        assert!(page.contains(&table), "docs/performance.md does not have this table:\n{table}");
    }
}

#[test]
fn the_growth_is_that_of_the_archive() {
    let (page, measured) = (read("performance.md"), rows(&read("performance/cost_per_step.csv")).unwrap());
    let all = [("probe", "the probe"), ("central", "the central barrier"), ("tree", "the tree barrier")];
    for (job, name) in all {
        let [small, large] = exponents(&measured, job).map(Option::unwrap);
        let stated = format!("| {name} | {small:.2} | {large:.2} |");
        assert!(page.contains(&stated), "docs/performance.md does not have this row: {stated}");
    }
}

#[test]
fn a_straight_line_has_its_slope() {
    let text = "size,probe,16,40,2,30\nsize,probe,64,80,2,30\nsize,probe,256,160,2,30";
    let measured = rows(text).unwrap();
    let [small, large] = exponents(&measured, "probe");
    assert!((small.unwrap() - 0.5).abs() < 1e-12 && large.is_none());
    assert_eq!(
        rows("size,probe,16").unwrap_err(),
        format!("`size,probe,16` is not `{}`", testkit::cost::HEADING)
    );
}
