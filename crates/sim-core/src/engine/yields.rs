//! The clock of a runtime that switches the yields of its waiters off and on.

use crate::engine::Engine;
use crate::engine::state::{Activity, Waiting};
use crate::event::Timer;
use crate::ids::{AppId, TaskId};
use crate::policy::TaskState;
use crate::rng::{Purpose, below, draw, key};
use crate::time::{Span, Time};

impl Engine<'_> {
    /// An application starts: the clock of its runtime does, too, with yields off or at a random instant of
    /// its cycle.
    pub(crate) fn begin_yield_cycle(&mut self, app: AppId) {
        let record = &mut self.shared.apps[app];
        let Some(cycle) = record.runtime.polling.cycle.filter(|_| record.runtime.wait.yields()) else {
            return;
        };
        let whole = cycle.off.ns() + cycle.on.ns();
        let drawn = draw(key(self.shared.options.seed, Purpose::YieldPhase, u64::from(app.0)), 0);
        let phase = if cycle.random { below(whole, drawn) } else { 0 };
        record.yields = phase >= cycle.off.ns();
        let end = if record.yields { whole } else { cycle.off.ns() };
        self.timers.arm(self.shared.now.saturating_add(Span::from_ns(end - phase)), Timer::Yields(app));
    }

    /// The clock of an application's runtime switches. A waiter that polls begins its poll anew, so that what
    /// follows is the same whether each poll is an event or not.
    pub(crate) fn switch_yields(&mut self, app: AppId) {
        let record = &mut self.shared.apps[app];
        let Some(cycle) = record.runtime.polling.cycle.filter(|_| record.end.is_none()) else { return };
        let all = (0..record.tasks).map(|rank| record.task(rank));
        let waiters: Vec<TaskId> = all.filter(|id| self.shared.tasks[*id].waiting != Waiting::No).collect();
        for task in &waiters {
            let task = &self.shared.tasks[*task];
            let cpu = task.cpu;
            if matches!(task.state, TaskState::Queued | TaskState::Running)
                && matches!(self.cpus[cpu].activity, Activity::Poll | Activity::Spin)
            {
                self.settle(cpu);
                self.pass_ticks(cpu);
                self.mark(cpu);
            }
        }
        let record = &mut self.shared.apps[app];
        record.yields = !record.yields;
        let next = if record.yields { cycle.on } else { cycle.off };
        self.timers.arm(self.shared.now.saturating_add(next), Timer::Yields(app));
        for task in waiters {
            let record = &self.shared.tasks[task];
            let (cpu, polls) = (record.cpu, self.shared.apps[app].polls(record.waiting));
            let open = record.state == TaskState::Running
                && matches!(self.cpus[cpu].activity, Activity::Poll | Activity::Spin);
            if open {
                self.close_segment(cpu);
                self.cpus[cpu].take_deferred();
                // A slice that was armed does not end a poll.
                self.cpus[cpu].slice_end = Time::NEVER;
            }
            self.shared.tasks[task].polls = polls;
            if open {
                self.begin_polling(cpu);
                // A sibling computes at another speed beside a task that spins than beside one that yields.
                self.shared.cores.touch(cpu);
            }
        }
    }
}
