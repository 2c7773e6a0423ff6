//! How waiting threads should wait, by the length of regions, the load and the number of threads: a table of
//! regrets, because a setting that is best on an idle host may be the worst one on a busy host.

mod choice;
mod rows;
mod show;

use std::collections::BTreeSet;

use experiment::PolicyRegistry;
use experiment::statistics::{Summary, summarise};
use notation::parameter::Kind;
use notation::units;
use scenario::Overrides;
use serde::Serialize;

use super::words::{length, quoted};
use crate::trial::{self, Failed, Means, Setting, Subject, Trial, Wanted};
use crate::ways;
use rows::{is_of_processes, rows};

pub use choice::{Choice, Verdict};

/// How long a team alone computes at least: as many turns of 3 ms as a mean needs that does not depend on
/// where the turns begin.
const RUN_NS: u64 = 300_000_000;
/// Fewest and most passes of a team: few passes leave start-up in the mean, and more add no precision.
const PASSES: (u64, u64) = (20, 2_000);
/// Most columns (lengths x teams x loads).
const MOST_COLUMNS: usize = 200;

/// What else the host does.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Load {
    /// So many tasks that compute without end.
    Busy(u32),
    /// One for every second cpu.
    Half,
    /// One for each cpu.
    Full,
    /// A second team like the first one, without end.
    Team,
}

/// Reads a load: a number of busy tasks, `half`, `full` or `team`.
///
/// # Errors
/// It is none of them: what it may be.
pub fn load(text: &str) -> Result<Load, String> {
    match text.trim() {
        "half" => Ok(Load::Half),
        "full" => Ok(Load::Full),
        "team" => Ok(Load::Team),
        number => {
            number.parse().ok().filter(|tasks| *tasks <= 65_536).map(Load::Busy).ok_or_else(|| {
                "write a number of busy tasks (0 to 65536), `half`, `full` or `team`".to_owned()
            })
        }
    }
}

/// Shortest and longest work of a thread in a region or between two, in ns: 1 us to 100 s.
const WORK: std::ops::RangeInclusive<u64> = 1_000..=100_000_000_000;

/// Reads the work of a thread in a region, in ns.
///
/// # Errors
/// It is no length of time, or shorter than 1 us or longer than 100 s.
pub fn work(text: &str) -> Result<u64, String> {
    let ns = units::parse(Kind::Duration, text)?;
    if WORK.contains(&ns) { Ok(ns) } else { Err("write a length from 1us to 100s".to_owned()) }
}

/// Reads the work between two regions, in ns; `0s` is none.
///
/// # Errors
/// As for [`work`].
pub fn gap(text: &str) -> Result<u64, String> {
    match units::parse(Kind::Duration, text)? {
        0 => Ok(0),
        _ => work(text),
    }
}

/// The names of the runtimes that this shape knows.
#[must_use]
pub fn runtimes() -> Vec<&'static str> {
    ways::WAYS.iter().map(|ways| ways.runtime).filter(|name| ways::is_set_by_user(name)).collect()
}

/// What is asked.
#[derive(Clone, PartialEq, Debug)]
pub struct Question {
    /// The machine as a scenario names it.
    pub machine: String,
    /// The kernel.
    pub kernel: String,
    /// The runtime, one of [`runtimes`].
    pub runtime: String,
    /// Work of each thread in a region, in ns, at least 1 us.
    pub regions: Vec<u64>,
    /// Threads of a team, at least 2; empty: one for each cpu.
    pub threads: Vec<u32>,
    /// Work of the first thread between two regions while the others wait, in ns.
    pub between: u64,
    /// Half-width of the variation of a thread's work, in per cent.
    pub spread: u32,
    /// The loads.
    pub loads: Vec<Load>,
    /// Seeds of each cell, at least 2.
    pub seeds: u32,
    /// The first seed.
    pub seed: u64,
}

