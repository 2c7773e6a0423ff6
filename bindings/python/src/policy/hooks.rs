//! A Python policy as the engine calls it: each hook that the class defines becomes a call of its method.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use notation::parameter::Values;
use policies::{Level, Setting};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyTuple;
use sim_core::ids::{CpuId, TaskId};
use sim_core::policy::{self, Awaited, CpuChoice, Enqueue, Order, Preemption, TaskChange, View, Watches};
use sim_core::rng::{Purpose, stream};
use sim_core::wrap::{Notice, Wrapper};

use super::class::{self, Live};
use super::handle::System;
use super::scope::{FRAME, Frame, Reach};
use super::values::{Choice, Machine, Placement, QueueEntry, Timer};

/// The hooks of a policy.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Hook {
    Init,
    AppStarted,
    AppReady,
    AppExited,
    SelectCpu,
    Idle,
    Dispatch,
    Enqueue,
    Running,
    Stopping,
    Timer,
    Preempted,
    Waits,
    Proceeds,
    Runnable,
    Quiescent,
    Changed,
    Ended,
}

impl Hook {
    /// All hooks with their names; the position is the number of the hook.
    pub(super) const ALL: [(Self, &'static str); 18] = [
        (Self::Init, "init"),
        (Self::AppStarted, "app_started"),
        (Self::AppReady, "app_ready"),
        (Self::AppExited, "app_exited"),
        (Self::SelectCpu, "select_cpu"),
        (Self::Idle, "idle"),
        (Self::Dispatch, "dispatch"),
        (Self::Enqueue, "enqueue"),
        (Self::Running, "running"),
        (Self::Stopping, "stopping"),
        (Self::Timer, "timer"),
        (Self::Preempted, "preempted"),
        (Self::Waits, "waits"),
        (Self::Proceeds, "proceeds"),
        (Self::Runnable, "runnable"),
        (Self::Quiescent, "quiescent"),
        (Self::Changed, "changed"),
        (Self::Ended, "ended"),
    ];

    /// Its name.
    pub(super) const fn name(self) -> &'static str {
        Self::ALL[self as usize].1
    }

    /// True where tasks may be moved and bound.
    pub(super) const fn may_move(self) -> bool {
        !matches!(
            self,
            Self::Enqueue
                | Self::Running
                | Self::Stopping
                | Self::Runnable
                | Self::Quiescent
                | Self::SelectCpu
        )
    }

    /// True where priority levels may be set and held tasks dispatched.
    pub(super) const fn may_order(self) -> bool {
        !matches!(self, Self::Enqueue | Self::Running | Self::Stopping | Self::SelectCpu)
    }
}

/// Numbers the policies of the process, so that each knows its own hooks.
static POLICIES: AtomicU64 = AtomicU64::new(0);

/// An object of a Python class, as a policy of one run.
pub(super) struct PythonPolicy {
    live: Arc<Live>,
    name: &'static str,
    level: Level,
    owner: u64,
    object: Py<PyAny>,
    handle: Py<System>,
    /// The methods by number of the hook; none where the class has the default.
    methods: Vec<Option<Py<PyAny>>>,
    order: Order,
    watches: Watches,
}

impl PythonPolicy {
    /// The policy of a run.
    pub(super) fn new(live: Arc<Live>, values: &Values, setting: &Setting<'_>) -> Self {
        let owner = POLICIES.fetch_add(1, Ordering::Relaxed);
        let made = Python::attach(|py| Self::made(py, owner, &live, values, setting));
        match made {
            Ok(policy) => policy,
            Err(error) => live.state.fail(error),
        }
    }

    fn made(
        py: Python<'_>,
        owner: u64,
        live: &Arc<Live>,
        values: &Values,
        setting: &Setting<'_>,
    ) -> PyResult<Self> {
        let object = live.class.bind(py).call0()?;
        class::configure(&object, values)?;
        let mut methods = Vec::with_capacity(Hook::ALL.len());
        for (hook, name) in Hook::ALL {
            let own = live.hooks.contains(&name) || hook == Hook::SelectCpu;
            methods.push(if own { Some(object.getattr(name)?.unbind()) } else { None });
        }
        let order = class::order(&object)?;
        let defined = |names: &[&str]| names.iter().any(|name| live.hooks.contains(name));
        let watches = Watches {
            waits: defined(&["waits", "proceeds"]),
            preemptions: defined(&["preempted"]),
            releases: false,
        };
        let machine = Py::new(py, Machine::from(setting.machine))?;
        let tasks = setting.apps.iter().map(|app| app.tasks).sum();
        let apps = setting.apps.len() as u32;
        let handle = Py::new(py, System::new(owner, machine, setting.machine.cpus(), tasks, apps))?;
        Ok(Self {
            live: Arc::clone(live),
            name: setting.entry.name,
            level: setting.entry.level,
            owner,
            object: object.unbind(),
            handle,
            methods,
            order,
            watches,
        })
    }

