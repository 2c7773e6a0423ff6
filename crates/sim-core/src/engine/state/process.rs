//! Processes, and the price of a switch: between tasks of one process it is one between threads.

use crate::engine::state::Task;
use crate::ids::{AppId, TaskId};
use crate::limits::{MAX_APPS, MAX_TASKS};
use crate::machine::Costs;
use crate::time::Span;

/// The number of a process.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct ProcessId(u32);

/// Behind the numbers of applications and of tasks.
const RESPAWNED: u32 = MAX_APPS as u32 + MAX_TASKS as u32;

impl ProcessId {
    /// No process.
    pub(crate) const NONE: Self = Self(u32::MAX);

    /// The one of all tasks of an application.
    pub(crate) const fn of_app(app: AppId) -> Self {
        Self(app.0)
    }

    /// The one of a task, or of the team that it is the first rank of.
    pub(crate) const fn of_task(task: TaskId) -> Self {
        Self(MAX_APPS as u32 + task.0)
    }

    /// The `count`-th process that replaces another one. Four billion of them have distinct numbers.
    pub(crate) const fn respawned(count: u32) -> Self {
        Self(RESPAWNED.saturating_add(count))
    }
}

/// What a yield and a switch take.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Prices {
    pub(crate) call: Span,
    pub(crate) thread: Span,
    pub(crate) process: Span,
}

impl Prices {
    #[inline]
    pub(crate) const fn of(costs: &Costs) -> Self {
        let Costs { yield_call: call, switch_thread: thread, switch_process: process, .. } = *costs;
        Self { call, thread, process }
    }

    /// A switch between tasks of these processes; from none it costs as between threads.
    #[inline]
    pub(crate) fn switch(&self, from: ProcessId, to: ProcessId) -> Span {
        if from == to || from == ProcessId::NONE { self.thread } else { self.process }
    }

    /// A switch between two tasks of a cpu whose tasks belong to several processes, or to one.
    #[inline]
    pub(crate) fn between(&self, several: bool, from: &Task, to: &Task) -> Span {
        if several { self.between_processes(from, to) } else { self.thread }
    }

    /// A separate function, so that the numbers of processes are not read where there is one only: they are
    /// in another line.
    #[inline(never)]
    fn between_processes(&self, from: &Task, to: &Task) -> Span {
        self.switch(from.process, to.process)
    }

    /// What of a switch is charged to the virtual runtime of the task switched to. It is the same for all of
    /// a cpu: the price between processes when its tasks belong to several, else the price between threads.
    #[inline]
    pub(crate) const fn charged(&self, several: bool) -> Span {
        if several { self.process } else { self.thread }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_switch_costs_more_between_processes_and_is_charged_alike_on_a_cpu() {
        let [thread, process] = [1, 2].map(Span::from_ns);
        let prices = Prices { call: Span::ZERO, thread, process };
        let (one, other) = (ProcessId::of_app(AppId(0)), ProcessId::of_app(AppId(1)));
        let switches = [(one, one), (one, other), (ProcessId::NONE, one)];
        assert_eq!(switches.map(|(from, to)| prices.switch(from, to)), [thread, process, thread]);
        let tasks = [one, other, one].map(|process| Task::new(AppId(0), 1024, process, 0));
        let between = |several, to: usize| prices.between(several, &tasks[0], &tasks[to]);
        assert_eq!([between(true, 1), between(true, 2), between(false, 2)], [process, thread, thread]);
        assert_eq!([prices.charged(true), prices.charged(false)], [process, thread]);
    }
}
