//! The simulation side of an environment: a policy around the base policy that stops the run at each decision
//! interval, shows the state and waits for an action.

use std::panic::resume_unwind;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender};

use sim_core::ids::{AppId, CpuId, TaskId};
use sim_core::machine::CpuSet;
use sim_core::outcome::RunReport;
use sim_core::policy::{
    self, Affinity, CpuChoice, Enqueue, Order, Placement, Policy, QueueEntry, TaskState, View, Watches, Why,
};
use sim_core::program::AppSpec;
use sim_core::time::{Span, Time};
use sim_core::wrap::{Notice, Wrapper};

/// What a step does.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Action {
    /// Nothing.
    Nothing,
    /// Moves a runnable task to the queue of a cpu.
    Migrate(u32, u32),
    /// Binds a task to a cpu: where it starts, wakes and stays.
    Place(u32, u32),
    /// Gives a task that was bound its first mask back.
    Release(u32),
    /// Gives a task the slice of this number.
    Slice(u32, u32),
}

/// The numbers of actions: nothing; then for each task and cpu a migration; for each task and cpu a
/// placement; for each task a release; for each task and slice a change of the slice.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Actions {
    pub(super) tasks: u32,
    pub(super) cpus: u32,
    pub(super) slices: u32,
}

impl Actions {
    /// How many there are.
    pub(super) const fn count(self) -> u64 {
        let (tasks, cpus, slices) = (self.tasks as u64, self.cpus as u64, self.slices as u64);
        1 + tasks * (2 * cpus + 1 + slices)
    }

    /// The action of a number; none from [`Self::count`] on.
    pub(super) fn action(self, number: u64) -> Option<Action> {
        let Some(mut left) = number.checked_sub(1) else { return Some(Action::Nothing) };
        let (tasks, cpus) = (u64::from(self.tasks), u64::from(self.cpus));
        let pair = |left: u64, width: u64| ((left / width) as u32, (left % width) as u32);
        if left < tasks * cpus {
            let (task, cpu) = pair(left, cpus);
            return Some(Action::Migrate(task, cpu));
        }
        left -= tasks * cpus;
        if left < tasks * cpus {
            let (task, cpu) = pair(left, cpus);
            return Some(Action::Place(task, cpu));
        }
        left -= tasks * cpus;
        if left < tasks {
            return Some(Action::Release(left as u32));
        }
        left -= tasks;
        let slices = u64::from(self.slices);
        (left < tasks * slices).then(|| pair(left, slices)).map(|(task, slice)| Action::Slice(task, slice))
    }
}

/// What is observed at an instant. Times are in nanoseconds; -1 is none.
#[derive(Clone, Default)]
pub(super) struct Snapshot {
    pub(super) now: u64,
    /// False where the last action was refused.
    pub(super) accepted: bool,
    pub(super) cpu_queue: Vec<i32>,
    pub(super) cpu_load: Vec<i64>,
    pub(super) cpu_task: Vec<i32>,
    pub(super) task_cpu: Vec<i32>,
    pub(super) task_state: Vec<i8>,
    pub(super) task_progress: Vec<i64>,
    pub(super) task_waits: Vec<i8>,
    pub(super) task_since_run: Vec<i64>,
    pub(super) task_bound: Vec<i32>,
    pub(super) app_start: Vec<i64>,
    pub(super) app_end: Vec<i64>,
    pub(super) mask: Vec<i8>,
}

/// What the simulation reports.
pub(super) enum Message {
    /// It waits for an action.
    Waits(Box<Snapshot>),
    /// It has ended; the last state that was seen.
    Ended(Box<Snapshot>, Result<Box<RunReport>, String>),
}

/// Unwinds the thread of a simulation that is not stepped any more.
pub(super) struct Closed;

/// The number of the timer; policies use others ([`policy::Timer::Token`] below 2^63, with the highest bit
/// set by those at user level).
const STEP: policy::Timer = policy::Timer::Token(u64::MAX);

