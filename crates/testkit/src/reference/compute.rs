//! Computing in the reference engine: how it begins, is counted down, stops, and is charged.

use sim_core::account::Category;
use sim_core::time::WORK_FRACTION_BITS;

use super::Reference;
use super::memory::{ONE, RefMemory};
use super::state::{Activity, Overhead, PAID_AS, REFILL};

const ONE_NS: u128 = 1 << WORK_FRACTION_BITS;

impl Reference<'_> {
    /// The work a task has left as work of this cpu, rounded up; raw.
    pub(super) fn work_here(&self, c: usize, t: usize) -> u128 {
        (u128::from(self.tasks[t].remaining) * ONE_NS).div_ceil(u128::from(self.speed(c)))
    }

    /// The current task computes what it has left, after `overhead` and whatever its caches have to refill.
    pub(super) fn compute(&mut self, c: usize, mut overhead: Overhead) {
        self.announce(c);
        let Some(t) = self.cpus[c].current else { return };
        self.cpus[c].page_shares = None;
        overhead.0[REFILL] += self.follow_pages(c, t) + self.scan(c, t);
        let home = self.page_home(c, t);
        self.cpus[c].page_shares = self.page_shares(t);
        overhead.0[REFILL] += self.refill(c, t, home);
        self.cpus[c].page_home = home;
        self.cpus[c].server = self.server(t);
        self.start_compute(c, overhead);
    }

    /// It computes from now on at the cpu's present speed.
    pub(super) fn start_compute(&mut self, c: usize, overhead: Overhead) {
        let Some(t) = self.cpus[c].current else { return };
        let mut job = self.job(c, t, self.cpus[c].page_home);
        job.server = self.cpus[c].server;
        // New rates come at the end of the instant; the overhead counts as work at the rate before.
        let rate = self.memory.rate(&self.machine, &job);
        let work_left = u128::from(overhead.total()) * u128::from(rate) + self.work_here(c, t);
        let growth = self.memory.growth(&self.machine, &job);
        let cpu = &mut self.cpus[c];
        cpu.job = job;
        cpu.rate = rate;
        cpu.growth = growth;
        cpu.allowed_work = 0;
        cpu.traffic = 0;
        cpu.work_left = work_left as i128;
        cpu.since = self.now;
        cpu.overhead = overhead;
        cpu.activity = Activity::Compute;
    }

    /// Nominal work that the task computing on a cpu still has to do.
    pub(super) fn nominal_left(&self, c: usize, t: usize) -> u64 {
        let left = self.work_here(c, t).min(self.cpus[c].work_left.max(0) as u128);
        let nominal = (left * u128::from(self.speed(c))).div_ceil(ONE_NS) as u64;
        nominal.min(self.tasks[t].remaining)
    }

    /// Takes the work done off the current task and charges the time behind the overhead (`rest` of
    /// `elapsed`).
    pub(super) fn stop_computing(&mut self, c: usize, t: usize, rest: u64, elapsed: u64) {
        let work = self.work_here(c, t);
        let left = work.min(self.cpus[c].work_left.max(0) as u128);
        let after = self.nominal_left(c, t);
        let (allowed_work, traffic) =
            (u128::from(self.cpus[c].allowed_work), u128::from(self.cpus[c].traffic));
        let growth = (traffic << 16).checked_div(allowed_work).map_or(ONE, |growth| growth as u64);
        let task = &mut self.tasks[t];
        let done = task.remaining - after;
        task.done += u128::from(done);
        task.remaining = after;
        self.count_fetched(t, done, growth);
        self.bring(c, t, elapsed);
        let ideal = ((work - left).div_ceil(ONE_NS) as u64).min(rest);
        self.charge_compute(c, ideal, rest);
    }

    /// Charges computing: alone on its core, then what siblings add, then what distance and crowding of
    /// memory add.
    fn charge_compute(&mut self, c: usize, ideal: u64, rest: u64) {
        let (job, share) = (self.cpus[c].job.clone(), self.cpus[c].share);
        let alone = (u128::from(ideal) * u128::from(share) / u128::from(ONE)) as u64;
        let computing = (u128::from(ideal) * u128::from(ONE - job.bound) / u128::from(ONE)) as u64;
        let distance = u128::from(RefMemory::remoteness(&self.machine, &job));
        let far = u128::from(rest - computing) * (distance - u128::from(ONE)) / distance;
        let far = (rest - ideal).min(far as u64);
        let cpu = &mut self.cpus[c];
        cpu.add(Category::Compute, alone);
        cpu.add(Category::Smt, ideal - alone);
        cpu.add(Category::Remote, far);
        cpu.add(Category::MemoryStall, rest - ideal - far);
    }

    /// Charges a computing task up to now and stops it; returns what is left of its overhead.
    pub(super) fn interrupt_compute(&mut self, c: usize) -> Overhead {
        let Some(t) = self.cpus[c].current else { return Overhead::default() };
        let elapsed = self.now - self.cpus[c].since;
        let rest = self.pay_overhead(c, elapsed);
        self.tasks[t].cpu_time += elapsed;
        self.tasks[t].last_ran = self.now;
        self.stop_computing(c, t, rest, elapsed);
        self.cpus[c].overhead
    }

    /// Charges what of a span goes to the overhead; returns the rest.
    pub(super) fn pay_overhead(&mut self, c: usize, span: u64) -> u64 {
        let cpu = &mut self.cpus[c];
        let mut rest = span;
        for (part, category) in PAID_AS.into_iter().enumerate() {
            let paid = rest.min(cpu.overhead.0[part]);
            cpu.overhead.0[part] -= paid;
            cpu.times[category as usize] += paid;
            rest -= paid;
        }
        rest
    }
}
