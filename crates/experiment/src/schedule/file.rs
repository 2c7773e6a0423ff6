//! Schedule files: one JSON object per line, the origin, then each run followed by its calls.

use std::collections::BTreeMap;
use std::io::{self, BufRead, Read, Write};
use std::sync::Arc;

use hmac_sha256::Hash;
use notation::{lists, neutral};
use policies::{Call, Hook, Request, Schedule};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use sim_core::ids::{AppId, CpuId, NodeId, TaskId};
use sim_core::limits::MAX_CPUS;
use sim_core::machine::CpuSet;
use sim_core::policy::{Affinity, Kick, Order, QueueEntry, Timer};
use sim_core::time::{Span, Time};

use crate::provenance::hex;

use super::{Origin, RecordedRun, Recording, RunId, SCHEMA};

/// Longest line: the masks of all tasks of a very large gang.
const MAX_LINE: u64 = 1 << 28;
/// Latest instant: no horizon comes near it, and sums with it stay in range.
const MAX_INSTANT: u64 = 1 << 61;
/// Most bytes of the different sets of cpus in a file: 512 sets of all cpus of the largest machine, many more
/// of smaller ones.
const MAX_SETS: u64 = 1 << 28;
/// Longest work of a policy at one time: a minute.
const MAX_CHARGE: u64 = 60_000_000_000;

/// The head of a run.
#[derive(Serialize, Deserialize)]
struct RunLine {
    #[serde(flatten)]
    id: RunId,
    seed: u64,
    /// Hex: JSON readers keep only 53 bits of a number.
    digest: String,
    /// When it ended, in nanoseconds.
    end: u64,
    /// Number of calls.
    calls: usize,
    /// Who orders the queues, if not the operating system.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    order: Option<OrderWord>,
    /// It is asked where a task goes that begins a job without a sleep.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    releases: bool,
}

#[derive(Clone, Copy, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum OrderWord {
    /// Slice in nanoseconds.
    Fifo(u64),
    /// Slice in nanoseconds.
    VirtualTime(u64),
    Policy,
}

