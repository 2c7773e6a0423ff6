//! Pulling tasks: `sched_balance_domains`, `sched_balance_rq`, `sched_balance_newidle`, active balancing of
//! Linux 6.x.

use sim_core::ids::{CpuId, Id, TaskId};
use sim_core::machine::CpuSet;
use sim_core::policy::{System, View, Why};
use sim_core::time::Span;

use super::busiest::Finding;
use super::domains::{BUSY_FACTOR, Kind, UNIT};
use super::group::{Amount, Situation};
use super::{Linux618, rules};

/// A domain whose tasks are all pinned balances ever more rarely, down to this interval
/// (`MAX_PINNED_INTERVAL`).
const MAX_PINNED_MS: u64 = 512;

/// The end of an attempt at one level.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Attempt {
    Balanced,
    NotDesignated,
    /// Every queue that could have helped holds only tasks pinned elsewhere.
    Pinned,
    /// A queue was found but nothing could be pulled; the queue.
    Failed(CpuId),
    Moved,
}

impl Linux618 {
    /// One balancing pass of a cpu at its tick, lowest level first.
    pub(super) fn rebalance(&mut self, system: &mut dyn System, cpu: CpuId) {
        let now = self.ticks.number(cpu, system.now());
        let mut idle = system.nr_running(cpu) == 0;
        let mut next = now.saturating_add(self.ticks.of(Span::from_ms(60_000)));
        for level in 0..self.domains.len() {
            let mut designated = true;
            if now >= self.progress[level][cpu].last.saturating_add(self.interval(level, cpu, !idle)) {
                let situation = if idle { Situation::Idle } else { Situation::Busy };
                let attempt = self.load_balance(system, level, cpu, situation);
                designated = attempt != Attempt::NotDesignated;
                idle &= attempt != Attempt::Moved;
                self.progress[level][cpu].last = now;
            }
            let due = self.progress[level][cpu].last.saturating_add(self.interval(level, cpu, !idle));
            next = next.min(due);
            if !designated {
                break;
            }
        }
        self.cpus[cpu].next_balance = next.max(now + 1);
    }

    /// Ticks between attempts at a level; a busy cpu's are one tick off, so that levels do not stay in step.
    fn interval(&self, level: usize, cpu: CpuId, busy: bool) -> u64 {
        let factor = if busy { BUSY_FACTOR } else { 1 };
        let ms = self.progress[level][cpu].interval_ms.saturating_mul(factor);
        let ticks = self.ticks.of(Span::from_ms(ms)) - u64::from(busy);
        let cap = self.ticks.of(Span::from_ms(100 * self.cpus.len() as u64));
        ticks.clamp(1, cap)
    }

    /// One attempt at one level, with its consequences for the next ones.
    fn load_balance(&mut self, system: &mut dyn System, level: usize, me: CpuId, as_a: Situation) -> Attempt {
        let attempt = self.attempt(system, level, me, as_a);
        let domain = self.domains[level];
        let mut progress = self.progress[level][me];
        let mut longer = false;
        match attempt {
            Attempt::Moved => progress.failed = 0,
            Attempt::Failed(busiest) => {
                progress.failed += 1;
                if progress.failed > domain.cache_nice_tries() + 2 {
                    longer = self.push(system, me, busiest, (progress.failed, domain.cache_nice_tries()));
                    progress.failed = domain.cache_nice_tries() + 1;
                }
            }
            Attempt::Balanced | Attempt::NotDesignated | Attempt::Pinned => {
                progress.failed = if attempt == Attempt::Balanced { 0 } else { progress.failed };
                longer = true;
            }
        }
        let shortest = self.options.scaled(domain.span);
        if !longer {
            progress.interval_ms = shortest;
        } else if progress.interval_ms < 2 * shortest
            || (attempt == Attempt::Pinned && progress.interval_ms < MAX_PINNED_MS)
        {
            progress.interval_ms = progress.interval_ms.saturating_mul(2);
        }
        self.progress[level][me] = progress;
        attempt
    }

