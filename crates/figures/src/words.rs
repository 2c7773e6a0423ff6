//! Numbers and names as figures write them.

use experiment::result::{Cell, DEDICATED, Results};
use experiment::statistics::Summary;
use experiment::yardsticks::{FLUID, PARTITION, YARDSTICKS};

/// A number with three significant digits.
pub(crate) fn number(value: f64) -> String {
    match value.abs() {
        v if v >= 1e6 || (v < 1e-3 && v > 0.0) => format!("{value:.2e}"),
        v if v >= 99.95 => format!("{value:.0}"),
        v if v >= 9.995 => format!("{value:.1}"),
        v if v >= 0.9995 || v == 0.0 => format!("{value:.2}"),
        _ => format!("{value:.3}"),
    }
}

/// The unit of time that fits these seconds, and its length in seconds.
pub(crate) fn time_unit(seconds: f64) -> (&'static str, f64) {
    match seconds {
        s if s >= 1.0 => ("s", 1.0),
        s if s >= 1e-3 => ("ms", 1e-3),
        s if s >= 1e-6 => ("\u{b5}s", 1e-6),
        s if s > 0.0 => ("ns", 1e-9),
        _ => ("s", 1.0),
    }
}

/// Seconds with their unit.
pub(crate) fn seconds(value: f64) -> String {
    let (unit, length) = time_unit(value);
    format!("{} {unit}", number(value / length))
}

/// A row of a figure: the label in cells, and what is written.
pub(crate) type Row<'a> = (&'a str, String);

/// The policies, then the ideal share and the best partition where they have a cell of this metric.
pub(crate) fn rows<'a>(results: &'a Results, metric: &str) -> Vec<Row<'a>> {
    let measured = |label: &str| results.cells.iter().any(|c| c.policy == label && c.metric == metric);
    let policies = results.provenance.policies.iter().map(String::as_str).filter(|p| measured(p));
    let mut rows: Vec<Row<'a>> = policies.map(|p| (p, p.to_owned())).collect();
    for (label, words) in [(PARTITION.label, "best partition"), (FLUID.label, "ideal share")] {
        if measured(label) {
            rows.push((label, words.into()));
        }
    }
    rows
}

/// Whether a label is that of a yardstick or of the dedicated runs, not of a policy.
pub(crate) fn is_yardstick(label: &str) -> bool {
    label == DEDICATED || YARDSTICKS.iter().any(|yardstick| yardstick.label == label)
}

/// A percentage, from a share; tiny ones are not told apart.
pub(crate) fn percent(share: f64) -> String {
    if share < 0.000_95 { "< 0.1 %".into() } else { format!("{} %", number(share * 100.0)) }
}

/// A cell.
pub(crate) fn cell<'a>(
    results: &'a Results,
    point: &str,
    policy: &str,
    app: &str,
    metric: &str,
) -> Option<&'a Cell> {
    let mut cells = results.cells.iter();
    cells.find(|c| c.metric == metric && c.app == app && c.policy == policy && c.point == point)
}

/// Machines, kernels and replicates.
pub(crate) fn setting(results: &Results) -> String {
    let p = &results.provenance;
    let many = match p.repeat {
        1 => "one\u{a0}replicate: no\u{a0}intervals".to_owned(),
        n => format!("{n}\u{a0}replicates"),
    };
    format!("{}, {}; {many}", listed(&p.machines), listed(&p.kernels))
}

/// Up to three names, and how many more.
pub(crate) fn listed(names: &[String]) -> String {
    match names {
        [a, b, c, rest @ ..] if !rest.is_empty() => format!("{a}, {b}, {c} and {} more", rest.len()),
        all => all.join(", "),
    }
}

/// What is needed to find the result again.
pub(crate) fn source(results: &Results) -> String {
    let p = &results.provenance;
    let digest = p.digest.get(..16).unwrap_or(&p.digest);
    format!("{} · {} {} ({}) · digest {digest}", p.scenario, p.tool, p.version, p.model)
}

/// Whether the runs of two summaries cannot be told apart.
pub(crate) fn level(a: &Summary, b: &Summary) -> bool {
    a.n > 1 && b.n > 1 && a.overlaps(b)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn three_digits() {
        let all = [1.2345, 12.345, 123.45, 0.12345, 0.0, 1234.0, 0.000_012].map(number);
        assert_eq!(all, ["1.23", "12.3", "123", "0.123", "0.00", "1234", "1.20e-5"]);
        assert_eq!(seconds(0.0021), "2.10 ms");
    }
}
