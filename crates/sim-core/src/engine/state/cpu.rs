//! The record of a cpu: its queue, the dispatch of its current task, its cpu-time accounting.

use crate::account::{Account, Category};
use crate::contention::ClassId;
use crate::engine::state::apart::Unwritten;
use crate::engine::state::{Boxed, Overhead, Part, Parts, Prices, ProcessId};
use crate::ids::{CpuId, TaskId};
use crate::machine::Costs;
use crate::run_queue::Average;
use crate::run_queue::real_time::ClassState;
use crate::time::{Span, Time};

/// What the current task of a cpu does.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Activity {
    /// There is no current task.
    Idle,
    /// It computes, in the contention class of the cpu or at a fixed speed.
    Compute,
    /// It polls and yields, cycle after cycle.
    Poll,
    /// It polls without yielding.
    Spin,
    /// It is inside a system call.
    Syscall,
}

/// What happens when a system call ends.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum OnReturn {
    /// It sleeps until what it waits for happens.
    WaitAsleep,
    /// It sleeps for a span.
    Nap(Span),
    /// It sleeps until an instant of one of its clocks, if that is still to come.
    Until(Time),
    /// A device gets work of this length, and it sleeps until that is done.
    Io(Span),
    /// It yields.
    Yield,
    /// It yields in favour of another task.
    YieldTo(TaskId),
    /// A task of this rank is created.
    Fork(u32),
    /// Its data are touched.
    Touch,
    /// Its process ends and a new one takes its rank.
    Respawn,
}

/// Whether the current task of a cpu is to give it up when the cpu next returns to user mode
/// (`TIF_NEED_RESCHED_LAZY`).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Lazily {
    No,
    /// For a task that has entered.
    Entered,
    /// As its request or its protection is used up.
    Spent,
}

/// A cpu, in four cache lines. The order of the fields is that of their use: what one event touches lies
/// together in memory. What seldom matters is apart ([`Rare`]).
#[derive(Clone, Debug)]
#[repr(C, align(64))]
pub(crate) struct Cpu {
    pub(crate) id: CpuId,
    // The queue and the present dispatch.
    pub(crate) current: TaskId,
    pub(crate) head: TaskId,
    pub(crate) tail: TaskId,
    /// Runnable tasks, the current one included.
    pub(crate) running: u32,
    /// The process that ran last, to price the next switch; none at first.
    pub(crate) last_process: ProcessId,
    /// Start of the present segment of the activity, its overhead included.
    pub(crate) since: Time,
    /// Up to when its virtual runtime is charged.
    pub(crate) charged: Time,
    /// When the current task was picked: its slice counts from here. Where there is none: when the last one
    /// left.
    pub(crate) picked: Time,
    /// When the slice of the current task ends, as armed.
    pub(crate) slice_end: Time,
    pub(crate) activity: Activity,
    /// Asked to pick again.
    pub(crate) resched: bool,
    /// Its last task has just left: new-idle balancing is due.
    pub(crate) newidle: bool,
    /// Its own armed event is what it was marked for.
    pub(crate) fired: bool,
    /// Its runnable tasks belong to several processes.
    pub(crate) several: bool,
    /// Observers know its current task to be running.
    pub(crate) observed: bool,
    /// Kernel work that the next segment begins with, ns; [`DEFERRED_APART`]: it is apart.
    deferred: u16,
    // What has happened.
    pub(crate) overhead: Overhead,
    /// Polls and switches not reported yet.
    pub(crate) polled: (u64, u64),
    pub(crate) min_vruntime: i64,
    /// Sum of the weights of its runnable tasks.
    pub(crate) load: u64,
    /// The contention class that a task computes in, or last computed in here.
    pub(crate) class: ClassId,
    /// The last task to bring bytes into its caches, its part since another one did, and all by now.
    pub(crate) filler: TaskId,
    pub(crate) rare: Boxed<Rare>,
    pub(crate) account: Account,
    pub(crate) filled: u64,
    pub(crate) filler_part: u64,
}

/// Deferred work is in [`Rare::deferred`].
const DEFERRED_APART: u16 = u16::MAX;

