//! `LOTTERY`: a free cpu draws the next task by lot, in the ratio of the weights.

use notation::declare::{Duration, PerApp};
use notation::parameters;
use sim_core::ids::{CpuId, Id, TaskId};
use sim_core::policy::{
    CpuChoice, Enqueue, Order, Placement, Policy, QueueEntry, System, THROTTLED, Timer, View, Why,
};
use sim_core::rng::Purpose;
use sim_core::time::Span;

use crate::entry::{Entry, Level, Setting, Showcase, TaskGroups};
use crate::ordering::queue::{DispatchQueue, Servers};
use crate::ordering::{LEAST_SLICE, slot};
use crate::spread::Draws;

/// Its entry in the registry.
pub(crate) const ENTRY: Entry = Entry {
    name: "LOTTERY",
    summary: "a free cpu draws its next task by lot; the chance of each is its weight",
    source: "Waldspurger and Weihl, Lottery scheduling: flexible proportional-share resource management, \
        OSDI 1994",
    level: Level::InKernel,
    task_groups: TaskGroups::Refused,
    parameters: Parameters::TABLE,
    text: include_str!("lottery.md"),
    wins: Showcase { scenario: "one_queue_or_many", label: "LOTTERY", against: "FIFO", app: "ep", point: "" },
    loses: Showcase { scenario: "short_waits", label: "LOTTERY", against: "VTIME", app: "code", point: "" },
    build: &|values, setting| Box::new(Lottery::new(&values.into(), setting)),
};

parameters! {
    /// Parameters of `LOTTERY`.
    struct Parameters {
        /// The quantum: how long a task runs, up to the next timer tick, before the next drawing (100 ms in
        /// the prototype of the paper).
        slice: Duration = ms(100), in LEAST_SLICE..=s(1000);
        /// Tickets of each task of an application; 0: its weight, 1,024 at nice 0.
        tickets: PerApp<u32> = 0, in 0..=1_000_000;
    }
}

struct Lottery {
    slice: Span,
    servers: Servers,
    queue: DispatchQueue,
    /// Of each task, its weight.
    tickets: Vec<u64>,
    /// Of each application, what a task of it has in place of its weight; 0: nothing.
    stated: Vec<u64>,
    draws: Option<Draws>,
}

impl Lottery {
    fn new(values: &Parameters, setting: &Setting<'_>) -> Self {
        Self {
            slice: Span::from_ns(values.slice.ns()),
            servers: Servers::whole(setting.machine),
            queue: DispatchQueue::default(),
            tickets: Vec::new(),
            stated: setting.apps.iter().map(|app| u64::from(*values.tickets.of(&app.name))).collect(),
            draws: None,
        }
    }

    /// The winner among the held tasks that may run on a cpu, and the tickets of all of them.
    fn draw(&mut self, system: &dyn System, cpu: CpuId) -> Option<(TaskId, u64)> {
        let held = || self.queue.tasks().map(|(_, task)| task).filter(|task| system.allowed(*task, cpu));
        let tickets = |task: TaskId| self.tickets[task.index()];
        let total = held().map(tickets).sum();
        let mut drawn = self.draws.as_mut()?.below(total);
        let winner = held().find(|task| {
            let wins = drawn < tickets(*task);
            drawn = drawn.saturating_sub(tickets(*task));
            wins
        })?;
        Some((winner, total))
    }
}

impl Policy for Lottery {
    fn order(&self) -> Order {
        Order::Policy
    }

    fn init(&mut self, system: &mut dyn System) {
        self.draws = Some(Draws::new(system.seed(), Purpose::Policy, 0));
    }

    fn select_cpu(&mut self, view: &dyn View, task: TaskId, placement: Placement) -> CpuChoice {
        self.servers.place(view, task, placement, None)
    }

    fn enqueue(
        &mut self,
        system: &mut dyn System,
        task: TaskId,
        cpu: CpuId,
        why: Enqueue,
    ) -> Option<QueueEntry> {
        if self.servers.takes(task, cpu) {
            return Some(QueueEntry::new(0, self.slice));
        }
        let view = system.task(task);
        let stated = self.stated.get(view.app.0 as usize).copied().filter(|tickets| *tickets > 0);
        *slot(&mut self.tickets, task) = stated.unwrap_or_else(|| u64::from(view.weight));
        self.servers.went_back(system, task, why, !self.queue.is_empty());
        self.queue.hold(0, task);
        None
    }

    fn dispatch(&mut self, system: &mut dyn System, cpu: CpuId) {
        while let Some((winner, total)) = self.draw(system, cpu) {
            self.queue.remove(winner);
            let why = Why::rule("dispatched: won the lottery").with("tickets of all", total);
            system.dispatch(winner, cpu, QueueEntry::new(0, self.slice), why);
            // A throttled one goes along and waits there.
            if system.task(winner).priority < THROTTLED {
                return;
            }
        }
    }

    fn timer(&mut self, system: &mut dyn System, _: Timer) {
        while let Some((_, cpu)) = self.servers.fill(system, self.queue.tasks().map(|(_, task)| task)) {
            self.dispatch(system, cpu);
            self.servers.note(system, cpu);
        }
    }

    fn runnable(&mut self, system: &mut dyn System, _: TaskId, cpu: CpuId) {
        self.servers.note(system, cpu);
    }

    fn quiescent(&mut self, system: &mut dyn System, _: TaskId, cpu: CpuId) {
        self.servers.note(system, cpu);
    }
}