    /// Calls a hook, if the class has it; the exception that it raises ends the run.
    fn call<T>(
        &self,
        hook: Hook,
        reach: Reach<'_>,
        call: impl FnOnce(Python<'_>, &Bound<'_, PyAny>, &Py<System>) -> PyResult<T>,
    ) -> Option<T> {
        let method = self.methods.get(hook as usize)?.as_ref()?;
        self.live.state.check();
        let (now, seed) = match &reach {
            Reach::View(view) => (view.now(), view.seed()),
            Reach::System(system) => (system.now(), system.seed()),
        };
        let frame = Frame { owner: self.owner, hook, reach };
        let answer = Python::attach(|py| {
            FRAME.set(frame, || call(py, method.bind(py), &self.handle)).inspect_err(|error| {
                let note = format!(
                    "in {}.{} at {} ns of the run with seed {seed}",
                    self.name,
                    hook.name(),
                    now.ns()
                );
                // Python 3.10 has no notes: the traceback names the hook anyway.
                let _ = error.value(py).call_method1("add_note", (note,));
            })
        });
        match answer {
            Ok(answer) => Some(answer),
            Err(error) => self.live.state.fail(error),
        }
    }

    /// An error about the value that a hook returned.
    fn wrong(&self, hook: Hook, expected: &str, given: &Bound<'_, PyAny>) -> PyErr {
        let shown = given.repr().map_or_else(|_| "something else".into(), |text| text.to_string());
        let message = format!("{}.{} must return {expected}, not {shown}", self.name, hook.name());
        // A number is of the right type and out of range.
        let number = given.is_instance_of::<pyo3::types::PyInt>();
        if number { PyValueError::new_err(message) } else { PyTypeError::new_err(message) }
    }

    /// Calls a hook that returns nothing.
    fn tell(
        &self,
        hook: Hook,
        system: &mut dyn policy::System,
        arguments: impl for<'py> FnOnce(Python<'py>, Py<System>) -> PyResult<Bound<'py, PyTuple>>,
    ) {
        self.call(hook, Reach::System(system), |py, method, handle| {
            let answer = method.call1(arguments(py, handle.clone_ref(py))?)?;
            if answer.is_none() { Ok(()) } else { Err(self.wrong(hook, "nothing", &answer)) }
        });
    }

    /// The run begins: the object gets its random numbers.
    fn seed(&self, seed: u64) {
        use rand::RngExt;
        let own: u64 = stream(seed, Purpose::Policy, (1 << 32) + self.level as u64).random();
        let given = Python::attach(|py| {
            let random = py.import("random")?.getattr("Random")?.call1((own,))?;
            self.object.bind(py).setattr("random", random)
        });
        if let Err(error) = given {
            self.live.state.fail(error);
        }
    }
}

impl Wrapper for PythonPolicy {
    fn wants(&self) -> Watches {
        self.watches
    }

    fn ordering(&self) -> Order {
        self.order
    }

    fn place(&mut self, view: &dyn View, task: TaskId, placement: policy::Placement) -> CpuChoice {
        let hook = Hook::SelectCpu;
        let chosen = self.call(hook, Reach::View(view), |py, method, handle| {
            let placement = Placement::from(placement);
            let answer = method.call1((handle.clone_ref(py), task.0, placement))?;
            if let Ok(cpu) = answer.extract::<u32>() {
                return Ok(CpuId(cpu).into());
            }
            let choice = answer.cast::<Choice>();
            choice
                .map(|choice| choice.get().0)
                .map_err(|_| self.wrong(hook, "a cpu (a whole number from 0) or an oversim.Choice", &answer))
        });
        chosen.unwrap_or_else(|| CpuId(0).into())
    }

