//! The threads on which runs are simulated.

use std::sync::OnceLock;

use rayon::{ThreadBuilder, ThreadPool, ThreadPoolBuildError, ThreadPoolBuilder};

/// Does the work of a thread that simulates, and something before and after it.
type Around = fn(work: &mut (dyn FnMut() + Send));

/// What [`surround_threads`] was given.
static AROUND: OnceLock<Around> = OnceLock::new();

/// From now on every thread that runs simulations does its work inside `around`, which has to call it once.
/// The first call counts. For policies in a language whose interpreter keeps a state per thread: it takes
/// longer to make one than to call a hook.
pub fn surround_threads(around: fn(work: &mut (dyn FnMut() + Send))) {
    let _ = AROUND.set(around);
}

/// Does something with so many threads (0 = as many as this process may use), but no more than there are
/// runs.
///
/// # Errors
/// The threads cannot be started.
pub(crate) fn in_pool<T>(
    runs: usize,
    jobs: usize,
    what: impl FnOnce(&ThreadPool) -> T,
) -> Result<T, ThreadPoolBuildError> {
    let surrounded = |thread: ThreadBuilder| match AROUND.get() {
        None => thread.run(),
        Some(around) => {
            let mut thread = Some(thread);
            around(&mut || {
                if let Some(thread) = thread.take() {
                    thread.run();
                }
            });
        }
    };
    ThreadPoolBuilder::new().num_threads(jobs.min(runs)).build_scoped(surrounded, what)
}

/// Does something in which parallel iterators run on so many threads (0 = as many as this process may use),
/// but no more than there are runs. WebAssembly has no threads: there they
/// run on the present one.
///
/// # Errors
/// The threads cannot be started.
pub fn on_threads<T: Send>(
    runs: usize,
    jobs: usize,
    what: impl FnOnce() -> T + Send,
) -> Result<T, ThreadPoolBuildError> {
    if cfg!(target_family = "wasm") { Ok(what()) } else { in_pool(runs, jobs, |pool| pool.install(what)) }
}
