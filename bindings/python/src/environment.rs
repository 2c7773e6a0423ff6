//! A simulation that goes from decision to decision: what `oversim.gym` is made of.
//!
//! The engine runs a scenario to its end, so it runs in another thread. A policy around the base policy
//! ([`agent::Agent`]) sends the state at each decision interval and waits for the action, in lock step:
//! between two actions only one of the two threads does anything, and no result depends on timing.

mod agent;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;

use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};
use scenario::Overrides;
use scenario::plan::{Experiment, NO_POLICY, RunPlan};
use sim_core::engine::Simulation;
use sim_core::outcome::{Options, Outcome, RunReport};
use sim_core::policy::Policy;
use sim_core::program::AppSpec;
use sim_core::time::{Span, Speed, Time};

use crate::errors::Failure;
use crate::patience::{self, LOOK};
use crate::policy::{Session, around};
use crate::source::Request;
use agent::{Action, Actions, Agent, Message, Snapshot};

/// A scenario under a base policy, run from decision to decision.
#[pyclass(frozen, module = "oversim")]
pub(crate) struct Environment {
    session: Arc<Session>,
    experiment: Arc<Experiment>,
    plan: RunPlan,
    interval: Span,
    slices: Vec<Span>,
    numbers: Actions,
    running: Mutex<Option<Running>>,
}

/// An episode in progress.
struct Running {
    actions: Sender<Action>,
    states: Mutex<Receiver<Message>>,
    stop: Arc<AtomicBool>,
    thread: JoinHandle<()>,
    /// The state, once the run has ended.
    ended: bool,
}

impl Running {
    /// Ends the thread and waits for it.
    fn close(self) {
        self.stop.store(true, Ordering::Relaxed);
        drop(self.actions);
        // A thread that has panicked has reported it already.
        let _ = self.thread.join();
    }
}

impl Environment {
    fn running(&self) -> MutexGuard<'_, Option<Running>> {
        self.running.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The thread of an episode.
    fn episode(&self, seed: u64) -> PyResult<Running> {
        let (say, states) = mpsc::channel();
        let (actions, given) = mpsc::channel();
        let stop = Arc::new(AtomicBool::new(false));
        let (plan, session) = (self.plan.clone(), Arc::clone(&self.session));
        let (interval, numbers, slices) = (self.interval, self.numbers, self.slices.clone());
        let stopped = Arc::clone(&stop);
        let work = move || {
            let told = say.clone();
            let mut last = Snapshot::default();
            let done = catch_unwind(AssertUnwindSafe(|| {
                let base = plan.policy_choice.build(&plan.machine, &plan.kernel, &plan.apps);
                let channel = (say, given, stopped);
                let mut agent = Agent::new(base, interval, numbers, slices, &plan.apps, channel);
                let report = simulate(&plan, seed, &mut agent);
                last = agent.last;
                report
            }));
            let report = match done {
                Ok(report) => report.map(Box::new),
                Err(why) if why.is::<agent::Closed>() => Err("closed".into()),
                Err(_) => Err("the simulation has panicked".into()),
            };
            let _ = told.send(Message::Ended(Box::new(last), report));
            // Classes of Python policies stay in use as long as the run.
            drop(session);
        };
        let thread = std::thread::Builder::new()
            .name("oversim-episode".into())
            .spawn(move || {
                let mut work = Some(work);
                around(&mut || work.take().into_iter().for_each(|work| work()));
            })
            .map_err(|e| PyRuntimeError::new_err(format!("cannot start a thread: {e}")))?;
        Ok(Running { actions, states: Mutex::new(states), stop, thread, ended: false })
    }

