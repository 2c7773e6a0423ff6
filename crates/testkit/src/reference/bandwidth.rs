//! Limits of the cpu time of task groups in the reference engine.

use sim_core::policy::THROTTLED;
use sim_core::rng::{Purpose, below, draw, key};

use super::queue::Entry;
use super::records::Ent;
use super::state::KERNEL;
use super::{Change, Reference, Timer};

impl Reference<'_> {
    /// The first periods of limited groups, and their full pools.
    pub(super) fn open_pools(&mut self) {
        for g in 0..self.model.groups.len() {
            self.pools.push(0);
            if let Some(limit) = self.model.groups[g].limit {
                let drawn = draw(key(self.options.seed, Purpose::Bandwidth, g as u64), 0);
                self.arm(below(limit.period.ns(), drawn), Timer::Period(g));
                self.pools[g] = limit.quota.ns() as i64;
            }
        }
    }

    /// Time goes from the pool to a cpu until it has `target`; is there any now?
    fn draw_time(&mut self, c: usize, g: usize, target: i64) -> bool {
        let group = &mut self.cpus[c].groups[g];
        let amount = self.pools[g].clamp(0, target - group.left);
        group.left += amount;
        self.pools[g] -= amount;
        group.left > 0
    }

    /// A group has run for a span; true when it has to stop.
    pub(super) fn spend(&mut self, c: usize, e: Ent, span: u64) -> bool {
        let Ent::Group(g) = e else { return false };
        if self.model.groups[g].limit.is_none() {
            return false;
        }
        let group = &mut self.cpus[c].groups[g];
        group.left -= span as i64;
        group.throttled.is_some() || (group.left <= 0 && !self.draw_time(c, g, 5_000_000))
    }

    /// The last one of a group has left a cpu: all but a millisecond goes back.
    pub(super) fn return_time(&mut self, c: usize, g: usize) {
        let spare = self.cpus[c].groups[g].left - 1_000_000;
        if self.model.groups[g].limit.is_some() && spare > 0 {
            self.cpus[c].groups[g].left = 1_000_000;
            self.pools[g] += spare;
        }
    }

    fn is_throttled(&self, c: usize, t: usize) -> bool {
        let is = |e: Ent| matches!(e, Ent::Group(g) if self.cpus[c].groups[g].throttled.is_some());
        self.around(c, Ent::Task(t)).into_iter().any(is)
    }

    /// Must a task that is picked stop because a group around it has no time?
    pub(super) fn is_out_of_time(&mut self, c: usize, t: usize) -> bool {
        for e in self.around(c, Ent::Task(t)) {
            if let Ent::Group(g) = e
                && self.model.groups[g].limit.is_some()
                && self.cpus[c].groups[g].throttled.is_none()
                && self.cpus[c].groups[g].left <= 0
                && !self.draw_time(c, g, 1)
            {
                self.cpus[c].groups[g].throttled = Some(self.now);
            }
        }
        self.is_throttled(c, t)
    }

    /// A runnable task counts unless its group is throttled.
    pub(super) fn counts(&self, t: usize) -> bool {
        self.model.groups.is_empty() || self.tasks[t].priority != THROTTLED
    }

    /// A period of a group begins.
    pub(super) fn begin_period(&mut self, g: usize) {
        let Some(limit) = self.model.groups[g].limit else { return };
        self.arm(self.now + limit.period.ns(), Timer::Period(g));
        let quota = limit.quota.ns() as i64;
        self.pools[g] = (quota + limit.burst.ns() as i64).min(self.pools[g] + quota);
        if self.model.discipline.bandwidth().is_some_and(|rules| rules.expires) {
            for c in 0..self.cpus.len() {
                if self.cpus[c].groups[g].chosen {
                    self.charge(c);
                    self.mark(c);
                }
                self.cpus[c].groups[g].left = self.cpus[c].groups[g].left.min(0);
            }
        }
        let mut waiting: Vec<(u64, usize)> = Vec::new();
        for c in 0..self.cpus.len() {
            waiting.extend(self.cpus[c].groups[g].throttled.map(|since| (since, c)));
        }
        waiting.sort_unstable();
        for (_, c) in waiting {
            if self.draw_time(c, g, 1) {
                self.cpus[c].groups[g].throttled = None;
                self.let_in(c);
            }
        }
    }

    /// Tasks that were throttled enter again.
    fn let_in(&mut self, c: usize) {
        self.charge(c);
        let idle = self.cpus[c].current.is_none() && self.in_order(c).is_empty();
        for t in self.cpus[c].queue.clone() {
            if self.tasks[t].priority == THROTTLED && !self.is_throttled(c, t) {
                self.remove(c, t);
                self.tasks[t].priority = 0;
                match self.grouped() {
                    Some(params) => self.enter_around(&params, c, t, None),
                    None => self.place(c, t, Entry::Wake),
                }
                self.insert(c, t);
                self.notices.push((t, c, Change::Entered));
            }
        }
        self.cpus[c].deferred.0[KERNEL] += self.machine.costs.ipi.ns();
        if idle {
            self.cpus[c].deferred.0[KERNEL] += self.idle_exit(c);
        }
        self.mark(c);
    }
}
