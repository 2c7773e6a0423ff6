//! Records what the scheduler of this host does while a command runs, by tracefs (`oversim twin record`).
//!
//! The host stays as it is: events, buffers and clock belong to an instance of our own, which is removed
//! whatever happens ([`guard`]).

mod around;
mod command;
pub mod elf;
mod events;
pub mod guard;
mod head;
mod libraries;
mod marks;
mod spool;
mod stream;
mod tracefs;
mod tree;

use std::ffi::OsString;
use std::fs::{self, File};
use std::os::unix::process::ExitStatusExt;
use std::process::{Command, ExitStatus};
use std::time::Duration;

use rustix::process::Signal;

use crate::facts::{Usage, cpus};
use crate::work::now;
use command::{Ended, Running};
use guard::Guard;
use head::{Head, cpu_list, quoted};
use libraries::Libraries;
use stream::Stream;
use tracefs::{Counts, Instance, Remains, Tracefs};

pub use head::TITLE;
pub use spool::Body;

/// Buffer of a cpu without another wish, in bytes: some 300,000 events.
pub const BUFFER: u64 = 16 << 20;
/// All buffers together take at most one part in so many of the memory that is available.
pub const SHARE: u64 = 8;
/// Bytes of an event in a buffer, at most on average.
const EVENT: u64 = 64;
/// Least buffer of a cpu, in bytes.
const LEAST: u64 = 64 << 10;
/// Between two looks at the buffers and at signals.
const TICK: Duration = Duration::from_millis(100);
/// A recording that lost more than one event in so many is refused.
const LOST: u64 = 100;

/// What is recorded, and how.
pub struct Settings<'a> {
    /// The command and its arguments.
    pub command: &'a [OsString],
    /// The cpus that the command may use; none leaves its mask as it is.
    pub cpus: Option<&'a [u32]>,
    /// Its nice value.
    pub nice: Option<i32>,
    /// The recording ends after so long. The command goes on.
    pub length: Option<Duration>,
    /// Set marks at functions of OpenMP and calls of MPI.
    pub marks: bool,
    /// Buffer of a cpu, in bytes.
    pub buffer: Option<u64>,
    /// Keep a recording whatever was lost.
    pub allow_lost: bool,
    /// The number of the signal that asked this process to end, if one did.
    pub stopped: &'a dyn Fn() -> Option<i32>,
    /// Takes sentences that do not end the recording.
    pub remark: &'a dyn Fn(&str),
}

/// Why there is no recording.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Failed {
    /// This host, this user or this command line cannot record: a sentence.
    Refused(String),
    /// The command ran, and its recording is lost: a sentence.
    Broken(String),
}

/// A recording.
#[derive(Debug)]
pub struct Recording {
    /// Comments: what a trace lacks.
    pub head: String,
    /// The text of tracefs.
    pub body: Body,
    /// Events in it.
    pub events: u64,
    /// Events that were lost.
    pub lost: u64,
    /// From the start of the command to the end of the recording, in ns.
    pub span: u64,
    /// How the command ended.
    pub status: ExitStatus,
    /// Number of marks.
    pub marks: usize,
}

/// Bytes of the buffer of each cpu: what is wished, as far as there is memory.
fn buffer(wish: Option<u64>, cpus: u64, available: Option<u64>) -> (u64, Option<String>) {
    let wished = wish.unwrap_or(BUFFER).max(LEAST);
    let most = available.map_or(u64::MAX, |bytes| bytes / SHARE / cpus.max(1)).max(LEAST);
    let remark = || {
        format!(
            "the buffers are {} for each of {cpus} cpus instead of {}: together they take at most 1/{SHARE} \
                of the memory that is available",
            notation::number::bytes(most),
            notation::number::bytes(wished)
        )
    };
    (wished.min(most), (wish.is_some() && wished > most).then(remark))
}

/// Memory that programs can have, in bytes.
fn available() -> Option<u64> {
    let text = fs::read_to_string("/proc/meminfo").ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix("MemAvailable:"))?;
    line.trim().strip_suffix(" kB")?.trim().parse::<u64>().ok()?.checked_mul(1_024)
}

