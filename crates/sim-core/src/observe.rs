//! What happened, reported as facts to observers that cannot steer, and the digest of all facts.

use crate::account::Account;
use crate::command::Act;
use crate::ids::{AppId, CpuId, DeviceId, EventId, LockId, TaskId};
use crate::policy::Decision;
use crate::time::{Span, Time};
use crate::wait::Scope;

/// Why a task left its cpu.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub enum LeaveReason {
    /// It went to sleep.
    Slept = 1,
    /// It ended; or its process did, and a new one takes its rank.
    Exited = 2,
    /// Its slice was used up, or a woken task or a time slot took the cpu.
    Preempted = 3,
    /// It began to wait by polling: from here on it only polls a flag.
    Waits = 4,
    /// It was moved to another cpu while running.
    Moved = 5,
}

/// A fact. Yields and switches among tasks that all poll are not reported one by one: [`Observation::Polled`]
/// sums them up.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Observation {
    /// The first task of an application was created.
    AppStarted(AppId),
    /// The last task of an application ended.
    AppExited(AppId),
    /// A task became runnable on a cpu (created, woken or moved there).
    Runnable {
        /// Task.
        task: TaskId,
        /// Cpu.
        cpu: CpuId,
    },
    /// A task got the cpu and has work to do (a task that only polls is not reported).
    Running {
        /// Task.
        task: TaskId,
        /// Cpu.
        cpu: CpuId,
    },
    /// A task left the cpu.
    Stopping {
        /// Task.
        task: TaskId,
        /// Cpu.
        cpu: CpuId,
        /// Why.
        reason: LeaveReason,
    },
    /// Tasks polled on a cpu since the last fact about that cpu.
    Polled {
        /// Cpu.
        cpu: CpuId,
        /// Polls.
        polls: u64,
        /// Switches among them.
        switches: u64,
    },
    /// A task moved between cpus.
    Migrated {
        /// Task.
        task: TaskId,
        /// From.
        from: CpuId,
        /// To.
        to: CpuId,
    },
    /// A task arrived at a barrier.
    Arrived {
        /// Task.
        task: TaskId,
        /// The scope of the barrier.
        scope: Scope,
        /// Number of the barrier episode of this scope, from 0.
        episode: u32,
    },
    /// A task found that all had arrived, and continued.
    Released {
        /// Task.
        task: TaskId,
        /// The scope of the barrier.
        scope: Scope,
        /// Number of the barrier episode.
        episode: u32,
    },
    /// A task found a lock taken, and waits for it.
    LockAwaited {
        /// Task.
        task: TaskId,
        /// The lock, of those of its application, or of the run where these are its locks.
        lock: LockId,
    },
    /// A task has got the lock for which it waited, and continues.
    LockObtained {
        /// Task.
        task: TaskId,
        /// The lock.
        lock: LockId,
    },
}

/// What a task that has fallen asleep waits for.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Sleep {
    /// The others of its barrier.
    Barrier,
    /// A message of a neighbour.
    Message,
    /// A lock, of those of its application, or of the run where these are its locks.
    Lock(LockId),
    /// Units of a counted event, or the others that meet there.
    Event(EventId),
    /// A job of a pool.
    Job,
    /// A device that works for it.
    Device(DeviceId),
    /// An instant.
    Timer,
    /// A command from outside that lets it continue.
    Command,
}

/// A decision of a run queue, with the tasks that compete on the cpu. Virtual times are in ns, relative to
/// their queue. Picks within polling that is computed in closed form are not reported.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct QueueDecision {
    /// The cpu of the queue.
    pub cpu: CpuId,
    /// The task that was picked, or that has entered the queue.
    pub task: TaskId,
    /// What was decided.
    pub verdict: Verdict,
    /// The rule that decided.
    pub rule: &'static str,
    /// What the keys of the contenders are.
    pub keys: Keys,
    /// The weighted mean of virtual runtimes, rounded down, under disciplines with eligibility.
    pub mean: Option<i64>,
    /// All runnable tasks of the cpu and those whose dequeue is delayed, the current one first.
    pub contenders: Vec<Contender>,
}

/// What a discipline sorts by: the meaning of [`Contender::vruntime`]. The least goes first.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Keys {
    /// Virtual runtime in ns.
    VirtualRuntime,
    /// The order of arrival.
    Arrival,
    /// 256 times the number of the array, plus the priority: 100 is the best, 139 the worst.
    ArrayAndPriority,
    /// The score of an interactive thread, or 256 for all others.
    Score,
    /// The priority with its sign changed.
    Priority,
    /// What the policy says.
    Policy,
}

