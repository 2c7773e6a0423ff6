//! The real-time classes of Linux above a discipline: `SCHED_FIFO` and `SCHED_RR` with priorities
//! (kernel/sched/rt.c), what keeps spinning ones from taking a cpu for good, and above them `SCHED_DEADLINE`
//! (kernel/sched/deadline.c) with the servers of [`crate::run_queue::cbs`]. Here they are one class: a
//! deadline is a rank before all priorities.
//!
//! The tasks of the class stand in the list of their cpu at a level of their own, sorted by rank; those
//! of the discipline stand one level behind. For the rules of the discipline the cpu is as it would be
//! without the class ([`RealTime::below`]). A task of `SCHED_DEADLINE` that has used up its runtime stands
//! behind all until its next period.
//!
//! Two limits exist. Throttling (`sched_rt_runtime_us`): the class of a cpu stops for the rest of a period
//! once it has run for longer than its runtime. The fair server ([`crate::run_queue::fair_server`]): when
//! tasks of the discipline have starved, they go first for a while.
//!
//! Deviations: cpus do not lend each other runtime (`RT_RUNTIME_SHARE`, to 5.9); a quantum is used up to the
//! nanosecond and ends at the tick next to its end; of the time of `SCHED_DEADLINE` only that counts for
//! throttling by which the class does not exceed its runtime; and the fair server, a task of
//! `SCHED_DEADLINE` itself, comes after all others of it, as if its deadline was the latest.

use crate::engine::state::{Cpu, Task};
use crate::ids::TaskId;
use crate::observe::LeaveReason;
use crate::policy::THROTTLED;
use crate::program::Reservation;
use crate::run_queue::cbs::{Cbs, DeadlineRules};
use crate::run_queue::fair_server::{FairServer, ServerRules};
use crate::run_queue::multilevel::Levels;
use crate::run_queue::{
    Discipline, Entry, FastForward, Grouped, Interrupted, Picked, Picks, Requested, Rules, Tasks, Ticks,
    best, groups, insert_by, list, remove,
};
use crate::time::{Span, Time};

/// The level of tasks of the class.
pub(crate) const CLASS: u8 = 0;
/// The level of all others, where some task of the run is of the class.
pub(crate) const OTHERS: u8 = 1;
/// The level of tasks of the class while the fair server runs.
const OUTRANKED: u8 = THROTTLED - 1;

/// What a kernel of Linux has of the class.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RealTimeRules {
    /// How long a task of `SCHED_RR` runs before its equals have a turn (`RR_TIMESLICE`).
    pub quantum: Span,
    /// How long the class may run on a cpu in each `period`; as long as that, or longer: without limit.
    pub runtime: Span,
    /// The period of `runtime`, at least 1 ms.
    pub period: Span,
    /// It begins as the first task of the class enters a queue; otherwise it has a random phase.
    pub period_starts: bool,
    /// A task that enters and may run on no other cpu pre-empts one of its priority that may.
    pub pinned_first: bool,
    /// What the tasks below the class get when they starve.
    pub server: ServerRules,
    /// What it has of `SCHED_DEADLINE`; none: it has no such tasks (before 3.14).
    pub deadline: Option<DeadlineRules>,
}

/// What the class does on a cpu.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Phase {
    /// It goes first.
    First,
    /// It is throttled.
    Throttled,
    /// The fair server runs.
    Outranked,
}

/// The state of the class on a cpu.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct ClassState {
    throttled: bool,
    /// What it has run in this period, ns (`rt_time`).
    pub(super) ran: u64,
    server: FairServer,
    /// Who waits and goes before the current task although it is its equal.
    ahead: TaskId,
}

impl ClassState {
    /// Nothing has run.
    pub(crate) const NEW: Self =
        Self { throttled: false, ran: 0, server: FairServer::NEW, ahead: TaskId::NONE };

