//! Memory-bound shares of the PARbench kernels and the serial share of its jobs.

use sim_core::ids::ProfileId;
use sim_core::program::{MemoryProfile, Op, Program, Spread};
use sim_core::time::{Span, Work};
use workloads::parbench::{self, KERNELS, Kernel};

use crate::calibration::bench::{Bench, first};
use crate::calibration::measurements::{Measurements, Quantity, find};
use crate::calibration::residuals::Row;

const ROUNDS: u32 = 4;
/// Seconds of a kernel's copy, and executions in it.
const COPY: f64 = 20.0;
const COPY_KERNELS: u32 = 20;
/// Sequential seconds and kernels of a job.
const JOB: f64 = 200.0;
const JOB_KERNELS: u32 = 5_000;
/// Threads of the jobs whose run times are known.
const JOBS: [u32; 4] = [8, 16, 24, 32];
/// Kernels of a job that a derivation simulates: ten rounds of the mix.
const MOST: u32 = 320;

/// What is derived.
#[derive(Clone, PartialEq, Debug)]
pub struct Derived {
    /// Speed of an E25K core in thousandths of the nominal core.
    pub speed: u64,
    /// Share of a job that rank 0 does alone, hundredths of a per cent.
    pub serial_share: u64,
    /// Kernels by name, in order of number, with the measured relative cpu time in per cent.
    pub kernels: Vec<(&'static str, Kernel, f64)>,
}

impl Derived {
    fn mix(&self) -> Vec<Kernel> {
        parbench::mix(&self.kernels.iter().map(|(_, kernel, _)| *kernel).collect::<Vec<_>>())
    }
}

/// Some boards of the machine: more than a job needs take no part in it, but time to simulate.
fn boards(count: u32) -> Result<Bench, String> {
    let mut entry = machines::resolve("e25k")?;
    let all = entry.topology_text.clone();
    let text = all.replacen("numa:18", &format!("numa:{count}"), 1);
    if text == all {
        return Err(format!("e25k no longer has 18 boards: `{all}`"));
    }
    entry.topology = machines::parse_topology(&text)?;
    Bench::with(&entry)
}

/// Cpu time of a copy on a chip whose other core runs one too, over that of one alone. All chips of a machine
/// full of copies are like this one. Copies do not meet.
fn relative(bench: &Bench, speed: u64, kernel: &Kernel) -> Result<f64, String> {
    let time = |copies: u32| {
        let work = Work::from_span(Span::from_ns(nominal(COPY, speed).ns() / u64::from(COPY_KERNELS)));
        let compute = Op::Compute { work, spread: Spread::NONE, profile: ProfileId(0) };
        let ops = vec![Op::Repeat(COPY_KERNELS), compute, Op::End];
        let profile =
            MemoryProfile { demand: kernel.demand, bound: Some(kernel.bound), ..MemoryProfile::NONE };
        bench.seconds(Program::new(ops, vec![profile])?, "spin", &first(copies))
    };
    Ok(time(2)? / time(1)?)
}

fn nominal(seconds: f64, speed: u64) -> Span {
    Span::from_ns((seconds * 1e6 * speed as f64) as u64)
}

/// Seconds of a whole job alone with this many threads.
fn job(bench: &Bench, derived: &Derived, threads: u32, most: u32) -> Result<f64, String> {
    let whole = nominal(JOB, derived.speed);
    let work = Span::from_ns((u128::from(whole.ns()) * u128::from(most) / u128::from(JOB_KERNELS)) as u64);
    let program = parbench::trial(&derived.mix(), threads, work, most, derived.serial_share)?;
    Ok(bench.seconds(program, "spin", &first(threads))? * f64::from(JOB_KERNELS) / f64::from(most))
}

/// Bounds of all kernels, and the jobs' serial share.
///
/// # Errors
/// A sentence: an input is missing or a run failed.
pub fn derive(data: &Measurements) -> Result<Derived, String> {
    let bench = boards(4)?;
    let memory = &bench.machine().memory;
    let speed = machines::Parameters::from(&machines::resolve("e25k")?.values).core_speed.thousandths();
    // Stated at nominal speed, so that a core of this machine asks for its own bandwidth while it waits.
    let core = (memory.core_bandwidth * 1_000).div_ceil(speed.max(1));
    let demand = |share: u64| (core * share).div_ceil(1_000).div_ceil(1_000_000) * 1_000_000;
    let mut derived = Derived { speed, serial_share: 0, kernels: Vec::new() };
    for name in &KERNELS[1..] {
        let measured = find(&data.parbench, name, "e25k", Quantity::RelativeCpuTime, "")?;
        let rates = data.rates.get(*name).ok_or_else(|| format!("there are no rates of {name}"))?;
        let mut kernel = Kernel { mrefs: rates.mrefs, flops: rates.flops, bound: 0, demand: 0 };
        let excess = measured / 100.0 - 1.0;
        // Two cores of 1.6 GB/s on a chip of 2.4 GB/s: a memory-bound share b costs b / 3 while the other one
        // waits for memory, too, which is during b of its time.
        let mut cost = 1.0 / 3.0;
        for _ in 0..ROUNDS {
            let share = libm::sqrt(excess / cost).clamp(0.0, 1.0);
            // What the data file holds: tenths of a per cent, megabytes per second.
            let thousandths = (share * 1_000.0 + 0.5) as u64;
            (kernel.bound, kernel.demand) = ((thousandths * 65_536 / 1_000) as u32, demand(thousandths));
            let now = relative(&bench, speed, &kernel)? - 1.0;
            if share > 0.0 && now > 0.0 {
                cost = now / (share * share);
            }
        }
        derived.kernels.push((name, kernel, measured));
    }
    derived.serial_share = serial_share(&bench, data, &derived)?;
    Ok(derived)
}

/// The serial share, hundredths of a per cent, with the least squares of the relative errors of all four run
/// times; those taken among an unknown number of other jobs count a quarter.
fn serial_share(bench: &Bench, data: &Measurements, derived: &Derived) -> Result<u64, String> {
    let mut derived = derived.clone();
    let mut share: f64 = 0.01;
    for _ in 0..ROUNDS {
        derived.serial_share = (share * 10_000.0 + 0.5) as u64;
        let (mut over, mut under) = (0.0, 0.0);
        for threads in JOBS {
            let measured = find_job(data, threads)?;
            // What a serial share of 1 would add, in units of the measured time.
            let slope = JOB * (1.0 - 1.0 / f64::from(threads)) / measured;
            let weight = if threads == JOBS[0] { 1.0 } else { 0.25 };
            over += weight * slope * (1.0 - job(bench, &derived, threads, MOST)? / measured);
            under += weight * slope * slope;
        }
        share = (share + over / under).clamp(0.0, 1.0);
    }
    Ok((share * 10_000.0 + 0.5) as u64)
}

fn find_job(data: &Measurements, threads: u32) -> Result<f64, String> {
    let found = data.parbench.iter().find(|m| m.program == "mix" && m.threads == threads);
    found.map(|m| m.value).ok_or_else(|| format!("there is no run time of a job with {threads} threads"))
}

/// Every measurement against the simulated run.
///
/// # Errors
/// A sentence: a run failed.
pub fn residuals(data: &Measurements, derived: &Derived) -> Result<Vec<Row>, String> {
    let bench = boards(4)?;
    let mut rows = Vec::new();
    for (name, kernel, measured) in &derived.kernels {
        let now = relative(&bench, derived.speed, kernel)? * 100.0;
        rows.push(Row::new(name, "e25k", "cpu time of 140 copies, % of one", *measured, now, true));
    }
    for threads in JOBS {
        let now = job(&bench, derived, threads, JOB_KERNELS)?;
        let what = format!("job of 200 s, {threads} threads, s");
        rows.push(Row::new("mix", "e25k", &what, find_job(data, threads)?, now, true));
    }
    Ok(rows)
}
