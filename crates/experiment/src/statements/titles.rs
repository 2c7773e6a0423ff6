//! Titles of figures: the extremes of what each figure shows, with their places.

use std::collections::{BTreeMap, BTreeSet};

use super::causes::{PARTS, share, whole};
use super::table::{Table, even, level};
use crate::metrics::ALL_APPS;
use crate::number::{self, listed, short, short_seconds};
use crate::result::Cell;

/// A value of a figure with its place.
#[derive(Clone, PartialEq, Debug)]
pub struct Spot {
    /// The value.
    pub value: f64,
    /// Where it is, `cg under LOAD with threads_per_core=4`.
    pub place: String,
}

/// `Slowdown: from 1.68 (cg under gang) to 4.31 (cg under LOAD)`; the only value alone. `None` without
/// values.
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

/// `Run time / shortest of the column: up to 1.89 (code under LOAD with code.grain=500us)`, of values that
/// are 1 at the least.
#[must_use]
pub fn most(what: &str, spots: &[Spot], show: impl Fn(f64) -> String) -> Option<String> {
    let most = spots.iter().rev().max_by(|a, b| a.value.total_cmp(&b.value))?;
    Some(format!("{what}: up to {} ({})", show(most.value), most.place))
}

/// A title and shorter forms of it that are as true, the better ones first: with `...` for the settings in
/// its parentheses, without its last clause, without its places. What is level is always named or counted.
#[must_use]
pub fn forms(title: &str) -> Vec<String> {
    let mut forms = vec![title.to_owned(), without_shared(title), shortened(title, true)];
    let mut clause = title;
    while let Some((first, _)) = last_clause(clause) {
        clause = first;
        forms.extend([clause.to_owned(), shortened(clause, true)]);
    }
    forms.push(shortened(clause, false));
    // `from 1 (PIN with ...) to 2 (PIN with ...)` names the same place twice.
    let distinct = |form: &String| form == title || places(form).windows(2).all(|pair| pair[0] != pair[1]);
    forms.retain(distinct);
    forms.dedup();
    forms
}

/// What stands in the parentheses of a title.
fn places(title: &str) -> Vec<&str> {
    title.split('(').skip(1).filter_map(|rest| Some(rest.split_once(')')?.0)).collect()
}

/// The title without the program and policy of its places where both have the same one: `(a=1)` in place of
/// `(code under PIN with a=1)`.
fn without_shared(title: &str) -> String {
    match places(title).as_slice() {
        [a, b] => match (a.split_once(" with "), b.split_once(" with ")) {
            (Some((first, _)), Some((second, _))) if first == second => {
                title.replace(&format!("({first} with "), "(")
            }
            _ => title.to_owned(),
        },
        _ => title.to_owned(),
    }
}

/// The title before its last clause, and that clause: clauses are joined by `; ` outside of parentheses.
fn last_clause(title: &str) -> Option<(&str, &str)> {
    let mut depth = 0_usize;
    let mut cut = None;
    for (at, letter) in title.char_indices() {
        match letter {
            '(' => depth += 1,
            ')' => depth = depth.saturating_sub(1),
            ';' if depth == 0 && title[at..].starts_with("; ") => cut = Some(at),
            _ => {}
        }
    }
    cut.map(|at| (&title[..at], &title[at + 2..]))
}

/// The title with `...` for the settings in its parentheses; without places the parentheses keep only the
/// number of policies that are level.
fn shortened(title: &str, places: bool) -> String {
    let mut rest = title;
    let mut kept = String::new();
    while let Some((before, after)) = rest.split_once(" (") {
        let (inner, behind) = after.split_once(')').unwrap_or((after, ""));
        kept.push_str(before);
        let (place, even) =
            inner.split_once(LEVEL).map_or((inner, None), |(place, even)| (place, Some(even)));
        let place = match place.split_once(" with ") {
            Some((place, _)) => format!("{place} with ..."),
            None => place.to_owned(),
        };
        match (places, even) {
            (true, None) => kept.push_str(&format!(" ({place})")),
            (true, Some(even)) => kept.push_str(&format!(" ({place}{LEVEL}{even})")),
            (false, None) => {}
            (false, Some(even)) if even.contains([',', ' ']) => {
                let others = even.split(", ").flat_map(|names| names.split(" and ")).count();
                kept.push_str(&format!(" (level: {others} others)"));
            }
            (false, Some(even)) => kept.push_str(&format!(" (level: {even})")),
        }
        rest = behind;
    }
    kept + rest
}

