//! Who uses the cpus of this host: a sample of /proc, in words, and the wait until the host is quiet.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use notation::neutral;

use crate::facts::UNIT;

/// A host is quiet if others and the hypervisor use at most this share of the cpus of this process. A run or
/// a round in which they used more is disturbed.
pub const OTHERS: f64 = 0.03;
/// Three units of /proc/stat, in nanoseconds: less cannot be distinguished from rounding.
pub const UNITS: f64 = 30e6;
/// Length of a sample: a hundred units of /proc/stat on each cpu.
const SAMPLE: Duration = Duration::from_secs(1);
/// Programs that a sentence names.
const NAMED: usize = 4;
/// Most processes that are read, and most bytes of a file.
const MAX_PROCESSES: usize = 1 << 16;
const MAX_BYTES: usize = 1 << 16;

/// Cpu time of the host and of its processes at an instant.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Snapshot {
    /// Time that the cpus of this process were idle, ns.
    idle: u64,
    /// Time that the hypervisor gave to others, ns.
    steal: u64,
    /// All time of these cpus that Linux has counted, ns.
    whole: u64,
    /// Name, parent and cpu time in ns of each process that /proc shows.
    processes: BTreeMap<u32, (String, u32, u64)>,
}

impl Snapshot {
    /// The state of `/proc`, or of a copy of it, for these cpus.
    #[must_use]
    pub fn read(proc: &Path, cpus: &[u32]) -> Self {
        let text = |path: PathBuf| fs::read_to_string(path).unwrap_or_default();
        let mut snapshot = Self::default();
        for line in text(proc.join("stat")).lines() {
            let Some((cpu, rest)) = line.strip_prefix("cpu").and_then(|line| line.split_once(' ')) else {
                continue;
            };
            if !cpu.parse().is_ok_and(|cpu: u32| cpus.contains(&cpu)) {
                continue;
            }
            // user nice system idle iowait irq softirq steal; guest time is part of user time.
            let fields: Vec<u64> =
                rest.split_whitespace().map_while(|field| field.parse().ok()).take(8).collect();
            let of = |at: usize| fields.get(at).copied().unwrap_or(0).saturating_mul(UNIT);
            snapshot.idle = snapshot.idle.saturating_add(of(3)).saturating_add(of(4));
            snapshot.steal = snapshot.steal.saturating_add(of(7));
            snapshot.whole = (0..8).map(of).fold(snapshot.whole, u64::saturating_add);
        }
        for entry in fs::read_dir(proc).into_iter().flatten().take(MAX_PROCESSES).flatten() {
            let Some(pid) = entry.file_name().to_str().and_then(|name| name.parse().ok()) else { continue };
            // A process may have ended in the meantime.
            let stat = text(entry.path().join("stat"));
            if let Some(process) = (stat.len() < MAX_BYTES).then(|| process(&stat)).flatten() {
                snapshot.processes.insert(pid, process);
            }
        }
        snapshot
    }
}

/// Name, parent and cpu time of a line of /proc/PID/stat. The name is in brackets and may contain any.
fn process(stat: &str) -> Option<(String, u32, u64)> {
    let (before, after) = stat.rsplit_once(')')?;
    let name = neutral::line(before.split_once('(')?.1).into_owned();
    let fields: Vec<&str> = after.split_whitespace().collect();
    let number = |at: usize| fields.get(at)?.parse::<u64>().ok();
    // utime and stime are fields 14 and 15 of the line.
    let time = number(11)?.saturating_add(number(12)?).saturating_mul(UNIT);
    Some((name, u32::try_from(number(1)?).ok()?, time))
}

/// What others used between two snapshots.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Load {
    /// Cpus that others used on average, the hypervisor included.
    pub others: f64,
    /// Of these, cpus that the hypervisor gave to others.
    pub steal: f64,
    /// Cpus of this process.
    pub cpus: usize,
    /// Names of programs, how many processes each has, and the cpus they used, the most first.
    pub programs: Vec<(String, usize, f64)>,
    /// Share of the last ten seconds in which a task waited for a cpu, in per cent; none where Linux does not
    /// say.
    pub pressure: Option<f64>,
}

