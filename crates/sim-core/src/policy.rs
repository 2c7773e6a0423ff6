//! The policy contract: what a scheduling policy above the per-cpu run queues may see, do and decide.
//!
//! The engine owns every task and queue. The contract has three groups of functions: a policy sees through
//! [`View`] and through those functions of [`System`] that bring a cpu up to date before they answer; it acts
//! through the rest of [`System`]; and the hooks of [`Policy`] notify it. The engine validates, prices and
//! counts actions. A refused or corrected action is a counter in every report. Hooks have the names of Linux
//! `sched_ext` where one exists. A function has at least two users among the built-in policies, or its
//! documentation states why it exists for one.

mod values;

use crate::ids::{AppId, CpuId, NodeId, TaskId};
use crate::machine::Machine;
use crate::task_group::TaskGroup;
use crate::time::{Span, Time};
pub use values::{
    Action, Affinity, AppView, Awaited, CpuChoice, Decision, Enqueue, Kick, Locality, MAX_FACTS, Order,
    PageGroup, Placement, Preemption, QueueEntry, THROTTLED, TaskChange, TaskState, TaskView, Timer, Watches,
    Why,
};

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
    /// Under [`Order::Policy`]: the task groups of the run with their present weights. No queue follows them:
    /// that is up to the policy, as under sched_ext, and their limits hold nobody back. Empty under other
    /// orders.
    fn groups(&self) -> &[TaskGroup] {
        &[]
    }
    /// Under [`Order::Policy`]: the task group, as an index of [`View::groups`], in which the tasks of an
    /// application are now; none if they are in no group, and under other orders.
    fn group_of(&self, app: AppId) -> Option<u16> {
        let _ = app;
        None
    }
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
    /// Whether a task sleeps and still competes on its cpu, because it has received more than its share
    /// (`sched_delayed` of Linux).
    fn is_delayed(&self, task: TaskId) -> bool {
        let _ = task;
        false
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
    /// Under [`Order::Policy`]: the weight of a task or the cpus that it may use have changed, by a command,
    /// a system call of its own or another policy. Called when the change has been made and all cpus have
    /// decided at this instant; a task that the policy holds is still held, on a cpu that it may use.
    fn changed(&mut self, system: &mut dyn System, task: TaskId, what: TaskChange) {
        let _ = (system, task, what);
    }
    /// The run is over, for whatever reason. Nothing that is asked for here happens any more; a remark is
    /// heard.
    fn ended(&mut self, system: &mut dyn System) {
        let _ = system;
    }
    /// The run is over, after [`Policy::ended`]: what the policy has counted, for the results. Names are in
    /// lower case, with `_`.
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
    /// A task that sleeps has competed on its cpu up to now ([`View::is_delayed`]) and leaves it. Not called
    /// for one that wakes before: [`Policy::runnable`] is. The policy may do here what it may do there.
    fn dequeued(&mut self, system: &mut dyn System, task: TaskId, cpu: CpuId) {
        let _ = (system, task, cpu);
    }
}
