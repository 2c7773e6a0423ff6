//! Values that benchmarks measured, in a machine file: from the output of STREAM, likwid-bench and Intel
//! Memory Latency Checker.
//!
//! A text is recognised by what it holds. It may hold several runs, and those of several programs. Each value
//! that is taken has its source with file and line; everything else is listed as not taken.

mod bandwidths;
mod fit;
mod likwid;
mod lines;
mod measured;
mod mlc;
mod stream;
mod tables;
mod taken;
mod write;

use notation::diagnostics::{Diagnostic, Place};
use notation::suggest;

use crate::entry::{Entry, Note};
use crate::file;
use crate::import::Refused;
use crate::parameters::Parameters;
use lines::Found;
use measured::Measured;
use taken::{Taken, Value};

/// Most bytes of an output.
pub const MAX_BYTES: u64 = 1 << 20;
/// Most outputs, and most values that are given one by one.
pub const MAX_LOGS: usize = 64;

/// Most remarks that the file repeats.
const MAX_REMARKS: usize = 40;

/// The output of a benchmark.
#[derive(Clone, Copy, Debug)]
pub struct Log<'a> {
    /// The name of the file, for sources and messages.
    pub name: &'a str,
    /// What it holds.
    pub text: &'a str,
}

/// A value that is given with its source.
#[derive(Clone, Copy, Debug)]
pub struct Given<'a> {
    /// The parameter.
    pub name: &'a str,
    /// As a machine file writes it: `12GB/s`.
    pub value: &'a str,
    /// Where it comes from, one line.
    pub source: &'a str,
}

/// A machine with measured values.
#[derive(Clone, Debug)]
pub struct Changed {
    /// The text of its machine file.
    pub text: String,
    /// The machine that this text describes.
    pub entry: Entry,
    /// Names and values that were set: `core_bandwidth 14.5GB/s`.
    pub set: Vec<String>,
    /// What was not taken, and what to know of what was: sentences without full stop.
    pub remarks: Vec<String>,
}

/// Sets what logs and given values state, under a new name of the machine. A value that is given counts
/// before a measured one.
///
/// # Errors
/// A text is of no known form or is cut off, a measurement does not fit the machine, or nothing of all is a
/// value of a machine file. The source of a place is the number of its log.
pub fn set(entry: &Entry, name: &str, logs: &[Log<'_>], given: &[Given<'_>]) -> Result<Changed, Refused> {
    if logs.len().max(given.len()) > MAX_LOGS {
        return Err(format!("at most {MAX_LOGS} files and {MAX_LOGS} values are read at once").into());
    }
    let mut measured = Measured::default();
    for (source, log) in (0..).zip(logs) {
        read(source, log, &mut measured).map_err(|problem| Refused::Problems(vec![*problem]))?;
    }
    let mut taken = take(entry, measured, logs).map_err(|problem| Refused::Problems(vec![*problem]))?;
    for one in given {
        let value = value_of(one)?;
        taken.values.retain(|other| other.name != value.name);
        taken.values.push(value);
    }
    if taken.values.is_empty() && taken.distances.is_none() {
        let why = taken.remarks.join("; ");
        let why = if why.is_empty() { "there are no measurements".to_owned() } else { why };
        return Err(format!("nothing was measured that a machine file has a value for: {why}").into());
    }
    changed(entry, name, taken)
}

/// Reads a text of any form.
fn read(source: u32, log: &Log<'_>, measured: &mut Measured) -> Found<()> {
    let stream = stream::read(source, log.text, measured)?;
    let likwid = likwid::read(source, log.text, measured)?;
    let mlc = mlc::read(source, log.text, measured)?;
    if stream || likwid || mlc {
        return Ok(());
    }
    let place = Place { source, ..Place::NONE };
    let empty = log.text.trim().is_empty();
    let what = if empty { "the text is empty" } else { "this is the output of no benchmark that is read" };
    let hint = "these are read: STREAM (from `STREAM version` to its table of rates), likwid-bench \
        (from `LIKWID MICRO BENCHMARK` to its last line), Intel Memory Latency Checker (sections that begin \
        with `Measuring`)";
    Err(Box::new(Diagnostic::new(place, what).hint(hint)))
}

