//! What comes from outside on the reference engine: tasks are started, stopped, bound and weighed.

use std::sync::Arc;

use sim_core::command::Act;
use sim_core::observe::LeaveReason;
use sim_core::policy::{Policy, TaskState};
use sim_core::program::AppSpec;

use super::Reference;
use super::queue::Entry;
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
            Act::Bind(cpus) => self.bind(app, &Arc::new(cpus), policy),
            Act::Stop | Act::Continue | Act::Weight(_) => {
                for rank in 0..self.apps[app].spec.tasks {
                    let t = self.task(app, rank);
                    match act {
                        Act::Stop => self.halt(t),
                        Act::Weight(weight) => self.weigh(t, weight),
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

    /// A task gets another weight.
    fn weigh(&mut self, t: usize, weight: u32) {
        self.leave_delayed(t);
        let (c, old) = (self.tasks[t].cpu, self.tasks[t].weight);
        let runs = self.cpus[c].current == Some(t);
        if !runs && !self.cpus[c].queue.contains(&t) {
            return self.set_weight(t, weight);
        }
        self.charge(c);
        match self.eevdf() {
            None => self.set_weight(t, weight),
            Some(params) => {
                // It leaves with its lag and the rest of its request, and comes back with them.
                self.take_leave(c, t, LeaveReason::Moved);
                self.remove(c, t);
                self.set_weight(t, weight);
                self.insert_entity(params, c, t, Entry::Move);
                if runs {
                    self.protect(params, c, t);
                } else {
                    self.insert(c, t);
                }
            }
        }
        let again = if runs { weight < old } else { self.preempts(c, t) };
        let others = self.runnable(c).filter(|other| self.counts(*other)).count() > 1;
        self.cpus[c].resched |= again && others;
        self.mark(c);
    }

    /// Its lag, and what is left of its request, is the same service as before.
    fn set_weight(&mut self, t: usize, weight: u32) {
        let task = &mut self.tasks[t];
        for value in [&mut task.vlag, &mut task.vdeadline] {
            *value = (i128::from(*value) * i128::from(task.weight) / i128::from(weight)) as i64;
        }
        task.weight = weight;
    }
}
