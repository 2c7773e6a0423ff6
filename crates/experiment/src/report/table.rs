//! The comparison of the policies at one point of the sweep as a grid of strings, for text and Markdown alike.

use crate::metrics::ALL_APPS;
use crate::result::{DEDICATED, Results};
use crate::statistics::Summary;
use crate::yardsticks::YARDSTICKS;

use super::number;

/// Shown where nothing was measured.
const NOTHING: &str = "-";

/// A column: two header lines and one entry per row.
pub(super) struct Column {
    pub(super) head: [String; 2],
    pub(super) entries: Vec<String>,
}

/// Columns that belong together and are not torn apart.
pub(super) type Group = Vec<Column>;

/// The comparison at one point.
pub(super) struct Comparison {
    /// Names of the rows: the dedicated runs, then the policies.
    pub(super) rows: Column,
    /// One group per foreground application, one of the whole run, one of the account.
    pub(super) groups: Vec<Group>,
}

/// Which account parts make a column of the table.
const ACCOUNT: [([&str; 2], &[&str]); 8] = [
    (["com-", "pute"], &["account_compute"]),
    (["stall", "%"], &["account_memory_stall"]),
    (["re-", "mote"], &["account_remote"]),
    (["smt", "%"], &["account_smt"]),
    (["wait", "%"], &["account_spin", "account_yield"]),
    (["swit-", "ching"], &["account_switch"]),
    (["other", "%"], &["account_refill", "account_migration", "account_kernel", "account_daemon"]),
    (["idle", "%"], &["account_idle"]),
];

/// What the rows and columns mean, for below the tables.
pub(super) fn legend(results: &Results) -> String {
    let cut = if results.best_partitions.is_empty() { "" } else { BEST_CUT };
    format!("{LEGEND}{cut}{COLUMNS}")
}

const LEGEND: &str = "dedicated: each application alone, one thread per core, pinned. fluid: the ideal share, M/N of each of M \
    cpus and N tasks at every instant, free of charge. bound: no schedule ends sooner. ";

const BEST_CUT: &str = "best-cut: the best static partition found. ";

const COLUMNS: &str = "slowdown: run time over that of the dedicated run. throughput: time of the dedicated runs one after \
    the other over the makespan; above 1, sharing wins. gap closed: how much of the gap in makespan between the first \
    policy and fluid. spread: max/min - 1 of the run times over the replicates, the worst application. Where the cpu \
    time went, in % of cpus x makespan: computing, stalls on memory, access to remote memory, busy siblings on the core \
    (smt), waiting (polling and yielding), context switching, other (refill of caches, migration, kernel, daemons), idle.";

impl Comparison {
    /// The comparison at `point`.
    pub(super) fn at(results: &Results, point: &str) -> Self {
        let policies = policies(results, point);
        let table = Table { results, point, policies: &policies };
        let mut groups: Vec<Group> = results.foreground().map(|app| table.app(app)).collect();
        groups.push(table.whole());
        groups.push(table.account());
        let entries = policies.iter().map(|policy| table.row_name(policy)).collect();
        Self { rows: Column { head: ["policy".into(), String::new()], entries }, groups }
    }
}

/// The dedicated runs if there are any, then all policies, then the yardsticks.
fn policies<'a>(results: &'a Results, point: &str) -> Vec<&'a str> {
    let measured = |label: &&str| results.cells.iter().any(|c| c.policy == *label && c.point == point);
    let names = results.provenance.policies.iter().map(String::as_str);
    let yardsticks = YARDSTICKS.iter().map(|yardstick| yardstick.label).filter(measured);
    [DEDICATED].into_iter().filter(measured).chain(names).chain(yardsticks).collect()
}

struct Table<'a> {
    results: &'a Results,
    point: &'a str,
    policies: &'a [&'a str],
}

impl Table<'_> {
    fn column(&self, head: [&str; 2], entry: impl Fn(&str) -> Option<String>) -> Column {
        let entries = self.policies.iter().map(|p| entry(p).unwrap_or_else(|| NOTHING.into())).collect();
        Column { head: head.map(str::to_owned), entries }
    }

    fn get(&self, policy: &str, app: &str, metric: &str) -> Option<&Summary> {
        self.results.get(self.point, policy, app, metric)
    }

    /// Time; with dedicated runs, slowdown; where anybody had to wait for admission, how long.
    fn app(&self, app: &str) -> Group {
        let longest = self.policies.iter().filter_map(|p| Some(self.get(p, app, "run_time")?.mean));
        let (unit, length) = number::time_unit(longest.fold(0.0, f64::max));
        let time =
            self.column([app, unit], |p| Some(number::mean_and_error(self.get(p, app, "run_time")?, length)));
        let slowdown =
            self.column([app, "slow"], |p| Some(number::ratio(self.get(p, app, "slowdown")?.mean)));
        let waited = |p: &str| Some(self.get(p, app, "queue_time")?.mean).filter(|wait| *wait > 0.0);
        let longest = self.policies.iter().filter_map(|p| waited(p)).fold(0.0, f64::max);
        let (unit, length) = number::time_unit(longest);
        let head = format!("queue {unit}");
        let queue = self.column([app, &head], |p| {
            waited(p)?;
            Some(number::mean_and_error(self.get(p, app, "queue_time")?, length))
        });
        [time, slowdown, queue]
            .into_iter()
            .enumerate()
            .filter(|(at, c)| *at == 0 || !is_blank(c))
            .map(|(_, c)| c)
            .collect()
    }

    fn whole(&self) -> Group {
        let shared = self.results.foreground().count() > 1;
        let throughput =
            self.column(["thru-", "put"], |p| Some(number::ratio(self.get(p, ALL_APPS, "throughput")?.mean)));
        let spread = self.column(["spread", "%"], |p| {
            let of = |app| Some(self.get(p, app, "spread")?.mean);
            self.results.foreground().filter_map(of).reduce(f64::max).map(number::spread)
        });
        let migrations = self
            .column(["migra-", "tions"], |p| Some(number::count(self.get(p, ALL_APPS, "migrations")?.mean)));
        let gap = self
            .column(["gap", "closed%"], |p| Some(number::count(self.get(p, ALL_APPS, "gap_closed")?.mean)));
        let throughput = Some(throughput).filter(|_| shared);
        throughput.into_iter().chain([gap, spread, migrations]).filter(|c| !is_blank(c)).collect()
    }

    fn account(&self) -> Group {
        let part = |(head, parts): ([&str; 2], &[&str])| {
            self.column(head, |p| {
                let shares = parts.iter().map(|part| Some(self.get(p, ALL_APPS, part)?.mean));
                shares.sum::<Option<f64>>().map(number::percent)
            })
        };
        ACCOUNT.into_iter().map(part).collect()
    }

    /// The policy, with the number of replicates that completed when some did not.
    fn row_name(&self, policy: &str) -> String {
        let failed =
            self.results.notes.iter().filter(|n| n.policy == policy && n.point == self.point).count();
        let repeat = self.results.provenance.repeat as usize;
        match failed {
            0 => policy.to_owned(),
            _ if policy == DEDICATED => format!("{policy} (!)"),
            _ => format!("{policy} ({} of {repeat})", repeat.saturating_sub(failed)),
        }
    }
}

fn is_blank(column: &Column) -> bool {
    column.entries.iter().all(|e| e == NOTHING)
}
