//! Looks of a cpu that goes idle: `sched_balance_newidle`, `update_newidle_cost` and `update_newidle_stats`
//! of Linux 5.5 to 7.1.

use sim_core::ids::CpuId;
use sim_core::policy::System;
use sim_core::time::{Span, Time};

use super::GroupTypes;
use crate::attempt::{Attempt, Situation};
use kernels::Failing;

/// Dice have so many sides, and after so many calls the success rate is taken anew.
const CALLS: u64 = 1024;

/// What a cpu remembers of its looks at a level.
#[derive(Clone, Copy, Debug)]
pub(super) struct Looks {
    /// The highest cost of a look (`max_newidle_lb_cost`), nanoseconds.
    pub(super) cost: u64,
    /// When it was last raised or lowered.
    changed: Time,
    /// `newidle_call`, `newidle_success`, `newidle_ratio`, of 1,024.
    calls: u64,
    successes: u64,
    pub(super) ratio: u64,
    /// When the ratio was last taken (`newidle_stamp`).
    taken: Time,
}

impl Looks {
    /// Half of the looks at first, each of this cost.
    pub(super) const fn new(cost: u64) -> Self {
        let (changed, taken) = (Time::ZERO, Time::ZERO);
        Self { cost, changed, calls: CALLS / 2, successes: CALLS / 4, ratio: CALLS / 2, taken }
    }

    /// A look has cost so much (`update_newidle_cost`); 0 where nothing was done. The maximum falls if it was
    /// not changed for a second.
    pub(super) const fn costs(&mut self, now: Time, cost: u64) {
        if cost > self.cost {
            (self.cost, self.changed) = (cost, now);
        } else if now.since(self.changed).ns() > Span::from_ms(1_000).ns() {
            (self.cost, self.changed) = (self.cost * 253 / 256, now);
        }
    }

    /// A look, or one that the dice forbade; `success`: 0, or the looks that it stands for
    /// (`update_newidle_stats`).
    pub(super) fn count(&mut self, now: Time, success: u64, by_rate: bool) {
        self.calls += 1;
        self.successes += success;
        if self.calls >= CALLS {
            let passed = now.since(self.taken).ns();
            self.taken = now;
            let bonus = if by_rate { passed >> 22 } else { 0 };
            self.ratio = (self.successes + bonus).min(CALLS);
            self.calls /= 2;
            self.successes /= 2;
        }
    }

    /// How many looks one stands for, if the throw of the dice (below 1,024) allows it.
    pub(super) const fn allowed(&self, throw: u64) -> Option<u64> {
        let weight = 1 + self.ratio;
        if throw > weight { None } else { Some((CALLS + weight / 2) / weight) }
    }
}

impl GroupTypes {
    /// A cpu is about to go idle: pulls one task from the nearest level that has one to give, as long as the
    /// look costs less than the cpu's idle times, and brings its next ordinary attempt forward.
    pub(super) fn new_idle(&mut self, system: &mut dyn System, cpu: CpuId) {
        let now = self.ticks.number(cpu, system.now());
        let mut next = now.saturating_add(self.ticks.of(Span::from_ms(1_000)));
        let long = !self.rules.idle_for_migration_cost
            || self.cpus[cpu].avg_idle >= self.options.migration_cost.ns();
        let looks = self.options.newidle && long && (self.overloaded > 0 || self.unequal.seen);
        let mut spent = 0;
        for level in 0..self.domains.len() {
            if !self.domains[level].divides(cpu) {
                continue;
            }
            next = next.min(self.due(level, cpu, false));
            if !looks || self.cpus[cpu].avg_idle < spent + self.looks[level][cpu].cost {
                break;
            }
            if self.look(system, level, cpu, &mut spent) {
                break;
            }
        }
        let record = &mut self.cpus[cpu];
        record.next_balance = record.next_balance.min(next.max(now + 1));
    }

    /// Looks at a level, unless the dice forbid it; whether a task came.
    fn look(&mut self, system: &mut dyn System, level: usize, cpu: CpuId, spent: &mut u64) -> bool {
        let (now, failing) = (system.now(), self.rules.failing);
        let by_rate = failing == Failing::RandomByRate;
        let mut weight = 1;
        if by_rate || failing == Failing::Random {
            let throw = self.dice[cpu].below(CALLS);
            let Some(stands_for) = self.looks[level][cpu].allowed(throw) else {
                self.looks[level][cpu].count(now, 0, by_rate);
                return false;
            };
            weight = stands_for;
        }
        let moved = self.load_balance(system, level, cpu, Situation::NewlyIdle) == Attempt::Moved;
        let cost = self.pass_cost(level, cpu);
        *spent += cost;
        let dearest = self.options.migration_cost.ns() + 200;
        let looks = &mut self.looks[level][cpu];
        looks.count(now, if moved { weight } else { 0 }, by_rate);
        let raised = (looks.cost * 3 / 2).min(dearest);
        let counted = if failing == Failing::More && !moved { cost.max(raised) } else { cost };
        if self.rules.look_cost_fades {
            looks.costs(now, counted);
        } else {
            looks.cost = looks.cost.max(counted);
        }
        moved
    }

    /// The assumed cost of a look at a level, nanoseconds.
    pub(super) fn pass_cost(&self, level: usize, cpu: CpuId) -> u64 {
        self.options.newidle_cost.ns() * u64::from(self.domains[level].span(cpu))
    }
}