/// What the policy answered when it was asked for a task's place.
#[derive(Clone, Copy, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
enum EntryWord {
    Held,
    /// Key, slice in nanoseconds.
    Queued(i64, u64),
    /// The same for a task that preempts.
    Preempts(i64, u64),
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct CallLine {
    at: u64,
    hook: Word,
    /// Application, task, cpu or token.
    #[serde(default, skip_serializing_if = "is_zero")]
    of: u64,
    #[serde(default, skip_serializing_if = "is_zero")]
    nth: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    cpu: Option<u32>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    node: Option<u32>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    entry: Option<EntryWord>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    asks: Vec<Ask>,
}

#[derive(Clone, Copy, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Word {
    Init,
    Started,
    Ready,
    Exited,
    Place,
    Idle,
    Tick,
    Timer,
    Slot,
    Waits,
    Proceeds,
    /// `drained` or `emptied` in the files of earlier programs.
    #[serde(alias = "drained", alias = "emptied")]
    Dispatch,
    Insert,
    Enqueued,
    /// `displaced` in the files of earlier programs.
    #[serde(alias = "displaced")]
    Preempted,
    Misplaced,
    Left,
    Dequeued,
    Running,
    Stopping,
    Changed,
    Ended,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Ask {
    /// Task, cpu.
    Migrate(u32, u32),
    /// Task, cpus as ranges; `all`.
    Bind(u32, String),
    /// Task, priority level.
    #[serde(rename = "priority_level")]
    Level(u32, u8),
    /// Task, cpu, place in its queue.
    Dispatch(u32, u32, EntryWord),
    /// Task, nanoseconds from now on.
    Slice(u32, u64),
    /// Cpu that looks for a task if it is idle.
    Kick(u32),
    /// Cpu that looks for a task, whatever it runs.
    KickPreempt(u32),
    /// Task that yields, task in whose favour.
    YieldTo(u32, u32),
    /// Cpu, nanoseconds: kernel work.
    Charge(u32, u64),
    /// Cpu, nanoseconds: a daemon's work.
    Daemon(u32, u64),
    /// Instant, token.
    At(u64, u64),
    /// Cpu, not before.
    AtTick(u32, u64),
    /// Instant.
    AtSlot(u64),
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks for a reference")]
const fn is_zero(value: &u64) -> bool {
    *value == 0
}

/// Writes a recording.
///
/// # Errors
/// Errors of writing to `out`.
pub fn write(recording: &Recording, out: &mut dyn Write) -> io::Result<()> {
    line(out, &recording.origin)?;
    for run in &recording.runs {
        let head = RunLine {
            id: run.id.clone(),
            seed: run.seed,
            digest: format!("{:016x}", run.digest),
            end: soon(run.schedule.end),
            calls: run.schedule.calls.len(),
            order: order_word(run.schedule.order),
            releases: run.schedule.releases,
        };
        line(out, &head)?;
        for call in &run.schedule.calls {
            line(out, &call_line(call))?;
        }
    }
    Ok(())
}

fn line(out: &mut dyn Write, value: &impl Serialize) -> io::Result<()> {
    serde_json::to_writer(&mut *out, value)?;
    out.write_all(b"\n")
}

fn call_line(call: &Call) -> CallLine {
    let (hook, of) = match call.hook {
        Hook::Init => (Word::Init, 0),
        Hook::Started(app) => (Word::Started, u64::from(app.0)),
        Hook::Ready(app) => (Word::Ready, u64::from(app.0)),
        Hook::Exited(app) => (Word::Exited, u64::from(app.0)),
        Hook::Place(task) => (Word::Place, u64::from(task.0)),
        Hook::Idle(cpu) => (Word::Idle, u64::from(cpu.0)),
        Hook::Tick(cpu) => (Word::Tick, u64::from(cpu.0)),
        Hook::Timer(token) => (Word::Timer, token),
        Hook::Slot => (Word::Slot, 0),
        Hook::Waits(task) => (Word::Waits, u64::from(task.0)),
        Hook::Proceeds(task) => (Word::Proceeds, u64::from(task.0)),
        Hook::Dispatch(cpu) => (Word::Dispatch, u64::from(cpu.0)),
        Hook::Insert(task) => (Word::Insert, u64::from(task.0)),
        Hook::Enqueued(task) => (Word::Enqueued, u64::from(task.0)),
        Hook::Preempted(task) => (Word::Preempted, u64::from(task.0)),
        Hook::Misplaced(task) => (Word::Misplaced, u64::from(task.0)),
        Hook::Left(task) => (Word::Left, u64::from(task.0)),
        Hook::Dequeued(task) => (Word::Dequeued, u64::from(task.0)),
        Hook::Running(task) => (Word::Running, u64::from(task.0)),
        Hook::Stopping(task) => (Word::Stopping, u64::from(task.0)),
        Hook::Changed(task) => (Word::Changed, u64::from(task.0)),
        Hook::Ended => (Word::Ended, 0),
    };
    CallLine {
        at: call.at.ns(),
        hook,
        of,
        nth: u64::from(call.nth),
        cpu: call.cpu.map(|cpu| cpu.0),
        node: call.node.map(|node| node.0),
        entry: call.entry.map(entry_word),
        asks: call.asked.iter().map(ask).collect(),
    }
}

fn order_word(order: Order) -> Option<OrderWord> {
    match order {
        Order::System => None,
        Order::Fifo { slice } => Some(OrderWord::Fifo(slice.ns())),
        Order::VirtualTime { slice } => Some(OrderWord::VirtualTime(slice.ns())),
        Order::Policy => Some(OrderWord::Policy),
    }
}

fn order(word: Option<OrderWord>) -> Result<Order, String> {
    let slice = |ns: u64| match ns {
        0..1_000 => Err(format!("a slice of {ns} ns: it must be at least 1us")),
        _ => Ok(Span::from_ns(ns.min(MAX_INSTANT))),
    };
    Ok(match word {
        None => Order::System,
        Some(OrderWord::Fifo(ns)) => Order::Fifo { slice: slice(ns)? },
        Some(OrderWord::VirtualTime(ns)) => Order::VirtualTime { slice: slice(ns)? },
        Some(OrderWord::Policy) => Order::Policy,
    })
}

fn entry_word(entry: Option<QueueEntry>) -> EntryWord {
    match entry {
        None => EntryWord::Held,
        Some(QueueEntry { key, slice, preempts: false }) => EntryWord::Queued(key, slice.ns()),
        Some(QueueEntry { key, slice, preempts: true }) => EntryWord::Preempts(key, slice.ns()),
    }
}

const fn entry(word: &EntryWord) -> Option<QueueEntry> {
    match word {
        EntryWord::Held => None,
        EntryWord::Queued(key, slice) => Some(QueueEntry::new(*key, Span::from_ns(*slice))),
        EntryWord::Preempts(key, slice) => {
            Some(QueueEntry { preempts: true, ..QueueEntry::new(*key, Span::from_ns(*slice)) })
        }
    }
}

fn ask(request: &Request) -> Ask {
    match request {
        Request::Migrate(task, to) => Ask::Migrate(task.0, to.0),
        Request::Bind(task, affinity) => Ask::Bind(task.0, ranges(affinity)),
        Request::SetPriority(task, level) => Ask::Level(task.0, *level),
        Request::Dispatch(task, cpu, entry) => Ask::Dispatch(task.0, cpu.0, entry_word(Some(*entry))),
        Request::SetSlice(task, slice) => Ask::Slice(task.0, slice.ns()),
        Request::Kick(cpu, Kick::Idle) => Ask::Kick(cpu.0),
        Request::Kick(cpu, Kick::Preempt) => Ask::KickPreempt(cpu.0),
        Request::YieldTo(from, to) => Ask::YieldTo(from.0, to.0),
        Request::Charge(cpu, span, false) => Ask::Charge(cpu.0, span.ns()),
        Request::Charge(cpu, span, true) => Ask::Daemon(cpu.0, span.ns()),
        Request::At(at, Timer::Token(token)) => Ask::At(soon(*at), *token),
        Request::At(at, Timer::Tick(cpu)) => Ask::AtTick(cpu.0, soon(*at)),
        Request::At(at, Timer::Slot) => Ask::AtSlot(soon(*at)),
    }
}

/// The instant; one that never comes is the latest that can be written.
fn soon(at: Time) -> u64 {
    at.ns().min(MAX_INSTANT)
}

/// `0-3,8,`, `5`, `all`. A comma after a single cpu marks a set of one cpu, so that reading restores the same
/// value.
fn ranges(affinity: &Affinity) -> String {
    let set = match affinity {
        Affinity::All => return "all".into(),
        Affinity::One(cpu) => return cpu.0.to_string(),
        Affinity::Set(set) => set,
    };
    format!("{},", lists::ranges(set.iter().map(|cpu| cpu.0)))
}

/// The sets of cpus of a file: each different text is one set in memory, however often it occurs.
struct Sets {
    /// The cpus of the largest machine that the schedule is for.
    cpus: u32,
    known: BTreeMap<String, Affinity>,
    /// Bytes of the sets in `known`.
    bytes: u64,
}

impl Sets {
    fn new(cpus: u32) -> Self {
        Self { cpus, known: BTreeMap::new(), bytes: 0 }
    }

    fn affinity(&mut self, text: &str) -> Result<Affinity, String> {
        if text == "all" {
            return Ok(Affinity::All);
        }
        let Some(list) = text.strip_suffix(',') else {
            return cpu(text).map(|cpu| Affinity::One(CpuId(cpu)));
        };
        if let Some(known) = self.known.get(text) {
            return Ok(known.clone());
        }
        let ranges = ascending(list)?;
        let last = ranges.last().map_or(0, |(_, last)| (*last).min(self.cpus.saturating_sub(1)));
        self.bytes += text.len() as u64 + u64::from(last / 8);
        if self.bytes > MAX_SETS {
            let most = MAX_SETS >> 20;
            return Err(format!("the sets of cpus up to here take more than {most} MiB of memory"));
        }
        let affinity = match ranges.first() {
            // A set of cpus that no machine has is as illegal as one of them.
            Some((missing, _)) if *missing >= self.cpus => Affinity::One(CpuId(*missing)),
            _ => {
                let cpus = ranges.iter().flat_map(|(first, end)| *first..=(*end).min(last));
                Affinity::Set(Arc::new(CpuSet::of(cpus.map(CpuId))))
            }
        };
        self.known.insert(text.to_owned(), affinity.clone());
        Ok(affinity)
    }
}

fn cpu(text: &str) -> Result<u32, String> {
    let cpu = text.parse::<u32>().ok().filter(|cpu| u64::from(*cpu) < MAX_CPUS);
    cpu.ok_or_else(|| format!("`{text}` is not a cpu"))
}

/// The first and last cpu of each range of a list, which recordings write in ascending order.
fn ascending(list: &str) -> Result<Vec<(u32, u32)>, String> {
    let mut ranges: Vec<(u32, u32)> = Vec::new();
    for part in list.split(',').filter(|part| !part.is_empty()) {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        let (first, last) = (cpu(first)?, cpu(last)?);
        if first > last || ranges.last().is_some_and(|(_, before)| *before >= first) {
            return Err(format!("`{part}` is out of order: the cpus of a set ascend"));
        }
        ranges.push((first, last));
    }
    Ok(ranges)
}

/// Reads a recording and the SHA-256 of its text, hex; `name` is its name in messages. `cpus` is the number
/// of cpus of the largest machine that it is for: sets are read without other cpus, which a task could not
/// run on.
///
/// # Errors
/// A sentence: it cannot be read, is no schedule, is cut short, or a line of it is wrong.
pub fn read(name: &str, from: &mut dyn BufRead, cpus: u32) -> Result<(Recording, String), String> {
    let mut lines = Lines { from, number: 0, hash: Hash::new(), sets: Sets::new(cpus) };
    let wrong = |lines: &Lines<'_>, why: &str| {
        neutral::line(&format!("{name}, line {}: {why}", lines.number)).into_owned()
    };
    let Some(origin) = lines.origin() else {
        return Err(wrong(&lines, &format!("the file is not a schedule of oversim ({SCHEMA})")));
    };
    let mut runs = Vec::new();
    for _ in 0..origin.runs {
        let run = lines.run().map_err(|why| wrong(&lines, &why))?;
        runs.push(run);
    }
    match lines.next() {
        Ok(None) => Ok((Recording { origin, runs }, hex(&lines.hash.finalize()))),
        Ok(Some(_)) => Err(wrong(&lines, "the file has more runs than its first line states")),
        Err(why) => Err(wrong(&lines, &why)),
    }
}

struct Lines<'a> {
    from: &'a mut dyn BufRead,
    number: u64,
    hash: Hash,
    sets: Sets,
}

