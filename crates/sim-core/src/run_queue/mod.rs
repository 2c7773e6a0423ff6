//! The run queue of a cpu: an ordered list of waiting tasks threaded through the task records, and the
//! disciplines that decide its order.
//!
//! A discipline is one file with its parameters and its [`Rules`], and one line in the list of
//! [`Discipline`] (in [`contract`]). The methods of [`Discipline`] in this file hold for all of them: they
//! keep the list, and ask the rules for keys and picks.
//!
//! Order: priority, then virtual runtime (under EEVDF: virtual deadline), then first come. Round robin is the
//! same list with arrival numbers for keys; the disciplines with priorities ([`multilevel`]) have keys of
//! their own.

pub(crate) mod bandwidth;
pub(crate) mod by_policy;
pub(crate) mod cbs;
pub(crate) mod cfs;
pub(crate) mod cfs_groups;
mod cfs_params;
mod contract;
mod delayed;
pub(crate) mod eevdf;
mod eevdf_lag;
pub(crate) mod eevdf_params;
mod eevdf_polls;
mod eevdf_reports;
mod eligibility;
pub(crate) mod explanation;
pub(crate) mod fair_server;
pub(crate) mod group_loads;
pub(crate) mod groups;
mod level;
mod list;
pub(crate) mod multilevel;
pub(crate) mod o1;
pub(crate) mod real_time;
mod reserved;
pub(crate) mod round_robin;
pub(crate) mod slices;
pub(crate) mod ts;
pub(crate) mod ule;
pub(crate) mod virtual_time;

use crate::engine::state::{Cpu, Task};
use crate::ids::{IdVec, TaskId};
use crate::policy::THROTTLED;
use crate::rng::draw;
use crate::time::{Span, Time};
use contract::each;

use bandwidth::Bandwidth;
use cfs_groups::CfsGroups;
pub use contract::Discipline;
pub(crate) use contract::{Change, FastForward, Grouped, Picks, Requested, Rules, Slack, best};
pub(crate) use eligibility::{Average, Contender, Requests};
use groups::GroupShares;
pub(crate) use list::{
    anyone_waits, contested, delayed_in, insert_by, last_of_priority, link, list, place_between, remove,
    sum_waiting,
};

pub(crate) type Tasks = IdVec<TaskId, Task>;

/// Keys below this can grow as far again.
pub(crate) const FAR_KEY: i64 = 1 << 61;

impl Discipline {
    /// It has task groups.
    #[must_use]
    pub const fn has_groups(&self) -> bool {
        matches!(self, Self::Eevdf(_) | Self::Cfs(_) | Self::CfsGroups(_))
    }

    /// It has the scheduling policies `SCHED_BATCH` and `SCHED_IDLE`.
    #[must_use]
    pub const fn has_policies(&self) -> bool {
        matches!(self, Self::Eevdf(_))
    }

    /// Where there are task groups, cpus are compared by averages of loads; else by what is queued at the
    /// instant, as before Linux 4.2.
    pub(crate) fn averages_loads(&self) -> bool {
        !matches!(self, Self::CfsGroups(CfsGroups(params)) if params.group_shares == GroupShares::Queued)
    }

    /// The same with the queues of task groups, where those are a discipline of their own.
    pub(crate) fn grouped(&self) -> Option<Self> {
        if let Self::Cfs(params) = self { Some(Self::CfsGroups(CfsGroups(params.clone()))) } else { None }
    }

    /// What is left of the request of a task that gets another weight stays the same service.
    pub(crate) fn scales_requests(&self) -> bool {
        match self {
            Self::Eevdf(params) => params.request_scales,
            Self::RealTime(class) => class.below.scales_requests(),
            _ => true,
        }
    }

    /// The real-time class above it, in a run that has such tasks.
    pub(crate) fn real_time(&self) -> Option<&real_time::RealTime> {
        if let Self::RealTime(class) = self { Some(class) } else { None }
    }

