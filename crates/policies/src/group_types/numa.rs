//! Tasks move to their pages under automatic NUMA balancing: where a task goes that is not on the node with
//! most of its faults, alone or in exchange for another one.
//!
//! Source: `task_numa_migrate`, `task_numa_find_cpu` and `task_numa_compare` of kernel/sched/fair.c, 4.4 (the
//! form to 4.18), 5.5 and 6.12. All nodes count as neighbours (`NUMA_DIRECT`).

use std::cmp::Reverse;
use std::ops::Range;

use sim_core::ids::{CpuId, NodeId, TaskId};
use sim_core::policy::{Locality, PageGroup, System, TaskState, View, Why};

use super::average::FINE;
use super::domains::{Domain, Kind};
use super::group::{State, cores};
use super::{GroupTypes, rules};
use kernels::{NumaAllowance, NumaSearch};

/// A node as the search sees it (`struct numa_stats`).
#[derive(Clone, Debug)]
pub(super) struct Node {
    number: NodeId,
    cpus: Range<u32>,
    load: i64,
    capacity: i64,
    running: u64,
    state: State,
    /// An idle cpu that the task may use, of an idle core if there is one.
    idle: Option<CpuId>,
}

/// The best place so far.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Best {
    cpu: CpuId,
    /// The task that takes the place of the one that comes.
    with: Option<TaskId>,
    gain: i64,
}

/// A task that looks for a place nearer to its pages (`struct task_numa_env`).
struct Search {
    task: TaskId,
    from: CpuId,
    group: Option<PageGroup>,
    load: i64,
    source: Node,
    target: Node,
    /// How much more of the faults of the task, and of its group, are on the target, in thousandths.
    gains: (i64, i64),
    /// `imb_numa_nr` and half of the tolerance of the lowest level of nodes.
    slack: u64,
    pct: i64,
    best: Option<Best>,
}

impl Search {
    fn best_gain(&self) -> i64 {
        self.best.map_or(0, |best| best.gain)
    }

    /// The gain of the task alone.
    const fn gain(&self) -> i64 {
        if self.group.is_some() { self.gains.1 } else { self.gains.0 }
    }

    /// Loads with so much of it moved from the source to the target, (source, target).
    const fn moved(&self, load: i64) -> (i64, i64) {
        (self.source.load - load, self.target.load + load)
    }

    /// The loads would be further apart than now (`load_too_imbalanced`).
    const fn too_uneven(&self, (source, target): (i64, i64)) -> bool {
        let (here, there) = (self.source.capacity, self.target.capacity);
        let now = (self.target.load * here - self.source.load * there).abs();
        (target * here - source * there).abs() > now
    }

    /// The same to 4.18: with a tolerance.
    fn beyond_tolerance(&self, moved: (i64, i64)) -> bool {
        let excess = |(source, target): (i64, i64)| {
            let (less, more) = (source.min(target), source.max(target));
            more * self.source.capacity * 100 - less * self.target.capacity * self.pct
        };
        let new = excess(moved);
        new > 0 && new > excess((self.source.load, self.target.load))
    }

    /// A move to the target leaves an imbalance that the balancer would even out (`adjust_numa_imbalance`).
    fn leaves_imbalance(&self, allowance: NumaAllowance) -> bool {
        let (here, there) = (self.source.running.saturating_sub(1), self.target.running + 1);
        let more = there.saturating_sub(here);
        let cpus = self.target.cpus.len() as u64;
        let stays = match allowance {
            NumaAllowance::Off => false,
            NumaAllowance::Two => here <= 2,
            NumaAllowance::Quarter => there < cpus / 4 && more <= 2,
            NumaAllowance::Moved | NumaAllowance::Difference => there <= self.slack && more <= 2,
        };
        more > 0 && !stays
    }
}

/// The node that a task prefers.
fn preferred(view: &dyn View, task: TaskId) -> Option<NodeId> {
    view.locality(task).map(|seen| seen.preferred)
}

