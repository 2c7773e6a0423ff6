//! EEVDF written down rule by rule: sums over everybody at every question, ticks as events of their own.

use sim_core::observe::LeaveReason;
use sim_core::os::{Discipline, EevdfParams, EevdfYield, Preemption, Protection};
use sim_core::policy::THROTTLED;
use sim_core::program::Scheduling;
use sim_core::rng::{Purpose, draw, key};

use super::queue::{Entry, weighted};
use super::records::{Ent, Keys};
use super::state::{Activity, Later};
use super::{Change, Reference};

impl Reference<'_> {
    pub(super) fn eevdf(&self) -> Option<EevdfParams> {
        match &self.model.discipline {
            Discipline::Eevdf(params) => Some(*params),
            _ => None,
        }
    }

    /// How late the n-th tick of a cpu is.
    pub(super) fn lateness(&self, c: usize, n: u64) -> u64 {
        let Some(params) = self.eevdf() else { return 0 };
        let key = key(self.options.seed, Purpose::TickLateness, c as u64);
        let choices = u128::from(params.tick_jitter.ns()) + 1;
        ((u128::from(draw(key, n)) * choices) >> 32) as u64
    }

    /// Ticks disturb whoever runs, unless it polls and yields.
    pub(super) fn feels_ticks(&self, c: usize) -> bool {
        self.has_ticks() && self.cpus[c].current.is_some() && self.cpus[c].activity != Activity::Poll
    }

    /// All entities of a priority level and a group that compete on a cpu: waiting and delayed tasks,
    /// groups, and what was picked last.
    fn peers(&self, c: usize, priority: u8, group: usize) -> Vec<Ent> {
        let cpu = &self.cpus[c];
        let tasks = cpu.queue.iter().chain(&cpu.delayed).map(|t| Ent::Task(*t));
        let groups = (0..cpu.groups.len()).filter(|g| cpu.groups[*g].queued).map(Ent::Group);
        let all = tasks.chain(groups).chain(cpu.current.map(Ent::Task));
        let mut peers: Vec<Ent> = all.filter(|e| self.place_of(c, *e) == (priority, group)).collect();
        if let Some(last) = self.chosen(c, priority, group) {
            peers.retain(|e| *e != last);
            peers.push(last);
        }
        peers
    }

    /// The entity of a priority level and a group that was picked last.
    fn chosen(&self, c: usize, priority: u8, group: usize) -> Option<Ent> {
        let cpu = &self.cpus[c];
        let groups = (0..cpu.groups.len()).filter(|g| cpu.groups[*g].queued && cpu.groups[*g].chosen);
        let all = cpu.current.map(Ent::Task).into_iter().chain(groups.map(Ent::Group));
        all.into_iter().find(|e| self.place_of(c, *e) == (priority, group))
    }

    /// The peers of one, itself included if it is queued.
    fn peers_of(&self, c: usize, e: Ent) -> Vec<Ent> {
        let (priority, group) = self.place_of(c, e);
        self.peers(c, priority, group)
    }

    /// Sum of the weights, and of the weights times virtual runtimes.
    fn sums(&self, c: usize, all: &[Ent]) -> (i128, i128) {
        let load = all.iter().map(|e| i128::from(self.keys(c, *e).weight)).sum();
        let sum = all.iter().map(|e| i128::from(self.keys(c, *e).weight) * i128::from(self.keys(c, *e).v));
        (load, sum.sum())
    }

    /// A virtual runtime that is not above the mean is eligible.
    fn eligible(&self, c: usize, e: Ent, among: &[Ent]) -> bool {
        let (load, sum) = self.sums(c, among);
        i128::from(self.keys(c, e).v) * load <= sum
    }

    /// A task is eligible among its peers.
    pub(super) fn is_eligible(&self, c: usize, t: usize) -> bool {
        self.eligible(c, Ent::Task(t), &self.peers_of(c, Ent::Task(t)))
    }

    /// The mean of virtual runtimes, rounded down; 0 of none.
    fn mean(&self, c: usize, all: &[Ent]) -> i64 {
        let (load, sum) = self.sums(c, all);
        if load == 0 { 0 } else { sum.div_euclid(load) as i64 }
    }

    /// Brings the current task and the groups around it up to date.
    pub(super) fn update(&mut self, params: EevdfParams, c: usize) {
        let Some(t) = self.cpus[c].current else { return };
        if self.now <= self.cpus[c].charged {
            return;
        }
        let span = self.now - self.cpus[c].charged;
        self.cpus[c].charged = self.now;
        for e in self.around(c, Ent::Task(t)) {
            let mut keys = self.keys(c, e);
            keys.v += weighted(span, keys.weight);
            let mut pick_again = params.protection == Protection::MinSlice && keys.v >= keys.protection;
            let renewed = keys.v >= keys.deadline;
            if renewed {
                keys.deadline = keys.v + weighted(keys.slice, keys.weight);
                pick_again = true;
            }
            self.set_keys(c, e, keys);
            self.cpus[c].resched |= self.spend(c, e, span);
            if renewed && e == Ent::Task(t) && self.cpus[c].timed && !self.polls_and_yields(t) {
                self.cpus[c].timed = false;
                if self.rivals_around(c, t) {
                    self.cpus[c].resched = true;
                    self.mark(c);
                }
            }
            if params.protection == Protection::Deadline && params.preempt_short && params.protected.is_none()
            {
                let marked = keys.v < keys.protection;
                pick_again |= !marked && !self.eligible(c, e, &self.peers_of(c, e));
            }
            let priority = self.tasks[t].priority;
            let lower = self.cpus[c].queue.iter().any(|other| self.tasks[*other].priority < priority);
            if pick_again && (lower || self.peers_of(c, e).len() > 1) {
                if params.preemption == Preemption::Lazy {
                    self.cpus[c].later = Some(Later::UsedUp);
                } else {
                    self.cpus[c].resched = true;
                    self.mark(c);
                }
            }
        }
    }

    /// A tick comes to a cpu.
    pub(super) fn tick(&mut self, c: usize) {
        if let Some(params) = self.grouped() {
            return self.tick_around(&params, c);
        }
        if let Some(params) = self.eevdf() {
            self.charge(c);
            if let Some(t) = self.fair_current(c) {
                for e in self.around(c, Ent::Task(t)) {
                    if let Ent::Group(g) = e {
                        self.says_at_tick(c, g);
                        self.reweigh(params, c, e);
                    }
                }
            }
            self.look_at_class(c, true);
            self.return_to_user(c);
            self.cpus[c].slice_over |= self.cpus[c].resched;
        }
    }

    /// A cpu returns to user mode: what it was to do then it does now.
    pub(super) fn return_to_user(&mut self, c: usize) {
        let later = self.cpus[c].later.take();
        self.cpus[c].resched |= later.is_some();
    }

    /// Somebody whom another cpu puts into a queue has to wait until the cpu returns to user mode: nobody
    /// interrupts it. `near`: the two share a cache, or the task is not handed over.
    pub(super) fn nobody_interrupts(&self, c: usize, near: bool) -> bool {
        let Some(params) = self.eevdf().filter(|params| params.preemption == Preemption::Lazy) else {
            return false;
        };
        near && self.fair_current(c).is_some() && (!params.hrtick || self.cpus[c].timed)
    }

    /// `sched_yield`.
    pub(super) fn forfeit(&mut self, params: EevdfParams, c: usize, t: usize) {
        let me = Ent::Task(t);
        self.charge(c);
        let alone = self.around(c, me).iter().all(|e| self.peers_of(c, *e).len() == 1);
        let mut keys = self.keys(c, me);
        let whole = weighted(keys.slice, keys.weight);
        match params.yields {
            _ if alone => {}
            EevdfYield::Deadline => {
                keys.deadline = (keys.deadline + whole).min(keys.v + (1 << 61));
                if params.protection == Protection::Deadline {
                    keys.protection = keys.v;
                }
            }
            EevdfYield::Forfeit if self.is_eligible(c, t) => {
                keys.v = keys.deadline;
                keys.deadline += whole;
            }
            EevdfYield::Forfeit => {}
        }
        self.set_keys(c, me, keys);
        let origin = self.keys(c, me).v;
        // Only differences count, and 64 bits have an end.
        if origin >= 1 << 61 {
            for e in self.peers_of(c, me) {
                let mut keys = self.keys(c, e);
                keys.protection = keys.protection.max(keys.v) - origin;
                keys.deadline -= origin;
                keys.v -= origin;
                self.set_keys(c, e, keys);
            }
            let mut queue = std::mem::take(&mut self.cpus[c].queue);
            queue.sort_by_key(|t| self.key(*t));
            self.cpus[c].queue = queue;
        }
    }

    /// The entity that would be picked in a priority level, including delayed ones.
    fn best(&self, c: usize, priority: u8) -> Option<Ent> {
        let mut group = 0;
        loop {
            match self.best_in(c, priority, group)? {
                Ent::Group(g) if !self.cpus[c].groups[g].delayed => group = g + 1,
                e => return Some(e),
            }
        }
    }

    /// The entity that would be picked of a priority level and a group.
    fn best_in(&self, c: usize, priority: u8, group: usize) -> Option<Ent> {
        let among = self.peers(c, priority, group);
        if let Some(last) = self.chosen(c, priority, group) {
            let keys = self.keys(c, last);
            if self.eligible(c, last, &among) && keys.v < keys.protection {
                return Some(last);
            }
        }
        // The first of equals wins.
        let able = among.iter().copied().filter(|e| self.eligible(c, *e, &among));
        able.min_by_key(|e| self.keys(c, *e).deadline)
    }

    /// Would a task that has entered be picked, where it or a group around it meets the current one?
    /// Batch and idle tasks take no cpu, but every other task takes one from an idle task, which is no longer
    /// protected then.
    pub(super) fn would_take(&mut self, c: usize, t: usize) -> bool {
        let Some(current) = self.cpus[c].current else { return true };
        for e in self.around(c, Ent::Task(t)) {
            let (priority, group) = self.place_of(c, e);
            let theirs = self.around(c, Ent::Task(current));
            let Some(other) = theirs.into_iter().find(|other| self.place_of(c, *other) == (priority, group))
            else {
                continue;
            };
            let is_idle = |e: Ent| match e {
                Ent::Task(t) => self.tasks[t].scheduling == Scheduling::Idle,
                Ent::Group(_) => false,
            };
            return match (is_idle(e), is_idle(other)) {
                (false, true) => {
                    self.tasks[current].protection = self.tasks[current].vruntime;
                    true
                }
                (true, false) => false,
                _ if self.tasks[t].scheduling != Scheduling::Other => false,
                _ => {
                    let first = self.runnable(c).map(|t| self.tasks[t].priority).min();
                    first == Some(priority) && self.wins(c, e, other)
                }
            };
        }
        false
    }

    /// The shortest slice of these.
    fn shortest(&self, c: usize, all: &[Ent]) -> u64 {
        all.iter().map(|e| self.keys(c, *e).slice).min().unwrap_or(u64::MAX)
    }

    /// One that has entered would be picked; `other` is the current one or a group around it, whose
    /// protection does not hold against a shorter slice.
    fn wins(&mut self, c: usize, e: Ent, other: Ent) -> bool {
        let Some(params) = self.eevdf() else { return false };
        let (priority, group) = self.place_of(c, e);
        let (mine, theirs) = (self.keys(c, e), self.keys(c, other));
        let short = params.preempt_short && mine.slice < theirs.slice;
        let among = self.peers_of(c, e);
        let unprotected = Keys { protection: theirs.protection.min(theirs.v), ..theirs };
        if params.protection == Protection::Deadline {
            let better = mine.deadline < theirs.deadline || !self.eligible(c, other, &among);
            if short && self.eligible(c, e, &among) && better {
                self.set_keys(c, other, unprotected);
            }
            return self.best_in(c, priority, group) == Some(e);
        }
        if short {
            self.set_keys(c, other, unprotected);
        }
        let wins = self.best_in(c, priority, group) == Some(e);
        if !wins {
            let mut kept = theirs;
            if params.protected.is_none() {
                kept.protection =
                    kept.protection.min(kept.v + weighted(self.shortest(c, &among), kept.weight));
            }
            self.set_keys(c, other, kept);
        }
        wins
    }

    /// The slices of the groups around one that enters or has left are the shortest of what is queued in
    /// them.
    fn reslice_around(&mut self, c: usize, left: Ent, enters: bool) {
        let mut inside = left;
        for e in self.around(c, left).into_iter().skip(1) {
            let Ent::Group(g) = e else { continue };
            let mut among = self.peers(c, 0, g + 1);
            if enters {
                among.push(inside);
            } else if inside == left {
                among.retain(|other| *other != left);
            }
            if !among.is_empty() {
                self.cpus[c].groups[g].keys.slice = self.shortest(c, &among);
            }
            inside = e;
        }
    }

    /// Something competes with a task, or with a group around it.
    pub(super) fn rivals_around(&self, c: usize, t: usize) -> bool {
        let lower = |other: &usize| self.tasks[*other].priority < self.tasks[t].priority;
        self.cpus[c].queue.iter().any(lower)
            || self.around(c, Ent::Task(t)).iter().any(|e| self.peers_of(c, *e).len() > 1)
    }

    /// The pick; delayed tasks and groups that come up leave for good.
    pub(super) fn pick(&mut self, params: EevdfParams, c: usize) -> Option<usize> {
        loop {
            let priorities = self.runnable(c).map(|t| self.tasks[t].priority);
            let Some(priority) = priorities.filter(|priority| *priority != THROTTLED).min() else {
                // All are parked, so the delayed ones leave, as on an idle cpu.
                self.end_delays(c);
                return None;
            };
            match self.best(c, priority)? {
                Ent::Task(t) if !self.cpus[c].delayed.contains(&t) => {
                    if !self.is_out_of_time(c, t) {
                        return Some(t);
                    }
                    let with = self.parked_with(c, t);
                    self.park(params, c, t);
                    for other in with {
                        self.park(params, c, other);
                    }
                }
                e => self.drop_one(params, c, e),
            }
        }
    }

    /// Who leaves with a task of a throttled group: where that is so, all others of the outermost one.
    pub(super) fn parked_with(&self, c: usize, t: usize) -> Vec<usize> {
        let is_throttled =
            |e: &Ent| matches!(e, Ent::Group(g) if self.cpus[c].groups[*g].throttled.is_some());
        let outermost = self.around(c, Ent::Task(t)).into_iter().rfind(is_throttled);
        let at_once = self.model.discipline.bandwidth().is_some_and(|rules| rules.at_once);
        let Some(outermost) = outermost.filter(|_| at_once) else { return Vec::new() };
        let queue = self.cpus[c].queue.iter().copied().filter(|other| *other != t);
        let counts = queue.filter(|other| self.tasks[*other].priority != THROTTLED);
        counts.filter(|other| self.around(c, Ent::Task(*other)).contains(&outermost)).collect()
    }

    /// A task of a throttled group no longer competes.
    fn park(&mut self, params: EevdfParams, c: usize, t: usize) {
        let me = Ent::Task(t);
        let vlag = self.lag(params, c, me);
        self.set_keys(c, me, Keys { vlag, ..self.keys(c, me) });
        let waits = self.cpus[c].queue.contains(&t);
        self.remove(c, t);
        self.tasks[t].priority = THROTTLED;
        if waits {
            self.insert(c, t);
        }
        self.cpus[c].counted.retain(|other| *other != t);
        self.count(c, me, false);
        self.leave_groups(params, c, me);
        self.notices.push((t, c, Change::Left));
    }

    /// How far behind the mean one is (in the queue or not), within bounds.
    fn lag(&self, params: EevdfParams, c: usize, e: Ent) -> i64 {
        let mut among = self.peers_of(c, e);
        if !among.contains(&e) {
            among.push(e);
        }
        let keys = self.keys(c, e);
        let bound = weighted((2 * keys.slice).max(params.tick.ns()), keys.weight);
        (self.mean(c, &among) - keys.v).clamp(-bound, bound)
    }

    /// A delayed task leaves its cpu.
    pub(super) fn end_delay(&mut self, params: EevdfParams, c: usize, t: usize) {
        self.drop_one(params, c, Ent::Task(t));
    }

    /// A delayed task or group leaves its cpu.
    fn drop_one(&mut self, params: EevdfParams, c: usize, e: Ent) {
        let vlag = self.lag(params, c, e).min(0);
        self.set_keys(c, e, Keys { vlag, ..self.keys(c, e) });
        match e {
            Ent::Task(t) => {
                self.cpus[c].delayed.retain(|other| *other != t);
                self.cpus[c].counted.retain(|other| *other != t);
            }
            Ent::Group(g) => self.cpus[c].groups[g].clear(),
        }
        self.count(c, e, false);
        self.leave_groups(params, c, e);
    }

    /// The delayed task with the earliest deadline among those that are eligible in the priority level of
    /// the first one; else that one.
    fn first_delayed(&self, c: usize, first: usize) -> usize {
        let priority = self.tasks[first].priority;
        let among = self.peers(c, priority, 0);
        let delayed = self.cpus[c].delayed.iter().copied().filter(|t| self.tasks[*t].priority == priority);
        let able = delayed.filter(|t| self.eligible(c, Ent::Task(*t), &among));
        able.min_by_key(|t| self.keys(c, Ent::Task(*t)).deadline).unwrap_or(first)
    }

    /// A cpu without a runnable task lets its delayed ones go.
    pub(super) fn end_delays(&mut self, c: usize) {
        let Some(params) = self.eevdf() else { return };
        loop {
            let groups = self.cpus[c].groups.iter().any(|group| group.queued);
            let first = self.cpus[c].delayed.first().copied();
            let next = match first {
                Some(first) if !groups => Some(Ent::Task(self.first_delayed(c, first))),
                None if !groups => None,
                _ => self.best(c, 0).or(first.map(Ent::Task)),
            };
            match next {
                Some(next) => self.drop_one(params, c, next),
                None => return,
            }
        }
    }

    /// A task leaves; true when it stays behind as a delayed one.
    pub(super) fn take_leave(&mut self, c: usize, t: usize, reason: LeaveReason) -> bool {
        if self.in_class(t) {
            return false;
        }
        if let Some(params) = self.grouped() {
            self.goes(&params, c, t, reason);
        }
        let Some(params) = self.eevdf() else { return false };
        let me = Ent::Task(t);
        if !self.counts(t) {
            self.tasks[t].priority = 0;
            self.tasks[t].vdeadline = weighted(self.keys(c, me).slice, self.tasks[t].weight);
            return false;
        }
        if reason == LeaveReason::Slept && params.delayed_dequeue && !self.is_eligible(c, t) {
            return true;
        }
        let mut keys = self.keys(c, me);
        keys.vlag = self.lag(params, c, me);
        if reason == LeaveReason::Moved {
            keys.deadline -= keys.v;
        }
        self.set_keys(c, me, keys);
        self.cpus[c].counted.retain(|other| *other != t);
        self.count(c, me, false);
        self.leave_groups(params, c, me);
        if reason == LeaveReason::Exited && self.has_groups() {
            self.ends_load(t);
        }
        false
    }

    fn has_groups(&self) -> bool {
        !self.model.groups.is_empty()
    }

    /// One has entered or left its queue.
    fn count(&mut self, c: usize, e: Ent, enters: bool) {
        if self.has_groups() {
            self.counted(c, e, enters);
        }
    }

    /// Groups in which nothing is left leave as if they slept.
    fn leave_groups(&mut self, params: EevdfParams, c: usize, left: Ent) {
        let mut inside = left;
        for e in self.around(c, left).into_iter().skip(1) {
            let Ent::Group(g) = e else { continue };
            if self.load_of(c, g) > 0 {
                self.reslice_around(c, inside, false);
                return self.reweigh_around(params, c, inside);
            }
            self.return_time(c, g);
            if params.delayed_dequeue && !self.eligible(c, e, &self.peers_of(c, e)) {
                self.cpus[c].groups[g].delayed = true;
                return;
            }
            let vlag = self.lag(params, c, e);
            self.set_keys(c, e, Keys { vlag, ..self.keys(c, e) });
            self.cpus[c].groups[g].clear();
            self.count(c, e, false);
            inside = e;
        }
    }

    /// A delayed task is out of its queue, with its lag and the rest of its request.
    pub(super) fn takes_delayed(&mut self, params: EevdfParams, c: usize, t: usize) {
        let me = Ent::Task(t);
        let (keys, vlag) = (self.keys(c, me), self.lag(params, c, me));
        self.set_keys(c, me, Keys { vlag, deadline: keys.deadline - keys.v, ..keys });
        self.cpus[c].delayed.retain(|other| *other != t);
        self.cpus[c].counted.retain(|other| *other != t);
        self.count(c, me, false);
        self.leave_groups(params, c, me);
    }

    /// The weights of the groups around one follow what is queued in them.
    pub(super) fn reweigh_around(&mut self, params: EevdfParams, c: usize, inside: Ent) {
        for e in self.around(c, inside).into_iter().skip(1) {
            self.reweigh(params, c, e);
        }
    }

    /// A group gets its part of its weight; its lag stays in proportion.
    pub(super) fn reweigh(&mut self, params: EevdfParams, c: usize, e: Ent) {
        let Ent::Group(g) = e else { return };
        let Some(weight) = self.part_of_weight(params.group_shares, c, g) else { return };
        let before = self.keys(c, e);
        if weight == before.weight {
            return;
        }
        let scaled = |value: i64| (i128::from(value) * i128::from(before.weight) / i128::from(weight)) as i64;
        let queued = self.cpus[c].groups[g].queued;
        let mut keys = before;
        if queued {
            keys.vlag = self.lag(params, c, e);
        }
        keys.vlag = scaled(keys.vlag);
        keys.weight = weight;
        if queued {
            keys.deadline = scaled(keys.deadline - keys.v);
            self.set_keys(c, e, keys);
            self.reweighed(c, g, before.weight);
            if params.reweigh_places {
                self.sit(params, c, e, Entry::Move);
                keys = self.keys(c, e);
            } else {
                keys.deadline += keys.v;
            }
            keys.protection = keys.v;
            if params.protection == Protection::MinSlice {
                keys.protection += scaled(before.protection - before.v);
            }
        }
        self.set_keys(c, e, keys);
    }

    /// Where a task that enters stands, and the groups around it that were not queued.
    pub(super) fn insert_entity(&mut self, params: EevdfParams, c: usize, t: usize, mut entry: Entry) {
        if self.has_groups() {
            self.brings_load(c, t);
        }
        self.reslice_around(c, Ent::Task(t), true);
        if entry == Entry::Move && !params.rel_deadline {
            entry = Entry::Wake;
        }
        for e in self.around(c, Ent::Task(t)) {
            let (delayed, queued) = match e {
                Ent::Task(t) => (self.cpus[c].delayed.contains(&t), false),
                Ent::Group(g) => (self.cpus[c].groups[g].delayed, self.cpus[c].groups[g].queued),
            };
            if delayed {
                let lag = self.lag(params, c, e);
                match e {
                    Ent::Task(t) => self.cpus[c].delayed.retain(|other| *other != t),
                    Ent::Group(g) => self.cpus[c].groups[g].delayed = false,
                }
                if lag > 0 {
                    self.set_keys(c, e, Keys { vlag: 0, ..self.keys(c, e) });
                    self.sit(params, c, e, Entry::Wake);
                }
            }
            if delayed || queued {
                break;
            }
            self.reweigh(params, c, e);
            self.sit(params, c, e, entry);
            match e {
                Ent::Task(t) => self.cpus[c].counted.push(t),
                Ent::Group(g) => self.cpus[c].groups[g].queued = true,
            }
            self.count(c, e, true);
            entry = Entry::Wake;
        }
        self.reweigh_around(params, c, Ent::Task(t));
        self.cpus[c].timed |= params.hrtick && self.fair_current(c).is_some_and(|current| current != t);
    }

    /// A task ends the delay of itself or of a group around it when it enters.
    pub(super) fn ends_a_delay(&self, c: usize, t: usize) -> bool {
        if self.cpus[c].delayed.contains(&t) {
            return true;
        }
        let groups = self.around(c, Ent::Task(t)).into_iter().filter_map(|e| match e {
            Ent::Group(g) => Some(&self.cpus[c].groups[g]),
            Ent::Task(_) => None,
        });
        groups.into_iter().find(|group| group.queued).is_some_and(|group| group.delayed)
    }

    /// Puts one beside its peers by its lag.
    fn sit(&mut self, params: EevdfParams, c: usize, e: Ent, entry: Entry) {
        let mut others = self.peers_of(c, e);
        others.retain(|other| *other != e);
        let mean = self.mean(c, &others);
        let (load, _) = self.sums(c, &others);
        let mut keys = self.keys(c, e);
        let mut lag = i128::from(keys.vlag);
        if others.is_empty() || !params.place_lag {
            lag = 0;
        } else {
            // It will pull the mean towards itself.
            lag = lag * (load + i128::from(keys.weight)) / load;
        }
        let slice = weighted(keys.slice, keys.weight);
        keys.v = mean - lag as i64;
        keys.deadline = keys.v
            + match entry {
                Entry::Fork if params.half_first_request => slice / 2,
                Entry::Fork | Entry::Wake => slice,
                Entry::Move => keys.deadline,
            };
        self.set_keys(c, e, keys);
    }

    /// A task takes the cpu from another one, or an idle cpu; groups that were not picked before are
    /// protected like it.
    pub(super) fn protect(&mut self, params: EevdfParams, c: usize, t: usize) {
        self.cpus[c].charged = self.now;
        let around = self.around(c, Ent::Task(t));
        for e in &around {
            if matches!(e, Ent::Group(g) if self.cpus[c].groups[*g].chosen) {
                continue;
            }
            let mut keys = self.keys(c, *e);
            keys.protection = keys.deadline;
            let shortest = match (params.protected, params.protection) {
                (Some(span), _) => span.ns(),
                (None, Protection::Deadline) => keys.slice,
                (None, Protection::MinSlice) => self.shortest(c, &self.peers_of(c, *e)),
            };
            if shortest < keys.slice {
                keys.protection = keys.protection.min(keys.v + weighted(shortest, keys.weight));
            }
            self.set_keys(c, *e, keys);
        }
        for (g, group) in self.cpus[c].groups.iter_mut().enumerate() {
            group.chosen = around.contains(&Ent::Group(g));
        }
    }

    /// A runnable task, taken out of the queue if it was there, moves to another priority level.
    pub(super) fn move_band(&mut self, params: EevdfParams, c: usize, t: usize, priority: u8) {
        let me = Ent::Task(t);
        let mut keys = self.keys(c, me);
        keys.vlag = self.lag(params, c, me);
        keys.deadline -= keys.v;
        let protected = keys.protection - keys.v;
        self.set_keys(c, me, keys);
        self.tasks[t].priority = priority;
        self.sit(params, c, me, Entry::Move);
        let keys = self.keys(c, me);
        self.set_keys(c, me, Keys { protection: keys.v + protected, ..keys });
    }
}
