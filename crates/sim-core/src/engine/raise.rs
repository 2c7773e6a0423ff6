//! Locks that change priorities: inheritance and ceilings.
//!
//! What a task has by its locks follows from who has them and who waits for them; it is computed anew
//! whenever that changes. A change of priorities takes no time of its own, also on another cpu.

use crate::command::Act;
use crate::engine::Engine;
use crate::engine::state::Waiting;
use crate::ids::{Id as _, LockId, TaskId};
use crate::lock::{LockRules, Protocol};
use crate::os::OsModel;
use crate::program::{AppSpec, Objects, Op, Scheduling};
use crate::run_queue::Rules as _;

/// The locks with a protocol that an application takes.
fn taken<'a>(app: &'a AppSpec, objects: &'a Objects) -> impl Iterator<Item = LockRules> + 'a {
    let rules = |op: &Op| match op {
        Op::Lock(lock) if app.named_locks => objects.locks.get(lock.index()).map(|lock| lock.rules),
        Op::Lock(_) => Some(app.lock),
        _ => None,
    };
    app.program.ops().iter().filter_map(rules).filter(LockRules::raises)
}

const fn ceiling(rules: &LockRules) -> Option<u8> {
    match rules.protocol {
        Protocol::Ceiling(ceiling) => Some(ceiling),
        Protocol::Plain | Protocol::Inherits => None,
    }
}

/// Tasks take locks that change priorities.
pub(super) fn raises(apps: &[AppSpec], objects: &Objects) -> bool {
    apps.iter().any(|app| taken(app, objects).next().is_some())
}

/// Ceilings raise tasks here, so that there is the real-time class in the run.
pub(super) fn needs_class(model: &OsModel, apps: &[AppSpec], objects: &Objects) -> bool {
    let discipline = &model.discipline;
    let can = model.real_time.is_some()
        && discipline.reweighs()
        && (model.groups.is_empty() || discipline.has_policies());
    can && apps.iter().any(|app| taken(app, objects).any(|rules| ceiling(&rules).is_some()))
}

/// Refuses locks that change priorities in a way that is not simulated.
pub(super) fn check(model: &OsModel, apps: &[AppSpec], objects: &Objects) -> Result<(), String> {
    let class = apps.iter().any(AppSpec::is_real_time) || needs_class(model, apps, objects);
    for app in apps {
        let name = &app.name;
        let best = app.highest_priority();
        for rules in taken(app, objects) {
            if rules.barges() {
                return Err(format!("`{name}`: a lock that changes priorities is handed over"));
            }
            match ceiling(&rules) {
                Some(ceiling) if !(1..=99).contains(&ceiling) => {
                    return Err(format!("`{name}`: a ceiling is 1 to 99, this is {ceiling}"));
                }
                Some(ceiling) if best > ceiling => {
                    return Err(format!(
                        "`{name}` may have the priority {best} and takes a lock with the ceiling {ceiling}"
                    ));
                }
                _ => {}
            }
            if app.reserved() > 0 {
                return Err(format!(
                    "`{name}` is of SCHED_DEADLINE and takes a lock that changes priorities"
                ));
            }
            if class && !model.discipline.reweighs() {
                return Err(format!("`{name}`: locks change priorities only under CFS and EEVDF"));
            }
            let moves = |act: &Act| matches!(act, Act::Group(_));
            let grouped = app.group.is_some() || app.commands.iter().any(|command| moves(&command.act));
            if class && grouped {
                return Err(format!("`{name}` takes locks that change priorities, and is in a task group"));
            }
        }
    }
    Ok(())
}

impl Engine<'_> {
    /// A task changes its own class.
    pub(super) fn change_class(&mut self, id: TaskId, scheduling: Scheduling) {
        self.shared.classes[id].scheduling = scheduling;
        self.raise(id);
    }

    /// A lock changes priorities in this run.
    pub(super) fn lock_raises(&self, lock: LockId) -> bool {
        self.real_time && self.shared.locks.rules(lock).raises()
    }

    /// A task begins to wait for a lock that changes priorities.
    pub(super) fn await_raising(&mut self, id: TaskId, lock: LockId) {
        match self.shared.locks.rules(lock).protocol {
            Protocol::Inherits => self.raise_holder(id, lock),
            Protocol::Plain | Protocol::Ceiling(_) => self.raise(id),
        }
    }

    /// What a task is by itself, its locks, or those who wait for them have changed: it gets the priority
    /// that follows, and so do those for whose locks it waits (`rt_mutex_adjust_prio_chain`).
    pub(super) fn raise(&mut self, id: TaskId) {
        let to = self.shared.classes[id].scheduling.at_least(self.priority_by_locks(id));
        if to == self.shared.tasks[id].history.scheduling {
            return;
        }
        self.reclass(id, to);
        let task = &self.shared.tasks[id];
        if task.waiting == Waiting::Lock {
            let lock = self.shared.lock_of(task);
            if self.shared.locks.rules(lock).protocol == Protocol::Inherits {
                self.raise_holder(id, lock);
            }
        }
    }

    /// A task that waits for a lock has come or has another priority.
    fn raise_holder(&mut self, id: TaskId, lock: LockId) {
        let tasks = &self.shared.tasks;
        let of = |id: TaskId| tasks[id].history.scheduling.priority().unwrap_or(0);
        self.shared.locks.reorder(lock, id, of);
        if let Some(holder) = self.shared.locks.holder(lock).filter(|holder| *holder != id) {
            self.raise(holder);
        }
    }
}
