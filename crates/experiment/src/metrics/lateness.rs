//! Lateness: how long after their deadlines requests were answered, and programs ended.

use sim_core::outcome::AppReport;
use sim_core::time::Span;

use super::{NS_PER_S, Sample, ratio};

/// Pieces of work that were equally late.
#[derive(Clone, Copy)]
struct Late {
    /// End - deadline, ns.
    ns: i64,
    count: u64,
}

/// The applications with a deadline whose work counts: those in the foreground, or in the background where
/// only these have one.
fn applications<'a>(s: &Sample<'a>) -> Vec<(&'a AppReport, Span)> {
    let of = |background: bool| {
        let all = s.copies.iter().filter_map(|copy| s.run.apps.get(*copy));
        let all =
            all.filter(|app| app.background == background && (app.requests || !s.window && !background));
        all.filter_map(|app| Some((app, app.deadline?))).collect::<Vec<_>>()
    };
    let foreground = of(false);
    if foreground.is_empty() { of(true) } else { foreground }
}

/// Time from the deadline, ns.
fn from(deadline: Span, took: Span) -> i64 {
    took.ns() as i64 - deadline.ns() as i64
}

/// Every piece of work, in ascending order of its lateness; `None` without one, and if a program did not end.
fn all(s: &Sample<'_>) -> Option<Vec<Late>> {
    let mut late = Vec::new();
    for (app, deadline) in applications(s) {
        match &app.responses {
            Some(responses) => {
                late.extend(responses.each().map(|(took, count)| Late { ns: from(deadline, took), count }));
            }
            None => late.push(Late { ns: from(deadline, app.turnaround()?), count: 1 }),
        }
    }
    late.sort_unstable_by_key(|one| one.ns);
    (!late.is_empty()).then_some(late)
}

pub(super) fn mean(s: &Sample<'_>) -> Option<f64> {
    let (mut sum, mut count) = (0.0, 0);
    for (app, deadline) in applications(s) {
        match &app.responses {
            Some(responses) => {
                let Some(exact) = responses.quantiles() else { continue };
                sum += from(deadline, exact.mean) as f64 * exact.count as f64;
                count += exact.count;
            }
            None => {
                sum += from(deadline, app.turnaround()?) as f64;
                count += 1;
            }
        }
    }
    ratio(sum / NS_PER_S, count as f64)
}

/// The smallest lateness that `Q` thousandths of all do not exceed; the largest is exact.
pub(super) fn quantile<const Q: u64>(s: &Sample<'_>) -> Option<f64> {
    let all = all(s)?;
    if Q == 1_000 {
        let longest = |(app, deadline): &(&AppReport, Span)| {
            let longest =
                app.responses.as_ref().map_or_else(|| app.turnaround(), |r| Some(r.quantiles()?.max));
            longest.map(|took| from(*deadline, took))
        };
        return Some(applications(s).iter().filter_map(longest).max()? as f64 / NS_PER_S);
    }
    let count: u64 = all.iter().map(|late| late.count).sum();
    let rank = (u128::from(count) * u128::from(Q)).div_ceil(1_000).max(1);
    let mut below = 0;
    let reached = |late: &&Late| {
        below += u128::from(late.count);
        below >= rank
    };
    all.iter().find(reached).map(|late| late.ns as f64 / NS_PER_S)
}

/// The mean time by which work ended after its deadline, 0 for what ended in time; within 1/128 of the
/// response times.
pub(super) fn tardiness(s: &Sample<'_>) -> Option<f64> {
    let all = all(s)?;
    let count: u64 = all.iter().map(|late| late.count).sum();
    let sum: f64 = all.iter().map(|late| late.ns.max(0) as f64 * late.count as f64).sum();
    ratio(sum / NS_PER_S, count as f64)
}

/// The longest time by which work ended after its deadline, 0 when all ended in time.
pub(super) fn tardiness_max(s: &Sample<'_>) -> Option<f64> {
    quantile::<1_000>(s).map(|largest| largest.max(0.0))
}

/// The share of the work that ended after its deadline.
pub(super) fn missed(s: &Sample<'_>) -> Option<f64> {
    let (missed, count) = counts(s)?;
    ratio(missed as f64, count as f64)
}

/// How much work ended after its deadline.
pub(super) fn misses(s: &Sample<'_>) -> Option<f64> {
    let (missed, count) = counts(s)?;
    (count > 0).then_some(missed as f64)
}

/// Pieces of work that ended after their deadlines, and all.
fn counts(s: &Sample<'_>) -> Option<(u64, u64)> {
    let (mut missed, mut count) = (0, 0);
    for (app, deadline) in applications(s) {
        let (late, all) = match &app.responses {
            Some(_) => (app.counters.late_responses, app.counters.responses),
            None => (u64::from(app.turnaround()? > deadline), 1),
        };
        missed += late;
        count += all;
    }
    Some((missed, count))
}
