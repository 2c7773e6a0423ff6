//! A thread of rt-app as the code of a program: each line with its origin.

use std::collections::BTreeSet;

use super::model::{Event, Global, Phase, Thread, Times, What};
use super::usage::{Usage, suspended};
use crate::note::Notes;
use crate::page::{at, list};
use crate::units::span;

/// What a pass of a loop takes at least that has only waits, in us.
const LEAST_PASS: &str = "run 1us";
/// The origin of that.
const PASS: &str = "assumed: a pass takes time";
/// Time of a write of so many bytes to memory, in bytes for each ns: one core with `memset`.
const BYTES_PER_NS: u64 = 10;
/// Time of a load that depends on the load before it, in ns: memory of a server.
const NS_PER_LOAD: u64 = 80;
/// Throughput of the device of `iorun`, in bytes for each us: a SATA disk.
const BYTES_PER_US: u64 = 500;

/// A line of code: depth, text, origin.
pub(super) type Line = (usize, String, String);

/// Writes the code of threads.
pub(super) struct Writer<'a> {
    pub(super) usage: &'a mut Usage,
    pub(super) notes: &'a mut Notes,
    pub(super) global: &'a Global,
    pub(super) resumed: &'a BTreeSet<&'a str>,
    /// Number of cpus of the machine.
    pub(super) cpus: u32,
    lines: Vec<Line>,
    held: Vec<String>,
    depth: usize,
    /// For each loop around: whether its body takes time.
    timed: Vec<bool>,
}

impl<'a> Writer<'a> {
    pub(super) fn new(
        usage: &'a mut Usage,
        notes: &'a mut Notes,
        global: &'a Global,
        resumed: &'a BTreeSet<&'a str>,
        cpus: u32,
    ) -> Self {
        let (lines, held, timed) = (Vec::new(), Vec::new(), vec![false]);
        Self { usage, notes, global, resumed, cpus, lines, held, depth: 0, timed }
    }

    /// The code of a thread, and whether it never ends; no lines when it does nothing.
    pub(super) fn thread(mut self, thread: &Thread) -> (Vec<Line>, bool) {
        if thread.delay > 0 {
            let origin = at(thread.line, &format!("tasks.{}.delay", thread.name));
            self.push(&format!("sleep {}", span(thread.delay)), &origin);
        }
        let path = format!("tasks.{}", thread.name);
        let begun = self.begin(thread.times, &at(thread.line, &format!("{path}.loop")));
        let moves = thread.phases.iter().any(|phase| phase.traits.cpus.is_some());
        for phase in &thread.phases {
            self.phase(thread, phase, moves);
        }
        self.release(&path);
        if begun {
            self.end();
        }
        let acts = |line: &Line| {
            let first = line.1.split(' ').next().unwrap_or_default();
            !matches!(first, "}" | "forever" | "repeat" | "cpus" | "nice") && line.2 != PASS
        };
        if !self.lines.iter().any(acts) {
            return (Vec::new(), false);
        }
        let endless = self.lines.iter().any(|(_, text, _)| text.starts_with("forever"));
        (self.lines, endless)
    }

    /// Begins a loop; false when none is needed.
    fn begin(&mut self, times: Times, origin: &str) -> bool {
        let text = match times {
            Times::Number(1) => return false,
            Times::Forever => "forever {".to_owned(),
            Times::Number(number) => format!("repeat {number} {{"),
        };
        self.push(&text, origin);
        self.depth += 1;
        self.timed.push(false);
        true
    }

    fn end(&mut self) {
        if self.timed.pop() == Some(false) {
            self.push(LEAST_PASS, PASS);
            self.notes.assumed("", "a pass of a loop that only waits takes 1 us");
        }
        self.timed_now();
        self.depth -= 1;
        self.push("}", "");
    }

    fn timed_now(&mut self) {
        if let Some(last) = self.timed.last_mut() {
            *last = true;
        }
    }

    fn push(&mut self, text: &str, origin: &str) {
        self.lines.push((self.depth, text.to_owned(), origin.to_owned()));
    }

    fn phase(&mut self, thread: &Thread, phase: &Phase, moves: bool) {
        let path = match thread.phases.len() {
            1 if phase.name == thread.name => format!("tasks.{}", thread.name),
            _ => format!("tasks.{}.phases.{}", thread.name, phase.name),
        };
        if moves {
            self.cpus(thread, phase, &path);
        }
        self.scheduling(thread, phase, &path);
        let begun = self.begin(phase.times, &at(phase.line, &path));
        for event in &phase.events {
            self.event(thread, event);
        }
        if begun {
            self.end();
        }
    }

    /// The affinity of a phase: its own, that of the thread, or all cpus.
    fn cpus(&mut self, thread: &Thread, phase: &Phase, path: &str) {
        let (cpus, origin) = match (&phase.traits.cpus, &thread.traits.cpus) {
            (Some((cpus, line)), _) => (list(cpus), at(*line, &format!("{path}.cpus"))),
            (None, Some((cpus, line))) => (list(cpus), at(*line, &format!("tasks.{}.cpus", thread.name))),
            (None, None) => (list(&(0..self.cpus).collect::<Vec<u32>>()), "all cpus".to_owned()),
        };
        self.push(&format!("cpus {cpus}"), &origin);
    }

