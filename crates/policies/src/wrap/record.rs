//! Recording: a policy whose every decision, price and timer is written down by the hook call that made it.

use std::collections::BTreeMap;

use sim_core::ids::{AppId, CpuId, NodeId, TaskId};
use sim_core::policy::{
    CpuChoice, Enqueue, Order, Placement, Policy, QueueEntry, System, Timer, View, Watches, Why,
};
use sim_core::time::Time;
use sim_core::wrap::{Notice, Request, Tap, Tapped, Wrapper};

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
    /// [`Policy::timer`] with a [`Timer::Tick`].
    Tick(CpuId),
    /// [`Policy::timer`] with a [`Timer::Token`].
    Timer(u64),
    /// [`Policy::timer`] with a [`Timer::Slot`].
    Slot,
    /// [`Policy::waits`].
    Waits(TaskId),
    /// [`Policy::proceeds`].
    Proceeds(TaskId),
    /// [`Policy::dispatch`].
    Dispatch(CpuId),
    /// [`Policy::enqueue`].
    Insert(TaskId),
    /// [`Policy::runnable`].
    Enqueued(TaskId),
    /// [`Policy::preempted`].
    Preempted(TaskId),
    /// [`Policy::misplaced`].
    Misplaced(TaskId),
    /// [`Policy::quiescent`].
    Left(TaskId),
    /// [`Policy::dequeued`].
    Dequeued(TaskId),
    /// [`Policy::running`].
    Running(TaskId),
    /// [`Policy::stopping`].
    Stopping(TaskId),
    /// [`Policy::changed`].
    Changed(TaskId),
    /// [`Policy::ended`].
    Ended,
}

impl Hook {
    /// The hook of a notice.
    pub(crate) const fn of(notice: Notice) -> Self {
        match notice {
            Notice::Init => Self::Init,
            Notice::Started(app) => Self::Started(app),
            Notice::Ready(app) => Self::Ready(app),
            Notice::Exited(app) => Self::Exited(app),
            Notice::Idle(cpu) => Self::Idle(cpu),
            Notice::Dispatch(cpu) => Self::Dispatch(cpu),
            Notice::Timer(Timer::Token(token)) => Self::Timer(token),
            Notice::Timer(Timer::Tick(cpu)) => Self::Tick(cpu),
            Notice::Timer(Timer::Slot) => Self::Slot,
            Notice::Runnable(task, _) => Self::Enqueued(task),
            Notice::Waits(task, _) => Self::Waits(task),
            Notice::Proceeds(task) => Self::Proceeds(task),
            Notice::Preempted(task, ..) => Self::Preempted(task),
            Notice::Misplaced(task) => Self::Misplaced(task),
            Notice::Quiescent(task, _) => Self::Left(task),
            Notice::Dequeued(task, _) => Self::Dequeued(task),
            Notice::Running(task, _) => Self::Running(task),
            Notice::Stopping(task, _) => Self::Stopping(task),
            Notice::Changed(task, _) => Self::Changed(task),
            Notice::Ended => Self::Ended,
        }
    }
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
    /// What [`Hook::Insert`] gave: a place in the queue, or none for a task that the policy holds.
    pub entry: Option<Option<QueueEntry>>,
    /// What was asked for, in order.
    pub asked: Vec<Request>,
}

/// All a policy did in a run, in order.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Schedule {
    /// Who orders the queues.
    pub order: Order,
    /// It is asked where a task goes that begins a job without a sleep
    /// ([`Watches::releases`](sim_core::policy::Watches)).
    pub releases: bool,
    /// The calls.
    pub calls: Vec<Call>,
    /// When the run ended.
    pub end: Time,
}

/// The most calls of a schedule: some 500 MB in memory.
const MAX_CALLS: usize = 4_000_001;

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
    ///
    /// # Errors
    /// A sentence: there were more calls than a schedule can have.
    pub fn into_schedule(self, end: Time) -> Result<Schedule, String> {
        if self.calls.len() >= MAX_CALLS {
            return Err("its schedule has more than 4,000,000 calls: a policy that orders the queues is \
                called at every \
                        poll. Shorten the run, or choose a runtime whose waiting tasks sleep"
                .into());
        }
        let (order, releases) = (self.inner.order(), self.inner.watches().releases);
        Ok(Schedule { order, releases, calls: self.calls, end })
    }

    /// Keeps a call, unless there are too many already.
    fn push(&mut self, call: Call) {
        if self.calls.len() < MAX_CALLS {
            self.calls.push(call);
        }
    }
}

impl Wrapper for Recorder {
    fn wants(&self) -> Watches {
        self.inner.watches()
    }

    fn place(&mut self, view: &dyn View, task: TaskId, placement: Placement) -> CpuChoice {
        let choice = self.inner.select_cpu(view, task, placement);
        let hook = Hook::Place(task);
        let nth = self.counts.next(hook);
        let node = choice.memory_node.filter(|_| matches!(placement, Placement::Fork { .. }));
        let asked = Vec::new();
        self.push(Call { at: view.now(), hook, nth, cpu: Some(choice.cpu), node, entry: None, asked });
        choice
    }

    fn ordering(&self) -> Order {
        self.inner.order()
    }

    fn counted(&self) -> Vec<(String, u64)> {
        self.inner.counters()
    }

    fn insert(
        &mut self,
        system: &mut dyn System,
        task: TaskId,
        cpu: CpuId,
        why: Enqueue,
    ) -> Option<QueueEntry> {
        let mut asked = Asked::default();
        let entry = self.inner.enqueue(&mut Tapped::new(system, &mut asked), task, cpu, why);
        let hook = Hook::Insert(task);
        let nth = self.counts.next(hook);
        let (at, asked) = (system.now(), asked.0);
        self.push(Call { at, hook, nth, cpu: None, node: None, entry: Some(entry), asked });
        entry
    }

    fn notify(&mut self, system: &mut dyn System, notice: Notice) {
        let mut asked = Asked::default();
        notice.deliver(&mut *self.inner, &mut Tapped::new(system, &mut asked));
        let hook = Hook::of(notice);
        let nth = self.counts.next(hook);
        if !asked.0.is_empty() {
            let (at, asked) = (system.now(), asked.0);
            self.push(Call { at, hook, nth, cpu: None, node: None, entry: None, asked });
        }
    }
}
