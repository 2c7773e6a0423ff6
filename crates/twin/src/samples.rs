//! Recordings of small programs, written by hand, for tests.

use std::collections::{BTreeSet, VecDeque};

use crate::event::{Kind, State, Tid};
use crate::stream::{Draw, IDLE, MS, S, Stream, US};

/// Four threads on a cpu each do ten regions of 1.0, 1.1, 1.2 and 1.3 ms, with 0.5 ms of the first one alone
/// behind each. It starts them one after the other within 20 us; the last one wakes the others.
pub(crate) fn team_of_sleepers() -> Stream {
    let mut stream = Stream::named("omp");
    stream.begin(0, 0, 10).exec(5 * US, 0, (10, 10), "/bin/omp");
    for (thread, at) in [(1, 10), (2, 12), (3, 14)] {
        stream.fork(at * US, 0, 10, 10 + thread).begin((at + 1) * US, thread, 10 + thread);
        stream.wait((at + 2) * US, thread, 10 + thread);
    }
    for region in 0..10 {
        let at = |us: u64| MS + (region * 1_823 + us) * US;
        for (thread, us) in [(1, 0), (2, 10), (3, 20)] {
            stream.wake(at(us), 0, 10, 10 + thread).begin(at(us + 1), thread, 10 + thread);
        }
        stream.wait(at(1_000), 0, 10).wait(at(1_101), 1, 11).wait(at(1_211), 2, 12);
        for (thread, us) in [(0, 1_321), (1, 1_322), (2, 1_323)] {
            stream.wake(at(us), 3, 13, 10 + thread).begin(at(us + 2), thread, 10 + thread);
        }
        stream.wait(at(1_330), 3, 13).wait(at(1_329), 1, 11).wait(at(1_330), 2, 12);
    }
    stream.end(MS + 18_230 * US, 0, 10);
    stream.sort();
    stream
}

/// Four threads that never sleep enter a marked function ten times, for 1.0, 1.1, 1.2 and 1.3 ms; the first
/// one computes for 0.2 ms when all have left it.
pub(crate) fn team_of_pollers() -> Stream {
    let mut stream = Stream::named("omp");
    stream.begin(0, 0, 10).exec(5 * US, 0, (10, 10), "/bin/omp");
    for thread in 1..4 {
        stream.fork(10 * US, 0, 10, 10 + thread).begin(11 * US, thread, 10 + thread);
    }
    for region in 0..10 {
        for thread in 0..4 {
            let at = |us: u64| MS + (region * 1_500 + us) * US;
            stream.mark(at(0), thread, 10 + thread, "w_in", false);
            stream.mark(at(1_000 + 100 * u64::from(thread)), thread, 10 + thread, "w_out", true);
        }
    }
    for thread in 0..4 {
        stream.end(16 * MS, thread, 10 + thread);
    }
    stream.sort();
    stream
}

/// Two ranks call `allreduce` twenty times behind 1.0 and 1.1 ms of work, and poll in it.
pub(crate) fn ranks() -> Stream {
    let mut stream = Stream::named("mpi");
    stream.begin(0, 0, 20).exec(5 * US, 0, (20, 20), "/bin/mpirun").fork(10 * US, 0, 20, 21).fork(
        12 * US,
        0,
        20,
        22,
    );
    stream.switch(20 * US, 0, (20, S), 21).begin(20 * US, 1, 22);
    for call in 0..20 {
        for (cpu, work) in [(0, 1_000), (1, 1_100)] {
            let at = |us: u64| (20 + call * 1_110 + us) * US;
            stream.mark(at(work), cpu, 21 + cpu, "ar", false).mark(at(1_110), cpu, 21 + cpu, "ar", true);
        }
    }
    let end = (20 + 20 * 1_110) * US;
    stream.wake(end + 9 * US, 1, 22, 20).end(end + 10 * US, 0, 21).end(end + 10 * US, 1, 22);
    stream.begin(end + 20 * US, 0, 20).end(end + 40 * US, 0, 20);
    stream.sort();
    stream
}

