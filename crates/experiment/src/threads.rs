//! The threads on which runs are simulated.

use std::sync::OnceLock;

use rayon::{ThreadBuilder, ThreadPool, ThreadPoolBuildError, ThreadPoolBuilder};

/// Does the work of a thread that simulates, and something before and after it.
type Around = fn(work: &mut (dyn FnMut() + Send));

/// Bytes of the stack of a thread, 2 MiB as Rust has it. Without it the environment variable `RUST_MIN_STACK`
/// decides, and a small one overflows.
pub const STACK: usize = 2 << 20;

/// What [`surround_threads`] was given.
static AROUND: OnceLock<Around> = OnceLock::new();

/// From now on every thread that runs simulations does its work inside `around`, which has to call it once.
/// The first call counts. For policies in a language whose interpreter keeps a state per thread: it takes
/// longer to make one than to call a hook.
pub fn surround_threads(around: fn(work: &mut (dyn FnMut() + Send))) {
    let _ = AROUND.set(around);
}

/// So many threads (0 = as many cpus as this process may use), but no more than there are runs, and at least
/// one. Rayon would read 0 as what the environment variable `RAYON_NUM_THREADS` says.
#[must_use]
pub fn thread_count(runs: usize, jobs: usize) -> usize {
    let cpus = || std::thread::available_parallelism().map_or(1, usize::from);
    let jobs = if jobs == 0 { cpus() } else { jobs };
    jobs.min(runs).max(1)
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
    ThreadPoolBuilder::new()
        .num_threads(thread_count(runs, jobs))
        .stack_size(STACK)
        .build_scoped(surrounded, what)
}

/// Does something in which parallel iterators run on so many threads (0 = as many as this process may use),
/// but no more than there are runs. They run on the present thread where no other one can be started: in
/// WebAssembly, and under a limit of threads or of memory.
///
/// # Errors
/// The threads cannot be started, and the present one cannot take their place.
pub fn on_threads<T: Send>(
    runs: usize,
    jobs: usize,
    what: impl FnOnce() -> T + Send,
) -> Result<T, ThreadPoolBuildError> {
    if cfg!(target_family = "wasm") {
        return Ok(what());
    }
    let mut what = Some(what);
    let done = in_pool(runs, jobs, |pool| what.take().map(|what| pool.install(what)));
    match (done, what) {
        (Ok(Some(done)), _) => Ok(done),
        (Err(error), Some(what)) if AROUND.get().is_none() => on_this_thread(what).ok_or(error),
        (Err(error), _) => Err(error),
        (Ok(None), _) => unreachable!("a pool that was built does what it was given"),
    }
}

/// Does something in which parallel iterators run on the present thread; none if it cannot be a pool.
fn on_this_thread<T: Send>(what: impl FnOnce() -> T + Send) -> Option<T> {
    // A thread that is one of a pool stays one.
    if rayon::current_thread_index().is_some() {
        return Some(what());
    }
    let pool = ThreadPoolBuilder::new().num_threads(1).use_current_thread().build().ok()?;
    Some(pool.install(what))
}

#[cfg(test)]
mod tests {
    use rayon::prelude::*;

    use super::*;

    #[test]
    fn there_are_no_more_threads_than_runs_and_none_that_nobody_asked_for() {
        let cpus = std::thread::available_parallelism().map_or(1, usize::from);
        assert_eq!(thread_count(100_000, 0), cpus);
        assert_eq!((thread_count(1, 0), thread_count(0, 0)), (1, 1));
        assert_eq!((thread_count(60, 300), thread_count(60, 7)), (60, 7));
    }

    #[test]
    fn parallel_iterators_can_run_on_the_present_thread() {
        let here = std::thread::current().id();
        for _ in 0..2 {
            let all = || (0..100).into_par_iter().map(|_| std::thread::current().id()).collect::<Vec<_>>();
            let found = on_this_thread(all).unwrap();
            assert!(found.len() == 100 && found.iter().all(|id| *id == here));
        }
    }
}
