//! The measurements that calibration starts from: the data file `data/measurements.yaml`, read once.

use std::collections::BTreeMap;

use serde::Deserialize;

const FILE: &str = "measurements.yaml";
const TEXT: &str = include_str!("../../data/measurements.yaml");

/// What was measured.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Quantity {
    /// Wall-clock time of a run, seconds.
    RunTime,
    /// Time on one core over time on 16 cores, one thread each.
    #[serde(rename = "speed-up-16")]
    SpeedUp16,
    /// Mean time between two barriers, milliseconds.
    Interval,
    /// Barriers of a run.
    Barriers,
    /// Mean time between two barriers of the version in UPC, milliseconds.
    UpcInterval,
    /// Barriers of a run of the version in UPC.
    UpcBarriers,
    /// Cpu time of a copy among as many as `threads` says, per cent of that of one alone.
    RelativeCpuTime,
}

/// One measurement.
#[derive(Clone, PartialEq, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Measurement {
    /// Program, code or kernel.
    pub program: String,
    /// Problem class; empty for programs without.
    #[serde(default)]
    pub class: String,
    /// Machine.
    pub machine: String,
    /// Threads, or copies of a sequential kernel.
    pub threads: u32,
    /// `scatter` (3 threads on each of 4 sockets), `gather` (6 on each of 2), `all` or empty.
    #[serde(default)]
    pub layout: String,
    /// What.
    pub quantity: Quantity,
    /// How much, in the quantity's unit.
    pub value: f64,
    /// Key of the source.
    pub source: String,
    /// Table or section of it.
    pub table: String,
    /// The source leaves something open.
    #[serde(default)]
    pub uncertain: bool,
    /// What it leaves open.
    #[serde(default)]
    pub note: String,
}

/// Rates of a PARbench kernel alone.
#[derive(Clone, Copy, PartialEq, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rates {
    /// Millions of memory references a second.
    pub mrefs: f64,
    /// Millions of floating-point operations a second.
    pub flops: f64,
}

/// All measurements.
#[derive(Clone, PartialEq, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Measurements {
    /// Sources by key.
    pub sources: BTreeMap<String, String>,
    /// NAS Parallel Benchmarks.
    pub npb: Vec<Measurement>,
    /// SPEC OMP 2001.
    pub spec_omp: Vec<Measurement>,
    /// PARbench.
    pub parbench: Vec<Measurement>,
    /// Rates of its kernels.
    pub rates: BTreeMap<String, Rates>,
}

/// Reads the embedded file.
///
/// # Errors
/// What is wrong with it (never in a tested build).
pub fn measurements() -> Result<Measurements, String> {
    let data: Measurements = notation::typed::parse(FILE, TEXT)?;
    for m in data.npb.iter().chain(&data.spec_omp).chain(&data.parbench) {
        if !data.sources.contains_key(&m.source) || m.table.is_empty() || (m.uncertain && m.note.is_empty()) {
            return Err(format!(
                "{FILE}: {} {:?}: the source, the table or the reason is missing",
                m.program, m.quantity
            ));
        }
        if m.value <= 0.0 || m.threads == 0 {
            return Err(format!(
                "{FILE}: {} {:?}: the value and the number of threads must be positive",
                m.program, m.quantity
            ));
        }
    }
    Ok(data)
}

/// The value of one measurement.
///
/// # Errors
/// A sentence when there is none.
pub fn find(
    list: &[Measurement],
    program: &str,
    machine: &str,
    quantity: Quantity,
    layout: &str,
) -> Result<f64, String> {
    let wanted = |m: &&Measurement| {
        m.program == program && m.machine == machine && m.quantity == quantity && m.layout == layout
    };
    let found = list.iter().find(wanted);
    found
        .map(|m| m.value)
        .ok_or_else(|| format!("{FILE}: there is no {quantity:?} of {program} on {machine} {layout}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_measurement_has_its_source() {
        let all = measurements().unwrap();
        assert_eq!((all.spec_omp.len(), all.rates.len()), (33, 16), "11 programs x 3 runs, 16 kernels");
        assert_eq!(find(&all.npb, "cg", "barcelona", Quantity::SpeedUp16, "").ok(), Some(9.2));
        assert_eq!(find(&all.spec_omp, "swim", "x4440", Quantity::RunTime, "gather").ok(), Some(780.18));
        assert!(find(&all.npb, "lu", "barcelona", Quantity::SpeedUp16, "").is_err());
    }
}