    pub(crate) fn phase(&self) -> Phase {
        match (self.throttled, self.server.serves()) {
            (true, _) => Phase::Throttled,
            (false, true) => Phase::Outranked,
            (false, false) => Phase::First,
        }
    }

    /// The level of a task of the class.
    pub(super) fn level(&self, task: &Task) -> u8 {
        if reservation(task).is_some() {
            return if task.history.cbs.is_throttled() { THROTTLED } else { CLASS };
        }
        match self.phase() {
            Phase::First => CLASS,
            Phase::Throttled => THROTTLED,
            Phase::Outranked => OUTRANKED,
        }
    }
}

/// A discipline with the class above it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct RealTime {
    /// The discipline of all other tasks.
    pub(crate) below: Box<Discipline>,
    pub(crate) rules: RealTimeRules,
    pub(crate) tick: Span,
}

/// It is of the class.
pub(crate) fn is_of_class(task: &Task) -> bool {
    task.history.scheduling.is_real_time()
}

/// What a task of `SCHED_DEADLINE` has reserved.
pub(crate) fn reservation(task: &Task) -> Option<Reservation> {
    task.history.scheduling.reservation()
}

/// A task of the class that goes before all others: it is neither throttled nor outranked.
pub(crate) fn goes_first(task: &Task) -> bool {
    task.priority == CLASS && is_of_class(task)
}

/// What the class is sorted by: the earliest deadline, then the best priority, 99, first.
pub(crate) fn rank(task: &Task) -> i64 {
    if reservation(task).is_some() {
        return deadline_rank(task.history.cbs.deadline());
    }
    99 - i64::from(task.history.scheduling.priority().unwrap_or(0))
}

/// Below zero, up to 2^62 ns of time.
fn deadline_rank(deadline: Time) -> i64 {
    const LAST: u64 = 1 << 62;
    deadline.ns().min(LAST - 1) as i64 - LAST as i64
}

/// The best rank of the class on a cpu; 99 without any. A task that has used up its runtime is not there.
pub(crate) fn best_rank(tasks: &Tasks, cpu: &Cpu) -> i64 {
    let all = cpu.current.some().into_iter().chain(list(tasks, cpu.head));
    let counts = |task: &Task| is_of_class(task) && !task.history.cbs.is_throttled();
    all.filter(|id| counts(&tasks[*id])).map(|id| rank(&tasks[id])).min().unwrap_or(99)
}

/// No task of the class is on a cpu, and what it has run is made up for.
pub(crate) fn is_at_rest(tasks: &Tasks, cpu: &Cpu) -> bool {
    let mut all = cpu.current.some().into_iter().chain(list(tasks, cpu.head));
    cpu.rare.class.ran == 0 && !all.any(|id| tasks[id].history.scheduling.priority().is_some())
}

/// The tasks on a cpu that are not of the class.
fn others<'a>(tasks: &'a Tasks, cpu: &'a Cpu) -> impl Iterator<Item = TaskId> + 'a {
    let all = cpu.current.some().into_iter().chain(list(tasks, cpu.head));
    all.filter(|id| !is_of_class(&tasks[*id]))
}

/// The tasks of the class on a cpu get the level of its phase.
fn relevel(rules: &impl Rules, tasks: &mut Tasks, cpu: &mut Cpu) {
    let waiting: Vec<TaskId> = list(tasks, cpu.head).filter(|id| is_of_class(&tasks[*id])).collect();
    for id in &waiting {
        remove(tasks, cpu, *id);
    }
    for id in waiting {
        tasks[id].priority = cpu.rare.class.level(&tasks[id]);
        insert_by(rules, tasks, cpu, id);
    }
    if let Some(current) = cpu.current.some().filter(|id| is_of_class(&tasks[*id])) {
        tasks[current].priority = cpu.rare.class.level(&tasks[current]);
        cpu.resched = true;
    } else if let (Some(head), Some(current)) = (cpu.head.some(), cpu.current.some()) {
        cpu.resched |= tasks[head].priority < tasks[current].priority;
    }
}