    /// Looks for a queue and pulls from it; queues whose tasks are all pinned elsewhere are left out and the
    /// search repeated.
    pub(super) fn attempt(
        &mut self,
        system: &mut dyn System,
        level: usize,
        me: CpuId,
        as_a: Situation,
    ) -> Attempt {
        self.excluded = CpuSet::default();
        let domain = self.domains[level];
        loop {
            let (from, amount) = match self.find_busiest(system, &domain, me, as_a) {
                Finding::Pull(from, amount) => (from, amount),
                Finding::NotDesignated => return Attempt::NotDesignated,
                Finding::Balanced if self.excluded.is_empty() => return Attempt::Balanced,
                Finding::Balanced => return Attempt::Pinned,
            };
            let queues = from.map(CpuId).filter(|cpu| !self.excluded.contains(*cpu));
            let Some(busiest) = self.busiest_queue(system, queues.collect(), amount) else {
                return if self.excluded.is_empty() { Attempt::Balanced } else { Attempt::Pinned };
            };
            if system.nr_running(busiest) <= 1 {
                return Attempt::Failed(busiest);
            }
            match self.pull(system, level, me, busiest, amount, as_a) {
                Some(true) => return Attempt::Moved,
                Some(false) => return Attempt::Failed(busiest),
                None => self.excluded.insert(busiest),
            }
        }
    }

    /// The queue with the most of what is to be moved (`sched_balance_find_src_rq`).
    fn busiest_queue(&mut self, view: &dyn View, queues: Vec<CpuId>, amount: Amount) -> Option<CpuId> {
        let now = view.now();
        let mut best: Option<(u64, CpuId)> = None;
        for cpu in queues {
            let running = u64::from(view.nr_running(cpu));
            let measure = match amount {
                Amount::Load(load) => {
                    let own = self.cpus[cpu].load.get(now);
                    if running == 1 && own > load { 0 } else { own }
                }
                Amount::Utilisation(_) if running <= 1 => 0,
                Amount::Utilisation(_) => self.cpus[cpu].busy.get(now).max(1),
                Amount::Tasks(_) => running,
            };
            if running > 0 && measure > best.map_or(0, |(most, _)| most) {
                best = Some((measure, cpu));
            }
        }
        best.map(|(_, cpu)| cpu)
    }

    /// Moves waiting tasks from `busiest` to `me`, least recently run first (`detach_tasks`). Whether any was
    /// moved; `None` when affinity forbids this cpu to every task of the queue.
    fn pull(
        &mut self,
        system: &mut dyn System,
        level: usize,
        me: CpuId,
        busiest: CpuId,
        amount: Amount,
        as_a: Situation,
    ) -> Option<bool> {
        let now = system.now();
        let failed = self.progress[level][me].failed;
        let mut waiting = self.oldest_first(system, busiest);
        let mut some_allowed = system.current(busiest).is_some_and(|task| system.allowed(task, me));
        let (mut left, mut moved) = (amount, false);
        for task in waiting.iter().copied().take(self.options.nr_migrate) {
            if as_a != Situation::Busy && system.nr_running(busiest) <= 1 {
                break;
            }
            if !system.allowed(task, me) {
                continue;
            }
            some_allowed = true;
            let load = self.tasks.get(task.index()).copied().map_or(0, |mut known| known.average.get(now));
            let weight = u64::from(system.task(task).weight).max(1);
            let part = (load * UNIT / weight).min(UNIT) / u64::from(system.nr_running(busiest)).max(1);
            let Some(rest) = left.after(load.max(1), part, failed) else {
                continue;
            };
            if !self.movable(system, level, me, task) {
                continue;
            }
            if system.migrate(task, me, self.why) {
                moved = true;
                left = rest;
                if left.is_done() || as_a == Situation::NewlyIdle {
                    break;
                }
            }
        }
        waiting.clear();
        self.waiting = waiting;
        some_allowed.then_some(moved)
    }

