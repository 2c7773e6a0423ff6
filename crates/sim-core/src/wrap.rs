//! Policies around policies: each hook and each action as a value, and the one place that passes them on.
//!
//! A policy that wraps another one implements [`Wrapper`] instead of [`Policy`]: it gets every call of a hook
//! as a [`Notice`] and passes it on with [`Notice::deliver`]. If it has to intercept what the wrapped policy
//! does, it passes a [`Tapped`] system on, where every action is a [`Request`]. A new hook or action is added
//! to the traits in [`crate::policy`] and here; wrappers stay as they are.

use crate::ids::{AppId, CpuId, NodeId, TaskId};
use crate::machine::Machine;
use crate::os::TaskGroup;
use crate::policy::{
    Affinity, AppView, Awaited, CpuChoice, Enqueue, Kick, Locality, Order, Placement, Policy, Preemption,
    QueueEntry, System, TaskChange, TaskView, Timer, View, Watches, Why,
};
use crate::time::{Span, Time};

/// A call of a hook of [`Policy`] that returns nothing.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Notice {
    /// [`Policy::init`].
    Init,
    /// [`Policy::app_started`].
    Started(AppId),
    /// [`Policy::app_ready`].
    Ready(AppId),
    /// [`Policy::app_exited`].
    Exited(AppId),
    /// [`Policy::idle`].
    Idle(CpuId),
    /// [`Policy::dispatch`].
    Dispatch(CpuId),
    /// [`Policy::timer`].
    Timer(Timer),
    /// [`Policy::runnable`].
    Runnable(TaskId, CpuId),
    /// [`Policy::quiescent`].
    Quiescent(TaskId, CpuId),
    /// [`Policy::dequeued`].
    Dequeued(TaskId, CpuId),
    /// [`Policy::misplaced`].
    Misplaced(TaskId),
    /// [`Policy::waits`].
    Waits(TaskId, Awaited),
    /// [`Policy::proceeds`].
    Proceeds(TaskId),
    /// [`Policy::preempted`].
    Preempted(TaskId, CpuId, Preemption),
    /// [`Policy::running`].
    Running(TaskId, CpuId),
    /// [`Policy::stopping`].
    Stopping(TaskId, CpuId),
    /// [`Policy::changed`].
    Changed(TaskId, TaskChange),
    /// [`Policy::ended`].
    Ended,
}

impl Notice {
    /// Calls the hook.
    pub fn deliver(self, policy: &mut dyn Policy, system: &mut dyn System) {
        match self {
            Self::Init => policy.init(system),
            Self::Started(app) => policy.app_started(system, app),
            Self::Ready(app) => policy.app_ready(system, app),
            Self::Exited(app) => policy.app_exited(system, app),
            Self::Idle(cpu) => policy.idle(system, cpu),
            Self::Dispatch(cpu) => policy.dispatch(system, cpu),
            Self::Timer(timer) => policy.timer(system, timer),
            Self::Runnable(task, cpu) => policy.runnable(system, task, cpu),
            Self::Quiescent(task, cpu) => policy.quiescent(system, task, cpu),
            Self::Dequeued(task, cpu) => policy.dequeued(system, task, cpu),
            Self::Misplaced(task) => policy.misplaced(system, task),
            Self::Waits(task, what) => policy.waits(system, task, what),
            Self::Proceeds(task) => policy.proceeds(system, task),
            Self::Preempted(task, cpu, why) => policy.preempted(system, task, cpu, why),
            Self::Running(task, cpu) => policy.running(system, task, cpu),
            Self::Stopping(task, cpu) => policy.stopping(system, task, cpu),
            Self::Changed(task, what) => policy.changed(system, task, what),
            Self::Ended => policy.ended(system),
        }
    }
}

/// A policy that passes calls on to another one. Every wrapper is a [`Policy`].
pub trait Wrapper: Send {
    /// [`Policy::watches`].
    fn wants(&self) -> Watches;
    /// [`Policy::order`].
    fn ordering(&self) -> Order;
    /// [`Policy::enqueue`].
    fn insert(
        &mut self,
        system: &mut dyn System,
        task: TaskId,
        cpu: CpuId,
        why: Enqueue,
    ) -> Option<QueueEntry>;
    /// [`Policy::select_cpu`].
    fn place(&mut self, view: &dyn View, task: TaskId, placement: Placement) -> CpuChoice;
    /// [`Policy::counters`].
    fn counted(&self) -> Vec<(String, u64)>;
    /// Every other hook.
    fn notify(&mut self, system: &mut dyn System, notice: Notice);
}

