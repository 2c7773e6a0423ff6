//! Who ran when. A recording misses events (most switches from the idle thread on some hosts), and wakes can
//! precede the switch of the sleeper; here each is mended and counted.

use std::collections::BTreeMap;

use crate::event::{Event, Kind, Named, State, Tid, UNKNOWN};
use crate::threads::{Id, Threads};

/// A wake-up so soon after a timer expired on the same cpu is the timer's, where the file does not say which
/// events are in interrupts, in ns.
const TIMER_LASTS: u64 = 10_000;
/// A thread that is woken on its way to wait gives up its cpu within this time of its own, in ns; otherwise it
/// did not wait.
const ON_ITS_WAY: u64 = 50_000;
/// From the start of a timer until its sleeper gives up its cpu, and from its end until it wakes, at most, in ns.
const ARMED: u64 = 1_000_000;
/// Most points of one stint that are kept.
const MOST_POINTS: usize = 1 << 20;
/// NET_RX and NET_TX: a message over the loopback is delivered there by its sender (`net/core/dev.c`).
const NET: [u32; 2] = [2, 3];

/// One uninterrupted run of a thread on a cpu.
#[derive(Clone, Copy, Debug)]
pub struct Stint<'a> {
    /// Whose.
    pub thread: Id,
    /// Where.
    pub cpu: u32,
    /// From when, in ns.
    pub from: u64,
    /// To when, in ns.
    pub to: u64,
    /// How it began.
    pub start: Start,
    /// How it ended.
    pub end: End,
    /// The cpu was idle before.
    pub idle: bool,
    /// Its beginning was not recorded, and no cpu time says when it was.
    pub mended: bool,
    /// What it did meanwhile, in order.
    pub points: &'a [Point],
}

/// How a stint began.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Start {
    /// Nothing before it is known.
    First,
    /// It was forked.
    Forked {
        /// When it could run, in ns.
        at: u64,
    },
    /// It had been pre-empted, or had yielded.
    Resumed {
        /// When, in ns.
        since: u64,
    },
    /// It had waited.
    Woken {
        /// Since when it had waited, in ns.
        blocked: u64,
        /// When it could run again, in ns.
        at: u64,
        /// By what.
        by: Source,
    },
}

impl Start {
    /// When the thread could have run, in ns.
    #[must_use]
    pub const fn runnable(self) -> Option<u64> {
        match self {
            Self::First => None,
            Self::Forked { at } | Self::Woken { at, .. } => Some(at),
            Self::Resumed { since } => Some(since),
        }
    }
}

/// What ended a wait.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Source {
    /// Another thread, on this cpu.
    Thread(Id),
    /// A timer that the sleeper had started itself.
    Timer(Timer),
    /// An interrupt, or the idle thread: a device, or a message from elsewhere.
    Interrupt,
    /// The wake-up was not recorded.
    Unseen,
    /// A wake-up that came before the thread had given up its cpu: [`Point::Raced`] says whose.
    Raced,
}

/// What a sleeper asked its timer for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Timer {
    /// When it asked, in ns.
    pub asked: u64,
    /// For which instant, in ns.
    pub expires: u64,
    /// It asked for a length. Nothing where the file does not say it.
    pub relative: Option<bool>,
}

/// How a stint ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum End {
    /// It was pre-empted.
    Preempted,
    /// It called `sched_yield`.
    Yielded,
    /// It waits, in the state of this letter.
    Blocked(u8),
    /// It has ended.
    Exited,
    /// The recording ended.
    Cut,
}

/// Something that a thread did while it ran.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Point {
    /// When, in ns.
    pub at: u64,
    /// What.
    pub did: Did,
}

/// What a thread did.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Did {
    /// It woke a thread that waited, or was about to.
    Woke {
        /// Whom.
        whom: Id,
        /// That thread had waited; otherwise it was still on its way.
        waited: bool,
    },
    /// It was on its way to wait when a thread woke it.
    Raced(Id),
    /// It was on its way to wait when an interrupt woke it.
    RacedInterrupt,
    /// It forked a thread.
    Forked(Id),
    /// It executed another program.
    Executed,
    /// It entered (`false`) or left (`true`) a marked function.
    Marked(u32, bool),
}

/// What was mended and counted.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Counts {
    /// Events.
    pub events: u64,
    /// Switches that were recorded.
    pub switches: u64,
    /// Switches that were not.
    pub missing: u64,
    /// Wake-ups that were recorded.
    pub wakes: u64,
    /// Waits that ended without one.
    pub unseen: u64,
    /// Wake-ups that preceded the switch of the sleeper.
    pub early: u64,
    /// Events that the recorder lost.
    pub lost: u64,
    /// The file has `sched_waking`, otherwise `sched_wakeup` stands for it.
    pub waking: bool,
    /// The file has `sched_stat_runtime`.
    pub runtime: bool,
}

