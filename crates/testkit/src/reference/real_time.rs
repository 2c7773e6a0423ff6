//! The real-time class in the reference engine: its tasks wait in a list of their own, beside the queue.

use sim_core::ids::{CpuId, TaskId};
use sim_core::machine::{Level, Topology};
use sim_core::os::RealTimeRules;
use sim_core::policy::{Affinity, Placement, THROTTLED};
use sim_core::program::Scheduling;
use sim_core::rng::{Purpose, below, draw, key};

use super::queue::Entry;
use super::server::RefServer;
use super::server::Standing;
use super::state::{Activity, KERNEL, NEVER};
use super::{Change, Reference, Timer};

impl Reference<'_> {
    /// The rules, in a run with real-time tasks.
    pub(super) fn class(&self) -> Option<RealTimeRules> {
        self.model.real_time.filter(|_| self.real_time)
    }

    /// The priority of a task of the class: above all others the earlier of two deadlines.
    pub(super) fn class_priority(&self, t: usize) -> Option<i64> {
        let reserved = self.reserve(t).map(|_| (1 << 62) - self.tasks[t].reserve.deadline as i64);
        reserved.or(self.tasks[t].scheduling.priority().map(i64::from))
    }

    /// It goes before all tasks that are not of the class.
    fn goes_first(&self, c: usize, t: usize) -> bool {
        let above = self.reserve(t).is_some() || self.cpus[c].class.standing() == Standing::Above;
        self.in_class(t) && above && !self.is_spent(t)
    }

    pub(super) fn in_class(&self, t: usize) -> bool {
        self.class_priority(t).is_some()
    }

    /// The current task of a cpu, if it is of the class.
    pub(super) fn class_current(&self, c: usize) -> Option<usize> {
        self.cpus[c].current.filter(|t| self.in_class(*t))
    }

    /// The current task of a cpu, if it is not.
    pub(super) fn fair_current(&self, c: usize) -> Option<usize> {
        self.cpus[c].current.filter(|t| !self.in_class(*t))
    }

    /// All runnable tasks of a cpu.
    pub(super) fn everyone(&self, c: usize) -> impl Iterator<Item = usize> + '_ {
        let cpu = &self.cpus[c];
        let class = cpu.class.line.iter().chain(&cpu.class.parked).copied();
        cpu.current.into_iter().chain(class).chain(cpu.queue.iter().copied())
    }

    /// Everybody who waits and may run, who goes first being first.
    pub(super) fn in_order(&self, c: usize) -> Vec<usize> {
        let line = self.cpus[c].class.line.iter().copied();
        let (mut order, line): (Vec<usize>, Vec<usize>) = line.partition(|t| self.reserve(*t).is_some());
        let able = self.able(c);
        match self.cpus[c].class.standing() {
            Standing::Above => order.extend(line.into_iter().chain(able)),
            Standing::Below => order.extend(able.into_iter().chain(line)),
            Standing::Stopped => order.extend(able),
        }
        order
    }

    /// The best priority of the class on a cpu; 0 if it has none there.
    fn top(&self, c: usize) -> i64 {
        let all = self.everyone(c).filter(|t| !self.is_spent(*t));
        all.filter_map(|t| self.class_priority(t)).max().unwrap_or(0)
    }

    pub(super) fn join_line(&mut self, c: usize, t: usize) {
        let (mine, front) = (self.class_priority(t), std::mem::take(&mut self.tasks[t].front));
        let before = |other: &usize| {
            let theirs = self.class_priority(*other);
            theirs > mine || (!front && theirs == mine)
        };
        let class = &self.cpus[c].class;
        let line = if self.is_spent(t) { &class.parked } else { &class.line };
        let at = line.iter().filter(|other| before(other)).count();
        let class = &mut self.cpus[c].class;
        let line = if self.tasks[t].is_spent() { &mut class.parked } else { &mut class.line };
        line.insert(at, t);
    }

    /// An equal waits for its turn.
    fn has_turns(&self, c: usize) -> bool {
        let Some(me) = self.class_current(c) else { return false };
        let first = self.cpus[c].class.line.first();
        matches!(self.tasks[me].scheduling, Scheduling::RoundRobin(_))
            && first.is_some_and(|first| self.class_priority(*first) == self.class_priority(me))
    }

    fn is_limited(&self) -> bool {
        self.class().is_some_and(|rules| rules.runtime < rules.period)
    }

    /// Whether a tick at `at` ends a turn or the runtime of the class.
    pub(super) fn class_is_over(&self, c: usize, at: u64) -> bool {
        let (Some(me), Some(rules)) = (self.class_current(c), self.class()) else { return false };
        let more = at.saturating_sub(self.cpus[c].charged);
        if self.reserve(me).is_some() {
            return self.runtime_is_over(c, me, at);
        }
        let used_up = self.is_limited() && self.cpus[c].class.ran + more > rules.runtime.ns();
        used_up || (self.has_turns(c) && self.tasks[me].used + more >= self.turn_of(rules))
    }

    /// A quantum to the nearest tick.
    fn turn_of(&self, rules: RealTimeRules) -> u64 {
        rules.quantum.ns().saturating_sub(self.model.tick.ns() / 2).max(1)
    }

    /// Somebody may run who is not of the class.
    pub(super) fn fair_ones(&self, c: usize) -> bool {
        let current = self.fair_current(c).filter(|t| self.tasks[*t].priority != THROTTLED);
        current.is_some() || !self.able(c).is_empty()
    }

    /// The next instant at which the fair server interrupts a task of the class.
    pub(super) fn server_interrupts(&self, c: usize) -> u64 {
        let computes = matches!(self.cpus[c].activity, Activity::Compute | Activity::Spin);
        let at = self.server_at(c).min(self.runtime_end(c));
        if computes && self.class_current(c).is_some() { at } else { NEVER }
    }

    /// How the class of a cpu stands has changed.
    pub(super) fn stands_anew(&mut self, c: usize) {
        let class = &self.cpus[c].class;
        let waits = !class.line.is_empty() && class.standing() == Standing::Above;
        if self.class_current(c).is_some() || (self.cpus[c].current.is_some() && waits) {
            self.cpus[c].resched = true;
        }
    }

    /// The current task of the class has run until now.
    pub(super) fn run_class(&mut self, c: usize, t: usize) {
        let Some(rules) = self.class() else { return };
        let span = self.now.saturating_sub(self.cpus[c].charged);
        self.cpus[c].charged += span;
        let reserved = self.reserve(t).is_some();
        if reserved {
            self.reserve_runs(c, t, span);
        } else {
            self.tasks[t].used += span;
            if !self.has_turns(c) {
                self.tasks[t].used %= rules.quantum.ns();
            }
        }
        // Those with reservations take what is left.
        if self.is_limited() && (!reserved || self.cpus[c].class.ran < rules.runtime.ns()) {
            self.cpus[c].class.ran += span;
        }
        if self.now >= self.server_at(c) && !self.cpus[c].resched {
            self.cpus[c].resched = true;
            self.mark(c);
        }
    }

    /// The class of a cpu has run for too long.
    pub(super) fn stops_class(&mut self, c: usize) -> bool {
        let Some(rules) = self.class() else { return false };
        if self.class_current(c).is_some_and(|t| self.reserve(t).is_some()) {
            return false;
        }
        let over = self.is_limited() && self.cpus[c].class.ran > rules.runtime.ns();
        if over && !std::mem::replace(&mut self.cpus[c].class.stopped, true) {
            self.stands_anew(c);
        }
        over
    }

    /// A task without another cpu enters beside an equal that has one: it goes first.
    pub(super) fn overtakes(&mut self, c: usize, t: usize, entry: Entry) -> bool {
        let Some(other) = self.class_current(c).filter(|_| entry != Entry::Move) else { return false };
        let pinned_first = self.class().is_some_and(|rules| rules.pinned_first);
        let reserved = self.reserve(t).is_some();
        if !pinned_first
            || reserved
            || self.cpus[c].resched
            || self.class_priority(other) != self.class_priority(t)
        {
            return false;
        }
        let first = self.lowest(other, c, c).is_some() && self.lowest(t, c, c).is_none();
        if first {
            self.remove(c, t);
            self.tasks[t].front = true;
            self.join_line(c, t);
            self.cpus[c].class.ahead = Some(t);
        }
        first
    }

    /// A tick, or another interrupt: limits and turns.
    pub(super) fn look_at_class(&mut self, c: usize, tick: bool) {
        let Some(rules) = self.class() else { return };
        if let Some(t) = self.class_current(c) {
            if self.reserve_is_over(c, t) || (tick && self.stops_class(c)) {
                return;
            }
            if tick && self.has_turns(c) && self.tasks[t].used >= self.turn_of(rules) {
                self.tasks[t].used = 0;
                self.tasks[t].expired = true;
                self.cpus[c].resched = true;
            }
            if self.now >= self.server_at(c) {
                self.tell_server(c, RefServer::timer);
            }
        }
    }

    /// Does a task that enters take the cpu, as far as the class decides? None: the discipline does.
    pub(super) fn class_takes(&self, c: usize, t: usize) -> Option<bool> {
        let (mine, standing) = (self.class_priority(t), self.cpus[c].class.standing());
        let stopped = self.reserve(t).is_none() && standing == Standing::Stopped;
        if mine.is_some() && (stopped || self.is_spent(t)) {
            return Some(false);
        }
        let current = self.cpus[c].current?;
        let theirs = self.class_priority(current);
        match (mine, theirs) {
            (None, None) => None,
            (Some(_), Some(_)) if self.is_spent(current) => Some(true),
            (Some(mine), Some(theirs)) => Some(mine > theirs),
            (Some(_), None) => Some(self.goes_first(c, t)),
            (None, Some(_)) => Some(!self.goes_first(c, current)),
        }
    }

    /// Who runs next, if the class decides that.
    pub(super) fn class_choice(&self, c: usize) -> Option<usize> {
        let class = &self.cpus[c].class;
        let may = |t: &usize| match class.standing() {
            _ if self.is_spent(*t) => false,
            _ if self.reserve(*t).is_some() => true,
            Standing::Above => true,
            Standing::Below => !self.fair_ones(c),
            Standing::Stopped => false,
        };
        let (current, first) = (self.class_current(c).filter(may), class.line.first().copied().filter(may));
        match (current, first) {
            (Some(current), Some(first)) => {
                let (mine, theirs) = (self.class_priority(current), self.class_priority(first));
                let equal = mine == theirs && class.ahead != Some(first);
                let stays = mine > theirs || (equal && self.tasks[current].front);
                Some(if stays { current } else { first })
            }
            (current, first) => current.or(first),
        }
    }

    /// The cpu of a task of the class that enters.
    pub(super) fn class_cpu(&self, t: usize, why: Placement) -> usize {
        let (own, near) = match why {
            Placement::Fork { parent } => (parent.0 as usize, parent.0 as usize),
            Placement::Wake { waker, previous } => (previous.0 as usize, waker.0 as usize),
        };
        let reserved = self.reserve(t).is_some();
        let above = self.class_current(own).filter(|current| !reserved || self.reserve(*current).is_some());
        let blocked = above.is_some_and(|current| {
            self.cpus_of(current).len() < 2 || self.class_priority(current) >= self.class_priority(t)
        });
        let lowest = if blocked { self.lowest(t, own, near) } else { None };
        let allowed = self.cpus_of(t);
        lowest.unwrap_or_else(|| if allowed.contains(&own) { own } else { allowed[0] })
    }

    fn cpus_of(&self, t: usize) -> Vec<usize> {
        let affinity: &Affinity = &self.tasks[t].affinity;
        (0..self.cpus.len()).filter(|c| affinity.allows(CpuId(*c as u32))).collect()
    }

    /// The cpu with the lowest priority, if that is lower than a task's: the nearest one.
    fn lowest(&self, t: usize, own: usize, near: usize) -> Option<usize> {
        let allowed = self.cpus_of(t);
        if allowed.len() < 2 {
            return None;
        }
        let reserved = self.reserve(t).is_some();
        // Of those with reservations no other task counts.
        let top = |c: usize| Some(self.top(c)).filter(|top| !reserved || *top > 99).unwrap_or(0);
        let least = allowed.iter().map(|c| top(*c)).min()?;
        if Some(least) >= self.class_priority(t) {
            return None;
        }
        let lowest: Vec<usize> = allowed.into_iter().filter(|c| top(*c) == least).collect();
        if lowest.contains(&own) {
            return Some(own);
        }
        for around in surroundings(&self.machine.topology, own as u32) {
            let inside = |c: &usize| around.contains(&(*c as u32));
            if lowest.contains(&near) && inside(&near) {
                return Some(near);
            }
            if let Some(first) = lowest.iter().copied().find(inside) {
                return Some(first);
            }
        }
        if lowest.contains(&near) { Some(near) } else { lowest.first().copied() }
    }

    /// Those who wait behind one of the class go where the priority is lower.
    pub(super) fn push_class(&mut self, c: usize) {
        loop {
            let Some(current) = self.class_current(c).filter(|t| self.goes_first(c, *t)) else { return };
            let mut line = self.cpus[c].class.line.iter().copied().filter(|t| self.goes_first(c, *t));
            let Some(next) = line.find(|t| self.cpus_of(*t).len() > 1) else { return };
            if self.class_priority(next) > self.class_priority(current) {
                return;
            }
            match self.lowest(next, c, c) {
                Some(to) if to != c => self.relocate(next, to),
                _ => return,
            }
        }
    }

    /// A cpu whose priority was `left` and has fallen gets better ones that wait elsewhere.
    pub(super) fn pull_class(&mut self, c: usize, left: i64) {
        if self.top(c) >= left {
            return;
        }
        for from in 0..self.cpus.len() {
            if from == c {
                continue;
            }
            let allowed = |t: usize| self.tasks[t].affinity.allows(CpuId(c as u32));
            let may = |t: &usize| self.goes_first(from, *t) && allowed(*t);
            let Some(next) = self.cpus[from].class.line.iter().copied().find(may) else { continue };
            let waits = self.class_current(from);
            let waits = waits.is_some_and(|t| self.class_priority(t) >= self.class_priority(next));
            if waits && self.class_priority(next) > Some(self.top(c)) {
                self.relocate(next, c);
            }
        }
    }

    /// A task of the class has entered, and may have to go on.
    pub(super) fn notice_entry(&mut self, t: usize, c: usize) {
        if self.real_time && self.in_class(t) && !self.cpus[c].resched {
            self.notices.push((t, c, Change::Crowded));
        }
    }

    /// A task of the class has the cpu, and others wait.
    pub(super) fn notice_crowd(&mut self, t: usize, c: usize) {
        // Of a cpu whose fair tasks go first, the first one that waits is none of the class.
        let first = self.in_order(c).first().copied().or(self.cpus[c].class.line.first().copied());
        if self.real_time && self.in_class(t) && first.is_some_and(|first| self.in_class(first)) {
            self.notices.push((t, c, Change::Crowded));
        }
    }

    /// The period of the limit begins with the first task.
    pub(super) fn start_period(&mut self, t: usize) {
        let starts = self.class().filter(|rules| rules.period_starts && self.is_limited());
        if let Some(rules) = starts.filter(|_| self.tasks[t].scheduling.priority().is_some())
            && !self.timers.iter().any(|(_, timer)| matches!(timer, Timer::Refill))
        {
            self.arm(self.now + rules.period.ns(), Timer::Refill);
        }
    }

    /// The first period of the limit.
    pub(super) fn arm_class(&mut self) {
        if let Some(rules) = self.class().filter(|rules| !rules.period_starts) {
            let drawn = draw(key(self.options.seed, Purpose::Bandwidth, u64::MAX), 0);
            self.arm(below(rules.period.ns(), drawn), Timer::Refill);
        }
    }

    /// A period of the limit begins.
    pub(super) fn refill_class(&mut self) {
        let Some(rules) = self.class() else { return };
        for c in 0..self.cpus.len() {
            self.charge(c);
            let idle = self.cpus[c].current.is_none() && self.in_order(c).is_empty();
            let class = &mut self.cpus[c].class;
            class.ran -= class.ran.min(rules.runtime.ns());
            let goes_on = class.stopped && class.ran < rules.runtime.ns();
            if goes_on {
                class.stopped = false;
                self.stands_anew(c);
                if idle {
                    self.cpus[c].deferred.0[KERNEL] += self.idle_exit(c);
                }
            }
            if goes_on || self.class_current(c).is_some() {
                self.mark(c);
            }
        }
        let ranked = |t: usize| self.tasks[t].scheduling.priority().is_some();
        let rests = |c: usize| self.cpus[c].class.ran == 0 && self.everyone(c).all(|t| !ranked(t));
        if !rules.period_starts || !(0..self.cpus.len()).all(rests) {
            self.arm(self.now + rules.period.ns(), Timer::Refill);
        }
    }

    /// Policies do not move it.
    pub(super) fn refuses(&self, task: TaskId) -> bool {
        self.real_time && self.in_class(task.0 as usize)
    }
}

/// The cpus around one, ever more of them: its core, cache, node and package.
fn surroundings(topology: &Topology, cpu: u32) -> Vec<std::ops::Range<u32>> {
    let levels = [Level::Core, Level::Cache, Level::Node, Level::Package];
    let mut around: Vec<_> =
        levels.into_iter().map(|level| topology.members(level, topology.group(level, CpuId(cpu)))).collect();
    around.sort_by_key(ExactSizeIterator::len);
    around
}
