//! A scenario as a job log: each application whose run time is known becomes a job.

use super::Exported;
use super::apps::{self, entries, span, text_of, value, whole, workload};
use super::statements::{self, Statement};
use crate::note::Notes;
use crate::page::at;
use crate::units;
use crate::{Refused, Source};

/// Most jobs of a log that is written.
const MOST_JOBS: u64 = 1_000_000;

/// Writes a scenario as a job log.
///
/// # Errors
/// The scenario is no scenario, or no application has a run time.
pub fn swf(scenario: &Source<'_>) -> Result<Exported, Refused> {
    let root = apps::tree(scenario)?;
    let mut notes = Notes::default();
    let mut jobs: Vec<Job> = Vec::new();
    let mut numbers = std::collections::BTreeMap::new();
    let mut largest = 0;
    for entry in value(&root, "apps").map_or(&[][..], entries) {
        let (name, app) = (entry.key.as_str(), &entry.value);
        let place = at(scenario.line(entry.place.start), &format!("apps.{name}"));
        let Some((tasks, work)) = length(app) else {
            notes.left_out(place, "an application whose run time follows from the simulation only");
            continue;
        };
        let copies = whole(app, "copies").unwrap_or(1);
        let every = value(app, "arrival").and_then(|arrival| span(arrival, "every"));
        if value(app, "arrival").is_some() && every.is_none() {
            notes.left_out(place.clone(), "random arrivals: the copies come together");
        }
        unstated(&mut notes, app, &place);
        let before = text_of(app, "after").and_then(|after| numbers.get(after).copied());
        if text_of(app, "after").is_some() && before.is_none() {
            notes.left_out(place.clone(), "an application after one that is no job");
        }
        let start = span(app, "start").unwrap_or(0);
        for copy in 0..copies {
            if jobs.len() as u64 >= MOST_JOBS {
                return Err(scenario.refused("more than a million jobs"));
            }
            let submitted = start.saturating_add(copy.saturating_mul(every.unwrap_or(0)));
            let ended = before.and_then(|before: usize| jobs.get(before)).map(|job| job.at + job.work);
            let at = ended.map_or(submitted, |ended| ended.saturating_add(start));
            let estimate = span(app, "estimate");
            jobs.push(Job { at, work, tasks, before: before.map(|before| (before, start)), estimate });
        }
        largest = largest.max(tasks);
        if let Some(last) = jobs.len().checked_sub(1) {
            numbers.insert(name.to_owned(), last);
        }
    }
    if jobs.is_empty() {
        return Err(scenario.refused("no application has a run time that is known without simulating it"));
    }
    for key in ["cgroups", "window", "fidelity"] {
        if let Some(entry) = root.get(key) {
            notes.left_out(at(scenario.line(entry.place.start), key), "a job log does not state it");
        }
    }
    let admission = value(&root, "admission");
    if admission.and_then(|limits| text_of(limits, "order")).is_some_and(|order| order != "fcfs") {
        let place = root.get("admission").map_or(0, |entry| scenario.line(entry.place.start));
        notes.left_out(at(place, "admission.order"), "a job log does not state it");
    }
    let cores = admission.and_then(|limits| whole(limits, "threads"));
    let mut text = String::from("; Version: 2.2\n; Note: written by `oversim export`\n");
    text += &format!("; MaxJobs: {}\n; MaxProcs: {}\n", jobs.len(), cores.unwrap_or(largest));
    text += &lines(&jobs);
    Ok(Exported { text, notes: notes.done() })
}

/// A job of the log.
struct Job {
    /// When it is submitted, or, behind another job, would be if no job waited; in ns.
    at: u64,
    work: u64,
    tasks: u64,
    /// The job before it by its place in the scenario, and the time between both in ns.
    before: Option<(usize, u64)>,
    /// The run time that its user states, in ns.
    estimate: Option<u64>,
}

/// The lines of jobs, sorted by their submit time as the format wants it.
fn lines(jobs: &[Job]) -> String {
    let mut order: Vec<usize> = (0..jobs.len()).collect();
    order.sort_by_key(|job| jobs[*job].at);
    let mut numbers = vec![0; jobs.len()];
    order.iter().enumerate().for_each(|(at, job)| numbers[*job] = at + 1);
    let mut text = String::new();
    for job in order {
        let Job { at, work, tasks, before, estimate } = &jobs[job];
        let (submitted, preceding, think) = match before {
            Some((before, think)) => ("-1".to_owned(), numbers[*before].to_string(), seconds(*think)),
            None => (seconds(*at), "-1".to_owned(), "-1".to_owned()),
        };
        let (number, run) = (numbers[job], seconds(*work));
        let requested = estimate.map_or_else(|| "-1".to_owned(), seconds);
        text += &format!(
            "{number} {submitted} -1 {run} {tasks} {run} -1 {tasks} {requested} -1 1 -1 -1 -1 -1 -1 \
            {preceding} {think}\n"
        );
    }
    text
}

/// Notes what a log does not state of an application.
fn unstated(notes: &mut Notes, app: &notation::yaml::Node, place: &str) {
    let program = value(app, "program");
    for (key, what) in [
        ("cpus", "the cpus that it may use"),
        ("nice", "its nice value"),
        ("scheduling", "its scheduling policy"),
        ("slice", "its slice"),
        ("deadline", "its deadline"),
    ] {
        if value(app, key).is_some() || program.is_some_and(|program| value(program, key).is_some()) {
            notes.left_out(place, what);
        }
    }
}

/// Seconds with the decimals that are needed.
fn seconds(ns: u64) -> String {
    let (whole, rest) = (ns / 1_000_000_000, ns % 1_000_000_000);
    if rest == 0 {
        return whole.to_string();
    }
    format!("{whole}.{rest:09}").trim_end_matches('0').to_owned()
}

/// The tasks of an application and how long each works, when nothing else decides it.
fn length(app: &notation::yaml::Node) -> Option<(u64, u64)> {
    let own = || whole(app, "tasks");
    if let Some(program) = value(app, "program") {
        let code = statements::read(value(program, "code")?);
        return Some((whole(program, "count").unwrap_or(1), work(&code, 0)?));
    }
    match workload(app)? {
        ("hog", Some(parameters)) => Some((own()?, span(parameters, "work")?)),
        ("spmd", Some(parameters)) => {
            let plain =
                entries(parameters).iter().all(|entry| matches!(entry.key.as_str(), "work" | "intervals"));
            let tasks = own()?;
            (plain && tasks > 0).then_some(())?;
            Some((tasks, span(parameters, "work")? / tasks))
        }
        _ => None,
    }
}

/// The time of statements that only compute.
fn work(block: &[Statement], depth: usize) -> Option<u64> {
    let mut sum = 0_u64;
    for statement in block {
        let words: Vec<&str> = statement.words.iter().map(String::as_str).collect();
        let more = match (&words[..], &statement.block) {
            (["run", span], None) => apps::duration(span)?,
            (["barrier"], None) => 0,
            (["repeat", times], Some(inner)) if depth < 8 => {
                work(inner, depth + 1)?.checked_mul(times.parse().ok()?)?
            }
            _ => return None,
        };
        sum = sum.checked_add(more).filter(|sum| *sum <= units::LONGEST)?;
    }
    (sum > 0).then_some(sum)
}
