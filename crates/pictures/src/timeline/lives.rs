//! Records what threads do in a window of a run: a row for each thread, wake-ups, and the lengths of the
//! queues of cpus. The memory depends on the size of the picture, not on the length of the run.

use std::cell::RefCell;
use std::rc::Rc;

use sim_core::ids::{Id, TaskId};
use sim_core::observe::Sleep;
use sim_core::time::Time;
use trace::slices::{Occupant, Owners, Sink, Slice};
use trace::threads::{Doing, Stay, Watcher};

use crate::timeline::names::Names;
use crate::timeline::record::{Cell, Grid, Recording, Wake, add_columns};
use crate::timeline::states::{Mix, Owner, State, portion};

/// Pieces of a row that are kept as they are; with more the row is cut into columns.
const MOST_PIECES: usize = 4_000;
/// Most wake-ups that are kept; further ones are counted.
const MOST_WAKES: usize = 20_000;

/// Where a thread ran in a column: cpus and nanoseconds.
type Places = Vec<(u32, u64)>;

/// What is recorded of a thread.
#[derive(Clone, Debug, Default)]
struct Life {
    /// What it did, in no order yet.
    pieces: Vec<Cell>,
    /// The same by column.
    columns: Vec<Mix>,
    places: Vec<Places>,
}

/// Records threads; shared by those who report slices and stays.
pub(super) struct Lives<'a> {
    names: Names<'a>,
    owners: Owners,
    grid: &'a Grid,
    window: (u64, u64),
    /// The row of each task.
    row: Vec<Option<usize>>,
    lives: Vec<Life>,
    wakes: Vec<Wake>,
    /// The row of each cpu.
    cpus: Vec<Option<usize>>,
    /// For each row of cpus how long threads were queued there in each column, all together.
    queues: Vec<Vec<u64>>,
}

impl<'a> Lives<'a> {
    /// Of a window of a run on so many cpus, with the tasks of `owners`.
    pub(super) fn new(
        names: Names<'a>,
        owners: Owners,
        cpus: u32,
        grid: &'a Grid,
        window: (u64, u64),
    ) -> Rc<RefCell<Self>> {
        let columns = grid.columns.max(1) as usize;
        let row = |task: u32| {
            let (app, rank) = (owners.app(TaskId(task)).0, owners.rank(TaskId(task)));
            grid.rows.iter().position(|row| row.thread == Some((app, rank)))
        };
        let row: Vec<Option<usize>> = (0..owners.tasks()).map(row).collect();
        let threads = row.iter().any(Option::is_some);
        let life = Life {
            pieces: Vec::new(),
            columns: vec![Mix::default(); columns],
            places: vec![Vec::new(); columns],
        };
        let of_cpu = |cpu: u32| grid.rows.iter().position(|row| row.cpus.contains(&cpu));
        let queues = if threads { 0 } else { grid.rows.len() };
        Rc::new(RefCell::new(Self {
            names,
            grid,
            window,
            lives: vec![life; if threads { grid.rows.len() } else { 0 }],
            wakes: Vec::new(),
            cpus: (0..cpus).map(of_cpu).collect(),
            queues: vec![vec![0; columns]; queues],
            row,
            owners,
        }))
    }

    /// Adds what was recorded to the recording of the cpus.
    pub(super) fn finish(&mut self, recording: &mut Recording) {
        let least = ((self.window.1 - self.window.0) / u64::from(self.grid.columns.max(1))).max(1);
        if !self.lives.is_empty() {
            recording.rows.clear();
        }
        for life in std::mem::take(&mut self.lives) {
            let best = |places: &Places| places.iter().max_by_key(|place| place.1).map(|place| place.0);
            recording.places.push(life.places.iter().map(best).collect());
            let exact = self.grid.exact && life.pieces.len() < MOST_PIECES;
            let row = if exact { joined(life.pieces, least) } else { self.cut(&life.columns) };
            recording.rows.push(row);
        }
        recording.wakes = std::mem::take(&mut self.wakes);
        recording.wakes.sort_by_key(|wake| wake.at);
        recording.queues = std::mem::take(&mut self.queues);
    }

    /// A row that is cut into columns.
    fn cut(&self, columns: &[Mix]) -> Vec<Cell> {
        let (from, length) = (self.window.0, u128::from(self.window.1 - self.window.0));
        let count = columns.len() as u128;
        let edge = |column: usize| from + (length * column as u128).div_ceil(count) as u64;
        let cells = columns.iter().enumerate().filter(|(_, mix)| mix.total() > 0);
        let cell = |(at, mix): (usize, &Mix)| Cell {
            from: edge(at),
            to: edge(at + 1),
            mix: mix.clone(),
            slice: None,
            label: String::new(),
        };
        cells.map(cell).filter(|cell| cell.to > cell.from).collect()
    }

    /// Whose colour a thread has.
    fn owner(&self, task: TaskId) -> Owner {
        if self.grid.threads {
            Owner::Thread(self.owners.rank(task))
        } else {
            Owner::App(self.owners.app(task).0)
        }
    }

    /// A piece of a thread's life: parts of it for each column by `parts`.
    fn piece(&mut self, row: usize, cell: Cell, parts: impl Fn(u64, u64, &mut Mix)) {
        let (from, to, window, columns) = (cell.from, cell.to, self.window, self.grid.columns);
        let life = &mut self.lives[row];
        if life.pieces.len() < MOST_PIECES {
            life.pieces.push(cell);
        }
        let length = u128::from(window.1 - window.0);
        let count = u128::from(columns.max(1));
        let edge = |column: u128| window.0 + (length * column).div_ceil(count) as u64;
        let mut column = u128::from(from - window.0) * count / length;
        while column < count && edge(column) < to {
            let (begin, end) = (edge(column).max(from), edge(column + 1).min(to));
            if end > begin {
                parts(begin, end, &mut life.columns[column as usize]);
            }
            column += 1;
        }
    }

