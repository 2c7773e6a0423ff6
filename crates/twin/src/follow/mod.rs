//! Who ran when. A recording misses events (most switches from the idle thread on some hosts), and wakes can
//! precede the switch of the sleeper; here each is mended and counted.

mod state;
mod stint;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use crate::event::{Event, Kind, Named, State, Tid, UNKNOWN};
use crate::threads::{Id, Threads};
use state::{ARMED, Cpu, Follow, Now};

pub use stint::{Counts, Did, End, Point, Source, Start, Stint, Timer};

/// A wake-up so soon after a timer expired on the same cpu is the timer's, where the file does not say which
/// events are in interrupts, in ns.
const TIMER_LASTS: u64 = 10_000;
/// A thread that is woken on its way to wait gives up its cpu within this time of its own, in ns; otherwise
/// it did not wait.
const ON_ITS_WAY: u64 = 50_000;
/// Most points of one stint that are kept.
const MOST_POINTS: usize = 1 << 20;
/// NET_RX and NET_TX: a message over the loopback is delivered there by its sender (`net/core/dev.c`).
const NET: [u32; 2] = [2, 3];
/// The largest number of a cpu that is told apart; Linux has at most 8,192 (`NR_CPUS`).
const MOST_CPU: usize = 65_535;

/// Follows the events of a recording.
#[derive(Default, Debug)]
pub struct Follower {
    /// The threads.
    pub threads: Threads,
    /// What was mended.
    pub counts: Counts,
    /// Names of marks, by their numbers.
    pub marks: Vec<String>,
    /// The numbers of marks, by their names.
    numbers: BTreeMap<String, u32>,
    follows: Vec<Follow>,
    cpus: Vec<Cpu>,
    timers: BTreeMap<u64, Id>,
    /// The first event, in ns.
    pub first: Option<u64>,
    /// The last event, in ns.
    pub last: u64,
}

