//! How long the steady part of a job takes by the clock: from the first release to the end, creation of the
//! tasks left out.

use std::time::{Duration, Instant};

use sim_core::observe::{Observation, Observer};
use sim_core::time::Time;

/// Starts at the first [`Observation::Released`], stops at the last [`Observation::AppExited`].
#[derive(Default)]
pub struct Stopwatch {
    begin: Option<Instant>,
    end: Option<Instant>,
}

impl Stopwatch {
    /// From begin to end; zero if there was none.
    #[must_use]
    pub fn elapsed(&self) -> Duration {
        match (self.begin, self.end) {
            (Some(begin), Some(end)) => end - begin,
            _ => Duration::ZERO,
        }
    }
}

impl Observer for Stopwatch {
    #[inline]
    fn observe(&mut self, _at: Time, what: &Observation) {
        match what {
            Observation::Released { .. } if self.begin.is_none() => self.begin = Some(Instant::now()),
            Observation::AppExited(_) => self.end = Some(Instant::now()),
            _ => {}
        }
    }
}
