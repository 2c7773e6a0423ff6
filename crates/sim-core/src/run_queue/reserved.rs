//! What tasks of `SCHED_DEADLINE` change in the queue of a cpu (kernel/sched/deadline.c): their runtime goes,
//! they are throttled, and their next period begins.

use crate::engine::state::Cpu;
use crate::ids::TaskId;
use crate::run_queue::real_time::{RealTime, reservation};
use crate::run_queue::{Rules as _, Tasks, insert_by, remove};
use crate::time::{Span, Time};

impl RealTime {
    /// A timer ends the runtime of a task.
    fn has_timer(&self) -> bool {
        self.rules.deadline.is_some_and(|rules| rules.timer)
    }

    /// When the runtime of the current task, of `SCHED_DEADLINE`, is looked at: at its end with `timer`,
    /// otherwise at the tick after it; or when the fair server begins.
    pub(super) fn end_of_runtime(
        &self,
        tasks: &Tasks,
        cpu: &Cpu,
        (id, now): (TaskId, Time),
        next_tick: impl Fn(Time) -> Time,
    ) -> Time {
        let soon = now + Span::from_ns(1);
        let end = cpu.charged.saturating_add(Span::from_ns(tasks[id].history.cbs.left())).max(soon);
        if self.below.ticks().is_some() {
            let begins = self.begins(tasks, cpu).max(soon).min(cpu.rare.next_tick);
            return if self.has_timer() { begins.min(end) } else { begins };
        }
        next_tick(end)
    }

    /// The current task, of `SCHED_DEADLINE`, has run up to now.
    pub(super) fn run_reserved(
        &self,
        tasks: &mut Tasks,
        cpu: &mut Cpu,
        (id, span): (TaskId, Span),
        now: Time,
    ) {
        tasks[id].history.cbs.run(span);
        let class = &mut cpu.rare.class;
        if self.limits() && class.ran < self.rules.runtime.ns() {
            class.ran += span.ns();
        }
        cpu.resched |= self.has_timer() && tasks[id].history.cbs.left() == 0;
        cpu.resched |= now >= self.begins(tasks, cpu);
    }

    /// The current task may have used up what it has reserved. True when it is throttled.
    pub(super) fn look(&self, tasks: &mut Tasks, cpu: &mut Cpu, id: TaskId, now: Time) -> bool {
        let Some(of) = reservation(&tasks[id]) else { return false };
        let before = tasks[id].history.cbs.deadline();
        let throttled = tasks[id].history.cbs.look(&of, now);
        if throttled || tasks[id].history.cbs.deadline() != before {
            tasks[id].priority = cpu.rare.class.level(&tasks[id]);
            cpu.resched = true;
        }
        throttled
    }

    /// The next period of a throttled task begins (`dl_task_timer`).
    pub(crate) fn replenish(&self, tasks: &mut Tasks, cpu: &mut Cpu, (id, now): (TaskId, Time)) {
        let Some(of) = reservation(&tasks[id]) else { return };
        let waits = cpu.current != id;
        if waits {
            remove(tasks, cpu, id);
        }
        tasks[id].history.cbs.replenish(&of, now);
        tasks[id].priority = cpu.rare.class.level(&tasks[id]);
        tasks[id].history.share.front = false;
        if waits {
            insert_by(self, tasks, cpu, id);
        }
    }
}
