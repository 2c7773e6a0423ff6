//! Small policies for tests.

use rand::RngExt;
use rand::rngs::ChaCha8Rng;
use sim_core::ids::{AppId, CpuId, NodeId, TaskId};
use sim_core::policy::{
    Affinity, Awaited, CpuChoice, Enqueue, Kick, Order, Placement, Policy, Preemption, QueueEntry, System,
    THROTTLED, TaskChange, TaskState, Timer, View, Watches, Why,
};
use sim_core::rng::{Purpose, stream};
use sim_core::time::Span;

/// Places rank r on cpu r modulo the number of cpus, and leaves it there.
pub struct Fixed;

impl Policy for Fixed {
    fn select_cpu(&mut self, view: &dyn View, task: TaskId, _: Placement) -> CpuChoice {
        CpuId(view.task(task).rank % view.machine().cpus()).into()
    }
}

/// Does every legal thing at random instants and in every hook: moves queued and running tasks, sets
/// affinities and priority levels, charges cpus, lets waiting tasks yield to others.
pub struct Restless {
    rng: ChaCha8Rng,
    period: Span,
    order: Order,
    tasks: u32,
    queue: Vec<TaskId>,
    /// Ticks that are not followed by another one.
    single: u32,
}

impl Restless {
    /// One that acts about every `period`.
    #[must_use]
    pub fn new(seed: u64, period: Span) -> Self {
        let rng = stream(seed, Purpose::Policy, 99);
        Self { rng, period, order: Order::System, tasks: 0, queue: Vec::new(), single: 0 }
    }

    /// One that also orders the queues, by a random order.
    #[must_use]
    pub fn ordering(seed: u64, period: Span) -> Self {
        let mut restless = Self::new(seed, period);
        let slice = Span::from_ns(restless.rng.random_range(1_000..400_000));
        restless.order = match restless.pick(4) {
            0 => Order::Fifo { slice },
            1 => Order::VirtualTime { slice },
            _ => Order::Policy,
        };
        restless
    }

    /// A random place in a queue.
    fn entry(&mut self) -> QueueEntry {
        let slices = [Span::ZERO, Span::from_us(20), Span::from_us(300), Span::MAX];
        let slice = slices[self.pick(4) as usize];
        QueueEntry { key: i64::from(self.pick(6)), slice, preempts: self.pick(3) == 0 }
    }

    /// Puts one of the held tasks, if any, into the queue of a cpu.
    fn put_one(&mut self, system: &mut dyn System, cpu: CpuId) {
        let start = self.pick(self.tasks);
        let mut tasks = (0..self.tasks).map(|i| TaskId((start + i) % self.tasks));
        if let Some(task) = tasks.find(|task| system.task(*task).held && system.allowed(*task, cpu)) {
            let entry = self.entry();
            system.dispatch(task, cpu, entry, Why::NONE);
        }
    }

    fn pick(&mut self, below: u32) -> u32 {
        self.rng.random_range(0..below)
    }

    /// Something about a task.
    fn act(&mut self, system: &mut dyn System, task: TaskId) {
        let cpu = CpuId(self.pick(system.machine().cpus()));
        if self.order == Order::Policy {
            match self.pick(4) {
                0 | 1 => return self.put_one(system, cpu),
                2 => return self.urge(system, task, cpu),
                _ => {}
            }
        }
        match self.pick(8) {
            0 | 1 => {
                let runnable = matches!(system.task(task).state, TaskState::Queued | TaskState::Running);
                if runnable && system.task(task).cpu != cpu && system.allowed(task, cpu) {
                    system.migrate(task, cpu, Why::NONE);
                }
            }
            2 => {
                system.set_affinity(task, Affinity::One(cpu), Why::NONE);
            }
            3 => {
                system.set_affinity(task, Affinity::All, Why::NONE);
            }
            4 => {
                let band = [0, 1, 0, 1, THROTTLED][self.pick(5) as usize];
                system.set_priority(task, band, Why::NONE);
            }
            5 | 6 => {
                if let Some(current) = system.current(cpu) {
                    self.yield_from(system, current);
                }
            }
            _ => {
                // What a task has done and used counts to the nanosecond: it decides what is charged.
                let seen = system.progress(task).ns() ^ system.cpu_time(task).ns();
                let span = Span::from_ns((u64::from(self.pick(5_000)) + seen) % 5_000);
                let daemon = self.pick(2) == 0;
                system.charge(cpu, span, daemon);
            }
        }
    }

