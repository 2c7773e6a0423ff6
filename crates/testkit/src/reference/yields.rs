//! The clock of a runtime that lets its waiters yield or not, on the reference engine.

use sim_core::rng::{Purpose, draw, key};

use super::state::{Activity, Waiting};
use super::{Reference, Timer};

impl Reference<'_> {
    /// The clocks start with the application: at the beginning of the part without yields, or anywhere.
    pub(super) fn start_yields(&mut self, app: usize) {
        for which in 0..self.apps[app].yields.len() {
            if which != 1 || self.apps[app].spec.team_runtime.is_some() {
                self.start_clock(app, which);
            }
        }
    }

    fn start_clock(&mut self, app: usize, which: usize) {
        let runtime = self.runtime(app, which);
        let Some(cycle) = runtime.polling.cycle else { return };
        if !runtime.wait.yields() {
            return;
        }
        let (off, all) = (cycle.off.ns(), cycle.off.ns() + cycle.on.ns());
        let mut at = 0;
        if cycle.random {
            let uniform = draw(key(self.options.seed, Purpose::YieldPhase, app as u64), 0);
            at = (u128::from(all) * u128::from(uniform) / (1 << 32)) as u64;
        }
        self.apps[app].yields[which] = at >= off;
        let change = if at < off { off - at } else { all - at };
        self.arm(self.now.saturating_add(change), Timer::Yields(app, which));
    }

    /// It changes: each task that polls begins its polls anew.
    pub(super) fn flip_yields(&mut self, app: usize, which: usize) {
        if self.apps[app].end.is_some() {
            return;
        }
        let Some(cycle) = self.runtime(app, which).polling.cycle else { return };
        self.apps[app].yields[which] ^= true;
        let part = if self.apps[app].yields[which] { cycle.on } else { cycle.off };
        self.arm(self.now.saturating_add(part.ns()), Timer::Yields(app, which));
        for c in 0..self.cpus.len() {
            let Some(t) = self.cpus[c].current else { continue };
            let looks = matches!(self.cpus[c].activity, Activity::Poll | Activity::Spin);
            let waiting = self.tasks[t].waiting;
            let mine = self.tasks[t].app == app && !matches!(waiting, Waiting::No | Waiting::Lock);
            if mine && self.handler(t, waiting) == which && looks {
                self.close(c);
                let overhead = self.take_deferred(c);
                self.poll(c, overhead);
                self.mark(c);
            }
        }
    }
}
