//! The policy contract: what a scheduling policy above the per-cpu run queues may see, do and decide.
//!
//! The engine owns every task and queue. The contract has three groups of functions: a policy sees through
//! [`View`] and through those functions of [`System`] that bring a cpu up to date before they answer; it acts
//! through the rest of [`System`]; and the hooks of [`Policy`] notify it. The engine validates, prices and
//! counts actions. A refused or corrected action is a counter in every report. Hooks have the names of Linux
//! `sched_ext` where one exists. A function has at least two users among the built-in policies, or its
//! documentation states why it exists for one.

use std::ops::Range;

pub use crate::affinity::Affinity;
use crate::ids::{AppId, CpuId, NodeId, TaskId};
use crate::machine::Machine;
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

/// A timer that a policy arms ([`System::at`]). Of timers that fire at the same instant, slots come last.
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
    /// [`Policy::waits`] and [`Policy::proceeds`].
    pub waits: bool,
    /// [`Policy::preempted`], with priorities up to date in it, in `select_cpu` and in `timer`. Only under
    /// the time-sharing class of Solaris.
    pub preemptions: bool,
}

/// Who orders the run queues of the cpus ([`Policy::order`]).
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
    /// ([`Policy::enqueue`]). Every poll of a waiting task is simulated, which takes more time than under the
    /// other orders.
    Policy,
}

/// Why the policy is asked where a task goes ([`Policy::enqueue`]).
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
    /// [next task](View::next_task) of its cpu, and one that preempts goes before it.
    Preempted,
}

/// Where a runnable task goes in the queue of its cpu, and for how long it runs ([`Policy::enqueue`]).
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

/// What a cpu is asked to do ([`System::kick`]); the names are those of `SCX_KICK_*`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kick {
    /// If it is idle it looks for a task; a busy one is left alone.
    Idle,
    /// It looks for a task: an idle one at once; the slice of the current task of a busy one ends now.
    Preempt,
}

/// What has changed of a task ([`Policy::changed`]).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum TaskChange {
    /// Its weight (`set_user_nice`, a command).
    Weight,
    /// The cpus that it may use.
    Affinity,
}

/// Why a task has lost its place on a cpu, under a discipline whose priorities change with time
/// ([`Policy::preempted`]).
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

/// The priority ([`System::set_priority`]) whose tasks never run: a cpu with no others is idle, and they are
/// still counted in its queue. Strict co-scheduling needs it, as a bandwidth limit (throttled queues) or job
/// control (`SIGSTOP`) does.
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

/// The cpu that [`Policy::select_cpu`] chooses, and why.
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
    /// Its priority level ([`System::set_priority`]).
    pub priority: u8,
    /// The policy holds it outside the queues ([`Policy::enqueue`]).
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
    /// The application with whose tasks it shares its pages (`numa_group`); none if they are its own.
    pub group: Option<AppId>,
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

