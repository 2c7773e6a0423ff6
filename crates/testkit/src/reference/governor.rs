//! Clocks of cores in the reference engine, where the governor schedutil sets them: at every instant all cpus
//! are looked at, and every task has its own account of what it uses.

use sim_core::decay::{PERIOD_NS, approached};
use sim_core::ids::CpuId;
use sim_core::machine::{Governor, Level};
use sim_core::policy::{TaskState, View};

use super::state::Activity;
use super::usage::{RefShare, RefUsage};
use super::{Reference, Timer};

/// The utilisation of a cpu that never idles.
const ALL: u64 = 1 << 20;
/// The highest clock.
const HIGHEST: u64 = 65_536;

/// Whole periods at a reading of the clock of averages.
fn periods(pelt: u128) -> u128 {
    pelt / (u128::from(PERIOD_NS) * 65_536)
}

/// Moves a utilisation on by some periods with some work in them; returns how much of the work counts.
fn moved(used: &mut u64, work: u128, count: u128) -> u128 {
    let room = count * u128::from(PERIOD_NS) * 65_536;
    let fits = work.min(room);
    *used = approached(*used, (u128::from(ALL) * fits / room) as u64, count as u64);
    fits
}

impl RefUsage {
    fn pass(&mut self, pelt: u128) {
        let count = periods(self.pelt + pelt) - periods(self.pelt);
        self.pelt += pelt;
        if count > 0 {
            // What is beyond the last whole period counts in the next one.
            self.seen += moved(&mut self.used, self.work - self.seen, count);
        }
    }

    fn catch_up(&mut self, now: u64, clock: u64) {
        let span = now - self.until;
        self.until = now;
        if !self.was_busy {
            return self.pass(u128::from(span) * 65_536);
        }
        let work = u128::from(span) * u128::from(clock);
        self.work += work;
        self.busy_ns += span;
        self.pass(work);
    }
}

