//! `--explain-decisions`: every decision of every run as one line of JSON, in run order whatever the number
//! of threads.
//!
//! The lines are documented in `docs/results.md`. Each run writes to a separate spool, which is copied in the
//! order of the runs.

use std::io::{self, BufWriter, Read, Seek, Write};
use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};

use notation::lists;
use rayon::prelude::*;
use scenario::plan::{Experiment, RunPlan};
use serde::Serialize;
use serde::ser::{SerializeMap, Serializer};
use sim_core::ids::{CpuId, TaskId};
use sim_core::observe::{Contender, Observer, QueueDecision, Verdict};
use sim_core::outcome::RunReport;
use sim_core::policy::{Action, Affinity, Decision, Placement, THROTTLED, Why};
use sim_core::time::Time;
use tempfile::{SpooledTempFile, spooled_tempfile};

use crate::result::{Results, policy_name};
use crate::run::{Failed, RunError, refused, results, simulate_one};
use crate::threads::{in_pool, thread_count};

/// Runs of a group, for each thread: the lines of a group are written when all its runs are over.
const GROUP: usize = 8;
/// Most runs of a group: each has a spool, which may be an open file.
const MOST_SPOOLS: usize = 200;
/// A spool of up to this many bytes stays in memory.
const IN_MEMORY: usize = 1 << 16;

/// Run and instant of a decision.
#[derive(Serialize)]
struct Place<'a> {
    run: usize,
    configuration: &'a str,
    policy: &'a str,
    replicate: u32,
    seed: u64,
    at_s: f64,
}

/// A decision as a line of JSON; what does not apply is left out.
#[derive(Serialize)]
struct Line<'a> {
    #[serde(flatten)]
    run: Place<'a>,
    action: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    placement: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    app: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    rank: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    parent: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    waker: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    from: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    to: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    cpus: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    priority_level: Option<u8>,
    #[serde(skip_serializing_if = "Option::is_none")]
    slice_ns: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    to_app: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    to_rank: Option<u32>,
    rule: &'a str,
    #[serde(serialize_with = "facts")]
    facts: &'a Why,
    text: String,
}

/// A decision of a run queue as a line of JSON. Virtual times are in ns.
#[derive(Serialize)]
struct QueueLine<'a> {
    #[serde(flatten)]
    run: Place<'a>,
    action: &'a str,
    cpu: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    app: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    rank: Option<u32>,
    rule: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    mean: Option<i64>,
    queue: Vec<Stands<'a>>,
    text: String,
}

/// A task of a queue.
#[derive(Serialize)]
struct Stands<'a> {
    app: Option<&'a str>,
    rank: Option<u32>,
    state: &'a str,
    v: i64,
    #[serde(skip_serializing_if = "Option::is_none")]
    deadline: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    eligible: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    protected_until: Option<i64>,
}

/// Numbers with nine decimals: seconds to the nanosecond. Ten days in nanoseconds have fifteen digits, which
/// a double keeps.
pub(crate) struct Nanoseconds;

impl serde_json::ser::Formatter for Nanoseconds {
    fn write_f64<W: ?Sized + Write>(&mut self, writer: &mut W, value: f64) -> io::Result<()> {
        write!(writer, "{value:.9}")
    }
}

/// Names and values that were given.
fn given(why: &Why) -> impl Iterator<Item = (&'static str, u64)> + use<> {
    why.facts.into_iter().filter(|(name, _)| !name.is_empty())
}

fn facts<S: Serializer>(why: &&Why, serializer: S) -> Result<S::Ok, S::Error> {
    let mut map = serializer.serialize_map(None)?;
    for (name, value) in given(why) {
        map.serialize_entry(name, &value)?;
    }
    map.end()
}

/// Cpus as the kernel writes lists of them (`0-3,8`); `all` without a mask.
fn cpu_list(affinity: &Affinity, cpus: Range<u32>) -> String {
    if matches!(affinity, Affinity::All) {
        return "all".into();
    }
    lists::ranges(cpus.filter(|cpu| affinity.allows(CpuId(*cpu))))
}

