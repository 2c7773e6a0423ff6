//! Response times of a pod by its limit, and the smallest limit that meets a target.

mod cells;
mod quantity;
mod read;
mod search;
mod show;

use experiment::PolicyRegistry;
use experiment::statistics::Summary;
use serde::Serialize;

use super::page::Form;
use crate::trial::{Failed, Means};
use cells::Runs;

pub use quantity::{Service, Statistic, Target, burst, cpus, period, procs, rate, service, target};
pub use read::{Read, read};

/// Period of `cpu.max` unless another one is stated: that of the kubelet (`cpuCFSQuotaPeriod`).
pub const PERIOD_NS: u64 = 100_000_000;
/// Least quota, in ns: 1 ms (`min_cfs_quota_period` of kernel/sched/core.c).
const LEAST_QUOTA_NS: u64 = 1_000_000;
/// Most cells (limits x GOMAXPROCS x bursts).
const MOST_CELLS: usize = 200;

/// How many threads of the pod compute at a time: GOMAXPROCS.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Procs {
    /// Not set, with Go 1.25 and later: the limit rounded up, at least 2, at most the cpus of the node.
    Limit,
    /// Not set, before Go 1.25: all cpus of the node.
    Node,
    /// This number.
    Count(u32),
}

impl Procs {
    /// Its value with a limit in thousandths of a cpu, on a node with these cpus (runtime/cgroup_linux.go,
    /// `adjustCgroupGOMAXPROCS`).
    #[must_use]
    pub fn value(self, limit: u64, cpus: u32) -> u32 {
        match self {
            Self::Limit => u32::try_from(limit.div_ceil(1_000)).unwrap_or(u32::MAX).max(2).min(cpus),
            Self::Node => cpus,
            Self::Count(count) => count,
        }
    }
}

/// What is asked.
#[derive(Clone, PartialEq, Debug)]
pub struct Question {
    /// Name of the pod for messages.
    pub name: String,
    /// The node as a scenario names it.
    pub machine: String,
    /// The kernel.
    pub kernel: String,
    /// Requests in a second, in the mean; they come independently of each other.
    pub rate: f64,
    /// Cpu time of a request.
    pub service: Service,
    /// Parts of a request's work that are done side by side.
    pub parallel: u32,
    /// Request of the pod, in thousandths of a cpu; none: that of its limit.
    pub request: Option<u64>,
    /// The limit of the pod itself, in thousandths of a cpu.
    pub limit: Option<u64>,
    /// Period of the quota, in ns, 1 ms to 1 s.
    pub period: u64,
    /// `cpu.max.burst`, in ns.
    pub bursts: Vec<u64>,
    /// GOMAXPROCS of the pod itself.
    pub procs: Procs,
    /// Requests of other pods, in thousandths of a cpu, which keep all cpus busy; 0: there are none.
    pub beside: u64,
    /// Limits of the table, in thousandths of a cpu.
    pub limits: Vec<u64>,
    /// What has to be met.
    pub target: Option<Target>,
    /// Seeds of each cell, at least 2.
    pub seeds: u32,
    /// The first seed.
    pub seed: u64,
}

/// Response times of one limit.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Times {
    /// Median response time, in s.
    pub p50: Summary,
    /// 90th percentile, in s.
    pub p90: Summary,
    /// 99th percentile, in s.
    pub p99: Summary,
    /// Mean response time, in s.
    pub mean: Summary,
    /// Mean response time without a limit, with the same GOMAXPROCS and seeds, in s.
    pub mean_without: f64,
    /// The part of the mean response time that the limit adds: the share for which requests are throttled,
    /// or wait for others that are. 0 to 1.
    pub throttled: f64,
}

/// One cell of the table.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Cell {
    /// The limit, in thousandths of a cpu.
    pub limit: u64,
    /// The rule of GOMAXPROCS.
    pub rule: Procs,
    /// GOMAXPROCS.
    pub procs: u32,
    /// `cpu.max.burst`, in ns.
    pub burst_ns: u64,
    /// The times; none where the requests need more than there is.
    pub times: Option<Times>,
    /// Why there are none.
    pub without: Option<&'static str>,
}

/// Whether a limit meets the target.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Met {
    /// The whole interval of the mean is at most the target.
    Yes,
    /// The whole interval is above the target, or the requests need more than the limit.
    No,
    /// The target is in the interval.
    Undecided,
}

/// A limit with its judgement.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Judged {
    /// The limit, in thousandths of a cpu.
    pub limit: u64,
    /// GOMAXPROCS.
    pub procs: u32,
    /// What is judged, in s; none where the requests need more than the limit.
    pub value: Option<Summary>,
    /// Whether it meets the target.
    pub met: Met,
}

