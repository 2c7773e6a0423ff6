//! The Completely Fair Scheduler of Linux (kernel/sched/fair.c, 2.6.27 to 6.5): virtual runtime, slices,
//! placement, wake-up pre-emption, buddies, yields. What differs between releases is a rule of its own
//! (`cfs_params`).
//!
//! Deviations: virtual runtime is exact at every instant instead of brought up to date at ticks; on a cpu
//! shared by several processes every switch is charged as one between processes; any yield on a queue forgets
//! both buddies. No wake-up is synchronous, so `WAKEUP_OVERLAP` of 2.6.27 has nothing to act on; its
//! granularity for tasks of other weights than nice 0 is that of 2.6.28. A forked task may be placed before
//! the virtual runtime of its parent. The mark of a task that yielded ends at its next pick also where the
//! kernel keeps it if nobody else ran (since 5.14).

use crate::engine::state::{Cpu, Task};
use crate::ids::TaskId;
use crate::observe::LeaveReason;
use crate::run_queue::{
    Entry, FastForward, Interrupted, Picked, Picks, Rules, Slack, Tasks, Turns, anyone_waits, best,
    last_of_priority,
};
use crate::time::{Span, Time};

pub use crate::run_queue::cfs_params::{BuddyLimit, CfsBase, CfsParams, CpuScaling, StartDebit, YieldMode};

/// Weight of a nice-0 task.
const NICE_0: u128 = 1024;

/// How often a task wakes others (2.6.30: `avg_wakeup`, `last_wakeup`, `start_runtime`). Cpu time in ns.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Waker {
    /// Moving average (an eighth each) of the cpu time between the wake-ups it issues.
    pub(crate) average: u64,
    /// Its cpu time when it issued the last one since it woke.
    pub(crate) issued: Option<u64>,
    /// Its cpu time when it woke.
    pub(crate) woken: u64,
}

impl Waker {
    /// Nothing known.
    pub(crate) const NONE: Self = Self { average: 0, issued: None, woken: 0 };

    const fn sample(&mut self, sample: u64) {
        let step = (sample as i64 - self.average as i64) >> 3;
        self.average = self.average.saturating_add_signed(step);
    }

    /// It wakes another.
    pub(crate) fn wakes(&mut self, cpu_time: Span) {
        let since = self.issued.unwrap_or(self.woken);
        self.sample(cpu_time.ns().saturating_sub(since));
        self.issued = Some(cpu_time.ns());
    }

    /// It goes to sleep. If it has woken no task, it counts as one that seldom wakes others.
    pub(crate) const fn sleeps(&mut self, params: &CfsParams) {
        if self.issued.take().is_none() {
            self.sample(params.wakeup_granularity.ns());
        }
    }
}

/// Virtual runtime of a span for a weight: exact for nice 0, rounded down otherwise.
#[inline(always)]
pub(crate) const fn weighted(span: Span, weight: u32) -> i64 {
    if weight as u128 == NICE_0 { span.ns() as i64 } else { weighted_otherwise(span, weight) }
}

/// Boxed, so that the frequent case takes few instructions where it is inlined.
#[inline(never)]
const fn weighted_otherwise(span: Span, weight: u32) -> i64 {
    if span.ns() <= u64::MAX / NICE_0 as u64 {
        return (span.ns() * NICE_0 as u64 / weight as u64) as i64;
    }
    (span.ns() as u128 * NICE_0 / weight as u128) as i64
}

/// Period in which each of `running` tasks runs once.
#[inline]
pub(super) fn period(params: &CfsParams, running: u32) -> Span {
    if running <= params.nr_latency { params.latency } else { params.min_granularity * u64::from(running) }
}

/// The slice of a task of this weight among `running` tasks of total weight `load`: its share of one latency
/// period, or of `running` minimum granularities when they are more than `nr_latency`.
#[inline]
fn slice(params: &CfsParams, running: u32, weight: u32, load: u64) -> Span {
    let share = part(period(params, running), weight, load);
    if params.base_slice { share.max(params.min_granularity) } else { share }
}

/// The part of a time that falls to a weight of a total weight `load`.
#[inline]
pub(super) fn part(time: Span, weight: u32, load: u64) -> Span {
    let load = load.max(1);
    Span::from_ns(match time.ns().checked_mul(u64::from(weight)) {
        Some(product) => product / load,
        None => (u128::from(time.ns()) * u128::from(weight) / u128::from(load)) as u64,
    })
}