/// Prepares the instance: clock, buffers, events, marks.
fn prepare(
    settings: &Settings<'_>,
    (tracefs, instance): (&Tracefs, &Instance<'_>),
    group: &str,
    head: &mut Head,
) -> Result<(u64, usize), String> {
    let (size, remark) = buffer(settings.buffer, instance.buffers(), available());
    remark.iter().for_each(|text| (settings.remark)(text));
    instance.write("buffer_size_kb", &(size >> 10).to_string())?;
    instance.write("trace_clock", "mono")?;
    // Without the option the text does not tell the process of a thread; fork events do.
    let _ = instance.set("options/record-tgid", "1");
    let missing = events::enable(instance)?;
    head.add("clock", "mono");
    head.add("buffer", size);
    for name in &missing {
        head.add("missing_event", name);
        (settings.remark)(&format!("this kernel has no event {name}"));
    }
    if !settings.marks {
        return Ok((size, 0));
    }
    let found = marks::find(settings.command);
    found.remarks.iter().for_each(|text| (settings.remark)(text));
    if found.marks.is_empty() {
        return Ok((size, 0));
    }
    let (set, remark) = marks::set(tracefs, group, found.marks);
    remark.iter().for_each(|text| (settings.remark)(text));
    for mark in &set {
        head.add("mark", format_args!("{} {}", mark.name, mark.function));
    }
    if !set.is_empty() {
        instance.write(&format!("events/{group}/enable"), "1")?;
    }
    Ok((size, set.len()))
}

/// The signal of a number that `oversim` takes.
fn signal(number: i32) -> Signal {
    match number {
        1 => Signal::HUP,
        2 => Signal::INT,
        _ => Signal::TERM,
    }
}

/// Looks after the command, the buffers and signals until the command has ended: when the recording ended,
/// and when the command did, in ns of CLOCK_MONOTONIC.
fn follow(
    settings: &Settings<'_>,
    running: &mut Running,
    stream: &mut Stream<'_>,
    seen: &mut Libraries,
) -> (u64, u64) {
    let mut stopped = None;
    let mut busy = false;
    loop {
        let since = running.since();
        let left = settings.length.filter(|_| stream.is_running()).map(|length| length.saturating_sub(since));
        let next = if busy { Some(Duration::ZERO) } else { seen.next(since) };
        let wait = [left, next].into_iter().flatten().fold(TICK, Duration::min);
        if let Some(at) = running.end_within(wait) {
            stream.stop();
            return (stopped.unwrap_or(at), at);
        }
        if let Some(number) = (settings.stopped)() {
            running.asked(signal(number));
        }
        if left == Some(Duration::ZERO) {
            stopped = Some(now());
            stream.stop();
        }
        busy = stream.relieve();
        seen.look(running.pid(), running.since());
        running.reap();
    }
}

/// What is known at the end.
fn result(head: &mut Head, ended: &Ended, counts: Counts, times: (u64, u64, u64), steal: u64) {
    let (start, end, command) = times;
    match (ended.status.code(), ended.status.signal()) {
        (Some(code), _) => head.add("status", format_args!("exit {code}")),
        (None, number) => head.add_known("status", number.map(|number| format!("signal {number}"))),
    }
    head.add("start_ns", start);
    head.add("end_ns", end);
    head.add("wall_ns", command.saturating_sub(start));
    head.add("user_ns", ended.cpu.0);
    head.add("system_ns", ended.cpu.1);
    head.add("steal_ns", steal);
    head.add("events", counts.read);
    head.add("lost", counts.lost);
}

/// Whether the recording is complete enough.
fn judged(counts: Counts, settings: &Settings<'_>) -> Result<(), Failed> {
    let all = counts.read.saturating_add(counts.lost);
    if counts.read == 0 {
        return Err(Failed::Broken("nothing was recorded: the kernel delivered no event".into()));
    }
    if settings.allow_lost || counts.lost.saturating_mul(LOST) <= all {
        return Ok(());
    }
    // All events of one cpu, in a buffer that holds them until the end.
    let enough = all.saturating_mul(EVENT).max(2 * BUFFER).checked_next_power_of_two().unwrap_or(u64::MAX);
    Err(Failed::Broken(format!(
        "{} of {all} events were lost ({:.1} %), so the recording is not kept: record with larger buffers \
            (--buffer {}MiB), for a shorter time (--for 2s) or without --marks; --allow-lost keeps it",
        counts.lost,
        counts.lost as f64 * 100.0 / all as f64,
        enough >> 20
    )))
}

/// Refuses cpus that the command cannot have.
fn usable(wanted: Option<&[u32]>) -> Result<(), Failed> {
    let here = cpus();
    let missing: Vec<u32> =
        wanted.unwrap_or_default().iter().copied().filter(|cpu| !here.contains(cpu)).collect();
    if missing.is_empty() {
        return Ok(());
    }
    let (missing, here) = (cpu_list(&missing), cpu_list(&here));
    Err(Failed::Refused(format!("--cpus {missing}: this process may use the cpus {here}")))
}

/// Records a command. `file` is empty and takes the text while it is made; `guard` is a command that calls
/// [`guard::serve`].
///
/// # Errors
/// Why there is no recording. Nothing is left in the kernel.
pub fn record(settings: &Settings<'_>, guard: Command, file: File) -> Result<Recording, Failed> {
    let refused = Failed::Refused;
    usable(settings.cpus)?;
    let tracefs = Tracefs::open().map_err(refused)?;
    tracefs.remove_leftovers();
    let remains = Remains::of(std::process::id());
    let group = remains.group.clone();
    // The guard is dropped after the instance, and finds nothing to do.
    let mut guard = Guard::start(guard).map_err(refused)?;
    let instance = Instance::new(&tracefs, remains).map_err(refused)?;
    let mut head = Head::new();
    let words: Vec<String> = settings.command.iter().map(|word| quoted(word)).collect();
    head.add("version", 1);
    head.add("command", words.join(" "));
    around::host(&mut head);
    around::environment(&mut head, std::env::vars_os());
    let (size, marks) = prepare(settings, (&tracefs, &instance), &group, &mut head).map_err(refused)?;
    let columns = instance.head();
    let mut stream = Stream::begin(&instance, size, file).map_err(refused)?;
    let steal = Usage::now().steal;
    let begun = Running::start(settings.command, settings.cpus, settings.nice, Some(guard.pid()));
    let mut running = begun.map_err(refused)?;
    guard.command(running.pid());
    head.add("pid", running.pid());
    around::process(&mut head, running.pid());
    let mut seen = Libraries::default();
    let (end, command) = follow(settings, &mut running, &mut stream, &mut seen);
    let start = running.started;
    let ended = running.finish().map_err(Failed::Broken)?;
    let steal = Usage::now().steal.saturating_sub(steal);
    let (body, counts) = stream.finish().map_err(Failed::Broken)?;
    instance.remove().map_err(Failed::Broken)?;
    guard.done();
    judged(counts, settings)?;
    seen.list(&mut head);
    result(&mut head, &ended, counts, (start, end, command), steal);
    head.append(&columns);
    Ok(Recording {
        head: head.text(),
        body,
        events: counts.read,
        lost: counts.lost,
        span: end.saturating_sub(start),
        status: ended.status,
        marks,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buffers_take_a_part_of_the_memory() {
        let gib = 1 << 30;
        assert_eq!(buffer(None, 2, Some(8 * gib)), (BUFFER, None));
        let (size, remark) = buffer(None, 256, Some(8 * gib));
        assert_eq!((size, remark), (4 << 20, None));
        let (size, remark) = buffer(Some(gib), 2, Some(8 * gib));
        assert!(size == gib / 2 && remark.is_some_and(|text| text.contains("512 MiB")));
        assert_eq!(buffer(Some(0), 0, Some(0)).0, LEAST);
        assert_eq!(buffer(Some(u64::MAX), 2, None).0, u64::MAX);
    }

    #[test]
    fn too_many_lost_events_are_refused() {
        let none = || None;
        let remark = |_: &str| {};
        let settings = |allow_lost| Settings {
            command: &[],
            cpus: None,
            nice: None,
            length: None,
            marks: false,
            buffer: None,
            allow_lost,
            stopped: &none,
            remark: &remark,
        };
        let counts = |read, lost| Counts { read, lost, fullest: 0 };
        assert_eq!(judged(counts(99, 1), &settings(false)), Ok(()));
        let Err(Failed::Broken(why)) = judged(counts(98, 2), &settings(false)) else { panic!("kept") };
        assert!(why.contains("2.0 %") && why.contains("--buffer 32MiB"), "{why}");
        assert_eq!(judged(counts(1, 98), &settings(true)), Ok(()));
        assert!(judged(counts(0, 0), &settings(true)).is_err());
    }

    #[test]
    fn what_is_known_at_the_end_is_in_the_head() {
        let mut head = Head::new();
        let ended = Ended { status: ExitStatus::from_raw(9), cpu: (20, 10) };
        result(&mut head, &ended, Counts { read: 5, lost: 1, fullest: 0 }, (100, 300, 400), 7);
        let text = head.text();
        let lines = ["# status: signal 9", "# wall_ns: 300", "# end_ns: 300", "# user_ns: 20", "# lost: 1"];
        assert!(lines.iter().all(|line| text.lines().any(|found| found == *line)), "{text}");
    }
}