/// The policy in the thread of the simulation.
pub(super) struct Agent {
    pub(super) base: Box<dyn Policy>,
    pub(super) interval: Span,
    pub(super) numbers: Actions,
    /// The slices to choose from.
    pub(super) slices: Vec<Span>,
    /// The application of each task.
    apps: Vec<u32>,
    /// The cpus that the scenario allows each application.
    allowed: Vec<Option<CpuSet>>,
    /// The slice of each task, where one was chosen.
    chosen: Vec<Option<Span>>,
    say: Sender<Message>,
    actions: Receiver<Action>,
    stop: Arc<AtomicBool>,
    /// The last state; some of it is kept up to date between steps.
    pub(super) last: Snapshot,
    orders: bool,
}

impl Agent {
    /// An agent for these applications.
    pub(super) fn new(
        base: Box<dyn Policy>,
        interval: Span,
        numbers: Actions,
        slices: Vec<Span>,
        specs: &[AppSpec],
        channel: (Sender<Message>, Receiver<Action>, Arc<AtomicBool>),
    ) -> Self {
        let apps: Vec<u32> =
            (0..).zip(specs).flat_map(|(app, spec)| std::iter::repeat_n(app, spec.tasks as usize)).collect();
        let tasks = apps.len();
        let last = Snapshot {
            accepted: true,
            task_bound: vec![-1; tasks],
            app_start: vec![-1; specs.len()],
            app_end: vec![-1; specs.len()],
            ..Snapshot::default()
        };
        let orders = base.order() == Order::Policy;
        Self {
            base,
            interval,
            numbers,
            slices,
            apps,
            allowed: specs.iter().map(|spec| spec.allowed.clone()).collect(),
            chosen: vec![None; tasks],
            say: channel.0,
            actions: channel.1,
            stop: channel.2,
            last,
            orders,
        }
    }

    fn may(&self, task: usize, cpu: CpuId) -> bool {
        self.allowed[self.apps[task] as usize].as_ref().is_none_or(|set| set.contains(cpu))
    }

    /// Records everything that is observed.
    fn look(&mut self, system: &mut dyn policy::System) {
        let now = system.now();
        let tasks = self.apps.len() as u32;
        let cpus: Vec<CpuId> = system.machine().cpu_ids().collect();
        let last = &mut self.last;
        last.now = now.ns();
        // The running tasks first: this brings the cpus up to date.
        last.cpu_task =
            cpus.iter().map(|cpu| system.current(*cpu).map_or(-1, |task| task.0 as i32)).collect();
        last.cpu_queue = cpus.iter().map(|cpu| system.nr_running(*cpu) as i32).collect();
        last.cpu_load = cpus.iter().map(|cpu| system.load(*cpu) as i64).collect();
        last.task_cpu.clear();
        last.task_state.clear();
        last.task_progress.clear();
        last.task_waits.clear();
        last.task_since_run.clear();
        for task in (0..tasks).map(TaskId) {
            let seen = system.task(task);
            let alive = !matches!(seen.state, TaskState::New | TaskState::Exited);
            last.task_cpu.push(if alive { seen.cpu.0 as i32 } else { -1 });
            last.task_state.push(seen.state as i8);
            last.task_progress.push(system.progress(task).ns() as i64);
            last.task_waits.push(i8::from(alive && seen.still_waits(now)));
            let since = if alive { now.since(seen.last_ran.min(now)).ns() as i64 } else { 0 };
            last.task_since_run.push(since);
        }
        self.fill_mask(system, &cpus);
    }

    /// Marks the actions that are legal now.
    fn fill_mask(&mut self, system: &dyn View, cpus: &[CpuId]) {
        let mut mask = Vec::with_capacity(self.numbers.count() as usize);
        mask.push(1);
        let states: Vec<TaskState> =
            (0..self.apps.len() as u32).map(|task| system.task(TaskId(task)).state).collect();
        for (task, state) in states.iter().enumerate() {
            let runnable = matches!(state, TaskState::Queued | TaskState::Running);
            let here = self.last.task_cpu[task];
            for cpu in cpus {
                let legal = runnable && here != cpu.0 as i32 && system.allowed(TaskId(task as u32), *cpu);
                mask.push(i8::from(legal));
            }
        }
        for (task, state) in states.iter().enumerate() {
            for cpu in cpus {
                let new = self.last.task_bound[task] != cpu.0 as i32;
                mask.push(i8::from(*state != TaskState::Exited && new && self.may(task, *cpu)));
            }
        }
        for (task, state) in states.iter().enumerate() {
            mask.push(i8::from(*state != TaskState::Exited && self.last.task_bound[task] >= 0));
        }
        for (task, state) in states.iter().enumerate() {
            for slice in &self.slices {
                let new = self.chosen[task] != Some(*slice);
                mask.push(i8::from(self.orders && *state != TaskState::Exited && new));
            }
        }
        self.last.mask = mask;
    }