/// Between a place and the policies that are level with it.
const LEVEL: &str = "; level: ";

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

fn place(table: &Table<'_>, hit: &Hit<'_>) -> String {
    format!("{} under {}{}", hit.app, hit.policy, table.with(hit.configuration))
}

/// The spots of a metric under all policies.
fn spots(table: &Table<'_>, metric: &str) -> Vec<Spot> {
    let hits = table.policies().iter().flat_map(|policy| values(table, policy, metric));
    hits.map(|hit| Spot { value: hit.mean(), place: place(table, &hit) }).collect()
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
        let even = if even.is_empty() { String::new() } else { format!("{LEVEL}{}", listed(&even)) };
        format!(
            "{} under {} ({}{}{even})",
            number::ratio(hit.mean()),
            hit.policy,
            hit.app,
            table.with(hit.configuration)
        )
    };
    if hits.len() == 1 || !apart {
        return Some(format!("Largest slowdown of a program: {}", words(least, most)));
    }
    Some(format!("Largest slowdown of a program: least {}, most {}", words(least, most), words(most, least)))
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
    let foreground: BTreeSet<&str> = results.foreground().collect();
    let places: BTreeMap<&str, usize> = table.sweep.labels().zip(0..).collect();
    let shown = results.comparisons.iter().filter(|c| foreground.contains(c.app.as_str()));
    let spots: Vec<Spot> = shown
        .filter_map(|c| {
            let at = *places.get(c.configuration.as_str())?;
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

/// Of the figure of cpu-time breakdowns: the useful work, and what takes most of the rest where it is least.
#[must_use]
pub fn breakdown(table: &Table<'_>) -> Option<String> {
    let (mut spots, mut at): (Vec<Spot>, Vec<(usize, &str)>) = (Vec::new(), Vec::new());
    for policy in table.policies() {
        for configuration in table.configurations() {
            let found = share(table, configuration, policy, &PARTS[0]);
            let place = format!("{policy}{}", table.with(configuration));
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
    let loss = loss.map_or_else(String::new, |(part, share)| {
        let at = whole(spots[least].value);
        format!("; largest loss at {at} %: {}, {} %", PARTS[part].name, whole(share))
    });
    Some(format!("{title}{loss}"))
}

/// Of the figure of run times by seed: how far they are apart.
#[must_use]
pub fn run_times(table: &Table<'_>) -> Option<String> {
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
pub fn barriers(table: &Table<'_>) -> Option<String> {
    range("Mean time between barriers", &spots(table, "barrier_interval"), short_seconds)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shorter_forms_drop_settings_then_clauses_then_places() {
        let all = forms(
            "Run time: from 1.11 s (code under PIN with a=2, b=x) to 27.0 s (code under LOAD with a=2, b=y)",
        );
        assert_eq!(
            all[1..],
            [
                "Run time: from 1.11 s (code under PIN with ...) to 27.0 s (code under LOAD with ...)",
                "Run time: from 1.11 s to 27.0 s",
            ]
        );
        let all = forms(
            "Useful share: from 4 % (PIN with a=2) to 90 % (LOAD with a=1); largest loss at 4 %: waiting, \
                96 %",
        );
        assert_eq!(
            all[1..],
            [
                "Useful share: from 4 % (PIN with ...) to 90 % (LOAD with ...); largest loss at 4 %: \
                    waiting, 96 %",
                "Useful share: from 4 % (PIN with a=2) to 90 % (LOAD with a=1)",
                "Useful share: from 4 % (PIN with ...) to 90 % (LOAD with ...)",
                "Useful share: from 4 % to 90 %",
            ]
        );
        let all = forms(
            "Largest slowdown of a program: least 2.06 under gang (ft with t=4; level: PIN, A and B), most \
                4.31 under LOAD (cg)",
        );
        assert_eq!(
            all[1..],
            [
                "Largest slowdown of a program: least 2.06 under gang (ft with ...; level: PIN, A and B), \
                    most 4.31 under LOAD (cg)",
                "Largest slowdown of a program: least 2.06 under gang (level: 3 others), most 4.31 under \
                    LOAD",
            ]
        );
        let all = forms(
            "Run time over n: most change for a under P, 1.00 s to 2.00 s (highest at 17); least for b \
                under P, 1.00 s",
        );
        assert_eq!(all.last().unwrap(), "Run time over n: most change for a under P, 1.00 s to 2.00 s");
        assert_eq!(forms("Short"), ["Short"]);
    }
}
