//! The polling of one cpu on a copy of its run queue: the rules of the discipline act on the copy as they act
//! on the queue itself when each poll is an event.
//!
//! A prediction must not change the queue, and the same run answers what the next event leaves behind. Tasks
//! of a copy are numbered from 0, the current one first, in the order of the queue. The records of the task
//! groups on the cpu follow behind them.

use crate::account::Category;
use crate::engine::polling::recurrence::Mark;
use crate::engine::polling::{Look, cycles_before, polls, polls_before, visible_at};
use crate::engine::state::{App, Cpu, Prices, ProcessId, Task};
use crate::ids::{AppId, CpuId, IdVec, TaskId};
use crate::run_queue::multilevel::Share;
use crate::run_queue::{self, FastForward, Picked, Tasks, groups};
use crate::time::{Span, Time};

/// Dispatches that are predicted one by one before an event is armed to continue the prediction; more by
/// twice the length of a queue that is copied.
pub(crate) const DISPATCHES_PREDICTED: usize = 512;

/// Room for this number of tasks is reserved at the start.
pub(crate) const USUAL: usize = 16;

/// What a task of the copy was copied from, and what it has done since.
#[derive(Clone, Copy)]
pub(crate) struct Done {
    pub(crate) task: TaskId,
    /// Its yields are directed.
    pub(super) directed: bool,
    /// Cycles it went through, how often it was switched out, the time that was charged to its key.
    pub(crate) cycles: u64,
    pub(crate) switches: u64,
    pub(crate) charged: Span,
}

/// A copy of a run queue and how far its polling is.
pub(crate) struct QueueCopy {
    pub(crate) tasks: Tasks,
    pub(crate) cpu: Cpu,
    pub(crate) done: Vec<Done>,
    /// Some yields are directed.
    pub(crate) directed: bool,
    /// A task of the copy does not poll.
    others: bool,
    pub(crate) prices: Prices,
    /// How the tasks of the run poll.
    looks: Vec<Look>,
    /// What is left of the present dispatch's overhead, and the time of all switches.
    pub(crate) overhead: Span,
    pub(crate) switching: Span,
    /// Cycles done and switches made.
    pub(crate) cycles: u64,
    pub(crate) switches: u64,
    /// The task that was switched out last.
    pub(crate) before: TaskId,
    pub(crate) mark: Mark,
    /// What a yield changes of task groups: their virtual times before it.
    around: Vec<(i64, i64)>,
}

impl QueueCopy {
    /// An empty copy, of tasks that poll in these ways.
    pub(crate) fn new(looks: &[Look]) -> Self {
        let mut tasks = Tasks::default();
        tasks.reserve(USUAL);
        Self {
            tasks,
            cpu: Cpu::new(CpuId(0)),
            done: Vec::with_capacity(USUAL),
            directed: false,
            others: false,
            prices: Prices::default(),
            looks: looks.to_vec(),
            overhead: Span::ZERO,
            switching: Span::ZERO,
            cycles: 0,
            switches: 0,
            before: TaskId::NONE,
            mark: Mark::default(),
            around: Vec::new(),
        }
    }
}

/// What a yield changes of a task and its cpu.
type BeforeYield = (i64, i64, Time, (i64, Share));

impl QueueCopy {
    /// Copies the run queue of a cpu.
    pub(crate) fn load(
        &mut self,
        record: &Cpu,
        tasks: &Tasks,
        apps: &IdVec<AppId, App>,
        (prices, directed): (Prices, bool),
    ) {
        self.prices = prices;
        self.directed = false;
        self.overhead = record.overhead.total();
        (self.switching, self.cycles, self.switches) = (Span::ZERO, 0, 0);
        self.done.clear();
        self.mark.clear(1);
        let cpu = &mut self.cpu;
        cpu.id = record.id;
        (cpu.head, cpu.tail) = (TaskId::NONE, TaskId::NONE);
        (cpu.since, cpu.charged) = (record.since, record.charged);
        (cpu.running, cpu.several) = (record.running, record.several);
        cpu.min_vruntime = record.min_vruntime;
        cpu.set_expired_since(record.rare.expired_since);
        self.cpu.current = self.copy(tasks, record.current);
        for id in run_queue::list(tasks, record.head) {
            let (last, number) = (self.cpu.tail, self.copy(tasks, id));
            run_queue::link(&mut self.tasks, &mut self.cpu, last, number);
            run_queue::link(&mut self.tasks, &mut self.cpu, number, TaskId::NONE);
        }
        self.others = self.tasks.iter().take(self.done.len()).any(|task| !polls(task));
        if directed {
            for done in &mut self.done {
                let task = &tasks[done.task];
                done.directed = apps[task.app()].yields_to(task);
                self.directed |= done.directed;
            }
        }
        if record.rare.group_count > 0 {
            (self.cpu.rare.first_group, self.cpu.rare.group_count) =
                (TaskId(self.done.len() as u32), record.rare.group_count);
            for id in groups::all(record) {
                self.copy(tasks, id);
            }
        }
    }

