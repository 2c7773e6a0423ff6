//! What one look of an idle cpu at a level finds in queues that stay as they are: the comparisons of the
//! kernels, written once more from their sources for a state that was observed.

use std::ops::Range;

use sim_core::ids::{Id, TaskId};

use super::{Kernel, Report};

/// Why a look moves nothing.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Idle {
    /// Another idle cpu of its group balances for it.
    NotDesignated,
    /// No other group has more tasks than it can run at once.
    NotOverloaded,
    /// The loads of the groups are close enough, or its own group is above the average.
    Loads,
    /// The busiest queue is another one, and the masks keep some of its tasks there.
    AnotherQueue,
    /// The waiting tasks are too heavy for what is to be moved.
    TooHeavy,
}

/// The cpus that a look has left out.
type Out = u64;

impl Report {
    fn weight(&self, cpu: u32) -> u64 {
        let tasks = &self.stretch.tasks[cpu as usize];
        tasks.iter().map(|task| u64::from(self.weights[task.index()])).sum()
    }

    fn may(&self, task: TaskId) -> bool {
        self.masks[task.index()] >> self.stretch.cpu.0 & 1 == 1
    }

    /// The groups of the domain at a level but the own one, in order after it.
    fn others(&self, level: usize) -> Vec<Range<u32>> {
        let (own, all) = (self.group(level, self.stretch.cpu), self.domain(level, self.stretch.cpu));
        let size = own.end - own.start;
        let groups = (all.end - all.start) / size;
        let at = |i: u32| all.start + ((own.start - all.start) / size + i) % groups * size;
        (1..groups).map(|i| at(i)..at(i) + size).collect()
    }

    /// The first idle cpu of its group at a level; on an idle core if there is one and `cores` is set.
    fn balances(&self, level: usize, cores: bool) -> bool {
        let group = self.group(level, self.stretch.cpu);
        let idle = |cpu: &u32| self.stretch.tasks[*cpu as usize].is_empty();
        let smt = self.levels.iter().find(|level| level.name == "SMT").map_or(1, |level| level.span);
        let whole = |cpu: &u32| (cpu / smt * smt..(cpu / smt + 1) * smt).all(|cpu| idle(&cpu));
        let on_core = group.clone().find(|cpu| idle(cpu) && (whole(cpu) || self.levels[level].name == "SMT"));
        let first = on_core.filter(|_| cores).or_else(|| group.clone().find(idle));
        first == Some(self.stretch.cpu.0)
    }

    /// Why the looks of the idle cpu at all its levels move nothing, the lowest level first; none where one
    /// of them would.
    pub(super) fn reasons(&self, kernel: Kernel) -> Option<Vec<Idle>> {
        let modern = kernel.name == "linux-6.18";
        let mut reasons = Vec::new();
        for level in 0..self.levels.len() {
            if kernel.name != "linux-2.6.18" && !self.balances(level, modern) {
                reasons.push(Idle::NotDesignated);
                break;
            }
            reasons.push(if modern { self.modern(level)? } else { self.old(level, kernel)? });
        }
        Some(reasons)
    }

    fn left(&self, cpus: Range<u32>, out: Out) -> impl Iterator<Item = u32> {
        cpus.filter(move |cpu| out >> cpu & 1 == 0)
    }

    fn tasks_of(&self, cpus: Range<u32>, out: Out) -> u64 {
        self.left(cpus, out).map(|cpu| self.stretch.tasks[cpu as usize].len() as u64).sum()
    }

    fn load(&self, cpus: Range<u32>, out: Out) -> u64 {
        self.left(cpus, out).map(|cpu| self.weight(cpu)).sum()
    }

    /// A queue from which tasks are to be moved: whether one may come, none at all may, or why none does.
    fn queue(&self, cpu: u32, fits: impl Fn(u64) -> bool) -> Result<bool, Idle> {
        let tasks = &self.stretch.tasks[cpu as usize];
        let mut allowed = tasks.iter().filter(|task| self.may(**task)).peekable();
        if tasks.len() > 1 && allowed.peek().is_none() {
            return Ok(false);
        }
        if tasks.len() <= 1 || tasks.iter().any(|task| !self.may(*task)) {
            return Err(Idle::AnotherQueue);
        }
        let fitting = allowed.any(|task| fits(u64::from(self.weights[task.index()])));
        if fitting { Ok(true) } else { Err(Idle::TooHeavy) }
    }

