//! What a wrapped policy asks of the system, as values, and the system it sees.

use sim_core::ids::{AppId, CpuId, TaskId};
use sim_core::machine::Machine;
use sim_core::os::OsModel;
use sim_core::policy::{Affinity, AppView, System, TaskState, TaskView, View, Why};
use sim_core::time::{Span, Time};

/// Something a policy asks of the system.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Request {
    /// [`System::migrate`].
    Migrate(TaskId, CpuId),
    /// [`System::set_affinity`].
    Bind(TaskId, Affinity),
    /// [`System::set_priority`].
    Band(TaskId, u8),
    /// [`System::yield_to`]: from, to.
    YieldTo(TaskId, TaskId),
    /// [`System::charge`]; true for a daemon.
    Charge(CpuId, Span, bool),
    /// [`System::at`].
    At(Time, u64),
    /// [`System::at_tick`].
    AtTick(CpuId, Time),
    /// [`System::at_slot`].
    AtSlot(Time),
}

impl Request {
    /// The task it is about: such a request is a decision; the others are timers and prices.
    #[must_use]
    pub const fn task(&self) -> Option<TaskId> {
        match self {
            Self::Migrate(task, _) | Self::Bind(task, _) | Self::Band(task, _) | Self::YieldTo(task, _) => {
                Some(*task)
            }
            Self::Charge(..) | Self::At(..) | Self::AtTick(..) | Self::AtSlot(..) => None,
        }
    }

    /// True when the system would not refuse it, as far as can be seen; `tasks` is the number of tasks of the run.
    pub(crate) fn is_legal(&self, view: &dyn View, tasks: u32) -> bool {
        let cpus = view.machine().cpus();
        let exists = |task: TaskId| task.0 < tasks;
        match self {
            Self::Migrate(task, to) => exists(*task) && to.0 < cpus && can_move(view, *task, *to),
            Self::Bind(task, affinity) => exists(*task) && affinity.first(view.machine().cpus()).is_some(),
            Self::Band(task, _) => exists(*task),
            // Who holds its cpu and polls there only the kernel knows.
            Self::YieldTo(from, to) => exists(*from) && exists(*to),
            Self::Charge(cpu, ..) | Self::AtTick(cpu, _) => cpu.0 < cpus,
            Self::At(..) | Self::AtSlot(_) => true,
        }
    }

    /// Asks the system for it; the answer, true where there is none.
    pub(crate) fn ask(&self, system: &mut dyn System, why: Why) -> bool {
        match self {
            Self::Migrate(task, to) => return system.migrate(*task, *to, why),
            Self::Bind(task, affinity) => return system.set_affinity(*task, affinity.clone(), why),
            Self::Band(task, priority) => return system.set_priority(*task, *priority, why),
            Self::YieldTo(from, to) => return system.yield_to(*from, *to, why),
            Self::Charge(cpu, span, daemon) => system.charge(*cpu, *span, *daemon),
            Self::At(at, token) => system.at(*at, *token),
            Self::AtTick(cpu, not_before) => system.at_tick(*cpu, *not_before),
            Self::AtSlot(at) => system.at_slot(*at),
        }
        true
    }
}

fn can_move(view: &dyn View, task: TaskId, to: CpuId) -> bool {
    let seen = view.task(task);
    matches!(seen.state, TaskState::Queued | TaskState::Running) && seen.cpu != to && view.allowed(task, to)
}

/// The number of tasks of the run.
pub(crate) fn tasks(view: &dyn View) -> u32 {
    (0..view.apps()).map(|app| view.app(AppId(app)).tasks.end).max().unwrap_or(0)
}

/// Stands between a policy and the system.
pub(crate) trait Tap {
    /// Meets a request with its reason; the answer goes to the policy.
    fn meet(&mut self, system: &mut dyn System, request: Request, why: Why) -> bool;
}

/// The system that a wrapped policy sees: it sees everything and asks the tap.
pub(crate) struct Tapped<'a> {
    system: &'a mut dyn System,
    tap: &'a mut dyn Tap,
}

impl<'a> Tapped<'a> {
    pub(crate) fn new(system: &'a mut dyn System, tap: &'a mut dyn Tap) -> Self {
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
    fn os(&self) -> &OsModel {
        self.system.os()
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
    fn nr_running(&self, cpu: CpuId) -> u32 {
        self.system.nr_running(cpu)
    }
    fn unreported(&self, skip: usize, found: &mut dyn FnMut(CpuId)) {
        self.system.unreported(skip, found);
    }
    fn load(&self, cpu: CpuId) -> u64 {
        self.system.load(cpu)
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
    fn is_buddy(&self, task: TaskId) -> bool {
        self.system.is_buddy(task)
    }
    fn priority(&self, task: TaskId) -> u8 {
        self.system.priority(task)
    }
    fn waits_in_vain(&self, task: TaskId) -> bool {
        self.system.waits_in_vain(task)
    }
    fn wait_ends(&self, task: TaskId) -> Option<Time> {
        self.system.wait_ends(task)
    }
    fn dispatch_priority(&self, task: TaskId) -> i64 {
        self.system.dispatch_priority(task)
    }
    fn best_dispatch_priority(&self, cpu: CpuId) -> Option<i64> {
        self.system.best_dispatch_priority(cpu)
    }
}

impl System for Tapped<'_> {
    fn current(&mut self, cpu: CpuId) -> Option<TaskId> {
        self.system.current(cpu)
    }
    fn queued(&mut self, cpu: CpuId, out: &mut Vec<TaskId>) {
        self.system.queued(cpu, out);
    }
    fn newest(&mut self, cpu: CpuId, most: usize, out: &mut Vec<TaskId>) {
        self.system.newest(cpu, most, out);
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
    fn migrate(&mut self, task: TaskId, to: CpuId, why: Why) -> bool {
        self.ask(Request::Migrate(task, to), why)
    }
    fn set_affinity(&mut self, task: TaskId, affinity: Affinity, why: Why) -> bool {
        self.ask(Request::Bind(task, affinity), why)
    }
    fn set_priority(&mut self, task: TaskId, priority: u8, why: Why) -> bool {
        self.ask(Request::Band(task, priority), why)
    }
    fn yield_to(&mut self, from: TaskId, to: TaskId, why: Why) -> bool {
        self.ask(Request::YieldTo(from, to), why)
    }
    fn charge(&mut self, cpu: CpuId, span: Span, daemon: bool) {
        self.ask(Request::Charge(cpu, span, daemon), Why::NONE);
    }
    fn at(&mut self, at: Time, token: u64) {
        self.ask(Request::At(at, token), Why::NONE);
    }
    fn at_tick(&mut self, cpu: CpuId, not_before: Time) {
        self.ask(Request::AtTick(cpu, not_before), Why::NONE);
    }
    fn at_slot(&mut self, at: Time) {
        self.ask(Request::AtSlot(at), Why::NONE);
    }
    fn remark(&mut self, why: Why) {
        self.system.remark(why);
    }
}
