//! Records a window of a run for drawing: rows of cells, and marks. Slices too short to be seen are put
//! together, so the memory depends on the size of the picture, not on the length of the run.

use std::collections::BTreeMap;

use experiment::decisions::Words;
use sim_core::ids::{AppId, CpuId, Id, TaskId};
use sim_core::policy::{Action, Decision, Placement};
use sim_core::time::Time;

use crate::timeline::states::{Mix, Owner, owner, portion, thread};
use trace::slices::{Mark, Owners, Sink, Slice};

/// Most marks of each kind that are kept; further ones are counted.
const MOST_MARKS: usize = 20_000;

/// One line of the picture.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct RowSpec {
    /// What it shows, `3` or `node 0`.
    pub name: String,
    /// Rows of one group stand together: the number of the node, or of the application.
    pub group: u32,
    /// The cpus in it, at least one; none for a thread.
    pub cpus: Vec<u32>,
    /// The thread: its application, by position among those of the timeline, and its rank there.
    pub thread: Option<(u32, u32)>,
}

/// How finely to record.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Grid {
    /// The rows.
    pub rows: Vec<RowSpec>,
    /// The cpus that sums are of: those of the rows, and perhaps more.
    pub counted: Vec<u32>,
    /// Columns of the picture, at least 1.
    pub columns: u32,
    /// True to keep slices that are longer than `columns` can hide as they are; false to cut everything into
    /// columns.
    pub exact: bool,
    /// True to distinguish the threads of the only application in rows of one cpu.
    pub threads: bool,
}

/// A piece of a row.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Cell {
    /// From, in nanoseconds.
    pub from: u64,
    /// To; later than `from`.
    pub to: u64,
    /// What is in it, of all cpus of the row.
    pub mix: Mix,
    /// The slice, if it is one and was long enough.
    pub slice: Option<Slice>,
    /// What a thread waits for; empty where its state says all.
    pub label: String,
}

/// A thread that was woken.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Wake {
    /// When, in nanoseconds.
    pub at: u64,
    /// The row of the thread that woke it, if that is shown.
    pub from: Option<usize>,
    /// Its row.
    pub to: usize,
    /// A thread woke it.
    pub by: bool,
    /// Who woke whom.
    pub text: String,
}

/// A task that moved.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Move {
    /// When, in nanoseconds.
    pub at: u64,
    /// The task's application.
    pub app: AppId,
    /// Row it left, if that is shown.
    pub from: Option<usize>,
    /// Row it went to, if that is shown.
    pub to: Option<usize>,
    /// Which task moved where and why.
    pub text: String,
}

/// Barriers that were complete in one column of the picture.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Completed {
    /// The first of them, in nanoseconds.
    pub at: u64,
    /// How many.
    pub count: u32,
}

/// A decision of the policy that moved no task.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Note {
    /// When, in nanoseconds.
    pub at: u64,
    /// What and why.
    pub text: String,
}

/// A part of a run, ready to be drawn.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Recording {
    /// Cells of each row, in order, without gaps as far as the run goes.
    pub rows: Vec<Vec<Cell>>,
    /// Of each row of a thread the cpu on which it ran most in each column.
    pub places: Vec<Vec<Option<u32>>>,
    /// Threads that were woken, in order.
    pub wakes: Vec<Wake>,
    /// Of each row of cpus for how long threads waited in the queues in each column, all together, in
    /// nanoseconds.
    pub queues: Vec<Vec<u64>>,
    /// Migrations in order.
    pub moves: Vec<Move>,
    /// Other decisions in order.
    pub notes: Vec<Note>,
    /// Of each application whose tasks wait for locks: for how long in each column, all tasks together, in
    /// nanoseconds.
    pub locks: BTreeMap<u32, Vec<u64>>,
    /// Complete barriers of each application, those of one column together.
    pub barriers: BTreeMap<u32, Vec<Completed>>,
    /// Instants at which applications ended, in nanoseconds.
    pub ends: Vec<(AppId, u64)>,
    /// All that the counted cpus did.
    pub total: Mix,
    /// Slices of the counted cpus in the window.
    pub slices: u64,
    /// Migrations of the counted cpus, other decisions and barriers in the window, also those that were not
    /// kept.
    pub counts: [u64; 3],
}

