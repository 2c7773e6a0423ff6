//! The invariants that hold between two instants, as functions that assert them.
//!
//! A violated invariant is an error of this crate: no scenario, machine file or policy can cause one, because
//! [`check::check`](super::check::check) refuses bad input and [`super::system`] refuses illegal actions.
//! Builds with debug assertions check the cpus that decided at each instant, and from time to time all cpus,
//! tasks and applications. Other builds check one cpu from time to time. No check allocates memory.

use crate::engine::Engine;
use crate::engine::state::{Activity, App, Cpu, Task};
use crate::event::Sources;
use crate::ids::{AppId, CpuId, IdVec, TaskId};
use crate::jobs::Pool;
use crate::machine::PerCpu;
use crate::os::OsModel;
use crate::policy::{THROTTLED, TaskState};
use crate::run_queue::Rules;
use crate::run_queue::real_time::is_of_class;
use crate::time::{Span, Time};

/// Builds without debug assertions check one cpu once per this number of instants.
const SAMPLING_PERIOD: u64 = 4_096;

/// The least number of instants between two checks of the whole state, in builds with debug assertions.
const FULL_PERIOD: u64 = 1_024;

/// Ends the run, because the state of a task is impossible. The arguments are copies: a message with
/// references to values would make the frequent paths that can end here keep those values in memory.
#[cold]
#[inline(never)]
pub(super) fn violated(task: TaskId, cpu: CpuId, what: &'static str) -> ! {
    unreachable!("{task} on {cpu} {what}")
}

/// What is still to be checked.
pub(super) struct Checks {
    /// Cpus that decided at this instant; its capacity is the number of cpus and never grows.
    decided: Vec<CpuId>,
    /// More decisions than fit into the list: all cpus are checked.
    overflow: bool,
    /// Instants so far.
    instants: u64,
}

impl Checks {
    pub(super) fn new(cpus: usize) -> Self {
        let room = if cfg!(debug_assertions) { cpus } else { 0 };
        Self { decided: Vec::with_capacity(room), overflow: false, instants: 0 }
    }

    /// A cpu has decided.
    #[inline]
    pub(super) fn note(&mut self, cpu: CpuId) {
        if !cfg!(debug_assertions) || self.decided.last() == Some(&cpu) {
            return;
        }
        if self.decided.len() < self.decided.capacity() {
            self.decided.push(cpu);
        } else {
            self.overflow = true;
        }
    }
}

/// What the walk along a queue has found.
#[derive(Default)]
struct Walk {
    tasks: u32,
    load: u64,
    /// The yield_to target of the cpu is among them.
    target: bool,
    last: Option<TaskId>,
}

impl Engine<'_> {
    /// The end of an instant: checks what is due to be checked.
    #[inline]
    pub(super) fn check_instant(&mut self) {
        self.checks.instants += 1;
        if cfg!(debug_assertions) {
            self.check_decided();
        } else if self.checks.instants.is_multiple_of(SAMPLING_PERIOD) {
            let sample = self.checks.instants / SAMPLING_PERIOD % self.cpus.len() as u64;
            self.state().check_cpu(CpuId(sample as u32));
        }
    }

    /// Checks the cpus that decided at this instant, and from time to time everything.
    fn check_decided(&mut self) {
        self.check_empty();
        for at in 0..self.checks.decided.len() {
            self.state().check_cpu(self.checks.decided[at]);
        }
        self.checks.decided.clear();
        let overflow = std::mem::take(&mut self.checks.overflow);
        // The period grows with the state, so that the mean cost of an instant does not.
        let period = FULL_PERIOD.max((self.cpus.len() + self.shared.tasks.len()) as u64);
        if overflow || self.checks.instants.is_multiple_of(period) {
            self.check_all();
        }
    }

    /// Checks every cpu, task and application.
    pub(super) fn check_all(&self) {
        self.state().check_all();
        self.shared.objects.pools.iter().for_each(Pool::check);
    }

    fn state(&self) -> State<'_> {
        let shared = &self.shared;
        State {
            cpus: &self.cpus,
            tasks: &shared.tasks,
            apps: &shared.apps,
            model: &shared.model,
            sources: &shared.sources,
            now: shared.now,
            left: self.left,
        }
    }

    /// Nothing that the instant had to do is left, and no armed instant is in the past.
    fn check_empty(&self) {
        let left = self.shared.rounds.left();
        assert!(left == (0, 0, 0), "{left:?} cpus are still marked at the end of {:?}", self.shared.now);
        let pending = (self.notices.len(), self.preempted.len(), self.shared.watch.has_waits());
        assert!(
            pending == (0, 0, false),
            "{pending:?} notifications are pending at the end of {:?}",
            self.shared.now
        );
        let armed = self.shared.sources.earliest().min(self.timers.earliest());
        assert!(armed >= self.shared.now, "{armed:?} is armed, and it is {:?}", self.shared.now);
    }

    /// The end of the run: every cpu has accounted for all of it.
    pub(super) fn check_end(&self) {
        let makespan = self.shared.now.since(Time::ZERO);
        for record in self.cpus.iter() {
            let total: Span = record.account.total();
            assert!(total == makespan, "{} has accounted for {total:?} of {makespan:?}", record.id);
        }
    }
}