/// How long the current task of a cpu may run in one go (`ideal_runtime` of `check_preempt_tick`).
#[inline]
fn turn(params: &CfsParams, tasks: &Tasks, cpu: &Cpu) -> Span {
    let slice = slice(params, cpu.running, tasks[cpu.current].weight, cpu.load);
    if params.cap_slice { slice.min(params.latency) } else { slice }
}

/// From when on the current task is behind the first waiting one by more than `turn`, and has run for the
/// minimum granularity.
fn gap_from(params: &CfsParams, tasks: &Tasks, cpu: &Cpu, turn: Span) -> Time {
    let (current, Some(first)) = (&tasks[cpu.current], cpu.head.some()) else { return Time::NEVER };
    let room = (turn.ns() as i64).saturating_add(tasks[first].vruntime.saturating_sub(current.vruntime));
    let least = cpu.picked + params.min_granularity;
    if room < 0 {
        return least;
    }
    // The shortest time whose virtual time exceeds the room.
    let ns = ((room as u128 + 1) * u128::from(current.weight)).div_ceil(NICE_0);
    least.max(cpu.charged.saturating_add(Span::from_ns(u64::try_from(ns).unwrap_or(u64::MAX))))
}

/// The wake-up granularity of a task that would go first.
#[inline]
pub(super) fn granularity(params: &CfsParams, task: &Task) -> i64 {
    if params.weigh_woken {
        weighted(params.wakeup_granularity, task.weight)
    } else {
        params.wakeup_granularity.ns() as i64
    }
}

/// `min_vruntime` follows the smaller of the current and the leftmost task, or the leftmost one alone; it
/// never goes back.
#[inline]
pub(crate) fn advance_minimum(params: &CfsParams, tasks: &Tasks, cpu: &mut Cpu) {
    follow_least(tasks, cpu, params.minimum_with_current);
}

/// The minimum follows the smaller of the leftmost and, if it counts (`with_current`), the current task.
#[inline]
pub(crate) fn follow_least(tasks: &Tasks, cpu: &mut Cpu, with_current: bool) {
    let current = cpu.current.some().filter(|_| with_current).map(|id| tasks[id].vruntime);
    let leftmost = cpu.head.some().map(|id| tasks[id].vruntime);
    let least = match (current, leftmost) {
        (Some(a), Some(b)) => a.min(b),
        (Some(a), None) | (None, Some(a)) => a,
        (None, None) => return,
    };
    cpu.min_vruntime = cpu.min_vruntime.max(least);
}

/// Places a task that enters (`place_entity`): a forked one a slice or a period behind the minimum, a woken
/// one up to one latency before it but never before its own past, a moved one where its relative position
/// puts it.
fn place(params: &CfsParams, tasks: &mut Tasks, cpu: &mut Cpu, (id, entry): (TaskId, Entry), now: Time) {
    let leftmost = cpu.head.some().filter(|_| !params.minimum_with_current).map(|id| tasks[id].vruntime);
    let least = leftmost.map_or(cpu.min_vruntime, |left| left.min(cpu.min_vruntime));
    let task: &mut Task = &mut tasks[id];
    let debit = match params.debit {
        _ if entry != Entry::Fork || !params.start_debit => 0,
        StartDebit::Period => period(params, cpu.running + 1).ns() as i64,
        StartDebit::Slice => {
            let (running, load) = (cpu.running + 1, cpu.load + u64::from(task.weight));
            weighted(slice(params, running, task.weight, load), task.weight)
        }
    };
    seat(params, task, (entry, now), (least, debit));
}

/// Places a task or group by the minimum of its queue; one that is new `debit` behind it.
#[inline]
pub(super) fn seat(
    params: &CfsParams,
    task: &mut Task,
    (entry, now): (Entry, Time),
    (least, debit): (i64, i64),
) {
    let placed = match entry {
        Entry::Fork => {
            let average = params.wakeup_granularity.ns();
            if params.adaptive_gran {
                task.history.waker = Waker { average, issued: None, woken: task.cpu_time.ns() };
            }
            least + debit
        }
        Entry::Wake => {
            if params.adaptive_gran {
                task.history.waker.woken = task.cpu_time.ns();
            }
            let whole = params.latency;
            let most = if params.gentle_sleepers { Span::from_ns(whole.ns() / 2) } else { whole };
            let credit = match (params.sleeper_credit, params.normalized_sleeper) {
                (false, _) => 0,
                (true, true) => weighted(most, task.weight),
                (true, false) => most.ns() as i64,
            };
            let long = now.since(task.last_ran) > params.long_sleep;
            if long { least - credit } else { task.vruntime.max(least - credit) }
        }
        Entry::Move => task.vruntime,
    };
    task.vruntime = placed;
}

