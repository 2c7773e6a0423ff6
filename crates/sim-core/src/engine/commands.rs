//! Commands from outside: in what order they come, and what each does.

use std::collections::VecDeque;
use std::sync::Arc;

use crate::command::Act;
use crate::engine::Engine;
use crate::engine::state::{Activity, Task, Waiting};
use crate::ids::{AppId, CpuId, TaskId};
use crate::limits::MAX_COMMANDS;
use crate::machine::Machine;
use crate::observe::LeaveReason;
use crate::os::OsModel;
use crate::policy::{Affinity, Policy, TaskState, Why};
use crate::program::AppSpec;
use crate::run_queue::{self, Entry, Picked, Rules};
use crate::time::{Time, Work};

/// The commands of a run that have not acted, the next one first.
pub(crate) struct Commands(VecDeque<(Time, AppId, Act)>);

impl Commands {
    pub(crate) fn of(specs: &[AppSpec]) -> Self {
        let numbered = (0..).map(AppId).zip(specs);
        let mut all: Vec<_> = numbered
            .flat_map(|(app, spec)| spec.commands.iter().map(move |command| (command, app)))
            .collect();
        all.sort_by_key(|(command, _)| (command.at, command.order));
        Self(all.into_iter().map(|(command, app)| (command.at, app, command.act.clone())).collect())
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// When the next one acts.
    #[inline]
    pub(crate) fn next_at(&self) -> Option<Time> {
        self.0.front().map(|(at, ..)| *at)
    }
}

/// Refuses commands that cannot be obeyed.
pub(super) fn check(machine: &Machine, model: &OsModel, apps: &[AppSpec]) -> Result<(), String> {
    if apps.iter().map(|app| app.commands.len()).sum::<usize>() > MAX_COMMANDS {
        return Err(format!("a run has at most {MAX_COMMANDS} commands"));
    }
    let weighs = model.discipline.reweighs();
    for (number, app) in apps.iter().enumerate() {
        let name = &app.name;
        let acts = || app.commands.iter().map(|command| &command.act);
        if acts().filter(|act| act.starts()).count() > 1 || app.is_commanded() && app.after.is_some() {
            return Err(format!("application `{name}` is started twice"));
        }
        for act in acts() {
            match act {
                Act::Fork(parent) if parent.0 as usize >= number => {
                    return Err(format!("application `{name}` is created by one that stands behind it"));
                }
                Act::Bind(cpus) if !cpus.iter().any(|cpu| cpu.0 < machine.cpus()) => {
                    return Err(format!("application `{name}` is bound to no cpu of the machine"));
                }
                Act::Weight(0) => return Err(format!("application `{name}` gets a weight of 0")),
                Act::Weight(_) if !weighs || !model.groups.is_empty() => {
                    return Err(format!(
                        "application `{name}` gets a weight: only under CFS and EEVDF without task groups"
                    ));
                }
                _ => {}
            }
        }
    }
    Ok(())
}

impl Engine<'_> {
    /// The next command acts, and the cpus that it concerns decide.
    pub(super) fn obey(&mut self, policy: &mut dyn Policy) -> Result<(), String> {
        self.pass_all_ticks();
        self.armed_now = 0;
        // All events of this instant are over.
        self.shared.rounds.end();
        let Some((_, app, act)) = self.commands.0.pop_front() else { return Ok(()) };
        self.events += 1;
        if let Some(observer) = self.shared.reports.observer() {
            observer.commanded(self.shared.now, app, &act);
        }
        self.act(app, &act, policy);
        self.notify(policy);
        self.end_instant(policy)
    }

