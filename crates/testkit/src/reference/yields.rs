//! The clock of a runtime that lets its waiters yield or not, on the reference kernel.

use sim_core::rng::{Purpose, draw, key};

use super::state::{Doing, Waiting};
use super::{Reference, Timer};

impl Reference<'_> {
    /// The clock starts with the application: at the beginning of the part without yields, or anywhere.
    pub(super) fn start_yields(&mut self, app: usize) {
        let runtime = &self.apps[app].spec.runtime;
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
        self.apps[app].yields = at >= off;
        let change = if at < off { off - at } else { all - at };
        self.arm(self.now.saturating_add(change), Timer::Yields(app));
    }

    /// It changes: each task that polls begins its polls anew.
    pub(super) fn flip_yields(&mut self, app: usize) {
        if self.apps[app].end.is_some() {
            return;
        }
        let Some(cycle) = self.apps[app].spec.runtime.polling.cycle else { return };
        self.apps[app].yields ^= true;
        let part = if self.apps[app].yields { cycle.on } else { cycle.off };
        self.arm(self.now.saturating_add(part.ns()), Timer::Yields(app));
        for c in 0..self.cpus.len() {
            let Some(t) = self.cpus[c].current else { continue };
            let looks = matches!(self.cpus[c].doing, Doing::Poll | Doing::Spin);
            if self.tasks[t].app == app && self.tasks[t].waiting != Waiting::No && looks {
                self.close(c);
                let lead = self.take_debt(c);
                self.poll(c, lead);
                self.mark(c);
            }
        }
    }
}
