//! The threads and cores of one application: measuring a round, and the swaps that follow from it.

use std::cmp::Reverse;

use sim_core::ids::{AppId, CpuId, TaskId};
use sim_core::policy::{Affinity, System, View, Why};
use sim_core::time::Span;

use super::Rules;
use crate::measure::{FULL, Gauge, Reading, deal, speed, thousandths};
use crate::spread::allowed_cpus;

struct Thread {
    gauge: Gauge,
    /// Position of its core.
    core: usize,
    /// Received since measuring began.
    total: Span,
}

struct Core {
    cpu: CpuId,
    /// Which of the domains it belongs to.
    domain: u32,
    /// Mean of its threads in the last interval, 1 without any.
    speed: u64,
    /// Threads on it that have not ended.
    threads: u32,
}

/// The threads of an application and the cores they are bound to.
pub(super) struct Team {
    cores: Vec<Core>,
    threads: Vec<Thread>,
    /// Domains in ascending order.
    domains: Vec<u32>,
}

impl Team {
    /// Deals the threads of an application round the cores it may use.
    pub(super) fn start(rules: &Rules, system: &mut dyn System, app: AppId) -> Self {
        let view = system.app(app);
        let cpus = allowed_cpus(system, TaskId(view.tasks.start));
        let dealt = deal(system.machine(), &cpus, view.tasks.len());
        let mut threads = Vec::new();
        for (task, core) in view.task_ids().zip(dealt) {
            threads.push(Thread { gauge: Gauge::new(task), core, total: Span::ZERO });
            system.because(
                Why::rule("bound at start: threads are dealt round the cores")
                    .with("threads", view.tasks.len() as u64)
                    .with("cores", cpus.len() as u64),
            );
            system.set_affinity(task, Affinity::One(cpus[core]));
        }
        let domain = |cpu| if rules.by_node { system.machine().node_of(cpu).0 } else { 0 };
        let core = |cpu| Core { cpu, domain: domain(cpu), speed: FULL, threads: 0 };
        let cores: Vec<Core> = cpus.into_iter().map(core).collect();
        let mut domains: Vec<u32> = cores.iter().map(|core| core.domain).collect();
        domains.sort_unstable();
        domains.dedup();
        Self { cores, threads, domains }
    }

    /// All threads exist: measuring begins.
    pub(super) fn begin(&mut self, reading: Reading, system: &mut dyn System) {
        for thread in &mut self.threads {
            thread.gauge.look(system, reading);
        }
    }

    /// One round: measure, swap in every domain, pay.
    pub(super) fn round(&mut self, rules: &Rules, system: &mut dyn System) {
        self.measure(rules, system);
        for at in 0..self.domains.len() {
            let domain = self.domains[at];
            self.juggle(rules, system, domain);
            self.pay(rules, system, domain);
        }
    }

    /// Reads every thread; the speed of a core is the mean over its threads.
    fn measure(&mut self, rules: &Rules, system: &mut dyn System) {
        let mut sums = vec![0; self.cores.len()];
        for core in &mut self.cores {
            core.threads = 0;
        }
        for thread in &mut self.threads {
            let (gained, real) = thread.gauge.look(system, rules.reading);
            thread.total += gained;
            if thread.gauge.live(system) {
                sums[thread.core] += speed(gained, real).unwrap_or(FULL);
                self.cores[thread.core].threads += 1;
            }
        }
        for (core, sum) in self.cores.iter_mut().zip(sums) {
            core.speed = u64::checked_div(sum, u64::from(core.threads)).unwrap_or(FULL);
        }
    }

    fn pay(&self, rules: &Rules, system: &mut dyn System, domain: u32) {
        let mut cpus: Vec<CpuId> =
            self.cores.iter().filter(|core| core.domain == domain).map(|core| core.cpu).collect();
        cpus.sort_unstable();
        for (number, cpu) in cpus.iter().enumerate() {
            let plans = u64::from(number == 0);
            let reads = match (rules.central, number) {
                (false, _) => 1,
                (true, 0) => cpus.len() as u64,
                (true, _) => 0,
            };
            if reads + plans > 0 {
                system.charge(*cpu, rules.cost * (reads + plans), true);
            }
        }
    }