    /// What a phase changes of the scheduling of its thread.
    fn scheduling(&mut self, thread: &Thread, phase: &Phase, path: &str) {
        let own = |traits: &super::model::Traits| traits.policy.as_ref().map(|(policy, _)| policy.clone());
        let of_thread = own(&thread.traits).unwrap_or_else(|| self.global.policy.clone());
        if let Some((policy, line)) = &phase.traits.policy
            && *policy != of_thread
        {
            let place = at(*line, &format!("{path}.policy"));
            self.notes.left_out(place, "a thread keeps its scheduling policy");
            return;
        }
        if let Some((priority, line)) = phase.traits.priority {
            let place = at(line, &format!("{path}.priority"));
            if matches!(of_thread.as_str(), "SCHED_OTHER" | "SCHED_BATCH") && priority <= 19 {
                self.push(&format!("nice {priority}"), &place);
            } else {
                self.notes.left_out(place, "a thread keeps its priority");
            }
        }
        if let Some((_, line)) = phase.traits.slice {
            self.notes.left_out(at(line, &format!("{path}.dl-runtime")), "a thread keeps its slice");
        }
        let own = [(phase.traits.deadline, "dl-deadline"), (phase.traits.period, "dl-period")];
        for (line, name) in own.into_iter().filter_map(|(value, name)| Some((value?.1, name))) {
            let place = at(line, &format!("{path}.{name}"));
            self.notes.left_out(place, "a thread keeps its reservation");
        }
        if let Some((group, line)) = &phase.traits.group
            && thread.group().is_none_or(|(own, _)| own.trim_matches('/') != group.trim_matches('/'))
        {
            self.notes
                .left_out(at(*line, &format!("{path}.taskgroup")), "a thread stays in its control group");
        }
    }

    fn event(&mut self, thread: &Thread, event: &Event) {
        let place = event.place.as_str();
        match &event.what {
            What::Run { ns, fixed } => {
                if *fixed {
                    let what = "`runtime` becomes work at nominal speed: on a slower core it takes longer";
                    self.notes.differs(place, what);
                }
                self.push(&format!("run {}", span(*ns)), place);
                self.timed_now();
            }
            What::Sleep(ns) => {
                self.push(&format!("sleep {}", span(*ns)), place);
                self.timed_now();
            }
            What::Yield => {
                self.push("yield", place);
                self.timed_now();
            }
            What::Timer { name, period, absolute } => self.timer(thread, place, (name, *period, *absolute)),
            What::Lock(_) | What::Unlock(_) => self.lock(event),
            What::Wait { condition, mutex } => self.wait(place, condition, mutex),
            What::Sync { condition, mutex } => {
                self.wake(place, condition, "signal");
                self.wait(place, condition, mutex);
            }
            What::Signal(condition) => self.wake(place, condition, "signal"),
            What::Broadcast(condition) => self.wake(place, condition, "broadcast"),
            What::Resume(name) => self.resume(place, name),
            What::Suspend(text) => self.suspend(thread, place, text),
            What::Barrier(name) => {
                let word = self.usage.barriers.get(name).map(|(word, _)| word.clone());
                self.push(&format!("barrier {}", word.unwrap_or_default()), place);
            }
            What::Fork(name) => self.fork(place, name),
            What::Post(_) | What::Acquire(_) => self.semaphore(event),
            What::Memory { .. } | What::Chase { .. } | What::Write(_) => self.data(event),
        }
    }

    fn timer(&mut self, thread: &Thread, place: &str, (name, period, absolute): (&str, u64, bool)) {
        if !absolute {
            let what = "a `relative` timer counts from the present after an instant was missed, `until` from \
                        the instant that was missed";
            self.notes.differs(place, what);
        }
        if self.usage.timers.get(name).is_some_and(|users| *users > 1) {
            let what = format!("the timer `{name}` is shared by threads; here each has its own");
            self.notes.differs(place, what);
        }
        let clock = self.usage.clock(name);
        let first = period.saturating_add(thread.delay);
        self.push(&format!("until {} from {} clock {clock}", span(period), span(first)), place);
        self.timed_now();
    }

    fn lock(&mut self, event: &Event) {
        let (name, takes) = match &event.what {
            What::Lock(name) => (name, true),
            What::Unlock(name) => (name, false),
            _ => return,
        };
        let word = self.usage.locks.get(name).cloned().unwrap_or_default();
        let held = self.held.iter().position(|held| *held == word);
        match (takes, held) {
            (true, Some(_)) => {
                self.notes
                    .left_out(event.place.clone(), "a mutex that the thread holds already: it would stop");
            }
            (true, None) => {
                self.push(&format!("lock {word}"), &event.place);
                self.held.push(word);
            }
            (false, Some(at)) => {
                self.held.remove(at);
                self.push(&format!("unlock {word}"), &event.place);
            }
            (false, None) => {
                self.notes.left_out(event.place.clone(), "a mutex that the thread does not hold");
            }
        }
    }

