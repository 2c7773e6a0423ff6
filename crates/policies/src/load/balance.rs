//! Pulling and pushing tasks: `rebalance_domains`, `load_balance`, `idle_balance`, active balancing of Linux
//! 2.6.18 to 2.6.30.

use sim_core::ids::{CpuId, TaskId};
use sim_core::machine::CpuSet;
use sim_core::policy::{System, TaskState, View, Why};
use sim_core::time::Span;

use super::busiest::Finding;
use super::cpu_load::{load_of, weight_of};
use super::{Load, NewIdle, rules};
use crate::attempt::{Attempt, MAX_PINNED_MS, Situation};

/// What became of a walk through a queue.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Pulled {
    /// At least one task was moved.
    Some,
    /// None, though one was allowed here.
    None,
    /// None, and affinity forbids this cpu to every task of the queue.
    AllPinned,
}

impl Load {
    /// One balancing pass of a cpu at its tick, lowest level first (`rebalance_domains`).
    pub(super) fn rebalance(&mut self, system: &mut dyn System, cpu: CpuId) {
        let now = self.loads.ticks(cpu, system.now());
        let mut idle = system.nr_running(cpu) == 0;
        let mut next = now.saturating_add(self.loads.ticks_of(Span::from_ms(60_000)));
        for level in 0..self.domains.len() {
            let interval = self.interval(level, cpu, !idle);
            let mut designated = true;
            if now >= self.progress[level][cpu].last.saturating_add(interval) {
                let situation = if idle { Situation::Idle } else { Situation::Busy };
                let attempt = self.load_balance(system, level, cpu, situation);
                designated = attempt != Attempt::NotDesignated;
                // An idle thread beside a busy one of its core also counts as busy above.
                idle &= attempt != Attempt::Moved && !self.sibling_busy(system, level, cpu);
                self.progress[level][cpu].last = now;
            }
            next = next.min(self.progress[level][cpu].last.saturating_add(interval));
            if !designated {
                break;
            }
        }
        self.next_balance[cpu] = next.max(now + 1);
    }

    /// Ticks between attempts at a level; at least one, at most a tenth of a second per cpu of a kernel built
    /// for 64 or more (`HZ * NR_CPUS / 10`).
    fn interval(&self, level: usize, cpu: CpuId, busy: bool) -> u64 {
        let factor = if busy { self.domains[level].template.busy_factor } else { 1 };
        let ms = self.progress[level][cpu].interval_ms.saturating_mul(factor);
        let cap = 100 * self.armed.len().max(64) as u64;
        self.loads.ticks_of(Span::from_ms(ms.min(cap)))
    }

    fn sibling_busy(&self, view: &dyn View, level: usize, cpu: CpuId) -> bool {
        let domain = &self.domains[level];
        let others = domain.members(cpu).map(CpuId).filter(|other| *other != cpu);
        domain.template.share_cpu_power && others.into_iter().any(|other| view.nr_running(other) > 0)
    }

    /// One attempt at one level, with its consequences for the next ones (`load_balance`).
    pub(super) fn load_balance(
        &mut self,
        system: &mut dyn System,
        level: usize,
        me: CpuId,
        as_a: Situation,
    ) -> Attempt {
        let attempt = self.attempt(system, level, me, as_a);
        let template = self.domains[level].template;
        let failed = self.progress[level][me].failed;
        let (failed, longer) = match attempt {
            Attempt::Moved => (0, false),
            Attempt::Failed(busiest) if failed + 1 > template.cache_nice_tries + 2 => {
                let (pushed, pinned) = self.push(system, level, me, busiest);
                let failed = if pinned { failed + 1 } else { template.cache_nice_tries + 1 };
                (failed, pushed || pinned)
            }
            Attempt::Failed(_) => (failed + 1, false),
            Attempt::Balanced | Attempt::NotDesignated | Attempt::Pinned => (0, true),
        };
        let progress = &mut self.progress[level][me];
        progress.failed = failed;
        if !longer {
            progress.interval_ms = template.min_ms;
        } else if progress.interval_ms < template.max_ms
            || (attempt == Attempt::Pinned && progress.interval_ms < MAX_PINNED_MS)
        {
            progress.interval_ms = progress.interval_ms.saturating_mul(2);
        }
        attempt
    }

