//! What the numbers of one configuration show: fastest and slowest policy of each program, throughput,
//! recovered gap, variation.

use super::ranking::{self, Goal, Standing};
use super::table::{self, Table};
use crate::metrics::ALL_APPS;
use crate::number::{self, listed};
use crate::references::FAIR_SHARE;
use crate::statistics::Summary;

/// The sentences about one configuration; none without anything measured.
#[must_use]
pub fn at(table: &Table<'_>, configuration: usize) -> Vec<String> {
    let apps: Vec<String> = table.results.foreground().map(str::to_owned).collect();
    let mut sentences: Vec<String> =
        apps.iter().filter_map(|app| fastest(table, configuration, app)).collect();
    sentences.extend(throughput(table, configuration));
    sentences.extend(recovered(table, configuration));
    sentences.extend(variation(table, configuration));
    sentences
}

/// ` LOAD and PIN are level with it.`
fn level(names: &[&str]) -> String {
    match names {
        [] => String::new(),
        [one] => format!(" {one} is level with it."),
        all => format!(" {} are level with it.", listed(all)),
    }
}

/// Those that are level with one of a ranking, and not as level with its other end.
fn even<'a>(one: &Standing<'a>, all: &[Standing<'a>]) -> Vec<&'a str> {
    let Some((first, last)) = all.first().zip(all.last()) else { return Vec::new() };
    let opposite = if one.policy == first.policy { last } else { first };
    let opposite = Some(opposite.cell).filter(|cell| !table::level(one.cell, cell));
    let others = all.iter().filter(|other| other.policy != one.policy);
    table::even(one.cell, opposite, others.map(|other| (other.policy, other.cell)))
}

/// Under which policies a program ends first and last.
fn fastest(table: &Table<'_>, configuration: usize, app: &str) -> Option<String> {
    let goal = Goal { app: app.to_owned(), metric: "run_time", objective: None };
    let all = ranking::at(table, &goal, configuration);
    let (best, last) = (all.first()?, all.last()?);
    let slowdown = |policy: &str| {
        let found = table.get(configuration, policy, app, "slowdown");
        found.map_or_else(String::new, |s| format!(", slowdown {}", number::ratio(s.mean)))
    };
    let of = |s: &Standing<'_>| {
        format!("{}, {}{}", s.policy, number::short_seconds(s.value.mean), slowdown(s.policy))
    };
    if all.len() == 1 {
        return Some(format!("{app}: {}.", of(best)));
    }
    let names = |one| even(one, &all);
    let first = format!("{app}: fastest under {}.{}", of(best), level(&names(best)));
    if table::level(best.cell, last.cell) {
        return Some(first);
    }
    Some(format!("{first} Slowest under {}.{}", of(last), level(&names(last))))
}

/// Whether sharing finishes earlier than one program after the other.
fn throughput(table: &Table<'_>, configuration: usize) -> Option<String> {
    if !Goal::of(table)?.higher() {
        return None;
    }
    let goal = Goal { app: ALL_APPS.to_owned(), metric: "throughput", objective: None };
    let all = ranking::at(table, &goal, configuration);
    let (best, last) = (all.first()?, all.last()?);
    let names = |one| even(one, &all);
    let most =
        format!("Throughput, sequential runs = 1: {} under {}.", number::ratio(best.value.mean), best.policy);
    if all.len() == 1 || table::level(best.cell, last.cell) {
        return Some(format!("{most}{}", level(&names(best))));
    }
    Some(format!(
        "{most}{} Least: {} under {}.{}",
        level(&names(best)),
        number::ratio(last.value.mean),
        last.policy,
        level(&names(last))
    ))
}

/// How far the first policy is from the fair share, and which policy recovers most of it.
fn recovered(table: &Table<'_>, configuration: usize) -> Option<String> {
    let first = table.policies().first()?;
    let fair = table.get(configuration, FAIR_SHARE.label, ALL_APPS, "makespan")?.mean;
    let factor = table.get(configuration, first, ALL_APPS, "makespan")?.mean / fair;
    let mut all: Vec<(&str, &Summary)> = table
        .policies()
        .iter()
        .filter_map(|p| Some((p.as_str(), table.get(configuration, p, ALL_APPS, "recovered")?)))
        .collect();
    all.sort_by(|a, b| b.1.mean.total_cmp(&a.1.mean));
    let (best, part) = all.first()?;
    Some(format!(
        "{first} takes {} times as long as the fair share. {best} recovers {} % of that difference.",
        number::ratio(factor),
        number::count(part.mean)
    ))
}

/// Under which policies run times vary most and least between seeds.
fn variation(table: &Table<'_>, configuration: usize) -> Option<String> {
    if table.results.provenance.repeat < 2 {
        return None;
    }
    let of = |policy: &str| {
        let each = table.results.foreground();
        each.filter_map(|app| Some(table.get(configuration, policy, app, "variation")?.mean)).reduce(f64::max)
    };
    let all: Vec<(&str, String)> = table
        .policies()
        .iter()
        .filter_map(|p| Some((p.as_str(), of(p)?)))
        .map(|(policy, value)| (policy, number::variation(value)))
        .collect();
    let value = |text: &String| text.parse::<f64>().unwrap_or(0.0);
    let by_shown = |a: &&(&str, String), b: &&(&str, String)| value(&a.1).total_cmp(&value(&b.1));
    let (least, most) = (all.iter().min_by(by_shown)?, all.iter().rev().max_by(by_shown)?);
    let alike = |one: &(&str, String)| {
        let names: Vec<&str> = all.iter().filter(|o| o.1 == one.1).map(|o| o.0).collect();
        listed(&names)
    };
    if least.1 == most.1 {
        return Some(format!("Run times vary by up to {} % between seeds under {}.", most.1, alike(most)));
    }
    Some(format!(
        "Run times vary most between seeds under {} ({} %), least under {} ({} %).",
        alike(most),
        most.1,
        alike(least),
        least.1
    ))
}
