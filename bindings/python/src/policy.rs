//! Policies in Python: a class with the hooks of [`sim_core::policy::Policy`] becomes an entry of the list of
//! policies for as long as a [`Session`] lasts.
//!
//! The simulation runs without the lock of the interpreter and takes it for each call of a hook. A hook that
//! raises ends the run: the exception is kept, and the thread unwinds to [`crate::patience::wait`].

mod class;
mod handle;
mod hooks;
mod interned;
mod scope;
mod values;

#[cfg(feature = "conformance")]
pub(crate) mod conformance;

use std::panic::resume_unwind;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use policies::PolicyRegistry;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use class::Lease;
pub(crate) use class::around;
pub(crate) use handle::System;
pub(crate) use values::{App, Choice, Machine, Placement, QueueEntry, Task, Timer};

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
    registry: PolicyRegistry,
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
        let registry = PolicyRegistry::with(&entries).map_err(PyValueError::new_err)?;
        let registry = registry.reading_files(Arc::new(scx::wasm::read));
        Ok(Self { registry, state, _leases: leases })
    }

    /// The built-in policies and those of the session.
    pub(crate) fn registry(&self) -> &PolicyRegistry {
        &self.registry
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
}
