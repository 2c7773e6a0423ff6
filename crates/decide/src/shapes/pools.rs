//! How many workers with how many threads each: nested pools, as a process pool whose workers call a library
//! with threads of its own.

mod show;

use std::collections::BTreeSet;

use experiment::PolicyRegistry;
use experiment::statistics::{Summary, summarise};
use notation::parameter::Kind;
use notation::units;
use scenario::Overrides;
use serde::Serialize;
use sim_core::ids::CpuId;
use sim_core::machine::Machine;

use super::page::Form;
use super::wait::is_level;
use super::words::{length, quoted};
use crate::trial::{self, Failed, Means, Setting, Subject, Trial, Wanted};

/// Runtimes of the inner threads.
pub const RUNTIMES: [&str; 3] = ["libgomp", "libomp", "openmp"];
/// Most threads of a combination.
const MOST_THREADS: u64 = 16_384;
/// Times at which the threads of a call of a library meet, where nobody states another number: as counted in
/// the sources of BLIS for a product of matrices (flame/blis, frame/thread/bli_thrinfo.c and
/// frame/1m/packm/bli_packm_blk_var1.c). For each of its five loops the threads meet four times while they
/// agree who shares the loop (a broadcast, which is two meetings, and two barriers), and around the packing
/// of a block four times. BLIS without packing saves a broadcast and two barriers of each (flame/blis #622).
/// What a call costs so was measured on six cores: 27 to 36 us beside the work of matrices from 2 x 2 to
/// 64 x 64, of which one thread takes 5 to 20 us (flame/blis #439).
pub const MEETINGS: u32 = 24;
/// Most of them.
pub const MOST_MEETINGS: u32 = 1_000;
/// Fewest calls of all workers together that are simulated where the threads meet often: with calls of 20 us
/// the start of the program (2 ms) is then a twentieth of the run.
const LEAST_REGIONS: u64 = 2_000;
/// Regions of all workers together from which on only a part of the work is simulated, and the time grown in
/// proportion: more regions add no precision to the mean.
const MOST_REGIONS: u64 = 4_000;
/// With a quota at least the work of so many periods is simulated, if there is as much.
const PERIODS: u64 = 20;
/// Most threads for each cpu in combinations that are not stated: the habit, which has more on a large
/// machine, stands for the others.
const THREADS_PER_CPU: u64 = 4;
/// Most combinations.
const MOST_CELLS: usize = 200;
/// Period of the quota, in ns: the default of Linux.
const PERIOD_NS: u64 = 100_000_000;

/// Reads the work of all workers together, in ns.
///
/// # Errors
/// It is no length of time, or shorter than 1 ms or longer than 1,000 s.
pub fn work(text: &str) -> Result<u64, String> {
    let ns = units::parse(Kind::Duration, text)?;
    let fits = (1_000_000..=1_000_000_000_000).contains(&ns);
    if fits { Ok(ns) } else { Err("the work of all is from 1ms to 1000s".to_owned()) }
}

/// What is asked.
#[derive(Clone, PartialEq, Debug)]
pub struct Question {
    /// The machine as a scenario names it.
    pub machine: String,
    /// The kernel.
    pub kernel: String,
    /// The runtime of the inner threads, one of [`RUNTIMES`].
    pub runtime: String,
    /// Numbers of workers; empty: powers of two up to the cpus.
    pub outer: Vec<u32>,
    /// Threads of each worker; empty: powers of two up to the cpus.
    pub inner: Vec<u32>,
    /// Work of all, in ns of one cpu.
    pub work: u64,
    /// Work of one parallel region, in ns of one cpu.
    pub region: u64,
    /// How often the threads of a region meet, its end included: 1 to [`MOST_MEETINGS`].
    pub meetings: u32,
    /// The part of each region's work that one thread does alone, in per cent, at most 99.
    pub serial: u32,
    /// Half-width of the variation of a thread's work, in per cent.
    pub spread: u32,
    /// A quota on all cpus together (`cpu.max`), in thousandths of a cpu.
    pub quota: Option<u64>,
    /// Seeds of each combination, at least 2.
    pub seeds: u32,
    /// The first seed.
    pub seed: u64,
}

