//! The Completely Fair Scheduler of Linux (kernel/sched_fair.c, 2.6.27 to 2.6.30): virtual runtime, slices,
//! placement, wake-up pre-emption, buddies. What differs between releases is a rule of its own.
//!
//! Deviations: virtual runtime is exact at every instant instead of brought up to date at ticks; on a cpu
//! shared by several processes every switch is charged as one between processes; any yield on a queue forgets
//! both buddies. No wake-up is synchronous, so `WAKEUP_OVERLAP` of 2.6.27 has nothing to act on; its
//! granularity for tasks of other weights than nice 0 is that of 2.6.28.

use crate::engine::state::{Cpu, Task};
use crate::ids::TaskId;
use crate::observe::LeaveReason;
use crate::run_queue::{
    Entry, FastForward, Interrupted, Picked, Picks, Rules, Tasks, Turns, anyone_waits, best, last_of_priority,
};
use crate::time::{Span, Time};

/// What `sched_yield` does under CFS.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum YieldMode {
    /// The caller's virtual runtime is brought up to date and the next task is picked (`sched_compat_yield` =
    /// 0).
    Default,
    /// The caller goes behind every other task of its queue (`sched_compat_yield` = 1).
    Posix,
}

/// How far a forked task starts behind the minimum (`place_entity`, `START_DEBIT`).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum StartDebit {
    /// One slice of its own (`sched_vslice`, since 2.6.28).
    Slice,
    /// One whole period (`sched_vslice_add` of 2.6.27).
    Period,
}

/// Up to where the scheduler prefers a buddy to the task with the least virtual runtime (`pick_next`).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum BuddyLimit {
    /// While it is behind by at most one wake-up granularity (`wakeup_preempt_entity`, since 2.6.28).
    Granularity,
    /// For one slice after the last ordinary pick, whatever its lag (`pair_start` of 2.6.27).
    Slice,
}

/// Tunables and rules of CFS, as in force (after the kernel scaled them by the number of cpus); the rules
/// have the names of kernel/sched_features.h where they are there.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct CfsParams {
    /// Period in which each of up to `nr_latency` tasks runs once.
    pub latency: Span,
    /// Slice per task beyond `nr_latency` tasks.
    pub min_granularity: Span,
    /// A woken task pre-empts the current one if its virtual runtime is smaller by more than this.
    pub wakeup_granularity: Span,
    /// Number of tasks that share one latency period.
    pub nr_latency: u32,
    /// A woken task is placed up to one latency before the minimum (fair sleepers).
    pub sleeper_credit: bool,
    /// The credit of a woken task is divided by its weight (`NORMALIZED_SLEEPER`, until 2.6.29).
    pub normalized_sleeper: bool,
    /// A forked task starts behind the minimum (`START_DEBIT`), by `debit`.
    pub start_debit: bool,
    /// How far behind.
    pub debit: StartDebit,
    /// The minimum follows the current task as well as the leftmost waiting one (`update_min_vruntime`, since
    /// 2.6.28); the leftmost one alone before.
    pub minimum_with_current: bool,
    /// Prefer the last woken task (`NEXT_BUDDY`).
    pub buddies: bool,
    /// After it, prefer the task it met on the cpu (`LAST_BUDDY`, since 2.6.28); only with `buddies`.
    pub last_buddy: bool,
    /// Up to where buddies are preferred.
    pub buddy_limit: BuddyLimit,
    /// A slice that is used up ends the current task's claim as a buddy (`clear_buddies` in
    /// `check_preempt_tick`, since 2.6.30).
    pub clear_buddies: bool,
    /// The lead that a woken task needs shrinks when it wakes others often (`ADAPTIVE_GRAN` of 2.6.30).
    pub adaptive_gran: bool,
    /// `sched_yield`.
    pub yield_mode: YieldMode,
}

impl CfsParams {
    /// Linux 2.6.28.2 on `cpus` online cpus: 20 ms, 4 ms and 5 ms times 1 + floor(log2(cpus)), latency and
    /// minimum granularity capped at 200 ms (kernel/sched.c, `sched_init_granularity`).
    #[must_use]
    pub fn scaled(cpus: u32) -> Self {
        let factor = u64::from(cpus.max(1).ilog2() + 1);
        let cap = Span::from_ms(200);
        Self {
            latency: (Span::from_ms(20) * factor).min(cap),
            min_granularity: (Span::from_ms(4) * factor).min(cap),
            wakeup_granularity: Span::from_ms(5) * factor,
            nr_latency: 5,
            sleeper_credit: true,
            normalized_sleeper: true,
            start_debit: true,
            debit: StartDebit::Slice,
            minimum_with_current: true,
            buddies: true,
            last_buddy: true,
            buddy_limit: BuddyLimit::Granularity,
            clear_buddies: false,
            adaptive_gran: false,
            yield_mode: YieldMode::Default,
        }
    }
}

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
fn period(params: &CfsParams, running: u32) -> Span {
    if running <= params.nr_latency { params.latency } else { params.min_granularity * u64::from(running) }
}

