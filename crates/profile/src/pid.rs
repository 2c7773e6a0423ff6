//! Processes that run: two looks at `/proc/PID`, and what happened between them. No privilege is needed for
//! one's own processes.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use import::Refused;

use crate::job::{Job, Word};
use crate::source::{Num, finite, short};
use crate::waits::Surroundings;

/// Most bytes of a file of `/proc` that are read: a process has some thousand mappings of 100 bytes.
const MOST: u64 = 8 << 20;
/// Threads with a smaller share of the busiest one's cpu time do not count: they wait for the others.
const COMPUTES: f64 = 0.05;
/// Clock ticks of `/proc/PID/stat` in a second (`USER_HZ`, 100 on all present architectures of Linux).
const TICKS: f64 = 100.0;
/// Most processes that are looked at.
pub const MOST_PIDS: usize = 4_096;

/// Where the kernel shows processes and control groups.
#[derive(Clone, Copy, Debug)]
pub struct Roots<'a> {
    /// `/proc`.
    pub proc: &'a Path,
    /// `/sys/fs/cgroup`.
    pub cgroups: &'a Path,
}

/// A look at some processes.
#[derive(Clone, PartialEq, Debug)]
pub struct Look {
    processes: Vec<Process>,
}

#[derive(Clone, PartialEq, Debug)]
struct Process {
    pid: u32,
    name: String,
    /// When it was started, in ticks since boot: a number that is used again has another one.
    started: f64,
    /// `Cpus_allowed_list`.
    mask: String,
    threads: BTreeMap<u32, Thread>,
}

/// Sums of a thread since it was started.
#[derive(Clone, Copy, PartialEq, Default, Debug)]
struct Thread {
    /// Cpu time and time in run queues, in s.
    cpu: f64,
    queued: f64,
    sleeps: f64,
    switches: f64,
}

/// Looks at processes.
///
/// # Errors
/// A process cannot be read: it is none, or has ended.
pub fn look(roots: Roots<'_>, pids: &[u32]) -> Result<Look, Refused> {
    if pids.len() > MOST_PIDS {
        return Err(Refused::Sentence(format!(
            "--pid: {} processes; at most {MOST_PIDS} are read",
            pids.len()
        )));
    }
    let mut pids = pids.to_vec();
    pids.sort_unstable();
    pids.dedup();
    let processes = pids.iter().map(|pid| process(roots.proc, *pid)).collect::<Result<_, _>>()?;
    Ok(Look { processes })
}

/// The text of a small file; an error is a sentence.
fn text(path: &Path) -> Result<String, String> {
    let mut bytes = Vec::new();
    let open = fs::File::open(path).and_then(|file| {
        use std::io::Read as _;
        file.take(MOST).read_to_end(&mut bytes)
    });
    open.map_err(|why| format!("cannot read {}: {why}", path.display()))?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

fn process(proc: &Path, pid: u32) -> Result<Process, Refused> {
    let folder = proc.join(pid.to_string());
    let missing = |why: String| {
        Refused::Sentence(format!("--pid {pid}: {why}; `pgrep -d, NAME` lists the numbers of what runs"))
    };
    let (name, stat) = stat(&folder).map_err(missing)?;
    let status = text(&folder.join("status")).map_err(missing)?;
    let mask = value(&status, "Cpus_allowed_list:").unwrap_or_default().to_owned();
    let tasks = fs::read_dir(folder.join("task")).map_err(|why| missing(format!("no threads: {why}")))?;
    let mut threads = BTreeMap::new();
    for task in tasks.flatten() {
        let Ok(tid) = task.file_name().to_string_lossy().parse::<u32>() else { continue };
        // A thread may end between the list and its files.
        if let Some(thread) = thread(&task.path()) {
            threads.insert(tid, thread);
        }
    }
    let started = stat.get(19).copied().unwrap_or_default();
    Ok(Process { pid, name, started, mask, threads })
}

/// The name of a task, and the numbers of its `stat` behind it, from the state on (field 3).
fn stat(folder: &Path) -> Result<(String, Vec<f64>), String> {
    let text = text(&folder.join("stat"))?;
    // The name may contain blanks and brackets.
    let wrong = || format!("{}/stat is not understood", folder.display());
    let (head, rest) = text.rsplit_once(')').ok_or_else(wrong)?;
    let name = head.split_once('(').map_or("", |(_, name)| name).to_owned();
    let numbers: Vec<f64> = rest.split_whitespace().map(|word| finite(word).unwrap_or_default()).collect();
    if numbers.len() < 20 {
        return Err(wrong());
    }
    Ok((name, numbers))
}

/// The word behind a key of `status`.
fn value<'a>(status: &'a str, key: &str) -> Option<&'a str> {
    status.lines().find_map(|line| line.strip_prefix(key)).map(str::trim)
}

