//! Every command that writes, disturbed at random points: nothing is torn, lost or left, and the same command
//! again gives the bytes of an undisturbed run.
//!
//! The sample of the gate kills, sends signals and limits the size of files. A campaign adds faults of single
//! system calls (`strace`), full disks (a small file system in memory, as root), directories that are
//! read-only or removed, limits of memory and of open files, closed outputs, and two programs at once:
//!
//! ```console
//! $ OVERSIM_CRASH=500 cargo test --release -p oversim --test crash -- --nocapture
//! ```
//!
//! A failure prints its seed. `OVERSIM_CRASH=1 OVERSIM_SEED=N` repeats it. `OVERSIM_ONLY=plot` chooses the
//! commands whose name has this text, also those that take many seconds: `reproduce --write`, which
//! needs the finished runs of an earlier `oversim reproduce`, `measure --write`, and `calibrate`.

#![cfg(target_os = "linux")]
#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]
#![expect(clippy::print_stdout, reason = "a campaign prints its failures and its statistics")]

mod cases;
mod child;
mod fault;
mod judge;
mod prepared;
mod statistics;
mod tree;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::str::FromStr;

use rand::rngs::ChaCha8Rng;
use rustix::process::Signal;
use tempfile::TempDir;

use cases::{CASES, words};
use child::Running;
use fault::{Fault, Kind};
use judge::Kept;
use prepared::{Depth, Prepared};
use statistics::Statistics;
use tree::Tree;

/// The number in a variable of the environment.
fn variable<T: FromStr>(name: &str) -> Option<T> {
    std::env::var(name).ok()?.parse().ok()
}

#[test]
fn faults_at_random_points_tear_and_lose_nothing() {
    let campaign: Option<u64> = variable("OVERSIM_CRASH");
    let mut site = Site::new(campaign.is_some());
    let mut statistics = Statistics::default();
    match campaign {
        Some(points) => random(&mut site, points, &mut statistics),
        None => sample(&mut site, &mut statistics),
    }
    if campaign.is_some() {
        println!("{statistics}");
    }
    let failures = &statistics.failures;
    assert!(failures.is_empty(), "{} failures:\n{}", failures.len(), failures.join("\n"));
}

/// Flags whose value is a file or a directory that is written, as the help of a command shows them.
const OUTPUTS: &[&str] = &[
    "-o, --output <",
    "--write <",
    "--record-schedule <",
    "--explain-decisions <",
    "--trace <FILE>",
    "--requests <",
    "--cells <",
    "--slides <",
    "--timeline <FILE>",
];

#[test]
fn every_command_with_an_output_has_points() {
    let mut commands: Vec<Vec<String>> = vec![Vec::new()];
    let mut next = 0;
    let mut missing = Vec::new();
    while let Some(command) = commands.get(next).cloned() {
        next += 1;
        let here = std::env::temp_dir();
        let ended = child::plain(&here, &[&command[..], &["--help".to_owned()]].concat());
        let help = String::from_utf8(ended.out).unwrap();
        let listed =
            help.split_once("\nCommands:\n").map_or("", |(_, rest)| rest.split("\n\n").next().unwrap());
        let names = listed.lines().filter(|line| line.starts_with("  ") && !line.starts_with("   "));
        let names = names.filter_map(|line| line.split_whitespace().next()).filter(|name| *name != "help");
        commands.extend(names.map(|name| [&command[..], &[name.to_owned()]].concat()));
        for flag in OUTPUTS.iter().filter(|flag| help.contains(*flag)) {
            let (short, long) = flag.split_once(", ").unwrap_or((flag, flag));
            let long = long.split(' ').next().unwrap();
            let is = |case: &cases::Case| {
                let words = case.words();
                words.starts_with(&command) && words.iter().any(|word| word == short || word == long)
            };
            if !CASES.iter().any(is) {
                missing.push(format!("oversim {} {long}", command.join(" ")));
            }
        }
    }
    assert!(next > 30, "{commands:?}");
    assert!(missing.is_empty(), "no case of {missing:#?}");
}

