//! `YIELD_TO`: a task that waits for others of its application gives its cpu to one of them that is late and
//! waits for a cpu.
//!
//! Idea: `sched_yield` cannot say for whom. Source: proposed for fine-grained codes by Iancu, Hofmeyr,
//! Blagojevic, Zheng, "Oversubscription on Multicore Processors" (IPDPS 2010, future work); the demand-based
//! coscheduling of Sobalvarro, Weihl (JSSPP 1995); the call is `yield_to` of Linux (kernel/sched, 2.6.39),
//! made for spinning guests of KVM.

mod offers;

use std::ops::Range;

use notation::declare::Duration;
use notation::parameter::Values;
use notation::{choices, parameters};
use sim_core::ids::{AppId, CpuId, Id, TaskId};
use sim_core::policy::{
    AppView, Awaited, CpuChoice, Placement, Policy, System, TaskState, Timer, View, Watches, Why,
};
use sim_core::time::{Span, Time};
use sim_core::wait::Scope;

use crate::entry::{Entry, Level, Setting, Showcase, TaskGroups};
use offers::{Offers, Party, plain_scan};

/// Its entry in the registry.
pub(crate) const ENTRY: Entry = Entry {
    name: "YIELD_TO",
    summary: "directed yield: a waiting task gives its cpu to a late task of the same barrier",
    source: "Iancu, Hofmeyr, Blagojevic, Zheng: Oversubscription on Multicore Processors, IPDPS 2010 \
        (future work); \
Sobalvarro, Weihl: Demand-based Coscheduling of Parallel Jobs, JSSPP 1995",
    level: Level::UserLevel,
    task_groups: TaskGroups::Refused,
    parameters: Parameters::TABLE,
    text: include_str!("yield_to.md"),
    wins: Showcase {
        scenario: "yield_to",
        label: "YIELD_TO",
        against: "LOAD",
        app: "fine",
        point: "apps.fine.runtime=spin",
    },
    loses: Showcase { scenario: "yield_to_o1", label: "YIELD_TO", against: "LOAD", app: "fine", point: "" },
    build: &build,
};

choices! {
    /// The words of `scope`.
    enum Targets { Any = "any", SameCpu = "same-cpu" }
}

parameters! {
    /// Parameters of `YIELD_TO`.
    struct Parameters {
        /// Whether a task may yield to a straggler in the queue of another cpu.
        scope: Targets = Targets::Any;
        /// Time between two attempts of a waiting task (no source: one timer tick at 1,000 Hz).
        interval: Duration = ms(1), in us(10)..=s(10);
        /// Maximum number of directed yields in one wait; 0 means no limit.
        limit: u64 = 0, in 0..=1_000_000;
    }
}

fn build(values: &Values, _: &Setting<'_>) -> Box<dyn Policy> {
    let values = Parameters::from(values);
    Box::new(YieldTo {
        anywhere: values.scope == Targets::Any,
        interval: Span::from_ns(values.interval.ns()),
        limit: values.limit,
        apps: Vec::new(),
        tasks: Vec::new(),
        queue: Vec::new(),
        offers: Offers::default(),
    })
}

struct YieldTo {
    anywhere: bool,
    interval: Span,
    /// 0: none.
    limit: u64,
    /// Of the applications that have begun.
    apps: Vec<Option<Members>>,
    tasks: Vec<Waiter>,
    /// Room for a queue.
    queue: Vec<TaskId>,
    offers: Offers,
}

/// The tasks of an application.
#[derive(Clone)]
struct Members {
    tasks: Range<u32>,
    /// Tasks of a process.
    process: u32,
}

/// What the library remembers of a task.
#[derive(Clone, Copy)]
struct Waiter {
    what: Option<Awaited>,
    /// When it tries next.
    due: Time,
    /// A timer is armed for it.
    armed: bool,
    yields: u64,
}

impl Members {
    const fn rank(&self, task: TaskId) -> u32 {
        task.0 - self.tasks.start
    }

    /// True when `other` is one that `task` waits for, and has something else to do than to wait.
    fn is_straggler(&self, view: &dyn View, (task, what): (TaskId, Awaited), other: TaskId) -> bool {
        if other == task || !self.tasks.contains(&other.0) || view.task(other).still_waits(view.now()) {
            return false;
        }
        match what {
            Awaited::Barrier(Scope::Team | Scope::Join) => {
                self.rank(task) / self.process == self.rank(other) / self.process
            }
            Awaited::Barrier(Scope::Leaders) => self.rank(other).is_multiple_of(self.process),
            Awaited::Barrier(Scope::All) | Awaited::Neighbour | Awaited::Lock | Awaited::Event => true,
        }
    }
}