/// Records a window of one run.
pub struct Recorder<'a> {
    words: Words<'a>,
    owners: Owners,
    grid: &'a Grid,
    /// The row of each cpu.
    row: Vec<Option<usize>>,
    /// Whether each cpu is counted.
    counted: Vec<bool>,
    window: (u64, u64),
    /// Shorter slices are put together.
    least: u64,
    /// What is being put together.
    open: Vec<Option<Cell>>,
    /// The last decision about each task: when, in words, and whether it names the place.
    decided: BTreeMap<TaskId, (Time, String, bool)>,
    recording: Recording,
    /// Tasks of each application that wait for locks, and since when that many do.
    waiting: BTreeMap<u32, (u32, u64)>,
    /// When the last slice ended.
    end: u64,
}

impl<'a> Recorder<'a> {
    /// Of a window (nanoseconds, the second later) of a run with these tasks on so many cpus.
    #[must_use]
    pub fn new(words: Words<'a>, owners: Owners, cpus: u32, grid: &'a Grid, window: (u64, u64)) -> Self {
        let mut row = vec![None; cpus as usize];
        for (at, spec) in grid.rows.iter().enumerate() {
            for cpu in &spec.cpus {
                if let Some(row) = row.get_mut(*cpu as usize) {
                    *row = Some(at);
                }
            }
        }
        let mut counted = vec![false; cpus as usize];
        for cpu in &grid.counted {
            if let Some(counted) = counted.get_mut(*cpu as usize) {
                *counted = true;
            }
        }
        let least = ((window.1 - window.0) / u64::from(grid.columns.max(1))).max(1);
        let rows = grid.rows.iter().map(|spec| columns(window, grid, spec)).collect();
        let recording = Recording { rows, ..Recording::default() };
        let open = vec![None; grid.rows.len()];
        let (decided, waiting) = (BTreeMap::new(), BTreeMap::new());
        Self { words, owners, grid, row, counted, window, least, open, decided, recording, waiting, end: 0 }
    }

    /// The run is over.
    #[must_use]
    pub fn finish(mut self) -> Recording {
        for row in 0..self.open.len() {
            self.flush(row);
        }
        for app in self.waiting.keys().copied().collect::<Vec<_>>() {
            self.waits(app, self.end, 0);
        }
        for (row, spec) in self.recording.rows.iter_mut().zip(&self.grid.rows) {
            if !whole(self.grid, spec) {
                row.retain(|cell| cell.mix.total() > 0);
                if let Some(last) = row.last_mut() {
                    last.to = last.to.min(self.end);
                }
            }
        }
        self.recording
    }

    fn flush(&mut self, row: usize) {
        if let Some(cell) = self.open[row].take() {
            self.recording.rows[row].push(cell);
        }
    }

    /// The row of a cpu, if it is shown.
    fn row_of(&self, cpu: CpuId) -> Option<usize> {
        self.row.get(cpu.index()).copied().flatten()
    }

    /// The row of a thread, if threads are shown.
    fn row_of_thread(&self, task: TaskId) -> Option<usize> {
        let thread = Some((self.owners.app(task).index() as u32, self.owners.rank(task)));
        self.grid.rows.iter().position(|row| row.thread == thread)
    }

    fn counts(&self, cpu: CpuId) -> bool {
        self.counted.get(cpu.index()).copied().unwrap_or(false)
    }

