//! Parallel regions of OpenMP programs: a plain CSV, the CSV of ompP, and `likwid-perfctr -O -m`.

use import::Refused;

use crate::job::{Job, Region, Regions};
use crate::source::{Line, Num, Source, finite, short};

/// The columns of the plain form, of which `region` and `barrier_s` may be left out.
const HEADER: &str = "region,calls,threads,time_s,barrier_s";
/// How a report of ompP begins its tables.
const FLAT: &str = "##BEG flat region profiles";
const FLAT_END: &str = "##END flat region profiles";

pub(crate) fn fits(text: &str) -> bool {
    let plain = |line: &str| {
        let has = |name: &str| line.split(',').any(|column| column.trim() == name);
        has("calls") && has("threads") && has("time_s")
    };
    let head = || text.lines().take(2_000);
    head().find(|line| significant(line)).is_some_and(plain)
        || head().any(|line| line.starts_with(FLAT) || line.starts_with("TABLE,"))
}

fn significant(line: &str) -> bool {
    !line.trim().is_empty() && !line.starts_with('#')
}

/// The job that has these regions.
pub(crate) fn read(source: &Source<'_>) -> Result<Job, Refused> {
    if source.text.lines().any(|line| line.starts_with(FLAT)) {
        return ompp(source);
    }
    if source.text.lines().any(|line| line.starts_with("TABLE,")) {
        return likwid(source);
    }
    plain(source)
}

/// The plain form.
fn plain(source: &Source<'_>) -> Result<Job, Refused> {
    let mut lines = source.lines().filter(|line| significant(line.text));
    let Some(header) = lines.next() else {
        return Err(source.refused("there is no line in it", &format!("the header `{HEADER}`")));
    };
    let names: Vec<&str> = header.text.split(',').map(str::trim).collect();
    let place = |name: &str| names.iter().position(|known| *known == name);
    for name in ["calls", "threads", "time_s"] {
        if place(name).is_none() {
            let what = format!("the column `{name}` is missing");
            return Err(source.wrong(&header, &what, &format!("the header `{HEADER}`")));
        }
    }
    let mut all = Vec::new();
    let mut first = 0;
    for line in lines {
        // A name may contain commas: the numbers are the last fields.
        let fields: Vec<&str> = line.text.split(',').collect();
        let Some(more) =
            fields.len().checked_sub(names.len()).filter(|more| *more == 0 || place("region") == Some(0))
        else {
            let what = format!("{} fields, and the header has {}", fields.len(), names.len());
            return Err(source.wrong(&line, &what, &format!("`{}`", short(header.text))));
        };
        let get = |name: &str, right: &str| -> Result<Option<f64>, Refused> {
            let Some(text) = place(name).and_then(|at| fields.get(at + more)) else { return Ok(None) };
            if text.trim().is_empty() && name == "barrier_s" {
                return Ok(None);
            }
            source.number(&line, name, text, right).map(|num| Some(num.value))
        };
        let region = Region {
            calls: get("calls", "`1000`")?.unwrap_or_default(),
            threads: get("threads", "`8`")?.unwrap_or_default(),
            time: get("time_s", "`12.5`")?.unwrap_or_default(),
            barrier: get("barrier_s", "`3.1`")?,
        };
        possible(source, &line, &region)?;
        first = if first == 0 { line.number } else { first };
        all.push(region);
    }
    job(source, all, first)
}

/// A region that can have been measured.
fn possible(source: &Source<'_>, line: &Line<'_>, region: &Region) -> Result<(), Refused> {
    let Region { calls, threads, time, barrier } = region;
    if *threads < 1.0 || *calls < 1.0 {
        return Err(source.wrong(line, "a region without threads or without calls", "at least 1 of each"));
    }
    // Clocks are read one after the other, so sums of short times may be a little more than the whole.
    let most = 1.05 * time * threads;
    match barrier {
        Some(barrier) if *barrier > most && *time > 0.0 => Err(source.wrong(
            line,
            &format!("{barrier} s at the barrier are more than {threads} threads have in {time} s"),
            "`time_s` is wall-clock time, `barrier_s` the sum over the threads",
        )),
        _ => Ok(()),
    }
}

fn job(source: &Source<'_>, all: Vec<Region>, first: usize) -> Result<Job, Refused> {
    if all.iter().all(|region| region.time <= 0.0) {
        let right = format!("lines such as `solve,1000,8,12.5,3.1` behind the header `{HEADER}`");
        return Err(source.refused("there is no parallel region with a time in it", &right));
    }
    let origin = format!("{}:{} ff.", short(source.name), first);
    let threads = all.iter().map(|region| region.threads).fold(1.0, f64::max);
    let threads = Some(Num::new(threads, format!("{origin} largest team")));
    Ok(Job { threads, regions: Some(Regions { all, origin }), ..Job::default() })
}

