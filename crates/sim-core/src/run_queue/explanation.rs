//! Why a run queue decided as it did: the tasks that compete and the rule, for observers.

use super::{Discipline, Tasks, list};
use crate::engine::state::Cpu;
use crate::ids::TaskId;
use crate::observe::{Contender, QueueDecision, Verdict};
use crate::policy::THROTTLED;

/// The decision about a task of a cpu, with all that compete there.
pub(crate) fn explain(
    discipline: &Discipline,
    tasks: &Tasks,
    cpu: &Cpu,
    task: TaskId,
    verdict: Verdict,
) -> QueueDecision {
    let waiting = list(tasks, cpu.head).filter(|id| tasks[*id].priority < THROTTLED);
    let all = cpu.current.some().into_iter().chain(waiting).chain(list(tasks, cpu.rare.delayed));
    let of = |id: TaskId| Contender {
        task: id,
        current: cpu.current == id,
        delayed: tasks[id].history.delayed,
        vruntime: tasks[id].vruntime,
        request: discipline.request(tasks, cpu, id).map(|(request, _)| request),
    };
    QueueDecision {
        cpu: cpu.id,
        task,
        verdict,
        rule: rule(discipline, tasks, cpu, task, verdict),
        mean: discipline.request(tasks, cpu, task).map(|(_, mean)| mean),
        contenders: all.map(of).collect(),
    }
}

/// Priority levels come before the rules of the discipline.
fn rule(discipline: &Discipline, tasks: &Tasks, cpu: &Cpu, task: TaskId, verdict: Verdict) -> &'static str {
    let priority = |id: TaskId| tasks[id].priority;
    let rival = cpu.current.some().filter(|current| *current != task && priority(*current) != priority(task));
    match (verdict, rival) {
        (Verdict::Preempts, Some(_)) => "its priority level is lower than that of the current task",
        (Verdict::Waits, Some(_)) if priority(task) == THROTTLED => "it is throttled",
        (Verdict::Waits, Some(_)) => "its priority level is higher than that of the current task",
        _ if verdict == Verdict::Waits && priority(task) == THROTTLED => "it is throttled",
        _ => discipline.rule(tasks, cpu, task, verdict),
    }
}
