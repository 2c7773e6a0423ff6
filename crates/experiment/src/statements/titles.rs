//! Titles of figures: the extremes of what each figure shows, with their places.

use std::collections::{BTreeMap, BTreeSet};

use super::causes::{PARTS, share, whole};
use super::table::{Table, even, level};
use super::title::{Piece, Place, Title};
use crate::metrics::ALL_APPS;
use crate::number::{self, short, short_seconds};
use crate::result::Cell;

/// A value of a figure with its place.
#[derive(Clone, PartialEq, Debug)]
pub struct Spot {
    /// The value.
    pub value: f64,
    /// Where it is, `cg under LOAD with threads_per_core=4`.
    pub place: Place,
}

/// `Slowdown: from 1.68 (cg under gang) to 4.31 (cg under LOAD)`; the only value alone. `None` without
/// values.
#[must_use]
pub fn range(what: &str, spots: &[Spot], show: impl Fn(f64) -> String) -> Option<Title> {
    let least = spots.iter().min_by(|a, b| a.value.total_cmp(&b.value))?;
    let most = spots.iter().rev().max_by(|a, b| a.value.total_cmp(&b.value))?;
    let (low, high) = (show(least.value), show(most.value));
    let at = |spot: &Spot| Piece::Place(spot.place.clone());
    if spots.len() == 1 {
        return Some(Title::new(vec![Piece::Words(format!("{what}: {low}")), at(least)]));
    }
    if low == high {
        return Some(format!("{what}: {low} everywhere").into());
    }
    let (low, high) = (Piece::Words(format!("{what}: from {low}")), Piece::Words(format!(" to {high}")));
    Some(Title::new(vec![low, at(least), high, at(most)]))
}

/// `Run time / shortest of the column: up to 1.89 (code under LOAD with code.grain=500us)`, of values that
/// are 1 at the least.
#[must_use]
pub fn most(what: &str, spots: &[Spot], show: impl Fn(f64) -> String) -> Option<Title> {
    let most = spots.iter().rev().max_by(|a, b| a.value.total_cmp(&b.value))?;
    let words = Piece::Words(format!("{what}: up to {}", show(most.value)));
    Some(Title::new(vec![words, Piece::Place(most.place.clone())]))
}

/// A value under a policy.
struct Hit<'a> {
    policy: &'a str,
    app: &'a str,
    configuration: usize,
    cell: &'a Cell,
}

impl Hit<'_> {
    fn mean(&self) -> f64 {
        self.cell.summary.mean
    }
}

/// The values of a metric of all foreground applications under a policy.
fn values<'a>(table: &Table<'a>, policy: &'a str, metric: &str) -> Vec<Hit<'a>> {
    let mut hits = Vec::new();
    for configuration in table.configurations() {
        for app in table.results.foreground() {
            let found = table.cell(configuration, policy, app, metric);
            hits.extend(found.map(|cell| Hit { policy, app, configuration, cell }));
        }
    }
    hits
}

fn place(table: &Table<'_>, hit: &Hit<'_>) -> Place {
    Place::new(format!("{} under {}", hit.app, hit.policy), table.sweep.short(hit.configuration))
}

/// The spots of a metric under all policies.
fn spots(table: &Table<'_>, metric: &str) -> Vec<Spot> {
    let hits = table.policies().iter().flat_map(|policy| values(table, policy, metric));
    hits.map(|hit| Spot { value: hit.mean(), place: place(table, &hit) }).collect()
}

/// Of the figure of slowdowns, or of run times where no application ran alone.
#[must_use]
pub fn slowdown<'a>(table: &Table<'a>) -> Option<Title> {
    let apps = table.results.foreground().count();
    if apps < 2 || table.policies().len() < 2 || spots(table, "slowdown").is_empty() {
        let slowdowns = spots(table, "slowdown");
        if slowdowns.is_empty() {
            return range("Run time", &spots(table, "run_time"), short_seconds);
        }
        return range("Slowdown", &slowdowns, short);
    }
    let worst = |policy: &'a String| {
        values(table, policy, "slowdown").into_iter().rev().max_by(|a, b| a.mean().total_cmp(&b.mean()))
    };
    let hits: Vec<Hit<'_>> = table.policies().iter().filter_map(worst).collect();
    let by_mean = |a: &&Hit<'_>, b: &&Hit<'_>| a.mean().total_cmp(&b.mean());
    let (least, most) = (hits.iter().min_by(by_mean)?, hits.iter().rev().max_by(by_mean)?);
    let apart = !level(least.cell, most.cell);
    let words = |hit: &Hit<'_>, opposite: &Hit<'_>| {
        let others = hits.iter().filter(|other| other.policy != hit.policy);
        let others = others.map(|other| (other.policy, other.cell));
        let even = even(hit.cell, apart.then_some(opposite.cell), others);
        let place = Place {
            level: even.into_iter().map(str::to_owned).collect(),
            ..Place::new(hit.app.to_owned(), table.sweep.short(hit.configuration))
        };
        (format!("{} under {}", number::ratio(hit.mean()), hit.policy), Piece::Place(place))
    };
    let what = "Largest slowdown of a program:";
    let (least_words, least_place) = words(least, most);
    if hits.len() == 1 || !apart {
        return Some(Title::new(vec![Piece::Words(format!("{what} {least_words}")), least_place]));
    }
    let (most_words, most_place) = words(most, least);
    let least_words = Piece::Words(format!("{what} least {least_words}"));
    Some(Title::new(vec![least_words, least_place, Piece::Words(format!(", most {most_words}")), most_place]))
}

