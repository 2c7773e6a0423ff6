//! Commands from outside: in what order they come, and what each does.

use std::collections::VecDeque;
use std::sync::Arc;

use crate::command::Act;
use crate::engine::Engine;
use crate::engine::state::{Activity, Cpu, Task, Waiting};
use crate::ids::{AppId, CpuId, TaskId};
use crate::limits::MAX_COMMANDS;
use crate::machine::{CpuSet, Machine};
use crate::os::OsModel;
use crate::policy::{Affinity, Policy, TaskChange, TaskState, Why};
use crate::program::{AppSpec, Change};
use crate::run_queue::{self, Rules, Tasks, group_loads, groups};
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
    let (weighs, groups) = (model.discipline.reweighs(), model.groups.len());
    // Tasks keep their lag when they leave a queue, and no group is throttled.
    let moves =
        model.discipline.requests().is_some() && model.groups.iter().all(|group| group.limit.is_none());
    for (number, app) in apps.iter().enumerate() {
        let name = &app.name;
        let acts = || app.commands.iter().map(|command| &command.act);
        // What its tasks do to themselves.
        let own = app.program.changes().iter().filter_map(|change| match change {
            Change::Weight(weight) => Some(Act::Weight(*weight)),
            Change::Cpus(cpus) => Some(Act::Bind(cpus.clone())),
            Change::Class(_) => None,
        });
        let own: Vec<Act> = own.collect();
        if acts().filter(|act| act.starts()).count() > 1 || app.is_commanded() && app.after.is_some() {
            return Err(format!("application `{name}` is started twice"));
        }
        for act in acts().chain(&own) {
            match act {
                Act::Fork(parent) if parent.0 as usize >= number => {
                    return Err(format!("application `{name}` is created by one that stands behind it"));
                }
                Act::Bind(cpus) if !cpus.iter().any(|cpu| cpu.0 < machine.cpus()) => {
                    return Err(format!("application `{name}` is bound to no cpu of the machine"));
                }
                Act::Weight(0) => return Err(format!("application `{name}` gets a weight of 0")),
                Act::Weight(_) if !weighs || !model.groups.is_empty() && !moves => {
                    return Err(format!(
                        "application `{name}` gets a weight: only under CFS without task groups, and under \
                         EEVDF without limits of theirs"
                    ));
                }
                Act::Group(_) | Act::Shares(..) if !moves || app.is_real_time() => {
                    return Err(format!(
                        "application `{name}` changes task groups: only under EEVDF, without limits of \
                         theirs, and if it has no real-time tasks"
                    ));
                }
                Act::Group(Some(group)) | Act::Shares(group, _) if usize::from(*group) >= groups => {
                    return Err(format!(
                        "application `{name}` names the task group {group}, there are {groups}"
                    ));
                }
                Act::Shares(_, weight) if !(2..=262_144).contains(weight) => {
                    return Err(format!("application `{name}` weighs a task group, by 2 to 262144"));
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
            Act::Bind(cpus) => {
                all.into_iter().for_each(|task| self.masked(task, cpus));
                self.bind_all(app, &Affinity::Set(Arc::new(cpus.clone())), BOUND, policy);
            }
            Act::Weight(weight) => {
                self.shared.apps[app].changed.values_mut().for_each(|before| before.weight = None);
                for task in all {
                    if self.renice(task, *weight, true) {
                        self.reweigh(task, *weight);
                    }
                }
            }
            // A policy that orders the queues is told, and no queue has groups.
            Act::Group(group) if self.shared.model.groups.is_empty() => {
                self.shared.apps[app].group = *group;
                all.into_iter().for_each(|task| self.note_changed(task, TaskChange::Group));
            }
            Act::Shares(group, weight) if self.shared.model.groups.is_empty() => {
                self.told_shares(*group, *weight);
            }
            Act::Group(group) => {
                let group = group.map_or(0, |group| group + 1);
                all.into_iter().for_each(|task| self.regroup(task, group));
            }
            Act::Shares(group, weight) => self.reshare(*group, *weight),
            Act::Pause => all.into_iter().for_each(|task| self.pause(task)),
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

    /// A task that computes goes to sleep as soon as it has a cpu.
    fn pause(&mut self, id: TaskId) {
        let task = &mut self.shared.tasks[id];
        if matches!(task.state, TaskState::Queued | TaskState::Running) {
            self.pausing += u32::from(!task.history.pauses);
            task.history.pauses = true;
            self.stop(id);
        }
    }

    /// A task that has the cpu and begins to compute goes to sleep, if it was told to.
    pub(super) fn pauses(&mut self, cpu: CpuId) {
        let record = &self.cpus[cpu];
        let computes = record.activity == Activity::Compute;
        if computes && self.shared.tasks[record.current].history.pauses {
            self.sleep(cpu, None);
        }
    }

    /// A task gets another weight (`set_user_nice`). The cpu picks again if the current task has become
    /// lighter or a waiting one would take the cpu (`prio_changed_fair`).
    pub(super) fn reweigh(&mut self, id: TaskId, weight: u32) {
        let (cpu, state) = (self.shared.tasks[id].cpu, self.shared.tasks[id].state);
        let before = self.shared.tasks[id].weight;
        let scales = self.shared.model.discipline.scales_requests();
        let now = self.shared.now;
        let change = |tasks: &mut Tasks, cpu: &Cpu| {
            change_weight(&mut tasks[id], weight, scales);
            if cpu.rare.group_count > 0 {
                group_loads::reweighed(tasks, cpu, id, before, now);
            }
        };
        self.change(id, &change);
        if !matches!(state, TaskState::Queued | TaskState::Running) {
            self.note_changed(id, TaskChange::Weight);
            return;
        }
        let (discipline, record) = (&self.shared.model.discipline, &mut self.cpus[cpu]);
        record.load = record.load - u64::from(before) + u64::from(weight);
        let again = if record.current == id {
            weight < before
        } else {
            discipline.takes_cpu(&mut self.shared.tasks, record, id, self.shared.now)
        };
        record.resched |= again && record.running > 1;
        self.note_changed(id, TaskChange::Weight);
    }

    /// A task moves to another task group, from 1, or out of all. A cpu that it has picks again
    /// (`sched_move_task`).
    fn regroup(&mut self, id: TaskId, group: u16) {
        if self.shared.tasks[id].history.group == group {
            return;
        }
        let now = self.shared.now;
        let change = |tasks: &mut Tasks, cpu: &Cpu| group_loads::regroup(tasks, cpu, id, group, now);
        self.change(id, &change);
        let cpu = self.shared.tasks[id].cpu;
        let record = &mut self.cpus[cpu];
        record.resched |= record.current == id;
    }

    /// A task may run on other cpus: if that changes anything, it leaves its queue for it
    /// (`do_set_cpus_allowed`). Beside limited groups, whose tasks may be throttled, it stays.
    pub(super) fn masked(&mut self, id: TaskId, cpus: &CpuSet) {
        let (old, model) = (self.shared.affinity(id), &self.shared.model);
        let unlimited = model.groups.iter().all(|group| group.limit.is_none());
        if model.discipline.requests().is_some()
            && unlimited
            && !self.shared.machine.cpu_ids().all(|cpu| old.allows(cpu) == cpus.contains(cpu))
        {
            self.change(id, &|_, _| {});
        }
    }

    /// A task group gets another weight, where the policy orders the queues.
    fn told_shares(&mut self, group: u16, weight: u32) {
        let Some(told) = self.orders.groups.get_mut(usize::from(group)) else { return };
        told.weight = weight;
        for app in self.shared.apps.ids() {
            let own = self.shared.apps[app].group == Some(group);
            for rank in 0..self.shared.apps[app].tasks * u32::from(own) {
                self.note_changed(self.shared.apps[app].task(rank), TaskChange::Group);
            }
        }
    }

    /// A task group gets another weight over all cpus.
    fn reshare(&mut self, group: u16, weight: u32) {
        for cpu in self.shared.machine.cpu_ids() {
            self.catch_up(cpu);
            self.shared.rounds.mark(cpu);
        }
        let first = &self.cpus[CpuId(0)];
        let whole = groups::whole(first, groups::on(first, group));
        self.shared.tasks[whole].weight = weight;
        let (model, now) = (&self.shared.model, self.shared.now);
        let Some(rules) = model.discipline.groups() else { return };
        for cpu in self.shared.machine.cpu_ids() {
            rules.reshare(&mut self.shared.tasks, &mut self.cpus[cpu], group, now);
        }
    }

    /// A task changes. Where it is queued and keeps a lag, it leaves its queue for that and is placed there
    /// again, also if it sleeps and its dequeue is delayed.
    pub(super) fn change(&mut self, id: TaskId, change: run_queue::Change<'_>) {
        let (cpu, task) = (self.shared.tasks[id].cpu, &self.shared.tasks[id]);
        let queued = matches!(task.state, TaskState::Queued | TaskState::Running) || task.history.delayed;
        let real_time = self.is_real_time(id);
        if queued {
            self.catch_up(cpu);
            self.shared.rounds.mark(cpu);
        }
        let (discipline, now) = (&self.shared.model.discipline, self.shared.now);
        let (tasks, record) = (&mut self.shared.tasks, &mut self.cpus[cpu]);
        match discipline.groups().filter(|_| queued && !real_time) {
            Some(rules) => rules.anew(tasks, record, id, change, now),
            None => change(tasks, record),
        }
    }
}

/// A task that is in no queue gets a weight; its lag stays the same service, and where it has what is left of
/// a request, that too or by the rule not (`reweight_entity`).
pub(super) fn change_weight(task: &mut Task, weight: u32, scales: bool) {
    let before = i64::from(std::mem::replace(&mut task.weight, weight));
    if let Some(history) = task.history.written() {
        let scaled = |value: i64| (i128::from(value) * i128::from(before) / i128::from(weight)) as i64;
        history.vlag = scaled(history.vlag);
        if scales {
            history.vdeadline = scaled(history.vdeadline);
        }
    }
}
