//! What the functions of the contract take and give.

use std::ops::Range;

pub use crate::affinity::Affinity;
use crate::ids::{AppId, CpuId, NodeId, TaskId};
use crate::time::{Span, Time};
use crate::wait::Scope;

/// Why a cpu is to be chosen for a task.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Placement {
    /// It is created by a task on this cpu.
    Fork {
        /// The parent's cpu.
        parent: CpuId,
    },
    /// It wakes from sleep.
    Wake {
        /// The cpu whose task (or timer) wakes it.
        waker: CpuId,
        /// The cpu it last ran on.
        previous: CpuId,
    },
}

/// A timer that a policy arms ([`System::at`](super::System::at)). Of timers that fire at the same instant,
/// slots come last.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Timer {
    /// One with a number that the policy chooses.
    Token(u64),
    /// A timer tick of a cpu.
    Tick(CpuId),
    /// A time slot of a gang scheduler begins.
    Slot,
}

/// Hooks that cost time in every run and are called only where they are wanted.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Watches {
    /// [`Policy::waits`](super::Policy::waits) and [`Policy::proceeds`](super::Policy::proceeds).
    pub waits: bool,
    /// [`Policy::preempted`](super::Policy::preempted), with priorities up to date in it, in `select_cpu` and
    /// in `timer`. Only under the time-sharing class of Solaris.
    pub preemptions: bool,
    /// A running task that comes to a clock ([`Op::Until`](crate::program::Op::Until)) whose instant has
    /// passed, so that its next job begins without a sleep, goes back to its queue as one that is preempted
    /// ([`Enqueue::Preempted`]). Only under [`Order::Policy`].
    pub releases: bool,
}

/// Who orders the run queues of the cpus ([`Policy::order`](super::Policy::order)).
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub enum Order {
    /// The discipline of the operating system.
    #[default]
    System,
    /// First come, first served: a task that enters, yields or has used its slice goes behind all others of
    /// its cpu.
    Fifo {
        /// The slice; at least 1 us.
        slice: Span,
    },
    /// By virtual time: the task with the least runs next. It grows with cpu time times 1,024 / weight. A
    /// task that enters a queue starts at the least virtual time there, or at its own if that is later. No
    /// task preempts.
    VirtualTime {
        /// A task runs for this long, up to the next timer tick, before another one is picked; at least 1 us.
        slice: Span,
    },
    /// The policy, which is asked for each task that enters, yields or has used its slice
    /// ([`Policy::enqueue`](super::Policy::enqueue)). Every poll of a waiting task is simulated, which takes
    /// more time than under the other orders.
    Policy,
}

/// Why the policy is asked where a task goes ([`Policy::enqueue`](super::Policy::enqueue)).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Enqueue {
    /// It is created.
    Created,
    /// It wakes.
    Woken,
    /// It had the cpu and calls `sched_yield`.
    Yielded,
    /// It had the cpu and has used its slice.
    Expired,
    /// It had the cpu, and another task preempts it or its priority level has changed. Or it was the
    /// [next task](super::View::next_task) of its cpu, and one that preempts goes before it.
    Preempted,
}

/// Where a runnable task goes in the queue of its cpu, and for how long it runs
/// ([`Policy::enqueue`](super::Policy::enqueue)).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct QueueEntry {
    /// The task with the smallest key runs first; of equal keys the first come.
    pub key: i64,
    /// The policy is asked again at the first timer tick after the task has run for this long;
    /// [`Span::MAX`]: when the task yields or is preempted.
    pub slice: Span,
    /// It takes the cpu at once from a task with a larger key.
    pub preempts: bool,
}

impl QueueEntry {
    /// An entry that does not preempt.
    #[must_use]
    pub const fn new(key: i64, slice: Span) -> Self {
        Self { key, slice, preempts: false }
    }
}

/// What a cpu is asked to do ([`System::kick`](super::System::kick)); the names are those of `SCX_KICK_*`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kick {
    /// If it is idle it looks for a task; a busy one is left alone.
    Idle,
    /// It looks for a task: an idle one at once; the slice of the current task of a busy one ends now.
    Preempt,
}

