//! The busiest group by loads, and how much to pull from it: `find_busiest_group`, `calculate_imbalance` and
//! `fix_small_imbalance` of Linux 3.16 to 5.4.

use sim_core::ids::CpuId;
use sim_core::policy::View;
use sim_core::time::Time;

use super::busiest::Finding;
use super::domains::{Domain, Kind, UNIT};
use super::group::{Amount, State, Stats, cores};
use super::{GroupTypes, rules};
use crate::attempt::Situation;
use crate::ticks::followed;
use kernels::{Crowded, TypeRules as Rules};

/// The capacity of a core with several threads (`smt_gain`).
const CORE: u64 = 1_178;

/// Averages that follow the load of a cpu at its ticks (`cpu_load[]`).
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Followers {
    values: [u64; 3],
    /// Ticks already counted.
    ticks: u64,
}

/// A group as the balancer by loads sees it.
#[derive(Clone, Debug)]
pub(super) struct Seen {
    /// What is known of it in any case; `load` is that of now.
    pub(super) stats: Stats,
    /// The cautious estimate of its load (`group_load`).
    pub(super) load: u64,
    /// More than so many tasks are too many (`group_capacity_factor`).
    pub(super) cores: u64,
}

impl Seen {
    /// Load per full capacity (`avg_load`).
    fn average(&self) -> u64 {
        self.load * UNIT / self.stats.capacity
    }

    fn per_task(&self) -> u64 {
        self.stats.load.checked_div(self.stats.tasks).unwrap_or(0)
    }

    /// Its type: spare cpus make no difference here.
    fn rank(&self) -> State {
        if self.stats.state == State::FullyBusy { State::HasSpare } else { self.stats.state }
    }
}

/// Which average of a cpu's load a look at a level compares (`busy_idx`, `idle_idx`, `newidle_idx` of
/// `sd_init`); 0: the load of now.
const fn index(kind: Kind, as_a: Situation) -> usize {
    match (as_a, kind) {
        (Situation::NewlyIdle, _) | (_, Kind::Smt) | (Situation::Idle, Kind::Cls | Kind::Mc) => 0,
        (Situation::Idle, Kind::Pkg) => 1,
        (Situation::Idle, Kind::Numa) | (Situation::Busy, Kind::Cls | Kind::Mc | Kind::Pkg) => 2,
        (Situation::Busy, Kind::Numa) => 3,
    }
}

impl GroupTypes {
    /// The capacity of a cpu; by the rule the threads of a core share that of 1.15 cpus.
    pub(super) fn capacity(&self, cpu: CpuId) -> u64 {
        let whole = self.unequal.capacity(cpu);
        match self.cores.around(cpu).len() as u64 {
            threads @ 2.. if self.rules.threads_share => whole * CORE / (threads * UNIT),
            _ => whole,
        }
    }

    /// A task has come to the queue of `cpu` or leaves it, with this load in fine units.
    pub(super) fn queue_load(&mut self, now: Time, cpu: CpuId, load: u64, comes: bool) {
        if self.rules.sleepers_count {
            return;
        }
        self.follow_ticks(now, cpu);
        let queued = &mut self.cpus[cpu].queued;
        if comes { queued.add(now, load) } else { queued.remove(now, load) }
    }

    /// Counts the ticks of a cpu up to now: at each the averages follow its load (`cpu_load_update`). The
    /// load of queued tasks must not be brought up to date before.
    pub(super) fn follow_ticks(&mut self, now: Time, cpu: CpuId) {
        if !self.rules.load_bias {
            return;
        }
        let ticks = self.ticks.number(cpu, now);
        let record = &mut self.cpus[cpu];
        while record.followers.ticks < ticks {
            record.followers.ticks += 1;
            let load = record.queued.get(self.ticks.due(cpu, record.followers.ticks));
            for (i, value) in record.followers.values.iter_mut().enumerate() {
                *value = followed(*value, load, i as u32);
            }
            if record.queued.is_steady() && record.followers.values == [load; 3] {
                record.followers.ticks = ticks;
            }
        }
    }

    /// A cautious estimate of a cpu's load: the larger of that of now and an average in the own group
    /// (`target_load`), the smaller in another one (`source_load`). With task groups that of now: what
    /// follows it is not known by group.
    fn cautious(&mut self, view: &dyn View, cpu: CpuId, index: usize, own: bool) -> u64 {
        let load = self.load(view, cpu);
        let follows = self.rules.load_bias && view.load_average(cpu).is_none();
        let Some(at) = index.checked_sub(1).filter(|_| follows) else { return load };
        let average = self.cpus[cpu].followers.values[at];
        if own { load.max(average) } else { load.min(average) }
    }

    pub(super) fn seen(
        &mut self,
        view: &dyn View,
        domain: &Domain,
        cpus: std::ops::Range<u32>,
        look: Look,
    ) -> Seen {
        let stats = self.sum(view, domain, cpus);
        let (index, own) = (index(domain.kind, look.as_a), look.own);
        let counted = |cpu: &CpuId| !self.excluded.contains(*cpu);
        let cpus: Vec<CpuId> = stats.cpus.clone().map(CpuId).filter(counted).collect();
        let load = cpus.into_iter().map(|cpu| self.cautious(view, cpu, index, own)).sum();
        Seen { load, cores: cores(stats.size(), stats.capacity), stats }
    }