/// The answer.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Answer {
    /// Name of the pod.
    pub pod: String,
    /// The node.
    pub machine: String,
    /// Cpus of the node.
    pub cpus: u32,
    /// The kernel.
    pub kernel: String,
    /// Requests in a second.
    pub rate: f64,
    /// Cpu time of a request, in ns.
    pub service_ns: u64,
    /// It is exponential, not constant.
    pub exponential: bool,
    /// Parts of a request side by side.
    pub parallel: u32,
    /// Cpus that the requests need, in the mean.
    pub load: f64,
    /// Request of the pod, in thousandths of a cpu.
    pub request: Option<u64>,
    /// Period, in ns.
    pub period_ns: u64,
    /// Requests of other pods.
    pub beside: u64,
    /// Seeds of each cell.
    pub seeds: u32,
    /// The cells, by burst, by rule of GOMAXPROCS, by limit.
    pub cells: Vec<Cell>,
    /// What has to be met.
    pub target: Option<Target>,
    /// The pod's own limit, judged.
    pub own: Option<Judged>,
    /// The smallest limit that meets the target: confirmed with other seeds.
    pub smallest: Option<Judged>,
    /// A larger limit that misses it, if the search met one: p99 does not fall everywhere.
    pub larger_miss: Option<Judged>,
    /// The smallest limit with all cpus of the node as GOMAXPROCS, where the rule is the limit.
    pub smallest_with_node: Option<Judged>,
    /// The rule of GOMAXPROCS by which the others are judged.
    pub rule: Procs,
}

/// Simulates the table, judges the pod's own limit and searches the smallest one.
///
/// # Errors
/// Too many cells, a machine or kernel that cannot be, or [`Failed`] of the runs.
pub fn ask(question: &Question, policies: &PolicyRegistry, means: Means<'_>) -> Result<Answer, Failed> {
    let runs = Runs::new(question, policies, means)?;
    let mut rules = vec![Procs::Limit, Procs::Node];
    if !rules.contains(&question.procs) {
        rules.insert(0, question.procs);
    }
    let mut places = Vec::new();
    for burst in &question.bursts {
        for rule in &rules {
            places.extend(question.limits.iter().map(|limit| (*limit, *rule, *burst)));
        }
    }
    if places.len() > MOST_CELLS {
        let many = places.len();
        return Err(Failed::Refused(format!("{many} cells: at most {MOST_CELLS} are simulated")));
    }
    let cells = runs.cells(&places)?;
    let (mut own, mut found, mut node) = (None, search::Found::default(), None);
    if let Some(target) = &question.target {
        own = judge(question, &runs, target)?;
        found = search::smallest(&runs, question.procs, target)?;
        // The search may have judged a limit below by seeds with which it misses.
        let lower = |own: &&Judged| {
            let above = |found: &Judged| found.limit > own.limit;
            own.met == Met::Yes && found.smallest.as_ref().is_none_or(above)
        };
        found.smallest = own.as_ref().filter(lower).cloned().or(found.smallest);
        if question.procs == Procs::Limit {
            node = search::smallest(&runs, Procs::Node, target)?.smallest;
        }
    }
    Ok(Answer {
        pod: question.name.clone(),
        machine: question.machine.clone(),
        cpus: runs.cpus,
        kernel: question.kernel.clone(),
        rate: question.rate,
        service_ns: question.service.ns,
        exponential: question.service.exponential,
        parallel: question.parallel,
        load: runs.load(),
        request: question.request,
        period_ns: question.period,
        beside: question.beside,
        seeds: question.seeds,
        cells,
        target: question.target,
        own,
        smallest: found.smallest,
        larger_miss: found.larger_miss,
        smallest_with_node: node,
        rule: question.procs,
    })
}

/// Judges the pod's own limit only: for a check.
///
/// # Errors
/// The pod has no limit, or [`Failed`] of the runs.
pub fn check(question: &Question, policies: &PolicyRegistry, means: Means<'_>) -> Result<Checked, Failed> {
    let runs = Runs::new(question, policies, means)?;
    let missing = |what: &str| Failed::Refused(format!("a check needs {what}"));
    let target = question.target.ok_or_else(|| missing("a target (--target p99=50ms)"))?;
    let own = judge(question, &runs, &target)?.ok_or_else(|| missing("the pod's limit (--limit)"))?;
    let line = show::check_line(&question.name, &own, &target);
    Ok(Checked { pod: question.name.clone(), target, own, line })
}

fn judge(question: &Question, runs: &Runs<'_>, target: &Target) -> Result<Option<Judged>, Failed> {
    let judged = |limit| search::confirming(runs, (limit, question.procs), target);
    question.limit.map(judged).transpose()
}

/// The answer of a check.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Checked {
    /// Name of the pod.
    pub pod: String,
    /// What has to be met.
    pub target: Target,
    /// The pod's own limit, judged.
    pub own: Judged,
    /// The judgement in one line.
    pub line: String,
}

impl Checked {
    /// True when the target is met; undecided counts as missed.
    #[must_use]
    pub fn passes(&self) -> bool {
        self.own.met == Met::Yes
    }

    /// The line, or all of it as JSON.
    #[must_use]
    pub fn written(&self, form: Form) -> String {
        match form {
            Form::Json => serde_json::to_string_pretty(self).unwrap_or_default() + "\n",
            _ => format!("{}\n", self.line),
        }
    }
}

impl Answer {
    /// The answer in a form, ending with a line feed.
    #[must_use]
    pub fn written(&self, form: Form) -> String {
        show::written(self, form)
    }
}
