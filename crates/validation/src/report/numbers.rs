//! Simulated numbers as reports show them.

use crate::verdict::Finding;

/// The simulated side in a few words: the number with its interval, or the ends of several.
#[must_use]
pub fn simulated(finding: &Finding) -> String {
    match finding.points.as_slice() {
        [] => String::new(),
        [point] => match point.ci95 {
            Some([low, high]) => format!("{} ±{}", short(point.value), short((high - low) / 2.0)),
            None => short(point.value),
        },
        points if finding.pairs.len() > 1 => {
            let each = points.iter().map(|p| format!("{} {}", p.label, short(p.value)));
            each.collect::<Vec<_>>().join(", ")
        }
        points => {
            let low = points.iter().map(|p| p.value).fold(f64::INFINITY, f64::min);
            let high = points.iter().map(|p| p.value).fold(f64::NEG_INFINITY, f64::max);
            format!("{} to {} ({} values)", short(low), short(high), points.len())
        }
    }
}

/// How far the value that decides may move before the claim fails, or with a minus has to move to pass.
pub(super) fn margin(finding: &Finding) -> String {
    finding.margin.map_or(String::new(), short)
}

/// Three significant digits, more before the point.
#[must_use]
pub fn short(value: f64) -> String {
    let size = value.abs();
    match size {
        _ if size >= 100.0 => format!("{value:.0}"),
        _ if size >= 10.0 => format!("{value:.1}"),
        _ if size >= 0.0995 => format!("{value:.2}"),
        _ if size < 0.000_5 => "0".to_owned(),
        _ => format!("{value:.3}"),
    }
}
