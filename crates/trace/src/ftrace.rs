//! Writes a trace as text, as Linux's ftrace prints its `sched` events: for scripts and tools that read
//! those.

use std::io::{self, Write};
use std::ops::Range;

use crate::About;
use crate::decimal;
use crate::events::{Event, State, Who, Writer};
use crate::tracks::{Tid, Tracks};

/// Most bytes of the name of a task in Linux (TASK_COMM_LEN - 1).
const COMM: usize = 15;
/// The priority of ordinary tasks, and of the idle ones.
const PRIO: &str = "120";

/// Bytes that are gathered before they are written.
const GATHERED: usize = 1 << 15;

/// Characters of a name and its number, to which lines are aligned.
const WIDTH: usize = 22;

/// A thread as lines show it.
struct Shown {
    tid: Tid,
    /// `  NAME-PID`
    text: String,
    /// Where the name begins and ends there, in bytes.
    name: Range<usize>,
}

impl Shown {
    fn new(tid: Tid, name: &str, pid: Tid) -> Self {
        let long = name.chars().count() + 1 + itoa::Buffer::new().format(pid).len();
        let mut text = " ".repeat(WIDTH.saturating_sub(long));
        let first = text.len();
        text.push_str(name);
        let name = first..text.len();
        text.push('-');
        decimal(&mut text, pid, 1);
        Self { tid, text, name }
    }

    fn name(&self) -> &str {
        self.text.get(self.name.clone()).unwrap_or_default()
    }

    fn pid(&self) -> &str {
        self.text.get(self.name.end + 1..).unwrap_or_default()
    }
}

/// What comes before the name, the number and the priority of a thread.
type Keys = [&'static str; 3];
const PREV: Keys = ["prev_comm=", " prev_pid=", " prev_prio="];
const NEXT: Keys = ["next_comm=", " next_pid=", " next_prio="];
const ONLY: Keys = ["comm=", " pid=", " prio="];

/// Writes lines.
pub(crate) struct Ftrace<'a> {
    /// In order of their numbers, which have gaps behind those of tasks.
    threads: Vec<Shown>,
    /// One that is in no list, and nobody.
    unknown: Shown,
    idle: Shown,
    out: &'a mut dyn Write,
    text: String,
    /// The last instant, as lines show it: the next line is often of the same.
    at: Option<u64>,
    stamp: String,
    /// What the lines so far say of each cpu.
    cpus: Vec<Cpu>,
    /// Cpus that a thread leaves at this instant without a line.
    leaving: Vec<u32>,
}

/// What the lines so far say of a cpu.
#[derive(Clone, Copy, Default)]
struct Cpu {
    runs: Option<Who>,
    /// Whoever leaves it at this instant; the line of the thread that comes tells of it.
    leaves: Option<(Who, State)>,
}

impl<'a> Ftrace<'a> {
    /// Writes what comes before the events.
    pub(crate) fn begin(tracks: &Tracks, about: &About, out: &'a mut dyn Write) -> io::Result<Self> {
        writeln!(out, "# tracer: nop\n#")?;
        for (key, value) in &about.facts {
            writeln!(out, "# {key}: {}", value.replace(['\n', '\r'], " "))?;
        }
        writeln!(
            out,
            "#\n#           TASK-PID     CPU#  |||||  TIMESTAMP  FUNCTION\n#              | |         |   \
                |||||     |         |"
        )?;
        let threads = tracks.threads().into_iter();
        let mut threads: Vec<_> =
            threads.map(|thread| Shown::new(thread.tid, &comm(&thread.name), thread.tid)).collect();
        threads.sort_unstable_by_key(|thread| thread.tid);
        let (unknown, idle) = (Shown::new(0, "?", 0), Shown::new(0, "<idle>", 0));
        Ok(Self {
            threads,
            unknown,
            idle,
            out,
            text: String::with_capacity(GATHERED + 1_024),
            at: None,
            stamp: String::new(),
            cpus: vec![Cpu::default(); tracks.node.len()],
            leaving: Vec::new(),
        })
    }

