//! The fair server in the reference engine: one step of `kernel/sched/deadline.c` after the other.

use sim_core::os::{ServerRules, ServerStop};

use super::Reference;

/// How the class of a cpu stands to all other tasks.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Standing {
    Above,
    Below,
    Stopped,
}

/// The flags of the kernel, and its two numbers.
#[derive(Clone, Copy, Default)]
pub(super) struct RefServer {
    active: bool,
    /// `dl_throttled`: it waits for its timer, which is at the laxity of nought (`armed`) or at the deadline.
    throttled: bool,
    armed: bool,
    running: bool,
    runtime: i64,
    deadline: u64,
    /// Idle time is counted up to here.
    idle_seen: u64,
}

impl RefServer {
    pub(super) const fn goes_first(&self) -> bool {
        self.active && !self.throttled
    }

    pub(super) const fn due(&self) -> u64 {
        if !self.active || !self.throttled {
            u64::MAX
        } else if self.armed && self.runtime > 0 {
            self.deadline.saturating_sub(self.runtime as u64)
        } else {
            self.deadline
        }
    }

    fn new_period(&mut self, rules: ServerRules, now: u64) {
        self.deadline = now + rules.period.ns();
        self.runtime = rules.runtime.ns() as i64;
        if !self.running {
            (self.throttled, self.armed) = (true, true);
        }
    }

    /// The runtime comes back period by period.
    fn catch_up(&mut self, rules: ServerRules, now: u64) {
        while self.runtime <= 0 {
            self.deadline += rules.period.ns();
            self.runtime += rules.runtime.ns() as i64;
        }
        if self.deadline < now {
            self.new_period(rules, now);
        }
    }

    /// What is left, over the time that is left, is more than the whole over its period.
    fn overflows(&self, rules: ServerRules, now: u64) -> bool {
        let (whole, period) = (i128::from(rules.runtime.ns()), i128::from(rules.period.ns()));
        i128::from(self.runtime) * period > i128::from(self.deadline.saturating_sub(now)) * whole
    }

    pub(super) fn timer(&mut self, rules: ServerRules) {
        let now = self.due();
        self.running |= self.armed;
        if self.armed && self.overflows(rules, now) {
            self.new_period(rules, now);
        } else {
            self.catch_up(rules, now);
        }
        (self.throttled, self.armed) = (!self.running, !self.running);
    }

    fn stop(&mut self) {
        (self.active, self.throttled, self.armed) = (false, false, false);
    }

    /// Timers that have gone off while nobody was there.
    fn alone(&mut self, rules: ServerRules, until: u64) {
        while self.due() <= until {
            let (now, deferred) = (self.due(), self.armed);
            self.timer(rules);
            if deferred && rules.stops == ServerStop::Yield {
                self.nobody(rules, now);
            } else if self.goes_first() {
                self.stop();
            }
        }
    }

    pub(super) fn update(&mut self, rules: ServerRules, delta: u64, now: u64) {
        if delta == 0 || !self.active {
            return;
        }
        self.runtime -= delta as i64;
        let exceeded = self.runtime <= 0;
        if self.throttled && exceeded {
            self.running = false;
            self.new_period(rules, now);
        } else if exceeded && self.deadline >= now {
            (self.throttled, self.armed) = (true, false);
        } else if exceeded {
            self.catch_up(rules, now);
        }
    }

    pub(super) fn begin(&mut self, rules: ServerRules, now: u64) {
        self.alone(rules, now);
        if self.active {
            return;
        }
        self.active = true;
        if self.deadline == 0 || self.deadline < now || self.overflows(rules, now) {
            if self.running && self.deadline >= now {
                let density = (u128::from(rules.runtime.ns()) << 20) / u128::from(rules.period.ns());
                self.runtime = ((density * u128::from(self.deadline - now)) >> 20) as i64;
                return;
            }
            if rules.defers_anew {
                self.running = false;
            }
            self.new_period(rules, now);
        } else if !self.running {
            (self.throttled, self.armed) = (true, true);
        }
    }

    /// There is nobody left.
    pub(super) fn nobody(&mut self, rules: ServerRules, now: u64) {
        let picks = self.goes_first();
        match rules.stops {
            ServerStop::Dequeue => self.stop(),
            ServerStop::Pick if picks => self.stop(),
            ServerStop::Yield if picks => {
                self.runtime = self.runtime.min(0);
                if self.deadline < now {
                    self.catch_up(rules, now);
                    self.stop();
                } else {
                    (self.throttled, self.armed) = (true, false);
                }
            }
            _ => {}
        }
    }

    /// The cpu was idle from one instant to another.
    pub(super) fn rested(&mut self, rules: ServerRules, from: u64, now: u64) {
        let delta = now.saturating_sub(from.max(self.idle_seen)) as i64;
        self.idle_seen = now;
        let due = self.due();
        if rules.counts_idle && self.active && delta > 0 && self.runtime <= delta {
            self.running = false;
            self.new_period(rules, now);
            if due <= now {
                self.stop();
            }
            return;
        }
        if rules.counts_idle && self.active {
            self.runtime -= delta;
        }
        self.alone(rules, now);
        if !rules.counts_idle && self.runtime >= 0 {
            self.runtime -= delta;
            if self.runtime < 0 {
                (self.runtime, self.running) = (0, false);
            }
        }
    }
}

impl Reference<'_> {
    /// The rules of the server, if it serves.
    fn server_rules(&self) -> Option<ServerRules> {
        self.class().map(|rules| rules.server).filter(|server| server.runtime.ns() > 0)
    }

    /// Something happens to the server of a cpu.
    pub(super) fn tell_server(&mut self, c: usize, what: impl FnOnce(&mut RefServer, ServerRules)) {
        let Some(rules) = self.server_rules() else { return };
        let before = self.cpus[c].class.standing();
        what(&mut self.cpus[c].class.server, rules);
        if self.cpus[c].class.standing() != before {
            self.stands_anew(c);
        }
    }

    /// When the server of a cpu interrupts the class.
    pub(super) fn server_at(&self, c: usize) -> u64 {
        let above = self.cpus[c].class.standing() == Standing::Above;
        let begins = self.server_rules().is_some() && above && self.fair_ones(c);
        if begins { self.cpus[c].class.server.due() } else { u64::MAX }
    }

    /// Somebody comes to a cpu.
    pub(super) fn server_sees(&mut self, c: usize, t: usize) {
        let (now, from) = (self.now, self.cpus[c].idle_from);
        if self.everyone(c).next().is_none() {
            self.tell_server(c, |server, rules| server.rested(rules, from, now));
        }
        if !self.in_class(t) && self.runnable(c).next().is_none() {
            self.tell_server(c, |server, rules| server.begin(rules, now));
        }
    }

    /// Somebody who is not of the class leaves.
    pub(super) fn server_loses(&mut self, c: usize, leaver: usize) {
        let now = self.now;
        if !self.in_class(leaver) && self.runnable(c).all(|t| t == leaver) {
            self.tell_server(c, |server, rules| server.nobody(rules, now));
        }
    }

    /// Somebody who is not of the class has run.
    pub(super) fn pay_server(&mut self, c: usize) {
        if self.fair_current(c).is_none() {
            return;
        }
        let (now, asked) = (self.now, self.cpus[c].resched);
        let delta = now.saturating_sub(self.cpus[c].charged);
        self.tell_server(c, |server, rules| server.update(rules, delta, now));
        if self.cpus[c].resched && !asked {
            self.mark(c);
        }
    }
}