/// How much more of the faults of a task or of its group there are on one node than on another.
fn more_faults(view: &dyn View, task: TaskId, of_group: bool, (there, here): (NodeId, NodeId)) -> i64 {
    let share = |node| view.fault_share(task, node, of_group) as i64;
    share(there) - share(here)
}

/// The nodes on which a group has more than a third of the tasks of the fullest one
/// (`numa_group_count_active_nodes`).
fn active_nodes(view: &dyn View, group: PageGroup) -> usize {
    let mut tasks = vec![0u64; view.machine().nodes() as usize];
    for task in group.task_ids().map(|id| view.task(id)) {
        if !matches!(task.state, TaskState::New | TaskState::Exited) {
            tasks[view.machine().node_of(task.cpu).0 as usize] += 1;
        }
    }
    let most = tasks.iter().max().copied().unwrap_or(0);
    tasks.iter().filter(|count| 3 * **count > most).count()
}

impl GroupTypes {
    /// A task is not on the node with most of its faults: it goes there if there is room, or a task to change
    /// places with (`task_numa_migrate`).
    pub(super) fn goes_home(&mut self, system: &mut dyn System, task: TaskId) {
        let Some(Locality { preferred, group }) = system.locality(task) else { return };
        let from = system.task(task).cpu;
        let here = system.machine().node_of(from);
        let level = self.domains.iter().find(|domain| domain.kind == Kind::Numa && domain.divides(from));
        let Some((slack, pct)) = level.map(|level| (level.numa_slack, level.imbalance_pct())) else { return };
        let pct = 100 + (pct - 100) / 2;
        let source = self.node(system, (task, here), pct);
        let load = self.load_of(system, task) as i64;
        let (target, gains, pct) = (source.clone(), (0, 0), pct as i64);
        let mut search = Search { task, from, group, load, source, target, gains, slack, pct, best: None };
        self.look_at(system, &mut search, preferred);
        if search.best.is_none() || group.is_some_and(|group| active_nodes(system, group) > 1) {
            for node in (0..system.machine().nodes()).map(NodeId) {
                if node != here && node != preferred {
                    self.look_at(system, &mut search, node);
                }
            }
        }
        let Some(best) = search.best else { return };
        let why = |rule| {
            let why = Why::rule(rule).with("preferred node", u64::from(preferred.0));
            why.with("gain in thousandths of the faults", best.gain.max(0) as u64)
        };
        if best.with.is_none_or(|other| system.migrate(other, from, why(rules::NUMA_GIVES_WAY))) {
            let rule = if best.with.is_some() { rules::NUMA_CHANGES } else { rules::NUMA_MOVES };
            system.migrate(task, best.cpu, why(rule));
        }
    }

    /// Looks for a place on a node, if the task or its group has more faults there than here.
    fn look_at(&mut self, system: &mut dyn System, search: &mut Search, node: NodeId) {
        let here = search.source.number;
        let gain = |of_group| more_faults(system, search.task, of_group, (node, here));
        search.gains = (gain(false), if search.group.is_some() { gain(true) } else { 0 });
        let chosen = preferred(system, search.task) == Some(node);
        if !chosen && search.gains.0 < 0 && search.gains.1 < 0 {
            return;
        }
        search.target = self.node(system, (search.task, node), search.pct as u64);
        let by = self.rules.numa_search;
        if by == NumaSearch::Capacity && !self.has_capacity(search) {
            return;
        }
        let spare = by == NumaSearch::Spare && search.target.state == State::HasSpare;
        let may_move = if spare {
            !search.leaves_imbalance(self.rules.numa_allowance)
        } else {
            !search.too_uneven(search.moved(search.load))
        };
        if let Some(cpu) = search.target.idle.filter(|_| spare && may_move) {
            search.best = Some(Best { cpu, with: None, gain: 0 });
            return;
        }
        for cpu in search.target.cpus.clone().map(CpuId) {
            if !system.allowed(search.task, cpu) {
                continue;
            }
            let found = match by {
                NumaSearch::Capacity => self.compare_by_capacity(system, search, cpu),
                NumaSearch::Load | NumaSearch::Spare => self.compare(system, search, cpu, may_move),
            };
            if found {
                break;
            }
        }
    }