    /// Gives back what a thread holds at the end of its events.
    fn release(&mut self, path: &str) {
        for word in std::mem::take(&mut self.held) {
            let place = format!("the end of {path}");
            self.notes.differs(place.clone(), "a mutex that is never unlocked is given back here");
            self.push(&format!("unlock {word}"), &place);
        }
    }

    fn wait(&mut self, place: &str, condition: &str, mutex: &str) {
        let (Some(word), Some(lock)) =
            (self.usage.conditions.get(condition).cloned(), self.usage.locks.get(mutex).cloned())
        else {
            return;
        };
        let held = self.held.contains(&lock);
        if !held {
            self.notes
                .differs(place, "the mutex is not locked before `wait`; here it is locked and unlocked");
            self.push(&format!("lock {lock}"), place);
        }
        self.push(&format!("wait {word} with {lock}"), place);
        if !held {
            self.push(&format!("unlock {lock}"), place);
        }
    }

    fn wake(&mut self, place: &str, condition: &str, how: &str) {
        match self.usage.conditions.get(condition).cloned() {
            Some(word) if self.usage.is_waited_for(condition) => self.push(&format!("{how} {word}"), place),
            _ => self.notes.no_effect(place, "nobody waits for it"),
        }
    }

    /// As `rtapp_resume`: under the mutex of the same name.
    fn resume(&mut self, place: &str, name: &str) {
        if !self.usage.is_waited_for(name) {
            self.notes.no_effect(place, "nobody waits for it");
            return;
        }
        let lock = self.usage.locks.get(name).cloned().unwrap_or_default();
        let held = self.held.contains(&lock);
        if !held {
            self.push(&format!("lock {lock}"), place);
        }
        self.wake(place, name, "broadcast");
        if !held {
            self.push(&format!("unlock {lock}"), place);
        }
    }

    /// As `rtapp_suspend`: under the mutex of the same name.
    fn suspend(&mut self, thread: &Thread, place: &str, text: &str) {
        let name = suspended(thread, text, self.resumed);
        if name != thread.name {
            let what = format!(
                "rt-app ignores the text of `suspend` and would wait for `{}`, which nobody resumes; here \
                    the \
                    thread waits for `{name}`",
                thread.name
            );
            self.notes.differs(place, what);
        }
        let word = self.usage.conditions.get(name).cloned().unwrap_or_default();
        let lock = self.usage.locks.get(name).cloned().unwrap_or_default();
        let held = self.held.contains(&lock);
        if !held {
            self.push(&format!("lock {lock}"), place);
        }
        self.push(&format!("wait {word} with {lock}"), place);
        if !held {
            self.push(&format!("unlock {lock}"), place);
        }
    }

    fn fork(&mut self, place: &str, name: &str) {
        match self.usage.forked.get(name).cloned() {
            Some((kind, most)) => {
                self.push(&format!("fork {kind}"), place);
                self.notes
                    .differs(place, format!("at most {most} forked threads of `{name}` exist at a time"));
            }
            None => self.notes.left_out(place, format!("no thread is called `{name}`")),
        }
    }

    fn semaphore(&mut self, event: &Event) {
        let (name, verb) = match &event.what {
            What::Post(name) if self.usage.is_acquired(name) => (name, "release"),
            What::Acquire(name) => (name, "acquire"),
            _ => return self.notes.no_effect(event.place.clone(), "nobody waits for it"),
        };
        let word = self.usage.semaphores.get(name).cloned().unwrap_or_default();
        self.push(&format!("{verb} {word}"), &event.place);
    }

    /// Events that are counted in bytes or loads.
    fn data(&mut self, event: &Event) {
        let place = event.place.as_str();
        match event.what {
            What::Memory { bytes, .. } => {
                self.notes.assumed(place, format!("{BYTES_PER_NS} bytes of memory in a ns"));
                self.notes.left_out(place, "the traffic to memory: only the time is taken");
                self.push(&format!("run {}", span((bytes / BYTES_PER_NS).max(1))), place);
            }
            What::Chase { loads, .. } => {
                self.notes.assumed(place, format!("{NS_PER_LOAD} ns for each load"));
                self.notes.left_out(place, "the traffic to memory: only the time is taken");
                self.push(&format!("run {}", span(loads.saturating_mul(NS_PER_LOAD))), place);
            }
            What::Write(_) if self.global.device == "/dev/null" => {
                self.notes.left_out(place, "writing to `/dev/null` takes only system calls");
                return;
            }
            What::Write(bytes) => {
                let device = self.usage.device(&self.global.device.clone());
                self.notes.assumed(place, format!("the device writes {BYTES_PER_US} bytes in a us"));
                self.push(&format!("io {device} {}", span((bytes / BYTES_PER_US).max(1) * 1_000)), place);
            }
            _ => return,
        }
        self.timed_now();
    }
}
