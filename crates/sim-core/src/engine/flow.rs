//! Branches, clocks and devices of programs, and what tasks change of themselves.

use std::sync::Arc;

use crate::engine::Engine;
use crate::engine::execute::vary;
use crate::engine::invariants::violated;
use crate::engine::state::{Before, OnReturn};
use crate::ids::{CpuId, TaskId};
use crate::policy::{System, Why};
use crate::program::{Change, Op};
use crate::time::{Span, Time};

impl Engine<'_> {
    /// Performs an operation that few programs have; true when it takes time.
    #[cold]
    #[inline(never)]
    pub(super) fn perform_other(&mut self, cpu: CpuId, op: Op) -> bool {
        let id = self.cpus[cpu].current;
        match op {
            Op::Post { event, count, kept } => self.post_units(cpu, event, (count, kept)),
            Op::Take { event, count } => return self.take_units(cpu, event, count),
            Op::Arm(event) => self.shared.wait_ahead(id, event),
            Op::Meet { event, parties } => return self.meet_others(cpu, event, parties),
            Op::Until { .. } => {
                self.shared.end_response(id);
                let instant = self.next_instant(id, op);
                let call = self.shared.machine.costs.sleep;
                self.shared.begin_syscall(&mut self.cpus[cpu], call, OnReturn::Until(instant));
                return true;
            }
            Op::Io { span, spread, .. } => {
                let task = &mut self.shared.tasks[id];
                let program = &self.shared.apps[task.app()].program;
                let length = Span::from_ns(vary(program, task, span.ns(), spread).max(1));
                let call = self.shared.machine.costs.sleep;
                self.shared.begin_syscall(&mut self.cpus[cpu], call, OnReturn::Io(length));
                return true;
            }
            Op::Branch { share, to } => {
                let task = &mut self.shared.tasks[id];
                task.pc = if task.draw() < share { to } else { task.pc + 1 };
            }
            Op::Jump(to) => self.shared.tasks[id].pc = to,
            Op::Lead(to) => {
                let app = &self.shared.apps[self.shared.tasks[id].app()];
                let leads = app.rank(id).is_multiple_of(app.team);
                let task = &mut self.shared.tasks[id];
                task.pc = if leads { task.pc + 1 } else { to };
            }
            Op::Apart { with, tells, to } => {
                let app = &self.shared.apps[self.shared.tasks[id].app()];
                let (rank, ranks) = app.number(id);
                let partner =
                    rank.and_then(|rank| if tells { with.to(rank, ranks) } else { with.from(rank, ranks) });
                let task = &mut self.shared.tasks[id];
                task.pc = if partner.is_some() { task.pc + 1 } else { to };
            }
            Op::Set(change) => return self.change_self(cpu, change),
            Op::Work(pool) => return self.work_in(cpu, pool),
            Op::Message(with) => return self.message(cpu, with),
            Op::Done => {
                self.shared.tasks[id].pc += 1;
                self.shared.end_response(id);
            }
            _ => violated(id, cpu, "performs an operation that is begun elsewhere"),
        }
        false
    }

    /// The instant of a clock for which a task comes to wait.
    fn next_instant(&mut self, id: TaskId, op: Op) -> Time {
        let Op::Until { clock, first, period, skips } = op else {
            unreachable!("{id} comes to no clock");
        };
        let app = &mut self.shared.apps[self.shared.tasks[id].app()];
        let rank = app.rank(id) as usize;
        let slot = rank * app.program.clocks() + usize::from(clock);
        let begun = Some(app.renewed[rank]).filter(|at| !at.is_never()).unwrap_or(app.begun);
        let before = app.instants[slot];
        let mut instant =
            if before.is_never() { begun.saturating_add(first) } else { before.saturating_add(period) };
        if skips && instant < self.shared.now {
            let missed = self.shared.now.since(instant).ns().div_ceil(period.ns().max(1));
            app.counters.skipped += missed;
            instant = instant.saturating_add(Span::from_ns(period.ns().saturating_mul(missed)));
        }
        app.instants[slot] = instant;
        instant
    }

    /// The current task has called to sleep until an instant; false when that has passed.
    pub(super) fn sleeps_until(&mut self, cpu: CpuId, instant: Time) -> bool {
        let id = self.cpus[cpu].current;
        let task = &mut self.shared.tasks[id];
        task.pc += 1;
        task.history.woken = instant;
        let comes = instant > self.shared.now;
        self.shared.reports.begins(id, if comes { Time::NEVER } else { self.shared.now });
        if comes {
            self.sleep(cpu, Some(instant.since(self.shared.now)));
        } else if self.orders.releases {
            self.cpus[cpu].resched = true;
        }
        comes
    }

    /// The current task has given the device of its operation work of this length, and sleeps until that is
    /// done.
    pub(super) fn give_device(&mut self, cpu: CpuId, length: Span) {
        let id = self.cpus[cpu].current;
        let task = &mut self.shared.tasks[id];
        let op = self.shared.apps[task.app()].program.ops().get(usize::from(task.pc));
        let Some(Op::Io { device, .. }) = op else {
            violated(id, cpu, "gives a device work and is at no such operation");
        };
        task.pc += 1;
        let device = *device;
        let end = self.shared.objects.devices[device].serve(self.shared.now, length);
        self.sleep_beside(cpu, Some(end.since(self.shared.now)), Some(device));
    }

    /// The current task changes how it is scheduled; true when it has had to leave its cpu for that.
    fn change_self(&mut self, cpu: CpuId, change: u16) -> bool {
        const WHY: Why = Why::rule("the task changes its affinity mask");
        let id = self.cpus[cpu].current;
        let task = &mut self.shared.tasks[id];
        task.pc += 1;
        let app = task.app();
        let program = Arc::clone(&self.shared.apps[app].program);
        match &program.changes()[usize::from(change)] {
            Change::Weight(weight) => {
                if self.renice(id, *weight, false) && !self.keeps_weight(id) {
                    let present = self.shared.tasks[id].weight;
                    self.before(id).weight.get_or_insert(present);
                    self.reweigh(id, *weight);
                }
            }
            Change::Cpus(cpus) => {
                let mask = self.shared.apps[app].masks[usize::from(change)].clone();
                let present = self.shared.affinity(id).clone();
                self.before(id).cpus.get_or_insert(present);
                self.masked(id, cpus);
                let bound = System::set_affinity(self, id, mask, WHY);
                assert!(bound, "{id} is bound to cpus that exist");
            }
            Change::Class(scheduling) => self.change_class(id, *scheduling),
        }
        self.cpus[cpu].current != id
    }

    fn before(&mut self, id: TaskId) -> &mut Before {
        let app = self.shared.tasks[id].app();
        self.shared.apps[app].changed.entry(id).or_default()
    }
}