    /// Compares a cpu of the target with the best one (`task_numa_compare`); true if the search is over.
    fn compare(&mut self, system: &mut dyn System, search: &mut Search, cpu: CpuId, may_move: bool) -> bool {
        let by_spare = self.rules.numa_search == NumaSearch::Spare;
        let other = system.current(cpu).or_else(|| system.next_task(cpu));
        if other == Some(search.task) {
            return by_spare;
        }
        let Some(other) = other else {
            return may_move && search.gain() >= search.best_gain() && self.take(system, search, cpu);
        };
        let here = search.source.number;
        let comes_home = |task| preferred(system, task) == Some(here);
        let best_with = search.best.and_then(|best| best.with);
        let best_home = by_spare && best_with.is_some_and(comes_home);
        let home = by_spare && comes_home(other);
        if !system.allowed(other, search.from) || (best_home && !home) {
            return false;
        }
        let Some(gain) = self.gain_of_exchange(system, search, other) else { return false };
        let alone = search.gain();
        if may_move && alone > gain && alone > search.best_gain() {
            return self.take(system, search, cpu);
        }
        let homing = home && best_with.is_some() && !best_home;
        if !homing {
            let least = self.rules.numa_least_gain as i64;
            if gain < least || gain <= search.best_gain() + least / 2 {
                return false;
            }
            let load = search.load - self.load_of(system, other) as i64;
            if load != 0 && search.too_uneven(search.moved(load)) {
                return false;
            }
        }
        search.best = Some(Best { cpu, with: Some(other), gain });
        by_spare && !may_move && home
    }

    /// What both tasks gain by changing places; none where that is out of the question.
    fn gain_of_exchange(&self, view: &dyn View, search: &Search, other: TaskId) -> Option<i64> {
        let seen = view.locality(other);
        let group = seen.and_then(|seen| seen.group);
        let (here, there) = (search.source.number, search.target.number);
        let by_spare = self.rules.numa_search == NumaSearch::Spare;
        let mut gain = if group == search.group {
            if !self.rules.numa_spare_swaps && search.target.state == State::HasSpare {
                return None;
            }
            let gain = search.gains.0 + more_faults(view, other, false, (here, there));
            if group.is_some() { gain - gain / 16 } else { gain }
        } else {
            // To 4.18 that of its group wherever the other one has one.
            let both = group.is_some() && (search.group.is_some() || self.by_capacity());
            search.gain() + more_faults(view, other, both, (here, there))
        };
        let wants = seen.map(|seen| seen.preferred);
        if by_spare && wants == Some(there) {
            gain -= gain / 16;
        }
        if by_spare && wants == Some(here) {
            gain += gain / 8;
        }
        Some(gain)
    }

    fn by_capacity(&self) -> bool {
        self.rules.numa_search == NumaSearch::Capacity
    }

    /// The task goes to the target alone; true if the search is over.
    fn take(&self, view: &dyn View, search: &mut Search, cpu: CpuId) -> bool {
        let by_spare = self.rules.numa_search == NumaSearch::Spare;
        let idle = |cpu: CpuId| view.nr_running(cpu) == 0;
        let cpu =
            if by_spare { search.target.idle.unwrap_or(cpu) } else { self.idle_near(view, search.task, cpu) };
        search.best = Some(Best { cpu, with: None, gain: search.gain() });
        by_spare && idle(cpu)
    }

