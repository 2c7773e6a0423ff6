//! A probe of what a scheduler costs: virtual run times, a queue per cpu, slices, switches and polls worked
//! out ahead; but no memory contention, no accounts, no observers, no policy. On a machine where nothing else
//! costs anything it is the kernel's schedule to the nanosecond.

use sim_core::os::CfsParams;

use super::{Grain, Prices, Sum, Tree, noise};
use crate::job::Job;

/// No task: the end of a queue.
const NOBODY: u32 = u32::MAX;
/// What an arrival at the barrier takes of the line of its counter, and what its release takes, nanoseconds
/// (as in the kernel, where a transfer of a line takes at least that).
const LINE: u64 = 1;

/// What a cpu's current task does next.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Phase {
    Begins,
    Computes,
}

/// A cpu. One cache line.
#[derive(Clone, Copy)]
#[repr(align(64))]
struct Cpu {
    /// The queue by virtual run time.
    head: u32,
    tail: u32,
    current: u32,
    /// Tasks that are left, the current one included, and how many of them wait.
    alive: u32,
    waiting: u32,
    phase: Phase,
    since: u64,
    slice_end: u64,
    /// When whoever arrived last looked at the flag.
    looked: u64,
}

/// A task. One cache line.
#[derive(Clone, Copy)]
#[repr(align(64))]
struct Task {
    noise: u64,
    vruntime: u64,
    /// Of its present computation, nanoseconds.
    remaining: u64,
    draws: u32,
    left: u32,
    next: u32,
    /// The barrier that it waits for.
    episode: u32,
    waits: bool,
}

/// The job under a fair scheduler.
#[derive(Clone)]
pub struct Probe {
    grain: Grain,
    poll: u64,
    yield_call: u64,
    switch: u64,
    latency: u64,
    granularity: u64,
    cpus: Vec<Cpu>,
    tasks: Vec<Task>,
    arrived: usize,
    episode: u32,
    line_free: u64,
    released: u64,
    sum: Sum,
}

impl Probe {
    /// The job, ready to go, under CFS of Linux 2.6.28.
    #[must_use]
    pub fn new(job: &Job, seed: u64, prices: Prices) -> Self {
        let (count, params) = (job.cpus * job.tasks_per_cpu, CfsParams::scaled(job.cpus));
        let task = |id: u32| Task {
            noise: noise(seed, id),
            vruntime: 0,
            remaining: 0,
            draws: 0,
            left: job.intervals,
            next: if id + job.cpus < count { id + job.cpus } else { NOBODY },
            episode: 0,
            waits: false,
        };
        let cpu = |id: u32| Cpu {
            head: id,
            tail: count - job.cpus + id,
            current: NOBODY,
            alive: job.tasks_per_cpu,
            waiting: 0,
            phase: Phase::Begins,
            since: 0,
            slice_end: 0,
            looked: 0,
        };
        Self {
            grain: Grain::of(job),
            poll: prices.poll.ns(),
            yield_call: prices.yield_call.ns(),
            switch: prices.switch.ns(),
            latency: params.latency.ns(),
            granularity: params.min_granularity.ns(),
            cpus: (0..job.cpus).map(cpu).collect(),
            tasks: (0..count).map(task).collect(),
            arrived: 0,
            episode: 0,
            line_free: 0,
            released: 0,
            sum: Sum::NONE,
        }
    }

    /// Runs to the end.
    #[must_use]
    pub fn run(mut self) -> Sum {
        let mut tree = Tree::new(self.cpus.len() as u32);
        (0..self.cpus.len() as u32).for_each(|cpu| self.go_on(&mut tree, cpu, 0));
        while let Some((now, cpu)) = tree.first() {
            self.sum.events += 1;
            if self.cpus[cpu as usize].phase == Phase::Begins {
                self.begin(&mut tree, cpu, now);
            } else if now < self.cpus[cpu as usize].since + self.task(cpu).remaining {
                self.expire(&mut tree, cpu, now);
            } else {
                self.arrive(&mut tree, cpu, now);
            }
        }
        self.sum
    }

    /// The current task of a cpu.
    #[inline]
    fn task(&mut self, cpu: u32) -> &mut Task {
        &mut self.tasks[self.cpus[cpu as usize].current as usize]
    }

    /// The current task computes, until it is done or its slice is over.
    #[inline]
    fn begin(&mut self, tree: &mut Tree, cpu: u32, now: u64) {
        let record = &mut self.cpus[cpu as usize];
        let task = &mut self.tasks[record.current as usize];
        if task.remaining == 0 {
            task.draws += 1;
            task.remaining = self.grain.length(task.noise, task.draws);
        }
        record.phase = Phase::Computes;
        record.since = now;
        let slice = (self.latency / u64::from(record.alive)).max(self.granularity);
        record.slice_end = if record.alive == 1 { u64::MAX } else { now + slice };
        tree.arm(cpu, record.slice_end.min(now + task.remaining));
    }