    /// Looks for a queue and pulls from it; queues whose tasks are all pinned elsewhere are left out and the
    /// search repeated.
    fn attempt(&mut self, system: &mut dyn System, level: usize, me: CpuId, as_a: Situation) -> Attempt {
        self.excluded = CpuSet::default();
        loop {
            let (from, imbalance) = match self.find_busiest(system, level, me, as_a) {
                Finding::Pull { from, imbalance } => (from, imbalance),
                Finding::NotDesignated => return Attempt::NotDesignated,
                Finding::Balanced if self.excluded.is_empty() => return Attempt::Balanced,
                Finding::Balanced => return Attempt::Pinned,
            };
            let queues = from.map(CpuId).filter(|cpu| !self.excluded.contains(*cpu));
            let Some(busiest) = busiest_queue(system, queues, imbalance) else {
                return if self.excluded.is_empty() { Attempt::Balanced } else { Attempt::Pinned };
            };
            if system.nr_running(busiest) <= 1 {
                return Attempt::Failed(busiest);
            }
            match self.pull(system, level, me, busiest, imbalance) {
                Pulled::Some => return Attempt::Moved,
                Pulled::None => return Attempt::Failed(busiest),
                Pulled::AllPinned if !self.rules.leaves_out_pinned => return Attempt::Pinned,
                Pulled::AllPinned => self.excluded.insert(busiest),
            }
        }
    }

    /// Moves waiting tasks worth `imbalance` from `busiest` to `me`, newest first (`move_tasks`,
    /// `balance_tasks`).
    pub(super) fn pull(
        &mut self,
        system: &mut dyn System,
        level: usize,
        me: CpuId,
        busiest: CpuId,
        imbalance: u64,
    ) -> Pulled {
        // Group scheduling scales the amount by W / (W + 1): an amount of exactly half a task moves none.
        let (load, halves) = (load_of(system, busiest), self.rules.halves);
        let mut remaining = if halves { imbalance.saturating_mul(load) / (load + 1) } else { imbalance };
        // The best task of `me`, which is idle or has one; not known where it does not matter.
        let mut best_here = if halves { u64::MAX } else { heaviest(system, &mut self.waiting, me) };
        let best_there = if halves { 0 } else { heaviest(system, &mut self.waiting, busiest) };
        let mut waiting = std::mem::take(&mut self.waiting);
        system.queued(busiest, self.options.nr_migrate, &mut waiting);
        // Tasks too heavy for the amount are passed over before their affinity is visible: they count as
        // pinned.
        let running = system.current(busiest);
        let mut best_stays = running.is_some_and(|task| weight_of(system, task) == best_there);
        // 2.6.18: a task that would be the best one of `me` goes whatever its weight, unless it is the only
        // one of `busiest` that is as good (`busiest_best_prio_seen`).
        let heavy = |weight: u64, remaining: u64, best_here: u64, best_stays: bool| {
            let over = if halves { weight / 2 > remaining } else { weight > remaining };
            over && (weight <= best_here || (weight == best_there && !best_stays))
        };
        let fits = |task: TaskId| {
            let weight = weight_of(system, task);
            !heavy(weight, remaining, best_here, best_stays)
        };
        let running_allowed = running.is_some_and(|task| fits(task) && system.allowed(task, me));
        let mut result = if running_allowed || remaining == 0 { Pulled::None } else { Pulled::AllPinned };
        for task in waiting.iter().copied() {
            let weight = weight_of(system, task);
            if remaining == 0 {
                break;
            }
            if heavy(weight, remaining, best_here, best_stays) || !system.allowed(task, me) {
                best_stays |= weight == best_there;
                continue;
            }
            let movable = self.movable(system, level, me, task) && system.migrate(task, me, self.why);
            best_stays |= !movable && weight == best_there;
            best_here = if movable { best_here.max(weight) } else { best_here };
            result = if movable || result == Pulled::Some { Pulled::Some } else { Pulled::None };
            remaining = if movable { remaining.saturating_sub(weight) } else { remaining };
        }
        self.waiting = waiting;
        result
    }

