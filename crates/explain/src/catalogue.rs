//! The entries of the registries as rows for lists: policies, workloads, machines, kernels, runtimes,
//! metrics, scenarios.

use std::io::{self, Write};

use kernels::KERNELS;
use notation::parameter::{Kind, Parameter};
use notation::registry::Entry;
use notation::text::hanging;
use policies::PolicyRegistry;
use serde::Serialize;

use experiment::metrics::{METRICS, Scope};
use scenario::built_in::{BUILT_IN, BuiltIn};
use scenario::configuration::Axis;
use scenario::plan::Experiment;
use scenario::{Overrides, load_with};
use workloads::WORKLOADS;
use workloads::runtimes::RUNTIMES;

/// A registry that can be listed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Registry {
    /// Scheduling policies.
    Policies,
    /// Workloads.
    Workloads,
    /// Machines.
    Machines,
    /// Operating-system kernels.
    Kernels,
    /// Parallel runtimes.
    Runtimes,
    /// Metrics of results.
    Metrics,
    /// Built-in scenarios.
    Scenarios,
}

impl Registry {
    /// What one of its entries is called: `policy`.
    #[must_use]
    pub const fn noun(self) -> &'static str {
        match self {
            Self::Policies => "policy",
            Self::Workloads => "workload",
            Self::Machines => "machine",
            Self::Kernels => "kernel",
            Self::Runtimes => "runtime",
            Self::Metrics => "metric",
            Self::Scenarios => "built-in scenario",
        }
    }
}

/// An entry of a registry.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Row {
    /// Its name.
    pub name: String,
    /// One line.
    pub summary: String,
    /// Where it comes from; may be empty.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub source: String,
    /// More about it, in sentences; may be empty.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub about: String,
    /// Its parameters.
    pub parameters: Vec<ParameterRow>,
    /// Of a scenario: what it runs.
    #[serde(flatten, skip_serializing_if = "Option::is_none")]
    pub extent: Option<Extent>,
}

/// What a built-in scenario runs.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Extent {
    /// Its file in the repository.
    pub path: String,
    /// Its machines.
    pub machines: Vec<String>,
    /// Its applications.
    pub apps: Vec<String>,
    /// Labels of its policies.
    pub policies: Vec<String>,
    /// The swept paths with their values.
    pub sweep: Vec<Axis>,
    /// Number of replicates.
    pub repeat: u32,
    /// Number of runs, dedicated ones included.
    pub runs: usize,
    /// The number of runs and where it comes from, as `oversim check` prints it.
    pub size: String,
}

impl Extent {
    fn of(scenario: &BuiltIn, experiment: Experiment) -> Self {
        Self {
            path: scenario.path.into(),
            machines: experiment.machines.iter().map(|machine| machine.name.clone()).collect(),
            size: experiment.size(),
            repeat: experiment.repeat,
            runs: experiment.runs.len(),
            apps: experiment.apps,
            policies: experiment.policies,
            sweep: experiment.axes,
        }
    }
}

/// A parameter of an entry, values written as in a scenario.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct ParameterRow {
    /// Its name.
    pub name: String,
    /// What it is measured in: `duration`, `size`, `rate`, `count`, `factor`, `percent`, `flag`, `choice`,
    /// `cpus` (a list) or `counts` (a list).
    pub kind: String,
    /// True when it can also be given for each application by name.
    #[serde(skip_serializing_if = "is_false")]
    pub per_app: bool,
    /// Its words, if it is a choice.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub words: Vec<String>,
    /// Its default.
    pub default: String,
    /// Smallest value of a number.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub min: Option<String>,
    /// Largest value of a number.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max: Option<String>,
    /// What it means and where the default comes from.
    pub about: String,
}

