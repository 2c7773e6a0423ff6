//! The load average of a locality group (`lgrp_loadavg`).

use sim_core::time::Time;

/// Load of one thread that always runs (LGRP_LOADAVG_MAX of illumos is a little higher).
pub(super) const THREAD: u64 = 65_516;
/// Loads are aged at this interval, by 5 % of the difference (`lgrp_loadavg`).
pub(super) const AGING: u64 = 100_000_000;
/// After this many steps of 5 % nothing is left of a difference (0.95^400 = 1e-9).
const STEPS: u64 = 400;

#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Group {
    pub(super) load: u64,
    /// Runnable threads that are at home here.
    pub(super) runnable: u64,
    /// Steps of aging done.
    pub(super) steps: u64,
    /// Order of the last choice; 0 = never.
    pub(super) chosen: u64,
}

impl Group {
    /// Lets the load follow the truth up to now.
    pub(super) fn age(&mut self, now: Time) {
        let steps = now.ns() / AGING;
        let missed = steps.saturating_sub(self.steps);
        self.steps = steps;
        let target = self.runnable * THREAD;
        if missed >= STEPS {
            self.load = target;
        }
        for _ in 0..missed.min(STEPS) {
            if self.load == target {
                break;
            }
            self.load = if self.load > target {
                self.load - ((self.load - target) / 20).max(1)
            } else {
                self.load + ((target - self.load) / 20).max(1)
            };
        }
    }
}