    /// A slice of a row that shows one cpu as it is.
    fn keep(&mut self, row: usize, slice: &Slice) {
        let (from, to) = (slice.from.ns().max(self.window.0), slice.to.ns().min(self.window.1));
        let mut mix = Mix::default();
        portion(slice, self.owner(row, slice), from, to, |owner, state, ns| mix.add(owner, state, ns));
        if to - from >= self.least {
            self.flush(row);
            let label = String::new();
            self.recording.rows[row].push(Cell { from, to, mix, slice: Some(*slice), label });
            return;
        }
        let open = self.open[row].get_or_insert_with(|| empty(from, to));
        open.to = to;
        open.mix.merge(&mix);
        if open.to - open.from >= self.least {
            self.flush(row);
        }
    }

    /// A slice of a row that is cut into columns.
    fn spread(&mut self, row: usize, slice: &Slice) {
        let owner = self.owner(row, slice);
        let cells = &mut self.recording.rows[row];
        let first = cells.partition_point(|cell| cell.to <= slice.from.ns());
        for cell in cells[first..].iter_mut().take_while(|cell| cell.from < slice.to.ns()) {
            let mix = &mut cell.mix;
            portion(slice, owner, cell.from, cell.to, |owner, state, ns| mix.add(owner, state, ns));
        }
    }

    /// The owner of a slice's coloured time in a row.
    fn owner(&self, row: usize, slice: &Slice) -> Owner {
        let alone = self.grid.threads && self.grid.rows[row].cpus.len() == 1;
        if alone { thread(slice, &self.owners) } else { owner(slice, &self.owners) }
    }

    /// A barrier of an application is complete: those of one column are put together.
    fn met(&mut self, at: u64, app: AppId) {
        self.recording.counts[2] += 1;
        let (from, to) = self.window;
        let columns = u128::from(self.grid.columns.max(1));
        let column = |at: u64| u128::from(at - from) * columns / u128::from(to - from);
        let barriers = self.recording.barriers.entry(app.index() as u32).or_default();
        match barriers.last_mut().filter(|last| column(last.at) == column(at)) {
            Some(last) => last.count += 1,
            None => barriers.push(Completed { at, count: 1 }),
        }
    }

    /// From this instant on, so many more tasks of an application wait for locks, or fewer.
    fn waits(&mut self, app: u32, at: u64, more: i32) {
        let (count, since) = self.waiting.get(&app).copied().unwrap_or((0, at));
        self.waiting.insert(app, (count.saturating_add_signed(more), at));
        let (from, to) = (since.max(self.window.0), at.min(self.window.1));
        if count == 0 || from >= to {
            return;
        }
        let columns = self.grid.columns.max(1) as usize;
        let sums = self.recording.locks.entry(app).or_insert_with(|| vec![0; columns]);
        add_columns(sums, self.window, from, to, count);
    }

    fn within(&self, at: Time) -> bool {
        (self.window.0..=self.window.1).contains(&at.ns())
    }

    fn moved(&mut self, at: Time, task: TaskId, from: CpuId, to: CpuId) {
        let (from_row, to_row) = match self.row_of_thread(task) {
            Some(row) => (Some(row), Some(row)),
            None => (self.row_of(from), self.row_of(to)),
        };
        if self.counts(from) || self.counts(to) {
            self.recording.counts[0] += 1;
        }
        if from_row.is_none() && to_row.is_none() {
            return;
        }
        let (app, rank) = (self.owners.app(task), self.owners.rank(task));
        let text = match self.decided.remove(&task) {
            Some((when, text, true)) if when == at => text,
            // Moved by another decision, such as a new mask.
            Some((when, text, false)) if when == at => format!("{from} -> {to}: {text}"),
            _ => format!("rank {rank} {from} -> {to}"),
        };
        if self.recording.moves.len() < MOST_MARKS {
            let at = at.ns();
            self.recording.moves.push(Move { at, app, from: from_row, to: to_row, text });
        }
    }

