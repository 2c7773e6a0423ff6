//! The fair server of a cpu (`dl_server` with `dl_defer`, kernel/sched/deadline.c of Linux 6.12 and later):
//! when tasks below the real-time class have starved for long, they go first for a while.
//!
//! It is a reservation: `runtime` in each `period`. It waits until what it has left is all the time that is
//! left of its period; what the tasks get meanwhile counts. Once it has served, it goes on without waiting:
//! with the rest of its runtime, or with a new one when its period is over.
//!
//! Deviations: its timer is exact, where Linux lets it go off up to 1 ms early (`dl_server_min_res`), and
//! begins a turn by times as old as the last tick (to 6.18).

use crate::time::{Span, Time};

/// When the server of a cpu without tasks below the class stops.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ServerStop {
    /// As the last one leaves (`dequeue_entities`).
    Dequeue,
    /// The second time that it finds none; the first time it gives up the rest of its period (`dl_yielded`,
    /// `dl_server_idle`).
    Yield,
    /// As it finds none (`__pick_task_dl`).
    Pick,
}

/// The fair server of a kernel.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ServerRules {
    /// How long it serves in each period; zero: the kernel has none.
    pub runtime: Span,
    /// Its period, longer than `runtime`.
    pub period: Span,
    /// When it stops.
    pub stops: ServerStop,
    /// A server that has served and starts after the end of its period waits again.
    pub defers_anew: bool,
    /// Idle time of a server that has not stopped counts as time of the tasks, so that it begins a new period
    /// once that is used up (`dl_server_update_idle`). Otherwise idle time takes away from what is left, to
    /// zero, also of a stopped one (`dl_server_update_idle_time`).
    pub counts_idle: bool,
}

/// What it does.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum State {
    /// It has stopped: there was nobody to serve.
    Stopped,
    /// It waits until the tasks have starved (`dl_defer_armed`).
    Waits,
    /// The tasks go first.
    Serves,
    /// It has used up its runtime and waits for the next period (`dl_throttled`).
    Spent,
}

/// The fair server of a cpu.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct FairServer {
    state: State,
    /// It has served, and the tasks have got no runtime without it since then (`dl_defer_running`).
    starved: bool,
    /// What it has left, ns, and until when.
    left: i64,
    deadline: Time,
    /// Up to when idle time is counted.
    idled: Time,
}

impl FairServer {
    /// It has never started.
    pub(crate) const NEW: Self =
        Self { state: State::Stopped, starved: false, left: 0, deadline: Time::ZERO, idled: Time::ZERO };

    /// The tasks below the class go first.
    pub(crate) fn serves(&self) -> bool {
        self.state == State::Serves
    }

    /// When its timer goes off (`start_dl_timer`).
    pub(crate) fn timer(&self) -> Time {
        match self.state {
            State::Waits => Time::from_ns(self.deadline.ns().saturating_sub(self.left.max(0) as u64)),
            State::Spent => self.deadline,
            State::Stopped | State::Serves => Time::NEVER,
        }
    }

    /// `replenish_dl_new_period`.
    fn renew(&mut self, rules: &ServerRules, now: Time) {
        self.left = rules.runtime.ns() as i64;
        self.deadline = now + rules.period;
    }

    /// The periods that an overrun has used up are passed over (`replenish_dl_entity`).
    fn replenish(&mut self, rules: &ServerRules, now: Time) {
        let runtime = rules.runtime.ns();
        if self.left <= 0 {
            let periods = self.left.unsigned_abs() / runtime + 1;
            self.left += (periods * runtime) as i64;
            self.deadline = self.deadline.saturating_add(rules.period * periods);
        }
        if self.deadline < now {
            self.renew(rules, now);
        }
    }