/// What is checked.
struct State<'a> {
    cpus: &'a PerCpu<Cpu>,
    tasks: &'a IdVec<TaskId, Task>,
    apps: &'a IdVec<AppId, App>,
    model: &'a OsModel,
    sources: &'a Sources,
    now: Time,
    /// Foreground applications that have not ended.
    left: u32,
}

impl State<'_> {
    fn check_all(&self) {
        for cpu in self.cpus.ids() {
            self.check_cpu(cpu);
        }
        self.check_tasks();
        self.check_apps();
    }

    /// Checks one cpu: its current task, its queue, its cpu-time accounting and what it has armed.
    #[cold]
    #[inline(never)]
    fn check_cpu(&self, cpu: CpuId) {
        let record = &self.cpus[cpu];
        assert!(record.id == cpu, "{cpu} has the record of {}", record.id);
        self.check_current(record);
        self.check_queue(record);
        self.check_delayed(record);
        self.check_time(record);
    }

    /// The current task runs here, is in no queue, and may run: a throttled one only finishes its system
    /// call.
    fn check_current(&self, record: &Cpu) {
        let (cpu, activity) = (record.id, record.activity);
        let Some(id) = record.current.some() else {
            assert!(activity == Activity::Idle, "{cpu} has no current task and is not idle: {activity:?}");
            return;
        };
        let task = &self.tasks[id];
        assert!(activity != Activity::Idle, "{cpu} is idle, and {id} is its current task");
        assert!(task.state == TaskState::Running, "{id} is current on {cpu} and is {:?}", task.state);
        assert!(task.cpu == cpu, "{id} is current on {cpu} and belongs to {}", task.cpu);
        let links = (task.previous, task.next);
        assert!(links == (TaskId::NONE, TaskId::NONE), "{id} is current on {cpu} and has links {links:?}");
        assert!(!task.history.delayed, "{id} is current on {cpu} and its dequeue is delayed");
        assert!(
            task.priority < THROTTLED || activity == Activity::Syscall,
            "{id} is throttled and is current on {cpu}: {activity:?}"
        );
    }

    /// The links of the queue fit, it is in the order of its discipline, and the counts of the cpu equal it.
    fn check_queue(&self, record: &Cpu) {
        let cpu = record.id;
        let mut walk = Walk::default();
        let mut at = record.head;
        while let Some(id) = at.some() {
            self.check_queued(record, id, &mut walk);
            at = self.tasks[id].next;
        }
        let last = walk.last.unwrap_or(TaskId::NONE);
        assert!(record.tail == last, "{cpu}: the queue ends with {last}, its tail is {}", record.tail);
        let counted = |id: &TaskId| self.counts(&self.tasks[*id]);
        let current = record.current.some().filter(counted).map(|id| self.tasks[id].weight);
        let (running, load) =
            (walk.tasks + u32::from(current.is_some()), walk.load + u64::from(current.unwrap_or(0)));
        assert!(record.running == running, "{cpu} counts {} runnable tasks of {running}", record.running);
        assert!(record.load == load, "{cpu} has a load of {}, its tasks have {load}", record.load);
        let target = record.rare.yield_target;
        assert!(
            target.is_none() || walk.target,
            "{target}, the yield_to target of {cpu}, is not queued there"
        );
    }

    /// One task of a queue, behind `walk.last`.
    fn check_queued(&self, record: &Cpu, id: TaskId, walk: &mut Walk) {
        let (cpu, task) = (record.id, &self.tasks[id]);
        let before = walk.last.unwrap_or(TaskId::NONE);
        assert!(task.previous == before, "{cpu}: {id} follows {before} and links back to {}", task.previous);
        assert!(task.state == TaskState::Queued, "{id} is in the queue of {cpu} and is {:?}", task.state);
        assert!(task.cpu == cpu, "{id} is in the queue of {cpu} and belongs to {}", task.cpu);
        assert!(!task.history.delayed, "{id} is in the queue of {cpu} and its dequeue is delayed");
        if let Some(before) = walk.last {
            let (former, latter) = (self.queue_key(&self.tasks[before]), self.queue_key(task));
            assert!(former <= latter, "{cpu}: {before} with key {former:?} is before {id} with {latter:?}");
        }
        walk.tasks += u32::from(self.counts(task));
        walk.load += if self.counts(task) { u64::from(task.weight) } else { 0 };
        walk.target |= id == record.rare.yield_target;
        walk.last = Some(id);
        assert!(
            walk.tasks <= record.running,
            "{cpu}: more tasks are queued than its {} runnable ones",
            record.running
        );
    }

    /// A runnable task counts in its queue unless its group is throttled.
    fn counts(&self, task: &Task) -> bool {
        self.model.groups.is_empty() || task.priority < THROTTLED || is_of_class(task)
    }

    /// What orders a queue.
    fn queue_key(&self, task: &Task) -> (u8, i64) {
        (task.priority, self.model.discipline.key(task))
    }

    /// Tasks whose dequeue is delayed sleep, and belong to the cpu.
    fn check_delayed(&self, record: &Cpu) {
        let mut at = record.rare.delayed;
        while let Some(id) = at.some() {
            let task = &self.tasks[id];
            let as_listed =
                (task.state, task.cpu, task.history.delayed) == (TaskState::Sleeping, record.id, true);
            assert!(as_listed, "{id}, delayed on {}, is {:?} on {}", record.id, task.state, task.cpu);
            at = task.next;
        }
    }

    /// Every nanosecond up to the open segment is in one category, and the open segment reaches up to now.
    fn check_time(&self, record: &Cpu) {
        let (cpu, since, now) = (record.id, record.since, self.now);
        let accounted = Time::ZERO + record.account.total();
        assert!(since <= now, "the segment of {cpu} begins at {since:?}, and it is {now:?}");
        assert!(
            accounted == since,
            "{cpu} has accounted for its time up to {accounted:?}, its segment begins at {since:?}"
        );
        let armed = self.sources.get(cpu.0 as usize);
        assert!(armed >= now, "{cpu} is armed for {armed:?}, and it is {now:?}");
        assert!(
            armed.is_never() || record.activity != Activity::Idle,
            "{cpu} is idle and is armed for {armed:?}"
        );
    }

    /// Every runnable task is counted by one cpu, and only those that are queued or delayed have links.
    fn check_tasks(&self) {
        let mut runnable = 0;
        for id in self.tasks.ids() {
            let task = &self.tasks[id];
            match task.state {
                TaskState::Queued | TaskState::Running => runnable += u64::from(self.counts(task)),
                TaskState::New | TaskState::Sleeping | TaskState::Exited => {
                    let linked = (task.previous, task.next) != (TaskId::NONE, TaskId::NONE);
                    assert!(
                        !linked || task.history.delayed,
                        "{id} is {:?} and is linked into a queue",
                        task.state
                    );
                }
            }
            assert!(task.cpu_time <= self.now.since(Time::ZERO), "{id} ran for {:?}", task.cpu_time);
        }
        let counted: u64 = self.cpus.iter().map(|record| u64::from(record.running)).sum();
        assert!(counted == runnable, "the cpus count {counted} runnable tasks of {runnable}");
    }

    /// The counts of applications equal what they count.
    fn check_apps(&self) {
        let apps = self.apps;
        let ended = |app: AppId| apps[app].exited == apps[app].tasks;
        for app in apps.ids() {
            let (tasks, forked, exited) = (apps[app].tasks, apps[app].forked, apps[app].exited);
            assert!(
                exited <= forked && forked <= tasks,
                "{app} of {tasks} tasks: {forked} created, {exited} ended"
            );
            assert!(
                ended(app) == apps[app].end.is_some(),
                "{app}: {exited} of {tasks} tasks have ended, end {:?}",
                apps[app].end
            );
        }
        let left = apps.ids().filter(|app| !apps[*app].background && !ended(*app)).count();
        assert!(self.left as usize == left, "{} foreground applications are left of {left}", self.left);
    }
}

