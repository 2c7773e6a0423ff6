//! Sweeps: a copy whose bytes depend on the plan only, and the same again, in full or in part.

use std::fs::{self, File};
use std::io::{BufRead, BufReader};
use std::num::NonZeroUsize;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use experiment::number::plural;
use scenario::Grid;
use sweep::merge::{Merged, NDJSON, merge};
use sweep::plan::{Plan, Shard};
use sweep::request::Request;
use sweep::store::{PLAN, Store};
use sweep::work::work as simulate;

use crate::compare::{bytes_differ, lines_differ};
use crate::result::stored;
use crate::sample::Sample;
use crate::{Trouble, Work};

/// Differing runs that a report names.
const NAMED: usize = 5;

/// The plan of a sweep again, from its stored inputs alone.
///
/// # Errors
/// They are wrong, or give another plan.
pub(crate) fn planned(directory: &Path, plan: &Plan, work: &Work<'_>) -> Result<Grid, Trouble> {
    let stored = stored(directory, "sweep")?;
    let grid = Grid::load(work.policies, &stored.name, &stored.text, &stored.overrides());
    let grid = grid.map_err(Trouble::Refused)?;
    let again = Plan::new(&grid, plan.until).map_err(|why| Trouble::refused(&why))?;
    if again == *plan {
        return Ok(grid);
    }
    Err(Trouble::refused(&format!(
        "{} has a plan that differs from that of its inputs in {}",
        directory.display(),
        plan.differences(&again)
    )))
}

/// Copies the runs of a sweep to another directory: its plan, parts that depend on nothing else, and the
/// merged file.
///
/// # Errors
/// Runs are missing, or a directory cannot be read or written.
pub(crate) fn copy(from: &Path, to: &Path, plan: &Plan) -> Result<u64, Trouble> {
    let (source, _) = Store::open(from)?;
    let copy = Store::create(to, plan)?;
    copy.copy(&source, &|_| true)?;
    match merge(&copy, plan)? {
        Merged::Whole(runs, _) => Ok(runs),
        Merged::Missing(status) => Err(Trouble::refused(&format!(
            "{} of the sweep in {} are missing: `oversim sweep` with the same arguments continues it",
            plural(usize::try_from(status.missing).unwrap_or(usize::MAX), "run", "runs"),
            from.display()
        ))),
    }
}

/// What came out again of a sweep.
pub(crate) struct Repeated {
    /// Runs that were simulated.
    pub(crate) runs: u64,
    /// Configurations of which runs were simulated, and all of them.
    pub(crate) configurations: (u64, u64),
    /// Sentences about what differs.
    pub(crate) differences: Vec<String>,
}

/// Simulates the runs of a sample of configurations, or of all, takes the others from the packed directory,
/// and compares all files with the packed ones. `room` is a directory for two copies of the sweep.
///
/// # Errors
/// The inputs are wrong, or runs cannot be simulated here.
pub(crate) fn verify(
    directory: &Path,
    room: &Path,
    sample: Sample,
    work: &Work<'_>,
) -> Result<Repeated, Trouble> {
    let (packed, plan) = Store::open(directory)?;
    let grid = planned(directory, &plan, work)?;
    let chosen = sample.of(plan.configurations);
    let (mixed, again) = (room.join("mixed"), room.join("again"));
    let store = Store::create(&mixed, &plan)?;
    if let Some(chosen) = &chosen {
        let runs = u64::from(plan.most_replicates()) * plan.slots() as u64;
        store.copy(&packed, &|run| !chosen.contains(&(run / runs.max(1))))?;
    }
    let available = || std::thread::available_parallelism().map_or(1, NonZeroUsize::get);
    let jobs = if work.jobs == 0 { available() } else { work.jobs };
    let limit = scenario::memory::limit(None);
    let (done, all) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let request = Request {
        shard: Shard::WHOLE,
        jobs,
        stop: &AtomicBool::new(false),
        limit: limit.as_ref(),
        begin: &|there, most| {
            let most = usize::try_from(most.saturating_sub(there)).unwrap_or(usize::MAX);
            all.store(most, Ordering::Relaxed);
        },
        progress: &|| {
            let done = done.fetch_add(1, Ordering::Relaxed) + 1;
            (work.progress)(done, all.load(Ordering::Relaxed));
        },
        waits: &|| {},
        unlocked: &|| {},
    };
    let worked = simulate(&grid, &plan, &store, request)?;
    copy(&mixed, &again, &plan)?;
    let count = chosen.map_or(plan.configurations, |chosen| chosen.len() as u64);
    Ok(Repeated {
        runs: worked.runs,
        configurations: (count, plan.configurations),
        differences: differences(directory, &again)?,
    })
}

/// What differs between the packed files of a sweep and those that came out again.
fn differences(packed: &Path, again: &Path) -> Result<Vec<String>, Trouble> {
    let mut found = merged(&packed.join(NDJSON), &again.join(NDJSON))?;
    let names = |directory: &Path| {
        let entries = fs::read_dir(directory).map_err(|error| Trouble::failed("read", directory, &error))?;
        let mut names: Vec<String> =
            entries.flatten().map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
        names.sort_unstable();
        Ok::<_, Trouble>(names)
    };
    let (there, here) = (names(&packed.join("parts"))?, names(&again.join("parts"))?);
    let read = |path: &Path| fs::read(path).map_err(|error| Trouble::failed("read", path, &error));
    for name in there.iter().filter(|name| here.contains(name)) {
        let name = format!("parts/{name}");
        let differs = bytes_differ(&name, &read(&packed.join(&name))?, &read(&again.join(&name))?);
        found.extend(differs);
    }
    found.extend(bytes_differ(PLAN, &read(&packed.join(PLAN))?, &read(&again.join(PLAN))?));
    // The name of a part has the checksum of its runs.
    let other: Vec<&String> = there.iter().filter(|name| !here.contains(name)).collect();
    if !other.is_empty() || there.len() != here.len() {
        let other: Vec<String> = other.iter().map(|name| format!("parts/{name}")).collect();
        found.push(format!("the runs in {} differ", other.join(", ")));
    }
    Ok(found)
}

/// The runs in which two merged files differ: the first ones, and how many there are.
fn merged(packed: &Path, again: &Path) -> Result<Vec<String>, Trouble> {
    let open = |path: &Path| {
        File::open(path).map(BufReader::new).map_err(|error| Trouble::failed("read", path, &error))
    };
    let (mut first, mut second) = (open(packed)?.lines(), open(again)?.lines());
    let (mut found, mut count, mut number) = (Vec::new(), 0_usize, 0);
    loop {
        number += 1;
        let line = |line: Option<std::io::Result<String>>, path: &Path| {
            line.transpose().map_err(|error| Trouble::failed("read", path, &error))
        };
        let (a, b) = (line(first.next(), packed)?, line(second.next(), again)?);
        if a.is_none() && b.is_none() {
            break;
        }
        if a != b {
            count += 1;
            if found.len() < NAMED {
                found.push(lines_differ(number, a.as_deref(), b.as_deref()));
            }
        }
    }
    if count > found.len() {
        found.push(format!("{} more differ in {NDJSON}", plural(count - found.len(), "run", "runs")));
    }
    Ok(found)
}