/// A cpu as the discipline sees it: its queue between the tasks of the class, and what was there before.
struct Hidden {
    whole: (TaskId, TaskId),
    part: (TaskId, TaskId),
    current: TaskId,
    running: u32,
    load: u64,
}

impl Hidden {
    fn of(tasks: &Tasks, cpu: &Cpu) -> Self {
        let class = |id: &TaskId| is_of_class(&tasks[*id]);
        let (mut running, mut load) = (0, 0);
        let all = cpu.current.some().into_iter().chain(list(tasks, cpu.head));
        for id in all.filter(|id| class(id)) {
            running += 1;
            load += u64::from(tasks[id].weight);
        }
        let mut others = list(tasks, cpu.head).filter(|id| !class(id));
        let first = others.next();
        let last = others.last().or(first);
        let part = (first.unwrap_or(TaskId::NONE), last.unwrap_or(TaskId::NONE));
        let current = cpu.current.some().filter(class).unwrap_or(TaskId::NONE);
        Self { whole: (cpu.head, cpu.tail), part, current, running, load }
    }

    fn hides(&self) -> bool {
        self.running > 0
    }

    fn hide(&self, cpu: &mut Cpu) {
        (cpu.head, cpu.tail) = self.part;
        if !self.current.is_none() {
            cpu.current = TaskId::NONE;
        }
        cpu.running -= self.running;
        cpu.load -= self.load;
    }

    fn show(&self, cpu: &mut Cpu) {
        (cpu.head, cpu.tail) = self.whole;
        if !self.current.is_none() {
            cpu.current = self.current;
        }
        cpu.running += self.running;
        cpu.load += self.load;
    }
}

impl RealTime {
    /// The rules of the discipline act on a cpu without the class; they do not change its list.
    fn below<T>(
        &self,
        tasks: &mut Tasks,
        cpu: &mut Cpu,
        act: impl FnOnce(&Discipline, &mut Tasks, &mut Cpu) -> T,
    ) -> T {
        let hidden = Hidden::of(tasks, cpu);
        if !hidden.hides() {
            return act(&self.below, tasks, cpu);
        }
        let (first, last) = hidden.part;
        let ends = (first.some().map(|id| tasks[id].previous), last.some().map(|id| tasks[id].next));
        hidden.hide(cpu);
        if !first.is_none() {
            tasks[first].previous = TaskId::NONE;
            tasks[last].next = TaskId::NONE;
        }
        let result = act(&self.below, tasks, cpu);
        if let (Some(before), Some(after)) = ends {
            tasks[first].previous = before;
            tasks[last].next = after;
        }
        hidden.show(cpu);
        result
    }

    /// The same where nothing changes.
    fn seen<T>(&self, tasks: &Tasks, cpu: &Cpu, see: impl FnOnce(&Discipline, &Cpu) -> T) -> T {
        let hidden = Hidden::of(tasks, cpu);
        if !hidden.hides() {
            return see(&self.below, cpu);
        }
        let mut without = cpu.clone();
        hidden.hide(&mut without);
        see(&self.below, &without)
    }

    pub(crate) const fn limits(&self) -> bool {
        self.rules.runtime.ns() < self.rules.period.ns()
    }

    const fn serves(&self) -> bool {
        self.rules.server.runtime.ns() > 0
    }

    /// Something happens to the fair server of a cpu.
    fn to_server(&self, tasks: &mut Tasks, cpu: &mut Cpu, what: impl FnOnce(&mut FairServer, &ServerRules)) {
        let before = cpu.rare.class.phase();
        what(&mut cpu.rare.class.server, &self.rules.server);
        if cpu.rare.class.phase() != before {
            relevel(self, tasks, cpu);
        }
    }

