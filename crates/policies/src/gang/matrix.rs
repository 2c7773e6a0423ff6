//! The Ousterhout matrix: slots (rows) of gangs on columns (cpus); where a new gang goes, and how slots
//! become fewer.
//!
//! Packing: Feitelson, "Packing schemes for gang scheduling" (JSSPP 1996); the buddy scheme is distributed
//! hierarchical control, Feitelson and Rudolph (IEEE Computer 1990). Moving gangs to other columns: Zhang,
//! Franke, Moreira, Sivasubramaniam (IEEE TPDS 14(3), 2003).

use notation::choices;
use sim_core::ids::{AppId, CpuId, TaskId};
use sim_core::time::Span;

choices! {
    /// How columns are chosen for a new gang.
    pub(super) enum Packing {
        /// The first slot with enough free columns, and the first of them.
        FirstFit = "first-fit",
        /// Blocks of a power of two of columns: the least loaded block, and the first slot in which all of it
        /// is free.
        Buddy = "buddy",
    }
}

/// The tasks of an application.
#[derive(Clone, Debug)]
pub(super) struct Gang {
    /// Its first task, and how many it has.
    pub(super) first: u32,
    pub(super) tasks: u32,
    /// The cpus its mask allows.
    pub(super) allowed: Vec<CpuId>,
    /// The columns its tasks run in, in turn.
    pub(super) columns: Vec<CpuId>,
    /// The columns kept for it: the same, or the whole block.
    block: Vec<CpuId>,
    /// The priority its tasks are in.
    pub(super) priority: Option<u8>,
    /// Cpu time of all its tasks when its turn began.
    pub(super) before: Option<Span>,
    /// Part of the time of its columns that it used in its own turns, in thousandths; none before the first
    /// one.
    pub(super) demand: Option<u64>,
}

impl Gang {
    /// A gang of these tasks without columns yet.
    pub(super) fn new(tasks: &std::ops::Range<u32>, allowed: Vec<CpuId>) -> Self {
        Self {
            first: tasks.start,
            tasks: tasks.end - tasks.start,
            allowed,
            columns: Vec::new(),
            block: Vec::new(),
            priority: None,
            before: None,
            demand: None,
        }
    }

    /// The cpu of a task.
    pub(super) fn column(&self, task: TaskId) -> CpuId {
        let rank = task.0.saturating_sub(self.first) as usize;
        self.columns[rank % self.columns.len()]
    }

    pub(super) fn task_ids(&self) -> impl Iterator<Item = TaskId> + use<> {
        (self.first..self.first + self.tasks).map(TaskId)
    }

    /// One column per task, as far as there are cpus.
    fn width(&self) -> usize {
        self.allowed.len().min(self.tasks as usize)
    }
}

/// A row of the matrix.
#[derive(Clone, Debug)]
pub(super) struct Slot {
    pub(super) gangs: Vec<AppId>,
    /// Columns kept for a gang.
    taken: Vec<bool>,
    /// Columns in which a gang has tasks.
    busy: Vec<bool>,
}

/// Slots, and the gangs by application.
#[derive(Debug)]
pub(super) struct Matrix {
    packing: Packing,
    cpus: usize,
    pub(super) slots: Vec<Slot>,
    pub(super) gangs: Vec<Option<Gang>>,
}

/// A gang moves from its slot and columns to others.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Move {
    app: AppId,
    to: usize,
    block: Vec<CpuId>,
}

impl Slot {
    fn empty(cpus: usize) -> Self {
        Self { gangs: Vec::new(), taken: vec![false; cpus], busy: vec![false; cpus] }
    }

    fn add(&mut self, app: AppId, gang: &Gang) {
        self.gangs.push(app);
        gang.block.iter().for_each(|cpu| self.taken[cpu.0 as usize] = true);
        gang.columns.iter().for_each(|cpu| self.busy[cpu.0 as usize] = true);
    }

    fn remove(&mut self, app: AppId, gang: &Gang) {
        self.gangs.retain(|other| *other != app);
        gang.block.iter().for_each(|cpu| self.taken[cpu.0 as usize] = false);
        gang.columns.iter().for_each(|cpu| self.busy[cpu.0 as usize] = false);
    }

    fn free(&self, cpu: CpuId) -> bool {
        !self.taken[cpu.0 as usize]
    }

