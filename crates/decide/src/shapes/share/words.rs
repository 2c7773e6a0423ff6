//! The page for a committee: text, Markdown, JSON.

use std::io::{self, Write};

use experiment::export::Exported;
use notation::neutral;
use notation::number::{self, ratio};
use notation::text::{cut, hanging};

use super::{Advice, Factor, PAYS, Pair, Typed};
use crate::matrix::Written;

/// Columns of the text.
const WIDTH: usize = 98;
/// Pairs of a list.
const LISTED: usize = 4;
/// Programs of the mix that are named.
const NAMED: usize = 6;
/// Doubts of the text: the page has at most 25 lines.
const DOUBTS: usize = 3;

/// The forms of an advice.
pub const FORMATS: &[Exported<Advice>] = &[
    &Written { name: "text", about: "A page of at most 25 lines", write: write_text },
    &Written { name: "markdown", about: "The same as Markdown, with all doubts", write: write_markdown },
    &Written { name: "json", about: "Everything", write: write_json },
];

fn write_json(advice: &Advice, out: &mut dyn Write) -> io::Result<()> {
    serde_json::to_writer_pretty(&mut *out, advice)?;
    writeln!(out)
}

fn write_text(advice: &Advice, out: &mut dyn Write) -> io::Result<()> {
    paragraph("", &head(advice), out)?;
    writeln!(out, "jobs a core  work done (one at a time: 1)  groups that lose  worst slowdown")?;
    for factor in &advice.factors {
        let [factor, work, losing, worst] = row(factor);
        writeln!(out, "{factor:>11}  {work:<28}  {losing:>16}  {}", neutral::line(&worst))?;
    }
    for (title, text) in answer(advice) {
        paragraph(&format!("{title:<8}"), &text, out)?;
    }
    for (at, Typed { place, line, why }) in advice.typed.iter().enumerate() {
        let title = if at == 0 { "Type" } else { "" };
        let why = neutral::line(why);
        writeln!(out, "{title:<8}{place:<11} {}", cut(&format!("{line:<41} # {why}"), WIDTH - 20))?;
    }
    for (at, doubt) in advice.doubts.iter().take(DOUBTS).enumerate() {
        paragraph(if at == 0 { "Doubts  " } else { "        " }, doubt, out)?;
    }
    Ok(())
}

fn write_markdown(advice: &Advice, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "# May jobs share a node?\n\n{}\n", neutral::markdown(&head(advice)))?;
    writeln!(out, "| jobs a core | work done (one at a time: 1) | groups that lose | worst slowdown |")?;
    writeln!(out, "|---:|---|---:|---|")?;
    for factor in &advice.factors {
        let cells = row(factor).map(|cell| neutral::markdown(&cell));
        writeln!(out, "| {} |", cells.join(" | "))?;
    }
    writeln!(out)?;
    for (title, text) in answer(advice) {
        let text = neutral::markdown(&text);
        if title.is_empty() { writeln!(out, "- {text}")? } else { writeln!(out, "- **{title}:** {text}")? }
    }
    if !advice.typed.is_empty() {
        writeln!(out, "\nWhat to type:\n")?;
    }
    for line in &advice.typed {
        writeln!(out, "    {:<11} {:<41} # {}", line.place, line.line, neutral::line(&line.why))?;
    }
    writeln!(out, "\nDoubts:\n")?;
    advice.doubts.iter().try_for_each(|doubt| writeln!(out, "- {}", neutral::markdown(doubt)))
}

fn paragraph(title: &str, text: &str, out: &mut dyn Write) -> io::Result<()> {
    let indent = " ".repeat(title.len());
    let lines = hanging(&neutral::line(text), [title, &indent], WIDTH);
    lines.iter().try_for_each(|line| writeln!(out, "{}", line.trim_end()))
}

