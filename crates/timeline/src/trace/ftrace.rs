//! Writes a trace as text, as Linux's ftrace prints its `sched` events: for scripts and tools that read those.

use std::io::{self, Write};

use super::About;
use super::cast::{Cast, Tid};
use super::digits::{decimal, digits};
use super::story::{Event, State, Who, Writer};

/// Most bytes of the name of a task in Linux (TASK_COMM_LEN - 1).
const COMM: usize = 15;
/// The priority of ordinary tasks, and of the idle ones.
const PRIO: u32 = 120;

/// Bytes that are gathered before they are written.
const GATHERED: usize = 1 << 15;

/// Writes lines.
pub(super) struct Ftrace<'a> {
    /// In order of their numbers, which have gaps behind those of tasks.
    names: Vec<(Tid, String)>,
    out: &'a mut dyn Write,
    text: String,
}

impl<'a> Ftrace<'a> {
    /// Writes what comes before the events.
    pub(super) fn begin(cast: &Cast, about: &About, out: &'a mut dyn Write) -> io::Result<Self> {
        writeln!(out, "# tracer: nop\n#")?;
        for (key, value) in &about.facts {
            writeln!(out, "# {key}: {}", value.replace(['\n', '\r'], " "))?;
        }
        writeln!(
            out,
            "#\n#           TASK-PID     CPU#  |||||  TIMESTAMP  FUNCTION\n#              | |         |   |||||     |         |"
        )?;
        let threads = cast.threads().into_iter();
        let mut names: Vec<_> = threads.map(|thread| (thread.tid, comm(&thread.name))).collect();
        names.sort_unstable();
        Ok(Self { names, out, text: String::with_capacity(GATHERED + 1_024) })
    }

    /// Where the name of a thread is in the list.
    fn find(&self, tid: Tid) -> Option<usize> {
        // As long as no task is replaced, those of tasks are at the places of their numbers.
        let near = (tid as usize).wrapping_sub(1);
        if self.names.get(near).is_some_and(|(other, _)| *other == tid) {
            return Some(near);
        }
        self.names.binary_search_by_key(&tid, |(tid, _)| *tid).ok()
    }

    fn say(&mut self, words: &str) {
        self.text.push_str(words);
    }

    fn number(&mut self, number: u64) {
        decimal(&mut self.text, number, 1);
    }

    /// The name of a thread.
    fn name(&mut self, tid: Tid) {
        let at = self.find(tid);
        let Self { names, text, .. } = self;
        text.push_str(at.and_then(|at| names.get(at)).map_or("?", |(_, name)| name));
    }

    /// `KEYcomm=NAME KEYpid=PID KEYprio=PRIO`, with the idle thread of the cpu where there is none.
    fn thread(&mut self, key: &str, who: Option<Who>, cpu: u32) {
        self.say(key);
        self.say("comm=");
        match who {
            Some(who) => self.name(who.tid),
            None => {
                self.say("swapper/");
                self.number(u64::from(cpu));
            }
        }
        self.say(" ");
        self.say(key);
        self.say("pid=");
        self.number(who.map_or(0, |who| who.tid));
        self.say(" ");
        self.say(key);
        self.say("prio=");
        self.number(u64::from(PRIO));
    }

    /// What comes before the event: who runs on which cpu, and when.
    fn line(&mut self, at: u64, cpu: u32, current: Option<Who>) {
        /// Characters of a name and its number, to which lines are aligned.
        const WIDTH: usize = 22;
        const BLANKS: &str = "                      ";
        let pid = current.map_or(0, |who| who.tid);
        let place = current.and_then(|who| self.find(who.tid));
        let Self { names, text, .. } = self;
        let name =
            current.map_or("<idle>", |_| place.and_then(|at| names.get(at)).map_or("?", |(_, name)| name));
        let long = name.chars().count() + 1 + digits(pid);
        text.push_str(BLANKS.get(..WIDTH.saturating_sub(long)).unwrap_or_default());
        text.push_str(name);
        text.push('-');
        decimal(text, pid, 1);
        text.push_str(" [");
        decimal(text, u64::from(cpu), 3);
        text.push_str("] d..2. ");
        decimal(text, at / 1_000_000_000, 1);
        text.push('.');
        decimal(text, at % 1_000_000_000, 9);
        text.push_str(": ");
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
        self.thread("prev_", who, cpu);
        self.say(match prev.map(|(_, state)| state) {
            Some(State::Asleep) => " prev_state=S ==> ",
            Some(State::Dead) => " prev_state=X ==> ",
            Some(State::Runnable) | None => " prev_state=R ==> ",
        });
        self.thread("next_", next, cpu);
        self.end()
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
            // The line of the one that comes tells of it too.
            Event::Off { replaced: true, .. } => Ok(()),
            Event::Off { cpu, who, state, .. } => self.switch(at, cpu, Some((who, state)), None),
            Event::On { cpu, who, from } => self.switch(at, cpu, from, Some(who)),
            Event::Becomes { cpu, who, state: State::Runnable } => {
                self.line(at, cpu, None);
                self.say("sched_wakeup: ");
                self.thread("", Some(who), cpu);
                self.say(" target_cpu=");
                decimal(&mut self.text, u64::from(cpu), 3);
                self.end()
            }
            Event::Moved { who, from, to } => {
                self.line(at, to, None);
                self.say("sched_migrate_task: ");
                self.thread("", Some(who), to);
                self.say(" orig_cpu=");
                self.number(u64::from(from));
                self.say(" dest_cpu=");
                self.number(u64::from(to));
                self.end()
            }
            // What Linux has no event for.
            Event::Becomes { .. }
            | Event::Queue { .. }
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
        assert_eq!(comm("cg polling in turns/7"), "cg_polling_in/7".to_owned());
        assert!(comm("ääääääääääääääää.12").len() <= COMM);
    }
}