/// What the real thing could see: topology, queue lengths and loads, states, masks.
pub trait View {
    /// Now.
    fn now(&self) -> Time;
    /// The machine.
    fn machine(&self) -> &Machine;
    /// The run's seed, for the policy's own streams ([`crate::rng::stream`]).
    fn seed(&self) -> u64;
    /// The number of applications of the run, started or not.
    fn apps(&self) -> u32;
    /// An application.
    fn app(&self, app: AppId) -> AppView;
    /// The number of runnable tasks on a cpu, the running one included.
    fn nr_running(&self, cpu: CpuId) -> u32;
    /// The task that has the cpu once the cpu has decided at this instant: the [current](System::current)
    /// one,
    /// or one that was placed there at this instant, where the cpu is idle or the task preempts. None: the
    /// cpu will be idle, unless the policy gives it a task. A placed task is in this function and in
    /// [`View::nr_running`] from the same moment on; it becomes the current one only when its cpu decides,
    /// after other tasks may have been placed. Which of the tasks that poll on a cpu holds it is as of the
    /// last [`System::current`]; a task that is about to preempt shows under [`Order::Policy`] only.
    fn next_task(&self, cpu: CpuId) -> Option<TaskId>;
    /// Calls `found` with the cpus whose queues have changed without a call of [`Policy::runnable`] or
    /// [`Policy::quiescent`] so far; with more than these, or with some of them twice, where that is simpler.
    /// New ones come last: `skip` leaves out the first ones, for callers that have seen them and were not
    /// notified since.
    fn unreported(&self, skip: usize, found: &mut dyn FnMut(CpuId)) {
        let _ = skip;
        self.machine().cpu_ids().for_each(found);
    }
    /// The sum of the weights of the runnable tasks of a cpu.
    fn load(&self, cpu: CpuId) -> u64;
    /// Where there are task groups: the load of a cpu with a half-life of 32 ms, in which each group counts
    /// by its weight there (`cpu_load` of Linux); under kernels before 4.2 what is queued, without average.
    /// None elsewhere. For LOAD only, which cannot compute it without the groups.
    fn load_average(&self, cpu: CpuId) -> Option<u64> {
        let _ = cpu;
        None
    }
    /// Where there are task groups: what a task counts of the load of the cpu it is on or was last
    /// (`task_h_load` of Linux). None elsewhere. For LOAD only, as [`View::load_average`].
    fn task_load_average(&self, task: TaskId) -> Option<u64> {
        let _ = task;
        None
    }
    /// Under automatic NUMA balancing: what the faults of a task say. None before its first complete scan,
    /// and elsewhere. For LOAD only, the one policy that moves tasks by it.
    fn locality(&self, task: TaskId) -> Option<Locality> {
        let _ = task;
        None
    }
    /// The part of a task's faults, or of those of its group, on the pages of a node, in thousandths
    /// (`task_weight`, `group_weight`); 0 without faults. For LOAD only, as [`View::locality`].
    fn fault_share(&self, task: TaskId, node: NodeId, of_group: bool) -> u64 {
        let _ = (task, node, of_group);
        0
    }
    /// A task. Which of the tasks that poll on one cpu holds it just now, and when each last ran, is as of
    /// the last [`System::current`] or [`System::queued`] of that cpu.
    fn task(&self, task: TaskId) -> TaskView;
    /// True when the task's affinity allows the cpu.
    fn allowed(&self, task: TaskId, cpu: CpuId) -> bool;
    /// The first cpu that the task's affinity allows.
    fn first_allowed(&self, task: TaskId) -> Option<CpuId> {
        self.machine().cpu_ids().find(|cpu| self.allowed(task, *cpu))
    }
    /// The best [priority](TaskView::dispatch_priority) of the runnable tasks of a cpu, the running one
    /// included; none without a task. For LGROUP only, which asks it of every cpu of a board at each
    /// placement (Solaris keeps it as `disp_maxrunpri`); the queues would have to be read one by one
    /// otherwise.
    fn best_dispatch_priority(&self, cpu: CpuId) -> Option<i64> {
        (self.nr_running(cpu) > 0).then_some(0)
    }
}

