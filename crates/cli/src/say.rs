//! Messages on standard error besides failures, depending on `--quiet` and `--verbose`.

use std::fmt::Display;
use std::io::{self, Write};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use clap::builder::styling::{AnsiColor, Style};
use experiment::neutral;

const WARNING: Style = AnsiColor::Yellow.on_default().bold();

/// How many messages are printed besides results and failures.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum Voice {
    /// Nothing.
    Quiet,
    /// Progress bars where standard error is a terminal, and warnings.
    Normal,
    /// Also what is being done, and how long it took.
    Verbose,
}

/// One command line, one voice.
static VOICE: OnceLock<Voice> = OnceLock::new();

/// Sets the voice, once.
pub(crate) fn speak(quiet: bool, verbose: bool) {
    let voice = match (quiet, verbose) {
        (true, _) => Voice::Quiet,
        (_, true) => Voice::Verbose,
        _ => Voice::Normal,
    };
    // The command line is read once; a second call changes nothing.
    let _ = VOICE.set(voice);
}

fn voice() -> Voice {
    VOICE.get().copied().unwrap_or(Voice::Normal)
}

/// True with `--quiet`.
pub(crate) fn quiet() -> bool {
    voice() == Voice::Quiet
}

/// A line on standard error, only with `--verbose`.
pub(crate) fn remark(text: impl Display) {
    if voice() == Voice::Verbose {
        line(text);
    }
}

/// How long something took, only with `--verbose`.
pub(crate) fn took(began: Instant, count: usize, unit: &str) {
    remark(format_args!("{count} {unit} in {:.1} s", began.elapsed().as_secs_f64()));
}

/// A warning on standard error, unless `--quiet`.
pub(crate) fn warning(text: impl Display) {
    if !quiet() {
        print(&format!("{WARNING}warning:{WARNING:#} {}", neutral::lines(&text.to_string())));
    }
}

/// A remark about what was not asked for on standard error, unless `--quiet`.
pub(crate) fn note(text: impl Display) {
    if !quiet() {
        line(format_args!("note: {text}"));
    }
}

/// A line on standard error about a file that was written, unless `--quiet`.
pub(crate) fn written(file: impl Display, text: impl Display) {
    if !quiet() {
        line(format_args!("{}: {text}", neutral::line(&file.to_string())));
    }
}

/// A line on standard error, without invisible characters.
pub(crate) fn line(text: impl Display) {
    print(&neutral::lines(&text.to_string()));
}

/// A line on standard error as it is. When that is closed the exit code still reports.
fn print(text: &str) {
    clear_bar();
    let _ = writeln!(anstream::stderr(), "{text}");
}

/// A progress bar is on the terminal.
static BAR: AtomicBool = AtomicBool::new(false);

/// Puts a progress bar in the place of the former one. When standard error is closed, the exit code still
/// reports.
pub(crate) fn draw_bar(line: &str) {
    BAR.store(true, Ordering::SeqCst);
    let _ = write!(io::stderr(), "\r{line}\x1b[K");
}

/// Removes the progress bar from the terminal, if there is one.
pub(crate) fn clear_bar() {
    if BAR.swap(false, Ordering::SeqCst) {
        let _ = write!(io::stderr(), "\r\x1b[K");
    }
}