/// Random commands and kinds of faults.
fn random(site: &mut Site, points: u64, statistics: &mut Statistics) {
    let only: String = variable("OVERSIM_ONLY").unwrap_or_default();
    let named = (0..CASES.len()).filter(|at| CASES[*at].command.contains(&only) && CASES[*at].can());
    let least = u32::from(!only.is_empty());
    let weighted = |at: usize| std::iter::repeat_n(at, CASES[at].weight.max(least) as usize);
    let cases: Vec<usize> = named.flat_map(weighted).collect();
    let begin = variable("OVERSIM_SEED").unwrap_or(1);
    for seed in begin..begin + points {
        let mut rng = fault::generator(seed);
        let at = *fault::any(&mut rng, &cases);
        let kind = *fault::any(&mut rng, &site.kinds);
        point(site, (at, kind), (seed, &mut rng), statistics);
    }
}

/// Each kind of fault for each command, several times for those that are most at risk.
fn sample(site: &mut Site, statistics: &mut Statistics) {
    for (at, case) in CASES.iter().enumerate().filter(|(_, case)| case.weight > 0 && !case.slow) {
        if CASES[..at].iter().any(|earlier| earlier.command == case.command) {
            continue;
        }
        for (number, kind) in site.kinds.clone().into_iter().enumerate() {
            for round in 0..if case.weight > 2 { 4 } else { 1 } {
                let seed = ((at * site.kinds.len() + number) * 4 + round) as u64;
                point(site, (at, kind), (seed, &mut fault::generator(seed)), statistics);
            }
        }
    }
}

/// Disturbs the command of a number.
fn point(
    site: &mut Site,
    (at, kind): (usize, Kind),
    (seed, rng): (u64, &mut ChaCha8Rng),
    statistics: &mut Statistics,
) {
    site.prepare(at);
    let (case, prepared) = (&CASES[at], &site.prepared[&at]);
    let fault = fault::draw(rng, kind, prepared);
    let (kept, effect) = tried(&site.work, site.disk.as_ref(), prepared, &fault);
    statistics.add(case.command, kind, effect);
    if let Err(why) = kept {
        let line = format!("seed {seed}: oversim {}: {fault}: {why}", case.args.join(" "));
        println!("FAILED {line}");
        statistics.failures.push(line);
    }
}

/// Runs a command with a fault, and once more without; whether the fault had an effect.
fn tried(work: &Path, disk: Option<&Disk>, prepared: &Prepared, fault: &Fault) -> (Kept, bool) {
    let place = match (fault, disk) {
        (Fault::FullDisk { .. }, Some(disk)) => disk.directory.join("work"),
        _ => work.join("work"),
    };
    tree::copy(&prepared.place, &place);
    let result = match fault {
        Fault::Two { after, kill } => two(prepared, fault, &place, (*after, *kill)),
        _ => one(prepared, fault, &place, disk),
    };
    fs::remove_dir_all(&place).unwrap();
    result
}

fn one(prepared: &Prepared, fault: &Fault, place: &Path, disk: Option<&Disk>) -> (Kept, bool) {
    if let (Fault::FullDisk { kib }, Some(disk)) = (fault, disk) {
        disk.fill(*kib);
    }
    let ended = child::disturbed(place, &prepared.case.words(), fault, &prepared.directories());
    if let Some(disk) = disk {
        disk.free();
    }
    let kept = judge::judge(prepared, fault, &ended, &Tree::of(place)).and_then(|()| {
        if matches!(fault, Fault::Removed { .. }) {
            let _ = fs::remove_dir_all(place);
            tree::copy(&prepared.place, place);
        }
        judge::again(prepared, place)
    });
    (kept, judge::had_effect(prepared, fault, &ended))
}

