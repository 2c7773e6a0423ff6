//! The comparison of the policies at one configuration of the sweep as a grid of strings, for text and
//! Markdown alike.

use crate::metrics::ALL_APPS;
use crate::references::REFERENCES;
use crate::result::{DEDICATED, Results};
use crate::statements::Table as Index;
use crate::statistics::Summary;

use crate::number;

/// Shown where nothing was measured.
const NOTHING: &str = "-";

/// A column: two header lines and one entry per row.
#[derive(Clone)]
pub(super) struct Column {
    pub(super) head: [String; 2],
    pub(super) entries: Vec<String>,
}

/// Columns that belong together and are not torn apart.
pub(super) type Group = Vec<Column>;

/// The comparison at one configuration.
pub(super) struct Comparison {
    /// Names of the rows: the dedicated runs, then the policies.
    pub(super) rows: Column,
    /// One group per foreground application, one of the whole run, one of the cpu-time breakdown.
    pub(super) groups: Vec<Group>,
}

/// Which parts of the cpu-time breakdown make a column of the table.
const BREAKDOWN: [([&str; 2], &[&str]); 9] = [
    (["useful", "work %"], &["breakdown_compute"]),
    (["memory", "stalls %"], &["breakdown_memory_stall"]),
    (["remote", "memory %"], &["breakdown_remote"]),
    (["shared", "core %"], &["breakdown_smt"]),
    (["waiting", "%"], &["breakdown_spin", "breakdown_yield"]),
    (["lock", "waiting %"], &["breakdown_lock_wait"]),
    (["context", "switch %"], &["breakdown_switch"]),
    (["other", "%"], OTHER),
    (["idle", "%"], &["breakdown_idle"]),
];

const OTHER: &[&str] = &[
    "breakdown_refill",
    "breakdown_migration",
    "breakdown_page_init",
    "breakdown_kernel",
    "breakdown_daemon",
];

/// What the rows and columns mean, for below the tables.
pub(super) fn legend(results: &Results) -> String {
    let partition = if results.best_partitions.is_empty() { "" } else { BEST_PARTITION };
    let window = if results.provenance.window { WINDOW } else { "" };
    format!("{LEGEND}{partition}{COLUMNS}{window}")
}

const WINDOW: &str = " Only a window of each run counts: in place of a run time and of the makespan there is \
    the time for each second of work.";

const LEGEND: &str = "dedicated: each application runs alone, pinned, with one thread per core, or with all \
    tasks where each has separate work. fair-share: an ideal scheduler divides the cpus evenly among the \
    tasks \
    that do not sleep at every instant at no cost; left out where a policy ended sooner. lower-bound: no \
    schedule ends sooner. ";

const BEST_PARTITION: &str = "best-partition: the best static partition that the search found. ";

const COLUMNS: &str = "slowdown: run time over the run time of the dedicated run. throughput: run times of \
    the dedicated \
    runs one after the other over the makespan; above 1, sharing finishes earlier. STP: sum of dedicated \
    time / turnaround; \
    ANTT: mean of turnaround / dedicated time; Jain's index of progress, 1 = all alike. queue, turnaround, \
    waiting, first run: from arrival. cpu share: of all programs. recovered: how much of \
    the difference in \
    makespan between the first policy and the fair share a policy recovers. variation: largest over \
    smallest run time of the \
    seeds, minus 1, of the application that varies most. The columns from useful work to idle show where \
    the cpu time went, \
    in % of cpus x makespan: work of the programs, stalls on memory, access to memory of other nodes, \
    hardware threads that \
    share a core, waiting (polling and yielding), context switches, other (cache refills, migrations, \
    first writes to pages, \
    kernel, policy daemons), idle.";

impl Comparison {
    /// The comparison at `configuration`.
    pub(super) fn at(index: &Index<'_>, configuration: usize) -> Self {
        let policies = policies(index, configuration);
        let table = Table { results: index.results, index, configuration, policies: &policies };
        let mut groups: Vec<Group> = index.results.foreground().map(|app| table.app(app)).collect();
        groups.push(table.whole());
        groups.push(table.breakdown());
        let entries = policies.iter().map(|policy| table.row_name(policy)).collect();
        Self { rows: Column { head: ["policy".into(), String::new()], entries }, groups }
    }
}

/// The dedicated runs if there are any, then all policies, then the references.
fn policies<'a>(index: &Index<'a>, configuration: usize) -> Vec<&'a str> {
    let measured = |label: &&str| index.is_measured(configuration, label);
    let names = index.policies().iter().map(String::as_str);
    let references = REFERENCES.iter().map(|reference| reference.label).filter(measured);
    [DEDICATED].into_iter().filter(measured).chain(names).chain(references).collect()
}

struct Table<'a> {
    results: &'a Results,
    index: &'a Index<'a>,
    configuration: usize,
    policies: &'a [&'a str],
}

