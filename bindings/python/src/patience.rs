//! Waiting for a simulation: without the lock of the interpreter, and with an eye on Ctrl-C.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;

use crate::errors::Failure;
use crate::policy::Session;

/// How often a wait checks for signals.
pub(crate) const LOOK: Duration = Duration::from_millis(50);
/// How long work that was asked to stop is waited for. What still runs then ends by itself.
const LEAVE: Duration = Duration::from_millis(500);

/// Does something with the policies of a session in another thread. It is given a flag, which a signal whose
/// handler raises (Ctrl-C) sets.
///
/// # Errors
/// What the handler or a hook of a policy raises, and the failure of the work.
pub(crate) fn wait<T: Send + 'static>(
    py: Python<'_>,
    session: &Session,
    work: impl FnOnce(&AtomicBool) -> Result<T, Failure> + Send + 'static,
) -> PyResult<T> {
    let stop = session.stop();
    let (done, answer) = mpsc::channel();
    let flag = Arc::clone(&stop);
    let task = move || {
        // The caller may not wait for the answer any more.
        let _ = done.send(catch_unwind(AssertUnwindSafe(|| work(&flag))));
    };
    thread::Builder::new()
        .name("oversim".into())
        .spawn(task)
        .map_err(|error| PyRuntimeError::new_err(format!("cannot start a thread: {error}")))?;
    let answer = Mutex::new(answer);
    let mut raised: Option<(PyErr, Instant)> = None;
    loop {
        let looked = py.detach(|| answer.lock().unwrap_or_else(PoisonError::into_inner).recv_timeout(LOOK));
        match (looked, raised.take()) {
            (Ok(_), Some((error, _))) => return Err(error),
            (Ok(_), None) if let Some(error) = session.error() => return Err(error),
            (Ok(Ok(done)), None) => return done.map_err(|failure| failure.raise(py)),
            (Ok(Err(_)) | Err(RecvTimeoutError::Disconnected), _) => {
                return Err(PyRuntimeError::new_err("a defect in oversim: its message is on standard error"));
            }
            (Err(RecvTimeoutError::Timeout), Some((error, since))) if since.elapsed() > LEAVE => {
                return Err(error);
            }
            (Err(RecvTimeoutError::Timeout), before) => {
                raised = match (before, py.check_signals()) {
                    (None, Ok(())) => None,
                    (None, Err(error)) => {
                        stop.store(true, Ordering::Relaxed);
                        Some((error, Instant::now()))
                    }
                    (before, _) => before,
                };
            }
        }
    }
}