/// What a thread does at present.
#[derive(Clone, Copy, PartialEq, Debug)]
enum Now {
    Unknown,
    Runs { cpu: u32 },
    Queued { start: Start },
    Waits { since: u64 },
    /// Its cpu went to another thread unseen: it was pre-empted, or it waits.
    Gone { since: u64 },
}

#[derive(Debug)]
struct Follow {
    now: Now,
    /// Beginning of the stint.
    from: u64,
    start: Start,
    mended: bool,
    idle: bool,
    /// A `sched_stat_runtime` of this stint has come.
    measured: bool,
    points: Vec<Point>,
    timer: Option<(u64, Timer)>,
    /// The last timer that expired for it, and when.
    fired: Option<(u64, Timer)>,
    /// When it was woken before it gave up its cpu, in ns.
    early: Option<u64>,
    /// When it last called `sched_yield`, in ns.
    yielded: Option<u64>,
    /// `sched_process_exit` has come.
    leaving: bool,
}

impl Follow {
    const fn new() -> Self {
        Self {
            now: Now::Unknown,
            from: 0,
            start: Start::First,
            mended: false,
            idle: false,
            measured: false,
            points: Vec::new(),
            timer: None,
            fired: None,
            early: None,
            yielded: None,
            leaving: false,
        }
    }

    /// The timer that the thread had started before it waited and that expired in the meantime: one that is on
    /// the clock of the recording.
    fn armed(&self, since: u64, now: u64) -> Option<Timer> {
        let (_, timer) = self.timer?;
        let asked = timer.asked <= since && since - timer.asked <= ARMED;
        Some(timer).filter(|timer| asked && (since..=now).contains(&timer.expires))
    }
}

#[derive(Clone, Copy, Default, Debug)]
struct Cpu {
    /// Who runs: nobody known, the idle thread, or a thread.
    runs: Option<Option<Id>>,
    /// The last event.
    last: u64,
    /// The last switch.
    switched: u64,
    seen: bool,
    interrupts: u32,
    softirq: Option<u32>,
    /// The last timer that expired.
    expired: Option<u64>,
}

/// Follows the events of a recording.
#[derive(Debug)]
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

impl Default for Follower {
    fn default() -> Self {
        Self {
            threads: Threads::default(),
            counts: Counts::default(),
            marks: Vec::new(),
            numbers: BTreeMap::new(),
            follows: Vec::new(),
            cpus: Vec::new(),
            timers: BTreeMap::new(),
            first: None,
            last: 0,
        }
    }
}

impl Follower {
    /// Takes an event.
    pub fn event(&mut self, event: &Event<'_>, sink: Sink<'_>) {
        self.counts.events += 1;
        self.first.get_or_insert(event.at);
        self.last = self.last.max(event.at);
        if let Kind::Lost(lost) = event.kind {
            self.counts.lost += lost;
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
            Kind::IrqEntry => self.cpu(event.cpu).interrupts += 1,
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
        let place = number as usize;
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
        let mut from = if known.seen { known.last } else { first };
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
                    Some(timer) => Start::Woken { blocked: since, at: timer.expires, by: Source::Timer(timer) },
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
            for point in &mut follow.points {
                point.at = point.at.max(from);
            }
        }
        self.counts.unseen += unseen;
    }

    /// A stint ends.
    fn close(&mut self, id: Id, at: u64, end: End, sink: Sink<'_>) {
        let Some(follow) = self.follow(id) else { return };
        let Now::Runs { cpu } = follow.now else { return };
        let end = match end {
            End::Preempted if follow.yielded.is_some_and(|yielded| at.saturating_sub(yielded) < ON_ITS_WAY) => {
                End::Yielded
            }
            other => other,
        };
        let raced = follow.early.take().is_some_and(|early| at.saturating_sub(early.max(follow.from)) < ON_ITS_WAY);
        follow.now = match end {
            End::Blocked(_) if raced => {
                Now::Queued { start: Start::Woken { blocked: at, at, by: Source::Raced } }
            }
            End::Blocked(_) => Now::Waits { since: at },
            _ => Now::Queued { start: Start::Resumed { since: at } },
        };
        let points = std::mem::take(&mut follow.points);
        let stint = Stint {
            thread: id,
            cpu,
            from: follow.from.min(at),
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
        let mut points = points;
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
                let raced = if let Source::Thread(waker) = by { Did::Raced(waker) } else { Did::RacedInterrupt };
                follow.points.push(Point { at, did: raced });
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
        let switched = self.cpu(cpu).switched;
        if let Some(follow) = self.threads.alive(tid).and_then(|id| self.follow(id)) {
            let runnable = match follow.start {
                Start::Woken { blocked, by: Source::Unseen, .. } => blocked,
                start => start.runnable().unwrap_or(0),
            };
            follow.from = from.max(switched).max(runnable).min(at);
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