    /// `find_busiest_group` and `move_tasks` of 2.6.
    fn old(&self, level: usize, kernel: Kernel) -> Option<Idle> {
        let shape = &self.levels[level];
        let (own, units) = (self.group(level, self.stretch.cpu), shape.power / 1024);
        let groups = self.others(level);
        let mut out = 0;
        loop {
            let load = |cpus: &Range<u32>| self.load(cpus.clone(), out) * 1024 / shape.power;
            let uneven = |cpus: &Range<u32>| {
                let each: Vec<u64> = self.left(cpus.clone(), out).map(|cpu| self.weight(cpu)).collect();
                let (low, high) = (each.iter().min().copied(), each.iter().max().copied());
                kernel.name != "linux-2.6.18" && high > low
            };
            let crowded = |cpus: &&Range<u32>| self.tasks_of((*cpus).clone(), out) > units || uneven(cpus);
            let Some(busiest) = groups.iter().filter(crowded).max_by_key(|cpus| load(cpus)) else {
                return Some(Idle::NotOverloaded);
            };
            let sure = self.tasks_of(busiest.clone(), out) > units;
            let (this, most) = (load(&own), load(busiest));
            let all: u64 = groups.iter().map(|cpus| self.load(cpus.clone(), out)).sum();
            let average =
                (all + self.load(own.clone(), out)) * 1024 / (shape.power * u64::from(shape.groups));
            if this >= most || this >= average || 100 * most <= shape.imbalance_pct * this {
                return Some(Idle::Loads);
            }
            let tasks = self.tasks_of(busiest.clone(), out).max(1);
            let each = self.load(busiest.clone(), out) / tasks;
            let from =
                self.left(busiest.clone(), out).max_by_key(|cpu| (self.weight(*cpu), u32::MAX - cpu))?;
            // One task of the mean weight moves if that is an improvement; twice that weight is too much.
            // Under 2.6.18 an idle cpu takes the best task whatever its weight, if another one is as good.
            let any = kernel.name == "linux-2.6.18";
            match self
                .queue(from, |weight| any || weight / 2 < each.max(most.min(average).saturating_sub(this)))
            {
                Ok(false) if kernel.name == "linux-2.6.18" => return Some(Idle::AnotherQueue),
                Ok(false) => out |= 1 << from,
                Ok(true) if most <= each || this + 2 * each > most + each => return Some(Idle::Loads),
                Ok(true) => return if sure { None } else { Some(Idle::NotOverloaded) },
                Err(why) => return Some(why),
            }
        }
    }

    /// `sched_balance_find_src_group` and `detach_tasks` of 6.18 without marks; every cpu with tasks is busy.
    fn modern(&self, level: usize) -> Option<Idle> {
        let shape = &self.levels[level];
        let size = u64::from(shape.group_cpus);
        let own = self.group(level, self.stretch.cpu);
        let groups = self.others(level);
        let mut out = 0;
        loop {
            let tasks = |cpus: &Range<u32>| self.tasks_of(cpus.clone(), out);
            let idle =
                |cpus: &Range<u32>| self.left(cpus.clone(), out).filter(|cpu| self.weight(*cpu) == 0).count();
            let overloaded = |cpus: &Range<u32>| {
                let busy = size - idle(cpus) as u64;
                tasks(cpus) > size
                    && (100 * size < shape.imbalance_pct * busy
                        || shape.imbalance_pct * size < 100 * tasks(cpus))
            };
            let state = |cpus: &Range<u32>| if overloaded(cpus) { 2 } else { u8::from(tasks(cpus) >= size) };
            let rank = |cpus: &&Range<u32>| match state(cpus) {
                2 => (2, self.load((*cpus).clone(), out)),
                state => (state, (64 - idle(cpus) as u64) * 1000 + tasks(cpus)),
            };
            let Some(busiest) = groups.iter().rev().filter(|cpus| tasks(cpus) > 0).max_by_key(rank) else {
                return Some(Idle::NotOverloaded);
            };
            if state(&own) > state(busiest) {
                return Some(Idle::Loads);
            }
            if state(&own) == 2 {
                let (this, most) = (self.load(own.clone(), out), self.load(busiest.clone(), out));
                if this * shape.imbalance_pct >= 100 * most {
                    return Some(Idle::Loads);
                }
            }
            let sibling = level > 0 && shape.name != "NUMA" && self.levels[level - 1].name != "NUMA";
            let evens = sibling && tasks(busiest) > tasks(&own) + 1;
            if state(busiest) < 2
                && !evens
                && (tasks(busiest) == 1 || (size > 1 && idle(&own) <= idle(busiest) + 1))
            {
                return Some(Idle::NotOverloaded);
            }
            if state(busiest) < 2 && shape.name == "NUMA" && idle(&own) <= idle(busiest) + 3 {
                return Some(Idle::NotOverloaded);
            }
            let by_load = state(&own) > 0;
            let from = self.left(busiest.clone(), out).max_by_key(|cpu| {
                let tasks = self.stretch.tasks[*cpu as usize].len() as u64;
                (if by_load { self.weight(*cpu) } else { tasks }, u32::MAX - cpu)
            })?;
            match self.queue(from, |_| true) {
                Ok(false) => out |= 1 << from,
                Ok(true) => return None,
                Err(why) => return Some(why),
            }
        }
    }

    /// Cpus with a waiting task that may run on the idle one hold a task that may not run on some idle cpu.
    pub(super) fn masks_matter(&self) -> bool {
        let idle = (0..self.stretch.tasks.len()).filter(|cpu| self.stretch.tasks[*cpu].is_empty());
        let idle = idle.fold(0, |all, cpu| all | 1u64 << cpu);
        let tasks = self.stretch.tasks.iter().filter(|tasks| tasks.len() > 1).flatten();
        tasks.into_iter().any(|task| self.masks[task.index()] & idle != idle)
    }
}