/// Wake-up pre-emption (`check_preempt_wakeup`): the virtual runtime of the entering task must be smaller by
/// more than one wake-up granularity. The task becomes the next buddy and the current task the last buddy, as
/// a rule says only if it pre-empts.
fn preempts(params: &CfsParams, tasks: &Tasks, cpu: &mut Cpu, id: TaskId, now: Time) -> bool {
    if params.preempting_buddies && cpu.resched {
        return false;
    }
    let (woken, current) = (&tasks[id], &tasks[cpu.current]);
    let preempts = leads(params, (woken, current), (cpu.running, now.since(cpu.picked)));
    if params.buddies && (preempts || !params.preempting_buddies) {
        if params.last_buddy && (!params.crowded_last_buddy || cpu.running >= params.nr_latency) {
            cpu.rare.last_buddy = cpu.current;
        }
        cpu.rare.next_buddy = id;
    }
    preempts
}

/// The virtual runtime of a woken task is smaller than that of the current one, which has run for `ran`, by
/// more than the wake-up granularity (`wakeup_preempt_entity`).
#[inline]
pub(super) fn leads(
    params: &CfsParams,
    (woken, current): (&Task, &Task),
    (running, ran): (u32, Span),
) -> bool {
    let granularity = if params.adaptive_gran {
        adaptive(params, woken, (running, ran))
    } else if params.weigh_woken {
        granularity(params, woken)
    } else {
        weighted(params.wakeup_granularity, current.weight.max(NICE_0 as u32))
    };
    current.vruntime - woken.vruntime > granularity
}

/// `adaptive_gran` of 2.6.30: what the woken task's usual time until it wakes others, twice and for each
/// runnable task, exceeds the time the current one has run by; at most the granularity.
fn adaptive(params: &CfsParams, woken: &Task, (running, ran): (u32, Span)) -> i64 {
    let expected = woken.history.waker.average.saturating_mul(2).saturating_mul(u64::from(running));
    let granularity = expected.saturating_sub(ran.ns()).min(params.wakeup_granularity.ns());
    weighted(Span::from_ns(granularity), woken.weight)
}

/// The buddy that is preferred to `best`, if any: the last woken task, then the one it pre-empted.
fn buddy(
    params: &CfsParams,
    tasks: &Tasks,
    cpu: &mut Cpu,
    (current, best): (Option<TaskId>, TaskId),
    now: Time,
) -> Option<TaskId> {
    let able = |buddy: TaskId| {
        let there = Some(buddy) == current || buddy != cpu.current;
        there && tasks[buddy].priority == tasks[best].priority
    };
    let since = now.since(cpu.rare.pair_start);
    let near = |buddy: &TaskId| match params.buddy_limit {
        BuddyLimit::Slice => since <= slice(params, cpu.running, tasks[*buddy].weight, cpu.load),
        BuddyLimit::Granularity => {
            tasks[*buddy].vruntime - tasks[best].vruntime <= granularity(params, &tasks[best])
        }
    };
    let buddies = [cpu.rare.next_buddy, cpu.rare.last_buddy].into_iter().filter_map(TaskId::some);
    let preferred = buddies.filter(|buddy| able(*buddy)).find(near);
    if preferred.is_none() && params.times_pairs() {
        cpu.rare.pair_start = now;
    }
    preferred
}

/// The second-best task where the best one is marked by its yield and the second is near enough
/// (`pick_next_entity`), else the best one.
fn past_skip(
    params: &CfsParams,
    tasks: &Tasks,
    cpu: &Cpu,
    (current, best): (Option<TaskId>, TaskId),
) -> TaskId {
    if params.yield_mode != YieldMode::Skip || cpu.rare.skip != best {
        return best;
    }
    let able = |id: &TaskId| *id != best && tasks[*id].priority == tasks[best].priority;
    let stays = current.filter(able);
    let waits = if current == Some(best) { cpu.head } else { tasks[best].next }.some().filter(able);
    let second = match (stays, waits) {
        (Some(stays), Some(waits)) if tasks[stays].vruntime < tasks[waits].vruntime => Some(stays),
        (stays, waits) => waits.or(stays),
    };
    let near = |id: &TaskId| tasks[*id].vruntime - tasks[best].vruntime <= granularity(params, &tasks[best]);
    second.filter(near).unwrap_or(best)
}

