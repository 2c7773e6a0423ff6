//! Titles of figures: the extremes of what each figure shows, with their places.

use super::causes::{PARTS, share, whole};
use super::table::{Table, level};
use crate::metrics::ALL_APPS;
use crate::number::{self, listed, short, short_seconds};
use crate::statistics::Summary;

/// A value of a figure with its place.
#[derive(Clone, PartialEq, Debug)]
pub struct Spot {
    /// The value.
    pub value: f64,
    /// Where it is, `cg under LOAD with threads_per_core=4`.
    pub place: String,
}

/// `Slowdown: from 1.68 (cg under gang) to 4.31 (cg under LOAD)`; the only value alone. `None` without values.
#[must_use]
pub fn range(what: &str, spots: &[Spot], show: impl Fn(f64) -> String) -> Option<String> {
    let least = spots.iter().min_by(|a, b| a.value.total_cmp(&b.value))?;
    let most = spots.iter().rev().max_by(|a, b| a.value.total_cmp(&b.value))?;
    let (low, high) = (show(least.value), show(most.value));
    if spots.len() == 1 {
        return Some(format!("{what}: {low} ({})", least.place));
    }
    if low == high {
        return Some(format!("{what}: {low} everywhere"));
    }
    Some(format!("{what}: from {low} ({}) to {high} ({})", least.place, most.place))
}

/// A value under a policy.
struct Hit<'a> {
    policy: &'a str,
    app: &'a str,
    configuration: usize,
    summary: &'a Summary,
}

/// The values of a metric of all foreground applications under a policy.
fn values<'a>(table: &Table<'a>, policy: &'a str, metric: &str) -> Vec<Hit<'a>> {
    let mut hits = Vec::new();
    for configuration in table.configurations() {
        for app in table.results.foreground() {
            let found = table.get(configuration, policy, app, metric);
            hits.extend(found.map(|summary| Hit { policy, app, configuration, summary }));
        }
    }
    hits
}

fn place(table: &Table<'_>, hit: &Hit<'_>) -> String {
    format!("{} under {}{}", hit.app, hit.policy, table.with(hit.configuration))
}

/// The spots of a metric under all policies.
fn spots(table: &Table<'_>, metric: &str) -> Vec<Spot> {
    let hits = table.policies().iter().flat_map(|policy| values(table, policy, metric));
    hits.map(|hit| Spot { value: hit.summary.mean, place: place(table, &hit) }).collect()
}

/// Of the figure of slowdowns, or of run times where no application ran alone.
#[must_use]
pub fn slowdown<'a>(table: &Table<'a>) -> Option<String> {
    let apps = table.results.foreground().count();
    if apps < 2 || table.policies().len() < 2 || spots(table, "slowdown").is_empty() {
        let slowdowns = spots(table, "slowdown");
        if slowdowns.is_empty() {
            return range("Run time", &spots(table, "run_time"), short_seconds);
        }
        return range("Slowdown", &slowdowns, short);
    }
    let worst = |policy: &'a String| {
        values(table, policy, "slowdown")
            .into_iter()
            .rev()
            .max_by(|a, b| a.summary.mean.total_cmp(&b.summary.mean))
    };
    let hits: Vec<Hit<'_>> = table.policies().iter().filter_map(worst).collect();
    let by_mean = |a: &&Hit<'_>, b: &&Hit<'_>| a.summary.mean.total_cmp(&b.summary.mean);
    let (least, most) = (hits.iter().min_by(by_mean)?, hits.iter().rev().max_by(by_mean)?);
    let words = |hit: &Hit<'_>| {
        let even: Vec<&str> = hits
            .iter()
            .filter(|other| other.policy != hit.policy && level(other.summary, hit.summary))
            .map(|other| other.policy)
            .collect();
        let even = if even.is_empty() { String::new() } else { format!("; level: {}", listed(&even)) };
        format!(
            "{} under {} ({}{}{even})",
            number::ratio(hit.summary.mean),
            hit.policy,
            hit.app,
            table.with(hit.configuration)
        )
    };
    if hits.len() == 1 || level(least.summary, most.summary) {
        return Some(format!("Largest slowdown of a program: {}", words(least)));
    }
    Some(format!("Largest slowdown of a program: least {}, most {}", words(least), words(most)))
}

/// Of the figure of throughputs.
#[must_use]
pub fn throughput(table: &Table<'_>) -> Option<String> {
    let mut spots = Vec::new();
    for policy in table.policies() {
        for configuration in table.configurations() {
            let found = table.get(configuration, policy, ALL_APPS, "throughput");
            let place = format!("{policy}{}", table.with(configuration));
            spots.extend(found.map(|summary| Spot { value: summary.mean, place }));
        }
    }
    range("Work per second, sequential runs = 1", &spots, number::ratio)
}

/// Of the figure of speed-ups over the first policy.
#[must_use]
pub fn speedup(table: &Table<'_>) -> Option<String> {
    let results = table.results;
    let first = results.comparisons.first()?;
    let foreground: Vec<&str> = results.foreground().collect();
    let shown = results.comparisons.iter().filter(|c| foreground.contains(&c.app.as_str()));
    let spots: Vec<Spot> = shown
        .filter_map(|c| {
            let at = table.sweep.labels().position(|label| label == c.configuration)?;
            Some(Spot { value: c.ratio, place: format!("{} under {}{}", c.app, c.policy, table.with(at)) })
        })
        .collect();
    range(&format!("Times as fast as under {}", first.baseline), &spots, short)
}

