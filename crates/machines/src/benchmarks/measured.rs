//! What benchmarks measured, whatever their form: rates of runs, and tables of NUMA nodes.

use std::collections::BTreeSet;

use super::lines::{At, Found};

/// Most runs and tables of all texts together.
const MAX_RUNS: usize = 1_000;

/// A rate that threads read or wrote at.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Run {
    /// The program and its test: `STREAM, Triad`.
    pub(super) what: String,
    /// None: as many as the cpus of the nodes have.
    pub(super) threads: Option<u32>,
    pub(super) threads_at: At,
    /// As the program reports it, in bytes per second.
    pub(super) rate: f64,
    /// The same, if each line that is written was read first: what the program does not count.
    pub(super) most: f64,
    /// The run only read.
    pub(super) reads: bool,
    /// Bytes that it went through; 0 if it does not say.
    pub(super) data: f64,
    /// The groups of cpus that it was bound to, as likwid names them: `N`, `S0`, `M1`.
    pub(super) domains: BTreeSet<String>,
    pub(super) at: At,
}

/// Values from each NUMA node (row) to each (column).
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Matrix {
    pub(super) what: &'static str,
    pub(super) columns: usize,
    pub(super) rows: Vec<(At, Vec<f64>)>,
    /// Only reads were measured.
    pub(super) reads: bool,
    pub(super) at: At,
}

/// All that some texts hold.
#[derive(Clone, PartialEq, Default, Debug)]
pub(super) struct Measured {
    pub(super) runs: Vec<Run>,
    /// Idle latencies in ns.
    pub(super) latencies: Vec<Matrix>,
    /// Rates in bytes per second.
    pub(super) rates: Vec<Matrix>,
    /// What a machine file has no value for, each with the reason.
    pub(super) unused: BTreeSet<String>,
}

impl Measured {
    /// Checks that there is room for one more.
    pub(super) fn room(&self, at: At) -> Found<()> {
        if self.runs.len() + self.latencies.len() + self.rates.len() < MAX_RUNS {
            return Ok(());
        }
        Err(at.wrong(format!("there are more than {MAX_RUNS} measurements"), "keep those that count"))
    }
}
