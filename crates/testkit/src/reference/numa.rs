//! Automatic NUMA balancing in the reference engine: passes over the pages of tasks, hinting faults, and
//! pages that follow.

use sim_core::ids::{NodeId, TaskId};
use sim_core::os::NumaBalancing;
use sim_core::policy::{Locality, PageGroup, Policy, TaskState};
use sim_core::program::{MemoryProfile, Pages};
use sim_core::rng::{Purpose, below, draw, key};

use super::Reference;
use super::memory::{ONE, distance, shares};
use super::scan::Part;
use super::state::{Activity, NEVER};

/// Pages move in sixteenths of what a task has.
const PARTS: u64 = 16;
const NS_PER_S: u128 = 1_000_000_000;

/// Pages of a profile that are in use and have no place of their own.
fn reached(profile: &MemoryProfile) -> bool {
    !matches!(profile.pages, Pages::Interleaved | Pages::NextTouch | Pages::Node(_))
        && profile.demand > 0
        && profile.working_set > 0
}

impl Reference<'_> {
    /// The rules, if the pages of the task's present operation are scanned, and how many bytes of them there
    /// are.
    fn scanned(&self, t: usize) -> Option<(NumaBalancing, u64)> {
        let rules = self.balances().filter(|_| !self.in_class(t))?;
        let bytes = Some(self.reached_bytes(t)).filter(|bytes| *bytes >= rules.page)?;
        let computes = self.tasks[t].source.is_none() && reached(&self.tasks[t].profile);
        computes.then_some((rules, bytes))
    }

    /// How many bytes of a task's pages are scanned in any of its operations.
    fn reached_bytes(&self, t: usize) -> u64 {
        let program = &self.apps[self.tasks[t].app].spec.program;
        program.profiles().iter().filter(|profile| reached(profile)).map(|p| p.working_set).max().unwrap_or(0)
    }

    /// The rules, where they act.
    pub(super) fn balances(&self) -> Option<NumaBalancing> {
        self.model.numa_balancing.filter(|_| self.machine.nodes() > 1)
    }

    /// When the next pass over the pages of the task that computes on a cpu is due.
    pub(super) fn next_scan(&self, c: usize) -> u64 {
        let Some(t) = self.cpus[c].current.filter(|_| self.cpus[c].activity == Activity::Compute) else {
            return NEVER;
        };
        if self.scanned(t).is_none() || self.tasks[t].scan.away == Some(false) {
            return NEVER;
        }
        self.cpus[c].since + self.tasks[t].scan.next.saturating_sub(self.tasks[t].cpu_time)
    }

    /// A task other than the first one of its process takes over the place of the pages that this one touched
    /// for all.
    pub(super) fn take_over(&mut self, t: usize) {
        let master = self.process_mates(t)[0];
        let takes = self.balances().is_some() && self.tasks[t].profile.pages == Pages::Master;
        if takes && self.tasks[t].home.is_none() && t != master {
            let there = self.node(self.tasks[master].cpu);
            self.tasks[t].home = Some(self.tasks[master].home.unwrap_or(there));
            self.tasks[t].mixed = self.tasks[master].mixed.clone();
        }
    }

    /// Adds 65,536 for the pages of a task to the nodes where they are.
    fn add_home(&self, t: usize, counts: &mut [u64]) {
        match (&self.tasks[t].mixed, self.tasks[t].home) {
            (Some(mixed), _) => counts.iter_mut().zip(mixed.iter()).for_each(|(count, part)| *count += part),
            (None, Some(home)) => counts[home as usize] += ONE,
            (None, None) => {}
        }
    }

    /// The pass that is due over the pages of the current task, if one is: the time that its faults and
    /// copies take.
    pub(super) fn scan(&mut self, c: usize, t: usize) -> u64 {
        let Some((rules, bytes)) = self.scanned(t) else { return 0 };
        if self.tasks[t].scan.next > self.tasks[t].cpu_time {
            return 0;
        }
        if self.holds_pass(c, t, &rules) {
            return 0;
        }
        self.take_over(t);
        let here = self.tasks[t].allotted.unwrap_or(self.node(c));
        self.tasks[t].home.get_or_insert(here);
        self.lay_out(t);
        let threads = self.threads(t);
        let most = (rules.window / threads).max(rules.page);
        let (from, to) =
            (self.tasks[t].scan.offset, bytes.min(self.tasks[t].scan.offset.saturating_add(most)));
        let (least, _) = periods(&rules, bytes, threads, (0, 0));
        self.tasks[t].scan.period.get_or_insert(least);
        self.tasks[t].scan.shares = self.tasks[t].profile.pages == Pages::Team;
        let mut time = (to - from).div_ceil(rules.page) * rules.fault.ns();
        let copies = self.faults((c, t), (&rules, bytes), (from, to));
        time += copies.unwrap_or(0);
        self.tasks[t].scan.offset = to;
        if to == bytes {
            self.finish_scan(c, t, (&rules, bytes, threads));
        }
        if copies.is_some() {
            self.move_home(t);
        }
        let task = &mut self.tasks[t];
        task.scan.last = task.cpu_time + time;
        task.scan.next = task.scan.last + task.scan.period.unwrap_or(least);
        time
    }

    fn threads(&self, t: usize) -> u64 {
        let spec = &self.apps[self.tasks[t].app].spec;
        u64::from(spec.process().min(spec.tasks))
    }

    /// A pass has to wait: the policy may move a task first that is away from its preferred node.
    fn holds_pass(&mut self, c: usize, t: usize, rules: &NumaBalancing) -> bool {
        let here = self.node(c) as usize;
        let away = rules.moves_tasks && self.tasks[t].scan.preferred.is_some_and(|node| node != here);
        match self.tasks[t].scan.away {
            None if away => {
                self.tasks[t].scan.away = Some(false);
                self.astray.push(t);
                true
            }
            Some(false) => true,
            None | Some(true) => {
                self.tasks[t].scan.away = None;
                false
            }
        }
    }

    /// Tells the policy who is away from its preferred node; then the passes go on.
    pub(super) fn tell_astray(&mut self, policy: &mut dyn Policy) {
        for t in std::mem::take(&mut self.astray) {
            if self.tasks[t].scan.away != Some(false) {
                continue;
            }
            if matches!(self.tasks[t].state, TaskState::Queued | TaskState::Running) {
                policy.misplaced(self, TaskId(t as u32));
                self.tell(policy);
            }
            let c = self.tasks[t].cpu;
            let here = self.node(c) as usize;
            let scan = &mut self.tasks[t].scan;
            scan.away = Some(true);
            if scan.shares {
                scan.preferred = Some(here);
            }
            self.mark(c);
        }
    }

    /// A move to another node makes scans frequent again, but for one to the preferred node, and but for one
    /// away from a node that was not preferred.
    pub(super) fn note_move(&mut self, t: usize, from: usize, to: usize) {
        let [from, to] = [from, to].map(|c| self.node(c) as usize);
        let (Some(rules), Some(_)) = (self.balances(), self.tasks[t].scan.period) else { return };
        let leaves = match self.tasks[t].scan.preferred {
            Some(preferred) => preferred == from,
            None => true,
        };
        if from == to || (self.tasks[t].scan.finished > 0 && !leaves) {
            return;
        }
        let (threads, bytes) = (self.threads(t), self.reached_bytes(t));
        let (mut period, _) = periods(&rules, bytes, threads, (0, 0));
        let (shared, all) = self.tasks[t].scan.mixture;
        if rules.private_slows && shared > 0 {
            let scaled = u128::from(period) * u128::from(threads) * u128::from(shared) / u128::from(all);
            period = period.max(scaled.min(1 << 60) as u64);
        }
        let scan = &mut self.tasks[t].scan;
        (scan.period, scan.next) = (Some(period), scan.last + period);
    }

    /// What policies see of the faults of a task.
    pub(super) fn locality_of(&self, t: usize) -> Option<Locality> {
        self.balances()?;
        let scan = &self.tasks[t].scan;
        let group = scan.shares.then(|| {
            let mates = self.process_mates(t);
            PageGroup { first: TaskId(mates[0] as u32), tasks: mates.len() as u32 }
        });
        Some(Locality { preferred: NodeId(scan.preferred? as u32), group })
    }

    /// The thousandths of a task's faults, or of its group's pages, on a node.
    pub(super) fn thousandths(&self, t: usize, node: usize, of_group: bool) -> u64 {
        if self.balances().is_none() {
            return 0;
        }
        let (counts, elsewhere) = if of_group {
            (self.whole_group(t).1, 0)
        } else {
            (self.tasks[t].scan.remembered.clone(), self.tasks[t].scan.everywhere.1)
        };
        let all = counts.iter().sum::<u64>() + elsewhere;
        (counts.get(node).copied().unwrap_or(0) * 1_000).checked_div(all).unwrap_or(0)
    }

    /// The parts follow from where the pages are, if something else than a pass has put them there.
    fn lay_out(&mut self, t: usize) {
        let home = (self.tasks[t].home.unwrap_or(0), self.tasks[t].mixed.clone());
        if self.tasks[t].scan.known.as_ref() == Some(&home) {
            return;
        }
        let nodes = self.machine.nodes() as usize;
        let mut counts = vec![0; nodes];
        self.add_home(t, &mut counts);
        let all: u64 = counts.iter().sum();
        let scan = &mut self.tasks[t].scan;
        scan.parts.clear();
        for part in 0..PARTS {
            // The node of what is in the middle of the part.
            let (mut node, mut until) = (0, counts[0]);
            while 2 * PARTS * until <= all * (2 * part + 1) {
                node += 1;
                until += counts[node];
            }
            scan.parts.push(Part { node, toucher: None });
        }
        scan.fresh.resize(nodes, 0);
        scan.remembered.resize(nodes, 0);
        scan.known = Some(home);
    }

    /// All parts that end within these bytes are used; the time that the copies of those take that move, if
    /// any do.
    fn faults(
        &mut self,
        (c, t): (usize, usize),
        of: (&NumaBalancing, u64),
        until: (u64, u64),
    ) -> Option<u64> {
        let ((rules, bytes), (from, to)) = (of, until);
        let end = |part: u64| (u128::from(bytes) * u128::from(part) / u128::from(PARTS)) as u64;
        let app = self.tasks[t].app;
        let shared = self.tasks[t].profile.pages == Pages::Team;
        let (tasks, pages) = self.whole_group(t);
        let mates = self.process_mates(t);
        let spread = u64::from(self.tasks[t].profile.shared).min(ONE);
        let start =
            key(self.options.seed, Purpose::HintingFault, t as u64).wrapping_add(self.tasks[t].cpu_time);
        let (mut drawn, mut time) = (0, None);
        for part in (0..PARTS).filter(|part| from < end(part + 1) && end(part + 1) <= to) {
            let mut toucher = (self.tasks[t].rank, self.node(c) as usize);
            if shared {
                drawn += 1;
                let other = mates[below(mates.len() as u64, draw(start, drawn)) as usize];
                if other != t && self.is_alive(other) {
                    toucher = (self.tasks[other].rank, self.node(self.tasks[other].cpu) as usize);
                }
            }
            let scan = &self.tasks[t].scan;
            let Part { node, toucher: last } = scan.parts[part as usize].clone();
            let private = last.is_none_or(|(rank, _)| rank == toucher.0);
            let twice = last.is_none_or(|(_, node)| node == toucher.1);
            let early = rules.early && (scan.finished <= 4 || scan.preferred.is_none());
            let wanted = private || !shared || {
                let (there, here) = (node, toucher.1);
                tasks[here] > 3 * tasks[there]
                    || 3 * tasks[here] * pages[there] > 4 * tasks[there] * pages[here]
            };
            let moves = node != toucher.1 && ((early && private) || (twice && wanted));
            let busiest = tasks.iter().max().copied().unwrap_or(0);
            let active = shared && 3 * tasks[node] > busiest && 3 * tasks[toucher.1] > busiest;
            let local = node == toucher.1 || (!private && active);
            let scan = &mut self.tasks[t].scan;
            scan.faults.push((private, local, ONE - spread));
            scan.faults.push((false, true, spread));
            let now = if moves { toucher.1 } else { node };
            scan.fresh[now] += ONE - spread;
            scan.everywhere.0 += spread;
            scan.parts[part as usize] = Part { node: now, toucher: Some(toucher) };
            if moves {
                let size = end(part + 1) - end(part);
                let copy = self.fetch_time(size, distance(&self.machine, now, node));
                time = Some(time.unwrap_or(0) + copy);
                self.tasks[t].cache.fetched += u128::from(size) * NS_PER_S;
            }
        }
        self.apps[app].counters.page_copies += u64::from(time.is_some());
        time
    }

    fn is_alive(&self, t: usize) -> bool {
        !matches!(self.tasks[t].state, TaskState::New | TaskState::Exited)
    }

    /// How many tasks of a task's process there are on each node, and what of the pages of all, in 65,536ths
    /// of those of one.
    fn whole_group(&self, of: usize) -> (Vec<u64>, Vec<u64>) {
        let nodes = self.machine.nodes() as usize;
        let (mut tasks, mut pages) = (vec![0; nodes], vec![0; nodes]);
        for t in self.process_mates(of) {
            self.add_home(t, &mut pages);
            if self.is_alive(t) {
                tasks[self.node(self.tasks[t].cpu) as usize] += ONE;
            }
        }
        (tasks, pages)
    }

    /// All pages have been marked once more: the preferred node and the next period follow.
    fn finish_scan(&mut self, c: usize, t: usize, (rules, bytes, threads): (&NumaBalancing, u64, u64)) {
        let here = self.node(c) as usize;
        let (_, of_group) = self.whole_group(t);
        let shared = self.tasks[t].profile.pages == Pages::Team;
        let scan = &mut self.tasks[t].scan;
        (scan.offset, scan.finished) = (0, scan.finished + 1);
        for node in 0..scan.fresh.len() {
            scan.remembered[node] = scan.remembered[node] / 2 + std::mem::take(&mut scan.fresh[node]);
        }
        scan.everywhere = (0, scan.everywhere.1 / 2 + scan.everywhere.0);
        let found = if shared { &of_group } else { &scan.remembered };
        let most = found.iter().max().copied().unwrap_or(0);
        if most > 0 {
            let first = found.iter().position(|faults| *faults == most);
            scan.preferred = if found[here] == most { Some(here) } else { first };
        }
        let faults = std::mem::take(&mut scan.faults);
        let sum = |of: &dyn Fn(bool, bool) -> bool| -> u64 {
            faults.iter().filter(|(private, local, _)| of(*private, *local)).map(|(.., count)| count).sum()
        };
        let (private, local) = (sum(&|private, _| private), sum(&|_, local| local));
        let (all, shared) = (sum(&|_, _| true), sum(&|private, _| !private));
        scan.mixture = (shared, all);
        let (least, most) = periods(rules, bytes, threads, (shared, all));
        let period = scan.period.unwrap_or(least);
        let tenths = |count: u64| 10 * count / all.max(1);
        scan.period = Some(if local == 0 && shared == 0 {
            most.min(2 * period)
        } else {
            // What of a speed-up counts where private faults do not slow the scans, in tenths.
            let part = (10 * private).div_ceil(all + 1);
            let (slot, private, local) = (period.div_ceil(10), tenths(private), tenths(local));
            let longer = |share: u64| period + if share == 7 { slot } else { (share - 7) * slot };
            let changed = if private >= 7 && rules.private_slows {
                longer(private)
            } else if local >= 7 {
                longer(local)
            } else if !rules.private_slows {
                period - period.min((7 - local) * slot * part / 10)
            } else {
                period - period.min((7 - private.max(local)) * slot)
            };
            changed.max(least).min(most)
        });
    }

    /// The pages of the task are where the parts are.
    fn move_home(&mut self, t: usize) {
        let mut counts = vec![0; self.machine.nodes() as usize];
        let task = &mut self.tasks[t];
        task.scan.parts.iter().for_each(|part| counts[part.node] += 1);
        let several = counts.iter().filter(|count| **count > 0).count() > 1;
        let first = counts.iter().position(|count| *count > 0).unwrap_or(0) as u32;
        (task.home, task.mixed) = (Some(first), several.then(|| shares(&counts)));
        task.scan.known = Some((first, task.mixed.clone()));
    }
}

/// Least and most cpu time between two passes; (shared, all) faults.
fn periods(rules: &NumaBalancing, bytes: u64, threads: u64, (shared, all): (u64, u64)) -> (u64, u64) {
    let passes = (u128::from(bytes) * u128::from(threads)).div_ceil(u128::from(rules.window)).max(1);
    let part = |whole: u64| (u128::from(whole) / passes) as u64;
    let least = part(rules.fastest.ns()).max(rules.floor.ns());
    let mut most = part(rules.slowest.ns());
    if shared > 0 {
        let scaled = u128::from(most) * u128::from(threads) * u128::from(shared) / u128::from(all);
        most = most.max(scaled.min(1 << 60) as u64);
    }
    (least, most.max(least))
}
