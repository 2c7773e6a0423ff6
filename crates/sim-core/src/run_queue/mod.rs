//! The run queue of a cpu: an ordered list of waiting tasks threaded through the task records, and the
//! disciplines that decide its order.
//!
//! A discipline is one file with its parameters and its [`Rules`], and one line in the list of
//! [`Discipline`]. The methods of [`Discipline`] hold for all of them: they keep the list, and ask the rules
//! for keys and picks.
//!
//! Order: priority, then virtual runtime (under EEVDF: virtual deadline), then first come. Round robin is the
//! same list with arrival numbers for keys; the disciplines with priorities ([`multilevel`]) have keys of
//! their own.

pub(crate) mod bandwidth;
pub(crate) mod by_policy;
pub(crate) mod cfs;
pub(crate) mod eevdf;
mod eevdf_polls;
mod eligibility;
pub(crate) mod explanation;
pub(crate) mod groups;
mod keys;
mod level;
mod list;
pub(crate) mod multilevel;
pub(crate) mod o1;
pub(crate) mod round_robin;
pub(crate) mod ts;
pub(crate) mod ule;
pub(crate) mod virtual_time;

use crate::engine::polling::queue_copy::QueueCopy;
use crate::engine::state::{Cpu, Task};
use crate::ids::{IdVec, TaskId};
use crate::observe::{LeaveReason, Request, Verdict};
use crate::policy::THROTTLED;
use crate::time::{Span, Time};
use by_policy::ByPolicy;
use cfs::CfsParams;
use eevdf::EevdfParams;
use o1::O1Params;
use round_robin::RoundRobinParams;
use ts::TsParams;
use ule::UleParams;
use virtual_time::VirtualTimeParams;

pub(crate) use eligibility::{Average, Contender, Picks, Requests};
pub(crate) use keys::{FAR_KEY, Growth, Keys};
pub(crate) use list::{
    anyone_waits, contested, delayed_in, insert_by, last_of_priority, link, list, place_between, remove,
    sum_waiting,
};

pub(crate) type Tasks = IdVec<TaskId, Task>;

/// The rules by which an operating system orders the run queue of a cpu and picks from it. Within a priority
/// level, the list is sorted by [`Rules::key`]; of equal keys the first come is first.
pub(crate) trait Rules {
    /// Refuses parameters that cannot be simulated, with a sentence.
    fn check(&self, tick: Span) -> Result<(), String> {
        let _ = tick;
        Ok(())
    }

    /// It writes the history of each task ([`crate::engine::state::History`]).
    fn keeps_history(&self) -> bool {
        true
    }

    /// The key of a moved task is relative to the minimum of its queue.
    #[inline]
    fn has_relative_keys(&self) -> bool {
        true
    }

    /// A task that changes from computing to polling is charged then.
    #[inline]
    fn charges_waiters(&self) -> bool {
        true
    }

    /// How late timer ticks are at most, where each of them is processed. None: a tick is computed when a
    /// slice ends.
    #[inline]
    fn processes_ticks(&self) -> Option<Span> {
        None
    }

    /// The period at which all priorities are updated, if they are.
    #[inline]
    fn update_period(&self) -> Option<Span> {
        None
    }

    /// The new key of a task at an update of all priorities, if it changes.
    fn updated(&self, task: &mut Task) -> Option<i64> {
        let _ = task;
        None
    }

    /// See [`crate::policy::TaskView::dispatch_priority`].
    #[inline]
    fn dispatch_priority(&self, task: &Task) -> i64 {
        let _ = task;
        0
    }

    /// See [`crate::policy::System::slice`].
    fn slice_used_and_left(&self, task: &Task, cpu: &Cpu) -> Option<(Span, Span)> {
        let _ = (task, cpu);
        None
    }

    /// A task whose dequeue is delayed leaves its cpu.
    fn end_delay(&self, tasks: &mut Tasks, cpu: &mut Cpu, id: TaskId) {
        let _ = (tasks, cpu);
        unreachable!("{id} has a delayed dequeue under a discipline without them");
    }

    /// What the list is sorted by.
    #[inline]
    fn key(&self, task: &Task) -> i64 {
        task.vruntime
    }

    /// Sets the key of a task that enters. The key of a moved task is relative to this queue already.
    fn place(&self, tasks: &mut Tasks, cpu: &mut Cpu, id: TaskId, entry: Entry, now: Time);

