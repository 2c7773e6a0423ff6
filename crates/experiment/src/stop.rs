//! Ends a run before its end when a flag is set.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicBool, Ordering};

use sim_core::observe::{Observation, Observer};
use sim_core::time::Time;

/// Does something that observes runs with the observer that it is given; none when `stop` was set before it
/// ended, which then unwinds its runs.
///
/// # Errors
/// Those of `what`.
pub fn stoppable<T>(
    stop: &AtomicBool,
    what: impl FnOnce(&mut Stop<'_>) -> Result<T, String>,
) -> Result<Option<T>, String> {
    if stop.load(Ordering::Relaxed) {
        return Ok(None);
    }
    match catch_unwind(AssertUnwindSafe(|| what(&mut Stop { stop, facts: 0 }))) {
        Ok(answer) => answer.map(Some),
        Err(why) if why.is::<Stopped>() => Ok(None),
        Err(why) => resume_unwind(why),
    }
}

/// An observer that ends its run when a flag is set ([`stoppable`]).
#[derive(Debug)]
pub struct Stop<'a> {
    stop: &'a AtomicBool,
    facts: u32,
}

/// What unwinds a run that has to stop.
struct Stopped;

/// Facts from one check of the flag to the next; some hundred of them take a millisecond at most.
const FACTS: u32 = 256;

impl Observer for Stop<'_> {
    fn observe(&mut self, _: Time, _: &Observation) {
        self.facts = self.facts.wrapping_add(1);
        if self.facts.is_multiple_of(FACTS) && self.stop.load(Ordering::Relaxed) {
            resume_unwind(Box::new(Stopped));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sim_core::ids::AppId;

    use crate::run::{RunError, run, run_or_stop};

    const SCENARIO: &str = "name: long\nmachine: core:4\npolicies: [LOAD, PIN]\nthreads_per_core: 2\n\
        apps: { job: { workload: { spmd: { work: 400ms, intervals: 200, spread: 10% } }, runtime: block } }";

    #[test]
    fn a_flag_that_is_not_set_changes_nothing() {
        let experiment = scenario::load("long", SCENARIO, &scenario::Overrides::default()).unwrap();
        let whole = run(&experiment, 1, &|_, _| ()).unwrap();
        let stoppable = run_or_stop(&experiment, 2, &|_, _| (), &AtomicBool::new(false)).unwrap();
        assert_eq!(whole.provenance.digest, stoppable.provenance.digest);
    }

    #[test]
    fn a_flag_ends_the_run_in_which_it_is_set() {
        let experiment = scenario::load("long", SCENARIO, &scenario::Overrides::default()).unwrap();
        let stop = AtomicBool::new(false);
        // The first run ends, and the flag is set before the second one.
        let ended = run_or_stop(&experiment, 1, &|_, _| stop.store(true, Ordering::Relaxed), &stop);
        assert!(matches!(ended, Err(RunError::Stopped)));
        let mut facts = 0;
        let stop = AtomicBool::new(false);
        let answer = stoppable(&stop, |end| -> Result<(), String> {
            while facts < 10 * FACTS {
                facts += 1;
                if facts == 1_000 {
                    stop.store(true, Ordering::Relaxed);
                }
                end.observe(Time::ZERO, &Observation::AppExited(AppId(0)));
            }
            Ok(())
        });
        assert_eq!((answer, facts), (Ok(None), 1_000_u32.next_multiple_of(FACTS)));
    }
}