/// Units that the name of a fact may end in.
const UNITS: [&str; 7] = ["%", "ns", "us", "ms", "s", "ppm", "1/1024"];

/// A fact in words; the unit follows the value.
fn measured(name: &str, value: u64) -> String {
    match name.rsplit_once(' ') {
        Some((what, unit)) if UNITS.contains(&unit) => format!("{what} {value} {unit}"),
        _ => format!("{name} {value}"),
    }
}

/// The rule and what it compared, in words.
pub(crate) fn reason(why: &Why) -> String {
    let compared: Vec<String> = given(why).map(|(name, value)| measured(name, value)).collect();
    let rule = if why.rule.is_empty() { "no reason given" } else { why.rule };
    if compared.is_empty() { rule.to_owned() } else { format!("{rule} ({})", compared.join(", ")) }
}

/// Writes the decisions of one run.
struct Scribe<'a> {
    index: usize,
    plan: &'a RunPlan,
    configuration: &'a str,
    policy: &'a str,
    /// The decisions of the run queues are written, too.
    queues: bool,
    /// First task of each application.
    first: Vec<u32>,
    out: BufWriter<SpooledTempFile>,
    failed: Option<io::Error>,
}

impl<'a> Scribe<'a> {
    fn new(experiment: &'a Experiment, index: usize, plan: &'a RunPlan, queues: bool) -> Self {
        let configuration = experiment
            .configurations
            .get(plan.configuration)
            .map_or("", |configuration| &configuration.label);
        let policy = policy_name(experiment, plan.policy);
        Self { index, configuration, policy, queues, ..Self::named_only(plan) }
    }

    /// Knows the run, not where it stands in an experiment.
    fn named_only(plan: &'a RunPlan) -> Self {
        let mut next = 0;
        let start = |tasks: u32| {
            next += tasks;
            next - tasks
        };
        Self {
            index: 0,
            plan,
            configuration: "",
            policy: "",
            queues: false,
            first: plan.apps.iter().map(|app| app.tasks).map(start).collect(),
            out: BufWriter::new(spooled_tempfile(IN_MEMORY)),
            failed: None,
        }
    }

    /// The application and the rank of a task.
    fn named(&self, task: TaskId) -> (Option<&'a str>, Option<u32>) {
        let app = self.first.iter().rposition(|first| *first <= task.0);
        let name = app.and_then(|app| self.plan.apps.get(app)).map(|app| app.name.as_str());
        (name, app.map(|app| task.0 - self.first[app]))
    }