    /// An idle cpu of the cache, this one first (`select_idle_sibling`).
    fn idle_near(&self, view: &dyn View, task: TaskId, cpu: CpuId) -> CpuId {
        let idle = |cpu: &CpuId| view.nr_running(*cpu) == 0 && view.allowed(task, *cpu);
        let near = self.caches.members(self.caches.part(cpu)).map(CpuId);
        Some(cpu).into_iter().chain(near).find(idle).unwrap_or(cpu)
    }

    /// Only a node that is less busy than the present one is worth a look (`numa_has_capacity`; to 4.18).
    fn has_capacity(&self, search: &Search) -> bool {
        let (source, target) = (&search.source, &search.target);
        if source.is_free() && !target.is_free() {
            return false;
        }
        source.load * target.capacity * search.pct > target.load * source.capacity * 100
    }

    /// Compares a cpu of the target with the best one (`task_numa_compare` to 4.18); never the last one.
    fn compare_by_capacity(&mut self, system: &mut dyn System, search: &mut Search, cpu: CpuId) -> bool {
        let other = system.current(cpu).or_else(|| system.next_task(cpu));
        let (alone, best) = (search.gain(), search.best_gain());
        if other == Some(search.task) || other.is_some_and(|other| !system.allowed(other, search.from)) {
            return false;
        }
        let gain = match other {
            Some(other) => self.gain_of_exchange(system, search, other).unwrap_or(alone),
            None => alone,
        };
        let full = search.source.running <= search.source.cores() && !search.target.is_free();
        if (gain <= best && alone <= best) || (other.is_none() && full) {
            return false;
        }
        let each_alone = system.nr_running(search.from) == 1 && system.nr_running(cpu) == 1;
        if let Some(other) = other.filter(|_| gain > best && each_alone) {
            search.best = Some(Best { cpu, with: Some(other), gain });
            return false;
        }
        let moved = search.moved(search.load);
        if alone > gain && alone > best && !search.beyond_tolerance(moved) {
            // An idle cpu wins by one.
            let cpu = self.idle_near(system, search.task, cpu);
            search.best = Some(Best { cpu, with: None, gain: alone - 1 });
            return false;
        }
        let back = other.map_or(0, |other| self.load_of(system, other) as i64);
        if gain <= best || search.beyond_tolerance((moved.0 + back, moved.1 - back)) {
            return false;
        }
        let cpu = if other.is_some() { cpu } else { self.idle_near(system, search.task, cpu) };
        search.best = Some(Best { cpu, with: other, gain });
        false
    }

    /// `task_h_load`.
    fn load_of(&mut self, system: &mut dyn System, task: TaskId) -> u64 {
        let [load, ..] = self.carried(system, task);
        system.task_load_average(task).unwrap_or(load >> FINE)
    }

    /// Sums over a node (`update_numa_stats`, `numa_classify`).
    fn node(&mut self, view: &dyn View, (task, number): (TaskId, NodeId), pct: u64) -> Node {
        let cpus = self.nodes.members(number.0);
        let now = view.now();
        let (mut load, mut used, mut runnable, mut running, mut capacity) = (0, 0, 0, 0, 0);
        for cpu in cpus.clone().map(CpuId) {
            let own = self.capacity(cpu);
            capacity += own;
            load += self.load(view, cpu);
            used += self.cpus[cpu].utilisation(now, own);
            runnable += self.cpus[cpu].runnable.get(now);
            running += u64::from(view.nr_running(cpu));
        }
        let size = cpus.len() as u64;
        let state = if running > size && (100 * capacity < used * pct || capacity * pct < runnable * 100) {
            State::Overloaded
        } else if running < size || (100 * capacity > used * pct && capacity * pct > runnable * 100) {
            State::HasSpare
        } else {
            State::FullyBusy
        };
        let free = |cpu: &CpuId| view.nr_running(*cpu) == 0;
        let idle = cpus.clone().map(CpuId).filter(|cpu| free(cpu) && view.allowed(task, *cpu));
        let whole = |cpu: CpuId| self.cores.around(cpu).map(CpuId).all(|cpu| free(&cpu));
        let idle = idle.min_by_key(|cpu| (Reverse(self.cores.largest() > 1 && whole(*cpu)), cpu.0));
        Node { number, cpus, load: load as i64, capacity: capacity as i64, running, state, idle }
    }
}

