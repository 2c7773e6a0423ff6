//! `parbench`: the synthetic kernels and jobs of PARbench, from the data file `data/parbench.yaml`.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use notation::declare::{Choice, Duration, Percent};
use notation::parameter::{Kind, Values};
use notation::{choices, parameters};
use serde::Deserialize;
use sim_core::ids::ProfileId;
use sim_core::program::{MemoryProfile, Op, Pages, Program, Spread};
use sim_core::time::{Span, WORK_FRACTION_BITS, Work};

use crate::entry::{Built, Context, Entry};
use crate::profile::{Datum, half_width, scaled};
use crate::spmd::inline::serial_part;

/// The kernels by their numbers in PARbench; `mix` is the job made of all of them.
pub const KERNELS: &[&str] = Job::WORDS;
/// A kernel below this memory-bound share (1/65,536; 14 %) works in its caches: on a full machine it loses
/// less than a tenth of what one does that always waits for memory.
const CACHED: u32 = 9_175;
/// How often a kernel that works in its caches occurs in a job for each other one: then the job makes 500
/// million memory references and 510 million floating-point operations a second, as the published jobs do
/// (500 and 500).
const CACHED_TIMES: usize = 5;

const FILE: &str = "parbench.yaml";
/// The data file of the derived program, as text.
pub const DATA: &str = include_str!("../data/parbench.yaml");

choices! {
    /// The words of `kernel`.
    enum Job {
        Mix = "mix",
        K61 = "k61",
        K81 = "k81",
        K101 = "k101",
        K111 = "k111",
        K121 = "k121",
        K126 = "k126",
        K141 = "k141",
        K151 = "k151",
        K201 = "k201",
        K221 = "k221",
        K226 = "k226",
        K241 = "k241",
        K246 = "k246",
        K281 = "k281",
        K286 = "k286",
        K301 = "k301",
    }
}

parameters! {
    /// Parameters of `parbench`.
    struct Parameters {
        /// Kernel that the job executes repeatedly. `mix` executes all kernels one after the other, and those
        /// that work in their caches five times as often.
        kernel: Job = Job::Mix;
        /// Sequential run time of the job on a core of the E25K.
        work: Duration = s(200), in 1..=s(1_000_000);
        /// Number of kernel executions. Each ends with a barrier.
        kernels: u32 = 5_000, in 1..=100_000_000;
        /// Half-width of the variation of the work between two barriers. The default is 0% because a
        /// synthetic kernel is a loop of equal iterations that are divided evenly.
        variation: Percent = 0, in 0..=percent(100);
        /// Share of the job to simulate. It covers the first kernels, in whole rounds of the mix, at least
        /// one round.
        scale: Percent = percent(100), in 1..=percent(100);
    }
}

/// The entry of the registry.
pub(crate) const ENTRY: Entry = Entry {
    name: "parbench",
    summary: "PARbench jobs: synthetic kernels from cache-resident to memory-bound, with a barrier after \
        each",
    source: "Janda, Nagel, Trenkler, Analyzing the Interaction of OpenMP Programs Within Multiprogramming \
        Environments \
        on a Sun Fire E25K System with PARbench, Tables 1 to 3",
    example: "job: { workload: { parbench: { kernel: k226, work: 1s, kernels: 25 } }, runtime: sun-openmp, \
        tasks: 8 }",
    parameters: Parameters::TABLE,
    own: build,
};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    core_speed: Datum,
    serial_share: Datum,
    kernels: BTreeMap<String, KernelData>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct KernelData {
    rates: Rates,
    bound: Datum,
    demand: Datum,
}

/// Millions of memory references and of floating-point operations a second of one copy.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Rates {
    mrefs: f64,
    flops: f64,
    source: String,
}

/// A kernel.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Kernel {
    /// Millions of memory references a second of one copy alone.
    pub mrefs: f64,
    /// Millions of floating-point operations a second of one copy alone.
    pub flops: f64,
    /// Memory-bound share of its time in 1/65,536.
    pub bound: u32,
    /// Memory traffic of one copy alone, bytes per second at nominal speed.
    pub demand: u64,
}

struct Catalogue {
    /// Speed of the core on which the times were measured, in thousandths of the nominal core.
    speed: u64,
    /// Share of a job that rank 0 does alone, hundredths of a per cent.
    serial_share: u64,
    kernels: BTreeMap<String, Kernel>,
}

static CATALOGUE: LazyLock<Result<Catalogue, String>> = LazyLock::new(|| read(DATA));