impl CfsParams {
    /// True if the instant of the last ordinary pick matters.
    #[inline]
    pub(super) fn times_pairs(&self) -> bool {
        self.buddy_limit == BuddyLimit::Slice
    }

    /// Where the minimum follows the waiting tasks only, it follows the caller of a yield if no task waits:
    /// for an instant that one is the leftmost.
    #[inline]
    fn follow_alone(&self, tasks: &Tasks, cpu: &mut Cpu) {
        if !self.minimum_with_current && cpu.head.is_none() {
            cpu.min_vruntime = cpu.min_vruntime.max(tasks[cpu.current].vruntime);
        }
    }
}

impl Rules for CfsParams {
    fn keeps_history(&self) -> bool {
        self.adaptive_gran
    }

    fn times_picks(&self) -> bool {
        self.times_pairs()
    }

    fn leave(&self, tasks: &mut Tasks, _: &mut Cpu, id: TaskId, reason: LeaveReason, _: Time) {
        if reason == LeaveReason::Slept && self.adaptive_gran {
            tasks[id].history.waker.sleeps(self);
        }
    }

    fn renews_slice(&self) -> bool {
        self.renew_slice
    }

    fn reweighs(&self) -> bool {
        true
    }

    fn place(&self, tasks: &mut Tasks, cpu: &mut Cpu, id: TaskId, entry: Entry, now: Time) {
        place(self, tasks, cpu, (id, entry), now);
    }

    #[inline(always)]
    fn charge(&self, tasks: &mut Tasks, cpu: &mut Cpu, now: Time) {
        if now > cpu.charged {
            let task = &mut tasks[cpu.current];
            task.vruntime += weighted(now - cpu.charged, task.weight);
        }
        advance_minimum(self, tasks, cpu);
    }

    #[inline]
    fn advance_minimum(&self, tasks: &Tasks, cpu: &mut Cpu) {
        advance_minimum(self, tasks, cpu);
    }

    /// A minimum that follows the leftmost task alone follows that of the tasks that wait now.
    #[inline]
    fn picked(&self, tasks: &mut Tasks, cpu: &mut Cpu, _: Picked) {
        if !self.minimum_with_current {
            advance_minimum(self, tasks, cpu);
        }
        if self.clear_picked {
            forget(cpu, cpu.current);
        } else if self.yield_mode == YieldMode::Skip {
            cpu.set_skip(cpu.rare.skip.some().filter(|id| *id != cpu.current));
        }
    }

    /// A task whose turn ends by the gap test alone stays a buddy.
    #[inline]
    fn interrupted(&self, tasks: &mut Tasks, cpu: &mut Cpu, now: Time, why: Interrupted) {
        let over = why == Interrupted::SliceOver && self.clear_buddies;
        if over && (!self.gap_test || now > cpu.picked + turn(self, tasks, cpu)) {
            forget(cpu, cpu.current);
        }
    }

    #[inline]
    fn slice_end(&self, tasks: &Tasks, cpu: &Cpu, now: Time, next_tick: impl Fn(Time) -> Time) -> Time {
        let turn = turn(self, tasks, cpu);
        let mut end = cpu.picked + turn + Span::from_ns(1);
        if self.gap_test {
            end = end.min(gap_from(self, tasks, cpu, turn));
        }
        next_tick(end.max(now + Span::from_ns(1)))
    }

    fn preempts(&self, tasks: &mut Tasks, cpu: &mut Cpu, id: TaskId, now: Time) -> bool {
        preempts(self, tasks, cpu, id, now)
    }

    #[inline]
    fn choose(&self, tasks: &mut Tasks, cpu: &mut Cpu, current: Option<TaskId>, now: Time) -> Option<TaskId> {
        if !anyone_waits(tasks, cpu) {
            return current;
        }
        let best = best(tasks, cpu, current, |mine, theirs| mine.vruntime < theirs.vruntime)?;
        let next = past_skip(self, tasks, cpu, (current, best));
        Some(buddy(self, tasks, cpu, (current, best), now).unwrap_or(next))
    }

    /// `wakeup_preempt_entity`.
    fn prefers(&self, _: &Tasks, _: &Cpu, _: TaskId, gap: i64) -> bool {
        gap <= self.wakeup_granularity.ns() as i64
    }

