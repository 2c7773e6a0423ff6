//! Periods in which a cpu idles while a thread that could run waits for one.
//!
//! The rule is that of the tests of oversim's own balancers: a stretch of time in which a cpu was idle while
//! a thread that may run there waited on another one. A recording has no masks and no quotas, so every thread
//! is taken to be allowed everywhere.

use std::io::{self, Write};

use notation::lists;
use serde::Serialize;

use super::head::Head;
use super::text::{Column, bracketed, clock, counted, delay, json, ms, name, percent, seconds, table, tid};
use crate::event::Tid;
use crate::follow::{Start, Stint};
use crate::threads::{Id, Threads};

/// The shortest period without another number, in ns.
pub const LEAST: u64 = 1_000_000;
/// Idle times and delays that are kept at most, each; 16 and 32 bytes.
const KEPT: usize = 1 << 22;
/// Periods that the text lists at most.
const LISTED: usize = 200;

/// A time from and to, in ns.
type Span = (u64, u64);

const fn length((from, to): Span) -> u64 {
    to.saturating_sub(from)
}

const fn common(a: Span, b: Span) -> Span {
    let from = if a.0 > b.0 { a.0 } else { b.0 };
    (from, if a.1 < b.1 { a.1 } else { b.1 })
}

#[derive(Clone, Default, Debug)]
struct Cpu {
    /// The end of its last stint; nothing before the first.
    last: Option<u64>,
    /// When it idled, in order.
    idle: Vec<Span>,
}

/// A thread that could run and had no cpu.
#[derive(Clone, Copy, Debug)]
struct Delay {
    thread: Id,
    span: Span,
    cpu: u32,
}

/// A period: a thread waits while cpus idle.
#[derive(Clone, Debug)]
struct Period {
    /// The longest time for which one cpu idled.
    idle: Span,
    cpus: Vec<u32>,
    delay: Delay,
}

/// Collects idle times and delays.
#[derive(Clone, Debug)]
pub struct Idle {
    least: u64,
    /// How many cpus there are, if that is known.
    machine: u32,
    cpus: Vec<Cpu>,
    delays: Vec<Delay>,
    kept: usize,
    /// Idle times and delays that are not kept.
    dropped: u64,
    /// Delays whose end was not recorded.
    unsure: u64,
}

/// A period as JSON.
#[derive(Clone, Debug, Serialize)]
pub struct Row {
    /// When it began, in s of the recording's clock.
    pub start_s: f64,
    /// For how long a cpu idled, in s.
    pub idle_s: f64,
    /// For how long the thread could run and had no cpu, in s.
    pub delay_s: f64,
    /// The cpus that idled for at least the minimum meanwhile.
    pub cpus: Vec<u32>,
    /// The thread.
    pub name: String,
    /// Its number.
    pub tid: Tid,
    /// Where it then ran.
    pub next_cpu: u32,
}

/// All periods together, as JSON.
#[derive(Clone, Debug, Serialize)]
pub struct Sum {
    /// How many.
    pub periods: u64,
    /// Time in any of them, in s.
    pub total_s: f64,
    /// The longest, in s.
    pub longest_s: f64,
    /// Their part of the recording.
    pub share: f64,
    /// The shortest that counts, in s.
    pub least_s: f64,
    /// Idle times and delays that were too many to be kept.
    pub dropped: u64,
    /// Delays left out because the switch that ended them was not recorded.
    pub unsure: u64,
}

#[derive(Serialize)]
struct Written<'a> {
    recording: &'a Head,
    sum: Sum,
    periods: Vec<Row>,
}

impl Idle {
    /// Looks for periods of at least so many ns.
    #[must_use]
    pub const fn new(least: u64) -> Self {
        Self {
            least: if least == 0 { 1 } else { least },
            machine: 0,
            cpus: Vec::new(),
            delays: Vec::new(),
            kept: 0,
            dropped: 0,
            unsure: 0,
        }
    }

    /// The machine has so many cpus, numbered from 0: one that no stint names idled all the time.
    pub const fn machine(&mut self, cpus: u32) {
        self.machine = cpus;
    }

    /// Takes a stint.
    pub fn stint(&mut self, _threads: &Threads, stint: &Stint<'_>) {
        let place = stint.cpu as usize;
        if place >= self.cpus.len() {
            self.cpus.resize_with(place + 1, Cpu::default);
        }
        if let Some(cpu) = self.cpus.get_mut(place) {
            // Before the first stint the cpu idled only if its first event says so.
            let from = cpu.last.unwrap_or(if stint.idle { 0 } else { stint.from });
            cpu.last = Some(cpu.last.unwrap_or(0).max(stint.to));
            let span = (from, stint.from);
            if length(span) >= self.least {
                if self.kept < KEPT {
                    self.kept += 1;
                    cpu.idle.push(span);
                } else {
                    self.dropped += 1;
                }
            }
        }
        let Some(span) = delay(stint).filter(|span| length(*span) >= self.least) else { return };
        if stint.mended && matches!(stint.start, Start::Resumed { .. }) {
            // It may have gone on long before, or have waited for something else.
            self.unsure += 1;
        } else if self.delays.len() < KEPT {
            self.delays.push(Delay { thread: stint.thread, span, cpu: stint.cpu });
        } else {
            self.dropped += 1;
        }
    }