/// What the real thing could do. Every action has the price the machine states; `bool` tells whether it
/// happened.
pub trait System: View {
    /// The task that holds the cpu. A task that was placed on an idle cpu at this instant does not hold it
    /// yet: [`View::next_task`] shows it.
    fn current(&mut self, cpu: CpuId) -> Option<TaskId>;
    /// Replaces `out` by the waiting tasks of a cpu, newest entry first and at most `most` of them, which
    /// takes less time where queues are long. The current task is not among them.
    fn queued(&mut self, cpu: CpuId, most: usize, out: &mut Vec<TaskId>);
    /// Calls `found` with the cpus where, since the last call, a task has come, gone, been picked or put
    /// back, has begun to wait or to poll (also after a system call or an interruption), or has learnt when
    /// its wait ends. It may also report other cpus. A change between polling tasks is left out
    /// ([`System::yield_ends`]). Only one policy of a run may use it, and it has to [watch
    /// waits](Policy::watches).
    fn dirty(&mut self, found: &mut dyn FnMut(CpuId)) {
        self.machine().cpu_ids().collect::<Vec<_>>().into_iter().for_each(found);
    }
    /// When the task that polls on a cpu will have polled and yielded once if nothing happens there until
    /// then; never where no task polls. For YIELD_TO only: [`System::dirty`] leaves out these yields, because
    /// they are too many to list.
    fn yield_ends(&mut self, cpu: CpuId) -> Time {
        let _ = cpu;
        self.now()
    }
    /// Cpu time (user and system, polling included) the task has used so far.
    fn cpu_time(&mut self, task: TaskId) -> Span;
    /// Work of its program the task has done so far, as the time it takes at nominal speed, rounded down to
    /// nanoseconds: what a counter of useful instructions tells. Polling, system calls and stalls add
    /// nothing.
    fn progress(&mut self, task: TaskId) -> Span;
    /// What a task has used and what it has left of its quantum, under a discipline that lets a preempted
    /// task keep the rest of it; none under others. For LGROUP only: `ts_tick` of Solaris looks for a cpu at
    /// the end of a quantum.
    fn slice(&mut self, task: TaskId) -> Option<(Span, Span)> {
        let _ = task;
        None
    }
    /// False when a runnable task is ahead of the mean of its queue under a discipline that knows eligibility
    /// (EEVDF). For LOAD of Linux 6.18 only: `task_is_ineligible_on_dst_cpu`.
    fn is_eligible(&mut self, task: TaskId) -> bool {
        let _ = task;
        true
    }
    /// Kernel: moves a runnable task to `to`'s queue (pull when it is queued; through the migration thread
    /// when it runs). False, and nothing happens, for a real-time task: the policy does not see the class
    /// of a task, so this may be tried and is no correction.
    fn migrate(&mut self, task: TaskId, to: CpuId, why: Why) -> bool;
    /// `sched_setaffinity`: sets the mask and moves the task at once when it sits on a forbidden cpu.
    fn set_affinity(&mut self, task: TaskId, affinity: Affinity, why: Why) -> bool;
    /// Co-scheduling: a queue runs tasks of a lower priority first; 0 is the default, higher ones run only
    /// when no lower one can, those of [`THROTTLED`] not at all.
    fn set_priority(&mut self, task: TaskId, priority: u8, why: Why) -> bool;
    /// Puts a task that the policy holds into the queue of a cpu (`scx_bpf_dsq_insert` of sched_ext); one of
    /// another cpu is moved there. False, and nothing happens, unless the task is held and may run on the
    /// cpu.
    fn dispatch(&mut self, task: TaskId, cpu: CpuId, entry: QueueEntry, why: Why) -> bool;
    /// Makes a cpu look for a task ([`Policy::dispatch`]), at the price of an interrupt
    /// (`scx_bpf_kick_cpu`). False, and nothing happens, if the cpu is not as [`Kick`] wants it: that may be
    /// tried and is no correction. Only under [`Order::Policy`].
    fn kick(&mut self, cpu: CpuId, how: Kick) -> bool;
    /// From now on a running or queued task may run for `slice`, up to the next timer tick
    /// (`scx_bpf_task_set_slice`); a queued one once it has the cpu. With a slice of zero a running task ends
    /// at the next tick. False, and nothing happens, for a task in another state or one that the policy
    /// holds. Only under [`Order::Policy`].
    fn set_slice(&mut self, task: TaskId, slice: Span, why: Why) -> bool;
    /// The run ends at this instant with an error that names the policy's reason (`scx_bpf_error`); the first
    /// one counts. Nothing is simulated any more.
    fn fail(&mut self, reason: String);
    /// `yield_to` of Linux (one user, YIELD_TO: no other action hands a cpu over): `from`, which polls on its
    /// cpu, makes a system call of the length of a yield; at its end, if `to` still waits in a queue, that
    /// queue prefers it at its next pick as far as its discipline's fairness lets it, its cpu is interrupted
    /// if it is another one, and `from` yields. False, and nothing happens, unless `from` holds its cpu and
    /// polls there and `to` waits in a queue; like the real call it may be tried, so that is no correction.
    fn yield_to(&mut self, from: TaskId, to: TaskId, why: Why) -> bool;
    /// Takes `span` of the cpu's time for the policy's own work: `daemon` for a user-level one, kernel work
    /// otherwise.
    fn charge(&mut self, cpu: CpuId, span: Span, daemon: bool);
    /// Arms a timer: [`Policy::timer`] is called with it at `at` (now or later). A [`Timer::Tick`] fires at
    /// the first timer tick of its cpu after now and not before `at`.
    fn at(&mut self, at: Time, timer: Timer);
    /// Tells observers of a decision that is not about one task: a slot begins, a plan is made, a round ends.
    fn remark(&mut self, why: Why) {
        let _ = why;
    }
}