/// A thread that starts five jobs, at most two at once: the third when the first has ended, the fifth when
/// all have. The unit of the numbers is 20 us.
pub(crate) fn jobs() -> Stream {
    let at = |units: u64| units * 20 * US;
    let mut stream = Stream::named("make");
    stream.begin(0, 0, 30).exec(at(5), 0, (30, 30), "/bin/make");
    // When it is forked, has its cpu, has executed, and has ended.
    let jobs = [
        (31, 1, [100, 120, 150, 1_000]),
        (32, 2, [200, 230, 260, 2_000]),
        (33, 1, [1_100, 1_120, 1_150, 3_000]),
        (34, 2, [2_100, 2_120, 2_130, 2_500]),
        (35, 1, [3_100, 3_120, 3_130, 4_000]),
    ];
    for (job, cpu, [forked, begins, executes, ends]) in jobs {
        stream.fork(at(forked), 0, 30, job).begin(at(begins), cpu, job);
        stream.exec(at(executes), cpu, (job, job), "/bin/cc").wake(at(ends - 1), cpu, job, 30);
        stream.end(at(ends), cpu, job);
    }
    for (sleeps, wakes) in [(210, 1_001), (1_110, 2_001), (2_110, 2_501), (2_510, 3_001), (3_110, 4_001)] {
        stream.wait(at(sleeps), 0, 30).begin(at(wakes), 0, 30);
    }
    stream.end(at(4_100), 0, 30);
    stream.sort();
    stream
}

/// Two threads on a cpu each wake each other in turns: 3 us behind a wait, then a wake-up, 15 us, and the
/// wait; the other one has its cpu 5 us after the wake-up.
pub(crate) fn ping_pong(turns: u64) -> Stream {
    let mut stream = Stream::named("pong");
    stream.begin(0, 0, 40).wait(US, 0, 40).begin(0, 1, 41);
    for turn in 0..turns {
        let at = |us: u64| (3 + turn * 8 + us) * US;
        let (by, whom) = if turn % 2 == 0 { (1, 0) } else { (0, 1) };
        stream.wake(at(0), by, 40 + by, 40 + whom).begin(at(5), whom, 40 + whom);
        // It has its cpu for 15 us more; the next turn of the other one begins meanwhile.
        stream.wait(at(7), by, 40 + by);
    }
    stream.sort();
    stream
}

/// A thread that computes for 1 ms in every 10 ms and sleeps until the instant, forty times, on the clock.
pub(crate) fn periodic() -> Stream {
    let mut stream = Stream::named("tick");
    stream.begin(0, 0, 50);
    for turn in 1..=40 {
        let start = Kind::TimerStart { timer: 7, expires: turn * 10 * MS, relative: Some(false) };
        let late = if turn == 1 { 0 } else { 10 * US };
        let sleeps = (turn - 1) * 10 * MS + MS + late;
        stream.event(sleeps - US, 0, 50, start).wait(sleeps, 0, 50);
        stream.event(turn * 10 * MS, 0, IDLE, Kind::TimerExpire { timer: 7 }).wake(
            turn * 10 * MS,
            0,
            IDLE,
            50,
        );
        stream.begin(turn * 10 * MS + 10 * US, 0, 50);
    }
    stream.switch(401 * MS, 0, (50, State::Runnable), IDLE as Tid);
    stream
}

/// What a thread of a random program does next.
#[derive(Clone, Copy)]
enum Op {
    Run(u64),
    Sleep(u64),
    Lock,
    Unlock,
    Barrier,
    Send,
    Receive,
}

/// Threads on a cpu each with a lock, a barrier and a queue between them.
struct Machine {
    stream: Stream,
    programs: Vec<VecDeque<Op>>,
    ready: BTreeSet<(u64, u32)>,
    taken: bool,
    lockers: VecDeque<u32>,
    arrived: Vec<u32>,
    sent: u64,
    receiver: Option<u32>,
}