fn two(
    prepared: &Prepared,
    fault: &Fault,
    place: &Path,
    (after, kill): (std::time::Duration, Option<std::time::Duration>),
) -> (Kept, bool) {
    let own = prepared.case.words();
    let rival = prepared.case.rival.map_or_else(|| own.clone(), words);
    let start = |words: &[String]| Running::start(place, &[], words, Stdio::piped());
    let first = start(&own);
    first.sleep(after);
    let second = start(&rival);
    if let Some(kill) = kill {
        first.sleep(kill);
        first.signal(Signal::KILL);
    }
    let ended = [first.end(), second.end()];
    let kept = judge::judge_two(prepared, fault, ended.each_ref(), &Tree::of(place))
        .and_then(|()| judge::again(prepared, place));
    (kept, true)
}

/// Where the points happen.
struct Site {
    root: TempDir,
    work: PathBuf,
    disk: Option<Disk>,
    kinds: Vec<Kind>,
    campaign: bool,
    /// By the number of the case.
    prepared: BTreeMap<usize, Prepared>,
}

impl Site {
    fn new(campaign: bool) -> Self {
        // Most of the time of a point would be that of a disk.
        let root = tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir()).unwrap();
        let work = root.path().join("points");
        fs::create_dir(&work).unwrap();
        let disk = if campaign { Disk::mounted(&root.path().join("disk")) } else { None };
        let (strace, prlimit) = (campaign && child::has("strace"), child::has("prlimit"));
        let permissions = !rustix::process::geteuid().is_root() || child::has("setpriv");
        let can = |kind: &Kind| match kind {
            Kind::KillAtCall | Kind::SignalAtCall | Kind::CallFails | Kind::CallsFail => strace,
            Kind::FullDisk => disk.is_some(),
            Kind::Memory | Kind::OpenFiles => prlimit,
            Kind::ReadOnly => permissions,
            _ => true,
        };
        let kinds: Vec<Kind> = if campaign {
            fault::ALL.iter().copied().filter(can).collect()
        } else {
            fault::EVERYWHERE.to_vec()
        };
        for kind in fault::ALL.iter().filter(|kind| campaign && !kinds.contains(kind)) {
            println!("left out, this host cannot do it: {kind:?}");
        }
        Self { root, work, disk, kinds, campaign, prepared: BTreeMap::new() }
    }

    /// Runs a case undisturbed, the first time that it is used.
    fn prepare(&mut self, at: usize) {
        let root = self.root.path().join(format!("case{at}"));
        let depth = match self.campaign {
            false => Depth::Once,
            true if self.kinds.contains(&Kind::KillAtCall) => Depth::Calls,
            true => Depth::Twice,
        };
        self.prepared.entry(at).or_insert_with(|| Prepared::new(&CASES[at], &root, depth));
    }
}

/// A small file system in memory.
struct Disk {
    directory: PathBuf,
}

impl Disk {
    /// Mounts one, where this process may.
    fn mounted(directory: &Path) -> Option<Self> {
        fs::create_dir(directory).unwrap();
        let mut mount = Command::new("mount");
        mount.args(["-t", "tmpfs", "-o", "size=64m", "none"]).arg(directory).stderr(Stdio::null());
        mount.status().is_ok_and(|status| status.success()).then(|| Self { directory: directory.to_owned() })
    }

    /// Leaves so many KiB.
    fn fill(&self, kib: u64) {
        let found = rustix::fs::statvfs(&self.directory).unwrap();
        let free = found.f_bavail * found.f_frsize;
        let filler = vec![0; free.saturating_sub(kib << 10) as usize];
        fs::write(self.directory.join("filler"), filler).unwrap();
    }

    fn free(&self) {
        // Only a full disk has one.
        let _ = fs::remove_file(self.directory.join("filler"));
    }
}

impl Drop for Disk {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg("-l").arg(&self.directory).status();
    }
}
