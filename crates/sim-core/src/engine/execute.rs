//! Unrolling programs: what a task does next when an operation is over.

use crate::engine::Engine;
use crate::engine::invariants::violated;
use crate::engine::shared::Shared;
use crate::engine::state::{App, Cpu, OnReturn, Overhead, Stage, Task, Waiting};
use crate::ids::{CpuId, TaskId};
use crate::observe::LeaveReason;
use crate::policy::{Policy, TaskState};
use crate::program::{Op, Program, Spread, TransferOrder};
use crate::time::{Span, Time, Work};
use crate::wait::Scope;

/// The scope of a barrier operation.
const fn scope_of(op: &Op) -> Scope {
    match op {
        Op::TeamBarrier => Scope::Team,
        Op::Join => Scope::Join,
        Op::LeadersBarrier => Scope::Leaders,
        _ => Scope::All,
    }
}

/// Sets the work of a compute operation; false when there is none.
#[inline]
fn ask(app: &App, rank: u32, task: &mut Task, work: Work, spread: Spread) -> bool {
    let raw = vary(&app.program, task, work.raw(), spread);
    ask_for(app, rank, task, work, raw)
}

/// The same, of work whose variation has been drawn: so much, in raw units.
#[inline]
pub(super) fn ask_for(app: &App, rank: u32, task: &mut Task, work: Work, raw: u64) -> bool {
    let scale = if app.rank_scale.is_empty() { 1_000 } else { app.rank_scale[rank as usize] };
    let scaled = if scale == 1_000 {
        raw.min(Work::MAX.raw())
    } else {
        (u128::from(raw) * u128::from(scale) / 1_000).min(u128::from(Work::MAX.raw())) as u64
    };
    // Work that is asked for takes time: at least one unit in the last place.
    let raw = scaled.max(u64::from(work > Work::ZERO));
    task.ask(Work::from_raw(raw));
    raw > 0
}

/// A value varied by the task's next draw. The draw is taken whether or not there is variation.
#[inline]
pub(super) fn vary(program: &Program, task: &mut Task, mean: u64, spread: Spread) -> u64 {
    let draw = task.draw();
    if spread == Spread::NONE { mean } else { program.vary(mean, spread, draw) }
}

/// Sets up the next block of a bulk transfer, which a core reads at this bandwidth; false (and on to the next
/// operation) when all are read.
fn next_block(
    app: &App,
    rank: u32,
    task: &mut Task,
    (block, order): (u64, TransferOrder),
    bandwidth: u64,
) -> bool {
    let ns = u128::from(block) * 1_000_000_000 / u128::from(bandwidth.max(1));
    let ns = ns.min(u128::from(u64::MAX)) as u64;
    // No task reads its own block.
    let own = match order {
        TransferOrder::Sequential => rank,
        TransferOrder::Rotated => app.tasks - 1,
    };
    let read = &mut task.history.block;
    if *read == own {
        *read += 1;
    }
    if *read >= app.tasks || ns == 0 {
        *read = 0;
        task.pc += 1;
        return false;
    }
    *read += 1;
    task.profile = (app.profiles - 1) as u16;
    task.ask(Work::from_span(Span::from_ns(ns)));
    true
}

/// What comes next in a program.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Ahead {
    /// A compute operation, set up.
    Compute,
    /// A barrier.
    Barrier,
    /// Another operation.
    Other(Op),
    /// Nothing: the program is over.
    Exit,
}

impl Shared<'_> {
    /// Continues with the program up to the next operation other than a loop. Begins it, after the pending
    /// overhead, if it is a computation on private pages; else returns it.
    #[inline]
    pub(crate) fn advance_program(&mut self, record: &mut Cpu) -> Option<Ahead> {
        match self.next_operation(record) {
            Ahead::Compute if self.begin_at_home(record) => None,
            ahead => Some(ahead),
        }
    }

    #[inline]
    fn next_operation(&mut self, record: &Cpu) -> Ahead {
        let task = &mut self.tasks[record.current];
        let app = &mut self.apps[task.app()];
        let (ops, rank) = (app.program.ops(), app.rank(record.current));
        loop {
            let Some(op) = ops.get(usize::from(task.pc)) else { return Ahead::Exit };
            match op {
                Op::Serial { .. } if rank != 0 => task.pc += 1,
                Op::Compute { work, spread, profile } | Op::Serial { work, spread, profile } => {
                    task.pc += 1;
                    if ask(app, rank, task, *work, *spread) {
                        task.profile = (app.profiles + profile.0) as u16;
                        return Ahead::Compute;
                    }
                }
                Op::LeadersBarrier if !rank.is_multiple_of(app.team) => task.pc += 1,
                Op::Barrier | Op::TeamBarrier | Op::Join | Op::LeadersBarrier => {
                    task.enters(scope_of(op));
                    return Ahead::Barrier;
                }
                Op::Repeat(_) | Op::End => {
                    let outermost = *op == Op::End && app.program.loops_around(task.pc) == 1;
                    app.passes += u64::from(rank == 0 && outermost);
                    step_loop(&app.program, task);
                }
                other => return Ahead::Other(*other),
            }
        }
    }
}

/// Enters a loop, or goes from its end back to its start or on.
fn step_loop(program: &Program, task: &mut Task) {
    if let Some(Op::Repeat(times)) = program.ops().get(usize::from(task.pc)) {
        return task.enter_loop(program, *times);
    }
    let start = program.partner(task.pc.into()) as u16;
    if matches!(program.ops().get(usize::from(start)), Some(Op::RepeatShared(_))) {
        // Whether there is another pass is asked there.
        task.pc = start;
        return;
    }
    // 0 means "forever".
    if task.passes == 1 {
        task.leave_loop(program, start);
    } else {
        task.passes = task.passes.saturating_sub(1);
        task.pc = start + 1;
    }
}

