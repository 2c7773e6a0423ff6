//! A cpu is brought up to date from outside: its polls, and what its current task is charged.

use crate::engine::state::Activity;
use crate::engine::{Change, Engine};
use crate::ids::{CpuId, TaskId};
use crate::run_queue::Rules;

impl Engine<'_> {
    /// Settles and charges a cpu from outside; where tasks poll, the end of their polling is predicted anew.
    /// The cpu picks again at once where the current task has used up its request (`resched_curr`), and a
    /// timer that ends a request is set anew: virtual time is rounded at each charge.
    pub(crate) fn catch_up(&mut self, cpu: CpuId) {
        self.settle(cpu);
        let asked = self.cpus[cpu].resched;
        self.charge(cpu);
        let record = &self.cpus[cpu];
        let ends_request = !record.slice_end.is_never() && record.slice_end < record.rare.next_tick;
        let ends_request = ends_request && self.shared.model.discipline.ticks().is_some();
        if record.activity == Activity::Poll || (record.resched && !asked) || ends_request {
            self.shared.rounds.mark(cpu);
        }
    }

    /// A sleeping task that still competes on its cpu leaves it.
    pub(crate) fn end_delay(&mut self, id: TaskId) {
        let cpu = self.shared.tasks[id].cpu;
        self.catch_up(cpu);
        let Some(groups) = self.shared.model.discipline.groups() else { return };
        groups.end_delay(&mut self.shared.tasks, &mut self.cpus[cpu], id, self.shared.now);
        self.notices.push((id, cpu, Change::Dequeued));
    }

    /// Charges the current task of a cpu for the time until now.
    #[inline]
    pub(crate) fn charge(&mut self, cpu: CpuId) {
        self.pass_ticks(cpu);
        self.shared.charge(&mut self.cpus[cpu]);
    }

    /// The current task begins to wait and is charged up to here. Where tasks are charged at ticks, not just
    /// because it changes from computing to polling.
    #[inline]
    pub(crate) fn charge_waiter(&mut self, cpu: CpuId) {
        if self.shared.model.discipline.ticks().is_none() {
            self.charge(cpu);
        }
    }
}