    /// Waits for the next state.
    fn next<'py>(&self, py: Python<'py>, running: &mut Running) -> PyResult<Bound<'py, PyDict>> {
        let message = loop {
            let received = py.detach(|| {
                let states = running.states.lock().unwrap_or_else(PoisonError::into_inner);
                states.recv_timeout(LOOK)
            });
            match received {
                Ok(message) => break message,
                Err(RecvTimeoutError::Timeout) => py.check_signals()?,
                Err(RecvTimeoutError::Disconnected) => {
                    return Err(PyRuntimeError::new_err("the simulation has ended without a result"));
                }
            }
        };
        match message {
            Message::Waits(snapshot) => self.shown(py, &snapshot, None),
            Message::Ended(snapshot, Ok(report)) => {
                running.ended = true;
                self.shown(py, &snapshot, Some(&report))
            }
            Message::Ended(_, Err(why)) => {
                running.ended = true;
                Err(self.session.error().unwrap_or_else(|| PyRuntimeError::new_err(why)))
            }
        }
    }

    /// A state for Python: lists of numbers as bytes.
    fn shown<'py>(
        &self,
        py: Python<'py>,
        state: &Snapshot,
        report: Option<&RunReport>,
    ) -> PyResult<Bound<'py, PyDict>> {
        let shown = PyDict::new(py);
        let now = report.map_or(state.now, |report| report.makespan.ns());
        shown.set_item("now_ns", now)?;
        shown.set_item("accepted", state.accepted)?;
        let narrow = |list: &[i8]| PyBytes::new(py, &list.iter().map(|n| *n as u8).collect::<Vec<u8>>());
        let middle =
            |list: &[i32]| PyBytes::new(py, &list.iter().flat_map(|n| n.to_ne_bytes()).collect::<Vec<u8>>());
        let wide =
            |list: &[i64]| PyBytes::new(py, &list.iter().flat_map(|n| n.to_ne_bytes()).collect::<Vec<u8>>());
        shown.set_item("cpu_queue", middle(&state.cpu_queue))?;
        shown.set_item("cpu_load", wide(&state.cpu_load))?;
        shown.set_item("cpu_task", middle(&state.cpu_task))?;
        shown.set_item("task_cpu", middle(&state.task_cpu))?;
        shown.set_item("task_state", narrow(&state.task_state))?;
        shown.set_item("task_progress", wide(&state.task_progress))?;
        shown.set_item("task_waits", narrow(&state.task_waits))?;
        shown.set_item("task_since_run", wide(&state.task_since_run))?;
        shown.set_item("task_bound", middle(&state.task_bound))?;
        shown.set_item("app_start", wide(&state.app_start))?;
        shown.set_item("app_end", wide(&state.app_end))?;
        shown.set_item("mask", narrow(&state.mask))?;
        if let Some(report) = report {
            let outcome = match &report.outcome {
                Outcome::Completed => "completed",
                Outcome::Horizon => "horizon",
                Outcome::Deadlock(_) => "deadlock",
                Outcome::Livelock(_) => "livelock",
                Outcome::Failed(_) => "failed",
            };
            shown.set_item("outcome", outcome)?;
            shown.set_item("digest", format!("{:016x}", report.digest))?;
            shown.set_item("corrections", report.corrections)?;
            let done: Vec<u64> = report.apps.iter().map(|app| app.counters.work_done_ns).collect();
            shown.set_item("work_done_ns", done)?;
        }
        Ok(shown)
    }
}

fn simulate(plan: &RunPlan, seed: u64, policy: &mut dyn Policy) -> Result<RunReport, String> {
    let options = Options { seed, ..plan.options };
    let objects = plan.objects.as_ref().clone();
    let (machine, kernel) = (plan.machine.clone(), plan.kernel.clone());
    let simulation = Simulation::with_objects(machine, kernel, plan.apps.clone(), objects, options)?;
    Ok(simulation.run(policy, &mut ()))
}

/// The run time of an application in its dedicated run, in nanoseconds.
fn alone(experiment: &Experiment, entry: usize) -> Result<u64, String> {
    let dedicated = |plan: &&RunPlan| plan.policy == NO_POLICY && plan.alone == Some(entry);
    let plan = experiment.runs.iter().find(dedicated).ok_or_else(|| {
        "the scenario has no dedicated runs (`baseline: none`): this reward needs them".to_owned()
    })?;
    let report = experiment::run::simulate_one(plan, &mut ())?;
    let time = report.apps.first().and_then(|app| app.run_time());
    time.map(Span::ns).ok_or_else(|| "a dedicated run does not end".to_owned())
}

#[pymethods]
impl Environment {
    #[new]
    #[pyo3(signature = (request, *, interval_ns, horizon_ns, slices_ns))]
    fn new(
        py: Python<'_>,
        request: Request<'_>,
        interval_ns: u64,
        horizon_ns: Option<u64>,
        slices_ns: Vec<u64>,
    ) -> PyResult<Self> {
        let mut asked = request.asked()?;
        asked.overrides =
            Overrides { repeat: Some(1), without_sweep: true, warn: false, ..asked.overrides.clone() };
        let experiment = asked.open().map_err(|failure| failure.raise(py))?;
        let session = asked.session;
        let Some(plan) = experiment.runs.iter().find(|plan| plan.policy == 0) else {
            return Err(PyValueError::new_err("the scenario has no run"));
        };
        let mut plan = plan.clone();
        // A sampled run leaves out most of the decisions.
        plan.options.sampled = false;
        if let Some(horizon) = horizon_ns {
            plan.options.horizon = plan.options.horizon.min(Time::from_ns(horizon));
        }
        let numbers = Actions {
            tasks: plan.apps.iter().map(|app| app.tasks).sum(),
            cpus: plan.machine.cpus(),
            slices: slices_ns.len() as u32,
        };
        Ok(Self {
            session,
            experiment: Arc::new(experiment),
            plan,
            interval: Span::from_ns(interval_ns.max(1)),
            slices: slices_ns.into_iter().map(Span::from_ns).collect(),
            numbers,
            running: Mutex::new(None),
        })
    }

    /// The number of cpus.
    #[getter]
    fn cpus(&self) -> u32 {
        self.numbers.cpus
    }

    /// The number of tasks.
    #[getter]
    fn tasks(&self) -> u32 {
        self.numbers.tasks
    }

    /// The number of actions.
    #[getter]
    fn actions(&self) -> u64 {
        self.numbers.count()
    }