/// Of the figure of curves over an axis: under which policy a program varies most and least along it.
#[must_use]
pub fn sweep(table: &Table<'_>, axis: usize, metric: &str) -> Option<String> {
    let varied = table.sweep.varied.get(axis)?;
    let others: Vec<usize> = (0..table.sweep.varied.len()).filter(|other| *other != axis).collect();
    let mut curves: Vec<(String, Vec<Hit<'_>>)> = Vec::new();
    for policy in table.policies() {
        for hit in values(table, policy, metric) {
            let setting = table.sweep.described(hit.configuration, &others);
            let setting = if setting.is_empty() { setting } else { format!(" with {setting}") };
            let name = format!("{} under {}{setting}", hit.app, hit.policy);
            match curves.iter_mut().find(|(known, _)| *known == name) {
                Some((_, hits)) => hits.push(hit),
                None => curves.push((name, vec![hit])),
            }
        }
    }
    let show = |value: f64| if metric == "slowdown" { short(value) } else { short_seconds(value) };
    let ends = |hits: &[Hit<'_>]| {
        let by_mean = |a: &&Hit<'_>, b: &&Hit<'_>| a.summary.mean.total_cmp(&b.summary.mean);
        let (low, high) = (hits.iter().min_by(by_mean)?, hits.iter().rev().max_by(by_mean)?);
        (low.summary.mean > 0.0).then_some((low.summary.mean, high.summary.mean, high.configuration))
    };
    let measured: Vec<(&String, (f64, f64, usize))> = curves
        .iter()
        .filter(|(_, hits)| hits.len() > 1)
        .filter_map(|(name, hits)| Some((name, ends(hits)?)))
        .collect();
    let factor = |m: &&(&String, (f64, f64, usize))| m.1.1 / m.1.0;
    let most = measured.iter().rev().max_by(|a, b| factor(a).total_cmp(&factor(b)))?;
    let least = measured.iter().min_by(|a, b| factor(a).total_cmp(&factor(b)))?;
    let words = |(name, (low, high, at)): &(&String, (f64, f64, usize))| {
        let value = table.sweep.value(*at, axis).unwrap_or_default();
        if show(*low) == show(*high) {
            return format!("{name}, {}", show(*low));
        }
        format!("{name}, {} to {} (highest at {value})", show(*low), show(*high))
    };
    let what = if metric == "slowdown" { "Slowdown" } else { "Run time" };
    let most_words = format!("{what} over {}: most change for {}", varied.short, words(most));
    if measured.len() == 1 {
        return Some(format!("{what} over {}: {}", varied.short, words(most)));
    }
    Some(format!("{most_words}; least for {}", words(least)))
}

/// Of the figure of cpu-time breakdowns.
#[must_use]
pub fn breakdown(table: &Table<'_>) -> Option<String> {
    let mut all: Vec<(f64, String, usize, &str)> = Vec::new();
    for policy in table.policies() {
        for configuration in table.configurations() {
            let found = share(table, configuration, policy, &PARTS[0]);
            let place = format!("{policy}{}", table.with(configuration));
            all.extend(found.map(|share| (share, place, configuration, policy.as_str())));
        }
    }
    let most = all.iter().rev().max_by(|a, b| a.0.total_cmp(&b.0))?;
    let least = all.iter().min_by(|a, b| a.0.total_cmp(&b.0))?;
    let loss = (1..PARTS.len())
        .filter_map(|at| Some((at, share(table, least.2, least.3, &PARTS[at])?)))
        .max_by(|a, b| a.1.total_cmp(&b.1));
    let loss = loss.map_or_else(String::new, |(at, share)| {
        format!("; largest loss there: {}, {} %", PARTS[at].name, whole(share))
    });
    if whole(most.0) == whole(least.0) {
        return Some(format!("Useful work: {} % of the cpu time under {}{loss}", whole(least.0), least.1));
    }
    Some(format!(
        "Useful work: {} % of the cpu time under {}, {} % under {}{loss}",
        whole(most.0),
        most.1,
        whole(least.0),
        least.1
    ))
}

/// Of the figure of run times by seed: how far they are apart.
#[must_use]
pub fn run_times(table: &Table<'_>) -> Option<String> {
    let mut spots: Vec<Spot> = Vec::new();
    for policy in table.policies() {
        for hit in
            values(table, policy, "run_time").iter().filter(|hit| hit.summary.n > 1 && hit.summary.min > 0.0)
        {
            let value = (hit.summary.max / hit.summary.min - 1.0) * 100.0;
            spots.push(Spot { value, place: place(table, hit) });
        }
    }
    range("Variation of run times between seeds", &spots, |value| format!("{} %", number::variation(value)))
}

/// Of the figure of times between barriers.
#[must_use]
pub fn barriers(table: &Table<'_>) -> Option<String> {
    range("Mean time between barriers", &spots(table, "barrier_interval"), short_seconds)
}
