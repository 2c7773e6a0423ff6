//! The record of a task.

use crate::engine::state::{Boxed, Cpu, History, MaybeNode, NOWHERE, ProcessId};
use crate::ids::{AppId, CpuId, TaskId};
use crate::policy::{Awaited, THROTTLED, TaskState};
use crate::program::Program;
use crate::rng;
use crate::time::{Span, Time, Work};
use crate::wait::Scope;

/// What a waiting task waits for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Waiting {
    /// Nothing: it does not wait.
    No,
    /// Its children in the gather phase of a tree barrier.
    Gather,
    /// The release of a barrier.
    Release,
    /// A round of a dissemination barrier.
    Round(u8),
    /// A neighbour's signal.
    Exchange,
    /// A lock.
    Lock,
    /// Units of a counted event, or the others that meet there.
    Event,
    /// A job of a pool that is ready, or the end of its pass.
    Job,
}

impl Waiting {
    /// The same in the terms of the policy contract, at a barrier of these.
    pub(crate) const fn awaited(self, scope: Scope) -> Awaited {
        match self {
            Self::Exchange => Awaited::Neighbour,
            Self::Lock => Awaited::Lock,
            Self::Event | Self::Job => Awaited::Event,
            Self::No | Self::Gather | Self::Release | Self::Round(_) => Awaited::Barrier(scope),
        }
    }
}

/// How far a task's start-up is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Stage {
    /// It has not got beyond creating others and touching its data.
    New,
    /// The first rank of a team, it waits for those of other teams; then it creates the others of its own.
    LeadersBarrier,
    /// It has met them.
    Leader,
    /// It waits at the start-up barrier.
    StartBarrier,
    /// It runs its program.
    Program,
}

/// A task, in two cache lines. The order of the fields is that of their use: what one event touches lies
/// together in memory. What few tasks have is apart ([`History`]).
#[derive(Clone, Debug)]
#[repr(C, align(64))]
pub(crate) struct Task {
    // Its position: all that the run queue and polling read, one line.
    /// The key of its queue: virtual runtime, or what the discipline orders by.
    pub(crate) vruntime: i64,
    /// When a poll observes something: what it waits for, or that it is to stop polling and sleep.
    pub(crate) visible: Time,
    pub(crate) last_ran: Time,
    pub(crate) cpu_time: Span,
    pub(crate) history: Boxed<History>,
    pub(crate) previous: TaskId,
    pub(crate) next: TaskId,
    pub(crate) cpu: CpuId,
    pub(crate) weight: u32,
    /// Its application; [`Task::app`].
    app: u16,
    pub(crate) priority: u8,
    pub(crate) state: TaskState,
    /// It waits and yields: how it polls before each yield, a number of
    /// [`Segments::look`](crate::engine::segments::Segments::look); 0 if it does not.
    pub(crate) polls: u8,
    pub(crate) stage: Stage,
    pub(crate) waiting: Waiting,
    // What it does: computations and arrivals.
    /// While it waits when what it waits for is visible to it, ns; else the work of the present compute
    /// operation still to do. One field for both: a task that waits has done its work.
    remaining_or_ready: u64,
    /// At a barrier when it arrived there, elsewhere what is left of a cache refill that was interrupted;
    /// ns. One field for both: a task that arrives has computed.
    arrived_or_refill: u64,
    /// What had been brought into the caches of the cpu where it last computed by then.
    pub(crate) filled: u64,
    /// Position in its stream of work variation.
    noise: u64,
    /// Work asked for so far, in raw units, modulo 2^64: five hours of it ([`Task::asked`]).
    asked: u64,
    pub(crate) process: ProcessId,
    /// Where it last computed; [`NOWHERE`] at first.
    pub(crate) warm: CpuId,
    /// Episode of the barrier it is at or was at last.
    pub(crate) episode: u32,
    /// Where its pages are, once they have been touched.
    pub(crate) home: MaybeNode,
    /// Passes left of the innermost loop around `pc`, the present one included; 0: endless.
    pub(crate) passes: u32,
    /// Position in the program, of at most [`crate::limits::MAX_OPS`].
    pub(crate) pc: u16,
    /// Profile of the running compute operation (index into the run's table).
    pub(crate) profile: u16,
}