impl Load {
    /// What others used from `before` to `after`; `own` is this process, whose children are its own, too.
    #[must_use]
    pub fn between(before: &Snapshot, after: &Snapshot, cpus: usize, own: u32) -> Self {
        let whole = after.whole.saturating_sub(before.whole);
        let used = |pid: &u32, (_, _, time): &(String, u32, u64)| {
            // A new process has used all its time since.
            time.saturating_sub(before.processes.get(pid).map_or(0, |(.., before)| *before))
        };
        let share = |time: u64| time as f64 / whole.max(1) as f64 * cpus as f64;
        let mut programs: BTreeMap<&str, (usize, u64)> = BTreeMap::new();
        let mut mine = 0_u64;
        for (pid, process) in &after.processes {
            let time = used(pid, process);
            if *pid == own || process.1 == own {
                mine = mine.saturating_add(time);
            } else if time > 0 {
                let known = programs.entry(&process.0).or_default();
                *known = (known.0 + 1, known.1.saturating_add(time));
            }
        }
        let steal = after.steal.saturating_sub(before.steal);
        let idle = after.idle.saturating_sub(before.idle);
        let others = whole.saturating_sub(idle).saturating_sub(mine);
        let mut programs: Vec<(String, usize, f64)> =
            programs.into_iter().map(|(name, (count, time))| (name.to_owned(), count, share(time))).collect();
        programs.sort_by(|one, other| other.2.total_cmp(&one.2).then_with(|| one.0.cmp(&other.0)));
        Self { others: share(others), steal: share(steal), cpus, programs, pressure: None }
    }

    /// Whether others used so little that costs can be measured.
    #[must_use]
    pub fn quiet(&self) -> bool {
        // Rounding of /proc/stat is less than the allowance in a sample of a second.
        self.others <= OTHERS * self.cpus as f64
    }

    /// Who used the cpus, a sentence without full stop.
    #[must_use]
    pub fn sentence(&self) -> String {
        let all = self.cpus;
        let word = if all == 1 { "cpu" } else { "cpus" };
        let mut text = format!("others use {:.2} of {all} {word}", self.others);
        let percent = |share: f64| format!("{:.0} %", share * 100.0);
        let mut parts: Vec<String> = self
            .programs
            .iter()
            .take(NAMED)
            .filter(|(.., share)| *share >= 0.005)
            .map(|(name, count, share)| {
                let count = if *count > 1 { format!(" ({count} processes)") } else { String::new() };
                format!("{name}{count} {}", percent(*share))
            })
            .collect();
        let listed: f64 = self.programs.iter().map(|(.., share)| share).sum();
        if self.steal > 0.005 {
            parts.push(format!("the hypervisor {}", percent(self.steal)));
        }
        let hidden = self.others - self.steal - listed.min(self.others - self.steal);
        // Shorter than the rounding of the counters of processes.
        if hidden > 0.05 {
            parts.push(format!("processes that have ended or that /proc does not show {}", percent(hidden)));
        }
        if !parts.is_empty() {
            text += &format!(" ({} of a cpu)", parts.join(", "));
        }
        if let Some(pressure) = self.pressure.filter(|pressure| *pressure >= 1.0) {
            text += &format!("; tasks waited for a cpu in {pressure:.0} % of the last 10 s");
        }
        text
    }
}

/// `some avg10` of /proc/pressure/cpu, in per cent.
fn pressure(proc: &Path) -> Option<f64> {
    let text = fs::read_to_string(proc.join("pressure/cpu")).ok()?;
    let line = text.lines().find(|line| line.starts_with("some "))?;
    line.split_whitespace().find_map(|word| word.strip_prefix("avg10="))?.parse().ok()
}

/// Watches a host while it is measured.
pub struct Watch {
    proc: PathBuf,
    cpus: Vec<u32>,
    /// Measure although others use the host.
    force: bool,
    /// How long all waits together may take.
    budget: Duration,
    sample: Duration,
    /// Called with what the user should know.
    say: fn(&str),
    /// The last load that was not quiet.
    disturbed_by: Option<Load>,
}

