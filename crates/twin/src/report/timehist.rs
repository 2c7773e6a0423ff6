//! A line for each stint of a thread on a cpu, as `perf sched timehist` shows them, written as stints end.

use std::collections::BTreeMap;
use std::io::{self, Write};

use serde::Serialize;

use super::head::Head;
use super::text::{
    Column, bracketed, clock, counted, delay, ms, ms_or_dash, name, percent, seconds, table, tid, waited,
};
use crate::event::Tid;
use crate::follow::{End, Source, Start, Stint};
use crate::threads::{Id, Threads};

/// Columns of the name of a thread; longer ones push the rest of their line to the right.
const WIDE: usize = 30;

/// Which threads are shown.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Only {
    /// The thread of this number.
    Tid(Tid),
    /// Those with this in their names.
    Part(String),
}

impl Only {
    /// A number, or a part of a name.
    #[must_use]
    pub fn of(text: &str) -> Self {
        text.parse().map_or_else(|_| Self::Part(text.to_owned()), Self::Tid)
    }
}

/// What is written.
#[derive(Clone, Default, Debug)]
pub struct Options {
    /// Threads of any of these; all if there is none.
    pub only: Vec<Only>,
    /// Stints that end after this time, in ns from the first event on.
    pub from: u64,
    /// Stints that begin before this time, in ns from the first event on.
    pub to: Option<u64>,
    /// Sums of each thread and cpu at the end.
    pub summary: bool,
    /// A JSON object in each line.
    pub json: bool,
}

/// A stint as JSON.
#[derive(Clone, Debug, Serialize)]
pub struct Line {
    /// When it ended, in s of the recording's clock.
    pub time_s: f64,
    /// Where.
    pub cpu: u32,
    /// Whose: name.
    pub name: String,
    /// Whose: number.
    pub tid: Tid,
    /// Whose: process, where the recording says it.
    pub pid: Option<Tid>,
    /// How long it had waited before it was woken, in s.
    pub wait_s: f64,
    /// From when it could run until it had the cpu, in s; nothing where that is not known.
    pub delay_s: Option<f64>,
    /// How long it ran, in s.
    pub run_s: f64,
    /// How it ended: pre-empted, yielded, waits, ended, cut (by the end of the recording).
    pub end: &'static str,
    /// The state in which it waits.
    pub state: Option<char>,
    /// What had made it able to run: woken, timer, interrupt, unseen, early (before it waited), forked,
    /// pre-empted, or first (nothing before is known).
    pub start: &'static str,
    /// The thread that woke it, or forked it.
    pub by: Option<Tid>,
    /// The switch with which it began was not recorded.
    pub mended: bool,
}

#[derive(Clone, Default, Debug)]
struct Account {
    ran: u64,
    shortest: Option<u64>,
    longest: u64,
    stints: u64,
    waited: u64,
    delayed: u64,
    moves: u64,
    cpu: Option<u32>,
}

/// The sums of a thread as JSON.
#[derive(Clone, Debug, Serialize)]
pub struct Sum {
    /// Its name.
    pub name: String,
    /// Its number.
    pub tid: Tid,
    /// Its stints.
    pub stints: u64,
    /// Their times, in s.
    pub run_s: f64,
    /// The waits before them.
    pub wait_s: f64,
    /// The delays before them.
    pub delay_s: f64,
    /// How often it went on on another cpu.
    pub migrations: u64,
}

#[derive(Serialize)]
struct Summary {
    summary: Sum,
}

/// Writes the stints.
pub struct Timehist<'a> {
    out: &'a mut dyn Write,
    options: Options,
    failed: Option<io::Error>,
    /// The first event, in ns.
    first: u64,
    begun: bool,
    shown: u64,
    accounts: BTreeMap<Id, Account>,
    /// Time in which each cpu was busy, in ns.
    busy: BTreeMap<u32, u64>,
}

impl<'a> Timehist<'a> {
    /// Writes to `out` what the options ask for.
    pub fn new(options: Options, out: &'a mut dyn Write) -> Self {
        Self {
            out,
            options,
            failed: None,
            first: 0,
            begun: false,
            shown: 0,
            accounts: BTreeMap::new(),
            busy: BTreeMap::new(),
        }
    }

    /// The recording begins at this time of its clock, in ns; before the first stint.
    pub const fn begin(&mut self, first: u64) {
        self.first = first;
    }