impl Task {
    /// A task that does not exist yet. `noise`: key of its stream of work variation.
    pub(crate) const fn new(app: AppId, weight: u32, process: ProcessId, noise: u64) -> Self {
        Self {
            vruntime: 0,
            visible: Time::NEVER,
            last_ran: Time::ZERO,
            cpu_time: Span::ZERO,
            history: Boxed::NONE,
            previous: TaskId::NONE,
            next: TaskId::NONE,
            cpu: CpuId(0),
            weight,
            app: app.0 as u16,
            priority: 0,
            state: TaskState::New,
            polls: 0,
            stage: Stage::New,
            waiting: Waiting::No,
            remaining_or_ready: 0,
            arrived_or_refill: 0,
            filled: 0,
            noise,
            asked: 0,
            process,
            warm: NOWHERE,
            episode: 0,
            home: MaybeNode::NONE,
            passes: 0,
            pc: 0,
            profile: 0,
        }
    }

    /// Its application; there are at most [`crate::limits::MAX_APPS`].
    #[inline]
    pub(crate) const fn app(&self) -> AppId {
        AppId(self.app as u32)
    }

    /// Work of the present compute operation still to do, at nominal speed, of a task that does not wait.
    #[inline]
    pub(crate) fn remaining(&self) -> Work {
        debug_assert!(self.waiting == Waiting::No, "a task that waits ({:?}) has no work", self.waiting);
        Work::from_raw(self.remaining_or_ready)
    }

    /// Sets the work still to do of a task that does not wait.
    #[inline]
    pub(crate) fn set_remaining(&mut self, work: Work) {
        debug_assert!(self.waiting == Waiting::No, "a task that waits ({:?}) gets work", self.waiting);
        self.remaining_or_ready = work.raw();
    }

    /// When what it waits for is (or will be) visible to it.
    #[inline]
    pub(crate) fn ready(&self) -> Time {
        debug_assert!(self.waiting != Waiting::No, "a task waits for nothing");
        Time::from_ns(self.remaining_or_ready)
    }

    /// What it waits for is visible then, and not later than was known.
    #[inline]
    pub(crate) fn set_ready(&mut self, ready: Time) {
        debug_assert!(ready <= self.ready(), "visible at {ready:?} instead of {:?}", self.ready());
        self.remaining_or_ready = ready.ns();
        self.visible = ready.min(self.visible);
    }

    /// What it waits for is visible to it then, as it finds now: not later than it stops polling.
    #[inline]
    pub(crate) fn look(&mut self, ready: Time, deadline: Time) {
        debug_assert!(self.waiting == Waiting::Lock, "a task looks again and waits for {:?}", self.waiting);
        self.remaining_or_ready = ready.ns();
        self.visible = ready.min(deadline);
    }

    /// It waits for this from now on, and stops polling and sleeps at `deadline`.
    #[inline]
    pub(crate) fn begin_wait(&mut self, waiting: Waiting, ready: Time, deadline: Time) {
        debug_assert!(self.waiting == Waiting::No, "a task begins a second wait");
        debug_assert!(waiting != Waiting::No, "a task begins to wait for nothing");
        debug_assert!(self.remaining() == Work::ZERO, "a task waits and has {:?} left", self.remaining());
        self.waiting = waiting;
        self.remaining_or_ready = ready.ns();
        self.visible = ready.min(deadline);
    }

    /// It waits no more; returns what it has waited for.
    #[inline]
    pub(crate) const fn end_wait(&mut self) -> Waiting {
        self.remaining_or_ready = 0;
        self.visible = Time::NEVER;
        std::mem::replace(&mut self.waiting, Waiting::No)
    }

    /// Who meets at the barrier it is at or was at last.
    #[inline]
    pub(crate) fn scope(&self) -> Scope {
        self.history.scope
    }

    /// It comes to a barrier of these.
    #[inline]
    pub(crate) fn enters(&mut self, scope: Scope) {
        let before = self.scope();
        if scope != before {
            let history = &mut *self.history;
            history.elsewhere[before as usize] = self.episode;
            self.episode = history.elsewhere[scope as usize];
            history.scope = scope;
        }
    }

    /// It arrives at a barrier. A task whose work ended within its refill, because others left the memory to
    /// it, keeps what is left of that.
    #[inline]
    pub(crate) fn arrive(&mut self, now: Time) {
        if self.arrived_or_refill > 0 {
            self.history.refill = self.refill();
        }
        self.arrived_or_refill = now.ns();
    }

    /// It is past its barrier; returns when it arrived there.
    #[inline]
    pub(crate) fn pass(&mut self) -> Time {
        let refill = self.history.written().map_or(Span::ZERO, |history| std::mem::take(&mut history.refill));
        Time::from_ns(std::mem::replace(&mut self.arrived_or_refill, refill.ns()))
    }

