//! The answer as text, Markdown, JSON and CSV.

use std::fmt::Write;
use std::io;

use experiment::export::Exported;
use experiment::number;
use notation::neutral;
use serde::Serialize;

use super::answer::{Answer, Compared, Part, Row};
use super::sentences::{drawn, relative, signed, times, waits, window, worst};
use crate::matrix::Written;

/// Most scenarios and most parts of the text.
const MOST_ROWS: usize = 4;
const MOST_PARTS: usize = 4;
/// Parts smaller than this share of the largest are not shown alone.
const LEAST: f64 = 0.001;
/// Columns of the longest name of a scenario.
const MOST_NAME: usize = 30;

/// Columns of the text.
pub(super) const WIDTH: usize = 100;

/// The forms of a comparison.
pub const FORMATS: &[Exported<Answer>] = &[
    &Written { name: "text", about: "At most 25 lines", write: |answer, out| put(&text(answer, WIDTH), out) },
    &Written {
        name: "markdown",
        about: "All scenarios and parts, as tables",
        write: |answer, out| put(&markdown(answer), out),
    },
    &Written {
        name: "csv",
        about: "A line for each quantity of each scenario",
        write: |answer, out| put(&csv(answer), out),
    },
    &Written { name: "json", about: "Everything", write: |answer, out| put(&json(answer), out) },
];

fn put(text: &str, out: &mut dyn io::Write) -> io::Result<()> {
    out.write_all(text.as_bytes())
}

/// Text; at 100 columns it has at most 25 lines.
pub(super) fn text(answer: &Answer, width: usize) -> String {
    let mut out = String::new();
    let say = |out: &mut String, sentence: &str| {
        for line in notation::text::wrapped(sentence, width) {
            let _ = writeln!(out, "{line}");
        }
    };
    scenarios(answer, &mut out);
    if let Some(row) = answer.whole() {
        say(&mut out, &times(answer, row));
        if !row.same {
            parts(answer, row, &mut out);
            say(&mut out, &waits(answer, row));
        }
    }
    if let Some(lost) = &answer.worst {
        say(&mut out, &worst(answer, lost));
        let wide = answer.policies.iter().map(|name| name.chars().count()).max().unwrap_or(0);
        for (name, timeline) in answer.policies.iter().zip(&lost.timelines) {
            let _ = writeln!(out, "{name:<wide$} |{}|", drawn(timeline));
        }
        let _ = writeln!(out, "{:<wide$}  {}", "", window(lost));
    } else if answer.whole().is_some_and(|row| !row.same) {
        say(&mut out, "No task of a program waits longer at once under one policy than under the other.");
    }
    if let Some(line) = left_out(answer, width) {
        let _ = writeln!(out, "{line}");
    }
    neutral::lines(&out).into_owned()
}

/// The rows that the text shows, those with the largest relative difference first; and how many more.
fn shown(answer: &Answer) -> (Vec<&Row>, usize) {
    let mut rows: Vec<&Row> = answer.scenarios.iter().collect();
    let by = |row: &&Row| row.time.relative().unwrap_or(0.0).abs();
    rows.sort_by(|a, b| by(b).total_cmp(&by(a)));
    let more = rows.len().saturating_sub(MOST_ROWS);
    rows.truncate(MOST_ROWS);
    (rows, more)
}

/// The table of scenarios.
fn scenarios(answer: &Answer, out: &mut String) {
    let [a, b] = &answer.policies;
    let (rows, more) = shown(answer);
    let names: Vec<String> = rows.iter().map(|row| notation::text::cut(&row.scenario, MOST_NAME)).collect();
    let wide = names.iter().map(|name| name.chars().count()).max().unwrap_or(0).max("scenario".len());
    let column = |name: &str| name.chars().count().max(9);
    let (x, y) = (column(a), column(b));
    let _ = writeln!(out, "{:<wide$}  {a:>x$}  {b:>y$}  difference  99 % of wake-ups within", "scenario");
    for (name, row) in
        names.iter().map(String::as_str).zip(rows).chain(answer.total.iter().map(|row| ("total", row)))
    {
        let [first, second] = row.time.values.map(number::seconds);
        let difference = if row.same { "same runs".to_owned() } else { relative(&row.time) };
        let wakeups = row.wakeup().map_or_else(String::new, |one| {
            let [first, second] = one.p99.values.map(number::short_seconds);
            format!("{first}, {second} ({})", notation::text::cut(&one.app, 12))
        });
        let line = format!("{name:<wide$}  {first:>x$}  {second:>y$}  {difference:>10}  {wakeups}");
        let _ = writeln!(out, "{}", line.trim_end());
    }
    if more > 0 {
        let _ = writeln!(out, "scenarios with smaller differences, in --format markdown: {more}");
    }
}

/// The parts that the text shows: those with the largest differences, and the sum of the others.
fn parts(answer: &Answer, row: &Row, out: &mut String) {
    let mut all: Vec<&Part> = row.parts.iter().filter(|part| part.time.difference.abs() > 0.0).collect();
    all.sort_by(|a, b| b.time.difference.abs().total_cmp(&a.time.difference.abs()));
    if all.is_empty() {
        return;
    }
    let [a, b] = &answer.policies;
    let _ =
        writeln!(out, "Time of a cpu, mean over the cpus, {b} minus {a} (the parts sum to the difference):");
    let largest = all.first().map_or(0.0, |part| part.time.difference.abs());
    let shown = all.iter().take(MOST_PARTS).filter(|part| part.time.difference.abs() >= LEAST * largest);
    let (large, small) = all.split_at(shown.count());
    for part in large {
        let doubt = if part.time.is_shown() { "" } else { " ?" };
        let _ = writeln!(out, "  {:<34} {:>9}{doubt}", part.place.words(), signed(part.time.difference));
    }
    if !small.is_empty() {
        let rest: f64 = small.iter().map(|part| part.time.difference).sum();
        let _ = writeln!(out, "  {:<34} {:>9}", "all others", signed(rest));
    }
}

