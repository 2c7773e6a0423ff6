//! What had the cpu while a thread could run and had none: a neighbour, the thread's own group, or nobody.

use std::collections::{BTreeMap, VecDeque};
use std::io::{self, Write};

use notation::neutral;
use serde::Serialize;

use super::head::Head;
use super::text::{Column, delay, json, ms, percent, seconds, table, waited};
use crate::event::Tid;
use crate::follow::{Source, Start, Stint};
use crate::threads::{Id, Thread, Threads};

/// Stints of all cpus together that are kept to find out who had a cpu; 24 bytes each.
const KEPT: usize = 1 << 21;
/// Of each cpu at least so many.
const KEPT_OF_EACH: usize = 256;

/// A group of threads.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Group {
    /// The process of this number.
    Process(Tid),
    /// What has this name: a control group, a name of threads.
    Named(String),
}

/// The group of a thread.
pub type Grouping<'a> = &'a dyn Fn(&Thread) -> Group;

/// The process of a thread. Where the recording names no process (tracefs, `trace-cmd`, the ftrace text of a
/// simulation): the name without a number at its end, as `cg` of `cg.3`, and of `cg_polling/7`, which stands
/// for tasks of `cg` that poll in turns.
#[must_use]
pub fn by_process(thread: &Thread) -> Group {
    let named = || {
        let name = stem(&thread.name);
        let polls = name.strip_suffix("_polling").filter(|_| thread.name.contains("_polling/"));
        Group::Named(polls.unwrap_or(name).to_owned())
    };
    thread.process.map_or_else(named, Group::Process)
}

/// Each thread for itself.
#[must_use]
pub fn by_thread(thread: &Thread) -> Group {
    Group::Named(format!("{}[{}]", thread.name, thread.tid))
}

/// All threads of a name.
#[must_use]
pub fn by_name(thread: &Thread) -> Group {
    Group::Named(thread.name.clone())
}

/// A name without a number at its end and the sign before that.
fn stem(name: &str) -> &str {
    let text = name.trim_end_matches(|c: char| c.is_ascii_digit());
    let stem = text.trim_end_matches(['.', '-', '_', '/', ':', '#']);
    if text.len() == name.len() || stem.is_empty() { name } else { stem }
}

/// Who had a cpu.
#[derive(Clone, Copy, Debug)]
struct Had {
    from: u64,
    to: u64,
    group: u32,
}

/// The last stints of a cpu, in order of time.
#[derive(Clone, Default, Debug)]
struct Cpu {
    had: VecDeque<Had>,
    /// What ended before this time is not kept any more, in ns.
    forgotten: u64,
}

/// What a thread was grouped by, and the number of its group.
#[derive(Clone, Debug)]
struct Member {
    name: String,
    process: Option<Tid>,
    group: u32,
}

/// The times of a group, in ns.
#[derive(Clone, Default, Debug)]
struct Account {
    threads: u64,
    stints: u64,
    ran: u64,
    /// Could run and had no cpu, while others had it, while its own threads had it, while nobody had it, and
    /// while it is not known who had it.
    queued: u64,
    neighbour: u64,
    own: u64,
    idle: u64,
    unknown: u64,
    /// Waits that a thread, a timer, an interrupt ended, and those whose end was not recorded.
    by_thread: u64,
    by_timer: u64,
    by_interrupt: u64,
    unseen: u64,
}

/// Splits the delays of groups of threads.
pub struct Split<'a> {
    grouping: Grouping<'a>,
    groups: BTreeMap<Group, u32>,
    accounts: Vec<Account>,
    members: Vec<Option<Member>>,
    cpus: Vec<Cpu>,
    /// Stints that are kept of each cpu at most.
    most: usize,
}

/// The times of a group as JSON, in s.
#[derive(Clone, Debug, Serialize)]
pub struct Row {
    /// Its label.
    pub group: String,
    /// How many threads were in it.
    pub threads: u64,
    /// Their stints.
    pub stints: u64,
    /// Cpu time.
    pub run_s: f64,
    /// Time in which threads could run and had no cpu.
    pub runnable_s: f64,
    /// Of it: threads of other groups had the cpu.
    pub neighbour_s: f64,
    /// Of it: threads of the same group had the cpu.
    pub own_s: f64,
    /// Of it: the cpu idled.
    pub idle_s: f64,
    /// Of it: it is not known who had the cpu.
    pub unknown_s: f64,
    /// Waits that a thread ended.
    pub wait_thread_s: f64,
    /// Waits that a timer ended.
    pub wait_timer_s: f64,
    /// Waits that an interrupt ended.
    pub wait_interrupt_s: f64,
    /// Waits whose end was not recorded.
    pub wait_unseen_s: f64,
}

#[derive(Serialize)]
struct Written<'a> {
    recording: &'a Head,
    groups: Vec<Row>,
}

