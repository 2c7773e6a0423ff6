//! A campaign: cases one after the other on several threads, until their number or a time is reached.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use serde_json::Value;

use super::check::{Failure, check_text};
use super::shrink::shrink;
use super::statistics::Statistics;
use super::{scenario, write};

/// Time between two writings of the statistics.
const PERIOD: Duration = Duration::from_secs(60);
/// A case that takes longer is endless; one takes milliseconds, its shrinking seconds, and the machine may be
/// busy.
const LONGEST: Duration = Duration::from_secs(1_800);
/// Endless cases whose threads are replaced.
const MOST_ENDLESS: usize = 4;
/// Failures of a kind that are shrunk; of more only the seed is kept.
const SHRUNK: u64 = 5;

/// What a campaign does.
#[derive(Clone, Debug)]
pub struct Campaign {
    /// The first seed.
    pub first: u64,
    /// Cases at most; none: until the time is over.
    pub cases: Option<u64>,
    /// Time after which no case begins.
    pub time: Option<Duration>,
    /// Threads, at least 1.
    pub jobs: usize,
    /// Where failures and statistics are written; none: nowhere.
    pub out: Option<PathBuf>,
}

/// What is done with each failure: its seed, and the file that has the shrunk scenario.
type Report = dyn Fn(u64, &Failure, Option<&Path>) + Send + Sync;

/// What the threads share.
struct Shared {
    plan: Campaign,
    began: Instant,
    next: AtomicU64,
    statistics: Mutex<Statistics>,
    /// What runs now, since when; none: it counts as a failure already.
    running: Mutex<BTreeMap<u64, Option<Instant>>>,
    shrunk: Mutex<BTreeMap<&'static str, u64>>,
    report: Box<Report>,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Runs a campaign. `report` gets each failure with its seed and the file that has the shrunk scenario. A
/// case that does not end within half an hour is a failure. Another thread takes the place of its own, which
/// continues until the process ends.
///
/// # Errors
/// The directory or a file in it cannot be written.
pub fn campaign(
    plan: &Campaign,
    report: impl Fn(u64, &Failure, Option<&Path>) + Send + Sync + 'static,
) -> io::Result<Statistics> {
    if let Some(out) = &plan.out {
        fs::create_dir_all(out)?;
    }
    let shared = Arc::new(Shared {
        plan: plan.clone(),
        began: Instant::now(),
        next: AtomicU64::new(plan.first),
        statistics: Mutex::new(Statistics::new(plan.first)),
        running: Mutex::default(),
        shrunk: Mutex::default(),
        report: Box::new(report),
    });
    let start = || {
        let shared = Arc::clone(&shared);
        std::thread::spawn(move || shared.work())
    };
    let mut workers: Vec<_> = (0..plan.jobs.max(1)).map(|_| start()).collect();
    let mut written = Instant::now();
    let mut endless = 0;
    while workers.iter().filter(|worker| !worker.is_finished()).count() > shared.stuck() {
        std::thread::sleep(Duration::from_millis(20));
        let more = shared.endless()?;
        endless += more;
        workers.extend((0..more).filter(|_| endless <= MOST_ENDLESS).map(|_| start()));
        if written.elapsed() >= PERIOD {
            written = Instant::now();
            shared.write()?;
        }
    }
    for worker in workers.into_iter().filter(std::thread::JoinHandle::is_finished) {
        worker.join().unwrap_or(Ok(()))?;
    }
    shared.write()?;
    let statistics = lock(&shared.statistics).clone();
    Ok(statistics)
}

impl Shared {
    /// Cases that have become endless since the last call: how many.
    fn endless(&self) -> io::Result<usize> {
        let mut found = Vec::new();
        for (seed, since) in lock(&self.running).iter_mut() {
            if since.is_some_and(|since| since.elapsed() > LONGEST) {
                *since = None;
                found.push(*seed);
            }
        }
        for seed in &found {
            let failure = Failure { kind: "endless", detail: "it does not end within half an hour".into() };
            lock(&self.statistics).fail(*seed, &failure);
            let file = self.plan.out.as_ref().map(|out| out.join(format!("endless-{seed}.yaml")));
            if let Some(path) = &file {
                fs::write(path, commented(*seed, path, &scenario(*seed), &failure))?;
            }
            (self.report)(*seed, &failure, file.as_deref());
        }
        Ok(found.len())
    }