/// Of the figure of throughputs.
#[must_use]
pub fn throughput(table: &Table<'_>) -> Option<Title> {
    let mut spots = Vec::new();
    for policy in table.policies() {
        for configuration in table.configurations() {
            let found = table.get(configuration, policy, ALL_APPS, "throughput");
            let place = Place::new(policy.clone(), table.sweep.short(configuration));
            spots.extend(found.map(|summary| Spot { value: summary.mean, place }));
        }
    }
    range("Work per second, sequential runs = 1", &spots, number::ratio)
}

/// Of the figure of speed-ups over the first policy.
#[must_use]
pub fn speedup(table: &Table<'_>) -> Option<Title> {
    let results = table.results;
    let first = results.comparisons.first()?;
    let foreground: BTreeSet<&str> = results.foreground().collect();
    let places: BTreeMap<&str, usize> = table.sweep.labels().zip(0..).collect();
    let shown = results.comparisons.iter().filter(|c| foreground.contains(c.app.as_str()));
    let spots: Vec<Spot> = shown
        .filter_map(|c| {
            let at = *places.get(c.configuration.as_str())?;
            let place = Place::new(format!("{} under {}", c.app, c.policy), table.sweep.short(at));
            Some(Spot { value: c.ratio, place })
        })
        .collect();
    range(&format!("Times as fast as under {}", first.baseline), &spots, short)
}