impl<'a> Split<'a> {
    /// Splits by the groups of a function, which is asked again when the name or the process of a thread
    /// changes.
    #[must_use]
    pub const fn new(grouping: Grouping<'a>) -> Self {
        Self {
            grouping,
            groups: BTreeMap::new(),
            accounts: Vec::new(),
            members: Vec::new(),
            cpus: Vec::new(),
            most: KEPT,
        }
    }

    /// The number of the group of a thread.
    fn group(&mut self, threads: &Threads, id: Id) -> Option<u32> {
        let thread = threads.get(id)?;
        let place = id.0 as usize;
        if place >= self.members.len() {
            self.members.resize(place + 1, None);
        }
        let member = self.members.get_mut(place)?;
        if let Some(known) = member
            && known.process == thread.process
            && known.name == thread.name
        {
            return Some(known.group);
        }
        let before = member.as_ref().map(|known| known.group);
        let accounts = &mut self.accounts;
        let group = *self.groups.entry((self.grouping)(thread)).or_insert_with(|| {
            accounts.push(Account::default());
            accounts.len() as u32 - 1
        });
        *member = Some(Member { name: thread.name.clone(), process: thread.process, group });
        if before != Some(group)
            && let Some(account) = self.accounts.get_mut(group as usize)
        {
            account.threads += 1;
        }
        Some(group)
    }

    /// Takes a stint.
    pub fn stint(&mut self, threads: &Threads, stint: &Stint<'_>) {
        let Some(group) = self.group(threads, stint.thread) else { return };
        let place = stint.cpu as usize;
        if place >= self.cpus.len() {
            self.cpus.resize_with(place + 1, Cpu::default);
            self.most = (KEPT / self.cpus.len()).max(KEPT_OF_EACH);
        }
        let (Some(cpu), Some(account)) = (self.cpus.get_mut(place), self.accounts.get_mut(group as usize))
        else {
            return;
        };
        account.stints += 1;
        account.ran += stint.to.saturating_sub(stint.from);
        account.waits(stint);
        if let Some((from, to)) = delay(stint) {
            account.queues(cpu, (from, to), group);
        }
        cpu.add(Had { from: stint.from, to: stint.to, group }, self.most);
    }

    /// The groups that ran with their labels, those that waited longest for a cpu first.
    fn ordered(&self, threads: &Threads) -> Vec<(String, &Account)> {
        // The first thread of a process has its number and, as a rule, its name.
        let mut leaders = BTreeMap::new();
        for (_, thread) in threads.iter() {
            let process = thread.process.unwrap_or(thread.tid);
            if process == thread.tid {
                leaders.insert(process, thread.name.as_str());
            } else {
                leaders.entry(process).or_insert(&thread.name);
            }
        }
        let label = |group: &Group| match group {
            Group::Process(process) => {
                let name = leaders.get(process).copied().unwrap_or("?");
                format!("{}[{process}]", neutral::line(name))
            }
            Group::Named(name) => neutral::line(name).into_owned(),
        };
        let all = self.groups.iter().filter_map(|(group, place)| {
            let account = self.accounts.get(*place as usize)?;
            (account.stints > 0).then(|| (label(group), account))
        });
        let mut all: Vec<(String, &Account)> = all.collect();
        all.sort_by_key(|(_, account)| std::cmp::Reverse((account.queued, account.ran)));
        all
    }

    /// Writes the report as text.
    ///
    /// # Errors
    /// Errors of writing to `out`.
    pub fn write(&self, head: &Head, threads: &Threads, out: &mut dyn Write) -> io::Result<()> {
        head.write(out)?;
        writeln!(out)?;
        let right = |title| Column { title, left: false };
        let columns = [
            Column { title: "group", left: true },
            right("threads"),
            right("run ms"),
            right("runnable ms"),
            right("neighbour"),
            right("own tasks"),
            right("cpu idle"),
            right("wait thread"),
            right("timer"),
            right("interrupt"),
            right("not seen"),
        ];
        let groups = self.ordered(threads);
        let mut total = Account::default();
        groups.iter().for_each(|(_, account)| total.merge(account));
        let all = groups.iter().map(|(label, account)| (label.as_str(), *account)).chain([("TOTAL", &total)]);
        let rows: Vec<Vec<String>> = all.map(|(label, account)| account.cells(label)).collect();
        table(&columns, &rows, true, out)?;
        writeln!(
            out,
            "\nrunnable: could run and had no cpu. Of it, on the cpu where the thread then ran: neighbour,\n\
             threads of other groups had it; own tasks, threads of the same group had it; cpu idle, nobody\n\
             had it: a quota, the balancer, or the cpu was on its way out of idle. Waits by what ended them."
        )?;
        if total.unknown > 0 {
            writeln!(
                out,
                "For {} ms it is not known who had the cpu: so many stints are not kept.",
                ms(total.unknown)
            )?;
        }
        Ok(())
    }

    /// Writes the report as JSON.
    ///
    /// # Errors
    /// Errors of writing to `out`.
    pub fn write_json(&self, head: &Head, threads: &Threads, out: &mut dyn Write) -> io::Result<()> {
        let groups = self.ordered(threads);
        let groups = groups.into_iter().map(|(label, account)| account.row(label)).collect();
        json(&Written { recording: head, groups }, out)
    }
}

