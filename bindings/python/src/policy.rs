//! Policies in Python: a class with the hooks of [`sim_core::policy::Policy`] becomes an entry of the list of
//! policies for as long as a [`Session`] lasts.
//!
//! The simulation runs without the lock of the interpreter and takes it for each call of a hook. A hook that
//! raises ends the run: the exception is kept, and the thread unwinds to [`Session::guard`].

mod class;
mod handle;
mod hooks;
mod interned;
mod scope;
mod values;

#[cfg(feature = "conformance")]
pub(crate) mod conformance;

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use policies::PolicyShelf;
use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use scenario::Overrides;

use class::Lease;
pub(crate) use class::around;
pub(crate) use handle::System;
pub(crate) use values::{App, Choice, Machine, Placement, QueueEntry, Task, Timer};

/// How often a wait looks for Ctrl-C.
pub(crate) const LOOK: Duration = Duration::from_millis(50);

/// Unwinds a thread whose run has to end; the exception is in [`State`].
struct Ended;

/// What the runs of a session share.
#[derive(Default)]
struct State {
    stop: Arc<AtomicBool>,
    error: Mutex<Option<PyErr>>,
}

impl State {
    /// Keeps the first exception and ends the run.
    fn fail(&self, error: PyErr) -> ! {
        self.error.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(error);
        self.stop.store(true, Ordering::Relaxed);
        resume_unwind(Box::new(Ended))
    }

    /// Ends the run if another one of the session has failed or the session is to stop.
    fn check(&self) {
        if self.stop.load(Ordering::Relaxed) {
            resume_unwind(Box::new(Ended));
        }
    }
}

/// The policies in Python of one or more experiments.
pub(crate) struct Session {
    shelf: PolicyShelf,
    state: Arc<State>,
    /// Given back when the session ends.
    _leases: Vec<Lease>,
}

impl Session {
    /// A session with these classes, each once.
    ///
    /// # Errors
    /// Something that is no subclass of `oversim.Policy` or describes itself wrongly; two classes of one
    /// name.
    pub(crate) fn new(classes: &[Bound<'_, PyAny>]) -> PyResult<Self> {
        let state = Arc::<State>::default();
        let mut leases: Vec<Lease> = Vec::new();
        for (at, class) in classes.iter().enumerate() {
            if !classes[..at].iter().any(|other| other.is(class)) {
                leases.push(Lease::new(class, &state)?);
            }
        }
        let entries: Vec<_> = leases.iter().map(Lease::entry).collect();
        let shelf = PolicyShelf::with(&entries).map_err(PyValueError::new_err)?;
        Ok(Self { shelf, state, _leases: leases })
    }

    /// The built-in policies and those of the session.
    pub(crate) fn shelf(&self) -> &PolicyShelf {
        &self.shelf
    }

    /// The flag that ends the runs of the session: those of policies in Python at their next hook.
    pub(crate) fn stop(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.state.stop)
    }

    /// What a hook raised, once; the session can be used again.
    pub(crate) fn error(&self) -> Option<PyErr> {
        self.state.stop.store(false, Ordering::Relaxed);
        self.state.error.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    /// Does something that may run simulations, in another thread and without the lock of the interpreter;
    /// `work` gets a flag that asks it to stop. Ctrl-C sets the flag and ends runs of policies in Python at
    /// their next hook.
    ///
    /// # Errors
    /// What a hook raised; KeyboardInterrupt.
    pub(crate) fn guard<T: Send>(
        &self,
        py: Python<'_>,
        work: impl FnOnce(&AtomicBool) -> T + Send,
    ) -> PyResult<T> {
        let stop = &*self.stop();
        let (say, ended) = mpsc::channel();
        let mut interrupted = None;
        let done = std::thread::scope(|scope| {
            let thread = scope.spawn(move || {
                let done = catch_unwind(AssertUnwindSafe(|| work(stop)));
                // The other side waits for this.
                let _ = say.send(());
                done
            });
            let ended = Mutex::new(ended);
            let wait = || ended.lock().unwrap_or_else(PoisonError::into_inner).recv_timeout(LOOK);
            while py.detach(wait) == Err(RecvTimeoutError::Timeout) {
                if let Err(signal) = py.check_signals() {
                    interrupted = Some(signal);
                    stop.store(true, Ordering::Relaxed);
                }
            }
            py.detach(|| thread.join())
        });
        let error = self.error();
        if let Some(error) = interrupted.or(error) {
            return Err(error);
        }
        match done.and_then(|done| done) {
            Ok(done) => Ok(done),
            Err(why) if why.is::<Ended>() => Err(PyRuntimeError::new_err("the simulation was stopped")),
            Err(why) => resume_unwind(why),
        }
    }
}

/// One run as [`runs`] shows it: label of the policy, replicate, digest, makespan in nanoseconds,
/// corrections.
type Run = (String, u32, String, u64, u64);

/// Runs a scenario without its sweep under these policies; one row for each run of a policy.
#[pyfunction]
#[pyo3(signature = (text, policies, classes, *, set=vec![], seed=None, repeat=None, jobs=1))]
#[expect(clippy::too_many_arguments, reason = "each is an option of a run")]
pub(crate) fn runs(
    py: Python<'_>,
    text: &str,
    policies: Vec<String>,
    classes: Vec<Bound<'_, PyAny>>,
    set: Vec<String>,
    seed: Option<u64>,
    repeat: Option<u32>,
    jobs: usize,
) -> PyResult<Vec<Run>> {
    let session = Session::new(&classes)?;
    let overrides = Overrides { set, policies, seed, repeat, without_sweep: true, ..Overrides::default() };
    rows(py, &session, session.shelf(), text, &overrides, jobs)
}

/// The rows of a scenario whose policies are those of this list.
fn rows(
    py: Python<'_>,
    session: &Session,
    shelf: &PolicyShelf,
    text: &str,
    overrides: &Overrides,
    jobs: usize,
) -> PyResult<Vec<Run>> {
    let loaded = scenario::load_with(shelf, "scenario", text, overrides);
    let experiment = loaded.map_err(PyValueError::new_err)?;
    let reports = session
        .guard(py, |_| experiment::run::simulate(&experiment, jobs, &|_, _| ()))?
        .map_err(|error| PyValueError::new_err(error.to_string()))?;
    let shown = experiment.runs.iter().zip(reports).filter_map(|(plan, report)| {
        let label = experiment.policies.get(plan.policy)?.clone();
        let digest = format!("{:016x}", report.digest);
        Some((label, plan.replicate, digest, report.makespan.ns(), report.corrections))
    });
    Ok(shown.collect())
}