    /// Charges the current task for the time since it was last charged.
    #[inline]
    fn charge(&self, tasks: &mut Tasks, cpu: &mut Cpu, now: Time) {
        let _ = (tasks, cpu, now);
    }

    /// A timer tick comes to a cpu whose current task computes.
    #[inline]
    fn tick(&self, tasks: &mut Tasks, cpu: &mut Cpu, at: Time) {
        self.charge(tasks, cpu, at);
    }

    /// The queue's minimum follows a change, where there is one.
    #[inline]
    fn advance_minimum(&self, tasks: &Tasks, cpu: &mut Cpu) {
        let _ = (tasks, cpu);
    }

    /// The current task has been picked in place of another one.
    #[inline]
    fn picked(&self, tasks: &mut Tasks, cpu: &mut Cpu, now: Time) {
        let _ = (tasks, cpu, now);
    }

    /// A task has been picked, be it the current one again.
    #[inline]
    fn note_pick(&self, tasks: &Tasks, cpu: &mut Cpu) {
        let _ = (tasks, cpu);
    }

    /// The kernel is about to pick again while the current task could run on: after its slice (`over`) or
    /// because of another task.
    #[inline]
    fn interrupted(&self, tasks: &mut Tasks, cpu: &mut Cpu, now: Time, over: bool) {
        let _ = (tasks, cpu, now, over);
    }

    /// True when a waiting task competes with the current one: it has the same or a lower priority level.
    #[inline]
    fn contested(&self, tasks: &Tasks, cpu: &Cpu) -> bool {
        contested(tasks, cpu)
    }

    /// When the slice of the current task ends, if other tasks compete and nothing changes; later than `now`.
    fn slice_end(&self, tasks: &Tasks, cpu: &Cpu, now: Time, next_tick: impl Fn(Time) -> Time) -> Time;

    /// Whether a timer tick is a reason to pick again whatever it finds.
    #[inline]
    fn picks_at_tick(&self) -> bool {
        true
    }

    /// True when a task that has just entered takes the cpu from the current one, which has the same priority
    /// level.
    fn preempts(&self, tasks: &mut Tasks, cpu: &mut Cpu, id: TaskId, now: Time) -> bool;

    /// True when the current task, which may stay, goes before the first waiting one of its priority level.
    #[inline]
    fn keeps(&self, current: &Task, head: &Task) -> bool {
        let (mine, theirs) = (self.key(current), self.key(head));
        mine < theirs || (current.history.share.front && mine == theirs)
    }

    /// The task that is picked instead of the best one, if any.
    #[inline]
    fn buddy(
        &self,
        tasks: &Tasks,
        cpu: &mut Cpu,
        picks: (Option<TaskId>, TaskId),
        now: Time,
    ) -> Option<TaskId> {
        let _ = (tasks, cpu, picks, now);
        None
    }

    /// Who runs next: `current`, when it may stay and wins, else the best waiting one.
    #[inline]
    fn choose(&self, tasks: &mut Tasks, cpu: &mut Cpu, current: Option<TaskId>, now: Time) -> Option<TaskId> {
        let Some(head) = cpu.head.some().filter(|id| tasks[*id].priority < THROTTLED) else { return current };
        let best = match current {
            Some(current) => {
                let (mine, theirs) = (&tasks[current], &tasks[head]);
                let equal = mine.priority == theirs.priority && self.keeps(mine, theirs);
                if mine.priority < theirs.priority || equal { current } else { head }
            }
            None => head,
        };
        Some(self.buddy(tasks, cpu, (current, best), now).unwrap_or(best))
    }

    /// True when a waiting task that another task yielded to is picked instead of the best one. Its key is
    /// `gap` behind the best.
    fn prefers(&self, tasks: &Tasks, cpu: &Cpu, target: TaskId, gap: i64) -> bool;

    /// Gives the current task its key for going back into the queue after a pre-emption.
    #[inline]
    fn put_back_key(&self, tasks: &mut Tasks, cpu: &Cpu, id: TaskId) {
        let _ = (tasks, cpu, id);
    }

    /// Gives the current task, `id`, its key after a `sched_yield` that ends now.
    fn yield_key(&self, tasks: &mut Tasks, cpu: &mut Cpu, id: TaskId, now: Time);

