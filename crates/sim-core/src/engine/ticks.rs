//! Timer ticks: when they are, and what passes with them.

use crate::engine::Engine;
use crate::engine::state::{Activity, Cpu};
use crate::event::Tournament;
use crate::ids::CpuId;
use crate::machine::Machine;
use crate::os::OsModel;
use crate::run_queue::Rules;
use crate::time::{Span, Time};

/// When ticks are.
pub(crate) struct Ticks {
    /// How far the ticks of a cpu are behind those of the cpu before it, ns.
    step: u64,
    /// The next tick of each cpu, where there are task groups.
    next: Tournament,
}

impl Ticks {
    pub(crate) fn new(machine: &Machine, model: &OsModel) -> Self {
        let cpus = if model.groups.is_empty() { 0 } else { machine.cpus() as usize };
        let mut next = Tournament::new(cpus);
        (0..cpus).for_each(|cpu| next.set(cpu, Time::ZERO));
        let step = if model.tick_skew { model.tick.ns() / 2 / u64::from(machine.cpus()) } else { 0 };
        Self { step, next }
    }

    /// The first tick of a cpu at or after an instant.
    pub(crate) fn at_or_after(&self, model: &OsModel, record: &Cpu, at: Time) -> Time {
        let (period, phase) = (model.tick.ns(), self.step * u64::from(record.id.0));
        let Some(ticks) = model.discipline.ticks() else {
            let periods = at.ns().saturating_sub(phase).div_ceil(period);
            return Time::from_ns(phase.saturating_add(periods.saturating_mul(period)));
        };
        // Each is late by less than a period: the last one that is due by now, or the one after it.
        let due = at.ns().saturating_sub(phase) / period;
        let tick = |n: u64| {
            let late = ticks.lateness(record.rare.tick_key, n);
            Time::from_ns(phase.saturating_add(n.saturating_mul(period)).saturating_add(late.ns()))
        };
        if tick(due) >= at { tick(due) } else { tick(due + 1) }
    }
}

impl Engine<'_> {
    /// Processes the timer ticks of a cpu since the last time. One within a poll-and-yield cycle has no
    /// effect that the yield does not have.
    #[inline(always)]
    pub(crate) fn pass_ticks(&mut self, cpu: CpuId) {
        // It is never where ticks are computed only when they matter.
        if self.cpus[cpu].rare.next_tick <= self.shared.now {
            self.pass_due_ticks(cpu);
        }
    }

    #[cold]
    fn pass_due_ticks(&mut self, cpu: CpuId) {
        while self.cpus[cpu].rare.next_tick <= self.shared.now {
            self.pass_tick(cpu);
        }
    }

    /// Processes the ticks up to this instant on all cpus before anything else happens: with task groups they
    /// read what is queued on other cpus, and take cpu time out of pools, first come first served.
    #[inline]
    pub(crate) fn pass_all_ticks(&mut self) {
        while self.ticks.next.earliest() <= self.shared.now {
            self.pass_tick(CpuId(self.ticks.next.first() as u32));
        }
    }

    /// Processes the next tick of a cpu; all that are due while it does not compute.
    fn pass_tick(&mut self, cpu: CpuId) {
        let (model, record) = (&self.shared.model, &mut self.cpus[cpu]);
        let busy = !record.current.is_none() && record.activity != Activity::Poll;
        let from = if busy { record.rare.next_tick } else { self.shared.now };
        let next = self.ticks.at_or_after(model, record, from + Span::from_ns(1));
        if busy {
            model.discipline.tick(&mut self.shared.tasks, record, from);
            if record.activity != Activity::Syscall {
                record.returns(from == self.shared.now);
            }
        }
        record.rare.next_tick = next;
        if !model.groups.is_empty() {
            self.ticks.next.set(cpu.0 as usize, next);
        }
    }
}