    /// Its timer goes off (`dl_server_timer`). What is left of a first turn never fits into the time that is
    /// left, so that a new period begins (`dl_entity_overflow`).
    pub(crate) fn fire(&mut self, rules: &ServerRules) {
        let at = self.timer();
        let first = self.state == State::Waits;
        if first && self.left > 0 {
            self.renew(rules, at);
        } else {
            self.replenish(rules, at);
        }
        self.starved |= first;
        self.state = if self.starved { State::Serves } else { State::Waits };
    }

    /// Its timer goes off on a cpu without tasks to serve.
    fn fire_in_vain(&mut self, rules: &ServerRules, now: Time) {
        while self.timer() <= now {
            let (at, first) = (self.timer(), self.state == State::Waits);
            self.fire(rules);
            if first && rules.stops == ServerStop::Yield {
                self.emptied(rules, at);
            } else if self.serves() {
                self.state = State::Stopped;
            }
        }
    }

    /// A task below the class has run for a while up to now (`update_curr_dl_se`).
    pub(crate) fn ran(&mut self, rules: &ServerRules, span: Span, now: Time) {
        if span == Span::ZERO || self.state == State::Stopped {
            return;
        }
        self.left -= span.ns() as i64;
        if self.left > 0 {
            return;
        }
        if self.state != State::Serves {
            // The tasks have got their runtime without it.
            self.starved = false;
            self.renew(rules, now);
            self.state = State::Waits;
        } else if self.deadline < now {
            // The timer would go off in the past.
            self.replenish(rules, now);
        } else {
            self.state = State::Spent;
        }
    }

    /// The first task below the class enters (`dl_server_start`, `update_dl_entity`).
    pub(crate) fn start(&mut self, rules: &ServerRules, now: Time) {
        self.fire_in_vain(rules, now);
        if self.state != State::Stopped {
            return;
        }
        // The first start begins a period (`setup_new_dl_entity`), also at the first instant.
        let past = self.deadline < now || self.deadline == Time::ZERO;
        let rest = self.deadline.since(now).ns();
        let share = i128::from(rest) * i128::from(rules.runtime.ns());
        let more_than_its_share = i128::from(self.left) * i128::from(rules.period.ns()) > share;
        if more_than_its_share && self.starved && !past {
            // `update_dl_revised_wakeup`, with a density of 20 bits after the point.
            let density = (u128::from(rules.runtime.ns()) << 20) / u128::from(rules.period.ns());
            self.left = ((density * u128::from(rest)) >> 20) as i64;
        } else if more_than_its_share || past {
            self.starved &= !rules.defers_anew;
            self.renew(rules, now);
        }
        self.state = if self.starved { State::Serves } else { State::Waits };
    }

    /// The last task below the class has left.
    pub(crate) fn emptied(&mut self, rules: &ServerRules, now: Time) {
        match (rules.stops, self.state) {
            (ServerStop::Dequeue, _) | (ServerStop::Pick, State::Serves) => self.state = State::Stopped,
            (ServerStop::Yield, State::Serves) => {
                self.left = self.left.min(0);
                self.state = State::Spent;
                if self.deadline < now {
                    self.replenish(rules, now);
                    self.state = State::Stopped;
                }
            }
            _ => {}
        }
    }