/// What has changed of a task ([`Policy::changed`](super::Policy::changed)).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum TaskChange {
    /// Its weight (`set_user_nice`, a command).
    Weight,
    /// The cpus that it may use.
    Affinity,
    /// Its task group ([`View::group_of`](super::View::group_of)), or the weight of that.
    Group,
}

/// Why a task has lost its place on a cpu, under a discipline whose priorities change with time
/// ([`Policy::preempted`](super::Policy::preempted)).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Preemption {
    /// A better one has taken the cpu; it waits before its equals (Solaris: `setfrontdq`).
    Preempted,
    /// Its slice is used up and an equal or better one has the cpu; it waits behind its equals (Solaris:
    /// `setbackdq`).
    Expired,
    /// It waited, and its priority was raised (Solaris: `ts_update`).
    Boosted,
}

/// The priority ([`System::set_priority`](super::System::set_priority)) whose tasks never run: a cpu with no
/// others is idle, and they are still counted in its queue. Strict co-scheduling needs it, as a bandwidth
/// limit (throttled queues) or job control (`SIGSTOP`) does.
pub const THROTTLED: u8 = u8::MAX;

/// Facts that a reason can name.
pub const MAX_FACTS: usize = 4;

/// Why a policy decides as it does: the rule it followed and the numbers it compared.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Why {
    /// The rule in a few words, for example "pulled: busiest group over imbalance_pct"; empty when nothing
    /// was said.
    pub rule: &'static str,
    /// Names (with their unit, if they have one) and values of what was compared; unused places have an empty
    /// name.
    pub facts: [(&'static str, u64); MAX_FACTS],
}

impl Why {
    /// No reason.
    pub const NONE: Self = Self::rule("");

    /// A rule without numbers.
    #[must_use]
    pub const fn rule(rule: &'static str) -> Self {
        Self { rule, facts: [("", 0); MAX_FACTS] }
    }

    /// The same with a number in the next free place; beyond [`MAX_FACTS`] nothing is added.
    #[must_use]
    pub const fn with(mut self, name: &'static str, value: u64) -> Self {
        let mut at = 0;
        while at < MAX_FACTS {
            if self.facts[at].0.is_empty() {
                self.facts[at] = (name, value);
                return self;
            }
            at += 1;
        }
        self
    }
}

/// The cpu that [`Policy::select_cpu`](super::Policy::select_cpu) chooses, and why.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct CpuChoice {
    /// The cpu.
    pub cpu: CpuId,
    /// The reason.
    pub why: Why,
    /// The NUMA node for the pages that a created task touches first; none: the node where it runs when it
    /// touches them.
    pub memory_node: Option<NodeId>,
}

impl CpuChoice {
    /// A cpu with a reason.
    #[must_use]
    pub const fn new(cpu: CpuId, why: Why) -> Self {
        Self { cpu, why, memory_node: None }
    }
}

/// A cpu without a reason.
impl From<CpuId> for CpuChoice {
    fn from(cpu: CpuId) -> Self {
        Self::new(cpu, Why::NONE)
    }
}

/// What a policy decided.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Action {
    /// A created, woken or preempted task was given a cpu.
    Placed {
        /// Why it needed one.
        placement: Placement,
        /// The cpu.
        cpu: CpuId,
    },
    /// A runnable task was moved.
    Migrated {
        /// From.
        from: CpuId,
        /// To.
        to: CpuId,
    },
    /// The mask of a task was set.
    Bound(Affinity),
    /// A task was put into a priority.
    PrioritySet(u8),
    /// A task that the policy held was put into the queue of a cpu.
    Dispatched(CpuId),
    /// A running or queued task may run for so long from now on.
    SliceSet(Span),
    /// A waiting task gives its cpu away in favour of another one.
    Yielded {
        /// The other one.
        to: TaskId,
    },
    /// Something that is not about one task: a slot begins, a plan is made, a round ends.
    Remarked,
}

/// A decision with its reason, as passed to [`crate::observe::Observer::decided`].
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Decision {
    /// The task; none for [`Action::Remarked`].
    pub task: Option<TaskId>,
    /// What was done.
    pub action: Action,
    /// Why.
    pub why: Why,
}