#[cfg(test)]
mod tests {
    use std::panic::{AssertUnwindSafe, catch_unwind};

    use super::*;
    use crate::account::Category;
    use crate::engine::setup::test_simulation;
    use crate::policy::{CpuChoice, Placement, Policy, View};

    struct First;

    impl Policy for First {
        fn select_cpu(&mut self, _view: &dyn View, _task: TaskId, _why: Placement) -> CpuChoice {
            CpuId(0).into()
        }
    }

    /// Four tasks on one of two cpus, some way into the run, with one thing changed by `damage`: the message.
    fn message(damage: impl FnOnce(&mut Engine<'_>)) -> String {
        let mut observer = ();
        let mut engine = Engine::new(test_simulation(2, 4), &mut observer);
        // The first instant creates the tasks, the next ones are ends of computations.
        for _ in 0..3 {
            engine.shared.now = engine.shared.sources.earliest().min(engine.timers.earliest());
            engine.shared.rounds.advance();
            assert!(engine.instant(&mut First).is_ok());
        }
        engine.check_all();
        damage(&mut engine);
        let failed = catch_unwind(AssertUnwindSafe(|| engine.check_all())).expect_err("nothing was found");
        *failed.downcast::<String>().unwrap()
    }

    /// The first task in the queue of the first cpu.
    fn head(engine: &Engine<'_>) -> TaskId {
        engine.cpus[CpuId(0)].head
    }

    #[test]
    fn each_damage_is_found_and_named() {
        let found = message(|engine| engine.cpus[CpuId(0)].running += 1);
        assert_eq!(found, "cpu0 counts 5 runnable tasks of 4");
        let found = message(|engine| engine.cpus[CpuId(0)].load -= 1);
        assert_eq!(found, "cpu0 has a load of 4095, its tasks have 4096");
        let found = message(|engine| {
            let head = head(engine);
            engine.shared.tasks[head].state = TaskState::Sleeping;
        });
        assert!(found.ends_with("is in the queue of cpu0 and is Sleeping"), "{found}");
        let found = message(|engine| {
            let head = head(engine);
            engine.shared.tasks[head].previous = head;
        });
        assert!(found.contains("links back to"), "{found}");
        let found = message(|engine| {
            let head = head(engine);
            engine.shared.tasks[head].priority = THROTTLED;
        });
        assert!(found.contains("with key (255, "), "{found}");
        let found = message(|engine| {
            let current = engine.cpus[CpuId(0)].current;
            engine.shared.tasks[current].priority = THROTTLED;
        });
        assert!(found.contains("is throttled and is current on cpu0"), "{found}");
        let found = message(|engine| {
            engine.cpus[CpuId(1)].account.add(Category::Idle, Span::from_ns(1));
        });
        assert!(found.starts_with("cpu1 has accounted for its time up to @1ns"), "{found}");
        let found = message(|engine| engine.shared.sources.set(0, Time::ZERO));
        assert!(found.starts_with("cpu0 is armed for @0ns"), "{found}");
        let found = message(|engine| engine.left = 2);
        assert_eq!(found, "2 foreground applications are left of 1");
    }
}
