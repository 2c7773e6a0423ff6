//! The record of a cpu: its queue, the dispatch of its current task, its cpu-time accounting.

use crate::account::Account;
use crate::contention::ClassId;
use crate::engine::state::{Overhead, Part, ProcessId};
use crate::ids::{CpuId, TaskId};
use crate::time::{Span, Time};

/// What the current task of a cpu does.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Activity {
    /// There is no current task.
    Idle,
    /// It computes, in a contention class or at a fixed speed.
    Compute(ClassId),
    /// It polls and yields, cycle after cycle.
    Poll,
    /// It polls without yielding.
    Spin,
    /// It is inside a system call.
    Syscall,
}

/// What happens when a system call ends.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum After {
    /// It sleeps until what it waits for happens.
    WaitAsleep,
    /// It sleeps for a span.
    Nap(Span),
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

/// A cpu. The order of the fields is that of their use: what one event touches lies together in memory, in
/// the first five lines.
#[derive(Clone, Debug)]
#[repr(C, align(64))]
pub(crate) struct Cpu {
    pub(crate) id: CpuId,
    // The queue and the present dispatch.
    pub(crate) current: TaskId,
    pub(crate) head: TaskId,
    pub(crate) tail: TaskId,
    /// The task that observers know to be running.
    pub(crate) observed_running: TaskId,
    /// Runnable tasks, the current one included.
    pub(crate) running: u32,
    /// Start of the present segment of the activity, its overhead included.
    pub(crate) since: Time,
    /// Up to when its virtual runtime is charged.
    pub(crate) charged: Time,
    /// When the current task was picked: its slice counts from here.
    pub(crate) picked: Time,
    /// When the slice of the current task ends, as armed.
    pub(crate) slice_end: Time,
    pub(crate) activity: Activity,
    pub(crate) min_vruntime: i64,
    /// Sum of the weights of its runnable tasks.
    pub(crate) load: u64,
    /// What of a context switch is charged to the virtual runtime of the task switched to: the same for all
    /// of a cpu, the price between processes when its tasks belong to several, else the price between
    /// threads.
    pub(crate) switch_charge: Span,
    /// The first timer tick that has not passed yet; `NEVER` where ticks are computed only when they matter.
    pub(crate) next_tick: Time,
    /// Asked to pick again.
    pub(crate) resched: bool,
    /// Its last task has just left: new-idle balancing is due.
    pub(crate) newidle: bool,
    /// Its own armed event is what it was marked for.
    pub(crate) fired: bool,
    /// Its runnable tasks belong to several processes.
    pub(crate) several: bool,
    /// Kernel or daemon work is deferred to its next segment.
    pub(crate) has_deferred: bool,
    /// Its task groups: all of the run.
    pub(crate) group_count: u16,
    /// The contention class that a task last computed in here: that of the next one, most often.
    pub(crate) class: ClassId,
    /// The process that ran last, to price the next switch; none at first.
    pub(crate) last_process: ProcessId,
    /// Polls and switches not reported yet.
    pub(crate) polled: (u64, u64),
    // The pending overhead of the segment, and what has happened.
    pub(crate) overhead: Overhead,
    pub(crate) next_buddy: TaskId,
    pub(crate) last_buddy: TaskId,
    pub(crate) account: Account,
    /// Bytes that computing tasks have brought into its caches so far, the last task to do so, and its part
    /// since another one did.
    pub(crate) filled: u64,
    pub(crate) filler_part: u64,
    pub(crate) filler: TaskId,
    /// The waiting task that the next pick prefers: the target of a directed yield.
    pub(crate) yield_target: TaskId,
    /// How far its ticks are behind those of the first cpu, ns.
    pub(crate) tick_phase: u64,
    /// When a buddy was last not followed (2.6.27).
    pub(crate) pair_start: Time,
    // What seldom matters.
    /// Kernel and daemon work that the next segment begins with.
    deferred: Overhead,
    /// When its last current task left it.
    pub(crate) idle_from: Time,
    /// Since when a task waits in the expired array (O(1)).
    pub(crate) expired_since: Time,
    /// The system call that the current task is in: how long it takes, and what follows.
    pub(crate) call: (Span, After),
    /// Key of the lateness of its ticks.
    pub(crate) tick_key: u64,
    /// Tasks that sleep but still compete (EEVDF's delayed dequeue), linked by `next`.
    pub(crate) delayed: TaskId,
    /// The first of the records of the task groups on this cpu ([`crate::run_queue::groups`]).
    pub(crate) first_group: TaskId,
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
            observed_running: TaskId::NONE,
            running: 0,
            since: Time::ZERO,
            charged: Time::ZERO,
            picked: Time::ZERO,
            slice_end: Time::NEVER,
            activity: Activity::Idle,
            min_vruntime: 0,
            load: 0,
            switch_charge: Span::ZERO,
            next_tick: Time::NEVER,
            resched: false,
            newidle: false,
            fired: false,
            several: false,
            has_deferred: false,
            class: ClassId::FREE,
            last_process: ProcessId::NONE,
            polled: (0, 0),
            overhead: Overhead::NONE,
            next_buddy: TaskId::NONE,
            last_buddy: TaskId::NONE,
            account: Account::default(),
            filled: 0,
            filler_part: 0,
            filler: TaskId::NONE,
            yield_target: TaskId::NONE,
            tick_phase: 0,
            deferred: Overhead::NONE,
            pair_start: Time::ZERO,
            idle_from: Time::ZERO,
            expired_since: Time::NEVER,
            call: (Span::ZERO, After::Yield),
            tick_key: 0,
            delayed: TaskId::NONE,
            first_group: TaskId::NONE,
            group_count: 0,
        }
    }

    /// Kernel or daemon work comes up: it goes before what the current task does next.
    #[inline]
    pub(crate) fn defer(&mut self, part: Part, span: Span) {
        self.deferred.grow(part, span);
        self.has_deferred |= span > Span::ZERO;
    }

    /// The deferred kernel and daemon work becomes the overhead of the segment that begins.
    #[inline]
    pub(crate) fn take_deferred(&mut self) {
        if self.has_deferred {
            self.has_deferred = false;
            debug_assert!(self.overhead.is_none(), "{} drops an overhead of {:?}", self.id, self.overhead);
            self.overhead = std::mem::take(&mut self.deferred);
        }
    }

    /// The same, added to the overhead that the segment has already.
    pub(crate) fn add_deferred(&mut self) {
        self.has_deferred = false;
        self.overhead.add(&std::mem::take(&mut self.deferred));
    }

    /// The current task continues to poll from `since`. `polled`: completed cycles, and switches between
    /// polling tasks.
    pub(crate) fn poll_on(&mut self, since: Time, charged: Time, overhead: Overhead, polled: (u64, u64)) {
        self.since = since;
        self.charged = charged;
        self.overhead = overhead;
        self.picked = since;
        self.pair_start = since;
        self.next_buddy = TaskId::NONE;
        self.last_buddy = TaskId::NONE;
        self.polled.0 += polled.0;
        self.polled.1 += polled.1;
    }

    /// A segment is cut short: what is left of its overhead for kernel and daemon work and a migration is
    /// deferred. Returns what is left of a refill.
    #[cold]
    pub(crate) fn keep_overhead(&mut self) -> Span {
        let overhead = std::mem::take(&mut self.overhead);
        for part in [Part::Migration, Part::Kernel, Part::Daemon] {
            self.defer(part, overhead.part(part));
        }
        overhead.part(Part::Refill)
    }
}