/// One combination.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Cell {
    /// Workers.
    pub outer: u32,
    /// Threads of each.
    pub inner: u32,
    /// Time until all work is done, in s; of a part of the work, grown in proportion.
    pub time_s: Summary,
    /// How much longer than the best combination, in per cent, by pairs of equal seeds.
    pub regret: Summary,
    /// The fastest one, or not distinguishable from it.
    pub level: bool,
    /// True for the habit where it was not asked for: it is no cell of the table.
    pub beside: bool,
}

/// The answer.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Answer {
    /// The machine.
    pub machine: String,
    /// The kernel.
    pub kernel: String,
    /// Cpus of the machine.
    pub cpus: u32,
    /// The quota, in thousandths of a cpu.
    pub quota: Option<u64>,
    /// Cpus that the work can use: those of the machine, or the quota rounded up.
    pub usable: u32,
    /// Periods whose quota the work uses up; none without a quota.
    pub periods: Option<f64>,
    /// The runtime.
    pub runtime: String,
    /// Work of all, in ns.
    pub work_ns: u64,
    /// Work of a region, in ns.
    pub region_ns: u64,
    /// How often the threads of a region meet.
    pub meetings: u32,
    /// Serial part of a region, in per cent.
    pub serial_percent: u32,
    /// Half-width of the variation, in per cent.
    pub spread_percent: u32,
    /// Seeds of each combination.
    pub seeds: u32,
    /// The combinations, by workers and threads.
    pub cells: Vec<Cell>,
    /// The cell of the table that is advised: of those level with the fastest one, the one with the fewest
    /// threads in all.
    pub best: usize,
    /// The cell of the habit: as many workers as cpus, and as many threads in each; none where these are more
    /// threads than are simulated.
    pub habit: Option<usize>,
}

/// Simulates all combinations.
///
/// # Errors
/// A runtime that is not known, too many threads or combinations, or [`Failed`] of the runs.
pub fn ask(question: &Question, policies: &PolicyRegistry, means: Means<'_>) -> Result<Answer, Failed> {
    if !RUNTIMES.contains(&question.runtime.as_str()) {
        let (names, runtime) = (RUNTIMES.join(", "), &question.runtime);
        return Err(Failed::Refused(format!("inner threads of `{runtime}` are not known: {names}")));
    }
    let text = base(question);
    let subject =
        Subject { policies, name: "the generated scenario", text: &text, base: Overrides::default() };
    let experiment = subject.experiment(&wanted(question, Vec::new())).map_err(Failed::Refused)?;
    let cpus = experiment.cpus();
    let usable = question
        .quota
        .map_or(cpus, |milli| u32::try_from(milli.div_ceil(1_000)).unwrap_or(u32::MAX).min(cpus));
    let places = places(question, cpus)?;
    let all: Vec<Wanted> = places
        .iter()
        .map(|(outer, inner, _)| {
            let handed = experiment.runs.first().map_or(0, |run| handed(&run.machine, *inner));
            wanted(question, vec![application(question, (*outer, *inner), handed)])
        })
        .collect();
    let trials = trial::run(&subject, &all, None, means)?;
    let cells = judged(&places, &trials, question.work as f64 / simulated(question) as f64)?;
    let missing = || Failed::Refused("the runs have no times".into());
    let best = best(&cells).ok_or_else(missing)?;
    let habit = cells.iter().position(|cell| (cell.outer, cell.inner) == (cpus, cpus));
    Ok(Answer {
        machine: question.machine.clone(),
        kernel: question.kernel.clone(),
        cpus,
        quota: question.quota,
        usable,
        periods: question.quota.map(|milli| question.work as f64 / (milli * (PERIOD_NS / 1_000)) as f64),
        runtime: question.runtime.clone(),
        work_ns: question.work,
        region_ns: question.region,
        meetings: question.meetings,
        serial_percent: question.serial,
        spread_percent: question.spread,
        seeds: question.seeds,
        cells,
        best,
        habit,
    })
}

