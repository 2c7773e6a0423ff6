//! Load averages of task groups in the reference engine: who is queued for what part of the time, and what
//! the cpus make of that.

use sim_core::decay::{PERIOD_NS, faded};

use sim_core::os::GroupShares;

use super::Reference;
use super::records::Ent;
use super::tracks::{Track, Tracks};

/// All of the time, in 2^-20; loads are in 2^-10.
const FULL: u64 = 1 << 20;

impl Reference<'_> {
    /// The averages of the queue of a group (from 1), or of the cpu itself (0).
    fn tracks(&mut self, c: usize, group: usize) -> &mut Tracks {
        let cpu = &mut self.cpus[c];
        if group == 0 { &mut cpu.tracks } else { &mut cpu.groups[group - 1].tracks }
    }

    fn seen(&self, c: usize, group: usize) -> Tracks {
        if group == 0 { self.cpus[c].tracks } else { self.cpus[c].groups[group - 1].tracks }
    }

    fn queued_part(&self, c: usize, e: Ent) -> Track {
        match e {
            Ent::Task(t) => self.tasks[t].part,
            Ent::Group(g) => self.cpus[c].groups[g].tracks.part,
        }
    }

    fn set_part(&mut self, c: usize, e: Ent, part: Track) {
        match e {
            Ent::Task(t) => self.tasks[t].part = part,
            Ent::Group(g) => self.cpus[c].groups[g].tracks.part = part,
        }
    }

    /// The load of one in its queue.
    fn load_now(&self, c: usize, e: Ent) -> u64 {
        (u64::from(self.keys(c, e).weight) * self.queued_part(c, e).to(self.now).level) >> 10
    }

    /// Sum of the weights in a queue.
    pub(super) fn weights(&self, c: usize, group: usize) -> u64 {
        let cpu = &self.cpus[c];
        let tasks = cpu.counted.iter().map(|t| Ent::Task(*t));
        let groups = (0..cpu.groups.len()).filter(|g| cpu.groups[*g].queued).map(Ent::Group);
        let inside = tasks.chain(groups).filter(|e| self.group_of(*e) == group);
        inside.map(|e| u64::from(self.keys(c, e).weight)).sum()
    }

    /// What is left of what an idle queue said.
    fn left(&self, tracks: &Tracks) -> u64 {
        faded(tracks.said, (self.now / PERIOD_NS).saturating_sub(tracks.since / PERIOD_NS))
    }

    /// The cpu says how much load of a group it has, if that is news.
    fn say(&mut self, c: usize, group: usize, weights: u64) {
        if group == 0 {
            return;
        }
        let (now, tracks) = (self.now, self.seen(c, group));
        let level = tracks.queue.to(now).level;
        let left = self.left(&tracks);
        let total = &mut self.totals[group - 1];
        if weights == 0 && !tracks.queue.stopped {
            total.rest = total.rest.changed(now, 0, left);
            total.rest = total.rest.changed(now, level, 0);
        } else if level.abs_diff(tracks.said) > tracks.said / 64 && now >= tracks.since + 1_000_000 {
            total.busy = total.busy + level - tracks.said;
        } else {
            return;
        }
        let tracks = self.tracks(c, group);
        (tracks.said, tracks.since) = (level, now);
    }

    /// One has entered its queue, or left it; `stops`: because a group around it is throttled.
    pub(super) fn counted(&mut self, c: usize, e: Ent, enters: bool) {
        let (now, group) = (self.now, self.group_of(e));
        let throttled = |g: &Ent| matches!(g, Ent::Group(g) if self.cpus[c].groups[*g].throttled.is_some());
        let stops = !enters && self.around(c, e).iter().skip(1).any(throttled);
        let part = self.queued_part(c, e);
        let part = match (enters, stops) {
            (false, true) => part.stops(now),
            _ => part.aims(now, if enters { FULL } else { 0 }),
        };
        self.set_part(c, e, part);
        let (after, own) = (self.weights(c, group), u64::from(self.keys(c, e).weight));
        let before = if enters { after - own } else { after + own };
        let stood = self.seen(c, group).queue.stopped;
        if before > 0 {
            self.say(c, group, before);
        } else if group > 0 && !stood {
            let tracks = self.seen(c, group);
            let left = self.left(&tracks);
            let total = &mut self.totals[group - 1];
            total.rest = total.rest.changed(now, 0, left);
            total.busy += left;
            (self.tracks(c, group).said, self.tracks(c, group).since) = (left, now);
        }
        let queue = self.seen(c, group).queue;
        if after == 0 && stops {
            self.tracks(c, group).queue = queue.stops(now);
            return;
        }
        self.tracks(c, group).queue = queue.aims(now, after << 10);
        if after == 0 && group > 0 {
            let said = self.seen(c, group).said;
            let total = &mut self.totals[group - 1];
            total.busy -= said;
            total.rest = total.rest.changed(now, said, 0);
            self.tracks(c, group).since = now;
        }
    }

    /// A group that is queued has another weight now than `before`.
    pub(super) fn reweighed(&mut self, c: usize, g: usize, before: u32) {
        let (now, e) = (self.now, Ent::Group(g));
        let group = self.group_of(e);
        let old = (u64::from(before) * self.queued_part(c, e).to(now).level) >> 10;
        let (new, weights) = (self.load_now(c, e), self.weights(c, group));
        let tracks = self.tracks(c, group);
        tracks.queue = tracks.queue.changed(now, new, 0).changed(now, 0, old).aims(now, weights << 10);
    }

    /// A task that is about to enter a cpu brings its load along.
    pub(super) fn brings_load(&mut self, c: usize, t: usize) {
        let now = self.now;
        let from = self.tasks[t].belongs.replace(c);
        if from == Some(c) {
            return;
        }
        match from {
            Some(from) => self.takes_load(from, t),
            None => self.tasks[t].part = Track { level: FULL, at: now, ..Track::default() },
        }
        self.adds_load(c, t);
    }

    /// A task that is in no queue comes to another group with its load.
    pub(super) fn changes_group(&mut self, t: usize, group: Option<u16>) {
        let home = self.tasks[t].belongs;
        if let Some(c) = home {
            self.takes_load(c, t);
        }
        self.tasks[t].group = group;
        if let Some(c) = home {
            self.adds_load(c, t);
        }
    }

    /// A task that is in no queue has had another weight.
    pub(super) fn weight_counts(&mut self, t: usize, before: u32) {
        let Some(c) = self.tasks[t].belongs.filter(|_| !self.model.groups.is_empty()) else { return };
        let (now, e) = (self.now, Ent::Task(t));
        let (group, level) = (self.group_of(e), self.queued_part(c, e).to(now).level);
        let (old, new) = ((u64::from(before) * level) >> 10, self.load_now(c, e));
        let tracks = self.tracks(c, group);
        tracks.queue = tracks.queue.changed(now, new, 0).changed(now, 0, old);
        let weights = self.weights(c, group);
        self.say(c, group, weights);
    }

    /// The load of a task comes to a cpu.
    fn adds_load(&mut self, c: usize, t: usize) {
        let now = self.now;
        let (part, mut carried) =
            (self.queued_part(c, Ent::Task(t)).to(now).level, self.load_now(c, Ent::Task(t)));
        for e in self.around(c, Ent::Task(t)) {
            let group = self.group_of(e);
            let tracks = self.tracks(c, group);
            tracks.queue = tracks.queue.changed(now, carried, 0);
            let weights = self.weights(c, group);
            self.say(c, group, weights);
            if group > 0 {
                let outer = Ent::Group(group - 1);
                let (before, own) = (self.load_now(c, outer), self.queued_part(c, outer).to(now));
                self.set_part(c, outer, Track { level: FULL.min(own.level + part), ..own });
                carried = self.load_now(c, outer) - before;
            }
        }
    }

    /// The load of a task leaves the cpu to which it belongs.
    fn takes_load(&mut self, c: usize, t: usize) {
        let (now, mut carried) = (self.now, self.load_now(c, Ent::Task(t)));
        for e in self.around(c, Ent::Task(t)) {
            let group = self.group_of(e);
            let tracks = self.tracks(c, group);
            tracks.queue = tracks.queue.changed(now, 0, carried);
            let weights = self.weights(c, group);
            self.say(c, group, weights);
            if group > 0 {
                let outer = Ent::Group(group - 1);
                let (before, own) = (self.load_now(c, outer), self.queued_part(c, outer).to(now));
                let rest = self.seen(c, group).queue.to(now).level << 10;
                let most = rest.checked_div(weights).unwrap_or(0);
                self.set_part(c, outer, Track { level: own.level.min(most), ..own });
                carried = before - self.load_now(c, outer);
            }
        }
    }

    /// A task has ended.
    pub(super) fn ends_load(&mut self, t: usize) {
        if let Some(c) = self.tasks[t].belongs.take() {
            self.takes_load(c, t);
        }
    }

    /// At a tick the cpu says what load it has of a group.
    pub(super) fn says_at_tick(&mut self, c: usize, g: usize) {
        let weights = self.weights(c, g + 1);
        self.say(c, g + 1, weights);
    }

    /// The load of a group on a cpu, and on all.
    pub(super) fn loads_for_share(&self, c: usize, g: usize) -> (u64, u64) {
        let (tracks, total, weights) = (self.seen(c, g + 1), &self.totals[g], self.weights(c, g + 1));
        let here = weights.max(tracks.queue.to(self.now).level >> 10);
        let own = if weights == 0 { self.left(&tracks) } else { tracks.said };
        let all = total.busy + total.rest.to(self.now).level;
        (here, (all.saturating_sub(own) >> 10) + here)
    }

    /// Cpus are compared by what is queued at the instant.
    fn compares_queued(&self) -> bool {
        self.grouped().is_some_and(|params| params.group_shares == GroupShares::Queued)
    }

    /// The load of a cpu.
    pub(super) fn average_load(&self, c: usize) -> u64 {
        if self.compares_queued() {
            return self.weights(c, 0);
        }
        self.cpus[c].tracks.queue.to(self.now).level >> 10
    }

    /// What a task counts of the load of its cpu: at each level, from the outside in, its part of the queue.
    pub(super) fn task_load(&self, t: usize) -> u64 {
        if self.compares_queued() {
            let c = self.tasks[t].belongs.unwrap_or(self.tasks[t].cpu);
            let mut whole = self.weights(c, 0);
            for e in self.around(c, Ent::Task(t)).into_iter().rev() {
                let beside = self.weights(c, self.group_of(e));
                whole = u64::from(self.keys(c, e).weight) * whole / (beside + 1);
            }
            return whole;
        }
        let Some(c) = self.tasks[t].belongs else { return u64::from(self.tasks[t].weight) };
        let mut whole = self.average_load(c);
        for e in self.around(c, Ent::Task(t)).into_iter().rev() {
            let queue = self.seen(c, self.group_of(e)).queue.to(self.now).level >> 10;
            whole = (self.load_now(c, e) >> 10) * whole / (queue + 1);
        }
        whole
    }
}
