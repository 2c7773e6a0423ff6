//! The disciplines with priorities in the reference engine: O(1), ULE and the time-sharing class, rule by
//! rule.

use sim_core::os::{Discipline, NICE_WEIGHTS, O1Params, TsParams, UleParams};
use sim_core::policy::{Preemption, TaskState};

use super::queue::Entry;
use super::{Reference, Timer};

/// Units of a sleep average per nanosecond: divisible by all levels.
const UNITS: u128 = 2520;

fn nice(weight: u32) -> i64 {
    let mut nice = -20;
    while nice < 19 && NICE_WEIGHTS[(nice + 20) as usize] > weight {
        nice += 1;
    }
    nice
}

/// Width of one of the ten levels of the sleep average.
fn level(params: &O1Params) -> u128 {
    u128::from((params.sleep_average.ns() / 10).max(1)) * UNITS
}

fn o1_priority(params: &O1Params, weight: u32, average: u128) -> i64 {
    let bonus = if params.bonus { (average / level(params)) as i64 - 5 } else { 0 };
    (120 + nice(weight) - bonus).clamp(100, 139)
}

fn delta(weight: u32) -> i64 {
    (nice(weight) + 20) / 4 - 3
}

fn o1_slice(params: &O1Params, weight: u32) -> u64 {
    let (nice, base) = (nice(weight), u128::from(params.timeslice.ns()));
    let base = if nice < 0 { 4 * base } else { base };
    ((base * (20 - nice) as u128 / 20) as u64).max(params.timeslice.ns() / 20)
}

/// Running drains a sleep average, the slower the higher it stands.
fn drain(params: &O1Params, mut average: u128, ns: u64) -> u128 {
    let (width, mut left) = (level(params), u128::from(ns));
    while left > 0 && average > 0 {
        // From exactly the bottom of a level it goes on at the rate of the one below.
        let at = (average - 1) / width;
        let rate = UNITS / at.max(1);
        let until_below = (average - at * width) / rate;
        let part = left.min(until_below);
        average -= part * rate;
        left -= part;
    }
    average
}

fn score(params: &UleParams, weight: u32, ran: u64, slept: u64) -> i64 {
    let score = match ran.cmp(&slept) {
        std::cmp::Ordering::Greater => 100 - (slept / (ran / 50).max(1)).min(50),
        std::cmp::Ordering::Less => ran / (slept / 50).max(1),
        std::cmp::Ordering::Equal => u64::from(ran > 0) * 50,
    };
    let score = (score as i64 + nice(weight)).max(0);
    if score < i64::from(params.interactive) { score } else { 256 }
}

fn fade(params: &UleParams, ran: u64, slept: u64) -> (u64, u64) {
    let (most, sum) = (params.history.ns(), ran + slept);
    match sum {
        _ if sum < most => (ran, slept),
        _ if sum > 2 * most && ran > slept => (most, 1),
        _ if sum > 2 * most => (1, most),
        _ if sum > most / 5 * 6 => (ran / 2, slept / 2),
        _ => (ran / 5 * 4, slept / 5 * 4),
    }
}

/// Quantum in ns, priority after it, after a sleep and after a long wait, and how many updates are long.
fn ts_row(params: &TsParams, priority: i64) -> (u64, i64, i64, i64, u32) {
    let row = if params.server_table {
        let ticks = [(1, 40), (20, 38), (41, 36), (60, 34)];
        let ticks = ticks.iter().find(|(below, _)| priority < *below).map_or(34, |(_, ticks)| *ticks);
        let sunk = if priority < 20 { priority / 2 } else { priority - 10 };
        let up = (priority + 1).min(59);
        (ticks, sunk, up, up.max(40), 2)
    } else {
        let ticks = [20, 16, 12, 8, 4, 4][(priority / 10) as usize];
        let slept = [50, 50, 51, 51, 52, 52, 53, 54, 55][(priority.min(44) / 5) as usize];
        let slept = if priority > 44 { (priority + 11).min(58) } else { slept };
        let (sunk, waited) = ((priority - 10).max(0), if priority >= 49 { 59 } else { slept });
        if priority == 59 { (2, 49, 59, 59, 32_000) } else { (ticks, sunk, slept, waited, 0) }
    };
    (row.0 * params.clock_tick.ns(), row.1, row.2, row.3, row.4)
}