    /// Cold enough, or there were enough failures (`can_migrate_task`).
    fn movable(&self, view: &dyn View, level: usize, me: CpuId, task: TaskId) -> bool {
        let seen = view.task(task);
        let hot = seen.buddy || view.now().since(seen.last_ran) < self.options.migration_cost;
        !hot || self.progress[level][me].failed > self.domains[level].template.cache_nice_tries
    }

    /// Active balancing: `busiest`'s migration thread hands its newest task to `me`, the one it displaced
    /// included. Returns whether the thread was woken, and whether it was not because the running task is
    /// pinned elsewhere.
    fn push(&mut self, system: &mut dyn System, level: usize, me: CpuId, busiest: CpuId) -> (bool, bool) {
        let Some(running) = system.current(busiest).filter(|_| self.options.active) else {
            return (false, false);
        };
        if !system.allowed(running, me) {
            return (false, true);
        }
        let failed = self.progress[level][me].failed + 1;
        // By the time it runs it counts itself in the queue, so even a lone task can be pushed.
        self.progress[level][me].failed = self.domains[level].template.cache_nice_tries + 1;
        let mut waiting = std::mem::take(&mut self.waiting);
        system.queued(busiest, usize::MAX, &mut waiting);
        waiting.push(running);
        let candidates = waiting.iter().copied().filter(|task| system.allowed(*task, me));
        let newest = candidates.max_by_key(|task| system.task(*task).entered);
        self.waiting = waiting;
        if let Some(task) = newest.filter(|task| system.task(*task).state != TaskState::Exited) {
            let tries = u64::from(self.domains[level].template.cache_nice_tries);
            let why = Why::rule(rules::PUSHED).with("failed attempts", u64::from(failed));
            system.migrate(task, me, why.with("cache_nice_tries", tries));
        }
        (true, false)
    }

    /// A cpu is about to go idle (`idle_balance`): pulls at the levels that do so, and brings its next
    /// ordinary attempt forward. In 2.6.27 and 2.6.28 the walk ends at the first level without new-idle
    /// balancing unless a lower one found nothing: the flag "something was pulled" starts out as set.
    pub(super) fn new_idle(&mut self, system: &mut dyn System, cpu: CpuId) {
        let now = self.loads.ticks(cpu, system.now());
        let mut next = now.saturating_add(self.loads.ticks_of(Span::from_ms(1_000)));
        let mut pulled = !self.rules.newidle_walks_on;
        for level in 0..self.domains.len() {
            let here = match self.options.newidle {
                NewIdle::Kernel => self.domains[level].template.newidle,
                NewIdle::All => true,
                NewIdle::Off => false,
            };
            if here {
                let attempt = self.attempt(system, level, cpu, Situation::NewlyIdle);
                pulled = attempt == Attempt::Moved || self.sibling_busy(system, level, cpu);
                if !matches!(attempt, Attempt::Failed(_)) {
                    self.progress[level][cpu].failed = 0;
                }
            }
            let due = self.progress[level][cpu].last.saturating_add(self.interval(level, cpu, false));
            next = next.min(due);
            if pulled {
                break;
            }
        }
        if pulled || self.rules.newidle_resets || now > self.next_balance[cpu] {
            self.next_balance[cpu] = next;
        }
    }
}

/// The largest weight of the tasks of a cpu.
fn heaviest(system: &mut dyn System, waiting: &mut Vec<TaskId>, cpu: CpuId) -> u64 {
    if system.nr_running(cpu) == 0 {
        return 0;
    }
    system.queued(cpu, usize::MAX, waiting);
    waiting.extend(system.current(cpu));
    waiting.iter().map(|task| weight_of(system, *task)).max().unwrap_or(0)
}

/// The longest queue (`find_busiest_queue`): a single task heavier than the amount to move is no candidate.
fn busiest_queue(view: &dyn View, queues: impl Iterator<Item = CpuId>, imbalance: u64) -> Option<CpuId> {
    let mut best: Option<(u64, CpuId)> = None;
    for cpu in queues {
        let weight = load_of(view, cpu);
        let lone_and_heavy = view.nr_running(cpu) == 1 && weight > imbalance;
        if !lone_and_heavy && weight > best.map_or(0, |(most, _)| most) {
            best = Some((weight, cpu));
        }
    }
    best.map(|(_, cpu)| cpu)
}
