//! The busiest group of a domain and what to pull from it: `sched_balance_find_src_group` of Linux 6.x.

use std::ops::Range;

use sim_core::ids::CpuId;
use sim_core::policy::View;

use super::domains::{Domain, Kind, UNIT};
use super::group::{Amount, Situation, State, Stats};
use super::{Linux618, rules};

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

/// What is left of an imbalance between memory nodes (`adjust_numa_imbalance`): a pair of communicating tasks
/// may stay together while the receiver has few tasks.
pub(super) const fn numa_imbalance(imbalance: u64, running: u64, slack: u64) -> u64 {
    if running <= slack && imbalance <= 2 { 0 } else { imbalance }
}

impl Linux618 {
    /// Sums over a group; cpus in `self.excluded` do not count.
    pub(super) fn sum(&mut self, view: &dyn View, domain: &Domain, cpus: Range<u32>) -> Stats {
        let now = view.now();
        let (mut load, mut busy, mut runnable, mut tasks, mut idle) = (0, 0, 0, 0, 0);
        for cpu in cpus.clone().map(CpuId) {
            if self.excluded.contains(cpu) {
                continue;
            }
            let record = &mut self.cpus[cpu];
            load += record.load.get(now);
            busy += record.utilisation(now);
            runnable += record.runnable.get(now);
            tasks += u64::from(view.nr_running(cpu));
            idle += u64::from(view.nr_running(cpu) == 0);
        }
        let size = u64::from(cpus.end - cpus.start);
        let capacity = UNIT * size;
        // `group_is_overloaded`, `group_has_capacity`.
        let pct = domain.imbalance_pct();
        let overloaded = pct * capacity < 100 * runnable;
        let state = if tasks > size && (overloaded || 100 * capacity < pct * busy) {
            State::Overloaded
        } else if self.marked[domain.level][domain.groups.part(CpuId(cpus.start)) as usize] {
            State::Imbalanced
        } else if tasks < size || (!overloaded && 100 * capacity > pct * busy) {
            State::HasSpare
        } else {
            State::FullyBusy
        };
        Stats { cpus, load, busy, tasks, idle, capacity, smt: domain.smt_groups, state }
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
        let local = self.sum(view, domain, domain.local(me));
        let (mut load, mut capacity) = (local.load, local.capacity);
        let mut busiest: Option<Stats> = None;
        for group in domain.remote(me) {
            let mut stats = self.sum(view, domain, group);
            if stats.smt && as_a != Situation::Busy && stats.tasks > 1 {
                stats.state = stats.state.max(State::SmtBalance);
            }
            load += stats.load;
            capacity += stats.capacity;
            if stats.tasks > 0 && busiest.as_ref().is_none_or(|best| stats.busier_than(best)) {
                busiest = Some(stats);
            }
        }
        let found = busiest.and_then(|busiest| {
            let amount = amount(domain, &local, &busiest, load * UNIT / capacity, as_a)?;
            self.why = rules::pull(as_a, &busiest, &local, amount);
            Some(Finding::Pull(busiest.cpus, amount))
        });
        found.unwrap_or(Finding::Balanced)
    }

    /// The cpu that balances for its group (`should_we_balance`): the first idle one, on an idle core if
    /// there is one, else the first.
    fn designated(&self, view: &dyn View, domain: &Domain, me: CpuId) -> CpuId {
        let group = domain.local(me);
        let idle = |cpu: u32| view.nr_running(CpuId(cpu)) == 0;
        let core_idle = |cpu: u32| self.cores.around(CpuId(cpu)).all(idle);
        let looks = |cpu: &u32| idle(*cpu) && !self.excluded.contains(CpuId(*cpu));
        let whole = group.clone().find(|cpu| looks(cpu) && (domain.kind == Kind::Smt || core_idle(*cpu)));
        CpuId(whole.or_else(|| group.clone().find(looks)).unwrap_or(group.start))
    }
}

/// How much to pull from `busiest`, if anything; `average` is that of the domain.
fn amount(domain: &Domain, local: &Stats, busiest: &Stats, average: u64, as_a: Situation) -> Option<Amount> {
    if busiest.state == State::Imbalanced {
        // Sums over groups say nothing where masks matter: one task, whatever they are.
        return Some(Amount::Tasks(1));
    }
    if local.state > busiest.state {
        return None;
    }
    let (this, max) = (local.average(), busiest.average());
    if local.state == State::Overloaded
        && (this >= max || this >= average || 100 * max <= domain.imbalance_pct() * this)
    {
        return None;
    }
    // `sibling_imbalance`: only an idle cpu evens out the numbers of tasks.
    let excess = if as_a == Situation::Busy { 0 } else { busiest.tasks.saturating_sub(local.tasks) };
    let evens = domain.prefer_sibling && local.state == State::HasSpare && excess > 1;
    if !evens && busiest.state != State::Overloaded {
        let lone = busiest.tasks == 1 || (busiest.size() > 1 && local.idle <= busiest.idle + 1);
        if as_a == Situation::Busy || lone {
            return None;
        }
    }
    pull(domain, local, busiest, average, (excess, as_a))
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
        if busiest.state == State::Overloaded && !domain.shares_cache() {
            // What the local group has left; an idle cpu takes one task in any case.
            let spare = local.capacity.saturating_sub(local.busy);
            let one = (as_a != Situation::Busy).then_some(Amount::Tasks(1));
            return if spare == 0 { one } else { Some(Amount::Utilisation(spare)) };
        }
        let mut tasks = if busiest.size() == 1 || domain.prefer_sibling {
            excess
        } else {
            local.idle.saturating_sub(busiest.idle)
        };
        if domain.kind == Kind::Numa {
            tasks = numa_imbalance(tasks, local.tasks + 1, domain.numa_slack);
        }
        return Some(Amount::Tasks(tasks / 2)).filter(|amount| *amount != Amount::Tasks(0));
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