impl Reference<'_> {
    /// The slice of a task on this cpu, ns.
    pub(super) fn whole_slice(&self, c: usize, t: usize) -> u64 {
        let task = &self.tasks[t];
        let slice = match &self.model.discipline {
            Discipline::O1(params) => o1_slice(params, task.weight),
            Discipline::Ule(params) => match self.runnable(c).count() as u64 {
                0..=2 => params.slice.ns(),
                count @ 3..=6 => (params.slice.ns() / (count - 1)).max(params.min_slice.ns()),
                _ => params.min_slice.ns(),
            },
            Discipline::Ts(params) => ts_row(params, -task.vruntime).0,
            _ => u64::MAX,
        };
        slice.max(1)
    }

    /// The priority of a task as a policy sees it.
    pub(super) fn priority_of(&self, t: usize) -> i64 {
        let Discipline::Ts(params) = &self.model.discipline else { return 0 };
        let task = &self.tasks[t];
        let (_, _, rested, _, patience) = ts_row(params, (-task.vruntime).clamp(0, 59));
        match task.state {
            TaskState::New => i64::from(params.start),
            TaskState::Sleeping if params.every_sleep || task.waited > patience => rested,
            _ => -task.vruntime,
        }
    }

    /// The current task has run for so long; at the end of each slice it gets a new priority.
    pub(super) fn use_slice(&mut self, c: usize, t: usize, span: u64) {
        let mut left = span;
        let mut at = self.cpus[c].charged;
        loop {
            let whole = self.whole_slice(c, t);
            let part = left.min(whole.saturating_sub(self.tasks[t].used));
            self.live(t, part);
            self.tasks[t].used += part;
            left -= part;
            at += part;
            if self.tasks[t].used < whole {
                return;
            }
            self.tasks[t].used = 0;
            self.tasks[t].expired = self.rivalled(c);
            self.end_slice(c, t, at);
        }
    }

    fn live(&mut self, t: usize, ns: u64) {
        match &self.model.discipline {
            Discipline::O1(params) => self.tasks[t].average = drain(params, self.tasks[t].average, ns),
            Discipline::Ule(_) => self.tasks[t].ran += ns,
            _ => {}
        }
    }

    fn end_slice(&mut self, c: usize, t: usize, at: u64) {
        let rivalled = self.rivalled(c);
        let count = self.runnable(c).count() as u64;
        let cpu = &self.cpus[c];
        let task = &mut self.tasks[t];
        match &self.model.discipline {
            Discipline::O1(params) => {
                let priority = o1_priority(params, task.weight, task.average);
                let interactive = params.bonus && priority <= 120 + nice(task.weight) - delta(task.weight);
                let patience = params.sleep_average.ns() * count;
                let starving = cpu.expired_since.is_some_and(|since| at >= since + patience);
                let active = cpu.minimum.div_euclid(256) * 256;
                let expires = rivalled && (starving || !interactive);
                task.vruntime = active + priority + if expires { 256 } else { 0 };
            }
            Discipline::Ule(params) => {
                (task.ran, task.slept) = fade(params, task.ran, task.slept);
                task.vruntime = score(params, task.weight, task.ran, task.slept);
            }
            Discipline::Ts(params) => {
                task.waited = 0;
                task.vruntime = -ts_row(params, -task.vruntime).1;
            }
            _ => {}
        }
    }

    /// A task enters: forked ones take after their parent, rank 0; woken ones have rested.
    pub(super) fn place_by_priority(&mut self, c: usize, t: usize, entry: Entry) {
        self.tasks[t].expired = false;
        self.tasks[t].front = false;
        let parent = self.tasks[t].parent;
        if entry == Entry::Fork && parent.is_none() {
            let task = &mut self.tasks[t];
            (task.used, task.average, task.ran, task.slept, task.waited) = (0, 0, 0, 0, 0);
        }
        let asleep = self.now - self.tasks[t].last_ran.min(self.now);
        let model = self.model.clone();
        match &model.discipline {
            _ if entry == Entry::Move => {}
            Discipline::O1(params) => {
                match (entry, parent) {
                    (Entry::Wake, _) => self.rest(params, t, asleep),
                    (_, Some(parent)) => self.share_slice(params, parent, t),
                    _ => {}
                }
                let priority = o1_priority(params, self.tasks[t].weight, self.tasks[t].average);
                self.tasks[t].vruntime = self.cpus[c].minimum.div_euclid(256) * 256 + priority;
            }
            Discipline::Ule(params) => {
                if let (Entry::Fork, Some(parent)) = (entry, parent) {
                    let (ran, slept) = (self.tasks[parent].ran, self.tasks[parent].slept);
                    let ratio = ((ran + slept) / (params.history.ns() / 10).max(1)).max(1);
                    (self.tasks[t].ran, self.tasks[t].slept) = (ran / ratio, slept / ratio);
                }
                let task = &mut self.tasks[t];
                if entry == Entry::Wake {
                    (task.ran, task.slept) = fade(params, task.ran, task.slept + asleep);
                }
                task.used = 0;
                task.vruntime = score(params, task.weight, task.ran, task.slept);
            }
            Discipline::Ts(params) => {
                let (_, _, rested, _, patience) = ts_row(params, -self.tasks[t].vruntime);
                let before = parent.map_or(-i64::from(params.start), |parent| self.tasks[parent].vruntime);
                let task = &mut self.tasks[t];
                if entry == Entry::Fork {
                    task.vruntime = before;
                } else if params.every_sleep || task.waited > patience {
                    task.vruntime = -rested;
                } else {
                    return;
                }
                task.used = 0;
                task.waited = 0;
            }
            _ => {}
        }
    }

    /// A sleep raises the average, one long sleep only to just below what makes a task interactive.
    fn rest(&mut self, params: &O1Params, t: usize, asleep: u64) {
        let task = &mut self.tasks[t];
        let width = (level(params) / UNITS) as u64;
        let average = (task.average / UNITS) as u64;
        let ceiling = (width * (5 + delta(task.weight) + 1).max(0) as u64).saturating_sub(1);
        let raised = if asleep > ceiling && average < ceiling { ceiling } else { average + asleep };
        task.average = u128::from(raised.min(10 * width)) * UNITS;
    }

    /// Parent and child halve what is left of the parent's slice; the child has 95 % of the bonus in whole
    /// levels.
    fn share_slice(&mut self, params: &O1Params, parent: usize, t: usize) {
        let whole = o1_slice(params, self.tasks[t].weight);
        let left = whole.saturating_sub(self.tasks[parent].used);
        let bonus = self.tasks[parent].average / level(params);
        self.tasks[parent].used = whole - left / 2;
        self.tasks[t].used = whole - (left - left / 2);
        self.tasks[t].average = bonus * 95 / 100 * level(params);
    }

    /// The periodic update of the time-sharing class.
    pub(super) fn update_priorities(&mut self) {
        let model = self.model.clone();
        let Discipline::Ts(params) = &model.discipline else { return };
        for c in 0..self.cpus.len() {
            self.charge(c);
        }
        for t in 0..self.tasks.len() {
            let running = self.tasks[t].state == TaskState::Running;
            if matches!(self.tasks[t].state, TaskState::New | TaskState::Exited) {
                continue;
            }
            self.tasks[t].waited += 1;
            let priority = -self.tasks[t].vruntime;
            let (_, _, rested, lifted, patience) = ts_row(params, priority);
            let skipped = self.tasks[t].state == TaskState::Sleeping || (running && !params.lift_running);
            if skipped || self.tasks[t].waited <= patience {
                continue;
            }
            self.tasks[t].waited = 0;
            if running {
                self.tasks[t].vruntime = -rested;
                self.tasks[t].used = 0;
                self.tasks[t].expired = false;
            } else if lifted != priority {
                let c = self.tasks[t].cpu;
                self.remove(c, t);
                self.tasks[t].vruntime = -lifted;
                self.tasks[t].used = 0;
                self.insert(c, t);
                if self.turns {
                    self.preempted.push((t, c, Preemption::Boosted));
                }
            }
        }
        for c in 0..self.cpus.len() {
            let (Some(first), Some(current)) = (self.cpus[c].queue.first(), self.cpus[c].current) else {
                continue;
            };
            if self.key(*first) < self.key(current) {
                self.cpus[c].resched = true;
            }
            self.mark(c);
        }
        self.arm(self.now + params.update.ns(), Timer::Update);
    }
}
