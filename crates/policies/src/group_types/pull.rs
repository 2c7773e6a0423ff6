//! One attempt to pull tasks: `sched_balance_rq`, `detach_tasks` and `can_migrate_task` of Linux 6.x.

use std::cmp::Reverse;

use sim_core::ids::{CpuId, TaskId};
use sim_core::machine::CpuSet;
use sim_core::policy::{System, View, Why};

use super::average::FINE;
use super::busiest::Finding;
use super::domains::{Domain, Kind, UNIT};
use super::group::Amount;
use super::unequal::{fits, greater};
use super::{GroupTypes, rules};
use crate::attempt::{Attempt, Situation};
use kernels::Detach;

/// What an attempt found out (`LBF_*` of `struct lb_env`).
#[derive(Clone, Copy, Default, Debug)]
pub(super) struct Flags {
    /// No task of the last queue looked at may come (`LBF_ALL_PINNED`).
    pub(super) all_pinned: bool,
    /// A task may not come (`LBF_SOME_PINNED`).
    some_pinned: bool,
    /// A cpu of the own group to which a task may come that may not come here (`LBF_DST_PINNED`).
    other: Option<CpuId>,
    /// What is to be moved is a number of tasks.
    pub(super) by_tasks: bool,
    /// It is a task that its cpu is too slow for.
    pub(super) misfit: bool,
    /// Priorities make the stopper of the queue move a task (`asym_active_balance`).
    pub(super) packs: bool,
}

/// A pull from a queue (`struct lb_env`).
#[derive(Clone, Copy, Debug)]
pub(super) struct Pull {
    level: usize,
    as_a: Situation,
    /// The cpu that balances.
    me: CpuId,
    from: CpuId,
    /// Where the tasks go: `me`, or another cpu of its group.
    to: CpuId,
    /// Attempts of `me` at the level that failed so far.
    failed: u32,
}

#[cfg(test)]
impl Pull {
    /// One after so many failures.
    pub(super) fn failing(failed: u32) -> Self {
        let (me, from) = (CpuId(0), CpuId(1));
        Self { level: 0, as_a: Situation::Busy, me, from, to: me, failed }
    }
}

impl GroupTypes {
    /// Looks for a queue and pulls from it; queues whose tasks may all not come are left out and the search
    /// repeated.
    pub(super) fn attempt(
        &mut self,
        system: &mut dyn System,
        level: usize,
        me: CpuId,
        as_a: Situation,
    ) -> Attempt {
        self.excluded = CpuSet::default();
        self.flags = Flags::default();
        let domain = self.unequal.domain(&self.domains[level], me);
        let seen = self.mark_misfits(system, domain.members(me));
        if level + 1 == self.domains.len() {
            self.unequal.seen = seen;
        }
        let failed = self.progress[level][me].failed;
        let mut pull = Pull { level, as_a, me, from: me, to: me, failed };
        loop {
            let (from, amount) = match self.find_busiest(system, &domain, pull.to, as_a) {
                Finding::Pull(from, amount) => (from, amount),
                Finding::NotDesignated => return Attempt::NotDesignated,
                Finding::Balanced => return Attempt::Balanced,
            };
            let queues = from.map(CpuId).filter(|cpu| !self.excluded.contains(*cpu));
            let queues = queues.collect();
            let Some(busiest) = self.busiest_queue(system, &domain, (queues, pull.to), amount) else {
                return Attempt::Balanced;
            };
            self.flags.all_pinned = true;
            self.flags.by_tasks = matches!(amount, Amount::Tasks(_));
            self.flags.misfit = matches!(amount, Amount::Misfit(_));
            self.flags.packs = as_a != Situation::Busy
                && self.unequal.by_priority(system, &domain, me)
                && (self.unequal.priority(me) > self.unequal.priority(busiest)
                    || !self.unequal.by_priority(system, &domain, busiest));
            if system.nr_running(busiest) <= 1 {
                return Attempt::Failed(busiest);
            }
            pull.from = busiest;
            let moved = self.detach(system, &mut pull, amount);
            if !self.flags.all_pinned {
                return if moved { Attempt::Moved } else { Attempt::Failed(busiest) };
            }
            self.excluded.insert(busiest);
            let mut others = domain.remote(me).flatten().map(CpuId);
            if others.all(|cpu| self.excluded.contains(cpu)) {
                return Attempt::Pinned;
            }
        }
    }