impl Engine<'_> {
    /// The current task of `cpu` continues with its program, after the pending overhead, up to the next
    /// operation that takes time.
    pub(crate) fn proceed(&mut self, cpu: CpuId, policy: &mut dyn Policy) {
        let starting = self.shared.tasks[self.cpus[cpu].current].stage != Stage::Program;
        if starting && self.starts_up(cpu, policy) {
            return;
        }
        // What comes next in the program is begun, until something takes time.
        while let Some(next) = self.shared.advance_program(&mut self.cpus[cpu]) {
            match next {
                Ahead::Compute => return self.shared.begin_compute(&mut self.cpus[cpu]),
                Ahead::Barrier => return self.arrive(cpu),
                Ahead::Exit => return self.exit(cpu, policy),
                Ahead::Other(op) => {
                    if self.perform(cpu, op) {
                        return;
                    }
                }
            }
        }
    }

    /// Performs an operation; true when it takes time.
    fn perform(&mut self, cpu: CpuId, op: Op) -> bool {
        let id = self.cpus[cpu].current;
        let (app, pc) = (self.shared.tasks[id].app(), self.shared.tasks[id].pc);
        let rank = self.shared.apps[app].rank(id);
        match op {
            Op::Transfer { block, order } => {
                let bandwidth = self.shared.machine.memory.core_bandwidth;
                let app = &self.shared.apps[app];
                if next_block(app, rank, &mut self.shared.tasks[id], (block, order), bandwidth) {
                    self.shared.begin_compute(&mut self.cpus[cpu]);
                    return true;
                }
            }
            Op::Exchange { shift } => {
                self.exchange(cpu, shift);
                return true;
            }
            Op::Lock(lock) => {
                return !self.lock(cpu, lock);
            }
            Op::Unlock(lock) => {
                self.shared.tasks[id].pc += 1;
                self.unlock(cpu, lock);
            }
            Op::Sleep { .. } | Op::Yield | Op::Respawn => {
                let ends = match op {
                    Op::Sleep { .. } => self.shared.apps[app].sleeps_answer,
                    _ => op == Op::Respawn,
                };
                if ends {
                    self.shared.end_response(id);
                }
                let (call, after) = self.call(id, op);
                self.shared.begin_syscall(&mut self.cpus[cpu], call, after);
                return true;
            }
            Op::StartClock => {
                self.shared.tasks[id].pc += 1;
                let now = self.shared.elapsed();
                self.shared.apps[app].clock.get_or_insert(now);
            }
            Op::RepeatShared(passes) => {
                let app = &mut self.shared.apps[app];
                let again = app.loops.take(pc.into(), rank, passes);
                self.shared.tasks[id].pc = if again { pc } else { app.program.partner(pc.into()) as u16 } + 1;
            }
            // `next_operation` handles these.
            Op::Compute { .. }
            | Op::Serial { .. }
            | Op::Barrier
            | Op::TeamBarrier
            | Op::Join
            | Op::LeadersBarrier
            | Op::Repeat(_)
            | Op::End => violated(id, cpu, "performs an operation that is begun elsewhere"),
            other => return self.perform_other(cpu, other),
        }
        false
    }

    /// The system call that an operation is: its length and what follows.
    fn call(&mut self, id: TaskId, op: Op) -> (Span, OnReturn) {
        let costs = &self.shared.machine.costs;
        // At least 1 ns, so that a loop of calls takes time.
        let least = Span::from_ns(1);
        let (sleep, yields, fork) = (costs.sleep, costs.yield_call.max(least), costs.fork.max(least));
        match op {
            Op::Sleep { span, spread } => {
                let task = &mut self.shared.tasks[id];
                let app = &mut self.shared.apps[task.app()];
                let span = vary(&app.program, task, span.ns(), spread).max(1);
                (sleep, OnReturn::Nap(Span::from_ns(span)))
            }
            Op::Respawn => (fork, OnReturn::Respawn),
            Op::Yield => (yields, OnReturn::Yield),
            _ => unreachable!("an operation that is no system call"),
        }
    }

    /// The current task begins to wait.
    #[inline(always)]
    pub(crate) fn begin_wait(&mut self, cpu: CpuId, waiting: Waiting, ready: Time) {
        self.charge_waiter(cpu);
        self.shared.begin_wait(&mut self.cpus[cpu], waiting, ready);
    }

    /// The last operation is behind the current task.
    fn exit(&mut self, cpu: CpuId, policy: &mut dyn Policy) {
        let id = self.cpus[cpu].current;
        self.shared.emit_running(&mut self.cpus[cpu]);
        self.shared.end_response(id);
        // Nothing follows that could be delayed.
        self.cpus[cpu].overhead = Overhead::NONE;
        self.shared.not_runnable(id, TaskState::Exited);
        self.leave(cpu, LeaveReason::Exited);
        let app = self.shared.tasks[id].app();
        self.shared.apps[app].exited += 1;
        let (exited, tasks) = (self.shared.apps[app].exited, self.shared.apps[app].tasks);
        assert!(exited <= tasks, "{id} is the {exited}-th of {tasks} tasks of {app} to end");
        if self.shared.apps[app].exited == self.shared.apps[app].tasks {
            self.app_ends(app, policy);
        }
    }
}