    /// The number of its tasks.
    #[inline]
    pub(crate) fn members(&self) -> usize {
        self.done.len() - usize::from(self.cpu.rare.group_count)
    }

    /// Copies a task and returns its number.
    #[inline(always)]
    fn copy(&mut self, tasks: &Tasks, id: TaskId) -> TaskId {
        let number = self.done.len();
        let from = &tasks[id];
        if number == self.tasks.len() {
            self.tasks.push(Task::new(from.app(), from.weight, from.process, 0));
        }
        let copy = &mut self.tasks[TaskId(number as u32)];
        (copy.vruntime, copy.visible) = (from.vruntime, from.visible);
        (copy.weight, copy.priority, copy.polls) = (from.weight, from.priority, from.polls);
        copy.set_app(from.app());
        (copy.cpu_time, copy.last_ran) = (Span::ZERO, Time::ZERO);
        if self.cpu.several {
            copy.process = from.process;
        }
        copy.history.copy_from(&from.history);
        self.done.push(Done { task: id, directed: false, cycles: 0, switches: 0, charged: Span::ZERO });
        TaskId(number as u32)
    }

    /// Runs until something other than polling is due and returns that instant: the current task's poll (it
    /// observes the end of its wait) or the end of its cycle (a task that does not poll follows). Cycles that
    /// end before `limit` are done; when nothing happens before `limit`, or nothing ever, it stops there.
    pub(crate) fn run(&mut self, rules: &impl FastForward, limit: Time) -> Time {
        let most = DISPATCHES_PREDICTED + 2 * self.done.len();
        let mut dispatches = 0;
        loop {
            let (look, cycle) = (self.look(), self.cycle(self.cpu.current));
            let start = self.cpu.since + self.overhead;
            let (poll, first) = (start + look.poll, start + cycle);
            let wanted = self.yields_kept(rules, first);
            if wanted == u64::MAX {
                return self.stop(rules, limit, poll, wanted);
            }
            let end = first + cycle * (wanted - 1);
            // Its last poll of this dispatch comes one call before the end.
            let current = &self.tasks[self.cpu.current];
            if visible_at(current).saturating_add(self.prices.call) <= end || end >= limit {
                return self.stop(rules, limit, poll, wanted);
            }
            if wanted > 1 {
                self.stay(rules, wanted - 1);
            }
            let caller = self.cpu.current;
            if !self.yields(rules, end) {
                return end;
            }
            dispatches += 1;
            if rules.move_origin(&mut self.tasks, &mut self.cpu, caller) {
                self.mark.clear(dispatches);
            }
            if limit.is_never() && dispatches > most {
                let (start, look) = (self.cpu.since + self.overhead, self.look());
                let visible = visible_at(&self.tasks[self.cpu.current]);
                let observes = visible <= start + look.poll;
                return if observes {
                    look.sees(start, visible)
                } else {
                    start + look.poll + self.prices.call
                };
            }
            if self.skip_periods(rules, limit, dispatches) {
                return Time::NEVER;
            }
        }
    }

    /// The run has ended like another one on the same queue.
    #[cfg(debug_assertions)]
    pub(crate) fn ends_like(&self, other: &Self) -> bool {
        let cpu = |copy: &Self| {
            let Cpu { current, since, charged, min_vruntime, .. } = copy.cpu;
            (current, since, charged, min_vruntime, copy.overhead, copy.cycles, copy.switches)
        };
        let task = |(done, task): (&Done, &Task)| {
            let history = (task.history.vdeadline, task.history.protection, task.history.chosen);
            let history = (history, task.history.share);
            let ran = (done.cycles > 0).then_some((task.cpu_time, task.last_ran));
            (done.task, done.cycles, done.switches, task.vruntime, ran, history)
        };
        let [mine, others] = [self, other].map(|copy| copy.done.iter().zip(copy.tasks.iter()).map(task));
        cpu(self) == cpu(other) && self.queue().eq(other.queue()) && mine.eq(others)
    }

