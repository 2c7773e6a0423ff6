//! Delays of each thread from being able to run to having a cpu, as `perf sched latency` shows them.

use std::collections::BTreeMap;
use std::io::{self, Write};

use serde::Serialize;

use super::delays::Delays;
use super::head::Head;
use super::text::{Column, clock, counted, delay, json, ms, ms_or_dash, name, seconds, table, tid};
use crate::event::Tid;
use crate::follow::{Source, Start, Stint};
use crate::threads::{Id, Threads};

/// The order of the threads.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub enum Order {
    /// The longest run time first.
    #[default]
    RunTime,
    /// The most stints first.
    Stints,
    /// The largest average delay first.
    Average,
    /// The largest delay first.
    Maximum,
}

#[derive(Clone, Default, Debug)]
struct Account {
    ran: u64,
    stints: u64,
    /// Delays that are known, and their sum.
    delays: u64,
    delayed: u64,
    /// The longest: from when, to when.
    longest: Option<(u64, u64)>,
    /// After a wait.
    wakes: Delays,
}

const fn length((from, to): (u64, u64)) -> u64 {
    to.saturating_sub(from)
}

impl Account {
    fn longer(&mut self, other: (u64, u64)) {
        if self.longest.is_none_or(|longest| length(other) > length(longest)) {
            self.longest = Some(other);
        }
    }

    fn add(&mut self, stint: &Stint<'_>) {
        self.ran += stint.to.saturating_sub(stint.from);
        self.stints += 1;
        let Some(delay) = delay(stint) else { return };
        self.delays += 1;
        self.delayed += length(delay);
        self.longer(delay);
        // A thread that was woken before it gave up its cpu did not wait.
        if matches!(stint.start, Start::Woken { by, .. } if by != Source::Raced) {
            self.wakes.add(length(delay));
        }
    }

    fn merge(&mut self, other: &Self) {
        self.ran += other.ran;
        self.stints += other.stints;
        self.delays += other.delays;
        self.delayed += other.delayed;
        other.longest.into_iter().for_each(|longest| self.longer(longest));
        self.wakes.merge(&other.wakes);
    }

    fn average(&self) -> Option<u64> {
        self.delayed.checked_div(self.delays)
    }
}

/// Collects the delays of all threads.
#[derive(Default, Debug)]
pub struct Latency {
    accounts: Vec<Account>,
}

/// A thread, or all threads of a name.
#[derive(Clone, Debug, Serialize)]
pub struct Row {
    /// The name.
    pub name: String,
    /// Its number; nothing for several threads.
    pub tid: Option<Tid>,
    /// How many threads.
    pub threads: usize,
    /// Cpu time, in s.
    pub run_s: f64,
    /// Stints.
    pub stints: u64,
    /// Those with a known delay.
    pub delays: u64,
    /// The average delay, in s.
    pub average_s: Option<f64>,
    /// The median delay after a wait, in s.
    pub wake_p50_s: Option<f64>,
    /// Its 99th percentile, in s.
    pub wake_p99_s: Option<f64>,
    /// The longest delay, in s.
    pub max_s: Option<f64>,
    /// When it began, in s of the recording's clock.
    pub max_from_s: Option<f64>,
    /// When it ended.
    pub max_to_s: Option<f64>,
}

#[derive(Serialize)]
struct Written<'a> {
    recording: &'a Head,
    threads: Vec<Row>,
    total: Row,
}

/// A label with what it counts.
struct Entry {
    name: String,
    tid: Option<Tid>,
    threads: usize,
    account: Account,
}

impl Latency {
    /// Takes a stint.
    pub fn stint(&mut self, _threads: &Threads, stint: &Stint<'_>) {
        let place = stint.thread.0 as usize;
        if place >= self.accounts.len() {
            self.accounts.resize_with(place + 1, Account::default);
        }
        if let Some(account) = self.accounts.get_mut(place) {
            account.add(stint);
        }
    }