/// What a recording tells of, one after the other.
pub type Sink<'a> = &'a mut dyn FnMut(&Threads, &Stint<'_>);

impl Follower {
    /// Takes an event.
    pub fn event(&mut self, event: &Event<'_>, sink: Sink<'_>) {
        self.counts.events += 1;
        self.first.get_or_insert(event.at);
        self.last = self.last.max(event.at);
        if let Kind::Lost(lost) = event.kind {
            self.counts.lost = self.counts.lost.saturating_add(lost);
            return;
        }
        if let Kind::Exec { tid, old, .. } = event.kind
            && tid != old
        {
            self.threads.renumber(old, tid);
        }
        let header = match event.kind {
            Kind::Switch { prev, .. } => Some((prev.tid, prev.comm)),
            _ => Some((event.tid, "")).filter(|(tid, _)| *tid != UNKNOWN),
        };
        let here = header.map(|(tid, comm)| self.named(tid, comm, event.at));
        if let Some(here) = here {
            self.settle(event.cpu, here, event.at, sink);
            if let (Some(id), Some(process)) = (here, event.process) {
                self.threads.get_mut(id).into_iter().for_each(|thread| thread.process = Some(process));
            }
        }
        self.kind(event, here.flatten(), sink);
        let cpu = self.cpu(event.cpu);
        cpu.last = event.at;
    }

    fn kind(&mut self, event: &Event<'_>, here: Option<Id>, sink: Sink<'_>) {
        let at = event.at;
        match event.kind {
            Kind::Switch { prev, state, next } => self.switch(event, here, (prev, state, next), sink),
            Kind::Waking(who) => {
                self.counts.waking = true;
                self.wake(who, here, event, true);
            }
            Kind::Wakeup(who) => self.wake(who, here, event, false),
            Kind::WakeupNew(who) => {
                let known = self.threads.alive(who.tid);
                let fresh = known.and_then(|id| self.follow(id)).is_none_or(|follow| {
                    matches!(follow.now, Now::Unknown | Now::Queued { start: Start::Forked { .. } })
                });
                if !fresh {
                    // Its number is used again, and its end was not recorded.
                    self.threads.add(who.tid, who.comm, None, at);
                }
                let id = self.known(who, at);
                if let Some(follow) = id.and_then(|id| self.follow(id))
                    && !matches!(follow.now, Now::Runs { .. })
                {
                    follow.now = Now::Queued { start: Start::Forked { at } };
                }
            }
            Kind::Runtime { tid, ran } => self.runtime(tid, at, ran),
            Kind::Fork { child, comm, .. } => self.forked(here, child, comm, at),
            Kind::Exec { tid, file, .. } => {
                if let Some(id) = self.named(tid, "", at) {
                    self.executed(id, at, file);
                }
            }
            Kind::Exit { tid } => {
                if let Some(follow) = self.named(tid, "", at).and_then(|id| self.follow(id)) {
                    follow.leaving = true;
                }
            }
            Kind::Mark { name, returns } => {
                let mark = self.mark(name);
                self.point(here, at, Did::Marked(mark, returns));
            }
            Kind::Yield => {
                if let Some(follow) = here.and_then(|id| self.follow(id)) {
                    follow.yielded = Some(at);
                }
            }
            _ => self.interrupts(event, here),
        }
    }

    /// Timers and interrupts.
    fn interrupts(&mut self, event: &Event<'_>, here: Option<Id>) {
        let at = event.at;
        match event.kind {
            Kind::TimerStart { timer, expires, relative } => {
                if let Some(id) = here {
                    self.timers.insert(timer, id);
                    if let Some(follow) = self.follow(id) {
                        follow.timer = Some((timer, Timer { asked: at, expires, relative }));
                    }
                }
            }
            Kind::TimerExpire { timer } => {
                self.cpu(event.cpu).expired = Some(at);
                if let Some(follow) = self.timers.remove(&timer).and_then(|id| self.follow(id))
                    && let Some((_, asked)) = follow.timer.filter(|(started, _)| *started == timer)
                {
                    follow.fired = Some((at, asked));
                }
            }
            Kind::SoftirqEntry(which) => self.cpu(event.cpu).softirq = Some(which),
            Kind::SoftirqExit => self.cpu(event.cpu).softirq = None,
            Kind::IrqEntry => {
                let cpu = self.cpu(event.cpu);
                cpu.interrupts = cpu.interrupts.saturating_add(1);
            }
            Kind::IrqExit => {
                let cpu = self.cpu(event.cpu);
                cpu.interrupts = cpu.interrupts.saturating_sub(1);
            }
            _ => {}
        }
    }

    /// The recording has ended.
    pub fn done(&mut self, sink: Sink<'_>) {
        for number in 0..self.cpus.len() {
            let cpu = self.cpu(u32::try_from(number).unwrap_or(u32::MAX));
            if let Some(Some(id)) = cpu.runs.take() {
                self.close(id, self.last, End::Cut, sink);
            }
        }
    }

    fn cpu(&mut self, number: u32) -> &mut Cpu {
        let place = (number as usize).min(MOST_CPU);
        if place >= self.cpus.len() {
            self.cpus.resize(place + 1, Cpu::default());
        }
        &mut self.cpus[place]
    }

    /// How many cpus events have named.
    #[must_use]
    pub fn cpus(&self) -> usize {
        self.cpus.iter().filter(|cpu| cpu.seen).count()
    }

    fn follow(&mut self, id: Id) -> Option<&mut Follow> {
        while self.follows.len() < self.threads.len() {
            self.follows.push(Follow::new());
        }
        self.follows.get_mut(id.0 as usize)
    }

    fn named(&mut self, tid: Tid, comm: &str, at: u64) -> Option<Id> {
        let id = self.threads.named(tid, comm, at)?;
        if !comm.is_empty()
            && let Some(thread) = self.threads.get_mut(id)
            && thread.name != comm
        {
            comm.clone_into(&mut thread.name);
        }
        Some(id)
    }

    fn known(&mut self, who: Named<'_>, at: u64) -> Option<Id> {
        let id = self.named(who.tid, who.comm, at)?;
        self.threads.get_mut(id).into_iter().for_each(|thread| thread.prio = who.prio);
        Some(id)
    }

    fn mark(&mut self, name: &str) -> u32 {
        if let Some(known) = self.numbers.get(name) {
            return *known;
        }
        let number = u32::try_from(self.marks.len()).unwrap_or(u32::MAX);
        self.marks.push(name.to_owned());
        self.numbers.insert(name.to_owned(), number);
        number
    }

    fn point(&mut self, id: Option<Id>, at: u64, did: Did) {
        if let Some(follow) = id.and_then(|id| self.follow(id))
            && follow.points.len() < MOST_POINTS
        {
            follow.points.push(Point { at, did });
        }
    }

    /// A thread has the cpu, or nobody: if somebody else was thought to have it, a switch is missing.
    fn settle(&mut self, cpu: u32, here: Option<Id>, at: u64, sink: Sink<'_>) {
        let first = self.first.unwrap_or(at);
        let known = *self.cpu(cpu);
        if known.runs == Some(here) {
            return;
        }
        let mut from = if known.seen { known.last.max(known.busy) } else { first };
        if let Some(follow) = here.and_then(|id| self.follow(id)) {
            let runnable = match follow.now {
                Now::Queued { start } => start.runnable(),
                Now::Waits { since } => follow.armed(since, at).map(|timer| timer.expires),
                Now::Gone { since } => Some(since),
                Now::Unknown | Now::Runs { .. } => None,
            };
            if let Now::Waits { since } = follow.now {
                from = from.max(since);
            }
            from = from.max(runnable.unwrap_or(from)).min(at);
        }
        let mut idle = false;
        if let Some(runs) = known.runs {
            self.counts.missing += 1;
            match runs {
                Some(old) => self.gone(old, from, here.is_none(), sink),
                None => idle = true,
            }
        }
        self.cpu(cpu).runs = Some(here);
        self.cpu(cpu).seen = true;
        if let Some(id) = here {
            self.open(id, cpu, from, (idle, known.seen), sink);
        }
    }

    /// A thread has left its cpu unseen. If the cpu idles then, it waits or has ended.
    fn gone(&mut self, id: Id, at: u64, idles: bool, sink: Sink<'_>) {
        let leaving = self.follow(id).is_some_and(|follow| follow.leaving);
        let end = match (leaving, idles) {
            (true, _) => End::Exited,
            (false, true) => End::Blocked(b'?'),
            (false, false) => End::Preempted,
        };
        self.close(id, at, end, sink);
        if end == End::Preempted
            && let Some(follow) = self.follow(id)
        {
            follow.now = Now::Gone { since: at };
        }
    }

    /// A stint begins.
    fn open(&mut self, id: Id, cpu: u32, mut from: u64, (idle, mut mended): (bool, bool), sink: Sink<'_>) {
        if let Some(&mut Follow { now: Now::Runs { cpu: other }, from: began, .. }) = self.follow(id) {
            // It has left its cpu unseen.
            from = from.max(began);
            if other != cpu {
                from = from.max(self.cpu(other).last);
                self.cpu(other).runs = None;
            }
            self.counts.missing += 1;
            mended = true;
            self.close(id, from, End::Preempted, sink);
        }
        let mut unseen = 0;
        if let Some(follow) = self.follow(id) {
            follow.start = match follow.now {
                // It was not on its way to wait: it did wait, and what woke it was not recorded.
                Now::Queued { start: Start::Woken { blocked, by: Source::Raced, .. } }
                    if idle && from.saturating_sub(blocked) > ARMED =>
                {
                    unseen = 1;
                    Start::Woken { blocked, at: from, by: Source::Unseen }
                }
                Now::Queued { start } => start,
                Now::Gone { since } => {
                    mended = true;
                    Start::Resumed { since }
                }
                Now::Waits { since } => match follow.armed(since, from) {
                    Some(timer) => {
                        Start::Woken { blocked: since, at: timer.expires, by: Source::Timer(timer) }
                    }
                    None => {
                        unseen = 1;
                        Start::Woken { blocked: since, at: from, by: Source::Unseen }
                    }
                },
                Now::Unknown | Now::Runs { .. } => Start::First,
            };
            follow.now = Now::Runs { cpu };
            (follow.from, follow.idle, follow.mended) = (from, idle, mended);
            (follow.measured, follow.yielded) = (false, None);
        }
        self.counts.unseen += unseen;
    }

    /// A stint ends.
    fn close(&mut self, id: Id, at: u64, end: End, sink: Sink<'_>) {
        let Some(follow) = self.follow(id) else { return };
        let Now::Runs { cpu } = follow.now else { return };
        let end = match end {
            End::Preempted
                if follow.yielded.is_some_and(|yielded| at.saturating_sub(yielded) < ON_ITS_WAY) =>
            {
                End::Yielded
            }
            other => other,
        };
        let raced =
            follow.early.take().is_some_and(|early| at.saturating_sub(early.max(follow.from)) < ON_ITS_WAY);
        follow.now = match end {
            End::Blocked(_) if raced => {
                Now::Queued { start: Start::Woken { blocked: at, at, by: Source::Raced } }
            }
            End::Blocked(_) => Now::Waits { since: at },
            _ => Now::Queued { start: Start::Resumed { since: at } },
        };
        let mut points = std::mem::take(&mut follow.points);
        let from = follow.from.min(at);
        // It can be woken before its stint is known to have begun, and behind its unseen end.
        points.iter_mut().for_each(|point| point.at = point.at.clamp(from, at));
        let stint = Stint {
            thread: id,
            cpu,
            from,
            to: at,
            start: follow.start,
            end,
            idle: follow.idle,
            mended: follow.mended && !follow.measured,
            points: &points,
        };
        sink(&self.threads, &stint);
        if end == End::Exited {
            self.threads.ended(id, at);
        }
        self.cpu(cpu).busy = at;
        points.clear();
        if let Some(follow) = self.follow(id) {
            follow.points = points;
        }
    }

    fn switch(
        &mut self,
        event: &Event<'_>,
        here: Option<Id>,
        (prev, state, next): (Named<'_>, State, Named<'_>),
        sink: Sink<'_>,
    ) {
        self.counts.switches += 1;
        let at = event.at;
        if let Some(id) = here {
            self.threads.get_mut(id).into_iter().for_each(|thread| thread.prio = prev.prio);
            let end = match state {
                State::Runnable => End::Preempted,
                State::Waits(letter) => End::Blocked(letter),
                State::Ended => End::Exited,
            };
            self.close(id, at, end, sink);
        }
        let next = self.known(next, at);
        let cpu = self.cpu(event.cpu);
        (cpu.runs, cpu.switched, cpu.seen) = (Some(next), at, true);
        // No interrupt lasts over a switch: the end of one was lost.
        (cpu.interrupts, cpu.softirq) = (0, None);
        if let Some(id) = next {
            self.open(id, event.cpu, at, (here.is_none(), false), sink);
        }
    }

    /// A thread is woken. `sure`: in the context of the waker.
    fn wake(&mut self, who: Named<'_>, here: Option<Id>, event: &Event<'_>, sure: bool) {
        let at = event.at;
        let Some(id) = self.known(who, at) else { return };
        let by = self.source(id, here, event);
        let first = self.first.unwrap_or(at);
        let Some(follow) = self.follow(id) else { return };
        let blocked = match follow.now {
            Now::Waits { since } | Now::Gone { since } => since,
            Now::Unknown => first,
            Now::Queued { start: Start::Woken { blocked, by: Source::Raced, .. } } if sure => blocked,
            Now::Queued { .. } | Now::Runs { .. } if sure => {
                follow.early = Some(at);
                let raced =
                    if let Source::Thread(waker) = by { Did::Raced(waker) } else { Did::RacedInterrupt };
                self.point(Some(id), at, raced);
                self.counts.early += 1;
                if let Source::Thread(waker) = by {
                    self.point(Some(waker), at, Did::Woke { whom: id, waited: false });
                }
                return;
            }
            _ => return,
        };
        follow.now = Now::Queued { start: Start::Woken { blocked, at, by } };
        self.counts.wakes += 1;
        if let Source::Thread(waker) = by {
            self.point(Some(waker), at, Did::Woke { whom: id, waited: true });
        }
    }

    /// What wakes a thread.
    fn source(&mut self, id: Id, here: Option<Id>, event: &Event<'_>) -> Source {
        let cpu = *self.cpu(event.cpu);
        let waits = self.follow(id).map(|follow| (follow.now, follow.fired.take()));
        if let Some((Now::Waits { since }, Some((fired, timer)))) = waits
            && fired >= since
            && event.at.saturating_sub(fired) < ARMED
        {
            return Source::Timer(timer);
        }
        if let Some(Follow { now: Now::Waits { since }, .. }) = self.follow(id)
            && let since = *since
            && let Some(timer) = self.follow(id).and_then(|follow| follow.armed(since, event.at))
            && event.at - timer.expires < ARMED
            && (here.is_none() || here == Some(id))
        {
            return Source::Timer(timer);
        }
        let net = cpu.softirq.is_some_and(|which| NET.contains(&which));
        let interrupt = match event.interrupt {
            Some(interrupt) => interrupt && !net,
            None => {
                cpu.interrupts > 0
                    || cpu.softirq.is_some() && !net
                    || cpu.expired.is_some_and(|expired| event.at.saturating_sub(expired) < TIMER_LASTS)
            }
        };
        match here {
            Some(waker) if !interrupt && waker != id => Source::Thread(waker),
            _ => Source::Interrupt,
        }
    }

    /// The cpu time of a thread since it got its cpu, if its switch was not recorded.
    fn runtime(&mut self, tid: Tid, at: u64, ran: u64) {
        self.counts.runtime = true;
        let Some(follow) = self.threads.alive(tid).and_then(|id| self.follow(id)) else { return };
        let Now::Runs { cpu } = follow.now else { return };
        if std::mem::replace(&mut follow.measured, true) || !follow.mended {
            return;
        }
        let begin = follow.points.first().map_or(at, |point| point.at);
        let from = at.saturating_sub(ran).min(begin);
        let Cpu { switched, busy, .. } = *self.cpu(cpu);
        if let Some(follow) = self.threads.alive(tid).and_then(|id| self.follow(id)) {
            let runnable = match follow.start {
                Start::Woken { blocked, by: Source::Unseen, .. } => blocked,
                start => start.runnable().unwrap_or(0),
            };
            follow.from = from.max(switched).max(busy).max(runnable).min(at);
            if let Start::Woken { at, by: Source::Unseen, .. } = &mut follow.start {
                *at = follow.from;
            }
        }
    }

    fn forked(&mut self, here: Option<Id>, child: Tid, comm: &str, at: u64) {
        let id = self.threads.add(child, comm, here, at);
        if let Some(follow) = self.follow(id) {
            follow.now = Now::Queued { start: Start::Forked { at } };
        }
        let prio = here.and_then(|id| self.threads.get(id)).map_or(120, |parent| parent.prio);
        self.threads.get_mut(id).into_iter().for_each(|thread| thread.prio = prio);
        self.point(here, at, Did::Forked(id));
    }

    fn executed(&mut self, id: Id, at: u64, file: &str) {
        if let Some(thread) = self.threads.get_mut(id)
            && thread.file.is_none()
        {
            thread.file = Some(file.to_owned());
        }
        self.point(Some(id), at, Did::Executed);
    }
}
