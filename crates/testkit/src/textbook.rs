//! A plain textbook simulator of the benchmark's job: a binary heap of boxed closures, an event per poll and
//! one per timer tick.
//!
//! It is what one would write in an afternoon: nothing is worked out ahead. It knows only what the job needs
//! (pinned tasks, yields that go behind all others, one central barrier, the prices of polls, yields and
//! switches), and then gives the same makespan as the kernel, to the nanosecond. The model ([`World`]) is
//! apart from the queue of events, so that other engines can be put under it.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

use sim_core::machine::{Costs, Machine};
use sim_core::program::Spread;
use sim_core::rng::{Purpose, draw, key};
use sim_core::time::{Span, Speed, Work};

use crate::job::Job;

/// What happens on a cpu.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Happening {
    /// Its task has computed.
    Computed(u32),
    /// Its task has looked at the flag.
    Polled(u32),
    /// The timer ticks.
    Tick(u32),
}

/// What a task does when it next has its cpu.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Next {
    Compute,
    Poll,
}

struct Task {
    noise: u64,
    draws: u64,
    left: u32,
    next: Next,
    /// The barrier episode it waits for.
    episode: u32,
}

#[derive(Default)]
struct Cpu {
    current: Option<u32>,
    queue: VecDeque<u32>,
    /// When its current task got it, nanoseconds.
    since: u64,
}

/// The machine, the tasks and their barrier. Times are nanoseconds.
pub struct World {
    poll: u64,
    yield_call: u64,
    switch: u64,
    line: u64,
    tick: u64,
    slice: u64,
    /// False: waiting costs nothing, neither events nor time. Waiters leave and come back when all have
    /// arrived.
    polls: bool,
    work: Work,
    spread: Spread,
    tasks: Vec<Task>,
    cpus: Vec<Cpu>,
    arrived: usize,
    episode: u32,
    /// When the last release is seen, and until when the counter's line is taken.
    released: u64,
    line_free: u64,
    alive: usize,
    /// Polls and slices checked, for whoever wants to know how much happened.
    pub polled: u64,
    /// Ticks at which a slice was used up; none at this grain.
    pub expired: u64,
}

/// A machine on which only polls, yields and switches between threads cost anything: what [`World`] knows.
#[must_use]
pub fn plain(base: &Machine) -> Machine {
    let Costs { poll, yield_call, switch_thread, .. } = base.costs;
    let costs = Costs { poll, yield_call, switch_thread, ..Costs::free() };
    Machine { costs, ..base.clone() }
}

impl World {
    /// The job on such a machine; `polls` as the field says. The first events are handed to `schedule`.
    pub fn new(
        job: &Job,
        base: &Machine,
        seed: u64,
        polls: bool,
        schedule: &mut impl FnMut(u64, Happening),
    ) -> Self {
        let costs = &base.costs;
        let count = job.cpus * job.tasks_per_cpu;
        let task = |id: u32| Task {
            noise: key(seed, Purpose::WorkNoise, u64::from(id)),
            draws: 0,
            left: job.intervals,
            next: Next::Compute,
            episode: 0,
        };
        let cpu =
            |cpu: u32| Cpu { queue: (cpu..count).step_by(job.cpus as usize).collect(), ..Cpu::default() };
        let mut world = Self {
            poll: costs.poll.ns(),
            yield_call: costs.yield_call.ns(),
            switch: if polls { costs.switch_thread.ns() } else { 0 },
            line: 1,
            tick: Span::from_ms(1).ns(),
            slice: Span::from_ms(20).ns(),
            polls,
            work: Work::from_span(job.grain),
            spread: job.spread,
            tasks: (0..count).map(task).collect(),
            cpus: (0..job.cpus).map(cpu).collect(),
            arrived: 0,
            episode: 0,
            released: 0,
            line_free: 0,
            alive: count as usize,
            polled: 0,
            expired: 0,
        };
        for cpu in 0..job.cpus {
            world.dispatch(0, cpu, schedule);
            if polls {
                schedule(world.tick * (1 + u64::from(cpu)) / (2 * u64::from(job.cpus)), Happening::Tick(cpu));
            }
        }
        world
    }

    /// Lets something happen; what follows from it goes to `schedule`.
    pub fn fire(&mut self, now: u64, what: Happening, schedule: &mut impl FnMut(u64, Happening)) {
        match what {
            Happening::Computed(cpu) => self.arrive(now, cpu, schedule),
            Happening::Polled(cpu) => self.look(now, cpu, schedule),
            Happening::Tick(cpu) => {
                let record = &self.cpus[cpu as usize];
                let over = now.saturating_sub(record.since) > self.slice && !record.queue.is_empty();
                self.expired += u64::from(over);
                if self.alive > 0 {
                    schedule(now + self.tick, Happening::Tick(cpu));
                }
            }
        }
    }

