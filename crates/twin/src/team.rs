//! Teams of threads: threads of one process that compute together and meet. Found from marks of the function
//! that they compute in, or else from bursts of wake-ups that reach most of them.

#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};

use crate::course::{Courses, Step};
use crate::threads::{Id, Threads};

/// Cpu time between two wake-ups of a burst, at most, in ns: what a waker needs for one wake-up after the
/// other, also where each of them costs an interrupt to another cpu.
const BURST: u64 = 300_000;
/// The other threads do less than this share of what they do in most of the parallel phases: a serial one.
const BRIEF: f64 = 0.2;
/// A thread with less than this share of the mean cpu time of its process does not belong to the team.
const MEMBER: f64 = 0.2;
/// Fewest regions of a team.
const FEWEST: usize = 4;

/// A team of threads.
#[derive(Clone, PartialEq, Debug)]
pub struct Team {
    /// Its threads; the first one does what is serial.
    pub members: Vec<Id>,
    /// Its parallel regions.
    pub regions: Vec<Region>,
    /// From the first instant of the program to the first region, in ns.
    pub before: u64,
    /// From the end of the last region to the end of the program, in ns.
    pub after: u64,
    /// It was found by marks of this name.
    pub mark: Option<String>,
    /// The share of the waits of its threads that end at a burst of wake-ups; nothing where marks say what
    /// is a region.
    pub explained: Option<f64>,
    /// Threads poll while they wait, as far as the marks show: cpu time outside of regions, in ns.
    pub polled: u64,
}

/// A serial part and the parallel region behind it.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Region {
    /// Cpu time of the first thread alone, in ns.
    pub serial: u64,
    /// Cpu time of each thread in the region, in ns.
    pub work: Vec<u64>,
}

/// The threads of one process that could be a team, the one that created them first.
pub(crate) fn members(threads: &Threads, courses: &Courses, process: &BTreeSet<Id>) -> Vec<Id> {
    let cpu = |id: &Id| courses.list.get(id).map_or(0, |course| course.cpu);
    let most = process.iter().map(cpu).max().unwrap_or(0) as f64;
    let mut members: Vec<Id> = process.iter().copied().filter(|id| cpu(id) as f64 >= MEMBER * most).collect();
    // The first thread of the process leads, however little it computes.
    if let Some(first) = process.iter().next()
        && members.iter().any(|id| threads.get(*id).is_some_and(|thread| thread.parent == Some(*first)))
        && !members.contains(first)
    {
        members.insert(0, *first);
    }
    members.sort_unstable();
    members
}

/// A team by a mark: a function that each of the threads enters equally often.
pub(crate) fn marked(
    courses: &Courses,
    marks: &[String],
    members: &[Id],
    ours: &dyn Fn(&str) -> bool,
) -> Option<Team> {
    let entered = entered(courses, members);
    let (mark, name) = (0..).zip(marks).find(|(mark, name)| entered.contains(mark) && ours(name))?;
    // Every thread's stays in the function: from, to, cpu time between, and before it.
    let stays: Vec<Vec<Stay>> = members.iter().map(|id| stays(courses, *id, marks, mark)).collect();
    let regions = stays.iter().map(Vec::len).min().filter(|regions| *regions >= FEWEST)?;
    let first = courses.list.get(members.first()?)?;
    let mut team = Team {
        members: members.to_vec(),
        regions: Vec::new(),
        before: stays
            .iter()
            .filter_map(|stays| stays.first())
            .map(|stay| stay.from)
            .min()?
            .saturating_sub(first.first),
        after: 0,
        mark: Some(name.clone()),
        explained: None,
        polled: 0,
    };
    let mut end = 0;
    for number in 0..regions {
        let of = |thread: usize| {
            stays.get(thread).and_then(|stays| stays.get(number)).copied().unwrap_or_default()
        };
        let lead = of(0);
        // What the first thread does after the last one has left the region before.
        let serial = if number == 0 { 0 } else { lead.from.saturating_sub(end).min(lead.idle_for) };
        end = (0..members.len()).map(|thread| of(thread).to).max().unwrap_or(0);
        team.regions.push(Region { serial, work: (0..members.len()).map(|thread| of(thread).ran).collect() });
    }
    let within: u64 = team.regions.iter().map(|region| region.work.iter().sum::<u64>() + region.serial).sum();
    let all: u64 = members.iter().filter_map(|id| courses.list.get(id)).map(|course| course.cpu).sum();
    team.polled = all.saturating_sub(within);
    team.after = first.last.saturating_sub(end);
    Some(team)
}