/// A setting that is a row of the tables.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct SettingRow {
    /// What to type; empty for the default.
    pub typed: String,
    /// What it does.
    pub about: String,
    /// The runtime as a scenario writes it.
    pub runtime: String,
}

impl SettingRow {
    /// Its name in tables.
    #[must_use]
    pub fn name(&self) -> String {
        if self.typed.is_empty() { "default".into() } else { self.typed.clone() }
    }
}

/// A column of the tables.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Column {
    /// Work of a thread in a region, in ns.
    pub region_ns: u64,
    /// Threads of the team.
    pub threads: u32,
    /// Busy tasks beside it.
    pub busy: u32,
    /// A second team is beside it.
    pub second_team: bool,
    /// Passes (a gap and a region) that were simulated.
    pub passes: u64,
}

impl Column {
    /// True when nothing else runs.
    #[must_use]
    pub const fn is_idle(&self) -> bool {
        self.busy == 0 && !self.second_team
    }

    /// The load in two words.
    #[must_use]
    pub fn load(&self) -> String {
        match (self.second_team, self.busy) {
            (true, _) => "2nd team".into(),
            (false, 0) => "idle".into(),
            (false, busy) => format!("{busy} busy"),
        }
    }
}

/// What one setting reached in one column.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Cell {
    /// Time of a pass (the gap and the region), in s.
    pub pass_s: Summary,
    /// How much longer than the best setting of the column, in per cent, by pairs of equal seeds.
    pub regret: Summary,
    /// The best one, or level with it.
    pub level: bool,
    /// Cpu time of the team beside its work, in per cent of the work.
    pub burnt: f64,
}

/// The answer.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Answer {
    /// The machine.
    pub machine: String,
    /// The kernel.
    pub kernel: String,
    /// Its cpus.
    pub cpus: u32,
    /// The runtime.
    pub runtime: String,
    /// Work between two regions, in ns.
    pub between_ns: u64,
    /// Half-width of the variation of a thread's work, in per cent.
    pub spread_percent: u32,
    /// Seeds of each cell.
    pub seeds: u32,
    /// The rows.
    pub settings: Vec<SettingRow>,
    /// The columns.
    pub columns: Vec<Column>,
    /// The cells, by setting and column.
    pub cells: Vec<Vec<Cell>>,
    /// The setting with the smallest worst regret.
    pub smallest_worst: Choice,
    /// The setting with the smallest mean regret.
    pub smallest_mean: Choice,
    /// Whether one setting is best everywhere.
    pub verdict: Verdict,
    /// The verdict in words.
    pub sentence: String,
}

/// Simulates all settings under all loads.
///
/// # Errors
/// A runtime without settings, a team of one thread, too many columns, or [`Failed`] of the runs.
pub fn ask(question: &Question, policies: &PolicyRegistry, means: Means<'_>) -> Result<Answer, Failed> {
    if !runtimes().contains(&question.runtime.as_str()) {
        let names = runtimes().join(", ");
        let runtime = &question.runtime;
        return Err(Failed::Refused(format!("no settings of waiting are known for `{runtime}`: {names}")));
    }
    let text = base(question);
    let subject =
        Subject { policies, name: "the generated scenario", text: &text, base: Overrides::default() };
    let experiment = subject.experiment(&wanted(question, Vec::new())).map_err(Failed::Refused)?;
    let settings = rows(&question.runtime, &experiment);
    let cpus = experiment.cpus();
    let columns = columns(question, cpus)?;
    let cells: Vec<(&SettingRow, &Column)> =
        settings.iter().flat_map(|row| columns.iter().map(move |column| (row, column))).collect();
    let all: Vec<Wanted> =
        cells.iter().map(|(row, column)| wanted(question, programs(question, row, column))).collect();
    let trials = trial::run(&subject, &all, None, means)?;
    if let Some((trial, (row, column))) = trials.iter().zip(&cells).find(|(trial, _)| !trial.ended.is_empty())
    {
        let load = column.load();
        return Err(Failed::Refused(format!("{} ({load}): {}", row.runtime, trial.ended)));
    }
    let cells = judged(question, settings.len(), &columns, &trials)?;
    let missing = || Failed::Refused("the runs have no times".into());
    let smallest_worst = choice::smallest_worst(&cells, &settings).ok_or_else(missing)?;
    let smallest_mean = choice::smallest_mean(&cells, &settings).ok_or_else(missing)?;
    let verdict = choice::verdict(&cells, &columns);
    let mut answer = Answer {
        machine: question.machine.clone(),
        kernel: question.kernel.clone(),
        cpus,
        runtime: question.runtime.clone(),
        between_ns: question.between,
        spread_percent: question.spread,
        seeds: question.seeds,
        settings,
        columns,
        cells,
        smallest_worst,
        smallest_mean,
        verdict,
        sentence: String::new(),
    };
    answer.sentence = show::sentence(&answer);
    Ok(answer)
}

