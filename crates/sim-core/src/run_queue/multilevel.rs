//! What the disciplines with priorities have in common: a slice that is used up over several dispatches,
//! after which the task gets a new priority and goes behind its equals; a task that was pre-empted before
//! that comes first among them.
//!
//! Slices are used up to the nanosecond and end at the next tick; the kernels charge whole ticks to the task
//! that runs at the tick.

use crate::engine::state::{Cpu, Task};
use crate::ids::TaskId;
use crate::os::NICE_WEIGHTS;
use crate::run_queue::{Entry, FastForward, Interrupted, Picked, Picks, Rules, Tasks, contested};
use crate::time::{Span, Time};

/// Slice and history of a task.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Share {
    /// Used of the present slice, ns.
    pub(crate) used: u64,
    /// O(1): ns of running until the sleep average is used up. ULE: ns of sleep in its history.
    pub(crate) rest: u64,
    /// ULE: ns of running in its history.
    pub(crate) ran: u64,
    /// TS: updates since its last quantum began.
    pub(crate) waited: u32,
    /// Its slice is used up: it goes behind its equals at the next tick.
    pub(crate) expired: bool,
    /// It goes before its equals when it is put back.
    pub(crate) front: bool,
}

impl Share {
    /// Nothing used, nothing remembered.
    pub(crate) const NONE: Self = Self { used: 0, rest: 0, ran: 0, waited: 0, expired: false, front: false };
}

/// Where a task runs: what its slice and its next priority depend on.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Setting {
    /// The queue's `min_vruntime`: under O(1) the key of the active array.
    pub(crate) base: i64,
    pub(crate) running: u32,
    /// Another task competes.
    pub(crate) contested: bool,
    /// Start of the stretch of running.
    pub(crate) from: Time,
    /// From when on the expired tasks starve (O(1)).
    pub(crate) starving: Time,
}

/// The task that forks another.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Parent {
    pub(crate) share: Share,
    pub(crate) key: i64,
}

/// What distinguishes the disciplines of this kind. A key is a priority of the discipline; smaller keys go
/// first.
pub(crate) trait Levels {
    /// Each yield gives a task another key ([`Levels::yielded`]).
    fn moves_at_yield(&self) -> bool {
        false
    }

    /// See [`Rules::check`].
    fn check_parameters(&self) -> Result<(), String>;

    /// The period at which all priorities are updated, if they are.
    fn update_period(&self) -> Option<Span> {
        None
    }

    /// The new key of a task at an update of all priorities, if it changes.
    fn updated(&self, task: &mut Task) -> Option<i64> {
        let _ = task;
        None
    }

    /// See [`crate::policy::TaskView::dispatch_priority`].
    fn dispatch_priority(&self, task: &Task) -> i64 {
        let _ = task;
        0
    }

    /// The slice of a task, before it is rounded up to 1 ns.
    fn quantum(&self, key: i64, weight: u32, running: u32) -> Span;

    /// A task has run for `part` ns within its slice.
    fn ran(&self, share: &mut Share, part: u64) {
        let _ = (share, part);
    }

    /// The key of a task whose slice is used up at `at`.
    fn expire(&self, setting: &Setting, weight: u32, key: i64, share: &mut Share, at: Time) -> i64;

    /// The key of a task that yields, after `yields` in a row; `base` is the queue's `min_vruntime`.
    fn yielded(&self, base: i64, key: i64, yields: i64) -> i64 {
        let _ = (base, yields);
        key
    }

    /// True when the key of a task stays the same when its slice ends, now and for as long as it only runs.
    fn steady(&self, key: i64, weight: u32, share: &Share) -> bool;

    /// Sets slice, history and key of a task that enters.
    fn enter(&self, task: &mut Task, parent: Option<&mut Parent>, base: i64, how: (Entry, Time));

    /// True when a task with the first key takes the cpu from one with the second.
    fn outranks(&self, mine: i64, theirs: i64) -> bool {
        mine < theirs
    }

    /// From when on the expired tasks of a cpu starve.
    fn starving(&self, cpu: &Cpu) -> Time {
        let _ = cpu;
        Time::NEVER
    }

    /// The least that the queue's `min_vruntime` is once a task with this key has been picked. When it grows,
    /// no task waits in the expired array.
    fn base(&self, key: i64) -> i64 {
        let _ = key;
        i64::MIN
    }

    /// The current task goes back to the queue with this key because its slice is used up.
    fn note_expired(&self, cpu: &mut Cpu, key: i64, now: Time) {
        let _ = (cpu, key, now);
    }

    /// See [`crate::policy::System::slice`].
    fn slice_used_and_left(&self, task: &Task, cpu: &Cpu) -> (Span, Span) {
        let share = &task.history.share;
        let room = self.room(share, task.vruntime, task.weight, cpu.running);
        (Span::from_ns(share.used), Span::from_ns(room))
    }

