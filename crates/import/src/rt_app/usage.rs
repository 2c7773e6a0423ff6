//! Which threads use which objects: who waits, who wakes, how many meet.

use std::collections::{BTreeMap, BTreeSet};

use super::model::{Thread, What};
use crate::page::Names;

/// Most forked threads of a kind that exist at a time, unless the file limits them.
const MOST_FORKED: u64 = 64;

/// The objects of a file, and their names in the scenario.
#[derive(Default)]
pub(super) struct Usage {
    /// Of kinds, barriers, locks, conditions, semaphores, clocks: names of different sorts may be the same.
    names: [Names; 6],
    pub(super) locks: BTreeMap<String, String>,
    pub(super) conditions: BTreeMap<String, String>,
    pub(super) semaphores: BTreeMap<String, String>,
    pub(super) barriers: BTreeMap<String, (String, u64)>,
    /// Names of the kinds of threads in the order of the file.
    pub(super) kinds: Vec<String>,
    /// The kinds that are forked, by the name of their thread: kind and number.
    pub(super) forked: BTreeMap<String, (String, u64)>,
    waited: BTreeSet<String>,
    woken: BTreeSet<String>,
    posted: BTreeSet<String>,
    acquired: BTreeSet<String>,
    /// Clocks that several threads share in rt-app.
    pub(super) timers: BTreeMap<String, u64>,
    clocks: BTreeMap<String, String>,
    device: Option<String>,
}

impl Usage {
    pub(super) fn of(threads: &[Thread]) -> Self {
        let mut usage = Self::default();
        for thread in threads {
            let kind = usage.names[0].unique(&thread.name, "thread");
            usage.kinds.push(kind);
        }
        let resumed: BTreeSet<&str> = threads.iter().flat_map(Thread::events).filter_map(resumes).collect();
        for thread in threads {
            let mut own = BTreeSet::new();
            for event in thread.events() {
                usage.note(thread, &event.what, &resumed);
                if let What::Timer { name, .. } = &event.what
                    && !name.starts_with("unique")
                    && own.insert(name)
                {
                    *usage.timers.entry(name.clone()).or_default() += u64::from(thread.instances.max(1));
                }
            }
        }
        usage.forks(threads);
        usage
    }

    fn note(&mut self, thread: &Thread, what: &What, resumed: &BTreeSet<&str>) {
        match what {
            What::Lock(name) | What::Unlock(name) => self.lock(name),
            What::Wait { condition, mutex } => {
                self.lock(mutex);
                self.waits(condition);
            }
            What::Sync { condition, mutex } => {
                self.lock(mutex);
                self.waits(condition);
                self.woken.insert(condition.clone());
            }
            What::Signal(condition) | What::Broadcast(condition) => {
                self.woken.insert(condition.clone());
            }
            What::Resume(name) => {
                self.lock(name);
                self.woken.insert(name.clone());
            }
            What::Suspend(text) => {
                let name = suspended(thread, text, resumed);
                self.lock(name);
                self.waits(name);
            }
            What::Post(name) => {
                self.semaphore(name);
                self.posted.insert(name.clone());
            }
            What::Acquire(name) => {
                self.semaphore(name);
                self.acquired.insert(name.clone());
            }
            What::Barrier(name) => {
                if !self.barriers.contains_key(name) {
                    let word = self.names[1].unique(name, "barrier");
                    self.barriers.insert(name.clone(), (word, 0));
                }
                if let Some((_, parties)) = self.barriers.get_mut(name) {
                    *parties += u64::from(thread.instances);
                }
            }
            _ => {}
        }
    }

    fn lock(&mut self, name: &str) {
        if !self.locks.contains_key(name) {
            let word = self.names[2].unique(name, "mutex");
            self.locks.insert(name.to_owned(), word);
        }
    }