    /// The current task of a cpu, if it is of the class.
    fn current(tasks: &Tasks, cpu: &Cpu) -> Option<TaskId> {
        cpu.current.some().filter(|id| is_of_class(&tasks[*id]))
    }

    /// An equal of the current task of `SCHED_RR` waits, so that its quantum counts.
    fn takes_turns(tasks: &Tasks, cpu: &Cpu) -> bool {
        let Some(me) = Self::current(tasks, cpu) else { return false };
        let same =
            |id: TaskId| tasks[id].priority == tasks[me].priority && rank(&tasks[id]) == rank(&tasks[me]);
        // While the class is behind others or throttled, it is not at the head.
        let first = || list(tasks, cpu.head).find(|id| is_of_class(&tasks[*id]));
        tasks[me].history.scheduling.takes_turns() && first().is_some_and(same)
    }

    /// How much a task of `SCHED_RR` runs until the tick next to the end of its quantum has come, ns.
    fn turn(&self) -> u64 {
        self.rules.quantum.ns().saturating_sub(self.tick.ns() / 2).max(1)
    }

    /// When the fair server of a cpu interrupts the class.
    pub(super) fn begins(&self, tasks: &Tasks, cpu: &Cpu) -> Time {
        let class = &cpu.rare.class;
        let waits = || others(tasks, cpu).any(|id| tasks[id].priority < THROTTLED);
        let begins = self.serves() && class.phase() == Phase::First && waits();
        if begins { class.server.timer() } else { Time::NEVER }
    }

    /// A task below the class has run.
    fn account(&self, tasks: &mut Tasks, cpu: &mut Cpu, now: Time) {
        if self.serves() && !cpu.current.is_none() && Self::current(tasks, cpu).is_none() {
            let span = now.since(cpu.charged);
            self.to_server(tasks, cpu, |server, rules| server.ran(rules, span, now));
        }
    }

    /// A task enters a cpu: the time that the cpu was idle counts, and the first one below the class starts
    /// the fair server.
    fn start(&self, tasks: &mut Tasks, cpu: &mut Cpu, id: TaskId, now: Time) {
        if !self.serves() {
            return;
        }
        if cpu.running == 0 {
            let since = cpu.picked;
            self.to_server(tasks, cpu, |server, rules| server.idle(rules, since, now));
        }
        if !is_of_class(&tasks[id]) && others(tasks, cpu).next().is_none() {
            self.to_server(tasks, cpu, |server, rules| server.start(rules, now));
        }
    }

    /// What a tick does (`tick`), or an interrupt of another kind: throttling, the end of a quantum, the
    /// begin of the fair server.
    fn pass(&self, tasks: &mut Tasks, cpu: &mut Cpu, now: Time, tick: bool) {
        let Some(me) = Self::current(tasks, cpu) else { return };
        if self.look(tasks, cpu, me, now) || (tick && self.throttle(tasks, cpu)) {
            return;
        }
        let turn_over = tick && Self::takes_turns(tasks, cpu);
        let share = &mut tasks[me].history.share;
        if turn_over && share.used >= self.turn() {
            (share.used, share.expired) = (0, true);
            cpu.resched = true;
        }
        if now >= self.begins(tasks, cpu) {
            self.to_server(tasks, cpu, FairServer::fire);
        }
    }

    /// The current task of the class has run up to now (`update_curr_rt`).
    fn run(&self, tasks: &mut Tasks, cpu: &mut Cpu, id: TaskId, now: Time) {
        let span = now.since(cpu.charged);
        cpu.charged = cpu.charged.max(now);
        if reservation(&tasks[id]).is_some() {
            return self.run_reserved(tasks, cpu, (id, span), now);
        }
        let alone = !Self::takes_turns(tasks, cpu);
        let used = &mut tasks[id].history.share.used;
        *used += span.ns();
        if alone {
            // One quantum follows the other.
            *used %= self.rules.quantum.ns();
        }
        if self.limits() {
            cpu.rare.class.ran += span.ns();
        }
        // The timer of the server interrupts.
        cpu.resched |= now >= self.begins(tasks, cpu);
    }