/// What a run queue decides.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Verdict {
    /// The task runs next.
    Picked,
    /// The task, which has entered, is to take the cpu from the current one.
    Preempts,
    /// The task, which has entered, waits while the current one continues.
    Waits,
}

/// A task that competes on a cpu.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Contender {
    /// The task.
    pub task: TaskId,
    /// It has the cpu.
    pub current: bool,
    /// It sleeps, and its dequeue is delayed.
    pub delayed: bool,
    /// Its priority level: the queue serves lower ones first.
    pub level: u8,
    /// Its priority in the real-time class, 1 to 99; the best is 99.
    pub real_time: Option<u8>,
    /// Its absolute deadline if it is of `SCHED_DEADLINE`; the earliest is the best.
    pub due: Option<Time>,
    /// Its virtual runtime, or the key of its discipline ([`QueueDecision::keys`]).
    pub vruntime: i64,
    /// What disciplines with eligibility add.
    pub request: Option<Request>,
}

/// The request of a task under earliest eligible virtual deadline first.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Request {
    /// Its virtual deadline.
    pub deadline: i64,
    /// Its virtual runtime is not above the mean.
    pub eligible: bool,
    /// The current task is protected up to this virtual runtime, as long as it is eligible.
    pub protected_until: Option<i64>,
}

/// A request that has been answered, of an application that answers requests
/// ([`crate::program::AppSpec::requests`]).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Answered {
    /// The task that answered it.
    pub task: TaskId,
    /// When it came: into its queue, or the instant of the timer or clock for which the task slept. A
    /// response time counts from here.
    pub came: Time,
    /// When the task began with it: it took it from its queue, had a cpu again after its sleep, or found that
    /// the instant of its clock had passed.
    pub begun: Time,
}

