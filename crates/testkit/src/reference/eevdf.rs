//! EEVDF written down rule by rule: sums over everybody at every question, ticks as events of their own.

use sim_core::observe::LeaveReason;
use sim_core::os::{Discipline, EevdfParams};
use sim_core::policy::THROTTLED;
use sim_core::rng::{Purpose, draw, key};

use super::Reference;
use super::queue::{Entry, weighted};
use super::state::Doing;

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
        self.eevdf().is_some() && self.cpus[c].current.is_some() && self.cpus[c].doing != Doing::Poll
    }

    /// Everybody of a band who competes on a cpu.
    fn band_of(&self, c: usize, band: u8) -> Vec<usize> {
        let cpu = &self.cpus[c];
        let all = cpu.queue.iter().chain(&cpu.delayed).chain(&cpu.current).copied();
        all.filter(|t| self.tasks[*t].band == band).collect()
    }

    /// Sum of the weights, and of the weights times virtual runtimes.
    fn sums(&self, tasks: &[usize]) -> (i128, i128) {
        let load = tasks.iter().map(|t| i128::from(self.tasks[*t].weight)).sum();
        let sum =
            tasks.iter().map(|t| i128::from(self.tasks[*t].weight) * i128::from(self.tasks[*t].vruntime));
        (load, sum.sum())
    }

    /// Nobody's virtual runtime but one not above the mean is eligible.
    fn eligible(&self, t: usize, among: &[usize]) -> bool {
        let (load, sum) = self.sums(among);
        i128::from(self.tasks[t].vruntime) * load <= sum
    }

    /// A task is eligible among all of its band on its cpu.
    pub(super) fn is_eligible(&self, c: usize, t: usize) -> bool {
        self.eligible(t, &self.band_of(c, self.tasks[t].band))
    }

    /// The mean of virtual runtimes, rounded down; 0 of none.
    fn mean(&self, tasks: &[usize]) -> i64 {
        let (load, sum) = self.sums(tasks);
        if load == 0 { 0 } else { sum.div_euclid(load) as i64 }
    }

    /// Brings the current task up to date.
    pub(super) fn update(&mut self, params: EevdfParams, c: usize) {
        let Some(t) = self.cpus[c].current else { return };
        if self.now <= self.cpus[c].charged {
            return;
        }
        let span = self.now - self.cpus[c].charged;
        self.cpus[c].charged = self.now;
        let (band, weight) = (self.tasks[t].band, self.tasks[t].weight);
        self.tasks[t].vruntime += weighted(span, weight);
        let mut pick_again = false;
        if self.tasks[t].vruntime >= self.tasks[t].vdeadline {
            self.tasks[t].vdeadline = self.tasks[t].vruntime + weighted(params.slice.ns(), weight);
            pick_again = true;
        }
        pick_again |= self.tasks[t].vruntime >= self.tasks[t].protection;
        let lower = self.cpus[c].queue.iter().any(|other| self.tasks[*other].band < band);
        if pick_again && (lower || self.band_of(c, band).len() > 1) {
            self.cpus[c].resched = true;
        }
    }

    /// A tick comes to a cpu.
    pub(super) fn tick(&mut self, c: usize) {
        if let Some(params) = self.eevdf() {
            self.update(params, c);
            self.cpus[c].slice_over |= self.cpus[c].resched;
        }
    }

    /// `sched_yield`.
    pub(super) fn forfeit(&mut self, params: EevdfParams, c: usize, t: usize) {
        self.update(params, c);
        let among = self.band_of(c, self.tasks[t].band);
        if among.len() > 1 && self.eligible(t, &among) {
            let task = &mut self.tasks[t];
            task.vruntime = task.vdeadline;
            task.vdeadline += weighted(params.slice.ns(), task.weight);
        }
    }

    /// Who would be picked, be it a delayed task.
    pub(super) fn would_pick(&self, c: usize) -> Option<usize> {
        let band = self.runnable(c).map(|t| self.tasks[t].band).filter(|band| *band != THROTTLED).min()?;
        let among = self.band_of(c, band);
        if let Some(t) = self.cpus[c].current {
            let task = &self.tasks[t];
            if task.band == band && self.eligible(t, &among) && task.vruntime < task.protection {
                return Some(t);
            }
        }
        // The queue comes first, then the delayed ones, then the current one; the first of equals wins.
        among.iter().copied().filter(|t| self.eligible(*t, &among)).min_by_key(|t| self.tasks[*t].vdeadline)
    }

    /// The pick; delayed tasks that come up leave for good.
    pub(super) fn pick(&mut self, params: EevdfParams, c: usize) -> Option<usize> {
        loop {
            let next = self.would_pick(c);
            match next {
                Some(t) if self.cpus[c].delayed.contains(&t) => self.end_delay(params, c, t),
                _ => return next,
            }
        }
    }

    /// How far behind the mean a task is (in the queue or not), within bounds.
    fn lag(&self, params: EevdfParams, c: usize, t: usize) -> i64 {
        let mut among = self.band_of(c, self.tasks[t].band);
        if !among.contains(&t) {
            among.push(t);
        }
        let bound = weighted(params.lag_bound.ns(), self.tasks[t].weight);
        (self.mean(&among) - self.tasks[t].vruntime).clamp(-bound, bound)
    }

    /// A delayed task leaves its cpu.
    pub(super) fn end_delay(&mut self, params: EevdfParams, c: usize, t: usize) {
        self.tasks[t].vlag = self.lag(params, c, t).min(0);
        self.cpus[c].delayed.retain(|other| *other != t);
    }

    /// A cpu without anybody runnable lets its delayed tasks go.
    pub(super) fn end_delays(&mut self, c: usize) {
        let Some(params) = self.eevdf() else { return };
        while let Some(first) = self.cpus[c].delayed.first().copied() {
            let among = self.band_of(c, self.tasks[first].band);
            let able = among.iter().copied().filter(|t| self.eligible(*t, &among));
            let next = able.min_by_key(|t| self.tasks[*t].vdeadline).unwrap_or(first);
            self.end_delay(params, c, next);
        }
    }

    /// A task leaves; true when it stays behind as a delayed one.
    pub(super) fn take_leave(&mut self, c: usize, t: usize, reason: LeaveReason) -> bool {
        let Some(params) = self.eevdf() else { return false };
        let among = self.band_of(c, self.tasks[t].band);
        if reason == LeaveReason::Slept && params.delayed_dequeue && !self.eligible(t, &among) {
            return true;
        }
        self.tasks[t].vlag = self.lag(params, c, t);
        if reason == LeaveReason::Moved {
            self.tasks[t].vdeadline -= self.tasks[t].vruntime;
        }
        false
    }

    /// Where a task that enters stands.
    pub(super) fn seat(&mut self, params: EevdfParams, c: usize, t: usize, entry: Entry) {
        if self.cpus[c].delayed.contains(&t) {
            let lag = self.lag(params, c, t);
            self.cpus[c].delayed.retain(|other| *other != t);
            if lag <= 0 {
                return;
            }
            self.tasks[t].vlag = 0;
        }
        let mut others = self.band_of(c, self.tasks[t].band);
        others.retain(|other| *other != t);
        let mean = self.mean(&others);
        let (load, _) = self.sums(&others);
        let weight = i128::from(self.tasks[t].weight);
        let mut lag = i128::from(self.tasks[t].vlag);
        if others.is_empty() || !params.place_lag {
            lag = 0;
        } else {
            // It will pull the mean towards itself.
            lag = lag * (load + weight) / load;
        }
        let slice = weighted(params.slice.ns(), self.tasks[t].weight);
        let task = &mut self.tasks[t];
        task.vruntime = mean - lag as i64;
        task.vdeadline = task.vruntime
            + match entry {
                Entry::Fork => slice / 2,
                Entry::Wake => slice,
                Entry::Move => task.vdeadline,
            };
    }

    /// A task takes the cpu from another one, or from nobody.
    pub(super) fn protect(&mut self, params: EevdfParams, c: usize, t: usize) {
        self.cpus[c].charged = self.now;
        let task = &mut self.tasks[t];
        task.protection = task.vdeadline;
        if params.protected < params.slice {
            let end = task.vruntime + weighted(params.protected.ns(), task.weight);
            task.protection = task.protection.min(end);
        }
    }

    /// A runnable task, taken out of the queue if it was there, goes to another band.
    pub(super) fn move_band(&mut self, params: EevdfParams, c: usize, t: usize, band: u8) {
        let lag = self.lag(params, c, t);
        let task = &mut self.tasks[t];
        let protected = task.protection - task.vruntime;
        task.vlag = lag;
        task.vdeadline -= task.vruntime;
        task.band = band;
        self.seat(params, c, t, Entry::Move);
        self.tasks[t].protection = self.tasks[t].vruntime + protected;
    }
}
