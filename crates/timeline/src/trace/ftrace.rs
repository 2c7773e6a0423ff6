//! Writes a trace as text, as Linux's ftrace prints its `sched` events: for scripts and tools that read those.

use std::collections::BTreeMap;
use std::io::{self, Write};

use super::About;
use super::cast::{Cast, Tid};
use super::story::{Event, State, Who, Writer};

/// Most bytes of the name of a task in Linux (TASK_COMM_LEN - 1).
const COMM: usize = 15;
/// The priority of ordinary tasks, and of the idle ones.
const PRIO: u32 = 120;

/// Writes lines.
pub(super) struct Ftrace<'a> {
    names: BTreeMap<Tid, String>,
    out: &'a mut dyn Write,
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
        Ok(Self { names: threads.map(|thread| (thread.tid, comm(&thread.name))).collect(), out })
    }

    fn name(&self, who: Who) -> &str {
        self.names.get(&who.tid).map_or("?", String::as_str)
    }

    fn line(&mut self, at: u64, cpu: u32, current: Option<Who>, text: &str) -> io::Result<()> {
        let (name, pid) = current.map_or(("<idle>", 0), |who| (self.name(who), who.tid));
        let (s, ns) = (at / 1_000_000_000, at % 1_000_000_000);
        let task = format!("{name}-{pid}");
        writeln!(self.out, "{task:>22} [{cpu:03}] d..2. {s}.{ns:09}: {text}")
    }

    fn switch(&mut self, at: u64, cpu: u32, prev: Option<(Who, State)>, next: Option<Who>) -> io::Result<()> {
        let idle = || (format!("swapper/{cpu}"), 0);
        let (prev_comm, prev_pid) = prev.map_or_else(idle, |(who, _)| (self.name(who).to_owned(), who.tid));
        let (next_comm, next_pid) = next.map_or_else(idle, |who| (self.name(who).to_owned(), who.tid));
        let state = match prev.map(|(_, state)| state) {
            Some(State::Asleep) => "S",
            Some(State::Dead) => "X",
            Some(State::Runnable) | None => "R",
        };
        let text = format!(
            "sched_switch: prev_comm={prev_comm} prev_pid={prev_pid} prev_prio={PRIO} prev_state={state} ==> \
             next_comm={next_comm} next_pid={next_pid} next_prio={PRIO}"
        );
        self.line(at, cpu, prev.map(|(who, _)| who), &text)
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
                let text = format!(
                    "sched_wakeup: comm={} pid={} prio={PRIO} target_cpu={cpu:03}",
                    self.name(who),
                    who.tid
                );
                self.line(at, cpu, None, &text)
            }
            Event::Moved { who, from, to } => {
                let text = format!(
                    "sched_migrate_task: comm={} pid={} prio={PRIO} orig_cpu={from} dest_cpu={to}",
                    self.name(who),
                    who.tid
                );
                self.line(at, to, None, &text)
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