/// What seldom matters of a cpu, or under few disciplines only.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rare {
    /// The pending overhead, where it has several parts.
    pub(crate) parts: Parts,
    /// Kernel and daemon work and migrations that the next segment begins with.
    deferred: Parts,
    /// The system call that the current task is in: how long it takes, and what follows.
    pub(crate) call: (Span, OnReturn),
    /// The first timer tick that has not passed yet; `NEVER` where ticks are computed only when they matter.
    pub(crate) next_tick: Time,
    /// Key of the lateness of its ticks.
    pub(crate) tick_key: u64,
    /// The tasks that CFS prefers: the last one woken to preempt, and the one that it preempted.
    pub(crate) next_buddy: TaskId,
    pub(crate) last_buddy: TaskId,
    /// The task that yielded last and has not been picked since (`set_skip_buddy`).
    pub(crate) skip: TaskId,
    /// When the scheduler last did not follow a buddy (`pair_start`).
    pub(crate) pair_start: Time,
    /// Since when a task waits in the expired array (O(1)).
    pub(crate) expired_since: Time,
    /// The waiting task that the next pick prefers: the target of a directed yield.
    pub(crate) yield_target: TaskId,
    /// Tasks that sleep but still compete (EEVDF's delayed dequeue), linked by `next`.
    pub(crate) delayed: TaskId,
    /// The sums of the waiting tasks, where they are kept: under EEVDF without task groups.
    pub(crate) waiting: Option<Average>,
    /// The first of the records of the task groups on this cpu ([`crate::run_queue::groups`]).
    pub(crate) first_group: TaskId,
    /// Its task groups: all of the run.
    pub(crate) group_count: u16,
    /// Some task of the run has a slice of its own.
    pub(crate) own_slices: bool,
    /// Asked to pick again when it next returns to user mode.
    pub(crate) lazily: Lazily,
    /// The timer that ends the request of the current task runs (`hrtick_start_fair`).
    pub(crate) timed: bool,
    /// Until when a wake-up is on its way to it.
    pub(crate) woken: Time,
    /// Its real-time class.
    pub(crate) class: ClassState,
}

impl Unwritten for Rare {
    const NOTHING: &'static Self = &Self {
        parts: Parts::NONE,
        deferred: Parts::NONE,
        call: (Span::ZERO, OnReturn::Yield),
        next_tick: Time::NEVER,
        tick_key: 0,
        next_buddy: TaskId::NONE,
        last_buddy: TaskId::NONE,
        skip: TaskId::NONE,
        pair_start: Time::ZERO,
        expired_since: Time::NEVER,
        yield_target: TaskId::NONE,
        delayed: TaskId::NONE,
        waiting: None,
        first_group: TaskId::NONE,
        group_count: 0,
        own_slices: false,
        lazily: Lazily::No,
        timed: false,
        woken: Time::ZERO,
        class: ClassState::NEW,
    };
}

/// No cpu.
pub(crate) const NOWHERE: CpuId = CpuId(u32::MAX);

impl Cpu {
    pub(crate) fn new(id: CpuId) -> Self {
        Self {
            id,
            current: TaskId::NONE,
            head: TaskId::NONE,
            tail: TaskId::NONE,
            running: 0,
            last_process: ProcessId::NONE,
            since: Time::ZERO,
            charged: Time::ZERO,
            picked: Time::ZERO,
            slice_end: Time::NEVER,
            activity: Activity::Idle,
            resched: false,
            newidle: false,
            fired: false,
            several: false,
            observed: false,
            deferred: 0,
            overhead: Overhead::NONE,
            polled: (0, 0),
            min_vruntime: 0,
            load: 0,
            class: ClassId::FREE,
            filler: TaskId::NONE,
            rare: Boxed::NONE,
            account: Account::default(),
            filled: 0,
            filler_part: 0,
        }
    }

    /// It returns to user mode, or is about to: what it was asked lazily is due. Not if it has returned
    /// since (`acts`), which had no effect.
    #[inline]
    pub(crate) fn returns(&mut self, acts: bool) {
        if self.rare.lazily != Lazily::No {
            self.rare.lazily = Lazily::No;
            self.resched |= acts;
        }
    }

    /// When what its current task does next takes effect: now, behind the pending overhead.
    #[inline]
    pub(crate) fn cursor(&self, now: Time) -> Time {
        now + self.overhead.total()
    }

    /// See [`Prices::charged`].
    #[inline]
    pub(crate) const fn switch_charge(&self, costs: &Costs) -> Span {
        Prices::of(costs).charged(self.several)
    }

