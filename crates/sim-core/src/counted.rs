//! Counted events and devices: who waits for how many units, and when a server is free.
//!
//! Pure bookkeeping: this module knows the names of tasks, and instants, not tasks, cpus or queues.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

use crate::ids::TaskId;
use crate::outcome::DeviceReport;
use crate::program;
use crate::time::{Span, Time};

/// More units than an event can have: a task that meets others waits for these.
const NEVER_ENOUGH: u64 = u64::MAX;

/// A counted event.
pub(crate) struct Event {
    pub(crate) name: String,
    units: u32,
    /// The instant of each unit, the oldest first, if the event keeps them.
    instants: Option<VecDeque<Time>>,
    /// Who waits for how many units, first come first.
    queue: VecDeque<(TaskId, u64)>,
}

impl Event {
    pub(crate) fn new(of: program::Event) -> Self {
        let instants = of.stamped.then(VecDeque::new);
        Self { name: of.name, units: of.initial, instants, queue: VecDeque::new() }
    }

    /// It keeps the instants of its units.
    pub(crate) const fn is_stamped(&self) -> bool {
        self.instants.is_some()
    }

    /// Adds units, which came at an instant.
    pub(crate) fn post(&mut self, count: u32, at: Time) {
        self.units = self.units.saturating_add(count);
        if let Some(instants) = &mut self.instants {
            instants.push_back(at);
        }
    }

    /// What nobody waits for is lost.
    pub(crate) const fn lose(&mut self) {
        self.units = 0;
    }

    /// Takes units if they are there and nobody waits. Returns the instant of the unit, `NEVER` where it is
    /// not kept.
    pub(crate) fn take(&mut self, count: u32) -> Option<Time> {
        if self.queue.is_empty() { self.remove(count.into()) } else { None }
    }

    fn remove(&mut self, count: u64) -> Option<Time> {
        let left = u64::from(self.units).checked_sub(count)?;
        self.units = left as u32;
        let kept = self.instants.as_mut().and_then(VecDeque::pop_front);
        Some(kept.unwrap_or(Time::NEVER))
    }

    /// A task waits for units, behind all others.
    pub(crate) fn wait(&mut self, task: TaskId, count: u32) {
        self.queue.push_back((task, count.into()));
    }

    /// The first task in the queue gets what it waits for, if that is there: the task, and the instant of the
    /// unit as in [`Event::take`].
    pub(crate) fn grant(&mut self) -> Option<(TaskId, Time)> {
        let (task, count) = *self.queue.front()?;
        let unit = self.remove(count)?;
        self.queue.pop_front();
        Some((task, unit))
    }

    /// A task comes to meet others. It waits, or it is the last of so many: then true.
    pub(crate) fn meet(&mut self, task: TaskId, parties: u32) -> bool {
        self.units = self.units.saturating_add(1);
        if self.units == parties {
            self.units = 0;
            return true;
        }
        self.queue.push_back((task, NEVER_ENOUGH));
        false
    }

    /// The next of those who wait for the last one to come.
    pub(crate) fn next_met(&mut self) -> Option<TaskId> {
        self.queue.pop_front().map(|(task, _)| task)
    }
}

/// A device: servers with one queue.
pub(crate) struct Servers {
    /// When each server is free. Those that no task could ever use are left out.
    free: BinaryHeap<Reverse<Time>>,
    report: DeviceReport,
}

impl Servers {
    /// A device for so many tasks.
    pub(crate) fn new(of: program::Device, tasks: usize) -> Self {
        let servers = (of.servers as usize).min(tasks.max(1));
        let report = DeviceReport { name: of.name, served: 0, busy_ns: 0, waited_ns: 0 };
        Self { free: (0..servers).map(|_| Reverse(Time::ZERO)).collect(), report }
    }

    /// A piece of work comes at an instant, which the server does that is free first. Returns when it is
    /// done.
    pub(crate) fn serve(&mut self, at: Time, length: Span) -> Time {
        let free = self.free.pop().map_or(Time::ZERO, |Reverse(free)| free);
        let begin = at.max(free);
        let end = begin.saturating_add(length);
        self.free.push(Reverse(end));
        let report = &mut self.report;
        report.served += 1;
        report.busy_ns = report.busy_ns.saturating_add(length.ns());
        report.waited_ns = report.waited_ns.saturating_add(begin.since(at).ns());
        end
    }