/// Workers and threads of all combinations, and whether they are beside the table: the habit, where it was
/// not asked for.
fn places(question: &Question, cpus: u32) -> Result<Vec<(u32, u32, bool)>, Failed> {
    let powers = || {
        let mut all: BTreeSet<u32> =
            (0..).map(|power| 1 << power).take_while(|count| *count < cpus).collect();
        all.insert(cpus);
        all
    };
    let counts = |given: &Vec<u32>| {
        if given.is_empty() { powers() } else { given.iter().copied().filter(|count| *count > 0).collect() }
    };
    let (outer, inner) = (counts(&question.outer), counts(&question.inner));
    let all = outer.iter().flat_map(|outer| inner.iter().map(|inner| (*outer, *inner, false)));
    let threads = |(outer, inner, _): &(u32, u32, bool)| u64::from(*outer) * u64::from(*inner);
    let stated = !question.outer.is_empty() && !question.inner.is_empty();
    let most = u64::from(cpus) * THREADS_PER_CPU;
    let mut places: Vec<(u32, u32, bool)> =
        all.filter(|place| stated || threads(place) <= most || place.0 == 1 || place.1 == 1).collect();
    if places.is_empty() {
        return Err(Failed::Refused("--outer and --inner take numbers from 1 on".into()));
    }
    if !places.contains(&(cpus, cpus, false)) && threads(&(cpus, cpus, true)) <= MOST_THREADS {
        places.push((cpus, cpus, true));
    }
    if places.len() > MOST_CELLS {
        let many = places.len();
        return Err(Failed::Refused(format!("{many} combinations: at most {MOST_CELLS} are simulated")));
    }
    if let Some(large) = places.iter().find(|place| threads(place) > MOST_THREADS) {
        let many = threads(large);
        return Err(Failed::Refused(format!(
            "{} workers of {} threads are {many} threads: at most {MOST_THREADS} are simulated",
            large.0, large.1
        )));
    }
    Ok(places)
}

/// The scenario without the pool.
fn base(question: &Question) -> String {
    let Question { machine, kernel, seed, .. } = question;
    let groups = question.quota.map_or_else(String::new, |milli| {
        let quota = (u128::from(milli) * u128::from(PERIOD_NS) / 1_000).clamp(1_000_000, 1_000_000_000_000);
        format!("cgroups: {{ box: {{ quota: {}, period: {} }} }}\n", length(quota as u64), length(PERIOD_NS))
    });
    let group = if question.quota.is_some() { ", cgroup: box" } else { "" };
    format!(
        "name: pools\nmachine: {}\nkernel: {}\n{groups}apps: {{ pool: {{ workload: {{ hog: {{ work: 1ms \
         }} }}, tasks: 1{group} }} }}\npolicies: [LOAD]\nbaseline: none\nseed: {seed}\n",
        quoted(machine),
        quoted(kernel)
    )
}

fn wanted(question: &Question, set: Vec<String>) -> Wanted {
    let setting = Setting { set, policy: None };
    Wanted { setting, replicates: 0..question.seeds, draw: None, at_most: None }
}

/// How long a thread takes to read one line from the cache of each other thread of its team, in ns: what the
/// others wrote before a meeting, at least. The threads are as close together as they can be.
fn handed(machine: &Machine, inner: u32) -> u64 {
    let last = CpuId(inner.min(machine.cpus()).saturating_sub(1));
    machine.signal_latency(CpuId(0), last).ns().saturating_mul(u64::from(inner.saturating_sub(1)))
}

