//! The program of an application as written: its objects, tables, sections and kinds of tasks.

use notation::diagnostics::Place;
use notation::parameter::Values;
use sim_core::lock::{LockRules, Protocol};
use sim_core::machine::CpuSet;
use sim_core::program::{Arrivals, MemoryProfile, Runtime};
use sim_core::time::Span;

use crate::locks::LOCK_KINDS;
use crate::runtimes::{Counts, MessageRules, RUNTIMES, build_for};

use super::graphs::GraphDraft;
use super::tree::{Action, Block, Name};

/// Most kinds of tasks of a program.
pub const MOST_KINDS: usize = 256;

/// Most names that a program declares of one sort.
pub const MOST_NAMES: usize = 4_096;

/// A queue.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct QueueForm {
    /// Items that it holds at most; none: any number.
    pub places: Option<u32>,
    /// Work of copying an item, for the sender and for the receiver.
    pub copy: Span,
}

/// What feeds a queue from outside.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Feed {
    /// When requests come.
    pub arrivals: Arrivals,
    /// The earliest one, after the start of the application.
    pub start: Span,
    /// How many come at most.
    pub most: u64,
}

/// A kind of tasks.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct KindDraft {
    /// Its name.
    pub name: Name,
    /// Its tasks, at least 1.
    pub count: u32,
    /// Threads of each: more than 1 where its code has parallel regions. Each task is then the first thread
    /// of its team.
    pub threads: u32,
    /// What each of them does.
    pub code: Block,
    /// How its tasks move messages.
    pub messages: MessageRules,
    /// Whether it answers requests, if the program says so.
    pub requests: Option<bool>,
}

/// A runtime under which single statements wait.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct RuntimeForm {
    /// Its name in [`RUNTIMES`].
    pub name: &'static str,
    /// The values of its parameters.
    pub values: Values,
}

impl RuntimeForm {
    /// How tasks wait under it, in an application of this size; `None` for a name that no runtime has.
    #[must_use]
    pub fn build(&self, counts: Counts) -> Option<Runtime> {
        RUNTIMES.find(self.name).map(|entry| build_for(entry, &self.values, counts))
    }
}

/// The program of an application.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Draft {
    /// Name of the application.
    pub name: String,
    /// Where the program is written.
    pub place: Place,
    /// How often the application runs.
    pub copies: u32,
    /// Cpus of the machine.
    pub cpus: u32,
    /// Those that its tasks may use; none: all.
    pub allowed: Option<CpuSet>,
    /// Locks.
    pub locks: Vec<(Name, LockForm)>,
    /// Units of semaphores at the start.
    pub semaphores: Vec<(Name, u32)>,
    /// Queues.
    pub queues: Vec<(Name, QueueForm)>,
    /// Parties of barriers.
    pub barriers: Vec<(Name, u32)>,
    /// Servers of devices.
    pub devices: Vec<(Name, u32)>,
    /// Tables of lengths.
    pub tables: Vec<(Name, Vec<Span>)>,
    /// Graphs of jobs.
    pub graphs: Vec<(Name, GraphDraft)>,
    /// What feeds queues.
    pub arrivals: Vec<(Name, Feed)>,
    /// Memory profiles.
    pub profiles: Vec<(Name, MemoryProfile)>,
    /// Runtimes under which single statements wait.
    pub runtimes: Vec<(Name, RuntimeForm)>,
    /// Blocks with names.
    pub sections: Vec<(Name, Block)>,
    /// Names that mean the same in all programs that share them.
    pub shared: Vec<Name>,
    /// Kinds of tasks.
    pub kinds: Vec<KindDraft>,
}

/// What a lock is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum LockForm {
    /// Of a kind, by its position in [`crate::LOCK_KINDS`].
    Kind(usize),
    /// A mutex with a priority ceiling, 1 to 99 ([`Protocol::Ceiling`]).
    Ceiling(u8),
}

impl LockForm {
    /// Its rules with a cpu for each task, and with more tasks than cpus.
    pub(super) fn rules(self) -> (LockRules, LockRules) {
        match self {
            Self::Kind(kind) => LOCK_KINDS[kind.min(LOCK_KINDS.len() - 1)].rules,
            Self::Ceiling(ceiling) => {
                let rules = LockRules::protecting(Protocol::Ceiling(ceiling));
                (rules, rules)
            }
        }
    }
}

impl Draft {
    /// A program without anything, of one application that runs once on one cpu.
    #[must_use]
    pub fn empty(name: &str, place: Place) -> Self {
        Self {
            name: name.to_owned(),
            place,
            copies: 1,
            cpus: 1,
            allowed: None,
            locks: Vec::new(),
            semaphores: Vec::new(),
            queues: Vec::new(),
            barriers: Vec::new(),
            devices: Vec::new(),
            tables: Vec::new(),
            graphs: Vec::new(),
            arrivals: Vec::new(),
            profiles: Vec::new(),
            runtimes: Vec::new(),
            sections: Vec::new(),
            shared: Vec::new(),
            kinds: Vec::new(),
        }
    }

    /// Tasks of all kinds, each thread counted.
    pub(super) fn tasks(&self) -> u64 {
        self.kinds.iter().map(|kind| u64::from(kind.count) * u64::from(kind.threads)).sum()
    }

    /// True for a name that means the same in other programs.
    pub(super) fn shares(&self, name: &str) -> bool {
        self.shared.iter().any(|shared| shared.text == name)
    }

    /// Calls a function with each statement of a block, those of sections included, each section once.
    pub(super) fn each<'a>(&'a self, block: &'a Block, act: &mut dyn FnMut(&'a Action, Place)) {
        let mut seen: Vec<&str> = Vec::new();
        let mut open: Vec<&Block> = vec![block];
        while let Some(block) = open.pop() {
            for statement in block {
                act(&statement.action, statement.place);
                if let Action::Call(name) = &statement.action
                    && !seen.contains(&name.text.as_str())
                {
                    seen.push(&name.text);
                    open.extend(of(&self.sections, &name.text));
                }
                open.extend(statement.action.blocks());
            }
        }
    }
}

/// What is declared with a name.
pub(super) fn of<'a, T>(all: &'a [(Name, T)], name: &str) -> Option<&'a T> {
    all.iter().find(|(known, _)| known.text == name).map(|(_, value)| value)
}
