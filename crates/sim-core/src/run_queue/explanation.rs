//! Why a run queue decided as it did: the tasks that compete and the rule, for observers.

use super::real_time::reservation;
use super::{Discipline, Rules, Tasks, list};
use crate::engine::state::Cpu;
use crate::ids::TaskId;
use crate::observe::{Contender, Keys, QueueDecision, Verdict};
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
    let request = |id: TaskId| discipline.requests().map(|requests| requests.request(tasks, cpu, id));
    let of = |id: TaskId| Contender {
        task: id,
        current: cpu.current == id,
        delayed: tasks[id].history.delayed,
        level: tasks[id].priority,
        real_time: tasks[id].history.scheduling.priority(),
        due: reservation(&tasks[id]).map(|_| tasks[id].history.cbs.deadline()),
        vruntime: tasks[id].vruntime,
        request: request(id).map(|(request, _)| request),
    };
    QueueDecision {
        cpu: cpu.id,
        task,
        verdict,
        rule: rule(discipline, tasks, cpu, task, verdict),
        keys: keys(discipline),
        mean: request(task).map(|(_, mean)| mean),
        contenders: all.map(of).collect(),
    }
}

/// What a discipline sorts by; of the real-time class what the one below it does.
fn keys(discipline: &Discipline) -> Keys {
    match discipline {
        Discipline::Cfs(_) | Discipline::CfsGroups(_) | Discipline::Eevdf(_) | Discipline::VirtualTime(_) => {
            Keys::VirtualRuntime
        }
        Discipline::O1(_) => Keys::ArrayAndPriority,
        Discipline::Ule(_) => Keys::Score,
        Discipline::Ts(_) => Keys::Priority,
        Discipline::RoundRobin(_) => Keys::Arrival,
        Discipline::ByPolicy(_) => Keys::Policy,
        Discipline::RealTime(class) => keys(&class.below),
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
        _ => match (discipline.requests(), verdict) {
            (Some(requests), _) => requests.rule(tasks, cpu, task, verdict),
            (None, Verdict::Picked) => "the discipline prefers it to all others of the cpu",
            (None, Verdict::Preempts) => "the discipline prefers it to the current task",
            (None, Verdict::Waits) => "the discipline does not prefer it to the current task",
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::state::{ProcessId, Task};
    use crate::ids::{AppId, CpuId};
    use crate::os::RoundRobinParams;
    use crate::time::Span;

    #[test]
    fn only_a_throttled_task_that_waits_is_reported_as_throttled() {
        let mut tasks = Tasks::default();
        for priority in [0, THROTTLED] {
            let mut task = Task::new(AppId(0), 1024, ProcessId::NONE, 0);
            task.priority = priority;
            tasks.push(task);
        }
        let discipline = Discipline::RoundRobin(RoundRobinParams { quantum: Span::from_ms(10) });
        let rule = |current: TaskId, task, verdict| {
            let mut cpu = Cpu::new(CpuId(0));
            cpu.current = current;
            explain(&discipline, &tasks, &cpu, TaskId(task), verdict).rule
        };
        assert_eq!(rule(TaskId(0), 1, Verdict::Waits), "it is throttled");
        assert_eq!(rule(TaskId::NONE, 1, Verdict::Waits), "it is throttled");
        assert_eq!(rule(TaskId(0), 0, Verdict::Picked), "the discipline prefers it to all others of the cpu");
        assert_eq!(
            rule(TaskId::NONE, 0, Verdict::Waits),
            "the discipline does not prefer it to the current task"
        );
    }
}
