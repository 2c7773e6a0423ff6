//! What can go wrong, and when.

use std::fmt;
use std::time::Duration;

use rand::rngs::ChaCha8Rng;
use rand::{RngExt, SeedableRng};
use rustix::process::Signal;

use crate::prepared::Prepared;

/// Kinds of faults, as the statistics name them.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum Kind {
    KillAtTime,
    SignalAtTime,
    KillAtCall,
    SignalAtCall,
    CallFails,
    CallsFail,
    FileSize,
    FullDisk,
    ReadOnly,
    Removed,
    Memory,
    OpenFiles,
    Output,
    Two,
    TwoOneKilled,
}

/// The kinds that every system has.
pub(crate) const EVERYWHERE: &[Kind] = &[Kind::KillAtTime, Kind::SignalAtTime, Kind::FileSize];

/// All kinds.
pub(crate) const ALL: &[Kind] = &[
    Kind::KillAtTime,
    Kind::SignalAtTime,
    Kind::KillAtCall,
    Kind::SignalAtCall,
    Kind::CallFails,
    Kind::CallsFail,
    Kind::FileSize,
    Kind::FullDisk,
    Kind::ReadOnly,
    Kind::Removed,
    Kind::Memory,
    Kind::OpenFiles,
    Kind::Output,
    Kind::Two,
    Kind::TwoOneKilled,
];

/// A system call of a program: the N-th one of its name in a thread.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Call {
    pub(crate) name: String,
    pub(crate) number: u32,
}

/// When something happens.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Moment {
    After(Duration),
    At(Call),
}

/// What standard output is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Output {
    /// A device without room.
    Full,
    /// A pipe whose reader is gone.
    Unread,
    /// Closed.
    Closed,
}

/// One thing that goes wrong.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Fault {
    Signal {
        signal: Signal,
        moment: Moment,
    },
    /// A call fails, or it and all later ones of its name.
    Error {
        errno: &'static str,
        call: Call,
        lasting: bool,
    },
    /// Files cannot be longer than so many blocks of 512 bytes; the signal is ignored or not.
    FileSize {
        blocks: u64,
        ignored: bool,
    },
    /// The file system has so many KiB free.
    FullDisk {
        kib: u64,
    },
    ReadOnly {
        moment: Moment,
    },
    Removed {
        moment: Moment,
    },
    Memory {
        mib: u64,
    },
    OpenFiles {
        most: u64,
    },
    Output(Output),
    /// A second program starts after a time; the first one is killed after another time.
    Two {
        after: Duration,
        kill: Option<Duration>,
    },
}

/// Calls that are interrupted.
pub(crate) const CALLS: &[&str] = &[
    "write",
    "openat",
    "rename",
    "renameat2",
    "link",
    "linkat",
    "fsync",
    "unlink",
    "unlinkat",
    "rmdir",
    "ftruncate",
    "mkdir",
    "fchmod",
    "chmod",
    "flock",
    "close",
    "lseek",
    "read",
    "statx",
    "getdents64",
    "clone3",
    "pipe2",
    "wait4",
];

/// The errors that a call can have.
fn errors(call: &str) -> &'static [&'static str] {
    match call {
        "write" => &["ENOSPC", "EIO", "EDQUOT", "EFBIG"],
        "openat" => &["ENOSPC", "EMFILE", "EACCES", "EROFS", "EIO"],
        "rename" | "renameat2" | "link" | "linkat" | "mkdir" => &["ENOSPC", "EIO", "EROFS", "EACCES"],
        "fsync" => &["EIO", "ENOSPC"],
        "unlink" | "unlinkat" | "rmdir" => &["EACCES", "EROFS", "EIO"],
        "ftruncate" | "read" | "getdents64" => &["EIO"],
        "statx" => &["EACCES", "EIO"],
        "fchmod" | "chmod" => &["EPERM", "EROFS"],
        "flock" => &["ENOLCK", "EOPNOTSUPP"],
        "clone3" => &["EAGAIN"],
        "pipe2" => &["EMFILE"],
        _ => &[],
    }
}

/// The generator of a point.
pub(crate) fn generator(seed: u64) -> ChaCha8Rng {
    ChaCha8Rng::seed_from_u64(seed)
}

/// Any of a list.
pub(crate) fn any<'a, T>(rng: &mut ChaCha8Rng, list: &'a [T]) -> &'a T {
    &list[rng.random_range(0..list.len())]
}