/// The scenario without its applications: each setting brings them.
fn base(question: &Question) -> String {
    let Question { machine, kernel, seed, .. } = question;
    format!(
        "name: wait\nmachine: {}\nkernel: {}\napps: {{ team: {{ workload: {{ hog: {{ work: 1ms }} }}, \
         tasks: 1 }} }}\npolicies: [LOAD]\nbaseline: none\nseed: {seed}\n",
        quoted(machine),
        quoted(kernel)
    )
}

fn wanted(question: &Question, set: Vec<String>) -> Wanted {
    Wanted {
        setting: Setting { set, policy: None },
        replicates: 0..question.seeds,
        draw: None,
        at_most: None,
    }
}

/// The columns, each load once.
fn columns(question: &Question, cpus: u32) -> Result<Vec<Column>, Failed> {
    let threads = if question.threads.is_empty() { vec![cpus] } else { question.threads.clone() };
    if threads.iter().any(|threads| *threads < 2) {
        let one = "a team of one thread never waits: --threads takes numbers from 2 on";
        return Err(Failed::Refused(one.into()));
    }
    let mut seen = BTreeSet::new();
    let mut loads = Vec::new();
    for load in &question.loads {
        let busy = match load {
            Load::Busy(tasks) => (*tasks, false),
            Load::Half => ((cpus / 2).max(1), false),
            Load::Full => (cpus, false),
            Load::Team => (0, true),
        };
        if seen.insert(busy) {
            loads.push(busy);
        }
    }
    let mut columns = Vec::new();
    for region_ns in &question.regions {
        let pass = region_ns.saturating_add(question.between).max(1);
        let passes = (RUN_NS / pass).clamp(PASSES.0, PASSES.1);
        for threads in &threads {
            columns.extend(loads.iter().map(|(busy, second_team)| Column {
                region_ns: *region_ns,
                threads: *threads,
                busy: *busy,
                second_team: *second_team,
                passes,
            }));
        }
    }
    if columns.len() > MOST_COLUMNS {
        let many = columns.len();
        return Err(Failed::Refused(format!("{many} columns: at most {MOST_COLUMNS} are simulated")));
    }
    Ok(columns)
}

/// The applications of a cell.
fn programs(question: &Question, row: &SettingRow, column: &Column) -> Vec<String> {
    let times = format!("repeat {}", column.passes);
    let team = |name: &str, times: &str| {
        format!("apps.{name}={{ runtime: {}, program: {} }}", row.runtime, program(question, column, times))
    };
    let mut set = vec![team("team", &times)];
    if column.second_team {
        set.push(team("second", "forever"));
    } else if column.busy > 0 {
        set.push(format!("apps.busy={{ workload: hog, tasks: {}, background: true }}", column.busy));
    }
    set
}

