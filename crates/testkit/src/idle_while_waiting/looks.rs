//! What one look of an idle cpu at a level finds in queues that stay as they are: the comparisons of the
//! kernels, written once more from their sources for a state that was observed.

use std::ops::Range;

use sim_core::ids::{CpuId, Id, TaskId};

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
    /// The queue with the most load has one task, which runs.
    Lone,
    /// The waiting tasks are too heavy for what is to be moved.
    TooHeavy,
    /// The waiting task may be the only one of its queue with the best priority.
    OnlyBest,
}

/// The cpus that a look has left out.
type Out = u64;

impl Report {
    fn weight(&self, cpu: u32) -> u64 {
        let tasks = &self.stretch.tasks[cpu as usize];
        tasks.iter().map(|task| u64::from(self.weights[task.index()])).sum()
    }

    fn may(&self, task: TaskId) -> bool {
        self.allows(task, self.stretch.cpu.0)
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
                // Since 3.5 the cpu that balances pulls for others of its group, too (`LBF_DST_PINNED`).
                let found = if modern { self.modern(level) } else { None };
                reasons.push(found.unwrap_or(Idle::NotDesignated));
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
        if tasks.len() <= 1 {
            return Err(Idle::AnotherQueue);
        }
        let fitting = allowed.filter(|task| fits(u64::from(self.weights[task.index()]))).count();
        // Of two that may come one waits, whichever has the cpu.
        match fitting {
            0 if tasks.iter().all(|task| self.may(*task)) => Err(Idle::TooHeavy),
            0 | 1 if tasks.iter().any(|task| !self.may(*task)) => Err(Idle::AnotherQueue),
            _ => Ok(true),
        }
    }

    /// One task of a queue has the best priority, and at most one other one may come.
    fn others_are_few(&self, cpu: u32) -> bool {
        let weight = |task: &&TaskId| self.weights[task.index()];
        let tasks = &self.stretch.tasks[cpu as usize];
        let best = tasks.iter().map(|task| self.weights[task.index()]).max().unwrap_or(0);
        let others = tasks.iter().filter(|task| weight(task) < best && self.may(**task)).count();
        tasks.iter().filter(|task| weight(task) == best).count() == 1 && others < 2
    }