impl Lines<'_> {
    /// The next line; none at the end.
    fn next(&mut self) -> Result<Option<Vec<u8>>, String> {
        self.number += 1;
        let mut text = Vec::new();
        let mut limited = Read::take(&mut *self.from, MAX_LINE);
        limited.read_until(b'\n', &mut text).map_err(|e| e.to_string())?;
        self.hash.update(&text);
        match text.last() {
            None => Ok(None),
            Some(b'\n') => Ok(Some(text)),
            Some(_) if text.len() as u64 == MAX_LINE => Err("the line is too long".into()),
            Some(_) => Err("the line is incomplete".into()),
        }
    }

    /// The next line, which there must be, as a value.
    fn value<T: DeserializeOwned>(&mut self) -> Result<T, String> {
        let text = self.next()?.ok_or("the file ends before its last run")?;
        serde_json::from_slice(&text).map_err(|e| e.to_string())
    }

    fn origin(&mut self) -> Option<Origin> {
        self.value().ok().filter(|origin: &Origin| origin.schedule == SCHEMA)
    }

    fn run(&mut self) -> Result<RecordedRun, String> {
        let head: RunLine = self.value()?;
        let digest = u64::from_str_radix(&head.digest, 16).map_err(|e| format!("`digest`: {e}"))?;
        let end = instant(head.end)?;
        let mut calls = Vec::new();
        for _ in 0..head.calls {
            let line = self.value()?;
            calls.push(call(&line, &mut self.sets)?);
        }
        let schedule = Schedule { order: order(head.order)?, releases: head.releases, calls, end };
        Ok(RecordedRun { id: head.id, seed: head.seed, digest, schedule })
    }
}