    /// The queue with the most of what is to be moved (`sched_balance_find_src_rq`).
    pub(super) fn busiest_queue(
        &mut self,
        view: &dyn View,
        domain: &Domain,
        (queues, me): (Vec<CpuId>, CpuId),
        amount: Amount,
    ) -> Option<CpuId> {
        let now = view.now();
        let mut best: Option<(u64, CpuId)> = None;
        for cpu in self.least_at_home(view, domain, queues) {
            let running = u64::from(view.nr_running(cpu));
            // No task that has its cpu alone comes to a smaller or to a worse one.
            let capacity = self.unequal.capacity(cpu);
            let smaller = domain.asymmetric && !greater(self.unequal.capacity(me), capacity);
            let worse = self.unequal.prefers(view, domain, cpu, self.unequal.priority(me));
            if running == 1 && (smaller || worse) {
                continue;
            }
            let measure = match amount {
                Amount::Load(load) => {
                    let own = self.load(view, cpu);
                    if running == 1 && own > load { 0 } else { own * UNIT / capacity }
                }
                Amount::Utilisation(_) if running <= 1 && self.rules.lone_task_stays => 0,
                Amount::Utilisation(_) if self.rules.runnable_boost => self.cpus[cpu].boosted(now, capacity),
                Amount::Utilisation(_) => self.cpus[cpu].utilisation(now, capacity),
                Amount::Tasks(_) => running,
                Amount::Misfit(_) => self.cpus[cpu].misfit,
            };
            if running > 0 && measure > best.map_or(0, |(most, _)| most) {
                best = Some((measure, cpu));
            }
        }
        best.map(|(_, cpu)| cpu)
    }

    /// Moves tasks to the cpu that balances, or to another one of its group where their mask allows only
    /// that. Whether any was moved. Where masks leave some of the amount behind, the group is marked at the
    /// level above.
    fn detach(&mut self, system: &mut dyn System, pull: &mut Pull, amount: Amount) -> bool {
        let (mut left, mut moved) = (amount, false);
        loop {
            self.flags.other = None;
            moved |= self.pull(system, pull, &mut left);
            let Some(other) = self.flags.other.filter(|_| !left.is_done()) else {
                break;
            };
            self.excluded.insert(pull.to);
            pull.to = other;
        }
        if self.flags.some_pinned && !left.is_done() {
            self.mark(pull.level, pull.me, true);
            self.idle.hindered(system.now());
        }
        moved
    }

    /// Moves waiting tasks, least recently run first (`detach_tasks`). Whether any was moved.
    fn pull(&mut self, system: &mut dyn System, pull: &Pull, left: &mut Amount) -> bool {
        if system.nr_running(pull.from) <= 1 {
            self.flags.all_pinned = false;
            return false;
        }
        let rule = if pull.to == pull.me { self.why.rule } else { rules::PULLED_FOR_ANOTHER };
        let why = Why { rule, ..self.why };
        let running = system.current(pull.from);
        let tasks = self.oldest_first(system, pull.from);
        let mut moved = false;
        for task in tasks.iter().copied().take(self.options.nr_migrate) {
            if pull.as_a != Situation::Busy && system.nr_running(pull.from) <= 1 {
                break;
            }
            // `task_is_ineligible_on_dst_cpu`: not at a first attempt to a queue with tasks.
            let stays = self.rules.ineligible_stays && pull.failed == 0;
            if stays && system.nr_running(pull.to) > 0 && !system.is_eligible(task) {
                continue;
            }
            if !self.may_come(system, pull, task) || Some(task) == running || self.is_hot(system, pull, task)
            {
                continue;
            }
            let Some(rest) = self.after(system, pull, *left, task) else {
                continue;
            };
            if !system.migrate(task, pull.to, why) {
                continue;
            }
            moved = true;
            *left = rest;
            if left.is_done() || pull.as_a == Situation::NewlyIdle {
                break;
            }
        }
        self.waiting = tasks;
        moved
    }