impl Machine {
    /// A thread wakes another one, which has its cpu 2 us later.
    fn wake(&mut self, at: u64, by: u32, whom: u32) {
        self.stream.wake(at, by, 60 + by, 60 + whom).begin(at + 2 * US, whom, 60 + whom);
        self.ready.insert((at + 2 * US, whom));
    }

    /// Does one operation.
    fn step(&mut self, at: u64, thread: u32) {
        let Some(op) = self.programs[thread as usize].pop_front() else {
            self.stream.end(at, thread, 60 + thread);
            return;
        };
        let waits = match op {
            Op::Run(length) => {
                self.ready.insert((at + length, thread));
                return;
            }
            Op::Sleep(length) => {
                let kind =
                    Kind::TimerStart { timer: thread.into(), expires: at + length, relative: Some(true) };
                let then = at + length + US;
                self.stream.event(at, thread, 60 + thread, kind).wait(at, thread, 60 + thread);
                self.stream.event(at + length, thread, IDLE, Kind::TimerExpire { timer: thread.into() });
                self.stream.wake(at + length, thread, IDLE, 60 + thread).begin(then, thread, 60 + thread);
                self.ready.insert((then, thread));
                return;
            }
            Op::Lock if self.taken => {
                self.lockers.push_back(thread);
                true
            }
            Op::Lock => std::mem::replace(&mut self.taken, true),
            Op::Unlock => {
                match self.lockers.pop_front() {
                    Some(next) => self.wake(at, thread, next),
                    None => self.taken = false,
                }
                false
            }
            Op::Barrier if self.arrived.len() + 1 < self.programs.len() => {
                self.arrived.push(thread);
                true
            }
            Op::Barrier => {
                std::mem::take(&mut self.arrived).into_iter().for_each(|other| self.wake(at, thread, other));
                false
            }
            Op::Send => {
                match self.receiver.take() {
                    Some(other) => self.wake(at, thread, other),
                    None => self.sent += 1,
                }
                false
            }
            Op::Receive if self.sent == 0 => {
                self.receiver = Some(thread);
                true
            }
            Op::Receive => {
                self.sent -= 1;
                false
            }
        };
        if waits {
            self.stream.wait(at, thread, 60 + thread);
        } else {
            self.ready.insert((at, thread));
        }
    }
}

/// A run of a program of two to four threads: a pipeline, a lock, regions with a barrier, or sleeps.
pub(crate) fn random_program(seed: u64) -> Stream {
    let mut draw = Draw(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
    let what = draw.below(4);
    let threads = if what == 0 { 2 } else { 2 + draw.below(3) as u32 };
    let (turns, long, varies) = (4 + draw.below(40), 200 + draw.below(900), 1 + draw.below(400));
    let mut stream = Stream::named("any");
    stream.begin(0, 0, 60).exec(US, 0, (60, 60), "/bin/any");
    let mut ready = BTreeSet::from([(10 * US, 0)]);
    for thread in 1..threads {
        stream.fork(2 * US, 0, 60, 60 + thread).begin(5 * US, thread, 60 + thread);
        ready.insert((5 * US, thread));
    }
    let mut turn = |thread: u32| {
        let run = Op::Run((long + draw.below(varies)) * US);
        match (what, thread) {
            (0, 0) => vec![run, Op::Send],
            (0, _) => vec![Op::Receive, run],
            (1, _) => vec![run, Op::Lock, Op::Run(100 * US), Op::Unlock],
            (2, _) => vec![run, Op::Barrier],
            _ => vec![run, Op::Sleep(300 * US)],
        }
    };
    let programs = (0..threads).map(|thread| (0..turns).flat_map(|_| turn(thread)).collect()).collect();
    let mut machine = Machine {
        stream,
        programs,
        ready,
        taken: false,
        lockers: VecDeque::new(),
        arrived: Vec::new(),
        sent: 0,
        receiver: None,
    };
    while let Some((at, thread)) = machine.ready.pop_first() {
        machine.step(at, thread);
    }
    machine.stream.sort();
    machine.stream
}