    /// Kicks a cpu, or changes for how long a task may run.
    fn urge(&mut self, system: &mut dyn System, task: TaskId, cpu: CpuId) {
        if self.pick(2) == 0 {
            let how = [Kick::Idle, Kick::Preempt][self.pick(2) as usize];
            system.kick(cpu, how);
        } else {
            let slice = self.entry().slice;
            system.set_slice(task, slice, Why::NONE);
        }
    }

    /// Lets a task yield to one that waits on a random cpu or on its own; most such calls are legal.
    fn yield_from(&mut self, system: &mut dyn System, from: TaskId) {
        let cpus = system.machine().cpus();
        let cpu = if self.pick(2) == 0 { system.task(from).cpu } else { CpuId(self.pick(cpus)) };
        let mut queue = std::mem::take(&mut self.queue);
        system.queued(cpu, usize::MAX, &mut queue);
        if !queue.is_empty() {
            let any = queue[self.pick(queue.len() as u32) as usize];
            let to = queue
                .iter()
                .copied()
                .find(|task| !system.task(*task).still_waits(system.now()))
                .unwrap_or(any);
            system.yield_to(from, to, Why::NONE);
        }
        self.queue = queue;
    }

    fn tick(&mut self, system: &mut dyn System, cpu: CpuId) {
        let mut queue = std::mem::take(&mut self.queue);
        system.queued(cpu, usize::MAX, &mut queue);
        let to = CpuId((cpu.0 + 1) % system.machine().cpus());
        if let Some(task) = queue.first().filter(|task| to != cpu && system.allowed(**task, to)) {
            system.migrate(*task, to, Why::NONE);
        }
        self.queue = queue;
        if self.single > 0 {
            self.single -= 1;
            return;
        }
        let next = system.now() + self.period;
        system.at(next, Timer::Tick(to));
    }

    /// One action now, and a timer for the next one.
    fn act_and_rearm(&mut self, system: &mut dyn System) {
        let task = TaskId(self.pick(self.tasks));
        self.act(system, task);
        let wait = Span::from_ns(self.rng.random_range(1..=2 * self.period.ns()));
        let next = system.now() + wait;
        system.at(next, Timer::Token(0));
    }
}

impl Policy for Restless {
    fn init(&mut self, system: &mut dyn System) {
        self.tasks = (0..system.apps()).map(|app| system.app(AppId(app)).tasks.end).max().unwrap_or(0);
        system.at(system.now(), Timer::Token(0));
        system.at(system.now(), Timer::Tick(CpuId(0)));
    }

    fn select_cpu(&mut self, view: &dyn View, task: TaskId, placement: Placement) -> CpuChoice {
        let cpus = view.machine().cpus();
        let start = self.pick(cpus);
        let fits = |cpu: &CpuId| view.allowed(task, *cpu);
        let cpu = (0..cpus).map(|i| CpuId((start + i) % cpus)).find(fits).unwrap_or(CpuId(0));
        let created = matches!(placement, Placement::Fork { .. });
        let named = created && task.0.is_multiple_of(3);
        CpuChoice { memory_node: named.then(|| NodeId(self.pick(5))), ..cpu.into() }
    }

    fn timer(&mut self, system: &mut dyn System, timer: Timer) {
        match timer {
            Timer::Tick(cpu) => self.tick(system, cpu),
            Timer::Token(1) => {
                let task = TaskId(self.pick(self.tasks));
                self.act(system, task);
            }
            _ => self.act_and_rearm(system),
        }
    }

    fn idle(&mut self, system: &mut dyn System, cpu: CpuId) {
        let from = CpuId(self.pick(system.machine().cpus()));
        let mut queue = std::mem::take(&mut self.queue);
        system.queued(from, usize::MAX, &mut queue);
        if let Some(task) = queue.first().filter(|task| from != cpu && system.allowed(**task, cpu)) {
            system.migrate(*task, cpu, Why::NONE);
        }
        self.queue = queue;
    }

    fn order(&self) -> Order {
        self.order
    }