    /// The largest load of a cpu: the sum of the weights of all tasks.
    #[getter]
    fn weights(&self) -> u64 {
        let of = |app: &AppSpec| (0..app.tasks).map(|rank| u64::from(app.weight_of(rank))).sum::<u64>();
        self.plan.apps.iter().map(of).sum()
    }

    /// Work at nominal speed that a cpu does in one unit of time at most.
    #[getter]
    fn top_speed(&self) -> f64 {
        let one = Speed::ratio(1, 1).raw() as f64;
        let machine = &self.plan.machine;
        let fastest =
            machine.cpu_ids().map(|cpu| machine.speed_of(cpu).raw()).max().unwrap_or(0) as f64 / one;
        let turbo = machine.turbo.iter().flatten().copied().max().unwrap_or(1_000).max(1_000);
        fastest * f64::from(turbo) / 1_000.0
    }

    /// The end of the run at the latest, in nanoseconds.
    #[getter]
    fn horizon_ns(&self) -> u64 {
        self.plan.options.horizon.ns()
    }

    /// The seed of the scenario.
    #[getter]
    fn seed(&self) -> u64 {
        self.experiment.seed
    }

    /// Name, number of tasks and whether it is a background one, of each application.
    #[getter]
    fn apps(&self) -> Vec<(String, u32, bool)> {
        self.plan.apps.iter().map(|app| (app.name.clone(), app.tasks, app.background)).collect()
    }

    /// The run time of each application alone, pinned, with one thread per core, in nanoseconds; none for
    /// background ones.
    ///
    /// # Errors
    /// The scenario has no dedicated runs, or one of them does not end.
    fn alone_ns(&self, py: Python<'_>) -> PyResult<Vec<Option<u64>>> {
        let (experiment, entries) = (Arc::clone(&self.experiment), self.plan.entries.clone());
        let backgrounds: Vec<bool> = self.plan.apps.iter().map(|app| app.background).collect();
        patience::wait(py, &self.session, move |_| {
            let time = |(entry, background): (&usize, bool)| {
                if background { Ok(None) } else { alone(&experiment, *entry).map(Some) }
            };
            entries.iter().zip(backgrounds).map(time).collect::<Result<_, _>>().map_err(Failure::Refused)
        })
    }

    /// Begins an episode with this seed, after closing the one before: the first state.
    fn start<'py>(&self, py: Python<'py>, seed: u64) -> PyResult<Bound<'py, PyDict>> {
        self.close(py);
        let mut running = self.episode(seed)?;
        let state = self.next(py, &mut running);
        match state {
            Ok(state) => {
                *self.running() = Some(running);
                Ok(state)
            }
            Err(error) => {
                py.detach(|| running.close());
                Err(error)
            }
        }
    }

    /// Does an action and simulates until the next decision or the end of the run; `outcome` is in the state
    /// when it has ended.
    fn step<'py>(&self, py: Python<'py>, action: u64) -> PyResult<Bound<'py, PyDict>> {
        let Some(action) = self.numbers.action(action) else {
            let message = format!("there is no action {action}: there are {}, from 0", self.numbers.count());
            return Err(PyValueError::new_err(message));
        };
        // No other thread steps meanwhile: the episode is out of its place.
        let Some(mut running) = self.running().take() else {
            return Err(PyRuntimeError::new_err("no episode is in progress: call reset() first"));
        };
        if running.ended || running.actions.send(action).is_err() {
            py.detach(|| running.close());
            return Err(PyRuntimeError::new_err("the episode has ended: call reset() first"));
        }
        match self.next(py, &mut running) {
            Ok(state) => {
                *self.running() = Some(running);
                Ok(state)
            }
            Err(error) => {
                // Ctrl-C, or a hook that raised: the episode is over.
                py.detach(|| running.close());
                Err(error)
            }
        }
    }

    /// Ends the episode in progress, if there is one, and its thread.
    fn close(&self, py: Python<'_>) {
        let running = self.running().take();
        if let Some(running) = running {
            py.detach(|| running.close());
        }
    }
}

impl Drop for Environment {
    fn drop(&mut self) {
        let running = self.running().take();
        if let Some(running) = running {
            // The thread may need the interpreter to end, so this one gives it away while it waits.
            running.stop.store(true, Ordering::Relaxed);
            let mut running = Some(running);
            let _ = Python::try_attach(|py| {
                let running = running.take();
                py.detach(|| running.map(Running::close));
            });
        }
    }
}

/// A length of time with its unit, `10ms`, in nanoseconds; at least 1 ns and at most 2^62.
///
/// # Errors
/// It is not written so.
#[pyfunction]
pub(crate) fn duration_ns(text: &str) -> PyResult<u64> {
    let time = notation::units::parse(notation::parameter::Kind::Duration, text);
    match time.map_err(PyValueError::new_err)? {
        time @ 1..=0x4000_0000_0000_0000 => Ok(time),
        time => Err(PyValueError::new_err(format!("a time must be 1 ns to 146 years, not {time} ns"))),
    }
}