    /// What has run so far may be too much.
    fn throttle(&self, tasks: &mut Tasks, cpu: &mut Cpu) -> bool {
        if cpu.current.some().is_some_and(|id| reservation(&tasks[id]).is_some()) {
            return false;
        }
        let over = self.limits() && cpu.rare.class.ran > self.rules.runtime.ns();
        if over && !cpu.rare.class.throttled {
            cpu.rare.class.throttled = true;
            relevel(self, tasks, cpu);
        }
        over
    }

    /// A waiting task goes first among its equals, also before the current one (`requeue_task_rt`).
    pub(crate) fn put_first(&self, tasks: &mut Tasks, cpu: &mut Cpu, id: TaskId) {
        remove(tasks, cpu, id);
        tasks[id].history.share.front = true;
        insert_by(self, tasks, cpu, id);
        cpu.rare.class.ahead = id;
    }

    /// A period begins: a throttled class may run again. True when it does.
    pub(crate) fn refill(&self, tasks: &mut Tasks, cpu: &mut Cpu) -> bool {
        let class = &mut cpu.rare.class;
        class.ran = class.ran.saturating_sub(self.rules.runtime.ns());
        let released = class.throttled && class.ran < self.rules.runtime.ns();
        if released {
            class.throttled = false;
            relevel(self, tasks, cpu);
        }
        released
    }
}

impl Rules for RealTime {
    fn check(&self, tick: Span) -> Result<(), String> {
        if self.serves() && self.below.ticks().is_none() {
            return Err("only kernels with EEVDF have a fair server (`fair_server`)".into());
        }
        if self.rules.deadline.is_some_and(|rules| rules.timer) && self.below.ticks().is_none() {
            return Err("only kernels with EEVDF have a timer of runtimes (`deadline_timer`)".into());
        }
        self.below.check(tick)
    }

    fn times_picks(&self) -> bool {
        self.below.times_picks()
    }

    fn renews_slice(&self) -> bool {
        self.below.renews_slice()
    }

    fn has_relative_keys(&self) -> bool {
        self.below.has_relative_keys()
    }

    fn ticks(&self) -> Option<Ticks> {
        self.below.ticks()
    }

    fn tick(&self, tasks: &mut Tasks, cpu: &mut Cpu, at: Time) {
        if let Some(me) = Self::current(tasks, cpu) {
            self.run(tasks, cpu, me, at);
        } else {
            self.account(tasks, cpu, at);
            self.below(tasks, cpu, |below, tasks, cpu| below.tick(tasks, cpu, at));
        }
        self.pass(tasks, cpu, at, true);
    }

    fn key(&self, task: &Task) -> i64 {
        if is_of_class(task) { rank(task) } else { self.below.key(task) }
    }

    fn charge(&self, tasks: &mut Tasks, cpu: &mut Cpu, now: Time) {
        if let Some(me) = Self::current(tasks, cpu) {
            return self.run(tasks, cpu, me, now);
        }
        self.account(tasks, cpu, now);
        self.below(tasks, cpu, |below, tasks, cpu| below.charge(tasks, cpu, now));
    }

    fn advance_minimum(&self, tasks: &Tasks, cpu: &mut Cpu) {
        let hidden = Hidden::of(tasks, cpu);
        hidden.hide(cpu);
        self.below.advance_minimum(tasks, cpu);
        hidden.show(cpu);
    }

