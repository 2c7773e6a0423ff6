//! Output of likwid-bench (<https://github.com/RRZE-HPC/likwid>): the rate of a test, its threads, and the
//! domains that they are bound to.
//!
//! `MByte/s` has the bytes that the test reads and writes, in millions. A processor reads a line before it
//! writes it, which likwid-bench does not count, unless the test reads what it writes (`update`, `daxpy`) or
//! has non-temporal stores (names with `_mem` or `_nt`).

use std::collections::BTreeSet;

use notation::text::cut;

use super::lines::{At, Found, Line, lines, number};
use super::measured::{Measured, Run};

const BEGIN: &str = "LIKWID MICRO BENCHMARK";
/// Tests that only read, by the beginning of their names.
const READING: [&str; 4] = ["load", "clload", "sum", "ddot"];
/// Tests that write what they have read.
const IN_PLACE: [&str; 2] = ["update", "daxpy"];
/// Longest name of a test or a domain in sources, in characters.
const MAX_NAME: usize = 40;

/// Adds the runs of a text; false if there is none.
pub(super) fn read(source: u32, text: &str, measured: &mut Measured) -> Found<bool> {
    let mut block: Option<Block> = None;
    let mut domains = BTreeSet::new();
    let mut found = false;
    for line in lines(source, text) {
        if line.text == BEGIN {
            finish(block.take(), measured)?;
            block = Some(Block::new(line.at, std::mem::take(&mut domains)));
            found = true;
        } else if line.text.starts_with("Allocate:") {
            // These lines stand above the block.
            let named = line.text.split_once("(Domain ").and_then(|(_, rest)| rest.split_once(')'));
            domains.extend(named.map(|(domain, _)| cut(domain, MAX_NAME)));
        } else if let Some(block) = &mut block {
            block.take(line)?;
        }
    }
    finish(block, measured)?;
    Ok(found)
}

/// One run.
struct Block {
    begin: At,
    domains: BTreeSet<String>,
    test: Option<String>,
    threads: Option<(u32, At)>,
    rate: Option<(f64, At)>,
    data: f64,
    loads: Option<u32>,
    stores: Option<u32>,
}

impl Block {
    fn new(begin: At, domains: BTreeSet<String>) -> Self {
        let (test, threads, rate, loads, stores) = (None, None, None, None, None);
        Self { begin, domains, test, threads, rate, data: 0.0, loads, stores }
    }

    fn take(&mut self, line: Line<'_>) -> Found<()> {
        let per_update = |rest: &str| rest.parse().ok().filter(|count| *count < 1_000);
        if let Some(rest) = line.after("Test:") {
            self.test = Some(cut(rest, MAX_NAME));
        } else if let Some(rest) = line.after("Using ").and_then(|rest| rest.strip_suffix("threads")) {
            self.threads = Some((line.count(Some(rest.trim()), "threads")?, line.at));
        } else if let Some(rest) = line.after("MByte/s:") {
            self.rate = Some((line.number(Some(rest), "rate in MByte/s")? * 1e6, line.at));
        } else if let Some(rest) = line.after("Size (Byte):").or_else(|| line.after("Size:")) {
            self.data = number(rest).unwrap_or(0.0);
        } else if let Some(rest) = line.after("Loads per update:") {
            self.loads = per_update(rest);
        } else if let Some(rest) = line.after("Stores per update:") {
            self.stores = per_update(rest);
        }
        Ok(())
    }
}

/// Whether a test only reads, and what crosses the memory bus at most over what is counted.
fn traffic(test: &str, loads: Option<u32>, stores: Option<u32>) -> (bool, f64) {
    let begins = |names: &[&str]| names.iter().any(|name| test.starts_with(name));
    if stores == Some(0) || stores.is_none() && begins(&READING) {
        return (true, 1.0);
    }
    if begins(&IN_PLACE) || test.contains("_mem") || test.contains("_nt") {
        return (false, 1.0);
    }
    match (loads, stores) {
        (Some(loads), Some(stores)) => {
            (false, f64::from(loads + 2 * stores) / f64::from(loads + stores).max(1.0))
        }
        _ if test.starts_with("store") => (false, 2.0),
        _ => (false, 1.5),
    }
}

/// Adds the run of a block.
fn finish(block: Option<Block>, measured: &mut Measured) -> Found<()> {
    let Some(block) = block else { return Ok(()) };
    measured.room(block.begin)?;
    let missing = |what: &str| {
        let whole = "keep the whole output of likwid-bench, to the line below `MByte/s`";
        block.begin.wrong(format!("this run of likwid-bench has no {what}"), whole)
    };
    let test = block.test.as_deref().ok_or_else(|| missing("line `Test:`"))?;
    if test.starts_with("peakflops") {
        measured.unused.insert(format!("likwid-bench, {test}: it measures arithmetic, not memory"));
        return Ok(());
    }
    let (threads, threads_at) = block.threads.ok_or_else(|| missing("line `Using ... threads`"))?;
    let (rate, at) = block.rate.ok_or_else(|| missing("line `MByte/s:`"))?;
    let (reads, factor) = traffic(test, block.loads, block.stores);
    measured.runs.push(Run {
        what: format!("likwid-bench, {test}"),
        threads: Some(threads),
        threads_at,
        rate,
        most: rate * factor,
        reads,
        data: block.data,
        domains: block.domains,
        at,
    });
    Ok(())
}