    fn insert(
        &mut self,
        system: &mut dyn policy::System,
        task: TaskId,
        cpu: CpuId,
        why: Enqueue,
    ) -> Option<policy::QueueEntry> {
        let hook = Hook::Enqueue;
        let entry = self.call(hook, Reach::System(system), |py, method, handle| {
            let why = match why {
                Enqueue::Created => "created",
                Enqueue::Woken => "woken",
                Enqueue::Yielded => "yielded",
                Enqueue::Expired => "expired",
                Enqueue::Preempted => "preempted",
            };
            let answer = method.call1((handle.clone_ref(py), task.0, cpu.0, why))?;
            if answer.is_none() {
                return Ok(None);
            }
            let entry = answer.cast::<QueueEntry>();
            entry
                .map(|entry| Some(entry.get().0))
                .map_err(|_| self.wrong(hook, "an oversim.QueueEntry, or None to hold the task", &answer))
        });
        entry.unwrap_or_else(|| Some(policy::QueueEntry::new(0, sim_core::time::Span::MAX)))
    }

    fn counted(&self) -> Vec<(String, u64)> {
        let counted = Python::attach(|py| class::counters(self.object.bind(py)));
        counted.unwrap_or_else(|error| self.live.state.fail(error))
    }

    fn notify(&mut self, system: &mut dyn policy::System, notice: Notice) {
        match notice {
            Notice::Init => {
                self.seed(system.seed());
                self.tell(Hook::Init, system, |py, s| (s,).into_pyobject(py));
            }
            Notice::Started(app) => self.tell(Hook::AppStarted, system, |py, s| (s, app.0).into_pyobject(py)),
            Notice::Ready(app) => self.tell(Hook::AppReady, system, |py, s| (s, app.0).into_pyobject(py)),
            Notice::Exited(app) => self.tell(Hook::AppExited, system, |py, s| (s, app.0).into_pyobject(py)),
            Notice::Idle(cpu) => self.tell(Hook::Idle, system, |py, s| (s, cpu.0).into_pyobject(py)),
            Notice::Dispatch(cpu) => self.tell(Hook::Dispatch, system, |py, s| (s, cpu.0).into_pyobject(py)),
            Notice::Timer(timer) => {
                self.tell(Hook::Timer, system, |py, s| (s, Timer::from(timer)).into_pyobject(py));
            }
            Notice::Runnable(task, cpu) => {
                self.tell(Hook::Runnable, system, |py, s| (s, task.0, cpu.0).into_pyobject(py));
            }
            Notice::Quiescent(task, cpu) => {
                self.tell(Hook::Quiescent, system, |py, s| (s, task.0, cpu.0).into_pyobject(py));
            }
            Notice::Waits(task, what) => {
                let what = match what {
                    Awaited::Barrier(_) => "barrier",
                    Awaited::Neighbour => "neighbour",
                    Awaited::Lock => "lock",
                    Awaited::Event => "event",
                };
                self.tell(Hook::Waits, system, |py, s| (s, task.0, what).into_pyobject(py));
            }
            // Tasks go to their pages by rules of LOAD.
            Notice::Misplaced(_) => {}
            Notice::Proceeds(task) => {
                self.tell(Hook::Proceeds, system, |py, s| (s, task.0).into_pyobject(py))
            }
            Notice::Preempted(task, cpu, why) => {
                let why = match why {
                    Preemption::Preempted => "preempted",
                    Preemption::Expired => "expired",
                    Preemption::Boosted => "boosted",
                };
                self.tell(Hook::Preempted, system, |py, s| (s, task.0, cpu.0, why).into_pyobject(py));
            }
            Notice::Running(task, cpu) => {
                self.tell(Hook::Running, system, |py, s| (s, task.0, cpu.0).into_pyobject(py));
            }
            Notice::Stopping(task, cpu) => {
                self.tell(Hook::Stopping, system, |py, s| (s, task.0, cpu.0).into_pyobject(py));
            }
            Notice::Changed(task, what) => {
                let what = match what {
                    TaskChange::Weight => "weight",
                    TaskChange::Affinity => "affinity",
                    TaskChange::Group => "group",
                };
                self.tell(Hook::Changed, system, |py, s| (s, task.0, what).into_pyobject(py));
            }
            Notice::Ended => self.tell(Hook::Ended, system, |py, s| (s,).into_pyobject(py)),
        }
    }
}