    /// A slice is over: back to the queue.
    #[cold]
    fn expire(&mut self, tree: &mut Tree, cpu: u32, now: u64) {
        let done = now - self.cpus[cpu as usize].since;
        let task = self.task(cpu);
        task.remaining -= done;
        task.vruntime += done;
        self.queue(cpu);
        self.go_on(tree, cpu, now);
    }

    /// The current task has computed and comes to the barrier, looks at the flag, and yields behind all
    /// others.
    #[inline]
    fn arrive(&mut self, tree: &mut Tree, cpu: u32, now: u64) {
        self.sum.step(now, cpu);
        let done = now.max(self.line_free) + LINE;
        self.line_free = done;
        self.arrived += 1;
        let (episode, looked) = (self.episode, done + self.poll);
        let task = self.task(cpu);
        task.vruntime += std::mem::take(&mut task.remaining);
        (task.episode, task.waits) = (episode, true);
        self.rotate_in(cpu);
        let record = &mut self.cpus[cpu as usize];
        record.waiting += 1;
        if record.waiting < record.alive {
            self.go_on(tree, cpu, looked + self.yield_call);
        } else {
            record.looked = looked;
            tree.disarm(cpu);
        }
        if self.arrived == self.tasks.len() {
            self.arrived = 0;
            self.episode += 1;
            self.released = done + LINE;
            (0..self.cpus.len() as u32).for_each(|cpu| self.release(tree, cpu));
        }
    }

    /// All tasks of a cpu poll in turn: who sees the release first, and when.
    #[inline]
    fn release(&mut self, tree: &mut Tree, cpu: u32) {
        let record = &mut self.cpus[cpu as usize];
        let others = u64::from(record.alive - 1);
        let cycle = self.yield_call + self.poll + if others > 0 { self.switch } else { 0 };
        let looks = self.released.saturating_sub(record.looked).div_ceil(cycle.max(1));
        let at = record.looked + looks * cycle;
        record.waiting = 0;
        for _ in 0..(looks + others) % (others + 1) {
            self.pop(cpu);
            self.rotate_in(cpu);
        }
        self.pop(cpu);
        self.proceed(tree, cpu, at);
    }

    /// The current task is past the barrier: it computes, or it has ended.
    #[inline]
    fn proceed(&mut self, tree: &mut Tree, cpu: u32, at: u64) {
        let task = self.task(cpu);
        task.waits = false;
        task.left -= 1;
        if task.left > 0 {
            self.cpus[cpu as usize].phase = Phase::Begins;
            return tree.arm(cpu, at);
        }
        self.cpus[cpu as usize].alive -= 1;
        self.sum.end = self.sum.end.max(at);
        if self.cpus[cpu as usize].head == NOBODY {
            tree.disarm(cpu);
        } else {
            self.go_on(tree, cpu, at);
        }
    }

    /// The leftmost task gets the cpu, until there is one that has something to do. Not all wait.
    #[inline]
    fn go_on(&mut self, tree: &mut Tree, cpu: u32, mut at: u64) {
        loop {
            let last = self.cpus[cpu as usize].current;
            self.pop(cpu);
            at += if self.cpus[cpu as usize].current == last { 0 } else { self.switch };
            let episode = self.episode;
            let task = self.task(cpu);
            if !task.waits {
                self.cpus[cpu as usize].phase = Phase::Begins;
                return tree.arm(cpu, at);
            }
            let released = task.episode < episode;
            at += self.poll;
            if released {
                return self.proceed(tree, cpu, at);
            }
            at += self.yield_call;
            self.rotate_in(cpu);
        }
    }

    /// The leftmost task of the queue becomes the current one.
    #[inline]
    fn pop(&mut self, cpu: u32) {
        let record = &mut self.cpus[cpu as usize];
        record.current = record.head;
        record.head = self.tasks[record.head as usize].next;
    }

    /// The current task goes behind all others, as POSIX yields do.
    #[inline]
    fn rotate_in(&mut self, cpu: u32) {
        let record = &mut self.cpus[cpu as usize];
        let id = record.current;
        let behind = if record.head == NOBODY { 0 } else { self.tasks[record.tail as usize].vruntime + 1 };
        let task = &mut self.tasks[id as usize];
        task.vruntime = task.vruntime.max(behind);
        task.next = NOBODY;
        if record.head == NOBODY {
            record.head = id;
        } else {
            self.tasks[record.tail as usize].next = id;
        }
        record.tail = id;
    }

    /// The current task goes to its place by virtual run time, behind equals.
    fn queue(&mut self, cpu: u32) {
        let (record, tasks) = (&mut self.cpus[cpu as usize], &mut self.tasks);
        let id = record.current;
        let key = tasks[id as usize].vruntime;
        let (mut before, mut after) = (NOBODY, record.head);
        while after != NOBODY && tasks[after as usize].vruntime <= key {
            (before, after) = (after, tasks[after as usize].next);
        }
        tasks[id as usize].next = after;
        if before == NOBODY {
            record.head = id;
        } else {
            tasks[before as usize].next = id;
        }
        if after == NOBODY {
            record.tail = id;
        }
    }
}
