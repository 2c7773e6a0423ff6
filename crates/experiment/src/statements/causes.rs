//! Why one standing is better than another: the largest differences between their cpu-time breakdowns.

use super::ranking::Standing;
use super::table::Table;
use crate::metrics::ALL_APPS;

/// A part of the cpu-time breakdown as tables name it, and its metrics.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Part {
    /// Its name in a sentence, `useful work`.
    pub name: &'static str,
    /// Its name on two lines of a table head.
    pub head: [&'static str; 2],
    /// The metrics that are summed.
    pub metrics: &'static [&'static str],
}

const fn part(name: &'static str, head: [&'static str; 2], metrics: &'static [&'static str]) -> Part {
    Part { name, head, metrics }
}

/// All parts. They sum to the whole cpu time.
pub const PARTS: [Part; 13] = [
    part("useful work", ["useful", "work"], &["breakdown_compute"]),
    part("memory stalls", ["memory", "stalls"], &["breakdown_memory_stall"]),
    part("remote memory", ["remote", "memory"], &["breakdown_remote"]),
    part("shared cores (SMT)", ["shared", "core"], &["breakdown_smt"]),
    part("cache refills", ["cache", "refill"], &["breakdown_refill"]),
    part("waiting", ["waiting", ""], &["breakdown_spin", "breakdown_yield"]),
    part("lock waiting", ["lock", "waiting"], &["breakdown_lock_wait"]),
    part("context switches", ["context", "switch"], &["breakdown_switch"]),
    part("migrations", ["migration", ""], &["breakdown_migration"]),
    part("page initialisation", ["page", "init"], &["breakdown_page_init"]),
    part("kernel work", ["kernel", ""], &["breakdown_kernel"]),
    part("policy daemons", ["policy", "daemon"], &["breakdown_daemon"]),
    part("idle time", ["idle", ""], &["breakdown_idle"]),
];

/// Differences below this share are not mentioned.
const SMALL: f64 = 0.01;
/// Parts besides useful work that are shown.
const SHOWN: usize = 3;

/// Two cpu-time breakdowns side by side.
#[derive(Clone, PartialEq, Debug)]
pub struct Causes {
    /// Useful work first, then the parts that differ most.
    pub parts: Vec<Part>,
    /// Shares of the first standing.
    pub first: Vec<f64>,
    /// Shares of the second one; empty when there is none.
    pub second: Vec<f64>,
    /// The difference in a sentence; empty without a second standing, or where nothing differs.
    pub text: String,
}

/// The mean share of a part of a standing.
#[must_use]
pub fn share(table: &Table<'_>, configuration: usize, policy: &str, part: &Part) -> Option<f64> {
    let each = part.metrics.iter().map(|m| Some(table.get(configuration, policy, ALL_APPS, m)?.mean));
    each.sum()
}

/// The causes of the difference between two standings, or the breakdown of the only one.
#[must_use]
pub fn causes(table: &Table<'_>, best: &Standing<'_>, worst: Option<&Standing<'_>>) -> Option<Causes> {
    let of = |s: &Standing<'_>| -> Option<Vec<f64>> {
        // Results of older versions lack some parts.
        let known = PARTS.iter().map(|p| share(table, s.configuration, s.policy, p).unwrap_or(0.0));
        share(table, s.configuration, s.policy, &PARTS[0]).map(|_| known.collect())
    };
    let first = of(best)?;
    let second = worst.and_then(of).unwrap_or_default();
    let weight = |at: usize| second.get(at).map_or(first[at], |share| (share - first[at]).abs());
    let mut order: Vec<usize> = (1..PARTS.len()).filter(|at| weight(*at) >= SMALL).collect();
    order.sort_by(|a, b| weight(*b).total_cmp(&weight(*a)));
    order.truncate(SHOWN);
    order.sort_unstable();
    let shown: Vec<usize> = std::iter::once(0).chain(order).collect();
    let pick = |shares: &[f64]| shown.iter().filter_map(|at| shares.get(*at).copied()).collect::<Vec<f64>>();
    let text = match worst.filter(|_| !second.is_empty()) {
        Some(worst) => sentence(worst, best, &first, &second),
        None => String::new(),
    };
    Some(Causes {
        parts: shown.iter().map(|at| PARTS[*at]).collect(),
        first: pick(&first),
        second: pick(&second),
        text,
    })
}

/// A share in whole per cent, as the table beside the sentence shows it.
#[must_use]
pub fn whole(share: f64) -> i64 {
    libm::round(share * 100.0) as i64
}

/// `From gang to LOAD, in points: useful work -31, waiting +17.` Points are those of the percentages beside
/// it.
fn sentence(worst: &Standing<'_>, best: &Standing<'_>, first: &[f64], second: &[f64]) -> String {
    let mut changes: Vec<(usize, i64)> =
        (0..PARTS.len()).map(|at| (at, whole(second[at]) - whole(first[at]))).filter(|c| c.1 != 0).collect();
    changes.sort_by_key(|(at, change)| (std::cmp::Reverse(change.abs()), *at));
    changes.truncate(SHOWN);
    let each: Vec<String> =
        changes.iter().map(|(part, change)| format!("{} {change:+}", PARTS[*part].name)).collect();
    if each.is_empty() {
        return String::new();
    }
    let (from, to) = if worst.policy == best.policy {
        ("the best", "the worst case")
    } else {
        (best.policy, worst.policy)
    };
    format!("From {from} to {to}, in points: {}.", each.join(", "))
}
