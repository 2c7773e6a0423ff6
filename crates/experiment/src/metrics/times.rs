//! Times of copies and of requests: their means and percentiles over all of them.

use sim_core::histogram::Histogram;
use sim_core::outcome::AppReport;
use sim_core::time::Span;

use super::{Sample, app, seconds};

/// The foreground programs of a sample.
fn programs<'a>(s: &Sample<'a>) -> impl Iterator<Item = &'a AppReport> {
    let all = s.copies.iter().filter_map(|copy| s.run.apps.get(*copy));
    all.filter(|app| !app.background)
}

/// A time of each program; `None` for fewer than two programs, and if one of them lacks it.
fn all_of(s: &Sample<'_>, time: fn(&AppReport) -> Option<Span>) -> Option<Vec<Span>> {
    if s.window {
        return None;
    }
    let times: Vec<Span> = programs(s).map(time).collect::<Option<_>>()?;
    (times.len() > 1).then_some(times)
}

fn mean(s: &Sample<'_>, time: fn(&AppReport) -> Option<Span>) -> Option<f64> {
    let times = all_of(s, time)?;
    Some(times.iter().copied().map(seconds).sum::<f64>() / times.len() as f64)
}

/// The smallest time that `Q` thousandths of them do not exceed.
fn quantile<const Q: usize>(s: &Sample<'_>, time: fn(&AppReport) -> Option<Span>) -> Option<f64> {
    let mut times = all_of(s, time)?;
    times.sort_unstable();
    let rank = (times.len() * Q).div_ceil(1_000).max(1);
    times.get(rank - 1).copied().map(seconds)
}

pub(super) fn queue<const Q: usize>(s: &Sample<'_>) -> Option<f64> {
    quantile::<Q>(s, AppReport::queue_time)
}

pub(super) fn queue_mean(s: &Sample<'_>) -> Option<f64> {
    mean(s, AppReport::queue_time)
}

pub(super) fn turnaround<const Q: usize>(s: &Sample<'_>) -> Option<f64> {
    quantile::<Q>(s, AppReport::turnaround)
}

pub(super) fn turnaround_mean(s: &Sample<'_>) -> Option<f64> {
    mean(s, AppReport::turnaround)
}

/// Of a foreground application.
pub(super) fn first_response(s: &Sample<'_>) -> Option<f64> {
    let app = app(s).filter(|app| !app.background && !s.window)?;
    app.first_response().map(seconds)
}

pub(super) fn first_response_mean(s: &Sample<'_>) -> Option<f64> {
    mean(s, AppReport::first_response)
}

/// Of a foreground application.
pub(super) fn waiting(s: &Sample<'_>) -> Option<f64> {
    let app = app(s).filter(|app| !app.background && !s.window)?;
    app.waiting_time().map(seconds)
}

pub(super) fn waiting_mean(s: &Sample<'_>) -> Option<f64> {
    mean(s, AppReport::waiting_time)
}

/// The times in which requests are answered: of the copies of an application; of all programs those in the
/// foreground, or in the background where only these answer requests.
fn answered(s: &Sample<'_>) -> Option<Histogram> {
    let of = |background: bool| {
        let wanted = |app: &&AppReport| app.requests && app.background == background;
        let mut all = Histogram::default();
        let apps = s.copies.iter().filter_map(|copy| s.run.apps.get(*copy)).filter(wanted);
        apps.filter_map(|app| app.responses.as_ref()).for_each(|one| all.merge(one));
        all.quantiles().map(|_| all)
    };
    of(false).or_else(|| of(true))
}

pub(super) fn response<const Q: usize>(s: &Sample<'_>) -> Option<f64> {
    let all = answered(s)?;
    // The maximum is exact.
    if Q == 1_000 { Some(seconds(all.quantiles()?.max)) } else { all.quantile(Q as u64).map(seconds) }
}

pub(super) fn response_mean(s: &Sample<'_>) -> Option<f64> {
    Some(seconds(answered(s)?.quantiles()?.mean))
}
