//! What is held against a kernel: a machine, tasks, what is done to them at ticks, and what was seen.

use std::collections::{BTreeMap, BTreeSet};

use sim_core::time::Span;

/// Period of the tick.
pub(super) const TICK: Span = Span::from_ms(1);
/// Longest case, in ticks.
pub(super) const MOST_TICKS: u64 = 100_000;
/// The most cpus.
pub(super) const MOST_CPUS: u32 = 1 << 10;
/// The most tasks: each decision of a queue is about all that are in it.
pub(super) const MOST_TASKS: usize = 1 << 12;
/// Largest case, ticks times cpus.
pub(super) const MOST_CELLS: u64 = 1 << 20;

/// What is wrong in a file, and in which line (from 1; 0: in none).
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Trouble {
    /// The line.
    pub line: usize,
    /// A sentence with what would be right.
    pub text: String,
}

impl Trouble {
    pub(super) fn at(line: usize, text: impl Into<String>) -> Self {
        Self { line, text: text.into() }
    }
}

/// What is done to a task.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum What {
    /// It comes to exist, asleep, on no cpu of the machine yet.
    Create,
    /// It wakes up and computes from then on.
    Wake,
    /// It goes to sleep, if it has a cpu.
    Sleep,
    /// It goes to sleep as soon as it has a cpu.
    Block,
    /// It may run on these cpus of the machine (from 0).
    Pin(Vec<u32>),
    /// Its load weight; nice 0 is 1,024.
    Weight(u32),
    /// It creates another task.
    Fork(usize),
    /// It moves to a task group, or out of all.
    Join(Option<usize>),
    /// The weight of a task group over all cpus; that of a task of nice 0 is 1,024.
    Shares(u32),
}

/// Something done to a task when all that belongs to a tick is over.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Operation {
    /// The tick, ms from the beginning.
    pub tick: u64,
    /// Number of the task; of the task group for [`What::Shares`].
    pub task: usize,
    /// What.
    pub what: What,
}

/// A task group.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Group {
    /// Its name.
    pub name: String,
    /// The number of the group around it, an earlier one.
    pub parent: Option<usize>,
}

/// What was seen of a cpu at a tick; what is not known is not compared.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Cell {
    /// The task that has the cpu; none: it is idle.
    pub who: Option<Option<usize>>,
    /// `nr_running`: tasks in its queue, the current one and those whose dequeue is delayed included.
    pub length: Option<u32>,
}

impl Cell {
    /// What is known of it is as seen.
    pub(super) fn agrees(self, got: Self) -> bool {
        let who = self.who.is_none() || self.who == got.who;
        who && (self.length.is_none() || self.length == got.length)
    }
}

/// The first cell that differs.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Difference {
    /// The tick.
    pub tick: u64,
    /// The cpu by its number in the file.
    pub cpu: u32,
    /// What was expected there.
    pub expected: Cell,
    /// What the simulator shows.
    pub got: Cell,
    /// Which rules decided, the last decision of the queue first, then how the tasks got where they are.
    pub decided: Vec<String>,
}

/// A case.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Case {
    /// The kernel by its name in the registry; empty: not said.
    pub kernel: String,
    /// Rules of it with other values, as written.
    pub rules: Vec<(String, String)>,
    /// The machine as a synthetic description; empty: not said.
    pub machine: String,
    /// The capacity of each cpu of the machine, of 1,024 (`arch_scale_cpu_capacity`); empty: all are equal.
    pub capacities: Vec<u32>,
    /// The number that the first cpu has in the file.
    pub first_cpu: u32,
    /// Cpus by which the kernel scales its slices, if these are more than those of the machine.
    pub booted: Option<u32>,
    /// It is stepped as kSTEP does it: idle cpus tick, and no look of a cpu that goes idle is left out at
    /// random (`NI_RANDOM` off).
    pub stepped: bool,
    /// Rows show the state before what is done at their tick; otherwise that after it, up to the next tick.
    pub before: bool,
    /// Names of the tasks in the order of creation.
    pub tasks: Vec<String>,
    /// Their process ids in traces, where they have one.
    pub pids: BTreeMap<u64, usize>,
    /// Kernel threads among them that keep a cpu until they sleep (preemption models none and voluntary).
    pub kernel_threads: BTreeSet<usize>,
    /// Those of them that do not sleep after all that is done.
    pub(super) awake: BTreeSet<usize>,
    /// Task groups, which are empty until tasks join them.
    pub groups: Vec<Group>,
    /// What is done, in order.
    pub operations: Vec<Operation>,
    /// What was seen: a cell for each cpu by tick.
    pub rows: BTreeMap<u64, Vec<Cell>>,
    /// The first operation that cannot be expressed: its tick and what it is.
    pub refused: Option<(u64, Trouble)>,
}

impl Case {
    /// Refuses more rows of so many cpus than a case may have.
    pub(super) fn check_cells(&self, line: usize, cpus: usize) -> Result<(), Trouble> {
        if self.rows.len() as u64 * cpus as u64 > MOST_CELLS {
            let text = format!("a case has at most {MOST_CELLS} cells (ticks times cpus)");
            return Err(Trouble::at(line, text));
        }
        Ok(())
    }

    /// Forgets all that comes at and behind the first operation that cannot be expressed.
    pub fn cut(&mut self) {
        if let Some((tick, _)) = self.refused.take() {
            // The state before the operations of a tick is still that of the operations before.
            let last = if self.before { tick + 1 } else { tick };
            self.rows = std::mem::take(&mut self.rows).into_iter().filter(|(at, _)| *at < last).collect();
        }
    }

    /// Its first cpu is that of the harness that steps the kernel, on which tasks sleep that were created.
    pub(super) fn has_harness(&self) -> bool {
        self.stepped && self.first_cpu == 0
    }

    /// The last tick of which something is known or at which something is done.
    #[must_use]
    pub fn last_tick(&self) -> u64 {
        let row = self.rows.keys().next_back().copied().unwrap_or(0);
        row.max(self.operations.iter().map(|operation| operation.tick).max().unwrap_or(0))
    }

    /// The number of a task.
    pub(super) fn task(&self, name: &str) -> Option<usize> {
        self.tasks.iter().position(|task| task == name)
    }

    /// The number of a task group.
    pub(super) fn group(&self, name: &str) -> Option<usize> {
        self.groups.iter().position(|group| group.name == name)
    }

    /// Adds an operation, or refuses one for which its task is not in the state.
    pub(super) fn add(&mut self, line: usize, operation: Operation) -> Result<(), Trouble> {
        let last = self.operations.last().map_or(0, |last| last.tick);
        if operation.tick < last {
            return Err(Trouble::at(
                line,
                format!("operations are in the order of ticks; the last is at {last}"),
            ));
        }
        if let What::Shares(_) = operation.what {
            self.operations.push(operation);
            return Ok(());
        }
        let awake = self.awake.contains(&operation.task);
        let name = &self.tasks[operation.task];
        match operation.what {
            What::Wake if awake => return Err(Trouble::at(line, format!("`{name}` is woken and is awake"))),
            What::Sleep | What::Block | What::Fork(_) if !awake => {
                return Err(Trouble::at(
                    line,
                    format!("`{name}` does something and is asleep; wake it first"),
                ));
            }
            _ => {}
        }
        match operation.what {
            What::Wake => self.awake.insert(operation.task),
            What::Sleep | What::Block => self.awake.remove(&operation.task),
            What::Fork(child) => self.awake.insert(child),
            _ => false,
        };
        self.operations.push(operation);
        Ok(())
    }
}
