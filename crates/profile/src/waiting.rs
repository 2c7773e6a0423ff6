//! The runtime of an application where no file states it, and what a runtime does.

use crate::job::{Job, Word};
use crate::shape::Shape;

/// How long libgomp polls before it sleeps, in s: 300,000 polls of 20 ns. A thread that polls first sleeps
/// at most once in that time, however many barriers there are.
const POLLS: f64 = 6e-3;

/// The runtime, and whether it is known.
pub(crate) fn of(job: &Job, shape: &Shape) -> (Word, bool) {
    if let Some(word) = &job.runtime {
        return (word.clone(), true);
    }
    let word = |text: &str, origin: String| (Word { text: text.into(), origin }, false);
    if shape.ranks > 1.0 && shape.threads > 1.0 {
        return word("{ mpi: openmpi, openmp: libgomp }", "assumed: Open MPI and libgomp".into());
    }
    if shape.ranks > 1.0 {
        return word("openmpi", "assumed: Open MPI".into());
    }
    if shape.threads <= 1.0 {
        return (Word { text: "block".into(), origin: "one task waits for no other".into() }, true);
    }
    if let (Some(sleeps), Some(elapsed)) = (&job.sleeps, &job.elapsed)
        && elapsed.value > 0.0
    {
        let often = sleeps.value / (shape.threads * elapsed.value);
        if often * POLLS > 1.0 {
            let why = format!(
                "{}: each thread sleeps {often:.0} times/s, more often than one that polls for 6 ms before \
                 it sleeps",
                sleeps.origin
            );
            return word("{ libgomp: { spin_count: 0 } }", why);
        }
    }
    word("libgomp", "assumed: OpenMP of gcc".into())
}

/// Whether its tasks go to sleep at once while they wait, so that cpu time is work and each wait a sleep.
pub(crate) fn sleeps(runtime: &str) -> bool {
    runtime == "block" || runtime.contains("spin_count: 0 ") || runtime.contains("block_time: 0s")
}