impl Watch {
    /// Watches these cpus of this host. All waits together take at most `wait`; with `force`, others are only
    /// noted.
    #[must_use]
    pub fn new(cpus: Vec<u32>, wait: Duration, force: bool, say: fn(&str)) -> Self {
        Self { proc: "/proc".into(), cpus, force, budget: wait, sample: SAMPLE, say, disturbed_by: None }
    }

    /// A watch that notes nothing and refuses nothing.
    #[must_use]
    pub fn off() -> Self {
        Self { sample: Duration::ZERO, ..Self::new(Vec::new(), Duration::ZERO, true, |_| {}) }
    }

    /// Whether a disturbed measurement is wanted, too.
    #[must_use]
    pub const fn forced(&self) -> bool {
        self.force
    }

    /// Who disturbed the measurement, if anyone did: a sentence without full stop.
    #[must_use]
    pub fn disturbed_by(&self) -> Option<String> {
        self.disturbed_by.as_ref().map(Load::sentence)
    }

    /// A sample of the load.
    fn load(&self) -> Load {
        let before = Snapshot::read(&self.proc, &self.cpus);
        std::thread::sleep(self.sample);
        let after = Snapshot::read(&self.proc, &self.cpus);
        let load = Load::between(&before, &after, self.cpus.len(), std::process::id());
        Load { pressure: pressure(&self.proc), ..load }
    }

    /// Waits until the host is quiet, within the limit.
    ///
    /// # Errors
    /// The host is still busy: a sentence with who uses it. Not with `force`.
    pub fn quiet(&mut self) -> Result<(), String> {
        self.quiet_with(Self::load)
    }