    /// True when the mask of a task allows the cpu; notes what follows from it otherwise.
    fn may_come(&mut self, view: &dyn View, pull: &Pull, task: TaskId) -> bool {
        if view.allowed(task, pull.to) {
            self.flags.all_pinned = false;
            return true;
        }
        self.flags.some_pinned = true;
        if pull.as_a != Situation::NewlyIdle && self.flags.other.is_none() {
            let mut group = self.domains[pull.level].local(pull.me).map(CpuId);
            self.flags.other = group.find(|cpu| !self.excluded.contains(*cpu) && view.allowed(task, *cpu));
        }
        false
    }

    /// What is left of an amount after a task, if it may go.
    fn after(&mut self, system: &mut dyn System, pull: &Pull, left: Amount, task: TaskId) -> Option<Amount> {
        let [load, used, _] = self.carried(system, task);
        let used = used.max(self.task(task).utilisation.expected());
        if matches!(left, Amount::Misfit(_)) {
            let stays = fits(used >> FINE, self.unequal.capacity(pull.from));
            return (!stays).then_some(Amount::Misfit(0));
        }
        // `task_h_load`.
        let load = system.task_load_average(task).unwrap_or(load >> FINE);
        left.after(load.max(1), used >> FINE, self.halvings(pull))
    }

    /// How often the load and the utilisation of a task are halved before they are compared with the amount.
    pub(super) fn halvings(&self, pull: &Pull) -> (u32, u32) {
        let load = match self.rules.detach {
            Detach::Shift => pull.failed,
            Detach::AlwaysHalf => 1,
            Detach::Half if pull.failed > self.domains[pull.level].cache_nice_tries() => u64::BITS,
            Detach::Half => 1,
        };
        (load, if self.rules.utilisation_shrinks { pull.failed } else { 0 })
    }

    /// The tasks of a cpu, least recently run first or by the rule last come first, the running one last.
    pub(super) fn oldest_first(&mut self, system: &mut dyn System, cpu: CpuId) -> Vec<TaskId> {
        let mut tasks = std::mem::take(&mut self.waiting);
        system.queued(cpu, usize::MAX, &mut tasks);
        if self.rules.newest_first {
            tasks.sort_by_key(|task| Reverse(system.task(*task).entered));
        } else {
            tasks.sort_by_key(|task| {
                let seen = system.task(*task);
                (seen.last_ran, seen.entered)
            });
        }
        tasks.extend(system.current(cpu));
        tasks
    }

    /// Cache-hot or taken away from its pages, and there were too few failures to ignore it
    /// (`can_migrate_task`); threads of a core share their caches.
    fn is_hot(&self, view: &dyn View, pull: &Pull, task: TaskId) -> bool {
        let domain = &self.domains[pull.level];
        let seen = view.task(task);
        let recent = view.now().since(seen.last_ran) < self.options.migration_cost;
        let hot = domain.kind != Kind::Smt && (seen.buddy || recent);
        let away = self.degrades(view, task, (pull.from, pull.to), pull.as_a == Situation::Idle);
        away.unwrap_or(hot) && pull.failed <= domain.cache_nice_tries()
    }
}

impl Amount {
    /// What is left after a task of this load and utilisation, if it may go: one larger than the amount, once
    /// halved so often, stays.
    pub(super) fn after(
        self,
        load: u64,
        utilisation: u64,
        (loads, utilisations): (u32, u32),
    ) -> Option<Self> {
        let halved = |value: u64, times: u32| value.checked_shr(times).unwrap_or(0);
        match self {
            Self::Load(left) if halved(load, loads) > left => None,
            Self::Load(left) => Some(Self::Load(left.saturating_sub(load))),
            Self::Utilisation(left) if halved(utilisation, utilisations) > left => None,
            Self::Utilisation(left) => Some(Self::Utilisation(left.saturating_sub(utilisation))),
            Self::Tasks(left) => Some(Self::Tasks(left.saturating_sub(1))),
            Self::Misfit(_) => Some(Self::Misfit(0)),
        }
    }

    const fn is_done(self) -> bool {
        matches!(self, Self::Load(0) | Self::Utilisation(0) | Self::Tasks(0) | Self::Misfit(0))
    }
}
