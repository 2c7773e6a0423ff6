//! The `system` that hooks are given: it reaches the engine while a hook of that policy runs, and raises
//! otherwise.

use std::sync::Arc;

use pyo3::exceptions::{PyIndexError, PyRuntimeError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use sim_core::ids::{AppId, CpuId, TaskId};
use sim_core::machine::CpuSet;
use sim_core::os::TaskGroup;
use sim_core::policy::{self, Affinity, Kick, View, Why};
use sim_core::time::{Span, Time};

use super::hooks::Hook;
use super::scope::{FRAME, Frame, Reach};
use super::values::{App, Machine, Task, entry, ns, why};

/// What a hook reads and does. It is valid during the call of the hook that it was given to, in the thread of
/// this call; at any other time its functions raise RuntimeError. Cpus, tasks and applications are numbers
/// from 0; times are in nanoseconds.
#[pyclass(frozen, module = "oversim")]
pub(crate) struct System {
    owner: u64,
    machine: Py<Machine>,
    cpus: u32,
    tasks: u32,
    apps: u32,
}

impl System {
    pub(super) fn new(owner: u64, machine: Py<Machine>, cpus: u32, tasks: u32, apps: u32) -> Self {
        Self { owner, machine, cpus, tasks, apps }
    }

    /// Uses the engine while a hook of the own policy runs.
    fn within<T>(&self, what: impl FnOnce(Frame<'_>) -> PyResult<T>) -> PyResult<T> {
        let outside = || {
            PyRuntimeError::new_err(
                "a system is valid only during the call of the hook that it was given to, and in its thread",
            )
        };
        if !FRAME.is_set() {
            return Err(outside());
        }
        FRAME.with(|frame| if frame.owner == self.owner { what(frame) } else { Err(outside()) })
    }

    fn view<T>(&self, what: impl FnOnce(&dyn View) -> T) -> PyResult<T> {
        self.within(|frame| {
            Ok(match frame.reach {
                Reach::View(view) => what(view),
                Reach::System(system) => what(&*system),
            })
        })
    }

    /// Something that `select_cpu` may not do.
    fn system<T>(
        &self,
        name: &str,
        may: fn(Hook) -> bool,
        what: impl FnOnce(&mut dyn policy::System) -> T,
    ) -> PyResult<T> {
        self.within(|frame| match frame.reach {
            Reach::System(system) if may(frame.hook) => Ok(what(system)),
            _ => {
                let message = format!("`{name}` is not allowed in the hook `{}`", frame.hook.name());
                Err(PyRuntimeError::new_err(message))
            }
        })
    }

    fn cpu(&self, cpu: u32) -> PyResult<CpuId> {
        existing("cpu", cpu, self.cpus).map(CpuId)
    }

    fn task_id(&self, task: u32) -> PyResult<TaskId> {
        existing("task", task, self.tasks).map(TaskId)
    }

    /// The mask that Python writes as nothing, a cpu or several cpus.
    fn mask(&self, cpus: Option<&Bound<'_, PyAny>>) -> PyResult<Affinity> {
        let Some(cpus) = cpus else { return Ok(Affinity::All) };
        if let Ok(cpu) = cpus.extract::<u32>() {
            return Ok(Affinity::One(CpuId(cpu)));
        }
        let wrong = || PyTypeError::new_err("cpus must be None (all), a cpu, or several cpus such as [0, 2]");
        let mut set = Vec::new();
        for cpu in cpus.try_iter().map_err(|_| wrong())? {
            set.push(self.cpu(cpu?.extract().map_err(|_| wrong())?)?);
        }
        Ok(Affinity::Set(Arc::new(CpuSet::of(set))))
    }
}

fn existing(what: &str, number: u32, count: u32) -> PyResult<u32> {
    if number < count {
        return Ok(number);
    }
    Err(PyIndexError::new_err(format!("there is no {what} {number}: there are {count}, from 0")))
}

const fn always(_: Hook) -> bool {
    true
}

#[pymethods]
impl System {
    /// Now.
    fn now_ns(&self) -> PyResult<u64> {
        self.view(|view| view.now().ns())
    }

    /// The seed of the run; `self.random` of the policy is already seeded from it.
    fn seed(&self) -> PyResult<u64> {
        self.view(|view| view.seed())
    }

    /// The machine.
    #[getter]
    fn machine(&self, py: Python<'_>) -> Py<Machine> {
        self.machine.clone_ref(py)
    }

    /// The number of cpus.
    #[getter]
    fn cpus(&self) -> u32 {
        self.cpus
    }

    /// The number of tasks of the run, those that are not created yet included.
    #[getter]
    fn tasks(&self) -> u32 {
        self.tasks
    }

    /// The number of applications of the run, started or not.
    #[getter]
    fn apps(&self) -> u32 {
        self.apps
    }

    /// An application.
    fn app(&self, app: u32) -> PyResult<App> {
        let app = AppId(existing("application", app, self.apps)?);
        self.view(|view| view.app(app).into())
    }

    /// The task groups of the run, for a policy that orders the queues: name, number of the group around it,
    /// weight (1,024 as a task of nice 0).
    fn groups(&self) -> PyResult<Vec<(String, Option<u16>, u32)>> {
        let shown = |group: &TaskGroup| (group.name.clone(), group.parent, group.weight);
        self.view(|view| view.groups().iter().map(shown).collect())
    }

    /// The number of the task group in which the tasks of an application are, if they are in one.
    fn group_of(&self, app: u32) -> PyResult<Option<u16>> {
        let app = AppId(existing("application", app, self.apps)?);
        self.view(|view| view.group_of(app))
    }

    /// The number of runnable tasks on a cpu, the running one included.
    fn nr_running(&self, cpu: u32) -> PyResult<u32> {
        let cpu = self.cpu(cpu)?;
        self.view(|view| view.nr_running(cpu))
    }

    /// The task that has the cpu once the cpu has decided at this instant: the current one, or one that was
    /// placed there at this instant, where the cpu is idle or the task preempts.
    fn next_task(&self, cpu: u32) -> PyResult<Option<u32>> {
        let cpu = self.cpu(cpu)?;
        self.view(|view| view.next_task(cpu).map(|task| task.0))
    }

    /// The sum of the weights of the runnable tasks of a cpu; 1,024 = one task of nice 0.
    fn load(&self, cpu: u32) -> PyResult<u64> {
        let cpu = self.cpu(cpu)?;
        self.view(|view| view.load(cpu))
    }

    /// A task.
    fn task(&self, task: u32) -> PyResult<Task> {
        let task = self.task_id(task)?;
        self.view(|view| view.task(task).into())
    }

    /// True when the task's affinity allows the cpu.
    fn allowed(&self, task: u32, cpu: u32) -> PyResult<bool> {
        let (task, cpu) = (self.task_id(task)?, self.cpu(cpu)?);
        self.view(|view| view.allowed(task, cpu))
    }

    /// The first cpu that the task's affinity allows.
    fn first_allowed(&self, task: u32) -> PyResult<Option<u32>> {
        let task = self.task_id(task)?;
        self.view(|view| view.first_allowed(task).map(|cpu| cpu.0))
    }

    /// The best dispatch priority of the runnable tasks of a cpu (time-sharing class of Solaris); none
    /// without a task.
    fn best_dispatch_priority(&self, cpu: u32) -> PyResult<Option<i64>> {
        let cpu = self.cpu(cpu)?;
        self.view(|view| view.best_dispatch_priority(cpu))
    }

    /// The task that holds the cpu. A task that was placed on an idle cpu at this instant does not hold it
    /// yet:
    /// `next_task` shows it.
    fn current(&self, cpu: u32) -> PyResult<Option<u32>> {
        let cpu = self.cpu(cpu)?;
        self.system("current", always, |system| system.current(cpu).map(|task| task.0))
    }

    /// The waiting tasks of a cpu, newest entry first and at most `most` of them; the current one is not
    /// among them.
    #[pyo3(signature = (cpu, most=None))]
    fn queued(&self, cpu: u32, most: Option<usize>) -> PyResult<Vec<u32>> {
        let cpu = self.cpu(cpu)?;
        let mut found = Vec::new();
        self.system("queued", always, |system| system.queued(cpu, most.unwrap_or(usize::MAX), &mut found))?;
        Ok(found.into_iter().map(|task| task.0).collect())
    }

    /// Cpu time that the task has used, polling included.
    fn cpu_time_ns(&self, task: u32) -> PyResult<u64> {
        let task = self.task_id(task)?;
        self.system("cpu_time_ns", always, |system| system.cpu_time(task).ns())
    }

    /// Work of its program that the task has done, as the time it takes at nominal speed.
    fn progress_ns(&self, task: u32) -> PyResult<u64> {
        let task = self.task_id(task)?;
        self.system("progress_ns", always, |system| system.progress(task).ns())
    }

    /// What the task has used and has left of its quantum, under a discipline that lets a preempted task keep
    /// the rest of it; none under others.
    fn slice_ns(&self, task: u32) -> PyResult<Option<(u64, u64)>> {
        let task = self.task_id(task)?;
        self.system("slice_ns", always, |system| {
            system.slice(task).map(|(used, left)| (used.ns(), left.ns()))
        })
    }

    /// Moves a runnable task to the queue of a cpu; false if the engine refuses.
    #[pyo3(signature = (task, to, why=None))]
    fn migrate(&self, task: u32, to: u32, why: Option<&Bound<'_, PyAny>>) -> PyResult<bool> {
        let why = self::why(why)?;
        self.system("migrate", Hook::may_move, |system| system.migrate(TaskId(task), CpuId(to), why))
    }

    /// Sets the mask of a task (`sched_setaffinity`): None (all cpus), a cpu, or several. False if the engine
    /// refuses.
    #[pyo3(signature = (task, cpus, why=None))]
    fn set_affinity(
        &self,
        task: u32,
        cpus: Option<&Bound<'_, PyAny>>,
        why: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<bool> {
        let (mask, why) = (self.mask(cpus)?, self::why(why)?);
        self.system("set_affinity", Hook::may_move, |system| system.set_affinity(TaskId(task), mask, why))
    }

    /// Puts a task into a priority level: 0 is the default and runs first, 255 does not run at all.
    #[pyo3(signature = (task, priority, why=None))]
    fn set_priority(&self, task: u32, priority: u8, why: Option<&Bound<'_, PyAny>>) -> PyResult<bool> {
        let why = self::why(why)?;
        self.system("set_priority", Hook::may_order, |system| {
            system.set_priority(TaskId(task), priority, why)
        })
    }

    /// Puts a task that the policy holds into the queue of a cpu; false if it is not held or may not run
    /// there.
    #[pyo3(signature = (task, cpu, key=0, slice_ns=None, *, preempts=false, why=None))]
    fn dispatch(
        &self,
        task: u32,
        cpu: u32,
        key: i64,
        slice_ns: Option<u64>,
        preempts: bool,
        why: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<bool> {
        let (entry, why) = (entry(key, slice_ns, preempts)?, self::why(why)?);
        let may = Hook::may_order;
        self.system("dispatch", may, |system| system.dispatch(TaskId(task), CpuId(cpu), entry, why))
    }

    /// Makes a cpu look for a task at the price of an interrupt: `idle` (if it is idle) or `preempt` (the
    /// slice of its task ends now). False if the cpu is not as `how` wants it.
    #[pyo3(signature = (cpu, how="idle"))]
    fn kick(&self, cpu: u32, how: &str) -> PyResult<bool> {
        let cpu = self.cpu(cpu)?;
        let how = match how {
            "idle" => Kick::Idle,
            "preempt" => Kick::Preempt,
            _ => {
                return Err(PyValueError::new_err(format!(
                    "unknown kick {how:?}: use \"idle\" or \"preempt\""
                )));
            }
        };
        self.system("kick", Hook::may_order, |system| system.kick(cpu, how))
    }

    /// From now on a running or queued task may run for so long, up to the next timer tick. False for a task
    /// in another state or one that the policy holds.
    #[pyo3(signature = (task, slice_ns, why=None))]
    fn set_slice(&self, task: u32, slice_ns: u64, why: Option<&Bound<'_, PyAny>>) -> PyResult<bool> {
        let (task, slice, why) = (self.task_id(task)?, ns("slice_ns", slice_ns)?, self::why(why)?);
        self.system("set_slice", Hook::may_order, |system| system.set_slice(task, Span::from_ns(slice), why))
    }

    /// Ends the run at this instant: its outcome is `failed` with this reason.
    fn fail(&self, reason: String) -> PyResult<()> {
        self.system("fail", always, |system| system.fail(reason))
    }

    /// A task that polls gives its cpu away in favour of another one (`yield_to`); false if it does not poll
    /// or the other one does not wait in a queue.
    #[pyo3(signature = (task, to, why=None))]
    fn yield_to(&self, task: u32, to: u32, why: Option<&Bound<'_, PyAny>>) -> PyResult<bool> {
        let why = self::why(why)?;
        self.system("yield_to", Hook::may_move, |system| system.yield_to(TaskId(task), TaskId(to), why))
    }

    /// Takes so much of a cpu's time for the policy's own work: of a daemon, or of the kernel.
    #[pyo3(signature = (cpu, span_ns, *, daemon=false))]
    fn charge(&self, cpu: u32, span_ns: u64, daemon: bool) -> PyResult<()> {
        let (cpu, span) = (self.cpu(cpu)?, Span::from_ns(ns("span_ns", span_ns)?));
        self.system("charge", always, |system| system.charge(cpu, span, daemon))
    }

    /// Arms a timer, for `at_ns` or now if that is past: one with a number (`token`), the first timer tick of
    /// a cpu from then on (`tick=cpu`), or a slot (`slot=True`). The hook `timer` gets it.
    #[pyo3(signature = (at_ns, token=None, *, tick=None, slot=false))]
    fn at(&self, at_ns: u64, token: Option<u64>, tick: Option<u32>, slot: bool) -> PyResult<()> {
        let at = Time::from_ns(ns("at_ns", at_ns)?);
        let timer = match (token, tick, slot) {
            (Some(token), None, false) if token >> 63 == 0 => policy::Timer::Token(token),
            (Some(_), None, false) => return Err(PyValueError::new_err("token must be below 2**63")),
            (None, None, false) => policy::Timer::Token(0),
            (None, Some(cpu), false) => policy::Timer::Tick(self.cpu(cpu)?),
            (None, None, true) => policy::Timer::Slot,
            _ => return Err(PyTypeError::new_err("give one of token, tick and slot")),
        };
        self.system("at", always, |system| system.at(at, timer))
    }

    /// Reports a decision that is not about one task to observers.
    fn remark(&self, why: &Bound<'_, PyAny>) -> PyResult<()> {
        let why: Why = self::why(Some(why))?;
        self.system("remark", always, |system| system.remark(why))
    }

    fn __repr__(&self) -> String {
        format!("System({} cpus, {} tasks)", self.cpus, self.tasks)
    }
}
