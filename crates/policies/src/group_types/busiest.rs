//! The busiest group of a domain and what to pull from it: `sched_balance_find_src_group` of Linux 6.x.

use std::ops::Range;

use sim_core::ids::CpuId;
use sim_core::policy::View;

use super::domains::{Domain, Kind, UNIT};
use super::group::{Amount, State, Stats, cores};
use super::unequal::greater;
use super::{GroupTypes, rules};
use crate::attempt::Situation;
use kernels::{Compares, Crowded, NumaAllowance, Siblings};

/// What a look at a domain found.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Finding {
    /// Another cpu of the local group balances here and above.
    NotDesignated,
    /// Nothing to do.
    Balanced,
    /// Pull this from this group.
    Pull(Range<u32>, Amount),
}

/// How many tasks to move between memory nodes that differ by so many (`adjust_numa_imbalance`): a pair of
/// communicating tasks may stay together while there are few.
fn between_nodes(domain: &Domain, local: &Stats, busiest: &Stats, difference: u64) -> u64 {
    let half = difference / 2;
    let few = || local.tasks < domain.numa_slack;
    let stays = match domain.rules.numa_allowance {
        NumaAllowance::Off => false,
        NumaAllowance::Two => busiest.tasks <= 2,
        NumaAllowance::Quarter => busiest.tasks < busiest.size() / 4 && half <= 2,
        NumaAllowance::Moved => few() && half <= 2,
        NumaAllowance::Difference => few() && difference <= 2,
    };
    if stays { 0 } else { half }
}

impl GroupTypes {
    /// Sums over a group; cpus in `self.excluded` do not count.
    pub(super) fn sum(&mut self, view: &dyn View, domain: &Domain, cpus: Range<u32>) -> Stats {
        let now = view.now();
        let (mut load, mut busy, mut runnable, mut tasks, mut idle) = (0, 0, 0, 0, 0);
        let (mut capacity, mut misfit) = (0, 0);
        for cpu in cpus.clone().map(CpuId) {
            let own = self.capacity(cpu);
            capacity += own;
            if self.excluded.contains(cpu) {
                continue;
            }
            load += self.load(view, cpu);
            let record = &mut self.cpus[cpu];
            busy += record.utilisation(now, own);
            misfit = misfit.max(record.misfit);
            runnable += record.runnable.get(now);
            tasks += u64::from(view.nr_running(cpu));
            idle += u64::from(view.nr_running(cpu) == 0);
        }
        let size = u64::from(cpus.end - cpus.start);
        // `group_is_overloaded`, `group_has_capacity`.
        let pct = domain.imbalance_pct();
        let overloaded = self.rules.runnable_counts && pct * capacity < 100 * runnable;
        let (full, room) = match self.rules.crowded {
            Crowded::Tasks => {
                let cores = cores(size, capacity);
                (tasks > cores, tasks < cores)
            }
            Crowded::Time => (
                tasks > size && (overloaded || 100 * capacity < pct * busy),
                tasks < size || (!overloaded && 100 * capacity > pct * busy),
            ),
        };
        let state = if full {
            State::Overloaded
        } else if self.marked[domain.level][domain.groups.part(CpuId(cpus.start)) as usize] {
            State::Imbalanced
        } else if room {
            State::HasSpare
        } else {
            State::FullyBusy
        };
        let core = self.cores.part(CpuId(cpus.start));
        Stats {
            load,
            busy,
            tasks,
            idle,
            capacity,
            capacities: self.unequal.capacities(&cpus),
            misfit: if domain.asymmetric { misfit } else { 0 },
            priority: self.unequal.best(&cpus),
            cores: u64::from(self.cores.part(CpuId(cpus.end - 1)) - core + 1),
            smt: size > 1 && self.cores.around(CpuId(cpus.start)) == cpus,
            room,
            state,
            cpus,
        }
    }

    /// Looks for the busiest group of `me`'s domain.
    pub(super) fn find_busiest(
        &mut self,
        view: &dyn View,
        domain: &Domain,
        me: CpuId,
        as_a: Situation,
    ) -> Finding {
        if as_a != Situation::NewlyIdle && self.designated(view, domain, me) != me {
            return Finding::NotDesignated;
        }
        if self.rules.compares == Compares::Loads {
            return self.busiest_by_load(view, domain, me, as_a);
        }
        let local = self.sum(view, domain, domain.local(me));
        let (mut load, mut capacity, mut busy) = (local.load, local.capacity, local.busy);
        let mut busiest: Option<Stats> = None;
        for group in domain.remote(me) {
            let mut stats = self.sum(view, domain, group);
            stats.state = stats.state.max(self.special(view, domain, (&stats, as_a), me));
            load += stats.load;
            capacity += stats.capacity;
            busy += stats.busy;
            let helps = self.helps(view, domain, (&stats, &local), me);
            if stats.tasks > 0
                && helps
                && busiest.as_ref().is_none_or(|best| stats.busier_than(best, &self.rules))
            {
                busiest = Some(stats);
            }
        }
        if as_a != Situation::NewlyIdle {
            self.limit_scans(domain, me, busy);
        }
        let found = busiest.and_then(|busiest| {
            let amount = amount(domain, &local, &busiest, load * UNIT / capacity, as_a)?;
            self.why = rules::pull(as_a, &busiest, &local, amount);
            Some(Finding::Pull(busiest.cpus, amount))
        });
        found.unwrap_or(Finding::Balanced)
    }

