//! Messages on standard error besides failures: progress bars and remarks, depending on `--quiet` and
//! `--verbose`.

use std::fmt::Display;
use std::io::{self, IsTerminal, Write};
use std::sync::{Mutex, OnceLock, PoisonError};
use std::time::Instant;

use clap::builder::styling::{AnsiColor, Style};
use experiment::neutral;
use indicatif::{ProgressBar, ProgressStyle};

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
    let _ = writeln!(anstream::stderr(), "{text}");
}

/// The bar that is shown, for the thread that receives signals.
static SHOWN: Mutex<Option<ProgressBar>> = Mutex::new(None);

/// Removes the bar from the terminal.
pub(crate) fn clear_bar() {
    if let Some(bar) = SHOWN.lock().unwrap_or_else(PoisonError::into_inner).take() {
        bar.finish_and_clear();
    }
}

/// A bar on standard error, if that is a terminal, that counts up to `length`.
pub(crate) fn bar(length: usize, unit: &str) -> ProgressBar {
    if quiet() || !io::stderr().is_terminal() {
        return ProgressBar::hidden();
    }
    let bar = ProgressBar::new(length as u64);
    let template = format!("{{bar:40}} {{pos}}/{{len}} {unit}, {{eta}} left");
    if let Ok(style) = ProgressStyle::with_template(&template) {
        bar.set_style(style);
    }
    *SHOWN.lock().unwrap_or_else(PoisonError::into_inner) = Some(bar.clone());
    bar
}
