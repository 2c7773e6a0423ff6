//! The clock of a runtime that lets its waiters yield or not, on the reference engine.

use sim_core::rng::{Purpose, draw, key};

use super::state::{Activity, Waiting};
use super::{Reference, Timer};

impl Reference<'_> {
    /// The clocks start with the application: at the beginning of the part without yields, or anywhere.
    pub(super) fn start_yields(&mut self, app: usize) {
        self.start_clock(app, false);
        if self.apps[app].spec.team_runtime.is_some() {
            self.start_clock(app, true);
        }
    }

    fn start_clock(&mut self, app: usize, of_team: bool) {
        let runtime = self.runtime(app, of_team);
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
        self.apps[app].yields[usize::from(of_team)] = at >= off;
        let change = if at < off { off - at } else { all - at };
        self.arm(self.now.saturating_add(change), Timer::Yields(app, of_team));
    }

    /// It changes: each task that polls begins its polls anew.
    pub(super) fn flip_yields(&mut self, app: usize, of_team: bool) {
        if self.apps[app].end.is_some() {
            return;
        }
        let Some(cycle) = self.runtime(app, of_team).polling.cycle else { return };
        self.apps[app].yields[usize::from(of_team)] ^= true;
        let part = if self.apps[app].yields[usize::from(of_team)] { cycle.on } else { cycle.off };
        self.arm(self.now.saturating_add(part.ns()), Timer::Yields(app, of_team));
        for c in 0..self.cpus.len() {
            let Some(t) = self.cpus[c].current else { continue };
            let looks = matches!(self.cpus[c].activity, Activity::Poll | Activity::Spin);
            let waiting = self.tasks[t].waiting;
            let mine = self.tasks[t].app == app && !matches!(waiting, Waiting::No | Waiting::Lock);
            if mine && self.waits_in_team(t, waiting) == of_team && looks {
                self.close(c);
                let overhead = self.take_deferred(c);
                self.poll(c, overhead);
                self.mark(c);
            }
        }
    }
}