    /// The slice of a task.
    fn slice(&self, key: i64, weight: u32, running: u32) -> Span {
        self.quantum(key, weight, running).max(Span::from_ns(1))
    }

    /// What of its slice a task has left.
    fn room(&self, share: &Share, key: i64, weight: u32, running: u32) -> u64 {
        self.slice(key, weight, running).ns().saturating_sub(share.used)
    }

    /// A task runs for a span: its history grows, and whenever a slice is used up it gets a new key. The
    /// result does not depend on how the span is divided.
    fn run(&self, setting: &Setting, weight: u32, key: &mut i64, share: &mut Share, span: Span) {
        let (mut left, mut at) = (span.ns(), setting.from);
        loop {
            let room = self.room(share, *key, weight, setting.running);
            self.ran(share, left.min(room));
            if left < room {
                share.used += left;
                return;
            }
            left -= room;
            at += Span::from_ns(room);
            share.used = 0;
            share.expired = setting.contested;
            *key = self.expire(setting, weight, *key, share, at);
        }
    }
}

impl<T: Levels> Rules for T {
    fn check(&self, _: Span) -> Result<(), String> {
        self.check_parameters()
    }

    fn levels(&self) -> Option<&dyn Levels> {
        Some(self)
    }

    fn place(&self, tasks: &mut Tasks, cpu: &mut Cpu, id: TaskId, entry: Entry, now: Time) {
        let parent = tasks[id].history.parent.some().filter(|_| entry == Entry::Fork);
        let mut by =
            parent.map(|parent| Parent { share: tasks[parent].history.share, key: tasks[parent].vruntime });
        let task = &mut tasks[id];
        if entry == Entry::Fork && by.is_none() {
            task.history.share = Share::default();
        }
        task.history.share.expired = false;
        task.history.share.front = false;
        self.enter(task, by.as_mut(), cpu.min_vruntime, (entry, now));
        if let (Some(parent), Some(by)) = (parent, by) {
            tasks[parent].history.share = by.share;
        }
    }

    fn charge(&self, tasks: &mut Tasks, cpu: &mut Cpu, now: Time) {
        let setting = Setting {
            base: cpu.min_vruntime,
            running: cpu.running,
            contested: contested(tasks, cpu),
            from: cpu.charged,
            starving: self.starving(cpu),
        };
        let Task { history, vruntime, weight, .. } = &mut tasks[cpu.current];
        self.run(&setting, *weight, vruntime, &mut history.share, now.since(cpu.charged));
    }

    fn picked(&self, tasks: &mut Tasks, cpu: &mut Cpu, _: Picked) {
        cpu.raise_minimum(self.base(tasks[cpu.current].vruntime));
    }

    fn interrupted(&self, tasks: &mut Tasks, cpu: &mut Cpu, now: Time, _: Interrupted) {
        let task = &mut tasks[cpu.current];
        let expired = std::mem::replace(&mut task.history.share.expired, false);
        task.history.share.front = !expired;
        if expired {
            self.note_expired(cpu, task.vruntime, now);
        }
    }

    fn slice_end(&self, tasks: &Tasks, cpu: &Cpu, now: Time, next_tick: impl Fn(Time) -> Time) -> Time {
        let task = &tasks[cpu.current];
        let share = &task.history.share;
        let room = if share.expired { 0 } else { self.room(share, task.vruntime, task.weight, cpu.running) };
        next_tick((cpu.charged + Span::from_ns(room)).max(now + Span::from_ns(1)))
    }

    fn preempts(&self, tasks: &mut Tasks, cpu: &mut Cpu, id: TaskId, _: Time) -> bool {
        self.outranks(tasks[id].vruntime, tasks[cpu.current].vruntime)
    }

    fn prefers(&self, _: &Tasks, _: &Cpu, _: TaskId, gap: i64) -> bool {
        gap == 0
    }

    fn yield_key(&self, tasks: &mut Tasks, cpu: &mut Cpu, id: TaskId, now: Time) {
        self.charge(tasks, cpu, now);
        cpu.charged = cpu.charged.max(now);
        let task = &mut tasks[id];
        task.vruntime = self.yielded(cpu.min_vruntime, task.vruntime, 1);
        (task.history.share.expired, task.history.share.front) = (false, false);
    }
}

impl<T: Levels> FastForward for T {
    fn picks(&self) -> Picks {
        Picks::BySlice
    }
}

/// The nice value of a weight: the first that is not heavier.
pub(crate) fn nice(weight: u32) -> i64 {
    NICE_WEIGHTS.partition_point(|w| *w > weight).min(NICE_WEIGHTS.len() - 1) as i64 - 20
}