    /// A task enters a cpu that has been idle for a while.
    pub(crate) fn idle(&mut self, rules: &ServerRules, since: Time, now: Time) {
        let span = now.since(since.max(self.idled)).ns() as i64;
        self.idled = now;
        if rules.counts_idle {
            let timer = self.timer();
            if self.state != State::Stopped && span > 0 && self.left <= span {
                self.starved = false;
                self.renew(rules, now);
                self.state = if timer <= now { State::Stopped } else { State::Waits };
                return;
            }
            self.left -= if self.state == State::Stopped { 0 } else { span };
            self.fire_in_vain(rules, now);
            return;
        }
        self.fire_in_vain(rules, now);
        if self.left >= 0 {
            self.starved &= self.left >= span;
            self.left = (self.left - span).max(0);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;

    fn rules(stops: ServerStop, defers_anew: bool) -> ServerRules {
        let (runtime, period) = (Span::from_ms(50), Span::from_ms(1_000));
        ServerRules { runtime, period, stops, defers_anew, counts_idle: false }
    }

    fn at(ms: u64) -> Time {
        Time::from_ns(ms * MS)
    }

    /// One that has begun its first turn, 950 ms after its start.
    fn serving(rules: &ServerRules) -> FairServer {
        let mut server = FairServer::NEW;
        server.start(rules, at(1));
        assert_eq!(server.timer(), at(951));
        server.fire(rules);
        assert!(server.serves() && server.deadline == at(1_951));
        server
    }

    #[test]
    fn a_served_task_that_sleeps_goes_on_at_once_unless_the_server_has_yielded() {
        for (stops, goes_on) in
            [(ServerStop::Dequeue, true), (ServerStop::Yield, false), (ServerStop::Pick, true)]
        {
            let rules = rules(stops, true);
            let mut server = serving(&rules);
            server.ran(&rules, Span::from_ms(10), at(961));
            server.emptied(&rules, at(961));
            server.start(&rules, at(962));
            assert_eq!(server.serves(), goes_on, "{stops:?}");
            // 40 ms for the 989 ms that are left; or nothing before the next period.
            let (left, timer) = if goes_on { (40 * MS as i64, Time::NEVER) } else { (0, at(1_951)) };
            assert_eq!((server.left, server.timer()), (left, timer));
        }
    }

    #[test]
    fn after_a_long_sleep_it_goes_on_with_its_share_or_waits_again() {
        // 800 ms later 50 ms are more than 5 % of the 151 ms that are left.
        let since_6_19 = rules(ServerStop::Pick, true);
        let mut server = serving(&since_6_19);
        server.emptied(&since_6_19, at(951));
        server.start(&since_6_19, at(1_800));
        assert!(server.serves() && (7_540_000..=7_550_000).contains(&server.left), "{}", server.left);
        for (defers_anew, serves) in [(true, false), (false, true)] {
            let rules = rules(ServerStop::Pick, defers_anew);
            let mut server = serving(&rules);
            server.emptied(&rules, at(951));
            server.start(&rules, at(3_000));
            assert_eq!((server.serves(), server.deadline), (serves, at(4_000)));
        }
    }

    #[test]
    fn an_overrun_is_paid_back_and_runtime_without_it_ends_the_starvation() {
        let rules = rules(ServerStop::Pick, true);
        let mut server = serving(&rules);
        server.ran(&rules, Span::from_ms(52), at(1_003));
        assert!(!server.serves());
        assert_eq!(server.timer(), at(1_951));
        let mut other = server;
        server.fire(&rules);
        assert_eq!((server.left, server.deadline), (48 * MS as i64, at(2_951)));
        other.ran(&rules, Span::from_us(1), at(1_500));
        assert_eq!((other.starved, other.timer()), (false, at(2_450)));
    }

    #[test]
    fn the_first_start_begins_a_period_at_any_instant() {
        for now in [0, 1] {
            let rules = rules(ServerStop::Pick, true);
            let mut server = FairServer::NEW;
            server.start(&rules, at(now));
            assert_eq!(server.timer(), at(now + 950));
        }
    }

    #[test]
    fn idle_time_ends_the_starvation() {
        for counts_idle in [false, true] {
            let rules = ServerRules { counts_idle, ..rules(ServerStop::Pick, false) };
            let mut server = FairServer::NEW;
            server.start(&rules, at(1));
            // Nobody is left, the cpu is idle for half a second, and a real-time task comes.
            server.emptied(&rules, at(2));
            server.idle(&rules, at(2), at(502));
            server.start(&rules, at(600));
            assert!(!server.serves() && !server.starved);
            // A new period from the end of the idle time; or nothing is left of the old one.
            assert_eq!(server.timer(), at(if counts_idle { 1_452 } else { 1_001 }), "{counts_idle}");
        }
    }
}