    fn place(&self, at: Time) -> Place<'a> {
        Place {
            run: self.index,
            configuration: self.configuration,
            policy: self.policy,
            replicate: self.plan.replicate,
            seed: self.plan.options.seed,
            at_s: at.ns() as f64 / 1e9,
        }
    }

    fn queue_line<'d>(&'d self, at: Time, decision: &'d QueueDecision) -> QueueLine<'d> {
        let (app, rank) = self.named(decision.task);
        let (action, did) = match decision.verdict {
            Verdict::Picked => ("pick", "runs next"),
            Verdict::Preempts => ("preempt", "pre-empts the current task"),
            Verdict::Waits => ("wait", "does not pre-empt the current task"),
        };
        let who = app.zip(rank).map_or(String::new(), |(app, rank)| format!("{app}.{rank} "));
        QueueLine {
            run: self.place(at),
            action,
            cpu: decision.cpu.0,
            app,
            rank,
            rule: decision.rule,
            mean: decision.mean,
            queue: decision.contenders.iter().map(|one| self.stands(one)).collect(),
            text: format!("{who}{did}: {}", decision.rule),
        }
    }

    fn stands(&self, one: &Contender) -> Stands<'a> {
        let (app, rank) = self.named(one.task);
        let state = match (one.current, one.delayed) {
            (true, _) => "current",
            (false, true) => "delayed",
            (false, false) => "queued",
        };
        Stands {
            app,
            rank,
            state,
            v: one.vruntime,
            deadline: one.request.map(|request| request.deadline),
            eligible: one.request.map(|request| request.eligible),
            protected_until: one.request.and_then(|request| request.protected_until),
        }
    }

    fn line<'d>(&'d self, at: Time, decision: &'d Decision) -> Line<'d> {
        let (app, rank) = decision.task.map_or((None, None), |task| self.named(task));
        let mut line = Line {
            run: self.place(at),
            action: "remark",
            placement: None,
            app,
            rank,
            parent: None,
            waker: None,
            from: None,
            to: None,
            cpus: None,
            priority_level: None,
            slice_ns: None,
            to_app: None,
            to_rank: None,
            rule: decision.why.rule,
            facts: &decision.why,
            text: String::new(),
        };
        let other = match decision.action {
            Action::Yielded { to } => self.named(to),
            _ => (None, None),
        };
        (line.to_app, line.to_rank) = other;
        let did = line.act(&decision.action, self.plan.machine.cpus());
        let who = app.zip(rank).map_or(String::new(), |(app, rank)| format!("{app}.{rank} "));
        let stop = if did.is_empty() { "" } else { ": " };
        line.text = format!("{who}{did}{stop}{}", reason(&decision.why));
        line
    }

    /// Writes a line, unless one has failed.
    fn write(&mut self, line: impl FnOnce(&Self) -> io::Result<Vec<u8>>) {
        if self.failed.is_none()
            && let Err(error) = line(self).and_then(|bytes| self.out.write_all(&bytes))
        {
            self.failed = Some(error);
        }
    }

    /// What was written, to be read from its beginning.
    fn finish(self) -> io::Result<SpooledTempFile> {
        if let Some(error) = self.failed {
            return Err(error);
        }
        let mut spool = self.out.into_inner().map_err(io::IntoInnerError::into_error)?;
        spool.rewind()?;
        Ok(spool)
    }
}

impl Line<'_> {
    /// Fills in what is particular to an action; returns it in words.
    fn act(&mut self, action: &Action, cpus: u32) -> String {
        match action {
            Action::Placed { placement: Placement::Fork { parent }, cpu } => {
                (self.action, self.placement) = ("place", Some("fork"));
                (self.parent, self.to) = (Some(parent.0), Some(cpu.0));
                format!("created on {cpu} by {parent}")
            }
            Action::Placed { placement: Placement::Wake { waker, previous }, cpu } => {
                (self.action, self.placement) = ("place", Some("wake"));
                (self.waker, self.from, self.to) = (Some(waker.0), Some(previous.0), Some(cpu.0));
                format!("woken on {cpu} by {waker}, last on {previous}")
            }
            Action::Migrated { from, to } => {
                (self.action, self.from, self.to) = ("migrate", Some(from.0), Some(to.0));
                format!("{from} -> {to}")
            }
            Action::Bound(affinity) => {
                let list = cpu_list(affinity, 0..cpus);
                let words = format!(
                    "bound to {}",
                    if matches!(affinity, Affinity::All) {
                        "all cpus".to_owned()
                    } else {
                        format!("cpu {list}")
                    }
                );
                (self.action, self.cpus) = ("bind", Some(list));
                words
            }
            Action::PrioritySet(band) => {
                (self.action, self.priority_level) = ("priority_level", Some(*band));
                match *band {
                    THROTTLED => "throttled".to_owned(),
                    level => format!("moved to priority level {level}"),
                }
            }
            Action::Dispatched(cpu) => {
                (self.action, self.to) = ("dispatch", Some(cpu.0));
                format!("dispatched to {cpu}")
            }
            Action::SliceSet(slice) => {
                (self.action, self.slice_ns) = ("slice", Some(slice.ns()));
                format!("may run for {slice:?} from now on")
            }
            Action::Yielded { .. } => {
                self.action = "yield";
                format!("yields to {}.{}", self.to_app.unwrap_or_default(), self.to_rank.unwrap_or_default())
            }
            Action::Remarked => String::new(),
        }
    }
}

fn json(line: &impl Serialize) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::with_capacity(512);
    let mut serializer = serde_json::Serializer::with_formatter(&mut bytes, Nanoseconds);
    line.serialize(&mut serializer)?;
    bytes.push(b'\n');
    Ok(bytes)
}

