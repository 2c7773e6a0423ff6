//! The processes of a command: the ones below it, and their end.

use std::collections::BTreeSet;
use std::fs;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process, waitid};

/// Most processes that are looked at.
const MOST: usize = 1 << 16;
/// Time that processes have to end by themselves after SIGTERM.
pub(crate) const ENDING: Duration = Duration::from_secs(2);

/// A process, also if its number is used again.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) struct Process {
    /// Its number.
    pub(crate) pid: u32,
    /// When it started, in ticks since the boot (`/proc/PID/stat`, field 22).
    started: u64,
}

/// A field of `/proc/PID/stat` by its number in proc(5), from 3 on: the second one may hold blanks.
pub(crate) fn field(stat: &str, number: usize) -> Option<&str> {
    let (_, rest) = stat.rsplit_once(')')?;
    rest.split_ascii_whitespace().nth(number.checked_sub(3)?)
}

impl Process {
    /// The process with this number, if there is one that has not ended.
    pub(crate) fn of(pid: u32) -> Option<Self> {
        let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
        let ended = matches!(field(&stat, 3)?, "Z" | "X");
        if ended { None } else { Some(Self { pid, started: field(&stat, 22)?.parse().ok()? }) }
    }

    /// Sends it a signal, if it is still the same.
    fn send(self, signal: Signal) {
        let pid = i32::try_from(self.pid).ok().and_then(Pid::from_raw);
        if let Some(pid) = pid.filter(|_| Self::of(self.pid) == Some(self)) {
            // It may end between the look and the signal.
            let _ = kill_process(pid, signal);
        }
    }
}

/// The children of a process, those that have ended but were not waited for included.
pub(crate) fn children(pid: u32) -> Vec<u32> {
    let Ok(threads) = fs::read_dir(format!("/proc/{pid}/task")) else { return Vec::new() };
    let lists =
        threads.flatten().filter_map(|thread| fs::read_to_string(thread.path().join("children")).ok());
    let mut all = Vec::new();
    for list in lists {
        all.extend(list.split_ascii_whitespace().filter_map(|pid| pid.parse::<u32>().ok()));
    }
    all
}

/// A process and all below it, without `except` and what is below that.
pub(crate) fn from(pid: u32, except: Option<u32>) -> Vec<u32> {
    let mut known: BTreeSet<u32> = except.into_iter().collect();
    let (mut open, mut all) = (vec![pid], Vec::new());
    while let Some(next) = open.pop() {
        if all.len() < MOST && known.insert(next) {
            all.push(next);
            open.extend(children(next));
        }
    }
    all
}

/// Sends a signal to each of these.
pub(crate) fn signal(processes: &[Process], signal: Signal) {
    for process in processes {
        process.send(signal);
    }
}

/// Ends what `find` finds: SIGTERM, and SIGKILL to what has not ended in time.
pub(crate) fn end(find: &dyn Fn() -> Vec<Process>) {
    signal(&find(), Signal::TERM);
    let begin = Instant::now();
    loop {
        let left = find();
        if left.is_empty() {
            return;
        }
        if begin.elapsed() > ENDING {
            signal(&left, Signal::KILL);
        }
        // A process in an uninterruptible wait ends when that is over.
        if begin.elapsed() > 2 * ENDING {
            return;
        }
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// Waits for the children of this process that have ended, but for these.
pub(crate) fn reap(except: &[u32]) {
    for child in children(std::process::id()) {
        let pid = i32::try_from(child).ok().and_then(Pid::from_raw).filter(|_| !except.contains(&child));
        if let Some(pid) = pid {
            // Not ended, or waited for already.
            let _ = waitid(WaitId::Pid(pid), WaitIdOptions::EXITED | WaitIdOptions::NOHANG);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_come_behind_the_name() {
        let stat = "7 (a) b (c) S 1 2 3";
        assert_eq!([3, 4, 6, 7].map(|at| field(stat, at)), [Some("S"), Some("1"), Some("3"), None]);
        assert_eq!([field("", 3), field("7 (a)", 3), field(stat, 0)], [None; 3]);
    }

    #[test]
    fn a_process_with_its_children_is_ended() {
        let mut shell = std::process::Command::new("sh");
        let mut shell = shell.args(["-c", "trap '' TERM; sleep 60 & sleep 61 & wait"]).spawn().unwrap();
        let found = || from(shell.id(), None).into_iter().filter_map(Process::of).collect::<Vec<_>>();
        let begin = Instant::now();
        while found().len() < 3 && begin.elapsed() < Duration::from_secs(10) {
            std::thread::sleep(Duration::from_millis(5));
        }
        let all = found();
        assert_eq!(all.len(), 3);
        end(&|| all.iter().copied().filter(|one| Process::of(one.pid) == Some(*one)).collect());
        shell.wait().unwrap();
        assert!(all.iter().all(|one| Process::of(one.pid) != Some(*one)));
        assert!(from(std::process::id(), Some(std::process::id())).is_empty());
    }
}
