//! The pick of the disciplines with slices (O(1), ULE, TS; `run_queue::multilevel`): a yield may give its
//! caller another key, a slice that is used up does, and the first of all keys runs.

use crate::engine::polling::members::{DISPATCHES_PREDICTED, Members, NONE};
use crate::engine::state::Cpu;
use crate::run_queue::Tasks;
use crate::run_queue::multilevel::{Levels, Share};
use crate::time::Time;

impl Members {
    /// As [`Members::run`].
    #[inline(never)]
    pub(super) fn run_by_slice(
        &mut self,
        levels: &dyn Levels,
        (source, record): (&Tasks, &Cpu),
        limit: Time,
    ) -> Time {
        self.read_shares(source, record);
        let most = DISPATCHES_PREDICTED + 2 * self.members.len();
        let mut dispatches = 0;
        let stay = |members: &mut Self, cycles: u64| members.stay_in_slice(levels, cycles);
        loop {
            let next = self.queue.first;
            let Some(rival) = self.members.get(next as usize) else {
                return self.stop(limit, u64::MAX, stay);
            };
            let (current, first) =
                (&self.members[self.current as usize], self.since + self.overhead + self.cycle);
            let wanted = self.yields_kept(levels, rival.key, first);
            // Its last poll of this dispatch comes one call before the end.
            let end = first + self.cycle * (wanted - 1);
            if current.visible.saturating_add(self.prices.call) <= end || end >= limit {
                return self.stop(limit, wanted, stay);
            }
            let (rival_key, polls) = (rival.key, rival.polls != 0);
            self.stay_in_slice(levels, wanted - 1);
            let (key, share) = self.after_yields(levels, end, 1);
            let keeps = key < rival_key;
            if !keeps && !polls {
                return end;
            }
            self.yield_at(end, (key, share));
            self.count(1, end);
            if !keeps {
                let old = self.current;
                self.remove(NONE, next);
                let previous = self.behind_equals(key, |member| member.key);
                self.insert(previous, old);
                self.hand_over(old, next);
                self.charge_switch();
            }
            self.base = self.base.max(levels.base(self.members[self.current as usize].key));
            dispatches += 1;
            if self.predicts && dispatches > most {
                return self.end_of_cycle();
            }
            if self.skip_periods(Some(levels), limit, dispatches) {
                return Time::NEVER;
            }
        }
    }

    /// Reads all tasks that compete with the current one.
    fn read_shares(&mut self, source: &Tasks, record: &Cpu) {
        (self.base, self.running) = (record.min_vruntime, record.running);
        while let Some(id) = self.ahead.some().filter(|id| source[*id].priority == self.priority) {
            let (number, task) = (self.members.len() as u32, &source[id]);
            self.read(id, task);
            self.insert(self.queue.last, number);
            self.alike &= (task.polls, task.weight) == (self.polls, self.weight);
            self.ahead = task.next;
        }
        self.shares.extend(self.members.iter().map(|member| source[member.task].history.share));
    }

    /// Yields of the current task, the first of which ends at `first`, after all of which but the last it
    /// certainly keeps the cpu: if it precedes its rival, as many as its slice allows; at least 1.
    fn yields_kept(&self, levels: &dyn Levels, rival: i64, first: Time) -> u64 {
        let key = self.members[self.current as usize].key;
        if key >= rival || levels.moves_at_yield() {
            return 1;
        }
        let room = levels.room(&self.shares[self.current as usize], key, self.weight, self.running);
        1 + room.saturating_sub(first.since(self.charged).ns()).div_ceil(self.cycle.ns())
    }

    /// Key and slice of the current task after it has yielded so often, the last time at `end`.
    fn after_yields(&self, levels: &dyn Levels, end: Time, times: i64) -> (i64, Share) {
        let mut key = self.members[self.current as usize].key;
        let mut share = self.shares[self.current as usize];
        let span = end.since(self.charged);
        levels.run(&self.setting(self.queue.first != NONE), self.weight, &mut key, &mut share, span);
        (share.expired, share.front) = (false, false);
        (levels.yielded(self.base, key, times), share)
    }

    fn yield_at(&mut self, end: Time, (key, share): (i64, Share)) {
        self.members[self.current as usize].key = key;
        self.shares[self.current as usize] = share;
        self.charged = end;
    }

    /// The current task goes through whole cycles and keeps the cpu.
    fn stay_in_slice(&mut self, levels: &dyn Levels, cycles: u64) {
        if cycles == 0 {
            return;
        }
        let first = self.since + self.overhead + self.cycle;
        let last = first + self.cycle * (cycles - 1);
        for (end, times) in [(first, 1), (last, cycles as i64 - 1)] {
            if times > 0 {
                let after = self.after_yields(levels, end, times);
                self.yield_at(end, after);
                self.base = self.base.max(levels.base(after.0));
            }
        }
        self.count(cycles, last);
    }

    /// Writes slices and the queue's minimum back.
    pub(super) fn store_shares(&self, tasks: &mut Tasks, record: &mut Cpu) {
        if self.shares.is_empty() {
            return;
        }
        for (member, share) in self.members.iter().zip(&self.shares).filter(|(member, _)| member.cycles > 0) {
            tasks[member.task].history.share = *share;
        }
        record.raise_minimum(self.base);
    }
}
