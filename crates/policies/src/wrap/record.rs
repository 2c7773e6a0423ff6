//! Recording: a policy whose every decision, price and timer is written down by the hook call that made it.

use std::collections::BTreeMap;

use sim_core::ids::{AppId, CpuId, NodeId, TaskId};
use sim_core::policy::{Awaited, CpuChoice, Placement, Policy, Preemption, System, View, Why};
use sim_core::time::Time;

use super::request::{Request, Tap, Tapped};

/// A hook, with what it was called for.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Hook {
    /// [`Policy::init`].
    Init,
    /// [`Policy::app_started`].
    Started(AppId),
    /// [`Policy::app_ready`].
    Ready(AppId),
    /// [`Policy::app_exited`].
    Exited(AppId),
    /// [`Policy::select_cpu`].
    Place(TaskId),
    /// [`Policy::idle`].
    Idle(CpuId),
    /// [`Policy::tick`].
    Tick(CpuId),
    /// [`Policy::timer`] with a token.
    Timer(u64),
    /// [`Policy::slot`].
    Slot,
    /// [`Policy::waits`].
    Waits(TaskId),
    /// [`Policy::proceeds`].
    Proceeds(TaskId),
    /// [`Policy::emptied`].
    Emptied(CpuId),
    /// [`Policy::enqueued`].
    Enqueued(TaskId),
    /// [`Policy::preempted`].
    Preempted(TaskId),
}

/// A hook call in which something was asked for or a cpu was chosen.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Call {
    /// When.
    pub at: Time,
    /// The hook.
    pub hook: Hook,
    /// How often this hook had been called for the same thing before.
    pub nth: u32,
    /// The cpu that [`Hook::Place`] gave.
    pub cpu: Option<CpuId>,
    /// The node that the pages of the created task go to, if the policy said so.
    pub node: Option<NodeId>,
    /// What was asked for, in order.
    pub asked: Vec<Request>,
}

/// All a policy did in a run, in order.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Schedule {
    /// The calls.
    pub calls: Vec<Call>,
    /// When the run ended.
    pub end: Time,
}

/// Counts the calls of each hook.
#[derive(Default)]
pub(crate) struct Counts(BTreeMap<Hook, u32>);

impl Counts {
    /// How often this hook was called before this call.
    pub(crate) fn next(&mut self, hook: Hook) -> u32 {
        let count = self.0.entry(hook).or_default();
        let before = *count;
        *count = before.saturating_add(1);
        before
    }
}

/// A policy that is written down.
pub struct Recorder {
    inner: Box<dyn Policy>,
    counts: Counts,
    calls: Vec<Call>,
}

/// The requests of one call; those that the system refused did nothing and are left out.
#[derive(Default)]
struct Asked(Vec<Request>);

impl Tap for Asked {
    fn meet(&mut self, system: &mut dyn System, request: Request, why: Why) -> bool {
        let done = request.ask(system, why);
        if done {
            self.0.push(request);
        }
        done
    }
}

impl Recorder {
    /// Records `inner`.
    #[must_use]
    pub fn new(inner: Box<dyn Policy>) -> Self {
        Self { inner, counts: Counts::default(), calls: Vec::new() }
    }

    /// What was recorded in a run that ended at `end`.
    #[must_use]
    pub fn into_schedule(self, end: Time) -> Schedule {
        Schedule { calls: self.calls, end }
    }

    fn call(
        &mut self,
        system: &mut dyn System,
        hook: Hook,
        act: impl FnOnce(&mut dyn Policy, &mut dyn System),
    ) {
        let mut asked = Asked::default();
        act(&mut *self.inner, &mut Tapped::new(system, &mut asked));
        let nth = self.counts.next(hook);
        if !asked.0.is_empty() {
            self.calls.push(Call { at: system.now(), hook, nth, cpu: None, node: None, asked: asked.0 });
        }
    }
}

impl Policy for Recorder {
    fn init(&mut self, system: &mut dyn System) {
        self.call(system, Hook::Init, |inner, system| inner.init(system));
    }
    fn app_started(&mut self, system: &mut dyn System, app: AppId) {
        self.call(system, Hook::Started(app), |inner, system| inner.app_started(system, app));
    }
    fn app_ready(&mut self, system: &mut dyn System, app: AppId) {
        self.call(system, Hook::Ready(app), |inner, system| inner.app_ready(system, app));
    }
    fn app_exited(&mut self, system: &mut dyn System, app: AppId) {
        self.call(system, Hook::Exited(app), |inner, system| inner.app_exited(system, app));
    }
    fn select_cpu(&mut self, view: &dyn View, task: TaskId, placement: Placement) -> CpuChoice {
        let choice = self.inner.select_cpu(view, task, placement);
        let hook = Hook::Place(task);
        let nth = self.counts.next(hook);
        let node = choice.memory_node.filter(|_| matches!(placement, Placement::Fork { .. }));
        self.calls.push(Call { at: view.now(), hook, nth, cpu: Some(choice.cpu), node, asked: Vec::new() });
        choice
    }
    fn idle(&mut self, system: &mut dyn System, cpu: CpuId) {
        self.call(system, Hook::Idle(cpu), |inner, system| inner.idle(system, cpu));
    }
    fn tick(&mut self, system: &mut dyn System, cpu: CpuId) {
        self.call(system, Hook::Tick(cpu), |inner, system| inner.tick(system, cpu));
    }
    fn timer(&mut self, system: &mut dyn System, token: u64) {
        self.call(system, Hook::Timer(token), |inner, system| inner.timer(system, token));
    }
    fn slot(&mut self, system: &mut dyn System) {
        self.call(system, Hook::Slot, |inner, system| inner.slot(system));
    }
    fn watches_waits(&self) -> bool {
        self.inner.watches_waits()
    }
    fn watches_preemptions(&self) -> bool {
        self.inner.watches_preemptions()
    }
    fn preempted(&mut self, system: &mut dyn System, task: TaskId, cpu: CpuId, why: Preemption) {
        self.call(system, Hook::Preempted(task), |inner, system| inner.preempted(system, task, cpu, why));
    }
    fn waits(&mut self, system: &mut dyn System, task: TaskId, what: Awaited) {
        self.call(system, Hook::Waits(task), |inner, system| inner.waits(system, task, what));
    }
    fn proceeds(&mut self, system: &mut dyn System, task: TaskId) {
        self.call(system, Hook::Proceeds(task), |inner, system| inner.proceeds(system, task));
    }
    fn emptied(&mut self, system: &mut dyn System, cpu: CpuId) {
        self.call(system, Hook::Emptied(cpu), |inner, system| inner.emptied(system, cpu));
    }
    fn enqueued(&mut self, system: &mut dyn System, task: TaskId, cpu: CpuId) {
        self.call(system, Hook::Enqueued(task), |inner, system| inner.enqueued(system, task, cpu));
    }
    fn runnable(&mut self, view: &dyn View, task: TaskId, cpu: CpuId) {
        self.inner.runnable(view, task, cpu);
    }
    fn quiescent(&mut self, view: &dyn View, task: TaskId, cpu: CpuId) {
        self.inner.quiescent(view, task, cpu);
    }
}