    #[inline(always)]
    fn yield_key(&self, tasks: &mut Tasks, cpu: &mut Cpu, id: TaskId, now: Time) {
        if self.yield_mode == YieldMode::Posix
            && let Some(last) = last_of_priority(tasks, cpu, tasks[id].priority)
        {
            tasks[id].vruntime = tasks[id].vruntime.max(tasks[last].vruntime + 1);
        }
        if self.yield_mode == YieldMode::Skip {
            cpu.set_skip(Some(id));
        }
        self.charge(tasks, cpu, now);
        cpu.charged = cpu.charged.max(now);
        self.follow_alone(tasks, cpu);
    }
}

impl FastForward for CfsParams {
    fn picks(&self) -> Picks {
        match self.yield_mode {
            YieldMode::Default => Picks::ByKey(None),
            YieldMode::Posix => Picks::InTurns(Turns::Charged),
            // A caller may go before those that wait, so that their least key goes back.
            YieldMode::Skip if !self.minimum_with_current => Picks::EachCycle,
            YieldMode::Skip => {
                Picks::ByKey(Some(Slack { span: self.wakeup_granularity, weighed: self.weigh_woken }))
            }
        }
    }

    #[inline]
    fn follow_yield(&self, tasks: &Tasks, cpu: &mut Cpu) {
        advance_minimum(self, tasks, cpu);
        self.follow_alone(tasks, cpu);
    }
}

/// Yields until the current task is not before the first waiting one: its key is so far before that one's
/// after its first yield, and grows by `each` at each later one.
#[inline]
pub(crate) const fn yields_until_behind(lead: i64, each: i64) -> u64 {
    match each {
        _ if lead <= 0 => 1,
        // A cycle too short to count: it never falls behind.
        0 => u64::MAX,
        each => 1 + (lead as u64).div_ceil(each as u64),
    }
}