    fn noted(&mut self, at: Time, decision: &Decision) {
        let text = self.words.of(decision);
        let moves = matches!(decision.action, Action::Migrated { .. });
        if let Some(task) = decision.task {
            // Its effect, if there is one, is told next.
            let whither = moves || matches!(decision.action, Action::Placed { .. });
            self.decided.insert(task, (at, text.clone(), whither));
        }
        // A woken task that returns to its cpu is what one expects; if it does not it migrates.
        let woken = matches!(decision.action, Action::Placed { placement: Placement::Wake { .. }, .. });
        if !moves && !woken {
            self.recording.counts[1] += 1;
            if self.recording.notes.len() < MOST_MARKS {
                self.recording.notes.push(Note { at: at.ns(), text });
            }
        }
    }
}

/// Adds a stretch of time within a window to sums by column, so many times.
pub(super) fn add_columns(sums: &mut [u64], window: (u64, u64), from: u64, to: u64, times: u32) {
    let (begin, length) = (window.0, u128::from(window.1 - window.0));
    let columns = sums.len() as u128;
    let edge = |column: u128| begin + (length * column).div_ceil(columns) as u64;
    let mut column = u128::from(from - begin) * columns / length;
    while column < columns && edge(column) < to {
        let span = edge(column + 1).min(to).saturating_sub(edge(column).max(from));
        sums[column as usize] += span * u64::from(times);
        column += 1;
    }
}

/// A piece with nothing in it yet.
fn empty(from: u64, to: u64) -> Cell {
    Cell { from, to, mix: Mix::default(), slice: None, label: String::new() }
}

/// True for a row whose slices are kept as they are.
fn whole(grid: &Grid, spec: &RowSpec) -> bool {
    grid.exact && spec.cpus.len() == 1
}

/// The empty cells of a row that is cut into columns.
fn columns(window: (u64, u64), grid: &Grid, spec: &RowSpec) -> Vec<Cell> {
    if whole(grid, spec) {
        return Vec::new();
    }
    let (from, length, columns) = (window.0, window.1 - window.0, u64::from(grid.columns.max(1)));
    let edge = |column: u64| from + (u128::from(length) * u128::from(column) / u128::from(columns)) as u64;
    let cell = |column| empty(edge(column), edge(column + 1));
    (0..columns).map(cell).filter(|cell| cell.to > cell.from).collect()
}

impl Sink for Recorder<'_> {
    fn slice(&mut self, slice: &Slice) {
        self.end = self.end.max(slice.to.ns());
        if slice.to.ns() <= self.window.0 || slice.from.ns() >= self.window.1 {
            return;
        }
        if self.counts(slice.cpu) {
            self.recording.slices += 1;
            let total = &mut self.recording.total;
            portion(slice, owner(slice, &self.owners), self.window.0, self.window.1, |owner, state, ns| {
                total.add(owner, state, ns);
            });
        }
        let Some(row) = self.row_of(slice.cpu) else { return };
        if whole(self.grid, &self.grid.rows[row]) {
            self.keep(row, slice);
        } else {
            self.spread(row, slice);
        }
    }

    fn mark(&mut self, at: Time, mark: &Mark) {
        // Those that wait when the window begins count in it.
        if let Mark::LockAwaited { task } | Mark::LockObtained { task } = mark {
            let more = if matches!(mark, Mark::LockAwaited { .. }) { 1 } else { -1 };
            self.waits(self.owners.app(*task).index() as u32, at.ns(), more);
        }
        if !self.within(at) {
            return;
        }
        match mark {
            Mark::Migrated { task, from, to } => self.moved(at, *task, *from, *to),
            Mark::Decided(decision) => self.noted(at, decision),
            Mark::BarrierCompleted { app, .. } => self.met(at.ns(), *app),
            Mark::AppExited(app) => self.recording.ends.push((*app, at.ns())),
            Mark::AppStarted(_)
            | Mark::Created { .. }
            | Mark::Woken { .. }
            | Mark::Exited { .. }
            | Mark::LockAwaited { .. }
            | Mark::LockObtained { .. } => {}
        }
    }
}
