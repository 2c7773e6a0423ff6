//! Plain virtual time: the task with the least runs next.
//!
//! This is stride scheduling in continuous time (Waldspurger and Weihl 1995), and the order of the simplest
//! sched_ext schedulers. Neither sleepers nor forked tasks get a credit or a debit, and none preempts.

use crate::engine::state::Cpu;
use crate::ids::TaskId;
use crate::run_queue::cfs::{follow_least, weighted};
use crate::run_queue::{Entry, FastForward, Picks, Rules, Tasks, at_least_1us};
use crate::time::{Span, Time};

/// Parameters of plain virtual time.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct VirtualTimeParams {
    /// How long a task runs, up to the next timer tick, before another one is picked; at least 1 us.
    pub slice: Span,
}

impl Rules for VirtualTimeParams {
    fn check(&self, _: Span) -> Result<(), String> {
        at_least_1us("slice", self.slice)
    }

    fn keeps_history(&self) -> bool {
        false
    }

    fn place(&self, tasks: &mut Tasks, cpu: &mut Cpu, id: TaskId, entry: Entry, _: Time) {
        if entry != Entry::Move {
            tasks[id].vruntime = tasks[id].vruntime.max(cpu.min_vruntime);
        }
    }

    #[inline]
    fn charge(&self, tasks: &mut Tasks, cpu: &mut Cpu, now: Time) {
        if now > cpu.charged {
            let task = &mut tasks[cpu.current];
            task.vruntime += weighted(now - cpu.charged, task.weight);
        }
        follow_least(tasks, cpu, true);
    }

    #[inline]
    fn advance_minimum(&self, tasks: &Tasks, cpu: &mut Cpu) {
        follow_least(tasks, cpu, true);
    }

    fn slice_end(&self, _: &Tasks, cpu: &Cpu, now: Time, next_tick: impl Fn(Time) -> Time) -> Time {
        next_tick((cpu.picked + self.slice).max(now + Span::from_ns(1)))
    }

    fn preempts(&self, _: &mut Tasks, _: &mut Cpu, _: TaskId, _: Time) -> bool {
        false
    }

    fn prefers(&self, _: &Tasks, _: &Cpu, _: TaskId, gap: i64) -> bool {
        gap <= self.slice.ns() as i64
    }

    fn yield_key(&self, tasks: &mut Tasks, cpu: &mut Cpu, _: TaskId, now: Time) {
        self.charge(tasks, cpu, now);
        cpu.charged = cpu.charged.max(now);
    }
}

impl FastForward for VirtualTimeParams {
    fn picks(&self) -> Picks {
        Picks::ByKey(None)
    }
}
