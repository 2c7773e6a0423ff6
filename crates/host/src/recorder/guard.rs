//! A process that removes what a recording leaves in the kernel when `oversim` ends without doing so: by
//! SIGKILL, a second Ctrl-C or a panic. It sleeps until its standard input is closed.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::io::{BufRead, Write};
use std::os::unix::process::CommandExt;
use std::process::{Child, ChildStdin, Command, Stdio};

use crate::recorder::tracefs::{Remains, Tracefs};
use crate::recorder::tree::{self, Process};

/// All is removed already.
const DONE: &str = "done";
/// The process whose recording it is.
const OWNER: &str = "owner ";
/// The first process of the command.
const COMMAND: &str = "command ";

/// The process as its parent sees it. Dropping it lets it remove what is left, and waits for its end.
pub(crate) struct Guard {
    child: Child,
    input: Option<ChildStdin>,
}

impl Guard {
    /// Starts it.
    ///
    /// # Errors
    /// A sentence.
    pub(crate) fn start(mut command: Command) -> Result<Self, String> {
        // In a group of its own, Ctrl-C does not reach it. Without the streams, no reader of a pipe waits for
        // its end.
        let streams = [Stdio::null(), Stdio::null()];
        let [out, errors] = streams;
        command.process_group(0).current_dir("/").stdin(Stdio::piped()).stdout(out).stderr(errors);
        let mut child = command.spawn().map_err(|e| format!("cannot start a process: {e}"))?;
        let input = child.stdin.take();
        let mut guard = Self { child, input };
        guard.tell(&format!("{OWNER}{}", std::process::id()));
        Ok(guard)
    }

    fn tell(&mut self, line: &str) {
        if let Some(input) = &mut self.input {
            // If it has been killed there is no guard, and nothing else changes.
            let _ = writeln!(input, "{line}").and_then(|()| input.flush());
        }
    }

    /// Names the command, which it ends as well.
    pub(crate) fn command(&mut self, pid: u32) {
        self.tell(&format!("{COMMAND}{pid}"));
    }

    /// Its number.
    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Nothing is left to remove.
    pub(crate) fn done(mut self) {
        self.tell(DONE);
    }
}

impl Drop for Guard {
    fn drop(&mut self) {
        self.input = None;
        let _ = self.child.wait();
    }
}

/// Ends a process and all below it, also what is forked meanwhile.
fn end(first: Process) {
    let known = RefCell::new(BTreeSet::from([first]));
    tree::end(&|| {
        let mut known = known.borrow_mut();
        known.retain(|process| Process::of(process.pid) == Some(*process));
        let below: Vec<Process> =
            known.iter().flat_map(|process| tree::from(process.pid, None)).filter_map(Process::of).collect();
        known.extend(below);
        known.iter().copied().collect()
    });
}

/// Executes the guard: the exit code. `oversim twin record --guard` calls it with its standard input.
#[must_use]
pub fn serve(input: &mut dyn BufRead) -> u8 {
    let (mut owner, mut command) = (None, None);
    for line in input.lines().map_while(Result::ok) {
        if line == DONE {
            return 0;
        }
        let number = |begin: &str| line.strip_prefix(begin)?.parse::<u32>().ok();
        owner = owner.or_else(|| number(OWNER));
        command = command.or_else(|| number(COMMAND).and_then(Process::of));
    }
    // First what takes memory and time of the whole host.
    let removed = owner.map(|pid| Tracefs::open().and_then(|tracefs| Remains::of(pid).remove(&tracefs)));
    if let Some(command) = command {
        end(command);
    }
    u8::from(!matches!(removed, Some(Ok(()))))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_guard_that_is_told_so_does_nothing() {
        let order = format!("{OWNER}1\n{COMMAND}{}\n{DONE}\n", std::process::id());
        assert_eq!(serve(&mut order.as_bytes()), 0);
    }

    #[test]
    fn a_guard_without_an_order_has_nothing_to_do() {
        assert_eq!(serve(&mut &b""[..]), 1);
        assert_eq!(serve(&mut &b"owner x\ncommand -1\n\xff\n"[..]), 1);
    }

    #[test]
    fn a_guard_ends_the_command_of_an_owner_that_has_gone() {
        let mut sleeper = Command::new("sleep").arg("60").spawn().unwrap();
        let order = format!("{COMMAND}{}\n", sleeper.id());
        assert!(serve(&mut order.as_bytes()) <= 1);
        assert!(!sleeper.wait().unwrap().success());
    }
}
