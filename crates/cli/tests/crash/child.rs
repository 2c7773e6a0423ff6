//! The program as a child process, disturbed.

use std::fs::{self, File, Permissions};
use std::io::Read;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process, kill_process_group, test_kill_process_group};

use crate::fault::{Call, Fault, Moment, Output};

/// After this time a program hangs.
const HANGS: Duration = Duration::from_secs(90);
/// Processes that a program started end in this time after it.
const LINGERS: Duration = Duration::from_secs(10);

/// How a program ended.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub(crate) struct Ended {
    pub(crate) code: Option<i32>,
    pub(crate) signal: Option<i32>,
    pub(crate) out: Vec<u8>,
    pub(crate) err: String,
    /// It did not end by itself.
    pub(crate) hung: bool,
    /// Processes that it started are still there.
    pub(crate) left_processes: bool,
}

/// The program that is tested.
pub(crate) fn program() -> PathBuf {
    assert_cmd::cargo::cargo_bin("oversim")
}

/// Runs the program in a directory, undisturbed.
pub(crate) fn plain(directory: &Path, words: &[String]) -> Ended {
    Running::start(directory, &[], words, Stdio::piped()).end()
}

/// Runs it where it must succeed.
pub(crate) fn prepare(directory: &Path, args: &[&str]) {
    let words: Vec<String> = args.iter().map(|word| (*word).to_owned()).collect();
    let ended = plain(directory, &words);
    assert_eq!(ended.code, Some(0), "{args:?}: {}", ended.err);
}

/// Whether a program of the system is there.
pub(crate) fn has(program: &str) -> bool {
    let found = Command::new(program).arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status();
    found.is_ok_and(|status| status.success())
}

/// Words that start a program under `strace`, which does something at a call.
pub(crate) fn traced(call: &Call, what: &str, lasting: bool, log: &str) -> Vec<String> {
    let Call { name, number } = call;
    let plus = if lasting { "+" } else { "" };
    let inject = format!("inject={name}:{what}:when={number}{plus}");
    let words = ["strace", "-DD", "-f", "-qq", "-o", log, "-e", &format!("trace={name}"), "-e", &inject];
    words.iter().map(|word| (*word).to_owned()).collect()
}

/// Runs it with a fault that is part of how it is started or a signal. Directories that lose their
/// permissions or their name are those of `directory`; `lost` is one of them, or none for all.
pub(crate) fn disturbed(directory: &Path, words: &[String], fault: &Fault, lost: &[&str]) -> Ended {
    let log = directory.with_extension("calls");
    let at = |call: &Call, what: &str, lasting| traced(call, what, lasting, log.to_str().unwrap());
    let own = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect();
    let before: Vec<String> = match fault {
        Fault::Signal { signal, moment: Moment::At(call) } => {
            at(call, &format!("signal={}", signal.as_raw()), false)
        }
        Fault::Error { errno, call, lasting } => at(call, &format!("error={errno}"), *lasting),
        Fault::FileSize { blocks, ignored } => {
            let trap = if *ignored { "trap '' XFSZ; " } else { "" };
            own(&["sh", "-c", &format!("{trap}ulimit -c 0; ulimit -f {blocks}; exec \"$0\" \"$@\"")])
        }
        Fault::Memory { mib } => own(&["prlimit", &format!("--as={}", mib << 20), "--core=0"]),
        Fault::OpenFiles { most } => own(&["prlimit", &format!("--nofile={most}")]),
        Fault::Output(Output::Closed) => own(&["sh", "-c", "exec \"$0\" \"$@\" >&-"]),
        Fault::ReadOnly { moment } | Fault::Removed { moment } => {
            let mut words = Vec::new();
            if rustix::process::geteuid().is_root() {
                // The permissions of directories do not bind root.
                words = own(&["setpriv", "--bounding-set=-all", "--inh-caps=-all"]);
            }
            if let Moment::At(call) = moment {
                words.extend(at(call, "signal=STOP", false));
            }
            words
        }
        _ => Vec::new(),
    };
    let stdout = match fault {
        Fault::Output(Output::Full) => Stdio::from(File::options().write(true).open("/dev/full").unwrap()),
        // The reader of this pipe is dropped here.
        Fault::Output(Output::Unread) => Stdio::from(std::io::pipe().unwrap().1),
        _ => Stdio::piped(),
    };
    let mut running = Running::start(directory, &before, words, stdout);
    match fault {
        Fault::Signal { signal, moment: Moment::After(time) } => {
            running.sleep(*time);
            running.signal(*signal);
        }
        Fault::ReadOnly { moment } => {
            running.wait_for(moment, &log);
            permit(directory, 0o555);
        }
        Fault::Removed { moment } => {
            running.wait_for(moment, &log);
            for name in lost {
                let _ = fs::remove_dir_all(directory.join(name));
            }
        }
        _ => {}
    }
    let ended = running.end();
    permit(directory, 0o755);
    let _ = fs::remove_file(log);
    ended
}