impl<W: Wrapper> Policy for W {
    fn watches(&self) -> Watches {
        self.wants()
    }
    fn select_cpu(&mut self, view: &dyn View, task: TaskId, placement: Placement) -> CpuChoice {
        self.place(view, task, placement)
    }
    fn order(&self) -> Order {
        self.ordering()
    }
    fn enqueue(
        &mut self,
        system: &mut dyn System,
        task: TaskId,
        cpu: CpuId,
        why: Enqueue,
    ) -> Option<QueueEntry> {
        self.insert(system, task, cpu, why)
    }
    fn running(&mut self, system: &mut dyn System, task: TaskId, cpu: CpuId) {
        self.notify(system, Notice::Running(task, cpu));
    }
    fn stopping(&mut self, system: &mut dyn System, task: TaskId, cpu: CpuId) {
        self.notify(system, Notice::Stopping(task, cpu));
    }
    fn changed(&mut self, system: &mut dyn System, task: TaskId, what: TaskChange) {
        self.notify(system, Notice::Changed(task, what));
    }
    fn ended(&mut self, system: &mut dyn System) {
        self.notify(system, Notice::Ended);
    }
    fn counters(&self) -> Vec<(String, u64)> {
        self.counted()
    }
    fn init(&mut self, system: &mut dyn System) {
        self.notify(system, Notice::Init);
    }
    fn app_started(&mut self, system: &mut dyn System, app: AppId) {
        self.notify(system, Notice::Started(app));
    }
    fn app_ready(&mut self, system: &mut dyn System, app: AppId) {
        self.notify(system, Notice::Ready(app));
    }
    fn app_exited(&mut self, system: &mut dyn System, app: AppId) {
        self.notify(system, Notice::Exited(app));
    }
    fn idle(&mut self, system: &mut dyn System, cpu: CpuId) {
        self.notify(system, Notice::Idle(cpu));
    }
    fn dispatch(&mut self, system: &mut dyn System, cpu: CpuId) {
        self.notify(system, Notice::Dispatch(cpu));
    }
    fn timer(&mut self, system: &mut dyn System, timer: Timer) {
        self.notify(system, Notice::Timer(timer));
    }
    fn runnable(&mut self, system: &mut dyn System, task: TaskId, cpu: CpuId) {
        self.notify(system, Notice::Runnable(task, cpu));
    }
    fn quiescent(&mut self, system: &mut dyn System, task: TaskId, cpu: CpuId) {
        self.notify(system, Notice::Quiescent(task, cpu));
    }
    fn dequeued(&mut self, system: &mut dyn System, task: TaskId, cpu: CpuId) {
        self.notify(system, Notice::Dequeued(task, cpu));
    }
    fn misplaced(&mut self, system: &mut dyn System, task: TaskId) {
        self.notify(system, Notice::Misplaced(task));
    }
    fn waits(&mut self, system: &mut dyn System, task: TaskId, what: Awaited) {
        self.notify(system, Notice::Waits(task, what));
    }
    fn proceeds(&mut self, system: &mut dyn System, task: TaskId) {
        self.notify(system, Notice::Proceeds(task));
    }
    fn preempted(&mut self, system: &mut dyn System, task: TaskId, cpu: CpuId, why: Preemption) {
        self.notify(system, Notice::Preempted(task, cpu, why));
    }
}

/// An action of [`System`] without its reason.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Request {
    /// [`System::migrate`].
    Migrate(TaskId, CpuId),
    /// [`System::set_affinity`].
    Bind(TaskId, Affinity),
    /// [`System::set_priority`].
    SetPriority(TaskId, u8),
    /// [`System::dispatch`].
    Dispatch(TaskId, CpuId, QueueEntry),
    /// [`System::set_slice`].
    SetSlice(TaskId, Span),
    /// [`System::kick`].
    Kick(CpuId, Kick),
    /// [`System::yield_to`]: from, to.
    YieldTo(TaskId, TaskId),
    /// [`System::charge`]; true for a daemon.
    Charge(CpuId, Span, bool),
    /// [`System::at`].
    At(Time, Timer),
}

impl Request {
    /// The task it concerns: such a request is a decision; the others are kicks, timers and prices.
    #[must_use]
    pub const fn task(&self) -> Option<TaskId> {
        match self {
            Self::Migrate(task, _)
            | Self::Bind(task, _)
            | Self::SetPriority(task, _)
            | Self::Dispatch(task, ..)
            | Self::SetSlice(task, _)
            | Self::YieldTo(task, _) => Some(*task),
            Self::Kick(..) | Self::Charge(..) | Self::At(..) => None,
        }
    }