/// Of the figure of curves over an axis: under which policy a program varies most and least along it.
#[must_use]
pub fn sweep(table: &Table<'_>, axis: usize, metric: &str) -> Option<Title> {
    let varied = table.sweep.varied.get(axis)?;
    let others: Vec<usize> = (0..table.sweep.varied.len()).filter(|other| *other != axis).collect();
    let mut curves: Vec<(String, Vec<Hit<'_>>)> = Vec::new();
    let mut places: BTreeMap<String, usize> = BTreeMap::new();
    for policy in table.policies() {
        for hit in values(table, policy, metric) {
            let setting = table.sweep.described(hit.configuration, &others);
            let setting = if setting.is_empty() { setting } else { format!(" with {setting}") };
            let name = format!("{} under {}{setting}", hit.app, hit.policy);
            let place = *places.entry(name.clone()).or_insert(curves.len());
            match curves.get_mut(place) {
                Some((_, hits)) => hits.push(hit),
                None => curves.push((name, vec![hit])),
            }
        }
    }
    let show = |value: f64| if metric == "slowdown" { short(value) } else { short_seconds(value) };
    let ends = |hits: &[Hit<'_>]| {
        let by_mean = |a: &&Hit<'_>, b: &&Hit<'_>| a.mean().total_cmp(&b.mean());
        let (low, high) = (hits.iter().min_by(by_mean)?, hits.iter().rev().max_by(by_mean)?);
        (low.mean() > 0.0).then_some((low.mean(), high.mean(), high.configuration))
    };
    let measured: Vec<(&String, (f64, f64, usize))> = curves
        .iter()
        .filter(|(_, hits)| hits.len() > 1)
        .filter_map(|(name, hits)| Some((name, ends(hits)?)))
        .collect();
    let factor = |m: &&(&String, (f64, f64, usize))| m.1.1 / m.1.0;
    let most = measured.iter().rev().max_by(|a, b| factor(a).total_cmp(&factor(b)))?;
    let least = measured.iter().min_by(|a, b| factor(a).total_cmp(&factor(b)))?;
    let words = |before: String, (name, (low, high, at)): &(&String, (f64, f64, usize))| {
        let value = table.sweep.value(*at, axis).unwrap_or_default();
        if show(*low) == show(*high) {
            return vec![Piece::Words(format!("{before}{name}, {}", show(*low)))];
        }
        let change = Piece::Words(format!("{before}{name}, {} to {}", show(*low), show(*high)));
        vec![change, Piece::Remark(format!("highest at {value}"))]
    };
    let what = if metric == "slowdown" { "Slowdown" } else { "Run time" };
    let over = format!("{what} over {}: ", varied.short);
    if measured.len() == 1 {
        return Some(Title::new(words(over, most)));
    }
    let first = Title::new(words(format!("{over}most change for "), most));
    Some(first.and(words("least for ".into(), least)))
}

/// Of the figure of cpu-time breakdowns: the useful work, and what takes most of the rest where it is least.
#[must_use]
pub fn breakdown(table: &Table<'_>) -> Option<Title> {
    let (mut spots, mut at): (Vec<Spot>, Vec<(usize, &str)>) = (Vec::new(), Vec::new());
    for policy in table.policies() {
        for configuration in table.configurations() {
            let found = share(table, configuration, policy, &PARTS[0]);
            let place = Place::new(policy.clone(), table.sweep.short(configuration));
            if let Some(value) = found {
                spots.push(Spot { value, place });
                at.push((configuration, policy));
            }
        }
    }
    let title = range("Useful share of the cpu time", &spots, |share| format!("{} %", whole(share)))?;
    let least = (0..spots.len()).min_by(|a, b| spots[*a].value.total_cmp(&spots[*b].value))?;
    let loss = (1..PARTS.len())
        .filter_map(|part| Some((part, share(table, at[least].0, at[least].1, &PARTS[part])?)))
        .max_by(|a, b| a.1.total_cmp(&b.1))
        .filter(|(_, share)| whole(*share) > 0);
    let Some((part, share)) = loss else { return Some(title) };
    let at = whole(spots[least].value);
    let loss = format!("largest loss at {at} %: {}, {} %", PARTS[part].name, whole(share));
    Some(title.and(vec![Piece::Words(loss)]))
}

/// Of the figure of run times by seed: how far they are apart.
#[must_use]
pub fn run_times(table: &Table<'_>) -> Option<Title> {
    let mut spots: Vec<Spot> = Vec::new();
    for policy in table.policies() {
        for hit in values(table, policy, "run_time")
            .iter()
            .filter(|hit| hit.cell.summary.n > 1 && hit.cell.summary.min > 0.0)
        {
            let value = (hit.cell.summary.max / hit.cell.summary.min - 1.0) * 100.0;
            spots.push(Spot { value, place: place(table, hit) });
        }
    }
    range("Variation of run times between seeds", &spots, |value| format!("{} %", number::variation(value)))
}

/// Of the figure of times between barriers.
#[must_use]
pub fn barriers(table: &Table<'_>) -> Option<Title> {
    range("Mean time between barriers", &spots(table, "barrier_interval"), short_seconds)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shorter_forms_drop_settings_then_clauses_then_places() {
        let words = |text: &str| Piece::Words(text.into());
        let at = |who: &str, settings: &str| Piece::Place(Place::new(who.into(), settings.into()));
        let all = Title::new(vec![
            words("Run time: from 1.11 s"),
            at("code under PIN", "a=2, b=x"),
            words(" to 27.0 s"),
            at("code under LOAD", "a=2, b=y"),
        ]);
        assert_eq!(
            all.forms()[1..],
            [
                "Run time: from 1.11 s (code under PIN with ...) to 27.0 s (code under LOAD with ...)",
                "Run time: from 1.11 s to 27.0 s",
            ]
        );
        let useful =
            vec![words("Useful share: from 4 %"), at("PIN", "a=2"), words(" to 90 %"), at("LOAD", "a=1")];
        let all = Title::new(useful).and(vec![words("largest loss at 4 %: waiting, 96 %")]);
        assert_eq!(
            all.forms()[1..],
            [
                "Useful share: from 4 % (PIN with ...) to 90 % (LOAD with ...); largest loss at 4 %: \
                    waiting, 96 %",
                "Useful share: from 4 % (PIN with a=2) to 90 % (LOAD with a=1)",
                "Useful share: from 4 % (PIN with ...) to 90 % (LOAD with ...)",
                "Useful share: from 4 % to 90 %",
            ]
        );
        let mut level = Place::new("ft".into(), "t=4".into());
        level.level = ["PIN", "A", "B"].map(str::to_owned).to_vec();
        let all = Title::new(vec![
            words("Largest slowdown of a program: least 2.06 under gang"),
            Piece::Place(level),
            words(", most 4.31 under LOAD"),
            at("cg", ""),
        ]);
        assert_eq!(
            all.forms()[1..],
            [
                "Largest slowdown of a program: least 2.06 under gang (ft with ...; level: PIN, A and B), \
                    most 4.31 under LOAD (cg)",
                "Largest slowdown of a program: least 2.06 under gang (level: 3 others), most 4.31 under \
                    LOAD",
            ]
        );
        let change = "Run time over n: most change for a under P, 1.00 s to 2.00 s";
        let all = Title::new(vec![words(change), Piece::Remark("highest at 17".into())])
            .and(vec![words("least for b under P, 1.00 s")]);
        assert_eq!(all.forms().last().unwrap(), change);
        assert_eq!(Title::from("Short".to_owned()).forms(), ["Short"]);
        let same = |settings: &str| at("code under PIN", settings);
        let all = Title::new(vec![words("Run time: from 1 s"), same("a=1"), words(" to 2 s"), same("a=2")]);
        assert_eq!(all.forms()[1..], ["Run time: from 1 s (a=1) to 2 s (a=2)", "Run time: from 1 s to 2 s"]);
    }
}
