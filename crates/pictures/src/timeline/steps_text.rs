//! Steps as text: a paragraph each.

use notation::neutral;
use notation::text::lines;

use crate::canvas::font::words;
use crate::timeline::steps::{Standing, Step, Steps};

/// Columns in front of what is indented: `  runs   `.
const INDENT: usize = 9;
/// Threads of a queue that are written; further ones are counted.
const MOST: usize = 8;
/// Narrower windows get lines that are cut by the terminal.
const LEAST: usize = 20;

/// What is gone through: the title of the run and its window.
#[must_use]
pub fn heading(steps: &Steps, title: &str, width: usize) -> String {
    let (from, to) = (instant(steps.from_ns), instant(steps.to_ns));
    let count = steps.steps.len() as u64 + steps.more;
    let noun = if count == 1 { "step" } else { "steps" };
    let text = format!("{title}: {count} {noun} from {from} to {to}");
    neutral::lines(&wrapped(&text, 0, width)).into_owned()
}

/// A step: when, where, what and why; below who runs and the queue with its keys.
#[must_use]
pub fn paragraph(step: &Step, width: usize) -> String {
    let place = step.cpu.map_or(String::new(), |cpu| format!("cpu {cpu}: "));
    let stop = if step.reason.is_empty() { "" } else { ": " };
    let first = format!("{} {place}{}{stop}{}", instant(step.at_ns), step.text, step.reason);
    let mut text = wrapped(&first, INDENT, width);
    if step.cpu.is_some() {
        let nobody = || "nobody".to_owned();
        let runs = step.running.as_ref().map_or_else(nobody, standing);
        text.push_str(&labelled("runs", &runs, width));
        for (at, one) in step.queue.iter().take(MOST).enumerate() {
            let label = if at == 0 { "queue" } else { "" };
            text.push_str(&labelled(label, &standing(one), width));
        }
        if step.queue.len() > MOST {
            text.push_str(&format!("{:INDENT$}and {} more\n", "", step.queue.len() - MOST));
        }
        if step.queue.is_empty() {
            text.push_str("  queue  empty\n");
        }
    }
    // The names come from files.
    neutral::lines(&text).into_owned()
}

/// An instant in seconds, to the nanosecond.
fn instant(ns: u64) -> String {
    format!("{}.{:09} s", ns / 1_000_000_000, ns % 1_000_000_000)
}

fn standing(one: &Standing) -> String {
    let mut text = one.thread.clone();
    if one.polls {
        text.push_str(" (only polls)");
    }
    let keys: Vec<String> = one.keys.iter().map(|(name, value)| format!("{name} {value}")).collect();
    if !keys.is_empty() {
        text.push_str(&format!(": {}", keys.join(", ")));
    }
    text
}

/// Text behind a label.
fn labelled(label: &str, text: &str, width: usize) -> String {
    let below = wrapped(text, 0, width.saturating_sub(INDENT));
    let mut out = String::new();
    for (at, line) in below.lines().enumerate() {
        let label = if at == 0 { label } else { "" };
        out.push_str(&format!("  {label:<6} {line}\n"));
    }
    out
}

/// Text in lines, all but the first one indented.
fn wrapped(text: &str, indent: usize, width: usize) -> String {
    let room = width.saturating_sub(indent).max(LEAST);
    let parts = lines(words(text), |line| line.chars().count() <= room);
    let mut out = String::new();
    for (at, part) in parts.iter().enumerate() {
        let before = if at == 0 { "" } else { &" ".repeat(indent) };
        out.push_str(&format!("{before}{}\n", part.trim_end()));
    }
    out
}