fn thread(folder: &Path) -> Option<Thread> {
    let status = text(&folder.join("status")).ok()?;
    let count = |key: &str| value(&status, key).and_then(finite).unwrap_or_default();
    let sleeps = count("voluntary_ctxt_switches:");
    let switches = sleeps + count("nonvoluntary_ctxt_switches:");
    // In ns, where the kernel counts it; else in ticks.
    let exact = text(&folder.join("schedstat")).ok().and_then(|text| {
        let mut words = text.split_whitespace().map(finite);
        Some((words.next()?? / 1e9, words.next()?? / 1e9))
    });
    let (cpu, queued) = match exact {
        Some(exact) => exact,
        None => {
            let (_, numbers) = stat(folder).ok()?;
            let ticks = numbers.get(11)? + numbers.get(12)?;
            (ticks / TICKS, 0.0)
        }
    };
    Some(Thread { cpu, queued, sleeps, switches })
}

/// What the processes did between two looks, `seconds` apart: a job for each name of a program.
///
/// # Errors
/// A process of the first look is not in the second one, or none had a cpu.
pub(crate) fn between(
    roots: Roots<'_>,
    (first, second): (&Look, &Look),
    seconds: f64,
) -> Result<Vec<Job>, Refused> {
    let mut programs: BTreeMap<&str, Vec<(&Process, &Process)>> = BTreeMap::new();
    for (before, after) in first.processes.iter().zip(&second.processes) {
        if before.pid != after.pid || (before.started - after.started).abs() > 0.5 {
            return Err(Refused::Sentence(format!(
                "--pid {}: the process ended while it was looked at: look for a shorter time (`--for 1s`)",
                before.pid
            )));
        }
        programs.entry(before.name.as_str()).or_default().push((before, after));
    }
    let jobs: Vec<Job> =
        programs.iter().filter_map(|(name, processes)| job(roots, name, processes, seconds)).collect();
    if jobs.is_empty() {
        return Err(Refused::Sentence(
            "--pid: no thread had a cpu meanwhile: look for longer (`--for 30s`), or at the processes that \
             compute (`top -H`)"
                .into(),
        ));
    }
    Ok(jobs)
}

/// What the threads of a process did between two looks, those that computed.
fn computing(before: &Process, after: &Process) -> Vec<Thread> {
    let of = |(tid, after): (&u32, &Thread)| {
        let before = before.threads.get(tid).copied().unwrap_or_default();
        Thread {
            cpu: (after.cpu - before.cpu).max(0.0),
            queued: (after.queued - before.queued).max(0.0),
            sleeps: (after.sleeps - before.sleeps).max(0.0),
            switches: (after.switches - before.switches).max(0.0),
        }
    };
    let mut threads: Vec<Thread> = after.threads.iter().map(of).collect();
    let most = threads.iter().map(|thread| thread.cpu).fold(0.0, f64::max);
    threads.retain(|thread| thread.cpu > 0.0 && thread.cpu >= COMPUTES * most);
    threads
}