/// The CSV of ompP: `R00001,PARALLEL,...`, a line of names, one line for each thread, and their sum.
fn ompp(source: &Source<'_>) -> Result<Job, Refused> {
    let mut all: Vec<Region> = Vec::new();
    let (mut first, mut inside) = (0, false);
    // The kind of region, the names of its columns, and its threads so far: time, calls, time at barriers.
    let (mut kind, mut names): (Option<&str>, Vec<&str>) = (None, Vec::new());
    let mut threads: Vec<(f64, f64, f64)> = Vec::new();
    for line in source.lines() {
        let text = line.text.trim();
        if text.starts_with(FLAT) || text.starts_with(FLAT_END) {
            inside = text.starts_with(FLAT);
            continue;
        }
        if !inside {
            continue;
        }
        let separator = if text.contains(';') { ';' } else { ',' };
        let fields: Vec<&str> = text.split(separator).collect();
        match fields.first().copied().unwrap_or_default() {
            "TID" => names = fields,
            "SUM" => all.extend(kind.and_then(|kind| team(kind, &std::mem::take(&mut threads)))),
            head if is_region(head) => {
                kind = fields.get(1).copied();
                threads.clear();
                first = if first == 0 { line.number } else { first };
            }
            head if finite(head).is_some() && kind.is_some() => {
                let get = |name: &str| -> Result<f64, Refused> {
                    let at = names.iter().position(|known| *known == name);
                    match at.and_then(|at| fields.get(at)) {
                        Some(text) => source.number(&line, name, text, "`1.25`").map(|num| num.value),
                        None => Ok(0.0),
                    }
                };
                let waited = if kind == Some("BARRIER") { get("execT")? } else { get("exitBarT")? };
                threads.push((get("execT")?, get("execC")?, waited));
            }
            _ => {}
        }
    }
    job(source, all, first)
}

/// `R` and five digits.
fn is_region(head: &str) -> bool {
    head.strip_prefix('R')
        .is_some_and(|digits| digits.len() >= 5 && digits.bytes().all(|b| b.is_ascii_digit()))
}

/// A region of ompP; none for kinds without a barrier. What lies within a parallel region has no time of its
/// own.
fn team(kind: &str, threads: &[(f64, f64, f64)]) -> Option<Region> {
    let outer = matches!(kind, "PARALLEL" | "PARALLEL LOOP" | "PARALLEL WORKSHARE");
    let inner = matches!(kind, "LOOP" | "WORKSHARE" | "SECTIONS" | "BARRIER");
    let calls = threads.iter().map(|(_, calls, _)| *calls).fold(0.0, f64::max);
    let time = threads.iter().map(|(time, _, _)| *time).fold(0.0, f64::max);
    let barrier = threads.iter().map(|(_, _, waited)| *waited).sum();
    (outer || inner).then_some(())?;
    (calls >= 1.0).then_some(Region {
        calls,
        threads: threads.len() as f64,
        time: if outer { time } else { 0.0 },
        barrier: Some(barrier),
    })
}

/// `likwid-perfctr -O -m`: for each region a table with the time and the calls of each thread, and in the
/// group MEM the traffic.
fn likwid(source: &Source<'_>) -> Result<Job, Refused> {
    let mut all: Vec<Region> = Vec::new();
    let (mut first, mut times): (usize, Option<Vec<f64>>) = (0, None);
    let (mut bytes, mut seconds, mut traffic) = (0.0, 0.0, String::new());
    let mut sums = false;
    for line in source.lines() {
        let fields: Vec<&str> =
            line.text.split(',').map(str::trim).filter(|field| !field.is_empty()).collect();
        let Some((head, rest)) = fields.split_first() else { continue };
        let numbers = || -> Result<Vec<f64>, Refused> {
            rest.iter().map(|text| source.number(&line, head, text, "`12.5`").map(|num| num.value)).collect()
        };
        match *head {
            "TABLE" => sums = rest.iter().any(|field| field.ends_with("STAT")),
            "RDTSC Runtime [s]" => times = Some(numbers()?),
            "call count" => {
                let calls = numbers()?.into_iter().fold(0.0, f64::max);
                let Some(times) = times.take().filter(|times| !times.is_empty()) else { continue };
                let time = times.iter().copied().fold(0.0, f64::max);
                first = if first == 0 { line.number } else { first };
                let region = Region { calls, threads: times.len() as f64, time, barrier: None };
                possible(source, &line, &region)?;
                all.push(region);
            }
            "Memory bandwidth [MBytes/s]" if !sums => {
                let rate: f64 = numbers()?.iter().sum();
                let Some(region) = all.last() else { continue };
                bytes += 1e6 * rate * region.time;
                seconds += region.threads * region.time;
                traffic = source.origin(&line, head);
            }
            _ => {}
        }
    }
    let mut job = job(source, all, first)?;
    if seconds > 0.0 {
        let rate = bytes / seconds;
        job.demand = Some((rate, rate, format!("{traffic}, all threads / their number")));
    }
    Ok(job)
}
