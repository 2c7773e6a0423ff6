//! `perf stat`: with `-x,` (values, units and events in fields) and its text.

use std::collections::BTreeMap;

use import::Refused;

use crate::job::{Job, Word};
use crate::source::{Line, Num, Source, finite, short};

/// Bytes that a miss of the last-level cache moves: a line of x86, and of most ARM servers.
const LINE: f64 = 64.0;
/// How many times the traffic may exceed the counted load misses. Lines that a program writes are read and
/// written back (twice the traffic of a load), and what the prefetchers fetch is no load miss; streams with
/// one store for each two loads come to 2, and prefetched ones to more. The factor is not measured.
const UNSEEN: f64 = 3.0;
/// Separators of `-x` that are recognised.
const SEPARATORS: [char; 4] = [',', ';', '|', '\t'];
/// Events that are used, without the modifiers behind a colon.
const EVENTS: [&str; 17] = [
    "task-clock",
    "cpu-clock",
    "duration_time",
    "user_time",
    "system_time",
    "context-switches",
    "cpu-migrations",
    "page-faults",
    "cycles",
    "instructions",
    "cache-misses",
    "LLC-load-misses",
    "LLC-misses",
    "cycle_activity.stalls_l3_miss",
    "cycle_activity.stalls_mem_any",
    "stalled-cycles-backend",
    "branches",
];

/// The heading of the text.
const HEADING: &str = "Performance counter stats for";

pub(crate) fn fits(text: &str) -> bool {
    text.lines().take(2_000).any(|line| line.contains(HEADING) || fields(line).is_some())
}

/// Value, unit and event of a line of `-x`; none for others.
fn fields(line: &str) -> Option<(&str, &str, &str)> {
    SEPARATORS.into_iter().find_map(|separator| {
        let mut parts = line.trim().split(separator);
        let (value, unit, event) = (parts.next()?, parts.next()?, parts.next()?);
        EVENTS.contains(&plain(event)).then_some((value.trim(), unit.trim(), event.trim()))
    })
}

/// An event without its modifiers, and without its unit on processors with two kinds of cores.
fn plain(event: &str) -> &str {
    let event = event.trim();
    let inner = ["cpu_core/", "cpu_atom/", "cpu/"].iter().find_map(|unit| event.strip_prefix(unit));
    let event = inner.map_or(event, |event| event.split('/').next().unwrap_or(event));
    event.split(':').next().unwrap_or(event)
}

/// Counts by event, those of both kinds of cores together.
#[derive(Default)]
struct Counts {
    all: BTreeMap<String, Num>,
    absent: Vec<String>,
}

impl Counts {
    fn add(&mut self, event: &str, num: &Num) {
        let sum =
            self.all.entry(plain(event).to_owned()).or_insert_with(|| Num::new(0.0, num.origin.clone()));
        sum.value += num.value;
    }

    fn get(&self, event: &str) -> Option<&Num> {
        self.all.get(event)
    }
}

/// The job that was counted.
pub(crate) fn read(source: &Source<'_>) -> Result<Job, Refused> {
    let mut counts = Counts::default();
    let mut name = None;
    for line in source.lines() {
        if let Some((_, rest)) = line.text.split_once(HEADING) {
            let command = rest.trim().trim_end_matches(':').trim_matches('\'');
            let first = command.split_whitespace().next().unwrap_or_default();
            let program = first.rsplit('/').next().unwrap_or(first).to_owned();
            name = Some(Word { text: program, origin: source.origin(&line, "command") });
        } else if let Some((value, unit, event)) = fields(line.text) {
            count(source, &line, (value, unit, event), &mut counts)?;
        } else if let Some((value, unit, event)) = words(line.text) {
            // The text groups digits: `1,754.57 msec`.
            count(source, &line, (&value.replace(',', ""), unit, event), &mut counts)?;
        }
    }
    let Some(clock) = counts.get("task-clock").or_else(|| counts.get("cpu-clock")) else {
        return Err(source.refused(
            "there is no `task-clock`, to which the other counts refer",
            "`perf stat -x, -o perf.csv -e task-clock,context-switches,cycles,instructions,\
             LLC-load-misses PROGRAM`",
        ));
    };
    if clock.value <= 0.0 {
        let what = format!("`task-clock` is 0 ({}): the program had no cpu", clock.origin);
        return Err(source.refused(&what, "count a run that computes"));
    }
    let mut job = Job { name, cpu: Some(clock.clone()), ..Job::default() };
    job.elapsed =
        counts.get("duration_time").cloned().or_else(|| counts.get("elapsed").cloned()).or_else(|| {
            let utilized = counts.get("utilized").filter(|used| used.value > 0.0)?;
            let origin = format!("{} divided by {}", clock.origin, utilized.origin);
            Some(Num::new(clock.value / utilized.value, origin))
        });
    job.switches = counts.get("context-switches").cloned();
    memory(&counts, clock, &mut job);
    remarks(&counts, &mut job);
    Ok(job)
}

