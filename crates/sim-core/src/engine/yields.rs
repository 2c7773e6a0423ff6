//! The clock of a runtime that switches the yields of its waiters off and on.

use crate::engine::Engine;
use crate::engine::state::{Activity, Waiting};
use crate::event::Timer;
use crate::ids::{AppId, TaskId};
use crate::policy::TaskState;
use crate::rng::{Purpose, below, draw, key};
use crate::time::{Span, Time};

impl Engine<'_> {
    /// An application starts: the clocks of its runtimes do, too, with yields off or at a random instant of
    /// their cycle.
    pub(crate) fn begin_yield_cycles(&mut self, app: AppId) {
        for handler in self.shared.apps[app].handlers() {
            self.begin_yield_cycle(app, handler);
        }
    }

    fn begin_yield_cycle(&mut self, app: AppId, handler: u8) {
        let record = &mut self.shared.apps[app];
        let runtime = record.runtime_of(handler);
        let Some(cycle) = runtime.polling.cycle.filter(|_| runtime.wait.yields()) else {
            return;
        };
        let whole = cycle.off.ns() + cycle.on.ns();
        let drawn = draw(key(self.shared.options.seed, Purpose::YieldPhase, u64::from(app.0)), 0);
        let phase = if cycle.random { below(whole, drawn) } else { 0 };
        *record.yields_mut(handler) = phase >= cycle.off.ns();
        let end = if phase >= cycle.off.ns() { whole } else { cycle.off.ns() };
        let at = self.shared.now.saturating_add(Span::from_ns(end - phase));
        self.timers.arm(at, Timer::Yields(app, handler));
    }

    /// The clock of a runtime of an application switches. A waiter that polls under it begins its poll anew,
    /// so that what follows is the same whether each poll is an event or not.
    pub(crate) fn switch_yields(&mut self, app: AppId, handler: u8) {
        let record = &self.shared.apps[app];
        let cycle = record.runtime_of(handler).polling.cycle;
        let Some(cycle) = cycle.filter(|_| record.end.is_none()) else { return };
        let waits = |id: &TaskId| {
            let task = &self.shared.tasks[*id];
            !matches!(task.waiting, Waiting::No | Waiting::Lock)
                && record.handler(task, task.waiting) == handler
        };
        let waiters: Vec<TaskId> = (0..record.tasks).map(|rank| record.task(rank)).filter(waits).collect();
        for task in &waiters {
            let task = &self.shared.tasks[*task];
            let cpu = task.cpu;
            if matches!(task.state, TaskState::Queued | TaskState::Running)
                && matches!(self.cpus[cpu].activity, Activity::Poll | Activity::Spin)
            {
                self.settle(cpu);
                self.pass_ticks(cpu);
                self.shared.rounds.mark(cpu);
            }
        }
        let yields = self.shared.apps[app].yields_mut(handler);
        *yields = !*yields;
        let next = if *yields { cycle.on } else { cycle.off };
        self.timers.arm(self.shared.now.saturating_add(next), Timer::Yields(app, handler));
        for task in waiters {
            let record = &self.shared.tasks[task];
            let (cpu, polls) = (record.cpu, self.shared.apps[app].polls(record.waiting, handler));
            let open = record.state == TaskState::Running
                && matches!(self.cpus[cpu].activity, Activity::Poll | Activity::Spin);
            if open {
                self.shared.close_segment(&mut self.cpus[cpu]);
                self.cpus[cpu].take_deferred();
                // A slice that was armed does not end a poll.
                self.cpus[cpu].slice_end = Time::NEVER;
            }
            self.shared.tasks[task].polls = polls;
            if open {
                self.shared.begin_polling(&mut self.cpus[cpu]);
                // A sibling computes at another speed beside a task that spins than beside one that yields.
                self.shared.segments.touch(cpu);
            }
        }
    }
}