    /// Notes where a thread ran.
    fn placed(&mut self, row: usize, cpu: u32, from: u64, to: u64) {
        let mut sums = vec![0; self.grid.columns.max(1) as usize];
        add_columns(&mut sums, self.window, from, to, 1);
        for (places, ns) in self.lives[row].places.iter_mut().zip(sums).filter(|(_, ns)| *ns > 0) {
            match places.iter_mut().find(|place| place.0 == cpu) {
                Some(place) => place.1 += ns,
                None => places.push((cpu, ns)),
            }
        }
    }

    fn within(&self, from: Time, to: Time) -> Option<(u64, u64)> {
        let (from, to) = (from.ns().max(self.window.0), to.ns().min(self.window.1));
        (from < to).then_some((from, to))
    }
}

/// Pieces in order of time; those shorter than `least` are put together with their neighbours.
fn joined(mut pieces: Vec<Cell>, least: u64) -> Vec<Cell> {
    pieces.sort_by_key(|piece| (piece.from, piece.to));
    let mut row: Vec<Cell> = Vec::with_capacity(pieces.len());
    let mut open: Option<Cell> = None;
    for piece in pieces {
        // A thread that did not exist in between, or a row that is whole again.
        let long = piece.to - piece.from >= least;
        let apart = open.as_ref().is_some_and(|open| open.to < piece.from);
        if long || apart {
            row.extend(open.take());
        }
        if long {
            row.push(piece);
            continue;
        }
        match &mut open {
            Some(open) => {
                open.to = open.to.max(piece.to);
                open.mix.merge(&piece.mix);
                (open.slice, open.label) = (None, String::new());
            }
            None => open = Some(piece),
        }
        if open.as_ref().is_some_and(|open| open.to - open.from >= least) {
            row.extend(open.take());
        }
    }
    row.extend(open);
    row
}

/// Takes in the slices of the cpus.
pub(super) struct Works<'a>(pub(super) Rc<RefCell<Lives<'a>>>);

impl Sink for Works<'_> {
    fn slice(&mut self, slice: &Slice) {
        let Occupant::Works(task) = slice.who else { return };
        let mut lives = self.0.borrow_mut();
        let Some(row) = lives.row.get(task.index()).copied().flatten() else { return };
        let Some((from, to)) = lives.within(slice.from, slice.to) else { return };
        let owner = lives.owner(task);
        let add = |from: u64, to: u64, mix: &mut Mix| {
            portion(slice, owner, from, to, |owner, state, ns| mix.add(owner, state, ns));
        };
        let mut mix = Mix::default();
        add(from, to, &mut mix);
        lives.piece(row, Cell { from, to, mix, slice: Some(*slice), label: String::new() }, add);
        lives.placed(row, slice.cpu.0, from, to);
    }
}

/// Takes in what threads do.
pub(super) struct Stays<'a>(pub(super) Rc<RefCell<Lives<'a>>>);

impl Watcher for Stays<'_> {
    fn stay(&mut self, stay: &Stay) {
        let mut lives = self.0.borrow_mut();
        let Some((from, to)) = lives.within(stay.from, stay.to) else { return };
        if let Doing::Queued(cpu) = stay.doing
            && let Some(row) = lives.cpus.get(cpu.index()).copied().flatten()
        {
            let window = lives.window;
            if let Some(sums) = lives.queues.get_mut(row) {
                add_columns(sums, window, from, to, 1);
            }
        }
        let Some(row) = lives.row.get(stay.task.index()).copied().flatten() else { return };
        let app = Names::owners(lives.names).app(stay.task);
        let (state, label) = match stay.doing {
            // Its slices say more.
            Doing::Runs(_) => return,
            Doing::Polls(_, Some(lock)) => (State::LockWait, lives.names.lock(app, lock)),
            Doing::Polls(_, None) if lives.names.yields(app) => (State::Yield, String::new()),
            Doing::Polls(_, None) => (State::Spin, String::new()),
            Doing::Queued(_) => (State::Ready, String::new()),
            Doing::Sleeps(Sleep::Lock(lock)) => (State::Blocked, lives.names.lock(app, lock)),
            Doing::Sleeps(Sleep::Barrier) => (State::Meets, String::new()),
            // Timers are what threads mostly sleep for.
            Doing::Sleeps(Sleep::Timer) => (State::Asleep, String::new()),
            Doing::Sleeps(what) => (State::Asleep, lives.names.sleep(app, what)),
        };
        let owner = lives.owner(stay.task);
        let mut mix = Mix::default();
        mix.add(owner, state, to - from);
        let cell = Cell { from, to, mix, slice: None, label };
        lives.piece(row, cell, |from, to, mix| mix.add(owner, state, to - from));
    }

    fn woken(&mut self, at: Time, waker: Option<TaskId>, task: TaskId, what: Sleep) {
        let mut lives = self.0.borrow_mut();
        if !(lives.window.0..=lives.window.1).contains(&at.ns()) || lives.wakes.len() >= MOST_WAKES {
            return;
        }
        let row = |task: TaskId| lives.row.get(task.index()).copied().flatten();
        let Some(to) = row(task) else { return };
        let from = waker.and_then(row);
        let owners = lives.names.owners();
        let by = lives.names.waker(&owners, waker, what);
        let text = format!("{by} wakes {}", lives.names.thread(&owners, task));
        lives.wakes.push(Wake { at: at.ns(), from, to, by: waker.is_some(), text });
    }
}
