//! When a cpu balances, and what comes of an attempt: `sched_balance_domains`, the end of `sched_balance_rq`
//! and active balancing of Linux 6.x.

use sim_core::ids::CpuId;
use sim_core::policy::{System, Why};
use sim_core::time::Span;

use super::{GroupTypes, rules};
use crate::attempt::{Attempt, MAX_PINNED_MS, Situation};
use kernels::ActiveBalance;

/// What became of active balancing.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Pushed {
    /// The stopper moved a task.
    Yes,
    /// It found none.
    No,
    /// It was not woken: the running task may not come.
    Forbidden,
}

impl GroupTypes {
    /// One balancing pass of a cpu at its tick, lowest level first.
    pub(super) fn rebalance(&mut self, system: &mut dyn System, cpu: CpuId) {
        let now = self.ticks.number(cpu, system.now());
        let mut idle = system.nr_running(cpu) == 0;
        let mut next = now.saturating_add(self.ticks.of(Span::from_ms(60_000)));
        for level in 0..self.domains.len() {
            if !self.domains[level].divides(cpu) {
                continue;
            }
            if self.rules.look_cost_fades {
                self.looks[level][cpu].costs(system.now(), 0);
            }
            let mut designated = true;
            if now >= self.due(level, cpu, !idle) {
                let situation = if idle { Situation::Idle } else { Situation::Busy };
                let attempt = self.load_balance(system, level, cpu, situation);
                designated = attempt != Attempt::NotDesignated;
                idle = system.nr_running(cpu) == 0;
                self.progress[level][cpu].last = Some(now);
            }
            next = next.min(self.due(level, cpu, !idle));
            if !designated {
                break;
            }
        }
        self.cpus[cpu].next_balance = next.max(now + 1);
    }

    /// Tick number of the next attempt at a level.
    pub(super) fn due(&self, level: usize, cpu: CpuId, busy: bool) -> u64 {
        let interval = self.interval(level, cpu, busy);
        self.progress[level][cpu].last.map_or(0, |last| last.saturating_add(interval))
    }

    /// Ticks between attempts at a level; a busy cpu's may be one tick off, so that levels do not stay in
    /// step.
    pub(super) fn interval(&self, level: usize, cpu: CpuId, busy: bool) -> u64 {
        let factor = if busy { self.rules.busy_factor } else { 1 };
        let ms = self.progress[level][cpu].interval_ms.saturating_mul(factor);
        let ticks = self.ticks.of(Span::from_ms(ms)) - u64::from(busy && self.rules.busy_less_a_tick);
        let cap = self.ticks.of(Span::from_ms(100 * self.cpus.len() as u64));
        ticks.clamp(1, cap)
    }

    /// One attempt at one level, with its consequences for the next ones.
    pub(super) fn load_balance(
        &mut self,
        system: &mut dyn System,
        level: usize,
        me: CpuId,
        as_a: Situation,
    ) -> Attempt {
        let attempt = self.attempt(system, level, me, as_a);
        let tries = self.domains[level].cache_nice_tries();
        let mut progress = self.progress[level][me];
        let mut longer = false;
        match attempt {
            Attempt::Moved => progress.failed = 0,
            Attempt::Failed(busiest) => {
                // A cpu about to go idle does this too often to count, and a task that is too large for its
                // cpu is no sign of uneven queues.
                progress.failed += u32::from(as_a != Situation::NewlyIdle && !self.flags.misfit);
                let any = self.rules.active_balance == ActiveBalance::Any;
                let uneven = (any || self.flags.by_tasks) && progress.failed > tries + 2;
                let unequal = self.flags.misfit || self.flags.packs;
                if self.options.active && (uneven || unequal) {
                    let pushed = self.push(system, me, busiest, (progress.failed, tries));
                    match pushed {
                        Pushed::Yes => progress.failed = 0,
                        Pushed::No if any => progress.failed = tries + 1,
                        Pushed::No | Pushed::Forbidden => {}
                    }
                    longer = pushed == Pushed::Forbidden || (any && !unequal);
                }
            }
            Attempt::Balanced | Attempt::NotDesignated | Attempt::Pinned => {
                progress.failed = 0;
                longer = true;
                if !self.flags.all_pinned {
                    self.mark(level, me, false);
                }
            }
        }
        let shortest = self.options.scaled(self.domains[level].span(me));
        if !longer {
            progress.interval_ms = shortest;
        } else if as_a != Situation::NewlyIdle
            && (progress.interval_ms < 2 * shortest
                || (self.flags.all_pinned && progress.interval_ms < MAX_PINNED_MS))
        {
            progress.interval_ms = progress.interval_ms.saturating_mul(2);
        }
        self.progress[level][me] = progress;
        attempt
    }

    /// Sets or clears the mark of the own group at the level above: the level below could not even it out
    /// because of masks.
    pub(super) fn mark(&mut self, level: usize, me: CpuId, uneven: bool) {
        let above = self.domains.iter().skip(level + 1).find(|above| above.divides(me));
        if let Some(above) = above {
            self.marked[above.level][above.groups.part(me) as usize] = uneven;
        }
    }

    /// Active balancing: the stopper of `busiest` hands over its oldest waiting task, or the one it
    /// displaced. `failed`: the attempts that failed, and `cache_nice_tries` of the level.
    fn push(
        &mut self,
        system: &mut dyn System,
        me: CpuId,
        busiest: CpuId,
        (failed, tries): (u32, u32),
    ) -> Pushed {
        let Some(running) = system.current(busiest) else {
            return Pushed::No;
        };
        if !system.allowed(running, me) {
            return Pushed::Forbidden;
        }
        self.flags.all_pinned = false;
        let tasks = self.oldest_first(system, busiest);
        let task = tasks.iter().copied().find(|task| system.allowed(*task, me));
        self.waiting = tasks;
        let rule = match &self.flags {
            flags if flags.packs => rules::PUSHED_PACKING,
            flags if flags.misfit => rules::PUSHED_MISFIT,
            _ => rules::PUSHED,
        };
        let why = Why::rule(rule).with("failed attempts", u64::from(failed));
        let why = why.with("cache_nice_tries", u64::from(tries));
        if task.is_some_and(|task| system.migrate(task, me, why)) { Pushed::Yes } else { Pushed::No }
    }
}