    fn oldest_first(&mut self, system: &mut dyn System, cpu: CpuId) -> Vec<TaskId> {
        let mut waiting = std::mem::take(&mut self.waiting);
        system.queued(cpu, usize::MAX, &mut waiting);
        waiting.sort_by_key(|task| {
            let seen = system.task(*task);
            (seen.last_ran, seen.entered)
        });
        waiting
    }

    /// Cold enough, or there were enough failures (`can_migrate_task`); threads of a core share their caches.
    fn movable(&self, view: &dyn View, level: usize, me: CpuId, task: TaskId) -> bool {
        let domain = &self.domains[level];
        let seen = view.task(task);
        let recent = view.now().since(seen.last_ran) < self.options.migration_cost;
        let hot = domain.kind != Kind::Smt && (seen.buddy || recent);
        !hot || self.progress[level][me].failed > domain.cache_nice_tries()
    }

    /// Active balancing: the stopper of `busiest` hands over its oldest waiting task, or the one it
    /// displaced. `failed`: the attempts that failed, and `cache_nice_tries` of the level.
    fn push(
        &mut self,
        system: &mut dyn System,
        me: CpuId,
        busiest: CpuId,
        (failed, tries): (u32, u32),
    ) -> bool {
        let Some(running) = system.current(busiest).filter(|_| self.options.active) else {
            return false;
        };
        if !system.allowed(running, me) {
            return false;
        }
        let mut waiting = self.oldest_first(system, busiest);
        waiting.push(running);
        let task = waiting.iter().copied().find(|task| system.allowed(*task, me));
        waiting.clear();
        self.waiting = waiting;
        task.is_some_and(|task| {
            let why = Why::rule(rules::PUSHED).with("failed attempts", u64::from(failed));
            system.migrate(task, me, why.with("cache_nice_tries", u64::from(tries)))
        })
    }

    /// A cpu is about to go idle: pulls one task from the nearest level that has one to give, as long as the
    /// look costs less than the cpu's idle times, and brings its next ordinary attempt forward.
    pub(super) fn new_idle(&mut self, system: &mut dyn System, cpu: CpuId) {
        let now = self.ticks.number(cpu, system.now());
        let mut next = now.saturating_add(self.ticks.of(Span::from_ms(1_000)));
        let looks = self.options.newidle && self.overloaded > 0;
        let mut cost = 0;
        for level in 0..self.domains.len() {
            let due = self.progress[level][cpu].last.saturating_add(self.interval(level, cpu, false));
            next = next.min(due);
            cost += self.options.newidle_cost.ns() * u64::from(self.domains[level].span);
            if !looks || self.cpus[cpu].avg_idle < cost {
                break;
            }
            if self.attempt(system, level, cpu, Situation::NewlyIdle) == Attempt::Moved {
                self.progress[level][cpu].failed = 0;
                break;
            }
        }
        let record = &mut self.cpus[cpu];
        record.next_balance = record.next_balance.min(next.max(now + 1));
    }
}

impl Amount {
    /// What is left after a task of this load and utilisation, if it may go: one much larger than the amount
    /// stays, though less so after each failure.
    fn after(self, load: u64, utilisation: u64, failed: u32) -> Option<Self> {
        let halved = |value: u64| value >> failed.min(63);
        match self {
            Self::Load(left) if halved(load) > left => None,
            Self::Load(left) => Some(Self::Load(left.saturating_sub(load))),
            Self::Utilisation(left) if halved(utilisation) > left => None,
            Self::Utilisation(left) => Some(Self::Utilisation(left.saturating_sub(utilisation))),
            Self::Tasks(left) => Some(Self::Tasks(left.saturating_sub(1))),
        }
    }

    const fn is_done(self) -> bool {
        matches!(self, Self::Load(0) | Self::Utilisation(0) | Self::Tasks(0))
    }
}