    /// What is left of an interrupted refill of a task that is at no barrier.
    #[inline]
    pub(crate) const fn refill(&self) -> Span {
        Span::from_ns(self.arrived_or_refill)
    }

    /// Sets what is left of an interrupted refill of a task that is at no barrier.
    #[inline]
    pub(crate) const fn set_refill(&mut self, left: Span) {
        self.arrived_or_refill = left.ns();
    }

    /// Another task can yield to it.
    pub(crate) fn may_inherit(&self) -> bool {
        self.state == TaskState::Queued && self.priority < THROTTLED
    }

    /// It leaves the caches of this cpu as they are now.
    #[inline]
    pub(crate) const fn keep(&mut self, record: &Cpu) {
        self.warm = record.id;
        self.filled = record.filled;
    }

    /// The next value of its stream of work variation.
    #[inline]
    pub(crate) const fn draw(&mut self) -> u32 {
        rng::next(&mut self.noise)
    }

    /// Asks for work.
    #[inline]
    pub(crate) fn ask(&mut self, work: Work) {
        self.set_remaining(work);
        let carry;
        (self.asked, carry) = self.asked.overflowing_add(work.raw());
        if carry {
            self.history.asked_carried += 1;
        }
    }

    /// Work asked for so far, in raw units.
    pub(crate) fn asked(&self) -> u128 {
        u128::from(self.history.asked_carried) << 64 | u128::from(self.asked)
    }

    /// Work done so far, in raw units: all that was asked for but what remains.
    pub(crate) fn done(&self) -> u128 {
        let waits = self.waiting != Waiting::No;
        self.asked() - u128::from(if waits { 0 } else { self.remaining_or_ready })
    }

    /// Enters the loop that begins at `pc`.
    pub(crate) fn enter_loop(&mut self, program: &Program, passes: u32) {
        if let Some(outer) = program.loops_around(self.pc).checked_sub(1) {
            self.history.outer[outer] = self.passes;
        }
        self.passes = passes;
        self.pc += 1;
    }

    /// Leaves the loop that begins at `start` and ends at `pc`.
    pub(crate) fn leave_loop(&mut self, program: &Program, start: u16) {
        if let Some(outer) = program.loops_around(start).checked_sub(1) {
            self.passes = self.history.outer[outer];
        }
        self.pc += 1;
    }

    /// Passes left of the outermost loop around `pc`.
    pub(crate) fn passes_left(&self, program: &Program) -> u32 {
        if program.loops_around(self.pc) > 1 { self.history.outer[0] } else { self.passes }
    }

    /// Leaves out passes of the outermost loop around `pc`.
    pub(crate) fn skip_passes(&mut self, program: &Program, passes: u32) {
        if program.loops_around(self.pc) > 1 {
            self.history.outer[0] -= passes;
        } else {
            self.passes -= passes;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refill_that_is_left_over_survives_a_barrier() {
        let mut task = Task::new(AppId(4_095), 1, ProcessId::NONE, 0);
        task.arrive(Time::from_ns(5));
        assert_eq!((task.pass().ns(), task.refill().ns()), (5, 0));
        task.set_refill(Span::from_ns(3));
        task.arrive(Time::from_ns(7));
        assert_eq!((task.pass().ns(), task.refill().ns()), (7, 3));
        task.arrive(Time::from_ns(9));
        assert_eq!((task.pass().ns(), task.refill().ns(), task.app()), (9, 3, AppId(4_095)));
    }

    #[test]
    fn work_beyond_64_bits_is_counted() {
        let mut task = Task::new(AppId(0), 1, ProcessId::NONE, 0);
        (0..5).for_each(|_| task.ask(Work::MAX));
        assert_eq!(task.asked(), 5 * ((1 << 63) - 1));
        assert_eq!(task.done(), 4 * ((1 << 63) - 1));
    }

    #[test]
    fn a_poll_observes_the_end_of_the_wait_or_of_polling() {
        let mut task = Task::new(AppId(0), 1, ProcessId::NONE, 0);
        for (deadline, visible) in [(Time::NEVER, 9), (Time::from_ns(5), 5)] {
            task.begin_wait(Waiting::Lock, Time::NEVER, deadline);
            assert_eq!((task.visible, task.ready()), (deadline, Time::NEVER));
            task.set_ready(Time::from_ns(9));
            assert_eq!((task.visible.ns(), task.ready().ns(), task.done()), (visible, 9, 0));
            assert_eq!(
                (task.end_wait(), task.visible, task.remaining()),
                (Waiting::Lock, Time::NEVER, Work::ZERO)
            );
        }
    }
}