    fn waits(&mut self, name: &str) {
        self.waited.insert(name.to_owned());
        if !self.conditions.contains_key(name) {
            let word = self.names[3].unique(name, "condition");
            self.conditions.insert(name.to_owned(), word);
        }
    }

    fn semaphore(&mut self, name: &str) {
        if !self.semaphores.contains_key(name) {
            let word = self.names[4].unique(name, "semaphore");
            self.semaphores.insert(name.to_owned(), word);
        }
    }

    /// Kinds for forked threads: one of its own where the thread starts by itself, too.
    fn forks(&mut self, threads: &[Thread]) {
        for thread in threads {
            for event in thread.events() {
                let What::Fork(name) = &event.what else { continue };
                let Some(at) = threads.iter().position(|other| other.name == *name) else { continue };
                let times = if thread.is_endless() { MOST_FORKED } else { passes(thread) };
                let times = times.saturating_mul(u64::from(thread.instances.max(1)));
                if !self.forked.contains_key(name) {
                    let kind = match threads[at].instances {
                        0 => self.kinds[at].clone(),
                        _ => self.names[0].unique(&format!("{name}-forked"), "thread"),
                    };
                    self.forked.insert(name.clone(), (kind, 0));
                }
                if let Some((_, number)) = self.forked.get_mut(name) {
                    *number = number.saturating_add(times).min(MOST_FORKED);
                }
            }
        }
    }

    /// True when somebody wakes those who wait for a condition.
    pub(super) fn is_woken(&self, condition: &str) -> bool {
        self.woken.contains(condition)
    }

    /// True when somebody waits for a condition.
    pub(super) fn is_waited_for(&self, condition: &str) -> bool {
        self.waited.contains(condition)
    }

    pub(super) fn is_posted(&self, semaphore: &str) -> bool {
        self.posted.contains(semaphore)
    }

    pub(super) fn is_acquired(&self, semaphore: &str) -> bool {
        self.acquired.contains(semaphore)
    }

    /// The name of the clock of a timer.
    pub(super) fn clock(&mut self, timer: &str) -> String {
        if !self.clocks.contains_key(timer) {
            let word = self.names[5].unique(timer, "clock");
            self.clocks.insert(timer.to_owned(), word);
        }
        self.clocks[timer].clone()
    }

    /// The device that `iorun` writes to.
    pub(super) fn device(&mut self, path: &str) -> String {
        if self.device.is_none() {
            self.device = Some(crate::page::word(path, "device"));
        }
        self.device.clone().unwrap_or_default()
    }

    /// All names that several applications would share.
    pub(super) fn shared(&self) -> Vec<String> {
        let barriers = self.barriers.values().map(|(word, _)| word);
        let plain = [&self.locks, &self.conditions, &self.semaphores].into_iter().flat_map(BTreeMap::values);
        let all: BTreeSet<&String> = plain.chain(barriers).chain(&self.device).collect();
        all.into_iter().cloned().collect()
    }
}

fn resumes(event: &super::model::Event) -> Option<&str> {
    if let What::Resume(name) = &event.what { Some(name) } else { None }
}

/// What a thread waits for that suspends itself. rt-app ignores the text of `suspend` and waits for the name
/// of the thread; older versions waited for the text. The text counts where only it is resumed.
pub(super) fn suspended<'a>(thread: &'a Thread, text: &'a str, resumed: &BTreeSet<&str>) -> &'a str {
    if !text.is_empty() && resumed.contains(text) && !resumed.contains(thread.name.as_str()) {
        text
    } else {
        &thread.name
    }
}

/// The most often that an event of a thread happens.
fn passes(thread: &Thread) -> u64 {
    let number = |times| match times {
        super::model::Times::Number(number) => u64::from(number),
        super::model::Times::Forever => MOST_FORKED,
    };
    let phases = thread.phases.iter().map(|phase| number(phase.times)).max().unwrap_or(1);
    number(thread.times).saturating_mul(phases).max(1)
}