/// A thread in a marked function.
#[derive(Clone, Copy, Default, Debug)]
struct Stay {
    from: u64,
    to: u64,
    /// Cpu time in it, in ns.
    ran: u64,
    /// Cpu time since it left the function before, in ns.
    idle_for: u64,
}

/// The marked functions that each of the threads entered often enough.
fn entered(courses: &Courses, members: &[Id]) -> BTreeSet<u32> {
    let mut threads: BTreeMap<u32, usize> = BTreeMap::new();
    for course in members.iter().filter_map(|id| courses.list.get(id)) {
        let mut times: BTreeMap<u32, usize> = BTreeMap::new();
        for timed in &course.steps {
            if let Step::Mark(mark, false) = timed.step {
                *times.entry(mark).or_default() += 1;
            }
        }
        for (mark, _) in times.into_iter().filter(|(_, times)| *times >= FEWEST) {
            *threads.entry(mark).or_default() += 1;
        }
    }
    threads.into_iter().filter(|(_, threads)| *threads == members.len()).map(|(mark, _)| mark).collect()
}

/// The mark of a return: that of the entry, or one whose name begins alike (`w_in`, `w_out`).
fn returns(marks: &[String], entry: u32, mark: u32) -> bool {
    let group = |mark: u32| marks.get(mark as usize).map(|name| name.split('_').next().unwrap_or(name));
    entry == mark || group(entry) == group(mark)
}

fn stays(courses: &Courses, id: Id, marks: &[String], entry: u32) -> Vec<Stay> {
    let mut found = Vec::new();
    let Some(course) = courses.list.get(&id) else { return found };
    let (mut inside, mut stay): (bool, Stay) = (false, Stay::default());
    for timed in &course.steps {
        match timed.step {
            Step::Run(ran) if inside => stay.ran += ran,
            Step::Run(ran) => stay.idle_for += ran,
            Step::Mark(mark, false) if mark == entry => {
                inside = true;
                stay.from = timed.at;
            }
            Step::Mark(mark, true) if inside && returns(marks, entry, mark) => {
                stay.to = timed.at;
                found.push(std::mem::take(&mut stay));
                inside = false;
            }
            _ => {}
        }
    }
    found
}

/// A release: an instant at which a thread lets most of the others go on.
#[derive(Clone, Copy, Debug)]
struct Release {
    at: u64,
}

/// A team by bursts of wake-ups.
pub(crate) fn released(courses: &Courses, members: &[Id]) -> Option<Team> {
    let releases = releases(courses, members);
    if releases.len() < FEWEST {
        return None;
    }
    let phases = phases(courses, members, &releases);
    let first = courses.list.get(members.first()?)?;
    let begin = releases.first()?.at;
    let (regions, last) = regions(&phases);
    if regions.len() < FEWEST {
        return None;
    }
    let explained = explained(courses, members, &releases);
    Some(Team {
        members: members.to_vec(),
        regions,
        before: begin.saturating_sub(first.first),
        after: first.last.saturating_sub(last),
        mark: None,
        explained: Some(explained),
        polled: 0,
    })
}

