//! Output of Intel Memory Latency Checker (mlc): idle latencies and rates from each NUMA node to each, and
//! the peak rate of all nodes together.

use std::collections::BTreeSet;

use super::lines::{At, Found, Line, lines};
use super::measured::{Matrix, Measured, Run};

/// Beginnings of the sections that are read; their names are in the output of releases 2 to 3.
const LATENCIES: &str = "Measuring idle latencies";
const RATES: &str = "Measuring Memory Bandwidths between nodes";
const PEAKS: [&str; 2] =
    ["Measuring Peak Injection Memory Bandwidths", "Measuring Maximum Memory Bandwidths for the system"];
/// Sections without a value of a machine file, and why.
const UNUSED: [(&str, &str); 3] = [
    (
        "Measuring Loaded Latencies",
        "Memory Latency Checker, loaded latencies: no value of a machine is a latency under load",
    ),
    (
        "Measuring cache-to-cache transfer latency",
        "Memory Latency Checker, transfers between caches: the costs `line_*` are times until a store \
            is seen by a thread that polls; `oversim calibrate host` measures them",
    ),
    (
        "Each iteration took",
        "Memory Latency Checker, latency of one node: there is no other one to compare it with",
    ),
];
const CUT: &str = "the output may be cut off: keep the whole output of mlc";

/// Adds what a text holds; false if it is none of this program.
pub(super) fn read(source: u32, text: &str, measured: &mut Measured) -> Found<bool> {
    let mut found = false;
    let mut section: Option<Section<'_>> = None;
    for line in lines(source, text) {
        let begins = line.text.starts_with("Measuring ");
        if begins {
            finish(section.take(), measured)?;
        }
        found |= line.text.starts_with("Intel(R) Memory Latency Checker");
        if let Some((_, why)) = UNUSED.iter().find(|(begin, _)| line.text.starts_with(begin)) {
            if found || begins {
                measured.unused.insert((*why).to_owned());
            }
            found |= begins;
        }
        let kind = kind(line.text);
        if kind.is_some() {
            measured.room(line.at)?;
            found = true;
            section =
                kind.map(|kind| Section { kind, begin: line, columns: 0, rows: Vec::new(), reads: false });
            continue;
        }
        if let Some(current) = &mut section
            && current.take(line, measured)?
        {
            finish(section.take(), measured)?;
        }
    }
    finish(section, measured)?;
    Ok(found)
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Latencies,
    Rates,
    Peak,
}

fn kind(text: &str) -> Option<Kind> {
    match text {
        _ if text.starts_with(LATENCIES) => Some(Kind::Latencies),
        _ if text.starts_with(RATES) => Some(Kind::Rates),
        _ if PEAKS.iter().any(|begin| text.starts_with(begin)) => Some(Kind::Peak),
        _ => None,
    }
}

struct Section<'a> {
    kind: Kind,
    begin: Line<'a>,
    /// Nodes in the head of the table; 0 before it.
    columns: usize,
    rows: Vec<(At, Vec<f64>)>,
    reads: bool,
}

impl Section<'_> {
    /// Reads a line; true if the section ends with it.
    fn take(&mut self, line: Line<'_>, measured: &mut Measured) -> Found<bool> {
        self.reads |= line.text.starts_with("Using Read-only traffic");
        if self.kind == Kind::Peak {
            let Some((_, rest)) = line.text.split_once(':').filter(|(name, _)| name.trim() == "ALL Reads")
            else {
                return Ok(false);
            };
            let rate = line.number(rest.split_whitespace().next(), "rate in MB/sec")? * 1e6;
            measured.runs.push(Run {
                what: "Memory Latency Checker, ALL Reads".into(),
                threads: None,
                threads_at: line.at,
                rate,
                most: rate,
                reads: true,
                data: 0.0,
                domains: BTreeSet::new(),
                at: line.at,
            });
            return Ok(true);
        }
        let mut words = line.text.split_whitespace();
        if self.columns == 0 {
            let head = line.after("Numa node").or_else(|| line.after("Socket")).unwrap_or_default();
            self.columns = head.split_whitespace().filter(|word| word.parse::<u32>().is_ok()).count();
            return Ok(false);
        }
        if words.next().is_none_or(|word| word.parse::<u32>().is_err()) {
            return Ok(true);
        }
        let (what, unit) =
            if self.kind == Kind::Latencies { ("latency in ns", 1.0) } else { ("rate in MB/sec", 1e6) };
        let row: Vec<f64> =
            words.map(|word| Ok(line.number(Some(word), what)? * unit)).collect::<Found<_>>()?;
        if row.len() != self.columns {
            let message =
                format!("this row has {} values; the table has {} columns", row.len(), self.columns);
            return Err(line.at.wrong(message, CUT));
        }
        self.rows.push((line.at, row));
        Ok(false)
    }
}

/// Adds the table of a section. That of a peak rate ends when it is read.
fn finish(section: Option<Section<'_>>, measured: &mut Measured) -> Found<()> {
    let Some(section) = section else { return Ok(()) };
    let at = section.begin.at;
    if section.kind == Kind::Peak {
        if measured.runs.last().is_some_and(|run| run.threads.is_none() && follows(run.at, at)) {
            return Ok(());
        }
        return Err(at.wrong("this section has no line `ALL Reads`", CUT));
    }
    if section.rows.is_empty() {
        return Err(at.wrong("this section has no table of NUMA nodes", CUT));
    }
    let (what, list) = match section.kind {
        Kind::Latencies => ("Memory Latency Checker, idle latencies", &mut measured.latencies),
        _ => ("Memory Latency Checker, rates between nodes", &mut measured.rates),
    };
    let Section { columns, rows, reads, .. } = section;
    list.push(Matrix { what, columns, rows, reads, at });
    Ok(())
}

/// Whether a line of the same text stands below another one.
fn follows(one: At, other: At) -> bool {
    one.place.source == other.place.source && one.line > other.line
}