    /// A task has yielded. Where keys grow without bound, the same number is subtracted from all keys of its
    /// level before they exceed 64 bits: true when it was. Only their differences count.
    #[inline]
    fn move_origin(&self, tasks: &mut Tasks, cpu: &mut Cpu, id: TaskId) -> bool {
        let _ = (tasks, cpu, id);
        false
    }

    /// [`Rules::yield_key`] and [`Rules::choose`] in one, on the copy of a queue, where nothing is delayed.
    #[inline]
    fn yield_and_choose(&self, tasks: &mut Tasks, cpu: &mut Cpu, now: Time) -> Option<TaskId> {
        let current = cpu.current;
        self.yield_key(tasks, cpu, current, now);
        self.choose(tasks, cpu, Some(current), now)
    }

    /// By what compact records of tasks that poll are picked, where these suffice.
    fn picks(&self) -> Option<Picks> {
        None
    }

    /// Yields of the current task, one every `cycle`, after all of which but the last it certainly keeps the
    /// cpu; at least 1. The first ends at `first`, and a task of the same priority level waits.
    #[inline]
    fn yields_kept(&self, tasks: &Tasks, cpu: &Cpu, first: Time, cycle: Span) -> u64 {
        let _ = (tasks, cpu, first, cycle);
        1
    }

    /// The current task has yielded and kept the cpu, and does so `more` times, every `cycle`.
    #[inline]
    fn yield_again(&self, tasks: &mut Tasks, cpu: &mut Cpu, cycle: Span, more: u64) {
        let _ = (tasks, cpu, cycle, more);
    }

    /// True when a task that has run is to the others as it was at an earlier instant. Its key has grown as
    /// the keys of all others that ran.
    #[inline]
    fn recurs(&self, task: &Task, then: &Keys, growth: Growth, is_current: bool) -> bool {
        let _ = (task, then, growth, is_current);
        true
    }

    /// For how many periods, in each of which its virtual runtime grows by `growth` as that of all others of
    /// its level and nothing else changes, a task or group is to the others as it was.
    #[inline]
    fn periods_aged(&self, task: &Task, then: &Keys, growth: i64) -> u64 {
        let _ = (task, then, growth);
        0
    }

    /// True when the state can recur although a waiting task of the level has kept its key.
    #[inline]
    fn bears_waiting(&self, growth: Growth) -> bool {
        let _ = growth;
        true
    }

    /// For how many periods, in each of which a task is charged a span, nothing but its yields changes its
    /// key.
    #[inline]
    fn periods(&self, task: &Task, cpu: &Cpu, charged: Span) -> u64 {
        let _ = (task, cpu, charged);
        u64::MAX
    }

    /// For how many periods, in each of which its key grows and nothing else changes, the group that was
    /// picked last in its level of a cpu stays the pick there.
    fn periods_kept(&self, tasks: &Tasks, cpu: &Cpu, id: TaskId, growth: i64) -> u64 {
        let _ = (tasks, growth);
        unreachable!("{id} on {} competes in a level under a discipline without them", cpu.id);
    }

    /// A task goes through periods in which it is charged a span and its key grows, as in the one since it
    /// had earlier keys.
    #[inline]
    fn repeat(&self, task: &mut Task, then: &Keys, cpu: &Cpu, (charged, growth): (Span, i64)) {
        let _ = (then, cpu, charged);
        task.vruntime += growth;
    }

    /// A task is about to leave the queue or the cpu it is on.
    #[inline]
    fn leave(&self, tasks: &mut Tasks, cpu: &mut Cpu, id: TaskId, reason: LeaveReason) {
        let _ = (tasks, cpu, id, reason);
    }

    /// A task that is not in a list, but may be the current one, changes its priority level.
    #[inline]
    fn change_priority(&self, tasks: &mut Tasks, cpu: &mut Cpu, id: TaskId, priority: u8) {
        let _ = cpu;
        tasks[id].priority = priority;
    }

    /// How a task of a cpu stands, for a report: under disciplines with eligibility its request, and the
    /// mean.
    fn request(&self, tasks: &Tasks, cpu: &Cpu, id: TaskId) -> Option<(Request, i64)> {
        let _ = (tasks, cpu, id);
        None
    }

