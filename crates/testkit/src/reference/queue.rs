//! The run queue of a cpu as a sorted vector, and the disciplines' rules written down one by one.

use sim_core::os::{BuddyLimit, CfsParams, Discipline, StartDebit, YieldMode};
use sim_core::policy::THROTTLED;

use super::Reference;
use super::state::Activity;

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
    pub(super) fn key(&self, t: usize) -> (u8, i64) {
        let task = &self.tasks[t];
        (task.priority, if self.eevdf().is_some() { task.vdeadline } else { task.vruntime })
    }

    pub(super) fn cfs(&self) -> Option<&CfsParams> {
        match &self.model.discipline {
            Discipline::Cfs(params) => Some(params),
            _ => None,
        }
    }

    fn has_virtual_time(&self) -> bool {
        matches!(self.model.discipline, Discipline::Cfs(_) | Discipline::VirtualTime(_))
    }

    /// The minimum follows the leftmost waiting task alone.
    fn leftmost_alone(&self) -> bool {
        self.cfs().is_some_and(|params| !params.minimum_with_current)
    }

    /// The discipline has priorities and slices that last over several turns.
    pub(super) fn has_priorities(&self) -> bool {
        matches!(self.model.discipline, Discipline::O1(_) | Discipline::Ule(_) | Discipline::Ts(_))
    }

    /// Runnable tasks of a cpu, the current one included, none of the real-time class.
    pub(super) fn runnable(&self, c: usize) -> impl Iterator<Item = usize> + '_ {
        self.fair_current(c).into_iter().chain(self.cpus[c].queue.iter().copied())
    }

    /// The waiting tasks of a cpu that are not parked, in the queue's order.
    pub(super) fn able(&self, c: usize) -> Vec<usize> {
        self.cpus[c].queue.iter().copied().filter(|t| self.tasks[*t].priority != THROTTLED).collect()
    }

    pub(super) fn load(&self, c: usize) -> u64 {
        self.runnable(c).filter(|t| self.counts(*t)).map(|t| u64::from(self.tasks[t].weight)).sum()
    }

    /// Puts a task behind all that have its key or a smaller one; before its equals when it was cut short.
    pub(super) fn insert(&mut self, c: usize, t: usize) {
        if self.in_class(t) {
            return self.join_line(c, t);
        }
        let mine = self.key(t);
        let front = std::mem::take(&mut self.tasks[t].front);
        let before = |other: &&usize| self.key(**other) < mine || (!front && self.key(**other) == mine);
        let at = self.cpus[c].queue.iter().filter(before).count();
        self.cpus[c].queue.insert(at, t);
    }

    pub(super) fn remove(&mut self, c: usize, t: usize) {
        self.cpus[c].queue.retain(|other| *other != t);
        self.cpus[c].class.line.retain(|other| *other != t);
        self.cpus[c].class.parked.retain(|other| *other != t);
    }

    fn last_of_band(&self, c: usize, priority: u8) -> Option<usize> {
        self.cpus[c].queue.iter().copied().rfind(|t| self.tasks[*t].priority == priority)
    }

    /// Charges the current task for the time since it was last charged.
    pub(super) fn charge(&mut self, c: usize) {
        if let Some(t) = self.class_current(c) {
            return self.run_class(c, t);
        }
        self.pay_server(c);
        if let Some(params) = self.eevdf() {
            return self.update(params, c);
        }
        if let Some(params) = self.grouped() {
            return self.charge_around(&params, c);
        }
        let Some(t) = self.cpus[c].current else { return };
        let span = self.now.saturating_sub(self.cpus[c].charged);
        if self.has_virtual_time() {
            self.tasks[t].vruntime += weighted(span, self.tasks[t].weight);
        }
        if self.has_priorities() {
            self.use_slice(c, t, span);
        }
        self.cpus[c].charged += span;
        self.advance_minimum(c);
    }

    /// The queue's minimum follows the smaller of the current and the first waiting task, and never goes
    /// back.
    pub(super) fn advance_minimum(&mut self, c: usize) {
        if !self.has_virtual_time() || self.grouped().is_some() {
            return;
        }
        let (mut current, first) = (self.fair_current(c), self.cpus[c].queue.first().copied());
        if self.leftmost_alone() {
            // It follows the leftmost of those that wait.
            current = None;
        }
        let least = current.into_iter().chain(first).map(|t| self.tasks[t].vruntime).min();
        if let Some(least) = least {
            self.cpus[c].minimum = self.cpus[c].minimum.max(least);
        }
    }

    pub(super) fn period(params: &CfsParams, count: u64) -> u64 {
        if count <= u64::from(params.nr_latency) {
            params.latency.ns()
        } else {
            params.min_granularity.ns() * count
        }
    }

    /// Share of a task of this weight in the period of `count` tasks of this total weight.
    fn slice(params: &CfsParams, count: u64, weight: u32, load: u64) -> u64 {
        let period = Self::period(params, count);
        let share = (u128::from(period) * u128::from(weight) / u128::from(load.max(1))) as u64;
        let least = if params.base_slice { params.min_granularity.ns() } else { 0 };
        share.max(least)
    }

    /// How long the current task of a cpu may run in one go.
    fn turn(&self, params: &CfsParams, c: usize, t: usize) -> u64 {
        let count = self.runnable(c).count() as u64;
        let most = if params.cap_slice { params.latency.ns() } else { u64::MAX };
        Self::slice(params, count, self.tasks[t].weight, self.load(c)).min(most)
    }

    /// At a tick: the first waiting task is ahead of the current one by more than a turn of that one.
    fn left_behind(&self, params: &CfsParams, c: usize, t: usize, at: u64) -> bool {
        let (cpu, task) = (&self.cpus[c], &self.tasks[t]);
        let Some(first) = cpu.queue.first() else { return false };
        let mine = task.vruntime + weighted(at.saturating_sub(cpu.charged), task.weight);
        let ran = at.saturating_sub(cpu.picked) >= params.min_granularity.ns();
        let ahead = mine - self.tasks[*first].vruntime;
        params.gap_test && ran && ahead > self.turn(params, c, t) as i64
    }

    /// The lead that counts between a task that would go first and another one.
    pub(super) fn granularity(params: &CfsParams, weight: u32) -> i64 {
        let weight = if params.weigh_woken { weight } else { 1024 };
        weighted(params.wakeup_granularity.ns(), weight)
    }

    /// Another task of the same or a better priority level waits.
    pub(super) fn rivalled(&self, c: usize) -> bool {
        let priority = self.fair_current(c).map(|t| self.tasks[t].priority);
        self.cpus[c]
            .queue
            .iter()
            .any(|t| priority.is_some_and(|priority| self.tasks[*t].priority <= priority))
    }

    /// Another task of the same or a better priority level waits while the current task computes or spins.
    pub(super) fn contested(&self, c: usize) -> bool {
        let Some(current) = self.cpus[c].current else { return false };
        let priority = self.tasks[current].priority;
        let sliced = matches!(self.cpus[c].activity, Activity::Compute | Activity::Spin);
        if self.in_class(current) {
            return sliced;
        }
        sliced && (self.by_policy() || self.cpus[c].queue.iter().any(|t| self.tasks[*t].priority <= priority))
    }

    /// The check of a timer tick (or of the quantum) at `at`: has the current task used up its slice?
    pub(super) fn slice_used_up(&self, c: usize, at: u64) -> bool {
        let (Some(current), true) = (self.cpus[c].current, self.contested(c)) else { return false };
        let picked = self.cpus[c].picked;
        match &self.model.discipline {
            Discipline::Eevdf(_) => false,
            _ if self.in_class(current) => self.tick_from(c, at) == at && self.class_is_over(c, at),
            Discipline::Cfs(_) if self.grouped().is_some() => false,
            Discipline::Cfs(params) => {
                let over = at > picked + self.turn(params, c, current);
                self.tick_from(c, at) == at && (over || self.left_behind(params, c, current, at))
            }
            Discipline::RoundRobin(params) => at >= picked + params.quantum.ns(),
            Discipline::VirtualTime(params) => {
                self.tick_from(c, at) == at && at >= picked + params.slice.ns()
            }
            Discipline::ByPolicy(_) => {
                let end = picked.saturating_add(self.tasks[current].slice);
                self.tick_from(c, at) == at && at >= end
            }
            _ => {
                let used = self.tasks[current].used + at.saturating_sub(self.cpus[c].charged);
                let over = self.tasks[current].expired || used >= self.whole_slice(c, current);
                self.tick_from(c, at) == at && at >= self.cpus[c].charged && over
            }
        }
    }

    /// Sets the key of a task that enters.
    pub(super) fn place(&mut self, c: usize, t: usize, entry: Entry) {
        if self.in_class(t) {
            (self.tasks[t].front, self.tasks[t].expired) = (false, false);
            if entry == Entry::Fork {
                self.tasks[t].used = 0;
            }
            return self.reserve_enters(t, entry == Entry::Wake, entry == Entry::Fork);
        }
        if let Some(params) = self.eevdf() {
            return self.insert_entity(params, c, t, entry);
        }
        if let Some(params) = self.grouped() {
            return self.enter_around(&params, c, t, Some(entry));
        }
        let params = match &self.model.discipline {
            Discipline::Cfs(params) => params.clone(),
            Discipline::RoundRobin(_) => {
                self.tasks[t].vruntime = self.behind_all(c, t);
                return;
            }
            Discipline::VirtualTime(_) => {
                if entry != Entry::Move {
                    self.tasks[t].vruntime = self.tasks[t].vruntime.max(self.cpus[c].minimum);
                }
                return;
            }
            Discipline::ByPolicy(_) => return,
            _ => {
                self.place_by_priority(c, t, entry);
                return;
            }
        };
        let (mut minimum, weight, past) =
            (self.cpus[c].minimum, self.tasks[t].weight, self.tasks[t].vruntime);
        if !params.minimum_with_current
            && let Some(first) = self.cpus[c].queue.first()
        {
            minimum = minimum.min(self.tasks[*first].vruntime);
        }
        if entry == Entry::Fork {
            self.tasks[t].avg_wakeup = params.wakeup_granularity.ns();
            self.tasks[t].issued = None;
        }
        if entry != Entry::Move {
            self.tasks[t].awake_since = self.tasks[t].cpu_time;
        }
        let latency = params.latency.ns() / if params.gentle_sleepers { 2 } else { 1 };
        let long = self.now - self.tasks[t].last_ran > params.long_sleep.ns();
        let past = if long && entry == Entry::Wake { i64::MIN } else { past };
        self.tasks[t].vruntime = match entry {
            Entry::Fork if params.start_debit => {
                let count = self.runnable(c).count() as u64 + 1;
                let slice = Self::slice(&params, count, weight, self.load(c) + u64::from(weight));
                minimum
                    + match params.debit {
                        StartDebit::Period => Self::period(&params, count) as i64,
                        StartDebit::Slice => weighted(slice, weight),
                    }
            }
            Entry::Fork => minimum,
            Entry::Wake if params.sleeper_credit && !params.normalized_sleeper => {
                past.max(minimum - latency as i64)
            }
            Entry::Wake if params.sleeper_credit => past.max(minimum - weighted(latency, weight)),
            Entry::Wake => past.max(minimum),
            Entry::Move => past,
        };
    }

    fn behind_all(&self, c: usize, t: usize) -> i64 {
        self.last_of_band(c, self.tasks[t].priority).map_or(0, |last| self.tasks[last].vruntime + 1)
    }

    /// Does a task that has just entered take the cpu?
    pub(super) fn preempts(&mut self, c: usize, t: usize) -> bool {
        if self.tasks[t].priority == THROTTLED {
            return false;
        }
        if let Some(takes) = self.class_takes(c, t) {
            return takes;
        }
        let Some(current) = self.cpus[c].current else { return true };
        let (mine, theirs) = (&self.tasks[t], &self.tasks[current]);
        if mine.priority != theirs.priority {
            return mine.priority < theirs.priority;
        }
        if self.eevdf().is_some() {
            return self.would_take(c, t);
        }
        if let Some(params) = self.grouped() {
            return self.takes_around(&params, c, t);
        }
        // Keys of policies may be as far apart as numbers allow.
        let overhead = theirs.vruntime.saturating_sub(mine.vruntime);
        let params = match &self.model.discipline {
            Discipline::Cfs(params) => params,
            // Above: the rules of what has groups.
            Discipline::Eevdf(_) | Discipline::CfsGroups(_) => return false,
            Discipline::RoundRobin(_) | Discipline::VirtualTime(_) | Discipline::RealTime(_) => return false,
            Discipline::ByPolicy(_) => return mine.preempts && overhead > 0,
            Discipline::O1(_) | Discipline::Ts(_) => return overhead > 0,
            // Interactive over not interactive.
            Discipline::Ule(_) => return mine.vruntime < 256 && theirs.vruntime == 256,
        };
        let granularity = if params.adaptive_gran {
            let ran = self.now - self.cpus[c].picked;
            let expected = 2 * mine.avg_wakeup * self.runnable(c).count() as u64;
            weighted(expected.saturating_sub(ran).min(params.wakeup_granularity.ns()), mine.weight)
        } else if params.weigh_woken {
            Self::granularity(params, mine.weight)
        } else {
            weighted(params.wakeup_granularity.ns(), theirs.weight.max(1024))
        };
        let asked = params.preempting_buddies && self.cpus[c].resched;
        let preempts = !asked && overhead > granularity;
        let buddies = params.buddies && (preempts || !params.preempting_buddies);
        let crowded = self.runnable(c).count() >= params.nr_latency as usize;
        let both = params.last_buddy && (crowded || !params.crowded_last_buddy);
        if buddies {
            self.cpus[c].next_buddy = Some(t);
        }
        if buddies && both {
            self.cpus[c].last_buddy = Some(current);
        }
        preempts
    }

    /// Somebody yielded to a waiting task: does it come before the best one?
    fn prefers(&self, c: usize, yield_target: usize) -> bool {
        if self.in_class(yield_target) || self.class_choice(c).is_some() || self.class_current(c).is_some() {
            return false;
        }
        let best = self.runnable(c).map(|t| self.tasks[t].priority).min();
        let (priority, key) = (self.tasks[yield_target].priority, self.tasks[yield_target].vruntime);
        if best != Some(priority) || priority == THROTTLED {
            return false;
        }
        let rivals = self.runnable(c).filter(|t| self.tasks[*t].priority == priority);
        let least = rivals.map(|t| self.tasks[t].vruntime).min().unwrap_or(key);
        match &self.model.discipline {
            Discipline::Cfs(params) if self.grouped().is_some() => {
                self.is_near_around(params, c, yield_target)
            }
            Discipline::Cfs(params) => key - least <= params.wakeup_granularity.ns() as i64,
            Discipline::Eevdf(_) => self.is_eligible(c, yield_target),
            Discipline::RoundRobin(_) | Discipline::ByPolicy(_) | Discipline::CfsGroups(_) => true,
            Discipline::VirtualTime(params) => key - least <= params.slice.ns() as i64,
            // Only the engine has it.
            Discipline::RealTime(_) => false,
            // First among equals.
            Discipline::O1(_) | Discipline::Ule(_) | Discipline::Ts(_) => key == least,
        }
    }

    /// Who runs next; the current task takes part when there is one, nobody who is parked does.
    pub(super) fn choose(&mut self, c: usize) -> Option<usize> {
        if let Some(yield_target) = self.cpus[c].yield_target.take()
            && self.prefers(c, yield_target)
        {
            return Some(yield_target);
        }
        if let Some(next) = self.class_choice(c) {
            return Some(next);
        }
        if let Some(params) = self.eevdf() {
            return self.pick(params, c);
        }
        if let Some(params) = self.grouped() {
            return self.choose_around(&params, c);
        }
        let pair_slice = self.now - self.cpus[c].pair_start;
        let cpu = &self.cpus[c];
        let able = self.able(c);
        let current = self.fair_current(c).filter(|t| self.tasks[*t].priority != THROTTLED);
        let best = match (current, able.first().copied()) {
            (current, None) => current?,
            (None, Some(first)) => first,
            (Some(current), Some(first)) => {
                let (mine, theirs) = (self.key(current), self.key(first));
                let stays = match self.model.discipline {
                    Discipline::RoundRobin(_) => mine.0 < theirs.0,
                    _ => mine < theirs || (self.tasks[current].front && mine == theirs),
                };
                if stays { current } else { first }
            }
        };
        let Some(params) = self.cfs().filter(|_| !able.is_empty()) else { return Some(best) };
        let count = self.runnable(c).count() as u64;
        let near = |buddy: &usize| {
            let (buddy, best) = (&self.tasks[*buddy], &self.tasks[best]);
            let close = match params.buddy_limit {
                BuddyLimit::Slice => pair_slice <= Self::slice(params, count, buddy.weight, self.load(c)),
                BuddyLimit::Granularity => {
                    buddy.vruntime - best.vruntime <= Self::granularity(params, best.weight)
                }
            };
            buddy.priority == best.priority && close
        };
        let buddies = [cpu.next_buddy, cpu.last_buddy];
        let preferred = buddies.into_iter().flatten().find(near);
        let best = self.second_to(params, c, best, current).unwrap_or(best);
        if preferred.is_none() && params.buddy_limit == BuddyLimit::Slice {
            self.cpus[c].pair_start = self.now;
        }
        Some(preferred.unwrap_or(best))
    }

    /// Who runs instead of the best one if that one has yielded last: the best of the others, if it is near.
    fn second_to(&self, params: &CfsParams, c: usize, best: usize, current: Option<usize>) -> Option<usize> {
        if params.yield_mode != YieldMode::Skip || self.cpus[c].skipped != Some(best) {
            return None;
        }
        // Of equals the first waiting one comes before the current one.
        let others = self.able(c).into_iter().chain(current).filter(|t| *t != best);
        let equals = others.filter(|t| self.tasks[*t].priority == self.tasks[best].priority);
        let second = equals.min_by_key(|t| self.tasks[*t].vruntime)?;
        let behind = self.tasks[second].vruntime - self.tasks[best].vruntime;
        (behind <= Self::granularity(params, self.tasks[best].weight)).then_some(second)
    }

    /// The key of the current task for going back into the queue after a pre-emption.
    pub(super) fn put_back(&mut self, c: usize, t: usize) {
        if matches!(self.model.discipline, Discipline::RoundRobin(_)) && !self.in_class(t) {
            self.tasks[t].vruntime = self.behind_all(c, t);
        }
    }

    /// Somebody has been picked, who had the cpu before (`again`) or not: what changes with that.
    pub(super) fn picked(&mut self, c: usize, again: bool) {
        self.cpus[c].class.ahead = None;
        let Some(t) = self.cpus[c].current else { return };
        if !again || self.cfs().is_none_or(|params| params.renew_slice) {
            self.cpus[c].picked = self.now;
        }
        if self.in_class(t) {
            if !again {
                self.cpus[c].groups.iter_mut().for_each(|group| group.chosen = false);
            }
            return;
        }
        if let Some(params) = self.grouped() {
            return self.turns_begin(&params, c, t);
        }
        if self.cfs().is_some_and(|params| params.clear_picked) {
            self.no_buddy(c, t);
        }
        let cpu = &mut self.cpus[c];
        cpu.skipped = cpu.skipped.filter(|skipped| *skipped != t);
        let array = self.tasks[t].vruntime.div_euclid(256) * 256;
        if matches!(self.model.discipline, Discipline::O1(_)) && array > self.cpus[c].minimum {
            // The active array was empty: the expired one takes its place.
            self.cpus[c].minimum = array;
            self.cpus[c].expired_since = None;
        }
        if self.leftmost_alone() {
            self.advance_minimum(c);
        }
    }

    /// The current task is interrupted; `over`: because its slice is.
    pub(super) fn interrupted(&mut self, c: usize, t: usize, over: bool) {
        if self.real_time {
            self.look_at_class(c, over && !self.has_ticks());
            self.cpus[c].resched = false;
        }
        if self.in_class(t) {
            self.tasks[t].front = !std::mem::take(&mut self.tasks[t].expired);
            return;
        }
        if self.grouped().is_some() {
            return;
        }
        let used_up =
            |params: &CfsParams| !params.gap_test || self.now > self.cpus[c].picked + self.turn(params, c, t);
        if over && self.cfs().is_some_and(|params| params.clear_buddies && used_up(params)) {
            self.no_buddy(c, t);
        }
        if self.has_priorities() {
            let expired = std::mem::take(&mut self.tasks[t].expired);
            self.tasks[t].front = !expired;
            let into_expired = self.tasks[t].vruntime >= self.cpus[c].minimum + 256;
            if matches!(self.model.discipline, Discipline::O1(_)) && expired && into_expired {
                self.cpus[c].expired_since.get_or_insert(self.now);
            }
        }
    }

    /// A task is nobody's buddy any more.
    pub(super) fn no_buddy(&mut self, c: usize, t: usize) {
        let cpu = &mut self.cpus[c];
        cpu.next_buddy = cpu.next_buddy.filter(|buddy| *buddy != t);
        cpu.last_buddy = cpu.last_buddy.filter(|buddy| *buddy != t);
    }

    /// The key of the current task after `sched_yield`.
    pub(super) fn yield_key(&mut self, c: usize, t: usize) {
        if self.in_class(t) {
            self.cpus[c].pair_start = self.now;
            self.run_class(c, t);
            self.reserve_yields(t);
            self.look_at_class(c, true);
            (self.tasks[t].front, self.tasks[t].expired) = (false, false);
            return;
        }
        self.cpus[c].skipped = Some(t);
        self.cpus[c].pair_start = self.now;
        if let Some(params) = self.eevdf() {
            return self.forfeit(params, c, t);
        }
        if let Some(params) = self.grouped() {
            return self.yield_around(&params, c, t);
        }
        let last = self.last_of_band(c, self.tasks[t].priority);
        if self.has_priorities() {
            self.charge(c);
            self.tasks[t].expired = false;
            self.tasks[t].front = false;
            if matches!(self.model.discipline, Discipline::O1(_)) {
                let priority = self.tasks[t].vruntime.rem_euclid(256);
                self.tasks[t].vruntime = self.cpus[c].minimum + 256 + priority;
            }
            return;
        }
        match self.cfs().map(|params| params.yield_mode) {
            None if self.by_policy() => {}
            None if self.has_virtual_time() => self.charge(c),
            None => self.tasks[t].vruntime = self.behind_all(c, t),
            Some(mode) => {
                if let (YieldMode::Posix, Some(last)) = (mode, last) {
                    let behind = self.tasks[last].vruntime + 1;
                    self.tasks[t].vruntime = self.tasks[t].vruntime.max(behind);
                }
                self.charge(c);
                if self.leftmost_alone() && self.cpus[c].queue.is_empty() {
                    // For an instant it was the leftmost itself.
                    self.cpus[c].minimum = self.cpus[c].minimum.max(self.tasks[t].vruntime);
                }
            }
        }
    }
}