    fn quiet_with(&mut self, mut load: impl FnMut(&Self) -> Load) -> Result<(), String> {
        if self.cpus.is_empty() {
            return Ok(());
        }
        let mut said = false;
        loop {
            let begin = Instant::now();
            let now = load(self);
            if now.quiet() {
                return Ok(());
            }
            let sentence = now.sentence();
            self.disturbed_by = Some(now);
            if self.force {
                return Ok(());
            }
            if self.budget.is_zero() {
                return Err(format!(
                    "the host is busy: {sentence}. Nothing was written; costs of a busy host are wrong by \
                     large \
                     factors. Stop these programs or wait longer (--wait 10m); --force measures anyway and \
                     marks \
                     each value as disturbed"
                ));
            }
            if !said {
                (self.say)(&format!(
                    "the host is busy: {sentence}; waiting for up to {:.0} s",
                    self.budget.as_secs_f64()
                ));
                said = true;
            }
            self.budget = self.budget.saturating_sub(begin.elapsed().max(Duration::from_millis(1)));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::Cell;

    /// A copy of /proc with the counters of cpus 0 to 2 and some processes: pid, name, parent, units of time.
    fn proc(cpus: [[u64; 8]; 3], processes: &[(u32, &str, u32, u64)]) -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        let line = |(at, of): (usize, &[u64; 8])| {
            format!("cpu{at} {}\n", of.map(|field| field.to_string()).join(" "))
        };
        let stat: String = cpus.iter().enumerate().map(line).collect();
        fs::write(folder.path().join("stat"), format!("cpu  9 9 9 9 9 9 9 9\n{stat}intr 5\n")).unwrap();
        fs::create_dir(folder.path().join("pressure")).unwrap();
        let some = "some avg10=45.20 avg60=1.00 avg300=0.00 total=1\nfull avg10=0.00\n";
        fs::write(folder.path().join("pressure/cpu"), some).unwrap();
        for (pid, name, parent, time) in processes {
            let of = folder.path().join(pid.to_string());
            fs::create_dir(&of).unwrap();
            let stat = format!("{pid} ({name}) R {parent} 1 1 0 -1 0 0 0 0 0 {time} 0 0 0 20 0 1 0\n");
            fs::write(of.join("stat"), stat).unwrap();
        }
        folder
    }

    /// A second of two of three cpus in which others had 0.9 and the hypervisor 0.1 of one.
    fn busy() -> Load {
        let idle = |user, idle, steal| [user, 0, 0, idle, 0, 0, 0, steal];
        let before = proc(
            [idle(10, 10, 0), idle(0, 0, 0), idle(0, 0, 0)],
            &[(1, "init", 0, 5), (7, "make (all)", 1, 100), (50, "oversim", 1, 3)],
        );
        let after = proc(
            [idle(90, 30, 0), idle(10, 80, 10), idle(100, 0, 0)],
            &[
                (1, "init", 0, 5),
                (7, "make (all)", 1, 150),
                (8, "make (all)", 7, 20),
                (50, "oversim", 1, 13),
                (51, "oversim", 50, 0),
            ],
        );
        let read = |at: &tempfile::TempDir| Snapshot::read(at.path(), &[0, 1]);
        let load = Load::between(&read(&before), &read(&after), 2, 50);
        Load { pressure: pressure(after.path()), ..load }
    }

    #[test]
    fn who_uses_the_cpus_of_this_process_is_named() {
        let load = busy();
        assert!(
            !load.quiet() && (load.others - 0.9).abs() < 1e-9 && (load.steal - 0.1).abs() < 1e-9,
            "{load:?}"
        );
        assert_eq!(
            load.sentence(),
            "others use 0.90 of 2 cpus (make (all) (2 processes) 70 %, the hypervisor 10 %, processes that \
             have \
             ended or that /proc does not show 10 % of a cpu); tasks waited for a cpu in 45 % of the last 10 \
             s"
        );
    }

    #[test]
    fn where_proc_shows_no_other_process_the_counters_speak() {
        let of = |user| proc([[user, 0, 0, 100 - user, 0, 0, 0, 0]; 3], &[]);
        let read = |at: &tempfile::TempDir| Snapshot::read(at.path(), &[0]);
        let load = Load::between(&Snapshot::default(), &read(&of(80)), 1, 50);
        assert_eq!(
            load.sentence(),
            "others use 0.80 of 1 cpu (processes that have ended or that /proc does not show 80 % of a cpu)"
        );
        assert!(Load::between(&Snapshot::default(), &read(&of(2)), 1, 50).quiet());
        // No /proc at all: nothing is known of others.
        let nothing = Snapshot::read(Path::new("/nowhere"), &[0]);
        assert!(Load::between(&nothing, &nothing, 1, 50).quiet());
    }

    fn watch(wait: u64, force: bool) -> Watch {
        Watch { sample: Duration::ZERO, ..Watch::new(vec![0, 1], Duration::from_millis(wait), force, |_| {}) }
    }

    #[test]
    fn a_busy_host_is_refused_and_a_quiet_one_is_not() {
        let refused = watch(0, false).quiet_with(|_| busy()).unwrap_err();
        assert!(refused.contains("make (all)") && refused.contains("Nothing was written"), "{refused}");
        let mut quiet = watch(0, false);
        assert_eq!(quiet.quiet_with(|_| Load { cpus: 2, ..Load::default() }), Ok(()));
        assert_eq!(quiet.disturbed_by(), None);
        let mut forced = watch(0, true);
        assert_eq!(forced.quiet_with(|_| busy()), Ok(()));
        assert!(forced.disturbed_by().unwrap().starts_with("others use 0.90 of 2 cpus"));
    }

    #[test]
    fn the_watch_waits_within_its_limit() {
        let samples = Cell::new(0);
        let quiet_after = |count: u32| {
            let samples = &samples;
            move |_: &Watch| {
                samples.set(samples.get() + 1);
                if samples.get() > count { Load { cpus: 2, ..Load::default() } } else { busy() }
            }
        };
        assert_eq!(watch(60_000, false).quiet_with(quiet_after(3)), Ok(()));
        assert_eq!(samples.get(), 4);
        // Each sample takes a millisecond at least.
        samples.set(0);
        assert!(watch(3, false).quiet_with(quiet_after(u32::MAX)).is_err());
        assert!(samples.get() <= 4);
    }
}