    fn place(&self, tasks: &mut Tasks, cpu: &mut Cpu, id: TaskId, entry: Entry, now: Time) {
        self.start(tasks, cpu, id, now);
        if !is_of_class(&tasks[id]) {
            return self.below(tasks, cpu, |below, tasks, cpu| below.place(tasks, cpu, id, entry, now));
        }
        if let Some(of) = reservation(&tasks[id]) {
            let cbs = &mut tasks[id].history.cbs;
            match entry {
                Entry::Fork => {
                    *cbs = Cbs::NEW;
                    cbs.wake(&of, now);
                }
                Entry::Wake => cbs.wake(&of, now),
                Entry::Move => cbs.enter(&of, now),
            }
        }
        tasks[id].priority = cpu.rare.class.level(&tasks[id]);
        let share = &mut tasks[id].history.share;
        (share.front, share.expired) = (false, false);
        if entry == Entry::Fork {
            share.used = 0;
        }
    }

    fn picked(&self, tasks: &mut Tasks, cpu: &mut Cpu, how: Picked) {
        if !cpu.rare.class.ahead.is_none() {
            cpu.rare.class.ahead = TaskId::NONE;
        }
        if Self::current(tasks, cpu).is_none() {
            self.below(tasks, cpu, |below, tasks, cpu| below.picked(tasks, cpu, how));
        } else if matches!(how, Picked::Anew(_)) {
            // No group goes on (`put_prev_entity`).
            groups::all(cpu).for_each(|id| tasks[id].history.chosen = false);
        }
    }

    fn interrupted(&self, tasks: &mut Tasks, cpu: &mut Cpu, now: Time, why: Interrupted) {
        let tick = why == Interrupted::SliceOver && self.below.ticks().is_none();
        self.pass(tasks, cpu, now, tick);
        // It is about to pick again.
        cpu.resched = false;
        match Self::current(tasks, cpu) {
            Some(me) => {
                let share = &mut tasks[me].history.share;
                share.front = !std::mem::take(&mut share.expired);
            }
            None => self.below(tasks, cpu, |below, tasks, cpu| below.interrupted(tasks, cpu, now, why)),
        }
    }

    fn contested(&self, tasks: &Tasks, cpu: &Cpu) -> bool {
        Self::current(tasks, cpu).is_some()
            || cpu.rare.class.server.serves()
            || self.seen(tasks, cpu, |below, cpu| below.contested(tasks, cpu))
    }

    fn slice_end(&self, tasks: &Tasks, cpu: &Cpu, now: Time, next_tick: impl Fn(Time) -> Time) -> Time {
        let (soon, ticks) = (now + Span::from_ns(1), self.below.ticks().is_some());
        let Some(me) = Self::current(tasks, cpu) else {
            let contested = self.seen(tasks, cpu, |below, cpu| below.contested(tasks, cpu));
            let serves = if cpu.rare.class.server.serves() { cpu.rare.next_tick } else { Time::NEVER };
            return if contested {
                serves.min(self.seen(tasks, cpu, |below, cpu| below.slice_end(tasks, cpu, now, next_tick)))
            } else {
                serves
            };
        };
        if reservation(&tasks[me]).is_some() {
            return self.end_of_runtime(tasks, cpu, (me, now), next_tick);
        }
        let turns = Self::takes_turns(tasks, cpu);
        let begins = self.begins(tasks, cpu).max(soon);
        if ticks {
            return if turns || self.limits() { begins.min(cpu.rare.next_tick) } else { begins };
        }
        let after = |whole: u64, used: u64| {
            // What is used up ends at the next tick, also where the time of a switch is still to pass.
            let rest = Span::from_ns(whole.saturating_sub(used));
            next_tick(if used < whole { cpu.charged.saturating_add(rest).max(soon) } else { soon })
        };
        let turn = if turns { after(self.turn(), tasks[me].history.share.used) } else { Time::NEVER };
        let runtime = self.rules.runtime.ns().saturating_add(1);
        let limit = if self.limits() { after(runtime, cpu.rare.class.ran) } else { Time::NEVER };
        turn.min(limit)
    }