fn read(text: &str) -> Result<Catalogue, String> {
    let file: File = notation::typed::parse(FILE, text)?;
    let kernel = |(name, data): (String, KernelData)| {
        if data.rates.source.is_empty() {
            return Err(format!("{FILE}: {name}: the rates have no source"));
        }
        let share = data.bound.read(FILE, &name, Kind::Percent)?.min(10_000);
        let kernel = Kernel {
            mrefs: data.rates.mrefs,
            flops: data.rates.flops,
            bound: (share * 65_536 / 10_000) as u32,
            demand: data.demand.read(FILE, &name, Kind::Rate)?,
        };
        Ok((name, kernel))
    };
    let kernels = file.kernels.into_iter().map(kernel).collect::<Result<BTreeMap<_, _>, String>>()?;
    if let Some(name) = KERNELS[1..].iter().find(|name| !kernels.contains_key(**name)) {
        return Err(format!("{FILE}: kernel {name} is missing"));
    }
    Ok(Catalogue {
        speed: file.core_speed.read(FILE, "core_speed", Kind::Factor)?.max(1),
        serial_share: file.serial_share.read(FILE, "serial_share", Kind::Percent)?,
        kernels,
    })
}

fn catalogue() -> Result<&'static Catalogue, String> {
    CATALOGUE.as_ref().map_err(Clone::clone)
}

/// A kernel by its name (`k61`).
///
/// # Errors
/// A sentence: no such kernel.
pub fn kernel(name: &str) -> Result<Kernel, String> {
    catalogue()?.kernels.get(name).copied().ok_or_else(|| format!("{FILE} has no kernel `{name}`"))
}

/// The first `count` kernels of a job that executes `kernels` in turn: what calibration runs. `work` is that
/// of all threads at nominal speed, `serial_share` in hundredths of a per cent.
///
/// # Errors
/// A sentence: a kernel that is too long for one operation.
pub fn trial(
    kernels: &[Kernel],
    tasks: u32,
    work: Span,
    count: u32,
    serial_share: u64,
) -> Result<Program, String> {
    job(kernels, tasks, work, count, serial_share, half_width(0))
}

fn build(values: &Values, context: &Context<'_>) -> Result<Built, String> {
    let values = Parameters::from(values);
    let catalogue = catalogue()?;
    let share = if context.tasks > 1 { catalogue.serial_share } else { 0 };
    let nominal = u128::from(values.work.ns()) * u128::from(catalogue.speed) / 1_000;
    let (work, count) = (Span::from_ns(nominal as u64), values.kernels);
    let spread = half_width(values.variation.hundredths());
    let kernels = cycle(values.kernel)?;
    let (work, count) = first(work, count, kernels.len() as u32, values.scale.hundredths());
    let program = job(&kernels, context.tasks, work, count, share, spread)?;
    Ok(Built { nominal: true, ..Built::even(program) })
}

/// Work and kernels of this share (hundredths of a per cent) of a job, in whole rounds of `round` kernels.
fn first(work: Span, count: u32, round: u32, share: u64) -> (Span, u32) {
    if share >= 10_000 || count <= round {
        return (work, count);
    }
    let rounds = scaled(u64::from(count) / u64::from(round), share);
    let kept = (rounds * u64::from(round)).min(u64::from(count)) as u32;
    let ns = u128::from(work.ns()) * u128::from(kept) / u128::from(count);
    (Span::from_ns(ns as u64), kept)
}

/// The kernels that a job executes in turn.
fn cycle(job: Job) -> Result<Vec<Kernel>, String> {
    if job != Job::Mix {
        return Ok(vec![kernel(job.word())?]);
    }
    let all = KERNELS[1..].iter().map(|name| kernel(name)).collect::<Result<Vec<_>, _>>()?;
    Ok(mix(&all))
}

/// The order in which a mixed job executes these kernels, those that work in their caches five times as
/// often.
#[must_use]
pub fn mix(all: &[Kernel]) -> Vec<Kernel> {
    let (cached, bound): (Vec<Kernel>, Vec<Kernel>) = all.iter().partition(|k| k.bound < CACHED);
    // Spread the memory-bound ones evenly between the others.
    let mut often: Vec<Kernel> = Vec::new();
    for _ in 0..CACHED_TIMES {
        often.extend(&cached);
    }
    let total = often.len() + bound.len();
    let (mut mixed, mut often) = (Vec::new(), often.into_iter());
    for (i, kernel) in bound.iter().enumerate() {
        while mixed.len() < (i + 1) * total / bound.len() - 1 {
            let Some(next) = often.next() else { break };
            mixed.push(next);
        }
        mixed.push(*kernel);
    }
    mixed.extend(often);
    mixed
}