    /// How the current task polls.
    #[inline]
    fn look(&self) -> Look {
        self.looks[self.tasks[self.cpu.current].polls as usize]
    }

    /// One poll and one yield of a task of the copy.
    #[inline]
    pub(crate) fn cycle(&self, id: TaskId) -> Span {
        self.looks[self.tasks[id].polls as usize].poll + self.prices.call
    }

    /// The time of all polls that are accounted as this.
    pub(crate) fn polling(&self, category: Category) -> Span {
        let of = |(done, task): (&Done, &Task)| {
            let look = self.looks[task.polls as usize];
            if look.category == category { look.poll * done.cycles } else { Span::ZERO }
        };
        self.done
            .iter()
            .zip(self.tasks.iter())
            .take(self.members())
            .map(of)
            .fold(Span::ZERO, |sum, span| sum + span)
    }

    /// Yields of the current task, one each cycle, after all of which but the last it certainly keeps the
    /// cpu; `u64::MAX` when it has no rival.
    #[inline]
    fn yields_kept(&self, rules: &impl FastForward, first: Time) -> u64 {
        let (cpu, current) = (&self.cpu, &self.tasks[self.cpu.current]);
        let Some(head) = cpu.head.some().map(|head| &self.tasks[head]) else { return u64::MAX };
        if head.priority > current.priority {
            return u64::MAX;
        }
        // As long as a directed yield finds no task, it is as good as an undirected one.
        let most = if self.directed && self.done[cpu.current.0 as usize].directed {
            cycles_before(self.able(), first, self.cycle(cpu.current))
        } else {
            u64::MAX
        };
        if head.priority < current.priority || most == 0 {
            return 1;
        }
        rules.yields_kept(&self.tasks, cpu, first, self.cycle(cpu.current)).min(most)
    }

    /// When the first of the tasks observes the end of its wait: from then on a directed yield may prefer it.
    /// At once where one does not poll.
    pub(crate) fn able(&self) -> Time {
        let able = |task: &Task| if polls(task) { visible_at(task) } else { Time::ZERO };
        self.tasks.iter().take(self.members()).map(able).min().unwrap_or(Time::NEVER)
    }

    /// The current task's dispatch does not end before `limit`, or the task observes the end of its wait in
    /// it: runs up to there.
    fn stop(&mut self, rules: &impl FastForward, limit: Time, poll: Time, wanted: u64) -> Time {
        let (visible, cycle) = (visible_at(&self.tasks[self.cpu.current]), self.cycle(self.cpu.current));
        let unaware = polls_before(visible, poll, cycle);
        let before = cycles_before(limit, poll + self.prices.call, cycle);
        if before < wanted.min(unaware) {
            self.stay(rules, before);
            return limit;
        }
        if unaware == u64::MAX {
            return Time::NEVER;
        }
        self.stay(rules, unaware);
        self.look().sees(self.cpu.since + self.overhead, visible)
    }

    /// The current task goes through whole cycles and keeps the cpu.
    #[inline]
    fn stay(&mut self, rules: &impl FastForward, cycles: u64) {
        if cycles == 0 {
            return;
        }
        let (id, charged) = (self.cpu.current, self.cpu.charged);
        let cycle = self.cycle(id);
        let first = self.cpu.since + self.overhead + cycle;
        rules.yield_key(&mut self.tasks, &mut self.cpu, id, first);
        rules.picked(&mut self.tasks, &mut self.cpu, Picked::Again);
        if cycles > 1 {
            rules.yield_again(&mut self.tasks, &mut self.cpu, cycle, cycles - 1);
            rules.picked(&mut self.tasks, &mut self.cpu, Picked::Again);
        }
        self.count(cycles, charged, first + cycle * (cycles - 1));
    }

    /// The current task has gone through whole cycles, the last of which ends at `end`.
    #[inline]
    fn count(&mut self, cycles: u64, charged: Time, end: Time) {
        let done = &mut self.done[self.cpu.current.0 as usize];
        let task = &mut self.tasks[self.cpu.current];
        task.cpu_time += end - self.cpu.since;
        task.last_ran = end;
        done.cycles += cycles;
        done.charged += end.since(charged);
        self.cycles += cycles;
        self.overhead = Span::ZERO;
        self.cpu.since = end;
        self.cpu.charged = end;
    }

