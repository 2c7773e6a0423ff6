//! What the numbers say, in sentences.

use experiment::number;

use super::answer::{Answer, Compared, Row, Worst};

/// Seconds with the sign of a difference.
pub(super) fn signed(seconds: f64) -> String {
    // Means of whole nanoseconds.
    let size = (seconds.abs() * 1e9).round() / 1e9;
    let sign = if seconds < 0.0 && size > 0.0 { "-" } else { "+" };
    format!("{sign}{}", number::short_seconds(size))
}

/// A share with its sign, in per cent.
fn signed_percent(share: f64) -> String {
    let text = crate::why::signed_percent(share);
    if text.starts_with('-') || text == "0" { text } else { format!("+{text}") }
}

/// The difference of a time: relative to the first policy, with `?` where its interval contains zero.
pub(super) fn relative(time: &Compared) -> String {
    let doubt = if time.is_shown() || is_zero(time) { "" } else { " ?" };
    match time.relative() {
        Some(share) => format!("{} %{doubt}", signed_percent(share)),
        None => format!("{}{doubt}", signed(time.difference)),
    }
}

fn is_zero(of: &Compared) -> bool {
    of.ci95 == Some([0.0, 0.0])
}

/// How the times differ.
pub(super) fn times(answer: &Answer, row: &Row) -> String {
    let [a, b] = &answer.policies;
    let what = if answer.total.is_some() { "All scenarios together take" } else { "The run takes" };
    let [x, y] = row.time.values.map(number::seconds);
    let seeds = answer.replicates;
    if row.same {
        return format!("Both policies have the same runs: equal digests in all {seeds} seeds.");
    }
    if row.window {
        return format!("Only a window counts, {x} under both; the parts show how it is used.");
    }
    if is_zero(&row.time) {
        return format!("{what} {x} under both, the same in each of {seeds} seeds.");
    }
    let range = row.time.ci95.map_or_else(String::new, |[low, high]| {
        format!(" (95 % interval {} to {}, {seeds} seeds)", signed(low), signed(high))
    });
    let difference = signed(row.time.difference);
    let shown = if row.time.is_shown() { "" } else { "; no difference is shown" };
    format!("{what} {x} under {a} and {y} under {b}: {difference}{range}{shown}.")
}

/// What the tasks waited for, and how often they moved.
pub(super) fn waits(answer: &Answer, row: &Row) -> String {
    let [a, b] = &answer.policies;
    let [x, y] = row.waiting.values.map(number::short_seconds);
    let [m, n] = row.migrations.values.map(number::count);
    let [s, t] = row.switches.values.map(number::count);
    format!(
        "{a} and {b}: tasks were runnable without a cpu for {x} and {y} (the sum over tasks, \
         polling ones included), with {m} and {n} \
         migrations, {s} and {t} context switches."
    )
}

/// The task that lost most.
pub(super) fn worst(answer: &Answer, worst: &Worst) -> String {
    let name = |side: usize| answer.policies.get(side).map_or("", String::as_str);
    let time = |side: usize| worst.longest_s.get(side).copied().unwrap_or(0.0);
    let (under, other) = (worst.under, 1 - worst.under.min(1));
    let here = number::short_seconds(time(under));
    let there = match time(other) {
        none if none <= 0.0 => format!("under {} it never waits", name(other)),
        some => format!("its longest wait under {} is {}", name(other), number::short_seconds(some)),
    };
    let idle = match worst.idle_s {
        none if none <= 0.0 => "no cpu was without a task meanwhile".to_owned(),
        some => format!("cpus without a task meanwhile: {} in all", number::short_seconds(some)),
    };
    format!(
        "Worst task: {}.{} of {} (seed {}) is runnable for {here} without a cpu under {}, at the end of that \
         counted on cpu {}; {there}; {idle}.",
        worst.app,
        worst.rank,
        worst.scenario,
        worst.seed,
        name(under),
        worst.cpu
    )
}

/// The window of its timelines.
pub(super) fn window(worst: &Worst) -> String {
    let [from, to] = worst.window_ns.map(|ns| number::seconds(ns as f64 / 1e9));
    format!("{from} to {to}: # has a cpu, : runnable without, ~ polls, . sleeps")
}

/// A timeline as text shows it.
pub(super) fn drawn(timeline: &str) -> String {
    let symbol = |letter: char| match letter {
        'r' => '#',
        'w' => ':',
        'p' => '~',
        's' => '.',
        _ => ' ',
    };
    timeline.chars().map(symbol).collect()
}