    /// Looks for the busiest group of `me`'s domain, which balances for its group.
    pub(super) fn busiest_by_load(
        &mut self,
        view: &dyn View,
        domain: &Domain,
        me: CpuId,
        as_a: Situation,
    ) -> Finding {
        let local = self.seen(view, domain, domain.local(me), Look { as_a, own: true });
        let (mut load, mut capacity) = (local.load, local.stats.capacity);
        let mut busiest: Option<Seen> = None;
        for group in domain.remote(me) {
            let mut seen = self.seen(view, domain, group, Look { as_a, own: false });
            if domain.prefer_sibling && local.stats.room {
                spread(self.rules.crowded, &mut seen, &local);
            }
            seen.stats.state = seen.stats.state.max(self.special(view, domain, (&seen.stats, as_a), me));
            load += seen.load;
            capacity += seen.stats.capacity;
            let helps = self.helps(view, domain, (&seen.stats, &local.stats), me);
            let most = busiest.as_ref().map_or((State::HasSpare, 0), |best| (best.rank(), best.average()));
            if helps && (seen.rank(), seen.average()) > most {
                busiest = Some(seen);
            }
        }
        let mine = self.load(view, me).checked_div(u64::from(view.nr_running(me))).unwrap_or(0);
        let found = busiest.and_then(|busiest| {
            let means = (load * UNIT / capacity, mine);
            let amount = amount(&self.rules, domain, (&local, &busiest), means, as_a)?;
            self.why = rules::pull(as_a, &busiest.stats, &local.stats, amount);
            Some(Finding::Pull(busiest.stats.cpus, amount))
        });
        found.unwrap_or(Finding::Balanced)
    }
}

/// How a group is looked at.
#[derive(Clone, Copy, Debug)]
pub(super) struct Look {
    pub(super) as_a: Situation,
    /// It is that of the cpu that looks.
    pub(super) own: bool,
}

/// The level below spreads over its groups, and the own group has room: another one with more tasks is
/// overloaded (`update_sd_lb_stats`).
fn spread(crowded: Crowded, seen: &mut Seen, local: &Seen) {
    let most = match crowded {
        Crowded::Tasks => {
            seen.cores = 1;
            1
        }
        Crowded::Time => local.stats.tasks + 1,
    };
    if seen.stats.tasks > most {
        seen.stats.state = State::Overloaded;
    }
}

/// A cpu without tasks takes from an overloaded group whatever the loads are, if its own has room
/// (`force_balance`).
fn forces(rules: &Rules, (local, busiest): (&Seen, &Seen), as_a: Situation) -> bool {
    let looks = as_a == Situation::NewlyIdle || (as_a == Situation::Idle && rules.idle_takes);
    let full = match rules.crowded {
        Crowded::Tasks => !busiest.stats.room,
        Crowded::Time => busiest.stats.state == State::Overloaded,
    };
    looks && local.stats.room && full
}

/// How much load of an overloaded group is above its capacity (`load_above_capacity`).
fn above(crowded: Crowded, busiest: &Seen) -> u64 {
    let Stats { tasks, capacity, .. } = busiest.stats;
    match crowded {
        Crowded::Tasks => tasks.saturating_sub(busiest.cores) * UNIT * UNIT / capacity,
        Crowded::Time if tasks * UNIT > capacity => (tasks * UNIT - capacity) * UNIT / capacity,
        Crowded::Time => u64::MAX,
    }
}

/// How much to pull from `busiest`, if anything; `means`: the average load of the domain, and the load per
/// task of the cpu that balances.
pub(super) fn amount(
    rules: &Rules,
    domain: &Domain,
    (local, busiest): (&Seen, &Seen),
    means: (u64, u64),
    as_a: Situation,
) -> Option<Amount> {
    match busiest.stats.state {
        _ if busiest.stats.tasks == 0 => return None,
        State::Misfit => return Some(Amount::Misfit(1)),
        State::Packing => return Some(Amount::Tasks(busiest.stats.tasks)),
        _ => {}
    }
    let (this, max, average) = (local.average(), busiest.average(), means.0);
    let imbalanced = busiest.stats.state == State::Imbalanced;
    if !imbalanced && !forces(rules, (local, busiest), as_a) {
        let even = if as_a == Situation::Idle {
            busiest.stats.state != State::Overloaded && local.stats.idle <= busiest.stats.idle + 1
        } else {
            100 * max <= domain.imbalance_pct() * this
        };
        if this >= max || this >= average || even {
            return None;
        }
    }
    let per_task = if imbalanced { busiest.per_task().min(average) } else { busiest.per_task() };
    let wanted = if max <= average || this >= average {
        0
    } else {
        let both = [local, busiest].iter().all(|group| group.stats.state == State::Overloaded);
        let above = if both { above(rules.crowded, busiest) } else { u64::MAX };
        let from = (max - average).min(above) * busiest.stats.capacity;
        from.min((average - this) * local.stats.capacity) / UNIT
    };
    let load =
        if wanted < per_task && worth_one(local, busiest, per_task, means.1) { per_task } else { wanted };
    Some(Amount::Load(load)).filter(|amount| *amount != Amount::Load(0))
}

/// Less than a task is to move: whether one moves all the same, because the groups differ by more than it or
/// more of their capacity is used then (`fix_small_imbalance`). `mine`: the load per task of the cpu that
/// balances, which counts where its group has none.
fn worth_one(local: &Seen, busiest: &Seen, per_task: u64, mine: u64) -> bool {
    let (this, max) = (local.average(), busiest.average());
    let (to, from) = (local.stats.capacity, busiest.stats.capacity);
    let own = if local.stats.tasks == 0 { mine } else { local.per_task() };
    let needed = if local.stats.tasks > 0 && per_task > own { 1 } else { 2 };
    let step = per_task * UNIT / from;
    if max + step >= this + needed * step {
        return true;
    }
    let now = (from * per_task.min(max) + to * own.min(this)) / UNIT;
    let left = if max > step { from * per_task.min(max - step) } else { 0 };
    let added = (max * from).min(per_task * UNIT) / to;
    (left + to * own.min(this + added)) / UNIT > now
}
