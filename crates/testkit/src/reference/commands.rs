//! What comes from outside on the reference engine: tasks are started, stopped, bound and weighed.

use std::sync::Arc;

use sim_core::command::Act;
use sim_core::machine::CpuSet;
use sim_core::observe::LeaveReason;
use sim_core::policy::{Policy, TaskChange, TaskState};
use sim_core::program::AppSpec;

use super::Reference;
use super::queue::Entry;
use super::records::Ent;
use super::state::{Activity, Waiting};

/// All commands of a run as they come.
pub(super) fn in_order(specs: &[AppSpec]) -> Vec<(u64, usize, Act)> {
    let mut all = Vec::new();
    for (app, spec) in specs.iter().enumerate() {
        for (number, command) in spec.commands.iter().enumerate() {
            all.push(((command.at.ns(), command.order, app, number), command.act.clone()));
        }
    }
    all.sort_by_key(|(place, _)| *place);
    all.into_iter().map(|((at, _, app, _), act)| (at, app, act)).collect()
}

impl Reference<'_> {
    /// The next command is carried out; whoever is concerned decides.
    pub(super) fn obey(&mut self, policy: &mut dyn Policy) {
        self.armed_now = 0;
        self.steps += 1;
        let (_, app, act) = self.commands.remove(0);
        match act {
            Act::Start => self.arrives(app, policy),
            Act::Fork(parent) => {
                let first = self.task(parent.0 as usize, 0);
                self.apps[app].shell = self.tasks[first].cpu;
                self.arrives(app, policy);
            }
            Act::Bind(cpus) => {
                for rank in 0..self.apps[app].spec.tasks {
                    self.masked(self.task(app, rank), &cpus);
                }
                self.bind(app, &Arc::new(cpus), policy);
            }
            // A policy that orders the queues is told, and no queue has groups.
            Act::Group(group) if self.model.groups.is_empty() => {
                self.told.1[app] = group;
                self.note_group(|number| number == app);
            }
            Act::Shares(group, weight) if self.model.groups.is_empty() => {
                if let Some(told) = self.told.0.get_mut(usize::from(group)) {
                    told.weight = weight;
                    let members = self.told.1.clone();
                    self.note_group(|number| members[number] == Some(group));
                }
            }
            Act::Shares(group, weight) => self.reshare(usize::from(group), weight),
            Act::Stop | Act::Continue | Act::Pause | Act::Weight(_) | Act::Group(_) => {
                for rank in 0..self.apps[app].spec.tasks {
                    let t = self.task(app, rank);
                    match act {
                        Act::Stop => self.halt(t),
                        Act::Pause => self.pause(t),
                        Act::Weight(weight) => {
                            self.tasks[t].event.weight_before = None;
                            if self.notes_nice(t, weight, true) {
                                self.weigh(t, weight);
                            }
                        }
                        Act::Group(group) => self.regroup(t, group),
                        _ => self.go_on(t, policy),
                    }
                }
            }
        }
        self.tell(policy);
        self.settle_all(policy);
    }

    /// A task that works right now falls asleep.
    fn halt(&mut self, t: usize) {
        let c = self.tasks[t].cpu;
        if self.cpus[c].current == Some(t) && self.cpus[c].activity == Activity::Compute {
            self.sleep(c, t, None);
        }
    }

    /// A task that was halted wakes up.
    fn go_on(&mut self, t: usize, policy: &mut dyn Policy) {
        let task = &self.tasks[t];
        let halted = task.state == TaskState::Sleeping && task.waiting == Waiting::No && task.remaining > 0;
        if halted {
            self.wake(t, task.cpu, policy);
            self.tell(policy);
        }
    }

    /// A task that works falls asleep when it next has a cpu.
    fn pause(&mut self, t: usize) {
        if matches!(self.tasks[t].state, TaskState::Queued | TaskState::Running) {
            self.tasks[t].pauses = true;
            self.halt(t);
        }
    }

    /// A task gets another weight.
    pub(super) fn weigh(&mut self, t: usize, weight: u32) {
        let (c, old) = (self.tasks[t].cpu, self.tasks[t].weight);
        self.alter(t, |me| me.set_weight(t, weight));
        self.note_altered(t, TaskChange::Weight);
        let runs = self.cpus[c].current == Some(t);
        if !runs && !self.cpus[c].queue.contains(&t) {
            return;
        }
        let again = if runs { weight < old } else { self.preempts(c, t) };
        let others = self.runnable(c).filter(|other| self.counts(*other)).count() > 1;
        self.cpus[c].resched |= again && others;
    }

    /// The policy will hear of another group of the tasks of these applications.
    fn note_group(&mut self, of: impl Fn(usize) -> bool) {
        for app in (0..self.apps.len()).filter(|app| of(*app)) {
            for rank in 0..self.apps[app].spec.tasks {
                self.note_altered(self.task(app, rank), TaskChange::Group);
            }
        }
    }

    /// A task comes to another task group; if it runs, the cpu picks again.
    fn regroup(&mut self, t: usize, group: Option<u16>) {
        if self.tasks[t].group == group {
            return;
        }
        self.alter(t, |me| me.changes_group(t, group));
        let c = self.tasks[t].cpu;
        self.cpus[c].resched |= self.cpus[c].current == Some(t);
    }

    /// A task gets other cpus: if that changes anything, it leaves its queue for it (`do_set_cpus_allowed`),
    /// except beside limited groups.
    pub(super) fn masked(&mut self, t: usize, cpus: &CpuSet) {
        let same = |cpu| self.tasks[t].affinity.allows(cpu) == cpus.contains(cpu);
        let unlimited = self.model.groups.iter().all(|group| group.limit.is_none());
        if self.eevdf().is_some() && unlimited && !self.machine.cpu_ids().all(same) {
            self.alter(t, |_| {});
        }
    }

    /// A task group gets another weight.
    fn reshare(&mut self, g: usize, weight: u32) {
        for c in 0..self.cpus.len() {
            self.charge(c);
            self.mark(c);
        }
        self.shares[g] = weight;
        let Some(params) = self.eevdf() else { return };
        for c in 0..self.cpus.len() {
            self.reweigh(params, c, Ent::Group(g));
            self.reweigh_around(params, c, Ent::Group(g));
        }
    }

    /// Something of a task changes. One that counts in a queue with its lag is out of it meanwhile: it comes
    /// back with the lag and with the rest of its request, protected anew if it runs, delayed if it was.
    pub(super) fn alter(&mut self, t: usize, change: impl FnOnce(&mut Self)) {
        let c = self.tasks[t].cpu;
        let runs = self.cpus[c].current == Some(t);
        let delayed = self.cpus[c].delayed.contains(&t);
        if !runs && !delayed && !self.cpus[c].queue.contains(&t) {
            return change(self);
        }
        self.charge(c);
        self.mark(c);
        let Some(params) = self.eevdf().filter(|_| !self.in_class(t)) else { return change(self) };
        if runs {
            self.cpus[c].groups.iter_mut().for_each(|group| group.chosen = false);
        }
        if delayed {
            self.takes_delayed(params, c, t);
        } else {
            self.take_leave(c, t, LeaveReason::Moved);
            self.remove(c, t);
        }
        change(self);
        self.insert_entity(params, c, t, Entry::Move);
        match (runs, delayed) {
            (true, _) => self.protect(params, c, t),
            (_, true) => self.cpus[c].delayed.push(t),
            _ => self.insert(c, t),
        }
    }

    /// Its lag is the same service as before, and by the rule what is left of its request.
    pub(super) fn set_weight(&mut self, t: usize, weight: u32) {
        let scales = self.eevdf().is_none_or(|params| params.request_scales);
        let task = &mut self.tasks[t];
        let old = std::mem::replace(&mut task.weight, weight);
        let scaled = |value: i64| (i128::from(value) * i128::from(old) / i128::from(weight)) as i64;
        task.vlag = scaled(task.vlag);
        if scales {
            task.vdeadline = scaled(task.vdeadline);
        }
        self.weight_counts(t, old);
    }
}