/// A scheduling policy. Only placement has no default.
///
/// A complete policy and its run: two tasks of 100 ms, created on the first of two cpus, take 100 ms if one
/// of them moves at once, and 200 ms otherwise.
///
/// ```
/// use std::sync::Arc;
///
/// use sim_core::engine::Simulation;
/// use sim_core::ids::{CpuId, ProfileId, TaskId};
/// use sim_core::machine::{Clocks, Costs, Level, Machine, Memory, Smt, Topology};
/// use sim_core::os::{Balancer, CfsParams, Discipline, OsModel};
/// use sim_core::outcome::Options;
/// use sim_core::policy::{CpuChoice, Placement, Policy, System, Timer, View, Why};
/// use sim_core::program::{AppSpec, MemoryProfile, Op, Program, Runtime, Spread, StartUp};
/// use sim_core::time::{Span, Time, Work};
/// use sim_core::wait::{BarrierKind, Polling, WaitMode};
///
/// struct PushOnce;
///
/// impl Policy for PushOnce {
///     fn init(&mut self, system: &mut dyn System) {
///         system.at(Time::from_ns(1_000), Timer::Token(0));
///     }
///     fn select_cpu(&mut self, _: &dyn View, _: TaskId, _: Placement) -> CpuChoice {
///         CpuChoice::new(CpuId(0), Why::rule("placed: on cpu 0"))
///     }
///     fn timer(&mut self, system: &mut dyn System, _: Timer) {
///         let mut waiting = Vec::new();
///         system.queued(CpuId(0), 1, &mut waiting);
///         for task in waiting {
///             system.migrate(task, CpuId(1), Why::rule("pushed: it waits while cpu 1 is idle"));
///         }
///     }
/// }
///
/// # fn main() -> Result<(), String> {
/// let machine = Machine {
///     name: "two cores".into(),
///     topology: Topology::new(&[(Level::Core, 2)])?,
///     costs: Costs::free(),
///     memory: Memory::unlimited(),
///     core_speed: Vec::new(),
///     work_unit: sim_core::time::Speed::NOMINAL,
///     smt: Smt::NONE,
///     turbo: Vec::new(),
///     clocks: Clocks::HIGHEST,
/// };
/// let linux = OsModel {
///     name: "linux-2.6.28".into(),
///     tick: Span::from_ms(4),
///     tick_skew: false,
///     discipline: Discipline::Cfs(CfsParams::scaled(2)),
///     balancer: Balancer { policy: "LOAD", rules: Vec::new() },
///     groups: Vec::new(),
///     autogroup: false,
///     numa_balancing: None,
///     real_time: None,
/// };
/// let work = Work::from_span(Span::from_ms(100));
/// let compute = Op::Compute { work, spread: Spread::NONE, profile: ProfileId(0) };
/// let program = Arc::new(Program::new(vec![compute, Op::Barrier], vec![MemoryProfile::NONE])?);
/// let runtime = Runtime {
///     name: "blocking".into(),
///     barrier: BarrierKind::Central,
///     wait: WaitMode::Block,
///     polling: Polling::PLAIN,
///     processes: false,
///     startup: StartUp::PLAIN,
/// };
/// let apps = vec![AppSpec::new("app", 2, program, runtime)];
/// let simulation = Simulation::new(machine.into(), linux.into(), apps, Options::default())?;
/// let report = simulation.run(&mut PushOnce, &mut ());
/// let run_time = report.apps[0].run_time().ok_or("it has not ended")?;
/// assert!(run_time < Span::from_ms(101), "{run_time:?}");
/// # Ok(())
/// # }
/// ```
///
/// Guarantees to the implementor: hooks are called at one instant after another, never nested; the task of
/// `select_cpu` is alive and in no queue; `app_started` comes before any hook that names its tasks,
/// `app_exited` after the last one. A cpu that `select_cpu` returns but affinity forbids is replaced by the
/// first allowed one and counted as a correction.
pub trait Policy: Send {
    /// The run begins: nothing exists yet. Arm the first timers here.
    fn init(&mut self, system: &mut dyn System) {
        let _ = system;
    }
    /// Rank 0 of the application is about to be created. Affinities set here hold from each task's first
    /// instant.
    fn app_started(&mut self, system: &mut dyn System, app: AppId) {
        let _ = (system, app);
    }
    /// All tasks of the application exist.
    fn app_ready(&mut self, system: &mut dyn System, app: AppId) {
        let _ = (system, app);
    }
    /// The last task of the application has ended.
    fn app_exited(&mut self, system: &mut dyn System, app: AppId) {
        let _ = (system, app);
    }
    /// Chooses the cpu of a created, woken or preempted task.
    fn select_cpu(&mut self, view: &dyn View, task: TaskId, placement: Placement) -> CpuChoice;
    /// The cpu is about to go idle: last chance to pull work to it (new-idle balancing).
    fn idle(&mut self, system: &mut dyn System, cpu: CpuId) {
        let _ = (system, cpu);
    }
    /// The cpu needs work: the last chance to pull a task, to change priorities, or to
    /// [dispatch](System::dispatch) a task that the policy holds. An idle cpu calls it if no task of priority
    /// level 0 waits and one of another level does. Under [`Order::Policy`], held tasks count as waiting, and
    /// a cpu whose task has yielded, used its slice or been preempted calls it if no task in its queue can
    /// run.
    fn dispatch(&mut self, system: &mut dyn System, cpu: CpuId) {
        let _ = (system, cpu);
    }
    /// Who orders the run queues; asked once, before the run begins. Of stacked policies the one of the
    /// operating system is asked.
    fn order(&self) -> Order {
        Order::System
    }
    /// Under [`Order::Policy`]: where a task goes that is created or wakes on this cpu, or that had this cpu.
    /// None: the policy holds the task until it [dispatches](System::dispatch) it. A task that is moved keeps
    /// its key, and a held one stays held. A task that was about to run and is overtaken by one that preempts
    /// is asked for again, as if it had begun to run ([`Enqueue::Preempted`]; [`Policy::stopping`] is not
    /// called for it). The policy moves no task here; it may dispatch other tasks that it holds.
    fn enqueue(
        &mut self,
        system: &mut dyn System,
        task: TaskId,
        cpu: CpuId,
        why: Enqueue,
    ) -> Option<QueueEntry> {
        let _ = (system, task, cpu, why);
        Some(QueueEntry::new(0, Span::MAX))
    }
    /// Under [`Order::Policy`]: the task begins to run on the cpu, or continues after [`Policy::enqueue`].
    /// The policy moves no task here.
    fn running(&mut self, system: &mut dyn System, task: TaskId, cpu: CpuId) {
        let _ = (system, task, cpu);
    }
    /// Under [`Order::Policy`]: the task has run on the cpu since [`Policy::running`] and sleeps, ends, is
    /// moved, or is about to be enqueued again. The policy moves no task here.
    fn stopping(&mut self, system: &mut dyn System, task: TaskId, cpu: CpuId) {
        let _ = (system, task, cpu);
    }
    /// Under [`Order::Policy`]: the weight of a task or the cpus that it may use have changed, by a command, a
    /// system call of its own or another policy. Called when the change has been made and all cpus have
    /// decided at this instant; a task that the policy holds is still held, on a cpu that it may use.
    fn changed(&mut self, system: &mut dyn System, task: TaskId, what: TaskChange) {
        let _ = (system, task, what);
    }
    /// The run is over: what the policy has counted, for the results. Names are in lower case, with `_`.
    fn counters(&self) -> Vec<(String, u64)> {
        Vec::new()
    }
    /// A timer that the policy armed with [`System::at`] fires.
    fn timer(&mut self, system: &mut dyn System, timer: Timer) {
        let _ = (system, timer);
    }
    /// Which of the costly hooks the engine calls; asked once, before the run begins.
    fn watches(&self) -> Watches {
        Watches::default()
    }
    /// A task waits in the queue of `cpu` because it has lost the cpu, or it has a better priority there. It
    /// may be moved. The engine calls this after all cpus have decided at this instant, if the task still
    /// waits there. For LGROUP only: `setfrontdq` and `setbackdq` of Solaris choose a cpu again.
    fn preempted(&mut self, system: &mut dyn System, task: TaskId, cpu: CpuId, why: Preemption) {
        let _ = (system, task, cpu, why);
    }
    /// Under automatic NUMA balancing: a task has its next hinting faults and is not on the node that it
    /// [prefers](Locality::preferred); it may be moved before it has the others. Called when all cpus have
    /// decided at this instant. A task that shares its pages prefers the node where it is afterwards. For
    /// LOAD only: `numa_migrate_preferred` of Linux.
    fn misplaced(&mut self, system: &mut dyn System, task: TaskId) {
        let _ = (system, task);
    }
    /// A task has come to where it has to wait for others of its application, and begins to: by polling at
    /// first, whatever it does later. Called when all cpus have decided at this instant; by then it may have
    /// been preempted.
    fn waits(&mut self, system: &mut dyn System, task: TaskId, what: Awaited) {
        let _ = (system, task, what);
    }
    /// A task for which [`Policy::waits`] was called has found its wait over and has continued. Called at the
    /// same point as that one.
    fn proceeds(&mut self, system: &mut dyn System, task: TaskId) {
        let _ = (system, task);
    }
    /// A task has become runnable on a cpu (created, woken, migrated to it); `system` shows the queue with
    /// it. The policy may set priorities, arm timers and dispatch tasks that it holds here, but it moves no
    /// task. If several tasks came and went at this instant, the task may have left the cpu again.
    fn runnable(&mut self, system: &mut dyn System, task: TaskId, cpu: CpuId) {
        let _ = (system, task, cpu);
    }
    /// A task has left a cpu's queue (asleep, ended, migrated away); `system` shows the queue without it. The
    /// policy may do here what it may do in [`Policy::runnable`].
    fn quiescent(&mut self, system: &mut dyn System, task: TaskId, cpu: CpuId) {
        let _ = (system, task, cpu);
    }
}