    /// The current task's cycle ends with a yield, and the next task is picked. False, with nothing changed,
    /// when that one does not poll.
    #[inline]
    pub(super) fn yields(&mut self, rules: &impl FastForward, end: Time) -> bool {
        let (id, charged) = (self.cpu.current, self.cpu.charged);
        let saved = if self.others { Some(self.before_yield()) } else { None };
        rules.yield_key(&mut self.tasks, &mut self.cpu, id, end);
        let target = if self.directed { self.target(end) } else { None };
        let next = target.or_else(|| rules.choose(&mut self.tasks, &mut self.cpu, Some(id), end));
        let next = next.unwrap_or(TaskId::NONE);
        if let Some(saved) = saved
            && !next.some().is_some_and(|next| polls(&self.tasks[next]))
        {
            self.undo_yield(saved);
            return false;
        }
        self.count(1, charged, end);
        if next == id {
            rules.picked(&mut self.tasks, &mut self.cpu, Picked::Again);
        } else {
            self.switch(rules, next);
        }
        true
    }

    #[inline]
    fn before_yield(&mut self) -> BeforeYield {
        self.around.clear();
        let groups = groups::all(&self.cpu).map(|id| &self.tasks[id]);
        self.around.extend(groups.map(|group| (group.vruntime, group.history.vdeadline)));
        let (cpu, task) = (&self.cpu, &self.tasks[self.cpu.current]);
        let rest = (task.history.vdeadline, task.history.share);
        (task.vruntime, cpu.min_vruntime, cpu.charged, rest)
    }

    #[inline]
    fn undo_yield(&mut self, (vruntime, minimum, charged, (vdeadline, share)): BeforeYield) {
        let task = &mut self.tasks[self.cpu.current];
        task.vruntime = vruntime;
        if let Some(history) = task.history.written() {
            (history.vdeadline, history.share) = (vdeadline, share);
        }
        (self.cpu.min_vruntime, self.cpu.charged) = (minimum, charged);
        for (id, (vruntime, vdeadline)) in groups::all(&self.cpu).zip(&self.around) {
            (self.tasks[id].vruntime, self.tasks[id].history.vdeadline) = (*vruntime, *vdeadline);
        }
    }

    /// The task that the current one's directed yield prefers: the first of the same application whose wait
    /// is over.
    fn target(&self, end: Time) -> Option<TaskId> {
        let current = &self.tasks[self.cpu.current];
        if !self.done[self.cpu.current.0 as usize].directed {
            return None;
        }
        let able = |task: &Task| !polls(task) || visible_at(task) <= end;
        let fits =
            |task: &Task| task.app() == current.app() && task.priority == current.priority && able(task);
        self.queue().find(|id| fits(&self.tasks[*id]))
    }

    /// The waiting tasks in order.
    pub(crate) fn queue(&self) -> impl Iterator<Item = TaskId> {
        std::iter::successors(self.cpu.head.some(), |id| self.tasks[*id].next.some())
    }

    /// The switch between two tasks.
    #[inline]
    pub(crate) fn cost(&self, from: &Task, to: &Task) -> Span {
        self.prices.between(self.cpu.several, from, to)
    }

    /// What of a switch is charged to keys.
    #[inline]
    pub(crate) const fn switch_charge(&self) -> Span {
        self.prices.charged(self.cpu.several)
    }

    /// The current task, which has yielded, goes into the queue, and `next` takes the cpu.
    #[inline]
    fn switch(&mut self, rules: &impl FastForward, next: TaskId) {
        let old = self.cpu.current;
        let now = self.cpu.since;
        let cost = self.cost(&self.tasks[old], &self.tasks[next]);
        self.done[old.0 as usize].switches += 1;
        self.switches += 1;
        self.before = old;
        run_queue::remove(&mut self.tasks, &mut self.cpu, next);
        run_queue::insert_by(rules, &mut self.tasks, &mut self.cpu, old);
        self.cpu.current = next;
        self.overhead = cost;
        self.switching += cost;
        self.cpu.charged = (now + cost).saturating_sub(self.switch_charge());
        rules.picked(&mut self.tasks, &mut self.cpu, Picked::Anew(now));
    }
}

/// The process of the task that was switched out last, to price the next switch.
pub(crate) fn last_process(copy: &QueueCopy, tasks: &Tasks) -> ProcessId {
    tasks[copy.done[copy.before.0 as usize].task].process
}
