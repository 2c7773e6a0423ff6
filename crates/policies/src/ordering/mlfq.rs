//! `MLFQ`: a multilevel feedback queue for the whole machine.

use notation::choices;
use notation::declare::Duration;
use notation::parameters;
use sim_core::ids::{CpuId, Id, TaskId};
use sim_core::policy::{CpuChoice, Enqueue, Order, Placement, Policy, QueueEntry, System, Timer, View, Why};
use sim_core::time::Span;

use crate::entry::{Entry, Level, Setting, Showcase, TaskGroups};
use crate::ordering::queue::{DispatchQueue, FILL, Servers};
use crate::ordering::{LEAST_SLICE, Used, slot};

/// Its entry in the registry.
pub(crate) const ENTRY: Entry = Entry {
    name: "MLFQ",
    summary: "multilevel feedback queue: tasks that use much cpu time sink to lower levels with longer \
        slices",
    source: "Corbato, Merwin-Daggett and Daley 1962 (CTSS); the rules as in Arpaci-Dusseau, Operating \
        Systems: Three Easy Pieces, chapter 8",
    level: Level::InKernel,
    task_groups: TaskGroups::Refused,
    parameters: Parameters::TABLE,
    text: include_str!("mlfq.md"),
    wins: Showcase { scenario: "short_waits", label: "MLFQ", against: "VTIME", app: "code", point: "" },
    loses: Showcase { scenario: "one_queue_or_many", label: "MLFQ", against: "VTIME", app: "ep", point: "" },
    build: &|values, setting| Box::new(Mlfq::new(&values.into(), setting)),
};

choices! {
    /// How the cpu time of levels grows.
    enum Growth {
        Doubling = "doubling",
        Equal = "equal",
    }
}

parameters! {
    /// Parameters of `MLFQ`.
    struct Parameters {
        /// The number of levels: 3 in the examples of OSTEP, 60 in Solaris. With 8 the longest slice is above
        /// a second.
        levels: i64 = 8, in 1..=32;
        /// Cpu time after which a task leaves the highest level, up to the next timer tick. It doubles from
        /// level to level, as in CTSS. 10 ms as in the examples of OSTEP.
        quantum: Duration = ms(10), in LEAST_SLICE..=s(10);
        /// Whether the cpu time of a level is twice that of the level above (`doubling`, as in CTSS) or the
        /// same (`equal`, as in the examples of OSTEP).
        growth: Growth = Growth::Doubling;
        /// A task that sleeps begins anew with the cpu time of its level (rule 4b of OSTEP before it is
        /// mended: a task that sleeps just before the end stays on its level for ever).
        forgets: bool = false;
        /// All tasks go back to the highest level this often (once a second in the time-sharing class of
        /// Solaris); 0: never.
        boost: Duration = s(1), in 0..=s(1000);
    }
}

struct Mlfq {
    levels: i64,
    allotment: Allotment,
    forgets: bool,
    boost: Span,
    servers: Servers,
    queue: DispatchQueue,
    /// The level of each task, 0 the highest, and what it has used there.
    levels_of: Vec<(i64, Span)>,
    used: Used,
}

/// What a task may use on a level in all.
#[derive(Clone, Copy)]
struct Allotment {
    highest: Span,
    doubles: bool,
}

impl Allotment {
    fn of(self, level: i64) -> Span {
        if self.doubles { self.highest * (1 << level) } else { self.highest }
    }
}

const HIGHEST: Why = Why::rule("dispatched: the highest level");

/// What a task may still use on its level.
fn left(levels_of: &[(i64, Span)], allotment: Allotment) -> impl Fn(TaskId) -> Span + '_ {
    move |task| {
        let (level, used) = levels_of[task.index()];
        allotment.of(level).saturating_sub(used)
    }
}

impl Mlfq {
    fn new(values: &Parameters, setting: &Setting<'_>) -> Self {
        Self {
            levels: values.levels,
            allotment: Allotment {
                highest: Span::from_ns(values.quantum.ns()),
                doubles: values.growth == Growth::Doubling,
            },
            forgets: values.forgets,
            boost: Span::from_ns(values.boost.ns()),
            servers: Servers::whole(setting.machine),
            queue: DispatchQueue::default(),
            levels_of: Vec::new(),
            used: Used::default(),
        }
    }

    /// The level of a task, one lower when its allotment is used, and what is left there.
    fn level(&mut self, task: TaskId) -> (i64, Span) {
        let (level, used) = *slot(&mut self.levels_of, task);
        let whole = self.allotment.of(level);
        if used < whole {
            return (level, whole - used);
        }
        let lower = (level + 1).min(self.levels - 1);
        *slot(&mut self.levels_of, task) = (lower, Span::ZERO);
        (lower, self.allotment.of(lower))
    }
}

impl Policy for Mlfq {
    fn order(&self) -> Order {
        Order::Policy
    }

    fn init(&mut self, system: &mut dyn System) {
        if self.boost > Span::ZERO {
            system.at(system.now() + self.boost, Timer::Token(0));
        }
    }

    fn select_cpu(&mut self, view: &dyn View, task: TaskId, placement: Placement) -> CpuChoice {
        if self.forgets && matches!(placement, Placement::Wake { .. }) {
            slot(&mut self.levels_of, task).1 = Span::ZERO;
        }
        let (level, _) = self.level(task);
        self.servers.place(view, task, placement, Some(level))
    }

    fn enqueue(
        &mut self,
        system: &mut dyn System,
        task: TaskId,
        cpu: CpuId,
        why: Enqueue,
    ) -> Option<QueueEntry> {
        let (level, left) = self.level(task);
        if self.servers.takes(task, cpu) {
            return Some(QueueEntry { preempts: true, ..QueueEntry::new(level, left) });
        }
        self.servers.went_back(system, task, why, !self.queue.is_empty());
        self.queue.hold(level, task);
        None
    }

    fn dispatch(&mut self, system: &mut dyn System, cpu: CpuId) {
        let left = left(&self.levels_of, self.allotment);
        self.queue.dispatch(system, cpu, HIGHEST, left);
    }

    fn running(&mut self, _: &mut dyn System, task: TaskId, cpu: CpuId) {
        self.servers.set(cpu, Some(slot(&mut self.levels_of, task).0));
    }

    fn stopping(&mut self, system: &mut dyn System, task: TaskId, cpu: CpuId) {
        let used = self.used.since(system, task);
        slot(&mut self.levels_of, task).1 += used;
        self.servers.ends(cpu);
    }

    fn timer(&mut self, system: &mut dyn System, timer: Timer) {
        if timer == FILL {
            let left = left(&self.levels_of, self.allotment);
            return self.queue.fill(system, &mut self.servers, HIGHEST, left);
        }
        self.levels_of.fill((0, Span::ZERO));
        for cpu in system.machine().cpu_ids().collect::<Vec<_>>() {
            if let Some(task) = system.current(cpu) {
                // What it has used before does not count on the highest level. It keeps its slice, and a task
                // of the highest level preempts it.
                self.used.since(system, task);
            }
        }
        for (_, task) in self.queue.take_all() {
            self.queue.hold(0, task);
        }
        system.remark(Why::rule("boosted: all tasks go back to the highest level"));
        system.at(system.now() + self.boost, Timer::Token(0));
    }

    fn runnable(&mut self, system: &mut dyn System, _: TaskId, cpu: CpuId) {
        self.servers.note(system, cpu);
    }

    fn quiescent(&mut self, system: &mut dyn System, _: TaskId, cpu: CpuId) {
        self.servers.note(system, cpu);
    }
}