/// The slice of a task of this weight among `running` tasks of total weight `load`: its share of one latency
/// period, or of `running` minimum granularities when they are more than `nr_latency`.
#[inline]
fn slice(params: &CfsParams, running: u32, weight: u32, load: u64) -> Span {
    let period = period(params, running);
    let load = load.max(1);
    Span::from_ns(match period.ns().checked_mul(u64::from(weight)) {
        Some(product) => product / load,
        None => (u128::from(period.ns()) * u128::from(weight) / u128::from(load)) as u64,
    })
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
fn place(params: &CfsParams, tasks: &mut Tasks, cpu: &mut Cpu, id: TaskId, entry: Entry) {
    let leftmost = cpu.head.some().filter(|_| !params.minimum_with_current).map(|id| tasks[id].vruntime);
    let least = leftmost.map_or(cpu.min_vruntime, |left| left.min(cpu.min_vruntime));
    let task: &mut Task = &mut tasks[id];
    let placed = match entry {
        Entry::Fork => {
            let average = params.wakeup_granularity.ns();
            if params.adaptive_gran {
                task.history.waker = Waker { average, issued: None, woken: task.cpu_time.ns() };
            }
            let (running, load) = (cpu.running + 1, cpu.load + u64::from(task.weight));
            let debit = match params.debit {
                _ if !params.start_debit => 0,
                StartDebit::Period => period(params, running).ns() as i64,
                StartDebit::Slice => weighted(slice(params, running, task.weight, load), task.weight),
            };
            least + debit
        }
        Entry::Wake => {
            if params.adaptive_gran {
                task.history.waker.woken = task.cpu_time.ns();
            }
            let credit = match (params.sleeper_credit, params.normalized_sleeper) {
                (false, _) => 0,
                (true, true) => weighted(params.latency, task.weight),
                (true, false) => params.latency.ns() as i64,
            };
            task.vruntime.max(least - credit)
        }
        Entry::Move => task.vruntime,
    };
    tasks[id].vruntime = placed;
}

/// Wake-up pre-emption (`check_preempt_wakeup`): the virtual runtime of the entering task must be smaller by
/// more than one wake-up granularity. The task becomes the next buddy and the current task the last buddy
/// whether it pre-empts or not.
fn preempts(params: &CfsParams, tasks: &Tasks, cpu: &mut Cpu, id: TaskId, now: Time) -> bool {
    if params.buddies {
        if params.last_buddy {
            cpu.rare.last_buddy = cpu.current;
        }
        cpu.rare.next_buddy = id;
    }
    let behind = tasks[cpu.current].vruntime - tasks[id].vruntime;
    if params.adaptive_gran {
        return behind > adaptive(params, tasks, cpu, id, now);
    }
    behind > weighted(params.wakeup_granularity, tasks[cpu.current].weight.max(NICE_0 as u32))
}

/// `adaptive_gran` of 2.6.30: what the woken task's usual time until it wakes others, twice and for each
/// runnable task, exceeds the time the current one has run by; at most the granularity.
fn adaptive(params: &CfsParams, tasks: &Tasks, cpu: &Cpu, id: TaskId, now: Time) -> i64 {
    let expected = tasks[id].history.waker.average.saturating_mul(2).saturating_mul(u64::from(cpu.running));
    let granularity = expected.saturating_sub(now.since(cpu.picked).ns()).min(params.wakeup_granularity.ns());
    weighted(Span::from_ns(granularity), tasks[id].weight)
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
            let gap = tasks[*buddy].vruntime - tasks[best].vruntime;
            gap <= params.wakeup_granularity.ns() as i64
        }
    };
    let buddies = [cpu.rare.next_buddy, cpu.rare.last_buddy].into_iter().filter_map(TaskId::some);
    let preferred = buddies.filter(|buddy| able(*buddy)).find(near);
    if preferred.is_none() && params.times_pairs() {
        cpu.rare.pair_start = now;
    }
    preferred
}

impl CfsParams {
    /// True if the instant of the last ordinary pick matters.
    #[inline]
    fn times_pairs(&self) -> bool {
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

    fn leave(&self, tasks: &mut Tasks, _: &mut Cpu, id: TaskId, reason: LeaveReason) {
        if reason == LeaveReason::Slept && self.adaptive_gran {
            tasks[id].history.waker.sleeps(self);
        }
    }

    fn place(&self, tasks: &mut Tasks, cpu: &mut Cpu, id: TaskId, entry: Entry, _: Time) {
        place(self, tasks, cpu, id, entry);
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
    }

    #[inline]
    fn interrupted(&self, _: &mut Tasks, cpu: &mut Cpu, _: Time, why: Interrupted) {
        if why == Interrupted::SliceOver && self.clear_buddies {
            forget(cpu, cpu.current);
        }
    }

    #[inline]
    fn slice_end(&self, tasks: &Tasks, cpu: &Cpu, now: Time, next_tick: impl Fn(Time) -> Time) -> Time {
        let slice = slice(self, cpu.running, tasks[cpu.current].weight, cpu.load);
        next_tick((cpu.picked + slice + Span::from_ns(1)).max(now + Span::from_ns(1)))
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
        Some(buddy(self, tasks, cpu, (current, best), now).unwrap_or(best))
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
        self.charge(tasks, cpu, now);
        cpu.charged = cpu.charged.max(now);
        self.follow_alone(tasks, cpu);
    }
}

impl FastForward for CfsParams {
    fn picks(&self) -> Picks {
        match self.yield_mode {
            YieldMode::Default => Picks::ByKey,
            YieldMode::Posix => Picks::InTurns(Turns::Charged),
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

/// A task is no buddy any more.
#[inline]
pub(crate) fn forget(cpu: &mut Cpu, id: TaskId) {
    let Some(rare) = cpu.rare.written() else { return };
    for buddy in [&mut rare.next_buddy, &mut rare.last_buddy] {
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

    #[test]
    fn boot_scaling_matches_the_kernel() {
        let sixteen = CfsParams::scaled(16);
        assert_eq!(sixteen.latency, Span::from_ms(100));
        assert_eq!(sixteen.min_granularity, Span::from_ms(20));
        assert_eq!(sixteen.wakeup_granularity, Span::from_ms(25));
        assert_eq!(CfsParams::scaled(24).latency, Span::from_ms(100));
        assert_eq!(CfsParams::scaled(4096).latency, Span::from_ms(200));
        assert_eq!(CfsParams::scaled(1).latency, Span::from_ms(20));
    }
}