/// A task is no buddy any more, and not marked by a yield.
#[inline]
pub(crate) fn forget(cpu: &mut Cpu, id: TaskId) {
    let Some(rare) = cpu.rare.written() else { return };
    for buddy in [&mut rare.next_buddy, &mut rare.last_buddy, &mut rare.skip] {
        if *buddy == id {
            *buddy = TaskId::NONE;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slices_on_sixteen_cpus() {
        let params = CfsParams::scaled(16);
        let ms = |n: u32| slice(&params, n, 1024, u64::from(n) * 1024).ns() / 1_000;
        assert_eq!([2, 3, 4, 5, 8].map(ms), [50_000, 33_333, 25_000, 20_000, 20_000]);
    }

    #[test]
    fn heavier_tasks_age_slower() {
        assert_eq!(weighted(Span::from_ns(1_000), 1024), 1_000);
        assert_eq!(weighted(Span::from_ns(1_000), 2048), 500);
    }

    #[test]
    fn a_woken_task_preempts_when_it_is_ahead_by_more_than_the_granularity() {
        use crate::engine::state::ProcessId;
        use crate::ids::{AppId, CpuId};
        for last_buddy in [false, true] {
            let params = CfsParams { last_buddy, ..CfsParams::scaled(1) };
            let granularity = params.wakeup_granularity.ns() as i64;
            // The granularity is weighted as the current task is; the weight of the woken one does not count.
            for (weight, lead) in [(1_024, granularity), (3_072, granularity / 3), (512, granularity)] {
                let (mut tasks, mut cpu) = (Tasks::default(), Cpu::new(CpuId(0)));
                for (weight, vruntime) in [(weight, lead), (15, 0)] {
                    let mut task = Task::new(AppId(0), weight, ProcessId::NONE, 0);
                    task.vruntime = vruntime;
                    tasks.push(task);
                }
                cpu.current = TaskId(0);
                let mut preempts =
                    |tasks: &mut Tasks| params.preempts(tasks, &mut cpu, TaskId(1), Time::ZERO);
                assert!(!preempts(&mut tasks), "last buddy {last_buddy}, weight {weight}, a lead of {lead}");
                tasks[TaskId(1)].vruntime = -1;
                assert!(
                    preempts(&mut tasks),
                    "last buddy {last_buddy}, weight {weight}, a lead of {lead} and 1 ns"
                );
            }
        }
    }

    /// Tasks with these weights and virtual runtimes; the first is current, the others wait.
    fn queue(params: &CfsParams, tasks: &[(u32, i64)]) -> (Tasks, Cpu) {
        use crate::engine::state::ProcessId;
        use crate::ids::{AppId, CpuId};
        let (mut all, mut cpu) = (Tasks::default(), Cpu::new(CpuId(0)));
        for (number, (weight, vruntime)) in (0..).zip(tasks) {
            let mut task = Task::new(AppId(0), *weight, ProcessId::NONE, 0);
            task.vruntime = *vruntime;
            all.push(task);
            (cpu.running, cpu.load) = (cpu.running + 1, cpu.load + u64::from(*weight));
            match number {
                0 => cpu.current = TaskId(0),
                _ => crate::run_queue::insert_by(params, &mut all, &mut cpu, TaskId(number)),
            }
        }
        (all, cpu)
    }

    #[test]
    fn the_lead_of_a_woken_task_is_weighted_by_itself_in_3_10() {
        let params = CfsParams::late(8);
        let granularity = params.wakeup_granularity.ns() as i64;
        for (weight, lead) in [(1_024, granularity), (3_072, granularity / 3), (512, 2 * granularity)] {
            let preempts = |lead: i64| {
                let (mut tasks, mut cpu) = queue(&params, &[(1_024, lead), (weight, 0)]);
                let preempts = params.preempts(&mut tasks, &mut cpu, TaskId(1), Time::ZERO);
                // Only then it is a buddy; of two tasks, the other is not.
                assert_eq!(cpu.rare.next_buddy.some(), preempts.then_some(TaskId(1)));
                assert!(cpu.rare.last_buddy.is_none());
                preempts
            };
            assert!(!preempts(lead) && preempts(lead + 1), "weight {weight}");
        }
    }

    #[test]
    fn who_met_a_woken_task_is_the_last_buddy_where_tasks_share_no_period() {
        let params = CfsParams::late(8);
        for count in [7, 8] {
            let mut all = vec![(1_024, 0); count];
            all[0].1 = 5_000_000;
            let (mut tasks, mut cpu) = queue(&params, &all);
            assert!(params.preempts(&mut tasks, &mut cpu, TaskId(1), Time::ZERO));
            assert_eq!(cpu.rare.last_buddy.is_none(), count < 8);
            // It is to pick again already.
            cpu.resched = true;
            assert!(!params.preempts(&mut tasks, &mut cpu, TaskId(2), Time::ZERO));
            // Whoever is picked is no buddy any more.
            params.picked(&mut tasks, &mut cpu, Picked::Again);
            assert!(cpu.rare.last_buddy.is_none());
            assert_eq!(cpu.rare.next_buddy, TaskId(1));
        }
    }

    #[test]
    fn a_task_that_yielded_is_passed_over_until_it_is_picked() {
        let params = CfsParams { buddies: false, ..CfsParams::late(8) };
        let granularity = params.wakeup_granularity.ns() as i64;
        for (lead, next) in [(granularity, 1), (granularity + 1, 0)] {
            let (mut tasks, mut cpu) = queue(&params, &[(1_024, 0), (1_024, lead), (1_024, 90_000_000)]);
            params.yield_key(&mut tasks, &mut cpu, TaskId(0), Time::ZERO);
            let current = Some(TaskId(0));
            assert_eq!(params.choose(&mut tasks, &mut cpu, current, Time::ZERO), Some(TaskId(next)));
        }
        // Still marked when the other one is interrupted, or leaves.
        let (mut tasks, mut cpu) = queue(&params, &[(1_024, granularity), (1_024, 0), (1_024, granularity)]);
        cpu.rare.skip = TaskId(1);
        for (current, next) in [(Some(TaskId(0)), 2), (None, 2)] {
            assert_eq!(params.choose(&mut tasks, &mut cpu, current, Time::ZERO), Some(TaskId(next)));
        }
        tasks[TaskId(0)].vruntime -= 1;
        let stays = Some(TaskId(0));
        assert_eq!(params.choose(&mut tasks, &mut cpu, stays, Time::ZERO), stays);
        forget(&mut cpu, TaskId(1));
        assert_eq!(params.choose(&mut tasks, &mut cpu, stays, Time::ZERO), Some(TaskId(1)));
    }

    #[test]
    fn a_turn_is_no_longer_than_the_latency_in_6_5() {
        let mut all = vec![(1_024, 0); 12];
        all[0].0 = 88_761;
        for (cap_slice, us) in [(false, 31_945), (true, 24_000)] {
            let params = CfsParams { cap_slice, ..CfsParams::late(8) };
            let (tasks, cpu) = queue(&params, &all);
            assert_eq!(turn(&params, &tasks, &cpu).ns() / 1_000, us);
        }
    }
}