    /// The rule that decided about a task of a cpu, for a report.
    fn rule(&self, tasks: &Tasks, cpu: &Cpu, id: TaskId, verdict: Verdict) -> &'static str {
        let _ = (tasks, cpu, id);
        match verdict {
            Verdict::Picked => "the discipline prefers it to all others of the cpu",
            Verdict::Preempts => "the discipline prefers it to the current task",
            Verdict::Waits => "the discipline does not prefer it to the current task",
        }
    }

    /// A cpu has no runnable task any more.
    #[inline]
    fn emptied(&self, tasks: &mut Tasks, cpu: &mut Cpu) {
        let _ = (tasks, cpu);
    }

    /// A runnable task of a cpu no longer competes: its group is throttled.
    fn throttle(&self, tasks: &mut Tasks, cpu: &mut Cpu, id: TaskId) {
        let _ = (tasks, cpu);
        unreachable!("{id} is throttled under a discipline without groups");
    }

    /// Its group is not throttled any more.
    fn unthrottle(&self, tasks: &mut Tasks, cpu: &mut Cpu, id: TaskId) {
        let _ = (tasks, cpu);
        unreachable!("{id} was throttled under a discipline without groups");
    }
}

macro_rules! disciplines {
    ($d:tt $($(#[$doc:meta])* $name:ident($params:ty),)*) => {
        /// A run-queue discipline with its parameters.
        ///
        /// ```
        /// use sim_core::os::{CfsParams, Discipline, YieldMode};
        /// use sim_core::time::Span;
        ///
        /// // CFS as Linux 2.6.28 sets it up on 16 cpus, but `sched_yield` puts its caller behind all others.
        /// let cfs = CfsParams { yield_mode: YieldMode::Posix, ..CfsParams::scaled(16) };
        /// assert_eq!(cfs.latency, Span::from_ms(100));
        /// let discipline = Discipline::Cfs(cfs);
        /// assert_ne!(discipline, Discipline::Cfs(CfsParams::scaled(16)));
        /// ```
        #[derive(Clone, PartialEq, Eq, Debug)]
        pub enum Discipline {
            $($(#[$doc])* $name($params),)*
        }

        /// The same expression for the rules of each discipline.
        macro_rules! each {
            ($d discipline:expr, $d rules:ident => $d call:expr) => {
                match $d discipline {
                    $(Discipline::$name($d rules) => $d call,)*
                }
            };
        }
    };
}

disciplines! {
    $
    /// Completely Fair Scheduler of Linux 2.6.27 to 2.6.30.
    Cfs(CfsParams),
    /// O(1) scheduler of Linux 2.6.18.
    O1(O1Params),
    /// ULE of FreeBSD 7.
    Ule(UleParams),
    /// Time-sharing class of Solaris 9.
    Ts(TsParams),
    /// Round robin with a fixed quantum.
    RoundRobin(RoundRobinParams),
    /// Earliest eligible virtual deadline first, of Linux 6.18.
    Eevdf(EevdfParams),
    /// Plain virtual time, under a policy that orders by it.
    VirtualTime(VirtualTimeParams),
    /// What the policy says for each task.
    ByPolicy(ByPolicy),
}

impl Discipline {
    /// [`Rules::check`].
    pub(crate) fn check(&self, tick: Span) -> Result<(), String> {
        each!(self, rules => rules.check(tick))
    }

    /// [`Rules::keeps_history`].
    pub(crate) fn keeps_history(&self) -> bool {
        each!(self, rules => rules.keeps_history())
    }

    /// [`Rules::has_relative_keys`].
    #[inline]
    pub(crate) fn has_relative_keys(&self) -> bool {
        each!(self, rules => rules.has_relative_keys())
    }

    /// [`Rules::charges_waiters`].
    #[inline]
    pub(crate) fn charges_waiters(&self) -> bool {
        each!(self, rules => rules.charges_waiters())
    }

    /// [`Rules::processes_ticks`].
    #[inline]
    pub(crate) fn processes_ticks(&self) -> Option<Span> {
        each!(self, rules => rules.processes_ticks())
    }

    /// [`Rules::update_period`].
    pub(crate) fn update_period(&self) -> Option<Span> {
        each!(self, rules => rules.update_period())
    }

    /// [`Rules::updated`].
    pub(crate) fn updated(&self, task: &mut Task) -> Option<i64> {
        each!(self, rules => rules.updated(task))
    }

    /// [`Rules::dispatch_priority`].
    #[inline]
    pub(crate) fn dispatch_priority(&self, task: &Task) -> i64 {
        each!(self, rules => rules.dispatch_priority(task))
    }

    /// [`Rules::slice_used_and_left`].
    pub(crate) fn slice_used_and_left(&self, task: &Task, cpu: &Cpu) -> Option<(Span, Span)> {
        each!(self, rules => rules.slice_used_and_left(task, cpu))
    }

    /// [`Rules::end_delay`].
    pub(crate) fn end_delay(&self, tasks: &mut Tasks, cpu: &mut Cpu, id: TaskId) {
        each!(self, rules => rules.end_delay(tasks, cpu, id));
    }

    /// [`Rules::key`].
    pub(crate) fn key(&self, task: &Task) -> i64 {
        each!(self, rules => rules.key(task))
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

    /// Runs the polling on a copy of a queue.
    pub(crate) fn run_polling(&self, copy: &mut QueueCopy, limit: Time) -> Time {
        each!(self, rules => copy.run(rules, limit))
    }

    /// [`Rules::picks`].
    pub(crate) fn picks(&self) -> Option<Picks> {
        each!(self, rules => rules.picks())
    }

    /// Charges the current task for the time since it was last charged, and moves the queue's minimum on.
    pub(crate) fn charge(&self, tasks: &mut Tasks, cpu: &mut Cpu, now: Time) {
        if cpu.current.is_none() {
            return;
        }
        each!(self, rules => rules.charge(tasks, cpu, now));
        cpu.charged = cpu.charged.max(now);
    }

    /// A timer tick comes to a cpu whose current task computes.
    pub(crate) fn tick(&self, tasks: &mut Tasks, cpu: &mut Cpu, at: Time) {
        each!(self, rules => rules.tick(tasks, cpu, at));
        cpu.charged = cpu.charged.max(at);
    }

    /// The queue's minimum after a change, where there is one.
    #[inline]
    pub(crate) fn advance_minimum(&self, tasks: &Tasks, cpu: &mut Cpu) {
        each!(self, rules => rules.advance_minimum(tasks, cpu));
    }

    /// A task has been picked, be it the current one again.
    #[inline]
    pub(crate) fn note_pick(&self, tasks: &Tasks, cpu: &mut Cpu) {
        each!(self, rules => rules.note_pick(tasks, cpu));
    }

    /// The kernel is about to pick again while the current task could run on: after its slice (`over`) or
    /// because of another task.
    pub(crate) fn interrupted(&self, tasks: &mut Tasks, cpu: &mut Cpu, now: Time, over: bool) {
        if cpu.current.some().is_some() {
            each!(self, rules => rules.interrupted(tasks, cpu, now, over));
        }
    }

    /// When the current task's slice ends if nothing changes; never before `now` + 1 ns.
    pub(crate) fn slice_end(
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

    /// Sets the key of a task that enters the queue. Its vruntime must already be relative to this queue.
    pub(crate) fn place(&self, tasks: &mut Tasks, cpu: &mut Cpu, id: TaskId, (entry, now): (Entry, Time)) {
        each!(self, rules => rules.place(tasks, cpu, id, entry, now));
    }

    /// True when a task that has just entered takes the cpu from the current one.
    pub(crate) fn preempts(&self, tasks: &mut Tasks, cpu: &mut Cpu, id: TaskId, now: Time) -> bool {
        if tasks[id].priority == THROTTLED {
            return false;
        }
        let Some(current) = cpu.current.some() else { return true };
        let (mine, theirs) = (tasks[id].priority, tasks[current].priority);
        if mine != theirs {
            return mine < theirs;
        }
        each!(self, rules => rules.preempts(tasks, cpu, id, now))
    }

    /// Who runs next: the current task when it may stay (`stays`) and wins, else the best waiting one. No
    /// throttled task.
    pub(crate) fn choose(&self, tasks: &mut Tasks, cpu: &mut Cpu, stays: bool, now: Time) -> Option<TaskId> {
        let current = cpu.current.some().filter(|id| stays && tasks[*id].priority < THROTTLED);
        each!(self, rules => rules.choose(tasks, cpu, current, now))
    }

    /// [`Rules::request`].
    pub(crate) fn request(&self, tasks: &Tasks, cpu: &Cpu, id: TaskId) -> Option<(Request, i64)> {
        each!(self, rules => rules.request(tasks, cpu, id))
    }

    /// [`Rules::rule`].
    pub(crate) fn rule(&self, tasks: &Tasks, cpu: &Cpu, id: TaskId, verdict: Verdict) -> &'static str {
        each!(self, rules => rules.rule(tasks, cpu, id, verdict))
    }

    /// True when a waiting task that another task yielded to is picked instead of the best one: as the next
    /// buddy of CFS and EEVDF is; elsewhere it is the first among its equals.
    pub(crate) fn prefers(&self, tasks: &Tasks, cpu: &Cpu, yield_target: TaskId, stays: bool) -> bool {
        let Some(head) = cpu.head.some() else { return false };
        let current = cpu.current.some().filter(|_| stays);
        let priority =
            current.map_or(tasks[head].priority, |current| tasks[current].priority.min(tasks[head].priority));
        if tasks[yield_target].priority != priority || priority == THROTTLED {
            return false;
        }
        let rival = current.filter(|current| tasks[*current].priority == priority);
        let best = [rival, Some(head).filter(|head| tasks[*head].priority == priority)];
        let least = best.into_iter().flatten().map(|id| tasks[id].vruntime).min();
        let gap = tasks[yield_target].vruntime.saturating_sub(least.unwrap_or(tasks[yield_target].vruntime));
        each!(self, rules => rules.prefers(tasks, cpu, yield_target, gap))
    }

    /// Gives the current task its key for going back into the queue after a pre-emption.
    pub(crate) fn put_back_key(&self, tasks: &mut Tasks, cpu: &Cpu, id: TaskId) {
        each!(self, rules => rules.put_back_key(tasks, cpu, id));
    }

    /// Gives the current task its key after a `sched_yield` that ends now.
    pub(crate) fn yield_key(&self, tasks: &mut Tasks, cpu: &mut Cpu, now: Time) {
        if let Some(current) = cpu.current.some() {
            each!(self, rules => {
                rules.yield_key(tasks, cpu, current, now);
                rules.move_origin(tasks, cpu, current);
            });
        }
    }

    /// The current task of a cpu has been picked in place of another one.
    #[inline]
    pub(crate) fn picked(&self, tasks: &mut Tasks, cpu: &mut Cpu, now: Time) {
        each!(self, rules => rules.picked(tasks, cpu, now));
    }

    /// A task is about to leave the queue or the cpu it is on.
    pub(crate) fn leave(&self, tasks: &mut Tasks, cpu: &mut Cpu, id: TaskId, reason: LeaveReason) {
        each!(self, rules => rules.leave(tasks, cpu, id, reason));
    }

    /// Whether a timer tick is a reason to pick again whatever it finds; under EEVDF it finds out itself.
    #[inline]
    pub(crate) fn picks_at_tick(&self) -> bool {
        each!(self, rules => rules.picks_at_tick())
    }

    /// A task that is not in a list, but may be the current one, changes its priority level.
    pub(crate) fn change_priority(&self, tasks: &mut Tasks, cpu: &mut Cpu, id: TaskId, priority: u8) {
        each!(self, rules => rules.change_priority(tasks, cpu, id, priority));
    }

    /// A cpu has no runnable task any more: no task competes with it.
    pub(crate) fn emptied(&self, tasks: &mut Tasks, cpu: &mut Cpu) {
        each!(self, rules => rules.emptied(tasks, cpu));
    }

    /// [`Rules::throttle`].
    pub(crate) fn throttle(&self, tasks: &mut Tasks, cpu: &mut Cpu, id: TaskId) {
        each!(self, rules => rules.throttle(tasks, cpu, id));
    }

    /// [`Rules::unthrottle`].
    pub(crate) fn unthrottle(&self, tasks: &mut Tasks, cpu: &mut Cpu, id: TaskId) {
        each!(self, rules => rules.unthrottle(tasks, cpu, id));
    }
}

/// Refuses a span below 1 us.
fn at_least_1us(name: &str, span: Span) -> Result<(), String> {
    if span < Span::from_us(1) { Err(format!("the {name} must be at least 1us")) } else { Ok(()) }
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
            discipline.prefers(&tasks, &cpu, TaskId(1), false)
        };
        assert_eq!([[0, 0], [0, 1], [THROTTLED, THROTTLED]].map(prefers), [true, false, false]);
    }
}