    /// The type of a group because of its hardware threads, or because cores differ (`update_sg_lb_stats`).
    pub(super) fn special(
        &self,
        view: &dyn View,
        domain: &Domain,
        group: (&Stats, Situation),
        me: CpuId,
    ) -> State {
        let (stats, as_a) = group;
        let idle = as_a != Situation::Busy;
        if idle && stats.tasks > 0 && self.unequal.packs(view, domain, (&stats.cpus, stats.idle), me) {
            State::Packing
        } else if self.rules.smt_balance && stats.smt && idle && stats.tasks > 1 {
            State::SmtBalance
        } else if stats.misfit > 0 {
            State::Misfit
        } else {
            State::HasSpare
        }
    }

    /// Whether `me` helps a group where capacities differ (`update_sd_pick_busiest`): a task that is too
    /// large comes to an idle core that is larger; of a group with a task per cpu none comes to a smaller
    /// one.
    pub(super) fn helps(
        &self,
        view: &dyn View,
        domain: &Domain,
        groups: (&Stats, &Stats),
        me: CpuId,
    ) -> bool {
        let ((stats, local), own) = (groups, self.unequal.capacity(me));
        let (least, most) = stats.capacities;
        match stats.state {
            _ if !domain.asymmetric => true,
            State::Misfit => {
                let free = self.unequal.siblings_idle(view, me) && local.state == State::HasSpare;
                free && greater(own, most)
            }
            State::HasSpare | State::FullyBusy => !greater(least, own),
            _ => true,
        }
    }

    /// The cpu that balances for its group (`should_we_balance`): the first idle one, by the rule on an idle
    /// core if there is one, else the first.
    fn designated(&self, view: &dyn View, domain: &Domain, me: CpuId) -> CpuId {
        let group = domain.local(me);
        let idle = |cpu: u32| view.nr_running(CpuId(cpu)) == 0;
        let core_idle = |cpu: u32| self.cores.around(CpuId(cpu)).all(idle);
        let looks = |cpu: &u32| idle(*cpu) && !self.excluded.contains(CpuId(*cpu));
        let any = domain.kind == Kind::Smt || !self.rules.idle_core_first;
        let whole = group.clone().find(|cpu| looks(cpu) && (any || core_idle(*cpu)));
        CpuId(whole.or_else(|| group.clone().find(looks)).unwrap_or(group.start))
    }
}

/// How much to pull from `busiest`, if anything; `average` is that of the domain.
pub(super) fn amount(
    domain: &Domain,
    local: &Stats,
    busiest: &Stats,
    average: u64,
    as_a: Situation,
) -> Option<Amount> {
    if busiest.state == State::Imbalanced {
        // Sums over groups say nothing where masks matter: one task, whatever they are.
        return Some(Amount::Tasks(1));
    }
    match busiest.state {
        State::Misfit => return Some(Amount::Misfit(1)),
        State::Packing => return Some(Amount::Tasks(busiest.tasks)),
        _ if local.state > busiest.state => return None,
        _ => {}
    }
    let (this, max) = (local.average(), busiest.average());
    if local.state == State::Overloaded
        && (this >= max || this >= average || 100 * max <= domain.imbalance_pct() * this)
    {
        return None;
    }
    let excess = match domain.rules.siblings {
        Siblings::Any => busiest.tasks.saturating_sub(local.tasks),
        Siblings::Idle if as_a == Situation::Busy => 0,
        Siblings::Idle => excess(local, busiest),
    };
    let evens = domain.prefer_sibling && local.state == State::HasSpare && excess > 1;
    if !evens && busiest.state != State::Overloaded {
        let lone = busiest.tasks == 1 || (busiest.size() > 1 && local.idle <= busiest.idle + 1);
        if as_a == Situation::Busy || lone {
            return None;
        }
    }
    pull(domain, local, busiest, average, (excess, as_a))
}

/// How many tasks more the busiest group has, for its cores (`sibling_imbalance`).
fn excess(local: &Stats, busiest: &Stats) -> u64 {
    if local.cores == busiest.cores {
        return busiest.tasks.saturating_sub(local.tasks);
    }
    let cores = local.cores + busiest.cores;
    let more = (local.cores * busiest.tasks).saturating_sub(busiest.cores * local.tasks);
    let excess = (2 * more + cores) / cores;
    if excess <= 1 && local.tasks == 0 && busiest.tasks > 1 { 2 } else { excess }
}

/// `calculate_imbalance`.
fn pull(
    domain: &Domain,
    local: &Stats,
    busiest: &Stats,
    average: u64,
    (excess, as_a): (u64, Situation),
) -> Option<Amount> {
    if busiest.state == State::SmtBalance {
        return Some(Amount::Tasks(1));
    }
    if local.state == State::HasSpare {
        let by_tasks = domain.rules.cache_moves_tasks && domain.shares_cache();
        if busiest.state == State::Overloaded && !by_tasks {
            // What the local group has left; an idle cpu takes one task in any case.
            let spare = local.capacity.saturating_sub(local.busy);
            let one = (as_a != Situation::Busy).then_some(Amount::Tasks(1));
            return if spare == 0 { one } else { Some(Amount::Utilisation(spare)) };
        }
        let difference = if busiest.size() == 1 || domain.prefer_sibling {
            excess
        } else {
            local.idle.saturating_sub(busiest.idle)
        };
        let tasks = match domain.kind {
            Kind::Numa => between_nodes(domain, local, busiest, difference),
            _ => difference / 2,
        };
        return Some(Amount::Tasks(tasks)).filter(|amount| *amount != Amount::Tasks(0));
    }
    // Only that of an overloaded group is known.
    let max = if busiest.state == State::Overloaded { busiest.average() } else { 0 };
    let this = local.average();
    if this >= max || this >= average {
        return None;
    }
    let above = max.saturating_sub(average) * busiest.capacity;
    let below = (average - this) * local.capacity;
    Some(Amount::Load(above.min(below) / UNIT)).filter(|amount| *amount != Amount::Load(0))
}