    /// The head of the queue gets the cpu.
    fn dispatch(&mut self, now: u64, cpu: u32, schedule: &mut impl FnMut(u64, Happening)) {
        let record = &mut self.cpus[cpu as usize];
        let last = record.current.take();
        let Some(task) = record.queue.pop_front() else { return };
        record.current = Some(task);
        record.since = now;
        let at = now + if last == Some(task) { 0 } else { self.switch };
        match self.tasks[task as usize].next {
            Next::Compute => self.compute(at, cpu, task, schedule),
            Next::Poll => schedule(at + self.poll, Happening::Polled(cpu)),
        }
    }

    fn compute(&mut self, at: u64, cpu: u32, task: u32, schedule: &mut impl FnMut(u64, Happening)) {
        let record = &mut self.tasks[task as usize];
        record.draws += 1;
        let raw = self.spread.apply(self.work.raw(), draw(record.noise, record.draws));
        schedule(at + Work::from_raw(raw).duration_at(Speed::NOMINAL).ns(), Happening::Computed(cpu));
    }

    fn arrive(&mut self, now: u64, cpu: u32, schedule: &mut impl FnMut(u64, Happening)) {
        let Some(task) = self.cpus[cpu as usize].current else { return };
        let done = now.max(self.line_free) + self.line;
        self.line_free = done;
        self.arrived += 1;
        let record = &mut self.tasks[task as usize];
        record.episode = self.episode;
        record.next = Next::Poll;
        let all = self.arrived == self.tasks.len();
        if all {
            self.arrived = 0;
            self.episode += 1;
            self.released = done + self.line;
        }
        match (all, self.polls) {
            // Who comes last looks at the flag, too.
            (_, true) => schedule(done + self.poll, Happening::Polled(cpu)),
            (false, false) => self.dispatch(now, cpu, schedule),
            (true, false) => self.release(now, schedule),
        }
    }

    /// Without polls: everybody goes on at once, in the order of ranks.
    fn release(&mut self, now: u64, schedule: &mut impl FnMut(u64, Happening)) {
        let cpus = self.cpus.len();
        for task in 0..self.tasks.len() {
            let record = &mut self.tasks[task];
            record.left -= 1;
            record.next = Next::Compute;
            if record.left > 0 {
                self.cpus[task % cpus].queue.push_back(task as u32);
            } else {
                self.alive -= 1;
            }
        }
        (0..cpus as u32).for_each(|cpu| self.dispatch(now, cpu, schedule));
    }

    /// A look at the flag has ended.
    fn look(&mut self, now: u64, cpu: u32, schedule: &mut impl FnMut(u64, Happening)) {
        self.polled += 1;
        let Some(task) = self.cpus[cpu as usize].current else { return };
        let seen = self.tasks[task as usize].episode < self.episode && now >= self.released;
        if seen {
            self.proceed(now, cpu, task, schedule);
        } else {
            self.cpus[cpu as usize].queue.push_back(task);
            self.dispatch(now + self.yield_call, cpu, schedule);
        }
    }

    /// A task is past the barrier: on to the next interval, or out.
    fn proceed(&mut self, now: u64, cpu: u32, task: u32, schedule: &mut impl FnMut(u64, Happening)) {
        let record = &mut self.tasks[task as usize];
        record.left -= 1;
        if record.left > 0 {
            self.compute(now, cpu, task, schedule);
        } else {
            self.alive -= 1;
            self.dispatch(now, cpu, schedule);
        }
    }

    /// True when all tasks have ended.
    #[must_use]
    pub const fn is_over(&self) -> bool {
        self.alive == 0
    }
}

type Closure = Box<dyn FnOnce(&mut World, &mut Queue, u64)>;

struct Event {
    /// Instant, then order of scheduling.
    key: Reverse<(u64, u64)>,
    what: Closure,
}

impl PartialEq for Event {
    fn eq(&self, other: &Self) -> bool {
        self.key == other.key
    }
}

impl Eq for Event {}

impl PartialOrd for Event {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Event {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.key.cmp(&other.key)
    }
}

#[derive(Default)]
struct Queue {
    heap: BinaryHeap<Event>,
    scheduled: u64,
}

impl Queue {
    fn schedule(&mut self, at: u64, what: Happening) {
        self.scheduled += 1;
        let fire = move |world: &mut World, queue: &mut Self, now: u64| {
            world.fire(now, what, &mut |at, what| queue.schedule(at, what));
        };
        self.heap.push(Event { key: Reverse((at, self.scheduled)), what: Box::new(fire) });
    }
}

/// Runs the job to its end: the makespan in nanoseconds and the number of events.
#[must_use]
pub fn run(job: &Job, base: &Machine, seed: u64, polls: bool) -> (u64, u64) {
    let mut queue = Queue::default();
    let mut world = World::new(job, base, seed, polls, &mut |at, what| queue.schedule(at, what));
    let mut now = 0;
    while !world.is_over() {
        let Some(event) = queue.heap.pop() else { break };
        now = event.key.0.0;
        (event.what)(&mut world, &mut queue, now);
    }
    (now, queue.scheduled)
}
