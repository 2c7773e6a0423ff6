//! What a wrapped policy may request.

use sim_core::ids::{AppId, CpuId, TaskId};
use sim_core::policy::{TaskState, Timer, View};
use sim_core::wrap::Request;

/// True when the system would not refuse it, as far as can be seen; `tasks` is the number of tasks of the
/// run.
pub(crate) fn is_legal(request: &Request, view: &dyn View, tasks: u32) -> bool {
    let cpus = view.machine().cpus();
    let exists = |task: TaskId| task.0 < tasks;
    match request {
        Request::Migrate(task, to) => exists(*task) && to.0 < cpus && can_move(view, *task, *to),
        Request::Bind(task, affinity) => exists(*task) && affinity.first(cpus).is_some(),
        Request::SetPriority(task, _) => exists(*task),
        Request::Dispatch(task, cpu, _) => {
            exists(*task) && cpu.0 < cpus && view.task(*task).held && view.allowed(*task, *cpu)
        }
        Request::SetSlice(task, _) => {
            let seen = exists(*task).then(|| view.task(*task));
            seen.is_some_and(|seen| matches!(seen.state, TaskState::Queued | TaskState::Running))
        }
        Request::Kick(cpu, _) => cpu.0 < cpus,
        // Who holds its cpu and polls there only the engine knows.
        Request::YieldTo(from, to) => exists(*from) && exists(*to),
        Request::Charge(cpu, ..) | Request::At(_, Timer::Tick(cpu)) => cpu.0 < cpus,
        Request::At(..) => true,
    }
}

fn can_move(view: &dyn View, task: TaskId, to: CpuId) -> bool {
    let seen = view.task(task);
    matches!(seen.state, TaskState::Queued | TaskState::Running) && seen.cpu != to && view.allowed(task, to)
}

/// The number of tasks of the run.
pub(crate) fn tasks(view: &dyn View) -> u32 {
    (0..view.apps()).map(|app| view.app(AppId(app)).tasks.end).max().unwrap_or(0)
}
