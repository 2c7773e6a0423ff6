//! The threads and cores of one application: measuring a round, and the swaps that follow from it.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

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
    /// All threads that are bound to it.
    bound: Vec<usize>,
}

/// Cores of a domain with room for a thread.
#[derive(Default)]
struct Room {
    /// Without any.
    free: BTreeSet<usize>,
    /// Faster than the mean, those with the fewest threads first.
    fast: BTreeSet<(u32, usize)>,
}

/// The threads of an application and the cores they are bound to.
pub(super) struct Team {
    cores: Vec<Core>,
    threads: Vec<Thread>,
    /// The cores of each domain that has any, domains in ascending order.
    domains: Vec<Vec<usize>>,
}

impl Room {
    fn note(&mut self, places: impl IntoIterator<Item = usize>, cores: &[Core], mean: u64) {
        for (at, core) in places.into_iter().map(|at| (at, &cores[at])) {
            if core.threads == 0 {
                self.free.insert(at);
            }
            if core.speed > mean {
                self.fast.insert((core.threads, at));
            }
        }
    }

    fn forget(&mut self, places: impl IntoIterator<Item = usize>, cores: &[Core]) {
        for at in places {
            self.free.remove(&at);
            self.fast.remove(&(cores[at].threads, at));
        }
    }
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
            let why = Why::rule("bound at start: threads are spread round-robin over the cores")
                .with("threads", view.tasks.len() as u64)
                .with("cores", cpus.len() as u64);
            system.set_affinity(task, Affinity::One(cpus[core]), why);
        }
        let domain = |cpu| if rules.by_node { system.machine().node_of(cpu).0 } else { 0 };
        let core = |cpu| Core { cpu, domain: domain(cpu), speed: FULL, threads: 0, bound: Vec::new() };
        let mut cores: Vec<Core> = cpus.into_iter().map(core).collect();
        for (number, thread) in threads.iter().enumerate() {
            cores[thread.core].bound.push(number);
        }
        let mut domains: BTreeMap<u32, Vec<usize>> = BTreeMap::new();
        for (at, core) in cores.iter().enumerate() {
            domains.entry(core.domain).or_default().push(at);
        }
        let domains = domains.into_values().collect();
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
            let domain = std::mem::take(&mut self.domains[at]);
            self.juggle(rules, system, &domain);
            self.pay(rules, system, &domain);
            self.domains[at] = domain;
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

    fn pay(&self, rules: &Rules, system: &mut dyn System, domain: &[usize]) {
        let mut cpus: Vec<CpuId> = domain.iter().map(|at| self.cores[*at].cpu).collect();
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
    fn threads_of(&self, view: &dyn View, domain: &[usize], mean: u64, fast: bool) -> Vec<usize> {
        let side = |core: &&Core| if fast { core.speed > mean } else { core.speed < mean };
        let cores = domain.iter().map(|at| &self.cores[*at]).filter(side);
        let threads = cores.flat_map(|core| core.bound.iter().copied());
        threads.filter(|thread| self.threads[*thread].gauge.live(view)).collect()
    }

    fn juggle(&mut self, rules: &Rules, system: &mut dyn System, domain: &[usize]) {
        let speeds = domain.iter().map(|at| self.cores[*at].speed);
        let mean = speeds.sum::<u64>() / (domain.len() as u64).max(1);
        let mut room = Room::default();
        room.note(domain.iter().copied(), &self.cores, mean);
        let mut slow = self.threads_of(system, domain, mean, false);
        let mut fast = self.threads_of(system, domain, mean, true);
        slow.sort_by_key(|i| (self.threads[*i].total, *i));
        fast.sort_by_key(|i| (Reverse(self.threads[*i].total), *i));
        let mut ahead = fast.into_iter().peekable();
        for behind in slow {
            if let Some(core) = self.vacancy(rules, &room, behind) {
                let places = [self.threads[behind].core, core];
                room.forget(places, &self.cores);
                self.take_place(system, behind, core);
                room.note(places, &self.cores, mean);
                continue;
            }
            let Some(first) = ahead.peek().copied() else { continue };
            let apart = self.threads[first].total.saturating_sub(self.threads[behind].total);
            if apart <= rules.lead {
                continue;
            }
            ahead.next();
            let places = [self.threads[behind].core, self.threads[first].core];
            room.forget(places, &self.cores);
            self.swap(system, behind, first);
            room.note(places, &self.cores, mean);
        }
    }

    /// A core of the domain to which a thread on a slow core can go without giving another one back: a free
    /// one, if it loses more than the threshold where it is; else a fast one with at least two threads fewer.
    fn vacancy(&self, rules: &Rules, room: &Room, thread: usize) -> Option<usize> {
        let mine = &self.cores[self.threads[thread].core];
        let loss = FULL.saturating_sub(mine.speed) * 10_000 / FULL;
        let free = room.free.first().filter(|_| loss > rules.threshold).copied();
        let fast = room.fast.first().filter(|(threads, _)| threads + 2 <= mine.threads);
        // The fewest threads, then the first core.
        free.map(|at| (0, at)).into_iter().chain(fast.copied()).min().map(|(_, at)| at)
    }

    fn take_place(&mut self, system: &mut dyn System, thread: usize, core: usize) {
        let from = self.threads[thread].core;
        let why = Why::rule("moved: its core is slow and another one has room")
            .with("speed of its core, 1/1000", thousandths(self.cores[from].speed))
            .with("threads there", u64::from(self.cores[from].threads))
            .with("threads on the other core", u64::from(self.cores[core].threads));
        self.bind(system, thread, core, why);
    }

    /// The thread that is behind, on a slow core, and the one that is ahead, on a fast one, change places.
    fn swap(&mut self, system: &mut dyn System, behind: usize, ahead: usize) {
        let (slow, fast) = (self.threads[behind].core, self.threads[ahead].core);
        let why = |rule| {
            Why::rule(rule)
                .with("received by the thread behind, us", self.threads[behind].total.ns() / 1_000)
                .with("received by the thread ahead, us", self.threads[ahead].total.ns() / 1_000)
                .with("speed of the slow core, 1/1000", thousandths(self.cores[slow].speed))
                .with("speed of the fast core, 1/1000", thousandths(self.cores[fast].speed))
        };
        let down = why("swapped: ahead on a fast core, goes to the slow one");
        let up = why("swapped: behind on a slow core, goes to the fast one");
        self.bind(system, ahead, slow, down);
        self.bind(system, behind, fast, up);
    }

    fn bind(&mut self, system: &mut dyn System, thread: usize, core: usize, why: Why) {
        let from = self.threads[thread].core;
        let affinity = Affinity::One(self.cores[core].cpu);
        if system.set_affinity(self.threads[thread].gauge.task, affinity, why) {
            self.threads[thread].core = core;
            self.cores[from].threads -= 1;
            self.cores[core].threads += 1;
            self.cores[from].bound.retain(|other| *other != thread);
            self.cores[core].bound.push(thread);
        }
    }
}
