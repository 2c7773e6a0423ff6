//! Why one case is better than another: which two are compared, and the largest differences between their
//! cpu-time breakdowns.

use super::answer::Extremes;
use super::ranking::Standing;
use super::table::{self, Table};
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

/// Shares below this one are written as 0 %.
const SMALL: f64 = 0.005;
/// Below this part of the larger one, two values hardly differ.
const HARDLY: f64 = 0.01;
/// Differences that the sentence names.
const NAMED: usize = 3;
/// The policy that others are measured against, where a result has it; else the first one of the scenario.
const BASELINE: &str = "LOAD";

/// Two cases whose breakdowns are compared, and what each is besides its name.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Pair<'a> {
    /// The first one: the baseline, or else the best.
    pub from: Standing<'a>,
    /// The second one: the best, or else the worst; none where nothing can be told from the best.
    pub to: Option<Standing<'a>>,
    /// What they are.
    pub roles: [&'static str; 2],
}

impl<'a> Pair<'a> {
    /// The pair of an answer: the baseline and the best policy at the configuration of the best; where the
    /// baseline is the best, or hardly differs from it, the best and the worst policy there; where no policy
    /// differs by more there, the best and the worst of all cases, and of cases with different work the ones
    /// with the smallest and the largest value.
    #[must_use]
    pub fn of(table: &Table<'a>, extremes: &Extremes<'a>) -> Self {
        let best = extremes.best;
        let here = extremes.rankings.get(best.configuration).map_or(&[][..], Vec::as_slice);
        let named = |policy: &str| here.iter().find(|standing| standing.policy == policy);
        let baseline = named(BASELINE).or_else(|| named(table.policies().first()?));
        let apart = |other: &&Standing<'a>| {
            let (a, b) = (other.value.mean, best.value.mean);
            !table::level(other.cell, best.cell) && (a - b).abs() >= HARDLY * a.abs().max(b.abs())
        };
        if let Some(baseline) = baseline.filter(apart) {
            return Self { from: *baseline, to: Some(best), roles: ["the baseline", "the best"] };
        }
        let worst = here.last().filter(apart).copied().or(extremes.worst);
        if worst.is_none() && !extremes.comparable && !extremes.goal.higher() && table.policies().len() == 1 {
            // Different work: none of them is better, and the largest value shows what grows.
            let all = extremes.rankings.iter().flatten();
            let largest = all.max_by(|a, b| a.value.mean.total_cmp(&b.value.mean)).filter(apart);
            return Self { from: best, to: largest.copied(), roles: ["the smallest", "the largest"] };
        }
        Self { from: best, to: worst, roles: ["the best", "the worst"] }
    }
}

/// Two cpu-time breakdowns side by side.
#[derive(Clone, PartialEq, Debug)]
pub struct Causes {
    /// Useful work first, then all parts that have a share, the most important first: the largest share or
    /// difference.
    pub parts: Vec<Part>,
    /// Shares of the first case.
    pub first: Vec<f64>,
    /// Shares of the second one; empty when there is none.
    pub second: Vec<f64>,
    /// The difference in a sentence; empty without a second case, or where nothing differs.
    pub text: String,
}

impl Causes {
    /// The part besides useful work that differs most between the two cases.
    #[must_use]
    pub fn largest(&self) -> Option<Part> {
        let change = |at: &usize| (self.second[*at] - self.first[*at]).abs();
        let all = (1..self.second.len()).rev().max_by(|a, b| change(a).total_cmp(&change(b)));
        all.filter(|at| whole(change(at)) > 0).map(|at| self.parts[at])
    }
}

/// The mean share of a part of a standing.
#[must_use]
pub fn share(table: &Table<'_>, configuration: usize, policy: &str, part: &Part) -> Option<f64> {
    let each = part.metrics.iter().map(|m| Some(table.get(configuration, policy, ALL_APPS, m)?.mean));
    each.sum()
}

/// The causes of the difference between two cases, or the breakdown of the only one.
#[must_use]
pub fn causes(table: &Table<'_>, pair: &Pair<'_>) -> Option<Causes> {
    let of = |s: &Standing<'_>| -> Option<Vec<f64>> {
        // Results of older versions lack some parts.
        let known = PARTS.iter().map(|p| share(table, s.configuration, s.policy, p).unwrap_or(0.0));
        share(table, s.configuration, s.policy, &PARTS[0]).map(|_| known.collect())
    };
    let first = of(&pair.from)?;
    let second = pair.to.as_ref().and_then(of).unwrap_or_default();
    let weight = |at: usize| first[at].max(second.get(at).copied().unwrap_or(0.0));
    let mut order: Vec<usize> = (1..PARTS.len()).filter(|at| weight(*at) >= SMALL).collect();
    order.sort_by(|a, b| weight(*b).total_cmp(&weight(*a)));
    let shown: Vec<usize> = std::iter::once(0).chain(order).collect();
    let pick = |shares: &[f64]| shown.iter().filter_map(|at| shares.get(*at).copied()).collect::<Vec<f64>>();
    let text = match pair.to.filter(|_| !second.is_empty()) {
        Some(to) => sentence(pair, &to, &first, &second),
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

/// `From LOAD (the baseline) to gang (the best), in points: useful work +31, waiting -17.` Points are those
/// of the percentages beside it.
fn sentence(pair: &Pair<'_>, to: &Standing<'_>, first: &[f64], second: &[f64]) -> String {
    let mut changes: Vec<(usize, i64)> =
        (0..PARTS.len()).map(|at| (at, whole(second[at]) - whole(first[at]))).filter(|c| c.1 != 0).collect();
    changes.sort_by_key(|(at, change)| (std::cmp::Reverse(change.abs()), *at));
    changes.truncate(NAMED);
    let each: Vec<String> =
        changes.iter().map(|(part, change)| format!("{} {change:+}", PARTS[*part].name)).collect();
    if each.is_empty() {
        return String::new();
    }
    let [one, other] = pair.roles;
    let ends = if pair.from.policy == to.policy {
        format!("{one} to {other} case")
    } else {
        format!("{} ({one}) to {} ({other})", pair.from.policy, to.policy)
    };
    format!("From {ends}, in points: {}.", each.join(", "))
}