/// The program of a team: threads that meet before and after each region, or ranks with two barriers.
fn program(question: &Question, column: &Column, times: &str) -> String {
    let gap = match question.between {
        0 => String::new(),
        ns => format!("run {}; ", length(ns)),
    };
    let spread = match question.spread {
        0 => String::new(),
        percent => format!(" uniform {percent}%"),
    };
    let region = format!("run {}{spread}", length(column.region_ns));
    if !is_of_processes(&question.runtime) {
        return format!(
            "{{ threads: {}, code: \"{times} {{ {gap}parallel {{ {region} }} }}\" }}",
            column.threads
        );
    }
    format!(
        "{{ kinds: {{ first: {{ code: \"{times} {{ {gap}barrier begin; {region}; barrier end }}\" }}, \
         others: {{ count: {}, code: \"{times} {{ barrier begin; {region}; barrier end }}\" }} }} }}",
        column.threads - 1
    )
}

/// Whether a regret in per cent is none: below half a per cent, or its 95 % interval holds 0 and there is a
/// seed with which it was below half a per cent. Few seeds with a large variation have wide intervals; what
/// is slower with each of them is slower.
pub(crate) fn is_level(regret: &Summary) -> bool {
    regret.mean < 0.5 || (regret.min < 0.5 && regret.ci95.is_some_and(|[low, _]| low <= 0.0))
}

/// The names under which a team's values are.
fn names(runtime: &str) -> &'static [&'static str] {
    if is_of_processes(runtime) { &["team-first", "team-others"] } else { &["team"] }
}

/// The sum of a metric over the kinds of the team, by seed.
fn of_seeds(trial: &Trial, names: &[&str], metric: &str) -> Option<Vec<f64>> {
    let one = |values: &Option<experiment::measured::Values>| {
        let values = values.as_ref()?;
        names.iter().map(|name| values.get(*name)?.get(metric).copied()).sum::<Option<f64>>()
    };
    trial.values.iter().map(one).collect()
}

/// Regrets of all cells, by setting and column.
fn judged(
    question: &Question,
    settings: usize,
    columns: &[Column],
    trials: &[Trial],
) -> Result<Vec<Vec<Cell>>, Failed> {
    let names = names(&question.runtime);
    let first = names.get(..1).unwrap_or_default();
    let missing = || Failed::Refused("a run has no time of the team".into());
    let times: Vec<Vec<f64>> = trials
        .iter()
        .map(|trial| of_seeds(trial, first, "run_time").ok_or_else(missing))
        .collect::<Result<_, _>>()?;
    let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len().max(1) as f64;
    let mut cells = Vec::new();
    for row in 0..settings {
        let mut of_row = Vec::new();
        for (at, column) in columns.iter().enumerate() {
            let place = row * columns.len() + at;
            let of_column = (0..settings).filter_map(|row| times.get(row * columns.len() + at));
            let best = of_column.min_by(|a, b| mean(a).total_cmp(&mean(b))).ok_or_else(missing)?;
            let own = times.get(place).ok_or_else(missing)?;
            let regrets: Vec<f64> =
                own.iter().zip(best).map(|(own, best)| (own / best - 1.0) * 100.0).collect();
            let passes: Vec<f64> = own.iter().map(|time| time / column.passes as f64).collect();
            let trial = trials.get(place).ok_or_else(missing)?;
            let cpu = of_seeds(trial, names, "cpu_time").ok_or_else(missing)?;
            let threads = f64::from(column.threads) * column.region_ns as f64;
            let work = (question.between as f64 + threads) * column.passes as f64 * 1e-9;
            let regret = summarise(&regrets).ok_or_else(missing)?;
            of_row.push(Cell {
                pass_s: summarise(&passes).ok_or_else(missing)?,
                level: is_level(&regret),
                regret,
                burnt: ((mean(&cpu) / work - 1.0) * 100.0).max(0.0),
            });
        }
        cells.push(of_row);
    }
    Ok(cells)
}