    /// What lines show of a thread.
    fn shown<'b>(threads: &'b [Shown], unknown: &'b Shown, tid: Tid) -> &'b Shown {
        // As long as no task is replaced, those of tasks are at the places of their numbers.
        let near = threads.get((tid as usize).wrapping_sub(1)).filter(|thread| thread.tid == tid);
        near.unwrap_or_else(|| {
            let place = threads.binary_search_by_key(&tid, |thread| thread.tid).ok();
            place.and_then(|place| threads.get(place)).unwrap_or(unknown)
        })
    }

    fn say(&mut self, words: &str) {
        self.text.push_str(words);
    }

    fn number(&mut self, number: u64) {
        decimal(&mut self.text, number, 1);
    }

    /// Name, number and priority, those of the idle thread of the cpu where there is none.
    fn thread(&mut self, [comm, pid, prio]: Keys, who: Option<Who>, cpu: u32) {
        let Self { threads, unknown, text, .. } = self;
        text.push_str(comm);
        if let Some(who) = who {
            let shown = Self::shown(threads, unknown, who.tid);
            text.push_str(shown.name());
            text.push_str(pid);
            text.push_str(shown.pid());
        } else {
            text.push_str("swapper/");
            decimal(text, u64::from(cpu), 1);
            text.push_str(pid);
            text.push('0');
        }
        text.push_str(prio);
        text.push_str(PRIO);
    }

    /// What comes before the event: who runs on which cpu, and when.
    fn line(&mut self, at: u64, cpu: u32, current: Option<Who>) {
        let Self { threads, unknown, idle, text, stamp, .. } = self;
        if self.at != Some(at) {
            self.at = Some(at);
            stamp.clear();
            decimal(stamp, at / 1_000_000_000, 1);
            stamp.push('.');
            decimal(stamp, at % 1_000_000_000, 9);
            stamp.push_str(": ");
        }
        let shown = current.map_or(&*idle, |who| Self::shown(threads, unknown, who.tid));
        text.push_str(&shown.text);
        text.push_str(" [");
        decimal(text, u64::from(cpu), 3);
        text.push_str("] d..2. ");
        text.push_str(stamp);
    }

    fn end(&mut self) -> io::Result<()> {
        self.text.push('\n');
        self.flush_at(GATHERED)
    }

    /// Writes what has been gathered if that is so much.
    fn flush_at(&mut self, bytes: usize) -> io::Result<()> {
        if self.text.len() >= bytes {
            self.out.write_all(self.text.as_bytes())?;
            self.text.clear();
        }
        Ok(())
    }

    fn switch(&mut self, at: u64, cpu: u32, prev: Option<(Who, State)>, next: Option<Who>) -> io::Result<()> {
        let who = prev.map(|(who, _)| who);
        self.line(at, cpu, who);
        self.say("sched_switch: ");
        self.thread(PREV, who, cpu);
        self.say(match prev.map(|(_, state)| state) {
            Some(State::Asleep) => " prev_state=S ==> ",
            Some(State::Dead) => " prev_state=X ==> ",
            Some(State::Runnable) | None => " prev_state=R ==> ",
        });
        self.thread(NEXT, next, cpu);
        if let Some(record) = self.cpus.get_mut(cpu as usize) {
            *record = Cpu { runs: next, leaves: None };
        }
        self.leaving.retain(|other| *other != cpu);
        self.end()
    }

    /// A thread leaves a cpu on which another one comes at this instant.
    fn leaves(&mut self, cpu: u32, who: Who, state: State) {
        if let Some(record) = self.cpus.get_mut(cpu as usize) {
            record.leaves = Some((who, state));
            self.leaving.push(cpu);
        }
    }