    /// Calls the action; its answer, true where it has none.
    pub fn ask(&self, system: &mut dyn System, why: Why) -> bool {
        match self {
            Self::Migrate(task, to) => return system.migrate(*task, *to, why),
            Self::Bind(task, affinity) => return system.set_affinity(*task, affinity.clone(), why),
            Self::SetPriority(task, priority) => return system.set_priority(*task, *priority, why),
            Self::Dispatch(task, cpu, entry) => return system.dispatch(*task, *cpu, *entry, why),
            Self::SetSlice(task, slice) => return system.set_slice(*task, *slice, why),
            Self::Kick(cpu, how) => return system.kick(*cpu, *how),
            Self::YieldTo(from, to) => return system.yield_to(*from, *to, why),
            Self::Charge(cpu, span, daemon) => system.charge(*cpu, *span, *daemon),
            Self::At(at, timer) => system.at(*at, *timer),
        }
        true
    }
}

/// Intercepts the actions of a wrapped policy.
pub trait Tap {
    /// Gets a request with its reason; the answer goes to the policy.
    fn meet(&mut self, system: &mut dyn System, request: Request, why: Why) -> bool;
}

/// The system of a wrapped policy: it shows everything, and every action goes to the tap.
pub struct Tapped<'a> {
    system: &'a mut dyn System,
    tap: &'a mut dyn Tap,
}

impl<'a> Tapped<'a> {
    /// `system` with `tap` before its actions.
    #[must_use]
    pub fn new(system: &'a mut dyn System, tap: &'a mut dyn Tap) -> Self {
        Self { system, tap }
    }

    fn ask(&mut self, request: Request, why: Why) -> bool {
        self.tap.meet(self.system, request, why)
    }
}

impl View for Tapped<'_> {
    fn now(&self) -> Time {
        self.system.now()
    }
    fn machine(&self) -> &Machine {
        self.system.machine()
    }
    fn seed(&self) -> u64 {
        self.system.seed()
    }
    fn apps(&self) -> u32 {
        self.system.apps()
    }
    fn app(&self, app: AppId) -> AppView {
        self.system.app(app)
    }
    fn groups(&self) -> &[TaskGroup] {
        self.system.groups()
    }
    fn group_of(&self, app: AppId) -> Option<u16> {
        self.system.group_of(app)
    }
    fn nr_running(&self, cpu: CpuId) -> u32 {
        self.system.nr_running(cpu)
    }
    fn next_task(&self, cpu: CpuId) -> Option<TaskId> {
        self.system.next_task(cpu)
    }
    fn unreported(&self, skip: usize, found: &mut dyn FnMut(CpuId)) {
        self.system.unreported(skip, found);
    }
    fn load(&self, cpu: CpuId) -> u64 {
        self.system.load(cpu)
    }
    fn load_average(&self, cpu: CpuId) -> Option<u64> {
        self.system.load_average(cpu)
    }
    fn task_load_average(&self, task: TaskId) -> Option<u64> {
        self.system.task_load_average(task)
    }
    fn is_delayed(&self, task: TaskId) -> bool {
        self.system.is_delayed(task)
    }
    fn locality(&self, task: TaskId) -> Option<Locality> {
        self.system.locality(task)
    }
    fn fault_share(&self, task: TaskId, node: NodeId, of_group: bool) -> u64 {
        self.system.fault_share(task, node, of_group)
    }
    fn task(&self, task: TaskId) -> TaskView {
        self.system.task(task)
    }
    fn allowed(&self, task: TaskId, cpu: CpuId) -> bool {
        self.system.allowed(task, cpu)
    }
    fn first_allowed(&self, task: TaskId) -> Option<CpuId> {
        self.system.first_allowed(task)
    }
    fn best_dispatch_priority(&self, cpu: CpuId) -> Option<i64> {
        self.system.best_dispatch_priority(cpu)
    }
}