/// A sink of observations. The default does nothing and costs nothing.
///
/// # Examples
/// An observer that measures how long tasks are at barriers, here called as the engine calls it:
/// ```
/// use std::collections::BTreeMap;
///
/// use sim_core::ids::TaskId;
/// use sim_core::observe::{Observation, Observer};
/// use sim_core::time::{Span, Time};
/// use sim_core::wait::Scope;
///
/// #[derive(Default)]
/// struct BarrierTime {
///     arrived: BTreeMap<TaskId, Time>,
///     longest: Span,
/// }
///
/// impl Observer for BarrierTime {
///     fn observe(&mut self, at: Time, what: &Observation) {
///         match *what {
///             Observation::Arrived { task, .. } => {
///                 self.arrived.insert(task, at);
///             }
///             Observation::Released { task, .. } => {
///                 let arrived = self.arrived.remove(&task).unwrap_or(at);
///                 self.longest = self.longest.max(at - arrived);
///             }
///             _ => {}
///         }
///     }
/// }
///
/// let mut times = BarrierTime::default();
/// let (task, scope, episode) = (TaskId(7), Scope::All, 0);
/// times.observe(Time::from_ns(100), &Observation::Arrived { task, scope, episode });
/// times.observe(Time::from_ns(350), &Observation::Released { task, scope, episode });
/// assert_eq!(times.longest, Span::from_ns(250));
/// ```
pub trait Observer {
    /// A fact at an instant. Instants never decrease.
    fn observe(&mut self, at: Time, what: &Observation) {
        let _ = (at, what);
    }
    /// A decision of the policy and its reason, before its effects are observed. No part of the digest.
    fn decided(&mut self, at: Time, decision: &Decision) {
        let _ = (at, decision);
    }
    /// A command from outside is about to act: nothing else happens at this instant any more. No part of the
    /// digest.
    fn commanded(&mut self, at: Time, app: AppId, act: &Act) {
        let _ = (at, app, act);
    }
    /// Whether [`Self::queued`] is to be called; asked once, at the start. An observer that wraps another one
    /// has to pass its answer on.
    fn wants_queues(&self) -> bool {
        false
    }
    /// A decision of a run queue, if [`Self::wants_queues`]. No part of the digest.
    fn queued(&mut self, at: Time, decision: &QueueDecision) {
        let _ = (at, decision);
    }
    /// Whether [`Self::dispatched`] is to be called; asked once, at the start. An observer that wraps another
    /// one has to pass its answer on.
    fn wants_dispatches(&self) -> bool {
        false
    }
    /// A task from the run queue gets the cpu, if [`Self::wants_dispatches`]; it continues after `overhead`.
    /// Dispatches within polling that is computed in closed form are not reported. No part of the digest.
    fn dispatched(&mut self, at: Time, task: TaskId, cpu: CpuId, overhead: Span) {
        let _ = (at, task, cpu, overhead);
    }
    /// Whether [`Self::slept`] and [`Self::wakes`] are to be called; asked once, at the start. An observer
    /// that wraps another one has to pass its answer on.
    fn wants_sleeps(&self) -> bool {
        false
    }
    /// A task falls asleep, if [`Self::wants_sleeps`]: behind the fact that it leaves its cpu. No part of the
    /// digest.
    fn slept(&mut self, at: Time, task: TaskId, what: Sleep) {
        let _ = (at, task, what);
    }
    /// The current task `waker` ends the wait of a sleeping task, which becomes runnable once the wake-up has
    /// taken its time, if [`Self::wants_sleeps`]. Whoever is woken by a timer, a device or from outside has
    /// no waker. No part of the digest.
    fn wakes(&mut self, at: Time, waker: TaskId, task: TaskId) {
        let _ = (at, waker, task);
    }
    /// Whether [`Self::answered`] is to be called; asked once, at the start. An observer that wraps another
    /// one has to pass its answer on.
    fn wants_requests(&self) -> bool {
        false
    }
    /// A request is answered now, if [`Self::wants_requests`]: its response ends. No part of the digest.
    fn answered(&mut self, at: Time, request: &Answered) {
        let _ = (at, request);
    }
    /// Whether anything is to be reported; asked once, at the start. An observer that wraps another one has
    /// to pass its answer on.
    fn wants_facts(&self) -> bool {
        true
    }
    /// Whether [`Self::accounted`] is to be called; asked once, at the start. An observer that wraps another
    /// one has to pass its answer on.
    fn wants_cpu_time(&self) -> bool {
        false
    }
    /// The cpu-time breakdown of a cpu, if [`Self::wants_cpu_time`]: before a fact that begins or ends
    /// something there, before and after idle time, and at the end of the run. `account.total()` is the
    /// instant up to which it is complete: that of the fact, or an earlier one if the current task continues.
    /// The difference between two calls therefore holds the work of one task, or polling, or idle time. No
    /// part of the digest. The ticks that the report subtracts from computing time are included.
    fn accounted(&mut self, cpu: CpuId, account: &Account) {
        let _ = (cpu, account);
    }
}

impl Observer for () {
    fn wants_facts(&self) -> bool {
        false
    }
}

impl<A: Observer, B: Observer> Observer for (A, B) {
    fn observe(&mut self, at: Time, what: &Observation) {
        self.0.observe(at, what);
        self.1.observe(at, what);
    }
    fn decided(&mut self, at: Time, decision: &Decision) {
        self.0.decided(at, decision);
        self.1.decided(at, decision);
    }
    fn commanded(&mut self, at: Time, app: AppId, act: &Act) {
        self.0.commanded(at, app, act);
        self.1.commanded(at, app, act);
    }
    fn wants_queues(&self) -> bool {
        self.0.wants_queues() || self.1.wants_queues()
    }
    fn queued(&mut self, at: Time, decision: &QueueDecision) {
        self.0.queued(at, decision);
        self.1.queued(at, decision);
    }
    fn wants_dispatches(&self) -> bool {
        self.0.wants_dispatches() || self.1.wants_dispatches()
    }
    fn dispatched(&mut self, at: Time, task: TaskId, cpu: CpuId, overhead: Span) {
        self.0.dispatched(at, task, cpu, overhead);
        self.1.dispatched(at, task, cpu, overhead);
    }
    fn wants_sleeps(&self) -> bool {
        self.0.wants_sleeps() || self.1.wants_sleeps()
    }
    fn slept(&mut self, at: Time, task: TaskId, what: Sleep) {
        self.0.slept(at, task, what);
        self.1.slept(at, task, what);
    }
    fn wakes(&mut self, at: Time, waker: TaskId, task: TaskId) {
        self.0.wakes(at, waker, task);
        self.1.wakes(at, waker, task);
    }
    fn wants_requests(&self) -> bool {
        self.0.wants_requests() || self.1.wants_requests()
    }
    fn answered(&mut self, at: Time, request: &Answered) {
        self.0.answered(at, request);
        self.1.answered(at, request);
    }
    fn wants_facts(&self) -> bool {
        self.0.wants_facts() || self.1.wants_facts()
    }
    fn wants_cpu_time(&self) -> bool {
        self.0.wants_cpu_time() || self.1.wants_cpu_time()
    }
    fn accounted(&mut self, cpu: CpuId, account: &Account) {
        self.0.accounted(cpu, account);
        self.1.accounted(cpu, account);
    }
}

