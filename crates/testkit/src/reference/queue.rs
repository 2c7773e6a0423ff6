//! The run queue of a cpu as a sorted vector, and the disciplines' rules written down one by one.

use sim_core::kernel_model::{CfsParams, Discipline, YieldMode};

use super::Reference;
use super::state::Doing;

/// How a task comes into a queue.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Entry {
    Fork,
    Wake,
    Move,
}

/// Virtual runtime of a span: nanoseconds x 1,024 / weight, rounded down.
pub(super) fn weighted(ns: u64, weight: u32) -> i64 {
    (u128::from(ns) * 1024 / u128::from(weight)) as i64
}

impl Reference<'_> {
    fn key(&self, t: usize) -> (u8, i64) {
        let task = &self.tasks[t];
        (task.band, if self.eevdf().is_some() { task.vdeadline } else { task.vruntime })
    }

    fn cfs(&self) -> Option<&CfsParams> {
        match &self.model.discipline {
            Discipline::Cfs(params) => Some(params),
            Discipline::RoundRobin { .. } | Discipline::Eevdf(_) => None,
        }
    }

    /// Runnable tasks of a cpu, the current one included.
    pub(super) fn runnable(&self, c: usize) -> impl Iterator<Item = usize> + '_ {
        self.cpus[c].current.into_iter().chain(self.cpus[c].queue.iter().copied())
    }

    pub(super) fn load(&self, c: usize) -> u64 {
        self.runnable(c).map(|t| u64::from(self.tasks[t].weight)).sum()
    }

    /// Puts a task behind all that have its key or a smaller one.
    pub(super) fn insert(&mut self, c: usize, t: usize) {
        let mine = self.key(t);
        let at = self.cpus[c].queue.iter().filter(|other| self.key(**other) <= mine).count();
        self.cpus[c].queue.insert(at, t);
    }

    pub(super) fn remove(&mut self, c: usize, t: usize) {
        self.cpus[c].queue.retain(|other| *other != t);
    }

    fn last_of_band(&self, c: usize, band: u8) -> Option<usize> {
        self.cpus[c].queue.iter().copied().rfind(|t| self.tasks[*t].band == band)
    }

    /// Charges the current task for the time since it was last charged.
    pub(super) fn charge(&mut self, c: usize) {
        if let Some(params) = self.eevdf() {
            return self.update(params, c);
        }
        let Some(t) = self.cpus[c].current else { return };
        let span = self.now.saturating_sub(self.cpus[c].charged);
        if self.cfs().is_some() {
            self.tasks[t].vruntime += weighted(span, self.tasks[t].weight);
        }
        self.cpus[c].charged += span;
        self.advance_minimum(c);
    }

    /// The queue's minimum follows the smaller of the current and the first waiting task, and never goes back.
    pub(super) fn advance_minimum(&mut self, c: usize) {
        if self.cfs().is_none() {
            return;
        }
        let (current, first) = (self.cpus[c].current, self.cpus[c].queue.first().copied());
        let least = current.into_iter().chain(first).map(|t| self.tasks[t].vruntime).min();
        if let Some(least) = least {
            self.cpus[c].minimum = self.cpus[c].minimum.max(least);
        }
    }

    /// Share of a task of this weight in the period of `count` tasks of this total weight.
    fn slice(params: &CfsParams, count: u64, weight: u32, load: u64) -> u64 {
        let period = if count <= u64::from(params.nr_latency) {
            params.latency.ns()
        } else {
            params.min_granularity.ns() * count
        };
        (u128::from(period) * u128::from(weight) / u128::from(load.max(1))) as u64
    }

    /// Somebody else of the same or a lower band waits while the current task computes or spins.
    pub(super) fn contested(&self, c: usize) -> bool {
        let Some(current) = self.cpus[c].current else { return false };
        let band = self.tasks[current].band;
        let sliced = matches!(self.cpus[c].doing, Doing::Compute | Doing::Spin);
        sliced && self.cpus[c].queue.iter().any(|t| self.tasks[*t].band <= band)
    }

    /// The check of a timer tick (or of the quantum) at `at`: has the current task used up its slice?
    pub(super) fn slice_used_up(&self, c: usize, at: u64) -> bool {
        let (Some(current), true) = (self.cpus[c].current, self.contested(c)) else { return false };
        let picked = self.cpus[c].picked;
        match &self.model.discipline {
            Discipline::Cfs(params) => {
                let count = self.runnable(c).count() as u64;
                let slice = Self::slice(params, count, self.tasks[current].weight, self.load(c));
                self.tick_from(c, at) == at && at > picked + slice
            }
            Discipline::RoundRobin { quantum } => at >= picked + quantum.ns(),
            Discipline::Eevdf(_) => false,
        }
    }

    /// Sets the key of a task that enters.
    pub(super) fn place(&mut self, c: usize, t: usize, entry: Entry) {
        if let Some(params) = self.eevdf() {
            return self.seat(params, c, t, entry);
        }
        let (minimum, weight, past) = (self.cpus[c].minimum, self.tasks[t].weight, self.tasks[t].vruntime);
        let placed = match (self.cfs(), entry) {
            (None, _) => self.behind_all(c, t),
            (Some(params), Entry::Fork) if params.start_debit => {
                let count = self.runnable(c).count() as u64 + 1;
                let slice = Self::slice(params, count, weight, self.load(c) + u64::from(weight));
                minimum + weighted(slice, weight)
            }
            (Some(_), Entry::Fork) => minimum,
            (Some(params), Entry::Wake) if params.sleeper_credit => {
                past.max(minimum - weighted(params.latency.ns(), weight))
            }
            (Some(_), Entry::Wake) => past.max(minimum),
            (Some(_), Entry::Move) => past,
        };
        self.tasks[t].vruntime = placed;
    }

    fn behind_all(&self, c: usize, t: usize) -> i64 {
        self.last_of_band(c, self.tasks[t].band).map_or(0, |last| self.tasks[last].vruntime + 1)
    }

    /// Does a task that has just entered take the cpu?
    pub(super) fn preempts(&mut self, c: usize, t: usize) -> bool {
        let Some(current) = self.cpus[c].current else { return true };
        let (mine, theirs) = (&self.tasks[t], &self.tasks[current]);
        if mine.band != theirs.band {
            return mine.band < theirs.band;
        }
        if self.eevdf().is_some() {
            return self.would_pick(c) == Some(t);
        }
        let Some(params) = self.cfs() else { return false };
        let granularity = weighted(params.wakeup_granularity.ns(), theirs.weight.max(1024));
        let wins = theirs.vruntime - mine.vruntime > granularity;
        if params.buddies {
            self.cpus[c].next_buddy = Some(t);
            self.cpus[c].last_buddy = Some(current);
        }
        wins
    }

    /// Who runs next; the current task takes part when there is one.
    pub(super) fn choose(&mut self, c: usize) -> Option<usize> {
        if let Some(params) = self.eevdf() {
            return self.pick(params, c);
        }
        let cpu = &self.cpus[c];
        let best = match (cpu.current, cpu.queue.first().copied()) {
            (current, None) => current?,
            (None, Some(first)) => first,
            (Some(current), Some(first)) => {
                let stays = match self.cfs() {
                    Some(_) => self.key(current) < self.key(first),
                    None => self.tasks[current].band < self.tasks[first].band,
                };
                if stays { current } else { first }
            }
        };
        let Some(params) = self.cfs().filter(|_| !cpu.queue.is_empty()) else { return Some(best) };
        let near = |buddy: &usize| {
            let (buddy, best) = (&self.tasks[*buddy], &self.tasks[best]);
            buddy.band == best.band && buddy.vruntime - best.vruntime <= params.wakeup_granularity.ns() as i64
        };
        let buddies = [cpu.next_buddy, cpu.last_buddy];
        Some(buddies.into_iter().flatten().find(near).unwrap_or(best))
    }

    /// The key of the current task for going back into the queue after a pre-emption.
    pub(super) fn put_back(&mut self, c: usize, t: usize) {
        if self.cfs().is_none() && self.eevdf().is_none() {
            self.tasks[t].vruntime = self.behind_all(c, t);
        }
    }

    /// The key of the current task after `sched_yield`.
    pub(super) fn yield_key(&mut self, c: usize, t: usize) {
        if let Some(params) = self.eevdf() {
            return self.forfeit(params, c, t);
        }
        let last = self.last_of_band(c, self.tasks[t].band);
        match self.cfs().map(|params| params.yield_mode) {
            None => self.tasks[t].vruntime = self.behind_all(c, t),
            Some(mode) => {
                if let (YieldMode::Posix, Some(last)) = (mode, last) {
                    let behind = self.tasks[last].vruntime + 1;
                    self.tasks[t].vruntime = self.tasks[t].vruntime.max(behind);
                }
                self.charge(c);
            }
        }
    }
}