impl Node {
    /// Tasks that its cores have room for (`task_capacity`).
    fn cores(&self) -> u64 {
        cores(self.cpus.len() as u64, self.capacity.max(1) as u64)
    }

    /// `has_free_capacity`.
    fn is_free(&self) -> bool {
        self.running < self.cores()
    }
}

/// How many tasks run in a queue, how many of them prefer a node, and how many are on the one they prefer.
#[derive(Clone, Copy, Default, Debug)]
pub(super) struct Nearness {
    running: u32,
    prefer: u32,
    near: u32,
}

impl Nearness {
    const fn plus(self, other: Self) -> Self {
        Self {
            running: self.running + other.running,
            prefer: self.prefer + other.prefer,
            near: self.near + other.near,
        }
    }

    /// `fbq_classify_rq`: some prefer no node (0), some are not where they prefer to be (1), all are (2).
    const fn class(self) -> u8 {
        if self.running > self.prefer {
            0
        } else if self.running > self.near {
            1
        } else {
            2
        }
    }
}

impl GroupTypes {
    /// `nr_running`, `nr_numa_running` and `nr_preferred_running` of some cpus.
    fn nearness(&self, view: &dyn View, cpus: &[CpuId]) -> Vec<Nearness> {
        let of = |cpu: &CpuId| Nearness { running: view.nr_running(*cpu), ..Nearness::default() };
        let mut found: Vec<_> = cpus.iter().map(of).collect();
        for task in (0..self.tasks.len() as u32).map(TaskId) {
            let Some(at) =
                self.tasks[task.0 as usize].home.and_then(|home| cpus.iter().position(|c| *c == home))
            else {
                continue;
            };
            let seen = view.task(task);
            if seen.cpu == cpus[at] && matches!(seen.state, TaskState::Queued | TaskState::Running) {
                let node = preferred(view, task);
                found[at].prefer += u32::from(node.is_some());
                found[at].near += u32::from(node == Some(view.machine().node_of(cpus[at])));
            }
        }
        found
    }

    /// Leaves out the queues of a group at a level of nodes whose tasks are more at home than those of the
    /// whole group (`fbq_type` of `sched_balance_find_src_rq`).
    pub(super) fn least_at_home(&self, view: &dyn View, domain: &Domain, queues: Vec<CpuId>) -> Vec<CpuId> {
        if !self.balances_memory || domain.kind != Kind::Numa {
            return queues;
        }
        let found = self.nearness(view, &queues);
        let most = found.iter().fold(Nearness::default(), |sum, one| sum.plus(*one)).class();
        let fits = queues.into_iter().zip(found).filter(|(_, one)| one.class() <= most);
        fits.map(|(cpu, _)| cpu).collect()
    }

    /// Whether a move between nodes takes a task away from its pages, as if it were cache-hot
    /// (`migrate_degrades_locality`); none if that does not matter.
    pub(super) fn degrades(
        &self,
        view: &dyn View,
        task: TaskId,
        way: (CpuId, CpuId),
        idle: bool,
    ) -> Option<bool> {
        if !self.balances_memory {
            return None;
        }
        let Locality { preferred, group } = view.locality(task)?;
        let [here, there] = [way.0, way.1].map(|cpu| view.machine().node_of(cpu));
        if here == there {
            return None;
        }
        if here == preferred {
            // Others there are not at home.
            let class = self.nearness(view, &[way.0])[0];
            return (class.running > class.near).then_some(true);
        }
        if there == preferred {
            return Some(false);
        }
        (!idle).then(|| more_faults(view, task, group.is_some(), (there, here)) < 0)
    }
}