    /// `find_busiest_group` and `move_tasks` of 2.6.
    fn old(&self, level: usize, kernel: Kernel) -> Option<Idle> {
        let shape = &self.levels[level];
        let (own, units) = (self.group(level, self.stretch.cpu), shape.power / 1024);
        let groups = self.others(level);
        let mut out = 0;
        loop {
            let load = |cpus: &Range<u32>| self.load(cpus.clone(), out) * 1024 / shape.power;
            let spread = |cpus: &Range<u32>| {
                let each: Vec<u64> = self.left(cpus.clone(), out).map(|cpu| self.weight(cpu)).collect();
                each.iter().max().unwrap_or(&0) - each.iter().min().unwrap_or(&0)
            };
            let uneven = |cpus: &Range<u32>| kernel.name != "linux-2.6.18" && spread(cpus) > 0;
            let crowded = |cpus: &&Range<u32>| self.tasks_of((*cpus).clone(), out) > units || uneven(cpus);
            // Of equals the first is the busiest.
            let Some(busiest) = groups.iter().rev().filter(crowded).max_by_key(|cpus| load(cpus)) else {
                return Some(Idle::NotOverloaded);
            };
            // `__group_imb`: the queues differ by more than two tasks of the mean weight.
            let means = self.left(busiest.clone(), out).map(|cpu| {
                self.weight(cpu).checked_div(self.stretch.tasks[cpu as usize].len() as u64).unwrap_or(0)
            });
            let two = 2 * (means.sum::<u64>() * 1024 / shape.power);
            let differs = uneven(busiest) && spread(busiest) > two;
            let sure = self.tasks_of(busiest.clone(), out) > units || differs;
            let (this, most) = (load(&own), load(busiest));
            let all: u64 = groups.iter().map(|cpus| self.load(cpus.clone(), out)).sum();
            let average =
                (all + self.load(own.clone(), out)) * 1024 / (shape.power * u64::from(shape.groups));
            if this >= most || this >= average || 100 * most <= shape.imbalance_pct * this {
                return Some(Idle::Loads);
            }
            let tasks = self.tasks_of(busiest.clone(), out).max(1);
            let each = self.load(busiest.clone(), out) / tasks;
            let each = if differs { each.min(average) } else { each };
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
                Ok(true) if any && self.others_are_few(from) => return Some(Idle::OnlyBest),
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
            // Overloaded, fully busy, or with capacity to spare.
            let state = |cpus: &Range<u32>| match tasks(cpus) {
                _ if overloaded(cpus) => 2,
                tasks if tasks < size || 100 * size > shape.imbalance_pct * (size - idle(cpus) as u64) => 0,
                _ => 1,
            };
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
            let (this, most) = (self.load(own.clone(), out), self.load(busiest.clone(), out));
            let all = groups.iter().map(|cpus| self.load(cpus.clone(), out)).sum::<u64>() + this;
            let near = state(&own) == 2 && this * shape.imbalance_pct >= 100 * most;
            let above = this >= most || this * u64::from(shape.groups) >= all;
            if near || (state(&own) > 0 && above) {
                return Some(Idle::Loads);
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
            if state(&own) == 0 && self.moves_half_of_one(level, (&own, busiest), (state(busiest), out)) {
                return Some(Idle::NotOverloaded);
            }
            let by_utilisation = state(busiest) == 2 && !shape.flags.contains(&"SHARE_LLC");
            let from = self.busiest_queue(busiest, state(&own) > 0, by_utilisation, out)?;
            if self.stretch.tasks[from as usize].len() <= 1 {
                return Some(Idle::Lone);
            }
            match self.queue(from, |_| true) {
                Ok(false) => out |= 1 << from,
                Ok(true) => return None,
                Err(why) => return Some(why),
            }
        }
    }

    /// `sched_balance_find_src_rq` of 6.18: the queue with the most load, else tasks; by utilisation
    /// the first of those with two tasks or more, which use their cpu fully.
    fn busiest_queue(
        &self,
        group: &Range<u32>,
        by_load: bool,
        by_utilisation: bool,
        out: Out,
    ) -> Option<u32> {
        self.left(group.clone(), out).max_by_key(|cpu| {
            let tasks = self.stretch.tasks[*cpu as usize].len() as u64;
            let amount = match (by_load, by_utilisation) {
                (true, _) => self.weight(*cpu),
                (false, true) => tasks.min(2),
                (false, false) => tasks,
            };
            (amount, u32::MAX - cpu)
        })
    }

    /// `calculate_imbalance` of 6.18 for a group with capacity to spare: half of the difference, rounded
    /// down, of tasks where the groups are cpus or the level below prefers to spread, else of idle cpus.
    fn moves_half_of_one(
        &self,
        level: usize,
        (own, busiest): (&Range<u32>, &Range<u32>),
        (state, out): (u8, Out),
    ) -> bool {
        let shape = &self.levels[level];
        let below = level.checked_sub(1).map(|below| self.levels[below].name);
        let tasks = |cpus: &Range<u32>| self.tasks_of(cpus.clone(), out);
        let idle =
            |cpus: &Range<u32>| self.left(cpus.clone(), out).filter(|cpu| self.weight(*cpu) == 0).count();
        let by_utilisation = state == 2 && !shape.flags.contains(&"SHARE_LLC");
        let core = state < 2 && below == Some("SMT") && tasks(busiest) > 1;
        let by_tasks = shape.group_cpus == 1 || below.is_some_and(|name| name != "NUMA");
        let tasks = tasks(busiest).saturating_sub(tasks(own));
        let idle = idle(own).saturating_sub(idle(busiest)) as u64;
        !by_utilisation && !core && (if by_tasks { tasks } else { idle }) < 2
    }

    /// Under 6.18 masks mark the only group with waiting tasks, and the idle cpu takes one of them: an idle
    /// cpu of that group may have none of them, and all may run on this one. The groups of the level below
    /// are cpus.
    pub(super) fn is_helped(&self) -> bool {
        let Some(below) = self.level.checked_sub(1).filter(|below| self.levels[*below].group_cpus == 1)
        else {
            return false;
        };
        let me = self.stretch.cpu;
        let crowded = |cpu: &u32| self.stretch.tasks[*cpu as usize].len() > 1;
        let Some(first) = self.domain(self.level, me).find(crowded) else {
            return false;
        };
        let group = self.domain(below, CpuId(first));
        let beyond = self.domain(self.level, me).filter(|cpu| !group.contains(cpu)).any(|cpu| crowded(&cpu));
        let idle = || group.clone().filter(|cpu| self.stretch.tasks[*cpu as usize].is_empty());
        let pinned = |task: &TaskId| self.may(*task) && !idle().any(|cpu| self.allows(*task, cpu));
        !beyond
            && !group.contains(&me.0)
            && idle().next().is_some()
            && group.clone().filter(crowded).all(|cpu| self.stretch.tasks[cpu as usize].iter().all(pinned))
    }

    /// Cpus with a waiting task that may run on the idle one hold a task that may not run on some idle cpu.
    pub(super) fn masks_matter(&self) -> bool {
        let idle = (0..self.stretch.tasks.len()).filter(|cpu| self.stretch.tasks[*cpu].is_empty());
        let idle = idle.fold(0, |all, cpu| all | 1u64 << cpu);
        let tasks = self.stretch.tasks.iter().filter(|tasks| tasks.len() > 1).flatten();
        tasks.into_iter().any(|task| self.masks[task.index()] & idle != idle)
    }
}