/// What a task waits for, as its runtime knows it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Awaited {
    /// The others of this scope at a barrier.
    Barrier(Scope),
    /// A neighbour's data.
    Neighbour,
    /// The release of a lock.
    Lock,
    /// Units of an event that tasks of any application post ([`crate::program::Event`]).
    Event,
}

/// What a task does now, as the kernel sees it (a polling task is a running one).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum TaskState {
    /// Not created yet.
    New,
    /// Waiting in a run queue.
    Queued,
    /// On a cpu.
    Running,
    /// Asleep.
    Sleeping,
    /// Ended.
    Exited,
}

/// What a policy can see of a task.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TaskView {
    /// Its application.
    pub app: AppId,
    /// Its rank in the application.
    pub rank: u32,
    /// Its state.
    pub state: TaskState,
    /// The cpu it is on or last was on.
    pub cpu: CpuId,
    /// Load weight (1,024 = nice 0).
    pub weight: u32,
    /// When it last began or was seen to run (`exec_start`): cache-hot rules compare it with now.
    pub last_ran: Time,
    /// Order of entry into its current queue: larger is newer.
    pub entered: u64,
    /// One of the two tasks that its queue would rather run next (CFS buddies); such a task is cache-hot.
    pub buddy: bool,
    /// Its priority level ([`System::set_priority`](super::System::set_priority)).
    pub priority: u8,
    /// The policy holds it outside the queues ([`Policy::enqueue`](super::Policy::enqueue)).
    pub held: bool,
    /// Under the time-sharing class of Solaris its priority, 0 to 59, larger is better: of a sleeping task
    /// the one with which it would wake, of one that is not created yet the one of a shell's child. 0 under
    /// other disciplines. It includes what has run since when the policy [watches
    /// preemptions](Watches::preemptions).
    pub dispatch_priority: i64,
    /// When a task that waits for others of its application can see that its wait is over, as its runtime
    /// reads it from the flags in memory. The instant may lie ahead while the news travels, or be past if the
    /// task has not run since; [`Time::NEVER`] while the others have not come. None: it does not wait.
    pub wait_ends: Option<Time>,
    /// When its present job was released: the instant of a clock that it waited for
    /// ([`Op::Until`](crate::program::Op::Until)), or the one at which the request that it works on came
    /// ([`AppSpec::requests`](crate::program::AppSpec::requests)). None: it has no job, or a program
    /// without clocks and requests.
    pub released: Option<Time>,
}

impl TaskView {
    /// True while the task waits for something of its application that has not happened yet.
    #[must_use]
    pub fn still_waits(&self, now: Time) -> bool {
        self.wait_ends.is_some_and(|end| end > now)
    }
}

/// What the hinting faults of automatic NUMA balancing say of a task.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Locality {
    /// The node with most of its faults, or with most of those of its group (`numa_preferred_nid`).
    pub preferred: NodeId,
    /// The tasks with which it shares its pages; none if they are its own.
    pub group: Option<PageGroup>,
}

/// The tasks of a process that share their pages (`numa_group`): consecutive ones.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PageGroup {
    /// The first one.
    pub first: TaskId,
    /// How many there are, at least 1.
    pub tasks: u32,
}

impl PageGroup {
    /// Their ids.
    pub fn task_ids(self) -> impl Iterator<Item = TaskId> {
        (self.first.0..self.first.0 + self.tasks).map(TaskId)
    }
}

/// What a policy can see of an application.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct AppView {
    /// Its name.
    pub name: String,
    /// Its tasks (dense ids).
    pub tasks: Range<u32>,
    /// True between the creation of its first and the exit of its last task.
    pub alive: bool,
    /// A background application (hog, daemon).
    pub background: bool,
    /// Tasks of one process, at least 1: so many consecutive ranks share an address space.
    pub process: u32,
}

impl AppView {
    /// Its task ids.
    pub fn task_ids(&self) -> impl Iterator<Item = TaskId> + use<> {
        self.tasks.clone().map(TaskId)
    }
}