    /// True when no gang has a task in this column.
    pub(super) fn idle_in(&self, cpu: CpuId) -> bool {
        !self.busy[cpu.0 as usize]
    }

    fn disjoint(&self, other: &Self) -> bool {
        !self.taken.iter().zip(&other.taken).any(|(mine, theirs)| *mine && *theirs)
    }

    fn filled(&self) -> usize {
        self.taken.iter().filter(|taken| **taken).count()
    }
}

impl Matrix {
    pub(super) fn new(packing: Packing, cpus: usize, apps: usize) -> Self {
        Self { packing, cpus, slots: Vec::new(), gangs: vec![None; apps] }
    }

    pub(super) fn gang(&self, app: AppId) -> Option<&Gang> {
        self.gangs.get(app.0 as usize)?.as_ref()
    }

    pub(super) fn gang_mut(&mut self, app: AppId) -> Option<&mut Gang> {
        self.gangs.get_mut(app.0 as usize)?.as_mut()
    }

    /// The number of tasks of a slot.
    pub(super) fn tasks_of(&self, slot: usize) -> u64 {
        let gangs = self.slots[slot].gangs.iter().filter_map(|app| self.gang(*app));
        gangs.map(|gang| u64::from(gang.tasks)).sum()
    }

    /// Gives a new gang its place; returns its slot.
    pub(super) fn admit(&mut self, app: AppId, mut gang: Gang) -> usize {
        let width = gang.width();
        let (slot, block) = match self.packing {
            Packing::FirstFit => self.first_fit(&gang.allowed, width),
            Packing::Buddy => self.least_loaded_block(&gang.allowed, width),
        };
        gang.columns = block[..width].to_vec();
        gang.block = block;
        if slot == self.slots.len() {
            self.slots.push(Slot::empty(self.cpus));
        }
        self.slots[slot].add(app, &gang);
        if let Some(place) = self.gangs.get_mut(app.0 as usize) {
            *place = Some(gang);
        }
        slot
    }

    fn first_fit(&self, allowed: &[CpuId], width: usize) -> (usize, Vec<CpuId>) {
        for (at, slot) in self.slots.iter().enumerate() {
            let free: Vec<CpuId> =
                allowed.iter().copied().filter(|cpu| slot.free(*cpu)).take(width).collect();
            if free.len() == width {
                return (at, free);
            }
        }
        (self.slots.len(), allowed[..width].to_vec())
    }

    fn least_loaded_block(&self, allowed: &[CpuId], width: usize) -> (usize, Vec<CpuId>) {
        let load = |block: &&[CpuId]| -> usize {
            let busy = |slot: &Slot| block.iter().filter(|cpu| !slot.idle_in(**cpu)).count();
            self.slots.iter().map(busy).sum()
        };
        let block = blocks(allowed, width).min_by_key(load).unwrap_or(allowed);
        let free = |slot: &Slot| block.iter().all(|cpu| slot.free(*cpu));
        (self.slots.iter().position(free).unwrap_or(self.slots.len()), block.to_vec())
    }

    /// Takes an application out. Returns its slot and whether that is empty now.
    pub(super) fn remove(&mut self, app: AppId) -> Option<(usize, bool)> {
        let at = self.slots.iter().position(|slot| slot.gangs.contains(&app))?;
        let gang = self.gangs.get_mut(app.0 as usize)?.take()?;
        self.slots[at].remove(app, &gang);
        Some((at, self.slots[at].gangs.is_empty()))
    }

    /// Two slots that share no column, the earlier one first. Where many gangs run, most slots are full, and
    /// the least filled one does not fit to them.
    pub(super) fn disjoint_slots(&self) -> Option<(usize, usize)> {
        let filled: Vec<usize> = self.slots.iter().map(Slot::filled).collect();
        let least = filled.iter().min().copied().unwrap_or(0);
        let open: Vec<usize> = (0..filled.len()).filter(|at| filled[*at] + least <= self.cpus).collect();
        let later = |(at, into): (usize, &usize)| {
            let fits = |from: &&usize| self.slots[*into].disjoint(&self.slots[**from]);
            open[at + 1..].iter().find(fits).map(|from| (*into, *from))
        };
        open.iter().enumerate().find_map(later)
    }