    /// Threads whose cases count as endless and have not ended.
    fn stuck(&self) -> usize {
        lock(&self.running).values().filter(|since| since.is_none()).count()
    }

    fn is_over(&self, seed: u64) -> bool {
        self.plan.cases.is_some_and(|cases| seed - self.plan.first >= cases)
            || self.plan.time.is_some_and(|time| self.began.elapsed() >= time)
    }

    fn work(&self) -> io::Result<()> {
        loop {
            let seed = self.next.fetch_add(1, Ordering::Relaxed);
            if self.is_over(seed) {
                return Ok(());
            }
            let began = Instant::now();
            lock(&self.running).insert(seed, Some(began));
            let tree = scenario(seed);
            let verdict = check_text(&write(&tree));
            lock(&self.statistics).add(seed, &verdict, began.elapsed());
            if let Err(failure) = verdict {
                let file = self.keep(seed, &tree, &failure)?;
                (self.report)(seed, &failure, file.as_deref());
            }
            if lock(&self.running).remove(&seed) == Some(None) {
                // Another thread has taken this one's place.
                return Ok(());
            }
        }
    }

    /// Shrinks a failure and writes it.
    fn keep(&self, seed: u64, tree: &Value, failure: &Failure) -> io::Result<Option<PathBuf>> {
        let Some(out) = &self.plan.out else { return Ok(None) };
        let number = {
            let mut shrunk = lock(&self.shrunk);
            let count = shrunk.entry(failure.kind).or_default();
            *count += 1;
            *count
        };
        if number > SHRUNK {
            return Ok(None);
        }
        let (small, found) = shrink(tree, failure, &mut |text| check_text(text).err());
        let kind: String =
            failure.kind.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '-' }).collect();
        let path = out.join(format!("{kind}-{seed}.yaml"));
        fs::write(&path, commented(seed, &path, &small, &found))?;
        Ok(Some(path))
    }

    /// Writes the statistics.
    fn write(&self) -> io::Result<()> {
        let Some(out) = &self.plan.out else { return Ok(()) };
        let statistics = lock(&self.statistics).clone();
        let running: Vec<(u64, u64)> = lock(&self.running)
            .iter()
            .map(|(seed, since)| (*seed, since.map_or(0, |since| since.elapsed().as_secs())))
            .collect();
        let passed = self.began.elapsed();
        let after = self.next.load(Ordering::Relaxed).min(self.plan.first.saturating_add(statistics.cases));
        let next = running.first().map_or(after, |(seed, _)| *seed);
        let json = serde_json::to_string_pretty(&statistics.json((passed, next), &running))?;
        whole(&out.join("swarm.json"), &(json + "\n"))?;
        whole(&out.join("swarm.md"), &statistics.markdown((passed, next)))
    }
}

/// Writes a file as a whole: who is ended meanwhile leaves the old one.
fn whole(path: &Path, text: &str) -> io::Result<()> {
    let temporary = path.with_extension("new");
    fs::write(&temporary, text)?;
    fs::rename(temporary, path)
}

/// The file of a shrunk scenario.
fn commented(seed: u64, path: &Path, small: &Value, failure: &Failure) -> String {
    let path = path.display();
    let detail = failure.detail.lines().take(12).map(|line| format!("#   {line}\n"));
    format!(
        "# Seed {seed} fails: {}\n{}\
         # The whole case:    cargo run --release -p testkit --bin swarm -- --seed {seed}\n\
         # This small one:    cargo run --release -p testkit --bin swarm -- --file {path}\n\
         # One run without the checks:    oversim run {path}\n{}",
        failure.kind,
        detail.collect::<String>(),
        write(small),
    )
}