impl ParameterRow {
    /// Its legal values.
    pub(crate) fn range(&self) -> String {
        match (&self.min, &self.max) {
            (Some(min), Some(max)) => format!("{min} to {max}"),
            _ if self.kind == "cpus" => "a list of cpus".into(),
            _ if self.words.is_empty() => "true or false".into(),
            _ => self.words.join(" | "),
        }
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks for a reference")]
const fn is_false(flag: &bool) -> bool {
    !*flag
}

/// The entries of a registry, in its order.
#[must_use]
pub fn rows(registry: Registry) -> Vec<Row> {
    rows_with(&PolicyRegistry::default(), registry)
}

/// As [`rows`], with these policies.
#[must_use]
pub fn rows_with(policies: &PolicyRegistry, registry: Registry) -> Vec<Row> {
    match registry {
        Registry::Policies => policies.entries().map(policy).collect(),
        Registry::Workloads => WORKLOADS.entries.iter().map(|e| entry(e, &WORKLOADS.about(e))).collect(),
        Registry::Machines => machines::entries().iter().map(machine).collect(),
        Registry::Kernels => KERNELS.entries.iter().map(|e| entry(e, "")).collect(),
        Registry::Runtimes => RUNTIMES.entries.iter().map(|e| entry(e, "")).collect(),
        Registry::Metrics => METRICS.iter().map(metric).collect(),
        Registry::Scenarios => BUILT_IN.iter().map(|built_in| scenario(built_in, policies)).collect(),
    }
}

fn row(name: &str, summary: &str, source: &str, about: &str, parameters: &[Parameter]) -> Row {
    Row {
        name: name.into(),
        summary: summary.into(),
        source: source.into(),
        about: about.trim().into(),
        parameters: parameters.iter().map(parameter).collect(),
        extent: None,
    }
}

fn scenario(built_in: &BuiltIn, policies: &PolicyRegistry) -> Row {
    // A test reads every built-in scenario.
    let read = load_with(policies, built_in.name, built_in.text, &Overrides::default()).ok();
    let extent = read.map(|experiment| Extent::of(built_in, experiment));
    Row { extent, ..row(built_in.name, &built_in.about(), "", &built_in.comment(), &[]) }
}

fn policy(e: &policies::Entry) -> Row {
    let about = format!("A {}-level policy. {}", e.level.name(), e.about());
    row(e.name, e.summary, e.source, &about, e.parameters)
}

fn entry<T>(e: &Entry<T>, about: &str) -> Row {
    row(e.name, e.summary, e.source, about, e.parameters)
}

fn machine(e: &machines::Entry) -> Row {
    let about = format!(
        "{} cpus: {}. Its parameters are those of every machine.",
        e.topology.cpus(),
        e.topology_text
    );
    row(&e.name, &e.summary, "", &about, e.values.table())
}

fn metric(m: &experiment::metrics::Metric) -> Row {
    let of = if m.scope == Scope::App { "of each application" } else { "of the whole run" };
    row(m.name, &format!("{}, in {}, {of}", m.about, m.unit), "", "", &[])
}

pub(crate) fn parameter(p: &Parameter) -> ParameterRow {
    let kind = p.kind.of_one();
    let number = !matches!(kind, Kind::Choice(_) | Kind::Flag | Kind::Cpus);
    let words = if let Kind::Choice(words) = kind { words } else { &[] };
    ParameterRow {
        name: p.name.into(),
        kind: kind_name(kind).into(),
        per_app: matches!(p.kind, Kind::PerApp(_)),
        words: words.iter().map(|w| (*w).into()).collect(),
        default: if kind.is_list() { "[]".into() } else { kind.show(p.default) },
        min: number.then(|| p.kind.show(p.min)),
        max: number.then(|| p.kind.show(p.max)),
        about: p.about.into(),
    }
}

const fn kind_name(kind: Kind) -> &'static str {
    match kind {
        Kind::Duration => "duration",
        Kind::Size => "size",
        Kind::Rate => "rate",
        Kind::Count => "count",
        Kind::Signed => "signed",
        Kind::Factor => "factor",
        Kind::Percent => "percent",
        Kind::Choice(_) => "choice",
        Kind::Flag => "flag",
        Kind::Cpus => "cpus",
        Kind::Counts => "counts",
        Kind::PerApp(kind) => kind_name(*kind),
    }
}

/// Widest text: longer lines are hard to read.
const WIDEST: usize = 120;

/// The built-in scenarios by the question that they ask; a test knows that each has a place.
const GROUPS: [(&str, &[&str]); 11] = [
    (
        "Waiting: spin, yield, block, locks",
        &[
            "spin_yield_block",
            "locks",
            "cfs_vs_posix_yield",
            "barrier_latency",
            "blocktime",
            "all_to_all_lockstep",
            "waiting_on_a_modern_kernel",
            "yield_under_kernels",
            "yield_to",
            "yield_to_o1",
            "short_waits",
            "asleep_at_barriers",
            "polling_in_order",
        ],
    ),
    (
        "Balancing: more tasks than cores, uneven cores",
        &[
            "seventeen_on_sixteen",
            "odd_thread",
            "one_thread_per_core",
            "one_queue_or_many",
            "even_or_balanced",
            "ep_eight_per_core",
            "twice_too_many_threads",
            "work_stealing",
            "big_little",
            "turns_on_uneven_cores",
            "turbo_steps",
            "thousand_cores",
            "fragile_policies",
        ],
    ),
    (
        "Sharing: several programs on one machine",
        &[
            "two_spinning_programs",
            "space_or_time",
            "cg_ft_share",
            "spec_pair",
            "parbench_node",
            "make_competitor",
            "gang_fragmentation",
            "gangs_that_do_not_fill",
            "sleepers_and_gangs",
            "lewi",
            "lewi_fine_grain",
            "system_or_self",
        ],
    ),
    (
        "Memory, caches and hardware threads",
        &[
            "cache_refill",
            "shared_cache",
            "bandwidth_sharing",
            "streams_and_compute",
            "first_touch_startup",
            "numa_first_touch",
            "remote_memory",
            "moved_memory",
            "numa_balancing_heals",
            "numa_balancing_gathers",
            "numa_balancing_hurts",
            "lgroup_homes",
            "smt_pairs",
        ],
    ),
    ("Noise: a busy task, daemons, services", &["cpu_hog", "stranger_on_a_core", "services_on_one_core"]),
    (
        "Jobs, containers and today's systems",
        &[
            "job_queue",
            "batch_slots",
            "backfilling",
            "cpu_limit",
            "sessions",
            "hybrid_mpi_openmp",
            "queue_of_requests",
        ],
    ),
    (
        "Classics of the textbook",
        &[
            "two_hogs_one_core",
            "interactive_beside_hogs",
            "short_and_long",
            "urgent_and_bulk",
            "job_lengths",
            "share_since_the_start",
            "fixed_priorities",
            "periodic_tasks",
            "dining_philosophers",
        ],
    ),
    (
        "Lessons on operating systems",
        &[
            "three_jobs",
            "io_and_cpu",
            "io_overlap",
            "gaming_the_queue",
            "lottery_and_stride",
            "three_to_one",
            "six_tasks",
            "nice_levels",
            "heavy_beside_light",
            "one_lock",
            "lock_convoy",
            "pathfinder",
            "endless_fifo",
            "serial_part",
        ],
    ),
    (
        "Lessons on parallel computing",
        &[
            "two_working_sets",
            "how_to_wait",
            "threads_on_sixteen_cores",
            "each_its_own_core",
            "yield_beside_a_worker",
            "spinning_jobs",
            "half_of_the_machine",
            "who_touches_first",
            "hog_beside_barriers",
            "too_many_threads",
        ],
    ),
    (
        "From Linux 2.6 to today",
        &["sleeper_beside_a_hog", "server_beside_a_hog", "below_the_quota", "client_and_server"],
    ),
    (
        "Examples of OSTEP, the textbook Operating Systems: Three Easy Pieces",
        &[
            "fifo",
            "convoy",
            "late_arrivals",
            "round_robin",
            "homework_7",
            "mlfq",
            "lottery",
            "tickets",
            "multi_cpu",
            "multi_cache",
            "multi_affinity",
            "multi_steal",
        ],
    ),
];

/// Writes rows as a list: name and summary, lines of at most `width` columns; scenarios in groups.
///
/// # Errors
/// Errors of writing to `out`.
pub fn write_list(registry: Registry, rows: &[Row], out: &mut dyn Write, width: usize) -> io::Result<()> {
    let wide = rows.iter().map(|row| row.name.chars().count()).max().unwrap_or(0);
    let indent = if registry == Registry::Scenarios { 2 } else { 0 };
    let line = |out: &mut dyn Write, row: &Row| {
        let head = format!("{:indent$}{:wide$} ", "", row.name);
        let rest = " ".repeat(indent + wide + 2);
        let lines = hanging(&row.summary, [&format!("{head} "), &rest], width.min(WIDEST));
        writeln!(out, "{}", lines.join("\n"))
    };
    if registry != Registry::Scenarios {
        return rows.iter().try_for_each(|row| line(out, row));
    }
    let named = |name: &&str| rows.iter().find(|row| row.name == **name);
    for (title, names) in &GROUPS {
        writeln!(out, "{title}")?;
        names.iter().filter_map(named).try_for_each(|row| line(out, row))?;
        writeln!(out)?;
    }
    let grouped = |row: &&Row| GROUPS.iter().any(|(_, names)| names.contains(&row.name.as_str()));
    for row in rows.iter().filter(|row| !grouped(row)) {
        line(out, row)?;
    }
    let how = "`oversim list scenarios NAME` describes one, `oversim run NAME` runs it.";
    writeln!(out, "{}", hanging(how, ["", ""], width.min(WIDEST)).join("\n"))
}

/// Writes rows with everything about them, lines of at most `width` columns.
///
/// # Errors
/// Errors of writing to `out`.
pub fn write_detail(rows: &[Row], out: &mut dyn Write, width: usize) -> io::Result<()> {
    let width = width.min(WIDEST);
    for row in rows {
        let title = format!("{}: {}", row.name, row.summary);
        writeln!(out, "{}", hanging(&title, ["", "  "], width).join("\n"))?;
        if !row.about.is_empty() {
            writeln!(out, "\n{}", flowed(&row.about, width))?;
        }
        if !row.source.is_empty() {
            let source = format!("Source: {}", row.source);
            writeln!(out, "\n{}", hanging(&source, ["", "  "], width).join("\n"))?;
        }
        if let Some(extent) = &row.extent {
            write_extent(&row.name, extent, out, width)?;
        }
        write_parameters(&row.parameters, out, width)?;
    }
    Ok(())
}

/// A text in lines of at most `width` columns: paragraphs and items are broken anew, indented lines stay.
fn flowed(text: &str, width: usize) -> String {
    let mut parts: Vec<String> = Vec::new();
    // Whether the next line may go on with the last part.
    let mut open = false;
    for line in text.lines() {
        let stays = line.is_empty() || line.starts_with(' ') && !open;
        match parts.last_mut() {
            Some(last) if open && !line.is_empty() && !line.starts_with("- ") => {
                last.push(' ');
                last.push_str(line.trim());
            }
            _ => {
                parts.push(line.to_owned());
                open = !stays;
                continue;
            }
        }
        open = true;
    }
    let broken = |part: &String| match part {
        part if part.starts_with(' ') || part.is_empty() => part.clone(),
        part if part.starts_with("- ") => hanging(part, ["", "  "], width).join("\n"),
        part => hanging(part, ["", ""], width).join("\n"),
    };
    parts.iter().map(broken).collect::<Vec<_>>().join("\n")
}

fn write_parameters(parameters: &[ParameterRow], out: &mut dyn Write, width: usize) -> io::Result<()> {
    if !parameters.is_empty() {
        writeln!(out, "\nParameters:")?;
    }
    for p in parameters {
        let range = match p.kind.as_str() {
            "counts" => format!("a list, each {}", p.range()),
            _ => p.range(),
        };
        let range = if p.per_app { format!("{range}; by application, too") } else { range };
        let head = format!("{}: {} ({range})", p.name, p.default);
        writeln!(out, "{}", hanging(&head, ["  ", "      "], width).join("\n"))?;
        writeln!(out, "{}", hanging(&p.about, ["      ", "      "], width).join("\n"))?;
    }
    Ok(())
}

fn write_extent(name: &str, extent: &Extent, out: &mut dyn Write, width: usize) -> io::Result<()> {
    let mut say = |key: &str, value: &str| {
        let lines = hanging(value, [&format!("{key:<10} "), "           "], width);
        writeln!(out, "{}", lines.join("\n"))
    };
    say("\nMachine:", &extent.machines.join(", "))?;
    say("Programs:", &extent.apps.join(", "))?;
    say("Policies:", &extent.policies.join(", "))?;
    for axis in &extent.sweep {
        say("Sweep:", &format!("{} = {}", axis.path, axis.values.join(", ")))?;
    }
    say("Size:", &extent.size)?;
    writeln!(out, "\nRun it:    oversim run {name}\nCopy it:   oversim init {name}")
}

/// Writes rows as one JSON array.
///
/// # Errors
/// Errors of writing to `out`.
pub fn write_json(rows: &[Row], out: &mut dyn Write) -> io::Result<()> {
    serde_json::to_writer_pretty(&mut *out, rows)?;
    out.write_all(b"\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_registry_has_entries_with_a_summary() {
        use Registry::{Kernels, Machines, Metrics, Policies, Runtimes, Scenarios, Workloads};
        for registry in [Policies, Workloads, Machines, Kernels, Runtimes, Metrics, Scenarios] {
            let rows = rows(registry);
            assert!(!rows.is_empty(), "{registry:?}");
            assert!(rows.iter().all(|r| !r.name.is_empty() && !r.summary.is_empty()), "{registry:?}");
        }
    }

    #[test]
    fn every_scenario_is_in_one_group() {
        let grouped: Vec<&str> = GROUPS.iter().flat_map(|(_, names)| names.iter().copied()).collect();
        for built_in in BUILT_IN {
            let times = grouped.iter().filter(|name| **name == built_in.name).count();
            assert_eq!(times, 1, "{} stands in {times} groups of GROUPS", built_in.name);
        }
        assert_eq!(grouped.len(), BUILT_IN.len(), "a group names a scenario that is not built in");
    }

    #[test]
    fn lists_and_details_fit_into_eighty_columns() {
        use Registry::{Kernels, Machines, Metrics, Policies, Runtimes, Scenarios, Workloads};
        for registry in [Policies, Workloads, Machines, Kernels, Runtimes, Metrics, Scenarios] {
            let (rows, mut out) = (rows(registry), Vec::new());
            write_list(registry, &rows, &mut out, 80).unwrap();
            write_detail(&rows, &mut out, 80).unwrap();
            let text = String::from_utf8(out).unwrap();
            for line in text.lines().filter(|line| line.chars().count() > 80) {
                // A command, or a list without blanks.
                let whole = line.trim_start().starts_with("oversim ") || line.trim().split(' ').count() == 1;
                assert!(whole, "{registry:?}: {line}");
            }
        }
    }

    #[test]
    fn paragraphs_flow_and_indented_lines_stay() {
        let text = "One two\nthree.\n\n- item one\n  goes on\n- two\n\n  oversim run x\n";
        assert_eq!(flowed(text, 80), "One two three.\n\n- item one goes on\n- two\n\n  oversim run x");
        assert_eq!(flowed("one two three", 8), "one two\nthree");
    }

    #[test]
    fn a_scenario_shows_its_comment_and_what_it_runs() {
        let row = rows(Registry::Scenarios).into_iter().find(|row| row.name == "cg_ft_share").unwrap();
        let mut out = Vec::new();
        write_detail(&[row], &mut out, 120).unwrap();
        let text = String::from_utf8(out).unwrap();
        for part in
            ["Watch for:", "Policies:  LOAD, PIN, SPEED", "threads_per_core = 1, 2, 4", "60 runs (6 policies"]
        {
            assert!(text.contains(part), "{part}: {text}");
        }
    }

    #[test]
    fn parameters_are_shown_as_written_in_a_scenario() {
        let p = Parameter {
            name: "interval",
            kind: Kind::Duration,
            default: 100_000_000,
            min: 1_000_000,
            max: 10_000_000_000,
            about: "between two checks",
        };
        let row = row("x", "a thing", "", "", &[p]);
        let mut out = Vec::new();
        write_detail(&[row], &mut out, 120).unwrap();
        let text = String::from_utf8(out).unwrap();
        assert!(text.contains("interval: 100ms (1ms to 10s)\n      between two checks"), "{text}");
    }
}