    /// How it limits the cpu time of groups, where it has groups.
    #[must_use]
    pub fn bandwidth(&self) -> Option<Bandwidth> {
        match self {
            Self::Eevdf(params) => Some(params.bandwidth),
            Self::Cfs(params) | Self::CfsGroups(CfsGroups(params)) if params.quota => Some(params.bandwidth),
            Self::RealTime(class) => class.below.bandwidth(),
            _ => None,
        }
    }

    /// Its tasks may have slices of their own ([`crate::program::AppSpec::slice`]).
    #[must_use]
    pub fn has_own_slices(&self) -> bool {
        match self {
            Self::Eevdf(params) => params.own_slices,
            Self::RealTime(class) => class.below.has_own_slices(),
            _ => false,
        }
    }

    /// Inserts a task behind all with the same key, or before them when it was pre-empted in its slice.
    #[inline]
    pub(crate) fn insert(&self, tasks: &mut Tasks, cpu: &mut Cpu, id: TaskId) {
        each!(self, rules => insert_by(rules, tasks, cpu, id));
    }

    /// Inserts a task behind all with the same key into the part of the list from a task on.
    #[inline]
    pub(crate) fn insert_behind(&self, tasks: &mut Tasks, cpu: &mut Cpu, (from, id): (TaskId, TaskId)) {
        let after = each!(self, rules => {
            let mine = (tasks[id].priority, rules.key(&tasks[id]));
            place_between(tasks, from, cpu.tail, |other| (other.priority, rules.key(other)) > mine)
        });
        let before = if after.is_none() { cpu.head } else { tasks[after].next };
        link(tasks, cpu, after, id);
        link(tasks, cpu, id, before);
    }

    /// [`FastForward::follow_yield`].
    #[inline(always)]
    pub(crate) fn follow_yield(&self, tasks: &Tasks, cpu: &mut Cpu) {
        each!(self, rules => rules.follow_yield(tasks, cpu));
    }

    /// [`FastForward::picks`].
    pub(crate) fn picks(&self) -> Picks {
        each!(self, rules => rules.picks())
    }

    /// Charges the current task, if there is one, for the time since it was last charged, and moves the
    /// queue's minimum on.
    pub(crate) fn charge_current(&self, tasks: &mut Tasks, cpu: &mut Cpu, now: Time) {
        if cpu.current.is_none() {
            return;
        }
        self.charge(tasks, cpu, now);
        cpu.charged = cpu.charged.max(now);
    }

    /// When the current task's slice ends if nothing changes: never while no other task competes.
    pub(crate) fn end_of_slice(
        &self,
        tasks: &Tasks,
        cpu: &Cpu,
        now: Time,
        next_tick: impl Fn(Time) -> Time,
    ) -> Time {
        if cpu.current.is_none() {
            return Time::NEVER;
        }
        each!(self, rules => {
            let contested = rules.contested(tasks, cpu);
            if contested { rules.slice_end(tasks, cpu, now, next_tick) } else { Time::NEVER }
        })
    }

    /// True when a task that has just entered takes the cpu from the current one. Priority levels come before
    /// the rules of the discipline.
    pub(crate) fn takes_cpu(&self, tasks: &mut Tasks, cpu: &mut Cpu, id: TaskId, now: Time) -> bool {
        if tasks[id].priority == THROTTLED {
            return false;
        }
        let Some(current) = cpu.current.some() else { return true };
        let (mine, theirs) = (tasks[id].priority, tasks[current].priority);
        if mine != theirs {
            return mine < theirs;
        }
        self.preempts(tasks, cpu, id, now)
    }

    /// Who runs next: the current task, if there is one that wins, else the best waiting one. No throttled
    /// task.
    pub(crate) fn pick_next(&self, tasks: &mut Tasks, cpu: &mut Cpu, now: Time) -> Option<TaskId> {
        let current = cpu.current.some().filter(|id| tasks[*id].priority < THROTTLED);
        self.choose(tasks, cpu, current, now)
    }

