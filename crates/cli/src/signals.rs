//! SIGINT, SIGTERM and SIGHUP: files in the making are removed, and the exit code is 128 plus the number of
//! the signal. SIGXFSZ is taken, so that a write over the limit of file sizes fails.

use std::sync::atomic::{AtomicBool, AtomicI32, Ordering};
use std::sync::{Arc, OnceLock};

/// True when what is in progress is finished first: the first signal then only asks to stop.
static KEEP: AtomicBool = AtomicBool::new(false);
/// True after such a signal.
static STOP: AtomicBool = AtomicBool::new(false);
/// Its number.
static SIGNAL: AtomicI32 = AtomicI32::new(0);

/// The warning when it comes.
static MESSAGE: OnceLock<&str> = OnceLock::new();

/// From now on the first signal only sets the flag that is returned, and `message` is shown. The second one
/// ends the process, unless it is SIGTERM.
pub(crate) fn finish_first(message: &'static str) -> &'static AtomicBool {
    // A command asks for this once.
    let _ = MESSAGE.set(message);
    KEEP.store(true, Ordering::SeqCst);
    &STOP
}

/// The exit code after a signal that asked to stop; `None` without one.
pub(crate) fn stopped() -> Option<u8> {
    STOP.load(Ordering::SeqCst).then(|| code(SIGNAL.load(Ordering::SeqCst)))
}

/// 128 plus the number of the signal, as shells report it.
fn code(signal: i32) -> u8 {
    u8::try_from(128 + signal).unwrap_or(u8::MAX)
}

/// Starts the thread that receives the signals.
#[cfg(unix)]
pub(crate) fn watch() {
    use experiment::run::STACK;
    use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM, SIGXFSZ};
    use signal_hook::iterator::Signals;

    // A file that reaches the limit of its size (`ulimit -f`) ends the process unless the signal is taken;
    // then the write fails with EFBIG, as on a full disk. Nothing has to be done when it comes.
    let _ = signal_hook::flag::register(SIGXFSZ, Arc::new(AtomicBool::new(false)));
    let ignored = ignored();
    // A parent that ignores a signal, such as nohup, wants the process to go on.
    let wanted = [SIGHUP, SIGINT, SIGTERM].into_iter().filter(|signal| ignored >> (signal - 1) & 1 == 0);
    // Without the thread, signals end the process as the system does, and files in the making stay.
    if let Ok(mut signals) = Signals::new(wanted) {
        let receive = move || signals.forever().for_each(receive);
        let _ = std::thread::Builder::new().name("signals".into()).stack_size(STACK).spawn(receive);
    }
}

#[cfg(not(unix))]
pub(crate) fn watch() {}

/// What a signal does.
#[cfg(unix)]
fn receive(signal: i32) {
    if KEEP.load(Ordering::SeqCst) && !STOP.load(Ordering::SeqCst) {
        SIGNAL.store(signal, Ordering::SeqCst);
        STOP.store(true, Ordering::SeqCst);
        crate::say::clear_bar();
        crate::say::warning(MESSAGE.get().copied().unwrap_or("interrupted"));
        return;
    }
    // At a requeue, Slurm sends SIGTERM to all processes of a job, and the shell of the job sends it again.
    if KEEP.load(Ordering::SeqCst) && signal == signal_hook::consts::SIGTERM {
        return;
    }
    crate::say::clear_bar();
    let _held = sweep::unfinished::remove_all();
    std::process::exit(i32::from(code(signal)));
}

/// The signals that the parent ignores, one bit each; Linux tells them in `/proc/self/status`.
#[cfg(unix)]
fn ignored() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or(0)
}
