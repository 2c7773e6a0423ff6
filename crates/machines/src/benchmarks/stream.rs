//! Output of STREAM (McCalpin, <https://www.cs.virginia.edu/stream/>): the rates of its four kernels, and the
//! number of threads.
//!
//! STREAM counts the bytes that its kernels read and write. Processors read a line before they write it,
//! which STREAM does not count, unless the compiler chose non-temporal stores. The output does not say
//! which. The best of the four rates counts as reported. With ordinary stores, 4/3 of the larger one of Add
//! and Triad crosses the memory bus (two lines read and one written, and one more read). Copy and Scale
//! (3/2) do not count there: compilers often make Copy a call of `memcpy`, which has non-temporal stores.

use std::collections::BTreeSet;

use super::lines::{At, Found, Line, lines, number};
use super::measured::{Measured, Run};

const KERNELS: [&str; 4] = ["Copy", "Scale", "Add", "Triad"];
/// What Add and Triad move with ordinary stores, over what is counted.
const ALLOCATED: f64 = 4.0 / 3.0;
const MEBIBYTE: f64 = 1_048_576.0;
/// Arrays of a run.
const ARRAYS: f64 = 3.0;

/// Adds the runs of a text; false if there is none.
pub(super) fn read(source: u32, text: &str, measured: &mut Measured) -> Found<bool> {
    let mut block: Option<Block<'_>> = None;
    let mut found = false;
    for line in lines(source, text) {
        let version = line.text.starts_with("STREAM version");
        let table = line.text.starts_with("Function") && line.text.contains("Rate");
        let table = table && line.text.contains("MB/s");
        if version || table && block.as_ref().is_none_or(|block| block.table.is_some()) {
            finish(block.take(), measured)?;
            block = Some(Block::new(line));
            found = true;
        }
        let Some(block) = &mut block else { continue };
        if table {
            block.table = Some(line);
        } else {
            block.take(line)?;
        }
    }
    finish(block, measured)?;
    Ok(found)
}

/// One run.
struct Block<'a> {
    begin: Line<'a>,
    /// Threads that counted themselves, or the number that was asked for.
    counted: Option<(u32, At)>,
    requested: Option<(u32, At)>,
    /// Lines that threads printed: those of releases before 5.10.
    printed: u32,
    printed_at: At,
    /// Processes, of the version for MPI.
    ranks: Option<u32>,
    /// Bytes of all arrays.
    data: f64,
    table: Option<Line<'a>>,
    rates: [Option<(f64, At)>; 4],
}

impl<'a> Block<'a> {
    fn new(begin: Line<'a>) -> Self {
        let (counted, requested, ranks, table) = (None, None, None, None);
        let (printed, printed_at, data, rates) = (0, begin.at, 0.0, [None; 4]);
        Self { begin, counted, requested, printed, printed_at, ranks, data, table, rates }
    }

    fn take(&mut self, line: Line<'_>) -> Found<()> {
        if let Some((name, rest)) = line.text.split_once(':')
            && self.table.is_some()
            && let Some(at) = KERNELS.iter().position(|kernel| *kernel == name.trim_end())
        {
            let word = rest.split_whitespace().next();
            let rate = line.number(word, "rate in MB/s")?;
            self.rates[at] = Some((rate * 1e6, line.at));
        } else if line.text.starts_with("Number of Threads") {
            let word = line.text.split_once('=').and_then(|(_, rest)| rest.split_whitespace().next());
            let threads = Some((line.count(word, "threads")?, line.at));
            if line.text.contains("counted") {
                self.counted = threads;
            } else {
                self.requested = threads;
            }
        } else if line.text.starts_with("Printing one line per active thread") {
            self.printed = self.printed.saturating_add(1);
            self.printed_at = line.at;
        } else if let Some(rest) = line.after("Data is distributed across") {
            self.ranks = Some(line.count(rest.split_whitespace().next(), "processes")?);
        } else if let Some(rest) = line.after("Memory per array =") {
            self.data = rest.split_whitespace().next().and_then(number).unwrap_or(0.0) * MEBIBYTE * ARRAYS;
        } else if line.text.starts_with("Failed Validation") {
            return Err(line.at.wrong(
                "the run found wrong results in its arrays, so its rates do not count",
                "build and run STREAM again",
            ));
        }
        Ok(())
    }

    /// The number of threads. A build without OpenMP has one and prints nothing about it.
    fn threads(&self) -> Found<(u32, At)> {
        let printed = (self.printed > 0).then_some((self.printed, self.printed_at));
        let alone = self.begin.text.starts_with("STREAM version").then_some((1, self.begin.at));
        let known = self.counted.or(self.requested).or(printed).or(alone);
        let (threads, at) = known.ok_or_else(|| {
            self.begin.at.wrong(
                "the lines above this table are missing: they state the number of threads",
                "keep the whole output of STREAM, from `STREAM version` on",
            )
        })?;
        Ok((threads.saturating_mul(self.ranks.unwrap_or(1)), at))
    }
}

/// Adds the run of a block.
fn finish(block: Option<Block<'_>>, measured: &mut Measured) -> Found<()> {
    let Some(block) = block else { return Ok(()) };
    measured.room(block.begin.at)?;
    let whole = "a run that has ended prints the rates of Copy, Scale, Add and Triad";
    let Some(table) = block.table else {
        return Err(block.begin.at.wrong("this run of STREAM has no table of rates", whole));
    };
    let mut best: Option<(f64, At, &str)> = None;
    for (kernel, rate) in KERNELS.iter().zip(block.rates) {
        let Some((rate, at)) = rate else {
            return Err(table.at.wrong(format!("the rate of {kernel} is missing in this table"), whole));
        };
        if best.is_none_or(|(most, ..)| rate > most) {
            best = Some((rate, at, kernel));
        }
    }
    let (threads, threads_at) = block.threads()?;
    let Some((rate, at, kernel)) = best else { return Ok(()) };
    let two = block.rates[2..].iter().flatten().map(|(rate, _)| *rate).fold(0.0, f64::max);
    measured.runs.push(Run {
        what: format!("STREAM, {kernel}"),
        threads: Some(threads),
        threads_at,
        rate,
        most: rate.max(two * ALLOCATED),
        reads: false,
        data: block.data,
        domains: BTreeSet::new(),
        at,
    });
    Ok(())
}