/// The workers: copies of a program, each a process with a team. The number of regions of a worker is
/// rounded, and their length makes up for that, so that the work is the same in all combinations. Between two
/// meetings a thread does an equal part of its work, and after each but the last it takes over what the
/// others wrote (`handed`, in ns).
fn application(question: &Question, (outer, inner): (u32, u32), handed: u64) -> String {
    let own = simulated(question) / u64::from(outer);
    let regions = (libm::round(own as f64 / question.region.max(1) as f64) as u64).max(1);
    let region = own as f64 / regions as f64;
    let serial = region * f64::from(question.serial) / 100.0;
    let meetings = if inner == 1 { 1 } else { question.meetings.max(1) };
    let part = (region - serial) / f64::from(inner) / f64::from(meetings);
    let part = libm::round(part).max(1.0) as u64;
    let serial = libm::round(serial) as u64;
    let spread = match question.spread {
        0 => String::new(),
        percent => format!(" uniform {percent}%"),
    };
    let gap = if serial == 0 { String::new() } else { format!("run {}; ", length(serial)) };
    let group = if question.quota.is_some() { ", cgroup: box" } else { "" };
    let (threads, body) = match inner {
        1 => (String::new(), format!("run {}{spread}", length(part))),
        _ => {
            let run = format!("run {}{spread}", length(part));
            let take = if handed == 0 { String::new() } else { format!("; run {}", length(handed)) };
            let inside = match meetings - 1 {
                0 => String::new(),
                more => format!("repeat {more} {{ {run}; barrier{take} }}; "),
            };
            (format!("threads: {inner}, "), format!("parallel {{ {inside}{run} }}"))
        }
    };
    format!(
        "apps.pool={{ copies: {outer}, runtime: {}{group}, program: {{ {threads}code: \"repeat \
         {regions} {{ {gap}{body} }}\" }} }}",
        question.runtime
    )
}

/// The work that is simulated, in ns.
fn simulated(question: &Question) -> u64 {
    let quota = question.quota.map_or(0, |milli| milli.saturating_mul(PERIOD_NS / 1_000));
    let regions = (MOST_REGIONS / u64::from(question.meetings.max(1))).max(LEAST_REGIONS);
    let most = question.region.saturating_mul(regions).max(quota.saturating_mul(PERIODS));
    question.work.min(most).max(1)
}

/// Times and regrets of all combinations.
fn judged(places: &[(u32, u32, bool)], trials: &[Trial], grown: f64) -> Result<Vec<Cell>, Failed> {
    if let Some((trial, place)) = trials.iter().zip(places).find(|(trial, _)| !trial.ended.is_empty()) {
        let (outer, inner, _) = place;
        return Err(Failed::Refused(format!("{outer} workers of {inner} threads: {}", trial.ended)));
    }
    let missing = || Failed::Refused("a run has no time".into());
    let makespans = |trial: &Trial| -> Option<Vec<f64>> {
        let one = |values: &Option<experiment::measured::Values>| {
            values.as_ref()?.get(experiment::metrics::ALL_APPS)?.get("makespan").map(|time| time * grown)
        };
        trial.values.iter().map(one).collect()
    };
    let times: Vec<Vec<f64>> = trials.iter().map(makespans).collect::<Option<_>>().ok_or_else(missing)?;
    let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len().max(1) as f64;
    let asked = times.iter().zip(places).filter(|(_, place)| !place.2).map(|(times, _)| times);
    let best = asked.min_by(|a, b| mean(a).total_cmp(&mean(b))).ok_or_else(missing)?;
    let cell = |(own, (outer, inner, beside)): (&Vec<f64>, &(u32, u32, bool))| {
        let regrets: Vec<f64> = own.iter().zip(best).map(|(own, best)| (own / best - 1.0) * 100.0).collect();
        let regret = summarise(&regrets)?;
        Some(Cell {
            outer: *outer,
            inner: *inner,
            time_s: summarise(own)?,
            level: is_level(&regret),
            regret,
            beside: *beside,
        })
    };
    times.iter().zip(places).map(cell).collect::<Option<_>>().ok_or_else(missing)
}

/// Of the cells level with the fastest one, that with the fewest threads; of equal ones the faster.
fn best(cells: &[Cell]) -> Option<usize> {
    let own = |at: &usize| cells.get(*at).filter(|cell| cell.level && !cell.beside);
    (0..cells.len()).filter(|at| own(at).is_some()).min_by(|a, b| {
        let of = |at: &usize| {
            own(at).map_or((u64::MAX, f64::INFINITY), |cell| {
                (u64::from(cell.outer) * u64::from(cell.inner), cell.time_s.mean)
            })
        };
        let (a, b) = (of(a), of(b));
        a.0.cmp(&b.0).then(a.1.total_cmp(&b.1))
    })
}

impl Answer {
    /// The answer in a form, ending with a line feed.
    #[must_use]
    pub fn written(&self, form: Form) -> String {
        show::written(self, form)
    }
}