    /// The window in ns of the clock.
    fn window(&self) -> (u64, u64) {
        let to = self.options.to.map_or(u64::MAX, |to| self.first.saturating_add(to));
        (self.first.saturating_add(self.options.from), to)
    }

    fn wanted(&self, threads: &Threads, id: Id) -> bool {
        let Some(thread) = threads.get(id) else { return false };
        let fits = |only: &Only| match only {
            Only::Tid(tid) => thread.tid == *tid,
            Only::Part(part) => thread.name.contains(part.as_str()),
        };
        self.options.only.is_empty() || self.options.only.iter().any(fits)
    }

    /// How many stints were shown.
    #[must_use]
    pub const fn shown(&self) -> u64 {
        self.shown
    }

    /// Takes a stint and writes its line.
    pub fn stint(&mut self, threads: &Threads, stint: &Stint<'_>) {
        let (from, to) = self.window();
        if self.failed.is_some() || stint.from >= to || stint.to < from {
            return;
        }
        if self.options.summary {
            let busy = stint.to.min(to).saturating_sub(stint.from.max(from));
            *self.busy.entry(stint.cpu).or_default() += busy;
        }
        if !self.wanted(threads, stint.thread) {
            return;
        }
        if self.options.summary {
            self.count(stint);
        }
        self.shown += 1;
        let written = if self.options.json { self.object(threads, stint) } else { self.line(threads, stint) };
        self.failed = written.err();
    }

    fn count(&mut self, stint: &Stint<'_>) {
        let account = self.accounts.entry(stint.thread).or_default();
        let ran = stint.to.saturating_sub(stint.from);
        account.ran += ran;
        account.shortest = Some(account.shortest.map_or(ran, |shortest| shortest.min(ran)));
        account.longest = account.longest.max(ran);
        account.stints += 1;
        account.waited += waited(stint);
        account.delayed += delay(stint).map_or(0, |(from, to)| to.saturating_sub(from));
        account.moves += u64::from(account.cpu.is_some_and(|cpu| cpu != stint.cpu));
        account.cpu = Some(stint.cpu);
    }

    fn object(&mut self, threads: &Threads, stint: &Stint<'_>) -> io::Result<()> {
        let (end, state) = ended(stint.end);
        let (start, by) = started(threads, stint);
        let line = Line {
            time_s: seconds(stint.to),
            cpu: stint.cpu,
            name: name(threads, stint.thread).into_owned(),
            tid: tid(threads, stint.thread),
            pid: threads.get(stint.thread).and_then(|thread| thread.process),
            wait_s: seconds(waited(stint)),
            delay_s: delay(stint).map(|(from, to)| seconds(to.saturating_sub(from))),
            run_s: seconds(stint.to.saturating_sub(stint.from)),
            end,
            state,
            start,
            by: by.map(|id| tid(threads, id)),
            mended: stint.mended,
        };
        serde_json::to_writer(&mut *self.out, &line)?;
        writeln!(self.out)
    }

    fn begin_text(&mut self) -> io::Result<()> {
        if std::mem::replace(&mut self.begun, true) {
            return Ok(());
        }
        let out = &mut *self.out;
        writeln!(
            out,
            "{:>15} {:<7} {:<WIDE$} {:>10} {:>10} {:>10}   {:<10} woken by",
            "time", "cpu", "thread", "wait time", "delay", "run time", "then"
        )?;
        writeln!(
            out,
            "{:>15} {:<7} {:<WIDE$} {:>10} {:>10} {:>10}",
            "(s)", "", "name[tid/pid]", "(ms)", "(ms)", "(ms)"
        )?;
        let dashes = |count: usize| "-".repeat(count);
        writeln!(
            out,
            "{} {} {} {} {} {}   {} {}",
            dashes(15),
            dashes(7),
            dashes(WIDE),
            dashes(10),
            dashes(10),
            dashes(10),
            dashes(10),
            dashes(WIDE)
        )
    }

    fn line(&mut self, threads: &Threads, stint: &Stint<'_>) -> io::Result<()> {
        self.begin_text()?;
        let known = delay(stint).map(|(from, to)| to.saturating_sub(from));
        let then = match ended(stint.end) {
            (end, Some(state)) => format!("{end} {state}"),
            (end, None) => end.to_owned(),
        };
        let by = match started(threads, stint) {
            ("woken", Some(by)) => bracketed(threads, by),
            ("forked", Some(by)) => format!("forked by {}", bracketed(threads, by)),
            ("pre-empted" | "first", _) => String::new(),
            (start, _) => start.to_owned(),
        };
        let line = format!(
            "{:>15} [{:04}]{} {:<WIDE$} {:>10} {:>10} {:>10}   {then:<10} {by}",
            clock(stint.to),
            stint.cpu,
            if stint.mended { '*' } else { ' ' },
            bracketed(threads, stint.thread),
            ms(waited(stint)),
            ms_or_dash(known),
            ms(stint.to.saturating_sub(stint.from)),
        );
        writeln!(self.out, "{}", line.trim_end())
    }