/// A fault of a kind for a command.
pub(crate) fn draw(rng: &mut ChaCha8Rng, kind: Kind, prepared: &Prepared) -> Fault {
    match kind {
        Kind::KillAtTime => Fault::Signal { signal: Signal::KILL, moment: time(rng, prepared) },
        Kind::SignalAtTime => Fault::Signal { signal: handled(rng), moment: time(rng, prepared) },
        Kind::KillAtCall => Fault::Signal { signal: Signal::KILL, moment: call(rng, prepared) },
        Kind::SignalAtCall => Fault::Signal { signal: handled(rng), moment: call(rng, prepared) },
        Kind::CallFails | Kind::CallsFail => {
            let failing: Vec<&Call> =
                prepared.calls.iter().filter(|call| !errors(&call.name).is_empty()).collect();
            let last = *any(rng, &failing);
            let call = Call { name: last.name.clone(), number: prepared.number(rng, last) };
            let errno = any::<&str>(rng, errors(&call.name));
            Fault::Error { errno, call, lasting: kind == Kind::CallsFail }
        }
        Kind::FileSize => {
            let most = prepared.largest / 512 + 1;
            Fault::FileSize { blocks: rng.random_range(0..=most), ignored: rng.random_bool(0.7) }
        }
        Kind::FullDisk => {
            let most = prepared.written / 1024 + 12;
            Fault::FullDisk { kib: rng.random_range(0..=most) / 4 * 4 }
        }
        Kind::ReadOnly => Fault::ReadOnly { moment: either(rng, prepared) },
        Kind::Removed => Fault::Removed { moment: either(rng, prepared) },
        Kind::Memory => {
            // From what the loader needs to what any of the commands needs.
            let mib = rng.random_range(f64::ln(8.0)..f64::ln(400.0)).exp() as u64;
            Fault::Memory { mib }
        }
        Kind::OpenFiles => Fault::OpenFiles { most: rng.random_range(3..24) },
        Kind::Output => Fault::Output(*any(rng, &[Output::Full, Output::Unread, Output::Closed])),
        Kind::Two => Fault::Two { after: fraction(rng, prepared), kill: None },
        Kind::TwoOneKilled => {
            Fault::Two { after: fraction(rng, prepared), kill: Some(fraction(rng, prepared)) }
        }
    }
}

fn handled(rng: &mut ChaCha8Rng) -> Signal {
    let signal = *any(rng, &[Signal::TERM, Signal::INT, Signal::HUP]);
    if is_ignored(signal) { Signal::TERM } else { signal }
}

/// Whether this process, and so its children, ignore a signal: a bit of a mask in `/proc`.
fn is_ignored(signal: Signal) -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let mask = mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or(0);
    mask >> (signal.as_raw() - 1) & 1 == 1
}

fn fraction(rng: &mut ChaCha8Rng, prepared: &Prepared) -> Duration {
    prepared.takes.mul_f64(rng.random_range(0.0..1.05))
}

fn time(rng: &mut ChaCha8Rng, prepared: &Prepared) -> Moment {
    Moment::After(fraction(rng, prepared))
}

fn call(rng: &mut ChaCha8Rng, prepared: &Prepared) -> Moment {
    let last = any(rng, &prepared.calls);
    Moment::At(Call { name: last.name.clone(), number: prepared.number(rng, last) })
}

fn either(rng: &mut ChaCha8Rng, prepared: &Prepared) -> Moment {
    if prepared.calls.is_empty() || rng.random_bool(0.3) { time(rng, prepared) } else { call(rng, prepared) }
}

impl Fault {
    /// Whether the process may end without a chance to remove its files.
    pub(crate) fn kills(&self) -> bool {
        match self {
            Self::Signal { signal, .. } => *signal == Signal::KILL,
            Self::FileSize { ignored, .. } => !ignored,
            Self::Memory { .. } | Self::Two { kill: Some(_), .. } => true,
            _ => false,
        }
    }

    /// Whether files in the making cannot be removed.
    pub(crate) fn keeps_files(&self) -> bool {
        match self {
            Self::ReadOnly { .. } | Self::Removed { .. } => true,
            Self::Error { call, .. } => call.name.starts_with("unlink") || call.name == "rmdir",
            _ => false,
        }
    }

    /// Whether directories cannot be read.
    pub(crate) fn closes_directories(&self) -> bool {
        let name = match self {
            Self::Error { call, lasting: true, .. } => call.name.as_str(),
            _ => "",
        };
        matches!(name, "openat" | "getdents64")
    }

    /// Whether standard error may be unwritable, too.
    pub(crate) fn silences(&self) -> bool {
        matches!(self, Self::Error { call, .. } if call.name == "write")
    }
}

impl fmt::Display for Call {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.name, self.number)
    }
}

impl fmt::Display for Moment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::After(time) => write!(f, "after {time:.1?}"),
            Self::At(call) => write!(f, "at {call}"),
        }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Signal { signal, moment } => write!(f, "signal {} {moment}", signal.as_raw()),
            Self::Error { errno, call, lasting } => {
                write!(f, "{errno} at {call}{}", if *lasting { " and later" } else { "" })
            }
            Self::FileSize { blocks, ignored } => {
                let signal = if *ignored { "an error" } else { "SIGXFSZ" };
                write!(f, "files of at most {blocks} blocks, {signal}")
            }
            Self::FullDisk { kib } => write!(f, "{kib} KiB free"),
            Self::ReadOnly { moment } => write!(f, "directories read-only {moment}"),
            Self::Removed { moment } => write!(f, "directory removed {moment}"),
            Self::Memory { mib } => write!(f, "{mib} MiB of address space"),
            Self::OpenFiles { most } => write!(f, "{most} open files"),
            Self::Output(output) => write!(f, "standard output {output:?}"),
            Self::Two { after, kill } => {
                write!(f, "a second program after {after:.1?}")?;
                kill.map_or(Ok(()), |kill| write!(f, ", the first one killed after {kill:.1?}"))
            }
        }
    }
}
