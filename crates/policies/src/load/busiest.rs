//! The busiest group of a domain and how much to pull from it: `find_busiest_group` of Linux 2.6.18 to
//! 2.6.30.

use std::ops::Range;

use sim_core::ids::CpuId;
use sim_core::policy::View;

use super::Load;
use super::cpu_load::load_of;
use super::domains::{Domain, UNIT};
use super::releases::Template;
use super::rules::{self, Amount};
use crate::attempt::Situation;
use kernels::LoadRules;

impl Situation {
    const fn index(self, template: &Template) -> usize {
        match self {
            Self::Busy => template.busy_index,
            Self::Idle => template.idle_index,
            Self::NewlyIdle => template.newidle_index,
        }
    }
}

/// What a look at a domain found.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Finding {
    /// Another cpu of the local group balances here and above.
    NotDesignated,
    /// Nothing to do.
    Balanced,
    /// Pull this much load from this group.
    Pull { from: Range<u32>, imbalance: u64 },
}

/// Sums over a group.
#[derive(Clone, Debug, Default)]
struct Group {
    cpus: Range<u32>,
    /// Sum of the cautious load estimates.
    estimate: u64,
    /// The same by power: load per full unit.
    average: u64,
    /// Runnable tasks.
    tasks: u64,
    /// Their weights.
    weight: u64,
    /// The loads of its cpus differ by more than two tasks.
    uneven: bool,
}

impl Group {
    fn load_per_task(&self) -> u64 {
        self.weight.checked_div(self.tasks).unwrap_or(0)
    }
}

impl Load {
    /// Looks for the busiest group of `me`'s domain at `level`; cpus in `self.excluded` do not count.
    pub(super) fn find_busiest(
        &mut self,
        view: &dyn View,
        level: usize,
        me: CpuId,
        as_a: Situation,
    ) -> Finding {
        self.queues.refresh(view);
        let domain = self.domains[level].clone();
        let index = as_a.index(&domain.template);
        if self.rules.designated && as_a != Situation::NewlyIdle && self.designated(&domain.local(me)) != me {
            return Finding::NotDesignated;
        }
        if domain.groups.largest() == 1 && !self.anyone_crowded(&domain, me) {
            return Finding::Balanced;
        }
        let local = self.sum_group(view, &domain, domain.local(me), index, true);
        if u64::from(self.runnable[level][domain.instance(me)]) <= local.tasks {
            return Finding::Balanced;
        }
        let mut total = local.estimate;
        let power = domain.power * domain.count(me);
        let mut busiest: Option<Group> = None;
        // A group without tasks adds nothing to the total and is never the busiest.
        for part in domain.others(me) {
            let mut at = part.start;
            while let Some(busy) = self.next_busy(at..part.end) {
                let cpus = domain.local(CpuId(busy));
                at = cpus.end;
                let group = self.sum_group(view, &domain, cpus, index, false);
                total += group.estimate;
                let overloaded = group.tasks > domain.power / UNIT || group.uneven;
                if overloaded && group.average > busiest.as_ref().map_or(0, |b| b.average) {
                    busiest = Some(group);
                }
            }
        }
        let Some(busiest) = busiest else {
            return Finding::Balanced;
        };
        let mine = cpu_load_per_task(view, me);
        let found = imbalance(&self.rules, &domain, &local, &busiest, UNIT * total / power, mine);
        let Some((imbalance, amount)) = found else {
            return Finding::Balanced;
        };
        let tolerated = domain.template.imbalance_pct;
        let rule = rules::pulled(as_a, amount);
        self.why = rules::pull(rule, busiest.average, local.average, tolerated, imbalance);
        Finding::Pull { from: busiest.cpus, imbalance }
    }

    /// The cpu of a group that balances for it: its first idle one, else its first.
    fn designated(&self, group: &Range<u32>) -> CpuId {
        self.queues.first_at_most(group.clone(), 0).unwrap_or(CpuId(group.start))
    }