    fn act(&mut self, app: AppId, act: &Act, policy: &mut dyn Policy) {
        const BOUND: Why = Why::rule("a command changes the affinity masks of the application");
        let tasks = self.shared.apps[app].tasks;
        let all = (0..tasks).map(|rank| self.shared.apps[app].task(rank)).collect::<Vec<_>>();
        match act {
            Act::Start => self.arrives(app, policy),
            Act::Fork(parent) => {
                let parent = self.shared.apps[*parent].first;
                self.shared.apps[app].shell = self.shared.tasks[parent].cpu;
                self.arrives(app, policy);
            }
            Act::Stop => all.into_iter().for_each(|task| self.stop(task)),
            Act::Continue => {
                for task in all {
                    self.continue_stopped(task, policy);
                    self.notify(policy);
                }
            }
            Act::Bind(cpus) => self.bind_all(app, &Affinity::Set(Arc::new(cpus.clone())), BOUND, policy),
            Act::Weight(weight) => all.into_iter().for_each(|task| self.reweigh(task, *weight)),
        }
    }

    /// A task that computes and has a cpu goes to sleep in the middle of its work.
    fn stop(&mut self, id: TaskId) {
        let cpu = self.shared.tasks[id].cpu;
        let record = &self.cpus[cpu];
        if record.current == id && record.activity == Activity::Compute {
            self.sleep(cpu, None);
        }
    }

    /// A task that was stopped wakes up: it is the only one that sleeps and has work left.
    fn continue_stopped(&mut self, id: TaskId, policy: &mut dyn Policy) {
        let task = &self.shared.tasks[id];
        let sleeps = task.state == TaskState::Sleeping && task.waiting == Waiting::No;
        if sleeps && task.remaining() > Work::ZERO {
            self.wake(id, task.cpu, policy);
        }
    }

    /// A task gets another weight (`set_user_nice`). The cpu picks again if the current task has become
    /// lighter or a waiting one would take the cpu (`prio_changed_fair`).
    fn reweigh(&mut self, id: TaskId, weight: u32) {
        if self.shared.tasks[id].history.delayed {
            self.end_delay(id);
        }
        let (cpu, state) = (self.shared.tasks[id].cpu, self.shared.tasks[id].state);
        let before = self.shared.tasks[id].weight;
        if !matches!(state, TaskState::Queued | TaskState::Running) {
            return change_weight(&mut self.shared.tasks[id], weight);
        }
        self.catch_up(cpu);
        self.place_anew(cpu, id, weight);
        let (discipline, record) = (&self.shared.model.discipline, &mut self.cpus[cpu]);
        record.load = record.load - u64::from(before) + u64::from(weight);
        let again = if record.current == id {
            weight < before
        } else {
            discipline.takes_cpu(&mut self.shared.tasks, record, id, self.shared.now)
        };
        record.resched |= again && record.running > 1;
        self.shared.rounds.mark(cpu);
    }

    /// A runnable task changes its weight. Where it keeps a lag, it leaves its queue for that and is placed
    /// there again; the current one is protected anew.
    fn place_anew(&mut self, cpu: CpuId, id: TaskId, weight: u32) {
        let (discipline, now) = (&self.shared.model.discipline, self.shared.now);
        let (tasks, record) = (&mut self.shared.tasks, &mut self.cpus[cpu]);
        if discipline.requests().is_none() {
            return change_weight(&mut tasks[id], weight);
        }
        let waits = record.current != id;
        discipline.leave(tasks, record, id, LeaveReason::Moved, now);
        if waits {
            run_queue::remove(tasks, record, id);
        }
        change_weight(&mut tasks[id], weight);
        discipline.place(tasks, record, id, Entry::Move, now);
        if waits {
            discipline.insert(tasks, record, id);
        } else {
            discipline.picked(tasks, record, Picked::Anew(now));
        }
    }
}

/// A task that is in no queue gets a weight; its lag and the rest of its request, if it has them, stay the
/// same service (`reweight_entity`).
fn change_weight(task: &mut Task, weight: u32) {
    let before = i64::from(std::mem::replace(&mut task.weight, weight));
    if let Some(history) = task.history.written() {
        let scaled = |value: i64| (i128::from(value) * i128::from(before) / i128::from(weight)) as i64;
        (history.vlag, history.vdeadline) = (scaled(history.vlag), scaled(history.vdeadline));
    }
}
