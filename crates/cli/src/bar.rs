//! A progress bar: one line on standard error that is rewritten while runs complete.

use std::io::{self, IsTerminal};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use crate::say;

/// Columns of the bar itself.
const WIDTH: u64 = 40;
/// The least time between two drawings.
const BETWEEN: Duration = Duration::from_millis(100);

/// A bar that counts runs; hidden where standard error is no terminal, and with `--quiet`.
pub(crate) struct Bar {
    unit: &'static str,
    shown: bool,
    count: Mutex<Count>,
}

struct Count {
    done: u64,
    all: u64,
    /// From when, and from how many on, the time left is estimated.
    since: (Instant, u64),
    drawn: Option<Instant>,
}

impl Bar {
    /// A bar that counts up to `all`.
    pub(crate) fn new(all: usize, unit: &'static str) -> Self {
        let dumb = std::env::var_os("TERM").is_some_and(|term| term == "dumb");
        let shown = !say::quiet() && io::stderr().is_terminal() && !dumb;
        let count = Count { done: 0, all: all as u64, since: (Instant::now(), 0), drawn: None };
        Self { unit, shown, count: Mutex::new(count) }
    }

    fn change(&self, change: impl FnOnce(&mut Count)) {
        let mut count = self.count.lock().unwrap_or_else(PoisonError::into_inner);
        change(&mut count);
        if self.shown && count.drawn.is_none_or(|at| at.elapsed() >= BETWEEN) {
            count.drawn = Some(Instant::now());
            say::draw_bar(&count.line(self.unit));
        }
    }

    /// One more is done.
    pub(crate) fn inc(&self) {
        self.change(|count| count.done += 1);
    }

    /// So many of all are done.
    pub(crate) fn set(&self, done: usize, all: usize) {
        self.change(|count| (count.done, count.all) = (done as u64, all as u64));
    }

    /// So many of all were done before: the time left is estimated from now on.
    pub(crate) fn begin(&self, done: u64, all: u64) {
        self.change(|count| {
            (count.done, count.all, count.since) = (done, all, (Instant::now(), done));
        });
    }
}

impl Drop for Bar {
    fn drop(&mut self) {
        say::clear_bar();
    }
}

impl Count {
    /// `####----  12/60 runs, 3 s left`.
    fn line(&self, unit: &str) -> String {
        let Self { done, all, since: (began, before), .. } = *self;
        let filled = (done * WIDTH).checked_div(all).unwrap_or(0).min(WIDTH) as usize;
        let bar = "#".repeat(filled) + &"-".repeat(WIDTH as usize - filled);
        let rate = done.saturating_sub(before) as f64 / began.elapsed().as_secs_f64().max(1e-3);
        let left = match all.saturating_sub(done) {
            left if rate > 0.0 => format!(", {:.0} s left", left as f64 / rate),
            _ => String::new(),
        };
        format!("{bar} {done}/{all} {unit}{left}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_counts_and_estimates_from_where_it_began() {
        let began = Instant::now().checked_sub(Duration::from_secs(10)).unwrap();
        let count = Count { done: 30, all: 40, since: (began, 20), drawn: None };
        assert_eq!(count.line("runs"), format!("{}{} 30/40 runs, 10 s left", "#".repeat(30), "-".repeat(10)));
        let none = Count { done: 0, all: 0, since: (began, 0), drawn: None };
        assert_eq!(none.line("runs"), format!("{} 0/0 runs", "-".repeat(40)));
    }
}