impl System for Tapped<'_> {
    fn current(&mut self, cpu: CpuId) -> Option<TaskId> {
        self.system.current(cpu)
    }
    fn queued(&mut self, cpu: CpuId, most: usize, out: &mut Vec<TaskId>) {
        self.system.queued(cpu, most, out);
    }
    fn dirty(&mut self, found: &mut dyn FnMut(CpuId)) {
        self.system.dirty(found);
    }
    fn yield_ends(&mut self, cpu: CpuId) -> Time {
        self.system.yield_ends(cpu)
    }
    fn cpu_time(&mut self, task: TaskId) -> Span {
        self.system.cpu_time(task)
    }
    fn progress(&mut self, task: TaskId) -> Span {
        self.system.progress(task)
    }
    fn slice(&mut self, task: TaskId) -> Option<(Span, Span)> {
        self.system.slice(task)
    }
    fn is_eligible(&mut self, task: TaskId) -> bool {
        self.system.is_eligible(task)
    }
    fn migrate(&mut self, task: TaskId, to: CpuId, why: Why) -> bool {
        self.ask(Request::Migrate(task, to), why)
    }
    fn set_affinity(&mut self, task: TaskId, affinity: Affinity, why: Why) -> bool {
        self.ask(Request::Bind(task, affinity), why)
    }
    fn set_priority(&mut self, task: TaskId, priority: u8, why: Why) -> bool {
        self.ask(Request::SetPriority(task, priority), why)
    }
    fn dispatch(&mut self, task: TaskId, cpu: CpuId, entry: QueueEntry, why: Why) -> bool {
        self.ask(Request::Dispatch(task, cpu, entry), why)
    }
    fn kick(&mut self, cpu: CpuId, how: Kick) -> bool {
        self.ask(Request::Kick(cpu, how), Why::NONE)
    }
    fn set_slice(&mut self, task: TaskId, slice: Span, why: Why) -> bool {
        self.ask(Request::SetSlice(task, slice), why)
    }
    fn fail(&mut self, reason: String) {
        self.system.fail(reason);
    }
    fn yield_to(&mut self, from: TaskId, to: TaskId, why: Why) -> bool {
        self.ask(Request::YieldTo(from, to), why)
    }
    fn charge(&mut self, cpu: CpuId, span: Span, daemon: bool) {
        self.ask(Request::Charge(cpu, span, daemon), Why::NONE);
    }
    fn at(&mut self, at: Time, timer: Timer) {
        self.ask(Request::At(at, timer), Why::NONE);
    }
    fn remark(&mut self, why: Why) {
        self.system.remark(why);
    }
}

/// A user-level policy on top of a kernel's: placement and balancing stay the kernel's, masks and timers are
/// shared.
pub struct Stacked {
    user: Box<dyn Policy>,
    kernel: Box<dyn Policy>,
}

/// Timer tokens of the user-level policy carry this bit inside [`Stacked`].
const USER_TOKEN: u64 = 1 << 63;

impl Stacked {
    /// `user` on top of `kernel`.
    #[must_use]
    pub fn new(user: Box<dyn Policy>, kernel: Box<dyn Policy>) -> Self {
        Self { user, kernel }
    }
}

/// Marks the timers that the user-level policy requests.
struct UserTimers;

impl Tap for UserTimers {
    fn meet(&mut self, system: &mut dyn System, request: Request, why: Why) -> bool {
        match request {
            Request::At(at, Timer::Token(token)) => {
                system.at(at, Timer::Token(token | USER_TOKEN));
                true
            }
            other => other.ask(system, why),
        }
    }
}

impl Wrapper for Stacked {
    fn wants(&self) -> Watches {
        Watches { waits: self.kernel.watches().waits || self.user.watches().waits, ..self.kernel.watches() }
    }

    fn place(&mut self, view: &dyn View, task: TaskId, placement: Placement) -> CpuChoice {
        self.kernel.select_cpu(view, task, placement)
    }

    fn ordering(&self) -> Order {
        self.kernel.order()
    }

    fn insert(
        &mut self,
        system: &mut dyn System,
        task: TaskId,
        cpu: CpuId,
        why: Enqueue,
    ) -> Option<QueueEntry> {
        self.kernel.enqueue(system, task, cpu, why)
    }

    fn counted(&self) -> Vec<(String, u64)> {
        let mut counters = self.kernel.counters();
        counters.extend(self.user.counters());
        counters
    }

    fn notify(&mut self, system: &mut dyn System, notice: Notice) {
        let (mut to_kernel, mut to_user) = (Some(notice), None);
        match notice {
            Notice::Init
            | Notice::Started(_)
            | Notice::Ready(_)
            | Notice::Exited(_)
            | Notice::Ended
            | Notice::Waits(..)
            | Notice::Proceeds(_) => to_user = Some(notice),
            Notice::Timer(Timer::Token(token)) if token & USER_TOKEN != 0 => {
                to_user = Some(Notice::Timer(Timer::Token(token & !USER_TOKEN)));
                to_kernel = None;
            }
            _ => {}
        }
        if let Some(notice) = to_kernel {
            notice.deliver(&mut *self.kernel, system);
        }
        if let Some(notice) = to_user {
            notice.deliver(&mut *self.user, &mut Tapped::new(system, &mut UserTimers));
        }
    }
}
