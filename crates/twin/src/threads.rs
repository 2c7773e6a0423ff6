//! The threads of a recording.

use std::collections::BTreeMap;

use crate::event::Tid;

/// Place of a thread in [`Threads`]. A number that Linux uses again is another thread.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Id(pub u32);

/// What is known of a thread.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Thread {
    /// Its number.
    pub tid: Tid,
    /// Its last name.
    pub name: String,
    /// Its process, where the file says it.
    pub process: Option<Tid>,
    /// Who forked it, where that was seen.
    pub parent: Option<Id>,
    /// The first event that names it, in ns.
    pub first: u64,
    /// When it ended, in ns.
    pub ended: Option<u64>,
    /// The kernel's priority: 120 + nice, below 100 for real-time threads.
    pub prio: i32,
    /// The first file that it executed, where that was seen.
    pub file: Option<String>,
}

impl Thread {
    /// Its nice value; 0 for a real-time thread.
    #[must_use]
    pub const fn nice(&self) -> i32 {
        match self.prio {
            100..140 => self.prio - 120,
            _ => 0,
        }
    }
}

/// All threads that events have named, without the idle ones.
#[derive(Default, Debug)]
pub struct Threads {
    list: Vec<Thread>,
    alive: BTreeMap<Tid, Id>,
}

impl Threads {
    /// All, in the order in which they were first named.
    pub fn iter(&self) -> impl Iterator<Item = (Id, &Thread)> {
        (0..).map(Id).zip(&self.list)
    }

    /// How many.
    #[must_use]
    pub fn len(&self) -> usize {
        self.list.len()
    }

    /// No event has named one.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// What is known of one.
    #[must_use]
    pub fn get(&self, id: Id) -> Option<&Thread> {
        self.list.get(id.0 as usize)
    }

    pub(crate) fn get_mut(&mut self, id: Id) -> Option<&mut Thread> {
        self.list.get_mut(id.0 as usize)
    }

    /// The thread of a number that is alive.
    #[must_use]
    pub fn alive(&self, tid: Tid) -> Option<Id> {
        self.alive.get(&tid).copied()
    }

    /// The thread of a number: the one that is alive, or a new one. Nobody for the idle thread.
    pub(crate) fn named(&mut self, tid: Tid, name: &str, at: u64) -> Option<Id> {
        if tid == 0 {
            return None;
        }
        if let Some(id) = self.alive(tid) {
            return Some(id);
        }
        Some(self.add(tid, name, None, at))
    }

    /// A new thread, also where one of this number is still thought to be alive.
    pub(crate) fn add(&mut self, tid: Tid, name: &str, parent: Option<Id>, at: u64) -> Id {
        let id = Id(u32::try_from(self.list.len()).unwrap_or(u32::MAX));
        self.list.push(Thread {
            tid,
            name: name.to_owned(),
            process: None,
            parent,
            first: at,
            ended: None,
            prio: 120,
            file: None,
        });
        self.alive.insert(tid, id);
        id
    }

    /// A thread takes over another number: that of its process, when it executes a program.
    pub(crate) fn renumber(&mut self, old: Tid, new: Tid) {
        let Some(id) = self.alive.remove(&old) else { return };
        if let Some(thread) = self.list.get_mut(id.0 as usize) {
            thread.tid = new;
        }
        self.alive.insert(new, id);
    }

    /// A thread has ended: its number may be used again.
    pub(crate) fn ended(&mut self, id: Id, at: u64) {
        if let Some(thread) = self.list.get_mut(id.0 as usize) {
            thread.ended = Some(at);
            if self.alive.get(&thread.tid) == Some(&id) {
                self.alive.remove(&thread.tid);
            }
        }
    }
}