    /// True when a waiting task that another task yielded to is picked instead of the best one: as the next
    /// buddy of CFS and EEVDF is; elsewhere it is the first among its equals.
    pub(crate) fn follows_yield(&self, tasks: &Tasks, cpu: &Cpu, yield_target: TaskId) -> bool {
        let Some(head) = cpu.head.some() else { return false };
        let current = cpu.current.some();
        let priority =
            current.map_or(tasks[head].priority, |current| tasks[current].priority.min(tasks[head].priority));
        if tasks[yield_target].priority != priority || priority == THROTTLED {
            return false;
        }
        let rival = current.filter(|current| tasks[*current].priority == priority);
        let best = [rival, Some(head).filter(|head| tasks[*head].priority == priority)];
        let least = best.into_iter().flatten().map(|id| tasks[id].vruntime).min();
        let gap = tasks[yield_target].vruntime.saturating_sub(least.unwrap_or(tasks[yield_target].vruntime));
        self.prefers(tasks, cpu, yield_target, gap)
    }

    /// The current task calls `sched_yield`, which ends now: it gets its key.
    pub(crate) fn yields(&self, tasks: &mut Tasks, cpu: &mut Cpu, now: Time) {
        if let Some(current) = cpu.current.some() {
            each!(self, rules => {
                rules.yield_key(tasks, cpu, current, now);
                rules.move_origin(tasks, cpu, current);
            });
        }
    }

    /// A task that is not in a list, but may be the current one, changes its priority level.
    pub(crate) fn change_priority(&self, tasks: &mut Tasks, cpu: &mut Cpu, id: TaskId, priority: u8) {
        match self.groups() {
            Some(groups) => groups.change_priority(tasks, cpu, id, priority),
            None => tasks[id].priority = priority,
        }
    }
}

/// Refuses a span below 1 us.
fn at_least_1us(name: &str, span: Span) -> Result<(), String> {
    if span < Span::from_us(1) { Err(format!("the {name} must be at least 1us")) } else { Ok(()) }
}

/// Where each timer tick is processed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Ticks {
    /// How late a tick is at most.
    pub(crate) late: Span,
}

impl Ticks {
    /// How late a timer of a cpu is that has this number.
    pub(crate) fn lateness(self, key: u64, number: u64) -> Span {
        let choices = u128::from(self.late.ns()) + 1;
        Span::from_ns(((u128::from(draw(key, number)) * choices) >> 32) as u64)
    }
}

/// How a task has been picked.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Picked {
    /// It had the cpu before.
    Again,
    /// In place of another one, at this instant.
    Anew(Time),
}

/// Why the kernel is about to pick again.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Interrupted {
    /// The slice of the current task is over.
    SliceOver,
    /// Another task may take the cpu.
    Asked,
}

/// How keys grow where tasks poll in turns.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Turns {
    /// They are arrival numbers.
    Arrivals,
    /// The caller of a yield is charged for its time and then goes behind the last key.
    Charged,
}

/// How a task comes into a queue.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Entry {
    Fork,
    Wake,
    Move,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::state::ProcessId;
    use crate::ids::{AppId, CpuId};
    use crate::os::RoundRobinParams;

    #[test]
    fn a_yield_target_of_another_priority_level_is_not_preferred() {
        let discipline = Discipline::RoundRobin(RoundRobinParams { quantum: Span::from_ms(10) });
        let prefers = |priorities: [u8; 2]| {
            let (mut tasks, mut cpu) = (Tasks::default(), Cpu::new(CpuId(0)));
            for priority in priorities {
                let mut task = Task::new(AppId(0), 1024, ProcessId::NONE, 0);
                task.priority = priority;
                tasks.push(task);
            }
            cpu.head = TaskId(0);
            discipline.follows_yield(&tasks, &cpu, TaskId(1))
        };
        assert_eq!([[0, 0], [0, 1], [THROTTLED, THROTTLED]].map(prefers), [true, false, false]);
    }
}