fn releases(courses: &Courses, members: &[Id]) -> Vec<Release> {
    let ours: BTreeSet<Id> = members.iter().copied().collect();
    let mut wakes: Vec<(u64, Id, Id)> = Vec::new();
    for id in members {
        for timed in courses.list.get(id).into_iter().flat_map(|course| &course.steps) {
            if let Step::Wake { whom, .. } = timed.step
                && ours.contains(&whom)
            {
                wakes.push((timed.at, *id, whom));
            }
        }
    }
    wakes.sort_unstable();
    // Bursts: wakes of one thread, each soon after the one before.
    let mut bursts: BTreeMap<Id, (u64, u64, BTreeSet<Id>)> = BTreeMap::new();
    let mut found = Vec::new();
    // Of three threads two: a lock is handed to one.
    let enough = members.len().div_ceil(2);
    let mut close = |burst: (u64, u64, BTreeSet<Id>)| {
        if burst.2.len() >= enough.max(1) {
            found.push(Release { at: burst.0 });
        }
    };
    for (at, waker, whom) in wakes {
        match bursts.get_mut(&waker) {
            Some((_, last, reached)) if at - *last <= BURST && !reached.contains(&whom) => {
                *last = at;
                reached.insert(whom);
            }
            _ => {
                if let Some(burst) = bursts.insert(waker, (at, at, [whom].into())) {
                    close(burst);
                }
            }
        }
    }
    bursts.into_values().for_each(close);
    found.sort_unstable_by_key(|release| release.at);
    found
}

/// The cpu time of each thread between releases, and where a phase ends.
fn phases(courses: &Courses, members: &[Id], releases: &[Release]) -> Vec<(u64, Vec<u64>)> {
    let mut phases: Vec<(u64, Vec<u64>)> =
        releases.iter().map(|release| (release.at, vec![0; members.len()])).collect();
    let end =
        members.iter().filter_map(|id| courses.list.get(id)).map(|course| course.last).max().unwrap_or(0);
    phases.push((end, vec![0; members.len()]));
    for (thread, id) in members.iter().enumerate() {
        for timed in courses.list.get(id).into_iter().flat_map(|course| &course.steps) {
            let Step::Run(mut ran) = timed.step else { continue };
            // A run that lasts over a release belongs to both phases, by where it ends.
            let mut at = timed.at;
            while ran > 0 {
                let phase = releases.partition_point(|release| release.at < at);
                let begin = phase
                    .checked_sub(1)
                    .and_then(|before| releases.get(before))
                    .map_or(0, |before| before.at);
                let part = if at > begin { ran.min(at - begin) } else { ran };
                if let Some(cpu) = phases.get_mut(phase).and_then(|(_, cpu)| cpu.get_mut(thread)) {
                    *cpu += part;
                }
                ran -= part;
                at = begin;
            }
        }
    }
    phases
}

/// Serial and parallel phases become regions; what is before the first one and behind the last one does not
/// count. Where the last region ends.
///
/// In a serial phase the other threads do next to nothing: a small part of what they do in most of the phases
/// in which they do much.
fn regions(phases: &[(u64, Vec<u64>)]) -> (Vec<Region>, u64) {
    let others = |cpu: &[u64]| cpu.iter().skip(1).sum::<u64>();
    let inner = phases.get(1..).unwrap_or_default();
    let mut sorted: Vec<u64> = inner.iter().map(|(_, cpu)| others(cpu)).collect();
    sorted.sort_unstable();
    let much = sorted.get(3 * sorted.len() / 4).copied().unwrap_or(0);
    let (mut found, mut serial, mut last) = (Vec::<Region>::new(), 0, 0);
    for (end, cpu) in inner {
        if others(cpu) as f64 <= BRIEF * much as f64 {
            serial += cpu.first().copied().unwrap_or(0);
        } else {
            found.push(Region { serial: std::mem::take(&mut serial), work: cpu.clone() });
            last = *end;
        }
    }
    (found, last)
}

/// The share of the waits of the threads for each other that end at a release.
fn explained(courses: &Courses, members: &[Id], releases: &[Release]) -> f64 {
    let ours: BTreeSet<Id> = members.iter().copied().collect();
    let (mut all, mut some) = (0_u64, 0_u64);
    for timed in members.iter().filter_map(|id| courses.list.get(id)).flat_map(|course| &course.steps) {
        let of_team = match timed.step {
            Step::Wait { whom, slept: Some(_) } => ours.contains(&whom),
            Step::Outside(length) => length > BURST,
            _ => continue,
        };
        all += 1;
        let after = releases.partition_point(|release| release.at <= timed.at);
        let near = after.checked_sub(1).and_then(|place| releases.get(place));
        some += u64::from(
            of_team && near.is_some_and(|release| timed.at - release.at <= BURST * members.len() as u64),
        );
    }
    if all == 0 { 1.0 } else { some as f64 / all as f64 }
}