impl<O: Observer + ?Sized> Observer for &mut O {
    fn observe(&mut self, at: Time, what: &Observation) {
        (**self).observe(at, what);
    }
    fn decided(&mut self, at: Time, decision: &Decision) {
        (**self).decided(at, decision);
    }
    fn commanded(&mut self, at: Time, app: AppId, act: &Act) {
        (**self).commanded(at, app, act);
    }
    fn wants_queues(&self) -> bool {
        (**self).wants_queues()
    }
    fn queued(&mut self, at: Time, decision: &QueueDecision) {
        (**self).queued(at, decision);
    }
    fn wants_dispatches(&self) -> bool {
        (**self).wants_dispatches()
    }
    fn dispatched(&mut self, at: Time, task: TaskId, cpu: CpuId, overhead: Span) {
        (**self).dispatched(at, task, cpu, overhead);
    }
    fn wants_sleeps(&self) -> bool {
        (**self).wants_sleeps()
    }
    fn slept(&mut self, at: Time, task: TaskId, what: Sleep) {
        (**self).slept(at, task, what);
    }
    fn wakes(&mut self, at: Time, waker: TaskId, task: TaskId) {
        (**self).wakes(at, waker, task);
    }
    fn wants_requests(&self) -> bool {
        (**self).wants_requests()
    }
    fn answered(&mut self, at: Time, request: &Answered) {
        (**self).answered(at, request);
    }
    fn wants_facts(&self) -> bool {
        (**self).wants_facts()
    }
    fn wants_cpu_time(&self) -> bool {
        (**self).wants_cpu_time()
    }
    fn accounted(&mut self, cpu: CpuId, account: &Account) {
        (**self).accounted(cpu, account);
    }
}

/// The digest of all observations: equal digests, equal runs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Digest(u64);

impl Default for Digest {
    fn default() -> Self {
        Self(0xcbf2_9ce4_8422_2325)
    }
}

impl Digest {
    /// The value so far.
    #[must_use]
    pub const fn value(self) -> u64 {
        self.0
    }

    /// Mixes in a word (a multiply-and-rotate step; not cryptographic).
    #[inline]
    pub const fn mix(&mut self, word: u64) {
        self.0 = (self.0 ^ word).wrapping_mul(0x9E37_79B9_7F4A_7C15).rotate_left(29);
    }
}

impl Observer for Digest {
    #[inline]
    fn observe(&mut self, at: Time, what: &Observation) {
        let (kind, a, b): (u64, u64, u64) = match *what {
            Observation::AppStarted(app) => (1, u64::from(app.0), 0),
            Observation::AppExited(app) => (2, u64::from(app.0), 0),
            Observation::Runnable { task, cpu } => (3, u64::from(task.0), u64::from(cpu.0)),
            Observation::Running { task, cpu } => (4, u64::from(task.0), u64::from(cpu.0)),
            Observation::Stopping { task, cpu, reason } => {
                (5, u64::from(task.0), u64::from(cpu.0) << 8 | reason as u64)
            }
            Observation::Polled { cpu, polls, switches } => (6, u64::from(cpu.0) << 40 ^ polls, switches),
            Observation::Migrated { task, from, to } => {
                (7, u64::from(task.0), u64::from(from.0) << 32 | u64::from(to.0))
            }
            Observation::Arrived { task, scope, episode } => {
                (8 + 2 * scope as u64, u64::from(task.0), u64::from(episode))
            }
            Observation::Released { task, scope, episode } => {
                (9 + 2 * scope as u64, u64::from(task.0), u64::from(episode))
            }
            Observation::LockAwaited { task, lock } => (14, u64::from(task.0), u64::from(lock.0)),
            Observation::LockObtained { task, lock } => (15, u64::from(task.0), u64::from(lock.0)),
        };
        self.mix(at.ns() << 4 | kind);
        self.mix(a << 32 ^ b);
    }
}