/// What of all measurements a machine has values for.
fn take(entry: &Entry, mut measured: Measured, logs: &[Log<'_>]) -> Found<Taken> {
    let mut taken = Taken::default();
    if let Some(table) = tables::first(&measured.latencies, logs, &mut taken) {
        tables::latencies(entry, table, logs, &mut taken)?;
    }
    let rates = tables::first(&measured.rates, logs, &mut taken).cloned();
    if let Some(table) = &rates {
        measured.runs.extend(tables::own_rate(entry, table, logs, &mut taken)?);
    }
    let asked = bandwidths::values(entry, &measured, logs, &mut taken)?;
    if let Some(table) = &rates {
        tables::link(entry, table, asked, logs, &mut taken)?;
    }
    measured.unused.iter().for_each(|unused| taken.remark(format!("not taken: {unused}")));
    Ok(taken)
}

/// A value that is given, read.
fn value_of(given: &Given<'_>) -> Result<Value, String> {
    let names: Vec<&str> = Parameters::TABLE.iter().map(|parameter| parameter.name).collect();
    let parameter =
        Parameters::TABLE.iter().find(|parameter| parameter.name == given.name).ok_or_else(|| {
            let near = suggest::hint(given.name, names.iter().copied());
            format!("a machine has no value `{}`{near}: `oversim machine show` lists them", given.name)
        })?;
    let wrong = |why: String| format!("`{}`: {why}", given.name);
    let value = notation::units::parse(parameter.kind, given.value).map_err(wrong)?;
    if value < parameter.min || value > parameter.max {
        let (min, max) = (parameter.kind.show(parameter.min), parameter.kind.show(parameter.max));
        return Err(wrong(format!("it must lie between {min} and {max}")));
    }
    if given.source.trim().is_empty() {
        return Err(wrong("its source is empty".into()));
    }
    let source = given.source.trim().to_owned();
    Ok(Value { name: parameter.name, value, source, uncertain: false, range: None })
}

/// The machine with the new values, and its text.
fn changed(entry: &Entry, name: &str, taken: Taken) -> Result<Changed, Refused> {
    let mut new = Entry { name: name.to_owned(), ..entry.clone() };
    let mut set = Vec::new();
    for Value { name, value, source, uncertain, range } in taken.values {
        new.values.set(name, value)?;
        set.push(format!("{name} {}", new.values.shown(name).unwrap_or_default()));
        replace(&mut new, Note { parameter: name.to_owned(), source, uncertain, range });
    }
    if let Some(distances) = taken.distances {
        new.lists.distances = distances.factors;
        let (source, uncertain) = (distances.source, distances.uncertain);
        replace(&mut new, Note { parameter: "lists.distances".into(), source, uncertain, range: None });
        set.push("distances".into());
    }
    new.check()?;
    let values = set.join(", ");
    let mut comment = vec![
        format!("Written by `oversim machine set` from the machine `{}`: {values}.", entry.name),
        "Values that are not listed are the defaults of a present-day server, see `oversim machine show`."
            .into(),
    ];
    comment.extend(taken.remarks.iter().take(MAX_REMARKS).cloned());
    if taken.remarks.len() > MAX_REMARKS {
        comment.push(format!("... and {} more", taken.remarks.len() - MAX_REMARKS));
    }
    let text = write::machine_file(&new, &comment);
    let entry = file::read(0, &text).map_err(|problems| {
        let first = problems.first().map_or_else(String::new, |problem| problem.message.clone());
        format!("the machine does not fit into a machine file: {first}")
    })?;
    Ok(Changed { text, entry, set, remarks: taken.remarks })
}

/// Puts a note in the place of the one of the same parameter.
fn replace(entry: &mut Entry, note: Note) {
    match entry.notes.iter_mut().find(|other| other.parameter == note.parameter) {
        Some(other) => *other = note,
        None => entry.notes.push(note),
    }
}