    /// Shows the state, waits for an action and does it.
    fn step(&mut self, system: &mut dyn policy::System) {
        self.look(system);
        let _ = self.say.send(Message::Waits(Box::new(self.last.clone())));
        // The environment was closed.
        let Ok(action) = self.actions.recv() else { resume_unwind(Box::new(Closed)) };
        self.last.accepted = self.act(system, action);
        let next = system.now() + self.interval;
        system.at(next, STEP);
    }

    fn act(&mut self, system: &mut dyn policy::System, action: Action) -> bool {
        let why = Why::rule("action of the environment");
        match action {
            Action::Nothing => true,
            Action::Migrate(task, cpu) => system.migrate(TaskId(task), CpuId(cpu), why),
            Action::Place(task, cpu) => {
                let bound = self.may(task as usize, CpuId(cpu))
                    && system.set_affinity(TaskId(task), Affinity::One(CpuId(cpu)), why);
                if bound {
                    self.last.task_bound[task as usize] = cpu as i32;
                }
                bound
            }
            Action::Release(task) => {
                let first = self.allowed[self.apps[task as usize] as usize].clone();
                let mask = first.map_or(Affinity::All, |set| Affinity::Set(Arc::new(set)));
                let bound = self.last.task_bound[task as usize] >= 0;
                let released = bound && system.set_affinity(TaskId(task), mask, why);
                if released {
                    self.last.task_bound[task as usize] = -1;
                }
                released
            }
            Action::Slice(task, slice) => {
                let slice = self.slices.get(slice as usize).copied().filter(|_| self.orders);
                if slice.is_some() {
                    self.chosen[task as usize] = slice;
                }
                slice.is_some()
            }
        }
    }

    fn check(&self) {
        if self.stop.load(Ordering::Relaxed) {
            resume_unwind(Box::new(Closed));
        }
    }

    fn note(&mut self, app: AppId, now: Time, ended: bool) {
        let list = if ended { &mut self.last.app_end } else { &mut self.last.app_start };
        if let Some(at) = list.get_mut(app.0 as usize) {
            *at = now.ns() as i64;
        }
    }
}

impl Wrapper for Agent {
    fn wants(&self) -> Watches {
        self.base.watches()
    }

    fn ordering(&self) -> Order {
        self.base.order()
    }

    fn place(&mut self, view: &dyn View, task: TaskId, placement: Placement) -> CpuChoice {
        self.base.select_cpu(view, task, placement)
    }

    fn insert(
        &mut self,
        system: &mut dyn policy::System,
        task: TaskId,
        cpu: CpuId,
        why: Enqueue,
    ) -> Option<QueueEntry> {
        let entry = self.base.enqueue(system, task, cpu, why)?;
        let slice = self.chosen[task.0 as usize].unwrap_or(entry.slice);
        Some(QueueEntry { slice, ..entry })
    }

    fn counted(&self) -> Vec<(String, u64)> {
        self.base.counters()
    }

    fn notify(&mut self, system: &mut dyn policy::System, notice: Notice) {
        self.check();
        match notice {
            Notice::Timer(timer) if timer == STEP => return self.step(system),
            Notice::Started(app) => self.note(app, system.now(), false),
            Notice::Exited(app) => self.note(app, system.now(), true),
            _ => {}
        }
        notice.deliver(&mut *self.base, system);
        match notice {
            Notice::Init => self.step(system),
            // The last one may be the end of the run.
            Notice::Exited(_) => self.look(system),
            _ => {}
        }
    }
}
