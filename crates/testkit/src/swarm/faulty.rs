//! A faulty policy: another one with illegal, absurd, contradictory and missing decisions in between.

use std::sync::Arc;

use rand::RngExt;
use rand::rngs::ChaCha8Rng;
use sim_core::ids::{AppId, CpuId, NodeId, TaskId};
use sim_core::machine::CpuSet;
use sim_core::policy::{
    Affinity, CpuChoice, Enqueue, Kick, Order, Placement, Policy, QueueEntry, System, THROTTLED, Timer, View,
    Watches, Why,
};
use sim_core::rng::{Purpose, stream};
use sim_core::time::{Span, Time};
use sim_core::wrap::{Notice, Request, Tap, Tapped, Wrapper};

/// Faults of a run at most: a case stays small.
const MOST: u32 = 400;
/// Timer tokens of faults carry this bit; policies and their wrappers use others.
const FAULT: u64 = 1 << 61;

/// A policy whose decisions are wrong now and then, drawn from a seed.
pub struct Faulty {
    inner: Box<dyn Policy>,
    faults: Faults,
}

struct Faults {
    rng: ChaCha8Rng,
    /// One of so many calls is followed by a fault.
    rare: u32,
    left: u32,
    tasks: u32,
    /// Priorities stay those that the policy sets.
    spared: bool,
}

impl Faulty {
    /// `inner` with the faults of a seed.
    #[must_use]
    pub fn new(inner: Box<dyn Policy>, seed: u64) -> Self {
        let mut rng = stream(seed, Purpose::Test, 21);
        let rare = [2, 8, 40][rng.random_range(0..3)];
        Self { inner, faults: Faults { rng, rare, left: MOST, tasks: 0, spared: false } }
    }

    /// Leaves priorities alone. DWRR concludes from those that it has set which tasks can run. After a
    /// foreign change it may skip a queue, unless it is notified of more changes than there were.
    #[must_use]
    pub fn sparing_priorities(mut self, spared: bool) -> Self {
        self.faults.spared = spared;
        self
    }
}

impl Faults {
    fn below(&mut self, bound: u32) -> u32 {
        self.rng.random_range(0..bound.max(1))
    }

    /// Whether a fault is made now.
    fn due(&mut self) -> bool {
        let rare = self.rare;
        let due = self.left > 0 && self.below(rare) == 0;
        self.left -= u32::from(due);
        due
    }

    /// A task, or one that does not exist.
    fn task(&mut self) -> TaskId {
        match self.below(12) {
            0 => TaskId(self.tasks),
            1 => TaskId(u32::MAX),
            _ => TaskId(self.rng.random_range(0..self.tasks.max(1))),
        }
    }

    /// A cpu, or one that does not exist.
    fn cpu(&mut self, view: &dyn View) -> CpuId {
        let cpus = view.machine().cpus();
        match self.below(12) {
            0 => CpuId(cpus),
            1 => CpuId(u32::MAX),
            _ => CpuId(self.below(cpus)),
        }
    }

    fn span(&mut self) -> Span {
        let spans = [Span::ZERO, Span::from_ns(1), Span::from_us(7), Span::from_ms(3), Span::from_ms(40)];
        spans[self.below(5) as usize]
    }

    fn entry(&mut self) -> QueueEntry {
        let keys = [i64::MIN, -1, 0, 7, i64::MAX];
        let slices = [Span::ZERO, Span::from_ns(1), Span::from_us(50), Span::MAX];
        let (key, slice) = (keys[self.below(5) as usize], slices[self.below(4) as usize]);
        QueueEntry { key, slice, preempts: self.below(2) == 0 }
    }

    fn affinity(&mut self, view: &dyn View) -> Affinity {
        let (one, other) = (self.cpu(view), self.cpu(view));
        let set = |cpus: &[CpuId]| Affinity::Set(Arc::new(CpuSet::of(cpus.iter().copied())));
        // A set has a place for each cpu up to the largest one.
        let small = |cpu: CpuId| CpuId(cpu.0.min(1_000));
        match self.below(4) {
            0 => Affinity::All,
            1 => Affinity::One(one),
            2 => set(&[small(one), small(other)]),
            _ => set(&[]),
        }
    }

    /// Something that no policy should request.
    fn request(&mut self, view: &dyn View) -> Request {
        let (task, cpu) = (self.task(), self.cpu(view));
        match self.below(10) {
            0 | 1 => Request::Migrate(task, cpu),
            2 => Request::Bind(task, self.affinity(view)),
            3 => Request::SetPriority(task, [0, 1, 2, THROTTLED][self.below(4) as usize]),
            4 => Request::Dispatch(task, cpu, self.entry()),
            5 => Request::YieldTo(task, self.task()),
            7 => Request::SetSlice(task, self.span()),
            8 => Request::Kick(cpu, [Kick::Idle, Kick::Preempt][self.below(2) as usize]),
            6 => Request::Charge(cpu, self.span(), self.below(2) == 0),
            _ => {
                let now = view.now();
                let soon = now + self.span();
                let at = [Time::ZERO, now, soon, Time::NEVER][self.below(4) as usize];
                let timers = [Timer::Tick(cpu), Timer::Token(FAULT), Timer::Slot];
                Request::At(at, timers[self.below(3) as usize])
            }
        }
    }

    /// A few faults at once, which may contradict each other.
    fn act(&mut self, system: &mut dyn System) {
        for _ in 0..=self.below(3) {
            let request = self.request(system);
            if self.spared && matches!(request, Request::SetPriority(..)) {
                continue;
            }
            request.ask(system, Why::NONE);
            if self.below(3) == 0 {
                request.ask(system, Why::NONE);
            }
        }
    }
}

impl Tap for Faults {
    fn meet(&mut self, system: &mut dyn System, request: Request, why: Why) -> bool {
        // The policy gets a success that never was, or decides twice.
        if request.task().is_some() && self.due() {
            if self.below(2) == 0 {
                return true;
            }
            request.ask(system, why);
        }
        request.ask(system, why)
    }
}

impl Wrapper for Faulty {
    fn wants(&self) -> Watches {
        self.inner.watches()
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
        let entry = self.inner.enqueue(&mut Tapped::new(system, &mut self.faults), task, cpu, why);
        if self.faults.due() { (self.faults.below(4) > 0).then(|| self.faults.entry()) } else { entry }
    }

    fn place(&mut self, view: &dyn View, task: TaskId, placement: Placement) -> CpuChoice {
        let chosen = self.inner.select_cpu(view, task, placement);
        if !self.faults.due() {
            return chosen;
        }
        let node = NodeId(self.faults.below(9));
        CpuChoice { memory_node: Some(node), ..self.faults.cpu(view).into() }
    }

    fn notify(&mut self, system: &mut dyn System, notice: Notice) {
        match notice {
            Notice::Timer(Timer::Token(FAULT)) => return self.faults.act(system),
            Notice::Init => {
                let apps = (0..system.apps()).map(|app| system.app(AppId(app)).tasks.end);
                self.faults.tasks = apps.max().unwrap_or(0);
            }
            _ => {}
        }
        notice.deliver(&mut *self.inner, &mut Tapped::new(system, &mut self.faults));
        // In these hooks a policy moves no task.
        let queues = matches!(
            notice,
            Notice::Changed(..)
                | Notice::Running(..)
                | Notice::Stopping(..)
                | Notice::Runnable(..)
                | Notice::Quiescent(..)
                | Notice::Dequeued(..)
        );
        if !queues && self.faults.due() {
            self.faults.act(system);
        }
    }
}
