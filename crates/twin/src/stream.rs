//! Events written by hand, for tests.

use crate::check::Followed;
use crate::event::{Event, Kind, Named, State, Tid};
use crate::follow::{End, Follower, Point, Sink, Start, Stint};
use crate::threads::{Id, Threads};

/// The idle thread.
pub(crate) const IDLE: Tid = 0;
/// A microsecond, in ns.
pub(crate) const US: u64 = 1_000;
/// A millisecond, in ns.
pub(crate) const MS: u64 = 1_000_000;
/// A wait of the most usual kind.
pub(crate) const S: State = State::Waits(b'S');

/// A stint with what it has.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Told {
    pub(crate) thread: Id,
    pub(crate) tid: Tid,
    pub(crate) cpu: u32,
    pub(crate) from: u64,
    pub(crate) to: u64,
    pub(crate) start: Start,
    pub(crate) end: End,
    pub(crate) idle: bool,
    pub(crate) mended: bool,
    pub(crate) points: Vec<Point>,
}

/// Events, as a recording would hold them.
#[derive(Default)]
pub(crate) struct Stream {
    pub(crate) events: Vec<Event<'static>>,
    /// The name of every thread that has no other one.
    pub(crate) comm: &'static str,
}

impl Stream {
    pub(crate) fn named(comm: &'static str) -> Self {
        Self { events: Vec::new(), comm }
    }

    pub(crate) fn who(&self, tid: Tid) -> Named<'static> {
        Named { tid, comm: if tid == IDLE { "swapper" } else { self.comm }, prio: 120 }
    }

    pub(crate) fn event(&mut self, at: u64, cpu: u32, tid: Tid, kind: Kind<'static>) -> &mut Self {
        let line = self.events.len() as u64 + 1;
        self.events.push(Event { at, cpu, tid, process: None, interrupt: None, kind, line });
        self
    }

    pub(crate) fn switch(&mut self, at: u64, cpu: u32, (prev, state): (Tid, State), next: Tid) -> &mut Self {
        let kind = Kind::Switch { prev: self.who(prev), state, next: self.who(next) };
        self.event(at, cpu, prev, kind)
    }

    /// From the idle thread to a thread.
    pub(crate) fn begin(&mut self, at: u64, cpu: u32, next: Tid) -> &mut Self {
        self.switch(at, cpu, (IDLE, State::Runnable), next)
    }

    /// A thread waits, and its cpu idles.
    pub(crate) fn wait(&mut self, at: u64, cpu: u32, prev: Tid) -> &mut Self {
        self.switch(at, cpu, (prev, S), IDLE)
    }

    /// A thread ends, and its cpu idles.
    pub(crate) fn end(&mut self, at: u64, cpu: u32, prev: Tid) -> &mut Self {
        self.switch(at, cpu, (prev, State::Ended), IDLE)
    }

    pub(crate) fn wake(&mut self, at: u64, cpu: u32, by: Tid, whom: Tid) -> &mut Self {
        self.event(at, cpu, by, Kind::Waking(self.who(whom)))
    }

    pub(crate) fn fork(&mut self, at: u64, cpu: u32, parent: Tid, child: Tid) -> &mut Self {
        self.event(at, cpu, parent, Kind::Fork { parent, child, comm: self.comm });
        self.event(at, cpu, parent, Kind::WakeupNew(self.who(child)))
    }

    pub(crate) fn exec(
        &mut self,
        at: u64,
        cpu: u32,
        (old, tid): (Tid, Tid),
        file: &'static str,
    ) -> &mut Self {
        self.event(at, cpu, tid, Kind::Exec { tid, old, file })
    }

    pub(crate) fn mark(
        &mut self,
        at: u64,
        cpu: u32,
        tid: Tid,
        name: &'static str,
        returns: bool,
    ) -> &mut Self {
        self.event(at, cpu, tid, Kind::Mark { name, returns })
    }

    pub(crate) fn runtime(&mut self, at: u64, cpu: u32, tid: Tid, ran: u64) -> &mut Self {
        self.event(at, cpu, tid, Kind::Runtime { tid, ran })
    }

    /// In order of time; events of one instant keep their order.
    pub(crate) fn sort(&mut self) -> &mut Self {
        self.events.sort_by_key(|event| event.at);
        self
    }

    /// Follows the events to their end, and keeps the stints too.
    pub(crate) fn follow(&self) -> (Followed, Vec<Told>) {
        let mut followed = Followed { form: "text of a test", ..Followed::default() };
        let mut told = Vec::new();
        let Followed { follower, courses, gather, .. } = &mut followed;
        let mut sink = |threads: &Threads, stint: &Stint<'_>| {
            courses.stint(stint);
            gather.stint(stint);
            told.push(Told {
                thread: stint.thread,
                tid: threads.get(stint.thread).map_or(IDLE, |thread| thread.tid),
                cpu: stint.cpu,
                from: stint.from,
                to: stint.to,
                start: stint.start,
                end: stint.end,
                idle: stint.idle,
                mended: stint.mended,
                points: stint.points.to_vec(),
            });
        };
        events(follower, &self.events, &mut sink);
        follower.done(&mut sink);
        (followed, told)
    }
}

fn events(follower: &mut Follower, events: &[Event<'_>], sink: Sink<'_>) {
    for event in events {
        follower.event(event, sink);
    }
}

/// Numbers that look random and are the same every time (xorshift).
pub(crate) struct Draw(pub(crate) u64);

impl Draw {
    /// Below a number.
    pub(crate) fn below(&mut self, most: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % most.max(1)
    }
}

/// Events without sense, in order of time: any thread anywhere.
pub(crate) fn chaos(seed: u64, events: u64) -> Stream {
    let mut draw = Draw(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
    let mut stream = Stream::named("a");
    let mut at = draw.below(5 * MS);
    for _ in 0..events {
        let jump = [0, 100, 20 * US, 2 * MS][draw.below(4) as usize];
        at += draw.below(jump + 1);
        let (cpu, tid, other) = (draw.below(3) as u32, draw.below(6) as Tid, draw.below(6) as Tid);
        let state = [State::Runnable, S, S, State::Ended][draw.below(4) as usize];
        let kind = match draw.below(16) {
            0..5 => Kind::Switch { prev: stream.who(tid), state, next: stream.who(other) },
            5..8 => Kind::Waking(stream.who(other)),
            8 => Kind::WakeupNew(stream.who(other)),
            9 => Kind::Runtime { tid, ran: draw.below(3 * MS) },
            10 => Kind::Fork { parent: tid, child: other.max(1), comm: "b" },
            11 => Kind::Exec { tid, old: other, file: "/bin/c" },
            12 => Kind::Exit { tid },
            13 => Kind::TimerStart { timer: draw.below(3), expires: at + draw.below(MS), relative: None },
            14 => Kind::TimerExpire { timer: draw.below(3) },
            _ => match draw.below(4) {
                0 => Kind::SoftirqEntry(draw.below(4) as u32),
                1 => Kind::IrqEntry,
                2 => Kind::Yield,
                _ => Kind::Mark { name: ["ar", "w_in"][draw.below(2) as usize], returns: draw.below(2) == 1 },
            },
        };
        stream.event(at, cpu, tid, kind);
    }
    stream
}