    fn preempts(&self, tasks: &mut Tasks, cpu: &mut Cpu, id: TaskId, now: Time) -> bool {
        match Self::current(tasks, cpu) {
            Some(me) => rank(&tasks[id]) < rank(&tasks[me]),
            None => self.below(tasks, cpu, |below, tasks, cpu| below.preempts(tasks, cpu, id, now)),
        }
    }

    fn is_lazy(&self, tasks: &Tasks, cpu: &Cpu) -> bool {
        Self::current(tasks, cpu).is_none() && self.seen(tasks, cpu, |below, cpu| below.is_lazy(tasks, cpu))
    }

    fn choose(&self, tasks: &mut Tasks, cpu: &mut Cpu, current: Option<TaskId>, now: Time) -> Option<TaskId> {
        let may_run = |id: &TaskId| tasks[*id].priority < THROTTLED;
        let first = [current, cpu.head.some().filter(may_run)].into_iter().flatten();
        let first = first.min_by_key(|id| tasks[*id].priority);
        if first.is_none_or(|id| !is_of_class(&tasks[id])) {
            let current = current.filter(|id| !is_of_class(&tasks[*id]));
            return self.below(tasks, cpu, |below, tasks, cpu| below.choose(tasks, cpu, current, now));
        }
        let overtaken = cpu.head.some().is_some_and(|head| head == cpu.rare.class.ahead);
        best(tasks, cpu, current, |mine, theirs| {
            let (key, other) = (rank(mine), rank(theirs));
            key < other || (mine.history.share.front && key == other && !overtaken)
        })
    }

    fn prefers(&self, tasks: &Tasks, cpu: &Cpu, target: TaskId, gap: i64) -> bool {
        let class = is_of_class(&tasks[target]) || Self::current(tasks, cpu).is_some();
        !class && self.seen(tasks, cpu, |below, cpu| below.prefers(tasks, cpu, target, gap))
    }

    fn yield_key(&self, tasks: &mut Tasks, cpu: &mut Cpu, id: TaskId, now: Time) {
        if !is_of_class(&tasks[id]) {
            self.account(tasks, cpu, now);
            self.below(tasks, cpu, |below, tasks, cpu| below.yield_key(tasks, cpu, id, now));
            return;
        }
        self.run(tasks, cpu, id, now);
        if reservation(&tasks[id]).is_some() {
            tasks[id].history.cbs.give_up();
        }
        self.pass(tasks, cpu, now, true);
        let share = &mut tasks[id].history.share;
        (share.front, share.expired) = (false, false);
    }

    fn put_back_key(&self, tasks: &mut Tasks, cpu: &Cpu, id: TaskId) {
        if !is_of_class(&tasks[id]) {
            self.below.put_back_key(tasks, cpu, id);
        }
    }

    fn leave(&self, tasks: &mut Tasks, cpu: &mut Cpu, id: TaskId, reason: LeaveReason, now: Time) {
        if is_of_class(&tasks[id]) {
            // `update_curr_rt` and `update_curr_dl` as it is dequeued.
            if cpu.current == id {
                self.look(tasks, cpu, id, now);
                self.throttle(tasks, cpu);
            }
            if let Discipline::Cfs(params) = &*self.below {
                // How often it wakes others counts in any class.
                params.leave(tasks, cpu, id, reason, now);
            }
            return;
        }
        self.below(tasks, cpu, |below, tasks, cpu| below.leave(tasks, cpu, id, reason, now));
        if self.serves() && others(tasks, cpu).all(|other| other == id) {
            self.to_server(tasks, cpu, |server, rules| server.emptied(rules, now));
        }
    }

    fn levels(&self) -> Option<&dyn Levels> {
        self.below.levels()
    }

    fn groups(&self) -> Option<&dyn Grouped> {
        self.below.groups()
    }

    fn requests(&self) -> Option<&dyn Requested> {
        self.below.requests()
    }
}

impl FastForward for RealTime {
    fn picks(&self) -> Picks {
        Picks::EachCycle
    }
}
