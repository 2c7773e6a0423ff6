//! The message of a run in which nothing will happen any more: who waits for what, and who has it.

use std::collections::BTreeMap;

use crate::engine::shared::Shared;
use crate::engine::state::Waiting;
use crate::ids::{Id as _, TaskId};
use crate::policy::TaskState;
use crate::program::Op;

/// The most names in a message.
const FEW: usize = 5;

/// How many tasks wait, the first few of them, and a circle of tasks of which each has the lock that the one
/// before waits for.
pub(super) fn message(shared: &Shared) -> String {
    let waits = |id: &TaskId| {
        let task = &shared.tasks[*id];
        task.state != TaskState::Exited && !shared.apps[task.app()].background
    };
    let all = shared.tasks.ids().filter(waits).count();
    let names: Vec<String> = shared.tasks.ids().filter(waits).take(FEW).map(|id| wait(shared, id)).collect();
    let mut message = format!("{all} tasks wait for what will never happen: {}", names.join("; "));
    if let Some(circle) = circle(shared) {
        let names: Vec<String> = circle.iter().take(FEW).map(|id| name(shared, *id)).collect();
        message += &format!("; a circle of {}: {}", circle.len(), names.join(", "));
    }
    message
}

fn name(shared: &Shared, id: TaskId) -> String {
    let app = &shared.apps[shared.tasks[id].app()];
    format!("{} rank {}", app.name, app.rank(id))
}

/// What a task waits for.
fn wait(shared: &Shared, id: TaskId) -> String {
    let (task, name_of) = (&shared.tasks[id], name(shared, id));
    let app = &shared.apps[task.app()];
    match (task.waiting, app.program.ops().get(usize::from(task.pc))) {
        (Waiting::Lock, Some(Op::Lock(own))) => {
            let known = shared.objects.lock_names.get(own.index()).filter(|_| app.named_locks);
            let lock =
                known.map_or_else(|| format!("the lock {}", own.0), |name| format!("the lock `{name}`"));
            let holder = shared.locks.holder(app.lock(*own));
            let holder = holder.map_or_else(|| "nobody".to_owned(), |holder| name(shared, holder));
            format!("{name_of} waits for {lock}, which {holder} holds")
        }
        (Waiting::Event, Some(Op::Take { event, .. } | Op::Meet { event, .. })) => {
            format!("{name_of} waits for the event `{}`", shared.objects.events[*event].name)
        }
        (waiting, _) => format!("{name_of} ({waiting:?})"),
    }
}

/// The task that has the lock which a task waits for.
fn holder(shared: &Shared, id: TaskId) -> Option<TaskId> {
    let task = &shared.tasks[id];
    if task.waiting == Waiting::Lock { shared.locks.holder(shared.lock_of(task)) } else { None }
}

/// Tasks that wait for each other, from the lowest one on: the first circle that is found.
fn circle(shared: &Shared) -> Option<Vec<TaskId>> {
    // From which task each one was reached first.
    let mut reached: BTreeMap<TaskId, TaskId> = BTreeMap::new();
    for start in shared.tasks.ids() {
        let mut at = Some(start);
        while let Some(id) = at {
            match reached.insert(id, start) {
                None => at = holder(shared, id),
                Some(before) if before == start => return Some(around(shared, id)),
                Some(_) => break,
            }
        }
    }
    None
}

/// The circle that a task is in, from the lowest one on.
fn around(shared: &Shared, id: TaskId) -> Vec<TaskId> {
    let mut circle = vec![id];
    let mut at = id;
    while let Some(next) = holder(shared, at).filter(|next| *next != id) {
        circle.push(next);
        at = next;
    }
    let lowest = circle.iter().enumerate().min_by_key(|(_, id)| **id).map_or(0, |(at, _)| at);
    circle.rotate_left(lowest);
    circle
}