impl Observer for Scribe<'_> {
    fn decided(&mut self, at: Time, decision: &Decision) {
        self.write(|scribe| json(&scribe.line(at, decision)));
    }
    fn wants_queues(&self) -> bool {
        self.queues
    }
    fn queued(&mut self, at: Time, decision: &QueueDecision) {
        self.write(|scribe| json(&scribe.queue_line(at, decision)));
    }
}

/// Puts the decisions of a run into words, as the `text` of their lines.
pub struct Words<'a>(Scribe<'a>);

impl<'a> Words<'a> {
    /// For the decisions of this run.
    #[must_use]
    pub fn new(plan: &'a RunPlan) -> Self {
        Self(Scribe::named_only(plan))
    }

    /// `cg.3 cpu2 -> cpu7: pulled: busiest group (load 3072, mean 2048)`.
    #[must_use]
    pub fn of(&self, decision: &Decision) -> String {
        self.0.line(Time::ZERO, decision).text
    }

    /// What was done, and why: the same text in two parts, of which the first is empty for a remark.
    #[must_use]
    pub fn parts(&self, decision: &Decision) -> (String, String) {
        let why = reason(&decision.why);
        let did = self.of(decision);
        (did.strip_suffix(&why).unwrap_or(&did).trim_end_matches([':', ' ']).to_owned(), why)
    }
}

fn copy(spool: &mut SpooledTempFile, out: &mut dyn Write) -> io::Result<()> {
    let mut block = vec![0; IN_MEMORY];
    loop {
        match spool.read(&mut block)? {
            0 => return Ok(()),
            n => out.write_all(&block[..n])?,
        }
    }
}

/// As [`crate::run::run`], and writes every decision of every run to `out`, in the order of the runs and of
/// time; with `queues` also those of the run queues. Memory and open files are bounded: runs are
/// simulated in groups of at most a few hundred.
///
/// # Errors
/// As [`crate::run::run`], and when `out` or a temporary file cannot be written.
pub fn run_explained(
    experiment: &Experiment,
    jobs: usize,
    progress: &(dyn Fn(usize, usize) + Sync),
    (out, queues): (&mut (dyn Write + Send), bool),
) -> Result<Results, RunError> {
    let total = experiment.runs.len();
    let done = AtomicUsize::new(0);
    let one = |index: usize| {
        let result = explain_one(experiment, index, &experiment.runs[index], queues);
        progress(done.fetch_add(1, Ordering::Relaxed) + 1, total);
        result
    };
    let mut reports = Vec::with_capacity(total);
    let mut write = |index: usize, result: Result<(RunReport, SpooledTempFile), Failed>| {
        let (report, mut spool) = result.map_err(|failed| match failed {
            Failed::Refused(reason) => refused(experiment, &experiment.runs[index], reason),
            Failed::Write(error) => RunError::Decisions(error),
        })?;
        reports.push(report);
        copy(&mut spool, out).map_err(RunError::Decisions)
    };
    let group = (thread_count(total, jobs) * GROUP).min(MOST_SPOOLS);
    in_pool(total, jobs, |pool| {
        (0..total).step_by(group).try_for_each(|first| {
            let runs = first..total.min(first + group);
            let results: Vec<_> =
                pool.install(|| runs.clone().into_par_iter().with_max_len(1).map(one).collect());
            runs.zip(results).try_for_each(|(index, result)| write(index, result))
        })
    })
    .map_err(RunError::threads(jobs))??;
    out.flush().map_err(RunError::Decisions)?;
    results(experiment, jobs, &reports)
}

fn explain_one(
    experiment: &Experiment,
    index: usize,
    plan: &RunPlan,
    queues: bool,
) -> Result<(RunReport, SpooledTempFile), Failed> {
    let mut scribe = Scribe::new(experiment, index, plan, queues);
    let report = simulate_one(plan, &mut scribe).map_err(Failed::Refused)?;
    Ok((report, scribe.finish().map_err(Failed::Write)?))
}