impl Reference<'_> {
    fn governed(&self) -> bool {
        self.machine.clocks.governor == Governor::Schedutil
    }

    /// The lowest clock; the highest where no governor lowers it.
    pub(super) fn lowest_clock(&self) -> u64 {
        if self.governed() { u64::from(self.machine.clocks.lowest) * 65_536 / 1_000 } else { HIGHEST }
    }

    /// All cpus begin with the lowest clock, and ask again at ticks.
    pub(super) fn begin_clocks(&mut self) {
        let lowest = self.lowest_clock();
        for cpu in &mut self.cpus {
            (cpu.clock, cpu.usage.asked) = (lowest, lowest);
            cpu.own = super::cores::times(cpu.own, lowest);
        }
        if self.governed() {
            self.arm(self.model.tick.ns(), Timer::Clocks);
        }
    }

    fn use_of(&mut self, c: usize) -> &mut RefUsage {
        let (now, clock) = (self.now, self.cpus[c].clock);
        let usage = &mut self.cpus[c].usage;
        usage.catch_up(now, clock);
        usage
    }

    /// A task is brought up to date with the cpu that it belongs to.
    fn update_share(&mut self, t: usize, c: usize) {
        let usage = self.use_of(c).clone();
        let cpu_time = self.tasks[t].cpu_time;
        let share = &mut self.uses[t];
        if usage.busy_ns > share.busy_ns {
            let mine = u128::from(cpu_time - share.cpu_time) * (usage.work - share.work);
            share.unseen += mine / u128::from(usage.busy_ns - share.busy_ns);
        }
        let count = periods(usage.pelt) - periods(share.pelt);
        if count > 0 {
            share.unseen -= moved(&mut share.used, share.unseen, count);
        }
        self.belong(t, c);
    }

    fn belong(&mut self, t: usize, c: usize) {
        let cpu_time = self.tasks[t].cpu_time;
        let usage = &self.cpus[c].usage;
        let share = &mut self.uses[t];
        (share.cpu_time, share.busy_ns) = (cpu_time, usage.busy_ns);
        (share.work, share.pelt) = (usage.work, usage.pelt);
    }

    /// A task is about to come to the queue of a cpu.
    pub(super) fn use_comes(&mut self, t: usize, c: usize) {
        if !self.governed() {
            return;
        }
        let from = self.tasks[t].cpu;
        self.use_of(c);
        if self.tasks[t].state == TaskState::New {
            // Tasks of groups without cpu time do not count.
            let queued = View::load(self, CpuId(c as u32));
            let used = self.cpus[c].usage.used;
            let half = ALL.saturating_sub(used) / 2;
            let by_weight = used.saturating_mul(u64::from(self.tasks[t].weight)) / (queued + 1);
            let used = if used > 0 { by_weight.min(half) } else { half };
            self.uses[t] = RefShare { used, ..RefShare::default() };
            self.belong(t, c);
            self.cpus[c].usage.used += used;
        } else {
            self.update_share(t, from);
            if from != c {
                let used = self.uses[t].used;
                self.cpus[from].usage.used = self.cpus[from].usage.used.saturating_sub(used);
                self.belong(t, c);
                self.cpus[c].usage.used += used;
            }
        }
        let expected = if self.in_class(t) { ALL } else { self.uses[t].expected };
        self.uses[t].counted_in = expected;
        self.cpus[c].usage.expected += expected;
        self.cpus[c].usage.asks = true;
    }

    /// A task no longer belongs to the queue of a cpu; it is in its new state.
    pub(super) fn use_goes(&mut self, t: usize, c: usize) {
        if !self.governed() {
            return;
        }
        self.update_share(t, c);
        let state = self.tasks[t].state;
        let share = &mut self.uses[t];
        let usage = &mut self.cpus[c].usage;
        usage.expected -= std::mem::replace(&mut share.counted_in, 0);
        usage.asks = true;
        if state == TaskState::Sleeping {
            let lower = share.expected.saturating_sub(share.used) / 4;
            share.expected = if lower > 0 { share.expected - lower } else { share.expected.max(share.used) };
        } else if matches!(state, TaskState::Exited | TaskState::New) {
            usage.used = usage.used.saturating_sub(share.used);
        }
    }

    /// Busy cpus ask, now and at the next tick.
    pub(super) fn tick_clocks(&mut self) {
        for cpu in &mut self.cpus {
            cpu.usage.asks |= cpu.usage.was_busy;
        }
        self.arm(self.now + self.model.tick.ns(), Timer::Clocks);
    }

    /// Clocks at the end of an instant: busy or idle, then what is asked for, then what cores get.
    pub(super) fn new_clocks(&mut self) {
        if !self.governed() {
            return;
        }
        let before: Vec<(bool, u64)> =
            self.cpus.iter().map(|cpu| (cpu.usage.was_busy, cpu.usage.asked)).collect();
        for c in 0..self.cpus.len() {
            self.note_busy(c);
        }
        for c in 0..self.cpus.len() {
            if std::mem::take(&mut self.cpus[c].usage.asks) {
                self.ask_for_clock(c);
            }
        }
        let differs = |all: &Self, c: usize| {
            let lead = all.lead(c);
            before[c].0 != all.cpus[c].usage.was_busy || before[lead].1 != all.cpus[lead].usage.asked
        };
        for c in 0..self.cpus.len() {
            let threads = self.cpus_with(Level::Core, c);
            if threads.start != c || !threads.clone().any(|thread| differs(self, thread)) {
                continue;
            }
            let busy = threads.clone().filter(|thread| self.cpus[*thread].usage.was_busy);
            let Some(clock) = busy.map(|thread| self.cpus[self.lead(thread)].usage.asked).max() else {
                continue;
            };
            if clock != self.cpus[c].clock {
                for thread in threads {
                    self.use_of(thread);
                    self.cpus[thread].clock = clock;
                }
            }
        }
    }

    /// The cpu that holds the clock asked for by this one.
    fn lead(&self, c: usize) -> usize {
        if self.machine.clocks.shared { self.cpus_with(Level::Package, c).start } else { c }
    }

    fn note_busy(&mut self, c: usize) {
        let busy = self.cpus[c].activity != Activity::Idle;
        if busy == self.cpus[c].usage.was_busy {
            return;
        }
        let usage = self.use_of(c);
        usage.was_busy = busy;
        if !busy {
            usage.rested = true;
            let late = u128::from(usage.until) * 65_536 - usage.behind - usage.pelt;
            // 46,718 of 47,742 of a whole, less one: it has never had time to spare.
            if usage.used >= 1_048_576 - 1_048_576 * 1_024 / 47_742 - 1_024 {
                usage.behind += late;
            } else {
                usage.pass(late);
            }
        }
    }

    fn ask_for_clock(&mut self, c: usize) {
        let clocks = self.machine.clocks;
        let lead = self.lead(c);
        let (asked, since) = (self.cpus[lead].usage.asked, self.cpus[lead].usage.since);
        if since.is_some_and(|since| self.now < since + clocks.rate_limit.ns()) {
            return;
        }
        let all = if clocks.shared { self.cpus_with(Level::Package, c) } else { c..c + 1 };
        let mut most = 0;
        for other in all {
            let usage = self.use_of(other);
            most = most.max(usage.used).max(usage.expected);
        }
        let wanted = most.min(ALL) * 5 / 4 / 16;
        let wanted = wanted.max(self.lowest_clock()).min(HIGHEST);
        let keeps = !std::mem::take(&mut self.cpus[c].usage.rested) && !clocks.shared;
        if wanted > asked || (wanted < asked && !keeps) {
            self.cpus[lead].usage.asked = wanted;
            self.cpus[lead].usage.since = Some(self.now);
        }
    }

    /// A speed at the present clock of a cpu.
    pub(super) fn clocked(&self, c: usize, speed: u64) -> u64 {
        if self.governed() { super::cores::times(speed, self.cpus[c].clock) } else { speed }
    }
}