impl Table<'_> {
    fn column(&self, head: [&str; 2], entry: impl Fn(&str) -> Option<String>) -> Column {
        let entries = self.policies.iter().map(|p| entry(p).unwrap_or_else(|| NOTHING.into())).collect();
        Column { head: head.map(str::to_owned), entries }
    }

    fn get(&self, policy: &str, app: &str, metric: &str) -> Option<&Summary> {
        self.index.get(self.configuration, policy, app, metric)
    }

    /// A value with the intervals of seeds and of uncertain inputs.
    fn shown(&self, policy: &str, app: &str, metric: &str, scale: f64) -> Option<String> {
        Some(self.index.cell(self.configuration, policy, app, metric)?.shown(scale))
    }

    /// Run time; with dedicated runs, slowdown; where an application waited for admission, how long; where it
    /// has copies or answers requests, how these times are spread; the share of the cpu time.
    fn app(&self, app: &str) -> Group {
        let slowdown =
            self.column([app, "slowdown"], |p| Some(number::ratio(self.get(p, app, "slowdown")?.mean)));
        let share =
            self.column([app, "cpu share %"], |p| Some(number::percent(self.get(p, app, "cpu_share")?.mean)));
        let times = |all: &[(&str, &str)]| -> Vec<Column> {
            all.iter().map(|(head, metric)| self.times(app, head, metric)).collect()
        };
        let time = self.times(app, "time", self.index.time());
        let queued = times(&[("queue", "queue_time")]);
        let queued: Vec<Column> = queued.into_iter().filter(|c| !is_zero(c)).collect();
        let copies = self.policies.iter().any(|p| self.get(p, app, "turnaround_p99").is_some());
        let jobs = if queued.is_empty() && !copies {
            Vec::new()
        } else {
            times(&[
                ("turnaround", "turnaround"),
                ("turnaround p99", "turnaround_p99"),
                ("waiting", "waiting_time"),
                ("first run", "first_response"),
            ])
        };
        let requests = times(&[
            ("response", "response_time"),
            ("response p50", "response_time_median"),
            ("response p90", "response_time_p90"),
            ("response p99", "response_time_p99"),
            ("response max", "response_time_max"),
            ("wake-up p99", "wakeup_latency_p99"),
            ("lateness", "lateness"),
            ("lateness p99", "lateness_p99"),
            ("lateness max", "lateness_max"),
        ]);
        let missed = self
            .column([app, "missed %"], |p| Some(number::percent(self.get(p, app, "missed_deadlines")?.mean)));
        let rest = [vec![slowdown], queued, jobs, requests, vec![missed, share]].concat();
        [vec![time], rest.into_iter().filter(|column| !is_blank(column)).collect()].concat()
    }

    /// A column of times in the unit of the largest one.
    fn times(&self, app: &str, head: &str, metric: &str) -> Column {
        let longest = self.policies.iter().filter_map(|p| Some(self.get(p, app, metric)?.mean));
        let (unit, length) = number::time_unit(longest.map(f64::abs).fold(0.0, f64::max));
        self.column([app, &format!("{head}, {unit}")], |p| self.shown(p, app, metric, length))
    }

    fn whole(&self) -> Group {
        let shared = self.results.foreground().count() > 1;
        let throughput = self
            .column(["throughput", ""], |p| Some(number::ratio(self.get(p, ALL_APPS, "throughput")?.mean)));
        let variation = self.column(["variation", "%"], |p| {
            let of = |app| Some(self.get(p, app, "variation")?.mean);
            self.results.foreground().filter_map(of).reduce(f64::max).map(number::variation)
        });
        let migrations = self
            .column(["migrations", ""], |p| Some(number::count(self.get(p, ALL_APPS, "migrations")?.mean)));
        let recovered = self
            .column(["recovered", "%"], |p| Some(number::count(self.get(p, ALL_APPS, "recovered")?.mean)));
        let throughput = Some(throughput).filter(|_| shared);
        let ratio =
            |head, metric| self.column(head, |p| Some(number::ratio(self.get(p, ALL_APPS, metric)?.mean)));
        let together = [
            ratio(["STP", ""], "stp"),
            ratio(["ANTT", ""], "antt"),
            ratio(["Jain's", "index"], "jain_index"),
            ratio(["worst", "slowdown"], "worst_slowdown"),
        ];
        throughput
            .into_iter()
            .chain(together)
            .chain([recovered, variation, migrations])
            .filter(|c| !is_blank(c))
            .collect()
    }

    fn breakdown(&self) -> Group {
        let part = |(head, parts): ([&str; 2], &[&str])| {
            self.column(head, |p| {
                let shares = parts.iter().map(|part| Some(self.get(p, ALL_APPS, part)?.mean));
                shares.sum::<Option<f64>>().map(number::percent)
            })
        };
        BREAKDOWN.into_iter().map(part).collect()
    }

    /// The policy, with the number of replicates that completed when some did not.
    fn row_name(&self, policy: &str) -> String {
        let failed = self.index.failed(self.configuration, policy);
        let repeat = self.results.provenance.repeat as usize;
        match failed {
            0 => policy.to_owned(),
            _ if policy == DEDICATED => format!("{policy} (!)"),
            _ => format!("{policy} ({} of {repeat})", repeat.saturating_sub(failed)),
        }
    }
}

/// Whether a column has only zeros.
fn is_zero(column: &Column) -> bool {
    column.entries.iter().all(|e| e == NOTHING || !e.contains(|c: char| ('1'..='9').contains(&c)))
}

fn is_blank(column: &Column) -> bool {
    column.entries.iter().all(|e| e == NOTHING)
}