fn call(line: &CallLine, sets: &mut Sets) -> Result<Call, String> {
    let of = || u32::try_from(line.of).map_err(|_| format!("{} is out of range", line.of));
    let hook = match line.hook {
        Word::Init => Hook::Init,
        Word::Started => Hook::Started(AppId(of()?)),
        Word::Ready => Hook::Ready(AppId(of()?)),
        Word::Exited => Hook::Exited(AppId(of()?)),
        Word::Place => Hook::Place(TaskId(of()?)),
        Word::Idle => Hook::Idle(CpuId(of()?)),
        Word::Tick => Hook::Tick(CpuId(of()?)),
        Word::Timer => Hook::Timer(line.of),
        Word::Slot => Hook::Slot,
        Word::Waits => Hook::Waits(TaskId(of()?)),
        Word::Proceeds => Hook::Proceeds(TaskId(of()?)),
        Word::Dispatch => Hook::Dispatch(CpuId(of()?)),
        Word::Insert => Hook::Insert(TaskId(of()?)),
        Word::Enqueued => Hook::Enqueued(TaskId(of()?)),
        Word::Preempted => Hook::Preempted(TaskId(of()?)),
        Word::Misplaced => Hook::Misplaced(TaskId(of()?)),
        Word::Left => Hook::Left(TaskId(of()?)),
        Word::Dequeued => Hook::Dequeued(TaskId(of()?)),
        Word::Running => Hook::Running(TaskId(of()?)),
        Word::Stopping => Hook::Stopping(TaskId(of()?)),
        Word::Changed => Hook::Changed(TaskId(of()?)),
        Word::Ended => Hook::Ended,
    };
    if matches!(line.hook, Word::Place) != line.cpu.is_some() {
        return Err("each `place` needs a `cpu`, and no other hook has one".into());
    }
    if matches!(line.hook, Word::Insert) != line.entry.is_some() {
        return Err("each `insert` needs an `entry`, and no other hook has one".into());
    }
    let nth = u32::try_from(line.nth).map_err(|_| "`nth` is out of range")?;
    let asked = line.asks.iter().map(|ask| request(ask, sets)).collect::<Result<_, _>>()?;
    Ok(Call {
        at: instant(line.at)?,
        hook,
        nth,
        cpu: line.cpu.map(CpuId),
        node: line.node.map(NodeId),
        entry: line.entry.as_ref().map(entry),
        asked,
    })
}