/// Adds one count. Times become seconds.
fn count(
    source: &Source<'_>,
    line: &Line<'_>,
    (value, unit, event): (&str, &str, &str),
    counts: &mut Counts,
) -> Result<(), Refused> {
    if value.starts_with('<') {
        counts.absent.push(plain(event).to_owned());
        return Ok(());
    }
    let mut num = source.number(line, &format!("`{}`", short(event)), value, "`1754.57,msec,task-clock`")?;
    num.value *= match unit {
        "msec" => 1e-3,
        "ns" => 1e-9,
        "usec" => 1e-6,
        _ => 1.0,
    };
    num.origin = source.origin(line, plain(event));
    // What is counted in user mode alone never sees a switch.
    if plain(event) == "context-switches" && event.contains(":u") {
        return Ok(());
    }
    counts.add(event, &num);
    if let Some(used) = utilized(line.text) {
        counts.add("utilized", &Num::new(used, source.origin(line, "CPUs utilized")));
    }
    Ok(())
}

/// The number before `CPUs utilized`, in fields or in the text.
fn utilized(line: &str) -> Option<f64> {
    let before = line.split("CPUs utilized").next().filter(|before| before.len() < line.len())?;
    let before = before.trim_end_matches(|c: char| SEPARATORS.contains(&c) || c.is_whitespace());
    finite(before.rsplit(|c: char| SEPARATORS.contains(&c) || c.is_whitespace() || c == '#').next()?)
}

/// Value, unit and event of a line of the text: `800.35 msec task-clock # ...`, `0.8 seconds time elapsed`.
fn words(line: &str) -> Option<(&str, &str, &str)> {
    let mut words = line.split_whitespace();
    let first = words.next()?;
    let mut next = words.next()?;
    if first == "<not" {
        return Some((first, "", words.next().filter(|event| EVENTS.contains(&plain(event)))?));
    }
    if next == "seconds" && words.next() == Some("time") && words.next() == Some("elapsed") {
        return Some((first, "", "elapsed"));
    }
    let mut unit = "";
    if matches!(next, "msec" | "ns" | "usec") {
        (unit, next) = (next, line.split_whitespace().nth(2)?);
    }
    EVENTS.contains(&plain(next)).then_some((first, unit, next))
}

/// Demand and memory-bound share.
fn memory(counts: &Counts, clock: &Num, job: &mut Job) {
    let misses = ["LLC-load-misses", "LLC-misses", "cache-misses"];
    if let Some((event, misses)) = misses.iter().find_map(|event| Some((event, counts.get(event)?))) {
        let low = misses.value * LINE / clock.value;
        let what = format!(
            "{} x 64 B / task-clock; write-backs and prefetches are not counted: x1 to x{UNSEEN}",
            misses.origin
        );
        let note = if *event == "cache-misses" { " (the last-level cache on most processors)" } else { "" };
        job.demand = Some((low, UNSEEN * low, what + note));
    }
    let cycles = counts.get("cycles").filter(|cycles| cycles.value > 0.0);
    let share = |event: &str| {
        let stalls = counts.get(event)?;
        Some(((stalls.value / cycles?.value).min(1.0), stalls.origin.clone()))
    };
    let upper = share("cycle_activity.stalls_mem_any").or_else(|| share("stalled-cycles-backend"));
    match (share("cycle_activity.stalls_l3_miss"), upper) {
        (Some((low, origin)), upper) => {
            let high = upper.map_or(low, |(high, _)| high.max(low));
            let what = format!("{origin} / cycles; other stalls are the upper end");
            job.bound = Some((low, high, what));
        }
        (None, Some((high, origin))) => job.remarks.push(format!(
            "at most {:.0} % of its time waits for memory ({origin} / cycles): `bound` is derived from the \
             demand",
            100.0 * high
        )),
        (None, None) => {}
    }
}

/// What is known and is no part of a scenario.
fn remarks(counts: &Counts, job: &mut Job) {
    if let (Some(cycles), Some(instructions)) = (counts.get("cycles"), counts.get("instructions"))
        && cycles.value > 0.0
    {
        let per = instructions.value / cycles.value;
        job.remarks.push(format!("{per:.2} instructions in a cycle ({})", instructions.origin));
    }
    if let Some(moved) = counts.get("cpu-migrations") {
        let many = notation::number::plural(moved.value as usize, "migration", "migrations");
        job.remarks.push(format!("{many} ({})", moved.origin));
    }
    let absent: Vec<&str> = counts.absent.iter().map(String::as_str).filter(|event| missed(event)).collect();
    if !absent.is_empty() {
        job.remarks
            .push(format!("not counted on that host, as in many virtual machines: {}", absent.join(", ")));
    }
}

/// Events whose absence costs a number of the scenario.
fn missed(event: &str) -> bool {
    event == "cycles" || event.contains("misses") || event.starts_with("cycle_activity")
}