    /// Threads that ran, or their names, in order.
    fn entries(&self, threads: &Threads, merged: bool, order: Order) -> Vec<Entry> {
        let ran = (0..).map(Id).zip(&self.accounts).filter(|(_, account)| account.stints > 0);
        let mut entries: Vec<Entry> = if merged {
            let mut names: BTreeMap<String, Entry> = BTreeMap::new();
            for (id, account) in ran {
                let name = name(threads, id).into_owned();
                let entry = names.entry(name.clone()).or_insert_with(|| Entry {
                    name,
                    tid: None,
                    threads: 0,
                    account: Account::default(),
                });
                entry.threads += 1;
                entry.account.merge(account);
            }
            names.into_values().collect()
        } else {
            ran.map(|(id, account)| Entry {
                name: name(threads, id).into_owned(),
                tid: Some(tid(threads, id)),
                threads: 1,
                account: account.clone(),
            })
            .collect()
        };
        let key = |entry: &Entry| match order {
            Order::RunTime => entry.account.ran,
            Order::Stints => entry.account.stints,
            Order::Average => entry.account.average().unwrap_or(0),
            Order::Maximum => entry.account.longest.map_or(0, length),
        };
        // Stable: what is equal stays in the order of first names.
        entries.sort_by_key(|entry| std::cmp::Reverse(key(entry)));
        entries
    }

    fn total(entries: &[Entry]) -> Entry {
        let mut account = Account::default();
        entries.iter().for_each(|entry| account.merge(&entry.account));
        let threads = entries.iter().map(|entry| entry.threads).sum();
        Entry { name: "TOTAL".into(), tid: None, threads, account }
    }

    /// Writes the report as text; `merged` puts threads of a name together.
    ///
    /// # Errors
    /// Errors of writing to `out`.
    pub fn write(
        &self,
        head: &Head,
        threads: &Threads,
        (merged, order): (bool, Order),
        out: &mut dyn Write,
    ) -> io::Result<()> {
        head.write(out)?;
        writeln!(out)?;
        let mut entries = self.entries(threads, merged, order);
        let total = Self::total(&entries);
        let unknown = total.account.stints - total.account.delays;
        entries.push(total);
        let right = |title| Column { title, left: false };
        let columns = [
            Column { title: "thread", left: true },
            right("run ms"),
            right("stints"),
            right("avg delay"),
            right("wake p50"),
            right("wake p99"),
            right("max delay ms"),
            right("max start s"),
            right("max end s"),
        ];
        let rows: Vec<Vec<String>> = entries.iter().map(cells).collect();
        table(&columns, &rows, true, out)?;
        writeln!(
            out,
            "\nDelays in ms, from when a thread could run until it had a cpu; p50, p99: those after a wait."
        )?;
        if unknown > 0 {
            writeln!(
                out,
                "Without a known delay: {}, the first of each thread and those whose switch or wake-up was\n\
                 not recorded.",
                counted(unknown, "stint")
            )?;
        }
        Ok(())
    }

    /// Writes the report as JSON.
    ///
    /// # Errors
    /// Errors of writing to `out`.
    pub fn write_json(
        &self,
        head: &Head,
        threads: &Threads,
        (merged, order): (bool, Order),
        out: &mut dyn Write,
    ) -> io::Result<()> {
        let entries = self.entries(threads, merged, order);
        let total = row(&Self::total(&entries));
        json(&Written { recording: head, threads: entries.iter().map(row).collect(), total }, out)
    }
}

fn cells(entry: &Entry) -> Vec<String> {
    let Entry { name, tid, threads, account } = entry;
    let named = match tid {
        Some(tid) => format!("{name}:{tid}"),
        None => format!("{name}:({threads})"),
    };
    let longest = account.longest;
    let at = |at: Option<u64>| at.map_or_else(|| "-".to_owned(), clock);
    vec![
        named,
        ms(account.ran),
        account.stints.to_string(),
        ms_or_dash(account.average()),
        ms_or_dash(account.wakes.quantile(500)),
        ms_or_dash(account.wakes.quantile(990)),
        ms_or_dash(longest.map(length)),
        at(longest.map(|(from, _)| from)),
        at(longest.map(|(_, to)| to)),
    ]
}

fn row(entry: &Entry) -> Row {
    let Entry { name, tid, threads, account } = entry;
    let longest = account.longest;
    Row {
        name: name.clone(),
        tid: *tid,
        threads: *threads,
        run_s: seconds(account.ran),
        stints: account.stints,
        delays: account.delays,
        average_s: account.average().map(seconds),
        wake_p50_s: account.wakes.quantile(500).map(seconds),
        wake_p99_s: account.wakes.quantile(990).map(seconds),
        max_s: longest.map(length).map(seconds),
        max_from_s: longest.map(|(from, _)| seconds(from)),
        max_to_s: longest.map(|(_, to)| seconds(to)),
    }
}