impl Cpu {
    fn add(&mut self, mut had: Had, most: usize) {
        // What was mended may overlap.
        let last = self.had.back().map_or(self.forgotten, |last| last.to);
        had.from = had.from.max(last);
        if had.from >= had.to {
            return;
        }
        match self.had.back_mut() {
            // Nobody asks where one stint ended and the next of the same group began.
            Some(last) if last.group == had.group && last.to == had.from => last.to = had.to,
            _ => self.had.push_back(had),
        }
        while self.had.len() > most {
            self.forgotten = self.had.pop_front().map_or(self.forgotten, |first| first.to);
        }
    }
}

impl Account {
    fn waits(&mut self, stint: &Stint<'_>) {
        let Start::Woken { by, .. } = stint.start else { return };
        let sum = match by {
            Source::Thread(_) => &mut self.by_thread,
            Source::Timer(_) => &mut self.by_timer,
            Source::Interrupt => &mut self.by_interrupt,
            Source::Unseen => &mut self.unseen,
            // It did not wait.
            Source::Raced => return,
        };
        *sum += waited(stint);
    }

    /// Its thread had no cpu in this time.
    fn queues(&mut self, cpu: &Cpu, (from, to): (u64, u64), group: u32) {
        let length = to.saturating_sub(from);
        let unknown = cpu.forgotten.min(to).saturating_sub(from);
        let begin = cpu.had.partition_point(|had| had.to <= from);
        let (mut own, mut neighbour) = (0, 0);
        for had in cpu.had.range(begin..).take_while(|had| had.from < to) {
            let share = had.to.min(to).saturating_sub(had.from.max(from));
            *(if had.group == group { &mut own } else { &mut neighbour }) += share;
        }
        self.queued += length;
        self.own += own;
        self.neighbour += neighbour;
        self.unknown += unknown;
        self.idle += length.saturating_sub(own + neighbour + unknown);
    }

    fn merge(&mut self, other: &Self) {
        self.threads += other.threads;
        self.stints += other.stints;
        self.ran += other.ran;
        self.queued += other.queued;
        self.neighbour += other.neighbour;
        self.own += other.own;
        self.idle += other.idle;
        self.unknown += other.unknown;
        self.by_thread += other.by_thread;
        self.by_timer += other.by_timer;
        self.by_interrupt += other.by_interrupt;
        self.unseen += other.unseen;
    }

    fn cells(&self, label: &str) -> Vec<String> {
        let part = |part: u64| format!("{} {:>3.0} %", ms(part), percent(part, self.queued));
        vec![
            label.to_owned(),
            self.threads.to_string(),
            ms(self.ran),
            ms(self.queued),
            part(self.neighbour),
            part(self.own),
            part(self.idle),
            ms(self.by_thread),
            ms(self.by_timer),
            ms(self.by_interrupt),
            ms(self.unseen),
        ]
    }

    fn row(&self, group: String) -> Row {
        Row {
            group,
            threads: self.threads,
            stints: self.stints,
            run_s: seconds(self.ran),
            runnable_s: seconds(self.queued),
            neighbour_s: seconds(self.neighbour),
            own_s: seconds(self.own),
            idle_s: seconds(self.idle),
            unknown_s: seconds(self.unknown),
            wait_thread_s: seconds(self.by_thread),
            wait_timer_s: seconds(self.by_timer),
            wait_interrupt_s: seconds(self.by_interrupt),
            wait_unseen_s: seconds(self.unseen),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_loses_the_number_at_its_end() {
        for (name, wanted) in
            [("cg.3", "cg"), ("worker-12", "worker"), ("make", "make"), ("42", "42"), ("x264", "x"), ("", "")]
        {
            assert_eq!(stem(name), wanted, "{name}");
        }
    }

    #[test]
    fn what_is_not_kept_is_counted_as_unknown() {
        let mut cpu = Cpu::default();
        for number in 0..4 {
            let (from, group) = (100 * number, (number % 2) as u32);
            cpu.add(Had { from, to: from + 100, group }, 2);
        }
        // Of 0 to 400 the half is forgotten; from 200 on the groups 0 and 1 had it, and nobody after 400.
        let mut account = Account::default();
        account.queues(&cpu, (50, 450), 1);
        assert_eq!((account.queued, account.unknown, account.neighbour, account.own), (400, 150, 100, 100));
        assert_eq!(account.idle, 50);
    }

    #[test]
    fn stints_of_a_group_behind_each_other_are_one() {
        let mut cpu = Cpu::default();
        for from in [0, 10, 20] {
            cpu.add(Had { from, to: from + 10, group: 3 }, 8);
        }
        // An overlap counts once.
        cpu.add(Had { from: 25, to: 40, group: 4 }, 8);
        assert_eq!(cpu.had.len(), 2);
        assert_eq!(cpu.had.back().map(|had| (had.from, had.to)), Some((30, 40)));
    }
}