    fn enqueue(
        &mut self,
        system: &mut dyn System,
        task: TaskId,
        cpu: CpuId,
        why: Enqueue,
    ) -> Option<QueueEntry> {
        if why == Enqueue::Expired && self.pick(4) == 0 {
            self.put_one(system, cpu);
        }
        // What a task has used counts to the nanosecond.
        let odd = (system.cpu_time(task).ns() + why as u64) % 2 == 1;
        let held = if odd { self.pick(4) == 0 } else { self.pick(2) == 0 };
        (!held).then(|| self.entry())
    }

    fn running(&mut self, system: &mut dyn System, task: TaskId, cpu: CpuId) {
        assert_eq!(system.current(cpu), Some(task), "`running` names another task than the cpu has");
        match self.pick(12) {
            0 => system.at(system.now() + self.period, Timer::Token(1)),
            1 => self.urge(system, task, cpu),
            _ => {}
        }
    }

    fn changed(&mut self, system: &mut dyn System, task: TaskId, _: TaskChange) {
        let seen = system.task(task);
        if seen.held && system.allowed(task, seen.cpu) && self.pick(2) == 0 {
            let entry = self.entry();
            system.dispatch(task, seen.cpu, entry, Why::NONE);
        }
    }

    fn stopping(&mut self, system: &mut dyn System, task: TaskId, _: CpuId) {
        if self.pick(16) == 0 {
            let span = Span::from_ns(system.cpu_time(task).ns() % 3_000);
            system.charge(system.task(task).cpu, span, false);
        }
    }

    fn dispatch(&mut self, system: &mut dyn System, cpu: CpuId) {
        if self.order == Order::Policy && self.pick(8) > 0 {
            return self.put_one(system, cpu);
        }
        let from = if self.pick(2) == 0 { cpu } else { CpuId(self.pick(system.machine().cpus())) };
        let mut queue = std::mem::take(&mut self.queue);
        system.queued(from, usize::MAX, &mut queue);
        let chosen = queue.last().copied().filter(|task| system.allowed(*task, cpu));
        match (chosen, self.pick(3)) {
            (Some(task), 0) => {
                system.set_priority(task, 0, Why::NONE);
            }
            (Some(task), 1) if from != cpu => {
                system.migrate(task, cpu, Why::NONE);
            }
            _ => {}
        }
        self.queue = queue;
    }

    fn runnable(&mut self, system: &mut dyn System, task: TaskId, cpu: CpuId) {
        match self.pick(16) {
            0 => {
                self.single += 1;
                system.at(system.now(), Timer::Tick(cpu));
            }
            1 => {
                let band = self.pick(2) as u8;
                system.set_priority(task, band, Why::NONE);
            }
            _ => {}
        }
    }

    fn watches(&self) -> Watches {
        Watches { waits: true, preemptions: true, releases: true }
    }

    fn preempted(&mut self, system: &mut dyn System, task: TaskId, cpu: CpuId, why: Preemption) {
        // What a slice has left and who has which priority decides.
        let (used, left) = system.slice(task).unwrap_or_default();
        let to = CpuId((cpu.0 + 1) % system.machine().cpus());
        let gives_way =
            system.best_dispatch_priority(to).is_none_or(|best| best < system.task(task).dispatch_priority);
        let odd = (used.ns() ^ left.ns()) % 3 == 0;
        if to != cpu && system.allowed(task, to) && (gives_way || odd || why == Preemption::Boosted) {
            system.migrate(task, to, Why::NONE);
        }
    }

    fn misplaced(&mut self, system: &mut dyn System, task: TaskId) {
        // What the faults say decides: to the preferred node, or anywhere.
        let Some(seen) = system.locality(task) else { return };
        let share = system.fault_share(task, seen.preferred, seen.group.is_some());
        let near = |cpu: &CpuId| system.machine().node_of(*cpu) == seen.preferred;
        let first = system.machine().cpu_ids().find(near);
        let any = CpuId(self.pick(system.machine().cpus()));
        let to = first.filter(|_| share % 3 > 0).unwrap_or(any);
        if to != system.task(task).cpu && system.allowed(task, to) {
            system.migrate(task, to, Why::NONE);
        }
    }

    fn waits(&mut self, system: &mut dyn System, task: TaskId, _what: Awaited) {
        match self.pick(8) {
            0..=3 => self.yield_from(system, task),
            4 => self.act(system, task),
            _ => {}
        }
    }

    fn proceeds(&mut self, system: &mut dyn System, task: TaskId) {
        if self.pick(8) == 0 {
            self.act(system, task);
        }
    }
}