    fn comes(&mut self, at: u64, cpu: u32, who: Who) -> io::Result<()> {
        // Whoever goes on here has left its cpu in an earlier line.
        let leaves = |cpu: u32| self.cpus.get(cpu as usize).and_then(|record| record.leaves);
        let was = |other: &u32| leaves(*other).is_some_and(|(leaver, _)| leaver == who);
        if let Some(other) = self.leaving.iter().copied().find(was) {
            self.switch(at, other, leaves(other), None)?;
        }
        let before = self.cpus.get(cpu as usize).and_then(|record| record.leaves);
        self.switch(at, cpu, before, Some(who))
    }

    /// A thread without a cpu goes to sleep or ends: a task that polled in turns with others, for which a
    /// stand-in is shown. Linux tells of both only at a switch, so the thread gets the cpu at this instant
    /// and leaves it at the same one.
    fn stops(&mut self, at: u64, cpu: u32, who: Who, state: State) -> io::Result<()> {
        let Cpu { runs, leaves } = self.cpus.get(cpu as usize).copied().unwrap_or_default();
        let before = leaves.or(runs.map(|runs| (runs, State::Runnable)));
        self.switch(at, cpu, before, Some(who))?;
        if leaves.is_none() {
            return self.switch(at, cpu, Some((who, state)), runs);
        }
        self.leaves(cpu, who, state);
        Ok(())
    }
}

/// A name of at most [`COMM`] bytes without blanks: what follows the last dot or slash stays.
fn comm(name: &str) -> String {
    let name: String = name.chars().map(|c| if c.is_whitespace() { '_' } else { c }).collect();
    if name.len() <= COMM {
        return name;
    }
    let tail = name.rfind(['.', '/']).map_or("", |at| &name[at..]);
    let mut room = COMM.saturating_sub(tail.len());
    while !name.is_char_boundary(room) {
        room -= 1;
    }
    format!("{}{tail}", &name[..room])
}

impl Writer for Ftrace<'_> {
    fn event(&mut self, at: u64, event: &Event) -> io::Result<()> {
        match *event {
            Event::Off { cpu, who, state, replaced: true } => {
                self.leaves(cpu, who, state);
                Ok(())
            }
            Event::Off { cpu, who, state, .. } => self.switch(at, cpu, Some((who, state)), None),
            Event::On { cpu, who } => self.comes(at, cpu, who),
            Event::Becomes { cpu, who, state: state @ (State::Asleep | State::Dead) } => {
                self.stops(at, cpu, who, state)
            }
            Event::Becomes { cpu, who, state: State::Runnable } => {
                self.line(at, cpu, None);
                self.say("sched_wakeup: ");
                self.thread(ONLY, Some(who), cpu);
                self.say(" target_cpu=");
                decimal(&mut self.text, u64::from(cpu), 3);
                self.end()
            }
            Event::Moved { who, from, to } => {
                self.line(at, to, None);
                self.say("sched_migrate_task: ");
                self.thread(ONLY, Some(who), to);
                self.say(" orig_cpu=");
                self.number(u64::from(from));
                self.say(" dest_cpu=");
                self.number(u64::from(to));
                self.end()
            }
            // What Linux has no event for.
            Event::Queue { .. }
            | Event::Busy { .. }
            | Event::Waits { .. }
            | Event::GoesOn { .. }
            | Event::Barrier { .. }
            | Event::App { .. }
            | Event::Decided { .. } => Ok(()),
        }
    }

    fn finish(&mut self) -> io::Result<()> {
        self.flush_at(1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_fit_the_kernels_field_and_keep_their_rank() {
        assert_eq!(comm("cg.3"), "cg.3");
        assert_eq!(comm("a_rather_long_name.1023"), "a_rather_l.1023");
        assert_eq!(comm("cg polling/7"), "cg_polling/7".to_owned());
        assert!(comm("ääääääääääääääää.12").len() <= COMM);
    }
}
