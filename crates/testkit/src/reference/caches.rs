//! What caches hold in the reference engine: who has to refill how much, and pages that follow their task.

use std::sync::Arc;

use sim_core::ids::CpuId;
use sim_core::machine::{Distance, Level};
use sim_core::program::Pages;

use super::Reference;
use super::memory::{ONE, cache_level, distance, mean_distance, mean_of, pages};

const NS_PER_S: u128 = 1_000_000_000;

impl Reference<'_> {
    /// Bytes of the caches that one cpu may fill.
    fn cache(&self) -> u64 {
        let memory = &self.machine.memory;
        let sharers = self.machine.topology.span(cache_level(&self.machine));
        memory.private_cache + memory.shared_cache / u64::from(sharers)
    }

    /// Bytes of data that the application of a task has per core.
    fn per_core(&self, t: usize) -> u128 {
        let spec = &self.apps[self.tasks[t].app].spec;
        let all = self.machine.cpus();
        let cpus = match &spec.allowed {
            None => all,
            Some(set) => set.iter().filter(|cpu| cpu.0 < all).count() as u32,
        };
        let all = u128::from(self.tasks[t].profile.working_set) * u128::from(spec.tasks);
        all / u128::from(spec.tasks.min(cpus).max(1))
    }

    /// Bytes a task finds again when nobody disturbs it: all up to a cache full per core, nothing from two
    /// on.
    fn useful(&self, t: usize) -> u64 {
        let (cache, set) = (u128::from(self.cache()), u128::from(self.tasks[t].profile.working_set));
        let per_core = self.per_core(t);
        let useful = if per_core <= cache {
            set
        } else if per_core >= 2 * cache {
            0
        } else {
            set * (2 * cache - per_core) / cache
        };
        useful.min(cache) as u64
    }

    pub(super) fn fetch_time(&self, bytes: u64, factor: u64) -> u64 {
        let bandwidth = u128::from(self.machine.memory.core_bandwidth.max(1));
        (((u128::from(bytes) * NS_PER_S / bandwidth) * u128::from(factor)) >> 16) as u64
    }

    /// The factor of distance of a task's own pages.
    fn page_distance(&self, c: usize, t: usize, home: u32) -> u64 {
        let here = self.node(c) as usize;
        if let Some(shares) = &self.cpus[c].page_shares {
            return mean_of(&self.machine, here, shares);
        }
        match pages(&self.machine, &self.tasks[t].profile, home) {
            Some(node) => distance(&self.machine, here, node),
            None => mean_distance(&self.machine, here),
        }
    }

    /// The node of the pages of the current operation.
    pub(super) fn page_home(&mut self, c: usize, t: usize) -> u32 {
        let here = self.tasks[t].allotted.unwrap_or(self.node(c));
        self.take_over(t);
        let own = *self.tasks[t].home.get_or_insert(here);
        let stays = self.balances().is_none();
        let master =
            (self.tasks[t].profile.pages == Pages::Master && stays).then(|| self.process_mates(t)[0]);
        let source = self.tasks[t].source.map(|rank| self.task(self.tasks[t].app, rank));
        let Some(owner) = source.or(master) else { return own };
        let other = &self.tasks[owner];
        other.home.unwrap_or_else(|| self.node(other.cpu))
    }

    /// Shares of the nodes, 1/65,536, in the pages of the current operation, if these lie on several nodes:
    /// those of the task whose pages they are, or in the pages of a team those of all tasks of its process
    /// that have a home.
    pub(super) fn page_shares(&self, t: usize) -> Option<Arc<[u64]>> {
        let task = &self.tasks[t];
        let owner = match (task.source, task.profile.pages) {
            (Some(rank), _) => self.task(task.app, rank),
            (None, Pages::Master) if self.balances().is_none() => self.process_mates(t)[0],
            (None, Pages::FirstTouch | Pages::NextTouch | Pages::Master) => t,
            (None, Pages::Interleaved | Pages::Node(_)) => return None,
            (None, Pages::Team) => {
                let mut pages = vec![0; self.machine.nodes() as usize];
                for other in self.process_mates(t).into_iter().map(|other| &self.tasks[other]) {
                    match (&other.mixed, other.home) {
                        (Some(mixed), _) => {
                            (0..).zip(mixed.iter()).for_each(|(n, share): (usize, _)| pages[n] += share);
                        }
                        (None, Some(home)) => pages[home as usize] += ONE,
                        (None, None) => {}
                    }
                }
                return Some(super::memory::shares(&pages));
            }
        };
        self.tasks[owner].mixed.clone()
    }

    /// The package whose tasks serve the block of an all-to-all transfer that a task reads, if it is on
    /// one node.
    pub(super) fn server(&self, t: usize) -> Option<usize> {
        let source = self.task(self.tasks[t].app, self.tasks[t].source?);
        if self.page_shares(t).is_some_and(|shares| shares.iter().filter(|share| **share > 0).count() > 1) {
            return None;
        }
        let cpu = CpuId(self.tasks[source].cpu as u32);
        Some(self.machine.topology.group(Level::Package, cpu) as usize)
    }

    /// The time to copy pages under next touch to the node where their task computes now.
    pub(super) fn follow_pages(&mut self, c: usize, t: usize) -> u64 {
        let here = self.node(c);
        let profile = self.tasks[t].profile;
        let Some(home) = self.tasks[t].home else { return 0 };
        let mixed = self.tasks[t].mixed.take_if(|_| profile.pages == Pages::NextTouch);
        if profile.pages != Pages::NextTouch || (mixed.is_none() && home == here) {
            return 0;
        }
        self.cpus[c].page_shares = mixed;
        let factor = self.page_distance(c, t, home);
        let app = self.tasks[t].app;
        self.tasks[t].home = Some(here);
        self.tasks[t].cache.fetched += u128::from(profile.working_set) * NS_PER_S;
        self.apps[app].counters.page_copies += 1;
        self.fetch_time(profile.working_set, factor)
    }

    /// The time to refill what has been lost, together with what is left of the last refill.
    pub(super) fn refill(&mut self, c: usize, t: usize, home: u32) -> u64 {
        let left = std::mem::take(&mut self.tasks[t].cache.refill);
        let useful = self.useful(t);
        let lost = self.lost(c, t, useful);
        let factor = self.page_distance(c, t, home);
        let (price, most) = (self.fetch_time(lost, factor), self.fetch_time(useful, factor));
        let total = if left >= most { left } else { most.min(left + price) };
        let fetched = u128::from(lost) * u128::from(total - left);
        self.tasks[t].cache.fetched += fetched.checked_div(u128::from(price)).unwrap_or(0) * NS_PER_S;
        total
    }

    fn lost(&self, c: usize, t: usize, useful: u64) -> u64 {
        let Some((last, brought)) = self.tasks[t].cache.warm else { return 0 };
        let cache = self.cache();
        let foreign = self.cpus[c].brought.saturating_sub(brought);
        let lost = match self.machine.topology.distance(CpuId(last as u32), CpuId(c as u32)) {
            Distance::Same => {
                // What has passed through the cache since the last use, beyond what passes anyway when the
                // application's own tasks take turns in any order, pushes out what does not fit.
                let (set, per_core) = (u128::from(self.tasks[t].profile.working_set), self.per_core(t));
                let siblings = per_core - set.min(per_core);
                let harmless = u128::from(cache).max(per_core + siblings);
                (set + u128::from(foreign)).saturating_sub(harmless).min(1 << 60) as u64
            }
            Distance::Core => 0,
            Distance::Cache => self.machine.memory.private_cache,
            Distance::Near | Distance::Far => cache,
        };
        lost.min(useful)
    }

    /// The current task has computed for this long: its working set has come into the caches, once while it
    /// is alone.
    pub(super) fn bring(&mut self, c: usize, t: usize, elapsed: u64) {
        let bandwidth = u128::from(self.machine.memory.core_bandwidth);
        let possible = (u128::from(elapsed) * bandwidth / NS_PER_S) as u64;
        let cpu = &mut self.cpus[c];
        let before = match cpu.bringer {
            Some((task, part)) if task == t => part,
            _ => 0,
        };
        let part = self.tasks[t].profile.working_set.saturating_sub(before).min(possible);
        cpu.bringer = Some((t, before + part));
        cpu.brought += part;
        self.tasks[t].cache.warm = Some((c, cpu.brought));
    }

    /// Counts the bytes that a piece of raw work fetched while its demand had grown by this much.
    pub(super) fn count_fetched(&mut self, t: usize, work: u64, growth: u64) {
        let task = &mut self.tasks[t];
        let ns_bytes = (u128::from(work) * u128::from(task.profile.demand)) >> 20;
        task.cache.fetched += (ns_bytes * u128::from(growth)) >> 16;
    }
}