    /// The idle times of each cpu that are long enough, to the end of the recording.
    fn idle_times(&self, head: &Head) -> Vec<Vec<Span>> {
        let whole = (head.first, head.last);
        let count = self.cpus.len().max(self.machine as usize);
        let of = |place: usize| {
            let cpu = self.cpus.get(place);
            let (idle, last) = cpu.map_or((&[][..], None), |cpu| (&cpu.idle[..], cpu.last));
            // A cpu that no stint names exists only if the machine is known.
            let end = match last {
                Some(last) => Some((last, head.last)),
                None => (place < self.machine as usize).then_some(whole),
            };
            let spans = idle.iter().copied().chain(end).map(|span| common(span, whole));
            spans.filter(|span| length(*span) >= self.least).collect()
        };
        (0..count).map(of).collect()
    }

    /// The periods in order of time.
    fn periods(&self, head: &Head) -> Vec<Period> {
        let idle = self.idle_times(head);
        let period = |delay: &Delay| {
            let (mut longest, mut cpus) = ((0, 0), Vec::new());
            for (cpu, spans) in (0..).zip(&idle) {
                let begin = spans.partition_point(|span| span.1 <= delay.span.0);
                let after = spans.iter().skip(begin).take_while(|span| span.0 < delay.span.1);
                let together = after.map(|span| common(*span, delay.span));
                let Some(best) = together.max_by_key(|span| length(*span)) else { continue };
                if length(best) >= self.least {
                    cpus.push(cpu);
                    longest = if length(best) > length(longest) { best } else { longest };
                }
            }
            (!cpus.is_empty()).then_some(Period { idle: longest, cpus, delay: *delay })
        };
        let mut periods: Vec<Period> = self.delays.iter().filter_map(period).collect();
        periods.sort_by_key(|period| (period.idle.0, period.delay.thread));
        periods
    }

    fn sum(&self, head: &Head, periods: &[Period]) -> Sum {
        let (mut total, mut until) = (0, 0);
        // In order of their beginnings: what two have in common counts once.
        for Period { idle: (from, to), .. } in periods {
            total += length((until.max(*from), *to));
            until = until.max(*to);
        }
        Sum {
            periods: periods.len() as u64,
            total_s: seconds(total),
            longest_s: seconds(periods.iter().map(|period| length(period.idle)).max().unwrap_or(0)),
            share: percent(total, head.length()) / 100.0,
            least_s: seconds(self.least),
            dropped: self.dropped,
            unsure: self.unsure,
        }
    }

    /// Writes the report as text.
    ///
    /// # Errors
    /// Errors of writing to `out`.
    pub fn write(&self, head: &Head, threads: &Threads, out: &mut dyn Write) -> io::Result<()> {
        head.write(out)?;
        writeln!(out)?;
        let mut periods = self.periods(head);
        let sum = self.sum(head, &periods);
        if periods.len() > LISTED {
            writeln!(out, "The {LISTED} longest of {} periods:", periods.len())?;
            periods.sort_by_key(|period| std::cmp::Reverse(length(period.idle)));
            periods.truncate(LISTED);
            periods.sort_by_key(|period| (period.idle.0, period.delay.thread));
        }
        if !periods.is_empty() {
            let right = |title| Column { title, left: false };
            let left = |title| Column { title, left: true };
            let columns = [
                right("start s"),
                right("idle ms"),
                right("waited ms"),
                right("ran next on"),
                left("thread"),
                left("cpus idle"),
            ];
            let row = |period: &Period| {
                vec![
                    clock(period.idle.0),
                    ms(length(period.idle)),
                    ms(length(period.delay.span)),
                    period.delay.cpu.to_string(),
                    bracketed(threads, period.delay.thread),
                    lists::ranges(period.cpus.iter().copied()),
                ]
            };
            table(&columns, &periods.iter().map(row).collect::<Vec<_>>(), false, out)?;
            writeln!(out)?;
        }
        self.write_sum(&sum, head, out)
    }

    fn write_sum(&self, sum: &Sum, head: &Head, out: &mut dyn Write) -> io::Result<()> {
        writeln!(
            out,
            "{}, together {:.3} ms, {:.2} % of {} ms; the longest {:.3} ms",
            counted(sum.periods, "period"),
            1e3 * sum.total_s,
            100.0 * sum.share,
            ms(head.length()),
            1e3 * sum.longest_s
        )?;
        writeln!(
            out,
            "A period: a cpu idles for at least {} ms while a thread that could run waits for one.\n\
             A recording has neither masks nor quotas: the thread may be bound to other cpus, or its group\n\
             may have used up its quota.",
            ms(self.least)
        )?;
        if sum.unsure > 0 {
            let delays = counted(sum.unsure, "delay");
            writeln!(out, "Left out: {delays} whose last switch was not recorded.")?;
        }
        if sum.dropped > 0 {
            writeln!(out, "Left out, because there were too many: {} idle times and delays.", sum.dropped)?;
        }
        Ok(())
    }

    /// Writes the report as JSON, with all periods.
    ///
    /// # Errors
    /// Errors of writing to `out`.
    pub fn write_json(&self, head: &Head, threads: &Threads, out: &mut dyn Write) -> io::Result<()> {
        let periods = self.periods(head);
        let row = |period: &Period| Row {
            start_s: seconds(period.idle.0),
            idle_s: seconds(length(period.idle)),
            delay_s: seconds(length(period.delay.span)),
            cpus: period.cpus.clone(),
            name: name(threads, period.delay.thread).into_owned(),
            tid: tid(threads, period.delay.thread),
            next_cpu: period.delay.cpu,
        };
        let rows = periods.iter().map(row).collect();
        json(&Written { recording: head, sum: self.sum(head, &periods), periods: rows }, out)
    }
}
