//! Times and threads as reports write them.

use std::borrow::Cow;
use std::io::{self, Write};

use notation::neutral;
use serde::Serialize;

use crate::event::Tid;
use crate::follow::{Source, Start, Stint};
use crate::threads::{Id, Threads};

/// Milliseconds with three decimals, as perf prints them.
pub(super) fn ms(ns: u64) -> String {
    let us = ns / 1_000 + u64::from(ns % 1_000 >= 500);
    format!("{}.{:03}", us / 1_000, us % 1_000)
}

/// The same, or a dash.
pub(super) fn ms_or_dash(ns: Option<u64>) -> String {
    ns.map_or_else(|| "-".to_owned(), ms)
}

/// Seconds of the clock with six decimals, as perf prints them.
pub(super) fn clock(ns: u64) -> String {
    let us = ns / 1_000 + u64::from(ns % 1_000 >= 500);
    format!("{}.{:06}", us / 1_000_000, us % 1_000_000)
}

/// Seconds for JSON.
pub(super) fn seconds(ns: u64) -> f64 {
    ns as f64 / 1e9
}

/// A part of a whole in per cent; 0 of nothing.
pub(super) fn percent(part: u64, whole: u64) -> f64 {
    if whole == 0 { 0.0 } else { 100.0 * part as f64 / whole as f64 }
}

/// A number of things, with an `s` where there is not one.
pub(super) fn counted(count: impl Into<u64>, one: &str) -> String {
    let count = count.into();
    format!("{count} {one}{}", if count == 1 { "" } else { "s" })
}

/// The name of a thread without control characters.
pub(super) fn name(threads: &Threads, id: Id) -> Cow<'_, str> {
    match threads.get(id).map(|thread| thread.name.as_str()) {
        None | Some("") => Cow::Borrowed("?"),
        Some(name) => neutral::line(name),
    }
}

/// The number of a thread.
pub(super) fn tid(threads: &Threads, id: Id) -> Tid {
    threads.get(id).map_or(0, |thread| thread.tid)
}

/// `name[tid/pid]`, or `name[tid]` where that is the process too or the process is not known.
pub(super) fn bracketed(threads: &Threads, id: Id) -> String {
    let (name, tid) = (name(threads, id), tid(threads, id));
    match threads.get(id).and_then(|thread| thread.process).filter(|process| *process != tid) {
        Some(process) => format!("{name}[{tid}/{process}]"),
        None => format!("{name}[{tid}]"),
    }
}

/// How long a thread could run and had no cpu before a stint: from when and to when, in ns. Nothing where
/// that is not known: before the first stint, and after a wake-up that was not recorded.
///
/// Where the switch to the thread was not recorded and nothing else tells when it got the cpu, its stint is
/// taken to begin with its wake-up; such a delay of zero is not known either.
pub(super) fn delay(stint: &Stint<'_>) -> Option<(u64, u64)> {
    let since = match stint.start {
        Start::First | Start::Woken { by: Source::Unseen, .. } => return None,
        Start::Forked { at } | Start::Woken { at, .. } => at,
        Start::Resumed { since } => since,
    };
    if stint.mended && stint.from <= since { None } else { Some((since, stint.from.max(since))) }
}

/// How long a thread had waited before it was woken for a stint, in ns; until the stint where the wake-up was
/// not recorded.
pub(super) fn waited(stint: &Stint<'_>) -> u64 {
    match stint.start {
        Start::Woken { blocked, by: Source::Unseen, .. } => stint.from.saturating_sub(blocked),
        Start::Woken { blocked, at, .. } => at.saturating_sub(blocked),
        Start::First | Start::Forked { .. } | Start::Resumed { .. } => 0,
    }
}

/// A cell, to the right of its column or, in the first columns, to the left.
pub(super) struct Column {
    pub(super) title: &'static str,
    pub(super) left: bool,
}

/// Writes a table whose columns are as wide as they need to be, with a line below the head and one above the
/// last row if that is a total.
pub(super) fn table(
    columns: &[Column],
    rows: &[Vec<String>],
    total: bool,
    out: &mut dyn Write,
) -> io::Result<()> {
    let width = |at: usize| {
        let cells = rows.iter().filter_map(|row| row.get(at)).map(|cell| cell.chars().count());
        cells.max().unwrap_or(0).max(columns.get(at).map_or(0, |column| column.title.len()))
    };
    let widths: Vec<usize> = (0..columns.len()).map(width).collect();
    let line = "-".repeat(widths.iter().sum::<usize>() + 2 * widths.len().saturating_sub(1));
    let mut write = |cells: &mut dyn Iterator<Item = &str>| {
        let mut text = String::new();
        for ((cell, column), width) in cells.zip(columns).zip(&widths) {
            let gap = " ".repeat(width.saturating_sub(cell.chars().count()));
            let (before, after) = if column.left { ("", gap.as_str()) } else { (gap.as_str(), "") };
            text.push_str(if text.is_empty() { "" } else { "  " });
            text.extend([before, cell, after]);
        }
        writeln!(out, "{}", text.trim_end())
    };
    write(&mut columns.iter().map(|column| column.title))?;
    write(&mut [line.as_str()].into_iter())?;
    for (at, row) in rows.iter().enumerate() {
        if total && at + 1 == rows.len() {
            write(&mut [line.as_str()].into_iter())?;
        }
        write(&mut row.iter().map(String::as_str))?;
    }
    Ok(())
}

/// Writes something as JSON.
pub(super) fn json(what: &impl Serialize, out: &mut dyn Write) -> io::Result<()> {
    serde_json::to_writer_pretty(&mut *out, what)?;
    writeln!(out)
}