/// The processes of one program as a job; none if they had no cpu.
fn job(roots: Roots<'_>, name: &str, processes: &[(&Process, &Process)], seconds: f64) -> Option<Job> {
    let teams: Vec<Vec<Thread>> = processes.iter().map(|(before, after)| computing(before, after)).collect();
    let teams: Vec<&Vec<Thread>> = teams.iter().filter(|team| !team.is_empty()).collect();
    let sum = |of: fn(&Thread) -> f64| teams.iter().flat_map(|team| team.iter().map(of)).sum::<f64>();
    let cpu = sum(|thread| thread.cpu);
    if cpu <= 0.0 {
        return None;
    }
    let (_, process) = processes.first()?;
    let origin = format!("/proc/{}", process.pid);
    let most = teams.iter().map(|team| team.len()).max().unwrap_or(1);
    let num = |value: f64, what: &str| Some(Num::new(value, format!("{origin} {what}")));
    let looked = format!("looked at for {seconds:.2} s");
    let mut job = Job {
        name: Some(Word { text: name.to_owned(), origin: format!("{origin}/stat") }),
        elapsed: num(seconds, &looked),
        cpu: num(cpu, "task/*/schedstat, of all threads that compute"),
        threads: num(most as f64, "task/*: threads that compute"),
        sleeps: num(sum(|thread| thread.sleeps), "task/*/status voluntary_ctxt_switches"),
        switches: num(sum(|thread| thread.switches), "task/*/status *voluntary_ctxt_switches"),
        queued: num(sum(|thread| thread.queued), "task/*/schedstat, time in run queues"),
        ..Job::default()
    };
    job.remarks.push(format!("this is what it did in {seconds:.2} s, not the whole run"));
    if teams.len() > 1 {
        job.ranks = num(teams.len() as f64, "and others: processes of this name that compute");
    }
    let all: usize = processes.iter().map(|(_, after)| after.threads.len()).sum();
    let idle = all - teams.iter().map(|team| team.len()).sum::<usize>();
    if idle > 0 {
        let many = notation::number::plural(idle, "thread", "threads");
        let why = "with less than 5 % of the cpu time of the busiest one";
        job.remarks.push(format!("left out: {many} {why}"));
    }
    if let Some(cpus) = cpus(&process.mask) {
        job.allocated = num(cpus, &format!("status Cpus_allowed_list {}", short(&process.mask)));
    }
    surroundings(roots, process, teams.len(), &mut job);
    Some(job)
}

/// How many cpus a list such as `0-3,8` has.
fn cpus(list: &str) -> Option<f64> {
    let mut count = 0_u64;
    for part in list.split(',') {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        let (first, last): (u32, u32) = (first.trim().parse().ok()?, last.trim().parse().ok()?);
        count += u64::from(last.checked_sub(first)?) + 1;
    }
    Some(count as f64)
}

/// Libraries, environment and quota.
fn surroundings(roots: Roots<'_>, process: &Process, ranks: usize, job: &mut Job) {
    let folder = roots.proc.join(process.pid.to_string());
    let (maps, environ) = (text(&folder.join("maps")), text(&folder.join("environ")));
    if maps.is_err() || environ.is_err() {
        job.remarks.push(format!(
            "/proc/{}/maps or environ cannot be read: it is not a process of this user",
            process.pid
        ));
    }
    let seen = Surroundings::of(&maps.unwrap_or_default(), &environ.unwrap_or_default());
    let (team, between) = (seen.team(), seen.ranks());
    let threads = job.threads.as_ref().is_some_and(|threads| threads.value > 1.0);
    job.runtime = match (between, team) {
        (Some(mpi), Some(openmp)) if threads && ranks > 1 => Some(Word {
            text: format!("{{ mpi: {}, openmp: {} }}", mpi.text, openmp.text),
            origin: format!("{}; {}", mpi.origin, openmp.origin),
        }),
        (Some(mpi), _) if ranks > 1 => Some(mpi),
        (_, Some(openmp)) => Some(openmp),
        (mpi, None) => mpi,
    };
    let settings: Vec<String> = seen
        .variables
        .iter()
        .take(8)
        .map(|(name, value)| format!("{}={}", short(name), short(value)))
        .collect();
    if !settings.is_empty() {
        job.remarks.push(format!("its environment has {}", settings.join(" ")));
    }
    job.quota = quota(roots, &folder);
}

/// The tightest `cpu.max` of its control group and of those around it.
fn quota(roots: Roots<'_>, folder: &Path) -> Option<(u64, u64, String)> {
    let groups = text(&folder.join("cgroup")).ok()?;
    let path = groups.lines().find_map(|line| line.strip_prefix("0::"))?.trim();
    let mut tightest: Option<(u64, u64, String)> = None;
    for group in Path::new(path.trim_start_matches('/')).ancestors() {
        // A group outside of its own view is written with `..`.
        if group.components().any(|part| !matches!(part, std::path::Component::Normal(_))) {
            continue;
        }
        let Ok(max) = text(&roots.cgroups.join(group).join("cpu.max")) else { continue };
        let mut words = max.split_whitespace().map(str::parse::<u64>);
        let (Some(Ok(quota)), Some(Ok(period))) = (words.next(), words.next()) else { continue };
        let share = |quota: u64, period: u64| quota as f64 / period.max(1) as f64;
        if tightest.as_ref().is_none_or(|(q, p, _)| share(quota, period) < share(*q, *p)) {
            tightest = Some((quota, period, format!("cpu.max of its control group /{}", group.display())));
        }
    }
    tightest
}