    /// What it has done up to an instant, and how long what has come waits in all.
    pub(crate) fn report(&self, now: Time) -> DeviceReport {
        // A server works without a break up to when it is free.
        let ahead = |sum: u64, Reverse(free): &Reverse<Time>| sum.saturating_add(free.since(now).ns());
        let ahead = self.free.iter().fold(0, ahead);
        DeviceReport { busy_ns: self.report.busy_ns.saturating_sub(ahead), ..self.report.clone() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NEVER: Time = Time::NEVER;

    fn event(initial: u32, stamped: bool) -> Event {
        Event::new(program::Event { name: "e".into(), initial, stamped })
    }

    #[test]
    fn nobody_overtakes_who_waits_for_more_than_there_is() {
        let mut event = event(2, false);
        assert_eq!(event.take(1), Some(NEVER));
        assert_eq!(event.take(3), None);
        event.wait(TaskId(7), 3);
        // One unit is there, but another one waits.
        assert_eq!(event.take(1), None);
        event.wait(TaskId(8), 1);
        event.post(1, Time::ZERO);
        assert_eq!(event.grant(), None);
        event.post(2, Time::ZERO);
        assert_eq!(
            [event.grant(), event.grant(), event.grant()],
            [Some((TaskId(7), NEVER)), Some((TaskId(8), NEVER)), None]
        );
        event.post(5, Time::ZERO);
        event.lose();
        assert_eq!(event.take(1), None);
        event.post(u32::MAX, Time::ZERO);
        event.post(u32::MAX, Time::ZERO);
        assert_eq!((event.take(u32::MAX), event.take(1)), (Some(NEVER), None));
    }

    #[test]
    fn the_oldest_unit_goes_first() {
        let mut event = event(0, true);
        let [one, two] = [5, 9].map(Time::from_ns);
        event.post(1, one);
        event.post(1, two);
        assert_eq!((event.take(1), event.take(1), event.take(1)), (Some(one), Some(two), None));
        event.wait(TaskId(3), 1);
        event.post(1, one);
        assert_eq!((event.grant(), event.grant()), (Some((TaskId(3), one)), None));
    }

    #[test]
    fn the_last_to_come_lets_the_others_go_in_order() {
        let mut event = event(0, false);
        for _ in 0..2 {
            assert!(!event.meet(TaskId(2), 3) && !event.meet(TaskId(1), 3));
            assert_eq!(event.grant(), None);
            assert!(event.meet(TaskId(0), 3));
            let next = [event.next_met(), event.next_met(), event.next_met()];
            assert_eq!(next, [Some(TaskId(2)), Some(TaskId(1)), None]);
        }
        assert!(event.meet(TaskId(0), 1));
    }

    #[test]
    fn the_server_that_is_free_first_takes_the_next_piece() {
        let mut disk = Servers::new(program::Device { name: "disk".into(), servers: 2 }, 10);
        let mut done = |at, length| disk.serve(Time::from_ns(at), Span::from_ns(length)).ns();
        assert_eq!([done(0, 10), done(1, 3), done(2, 5), done(3, 5), done(100, 1)], [10, 4, 9, 14, 101]);
        let report = |at| disk.report(Time::from_ns(at));
        let all = report(101);
        assert_eq!((all.served, all.busy_ns, all.waited_ns), (5, 24, 2 + 6));
        // The last piece is not done.
        assert_eq!((report(100).busy_ns, report(1_000)), (23, all));
    }

    #[test]
    fn work_that_is_still_to_be_done_has_kept_no_server_busy() {
        let mut disk = Servers::new(program::Device { name: "disk".into(), servers: 2 }, 10);
        for length in [10, 4, 20] {
            disk.serve(Time::ZERO, Span::from_ns(length));
        }
        // One works up to 10, the other one up to 4 and then up to 24.
        let busy = |at| disk.report(Time::from_ns(at)).busy_ns;
        assert_eq!([0, 3, 7, 12, 24, 30].map(busy), [0, 6, 14, 22, 34, 34]);
        let report = disk.report(Time::ZERO);
        assert_eq!((report.served, report.waited_ns), (3, 4));
    }
}