    /// Kernel or daemon work is deferred to its next segment.
    #[inline]
    pub(crate) const fn has_deferred(&self) -> bool {
        self.deferred > 0
    }

    /// Kernel or daemon work comes up: it goes before what the current task does next.
    #[inline]
    pub(crate) fn defer(&mut self, part: Part, span: Span) {
        let sum = span.ns().saturating_add(self.deferred.into());
        if part == Part::Kernel && sum < DEFERRED_APART.into() {
            self.deferred = sum as u16;
        } else if span > Span::ZERO {
            self.defer_apart(part, span);
        }
    }

    #[cold]
    fn defer_apart(&mut self, part: Part, span: Span) {
        let kernel = std::mem::replace(&mut self.deferred, DEFERRED_APART);
        let deferred = &mut self.rare.deferred;
        if kernel != DEFERRED_APART {
            *deferred = Parts::NONE;
            deferred.grow(Part::Kernel, Span::from_ns(kernel.into()));
        }
        deferred.grow(part, span);
    }

    /// The deferred kernel and daemon work becomes the overhead of the segment that begins.
    #[inline]
    pub(crate) fn take_deferred(&mut self) {
        if self.has_deferred() {
            debug_assert!(self.overhead.is_none(), "{} drops an overhead of {:?}", self.id, self.overhead);
            self.add_deferred();
        }
    }

    /// The same, added to the overhead that the segment has already.
    #[cold]
    pub(crate) fn add_deferred(&mut self) {
        match std::mem::take(&mut self.deferred) {
            DEFERRED_APART => {
                let deferred = self.rare.deferred;
                for part in [Part::Migration, Part::Kernel, Part::Daemon] {
                    self.pend(part, deferred.get(part));
                }
            }
            kernel => self.pend(Part::Kernel, Span::from_ns(kernel.into())),
        }
    }

    /// The current task, picked at `picked`, continues to poll from `since`, after a switch. `polled`:
    /// completed cycles, and switches between polling tasks.
    pub(crate) fn poll_on(
        &mut self,
        (picked, since, charged): (Time, Time, Time),
        switch: Span,
        polled: (u64, u64),
    ) {
        self.since = since;
        self.charged = charged;
        self.set_switch(switch);
        self.picked = picked;
        self.forget_buddies(since);
        self.polled.0 += polled.0;
        self.polled.1 += polled.1;
    }

    /// A yield leaves no buddies, and follows none.
    #[inline]
    pub(crate) fn forget_buddies(&mut self, now: Time) {
        if let Some(rare) = self.rare.written() {
            (rare.next_buddy, rare.last_buddy) = (TaskId::NONE, TaskId::NONE);
            rare.pair_start = now;
        }
    }

    /// A task is marked by its yield, or none is.
    #[inline]
    pub(crate) fn set_skip(&mut self, task: Option<TaskId>) {
        let task = task.unwrap_or(TaskId::NONE);
        if self.rare.skip != task {
            self.rare.skip = task;
        }
    }

    /// The arrays of O(1) change places once a task of a later one is picked: none waits in the expired one.
    #[inline]
    pub(crate) fn raise_minimum(&mut self, minimum: i64) {
        if minimum > self.min_vruntime {
            self.min_vruntime = minimum;
            if !self.rare.expired_since.is_never() {
                self.rare.expired_since = Time::NEVER;
            }
        }
    }

    /// The segment of a cpu without a current task ends: it is idle time behind the overhead.
    pub(crate) fn close_idle(&mut self, now: Time) {
        let rest = self.pay(now.since(self.since));
        self.since = now;
        self.charged = self.charged.min(now);
        if !self.overhead.is_none() {
            self.keep_overhead();
        }
        self.account.add(Category::Idle, rest);
    }

    /// A segment is cut short: what is left of its overhead for kernel and daemon work and a migration is
    /// deferred. Returns what is left of a refill.
    #[cold]
    pub(crate) fn keep_overhead(&mut self) -> Span {
        let parts = self.parts();
        self.overhead = Overhead::NONE;
        for part in [Part::Migration, Part::Kernel, Part::Daemon] {
            self.defer(part, parts.get(part));
        }
        parts.get(Part::Refill)
    }
}