/// What the page is about.
fn head(advice: &Advice) -> String {
    let mut mix: Vec<&(String, f64)> = advice.mix.iter().collect();
    mix.sort_by(|a, b| b.1.total_cmp(&a.1));
    let named: Vec<String> =
        mix.iter().take(NAMED).map(|(name, share)| format!("{name} {:.0} %", 100.0 * share)).collect();
    let rest = match mix.len().saturating_sub(NAMED) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    format!(
        "May jobs share nodes ({}, {})? Jobs {}: {}{rest}.",
        advice.machine,
        advice.policy,
        advice.origin,
        named.join(", ")
    )
}

/// The cells of a factor.
fn row(factor: &Factor) -> [String; 4] {
    let estimate = factor.throughput;
    let interval = match (estimate.low, estimate.high) {
        (Some(low), Some(high)) if factor.factor > 1 => format!(" ({} to {})", ratio(low), ratio(high)),
        _ => String::new(),
    };
    let losing = if factor.factor > 1 { format!("{:.0} %", 100.0 * factor.losing) } else { "-".to_owned() };
    let worst = if factor.whose.is_empty() {
        "-".to_owned()
    } else {
        format!("{}: {}", ratio(factor.worst), factor.whose)
    };
    [factor.factor.to_string(), format!("{}{interval}", ratio(estimate.mean)), losing, worst]
}

/// The answer, line by line: a title and its text.
fn answer(advice: &Advice) -> Vec<(&'static str, String)> {
    let mut lines = vec![("Answer", verdict(advice))];
    let (gain, lose): (Vec<&Pair>, Vec<&Pair>) = (
        advice.pairs.iter().filter(|pair| pair.throughput > 1.0 + PAYS).collect(),
        advice.pairs.iter().rev().filter(|pair| pair.throughput < 1.0 - PAYS).collect(),
    );
    if !gain.is_empty() {
        lines.push(("Gain", format!("{} of {} pairs: {}.", gain.len(), advice.pairs.len(), list(&gain))));
    }
    if !lose.is_empty() {
        lines.push(("Lose", format!("{} of {} pairs: {}.", lose.len(), advice.pairs.len(), list(&lose))));
    }
    for (at, flip) in advice.flips.iter().enumerate() {
        lines.push((if at == 0 { "Flips" } else { "" }, flip.clone()));
    }
    lines
}

fn list(pairs: &[&Pair]) -> String {
    let pair = |pair: &&Pair| format!("{} {}", pair.programs.join(" + "), ratio(pair.throughput));
    let named: Vec<String> = pairs.iter().take(LISTED).map(pair).collect();
    let rest = match pairs.len().saturating_sub(LISTED) {
        0 => String::new(),
        rest => format!(" and {rest} more"),
    };
    format!("work done {}{rest}", named.join(", "))
}

fn verdict(advice: &Advice) -> String {
    let Some(chosen) = advice.factors.iter().find(|factor| factor.factor == advice.factor) else {
        return String::new();
    };
    if let Some(open) = advice.factors.iter().find(|factor| Some(factor.factor) == advice.undecided) {
        let Factor { factor, throughput, .. } = open;
        return format!(
            "no verdict: {factor} jobs on each core do {} times the work of one job at a time, and the \
             interval ({} to {}) includes both gain and loss. More replicates (--most) narrow it.",
            ratio(throughput.mean),
            ratio(throughput.low.unwrap_or(throughput.mean)),
            ratio(throughput.high.unwrap_or(throughput.mean))
        );
    }
    if advice.factor < 2 {
        return format!(
            "one job at a time: no number of jobs up to {} a core certainly does more than {} % more work.",
            advice.factors.len(),
            100.0 * PAYS
        );
    }
    let without = if advice.alone.is_empty() {
        String::new()
    } else {
        format!(" {} should not be among them.", number::listed(&advice.alone))
    };
    format!(
        "up to {} jobs on each core: a queue gets {} % more work done, and the worst job takes {} times as \
         long as alone.{without}",
        advice.factor,
        number::variation(100.0 * (chosen.throughput.mean - 1.0)),
        ratio(chosen.worst)
    )
}