    /// In a domain whose groups are single cpus: another cpu than `me` has more tasks than a group has power
    /// for. Only such a cpu can be the busiest group.
    fn anyone_crowded(&self, domain: &Domain, me: CpuId) -> bool {
        let tasks = (domain.power / UNIT) as u32 + 1;
        domain.others(me).into_iter().any(|cpus| self.queues.first_at_least(cpus, tasks).is_some())
    }

    /// The first cpu of a range that has a task.
    fn next_busy(&self, cpus: Range<u32>) -> Option<u32> {
        self.queues.first_at_least(cpus, 1).map(|cpu| cpu.0)
    }

    fn sum_group(
        &mut self,
        view: &dyn View,
        domain: &Domain,
        cpus: Range<u32>,
        index: usize,
        local: bool,
    ) -> Group {
        let mut group = Group { cpus: cpus.clone(), ..Group::default() };
        let compares = self.rules.group_imbalance && !local;
        let (mut max, mut min, mut per_task) = (0, u64::MAX, 0);
        let now = view.now();
        for cpu in cpus.map(CpuId) {
            if self.excluded.contains(cpu) {
                continue;
            }
            let (tasks, weight) = (u64::from(self.queues.length(cpu)), load_of(view, cpu));
            let average = self.loads.average(cpu, (now, weight), index);
            // `target_load` of the own group, `source_load` of another one.
            let estimate = if local { average.max(weight) } else { average.min(weight) };
            group.estimate += estimate;
            group.tasks += tasks;
            group.weight += weight;
            if compares {
                (max, min) = (max.max(estimate), min.min(estimate));
                per_task += weight.checked_div(tasks).unwrap_or(0);
            }
        }
        group.average = group.estimate * UNIT / domain.power;
        group.uneven = compares && max.saturating_sub(min) > 2 * (per_task * UNIT / domain.power);
        group
    }
}

fn cpu_load_per_task(view: &dyn View, cpu: CpuId) -> u64 {
    load_of(view, cpu).checked_div(u64::from(view.nr_running(cpu))).unwrap_or(0)
}

/// How much load to pull from `busiest`, if anything; `average` is that of the whole domain, `mine` the load
/// per task of the pulling cpu.
fn imbalance(
    rules: &LoadRules,
    domain: &Domain,
    local: &Group,
    busiest: &Group,
    average: u64,
    mine: u64,
) -> Option<(u64, Amount)> {
    let (this, max, power) = (local.average, busiest.average, domain.power);
    let tolerated = 100 * max <= domain.template.imbalance_pct * this;
    if this >= max || busiest.tasks == 0 || this >= average || tolerated {
        return None;
    }
    let mut per_task = busiest.load_per_task();
    if busiest.uneven {
        per_task = per_task.min(average);
    }
    if max <= per_task {
        return None;
    }
    // No more than brings the busiest down to the average or this group up to it.
    let wanted = if max < average {
        0
    } else {
        ((max - average).min(max - per_task) * power).min((average - this) * power) / UNIT
    };
    if wanted >= per_task {
        return Some((wanted, Amount::Excess));
    }
    let local_per_task = if local.tasks > 0 { local.load_per_task() } else { mine };
    let needed = if local.tasks > 0 && per_task > local_per_task { 1 } else { 2 };
    let worth_one = max - this + rules.fuzz * per_task >= needed * per_task
        || gains_throughput(power, (max, per_task), (this, local_per_task));
    // Otherwise the kernel goes on with the small amount; it can still move a task of up to twice that
    // weight.
    Some((if worth_one { per_task } else { wanted }, Amount::Small))
}

/// Would moving one task raise the power in use? Both groups have the same power.
fn gains_throughput(power: u64, (max, per_task): (u64, u64), (this, local_per_task): (u64, u64)) -> bool {
    let now = (power * per_task.min(max) + power * local_per_task.min(this)) / UNIT;
    let step = per_task * UNIT / power;
    let left = if max > step { power * per_task.min(max - step) } else { 0 };
    let added = if max * power < per_task * UNIT { max } else { step };
    let moved = (left + power * local_per_task.min(this + added)) / UNIT;
    moved > now
}
