//! The command that is recorded: its start, its signals, its end.

use std::ffi::OsString;
use std::fs;
use std::io::ErrorKind;
use std::process::{Child, Command, ExitStatus};
use std::sync::mpsc::{self, Receiver};
use std::time::{Duration, Instant};

use rustix::io::Errno;
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, set_child_subreaper, setpriority_process, waitid};

use crate::facts::{UNIT, bind};
use crate::recorder::head::quoted;
use crate::recorder::tree::{self, Process, field};
use crate::work::now;

/// Time that a command has to end after a signal that asked for it.
const PATIENCE: Duration = Duration::from_secs(5);

/// A command that runs. Dropping it ends it, and all that it has started.
pub(crate) struct Running {
    child: Child,
    /// Processes that belong to the recording and not to the command.
    others: Option<u32>,
    ended: Receiver<u64>,
    /// When it was started, in ns of CLOCK_MONOTONIC.
    pub(crate) started: u64,
    /// Cpu time of all children of this process before, in ns: user, system.
    before: (u64, u64),
    asked: Option<(Instant, bool)>,
    waited: bool,
}

/// What is known when it has ended.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ended {
    /// Its status.
    pub(crate) status: ExitStatus,
    /// Cpu time of the command and all below it that was waited for, in ns and steps of 10 ms: user, system.
    pub(crate) cpu: (u64, u64),
}

/// Cpu time of the children of this process that were waited for, in ns: user, system.
fn cpu_time() -> (u64, u64) {
    let stat = fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let of = |at| field(&stat, at).and_then(|text| text.parse::<u64>().ok()).unwrap_or(0);
    (of(16).saturating_mul(UNIT), of(17).saturating_mul(UNIT))
}

/// True if this process is in the foreground of a terminal: Ctrl-C there reaches the command as well.
fn in_foreground() -> bool {
    let stat = fs::read_to_string("/proc/self/stat").unwrap_or_default();
    field(&stat, 5).is_some_and(|group| field(&stat, 8) == Some(group))
}

/// Starts a command with a mask and a nice value. It inherits them from a thread that ends.
fn spawn(words: &[OsString], cpus: Option<&[u32]>, nice: Option<i32>) -> Result<Child, String> {
    let Some((program, arguments)) = words.split_first() else { return Err("name a command".into()) };
    let start = || -> Result<Child, String> {
        if let Some(cpus) = cpus {
            bind(cpus)?;
        }
        if let Some(nice) = nice {
            let set = setpriority_process(None, nice);
            set.map_err(|e| format!("cannot set the nice value {nice}: {e}"))?;
        }
        Command::new(program).args(arguments).spawn().map_err(|e| match e.kind() {
            ErrorKind::NotFound => format!("there is no command {}", quoted(program)),
            _ => format!("cannot start {}: {e}", quoted(program)),
        })
    };
    let started = std::thread::scope(|scope| scope.spawn(start).join());
    started.unwrap_or_else(|_| Err("cannot start the command".into()))
}

/// Tells when a process has ended; it is not waited for, so that its number stays its own.
fn watch(pid: u32) -> Result<Receiver<u64>, String> {
    let (send, ended) = mpsc::channel();
    let id = i32::try_from(pid).ok().and_then(Pid::from_raw);
    let wait = move || {
        let Some(id) = id else { return };
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT;
        while matches!(waitid(WaitId::Pid(id), options), Err(Errno::INTR)) {}
        // The recording may have been given up.
        let _ = send.send(now());
    };
    let thread = std::thread::Builder::new().name("wait".into()).spawn(wait);
    thread.map_err(|e| format!("cannot create a thread: {e}"))?;
    Ok(ended)
}

impl Running {
    /// Starts it. `others` is a child of this process that does not belong to it.
    ///
    /// # Errors
    /// A sentence.
    pub(crate) fn start(
        words: &[OsString],
        cpus: Option<&[u32]>,
        nice: Option<i32>,
        others: Option<u32>,
    ) -> Result<Self, String> {
        // Processes whose parents end become children of this one instead of those of init, so that all are
        // found and their cpu time is counted. Without that they are not.
        let _ = set_child_subreaper(Some(rustix::process::getpid()));
        let (before, started) = (cpu_time(), now());
        let mut child = spawn(words, cpus, nice)?;
        let ended = watch(child.id()).inspect_err(|_| {
            let _ = child.kill().and_then(|()| child.wait());
        })?;
        Ok(Self { child, others, ended, started, before, asked: None, waited: false })
    }

    /// Its number.
    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Since its start.
    pub(crate) fn since(&self) -> Duration {
        Duration::from_nanos(now().saturating_sub(self.started))
    }

    /// Waits for its end, and no longer than that: when it ended, in ns of CLOCK_MONOTONIC.
    pub(crate) fn end_within(&self, limit: Duration) -> Option<u64> {
        match self.ended.recv_timeout(limit) {
            Ok(at) => Some(at),
            Err(mpsc::RecvTimeoutError::Timeout) => None,
            Err(mpsc::RecvTimeoutError::Disconnected) => Some(now()),
        }
    }

    /// The processes of the command that have not ended.
    fn processes(&self) -> Vec<Process> {
        let own = std::process::id();
        let below = tree::from(own, self.others).into_iter().filter(|pid| *pid != own);
        below.filter_map(Process::of).collect()
    }

    /// `oversim` was asked to end by this signal: passes it on once, and ends the command if it does not end.
    pub(crate) fn asked(&mut self, signal: Signal) {
        match self.asked {
            None => {
                if signal != Signal::INT || !in_foreground() {
                    tree::signal(&self.processes(), signal);
                }
                self.asked = Some((Instant::now(), false));
            }
            Some((since, false)) if since.elapsed() > PATIENCE => {
                tree::signal(&self.processes(), Signal::KILL);
                self.asked = Some((since, true));
            }
            Some(_) => {}
        }
    }

    /// Waits for processes that were left to this one.
    pub(crate) fn reap(&self) {
        let command = [Some(self.pid()), self.others];
        tree::reap(&command.into_iter().flatten().collect::<Vec<_>>());
    }

    /// Waits for it, after its end. What it has started goes on, unless a signal asked for the end.
    ///
    /// # Errors
    /// A sentence.
    pub(crate) fn finish(mut self) -> Result<Ended, String> {
        if self.asked.is_some() {
            tree::end(&|| self.processes());
        }
        let status = self.child.wait().map_err(|e| format!("cannot wait for the command: {e}"))?;
        self.waited = true;
        tree::reap(&self.others.into_iter().collect::<Vec<_>>());
        let after = cpu_time();
        let cpu = (after.0.saturating_sub(self.before.0), after.1.saturating_sub(self.before.1));
        Ok(Ended { status, cpu })
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        if !self.waited {
            tree::end(&|| self.processes());
            let _ = self.child.wait();
        }
    }
}