/// Gives all directories these permissions, the inner ones first.
fn permit(directory: &Path, mode: u32) {
    if mode & 0o200 > 0 {
        let _ = fs::set_permissions(directory, Permissions::from_mode(mode));
    }
    for entry in fs::read_dir(directory).into_iter().flatten().flatten() {
        if entry.path().is_dir() {
            permit(&entry.path(), mode);
        }
    }
    let _ = fs::set_permissions(directory, Permissions::from_mode(mode));
}

/// A program that runs.
pub(crate) struct Running {
    child: Child,
    began: Instant,
    out: Option<JoinHandle<Vec<u8>>>,
    err: Option<JoinHandle<Vec<u8>>>,
    /// It may have been stopped at a call.
    stops: bool,
}

impl Running {
    /// Starts it behind other words, such as those of `strace`.
    pub(crate) fn start(directory: &Path, before: &[String], words: &[String], stdout: Stdio) -> Self {
        let program = program().to_str().unwrap().to_owned();
        let mut all = before.iter().chain([&program]).chain(words);
        let mut command = Command::new(all.next().unwrap());
        command.args(all).current_dir(directory).stdin(Stdio::null()).stdout(stdout).stderr(Stdio::piped());
        command.env_remove("SLURM_ARRAY_TASK_ID").env("XDG_CACHE_HOME", directory.join("c")).process_group(0);
        let mut child = command.spawn().unwrap();
        let (out, err) = (reader(child.stdout.take()), reader(child.stderr.take()));
        Self { child, began: Instant::now(), out, err, stops: false }
    }

    fn pid(&self) -> Pid {
        Pid::from_child(&self.child)
    }

    pub(crate) fn sleep(&self, time: Duration) {
        std::thread::sleep(time.saturating_sub(self.began.elapsed()));
    }

    /// Sends a signal: that of a terminal to all processes, any other one to the program.
    pub(crate) fn signal(&self, signal: Signal) {
        // It may have ended.
        let _ = match signal {
            Signal::INT => kill_process_group(self.pid(), signal),
            signal => kill_process(self.pid(), signal),
        };
    }

    /// Waits until the program is stopped at a call or a time has passed.
    fn wait_for(&mut self, moment: &Moment, log: &Path) {
        match moment {
            Moment::After(time) => self.sleep(*time),
            Moment::At(_) => {
                self.stops = true;
                let stopped = || fs::read_to_string(log).unwrap_or_default().contains("stopped by SIGSTOP");
                while !stopped() && self.child.try_wait().unwrap().is_none() && self.began.elapsed() < HANGS {
                    std::thread::sleep(Duration::from_millis(1));
                }
            }
        }
    }

    /// Waits until it has ended.
    pub(crate) fn end(mut self) -> Ended {
        let mut ended = Ended::default();
        let status = self.status(&mut ended);
        let gone = || test_kill_process_group(self.pid()).is_err();
        let began = Instant::now();
        while !gone() && began.elapsed() < LINGERS {
            std::thread::sleep(Duration::from_millis(2));
        }
        ended.left_processes = !gone();
        let _ = kill_process_group(self.pid(), Signal::KILL);
        (ended.code, ended.signal) = (status.code(), status.signal());
        ended.out = self.out.take().map_or_else(Vec::new, |thread| thread.join().unwrap());
        let err = self.err.take().map_or_else(Vec::new, |thread| thread.join().unwrap());
        ended.err = String::from_utf8_lossy(&err).into_owned();
        ended
    }

    fn status(&mut self, ended: &mut Ended) -> ExitStatus {
        loop {
            if let Some(status) = self.child.try_wait().unwrap() {
                return status;
            }
            if self.stops {
                let _ = kill_process(self.pid(), Signal::CONT);
            }
            if self.began.elapsed() > HANGS {
                ended.hung = true;
                let _ = kill_process_group(self.pid(), Signal::KILL);
            }
            std::thread::sleep(Duration::from_millis(2));
        }
    }
}

/// Reads a pipe to its end.
fn reader(pipe: Option<impl Read + Send + 'static>) -> Option<JoinHandle<Vec<u8>>> {
    let mut pipe = pipe?;
    Some(std::thread::spawn(move || {
        let mut bytes = Vec::new();
        let _ = pipe.read_to_end(&mut bytes);
        bytes
    }))
}