impl YieldTo {
    /// A waiting task tries; false when it has no cpu to give away and will not get one before its wait is
    /// over.
    fn attempt(&mut self, system: &mut dyn System, task: TaskId) -> bool {
        let Some(Some(what)) = self.tasks.get(task.index()).map(|waiter| waiter.what) else { return false };
        let view = system.task(task);
        let Some(Some(members)) = self.apps.get(view.app.index()).cloned() else { return false };
        if system.current(view.cpu) != Some(task) {
            return view.state != TaskState::Sleeping;
        }
        let wait = (task, what);
        let local = self.on_cpu(system, &members, wait, view.cpu);
        let to = local
            .or_else(|| if self.anywhere { self.elsewhere(system, view.app, &members, wait) } else { None });
        if let Some(to) = to {
            let rule = if local.is_some() {
                "yielded: a straggler waits for this cpu"
            } else {
                "yielded: a straggler waits for another cpu"
            };
            let waits = system.now().since(system.task(to).last_ran).ns();
            let why = Why::rule(rule).with("straggler last ran, ns ago", waits);
            if system.yield_to(task, to, why) {
                self.tasks[task.index()].yields += 1;
            }
        }
        true
    }

    /// The straggler in the queue of a cpu that has not run for longest.
    fn on_cpu(
        &mut self,
        system: &mut dyn System,
        members: &Members,
        wait: (TaskId, Awaited),
        cpu: CpuId,
    ) -> Option<TaskId> {
        system.queued(cpu, usize::MAX, &mut self.queue);
        let stragglers =
            self.queue.iter().copied().filter(|other| members.is_straggler(system, wait, *other));
        stragglers.min_by_key(|other| (system.task(*other).last_ran, *other))
    }

    /// The same on all other cpus, but for those that run a straggler.
    fn elsewhere(
        &mut self,
        system: &mut dyn System,
        app: AppId,
        members: &Members,
        (task, what): (TaskId, Awaited),
    ) -> Option<TaskId> {
        let found = self.offers.oldest(system, &self.apps, app, Party::awaited(members, task, what));
        debug_assert_eq!(
            found,
            plain_scan(system, members, (task, what)),
            "the index of stragglers is wrong, or `System::dirty` has left out a cpu"
        );
        found
    }

    /// Sees to it that a waiting task tries again.
    fn arm(&mut self, system: &mut dyn System, task: TaskId) {
        let waiter = &mut self.tasks[task.index()];
        if self.limit > 0 && waiter.yields >= self.limit {
            return;
        }
        waiter.due = system.now() + self.interval;
        if !waiter.armed {
            waiter.armed = true;
            system.at(waiter.due, Timer::Token(u64::from(task.0)));
        }
    }
}

impl Policy for YieldTo {
    fn app_started(&mut self, system: &mut dyn System, app: AppId) {
        let view: AppView = system.app(app);
        let tasks = self.tasks.len().max(view.tasks.end as usize);
        self.tasks.resize(tasks, Waiter { what: None, due: Time::ZERO, armed: false, yields: 0 });
        self.apps.resize_with(self.apps.len().max(app.index() + 1), || None);
        self.apps[app.index()] = Some(Members { tasks: view.tasks, process: view.process.max(1) });
    }

    fn app_exited(&mut self, _: &mut dyn System, app: AppId) {
        if let Some(members) = self.apps.get_mut(app.index()) {
            *members = None;
        }
    }

    fn select_cpu(&mut self, view: &dyn View, task: TaskId, _: Placement) -> CpuChoice {
        view.task(task).cpu.into()
    }

    fn watches(&self) -> Watches {
        Watches { waits: true, ..Watches::default() }
    }

    fn waits(&mut self, system: &mut dyn System, task: TaskId, what: Awaited) {
        if let Some(waiter) = self.tasks.get_mut(task.index()) {
            (waiter.what, waiter.yields) = (Some(what), 0);
        }
        if self.attempt(system, task) {
            self.arm(system, task);
        }
    }

    fn proceeds(&mut self, _: &mut dyn System, task: TaskId) {
        if let Some(waiter) = self.tasks.get_mut(task.index()) {
            waiter.what = None;
        }
    }

    fn timer(&mut self, system: &mut dyn System, timer: Timer) {
        let Timer::Token(token) = timer else { return };
        let task = TaskId(token as u32);
        let Some(waiter) = self.tasks.get_mut(task.index()) else { return };
        waiter.armed = false;
        if waiter.what.is_none() {
            return;
        }
        if system.now() < waiter.due {
            // It went on in between and waits again.
            waiter.armed = true;
            let due = waiter.due;
            system.at(due, Timer::Token(token));
        } else if self.attempt(system, task) {
            self.arm(system, task);
        }
    }
}

#[cfg(test)]
mod tests;