    /// Threads of a domain's cores that are faster or slower than the mean.
    fn threads_of(&self, view: &dyn View, domain: u32, mean: u64, fast: bool) -> Vec<usize> {
        let wanted = |thread: &Thread| {
            let core = &self.cores[thread.core];
            let side = if fast { core.speed > mean } else { core.speed < mean };
            core.domain == domain && side && thread.gauge.live(view)
        };
        (0..self.threads.len()).filter(|i| wanted(&self.threads[*i])).collect()
    }

    fn juggle(&mut self, rules: &Rules, system: &mut dyn System, domain: u32) {
        let speeds = || self.cores.iter().filter(|core| core.domain == domain).map(|core| core.speed);
        let mean = speeds().sum::<u64>() / (speeds().count() as u64).max(1);
        let mut slow = self.threads_of(system, domain, mean, false);
        let mut fast = self.threads_of(system, domain, mean, true);
        slow.sort_by_key(|i| (self.threads[*i].total, *i));
        fast.sort_by_key(|i| (Reverse(self.threads[*i].total), *i));
        let mut ahead = fast.into_iter().peekable();
        for behind in slow {
            if let Some(core) = self.vacancy(rules, domain, mean, behind) {
                self.take_place(system, behind, core);
                continue;
            }
            let Some(first) = ahead.peek().copied() else { continue };
            let apart = self.threads[first].total.saturating_sub(self.threads[behind].total);
            if apart <= rules.lead {
                continue;
            }
            ahead.next();
            self.swap(system, behind, first);
        }
    }

    /// A core of the domain to which a thread on a slow core can go without giving another one back: a free one, if it
    /// loses more than the threshold where it is; else a fast one with at least two threads fewer.
    fn vacancy(&self, rules: &Rules, domain: u32, mean: u64, thread: usize) -> Option<usize> {
        let mine = &self.cores[self.threads[thread].core];
        let loss = FULL.saturating_sub(mine.speed) * 10_000 / FULL;
        let fits = |core: &Core| {
            let free = core.threads == 0 && loss > rules.threshold;
            free || (core.speed > mean && core.threads + 2 <= mine.threads)
        };
        let candidates = (0..self.cores.len()).filter(|i| self.cores[*i].domain == domain);
        candidates.filter(|i| fits(&self.cores[*i])).min_by_key(|i| (self.cores[*i].threads, *i))
    }

    fn take_place(&mut self, system: &mut dyn System, thread: usize, core: usize) {
        let from = self.threads[thread].core;
        system.because(
            Why::rule("moved: its core is slow and another one has room")
                .with("speed of its core, 1/1000", thousandths(self.cores[from].speed))
                .with("threads there", u64::from(self.cores[from].threads))
                .with("threads on the other", u64::from(self.cores[core].threads)),
        );
        self.bind(system, thread, core);
    }

    /// The thread that is behind, on a slow core, and the one that is ahead, on a fast one, change places.
    fn swap(&mut self, system: &mut dyn System, behind: usize, ahead: usize) {
        let (slow, fast) = (self.threads[behind].core, self.threads[ahead].core);
        let why = |rule| {
            Why::rule(rule)
                .with("received by the one behind, us", self.threads[behind].total.ns() / 1_000)
                .with("received by the one ahead, us", self.threads[ahead].total.ns() / 1_000)
                .with("speed of the slow core, 1/1000", thousandths(self.cores[slow].speed))
                .with("speed of the fast core, 1/1000", thousandths(self.cores[fast].speed))
        };
        let down = why("swapped: ahead on a fast core, goes to the slow one");
        let up = why("swapped: behind on a slow core, goes to the fast one");
        system.because(down);
        self.bind(system, ahead, slow);
        system.because(up);
        self.bind(system, behind, fast);
    }

    fn bind(&mut self, system: &mut dyn System, thread: usize, core: usize) {
        let from = self.threads[thread].core;
        if system.set_affinity(self.threads[thread].gauge.task, Affinity::One(self.cores[core].cpu)) {
            self.threads[thread].core = core;
            self.cores[from].threads -= 1;
            self.cores[core].threads += 1;
        }
    }
}
