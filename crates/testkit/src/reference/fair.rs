//! CFS with task groups written down rule by rule: a queue for each group on each cpu, sorted anew at every
//! question.

use sim_core::observe::LeaveReason;
use sim_core::os::{BuddyLimit, CfsParams, StartDebit, YieldMode};
use sim_core::policy::THROTTLED;

use super::queue::{Entry, weighted};
use super::records::{Ent, RefQueue};
use super::{Change, Reference};

/// Which memory of a queue.
#[derive(Clone, Copy)]
enum Favour {
    Next,
    Last,
    Skipped,
}

impl RefQueue {
    const fn of(&mut self, favour: Favour) -> &mut Option<Ent> {
        match favour {
            Favour::Next => &mut self.next,
            Favour::Last => &mut self.last,
            Favour::Skipped => &mut self.skipped,
        }
    }
}

impl Reference<'_> {
    /// The rules of CFS where there are task groups.
    pub(super) fn grouped(&self) -> Option<CfsParams> {
        self.cfs().filter(|_| !self.model.groups.is_empty()).cloned()
    }

    /// Each tick is processed, and tasks are charged there.
    pub(super) fn has_ticks(&self) -> bool {
        self.eevdf().is_some() || self.grouped().is_some()
    }

    fn fair_queue(&mut self, c: usize, group: usize) -> &mut RefQueue {
        let cpu = &mut self.cpus[c];
        if group == 0 { &mut cpu.fair } else { &mut cpu.groups[group - 1].fair }
    }

    fn remembered(&self, c: usize, group: usize) -> RefQueue {
        if group == 0 { self.cpus[c].fair } else { self.cpus[c].groups[group - 1].fair }
    }

    fn v(&self, c: usize, e: Ent) -> i64 {
        self.keys(c, e).v
    }

    fn set_v(&mut self, c: usize, e: Ent, v: i64) {
        let mut keys = self.keys(c, e);
        keys.v = v;
        self.set_keys(c, e, keys);
    }

    /// Who has its turn in the queue of a group.
    fn having_turn(&self, c: usize, group: usize) -> Option<Ent> {
        let cpu = &self.cpus[c];
        let task = cpu.current.filter(|t| self.counts(*t)).map(Ent::Task);
        let groups = (0..cpu.groups.len()).filter(|g| cpu.groups[*g].queued && cpu.groups[*g].chosen);
        task.into_iter().chain(groups.map(Ent::Group)).find(|e| self.group_of(*e) == group)
    }

    /// Who waits there, by virtual runtime; of equals tasks first.
    fn waiting_in(&self, c: usize, group: usize, without: Option<Ent>) -> Vec<Ent> {
        let cpu = &self.cpus[c];
        let tasks = cpu.queue.iter().filter(|t| self.counts(**t)).map(|t| Ent::Task(*t));
        let groups = (0..cpu.groups.len()).filter(|g| cpu.groups[*g].queued && !cpu.groups[*g].chosen);
        let all = tasks.chain(groups.map(Ent::Group));
        let mut all: Vec<Ent> = all.filter(|e| self.group_of(*e) == group && Some(*e) != without).collect();
        all.sort_by_key(|e| self.v(c, *e));
        all
    }

    /// How many are queued there.
    fn count_in(&self, c: usize, group: usize) -> u64 {
        let cpu = &self.cpus[c];
        let tasks = cpu.counted.iter().map(|t| Ent::Task(*t));
        let groups = (0..cpu.groups.len()).filter(|g| cpu.groups[*g].queued).map(Ent::Group);
        tasks.chain(groups).filter(|e| self.group_of(*e) == group).count() as u64
    }

    /// The minimum of a queue follows who has the turn and who waits.
    fn raise_minimum(&mut self, params: &CfsParams, c: usize, group: usize, without: Option<Ent>) {
        let turn = self.having_turn(c, group).filter(|e| Some(*e) != without && params.minimum_with_current);
        let all = self.waiting_in(c, group, without).into_iter().chain(turn);
        if let Some(least) = all.map(|e| self.v(c, e)).min() {
            let queue = self.fair_queue(c, group);
            queue.minimum = queue.minimum.max(least);
        }
    }

    /// Whoever runs is charged, with the groups around it.
    pub(super) fn charge_around(&mut self, params: &CfsParams, c: usize) {
        let Some(t) = self.cpus[c].current else { return };
        if self.now <= self.cpus[c].charged {
            return;
        }
        let span = self.now - self.cpus[c].charged;
        self.cpus[c].charged = self.now;
        for e in self.around(c, Ent::Task(t)) {
            let keys = self.keys(c, e);
            self.set_v(c, e, keys.v + weighted(span, keys.weight));
            if let Ent::Group(g) = e {
                self.cpus[c].groups[g].last_ran = self.now;
            }
            if self.spend(c, e, span) {
                self.cpus[c].resched = true;
                self.mark(c);
            }
            self.raise_minimum(params, c, self.group_of(e), None);
        }
    }

    /// The slice of one in the hierarchy; `outside`: it is not in its queue yet.
    fn slice_around(&self, params: &CfsParams, c: usize, e: Ent, outside: bool) -> u64 {
        let mut count = self.count_in(c, self.group_of(e));
        if params.alt_period {
            count = self.cpus[c].counted.len() as u64;
        }
        let mut slice = Self::period(params, count + u64::from(outside));
        for one in self.around(c, e) {
            let weight = u64::from(self.keys(c, one).weight);
            let mut load = self.weights(c, self.group_of(one));
            let absent = match one {
                Ent::Group(g) if one != e => !self.cpus[c].groups[g].queued,
                _ => outside,
            };
            if absent {
                load += weight;
            }
            slice = (u128::from(slice) * u128::from(weight) / u128::from(load.max(1))) as u64;
        }
        slice.max(if params.base_slice { params.min_granularity.ns() } else { 0 })
    }

    /// A tick: at each level from the inside out, weights, and then whether the turn is over.
    pub(super) fn tick_around(&mut self, params: &CfsParams, c: usize) {
        self.charge_around(params, c);
        let Some(t) = self.cpus[c].current else { return };
        for e in self.around(c, Ent::Task(t)) {
            if let Ent::Group(g) = e {
                self.says_at_tick(c, g);
                self.weigh_group(params, c, g);
            }
            let group = self.group_of(e);
            if self.count_in(c, group) < 2 {
                continue;
            }
            let slice = self.slice_around(params, c, e, false);
            let turn = if params.cap_slice { slice.min(params.latency.ns()) } else { slice };
            let ran = self.now - self.turn_since(c, e);
            let first = self.waiting_in(c, group, None).first().map(|first| self.v(c, *first));
            let gap = params.gap_test
                && ran >= params.min_granularity.ns()
                && first.is_some_and(|first| self.v(c, e) - first > turn as i64);
            if ran > turn && params.clear_buddies {
                self.no_favour(c, e);
            }
            self.cpus[c].resched |= ran > turn || gap;
        }
        self.cpus[c].slice_over |= self.cpus[c].resched;
    }

    /// Since when one has its turn.
    fn turn_since(&self, c: usize, e: Ent) -> u64 {
        match e {
            Ent::Task(_) => self.cpus[c].picked,
            Ent::Group(g) => self.cpus[c].groups[g].picked,
        }
    }

    /// One is favoured in its queue, and the groups around it in theirs.
    fn favour(&mut self, c: usize, e: Ent, favour: Favour) {
        for one in self.around(c, e) {
            let group = self.group_of(one);
            *self.fair_queue(c, group).of(favour) = Some(one);
        }
    }

    /// One is favoured no longer, nor are the groups around it up to the first that is not either.
    fn no_favour(&mut self, c: usize, e: Ent) {
        for favour in [Favour::Next, Favour::Last, Favour::Skipped] {
            self.end_favour(c, e, favour);
        }
    }

    fn end_favour(&mut self, c: usize, e: Ent, favour: Favour) {
        for one in self.around(c, e) {
            let group = self.group_of(one);
            let favoured = self.fair_queue(c, group).of(favour);
            if *favoured != Some(one) {
                break;
            }
            *favoured = None;
        }
    }

    /// A group gets its part of its weight.
    fn weigh_group(&mut self, params: &CfsParams, c: usize, g: usize) {
        if let Some(weight) = self.part_of_weight(params.group_shares, c, g) {
            let before = self.cpus[c].groups[g].keys.weight;
            self.cpus[c].groups[g].keys.weight = weight;
            if before != weight && self.cpus[c].groups[g].queued {
                self.reweighed(c, g, before);
            }
        }
    }

    fn weigh_around(&mut self, params: &CfsParams, c: usize, e: Ent) {
        for one in self.around(c, e).into_iter().skip(1) {
            if let Ent::Group(g) = one {
                self.weigh_group(params, c, g);
            }
        }
    }

    /// A task enters, and the groups around it that were not there; without an entry it stands where it
    /// stood.
    pub(super) fn enter_around(&mut self, params: &CfsParams, c: usize, t: usize, entry: Option<Entry>) {
        self.brings_load(c, t);
        let mut how = entry;
        for e in self.around(c, Ent::Task(t)) {
            if let Ent::Group(g) = e {
                if self.cpus[c].groups[g].queued {
                    break;
                }
                self.weigh_group(params, c, g);
            }
            if let Some(entry) = how {
                self.sit_fair(params, c, e, entry);
            }
            match e {
                Ent::Task(t) => self.cpus[c].counted.push(t),
                Ent::Group(g) => self.cpus[c].groups[g].queued = true,
            }
            self.counted(c, e, true);
            how = Some(Entry::Wake);
        }
        self.weigh_around(params, c, Ent::Task(t));
    }

    /// The virtual runtime of one that enters its queue.
    fn sit_fair(&mut self, params: &CfsParams, c: usize, e: Ent, entry: Entry) {
        let group = self.group_of(e);
        let own = self.remembered(c, group).minimum;
        let first = self.waiting_in(c, group, Some(e)).first().map(|first| self.v(c, *first));
        let mut minimum = own;
        if !params.minimum_with_current {
            minimum = first.map_or(own, |first| own.min(first));
        }
        let (mut past, weight) = (self.v(c, e), self.keys(c, e).weight);
        let last_ran = match e {
            Ent::Task(t) => {
                let task = &mut self.tasks[t];
                if entry == Entry::Fork {
                    (task.avg_wakeup, task.issued) = (params.wakeup_granularity.ns(), None);
                }
                if entry != Entry::Move {
                    task.awake_since = task.cpu_time;
                }
                let (there, last_ran) = (task.cpu, task.last_ran);
                if entry == Entry::Move {
                    past += own;
                } else if there != c {
                    past += own - self.remembered(there, group).minimum;
                }
                last_ran
            }
            Ent::Group(g) => self.cpus[c].groups[g].last_ran,
        };
        let latency = params.latency.ns() / if params.gentle_sleepers { 2 } else { 1 };
        let credit = match (params.sleeper_credit, params.normalized_sleeper) {
            (false, _) => 0,
            (true, false) => latency as i64,
            (true, true) => weighted(latency, weight),
        };
        let v = match entry {
            Entry::Move => past,
            Entry::Wake if self.now - last_ran > params.long_sleep.ns() => minimum - credit,
            Entry::Wake => past.max(minimum - credit),
            Entry::Fork if !params.start_debit => minimum,
            Entry::Fork => {
                minimum
                    + match params.debit {
                        StartDebit::Period => Self::period(params, self.count_in(c, group) + 1) as i64,
                        StartDebit::Slice => weighted(self.slice_around(params, c, e, true), weight),
                    }
            }
        };
        self.set_v(c, e, v);
    }

    /// A task leaves its queue, and the groups around it in which nothing is left theirs.
    fn leave_around(&mut self, params: &CfsParams, c: usize, t: usize, sleeps: bool) {
        for e in self.around(c, Ent::Task(t)) {
            if let Ent::Group(g) = e {
                if self.load_of(c, g) > 0 {
                    if sleeps && params.sleep_buddy {
                        self.favour(c, e, Favour::Next);
                    }
                    break;
                }
                self.return_time(c, g);
            }
            self.no_favour(c, e);
            match e {
                Ent::Task(t) => self.cpus[c].counted.retain(|other| *other != t),
                Ent::Group(g) => self.cpus[c].groups[g].clear(),
            }
            self.counted(c, e, false);
            self.raise_minimum(params, c, self.group_of(e), Some(e));
        }
        self.weigh_around(params, c, Ent::Task(t));
    }

    /// A task leaves its cpu.
    pub(super) fn goes(&mut self, params: &CfsParams, c: usize, t: usize, reason: LeaveReason) {
        let minimum = self.remembered(c, self.group_of(Ent::Task(t))).minimum;
        if self.counts(t) {
            self.leave_around(params, c, t, reason == LeaveReason::Slept);
        } else {
            self.tasks[t].priority = 0;
        }
        match reason {
            LeaveReason::Moved => self.tasks[t].vruntime -= minimum,
            LeaveReason::Exited => self.ends_load(t),
            _ => {}
        }
    }

    /// One is behind the best by no more than the lead that counts.
    fn is_close(&self, params: &CfsParams, c: usize, e: Ent, best: Ent) -> bool {
        let granularity = Self::granularity(params, self.keys(c, best).weight);
        self.v(c, e) - self.v(c, best) <= granularity
    }

    /// Who is best in the queue of a group.
    fn best_fair(&mut self, params: &CfsParams, c: usize, group: usize) -> Option<Ent> {
        let turn = self.having_turn(c, group);
        let waiting = self.waiting_in(c, group, None);
        if waiting.is_empty() {
            return turn;
        }
        // Of equals who waits comes first.
        let mut all = waiting;
        all.extend(turn);
        all.sort_by_key(|e| self.v(c, *e));
        let (best, second) = (all[0], all.get(1).copied());
        let queue = self.remembered(c, group);
        let within = |e: &Ent| match params.buddy_limit {
            BuddyLimit::Granularity => self.is_close(params, c, *e, best),
            BuddyLimit::Slice => self.now - queue.pair_start <= self.slice_around(params, c, *e, false),
        };
        let favoured = [queue.next, queue.last].into_iter().flatten().find(within);
        let passed = params.yield_mode == YieldMode::Skip && queue.skipped == Some(best);
        let second = second.filter(|e| passed && self.is_close(params, c, *e, best));
        if favoured.is_none() && params.buddy_limit == BuddyLimit::Slice {
            self.fair_queue(c, group).pair_start = self.now;
        }
        favoured.or(second).or(Some(best))
    }

    /// Who runs next; tasks of groups without time leave on the way.
    pub(super) fn choose_around(&mut self, params: &CfsParams, c: usize) -> Option<usize> {
        loop {
            let mut group = 0;
            let t = loop {
                match self.best_fair(params, c, group)? {
                    Ent::Group(g) => group = g + 1,
                    Ent::Task(t) => break t,
                }
            };
            if !self.is_out_of_time(c, t) {
                return Some(t);
            }
            for other in std::iter::once(t).chain(self.parked_with(c, t)) {
                self.park_fair(params, c, other);
            }
        }
    }

    /// A task of a throttled group stops competing.
    fn park_fair(&mut self, params: &CfsParams, c: usize, t: usize) {
        self.leave_around(params, c, t, false);
        let waits = self.cpus[c].queue.contains(&t);
        self.remove(c, t);
        self.tasks[t].priority = THROTTLED;
        if waits {
            self.insert(c, t);
        }
        self.notices.push((t, c, Change::Left));
    }

    /// Does a task that has entered take the cpu, where it or a group around it meets the current one?
    pub(super) fn takes_around(&mut self, params: &CfsParams, c: usize, t: usize) -> bool {
        let Some(current) =
            self.cpus[c].current.filter(|_| !params.preempting_buddies || !self.cpus[c].resched)
        else {
            return false;
        };
        let theirs = self.around(c, Ent::Task(current));
        let beside =
            |e: &Ent| theirs.iter().copied().find(|other| self.group_of(*other) == self.group_of(*e));
        let met = self.around(c, Ent::Task(t)).into_iter().find_map(|e| Some((e, beside(&e)?)));
        let Some((mine, other)) = met else { return false };
        let (a, b) = (self.keys(c, mine), self.keys(c, other));
        let lead = if params.adaptive_gran {
            let waker = if let Ent::Task(t) = mine { self.tasks[t].avg_wakeup } else { 0 };
            let expected = 2 * waker * self.count_in(c, self.group_of(mine));
            let ran = self.now - self.turn_since(c, other);
            weighted(expected.saturating_sub(ran).min(params.wakeup_granularity.ns()), a.weight)
        } else if params.weigh_woken {
            Self::granularity(params, a.weight)
        } else {
            weighted(params.wakeup_granularity.ns(), b.weight.max(1024))
        };
        let takes = b.v - a.v > lead;
        let old = !params.preempting_buddies;
        if params.buddies && (takes || old) {
            let crowd = self.count_in(c, self.group_of(Ent::Task(current)));
            let crowded = crowd >= u64::from(params.nr_latency) || !params.crowded_last_buddy;
            if params.last_buddy && crowded && (old || other == Ent::Task(current)) {
                self.favour(c, Ent::Task(current), Favour::Last);
            }
            self.favour(c, if old { Ent::Task(t) } else { mine }, Favour::Next);
        }
        takes
    }

    /// A directed yield is followed if its target, and each group around it, is near the best of its queue.
    pub(super) fn is_near_around(&self, params: &CfsParams, c: usize, t: usize) -> bool {
        self.around(c, Ent::Task(t)).into_iter().all(|e| {
            let group = self.group_of(e);
            let all = self.waiting_in(c, group, None).into_iter().chain(self.having_turn(c, group));
            let least = all.map(|e| self.v(c, e)).min().unwrap_or(self.v(c, e));
            self.v(c, e) - least <= params.wakeup_granularity.ns() as i64
        })
    }

    /// A task has been picked, who had the cpu before (`again`) or not.
    pub(super) fn turns_begin(&mut self, params: &CfsParams, c: usize, t: usize) {
        let around = self.around(c, Ent::Task(t));
        for g in 0..self.cpus[c].groups.len() {
            let inside = around.contains(&Ent::Group(g));
            let group = &mut self.cpus[c].groups[g];
            if inside && (params.renew_slice || !group.chosen) {
                group.picked = self.now;
            }
            group.chosen = inside;
        }
        for e in around {
            if params.clear_picked {
                self.no_favour(c, e);
            } else {
                self.end_favour(c, e, Favour::Skipped);
            }
            if !params.minimum_with_current {
                self.raise_minimum(params, c, self.group_of(e), None);
            }
        }
    }

    /// `sched_yield`.
    pub(super) fn yield_around(&mut self, params: &CfsParams, c: usize, t: usize) {
        let me = Ent::Task(t);
        if params.yield_mode == YieldMode::Posix
            && let Some(last) = self.waiting_in(c, self.group_of(me), None).last()
        {
            let behind = self.v(c, *last) + 1;
            self.tasks[t].vruntime = self.tasks[t].vruntime.max(behind);
        }
        self.charge_around(params, c);
        if self.cpus[c].counted.len() > 1 {
            self.no_favour(c, me);
            if params.yield_mode == YieldMode::Skip {
                self.favour(c, me, Favour::Skipped);
            }
        }
    }
}