fn instant(ns: u64) -> Result<Time, String> {
    if ns > MAX_INSTANT { Err(format!("{ns} ns is not a valid instant")) } else { Ok(Time::from_ns(ns)) }
}

fn request(ask: &Ask, sets: &mut Sets) -> Result<Request, String> {
    let charge = |cpu: u32, ns: u64, daemon| {
        if ns > MAX_CHARGE {
            return Err(format!("{ns} ns of work at one instant is too much"));
        }
        Ok(Request::Charge(CpuId(cpu), Span::from_ns(ns), daemon))
    };
    Ok(match ask {
        Ask::Migrate(task, to) => Request::Migrate(TaskId(*task), CpuId(*to)),
        Ask::Bind(task, cpus) => Request::Bind(TaskId(*task), sets.affinity(cpus)?),
        Ask::Level(task, level) => Request::SetPriority(TaskId(*task), *level),
        Ask::Dispatch(task, cpu, word) => match entry(word) {
            Some(entry) => Request::Dispatch(TaskId(*task), CpuId(*cpu), entry),
            None => return Err("a task is dispatched into a queue: `queued` or `preempts`".into()),
        },
        Ask::Slice(task, ns) => Request::SetSlice(TaskId(*task), Span::from_ns(*ns)),
        Ask::Kick(cpu) => Request::Kick(CpuId(*cpu), Kick::Idle),
        Ask::KickPreempt(cpu) => Request::Kick(CpuId(*cpu), Kick::Preempt),
        Ask::YieldTo(from, to) => Request::YieldTo(TaskId(*from), TaskId(*to)),
        Ask::Charge(cpu, ns) => charge(*cpu, *ns, false)?,
        Ask::Daemon(cpu, ns) => charge(*cpu, *ns, true)?,
        Ask::At(at, token) => Request::At(instant(*at)?, Timer::Token(*token)),
        Ask::AtTick(cpu, at) => Request::At(instant(*at)?, Timer::Tick(CpuId(*cpu))),
        Ask::AtSlot(at) => Request::At(instant(*at)?, Timer::Slot),
    })
}