fn job(
    kernels: &[Kernel],
    tasks: u32,
    work: Span,
    count: u32,
    serial_share: u64,
    spread: Spread,
) -> Result<Program, String> {
    if kernels.is_empty() {
        return Err("a job needs at least one kernel".to_owned());
    }
    let (whole, alone) = serial_part(work.ns(), serial_share, 0, tasks)?;
    let piece = |span: Span, parts: u128| {
        let raw = (u128::from(span.ns()) << WORK_FRACTION_BITS) / parts.max(1);
        u64::try_from(raw)
            .ok()
            .filter(|raw| *raw <= Work::MAX.raw() / 4)
            .map(Work::from_raw)
            .ok_or_else(|| "a kernel takes more than 36 minutes; use more kernels".to_owned())
    };
    let parallel =
        piece(Span::from_ns(whole.ns() - alone.ns()), u128::from(count) * u128::from(tasks.max(1)))?;
    let serial = piece(alone, u128::from(count))?;
    let mut ops = Vec::new();
    let mut distinct: Vec<MemoryProfile> = kernels.iter().map(profile).collect();
    distinct.sort_unstable_by_key(|p| (p.bound, p.demand));
    distinct.dedup();
    let step = |ops: &mut Vec<Op>, at: usize| {
        let wanted = kernels.get(at).map(profile);
        let profile = distinct.iter().position(|p| Some(*p) == wanted).unwrap_or(0);
        let profile = ProfileId(profile as u32);
        if serial > Work::ZERO {
            ops.push(Op::Serial { work: serial, spread: Spread::NONE, profile });
        }
        ops.extend([Op::Compute { work: parallel.max(Work::from_raw(1)), spread, profile }, Op::Barrier]);
    };
    let rounds = count / kernels.len() as u32;
    if rounds > 0 {
        ops.push(Op::Repeat(rounds));
        (0..kernels.len()).for_each(|at| step(&mut ops, at));
        ops.push(Op::End);
    }
    (0..count as usize % kernels.len()).for_each(|at| step(&mut ops, at));
    Program::new(ops, distinct.clone())
}

/// Kernels ask for a core's whole bandwidth in the phases in which they are memory-bound; the demand is the
/// mean.
fn profile(kernel: &Kernel) -> MemoryProfile {
    MemoryProfile {
        demand: kernel.demand,
        bound: Some(kernel.bound),
        working_set: 0,
        pages: Pages::FirstTouch,
        shared: 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::spmd::census;

    #[test]
    fn a_job_has_its_kernels_and_its_work() {
        for tasks in [1, 8, 16, 24, 32] {
            let context = Context { tasks, runtime: "openmp", machine: "" };
            let built = build(&Values::defaults(Parameters::TABLE), &context).unwrap();
            let (barriers, _, _, parallel) = census(&built.program);
            assert_eq!(barriers, 5_000, "a barrier behind each kernel");
            let speed = u128::from(catalogue().unwrap().speed);
            let share = u128::from(if tasks > 1 { catalogue().unwrap().serial_share } else { 0 });
            let expected = 200_000_000_000 * speed / 1_000 * (10_000 - share) / 10_000;
            let total = (parallel * u128::from(tasks)) >> WORK_FRACTION_BITS;
            assert!(total.abs_diff(expected) < 1_000_000, "{total} of {expected}");
        }
    }

    #[test]
    fn a_share_of_a_job_is_whole_rounds_of_its_kernels() {
        let first = |share: u64| {
            let mut values = Values::defaults(Parameters::TABLE);
            values.set("scale", share).unwrap();
            let built = build(&values, &Context { tasks: 8, runtime: "openmp", machine: "" }).unwrap();
            let (barriers, _, _, work) = census(&built.program);
            (barriers, work / u128::from(barriers))
        };
        let (all, each) = first(10_000);
        for (share, kernels) in [(1_000, 512), (1, 32)] {
            let (barriers, same) = first(share);
            assert_eq!((all, barriers), (5_000, kernels));
            assert!(same.abs_diff(each) < each / 1_000, "{same} and {each}");
        }
    }

    #[test]
    fn the_mix_makes_the_published_rates() {
        let kernels = cycle(Job::Mix).unwrap();
        assert_eq!(kernels.len(), 32);
        let mean = |rate: fn(&Kernel) -> f64| kernels.iter().map(rate).sum::<f64>() / kernels.len() as f64;
        // About 500 MREFS and 500 MFLOPS (section 3 of the paper).
        let (mrefs, flops) = (mean(|k| k.mrefs), mean(|k| k.flops));
        assert!((mrefs - 500.0).abs() < 25.0 && (flops - 500.0).abs() < 25.0, "{mrefs} {flops}");
    }

    #[test]
    fn memory_bound_shares_follow_from_the_column_of_140_copies() {
        // 1 + b x b / 3 of the dedicated time: while both cores of a chip wait, they share its 2.4 GB/s.
        let measured = [("k126", 0.001), ("k81", 0.025), ("k61", 0.067), ("k281", 0.176), ("k201", 0.253)];
        for (name, excess) in measured {
            let kernel = kernel(name).unwrap();
            let bound = f64::from(kernel.bound) / 65_536.0;
            assert!((bound * bound / 3.0 - excess).abs() < 0.005, "{name}: {bound}");
            // While it waits it demands what a core draws: 1.6 GB/s, at 0.3 of the nominal speed.
            assert!((kernel.demand as f64 / bound / 5.333e9 - 1.0).abs() < 0.02, "{name}: {}", kernel.demand);
        }
    }
}
