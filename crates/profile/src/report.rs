//! What is missing, in the order of its effect, and the whole profile as JSON and Markdown.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use notation::neutral;
use notation::number::{plural, short};
use serde::Serialize;

use crate::{Asked, Profile, Topic};

/// A range that moves the run time by less than this factor does not matter: repeated measurements of one
/// program differ by more.
const LITTLE: f64 = 1.02;

/// How much the run time differs between both ends of a range.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Effect {
    /// The longest time by the shortest one.
    pub factor: f64,
    /// It is at least that: a trial was cut off.
    pub at_least: bool,
    /// With a second copy of the application on the same cpus; otherwise alone.
    pub beside: bool,
}

/// Something that is asked for, and its effect where trials showed it.
#[derive(Clone, PartialEq, Debug)]
pub struct Ranked<'a> {
    /// What it is.
    pub asked: &'a Asked,
    /// Its effect.
    pub effect: Option<Effect>,
}

/// What is asked for, that with the largest effect first. Without effects: in a fixed order.
pub fn rank(all: &mut [Ranked<'_>]) {
    let factor = |one: &Ranked<'_>| one.effect.map_or(0.0, |effect| effect.factor);
    all.sort_by(|a, b| {
        factor(b)
            .total_cmp(&factor(a))
            .then(a.asked.topic.cmp(&b.asked.topic))
            .then(a.asked.path.cmp(&b.asked.path))
    });
}

/// A line for each kind of what is missing, for the application where it matters most.
#[must_use]
pub fn lines(ranked: &[Ranked<'_>]) -> Vec<String> {
    let mut counts: BTreeMap<Topic, usize> = BTreeMap::new();
    for one in ranked {
        *counts.entry(one.asked.topic).or_default() += 1;
    }
    let (mut lines, mut little) = (Vec::new(), Vec::new());
    for one in ranked {
        // The first of its kind.
        let Some(count) = counts.remove(&one.asked.topic) else { continue };
        let Asked { topic, path, low, high, .. } = one.asked;
        let also = match count - 1 {
            0 => String::new(),
            more => format!("; and of {}", plural(more, "other application", "other applications")),
        };
        if one.effect.is_some_and(|effect| effect.factor < LITTLE) {
            little.push(format!("{} ({path}, {low}..{high}{also})", topic.words()));
            continue;
        }
        let effect = one.effect.map_or_else(String::new, |effect| format!(": {}", moves(effect)));
        lines.push(format!(
            "asked: {} ({path}, {low}..{high}{effect}{also}): {}",
            topic.words(),
            topic.how()
        ));
    }
    if !little.is_empty() {
        lines.push(format!(
            "missing, and each moves the run time by less than 2 %, alone and beside a copy of itself: {}",
            little.join("; ")
        ));
    }
    lines
}

/// An effect in words.
fn moves(effect: Effect) -> String {
    let Effect { factor, at_least, beside } = effect;
    let place = if beside { "beside a copy of itself" } else { "alone" };
    if factor < LITTLE {
        return "run time moves by less than 2 %, alone and beside a copy of itself".into();
    }
    let least = if at_least { "more than " } else { "" };
    format!("run time moves by a factor of {least}{} {place}", short(factor))
}

#[derive(Serialize)]
struct NumberJson<'a> {
    path: String,
    value: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    low: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    high: Option<&'a str>,
    origin: &'a str,
}

#[derive(Serialize)]
struct AskedJson<'a> {
    what: &'static str,
    path: &'a str,
    low: &'a str,
    high: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    factor: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    at_least: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    beside_a_copy: Option<bool>,
    how: &'static str,
}

#[derive(Serialize)]
struct ProfileJson<'a> {
    schema: &'static str,
    scenario: String,
    numbers: Vec<NumberJson<'a>>,
    asked: Vec<AskedJson<'a>>,
    notes: Vec<String>,
}

/// The profile as JSON.
#[must_use]
pub fn json(profile: &Profile, ranked: &[Ranked<'_>]) -> String {
    let numbers = profile.apps.iter().flat_map(|app| {
        app.numbers.iter().map(|number| NumberJson {
            path: format!("apps.{}.{}", app.name, number.path),
            value: &number.value,
            low: number.range.as_ref().map(|(low, _)| low.as_str()),
            high: number.range.as_ref().map(|(_, high)| high.as_str()),
            origin: &number.origin,
        })
    });
    let asked = ranked.iter().map(|one| AskedJson {
        what: one.asked.topic.words(),
        path: &one.asked.path,
        low: &one.asked.low,
        high: &one.asked.high,
        factor: one.effect.map(|effect| effect.factor),
        at_least: one.effect.map(|effect| effect.at_least),
        beside_a_copy: one.effect.map(|effect| effect.beside),
        how: one.asked.topic.how(),
    });
    let whole = ProfileJson {
        schema: "oversim.profile/1",
        scenario: profile.text(),
        numbers: numbers.collect(),
        asked: asked.collect(),
        notes: profile.notes.iter().map(ToString::to_string).collect(),
    };
    // Texts and finite numbers have a form in JSON.
    let mut text = serde_json::to_string_pretty(&whole).unwrap_or_default();
    text.push('\n');
    text
}

/// The numbers and what is missing as tables of Markdown.
#[must_use]
pub fn markdown(profile: &Profile, ranked: &[Ranked<'_>]) -> String {
    let mut text = String::from("| number | value | range | origin |\n|---|---|---|---|\n");
    for app in &profile.apps {
        for number in &app.numbers {
            let range =
                number.range.as_ref().map_or_else(String::new, |(low, high)| format!("{low} to {high}"));
            let (path, value) = (number.path, &number.value);
            let origin = neutral::markdown(&number.origin);
            let _ = writeln!(text, "| `apps.{}.{path}` | {value} | {range} | {origin} |", app.name);
        }
    }
    if !ranked.is_empty() {
        text += "\n| asked for | range | effect | how |\n|---|---|---|---|\n";
    }
    for one in ranked {
        let Asked { topic, path, low, high, .. } = one.asked;
        let effect = one.effect.map_or_else(String::new, moves);
        let _ = writeln!(
            text,
            "| {} `{path}` | {low} to {high} | {effect} | {} |",
            topic.words(),
            neutral::markdown_prose(topic.how())
        );
    }
    for note in &profile.notes {
        let _ = writeln!(text, "\n{}", neutral::markdown_paragraph(&note.to_string()));
    }
    text
}