    /// The recording is over: writes what was read and, if that is wanted, the sums.
    ///
    /// # Errors
    /// Errors of writing, those of earlier lines too.
    pub fn finish(mut self, head: &Head, threads: &Threads) -> io::Result<()> {
        if let Some(error) = self.failed.take() {
            return Err(error);
        }
        if self.options.json {
            for summary in self.accounts.iter().map(|(id, account)| sum(threads, *id, account)) {
                serde_json::to_writer(&mut *self.out, &Summary { summary })?;
                writeln!(self.out)?;
            }
            return Ok(());
        }
        self.begin_text()?;
        if self.options.summary {
            self.write_summary(head, threads)?;
        }
        writeln!(self.out)?;
        head.write(self.out)?;
        writeln!(
            self.out,
            "{}; wait time until the wake-up, delay from then on; * the beginning was not recorded",
            counted(self.shown, "stint")
        )
    }

    fn write_summary(&mut self, head: &Head, threads: &Threads) -> io::Result<()> {
        let right = |title| Column { title, left: false };
        let columns = [
            Column { title: "thread", left: true },
            right("stints"),
            right("run ms"),
            right("min"),
            right("avg"),
            right("max"),
            right("wait ms"),
            right("delay ms"),
            right("migrations"),
        ];
        let mut accounts: Vec<(&Id, &Account)> = self.accounts.iter().collect();
        accounts.sort_by_key(|(_, account)| std::cmp::Reverse(account.ran));
        let row = |(id, account): (&Id, &Account)| {
            vec![
                bracketed(threads, *id),
                account.stints.to_string(),
                ms(account.ran),
                ms_or_dash(account.shortest),
                ms_or_dash(account.ran.checked_div(account.stints)),
                ms(account.longest),
                ms(account.waited),
                ms(account.delayed),
                account.moves.to_string(),
            ]
        };
        let rows: Vec<Vec<String>> = accounts.into_iter().map(row).collect();
        writeln!(self.out)?;
        table(&columns, &rows, false, self.out)?;
        writeln!(self.out)?;
        let (from, to) = self.window();
        let length = to.min(head.last).saturating_sub(from.max(head.first));
        for (cpu, busy) in &self.busy {
            let idle = length.saturating_sub(*busy);
            writeln!(self.out, "cpu {cpu} idle for {} ms ({:.2} %)", ms(idle), percent(idle, length))?;
        }
        Ok(())
    }
}

fn sum(threads: &Threads, id: Id, account: &Account) -> Sum {
    Sum {
        name: name(threads, id).into_owned(),
        tid: tid(threads, id),
        stints: account.stints,
        run_s: seconds(account.ran),
        wait_s: seconds(account.waited),
        delay_s: seconds(account.delayed),
        migrations: account.moves,
    }
}

/// How a stint ended, in a word, and the state in which its thread waits.
fn ended(end: End) -> (&'static str, Option<char>) {
    match end {
        End::Preempted => ("pre-empted", None),
        End::Yielded => ("yielded", None),
        End::Blocked(letter) => ("waits", Some(if letter.is_ascii_graphic() { letter.into() } else { '?' })),
        End::Exited => ("ended", None),
        End::Cut => ("cut", None),
    }
}

/// What made a thread able to run, in a word, and which thread did so.
fn started(threads: &Threads, stint: &Stint<'_>) -> (&'static str, Option<Id>) {
    match stint.start {
        Start::First => ("first", None),
        Start::Forked { .. } => ("forked", threads.get(stint.thread).and_then(|thread| thread.parent)),
        Start::Resumed { .. } => ("pre-empted", None),
        Start::Woken { by, .. } => match by {
            Source::Thread(waker) => ("woken", Some(waker)),
            Source::Timer(_) => ("timer", None),
            Source::Interrupt => ("interrupt", None),
            Source::Unseen => ("unseen", None),
            Source::Raced => ("early", None),
        },
    }
}
