//! Holds the texts of statements against their values: every case, list and number of the value stands in the
//! text, and the wording is that of a committed page.

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;

use experiment::statements::{Extremes, Said, Statement, Table, answer};
use serde_json::Value;

use crate::oracle::{Oracle, Verdict, ensure, number};
use crate::random;
use crate::splitmix::Random;

/// Texts of each label on the page.
const EACH: usize = 4;

/// Every number of a text with the tolerance of its last digit, and the text behind it.
fn numbers(text: &str) -> Vec<(f64, f64, &str)> {
    let starts = text.char_indices().filter(|(at, c)| {
        let digit = |c: char| c.is_ascii_digit();
        let begins = digit(*c) || *c == '-' && text[at + 1..].starts_with(digit);
        begins && !text[..*at].ends_with(|c: char| digit(c) || ".e-".contains(c))
    });
    starts.filter_map(|(at, _)| number(&text[at..])).collect()
}

/// Whether a text has a value in one of the units that its metric can be written in.
fn has(text: &str, metric: &str, mean: f64) -> bool {
    let units: &[(&str, f64)] = match metric {
        "slowdown" | "worst_slowdown" => &[("", 1.0)],
        "throughput" | "missed_deadlines" | "lock_wait_share" => &[(" %", 0.01)],
        _ => &[(" s", 1.0), (" ms", 1e-3), (" us", 1e-6), (" ns", 1e-9)],
    };
    numbers(text).into_iter().any(|(value, tolerance, rest)| {
        let fitting = units.iter().filter(|(unit, _)| {
            let behind = rest.strip_prefix(unit);
            behind.is_some_and(|behind| !behind.starts_with(|c: char| c.is_alphanumeric() || c == '%'))
        });
        let near = |scale: f64| (value * scale - mean.abs()).abs() <= tolerance * scale + mean.abs() * 1e-9;
        let signed = |scale: f64| (value * scale - mean).abs() <= tolerance * scale + mean.abs() * 1e-9;
        // Lateness may be written as earliness.
        fitting.into_iter().any(|(_, scale)| signed(*scale) || metric == "lateness_max" && near(*scale))
    })
}

/// Every case of a value has its policy in the text; those that are no mere names have their configurations
/// and their values there.
fn holds(oracle: &Oracle<'_>, text: &str, value: &Value, named: bool) -> Verdict {
    match value {
        Value::Object(fields) => {
            if let (Some(policy), Some(metric)) = (fields.get("policy"), fields.get("metric")) {
                let (policy, metric) = (policy.as_str().unwrap_or(""), metric.as_str().unwrap_or(""));
                ensure(text.contains(policy), || format!("`{policy}` is not in the text"))?;
                let mean = fields["mean"].as_f64().ok_or("no mean")?;
                let at = oracle
                    .results
                    .provenance
                    .configurations
                    .iter()
                    .position(|c| c.label == fields["configuration"]);
                let with = oracle.with(at.ok_or("no configuration")?);
                let placed = named || text.contains(with) || text.contains(" (equal)");
                ensure(placed, || format!("{policy}{with} is not in the text"))?;
                return ensure(named || has(text, metric, mean), || format!("{metric} {mean} of {policy}"));
            }
            let names = |key: &str| ["equal", "level", "undecided"].contains(&key);
            let left_out = |key: &str| ["label", "text", "kind"].contains(&key);
            let mut kept = fields.iter().filter(|(key, _)| !left_out(key));
            kept.try_for_each(|(key, field)| holds(oracle, text, field, named || names(key)))
        }
        Value::Array(items) => items.iter().try_for_each(|item| holds(oracle, text, item, named)),
        Value::String(word) => {
            ensure(text.contains(word.as_str()), || format!("`{word}` is not in the text"))
        }
        _ => Ok(()),
    }
}

/// Both ends of the interval of the largest throughput stand in the text.
fn interval(said: &Said<'_>) -> Verdict {
    let Statement::Sharing { best, .. } = &said.statement else { return Err("another kind".into()) };
    let ends = said.text.split_once("95 % interval").map(|(_, ends)| ends);
    let known = best.value.ci95.is_some() || best.cell.input_error.is_some();
    ensure(ends.is_some() == known, || format!("an interval is known: {known}"))?;
    let numbers = numbers(ends.unwrap_or_default());
    let near = |(written, end): (&(f64, f64, &str), f64)| (written.0 - end * 100.0).abs() <= written.1 + 1e-6;
    let all = numbers.iter().zip(best.cell.interval()).all(near);
    ensure(all && (!known || numbers.len() == 2), || format!("{:?}", best.cell.interval()))
}

/// The text of a statement says its value.
pub(crate) fn says(oracle: &Oracle<'_>, said: &Said<'_>) -> Verdict {
    let mut value = serde_json::to_value(said).map_err(|e| e.to_string())?;
    // What a text leaves out: cases behind the third, all but the sixth policy, whose losses nobody asks for.
    match value["kind"].as_str() {
        Some("deadlines") => value["cases"].as_array_mut().ok_or("no cases")?.truncate(3),
        Some("counts") => value["policies"].as_array_mut().ok_or("no policies")?.truncate(6),
        Some("sharing") if value["losses"] == value["cases"] => return Ok(()),
        Some("sharing") => interval(said)?,
        Some("policy" | "sweep") if value["groups"].as_array().is_some_and(|groups| groups.len() == 1) => {
            return Ok(());
        }
        Some("sweep") if said.text.contains(" under every policy") => {
            value["groups"][0]["policies"] = Value::Null;
        }
        Some("locks") if !said.text.contains("between") => {
            ["least", "most"].into_iter().for_each(|end| value[end] = value[end]["mean"].take());
        }
        // How far the value moves is written, not the value itself.
        Some("inputs") => value["best"] = Value::Null,
        _ => {}
    }
    holds(oracle, &said.text, &value, said.label == "Sweep")
}

/// The first texts of each label, as the random results have them.
#[test]
fn the_wording_is_that_of_the_page() {
    let mut texts: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for seed in 1..=200 {
        let results = random::result(&mut Random(seed));
        let table = Table::of(&results);
        for said in Extremes::of(&table).iter().flat_map(|extremes| answer::said(&table, extremes)) {
            // Texts of other lengths have other clauses.
            let known = texts.entry(said.label).or_default();
            let longest = known.last().map_or(0, String::len);
            if known.len() < EACH && (known.is_empty() || said.text.len() > longest + longest / 4) {
                known.push(said.text);
            }
        }
    }
    let lines = texts.iter().flat_map(|(label, texts)| texts.iter().map(move |t| format!("{label}: {t}\n")));
    let page: String = lines.collect();
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/statements/said.txt");
    if std::env::var_os("OVERSIM_UPDATE").is_some() {
        fs::write(&path, &page).expect("the page is written");
    }
    let committed = fs::read_to_string(&path).unwrap_or_default();
    assert!(committed == page, "said.txt is out of date: run this test with OVERSIM_UPDATE=1\n{page}");
}