    /// The gangs of slot `from` come into slot `into`, on their columns; `from` goes.
    pub(super) fn unite(&mut self, into: usize, from: usize) {
        let merged = self.slots.remove(from);
        for app in merged.gangs {
            if let Some(gang) = self.gangs[app.0 as usize].as_ref() {
                self.slots[into].add(app, gang);
            }
        }
    }

    /// How the gangs of a slot can go to free columns of other slots, so that one slot less remains. Emptier
    /// slots are dissolved first, fuller ones filled first; the larger gang chooses first and keeps the
    /// columns it can.
    pub(super) fn dissolve(&self) -> Option<(usize, Vec<Move>)> {
        let mut order: Vec<usize> = (0..self.slots.len()).collect();
        order.sort_by_key(|slot| self.slots[*slot].filled());
        let free = |slot: usize| self.cpus - self.slots[slot].filled();
        let all_free: usize = order.iter().map(|slot| free(*slot)).sum();
        order.iter().find_map(|from| {
            let gangs = self.slots[*from].gangs.iter().filter_map(|app| self.gang(*app));
            if gangs.map(Gang::width).sum::<usize>() > all_free - free(*from) {
                return None;
            }
            let others: Vec<usize> = order.iter().rev().copied().filter(|slot| slot != from).collect();
            Some((*from, self.resettle(*from, &others)?))
        })
    }

    fn resettle(&self, from: usize, others: &[usize]) -> Option<Vec<Move>> {
        let mut slots = self.slots.clone();
        let mut gangs: Vec<(AppId, Gang)> =
            slots[from].gangs.iter().filter_map(|app| Some((*app, self.gang(*app)?.clone()))).collect();
        gangs.sort_by_key(|(_, gang)| std::cmp::Reverse(gang.width()));
        let mut moves = Vec::new();
        for (app, mut gang) in gangs {
            let room = |to: &usize| self.room(&slots[*to], &gang).map(|block| (*to, block));
            let (to, block) = others.iter().find_map(room)?;
            gang.columns = block[..gang.width()].to_vec();
            gang.block.clone_from(&block);
            slots[to].add(app, &gang);
            moves.push(Move { app, to, block });
        }
        Some(moves)
    }

    /// Free columns of a slot for a gang, its own ones first.
    fn room(&self, slot: &Slot, gang: &Gang) -> Option<Vec<CpuId>> {
        let width = gang.width();
        let free = |cpu: &CpuId| slot.free(*cpu);
        if gang.block.iter().all(free) {
            return Some(gang.block.clone());
        }
        match self.packing {
            Packing::FirstFit => {
                let mine = gang.columns.iter().filter(|cpu| free(cpu));
                let other = gang.allowed.iter().filter(|cpu| free(cpu) && !gang.columns.contains(cpu));
                let columns: Vec<CpuId> = mine.chain(other).copied().take(width).collect();
                (columns.len() == width).then_some(columns)
            }
            Packing::Buddy => {
                blocks(&gang.allowed, width).find(|block| block.iter().all(free)).map(<[CpuId]>::to_vec)
            }
        }
    }

    /// Carries out what [`Matrix::dissolve`] found; returns who moved.
    pub(super) fn settle(&mut self, from: usize, moves: Vec<Move>) -> Vec<AppId> {
        let mut moved = Vec::new();
        for Move { app, to, block } in moves {
            let Some(gang) = self.gangs[app.0 as usize].as_mut() else { continue };
            let columns = keep_places(&gang.columns, &block[..gang.width()]);
            gang.columns = columns;
            gang.block = block;
            self.slots[to].add(app, gang);
            moved.push(app);
        }
        self.slots.remove(from);
        moved
    }
}

/// The blocks of a power of two of columns in which `width` tasks find a column each; the last one may be cut
/// short.
fn blocks(allowed: &[CpuId], width: usize) -> impl Iterator<Item = &[CpuId]> {
    allowed.chunks(width.next_power_of_two()).filter(move |block| block.len() >= width)
}

/// The same columns as `new` in an order in which every column that was there before keeps its place.
fn keep_places(old: &[CpuId], new: &[CpuId]) -> Vec<CpuId> {
    let mut fresh = new.iter().filter(|cpu| !old.contains(cpu));
    let place = |cpu: &CpuId| if new.contains(cpu) { Some(*cpu) } else { fresh.next().copied() };
    old.iter().filter_map(place).collect()
}