/// What was not compared, in a line.
fn left_out(answer: &Answer, width: usize) -> Option<String> {
    let first = answer.left_out.first()?;
    let (name, reason) = (&first.scenario, &first.reason);
    let line = match answer.left_out.len() {
        1 => format!("Not compared: {name}: {reason}"),
        more => {
            format!("{more} scenarios are not compared (--format markdown); the first: {name}: {reason}")
        }
    };
    Some(notation::text::cut(&line, width))
}

/// Markdown with all scenarios and parts.
pub(super) fn markdown(answer: &Answer) -> String {
    let mut out = String::new();
    let plain = |text: &str| neutral::markdown(text);
    let [a, b] = answer.policies.each_ref().map(|name| plain(name));
    let _ = writeln!(out, "| scenario | {a} | {b} | difference | 95 % interval |\n|---|---:|---:|---:|---|");
    for row in answer.scenarios.iter().chain(&answer.total) {
        let [first, second] = row.time.values.map(number::seconds);
        let difference = if row.same { "same runs".to_owned() } else { relative(&row.time) };
        let _ = writeln!(
            out,
            "| {} | {first} | {second} | {difference} | {} |",
            plain(&row.scenario),
            interval(&row.time)
        );
    }
    for row in answer.scenarios.iter().filter(|row| !row.same).chain(&answer.total) {
        let _ = writeln!(
            out,
            "\n**{}**: time of a cpu, mean over the cpus\n\n| part | {a} | {b} | difference | 95 % interval \
             |\n|---|---:|---:|---:|---|",
            plain(&row.scenario)
        );
        for part in &row.parts {
            line(&mut out, part.place.words(), &part.time);
        }
        let _ = writeln!(out, "\n| | {a} | {b} | difference | 95 % interval |\n|---|---:|---:|---:|---|");
        line(&mut out, "tasks runnable without a cpu, the sum", &row.waiting);
        for one in &row.wakeups {
            line(&mut out, &format!("99 % of the wake-ups of {} within", plain(&one.app)), &one.p99);
        }
        for (name, counted) in [("migrations", &row.migrations), ("context switches", &row.switches)] {
            let [first, second] = counted.values.map(number::count);
            let _ = writeln!(out, "| {name} | {first} | {second} | {:+.1} | |", counted.difference);
        }
    }
    if let Some(row) = answer.whole() {
        let _ = writeln!(out, "\n{}", plain(&times(answer, row)));
    }
    if let Some(lost) = &answer.worst {
        let _ = writeln!(out, "\n{}\n\n```text", plain(&worst(answer, lost)));
        for (name, timeline) in answer.policies.iter().zip(&lost.timelines) {
            let _ = writeln!(out, "{name:<24} |{}|", drawn(timeline));
        }
        let _ = writeln!(out, "{}\n```", window(lost));
    }
    for left in &answer.left_out {
        let _ = writeln!(out, "\nNot compared: {}: {}.", plain(&left.scenario), plain(&left.reason));
    }
    neutral::lines(&out).into_owned()
}

/// A row of Markdown with times.
fn line(out: &mut String, name: &str, time: &Compared) {
    let [first, second] = time.values.map(number::short_seconds);
    let _ =
        writeln!(out, "| {name} | {first} | {second} | {} | {} |", signed(time.difference), interval(time));
}

fn interval(time: &Compared) -> String {
    time.ci95.map_or_else(String::new, |[low, high]| format!("{} to {}", signed(low), signed(high)))
}

/// JSON with everything.
pub(super) fn json(answer: &Answer) -> String {
    #[derive(Serialize)]
    struct Whole<'a> {
        sentences: Vec<String>,
        #[serde(flatten)]
        answer: &'a Answer,
    }
    let whole = answer.whole();
    let mut sentences: Vec<String> =
        whole.iter().flat_map(|row| [times(answer, row), waits(answer, row)]).collect();
    sentences.extend(answer.worst.as_ref().map(|lost| worst(answer, lost)));
    let whole = Whole { sentences, answer };
    // Numbers and strings only: this cannot fail.
    serde_json::to_string_pretty(&whole).map_or_else(|error| error.to_string(), |text| text + "\n")
}

/// A quantity of a scenario a line.
pub(super) fn csv(answer: &Answer) -> String {
    let mut out = String::from("scenario,quantity,of,unit,first,second,difference,ci95_lo,ci95_hi\n");
    let mut put = |scenario: &str, quantity: &str, of: &str, unit: &str, values: &Compared| {
        let [first, second] = values.values;
        let [low, high] = values.ci95.map_or_else(Default::default, |ends| ends.map(|end| end.to_string()));
        let difference = values.difference;
        let (scenario, of) = (neutral::cell(scenario), neutral::cell(of));
        let _ = writeln!(out, "{scenario},{quantity},{of},{unit},{first},{second},{difference},{low},{high}");
    };
    for row in answer.scenarios.iter().chain(&answer.total) {
        let scenario = row.scenario.as_str();
        put(scenario, "time", "", "s", &row.time);
        for part in &row.parts {
            put(scenario, "cpu_time", part.place.name(), "s", &part.time);
        }
        put(scenario, "waiting", "", "s", &row.waiting);
        put(scenario, "migrations", "", "count", &row.migrations);
        put(scenario, "context_switches", "", "count", &row.switches);
        for one in &row.wakeups {
            put(scenario, "wakeup_latency_p99", &one.app, "s", &one.p99);
        }
    }
    out
}
