//! Searches of the whole machine, the rules of FreeBSD 7: idle cpus by number, steals from the longest queue,
//! one pair of cores balanced at a time.

use std::cmp::Reverse;

use sim_core::ids::{CpuId, TaskId};
use sim_core::policy::{CpuChoice, System, Timer, View, Why};

use super::Ule;
use crate::spread::first_allowed;

impl Ule {
    /// `sched_pickcpu`: the last cpu when it is idle, the first idle one, else the one with the lowest
    /// priority, which is here the one with the fewest threads; of equals the last by number
    /// (`tdq_lowestpri`). That a thread of better priority stays on its last cpu or goes to its waker's is
    /// left out.
    pub(super) fn pick_lowest_idle(&mut self, view: &dyn View, task: TaskId, previous: CpuId) -> CpuChoice {
        let length = view.nr_running(previous).into();
        let allowed = || view.machine().cpu_ids().filter(|cpu| view.allowed(task, *cpu));
        if view.nr_running(previous) == 0 && view.allowed(task, previous) {
            return CpuChoice::new(previous, Why::rule("placed: its last cpu is idle"));
        }
        self.queues.refresh(view);
        let cpus = view.machine().cpus();
        if self.queues.idle() > 0
            && let Some(cpu) = self.queues.idle_from(0..cpus, 0, |cpu| view.allowed(task, cpu))
        {
            let why = Why::rule("placed: idle cpu with the lowest number");
            return CpuChoice::new(cpu, why.with("threads on its last cpu", length));
        }
        let fewest = self.queues.last_at_most(0..cpus, self.queues.extremes().0);
        let least = fewest
            .filter(|cpu| view.allowed(task, *cpu))
            .or_else(|| allowed().min_by_key(|cpu| (view.nr_running(*cpu), Reverse(cpu.0))));
        let cpu = least.unwrap_or_else(|| first_allowed(view, task));
        let why = Why::rule("placed: no idle cpu, cpu with the fewest threads")
            .with("threads there", view.nr_running(cpu).into());
        CpuChoice::new(cpu, why.with("threads on its last cpu", length))
    }

    /// The cpus that share a core with this one.
    fn core(&self, cpu: CpuId) -> impl Iterator<Item = CpuId> + Clone + use<> {
        self.cores.around(cpu).map(CpuId)
    }

    /// The idle loop calls `tdq_idled` after each interrupt, so an idle cpu looks again at its next tick
    /// while there is a queue to steal from.
    pub(super) fn look_again(&mut self, system: &mut dyn System, cpu: CpuId) {
        let (longest, looking) = (self.queues.extremes().1, self.looking[cpu]);
        let sibling = self.cores.largest() > 1 && self.core(cpu).any(|other| system.nr_running(other) >= 2);
        if self.steal && !looking && system.nr_running(cpu) == 0 && (longest >= self.threshold || sibling) {
            self.looking[cpu] = true;
            system.at(system.now(), Timer::Tick(cpu));
        }
    }

    /// `tdq_idled`: a sibling with a waiting thread, else the most loaded cpu if it has enough; of equals the
    /// last.
    pub(super) fn steal_longest(&mut self, system: &mut dyn System, cpu: CpuId) {
        let sibling = self.core(cpu).find(|other| *other != cpu && system.nr_running(*other) >= 2);
        if let Some(victim) = sibling {
            self.take(system, victim, cpu, Why::rule("stolen: a thread waits on the same core"));
            return;
        }
        self.queues.refresh(system);
        let most = self.queues.extremes().1.max(2);
        let victim = self.queues.last_at_least(0..system.machine().cpus(), most);
        if let Some(victim) = victim.filter(|victim| system.nr_running(*victim) >= self.threshold) {
            let why = Why::rule("stolen: from the longest queue, which reaches the threshold");
            self.take(system, victim, cpu, why.with("threshold, threads", self.threshold.into()));
        }
    }

    /// `sched_balance`: of all cores, from a random one on, the first with the most threads, some of them
    /// waiting, and the first with the fewest.
    pub(super) fn balance_pair(&mut self, system: &mut dyn System) {
        let cores = self.cores.count();
        let start = self.draw(system, cores.into()) as u32;
        let mut high: Option<(u32, CpuId)> = None;
        let mut low: Option<(u32, CpuId)> = None;
        for core in (0..cores).map(|i| (start + i) % cores) {
            // Lists grow at the head: the first member is the last by number.
            let head = CpuId(self.cores.members(core).end - 1);
            let load = self.core(head).map(|cpu| system.nr_running(cpu)).sum();
            let waits = self.core(head).any(|cpu| system.nr_running(cpu) >= 2);
            if waits && high.is_none_or(|(most, _)| load > most) {
                high = Some((load, head));
            }
            if low.is_none_or(|(least, _)| load < least) {
                low = Some((load, head));
            }
        }
        if let (Some((most, high)), Some((least, low))) = (high, low)
            && high != low
        {
            let why = Why::rule("moved: the long-term balancer halves the largest difference");
            let why = why.with("most threads on a core", most.into());
            for _ in 0..most.saturating_sub(least).div_ceil(2) {
                let from = self.core(high).filter(|cpu| system.nr_running(*cpu) >= 2).last();
                let Some(from) = from else { break };
                self.take(system, from, low, why.with("fewest", least.into()));
            }
        }
    }

    /// `sched_balance_groups`: the same within each core.
    pub(super) fn balance_siblings(&mut self, system: &mut dyn System) {
        let why = Why::rule("moved: the long-term balancer halves the difference on a core");
        for core in 0..self.cores.count() {
            let of_core = self.cores.members(core).map(CpuId);
            let high = of_core.clone().max_by_key(|cpu| (system.nr_running(*cpu), cpu.0));
            let low = of_core.min_by_key(|cpu| (system.nr_running(*cpu), Reverse(cpu.0)));
            if let (Some(high), Some(low)) = (high, low) {
                let more = system.nr_running(high).saturating_sub(system.nr_running(low));
                for _ in 0..more.div_ceil(2).min(system.nr_running(high).saturating_sub(1)) {
                    self.take(system, high, low, why);
                }
            }
        }
    }
}
